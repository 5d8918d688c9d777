//! Configurations of an optimisation as a picture: time and its interval (vertical) against cost (horizontal), and the
//! deadline.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::document::Figure;
use crate::optimize::Verdict;
use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, letters_in, text_width};
use crate::report::number::{count, plain};
use crate::report::optimize::{LookRow, OptimizeReport, cost_words, words};
use crate::report::plot::{self, Area, Axes, DrawError, axes, begun, fine_svg, label, line, px, shortened};
use crate::report::point_labels::{Label, placed};

/// Font size of labels \[px\].
const LETTERS: i32 = 13;
/// Size of a mark \[px\].
const MARK: i32 = 5;
/// Height of a line of the legend \[px\].
const LEGEND: i32 = 20;
/// Maximum number of points that are drawn; the last points of the search are kept.
const MOST: usize = 500;
/// Maximum number of points that are all labelled, if there is room. If there are more points, only the points in the
/// answer are labelled.
const FEW: usize = 12;

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
        match row.verdict {
            Verdict::Meets => Self::Meets,
            Verdict::Fails => Self::Fails,
            Verdict::Undecided | Verdict::Stopped => Self::Open,
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

/// Returns the figure of an optimisation.
pub(super) fn deadline_figure(report: &OptimizeReport) -> Figure<'_> {
    let deadline = Deadline::new(report);
    let left = deadline.left_out;
    let left = if left > 0 { format!(" {} are not drawn.", count(left as u128)) } else { String::new() };
    let some = if deadline.labels_all() { "" } else { ", of the configurations in the answer" };
    let caption = format!(
        "Each mark is a configuration, by cost and time; the grey line is the interval by which it was judged. A configuration meets the \
         deadline if its whole interval is at or below the deadline line, and fails if the whole interval is above. Labels are the \
         values of the settings{some}.{left}"
    );
    Figure::new("Cost and time of the configurations", caption).drawn(move || deadline.picture())
}

/// The points to draw, and the number of points that are omitted.
struct Deadline<'r> {
    report: &'r OptimizeReport,
    /// Points with a time.
    points: Vec<&'r LookRow>,
    /// Number of points omitted because they have no time, or because there are too many.
    left_out: usize,
}

impl<'r> Deadline<'r> {
    fn new(report: &'r OptimizeReport) -> Self {
        let known: Vec<&LookRow> = report.looked_at.iter().filter(|row| row.value_s.is_some()).collect();
        let points = known[known.len().saturating_sub(MOST)..].to_vec();
        Self { report, left_out: report.looked_at.len() - points.len(), points }
    }

    /// Returns true if all points have labels, as far as there is room.
    fn labels_all(&self) -> bool {
        self.points.len() <= FEW
    }

    /// Returns the picture; `None` without a point.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    fn picture(&self) -> Result<Option<Picture>, PlotError> {
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
        let (across, down) = chart.plotting_area().get_pixel_range();
        let places: Vec<_> =
            self.points.iter().map(|row| self.taken(row, &|x, y| chart.backend_coord(&(x, y)))).collect();
        let line = chart.backend_coord(&(costs[0], report.deadline_s)).1;
        let line = [across.start, line - px(2), across.end, line + px(2)];
        self.labels(area, &places, line, [across.start, down.start, across.end, down.end], width)?;
        for (state, [x, number]) in legend {
            let at = (px(left + x), px(10 + LEGEND * number + LEGEND / 2));
            state.draw(area, (at.0 + px(9), at.1))?;
            let style = label(LETTERS, BLACK, HPos::Left, VPos::Center);
            area.draw(&Text::new(state.name(), (at.0 + px(24), at.1), style))?;
        }
        Ok(())
    }

    /// Returns the position of a point, and the areas of its mark and of its intervals.
    fn taken(&self, row: &LookRow, place: &dyn Fn(f64, f64) -> (i32, i32)) -> ([i32; 2], Vec<[i32; 4]>) {
        let value = row.value_s.unwrap_or(0.0);
        let (x, y) = place(row.cost, value);
        let half = px(MARK + if self.is_chosen(row) { 4 } else { 0 });
        let mut areas = vec![[x - half, y - half, x + half, y + half]];
        if let (Some(low), Some(high)) = (row.low_s, row.high_s) {
            let [low, high] = [low, high].map(|time| place(row.cost, time).1);
            areas.push([x - px(1), high, x + px(1), low]);
        }
        if let (Some(low), Some(high)) = (row.cost_low, row.cost_high) {
            let [low, high] = [low, high].map(|cost| place(cost, value).0);
            areas.push([low, y - px(1), high, y + px(1)]);
        }
        ([x, y], areas)
    }

    /// Writes the values of configurations next to their marks: of all configurations if there are few, otherwise of
    /// the configurations in the answer.
    fn labels(
        &self,
        area: &Area<'_>,
        places: &[([i32; 2], Vec<[i32; 4]>)],
        line: [i32; 4],
        inside: [i32; 4],
        width: Width,
    ) -> Result<(), DrawError> {
        let report = self.report;
        let mentioned = [&report.chosen, &report.next_cheaper, &report.closest];
        let rank =
            |row: &LookRow| mentioned.iter().position(|one| one.as_ref().is_some_and(|one| one.point == row.point));
        let mut rows: Vec<_> = self.points.iter().zip(places).map(|(row, (at, _))| (rank(row), *row, *at)).collect();
        rows.retain(|(rank, ..)| rank.is_some() || self.labels_all());
        rows.sort_by_key(|(rank, ..)| rank.unwrap_or(mentioned.len()));
        let room = i32::try_from(width.pixels()).unwrap_or(i32::MAX) / 3 * 2;
        let text = |row: &LookRow| begun(&words(report, row), letters_in(room, LETTERS));
        let size = |text: &str| [px(text_width(text, LETTERS)), px(LETTERS + 2)];
        let labels: Vec<Label> = rows
            .iter()
            .map(|(rank, row, at)| Label { at: *at, size: size(&text(row)), needed: rank.is_some() })
            .collect();
        let taken: Vec<[i32; 4]> = places.iter().flat_map(|(_, areas)| areas).copied().chain([line]).collect();
        for ((_, row, at), found) in rows.iter().zip(placed(&labels, &taken, inside, px(MARK + 8))) {
            let Some([left, top, right, bottom]) = found else { continue };
            // letters are narrower than their estimate: the text stays at the side of its point
            let (x, side) = match () {
                () if left > at[0] => (left, HPos::Left),
                () if right < at[0] => (right, HPos::Right),
                () => (at[0], HPos::Center),
            };
            let style = label(LETTERS, BLACK, side, VPos::Center);
            area.draw(&Text::new(text(row), (x, (top + bottom) / 2), style))?;
        }
        Ok(())
    }

    fn is_chosen(&self, row: &LookRow) -> bool {
        self.report.chosen.as_ref().is_some_and(|chosen| chosen.point == row.point)
    }

    /// Returns the entries of the legend.
    fn states(&self) -> Vec<State> {
        let there = |state: &State| match state {
            State::Deadline => true,
            State::Chosen => self.points.iter().any(|row| self.is_chosen(row)),
            state => self.points.iter().any(|row| State::of(row) == *state),
        };
        [State::Chosen, State::Meets, State::Fails, State::Open, State::Deadline].into_iter().filter(there).collect()
    }
}

/// Returns positions of the entries of a legend in lines of a given width: column, and line starting at 0.
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

/// Returns the ends of an axis for these numbers, with some room on both sides, also around a single number.
fn span(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    let room = if high > low { 0.07 * (high - low) } else { 0.1 * high.abs().max(1.0) };
    [low - room, high + room]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::Search;
    use crate::report::optimize::OptimizeAnswer;
    use crate::report::sweep::AxisRow;

    fn row(point: u64, cost: f64, verdict: Verdict, value: Option<f64>) -> LookRow {
        LookRow {
            done_by_deadline: None,
            point,
            values: vec![Some(toml::Value::Integer(point as i64))],
            cost,
            cost_low: None,
            cost_high: None,
            verdict,
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
            own_run: None,
            partial: false,
            answer: OptimizeAnswer::Cheapest,
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
            search: Search::Rising,
            axes: vec![AxisRow { name: "workers".to_owned(), key: "cluster.workers".into() }],
            chosen: rows.iter().find(|row| row.verdict == Verdict::Meets).cloned(),
            next_cheaper: None,
            candidates: rows.len() as u64,
            looked_at: rows,
            eliminated: 0,
            replications: 500,
            version: "0".into(),
            seed: 0,
            folded: None,
            not_folded: Vec::new(),
            plan: String::new(),
        }
    }

    #[test]
    fn every_state_has_its_mark_and_stands_in_the_legend() {
        let rows = vec![
            row(1, 1.0, Verdict::Fails, Some(30.0)),
            row(2, 2.0, Verdict::Undecided, Some(20.0)),
            row(3, 3.0, Verdict::Meets, Some(15.0)),
            row(4, 3.5, Verdict::Stopped, None),
        ];
        let report = report(rows);
        let drawn = Deadline::new(&report);
        assert_eq!(drawn.left_out, 1);
        let picture = drawn.picture().unwrap().unwrap();
        for svg in [&picture.wide, &picture.narrow] {
            // the labels of the chosen configuration and of the others, with the values of the axis
            let labels = ["workers = 1", "workers = 2", "workers = 3"];
            assert_eq!(labels.map(|label| svg.matches(label).count()), [1, 1, 1], "{svg}");
            // circles: open (with its ground), met and chosen, each once in the plot and once in the legend
            assert_eq!(svg.matches("<circle").count(), 8, "{svg}");
            for word in ["chosen", "meets", "fails", "undecided", "deadline", "cost: 2 * nodes", "p95 time [s]"] {
                assert_eq!(svg.matches(word).count(), 1, "{word}");
            }
        }
    }

    #[test]
    fn of_many_points_only_those_of_the_answer_have_labels() {
        let rows = (1..=40)
            .map(|i| row(i, i as f64, if i < 30 { Verdict::Fails } else { Verdict::Meets }, Some(50.0 - i as f64)));
        let mut report = report(rows.collect());
        report.next_cheaper = Some(report.looked_at[28].clone());
        let picture = Deadline::new(&report).picture().unwrap().unwrap();
        for svg in [&picture.wide, &picture.narrow] {
            assert_eq!(svg.matches("workers = ").count(), 2, "{svg}");
            assert!(svg.contains("workers = 30") && svg.contains("workers = 29"), "{svg}");
        }
    }

    #[test]
    fn one_point_without_an_interval_has_axes_and_none_has_no_picture() {
        let one = report(vec![LookRow { low_s: None, high_s: None, ..row(1, 0.0, Verdict::Fails, Some(20.0)) }]);
        assert!(Deadline::new(&one).picture().unwrap().is_some());
        let none = report(vec![row(1, 0.0, Verdict::Stopped, None)]);
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
