//! Root causes of stragglers: on labelled runs with hogs and skew, and on generated jobs by the hundred.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tailspn::diagnose::causes::{
    CpuShare, Edge, Feature, NodeMap, NodeMeters, Pool, PoolOptions, RESOURCES, RootCauses, Rules, clock_hint, judge,
    meters_of, records_of, root_causes,
};
use tailspn::diagnose::samples::{SampleOptions, Series, is_readable, read_samples};
use tailspn::diagnose::{Cause, Subject};
use tailspn::trace::{JobTrace, ReadOptions, is_log, read};
use tailspn::watch::Unwatched;
use tailspn_replications::bigroots::{
    Anomaly, Confusion, GeneratorPlan, PearsonRules, Thresholds, Truth, TruthWindow, correlation, curves, decisions,
    edge_effect, generate, is_pearson_cause, pools, table_iv,
};

use crate::shared::shared;

/// The folder of the labelled runs.
fn runs() -> Option<PathBuf> {
    shared("data/logs/labelled/bigroots-2node")
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
fn pool(run: &Run, nodes: &[NodeMeters]) -> Pool {
    let number = if run.case == "gc" { 3 } else { 1 };
    let (id, _) = run.trace.stages_with_ids().find(|(_, stage)| stage.number == number).unwrap();
    Pool::new(records_of(&run.trace, id), nodes, &PoolOptions::default()).unwrap()
}

/// The pool of a run; where both shares of the processors count, also that by the user share.
fn pools_of(run: &Run) -> (Pool, Option<Pool>) {
    let has_user = run.meters.iter().any(|node| !node.user.is_empty());
    let by_user: Vec<NodeMeters> = run.meters.iter().map(NodeMeters::by_user).collect();
    (pool(run, &run.meters), has_user.then(|| pool(run, &by_user)))
}

/// Decisions about the resources of stragglers, and false ones about tasks that ran beside a hog on the other node, which share its
/// disk and processors.
fn scored(run: &Run, (pool, by_user): &(Pool, Option<Pool>), rules: &Rules) -> (Confusion, u64) {
    let mut confusion = Confusion::default();
    let mut neighbours = 0;
    for task in pool.stragglers() {
        let record = &pool.tasks[task].record;
        for resource in RESOURCES {
            let by_user = by_user.as_ref().filter(|_| resource == Feature::Cpu);
            let said =
                [Some(pool), by_user].into_iter().flatten().any(|pool| judge(pool, task, resource, rules).is_some());
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

/// What the prototype reached on the runs with hogs: 26 of 31 affected resources of stragglers, and 3 of 107 others.
const PROTOTYPE: [f64; 2] = [26.0 / 31.0, 3.0 / 107.0];

/// Rates of true and false positives, at least and at most those of the prototype.
fn assert_beats_prototype(confusion: &Confusion) {
    let found = confusion.true_positive_rate().unwrap();
    let wrong = confusion.false_positive_rate().unwrap();
    assert!(found >= PROTOTYPE[0] && wrong <= PROTOTYPE[1], "{found} {wrong} {confusion:?}");
}

/// The hogs of the labelled runs with the default settings; what also befalls tasks beside a hog is counted apart, and is rare.
#[test]
fn hogs_of_the_labelled_runs_are_found() {
    let (mut sum, mut beside) = (Confusion::default(), 0);
    for run in labelled(CpuShare::Busy) {
        let (confusion, neighbours) = scored(&run, &pools_of(&run), &Rules::default());
        println!("{:14} {confusion:?}, beside a hog {neighbours}", run.case);
        sum.add(&confusion);
        beside += neighbours;
    }
    if sum != Confusion::default() {
        assert_beats_prototype(&sum);
        assert!(beside <= sum.true_positives / 10, "{beside} {sum:?}");
    }
}

/// The shares of the processors among which one is chosen.
const SHARES: [CpuShare; 3] = [CpuShare::Busy, CpuShare::User, CpuShare::Either];

/// Settings among which one is chosen, the share by its position.
fn grid() -> Vec<(usize, Rules)> {
    let mut grid = Vec::new();
    for cpu in 0..SHARES.len() {
        for quantile in [0.5, 0.6, 0.7, 0.8, 0.9] {
            for peer_factor in [1.0, 1.25, 1.5, 2.0, 3.0] {
                for (edge, edge_factor) in EDGES {
                    grid.push((cpu, Rules { quantile, peer_factor, edge, edge_factor, ..Rules::default() }));
                }
            }
        }
    }
    grid
}

/// Readings of edges with their factors.
const EDGES: [(Edge, f64); 5] =
    [(Edge::IntentAny, 0.8), (Edge::IntentAny, 0.5), (Edge::IntentAny, 0.3), (Edge::IntentBoth, 0.5), (Edge::Off, 0.0)];

/// Each run is scored with the setting that is best on all *other* runs; where several are, with that which is best on generated jobs.
#[test]
fn a_setting_chosen_on_other_runs_finds_the_hogs_of_each_run() {
    let runs = SHARES.map(labelled);
    let of_stage: Vec<Vec<_>> = runs.iter().map(|runs| runs.iter().map(pools_of).collect()).collect();
    if runs[0].is_empty() {
        return;
    }
    let options = PoolOptions::default();
    let plan = GeneratorPlan { anomaly: Anomaly::Mixed, ..GeneratorPlan::default() };
    let generated = pools(&plan, 10, &options);
    let grid = grid();
    let scores: Vec<Vec<Confusion>> = grid
        .iter()
        .map(|(cpu, rules)| {
            let runs = runs[*cpu].iter().zip(&of_stage[*cpu]);
            runs.map(|(run, pools)| scored(run, pools, rules).0).collect()
        })
        .collect();
    // the default setting with each share and each reading of edges, over all runs
    for ((cpu, rules), scores) in grid.iter().zip(&scores) {
        let default = Rules::default();
        if (rules.quantile, rules.peer_factor) == (default.quantile, default.peer_factor) {
            let mut sum = Confusion::default();
            scores.iter().for_each(|score| sum.add(score));
            println!("{:?} {:?} {} {sum:?}", SHARES[*cpu], rules.edge, rules.edge_factor);
        }
    }
    let mut sum = Confusion::default();
    for (left_out, run) in runs[0].iter().enumerate() {
        let gain = |setting: usize| {
            let others = scores[setting].iter().enumerate().filter(|(i, _)| *i != left_out);
            others.map(|(_, c)| c.true_positives as i64 - c.false_positives as i64).sum::<i64>()
        };
        let best = (0..grid.len()).map(gain).max().unwrap();
        let youden = |setting: usize| {
            let confusion = decisions(&generated, &grid[setting].1);
            confusion.true_positive_rate().unwrap() - confusion.false_positive_rate().unwrap()
        };
        // the first of equal ones
        let equal = (0..grid.len()).rev().filter(|&setting| gain(setting) == best);
        let chosen = equal.max_by(|&a, &b| youden(a).total_cmp(&youden(b))).unwrap();
        let (cpu, rules) = &grid[chosen];
        let Rules { quantile, peer_factor, edge, edge_factor, .. } = rules;
        let confusion = scores[chosen][left_out];
        let cpu = SHARES[*cpu];
        println!("{:14} {cpu:?} {quantile} {peer_factor} {edge:?} {edge_factor} {confusion:?}", run.case);
        sum.add(&confusion);
    }
    println!("{sum:?}");
    assert_beats_prototype(&sum);
}

/// Tasks with their causes.
type Causes = Vec<(u64, Vec<Cause>)>;

/// The causes found of a stage's stragglers, by task.
fn causes_of(found: &RootCauses, stage: &str) -> Causes {
    let mut list = Causes::new();
    for finding in &found.findings {
        let Subject::Task { stage: own, task, .. } = &finding.subject else { continue };
        if own != stage {
            continue;
        }
        match list.last_mut().filter(|(last, _)| last == task) {
            Some((_, causes)) => causes.push(finding.cause),
            None => list.push((*task, vec![finding.cause])),
        }
    }
    list
}

/// What must be said of the stragglers of the stages that are labelled: all of them, with all causes.
fn expected(case: &str) -> Option<(&'static str, Causes)> {
    use Cause::{Cpu, DataSkew, Disk, GarbageCollection, Locality, ShuffleSkew, Unknown, WarmUp};
    let all = |tasks: &[u64], cause: Cause| -> Vec<(u64, Vec<Cause>)> {
        tasks.iter().map(|&task| (task, vec![cause])).collect()
    };
    Some(match case {
        // cold workers in the first wave
        "baseline" => ("1", all(&[0, 1, 2, 3], WarmUp)),
        // 24 began before its hog and is told apart by nothing; 46 is on the other node, whose processors were busy as well
        "cpu_hog" => {
            let mut list = all(&[1, 3], WarmUp);
            list.extend(all(&[15, 18, 19], Cpu));
            list.extend(all(&[24], Unknown));
            list.extend(all(&[46, 47, 48, 54, 56], Cpu));
            ("1", list)
        }
        // 5 is on the other node
        "io_hog" => {
            let mut list = all(&[1, 3], WarmUp);
            list.extend(all(&[5], Unknown));
            list.extend(all(&[6, 7, 10, 11, 24, 25], Disk));
            ("1", list)
        }
        "data_skew" => {
            let mut list = all(&[0, 1, 2, 3], WarmUp);
            list.extend(all(&[7, 23, 41], DataSkew));
            ("1", list)
        }
        // the code is slow, of which nothing is measured; 21 is slow by chance
        "slow_code" => ("1", [all(&[0, 1, 2, 3], WarmUp), all(&[11, 21, 37], Unknown)].concat()),
        "locality" => ("3", all(&[2, 3], Locality)),
        "shuffle_skew" => {
            let mut list = all(&[1, 3], WarmUp);
            list.extend(all(&[6], ShuffleSkew));
            ("2", list)
        }
        // 13 reads 1.55 times what tasks on the other node do, and says so with a confidence of 0.03
        "gc" => {
            let mut list = all(&[0, 1, 2, 3], WarmUp);
            list.push((11, vec![ShuffleSkew, GarbageCollection]));
            list.push((13, vec![GarbageCollection, ShuffleSkew]));
            ("3", list)
        }
        _ => return None,
    })
}

#[test]
fn each_labelled_case_gets_its_cause() {
    for run in labelled(CpuShare::Busy) {
        let found = root_causes(&run.trace, &run.meters, &PoolOptions::default(), &Rules::default());
        let nodes = found.findings.iter().filter(|finding| finding.cause == Cause::SlowNode).count();
        assert_eq!(nodes, 0, "{}: no node is slow as such", run.case);
        let Some((stage, expected)) = expected(&run.case) else { continue };
        assert_eq!(causes_of(&found, stage), expected, "{}", run.case);
        let sure = |finding: &tailspn::diagnose::Finding| (0.0..=1.0).contains(&finding.confidence);
        assert!(found.findings.iter().all(sure));
    }
}

/// Clocks that agree give no hint, on eight runs; that others do is a unit test of `clock_hint`.
#[test]
fn clocks_of_the_labelled_runs_agree() {
    for run in labelled(CpuShare::Busy) {
        for (index, meters) in run.meters.iter().enumerate() {
            let own = run.trace.attempts().iter().filter(|attempt| attempt.node.is_some_and(|n| n.index() == index));
            let tasks: Vec<(f64, f64)> =
                own.filter_map(|a| Some((a.launch()?.seconds(), a.finish()?.seconds()))).collect();
            assert_eq!(clock_hint(&tasks, meters), None, "{} {index}", run.case);
        }
    }
}

/// Where samples end in the middle of a run, the features after that are unknown: no cause is invented, and the gap is told.
#[test]
fn samples_missing_for_a_part_are_unknown_there() {
    for mut run in labelled(CpuShare::Busy).into_iter().filter(|run| run.case == "io_hog") {
        let whole = root_causes(&run.trace, &run.meters, &PoolOptions::default(), &Rules::default());
        let first = run.truth.windows[0];
        let cut = |series: &mut Vec<Series>, shift: f64| {
            for series in series {
                series.samples.retain(|sample| sample.to - shift < first.to + 2.0);
            }
        };
        for node in &mut run.meters {
            let shift = node.shift;
            [&mut node.cpu, &mut node.disk, &mut node.network].into_iter().for_each(|series| cut(series, shift));
        }
        let half = root_causes(&run.trace, &run.meters, &PoolOptions::default(), &Rules::default());
        let disk = |found: &RootCauses| -> Vec<u64> {
            causes_of(found, "1").iter().filter(|(_, c)| c.contains(&Cause::Disk)).map(|(task, _)| *task).collect()
        };
        assert_eq!(disk(&whole), [6, 7, 10, 11, 24, 25]);
        assert!(disk(&half).iter().all(|task| *task < 24), "{:?}", disk(&half));
        let uncovered = |found: &RootCauses| found.stages.iter().find(|stage| stage.stage == "1").unwrap().uncovered;
        assert_eq!((uncovered(&whole), uncovered(&half)), (0, 2));
    }
}

/// Pearson's method, with the thresholds that do best on these runs themselves, is not better than the rules with theirs.
#[test]
fn the_rules_do_at_least_as_well_as_correlation_on_the_labelled_runs() {
    let runs: Vec<Run> = labelled(CpuShare::Busy).into_iter().filter(|run| !run.truth.windows.is_empty()).collect();
    if runs.is_empty() {
        return;
    }
    let pools: Vec<_> = runs.iter().map(pools_of).collect();
    let right = |c: &Confusion| c.true_positives as i64 - c.false_positives as i64;
    let mut best = Confusion::default();
    let limits = |steps: u32| (0..steps).map(move |i| f64::from(i) / f64::from(steps));
    for (limit, quantile) in limits(20).flat_map(|limit| limits(20).map(move |quantile| (limit, quantile))) {
        let rules = PearsonRules { correlation: limit, quantile };
        let mut sum = Confusion::default();
        for (run, (pool, _)) in runs.iter().zip(&pools) {
            let rho = RESOURCES.map(|resource| correlation(pool, resource));
            for task in pool.stragglers() {
                let record = &pool.tasks[task].record;
                for (resource, rho) in RESOURCES.into_iter().zip(rho) {
                    let affected = run.truth.overlap(record.node, resource, record.from, record.to) > 0.0;
                    sum.count(affected, is_pearson_cause(pool, task, resource, rho, &rules));
                }
            }
        }
        if right(&sum) > right(&best) {
            best = sum;
        }
    }
    let mut own = Confusion::default();
    runs.iter().zip(&pools).for_each(|(run, pools)| own.add(&scored(run, pools, &Rules::default()).0));
    println!("correlation {best:?}, rules {own:?}");
    assert!(right(&own) >= right(&best), "{best:?} {own:?}");
}

/// The four kinds of generated anomalies.
fn kinds() -> [(&'static str, Anomaly); 4] {
    [
        ("processors", Anomaly::Single(Feature::Cpu)),
        ("disk", Anomaly::Single(Feature::Disk)),
        ("network", Anomaly::Single(Feature::Network)),
        ("mixed", Anomaly::Mixed),
    ]
}

/// Figures 8 and 9 of the paper as orderings, over 40 jobs of 8 stages of each kind: the rules' area is above that of the correlation, clearly but for the disk, where they are as good as each other; edge detection halves false positives and raises
/// accuracy; as it is printed it does worse than none, and both edges lose a third of the true ones and more.
#[test]
fn rules_beat_correlation_and_edges_help_on_generated_jobs() {
    // generated workers are never cold
    let rules = Rules { explain_cold: true, ..Rules::default() };
    for (name, anomaly) in kinds() {
        let plan = GeneratorPlan { anomaly, ..GeneratorPlan::default() };
        let pools = pools(&plan, 40, &PoolOptions::default());
        let few = Thresholds {
            quantiles: vec![0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99],
            peer_factors: vec![0.0, 1.0, 1.2, 1.5, 2.0, 3.0, 6.0],
            correlations: vec![0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8],
        };
        let (area, pearson) = curves(&pools, &rules, &few).areas();
        let effect = edge_effect(&pools, &rules);
        let fall = effect.false_positives_fall().unwrap();
        let rise = effect.accuracy_rises().unwrap();
        println!(
            "{name:10} areas {area:.3} {pearson:.3}, edges: false positives -{fall:.3}, accuracy +{rise:.3} {:?}",
            effect.with
        );
        let least = if name == "disk" { -0.02 } else { 0.005 };
        assert!(area > pearson + least && pearson > 0.5, "{name}: {area} {pearson}");
        assert!(fall > 0.4 && rise > 0.03, "{name}: {fall} {rise}");
        let read = |edge| decisions(&pools, &Rules { edge, ..rules });
        let youden = |c: &Confusion| c.true_positive_rate().unwrap() - c.false_positive_rate().unwrap();
        let [any, both, printed, off] =
            [Edge::IntentAny, Edge::IntentBoth, Edge::Printed, Edge::Off].map(|edge| youden(&read(edge)));
        assert!(any > off && off > printed && any > both, "{name}: {any} {both} {printed} {off}");
        let kept = read(Edge::IntentBoth).true_positive_rate().unwrap() / read(Edge::Off).true_positive_rate().unwrap();
        assert!(kept < 0.7, "{name}: {kept}");
    }
}

/// The schedule of table IV: 13 hogs, and their windows are the truth.
#[test]
fn table_iv_of_the_paper_is_generated() {
    let hogs = table_iv();
    assert_eq!(hogs.len(), 13);
    let count = |resource| hogs.iter().filter(|hog| hog.resource == resource).count();
    assert_eq!([count(Feature::Cpu), count(Feature::Disk), count(Feature::Network)], [6, 5, 2]);
    let plan = GeneratorPlan { anomaly: Anomaly::Schedule(hogs), ..GeneratorPlan::default() };
    let job = generate(&plan, 1);
    assert_eq!(job, generate(&plan, 1), "the same seed gives the same job");
    assert_ne!(job, generate(&plan, 2));
    assert_eq!(job.truth.windows.len(), 13);
    let calm = generate(&GeneratorPlan { anomaly: Anomaly::None, ..plan.clone() }, 1);
    assert!(job.end > calm.end, "hogs cost time: {} {}", job.end, calm.end);
    let decided = decisions(&pools(&plan, 20, &PoolOptions::default()), &Rules::default());
    println!(
        "table iv {decided:?} {:?} {:?} {:?}",
        decided.false_positive_rate(),
        decided.true_positive_rate(),
        decided.accuracy()
    );
    assert!(decided.accuracy().unwrap() > 0.8, "{decided:?}");
}

/// A feature that nobody measured is never a cause, and is never 0.
#[test]
fn without_samples_resources_are_unknown() {
    let plan = GeneratorPlan { anomaly: Anomaly::Mixed, ..GeneratorPlan::default() };
    let job = generate(&plan, 4);
    let pool = Pool::new(job.stages[0].clone(), &[], &PoolOptions::default()).unwrap();
    for task in pool.stragglers() {
        for resource in RESOURCES {
            assert_eq!(pool.tasks[task].values[resource as usize], None);
            assert_eq!(judge(&pool, task, resource, &Rules::default()), None);
        }
    }
    assert_eq!(pool.quantile(Feature::Cpu, 0.5), None);
}
