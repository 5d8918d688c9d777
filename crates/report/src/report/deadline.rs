//! The probability that a job finishes by a deadline.

use crate::document::{Cell, Column, Document, Number, Table, Topic};
use crate::estimate::Measured;
use crate::job_time::{DeadlineSection, LateSection};
use crate::report::number::{counted, plain};

/// Returns a probability in percent; an exact probability has two decimals.
pub(super) fn chance(at: impl Into<String>, probability: &Measured) -> Number {
    let number = Number::measured(at, probability, "").percent();
    if probability.is_exact() { number.rounded(1.5e-4) } else { number }
}

/// Adds the probability to the answer, and a table with both methods, if there is a deadline.
pub(super) fn add_deadline(document: &mut Document<'_>, section: Option<&DeadlineSection>, level: f64) {
    let Some(section) = section else { return };
    let deadline = plain(section.deadline_s);
    let methods =
        [("exact", "/deadline/exact", &section.exact), ("simulated", "/deadline/simulated", &section.simulated)];
    let keys = ["done_by_deadline_analytic", "done_by_deadline"];
    let mut columns = vec![Column::new("")];
    let mut row = vec![Cell::named(format!("within {deadline} s"), section.deadline_s.to_string())];
    for ((name, at, probability), key) in methods.into_iter().zip(keys) {
        let Some(probability) = probability else { continue };
        if row.len() == 1 {
            let words = format!(" The probability of finishing within {deadline} s is ");
            document.answer.say(Topic::Answer, [words.into(), chance(at, probability).into(), ".".into()]);
        }
        columns.push(Column::new(name).unit("%").key(key));
        row.push(chance(at, probability).into());
    }
    if row.len() > 1 {
        document.table(Table::new("Probability of meeting the deadline", "", columns).level(level).row(row));
    }
    let why = section.no_late.iter();
    document.remarks.extend(why.map(|why| {
        format!("Few runs finish after {deadline} s. Splitting gives no probability of finishing so late: {why}.")
    }));
    if let Some(late) = &section.late {
        add_late(document, section.deadline_s, late, level);
    }
}

/// Adds the probability of finishing after the deadline by splitting.
fn add_late(document: &mut Document<'_>, deadline_s: f64, late: &LateSection, level: f64) {
    let deadline = plain(deadline_s);
    let probability = || Number::measured("/deadline/late/probability", &late.probability, "");
    let words = format!(" By splitting, the probability of finishing after {deadline} s is ");
    document.answer.say(Topic::Answer, [words.into(), probability().into(), ".".into()]);
    let caption = format!(
        "Splitting on {}: {} walks on each, {} batches. Few replications finish this late.",
        counted(late.levels as u64, "level"),
        late.effort,
        late.probability.samples
    );
    let columns = [Column::new(""), Column::new("splitting").key("late_by_splitting")];
    let row = [Cell::named(format!("after {deadline} s"), deadline_s.to_string()), probability().into()];
    document.table(Table::new("Probability of missing the deadline", caption, columns).level(level).row(row));
}
