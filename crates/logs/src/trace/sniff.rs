//! Detects the format of a log from the start of its text; file names are ignored.

use crate::trace::format::Format;
use crate::trace::input::whole_lines;
use crate::trace::phases::is_header;

/// Number of bytes that suffice to detect a format: a line of a Spark log with its settings may be long.
pub(super) const HEAD: u64 = 1 << 18;

/// Content of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    Log(Format),
    /// A known content that is not a log: its description, and the recommendation.
    Other(&'static str, &'static str),
    Unknown,
}

/// Logs that the user can provide.
pub(super) const GIVE_A_LOG: &str = "supported logs: Spark (event logs), Hadoop (job history, Rumen), phase logs (CSV), Google \
                                     2011 (task_events) and Alibaba (batch_task, batch_instance)";

/// Detects the format of a text from its start.
pub(super) fn sniff(head: &[u8]) -> Sniffed {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    let starts = |start: &str| text.starts_with(start.as_bytes());
    if starts("Avro-Json") {
        return Sniffed::Log(Format::HadoopJson);
    }
    if starts("Avro-Binary") {
        let help = "configure Hadoop to write JSON (mapreduce.jobhistory.jhist.format=json), or convert the file";
        return Sniffed::Other("a Hadoop job history in binary Avro", help);
    }
    if starts("Meta VERSION=") || starts("Job JOBID=") || starts("!!FILE=") {
        return Sniffed::Log(Format::HadoopText);
    }
    if starts("<") {
        return Sniffed::Other("XML", "settings and nets are not logs; pass the job history along with the settings");
    }
    if starts("JOB_ID=") || starts("TASK_TYPE=") || starts("STAGE_ID=") {
        return Sniffed::Other("a log of Spark's old JobLogger", "use the event log of the same run");
    }
    if starts("{") {
        return sniff_json(text);
    }
    if text.contains(&0) || std::str::from_utf8(&text[..text.len().min(512)]).is_err_and(|e| e.error_len().is_some()) {
        return Sniffed::Other("binary data", GIVE_A_LOG);
    }
    sniff_table(text)
}

/// Returns the first top-level keys of an object, which may be truncated.
fn first_keys(text: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let (mut depth, mut string, mut escaped, mut start) = (0_u32, false, false, 0);
    let mut last: Option<&[u8]> = None;
    for (i, &byte) in text.iter().enumerate() {
        if string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    string = false;
                    last = (depth == 1).then(|| &text[start..i]);
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => (string, start) = (true, i + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => keys.extend(last.take().map(|key| String::from_utf8_lossy(key).into_owned())),
            _ => {}
        }
        if depth == 0 || keys.len() > 200 {
            break;
        }
    }
    keys
}

fn sniff_json(text: &[u8]) -> Sniffed {
    let keys = first_keys(text);
    let has = |key: &str| keys.iter().any(|k| k == key);
    if has("Event") {
        return Sniffed::Log(Format::SparkEventLog);
    }
    if has("type") && has("event") {
        return Sniffed::Log(Format::HadoopJson);
    }
    if has("jobID") || has("mapTasks") || has("otherTasks") {
        return Sniffed::Log(Format::Rumen);
    }
    if has("children") {
        return Sniffed::Other("a Rumen topology, which contains no jobs", "use the trace that belongs to it");
    }
    if has("am.type") || has("job.tasks") {
        return Sniffed::Other("a workload of the YARN simulator", "use the Rumen trace that it was generated from");
    }
    if has("protocol") || has("namespace") {
        return Sniffed::Other("an Avro schema", GIVE_A_LOG);
    }
    Sniffed::Other("JSON, but not of a supported log format", GIVE_A_LOG)
}

/// Number of table rows inspected.
const ROWS: usize = 20;

/// Returns true if the first row is the header of a phase log.
fn is_phase_log(text: &[u8]) -> bool {
    let lines = text.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with(b"#"));
    let Some(Ok(first)) = first.map(std::str::from_utf8) else { return false };
    is_header(&first.split(',').map(|cell| cell.trim().trim_matches('"')).collect::<Vec<_>>())
}

fn sniff_table(text: &[u8]) -> Sniffed {
    if is_phase_log(text) {
        return Sniffed::Log(Format::PhaseLog);
    }
    let lines = whole_lines(text).split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let mut votes: Vec<Sniffed> = Vec::new();
    for line in lines.take(ROWS) {
        let Ok(line) = std::str::from_utf8(line) else { return Sniffed::Unknown };
        let cells: Vec<&str> = line.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
        votes.push(sniff_row(&cells));
    }
    // a first row may be a header
    let known: Vec<Sniffed> = votes.iter().copied().filter(|&vote| vote != Sniffed::Unknown).collect();
    match known.first() {
        Some(&first) if 2 * known.len() > votes.len() && known.iter().all(|&vote| vote == first) => first,
        _ => Sniffed::Unknown,
    }
}

fn sniff_row(cells: &[&str]) -> Sniffed {
    let number = |i: usize| cells.get(i).is_some_and(|cell| cell.is_empty() || cell.parse::<f64>().is_ok());
    let status = |i: usize| {
        const WORDS: [&str; 7] = ["Terminated", "Failed", "Running", "Ready", "Waiting", "Cancelled", "Interrupted"];
        cells.get(i).is_some_and(|cell| WORDS.contains(cell))
    };
    match cells.len() {
        13 if [0, 2, 3, 5].into_iter().all(number) => Sniffed::Log(Format::Google2011),
        20 if (0..4).all(number) => Sniffed::Other(
            "the table task_usage of Google's cluster trace, which holds no attempts",
            "use task_events of the same trace",
        ),
        6 | 7 if (0..3).all(number) => Sniffed::Other(
            "a table of machines of a cluster trace, which holds no attempts",
            "use task_events or batch_instance of the same trace",
        ),
        8 if number(0) && number(1) && status(5) => Sniffed::Log(Format::Alibaba2017),
        12 if number(0) && number(1) && status(5) => Sniffed::Log(Format::Alibaba2017),
        9 if number(5) && number(6) && status(4) => Sniffed::Log(Format::Alibaba2018),
        14 if number(5) && number(6) && status(4) => Sniffed::Log(Format::Alibaba2018),
        _ => Sniffed::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_how_they_begin() {
        let log = |text: &str| match sniff(text.as_bytes()) {
            Sniffed::Log(format) => Some(format),
            _ => None,
        };
        assert_eq!(log("{\"Event\":\"SparkListenerLogStart\"}\n"), Some(Format::SparkEventLog));
        assert_eq!(log("{\"Timestamp\":1,\"Event\":\"x\"}\n"), Some(Format::SparkEventLog));
        assert_eq!(log("\u{feff}Avro-Json\n{}"), Some(Format::HadoopJson));
        assert_eq!(log("Meta VERSION=\"1\" .\n"), Some(Format::HadoopText));
        assert_eq!(log("{\n  \"user\" : \"a\",\n  \"jobID\" : \"job_1\"\n"), Some(Format::Rumen));
        assert_eq!(log("phase,end_s,start_s,x,kind\n"), Some(Format::PhaseLog));
        assert_eq!(log("0,,1,0,0,0,u,3,9,0.1,0.1,0.1,0\n"), Some(Format::Google2011));
        assert_eq!(log("1,2,j,t,4,Terminated,100,0.5\n"), Some(Format::Alibaba2017));
        assert_eq!(log("M1,4,j_1,1,Terminated,10,20,100,0.5\n"), Some(Format::Alibaba2018));
        for other in ["", "hello\n", "a,b,c\n", "{\"a\":{\"Event\":1}}\n", "\0\0\0", "<xml/>", "1,2,3\n"] {
            assert_eq!(log(other), None, "{other:?}");
        }
    }

    #[test]
    fn keys_are_those_of_the_top_level() {
        assert_eq!(first_keys(b"{\"a\":{\"b\":[1,{\"c\":2}]},\"d\\\"e\":\"f:g\",\"h\":"), ["a", "d\\\"e", "h"]);
    }
}
