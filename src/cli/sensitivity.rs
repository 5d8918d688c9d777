//! `sensitivity`: which setting of a job or a net has the largest effect.

use std::path::Path;

use tailspn::ask::RunSettings;
use tailspn::report::Answer;
use tailspn::sensitivity::{Method, Sensitivity, SensitivityReport};
use tailspn::subject::NetGoal;
use tailspn::sweep::SweepPlan;

use crate::cli::args::{SensitivityArgs, UntilArgs};
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::proof::proved;
use crate::cli::question::late_dead_marking;
use crate::cli::study::{study_failure, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt};

/// Ranks the settings, or prints a plan.
pub(crate) fn run(args: &SensitivityArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.subject.is_none() || args.print_plan {
        terminal.data(SweepPlan::example_toml())?;
        return Ok(Exit::Success);
    }
    frame::run(args, terminal)
}

impl Ask for SensitivityArgs {
    fn form(&self) -> Form<'_> {
        Form { plots: Some(&self.plots), force: self.force, ..Form::printed(&self.print) }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let (study, plan) = read(self.subject.as_deref().unwrap_or(Path::new("")), self, terminal)?;
        tell_warnings(&study.warnings, &study.subject, terminal);
        let failed = |error| study_failure(error, &plan);
        let job = study.subject.plan().map_err(failed)?;
        let own_run = job.map(|job| proved(&job, self.trust.trust_misfit, terminal)).transpose()?;
        let mut study = study.settings(RunSettings { replications: self.reps, ..self.run.settings(terminal) });
        study.method = self.method.0;
        study.subject.set_folding(!self.no_fold);
        study.measure = self.measure;
        study.by_transition = self.transitions;
        study.rows = self.rows;
        catch_interrupt(terminal);
        let noun = if study.method == Method::Derivatives { "replications" } else { "points" };
        let progress = Progress::new(terminal.shows_progress(), noun);
        let report = SensitivityReport { own_run, ..study.run(&progress).map_err(failed)? };
        let is_partial = report.partial;
        Ok(Answer::new(report).unless_stopped(is_partial).into())
    }
}

/// Returns true if a text is a net rather than a plan.
fn is_net(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['<', '|'])
}

/// Returns the goal of a net.
fn goal_of(args: &SensitivityArgs) -> Result<NetGoal, Failure> {
    let until = args.until.clone().filter(|until| until != "dead");
    if until.is_none() {
        late_dead_marking(&args.before).map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
    }
    let UntilArgs { avoid, within } = args.before.clone();
    Ok(NetGoal { until, avoid, within })
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
