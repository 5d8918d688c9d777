//! Arguments of `net solve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{NetArgs, PlotArgs, PrintArgs, SolveMethod, UntilArgs};
use crate::cli::values;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Without --until, --at and --steady: the time to the dead marking if every run ends in one, otherwise the long run.

Examples:
    # the long run, and whether the net is bounded, live, free of deadlocks
    tailspn net solve net.xml

    # the distribution of the time to a goal, also as a picture
    tailspn net solve net.xml --until '#(done) >= 3' --at 10,20 \\
        --plot-cdf time.svg

    # the probability of a goal between two times, before something else
    tailspn net solve net.xml --until '#(done) >= 3' --within 5..10 \\
        --avoid '#(failed) > 0'

    # what a run costs until it reaches the goal
    tailspn net solve net.xml --until '#(done) >= 3' --reward 'work=#(queue)' \\
        --impulse 'cost=repair:2'

    # from one event to another
    tailspn net solve net.xml --from '#(queue) > 0' --until '#(done) > 0'

    # a measure of your own
    tailspn net solve net.xml --measure 'busy=#(queue) > 0' --json

    # the graph of all markings, as a picture and for PRISM
    tailspn net solve net.xml --export-svg graph.svg --export-prism net

    # without time: CTL formulas
    tailspn net solve net.xml --untimed --ctl 'AG EF (#(queue) == 0)' \\
        --ctl 'EF deadlock'

    # another value of a rate; all states, with at most 2 GB of memory
    tailspn net solve net.xml --param arrivals=1.5 --method states \\
        --max-memory 2G
")]
#[command(group(clap::ArgGroup::new("graph").multiple(true)))]
pub(crate) struct SolveArgs {
    #[command(flatten)]
    pub(crate) net: NetArgs,
    /// Distribution of the time until an expression is not 0, or until `dead` (nothing can fire)
    #[arg(long, value_name = "EXPR", help_heading = "Question")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) before: UntilArgs,
    /// A reward collected per second until the run ends; may be repeated
    #[arg(long, value_name = "NAME=EXPR", requires = "until", value_parser = values::named, help_heading = "Question")]
    pub(crate) reward: Vec<(String, String)>,
    /// A reward collected at each firing of a transition, or of all transitions that match a pattern with `*` and `?`, until the run ends;
    /// may be repeated; with the NAME of a --reward, it is added to that reward
    #[arg(long, value_name = "NAME=TRANSITION:EXPR", requires = "until", value_parser = values::named, help_heading = "Question")]
    pub(crate) impulse: Vec<(String, String)>,
    /// Measure the time from an event of the long run, instead of from the start: a firing from a marking where this
    /// expression is 0 to a marking where it is not. Firings between two markings where it is not 0 do not count
    #[arg(long, value_name = "EXPR", requires = "until", conflicts_with_all = ["avoid", "within", "reward", "impulse"], help_heading = "Question")]
    pub(crate) from: Option<String>,
    /// Averages at these model times, in seconds, and the probability of reaching the goal by each of these times
    #[arg(long, value_name = "T1,T2,...", conflicts_with = "within", value_delimiter = ',', allow_hyphen_values = true, value_parser = values::seconds, help_heading = "Question")]
    pub(crate) at: Vec<f64>,
    /// Averages in the long run, even if there is a goal
    #[arg(long, help_heading = "Question")]
    pub(crate) steady: bool,
    /// The mean of an expression; for a condition, the probability that it holds; may be repeated
    #[arg(long, value_name = "NAME=EXPR", value_parser = values::named, help_heading = "Question")]
    pub(crate) measure: Vec<(String, String)>,
    /// Answer a property of a JANI model, or all properties that match a pattern with `*` and `?`; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["until", "at", "steady", "measure", "graph", "plot_cdf", "plots", "export_mtx", "export_prism"], help_heading = "Question")]
    pub(crate) property: Vec<String>,
    /// Method. `auto` uses all states, except for the time to the dead marking of a series-parallel schedule with more
    /// than 10,000 states, which it computes from the parts
    #[arg(long, default_value = "auto", help_heading = "Method")]
    pub(crate) method: SolveMethod,
    /// Steps of the time grid of `series-parallel`; more steps give tighter bounds
    #[arg(long, value_name = "N", default_value = "262_144", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Method")]
    pub(crate) grid_steps: u64,
    /// Do not fold equal parts of the net
    #[arg(long, help_heading = "Method")]
    pub(crate) no_fold: bool,
    /// Maximum number of states [default: 50 million]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Limits")]
    pub(crate) max_states: Option<u64>,
    /// Maximum memory for states, such as 500M or 8G [default: 6G]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = values::bytes, help_heading = "Limits")]
    pub(crate) max_memory: Option<u64>,
    /// Wall time after which the command ends with the results so far, such as 30s or 5m
    #[arg(long, value_name = "WALL", allow_hyphen_values = true, value_parser = values::wall_time, help_heading = "Limits")]
    pub(crate) max_time: Option<Duration>,
    /// Explore all markings and ignore time; allows loops of immediate transitions and any delays
    #[arg(long, conflicts_with_all = ["until", "avoid", "within", "reward", "impulse", "from", "at", "steady", "measure", "method", "grid_steps", "no_fold", "plot_cdf", "plots", "draw_vanishing", "export_mtx", "export_prism"], help_heading = "Without time")]
    pub(crate) untimed: bool,
    /// Check a CTL formula, such as 'AG EF (#(idle) > 0)', 'EF deadlock' or 'E[!enabled(stop) U #(done) = 3]'; may be
    /// repeated
    #[arg(long, value_name = "FORMULA", requires = "untimed", help_heading = "Without time")]
    pub(crate) ctl: Vec<String>,
    /// Let every enabled transition fire; ignore priorities and the precedence of immediate transitions
    #[arg(long, requires = "untimed", help_heading = "Without time")]
    pub(crate) ignore_priorities: bool,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Draw the distribution function of the time to the goal, or to the dead marking; a name that ends in .png gives
    /// a PNG
    #[arg(long, value_name = "FILE.svg", conflicts_with = "within", help_heading = "Output")]
    pub(crate) plot_cdf: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Write the reachability graph for Graphviz, up to 20,000 markings; of an unbounded net, the coverability graph
    #[arg(long, value_name = "FILE", group = "graph", help_heading = "Output")]
    pub(crate) export_dot: Option<PathBuf>,
    /// Draw the graph of --export-dot, up to 300 markings; a name that ends in .png gives a PNG
    #[arg(long, value_name = "FILE.svg", group = "graph", help_heading = "Output")]
    pub(crate) export_svg: Option<PathBuf>,
    /// Also show vanishing markings in the graphs of --export-dot and --export-svg
    #[arg(long, requires = "graph", help_heading = "Output")]
    pub(crate) draw_vanishing: bool,
    /// Write the generator matrix of the Markov chain in Matrix Market format
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_mtx: Option<PathBuf>,
    /// Write the Markov chain as the PRISM files PREFIX.sta, PREFIX.tra and PREFIX.lab
    #[arg(long, value_name = "PREFIX", help_heading = "Output")]
    pub(crate) export_prism: Option<PathBuf>,
}
