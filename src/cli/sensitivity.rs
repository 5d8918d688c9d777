//! `sensitivity`: which setting of a job or a net has the largest effect.

use tailspn::ask::RunSettings;
use tailspn::report::Answer;
use tailspn::sensitivity::{Method, Sensitivity, SensitivityReport};
use tailspn::subject::{FileKind, GoalText};
use tailspn::sweep::SweepPlan;

use crate::cli::args::{SensitivityArgs, UntilArgs};
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::input::Input;
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
        let (study, plan) = read(self, terminal)?;
        tell_warnings(&study.warnings, &study.subject, terminal);
        let failed = |error| study_failure(error, &plan);
        let job = study.subject.plan().map_err(failed)?;
        let own_run = job.map(|job| proved(&job, self.trust.trust_misfit, terminal)).transpose()?;
        let mut study = study.settings(RunSettings { replications: self.reps, ..terminal.settings(&self.run) });
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

/// Returns true if the subject is a net rather than a plan.
fn is_net(subject: &Input, args: &SensitivityArgs) -> Result<bool, Failure> {
    if subject.given_net().is_some() || subject.given_plan().is_some() || subject.kind() == Some(FileKind::Net) {
        return Ok(subject.given_plan().is_none());
    }
    let bytes = read_bytes(subject)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // the reader of nets says what is wrong with a damaged net, and refuses an empty file with a clear message
    Ok(text.starts_with(['<', '|']) || (args.until.is_some() && text.is_empty()))
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
fn read(args: &SensitivityArgs, terminal: &Terminal) -> Result<(Sensitivity, PlanText), Failure> {
    let Some(path) = &args.subject else { return Err(Failure::plain(Exit::Usage, "no plan or net is given")) };
    if is_net(path, args)? {
        if let Some(option) = args.planned.options().first() {
            let note = Note::problem(format!("`{}` applies to job plans, not to a net", option.name()));
            return Err(Failure::new(Exit::Usage, note.with_help("write a plan with `sweep.base`")));
        }
        let text = PlanText { source: Source::new(path.display().to_string(), ""), text: String::new() };
        let goal = goal_of(args)?;
        let study = match path.given_net() {
            Some(net) => Sensitivity::of_net_with(net.clone(), goal),
            None => Sensitivity::open_net(path, goal),
        };
        return Ok((study.map_err(|error| study_failure(error, &text))?, text));
    }
    let text = PlanText::read(path, terminal)?;
    if args.until.is_some() {
        return Err(Failure::plain(Exit::Usage, "`--until` applies to nets; a plan states its goal as `sweep.until`"));
    }
    let plan = text.plan(SweepPlan::from_toml, &keys_of("sensitivity"))?;
    let study = Sensitivity::planned(plan, path.folder(), &args.planned.options());
    Ok((study.map_err(|error| study_failure(error, &text))?, text))
}
