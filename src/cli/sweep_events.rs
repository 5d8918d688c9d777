//! Progress of a sweep on standard error: a bar for users, or events as JSON lines for programs.

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde::Serialize;
use tailspn::report::counted;
use tailspn::sweep::{DamagedPart, Ends, PointResult, Stored, SweepWatch};
use tailspn::watch::Watch;

use crate::cli::call::interrupted;
use crate::cli::output::Terminal;
use crate::cli::watch::Progress;

/// Version of the event format.
const FORMAT_VERSION: u32 = 1;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Started {
        format_version: u32,
        version: &'static str,
        points: u64,
        found: u64,
        planned: u64,
    },
    Point {
        point: u64,
        replications: u64,
        reached: u64,
        mean_s: Option<Ends>,
        #[serde(flatten)]
        pace: Pace,
    },
    Round {
        points: u64,
        #[serde(flatten)]
        pace: Pace,
    },
    Done {
        points: u64,
        missing: u64,
        complete: bool,
        interrupted: bool,
        elapsed_s: f64,
    },
}

/// Progress of a run: in points, or in replications once there are rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Pace {
    done: u64,
    planned: Option<u64>,
    elapsed_s: f64,
    per_s: Option<f64>,
    left_s: Option<f64>,
}

impl Pace {
    /// Returns the progress after `elapsed`; `before` units were done before that time started.
    fn new(done: u64, before: u64, planned: Option<u64>, elapsed: Duration) -> Self {
        let elapsed_s = elapsed.as_secs_f64();
        let own = done.saturating_sub(before);
        let per_s = (own > 0 && elapsed_s > 0.0).then(|| own as f64 / elapsed_s);
        let left_s = planned.zip(per_s).map(|(planned, per_s)| planned.saturating_sub(done) as f64 / per_s);
        Self { done, planned, elapsed_s, per_s, left_s }
    }
}

/// Reports the progress of a sweep.
#[derive(Debug)]
pub(crate) struct Teller {
    terminal: Terminal,
    events: bool,
    started: Instant,
    bar: Progress,
    /// Start and progress of the rounds of a budget, which count replications instead of points.
    rounds: OnceLock<(Instant, Progress)>,
}

impl Teller {
    /// Returns a reporter that counts points; with `events`, it shows no bar.
    pub(crate) fn new(events: bool, terminal: &Terminal) -> Self {
        let bar = Progress::new(terminal.shows_progress().unless(events), "points");
        Self { terminal: terminal.clone(), events, started: Instant::now(), bar, rounds: OnceLock::new() }
    }

    fn tell(&self, event: &Event) {
        if let (true, Ok(mut line)) = (self.events, serde_json::to_string(event)) {
            line.push('\n');
            // without a reader there is nothing left to do
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }

    /// Reports the end of the run.
    pub(crate) fn done(&self, stored: &Stored, elapsed: Duration) {
        let points = stored.results.len() as u64;
        self.tell(&Event::Done {
            points,
            missing: stored.planned() - points,
            complete: stored.is_complete(),
            interrupted: interrupted(),
            elapsed_s: elapsed.as_secs_f64(),
        });
    }
}

impl SweepWatch for Teller {
    fn constrained(&self, left_out: u64, planned: u64, base_breaks: bool) {
        if left_out > 0 {
            let out = counted(left_out, "point");
            self.terminal.tell(&format!("note: the constraints exclude {out} of {planned}"));
        }
        if base_breaks {
            self.terminal.tell(
                "note: the base violates a constraint; the base is kept, because all points are compared with the base",
            );
        }
    }

    fn damaged(&self, part: &DamagedPart) {
        self.terminal.tell(&format!("warning: {part}; its points are run again"));
    }

    fn started(&self, stored: &Stored, planned: u64) {
        self.tell(&Event::Started {
            format_version: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            points: stored.planned(),
            found: stored.results.len() as u64,
            planned,
        });
    }

    fn point(&self, result: &PointResult, done: u64, planned: u64) {
        let pace = Pace::new(done, 0, Some(planned), self.started.elapsed());
        let PointResult { point, replications, reached, .. } = *result;
        let mean_s = result.mean_s.as_ref().map(Ends::from);
        self.tell(&Event::Point { point, replications, reached, mean_s, pace });
    }

    fn rounds(&self) {
        let bar = Progress::new(self.terminal.shows_progress().unless(self.events), "replications");
        let _ = self.rounds.set((Instant::now(), bar));
    }

    fn round(&self, points: usize, done: u64, before: u64, planned: Option<u64>) {
        let started = self.rounds.get().map_or(self.started, |(started, _)| *started);
        let pace = Pace::new(done, before, planned, started.elapsed());
        self.tell(&Event::Round { points: points as u64, pace });
    }
}

impl Watch for Teller {
    fn progress(&self, done: u64, planned: u64) {
        self.rounds.get().map_or(&self.bar, |(_, bar)| bar).progress(done, planned);
    }

    fn stopped(&self) -> bool {
        self.bar.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_counts_what_this_run_did() {
        let pace = Pace::new(30, 10, Some(50), Duration::from_secs(4));
        assert_eq!((pace.per_s, pace.left_s), (Some(5.0), Some(4.0)));
        let none = Pace::new(10, 10, Some(50), Duration::from_secs(4));
        assert_eq!((none.per_s, none.left_s), (None, None));
        assert_eq!(Pace::new(30, 10, None, Duration::from_secs(4)).left_s, None);
    }
}
