//! Arguments of `tool setup`, `tool completions`, `tool man` and `tool schema`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use tailspn::report::{LINE_SCHEMAS, PLAN_SCHEMAS, RESULT_SCHEMAS};

#[derive(Debug, Args)]
#[command(after_long_help = "\
With the schema of a plan, an editor completes and explains its keys. docs/plans.md lists all keys, and shows how an \
editor finds the schema. The schema of a result describes what `--json` prints (docs/json.md).

Examples:
    # the names
    tailspn tool schema

    # for an editor
    tailspn tool schema plan > job.schema.json

    # what `tailspn estimate --json` prints
    tailspn tool schema estimate
")]
pub(crate) struct SchemaArgs {
    /// Name of the schema [default: the list of names]
    #[arg(hide_possible_values = true, value_parser = schema_names())]
    pub(crate) name: Option<String>,
}

fn schema_names() -> PossibleValuesParser {
    let all = PLAN_SCHEMAS.iter().chain(RESULT_SCHEMAS).chain(&LINE_SCHEMAS);
    PossibleValuesParser::new(all.map(|schema| schema.name))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
`tailspn tool setup` installs them.

Examples:
    tailspn tool completions zsh > _tailspn
")]
pub(crate) struct CompletionsArgs {
    /// Shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
`tailspn tool setup` installs all pages.

Examples:
    tailspn tool man net solve > tailspn-net-solve.1
")]
pub(crate) struct ManArgs {
    /// Command, such as `net solve` [default: the overview page]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Files of an earlier version are replaced. man and fish find the files in ~/.local by themselves, bash by the package \
bash-completion; for zsh, the command prints the line that ~/.zshrc needs.

Examples:
    tailspn tool setup

    # for all users
    tailspn tool setup --prefix /usr/local

    # completions for one shell only
    tailspn tool setup --shell fish
")]
pub(crate) struct SetupArgs {
    /// Folder that contains `share/man` [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    pub(crate) prefix: Option<PathBuf>,
    /// Shells to install completions for; may be repeated or separated by commas
    #[arg(long, value_name = "SHELL", value_delimiter = ',', default_values = ["bash", "zsh", "fish"], hide_possible_values = true, value_parser = ["bash", "zsh", "fish"])]
    pub(crate) shell: Vec<String>,
}
