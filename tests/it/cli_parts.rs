//! Commands in parts: shards merge to the digits of one run, and what does not belong together is refused.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{data, show, tool, unwrapped};

const SHARDS: u64 = 3;

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Runs one shard of a command and returns its file.
fn shard(command: &[&str], index: u64, of: u64, folder: &TempDir) -> String {
    let (shard, file) = (format!("{index}/{of}"), path(folder, &format!("part{index}")));
    let save = if command[0] == "study" { "--save" } else { "--save-part" };
    let all = [command, &["--shard", &shard, save, &file]].concat();
    let output = tool(&all).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{all:?}: {}", show(&output));
    file
}

fn shards(command: &[&str], folder: &TempDir) -> Vec<String> {
    (1..=SHARDS).map(|index| shard(command, index, SHARDS, folder)).collect()
}

/// A result without what says how long it took, and on what.
fn comparable(json: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(keys) => {
                for key in ["wall_s", "threads", "vector", "estimate_s", "ratio"] {
                    keys.remove(key);
                }
                keys.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(json).unwrap();
    strip(&mut value);
    value
}

fn merged(files: &[String], more: &[&str]) -> Value {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    comparable(&data(&[&["tool", "merge"], &files[..], more, &["--json"]].concat()))
}

/// Merges the shards of a command, and compares with the command itself.
fn assert_same(command: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let whole = comparable(&data(&[command, &["--json"]].concat()));
    assert_eq!(merged(&shards(command, &folder), &[]), whole, "{command:?}");
}

#[test]
fn parts_of_simulations_are_one_run() {
    let averages = [
        "--horizon",
        "20",
        "--tokens",
        "--throughput",
        "--reps",
        "1000",
        "--reward",
        "queue=#(queue)",
        "--at",
        "7:#(queue)",
        "--seed",
        "4",
    ];
    for engine in ["clock", "direct", "auto"] {
        let net = ["net", "simulate", "models/textbook/mm1k.xml", "--engine", engine];
        assert_same(&[&net[..], &averages[..]].concat());
    }
    let folded =
        ["net", "simulate", "models/textbook/machine_repair.xml", "--horizon", "9", "--tokens", "--reps", "333"];
    assert_same(&folded);
    let schedule = ["net", "simulate", "models/textbook/small_job.xml", "--method", "simulate", "--reps", "1001"];
    assert_same(&schedule);
}

/// More shards than units of replications: some are empty.
#[test]
fn empty_parts_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let command = ["net", "simulate", "models/textbook/small_job.xml", "--method", "simulate", "--reps", "40"];
    let files: Vec<String> = (1..=7).map(|index| shard(&command, index, 7, &folder)).collect();
    assert_eq!(merged(&files, &[]), comparable(&data(&[&command[..], &["--json"]].concat())));
}

#[test]
fn parts_of_estimates_are_one_run() {
    assert_same(&["estimate", "--demo", "--reps", "300", "--seed", "9"]);
    assert_same(&["estimate", "models/mapreduce/all-at-once.toml", "--reps", "300"]);
    let folder = tempfile::tempdir().unwrap();
    let stages = path(&folder, "stages.toml");
    fs::write(&stages, STAGES).unwrap();
    assert_same(&["estimate", &stages, "--reps", "90"]);
    assert_same(&["estimate", &stages, "--reps", "90", "--speculation", "spark4"]);
}

const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\n[run]\nsigma = 0.1\ndegrees_of_freedom = 4\nruns = 1\n\
                      [[stage]]\ntasks = { fixed = 12 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 2 }\n";

#[test]
fn parts_of_what_ifs_are_one_run() {
    assert_same(&["whatif", "--demo", "--reps", "70"]);
    assert_same(&["whatif", "models/tutorial/copies.toml", "--reps", "70"]);
}

#[test]
fn parts_of_studies_are_one_study() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(path(&folder, "job.toml"), "[phases]\nmaps = 2\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
        .unwrap();
    let knobs = path(&folder, "knobs.toml");
    let axis = |place: u32| format!("[[axis]]\nkey = \"phases.means_s[{place}]\"\nfrom = 0.5\nto = 12.5\n");
    fs::write(&knobs, format!("[sweep]\nbase = \"job.toml\"\n{}{}", axis(0), axis(3))).unwrap();
    for method in
        [&["derivatives", "--reps", "2000"][..], &["each"], &["morris", "--rows", "7"], &["sobol", "--rows", "8"]]
    {
        assert_same(&[&["study", &knobs, "--method"], method].concat());
    }
    // scores
    assert_same(&["study", "models/textbook/mm1k.xml", "--until", "#(queue) >= 3", "--transitions", "--reps", "900"]);
}

const NET: &str = "models/textbook/small_job.xml";

/// The message of a command that fails with this exit code.
fn refusal(args: &[&str], exit: i32) -> String {
    let output = tool(args).output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{}", show(&output));
    unwrapped(&String::from_utf8(output.stderr).unwrap())
}

fn refused(files: &[&str], exit: i32, expected: &str) {
    let message = refusal(&[&["tool", "merge"], files].concat(), exit);
    assert!(message.contains(expected), "{message}");
}

#[test]
fn shards_that_do_not_form_one_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let net = path(&folder, "net.xml");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(NET), &net).unwrap();
    let command = ["net", "simulate", &net, "--method", "simulate", "--reps", "500"];
    let files = shards(&command, &folder);
    let [one, two, three] = [0, 1, 2].map(|i| files[i].as_str());
    refused(&[one, three], 5, "shard 2/3 is missing");
    refused(&[one, two], 5, "shard 3/3 is missing");
    refused(&[two, three, "--partial"], 5, "shard 1/3 is missing");
    refused(&[one, two, two], 5, "are both shard 2/3");
    let copy = path(&folder, "copy");
    let elsewhere = tempfile::tempdir().unwrap();
    let other = shard(&["net", "simulate", &net, "--method", "simulate", "--reps", "501"], 3, 3, &elsewhere);
    refused(&[one, two, &other], 5, "the arguments differ");
    let mut bytes = fs::read(three).unwrap();
    fs::write(&copy, &bytes[..bytes.len() - 1]).unwrap();
    refused(&[one, two, &copy], 3, "the file is truncated or damaged");
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&copy, &bytes).unwrap();
    refused(&[one, two, &copy], 3, "the file is truncated or damaged");
    refused(&[one, two, &net], 3, "is not a part that `--shard` wrote");
    // a file that wants another command to be run
    let bytes = fs::read(three).unwrap();
    let rest = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let head = "{\"tailspn_part\":1,\"version\":\"VERSION\",\"shard\":{\"index\":1,\"of\":1},\"arguments\":[\"net\",\"convert\",\"a.xml\",\"b.xml\"]}";
    let head = head.replace("VERSION", env!("CARGO_PKG_VERSION"));
    fs::write(&copy, [head.as_bytes(), &bytes[rest..]].concat()).unwrap();
    refused(&[&copy], 3, "is a part of a command that cannot be split into");
    // the first shards are a shorter run
    let first = merged(&files[..2], &["--partial"]);
    let shorter = comparable(&data(&["net", "simulate", &net, "--method", "simulate", "--reps", "336", "--json"]));
    assert_eq!(first["passage_time"], shorter["passage_time"]);
    assert_eq!((&first["replications"], &first["partial"]), (&Value::from(336), &Value::from(true)));
    // the net is another one now
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/textbook/forkjoin_retry.xml"), &net).unwrap();
    refused(&[one, two, three], 5, "the parts belong to another computation");
}

#[test]
fn invalid_shards_are_refused_with_the_reason() {
    let part = ["net", "simulate", NET, "--shard", "1/2"];
    assert!(refusal(&part, 2).contains("a single shard cannot print a result"));
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "part");
    for (command, expected) in [
        (&["net", "simulate", NET, "--rel-error", "1%"][..], "shards need a fixed number of replications"),
        (&["estimate", "--demo", "--method", "exact"], "there is nothing to split"),
    ] {
        let message = refusal(&[command, &["--shard", "1/2", "--save-part", &file]].concat(), 2);
        assert!(message.contains(expected), "{message}");
        assert!(!Path::new(&file).exists());
    }
    for wrong in ["0/2", "3/2", "x", "1/0", "1"] {
        refusal(&["net", "simulate", NET, "--shard", wrong, "--save-part", &file], 2);
    }
    shard(&["net", "simulate", NET, "--method", "simulate", "--reps", "10"], 1, 1, &folder);
    let again = refusal(&["net", "simulate", NET, "--shard", "1/1", "--save-part", &path(&folder, "part1")], 7);
    assert!(again.contains("already exists"), "{again}");
}

#[test]
#[ignore = "takes a minute; `.ci/nightly` runs it"]
fn a_million_replications_in_64_parts_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let command = ["estimate", "--demo", "--method", "simulate", "--reps", "1e6", "--backend", "cpu"];
    let files: Vec<String> = (1..=64).map(|index| shard(&command, index, 64, &folder)).collect();
    let whole = comparable(&data(&[&command[..], &["--json"]].concat()));
    assert_eq!(merged(&files, &[]), whole);
}
