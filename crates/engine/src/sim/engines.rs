//! The engines of the CPU, and the choice of the fastest engine that can run a net and answer a question.

use std::borrow::Cow;

use crate::compile::{Program, ScheduleObstacle, SchedulePlan, plan_schedule};
use crate::sim::engine::Engine;
use crate::sim::race::{ClockForm, DirectForm, DirectLaw, DirectObstacle, LockstepForm, Setup};
use crate::sim::run_error::RunError;
use crate::sim::schedule::{Schedule, UnfitError, Watched};

/// Choice of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The fastest suitable engine.
    #[default]
    Auto,
    /// Max-plus evaluation.
    Schedule,
    /// Token game in its fastest form.
    Race,
    /// Token game in clock form.
    Clock,
    /// Token game in direct form.
    Direct,
    /// Token game in lockstep form.
    Lockstep,
}

/// An engine that is ready, and the reasons why faster engines were not chosen.
pub(in crate::sim) struct Chosen<'a> {
    pub(in crate::sim) engine: Box<dyn Engine + 'a>,
    pub(in crate::sim) kind: Kind,
    pub(in crate::sim) reasons: Vec<String>,
}

/// The fastest suitable engine among the allowed engines.
pub(super) fn choose<'a>(choice: EngineChoice, setup: Setup<'a>, seed: u64) -> Result<Chosen<'a>, RunError> {
    choose_planned(choice, setup, seed, None)
}

/// As [`choose`], for a program whose schedule may already be known.
pub(super) fn choose_planned<'a>(
    choice: EngineChoice,
    setup: Setup<'a>,
    seed: u64,
    schedule: Option<&SchedulePlan>,
) -> Result<Chosen<'a>, RunError> {
    let mut reasons = Vec::new();
    for &kind in candidates(choice, setup.program) {
        if matches!(kind, Kind::Lockstep) && choice != EngineChoice::Lockstep && !LockstepForm::pays(setup.program) {
            reasons.push("lockstep: on this CPU, the direct form is as fast for a net of this size".to_owned());
            continue;
        }
        match kind.make(setup, seed, schedule) {
            Ok(engine) => return Ok(Chosen { engine, kind, reasons }),
            Err(obstacles) => reasons.extend(obstacles.into_iter().map(|o| format!("{}: {o}", kind.name()))),
        }
    }
    let engine = candidates(choice, setup.program)[0].name();
    Err(RunError::Engine { engine, reasons })
}

/// The engines that a choice allows, in descending order of speed for a net of this size.
fn candidates(choice: EngineChoice, program: &Program) -> &'static [Kind] {
    let small = program.timed.len() <= MOST_FOR_DIRECT;
    match choice {
        EngineChoice::Auto if small => &[Kind::Schedule, Kind::Lockstep, Kind::Direct, Kind::Clock],
        EngineChoice::Auto => &[Kind::Schedule, Kind::Clock],
        EngineChoice::Race if small => &[Kind::Lockstep, Kind::Direct, Kind::Clock],
        EngineChoice::Race | EngineChoice::Clock => &[Kind::Clock],
        EngineChoice::Schedule => &[Kind::Schedule],
        EngineChoice::Direct => &[Kind::Direct],
        EngineChoice::Lockstep => &[Kind::Lockstep],
    }
}

/// Maximum number of timed transitions for which the direct form is preferred to the clock form. By measurement (see
/// docs/performance.md), the direct form is faster up to this size, by far if many transitions are enabled. Both forms draw
/// differently, so another limit would change results.
const MOST_FOR_DIRECT: usize = 4096;

/// The engines.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) enum Kind {
    Schedule,
    Lockstep,
    Direct,
    Clock,
}

impl Kind {
    /// Name of the engine in results.
    pub(in crate::sim) fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Lockstep => "lockstep",
            Self::Direct => "direct",
            Self::Clock => "clock",
        }
    }

    /// The engine, or all reasons why it cannot run the net.
    fn make<'a>(
        self,
        setup: Setup<'a>,
        seed: u64,
        schedule: Option<&SchedulePlan>,
    ) -> Result<Box<dyn Engine + 'a>, Vec<String>> {
        let Setup { program, question, clock, .. } = setup;
        match self {
            Self::Schedule => {
                let planned =
                    schedule.map_or_else(|| plan_schedule(program).map(Cow::Owned), |plan| Ok(Cow::Borrowed(plan)));
                let plan = planned
                    .map_err(|obstacles| obstacles.iter().map(ScheduleObstacle::to_string).collect::<Vec<_>>())?;
                let schedule = Schedule::new(program, &plan, question, clock, seed, setup.keep_times);
                Ok(Box::new(Watched { schedule: schedule.map_err(UnfitError::into_vec)?, watch: setup.watch }))
            }
            Self::Lockstep => Ok(Box::new(LockstepForm::new(setup)?)),
            Self::Direct => {
                let obstacles = DirectLaw::obstacles(program, clock);
                if !obstacles.is_empty() {
                    return Err(obstacles.iter().map(DirectObstacle::to_string).collect());
                }
                Ok(Box::new(DirectForm::new(setup)))
            }
            Self::Clock => Ok(Box::new(ClockForm::new(setup))),
        }
    }
}
