//! The page and its files, all part of the program.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;

use crate::cli::serve::guard::Guard;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const COMMON: &str = include_str!("page/common.js");
const NET: &str = include_str!("page/net.js");
const JOB: &str = include_str!("page/job.js");
const LOG: &str = include_str!("page/log.js");
const ZOOM: &str = include_str!("page/zoom.js");

/// The page, with the script of this name, and its files.
pub(crate) fn files(script: &str, guard: &Guard) -> Router {
    let page = PAGE.replace("{script}", script).replace("{token}", guard.token());
    Router::new()
        .route("/", get(|| async { Html(page) }))
        .route("/style.css", get(|| async { file("text/css; charset=utf-8", STYLE) }))
        .route("/common.js", get(|| async { module(COMMON) }))
        .route("/net.js", get(|| async { module(NET) }))
        .route("/job.js", get(|| async { module(JOB) }))
        .route("/log.js", get(|| async { module(LOG) }))
        .route("/zoom.js", get(|| async { module(ZOOM) }))
}

fn module(text: &'static str) -> impl IntoResponse {
    file("text/javascript; charset=utf-8", text)
}

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text)
}
