//! `detectors`: which straggler detectors there are.

use tailspn::report::detectors_report;

use crate::cli::args::DetectorsArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Lists the detectors.
pub(crate) fn run(args: &DetectorsArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    terminal.report(&detectors_report(), &args.print)?;
    Ok(Exit::Success)
}
