//! Where to draw a net: its own positions, and layers for the parts that have none.
//!
//! Layers are longest paths over the arcs that do not close a cycle, in file order; a simple drawing that is the same
//! every time, not a good one.

use crate::net::{ArcKind, Net, PlaceId, Point, TransitionId};

/// Distance between layers, in pixels.
const LAYER: f64 = 90.0;
/// Distance between the parts of a layer, in pixels.
const ROW: f64 = 75.0;
/// Top left corner of the drawing.
const MARGIN: f64 = 60.0;

/// A position for every place and transition.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    places: Vec<Point>,
    transitions: Vec<Point>,
}

impl Layout {
    /// The positions of a net: its own where it has them.
    pub(crate) fn of(net: &Net) -> Self {
        let known = |p: &Option<Point>| p.is_some();
        let complete =
            net.places().iter().all(|p| known(&p.position)) && net.transitions().iter().all(|t| known(&t.position));
        let drawn = if complete { Vec::new() } else { layered(net) };
        let below = below(net);
        let at = |own: Option<Point>, i: usize| {
            own.unwrap_or_else(|| {
                let p = drawn[i];
                Point { x: p.x, y: p.y + below }
            })
        };
        let count = net.places().len();
        let places = net.places().iter().enumerate().map(|(i, p)| at(p.position, i)).collect();
        let transitions = net.transitions().iter().enumerate().map(|(i, t)| at(t.position, count + i)).collect();
        Self { places, transitions }
    }

    /// Where a place is.
    pub(crate) fn place(&self, id: PlaceId) -> Point {
        self.places[id.index()]
    }

    /// Where a transition is.
    pub(crate) fn transition(&self, id: TransitionId) -> Point {
        self.transitions[id.index()]
    }
}

/// How far down parts without a position begin, so that they do not lie on those that have one.
fn below(net: &Net) -> f64 {
    let own = net.places().iter().filter_map(|p| p.position);
    let own = own.chain(net.transitions().iter().filter_map(|t| t.position));
    own.map(|p| p.y + ROW).fold(0.0, f64::max)
}

/// A position for each node: places first, then transitions.
fn layered(net: &Net) -> Vec<Point> {
    let count = net.places().len();
    let nodes = count + net.transitions().len();
    let mut next = vec![Vec::new(); nodes];
    for arc in net.arcs() {
        let (place, transition) = (arc.place.index(), count + arc.transition.index());
        match arc.kind {
            ArcKind::Output => next[transition].push(place),
            ArcKind::Input | ArcKind::Inhibitor | ArcKind::Test => next[place].push(transition),
        }
    }
    let layers = longest_paths(&next);
    let depth = layers.iter().max().map_or(0, |d| d + 1);
    let mut rows = vec![0_u32; depth];
    let mut points = Vec::with_capacity(nodes);
    for layer in layers {
        let row = &mut rows[layer];
        points.push(Point { x: MARGIN + LAYER * layer as f64, y: MARGIN + ROW * f64::from(*row) });
        *row += 1;
    }
    points
}

/// Length of the longest path to each node, over the arcs that a depth-first search does not find to go back.
fn longest_paths(next: &[Vec<usize>]) -> Vec<usize> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; next.len()];
    let mut order = Vec::with_capacity(next.len());
    let mut forward = vec![Vec::new(); next.len()];
    for root in 0..next.len() {
        if state[root] != NEW {
            continue;
        }
        state[root] = OPEN;
        let mut stack = vec![(root, 0)];
        while let Some((node, at)) = stack.pop() {
            let Some(&child) = next[node].get(at) else {
                state[node] = DONE;
                order.push(node);
                continue;
            };
            stack.push((node, at + 1));
            if state[child] != OPEN {
                forward[node].push(child);
            }
            if state[child] == NEW {
                state[child] = OPEN;
                stack.push((child, 0));
            }
        }
    }
    let mut layers = vec![0; next.len()];
    for &node in order.iter().rev() {
        for &child in &forward[node] {
            layers[child] = layers[child].max(layers[node] + 1);
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{NetBuilder, Timing};

    #[test]
    fn a_chain_is_drawn_from_left_to_right_and_a_cycle_does_not_loop() {
        let mut b = NetBuilder::new("");
        let (p, q) = (b.place("p", 1), b.place("q", 0));
        let (t, u) = (b.transition("t", Timing::exponential(1.0)), b.transition("u", Timing::exponential(1.0)));
        b.input(p, t, 1.0);
        b.output(t, q, 1.0);
        b.input(q, u, 1.0);
        b.output(u, p, 1.0);
        let layout = Layout::of(&b.build().unwrap());
        let x = [layout.place(p).x, layout.transition(t).x, layout.place(q).x, layout.transition(u).x];
        assert!(x.is_sorted_by(|a, b| a < b), "{x:?}");
    }
}
