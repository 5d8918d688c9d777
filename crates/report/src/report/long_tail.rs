//! A progress model with the forms that were compared, and straggler flags as lines of text and of JSON.

use serde::{Deserialize, Serialize};

use crate::diagnose::long_tail::{AgentCounts, Candidate, Counted, FittedProfile, Learned, Model, StragglerFlag};
use crate::document::{Cell, Column, Document, Number, Piece, Report, Table};
use crate::report::json::{JsonError, key_of};
use crate::report::number::counted;

/// Progress model learned from earlier runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgressModelReport {
    /// Runs that were read.
    pub runs: u64,
    /// One profile for each kind of task.
    pub profiles: Vec<ProfileRow>,
    /// Kinds of tasks without a profile, with the reasons.
    pub left_out: Vec<String>,
    /// The model.
    pub model: Model,
}

/// The profile of a kind of task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileRow {
    /// The kind.
    pub kind: String,
    /// Attempts from which the profile was learned.
    pub tasks: u64,
    /// Typical time of these attempts \[s\].
    pub usual_s: f64,
    /// The forms that were tried.
    pub forms: Vec<Candidate>,
}

/// Reports the model learned from `runs` runs.
pub fn progress_model_report(learned: &Learned, runs: u64) -> ProgressModelReport {
    let row = |fitted: &FittedProfile| ProfileRow {
        kind: fitted.profile.kind.clone(),
        tasks: fitted.profile.tasks,
        usual_s: fitted.profile.curve.usual_s(),
        forms: fitted.candidates.clone(),
    };
    let left_out = learned.left_out.iter().map(ToString::to_string).collect();
    ProgressModelReport {
        runs,
        profiles: learned.fitted.iter().map(row).collect(),
        left_out,
        model: learned.model.clone(),
    }
}

impl Report for ProgressModelReport {
    const KIND: &'static str = "progress_model";

    fn document(&self) -> Document<'_> {
        let [kinds, runs] =
            [(self.profiles.len() as u64, "kind"), (self.runs, "run")].map(|(n, noun)| counted(n, noun));
        let mut document = Document {
            kind: "model of progress",
            title: format!("Progress of {kinds} of tasks in {runs}"),
            remarks: self.left_out.iter().map(|kind| format!("No profile: {kind}.")).collect(),
            ..Document::default()
        };
        let note = "Error: root mean square error on held-out attempts, as a share of their time.";
        let columns = [
            Column::new("kind").key("kind"),
            Column::new("tasks").key("tasks"),
            Column::new("expected time [s]").key("usual_s"),
            Column::new("form").key("form"),
            Column::new("pieces").key("pieces"),
            Column::new("error").key("held_out_error"),
            Column::new("").key("taken"),
        ];
        let mut table = Table::new("", note, columns).wide();
        for (i, profile) in self.profiles.iter().enumerate() {
            for (j, form) in profile.forms.iter().enumerate() {
                let at = |key: &str| format!("/profiles/{i}/{key}");
                let kind = if profile.kind.is_empty() { "(no name)" } else { &profile.kind };
                let selected = if form.taken { ["selected", "true"] } else { ["", "false"] };
                let error = Number::new(at(&format!("forms/{j}/held_out_error")), form.error, "");
                table.rows.push(vec![
                    Cell::named(kind, profile.kind.as_str()),
                    Number::count(at("tasks"), profile.tasks).into(),
                    Number::new(at("usual_s"), profile.usual_s, "").brief().into(),
                    key_of(&form.form).into(),
                    Number::count(at(&format!("forms/{j}/pieces")), form.pieces as u64).into(),
                    error.rounded(0.001).into(),
                    Cell::named(selected[0], selected[1]),
                ]);
            }
        }
        document.table(table);
        document
    }
}

/// Returns a flag as a line of text.
pub fn straggler_line(flag: &StragglerFlag) -> String {
    let name = |what: &str, name: &str| if name.is_empty() { String::new() } else { format!("{what}{name} ") };
    let node = if flag.node.is_empty() { String::new() } else { format!(" on {}", flag.node) };
    format!(
        "{:.3} s: straggler {}{}{}task {}.{}{node}: {:.0}% complete after {:.1} s, {:.0}% expected; {:.2} times slower than expected \
         (boundary {:.2}), probability of a straggler {:.0}%\n",
        flag.time_s,
        name("", &flag.job),
        name("", &flag.kind),
        name("stage ", &flag.stage),
        flag.task,
        flag.attempt,
        100.0 * flag.progress,
        flag.age_s,
        100.0 * flag.usual_progress,
        flag.slowdown,
        flag.boundary,
        100.0 * flag.probability,
    )
}

/// A line of JSON that `watch --json` prints.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "lowercase")]
pub(in crate::report) enum WatchLine<'a> {
    /// A flagged task.
    Straggler(&'a StragglerFlag),
    /// The end of watching.
    End(&'a WatchReport<'a>),
}

/// The end of watching: the counts of the agent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchReport<'a> {
    /// Reports and tasks.
    #[serde(flatten)]
    pub counts: AgentCounts,
    /// True if the watching was stopped early.
    pub partial: bool,
    /// Oddities of the reports, with the number of occurrences.
    pub warnings: Vec<&'a Counted>,
}

impl Report for WatchReport<'_> {
    const KIND: &'static str = "end";

    fn document(&self) -> Document<'_> {
        let number = |key: &str, value: u64| Piece::from(Number::count(format!("/{key}"), value));
        let AgentCounts { reports, tasks, most_running, ended, flagged } = self.counts;
        let words = |number: u64, noun: &str| if number == 1 { noun.to_owned() } else { format!("{noun}s") };
        let answer = vec![
            number("reports", reports),
            format!(" {} on ", words(reports, "report")).into(),
            number("tasks", tasks),
            format!(" {}, at most ", words(tasks, "task")).into(),
            number("most_running", most_running),
            " at a time; ".into(),
            number("ended", ended),
            " finished, ".into(),
            number("flagged", flagged),
            " flagged".into(),
        ];
        Document { kind: "end of watching", answer: answer.into(), ..Document::default() }
    }

    /// Returns the counts as one line of JSON, like the flags before it.
    fn json(&self) -> Result<String, JsonError> {
        json_line(&WatchLine::End(self))
    }
}

fn json_line(line: &WatchLine<'_>) -> Result<String, JsonError> {
    let mut line = serde_json::to_string(line)?;
    line.push('\n');
    Ok(line)
}

/// Returns a flag as a line of JSON.
///
/// # Errors
///
/// [`JsonError`], which no flag causes.
pub fn straggler_json(flag: &StragglerFlag) -> Result<String, JsonError> {
    json_line(&WatchLine::Straggler(flag))
}
