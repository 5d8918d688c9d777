//! The command line: arguments in, one library call, a report out. It sees only the public API.
//!
//! Data goes to standard output, everything else to standard error; how a command ended is its exit code ([`exit`]).

mod args;
#[cfg(feature = "gpu")]
mod bench;
#[cfg(feature = "gpu")]
mod bench_nets;
mod check;
mod compare;
mod convert;
mod detectors;
#[cfg(feature = "gpu")]
mod devices;
mod diagnose;
mod diagnose_inputs;
mod diagnose_more;
mod estimate;
mod estimate_stages;
mod exact;
mod exact_answer;
mod exit;
mod fit;
mod kinds;
mod load;
mod notes;
mod optimize;
mod output;
mod pictures;
mod plan;
mod properties;
mod query;
mod question;
mod remaining;
mod report;
mod report_source;
mod sensitivity;
mod shell;
mod simulate;
mod solve;
mod solve_files;
mod solve_method;
mod solve_untimed;
mod spn_gc;
mod steady;
mod straggler_values;
mod structure;
mod study;
mod sweep;
mod sweep_events;
mod syscalls;
mod trace;
mod values;
mod watch;
mod watch_tasks;
mod whatif;

use std::process::ExitCode;

use args::Command;
use exit::Exit;
use notes::Failure;
use output::Terminal;

/// Runs the command that the process was started with.
pub(crate) fn run() -> ExitCode {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(error) => {
            // a help text that nobody reads to its end is no failure
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Success }.into();
        }
    };
    let terminal = Terminal::new(cli.global.color, cli.global.quiet);
    let ended = match &cli.command {
        Command::Check(args) => check::run(args, &terminal),
        Command::Convert(args) => convert::run(args, &terminal),
        Command::Simulate(args) => simulate::run(args, &terminal),
        Command::Solve(args) => solve::run(args, &terminal),
        Command::Query(args) => query::run(args, &terminal),
        Command::Structure(args) => structure::run(args, &terminal),
        Command::SpnGc(args) => spn_gc::run(args, &terminal),
        Command::Estimate(args) => estimate::run(args, &terminal),
        Command::Whatif(args) => whatif::run(args, &terminal),
        Command::Sweep(args) => sweep::run(args, &terminal),
        Command::Merge(args) => sweep::merge(args, &terminal),
        Command::Sensitivity(args) => sensitivity::run(args, &terminal),
        Command::Optimize(args) => optimize::run(args, &terminal),
        Command::Detectors(args) => detectors::run(args, &terminal),
        Command::Fit(args) => fit::run(args, &terminal),
        Command::Compare(args) => compare::run(args, &terminal),
        Command::Trace(args) => trace::run(args, &terminal),
        Command::Watch(args) => watch_tasks::run(args, &terminal),
        Command::Remaining(args) => remaining::run(args, &terminal),
        Command::Diagnose(args) => diagnose::run(args, &terminal),
        Command::Syscalls(args) => syscalls::run(args, &terminal),
        Command::Report(args) => report::run(args, &terminal),
        #[cfg(feature = "gpu")]
        Command::Devices(args) => devices::run(args, &terminal),
        #[cfg(feature = "gpu")]
        Command::Bench(args) => bench::run(args, &terminal),
        Command::Completions(args) => shell::completions(args, &terminal),
        Command::Man => shell::man(&terminal),
    };
    match ended.map_err(|failure| kinds::explained(failure, &cli.command)) {
        Ok(exit) => exit.into(),
        Err(Failure { exit, notes }) => {
            terminal.problems(&notes);
            exit.into()
        }
    }
}
