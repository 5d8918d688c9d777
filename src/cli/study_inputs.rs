//! The inputs of `study`: a job from logs or a plan, or the only file.

use tailspn::plan::JobPlan;
use tailspn::subject::FileKind;

use crate::cli::args::StudyArgs;
use crate::cli::exit::Exit;
use crate::cli::fitted::{Read, read_inputs};
use crate::cli::input::Input;
use crate::cli::kinds::is_fitted;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, applied, only_whatif};

/// Returns true if the question is about a job: the first file is the plan of a job, or a log to which a plan is fitted.
pub(crate) fn is_of_job(args: &StudyArgs) -> bool {
    args.inputs.first().is_some_and(|first| first.kind() == Some(FileKind::JobPlan) || is_fitted(first))
}

/// Reads a job from logs or from a plan, with the options of the command. A plan also has its text.
pub(crate) fn job(args: &StudyArgs, terminal: &Terminal) -> Result<(JobPlan, Option<PlanText>), Failure> {
    let (plan, text) = match read_inputs(&args.inputs, None, &args.fitted, terminal)? {
        Read::Logs(job) => (job, None),
        Read::Plan(path) => {
            let text = PlanText::read(path, terminal)?;
            (text.job()?, Some(text))
        }
        Read::Nothing => return Err(Failure::plain(Exit::Usage, "no plan and no log is given")),
    };
    if let JobPlan::Tasks(_) = plan {
        return Err(only_whatif(&plan, "study"));
    }
    Ok((applied(plan, &args.planned.single_options()?)?, text))
}

/// Returns the only file.
pub(crate) fn only_file(args: &StudyArgs) -> Result<&Input, Failure> {
    match &args.inputs[..] {
        [one] => Ok(one),
        [] => Err(Failure::plain(Exit::Usage, "no plan, log or net is given")),
        several => {
            let message = format!("{} files, but the first is not a log", several.len());
            Err(Failure::helped(Exit::Usage, message, "pass one plan or net, or the logs of one job"))
        }
    }
}
