//! The XML of PIPE (Platform Independent Petri net Editor), 2.x to 5.0 and PIPECore 2.0, its relatives, and PNML 2009.
//!
//! # What is read
//!
//! | in the file | becomes |
//! |---|---|
//! | `token`, `tokenclass` | a token class; without any, `Default` |
//! | `place`: `initialMarking`, `capacity` | tokens by class; capacity 0 means unlimited |
//! | `transition`: `timed`, `rate`, `priority`, `infiniteServer` | its timing; rates may be expressions with `@` for `,` |
//! | `toolspecific rateDefinition`, `definition` | a rate parameter and its use |
//! | `arc`: `inscription`, `type`, `arcpath`, `tagged` | an input, output, inhibitor (`inhibitor`, `inhibition`) or test arc |
//! | `labels`, `stategroup` | annotations and state groups |
//! | `page`, `module`, reference nodes | their contents, as one flat net |
//! | AMAP's `deterministic` and `delay` | a fixed delay, with a warning |
//! | formulas, data types and data tokens of PIPE+ | nothing, with a warning |
//! | interface marks of PIPECore 2.0, other elements | nothing, with a warning |
//! | `<text>` instead of `<value>`, or a net with a PNML `type` | the conventions of PNML: exponential delays with rate 1, and a missing weight is 1 |
//! | pm4py's stochastic parts, `finalmarkings` | distributions, weights, priorities; state groups |
//! | untimed nets of TAPAAL, one or several components | one flat net; ids as `component.id` if there are several |
//! | colours, ages, time intervals, games, guards, reset arcs, entities of a DOCTYPE | the file is refused |
//!
//! In the expressions of rates `#(P)` counts the tokens of all classes. In an arc weight it counts the tokens
//! of the weight's class, as in PIPE 4.3; `#(P, Red)` selects a class anywhere. Ids of places take precedence
//! over names.
//!
//! If versions of PIPE read a file differently, [`ReadOptions`] selects the reading, and a [`Warning`] with line and
//! column reports it.
//!
//! # Instructions
//!
//! PIPE skips `<?tailspn key="value" …?>`. Inside a part, such instructions hold features that the part's elements cannot express:
//!
//! | part | keys |
//! |---|---|
//! | transition | `law` with its parameters, `servers`, `memory`, `rate`, `rate-by-position`, `priority`, `name`, `name-offset`, `position` |
//! | place | `capacity`, `name`, `name-offset`, `position`, `marking-by-position` |
//! | arc | `weights`, `weights-by-position`, `tagged`, `from`, `path` |
//! | definition, labels | `position`, `size` |
//! | place, transition, arc of PNML | `id`: an id that is not an XML name |
//! | any | `only-for`: the part replaces something that an instruction expresses better, and is not read |
//!
//! In PNML they are in `<toolspecific tool="tailspn">`, with the PIPE elements that PNML lacks: `rate`, `timed`,
//! `priority`, `orientation`, `capacity`, `arcpath`, `token`, `definition`, `labels`.
//!
//! Directly in the net: `net-name`; `parameter` with `value`; `arc` with `source`, `target`, `kind`, `path` and the
//! keys of an arc; `group` with `name` and `condition-0`, …. A distribution is `deterministic` (`delay`), `uniform`
//! (`low`,
//! `high`), `erlang` (`stages`, `mean`), `hyperexponential` (`probabilities`, `means`), `lognormal` (`mean`, `cv`),
//! `weibull`, `pareto` or `gamma` (`shape`, `scale`), or `empirical` (`samples`). Keys that end in `-by-position` refer to places,
//! token classes and parameters by their position in the file: `p0`, `c0`, `k0`.

mod assemble;
mod check;
mod collect;
mod complement;
mod dialect;
mod edited;
pub(crate) mod encoding;
mod erlang;
pub(crate) mod escape;
mod finding;
mod grammar;
mod instructions;
mod join;
mod loss;
mod names;
pub(crate) mod notes;
pub(crate) mod options;
mod pnml;
pub(crate) mod problem;
mod process;
mod raw;
pub(crate) mod read;
mod read_plain;
mod resolve;
pub(crate) mod spans;
mod tapaal;
mod values;
mod write;
mod write_arc;
mod write_parts;
mod write_pnml;
mod write_transition;
pub(crate) mod xml;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod meaning;
#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod roundtrip;

pub use check::{pipe_report, plain_report, written_report};
pub use dialect::Dialect;
pub use encoding::decode;
pub use finding::{PipeFinding, PipeVersion, Severity};
pub use loss::{Loss, WriteWarning};
pub use options::{ReadOptions, Reading};
#[cfg(feature = "jani")]
pub(super) use problem::spot;
pub use problem::{Fault, Oddity, ReadError, ReadProblem, Spot, Warning};
pub use read::{ReadNet, read};
pub use read_plain::read_plain;
pub use write::{Streamed, Target, WriteOptions, Written, write, write_to};
pub use write_parts::{PartWriter, WrittenParts, write_parts};
pub use write_pnml::write_pnml;
