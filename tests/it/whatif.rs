//! `whatif` and `tool detectors` as a person sees them.

use tailspn::fit::replay;
use tailspn::trace::{Attempt, JobTrace, Metric, ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::cli::{assert_shown, shown, unwrapped};
use crate::shared::shared;

#[test]
fn help_of_whatif() {
    assert_shown!(shown(&["whatif", "--help"]));
}

#[test]
fn lists_detectors() {
    assert_shown!(shown(&["tool", "detectors"]));
    assert_shown!(shown(&["tool", "detectors", "--json"]));
}

#[test]
fn compares_the_default_policies() {
    assert_shown!(shown(&["whatif", "--demo", "--reps=100", "--seed=1"]));
}

#[test]
fn sweeps_and_writes_csv() {
    let sweep = ["whatif", "--demo", "--reps=20", "--sweep=lag=20,60", "--sweep=reservation=0.9,shared", "--csv"];
    let text = shown(&sweep);
    assert!(text.contains("job_time_difference,\"late, lag 60 s, shared\",s,"), "{text}");
    // one row of job times per policy: none, and three detectors with four variants
    assert_eq!(text.lines().filter(|line| line.starts_with("job_time,")).count(), 13);
}

#[test]
fn the_same_seed_prints_the_same_json_on_any_number_of_threads() {
    let json = |threads: &str| {
        let text = shown(&["whatif", "--demo", "--reps=30", "--seed=9", "--json", threads]);
        assert!(text.starts_with("exit 0"), "{text}");
        text.lines().filter(|line| !line.contains("wall_s")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(json("--threads=1"), json("--threads=3"));
}

#[test]
fn draws_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.svg");
    let text = shown(&["whatif", "--demo", "--reps=10", "--plot", file.to_str().unwrap()]);
    assert!(text.starts_with("exit 0"), "{text}");
    let picture = std::fs::read_to_string(&file).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("hierarchical") && picture.contains("energy"), "{picture}");
    let again = shown(&["whatif", "--demo", "--reps=10", "--plot", file.to_str().unwrap()]);
    assert!(again.starts_with("exit 7") && again.contains("already exists"), "{again}");
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
    let sweep = shown(&["whatif", "--demo", "--sweep=threshold=2"]);
    assert!(sweep.starts_with("exit 2") && sweep.contains("2 is not a share between 0 and 1"), "{sweep}");
    assert!(shown(&["whatif", "--demo", "--reps=1"]).starts_with("exit 5"));
}

/// A log of several jobs, cut to one: the same stages, tasks, times and counters; `whatif` replays the one that `--job` names.
#[test]
fn one_job_of_several_is_replayed() {
    let Some(folder) = shared("data/logs/hadoop-rumen/rumen/small-trace-test") else { return };
    let log = folder.join("folder-input-trace.json.gz");
    let all = read(&log, &ReadOptions::default(), &Unwatched).unwrap();
    assert!(all.applications.len() > 50);
    let row = |trace: &JobTrace, attempt: &Attempt| {
        let stage = trace.stage(attempt.stage).unwrap();
        let executor = trace.executor_of(attempt).map(|executor| executor.id.clone());
        let values: Vec<(Metric, f64)> = trace.values(attempt).collect();
        (stage.number, stage.kind, attempt.task, attempt.launch(), attempt.finish(), executor, values)
    };
    for (id, application) in all.applications_with_ids() {
        let one = all.clone().into_application(id);
        assert_eq!(one.applications, std::slice::from_ref(application));
        let own: Vec<_> = one.attempts().iter().map(|attempt| row(&one, attempt)).collect();
        let expected: Vec<_> = all.attempts_of_application(id).iter().map(|attempt| row(&all, attempt)).collect();
        assert_eq!(own, expected, "{}", application.id);
        assert_eq!(one.jobs.len(), all.jobs_of(id).len());
        assert_eq!(one.stages.len(), all.stages_of(id).len());
    }
    let path = log.to_str().unwrap();
    assert!(shown(&["whatif", path]).starts_with("exit 3"));
    let none = shown(&["whatif", path, "--job", "job_1"]);
    assert!(none.starts_with("exit 3") && none.contains("no job `job_1`"), "{none}");
    let done =
        all.applications_with_ids().find(|(id, _)| replay(&all.clone().into_application(*id)).is_ok()).unwrap().1;
    let text = shown(&["whatif", path, "--job", &done.id, "--reps", "20", "--verbose"]);
    assert!(text.starts_with("exit 0") && text.contains("Advice: "), "{text}");
    let plan = shown(&["whatif", "--demo", "--job", "job_1"]);
    assert!(plan.starts_with("exit 2") && plan.contains("--job applies only to a log"), "{plan}");
}

/// All executors of these runs share one host: no policy can change them, and the advice says so.
#[test]
fn on_one_host_nothing_can_change() {
    let Some(folder) = shared("data/logs/spark-elastic") else { return };
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let log = files.into_iter().find(|file| tailspn::trace::is_log(file)).unwrap();
    let text = unwrapped(&shown(&["whatif", log.to_str().unwrap(), "--reps", "5"]));
    assert!(text.contains("No policy can help: all tasks ran on one host"), "{text}");
}
