//! Positions of the texts in a picture of a net. Each text goes to the candidate position where it covers the least.

use crate::formats::dot::weight_text;
use crate::formats::icon::{HALF, Icon};
use crate::formats::layout::Layout;
use crate::formats::near::{Near, Rect};
use crate::formats::route::{near_icons, pieces};
use crate::formats::texts::{self, ABOVE, BELOW, DROP, NAME_SIZE, RISE, SMALL_SIZE};
use crate::net::{Net, Point};

/// Penalty of a position that covers a whole text or node.
const COVERS: f64 = 1000.0;
/// Penalty of a position for each crossed arc.
const CROSSES: f64 = 4.0;
/// Penalty of a position for each earlier candidate.
const LATER: f64 = 1.0;
/// Space between texts.
const SPACE: f64 = 1.0;
/// Space between a text and its node.
const BESIDE: f64 = 5.0;
/// Candidate positions of a weight along its arc.
const ALONG: [f64; 9] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86];

/// A text, centred in its box.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) class: &'static str,
    /// The middle of the text's base line.
    pub(crate) at: Point,
    pub(crate) rect: Rect,
    /// Share of the box that other texts and nodes cover; areas covered several times count several times.
    pub(crate) covered: f64,
}

/// All texts of a net, next to its nodes and arcs.
pub(crate) fn labels(net: &Net, layout: &Layout) -> Vec<Label> {
    let mut placer = Placer {
        icons: near_icons(&layout.icons),
        layout,
        arcs: near_arcs(layout),
        taken: Near::default(),
        labels: Vec::new(),
    };
    let names = net.places().iter().map(|p| (p.label(), p.label_offset));
    let names = names.chain(net.transitions().iter().map(|t| (t.label(), t.label_offset)));
    for (icon, (name, offset)) in layout.icons.iter().zip(names) {
        let name = texts::shortened(name);
        let mut spots = Vec::new();
        if offset != Point::default() && !layout.is_layered() {
            // PIPE draws names to the left of their offset
            let corner = Point { x: icon.centre.x - HALF, y: icon.centre.y - HALF };
            let half = 0.5 * texts::width(&name, NAME_SIZE);
            spots.push(Point { x: corner.x + offset.x - half, y: corner.y + offset.y });
        }
        spots.extend(around(icon, &name, NAME_SIZE, false));
        placer.put(name, "name", NAME_SIZE, spots);
    }
    for (place, icon) in net.places().iter().zip(&layout.icons) {
        if let Some(capacity) = place.capacity {
            let text = format!("≤{capacity}");
            let right = HALF + 0.5 * texts::width(&text, SMALL_SIZE);
            let mut spots = vec![Point { x: icon.centre.x + right, y: icon.centre.y - HALF + 2.0 }];
            spots.extend(around(icon, &text, SMALL_SIZE, true));
            placer.put(text, "rate", SMALL_SIZE, spots);
        }
    }
    for (transition, icon) in net.transitions().iter().zip(&layout.icons[net.places().len()..]) {
        let rate = texts::rate(net, transition);
        let spots = around(icon, &rate, SMALL_SIZE, true);
        placer.put(rate, "rate", SMALL_SIZE, spots);
    }
    for (arc, route) in net.arcs().iter().zip(&layout.routes) {
        let weight = texts::shortened(&weight_text(net, arc));
        if !weight.is_empty() {
            let spots = beside(&route.flat(), texts::width(&weight, SMALL_SIZE));
            placer.put(weight, "weight", SMALL_SIZE, spots);
        }
    }
    placer.labels
}

/// Positions around a node, as the middles of base lines: below and above the node, next to it, and further away.
fn around(icon: &Icon, text: &str, size: f64, above_first: bool) -> Vec<Point> {
    let reach = icon.reach();
    let (below, above) = (BELOW - HALF + reach.y, ABOVE - HALF + reach.y);
    let aside = reach.x + BESIDE + 0.5 * texts::width(text, size);
    let level = 0.5 * (RISE - DROP) * size;
    let near = if above_first { [-above, below] } else { [below, -above] };
    let offsets = [
        (0.0, near[0]),
        (aside, level),
        (-aside, level),
        (aside, near[0] * 0.7),
        (-aside, near[0] * 0.7),
        (0.0, near[1]),
        (aside, near[1] * 0.7),
        (-aside, near[1] * 0.7),
        (0.0, below + size),
        (0.0, -above - size),
        (0.0, below + 2.0 * size),
        (0.0, -above - 2.0 * size),
    ];
    offsets.iter().map(|(x, y)| Point { x: icon.centre.x + x, y: icon.centre.y + y }).collect()
}

/// Spots on both sides of an arc.
fn beside(flat: &[Point], width: f64) -> Vec<Point> {
    let lengths: Vec<f64> = flat.windows(2).map(|pair| (pair[0].x - pair[1].x).hypot(pair[0].y - pair[1].y)).collect();
    let all: f64 = lengths.iter().sum();
    let height = (RISE + DROP) * SMALL_SIZE;
    let mut spots = Vec::new();
    let mut on_it = Vec::new();
    for share in ALONG {
        let mut left = share * all;
        let mut piece = 0;
        while piece + 1 < lengths.len() && left > lengths[piece] {
            left -= lengths[piece];
            piece += 1;
        }
        let (a, b) = (flat[piece], flat[piece + 1]);
        let length = lengths[piece].max(1e-9);
        let (dx, dy) = ((b.x - a.x) / length, (b.y - a.y) / length);
        let (x, y) = (a.x + dx * left, a.y + dy * left + 0.5 * (RISE - DROP) * SMALL_SIZE);
        let aside = 0.5 * (dy.abs() * width + dx.abs() * height) + 2.0;
        // the side above the arc comes first
        let side = if dx < 0.0 { -1.0 } else { 1.0 };
        spots.extend([side, -side].map(|side| Point { x: x + side * dy * aside, y: y - side * dx * aside }));
        on_it.push(Point { x, y });
    }
    spots.extend(on_it);
    spots
}

/// The pieces of all arcs.
fn near_arcs(layout: &Layout) -> Near {
    let mut near = Near::default();
    for (number, route) in layout.routes.iter().enumerate() {
        pieces(&route.flat()).for_each(|(a, b)| near.add(number, Rect::of(a, b).wider(0.5)));
    }
    near
}

struct Placer<'l> {
    layout: &'l Layout,
    icons: Near,
    arcs: Near,
    taken: Near,
    labels: Vec<Label>,
}

impl Placer<'_> {
    /// Puts a text at the cheapest position.
    fn put(&mut self, text: String, class: &'static str, size: f64, spots: Vec<Point>) {
        if text.is_empty() {
            return;
        }
        let half = 0.5 * texts::width(&text, size);
        let rect = |at: Point| Rect {
            low: Point { x: at.x - half - SPACE, y: at.y - RISE * size - SPACE },
            high: Point { x: at.x + half + SPACE, y: at.y + DROP * size + SPACE },
        };
        let mut best: Option<(f64, Point, f64)> = None;
        for (i, at) in spots.into_iter().enumerate() {
            let (covered, crossed) = self.price(&rect(at));
            let price = COVERS * covered + CROSSES * crossed + LATER * i as f64;
            if best.is_none_or(|best| price < best.0) {
                best = Some((price, at, covered));
            }
            if price <= LATER * (i + 1) as f64 {
                break;
            }
        }
        let Some((_, at, covered)) = best else { return };
        let rect = rect(at);
        self.taken.add(self.labels.len(), rect);
        self.labels.push(Label { text, class, at, rect, covered });
    }

    /// The share of a box that is already covered, and the number of arcs that cross the box.
    fn price(&self, rect: &Rect) -> (f64, f64) {
        let texts = self.taken.touching(rect).into_iter().map(|i| self.labels[i].rect.common(rect));
        let icons = self.icons.touching(rect).into_iter().map(|i| {
            let icon = &self.layout.icons[i];
            Rect::around(icon.centre, icon.reach()).common(rect)
        });
        let covered = texts.chain(icons).sum::<f64>() / rect.area();
        (covered, self.arcs.touching(rect).len() as f64)
    }
}
