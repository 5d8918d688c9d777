//! Generalized stochastic Petri nets (GSPN) that answer one question: *how long will this data-parallel job take, what do
//! its stragglers cost, and what would change that?*
//!
//! ```text
//! PIPE XML ──▶ formats ──▶ Net ──▶ compile ──▶ Program ──▶ sim ──▶ Samples ──▶ estimate ──▶ report
//!                           ▲
//! job plan ──▶ mapreduce ───┘
//! logs ──▶ trace ──▶ JobTrace ──▶ fit ──▶ StagePlan ──▶ stages ──▶ Net
//!                      └──────────────────────────────────────────────────────────────────▶ report
//! ```
//! Build or read a net, then ask a question about it. Times are in seconds; numbers come with their intervals.
//!
//! ```
//! use tailspn::prelude::*;
//!
//! // two tasks in parallel, each with a mean of 2 s; the job is done when both are
//! let mut b = NetBuilder::new("fork and join");
//! let done = b.place("done", 0);
//! for i in 0..2 {
//!     let todo = b.place(format!("todo{i}"), 1);
//!     let task = b.transition(format!("task{i}"), Timing::exponential(0.5));
//!     b.input(todo, task, 1.0);
//!     b.output(task, done, 1.0);
//! }
//! let net = b.build()?;
//!
//! let run = net.simulation().until("#(done) >= 2")?.replications(100_000).seed(7).run()?;
//! let exact = net.solution().until("#(done) >= 2")?.passage()?;
//! println!("mean {}, exactly {}", run.passage().mean(), exact.mean()?);
//!
//! // the mean of the larger of two exponentials: 2 s * (1 + 1/2)
//! let mean = run.passage().mean();
//! assert!((mean.value - 3.0).abs() < 5.0 * mean.half_width().unwrap());
//! assert!((exact.mean()?.value - 3.0).abs() < 1e-12);
//! # Ok::<(), tailspn::Error>(())
//! ```
//!
//! | question | start with |
//! |---|---|
//! | how long until a goal, averages until then | [`Net::simulation`](net::Net::simulation) |
//! | averages in the long run | [`Net::steady_state`](net::Net::steady_state) |
//! | times and averages without replications; deadlock and liveness | [`Solve::solution`](answer::Solve::solution) |
//! | invariants, traps and bounds without states | [`structure`] |
//! | the time of a job from its plan | [`plan::JobPlan`], [`ask::EstimateJob`] |
//! | the models of a job | [`mapreduce`], [`stages`], [`cluster`] |
//! | the tasks in a log, and why they were slow | [`trace`], [`diagnose`], [`fit`] |
//! | when a run in progress will finish | [`remaining`] |
//! | the time of a job from a table of its runs | [`ask::EstimateRuns`], [`tables`] |
//! | many configurations | [`sweep`], [`sensitivity`], [`optimize`] |
//! | what a straggler policy gains, on a plan or a recorded job | [`whatif`] |
//!
//! Every error type converts into [`Error`] with `?`.
//!
//! # Guarantees
//!
//! * **Same seed, same numbers**, on any number of threads, with any vector instructions, and for any
//!   division of the replications into blocks and shards.
//! * **Integers**: draws, clocks and choices are integer arithmetic; times leave the engines as exact multiples of a
//!   tick. The few distributions that need floats are named in [`sim::Sampler`].
//! * **One definition** of enabling and firing, in [`semantics`].
//! * **No panic on input**: mistakes in user input are error values with a position in the text.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

// the commands use only the public API of the library, like any other program
#[cfg(feature = "cli")]
extern crate self as tailspn;

#[cfg(feature = "cli")]
pub mod cli;
mod error;
pub mod prelude;

pub use error::Error;
#[doc(inline)]
pub use tailspn_common::explain;
pub use tailspn_engine::{
    Problems, compile, estimate, fold, formats, net, query, rng, semantics, share, sim, simd, watch, whole_file,
};
#[doc(inline)]
pub use tailspn_exact::{answer, solve, structure};
#[doc(inline)]
pub use tailspn_jobs::{cluster, diagnose, fit, job, mapreduce, plan, run, runs, stages, units};
#[doc(inline)]
pub use tailspn_logs::trace;
#[doc(inline)]
pub use tailspn_report::report;
#[doc(inline)]
pub use tailspn_studies::{
    KeyProblem, StudyError, ask, compare, draws, job_time, optimize, remaining, sensitivity, subject, sweep, whatif,
};
#[doc(inline)]
pub use tailspn_tables as tables;

/// The samples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The samples of the page about library calls, as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
pub struct Library;
