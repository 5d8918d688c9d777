//! `detectors`: which straggler detectors there are.

use tailspn::report::{detectors_report, detectors_text, json};

use crate::cli::args::DetectorsArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Lists the detectors.
pub(crate) fn run(args: &DetectorsArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let report = detectors_report();
    let text = if args.json {
        json("detectors", &report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?
    } else {
        detectors_text(&report, &terminal.look())
    };
    terminal.data(&text)?;
    Ok(Exit::Success)
}
