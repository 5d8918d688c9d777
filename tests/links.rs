//! Links in the documentation lead to a file that exists and to a heading in it, and the book has every page.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All pages, by folder.
fn pages() -> Vec<PathBuf> {
    let folders =
        ["", "docs", "docs/replications", "examples", "models", "notebooks"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages
}

/// The lines of a page that are not code, each without its quoted code.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join(""));
        }
    }
    lines
}

/// The targets of the links and pictures in a line.
fn targets(line: &str) -> Vec<&str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if fenced || heading == line || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let before = seen.entry(anchor.clone()).or_default();
        anchors.push(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
        *before += 1;
    }
    anchors
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// The reason why a link of a page leads nowhere.
fn broken(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let file = if path.is_empty() { page.to_owned() } else { plain(&page.parent()?.join(path)) };
    if !file.exists() {
        return Some(format!("{}: no file {target}", page.display()));
    }
    let anchor = anchor.filter(|_| file.extension().is_some_and(|extension| extension == "md"))?;
    let found = anchors(&fs::read_to_string(&file).unwrap()).iter().any(|known| known == anchor);
    (!found).then(|| format!("{}: no heading for {target}", page.display()))
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut links = 0;
    for page in pages() {
        for line in prose(&fs::read_to_string(&page).unwrap()) {
            let targets = targets(&line);
            links += targets.len();
            wrong.extend(targets.into_iter().filter_map(|target| broken(&page, target)));
        }
    }
    assert!(links > 100, "{links} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_has_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let linked: Vec<&str> = summary.lines().flat_map(targets).collect();
    for page in pages() {
        let Ok(path) = page.strip_prefix(root().join("docs")) else { continue };
        let name = path.to_str().unwrap();
        assert!(name == "SUMMARY.md" || linked.contains(&name), "docs/SUMMARY.md lacks {name}");
    }
}

#[test]
fn broken_links_are_noticed() {
    let page = root().join("docs/install.md");
    assert!(broken(&page, "install.md#a-decision").is_none());
    assert!(broken(&page, "install.md#no-such-heading").is_some());
    assert!(broken(&page, "no-such-page.md").is_some());
    assert_eq!(targets("see [a](b.md#c) and ![d](e.png)"), ["b.md#c", "e.png"]);
    assert_eq!(anchors("# A `b` (c), d-e\n## A `b` (c), d-e"), ["a-b-c-d-e", "a-b-c-d-e-1"]);
}
