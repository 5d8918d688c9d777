//! A picture at two widths, the error of drawing, the room that texts take, and the numbers that an axis can show.

use std::borrow::Cow;

/// The picture could not be drawn; this is a mistake in the report.
#[derive(Debug, thiserror::Error)]
#[error("the picture cannot be drawn: {0}")]
pub struct PlotError(pub(super) String);

/// A picture as SVG documents, for a page and for a phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Content of the picture, as a word that can be a file name.
    pub name: Cow<'static, str>,
    /// The picture for a page or a screen.
    pub wide: String,
    /// The same picture with fewer labels, readable on a phone.
    pub narrow: String,
}

impl Picture {
    /// Returns a picture that can be drawn at both widths.
    pub(crate) fn new(
        name: &'static str,
        draw: impl Fn(Width) -> Result<String, PlotError>,
    ) -> Result<Self, PlotError> {
        Ok(Self { name: name.into(), wide: draw(Width::Wide)?, narrow: draw(Width::Narrow)? })
    }
}

/// The width that a picture is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A page or a screen.
    Wide,
    /// A phone.
    Narrow,
}

impl Width {
    /// Returns the width in pixels.
    pub(crate) fn pixels(self) -> u32 {
        self.of(900, 390)
    }

    /// Returns `wide` for a wide picture and `narrow` for a narrow one.
    pub(crate) fn of<T>(self, wide: T, narrow: T) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// Returns the approximate width of a text in pixels.
pub(crate) fn text_width(text: &str, pixels: i32) -> i32 {
    let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX / 100);
    letters.saturating_mul(pixels) * 6 / 10
}

/// Returns the number of letters of this size that fit a width in pixels.
pub(crate) fn letters_in(room: i32, pixels: i32) -> usize {
    // the width of a text is rounded down
    usize::try_from((room.saturating_mul(10) + 9) / (pixels * 6)).unwrap_or(0)
}

/// Ends between which an axis has room for marks: beyond these, rounding hides the steps between marks.
const SHORTEST: f64 = 1e-12;
/// See [`SHORTEST`].
const FARTHEST: f64 = 1e15;

/// Returns true if an axis between two numbers is possible.
pub(crate) fn can_be_axis(from: f64, to: f64) -> bool {
    to - from >= SHORTEST && from.abs().max(to.abs()) <= FARTHEST
}
