//! The time left of runs: finished logs are cut, and the rest is predicted by a plan fitted to runs of other configurations, and by the run
//! so far alone.

use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use tailspn::StudyError;
use tailspn::fit::{ObservedRun, fit_stages_beside, observe, observe_progress};
use tailspn::remaining::{RemainingSettings, remaining};
use tailspn::stages::StagePlan;
use tailspn::trace::{JobTrace, ReadOptions, read_bytes};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// The lines of a log, unpacked.
pub(crate) fn lines_of(path: &Path) -> Vec<String> {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// When an event happened, in milliseconds; none for one without a time.
fn time_of(line: &str) -> Option<i64> {
    let event: Value = serde_json::from_str(line).unwrap();
    let at = |path: &str| event.pointer(path).and_then(Value::as_i64).filter(|time| *time > 0);
    match event["Event"].as_str().unwrap() {
        "SparkListenerTaskStart" => at("/Task Info/Launch Time"),
        "SparkListenerTaskEnd" => at("/Task Info/Finish Time"),
        "SparkListenerStageSubmitted" => at("/Stage Info/Submission Time"),
        "SparkListenerStageCompleted" => at("/Stage Info/Completion Time"),
        "SparkListenerJobStart" => at("/Submission Time"),
        "SparkListenerJobEnd" => at("/Completion Time"),
        _ => at("/Timestamp").or(at("/time")),
    }
}

/// A finished log as it was when a share of the time of its jobs had passed, without any later event. With it, the time of the cut in seconds since
/// 1970, and when the last of the jobs ended that had begun, and the last one of all \[s\], from the start of the first.
pub(crate) fn cut(lines: &[String], share: f64) -> (String, f64, [f64; 2]) {
    let times: Vec<Option<i64>> = lines.iter().map(|line| time_of(line)).collect();
    let of = |name: &str| {
        let wanted = format!("{{\"Event\":\"{name}\"");
        let found = lines.iter().zip(&times).filter(|(line, _)| line.starts_with(&wanted));
        found.map(|(_, time)| time.unwrap()).collect::<Vec<_>>()
    };
    let (starts, ends) = (of("SparkListenerJobStart"), of("SparkListenerJobEnd"));
    let (start, end) = (starts[0], ends[ends.len() - 1]);
    let now = start + ((end - start) as f64 * share).round() as i64;
    let kept = lines.iter().zip(&times).filter(|(_, time)| time.is_none_or(|time| time <= now));
    let text = kept.map(|(line, _)| line.clone() + "\n").collect();
    let begun = starts.iter().filter(|time| **time <= now).count();
    (text, now as f64 / 1e3, [ends[begun - 1], end].map(|time| (time - start) as f64 / 1e3))
}

/// A run with what is to be predicted.
struct Run {
    name: String,
    app: String,
    executors: u64,
    mb: f64,
    lines: Vec<String>,
    observed: ObservedRun,
}

fn trace_of(text: &str) -> JobTrace {
    read_bytes("run.inprogress", text.as_bytes(), &ReadOptions::default(), &Unwatched).unwrap()
}

fn runs_of(folder: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    let run = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let lines = lines_of(&folder.join(if row["file"].is_string() { text("file") } else { text("log") }));
        Run {
            name: text("name"),
            app: text("app"),
            executors: row["executors"].as_u64().unwrap(),
            mb: row["input_mb"].as_f64().unwrap(),
            observed: observe(&trace_of(&lines.join("\n")), None).unwrap(),
            lines,
        }
    };
    text.lines().map(run).collect()
}

/// The plan of a run's program, fitted to its runs in other configurations, and to those of other programs.
fn plan_of(run: &Run, runs: &[Run]) -> StagePlan {
    let is_like = |other: &Run| other.executors == run.executors && (run.mb / other.mb - 1.0).abs() < 0.01;
    let kept = |own: bool| {
        let wanted =
            move |other: &&Run| if own { other.app == run.app && !is_like(other) } else { other.app != run.app };
        runs.iter().filter(wanted).map(|run| run.observed.clone()).collect::<Vec<_>>()
    };
    fit_stages_beside(&kept(true), &kept(false)).unwrap().plan
}

/// What was predicted at one cut of one run, and what came.
#[derive(Debug)]
struct Row {
    /// Median of the time left, ends of its 90% interval, and the time that was left \[s\].
    median_s: f64,
    interval_s: [f64; 2],
    left_s: f64,
    /// When the run was over \[s\].
    job_s: f64,
}

impl Row {
    fn new(text: &str, now_s: f64, plan: Option<&StagePlan>, end_s: f64) -> Option<Self> {
        let progress = observe_progress(&trace_of(text), Some(now_s)).unwrap();
        let elapsed_s = progress.elapsed_s.unwrap();
        if plan.is_none() && progress.jobs_running.is_empty() {
            return None;
        }
        let settings = RemainingSettings { replications: 400, seed: 1, ..RemainingSettings::default() };
        let found = remaining(progress, plan, &settings, &Unwatched);
        let found = match found {
            Err(StudyError::TooEarly) => return None,
            found => found.unwrap(),
        };
        let [low, median_s, high] = [0.05, 0.5, 0.95].map(|p| found.quantile(p));
        Some(Self { median_s, interval_s: [low, high], left_s: end_s - elapsed_s, job_s: end_s })
    }

    fn is_covered(&self) -> bool {
        (self.interval_s[0]..=self.interval_s[1]).contains(&self.left_s)
    }
}

const CUTS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn line(name: &str, rows: &[&Row]) -> String {
    let errors = |of: fn(&Row) -> f64| median(rows.iter().map(|row| (row.median_s - row.left_s).abs() / of(row)));
    let covered = rows.iter().filter(|row| row.is_covered()).count();
    let width = median(rows.iter().map(|row| 0.5 * (row.interval_s[1] - row.interval_s[0]) / row.job_s));
    format!(
        "| {name} | {} | {:.1}% | {:.1}% | {covered} of {} | {:.0}% |",
        rows.len(),
        100.0 * errors(|row| row.left_s.max(0.1)),
        100.0 * errors(|row| row.job_s),
        rows.len(),
        100.0 * width
    )
}

#[test]
fn the_rest_of_runs_is_predicted() {
    let mut all: Vec<Vec<[Option<Row>; 2]>> = CUTS.map(|_| Vec::new()).into();
    for folders in [&["spark-elastic"][..], &["spark-scaling", "spark-scaling-1x1"]] {
        let mut runs = Vec::new();
        for folder in folders {
            let Some(folder) = shared(&format!("data/logs/{folder}")) else { return };
            runs.extend(runs_of(&folder));
        }
        for run in &runs {
            let plan = plan_of(run, &runs);
            for (rows, share) in all.iter_mut().zip(CUTS) {
                let (text, now_s, [of_jobs_s, end_s]) = cut(&run.lines, share);
                let row = [Row::new(&text, now_s, Some(&plan), end_s), Row::new(&text, now_s, None, of_jobs_s)];
                println!("{} {share} {row:.2?}", run.name);
                rows.push(row);
            }
        }
    }
    for (i, title) in ["with a plan", "without"].iter().enumerate() {
        println!("{title}");
        for (rows, share) in all.iter().zip(CUTS) {
            let rows: Vec<&Row> = rows.iter().filter_map(|row| row[i].as_ref()).collect();
            println!("{}", line(&format!("{:.0}%", 100.0 * share), &rows));
        }
        let rows: Vec<&Row> = all.iter().flatten().filter_map(|row| row[i].as_ref()).collect();
        println!("{}", line("all", &rows));
    }
}
