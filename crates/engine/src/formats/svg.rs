//! A picture of a net, at its own positions or in layers where it has none.
//!
//! Places are circles with their tokens, timed transitions open boxes, immediate ones black bars. Inhibitor arcs end in
//! a small circle, test arcs are dashed.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::formats::dot::{timing_text, weight_text};
use crate::formats::layout::Layout;
use crate::formats::svg_parts::{Frame, escaped, head, path, step};
use crate::net::{Arc, ArcKind, Net, Place, PlaceId, Point, Transition, TransitionId};

/// Half the size of PIPE's icons, whose position is their top left corner.
const HALF: f64 = 15.0;
/// Half the thickness of a timed and of an immediate transition.
const TIMED: f64 = 6.0;
const IMMEDIATE: f64 = 2.5;
/// Radius of a token, and of the circle at the end of an inhibitor arc.
const TOKEN: f64 = 3.2;
const RING: f64 = 4.0;
/// Width of a character of the labels, roughly.
const LETTER: f64 = 6.2;
/// Narrowest note whose text is broken into lines of its width.
const NARROW: f64 = 60.0;
/// Most tokens drawn as dots.
const MOST_DOTS: u32 = 5;

const STYLE: &str = "\
  text { font: 11px sans-serif; fill: #222; }\n\
  .rate, .weight { font-size: 10px; fill: #667; }\n\
  .weight, .name, .rate { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round; }\n\
  .arc { fill: none; stroke: #445; stroke-width: 1.2; }\n\
  .test { stroke-dasharray: 4 3; }\n\
  .head { fill: #445; stroke: none; }\n\
  .ring { fill: #fff; stroke: #445; stroke-width: 1.2; }\n\
  .place { fill: #fff; stroke: #223; stroke-width: 1.6; }\n\
  .timed { fill: #fff; stroke: #223; stroke-width: 1.6; }\n\
  .immediate { fill: #111; }\n\
  .note { fill: #fffbe8; stroke: #cb9; }\n";

/// A net as an SVG document.
///
/// ```
/// use tailspn_engine::formats::svg::svg;
/// use tailspn_engine::net::NetBuilder;
///
/// let mut b = NetBuilder::new("");
/// b.place("a < b", 2);
/// let text = svg(&b.build().unwrap());
/// assert!(text.starts_with("<svg") && text.contains("a &lt; b"));
/// ```
pub fn svg(net: &Net) -> String {
    let mut drawing = Drawing { net, layout: Layout::of(net), out: String::new(), frame: Frame::default() };
    drawing.notes();
    drawing.arcs();
    for i in 0..net.places().len() {
        drawing.place(PlaceId::from_index(i));
    }
    for i in 0..net.transitions().len() {
        drawing.transition(TransitionId::from_index(i));
    }
    drawing.document()
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

struct Drawing<'n> {
    net: &'n Net,
    layout: Layout,
    out: String,
    frame: Frame,
}

impl Drawing<'_> {
    fn document(self) -> String {
        self.frame.document(self.net.name(), STYLE, &self.out)
    }

    fn text(&mut self, at: Point, class: &str, anchor: Anchor, text: &str) {
        let width = LETTER * text.chars().count() as f64;
        let (word, left) = match anchor {
            Anchor::Start => ("start", 0.0),
            Anchor::Middle => ("middle", width / 2.0),
            Anchor::End => ("end", width),
        };
        self.frame.add(Point { x: at.x - left, y: at.y - 10.0 }, 0.0);
        self.frame.add(Point { x: at.x - left + width, y: at.y + 3.0 }, 0.0);
        let _ = writeln!(
            self.out,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{word}\">{}</text>",
            at.x,
            at.y,
            escaped(text)
        );
    }

    fn notes(&mut self) {
        for note in self.net.annotations() {
            let (at, size) = (note.position, note.size);
            let room = if size.x >= NARROW { ((size.x - 10.0) / LETTER).floor() } else { f64::INFINITY };
            let lines: Vec<_> = note.text.lines().flat_map(|line| wrapped(line, room)).collect();
            let longest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
            let width = size.x.max(LETTER * longest as f64 + 10.0);
            let height = size.y.max(14.0 * lines.len() as f64 + 6.0);
            self.frame.add(at, 0.0);
            self.frame.add(Point { x: at.x + width, y: at.y + height }, 0.0);
            if note.border {
                let (x, y) = (at.x, at.y);
                let _ = writeln!(
                    self.out,
                    "<rect class=\"note\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\"/>"
                );
            }
            for (i, line) in lines.iter().enumerate() {
                self.text(Point { x: at.x + 5.0, y: at.y + 14.0 * (i + 1) as f64 }, "", Anchor::Start, line);
            }
        }
    }

    /// A name where PIPE draws it: right-aligned at its offset, or below where the offset is nothing.
    fn name(&mut self, corner: Point, offset: Point, name: &str) {
        if offset == Point::default() {
            let below = Point { x: corner.x + HALF, y: corner.y + 2.0 * HALF + 13.0 };
            self.text(below, "name", Anchor::Middle, name);
        } else {
            self.text(plus(corner, offset), "name", Anchor::End, name);
        }
    }

    fn place(&mut self, id: PlaceId) {
        let place = self.net.place(id);
        let corner = self.layout.place(id);
        let centre = centre(corner);
        self.frame.add(centre, HALF);
        let _ = writeln!(
            self.out,
            "<circle class=\"place\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{HALF}\"><title>{}</title></circle>",
            centre.x,
            centre.y,
            escaped(&place.id)
        );
        self.tokens(place, centre);
        self.name(corner, place.label_offset, place.label());
        if let Some(capacity) = place.capacity {
            let above = Point { x: centre.x + HALF, y: centre.y - HALF + 2.0 };
            self.text(above, "rate", Anchor::Start, &format!("≤{capacity}"));
        }
    }

    fn tokens(&mut self, place: &Place, centre: Point) {
        if place.initial_total() > u64::from(MOST_DOTS) {
            let used: Vec<_> = self.net.classes().iter().zip(&place.initial).filter(|(_, n)| **n > 0).collect();
            let top = centre.y + 4.0 - 5.0 * (used.len() as f64 - 1.0);
            for (row, (class, tokens)) in used.into_iter().enumerate() {
                let y = top + 10.0 * row as f64;
                let colour = colour(class.colour);
                let _ = writeln!(
                    self.out,
                    "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" style=\"fill:{colour}\">{tokens}</text>",
                    centre.x
                );
            }
            return;
        }
        let colours = self.net.classes().iter().zip(&place.initial);
        let colours: Vec<_> = colours.flat_map(|(class, n)| (0..*n).map(|_| colour(class.colour))).collect();
        for (colour, spot) in colours.iter().zip(dots(colours.len())) {
            let at = plus(centre, spot);
            let _ = writeln!(
                self.out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{TOKEN}\" style=\"fill:{colour}\"/>",
                at.x, at.y
            );
        }
    }

    fn transition(&mut self, id: TransitionId) {
        let transition = self.net.transition(id);
        let corner = self.layout.transition(id);
        let centre = centre(corner);
        self.frame.add(centre, HALF);
        let half = thickness(transition);
        let class = if transition.is_immediate() { "immediate" } else { "timed" };
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             transform=\"rotate({} {:.1} {:.1})\"><title>{}</title></rect>",
            centre.x - half,
            centre.y - HALF,
            2.0 * half,
            2.0 * HALF,
            transition.orientation,
            centre.x,
            centre.y,
            escaped(&transition.id)
        );
        let rate = timing_text(self.net, &transition.timing);
        let lies = (45..135).contains(&transition.orientation.rem_euclid(180));
        // arcs reach a bar that lies from above and below, so its texts are at its right end
        let (dx, dy, anchor) =
            if lies { (HALF + 5.0, -3.0, Anchor::Start) } else { (0.0, -HALF - 6.0, Anchor::Middle) };
        if !rate.is_empty() {
            self.text(Point { x: centre.x + dx, y: centre.y + dy }, "rate", anchor, &rate);
        }
        if lies && transition.label_offset == Point::default() {
            self.text(Point { x: centre.x + dx, y: centre.y + 10.0 }, "name", anchor, transition.label());
        } else {
            self.name(corner, transition.label_offset, transition.label());
        }
    }

    fn arcs(&mut self) {
        let net = self.net;
        let key = |arc: &Arc| (arc.place, arc.transition, arc.kind == ArcKind::Output);
        let ways: HashSet<_> = net.arcs().iter().map(key).collect();
        for arc in net.arcs() {
            // arcs there and back would lie on one another
            let both = ways.contains(&(arc.place, arc.transition, arc.kind != ArcKind::Output));
            self.arc(arc, both);
        }
    }

    /// The bends between the ends of an arc.
    fn bends(&self, arc: &Arc, from: Point, to: Point, both: bool) -> (Vec<Point>, bool) {
        if arc.path.len() > 2 {
            let inner = &arc.path[1..arc.path.len() - 1];
            return (inner.iter().map(|p| p.point).collect(), arc.path.iter().any(|p| p.curved));
        }
        if !both {
            return (Vec::new(), false);
        }
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = dx.hypot(dy).max(1.0);
        let aside = 0.12 * length.min(120.0) + 3.0;
        let middle = Point { x: f64::midpoint(from.x, to.x), y: f64::midpoint(from.y, to.y) };
        (vec![Point { x: middle.x - dy / length * aside, y: middle.y + dx / length * aside }], true)
    }

    fn arc(&mut self, arc: &Arc, both: bool) {
        let net = self.net;
        let place = centre(self.layout.place(arc.place));
        let bar = centre(self.layout.transition(arc.transition));
        let out = arc.kind == ArcKind::Output;
        let (from, to) = if out { (bar, place) } else { (place, bar) };
        let (bends, curved) = self.bends(arc, from, to, both);
        let (toward, before) = (bends.first().copied().unwrap_or(to), bends.last().copied().unwrap_or(from));
        let transition = net.transition(arc.transition);
        let border = |at_place: bool, toward: Point| {
            if at_place { on_circle(place, toward) } else { on_bar(bar, transition, toward) }
        };
        let start = border(!out, toward);
        let tip = border(out, before);
        let mut points = vec![start];
        points.extend(&bends);
        points.push(if arc.kind == ArcKind::Inhibitor {
            step(tip, before, 2.0 * RING)
        } else {
            step(tip, before, 4.0)
        });
        points.iter().for_each(|p| self.frame.add(*p, 2.0));
        let class = if arc.kind == ArcKind::Test { "arc test" } else { "arc" };
        let tint = arc.weights.iter().find(|w| w.weight.as_number() != Some(0.0));
        let tint = tint.map_or([0; 3], |w| net.classes()[w.class.index()].colour);
        let style =
            |property| if tint == [0; 3] { String::new() } else { format!(" style=\"{property}:{}\"", colour(tint)) };
        let _ = writeln!(self.out, "<path class=\"{class}\"{} d=\"{}\"/>", style("stroke"), path(&points, curved));
        if arc.kind == ArcKind::Inhibitor {
            let ring = step(tip, before, RING);
            let _ = writeln!(
                self.out,
                "<circle class=\"ring\"{} cx=\"{:.1}\" cy=\"{:.1}\" r=\"{RING}\"/>",
                style("stroke"),
                ring.x,
                ring.y
            );
        } else {
            let _ = writeln!(self.out, "<path class=\"head\"{} d=\"{}\"/>", style("fill"), head(tip, before));
        }
        let weight = weight_text(net, arc);
        if !weight.is_empty() {
            let middle = points.len() / 2;
            let (a, b) = (points[middle - 1], points[middle]);
            let at = if curved && points.len() % 2 == 1 {
                points[middle]
            } else {
                Point { x: f64::midpoint(a.x, b.x), y: f64::midpoint(a.y, b.y) }
            };
            self.text(Point { x: at.x, y: at.y - 4.0 }, "weight", Anchor::Middle, &weight);
        }
    }
}

/// Lines of at most `room` characters, broken between words.
fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && (last.chars().count() + word.chars().count() + 1) as f64 > room {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn centre(corner: Point) -> Point {
    Point { x: corner.x + HALF, y: corner.y + HALF }
}

fn plus(a: Point, b: Point) -> Point {
    Point { x: a.x + b.x, y: a.y + b.y }
}

fn thickness(transition: &Transition) -> f64 {
    if transition.is_immediate() { IMMEDIATE } else { TIMED }
}

fn on_circle(centre: Point, toward: Point) -> Point {
    step(centre, toward, HALF + 0.8)
}

/// Where the line from the middle of a bar leaves it.
fn on_bar(centre: Point, transition: &Transition, toward: Point) -> Point {
    let (sin, cos) = f64::from(transition.orientation).to_radians().sin_cos();
    let (dx, dy) = (toward.x - centre.x, toward.y - centre.y);
    // in the frame of the upright bar
    let (u, v) = (dx * cos + dy * sin, dy * cos - dx * sin);
    let (half, long) = (thickness(transition) + 0.8, HALF + 0.8);
    let scale = (half / u.abs()).min(long / v.abs());
    if !scale.is_finite() {
        return centre;
    }
    Point { x: centre.x + dx * scale, y: centre.y + dy * scale }
}

/// Where up to five tokens lie in a place.
fn dots(count: usize) -> Vec<Point> {
    const D: f64 = 6.0;
    let spots: &[(f64, f64)] = match count {
        0 => &[],
        1 => &[(0.0, 0.0)],
        2 => &[(-1.0, 0.0), (1.0, 0.0)],
        3 => &[(0.0, -1.0), (-1.0, 0.8), (1.0, 0.8)],
        4 => &[(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)],
        _ => &[(-1.0, -1.0), (1.0, -1.0), (0.0, 0.0), (-1.0, 1.0), (1.0, 1.0)],
    };
    spots.iter().map(|(x, y)| Point { x: x * D, y: y * D }).collect()
}

fn colour([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{NetBuilder, Timing};

    #[test]
    fn every_part_is_drawn_once() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 3);
        let q = b.place("q", 12);
        let t = b.transition("t", Timing::exponential(1.5));
        let u = b.transition("u", Timing::immediate(1.0, 1));
        b.input(p, t, 1.0);
        b.output(t, q, 4.0);
        b.inhibitor(q, u, 1.0);
        let text = svg(&b.build().unwrap());
        let count = |what: &str| text.matches(what).count();
        assert_eq!(count("class=\"place\""), 2);
        assert_eq!((count("class=\"timed\""), count("class=\"immediate\"")), (1, 1));
        assert_eq!((count("class=\"head\""), count("class=\"ring\"")), (2, 1));
        assert_eq!(count(&format!("r=\"{TOKEN}\"")), 3);
        assert!(text.contains(">12</text>") && text.contains(">4</text>"));
    }

    #[test]
    fn an_empty_net_and_nodes_on_one_spot_are_drawn() {
        assert!(svg(&NetBuilder::new("").build().unwrap()).ends_with("</svg>\n"));
        let mut b = NetBuilder::new("");
        let p = b.place("p", 0);
        let t = b.transition("t", Timing::exponential(1.0));
        b.place_mut(p).position = Some(Point { x: 5.0, y: 5.0 });
        b.transition_mut(t).position = Some(Point { x: 5.0, y: 5.0 });
        b.input(p, t, 1.0);
        let text = svg(&b.build().unwrap());
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
