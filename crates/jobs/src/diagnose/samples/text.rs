//! The text output of mpstat, iostat and sar, as pasted by people: banners, repeated headers, sections of all kinds in sequence.

use std::collections::BTreeMap;

use crate::diagnose::samples::clock::{DAY, date, half, stamp, time_of_day, with_half};
use crate::diagnose::samples::collect::Collector;
use crate::diagnose::samples::lines::{Line, Lines};
use crate::diagnose::samples::section::{Section, Topic};
use crate::diagnose::samples::warning::SampleWarningKind;

/// Reads a text line by line; `utc_offset` is the number of seconds by which the text's clock is ahead of UTC, unless the text states it.
pub(super) fn read(lines: &mut Lines<'_>, utc_offset: f64, collector: &mut Collector) {
    let mut reader = Reader { utc_offset, ..Reader::default() };
    while let Some(Line { text, is_cut }) = lines.next(collector) {
        reader.line(&text, is_cut, collector);
    }
}

/// Returns true if a line is the banner of a sampler.
pub(super) fn is_banner(line: &str) -> bool {
    banner(line).is_some()
}

/// Returns true if a line is the header of a supported section.
pub(super) fn is_header(line: &str) -> bool {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let (_, cells) = timed(&tokens);
    header(cells).is_some_and(|section| section.topic != Topic::Other)
}

/// Returns the host and the date of a banner: `Linux 6.1.0 (host) 2026-11-20 _x86_64_ (2 CPU)`.
fn banner(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("Linux ")?;
    let (_, rest) = rest.split_once('(')?;
    let (host, rest) = rest.split_once(')')?;
    let day = rest.split_whitespace().next()?;
    rest.trim_end().ends_with(')').then_some((host, day))
}

/// Returns the time at the start of a line, if any, and the rest of the line.
fn timed<'l, 't>(tokens: &'l [&'t str]) -> (Option<f64>, &'l [&'t str]) {
    let Some(time) = tokens.first().and_then(|first| time_of_day(first)) else { return (None, tokens) };
    match tokens.get(1).and_then(|word| half(word)) {
        Some(half) => (with_half(time, half), &tokens[2..]),
        None => (Some(time), &tokens[1..]),
    }
}

/// Returns the section that a line opens, if it is a header: its first word denotes devices, or all words are names of rates.
fn header(cells: &[&str]) -> Option<Section> {
    let first = cells.first()?.trim_end_matches(':');
    let devices =
        matches!(first, "CPU" | "NODE" | "DEV" | "Device" | "IFACE" | "avg-cpu" | "TTY" | "BUS" | "INTR" | "runq-sz");
    let rate = |cell: &&str| cell.ends_with("/s") || cell.starts_with('%');
    (devices || (cells.iter().any(rate) && !cells.iter().any(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))))
        .then(|| Section::new(cells))
}

#[derive(Debug, Default)]
struct Reader {
    utc_offset: f64,
    host: String,
    /// Midnight of the banner's day, in seconds since 1970, on the text's clock.
    midnight: Option<f64>,
    /// The last time of day read, to detect midnight.
    last_time: Option<f64>,
    section: Option<Section>,
    /// Time of each section's last report, by the name of its first column. The next report starts at this time.
    last_report: BTreeMap<String, f64>,
    /// Interval covered by the rows of a report.
    report: Option<(f64, f64)>,
    /// The time of iostat's last report line.
    stamped: Option<f64>,
    /// True if the user was warned about the time zone in this file.
    told_zone: bool,
    seen_banner: bool,
}

impl Reader {
    fn line(&mut self, line: &str, cut: bool, collector: &mut Collector) {
        if let Some((host, day)) = banner(line) {
            return self.start(host, day, collector);
        }
        if let Some(found) = stamp(line) {
            return self.stamp(found.seconds, found.utc, found.ambiguous, line, collector);
        }
        let tokens: Vec<&str> = line.split_whitespace().collect();
        if tokens.first().is_none_or(|first| is_average(first, &tokens)) {
            return;
        }
        let (time, cells) = timed(&tokens);
        if line.contains("LINUX RESTART") {
            collector.warn(SampleWarningKind::Restart, line);
            self.last_report.clear();
            self.section = None;
            return;
        }
        if let Some(section) = header(cells) {
            let now = time.and_then(|time| self.absolute(time));
            // a repeated header gives the start of the next report
            if let (Some(now), Some(name)) = (now, cells.first()) {
                self.last_report.entry((*name).to_owned()).or_insert(now);
            }
            if section.topic == Topic::DiskWithoutUtilisation {
                collector.warn(SampleWarningKind::NoUtilisation, line);
            }
            self.report = None;
            self.section = Some(section);
            return;
        }
        self.row(time, cells, line, cut, collector);
    }

    fn start(&mut self, host: &str, day: &str, collector: &mut Collector) {
        *self = Self {
            utc_offset: self.utc_offset,
            host: host.to_owned(),
            told_zone: self.told_zone,
            seen_banner: true,
            ..Self::default()
        };
        match date(day) {
            Some(date) => {
                self.midnight = Some(date.days as f64 * DAY);
                if date.ambiguous {
                    collector.warn(SampleWarningKind::AmbiguousDate, day);
                }
            }
            None => collector.warn(SampleWarningKind::NoTime, day),
        }
    }

    /// Handles the line with which iostat starts a report.
    fn stamp(&mut self, seconds: f64, utc: bool, ambiguous: bool, line: &str, collector: &mut Collector) {
        if ambiguous {
            collector.warn(SampleWarningKind::AmbiguousDate, line);
        }
        self.zone(utc, line, collector);
        self.stamped = Some(if utc { seconds } else { seconds - self.utc_offset });
        self.section = None;
    }

    /// Warns once about times without a time zone.
    fn zone(&mut self, utc: bool, line: &str, collector: &mut Collector) {
        if !utc && !self.told_zone {
            self.told_zone = true;
            collector.warn(SampleWarningKind::NoZone, line);
        }
    }

    /// Returns a time of day as seconds since 1970; a time far before the last time belongs to the next day.
    fn absolute(&mut self, time: f64) -> Option<f64> {
        let midnight = self.midnight.as_mut()?;
        if self.last_time.is_some_and(|last| time < last - DAY / 2.0) {
            *midnight += DAY;
        }
        self.last_time = Some(time);
        Some(*midnight + time - self.utc_offset)
    }

    fn row(&mut self, time: Option<f64>, cells: &[&str], line: &str, cut: bool, collector: &mut Collector) {
        let Some(section) = &self.section else { return };
        if matches!(section.topic, Topic::Other | Topic::DiskWithoutUtilisation) {
            return;
        }
        let bad = if cut { SampleWarningKind::CutLastLine } else { SampleWarningKind::BadRow };
        let named = section.is_named();
        if cells.len() + usize::from(!named) != section.width() {
            return collector.warn(bad, line);
        }
        let mut row = cells.to_vec();
        if !named {
            row.insert(0, "all");
        }
        let Some(values) = section.values(&row) else { return collector.warn(bad, line) };
        let name = section_name(section);
        let Some(to) = time.map_or(self.stamped, |time| self.absolute(time)) else {
            return collector.warn(SampleWarningKind::NoTime, line);
        };
        if time.is_some() {
            self.zone(false, line, collector);
        }
        if !self.seen_banner {
            self.seen_banner = true;
            collector.warn(SampleWarningKind::NoHost, line);
        }
        if self.report.is_none_or(|(_, end)| !same(end, to)) {
            let from = self.last_report.insert(name.to_owned(), to);
            self.report = Some((from.unwrap_or(to), to));
        }
        match self.report {
            Some((from, to)) if from < to => collector.row(&self.host, row[0], (from, to), &values),
            // the first report, or one whose header has the same time: it covers the time since boot
            Some((from, to)) if same(from, to) => collector.warn(SampleWarningKind::SinceBoot, line),
            _ => collector.warn(SampleWarningKind::Backwards, line),
        }
    }
}

/// Returns true if two times belong to the same report.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// Returns the key of a section's last report: the name of its column in headers.
fn section_name(section: &Section) -> &'static str {
    match section.topic {
        Topic::Cpu => "CPU",
        Topic::AllCpus => "avg-cpu",
        Topic::Queue => "runq-sz",
        Topic::Disk => "Device",
        Topic::Network => "IFACE",
        Topic::DiskWithoutUtilisation | Topic::Other => "",
    }
}

/// Returns true for rows of averages at the end: `Average:`, in any language, and `Summary:`.
fn is_average(first: &str, tokens: &[&str]) -> bool {
    let word =
        |token: &str| token.strip_suffix(':').is_some_and(|word| word.chars().all(|c| c.is_alphabetic() || c == '.'));
    let known = ["avg-cpu:", "Device:"];
    (word(first) && !known.contains(&first)) || (tokens.get(1) == Some(&":") && word(&format!("{first}:")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::samples::series::Meter;

    fn collected(text: &str) -> Collector {
        let mut collector = Collector::default();
        read(&mut Lines::new(&mut text.as_bytes()), 0.0, &mut collector);
        collector
    }

    #[test]
    fn run_queues_are_read() {
        let text = "Linux 6.1.0 (vm) \t2026-11-20 \t_x86_64_\t(2 CPU)\n\n\
            10:00:00      runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked\n\
            10:00:01            7       231      0.50      0.40      0.30         0\n\
            10:00:02            5       231      0.50      0.40      0.30         0\n\
            Average:            6       231      0.50      0.40      0.30         0\n";
        assert!(is_header("10:00:00      runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked"));
        let queue = samples(&collected(text), "all", Meter::RunQueue);
        assert_eq!(queue, [(36_000.0, 36_001.0, 7.0), (36_001.0, 36_002.0, 5.0)]);
    }

    fn samples(collector: &Collector, device: &str, meter: Meter) -> Vec<(f64, f64, f64)> {
        let found = collector.series.iter().filter(|(key, _)| key.1 == device && key.2 == meter);
        found.flat_map(|(_, samples)| samples).map(|s| (s.from % DAY, s.to % DAY, s.value)).collect()
    }

    fn kinds(collector: &Collector) -> Vec<(SampleWarningKind, u64, u64)> {
        collector.warnings("f").iter().map(|w| (w.kind, w.line, w.count)).collect()
    }

    #[test]
    fn mpstat_of_the_12_hour_clock_with_commas_over_midnight() {
        let text = "Linux 5.4.0 (knoten) \t20.11.2026 \t_x86_64_\t(1 CPU)\n\n\
            11:59:58 PM  CPU    %usr   %nice    %sys %iowait   %idle\n\
            11:59:59 PM  all   10,50    0,00    1,00    2,00   86,50\n\
            12:00:00 AM  all   20,00    0,00    1,00    0,00   79,00\n\n\
            12:00:00 AM  CPU    %usr   %nice    %sys %iowait   %idle\n\
            12:00:02 AM  all   30,00    0,00    1,00    0,00   69,00\n\
            Durchschn.:  all   20,00    0,00    1,00    0,00   79,00\n";
        let collector = collected(text);
        let user = samples(&collector, "all", Meter::CpuUser);
        let expected = [(86_398.0, 86_399.0, 0.105), (86_399.0, 0.0, 0.2), (0.0, 2.0, 0.3)];
        assert_eq!(user, expected);
        let busy: Vec<f64> = samples(&collector, "all", Meter::CpuBusy).into_iter().map(|s| s.2).collect();
        assert!((busy[0] - 0.115).abs() < 1e-12, "{busy:?}");
        assert_eq!(kinds(&collector), [(SampleWarningKind::NoZone, 4, 1)]);
    }

    #[test]
    fn iostat_with_processors_and_disks_in_turn_leaves_out_the_first_report() {
        let report = |time: &str, util: &str| {
            format!(
                "{time}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          40.00    0.00    1.00    9.00    0.00   50.00\n\n\
                 Device:  r/s  svctm  %util\nsda  1.00 0.10 {util}\ndm-0  1.00 0.10 {util}\n\n"
            )
        };
        let banner = "Linux 3.10.0 (a.b) \t11/30/2021 \t_x86_64_\t(1 CPU)\n\n";
        let (first, second) = (report("11/30/2021 03:16:15 PM", "1.00"), report("11/30/2021 03:16:17 PM", "80.00"));
        let collector = collected(&format!("{banner}{first}{second}"));
        assert_eq!(samples(&collector, "dm-0", Meter::DiskBusy), [(54_975.0, 54_977.0, 0.8)]);
        assert_eq!(samples(&collector, "all", Meter::CpuBusy), [(54_975.0, 54_977.0, 0.41)]);
        assert_eq!(kinds(&collector), [(SampleWarningKind::SinceBoot, 5, 3), (SampleWarningKind::NoZone, 3, 1)]);
    }

    #[test]
    fn sar_of_several_topics_with_restart_and_damage() {
        let text = "Linux 6.1.0 (n1) \t2026-11-20 \t_x86_64_\t(2 CPU)\n\n\
            10:00:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
            10:00:01        all      5.00      0.00      1.00      0.00      0.00     94.00\n\
            10:00:01          x      y\n\
            10:00:00    proc/s   cswch/s\n\
            10:00:01      0.00    120.00\n\
            10:00:00        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s\n\
            10:00:01         eth0      1.00      1.00      2.00      4.00\n\
            10:00:05       LINUX RESTART\t(2 CPU)\n\
            10:00:09        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
            10:00:10        all    500.00      0.00      1.00      0.00      0.00     94.00\n\
            10:00:11        all      5.00      0.0";
        let collector = collected(text);
        assert_eq!(samples(&collector, "eth0", Meter::Sent), [(36_000.0, 36_001.0, 4096.0)]);
        assert_eq!(samples(&collector, "all", Meter::CpuUser).len(), 1);
        use SampleWarningKind::{BadNumber, BadRow, CutLastLine, NoZone, Restart};
        let expected = [(BadRow, 5, 1), (BadNumber, 12, 1), (CutLastLine, 13, 1), (NoZone, 4, 1), (Restart, 10, 1)];
        assert_eq!(kinds(&collector), expected);
    }

    #[test]
    fn a_report_without_date_or_since_boot_is_no_sample() {
        let bare = collected(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n  0.14    0.00    0.16    0.00    0.00   99.70\n",
        );
        assert_eq!(kinds(&bare), [(SampleWarningKind::NoTime, 2, 1)]);
        let text = "Linux 3.10.0 (a) \t2022-03-11 \t_x86_64_\t(1 CPU)\n\n03:14:20 PM  CPU %usr %idle\n03:14:20 PM  all 0.23 99.39\n";
        assert!(kinds(&collected(text)).contains(&(SampleWarningKind::SinceBoot, 4, 1)));
    }
}
