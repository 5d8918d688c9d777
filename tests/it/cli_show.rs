//! Files without a verb: what each is, and commands to try next, which run as printed.

use std::path::Path;

use crate::cli::{assert_shown, data, shown, tool, unwrapped};
use crate::remaining::Log;

const LOG: &str = "tests/data/trace/sort-32mb.spark.gz";
const NET: &str = "models/textbook/machine_repair.xml";

#[test]
fn each_file_is_told_with_commands_to_try_next() {
    assert_shown!(shown(&[LOG]));
    assert_shown!(shown(&[NET]));
    assert_shown!(shown(&[
        "models/mapreduce/default-job.toml",
        "models/cluster/phan-c2.toml",
        "models/mapreduce/which-knob.toml"
    ]));
    assert_shown!(shown(&["tests/data/trace/alibaba-2017.csv"]));
    assert_shown!(shown(&["tests/data/diagnose/job/worker3.mpstat.txt"]));
}

#[test]
fn a_run_in_progress_and_a_result_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let cut = Log::read(Path::new(LOG)).cut(0.6);
    std::fs::write(folder.path().join("app.inprogress"), cut.text).unwrap();
    let result = data(&["net", "solve", NET, "--json"]);
    std::fs::write(folder.path().join("result.json"), result).unwrap();
    let shown = |file: &str| {
        let output = tool(&[file]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{file}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let running = shown("app.inprogress");
    assert!(running.contains("The log has no end") && running.contains("tailspn watch app.inprogress"), "{running}");
    let result = shown("result.json");
    assert!(result.starts_with(&data(&["net", "solve", NET])[..40]), "{result}");
}

/// Commands in "Next" run as printed; those with capitals need a file of the user, and two do not end.
#[test]
fn commands_to_try_next_run_as_printed() {
    let mut run = 0;
    for file in [
        LOG,
        NET,
        "models/mapreduce/default-job.toml",
        "models/mapreduce/which-knob.toml",
        "models/mapreduce/deadline.toml",
    ] {
        let text = data(&[file]);
        let next = text.split("\nNext\n").nth(1).unwrap();
        for line in next.lines() {
            let command = line.trim().split("   ").next().unwrap().strip_prefix("tailspn ").unwrap();
            if command.starts_with("serve") || command.starts_with("sweep") {
                continue;
            }
            let output = tool(&command.split(' ').collect::<Vec<_>>()).output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 8)), "{command}: {output:?}");
            run += 1;
        }
    }
    assert!(run >= 8, "{run}");
}

#[test]
fn words_that_are_neither_verbs_nor_files_are_refused() {
    for (words, told) in [
        (&["estimte", "job.toml"][..], "did you mean `tailspn estimate`?"),
        (&["trace", LOG], "did you mean `tailspn why`?"),
        (&["diagnose", LOG], "did you mean `tailspn why`?"),
        (&["predict"], "did you mean `tailspn estimate`?"),
        (&["check", NET], "did you mean `tailspn net check`?"),
        (&["frobnicate"], "the verbs are estimate,"),
    ] {
        let text = unwrapped(&shown(words));
        assert!(text.starts_with("exit 2") && text.contains(told), "{words:?}: {text}");
    }
    let none = shown(&["no-such-file.gz"]);
    assert!(none.starts_with("exit 7") && none.contains("no-such-file.gz"), "{none}");
    let folder = tempfile::tempdir().unwrap();
    let words = folder.path().join("words.txt");
    std::fs::write(&words, "three plain words\n").unwrap();
    let text = unwrapped(&shown(&[words.to_str().unwrap()]));
    assert!(text.starts_with("exit 3") && text.contains("is nothing that tailspn reads"), "{text}");
}
