//! Estimates from tables of runs: real clusters, made runs whose time is known, and what the tool says.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use tailspn::ask::EstimateRuns;
use tailspn::tables::{Basis, Chosen, RunModel, RunTable, Table, Target, ernest};

use crate::cli::{assert_shown, tool};
use crate::shared::shared;

/// The programs with the names of their columns, and the error that their own Ernest's curve makes.
const PROGRAMS: [&str; 3] = ["grep", "sort", "sgd"];

fn model(text: &[u8]) -> RunModel {
    RunModel::new(RunTable::new(&Table::read(text).unwrap(), &Chosen::default()).unwrap())
}

/// Returns the lines of a table whose first cell passes, and the header.
fn lines(text: &str, passes: impl Fn(f64) -> bool) -> Vec<u8> {
    let keep = |line: &&str| line.split('\t').next().unwrap().parse().map_or(true, &passes);
    text.lines().filter(keep).flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

fn median_and_mean(mut errors: Vec<f64>) -> [f64; 2] {
    errors.sort_by(f64::total_cmp);
    [errors[errors.len() / 2], errors.iter().sum::<f64>() / errors.len() as f64]
}

/// The goals of the table: 2, 4 and 6 machines predict 8, 10 and 12.
#[test]
fn runs_on_few_machines_predict_runs_on_many() {
    let Some(folder) = shared("data/runs-c3o") else { return };
    let mut told = String::new();
    for program in PROGRAMS {
        let text = std::fs::read_to_string(folder.join(format!("{program}.tsv"))).unwrap();
        let all = model(text.as_bytes());
        let few = model(&lines(&text, |machines| machines <= 6.0));
        let (mut errors, mut by_ernest, mut halves) = (Vec::new(), Vec::new(), Vec::new());
        let (mut inside, mut runs) = (0, 0);
        for group in &all.table.groups {
            let own = few.table.groups.iter().position(|other| other.kinds == group.kinds).unwrap();
            for &size in &group.sizes {
                let measured = few.table.groups[own].machines.iter().filter_map(|&machines| {
                    let found = few.predict(&Target { group: own, size, machines }).ok()?;
                    (found.basis == Basis::Measured).then(|| [machines, found.median_s()])
                });
                let ernest = ernest(&measured.collect::<Vec<_>>()).unwrap();
                for &machines in group.machines.iter().filter(|machines| **machines > 6.0) {
                    let found = few.predict(&Target { group: own, size, machines }).unwrap();
                    let [low, high] = found.interval_s(0.9);
                    for time_s in group.times_at(size, machines) {
                        errors.push((found.median_s() / time_s - 1.0).abs());
                        by_ernest.push((ernest(machines) / time_s - 1.0).abs());
                        inside += usize::from((low..=high).contains(&time_s));
                        runs += 1;
                        halves.push(0.5 * (high - low) / found.median_s());
                    }
                }
            }
        }
        let [median, mean] = median_and_mean(errors);
        let [ernest_median, ernest_mean] = median_and_mean(by_ernest);
        let half = median_and_mean(halves)[0];
        assert!(median < ernest_median && mean < ernest_mean, "{program}: {median} {mean}");
        assert!(median <= 0.031 && mean <= 0.055, "{program}: {median} {mean}");
        let share = f64::from(inside as u32) / f64::from(runs as u32);
        assert!((0.8..=0.97).contains(&share), "{program}: {share}");
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        told += &format!(
            "{program}: {runs} runs, error {} / {}, Ernest {} / {}, {} inside, half width {}\n",
            percent(median),
            percent(mean),
            percent(ernest_median),
            percent(ernest_mean),
            percent(share),
            percent(half)
        );
    }
    insta::assert_snapshot!(told);
}

#[test]
fn each_setting_follows_from_the_others() {
    let Some(folder) = shared("data/runs-c3o") else { return };
    for program in PROGRAMS {
        let found = model(&std::fs::read(folder.join(format!("{program}.tsv"))).unwrap()).left_out;
        assert_eq!(found.settings.len(), found.of, "{program}");
        let [inside, runs] = found.inside().map(|count| count as f64);
        let [half, most] = [0.5, 0.9].map(|q| found.error(q).unwrap());
        println!("{program}: {half} {most} {inside} of {runs}");
        assert!(half <= 0.02 && most <= 0.07, "{program}: {half} {most}");
        assert!((0.85..=0.95).contains(&(inside / runs)), "{program}: {inside} of {runs}");
    }
}

/// Runs of a job by Amdahl's law, which differ by 3%.
fn made(seed: u64, machines: &[u32], sizes: &[u32], repeats: usize) -> String {
    let mut random = rand::rngs::StdRng::seed_from_u64(seed);
    let mut text = "nodes,size_gb,runtime_s\n".to_owned();
    for &nodes in machines {
        for &size in sizes {
            for _ in 0..repeats {
                let noise: f64 = random.sample(StandardNormal);
                text += &format!("{nodes},{size},{}\n", truth(nodes.into(), size.into()) * (0.03 * noise).exp());
            }
        }
    }
    text
}

fn truth(nodes: f64, size: f64) -> f64 {
    20.0 + 2.0 * size + 30.0 * size / nodes
}

#[test]
fn intervals_contain_the_next_run_as_often_as_they_say() {
    let (mut inside, mut beyond, mut tables) = (0.0, 0.0, 0.0);
    for seed in 0..200 {
        let model = model(made(seed, &[2, 4, 8], &[10, 20, 40], 3).as_bytes());
        let mut random = rand::rngs::StdRng::seed_from_u64(1000 + seed);
        let mut hits = |machines: f64, size: f64| {
            let noise: f64 = random.sample(StandardNormal);
            let [low, high] = model.predict(&Target { group: 0, size, machines }).unwrap().interval_s(0.9);
            f64::from(u8::from((low..=high).contains(&(truth(machines, size) * (0.03 * noise).exp()))))
        };
        inside += hits(4.0, 20.0);
        beyond += hits(12.0, 20.0);
        tables += 1.0;
    }
    // 90% within five standard errors, which are 2.1%; beyond, an interval may be too wide, but not too narrow
    assert!((inside / tables - 0.9).abs() < 5.0 * 0.021, "{inside} of {tables}");
    assert!(beyond / tables > 0.9 - 5.0 * 0.021, "{beyond} of {tables}");
}

/// Many sizes that are nearly equal do not pass for growth.
#[test]
fn noise_of_equal_sizes_is_not_taken_for_growth() {
    let mut random = rand::rngs::StdRng::seed_from_u64(5);
    let mut text = "nodes,size_gb,runtime_s\n".to_owned();
    for nodes in [2.0, 4.0, 8.0] {
        for _ in 0..200 {
            let (size, noise): (f64, f64) = (random.random_range(10.0..20.0), random.sample(StandardNormal));
            text += &format!("{nodes},{size},{}\n", truth(nodes, size) * (0.03 * noise).exp());
        }
    }
    let model = model(text.as_bytes());
    for machines in [2.0, 4.0, 8.0, 16.0] {
        let found = model.predict(&Target { group: 0, size: 40.0, machines }).unwrap();
        let ([low, high], exact) = (found.interval_s(0.9), truth(machines, 40.0));
        assert!((low..=high).contains(&exact) && high < 6.0 * low, "{machines}: {low} {high} {exact}");
    }
}

/// The same runs in other units and in another order give the same answer.
#[test]
fn units_and_order_do_not_matter() {
    let text = made(7, &[2, 4, 8], &[10, 20, 40], 2);
    let in_ms = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        format!("{}\t{}\t{}\n", 1024.0 * cells[1], 1000.0 * cells[2], cells[0])
    };
    let mut rows: Vec<String> = text.lines().skip(1).map(in_ms).collect();
    rows.reverse();
    let other = format!("data_mb\tduration_ms\tworkers\n{}", rows.concat());
    let answer = |text: &str| {
        let mut question = EstimateRuns::new(text.as_bytes(), &Chosen::default()).unwrap();
        question.machines = vec![3, 16];
        question.sizes = vec!["30GB".parse().unwrap()];
        question.run().unwrap().rows
    };
    for (a, b) in answer(&text).iter().zip(answer(&other)) {
        for (a, b) in [(a.time_s.value.0, b.time_s.value.0), (a.time_s.ends().unwrap()[1], b.time_s.ends().unwrap()[1])]
        {
            assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        }
    }
}

#[test]
fn a_table_answers_on_one_screen_in_all_forms() {
    let run = |words: &[&str]| {
        let output = tool(words).current_dir("models/tutorial").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        format!(
            "$ tailspn {}\n{text}[{}] {}",
            words.join(" "),
            output.status.code().unwrap(),
            String::from_utf8_lossy(&output.stderr)
        )
    };
    assert_shown!(run(&["estimate", "runs.tsv"]));
    assert_shown!(run(&[
        "estimate",
        "runs.tsv",
        "--only",
        "program=shuffle",
        "--input-size",
        "2x",
        "--deadline",
        "60s"
    ]));
    assert_shown!(run(&["estimate", "runs.tsv", "--only", "program=star", "--input-size", "50MB,100MB", "--csv"]));
    assert_shown!(run(&["estimate", "runs.tsv", "--executors", "1,2", "--price", "0.30/executor-hour", "--markdown"]));
    assert_shown!(run(&["estimate", "runs.tsv", "--executors", "4", "--json"]));
}
