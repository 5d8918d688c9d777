//! The screen of an estimate of a job of stages.

use crate::document::{NextCommand, Screen, ScreenShares, data_size, human_time, percent_text};
use crate::report::number::{counted, plain, time_words};
use crate::report::screens::{REFUSED, changes, first_of, is_no_spread, misfit, part, shares, verdict};
use crate::report::stages::StagesReport;

impl StagesReport {
    /// Returns the answer on one screen.
    pub(super) fn screen(&self) -> Screen {
        let misfit = misfit(&self.own_run);
        let is_refused = self.own_run.forbids_advice();
        // the note on a single log says the same
        let is_assumed = !self.notes.iter().all(|note| is_no_spread(&note));
        let of_run = if is_assumed { ", and this one may be a fast or a slow one" } else { "" };
        let spread = format!("runs differ by {:.0}%{of_run}", 100.0 * self.run_sigma);
        Screen {
            answer: match misfit {
                Some(misfit) if is_refused => format!("{misfit} All that it can say: {}", self.interval_alone()),
                Some(misfit) => format!("{misfit} {}{}", self.prediction(), self.copies()),
                None => self.prediction() + &self.copies(),
            },
            own_run: Some(verdict(&self.own_run, "model")),
            parts: if is_refused { ScreenShares::default() } else { self.where_it_goes() },
            changes: changes(&self.changes, self.median_s),
            refused: if is_refused { REFUSED.to_owned() } else { String::new() },
            assumed: first_of([spread].into_iter().chain(self.notes.iter().filter(is_no_spread).cloned())),
            next: self.next(is_refused),
            ..Screen::default()
        }
    }

    fn prediction(&self) -> String {
        let [median, low, high] = [self.median_s, self.prediction_s[0], self.prediction_s[1]].map(|s| human_time(s, 2));
        let level = plain(100.0 * self.prediction_level);
        let executors = counted(self.executors, "executor");
        let cores = if self.cores == 1 { String::new() } else { format!(" with {} each", counted(self.cores, "core")) };
        let input = match (self.input_mb, self.input_times) {
            (Some(mb), _) => format!("an input of {}", data_size(mb)),
            (None, Some(1.0)) | (None, None) => "the input of the logged run".to_owned(),
            (None, Some(times)) => format!("{} times the input of the logged run", plain(times)),
        };
        let deadline = self.deadline.as_ref().and_then(|section| {
            let probability = section.exact.as_ref().or(section.simulated.as_ref())?;
            let within = time_words(section.deadline_s);
            Some(format!(" It meets the deadline of {within} with {} probability.", percent_text(probability.value)))
        });
        let deadline = deadline.unwrap_or_default();
        format!(
            "The next run takes {median} ({level}%: {low} to {high}) on {executors}{cores}, with {input}.{deadline}"
        )
    }

    /// Returns what speculative copies change, if the plan has them.
    fn copies(&self) -> String {
        let Some(section) = &self.speculation else { return String::new() };
        let change_s = section.change_s.value;
        let change = if change_s > 0.0 { "longer" } else { "shorter" };
        let copies = plain((10.0 * section.copies.value).round() / 10.0);
        format!(" With speculation ({copies} copies), a typical run is {} {change}.", human_time(change_s.abs(), 2))
    }

    /// Returns the interval of a model that misses its own run.
    fn interval_alone(&self) -> String {
        let [low, high] = self.prediction_s.map(|seconds| human_time(seconds, 2));
        format!("the next run takes {low} to {high} ({}%).", plain(100.0 * self.prediction_level))
    }

    fn where_it_goes(&self) -> ScreenShares {
        shares("Where the time goes".to_owned(), self.parts.iter().map(part))
    }

    fn next(&self, is_refused: bool) -> Vec<NextCommand> {
        if is_refused {
            return vec![
                NextCommand::new("tailspn why LOG", "what the slow tasks share"),
                NextCommand::new("tailspn estimate FILE --trust-misfit", "all answers, marked as not proved"),
            ];
        }
        let most = (4 * self.executors).clamp(4, 64);
        vec![
            NextCommand::new(format!("tailspn estimate FILE --executors 1..{most}"), "other clusters"),
            NextCommand::new("tailspn why LOG", "what each cause cost"),
            NextCommand::new("tailspn whatif ONE", "copies of slow tasks"),
        ]
    }
}
