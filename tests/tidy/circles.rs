//! Imports between files of a crate: a graph of `crate::` paths with re-exports resolved, and its cycles.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, code, module_folder, without_tests};

/// Files of one crate, by the path of their module.
pub(crate) struct Crate<'s> {
    /// The file of each module, such as `["why", "causes"]`, and what it imports.
    modules: BTreeMap<Vec<String>, Module<'s>>,
}

struct Module<'s> {
    path: &'s str,
    /// Paths by the names under which the file imports or re-exports them, from the root of the crate.
    imports: BTreeMap<String, Vec<String>>,
    /// Paths that its code mentions, from the root of the crate.
    mentions: BTreeSet<Vec<String>>,
}

impl<'s> Crate<'s> {
    /// The files below `folder`, such as `crates/jobs/src`; tests are left out.
    pub(crate) fn of(folder: &str, sources: &'s [Source]) -> Self {
        let own = sources.iter().filter(|source| !source.is_test && source.path.starts_with(&format!("{folder}/")));
        let mut module_of: BTreeMap<Vec<String>, &Source> = BTreeMap::new();
        for source in own {
            module_of.insert(module_path(folder, &source.path), source);
        }
        let names: BTreeSet<Vec<String>> = module_of.keys().cloned().collect();
        let modules = module_of.into_iter().map(|(name, source)| {
            let module = Module::of(source, &name, &names);
            (name, module)
        });
        Self { modules: modules.collect() }
    }

    /// The module in whose file an item is defined; none for items of other crates.
    fn resolve(&self, path: &[String], depth: usize) -> Option<Vec<String>> {
        let mut at: Vec<String> = Vec::new();
        for (i, segment) in path.iter().enumerate() {
            at.push(segment.clone());
            if self.modules.contains_key(&at) {
                continue;
            }
            at.pop();
            let target = self.modules.get(&at).and_then(|module| module.imports.get(segment));
            return match target {
                Some(target) if depth > 0 => {
                    let rest = path[i + 1..].iter().cloned();
                    self.resolve(&target.iter().cloned().chain(rest).collect::<Vec<_>>(), depth - 1)
                }
                // an item of that file, or of another crate
                _ => (!at.is_empty() || self.modules.contains_key(&at)).then_some(at),
            };
        }
        Some(at)
    }

    /// The files that each file needs.
    fn edges(&self) -> BTreeMap<&'s str, BTreeSet<&'s str>> {
        let of = |module: &Module<'s>| {
            let found = module.mentions.iter().filter_map(|path| self.resolve(path, 8));
            found.map(|name| self.modules[&name].path).filter(|path| *path != module.path).collect()
        };
        self.modules.values().map(|module| (module.path, of(module))).collect()
    }

    /// Groups of files each of which needs all others of its group, with the edges inside.
    pub(crate) fn circles(&self) -> Vec<String> {
        let edges = self.edges();
        let reach = |from: &'s str| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(file) = open.pop() {
                open.extend(edges[file].iter().filter(|next| seen.insert(**next)));
            }
            seen
        };
        let reached: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reach(file))).collect();
        let mut circles = BTreeSet::new();
        for (file, all) in &reached {
            let group: Vec<&str> = all.iter().copied().filter(|other| reached[other].contains(file)).collect();
            if group.len() > 1 {
                let inside = |from: &&str| {
                    let to: Vec<_> = edges[from].iter().filter(|to| group.contains(to)).copied().collect();
                    format!("\n  {from} -> {}", to.join(", "))
                };
                circles.insert(format!(
                    "circle of {} files:{}",
                    group.len(),
                    group.iter().map(inside).collect::<String>()
                ));
            }
        }
        circles.into_iter().collect()
    }
}

impl<'s> Module<'s> {
    fn of(source: &'s Source, name: &[String], modules: &BTreeSet<Vec<String>>) -> Self {
        let body = without_tests(&source.text).into_iter().map(code).collect::<Vec<_>>().join("\n");
        let (mut imports, mut rest) = (BTreeMap::new(), String::new());
        let mut left = &body[..];
        while let Some((before, statement, after)) = next_use(left) {
            rest.push_str(before);
            for (alias, path) in expand(statement) {
                if let Some(path) = from_root(&path, name, modules) {
                    imports.insert(alias, path);
                }
            }
            left = after;
        }
        rest.push_str(left);
        // a declaration is not a use of an item with the same name
        let rest =
            rest.lines().filter(|line| !(line.contains("mod ") && line.ends_with(';'))).collect::<Vec<_>>().join("\n");
        let words: BTreeSet<&str> = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        let mut mentions: BTreeSet<Vec<String>> =
            imports.iter().filter(|(alias, _)| words.contains(&alias[..])).map(|(_, path)| path.clone()).collect();
        for (at, _) in rest.match_indices("crate::") {
            if !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                mentions.insert(path_at(&rest[at + "crate::".len()..]));
            }
        }
        Self { path: &source.path, imports, mentions }
    }
}

/// `crates/jobs/src/diagnose/causes/mod.rs` is `diagnose::causes`; a root is the empty path.
fn module_path(folder: &str, path: &str) -> Vec<String> {
    let inner = path[folder.len() + 1..].trim_end_matches(".rs");
    let mut segments: Vec<String> = inner.split('/').map(str::to_owned).collect();
    if segments.last().is_some_and(|last| ["mod", "lib", "main"].contains(&&last[..])) {
        segments.pop();
    }
    segments
}

/// Segments of a path up to where it ends.
fn path_at(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    text[..end].split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// The text before the first `use` statement of some code, what it imports, and the text behind it.
fn next_use(text: &str) -> Option<(&str, &str, &str)> {
    let is_start = |at: &usize| {
        let line = text[..*at].rfind('\n').map_or(0, |newline| newline + 1);
        ["", "pub", "pub(crate)", "pub(super)"].contains(&text[line..*at].trim())
    };
    let at = text.match_indices("use ").map(|(at, _)| at).find(is_start)?;
    let statement = &text[at + "use ".len()..];
    let end = statement.find(';')?;
    Some((&text[..at], &statement[..end], &statement[end + 1..]))
}

/// The names and paths of an import with or without braces.
fn expand(statement: &str) -> Vec<(String, String)> {
    let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((prefix, list)) = statement.split_once('{') else {
        let (path, alias) = statement.split_once(" as ").unwrap_or((&statement, ""));
        let last = path.rsplit("::").next().unwrap_or(path);
        let alias = if alias.is_empty() { last } else { alias };
        return vec![(alias.trim().to_owned(), path.trim().to_owned())];
    };
    let list = list.trim_end().strip_suffix('}').unwrap_or(list);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let join = |part: &str| match part.strip_prefix("self") {
        Some(alias) if alias.is_empty() || alias.starts_with(' ') => {
            format!("{}{alias}", prefix.trim_end_matches("::"))
        }
        _ => format!("{prefix}{part}"),
    };
    parts.flat_map(|part| expand(&join(part))).collect()
}

/// A path of a module's import from the root of its crate; none for other crates.
fn from_root(path: &str, module: &[String], modules: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let segments = path_at(path);
    let (first, rest) = segments.split_first()?;
    match &first[..] {
        "crate" => Some(rest.to_vec()),
        "self" => Some(module.iter().chain(rest).cloned().collect()),
        _ => {
            let child: Vec<String> = module.iter().chain([first]).cloned().collect();
            modules.contains(&child).then(|| child.iter().chain(rest).cloned().collect())
        }
    }
}

/// A cycle through a re-export is found, and a re-export alone is not a cycle.
#[test]
fn circles_are_recognised() {
    let file = |path: &str, text: &str| Source { path: format!("a/src/{path}"), text: text.to_owned(), is_test: false };
    let files = |b: &str| {
        vec![
            file("lib.rs", "mod x;\n"),
            file("x/mod.rs", "mod a;\nmod b;\npub use a::{One, Two};\npub use b::Three;\n"),
            file("x/a.rs", "use crate::x::{b::Three, c};\npub struct One(Three);\n"),
            file("x/b.rs", b),
        ]
    };
    let circle = files("use crate::x::Two;\n\npub fn three() -> Two {}\n");
    let found = Crate::of("a/src", &circle).circles();
    assert_eq!(found, ["circle of 2 files:\n  a/src/x/a.rs -> a/src/x/b.rs\n  a/src/x/b.rs -> a/src/x/a.rs"]);
    assert_eq!(Crate::of("a/src", &files("use crate::net::Two;\npub struct Three(Two);\n")).circles(), [""; 0]);
    assert_eq!(module_folder("x/mod.rs".as_ref()), std::path::Path::new("x"));
}
