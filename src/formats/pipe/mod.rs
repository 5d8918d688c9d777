//! The XML of PIPE (Platform Independent Petri net Editor), 2.x to 5.0 and PIPECore 2.0, its relatives, and PNML 2009.

mod assemble;
mod check;
mod collect;
mod complement;
mod dialect;
mod encoding;
mod erlang;
mod escape;
mod grammar;
mod instructions;
mod join;
mod names;
mod notes;
mod options;
mod problem;
mod read;
mod values;
mod write;
mod write_arc;
mod write_transition;
mod xml;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod roundtrip;

pub use check::{PipeFinding, PipeVersion, Severity, pipe_report};
pub use dialect::Dialect;
pub use encoding::decode;
pub use options::{ReadOptions, Reading};
pub use problem::{Fault, Oddity, ReadError, ReadProblem, Spot, Warning};
pub use read::{ReadNet, read};
pub use write::{Loss, Target, WriteOptions, WriteWarning, Written, write};
