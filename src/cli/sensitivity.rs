//! `sensitivity`: which setting of a job or a net has the largest effect.

use std::path::Path;

use tailspn::sensitivity::{Method, Sensitivity, SensitivityReport};
use tailspn::subject::GoalText;
use tailspn::sweep::SweepPlan;

use crate::cli::args::{SensitivityArgs, UntilArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::proof::proved;
use crate::cli::question::late_dead_marking;
use crate::cli::study::{study_failure, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt};

/// Ranks the settings.
pub(crate) fn run(args: &SensitivityArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(path) = args.subject.as_deref().filter(|_| !args.print_plan) else {
        terminal.data(SweepPlan::example_toml())?;
        return Ok(Exit::Success);
    };
    may_draw(&args.plots, args.force)?;
    let (mut study, plan) = read(path, args, terminal)?;
    tell_warnings(&study.warnings, &study.subject, terminal);
    let job = study.subject.plan().map_err(|error| study_failure(error, &plan))?;
    let own_run = job.map(|job| proved(&job, args.trust.trust_misfit, terminal)).transpose()?;
    study.plan.sweep.seed = args.run.seed.unwrap_or(study.plan.sweep.seed);
    study.method = args.method.0;
    study.subject.set_folding(!args.no_fold);
    study.measure = args.measure;
    study.by_transition = args.transitions;
    study.rows = args.rows;
    study.replications = args.reps;
    study.level = args.run.level;
    study.threads = args.run.threads;
    study.max_time = args.run.max_time;
    study.share = terminal.share().clone();
    catch_interrupt(terminal);
    let noun = if study.method == Method::Derivatives { "replications" } else { "points" };
    let progress = Progress::new(terminal.shows_progress(), noun);
    let report = study.run(&progress).map_err(|error| study_failure(error, &plan))?;
    drop(progress);
    let report = SensitivityReport { own_run, ..report };
    terminal.report(&report, &args.print)?;
    let exit = if report.partial && interrupted() { Exit::Interrupted } else { Exit::Success };
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(exit)
}

/// Returns true if a text is a net rather than a plan.
fn is_net(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['<', '|'])
}

/// Returns the goal of a net.
fn goal_of(args: &SensitivityArgs) -> Result<GoalText, Failure> {
    let until = args.until.clone().filter(|until| until != "dead");
    if until.is_none() {
        late_dead_marking(&args.before).map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
    }
    let UntilArgs { avoid, within } = args.before.clone();
    Ok(GoalText { until, avoid, within })
}

/// Reads a plan, or a net, and the text of the plan.
fn read(path: &Path, args: &SensitivityArgs, terminal: &Terminal) -> Result<(Sensitivity, PlanText), Failure> {
    let bytes = read_bytes(path)?;
    let text = String::from_utf8_lossy(&bytes);
    // the reader of nets refuses an empty file with a clear message
    if is_net(&text) || (args.until.is_some() && text.trim().is_empty()) {
        if let Some(option) = args.planned.options().first() {
            let note = Note::problem(format!("`{}` applies to job plans, not to a net", option.name()));
            return Err(Failure::new(Exit::Usage, note.with_help("write a plan with `sweep.base`")));
        }
        let text = PlanText { source: Source::new(path.display().to_string(), ""), text: String::new() };
        let study = Sensitivity::open_net(path, goal_of(args)?).map_err(|error| study_failure(error, &text))?;
        return Ok((study, text));
    }
    let text = PlanText::read(path, terminal)?;
    if args.until.is_some() {
        return Err(Failure::plain(Exit::Usage, "`--until` applies to nets; a plan states its goal as `sweep.until`"));
    }
    let plan = text.plan(SweepPlan::read, &keys_of("sensitivity"), terminal)?;
    let study = Sensitivity::planned(plan, path.parent().unwrap_or(Path::new("")), &args.planned.options());
    Ok((study.map_err(|error| study_failure(error, &text))?, text))
}
