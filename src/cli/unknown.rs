//! Files of no kind that tailspn knows: what they seem to be.

use std::path::Path;

use tailspn::report::counted;

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// Refuses a file that no reader takes; `wanted` is what the command takes.
pub(crate) fn refused(path: &Path, bytes: &[u8], wanted: &str) -> Failure {
    let message = format!("`{}` is {}, not {wanted}", path.display(), looks_like(bytes));
    Failure::helped(Exit::Model, message, "`tailspn estimate --print-plan > job.toml` prints a plan to start from")
}

/// Returns what the contents of a file seem to be.
pub(crate) fn looks_like(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else { return "binary data".to_owned() };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return "empty".to_owned();
    }
    if text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return "JSON of another program".to_owned();
    }
    table(text).unwrap_or_else(|| "text".to_owned())
}

/// Returns the size of a table; none for another text.
fn table(text: &str) -> Option<String> {
    /// Lines that must have as many fields as the first.
    const SEEN: usize = 20;
    let head = text.lines().next()?;
    let (name, separator) =
        [("CSV", ','), ("TSV", '\t')].into_iter().find(|(_, separator)| head.contains(*separator))?;
    let fields = |line: &str| line.split(separator).count();
    let rows = text.lines().skip(1).filter(|line| !line.is_empty());
    if rows.clone().next().is_none() || rows.clone().take(SEEN).any(|line| fields(line) != fields(head)) {
        return None;
    }
    let (columns, rows) = (counted(fields(head) as u64, "column"), counted(rows.count() as u64, "row"));
    Some(format!("a {name} table ({columns}, {rows})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_described() {
        let of = |text: &str| looks_like(text.as_bytes());
        assert_eq!(of("a,b,c\n1,2,3\n4,5,6\n"), "a CSV table (3 columns, 2 rows)");
        assert_eq!(of("a\tb\n1\t2\n"), "a TSV table (2 columns, 1 row)");
        assert_eq!(of("Hello, world\nthis is text"), "text");
        assert_eq!(of("{\"a\": 1}"), "JSON of another program");
        assert_eq!((of(" \n"), looks_like(&[0xff, 0x00])), ("empty".to_owned(), "binary data".to_owned()));
    }
}
