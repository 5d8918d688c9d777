//! Exit codes. They are described in docs/exit-codes.md and at the end of `--help`.

use std::process::ExitCode;

use crate::cli::signals::stopped_code;

/// Exit status of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command completed.
    Success,
    /// An internal error of tailspn.
    Internal,
    /// The arguments are wrong.
    Usage,
    /// A net or a plan is wrong.
    Model,
    /// A log cannot be read, or is not a job log.
    Trace,
    /// The question cannot be answered, or not by the requested method.
    Refused,
    /// A GPU is required, but no suitable GPU was found.
    Gpu,
    /// A file cannot be read or written.
    Io,
    /// No configuration meets the deadline, or this is undecided; or a CTL formula or the bound of a query does
    /// not hold.
    Unmet,
    /// Stopped by Ctrl-C or SIGTERM; results so far were written.
    Interrupted,
}

impl Exit {
    /// Returns the exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Model => 3,
            Self::Trace => 4,
            Self::Refused => 5,
            Self::Gpu => 6,
            Self::Io => 7,
            Self::Unmet => 8,
            Self::Interrupted => stopped_code(),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The end of the help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
    0    done
    1    internal error
    2    wrong arguments
    3    the net or the plan is wrong
    4    the log is wrong
    5    cannot be answered, or not by the requested method
    6    a GPU is required and there is none
    7    a file cannot be read or written
    8    no configuration meets the deadline, or a formula does not hold
    130  interrupted (143 by SIGTERM); results so far are printed

`tailspn COMMAND --help` shows the options and examples of a command.
";
