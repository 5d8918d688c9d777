//! `sweep` and `merge`: many points of one question, what each changes, and which knob buys most.

use std::path::Path;
use std::time::Instant;

use tailspn::report::{SweepReport, counted, duration, json, sweep_csv, sweep_pictures, sweep_report, sweep_text};
use tailspn::sim::Watch as _;
use tailspn::sweep::{
    Batch, BatchError, Header, MergeError, Point, PointResult, Shard, Store, StoreError, Stored, SweepPlan,
    merge as merge_shards, points, run_base, run_points,
};

use crate::cli::args::{MergeArgs, SweepArgs, SweepPrintArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw, may_draw};
use crate::cli::plan::{PlanText, keys_of, refused};
use crate::cli::simulate::failure;
use crate::cli::sweep_points::Subject;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Names of the pictures that a sweep may have.
const PICTURES: [&str; 3] = ["curve", "heat", "tornado"];

/// Runs the points of a plan.
pub(crate) fn run(args: &SweepArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(path) = args.plan.as_deref().filter(|_| !args.print_plan) else {
        terminal.data(SweepPlan::example_toml())?;
        return Ok(Exit::Success);
    };
    let started = Instant::now();
    may_draw(&PICTURES, &args.print.plots, args.print.force)?;
    let PlanText { source, text } = PlanText::read(path)?;
    let mut plan = SweepPlan::from_toml(&text).map_err(|error| refused(&source, error, &keys_of("sweep")))?;
    plan.sweep.seed = args.seed.unwrap_or(plan.sweep.seed);
    let subject = Subject::load(&plan, path.parent().unwrap_or(Path::new("")), terminal)?;
    let all = points(&plan);
    subject.check(&plan, &all, &source, &text)?;
    let header = header(&plan, &subject, &all, args)?;
    let mut kept = match &args.output {
        Some(folder) => Kept::Folder(Store::open(folder, header, args.resume).map_err(|error| lost(&error))?),
        None => Kept::Memory(Stored { header, results: std::collections::BTreeMap::new() }),
    };
    let left = left(&all, kept.stored(), args.max_points);
    let before = kept.stored().results.len();
    let ran = run_left(&left, &all[0], &plan, &subject, &mut kept, args, terminal);
    // what was finished is kept, whatever went wrong
    let stored = kept.close();
    ran?;
    let stored = stored.map_err(|error| lost(&error))?;
    show(&plan, &stored, &args.print, terminal)?;
    let found = counted((stored.results.len() - before) as u128, "point");
    terminal.tell(&format!("{found} in {}", duration(started.elapsed())));
    if !stored.is_complete() && args.output.is_some() {
        terminal.tell("note: points are missing; --resume goes on with them");
    }
    Ok(if interrupted() && !stored.is_complete() { Exit::Interrupted } else { Exit::Success })
}

/// Puts shards together.
pub(crate) fn merge(args: &MergeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    may_draw(&PICTURES, &args.print.plots, args.print.force)?;
    let stored = merge_shards(&args.shards, &args.output).map_err(|error| match &error {
        MergeError::Store(error) => lost(error),
        _ => Failure::plain(Exit::Refused, error.to_string()),
    })?;
    let plan = SweepPlan::from_toml(&stored.header.plan)
        .map_err(|error| Failure::plain(Exit::Model, format!("the plan in the shards is none: {error}")))?;
    show(&plan, &stored, &args.print, terminal)?;
    Ok(Exit::Success)
}

/// What identifies the sweep: plans with every key written out, so that comments and order do not matter.
fn header(plan: &SweepPlan, subject: &Subject, all: &[Point], args: &SweepArgs) -> Result<Header, Failure> {
    let text = toml::to_string(plan).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    Ok(Header::new(shard, all.len() as u64, plan.sweep.seed, args.level, text, subject.text()))
}

/// Where results go.
enum Kept {
    Folder(Store),
    Memory(Stored),
}

impl Kept {
    fn stored(&self) -> &Stored {
        match self {
            Self::Folder(store) => store.stored(),
            Self::Memory(stored) => stored,
        }
    }

    fn keep(&mut self, result: PointResult) -> Result<(), StoreError> {
        match self {
            Self::Folder(store) => store.keep(result),
            Self::Memory(stored) => {
                stored.results.insert(result.point, result);
                Ok(())
            }
        }
    }

    fn close(self) -> Result<Stored, StoreError> {
        match self {
            Self::Folder(store) => store.close(),
            Self::Memory(stored) => Ok(stored),
        }
    }
}

/// The points of this run: those of the shard that are not there yet, at most so many.
fn left(all: &[Point], stored: &Stored, most: Option<u64>) -> Vec<Point> {
    let shard = stored.header.shard;
    let missing = all.iter().filter(|point| shard.has(point.number) && !stored.results.contains_key(&point.number));
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    missing.take(most).cloned().collect()
}

/// Runs the base, and then what is left.
fn run_left(
    left: &[Point],
    base: &Point,
    plan: &SweepPlan,
    subject: &Subject,
    kept: &mut Kept,
    args: &SweepArgs,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if left.is_empty() {
        return Ok(());
    }
    let batch = Batch {
        replications: plan.sweep.replications,
        relative_error: plan.sweep.relative_error,
        seed: plan.sweep.seed,
        level: args.level,
        threads: args.threads,
        deadline: args.max_time.map(|wall| Instant::now() + wall),
    };
    let make = |point: &Point| subject.model(&plan.axis, point);
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "points");
    let Some(base) = run_base(base, &make, &batch, &progress).map_err(|error| broken(&error))? else { return Ok(()) };
    match kept.stored().results.get(&0) {
        None => kept.keep(base.result.clone()).map_err(|error| lost(&error))?,
        Some(found) if *found == base.result => {}
        Some(_) => {
            let message = "the base gives other numbers than those that were stored: points of both cannot be compared";
            return Err(Failure::plain(Exit::Refused, message));
        }
    }
    let others: Vec<Point> = left.iter().filter(|point| point.number > 0).cloned().collect();
    progress.progress(0, others.len() as u64);
    let mut keep = |result| kept.keep(result);
    run_points(&others, &base, &make, &batch, &progress, &mut keep).map_err(|error| broken(&error))
}

/// Why a point could not be run.
fn broken(error: &BatchError<StoreError>) -> Failure {
    match error {
        BatchError::Keep(error) => lost(error),
        BatchError::Run { point, error } => {
            let Failure { exit, notes } = failure(error);
            let notes = notes.into_iter().map(|note| Note::problem(format!("point {point}: {note}"))).collect();
            Failure { exit, notes }
        }
        other => Failure::plain(Exit::Model, other.to_string()),
    }
}

/// Why results cannot be kept or read.
fn lost(error: &StoreError) -> Failure {
    let note = Note::problem(error.to_string());
    match error {
        StoreError::Exists { .. } => {
            Failure::new(Exit::Io, note.with_help("--resume goes on with it; else give another name"))
        }
        StoreError::Changed { .. } => {
            let help = "points of two sweeps cannot be compared; give another name, or what it was begun with";
            Failure::new(Exit::Refused, note.with_help(help))
        }
        StoreError::Foreign { .. } => Failure::new(Exit::Model, note.with_help("give the name of a new folder")),
        _ => Failure::new(Exit::Io, note),
    }
}

/// Prints what was found, and draws it.
fn show(plan: &SweepPlan, stored: &Stored, print: &SweepPrintArgs, terminal: &Terminal) -> Result<(), Failure> {
    let internal = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    let report: SweepReport = sweep_report(plan, stored);
    let text = if print.json {
        json("sweep", &report).map_err(|error| internal(&error))?
    } else if print.csv {
        sweep_csv(&report).map_err(|error| internal(&error))?
    } else {
        sweep_text(&report, &terminal.look())
    };
    terminal.data(&text)?;
    if print.plots.plots.is_none() {
        return Ok(());
    }
    let pictures = sweep_pictures(&report).map_err(|error| internal(&error))?;
    if pictures.is_empty() {
        terminal.tell("note: there is no picture of these points; see docs/sweeps.md");
    }
    draw(&pictures, &print.plots, print.force)
}
