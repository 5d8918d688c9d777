//! `sadf -d`: rows with semicolons, each with its host and time, below headers that start with `#`.

use crate::diagnose::samples::clock::{number, stamp};
use crate::diagnose::samples::collect::Collector;
use crate::diagnose::samples::lines::{Line, Lines};
use crate::diagnose::samples::section::{Section, Topic};
use crate::diagnose::samples::warning::SampleWarningKind;

/// Start of every header.
pub(super) const HEADER: &str = "# hostname;interval;timestamp";

/// Number of columns before the columns of the section.
const COMMON: usize = 3;

/// Reads a table; `utc_offset` is the number of seconds by which the table's clock is ahead of UTC, unless the table states it.
pub(super) fn read(lines: &mut Lines<'_>, utc_offset: f64, collector: &mut Collector) {
    let mut section: Option<Section> = None;
    let mut told_zone = false;
    while let Some(Line { text, is_cut }) = lines.next(collector) {
        let line = text.as_ref();
        let bad = if is_cut { SampleWarningKind::CutLastLine } else { SampleWarningKind::BadRow };
        if line.starts_with('#') {
            let columns: Vec<&str> = line.split(';').map(str::trim).skip(COMMON).collect();
            section = line.starts_with(HEADER).then(|| Section::new(&columns));
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let cells: Vec<&str> = line.split(';').map(str::trim).collect();
        if cells.get(COMMON) == Some(&"LINUX-RESTART") {
            collector.warn(SampleWarningKind::Restart, line);
            continue;
        }
        let Some(section) = &section else {
            collector.warn(bad, line);
            continue;
        };
        if matches!(section.topic, Topic::Other | Topic::DiskWithoutUtilisation) {
            continue;
        }
        let mut cells = cells;
        if !section.is_named() && cells.len() >= COMMON {
            cells.insert(COMMON, "all");
        }
        let Some(row) = row(&cells, section) else {
            collector.warn(bad, line);
            continue;
        };
        if !row.utc && !told_zone {
            told_zone = true;
            collector.warn(SampleWarningKind::NoZone, line);
        }
        let to = if row.utc { row.to } else { row.to - utc_offset };
        // sysstat numbers the aggregate of all CPUs -1
        let device = if cells[COMMON] == "-1" { "all" } else { cells[COMMON] };
        match section.values(&cells[COMMON..]) {
            Some(_) if row.interval <= 0.0 => collector.warn(SampleWarningKind::SinceBoot, line),
            Some(values) => collector.row(cells[0], device, (to - row.interval, to), &values),
            None => collector.warn(bad, line),
        }
    }
}

/// The time of a row.
struct Row {
    interval: f64,
    to: f64,
    utc: bool,
}

fn row(cells: &[&str], section: &Section) -> Option<Row> {
    if cells.len() != COMMON + section.width() {
        return None;
    }
    let stamp = stamp(cells[2])?;
    Some(Row { interval: number(cells[1])?, to: stamp.seconds, utc: stamp.utc })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::samples::series::Meter;

    /// Notations of Rust and sysstat for values that are not numbers.
    #[test]
    fn shares_that_are_not_a_number_are_counted() {
        let text = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
            vm;1;2026-11-20 09:22:53 UTC;-1;90.50;0.00;9.50;0.00;0.00;nan\n\
            vm;1;2026-11-20 09:22:54 UTC;-1;90.50;0.00;9.50;-nan;0.00;5.00\n\
            vm;1;2026-11-20 09:22:55 UTC;-1;nan;0.00;9.50;0.00;0.00;5.00\n";
        let mut collector = Collector::default();
        read(&mut Lines::new(&mut text.as_bytes()), 0.0, &mut collector);
        let counts: Vec<_> = collector.series.iter().map(|(key, s)| (key.2, s.len())).collect();
        assert_eq!(counts, [(Meter::CpuUser, 2), (Meter::CpuBusy, 1)]);
        let told: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line, w.count)).collect();
        assert_eq!(told, [(SampleWarningKind::BadNumber, 2, 3)]);
    }

    #[test]
    fn run_queues_and_stolen_time_are_read() {
        let text = "# hostname;interval;timestamp;runq-sz;plist-sz;ldavg-1\n\
            vm;1;2026-11-20 09:22:53 UTC;7;99;0.50\n\
            # hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
            vm;1;2026-11-20 09:22:53 UTC;-1;80.50;0.00;9.50;0.00;10.00;0.00\n";
        let mut collector = Collector::default();
        read(&mut Lines::new(&mut text.as_bytes()), 0.0, &mut collector);
        let found: Vec<_> = collector.series.iter().map(|(key, s)| (key.1.as_str(), key.2, s[0].value)).collect();
        let shares = [("all", Meter::CpuUser, 0.805), ("all", Meter::CpuBusy, 1.0)];
        assert_eq!(found, [&shares[..], &[("all", Meter::CpuSteal, 0.1), ("all", Meter::RunQueue, 7.0)]].concat());
        assert!(collector.warnings("f").is_empty());
    }

    #[test]
    fn sections_are_read_and_damaged_rows_are_counted() {
        let text = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
            vm;1;2026-11-20 09:22:53 UTC;-1;90.50;0.00;9.50;0.00;0.00;0.00\n\
            vm;1;2026-11-20 09:22:53 UTC;0;92,00;0,00;8,00;0,00;0,00;0,00\n\
            vm;-1;2026-11-20 09:22:53 UTC;LINUX-RESTART;(2 CPU)\n\
            vm;1;2026-11-20 09:22:54 UTC;0;92.00;0.00\n\
            # hostname;interval;timestamp;proc/s;cswch/s\n\
            vm;1;2026-11-20 09:22:54 UTC;1;2\n\
            # hostname;interval;timestamp;DEV;tps;%util\n\
            vm;2;2026-11-20 09:22:54;sda;3.0;50.0\n\
            vm;1;2026-11-20 09:2";
        let mut collector = Collector::default();
        read(&mut Lines::new(&mut text.as_bytes()), 3600.0, &mut collector);
        let found: Vec<_> =
            collector.series.iter().map(|(key, s)| (key.1.as_str(), key.2, s[0].from, s[0].value)).collect();
        let at = 1_795_166_572.0;
        let expected = [
            ("0", Meter::CpuUser, at, 0.92),
            ("0", Meter::CpuBusy, at, 1.0),
            ("all", Meter::CpuUser, at, 0.905),
            ("all", Meter::CpuBusy, at, 1.0),
            ("sda", Meter::DiskBusy, at - 3600.0, 0.5),
        ];
        assert_eq!(found, expected);
        use SampleWarningKind::{BadRow, CutLastLine, NoZone, Restart};
        let kinds: Vec<_> = collector.warnings("f").iter().map(|w| (w.kind, w.line)).collect();
        assert_eq!(kinds, [(BadRow, 5), (CutLastLine, 10), (NoZone, 9), (Restart, 4)]);
    }
}
