//! The arguments of `tool devices` and `tool bench`.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{BackendChoice, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    tailspn tool devices
    tailspn tool devices --json
")]
pub(crate) struct DevicesArgs {
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
    # the CPU only, half a second per measurement, as JSON
    tailspn tool bench --backend cpu --seconds 0.5s --json

    # a GPU, by a part of its name, with its lanes times GHz by the data sheet
    tailspn tool bench --backend gpu --adapter H100 --lanes-ghz 29000
")]
pub(crate) struct BenchArgs {
    /// Device to measure: `cpu`, `gpu`, or both with `auto`; a software adapter is measured only if --adapter selects it
    #[arg(long, default_value = "auto", hide_possible_values = true)]
    pub(crate) backend: BackendChoice,
    /// Graphics adapter, by a part of its name
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
    /// Duration of each measurement, such as 2s
    #[arg(long, value_name = "WALL", default_value = "2s", allow_hyphen_values = true, value_parser = values::wall_time)]
    pub(crate) seconds: Duration,
    /// CPU threads [default: all cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::threads)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// GPU lanes times the clock in GHz, for the upper bound of schedules
    #[arg(long, value_name = "PRODUCT", allow_hyphen_values = true, value_parser = values::positive)]
    pub(crate) lanes_ghz: Option<f64>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
