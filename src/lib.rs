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
//!
//! Data flows one way; nothing on the right is known to anything on the left. Build a net or read one, compile it, ask a
//! question:
//!
//! ```
//! use tailspn::compile::compile;
//! use tailspn::net::{NetBuilder, Timing};
//! use tailspn::sim::{Ensemble, Question, Unwatched, run};
//!
//! // two tasks side by side, each with a mean of 2 s; the job is done when both are
//! let mut b = NetBuilder::new("fork and join");
//! for i in 0..2 {
//!     let (todo, done) = (b.place(format!("todo{i}"), 1), b.place(format!("done{i}"), 0));
//!     let task = b.transition(format!("task{i}"), Timing::exponential(0.5));
//!     b.input(todo, task, 1.0);
//!     b.output(task, done, 1.0);
//! }
//! let program = compile(&b.build()?)?;
//! let ensemble = Ensemble { replications: 100_000, seed: 7, ..Ensemble::default() };
//! let run = run(&program, &Question::default(), &ensemble, &Unwatched)?;
//!
//! // exact: the mean of the larger of two exponentials, 2 s * (1 + 1/2)
//! let mean = run.samples.passage.mean_estimate(0.95).unwrap().scaled(run.samples.clock.tick());
//! assert!((mean.value - 3.0).abs() < 5.0 * mean.half_width);
//! # Ok::<(), tailspn::Error>(())
//! ```
//!
//! # Guarantees
//!
//! * **Same seed, same numbers**, on any number of threads, whatever the vector instructions, however the replications
//!   are cut into blocks and shards.
//! * **Integers**: draws, clocks and choices are integer arithmetic; times leave the engines as exact multiples of a
//!   tick. The few laws that need floats are named in [`sim::Sampler`].
//! * **One definition** of enabling and firing, in [`semantics`].
//! * **No panic on input**: what a person can write wrong is an error value with a place in the text.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

mod error;

pub use error::Error;
#[doc(inline)]
pub use tailspn_engine::{Problems, compile, estimate, formats, net, rng, semantics, sim, watch, whole_file};
#[doc(inline)]
pub use tailspn_exact::{solve, structure};
#[doc(inline)]
pub use tailspn_jobs::{cluster, diagnose, fit, mapreduce, plan_text, stages, units};
#[doc(inline)]
pub use tailspn_logs::trace;
#[doc(inline)]
pub use tailspn_report::report;
#[doc(inline)]
pub use tailspn_studies::{KeyProblem, StudyError, optimize, sensitivity, subject, sweep};
