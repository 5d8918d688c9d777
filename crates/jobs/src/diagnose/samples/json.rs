//! `sadf -j`, and the output of mpstat and iostat with `-o JSON`. Reports are processed one by one as they arrive, so memory holds one report, and
//! the reports before a truncation are used.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::diagnose::samples::clock::{DAY, date, number_or_nan, stamp, time_of_day};
use crate::diagnose::samples::collect::Collector;
use crate::diagnose::samples::section::stolen;
use crate::diagnose::samples::series::Meter;
use crate::diagnose::samples::warning::SampleWarningKind;

/// Bytes in sysstat's kilobyte.
const KILO: f64 = 1024.0;

/// Maximum number of bytes between the starts of two reports.
const LONGEST_REPORT: u64 = 1 << 24;
/// Bytes of a line kept for a warning.
const KEPT_LINE: usize = 400;

/// Reads a text; `utc_offset` is the number of seconds by which the text's clock is ahead of UTC, unless the text
/// states it. If the text cannot be read to its end, returns the reason.
pub(super) fn read(source: &mut dyn BufRead, utc_offset: f64, collector: &mut Collector) -> Option<String> {
    let place = Place::default();
    let mut text = Placed { source, place: &place };
    let mut walk = Walk { host: Host { utc_offset, ..Host::default() }, collector, place: &place, found: false };
    let mut json = serde_json::Deserializer::from_reader(&mut text);
    let ended = Next { walk: &mut walk, role: Role::Any }.deserialize(&mut json).and_then(|_| json.end());
    let found = walk.found;
    match ended {
        Ok(()) if found => return None,
        Err(error) if error.is_io() => return Some(error.to_string()),
        // a value that JSON does not have, such as a bare NaN
        Err(error) if !error.is_eof() => {
            collector.line = error.line() as u64;
            let line = if collector.line == place.line() { text.rest_of_line() } else { String::new() };
            collector.warn(SampleWarningKind::CutFile, line.trim());
        }
        _ => {
            collector.line = place.line();
            collector.warn(SampleWarningKind::CutFile, "");
        }
    }
    None
}

/// The current position in a text.
#[derive(Debug, Default)]
struct Place {
    newlines: Cell<u64>,
    /// Bytes since the start of the last report.
    bytes: Cell<u64>,
    /// The start of the line.
    kept: RefCell<Vec<u8>>,
}

impl Place {
    /// Returns the number of the line, from 1.
    fn line(&self) -> u64 {
        1 + self.newlines.get()
    }
}

/// A text whose current position is known while another reader consumes it, byte by byte.
struct Placed<'r> {
    source: &'r mut dyn BufRead,
    place: &'r Place,
}

impl Placed<'_> {
    /// Returns the current line, up to the stored length.
    fn rest_of_line(&mut self) -> String {
        let mut line = self.place.kept.borrow().clone();
        let most = KEPT_LINE.saturating_sub(line.len()) as u64;
        // unreadable bytes are not shown
        let _ = (&mut *self.source).take(most).read_until(b'\n', &mut line);
        String::from_utf8_lossy(&line).into_owned()
    }
}

impl Read for Placed<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let place = self.place;
        let read = self.source.read(target)?;
        place.bytes.set(place.bytes.get() + read as u64);
        if place.bytes.get() > LONGEST_REPORT {
            return Err(io::Error::other(format!("a report is longer than {LONGEST_REPORT} bytes")));
        }
        let mut kept = place.kept.borrow_mut();
        for byte in &target[..read] {
            if *byte == b'\n' {
                place.newlines.set(place.newlines.get() + 1);
                kept.clear();
            } else if kept.len() < KEPT_LINE {
                kept.push(*byte);
            }
        }
        Ok(read)
    }
}

/// Streaming reader of a text that processes its reports as they arrive.
struct Walk<'w> {
    host: Host,
    collector: &'w mut Collector,
    place: &'w Place,
    /// True if a list of reports was found.
    found: bool,
}

/// Role of the next value of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Any value: searched for lists of reports. Returned if it is a string.
    Any,
    /// The list of reports.
    Reports,
    /// A report.
    Report,
}

/// The next value of the text.
struct Next<'s, 'w> {
    walk: &'s mut Walk<'w>,
    role: Role,
}

impl<'de> DeserializeSeed<'de> for Next<'_, '_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.role != Role::Report {
            return deserializer.deserialize_any(self);
        }
        let Walk { host, collector, place, .. } = self.walk;
        collector.line = place.line();
        place.bytes.set(0);
        host.report(&Value::deserialize(deserializer)?, collector);
        Ok(None)
    }
}

impl<'de> Visitor<'de> for Next<'_, '_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON of sysstat")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let walk = self.walk;
        let (mut name, mut file_date, mut date) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            let is_reports = key == "statistics";
            if is_reports {
                walk.found = true;
                walk.collector.line = walk.place.line();
                walk.host.head(name.take(), file_date.take().or_else(|| date.take()), walk.collector);
            }
            let role = if is_reports { Role::Reports } else { Role::Any };
            let text = map.next_value_seed(Next { walk: &mut *walk, role })?;
            match key.as_str() {
                "nodename" => name = text,
                "file-date" => file_date = text,
                "date" => date = text,
                _ => {}
            }
        }
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let role = if self.role == Role::Reports { Role::Report } else { Role::Any };
        let walk = self.walk;
        while list.next_element_seed(Next { walk: &mut *walk, role })?.is_some() {}
        Ok(None)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
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
    /// Takes the host name and the date that precede the host's reports.
    fn head(&mut self, name: Option<String>, day: Option<String>, collector: &mut Collector) {
        match name {
            Some(name) => {
                self.name = name;
                self.last = None;
            }
            None => collector.warn(SampleWarningKind::NoHost, ""),
        }
        self.midnight = day.as_deref().and_then(date).map(|date| date.days as f64 * DAY);
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
        if report["queue"].is_object() {
            let queue = field(&report["queue"], &["runq-sz"]).map(|queue| vec![(Meter::RunQueue, queue)]);
            add(Some("all".to_owned()), queue, &report["queue"]);
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

    /// Returns the interval of a report, and true if its clock is known to be UTC.
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
        // a time of day far before the last one belongs to the next day
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
    values.extend(field(row, &["steal"]).and_then(stolen));
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

    #[test]
    fn run_queues_and_stolen_time_are_read() {
        let text = WHOLE.replace(r#""user": 90.5,"#, r#""user": 80.5, "steal": 10.0,"#);
        let text = text.replacen(r#""disk":"#, r#""queue": {"runq-sz": 7, "plist-sz": 99}, "disk":"#, 1);
        let found = collected(&text);
        let of =
            |meter| found.series.iter().find(|(key, _)| key.2 == meter).map(|(key, s)| (key.1.as_str(), s[0].value));
        assert_eq!((of(Meter::RunQueue), of(Meter::CpuSteal)), (Some(("all", 7.0)), Some(("all", 0.1))));
        assert_eq!(
            found.series.iter().filter(|(key, _)| key.2 == Meter::CpuSteal).map(|(_, s)| s.len()).sum::<usize>(),
            1
        );
    }

    fn collected(text: &str) -> Collector {
        let mut collector = Collector::default();
        assert_eq!(read(&mut text.as_bytes(), 0.0, &mut collector), None);
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
    fn samples_before_a_cut_are_used() {
        let collector = collected(&WHOLE[..WHOLE.len() - 60]);
        assert_eq!(collector.rows, 3);
        let kinds: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line)).collect();
        assert_eq!(kinds, [(SampleWarningKind::CutFile, 7)]);
    }

    #[test]
    fn invalid_json_is_reported_with_its_line() {
        let collector = collected(&WHOLE.replacen("25.0", "NaN", 1));
        let told: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line, w.example.clone())).collect();
        let line = r#""disk": [{"disk-device": "sda", "util-percent": NaN}],"#;
        assert_eq!(told, [(SampleWarningKind::CutFile, 4, line.to_owned())]);
        // a string in place of a number is counted as a wrong number, and the rest is used
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
    /// Memory is bounded even if a report never ends; earlier reports are used.
    #[test]
    fn a_report_that_is_too_long_ends_the_reading() {
        let (before, _) =
            WHOLE.split_once("{\"timestamp\": {\"date\": \"2026-11-20\", \"time\": \"09:22:54\"").unwrap();
        let text = before.as_bytes().chain("{\"x\": \"".as_bytes()).chain(io::repeat(b'x'));
        let mut collector = Collector::default();
        let damage = read(&mut io::BufReader::new(text), 0.0, &mut collector).unwrap();
        assert!(damage.contains("a report is longer than 16777216 bytes"), "{damage}");
        assert_eq!(collector.rows, 3);
    }
}
