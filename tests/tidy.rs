//! House rules that the compiler does not check: how long a file may be, that every file says what it owns, that every source it
//! cites exists, and that copies of a file are equal.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/items.rs"]
mod items;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with the code of the product.
const CODE: [&str; 13] = [
    "src",
    "shaders/src",
    "crates/common/src",
    "crates/derive/src",
    "crates/engine/src",
    "crates/exact/src",
    "crates/logs/src",
    "crates/jobs/src",
    "crates/python/src",
    "crates/studies/src",
    "crates/tables/src",
    "crates/report/src",
    "replications/src",
];

/// Most lines of a file, its tests not counted.
const MOST_LINES: usize = 500;

/// Most lines of a function.
const MOST_LINES_OF_A_FUNCTION: usize = 60;

/// A Rust file below the repository.
struct Source {
    /// Path from the repository's root, with `/`.
    path: String,
    text: String,
    /// True if it is compiled for tests only.
    is_test: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return files };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// All files below a folder of the repository, in order.
fn sources(folder: &str) -> Vec<Source> {
    let files = rust_files(&root().join(folder));
    let texts: Vec<_> = files.iter().map(|file| fs::read_to_string(file).unwrap().replace("\r\n", "\n")).collect();
    let mut test_only = Vec::new();
    for (file, text) in files.iter().zip(&texts) {
        let folder = module_folder(file);
        for name in modules_for_tests(text) {
            test_only.extend([folder.join(format!("{name}.rs")), folder.join(name)]);
        }
    }
    let source = |(file, text): (&PathBuf, String)| Source {
        path: file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"),
        is_test: !folder.ends_with("src") || test_only.iter().any(|test| file.starts_with(test)),
        text,
    };
    files.iter().zip(texts).map(source).collect()
}

/// All code of the product.
fn product() -> Vec<Source> {
    CODE.into_iter().flat_map(sources).collect()
}

/// Where the modules lie that a file declares.
fn module_folder(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap();
    match file.file_stem().unwrap().to_str().unwrap() {
        "mod" | "lib" | "main" => folder.to_owned(),
        name => folder.join(name),
    }
}

/// Modules in files of their own that a text declares for tests only.
fn modules_for_tests(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]");
    let declared = pairs.filter_map(|pair| pair[1].trim().strip_suffix(';')?.split_once("mod ").map(|(_, name)| name));
    declared.collect()
}

/// The lines before the tests at the end of a file.
fn without_tests(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1].ends_with('{'));
    lines[..tests.unwrap_or(lines.len())].to_vec()
}

/// The code of a line: what stands before a comment. Good enough for code that has no `//` in strings.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

/// Keys such as `Salmon2011` in square brackets in a comment, with or without a place in the source after them.
fn citations(line: &str) -> Vec<&str> {
    let Some((_, comment)) = line.split_once("//") else { return Vec::new() };
    let brackets = comment.split('[').skip(1);
    let keys = brackets.map(|rest| rest.split([',', ']', '\\']).next().unwrap_or(""));
    keys.filter(|key| is_citation(key)).collect()
}

/// A capital, letters, and a year of two or four digits.
fn is_citation(key: &str) -> bool {
    let name = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = key.len() - name.len();
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_alphabetic())
        && (digits == 2 || digits == 4)
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_one_line_per_module_from_the_root() {
    let mut wrong = Vec::new();
    for source in product() {
        let body = without_tests(&source.text).len();
        for (number, line) in (1..).zip(source.text.lines()) {
            if line.contains("crate::{") {
                wrong.push(format!("{}:{number}: modules are imported one by one", source.path));
            }
            let in_tests = source.is_test || number > body;
            if code(line).contains("super::") && !(in_tests && line.trim() == "use super::*;") {
                wrong.push(format!("{}:{number}: paths begin with `crate::`, not with `super::`", source.path));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn files_are_short_enough_to_read() {
    let mut wrong = Vec::new();
    for source in product().iter().filter(|source| !source.is_test) {
        let lines = without_tests(&source.text).len();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines without tests, at most {MOST_LINES}", source.path));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_file_begins_with_what_it_owns() {
    let mut wrong = Vec::new();
    for folder in
        CODE.into_iter().chain(["tests", "examples", "benches", "replications/tests", "replications/examples"])
    {
        for source in sources(folder).iter().filter(|source| !source.text.starts_with("//! ")) {
            wrong.push(format!("{}: does not begin with `//!`", source.path));
        }
    }
    assert_none(&wrong);
}

#[test]
fn functions_are_short_enough_to_read() {
    let product = product();
    let files = product.iter().filter(|source| !source.is_test);
    assert_none(&files.flat_map(|source| items::long_functions(source, MOST_LINES_OF_A_FUNCTION)).collect::<Vec<_>>());
}

/// Something mentions each public item: code, a test, an example or a page. That it has documentation is a lint.
#[test]
fn every_public_item_is_used() {
    let others = ["tests", "examples", "benches", "replications/tests", "replications/examples", "fuzz/fuzz_targets"];
    let others: Vec<Source> = others.into_iter().flat_map(sources).collect();
    let pages = pages().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>();
    assert_none(&items::unused(&product(), &others, &pages));
}

#[test]
fn no_circle_between_files_of_a_crate() {
    let sources = product();
    let circles = CODE.iter().flat_map(|folder| circles::Crate::of(folder, &sources).circles());
    assert_none(&circles.collect::<Vec<_>>());
}

#[test]
fn every_cited_source_is_in_the_references() {
    let references = fs::read_to_string(root().join("docs/references.md")).unwrap();
    let mut wrong = Vec::new();
    let mut cited = BTreeSet::new();
    for source in product() {
        for (number, line) in (1..).zip(source.text.lines()) {
            for key in citations(line) {
                cited.insert(key.to_owned());
                if !references.contains(&format!("* **{key}**")) {
                    wrong.push(format!("{}:{number}: [{key}] is not in docs/references.md", source.path));
                }
            }
        }
    }
    assert!(cited.len() > 20, "citations are not recognised: {cited:?}");
    assert_none(&wrong);
}

/// The rules can fail: lines that break one are seen, and others are not.
#[test]
fn broken_rules_are_recognised() {
    assert_eq!(
        citations(r"/// Source: \[Chan1983\], and [Law2015, 10.2.1], not [`Moments`] or [x1983]."),
        ["Chan1983", "Law2015"]
    );
    assert!(citations("let a = [Pipe43, Pipe5];").is_empty());
    assert_eq!(without_tests("a\n\n#[cfg(test)]\nmod tests {\n}\n"), ["a", ""]);
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod corpus;\nb\n").len(), 4);
    assert_eq!(
        modules_for_tests("#[cfg(test)]\nmod corpus;\nmod read;\n#[cfg(test)]\npub(crate) mod cases;"),
        ["corpus", "cases"]
    );
}

/// Paths from the repository's root that stand in backticks in a text.
fn quoted_paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let starts =
        ["src/", "crates/", "shaders/", "replications/", "examples/", "models/", "tests/", "docs/", "benches/"];
    quoted
        .filter(|path| starts.iter().any(|start| path.starts_with(start)) && !path.contains(['<', '*', ' ']))
        .collect()
}

/// All pages of the documentation but the changelog.
fn pages() -> impl Iterator<Item = PathBuf> {
    let folders = ["", "docs", "docs/replications", "examples", "models"].map(|folder| root().join(folder));
    let files = folders.into_iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("CHANGELOG.md"))
}

#[test]
fn every_path_in_the_docs_exists() {
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let missing = quoted_paths(&text).into_iter().filter(|quoted| !root().join(quoted).exists());
        wrong.extend(missing.map(|quoted| format!("{}: there is no `{quoted}`", path.display())));
    }
    assert_none(&wrong);
}

/// No file was committed with both sides of a merge in it.
#[test]
fn no_merge_was_left_unresolved() {
    let output = std::process::Command::new("git")
        .args(["grep", "--line-number", "-I", "-E", "^(<{7}|>{7}|[|]{7})( |$)"])
        .current_dir(root())
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{found}{}", String::from_utf8_lossy(&output.stderr));
}

/// A model that a crate embeds is the one in `models/`, and each crate has its own copy of the licences.
#[test]
fn copies_of_files_are_equal() {
    // the wheel has the licences of the root
    let unpublished = ["replications/src", "crates/python/src"];
    let published = CODE.iter().filter(|code| !unpublished.contains(code));
    let licences = published.flat_map(|code| {
        ["LICENSE-APACHE", "LICENSE-MIT"].map(|licence| (licence.to_owned(), code.replacen("src", licence, 1)))
    });
    let models = [
        ("models/mapreduce/default-job.toml", "crates/jobs/models/default-job.toml"),
        ("models/cluster/phan-c2.toml", "crates/jobs/models/phan-c2.toml"),
        ("models/mapreduce/which-knob.toml", "crates/studies/models/which-knob.toml"),
        ("models/mapreduce/deadline.toml", "crates/studies/models/deadline.toml"),
    ];
    let models = models.map(|(shown, embedded)| (shown.to_owned(), embedded.to_owned()));
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let wrong = licences.chain(models).filter(|(original, copy)| read(original) != read(copy));
    assert_none(&wrong.map(|(original, copy)| format!("{copy} is not {original}")).collect::<Vec<_>>());
}

/// Every crate of the workspace is checked.
#[test]
fn no_crate_is_forgotten() {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let folders = crates.map(|entry| format!("crates/{}/src", entry.unwrap().file_name().to_string_lossy()));
    let missing: Vec<_> = folders.filter(|folder| !CODE.contains(&&folder[..])).collect();
    assert_none(&missing);
}

/// The words in backticks of a cell of a table.
fn words(cell: &str) -> BTreeSet<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The crates, public modules and imports in ARCHITECTURE.md are those of the code.
#[test]
fn the_table_of_crates_is_true() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows: Vec<Vec<&str>> =
        page.lines().filter(|line| line.starts_with("| `")).map(|l| l.split('|').collect()).collect();
    let mut wrong = Vec::new();
    for folder in CODE.iter().filter_map(|code| code.strip_suffix("/src")) {
        let Some(row) = rows.iter().find(|row| row[2].trim() == format!("`{folder}`")) else {
            // not on crates.io, so the page describes them in a sentence
            if !page.contains(&format!("`{folder}`")) {
                wrong.push(format!("{folder} is missing"));
            }
            continue;
        };
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("").split("\n[").next().unwrap();
        let names = dependencies.lines().filter_map(|line| line.strip_prefix("tailspn-"));
        let imports: BTreeSet<&str> = names.map(|name| name.split(['.', ' ']).next().unwrap()).collect();
        let stated = row[4].split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if imports != stated {
            wrong.push(format!("{folder} imports {imports:?}, not {stated:?}"));
        }
        let library = fs::read_to_string(root().join(folder).join("src/lib.rs")).unwrap();
        let public = library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        let modules: BTreeSet<&str> = public.collect();
        if !row[3].contains("WGSL") && modules != words(row[3]) {
            wrong.push(format!("{folder} has the modules {modules:?}, not {:?}", words(row[3])));
        }
    }
    assert_none(&wrong);
}

/// The name of a type that a line declares, in public.
fn declared_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub enum ").or_else(|| line.strip_prefix("pub struct "))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The public types of a file that are errors, by derive or by hand.
fn error_types(source: &Source) -> Vec<String> {
    let lines = without_tests(&source.text);
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if line.contains("derive(") && line.contains("thiserror::Error") {
            found.extend(lines[number..].iter().find_map(|line| {
                let declared = line.starts_with("pub") && (line.contains(" enum ") || line.contains(" struct "));
                declared.then(|| declared_type(line).unwrap_or_default().to_owned())
            }));
        }
        if let Some((head, name)) = line.split_once("Error for ")
            && head.starts_with("impl")
        {
            found.push(name.split([' ', '<']).next().unwrap_or(name).to_owned());
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn every_public_error_converts_into_the_error_of_the_facade() {
    let facade = "src/error.rs";
    let libraries = product().into_iter().filter(|source| !source.path.starts_with("src/") && !source.is_test);
    let mut declared: Vec<_> = libraries.flat_map(|source| error_types(&source)).collect();
    let text = fs::read_to_string(root().join(facade)).unwrap();
    let lists = text.split("converts").flat_map(|part| part.split("];").next());
    let entries = lists.flat_map(str::lines).filter_map(|line| line.strip_prefix("    ")?.strip_suffix(','));
    let paths = entries.map(|entry| entry.split_once(" in ").map_or(entry, |(_, path)| path));
    let last = |path: &str| path.split('<').next().and_then(|path| path.rsplit("::").next()).map(str::to_owned);
    let mut listed: Vec<_> = paths.filter(|path| !path.starts_with("std::")).filter_map(last).collect();
    assert!(declared.len() > 60, "{declared:?}");
    // names may stand there several times, once per type
    for own in std::mem::take(&mut listed) {
        match declared.iter().position(|name| *name == own) {
            Some(at) => _ = declared.swap_remove(at),
            None => listed.push(own),
        }
    }
    assert!(declared.is_empty() && listed.is_empty(), "missing in {facade}: {declared:?}; not an error: {listed:?}");
}
