//! `tool devices`: the graphics adapters of this machine, their abilities, and the default adapter of a run.

use tailspn::report::{AdapterRow, Answer, DevicesReport};
use tailspn::sim::gpu::{Surveyed, automatic_choice, survey};

use crate::cli::args::DevicesArgs;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

impl Ask for DevicesArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    /// Lists the adapters.
    fn ask(&self, _: &Terminal) -> Result<Asked<'_>, Failure> {
        Ok(Answer::new(report_on(&survey())).into())
    }
}

fn report_on(found: &[Surveyed]) -> DevicesReport {
    let (auto, auto_reason) = match automatic_choice(found) {
        Ok(at) => {
            let facts = &found[at].facts;
            (
                Some(facts.name.clone()),
                format!("the best GPU of this machine ({}); it passed its self-test", facts.kind.name()),
            )
        }
        Err(error) => (None, error.to_string()),
    };
    DevicesReport { adapters: found.iter().map(row).collect(), auto, auto_reason }
}

fn row(surveyed: &Surveyed) -> AdapterRow {
    let facts = &surveyed.facts;
    AdapterRow {
        name: facts.name.clone(),
        kind: facts.kind.name().into(),
        interface: facts.interface.clone(),
        driver: facts.driver.clone(),
        int64: facts.int64,
        largest_buffer: facts.largest_buffer,
        largest_binding: facts.largest_binding,
        workgroups: facts.workgroups,
        workgroup_size: facts.workgroup_size,
        usable: surveyed.fault.is_none(),
        fault: surveyed.fault.as_ref().map(ToString::to_string),
    }
}
