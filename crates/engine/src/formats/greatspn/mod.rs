//! Reads and writes projects of GreatSPN's editor (`.PNPRO`), and the older pair of `.net` and `.def` files.
//!
//! # What is read
//!
//! | in the project | becomes |
//! |---|---|
//! | `constant`, `template` | a rate parameter, or a number if it shapes the net (see below) |
//! | `place`: `marking` | tokens; a place of type `CONTINUOUS` or with a `domain` is refused |
//! | `transition` of type `EXP`: `delay` | an exponential delay with this rate |
//! | `nservers` | servers; infinitely many if it is missing |
//! | type `IMM`: `weight`, `priority` | an immediate transition; 1 and 1 if they are missing |
//! | type `GEN`: `I[d]`, `Uniform[a, b]`, `Erlang[rate, k]` | a delay distribution; others are refused |
//! | `arc`: `kind`, `mult`, `point` | an input, output or inhibitor arc |
//! | `text-box` | an annotation |
//! | `measures` | a warning with the commands that compute them |
//! | guards, colours, fluid parts, type `CONT` | the file is refused |
//!
//! A constant becomes a number in the net if a marking, an arc weight, a number of servers, a priority or a delay
//! distribution uses it, directly or through other constants. The reason is that a later change of a parameter would
//! not affect such parts of the net. All other constants become rate parameters.
//! [`ReadOptions::constants`](crate::formats::pipe::ReadOptions::constants) replaces the value of either kind. A
//! template takes its value from there, from the assignments of a measure, or from the last value stored by the editor.
//!
//! A rate that depends on the marking is the total rate of all servers, as in GreatSPN's own solvers. One unit of
//! GreatSPN's drawing is 16 pixels.

mod assemble;
mod constants;
mod expression;
mod measures;
mod netdef;
mod pnpro;
mod raw;
mod words;
mod write;
mod write_pair;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod samples;

pub use netdef::read as read_net;
pub use pnpro::read as read_project;
pub use write::write;
pub use write_pair::{Pair, write_pair};
