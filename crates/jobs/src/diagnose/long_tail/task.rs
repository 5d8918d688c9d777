//! One attempt of a task as described by its reports: the consequences of a report, and invalid reports.

use crate::diagnose::long_tail::oddity::Oddity;
use crate::diagnose::long_tail::record::ProgressRecord;

/// Progress at which an attempt counts as complete: sums of shares may miss 1 by rounding.
const END: f64 = 1.0 - 1e-9;

/// State of an attempt from its reports so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TaskState {
    /// The time of the first report \[s\], on the source's clock.
    pub(super) start_s: f64,
    /// The time of the last report.
    pub(super) last_s: f64,
    /// The completed share at the last report.
    pub(super) progress: f64,
    /// Total work, if known.
    pub(super) total: Option<f64>,
}

/// The state of an attempt at one of its reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Seconds since the first report.
    pub(super) age_s: f64,
    /// The completed share.
    pub(super) progress: f64,
    /// True if the work is complete.
    pub(super) ended: bool,
}

impl TaskState {
    /// Creates the state from an attempt's first report.
    pub(super) fn new(record: &ProgressRecord<'_>) -> Self {
        Self { start_s: record.time_s, last_s: record.time_s, progress: record.progress, total: record.total }
    }

    /// Processes the next report. If the report cannot follow the last report, returns an error, and the report is
    /// skipped. A changed total is returned with the sample.
    pub(super) fn follow(&mut self, record: &ProgressRecord<'_>) -> Result<(Sample, Option<Oddity>), Oddity> {
        if record.time_s < self.last_s {
            return Err(Oddity::TimeBackwards);
        }
        let changed = record.total.is_some() && self.total.is_some() && record.total != self.total;
        if record.progress < self.progress && !changed {
            return Err(Oddity::ProgressFell);
        }
        self.last_s = record.time_s;
        self.progress = record.progress;
        self.total = record.total.or(self.total);
        Ok((self.sample(), changed.then_some(Oddity::TotalChanged)))
    }

    /// Returns the sample after the last report.
    pub(super) fn sample(&self) -> Sample {
        Sample { age_s: self.last_s - self.start_s, progress: self.progress, ended: self.progress >= END }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_s: f64, done: f64, total: f64) -> ProgressRecord<'static> {
        let name = |text: &'static str| std::borrow::Cow::Borrowed(text);
        ProgressRecord {
            job: name(""),
            kind: name("map"),
            stage: name("1"),
            task: 0,
            attempt: 0,
            node: name(""),
            time_s,
            progress: done / total,
            total: Some(total),
        }
    }

    #[test]
    fn reports_that_contradict_earlier_ones_are_left_out() {
        let mut task = TaskState::new(&record(10.0, 0.0, 100.0));
        assert!((task.follow(&record(12.0, 20.0, 100.0)).unwrap().0.progress - 0.2).abs() < 1e-12);
        assert_eq!(task.follow(&record(11.0, 30.0, 100.0)), Err(Oddity::TimeBackwards));
        assert_eq!(task.follow(&record(13.0, 10.0, 100.0)), Err(Oddity::ProgressFell));
        let (sample, told) = task.follow(&record(14.0, 30.0, 200.0)).unwrap();
        assert_eq!((sample.progress, sample.age_s, told), (0.15, 4.0, Some(Oddity::TotalChanged)));
        let (sample, told) = task.follow(&record(20.0, 200.0, 200.0)).unwrap();
        assert!(sample.ended && told.is_none());
    }
}
