//! `structure`: what a net's structure says, without looking at its states.

use tailspn::report::{Extent, Sections, StructureReport, json, structure_csv, structure_report, structure_text};
use tailspn::structure::{Limits, Wanted, analyse};

use crate::cli::args::{StructureArgs, StructurePart};
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::{catch_interrupt, interrupted};

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
    terminal.data(&text_of(&report, args, sections, terminal)?)?;
    remarks(&report, terminal);
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// The report as it was asked for.
fn text_of(
    report: &StructureReport,
    args: &StructureArgs,
    sections: Sections,
    terminal: &Terminal,
) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    let extent = if args.all { Extent::WHOLE } else { Extent::default() };
    if args.print.json {
        json("structure", report).map_err(|error| failed(&error))
    } else if args.print.csv {
        structure_csv(report).map_err(|error| failed(&error))
    } else {
        Ok(structure_text(report, sections, extent, &terminal.look()))
    }
}

/// What a reader of the verdicts should know.
fn remarks(report: &StructureReport, terminal: &Terminal) {
    if report.partial && !interrupted() {
        terminal.tell("note: --max-rows N, --max-sets N and --max-time WALL let analyses go on for longer");
    }
    if !report.matrices.inhibition.is_empty() {
        terminal.tell("note: class, invariants, siphons and traps are those of the net without its inhibitor arcs");
    }
}
