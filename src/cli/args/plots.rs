//! Pictures as files: where to, and in which format.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The destination of pictures.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlotArgs {
    /// Draw all pictures of the result, into a folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Formats of these pictures
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "svg")]
    pub(crate) plot_format: Vec<PlotFormat>,
}

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    /// For browsers and documents, at any size
    Svg,
    /// Twice as many pixels as the SVG
    Png,
}

impl PlotFormat {
    /// The extension of a file's name.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}
