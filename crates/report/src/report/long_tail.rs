//! What a profile was chosen from, and flags of stragglers as lines of text and as JSON lines.

use serde::Serialize;

use crate::diagnose::long_tail::{AgentCounts, Counted, FittedProfile, Learned, Model, StragglerFlag};
use crate::render::Look;
use crate::report::json::JsonError;
use crate::report::number::counted;
use crate::report::table::{Align, Table};

/// What was learned from earlier runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgressModelReport {
    /// Runs that were read.
    pub runs: u64,
    /// One for each kind of task.
    pub profiles: Vec<ProfileRow>,
    /// Kinds without a profile, and why.
    pub left_out: Vec<String>,
    /// The model itself.
    pub model: Model,
}

/// The profile of a kind of task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileRow {
    /// The kind.
    pub kind: String,
    /// Attempts that it was learned from.
    pub tasks: u64,
    /// Their usual time \[s\].
    pub usual_s: f64,
    /// The forms that were tried.
    pub forms: Vec<FormRow>,
}

/// A form that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormRow {
    /// Its name.
    pub form: &'static str,
    /// Its pieces.
    pub pieces: usize,
    /// Error on attempts that were held out, in ages as shares of an attempt's time.
    pub held_out_error: f64,
    /// Whether it was taken.
    pub taken: bool,
}

/// What was learned from so many runs.
pub fn progress_model_report(learned: &Learned, runs: u64) -> ProgressModelReport {
    let row = |fitted: &FittedProfile| ProfileRow {
        kind: fitted.profile.kind.clone(),
        tasks: fitted.profile.tasks,
        usual_s: fitted.profile.curve.usual_s(),
        forms: fitted
            .candidates
            .iter()
            .map(|form| FormRow { form: form.form, pieces: form.pieces, held_out_error: form.error, taken: form.taken })
            .collect(),
    };
    let left_out = learned.left_out.iter().map(ToString::to_string).collect();
    ProgressModelReport {
        runs,
        profiles: learned.fitted.iter().map(row).collect(),
        left_out,
        model: learned.model.clone(),
    }
}

/// The text of what was learned.
pub fn progress_model_text(report: &ProgressModelReport, look: &Look) -> String {
    let kinds = counted(report.profiles.len() as u64, "kind");
    let mut text = look.heading(&format!("progress of {kinds} of tasks in {}", counted(report.runs, "run")));
    let mut table = Table::new([
        ("kind", Align::Left),
        ("tasks", Align::Right),
        ("usual time [s]", Align::Right),
        ("form", Align::Left),
        ("pieces", Align::Right),
        ("error on tasks held out [of their time]", Align::Right),
        ("", Align::Left),
    ]);
    for profile in &report.profiles {
        for (i, form) in profile.forms.iter().enumerate() {
            let first = |text: String| if i == 0 { text } else { String::new() };
            table.push([
                first(named(&profile.kind).to_owned()),
                first(profile.tasks.to_string()),
                first(format!("{:.3}", profile.usual_s)),
                form.form.to_owned(),
                form.pieces.to_string(),
                format!("{:.4}", form.held_out_error),
                if form.taken { "taken" } else { "" }.to_owned(),
            ]);
        }
    }
    text += &table.text();
    for kind in &report.left_out {
        text += &format!("  no profile: {kind}\n");
    }
    text
}

fn named(kind: &str) -> &str {
    if kind.is_empty() { "(no name)" } else { kind }
}

/// A flag as a line of text.
pub fn straggler_line(flag: &StragglerFlag) -> String {
    let name = |what: &str, name: &str| if name.is_empty() { String::new() } else { format!("{what}{name} ") };
    let node = if flag.node.is_empty() { String::new() } else { format!(" on {}", flag.node) };
    format!(
        "{:.3} s: straggler {}{}{}task {}.{}{node}: {:.0} % done after {:.1} s, {:.0} % is usual; {:.2} times as slow as usual \
         (boundary {:.2}), probability {:.0} %\n",
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

/// A line of JSON about an event.
#[derive(Serialize)]
struct Event<'a, E: Serialize> {
    event: &'static str,
    #[serde(flatten)]
    what: &'a E,
}

/// What an agent counted, at its end.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    counts: AgentCounts,
    partial: bool,
    warnings: Vec<&'a Counted>,
}

fn json_line<E: Serialize>(event: &'static str, what: &E) -> Result<String, JsonError> {
    let mut line = serde_json::to_string(&Event { event, what })?;
    line.push('\n');
    Ok(line)
}

/// A flag as a line of JSON.
///
/// # Errors
///
/// [`JsonError`], which no flag causes.
pub fn straggler_json(flag: &StragglerFlag) -> Result<String, JsonError> {
    json_line("straggler", flag)
}

/// The end of watching as a line of JSON.
///
/// # Errors
///
/// [`JsonError`], which no counts cause.
pub fn watched_json<'a>(
    counts: AgentCounts,
    warnings: impl Iterator<Item = &'a Counted>,
    partial: bool,
) -> Result<String, JsonError> {
    json_line("end", &Summary { counts, partial, warnings: warnings.collect() })
}

/// The end of watching as a sentence.
pub fn watched_text(counts: AgentCounts) -> String {
    format!(
        "{} of {}, at most {} at a time; {} ended, {} flagged",
        counted(counts.reports, "report"),
        counted(counts.tasks, "task"),
        counts.most_running,
        counts.ended,
        counts.flagged
    )
}
