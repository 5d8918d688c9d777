//! The columns of a section of mpstat, iostat, sar or `sadf -d`: the supported columns, under their names in all
//! versions.

use crate::diagnose::samples::clock::number_or_nan;
use crate::diagnose::samples::series::Meter;

/// Bytes in sysstat's kilobyte.
const KILO: f64 = 1024.0;

/// Topic of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// CPUs, one per row.
    Cpu,
    /// All CPUs in one row without a name, as in iostat.
    AllCpus,
    /// The run queue in one row without a name, as in `sar -q`.
    Queue,
    /// Disks with `%util`.
    Disk,
    /// Disks without `%util`.
    DiskWithoutUtilisation,
    /// Network interfaces.
    Network,
    /// An unsupported topic.
    Other,
}

/// A section: its topic and the positions of its columns.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) topic: Topic,
    columns: Vec<String>,
}

/// Returns a sample of stolen time, in percent; none without stolen time.
pub(super) fn stolen(percent: f64) -> Option<(Meter, f64)> {
    (percent > 0.0).then_some((Meter::CpuSteal, percent / 100.0))
}

/// The names of the user share, of the idle share and of the share in which the CPU waits for a disk.
const USER: [&str; 2] = ["%usr", "%user"];

impl Section {
    /// Reads the names of columns; the first column names the device.
    pub(super) fn new(columns: &[&str]) -> Self {
        let has = |names: &[&str]| columns.iter().any(|column| names.contains(column));
        let first = columns.first().map_or("", |name| name.trim_end_matches(':'));
        let topic = match first {
            "CPU" if has(&USER) => Topic::Cpu,
            "avg-cpu" if has(&USER) => Topic::AllCpus,
            "runq-sz" => Topic::Queue,
            "Device" | "DEV" if has(&["%util"]) => Topic::Disk,
            "Device" => Topic::DiskWithoutUtilisation,
            "IFACE" if has(&["rxkB/s", "rxbyt/s"]) => Topic::Network,
            _ => Topic::Other,
        };
        // rows of the queue start with a value, so `all` is put in front of them, as for iostat's CPUs
        let name = (topic == Topic::Queue).then_some("");
        Self { topic, columns: name.into_iter().chain(columns.iter().copied()).map(str::to_owned).collect() }
    }

    /// Returns true if the rows start with the name of a device.
    pub(super) fn is_named(&self) -> bool {
        !matches!(self.topic, Topic::AllCpus | Topic::Queue)
    }

    /// Returns the number of columns, including the device's name.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    fn value(&self, cells: &[&str], names: &[&str]) -> Option<f64> {
        let at = self.columns.iter().position(|column| names.contains(&column.as_str()))?;
        number_or_nan(cells.get(at)?)
    }

    /// Returns the values of a row, whose cells match the columns; none if a required cell is not a number. A `nan` yields a value that is not a
    /// number, which the collector counts.
    pub(super) fn values(&self, cells: &[&str]) -> Option<Vec<(Meter, f64)>> {
        let value = |names: &[&str]| self.value(cells, names);
        match self.topic {
            Topic::Cpu | Topic::AllCpus => {
                let mut values = vec![(Meter::CpuUser, value(&USER)? / 100.0)];
                if let Some(idle) = value(&["%idle"]) {
                    let busy = 100.0 - idle - value(&["%iowait"]).unwrap_or(0.0);
                    values.push((Meter::CpuBusy, busy / 100.0));
                }
                values.extend(value(&["%steal"]).and_then(stolen));
                Some(values)
            }
            Topic::Queue => Some(vec![(Meter::RunQueue, value(&["runq-sz"])?)]),
            Topic::Disk => Some(vec![(Meter::DiskBusy, value(&["%util"])? / 100.0)]),
            Topic::Network => {
                let rate = |kilo: &str, bytes: &str| value(&[kilo]).map(|kb| kb * KILO).or_else(|| value(&[bytes]));
                Some(vec![(Meter::Received, rate("rxkB/s", "rxbyt/s")?), (Meter::Sent, rate("txkB/s", "txbyt/s")?)])
            }
            Topic::DiskWithoutUtilisation | Topic::Other => Some(Vec::new()),
        }
    }
}
