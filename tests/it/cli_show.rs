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

/// Commands in "Next" run: as printed, or with files in place of words in capitals. Two verbs do not end.
#[test]
fn commands_to_try_next_run_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str, from: &str| std::fs::copy(from, folder.path().join(name)).unwrap();
    for (name, from) in [
        ("log.gz", LOG),
        ("larger.gz", "tests/data/trace/sort-64mb.spark.gz"),
        ("copies.gz", "tests/data/trace/speculation.spark.gz"),
        ("net.xml", NET),
        ("job.toml", "models/tutorial/job.toml"),
        ("knobs.toml", "models/tutorial/knobs.toml"),
        ("deadline.toml", "models/tutorial/deadline.toml"),
        ("samples.txt", "tests/data/diagnose/job/worker3.mpstat.txt"),
    ] {
        copy(name, from);
    }
    let cut = Log::read(Path::new(LOG)).cut(0.6);
    std::fs::write(folder.path().join("app.inprogress"), cut.text).unwrap();
    let in_folder = |words: &[&str]| tool(words).current_dir(folder.path()).output().unwrap();
    let mut run = std::collections::BTreeSet::new();
    for words in [
        &["log.gz"][..],
        &["net.xml"],
        &["job.toml"],
        &["knobs.toml"],
        &["deadline.toml"],
        &["estimate", "log.gz"],
        &["estimate", "log.gz", "larger.gz"],
        &["estimate", "log.gz", "--executors", "1..3"],
        &["estimate", "job.toml"],
        &["estimate", "--demo"],
        &["estimate", "app.inprogress"],
        &["estimate", "app.inprogress", "larger.gz"],
        &["why", "log.gz"],
        &["why", "log.gz", "larger.gz"],
        &["why", "log.gz", "larger.gz", "copies.gz"],
        &["whatif", "log.gz"],
        &["whatif", "job.toml", "--reps", "20"],
        &["study", "job.toml", "--reps", "20"],
        &["study", "knobs.toml"],
    ] {
        let output = in_folder(words);
        assert!(matches!(output.status.code(), Some(0 | 8)), "{words:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let next = text.split("\nNext\n").nth(1).unwrap_or_else(|| panic!("{words:?}: {text}"));
        let next = next.replace(" \\\n     ", "");
        for line in next.lines().filter(|line| line.starts_with("  tailspn ")) {
            let command = line.trim().split("   ").next().unwrap();
            run.insert(command.to_owned());
        }
    }
    let files = |word: &str| match word {
        "SAMPLES/" => "samples.txt".to_owned(),
        "EARLIER.gz" => "larger.gz".to_owned(),
        "A1" | "B1" => "log.gz".to_owned(),
        "A2" | "B2" => "larger.gz".to_owned(),
        word => crate::wrong_inputs::filled(word),
    };
    assert!(run.len() >= 25, "{run:?}");
    for command in run {
        let words: Vec<String> = command.split(' ').skip(1).map(files).collect();
        // `watch` follows a log that never ends, `serve` waits for a browser; ID stands for an application
        if ["watch", "serve"].contains(&&*words[0]) || words.contains(&"ID".to_owned()) {
            continue;
        }
        let output = in_folder(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(matches!(output.status.code(), Some(0 | 8)), "{command}: {output:?}");
    }
}

/// `tailspn FILE --json` is the answer of the verb that the file stands for.
#[test]
fn other_forms_of_a_file_are_those_of_its_verb() {
    for (file, verb) in [(LOG, &["why"][..]), (NET, &["net", "solve"]), ("models/tutorial/job.toml", &["estimate"])] {
        for form in ["--json", "--markdown"] {
            let [bare, of_verb] = [&[file, form, "--color=never"][..], &[verb, &[file, form]].concat()].map(data);
            let without_times = |text: &str| {
                text.lines().filter(|line| !line.contains("_s\": ")).map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(without_times(&bare).first(), without_times(&of_verb).first(), "{file} {form}");
            assert_eq!(bare.lines().count(), of_verb.lines().count(), "{file} {form}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result.json");
    std::fs::write(&result, data(&["net", "solve", NET, "--json"])).unwrap();
    let result = result.to_str().unwrap();
    assert_eq!(data(&[result, "--csv"]), data(&["net", "solve", NET, "--csv"]));
    let samples = unwrapped(&shown(&["tests/data/diagnose/job/worker3.mpstat.txt", "--json"]));
    assert!(samples.starts_with("exit 2") && samples.contains("has no answer of its own"), "{samples}");
}

#[test]
fn words_that_are_neither_verbs_nor_files_are_refused() {
    for (words, told) in [
        (&["estimte", "job.toml"][..], "did you mean `tailspn estimate`?"),
        (&["explain", LOG], "did you mean `tailspn why`?"),
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
    assert!(text.starts_with("exit 3") && text.contains("is text, not a file that tailspn reads"), "{text}");
}

/// Standard input is read as the file would be, whatever it is: a log, a plan, a net, a result.
#[test]
fn standard_input_stands_for_any_file() {
    use std::process::Stdio;
    let by_pipe = |words: &[&str], file: &str| {
        let file = std::fs::File::open(file).unwrap();
        let output = tool(words).stdin(Stdio::from(file)).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 8)), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let plan = "models/tutorial/job.toml";
    for (words, file) in [
        (&["estimate", "-"][..], LOG),
        (&["why", "-"], LOG),
        (&["whatif", "-"], LOG),
        (&["study", "-", "--reps", "20"], LOG),
        (&["tool", "fit", "-"], LOG),
        (&["-"], LOG),
        (&["estimate", "-", "--reps", "100"], plan),
        (&["whatif", "-", "--reps", "20"], plan),
        (&["study", "-", "--reps", "20"], plan),
        (&["-"], plan),
        (&["net", "solve", "-"], NET),
        (&["-"], NET),
    ] {
        let direct: Vec<&str> = words.iter().map(|word| if *word == "-" { file } else { word }).collect();
        let first = |text: &str| text.lines().next().unwrap_or_default().replace(file, "-");
        assert_eq!(first(&by_pipe(words, file)), first(&data(&direct)), "{words:?} of {file}");
    }
    let twice = shown(&["estimate", "-", "-"]);
    assert!(twice.starts_with("exit 2") && twice.contains("can be read only once"), "{twice}");
}
