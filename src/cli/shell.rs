//! Completions for a shell, and the man page.

use clap::CommandFactory;

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut text);
    print(&text, terminal)
}

/// Prints the man page, with a section for each command.
pub(crate) fn man(terminal: &Terminal) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    let failed = |error: std::io::Error| Failure::plain(Exit::Internal, format!("cannot make the man page: {error}"));
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(failed)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let page = clap_mangen::Man::new(sub.clone());
        page.render_synopsis_section(&mut text).map_err(failed)?;
        page.render_description_section(&mut text).map_err(failed)?;
        page.render_options_section(&mut text).map_err(failed)?;
    }
    print(&text, terminal)
}

fn print(text: &[u8], terminal: &Terminal) -> Result<Exit, Failure> {
    terminal.data(&String::from_utf8_lossy(text))?;
    Ok(Exit::Success)
}
