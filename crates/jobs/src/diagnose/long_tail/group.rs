//! The tasks of a running stage: their common speed, and the slowness of each relative to the other tasks.
//!
//! Implements the judgement of a single sample. `agent` decides which reports become samples, and how many in a row raise a flag.

use crate::diagnose::long_tail::curve::ProgressCurve;
use crate::diagnose::long_tail::profile::Profile;
use crate::diagnose::long_tail::settings::{AgentSettings, Boundary, PeerRule};
use crate::diagnose::long_tail::task::{Sample, TaskState};
use crate::estimate::{normal_cdf, normal_quantile};

/// Number of finished attempts whose slow-downs are kept. The latest attempts are kept, so the memory of an endless
/// group stays bounded.
const MOST_ENDED: usize = 1024;

/// Minimum number of peers that determine the speed of a job without history.
const FEWEST_PEERS: usize = 3;

/// Without a profile: error of an early prediction, shrinking in proportion to the remaining work.
/// Appropriate for tasks with even progress whose speed occasionally changes by half.
const UNKNOWN_SPREAD: f64 = 0.5;

/// Without a profile: assumed standard deviation of the logarithm of the task times of a stage.
const UNKNOWN_TASK_SPREAD: f64 = 0.2;

/// A running attempt.
#[derive(Clone, Debug)]
pub(super) struct LiveTask {
    pub(super) task: u64,
    pub(super) attempt: u32,
    pub(super) node: Box<str>,
    pub(super) state: TaskState,
    /// Age at the last report that counted as a sample.
    pub(super) sampled_s: f64,
    /// Number of consecutive samples whose slow-down is above the threshold.
    pub(super) streak: u32,
    pub(super) flagged: bool,
    /// Logarithm of the attempt's slow-down relative to the model, and the uncertainty of this logarithm, if the
    /// attempt has made any progress.
    pub(super) slow: Option<(f64, f64)>,
}

/// Baseline of a group, with or without a profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual<'a> {
    profile: Option<&'a Profile>,
}

/// Without a profile, one second serves as the unit of usual time: the peers define the baseline.
const EVEN: ProgressCurve = ProgressCurve::Linear { intercept: 0.0, slope: 1.0 };

impl<'a> Usual<'a> {
    pub(super) fn new(profile: Option<&'a Profile>) -> Self {
        Self { profile }
    }

    fn curve(self) -> &'a ProgressCurve {
        self.profile.map_or(&EVEN, |profile| &profile.curve)
    }

    fn spread_at(self, progress: f64) -> f64 {
        self.profile.map_or_else(|| UNKNOWN_SPREAD * (1.0 - progress).max(0.1), |profile| profile.spread_at(progress))
    }

    fn task_spread(self) -> f64 {
        self.profile.map_or(UNKNOWN_TASK_SPREAD, |profile| profile.task_spread)
    }

    /// Returns the logarithm of an attempt's time divided by the usual time, estimated from its progress; the time is
    /// at least the attempt's age.
    pub(super) fn log_slowdown(self, sample: &Sample) -> Option<f64> {
        let usual = self.curve().age_at(sample.progress);
        let so_far = sample.age_s / self.curve().usual_s();
        let slowdown = if usual > 0.0 { (sample.age_s / usual).max(so_far) } else { so_far };
        (slowdown > 0.0).then(|| slowdown.ln())
    }
}

/// Result of judging a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// True if the slow-down of the sample is above the threshold.
    pub(super) beyond: bool,
    /// Factor by which the task takes longer than its job's tasks usually do.
    pub(super) slowdown: f64,
    /// Threshold for the slow-down.
    pub(super) boundary: f64,
    /// Probability that the task ends as a straggler.
    pub(super) probability: f64,
    /// Progress of a usual task of the job at this age.
    pub(super) peers: f64,
}

/// The attempts of a job, kind and stage.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) job: Box<str>,
    pub(super) kind: Box<str>,
    pub(super) stage: Box<str>,
    /// Position of the group's profile.
    pub(super) profile: Option<usize>,
    pub(super) live: Vec<LiveTask>,
    /// Logarithms of slow-downs of finished attempts, and the position of the next one.
    ended: Vec<f64>,
    next_ended: usize,
    /// Time of its latest report.
    pub(super) last_s: f64,
    /// Logarithm of the slow-down of the whole job, and its uncertainty; none without data.
    centre: Option<(f64, f64)>,
    /// Time at which `centre` was computed.
    centre_s: f64,
}

impl Group {
    pub(super) fn new(job: &str, kind: &str, stage: &str, profile: Option<usize>) -> Self {
        Self {
            job: job.into(),
            kind: kind.into(),
            stage: stage.into(),
            profile,
            live: Vec::new(),
            ended: Vec::new(),
            next_ended: 0,
            last_s: f64::NEG_INFINITY,
            centre: None,
            centre_s: f64::NEG_INFINITY,
        }
    }

    /// Returns the usual time of the group's tasks, if known \[s\].
    pub(super) fn usual_s(&self, usual: Usual<'_>) -> Option<f64> {
        match usual.profile {
            Some(profile) => Some(profile.curve.usual_s()),
            None => self.centre.map(|(centre, _)| centre.exp()),
        }
    }

    /// Records the sample of an attempt for its peers.
    pub(super) fn note(&mut self, position: usize, sample: &Sample, usual: Usual<'_>) {
        let slow = usual.log_slowdown(sample).filter(|_| sample.progress > 0.0);
        self.live[position].slow = slow.map(|slow| (slow, usual.spread_at(sample.progress)));
    }

    /// Ends an attempt: it leaves the group, and its time is kept.
    pub(super) fn end(&mut self, position: usize, sample: &Sample, usual: Usual<'_>) -> LiveTask {
        if let Some(slow) = usual.log_slowdown(sample) {
            if self.ended.len() < MOST_ENDED {
                self.ended.push(slow);
            } else {
                self.ended[self.next_ended] = slow;
            }
            self.next_ended = (self.next_ended + 1) % MOST_ENDED;
        }
        self.live.swap_remove(position)
    }

    /// Ensures that the speed of the job is at most `age_s` old.
    pub(super) fn refresh(&mut self, now_s: f64, age_s: f64, usual: Usual<'_>, history_weight: f64) {
        if now_s - self.centre_s >= age_s || now_s < self.centre_s {
            self.centre = self.speed(usual, history_weight);
            self.centre_s = now_s;
        }
    }

    /// Returns the weighted median of the slow-downs of all tasks, each weighted by its certainty. The history counts as some additional tasks, fewer
    /// as more tasks end.
    fn speed(&self, usual: Usual<'_>, history_weight: f64) -> Option<(f64, f64)> {
        let own = usual.task_spread() * usual.task_spread();
        let live =
            self.live.iter().filter_map(|task| task.slow).map(|(slow, spread)| (slow, 1.0 / (own + spread * spread)));
        let mut all: Vec<(f64, f64)> = self.ended.iter().map(|&slow| (slow, 1.0 / own)).chain(live).collect();
        let open = self.live.len() as f64 / (self.live.len() + self.ended.len()).max(1) as f64;
        if usual.profile.is_some() {
            all.push((0.0, open.max(0.01) * history_weight / own));
        } else if all.len() < FEWEST_PEERS {
            return None;
        }
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let weight: f64 = all.iter().map(|pair| pair.1).sum();
        let centre = weighted_median(&all, weight)?;
        // a median is sqrt(pi / 2) times less certain than a mean; the median of finished tasks is known as it is
        Some((centre, (open * std::f64::consts::FRAC_PI_2 / weight).sqrt()))
    }

    /// Judges a sample; none if there is no baseline.
    pub(super) fn judge(&self, sample: &Sample, usual: Usual<'_>, settings: &AgentSettings) -> Option<Judgement> {
        let (centre, centre_spread) = self.centre?;
        let curve = usual.curve();
        let log_slowdown = usual.log_slowdown(sample)? - centre;
        let limit = (1.0 + settings.diff).ln();
        let spread = usual.spread_at(sample.progress).hypot(centre_spread);
        let probability = normal_cdf((log_slowdown - limit) / spread);
        let peers = curve.progress(sample.age_s / centre.exp());
        let (beyond, boundary) = match settings.boundary {
            Boundary::Adaptive { confidence } => {
                (probability >= confidence, (limit + spread * normal_quantile(confidence)).exp())
            }
            Boundary::Fixed { peers: rule } => {
                let by_model =
                    usual.profile.is_none() || sample.progress < curve.threshold(sample.age_s, settings.diff);
                let by_peers = match rule {
                    PeerRule::Diff => sample.progress < peers / (1.0 + settings.diff),
                    PeerRule::Half => sample.progress < 0.5 * peers,
                    PeerRule::Ignored => true,
                };
                (by_model && by_peers, 1.0 + settings.diff)
            }
        };
        Some(Judgement { beyond, slowdown: log_slowdown.exp(), boundary, probability, peers })
    }
}

/// Returns the value with half of the weight below it; the mean of two values if the median is between them.
fn weighted_median(sorted: &[(f64, f64)], weight: f64) -> Option<f64> {
    let mut below = 0.0;
    for (i, &(value, own)) in sorted.iter().enumerate() {
        below += own;
        let half = 0.5 * weight;
        if below > half * (1.0 + 1e-12) {
            return Some(value);
        }
        if below >= half * (1.0 - 1e-12) {
            return Some(sorted.get(i + 1).map_or(value, |next| 0.5 * (value + next.0)));
        }
    }
    sorted.last().map(|last| last.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_median_counts_weights() {
        let of = |values: &[(f64, f64)]| weighted_median(values, values.iter().map(|value| value.1).sum());
        assert_eq!(of(&[(1.0, 1.0), (2.0, 1.0), (9.0, 1.0)]), Some(2.0));
        assert_eq!(of(&[(1.0, 1.0), (2.0, 1.0)]), Some(1.5));
        assert_eq!(of(&[(1.0, 1.0), (2.0, 5.0), (3.0, 1.0), (4.0, 1.0)]), Some(2.0));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_paper_s_rule_needs_model_and_peers() {
        let profile = Profile {
            kind: String::new(),
            tasks: 9,
            task_spread: 0.1,
            error: 0.0,
            curve: ProgressCurve::Linear { intercept: 0.0, slope: 1.0 / 60.0 },
            spread: vec![(1.0, 0.05)],
        };
        let usual = Usual::new(Some(&profile));
        let settings = |peers| AgentSettings { boundary: Boundary::Fixed { peers }, ..AgentSettings::paper() };
        // all tasks of the job are twice as slow as usual
        let mut group = Group::new("", "", "", Some(0));
        group.ended = vec![2.0_f64.ln(); 9];
        group.refresh(0.0, 0.0, usual, 2.0);
        let sample = |progress| Sample { age_s: 30.0, progress, ended: false };
        // usual 0.5, threshold 1/3, median 1/4, median / 1.5 = 1/6, half of it 1/8
        for (progress, ignored, diff, half) in [
            (0.34, false, false, false),
            (0.3, true, false, false),
            (0.15, true, true, false),
            (0.12, true, true, true),
        ] {
            for (rule, expected) in [(PeerRule::Ignored, ignored), (PeerRule::Diff, diff), (PeerRule::Half, half)] {
                let judged = group.judge(&sample(progress), usual, &settings(rule)).unwrap();
                assert_eq!(judged.beyond, expected, "{rule:?} at {progress}");
            }
        }
        // the adaptive boundary asks how slow it is relative to its job: 0.15 is 5/3 as slow as twice as slow
        let judged = group.judge(&sample(0.15), usual, &AgentSettings::adaptive()).unwrap();
        assert!(
            (judged.slowdown - 5.0 / 3.0).abs() < 1e-9 && judged.boundary > 1.5 && (judged.peers - 0.25).abs() < 1e-9
        );
    }

    #[test]
    fn memory_of_ended_tasks_is_bounded() {
        let mut group = Group::new("", "", "", None);
        let usual = Usual::new(None);
        for i in 0..3000_u32 {
            let time_s = f64::from(i) + 1.0;
            let state = TaskState { start_s: 0.0, last_s: time_s, progress: 1.0, total: None };
            let task = LiveTask {
                task: 0,
                attempt: 0,
                node: "".into(),
                state,
                sampled_s: 0.0,
                streak: 0,
                flagged: false,
                slow: None,
            };
            group.live.push(task);
            group.end(0, &state.sample(), usual);
        }
        assert_eq!((group.live.len(), group.ended.len()), (0, MOST_ENDED));
        // the latest values: 1977 to 3000
        group.refresh(0.0, 0.0, usual, 2.0);
        let median = group.usual_s(usual).unwrap();
        assert!((median - 2488.5).abs() < 1.0, "{median}");
    }
}
