//! The pages of a job and of a log, over HTTP: the numbers are those of the commands.

#![cfg(unix)]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::data;
use crate::remaining::Log;
use crate::serve::{HANGS, Server, printed, without_times, words};

pub(crate) const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\n[run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 1\n\
                      [[stage]]\nuses_partitions = true\ntasks = { per_mb = 0.140625 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 2 }\n\
                      distribution = { lognormal = { cv = 0.5 } }\n";

const LOG: &str = "tests/data/trace/sort-64mb.spark.gz";

/// A file in a new folder.
fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn asked(server: &Server, path: &str) -> Value {
    let answer = server.ask(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// The result of `estimate` for a saved plan, with the options of its first line.
fn of_toml(toml: &str) -> Value {
    let (_folder, path) = file("plan.toml", toml);
    let options = toml.lines().next().unwrap().strip_prefix("# tailspn estimate plan.toml").unwrap();
    let args: Vec<&str> = ["estimate", &path].into_iter().chain(options.split_whitespace()).chain(["--json"]).collect();
    printed(&args)
}

/// The copied plan has all changes of the page, of every kind of field.
#[test]
fn a_copied_plan_reproduces_the_digits() {
    let server = Server::start(&[]);
    let options = json!({
        "input-size": "3GB", "split-size": "96MB", "workers": "3", "map-slots": "2", "reduce-slots": "1", "reduces": "5",
        "stragglers": "0.2:2.5", "speculation": "r=0.5,p=0.9,dl=0.3", "deadline": "300s"
    });
    let answer = server.found("/job/estimate", &json!({ "options": options, "reps": 300, "seed": 11 }));
    let toml = answer["toml"].as_str().unwrap();
    let plan: toml::Table = toml.parse().unwrap();
    assert_eq!(plan["stragglers"]["share"].as_float(), Some(0.2), "{toml}");
    assert_eq!(plan["speculation"]["recall"].as_float(), Some(0.5), "{toml}");
    assert!(answer["result"]["deadline"]["simulated"]["value"].is_number());
    assert_eq!(without_times(of_toml(toml)), without_times(answer["result"].clone()));

    let (_folder, path) = file("stages.toml", STAGES);
    let server = Server::start(&[&path]);
    let options = json!({ "executors": "3", "partitions": "40", "speculation": "spark3", "deadline": "9s" });
    let answer = server.found("/job/estimate", &json!({ "options": options, "reps": 300, "seed": 2 }));
    assert!(answer["result"]["speculation"]["copies"].is_object(), "{}", answer["result"]);
    let toml = answer["toml"].as_str().unwrap();
    assert_eq!(toml.lines().next(), Some("# tailspn estimate plan.toml --reps=300 --seed=2"));
    assert_eq!(toml.parse::<toml::Table>().unwrap()["speculation"]["multiplier"].as_float(), Some(1.5), "{toml}");
    assert_eq!(without_times(of_toml(toml)), without_times(answer["result"].clone()));

    // such a plan has copies by itself, and its page can leave them out
    let (_folder, path) = file("copies.toml", toml);
    let server = Server::start(&[&path]);
    let start = asked(&server, "/job/start");
    let speculation =
        start["fields"].as_array().unwrap().iter().find(|field| field["option"] == "speculation").unwrap();
    assert_eq!((&speculation["hint"], &speculation["at"]), (&json!("now spark3"), &json!(2)));
    let without = server.found("/job/estimate", &json!({ "options": { "speculation": "none" }, "reps": 300 }));
    assert!(without["result"].get("speculation").is_none());
}

/// `estimate` takes both ends of every slider, and the place of the plan is the plan's value.
#[test]
fn every_slider_has_values_that_estimate_takes() {
    let (_folder, path) = file("stages.toml", STAGES);
    for args in [&[][..], &[&*path]] {
        let server = Server::start(args);
        let start = asked(&server, "/job/start");
        assert!(start["fields"].as_array().unwrap().len() > 5);
        let base = server.found("/job/estimate", &json!({ "reps": 2 }));
        for field in start["fields"].as_array().unwrap() {
            let choices: Vec<&str> =
                field["choices"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            let option = field["option"].as_str().unwrap();
            let at = |value: &str| server.found("/job/estimate", &json!({ "options": { option: value }, "reps": 2 }));
            choices.first().into_iter().chain(choices.last()).for_each(|value| drop(at(value)));
            if let Some(place) = field["at"].as_u64().filter(|_| !["map-slots", "reduce-slots"].contains(&option)) {
                let own = at(choices[usize::try_from(place).unwrap()]);
                assert_eq!(own["result"]["job_time"], base["result"]["job_time"], "{option}");
            }
        }
    }
}

#[test]
fn pictures_show_the_distribution_and_what_runs_when() {
    let server = Server::start(&["models/mapreduce/all-at-once.toml"]);
    let answer = server.found("/job/estimate", &json!({ "reps": 200 }));
    assert_eq!(words(&answer["pictures"], "name"), ["histogram", "cdf", "tail", "waterfall", "critical"]);
}

/// The same values differ by exactly 0, and other values by the difference of the means, far more precisely than each mean is known.
#[test]
fn pinned_values_are_compared_with_the_same_random_numbers() {
    let server = Server::start(&["models/mapreduce/all-at-once.toml"]);
    let ask = |options: Value, pinned: Value| {
        server.found("/job/estimate", &json!({ "options": options, "pinned": pinned, "reps": 400, "seed": 3 }))
    };
    let same = ask(json!({ "reduces": "30" }), json!({ "reduces": "30" }));
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or_else(|| panic!("{key}: {of}"));
    for key in ["difference_s", "low_s", "high_s"] {
        assert!(number(&same["pinned"], key).abs() < 1e-12, "{key}");
    }
    let other = ask(json!({ "workers": "8" }), json!({}));
    let pinned = &other["pinned"];
    let [now, before] = [&other["result"], &pinned["result"]].map(|result| &result["job_time"]["mean"]);
    let difference = number(pinned, "difference_s");
    let of_means = number(now, "value") - number(before, "value");
    assert!((difference - of_means).abs() < 1e-6 && difference != 0.0, "{difference} {of_means}");
    let half = 0.5 * (number(pinned, "high_s") - number(pinned, "low_s"));
    let alone = 0.5 * (number(now, "high") - number(now, "low"));
    assert!(half > 0.0 && half < alone, "{half} {alone}");
    assert!(pinned["picture"].as_str().unwrap().contains("pinned"));
    let expected =
        printed(&["estimate", "models/mapreduce/all-at-once.toml", "--reps", "400", "--seed", "3", "--json"]);
    assert_eq!(without_times(pinned["result"].clone()), without_times(expected));

    let (_folder, path) = file("stages.toml", STAGES);
    let server = Server::start(&[&path]);
    let stages = server.found(
        "/job/estimate",
        &json!({ "options": { "speculation": "spark4" }, "pinned": { "executors": "3" }, "reps": 300, "seed": 2 }),
    );
    assert_eq!(stages["pinned"]["pairs"], 300);
}

/// The progress of a search until it ends.
fn ended(server: &Server) -> Value {
    let started = Instant::now();
    loop {
        let state = asked(server, "/job/study");
        if state["is_running"] == false {
            return state;
        }
        assert!(started.elapsed() < HANGS, "{state}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_cheapest_size_is_that_of_optimize() {
    let (_folder, path) =
        file("job.toml", "[job]\ninput_mb = 1280\nreduces = 4\ndeadline_s = 500\n[model]\nslots = true\n");
    let server = Server::start(&[&path]);
    assert_eq!(server.ask("/job/study").status, 400);
    let plan = server.found("/job/estimate", &json!({ "reps": 2 }))["result"]["plan"].clone();
    let question = json!({ "plan": plan, "price": "0.40/node-hour", "seed": 5 });
    assert_eq!(server.found("/job/study", &question)["is_running"], true);
    let found = ended(&server);
    let expected = printed(&["study", &path, "--price", "0.40/node-hour", "--seed", "5", "--json"]);
    assert_eq!(found["answer"]["result"]["answer"], expected["answer"]);
    assert_eq!(found["answer"]["result"]["rows"], expected["rows"]);
    assert!(expected["answer"]["row"].is_u64(), "{expected}");

    // with Spark's copies, tasks that rarely take long need fewer executors
    let rare = format!(
        "[job]\ninput_mb = 64\nexecutors = 4\ncores = 1\ndeadline_s = 45\n[run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 1\n\
         [[stage]]\ntasks = {{ fixed = 40 }}\ncold = {{ fixed_s = 10 }}\nwarm = {{ fixed_s = 10 }}\n\
         distribution = {{ empirical = {{ samples = [{}11] }} }}\n",
        "1, ".repeat(99)
    );
    let (_folder, path) = file("rare.toml", &rare);
    let stages = Server::start(&[&path]);
    let search = |speculation: &str| {
        let question = json!({ "options": { "speculation": speculation }, "reps": 2 });
        let plan = stages.found("/job/estimate", &question)["result"]["plan"].clone();
        stages.found("/job/study", &json!({ "plan": plan, "price": "1/executor-hour" }));
        ended(&stages)["answer"]["result"].clone()
    };
    assert_eq!(search("none")["answer"]["found"], "none");
    let copies = search("spark3");
    assert!(copies["answer"]["row"].is_u64(), "{copies}");

    // the answer says what cannot be searched
    server.post("/job/study", &json!({ "plan": plan, "price": "much" }));
    let started = Instant::now();
    while server.ask("/job/study").status != 422 {
        assert!(started.elapsed() < HANGS);
    }
}

#[test]
fn one_search_runs_at_a_time_and_can_be_stopped() {
    let server = Server::start(&[]);
    // 16,000 maps, and a deadline that is met with a thousand workers only
    let plan = "[job]\ninput_mb = 1024000\ndeadline_s = 160\n";
    server.found("/job/study", &json!({ "plan": plan }));
    assert_eq!(server.post("/job/study", &json!({ "plan": plan })).status, 409);
    server.found("/job/study/stop", &json!({}));
    let started = Instant::now();
    while server.ask("/job/study").body.contains("\"is_running\":true") {
        assert!(started.elapsed() < HANGS);
        std::thread::sleep(Duration::from_millis(50));
    }
    // estimates were answered all the time, and another search may start
    server.found("/job/estimate", &json!({ "reps": 2 }));
    server.found("/job/study", &json!({ "plan": plan }));
    server.found("/job/study/stop", &json!({}));
}

#[test]
fn a_fitted_plan_has_fields_and_numbers() {
    let server = Server::start(&[LOG]);
    assert_eq!(server.ask("/job/start").status, 400, "there is no plan before the fit");
    assert_eq!(server.post("/job/estimate", &json!({})).status, 400);
    let fitted = server.found("/log/plan", &json!({}));
    let plan = fitted["plan"].as_str().unwrap();
    assert_eq!(plan, data(&["tool", "fit", LOG, "--save-plan", "-"]));
    let start = server.found("/job/start", &json!({ "plan": plan }));
    let fields = words(&start["fields"], "option");
    assert!(
        ["executors", "cores", "input-size", "speculation"].iter().all(|name| fields.contains(&(*name).to_owned()))
    );
    let options = json!({ "executors": "4", "input-size": "128MB" });
    let answer = server.found("/job/estimate", &json!({ "plan": plan, "options": options, "reps": 300, "seed": 4 }));
    let (_folder, path) = file("plan.toml", plan);
    let args = ["--executors", "4", "--input-size", "128MB", "--reps", "300", "--seed", "4", "--json"];
    let expected = printed(&["estimate", &path].into_iter().chain(args).collect::<Vec<_>>());
    assert_eq!(without_times(answer["result"].clone()), without_times(expected));
    let command = answer["command"].as_str().unwrap();
    assert!(command.starts_with("tailspn estimate tests/data/trace/sort-64mb.spark.gz --"), "{command}");
}

/// A log in the middle of its run has a time left, which changes as it grows, until the application has ended.
#[test]
fn a_growing_log_has_a_time_left() {
    let whole = Log::read(Path::new(LOG));
    let cut = whole.cut(0.6);
    let (_folder, path) = file("app.inprogress", &cut.text);
    let server = Server::start(&[&path]);
    let size = asked(&server, "/log/size");
    let left = server.found("/log/estimate", &json!({ "plan": null }));
    assert_eq!(left["is_final"], false);
    let expected = printed(&["estimate", &path, "--json"]);
    assert!(expected["median_s"].as_f64().unwrap() > 0.0 && expected["prediction_s"][1].is_number());
    assert_eq!(without_times(left["result"].clone()), without_times(expected.clone()));
    assert_eq!(asked(&server, "/log/size"), size);

    // with a plan, if it has the stages of the log
    let plan = data(&["tool", "fit", LOG, "--save-plan", "-"]);
    let (_folder, plan_path) = file("plan.toml", &plan);
    let left = server.found("/log/estimate", &json!({ "plan": plan }));
    let by_plan = printed(&["estimate", &path, &plan_path, "--json"]);
    assert_eq!(without_times(left["result"].clone()), without_times(by_plan));
    assert!(left["note"].is_null() && left["result"]["basis"] == "plan" && expected["basis"] != "plan", "{left}");
    let left = server.found("/log/estimate", &json!({ "plan": STAGES }));
    assert_eq!(without_times(left["result"].clone()), without_times(expected));
    assert!(left["note"].as_str().unwrap().starts_with("The plan is not used: "), "{}", left["note"]);

    let both = Server::start(&[&path, &plan_path]);
    let left = both.found("/1/log/estimate", &json!({ "plan": null }));
    assert_eq!(left["result"]["basis"], "plan");

    std::fs::write(&path, cut.text + &cut.rest).unwrap();
    assert_ne!(asked(&server, "/log/size"), size);
    // Spark renames the log at the end
    std::fs::rename(&path, path.strip_suffix(".inprogress").unwrap()).unwrap();
    let left = server.found("/log/estimate", &json!({ "plan": plan }));
    assert_eq!((&left["is_final"], &left["result"]["basis"]), (&json!(true), &json!("ended")));
    assert_eq!(server.ask("/log/start").status, 200);
}

#[test]
fn several_files_have_a_page_each_and_a_list() {
    let (_folder, plan) = file("<b>&.toml", STAGES);
    let server = Server::start(&["models/textbook/mm1k.xml", &plan, LOG]);
    let list = server.get(&server.page("/"), "");
    assert!(list.body.contains("&lt;b&gt;&amp;.toml</a>") && !list.body.contains("<b>"), "{}", list.body);
    assert!(["/1", "/2", "/3"].iter().all(|path| list.body.contains(&format!("\"{}\"", server.page(path)))));
    for (path, script) in [("/1", "net.js"), ("/2", "job.js"), ("/3", "log.js")] {
        let page = server.get(&server.page(path), "");
        assert!(page.status == 200 && page.body.contains(script), "{path}: {}", page.body);
        assert_eq!(server.get(path, "").status, 403);
    }
    assert_eq!(server.get(&server.page("/4"), "").status, 404);
    assert!(asked(&server, "/1/net/start")["view"]["marking"].is_array());
    assert!(words(&asked(&server, "/2/job/start")["fields"], "option").contains(&"executors".to_owned()));
    assert!(asked(&server, "/3/log/start")["timeline"].is_string());
    // the token of a question is in its header, here too
    assert_eq!(server.get(&server.page("/2/job/start"), "").status, 403);
    assert_eq!(server.ask("/job/start").status, 404);
}
