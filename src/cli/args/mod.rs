//! The arguments of every command, and their help.

mod calls;
mod choices;
mod command;
#[cfg(feature = "gpu")]
mod devices;
mod fit;
mod global;
mod help;
mod jobs;
mod merge;
mod nets;
mod planned;
mod plots;
mod query;
mod rare;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod show;
mod solve;
mod study;
mod tables;
mod until;
mod watch;
mod why;

pub(crate) use calls::{SyscallProfileArgs, SyscallReadArgs};
pub(crate) use choices::{
    BackendChoice, ClockChoice, CpuChoice, DifferenceChoice, EdgeChoice, Engine, MatchingChoice, PeerChoice,
    SensitivityMethod, SidesChoice, SolveMethod, SyscallMethod,
};
#[cfg(feature = "gpu")]
pub(crate) use devices::{BenchArgs, DevicesArgs};
pub(crate) use fit::{FitArgs, FittedArgs};
pub(crate) use global::{ColorChoice, Global};
pub(crate) use jobs::{DetectorsArgs, EstimateArgs, SpnGcArgs, WhatIfArgs};
pub(crate) use merge::{MergeArgs, SweepPrintArgs};
pub(crate) use nets::{CheckArgs, ConvertArgs, LayoutChoice, OutFormat};
#[cfg(feature = "serve")]
pub(crate) use planned::workers;
pub(crate) use planned::{ChoiceArgs, PlanArgs, SizeArgs, SizeLists, TrustArgs};
pub(crate) use plots::{PlotArgs, PlotFormat};
pub(crate) use query::QueryArgs;
pub(crate) use rare::RareArgs;
pub(crate) use run::{DataForm, LogArgs, Method, NetArgs, PartArgs, PlaceArgs, PrintArgs, RunArgs};
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs, SchemaArgs, SetupArgs};
pub(crate) use show::ShowArgs;
pub(crate) use solve::SolveArgs;
pub(crate) use study::{PlanKind, StudyArgs};
pub(crate) use tables::TableArgs;
pub(crate) use until::UntilArgs;
pub(crate) use watch::{RuleChoice, WatchArgs};
pub(crate) use why::{RulesChoice, WhyArgs};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::cli::{exit, values};

/// Estimate job times; simulate and solve stochastic Petri nets
#[derive(Debug, Parser)]
#[command(name = "tailspn", version, after_help = help::MORE, after_long_help = exit::help())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Estimate the time of a job, from its logs or its plan
    ///
    /// A plan is fitted to logs first, and the answer states how well it reproduces them. Of an unfinished log, reports
    /// the time left. Reports mean, quantiles and
    /// tail of the job time with intervals, the exact distribution if there is one, the parts of the job time, and the
    /// changes of the plan that save most.
    Estimate(Box<EstimateArgs>),
    /// Explain a run, or the difference of two
    ///
    /// Reads logs of Spark 1.x to 4.x, Hadoop and Rumen, phase logs, and cluster traces of Google and Alibaba, with samples of the
    /// nodes. Shows where the time went, which tasks were slow, their causes with evidence and remedy, and what the job
    /// would have saved. With two logs, results or plans, shows what changed, with a significance test.
    Why(Box<WhyArgs>),
    /// Compare straggler policies: time, energy, waste and copies
    ///
    /// Each policy is compared with a run without copies that uses the same random numbers. For a log, the policies are
    /// compared on a replay of the recorded job.
    Whatif(Box<WhatIfArgs>),
    /// Follow a running job: time left, stragglers
    ///
    /// Reads the growing event log of a Spark application, and predicts its end whenever the log has grown. Or reads
    /// progress reports of tasks, and flags stragglers while they run, as text or JSON lines.
    Watch(Box<WatchArgs>),
    /// Find the settings that matter, or the cheapest that suffice
    ///
    /// From the plan or the logs of a job, varies each setting, and shows which matters most; with a deadline, finds the
    /// cheapest cluster that meets it. From a plan with axes, runs every configuration, which can be resumed or split into
    /// shards. Of a net, ranks the rates by their effect.
    Study(Box<StudyArgs>),
    /// Check, convert, simulate, solve or query a Petri net
    #[command(subcommand)]
    Net(NetCommand),
    /// Serve a local web page of a net, a planned job or a log
    ///
    /// Of a net, play the token game. Of a plan, change size, cluster and deadline, and see the new time immediately.
    /// Of a log, see the timeline, the causes of slow tasks, and estimates at other sizes.
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Set up the shell, merge shards, list GPUs and detectors
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Words that are no verb.
    #[command(external_subcommand)]
    Words(Vec<OsString>),
    /// Files without a verb.
    #[command(skip)]
    Show(ShowArgs),
}

/// Commands about a net.
#[derive(Debug, Subcommand)]
pub(crate) enum NetCommand {
    /// Check a net for errors, and show which engine can run it
    ///
    /// Lists every problem with line and column, the obstacles to faster engines, and the features that PIPE handles
    /// incorrectly or that differ from another net.
    Check(CheckArgs),
    /// Write a net in another format, or as a picture
    ///
    /// Reads PIPE XML of any generation, PNML, GreatSPN and JANI. Writes PIPE 4.3-compatible XML, PNML, GreatSPN, JANI,
    /// PRISM, Graphviz and SVG. A picture is drawn in layers if the file has no readable positions.
    Convert(ConvertArgs),
    /// Simulate a net: time to a goal, mean tokens, throughputs
    ///
    /// Also rewards, snapshots and the long run. A run can continue until chosen numbers reach a given precision.
    /// Numbers that have an exact answer need no replications.
    Simulate(Box<SimulateArgs>),
    /// Solve a net exactly: all markings, deadlocks, distributions
    ///
    /// Finds bounds, deadlocks, liveness and home states, each with a firing sequence as proof, and exact values in the
    /// long run, at given times and up to a goal. At most one deterministic delay may run at a time. Series-parallel
    /// reduction answers schedules of any size. Without time, it checks CTL formulas.
    Solve(Box<SolveArgs>),
    /// Answer CSL and CSRL queries, in the syntax of PRISM
    ///
    /// Answers probabilities, long-run values and rewards, and checks whether a value is within a bound.
    Query(Box<QueryArgs>),
    /// Estimate the probability of a rare event, by splitting
    ///
    /// Probabilities as small as 1e-12 are possible. The event is that a goal is reached before another marking or a
    /// given time, or that the net stops only after a given time.
    Rare(Box<RareArgs>),
    /// Analyse a net's structure: invariants, bounds, siphons
    ///
    /// Derives matrices, P- and T-invariants, siphons and traps, the class of the net, bounds of tokens and
    /// throughputs, deadlocks and liveness, each verdict with its reason.
    Structure(StructureArgs),
    /// Write the net of a MapReduce job on a GPU cluster
    ///
    /// The net of a job, or of a fitted plan of stages, is for PIPE or any other tool. It may have stragglers and
    /// speculative copies.
    SpnGc(Box<SpnGcArgs>),
}

/// Tools around the verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List the graphics adapters, and the one to be used
    #[cfg(feature = "gpu")]
    Devices(DevicesArgs),
    /// Measure this machine's speed on its CPU and GPU
    #[cfg(feature = "gpu")]
    Bench(BenchArgs),
    /// Print the JSON Schema of a plan or a result
    ///
    /// With the schema of a plan, an editor completes and explains the keys. Without a name, lists the schemas.
    Schema(SchemaArgs),
    /// Install the man pages and shell completions
    Setup(SetupArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print a man page
    Man(ManArgs),
    /// Fit a plan to logs, to estimate the job at another size
    ///
    /// The plan of a Spark job has stages, tasks, warm-up, delay distributions, driver time and the spread between
    /// whole runs. The plan of a Hadoop job comes from the history of test jobs and their `*_conf.xml`. Values that the
    /// logs could not show are listed.
    Fit(FitArgs),
    /// Merge the shards of a run or a sweep
    Merge(MergeArgs),
    /// Learn the system calls of fault-free runs
    ///
    /// `tailspn why` compares the strace logs of a run with the profile, and finds the faulty node, and whether its disk
    /// or its network is the cause.
    Profile(SyscallProfileArgs),
    /// List the straggler detectors, or judge them on recorded jobs
    ///
    /// The detectors are Default, LATE, Hierarchical, those of Hadoop 2 and Spark, a Mantri-like one, and clones.
    Detectors(DetectorsArgs),
}

/// Returns the arguments of a command with the defaults of their declarations, for files that the command takes.
#[cfg(feature = "serve")]
pub(crate) fn with_defaults<A: Args>(files: &[&std::ffi::OsStr]) -> A {
    let command = A::augment_args(clap::Command::new("defaults").no_binary_name(true));
    let words = std::iter::once(std::ffi::OsStr::new("--")).chain(files.iter().copied());
    let matches = command.try_get_matches_from(words).expect("the command takes files");
    A::from_arg_matches(&matches).expect("declared defaults are valid")
}

/// Words that people type for a verb, and the verb.
const SYNONYMS: [(&str, &str); 9] = [
    ("run", "estimate"),
    ("predict", "estimate"),
    ("explain", "why"),
    ("machines", "study"),
    ("nodes", "study"),
    ("plot", "serve"),
    ("check", "net check"),
    ("simulate", "net simulate"),
    ("solve", "net solve"),
];

/// Options that people type for another one.
const OPTION_SYNONYMS: [(&str, &str); 6] = [
    ("--machines", "--workers N, or --executors N for Spark"),
    ("--nodes", "--workers N, or --executors N for Spark"),
    ("--memory", "--executors N or --cores N; memory is not modelled"),
    ("--plot", "--plots DIR"),
    ("--size", "--input-size SIZE"),
    ("--by", "--deadline TIME"),
];

/// Names the option that was probably meant, if people call it otherwise.
fn with_synonym(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) => typed.clone(),
        _ => return error,
    };
    let found =
        OPTION_SYNONYMS.iter().find(|(synonym, _)| typed == *synonym || typed.starts_with(&format!("{synonym}=")));
    if let Some((_, meant)) = found {
        error.remove(ContextKind::SuggestedArg);
        let tip = format!("use {meant}").into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Parses arguments, the name of the program first. A first word that is no verb is a file.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = help::fitted(Cli::command(), help::columns());
    let matches = command.try_get_matches_from_mut(arguments).map_err(with_synonym)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let Command::Words(words) = cli.command else { return Ok(cli) };
    let first = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let is_path = first == "-" || first.contains(['.', '/', '\\']) || std::path::Path::new(&first).exists();
    if !is_path {
        return Err(no_verb(&mut command, &first));
    }
    let shown = help::fitted(show::ShowCli::command(), help::columns()).try_get_matches_from(words)?;
    let show::ShowCli { global, show } = show::ShowCli::from_arg_matches(&shown)?;
    let quiet = cli.global.quiet || global.quiet;
    Ok(Cli { global: Global { quiet, ..global }, command: Command::Show(show) })
}

/// Refuses a word that is neither a verb nor a file, with the verb that was probably meant.
fn no_verb(command: &mut clap::Command, word: &str) -> clap::Error {
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let synonym = SYNONYMS.iter().find(|(typed, _)| *typed == word).map(|(_, verb)| *verb);
    let near = synonym.or_else(|| tailspn_common::spelling::nearest(word, &names));
    let advice = near.map_or_else(
        || format!("the verbs are {}; `tailspn FILE` shows what a file is", names.join(", ")),
        |verb| format!("did you mean `tailspn {verb}`?"),
    );
    command.error(clap::error::ErrorKind::InvalidSubcommand, format!("`{word}` is neither a verb nor a file; {advice}"))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Expressions have #(place), #(place, class), cap(place), rate parameters, + - * / %, comparisons, &&, ||, !, \
if(condition, then, else), min, max, and the functions of PIPE 4.3.

Examples:
    # the time to the dead marking
    tailspn net simulate job.xml

    # without replications, where that is possible
    tailspn net simulate job.xml --method exact

    # the time to a goal, to half a percent
    tailspn net simulate net.xml --until '#(done) >= 3' --rel-error 0.5%

    # the probability of a goal between two times, before something else
    tailspn net simulate net.xml --until '#(done) >= 3' --within 5..10 \\
        --avoid '#(failed) > 0'

    # mean tokens and throughputs of the first 1,000 s, to a given precision
    tailspn net simulate net.xml --horizon 1000 --rel-error queue=1% \\
        --abs-error serve=0.01

    # means in the long run
    tailspn net simulate net.xml --steady --tokens --throughput

    # the marking at a time, and a reward
    tailspn net simulate net.xml --horizon 100 --at '50:#(queue)' \\
        --reward 'busy=#(queue) > 0'

    # another value of a rate, with pictures
    tailspn net simulate net.xml --horizon 50 --param arrivals=1.5 \\
        --plots simulation

    # half of the replications; `tailspn tool merge` puts the halves together
    tailspn net simulate net.xml --horizon 50 --shard 1/2 --save-part net.part
")]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Method
    #[arg(long, default_value = "auto", help_heading = "Run")]
    pub(crate) method: Method,
    /// Replications [default: 10000]; with --rel-error or --abs-error, the maximum
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) reps: Option<u64>,
    /// Run replications until the half width of an interval is this share of the value, such as 0.5%. The value is
    /// the mean time, or NAME: `time`, `goal` (the probability of reaching it), a reward, a place (mean tokens), a
    /// transition (firings per second) or `at T` (the means that --at requests for time T); may be repeated. With
    /// --steady, the long runs become longer, and a SHARE without a NAME applies to all means
    #[arg(long, value_name = "[NAME=]SHARE", allow_hyphen_values = true, value_parser = values::relative, help_heading = "Run")]
    pub(crate) rel_error: Vec<(String, f64)>,
    /// Like --rel-error, but with an absolute half width in the unit of the value; may be repeated and
    /// combined with --rel-error
    #[arg(long, value_name = "NAME=WIDTH", allow_hyphen_values = true, value_parser = values::absolute, help_heading = "Run")]
    pub(crate) abs_error: Vec<(String, f64)>,
    /// Engine; `auto` uses the fastest engine that supports the question
    #[arg(long, default_value = "auto", help_heading = "Run")]
    pub(crate) engine: Engine,
    /// Do not fold equal parts of the net
    #[arg(long, help_heading = "Run")]
    pub(crate) no_fold: bool,
    /// Means in the long run, from long simulations; warm-up is detected and excluded
    #[arg(long, help_heading = "Question", conflicts_with_all = ["until", "horizon", "warm_up", "group", "at", "samples", "reps", "engine", "max_firings", "shard"])]
    pub(crate) steady: bool,
    /// Number of independent long runs of --steady; with 1, intervals come from the means of its batches
    #[arg(long, value_name = "N", default_value = "8", requires = "steady", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Question")]
    pub(crate) steady_runs: u64,
    /// Approximate total number of firings of the long runs of --steady [default: 2 million]; with --rel-error or
    /// --abs-error, the maximum [default: 2 billion]
    #[arg(long, value_name = "N", requires = "steady", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Question")]
    pub(crate) steady_firings: Option<u64>,
    /// Write the times of all replications to a file, one per line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) samples: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
}

/// The question of a simulation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Question")]
pub(crate) struct QuestionArgs {
    /// Goal: an expression that is not 0 at the goal, `dead` (nothing can fire), or `horizon`.
    /// Default: `dead`; `horizon` for averages up to a horizon
    #[arg(long, value_name = "EXPR")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) before: UntilArgs,
    /// Maximum model time of a replication, in seconds
    #[arg(long, value_name = "T", conflicts_with = "within", allow_hyphen_values = true, value_parser = values::seconds)]
    pub(crate) horizon: Option<f64>,
    /// Model time from which averages are collected, in seconds
    #[arg(long, value_name = "T", default_value = "0", hide_default_value = true, allow_hyphen_values = true, value_parser = values::seconds)]
    pub(crate) warm_up: f64,
    /// Maximum firings of a replication [default: 10 million if there is no horizon and the goal may never be
    /// reached]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) max_firings: Option<u64>,
    /// Time-averaged number of tokens in every place
    #[arg(long)]
    pub(crate) tokens: bool,
    /// Firings per second of every transition
    #[arg(long)]
    pub(crate) throughput: bool,
    /// A reward, collected at rate EXPR per second; may be repeated
    #[arg(long, value_name = "NAME=EXPR", value_parser = values::named)]
    pub(crate) reward: Vec<(String, String)>,
    /// A reward of EXPR at each firing of a transition, or of all transitions that match a pattern with `*` and `?`;
    /// may be repeated; with the NAME of a --reward, it is added to that reward
    #[arg(long, value_name = "NAME=TRANSITION:EXPR", value_parser = values::named)]
    pub(crate) impulse: Vec<(String, String)>,
    /// Times of the first and last firing among a group of transitions (ids, or patterns with `*` and `?`); may be
    /// repeated
    #[arg(long, value_name = "NAME=T1,T2,...", value_parser = values::named)]
    pub(crate) group: Vec<(String, String)>,
    /// The mean of an expression at a model time; may be repeated
    #[arg(long, value_name = "T:EXPR", allow_hyphen_values = true, value_parser = values::timed)]
    pub(crate) at: Vec<(f64, String)>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
docs/structure.md describes what each verdict means, and when it does not hold.

Examples:
    tailspn net structure net.xml

    # some parts only
    tailspn net structure net.xml --only bounds,siphons

    # a file as PIPE 5 reads it; more time for each analysis; as JSON
    tailspn net structure net.xml --read-as pipe5 --max-time 1m --json
")]
pub(crate) struct StructureArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    /// Parts to show [default: all]; may be repeated or separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub(crate) only: Vec<StructurePart>,
    /// Maximum rows in memory during the search for invariants
    #[arg(long, value_name = "N", default_value = "100_000", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Limits")]
    pub(crate) max_rows: u64,
    /// Maximum number of siphons to search for, and of traps
    #[arg(long, value_name = "N", default_value = "10_000", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Limits")]
    pub(crate) max_sets: u64,
    /// Maximum wall time of each analysis, such as 30s or 5m
    #[arg(long, value_name = "WALL", default_value = "10s", allow_hyphen_values = true, value_parser = values::wall_time, help_heading = "Limits")]
    pub(crate) max_time: Duration,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StructurePart {
    /// Class of the net, and properties
    Class,
    /// Incidence matrices, marking, enabled transitions
    Matrices,
    /// P- and T-invariants
    Invariants,
    /// Maximum tokens in each place
    Bounds,
    /// Maximum firings per second of each transition
    Throughputs,
    /// Siphons, traps, deadlocks and liveness
    Siphons,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
