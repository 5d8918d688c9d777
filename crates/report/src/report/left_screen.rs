//! The screen of the time left of a run in progress.

use crate::document::{
    Cell, Column, NextCommand, Number, Screen, ScreenVerdict, Table, human_time, percent_text, short_name,
};
use crate::report::number::{counted, plain};
use crate::report::remaining::{RemainingBasis, RemainingReport, RemainingStageRow};
use crate::report::screens::{first_of, misfit, verdict};
use crate::trace::utc_text;

/// Maximum number of stages.
const MOST: usize = 6;

impl RemainingReport {
    /// Returns the answer on one screen.
    pub(super) fn screen(&self) -> Screen {
        if self.basis == RemainingBasis::Ended {
            return Screen {
                answer: self.job_s.map_or_else(
                    || "The application has ended without finishing a job.".to_owned(),
                    |job_s| format!("The run has finished: it took {}.", human_time(job_s, 3)),
                ),
                next: vec![NextCommand::new("tailspn why LOG", "what each cause cost")],
                ..Screen::default()
            };
        }
        let mut next = vec![
            NextCommand::new("tailspn watch FILE", "the time left, again and again"),
            NextCommand::new("tailspn why LOG", "slow tasks so far"),
        ];
        let own_run = match self.basis {
            RemainingBasis::Plan => verdict(&self.own_run, "model"),
            _ => {
                next.insert(
                    0,
                    NextCommand::new(
                        "tailspn estimate FILE EARLIER.gz",
                        "with a run that has ended: a narrower interval",
                    ),
                );
                ScreenVerdict { label: ScreenVerdict::UNCHECKED, lines: vec!["no earlier run is given".to_owned()] }
            }
        };
        Screen {
            answer: self.left(),
            own_run: Some(own_run),
            tables: vec![self.stages_left()],
            assumed: first_of(self.notes.iter().cloned()),
            next,
            ..Screen::default()
        }
    }

    fn left(&self) -> String {
        let level = plain(100.0 * self.prediction_level);
        let [low_s, high_s] = self.prediction_s;
        let [median, low, high] = [self.median_s, low_s, high_s].map(|seconds| human_time(seconds, 2));
        let mut answer = misfit(&self.own_run).map_or_else(String::new, |misfit| misfit + " ");
        answer += &format!("{median} left ({level}%: {low} to {high})");
        answer += &self.now_unix_s.map_or_else(String::new, |now_s| {
            let at = |left_s: f64| utc_text(now_s + left_s);
            format!(": it ends at {}", at(self.median_s))
        });
        answer += ".";
        if self.basis == RemainingBasis::RunItself {
            answer += &format!(" Only the end of {} is predicted: later jobs are not known.", self.jobs());
        }
        for row in &self.done_by {
            let (within, chance) = (human_time(row.by_s, 3), percent_text(row.probability.value));
            let clock =
                self.now_unix_s.zip(self.elapsed_s).map(|(now_s, elapsed_s)| utc_text(now_s - elapsed_s + row.by_s));
            let clock = clock.map_or_else(String::new, |clock| format!(" ({clock})"));
            answer += &match self.elapsed_s.is_some_and(|elapsed_s| elapsed_s >= row.by_s) {
                true => format!(" It has missed the deadline of {within}{clock}."),
                false => format!(" It meets the deadline of {within}{clock} with {chance} probability."),
            };
        }
        let [finished, tasks] = [|row: &RemainingStageRow| row.finished, |row: &RemainingStageRow| row.tasks]
            .map(|value| self.stages.iter().map(|row| u64::from(value(row))).sum::<u64>());
        let elapsed =
            self.elapsed_s.map_or_else(String::new, |elapsed_s| format!("{} have passed; ", human_time(elapsed_s, 2)));
        let is_one = if finished == 1 { "has" } else { "have" };
        answer
            + &format!(" {elapsed}{finished} of {} {is_one} finished.", counted(tasks, "task"))
            + if self.partial { " The run was stopped early." } else { "" }
    }

    /// Returns the stages that have not ended, and when they will.
    fn stages_left(&self) -> Table {
        let columns = [Column::new("stage"), Column::new("done"), Column::new("ends at").unit("s")];
        let level = plain(100.0 * self.prediction_level);
        let note = format!("Seconds from the start of the first job, with {level}% intervals.");
        let mut table = Table::new("Where the rest goes", note, columns).most(MOST);
        for (i, row) in self.stages.iter().enumerate().filter(|(_, row)| !row.is_finished) {
            let end = row.end.as_ref().map(|end| Number::measured(format!("/stages/{i}/end"), end, "s"));
            table.rows.push(vec![
                short_name(&format!(
                    "{} {}",
                    row.number.map_or_else(|| i.to_string(), |number| number.to_string()),
                    row.name
                ))
                .into(),
                format!("{} of {}", row.finished, row.tasks).into(),
                Cell::from(end),
            ]);
        }
        table
    }
}
