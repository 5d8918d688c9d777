//! `net structure`: structural analysis of a net, without exploring its states.

use tailspn::report::{Answer, Sections, StructureReport, structure_report};
use tailspn::structure::{Limits, Wanted, analyse};

use crate::cli::args::{StructureArgs, StructurePart};
use crate::cli::call::interrupted;
use crate::cli::frame::{Ask, Asked, Form, typed};
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::catch_interrupt;

impl Ask for StructureArgs {
    fn form(&self) -> Form<'_> {
        Form { typed: typed([&self.net.net]), ..Form::printed(&self.print) }
    }

    /// Analyses the net.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let loaded = read_net(&self.net)?;
        terminal.brief_warnings(&loaded.warnings);
        let program = compile_net(&loaded.net)?;
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let limits =
            Limits { max_rows: count(self.max_rows), max_sets: count(self.max_sets), max_wall: Some(self.max_time) };
        let asks = |part: StructurePart| self.only.is_empty() || self.only.contains(&part);
        let wanted = Wanted {
            invariants: asks(StructurePart::Invariants),
            siphons: asks(StructurePart::Siphons),
            bounds: asks(StructurePart::Bounds),
            throughputs: asks(StructurePart::Throughputs),
        };
        catch_interrupt(terminal);
        let report = structure_report(&analyse(&program, wanted, &limits, &interrupted), loaded.net.name());
        let sections = Sections { class: asks(StructurePart::Class), matrices: asks(StructurePart::Matrices) };
        Ok(Answer::new(StructureReport { sections, ..report }).unless_stopped(interrupted()).into())
    }
}
