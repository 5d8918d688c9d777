//! Reports that are all available before the first is judged, such as a file that does not grow. They are sorted by
//! time, because an agent compares tasks that run at the same time, and files are often sorted by task. No report is
//! dropped, so the agent counts invalid reports with their lines.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::diagnose::long_tail::record::ProgressRecord;

/// Tasks that are peers.
#[derive(Clone, Debug)]
struct Peers {
    job: Box<str>,
    kind: Box<str>,
    stage: Box<str>,
}

/// An attempt of a task.
#[derive(Clone, Debug)]
struct Attempt {
    peers: u32,
    task: u64,
    attempt: u32,
    /// The node of its first report.
    node: Box<str>,
}

/// The parts of a report that differ between reports of an attempt.
#[derive(Clone, Copy, Debug)]
struct Report {
    attempt: u32,
    line: u64,
    time_s: f64,
    progress: f64,
    total: Option<f64>,
}

/// Reports in their original order. Memory: 48 bytes per report, and the names of each attempt once; 32 more per report while they are sorted by
/// time, and 16 while they are replayed.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    peers: Vec<Peers>,
    /// Numbers of peers by job, kind and stage, with a 0 between them.
    numbers: HashMap<String, u32>,
    attempts: Vec<Attempt>,
    /// Numbers of attempts by peers, task and attempt.
    positions: HashMap<(u32, u64, u32), u32>,
    reports: Vec<Report>,
    /// Kept to reuse the memory.
    name: String,
}

impl Recording {
    /// Adds a report; `line` is its line, from 1, or 0 if unknown.
    pub fn take(&mut self, record: &ProgressRecord<'_>, line: u64) {
        let peers = self.peers_of(record);
        let next = self.attempts.len() as u32;
        let attempt = *self.positions.entry((peers, record.task, record.attempt)).or_insert(next);
        if attempt == next {
            let node = record.node.as_ref().into();
            self.attempts.push(Attempt { peers, task: record.task, attempt: record.attempt, node });
        }
        let ProgressRecord { time_s, progress, total, .. } = *record;
        self.reports.push(Report { attempt, line, time_s, progress, total });
    }

    fn peers_of(&mut self, record: &ProgressRecord<'_>) -> u32 {
        self.name.clear();
        for part in [&record.job, &record.kind, &record.stage] {
            self.name.push_str(part);
            self.name.push('\0');
        }
        if let Some(&number) = self.numbers.get(&self.name) {
            return number;
        }
        let number = self.peers.len() as u32;
        let [job, kind, stage] = [&record.job, &record.kind, &record.stage].map(|name| name.as_ref().into());
        self.peers.push(Peers { job, kind, stage });
        self.numbers.insert(self.name.clone(), number);
        number
    }

    /// Returns all reports with their lines in time order. Reports of one attempt keep their original order, so that a
    /// report with a time before the time of an earlier report is still detected as invalid. If a time is more than
    /// `leap_s` \[s\] ahead, and the next report of the attempt is earlier again, that time does not move later
    /// reports.
    pub fn replay(&self, leap_s: f64) -> impl Iterator<Item = (u64, ProgressRecord<'_>)> {
        let mut order: Vec<(f64, u32)> = self.places(leap_s).into_iter().zip(0..).collect();
        // a stable sort: reports of the same time keep their order
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.into_iter().map(|(_, at)| {
            let report = &self.reports[at as usize];
            (report.line, self.record(report))
        })
    }

    /// Returns the time by which each report is sorted.
    fn places(&self, leap_s: f64) -> Vec<f64> {
        let mut next = vec![f64::INFINITY; self.attempts.len()];
        let mut taken_back = vec![false; self.reports.len()];
        for (report, taken_back) in self.reports.iter().zip(&mut taken_back).rev() {
            let next = &mut next[report.attempt as usize];
            *taken_back = *next < report.time_s;
            *next = report.time_s;
        }
        let mut latest = vec![f64::NEG_INFINITY; self.attempts.len()];
        let place = |(report, taken_back): (&Report, bool)| {
            let latest = &mut latest[report.attempt as usize];
            let leaps = taken_back && report.time_s > *latest + leap_s;
            if leaps && latest.is_finite() {
                return *latest;
            }
            let place = latest.max(report.time_s);
            if !leaps {
                *latest = place;
            }
            place
        };
        self.reports.iter().zip(taken_back).map(place).collect()
    }

    fn record(&self, report: &Report) -> ProgressRecord<'_> {
        let attempt = &self.attempts[report.attempt as usize];
        let peers = &self.peers[attempt.peers as usize];
        ProgressRecord {
            job: Cow::Borrowed(&peers.job),
            kind: Cow::Borrowed(&peers.kind),
            stage: Cow::Borrowed(&peers.stage),
            task: attempt.task,
            attempt: attempt.attempt,
            node: Cow::Borrowed(&attempt.node),
            time_s: report.time_s,
            progress: report.progress,
            total: report.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines after a replay of reports, given as task and time.
    fn lines(reports: &[(u64, f64)]) -> Vec<u64> {
        let mut recording = Recording::default();
        for (&(task, time_s), line) in reports.iter().zip(1..) {
            let [job, kind, stage, node] = ["", "map", "1", "n1"].map(Cow::Borrowed);
            let (attempt, progress, total) = (0, 0.5, Some(8.0));
            let record = ProgressRecord { job, kind, stage, task, attempt, node, time_s, progress, total };
            recording.take(&record, line);
            let again = recording.record(recording.reports.last().unwrap());
            assert_eq!(again, record);
        }
        recording.replay(600.0).map(|(line, _)| line).collect()
    }

    #[test]
    fn reports_are_put_in_the_order_of_time() {
        assert!(lines(&[]).is_empty());
        assert_eq!(lines(&[(0, 1.0), (0, 3.0), (0, 5.0), (1, 1.0), (1, 2.0), (1, 5.0)]), [1, 4, 5, 2, 3, 6]);
    }

    #[test]
    fn reports_of_an_attempt_keep_their_order() {
        // a time before an earlier report's time stays behind it
        assert_eq!(lines(&[(0, 1.0), (0, 4.0), (0, 2.0), (0, 6.0), (1, 3.0), (1, 5.0)]), [1, 5, 2, 3, 6, 4]);
        // a leap that is taken back does not move the rest, even if it comes first
        assert_eq!(lines(&[(0, 1.0), (0, 1e9), (0, 3.0), (1, 2.0)]), [1, 2, 4, 3]);
        assert_eq!(lines(&[(0, 1e9), (0, 3.0), (1, 2.0)]), [3, 2, 1]);
        // a leap that is confirmed, or no leap, moves the attempt
        assert_eq!(lines(&[(0, 1.0), (0, 1e9), (0, 2e9), (1, 2.0)]), [1, 4, 2, 3]);
        assert_eq!(lines(&[(0, 1.0), (0, 9.0), (0, 3.0), (1, 2.0)]), [1, 4, 2, 3]);
    }
}
