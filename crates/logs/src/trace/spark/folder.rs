//! The files of a folder that form a Spark event log, and their order.

use std::path::{Path, PathBuf};

use crate::trace::error::TraceError;
use crate::trace::input::files_of;
use crate::trace::warning::WarningKind;

/// A warning about a log's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::trace) struct PartOddity {
    pub(in crate::trace) kind: WarningKind,
    pub(in crate::trace) example: String,
}

/// The files of a log in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::trace) struct Parts<T> {
    pub(in crate::trace) files: Vec<T>,
    pub(in crate::trace) warnings: Vec<PartOddity>,
}

/// Returns the parts of the Spark log in a folder; none if the folder is not a Spark log.
pub(in crate::trace) fn parts_of(folder: &Path) -> Result<Option<Parts<PathBuf>>, TraceError> {
    let name = |file: &PathBuf| file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(parts_by_name(files_of(folder)?.into_iter().map(|file| (name(&file), file))))
}

/// Returns the named files of a folder that form a Spark log, in order; none if they do not form one.
///
/// * Rolled since 3.0: `events_<n>_<application>`, by number; a compacted part replaces all parts up to its number.
/// * 1.0 to 1.2: `EVENT_LOG_1`, `EVENT_LOG_2`, ... next to files whose names carry information.
/// * Databricks: `eventlog-<date>`, by date, and `eventlog`, the last.
pub(in crate::trace) fn parts_by_name<T>(files: impl IntoIterator<Item = (String, T)>) -> Option<Parts<T>> {
    let mut rolled: Vec<Rolled<T>> = Vec::new();
    let mut databricks = Vec::new();
    let mut last = Vec::new();
    for (name, file) in files {
        let number = |rest: &str| rest.split('_').next().and_then(|number| number.parse().ok());
        if let Some(number) = name.strip_prefix("events_").and_then(number) {
            rolled.push(Rolled { number, is_compact: name.ends_with(".compact"), name, file });
        } else if let Some(number) = name.strip_prefix("EVENT_LOG_").and_then(number) {
            rolled.push(Rolled { number, is_compact: false, name, file });
        } else if name.starts_with("eventlog-") {
            databricks.push(file);
        } else if name == "eventlog" || name.starts_with("eventlog.") {
            last.push(file);
        }
    }
    if !rolled.is_empty() {
        return Some(in_order(rolled));
    }
    if databricks.is_empty() {
        return None;
    }
    databricks.append(&mut last);
    Some(Parts { files: databricks, warnings: Vec::new() })
}

/// A part of a rolled log.
struct Rolled<T> {
    number: u64,
    is_compact: bool,
    name: String,
    file: T,
}

fn in_order<T>(mut parts: Vec<Rolled<T>>) -> Parts<T> {
    parts.sort_by(|a, b| (a.number, a.is_compact, &a.name).cmp(&(b.number, b.is_compact, &b.name)));
    let mut warnings = Vec::new();
    if let Some(compact) = parts.iter().rev().find(|part| part.is_compact) {
        let upto = compact.number;
        warnings.push(PartOddity { kind: WarningKind::CompactedPart, example: compact.name.clone() });
        parts.retain(|part| part.number > upto || (part.number == upto && part.is_compact));
    } else if let Some(first) = parts.first().map(|part| part.number).filter(|&number| number > 1) {
        let example = format!("parts 1 to {}", first - 1);
        warnings.push(PartOddity { kind: WarningKind::MissingPart, example });
    }
    for pair in parts.windows(2) {
        if pair[1].number > pair[0].number + 1 {
            let example = format!("between {} and {}", pair[0].name, pair[1].name);
            warnings.push(PartOddity { kind: WarningKind::MissingPart, example });
        }
    }
    Parts { files: parts.into_iter().map(|part| part.file).collect(), warnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> (Vec<String>, Vec<WarningKind>) {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let Some(parts) = parts_of(folder.path()).unwrap() else { return Default::default() };
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        (parts.files.iter().map(name).collect(), parts.warnings.iter().map(|warning| warning.kind).collect())
    }

    #[test]
    fn rolled_parts_are_in_the_order_of_their_numbers() {
        let (files, warnings) = folder(&["events_10_a", "events_2_a", "events_1_a.zstd", "appstatus_a", "events_9_a"]);
        assert_eq!(files, ["events_1_a.zstd", "events_2_a", "events_9_a", "events_10_a"]);
        assert_eq!(warnings, [WarningKind::MissingPart]);
    }

    #[test]
    fn a_compacted_part_replaces_those_before_it() {
        let (files, warnings) = folder(&["events_1_a", "events_2_a", "events_2_a.compact", "events_3_a"]);
        assert_eq!(files, ["events_2_a.compact", "events_3_a"]);
        assert_eq!(warnings, [WarningKind::CompactedPart]);
    }

    #[test]
    fn parts_of_old_spark_and_databricks_folders_are_found_in_order() {
        assert_eq!(folder(&["APPLICATION_COMPLETE", "EVENT_LOG_1", "SPARK_VERSION_1.2.0"]).0, ["EVENT_LOG_1"]);
        let databricks = folder(&["eventlog", "eventlog-2021-06-15--15-00.gz", "eventlog-2021-06-14--15-00.gz"]).0;
        assert_eq!(databricks, ["eventlog-2021-06-14--15-00.gz", "eventlog-2021-06-15--15-00.gz", "eventlog"]);
        assert!(folder(&["x.jhist", "x_conf.xml"]).0.is_empty());
    }
}
