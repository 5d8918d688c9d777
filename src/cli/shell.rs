//! Man pages and completions for shells: printed, or installed.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::args::{Cli, CompletionsArgs, ManArgs, SetupArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    print(&completions_of(args.shell), terminal)
}

/// Prints the man page of a command, or of the tool.
pub(crate) fn man(args: &ManArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    for name in &args.command {
        let unknown =
            || Failure::plain(Exit::Usage, format!("unknown command `{name}`; `tailspn help` lists all commands"));
        command = command.find_subcommand(name).ok_or_else(unknown)?.clone();
    }
    let mut text = Vec::new();
    let failed = |error| Failure::plain(Exit::Internal, format!("cannot write the man page: {error}"));
    let source = concat!("tailspn ", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source).render(&mut text).map_err(failed)?;
    print(&text, terminal)
}

/// Installs the man pages and the completions, and prints their locations.
pub(crate) fn setup(args: &SetupArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let prefix = match &args.prefix {
        Some(prefix) => prefix.clone(),
        None => home()?.join(".local"),
    };
    let share = prefix.join("share");
    let pages = share.join("man/man1");
    fs::create_dir_all(&pages)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &pages))
        .map_err(|error| unwritable(&pages, &error))?;
    let mut said = format!("man pages: {}\n", pages.display());
    for name in &args.shell {
        let Ok(shell) = Shell::from_str(name, true) else { continue };
        let file = share.join(match shell {
            Shell::Zsh => "zsh/site-functions/_tailspn",
            Shell::Fish => "fish/vendor_completions.d/tailspn.fish",
            _ => "bash-completion/completions/tailspn",
        });
        let folder = file.parent().unwrap_or(&share);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, completions_of(shell)))
            .map_err(|error| unwritable(&file, &error))?;
        said.push_str(&format!("completions for {name}: {}\n", file.display()));
        if shell == Shell::Zsh {
            said.push_str(&format!(
                "  zsh finds them with this line in ~/.zshrc, before `compinit`: fpath+=({})\n",
                folder.display()
            ));
        }
    }
    print(said.as_bytes(), terminal)
}

fn home() -> Result<PathBuf, Failure> {
    let unknown =
        || Failure::plain(Exit::Usage, "the home folder is unknown; specify a folder with --prefix".to_owned());
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).ok_or_else(unknown)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::plain(Exit::Io, format!("cannot write {}: {error}", path.display()))
}

fn completions_of(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut text);
    text
}

fn print(text: &[u8], terminal: &Terminal) -> Result<Exit, Failure> {
    terminal.data(&String::from_utf8_lossy(text))?;
    Ok(Exit::Success)
}
