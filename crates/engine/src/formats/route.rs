//! The routes of arcs between the symbols of nodes.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use crate::formats::icon::Icon;
use crate::formats::layered::{Drawn, Edge, ZONE};
use crate::formats::near::{Near, Rect};
use crate::formats::svg_parts::{bend, step};
use crate::net::{Arc, ArcKind, Net, PathPoint, Point};

/// Distances by which a straight arc may be bent to avoid a node, tried in this order.
const ASIDE: [f64; 9] = [0.0, 18.0, -18.0, 34.0, -34.0, 54.0, -54.0, 80.0, -80.0];
/// Number of arcs without a useful bend after which no more bends are tried.
const MOST_HOPELESS: usize = 100;
/// Space that a bent arc keeps to nodes.
const CLEAR: f64 = 3.0;
/// Number of lines that approximate a curve.
const PIECES: u32 = 16;
/// Maximum length of a piece of a route.
const PIECE: f64 = 24.0;
/// Number of points of a piece.
const SAMPLES: u32 = 8;
/// Maximum distance between two arcs that meet a node on the same side.
const PORTS: f64 = 7.0;
/// Half the length of the part of a side on which arcs meet the node.
const SIDE: f64 = 11.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Straight lines.
    Lines,
    /// One smooth curve.
    Curve,
    /// Horizontal lines through columns, and between them curves that start and end horizontally.
    Steps,
}

/// The route of an arc, from border to border.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    points: Vec<Point>,
    shape: Shape,
}

impl Route {
    /// The end of the arc, and the last point before it.
    pub(crate) fn tip(&self) -> (Point, Point) {
        let last = self.points.len() - 1;
        (self.points[last], self.points[last - 1])
    }

    /// The same route with its last `length` pixels removed.
    pub(crate) fn without_end(&self, length: f64) -> Self {
        let mut shorter = self.clone();
        let (tip, before) = self.tip();
        let last = shorter.points.len() - 1;
        shorter.points[last] = step(tip, before, length);
        shorter
    }

    /// The control points of the piece that ends at point `i`, if it is a curve.
    fn curve(&self, i: usize) -> Option<[Point; 2]> {
        let (a, b) = (self.points[i - 1], self.points[i]);
        match self.shape {
            Shape::Lines => None,
            Shape::Curve => Some(bend(&self.points, i)),
            Shape::Steps => {
                let x = f64::midpoint(a.x, b.x);
                (i.is_multiple_of(2) && (a.y - b.y).abs() > 0.05).then_some([Point { x, y: a.y }, Point { x, y: b.y }])
            }
        }
    }

    /// The route as the attribute `d` of an SVG path.
    pub(crate) fn path(&self) -> String {
        let mut d = format!("M{:.1} {:.1}", self.points[0].x, self.points[0].y);
        for (i, b) in self.points.iter().enumerate().skip(1) {
            if let Some([c, e]) = self.curve(i) {
                let _ = write!(d, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", c.x, c.y, e.x, e.y, b.x, b.y);
            } else if self.shape == Shape::Lines || i + 1 == self.points.len() || self.curve(i + 1).is_some() {
                // for consecutive horizontal lines, only the last one sets the target
                let _ = write!(d, "L{:.1} {:.1}", b.x, b.y);
            }
        }
        d
    }

    /// The route as points joined by straight lines.
    pub(crate) fn flat(&self) -> Vec<Point> {
        let mut flat = vec![self.points[0]];
        for (i, &b) in self.points.iter().enumerate().skip(1) {
            let a = self.points[i - 1];
            if let Some([c, d]) = self.curve(i) {
                flat.extend((1..PIECES).map(|k| cubic([a, c, d, b], f64::from(k) / f64::from(PIECES))));
            }
            flat.push(b);
        }
        flat
    }

    /// The bends that PIPE draws, for a route of straight lines: all points, including both ends. Empty without bends.
    pub(crate) fn bends(&self) -> Vec<PathPoint> {
        let mut points = self.points.clone();
        let mut at = 1;
        while at + 1 < points.len() {
            let (a, b, c) = (points[at - 1], points[at], points[at + 1]);
            if ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)).abs() < 1.0 {
                points.remove(at);
            } else {
                at += 1;
            }
        }
        if points.len() < 3 {
            return Vec::new();
        }
        points.into_iter().map(|point| PathPoint { point, curved: false }).collect()
    }
}

fn cubic(p: [Point; 4], t: f64) -> Point {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    let sum = |of: fn(&Point) -> f64| p.iter().zip(weights).map(|(p, w)| w * of(p)).sum();
    Point { x: sum(|p| p.x), y: sum(|p| p.y) }
}

/// The icons that an arc belongs to, its start first.
pub(crate) fn ends(net: &Net, arc: &Arc) -> [usize; 2] {
    let (place, transition) = (arc.place.index(), net.places().len() + arc.transition.index());
    if arc.kind == ArcKind::Output { [transition, place] } else { [place, transition] }
}

/// An index of the icons by position.
pub(crate) fn near_icons(icons: &[Icon]) -> Near {
    let mut near = Near::default();
    icons.iter().enumerate().for_each(|(i, icon)| near.add(i, Rect::around(icon.centre, icon.reach())));
    near
}

/// The lines of a route in short pieces, so that each touches few boxes.
pub(crate) fn pieces(flat: &[Point]) -> impl Iterator<Item = (Point, Point)> + '_ {
    flat.windows(2).flat_map(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let count = ((a.x - b.x).hypot(a.y - b.y) / PIECE).clamp(1.0, 1e4).ceil();
        let at = move |k: u32| between(a, b, f64::from(k) / count);
        (0..count as u32).map(move |k| (at(k), at(k + 1)))
    })
}

fn between(a: Point, b: Point, share: f64) -> Point {
    Point { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}

/// Returns true if a route meets an icon that is not one of its ends, or comes closer than `margin` to such an icon.
pub(crate) fn crosses(flat: &[Point], own: [usize; 2], icons: &[Icon], near: &Near, margin: f64) -> bool {
    pieces(flat).any(|(a, b)| {
        let rect = Rect::of(a, b).wider(margin.max(0.0) + 1.0);
        near.touching(&rect).into_iter().filter(|icon| !own.contains(icon)).any(|icon| {
            (0..=SAMPLES).any(|k| icons[icon].covers(between(a, b, f64::from(k) / f64::from(SAMPLES)), margin))
        })
    })
}

/// The routes of arcs in a net that is drawn at the positions of its file: the paths of the file, otherwise straight
/// lines. Arcs between the same two nodes, and lines that would cross a node, are bent.
pub(crate) fn direct(net: &Net, icons: &[Icon]) -> Vec<Route> {
    let near = near_icons(icons);
    let mut between: HashMap<_, Vec<usize>> = HashMap::new();
    for (i, arc) in net.arcs().iter().enumerate() {
        between.entry((arc.place, arc.transition)).or_default().push(i);
    }
    let mut hopeless = 0;
    let route = |(i, arc): (usize, &Arc)| {
        let own = ends(net, arc);
        let [from, to] = own.map(|end| icons[end]);
        if arc.path.len() > 2 {
            let inner = arc.path[1..arc.path.len() - 1].iter().map(|p| p.point).collect();
            return joined(from, inner, to, arc.path.iter().any(|p| p.curved));
        }
        let all = &between[&(arc.place, arc.transition)];
        let number = all.iter().position(|other| *other == i).unwrap_or(0);
        let bent = |more: f64| {
            let (dx, dy) = (to.centre.x - from.centre.x, to.centre.y - from.centre.y);
            let length = dx.hypot(dy).max(1.0);
            let space = 2.0 * (0.12 * length.min(120.0) + 3.0);
            // the same side for both directions of the arc
            let side = if arc.kind == ArcKind::Output { -1.0 } else { 1.0 };
            let aside = side * space * (number as f64 - 0.5 * (all.len() as f64 - 1.0)) + more;
            if aside == 0.0 {
                return joined(from, Vec::new(), to, false);
            }
            let x = f64::midpoint(from.centre.x, to.centre.x) - dy / length * aside;
            let y = f64::midpoint(from.centre.y, to.centre.y) + dx / length * aside;
            joined(from, vec![Point { x, y }], to, true)
        };
        let tried = if hopeless < MOST_HOPELESS { ASIDE.len() } else { 1 };
        let mut ways = ASIDE.iter().take(tried).map(|more| bent(*more));
        ways.find(|way| !crosses(&way.flat(), own, icons, &near, CLEAR)).unwrap_or_else(|| {
            hopeless += 1;
            bent(0.0)
        })
    };
    net.arcs().iter().enumerate().map(route).collect()
}

fn joined(from: Icon, inner: Vec<Point>, to: Icon, curved: bool) -> Route {
    let toward = inner.first().copied().unwrap_or(to.centre);
    let before = inner.last().copied().unwrap_or(from.centre);
    let mut points = vec![from.border(toward)];
    points.extend(inner);
    points.push(to.border(before));
    Route { points, shape: if curved { Shape::Curve } else { Shape::Lines } }
}

/// The height that an arc comes from, the arc, and true if the arc starts at the node.
type Meeting = (f64, usize, bool);

/// The routes of arcs in a layered drawing. Arcs that meet a node on the same side are placed one below the other.
pub(crate) fn steps(edges: &[Edge], drawn: &Drawn, icons: &[Icon]) -> Vec<Route> {
    let next = |edge: usize, start: bool| {
        let Edge { from, to, .. } = edges[edge];
        let passed = &drawn.passed[edge];
        let (inner, other) = if start { (passed.first(), to) } else { (passed.last(), from) };
        inner.copied().unwrap_or(drawn.at[other])
    };
    let mut meeting: BTreeMap<(usize, bool), Vec<Meeting>> = BTreeMap::new();
    for (i, edge) in edges.iter().enumerate() {
        for (node, start) in [(edge.from, true), (edge.to, false)] {
            let toward = next(i, start);
            meeting.entry((node, toward.x > drawn.at[node].x)).or_default().push((toward.y, i, start));
        }
    }
    let mut ports = vec![[(0.0, 0.0); 2]; edges.len()];
    for ((_, right), mut ends) in meeting {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let gaps = (ends.len() as f64 - 1.0).max(1.0);
        let apart = PORTS.min(2.0 * SIDE / gaps);
        for (k, (_, edge, start)) in ends.iter().enumerate() {
            let dy = apart * (k as f64 - 0.5 * (ends.len() as f64 - 1.0));
            ports[*edge][usize::from(!start)] = (if right { 1.0 } else { -1.0 }, dy);
        }
    }
    let route = |(i, edge): (usize, &Edge)| {
        let [(side, dy), (end_side, end_dy)] = ports[i];
        let at_edge = |icon: Icon, side: f64, dy: f64| Point { x: icon.centre.x + side * ZONE, y: icon.centre.y + dy };
        let (from, to) = (icons[edge.from], icons[edge.to]);
        let mut points = vec![from.side(side, dy), at_edge(from, side, dy)];
        for p in &drawn.passed[i] {
            points.extend([Point { x: p.x - side * ZONE, y: p.y }, Point { x: p.x + side * ZONE, y: p.y }]);
        }
        points.extend([at_edge(to, end_side, end_dy), to.side(end_side, end_dy)]);
        Route { points, shape: Shape::Steps }
    };
    edges.iter().enumerate().map(route).collect()
}
