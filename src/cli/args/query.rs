//! Arguments of `net query`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{NetArgs, PrintArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(override_usage = "\
tailspn net query [OPTIONS] <NET> <QUERY>...\n       tailspn net query [OPTIONS] <NET> --file <FILE>")]
#[command(after_long_help = "\
Times are in seconds. docs/query.md describes the queries.

Examples:
    tailspn net query net.xml 'P=? [ #(queue) < 5 U<=10 #(done) >= 1 ]'

    # a verdict, and a probability in the long run
    tailspn net query net.xml 'P>=0.9 [ F<=60 #(done) = 3 ]' \\
        'S=? [ #(queue) = 5 ]'

    # rewards: at a time, until a time, in all
    tailspn net query net.xml 'R{#(queue)}=? [ I=10 ]' \\
        'R{firings(serve)}=? [ C<=10 ]'
    tailspn net query job.xml 'R=? [ F \"deadlock\" ]'

    # queries from a file, one per line
    tailspn net query net.xml --file questions.txt --json

    # another value of a rate, and at most a million states
    tailspn net query net.xml 'S=? [ #(queue) = 5 ]' --param arrivals=1.5 \\
        --max-states 1000000
")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    /// Queries: P, S or R with `=?` or a bound, such as 'P=? [ F<=10 #(done) >= 1 ]'
    #[arg(required_unless_present = "file")]
    pub(crate) query: Vec<String>,
    /// File with further queries, one per line; lines that start with `//` are skipped
    #[arg(long, value_name = "FILE", help_heading = "Question")]
    pub(crate) file: Option<PathBuf>,
    /// Maximum number of states [default: 50 million]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Limits")]
    pub(crate) max_states: Option<u64>,
    /// Maximum memory for states, such as 500M or 8G [default: 6G]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) max_memory: Option<u64>,
    /// Wall time after which the command ends, such as 30s or 5m
    #[arg(long, value_name = "WALL", allow_hyphen_values = true, value_parser = values::wall_time, help_heading = "Limits")]
    pub(crate) max_time: Option<Duration>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
