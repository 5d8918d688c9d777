//! `optimize`: the cheapest configuration that meets a deadline.

use tailspn::ask::RunSettings;
use tailspn::optimize::{Measure, Optimization, OptimizePlan, Sizing};
use tailspn::plan::JobPlan;
use tailspn::report::Answer;
use tailspn::subject::FileKind;

use crate::cli::args::OptimizeArgs;
use crate::cli::exit::Exit;
use crate::cli::fitted::{Read, read_inputs};
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::input::Input;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of, only_whatif, options_refused};
use crate::cli::proof::proved;
use crate::cli::study::{study_failure, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt};

/// Searches, or prints a plan.
pub(crate) fn run(args: &OptimizeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.inputs.is_empty() || args.print_plan {
        terminal.data(OptimizePlan::example_toml())?;
        return Ok(Exit::Success);
    }
    frame::run(args, terminal)
}

impl Ask for OptimizeArgs {
    fn form(&self) -> Form<'_> {
        Form { plots: Some(&self.plots), force: self.force, ..Form::printed(&self.print) }
    }

    /// Searches the configurations of a plan, or the sizes of a job.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let answer = match read_inputs(&self.inputs, None, &self.fitted, terminal)? {
            Read::Logs(job) => size(job, None, self, terminal)?,
            Read::Plan(path) if path.kind() == Some(FileKind::JobPlan) => {
                let text = PlanText::read(path, terminal)?;
                size(text.job()?, Some(&text), self, terminal)?
            }
            Read::Plan(path) => search(path, self, terminal)?,
            Read::Nothing => return Err(Failure::plain(Exit::Usage, "no plan and no log is given")),
        };
        Ok(answer.into())
    }
}

/// Returns how a search is run.
fn settings(args: &OptimizeArgs) -> RunSettings {
    RunSettings { seed: args.seed, threads: args.threads, ..RunSettings::default() }
}

/// Returns the measure on the command line.
fn measure(args: &OptimizeArgs) -> Option<Measure> {
    args.measure.or(args.probability.map(Measure::Quantile))
}

/// Searches the sizes of a job.
fn size(job: JobPlan, text: Option<&PlanText>, args: &OptimizeArgs, terminal: &Terminal) -> Result<Answer, Failure> {
    if let JobPlan::Tasks(_) = job {
        return Err(only_whatif(&job, "optimize"));
    }
    let choices = args.planned.machines();
    let job = choices.applied(job, &args.planned.options()).map_err(|error| options_refused(&error))?;
    let failed = |error| study_failure(error, text.unwrap_or(&PlanText::none()));
    let own_run = Some(proved(&job, args.trust.trust_misfit, terminal)?);
    let mut sizing = Sizing::new(job, args.price.clone()).map_err(failed)?.choosing(&choices);
    sizing.measure = measure(args).unwrap_or(sizing.measure);
    sizing.run = settings(args);
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "replications of this size");
    let found = sizing.run(&progress).map_err(failed)?;
    drop(progress);
    tell_warnings(&[], &found.search.subject, terminal);
    Ok(Answer::of_sizing(&found, own_run))
}

/// Searches the axes of a plan.
fn search(path: &Input, args: &OptimizeArgs, terminal: &Terminal) -> Result<Answer, Failure> {
    if args.price.is_some() {
        return Err(Failure::helped(
            Exit::Usage,
            "--price applies only to logs and plans of jobs",
            "a plan with [optimize] states its own costs, by the keys `cost` and `cost_per_s` (price per second)",
        ));
    }
    let text = PlanText::read(path, terminal)?;
    let mut plan = text.plan(OptimizePlan::from_toml, &keys_of("optimize"))?;
    if let Some(measure) = measure(args) {
        plan.optimize.measure = measure.name();
    }
    let options = args.planned.machines().replace(&mut plan, args.planned.options());
    let failed = |error| study_failure(error, &text);
    let search = Optimization::planned(plan, path.folder(), &options);
    let search = search.map_err(failed)?.settings(settings(args));
    let job = search.subject.plan().map_err(failed)?;
    let own_run = job.map(|job| proved(&job, args.trust.trust_misfit, terminal)).transpose()?;
    tell_warnings(&search.warnings, &search.subject, terminal);
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "replications of this point");
    let outcome = search.run(&progress).map_err(failed)?;
    drop(progress);
    Ok(Answer::of_search(&search.plan, &outcome, own_run))
}
