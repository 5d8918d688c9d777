//! `study` of a plan with axes, and of the settings of a job: many configurations and their effects. And `tool merge`.

use std::time::Instant;

use tailspn::ask::RunSettings;
use tailspn::plan::JobPlan;
use tailspn::report::{Answer, counted, duration, sweep_report};
use tailspn::share::Shard;
use tailspn::sim::Placement;
use tailspn::sweep::{MergeError, Sweep, SweepPlan, SweepSettings, merge as merge_shards};

use crate::cli::args::{MergeArgs, StudyArgs};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::proof::proved;
use crate::cli::study_failure::{study_failure, tell_warnings};
use crate::cli::study_inputs::only_file;
use crate::cli::sweep_events::Teller;
use crate::cli::watch::catch_interrupt;

/// Runs the sweep of a plan.
pub(crate) fn sweep<'a>(args: &'a StudyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let path = only_file(args)?;
    let text = PlanText::read(path, terminal)?;
    let plan = text.plan(SweepPlan::from_toml, &keys_of("study"))?;
    let options = args.planned.single_options()?;
    let sweep = Sweep::planned(plan, path.folder(), &options).map_err(|error| study_failure(error, &text))?;
    answer(sweep, &text, args, terminal)
}

/// Returns the sweep of each setting of a job at half and at double its value.
pub(crate) fn sweep_of_settings(job: JobPlan, text: Option<&PlanText>) -> Result<Sweep, Failure> {
    Sweep::of_settings(job).map_err(|error| study_failure(error, text.unwrap_or(&PlanText::none())))
}

/// Varies each setting of a job.
pub(crate) fn settings<'a>(
    job: JobPlan,
    text: Option<&PlanText>,
    args: &'a StudyArgs,
    terminal: &Terminal,
) -> Result<Asked<'a>, Failure> {
    let mut sweep = sweep_of_settings(job, text)?;
    sweep.plan.sweep.replications = args.reps.unwrap_or(sweep.plan.sweep.replications);
    answer(sweep, text.unwrap_or(&PlanText::none()), args, terminal)
}

/// Runs a sweep; errors refer to the text of the plan.
fn answer<'a>(sweep: Sweep, text: &PlanText, args: &'a StudyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let started = Instant::now();
    let (shard, output) = args.points();
    if shard != Shard::WHOLE && output.is_none() {
        let help = "add --save FOLDER; `tailspn tool merge` merges the folders of all shards";
        return Err(Failure::helped(Exit::Usage, "a shard of a sweep needs a folder for its points", help));
    }
    let failed = |error| study_failure(error, text);
    let mut sweep = sweep.settings(run_settings(args));
    let settings = &mut sweep.plan.sweep;
    settings.budget_replications = args.budget_replications.or(settings.budget_replications);
    settings.budget_time_s = args.budget_time.map(|wall| wall.as_secs_f64()).or(settings.budget_time_s);
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
    let is_complete = stored.is_complete();
    let device = outcome.placement.as_ref().map_or_else(String::new, place_of);
    let mut notes = vec![format!("{} in {}{device}", counted(outcome.added, "point"), duration(started.elapsed()))];
    if !is_complete && args.points().1.is_some() {
        notes.push("note: some points, or replications of the budget, are missing; --resume runs them".to_owned());
    }
    let answer = Answer { notes, ..Answer::new(sweep_report(&sweep.plan, stored)) };
    Ok(answer.unless_stopped(!is_complete).into())
}

/// Describes the device on which the points ran.
fn place_of(placement: &Placement) -> String {
    let device = placement.device.as_ref().map_or_else(String::new, |device| format!(" {}", device.adapter));
    format!(", on the {}{device} ({})", placement.backend.name(), placement.reason)
}

/// Returns the settings of the run from the arguments.
fn run_settings(args: &StudyArgs) -> SweepSettings {
    let (shard, output) = args.points();
    let run = RunSettings::default();
    SweepSettings {
        run: RunSettings {
            seed: args.run.seed,
            level: args.run.level.unwrap_or(run.level),
            threads: args.run.threads,
            max_time: args.run.max_time,
            backend: args.place.backend.0,
            adapter: args.place.adapter.clone(),
            ..run
        },
        shard,
        max_points: args.max_points,
        output,
        resume: args.resume,
    }
}

impl Ask for MergeArgs {
    fn form(&self) -> Form<'_> {
        let print = &self.print;
        Form { plots: Some(&print.plots), ..Form::printed(&print.form) }
    }

    /// Merges shards.
    fn ask(&self, _: &Terminal) -> Result<Asked<'_>, Failure> {
        let Some(output) = &self.save else {
            let help = "`tailspn tool merge FOLDER... --save RESULT`";
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
