//! The options for picture files: folder and format.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The destination of pictures.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlotArgs {
    /// Folder for all pictures of the result
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Formats of these pictures
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "svg")]
    pub(crate) plot_format: Vec<PlotFormat>,
}

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotFormat {
    /// Scalable, for browsers and documents
    Svg,
    /// Pixels, at twice the size of the SVG
    Png,
}

impl PlotFormat {
    /// Returns the file extension.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}
