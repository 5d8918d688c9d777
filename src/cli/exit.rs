//! Exit codes: the end of `--help` and docs/exit-codes.md come from one table.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::cli::signals::stopped_code;

/// Exit status of the process; [`CODES`] explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Internal = 1,
    Usage = 2,
    Model = 3,
    Refused = 5,
    Gpu = 6,
    Io = 7,
    Unmet = 8,
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Interrupted => stopped_code(),
            other => other as u8,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Returns the end of the help text.
pub(crate) fn help() -> String {
    let mut text = "Exit codes:\n".to_owned();
    for row in &CODES {
        let _ = writeln!(text, "    {:<3}  {}", row.code, row.meaning);
    }
    text + "\n`tailspn COMMAND --help` shows the options and examples of a command.\n"
}

/// An exit code as users see it.
struct Row {
    code: u8,
    /// Meaning in one line.
    meaning: &'static str,
    /// Cases for docs/exit-codes.md.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test writes the page"))]
    cases: &'static str,
}

/// Every exit code.
const CODES: [Row; 9] = [
    Row {
        code: Exit::Success as u8,
        meaning: "done",
        cases: "The code is also 0 if `--max-time` ended a run early (a note says `Partial`, JSON has `\"partial\": true`), \
                or if the program that reads standard output closed the pipe.",
    },
    Row { code: Exit::Internal as u8, meaning: "internal error", cases: "A bug in this program. Please report it." },
    Row {
        code: Exit::Usage as u8,
        meaning: "wrong arguments",
        cases: "Unknown options, numbers out of range, expressions or names that do not match the net.",
    },
    Row {
        code: Exit::Model as u8,
        meaning: "a file is wrong",
        cases: "A net, a plan, a log, a profile of system calls or (for `tailspn FILE`) a result cannot be read as anything that the command \
                takes. A log is empty, is damaged at its start, has more attempts than `--max-attempts`, or has a format that \
                [logs.md](logs.md) does not list. A folder, zip archive or log holds several applications, and `--app` does not \
                select one of them. The input of `watch` has lines but no progress report, or the training runs contain no progress \
                over time. Or a net becomes invalid in a reachable marking: a rate is negative, immediate transitions fire forever, \
                a goal or a reward is infinite or not a number, or a place has more tokens than can be counted.",
    },
    Row {
        code: Exit::Refused as u8,
        meaning: "cannot be answered, or not by the requested method",
        cases: "Examples: an engine that cannot run the net, a net that does not stop, no formula for the job time, no \
                steady state, a `--max-time` that ends before the net is compiled, logs of system calls without \
                waiting times. `net solve` stops at an unbounded net or at a limit (partial results are printed). \
                A run in progress has no finished task yet, or is between two jobs, and no earlier run is given. The plan of a \
                `study --resume` has changed, or shards or parts do not belong together.",
    },
    Row {
        code: Exit::Gpu as u8,
        meaning: "a GPU is required, but none was found",
        cases: "With `--backend gpu`: no GPU was found, the GPU failed, or the GPU cannot run the net. See \
                [gpu.md](gpu.md).",
    },
    Row {
        code: Exit::Io as u8,
        meaning: "a file cannot be read or written",
        cases: "Also a file that would be replaced without `--force`.",
    },
    Row {
        code: Exit::Unmet as u8,
        meaning: "no: a deadline is not met, or a formula does not hold",
        cases: "`solve --ctl`: a formula does not hold. `net query`: a bound does not hold or is undecided. `study` with a deadline, and `estimate` with lists: no \
                configuration meets the deadline, or some configurations are undecided and no configuration was \
                proved to meet it (the text and `answer` in JSON state which of the two). `estimate` with a deadline: the job \
                meets it with less than `--probability`, which is 95% by default. Partial results are \
                printed. A question that asks for advice (`estimate` with a deadline, a list or a policy, `whatif`, \
                `study`) on a plan that does not reproduce its own runs, without \
                `--trust-misfit` ([fit.md](fit.md#own-run-first)).",
    },
    Row {
        code: 130,
        meaning: "interrupted (143 by SIGTERM); results so far are printed",
        cases: "The results are marked as partial. `serve` always ends this way. A second signal ends the process \
                immediately.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::generated;

    #[test]
    fn the_page_of_exit_codes_has_the_table() {
        let mut table = "| code | meaning | cases |\n|---:|---|---|\n".to_owned();
        for Row { code, meaning, cases } in &CODES {
            let _ = writeln!(table, "| {code} | {meaning} | {cases} |");
        }
        generated::compare("docs/exit-codes.md", "<!-- generated; src/cli/exit.rs compares it -->\n", &table);
    }
}
