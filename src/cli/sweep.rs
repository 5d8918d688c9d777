//! `sweep` and `merge`: many configurations of one job or net, their effects, and the setting that helps most.

use std::time::Instant;

use tailspn::ask::RunSettings;
use tailspn::report::{SweepReport, counted, duration, sweep_report};
use tailspn::share::Shard;
use tailspn::sim::Placement;
use tailspn::sweep::{MergeError, Stored, Sweep, SweepPlan, SweepSettings, merge as merge_shards};

use crate::cli::args::{MergeArgs, SweepArgs, SweepPrintArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::proof::proved;
use crate::cli::study::{study_failure, tell_warnings};
use crate::cli::sweep_events::Teller;
use crate::cli::watch::catch_interrupt;

/// Runs the sweep of a plan.
pub(crate) fn run(args: &SweepArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(path) = args.plan.as_ref().filter(|_| !args.print_plan) else {
        terminal.data(SweepPlan::example_toml())?;
        return Ok(Exit::Success);
    };
    let started = Instant::now();
    may_draw(&args.print.plots, args.print.force)?;
    let text = PlanText::read(path, terminal)?;
    let mut plan = text.plan(SweepPlan::read, &keys_of("sweep"), terminal)?;
    apply(args, &mut plan);
    let failed = |error| study_failure(error, &text);
    let sweep = Sweep::planned(plan, path.folder(), &args.planned.options());
    let mut sweep = sweep.map_err(failed)?.settings(settings(args));
    tell_warnings(&sweep.warnings, &sweep.subject, terminal);
    let job = sweep.subject.plan().map_err(failed)?;
    sweep.own_run = job.map(|job| proved(&job, args.trust.trust_misfit, terminal)).transpose()?;
    sweep.subject.set_folding(!args.no_fold);
    catch_interrupt(terminal);
    let teller = Teller::new(args.events.is_some(), terminal);
    let outcome = sweep.run_watched(&teller).map_err(failed)?;
    let stored = &outcome.stored;
    teller.done(stored, started.elapsed());
    drop(teller);
    show(&sweep.plan, stored, &args.print, terminal)?;
    terminal.tell(&format!(
        "{} in {}{}",
        counted(outcome.added, "point"),
        duration(started.elapsed()),
        outcome.placement.as_ref().map_or_else(String::new, place_of)
    ));
    if !stored.is_complete() && args.output.is_some() {
        terminal.tell("note: some points, or replications of the budget, are missing; --resume runs them");
    }
    Ok(if interrupted() && !stored.is_complete() { Exit::Interrupted } else { Exit::Success })
}

/// Describes the device on which the points ran.
fn place_of(placement: &Placement) -> String {
    let device = placement.device.as_ref().map_or_else(String::new, |device| format!(" {}", device.adapter));
    format!(", on the {}{device} ({})", placement.backend.name(), placement.reason)
}

/// Applies the arguments that replace keys of the plan.
fn apply(args: &SweepArgs, plan: &mut SweepPlan) {
    let settings = &mut plan.sweep;
    settings.budget_replications = args.budget_replications.or(settings.budget_replications);
    settings.budget_time_s = args.budget_time.map(|wall| wall.as_secs_f64()).or(settings.budget_time_s);
}

/// Returns the settings of the run from the arguments.
fn settings(args: &SweepArgs) -> SweepSettings {
    SweepSettings {
        run: RunSettings {
            seed: args.seed,
            level: args.level,
            threads: args.threads,
            max_time: args.max_time,
            backend: args.place.backend.0,
            adapter: args.place.adapter.clone(),
            ..RunSettings::default()
        },
        shard: args.shard.unwrap_or(Shard::WHOLE),
        max_points: args.max_points,
        output: args.output.clone(),
        resume: args.resume,
    }
}

/// Merges shards.
pub(crate) fn merge(args: &MergeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    may_draw(&args.print.plots, args.print.force)?;
    let Some(output) = &args.output else {
        let help = "`tailspn merge FOLDER... --output RESULT`";
        return Err(Failure::helped(
            Exit::Usage,
            "merging the shards of a sweep needs a folder for the merged result",
            help,
        ));
    };
    let stored = merge_shards(&args.shards, output).map_err(|error| match &error {
        MergeError::Store(error) => Failure::of(error),
        _ => Failure::plain(Exit::Refused, error.to_string()),
    })?;
    let plan = SweepPlan::from_toml(&stored.header.plan)
        .map_err(|error| Failure::plain(Exit::Model, format!("the shards contain an invalid plan: {error}")))?;
    show(&plan, &stored, &args.print, terminal)?;
    Ok(Exit::Success)
}

/// Prints and draws the results.
fn show(plan: &SweepPlan, stored: &Stored, print: &SweepPrintArgs, terminal: &Terminal) -> Result<(), Failure> {
    let report: SweepReport = sweep_report(plan, stored);
    terminal.report(&report, &print.form)?;
    draw_report(&report, &print.plots, print.force, terminal)
}
