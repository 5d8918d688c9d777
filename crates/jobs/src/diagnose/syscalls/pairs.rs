//! Connections between pairs of nodes: the owners of addresses, and the connection time between every two nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::observed::NodeCalls;
use crate::diagnose::syscalls::tally::Tally;

/// Two nodes, in the order of their names.
pub type Pair = [String; 2];

/// Connections between two different nodes, both directions combined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pairs(Vec<(Pair, Tally)>);

impl Pairs {
    /// Returns the pairs in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Pair, Tally)> {
        self.0.iter().map(|(pair, tally)| (pair, *tally))
    }

    /// Returns the mean connection times between a node and each other node, ascending, in seconds.
    pub fn means_of(&self, node: &str) -> Vec<f64> {
        let of_node = self.iter().filter(|(pair, _)| pair.iter().any(|name| name == node));
        let mut means: Vec<f64> = of_node.filter_map(|(_, tally)| tally.mean()).collect();
        means.sort_by(f64::total_cmp);
        means
    }

    /// Returns true if there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns a pair in the order of its names.
pub(super) fn pair(a: &str, b: &str) -> Pair {
    if a <= b { [a.to_owned(), b.to_owned()] } else { [b.to_owned(), a.to_owned()] }
}

/// Returns the node that owns each address, for addresses of a single node.
pub(super) fn owners(nodes: &[NodeCalls]) -> BTreeMap<&str, &str> {
    let mut owners: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for node in nodes {
        // a node may be named by its address
        for address in node.addresses.iter().chain([&node.node]) {
            let entry = owners.entry(address.as_str()).or_insert(Some(node.node.as_str()));
            if *entry != Some(node.node.as_str()) {
                *entry = None;
            }
        }
    }
    owners.into_iter().filter_map(|(address, owner)| Some((address, owner?))).collect()
}

/// Returns the connections between the nodes of a run. Connections of a node to itself are excluded.
pub(super) fn pairs_of(nodes: &[NodeCalls]) -> Pairs {
    let owners = owners(nodes);
    let mut sums: BTreeMap<Pair, Tally> = BTreeMap::new();
    for node in nodes {
        for (address, tally) in &node.peers {
            if let Some(peer) = owners.get(address.as_str()).filter(|peer| **peer != node.node) {
                sums.entry(pair(&node.node, peer)).or_default().merge(*tally);
            }
        }
    }
    Pairs(sums.into_iter().collect())
}
