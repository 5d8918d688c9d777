//! `sweep` and `merge`: many points of one question, what each changes, and which knob buys most.

use std::path::Path;
use std::time::{Duration, Instant};

use tailspn::plan_text;
use tailspn::report::{SweepReport, counted, duration, json, sweep_csv, sweep_pictures, sweep_report, sweep_text};
use tailspn::sim::{Placement, Watch as _};
use tailspn::sweep::batch::MakeModel;
use tailspn::sweep::{
    Base, Batch, BatchError, Budget, Header, MergeError, Point, PointResult, Rounds, Shard, Store, StoreError, Stored,
    SweepPlan, merge as merge_shards, points, run_base, run_points, spent,
};

use crate::cli::args::{MergeArgs, SweepArgs, SweepPrintArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw, may_draw};
use crate::cli::plan::{PlanText, keys_of, refused};
use crate::cli::simulate::{backend, failure};
use crate::cli::sweep_events::Teller;
use crate::cli::sweep_points::Subject;
use crate::cli::watch::{catch_interrupt, interrupted};

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
    let PlanText { source, text } = PlanText::read(path, terminal)?;
    let mut plan = SweepPlan::from_toml(&text).map_err(|error| refused(&source, error, &keys_of("sweep")))?;
    apply(args, &mut plan);
    let subject = Subject::load(&plan, path.parent().unwrap_or(Path::new("")), terminal)?;
    let mut all = points(&plan);
    if !plan.sweep.constraints.is_empty() {
        subject.check_axes_of(&plan, &source, &text)?;
        all = admitted(&subject, &plan, all, (&source, &text), terminal)?;
    }
    subject.check(&plan, &all, &source, &text)?;
    check_budget(&plan, args, all.len() as u64, &source, &text)?;
    let header = header(&plan, &subject, &all, args)?;
    let mut kept = match &args.output {
        Some(folder) => Kept::Folder(Store::open(folder, header, args.resume).map_err(|error| lost(&error))?),
        None => Kept::Memory(Stored { header, results: std::collections::BTreeMap::new() }),
    };
    let before = kept.stored().results.len();
    let teller = Teller::new(args.events.is_some(), terminal);
    let task = Task { plan: &plan, subject: &subject, all: &all, args, terminal, teller: &teller };
    let ran = task.run(&mut kept);
    // what was finished is kept, whatever went wrong
    let stored = kept.close();
    let ran = ran?;
    let stored = stored.map_err(|error| lost(&error))?;
    teller.done(&stored, started.elapsed());
    show(&plan, &stored, &args.print, terminal)?;
    let found = counted((stored.results.len() - before) as u128, "point");
    terminal.tell(&format!(
        "{found} in {}{}",
        duration(started.elapsed()),
        ran.map_or_else(String::new, |ran| place_of(&ran))
    ));
    if !stored.is_complete() && args.output.is_some() {
        terminal.tell("note: points are missing, or replications of the budget; --resume goes on with them");
    }
    Ok(if interrupted() && !stored.is_complete() { Exit::Interrupted } else { Exit::Success })
}

/// On what points ran, in words.
fn place_of(placement: &Placement) -> String {
    let device = placement.device.as_ref().map_or_else(String::new, |device| format!(" {}", device.adapter));
    format!(", on the {}{device} ({})", placement.backend.name(), placement.reason)
}

/// What the arguments say instead of the plan.
fn apply(args: &SweepArgs, plan: &mut SweepPlan) {
    let settings = &mut plan.sweep;
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.budget_replications = args.budget_replications.or(settings.budget_replications);
    settings.budget_time_s = args.budget_time.map(|wall| wall.as_secs_f64()).or(settings.budget_time_s);
}

/// The points that satisfy the constraints; tells how many do not.
fn admitted(
    subject: &Subject,
    plan: &SweepPlan,
    all: Vec<Point>,
    (source, text): (&Source, &str),
    terminal: &Terminal,
) -> Result<Vec<Point>, Failure> {
    let planned = all.len() - 1;
    let found = subject.admit(plan, all, source, text)?;
    if found.left_out > 0 {
        let out = counted(u128::from(found.left_out), "point");
        terminal.tell(&format!("note: the constraints leave out {out} of {planned}"));
    }
    if found.base_breaks {
        terminal.tell("note: the base breaks a constraint; it stays, since all points are compared with it");
    }
    Ok(found.points)
}

/// Whether a budget is enough for the first replications of every point, and of all points.
fn check_budget(plan: &SweepPlan, args: &SweepArgs, points: u64, source: &Source, text: &str) -> Result<(), Failure> {
    let settings = &plan.sweep;
    let wrong = |key: &str, message: String| {
        let note = Note::problem(message);
        let span = plan_text::place(text, &format!("sweep.{key}"));
        Err(Failure::new(Exit::Model, span.map_or(note.clone(), |span| note.at(source, span))))
    };
    if args.shard.is_some() && (settings.budget_replications.is_some() || settings.budget_time_s.is_some()) {
        return wrong("budget_replications", "a shard cannot have a budget: its rounds need all points".to_owned());
    }
    let first = points.saturating_mul(settings.replications);
    match settings.budget_replications {
        Some(budget) if budget < first => {
            let message = format!(
                "a budget of {budget} is not enough: {points} points with {} replications each need {first}",
                settings.replications
            );
            wrong("budget_replications", message)
        }
        _ => Ok(()),
    }
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
    // time that may be spent is no part of what is asked
    let mut named = plan.clone();
    named.sweep.budget_time_s = None;
    let text = toml::to_string(&named).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let mut header = Header::new(shard, all.len() as u64, plan.sweep.seed, args.level, text, subject.text());
    let relative_error = plan.sweep.relative_error;
    header.budget = plan.sweep.budget_replications.map(|replications| Budget { replications, relative_error });
    Ok(header)
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

    fn keep_together(&mut self, results: Vec<PointResult>) -> Result<(), StoreError> {
        match self {
            Self::Folder(store) => store.keep_together(results),
            Self::Memory(stored) => {
                stored.results.extend(results.into_iter().map(|result| (result.point, result)));
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

/// What is to be run, and how.
struct Task<'a> {
    plan: &'a SweepPlan,
    subject: &'a Subject,
    all: &'a [Point],
    args: &'a SweepArgs,
    terminal: &'a Terminal,
    teller: &'a Teller,
}

impl Task<'_> {
    /// Runs the base, then what is left, then the rounds of a budget; says what ran the points, if there were any.
    fn run(&self, kept: &mut Kept) -> Result<Option<Placement>, Failure> {
        let left = left(self.all, kept.stored(), self.args.max_points);
        let others: Vec<Point> = left.iter().filter(|point| point.number > 0).cloned().collect();
        self.teller.begin(kept.stored(), others.len() as u64);
        let budget = self.budget();
        if left.is_empty() && budget.is_none_or(|budget| budget.next_round(&kept.stored().results).is_empty()) {
            return Ok(None);
        }
        let make = |point: &Point| self.subject.model(&self.plan.axis, point);
        let batch = self.batch();
        catch_interrupt(self.terminal);
        let Some(base) = self.base(kept, &make, &batch)? else { return Ok(None) };
        self.teller.progress(0, others.len() as u64);
        let mut done = 0;
        let mut keep = |result: PointResult| {
            done += 1;
            self.teller.point(&result, done, others.len() as u64);
            kept.keep(result)
        };
        let ran = run_points(&others, &base, &make, &batch, self.teller, &mut keep).map_err(|error| broken(&error))?;
        if let Some(budget) = budget.filter(|_| kept.stored().has_all_points()) {
            self.rounds(&budget, base, kept, &make, &batch)?;
        }
        Ok((!others.is_empty()).then_some(ran))
    }

    fn budget(&self) -> Option<Budget> {
        let settings = &self.plan.sweep;
        let relative_error = settings.relative_error;
        match settings.budget_replications {
            Some(replications) => Some(Budget { replications, relative_error }),
            None => settings.budget_time_s.map(|_| Budget::endless(relative_error)),
        }
    }

    fn batch(&self) -> Batch {
        let settings = &self.plan.sweep;
        let budget_time = settings.budget_time_s.and_then(|time| Duration::try_from_secs_f64(time).ok());
        Batch {
            replications: settings.replications,
            // with a budget, rounds see to it
            relative_error: settings.relative_error.filter(|_| self.budget().is_none()),
            seed: settings.seed,
            level: self.args.level,
            threads: self.args.threads,
            deadline: self.args.max_time.into_iter().chain(budget_time).min().map(|wall| Instant::now() + wall),
            backend: backend(self.args.place.backend),
            adapter: self.args.place.adapter.clone(),
        }
    }

    /// The base with as many replications as it had, if it was there; else it is kept.
    fn base(&self, kept: &mut Kept, make: &MakeModel<'_>, batch: &Batch) -> Result<Option<Base>, Failure> {
        let found = kept.stored().results.get(&0).cloned();
        let mut batch = batch.clone();
        if self.budget().is_some() {
            batch.replications = found.as_ref().map_or(batch.replications, |found| found.replications);
        }
        let base = run_base(&self.all[0], make, &batch, self.teller).map_err(|error| broken(&error))?;
        match (&base, found) {
            (Some(base), None) => kept.keep(base.result.clone()).map_err(|error| lost(&error))?,
            (Some(base), Some(found)) if found != base.result => {
                let message =
                    "the base gives other numbers than those that were stored: points of both cannot be compared";
                return Err(Failure::plain(Exit::Refused, message));
            }
            _ => {}
        }
        Ok(base)
    }

    /// Spends what is left of a budget.
    fn rounds(
        &self,
        budget: &Budget,
        base: Base,
        kept: &mut Kept,
        make: &MakeModel<'_>,
        batch: &Batch,
    ) -> Result<(), Failure> {
        let have = kept.stored().results.clone();
        let before = spent(&have);
        let planned = self.plan.sweep.budget_replications;
        let teller = self.teller.of_rounds(self.terminal);
        let mut keep = |results: Vec<PointResult>| {
            let points = results.len();
            kept.keep_together(results)?;
            teller.round(points, spent(&kept.stored().results), before, planned);
            Ok(())
        };
        let rounds = Rounds { points: self.all, budget, make, batch };
        rounds.run(base, have, &teller, &mut keep).map_err(|error| broken(&error))
    }
}

/// Why a point could not be run.
fn broken(error: &BatchError<StoreError>) -> Failure {
    match error {
        BatchError::Keep(error) => lost(error),
        BatchError::Run { point, error } => {
            let Failure { exit, notes } = failure(error);
            if exit == Exit::Gpu {
                return Failure { exit, notes };
            }
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
