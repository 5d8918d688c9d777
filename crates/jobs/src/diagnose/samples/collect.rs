//! Collector of the samples of one file: series by host, device and meter, and warnings.

use std::collections::BTreeMap;

use crate::diagnose::samples::series::{Meter, Sample};
use crate::diagnose::samples::warning::{SampleWarning, SampleWarningKind};

/// Maximum length of a stored example, in characters.
const EXAMPLE: usize = 80;
/// Tolerance beyond 0 and 1 for a share from kernel counters: counters of CPUs and disks are read in sequence.
const SLACK: f64 = 0.2;

/// Host, device and meter.
pub(super) type Key = (String, String, Meter);

/// Contents of one file.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// The samples, in the order of the file.
    pub(super) series: BTreeMap<Key, Vec<Sample>>,
    warnings: BTreeMap<SampleWarningKind, SampleWarning>,
    /// The current line, from 1.
    pub(super) line: u64,
    /// Number of device rows used.
    pub(super) rows: u64,
}

impl Collector {
    /// Counts a warning for the current line.
    pub(super) fn warn(&mut self, kind: SampleWarningKind, example: &str) {
        let line = self.line;
        let new = || {
            let shown: String = example.chars().map(|c| if c.is_control() { ' ' } else { c }).take(EXAMPLE).collect();
            SampleWarning { kind, file: String::new(), line, count: 0, example: shown.trim().to_owned() }
        };
        self.warnings.entry(kind).or_insert_with(new).count += 1;
    }

    /// Returns the warnings, in the order of [`SampleWarningKind`].
    pub(super) fn warnings(&self, file: &str) -> Vec<SampleWarning> {
        self.warnings.values().map(|warning| SampleWarning { file: file.to_owned(), ..warning.clone() }).collect()
    }

    fn push(&mut self, host: &str, device: &str, meter: Meter, sample: Sample) -> bool {
        let share = matches!(meter, Meter::CpuUser | Meter::CpuBusy | Meter::DiskBusy | Meter::CpuSteal);
        let least = if share { -SLACK } else { 0.0 };
        if !sample.value.is_finite() || sample.value < least || (share && sample.value > 1.0 + SLACK) {
            self.warn(SampleWarningKind::BadNumber, &format!("{} of {device}: {}", meter.text(), sample.value));
            return false;
        }
        let value = if share { sample.value.clamp(0.0, 1.0) } else { sample.value };
        let series = self.series.entry((host.to_owned(), device.to_owned(), meter)).or_default();
        if let Some(last) = series.last().copied() {
            if sample.to < last.to {
                self.warn(SampleWarningKind::Backwards, &format!("{} of {device}", meter.text()));
                return false;
            }
            if sample.to <= last.to {
                self.warn(SampleWarningKind::Twice, &format!("{} of {device}", meter.text()));
                return false;
            }
            let from = sample.from.max(last.to);
            series.push(Sample { from, value, ..sample });
        } else {
            series.push(Sample { value, ..sample });
        }
        true
    }

    /// Adds one row of a device.
    pub(super) fn row(&mut self, host: &str, device: &str, span: (f64, f64), values: &[(Meter, f64)]) {
        let mut used = false;
        for &(meter, value) in values {
            used |= self.push(host, device, meter, Sample { from: span.0, to: span.1, value });
        }
        self.rows += u64::from(used);
    }
}
