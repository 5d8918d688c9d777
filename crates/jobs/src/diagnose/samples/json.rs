//! `sadf -j`, and what mpstat and iostat write with `-o JSON`. The reports are read one by one, so that of a file that is cut off
//! those before the cut are used.

use serde_json::Value;

use crate::diagnose::samples::clock::{DAY, date, number_or_nan, stamp, time_of_day};
use crate::diagnose::samples::collect::Collector;
use crate::diagnose::samples::series::Meter;
use crate::diagnose::samples::warning::SampleWarningKind;

/// Bytes in what sysstat calls a kilobyte.
const KILO: f64 = 1024.0;

/// Reads a text; `utc_offset` is how many seconds its clock is before UTC where it does not say.
pub(super) fn read(text: &str, utc_offset: f64, collector: &mut Collector) {
    let mut host = Host { utc_offset, ..Host::default() };
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find("\"statistics\"") {
        found = true;
        collector.line = 1 + newlines(&text[..text.len() - rest.len() + at]);
        host.head(&rest[..at], collector);
        rest = &rest[at + "\"statistics\"".len()..];
        let Some(open) = rest.find('[') else { break };
        rest = reports(&rest[open + 1..], &mut host, collector);
    }
    let whole = serde_json::from_str::<serde::de::IgnoredAny>(text);
    match whole {
        Ok(_) if found && rest.trim_end().ends_with('}') => {}
        // something that JSON does not have, such as a bare NaN
        Err(error) if !error.is_eof() => {
            collector.line = error.line() as u64;
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
            collector.warn(SampleWarningKind::CutFile, line.trim());
        }
        _ => {
            collector.line = 1 + newlines(text);
            collector.warn(SampleWarningKind::CutFile, "");
        }
    }
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// Reads the reports of a list up to its end, or to where it is cut off; what comes after it.
fn reports<'t>(mut text: &'t str, host: &mut Host, collector: &mut Collector) -> &'t str {
    loop {
        let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        collector.line += newlines(&text[..text.len() - trimmed.len()]);
        text = trimmed;
        if !text.starts_with('{') {
            return text;
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match values.next() {
            Some(Ok(report)) => {
                host.report(&report, collector);
                let used = values.byte_offset();
                collector.line += newlines(&text[..used]);
                text = &text[used..];
            }
            _ => return "",
        }
    }
}

#[derive(Debug, Default)]
struct Host {
    name: String,
    /// Midnight of the file's day, for reports that have a time only.
    midnight: Option<f64>,
    last: Option<f64>,
    utc_offset: f64,
    told_zone: bool,
}

impl Host {
    /// Takes the name of the host and the date from what stands before its reports.
    fn head(&mut self, text: &str, collector: &mut Collector) {
        let find = |key: &str| {
            let rest = &text[text.rfind(&format!("\"{key}\""))? + key.len() + 2..];
            let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
            rest.split('"').next()
        };
        if let Some(name) = find("nodename") {
            self.name = name.to_owned();
            self.last = None;
        } else {
            collector.warn(SampleWarningKind::NoHost, "");
        }
        self.midnight = find("file-date").or_else(|| find("date")).and_then(date).map(|date| date.days as f64 * DAY);
    }

    fn report(&mut self, report: &Value, collector: &mut Collector) {
        let Some((span, utc)) = self.span(&report["timestamp"]) else {
            return collector.warn(SampleWarningKind::NoTime, &report["timestamp"].to_string());
        };
        if !utc && !self.told_zone {
            self.told_zone = true;
            collector.warn(SampleWarningKind::NoZone, &report["timestamp"].to_string());
        }
        if span.0 >= span.1 {
            return collector.warn(SampleWarningKind::SinceBoot, &report["timestamp"].to_string());
        }
        let mut add = |device: Option<String>, values: Option<Vec<(Meter, f64)>>, row: &Value| match (device, values) {
            (Some(device), Some(values)) => collector.row(&self.name, &device, span, &values),
            _ => collector.warn(SampleWarningKind::BadRow, &row.to_string()),
        };
        for key in ["cpu-load", "cpu-load-all"] {
            for row in rows(&report[key]) {
                add(device(row, &["cpu"]), processor(row), row);
            }
        }
        if report["avg-cpu"].is_object() {
            add(Some("all".to_owned()), processor(&report["avg-cpu"]), &report["avg-cpu"]);
        }
        for row in rows(&report["disk"]) {
            let util = field(row, &["util-percent", "util"]);
            add(device(row, &["disk-device", "disk_device"]), util.map(|u| vec![(Meter::DiskBusy, u / 100.0)]), row);
        }
        let network = if report["network"].is_array() { &report["network"] } else { &report["network"]["net-dev"] };
        for row in rows(network) {
            let rate = |name| field(row, &[name]).map(|kb| kb * KILO);
            let values = rate("rxkB").zip(rate("txkB"));
            let values = values.map(|(received, sent)| vec![(Meter::Received, received), (Meter::Sent, sent)]);
            add(device(row, &["iface"]), values, row);
        }
    }

    /// The stretch that a report is about, and whether its clock is known to be UTC.
    fn span(&mut self, timestamp: &Value) -> Option<((f64, f64), bool)> {
        let (to, utc, interval) = match timestamp {
            Value::String(text) => match stamp(text) {
                Some(found) => (found.seconds, found.utc, None),
                None => (self.midnight? + time_of_day(text)?, false, None),
            },
            _ => {
                let day = date(timestamp["date"].as_str()?)?.days as f64 * DAY;
                let utc = timestamp["utc"] == 1 || timestamp["tz"] == "UTC";
                let interval = field(timestamp, &["interval"]).filter(|interval| interval.is_finite());
                (day + time_of_day(timestamp["time"].as_str()?)?, utc, interval)
            }
        };
        let mut to = if utc { to } else { to - self.utc_offset };
        // a time of day far before the last one is of the next day
        if let (Some(last), Some(midnight), true) = (self.last, self.midnight.as_mut(), interval.is_none())
            && to < last - DAY / 2.0
        {
            *midnight += DAY;
            to += DAY;
        }
        let last = self.last.replace(to);
        Some(((interval.map_or(last.unwrap_or(to), |interval| to - interval), to), utc))
    }
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn field(row: &Value, names: &[&str]) -> Option<f64> {
    let found = names.iter().find_map(|name| row.get(name))?;
    match found {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number_or_nan(text),
        _ => None,
    }
}

fn device(row: &Value, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| row.get(name))?;
    match found {
        Value::String(text) if text == "-1" => Some("all".to_owned()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn processor(row: &Value) -> Option<Vec<(Meter, f64)>> {
    let mut values = vec![(Meter::CpuUser, field(row, &["user", "usr"])? / 100.0)];
    if let Some(idle) = field(row, &["idle"]) {
        values.push((Meter::CpuBusy, (100.0 - idle - field(row, &["iowait"]).unwrap_or(0.0)) / 100.0));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"sysstat": {"hosts": [{"nodename": "vm", "file-date": "2026-11-20", "statistics": [
        {"timestamp": {"date": "2026-11-20", "time": "09:22:53", "utc": 1, "interval": 1},
         "cpu-load": [{"cpu": "all", "user": 90.5, "iowait": 1.0, "idle": 2.0}],
         "disk": [{"disk-device": "sda", "util-percent": 25.0}],
         "network": {"net-dev": [{"iface": "eth0", "rxkB": 1.0, "txkB": 2.0}]}},
        {"timestamp": {"date": "2026-11-20", "time": "09:22:54", "utc": 1, "interval": 1},
         "cpu-load": [{"cpu": "all", "user": 10.0, "iowait": 0.0, "idle": 90.0}]}
    ]}]}}
"#;

    fn collected(text: &str) -> Collector {
        let mut collector = Collector::default();
        read(text, 0.0, &mut collector);
        collector
    }

    #[test]
    fn reports_of_sadf() {
        let collector = collected(WHOLE);
        assert_eq!(collector.rows, 4);
        assert!(collector.warnings("f").is_empty(), "{:?}", collector.warnings("f"));
        let values: Vec<_> = collector.series.iter().map(|(key, s)| (key.2, s[0].value, s.len())).collect();
        use Meter::{CpuBusy, CpuUser, DiskBusy, Received, Sent};
        let expected =
            [(CpuUser, 0.905, 2), (CpuBusy, 0.97, 2), (Received, 1024.0, 1), (Sent, 2048.0, 1), (DiskBusy, 0.25, 1)];
        assert_eq!(values, expected);
    }

    #[test]
    fn what_stands_before_a_cut_is_used() {
        let collector = collected(&WHOLE[..WHOLE.len() - 60]);
        assert_eq!(collector.rows, 3);
        let kinds: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line)).collect();
        assert_eq!(kinds, [(SampleWarningKind::CutFile, 7)]);
    }

    #[test]
    fn what_is_not_json_is_told_with_its_line() {
        let collector = collected(&WHOLE.replacen("25.0", "NaN", 1));
        let told: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line, w.example.clone())).collect();
        let line = r#""disk": [{"disk-device": "sda", "util-percent": NaN}],"#;
        assert_eq!(told, [(SampleWarningKind::CutFile, 4, line.to_owned())]);
        // a text that says so is a number that cannot be right, and all else is used
        let collector = collected(&WHOLE.replacen("25.0", "\"nan\"", 1));
        let told: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line, w.count)).collect();
        assert_eq!((collector.rows, told), (3, vec![(SampleWarningKind::BadNumber, 2, 1)]));
    }

    #[test]
    fn reports_of_mpstat_and_iostat_last_from_one_to_the_next() {
        let text = r#"{"sysstat": {"hosts": [{"nodename": "a", "date": "11/20/26", "statistics": [
            {"timestamp": "23:59:59", "cpu-load": [{"cpu": "all", "usr": 1.0, "idle": 99.0}]},
            {"timestamp": "00:00:01", "cpu-load": [{"cpu": "all", "usr": 2.0, "idle": 98.0}], "avg-cpu": {"user": 3.0}}
        ]}]}}"#;
        let collector = collected(text);
        let all = &collector.series[&("a".to_owned(), "all".to_owned(), Meter::CpuUser)];
        assert_eq!((all.len(), all[0].to - all[0].from, all[0].value), (1, 2.0, 0.02));
        let kinds: Vec<_> = collector.warnings("f").iter().map(|w| w.kind).collect();
        use SampleWarningKind::{NoZone, SinceBoot, Twice};
        assert_eq!(kinds, [SinceBoot, NoZone, Twice]);
    }
}
