//! A common error type for programs with several stages and `?`.
//!
//! Defines the list of every error type of the workspace; a test compares the list with the source.

use std::error::Error as StdError;
use std::fmt;

use crate::Problems;

/// An error of any stage of the library.
///
/// Every error type of the library converts into this one with `?`. It displays the message of the original error, and
/// [`downcast_ref`](Self::downcast_ref) returns the original error. The `Debug` form is the message too, so that a
/// `main` that returns it prints a sentence:
///
/// ```
/// use tailspn::net::{NetBuilder, Timing};
///
/// fn net() -> Result<tailspn::net::Net, tailspn::Error> {
///     let mut builder = NetBuilder::new("broken");
///     builder.transition("repair", Timing::exponential(-1.0));
///     Ok(builder.build()?)
/// }
/// let error = net().unwrap_err();
/// assert_eq!(error.to_string(), "the rate of transition `repair` is -1; it must be finite and not negative");
/// assert!(error.is::<tailspn::net::BuildError>());
/// ```
pub struct Error(Box<dyn StdError + Send + Sync>);

impl Error {
    /// Wraps an error of another library or of the caller.
    pub fn new(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// Returns true if the error is of type `E`.
    pub fn is<E: StdError + 'static>(&self) -> bool {
        self.0.is::<E>()
    }

    /// Returns the error as type `E`; `None` if it is of another type.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Conversions from error types into [`Error`].
macro_rules! converts {
    ($($(#[$attribute:meta])* $error:ty),* $(,)?) => {$(
        $(#[$attribute])*
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::new(error)
            }
        }
    )*};
}

converts![
    std::io::Error,
    // engine
    crate::compile::CompileProblem,
    crate::compile::ScheduleObstacle,
    crate::estimate::BatchError,
    crate::estimate::CompareError,
    crate::estimate::EstimateError,
    crate::estimate::ProportionError,
    crate::formats::ExportError,
    crate::formats::ReadFileError,
    crate::formats::WriteFileError,
    crate::formats::pipe::Fault,
    crate::formats::pipe::ReadError,
    crate::net::BuildProblem,
    crate::net::GuardError,
    crate::net::LawProblem,
    crate::net::LookupError,
    crate::net::expr::ExprError,
    crate::semantics::Fault,
    crate::share::ShareError,
    crate::sim::DirectObstacle,
    crate::sim::NoQuantity,
    crate::sim::QuestionError,
    crate::sim::RareError,
    crate::sim::RunError,
    crate::sim::ScoreError,
    crate::sim::ShiftError,
    crate::sim::SimulationError,
    crate::sim::SteadyError,
    crate::sim::SteadyRunError,
    #[cfg(feature = "gpu")]
    crate::sim::gpu::GpuError,
    // exact
    crate::answer::AnswerError,
    crate::answer::NeedsReplications,
    crate::solve::AbsorbError,
    crate::solve::AskError,
    crate::solve::ChainProblem,
    crate::solve::CoverabilityError,
    crate::solve::DrawError,
    crate::solve::ExploreError,
    crate::solve::FixedDelayError,
    crate::solve::FormulaError,
    crate::solve::GridError,
    crate::solve::Incomplete,
    crate::solve::LinearError,
    crate::solve::PassageError,
    crate::solve::PhaseObstacle,
    crate::solve::ReplayError,
    crate::solve::SeriesParallelError,
    crate::solve::SteadyError,
    crate::solve::TransientError,
    crate::solve::Unbounded,
    crate::structure::Cut,
    // logs
    crate::trace::TraceError,
    // jobs
    crate::cluster::ExperimentError,
    crate::cluster::RunFault,
    crate::cluster::first_order::FirstOrderError,
    crate::diagnose::causes::NodeMapError,
    crate::diagnose::detection::DetectionError,
    crate::diagnose::long_tail::ProfileError,
    crate::diagnose::samples::SampleError,
    crate::diagnose::syscalls::SyscallError,
    crate::fit::ConfError,
    crate::fit::FitError,
    crate::mapreduce::AugmentError,
    crate::mapreduce::ChainProblem,
    crate::mapreduce::chain::FixedBesideRandom,
    crate::mapreduce::JobNetError,
    crate::mapreduce::analytic::JobTimeError,
    crate::mapreduce::phase_law::PhaseLawProblem,
    crate::mapreduce::task_times::PhaseTimesError,
    crate::mapreduce::task_times::PhaseWarning,
    crate::mapreduce::analytic::QuantileError,
    crate::mapreduce::SettingProblem,
    crate::plan::DataSizeError,
    crate::plan::OpenError,
    crate::plan::PlanError,
    // tables
    crate::tables::NoPrediction,
    crate::tables::RolesError,
    crate::tables::TableError,
    crate::tables::tasks::NoTasks,
    // studies
    crate::KeyProblem,
    crate::StudyError,
    crate::job_time::LogFitError,
    crate::job_time::NoCopies,
    crate::ask::RunTableError,
    crate::ask::net::NetAnswerError,
    crate::compare::CompareRunError,
    crate::subject::LoadError,
    crate::subject::ParameterError,
    crate::optimize::CostError,
    crate::optimize::PriceError,
    crate::sensitivity::SensitivityError,
    crate::sweep::ConstraintFault,
    crate::sweep::MergeError,
    crate::sweep::path::PathError,
    crate::sweep::StoreError,
    // report
    crate::report::JsonError,
    crate::report::PlotError,
    #[cfg(feature = "png")]
    crate::report::PngError,
    crate::report::ReadError,
];

/// Conversions from generic error types into [`Error`].
macro_rules! converts_all {
    ($($error:ident<$parameter:ident> in $path:path: $bound:path),* $(,)?) => {$(
        impl<$parameter: $bound + fmt::Debug + Send + Sync + 'static> From<$path> for Error {
            fn from(error: $path) -> Self {
                Self::new(error)
            }
        }
    )*};
}

converts_all![
    Problems<P> in Problems<P>: fmt::Display,
    BatchError<E> in crate::sweep::BatchError<E>: StdError,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{BuildError, BuildProblem};

    #[test]
    fn the_error_crosses_threads_and_other_error_types() {
        fn fails() -> Result<(), Error> {
            Err(std::io::Error::other("no disk"))?
        }
        fn boxed() -> Result<(), Box<dyn StdError + Send + Sync>> {
            Ok(fails()?)
        }
        assert_eq!(boxed().unwrap_err().to_string(), "no disk");
        assert_eq!(format!("{:?}", fails().unwrap_err()), "no disk");
        assert!(fails().unwrap_err().downcast_ref::<std::io::Error>().is_some());
    }

    #[test]
    fn several_problems_are_one_error_that_lists_them() {
        let empty = |kind| BuildProblem::EmptyId { kind, part: crate::net::PartRef::Arc(0) };
        let error = Error::from(Problems::check(vec![empty("place"), empty("transition")]).unwrap_err());
        assert_eq!(error.to_string(), "a place has an empty id; a transition has an empty id");
        assert_eq!(error.downcast_ref::<BuildError>().unwrap().len(), 2);
    }
}
