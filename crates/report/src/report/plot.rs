//! Shared parts of the pictures of curves and bars: a drawing area that becomes SVG, colours, axes.

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::drawing::{PlotError, Width, letters_in, text_width};
use crate::report::number::plain;

/// The area that a picture is drawn on.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Error while drawing.
pub(crate) type DrawError = DrawingAreaErrorKind<std::io::Error>;

pub(crate) const BLUE: RGBColor = RGBColor(52, 101, 164);
pub(crate) const ORANGE: RGBColor = RGBColor(206, 92, 0);
pub(crate) const GREY: RGBColor = RGBColor(136, 138, 133);
/// Ink on a coloured field: unlike black and white, it does not change on a dark page.
pub(crate) const ON_LIGHT: RGBColor = RGBColor(1, 1, 1);
/// See [`ON_LIGHT`].
pub(crate) const ON_DARK: RGBColor = RGBColor(254, 254, 254);

/// Number of dots of a fine picture, in each direction, for one pixel. Coordinates are integers, so a flat curve would
/// have steps without these dots.
pub(crate) const FINE: i32 = 8;

/// Converts pixels to dots.
pub(crate) const fn px(pixels: i32) -> i32 {
    FINE * pixels
}

/// Returns a font of this size in pixels.
pub(crate) fn font(pixels: i32) -> (&'static str, i32) {
    ("sans-serif", px(pixels))
}

/// Returns a line of this width in pixels.
pub(crate) fn line(colour: impl Into<RGBAColor>, pixels: i32) -> ShapeStyle {
    colour.into().stroke_width(px(pixels).unsigned_abs())
}

/// Returns text of this size in pixels on one side of a point.
pub(crate) fn label(pixels: i32, colour: RGBColor, side: HPos, height: VPos) -> TextStyle<'static> {
    let style = TextStyle::from(font(pixels).into_font()).pos(Pos::new(side, height));
    TextStyle { color: colour.to_backend_color(), ..style }
}

/// Shortens a text to a number of letters; keeps the start.
pub(crate) fn begun(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain("…".chars()).collect()
}

/// Shortens a text to a number of letters; the end of a long one is kept, because it is the most informative part.
pub(crate) fn shortened(text: &str, letters: usize) -> String {
    let length = text.chars().count();
    if length <= letters {
        return text.to_owned();
    }
    "…".chars().chain(text.chars().skip(length + 1 - letters)).collect()
}

/// Largest part of a picture that names next to bars take \[%\].
pub(crate) const NAMES: i32 = 45;

/// Shortens names to the room next to the bars of a picture. Returns the names and the width of the longest one in pixels.
pub(crate) fn names_beside<'a>(names: impl Iterator<Item = &'a str>, pixels: i32, width: Width) -> (Vec<String>, i32) {
    let room = i32::try_from(width.pixels()).unwrap_or(i32::MAX) / 100 * NAMES;
    let names: Vec<String> = names.map(|name| shortened(name, letters_in(room, pixels))).collect();
    let widest = names.iter().map(|name| text_width(name, pixels)).max().unwrap_or(0);
    (names, widest)
}

/// A chart with times to the right.
pub(crate) type Chart<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;

/// Returns the text of a mark on an axis, with a minus sign in place of a hyphen. A mark at a rounding error from 0 is 0.
pub(crate) fn mark_text(value: f64, axis: &std::ops::Range<f64>) -> String {
    let is_zero = value.abs() < 1e-9 * (axis.end - axis.start);
    plain(if is_zero { 0.0 } else { value }).replace('-', "\u{2212}")
}

/// Labels of the axes of a chart.
pub(crate) struct Axes<'a> {
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Labels of both axes, at most.
    pub(crate) labels: [usize; 2],
}

/// Draws axes, and a faint grid.
pub(crate) fn axes<Y>(
    chart: &mut Chart<'_, '_, Y>,
    axes: &Axes<'_>,
    y_text: &dyn Fn(&f64) -> String,
) -> Result<(), DrawError>
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let across = chart.x_range();
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(line(GREY.mix(0.25), 1))
        .axis_style(line(BLACK.mix(0.7), 1))
        .set_all_tick_mark_size(px(5))
        .x_labels(axes.labels[0])
        .y_labels(axes.labels[1])
        .x_label_formatter(&|value| mark_text(*value, &across))
        .y_label_formatter(&|value| y_text(value))
        .x_desc(axes.x)
        .y_desc(axes.y)
        .axis_desc_style(font(15))
        .label_style(font(13))
        .draw()
}

/// Draws the axis below rows of named bars, with `marks` marks, the title `shows`, and letters of height `letters`.
pub(crate) fn axis_of_rows(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
    marks: usize,
    shows: &str,
    letters: i32,
) -> Result<(), DrawError> {
    let across = chart.x_range();
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(line(GREY.mix(0.25), 1))
        .axis_style(line(BLACK.mix(0.7), 1))
        .set_tick_mark_size(LabelAreaPosition::Bottom, px(5))
        .set_tick_mark_size(LabelAreaPosition::Left, 0)
        .x_labels(marks)
        .y_labels(0)
        .x_label_formatter(&|value| mark_text(*value, &across))
        .x_desc(shows)
        .axis_desc_style(font(15))
        .label_style(font(letters))
        .draw()
}

/// Draws a picture of this size in pixels on white; the drawing area has [`FINE`] times as many dots in each
/// direction.
pub(crate) fn fine_svg(
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), DrawError>,
) -> Result<String, PlotError> {
    let fine = FINE.unsigned_abs();
    let text = svg((fine.saturating_mul(width), fine.saturating_mul(height)), draw)?;
    // the view keeps the dots
    let [drawn, shown] = [fine, 1].map(|times| format!("width=\"{}\" height=\"{}\"", times * width, times * height));
    Ok(text.replacen(&drawn, &shown, 1))
}

/// Draws a picture of this size in pixels on white.
pub(crate) fn svg(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), DrawError>,
) -> Result<String, PlotError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = area.fill(&WHITE).and_then(|()| draw(&area)).and_then(|()| area.present());
        drawn.map_err(|error| PlotError(error.to_string()))?;
    }
    Ok(text)
}
