//! The arguments of `serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_long_help = "\
The page is available on this computer only: the server listens on 127.0.0.1, and each request needs the token in the printed \
address. docs/serve.md describes the page.

Examples:
    # play the token game of a net
    tailspn serve net.xml

    # vary a planned job
    tailspn serve job.toml

    # the timeline of a log, and why its tasks were slow
    tailspn serve app.gz

    # several pages, with a list of them
    tailspn serve net.xml job.toml app.gz

    # the default job
    tailspn serve

    # at a certain address, for a browser that is open
    tailspn serve job.toml --port 8080 --no-open
")]
pub(crate) struct ServeArgs {
    /// Nets (as for `net check`), plans (as for `estimate`) or logs (as for `why`), with one page each [default: the
    /// default job]
    #[arg(value_name = "NET|PLAN|LOG")]
    pub(crate) sources: Vec<PathBuf>,
    /// Port on 127.0.0.1; 0 is a free port
    #[arg(long, value_name = "PORT", default_value = "0")]
    pub(crate) port: u16,
    /// Print the address without opening a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}
