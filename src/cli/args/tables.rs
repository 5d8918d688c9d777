//! The arguments of commands that read a table of runs.

use clap::Args;

use tailspn::tables::Chosen;

use crate::cli::notes::first_given;

/// Columns of a table of runs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Table of runs")]
pub(crate) struct TableArgs {
    /// Value of a column: only the runs that have it answer, such as machine_type=m4.2xlarge; may be repeated
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = only)]
    pub(crate) only: Vec<(String, String)>,
    /// Column that does not set runs apart, such as a result of the run; may be repeated
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,
    /// Column with the time of a run [default: by its name]
    #[arg(long, value_name = "NAME")]
    time_column: Option<String>,
    /// Column with the number of machines [default: by its name]
    #[arg(long, value_name = "NAME")]
    machines_column: Option<String>,
    /// Column with the size of the input [default: by its name]
    #[arg(long, value_name = "NAME")]
    size_column: Option<String>,
}

impl TableArgs {
    /// Returns the columns that the user has named.
    pub(crate) fn chosen(&self) -> Chosen {
        Chosen {
            time: self.time_column.clone(),
            machines: self.machines_column.clone(),
            size: self.size_column.clone(),
            ignored: self.ignore.clone(),
        }
    }

    /// Returns true if the user has named a column.
    pub(crate) fn names_columns(&self) -> bool {
        self.time_column.is_some() || self.machines_column.is_some() || self.size_column.is_some()
    }

    /// Returns the first option that was given, which applies only to tables.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let Self { only, ignore, time_column, machines_column, size_column } = self;
        first_given([
            ("--only", !only.is_empty()),
            ("--ignore", !ignore.is_empty()),
            ("--time-column", time_column.is_some()),
            ("--machines-column", machines_column.is_some()),
            ("--size-column", size_column.is_some()),
        ])
    }
}

/// Parses `COLUMN=VALUE`.
fn only(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.trim().is_empty() && !value.trim().is_empty() => {
            Ok((column.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write COLUMN=VALUE, such as machine_type=m4.2xlarge".to_owned()),
    }
}
