//! The screens of `whatif`: the gain of each policy, for the job of a plan or of a log.

use crate::document::{Cell, Column, NextCommand, Number, Screen, ScreenVerdict, Table};
use crate::estimate::Measured;
use crate::job_time::OwnRun;
use crate::report::deadline::chance;
use crate::report::number::time_words;
use crate::report::screens::{first_of, misfit, replayed, verdict};
use crate::report::whatif::{PolicyRow, WhatIfReport};
use crate::report::whatif_log::LogWhatIfReport;

impl WhatIfReport {
    /// Returns the answer for the job of a plan.
    pub(super) fn screen(&self) -> Screen {
        let own_run = self.own_run.as_ref();
        let not_proved = own_run.filter(|found| found.is_misfit()).and_then(misfit);
        Screen {
            answer: [not_proved, Some(self.advised())].into_iter().flatten().collect::<Vec<_>>().join(" "),
            own_run: own_run.map(|found| verdict(found, "model")),
            tables: vec![self.policy_table(true)],
            next: {
                // a plan of tasks over time has no estimate
                let estimate =
                    NextCommand::new("tailspn estimate FILE", "the time of the job; other sizes and clusters");
                let verbose =
                    NextCommand::new("tailspn whatif FILE --verbose", "tails, copies, quality of the detectors");
                let is_estimated = !self.plan.contains("[[job]]");
                is_estimated.then_some(estimate).into_iter().chain([verbose]).collect()
            },
            ..Screen::default()
        }
    }

    /// Returns the advice as a sentence.
    fn advised(&self) -> String {
        let advice = self.advice.trim_end_matches('.');
        let advice = match advice.strip_prefix("none: ") {
            Some(why) => format!("No policy is advised: {why}"),
            None => {
                let mut letters = advice.chars();
                letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
            }
        };
        let stopped = if self.partial { " The run was stopped early." } else { "" };
        format!("{advice}.{stopped}")
    }

    /// Returns the fastest policy if it beats the baseline beyond the error.
    fn chosen(&self) -> Option<usize> {
        let gains = |row: &PolicyRow| {
            let change = row.job_time_change.as_ref()?;
            Some(change.difference.ends()?[1] < 0.0)
        };
        let rows = self.policies.iter().enumerate().filter(|(_, row)| gains(row) == Some(true));
        let best = rows.min_by(|(_, a), (_, b)| a.job_time_s.value.total_cmp(&b.job_time_s.value));
        best.map(|(i, _)| i).filter(|_| self.advice.starts_with("use "))
    }

    /// Returns a row for each policy, with its gain and its price.
    fn policy_table(&self, has_energy: bool) -> Table {
        let mut columns = vec![Column::new("policy"), Column::new("mean").unit("s")];
        let p95 = |row: &PolicyRow| row.tails.iter().position(|tail| (tail.p - 0.95).abs() < 1e-12);
        let tail = self.policies.first().and_then(p95).filter(|_| has_energy);
        columns.extend(tail.map(|_| Column::new("p95").unit("s")));
        columns.extend(
            self.deadline_s.map(|deadline_s| Column::new(format!("within {}", time_words(deadline_s))).unit("%")),
        );
        columns.extend(
            [("saves", "s"), ("killed", "s"), ("copies", "")].map(|(title, unit)| Column::new(title).unit(unit)),
        );
        columns.extend(has_energy.then(|| Column::new("energy").unit("kJ")));
        let note = "Killed: slot time of attempts that were killed. Intervals: --verbose.";
        let mut table = Table::new("", note, columns);
        let mut policies: Vec<(usize, &PolicyRow)> = self.policies.iter().enumerate().collect();
        policies.sort_by(|(_, a), (_, b)| a.job_time_s.value.total_cmp(&b.job_time_s.value));
        let chosen = self.chosen();
        for (i, row) in &policies {
            let at = |key: &str| format!("/policies/{i}/{key}");
            let mut cells: Vec<Cell> =
                vec![row.name.clone().into(), rounded(at("job_time_s"), &row.job_time_s, "s").into()];
            cells.extend(tail.map(|t| rounded(at(&format!("tails/{t}")), &row.tails[t].quantity, "s").into()));
            if self.deadline_s.is_some() {
                cells.push(row.done_by_deadline.as_ref().map(|done| chance(at("done_by_deadline"), done)).into());
            }
            let saves = row.job_time_change.as_ref().map(|change| {
                let at = at("job_time_change/difference");
                // the difference of the printed times has their digits
                let time = rounded(String::new(), &row.job_time_s, "s");
                let number = Number::new(at, change.difference.value, "s");
                Number { factor: -1.0, digits_of: time.digits_of, ..number }
            });
            cells.push(saves.into());
            cells.push(rounded(at("wasted_slot_s"), &row.wasted_slot_s, "s").into());
            cells.push(rounded(at("copies"), &row.copies, "").into());
            if has_energy {
                cells.push(rounded(at("energy_j"), &row.energy_j, "J").shown_in("kJ", 1e-3).into());
            }
            table.rows.push(cells);
        }
        Table { mark: policies.iter().position(|(i, _)| Some(*i) == chosen), has_choice: true, ..table }
    }
}

/// Returns a number with the digits of its interval, three at most, but without the interval.
fn rounded(at: String, measured: &Measured, unit: &'static str) -> Number {
    let number = Number::new(at, measured.value, unit).three_digits();
    let coarse = measured.half_width().filter(|half| number.digits_of.is_none_or(|digits| *half > digits));
    match coarse {
        Some(half) => number.rounded(half),
        None => number,
    }
}

impl LogWhatIfReport {
    /// Returns the answer for the job of a log.
    pub(super) fn screen(&self) -> Screen {
        let found = &self.comparison;
        let part = if self.is_complete { "" } else { "The log is of a job that failed or has not ended. " };
        Screen {
            answer: format!("{part}{}", found.advised()),
            own_run: Some(self.replay_verdict(&self.own_run)),
            tables: vec![found.policy_table(false)],
            to_try: self.to_try.clone().unwrap_or_default(),
            assumed: first_of(self.notes.iter().cloned()),
            next: vec![
                NextCommand::new("tailspn why LOG", "what each cause cost"),
                NextCommand::new("tailspn whatif LOG --policies all", "LATE, Hadoop, Mantri, clones"),
            ],
            ..Screen::default()
        }
    }

    /// Returns the verdict on the replay.
    fn replay_verdict(&self, own_run: &OwnRun) -> ScreenVerdict {
        match &own_run.runs[..] {
            [run] => replayed(run.logged_s, run.model_s, own_run.is_misfit()),
            _ => ScreenVerdict { label: ScreenVerdict::UNCHECKED, lines: vec!["the replay has no time".to_owned()] },
        }
    }
}
