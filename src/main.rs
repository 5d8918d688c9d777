//! The command line tool `tailspn`; everything it does is in `cli`, and what it calculates in the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
