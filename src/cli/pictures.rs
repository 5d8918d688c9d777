//! Writes pictures as SVG or PNG files.

use std::path::Path;

use tailspn::report::{Picture, Report, png};

use crate::cli::args::{PlotArgs, PlotFormat};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::{Terminal, may_write, write_file};

/// All names of pictures of results.
const NAMES: &str = "waterfall bounds critical histogram cdf tail policies timeline curve \
                     heat tornado stragglers derivatives effects indices deadline tasks net";

/// Refuses to replace pictures without `--force`, before the run starts.
pub(crate) fn may_draw(plots: &PlotArgs, force: bool) -> Result<(), Failure> {
    let Some(folder) = &plots.plots else { return Ok(()) };
    for format in &plots.plot_format {
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
pub(crate) fn draw_report<R: Report>(
    report: &R,
    plots: &PlotArgs,
    force: bool,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if plots.plots.is_none() {
        return Ok(());
    }
    let drawn = report.document().pictures().map_err(Failure::internal)?;
    if drawn.is_empty() {
        terminal.tell("note: there is nothing to draw");
    }
    draw(&drawn, plots, force)
}

/// Refuses to replace a picture without `--force`, or to write one in an unknown format, before the run starts.
pub(crate) fn may_write_picture(path: &Path, force: bool) -> Result<(), Failure> {
    format_of(path)?;
    may_write(path, force)
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
    match format {
        PlotFormat::Svg => Ok(svg.as_bytes().to_vec()),
        PlotFormat::Png => png(svg).map_err(Failure::internal),
    }
}
