//! Rows on a common axis: phases over time, the breakdown of the time, compared results.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::bar_rows::{BarRow, MOST};
use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, letters_in, text_width};
use crate::report::plot::{self, Area, DrawError, begun, fine_svg, label, line, px};

/// Height of a row, of a name above its bar, and the room above and below all rows \[px\].
const ROW: i32 = 30;
const NAME: i32 = 16;
const ROOM: i32 = 64;
/// Space at the left and right edge \[px\].
const EDGE: i32 = 8;
/// Font size of names and of texts next to bars \[px\].
const LETTERS: i32 = 13;
/// Space between the axis and a name above a bar \[px\].
const ASIDE: i32 = 4;

/// Returns a picture of rows, from top to bottom; `None` without a row.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub(crate) fn rows_picture(name: &'static str, axis: &str, rows: &[BarRow]) -> Result<Option<Picture>, PlotError> {
    let rows = &rows[..rows.len().min(MOST)];
    let (from, to) = span(rows);
    if rows.is_empty() || !can_be_axis(from, to) {
        return Ok(None);
    }
    let draw = |width: Width| {
        let layout = Layout::new(rows, width);
        fine_svg((width.pixels(), layout.height().unsigned_abs()), |area| draw(area, axis, rows, &layout, width))
    };
    Picture::new(name, draw).map(Some)
}

/// Positions of names and bars.
struct Layout {
    names: Vec<String>,
    /// True if names are above their bars, because there is not enough room next to them.
    above: bool,
    /// Room for names and for texts at the ends of bars \[px\].
    left: i32,
    right: i32,
    /// Distance from the top of all rows to the middle of each bar \[px\].
    middles: Vec<i32>,
    /// Height of all rows \[px\].
    rows: i32,
}

impl Layout {
    fn new(rows: &[BarRow], width: Width) -> Self {
        let pixels = i32::try_from(width.pixels()).unwrap_or(i32::MAX);
        let widest =
            |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text_width(text, LETTERS)).max().unwrap_or(0);
        let names = widest(&mut rows.iter().map(|row| row.name.as_str()));
        let right = (widest(&mut rows.iter().map(|row| row.text.as_str())) + 12).max(14);
        let above = names > (pixels - right) * plot::NAMES / 100;
        let (left, room) = if above { (EDGE, pixels - 3 * EDGE - ASIDE) } else { (names + 2 * EDGE, names) };
        let letters = letters_in(room, LETTERS);
        let mut top = 0;
        let mut middles = Vec::with_capacity(rows.len());
        for row in rows {
            top += if above && !row.name.is_empty() { NAME } else { 0 };
            middles.push(top + ROW / 2);
            top += ROW;
        }
        let names = rows.iter().map(|row| begun(&row.name, letters)).collect();
        Self { names, above, left, right, middles, rows: top }
    }

    fn height(&self) -> i32 {
        ROOM + self.rows
    }
}

/// Returns the ends of the axis, which covers all that is drawn, and 0.
fn span(rows: &[BarRow]) -> (f64, f64) {
    let ends = |row: &BarRow| {
        row.bar.into_iter().chain(row.interval.into_iter().flatten()).chain(row.marks.clone()).collect::<Vec<_>>()
    };
    let ends: Vec<f64> = rows.iter().flat_map(ends).collect();
    let from = ends.iter().copied().fold(0.0, f64::min);
    let to = ends.into_iter().fold(from, f64::max);
    (from, if to > from { to + 0.02 * (to - from) } else { from + 1.0 })
}

fn draw(area: &Area<'_>, axis: &str, rows: &[BarRow], layout: &Layout, width: Width) -> Result<(), DrawError> {
    /// Half the height of a bar \[px\].
    const HALF: f64 = 10.0;
    let (from, to) = span(rows);
    let mut chart = ChartBuilder::on(area)
        .margin(px(EDGE))
        .margin_right(px(layout.right))
        .x_label_area_size(px(46))
        .y_label_area_size(px(layout.left))
        .build_cartesian_2d(from..to, 0.0..f64::from(layout.rows))?;
    plot::axis_of_rows(&mut chart, width.of(10, 6), axis, LETTERS)?;
    for ((row, name), &below) in rows.iter().zip(&layout.names).zip(&layout.middles) {
        let middle = f64::from(layout.rows - below);
        let across = |from, to| [(from, middle - HALF), (to, middle + HALF)];
        let [low, high] = row.bar;
        let colour = if row.is_second { plot::ORANGE } else { plot::BLUE };
        chart.draw_series([Rectangle::new(across(low, high), colour.mix(0.55).filled())])?;
        for &mark in &row.marks {
            chart.draw_series([PathElement::new(across(mark, mark), line(plot::ORANGE, 3))])?;
        }
        if let Some([low, high]) = row.interval {
            chart.draw_series([PathElement::new([(low, middle), (high, middle)], line(BLACK, 2))])?;
        }
        let (x, y) = chart.backend_coord(&(from, middle));
        let beside = label(LETTERS, BLACK, HPos::Left, VPos::Center);
        let (at, style) = match layout.above {
            true => ((x + px(ASIDE), y - px(ROW / 2 + NAME / 2 - 3)), beside.clone()),
            false => ((x - px(EDGE), y), label(LETTERS, BLACK, HPos::Right, VPos::Center)),
        };
        area.draw(&Text::new(name.clone(), at, style))?;
        let last = row.marks.iter().copied().chain([high]).chain(row.interval.map(|ends| ends[1])).fold(from, f64::max);
        let (x, y) = chart.backend_coord(&(last, middle));
        area.draw(&Text::new(row.text.clone(), (x + px(6), y), beside))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stay_whole_above_their_bars() {
        let row =
            |name: &str| BarRow { name: name.to_owned(), bar: [0.0, 1.0], text: "1 s".to_owned(), ..BarRow::default() };
        let rows = [row("0 sortByKey at TeraSort.scala:58"), row("1 map"), row("")];
        let wide = Layout::new(&rows, Width::Wide);
        assert_eq!((wide.above, &wide.names[0], &*wide.middles), (false, &rows[0].name, &[15, 45, 75][..]));
        let narrow = Layout::new(&rows, Width::Narrow);
        assert_eq!((narrow.above, &narrow.names[0], &*narrow.middles), (true, &rows[0].name, &[31, 77, 107][..]));
        let longer = Layout::new(&[row(&"x".repeat(200))], Width::Narrow);
        assert_eq!(longer.names[0].chars().count(), 46);
        let short = Layout::new(&rows[1..], Width::Narrow);
        assert!(!short.above && short.left < 60, "{}", short.left);
    }
}
