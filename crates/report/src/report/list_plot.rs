//! The picture of a time over one or two lists of settings.

use tailspn_common::row::{Set, Setting};

use crate::document::Figure;
use crate::plan::InputSize;
use crate::report::list_words::{ListQuestion, ListRow, configuration, names};
use crate::report::number::plain;
use crate::report::scatter::{Form, Mark, Scatter};

/// Maximum number of points in the picture.
const MOST_DRAWN: usize = 500;
/// Maximum number of curves that have names.
const MOST_NAMED: usize = 12;

/// Returns the place of a configuration on the horizontal axis: the number of its last list.
fn place(set: &Set) -> Option<f64> {
    match &set.0.last()?.1 {
        Setting::Count(n) => Some(*n as f64),
        Setting::Number(n) => Some(*n),
        Setting::Word(word) => match word.parse().ok()? {
            InputSize::Times(times) => Some(times),
            InputSize::Data(size) => Some(size.mb()),
        },
    }
}

impl ListQuestion {
    /// Returns the time over the last list, with a curve for each value of the first one.
    pub(super) fn figure<'f, R: ListRow>(&self, rows: &[R]) -> Figure<'f> {
        let step = rows.len().div_ceil(MOST_DRAWN).max(1);
        let drawn = |row: usize| row.is_multiple_of(step) || Some(row) == self.chosen;
        let curve_of = |set: &Set| if set.0.len() > 1 { set.0[..1].to_vec() } else { Vec::new() };
        let mut curves: Vec<(Set, Vec<(f64, f64)>)> = Vec::new();
        let mut marks = Vec::new();
        for (row, one) in rows.iter().enumerate().filter(|(row, _)| drawn(*row)) {
            let Some(x) = place(one.set()) else { continue };
            let at = (x, one.time_s().value.0);
            let key = Set(curve_of(one.set()));
            match curves.iter_mut().find(|(other, _)| *other == key) {
                Some((_, points)) => points.push(at),
                None => curves.push((key, vec![at])),
            }
            let form = match one.in_time() {
                None => (Form::Disc, "median time"),
                Some(share) if share.0 >= self.probability => (Form::Disc, "meets"),
                Some(_) => (Form::Cross, "misses"),
            };
            let chosen = self.chosen == Some(row);
            let label = chosen.then(|| (configuration(one.set()).0, Some(0)));
            marks.push(Mark { at: at.into(), ends: [None, one.time_s().ends()], form, chosen, label });
        }
        if curves.len() > 1 && curves.len() <= MOST_NAMED {
            for (set, points) in &curves {
                let last = points.last().map(|&(x, y)| [x, y]);
                let mark = marks.iter_mut().find(|mark| Some(mark.at) == last && mark.label.is_none());
                mark.into_iter().for_each(|mark| mark.label = Some((configuration(set).0, None)));
            }
        }
        let names = names(rows);
        let axes = [names.last().cloned().unwrap_or_default(), "time [s]".to_owned()];
        let line = self.deadline_s.map(|deadline_s| ("deadline", deadline_s));
        let curves = curves.into_iter().map(|(_, points)| points).collect();
        let scatter = Scatter { name: "curve", axes, line, curves, marks };
        let level = plain(100.0 * self.level);
        let caption =
            format!("Median time of the next run; the grey lines contain the next run with {level}% probability.");
        Figure::new(format!("Time by {}", names.join(" and ")), caption).drawn(move || scatter.picture())
    }
}
