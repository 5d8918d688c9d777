//! Marks by two numbers, with intervals, labels and a line that divides them: one description for any result.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, letters_in, text_width};
use crate::report::number::plain;
use crate::report::plot::{self, Area, Axes, DrawError, axes, begun, fine_svg, label, line, px, shortened};
use crate::report::point_labels::{Label, placed};

/// Font size of labels \[px\].
const LETTERS: i32 = 13;
/// Size of a mark \[px\].
const MARK: i32 = 5;
/// Height of a line of the legend \[px\].
const LEGEND: i32 = 20;

/// A picture of marks.
#[derive(Debug)]
pub(crate) struct Scatter {
    /// Name of the picture's file.
    pub(crate) name: &'static str,
    /// Titles of the horizontal and the vertical axis.
    pub(crate) axes: [String; 2],
    /// Name and height of the line, if there is one.
    pub(crate) line: Option<(&'static str, f64)>,
    /// Places that are joined by a curve each.
    pub(crate) curves: Vec<Vec<(f64, f64)>>,
    /// The marks.
    pub(crate) marks: Vec<Mark>,
}

/// A mark.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Place.
    pub(crate) at: [f64; 2],
    /// Ends of the horizontal and the vertical interval.
    pub(crate) ends: [Option<[f64; 2]>; 2],
    /// Form and name in the legend.
    pub(crate) form: (Form, &'static str),
    /// True for the answer, which has a ring.
    pub(crate) chosen: bool,
    /// The label, and how much it matters; labels without a number are written if there is room.
    pub(crate) label: Option<(String, Option<usize>)>,
}

/// The form of a mark; forms differ in shape as well as in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Disc,
    Cross,
    Ring,
    Chosen,
    Line,
}

impl Form {
    fn draw(self, area: &Area<'_>, at: (i32, i32)) -> Result<(), DrawError> {
        match self {
            Self::Disc => area.draw(&Circle::new(at, px(MARK), plot::BLUE.filled())),
            Self::Cross => area.draw(&Cross::new(at, px(MARK), line(plot::ORANGE, 3))),
            Self::Ring => {
                area.draw(&Circle::new(at, px(MARK), WHITE.filled()))?;
                area.draw(&Circle::new(at, px(MARK), line(plot::GREY, 2)))
            }
            Self::Chosen => area.draw(&Circle::new(at, px(MARK + 4), line(BLACK, 2))),
            Self::Line => area.draw(&PathElement::new([(at.0 - px(9), at.1), (at.0 + px(9), at.1)], line(BLACK, 2))),
        }
    }
}

impl Scatter {
    /// Returns the picture; `None` without a mark.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub(crate) fn picture(&self) -> Result<Option<Picture>, PlotError> {
        let along = |axis: usize| {
            self.marks.iter().flat_map(move |mark| mark.ends[axis].into_iter().flatten().chain([mark.at[axis]]))
        };
        let spans = [span(along(0)), span(along(1).chain(self.line.map(|(_, at)| at)))];
        if self.marks.is_empty() || spans.iter().any(|span| !can_be_axis(span[0], span[1])) {
            return Ok(None);
        }
        let size = |width: Width| (width.pixels(), width.of(460, 400));
        Picture::new(self.name, |width| fine_svg(size(width), |area| self.draw(area, spans, width))).map(Some)
    }

    fn draw(&self, area: &Area<'_>, [across, up]: [[f64; 2]; 2], width: Width) -> Result<(), DrawError> {
        let left = 76;
        let legend = laid_out(&self.legend(), i32::try_from(width.pixels()).unwrap_or(i32::MAX) - left - 10);
        let lines = legend.last().map_or(1, |(_, [_, line])| line + 1);
        let mut chart = ChartBuilder::on(area)
            .margin(px(10))
            .margin_top(px(10 + LEGEND * lines))
            .margin_right(px(width.of(26, 18)))
            .x_label_area_size(px(44))
            .y_label_area_size(px(66))
            .build_cartesian_2d(across[0]..across[1], up[0]..up[1])?;
        let names = Axes {
            x: &shortened(&self.axes[0], width.of(66, 34)),
            y: &self.axes[1],
            labels: width.of([10, 8], [5, 6]),
        };
        axes(&mut chart, &names, &|time| plain(*time))?;
        for curve in &self.curves {
            chart.draw_series([PathElement::new(curve.clone(), line(plot::BLUE, 2))])?;
        }
        if let Some((_, at)) = self.line {
            chart.draw_series([PathElement::new([(across[0], at), (across[1], at)], line(BLACK, 2))])?;
        }
        let place = |x: f64, y: f64| chart.backend_coord(&(x, y));
        let mut taken = Vec::new();
        for mark in &self.marks {
            let [x, y] = mark.at;
            let sides = [
                mark.ends[1].map(|ends| ends.map(|y| place(x, y))),
                mark.ends[0].map(|ends| ends.map(|x| place(x, y))),
            ];
            for ends in sides.into_iter().flatten() {
                area.draw(&PathElement::new(ends, line(plot::GREY, 2)))?;
                let [a, b] = ends;
                taken.push([a.0.min(b.0) - px(1), a.1.min(b.1) - px(1), a.0.max(b.0) + px(1), a.1.max(b.1) + px(1)]);
            }
            mark.form.0.draw(area, place(x, y))?;
            if mark.chosen {
                Form::Chosen.draw(area, place(x, y))?;
            }
            let ((x, y), half) = (place(x, y), px(MARK + if mark.chosen { 4 } else { 0 }));
            taken.push([x - half, y - half, x + half, y + half]);
        }
        let (columns, rows) = chart.plotting_area().get_pixel_range();
        if let Some((_, at)) = self.line {
            let height = place(across[0], at).1;
            taken.push([columns.start, height - px(2), columns.end, height + px(2)]);
        }
        self.labels(area, &place, &taken, [columns.start, rows.start, columns.end, rows.end], width)?;
        for ((form, name), [x, number]) in legend {
            let at = (px(left + x), px(10 + LEGEND * number + LEGEND / 2));
            form.draw(area, (at.0 + px(9), at.1))?;
            area.draw(&Text::new(name, (at.0 + px(24), at.1), label(LETTERS, BLACK, HPos::Left, VPos::Center)))?;
        }
        Ok(())
    }

    /// Writes labels next to their marks, the most important first.
    fn labels(
        &self,
        area: &Area<'_>,
        place: &dyn Fn(f64, f64) -> (i32, i32),
        taken: &[[i32; 4]],
        inside: [i32; 4],
        width: Width,
    ) -> Result<(), DrawError> {
        let room = i32::try_from(width.pixels()).unwrap_or(i32::MAX) / 3 * 2;
        let mut texts: Vec<_> = self
            .marks
            .iter()
            .filter_map(|mark| {
                let (text, rank) = mark.label.as_ref()?;
                let (x, y) = place(mark.at[0], mark.at[1]);
                Some((rank.unwrap_or(usize::MAX), begun(text, letters_in(room, LETTERS)), [x, y]))
            })
            .collect();
        texts.sort_by_key(|(rank, ..)| *rank);
        let size = |text: &str| [px(text_width(text, LETTERS)), px(LETTERS + 2)];
        let labels: Vec<Label> = texts
            .iter()
            .map(|(rank, text, at)| Label { at: *at, size: size(text), needed: *rank != usize::MAX })
            .collect();
        for ((_, text, at), found) in texts.iter().zip(placed(&labels, taken, inside, px(MARK + 8))) {
            let Some([left, top, right, bottom]) = found else { continue };
            // letters are narrower than their estimate: the text stays at the side of its point
            let (x, side) = match () {
                () if left > at[0] => (left, HPos::Left),
                () if right < at[0] => (right, HPos::Right),
                () => (at[0], HPos::Center),
            };
            area.draw(&Text::new(text.clone(), (x, (top + bottom) / 2), label(LETTERS, BLACK, side, VPos::Center)))?;
        }
        Ok(())
    }

    /// Returns the entries of the legend.
    fn legend(&self) -> Vec<(Form, &'static str)> {
        let chosen = self.marks.iter().any(|mark| mark.chosen).then_some((Form::Chosen, "chosen"));
        let of = |form| self.marks.iter().map(|mark| mark.form).find(|own| own.0 == form);
        chosen
            .into_iter()
            .chain([Form::Disc, Form::Cross, Form::Ring].into_iter().filter_map(of))
            .chain(self.line.map(|(name, _)| (Form::Line, name)))
            .collect()
    }
}

/// Returns positions of the entries of a legend in lines of a given width: column, and line starting at 0.
fn laid_out(entries: &[(Form, &'static str)], room: i32) -> Vec<((Form, &'static str), [i32; 2])> {
    let (mut x, mut line) = (0, 0);
    let mut places = Vec::new();
    for &entry in entries {
        let wide = 24 + text_width(entry.1, LETTERS) + 14;
        if x > 0 && x + wide > room {
            (x, line) = (0, line + 1);
        }
        places.push((entry, [x, line]));
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

    fn mark(i: u32, form: (Form, &'static str)) -> Mark {
        let y = 40.0 - f64::from(i);
        let ends = [None, Some([y - 1.0, y + 1.0])];
        Mark {
            at: [i.into(), y],
            ends,
            form,
            chosen: i == 3,
            label: Some((format!("workers = {i}"), (i == 3).then_some(0))),
        }
    }

    fn scatter(marks: Vec<Mark>) -> Scatter {
        Scatter {
            name: "deadline",
            axes: ["cost: 2 * nodes".to_owned(), "p95 time [s]".to_owned()],
            line: Some(("deadline", 38.0)),
            curves: Vec::new(),
            marks,
        }
    }

    #[test]
    fn every_form_has_its_mark_and_stands_in_the_legend() {
        let marks =
            vec![mark(1, (Form::Cross, "fails")), mark(2, (Form::Ring, "undecided")), mark(3, (Form::Disc, "meets"))];
        let picture = scatter(marks).picture().unwrap().unwrap();
        for svg in [&picture.wide, &picture.narrow] {
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
    fn one_mark_without_an_interval_has_axes_and_none_has_no_picture() {
        let one = Mark { ends: [None, None], at: [0.0, 20.0], ..mark(1, (Form::Disc, "meets")) };
        assert!(scatter(vec![one]).picture().unwrap().is_some());
        assert!(scatter(Vec::new()).picture().unwrap().is_none());
    }

    #[test]
    fn a_legend_goes_on_in_the_next_line() {
        let all = [
            (Form::Chosen, "chosen"),
            (Form::Disc, "meets"),
            (Form::Cross, "fails"),
            (Form::Ring, "undecided"),
            (Form::Line, "deadline"),
        ];
        let lines = |room| laid_out(&all, room).iter().map(|(_, [_, line])| *line).collect::<Vec<_>>();
        assert_eq!(lines(2000), [0; 5]);
        assert_eq!(lines(10), [0, 1, 2, 3, 4]);
    }
}
