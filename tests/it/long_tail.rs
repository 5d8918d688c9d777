//! Long-tail identification: the experiment of the paper in the simulator, labelled runs, and the reports of others' logs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use tailspn::cluster::Plan;
use tailspn::diagnose::long_tail::experiment::{earlier_runs, paper_plan, recorded_run, score_runs};
use tailspn::diagnose::long_tail::{
    Agent, AgentSettings, Boundary, History, Model, Oddities, Oddity, PeerRule, ProgressRecord, RULES, Score, find,
    identify, identify_batch, replay, score_by_log,
};
use tailspn::diagnose::{Cause, Subject};
use tailspn::estimate::wilson;
use tailspn::trace::{JobTrace, ReadOptions, read};
use tailspn::watch::Unwatched;

/// The folder with logs, beside the checkout or where `TAILSPN_SHARED` says.
fn logs() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from);
    let logs = shared.join("data/logs");
    if logs.is_dir() {
        return Some(logs);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", logs.display());
    println!("skipped: no ../shared");
    None
}

/// A job history with curves of progress.
pub(crate) fn hadoop_history() -> Option<PathBuf> {
    Some(logs()?.join("hadoop-jhist/apache-hadoop-2.6-trunk/job_1329348432655_0001-10.jhist"))
}

fn trace(path: &Path) -> JobTrace {
    read(path, &ReadOptions::default(), &Unwatched).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn paper(peers: PeerRule) -> AgentSettings {
    AgentSettings { boundary: Boundary::Fixed { peers }, ..AgentSettings::paper() }
}

fn adaptive(confidence: f64) -> AgentSettings {
    AgentSettings { boundary: Boundary::Adaptive { confidence }, ..AgentSettings::adaptive() }
}

/// A labelled run: its reports, its log, and the byte factors of its partitions.
struct Run {
    name: String,
    history: History,
    trace: JobTrace,
    labels: Vec<(u64, f64)>,
}

impl Run {
    fn read(folder: &Path, number: u32) -> Self {
        let mut reports = Vec::new();
        let file = std::fs::File::open(folder.join("progress.tsv.gz")).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut reports).unwrap();
        let is_log = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("app-");
        let log = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(is_log).unwrap();
        let truth: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
        let labels = truth["labels"]["skew_partitions"].as_str().unwrap_or("").split(',').filter_map(|label| {
            let (partition, factor) = label.split_once(':')?;
            Some((partition.parse().unwrap(), factor.parse().unwrap()))
        });
        Self {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            history: History::from_reports(&reports, number),
            trace: trace(&log),
            labels: labels.collect(),
        }
    }

    fn score(&self, model: Option<&Model>, settings: AgentSettings) -> Score {
        score_by_log(&self.trace, &self.history, &replay(&self.history, model, settings).0)
    }
}

/// The labelled runs whose names begin so, in the order of their names.
fn labelled(prefix: &str) -> Option<Vec<Run>> {
    let folder = logs()?.join("labelled/longtail-4node");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.file_name().unwrap().to_string_lossy().starts_with(prefix));
    folders.sort();
    Some(folders.iter().zip(0..).map(|(folder, number)| Run::read(folder, number)).collect())
}

fn learned(runs: &[Run]) -> Model {
    let mut history = History::default();
    runs.iter().for_each(|run| history.extend(run.history.clone()));
    Model::learn(&history).unwrap().model
}

fn words(name: &str) -> Vec<String> {
    std::env::var(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn custom(spec: &str) -> AgentSettings {
    // rule:value:n:start:diff
    let p: Vec<&str> = spec.split(':').collect();
    let mut s = match p[0] { "a" => adaptive(p[1].parse().unwrap()), "d" => paper(PeerRule::Diff), "h" => paper(PeerRule::Half), _ => paper(PeerRule::Ignored) };
    if let Some(n) = p.get(2) { s.samples = n.parse().unwrap(); }
    if let Some(n) = p.get(3) { s.start_s = n.parse().unwrap(); s.start_share = 1.0; }
    if let Some(n) = p.get(4) { s.diff = n.parse().unwrap(); }
    if let Some(n) = p.get(5) { s.history_weight = n.parse().unwrap(); }
    s
}

#[test]
fn explore() {
    let hist = labelled("hist").unwrap();
    let model = learned(&hist);
    println!("{}", model.to_toml().unwrap());
    let specs = words("SPECS");
    for spec in &specs {
        for with in [true, false] {
            let mut line = format!("{spec} {with}");
            let mut total = Score::default();
            for run in labelled("skew").unwrap() {
                let s = run.score(with.then_some(&model), custom(spec));
                line += &format!(" | {} {:?} tp {} fp {} fn {} at {:.2}", run.name, run.labels, s.true_positive, s.false_positive, s.false_negative, s.mean_flag_point().unwrap_or(f64::NAN));
                total.merge(&s);
            }
            for i in 0..3 {
                let others: Vec<Run> = labelled("hist").unwrap().into_iter().enumerate().filter(|(j, _)| *j != i).map(|x| x.1).collect();
                let m = learned(&others);
                let s = hist[i].score(with.then_some(&m), custom(spec));
                line += &format!(" | {} tp {} fp {} fn {}", hist[i].name, s.true_positive, s.false_positive, s.false_negative);
            }
            println!("{line} ALL tp {} fp {} fn {} at {:?}", total.true_positive, total.false_positive, total.false_negative, total.mean_flag_point());
        }
    }
    let plan = paper_plan();
    let tailspn::diagnose::long_tail::Learned { model, fitted, .. } = Model::learn(&earlier_runs(&plan, 3).unwrap()).unwrap();
    println!("{:?}\n{}", fitted[0].candidates, model.to_toml().unwrap());
    let count: u64 = std::env::var("RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(4);
    let runs: Vec<History> = (0..count).map(|seed| recorded_run(&plan, seed).unwrap()).collect();
    for spec in &specs {
        let t = std::time::Instant::now();
        let s = score_runs(&runs, Some(&model), custom(spec));
        println!("{spec}: {} of {} tpr {:.4} fpr {:.4} at {:.4} {:?}", s.found().whole, s.found().whole + s.wrong().whole, s.true_positive_rate().unwrap(), s.false_positive_rate().unwrap(), s.mean_flag_point().unwrap(), t.elapsed());
    }
    let _ = (Oddity::Silent, Oddities::default(), Plan::default(), Cause::Unknown, Subject::Job, wilson(1, 2, 0.9), RULES);
    let _ = (identify, identify_batch, find, Agent::new(None, paper(PeerRule::Diff)), None::<ProgressRecord<'_>>);
}
