//! `whatif`: the gain of each straggler policy, for the job of a plan or of a log.

use std::path::Path;

use tailspn::StudyError;
use tailspn::ask::RunSettings;
use tailspn::cluster::Plan;
use tailspn::fit::only_job;
use tailspn::job_time::OwnRun;
use tailspn::plan::{PlanError, PlanProblem};
use tailspn::report::Answer;
use tailspn::whatif::WhatIf;

use crate::cli::args::WhatIfArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form, no_file, typed};
use crate::cli::logs::load_with_warnings;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{may_plot, picture_of};
use crate::cli::plan::{PlanText, job_of};
use crate::cli::proof::proved;
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
        Form {
            plots: Some(&self.plots),
            picture: self.plot.as_deref(),
            typed: typed(&self.plan).or_demo(self.demo),
            ..Form::printed(&self.print)
        }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        if self.plan.is_none() && !self.demo {
            return Err(no_file("whatif"));
        }
        self.plot.as_ref().map_or(Ok(()), |_| may_plot("--plot"))?;
        catch_interrupt(terminal);
        let (mut study, own_run) = match self.plan.as_ref().filter(|plan| plan.is_log()) {
            Some(log) => (of_log(log, self, terminal)?, None),
            None => of_plan(self, terminal)?,
        };
        study.vary(&SweepAxis::all(&self.sweep)).map_err(failure)?;
        study.run = RunSettings { replications: self.reps, ..terminal.settings(&self.run) };
        study.notes().iter().for_each(|note| terminal.tell(&format!("note: {note}")));
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let outcome = study.run(&progress).map_err(failure)?;
        drop(progress);
        let answer = Answer::of_policies(&study, &outcome, own_run).unless_stopped(interrupted());
        let picture = self.plot.as_ref().map(|_| picture_of(&answer.document(), "policies")).transpose()?;
        Ok(Asked::from(answer).drawing(picture.flatten()))
    }
}

/// The policies of a plan, and the check of the plan on its own runs; without a file, the default plan.
fn of_plan(args: &WhatIfArgs, terminal: &Terminal) -> Result<(WhatIf, Option<OwnRun>), Failure> {
    if args.policies.is_some() {
        return Err(Failure::helped(
            Exit::Usage,
            "--policies applies only to logs; a plan defines its own policies",
            "use the log of a job instead of the plan, or edit the policies in the plan",
        ));
    }
    if args.job.is_some() {
        let message = "--job applies only to a log of several jobs";
        return Err(Failure::helped(Exit::Usage, message, "remove --job; the plan defines its jobs"));
    }
    let text = args.plan.as_ref().map(|plan| PlanText::read(plan, terminal)).transpose()?;
    let plan = job_of(text.as_ref(), &args.planned.options())?;
    let own_run = proved(&plan, args.trust.trust_misfit, terminal)?;
    Ok((WhatIf::of_plan(plan).map_err(failure)?, Some(own_run)))
}

/// The job of a log, under the policies of `--policies`.
fn of_log(log: &Path, args: &WhatIfArgs, terminal: &Terminal) -> Result<WhatIf, Failure> {
    if let Some(option) = args.planned.options().first() {
        return Err(Failure::helped(
            Exit::Usage,
            format!("`{}` applies only to plans; a log is replayed with its own settings", option.name()),
            "remove the option, or use the plan of a job instead of the log",
        ));
    }
    let trace = load_with_warnings(log, &(&args.limits).into(), terminal)?;
    let trace = match &args.job {
        Some(job) => only_job(trace, job)?,
        None => trace,
    };
    let mut study = WhatIf::of_log(&trace).map_err(failure)?;
    match args.policies.as_deref() {
        Some(all) if all.as_os_str() == "all" => study = study.of_literature(),
        Some(path) => study.policies = PlanText::read(&path.into(), terminal)?.policies()?,
        None => {}
    }
    Ok(study)
}

/// Explains why there is no comparison.
fn failure(error: StudyError) -> Failure {
    match error {
        StudyError::Options(PlanError { problems }) => {
            let told = |problem: &PlanProblem| Note::problem(format!("--sweep: {problem}"));
            Failure::of_notes(Exit::Usage, problems.iter().map(told).collect())
        }
        error => error.into(),
    }
}
