//! `structure`: structural analysis of a net, without exploring its states.

use tailspn::report::{Sections, StructureReport, structure_report};
use tailspn::structure::{Limits, Wanted, analyse};

use crate::cli::args::{StructureArgs, StructurePart};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::catch_interrupt;

/// Analyses the net.
pub(crate) fn run(args: &StructureArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    let program = compile_net(&loaded.net)?;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limits =
        Limits { max_rows: count(args.max_rows), max_sets: count(args.max_sets), max_wall: Some(args.max_time) };
    let asks = |part: StructurePart| args.only.is_empty() || args.only.contains(&part);
    let wanted = Wanted {
        invariants: asks(StructurePart::Invariants),
        siphons: asks(StructurePart::Siphons),
        bounds: asks(StructurePart::Bounds),
        throughputs: asks(StructurePart::Throughputs),
    };
    catch_interrupt(terminal);
    let report = structure_report(&analyse(&program, wanted, &limits, &interrupted), loaded.net.name());
    let sections = Sections { class: asks(StructurePart::Class), matrices: asks(StructurePart::Matrices) };
    let report = StructureReport { sections, ..report };
    terminal.report(&report, &args.print)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}
