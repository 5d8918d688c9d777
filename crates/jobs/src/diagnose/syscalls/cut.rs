//! Truncated logs: their nodes made more calls than the logs show.
//!
//! A log ends early if the other logs of the run continue for more than a tenth of the run. Such a log was truncated at
//! the end of a line, or its node had no more work. The node is therefore judged by its times per call, and its low
//! number of calls is ignored. A log is certainly truncated if it ends inside a line, inside its compressed data, or
//! without the last row of its table. Then its node is judged only if the log ends when the other logs do.

use tailspn_common::order::median;

use crate::diagnose::syscalls::observed::NodeCalls;

/// A log that ends before the median of the other logs, by more than this share of the run, ends early. In the labelled runs of
/// docs/replications/system-calls.md, logs end within 0.4% of each other.
const EARLY_SHARE: f64 = 0.1;

/// A truncated log.
pub(super) struct Incomplete {
    /// Index of the node.
    pub(super) node: usize,
    /// True if the node can be judged anyway.
    pub(super) is_judged: bool,
    /// A sentence that describes the truncation.
    pub(super) note: String,
}

/// Returns the truncated logs, in the order of the nodes.
pub(super) fn incomplete(nodes: &[NodeCalls]) -> Vec<Incomplete> {
    let found = |at: usize, node: &NodeCalls| {
        let others = || nodes.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, node)| node);
        let name = &node.node;
        let note = match (node.span, others_span(others())) {
            (Some([_, end]), Some([from, to])) if to - end > EARLY_SHARE * (to - from) => {
                let early = format!("{name}: its log ends {:.1} s before the logs of the other nodes", to - end);
                let then = if node.cut {
                    "because it was truncated; this node is not judged"
                } else {
                    "so its number of calls is not compared"
                };
                format!("{early}, {then}")
            }
            (Some(_), Some(_)) => return None,
            _ if node.cut => {
                format!(
                    "{name}: its log was truncated, and without times the missing part is unknown; this node is not judged"
                )
            }
            _ => return None,
        };
        Some(Incomplete { node: at, is_judged: !node.cut, note })
    };
    nodes.iter().enumerate().filter_map(|(at, node)| found(at, node)).collect()
}

/// Returns the median start and the median end of logs; none if no log has times.
fn others_span<'n>(others: impl Iterator<Item = &'n NodeCalls> + Clone) -> Option<[f64; 2]> {
    let middle = |which: usize| median(others.clone().filter_map(|node| Some(node.span?[which])));
    Some([middle(0)?, middle(1)?])
}
