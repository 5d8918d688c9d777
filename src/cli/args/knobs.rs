//! The arguments of `sensitivity` and `optimize`.

use clap::{Args, ValueHint};

use tailspn::optimize::{Measure, Price};

use crate::cli::args::{
    ChoiceArgs, FittedArgs, PartArgs, PlanArgs, PlotArgs, PrintArgs, RunArgs, SensitivityMethod, SizeArgs, TrustArgs,
    UntilArgs,
};
use crate::cli::input::Input;
use crate::cli::values;

#[derive(Debug, Args)]
#[command(override_usage = "tailspn sensitivity [OPTIONS] <PLAN|NET>\n       tailspn sensitivity --print-plan")]
#[command(after_long_help = "\
PLAN is a plan of `tailspn sweep`; the design in it is ignored. docs/sensitivity.md describes the methods.

Examples:
    tailspn sweep --print-plan > knobs.toml

    # the effect of a small change of each number
    tailspn sensitivity knobs.toml

    # the effect of each axis from end to end
    tailspn sensitivity knobs.toml --method each

    # screening over the whole ranges
    tailspn sensitivity knobs.toml --method morris

    # the share of the variance that each setting explains, roughly
    tailspn sensitivity knobs.toml --method sobol --rows 32

    # the rates of a net
    tailspn sensitivity net.xml --until '#(done) >= 3'

    # the effect of each rate on the probability of reaching the goal in time
    tailspn sensitivity net.xml --until '#(done) >= 3' --within 10

    # a job with less data, and fewer replications, as JSON
    tailspn sensitivity knobs.toml --input-size 1GB --reps 2000 --json

    # half of the replications; `tailspn tool merge` puts the halves together
    tailspn sensitivity knobs.toml --reps 2000 --shard 1/2 -o half-effects.part
")]
#[command(group(clap::ArgGroup::new("written").args(["plots", "output"]).multiple(true)))]
pub(crate) struct SensitivityArgs {
    /// Sweep plan, to analyse its axes, or net, to analyse its rate parameters
    #[arg(value_name = "PLAN|NET", required_unless_present = "print_plan", value_hint = ValueHint::AnyPath)]
    pub(crate) subject: Option<Input>,
    /// Method of the sensitivity analysis
    #[arg(long, value_enum, default_value = "derivatives")]
    pub(crate) method: SensitivityMethod,
    /// Measure of the time to analyse: `mean`, or a quantile such as `p95` or `p99.9`
    #[arg(long, value_name = "MEASURE", default_value = "mean", value_parser = measure)]
    #[arg(conflicts_with_all = ["avoid", "within"])]
    pub(crate) measure: Measure,
    /// Goal of a net: an expression that is not 0 at the goal, or `dead` (nothing can fire) [default: dead]
    #[arg(long, value_name = "EXPR", help_heading = "Question")]
    pub(crate) until: Option<String>,
    /// Differentiate by the mean delay of each timed transition, even if the net has rate parameters
    #[arg(long)]
    pub(crate) transitions: bool,
    #[command(flatten)]
    pub(crate) before: UntilArgs,
    #[command(flatten)]
    pub(crate) planned: PlanArgs,
    /// Random walks of `morris` [default: 20], or rows of samples of `sobol` [default: 256]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) rows: Option<u64>,
    /// Replications of each point [default: 20,000 for derivatives; 2,000 for `each`; 200 for `morris`; 32 for `sobol`;
    /// 2,000 for a quantile by `morris` or `sobol`]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count, help_heading = "Run")]
    pub(crate) reps: Option<u64>,
    /// Do not fold equal parts of the net
    #[arg(long, help_heading = "Run")]
    pub(crate) no_fold: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Draws the picture of the method: bars, a tornado, elementary effects, or indices.
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Replace files that exist
    #[arg(long, requires = "written", help_heading = "Output")]
    pub(crate) force: bool,
    /// Print a plan with a comment on every key and exit
    #[arg(long, exclusive = true, help_heading = "Plan")]
    pub(crate) print_plan: bool,
}

#[derive(Debug, Args)]
#[command(override_usage = "tailspn optimize [OPTIONS] <LOG|PLAN>...\n       tailspn optimize --print-plan")]
#[command(after_long_help = "\
From logs, `tailspn fit` makes the plan first. The unit of the price determines what is varied: the executors and cores of a \
Spark job, or the workers of a MapReduce job. A plan with a section [optimize] states its own axes and costs. See \
docs/sensitivity.md.

The exit code is 8 if no configuration meets the deadline, or if this is undecided.

Examples:
    # the cheapest cluster for a Spark job, from logs of two runs
    tailspn optimize small.gz large.gz --deadline 10m --price 0.30/executor-hour

    # for more data, with a choice of cores
    tailspn optimize small.gz large.gz --input-size 10GB --deadline 1h \\
        --price 0.05/core-hour --cores 2,4,8

    # the workers of a planned job
    tailspn optimize job.toml --deadline 10m --price 0.40/node-hour \\
        --workers 4..40

    # one of several applications in an archive, on two threads, as JSON
    tailspn optimize logs.zip --app application_1724877841851_0016 \\
        --max-attempts 1000000 --deadline 1m --threads 2 --json

    # the workers of a MapReduce job, from its log
    tailspn optimize history.txt --job job_160000000000_0007 --deadline 1m \\
        --workers 1..4

    # axes and costs from a plan
    tailspn optimize --print-plan > deadline.toml
    tailspn optimize deadline.toml --deadline 90s --probability 99%
")]
pub(crate) struct OptimizeArgs {
    /// Logs of runs of a job, the plan of a job, or the plan of an optimisation
    #[arg(value_name = "LOG|PLAN", required_unless_present = "print_plan", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<Input>,
    /// Price of machine time, such as 0.30/executor-hour, $0.05/core-hour or 0.40/node-hour [default:
    /// 1/core-hour; for MapReduce 1/node-hour]
    #[arg(long, value_name = "AMOUNT/UNIT", allow_hyphen_values = true, help_heading = "Cost of a job")]
    pub(crate) price: Option<Price>,
    #[command(flatten)]
    pub(crate) fitted: FittedArgs,
    /// Measure that must meet the deadline, such as `mean`, `p95` or `p99.9`, instead of the plan's
    #[arg(long, value_name = "MEASURE", value_parser = measure)]
    pub(crate) measure: Option<Measure>,
    /// Probability with which the job must meet the deadline; 95% is the same as --measure p95
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = values::share, conflicts_with = "measure")]
    pub(crate) probability: Option<f64>,
    #[command(flatten)]
    pub(crate) planned: ChoiceArgs<SizeArgs>,
    /// Seed of every point, instead of the plan's
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = values::count, help_heading = "Run")]
    pub(crate) seed: Option<u64>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::threads, help_heading = "Run")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Draws the time of each evaluated point against the cost.
    #[command(flatten)]
    pub(crate) plots: PlotArgs,
    /// Replace pictures that exist
    #[arg(long, requires = "plots", help_heading = "Output")]
    pub(crate) force: bool,
    /// Print a plan with a comment on every key and exit
    #[arg(long, exclusive = true, help_heading = "Plan")]
    pub(crate) print_plan: bool,
}

/// Parses a measure, such as `mean` or `p95`.
fn measure(text: &str) -> Result<Measure, String> {
    Measure::parse(text).ok_or_else(|| "expected `mean`, or a quantile such as `p95` or `p99.9`".to_owned())
}
