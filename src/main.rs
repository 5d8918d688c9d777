//! The command line tool `tailspn`; everything it does is in [`tailspn::cli`].

fn main() -> std::process::ExitCode {
    tailspn::cli::run()
}
