//! The pages and their files, which are compiled into the program.

use std::fmt::Write as _;

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use tailspn::formats::svg_parts::escaped;

use crate::cli::serve::guard::Guard;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const COMMON: &str = include_str!("page/common.js");
const NET: &str = include_str!("page/net.js");
const JOB: &str = include_str!("page/job.js");
const PLANNED: &str = include_str!("page/planned.js");
const LOG: &str = include_str!("page/log.js");
const ZOOM: &str = include_str!("page/zoom.js");

/// Returns the routes of the files that all pages share.
pub(crate) fn files() -> Router {
    Router::new()
        .route("/style.css", get(|| async { file("text/css; charset=utf-8", STYLE) }))
        .route("/common.js", get(|| async { module(COMMON) }))
        .route("/net.js", get(|| async { module(NET) }))
        .route("/job.js", get(|| async { module(JOB) }))
        .route("/planned.js", get(|| async { module(PLANNED) }))
        .route("/log.js", get(|| async { module(LOG) }))
        .route("/zoom.js", get(|| async { module(ZOOM) }))
}

/// Returns the route of the page with the script of this name. One of several pages has a link to the list of pages.
pub(crate) fn page(script: &str, is_one_of_several: bool, guard: &Guard) -> Router {
    let token = guard.token();
    let tag = format!("<script type=\"module\" src=\"/{script}.js?token={token}\"></script>\n");
    let link = if is_one_of_several {
        format!("<nav><a href=\"/?token={token}\">All pages</a></nav>\n")
    } else {
        String::new()
    };
    let main = "<main id=\"page\"><noscript>This page needs JavaScript. Its scripts come from this computer only.</noscript></main>";
    html(&tag, &format!("{link}{main}"), guard)
}

/// Returns the route of the list of pages, with the file and the kind of each. The path of a page is its number, from
/// 1.
pub(crate) fn index(pages: &[(String, &str)], guard: &Guard) -> Router {
    let mut list = String::new();
    for ((file, kind), number) in pages.iter().zip(1..) {
        let (file, token) = (escaped(file), guard.token());
        let _ = writeln!(
            list,
            "<li><a href=\"/{number}?token={token}\">{file}</a> <span class=\"note\">{kind}</span></li>"
        );
    }
    html("", &format!("<main id=\"page\"><h1>tailspn</h1><ol>\n{list}</ol></main>"), guard)
}

fn html(script: &str, content: &str, guard: &Guard) -> Router {
    let page = PAGE.replace("{script}", script).replace("{token}", guard.token()).replace("{content}", content);
    Router::new().route("/", get(|| async { Html(page) }))
}

fn module(text: &'static str) -> impl IntoResponse {
    file("text/javascript; charset=utf-8", text)
}

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text)
}
