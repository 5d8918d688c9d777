//! Positions for drawing a net: from its file, or in layers.

use crate::formats::dot::weight_text;
use crate::formats::icon::{HALF, Icon};
use crate::formats::layered::{Drawn, Edge, Graph};
use crate::formats::route::{Route, direct, ends, steps};
use crate::formats::texts;
use crate::net::{ArcKind, Net, PathPoint, PlaceId, Point, TransitionId};

/// Top left corner of a layered drawing, and the space between it and the positioned parts.
const MARGIN: f64 = 40.0;
/// Space between a layered drawing and the notes below the drawing.
const NOTES: f64 = 24.0;
/// Minimum width of a line of notes.
const LEAST_LINE: f64 = 400.0;

/// A position for every place and transition, and a route for every arc.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    corners: Vec<Point>,
    places: usize,
    /// True if all positions come from a layered drawing.
    layered: bool,
    /// The symbols: places first, then transitions.
    pub(crate) icons: Vec<Icon>,
    /// The route of each arc; empty if the layout is only written to another file.
    pub(crate) routes: Vec<Route>,
    /// The top left corner of each note.
    pub(crate) notes: Vec<Point>,
}

impl Layout {
    /// The positions of the file, without routes; a layered drawing if the file has no positions.
    pub(crate) fn of(net: &Net) -> Self {
        if own(net).any(|p| p.is_some()) { Self::placed(net) } else { Self::layered(net) }
    }

    /// The positions of the file, with routes between them. Parts without a position are drawn in layers below the other parts.
    pub(crate) fn of_file(net: &Net) -> Self {
        let placed = Self::placed(net);
        Self { routes: direct(net, &placed.icons), ..placed }
    }

    /// Like [`Layout::of_file`], but without routes: for arcs that cross the whole drawing, routes take long to compute.
    fn placed(net: &Net) -> Self {
        let lowest = own(net).flatten().map(|p| p.y + 2.0 * HALF + MARGIN).fold(0.0, f64::max);
        let missing = own(net).any(|p| p.is_none());
        let drawn = if missing { graph(net).draw().at } else { Vec::new() };
        let at = |(i, own): (usize, Option<Point>)| own.unwrap_or_else(|| corner(drawn[i], lowest));
        let corners: Vec<Point> = own(net).enumerate().map(at).collect();
        let icons = icons(net, &corners, false);
        let notes = net.annotations().iter().map(|note| note.position).collect();
        Self { corners, places: net.places().len(), layered: false, icons, routes: Vec::new(), notes }
    }

    /// A layered drawing, regardless of the file.
    pub(crate) fn layered(net: &Net) -> Self {
        let graph = graph(net);
        let mut drawn = graph.draw();
        let moved = |p: &mut Point| *p = Point { x: p.x + MARGIN, y: p.y + MARGIN };
        drawn.at.iter_mut().chain(drawn.passed.iter_mut().flatten()).for_each(moved);
        let corners: Vec<Point> = drawn.at.iter().map(|p| Point { x: p.x - HALF, y: p.y - HALF }).collect();
        let icons = icons(net, &corners, true);
        let routes = steps(&graph.edges, &drawn, &icons);
        let notes = notes_below(net, &graph, &drawn);
        Self { corners, places: net.places().len(), layered: true, icons, routes, notes }
    }

    /// Position of a place: the top left corner of its symbol.
    pub(crate) fn place(&self, id: PlaceId) -> Point {
        self.corners[id.index()]
    }

    /// Position of a transition.
    pub(crate) fn transition(&self, id: TransitionId) -> Point {
        self.corners[self.places + id.index()]
    }

    /// The bends of an arc in a layered drawing, including both ends; none if the arc is straight.
    pub(crate) fn bends(&self, arc: usize) -> Vec<PathPoint> {
        if self.layered { self.routes[arc].bends() } else { Vec::new() }
    }

    /// Position of the name of a node in a layered drawing, as PIPE defines it: the right end of the name's base line,
    /// relative to the corner of the symbol.
    pub(crate) fn name_offset(&self, name: &str) -> Option<Point> {
        let right = || (HALF + 0.5 * texts::width(name, texts::NAME_SIZE)).round();
        self.layered.then(|| Point { x: right(), y: HALF + texts::BELOW })
    }

    /// Returns true if the positions of names come from the layered drawing, not from the file.
    pub(crate) fn is_layered(&self) -> bool {
        self.layered
    }
}

/// The net with the positions, bends and name positions of a layered drawing.
///
/// ```
/// use tailspn_engine::formats::arranged;
/// use tailspn_engine::net::NetBuilder;
///
/// let mut b = NetBuilder::new("");
/// let p = b.place("P0", 1);
/// assert!(arranged(&b.build().unwrap()).place(p).position.is_some());
/// ```
pub fn arranged(net: &Net) -> Net {
    let layout = Layout::layered(net);
    let mut builder = net.to_builder();
    for i in 0..net.places().len() {
        let id = PlaceId::from_index(i);
        let place = builder.place_mut(id);
        place.position = Some(layout.place(id));
        place.label_offset = layout.name_offset(place.label()).unwrap_or_default();
    }
    for i in 0..net.transitions().len() {
        let id = TransitionId::from_index(i);
        let transition = builder.transition_mut(id);
        (transition.position, transition.orientation) = (Some(layout.transition(id)), 0);
        transition.label_offset = layout.name_offset(transition.label()).unwrap_or_default();
    }
    (0..net.arcs().len()).for_each(|i| builder.arc_mut(i).path = layout.bends(i));
    builder.build().unwrap_or_else(|_| net.clone())
}

/// Positions of places, then of transitions.
fn own(net: &Net) -> impl Iterator<Item = Option<Point>> {
    net.places().iter().map(|p| p.position).chain(net.transitions().iter().map(|t| t.position))
}

fn corner(centre: Point, lowest: f64) -> Point {
    Point { x: centre.x + MARGIN - HALF, y: centre.y + lowest + MARGIN - HALF }
}

fn icons(net: &Net, corners: &[Point], upright: bool) -> Vec<Icon> {
    let places = net.places().iter().zip(corners).map(|(_, corner)| Icon::circle(*corner));
    let bars = net.transitions().iter().zip(&corners[net.places().len()..]);
    let bars = bars.map(|(transition, corner)| {
        let degrees = if upright { 0.0 } else { f64::from(transition.orientation) };
        Icon::bar(*corner, transition, degrees)
    });
    places.chain(bars).collect()
}

/// Places, transitions and arcs with the space that they need. Arcs that move no tokens may point in any direction.
fn graph(net: &Net) -> Graph {
    let places = net.places().iter().map(texts::place_room);
    let transitions = net.transitions().iter().map(|t| texts::transition_room(net, t));
    let edges = net.arcs().iter().map(|arc| {
        let [from, to] = ends(net, arc);
        let text = texts::width(&texts::shortened(&weight_text(net, arc)), texts::SMALL_SIZE);
        Edge { from, to, firm: matches!(arc.kind, ArcKind::Input | ArcKind::Output), text }
    });
    Graph { nodes: places.chain(transitions).collect(), edges: edges.collect() }
}

/// The notes of a net below its drawing, in lines about as wide as the drawing.
fn notes_below(net: &Net, graph: &Graph, drawn: &Drawn) -> Vec<Point> {
    let ends = drawn.at.iter().zip(&graph.nodes).map(|(at, node)| (at.x + node.half, at.y + node.down));
    let (right, bottom) = ends.fold((LEAST_LINE, 0.0), |most: (f64, f64), end| (most.0.max(end.0), most.1.max(end.1)));
    let (mut x, mut y, mut line) = (MARGIN, bottom + NOTES, 0.0);
    let next = |note| {
        let (_, width, height) = texts::note(note);
        if x > MARGIN && x + width > right {
            (x, y, line) = (MARGIN, y + line + NOTES, 0.0);
        }
        let at = Point { x, y };
        x += width + NOTES;
        line = f64::max(line, height);
        at
    };
    net.annotations().iter().map(next).collect()
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
