//! `net simulate`: replications of a net, and their results.

use tailspn::ask::RunSettings;
use tailspn::ask::net::{AnswerBy, LongRunLength, NetSettings, PreparedNet};
use tailspn::report::Answer;
use tailspn::sim::{Backend, Target};
use tailspn::watch::TimeLimit;

use crate::cli::args::{Method, SimulateArgs};
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::frame::{Ask, Asked, Form, typed};
use crate::cli::load::read_net;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::preparation::Preparation;
use crate::cli::question::ask;
use crate::cli::targets::{Wanted, of_ensemble, targets, unmet};
use crate::cli::watch::{Progress, catch_interrupt};

impl Ask for SimulateArgs {
    fn form(&self) -> Form<'_> {
        // long runs have no pictures
        let has_pictures = !self.steady || self.method == Method::Exact;
        let typed = typed([&self.net.net]);
        Form { plots: has_pictures.then_some(&self.plots), typed, ..Form::printed(&self.print) }
    }

    /// Simulates the net.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let preparation = Preparation::begin(self.run.max_time, terminal);
        let loaded = read_net(&self.net)?;
        terminal.brief_warnings(&loaded.warnings);
        let mut question = ask(&loaded.net, &self.question, self.steady)?;
        let targets = targets(self, &loaded.net, &mut question)?;
        let settings = settings(self, &targets, terminal);
        let prepared = PreparedNet::new(&loaded.net, &question, &settings)?;
        catch_interrupt(terminal);
        preparation.end();
        if self.method != Method::Exact {
            may_simulate(self, terminal)?;
        }
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let watch = TimeLimit::new(&progress, terminal.left_of(self.run.max_time));
        let found = prepared.answer(&watch)?;
        if terminal.share().is_part() {
            return Err(Failure::part());
        }
        let answer = Answer::of_net(&loaded.net, &question, &found, settings.run.level, &watch)?;
        let notes = unmet(&found, &targets, settings.run.level).into_iter().chain(answer.notes).collect();
        let asked = Asked::from(Answer { notes, ..answer }).assuming(&loaded.warnings);
        Ok(asked.writing(|answer, _| match self.samples.as_ref().zip(answer.times_s.as_deref()) {
            Some((path, times_s)) => write_file(path, samples_text(times_s).as_bytes(), self.print.force),
            None => Ok(()),
        }))
    }
}

/// Checks what replications and long runs need besides the net.
fn may_simulate(args: &SimulateArgs, terminal: &Terminal) -> Result<(), Failure> {
    if args.steady && args.place.backend.0 == Backend::Gpu {
        return Err(Failure::helped(Exit::Gpu, "`--steady` runs on the CPU only", "remove `--backend gpu`"));
    }
    match args.samples.as_ref().filter(|_| !args.steady && !terminal.share().is_part()) {
        Some(path) => may_write(path, args.print.force),
        None => Ok(()),
    }
}

fn settings(args: &SimulateArgs, targets: &[Wanted], terminal: &Terminal) -> NetSettings {
    let by = match args.method {
        Method::Auto => AnswerBy::Auto,
        Method::Exact => AnswerBy::Exact,
        Method::Simulate => AnswerBy::Simulation,
    };
    let wants_runs = by == AnswerBy::Exact && (args.reps.is_some() || args.wants_errors());
    let needs_replications = wants_runs
        .then_some("--reps, --rel-error and --abs-error need replications")
        .or(args.samples.is_some().then_some("--samples needs replications"));
    let long_runs = LongRunLength { runs: args.steady_runs, firings: args.steady_firings };
    let every: Vec<Target> = targets.iter().map(|wanted| wanted.target).collect();
    let own = terminal.settings(&args.run);
    let run = RunSettings {
        replications: args.reps,
        rel_error: args.stop_error(),
        backend: args.place.backend.0,
        adapter: args.place.adapter.clone(),
        keep: args.samples.is_some() || own.keep,
        // the watch has the limit of time, which counts from the start of the command
        max_time: None,
        ..own
    };
    let targets = if args.steady { every } else { of_ensemble(targets) };
    NetSettings { by, needs_replications, long_runs, unfolded: args.no_fold, engine: args.engine.0, targets, run }
}

/// Returns times as text, one per line.
fn samples_text(times_s: &[f64]) -> String {
    let mut text = String::from("time_s\n");
    times_s.iter().for_each(|time| text += &format!("{time}\n"));
    text
}
