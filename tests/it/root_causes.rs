//! Root causes of stragglers: on labelled runs with hogs and skew, and on generated jobs by the hundred.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tailspn::diagnose::causes::generator::{
    Anomaly, GeneratorPlan, Thresholds, curves, decisions, edge_effect, generate, pools, table_iv,
};
use tailspn::diagnose::causes::{
    Confusion, CpuShare, Edge, Feature, NodeMap, NodeMeters, Pool, PoolOptions, RESOURCES, RootCauses, Rules, TimeRule,
    Truth, TruthWindow, clock_hint, judge, meters_of, records_of, root_causes,
};
use tailspn::diagnose::samples::{SampleOptions, is_readable, read_samples};
use tailspn::diagnose::{Cause, Subject};
use tailspn::trace::{JobTrace, ReadOptions, is_log, read};
use tailspn::watch::Unwatched;

/// The folder of the labelled runs, beside the checkout or where `TAILSPN_SHARED` says.
fn runs() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from);
    let runs = shared.join("data/logs/labelled/bigroots-2node");
    if runs.is_dir() {
        return Some(runs);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", runs.display());
    println!("skipped: no ../shared");
    None
}

/// A labelled run.
struct Run {
    case: String,
    trace: JobTrace,
    meters: Vec<NodeMeters>,
    truth: Truth,
}

/// All runs that are there, in the order of their names.
fn labelled(cpu: CpuShare) -> Vec<Run> {
    let Some(folder) = runs() else { return Vec::new() };
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases.iter().map(|case| run(case, cpu)).collect()
}

fn run(folder: &Path, cpu: CpuShare) -> Run {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let log = files.iter().find(|file| is_log(file)).unwrap();
    let trace = read(log, &ReadOptions::default(), &Unwatched).unwrap();
    let sampled: Vec<PathBuf> = files.iter().filter(|file| is_readable(file)).cloned().collect();
    let samples = read_samples(&sampled, &SampleOptions::default(), &Unwatched).unwrap();
    let truth: Value = serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
    let (meters, unmapped) = meters_of(&trace, &samples, &node_map(), cpu);
    assert_eq!(unmapped, [], "{}", folder.display());
    let origin = trace.origin_us as f64 / 1e6;
    let window = |hog: &Value| TruthWindow {
        node: trace.nodes.iter().position(|node| node.name == hog["host"]).unwrap(),
        resource: match hog["kind"].as_str().unwrap() {
            "cpu" => Feature::Cpu,
            "io" => Feature::Disk,
            _ => Feature::Network,
        },
        from: hog["start_ms"].as_f64().unwrap() / 1e3 - origin,
        to: hog["end_ms"].as_f64().unwrap() / 1e3 - origin,
    };
    let windows = truth["hogs"].as_array().map_or(Vec::new(), |hogs| hogs.iter().map(window).collect());
    Run { case: folder.file_name().unwrap().to_string_lossy().into_owned(), trace, meters, truth: Truth { windows } }
}

/// Two nodes of one machine, as `truth.json` of the runs has them.
fn node_map() -> NodeMap {
    let node = |k: u32| {
        format!(
            "[node.\"10.77.0.1{k}\"]\nhost = \"vm\"\ncpu = [\"{}\"]\ndisk = [\"loop{}\"]\nnetwork = [\"vh{k}\"]\n",
            k - 1,
            k - 1
        )
    };
    NodeMap::parse(&(node(1) + &node(2))).unwrap()
}

/// The stage that hogs and labels are about: the maps.
fn pool(run: &Run, options: &PoolOptions) -> Pool {
    let number = if run.case == "gc" { 3 } else { 1 };
    let (id, _) = run.trace.stages_with_ids().find(|(_, stage)| stage.number == number).unwrap();
    Pool::new(records_of(&run.trace, id), &run.meters, options).unwrap()
}

/// Decisions about the resources of stragglers, and false ones about tasks that ran beside a hog on the other node, which share its
/// disk and processors.
fn scored(run: &Run, pool: &Pool, rules: &Rules) -> (Confusion, u64) {
    let mut confusion = Confusion::default();
    let mut neighbours = 0;
    for task in pool.stragglers() {
        let record = &pool.tasks[task].record;
        for resource in RESOURCES {
            let said = judge(pool, task, resource, rules).is_some();
            let affected = run.truth.overlap(record.node, resource, record.from, record.to) > 0.0;
            let beside = run
                .truth
                .windows
                .iter()
                .any(|w| Some(w.node) != record.node && w.from < record.to && w.to > record.from);
            if said && !affected && beside {
                neighbours += 1;
            } else {
                confusion.count(affected, said);
            }
        }
    }
    (confusion, neighbours)
}

/// The hogs of the labelled runs, with the defaults.
#[test]
fn hogs_of_the_labelled_runs_are_found() {
    let (mut sum, mut beside) = (Confusion::default(), 0);
    for run in labelled(CpuShare::Busy) {
        let pool = pool(&run, &PoolOptions::default());
        let (confusion, neighbours) = scored(&run, &pool, &Rules::default());
        println!("{:14} {confusion:?} neighbours {neighbours}", run.case);
        sum.add(&confusion);
        beside += neighbours;
    }
    println!("{sum:?} {beside}");
}

#[test]
fn what_is_said_of_the_labelled_runs() {
    for run in labelled(CpuShare::Busy) {
        let found = root_causes(&run.trace, &run.meters, &PoolOptions::default(), &Rules::default());
        println!("== {}", run.case);
        for finding in &found.findings {
            println!(
                "{:?} {:?} {:.2} {:.2} {:.2} {:?}",
                finding.subject,
                finding.cause,
                finding.score,
                finding.threshold,
                finding.confidence,
                finding
                    .evidence
                    .iter()
                    .map(|e| format!("{} {:.2} {:.2}", e.what, e.value, e.usual))
                    .collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn generated() {
    for (name, anomaly) in [
        ("cpu", Anomaly::Single(Feature::Cpu)),
        ("disk", Anomaly::Single(Feature::Disk)),
        ("net", Anomaly::Single(Feature::Network)),
        ("mixed", Anomaly::Mixed),
        ("table iv", Anomaly::Schedule(table_iv())),
    ] {
        let plan = GeneratorPlan { anomaly, ..GeneratorPlan::default() };
        let start = std::time::Instant::now();
        let pools = pools(&plan, 20, &PoolOptions::default());
        let job = generate(&plan, 0);
        let made = start.elapsed();
        let curves = curves(&pools, &Rules::default(), &Thresholds::default());
        let effect = edge_effect(&pools, &Rules::default());
        println!(
            "{name} end {:.1} stragglers {} {:?} areas {:?} {made:?} {:?}",
            job.end,
            pools.iter().map(|p| p.0.stragglers().count()).sum::<usize>(),
            decisions(&pools, &Rules::default()),
            curves.areas(),
            start.elapsed()
        );
        println!("   without {:?} {:?} {:?}", effect.without, effect.false_positives_fall(), effect.accuracy_rises());
    }
}
