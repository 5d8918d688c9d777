//! Lists of settings with a time each: their words, and the parts of their tables that do not depend on the kind of row.

use tailspn_common::row::{Between, Row, Seconds, Set, Setting, Share};

use crate::document::{Rows, Table};
use crate::report::number::{counted, plain, time_words};

/// Time from which a table shows minutes or hours instead of seconds \[s\].
pub(super) const LONG: f64 = 7200.0;

/// A row of a list.
pub(super) trait ListRow: Row {
    /// Position of the column of times.
    const TIME: usize;
    /// Position of the column of probabilities of the deadline.
    const IN_TIME: usize;

    /// Returns the time, with its interval.
    fn time_s(&self) -> Between<Seconds>;

    /// Returns the probability of the deadline; none without a deadline.
    #[cfg_attr(not(feature = "plots"), allow(dead_code, reason = "only pictures need it"))]
    fn in_time(&self) -> Option<Share>;
}

/// The question about a list, and the row that answers.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "plots"), allow(dead_code, reason = "only pictures need it"))]
pub(super) struct ListQuestion {
    pub(super) chosen: Option<usize>,
    pub(super) deadline_s: Option<f64>,
    /// Probability with which a deadline must be met.
    pub(super) probability: f64,
    /// Probability of the intervals.
    pub(super) level: f64,
}

impl ListQuestion {
    /// Completes the table of a list: bars of the times, the deadline, the unit of the times, the note, the names of the settings.
    pub(super) fn complete<R: ListRow>(&self, table: Rows, rows: &[R]) -> Table {
        let mut table = table.bar(R::TIME, self.deadline_s.map(|deadline_s| ("deadline", deadline_s)));
        if let Some(deadline_s) = self.deadline_s {
            table = table.head(R::IN_TIME, format!("within {}", time_words(deadline_s)));
        }
        if rows.iter().any(|row| row.time_s().value.0 > LONG) {
            table = table.shown_in(R::TIME, "min", 1.0 / 60.0);
        }
        let level = plain(100.0 * self.level);
        let mut table = table.note(format!("Time: the median and the {level}% interval of the next run."));
        table.columns.iter_mut().take(table.names).for_each(|column| column.title = column.title.replace('_', " "));
        table
    }
}

/// Returns a configuration in words, such as `8 executors and an input of 3x`, and true if a verb with it is in the plural.
pub(super) fn configuration(set: &Set) -> (String, bool) {
    let words = |(name, setting): &(String, Setting)| match setting {
        Setting::Count(n) => match name.strip_prefix("gpus_per_") {
            Some(machine) => format!("{} per {machine}", counted(n.unsigned_abs(), "GPU")),
            None => counted(n.unsigned_abs(), &name.trim_end_matches('s').replace('_', " ")),
        },
        setting if name == "split_size" => format!("splits of {setting}"),
        setting => format!("an input of {setting}"),
    };
    let is_one = |(name, setting): &(String, Setting)| match setting {
        Setting::Count(n) => *n == 1,
        _ => name != "split_size",
    };
    let parts: Vec<String> = set.0.iter().map(words).collect();
    (parts.join(" and "), parts.len() > 1 || !set.0.iter().all(is_one))
}

/// Returns a text with a capital letter at its start.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

/// Returns the names of the lists.
pub(super) fn names<R: Row>(rows: &[R]) -> Vec<String> {
    let set = rows.first().map(|row| &row.set().0[..]).unwrap_or_default();
    set.iter().map(|(name, _)| name.replace('_', " ")).collect()
}
