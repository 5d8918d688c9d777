//! Pictures as files: SVG as they are drawn, PNG with letters of our own, so that it looks the same on every machine.

use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree};
use tailspn::report::{Found, Picture, pictures};

use crate::cli::args::{PlotArgs, PlotFormat};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::{Terminal, may_write, write_file};

/// Names that pictures of results may have.
pub(crate) const NAMES: [&str; 17] = [
    "waterfall",
    "critical",
    "histogram",
    "cdf",
    "tail",
    "policies",
    "timeline",
    "curve",
    "heat",
    "tornado",
    "stragglers",
    "derivatives",
    "effects",
    "indices",
    "deadline",
    "tasks",
    "net",
];
/// Latin, Greek and Cyrillic letters; see `assets/README.md`.
const FONT: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/DejaVuSans-subset.ttf"));
/// Name of the font in it.
const FAMILY: &str = "DejaVu Sans";
/// Pixels of a PNG picture for one of the SVG.
const DENSITY: f32 = 2.0;
/// Most pixels of a side of a PNG picture.
const MOST_PIXELS: f32 = 16_000.0;

/// Refuses to replace pictures without `--force`, before anything is run; these are the names that they may have.
pub(crate) fn may_draw(names: &[&str], plots: &PlotArgs, force: bool) -> Result<(), Failure> {
    let Some(folder) = &plots.plots else { return Ok(()) };
    for format in &plots.plot_format {
        for name in names {
            may_write(&folder.join(format!("{name}.{}", format.ending())), force)?;
        }
    }
    Ok(())
}

/// Writes pictures into the folder, where one is named.
pub(crate) fn draw(pictures: &[Picture], plots: &PlotArgs, force: bool) -> Result<(), Failure> {
    let Some(folder) = &plots.plots else { return Ok(()) };
    if pictures.is_empty() {
        return Ok(());
    }
    let failed = |error| Failure::plain(Exit::Io, format!("cannot create `{}`: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for picture in pictures {
        for format in &plots.plot_format {
            let path = folder.join(format!("{}.{}", picture.name, format.ending()));
            write_file(&path, &bytes(&picture.wide, *format)?, force)?;
        }
    }
    Ok(())
}

/// Draws a result, where a folder is named.
pub(crate) fn draw_found(found: &Found, plots: &PlotArgs, force: bool, terminal: &Terminal) -> Result<(), Failure> {
    if plots.plots.is_none() {
        return Ok(());
    }
    let drawn = pictures(found).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
    if drawn.is_empty() {
        terminal.tell("note: there is nothing to draw");
    }
    draw(&drawn, plots, force)
}

/// Writes one picture; the file's ending says as what, and is SVG where it says nothing.
pub(crate) fn write_picture(path: &Path, svg: &str, force: bool) -> Result<(), Failure> {
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    write_file(path, &bytes(svg, if is_png { PlotFormat::Png } else { PlotFormat::Svg })?, force)
}

fn bytes(svg: &str, format: PlotFormat) -> Result<Vec<u8>, Failure> {
    match format {
        PlotFormat::Svg => Ok(svg.as_bytes().to_vec()),
        PlotFormat::Png => png(svg)
            .map_err(|error| Failure::plain(Exit::Internal, format!("the picture cannot become a PNG: {error}"))),
    }
}

/// An SVG picture as PNG.
fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    // what stands in for families that are not there
    fonts.set_serif_family(FAMILY);
    // a picture names no files, and none are read
    options.image_href_resolver =
        usvg::ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) };
    options.font_family = FAMILY.to_owned();
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = DENSITY.min(MOST_PIXELS / width.max(height));
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut pixmap = Pixmap::new(pixels(width), pixels(height)).ok_or("it is too large")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| error.to_string())
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
