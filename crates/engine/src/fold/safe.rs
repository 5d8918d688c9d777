//! Proofs of upper bounds on tokens in places, and proofs that no replica ever holds two tokens.
//!
//! Uses weights `y` of the places of the folded net, at least 1 on the places of the class, such that no firing raises
//! the weighted sum of tokens. A transition that produces new tokens in the replicas needs all replicas to be empty. If
//! a replica held a token, the sum would be at least 1 above the sum that the transition needs. The class is safe if
//! the sum at the start is less than the needed sum plus 1.

use std::collections::BTreeSet;

use crate::fold::graph::Graph;
use crate::net::{ArcKind, Net, PlaceId};

/// Tolerance for sums of floats.
const TINY: f64 = 1e-9;

/// Returns true if the replicas of a class with these places hold at most one token each.
pub(super) fn is_safe(net: &Net, places: &[PlaceId]) -> bool {
    let graph = Graph::new(net);
    let mut own = vec![false; net.places().len()];
    places.iter().for_each(|place| own[place.index()] = true);
    let sources: Vec<usize> = (0..graph.links.len())
        .filter(|&t| {
            let touches = |kind| graph.links[t].iter().any(|link| link.kind == kind && own[link.place]);
            touches(ArcKind::Output) && !touches(ArcKind::Input)
        })
        .collect();
    if sources.is_empty() {
        return true;
    }
    let Ok(weights) = weights(&graph, &own, &vec![false; own.len()]) else { return false };
    let start: f64 = net.places().iter().zip(&weights).map(|(p, y)| p.initial_total() as f64 * y).sum();
    sources.iter().all(|&t| {
        let needed: f64 = graph.links[t]
            .iter()
            .filter(|link| link.kind == ArcKind::Input)
            .map(|link| f64::from(link.weight.unwrap_or(0)) * weights[link.place])
            .sum();
        start - needed < 1.0 - TINY
    })
}

/// The maximum number of tokens in a place, if a weighted sum of tokens bounds it.
pub(super) fn bound(graph: &Graph<'_>, place: usize) -> Option<u32> {
    let mut own = vec![false; graph.touching.len()];
    own[place] = true;
    let mut useless = vec![false; own.len()];
    loop {
        match weights(graph, &own, &useless) {
            Ok(weights) => {
                let start: f64 =
                    graph.net.places().iter().zip(weights).map(|(p, y)| p.initial_total() as f64 * y).sum();
                return (start < f64::from(u32::MAX)).then_some((start + TINY) as u32);
            }
            Err(None) => return None,
            Err(Some(t)) => {
                // an output that no input compensates must not have a weight either
                let puts = graph.links[t].iter().filter(|link| link.kind == ArcKind::Output && !own[link.place]);
                let new = puts.filter(|link| !std::mem::replace(&mut useless[link.place], true)).count();
                if new == 0 {
                    return None;
                }
            }
        }
    }
}

/// Weights of the places such that no firing raises the weighted sum of tokens. A weight is 1 for the places `own`,
/// and 0 for the places `useless`. The error is a transition that raises every such sum, if that is the reason.
fn weights(graph: &Graph<'_>, own: &[bool], useless: &[bool]) -> Result<Vec<f64>, Option<usize>> {
    let mut weights: Vec<f64> = own.iter().map(|&own| f64::from(u8::from(own))).collect();
    let around = |place: usize| graph.touching[place].iter().map(|&(t, _)| t);
    // in each round, in ascending order, only transitions at places whose weights have changed
    let mut round: BTreeSet<usize> = (0..own.len()).filter(|&place| own[place]).flat_map(around).collect();
    for _ in 0..=4 * graph.links.len() {
        let mut next = BTreeSet::new();
        while let Some(t) = round.pop_first() {
            let links = &graph.links[t];
            let mut gain = 0.0;
            for link in links {
                match (link.kind, link.weight) {
                    (ArcKind::Output, Some(n)) => gain += f64::from(n) * weights[link.place],
                    // an arc of unknown weight may consume no token, or produce any number
                    (ArcKind::Output, None) if weights[link.place] > 0.0 => return Err(Some(t)),
                    (ArcKind::Input, Some(n)) => gain -= f64::from(n) * weights[link.place],
                    _ => {}
                }
            }
            if gain <= TINY {
                continue;
            }
            let payers = links.iter().filter(|link| {
                link.kind == ArcKind::Input && link.weight > Some(0) && !own[link.place] && !useless[link.place]
            });
            let payer = payers.min_by_key(|link| graph.net.places()[link.place].initial_total()).ok_or(Some(t))?;
            weights[payer.place] += gain / f64::from(payer.weight.ok_or(None)?);
            for other in around(payer.place) {
                if other > t {
                    round.insert(other)
                } else {
                    next.insert(other)
                };
            }
        }
        if next.is_empty() {
            return Ok(weights);
        }
        round = next;
    }
    Err(None)
}
