//! `serve`: a local page to play the token game of a net, to vary a planned job, or to inspect the log of a job.
//!
//! The server has no state between requests: the page sends the marking, or the values of the job, each time. It listens on
//! 127.0.0.1 only, and answers only who has the token of its address (`guard.rs`).

mod game;
mod guard;
mod job;
mod log;
mod net;
mod pages;
mod reply;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use tailspn::plan::JobPlan;
use tailspn::trace::log_format;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::cli::args::{NetArgs, PlanArgs, ServeArgs};
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_bytes, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::{Terminal, reason};
use crate::cli::plan::{PlanText, job_of, only_whatif};
use crate::cli::serve::game::Game;
use crate::cli::serve::guard::{Guard, MOST_BODY_BYTES, admit};
use crate::cli::serve::job::Job;
use crate::cli::serve::log::Log;
use crate::cli::watch::{catch_interrupt, interrupted};

/// Interval between two checks for a signal.
const SIGNAL_EVERY: Duration = Duration::from_millis(20);

/// Serves the page until a signal comes.
pub(crate) fn run(args: &ServeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if terminal.is_in_process() {
        return Err(Failure::plain(Exit::Usage, "`serve` runs until it is stopped; start it from a shell"));
    }
    let page = Page::open(args.source.as_deref(), terminal)?;
    catch_interrupt(terminal);
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(Failure::internal)?;
    let ended = runtime.block_on(serve(page, args, terminal));
    // work of requests that nobody waits for any more does not hold up the end
    runtime.shutdown_background();
    ended
}

/// The subject of the page.
enum Page {
    Net(Box<Game>),
    Job(Job),
    Log(Log),
}

impl Page {
    /// Reads the file: a log, a plan if it is TOML, otherwise a net; the default job without a file.
    fn open(path: Option<&Path>, terminal: &Terminal) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::Job(Job::built_in())) };
        if path.as_os_str() == "-" {
            return Err(Failure::plain(Exit::Usage, "`serve` reads a file, not standard input"));
        }
        if log_format(path).is_some() {
            return Ok(Self::Log(Log::new(path)));
        }
        let is_plan = match String::from_utf8(read_bytes(path)?) {
            Ok(text) => path.extension().is_some_and(|end| end == "toml") || text.parse::<toml::Table>().is_ok(),
            Err(_) => false,
        };
        if !is_plan {
            let args = NetArgs { net: path.to_owned(), read_as: Vec::new(), param: Vec::new(), chosen: None };
            let loaded = read_net(&args)?;
            terminal.warnings(&loaded.warnings);
            let program = compile_net(&loaded.net)?;
            return Ok(Self::Net(Box::new(Game::new(loaded.net, program))));
        }
        let text = PlanText::read(path, terminal)?;
        match job_of(Some(&text), &PlanArgs::default(), terminal)? {
            JobPlan::MapReduce(_) => Ok(Self::Job(Job::of_phases(path))),
            JobPlan::Stages(_) => Ok(Self::Job(Job::of_stages(path))),
            plan => Err(only_whatif(&plan, "serve")),
        }
    }

    /// The addresses of the page.
    fn router(self, guard: &Guard) -> Router {
        match self {
            Self::Net(game) => pages::files("net", guard).merge(net::routes(Arc::new(*game))),
            Self::Job(job) => pages::files("job", guard).merge(job::routes(Arc::new(job))),
            Self::Log(log) => pages::files("log", guard).merge(log::routes(Arc::new(log))),
        }
    }
}

/// Answers requests until a signal comes.
async fn serve(page: Page, args: &ServeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let refused = |error: std::io::Error| {
        let message = format!("cannot listen on 127.0.0.1:{}: {}", args.port, reason(&error));
        Failure::helped(Exit::Io, message, "`--port 0` takes a free port")
    };
    let listener = TcpListener::bind(("127.0.0.1", args.port)).await.map_err(refused)?;
    let port = listener.local_addr().map_err(refused)?.port();
    let guard = Arc::new(Guard::new(port).map_err(Failure::internal)?);
    let router = page.router(&guard).layer(DefaultBodyLimit::max(MOST_BODY_BYTES));
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

/// Asks the system to show the page. Where that fails, the printed address remains.
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
