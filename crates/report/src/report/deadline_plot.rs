//! Points of an optimisation as a picture: the time of each with its interval over its cost, and the deadline.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::number::plain;
use crate::report::optimize::{LookRow, OptimizeReport, cost_words};
use crate::report::plot::{
    self, Area, Axes, DrawError, Picture, PlotError, Width, axes, can_be_axis, fine_svg, label, line, px, shortened,
    text_width,
};

/// Letters of labels \[px\].
const LETTERS: i32 = 13;
/// Size of a mark \[px\].
const MARK: i32 = 5;
/// Height of a line of the legend \[px\].
const LEGEND: i32 = 20;
/// Maximum number of points that are drawn: the last ones of the search.
const MOST: usize = 500;

/// The meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Meets,
    Fails,
    Open,
    Chosen,
    Deadline,
}

impl State {
    fn of(row: &LookRow) -> Self {
        match &*row.verdict {
            "meets" => Self::Meets,
            "fails" => Self::Fails,
            _ => Self::Open,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Meets => "meets",
            Self::Fails => "fails",
            Self::Open => "undecided",
            Self::Chosen => "chosen",
            Self::Deadline => "deadline",
        }
    }

    /// Draws the mark; marks differ in shape as well as in colour.
    fn draw(self, area: &Area<'_>, at: (i32, i32)) -> Result<(), DrawError> {
        match self {
            Self::Meets => area.draw(&Circle::new(at, px(MARK), plot::BLUE.filled())),
            Self::Fails => area.draw(&Cross::new(at, px(MARK), line(plot::ORANGE, 3))),
            Self::Open => {
                area.draw(&Circle::new(at, px(MARK), WHITE.filled()))?;
                area.draw(&Circle::new(at, px(MARK), line(plot::GREY, 2)))
            }
            Self::Chosen => area.draw(&Circle::new(at, px(MARK + 4), line(BLACK, 2))),
            Self::Deadline => {
                area.draw(&PathElement::new([(at.0 - px(9), at.1), (at.0 + px(9), at.1)], line(BLACK, 2)))
            }
        }
    }
}

/// The points to draw, and the number of points that are omitted.
pub(super) struct Deadline<'r> {
    report: &'r OptimizeReport,
    /// Points with a time.
    points: Vec<&'r LookRow>,
    /// Number of points omitted because they have no time, or because there are too many.
    pub(super) left_out: usize,
}

impl<'r> Deadline<'r> {
    pub(super) fn new(report: &'r OptimizeReport) -> Self {
        let known: Vec<&LookRow> = report.looked_at.iter().filter(|row| row.value_s.is_some()).collect();
        let points = known[known.len().saturating_sub(MOST)..].to_vec();
        Self { report, left_out: report.looked_at.len() - points.len(), points }
    }

    /// The picture; none without a point.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub(super) fn picture(&self) -> Result<Option<Picture>, PlotError> {
        let cost = |row: &&LookRow| [Some(row.cost), row.cost_low, row.cost_high].into_iter().flatten();
        let costs = span(self.points.iter().flat_map(cost));
        let ends = |row: &&LookRow| [row.value_s, row.low_s, row.high_s].into_iter().flatten();
        let times = span(self.points.iter().flat_map(ends).chain([self.report.deadline_s]));
        if self.points.is_empty() || !can_be_axis(costs[0], costs[1]) || !can_be_axis(times[0], times[1]) {
            return Ok(None);
        }
        let size = |width: Width| (width.pixels(), width.of(460, 400));
        Picture::new("deadline", |width| {
            fine_svg(size(width), |area| self.draw(area, [costs[0], costs[1]], [times[0], times[1]], width))
        })
        .map(Some)
    }

    fn draw(&self, area: &Area<'_>, costs: [f64; 2], times: [f64; 2], width: Width) -> Result<(), DrawError> {
        let report = self.report;
        let entries = self.states();
        let left = 76;
        let room = i32::try_from(width.pixels()).unwrap_or(i32::MAX) - left - 10;
        let legend = laid_out(&entries, room);
        let lines = legend.last().map_or(1, |(_, [_, line])| line + 1);
        let mut chart = ChartBuilder::on(area)
            .margin(px(10))
            .margin_top(px(10 + LEGEND * lines))
            .margin_right(px(width.of(26, 18)))
            .x_label_area_size(px(44))
            .y_label_area_size(px(66))
            .build_cartesian_2d(costs[0]..costs[1], times[0]..times[1])?;
        let names = Axes {
            x: &format!("cost: {}", shortened(&cost_words(report), width.of(60, 28))),
            y: &format!("{} time [s]", report.measure),
            labels: width.of([10, 8], [5, 6]),
        };
        axes(&mut chart, &names, &|time| plain(*time))?;
        let deadline = [(costs[0], report.deadline_s), (costs[1], report.deadline_s)];
        chart.draw_series([PathElement::new(deadline, line(BLACK, 2))])?;
        for row in &self.points {
            let Some(value) = row.value_s else { continue };
            let at = |time: f64| chart.backend_coord(&(row.cost, time));
            if let (Some(low), Some(high)) = (row.low_s, row.high_s) {
                area.draw(&PathElement::new([at(low), at(high)], line(plot::GREY, 2)))?;
            }
            if let (Some(low), Some(high)) = (row.cost_low, row.cost_high) {
                let ends = [low, high].map(|cost| chart.backend_coord(&(cost, value)));
                area.draw(&PathElement::new(ends, line(plot::GREY, 2)))?;
            }
            State::of(row).draw(area, at(value))?;
            if self.is_chosen(row) {
                State::Chosen.draw(area, at(value))?;
            }
        }
        for (state, [x, number]) in legend {
            let at = (px(left + x), px(10 + LEGEND * number + LEGEND / 2));
            state.draw(area, (at.0 + px(9), at.1))?;
            let style = label(LETTERS, BLACK, HPos::Left, VPos::Center);
            area.draw(&Text::new(state.name(), (at.0 + px(24), at.1), style))?;
        }
        Ok(())
    }

    fn is_chosen(&self, row: &LookRow) -> bool {
        self.report.chosen.as_ref().is_some_and(|chosen| chosen.point == row.point)
    }

    /// The entries of the legend.
    fn states(&self) -> Vec<State> {
        let there = |state: &State| match state {
            State::Deadline => true,
            State::Chosen => self.points.iter().any(|row| self.is_chosen(row)),
            state => self.points.iter().any(|row| State::of(row) == *state),
        };
        [State::Chosen, State::Meets, State::Fails, State::Open, State::Deadline].into_iter().filter(there).collect()
    }
}

/// Positions of the entries of a legend in lines of a given width: column, and line starting at 0.
fn laid_out(entries: &[State], room: i32) -> Vec<(State, [i32; 2])> {
    let (mut x, mut line) = (0, 0);
    let mut places = Vec::new();
    for &state in entries {
        let wide = 24 + text_width(state.name(), LETTERS) + 14;
        if x > 0 && x + wide > room {
            (x, line) = (0, line + 1);
        }
        places.push((state, [x, line]));
        x += wide;
    }
    places
}

/// Ends with some room on both sides, also around a single number.
fn span(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    let room = if high > low { 0.07 * (high - low) } else { 0.1 * high.abs().max(1.0) };
    [low - room, high + room]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(point: u64, cost: f64, verdict: &'static str, value: Option<f64>) -> LookRow {
        LookRow {
            done_by_deadline: None,
            point,
            values: Vec::new(),
            cost,
            cost_low: None,
            cost_high: None,
            verdict: verdict.into(),
            value_s: value,
            low_s: value.map(|value| value - 1.0),
            high_s: value.map(|value| value + 1.0),
            level: 0.99,
            replications: 500,
            looks: 1,
        }
    }

    fn report(rows: Vec<LookRow>) -> OptimizeReport {
        OptimizeReport {
            partial: false,
            answer: "cheapest".into(),
            measure: "p95".to_owned(),
            deadline_s: 20.0,
            confidence: 0.95,
            cost: "2 * nodes".to_owned(),
            cost_per_s: None,
            price: None,
            cost_unit: String::new(),
            closest: None,
            remarks: Vec::new(),
            notes: Vec::new(),
            search: "rising".into(),
            axes: Vec::new(),
            chosen: rows.iter().find(|row| row.verdict == "meets").cloned(),
            next_cheaper: None,
            candidates: rows.len() as u64,
            looked_at: rows,
            eliminated: 0,
            replications: 500,
            version: "0".into(),
            seed: 0,
            folded: None,
            plan: String::new(),
        }
    }

    #[test]
    fn every_state_has_its_mark_and_stands_in_the_legend() {
        let rows = vec![
            row(1, 1.0, "fails", Some(30.0)),
            row(2, 2.0, "undecided", Some(20.0)),
            row(3, 3.0, "meets", Some(15.0)),
            row(4, 3.5, "stopped", None),
        ];
        let report = report(rows);
        let drawn = Deadline::new(&report);
        assert_eq!(drawn.left_out, 1);
        let picture = drawn.picture().unwrap().unwrap();
        for svg in [&picture.wide, &picture.narrow] {
            // circles: open (with its ground), met and chosen, each once in the plot and once in the legend
            assert_eq!(svg.matches("<circle").count(), 8, "{svg}");
            for word in ["chosen", "meets", "fails", "undecided", "deadline", "cost: 2 * nodes", "p95 time [s]"] {
                assert_eq!(svg.matches(word).count(), 1, "{word}");
            }
        }
    }

    #[test]
    fn one_point_without_an_interval_has_axes_and_none_has_no_picture() {
        let one = report(vec![LookRow { low_s: None, high_s: None, ..row(1, 0.0, "fails", Some(20.0)) }]);
        assert!(Deadline::new(&one).picture().unwrap().is_some());
        let none = report(vec![row(1, 0.0, "stopped", None)]);
        assert!(Deadline::new(&none).picture().unwrap().is_none());
    }

    #[test]
    fn a_legend_goes_on_in_the_next_line() {
        let all = [State::Chosen, State::Meets, State::Fails, State::Open, State::Deadline];
        let lines = |room| laid_out(&all, room).iter().map(|(_, [_, line])| *line).collect::<Vec<_>>();
        assert_eq!(lines(2000), [0; 5]);
        assert_eq!(lines(10), [0, 1, 2, 3, 4]);
    }
}
