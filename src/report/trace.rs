//! What a log of jobs says: what ran, how long tasks took, stragglers, copies, and what bounds the time.

use serde::Serialize;

use crate::trace::analysis::{
    Bound, CopyFate, StageStragglers, Times, Usual, bounds_of, copies, observed, slots_of, stragglers, times_of,
};
use crate::trace::{Application, ApplicationId, Clock, JobTrace, Metric, Outcome, StageId};

/// A log and what follows from it. Times are in seconds since the start of its first application.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceReport {
    /// The format's key.
    pub format: &'static str,
    /// The format for people.
    #[serde(skip)]
    pub format_text: &'static str,
    /// The files that were read.
    pub files: Vec<String>,
    /// Whether the reading was ended early.
    pub partial: bool,
    /// Bytes of the files, and of the text in them.
    pub bytes: u64,
    /// Bytes after decompression.
    pub text_bytes: u64,
    /// Events or records.
    pub events: u64,
    /// Time 0 in seconds since 1970; none where the log has a clock of its own.
    pub origin_unix_s: Option<f64>,
    /// In the order of the log.
    pub applications: Vec<ApplicationRow>,
    /// In the order of applications, and of the log within each.
    pub jobs: Vec<TraceJobRow>,
    /// In the order of application, number and attempt.
    pub stages: Vec<StageRow>,
    /// In the order of the log.
    pub nodes: Vec<NodeRow>,
    /// Attempts by how they ended, without those that are 0.
    pub outcomes: Vec<OutcomeRow>,
    /// Sums over attempts, without those that the log does not state.
    pub amounts: Vec<AmountRow>,
    /// Copies of running attempts.
    pub copies: CopiesRow,
    /// Attempts that are stragglers by either rule, the longest first.
    pub stragglers: Vec<StragglerRow>,
    /// What the second rule takes as usual.
    pub usual: &'static str,
    /// What is odd about the log.
    pub warnings: Vec<WarningRow>,
}

/// An application.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationRow {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Version of the framework.
    pub version: Option<String>,
    /// When it started.
    pub start_s: Option<f64>,
    /// When it ended.
    pub end_s: Option<f64>,
    /// Its jobs.
    pub jobs: u64,
    /// Tasks that can run at once.
    pub slots: u64,
    /// Whether the log states them; else they are the most attempts that were seen at once.
    pub slots_stated: bool,
    /// What bounds its time; none where no task has a time.
    pub bounds: Option<BoundsRow>,
    /// Settings that decide how tasks are scheduled.
    pub properties: std::collections::BTreeMap<String, String>,
}

/// Lower bounds of an application's time \[s\].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundsRow {
    /// From the first submission of a job to the last end of one.
    pub span_s: f64,
    /// Time of the attempts that did their tasks.
    pub work_s: f64,
    /// All work, evenly on all slots.
    pub by_slots_s: f64,
    /// The longest chain of stages.
    pub by_critical_path_s: f64,
    /// The longest task.
    pub by_longest_task_s: f64,
    /// The time in which no task ran.
    pub by_driver_s: f64,
    /// The largest of them: `slots`, `critical_path`, `longest_task` or `driver`.
    pub largest: &'static str,
    /// Whether the log states what stages depend on.
    pub knows_dependencies: bool,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceJobRow {
    /// Its application, by position.
    pub application: usize,
    /// Its number.
    pub number: u64,
    /// What it is called.
    pub name: String,
    /// When it was submitted.
    pub submitted_s: Option<f64>,
    /// When it ended.
    pub completed_s: Option<f64>,
    /// Whether it ended well.
    pub succeeded: Option<bool>,
    /// Numbers of its stages, with those that were skipped.
    pub stages: Vec<u32>,
}

/// An attempt to run a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageRow {
    /// Its application, by position.
    pub application: usize,
    /// Its number.
    pub number: u32,
    /// The number of this attempt.
    pub attempt: u32,
    /// What it is called.
    pub name: String,
    /// What its tasks do.
    pub kind: &'static str,
    /// Stages that it waits for; none where the log does not say.
    pub parents: Option<Vec<u32>>,
    /// Its tasks as planned.
    pub tasks: Option<u32>,
    /// Tasks that are done.
    pub tasks_done: u64,
    /// Attempts to run them.
    pub attempts: u64,
    /// Attempts that failed, or whose executor or shuffle input was lost.
    pub failures: u64,
    /// Attempts that were copies.
    pub copies: u64,
    /// When it was submitted.
    pub submitted_s: Option<f64>,
    /// When it ended.
    pub completed_s: Option<f64>,
    /// Its tasks over the slots of its application: how often each slot gets one; none without slots.
    pub waves: Option<f64>,
    /// Times of attempts that succeeded \[s\].
    pub times_s: Option<TimesRow>,
    /// Attempts beyond 1.5 medians of the stage.
    pub over_median: u64,
    /// Attempts beyond 1.2 times what their task usually takes.
    pub over_usual: u64,
}

/// Order statistics \[s\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimesRow {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min: f64,
    /// The first quartile.
    pub p25: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub p75: f64,
    /// The 95 % quantile.
    pub p95: f64,
    /// The longest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Their sum.
    pub total: f64,
}

impl From<Times> for TimesRow {
    fn from(times: Times) -> Self {
        let Times { count, min, p25, median, p75, p95, max, total } = times;
        Self { count, min, p25, median, p75, p95, max, mean: times.mean(), total }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeRow {
    /// Its name.
    pub name: String,
    /// Its rack.
    pub rack: Option<String>,
    /// Attempts that ran on it.
    pub attempts: u64,
    /// Their time \[s\].
    pub busy_s: f64,
    /// The median over its attempts, without those that failed, of time over median time of the stage; none without any.
    pub slowness: Option<f64>,
}

/// Attempts that ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeRow {
    /// How.
    pub outcome: &'static str,
    /// How many.
    pub attempts: u64,
}

/// A sum over attempts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AmountRow {
    /// Of what; the unit is in the name.
    pub metric: &'static str,
    /// The sum.
    pub sum: f64,
    /// Attempts of which the log states it.
    pub attempts: u64,
}

/// Copies of running attempts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CopiesRow {
    /// How many were started.
    pub started: u64,
    /// Tasks that had one.
    pub tasks: u64,
    /// Copies that did the task first.
    pub won: u64,
    /// Copies that came too late.
    pub lost: u64,
    /// Copies that failed.
    pub failed: u64,
    /// Copies that were killed, or have no end, before any attempt had succeeded.
    pub open: u64,
    /// Time of attempts of copied tasks that were in vain \[s\].
    pub wasted_s: f64,
    /// The same as a share of all attempts' time; none where that is 0.
    pub wasted_share: Option<f64>,
}

/// A straggler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StragglerRow {
    /// Its application, by position.
    pub application: usize,
    /// Its stage.
    pub stage: u32,
    /// The attempt of the stage.
    pub stage_attempt: u32,
    /// The task.
    pub task: u32,
    /// The attempt of the task.
    pub attempt: u32,
    /// Where it ran.
    pub node: Option<String>,
    /// How long it was seen to run \[s\].
    pub time_s: f64,
    /// Whether it would have taken longer: it was killed or has no end.
    pub at_least: bool,
    /// Its time over the median of its stage.
    pub medians: Option<f64>,
    /// Whether it is one by the first rule.
    pub over_median: bool,
    /// Whether it is one by the second rule.
    pub over_usual: bool,
    /// How it ended.
    pub outcome: &'static str,
    /// Whether it was itself a copy.
    pub speculative: bool,
}

/// One kind of oddity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WarningRow {
    /// Which.
    pub kind: crate::trace::WarningKind,
    /// How often.
    pub count: u64,
    /// Where first: `file:line`.
    pub first: String,
    /// What it is, with an example.
    pub text: String,
}

/// What follows from a trace; `usual` is what tasks usually take, from other runs.
pub fn trace_report(trace: &JobTrace, usual: &Usual) -> TraceReport {
    let found: Vec<StageStragglers> = trace.stages_with_ids().map(|(id, _)| stragglers(trace, id, usual)).collect();
    let applications: Vec<ApplicationRow> =
        trace.applications_with_ids().map(|(id, application)| application_row(trace, id, application)).collect();
    let stages = trace.stages_with_ids().map(|(id, _)| {
        let slots = applications.get(trace.stages[id.index()].application.index()).map_or(0, |row| row.slots);
        stage_row(trace, id, slots, &found[id.index()])
    });
    TraceReport {
        format: trace.format.key(),
        format_text: trace.format.text(),
        files: trace.files.clone(),
        partial: trace.reading.partial,
        bytes: trace.reading.bytes,
        text_bytes: trace.reading.text_bytes,
        events: trace.reading.events,
        origin_unix_s: (trace.clock == Clock::Unix).then_some(trace.origin_us as f64 / 1e6),
        stages: stages.collect(),
        jobs: trace.jobs.iter().map(job_row).collect(),
        nodes: node_rows(trace, &found),
        outcomes: outcome_rows(trace),
        amounts: amount_rows(trace),
        copies: copies_row(trace),
        stragglers: straggler_rows(trace, &found),
        usual: if usual.is_empty() { "median of the stage" } else { "median of the task in other runs" },
        warnings: warning_rows(trace),
        applications,
    }
}

fn seconds(moment: Option<crate::trace::Moment>) -> Option<f64> {
    moment.map(crate::trace::Moment::seconds)
}

fn application_row(trace: &JobTrace, id: ApplicationId, application: &Application) -> ApplicationRow {
    let bounds = bounds_of(trace, id);
    let slots = bounds.map_or_else(|| slots_of(trace, id), |bounds| bounds.slots);
    ApplicationRow {
        id: application.id.clone(),
        name: application.name.clone(),
        version: application.version.clone(),
        start_s: seconds(application.start),
        end_s: seconds(application.end),
        jobs: trace.jobs_of(id).len() as u64,
        slots: slots.count,
        slots_stated: slots.stated,
        bounds: bounds.map(|bounds| BoundsRow {
            span_s: bounds.span,
            work_s: bounds.work,
            by_slots_s: bounds.by_slots,
            by_critical_path_s: bounds.by_critical_path,
            by_longest_task_s: bounds.by_longest_task,
            by_driver_s: bounds.by_driver,
            largest: match bounds.largest().0 {
                Bound::Slots => "slots",
                Bound::CriticalPath => "critical_path",
                Bound::LongestTask => "longest_task",
                Bound::Driver => "driver",
            },
            knows_dependencies: bounds.knows_dependencies,
        }),
        properties: application.properties.clone(),
    }
}

fn job_row(job: &crate::trace::Job) -> TraceJobRow {
    TraceJobRow {
        application: job.application.index(),
        number: job.number,
        name: job.name.clone(),
        submitted_s: seconds(job.submitted),
        completed_s: seconds(job.completed),
        succeeded: job.succeeded,
        stages: job.stages.clone(),
    }
}

fn stage_row(trace: &JobTrace, id: StageId, slots: u64, found: &StageStragglers) -> StageRow {
    let stage = &trace.stages[id.index()];
    let attempts = trace.attempts_of(id);
    let count = |is: &dyn Fn(&crate::trace::Attempt) -> bool| attempts.iter().filter(|a| is(a)).count() as u64;
    let seen = trace.tasks_of(id).count() as u64;
    let tasks = stage.tasks.map_or(seen, u64::from);
    StageRow {
        application: stage.application.index(),
        number: stage.number,
        attempt: stage.attempt,
        name: stage.name.clone(),
        kind: stage.kind.key(),
        parents: stage.parents.clone(),
        tasks: stage.tasks,
        tasks_done: trace.tasks_of(id).filter(|task| task.iter().any(|a| a.succeeded())).count() as u64,
        attempts: attempts.len() as u64,
        failures: count(&|a| a.outcome.is_failure()),
        copies: count(&|a| a.speculative),
        submitted_s: seconds(stage.submitted),
        completed_s: seconds(stage.completed),
        waves: (slots > 0).then(|| tasks as f64 / slots as f64),
        times_s: times_of(attempts).map(TimesRow::from),
        over_median: found.over_median.len() as u64,
        over_usual: found.over_usual.len() as u64,
    }
}

fn node_rows(trace: &JobTrace, found: &[StageStragglers]) -> Vec<NodeRow> {
    let mut rows: Vec<NodeRow> = trace
        .nodes
        .iter()
        .map(|node| NodeRow {
            name: node.name.clone(),
            rack: node.rack.clone(),
            attempts: 0,
            busy_s: 0.0,
            slowness: None,
        })
        .collect();
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
    for attempt in trace.attempts() {
        let Some(node) = attempt.node else { continue };
        rows[node.index()].attempts += 1;
        let Some(seen) = observed(trace, attempt) else { continue };
        rows[node.index()].busy_s += seen.seconds;
        let median = found[attempt.stage.index()].median.filter(|&median| median > 0.0);
        if let Some(median) = median.filter(|_| !attempt.outcome.is_failure()) {
            ratios[node.index()].push(seen.seconds / median);
        }
    }
    for (row, ratios) in rows.iter_mut().zip(ratios) {
        row.slowness = Times::of(ratios).map(|times| times.median);
    }
    rows
}

fn outcome_rows(trace: &JobTrace) -> Vec<OutcomeRow> {
    const ALL: [Outcome; 9] = [
        Outcome::Success,
        Outcome::Failed,
        Outcome::FetchFailed,
        Outcome::Lost,
        Outcome::KilledAsCopy,
        Outcome::Killed,
        Outcome::Evicted,
        Outcome::Unfinished,
        Outcome::Unknown,
    ];
    let count = |outcome| trace.attempts().iter().filter(|a| a.outcome == outcome).count() as u64;
    let rows = ALL.map(|outcome| OutcomeRow { outcome: outcome.key(), attempts: count(outcome) });
    rows.into_iter().filter(|row| row.attempts > 0).collect()
}

fn amount_rows(trace: &JobTrace) -> Vec<AmountRow> {
    // memory is no sum, and what was asked for is no use
    let summed = |metric: &Metric| !matches!(metric, Metric::PeakMemoryBytes | Metric::RequestedCpu);
    let mut sums = Metric::ALL.map(|metric| AmountRow { metric: metric.key(), sum: 0.0, attempts: 0 });
    for (metric, value) in trace.attempts().iter().flat_map(|attempt| trace.values(attempt)) {
        let row = &mut sums[metric as usize];
        row.sum += value;
        row.attempts += 1;
    }
    let rows = Metric::ALL.into_iter().zip(sums).filter(|(metric, row)| summed(metric) && row.attempts > 0);
    rows.map(|(_, row)| row).collect()
}

fn copies_row(trace: &JobTrace) -> CopiesRow {
    let found = copies(trace);
    CopiesRow {
        started: found.fates.len() as u64,
        tasks: found.tasks,
        won: found.count(CopyFate::Won),
        lost: found.count(CopyFate::Lost),
        failed: found.count(CopyFate::Failed),
        open: found.count(CopyFate::Open),
        wasted_s: found.wasted,
        wasted_share: (found.busy > 0.0).then(|| found.wasted / found.busy),
    }
}

fn straggler_rows(trace: &JobTrace, found: &[StageStragglers]) -> Vec<StragglerRow> {
    let mut rows = Vec::new();
    for (id, stage) in trace.stages_with_ids() {
        let found = &found[id.index()];
        let both = found.over_median.iter().chain(&found.over_usual).copied();
        let each: std::collections::BTreeSet<usize> = both.collect();
        for index in each {
            let attempt = &trace.attempts_of(id)[index];
            let Some(seen) = observed(trace, attempt) else { continue };
            rows.push(StragglerRow {
                application: stage.application.index(),
                stage: stage.number,
                stage_attempt: stage.attempt,
                task: attempt.task,
                attempt: attempt.number,
                node: trace.node_of(attempt).map(|node| node.name.clone()),
                time_s: seen.seconds,
                at_least: seen.at_least,
                medians: found.median.filter(|&median| median > 0.0).map(|median| seen.seconds / median),
                over_median: found.over_median.binary_search(&index).is_ok(),
                over_usual: found.over_usual.binary_search(&index).is_ok(),
                outcome: attempt.outcome.key(),
                speculative: attempt.speculative,
            });
        }
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    rows
}

fn warning_rows(trace: &JobTrace) -> Vec<WarningRow> {
    let row = |warning: &crate::trace::Warning| WarningRow {
        kind: warning.kind,
        count: warning.count,
        first: trace.place(warning.first),
        text: warning.to_string(),
    };
    trace.warnings.iter().map(row).collect()
}
