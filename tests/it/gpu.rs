//! GPUs from the command line: the numbers of the CPU, and the messages if there is no GPU. The tests need an adapter;
//! see README.

use serde_json::Value;

use crate::cli::{assert_shown, data, show, shown, tool, unwrapped};

/// Name of an adapter that works: `$TAILSPN_ADAPTER`, otherwise the best.
pub(crate) fn adapter() -> String {
    let found: Value = serde_json::from_str(&data(&["tool", "devices", "--json"])).unwrap();
    let wanted = std::env::var("TAILSPN_ADAPTER").unwrap_or_default().to_lowercase();
    let adapters = found["adapters"].as_array().unwrap();
    let usable = adapters.iter().filter(|adapter| adapter["usable"] == true);
    let mut names = usable.filter_map(|adapter| adapter["name"].as_str());
    let name = names.find(|name| name.to_lowercase().contains(&wanted));
    name.unwrap_or_else(|| panic!("no adapter can be used: {found}")).to_owned()
}

/// Output of the tool on a system without a driver.
fn shown_without_drivers(args: &[&str]) -> String {
    let mut command = tool(args);
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.env(name, "/nonexistent");
    }
    show(&command.output().unwrap())
}

#[test]
fn help_of_devices_and_bench() {
    assert_shown!(data(&["tool", "devices", "--help"]));
    assert_shown!(data(&["tool", "bench", "--help"]));
}

#[test]
fn a_job_has_the_same_numbers_on_cpu_and_gpu() {
    let name = adapter();
    // all tasks at once: the schedule engine
    let plan = "models/mapreduce/all-at-once.toml";
    let numbers = |args: &[&str]| data(&[&["estimate", plan, "--reps=5000", "--csv"], args].concat());
    let without_cost =
        |text: String| text.lines().filter(|line| !line.contains("ratio")).collect::<Vec<_>>().join("\n");
    let on_cpu = without_cost(numbers(&["--backend=cpu"]));
    assert_eq!(without_cost(numbers(&["--backend=gpu", "--adapter", &name])), on_cpu);
    assert!(on_cpu.lines().count() > 50);
}

/// The default job, whose tasks wait for slots: its folded net on the GPU equals the CPU's, bit for bit.
#[test]
fn a_folded_job_has_the_same_numbers_on_cpu_and_gpu() {
    let name = adapter();
    let args = ["estimate", "--demo", "--reps=3000", "--seed=11", "--method=simulate", "--json"];
    let found = |more: &[&str]| -> Value { serde_json::from_str(&data(&[&args[..], more].concat())).unwrap() };
    let [mut cpu, mut gpu] = [found(&["--backend=cpu"]), found(&["--backend=gpu", "--adapter", &name])];
    for (json, backend) in [(&mut cpu, "cpu"), (&mut gpu, "gpu")] {
        let object = json.as_object_mut().unwrap();
        object.remove("time_cost");
        let origin = object.remove("provenance").unwrap();
        assert_eq!((&origin["backend"], &origin["engine"]), (&backend.into(), &"lockstep".into()), "{origin}");
        assert_eq!(origin["folded"]["places"], 14, "{origin}");
    }
    assert_eq!(cpu, gpu);
    assert_eq!(cpu["replications"], 3000);
}

/// A plan of stages, whose tasks wait for slots: the race on the GPU equals the race on the CPU.
#[test]
fn a_job_of_stages_has_the_same_numbers_on_cpu_and_gpu() {
    let name = adapter();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let text = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\n[[stage]]\nsetup_s = 0.2\ntasks = { fixed = 9 }\n\
                cold = { fixed_s = 2 }\nwarm = { fixed_s = 1 }\n[[stage]]\nafter = [0]\ntasks = { fixed = 3 }\ncold = { fixed_s = 1 }\n\
                warm = { fixed_s = 1 }\ndistribution = { empirical = { samples = [1.0, 1.2, 2.5] } }\n[[stage]]\nafter = [1]\n\
                tasks = { fixed = 7 }\ncold = { fixed_s = 1 }\nwarm = { fixed_s = 1 }\ndistribution = { lognormal = { cv = 0.3 } }\n\
                slow = { share = 0.2, from = 3, shape = 2.5 }\n";
    std::fs::write(&plan, text).unwrap();
    let plan = plan.to_str().unwrap();
    let numbers = |args: &[&str]| data(&[&["estimate", plan, "--reps=2000", "--csv"], args].concat());
    let on_cpu = numbers(&["--backend=cpu"]);
    assert_eq!(numbers(&["--backend=gpu", "--adapter", &name]), on_cpu);
    assert!(on_cpu.contains("usual_job_time,mean,s,"), "{on_cpu}");
}

/// A GPU that is required must not be replaced by the CPU; one that may be used is.
#[test]
fn a_sweep_of_jobs_without_a_net_needs_the_cpu() {
    let name = adapter();
    let folder = tempfile::tempdir().unwrap();
    let job = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\n[stragglers]\n[[stage]]\ntasks = { fixed = 9 }\n\
               cold = { fixed_s = 2 }\nwarm = { fixed_s = 1 }\n";
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let sweep = folder.path().join("sweep.toml");
    std::fs::write(&sweep, "[sweep]\nbase = \"job.toml\"\n[[axis]]\nkey = \"job.executors\"\nvalues = [3, 4]\n")
        .unwrap();
    let on =
        |backend: &str| shown(&["study", sweep.to_str().unwrap(), "--quiet", "--backend", backend, "--adapter", &name]);
    let refused = on("gpu");
    assert!(
        refused.starts_with("exit 6") && unwrapped(&refused).replace("│ ", "").contains("task by task, on the CPU"),
        "{refused}"
    );
    assert!(on("auto").starts_with("exit 0"));
}

#[test]
fn a_run_on_a_gpu_reports_its_device() {
    let name = adapter();
    let args =
        ["net", "simulate", "models/textbook/small_job.xml", "--backend=gpu", "--adapter", &name, "--reps=20000"];
    assert_shown!(data(&args).replace(&name, "[adapter]"));
    let json: Value = serde_json::from_str(&data(&[&args[..], &["--json"]].concat())).unwrap();
    let from = &json["provenance"];
    assert_eq!((&from["backend"], &from["backend_reason"]), (&"gpu".into(), &"as requested".into()));
    let device = &from["device"];
    assert_eq!((&device["adapter"], &device["replications"]), (&Value::from(name), &20_000.into()));
    assert!(device["compute_s"].as_f64().unwrap() > 0.0 && device["setup_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_cpu_says_why_it_was_taken() {
    let args = ["net", "simulate", "models/textbook/small_job.xml", "--json"];
    for (backend, reason) in [("auto", "the run is short"), ("cpu", "as requested")] {
        let json: Value = serde_json::from_str(&data(&[&args[..], &["--backend", backend]].concat())).unwrap();
        let from = &json["provenance"];
        assert_eq!((&from["backend"], &from["backend_reason"]), (&"cpu".into(), &reason.into()));
        assert_eq!(from["device"], Value::Null);
    }
}

#[test]
fn without_a_driver_a_required_card_is_missed() {
    assert_shown!(shown_without_drivers(&["net", "simulate", "models/textbook/small_job.xml", "--backend=gpu"]));
    assert_shown!(shown_without_drivers(&["tool", "devices"]));
}

#[test]
fn an_unknown_adapter_is_refused_with_the_known_ones() {
    let name = adapter();
    let output = tool(&["estimate", "--demo", "--backend=gpu", "--adapter=Voodoo 9"]).output().unwrap();
    let shown = show(&output);
    assert_eq!(output.status.code(), Some(6), "{shown}");
    assert!(
        shown.contains("no adapter `Voodoo 9`") && shown.replace(['\n', '│', ' '], "").contains(&name.replace(' ', "")),
        "{shown}"
    );
}

#[test]
fn steady_state_runs_refuse_the_gpu() {
    assert_shown!(show(
        &tool(&["net", "simulate", "models/textbook/mm1k.xml", "--steady", "--backend=gpu"]).output().unwrap()
    ));
}

#[test]
fn devices_are_listed() {
    let name = adapter();
    let listed = data(&["tool", "devices"]);
    let flat = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&name) && flat.contains("passed") && flat.contains("`auto` uses "), "{listed}");
    let json: Value = serde_json::from_str(&data(&["tool", "devices", "--json"])).unwrap();
    let adapters = json["adapters"].as_array().unwrap();
    let hardware = adapters.iter().find(|adapter| adapter["kind"] != "software").map(|adapter| &adapter["name"]);
    assert_eq!(&json["auto"], hardware.unwrap_or(&Value::Null), "{json}");
}

#[test]
fn a_benchmark_measures_cpu_and_gpu() {
    let name = adapter();
    let args = ["tool", "bench", "--seconds=500ms", "--json", "--adapter", &name, "--lanes-ghz=1000"];
    let json: Value = serde_json::from_str(&data(&args)).unwrap();
    assert_eq!(json["adapter"]["name"], name.as_str());
    let nets = json["nets"].as_array().unwrap();
    assert_eq!(nets.len(), 3);
    for (net, transitions) in nets.iter().zip([882, 5202, 16]) {
        assert_eq!(net["transitions"], transitions);
        let [cpu, gpu] = ["cpu", "gpu"].map(|on| &net[on]);
        assert!(cpu["firings_per_s"].as_f64().unwrap() > 0.0, "{net}");
        assert_eq!(gpu.is_null(), !net["no_gpu"].is_null(), "{net}");
        if gpu.is_object() {
            let parts = ["upload", "compute", "read_back"].map(|part| gpu["times"][part].as_f64().unwrap());
            assert!(parts.iter().sum::<f64>() <= 1.001 && parts[1] > 0.1, "{net}");
        }
    }
    let bound = &nets[0]["bound"];
    // every transition of a job draws once and fires once
    let rate = nets[0]["gpu"]["firings_per_s"].as_f64().unwrap();
    let reached = bound["reached"].as_f64().unwrap() * bound["per_s"].as_f64().unwrap();
    assert!((reached / rate - 1.0).abs() < 0.01, "{bound}");
}

#[test]
fn a_benchmark_without_a_card_says_so() {
    let shown = shown_without_drivers(&["tool", "bench", "--seconds=20ms"]);
    assert!(
        shown.starts_with("exit 0")
            && shown.split_whitespace().collect::<Vec<_>>().join(" ").contains("GPU none: no graphics adapter found"),
        "{shown}"
    );
    assert!(shown.lines().any(|line| line.starts_with("  job 160/40 ") && line.contains(" CPU ")), "{shown}");
    assert!(!shown.lines().any(|line| line.starts_with("  job") && line.contains(" GPU ")), "{shown}");
    assert!(shown_without_drivers(&["tool", "bench", "--backend=gpu"]).starts_with("exit 6"));
}
