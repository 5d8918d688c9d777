//! Words for values of the library: the choices of each option, and their meanings.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tailspn::answer::RouteMethod;
use tailspn::diagnose::causes::{CpuShare, Edge};
use tailspn::diagnose::long_tail::PeerRule;
use tailspn::diagnose::syscalls::{Clock, Difference, Matching, Method as CallMethod, Sides};
use tailspn::sensitivity::Method;
use tailspn::sim::{Backend, EngineChoice};

/// A type for each option: its values, and their texts in help.
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
        "lockstep" = EngineChoice::Lockstep, "The direct form, a block of replications side by side";
    }
    /// The method of `solve`.
    SolveMethod(RouteMethod) {
        "auto" = RouteMethod::Auto, "Any method that supports the question; the output names it";
        "states" = RouteMethod::States, "All markings, and their Markov chain";
        "series-parallel" = RouteMethod::SeriesParallel,
            "Completion time of a schedule, computed from its parts with guaranteed bounds, without states";
    }
    /// The method of `sensitivity`.
    SensitivityMethod(Method) {
        "derivatives" = Method::Derivatives,
            "Derivatives at the base: infinitesimal perturbation for schedules, likelihood ratios for other exponential nets";
        "each" = Method::Each, "From one end of each axis to the other, all other axes as in the base";
        "morris" = Method::Morris, "Elementary effects along random walks";
        "sobol" = Method::Sobol, "Sobol's indices";
    }
    /// The share that counts as CPU use.
    CpuChoice(CpuShare) {
        "busy" = CpuShare::Busy, "All time that is neither idle nor waiting for a disk";
        "user" = CpuShare::User, "Time in user mode, as in the paper";
        "either" = CpuShare::Either, "Either of these shares";
    }
    /// The interpretation of edge detection.
    EdgeChoice(Edge) {
        "any" = Edge::IntentAny, "Load before or after the task is enough for a cause";
        "both" = Edge::IntentBoth, "A cause needs load before and after the task";
        "printed" = Edge::Printed, "As printed in the paper: load before and after the task excludes a cause";
        "off" = Edge::Off, "No edge detection";
    }
    /// The rule for the peers of a task.
    PeerChoice(PeerRule) {
        "diff" = PeerRule::Diff, "Below median / (1 + DIFF)";
        "half" = PeerRule::Half, "Below half of the median";
        "ignored" = PeerRule::Ignored, "Ignored";
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
    /// The equality of two invocations.
    MatchingChoice(Matching) {
        "literal" = Matching::Literal, "To the letter";
        "stable" = Matching::Stable, "Except memory addresses and peer ports";
    }
    /// The base of a percentage difference.
    DifferenceChoice(Difference) {
        "greater" = Difference::OfGreater, "Relative to the greater value";
        "lesser" = Difference::OfLesser, "Relative to the lesser value";
        "mean" = Difference::OfMean, "Of their mean";
    }
    /// The sides of its range on which an invocation counts as outside.
    SidesChoice(Sides) {
        "both" = Sides::Both, "Below the minimum and above the maximum";
        "above" = Sides::Above, "Above the maximum only";
    }
}
