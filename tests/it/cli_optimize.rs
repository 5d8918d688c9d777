//! `optimize` as a person uses it: the right point, no point, an open one, bad plans.

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{assert_shown, data, shown};

/// A folder with files in it.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| std::fs::write(folder.0.path().join(name), text).unwrap());
        folder
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// One map and one reduce without chance: the job takes 36 s and its last phase.
fn certain() -> String {
    let phases = ["load", "read", "to_gpu", "gpu", "to_host", "spill", "shuffle", "merge", "reduce"];
    let laws: String = phases.iter().map(|phase| format!("{phase} = \"deterministic\"\n")).collect();
    format!("[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n[model.distribution]\n{laws}")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&data(args)).unwrap()
}

/// Returns the row of the answer: the chosen one, or the next cheaper one.
fn row<'f>(found: &'f Value, which: &str) -> &'f Value {
    &found["rows"][found["answer"][which].as_u64().unwrap() as usize]
}

/// Returns what was found, and by which search.
fn found_by(found: &Value) -> [&str; 2] {
    [&found["answer"]["found"], &found["question"]["search"]].map(|word| word.as_str().unwrap())
}

#[test]
fn help_of_optimize() {
    assert_shown!(data(&["study", "--help"]));
}

/// Sixteen workers miss the deadline of the shipped plan by 2%, and 24 meet it by 7%.
#[test]
fn the_shipped_plan_finds_how_many_workers_are_needed() {
    let found = json(&["study", "models/mapreduce/deadline.toml", "--json"]);
    assert_eq!(found_by(&found), ["cheapest", "bisection"], "{found}");
    let (chosen, cheaper) = (row(&found, "row"), row(&found, "next_cheaper"));
    assert_eq!((&chosen["cost"]["value"], &cheaper["cost"]["value"]), (&24.0.into(), &16.0.into()), "{found}");
    assert!(chosen["time_s"]["high"].as_f64().unwrap() <= 125.0, "{chosen}");
    assert!(cheaper["time_s"]["low"].as_f64().unwrap() > 125.0, "{cheaper}");
}

/// Without chance every point is decided at the first look, and the cheapest is known.
#[test]
fn several_axes_are_searched_by_rising_cost() {
    let plan = "[sweep]\nbase = \"job.toml\"\nreplications = 10\n[optimize]\nmeasure = \"mean\"\ndeadline_s = 37.5\ncost = \"2 * (9 - reduce) + (8 - merge)\"\n\
                [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nfrom = 1\nto = 9\nfaster = \"down\"\n\
                [[axis]]\nkey = \"phases.means_s[7]\"\nname = \"merge\"\nfrom = 1\nto = 8\nfaster = \"down\"\n";
    let folder = Folder::new(&[("job.toml", &certain()), ("plan.toml", plan)]);
    let found = json(&["study", &folder.at("plan.toml"), "--json"]);
    // 45 s must fall by 7.5 s, so by 8 of whole ones: merge can give 7 of them, reduce the eighth
    assert_eq!(row(&found, "row")["set"], serde_json::json!({ "reduce": 8, "merge": 1 }), "{found}");
    assert_eq!((&row(&found, "row")["cost"]["value"], found_by(&found)[1]), (&9.0.into(), "rising"));
    assert_eq!(row(&found, "next_cheaper")["verdict"], "fails", "{found}");
    let table = data(&["study", &folder.at("plan.toml")]);
    assert_shown!(table);
    assert_shown!(data(&["study", &folder.at("plan.toml"), "--csv"]));
}

/// With means of 36 s plus the reduce time, a second costs 10 / reduce: 470, 390, 430 and 500 for 1 to 4 s; 5 s miss
/// the deadline.
const HOURS: &str = "[sweep]\nbase = \"job.toml\"\n[optimize]\nmeasure = \"mean\"\ndeadline_s = 40.5\ncost = \"100 * reduce\"\ncost_per_s = \"10 / reduce\"\n\
                     [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nfrom = 1\nto = 9\nfaster = \"down\"\n";

#[test]
fn costs_that_depend_on_the_time_are_compared_by_their_intervals() {
    let folder = Folder::new(&[("job.toml", &certain()), ("plan.toml", HOURS)]);
    let plan = folder.at("plan.toml");
    let found = json(&["study", &plan, "--json"]);
    assert_eq!(found_by(&found), ["cheapest", "comparison"], "{found}");
    assert!((row(&found, "row")["cost"]["value"].as_f64().unwrap() - 390.0).abs() < 1e-3, "{found}");
    assert_shown!(data(&["study", &plan]));
    // the same means of exponential delays: the cost is an interval around the same number
    std::fs::write(folder.at("job.toml"), "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
        .unwrap();
    let found = json(&["study", &plan, "--json"]);
    assert_eq!(row(&found, "row")["set"]["reduce"], 2, "{found}");
    let [low, value, high] = ["low", "value", "high"].map(|key| row(&found, "row")["cost"][key].as_f64().unwrap());
    assert!(low < 390.0 && 390.0 < high && low < value && value < high && high - low < 40.0, "{found}");
    // without a cost for the time the first that meets the deadline is taken, and it is another one
    let fixed = HOURS.replace("cost_per_s = \"10 / reduce\"\n", "");
    std::fs::write(&plan, fixed).unwrap();
    assert_eq!(row(&json(&["study", &plan, "--json"]), "row")["set"]["reduce"], 1);
}

#[test]
fn costs_of_time_that_cannot_be_compared_are_refused() {
    let told = |plan: &str, said: &str| {
        let folder = Folder::new(&[("job.toml", &certain()), ("plan.toml", plan)]);
        let text = shown(&["study", &folder.at("plan.toml")]);
        let flat = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("exit 3") && flat.contains(said), "{text}");
    };
    told(&HOURS.replace("10 / reduce", "2 - reduce"), "must not be negative");
    told(&HOURS.replace("10 / reduce", "10 / speed"), "unknown name `speed`");
    told(&HOURS.replace("10 / reduce", "10 /"), "the cost: expected a number");
    told(&HOURS.replace("cost = ", "search = \"rising\"\ncost = "), "needs `comparison`");
    told(
        &HOURS.replace("cost_per_s = \"10 / reduce\"", "search = \"comparison\""),
        "`comparison` needs a cost per second",
    );
}

const ONE: &str = "[sweep]\nbase = \"job.toml\"\n[optimize]\nmeasure = \"p90\"\ndeadline_s = 40\ncost = \"9 - reduce\"\nmax_replications = 2000\n\
                   [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nfrom = 1\nto = 9\nfaster = \"down\"\n";

#[test]
fn no_solution_and_an_undecided_search_have_their_exit_code() {
    let folder = Folder::new(&[("job.toml", &certain()), ("plan.toml", ONE)]);
    let plan = folder.at("plan.toml");
    assert!(data(&["study", &plan]).contains("reduce = 4, cost 5"));
    let none = shown(&["study", &plan, "--deadline=20s"]);
    assert!(none.starts_with("exit 8") && none.contains("No configuration meets the deadline"), "{none}");
    // exponential delays, and a deadline at the very quantile
    let chain = "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [0, 0, 0, 0, 0, 0, 0, 0, 9]\n";
    std::fs::write(folder.at("job.toml"), chain).unwrap();
    let quantile = 10_f64.ln().to_string();
    let one = ONE
        .replace("from = 1\nto = 9", "values = [1.0]")
        .replace("deadline_s = 40", &format!("deadline_s = {quantile}\nindifference = 0"));
    std::fs::write(&plan, one).unwrap();
    let open = shown(&["study", &plan]);
    assert!(open.starts_with("exit 8") && open.contains("Undecided: no configuration was shown"), "{open}");
    assert!(open.contains("undecided"), "{open}");
    assert!(shown(&["study", &plan, "--verbose"]).contains("2,000"));
}

#[test]
fn bad_plans_are_shown_where_they_are_wrong() {
    let told = |plan: &str| {
        let folder = Folder::new(&[("job.toml", &certain()), ("plan.toml", plan)]);
        shown(&["study", &folder.at("plan.toml")]).replace(folder.0.path().to_str().unwrap(), "")
    };
    assert_shown!(told("[optimize]\nmeasure = \"p95\"\n[[axis]]\nkey = \"job.reduces\"\nfrom = 1\nto = 4\n"));
    assert_shown!(told(
        "[optimize]\ndeadline_s = 3\ncost = \"nodes * speed\"\n[[axis]]\nkey = \"job.reduces\"\nfrom = 1\nto = 4\n"
    ));
    assert_shown!(told("[optimize]\ndeadline_s = 3\n[[axis]]\nkey = \"job.reducers\"\nfrom = 1\nto = 4\n"));
    assert_shown!(told(
        "[optimize]\ndeadline_s = 3\nsearch = \"bisection\"\n[[axis]]\nkey = \"job.reduces\"\nfrom = 1\nto = 4\n"
    ));
    assert!(shown(&["study"]).starts_with("exit 2"));
    assert!(shown(&["study", "nowhere.toml"]).starts_with("exit 7"));
}

const LOGS: [&str; 2] = ["tests/data/trace/sort-32mb.spark.gz", "tests/data/trace/sort-64mb.spark.gz"];

/// Logs, a deadline and a price in one command; the same from the plan that `fit` writes.
#[test]
fn logs_and_a_price_give_the_cheapest_size() {
    let price = ["--deadline", "60s", "--price", "$0.30/executor-hour", "--executors", "1..4"];
    assert_shown!(shown(&[&["study"][..], &LOGS, &price].concat()));
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml").to_str().unwrap().to_owned();
    assert!(shown(&[&["tool", "fit"][..], &LOGS, &["--save-plan", &plan]].concat()).starts_with("exit 0"));
    let of_logs = json(&[&["study"][..], &LOGS, &price, &["--json"]].concat());
    let of_plan = json(&[&["study", &plan][..], &price, &["--json"]].concat());
    assert_eq!(of_logs["rows"], of_plan["rows"]);
    assert_eq!(
        (&of_logs["question"]["price"], &of_logs["question"]["cost_unit"]),
        (&"$0.3/executor-hour".into(), &"$".into())
    );
}

#[test]
fn a_price_that_does_not_fit_and_a_deadline_that_is_not_met_have_exit_codes() {
    let with = |more: &[&str]| shown(&[&["study"][..], &LOGS, more].concat());
    let none = with(&["--deadline", "1s", "--executors", "1..4"]);
    assert!(
        none.starts_with("exit 8")
            && none
                .contains("No configuration meets the deadline. The configuration closest to the deadline:\nexecutors"),
        "{none}"
    );
    for (more, text) in [
        (&["--deadline", "1m", "--price", "1/node-hour"][..], "does not apply to a job of stages"),
        (&["--price", "1/core-hour"], "--deadline TIME"),
        (&["--deadline", "1m", "--price", "cheap"], "is not a price"),
        (&["--deadline", "1m", "--workers", "1..4"], "--workers"),
        (&["--deadline", "1m", "--executors", "4..1"], "is descending"),
    ] {
        let wrong = with(more);
        assert!(wrong.starts_with("exit 2") && wrong.contains(text), "{more:?}: {wrong}");
    }
    let plan = shown(&["study", "models/mapreduce/deadline.toml", "--price", "1/node-hour"]);
    assert!(plan.starts_with("exit 2") && plan.contains("cost_per_s"), "{plan}");
    let net = shown(&["study", "tests/data/trace/alibaba-2017.csv", "--deadline", "1m"]);
    assert!(net.contains("which `tailspn study` does not accept"), "{net}");
}
