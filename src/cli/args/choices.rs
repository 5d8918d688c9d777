//! The values that each option accepts, with their help texts, for enums of the library.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tailspn::answer::RouteMethod;
use tailspn::diagnose::causes::{CpuShare, Edge};
use tailspn::diagnose::long_tail::PeerRule;
use tailspn::diagnose::syscalls::{Clock, Difference, Matching, Method as CallMethod, Sides};
use tailspn::sensitivity::Method;
use tailspn::sim::{Backend, EngineChoice};

/// Defines a type for each option: the accepted values and their help texts.
macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident($of:ty) { $($word:literal = $value:expr, $help:literal;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) $of);

        impl ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &[$(Self($value)),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                let words = [$(($value, $word, $help)),*];
                words.into_iter().find(|(value, ..)| *value == self.0).map(|(_, word, help)| PossibleValue::new(word).help(help))
            }
        }
    )*};
}

choices! {
    /// The device of the replications.
    BackendChoice(Backend) {
        "auto" = Backend::Auto, "The CPU, and a GPU if much work remains";
        "cpu" = Backend::Cpu, "The CPU";
        "gpu" = Backend::Gpu, "A GPU, or an error";
    }
    /// The engine of a simulation.
    Engine(EngineChoice) {
        "auto" = EngineChoice::Auto, "The fastest engine that supports the net and the question";
        "schedule" = EngineChoice::Schedule, "Max-plus evaluation, without an event list";
        "race" = EngineChoice::Race, "The token game, in its fastest form";
        "clock" = EngineChoice::Clock, "The token game; each transition draws its own delay";
        "direct" = EngineChoice::Direct, "The token game; one draw from the total rate";
        "lockstep" = EngineChoice::Lockstep, "The direct form, for a block of replications together";
    }
    /// The method of `net solve`.
    SolveMethod(RouteMethod) {
        "auto" = RouteMethod::Auto, "The method that fits the question; the output names it";
        "states" = RouteMethod::States, "The Markov chain of all markings";
        "series-parallel" = RouteMethod::SeriesParallel,
            "For the completion time of a schedule: computed from its parts, with guaranteed bounds";
    }
    /// The method of `sensitivity`.
    SensitivityMethod(Method) {
        "derivatives" = Method::Derivatives,
            "Derivatives at the base: perturbation analysis for schedules, likelihood ratios for other exponential nets";
        "each" = Method::Each, "One axis at a time, from one end to the other; all other axes keep the base values";
        "morris" = Method::Morris, "Elementary effects along random walks";
        "sobol" = Method::Sobol, "Sobol indices";
    }
    /// The measure of CPU use.
    CpuChoice(CpuShare) {
        "busy" = CpuShare::Busy, "All time that is neither idle nor waiting for a disk";
        "user" = CpuShare::User, "Time in user mode, as in the paper";
        "either" = CpuShare::Either, "Both are tested; each can be a cause";
    }
    /// The interpretation of edge detection.
    EdgeChoice(Edge) {
        "any" = Edge::IntentAny, "A cause needs load before or after the task";
        "both" = Edge::IntentBoth, "A cause needs load before and after the task";
        "printed" = Edge::Printed, "As printed in the paper: load before and after the task excludes a cause";
        "off" = Edge::Off, "No edge detection";
    }
    /// The meaning of "50% smaller than the median" of a task's peers.
    PeerChoice(PeerRule) {
        "diff" = PeerRule::Diff, "Below median / (1 + DIFF)";
        "half" = PeerRule::Half, "Below half of the median";
        "ignored" = PeerRule::Ignored, "Peers are ignored";
    }
    /// A method of diagnosis by system calls.
    SyscallMethod(CallMethod) {
        "statistical" = CallMethod::Statistical, "Totals and histograms compared with control runs, as printed";
        "semantic" = CallMethod::Semantic, "Single invocations compared with control runs, as printed";
        "improved" = CallMethod::Improved, "Times per call compared with the other nodes";
    }
    /// The clock of recorded totals.
    ClockChoice(Option<Clock>) {
        "auto" = None, "Detected from the totals";
        "wall" = Some(Clock::Wall), "`strace -c -w`";
        "processor" = Some(Clock::Processor), "`strace -c`";
    }
    /// Comparison of the invocations of two runs.
    MatchingChoice(Matching) {
        "literal" = Matching::Literal, "All arguments must be equal";
        "stable" = Matching::Stable, "Memory addresses and peer ports are ignored";
    }
    /// The base of a percentage difference.
    DifferenceChoice(Difference) {
        "greater" = Difference::OfGreater, "Relative to the greater value";
        "lesser" = Difference::OfLesser, "Relative to the lesser value";
        "mean" = Difference::OfMean, "Relative to the mean of both values";
    }
    /// The reported times of an invocation: only times above the range of the control runs, or also times below this range.
    SidesChoice(Sides) {
        "both" = Sides::Both, "Times below the minimum and above the maximum";
        "above" = Sides::Above, "Times above the maximum only";
    }
}
