//! `sweep` and `tool merge` as a person uses them: known answers, bad plans, interruptions, shards.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::expr::Leaf;
use tailspn::net::{Delay, Expr, Memory, NetBuilder, Servers, Timing};
use tempfile::TempDir;

use crate::cli::{assert_shown, data, shown, tool};

/// A folder with files in it.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| std::fs::write(folder.0.path().join(name), text).unwrap());
        folder
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// A job whose phases have the means 1 to 9 s, always or as means of exponential delays.
pub(crate) fn job(law: &str, tasks: u32) -> String {
    let phases = ["load", "read", "to_gpu", "gpu", "to_host", "spill", "shuffle", "merge", "reduce"];
    let laws: String = phases.iter().map(|phase| format!("{phase} = \"{law}\"\n")).collect();
    format!(
        "[phases]\nmaps = {tasks}\nreduces = {tasks}\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n[model.distribution]\n{laws}"
    )
}

/// One axis per phase, each with its mean doubled.
fn doubled() -> String {
    let axis = |i: u32| {
        format!("[[axis]]\nkey = \"phases.means_s[{i}]\"\nname = \"phase {}\"\nvalues = [{}]\n", i + 1, 2 * (i + 1))
    };
    (0..9).map(axis).collect()
}

pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&data(args)).unwrap()
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A measured number and its standard error, from its interval of 95%.
pub(crate) fn with_error(measured: &Value) -> [f64; 2] {
    [number(&measured["value"]), (number(&measured["high"]) - number(&measured["low"])) / (2.0 * 1.645)]
}

/// A message without the places where the terminal broke its lines.
pub(crate) fn unbroken(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Names and bytes of all files of a folder, in order.
pub(crate) fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.map(|path| (path.file_name().unwrap().into(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn help_of_sweep_and_merge() {
    assert_shown!(data(&["study", "--help"]));
    assert_shown!(data(&["tool", "merge", "--help"]));
}

#[test]
fn points_equal_estimates_of_the_same_plans_bit_for_bit() {
    let base = "[job]\ninput_mb = 640\nreduces = 4\n";
    let axes = "[sweep]\nbase = \"job.toml\"\nreplications = 3000\nseed = 5\n\
                [[axis]]\nkey = \"job.reduces\"\nvalues = [2, 6]\n\
                [[axis]]\nkey = \"cluster.node[*].gpu_speed\"\nvalues = [0.5, 2.0]\n";
    let folder = Folder::new(&[("job.toml", base), ("plan.toml", axes)]);
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    let points = sweep["points"].as_array().unwrap();
    let plans = [(4, 1.0), (2, 0.5), (2, 2.0), (6, 0.5), (6, 2.0)];
    assert_eq!(points.len(), plans.len());
    for (point, (reduces, speed)) in points.iter().zip(plans) {
        let text =
            format!("[job]\ninput_mb = 640\nreduces = {reduces}\n[[cluster.node]]\ncount = 4\ngpu_speed = {speed}\n");
        std::fs::write(folder.at("one.toml"), text).unwrap();
        let args = ["estimate", &folder.at("one.toml"), "--method=simulate", "--reps=3000", "--seed=5", "--json"];
        let time = &json(&args)["job_time"];
        let ours = [&point["mean_s"], &point["p50_s"], &point["p95_s"], &point["p99_s"]];
        let theirs = [&time["mean"], &time["quantiles"][0], &time["quantiles"][2], &time["quantiles"][3]];
        for (our, their) in ours.iter().zip(theirs) {
            for end in ["value", "low", "high"] {
                assert_eq!(our[end], their[end], "point {}", point["point"]);
            }
        }
    }
}

/// Without chance, doubling a phase adds its mean and halving it takes off half of it: the ranking is known, and so is every
/// difference.
#[test]
fn the_tornado_ranks_phases_by_what_they_add() {
    let axes: String = (1..=9)
        .map(|i| {
            let values = format!("[{}, {}]", 0.5 * f64::from(i), 2 * i);
            format!("[[axis]]\nkey = \"phases.means_s[{}]\"\nname = \"phase {i}\"\nvalues = {values}\n", i - 1)
        })
        .collect();
    let plan = format!("[sweep]\nbase = \"job.toml\"\ndesign = \"each\"\nreplications = 10\n{axes}");
    let folder = Folder::new(&[("job.toml", &job("deterministic", 2)), ("plan.toml", &plan)]);
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    let knobs = sweep["tornado"].as_array().unwrap();
    let keys: Vec<_> = knobs.iter().map(|knob| knob["name"].as_str().unwrap()).collect();
    assert_eq!(keys, [9, 8, 7, 6, 5, 4, 3, 2, 1].map(|phase| format!("phase {phase}")));
    for (knob, mean) in knobs.iter().zip((1..=9).rev().map(f64::from)) {
        assert!((number(&knob["swing_s"]) - 1.5 * mean).abs() < 1e-6, "{knob}");
        for (level, change) in [("best", -0.5 * mean), ("worst", mean)] {
            assert!((number(&knob[level]["ratio"]["value"]) - (45.0 + change) / 45.0).abs() < 1e-7, "{knob}");
        }
    }
    assert!((number(&sweep["points"][0]["mean_s"]["value"]) - 45.0).abs() < 1e-6);
}

/// One map and one reduce: the mean is the sum of the phase means, so that doubling phase i adds i seconds. Common random numbers
/// make the pair's interval that of one phase, sd i, and not that of two sums, sd √(2 · 285).
#[test]
fn differences_of_chains_are_those_of_the_closed_form() {
    let replications = 100_000;
    let plan = format!(
        "[sweep]\nbase = \"job.toml\"\ndesign = \"each\"\nreplications = {replications}\nseed = 3\n{}",
        doubled()
    );
    let folder = Folder::new(&[("job.toml", &job("exponential", 1)), ("plan.toml", &plan)]);
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    for (point, added) in sweep["points"].as_array().unwrap()[1..].iter().zip((1..=9).map(f64::from)) {
        let difference = &point["difference_s"];
        let error = added / f64::from(replications).sqrt();
        assert!(error < 0.01 * added);
        assert!((number(&difference["value"]) - added).abs() < 5.0 * error, "{point}");
        let half = 0.5 * (number(&difference["high"]) - number(&difference["low"]));
        assert!((half / (1.645 * error) - 1.0).abs() < 0.05, "{point}");
    }
}

#[test]
fn the_rates_of_a_net_are_swept_and_their_times_known() {
    let mut b = NetBuilder::new("one task");
    let (todo, done) = (b.place("todo", 1), b.place("done", 0));
    let rate = Expr::Leaf(Leaf::Parameter(b.parameter("speed", 2.0)));
    let delay = Delay::Exponential { rate };
    let task = b.transition("task", Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling });
    b.input(todo, task, 1.0);
    b.output(task, done, 1.0);
    let text = write(&b.build().unwrap(), &WriteOptions::default()).xml;
    let plan = "[sweep]\nnet = \"net.xml\"\nuntil = \"#(done) > 0\"\nreplications = 40000\n\
                [[axis]]\nkey = \"speed\"\nfrom = 0.5\nto = 8\nsteps = 3\nscale = \"log\"\n";
    let folder = Folder::new(&[("net.xml", &text), ("plan.toml", plan)]);
    let pictures = folder.at("pictures");
    let sweep = json(&["study", &folder.at("plan.toml"), "--json", "--plots", &pictures]);
    for (point, speed) in sweep["points"].as_array().unwrap().iter().zip([2.0, 0.5, 2.0, 8.0]) {
        // standard error of the mean 0.5%, of the median 0.5% of the mean
        assert!((number(&point["mean_s"]["value"]) * speed - 1.0).abs() < 0.025, "{point}");
        assert!((number(&point["p50_s"]["value"]) * speed - 2_f64.ln()).abs() < 0.025, "{point}");
    }
    // the same words at every point: times are the base's times, scaled
    assert!((number(&sweep["points"][1]["ratio"]["value"]) - 4.0).abs() < 1e-5, "{sweep}");
    let picture = std::fs::read_to_string(Path::new(&pictures).join("curve.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("speed"), "{picture}");
    let again = shown(&["study", &folder.at("plan.toml"), "--plots", &pictures]);
    assert!(again.starts_with("exit 7") && unbroken(&again).contains("already exists"), "{again}");
}

const SMALL: &str = "[sweep]\nbase = \"job.toml\"\nreplications = 200\n\
                     [[axis]]\nkey = \"phases.maps\"\nvalues = [1, 2, 3]\n[[axis]]\nkey = \"phases.means_s[6]\"\nvalues = [1, 7, 20]\n";

#[test]
fn a_sweep_prints_a_table_of_points_csv_and_a_heat_map() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let plan = folder.at("plan.toml");
    assert_shown!(data(&["study", &plan, "--quiet"]));
    assert_shown!(data(&["study", &plan, "--csv", "--plots", &folder.at("p")]));
    let names: Vec<_> = files(&folder.at("p")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [PathBuf::from("heat.svg")]);
}

#[test]
fn results_do_not_depend_on_threads() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let run = |threads: &str| data(&["study", &folder.at("plan.toml"), "--json", "--threads", threads]);
    assert_eq!(run("1"), run("3"));
}

#[test]
fn a_sweep_that_was_cut_short_goes_on_and_gives_the_same_bytes() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let (plan, whole, cut) = (folder.at("plan.toml"), folder.at("whole"), folder.at("cut"));
    let expected = data(&["study", &plan, "--save", &whole]);
    let first = shown(&["study", &plan, "--save", &cut, "--max-points=4"]);
    assert!(first.starts_with("exit 0") && first.contains("Partial: 4 of 10 configurations are complete"), "{first}");
    assert!(first.contains("--resume runs them"), "{first}");
    let again = shown(&["study", &plan, "--save", &cut]);
    assert!(again.starts_with("exit 7") && unbroken(&again).contains("already holds a sweep"), "{again}");
    assert!(
        data(&["study", &plan, "--save", &cut, "--resume", "--max-points=1"])
            .contains("Partial: 5 of 10 configurations")
    );
    assert_eq!(data(&["study", &plan, "--save", &cut, "--resume"]), expected);
    assert_eq!(files(&whole), files(&cut));
    assert_eq!(files(&whole).len(), 2);
    // nothing is left to do: the same is shown again
    assert_eq!(data(&["study", &plan, "--save", &cut, "--resume"]), expected);
}

#[test]
fn a_sweep_that_was_killed_goes_on_and_gives_the_same_bytes() {
    let plan = "[sweep]\nbase = \"job.toml\"\nreplications = 8000\n\
                [[axis]]\nkey = \"phases.means_s[8]\"\nfrom = 1\nto = 50\nsteps = 100\n";
    let folder = Folder::new(&[("job.toml", &job("exponential", 20)), ("plan.toml", plan)]);
    let (plan, whole, cut) = (folder.at("plan.toml"), folder.at("whole"), folder.at("cut"));
    let mut child = tool(&["study", &plan, "--save", &cut, "--threads=1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // the base is written at once, the next part once some points are there
    let second = Path::new(&cut).join("part-000002.jsonl");
    let patience = Instant::now() + Duration::from_secs(120);
    while !second.exists() && child.try_wait().unwrap().is_none() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(second.exists() && !Path::new(&cut).join("points.parquet").exists(), "{:?}", files(&cut).len());
    let resumed = data(&["study", &plan, "--save", &cut, "--resume"]);
    assert_eq!(data(&["study", &plan, "--save", &whole]), resumed);
    assert_eq!(files(&whole), files(&cut));
}

#[test]
fn a_damaged_part_is_named_and_its_points_are_run_again() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let (plan, whole, cut) = (folder.at("plan.toml"), folder.at("whole"), folder.at("cut"));
    let expected = data(&["study", &plan, "--save", &whole]);
    data(&["study", &plan, "--save", &cut, "--max-points=4"]);
    let part = Path::new(&cut).join("part-000002.jsonl");
    let text = std::fs::read_to_string(&part).unwrap();
    std::fs::write(&part, &text[..text.len() - 100]).unwrap();
    let page = folder.at("page.html");
    for args in [[&cut, "--html", &page].as_slice(), &["tool", "merge", &cut, "--save", &folder.at("no")]] {
        let refused = unbroken(&shown(args));
        assert!(
            refused.starts_with("exit 3") && refused.contains("part-000002.jsonl` is damaged: it is truncated"),
            "{refused}"
        );
        assert!(refused.contains("--resume` runs these points again"), "{refused}");
    }
    let resumed = unbroken(&shown(&["study", &plan, "--save", &cut, "--resume"]));
    assert!(
        resumed.contains("part-000002.jsonl` is damaged") && resumed.contains("its points are run again"),
        "{resumed}"
    );
    assert_eq!(data(&["study", &plan, "--save", &cut, "--resume"]), expected);
    assert_eq!(files(&whole), files(&cut));
}

#[test]
fn changed_points_are_refused_until_they_are_removed() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let (plan, whole) = (folder.at("plan.toml"), folder.at("whole"));
    let expected = data(&["study", &plan, "--save", &whole]);
    let before = files(&whole);
    let points = Path::new(&whole).join("points.parquet");
    let mut bytes = std::fs::read(&points).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&points, bytes).unwrap();
    for args in [
        [&whole, "--html", &folder.at("page.html")].as_slice(),
        &["tool", "merge", &whole, "--save", &folder.at("no")],
        &["study", &plan, "--save", &whole, "--resume"],
    ] {
        let refused = unbroken(&shown(args));
        assert!(
            refused.starts_with("exit 3") && refused.contains("points.parquet` is damaged: it was changed"),
            "{refused}"
        );
        assert!(refused.contains("or remove it and"), "{refused}");
    }
    std::fs::remove_file(&points).unwrap();
    assert_eq!(data(&["study", &plan, "--save", &whole, "--resume"]), expected);
    assert_eq!(files(&whole), before);
}

#[test]
fn a_plan_that_changed_is_noticed() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let (plan, result) = (folder.at("plan.toml"), folder.at("r"));
    data(&["study", &plan, "--save", &result, "--max-points=2"]);
    let resume = |more: &[&str]| shown(&[&["study", &plan, "--save", &result, "--resume"], more].concat());
    let told =
        |text: String, what: &str| assert!(text.starts_with("exit 5") && unbroken(&text).contains(what), "{text}");
    told(resume(&["--seed=1"]), "the seed has changed");
    told(resume(&["--level=0.95"]), "the level of the intervals");
    told(resume(&["--shard=1/2"]), "the shard");
    std::fs::write(&plan, SMALL.replace("200", "300")).unwrap();
    told(resume(&[]), "the plan of the sweep (from `replications = 200` to `replications = 300`) has changed");
    std::fs::write(&plan, SMALL).unwrap();
    std::fs::write(folder.at("job.toml"), job("exponential", 3)).unwrap();
    told(resume(&[]), "the base plan or net (from `maps = 2` to `maps = 3`) has changed");
    // comments and the order of keys do not matter
    std::fs::write(folder.at("job.toml"), format!("# a comment\n{}", job("exponential", 2))).unwrap();
    std::fs::write(folder.at("plan.toml"), format!("# another\n{SMALL}")).unwrap();
    assert!(resume(&[]).starts_with("exit 0"));
}

#[test]
fn merged_shards_equal_the_unsharded_result() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", SMALL)]);
    let (plan, whole, merged) = (folder.at("plan.toml"), folder.at("whole"), folder.at("merged"));
    let expected = data(&["study", &plan, "--save", &whole]);
    let shards = ["a", "b", "c"].map(|name| folder.at(name));
    for (shard, which) in shards.iter().zip(["1/3", "2/3", "3/3"]) {
        data(&["study", &plan, "--save", shard, "--shard", which]);
    }
    let [a, b, c] = [&shards[0], &shards[1], &shards[2]];
    let told = |args: &[&str], what: &str| {
        let text = unbroken(&shown(&[&["tool", "merge"], args, &["--save", &folder.at("no")]].concat()));
        assert!(text.starts_with("exit 5") && text.contains(what), "{text}");
    };
    told(&[a, c], "shard 2 of 3 is missing");
    told(&[a, b, a], "are the same shard");
    told(&[a, &whole], "the number of shards differs");
    // in any order
    assert_eq!(data(&["tool", "merge", c, a, b, "--save", &merged]), expected);
    assert_eq!(files(&whole), files(&merged));
    let other = folder.at("other");
    data(&["study", &plan, "--save", &other, "--shard=2/3", "--seed=8"]);
    told(&[a, &other, c], "belong to different sweeps: the seed differs");
    assert!(shown(&["tool", "merge", &folder.at("job.toml"), "--save", &merged]).starts_with("exit"));
}

#[test]
fn a_relative_error_ends_each_point_on_its_own() {
    let plan = "[sweep]\nbase = \"job.toml\"\nrelative_error = 0.01\nreplications = 100000\n\
                [[axis]]\nkey = \"phases.means_s[8]\"\nvalues = [1, 90]\n";
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", plan)]);
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    let points = sweep["points"].as_array().unwrap();
    for point in points {
        let mean = &point["mean_s"];
        let half = 0.5 * (number(&mean["high"]) - number(&mean["low"]));
        assert!(half <= 0.01 * number(&mean["value"]), "{point}");
    }
    assert!(number(&points[2]["replications"]) > number(&points[1]["replications"]), "{sweep}");
}

/// A net that continues forever, and has no rate parameters.
const ENDLESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/textbook/mm1k.xml");

#[test]
fn bad_plans_are_shown_where_they_are_wrong() {
    let told = |plan: &str| {
        let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", plan)]);
        shown(&["study", &folder.at("plan.toml")]).replace(folder.0.path().to_str().unwrap(), "")
    };
    let axis = |text: &str| told(&format!("sweep.base = \"job.toml\"\n[[axis]]\n{text}\n"));
    assert_shown!(axis("key = \"job.reducers\"\nvalues = [1, 2]"));
    assert_shown!(axis("key = \"job.reduces\"\nvalues = []"));
    assert_shown!(axis("key = \"job.reduces\"\nvalues = [1, \"two\"]"));
    assert_shown!(axis("key = \"hadoop.sort_mb\"\nvalues = [100, -1]"));
    assert_shown!(axis("key = \"cluster.node[3].count\"\nvalues = [1]"));
    assert_shown!(axis("key = \"model.seed\"\nvalues = [1]"));
    assert_shown!(axis("kee = \"job.reduces\"\nvalues = [1]"));
    let net = told("sweep.net = \"job.toml\"\n[[axis]]\nkey = \"a\"\nvalues = [1]");
    assert!(net.starts_with("exit 3") && net.contains("job.toml"), "{net}");
    let endless = told(&format!("sweep.net = \"{ENDLESS}\"\n[[axis]]\nkey = \"lambda\"\nvalues = [1]"));
    assert!(endless.starts_with("exit 3") && endless.contains("unknown rate parameter"), "{endless}");
    assert!(shown(&["study", "nowhere.toml"]).starts_with("exit 7"));
    assert!(shown(&["study"]).starts_with("exit 2"));
    assert!(shown(&["study", "x.toml", "--save", "y", "--shard=3/2"]).starts_with("exit 2"));
}
