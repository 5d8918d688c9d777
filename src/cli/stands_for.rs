//! The verb that a file without a verb stands for, if its answer is requested in another form.

use std::ffi::OsString;

use tailspn::subject::FileKind;
use tailspn::trace::ReadOptions;

use crate::cli::args::ShowArgs;
use crate::cli::exit::Exit;
use crate::cli::left::is_running;
use crate::cli::logs::{all_logs, load};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::stdin::is_standard;

/// Returns the command that `tailspn FILE` with `--json`, `--csv`, `--markdown` or `--verbose` stands for; none without such an option, and for
/// results, which have their own form.
pub(crate) fn command(
    args: &ShowArgs,
    arguments: &[OsString],
    terminal: &Terminal,
) -> Result<Option<Vec<OsString>>, Failure> {
    if !args.print.is_chosen() || args.html.is_some() || args.plots.plots.is_some() {
        return Ok(None);
    }
    args.print.check()?;
    let [path] = &args.files[..] else {
        let help = "pass one file, or use a verb: `tailspn why` compares logs";
        return Err(Failure::helped(Exit::Usage, "another form of the answer needs a single file", help));
    };
    if is_standard(path) {
        return Ok(None);
    }
    let verb: &[&str] = match FileKind::of(path) {
        Some(FileKind::Log(_)) => {
            let logs = all_logs(&[path], &ReadOptions::default())?;
            let is_alone = logs.len() == 1;
            let runs = is_alone && is_running(&load(path, &ReadOptions::default(), &terminal.silent())?);
            if runs { &["estimate"] } else { &["why"] }
        }
        Some(FileKind::Net) => &["net", "solve"],
        Some(FileKind::JobPlan | FileKind::Runs) => &["estimate"],
        Some(FileKind::SweepPlan | FileKind::OptimizePlan) => &["study"],
        Some(FileKind::Result) | None => return Ok(None),
        Some(
            FileKind::HadoopConf | FileKind::Samples | FileKind::SystemCalls | FileKind::Progress | FileKind::Cluster,
        ) => {
            let message = format!("`{}` has no answer of its own", path.display());
            let help = format!("`tailspn {}` lists the commands that read it", path.display());
            return Err(Failure::helped(Exit::Usage, message, help));
        }
    };
    let words = verb.iter().map(OsString::from);
    Ok(Some(arguments.iter().take(1).cloned().chain(words).chain(arguments.iter().skip(1).cloned()).collect()))
}
