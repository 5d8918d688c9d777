//! `study` with a deadline: the cheapest configuration that meets it.

use tailspn::ask::RunSettings;
use tailspn::optimize::{Measure, Optimization, OptimizePlan, Sizing};
use tailspn::plan::JobPlan;
use tailspn::report::Answer;
use tailspn::subject::FileKind;

use crate::cli::args::StudyArgs;
use crate::cli::exit::Exit;
use crate::cli::fitted::{Read, read_inputs};
use crate::cli::frame::Asked;
use crate::cli::input::Input;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of, only_whatif, options_refused};
use crate::cli::proof::proved;
use crate::cli::study_failure::{study_failure, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt};

/// Searches the configurations of a plan, or the sizes of a job.
pub(crate) fn cheapest<'a>(args: &'a StudyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let answer = match read_inputs(&args.inputs, None, &args.fitted, terminal)? {
        Read::Logs(job) => size(job, None, args, terminal)?,
        Read::Plan(path) if path.kind() == Some(FileKind::JobPlan) => {
            let text = PlanText::read(path, terminal)?;
            size(text.job()?, Some(&text), args, terminal)?
        }
        Read::Plan(path) => search(path, args, terminal)?,
        Read::Nothing => return Err(Failure::plain(Exit::Usage, "no plan and no log is given")),
    };
    Ok(answer.into())
}

/// Returns how a search is run.
fn settings(args: &StudyArgs) -> RunSettings {
    RunSettings { seed: args.run.seed, threads: args.run.threads, ..RunSettings::default() }
}

/// Returns the measure on the command line.
fn measure(args: &StudyArgs) -> Option<Measure> {
    args.measure.or(args.probability.map(Measure::Quantile))
}

/// Searches the sizes of a job.
fn size(job: JobPlan, text: Option<&PlanText>, args: &StudyArgs, terminal: &Terminal) -> Result<Answer, Failure> {
    if let JobPlan::Tasks(_) = job {
        return Err(only_whatif(&job, "study"));
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
fn search(path: &Input, args: &StudyArgs, terminal: &Terminal) -> Result<Answer, Failure> {
    if args.price.is_some() {
        return Err(Failure::helped(
            Exit::Usage,
            "--price applies only to logs and plans of jobs",
            "a plan with [optimize] states its own costs, by the keys `cost` and `cost_per_s` (price per second)",
        ));
    }
    let text = PlanText::read(path, terminal)?;
    let mut plan = text.plan(OptimizePlan::from_toml, &keys_of("study"))?;
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
