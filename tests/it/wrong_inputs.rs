//! Wrong inputs of every verb: each row of a file is a command; its exit code and its message are a snapshot. Commands that a message advises run.

use std::path::Path;

use crate::cli::{show, tool, unwrapped};

const ROWS: &str = include_str!("../data/cli/wrong-inputs.txt");

/// A folder with the files that the rows name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let copy =
        |name: &str, from: &str| put(name, &std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(from)).unwrap());
    copy("log.gz", "tests/data/trace/sort-32mb.spark.gz");
    copy("job.toml", "models/tutorial/job.toml");
    copy("knobs.toml", "models/tutorial/knobs.toml");
    copy("net.xml", "models/textbook/mm1k.xml");
    put("prices.csv", b"a,b,c\n1,2,3\n");
    put("runs.tsv", b"kind\tnodes\tsize_gb\truntime_s\na\t2\t10\t40\na\t4\t10\t25\nb\t2\t10\t50\n");
    put("ragged.csv", b"nodes,runtime_s\n2,30\n4\n");
    put("words.csv", b"nodes,runtime_s\n2,30\n4,soon\n");
    put("notes.txt", b"hello\n");
    put("empty.log", b"");
    put("other.json", b"{\"kind\":\"nothing\"}");
    put("broken.toml", b"[job\n");
    put("broken.xml", b"<net>");
    put("typo.toml", b"[job]\nworker = 3\n");
    put("binary.dat", b"\x00\x01\xff\xfe\x00nothing");
    let result = tool(&["estimate", "job.toml", "--reps", "50", "--json"]).current_dir(folder.path()).output().unwrap();
    put("r.json", &result.stdout);
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    folder
}

/// The message without pictures of the text and without lists of options.
fn message(stderr: &str) -> String {
    let is_said = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with(['╭', '╰', '·', '│']) && !line.starts_with(|c: char| c.is_ascii_digit())
    };
    let head = stderr.split("\nUsage:").next().unwrap_or(stderr);
    let head = head.split("\n\nFor more information").next().unwrap_or(head);
    unwrapped(&head.lines().filter(is_said).collect::<Vec<_>>().join("\n"))
}

#[test]
fn every_wrong_input_has_its_message_and_its_exit_code() {
    let folder = folder();
    let mut told = String::new();
    for row in ROWS.lines() {
        let args: Vec<&str> = row.split(' ').filter(|word| !word.is_empty()).collect();
        let output = tool(&args).current_dir(folder.path()).output().unwrap();
        let (code, stderr) = (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(matches!(code, Some(2 | 3 | 5 | 7)), "{row}: {}", show(&output));
        assert!(!stderr.contains("panicked") && !stderr.contains("internal error"), "{row}: {stderr}");
        // a file that cannot be written does not cost the answer
        assert!(output.stdout.is_empty() || code == Some(7), "{row}: {}", show(&output));
        let message = message(&stderr);
        assert!(message.len() > 10, "{row}: {stderr}");
        told += &format!("$ tailspn {row}\n[{}] {message}\n", code.unwrap());
    }
    assert!(ROWS.lines().count() >= 100, "{}", ROWS.lines().count());
    insta::assert_snapshot!(told);
}

/// Commands between backticks in messages are commands that exist: with files in place of the words in capitals, the parser takes them.
#[test]
fn commands_in_messages_are_accepted() {
    let folder = folder();
    let mut seen = std::collections::BTreeSet::new();
    for row in ROWS.lines() {
        let args: Vec<&str> = row.split(' ').filter(|word| !word.is_empty()).collect();
        let stderr = tool(&args).current_dir(folder.path()).output().unwrap().stderr;
        let told = unwrapped(&String::from_utf8_lossy(&stderr).replace('│', " "));
        let quoted = told.split('`').skip(1).step_by(2);
        seen.extend(quoted.filter(|code| code.starts_with("tailspn ")).map(str::to_owned));
    }
    assert!(seen.len() >= 5, "{seen:?}");
    for command in &seen {
        let words: Vec<String> = command.split(" > ").next().unwrap().split(' ').skip(1).map(filled).collect();
        // a verb alone is a name, and a page does not end
        if words.len() < 2 && words[0] != "FILE" || words[0] == "serve" {
            continue;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = tool(&words).current_dir(folder.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_unknown = ["unexpected argument", "unrecognized subcommand", "is neither a verb"]
            .iter()
            .any(|part| stderr.contains(part));
        assert!(!is_unknown, "{command}: {stderr}");
    }
}

/// Returns a word of a command with a file or a value in place of a word in capitals.
pub(crate) fn filled(word: &str) -> String {
    let of = |name: &str| {
        match name {
            "LOG" | "FILE" | "LOG..." | "RUN..." => "log.gz",
            "PLAN" | "PLAN.toml" => "job.toml",
            "NET" => "net.xml",
            "TIME" => "10m",
            "N" => "2",
            "FOLDER" | "FOLDER..." | "RESULT" => "result",
            name => name,
        }
        .to_owned()
    };
    match word.split_once('=') {
        Some((option, value)) => format!("{option}={}", of(value)),
        None => of(word),
    }
}
