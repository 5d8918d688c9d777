//! One error for programs that go through several stages with `?`.

use crate::compile::CompileError;
use crate::formats::pipe::ReadError;
use crate::net::BuildProblem;
use crate::net::expr::ExprError;
use crate::sim::RunError;
use crate::trace::TraceError;

/// An error of any stage. Each stage has an error of its own, which says more; this one is for `main` functions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that is no net.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Parts that do not make a net.
    #[error("{}", joined(.0))]
    Build(Vec<BuildProblem>),
    /// An expression that does not fit the net.
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// A net that cannot be compiled.
    #[error("{}", joined(.0))]
    Compile(Vec<CompileError>),
    /// A simulation that could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A log that could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A file that could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<Vec<BuildProblem>> for Error {
    fn from(problems: Vec<BuildProblem>) -> Self {
        Self::Build(problems)
    }
}

impl From<Vec<CompileError>> for Error {
    fn from(errors: Vec<CompileError>) -> Self {
        Self::Compile(errors)
    }
}

fn joined<T: ToString>(problems: &[T]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
