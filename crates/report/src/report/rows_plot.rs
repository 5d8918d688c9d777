//! Rows on a common axis: phases over time, the breakdown of the time, compared results.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::plot::{
    self, Area, DrawError, Picture, PlotError, Width, can_be_axis, fine_svg, label, line, px, text_width,
};

/// Height of a row, and the room above and below all rows \[px\].
const ROW: u32 = 30;
const ROOM: u32 = 64;
/// Height of the letters of names and of texts next to bars \[px\].
const LETTERS: i32 = 13;
/// Maximum number of rows that are drawn.
pub(crate) const MOST: usize = 60;

/// A row.
#[derive(Clone, Debug, Default)]
pub(crate) struct BarRow {
    /// Name of the row.
    pub(crate) name: String,
    /// Ends of the bar.
    pub(crate) bar: [f64; 2],
    /// The interval of its right end.
    pub(crate) interval: Option<[f64; 2]>,
    /// Marks across the row.
    pub(crate) marks: Vec<f64>,
    /// Text next to the bar.
    pub(crate) text: String,
    /// The bar's colour, if it repeats information that is also written.
    pub(crate) colour: Option<RGBColor>,
}

/// A picture of rows from above; none without a row.
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
    let height = ROOM + ROW * u32::try_from(rows.len()).unwrap_or(u32::MAX);
    Picture::new(name, |width| fine_svg((width.pixels(), height), |area| draw(area, axis, rows, width))).map(Some)
}

/// The start of a name; a number in front of it makes it unique.
fn begun(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain("…".chars()).collect()
}

/// The ends of the axis: all that is drawn, and 0.
fn span(rows: &[BarRow]) -> (f64, f64) {
    let ends = |row: &BarRow| {
        row.bar.into_iter().chain(row.interval.into_iter().flatten()).chain(row.marks.clone()).collect::<Vec<_>>()
    };
    let ends: Vec<f64> = rows.iter().flat_map(ends).collect();
    let from = ends.iter().copied().fold(0.0, f64::min);
    let to = ends.into_iter().fold(from, f64::max);
    (from, if to > from { to + 0.02 * (to - from) } else { from + 1.0 })
}

fn draw(area: &Area<'_>, axis: &str, rows: &[BarRow], width: Width) -> Result<(), DrawError> {
    let letters = width.of(34, 14);
    let names: Vec<String> = rows.iter().map(|row| begun(&row.name, letters)).collect();
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text_width(text, LETTERS)).max().unwrap_or(0);
    let left = widest(&mut names.iter().map(String::as_str)) + 16;
    let right = widest(&mut rows.iter().map(|row| row.text.as_str())) + 12;
    let (from, to) = span(rows);
    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(px(8))
        .margin_right(px(right.max(14)))
        .x_label_area_size(px(46))
        .y_label_area_size(px(left))
        .build_cartesian_2d(from..to, 0.0..count)?;
    plot::axis_of_rows(&mut chart, width.of(10, 6), axis, LETTERS)?;
    for ((row, name), number) in rows.iter().zip(names).zip(0_u32..) {
        let middle = count - f64::from(number) - 0.5;
        let [low, high] = row.bar;
        let bar = [(low, middle - 0.34), (high, middle + 0.34)];
        let colour = row.colour.unwrap_or(plot::BLUE);
        chart.draw_series([Rectangle::new(bar, colour.mix(0.55).filled())])?;
        for &mark in &row.marks {
            let across = [(mark, middle - 0.34), (mark, middle + 0.34)];
            chart.draw_series([PathElement::new(across, line(plot::ORANGE, 3))])?;
        }
        if let Some([low, high]) = row.interval {
            chart.draw_series([PathElement::new([(low, middle), (high, middle)], line(BLACK, 2))])?;
        }
        let (x, y) = chart.backend_coord(&(from, middle));
        let style = label(LETTERS, BLACK, HPos::Right, VPos::Center);
        area.draw(&Text::new(name, (x - px(8), y), style.clone()))?;
        let last = row.marks.iter().copied().chain([high]).chain(row.interval.map(|ends| ends[1])).fold(from, f64::max);
        let (x, y) = chart.backend_coord(&(last, middle));
        area.draw(&Text::new(row.text.clone(), (x + px(6), y), style.pos(Pos::new(HPos::Left, VPos::Center))))?;
    }
    Ok(())
}
