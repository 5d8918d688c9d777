//! Pages of the documentation are true: their commands are run, and what they show is what the commands print.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::show;

/// Pages with `console` blocks: the folder in which a reader runs them, and their commands.
const PAGES: [(&str, &str, usize); 3] =
    [("README.md", "", 1), ("docs/install.md", "", 15), ("docs/tutorial.md", "models/tutorial", 6)];

/// The commands of a page, each with the lines that are shown below it.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(block, _)| block));
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for block in blocks {
        assert!(block.starts_with("$ "), "a block without a command: {block}");
        for line in block.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
                (None, last) => last.unwrap().1.push(line.to_owned()),
            }
        }
    }
    commands
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

/// Runs the commands of a page in a copy of its folder, and compares.
fn check((page, folder, count): (&str, &str, usize)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let commands = commands(&std::fs::read_to_string(root.join(page)).unwrap());
    assert_eq!(commands.len(), count, "commands of {page}");
    let copy = tempfile::tempdir().unwrap();
    if folder.is_empty() {
        for name in ["models", "tests"] {
            std::os::unix::fs::symlink(root.join(name), copy.path().join(name)).unwrap();
        }
    } else {
        for entry in std::fs::read_dir(root.join(folder)).unwrap().map(Result::unwrap) {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let tool_folder = Path::new(env!("CARGO_BIN_EXE_tailspn")).parent().unwrap();
    let path = format!("{}:{}", tool_folder.display(), std::env::var("PATH").unwrap());
    for (command, shown) in commands {
        assert!(command.starts_with("tailspn "), "{page}: {command}");
        let mut shell = Command::new("bash");
        shell.args(["-c", &command]).current_dir(copy.path()).stdin(Stdio::null());
        shell.env("PATH", &path).env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
        let output = shell.output().unwrap();
        // 8: an answer that is no
        assert!(matches!(output.status.code(), Some(0 | 8)), "{page}: {command}: {}", show(&output));
        let printed = String::from_utf8(output.stdout).unwrap();
        if let Err(difference) = agree(&shown, &printed) {
            panic!("{page}: {command}: {difference}");
        }
    }
}

#[test]
fn the_first_screen_shows_what_its_command_prints() {
    check(PAGES[0]);
}

#[test]
fn the_first_page_shows_what_its_commands_print() {
    check(PAGES[1]);
}

#[test]
fn the_tutorial_shows_what_its_commands_print() {
    check(PAGES[2]);
}

/// A page with `console` blocks that is not in the list would not be checked.
#[test]
fn every_page_with_commands_is_checked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        if std::fs::read_to_string(&page).unwrap().contains("```console") {
            let name = format!("docs/{}", page.file_name().unwrap().to_str().unwrap());
            assert!(PAGES.iter().any(|(page, ..)| *page == name), "{name}");
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
