//! Planned jobs: options in place of the plan's values, and the probability to meet a deadline, on every command that reads a plan.

use crate::cli::{data, shown};
use crate::cli_sweep::{Folder, json, number, unbroken};

const JOB: &str = "[job]\ninput_mb = 320\nreduces = 3\n[[cluster.node]]\ncount = 2\n";

/// The same with other values.
const CHANGED: &str = "[job]\ninput_mb = 1024\nsplit_mb = 128\nreduces = 5\n[[cluster.node]]\ncount = 3\nmap_slots = 2\nreduce_slots = 1\ngpus = 1\n\
                       [model]\nslots = true\n";

/// The options that make one of the other.
const OPTIONS: [&str; 14] = [
    "--input-size",
    "1GB",
    "--split-size",
    "128MB",
    "--reduces",
    "5",
    "--workers",
    "3",
    "--map-slots",
    "2",
    "--reduce-slots",
    "1",
    "--gpus-per-worker",
    "1",
];

const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n[run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 1\n\
                      [[stage]]\nuses_partitions = true\ntasks = { per_mb = 0.1 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 2 }\n";

/// One exponential phase of 10 s: the job is done by d with probability 1 - e^(-d/10).
const ONE: &str = "[job]\nname = \"one\"\ndeadline_s = 20\n[phases]\nmaps = 1\nreduces = 1\nmeans_s = [0, 0, 0, 10, 0, 0, 0, 0, 0]\n[model]\nslots = false\n";

const SWEEP: &str = "[sweep]\nbase = \"job.toml\"\nreplications = 40\n[[axis]]\nkey = \"cluster.node[0].gpu_speed\"\nvalues = [2.0, 4.0]\n";

const OPTIMIZE: &str = "[sweep]\nbase = \"job.toml\"\nreplications = 40\n[optimize]\ndeadline_s = 500\n[[axis]]\nkey = \"cluster.node[0].gpu_speed\"\nvalues = [2, 4]\n";

fn with<'a>(args: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    args.iter().chain(options).copied().collect()
}

/// The JSON of a command, without wall times.
fn result(args: &[&str]) -> serde_json::Value {
    let mut found = json(&with(args, &["--json"]));
    let object = found.as_object_mut().unwrap();
    // the next commands are about the typed options
    for key in ["time_cost", "wall_s", "provenance", "blocks"] {
        object.remove(key);
    }
    found
}

#[test]
fn options_are_the_keys_of_the_plan_for_every_command() {
    let files = [("job.toml", JOB), ("sweep.toml", SWEEP), ("optimize.toml", OPTIMIZE)];
    let plain = Folder::new(&files);
    let changed = Folder::new(&[("job.toml", CHANGED), files[1], files[2]]);
    // policies know no GPUs
    let without = CHANGED.replace("gpus = 1", "gpus = 0");
    let cpus = Folder::new(&[("job.toml", &without)]);
    let of_cpus: Vec<&str> = OPTIONS[..OPTIONS.len() - 1].iter().copied().chain(["0"]).collect();
    let commands: [(&str, (&str, &[&str])); 5] = [
        ("estimate", ("job.toml", &["--reps", "200"][..])),
        ("whatif", ("job.toml", &["--reps", "20"])),
        ("study", ("sweep.toml", &[])),
        ("study", ("sweep.toml", &["--method", "each", "--reps", "40"])),
        ("study", ("optimize.toml", &[])),
    ];
    for (command, (file, more)) in commands {
        let is_policies = command == "whatif";
        let (one, other) = (plain.at(file), if is_policies { cpus.at(file) } else { changed.at(file) });
        let options = if is_policies { &of_cpus[..] } else { &OPTIONS[..] };
        let by_options = result(&with(&with(&[command, &one], more), options));
        assert_eq!(by_options, result(&with(&[command, &other], more)), "{command}");
        assert_ne!(by_options, result(&with(&[command, &one], more)), "{command}");
    }
    let net = |folder: &Folder, options: &[&str]| {
        let out = folder.at("net.xml");
        let told = shown(&with(&["net", "spn-gc", &folder.at("job.toml"), "--save-net", &out, "--force"], options));
        assert!(told.starts_with("exit 0"), "{told}");
        std::fs::read_to_string(out).unwrap()
    };
    assert_eq!(net(&plain, &OPTIONS), net(&changed, &[]));
}

#[test]
fn plans_of_stages_have_options_of_their_own() {
    let folder = Folder::new(&[("job.toml", STAGES)]);
    let job = folder.at("job.toml");
    let options = ["--input-size", "128MB", "--executors", "4", "--cores", "2", "--partitions", "9"];
    let found = json(&with(&["estimate", &job, "--reps", "50", "--json"], &options));
    assert_eq!((number(&found["input_mb"]), number(&found["executors"]), number(&found["cores"])), (128.0, 4.0, 2.0));
    assert_eq!(found["stages"][0]["tasks"], 9.0);
}

#[test]
fn options_without_a_meaning_name_those_that_have_one() {
    let files = [("job.toml", JOB), ("stages.toml", STAGES), ("sweep.toml", SWEEP)];
    let folder = Folder::new(&files);
    let [job, stages, sweep] = files.map(|(name, _)| folder.at(name));
    let net = "models/textbook/mm1k.xml";
    let refused = |args: &[&str], part: &str| {
        let text = shown(args);
        assert!(text.starts_with("exit 2") && unbroken(&text).contains(part), "{args:?}: {text}");
    };
    for command in
        [&["estimate", &job][..], &["whatif", &job], &["net", "spn-gc", "--save-net", "-", &job], &["study", &sweep]]
    {
        refused(
            &with(command, &["--executors", "3"]),
            "`--executors` has no meaning for a plan of `[profile]`; use `--workers`",
        );
        refused(&with(command, &["--workers", "x=3"]), "does not have: `x`; it has `worker`");
        refused(&with(command, &["--input-size", "10240"]), "a size needs a unit, such as 10240MB");
        refused(&with(command, &["--split-size", "0MB"]), "above 0");
        refused(&with(command, &["--deadline", "0s"]), "a time above 0");
        refused(&with(command, &["--deadline", "NaN"]), "a time above 0");
        refused(&with(command, &["--split-size", "8MB"]), "with these options, `job.gpu_block_mb`");
    }
    refused(&["estimate", &stages, "--workers", "3"], "use `--executors`");
    refused(
        &["study", "--method=derivatives", net, "--workers", "3"],
        "`--workers` applies to job plans, not to a net",
    );
    refused(&["whatif", "tests/data/trace/plain-unions.jhist", "--reduces", "3"], "`--reduces` applies only to plans");
    let own = |text: &str| {
        std::fs::write(&job, text).unwrap();
        shown(&["estimate", &job])
    };
    let text = own("[job]\ndeadline_s = -5\ninput_mb = 0\n[[cluster.node]]\nhost_cores = 0\n");
    assert!(text.starts_with("exit 3"), "{text}");
    for part in [
        "`job.deadline_s`: -5 is not",
        "(line 2)",
        "`job.input_mb`: 0 is not",
        "(line 3)",
        "`cluster.node[0].host_cores`",
        "(line 5)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// 1 - e^(-2), by every method and in every form.
#[test]
fn the_probability_to_meet_the_deadline_is_the_closed_form() {
    let folder = Folder::new(&[("job.toml", ONE)]);
    let job = folder.at("job.toml");
    let exact = 1.0 - (-2.0_f64).exp();
    let found = json(&["estimate", &job, "--reps", "20000", "--json"]);
    let deadline = &found["deadline"];
    assert_eq!(deadline["deadline_s"], 20.0);
    assert!((number(&deadline["exact"]["value"]) - exact).abs() < 1e-9, "{deadline}");
    let error = (exact * (1.0 - exact) / 20_000.0).sqrt();
    assert!((number(&deadline["simulated"]["value"]) - exact).abs() < 5.0 * error, "{deadline}");
    let [low, high] = ["low", "high"].map(|end| number(&deadline["simulated"][end]));
    assert!((3.0..3.6).contains(&((high - low) / error)), "{deadline}");
    // the option goes before the plan's own, and a net by parts has bounds
    let other = json(&["estimate", &job, "--deadline", "10s", "--method", "exact", "--json"]);
    assert!((number(&other["deadline"]["exact"]["value"]) - (1.0 - (-1.0_f64).exp())).abs() < 1e-9, "{other}");
    assert!(other["deadline"].get("simulated").is_none());
    let text = shown(&["estimate", &job, "--method", "exact", "--verbose"]);
    assert!(text.replace('\n', " ").contains("The probability of finishing within 20 s is 86.466%."), "{text}");
    let csv = shown(&["estimate", &job, "--method", "exact", "--csv"]);
    assert!(csv.contains("done_by_deadline_analytic,20,,0.8646647"), "{csv}");
    assert!(shown(&["estimate", &job, "--markdown"]).contains("Probability of meeting the deadline"));
    let (result, page) = (folder.at("result.json"), folder.at("page.html"));
    std::fs::write(&result, json(&["estimate", &job, "--json"]).to_string()).unwrap();
    assert!(shown(&[&result, "--html", &page]).starts_with("exit 0"));
    assert!(std::fs::read_to_string(page).unwrap().contains("Probability of meeting the deadline"));
}

#[test]
fn stages_policies_and_sweeps_have_the_probability_too() {
    let folder = Folder::new(&[("job.toml", ONE), ("stages.toml", STAGES), ("sweep.toml", SWEEP)]);
    let exact = 1.0 - (-2.0_f64).exp();
    let near = |found: &serde_json::Value, exact: f64, count: f64| {
        let error = (exact * (1.0 - exact) / count).sqrt();
        assert!((number(&found["value"]) - exact).abs() < 5.0 * error, "{found} {exact}");
        assert!(number(&found["low"]) <= number(&found["value"]) && number(&found["high"]) >= number(&found["value"]));
    };
    let what_if = json(&["whatif", &folder.at("job.toml"), "--reps", "2000", "--json"]);
    assert_eq!(what_if["deadline_s"], 20.0);
    near(&what_if["policies"][0]["done_by_deadline"], exact, 2000.0);
    let csv = shown(&["whatif", &folder.at("job.toml"), "--reps", "200", "--csv"]);
    assert!(csv.contains("done_by_deadline"), "{csv}");
    // 6 tasks on 2 slots are 3 waves: about 7 s
    let stages = folder.at("stages.toml");
    let found = json(&["estimate", &stages, "--deadline", "1000s", "--reps", "100", "--json"]);
    assert_eq!(found["deadline"]["simulated"]["value"], 1.0);
    let text = shown(&["estimate", &stages, "--deadline", "5s", "--reps", "100"]);
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains("meets the deadline of 5 s"), "{text}");
    let sweep =
        "[sweep]\nbase = \"job.toml\"\nreplications = 4000\n[[axis]]\nkey = \"job.deadline_s\"\nvalues = [10, 30]\n";
    std::fs::write(folder.at("sweep.toml"), sweep).unwrap();
    let found = json(&["study", &folder.at("sweep.toml"), "--json"]);
    for (point, seconds) in [(0, 20.0_f64), (1, 10.0), (2, 30.0)] {
        near(&found["points"][point]["done_by_deadline"], 1.0 - (-0.1 * seconds).exp(), 4000.0);
    }
    let axis = "[sweep]\nbase = \"job.toml\"\n[[axis]]\nkey = \"phases.means_s[3]\"\nfrom = 5.0\nto = 20.0\n";
    std::fs::write(folder.at("axis.toml"), axis).unwrap();
    let found = json(&["study", "--method=derivatives", &folder.at("axis.toml"), "--json"]);
    near(&found["deadline"]["simulated"], exact, 2000.0);
    let (result, again) = (folder.at("result"), folder.at("sweep.toml"));
    let csv = data(&["study", &again, "--save", &result, "--csv"]);
    assert!(csv.contains(",done_by_deadline,done_by_deadline_low,done_by_deadline_high,"), "{csv}");
    // read back from the folder
    assert_eq!(data(&["study", &again, "--save", &result, "--resume", "--csv"]), csv);
    std::fs::write(folder.at("job.toml"), JOB).unwrap();
    let sweep = sweep.replace("job.deadline_s", "job.reduces");
    std::fs::write(folder.at("sweep.toml"), sweep).unwrap();
    assert!(!data(&["study", &again, "--csv"]).contains("done_by_deadline"));
    assert!(data(&["study", &again, "--deadline", "15s", "--csv"]).contains("done_by_deadline"));
}

/// Four maps of one exponential GPU phase: one after the other on one GPU, and two at a time on two.
#[test]
fn maps_wait_for_the_gpus_of_the_workers() {
    let text = "[phases]\nmaps = 4\nreduces = 1\nmeans_s = [0, 0, 0, 1, 0, 0, 0, 0, 0]\n[[cluster.node]]\n";
    let folder = Folder::new(&[("job.toml", text)]);
    let (job, net) = (folder.at("job.toml"), folder.at("net.xml"));
    for (gpus, mean) in [("1", 4.0), ("2", 2.5), ("4", 25.0 / 12.0)] {
        let told =
            shown(&["net", "spn-gc", &job, "--no-slots", "--gpus-per-worker", gpus, "--save-net", &net, "--force"]);
        assert!(told.starts_with("exit 0"), "{told}");
        let solved = json(&["net", "solve", &net, "--until", "#(done1) >= 1", "--json"]);
        let found = number(&solved["passage"]["mean_s"]);
        assert!((found - mean).abs() < 1e-9, "{gpus} GPUs: {found}, not {mean}");
        let estimate = json(&["estimate", &job, "--gpus-per-worker", gpus, "--reps", "20000", "--json"]);
        let time = &estimate["job_time"]["mean"];
        let half = number(&time["high"]) - number(&time["value"]);
        assert!((number(&time["value"]) - mean).abs() < 2.6 * half, "{time} {mean}");
    }
}

/// Exponential jobs: the longer the mean, the cheaper.
#[test]
fn the_cheapest_plan_is_done_in_time_with_the_probability_that_was_asked_for() {
    let plan = "[sweep]\nbase = \"job.toml\"\n[optimize]\ndeadline_s = 20\ncost = \"20 - mean\"\nsearch = \"rising\"\n\
                [[axis]]\nkey = \"phases.means_s[3]\"\nname = \"mean\"\nvalues = [4.0, 8.0, 12.0]\n";
    let folder = Folder::new(&[("job.toml", ONE), ("plan.toml", plan)]);
    let file = folder.at("plan.toml");
    // done within 20 s with 81%, 92% and 99.3%
    for (share, mean) in [("75%", 12.0), ("90%", 8.0), ("98%", 4.0)] {
        let found = json(&["study", &file, "--probability", share, "--json"]);
        assert_eq!(found["answer"]["found"], "cheapest", "{found}");
        let chosen = &found["rows"][found["answer"]["row"].as_u64().unwrap() as usize];
        assert_eq!(chosen["set"]["mean"], mean, "{found}");
        let done = &chosen["in_time"];
        let exact = 1.0 - (-20.0_f64 / mean).exp();
        assert!(number(&done["low"]) <= exact && exact <= number(&done["high"]), "{done} {exact}");
    }
    let same = ["--probability", "--measure"].map(|option| {
        let value = if option == "--measure" { "p90" } else { "90%" };
        data(&["study", &file, option, value, "--csv"])
    });
    assert_eq!(same[0], same[1]);
    assert!(same[0].contains(",in_time,in_time_low,in_time_high,"), "{}", same[0]);
    let both = shown(&["study", &file, "--probability", "90%", "--measure", "p90"]);
    assert!(both.starts_with("exit 2"), "{both}");
}

/// Larger splits of the same input leave slots idle in the last wave: none of them saves time.
#[test]
fn a_sweep_of_splits_recommends_no_larger_split() {
    let sweep = "[sweep]\nbase = \"job.toml\"\ndesign = \"each\"\nreplications = 2000\n\
                 [[axis]]\nkey = \"job.split_mb\"\nvalues = [32.0, 64.0, 128.0, 256.0, 512.0]\n";
    let job = "[job]\ninput_mb = 10240\n[model]\nslots = true\n";
    let folder = Folder::new(&[("job.toml", job), ("sweep.toml", sweep)]);
    let file = folder.at("sweep.toml");
    let found = json(&["study", &file, "--json"]);
    let points = found["points"].as_array().unwrap();
    let mean = |split: f64| {
        let point = points.iter().find(|point| point["values"][0].as_f64() == Some(split)).unwrap();
        number(&point["mean_s"]["value"])
    };
    let means = [32.0, 64.0, 128.0, 256.0, 512.0].map(mean);
    assert!(means.is_sorted(), "{means:?}");
    let text = shown(&["study", &file]);
    assert!(!["128", "256", "512"].iter().any(|split| text.contains(&format!("saving: split_mb = {split}"))), "{text}");
}
