//! `serve`: local pages to play the token game of a net, to vary a planned job, or to view the log of a job.
//!
//! A page sends the marking, or the values of the job, with each request. The server listens on 127.0.0.1 only, and answers
//! only requests with the token in the page's address (`guard.rs`).

mod ask;
mod cheapest;
mod fields;
mod game;
mod guard;
mod job;
mod log;
mod marked;
mod net;
mod pages;
mod reply;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use tailspn::plan::JobPlan;
use tailspn::subject::FileKind;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::cli::args::{NetArgs, ServeArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_bytes, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, job_of, only_whatif};
use crate::cli::serve::game::{Game, Games};
use crate::cli::serve::guard::{Guard, MOST_BODY_BYTES, admit};
use crate::cli::serve::job::Job;
use crate::cli::serve::log::Log;
use crate::cli::unknown;
use crate::cli::watch::catch_interrupt;
use tailspn::explain::reason;

/// Interval between two checks for a signal.
const SIGNAL_EVERY: Duration = Duration::from_millis(20);

/// Serves the page until a signal comes.
pub(crate) fn run(args: &ServeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if terminal.is_in_process() {
        return Err(Failure::plain(Exit::Usage, "`serve` runs until it is stopped; start it from a shell"));
    }
    let pages = open(&args.sources, terminal)?;
    catch_interrupt(terminal);
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(Failure::internal)?;
    let ended = runtime.block_on(serve(pages, args, terminal));
    // requests that nobody waits for do not delay the end
    runtime.shutdown_background();
    ended
}

/// Reads the files of all pages; the default job without a file. The plan of stages, if there is one, predicts the
/// remaining time of a log.
fn open(sources: &[PathBuf], terminal: &Terminal) -> Result<Vec<(String, Page)>, Failure> {
    if sources.is_empty() {
        return Ok(vec![("the default job".to_owned(), Page::Job(Job::built_in()))]);
    }
    let open = |path: &PathBuf| Page::open(path, terminal).map(|page| (path.display().to_string(), page));
    let mut pages: Vec<(String, Page)> = sources.iter().map(open).collect::<Result<_, _>>()?;
    let of_stages = |(_, page): &(String, Page)| match page {
        Page::Job(job) => job.plan_of_stages().map(Path::to_owned),
        _ => None,
    };
    let plan = pages.iter().find_map(of_stages);
    for (_, page) in &mut pages {
        if let Page::Log(log) = page {
            log.plan.clone_from(&plan);
        }
    }
    Ok(pages)
}

/// Returns the routes of all pages. A single page is at the root; several pages have numbers, and the root lists
/// them.
fn router(pages: Vec<(String, Page)>, guard: &Guard) -> Router {
    let several = pages.len() > 1;
    let index = several.then(|| {
        let list: Vec<(String, &str)> = pages.iter().map(|(name, page)| (name.clone(), page.kind())).collect();
        pages::index(&list, guard)
    });
    let mut router = index.unwrap_or_default().merge(pages::files());
    for ((_, page), number) in pages.into_iter().zip(1..) {
        let page = page.router(several, guard);
        router = if several { router.nest(&format!("/{number}"), page) } else { router.merge(page) };
    }
    router
}

/// The subject of a page.
enum Page {
    Net(Games),
    Job(Job),
    Log(Log),
}

impl Page {
    /// Reads the file: a log, a plan if it is TOML, otherwise a net.
    fn open(path: &Path, terminal: &Terminal) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Err(Failure::plain(Exit::Usage, "`serve` reads a file, not standard input"));
        }
        let is_plan = match FileKind::of(path) {
            Some(FileKind::Log(_)) => return Ok(Self::Log(Log::new(path))),
            Some(FileKind::JobPlan | FileKind::SweepPlan | FileKind::OptimizePlan) => true,
            // a plan without a section, or with a misspelt one
            Some(_) => false,
            None => {
                let is_plan = path.extension().is_some_and(|end| end == "toml");
                let bytes = read_bytes(path)?;
                if !is_plan && !bytes.trim_ascii_start().starts_with(b"<") {
                    return Err(unknown::refused(path, &bytes, "a net, a plan or a log"));
                }
                is_plan
            }
        };
        if !is_plan {
            let loaded = read_net(&NetArgs::at(path))?;
            terminal.warnings(&loaded.warnings);
            let program = compile_net(&loaded.net)?;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(Self::Net(Games::new(file, Game::new(loaded.net, program))));
        }
        let text = PlanText::read(&path.into(), terminal)?;
        match job_of(Some(&text), &[])? {
            plan @ JobPlan::Tasks(_) => Err(only_whatif(&plan, "serve")),
            _ => Ok(Self::Job(Job::of_plan(path))),
        }
    }

    /// Returns the kind of the subject, for the list of pages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Net(_) => "a net",
            Self::Job(_) => "the plan of a job",
            Self::Log(_) => "the log of a job",
        }
    }

    /// Returns the routes of the page and of its requests.
    fn router(self, is_one_of_several: bool, guard: &Guard) -> Router {
        let page = |script| pages::page(script, is_one_of_several, guard);
        match self {
            Self::Net(games) => page("net").merge(net::routes(Arc::new(games))),
            Self::Job(job) => page("job").merge(job::routes(Arc::new(job))),
            Self::Log(log) => {
                let fitted = Job::of_log(log.path());
                page("log").merge(log::routes(Arc::new(log))).merge(job::routes(Arc::new(fitted)))
            }
        }
    }
}

/// Answers requests until a signal comes.
async fn serve(pages: Vec<(String, Page)>, args: &ServeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let refused = |error: std::io::Error| {
        let message = format!("cannot listen on 127.0.0.1:{}: {}", args.port, reason(&error));
        Failure::helped(Exit::Io, message, "`--port 0` selects a free port")
    };
    let listener = TcpListener::bind(("127.0.0.1", args.port)).await.map_err(refused)?;
    let port = listener.local_addr().map_err(refused)?.port();
    let guard = Arc::new(Guard::new(port).map_err(Failure::internal)?);
    let router = router(pages, &guard).layer(DefaultBodyLimit::max(MOST_BODY_BYTES));
    let router = router.layer(from_fn_with_state(Arc::clone(&guard), admit));
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let address = guard.address();
    terminal.data(&format!("{address}\n"))?;
    terminal.tell("Ctrl-C stops the server");
    if !args.no_open {
        open_browser(&address);
    }
    while !interrupted() {
        if server.is_finished() {
            return Err(Failure::internal("the server stopped unexpectedly"));
        }
        tokio::time::sleep(SIGNAL_EVERY).await;
    }
    Ok(Exit::Interrupted)
}

/// Asks the system to open the page in a browser. If this fails, the user can open the printed address.
fn open_browser(address: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let silent =
        Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut browser) = silent {
        // nobody else would take note of its end
        std::thread::spawn(move || browser.wait());
    }
}
