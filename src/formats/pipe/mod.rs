//! The XML of PIPE (Platform Independent Petri net Editor), 2.x to 5.0 and PIPECore 2.0, its relatives, and PNML 2009.

mod assemble;
mod collect;
mod dialect;
mod encoding;
mod instructions;
mod join;
mod names;
mod notes;
mod options;
mod problem;
mod read;
mod values;
mod xml;

#[cfg(test)]
mod corpus;

pub use dialect::Dialect;
pub use encoding::decode;
pub use options::{ReadOptions, Reading};
pub use problem::{Fault, Oddity, ReadError, ReadProblem, Spot, Warning};
pub use read::{ReadNet, read};
