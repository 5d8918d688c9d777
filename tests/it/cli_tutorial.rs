//! The tutorial is true: its commands are run, and what it shows is what they print.

use crate::cli::{show, tool};

/// Commands of a text, each with the lines that are shown below it.
fn commands(text: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(block, _)| block));
    let command = |block: &str| {
        let mut lines = block.lines().map(str::to_owned);
        let words: Vec<String> =
            lines.next()?.strip_prefix("$ tailspn ")?.split_whitespace().map(str::to_owned).collect();
        Some((words, lines.collect()))
    };
    blocks.map(|block| command(block).unwrap()).collect()
}

/// Checks that the quoted text is in the output: runs of whole lines, in order; `...` stands for lines that are left
/// out.
fn agree(shown: &[impl AsRef<str>], output: &str) -> Result<(), String> {
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    let mut at = 0;
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    for part in shown.split(|line| *line == "...").filter(|part| !part.is_empty()) {
        let found = (at..lines.len()).find(|&i| lines[i..].len() >= part.len() && lines[i..i + part.len()] == *part);
        at = found.ok_or_else(|| format!("not printed:\n{}\n--- printed:\n{output}", part.join("\n")))? + part.len();
    }
    Ok(())
}

#[test]
fn the_tutorial_shows_what_its_commands_print() {
    let root = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{root}/docs/tutorial.md")).unwrap();
    let commands = commands(&text);
    assert!(commands.len() >= 6, "{} commands", commands.len());
    for (args, shown) in commands {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = tool(&words).current_dir(format!("{root}/models/tutorial")).output().unwrap();
        assert!(output.status.success(), "{}", show(&output));
        let printed = String::from_utf8(output.stdout).unwrap();
        if let Err(difference) = agree(&shown, &printed) {
            panic!("tailspn {}: {difference}", args.join(" "));
        }
    }
}

#[test]
fn a_line_that_is_not_printed_is_noticed() {
    assert!(agree(&["a", "b"], "a\nb\nc\n").is_ok());
    assert!(agree(&["a", "...", "c"], "a\nb\nc\n").is_ok());
    assert!(agree(&["a", "c"], "a\nb\nc\n").is_err());
    assert!(agree(&["c", "...", "a"], "a\nb\nc\n").is_err());
}
