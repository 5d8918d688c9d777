//! Functions and public items as text: how long a function is, and where an item is used.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, code, without_tests};

/// Functions of a file that are longer than `most` lines, from the line with `fn` to the closing brace.
pub(crate) fn long_functions(source: &Source, most: usize) -> Vec<String> {
    let lines = without_tests(&source.text);
    let mut long = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = name_after(line, "fn") else { continue };
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        let length = lines[start..].iter().position(|line| *line == end).map_or(1, |lines| lines + 1);
        if length > most && !line.ends_with(';') {
            long.push(format!("{}:{}: `{name}` has {length} lines, at most {most}", source.path, start + 1));
        }
    }
    long
}

/// The name that a line declares behind a keyword, whatever its visibility.
fn name_after<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let words: Vec<&str> = code(line).split_whitespace().collect();
    let at = words.iter().position(|word| *word == keyword)?;
    let before = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "static", "impl", "mut"];
    if !words[..at]
        .iter()
        .all(|word| before.contains(word) || word.starts_with("pub(in") || *word == "in" || word.contains("crate::"))
    {
        return None;
    }
    let name = words.get(at + 1)?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
    (end > 0).then_some(&name[..end])
}

/// The public items of a file that it declares outside of its tests: functions, methods, types, traits and constants.
fn public_items(source: &Source) -> BTreeSet<&str> {
    let lines = without_tests(&source.text).into_iter().filter(|line| line.trim_start().starts_with("pub "));
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static"];
    // `pub const fn name` is a function
    lines.filter_map(|line| kinds.iter().find_map(|kind| name_after(line, kind).filter(|name| *name != "fn"))).collect()
}

/// All words of code, without comments and without imports that only pass a name on.
fn used_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut passed_on = false;
    for line in text.lines().map(code) {
        let start = line.trim_start();
        passed_on |= start.starts_with("pub use ") || start.starts_with("pub(crate) use ");
        if !passed_on {
            words.extend(words_of(line));
        }
        passed_on &= !line.ends_with(';');
    }
    words
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Words of the examples in a file's documentation.
fn words_of_examples(text: &str) -> BTreeSet<&str> {
    let mut inside = false;
    let mut words = BTreeSet::new();
    for line in text.lines() {
        let Some(comment) = line.trim_start().strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            continue;
        };
        if comment.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            words.extend(words_of(comment));
        }
    }
    words
}

/// Public items that nothing mentions but their declaration: no code, no test, no example, and no page of the documentation. Imports
/// that only pass a name on do not count.
pub(crate) fn unused(product: &[Source], others: &[Source], pages: &[String]) -> Vec<String> {
    let mut mentions: BTreeMap<&str, usize> = BTreeMap::new();
    for word in product.iter().chain(others).flat_map(|source| used_words(&source.text)) {
        *mentions.entry(word).or_default() += 1;
    }
    let shown: BTreeSet<&str> = pages.iter().flat_map(|page| words_of(page)).collect();
    let mut unused = Vec::new();
    for source in product.iter().filter(|source| !source.is_test) {
        let examples = words_of_examples(&source.text);
        for name in public_items(source) {
            let declared_only = mentions.get(name).is_none_or(|count| *count < 2);
            if declared_only && !examples.contains(name) && !shown.contains(name) {
                unused.push(format!("{}: `{name}` is public, and nothing mentions it", source.path));
            }
        }
    }
    unused
}

#[test]
fn long_functions_and_unused_items_are_recognised() {
    let file = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned(), is_test: false };
    let a = file(
        "a.rs",
        "impl A {\n    pub(crate) const fn long(\n        x: u8,\n    ) {\n        x\n    }\n}\n\nfn short() {}\n",
    );
    assert_eq!(long_functions(&a, 4), ["a.rs:2: `long` has 5 lines, at most 4"]);
    assert!(long_functions(&a, 5).is_empty());
    let b =
        file("b.rs", "/// ```\n/// shown();\n/// ```\npub fn shown() {}\npub const fn used() {}\npub struct Lost;\n");
    let c = file("c.rs", "pub use b::{\n    Lost, shown,\n};\nfn f() { used(); } // Lost\n");
    let page = "`paged` does it".to_owned();
    let d = file("d.rs", "pub trait paged {}\n");
    assert_eq!(unused(&[b, c, d], &[], &[page]), ["b.rs: `Lost` is public, and nothing mentions it"]);
}
