//! The arguments of `study`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use tailspn::optimize::{Measure, Price};
use tailspn::share::Shard;

use crate::cli::args::{
    ChoiceArgs, FittedArgs, PartArgs, PlaceArgs, PlotArgs, PrintArgs, RunArgs, SensitivityMethod, SizeArgs, TrustArgs,
    UntilArgs,
};
use crate::cli::input::Input;
use crate::cli::values;

#[derive(Debug, Args)]
#[command(override_usage = "tailspn study [OPTIONS] <PLAN|LOG|NET>...\n       tailspn study --print-plan")]
#[command(after_long_help = "\
The file decides what is asked:
    plan of a job, or logs   which settings matter: each at half and at double
                             its value; with --deadline, the cheapest cluster
                             that meets it
    plan with [sweep]        every configuration of its axes; with --method, the
                             effect of each axis
    plan with [optimize]     the cheapest configuration that meets its deadline
    net                      the effect of each rate

docs/sweeps.md describes the plans, docs/sensitivity.md the methods. All points use the same random numbers. The exit code \
is 8 if no configuration meets the deadline, or if this is undecided.

Examples:
    # which settings of a job matter
    tailspn study job.toml
    tailspn study app.gz

    # the same as a plan, to edit
    tailspn study job.toml --print-plan > knobs.toml
    tailspn study knobs.toml --save results --plots pictures

    # continue after Ctrl-C, a kill or a full disk
    tailspn study knobs.toml --save results --resume

    # half of the points here, the others on another machine
    tailspn study knobs.toml --save part1 --shard 1/2
    tailspn study knobs.toml --save part2 --shard 2/2
    tailspn tool merge part1 part2 --save whole

    # the effect of a small change of each number; screening; shares of variance
    tailspn study knobs.toml --method derivatives
    tailspn study knobs.toml --method morris
    tailspn study knobs.toml --method sobol --rows 32

    # the rates of a net
    tailspn study net.xml --until '#(done) >= 3'

    # the cheapest cluster for a job, from logs of two runs
    tailspn study small.gz large.gz --deadline 10m --price 0.30/executor-hour

    # one of several applications in an archive; a MapReduce job from its log
    tailspn study logs.zip --app application_1724877841851_0016 \\
        --max-attempts 1000000
    tailspn study history.txt --job job_160000000000_0007 --deadline 1m \\
        --workers 1..4

    # axes and costs from a plan
    tailspn study --print-plan=deadline > deadline.toml
    tailspn study deadline.toml --deadline 90s --probability 99%
")]
pub(crate) struct StudyArgs {
    /// Plan of a study, plan or logs of a job, or a net
    #[arg(value_name = "PLAN|LOG|NET", required_unless_present = "print_plan", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<Input>,
    /// Print a plan and exit: of the settings of the job in the file, or an example with a comment on every key
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "sweep", help_heading = "Plan")]
    pub(crate) print_plan: Option<PlanKind>,
    /// Method for the effects of settings [default: for a net, derivatives]
    #[arg(long, value_enum, help_heading = "Question")]
    pub(crate) method: Option<SensitivityMethod>,
    /// Measure of the time: `mean`, or a quantile such as `p95` or `p99.9`; with a deadline, the measure that must meet it
    #[arg(long, value_name = "MEASURE", value_parser = measure, help_heading = "Question")]
    #[arg(conflicts_with_all = ["avoid", "within", "probability"])]
    pub(crate) measure: Option<Measure>,
    /// Probability with which the job must meet the deadline; 95% is the same as --measure p95
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = values::share, help_heading = "Question")]
    pub(crate) probability: Option<f64>,
    /// Price of machine time, such as 0.30/executor-hour, 0.05USD/core-hour or 0.40/node-hour [default: 1/core-hour; for
    /// MapReduce 1/node-hour]
    #[arg(long, value_name = "AMOUNT/UNIT", allow_hyphen_values = true, help_heading = "Question")]
    pub(crate) price: Option<Price>,
    /// Goal of a net: an expression that is not 0 at the goal, or `dead` (nothing can fire) [default: dead]
    #[arg(long, value_name = "EXPR", help_heading = "Question")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) before: UntilArgs,
    /// Of a net: differentiate by the mean delay of each timed transition, even if it has rate parameters
    #[arg(long, help_heading = "Question")]
    pub(crate) transitions: bool,
    #[command(flatten)]
    pub(crate) fitted: FittedArgs,
    #[command(flatten)]
    pub(crate) planned: ChoiceArgs<SizeArgs>,
    /// Replications of each point [default: 20,000 for derivatives; 200 for `morris`; 32 for `sobol`; otherwise 2,000, or
    /// the plan's]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) reps: Option<u64>,
    /// Random walks of `morris` [default: 20], or rows of samples of `sobol` [default: 256]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) rows: Option<u64>,
    /// Total replications of all points, instead of the plan's budget; points with the widest intervals get more
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, conflicts_with = "shard", help_heading = "Run")]
    pub(crate) budget_replications: Option<u64>,
    /// Wall time until which points with the widest intervals get more replications, such as 30s or 5m, instead of
    /// the plan's budget
    #[arg(long, value_name = "WALL", allow_hyphen_values = true, value_parser = values::wall_time, conflicts_with = "shard", help_heading = "Run")]
    pub(crate) budget_time: Option<Duration>,
    /// Maximum number of new points; `--resume` continues
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) max_points: Option<u64>,
    /// Continue from the results in OUTPUT, if there are any; refused if the plan has changed
    #[arg(long, requires = "save", help_heading = "Output")]
    pub(crate) resume: bool,
    /// Do not fold equal parts of the net
    #[arg(long, help_heading = "Run")]
    pub(crate) no_fold: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Run every Nth configuration, starting with number I, or part I of N of the replications; `tailspn tool merge` puts all
    /// shards together
    #[arg(long, value_name = "I/N", value_parser = values::shard, help_heading = "Parts")]
    shard: Option<Shard>,
    /// New folder for the results of a sweep: each point is written soon after it finishes. With a shard of an effect, the
    /// file of that part
    #[arg(long, value_name = "OUTPUT", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print events to standard error as JSON lines (described in docs/json.md), instead of a progress bar
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) events: Option<EventFormat>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Draws the picture of the question: a curve for one axis, a heat map for two axes, a tornado for one axis at a time,
    /// effects, or times against costs.
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
}

/// The kind of a plan that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanKind {
    /// Axes of settings
    Sweep,
    /// The cheapest configuration that meets a deadline
    Deadline,
}

/// The format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// One line of JSON per event
    Json,
}

impl StudyArgs {
    /// Returns the part of the replications of effects that is run.
    pub(crate) fn part(&self) -> PartArgs {
        PartArgs { shard: self.shard, save_part: self.save.clone() }
    }

    /// Returns the shard of the points, and the folder of results.
    pub(crate) fn points(&self) -> (Shard, Option<PathBuf>) {
        (self.shard.unwrap_or(Shard::WHOLE), self.save.clone())
    }
}

/// Parses a measure, such as `mean` or `p95`.
fn measure(text: &str) -> Result<Measure, String> {
    Measure::parse(text).ok_or_else(|| "expected `mean`, or a quantile such as `p95` or `p99.9`".to_owned())
}
