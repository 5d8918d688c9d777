//! A proof that no replica ever holds two tokens.
//!
//! Weights `y` of the places of the folded net, at least 1 on those of the class, whose sum over the tokens no firing raises.
//! A transition that puts new tokens into the replicas needs all of them to be empty: if one held a token, the sum would be at
//! least what the transition needs and 1 more. It is safe if the sum at the start is less than that.

use crate::fold::graph::Graph;
use crate::net::{ArcKind, Net, PlaceId};

/// Small differences of sums of floats.
const TINY: f64 = 1e-9;

/// Whether the replicas of a class with these places hold at most one token each.
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
    let Some(weights) = weights(&graph, &own) else { return false };
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

/// Weights of the places whose weighted sum of tokens no firing raises, 1 where `own`; none if they are not found.
fn weights(graph: &Graph<'_>, own: &[bool]) -> Option<Vec<f64>> {
    let mut weights: Vec<f64> = own.iter().map(|&own| f64::from(u8::from(own))).collect();
    for _ in 0..=4 * graph.links.len() {
        let mut settled = true;
        for links in &graph.links {
            let mut gain = 0.0;
            for link in links {
                match (link.kind, link.weight) {
                    (ArcKind::Output, Some(n)) => gain += f64::from(n) * weights[link.place],
                    // of a weight that is not known, at least 0 are taken, and any number is put
                    (ArcKind::Output, None) if weights[link.place] > 0.0 => return None,
                    (ArcKind::Input, Some(n)) => gain -= f64::from(n) * weights[link.place],
                    _ => {}
                }
            }
            if gain <= TINY {
                continue;
            }
            settled = false;
            let payers =
                links.iter().filter(|link| link.kind == ArcKind::Input && link.weight > Some(0) && !own[link.place]);
            let payer = payers.min_by_key(|link| graph.net.places()[link.place].initial_total())?;
            weights[payer.place] += gain / f64::from(payer.weight?);
        }
        if settled {
            return Some(weights);
        }
    }
    None
}
