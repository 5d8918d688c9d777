//! What the pictures of curves and bars share: a drawing area that becomes SVG, colours, the error.

use plotters::coord::Shift;
use plotters::prelude::*;

/// The picture could not be drawn; this is a mistake in the report.
#[derive(Debug, thiserror::Error)]
#[error("the picture cannot be drawn: {0}")]
pub struct PlotError(String);

/// Where a picture is drawn.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What goes wrong while drawing.
pub(super) type DrawError = DrawingAreaErrorKind<std::io::Error>;

pub(super) const BLUE: RGBColor = RGBColor(52, 101, 164);
pub(super) const ORANGE: RGBColor = RGBColor(206, 92, 0);
pub(super) const GREY: RGBColor = RGBColor(136, 138, 133);

/// Dots of a fine picture in each direction for one of its pixels: coordinates are whole numbers, on which a flat curve would go
/// in steps.
pub(super) const FINE: i32 = 8;

/// A picture of so many pixels on white, drawn on an area of [`FINE`] times as many dots in each direction.
pub(super) fn fine_svg(
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), DrawError>,
) -> Result<String, PlotError> {
    let fine = FINE.unsigned_abs();
    let text = svg((fine * width, fine * height), draw)?;
    // the view keeps the dots
    let [drawn, shown] = [fine, 1].map(|times| format!("width=\"{}\" height=\"{}\"", times * width, times * height));
    Ok(text.replacen(&drawn, &shown, 1))
}

/// A picture of so many pixels on white.
pub(super) fn svg(
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
