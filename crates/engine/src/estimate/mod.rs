//! Estimates from samples, with their uncertainty: moments, quantiles and confidence intervals.
//!
//! ```text
//! u64 ticks ──▶ Moments, TickHistogram ─┐
//! f64       ──▶ FloatMoments ───────────┼──▶ Estimate (value ± half width), Interval (low, value, high)
//! slices    ──▶ batch, compare ─────────┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | mean and variance of many samples, merged over threads | [`moments`] |
//! | quantiles, CDF and histogram in bounded memory | [`histogram`] |
//! | quantiles of samples that were kept | [`quantile`] |
//! | interval of a mean; the result types and their error | [`mean`] |
//! | a number with its uncertainty, as reports contain it | [`measured`] |
//! | interval of a standard deviation | [`spread`] |
//! | interval of a probability from counts | [`proportion`] |
//! | steady state from long runs | [`batch`] |
//! | how many more replications are needed | [`stop`] |
//! | is A faster than B, under common random numbers | [`compare`] |
//! | normal, Student, beta and binomial distribution | [`distribution`] |
//! | Poisson probabilities for uniformisation | [`poisson`] |
//!
//! Guarantees:
//!
//! * [`Moments`] and [`TickHistogram`] contain only integers: merging in any order, from any number
//!   of threads, gives the same bits as one long run.
//! * A number that would be meaningless is an error, never NaN and never 0.
//! * This module does not draw random numbers, read a clock or depend on a simulator. Ticks become
//!   seconds by [`Estimate::scaled`] and [`Interval::scaled`].

pub mod batch;
pub mod compare;
pub mod distribution;
pub mod gamma;
pub mod histogram;
pub mod mean;
pub mod measured;
mod measured_text;
pub mod moments;
pub mod poisson;
pub mod proportion;
pub mod quantile;
pub mod spread;
pub mod stop;

pub use batch::{BatchError, SteadyRuns, SteadyState, long_run_mean, steady_state, steady_state_of_runs};
pub use compare::{CompareError, paired_difference, paired_ratio};
pub use distribution::{normal_cdf, normal_quantile, student_quantile, student_tail};
pub use gamma::{gamma_log_quantile, gamma_tails};
pub use histogram::{Bin, TickHistogram};
pub use mean::{Estimate, EstimateError, Interval, Method, mean_interval};
pub use measured::{Doubt, Measured};
pub use moments::{FloatMoments, Moments};
pub use poisson::PoissonWindow;
pub use proportion::{ProportionError, clopper_pearson, wilson};
pub use quantile::{Ranks, interval_ranks, quantile_interval_of_sorted, quantile_of_sorted};
pub use spread::standard_deviation_interval;
pub use stop::StopRule;
pub use tailspn_common::order::median;

/// Confidence level of all intervals, unless a caller chooses another one.
pub const LEVEL: f64 = 0.9;
