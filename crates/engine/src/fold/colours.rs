//! Colour refinement: indistinguishable places and transitions get equal colours.
//!
//! A colour is a hash of a node's attributes and, round after round, of its neighbours' colours. Equal
//! colours only mark candidates: parts to fold are compared exactly afterwards.

use std::collections::HashMap;

use crate::fold::graph::{Graph, tokens_of};
use crate::fold::hash::{mix, mix_all, roles, shape, timing};
use crate::fold::keep::Keep;
use crate::net::expr::Expr;
use crate::net::{Delay, Timing};

/// Maximum number of rounds, after which refinement stops even if colours still split.
const MOST_ROUNDS: usize = 100;

/// The colours of a net: places first, then transitions.
#[derive(Debug)]
pub(super) struct Colours {
    places: usize,
    colour: Vec<u64>,
    /// Both ends of each edge, and its label.
    edges: Vec<(u32, u32, u64)>,
    distinct: usize,
}

impl Colours {
    /// Initial colours, from attributes and from the parts that a question distinguishes.
    pub(super) fn new(graph: &Graph<'_>, keep: &Keep) -> Self {
        let net = graph.net;
        let places = net.places().iter().map(|p| {
            let classes = p.initial.iter().skip(1).map(|&tokens| u64::from(tokens));
            mix_all(p.initial_total(), [p.capacity.map_or(0, |c| u64::from(c) + 1)].into_iter().chain(classes))
        });
        let transitions = net.transitions().iter().map(|t| mix(51, timing(&t.timing)));
        let mut colours = Self {
            places: net.places().len(),
            colour: places.chain(transitions).collect(),
            edges: Vec::new(),
            distinct: 0,
        };
        for (t, links) in graph.links.iter().enumerate() {
            for link in links {
                let label = mix(mix(61, link.kind as u64), link.weight.map_or(u64::MAX, u64::from));
                let label = if link.class == 0 { label } else { mix(label, link.class as u64) };
                colours.edge(link.place, t, label);
                if link.weight.is_none() {
                    colours.edge(link.place, t, shape(link.expression));
                    colours.expression(link.expression, t, 62);
                }
            }
            match &net.transitions()[t].timing {
                Timing::Immediate { weight: number, .. }
                | Timing::Timed { delay: Delay::Exponential { rate: number }, .. } => colours.expression(number, t, 63),
                Timing::Timed { .. } => {}
            }
        }
        // a place in the value of a parameter belongs to everything that uses the parameter
        for parameter in net.parameters() {
            parameter.value.for_each_leaf(&mut |leaf| {
                if let Some(place) = tokens_of(leaf) {
                    colours.single_out(place.index());
                }
            });
        }
        colours.distinguish(keep);
        colours
    }

    /// Gives different colours to parts that a question distinguishes.
    fn distinguish(&mut self, keep: &Keep) {
        for (i, expression) in (0_u64..).zip(&keep.expressions) {
            let node = self.colour.len();
            self.colour.push(mix(71, i));
            self.expression(expression, node - self.places, 72);
        }
        for (i, group) in (0_u64..).zip(&keep.groups) {
            for &t in group {
                let own = &mut self.colour[self.places + t];
                *own = own.wrapping_add(mix(73, i));
            }
        }
        for (label, t, expression) in &keep.impulses {
            let own = &mut self.colour[self.places + t];
            *own = own.wrapping_add(mix_all(74, [*label as u64, shape(expression)]));
            self.expression(expression, *t, mix(75, *label as u64));
        }
    }

    fn edge(&mut self, place: usize, t: usize, label: u64) {
        self.edges.push((place as u32, (self.places + t) as u32, label));
    }

    /// Edges to the places that an expression of transition `t` reads.
    fn expression(&mut self, expression: &Expr, t: usize, label: u64) {
        if expression.as_number().is_some() {
            return;
        }
        let (places, edges) = (self.places, &mut self.edges);
        roles(expression, label, &mut |leaf, role| {
            if let Some(place) = tokens_of(leaf) {
                edges.push((place.index() as u32, (places + t) as u32, role));
            }
        });
    }

    /// Gives a node a unique colour.
    pub(super) fn single_out(&mut self, node: usize) {
        self.colour[node] = mix_all(81, [node as u64, self.colour[node]]);
    }

    /// Refines until colours no longer split.
    pub(super) fn refine(&mut self) {
        self.distinct = refine(&mut self.colour, &self.edges);
    }

    /// The edges within each part, with nodes as positions in the part. A part is a list of nodes, in which transitions are
    /// numbered after all places.
    pub(super) fn edges_within(&self, parts: &[Vec<usize>]) -> Vec<Vec<(u32, u32, u64)>> {
        let mut position = vec![None; self.colour.len()];
        for (i, nodes) in parts.iter().enumerate() {
            for (slot, &node) in (0_u32..).zip(nodes) {
                position[node] = Some((i, slot));
            }
        }
        let mut edges = vec![Vec::new(); parts.len()];
        for &(place, t, label) in &self.edges {
            if let (Some((i, place)), Some((j, t))) = (position[place as usize], position[t as usize])
                && i == j
            {
                edges[i].push((place, t, label));
            }
        }
        edges
    }

    /// Per place and transition: true if another node has the same colour.
    pub(super) fn alike(&self) -> Vec<bool> {
        let mut count: HashMap<u64, u32> = HashMap::with_capacity(self.distinct);
        self.colour.iter().for_each(|&colour| *count.entry(colour).or_default() += 1);
        self.colour.iter().map(|colour| count[colour] > 1).collect()
    }

    /// Colour of a place.
    pub(super) fn of_place(&self, place: usize) -> u64 {
        self.colour[place]
    }

    /// Colour of a transition.
    pub(super) fn of_transition(&self, t: usize) -> u64 {
        self.colour[self.places + t]
    }
}

/// Refines colours along edges, each given by both ends and a label, until they no longer split; returns the number of different colours.
pub(super) fn refine(colour: &mut Vec<u64>, edges: &[(u32, u32, u64)]) -> usize {
    let mut before = count(colour);
    for _ in 0..MOST_ROUNDS {
        let mut next: Vec<u64> = colour.iter().map(|&own| mix(91, own)).collect();
        for &(a, b, label) in edges {
            let (a, b) = (a as usize, b as usize);
            next[a] = next[a].wrapping_add(mix(label, colour[b]));
            next[b] = next[b].wrapping_add(mix(label, colour[a]));
        }
        *colour = next;
        let distinct = count(colour);
        if distinct == before {
            break;
        }
        before = distinct;
    }
    before
}

fn count(colour: &[u64]) -> usize {
    let mut sorted = colour.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}
