//! SVG pictures as PNG. The letters come from an embedded font, so a picture looks the same on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options, Tree};

/// Latin, Greek and Cyrillic letters; see `assets/README.md`.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
/// Name of the embedded font.
const FAMILY: &str = "DejaVu Sans";
/// PNG pixels per SVG pixel.
const DENSITY: f32 = 2.0;
/// Maximum number of pixels of a side of a PNG picture.
const MOST_PIXELS: f32 = 16_000.0;

/// A picture that cannot be drawn as PNG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture cannot be drawn as PNG: {0}")]
pub struct PngError(String);

/// Draws an SVG picture as PNG, at twice its size and at most 16,000 pixels per side.
///
/// # Errors
///
/// Text that is not SVG, or a picture too large for the memory.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let failed = |error: &dyn ToString| PngError(error.to_string());
    let mut options = Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    // replaces families that are missing
    fonts.set_serif_family(FAMILY);
    // a picture names no files, and none are read
    options.image_href_resolver =
        ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) };
    options.font_family = FAMILY.to_owned();
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = DENSITY.min(MOST_PIXELS / width.max(height));
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut pixmap = Pixmap::new(pixels(width), pixels(height)).ok_or_else(|| failed(&"it is too large"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Width and height from the header of a PNG.
    fn size_of(png: &[u8]) -> [u32; 2] {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
    }

    #[test]
    fn letters_are_drawn_also_in_families_that_are_not_there() {
        let picture = |text: &str, family: &str| {
            png(&format!(
                "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='40'>\
                 <text x='5' y='25' font-family='{family}' font-size='14'>{text}</text></svg>"
            ))
            .unwrap()
        };
        let empty = picture("", "sans-serif");
        assert_eq!(size_of(&empty), [200, 80]);
        for family in ["sans-serif", "No Such Family"] {
            let [a, b] = ["λ = 1", "λ = 2"].map(|text| picture(text, family));
            assert!(a != empty && a != b, "{family}");
        }
    }

    #[test]
    fn large_pictures_get_fewer_pixels() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='40000' height='10'/>";
        assert_eq!(size_of(&png(svg).unwrap())[0], 16_000);
    }
}
