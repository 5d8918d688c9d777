//! Spark on GPUs: a made log whose waits are known, through `why`, `fit` and `estimate`; and the log with GPU measures that there is.

use serde_json::{Value, json};
use tailspn::stages::{GpuTask, GpuTimes, share_gpus};

use crate::cli::data;
use crate::shared::shared;

/// Tasks of an executor, which runs four at a time.
const TASKS: usize = 60;
const SLOTS: u32 = 4;
const BEGIN: u64 = 1_760_000_000_000;

/// The tasks of two executors: 6 to 10 s without waits, six tenths of it on the GPU.
fn tasks(executor: usize) -> Vec<GpuTask> {
    let one = |i: usize| {
        let whole_s = 6.0 + ((i * 7 + executor * 3) % 17) as f64 / 4.0;
        GpuTask { from_s: 1.0, before_s: 0.2 * whole_s, hold_s: 0.6 * whole_s, after_s: 0.2 * whole_s }
    };
    (0..TASKS).map(one).collect()
}

fn ended(permits: u32) -> Vec<Vec<GpuTimes>> {
    (0..2).map(|executor| share_gpus(&tasks(executor), SLOTS, permits)).collect()
}

fn last_s(times: &[Vec<GpuTimes>]) -> f64 {
    times.iter().flatten().map(|times| times.end_s).fold(0.0, f64::max)
}

fn clock(seconds: f64) -> String {
    let millis = (1000.0 * seconds).round() as u64;
    format!("{:02}:{:02}:{:02}.{:03}", millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60, millis % 1000)
}

/// The event log of a job of one stage with two permits.
fn log() -> (tempfile::TempDir, String) {
    let at = |seconds: f64| BEGIN + (1000.0 * seconds).round() as u64;
    let times = ended(2);
    let end = at(last_s(&times));
    let stage = json!({"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "maps", "Number of Tasks": 2 * TASKS, "Parent IDs": [],
        "RDD Info": [], "Submission Time": at(0.9)});
    let properties = json!({"spark.executor.cores": "4", "spark.plugins": "com.nvidia.spark.SQLPlugin", "spark.rapids.sql.concurrentGpuTasks": "2",
        "spark.executor.resource.gpu.amount": "1", "spark.task.resource.gpu.amount": "0.25"});
    let mut events = vec![
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"}),
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "gpus", "App ID": "app-1", "Timestamp": BEGIN, "User": "u"}),
    ];
    for executor in 0..2 {
        events.push(
            json!({"Event": "SparkListenerExecutorAdded", "Timestamp": BEGIN + 100, "Executor ID": executor.to_string(),
            "Executor Info": {"Host": format!("h{executor}"), "Total Cores": SLOTS}}),
        );
    }
    events.push(json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": at(0.9), "Stage IDs": [0], "Properties": {}}));
    events.push(json!({"Event": "SparkListenerStageSubmitted", "Stage Info": stage}));
    let mut ends: Vec<(u64, Value)> = Vec::new();
    for (executor, times) in times.iter().enumerate() {
        for (i, (task, times)) in tasks(executor).iter().zip(times).enumerate() {
            let id = executor * TASKS + i;
            let measure = |name: &str, seconds: f64| json!({"ID": id, "Name": name, "Update": clock(seconds), "Value": clock(seconds)});
            let info = |end: u64| {
                json!({"Task ID": id, "Index": id, "Attempt": 0, "Launch Time": at(times.start_s), "Executor ID": executor.to_string(),
                    "Host": format!("h{executor}"), "Locality": "ANY", "Speculative": false, "Getting Result Time": 0, "Finish Time": end,
                    "Failed": false, "Killed": false,
                    "Accumulables": [measure("gpuSemaphoreWait", times.wait_s), measure("gpuTime", task.hold_s)]})
            };
            ends.push((
                at(times.start_s),
                json!({"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": info(0)}),
            ));
            ends.push((at(times.end_s), json!({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
                "Task End Reason": {"Reason": "Success"}, "Task Info": info(at(times.end_s)),
                "Task Metrics": {"Executor Run Time": 1000, "Input Metrics": {"Bytes Read": 134_217_728, "Records Read": 1000}}})));
        }
    }
    ends.sort_by_key(|end| end.0);
    events.extend(ends.into_iter().map(|end| end.1));
    let mut done = stage.clone();
    done["Completion Time"] = json!(end);
    events.push(json!({"Event": "SparkListenerStageCompleted", "Stage Info": done}));
    events.push(json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": end, "Job Result": {"Result": "JobSucceeded"}}));
    events.push(json!({"Event": "SparkListenerApplicationEnd", "Timestamp": end}));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app-1");
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

fn json_of(args: &[&str]) -> Value {
    serde_json::from_str(&data(args)).unwrap()
}

#[test]
fn waits_for_gpu_permits_are_read_and_predicted() {
    let (_folder, log) = log();
    let wait_s: f64 = ended(2).iter().flatten().map(|times| times.wait_s).sum();
    let trace = json_of(&["why", &log, "--json", "--quiet"]);
    let gpu = &trace["run"]["stages"][0]["gpu"];
    let number = |key: &str| gpu[key].as_f64().unwrap();
    assert!((number("wait_s") - wait_s).abs() < 0.1 && wait_s > 100.0, "{gpu} {wait_s}");
    assert!((number("predicted_wait_s") / wait_s - 1.0).abs() < 0.03, "{gpu} {wait_s}");
    assert_eq!((gpu["permits"].as_u64(), gpu["retries"].as_u64()), (Some(2), None));
    assert_eq!(trace["advice"][0]["cause"], "gpu-wait", "{}", trace["advice"]);
    // a log without GPUs says nothing of them
    let without = json_of(&["why", "tests/data/trace/sort-32mb.spark.gz", "--json", "--quiet"]);
    assert!(without["run"]["stages"].as_array().unwrap().iter().all(|stage| stage.get("gpu").is_none()));
}

/// Fitted without the waits, simulated with them: the job as it was, and with more permits, GPUs and fewer cores.
#[test]
fn job_times_with_other_gpu_permits_are_predicted() {
    let (folder, log) = log();
    let plan = folder.path().join("plan.toml");
    let plan = plan.to_str().unwrap();
    data(&["tool", "fit", &log, "--save-plan", plan, "--quiet"]);
    let text = std::fs::read_to_string(plan).unwrap();
    for line in ["gpus_per_executor = 1", "concurrent_gpu_tasks = 2", "gpus_per_task = 0.25", "gpu = 0.6"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let mean = |options: &[&str]| {
        let args = [&["estimate", plan, "--json", "--quiet", "--reps", "200"], options].concat();
        json_of(&args)["usual_mean"]["value"].as_f64().unwrap_or_else(|| panic!("{}", data(&args)))
    };
    for (options, permits) in [
        (&[][..], 2),
        (&["--concurrent-gpu-tasks", "3"], 3),
        (&["--gpus-per-executor", "2"], 4),
        (&["--concurrent-gpu-tasks", "1"], 1),
    ] {
        let (found, made) = (mean(options), last_s(&ended(permits)) - 0.9);
        assert!((found / made - 1.0).abs() < 0.08, "{options:?}: {found} {made}");
    }
    let refused = crate::cli::tool(&["estimate", plan, "--backend", "cpu"]).output().unwrap();
    assert!(String::from_utf8(refused.stderr).unwrap().contains("only simulated task by task"));
}

/// The log of a job that ran out of GPU memory, read from where it is kept: what it says of waits, and what is predicted.
#[test]
fn a_log_with_measures_of_gpus_is_compared_with_its_prediction() {
    let Some(folder) = shared("data/logs/spark-event-logs/spark-rapids-tools/spark-events-profiling") else { return };
    let trace = json_of(&["why", folder.join("gpu_oom_eventlog.zstd").to_str().unwrap(), "--json", "--quiet"]);
    let stages = trace["run"]["stages"].as_array().unwrap();
    let gpus: Vec<_> = stages.iter().filter_map(|stage| Some((stage["number"].as_u64()?, stage.get("gpu")?))).collect();
    assert_eq!(gpus.iter().map(|gpu| gpu.0).collect::<Vec<_>>(), [31, 34, 35]);
    for (number, gpu) in gpus {
        let value = |key: &str| gpu[key].as_f64().unwrap();
        let ratio = value("predicted_wait_s") / value("wait_s");
        println!("stage {number}: logged {:.0} s, predicted {:.0} s", value("wait_s"), value("predicted_wait_s"));
        // part of the logged wait is for memory
        assert!((0.3..1.1).contains(&ratio) && value("retry_s") > 0.5 * value("wait_s"), "{gpu}");
    }
}
