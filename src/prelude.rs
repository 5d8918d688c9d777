//! Everything that most programs need: `use tailspn::prelude::*;`.
//!
//! Re-exports nets and their builder, the three builders of questions about a net ([`Net::simulation`],
//! [`Net::steady_state`], [`Solve::solution`]), plans of jobs and their estimate ([`EstimateJob`]), the studies
//! ([`Sweep`], [`Sensitivity`], [`Optimization`], [`WhatIf`]), documents, and numbers with their errors.

#[doc(no_inline)]
pub use crate::answer::{AverageResult, PassageResult, Solution, Solve, StateResult};
#[doc(no_inline)]
pub use crate::ask::{EstimateJob, EstimatedJob};
#[doc(no_inline)]
pub use crate::estimate::{Doubt, Measured, StopRule};
#[doc(no_inline)]
pub use crate::net::{Delay, Law, Memory, Net, NetBuilder, PlaceId, Servers, Timing, TransitionId};
#[doc(no_inline)]
pub use crate::optimize::Optimization;
#[doc(no_inline)]
pub use crate::plan::{DataSize, InputSize, JobPlan, Planned, Planning};
#[doc(no_inline)]
pub use crate::report::{Answer, Document, Report, ReportSimulation, ReportStudy};
#[doc(no_inline)]
pub use crate::sensitivity::Sensitivity;
#[doc(no_inline)]
pub use crate::sim::{Backend, Ending, EngineChoice, Simulation, SimulationResult, SteadyResult, SteadySimulation};
#[doc(no_inline)]
pub use crate::sweep::{Axis, Sweep};
#[doc(no_inline)]
pub use crate::watch::{Unwatched, Watch};
#[doc(no_inline)]
pub use crate::whatif::WhatIf;
