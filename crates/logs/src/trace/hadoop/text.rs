//! The job history of 0.20 and 1.x: records such as `MapAttempt TASKID="..." START_TIME="..." .`, one after the other. A value may contain line ends,
//! and escapes with a backslash. One file may contain several histories, each after a line `!!FILE=name!!`, with the XML settings of their jobs
//! between them.

use std::borrow::Cow;

use crate::trace::builder::Builder;
use crate::trace::error::TraceError;
use crate::trace::hadoop::counters::count;
use crate::trace::hadoop::history::{AttemptFacts, History, JobFacts};
use crate::trace::input::Lines;
use crate::trace::metric::Metrics;
use crate::trace::warning::{Spot, WarningKind};

/// First words of records.
const KINDS: [&str; 5] = ["Meta", "Job", "Task", "MapAttempt", "ReduceAttempt"];

/// Maximum bytes of a record; a longer record counts as damaged.
const LONGEST_RECORD: usize = 1 << 24;

/// A record being collected.
#[derive(Default)]
struct Open {
    text: Vec<u8>,
    first: Spot,
    quoted: bool,
    escaped: bool,
}

impl Open {
    fn push(&mut self, line: &[u8]) {
        for &byte in line {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.quoted => self.escaped = true,
                b'"' => self.quoted = !self.quoted,
                _ => {}
            }
        }
        // an escaped line end
        self.escaped = false;
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
    }

    fn is_complete(&self) -> bool {
        !self.quoted && self.text.trim_ascii_end().ends_with(b".")
    }
}

/// Reads a history; returns the number of the first line that does not parse.
pub(in crate::trace) fn read(lines: &mut Lines<'_>, builder: &mut Builder) -> Result<Option<u64>, TraceError> {
    let mut history = History::default();
    let mut open: Option<Open> = None;
    let mut first_bad = None;
    let mut in_xml = false;
    while lines.next(builder)? {
        // a file of several histories may start with a form feed or similar
        let line = lines.line();
        let line = &line[line.iter().take_while(|byte| byte.is_ascii_control()).count()..];
        let begins = begins_record(line) || line.starts_with(b"!!FILE=");
        if begins {
            in_xml = line.starts_with(b"!!FILE=") && line.ends_with(b".xml!!");
            // the previous record has no end
            if let Some(cut) = open.take() {
                bad(&cut, WarningKind::BadLine, &mut first_bad, builder);
            }
        }
        if line.starts_with(b"!!FILE=") || in_xml || (open.is_none() && line.trim_ascii().is_empty()) {
            continue;
        }
        let record = open.get_or_insert_with(|| Open { first: builder.at, ..Open::default() });
        record.push(line);
        if record.is_complete() || record.text.len() > LONGEST_RECORD {
            let record = open.take().unwrap_or_default();
            if !take_in(&record, &mut history, builder)? {
                bad(&record, WarningKind::BadLine, &mut first_bad, builder);
            }
        }
    }
    if let Some(cut) = open {
        bad(&cut, WarningKind::CutLastLine, &mut first_bad, builder);
    }
    history.close(builder)?;
    Ok(first_bad)
}

/// Returns true if a line is the first of a record: its kind, and a key.
fn begins_record(line: &[u8]) -> bool {
    KINDS.into_iter().any(|kind| {
        let key = line.strip_prefix(kind.as_bytes()).and_then(|rest| rest.strip_prefix(b" "));
        key.is_some_and(|key| key.first().is_some_and(u8::is_ascii_uppercase) && key.contains(&b'='))
    })
}

fn bad(record: &Open, kind: WarningKind, first_bad: &mut Option<u64>, builder: &mut Builder) {
    *first_bad = first_bad.or(Some(record.first.line));
    builder.reading.bad_lines += 1;
    let example = || String::from_utf8_lossy(&record.text[..record.text.len().min(200)]).into_owned();
    builder.warnings.add(kind, record.first, example);
}

/// The keys of a record with their values, escapes decoded.
struct Record<'a> {
    kind: &'a str,
    pairs: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Record<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (kind, mut rest) = text.trim_start().split_once(' ')?;
        let mut pairs = Vec::new();
        loop {
            rest = rest.trim_start();
            if rest.is_empty() || rest.starts_with('.') {
                break;
            }
            let (key, value) = rest.split_once("=\"")?;
            let mut escaped = false;
            let end = value.bytes().position(|byte| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            })?;
            pairs.push((key.trim(), unescaped(&value[..end])));
            rest = &value[end + 1..];
        }
        KINDS.contains(&kind).then_some(Self { kind, pairs })
    }

    fn text(&self, key: &str) -> &str {
        self.pairs.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| value)
    }

    fn number(&self, key: &str) -> i64 {
        self.text(key).trim().parse().unwrap_or(0)
    }

    fn count(&self, key: &str) -> Option<u32> {
        self.text(key).trim().parse().ok()
    }

    fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(name, _)| *name == key)
    }
}

/// Returns a text without its backslashes: each escapes the next character.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    Cow::Owned(plain)
}

fn take_in(record: &Open, history: &mut History, builder: &mut Builder) -> Result<bool, TraceError> {
    let text = String::from_utf8_lossy(&record.text);
    let Some(record) = Record::parse(&text) else { return Ok(false) };
    builder.reading.events += 1;
    match record.kind {
        "Job" => job(&record, history, builder),
        "Task" => {
            let (start, finish) = (record.number("START_TIME"), record.number("FINISH_TIME"));
            history.task(record.text("TASKID"), record.text("TASK_TYPE"), start, finish, builder);
        }
        "MapAttempt" | "ReduceAttempt" => attempt(&record, history, builder)?,
        _ => {}
    }
    Ok(true)
}

fn job(record: &Record<'_>, history: &mut History, builder: &mut Builder) {
    let facts = JobFacts {
        id: record.text("JOBID"),
        name: record.text("JOBNAME"),
        user: record.text("USER"),
        submitted: record.number("SUBMIT_TIME"),
        launched: record.number("LAUNCH_TIME"),
        finished: record.number("FINISH_TIME"),
        maps: record.count("TOTAL_MAPS"),
        reduces: record.count("TOTAL_REDUCES"),
        status: record.text("JOB_STATUS"),
    };
    history.job(&facts, builder);
}

fn attempt(record: &Record<'_>, history: &mut History, builder: &mut Builder) -> Result<(), TraceError> {
    let tracker = tracker_host(record.text("TRACKER_NAME"));
    let host = record.text("HOSTNAME");
    let facts = AttemptFacts {
        id: record.text("TASK_ATTEMPT_ID"),
        kind: record.text("TASK_TYPE"),
        start: record.number("START_TIME"),
        finish: record.number("FINISH_TIME"),
        map_finish: record.number("MAP_FINISHED"),
        shuffle_finish: record.number("SHUFFLE_FINISHED"),
        sort_finish: record.number("SORT_FINISHED"),
        host: if host.is_empty() { tracker } else { host },
        rack: "",
        locality: record.text("LOCALITY"),
        avataar: record.text("AVATAAR"),
        status: record.text("TASK_STATUS"),
    };
    if !record.has("TASK_STATUS") {
        history.start(&facts, builder);
        return Ok(());
    }
    let mut metrics = Metrics::default();
    for (name, value) in counters(record.text("COUNTERS")) {
        if !count(&name, value, &mut metrics) {
            builder.warn(WarningKind::BadCounter, || name.clone());
        }
    }
    history.end(&facts, &mut metrics, builder)
}

/// Returns the host of a tracker such as `tracker_host:localhost/127.0.0.1:52187`.
fn tracker_host(tracker: &str) -> &str {
    let host = tracker.strip_prefix("tracker_").unwrap_or(tracker);
    host.split([':', '/']).next().unwrap_or("")
}

/// Returns names and values of counters: `{(group)(display)[(name)(display)(value)][...]}`, with escapes. A group's head is followed by a bracket and
/// has no value.
fn counters(text: &str) -> Vec<(String, Option<i64>)> {
    let mut found = Vec::new();
    for entry in brackets(text) {
        let mut fields = parentheses(&entry);
        let name = fields.next();
        if let (Some(name), Some(value)) = (name, fields.nth(1)) {
            found.push((name, value.trim().parse().ok()));
        }
    }
    found
}

/// Returns the texts in square brackets, with escapes kept.
fn brackets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, &mut inside) {
            ('\\', Some(entry)) => {
                entry.push(character);
                entry.extend(characters.next());
            }
            ('\\', None) => {
                characters.next();
            }
            ('[', None) => inside = Some(String::new()),
            (']', Some(_)) => found.extend(inside.take()),
            (character, Some(entry)) => entry.push(character),
            (_, None) => {}
        }
    }
    found
}

/// Returns the texts in parentheses, with escapes decoded.
fn parentheses(text: &str) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let mut inside: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, &mut inside) {
            ('\\', Some(field)) => field.extend(characters.next()),
            ('(', None) => inside = Some(String::new()),
            (')', Some(_)) => found.extend(inside.take()),
            (character, Some(field)) => field.push(character),
            (_, None) => {}
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_parsed_with_escapes_and_line_ends() {
        let text = "Task TASKID=\"task_1\" ERROR=\"a \\\"quoted\\\"\nline\\.\" N=\"5\" .\n";
        let record = Record::parse(text).unwrap();
        assert_eq!(record.kind, "Task");
        assert_eq!(record.text("ERROR"), "a \"quoted\"\nline.");
        assert_eq!(record.number("N"), 5);
        assert!(Record::parse("Task TASKID=\"cut").is_none());
        assert!(Record::parse("Other A=\"b\" .").is_none());
    }

    #[test]
    fn counters_are_found_in_their_groups() {
        let text = "{(FS)(FS)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(47)]}{(a.b)(Map \\(x\\))[(GC)(time \\(ms\\) \\[s\\])(9)][(N)(n)(x)]}";
        let expected = [("HDFS_BYTES_READ", Some(47)), ("GC", Some(9)), ("N", None)];
        assert_eq!(counters(text), expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn trackers_name_their_host() {
        assert_eq!(tracker_host("tracker_node7.example.com:localhost/127.0.0.1:52187"), "node7.example.com");
        assert_eq!(tracker_host("localhost/127.0.0.1:3333"), "localhost");
    }
}
