//! The arguments of `serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_long_help = "\
The page is for this computer only: the server listens on 127.0.0.1, and each request needs the token in the printed \
address. docs/serve.md describes the page.

Examples:
    # play the token game of a net
    tailspn serve net.xml

    # vary a planned job
    tailspn serve job.toml

    # the timeline of a log, and why its tasks were slow
    tailspn serve app.gz

    # the default job
    tailspn serve
")]
pub(crate) struct ServeArgs {
    /// A net that `check` reads, a plan that `estimate` reads, or a log that `trace` reads; without one, the default job
    #[arg(value_name = "NET|PLAN|LOG")]
    pub(crate) source: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 selects a free port
    #[arg(long, value_name = "PORT", default_value = "0")]
    pub(crate) port: u16,
    /// Print the address without opening a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}
