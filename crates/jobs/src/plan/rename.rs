//! Old names of keys: read for one release, with a warning.
//!
//! Defines how a table of renames is applied to a document before anything is read from the document. The tables are
//! next to the plans.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::plan::problem::{PlanProblem, ProblemKind, line_of};

/// The release that no longer reads old names.
const LAST: &str = "0.3";

/// A key with an old and a new name. `[]` means every entry of a list: `cluster.node[].active`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Path of the key before.
    pub old: &'static str,
    /// Current path of the key; none if the key no longer has a meaning.
    pub new: Option<&'static str>,
    /// A key and its old default in TOML, set if the plan omits the key, because the default has changed.
    pub default: Option<(&'static str, &'static str)>,
}

impl Rename {
    /// Creates the rename of a key to `new`.
    pub const fn to(old: &'static str, new: &'static str) -> Self {
        Self { old, new: Some(new), default: None }
    }

    /// Sets `key` to its old default `value` in plans that omit it, because the default has changed.
    #[must_use]
    pub const fn with_default(self, key: &'static str, value: &'static str) -> Self {
        Self { default: Some((key, value)), ..self }
    }

    /// Creates the rename of a key that no longer has a meaning.
    pub const fn dropped(old: &'static str) -> Self {
        Self { old, new: None, default: None }
    }

    /// Returns the new form of a path such as `model.law.gpu` or `stage[*].law`; none if this rename does not apply.
    pub fn path(&self, path: &str) -> Option<String> {
        let steps: Vec<&str> = path.trim().split('.').collect();
        let old: Vec<&str> = self.old.split('.').collect();
        let bare = |step: &str| step.split('[').next().unwrap_or_default().to_owned();
        let fits = steps.len() >= old.len() && old.iter().zip(&steps).all(|(old, step)| bare(old) == bare(step));
        if !fits {
            return None;
        }
        let mut indexes = steps.iter().filter_map(|step| step.find('[').map(|at| &step[at..]));
        let mut new: Vec<String> = Vec::new();
        for step in self.new?.split('.') {
            let index = if step.ends_with("[]") { indexes.next()? } else { "" };
            new.push(format!("{}{index}", bare(step)));
        }
        if let (Some(last), Some(index)) = (new.last_mut().filter(|last| !last.contains('[')), indexes.next()) {
            last.push_str(index);
        }
        new.extend(steps[old.len()..].iter().map(ToString::to_string));
        Some(new.join("."))
    }
}

/// An old name in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanWarning {
    /// The message, with the line.
    pub message: String,
    /// Byte range of the old name in the text.
    pub span: Range<usize>,
}

impl PlanWarning {
    /// Creates a warning about an old name.
    pub(crate) fn new(text: &str, span: Range<usize>, old: &str, new: Option<&str>) -> Self {
        let line = line_of(text, span.start);
        let message = match new {
            Some(new) => format!("`{old}` is now `{new}` (line {line}); the old name is accepted until {LAST}"),
            None => format!("`{old}` no longer has any meaning (line {line}); it is accepted until {LAST}"),
        };
        Self { message, span }
    }
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A key that was taken out of a document.
struct Taken<'t> {
    /// Positions in the lists along the path.
    entries: Vec<usize>,
    /// Position of the key.
    span: Range<usize>,
    value: Spanned<DeValue<'t>>,
}

/// Returns the path of a key with its new names, such as the key of an axis, and a warning; none if the path has no old name.
pub fn rename_path(text: &str, span: Range<usize>, path: &str, renames: &[Rename]) -> Option<(String, PlanWarning)> {
    let new = renames.iter().fold(path.to_owned(), |path, rename| rename.path(&path).unwrap_or(path));
    let warning = PlanWarning::new(text, span, path, Some(&new));
    (new != path).then_some((new, warning))
}

/// Gives keys their new names. Returns a warning for each rename that applied, and a problem for each key whose old
/// and new names are both in the plan.
pub(crate) fn rename(text: &str, table: &mut DeTable<'_>, renames: &[Rename]) -> (Vec<PlanWarning>, Vec<PlanProblem>) {
    let (mut warnings, mut problems) = (Vec::new(), Vec::new());
    for rename in renames {
        let mut found = Vec::new();
        take(table, rename.old, &mut Vec::new(), &mut found);
        for (i, Taken { entries, span, value }) in found.into_iter().enumerate() {
            let old = concrete(rename.old, &entries);
            let new = rename.new.map(|new| concrete(new, &entries));
            let shown = new.as_deref().map(|new| shown(new, value.get_ref()));
            if let Some(new) = new
                && !put(table, &new, &span, value)
            {
                let message =
                    format!("`{old}` is the old name of `{}`, which the plan also has", shown.unwrap_or_default());
                problems.push(PlanProblem::new(ProblemKind::Value, old, message).at(text, Some(span)));
                continue;
            }
            if let Some((key, default)) = rename.default {
                set_default(table, key, default);
            }
            if i == 0 {
                warnings.push(PlanWarning::new(text, span, &old, shown.as_deref()));
            }
        }
    }
    warnings.sort_by_key(|warning| warning.span.start);
    (warnings, problems)
}

/// Sets a key to a value unless the document has the key.
pub(crate) fn set_default(table: &mut DeTable<'_>, key: &str, value: &'static str) {
    if let Ok(value) = DeValue::parse(value) {
        // the plan's own value stays
        put(table, key, &(0..0), Spanned::new(0..0, value.into_inner()));
    }
}

/// Returns a path in the notation of a plan: `[[a.b]]` for a list of tables, `[a.b]` for a table.
fn shown(path: &str, value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(items) if items.iter().all(|item| item.get_ref().is_table()) => format!("[[{path}]]"),
        DeValue::Table(_) => format!("[{path}]"),
        _ => path.to_owned(),
    }
}

/// Returns a path with positions in place of its `[]`.
fn concrete(path: &str, entries: &[usize]) -> String {
    let mut parts = path.split("[]");
    let mut written = parts.next().unwrap_or_default().to_owned();
    for (part, entry) in parts.zip(entries) {
        written.push_str(&format!("[{entry}]{part}"));
    }
    written
}

/// Removes all keys at a path from the table, and collects them.
fn take<'t>(table: &mut DeTable<'t>, path: &str, entries: &mut Vec<usize>, found: &mut Vec<Taken<'t>>) {
    let Some((first, rest)) = path.split_once('.') else {
        if let Some((key, value)) = table.remove_entry(path) {
            found.push(Taken { entries: entries.clone(), span: key.span(), value });
        }
        return;
    };
    let Some(inner) = table.get_mut(first.trim_end_matches("[]")) else { return };
    match inner.get_mut() {
        DeValue::Table(inner) if !first.ends_with("[]") => take(inner, rest, entries, found),
        DeValue::Array(items) if first.ends_with("[]") => {
            for (i, item) in items.iter_mut().enumerate() {
                if let DeValue::Table(inner) = item.get_mut() {
                    entries.push(i);
                    take(inner, rest, entries, found);
                    entries.pop();
                }
            }
        }
        _ => {}
    }
}

/// Puts a value at a path; missing tables are created. Returns true if the path was free.
fn put<'t>(table: &mut DeTable<'t>, path: &str, span: &Range<usize>, value: Spanned<DeValue<'t>>) -> bool {
    let Some((first, rest)) = path.split_once('.') else {
        if table.contains_key(path) {
            return false;
        }
        table.insert(Spanned::new(span.clone(), path.to_owned().into()), value);
        return true;
    };
    let (name, entry) = match first.split_once('[') {
        Some((name, entry)) => (name, entry.trim_end_matches(']').parse::<usize>().ok()),
        None => (first, None),
    };
    if !table.contains_key(name) {
        let empty = Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
        table.insert(Spanned::new(span.clone(), name.to_owned().into()), empty);
    }
    let Some(inner) = table.get_mut(name) else { return false };
    match (inner.get_mut(), entry) {
        (DeValue::Table(inner), None) => put(inner, rest, span, value),
        (DeValue::Array(items), Some(entry)) => match items.get_mut(entry).map(Spanned::get_mut) {
            Some(DeValue::Table(inner)) => put(inner, rest, span, value),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENAMES: [Rename; 4] = [
        Rename::to("cluster.nodes", "cluster.node"),
        Rename::to("cluster.node[].active", "cluster.node[].active_cores"),
        Rename::to("noise.slow", "stragglers.factor").with_default("stragglers.share", "0.0"),
        Rename::dropped("kind"),
    ];

    fn renamed(text: &str) -> (String, Vec<String>, Vec<String>) {
        let mut table = DeTable::parse(text).unwrap().into_inner();
        let (warnings, problems) = rename(text, &mut table, &RENAMES);
        let value: toml::Table =
            serde::Deserialize::deserialize(toml::de::Deserializer::from(Spanned::new(0..text.len(), table))).unwrap();
        let told = |all: Vec<String>| all;
        (
            value.to_string().replace('\n', " "),
            told(warnings.iter().map(ToString::to_string).collect()),
            told(problems.iter().map(ToString::to_string).collect()),
        )
    }

    #[test]
    fn keys_move_with_a_warning_that_names_the_line() {
        let text = "kind = \"x\"\n[[cluster.nodes]]\nactive = 1\n[[cluster.nodes]]\nactive = 2\n[noise]\nslow = 3.0\n";
        let (after, warnings, problems) = renamed(text);
        assert_eq!(
            after,
            "[[cluster.node]] active_cores = 1  [[cluster.node]] active_cores = 2  [noise]  [stragglers] factor = 3.0 share = 0.0 "
        );
        assert_eq!(
            warnings,
            [
                "`kind` no longer has any meaning (line 1); it is accepted until 0.3",
                "`cluster.nodes` is now `[[cluster.node]]` (line 2); the old name is accepted until 0.3",
                "`cluster.node[0].active` is now `cluster.node[0].active_cores` (line 3); the old name is accepted until 0.3",
                "`noise.slow` is now `stragglers.factor` (line 7); the old name is accepted until 0.3",
            ]
        );
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn a_key_under_its_old_and_new_name_is_a_problem() {
        let (after, _, problems) = renamed("[noise]\nslow = 3\n[stragglers]\nshare = 0.5\nfactor = 2\n");
        assert_eq!(after, "[noise]  [stragglers] factor = 2 share = 0.5 ");
        assert_eq!(problems, ["`noise.slow` is the old name of `stragglers.factor`, which the plan also has (line 2)"]);
    }

    #[test]
    fn paths_of_axes_are_renamed_too() {
        let path = |rename: usize, path: &str| RENAMES[rename].path(path);
        assert_eq!(path(0, "cluster.nodes[*].count").unwrap(), "cluster.node[*].count");
        assert_eq!(path(1, "cluster.node[2].active").unwrap(), "cluster.node[2].active_cores");
        assert_eq!(path(1, "cluster.node[2].count"), None);
        assert_eq!(path(3, "kind"), None);
    }
}
