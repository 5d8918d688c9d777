//! `tailspn net solve` as a person sees it.

use std::path::Path;

use serde_json::Value;

use crate::cli::{assert_shown, data, show, shown, tool};

#[test]
fn help_of_solve() {
    assert_shown!(data(&["net", "solve", "--help"]));
}

#[test]
fn solve_shows_states_verdicts_and_the_long_run() {
    assert_shown!(shown(&[
        "net",
        "solve",
        "models/textbook/mm1k.xml",
        "--at",
        "5",
        "--steady",
        "--measure",
        "full=#(queue) >= 5"
    ]));
}

/// The JSON of a run that must succeed.
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&data(&[args, &["--json"]].concat())).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn solve_shows_the_time_to_a_goal() {
    let mut found = json(&["net", "solve", "models/textbook/forkjoin_retry.xml", "--at", "2,5"]);
    let curve = found["passage"].as_object_mut().unwrap().remove("curve").unwrap();
    assert_shown!(serde_json::to_string_pretty(&found).unwrap());
    // the area above the curve is the mean, but for the thousandth part of the runs beyond its end
    let points: Vec<[f64; 2]> =
        curve.as_array().unwrap().iter().map(|p| [number(&p["time_s"]), number(&p["probability"])]).collect();
    assert!(points.len() == 121 && points.is_sorted_by(|a, b| a[0] < b[0] && a[1] <= b[1]), "{points:?}");
    let area: f64 = points.windows(2).map(|w| (w[1][0] - w[0][0]) * (1.0 - 0.5 * (w[0][1] + w[1][1]))).sum();
    let mean = number(&found["passage"]["mean_s"]);
    assert!(area < mean && mean - area < 0.005 * mean, "{area} {mean}");
    assert_shown!(shown(&["net", "solve", "models/textbook/mm1k.xml", "--until", "#(queue) >= 5", "--csv"]));
}

/// The values are those of the same nets folded by hand, by another program.
#[test]
fn jobs_with_slots_are_solved_by_counting() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("job.xml").to_string_lossy().into_owned();
    let of_slots = |[map, reduce]: [&str; 2]| {
        data(&[
            "net",
            "spn-gc",
            "--slots",
            "--map-slots",
            map,
            "--reduce-slots",
            reduce,
            "--force",
            "--save-net",
            &net,
        ]);
        let found = json(&["net", "solve", &net]);
        let time = &found["passage"];
        let quantile = |i: usize| number(&time["quantiles"][i]["value"]);
        let numbers = [number(&time["mean_s"]), number(&time["sd_s"]), quantile(3), quantile(4)];
        (found["folded"]["states"].as_u64().unwrap(), numbers, time["cdf_method"].as_str().unwrap().to_owned())
    };
    let close = |found: [f64; 4], known: [f64; 4]| {
        let is_close = |(x, y): (&f64, &f64)| (x - y).abs() <= 0.0101 && (x - y).abs() <= 1e-3 * y;
        assert!(found.iter().zip(&known).all(is_close), "{found:?} is not {known:?}");
    };
    let (states, numbers, method) = of_slots(["2", "1"]);
    assert_eq!((states, method.as_str()), (76_723, "a cosine series"));
    close(numbers, [380.57, 21.478, 434.98, 456.85]);
    let (states, numbers, method) = of_slots(["4", "2"]);
    assert_eq!((states, method.as_str()), (718_363, "a cosine series"));
    close(numbers, [212.40, 15.465, 254.62, 274.50]);
}

#[test]
fn solve_draws_the_distribution() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("time.svg");
    let path = file.to_string_lossy();
    let net = "models/textbook/mm1k.xml";
    let goal = ["net", "solve", net, "--until", "#(queue) >= 5", "--plot-cdf", &path];
    let p99 = number(&json(&goal)["passage"]["quantiles"][3]["value"]);
    let picture = std::fs::read_to_string(&file).unwrap();
    assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
    for text in ["mm1k: time to #(queue) &gt;= 5", "time [s]", "probability that it is less", "mean", "p50", "p95"] {
        assert!(picture.contains(text), "no {text}");
    }
    assert!(picture.contains(&format!("{p99:.3} s")), "no {p99}");
    assert_eq!(tool(&goal).output().unwrap().status.code(), Some(7), "an existing file is not replaced");
    // no time, no picture
    let none = folder.path().join("none.svg");
    assert_shown!(shown_without_data(&["net", "solve", net, "--plot-cdf", &none.to_string_lossy()]));
    assert!(!none.exists());
}

/// Output of a run apart from its data.
fn shown_without_data(args: &[&str]) -> String {
    let mut output = tool(args).output().unwrap();
    output.stdout.clear();
    show(&output)
}

/// Writes the net of a job, and returns its path.
fn job(folder: &Path, name: &str, plan: &str, args: &[&str]) -> String {
    let (plan_file, net) = (folder.join(format!("{name}.toml")), folder.join(format!("{name}.xml")));
    std::fs::write(&plan_file, plan).unwrap();
    let net = net.to_string_lossy().into_owned();
    let options = ["net", "spn-gc", "-q", &plan_file.to_string_lossy(), "--save-net", &net];
    data(&[&options[..], args].concat());
    net
}

#[test]
fn a_schedule_with_too_many_states_is_solved_by_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let net = job(folder.path(), "job", "[job]\nname = \"large\"\n", &[]);
    let found = json(&["net", "solve", &net, "--until", "dead", "--at", "80,100"]);
    assert_eq!(found["method"]["used"], "series-parallel");
    assert!(found["method"]["no_states"].as_str().unwrap().starts_with("more than 10,000 states"));
    // the closed form of the same job knows nothing of nets
    let exact = json(&["estimate", "models/mapreduce/all-at-once.toml", "--method", "exact"]);
    let passage = &found["passage"];
    let [low, high] = [0, 1].map(|i| number(&passage["mean_bounds_s"][i]));
    let mean = number(&exact["analytic"]["mean"]);
    assert!(low <= mean && mean <= high && high - low < 0.01, "{low} {mean} {high}");
    let quantiles = exact["analytic"]["quantiles"].as_array().unwrap();
    for (exact, own) in quantiles.iter().zip(passage["quantiles"].as_array().unwrap()) {
        let [exact, low, high] = [&exact["value"], &own["low"], &own["high"]].map(number);
        assert!(low <= exact && exact <= high && high - low < 0.01, "{low} {exact} {high}");
    }
    let by_100 = &passage["cdf"][1];
    assert!(number(&by_100["low"]) <= 0.86994 && 0.86993 <= number(&by_100["high"]), "{by_100}");
    let picture = folder.path().join("job.svg");
    assert_shown!(shown(&["net", "solve", &net, "--plot-cdf", &picture.to_string_lossy()]));
    assert!(std::fs::read_to_string(picture).unwrap().contains("<polygon"), "the bounds are drawn");
}

#[test]
fn both_methods_agree_on_a_small_schedule() {
    let folder = tempfile::tempdir().unwrap();
    let net = job(folder.path(), "job", "", &["--maps", "3", "--reduces", "2"]);
    let states = json(&["net", "solve", &net, "--at", "30", "--until", "dead"]);
    assert_eq!(
        (states["method"]["used"].as_str(), &states["method"]["no_series_parallel"]),
        (Some("states"), &Value::Null)
    );
    let parts = json(&["net", "solve", &net, "--at", "30", "--until", "dead", "--method", "series-parallel"]);
    assert!(parts["state_space"].is_null() && parts["passage"]["states"].is_null());
    let [states, parts] = [&states["passage"], &parts["passage"]];
    let exact = number(&states["mean_s"]);
    assert!(number(&parts["mean_bounds_s"][0]) <= exact && exact <= number(&parts["mean_bounds_s"][1]));
    for list in ["quantiles", "cdf"] {
        let key = if list == "cdf" { "probability" } else { "value" };
        for (exact, own) in states[list].as_array().unwrap().iter().zip(parts[list].as_array().unwrap()) {
            let [exact, low, high] = [&exact[key], &own["low"], &own["high"]].map(number);
            assert!(low <= exact + 1e-9 && exact <= high + 1e-9 && high - low < 0.01, "{low} {exact} {high}");
        }
    }
}

#[test]
fn delays_without_states_are_solved_by_parts() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "[phases]\nmaps = 2\nreduces = 1\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]\n[model.distribution]\ngpu = \"deterministic\"\n";
    let net = job(folder.path(), "fixed", plan, &[]);
    let found = json(&["net", "solve", &net]);
    assert_eq!(found["method"]["used"], "series-parallel");
    assert!(found["method"]["no_states"].as_str().unwrap().contains("is deterministic"), "{}", found["method"]);
    let refused = shown_without_data(&["net", "solve", &net, "--method", "states"]);
    assert!(refused.starts_with("exit 5") && refused.contains("is deterministic"), "{refused}");
}

#[test]
fn a_net_without_parts_names_its_transition() {
    assert_shown!(shown(&["net", "solve", "models/textbook/mm1k.xml", "--method", "series-parallel"]));
    let other = ["net", "solve", "models/textbook/small_job.xml", "--method", "series-parallel", "--steady"];
    assert_shown!(shown(&other));
}

#[test]
fn solve_keeps_what_it_found_when_a_limit_ends_it() {
    assert_shown!(shown(&["net", "solve", "models/textbook/kanban.xml", "--max-states", "20"]));
}

#[test]
fn the_reachability_graph_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let tandem = "models/textbook/tandem_blocking.xml";
    data(&["net", "solve", tandem, "--export-svg", &path("g.svg"), "--draw-vanishing"]);
    let picture = std::fs::read_to_string(path("g.svg")).unwrap();
    let count = |what: &str| picture.matches(what).count();
    // three tangible markings and a vanishing one, as in the DOT file of the same net
    assert_eq!((count("class=\"box"), count("box vanishing"), count("class=\"head\"")), (4, 1, 5));
    assert!(picture.contains(">serve_second 1.3</text>") && picture.contains("<title>tandem"), "{picture}");
    // too large for a picture, not for Graphviz
    let net = job(folder.path(), "job", "", &["--maps", "4", "--reduces", "2"]);
    assert_shown!(shown_without_data(&["net", "solve", &net, "--export-svg", &path("large.svg")]));
    assert!(!Path::new(&path("large.svg")).exists());
    data(&["net", "solve", &net, "--export-dot", &path("large.dot")]);
}

#[test]
fn the_coverability_graph_of_an_unbounded_net_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let [dot, svg] = ["c.dot", "c.svg"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
    let explosion = "tests/data/cli/explosion.xml";
    let output = tool(&["net", "solve", explosion, "--export-dot", &dot, "--export-svg", &svg]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(5) && said.contains("c.svg` is the coverability graph, in which ω"), "{said}");
    let text = std::fs::read_to_string(dot).unwrap();
    assert!(text.contains("s1 [label=\"1: ω heap\"]") && text.contains("s0 -> s1 [label=\"grow\"]"), "{text}");
    assert!(std::fs::read_to_string(svg).unwrap().contains(">1: ω heap</text>"));
}

#[test]
fn a_response_time_begins_where_it_is_told() {
    let net = "models/textbook/mm1k.xml";
    let found = json(&["net", "solve", net, "--from", "#(queue) == 1", "--until", "#(queue) == 0"]);
    // a busy period, by renewal: (1 - p_0) / (λ p_0) with p_0 = 243/665 and λ = 2 /s
    let exact = (1.0 - 243.0 / 665.0) / (2.0 * 243.0 / 665.0);
    assert!((number(&found["passage"]["mean_s"]) / exact - 1.0).abs() < 1e-12, "{}", found["passage"]["mean_s"]);
    assert_eq!(found["passage"]["goal"], "#(queue) == 0 from #(queue) == 1");
    assert_shown!(shown_without_data(&["net", "solve", net, "--from", "#(queue) > 7", "--until", "#(queue) == 0"]));
    let tandem = "models/textbook/tandem_blocking.xml";
    assert_shown!(shown_without_data(&[
        "net",
        "solve",
        tandem,
        "--from",
        "#(waiting) == 3",
        "--until",
        "#(waiting) + #(done) == 3"
    ]));
}

#[test]
fn questions_that_a_net_cannot_answer() {
    let asked = |net: &str, args: &[&str]| shown(&[&["net", "solve", net, "--csv"], args].concat());
    // unbounded, with the steady state asked for
    assert_shown!(asked("tests/data/cli/explosion.xml", &["--steady"]));
    // it stops, so there is no steady state
    assert_shown!(asked("models/textbook/forkjoin_retry.xml", &["--steady", "-q"]));
    // a rate falls to 0, another one is always 0
    assert_shown!(asked("tests/data/cli/fading.xml", &[]));
    assert_shown!(asked("tests/data/cli/fading.xml", &["--steady"]));
    assert_shown!(shown(&["net", "solve", "tests/data/cli/fading.xml"]));
    // all rates are 0
    assert_shown!(asked("tests/data/cli/all-rates-zero.xml", &["--steady"]));
    // immediate transitions forever
    assert_shown!(asked("tests/data/cli/loop.xml", &[]));
}

#[test]
fn solve_exports_dot_matrix_market_and_prism() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (dot, mtx, prism) = (path("g.dot"), path("g.mtx"), path("g"));
    let all = ["net", "solve", "models/textbook/tandem_blocking.xml", "--export-dot", &dot, "--draw-vanishing"];
    data(&[&all[..], &["--export-mtx", &mtx, "--export-prism", &prism]].concat());
    let files = ["g.dot", "g.mtx", "g.sta", "g.tra", "g.lab"];
    let texts = files.map(|name| format!("--- {name}\n{}", std::fs::read_to_string(path(name)).unwrap()));
    assert_shown!(texts.concat());
    let again = tool(&all).output().unwrap();
    assert_eq!(again.status.code(), Some(7), "an existing file is not replaced");
}

/// M/D/1/5 in a file, through the command: the departures' own chain gives the probabilities.
#[test]
fn solves_a_queue_with_fixed_service_times() {
    let value = json(&["net", "solve", "tests/data/cli/md1k.xml", "--steady"]);
    assert_eq!(value["method"]["used"], "fixed-delays");
    let rows = value["steady"]["tokens"].as_array().unwrap();
    let mean = rows.iter().find(|row| row["name"] == "queue").unwrap()["value"].as_f64().unwrap();
    // arrivals at 0.45/s, service takes 2 s, room for 5
    assert!((mean - 2.1247004612282305).abs() < 1e-8, "{mean}");
    assert!(value["steady"]["error"].as_f64().unwrap() < 1e-9);
    // the queue is empty after 3 s if nobody came, or one customer during the first second
    let value = json(&["net", "solve", "tests/data/cli/md1k.xml", "--at", "3"]);
    let rows = value["at"][0]["distributions"].as_array().unwrap();
    let queue = rows.iter().find(|row| row["name"] == "queue").unwrap();
    let empty = queue["probabilities"][0].as_f64().unwrap();
    assert!((empty - 1.45 * f64::exp(-1.35)).abs() < 1e-13, "{empty}");
}

/// The probability of the goal is 1 - (1 - 0) with a rounding that gives -0.
#[test]
fn zero_has_no_sign() {
    let Some(folder) = crate::shared::shared("data/regressions") else { return };
    let path = folder.join("negative-zero.xml").display().to_string();
    for form in [&[][..], &["--json"], &["--csv"]] {
        let text = data(&[&["net", "solve", &path, "--until", "dead"], form].concat());
        let minus = text.split(|c: char| !(c.is_ascii_digit() || "-.e".contains(c))).find(|word| {
            word.starts_with('-') && word[1..].starts_with('0') && word.parse::<f64>().is_ok_and(|value| value == 0.0)
        });
        assert_eq!(minus, None, "{text}");
    }
}
