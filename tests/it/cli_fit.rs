//! `fit`, and `estimate` of what it wrote, as a person sees them.

use std::io::Read as _;

use flate2::read::GzDecoder;
use tailspn::ask::{EstimateJob as _, EstimatedJob};
use tailspn::plan::JobPlan;
use tailspn::report::{Answer, AnyReport, Report as _, read_json};

use crate::cli::{assert_shown, data, shown, tool, without_next};

const SMALL: &str = "tests/data/trace/sort-32mb.spark.gz";
const LARGER: &str = "tests/data/trace/sort-64mb.spark.gz";
const SPECULATION: &str = "tests/data/trace/speculation.spark.gz";

#[test]
fn help_of_fit() {
    assert_shown!(shown(&["tool", "fit", "--help"]));
}

#[test]
fn fits_and_estimates_at_another_size() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let plan = plan.to_str().unwrap();
    assert_shown!(shown(&["tool", "fit", SMALL, LARGER, "--save-plan", plan]));
    assert!(shown(&["tool", "fit", SMALL, "--save-plan", plan]).starts_with("exit 7"));
    let output = tool(&["estimate", plan, "--input-size", "128M", "--executors", "4", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["kind"].as_str(), json["input_mb"].as_f64()), (Some("estimate_stages"), Some(128.0)));
    assert_eq!(json["stages"][0]["tasks"].as_u64(), Some(8));
    let ends = &json["prediction_s"];
    assert!(ends[0].as_f64().unwrap() < json["median_s"].as_f64().unwrap());
    let net = folder.path().join("net.xml");
    let text = shown(&["estimate", plan, "--reps", "200", "--csv", "--save-net", net.to_str().unwrap()]);
    assert!(text.starts_with("exit 0") && text.contains("job_time,p95,s,"), "{text}");
    let text = shown(&["net", "check", net.to_str().unwrap()]);
    assert!(text.starts_with("exit 0"), "{text}");
    // more slots than tasks, two on a host as before: the first wave is all there is
    let more = tool(&["estimate", plan, "--executors", "16", "--hosts", "8", "--json"]).output().unwrap();
    let more: serde_json::Value = serde_json::from_slice(&more.stdout).unwrap();
    assert!(more["median_s"].as_f64().unwrap() < json["median_s"].as_f64().unwrap());
}

/// Logs in place of a plan: the same numbers as from the plan that `fit` writes, for Spark and for Hadoop.
#[test]
fn logs_are_estimated_in_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml").to_str().unwrap().to_owned();
    let hadoop = ["tests/data/trace/plain-unions.jhist", "tests/data/trace/count_conf.xml"];
    for logs in [&[SMALL, LARGER][..], &[SMALL], &hadoop] {
        assert!(shown(&[&["tool", "fit", "--force", "--save-plan", &plan], logs].concat()).starts_with("exit 0"));
        let more = ["--input-size", "3x", "--seed", "3", "--reps", "300", "--csv"];
        let numbers = |args: &[&str]| {
            let text = data(&[&["estimate"], args, &more].concat());
            text.lines().filter(|line| !line.starts_with("time_cost")).map(str::to_owned).collect::<Vec<_>>()
        };
        let found = numbers(logs);
        assert!(found.len() > 20);
        assert_eq!(found, numbers(&[&plan]), "{logs:?}");
    }
    assert_shown!(shown(&["estimate", SMALL, LARGER, "--executors", "4"]));
}

#[test]
fn inputs_that_cannot_be_estimated_are_refused() {
    let job = "models/mapreduce/default-job.toml";
    for (args, said) in [
        (&[job, SMALL][..], "2 files, but the first is not a log"),
        (&[job, "--job", "nightly"], "--job applies only to logs"),
        (&[job, "--app", "app-1"], "--app applies only to logs"),
        (&["--demo", "--log-input-size", "1GB"], "--log-input-size applies only to logs"),
        (&[SMALL, "--log-input-size", "1GB", "--log-input-size", "2GB"], "2 input sizes for 1"),
        (&[job, "--gpu-permits", "8,16"], "digits may be grouped by `_`, as in 10_000"),
    ] {
        let text = shown(&[&["estimate"], args].concat());
        assert!(text.starts_with("exit 2") && text.contains(said), "{text}");
    }
    let google = shown(&["estimate", "tests/data/trace/google-2011.csv"]);
    assert!(google.contains("which `tailspn estimate` does not accept") && google.contains("`why`"), "{google}");
}

/// A run of 64 MB whose last job fails after its second stage: its size follows from what the stages have read, and the plan has the size of the complete
/// run.
#[test]
fn a_run_that_failed_is_used_as_far_as_it_went() {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(LARGER).unwrap()).read_to_string(&mut text).unwrap();
    let is_late = |line: &&str| {
        let of_last = line.contains(r#""Stage ID":2,"#) && !line.contains("SparkListenerJobStart");
        !of_last && !line.contains("SparkListenerApplicationEnd")
    };
    let kept: Vec<&str> = text.lines().filter(is_late).collect();
    let failed = kept.join("\n");
    let end = failed.rfind("JobSucceeded").unwrap();
    let failed = format!("{}JobFailed{}", &failed[..end], &failed[end + "JobSucceeded".len()..]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("failed.log");
    std::fs::write(&log, failed).unwrap();
    let log = log.to_str().unwrap();
    let output = tool(&["tool", "fit", log, SMALL, "--json", "--quiet"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (part, whole) = (&found["runs"][0], &found["runs"][1]);
    assert!(part["job_s"].is_null() && part["model_s"].is_null() && whole["model_s"].is_f64(), "{}", found["runs"]);
    assert_eq!((part["input_mb"].as_f64().unwrap().round(), whole["input_mb"].as_f64().unwrap().round()), (64.0, 32.0));
    assert_eq!(found["own_run"]["runs"].as_array().unwrap().len(), 1);
    let notes = found["notes"].to_string();
    assert!(notes.contains("failed or has not ended; 2 of 3 stages"), "{notes}");
    // a run of another folder's table has the same stages by position, and its size by what it read
    assert!(notes.contains("its input is assumed to be 64.00 MB, by what these stages have read"), "{notes}");
    let alone = shown(&["tool", "fit", log, "--quiet"]);
    assert!(alone.starts_with("exit 3") && alone.contains("a job failed or did not finish, and no other"), "{alone}");
    // without its end, the same stages are known
    let cut = std::fs::read_to_string(log).unwrap();
    let open: Vec<&str> = cut.lines().filter(|line| !line.contains("JobFailed")).collect();
    std::fs::write(log, open.join("\n")).unwrap();
    let output = tool(&["tool", "fit", log, SMALL, "--json", "--quiet"]).output().unwrap();
    let again: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(again["stages"], found["stages"]);
    // a run without a stage that succeeded is left out, with a note
    let early: Vec<&str> =
        cut.lines().filter(|line| !line.contains("StageCompleted") && !line.contains("JobEnd")).collect();
    std::fs::write(log, early.join("\n")).unwrap();
    let output = tool(&["tool", "fit", log, SMALL, "--json", "--quiet"]).output().unwrap();
    let without: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(without["runs"].as_array().unwrap().len(), 1);
    assert!(without["notes"].to_string().contains("no stage succeeded: left out"), "{}", without["notes"]);
}

#[test]
fn the_library_estimates_a_plan_of_stages_as_the_tool_does() {
    let text = data(&["tool", "fit", SMALL, "--save-plan", "-"]);
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, &text).unwrap();
    let estimate = |more: &[&str]| {
        let args = [&["estimate", plan.to_str().unwrap(), "--json"], more].concat();
        serde_json::from_slice::<serde_json::Value>(&tool(&args).output().unwrap().stdout).unwrap()
    };
    let same = |job: &EstimatedJob, printed: serde_json::Value| {
        let found: serde_json::Value = serde_json::to_value(&Answer::of_job(job).unwrap().result).unwrap();
        for key in ["mean_s", "median_s", "prediction_s", "usual_mean"] {
            assert_eq!(found[key], printed[key], "{key}");
        }
    };
    let plan = || JobPlan::from_toml(&text).unwrap();
    same(&plan().estimate().unwrap(), estimate(&[]));
    same(&plan().estimation().replications(100).run().unwrap(), estimate(&["--reps", "100"]));
}

#[test]
fn invalid_logs_sizes_and_plans_have_their_exit_codes() {
    let one = shown(&["tool", "fit", "tests/data/trace/alibaba-2017.csv"]);
    assert!(one.starts_with("exit 3"), "{one}");
    let other = shown(&["tool", "fit", SMALL, SPECULATION, "--input-size", "32M", "--input-size", "1G"]);
    assert!(other.starts_with("exit 3") && other.contains("these are not runs of"), "{other}");
    let sizes = shown(&["tool", "fit", SMALL, LARGER, "--input-size", "1G"]);
    assert!(sizes.starts_with("exit 2"), "{sizes}");
    let twice = shown(&["tool", "fit", SMALL, SMALL]);
    assert!(twice.starts_with("exit 2") && twice.contains("are logs of the same run"), "{twice}");
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let text = String::from_utf8(tool(&["tool", "fit", SMALL, "--save-plan", "-"]).output().unwrap().stdout).unwrap();
    std::fs::write(&plan, text.replace("executors = 2", "executors = 0")).unwrap();
    let plan = plan.to_str().unwrap();
    let wrong = shown(&["estimate", plan]);
    assert!(wrong.starts_with("exit 3") && wrong.contains("job.executors"), "{wrong}");
    std::fs::write(plan, text).unwrap();
    let vast = shown(&["estimate", plan, "--input-size", "900T"]);
    assert!(vast.starts_with("exit 2") && vast.contains("with these options, `stage["), "{vast}");
    let exact = shown(&["estimate", plan, "--method", "exact"]);
    assert!(exact.starts_with("exit 5"), "{exact}");
    let no_plan = shown(&["estimate", "--demo", "--executors", "3"]);
    assert!(no_plan.starts_with("exit 2"), "{no_plan}");
}

const HISTORY: &str = "tests/data/trace/plain-unions.jhist";
const SETTINGS: &str = "tests/data/trace/count_conf.xml";

#[test]
fn a_job_plan_from_a_history_and_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("job.toml");
    let path = plan.to_str().unwrap();
    assert_shown!(shown(&["tool", "fit", HISTORY, SETTINGS, "--save-plan", path]));
    assert_shown!(std::fs::read_to_string(&plan).unwrap());
    let text = shown(&["estimate", path, "--reps", "500", "--csv"]);
    assert!(text.starts_with("exit 0"), "{text}");
    let output = tool(&["tool", "fit", "tests/data/trace/small.rumen.json", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["kind"].as_str(), json["plan"]["profile"]["maps"].as_u64()), (Some("fit_job"), Some(2)));
}

#[test]
fn inputs_that_cannot_be_combined_are_refused() {
    let wrong = |args: &[&str], exit: &str, said: &str| {
        let text = shown(args);
        assert!(text.starts_with(exit) && text.contains(said), "{args:?}: {text}");
    };
    wrong(&["tool", "fit", SETTINGS], "exit 2", "configuration without a log");
    wrong(&["tool", "fit", HISTORY, HISTORY], "exit 2", "logs of the same run");
    wrong(&["tool", "fit", SMALL, SETTINGS], "exit 2", "apply only to MapReduce logs");
    wrong(&["tool", "fit", SMALL, "--job", "job_1"], "exit 2", "apply only to MapReduce logs");
    wrong(&["tool", "fit", HISTORY, SETTINGS, SETTINGS], "exit 2", "2 configurations");
    wrong(&["tool", "fit", HISTORY, "--job", "job_9_9"], "exit 3", "no job `job_9_9`");
    wrong(
        &["tool", "fit", HISTORY, "models/textbook/mm1k.xml"],
        "exit 3",
        "is a net, which `tailspn tool fit` does not",
    );
}

/// Two stages on two slots: 3 tasks of 1 s, then 2 of 0.5 s on average.
const STAGES: &str = "[job]\nname = \"two\"\ninput_mb = 30\nexecutors = 2\ncores = 1\n\
                      [run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 1\n\
                      [[stage]]\nname = \"a\"\ntasks = { per_mb = 0.1 }\ncold = { fixed_s = 1 }\nwarm = { fixed_s = 1 }\ndistribution = \"LAW\"\n\
                      [[stage]]\nname = \"b\"\nafter = [0]\ntasks = { fixed = 2 }\ncold = { fixed_s = 0.5 }\nwarm = { fixed_s = 0.5 }\ndistribution = \"LAW\"\n";

/// Mean time to the end of the job, by the exact methods on the exported net.
fn solved(net: &str) -> f64 {
    let output = tool(&["net", "solve", net, "--until", "#(finished) >= 1", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", crate::cli::show(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    json["passage"]["mean_s"].as_f64().unwrap()
}

#[test]
fn the_net_of_a_plan_of_stages_is_one_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plan, net) = (file("plan.toml"), file("net.xml"));
    std::fs::write(&plan, STAGES.replace("LAW", "exponential")).unwrap();
    let text = shown(&["net", "spn-gc", &plan, "--save-net", &net]);
    assert!(text.starts_with("exit 0") && text.contains("places"), "{text}");
    // three on two slots: 1/2 + 1/2 + 1; two of half a second: 1/4 + 1/2
    assert!((solved(&net) - 2.75).abs() < 1e-9, "{}", solved(&net));
    // at twice the input six tasks: 5/2 + 1, then as before
    let larger = file("larger.xml");
    shown(&["net", "spn-gc", &plan, "--input-size", "60M", "--save-net", &larger]);
    assert!((solved(&larger) - 4.25).abs() < 1e-9, "{}", solved(&larger));
    // with Erlang tasks the exact mean is within the simulation's interval of five standard errors
    std::fs::write(&plan, STAGES.replace("\"LAW\"", "{ erlang = 2 }")).unwrap();
    let erlang = file("erlang.xml");
    shown(&["net", "spn-gc", &plan, "--save-net", &erlang]);
    let output = tool(&["estimate", &plan, "--reps", "40000", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (mean, high) = (json["usual_mean"]["value"].as_f64().unwrap(), json["usual_mean"]["high"].as_f64().unwrap());
    let error = (high - mean) / 1.645;
    assert!((mean - solved(&erlang)).abs() < 5.0 * error && error < 0.002 * mean, "{mean} {error} {}", solved(&erlang));
    let refused = shown(&["net", "spn-gc", &plan, "--maps", "3", "--save-net", &file("no.xml")]);
    assert!(refused.starts_with("exit 2") && refused.contains("--maps"), "{refused}");
    let refused = shown(&["net", "spn-gc", "--executors", "3", "--save-net", &file("no.xml")]);
    assert!(refused.starts_with("exit 2"), "{refused}");
}

#[test]
fn copies_shorten_a_planned_job_with_rare_long_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let law = "{ empirical = { samples = [1, 1, 1, 1, 1, 1, 1, 1, 1, 11] } }";
    let text =
        STAGES.replace("\"LAW\"", law).replace("per_mb = 0.1", "per_mb = 2").replace("executors = 2", "executors = 8");
    std::fs::write(&plan, text).unwrap();
    let plan = plan.to_str().unwrap();
    let json = |speculation: &str| -> serde_json::Value {
        let args = ["estimate", plan, "--reps", "1000", "--json", "--speculation", speculation];
        serde_json::from_slice(&tool(&args).output().unwrap().stdout).unwrap()
    };
    let (none, spark) = (json("none"), json("spark3"));
    assert!(none.get("speculation").is_none());
    let number = |section: &str, key: &str| spark["speculation"][section][key].as_f64().unwrap();
    assert!(number("change_s", "high") < -1.0 && number("copies", "value") > 1.0);
    assert!(spark["median_s"].as_f64().unwrap() < none["median_s"].as_f64().unwrap() - 1.0);
    // without copies the same tasks take the same times
    let (alone, without) = (none["usual_mean"]["value"].as_f64().unwrap(), number("without_s", "value"));
    assert!((alone - without).abs() < 1e-5, "{alone} {without}");
    assert!(shown(&["estimate", plan, "--speculation", "quantile=2"]).starts_with("exit 2"));
    assert!(shown(&["estimate", "--demo", "--speculation", "spark4"]).starts_with("exit 2"));
}

#[test]
fn a_log_is_replayed_under_other_policies() {
    assert_shown!(shown(&["whatif", SPECULATION, "--reps", "50"]));
    let text = data(&["whatif", SPECULATION, "--reps", "50", "--json"]);
    let AnyReport::WhatIfLog(read) = read_json(&text).unwrap() else { panic!("{text}") };
    assert_eq!(without_next(&read.json().unwrap()), without_next(&text));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((json["kind"].as_str(), json["policies"][0]["name"].as_str()), (Some("whatif_log"), Some("none")));
    let folder = tempfile::tempdir().unwrap();
    let policies = folder.path().join("policies.toml");
    std::fs::write(&policies, "[[policy]]\ndetector = { kind = \"late\" }\nlag_s = 1\n").unwrap();
    let csv = shown(&["whatif", SMALL, "--policies", policies.to_str().unwrap(), "--reps", "20", "--csv"]);
    assert!(csv.starts_with("exit 0") && csv.contains("job_time,late,s,") && csv.contains("job_time,none,s,"), "{csv}");
    assert!(shown(&["whatif", "--demo", "--policies", policies.to_str().unwrap()]).starts_with("exit 2"));
    std::fs::write(&policies, "[job]\ninput_mb = 640\n").unwrap();
    for command in [&["whatif", SMALL][..], &["tool", "detectors", "--on", SMALL]] {
        let refused = shown(&[command, &["--policies", policies.to_str().unwrap()]].concat());
        assert!(refused.starts_with("exit 2") && refused.contains("policies.toml` has no policies"), "{refused}");
    }
    assert!(shown(&["whatif", "tests/data/trace/google-2011.csv"]).starts_with("exit 3"));
}

/// Runs of other programs teach the cluster in one command.
#[test]
fn an_estimate_learns_from_other_programs_as_a_fit_does() {
    let folder = tempfile::tempdir().unwrap();
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/trace");
    let [small, other] = ["sort-32mb.spark.gz", "sort-64mb.spark.gz"].map(|name| format!("{trace}/{name}"));
    let run = |args: &[&str]| {
        let output = tool(args).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["tool", "fit", &small, "--alongside", &other, "--save-plan", "p.toml"]);
    let csv = |args: &[&str]| run(&[args, &["--executors", "2,8", "--reps", "200", "--csv"]].concat());
    let in_one = csv(&["estimate", &small, "--alongside", &other]);
    assert_eq!(in_one, csv(&["estimate", "p.toml"]));
}
