//! A picture of a net, drawn at the positions of its file, or in layers if these are missing or unusable.
//!
//! Places are circles with their tokens, timed transitions open boxes, immediate ones black bars. Inhibitor arcs end in
//! a small circle, test arcs are dashed. The path of an arc has attributes with its ends: `p` or `t`, and the number of
//! the place or transition in the net.

use std::fmt::Write as _;

use crate::formats::icon::{HALF, Icon};
use crate::formats::picture::{Picture, Positions, Unreadable};
use crate::formats::svg_parts::{Frame, escaped, head, step};
use crate::formats::texts::{self, NOTE_LINE};
use crate::net::{Arc, ArcKind, Net, Place, Point, Transition};

/// Radius of a token.
const TOKEN: f64 = 3.2;
/// Radius of the circle at the end of an inhibitor arc.
const RING: f64 = 4.0;
/// Maximum number of tokens drawn as dots.
const MOST_DOTS: u32 = 5;

const STYLE: &str = "\
  text { font: 12px sans-serif; fill: #222; }\n\
  .rate, .weight { font-size: 11px; fill: #556; }\n\
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
    svg_at(net, Positions::Auto).0
}

/// A net as an SVG document, drawn at these positions. Also returns the reason if the file's positions are not used.
pub fn svg_at(net: &Net, positions: Positions) -> (String, Option<Unreadable>) {
    let picture = Picture::of(net, positions);
    let mut drawing = Drawing { net, picture: &picture, out: String::new(), frame: Frame::default() };
    drawing.notes();
    net.arcs().iter().enumerate().for_each(|(i, arc)| drawing.arc(i, arc));
    let (places, transitions) = picture.layout.icons.split_at(net.places().len());
    net.places().iter().zip(places).for_each(|(place, icon)| drawing.place(place, icon));
    net.transitions().iter().zip(transitions).for_each(|(transition, icon)| drawing.transition(transition, icon));
    drawing.labels();
    (drawing.frame.document(net.name(), STYLE, &drawing.out), picture.set_aside)
}

struct Drawing<'n> {
    net: &'n Net,
    picture: &'n Picture,
    out: String,
    frame: Frame,
}

impl Drawing<'_> {
    fn notes(&mut self) {
        for (note, &at) in self.net.annotations().iter().zip(&self.picture.layout.notes) {
            let (lines, width, height) = texts::note(note);
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
                let (x, y, line) = (at.x + 5.0, at.y + NOTE_LINE * (i + 1) as f64, escaped(line));
                let _ = writeln!(self.out, "<text class=\"noted\" x=\"{x:.1}\" y=\"{y:.1}\">{line}</text>");
            }
        }
    }

    fn labels(&mut self) {
        for label in &self.picture.labels {
            self.frame.add(label.rect.low, 0.0);
            self.frame.add(label.rect.high, 0.0);
            let _ = writeln!(
                self.out,
                "<text class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                label.class,
                label.at.x,
                label.at.y,
                escaped(&label.text)
            );
        }
    }

    fn place(&mut self, place: &Place, icon: &Icon) {
        let centre = icon.centre;
        self.frame.add(centre, HALF);
        let _ = writeln!(
            self.out,
            "<circle class=\"place\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{HALF}\"><title>{}</title></circle>",
            centre.x,
            centre.y,
            escaped(&place.id)
        );
        self.tokens(place, centre);
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
            let at = Point { x: centre.x + spot.x, y: centre.y + spot.y };
            let _ = writeln!(
                self.out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{TOKEN}\" style=\"fill:{colour}\"/>",
                at.x, at.y
            );
        }
    }

    fn transition(&mut self, transition: &Transition, icon: &Icon) {
        let centre = icon.centre;
        let (half, degrees) = icon.bar.unwrap_or_default();
        self.frame.add(centre, HALF);
        let class = if transition.is_immediate() { "immediate" } else { "timed" };
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             transform=\"rotate({degrees} {:.1} {:.1})\"><title>{}</title></rect>",
            centre.x - half,
            centre.y - HALF,
            2.0 * half,
            2.0 * HALF,
            centre.x,
            centre.y,
            escaped(&transition.id)
        );
    }

    fn arc(&mut self, number: usize, arc: &Arc) {
        let net = self.net;
        let route = &self.picture.layout.routes[number];
        let (tip, before) = route.tip();
        let inhibits = arc.kind == ArcKind::Inhibitor;
        let shown = route.without_end(if inhibits { 2.0 * RING } else { 4.0 });
        shown.flat().iter().for_each(|p| self.frame.add(*p, 2.0));
        let class = if arc.kind == ArcKind::Test { "arc test" } else { "arc" };
        let tint = arc.weights.iter().find(|w| w.weight.as_number() != Some(0.0));
        let tint = tint.map_or([0; 3], |w| net.classes()[w.class.index()].colour);
        let style =
            |property| if tint == [0; 3] { String::new() } else { format!(" style=\"{property}:{}\"", colour(tint)) };
        let (place, transition) = (format!("p{}", arc.place.index()), format!("t{}", arc.transition.index()));
        let (from, to) = if arc.kind == ArcKind::Output { (transition, place) } else { (place, transition) };
        let _ = writeln!(
            self.out,
            "<path class=\"{class}\"{} data-from=\"{from}\" data-to=\"{to}\" d=\"{}\"/>",
            style("stroke"),
            shown.path()
        );
        if inhibits {
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
    }
}

/// Positions of up to five tokens in a place.
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
