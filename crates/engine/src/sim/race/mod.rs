//! The race engine: the token game, for every net.
//!
//! * [`ClockForm`]: each transition draws its own delay, and the next one is on top of an indexed heap. Any
//!   distribution.
//! * [`DirectForm`]: one draw from the total rate gives the time, another draw the transition. Exponential nets.
//! * [`LockstepForm`]: the direct form for small nets, a block of replications at a time.
//!
//! All forms use the same [`Game`](game::Game) and check timed transitions in tangible markings only. So a transition
//! counts as enabled throughout if a firing disables it and the immediate firings that follow enable it again.

mod ahead;
mod blockers;
mod clock;
mod compact;
mod crowd;
mod direct;
mod direct_law;
mod game;
mod guards;
mod heap;
mod lockstep;
mod observe;
mod rates;
mod units;
mod walker;

pub(crate) use clock::ClockForm;
#[cfg(feature = "gpu")]
pub(crate) use clock::clock_firings;
#[cfg(feature = "gpu")]
pub(crate) use direct::DIRECT_FIRINGS;
pub(crate) use direct::DirectForm;
pub use direct_law::{DirectLaw, DirectObstacle};
pub(crate) use game::Stop;
#[cfg(feature = "gpu")]
pub(crate) use guards::Guards;
pub(crate) use lockstep::LockstepForm;
pub(crate) use observe::{Areas, Observer};
pub(crate) use rates::RunningRates;
pub(crate) use walker::{Start, Stay, WalkForm, Walker};

use crate::compile::Program;
use crate::sim::clock::Clock;
use crate::sim::question::Question;
use crate::watch::Watch;

/// The run that an engine is built for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    /// The net.
    pub(crate) program: &'a Program,
    /// The question.
    pub(crate) question: &'a Question,
    /// The tick.
    pub(crate) clock: Clock,
    /// The two halves of the seed.
    pub(crate) key: [u32; 2],
    /// True if individual passage times are stored.
    pub(crate) keep_times: bool,
    /// Watch that can end the run early, even during a replication.
    pub(crate) watch: &'a dyn Watch,
}

/// Runs `$play` with the cheapest observer that covers the question.
macro_rules! with_observer {
    ($setup:expr, $observer:ident => $play:expr) => {{
        let Setup { program, question, clock, .. } = $setup;
        if !question.is_passage_only() {
            let $observer = observe::Everything::new(program, question, clock);
            $play
        } else if !question.groups.is_empty() {
            let $observer = observe::Phases::new(program, question);
            $play
        } else {
            let $observer = observe::Blind;
            $play
        }
    }};
}
pub(crate) use with_observer;

#[cfg(test)]
mod tests;
