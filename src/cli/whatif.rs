//! `whatif`: the gain of each straggler policy, for the job of a plan or of a log.

use std::path::Path;

use tailspn::StudyError;
use tailspn::ask::RunSettings;
use tailspn::cluster::{Plan, Sweep};
use tailspn::fit::only_job;
use tailspn::job_time::OwnRun;
use tailspn::plan::{JobPlan, PlanError, PlanProblem, Planning as _};
use tailspn::report::{Answer, WhatIfReport, log_what_if_report, what_if_report};
use tailspn::subject::FileKind;
use tailspn::whatif::WhatIf;

use crate::cli::args::WhatIfArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::input::Input;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{may_plot, may_write_picture};
use crate::cli::plan::{PlanText, options_refused};
use crate::cli::proof::proved;
use crate::cli::trace::{load, tell_warnings};
use crate::cli::values::SweepAxis;
use crate::cli::watch::{Progress, catch_interrupt};

/// Compares the policies, or prints a plan.
pub(crate) fn run(args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.print_plan {
        terminal.data(Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    frame::run(args, terminal)
}

impl Ask for WhatIfArgs {
    fn form(&self) -> Form<'_> {
        Form { plots: Some(&self.plots), force: self.force, ..Form::printed(&self.print) }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        if let Some(path) = &self.plot {
            may_plot("--plot")?;
            may_write_picture(path, self.force)?;
        }
        let log = self.plan.as_ref().filter(|plan| is_log(plan)).map(|log| &**log);
        refuse_options(self, log.is_some())?;
        catch_interrupt(terminal);
        let (mut study, own_run) = match log {
            Some(log) => (of_log(log, self, terminal)?, None),
            None => {
                let (study, own_run) = of_plan(self, terminal)?;
                (study, Some(own_run))
            }
        };
        study.vary(&values(&self.sweep)).map_err(failure)?;
        study.run = RunSettings { replications: self.reps, ..terminal.settings(&self.run) };
        study.notes().iter().for_each(|note| terminal.tell(&format!("note: {note}")));
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let outcome = study.run(&progress).map_err(failure)?;
        drop(progress);
        let (answer, comparison, is_plan) = match log_what_if_report(&study, &outcome) {
            Some(report) => (Answer::new(report.clone()), report.comparison, false),
            None => {
                let report = WhatIfReport { own_run, ..what_if_report(&study, &outcome) };
                (Answer::new(report.clone()), report, true)
            }
        };
        let asked = Asked::from(answer.unless_stopped(interrupted()));
        Ok(match &self.plot {
            // the energy of the nodes of a log is not known
            Some(path) => asked.writing(move |_| plot(&comparison, is_plan, path, self.force)),
            None => asked,
        })
    }
}

/// Writes the picture of the policies.
#[cfg(feature = "plots")]
fn plot(comparison: &WhatIfReport, energy: bool, path: &Path, force: bool) -> Result<(), Failure> {
    let picture = tailspn::report::what_if_picture(comparison, energy).map_err(Failure::internal)?;
    crate::cli::pictures::write_picture(path, &picture.wide, force)
}

#[cfg(not(feature = "plots"))]
fn plot(_: &WhatIfReport, _: bool, _: &Path, _: bool) -> Result<(), Failure> {
    may_plot("--plot")
}

/// Refuses options for plans with a log, and the other way round.
fn refuse_options(args: &WhatIfArgs, is_log: bool) -> Result<(), Failure> {
    let usage = |message: String, help: &str| Err(Failure::helped(Exit::Usage, message, help));
    match args.planned.options().first() {
        Some(option) if is_log => usage(
            format!("`{}` applies only to plans; a log is replayed with its own settings", option.name()),
            "remove the option, or use the plan of a job instead of the log",
        ),
        _ if args.policies.is_some() && !is_log => usage(
            "--policies applies only to logs; a plan defines its own policies".to_owned(),
            "use the log of a job instead of the plan, or edit the policies in the plan",
        ),
        _ if args.job.is_some() && !is_log => {
            usage("--job applies only to a log of several jobs".to_owned(), "remove --job; the plan defines its jobs")
        }
        _ => Ok(()),
    }
}

/// The plan in a file; the default job without a file.
fn read(plan: Option<&Input>, terminal: &Terminal) -> Result<JobPlan, Failure> {
    plan.map_or_else(|| Ok(JobPlan::default()), |plan| PlanText::read(plan, terminal)?.job())
}

fn of_plan(args: &WhatIfArgs, terminal: &Terminal) -> Result<(WhatIf, OwnRun), Failure> {
    let plan = read(args.plan.as_ref(), terminal)?.with_all(&args.planned.options()).plan();
    let plan = plan.map_err(|error| options_refused(&error))?;
    let own_run = proved(&plan, args.trust.trust_misfit, terminal)?;
    Ok((WhatIf::of_plan(plan).map_err(failure)?, own_run))
}

/// The job of a log, under the policies of `--policies`.
fn of_log(log: &Path, args: &WhatIfArgs, terminal: &Terminal) -> Result<WhatIf, Failure> {
    let trace = load(log, &(&args.limits).into(), terminal)?;
    tell_warnings(&trace, terminal);
    let trace = match &args.job {
        Some(job) => only_job(trace, job)?,
        None => trace,
    };
    let mut study = WhatIf::of_log(&trace).map_err(failure)?;
    if let Some(path) = &args.policies {
        study.policies = PlanText::read(&path.as_path().into(), terminal)?.policies()?;
    }
    Ok(study)
}

/// Returns true if a path leads to a log rather than a plan. An unreadable file is reported later, when it is read.
fn is_log(plan: &Input) -> bool {
    plan.is_dir() || plan.kind().is_some_and(FileKind::is_log)
}

/// The values of all axes.
fn values(axes: &[SweepAxis]) -> Sweep {
    let mut sweep = Sweep::default();
    for axis in axes {
        match axis {
            SweepAxis::Lag(lags) => sweep.lags_s.extend(lags),
            SweepAxis::Reservation(slots) => sweep.slots.extend(slots),
            SweepAxis::Threshold(thresholds) => sweep.thresholds.extend(thresholds),
        }
    }
    sweep
}

/// Explains why there is no comparison.
fn failure(error: StudyError) -> Failure {
    match error {
        StudyError::Options(PlanError { problems }) => {
            let told = |problem: &PlanProblem| Note::problem(format!("--sweep: {problem}"));
            Failure { exit: Exit::Usage, notes: problems.iter().map(told).collect() }
        }
        error => error.into(),
    }
}
