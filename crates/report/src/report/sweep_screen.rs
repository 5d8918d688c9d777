//! The screen of a study of settings, one at a time.

use crate::document::{Bar, Cell, Column, NextCommand, Number, Screen, Table, human_time};
use crate::report::number::{counted, value_text};
use crate::report::screens::{first_of, is_no_spread, misfit, verdict};
use crate::report::sweep::{KnobRow, SweepReport};
use crate::sweep::{Level, PointResult};

/// Settings that the answer names.
const NAMED: usize = 3;
/// Least share of the time of a change that matters.
const LEAST: f64 = 0.01;

impl SweepReport {
    /// Returns the answer on one screen; none unless one setting changes at a time.
    pub(super) fn screen(&self) -> Option<Screen> {
        let base = self.points.iter().find(|point| point.point == 0)?;
        let base_s = base.mean_s.as_ref()?.value;
        if self.tornado.is_empty() {
            return None;
        }
        let not_proved = self.own_run.as_ref().and_then(misfit);
        let left = self.planned.saturating_sub(self.points.len() as u64);
        let partial = self.partial.then(|| format!("Stopped early: {} are missing.", counted(left, "point")));
        let answer = [not_proved, Some(self.largest(base_s)), partial].into_iter().flatten().collect::<Vec<_>>();
        Some(Screen {
            answer: answer.join(" "),
            own_run: self.own_run.as_ref().map(|found| verdict(found, "model")),
            tables: vec![self.settings_table(base_s)],
            assumed: first_of(self.notes.iter().filter(is_no_spread).cloned()),
            next: vec![
                NextCommand::new("tailspn study FILE --method derivatives", "the effect of a small change of each"),
                NextCommand::new("tailspn study FILE --verbose", "every point"),
            ],
            ..Screen::default()
        })
    }

    /// Names the settings that change the time most.
    fn largest(&self, base_s: f64) -> String {
        let base = human_time(base_s, 3);
        let matters = |knob: &&KnobRow| knob.swing_s >= LEAST * base_s;
        let named: Vec<String> =
            self.tornado.iter().filter(matters).take(NAMED).map(|knob| knob.name.clone()).collect();
        let Some((last, others)) = named.split_last() else {
            return format!("No setting matters: each changes the mean time of {base} by less than 1%.");
        };
        let all = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
        let verb = if others.is_empty() { "matters" } else { "matter" };
        let saves = |knob: &&KnobRow| {
            knob.best.difference_s.ends().map_or(knob.best.difference_s.value, |[_, high]| high) < 0.0
        };
        let best = self.tornado.iter().filter(saves);
        let best = best.min_by(|a, b| a.best.difference_s.value.total_cmp(&b.best.difference_s.value));
        let best = best.map_or_else(
            || " No change saves time.".to_owned(),
            |knob| {
                let Level { value, difference_s, .. } = &knob.best;
                let [saved, time] =
                    [-difference_s.value, base_s + difference_s.value].map(|seconds| human_time(seconds, 3));
                format!(
                    " {} = {} saves most: {saved} of the mean time of {base}, which becomes {time}.",
                    capital(&knob.name),
                    value_text(value)
                )
            },
        );
        capital(&format!("{all} {verb} most.{best}"))
    }

    /// Returns a row for each setting: its values and the times with them.
    fn settings_table(&self, base_s: f64) -> Table {
        let columns = [
            Column::new("setting"),
            Column::new("low"),
            Column::new("time").unit("s"),
            Column::new("high"),
            Column::new("time").unit("s"),
            Column::new("best saves").unit("s"),
        ];
        let base = human_time(base_s, 3);
        let note = format!("Mean times with one setting changed; with none, the job takes {base}.");
        let mut table = Table::new("", note, columns);
        for (i, knob) in self.tornado.iter().enumerate() {
            let Some(axis) = self.axes.iter().position(|axis| axis.key == knob.key) else { continue };
            let mut points: Vec<(usize, &PointResult)> = self
                .points
                .iter()
                .enumerate()
                .filter(|(_, point)| point.values.get(axis).is_some_and(Option::is_some))
                .collect();
            points.sort_by(|(_, a), (_, b)| number(a, axis).total_cmp(&number(b, axis)));
            let value = |point: Option<&(usize, &PointResult)>| -> Cell {
                point.and_then(|(_, point)| point.values[axis].as_ref()).map(value_text).into()
            };
            let time = |point: Option<&(usize, &PointResult)>| -> Cell {
                let found = point.and_then(|(p, point)| Some((*p, point.mean_s.as_ref()?.value)));
                found.map(|(p, mean_s)| Number::new(format!("/points/{p}/mean_s"), mean_s, "s").three_digits()).into()
            };
            // an axis with one value, such as the double of 1
            let (low, high) = match &points[..] {
                [one] if knob.base.is_some_and(|base| number(one.1, axis) > base) => (None, Some(one)),
                [one] => (Some(one), None),
                _ => (points.first(), points.last()),
            };
            let saved_s = (-knob.best.difference_s.value).max(0.0);
            let digits = Number::new("", base_s, "s").three_digits().digits_of;
            let saves = Number::new(format!("/tornado/{i}/best/difference_s"), saved_s, "s");
            let saves = Number { digits_of: digits, ..saves };
            table.rows.push(vec![
                knob.name.clone().into(),
                value(low),
                time(low),
                value(high),
                time(high),
                saves.into(),
            ]);
        }
        Table { bar: Some(Bar { column: 5, mark: None }), ..table }
    }
}

/// Returns the number of an axis at a point.
fn number(point: &PointResult, axis: usize) -> f64 {
    let value = point.values.get(axis).and_then(Option::as_ref);
    value.and_then(|value| value.as_float().or(value.as_integer().map(|n| n as f64))).unwrap_or(0.0)
}

/// Returns a text with a capital letter at its start.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
