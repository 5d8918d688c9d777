//! Connections between pairs of nodes: whose address is whose, and how long connecting took between each two.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::observed::NodeCalls;
use crate::diagnose::syscalls::tally::Tally;

/// Two nodes, in the order of their names.
pub type Pair = [String; 2];

/// Connections between two different nodes, in both directions together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pairs(Vec<(Pair, Tally)>);

impl Pairs {
    /// The pairs in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Pair, Tally)> {
        self.0.iter().map(|(pair, tally)| (pair, *tally))
    }

    /// Mean times of connecting between a node and each other one, from the least to the greatest, in seconds.
    pub fn means_of(&self, node: &str) -> Vec<f64> {
        let of_node = self.iter().filter(|(pair, _)| pair.iter().any(|name| name == node));
        let mut means: Vec<f64> = of_node.filter_map(|(_, tally)| tally.mean()).collect();
        means.sort_by(f64::total_cmp);
        means
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A pair in the order of its names.
pub(super) fn pair(a: &str, b: &str) -> Pair {
    if a <= b { [a.to_owned(), b.to_owned()] } else { [b.to_owned(), a.to_owned()] }
}

/// Which node has an address, for addresses that only one node has.
pub(super) fn owners(nodes: &[NodeCalls]) -> BTreeMap<&str, &str> {
    let mut owners: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for node in nodes {
        // a node may be called by its address
        for address in node.addresses.iter().chain([&node.node]) {
            let entry = owners.entry(address.as_str()).or_insert(Some(node.node.as_str()));
            if *entry != Some(node.node.as_str()) {
                *entry = None;
            }
        }
    }
    owners.into_iter().filter_map(|(address, owner)| Some((address, owner?))).collect()
}

/// Connections between the nodes of a run. A connection of a node to itself is between no two.
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
