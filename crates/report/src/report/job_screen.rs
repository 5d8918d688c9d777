//! The screen of an estimate of a MapReduce job.

use crate::document::parts::{TimeFound, partial, rows_table};
use crate::document::{NextCommand, Screen, ScreenShares, ScreenVerdict, human_time, percent_text};
use crate::mapreduce::MEASURED;
use crate::report::explained::{AssumedEffectRow, AssumedSection, TimePart};
use crate::report::job::{JobReport, PhaseRow};
use crate::report::number::{counted, plain, time_words};
use crate::report::screens::{REFUSED, changes, first_of, misfit, part, shares, verdict};

/// Least change of the time by half or double an assumed value that is worth a word.
const LEAST_EFFECT: f64 = 0.02;
/// Share of the runs below the interval of a run.
const EARLY: f64 = 0.05;

impl JobReport {
    /// Returns the answer on one screen; `best` is the time by the best method.
    pub(super) fn screen(&self, best: Option<&TimeFound>) -> Screen {
        let is_refused = self.own_run.forbids_advice();
        let typical_s = best.map(|time| time.quantile(0.5).map_or(time.mean.measured.value, |p50| p50.measured.value));
        let headline_s = self.next_run.as_ref().map(|next| next.median_s).or(typical_s).unwrap_or(0.0);
        let next_run = self.next_run.as_ref();
        let time = match (misfit(&self.own_run), next_run) {
            (Some(misfit), Some(next)) if is_refused => {
                let [low, high] = next.prediction_s.map(|seconds| human_time(seconds, 2));
                let level = plain(100.0 * next.prediction_level);
                format!("{misfit} All that it can say: the next run takes {low} to {high} ({level}%).")
            }
            (Some(misfit), None) => misfit,
            (misfit, Some(next)) => {
                let misfit = misfit.map_or_else(String::new, |misfit| misfit + " ");
                let [median, low, high] =
                    [next.median_s, next.prediction_s[0], next.prediction_s[1]].map(|seconds| human_time(seconds, 2));
                let level = plain(100.0 * next.prediction_level);
                format!("{misfit}The next run takes {median} ({level}%: {low} to {high}) {}.", self.conditions())
            }
            (None, None) => best.map_or_else(String::new, |time| typical(time, &self.conditions(), self.early())),
        };
        let spread = next_run.map(|next| format!("runs differ by {:.0}%", 100.0 * next.run_sigma));
        let attempts = (!self.attempts.is_empty()).then(|| {
            rows_table("Cost of stragglers and copies, per run", self.level, "/attempts", "attempts", &self.attempts)
        });
        Screen {
            answer: [
                Some(time),
                self.assumed.decides(headline_s),
                self.in_time(),
                self.late(),
                partial(self.partial, self.replications),
            ]
            .into_iter()
            .flatten()
            .filter(|sentence| !sentence.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
            own_run: Some(self.verdict()),
            parts: if is_refused { ScreenShares::default() } else { self.where_it_goes() },
            tables: attempts.filter(|_| !is_refused).into_iter().collect(),
            changes: changes(&self.changes, headline_s),
            refused: if is_refused { REFUSED.to_owned() } else { String::new() },
            assumed: first_of(spread.into_iter().chain(self.assumed.lines(headline_s))),
            next: self.next(is_refused),
            ..Screen::default()
        }
    }

    /// Returns the verdict on the model. The times of a MapReduce job count from its first launch.
    fn verdict(&self) -> ScreenVerdict {
        let mut found = verdict(&self.own_run, "model");
        if let (Some(line), false) = (found.lines.first_mut(), self.own_run.runs.is_empty()) {
            *line += ", from the first launch on";
        }
        found
    }

    /// Returns the time that 5% of the runs undercut \[s\].
    fn early(&self) -> Option<f64> {
        let exact = self.analytic.as_ref().map(|analytic| &analytic.curve[..]);
        let simulated = self.job_time.as_ref().map(|times| &times.curve[..]);
        let curve = [exact, simulated].into_iter().flatten().find(|curve| !curve.is_empty())?;
        let pair = curve.windows(2).find(|pair| pair[1].probability >= EARLY)?;
        let share = (EARLY - pair[0].probability) / (pair[1].probability - pair[0].probability);
        Some(pair[0].time_s + share.clamp(0.0, 1.0) * (pair[1].time_s - pair[0].time_s))
    }

    fn conditions(&self) -> String {
        let [maps, reduces, workers] =
            [(self.job.maps, "map"), (self.job.reduces, "reduce"), (self.job.workers, "worker")]
                .map(|(number, noun)| counted(number, noun));
        let slots = if self.job.slots { "" } else { ", without slots" };
        format!("for {maps} and {reduces} on {workers}{slots}")
    }

    /// Returns the probability of meeting the deadline, if there is one.
    fn in_time(&self) -> Option<String> {
        let section = self.deadline.as_ref()?;
        let probability = section.exact.as_ref().or(section.simulated.as_ref())?;
        let within = time_words(section.deadline_s);
        Some(format!("It meets the deadline of {within} with {} probability.", percent_text(probability.value)))
    }

    /// Returns the probability of missing the deadline by splitting, if it was asked for.
    fn late(&self) -> Option<String> {
        let late = self.deadline.as_ref()?.late.as_ref()?;
        Some(format!("By splitting, the probability of missing it is {:.2e}.", late.probability.value))
    }

    fn where_it_goes(&self) -> ScreenShares {
        let phase = |phase: &PhaseRow| -> Option<(String, f64, f64)> {
            let critical = phase.critical.as_ref()?;
            Some((format!("{} {}", phase.number, phase.name), critical.time.value, critical.share))
        };
        let phases: Vec<_> = self.phases.iter().filter_map(phase).collect();
        let all: Vec<(&str, f64, f64)> = phases
            .iter()
            .map(|(name, seconds, share)| (name.as_str(), *seconds, *share))
            .chain(self.waits.iter().map(|wait: &TimePart| part(wait)))
            .collect();
        shares("Where the time goes".to_owned(), all)
    }

    fn next(&self, is_refused: bool) -> Vec<NextCommand> {
        if is_refused {
            return vec![
                NextCommand::new("tailspn why LOG", "what the slow tasks share"),
                NextCommand::new("tailspn estimate FILE --trust-misfit", "all answers, marked as not proved"),
            ];
        }
        let most = (4 * self.job.workers).clamp(4, 64);
        vec![
            NextCommand::new(format!("tailspn estimate FILE --workers 1..{most}"), "other clusters"),
            NextCommand::new("tailspn why LOG", "what each cause cost"),
            NextCommand::new("tailspn whatif ONE", "copies of slow tasks"),
        ]
    }
}

/// Returns the time of typical runs in words; `early_s` is the time that 5% of them undercut.
fn typical(time: &TimeFound, conditions: &str, early_s: Option<f64>) -> String {
    let mean = time.mean.measured.value;
    let samples = time.mean.measured.samples;
    if time.sd.as_ref().is_some_and(|sd| sd.measured.value == 0.0) {
        return format!("Every run takes {} {conditions}.", human_time(mean, 3));
    }
    if samples == 1 {
        return format!("One simulated run takes {} {conditions}.", human_time(mean, 3));
    }
    // a quantile beyond most samples would be the longest of a few
    let known = |p: f64| time.quantile(p).filter(|_| samples == 0 || samples as f64 * (1.0 - p) >= 0.999);
    match known(0.5).zip(known(0.95)).zip(early_s) {
        Some(((median, p95), early_s)) => {
            let [median, p95] = [median, p95].map(|number| number.measured.value);
            let [median, low, high] = [median, early_s, p95].map(|seconds| human_time(seconds, 2));
            format!("A run takes {median} (90%: {low} to {high}) {conditions}.")
        }
        None => format!("On average, a run takes {} {conditions}.", human_time(mean, 2)),
    }
}

impl AssumedSection {
    /// Returns how many values are assumed, and which of them decides most.
    fn decides(&self, headline_s: f64) -> Option<String> {
        let most = self.effects.first().filter(|row| self.values.len() > 1 && row.swing() >= LEAST_EFFECT)?;
        let (which, factor) = if (most.half - 1.0).abs() > (most.double - 1.0).abs() {
            ("half", most.half)
        } else {
            ("twice", most.double)
        };
        let time = human_time(factor * headline_s, 2);
        let all = self.values.len();
        Some(format!("{all} values are assumed; {} decides most: with {which} as much, it is {time}.", most.key))
    }

    /// Returns what is assumed in place of values that the plan does not state.
    fn lines(&self, headline_s: f64) -> Vec<String> {
        /// Effects that are listed.
        const MOST: usize = 3;
        let mut lines = Vec::new();
        let counts = |row: &&AssumedEffectRow| row.swing() >= LEAST_EFFECT;
        let listed: Vec<&AssumedEffectRow> = self.effects.iter().filter(counts).take(MOST).collect();
        for row in &listed {
            let [half, double] = [row.half, row.double].map(|factor| human_time(factor * headline_s, 2));
            lines.push(format!("{} = {}, of the example: half {half}, double {double}", row.key, plain(row.used)));
        }
        match self.values.len() {
            0 => {}
            _ if !listed.is_empty() => {
                let others: Vec<&str> = self
                    .values
                    .iter()
                    .filter(|key| listed.iter().all(|row| row.key != **key))
                    .map(String::as_str)
                    .collect();
                if !others.is_empty() {
                    lines.push(format!("less decisive values of the example: {}", others.join(", ")));
                }
            }
            all if all == MEASURED.len() => lines.push("the measured values of the built-in example".to_owned()),
            _ => lines.push(format!("the values of the built-in example for {}", self.values.join(", "))),
        }
        if self.exponential {
            let still = self.without_spread_s.map(|seconds| human_time(seconds, 2));
            let still = still.map_or_else(String::new, |time| format!("; without any spread, the job takes {time}"));
            lines.push(format!("exponential phases{still}"));
        }
        lines
    }
}
