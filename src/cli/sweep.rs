//! `sweep` and `tool merge`: many configurations of one job or net, their effects, and the setting that helps most.

use std::time::Instant;

use tailspn::ask::RunSettings;
use tailspn::report::{Answer, counted, duration, sweep_report};
use tailspn::share::Shard;
use tailspn::sim::Placement;
use tailspn::sweep::{MergeError, Sweep, SweepPlan, SweepSettings, merge as merge_shards};

use crate::cli::args::{MergeArgs, SweepArgs, SweepPrintArgs};
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::proof::proved;
use crate::cli::study::{study_failure, tell_warnings};
use crate::cli::sweep_events::Teller;
use crate::cli::watch::catch_interrupt;

/// Runs the sweep of a plan, or prints a plan.
pub(crate) fn run(args: &SweepArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.plan.is_none() || args.print_plan {
        terminal.data(SweepPlan::example_toml())?;
        return Ok(Exit::Success);
    }
    frame::run(args, terminal)
}

impl SweepPrintArgs {
    fn form_of_answer(&self) -> Form<'_> {
        Form { plots: Some(&self.plots), force: self.force, ..Form::printed(&self.form) }
    }
}

impl Ask for SweepArgs {
    fn form(&self) -> Form<'_> {
        self.print.form_of_answer()
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let started = Instant::now();
        let Some(path) = &self.plan else { return Err(Failure::plain(Exit::Usage, "no plan is given")) };
        let text = PlanText::read(path, terminal)?;
        let mut plan = text.plan(SweepPlan::from_toml, &keys_of("sweep"))?;
        apply(self, &mut plan);
        let failed = |error| study_failure(error, &text);
        let sweep = Sweep::planned(plan, path.folder(), &self.planned.options());
        let mut sweep = sweep.map_err(failed)?.settings(settings(self));
        tell_warnings(&sweep.warnings, &sweep.subject, terminal);
        let job = sweep.subject.plan().map_err(failed)?;
        sweep.own_run = job.map(|job| proved(&job, self.trust.trust_misfit, terminal)).transpose()?;
        sweep.subject.set_folding(!self.no_fold);
        catch_interrupt(terminal);
        let teller = Teller::new(self.events.is_some(), terminal);
        let outcome = sweep.run_watched(&teller).map_err(failed)?;
        let stored = &outcome.stored;
        teller.done(stored, started.elapsed());
        drop(teller);
        let is_complete = stored.is_complete();
        let device = outcome.placement.as_ref().map_or_else(String::new, place_of);
        let mut notes = vec![format!("{} in {}{device}", counted(outcome.added, "point"), duration(started.elapsed()))];
        if !is_complete && self.output.is_some() {
            notes.push("note: some points, or replications of the budget, are missing; --resume runs them".to_owned());
        }
        let answer = Answer { notes, ..Answer::new(sweep_report(&sweep.plan, stored)) };
        Ok(answer.unless_stopped(!is_complete).into())
    }
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

impl Ask for MergeArgs {
    fn form(&self) -> Form<'_> {
        self.print.form_of_answer()
    }

    /// Merges shards.
    fn ask(&self, _: &Terminal) -> Result<Asked<'_>, Failure> {
        let Some(output) = &self.output else {
            let help = "`tailspn tool merge FOLDER... --output RESULT`";
            let needed = "merging the shards of a sweep needs a folder for the merged result";
            return Err(Failure::helped(Exit::Usage, needed, help));
        };
        let stored = merge_shards(&self.shards, output).map_err(|error| match &error {
            MergeError::Store(error) => Failure::of(error),
            _ => Failure::plain(Exit::Refused, error.to_string()),
        })?;
        let plan = SweepPlan::from_toml(&stored.header.plan)
            .map_err(|error| Failure::plain(Exit::Model, format!("the shards contain an invalid plan: {error}")))?;
        Ok(Answer::new(sweep_report(&plan, &stored)).into())
    }
}
