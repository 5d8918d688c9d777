//! A series of samples, and its values over an interval.

use crate::diagnose::samples::file::SampleFile;
use crate::diagnose::samples::warning::SampleWarning;

/// Quantity measured by a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meter {
    /// Share of CPU time in user mode, 0 to 1.
    CpuUser,
    /// Share of CPU time that was neither idle nor waiting for a disk, 0 to 1.
    CpuBusy,
    /// Share of the time in which the disk had requests, 0 to 1 (`%util`).
    DiskBusy,
    /// Bytes received per second.
    Received,
    /// Bytes sent per second.
    Sent,
    /// Share of CPU time that the hypervisor gave to others, 0 to 1. Only samples above 0 are kept.
    CpuSteal,
    /// Processes that ran or waited for a CPU.
    RunQueue,
}

impl Meter {
    /// All meters, in the order of this type.
    pub const ALL: [Self; 7] =
        [Self::CpuUser, Self::CpuBusy, Self::DiskBusy, Self::Received, Self::Sent, Self::CpuSteal, Self::RunQueue];

    /// Returns the name of the quantity, for display.
    pub fn text(self) -> &'static str {
        match self {
            Self::CpuUser => "user share of the CPU",
            Self::CpuBusy => "busy share of the CPU",
            Self::DiskBusy => "busy share of the disk",
            Self::Received => "bytes received",
            Self::Sent => "bytes sent",
            Self::CpuSteal => "stolen share of the CPU",
            Self::RunQueue => "run queue",
        }
    }
}

/// A mean over an interval of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Start of the interval, in seconds since 1970.
    pub from: f64,
    /// End of the interval.
    pub to: f64,
    /// The mean, in the meter's unit.
    pub value: f64,
}

/// The samples of one meter of one device of one host, in order, without overlaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The host's name in the samples; empty if not given.
    pub host: String,
    /// The CPU (`all` or its number), disk or network interface.
    pub device: String,
    /// The measured quantity.
    pub meter: Meter,
    /// The samples.
    pub samples: Vec<Sample>,
}

/// Value of a series over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Over {
    /// Mean over the part that samples cover.
    pub mean: f64,
    /// Share of the interval that samples cover, > 0, at most 1.
    pub covered: f64,
}

impl Series {
    /// Returns the mean between two times, each sample weighted by its overlap; none if no sample overlaps.
    ///
    /// Exact for the sampled data: a task shorter than the sampling interval gets the mean of the interval that contains it.
    ///
    /// ```
    /// # use tailspn_jobs::diagnose::samples::{Meter, Sample, Series};
    /// let sample = |from: f64, value| Sample { from, to: from + 1.0, value };
    /// let samples = vec![sample(0.0, 0.2), sample(1.0, 0.8)];
    /// let series = Series { host: "a".into(), device: "all".into(), meter: Meter::CpuUser, samples };
    /// assert_eq!(series.over(0.5, 2.0).unwrap().mean, (0.5 * 0.2 + 0.8) / 1.5);
    /// assert_eq!(series.over(1.5, 3.5).unwrap().covered, 0.25);
    /// assert_eq!(series.over(2.0, 3.0), None);
    /// ```
    pub fn over(&self, from: f64, to: f64) -> Option<Over> {
        let first = self.samples.partition_point(|sample| sample.to <= from);
        let (mut sum, mut seen) = (0.0, 0.0);
        for sample in self.samples[first..].iter().take_while(|sample| sample.from < to) {
            let overlap = sample.to.min(to) - sample.from.max(from);
            if overlap > 0.0 {
                sum += overlap * sample.value;
                seen += overlap;
            }
        }
        (seen > 0.0).then(|| Over { mean: sum / seen, covered: (seen / (to - from)).min(1.0) })
    }

    /// Returns the time range of the samples.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.samples.first()?.from, self.samples.last()?.to))
    }
}

/// All samples recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Files that were read.
    pub files: Vec<SampleFile>,
    /// Series in the order of host, device and meter.
    pub series: Vec<Series>,
    /// Oddities.
    pub warnings: Vec<SampleWarning>,
}

impl Samples {
    /// Returns the hosts, in order.
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = self.series.iter().map(|series| series.host.as_str()).collect();
        hosts.dedup();
        hosts
    }

    /// Returns the series of a meter on a host, in the order of devices.
    pub fn of<'s>(&'s self, host: &'s str, meter: Meter) -> impl Iterator<Item = &'s Series> {
        self.series.iter().filter(move |series| series.host == host && series.meter == meter)
    }

    /// Returns the number of samples.
    pub fn count(&self) -> usize {
        self.series.iter().map(|series| series.samples.len()).sum()
    }

    /// Returns the time range of samples of any kind.
    pub fn span(&self) -> Option<(f64, f64)> {
        let spans = self.series.iter().filter_map(Series::span);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}
