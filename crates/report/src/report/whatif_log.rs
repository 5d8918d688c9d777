//! Result of a what-if on a log: the original and the replayed job, followed by the compared policies.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::{DetectorKind, DetectorPlan};
use crate::cluster::{Advice, Replayed};
use crate::document::{Document, Number, Piece, Report, Table, Topic};
use crate::estimate::Measured;
use crate::fit::{AS_IT_WAS_SET, ReplayNode, ReplayStage};
use crate::job_time::{OwnRun, OwnRunVerdict};
use crate::report::number::counted;
use crate::report::whatif::{PolicyRow, WhatIfReport, what_if_report};
use crate::report::whatif_document::{Words, compared};
use crate::whatif::{WhatIf, WhatIfJob, WhatIfOutcome};

/// Result of a what-if on a log. Energies use the default power of a plan, because logs do not record power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogWhatIfReport {
    /// The log.
    pub log: String,
    /// The application's name.
    pub name: String,
    /// Actual job time \[s\].
    pub actual_s: f64,
    /// True if all jobs of the log succeeded; otherwise, all times are of the part that the log has.
    pub is_complete: bool,
    /// Job time of the replay without copies \[s\]; a lower bound if a stage has tasks of unknown time.
    pub replayed_s: f64,
    /// True if the log has no copies and no unknown times, so that actual and replayed time should be equal.
    pub comparable: bool,
    /// Error of the replay \[s\]: of the replay without copies if the log has no copies, otherwise of the replay with
    /// copies by the log's settings.
    pub error_s: f64,
    /// The check of the replay on its log: reproduced if it takes the time of the log within 5%.
    pub own_run: OwnRun,
    /// The settings of Spark that give the advised policy; none without such advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_try: Option<String>,
    /// Number of tasks that a node runs at full speed, as a share of the node's slots.
    pub full_speed_share: f64,
    /// The nodes.
    pub replay_nodes: Vec<ReplayNode>,
    /// The stages.
    pub replay_stages: Vec<ReplayStage>,
    /// Assumptions and unknowns.
    pub notes: Vec<String>,
    /// The policies.
    #[serde(flatten)]
    pub comparison: WhatIfReport,
}

/// Reports policies compared on the job of a log; none for the job of a plan.
pub fn log_what_if_report(study: &WhatIf, outcome: &WhatIfOutcome) -> Option<LogWhatIfReport> {
    let WhatIfJob::Replayed(replay) = &study.job else { return None };
    let comparable = replay.stages.iter().all(|stage| stage.copies == 0 && stage.at_least == 0);
    let report = what_if_report(study, outcome);
    let time_of = |wanted: &dyn Fn(&PolicyRow) -> bool| {
        report.policies.iter().find(|policy| wanted(policy)).map(|policy| policy.job_time_s.value)
    };
    let none = time_of(&|policy| policy.detector == DetectorKind::None);
    // with copies in the log, the replay of its own settings is what should be the same
    let same = time_of(&|policy| !comparable && policy.name == AS_IT_WAS_SET).or(none);
    let error_s = same.map_or(f64::NAN, |same| (same - replay.actual_s).abs());
    let of = Replayed { hosts: replay.nodes.len(), error_s, work_s: replay.work_s, actual_s: replay.actual_s };
    let own_run = OwnRun::of_replay(&replay.log, replay.actual_s, same.unwrap_or(f64::NAN), of.is_reproduced());
    let advice = Advice::of_replay(&outcome.comparison, &of);
    let to_try = to_try(study, &advice);
    let comparison = WhatIfReport { advice: advice.to_string(), ..report };
    Some(LogWhatIfReport {
        log: replay.log.clone(),
        name: replay.name.clone(),
        actual_s: replay.actual_s,
        is_complete: replay.is_complete,
        replayed_s: none.unwrap_or(f64::NAN),
        comparable,
        error_s,
        own_run,
        to_try,
        full_speed_share: replay.full_speed_share,
        replay_nodes: replay.nodes.clone(),
        replay_stages: replay.stages.clone(),
        notes: replay.notes.clone(),
        comparison,
    })
}

/// Returns the settings of Spark that give the advised policy.
fn to_try(study: &WhatIf, advice: &Advice) -> Option<String> {
    let Advice::Take { policy: advised, .. } = advice else { return None };
    let policy = study.policies.iter().find(|policy| policy.title() == *advised)?;
    let DetectorPlan::Spark(spark) = policy.detector else { return None };
    let settings = [("multiplier", spark.multiplier), ("quantile", spark.quantile)];
    let settings = settings.map(|(name, value)| format!("spark.speculation.{name}={value}"));
    Some(format!("spark.speculation=true, {}", settings.join(", ")))
}

impl Report for LogWhatIfReport {
    const KIND: &'static str = "whatif_log";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let found = &self.comparison;
        let question = format!(
            "Effect of other speculation policies on this run ({}, {}, {}, {}).",
            counted(found.maps, "task"),
            counted(self.replay_stages.len() as u64, "stage"),
            counted(found.nodes, "node"),
            counted(found.slots, "slot")
        );
        let mut document = Document {
            kind: "what-if about a log",
            title: self.name.clone(),
            question,
            screen: Some(self.screen()),
            ..Document::default()
        };
        document.answer.say(Topic::OwnRun, self.replayed());
        compared(&mut document, found, &Words { tasks: "all tasks", energy: false });
        document.remarks.extend(self.notes.iter().cloned());
        document.table(self.nodes());
        document.table(self.stages());
        document.provenance.push(["log".to_owned(), self.log.clone()]);
        document
    }
}

impl LogWhatIfReport {
    /// Returns the job time in the log and in the replay.
    fn replayed(&self) -> Vec<Piece> {
        let time = |at, value| Number::new(at, value, "s").rounded(0.05);
        let verdict = match self.own_run.verdict {
            OwnRunVerdict::Reproduced => "Reproduced: the job",
            OwnRunVerdict::NotReproduced => "NOT reproduced: the job",
            OwnRunVerdict::NotChecked => "The job",
        };
        let part = if self.is_complete { "" } else { ", which failed or has not ended, as far as the log goes," };
        let mut pieces: Vec<Piece> =
            vec![format!("{verdict}{part} took ").into(), time("/actual_s", self.actual_s).into()];
        if self.replayed_s.is_finite() {
            let what = if self.comparable {
                "the difference is the error of the replay".to_owned()
            } else {
                let off = self.error_s;
                format!(
                    "the log has copies or unknown times; with the run's own settings, the replay is off by {off:.1} s"
                )
            };
            let replayed = time("/replayed_s", self.replayed_s);
            pieces.push("; the replay without copies takes ".into());
            if self.replay_stages.iter().any(|stage| stage.at_least > 0) {
                pieces.push(Number { measured: Measured::at_least(self.replayed_s), ..replayed }.into());
                pieces.push(format!(": {what}").into());
            } else {
                // rounded first: a small negative difference is no -0.0
                let difference = (1e3 * (self.replayed_s / self.actual_s - 1.0)).round() / 10.0 + 0.0;
                let difference = format!("{difference:+.1}").replace('-', "−");
                pieces.extend([replayed.into(), format!(" ({difference}%): {what}").into()]);
            }
        }
        pieces.push(". ".into());
        pieces
    }

    fn nodes(&self) -> Table {
        let mut table = Table::new("Nodes", "", ["node", "slots", "tasks", "slowdown factor"]);
        for (i, node) in self.replay_nodes.iter().enumerate() {
            let at = |key: &str| format!("/replay_nodes/{i}/{key}");
            table.rows.push(vec![
                node.name.clone().into(),
                Number::count(at("slots"), node.slots.into()).into(),
                Number::count(at("tasks"), node.tasks as u64).into(),
                Number::new(at("slowness"), node.slowness, "").rounded(0.05).into(),
            ]);
        }
        table
    }

    fn stages(&self) -> Table {
        let columns = ["stage", "tasks", "copies", "unknown times", "took [s]"];
        let note = "Unknown times: tasks that a copy finished, so the log lacks the time of the first attempt.";
        let mut table = Table::new("Stages", note, columns);
        for (i, stage) in self.replay_stages.iter().enumerate() {
            let at = |key: &str| format!("/replay_stages/{i}/{key}");
            let number = |key: &str, value: usize| Number::count(at(key), value as u64).into();
            table.rows.push(vec![
                format!("{} {}", stage.number, stage.name).into(),
                number("tasks", stage.tasks),
                number("copies", stage.copies),
                number("at_least", stage.at_least),
                Number::new(at("actual_s"), stage.actual_s, "").rounded(0.05).into(),
            ]);
        }
        table
    }
}
