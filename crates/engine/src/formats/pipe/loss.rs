//! Losses of a written file compared with the net.

use crate::net::PartRef;

/// A difference between the net and what PIPE loads, in meaning or appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Loss {
    /// A delay that is not exponential becomes an exponential one of the same mean.
    Law,
    /// An Erlang delay becomes a chain of transitions.
    Chain,
    /// Several servers in a form that PIPE lacks.
    Servers,
    /// Several servers written as a rate that PIPE 5 cannot evaluate.
    ServersPipe5,
    /// An age memory.
    Memory,
    /// An inhibitor arc of weight above 1, which PIPE treats as 1.
    Inhibitor,
    /// A place and arcs that replace an inhibitor arc of weight above 1.
    Complement,
    /// A test arc that becomes a pair of arcs.
    TestArc,
    /// Parallel arcs that become one.
    ParallelArcs,
    /// An expression that PIPE cannot evaluate.
    Expression,
    /// A rate parameter that is not constant.
    Parameter,
    /// A capacity.
    Capacity,
    /// A state group.
    Group,
    /// A name that is replaced by the id.
    Name,
    /// A number beyond PIPE's range.
    Range,
    /// A character that XML cannot hold.
    Character,
    /// Elements that PIPE 5 counts as unexpected.
    Unexpected,
}

/// A part that PIPE loads differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteWarning {
    /// Kind of the loss.
    pub loss: Loss,
    /// The part of the net, if the loss is about one.
    pub part: Option<PartRef>,
    /// Description of what PIPE loads instead, with the part's id.
    pub message: String,
}
