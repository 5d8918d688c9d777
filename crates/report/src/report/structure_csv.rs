//! The structure of a net as CSV: one entry a row.
//!
//! `section,set,name,transition,value`: `set` numbers vectors, siphons and traps from 1; cells that do not apply are
//! empty.

use crate::report::csv::CsvError;
use crate::report::structure::{Entry, FlowRows, SetRows, StructureReport};

/// Collects rows.
struct Rows(csv::Writer<Vec<u8>>);

impl Rows {
    fn write(&mut self, cells: [&str; 5]) -> Result<(), CsvError> {
        self.0.write_record(cells).map_err(CsvError::new)
    }

    fn matrix(&mut self, section: &str, entries: &[Entry], report: &StructureReport) -> Result<(), CsvError> {
        for entry in entries {
            let (row, t) = (&report.rows[entry.row as usize], &report.transitions[entry.transition as usize]);
            self.write([section, "", row, t, &entry.value.to_string()])?;
        }
        Ok(())
    }

    fn flows(&mut self, section: &str, flows: Option<&FlowRows>) -> Result<(), CsvError> {
        for (number, vector) in (1..).zip(flows.iter().flat_map(|flows| &flows.vectors)) {
            let number = u64::to_string(&number);
            for weight in &vector.weights {
                self.write([section, &number, &weight.name, "", &weight.weight])?;
            }
            if let Some(value) = &vector.value {
                self.write([&format!("{section}_value"), &number, "", "", value])?;
            }
        }
        Ok(())
    }

    fn sets(&mut self, section: &str, sets: Option<&SetRows>) -> Result<(), CsvError> {
        for (number, set) in (1..).zip(sets.iter().flat_map(|sets| &sets.sets)) {
            let number = u64::to_string(&number);
            for name in &set.names {
                self.write([section, &number, name, "", ""])?;
            }
        }
        Ok(())
    }
}

/// The CSV of a net's structure: verdicts, matrices, invariants, bounds, siphons, traps.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn structure_csv(report: &StructureReport) -> Result<String, CsvError> {
    let mut rows = Rows(csv::Writer::from_writer(Vec::new()));
    rows.write(["section", "set", "name", "transition", "value"])?;
    rows.write(["partial", "", "", "", if report.partial { "1" } else { "0" }])?;
    for (section, verdicts) in [("class", &report.classes), ("property", &report.properties)] {
        for verdict in verdicts {
            let value = verdict.holds.map_or("", |holds| if holds { "1" } else { "0" });
            rows.write([section, "", verdict.name, "", value])?;
        }
    }
    if let Some(found) = &report.deadlock {
        let verdicts = [("property", found.property), ("deadlock_free", found.deadlock_free), ("live", found.live)];
        for (name, holds) in verdicts {
            rows.write(["deadlock", "", name, "", holds.map_or("", |holds| if holds { "1" } else { "0" })])?;
        }
    }
    let matrices = &report.matrices;
    rows.matrix("forward", &matrices.forward, report)?;
    rows.matrix("backward", &matrices.backward, report)?;
    rows.matrix("combined", &matrices.combined, report)?;
    rows.matrix("inhibition", &matrices.inhibition, report)?;
    rows.matrix("test", &matrices.tests, report)?;
    for (name, tokens) in report.rows.iter().zip(&report.initial) {
        rows.write(["initial", "", name, "", &tokens.to_string()])?;
    }
    rows.flows("p_semiflow", report.place_semiflows.as_ref())?;
    rows.flows("p_basis", report.place_basis.as_ref())?;
    rows.flows("t_semiflow", report.transition_semiflows.as_ref())?;
    rows.flows("t_basis", report.transition_basis.as_ref())?;
    for bound in report.bounds.iter().flatten() {
        rows.write(["bound", "", &bound.name, "", &bound.most.map_or_else(String::new, |most| most.to_string())])?;
    }
    for row in report.throughputs.iter().flatten() {
        rows.write([
            "throughput_bound",
            "",
            "",
            &row.name,
            &row.most.map_or_else(String::new, |most| most.to_string()),
        ])?;
    }
    rows.sets("siphon", report.siphons.as_ref())?;
    rows.sets("trap", report.traps.as_ref())?;
    let bytes = rows.0.into_inner().map_err(CsvError::new)?;
    String::from_utf8(bytes).map_err(CsvError::new)
}
