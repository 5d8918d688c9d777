//! Estimates from tables of tasks: TPC-H on a real cluster, and what the tool says.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use tailspn::tables::tasks::{Cluster, RecordedTasks, TaskModel};
use tailspn::tables::{Chosen, Table};

use crate::cli::{assert_shown, tool};
use crate::shared::shared;

/// The queries for learning and for choosing constants, and the untouched ones. The lot was drawn before the first fit: `random.Random(20261129).sample(all, 4)`
/// in Python.
const LEARNT: [u32; 7] = [3, 7, 11, 15, 17, 19, 21];
const UNTOUCHED: [u32; 4] = [1, 5, 9, 13];

/// A question: the fitted runs, and the predicted runs.
type Goal = (&'static str, fn(f64, u32) -> bool, fn(f64, u32) -> bool);

const GOALS: [Goal; 3] = [
    (
        "sizes",
        |size, count| size <= 10.0 && (5..=40).contains(&count),
        |size, count| size >= 50.0 && (5..=40).contains(&count),
    ),
    ("executors", |_, count| count <= 10, |_, count| count >= 40),
    ("both", |size, count| size <= 10.0 && count <= 20, |size, count| size >= 50.0 && count >= 40),
];

/// Returns a query's table with the parents of each stage, which lie in another file.
fn joined(folder: &Path, query: u32) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(folder.join(format!("q{query}.tsv.gz"))).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let graph = std::fs::read_to_string(folder.join(format!("q{query}.dag.json"))).unwrap();
    let graph: Value = serde_json::from_str(&graph).unwrap();
    let mut joined = "size_gb\texecutors\tstage\twave\tms\tparents\n".to_owned();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let stage: usize = cells[2].parse().unwrap();
        let parents = graph["parents"][cells[0]][stage].as_array().unwrap();
        let parents: Vec<String> = parents.iter().map(Value::to_string).collect();
        let _ = writeln!(joined, "{line}\t{}", parents.join(";"));
    }
    joined
}

fn recorded(folder: &Path, query: u32) -> RecordedTasks {
    RecordedTasks::new(&Table::read(joined(folder, query).as_bytes()).unwrap(), &Chosen::default()).unwrap()
}

/// Returns the median and the mean.
fn median_and_mean(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    [values[values.len() / 2], values.iter().sum::<f64>() / values.len() as f64]
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// The recorded tasks give the time that the data state, by another program's list schedule.
#[test]
fn schedules_of_recorded_tasks_take_the_stated_time() {
    let Some(folder) = shared("data/tpch-cluster") else { return };
    let stated = std::fs::read_to_string(folder.join("makespans.tsv")).unwrap();
    for query in [3, 21] {
        let recorded = recorded(&folder, query);
        for line in stated.lines().skip(1) {
            let cells: Vec<f64> = line.split('\t').map(|cell| cell.parse().unwrap()).collect();
            if line.starts_with(&format!("{query}\t")) {
                let found = recorded.scheduled_s(cells[1], cells[2] as u32).unwrap();
                // stated with two decimals; tasks that end together may be taken in another order
                assert!((found / cells[6] - 1.0).abs() < 0.01, "{line}: {found}");
            }
        }
    }
}

/// The goals of the untouched queries, with the other programs of the cluster and without.
#[test]
fn other_programs_teach_what_many_executors_cost() {
    let Some(folder) = shared("data/tpch-cluster") else { return };
    let cluster = Cluster::of(&LEARNT.map(|query| recorded(&folder, query)));
    let untouched = UNTOUCHED.map(|query| recorded(&folder, query));
    let mut told = String::new();
    for (with, cluster) in [("with other programs", cluster), ("alone", Cluster::default())] {
        for (goal, fits, asks) in GOALS {
            let (mut errors, mut by_ernest, mut halves, mut inside, mut lost) =
                (Vec::new(), Vec::new(), Vec::new(), 0_u32, Vec::new());
            for program in &untouched {
                let model = TaskModel::new(program.only(fits), cluster.clone()).unwrap();
                for (size, executors) in program.runs().into_iter().filter(|run| asks(run.0, run.1)) {
                    let time_s = program.scheduled_s(size, executors).unwrap();
                    let found = model.predict(size, executors).unwrap();
                    let [low, high] = found.interval_s(0.9);
                    errors.push((found.median_s() / time_s - 1.0).abs());
                    by_ernest.push((model.ernest(size, executors.into()).unwrap() / time_s - 1.0).abs());
                    halves.push(0.5 * (high - low) / found.median_s());
                    inside += u32::from((low..=high).contains(&time_s));
                }
                // the model names a number of executors as the fastest: the time there, compared with the best time
                for &size in program.sizes.iter().filter(|size| goal == "executors" || goal == "both" && **size >= 50.0)
                {
                    let time = |count: &u32| program.scheduled_s(size, *count).unwrap();
                    let named = program.executors.iter().min_by(|a, b| {
                        let time = |count: u32| model.predict(size, count).unwrap().median_s();
                        time(**a).total_cmp(&time(**b))
                    });
                    let best = program.executors.iter().map(time).fold(f64::INFINITY, f64::min);
                    lost.push(time(named.unwrap()) / best - 1.0);
                }
            }
            let runs = errors.len();
            let ([median, mean], [ernest, ernest_mean]) = (median_and_mean(errors), median_and_mean(by_ernest));
            let half = median_and_mean(halves)[0];
            let _ = write!(
                told,
                "{with}, {goal}: {runs} runs, error {} / {}, Ernest {} / {}, {} inside, half width {}",
                percent(median),
                percent(mean),
                percent(ernest),
                percent(ernest_mean),
                percent(f64::from(inside) / runs as f64),
                percent(half)
            );
            lost.sort_by(f64::total_cmp);
            if let [.., _] = lost[..] {
                let most = lost[9 * lost.len() / 10];
                let _ = write!(told, ", time lost {} / {}", percent(lost[lost.len() / 2]), percent(most));
            }
            told.push('\n');
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_table_of_tasks_answers_with_and_without_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    // a source and a shuffle; tasks on many executors take longer
    let table = |tasks: u32, most: u32| {
        let mut text = "executors\tstage\twave\tparents\tms\n".to_owned();
        for executors in [2, 5, 10, 20, 40].into_iter().filter(|count| *count <= most) {
            let slower = 1.0 + 0.01 * f64::from(executors);
            for task in 0..tasks {
                let wave = if task < executors { "fresh" } else { "rest" };
                let (start, usual) = (if task < executors { 1500.0 } else { 0.0 }, 1000.0 + f64::from(task % 7) * 20.0);
                let _ = writeln!(text, "{executors}\t0\t{wave}\t\t{}", slower * (usual + start));
            }
            for task in 0..20 {
                let wave = if task < executors { "first" } else { "rest" };
                let _ = writeln!(text, "{executors}\t1\t{wave}\t0\t{}", slower * (300.0 + f64::from(task % 5) * 20.0));
            }
        }
        text
    };
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("small.tsv", &table(100, 10));
    put("other.tsv", &table(300, 40));
    put("saved.txt", "{\"most_executors\": 3}");
    let run = |words: &[&str]| {
        let output = tool(words).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("$ tailspn {}\n{text}[{}] {error}", words.join(" "), output.status.code().unwrap())
    };
    assert_shown!(run(&["estimate", "small.tsv"]));
    assert_shown!(run(&["estimate", "small.tsv", "--executors", "20,40"]));
    let learnt =
        run(&["estimate", "small.tsv", "--executors", "20,40", "--alongside", "other.tsv", "--save-cluster", "c.json"]);
    assert_shown!(learnt);
    // what was saved also knows the small program's own runs
    assert_shown!(run(&["estimate", "small.tsv", "--executors", "20,40", "--alongside", "c.json"]));
    assert_shown!(run(&["estimate", "small.tsv", "--executors", "20,40", "--alongside", "saved.txt"]));
    assert_shown!(run(&["estimate", "small.tsv", "--only", "a=b"]));
    // far beyond, the interval is wide, with other programs too
    assert_shown!(run(&["estimate", "small.tsv", "--executors", "400", "--alongside", "other.tsv"]));
    assert_shown!(run(&["estimate", "small.tsv", "--input-size", "2x"]));
}
