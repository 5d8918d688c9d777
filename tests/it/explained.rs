//! Tests of `estimate` with schedules made by hand: tasks that share a worker, critical chains, changes, assumptions.

use crate::cli_sweep::{Folder, json};

/// Constant phases: read, map (CPU), GPU.
fn plan(maps: u32, [read, map, gpu]: [f64; 3], node: &str) -> String {
    let phases = ["load", "read", "map", "to_gpu", "gpu", "to_host", "spill", "shuffle", "merge", "reduce"];
    let constant: String = phases.iter().map(|phase| format!("{phase} = \"deterministic\"\n")).collect();
    format!(
        "[phases]\nmeans_s = [0, {read}, {map}, {gpu}, 0, 0, 0, 0, 0]\nmaps = {maps}\nreduces = 0\n[[cluster.node]]\n{node}\n\
         [model.distribution]\n{constant}"
    )
}

fn estimate(text: &str) -> serde_json::Value {
    let folder = Folder::new(&[("job.toml", text)]);
    json(&["estimate", &folder.at("job.toml"), "--reps=4", "--json"])
}

fn number(value: &serde_json::Value, path: &str) -> f64 {
    value.pointer(path).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{path}: {value}"))
}

#[track_caller]
fn takes(text: &str, exact_s: f64) -> serde_json::Value {
    let found = estimate(text);
    let mean = number(&found, "/job_time/mean/value");
    assert!((mean - exact_s).abs() < 2e-6, "{mean} instead of {exact_s}");
    found
}

/// Four maps in four slots of one worker.
#[test]
fn tasks_on_a_worker_take_as_long_as_their_schedule_made_by_hand() {
    let alone = "map_slots = 4\ngpus = 0\n";
    // alone: 5 s + 10 s
    takes(&plan(4, [5.0, 10.0, 0.0], alone), 15.0);
    // two cores for four maps: half speed
    takes(&plan(4, [5.0, 10.0, 0.0], &format!("{alone}host_cores = 2")), 5.0 + 20.0);
    // four reads share the disk until 20
    takes(&plan(4, [5.0, 10.0, 0.0], &format!("{alone}disk = \"shared\"")), 20.0 + 10.0);
    takes(&plan(4, [5.0, 10.0, 0.0], &format!("{alone}host_cores = 2\ndisk = \"shared\"")), 20.0 + 20.0);
    // nothing uses the network, unless the plan says so
    takes(&plan(4, [5.0, 10.0, 0.0], &format!("{alone}network = \"shared\"")), 15.0);
    let network = plan(4, [5.0, 10.0, 0.0], &format!("{alone}network = \"shared\""));
    takes(&network.replace("[[cluster", "uses.read = \"network\"\n[[cluster"), 20.0 + 10.0);
    // one GPU, held after the map function: 2, then four times 3; two GPUs: two rounds
    takes(&plan(4, [0.0, 2.0, 3.0], "map_slots = 4\ngpus = 1"), 2.0 + 12.0);
    takes(&plan(4, [0.0, 2.0, 3.0], "map_slots = 4\ngpus = 2"), 2.0 + 6.0);
    // the copy to the GPU holds it, too
    let copies = plan(4, [0.0, 2.0, 3.0], "map_slots = 4\ngpus = 1").replace("maps = 4", "maps = 4\ncopy_s = 1");
    takes(&copies, 1.0 + 16.0);
}

/// The last of four maps: 2 s of map function, 9 s of waiting for the GPU, 3 s on it.
#[test]
fn critical_chains_name_the_waits() {
    let found = takes(&plan(4, [0.0, 2.0, 3.0], "map_slots = 4\ngpus = 1"), 14.0);
    let phase = |name: &str| {
        let phases = found["phases"].as_array().unwrap();
        number(phases.iter().find(|phase| phase["name"] == name).unwrap(), "/critical/time/value")
    };
    assert!((phase("map") - 2.0).abs() < 2e-6 && (phase("gpu") - 3.0).abs() < 2e-6, "{found}");
    assert_eq!(found["waits"][0]["name"], "wait for a GPU");
    assert!((number(&found, "/waits/0/critical/time/value") - 9.0).abs() < 2e-6, "{found}");
    // shared cores: 10 s of work take 20 s
    let shared = takes(&plan(4, [0.0, 10.0, 0.0], "map_slots = 4\ngpus = 0\nhost_cores = 2"), 20.0);
    assert_eq!(shared["waits"][0]["name"], "shared cores");
    assert!((number(&shared, "/waits/0/critical/time/value") - 10.0).abs() < 2e-6, "{shared}");
}

/// Four maps of 10 s on two slots. With two workers, they take one wave instead of two; with three slots, two waves.
#[test]
fn an_added_worker_saves_the_time_of_a_wave() {
    let found = takes(&plan(4, [0.0, 10.0, 0.0], "map_slots = 2\ngpus = 0"), 20.0);
    let changes = found["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!((&changes[0]["what"], &changes[0]["option"]), (&"2 workers, not 1".into(), &"--workers 2".into()));
    assert!((number(&changes[0], "/saves/value") - 10.0).abs() < 2e-6, "{changes:?}");
    assert_eq!((number(&found, "/slot_use/0/waves"), number(&found, "/slot_use/0/busy")), (2.0, 1.0));
}

/// A plan with one measured value: the other nine are named, and so are exponential phases. A plan that lists them as measured assumes nothing.
#[test]
fn assumed_values_are_named() {
    let found = estimate("[profile]\nmap_cpu_s = 12\n");
    let values: Vec<&str> =
        found["assumed"]["values"].as_array().unwrap().iter().filter_map(|key| key.as_str()).collect();
    assert_eq!(values.len(), 9);
    assert!(!values.contains(&"profile.map_cpu_s") && values.contains(&"profile.map_gpu_s"));
    // the same job with constant phases
    let phases = ["load", "read", "to_gpu", "gpu", "to_host", "spill", "shuffle", "merge", "reduce"];
    let constant: String = phases.iter().map(|phase| format!("{phase} = \"deterministic\"\n")).collect();
    let still = estimate(&format!("[profile]\nmap_cpu_s = 12\n[model.distribution]\n{constant}"));
    let without = number(&found, "/assumed/without_spread_s");
    assert!((number(&still, "/job_time/mean/value") - without).abs() < 1e-5, "{without}");
    assert!(still["assumed"]["without_spread_s"].is_null());
    let measured = "measured = ['input_mb', 'maps', 'map_data_mb', 'map_output_mb', 'reduce_output_mb', 'spilled_records', 'load_s', \
                    'map_cpu_s', 'map_gpu_s', 'reduce_cpu_s', 'distribution']\n";
    let all = estimate(&format!("[profile]\n{measured}"));
    assert!(all["assumed"]["values"].as_array().unwrap().is_empty() && all["assumed"]["without_spread_s"].is_null());
}

/// Two stages without spread, on two executors; `more` is a part of `[job]`.
fn stages(more: &str, first: &str, second: &str) -> String {
    format!(
        "[job]\ninput_mb = 1\nexecutors = 2\ncores = 1\n{more}\n[run]\nsigma = 0\ndegrees_of_freedom = 1\nruns = 1\n\
         [[stage]]\nname = \"first\"\ndistribution = \"deterministic\"\n{first}\n\
         [[stage]]\nname = \"second\"\nafter = [0]\ndistribution = \"deterministic\"\n{second}\n"
    )
}

fn parts(found: &serde_json::Value) -> Vec<(&str, f64)> {
    let part = |part: &'_ serde_json::Value| number(part, "/critical/time/value");
    found["parts"].as_array().unwrap().iter().map(|row| (row["name"].as_str().unwrap(), part(row))).collect()
}

fn are(found: &[(&str, f64)], exact: &[(&str, f64)]) {
    let close =
        |((name, time), (exact, exact_s)): (&(&str, f64), &(&str, f64))| name == exact && (time - exact_s).abs() < 1e-5;
    assert!(found.len() == exact.len() && found.iter().zip(exact).all(close), "{found:?} instead of {exact:?}");
}

/// On two slots, 8 tasks of 10 s take 40 s. Then each slot runs a task of 7 s and one of 5 s: 12 s. Three executors need 30 s + 12 s.
#[test]
fn stages_are_explained_as_their_waves_say() {
    let eight = "tasks = { fixed = 8 }\ncold = { fixed_s = 10 }\nwarm = { fixed_s = 10 }";
    let four = "tasks = { fixed = 4 }\ncold = { fixed_s = 7 }\nwarm = { fixed_s = 5 }";
    let found = estimate(&stages("", eight, four));
    assert!((number(&found, "/usual_mean/value") - 52.0).abs() < 1e-5, "{found}");
    are(&parts(&found), &[("0 first", 40.0), ("1 second", 12.0)]);
    assert!((number(&found, "/slot_use/0/busy") - 1.0).abs() < 1e-5);
    assert_eq!((number(&found, "/slot_use/0/slots"), number(&found, "/slot_use/0/waves")), (2.0, 6.0));
    let saves: Vec<(&str, f64)> = found["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["what"].as_str().unwrap(), number(row, "/saves/value")))
        .collect();
    are(&saves, &[("3 executors, not 2", 10.0), ("no warm-up: all tasks as fast as those on warm executors", 2.0)]);
    // 40 MB in four partitions: twice 1 s + 0.4 s/MB · 10 MB; in two: 9 s
    let four = "uses_partitions = true\ntasks = { fixed = 4 }\ndata_mb = { fixed = 40 }\n\
                cold = { fixed_s = 1, per_mb_s = 0.4 }\nwarm = { fixed_s = 1, per_mb_s = 0.4 }";
    let found = estimate(&stages("", eight, four));
    let last = found["changes"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["what"], &last["option"]), (&"2 partitions, not 4".into(), &"--partitions 2".into()));
    assert!((number(last, "/saves/value") - 1.0).abs() < 1e-5, "{last}");
}

/// Two tasks on one executor with one GPU: 2.5 s, 5 s on the GPU, 2.5 s. The second waits for 5 s.
#[test]
fn waits_of_a_stage_for_a_gpu_are_a_part_of_the_time() {
    let gpu = "gpus_per_executor = 1\nconcurrent_gpu_tasks = 1";
    let two = "gpu = 0.5\ntasks = { fixed = 2 }\ncold = { fixed_s = 10 }\nwarm = { fixed_s = 10 }";
    let one = "tasks = { fixed = 1 }\ncold = { fixed_s = 1 }\nwarm = { fixed_s = 1 }";
    let text = stages(gpu, two, one).replace("executors = 2\ncores = 1", "executors = 1\ncores = 2");
    let found = estimate(&text);
    are(&parts(&found), &[("0 first", 10.0), ("1 second", 1.0), ("wait for a GPU", 5.0)]);
    let change = &found["changes"][0];
    assert_eq!(change["what"], "2 executors, not 1", "{found}");
    let permits = found["changes"].as_array().unwrap().iter().find(|row| row["option"] == "--concurrent-gpu-tasks 2");
    assert!((number(permits.unwrap(), "/saves/value") - 5.0).abs() < 1e-5);
}

/// The followed runs are the first runs of the same seed, so their parts add up to their mean time; the set-ups are what the stages show.
#[test]
fn parts_of_random_runs_add_up_to_their_mean() {
    let tasks = "setup_s = 3\ntasks = { fixed = 8 }\ncold = { fixed_s = 10 }\nwarm = { fixed_s = 9 }";
    let text = stages("teardown_s = 2", tasks, tasks).replace("\"deterministic\"", "\"exponential\"");
    let folder = Folder::new(&[("job.toml", &text)]);
    let found = json(&["estimate", &folder.at("job.toml"), "--reps=100", "--json"]);
    let parts = parts(&found);
    let names: Vec<&str> = parts.iter().map(|part| part.0).collect();
    assert_eq!(names, ["before the first tasks", "between stages", "0 first", "1 second", "after the last task"]);
    let sum: f64 = parts.iter().map(|part| part.1).sum();
    assert!((sum - number(&found, "/usual_mean/value")).abs() < 1e-4, "{found}");
    assert!((parts[0].1 - number(&found, "/stages/0/start/value")).abs() < 1e-4, "{found}");
    let between = number(&found, "/stages/1/start/value") - number(&found, "/stages/0/end/value");
    assert!((parts[1].1 - between).abs() < 1e-4, "{found}");
}
