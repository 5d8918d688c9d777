//! `whatif` and `detectors` as a person sees them.

use crate::cli::{assert_shown, shown};

#[test]
fn help_of_whatif() {
    assert_shown!(shown(&["whatif", "--help"]));
}

#[test]
fn lists_detectors() {
    assert_shown!(shown(&["detectors"]));
    assert_shown!(shown(&["detectors", "--json"]));
}

#[test]
fn compares_the_default_policies() {
    assert_shown!(shown(&["whatif", "--reps=100", "--seed=1"]));
}

#[test]
fn sweeps_and_writes_csv() {
    let sweep = ["whatif", "--reps=20", "--sweep=lag=20,60", "--sweep=reservation=0.9,shared", "--csv"];
    let text = shown(&sweep);
    assert!(text.contains("job_time_difference,\"late, lag 60 s, shared\",s,"), "{text}");
    // one row of job times per policy: none, and three detectors with four variants
    assert_eq!(text.lines().filter(|line| line.starts_with("job_time,")).count(), 13);
}

#[test]
fn the_same_seed_prints_the_same_json_on_any_number_of_threads() {
    let json = |threads: &str| {
        let text = shown(&["whatif", "--reps=30", "--seed=9", "--json", threads]);
        assert!(text.starts_with("exit 0"), "{text}");
        text.lines().filter(|line| !line.contains("wall_s")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(json("--threads=1"), json("--threads=3"));
}

#[test]
fn draws_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.svg");
    let text = shown(&["whatif", "--reps=10", "--plot", file.to_str().unwrap()]);
    assert!(text.starts_with("exit 0"), "{text}");
    let picture = std::fs::read_to_string(&file).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("hierarchical") && picture.contains("energy"), "{picture}");
    let again = shown(&["whatif", "--reps=10", "--plot", file.to_str().unwrap()]);
    assert!(again.starts_with("exit 7") && again.contains("exists already"), "{again}");
}

#[test]
fn bad_plans_are_shown_where_they_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, "[noise]\nsigma = -1\n[[policy]]\nslots = 0\n").unwrap();
    let text = shown(&["whatif", file.to_str().unwrap()]);
    assert!(text.starts_with("exit 3"), "{text}");
    for part in
        ["`noise.sigma`: -1 is not a number from 0 to 5", "`policy[0].slots`: a share of 0 leaves no slot for tasks"]
    {
        assert!(text.contains(part), "{text}");
    }
    let sweep = shown(&["whatif", "--sweep=threshold=2"]);
    assert!(sweep.starts_with("exit 2") && sweep.contains("2 is not a share between 0 and 1"), "{sweep}");
    assert!(shown(&["whatif", "--reps=1"]).starts_with("exit 5"));
}
