//! Writes pictures as SVG or PNG files.

use std::path::Path;

use tailspn::report::{Document, Picture};
use tailspn_common::visible::visible;

use crate::cli::args::{PlotArgs, PlotFormat};
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// All names of pictures of results.
const NAMES: &str = "waterfall bounds critical histogram cdf tail policies timeline curve \
                     heat tornado stragglers derivatives effects indices deadline tasks net";

/// Refuses to replace pictures without `--force`, before the run starts.
pub(crate) fn may_draw(plots: &PlotArgs, force: bool) -> Result<(), Failure> {
    let Some(folder) = &plots.plots else { return Ok(()) };
    for format in &plots.plot_format {
        can_draw(*format)?;
        for name in NAMES.split(' ') {
            may_write(&folder.join(format!("{name}.{}", format.ending())), force)?;
        }
    }
    Ok(())
}

/// Writes pictures into the folder, if given.
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

/// Draws the pictures of a result, if a folder is given.
pub(crate) fn draw_document(
    document: &Document<'_>,
    plots: &PlotArgs,
    force: bool,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if plots.plots.is_none() {
        return Ok(());
    }
    let drawn = document.pictures().map_err(Failure::internal)?;
    match (drawn.is_empty(), cfg!(feature = "plots")) {
        (_, false) => terminal.tell("note: this build draws no curves and bars; build it with the feature `plots`"),
        (true, true) => terminal.tell("note: there is nothing to draw"),
        (false, true) => {}
    }
    draw(&drawn, plots, force)
}

/// Returns the picture with this name in a result, as SVG.
pub(crate) fn picture_of(document: &Document<'_>, name: &str) -> Result<Option<String>, Failure> {
    let drawn = document.pictures().map_err(Failure::internal)?;
    Ok(drawn.into_iter().find(|picture| picture.name == name).map(|picture| picture.wide))
}

/// Refuses to replace a picture without `--force`, or to write one in an unknown format, before the run starts.
pub(crate) fn may_write_picture(path: &Path, force: bool) -> Result<(), Failure> {
    can_draw(format_of(path)?)?;
    may_write(path, force)
}

/// Refuses a curve or bars, for the option `option`, in a build that cannot draw them.
pub(crate) fn may_plot(option: &str) -> Result<(), Failure> {
    if cfg!(feature = "plots") { Ok(()) } else { Err(not_built(&format!("`{option}`"), "plots")) }
}

/// Refuses a format that this build cannot write.
fn can_draw(format: PlotFormat) -> Result<(), Failure> {
    let can = format == PlotFormat::Svg || cfg!(feature = "png");
    if can { Ok(()) } else { Err(not_built("pictures in PNG", "png")) }
}

fn not_built(what: &str, feature: &str) -> Failure {
    let help = format!("build it with the feature `{feature}`");
    Failure::helped(Exit::Usage, format!("this build does not support {what}"), &help)
}

/// Writes one picture; the file's extension sets the format, SVG by default.
pub(crate) fn write_picture(path: &Path, svg: &str, force: bool) -> Result<(), Failure> {
    write_file(path, &bytes(svg, format_of(path)?)?, force)
}

fn format_of(path: &Path) -> Result<PlotFormat, Failure> {
    match path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).as_deref() {
        None | Some("svg") => Ok(PlotFormat::Svg),
        Some("png") => Ok(PlotFormat::Png),
        Some(_) => Err(Failure::helped(
            Exit::Usage,
            format!("`{}` does not have the extension of a picture", path.display()),
            "use the extension .svg or .png",
        )),
    }
}

fn bytes(svg: &str, format: PlotFormat) -> Result<Vec<u8>, Failure> {
    let svg = &*visible(svg);
    match format {
        PlotFormat::Svg => Ok(svg.as_bytes().to_vec()),
        PlotFormat::Png => pixels(svg),
    }
}

#[cfg(feature = "png")]
fn pixels(svg: &str) -> Result<Vec<u8>, Failure> {
    tailspn::report::png(svg).map_err(Failure::internal)
}

#[cfg(not(feature = "png"))]
fn pixels(_: &str) -> Result<Vec<u8>, Failure> {
    can_draw(PlotFormat::Png).map(|()| Vec::new())
}
