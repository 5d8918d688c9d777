//! The command line: parses arguments, makes one library call, and prints a report. Uses only the public API.
//!
//! Data goes to standard output, everything else to standard error; the exit code shows how a command ended
//! (docs/exit-codes.md).
//!
//! | question | file |
//! |---|---|
//! | a command | a file with its name; its options in `args` |
//! | what happens before and after a command's question | `frame` |
//! | what a command reads: files, or objects of the calling program | `input`, `load`, `plan`, `logs`, `fitted` |
//! | a log that grows | `follow` |
//! | which command takes which kind of file | `kinds` |
//! | a file of an unknown kind | `unknown` |
//! | files that commands write, and pictures | `files`, `pictures` |
//! | problems, warnings and advice on the terminal | `notes`, `output` |
//! | progress, limits of wall time, Ctrl-C and SIGTERM | `watch`, `signals`, `preparation` |
//! | a shard of a command, and merging | `part` |
//! | a command that Python runs in process | `call` |
//! | help, man pages, completions | `args/help`, `shell` |
//! | the local page | `serve` |

mod args;
#[cfg(feature = "gpu")]
mod bench;
#[cfg(feature = "gpu")]
mod bench_nets;
mod call;
mod calls;
mod cheapest;
mod check;
mod compare;
mod convert;
mod detectors;
#[cfg(feature = "gpu")]
mod devices;
mod effects;
mod estimate;
mod exact;
mod exit;
mod files;
mod fit;
mod fitted;
mod follow;
mod frame;
#[cfg(test)]
#[path = "../../tests/it/generated.rs"]
mod generated;
mod input;
mod kept;
mod kinds;
mod left;
mod left_lines;
mod load;
mod logs;
mod notes;
mod options;
mod output;
mod own_input;
mod part;
mod pictures;
mod plan;
mod preparation;
mod proof;
mod properties;
mod query;
mod question;
mod rare;
mod report;
mod report_source;
mod run_table;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod show;
mod signals;
mod simulate;
mod solve;
mod solve_files;
mod solve_question;
mod solve_untimed;
mod spaced_list;
mod spn_gc;
mod spn_gc_parts;
mod stands_for;
mod stdin;
mod straggler_values;
mod structure;
mod study;
mod study_failure;
mod study_inputs;
mod sweep;
mod sweep_events;
mod targets;
mod unknown;
mod values;
mod watch;
mod watch_tasks;
mod whatif;
mod why;
mod why_inputs;
mod why_list;
mod why_methods;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

#[cfg(feature = "serve")]
use tailspn::report::Answer;

use args::{Cli, Command, MergeArgs, NetCommand, ToolCommand};
pub use call::{Call, Output, Pace, Problem, Request};
use exit::Exit;
pub use input::Input;
use notes::{Failure, Note};
pub use options::{CommandOption, Shape, options};
use output::Terminal;
use own_input::own_input;
use spaced_list::spaced_list;

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os()))
}

/// Runs a command and returns its exit code. The first argument is the name of the program.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut cli = match args::parse(arguments.clone()) {
        Ok(cli) => cli,
        Err(error) => {
            // a closed pipe during the help text is not a failure
            let lost = error.print().is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
            return match error.use_stderr() {
                true => Exit::Usage,
                false if lost => Exit::Io,
                false => Exit::Success,
            }
            .code();
        }
    };
    let terminal = Terminal::new(cli.global.color, cli.global.quiet).asked(&arguments);
    match checked(&arguments).and_then(|()| cli.command.read_stdin()).and_then(|()| answer(&cli, &arguments, &terminal))
    {
        Ok(exit) => exit.code(),
        Err(Failure { exit, notes, .. }) => {
            terminal.problems(&notes);
            exit.code()
        }
    }
}

/// Refuses what would be ignored or lost without a word: a value of an environment variable, an input that is also an output.
fn checked(arguments: &[OsString]) -> Result<(), Failure> {
    if let Some(value) = tailspn::simd::unknown_vectors() {
        let help = "set it to portable, avx2 or avx512, or to nothing";
        return Err(Failure::helped(Exit::Usage, format!("TAILSPN_SIMD is `{value}`, which names no vectors"), help));
    }
    own_input(arguments).or_else(|| spaced_list(arguments)).map_or(Ok(()), Err)
}

impl Call {
    /// Answers the question of a command on this thread. Returns the answer with all notes, and the reasons why it is incomplete.
    ///
    /// # Errors
    ///
    /// The exit code with the reasons why there is no answer.
    #[cfg(feature = "serve")]
    fn ask(self: &Arc<Self>, command: &dyn frame::Ask) -> Result<(Answer, Vec<Problem>), (u8, Vec<Problem>)> {
        let ended = self.enter(|| frame::run(command, &Terminal::of_call(self)));
        let Output { answer, remarks, .. } = self.take_output();
        match (answer, ended) {
            (Some(answer), ended) => {
                let problems = ended.map_or_else(|failure| failure.problems(), |_| Vec::new());
                Ok((Answer { warnings: Vec::new(), notes: remarks, ..answer }, problems))
            }
            (None, Err(failure)) => Err((failure.exit.code(), failure.problems())),
            (None, Ok(exit)) => Err((exit.code(), Vec::new())),
        }
    }

    /// Runs a command on this thread and returns its exit code (see docs/exit-codes.md).
    /// [`take_output`](Self::take_output) returns the answer of the command, also after an error.
    ///
    /// # Errors
    ///
    /// The exit code with the reasons why the command failed.
    pub fn run(self: &Arc<Self>, request: Request) -> Result<u8, (u8, Vec<Problem>)> {
        let ended = self.enter(|| {
            let refused = |error: clap::Error| Failure::new(Exit::Usage, Note::problem(reason_of(&error)));
            let Request { command, options, inputs, words } = request;
            let paths = inputs.iter().map(|input| input.as_os_str().to_owned());
            let end = (!inputs.is_empty()).then(|| OsString::from("--"));
            let verbs = command.split(' ').map(str::to_owned);
            let first = std::iter::once("tailspn".to_owned()).chain(verbs).chain(options).map(OsString::from);
            let arguments: Vec<OsString> =
                first.chain(end).chain(paths).chain(words.into_iter().map(OsString::from)).collect();
            let mut cli = args::parse(arguments.clone()).map_err(refused)?;
            cli.command.inputs_mut().into_iter().zip(inputs).for_each(|(slot, input)| *slot = input);
            let terminal = Terminal::of_call(self).asked(&arguments);
            if self.parts().is_empty() {
                return answer(&cli, &arguments, &terminal);
            }
            let parts = (1..).zip(self.parts()).map(|(number, bytes)| (format!("part {number}"), bytes.clone()));
            let parts = part::together(&parts.collect::<Vec<_>>(), true, false)?;
            run_command(&cli.command, &terminal.sharing(parts.share))
        });
        ended.map(Exit::code).map_err(|failure| (failure.exit.code(), failure.problems()))
    }
}

/// Returns the first sentence of an error about arguments, without the usage text.
fn reason_of(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text).trim().to_owned()
}

/// Runs a command or a part of a command, or merges parts; the first argument is the name of the program.
fn answer(cli: &Cli, arguments: &[OsString], terminal: &Terminal) -> Result<Exit, Failure> {
    let command = &cli.command;
    if let Command::Tool(ToolCommand::Merge(args)) = command
        && args.shards.iter().all(|path| part::is_part(path))
    {
        return merge_parts(args, terminal);
    }
    if let Command::Show(args) = command
        && let Some(words) = stands_for::command(args, arguments, terminal)?
    {
        let cli = args::parse(words).map_err(|error| Failure::plain(Exit::Usage, reason_of(&error)))?;
        return run_command(&cli.command, terminal);
    }
    match command.part() {
        Some((part, force)) if part.shard.is_some() => {
            let arguments = arguments.get(1..).unwrap_or_default();
            part::run(&part, force, arguments, terminal, |terminal| run_command(command, terminal))
        }
        _ => run_command(command, terminal),
    }
}

/// Prints the merged result of a command's parts in the form of the command.
fn merge_parts(args: &MergeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let parts = part::read(&args.shards, args.partial)?;
    let program = std::iter::once("tailspn".to_owned());
    let words: Vec<OsString> = program.chain(parts.arguments).map(OsString::from).collect();
    let refused = |error: clap::Error| Failure::new(Exit::Model, Note::problem(reason_of(&error)));
    let mut cli = args::parse(words.clone()).map_err(refused)?;
    if cli.command.part().is_none() {
        let message = format!("`{}` is a part of a command that cannot be split into parts", args.shards[0].display());
        return Err(Failure::plain(Exit::Model, message));
    }
    cli.command.show_as(&args.print);
    run_command(&cli.command, &terminal.sharing(parts.share).asked(&words))
}

/// Runs a command.
fn run_command(command: &Command, terminal: &Terminal) -> Result<Exit, Failure> {
    let ended = match command {
        Command::Net(command) => run_net(command, terminal),
        Command::Tool(command) => run_tool(command, terminal),
        Command::Estimate(args) => estimate::run(args, terminal),
        Command::Whatif(args) => whatif::run(args, terminal),
        Command::Study(args) => study::run(args, terminal),
        Command::Watch(args) => watch_tasks::run(args, terminal),
        Command::Why(args) => why::run(args, terminal),
        Command::Show(args) => show::run(args, terminal),
        Command::Words(_) => Err(Failure::internal("words without a verb are files")),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, terminal),
    };
    ended.map_err(|failure| match failure.exit {
        // an error about a log that was read in part has no meaning
        Exit::Model if call::interrupted() => Failure::plain(Exit::Interrupted, "stopped while the log was read"),
        _ => kinds::explained(failure, command),
    })
}

/// Runs a command about a net.
fn run_net(command: &NetCommand, terminal: &Terminal) -> Result<Exit, Failure> {
    match command {
        NetCommand::Check(args) => frame::run(args, terminal),
        NetCommand::Convert(args) => convert::run(args, terminal),
        NetCommand::Simulate(args) => frame::run(&**args, terminal),
        NetCommand::Solve(args) => frame::run(&**args, terminal),
        NetCommand::Query(args) => frame::run(&**args, terminal),
        NetCommand::Rare(args) => frame::run(&**args, terminal),
        NetCommand::Structure(args) => frame::run(args, terminal),
        NetCommand::SpnGc(args) => spn_gc::run(args, terminal),
    }
}

/// Runs a tool.
fn run_tool(command: &ToolCommand, terminal: &Terminal) -> Result<Exit, Failure> {
    match command {
        ToolCommand::Fit(args) => fit::run(args, terminal),
        ToolCommand::Merge(args) => frame::run(args, terminal),
        ToolCommand::Profile(args) => calls::learn(args, terminal),
        ToolCommand::Detectors(args) => frame::run(args, terminal),
        ToolCommand::Schema(args) => schema::run(args, terminal),
        #[cfg(feature = "gpu")]
        ToolCommand::Devices(args) => frame::run(args, terminal),
        #[cfg(feature = "gpu")]
        ToolCommand::Bench(args) => frame::run(args, terminal),
        ToolCommand::Completions(args) => shell::completions(args, terminal),
        ToolCommand::Man(args) => shell::man(args, terminal),
        ToolCommand::Setup(args) => shell::setup(args, terminal),
    }
}
