//! The options of the commands as data, for programs that offer them under the same names.

use clap::{Arg, ArgAction, CommandFactory as _};

use crate::cli::args::Cli;

/// The number of times that an option may occur, and the presence of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Without a value.
    Flag,
    /// Once, with a value.
    Value,
    /// Several times, each with a value.
    Values,
}

/// An option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOption {
    /// The name without leading hyphens, such as `rel-error`.
    pub name: String,
    /// The shape on the command line.
    pub shape: Shape,
    /// The accepted words, if the option has a fixed set.
    pub choices: Vec<String>,
    /// The help text, in one line.
    pub help: String,
}

/// Returns the options of a command, such as `net simulate`, in the order of the help text; `None` for an unknown
/// command.
pub fn options(command: &str) -> Option<Vec<CommandOption>> {
    let cli = Cli::command();
    let command = command.split(' ').try_fold(&cli, |command, name| command.find_subcommand(name))?;
    Some(command.get_arguments().filter_map(option).collect())
}

fn option(arg: &Arg) -> Option<CommandOption> {
    let shape = match arg.get_action() {
        ArgAction::SetTrue => Shape::Flag,
        ArgAction::Set => match arg.get_num_args() {
            Some(range) if range.max_values() > 1 => Shape::Values,
            _ => Shape::Value,
        },
        ArgAction::Append => Shape::Values,
        _ => return None,
    };
    let choices = match shape {
        Shape::Flag => Vec::new(),
        _ => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    Some(CommandOption { name: arg.get_long()?.to_owned(), shape, choices, help: help.replace('\n', " ") })
}
