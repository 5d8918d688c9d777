//! `fit`, and `estimate` of what it wrote, as a person sees them.

use crate::cli::{assert_shown, shown, tool};

const SMALL: &str = "tests/data/trace/sort-32mb.spark.gz";
const LARGER: &str = "tests/data/trace/sort-64mb.spark.gz";
const SPECULATION: &str = "tests/data/trace/speculation.spark.gz";

#[test]
fn help_of_fit() {
    assert_shown!(shown(&["fit", "--help"]));
}

#[test]
fn fits_and_estimates_at_another_size() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let plan = plan.to_str().unwrap();
    assert_shown!(shown(&["fit", SMALL, LARGER, "-o", plan]));
    assert!(shown(&["fit", SMALL, "-o", plan]).starts_with("exit 7"));
    let output = tool(&["estimate", plan, "--input-size", "128M", "--executors", "4", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["kind"].as_str(), json["input_mb"].as_f64()), (Some("estimate_stages"), Some(128.0)));
    assert_eq!(json["stages"][0]["tasks"].as_u64(), Some(8));
    let ends = &json["prediction_s"];
    assert!(ends[0].as_f64().unwrap() < json["median_s"].as_f64().unwrap());
    let net = folder.path().join("net.xml");
    let text = shown(&["estimate", plan, "--reps", "200", "--csv", "--export", net.to_str().unwrap()]);
    assert!(text.starts_with("exit 0") && text.contains("job_time,p95,s,"), "{text}");
    let text = shown(&["check", net.to_str().unwrap()]);
    assert!(text.starts_with("exit 0"), "{text}");
    // more slots than tasks: the first wave is all there is
    let more = tool(&["estimate", plan, "--executors", "16", "--json"]).output().unwrap();
    let more: serde_json::Value = serde_json::from_slice(&more.stdout).unwrap();
    assert!(more["median_s"].as_f64().unwrap() < json["median_s"].as_f64().unwrap());
}

#[test]
fn says_what_is_wrong() {
    let one = shown(&["fit", "tests/data/trace/small.rumen.json"]);
    assert!(one.starts_with("exit 4"), "{one}");
    let other = shown(&["fit", SMALL, SPECULATION, "--input-size", "32M", "--input-size", "1G"]);
    assert!(other.starts_with("exit 4") && other.contains("these are not runs of"), "{other}");
    let sizes = shown(&["fit", SMALL, LARGER, "--input-size", "1G"]);
    assert!(sizes.starts_with("exit 2"), "{sizes}");
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let text = String::from_utf8(tool(&["fit", SMALL, "-o", "-"]).output().unwrap().stdout).unwrap();
    std::fs::write(&plan, text.replace("executors = 2", "executors = 0")).unwrap();
    let plan = plan.to_str().unwrap();
    let wrong = shown(&["estimate", plan]);
    assert!(wrong.starts_with("exit 3") && wrong.contains("job.executors"), "{wrong}");
    std::fs::write(plan, text).unwrap();
    let vast = shown(&["estimate", plan, "--input-size", "900T"]);
    assert!(vast.starts_with("exit 2") && vast.contains("at this size"), "{vast}");
    let exact = shown(&["estimate", plan, "--method", "exact"]);
    assert!(exact.starts_with("exit 5"), "{exact}");
    let no_plan = shown(&["estimate", "--executors", "3"]);
    assert!(no_plan.starts_with("exit 2"), "{no_plan}");
}
