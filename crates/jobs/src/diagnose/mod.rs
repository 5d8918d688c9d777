//! Why a job was slow: what was found, about whom, and why it is believed.
//!
//! ```text
//! JobTrace, progress, samples of nodes, system calls ──▶ a method ──▶ Finding ──▶ report ──▶ cli
//! ```
//!
//! | question | file |
//! |---|---|
//! | what all methods say, in one form | [`finding`] |
//! | which tasks will be stragglers, while they run | [`long_tail`] |
//! | what detectors would have been worth on a job that ran | [`detection`] |
//! | what the nodes were doing, by sysstat | [`samples`] |
//! | why a task was slow, from its log and the samples of its node | [`causes`] |
//! | which node is at fault, told by its system calls | [`syscalls`] |
//!
//! Guarantees: a finding names its evidence; where the evidence is not enough its cause is [`Cause::Unknown`], never a guess.

pub mod causes;
pub mod detection;
pub mod finding;
pub mod long_tail;
pub mod samples;
pub mod syscalls;

pub use finding::{Cause, Evidence, Finding, FindingMethod, Subject};
