//! `estimate` with lists: every row against a closed form, the marked row, and lists that are refused.

use serde_json::{Value, json as value};

use crate::cli::{assert_shown, data, shown};
use crate::cli_sweep::{Folder, json, number};
use crate::shared::shared;

/// One stage of 24 tasks of 10 s without chance: ⌈24 / k⌉ · 10 s on k slots. At twice the input, 48 tasks.
const TASKS: &str = "[job]\ninput_mb = 24\nexecutors = 4\ncores = 1\n[run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 2\n\
                     [[stage]]\ndistribution = \"deterministic\"\ntasks = { per_mb = 1 }\ncold = { fixed_s = 10 }\nwarm = { fixed_s = 10 }\n";

fn folder() -> Folder {
    Folder::new(&[("job.toml", TASKS)])
}

fn estimate(options: &[&str]) -> Value {
    json(&[&["estimate", &folder().at("job.toml"), "--json"], options].concat())
}

fn close(found: &Value, expected: f64) {
    assert!((number(found) - expected).abs() <= 1e-4 * expected.max(1e-3), "{found} {expected}");
}

/// Mutations: a floor instead of the ceiling, `slots` without cores, the cost of the median, a seed per row.
#[test]
fn every_row_is_the_closed_form() {
    let found = estimate(&["--executors", "1..30", "--deadline=46s", "--price=3600USD/core-hour"]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &found["own_run"]["verdict"]), (30, &value!("not_checked")));
    for (k, row) in (1_u32..).zip(rows) {
        let (slots, time_s) = (f64::from(k), 10.0 * f64::from(24_u32.div_ceil(k)));
        assert_eq!(row["set"], value!({ "executors": k }));
        ["value", "low", "high"].iter().for_each(|end| close(&row["time_s"][end], time_s));
        close(&row["in_time"], if time_s <= 46.0 { 1.0 } else { 0.0 });
        close(&row["cost"], slots * time_s);
        close(&row["busy"], 240.0 / (slots * time_s));
        assert!((number(&row["idle_core_s"]) - (slots * time_s - 240.0)).abs() < 0.05, "{row}");
    }
    // 6, 8, 12 and 24 executors cost 240; 24 are the fastest of these, and finish in 10 s
    assert_eq!(found["answer"]["row"], 23);
    assert_eq!(
        found["answer"]["text"],
        "24 executors are the cheapest that finish within 46 s with 95% probability: 10.0 s, 240 USD a run. More than 24 gain nothing."
    );
}

#[test]
fn without_a_price_the_fewest_slots_and_without_a_deadline_the_fastest() {
    let found = estimate(&["--executors=4,8,5,6", "--deadline=46s"]);
    assert_eq!(found["answer"]["row"], 2, "{found}");
    let text = "6 executors have the fewest slots of all that finish within 46 s with 95% probability: 40.0 s.";
    assert_eq!(found["answer"]["text"], text);
    let found = estimate(&["--executors=4,8,9"]);
    // 8 and 9 take 30 s: the fewest
    assert_eq!(found["answer"]["text"], "8 executors are the fastest: 30.0 s. More than 8 gain nothing.");
    let found = estimate(&["--input-size=3x,1x"]);
    assert_eq!(found["answer"]["text"], "An input of 1x is the fastest: 60.0 s.");
    assert_eq!(found["rows"][0]["set"], value!({ "input_size": "3x" }), "in the order of the list");
}

#[test]
fn two_lists_are_crossed() {
    let found = estimate(&["--executors=2,4", "--input-size=1x,2x", "--deadline=1m"]);
    let set = |row: &Value| (row["set"]["input_size"].as_str().unwrap().to_owned(), number(&row["set"]["executors"]));
    let rows = found["rows"].as_array().unwrap();
    let sets: Vec<_> = rows.iter().map(set).collect();
    let expected = [("1x", 2.0), ("1x", 4.0), ("2x", 2.0), ("2x", 4.0)].map(|(size, k)| (size.to_owned(), k));
    assert_eq!(sets, expected);
    let times = [120.0, 60.0, 240.0, 120.0];
    rows.iter().zip(times).for_each(|(row, time_s)| close(&row["time_s"]["value"], time_s));
    assert_eq!(found["answer"]["row"], 1);
    let cores = estimate(&["--executors=2,4", "--cores=1,3"]);
    assert_eq!(cores["answer"]["text"], "4 executors and 3 cores are the fastest: 20.0 s.");
}

/// Options about slots and hosts take lists like the numbers of machines, and the next command names the marked row.
#[test]
fn slots_gpus_and_hosts_take_lists() {
    let demo = |list: &str| json(&["estimate", "--demo", list, "--reps=50", "--json"]);
    let sets =
        |found: &Value| found["rows"].as_array().unwrap().iter().map(|row| row["set"].clone()).collect::<Vec<_>>();
    for (list, name) in [
        ("--map-slots=2,4", "map_slots"),
        ("--reduce-slots=2,4", "reduce_slots"),
        ("--gpus-per-worker=2,4", "gpus_per_worker"),
    ] {
        assert_eq!(sets(&demo(list)), [value!({ name: 2 }), value!({ name: 4 })], "{list}");
    }
    let found = demo("--map-slots=1,2,4");
    assert!(found["answer"]["text"].as_str().unwrap().starts_with("4 map slots are the fastest: "), "{found}");
    assert_eq!(found["blocks"]["next"][0], "tailspn estimate --demo --map-slots 4");
    let gpus = demo("--gpus-per-worker=1,2");
    assert!(gpus["answer"]["text"].as_str().unwrap().contains(" per worker"), "{gpus}");
    assert_eq!(sets(&estimate(&["--hosts=1..3"])).len(), 3);
}

/// A row is what `estimate` answers for its value, with the same seed.
#[test]
fn a_row_is_the_answer_for_one_value() {
    let [one, list] = ["--workers=8", "--workers=4,8"].map(|workers| {
        json(&["estimate", "--demo", workers, "--reps=200", "--seed=3", "--json", "--deadline=3m", "--threads=2"])
    });
    let row = &list["rows"][1];
    let p50 = &one["job_time"]["quantiles"].as_array().unwrap()[0]["value"];
    assert_eq!(&row["time_s"]["value"], p50, "{row}");
    assert_eq!(row["in_time"], one["deadline"]["simulated"]["value"]);
    let one_thread =
        ["estimate", "--demo", "--workers=4,8", "--reps=200", "--seed=3", "--json", "--deadline=3m", "--threads=1"];
    assert_eq!(json(&one_thread)["rows"], list["rows"]);
}

#[test]
fn a_deadline_that_no_row_meets_is_a_no() {
    let folder = folder();
    let text = shown(&["estimate", &folder.at("job.toml"), "--executors=1..4", "--deadline=50s"]);
    assert!(text.contains("No configuration finishes within 50 s with 95% probability. The closest is 4"), "{text}");
    assert!(text.contains("exit 8"), "{text}");
}

#[test]
fn lists_that_are_refused_say_why() {
    let folder = folder();
    let job = folder.at("job.toml");
    let refused = |options: &[&str]| {
        let text = shown(&[&["estimate", &job], options].concat());
        assert!(text.contains("exit 2"), "{text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let three = refused(&["--executors=1..2", "--cores=1,2", "--input-size=1x,2x"]);
    assert!(three.contains("not 3: --input-size, --executors, --cores") && three.contains("tailspn study"), "{three}");
    let many = refused(&["--executors=1..5000", "--cores=1..5"]);
    assert!(many.contains("25000 configurations are too many for a table; 10000 is the maximum"), "{many}");
    assert!(refused(&["--workers=1..4"]).contains("use `--executors`"));
    assert!(refused(&["--price=1/core-hour"]).contains("--price applies only to a list"));
    assert!(refused(&["--executors=1,2", "--price=1/node-hour"]).contains("executors and cores"));
    assert!(refused(&["--executors=1,2", "--probability=90%"]).contains("--probability needs a deadline"));
    assert!(refused(&["--executors=1,2", "--save-net=net.xml"]).contains("--save-net needs a single configuration"));
    assert!(refused(&["--executors=4,l6"]).contains("`l6`: expected a whole number"));
    assert!(refused(&["--executors=1-8"]).contains("`1-8` is not a number; a range is written 1..8"));
    assert!(refused(&["--executors", "4", "8"]).contains("put commas between the values: --executors 4,8"));
    assert!(
        refused(&["--executors=1,2", "--price=2EUR/node-hour"]).contains("the price `2EUR/node-hour` does not apply")
    );
    assert!(refused(&["--deadline=06:00"]).contains("only a running job can meet"));
}

#[test]
fn the_table_in_all_forms() {
    let folder = folder();
    let job = folder.at("job.toml");
    let with = |more: &[&str]| {
        data(&[&["estimate", &job, "--executors=1..20", "--deadline=46s", "--price=0.05USD/core-hour"], more].concat())
    };
    assert_shown!(with(&[]));
    assert_shown!(with(&["--csv"]));
    let two = ["estimate", &job, "--executors=2,8", "--split-size=1GB", "--json"];
    assert!(shown(&two).contains("`--split-size` has no meaning"));
    assert_shown!(data(&["estimate", &job, "--executors=2,8", "--deadline=46s", "--json"]));

    assert_eq!(with(&["--csv"]).lines().count(), 21);
    assert_eq!(with(&["--markdown", "--verbose"]).lines().filter(|line| line.starts_with("| ")).count(), 22);
    let pictures = folder.at("pictures");
    data(&["estimate", &job, "--executors=1..9", "--input-size=1x,2x", "--plots", &pictures]);
    let curve = std::fs::read_to_string(std::path::Path::new(&pictures).join("curve.svg")).unwrap();
    assert!(curve.contains("executors") && curve.contains("An input of 2x") | curve.contains("an input of 2x"));
}

/// A real log: the table begins with the check of the model on its own run, once.
#[test]
fn a_log_is_estimated_on_other_clusters() {
    let Some(folder) = shared("data/logs/spark-elastic") else { return };
    let log = folder.join("fan-48f-4x1-nospec-r0.gz");
    let found = json(&["estimate", log.to_str().unwrap(), "--executors=1..8", "--input-size=3x", "--json"]);
    assert_eq!(found["own_run"]["verdict"], "reproduced", "{}", found["own_run"]);
    let times: Vec<f64> = found["rows"].as_array().unwrap().iter().map(|row| number(&row["time_s"]["value"])).collect();
    assert!(times.len() == 8 && times[0] > 1.5 * times[1] && times[1] > 1.2 * times[3], "{times:?}");
    let busy: Vec<f64> = found["rows"].as_array().unwrap().iter().map(|row| number(&row["busy"])).collect();
    assert!(busy.windows(2).all(|pair| pair[0] >= pair[1]) && busy[0] > 0.5, "{busy:?}");
    // the marked row is saved, and every time has the wanted level
    let folder = Folder::new(&[]);
    let plan = folder.at("fast.toml");
    let log = log.to_str().unwrap();
    let half = json(&["estimate", log, "--executors=2,8", "--level=50%", "--save-plan", &plan, "--json"]);
    assert_eq!((&half["question"]["level"], &half["answer"]["row"]), (&value!(0.5), &value!(1)), "{half}");
    let width = |found: &Value, row: usize| {
        let time = &found["rows"][row]["time_s"];
        number(&time["high"]) - number(&time["low"])
    };
    assert!(width(&half, 1) < 0.6 * width(&json(&["estimate", log, "--executors=2,8", "--json"]), 1), "{half}");
    let saved: toml::Table = std::fs::read_to_string(&plan).unwrap().parse().unwrap();
    assert_eq!(saved["job"]["executors"].as_integer(), Some(8));
}
