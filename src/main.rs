//! The command-line tool `tailspn`, implemented in [`tailspn::cli`].

fn main() -> std::process::ExitCode {
    tailspn::cli::run()
}
