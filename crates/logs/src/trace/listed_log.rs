//! The description of one of several logs in a folder or archive, and the matching of a request with this description.

use std::fmt;

use crate::trace::date::utc_text;

/// One of several logs in a folder or zip archive, as described at its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedLog {
    /// The file, archive entry or folder, relative to its folder or archive.
    pub file: String,
    /// The id of its application; none if the start of the log does not state it.
    pub id: Option<String>,
    /// The attempt of the application, if the log states it.
    pub attempt: Option<String>,
    /// The name of the application, if the log states it.
    pub name: Option<String>,
    /// The start in milliseconds since 1970, if the log states it.
    pub start_unix_ms: Option<i64>,
}

impl ListedLog {
    /// Returns how closely a request matches the log: its file with or without folders, its folder, its id, its id and
    /// attempt (`ID_2`, `ID/2`), or its name.
    pub(super) fn is_meant(&self, wanted: &str) -> Meant {
        let with_attempt = || {
            let (id, attempt) = (self.id.as_deref()?, self.attempt.as_deref()?);
            let rest = wanted.strip_prefix(id)?;
            Some(rest.strip_prefix(['_', '/'])? == attempt)
        };
        if self.file == wanted {
            Meant::File
        } else if with_attempt() == Some(true) {
            Meant::Attempt
        } else if self.id.as_deref() == Some(wanted) {
            Meant::Id
        } else if self.name.as_deref() == Some(wanted) || self.file.split('/').any(|part| part == wanted) {
            Meant::Name
        } else {
            Meant::No
        }
    }
}

/// Grades of a match between a request and a log, the closest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meant {
    No,
    Name,
    Id,
    Attempt,
    File,
}

impl fmt::Display for ListedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id.as_deref().unwrap_or(&self.file))?;
        if let Some(attempt) = &self.attempt {
            write!(f, " attempt {attempt}")?;
        }
        if let Some(name) = &self.name {
            write!(f, " `{name}`")?;
        }
        if let Some(time) = self.start_unix_ms {
            write!(f, " started {}", utc_text(time as f64 / 1000.0))?;
        }
        if self.id.is_some() { write!(f, " ({})", self.file) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_means_a_file_before_an_attempt_before_an_id_before_a_name() {
        let log = ListedLog {
            file: "logs/app_1_2.zstd".to_owned(),
            id: Some("app_1".to_owned()),
            attempt: Some("2".to_owned()),
            name: Some("sort".to_owned()),
            start_unix_ms: Some(0),
        };
        let meant = ["logs/app_1_2.zstd", "app_1_2", "app_1/2", "app_1", "sort", "app_1_2.zstd", "app_2", "app_1_3"];
        use Meant::{Attempt, File, Id, Name, No};
        assert_eq!(meant.map(|wanted| log.is_meant(wanted)), [File, Attempt, Attempt, Id, Name, Name, No, No]);
        assert_eq!(log.to_string(), "app_1 attempt 2 `sort` started 1970-01-01 00:00:00 UTC (logs/app_1_2.zstd)");
    }
}
