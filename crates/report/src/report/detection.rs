//! Straggler detectors judged on recorded jobs, and the shares of slow tasks, jobs and nodes by each rule.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::DetectorKind;
use crate::cluster::metrics::Metric;
use crate::cluster::{PolicyPlan, Watching};
use crate::diagnose::detection::{Judged, JudgedDetector, JudgedTask};
use crate::diagnose::long_tail::{Centre, Identified, Share, StragglerRule};
use crate::document::{Cell, Column, Document, Number, Piece, Report, Show, Table};
use crate::estimate::Measured;
use crate::report::number::counted;
use crate::report::whatif::MetricRow;

/// Maximum number of rows in the table of stragglers without `--verbose`.
const MOST_TASKS: usize = 20;

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartOf {
    /// The part.
    pub part: u64,
    /// The whole.
    pub whole: u64,
}

impl From<Share> for PartOf {
    fn from(share: Share) -> Self {
        Self { part: share.part, whole: share.whole }
    }
}

/// Stragglers by a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareRow {
    /// The rule, such as `1.5 medians`.
    pub rule: String,
    /// Stragglers among the tasks; for rules that compare with a mean or a median, among the attempts that did not
    /// fail.
    pub tasks: PartOf,
    /// Jobs with a straggler.
    pub jobs: PartOf,
    /// Nodes with a straggler. A node of several runs counts once for each run.
    pub nodes: PartOf,
}

/// A stage that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectionStage {
    /// The run, from 0.
    pub run: usize,
    /// The name, with the number of the stage.
    pub name: String,
    /// Tasks that were judged.
    pub tasks: u64,
    /// Stragglers among these tasks.
    pub stragglers: u64,
    /// Tasks with an expected time from other runs; for other tasks, the expected time is the median of the stage.
    pub usual_from_runs: u64,
    /// True if progress was reported, false if it is assumed to be even.
    pub reported: bool,
}

/// A detector and its measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedRow {
    /// Name of the policy.
    pub name: String,
    /// The detector of the policy.
    pub detector: DetectorKind,
    /// Age of a stage at the first check \[s\].
    pub lag_s: f64,
    /// Condition under which the detector runs: always, or only while no task waits.
    pub watch: Watching,
    /// Tasks that were flagged.
    pub flagged: u64,
    /// Stragglers that were flagged while a copy could still have won.
    pub in_time: u64,
    /// Stragglers that were flagged when less than their expected time remained.
    pub too_late: u64,
    /// Other tasks that were flagged.
    pub false_alarms: u64,
    /// Stragglers that were never flagged.
    pub missed: u64,
    /// Precision, recall and the other measures.
    pub metrics: Vec<MetricRow>,
}

/// A straggler, or a task that was flagged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectionTask {
    /// Index of the task's stage in `stages`.
    pub stage: usize,
    /// The number of the task in the stage.
    pub task: u32,
    /// The node; empty if the log does not name it.
    pub node: String,
    /// The time of the first attempt \[s\]; a lower bound if the attempt was killed and no progress was reported.
    pub time_s: Measured,
    /// The expected time of the task \[s\].
    pub usual_s: f64,
    /// True for a straggler.
    pub straggler: bool,
    /// Age at which each detector flagged the task \[s\], in the order of `tool detectors`.
    pub flagged_s: Vec<Option<f64>>,
}

/// Detectors judged on runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectionReport {
    /// Logs of the runs.
    pub runs: Vec<String>,
    /// Logs of the runs that set the expected times.
    pub usual_runs: Vec<String>,
    /// A straggler takes more than this multiple of its expected time.
    pub factor: f64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Slow tasks, jobs and nodes by each rule; the first is the rule of the detectors.
    pub shares: Vec<ShareRow>,
    /// The detectors.
    pub detectors: Vec<JudgedRow>,
    /// The stages, run by run.
    pub stages: Vec<DetectionStage>,
    /// Stragglers and flagged tasks.
    pub tasks: Vec<DetectionTask>,
    /// Assumptions and gaps.
    pub notes: Vec<String>,
}

/// Returns the report on judged detectors. `identified` has the stragglers of each run by other rules.
pub fn detection_report(
    runs: Vec<String>,
    usual_runs: Vec<String>,
    [factor, level]: [f64; 2],
    judged: &Judged,
    identified: &[Identified],
    notes: Vec<String>,
) -> DetectionReport {
    let own = ShareRow {
        rule: format!("{factor} times expected"),
        tasks: judged.straggling_tasks.into(),
        jobs: judged.straggling_jobs.into(),
        nodes: judged.straggling_nodes.into(),
    };
    let stage = |stage: &crate::diagnose::detection::JudgedStage| DetectionStage {
        run: stage.run,
        name: stage.name.clone(),
        tasks: stage.tasks,
        stragglers: stage.stragglers,
        usual_from_runs: stage.usual_from_runs,
        reported: stage.reported,
    };
    let stages: Vec<DetectionStage> = judged.stages.iter().map(stage).collect();
    let mut report = DetectionReport {
        runs,
        usual_runs,
        factor,
        level,
        shares: std::iter::once(own).chain(pooled(identified)).collect(),
        detectors: judged.detectors.iter().map(detector_row).collect(),
        tasks: judged.tasks.iter().map(task_row).collect(),
        stages,
        notes,
    };
    let more = report.assumptions(&judged.left_out);
    report.notes.extend(more);
    report
}

/// Returns the shares of all runs together, rule by rule.
fn pooled(identified: &[Identified]) -> Vec<ShareRow> {
    let mut rows: Vec<ShareRow> = Vec::new();
    for found in identified {
        let rule = rule_text(found.rule);
        let shares = [found.tasks, found.jobs, found.nodes];
        match rows.iter_mut().find(|row| row.rule == rule) {
            Some(row) => {
                for (sum, share) in [&mut row.tasks, &mut row.jobs, &mut row.nodes].into_iter().zip(shares) {
                    sum.part += share.part;
                    sum.whole += share.whole;
                }
            }
            None => {
                let [tasks, jobs, nodes] = shares.map(PartOf::from);
                rows.push(ShareRow { rule, tasks, jobs, nodes });
            }
        }
    }
    rows
}

fn rule_text(rule: StragglerRule) -> String {
    let centre = match rule.centre {
        Centre::Mean => "means",
        Centre::Median => "medians",
    };
    format!("{} stage {centre}", rule.factor)
}

fn detector_row(row: &JudgedDetector) -> JudgedRow {
    let PolicyPlan { lag_s, watch, .. } = row.policy;
    let named = Metric::ALL.iter().zip(&row.metrics);
    JudgedRow {
        name: row.policy.title(),
        detector: row.policy.detector.kind(),
        lag_s,
        watch,
        flagged: row.tally.flagged().into(),
        in_time: row.tally.true_positives.into(),
        too_late: row.tally.fake_positives.into(),
        false_alarms: row.tally.false_alarms.into(),
        missed: row.tally.missed.into(),
        metrics: named.map(|(metric, value)| MetricRow { name: metric.name().into(), value: value.clone() }).collect(),
    }
}

fn task_row(task: &JudgedTask) -> DetectionTask {
    DetectionTask {
        stage: task.stage,
        task: task.task,
        node: task.node.clone(),
        time_s: if task.at_least { Measured::at_least(task.time_s) } else { Measured::exact(task.time_s, 0.0) },
        usual_s: task.usual_s,
        straggler: task.straggler,
        flagged_s: task.flagged_s.clone(),
    }
}

impl DetectionReport {
    /// Returns the assumptions behind the numbers.
    fn assumptions(&self, left_out: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stages.iter().any(|stage| !stage.reported) {
            notes.push(
                "tasks without progress reports are assumed to progress evenly until their end; during the run, no detector could have known this progress"
                    .to_owned(),
            );
        }
        if let Some(first) = left_out.first() {
            let which = counted(left_out.len() as u64, "stage");
            notes.push(format!("skipped {which} without progress reports, such as {first}"));
        }
        let [from_runs, all] = [|stage: &DetectionStage| stage.usual_from_runs, |stage: &DetectionStage| stage.tasks]
            .map(|count| self.stages.iter().map(count).sum::<u64>());
        if from_runs < all {
            let which = if from_runs == 0 { "each task".to_owned() } else { counted(all - from_runs, "task") };
            notes.push(format!(
                "the expected time of {which} is the median of its stage; runs without stragglers, added with --usual, give a better estimate"
            ));
        }
        notes.push(
            "flagged tasks get no copies in this analysis; in the run itself, copies would have changed later events"
                .to_owned(),
        );
        notes
    }

    /// Returns the detector with the largest lower end of the interval of a metric, with its position.
    fn best(&self, metric: Metric) -> Option<(usize, &JudgedRow)> {
        let value = |row: &JudgedRow| {
            let found = row.metrics.iter().find(|found| found.name == metric.name())?.value.as_ref()?;
            Some(found.ends().map_or(found.value, |ends| ends[0]))
        };
        let valued = self.detectors.iter().enumerate().filter_map(|(i, row)| Some((value(row)?, i, row)));
        // if several are equal, the detector with fewer false alarms, then the first
        let better = valued.rev().max_by(|a, b| a.0.total_cmp(&b.0).then(b.2.false_alarms.cmp(&a.2.false_alarms)));
        better.map(|(_, i, row)| (i, row))
    }

    fn answer(&self) -> Vec<Piece> {
        let PartOf { part, whole } = self.shares[0].tasks;
        let count = |at: &str, value: u64| Piece::from(Number::count(at, value));
        let mut answer = vec![
            count("/shares/0/tasks/part", part),
            " of ".into(),
            count("/shares/0/tasks/whole", whole),
            format!(" tasks were stragglers: they took more than {} times their expected time.", self.factor).into(),
        ];
        let (Some((i, most)), Some((j, surest))) = (self.best(Metric::Recall), self.best(Metric::Precision)) else {
            answer.push(" Detectors can be judged only on runs with stragglers.".into());
            return answer;
        };
        let at = |i: usize, key: &str| format!("/detectors/{i}/{key}");
        if self.detectors.iter().all(|row| row.in_time == 0) {
            answer.push(" No detector would have flagged a straggler in time.".into());
            return answer;
        }
        answer.extend([
            format!(" `{}` would have flagged the most stragglers in time: ", most.name).into(),
            count(&at(i, "in_time"), most.in_time),
            ", with ".into(),
            count(&at(i, "false_alarms"), most.false_alarms),
            format!(" false {}", if most.false_alarms == 1 { "alarm" } else { "alarms" }).into(),
        ]);
        if i != j {
            answer.extend([
                format!("; `{}` had the highest precision: ", surest.name).into(),
                count(&at(j, "in_time"), surest.in_time),
                " of ".into(),
                count(&at(j, "flagged"), surest.flagged),
            ]);
        }
        answer.push(".".into());
        answer
    }

    fn quality(&self) -> Table {
        let columns = [
            Column::new("detector"),
            Column::new("precision").unit("%").key("precision"),
            Column::new("recall").unit("%").key("recall"),
            Column::new("detection latency").key("detection_latency"),
            Column::new("undetected time").key("undetected_time"),
            Column::new("fake positives").unit("%").key("fake_positives").show(Show::Csv),
        ];
        let note = "Latency and undetected time: relative to the expected time of the task. Intervals assume independent tasks.";
        let mut table = Table::new("Detector quality", note, columns).level(self.level);
        let shown = [
            Metric::Precision,
            Metric::Recall,
            Metric::DetectionLatency,
            Metric::UndetectedTime,
            Metric::FakePositives,
        ];
        for (i, row) in self.detectors.iter().enumerate() {
            let cell = |metric: Metric| -> Cell {
                let found = row.metrics.iter().enumerate().find(|(_, m)| m.name == metric.name());
                let number = found.and_then(|(m, metric)| {
                    let number =
                        Number::measured(format!("/detectors/{i}/metrics/{m}/value"), metric.value.as_ref()?, "");
                    Some((metric, number))
                });
                let is_share = !matches!(metric, Metric::DetectionLatency | Metric::UndetectedTime);
                number.map(|(_, number)| if is_share { number.percent() } else { number.rounded(0.005) }).into()
            };
            table.rows.push(std::iter::once(row.name.clone().into()).chain(shown.map(cell)).collect());
        }
        table
    }

    fn flags(&self) -> Table {
        let columns = [
            Column::new("detector"),
            Column::new("flagged").key("flagged"),
            Column::new("in time").key("in_time"),
            Column::new("too late").key("too_late"),
            Column::new("false alarms").key("false_alarms"),
            Column::new("missed").key("missed"),
            Column::new("starts at").unit("s").key("lag").show(Show::Room),
        ];
        let note = "In time: a copy started at the flag would typically end before the task.";
        let mut table = Table::new("Flags", note, columns);
        for (i, row) in self.detectors.iter().enumerate() {
            let count = |key: &str, value| Cell::from(Number::count(format!("/detectors/{i}/{key}"), value));
            table.rows.push(vec![
                row.name.clone().into(),
                count("flagged", row.flagged),
                count("in_time", row.in_time),
                count("too_late", row.too_late),
                count("false_alarms", row.false_alarms),
                count("missed", row.missed),
                Number::new(format!("/detectors/{i}/lag_s"), row.lag_s, "s").rounded(0.5).into(),
            ]);
        }
        table
    }

    fn straggling(&self) -> Table {
        let columns = ["longer than", "tasks", "jobs", "nodes"].map(Column::new);
        let mut table =
            Table::new("Stragglers by rule", "A node that is in several runs counts once for each run.", columns);
        for row in &self.shares {
            let cell = |share: PartOf| -> Cell {
                let percent = 100.0 * share.part as f64 / share.whole.max(1) as f64;
                format!("{} of {} ({percent:.1}%)", share.part, share.whole).into()
            };
            table.rows.push(vec![row.rule.clone().into(), cell(row.tasks), cell(row.jobs), cell(row.nodes)]);
        }
        table
    }

    fn slow(&self) -> Table {
        let mut columns = vec![
            Column::new("stage"),
            Column::new("task"),
            Column::new("node"),
            Column::new("took").unit("s"),
            Column::new("expected").unit("s"),
        ];
        let detectors = self.detectors.iter().map(|row| Column::new(&*row.name).unit("s").show(Show::Room));
        columns.extend(detectors);
        let note = "Under each detector: the age at which it flagged the task. Stragglers come first, by lost time.";
        let mut order: Vec<(usize, &DetectionTask)> = self.tasks.iter().enumerate().collect();
        let lost = |task: &DetectionTask| task.time_s.value - task.usual_s;
        order.sort_by(|a, b| b.1.straggler.cmp(&a.1.straggler).then(lost(b.1).total_cmp(&lost(a.1))));
        let mut table = Table::new("Stragglers and flagged tasks", note, columns).most(MOST_TASKS);
        for (i, task) in order {
            let at = |key: &str| format!("/tasks/{i}/{key}");
            let stage = &self.stages[task.stage];
            let run = if self.runs.len() > 1 { format!("run {}, ", stage.run) } else { String::new() };
            let mut cells: Vec<Cell> = vec![
                format!("{run}{}", stage.name).into(),
                Number::count(at("task"), task.task.into()).into(),
                task.node.clone().into(),
                Number::measured(at("time_s"), &task.time_s, "s").rounded(0.5).into(),
                Number::new(at("usual_s"), task.usual_s, "s").rounded(0.5).into(),
            ];
            let flagged = task.flagged_s.iter().enumerate();
            cells.extend(flagged.map(|(d, age)| -> Cell {
                age.map(|age| Number::new(at(&format!("flagged_s/{d}")), age, "s").rounded(0.5)).into()
            }));
            table.rows.push(cells);
        }
        table
    }

    fn stages(&self) -> Table {
        let columns = ["run", "stage", "tasks", "stragglers", "progress"].map(Column::new);
        let mut table = Table::new("Stages", "", columns);
        for (i, stage) in self.stages.iter().enumerate() {
            let count = |key: &str, value| Cell::from(Number::count(format!("/stages/{i}/{key}"), value));
            table.rows.push(vec![
                count("run", stage.run as u64),
                stage.name.clone().into(),
                count("tasks", stage.tasks),
                count("stragglers", stage.stragglers),
                if stage.reported { "reported" } else { "assumed uniform" }.into(),
            ]);
        }
        table
    }
}

impl Report for DetectionReport {
    const KIND: &'static str = "detection";

    fn document(&self) -> Document<'_> {
        let title = match &self.runs[..] {
            [one] => one.clone(),
            runs => counted(runs.len() as u64, "run"),
        };
        let mut document = Document {
            kind: "detectors on a run",
            title,
            question: "The stragglers that each detector would have found, and when.".to_owned(),
            answer: self.answer().into(),
            remarks: self.notes.clone(),
            ..Document::default()
        };
        for table in [self.quality(), self.flags(), self.straggling(), self.slow(), self.stages()] {
            document.table(table);
        }
        let runs = self.runs.iter().map(|run| ["log".to_owned(), run.clone()]);
        let usual = self.usual_runs.iter().map(|run| ["expected times".to_owned(), run.clone()]);
        document.provenance.extend(runs.chain(usual));
        document
    }
}
