//! An answer on one screen: six blocks in one order, whatever the question. Tables, figures and notes have the rest.
//!
//! Precision follows the error: a predicted time has two digits, a measured one three, and times that are compared have the same number of decimals.

use serde::Serialize;

use crate::document::table::Table;
use crate::report::number::time_words;

/// Options about the goal of a net.
const OF_NETS: [&str; 3] = ["--until", "--avoid", "--within"];

/// The six blocks. An empty block is not shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// The answer, in a sentence or two that can be forwarded: a number, its interval, the conditions.
    pub answer: String,
    /// The verdict on the model, by the runs that it was made from; none for a question without a model.
    pub own_run: Option<ScreenVerdict>,
    /// Where the time goes.
    pub parts: ScreenShares,
    /// The tables that answer a question about several things.
    pub tables: Vec<Table>,
    /// Changes of the answer, the best first.
    pub changes: Vec<ScreenChange>,
    /// Settings to copy; empty without any.
    pub to_try: String,
    /// Questions without an answer, with the reason.
    pub refused: String,
    /// Meaning of the columns of a table; empty for other inputs.
    pub read_as: String,
    /// Assumptions in place of measurements, the most important first.
    pub assumed: Vec<String>,
    /// Unknowns, with the reason.
    pub unknown: Vec<String>,
    /// Commands for the next questions.
    pub next: Vec<NextCommand>,
}

/// The verdict on a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenVerdict {
    /// `Reproduced`, `NOT reproduced` or `Not checked`.
    pub label: &'static str,
    /// The reason, and a line for each part that the model misses.
    pub lines: Vec<String>,
}

/// The parts of a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenShares {
    /// The heading, which names the whole.
    pub title: String,
    /// Name, time, and share in percent.
    pub rows: Vec<(String, String, u32)>,
}

/// A change that would change the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenChange {
    /// The change.
    pub what: String,
    /// The time with it.
    pub time: String,
    /// The saved time: the difference of the printed times.
    pub saves: String,
}

/// A command that answers the next question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextCommand {
    /// The command. `FILE` stands for what the user has asked about; `ONE` does so, too, in a command that takes one file, and `LOG` in one that takes one log.
    pub command: String,
    /// The answer that the command gives.
    pub gives: String,
}

/// The files that the user has typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// The words of the shell; empty if they are not known.
    pub words: Vec<String>,
    /// True for logs, false for a plan.
    pub is_log: bool,
    /// Options of the question, each with its value: they stay in commands of verbs that take them.
    pub options: Vec<(String, Option<String>)>,
}

/// The parts of an answer, in the order in which people read: the same six for every question. A part that an answer does not have is
/// empty. JSON has the answer as `answer.text`, and the others as `blocks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blocks {
    /// The answer, in a sentence or two.
    #[serde(skip)]
    pub answer: String,
    /// True if the model reproduces the runs that it was made from, false if not; null without such a check.
    pub reproduced: Option<bool>,
    /// The verdict on the model: the runs that it was made from are reproduced, or not.
    pub own_run: String,
    /// Where the time goes.
    #[serde(rename = "where")]
    pub parts: String,
    /// Changes of the job that would change the answer, one each.
    pub changes: Vec<String>,
    /// Questions without an answer, with the reason.
    pub refused: String,
    /// Assumptions in place of measurements.
    pub assumed: String,
    /// Commands that answer the next questions.
    pub next: Vec<String>,
}

impl ScreenVerdict {
    /// The label of a model that reproduces its runs.
    pub(crate) const REPRODUCED: &'static str = "Reproduced";
    /// The label of a model that does not.
    pub(crate) const MISFIT: &'static str = "NOT reproduced";
    /// The label of a model without runs of its own.
    pub(crate) const UNCHECKED: &'static str = "Not checked";

    /// Returns whether the model reproduces its runs; none if it has none.
    fn is_reproduced(&self) -> Option<bool> {
        (self.label != Self::UNCHECKED).then_some(self.label == Self::REPRODUCED)
    }
}

impl Typed {
    /// Returns the words for a built-in job, if it was asked about.
    #[must_use]
    pub fn or_demo(self, is_demo: bool) -> Self {
        if is_demo { Self { words: vec!["--demo".to_owned()], is_log: false, ..self } } else { self }
    }

    /// Returns the typed options that a command takes and does not set itself.
    fn kept(&self, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let is_list = |value: &str| value.contains(',') || value.contains("..");
        let has_list = words.iter().any(|word| is_list(word));
        let takes = |option: &str| match words.get(1) {
            // only a list has a cheapest row
            Some(&"estimate" | &"whatif") if OF_NETS.contains(&option) => false,
            Some(&"estimate") => option != "--policies" && (option != "--price" || has_list),
            Some(&"study" | &"whatif") if ["--speculation", "--stragglers", "--policies"].contains(&option) => false,
            Some(&"study") => true,
            Some(&"whatif") if self.is_log => ["--app", "--job"].contains(&option),
            Some(&"whatif") => !["--price", "--probability"].contains(&option),
            _ => option == "--app",
        };
        // of a list, one value is left to the reader; a study is about all
        let is_study = words.get(1) == Some(&"study");
        let kept = self.options.iter().filter(|(option, value)| {
            takes(option) && !words.contains(&option.as_str()) && (is_study || !value.as_deref().is_some_and(is_list))
        });
        let word = |(option, value): &(String, Option<String>)| match value {
            Some(value) => format!(" {option} {value}"),
            None => format!(" {option}"),
        };
        kept.map(word).collect()
    }
}

impl NextCommand {
    /// Returns a command with what it gives.
    pub(crate) fn new(command: impl Into<String>, gives: &str) -> Self {
        Self { command: command.into(), gives: gives.to_owned() }
    }
}

impl Screen {
    /// Returns the commands about the typed files. Commands that need one log are left out for a plan and for several logs. Without typed files, capitals
    /// stand for them.
    pub fn next_about(&self, typed: &Typed) -> Vec<NextCommand> {
        NextCommand::about(&self.next, typed)
    }
}

impl NextCommand {
    /// Returns the commands about the typed files, as [`Screen::next_about`].
    pub(crate) fn about(all: &[Self], typed: &Typed) -> Vec<Self> {
        let is_one_log = typed.is_log && typed.words.len() == 1;
        let has_policies = typed.options.iter().any(|(option, _)| option == "--policies");
        let fits = |next: &&NextCommand| match next.command.as_str() {
            command if has_policies && command.contains("--policies") => false,
            _ if typed.words.is_empty() => true,
            command if command.contains("LOG") => is_one_log,
            command if command.contains("ONE") => typed.words.len() == 1,
            _ => true,
        };
        let about = |next: &NextCommand| {
            let word = |word: &str| match word {
                "LOG" | "FILE" | "ONE" if !typed.words.is_empty() => typed.words.join(" "),
                "ONE" => "FILE".to_owned(),
                word => word.to_owned(),
            };
            let command = next.command.split(' ').map(word).collect::<Vec<_>>().join(" ") + &typed.kept(&next.command);
            NextCommand { command, gives: next.gives.clone() }
        };
        all.iter().filter(fits).map(about).collect()
    }
}

impl Screen {
    /// Returns the blocks as text.
    pub(super) fn blocks(&self, typed: &Typed) -> Blocks {
        let own_run = self.own_run.iter().map(|verdict| format!("{}: {}", verdict.label, verdict.lines.join("; ")));
        let part = |(name, time, percent): &(String, String, u32)| format!("{name} {time} ({percent}%)");
        let change = |change: &ScreenChange| format!("{}: {}, saves {}", change.what, change.time, change.saves);
        Blocks {
            answer: self.answer.clone(),
            reproduced: self.own_run.as_ref().and_then(ScreenVerdict::is_reproduced),
            own_run: own_run.collect(),
            parts: self.parts.rows.iter().map(part).collect::<Vec<_>>().join(", "),
            changes: self.changes.iter().map(change).collect(),
            refused: self.refused.clone(),
            assumed: self.assumed.join("; "),
            next: self.next_about(typed).into_iter().map(|next| next.command).collect(),
        }
    }
}

/// Decimals that give a positive number this many significant digits.
pub(crate) fn decimals(value: f64, digits: u32) -> usize {
    if value <= 0.0 || !value.is_finite() {
        return 0;
    }
    // `as` is fine: the exponent of a number is small
    (i64::from(digits) - 1 - value.log10().floor() as i64).clamp(0, 6) as usize
}

/// Returns a time in the unit that a person would use, with this many significant digits below two minutes.
pub fn human_time(seconds: f64, digits: u32) -> String {
    const LONG: f64 = 120.0;
    if seconds < LONG { format!("{seconds:.*} s", decimals(seconds, digits)) } else { time_words(seconds) }
}

/// Returns an amount of data with two digits, in powers of 1024.
pub(crate) fn data_size(mb: f64) -> String {
    let (value, unit) = match mb {
        mb if mb < 1.0 => (mb * 1024.0, "KiB"),
        mb if mb < 1024.0 => (mb, "MiB"),
        mb if mb < 1024.0 * 1024.0 => (mb / 1024.0, "GiB"),
        mb => (mb / 1024.0 / 1024.0, "TiB"),
    };
    format!("{value:.*} {unit}", decimals(value, 2))
}

/// Returns a probability in whole percent; `< 1%` and `> 99%` at the ends.
pub fn percent_text(probability: f64) -> String {
    match 100.0 * probability {
        percent if percent < 1.0 => "less than 1%".to_owned(),
        percent if percent > 99.0 => "more than 99%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

/// Returns the name of a stage, with the last part of a path: `0 reduceByKey app.py:28`.
pub fn short_name(name: &str) -> String {
    const LONGEST: usize = 40;
    let (action, place) = name.split_once(" at ").unwrap_or((name, ""));
    let place = place.rsplit('/').next().unwrap_or("");
    let name = format!("{action} {place}");
    let name = name.trim_end();
    if name.chars().count() <= LONGEST {
        name.to_owned()
    } else {
        name.chars().take(LONGEST - 1).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_units_of_people() {
        let predicted = [0.0123, 0.52, 7.34, 50.3, 117.4, 844.0, 840.0, 12_300.0, 400_000.0];
        let texts = predicted.map(|seconds| human_time(seconds, 2));
        assert_eq!(
            texts,
            ["0.012 s", "0.52 s", "7.3 s", "50 s", "117 s", "14 min 4 s", "14 min", "3 h 25 min", "111 h 7 min"]
        );
        assert_eq!([0.0, 50.31, 8.412].map(|seconds| human_time(seconds, 3)), ["0 s", "50.3 s", "8.41 s"]);
        // rounding carries over to the next unit
        assert_eq!([179.7, 7199.8].map(|seconds| human_time(seconds, 2)), ["3 min", "120 min"]);
    }

    #[test]
    fn sizes_probabilities_and_names_are_short() {
        assert_eq!(
            [0.5, 6.0, 49.54, 2048.0, 1.5e6].map(data_size),
            ["512 KiB", "6.0 MiB", "50 MiB", "2.0 GiB", "1.4 TiB"]
        );
        assert_eq!([0.0, 0.01, 0.834, 0.995].map(percent_text), ["less than 1%", "1%", "83%", "more than 99%"]);
        assert_eq!(short_name("0 reduceByKey at /home/u/app.py:28"), "0 reduceByKey app.py:28");
        assert_eq!(short_name(&"x".repeat(60)).chars().count(), 40);
    }

    #[test]
    fn commands_are_about_what_was_typed() {
        let next = ["tailspn why LOG", "tailspn estimate FILE --executors 2"];
        let next = next.map(|command| NextCommand { command: command.to_owned(), gives: String::new() });
        let screen = Screen { next: next.to_vec(), ..Screen::default() };
        let about = |words: &[&str], is_log| {
            let words = words.iter().map(|&word| word.to_owned()).collect();
            let found = screen.next_about(&Typed { words, is_log, ..Typed::default() });
            found.into_iter().map(|next| next.command).collect::<Vec<_>>()
        };
        assert_eq!(about(&["a.gz"], true), ["tailspn why a.gz", "tailspn estimate a.gz --executors 2"]);
        assert_eq!(about(&["a.gz", "b.gz"], true), ["tailspn estimate a.gz b.gz --executors 2"]);
        assert_eq!(about(&["job.toml"], false), ["tailspn estimate job.toml --executors 2"]);
        assert_eq!(about(&[], false), ["tailspn why LOG", "tailspn estimate FILE --executors 2"]);
        let option = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        let options = vec![
            option("--app", "a-1"),
            option("--input-size", "3x"),
            option("--executors", "1..8"),
            option("--price", "1USD/core-hour"),
        ];
        let typed = Typed { words: vec!["a.gz".to_owned()], is_log: true, options };
        let kept: Vec<String> = screen.next_about(&typed).into_iter().map(|next| next.command).collect();
        assert_eq!(
            kept,
            ["tailspn why a.gz --app a-1", "tailspn estimate a.gz --executors 2 --app a-1 --input-size 3x"]
        );
        assert_eq!(
            typed.kept("tailspn study FILE"),
            " --app a-1 --input-size 3x --executors 1..8 --price 1USD/core-hour",
            "a study is about the whole list"
        );
    }
}
