//! Common parts of pictures of nets and of graphs of markings: the frame around a drawing, curves, arrow heads, text.

use std::fmt::Write as _;

use tailspn_common::visible::steers;

use crate::net::Point;

/// Space around a drawing.
const MARGIN: f64 = 24.0;
/// Length of an arrow head, and half its width.
const HEAD: [f64; 2] = [8.0, 3.2];

/// The smallest box around everything drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    corners: Option<(Point, Point)>,
}

impl Frame {
    /// Extends the frame by a square around `p`.
    pub fn add(&mut self, p: Point, reach: f64) {
        let (low, high) = (Point { x: p.x - reach, y: p.y - reach }, Point { x: p.x + reach, y: p.y + reach });
        self.corners = Some(match self.corners {
            None => (low, high),
            Some((l, h)) => {
                (Point { x: l.x.min(low.x), y: l.y.min(low.y) }, Point { x: h.x.max(high.x), y: h.y.max(high.y) })
            }
        });
    }

    /// A document of the frame's size, with a white background.
    pub fn document(self, title: &str, style: &str, drawing: &str) -> String {
        let zero = Point::default();
        let (low, high) = self.corners.unwrap_or((zero, zero));
        let (x, y) = (low.x - MARGIN, low.y - MARGIN);
        let (width, height) = (high.x - low.x + 2.0 * MARGIN, high.y - low.y + 2.0 * MARGIN);
        let title = escaped(title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{x:.1} {y:.1} {width:.1} {height:.1}\">\n<title>{title}</title>\n<style>\n{style}</style>\n\
             <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#fff\"/>\n{drawing}</svg>\n"
        )
    }
}

/// The point at `distance` from `from`, in the direction of `to`.
pub fn step(from: Point, to: Point, distance: f64) -> Point {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    if length < 1e-9 {
        return from;
    }
    Point { x: from.x + dx / length * distance, y: from.y + dy / length * distance }
}

/// An arrow head with its tip at `tip`, coming from `before`.
pub fn head(tip: Point, before: Point) -> String {
    let [length, half] = HEAD;
    let back = step(tip, before, length);
    let (dx, dy) = ((tip.x - back.x) / length * half, (tip.y - back.y) / length * half);
    format!("M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z", tip.x, tip.y, back.x - dy, back.y + dx, back.x + dy, back.y - dx)
}

/// A path through points: straight, or a Catmull-Rom curve.
pub fn path(points: &[Point], curved: bool) -> String {
    let mut d = format!("M{:.1} {:.1}", points[0].x, points[0].y);
    for i in 1..points.len() {
        let b = points[i];
        if !curved {
            let _ = write!(d, "L{:.1} {:.1}", b.x, b.y);
            continue;
        }
        let [c1, c2] = bend(points, i);
        let _ = write!(d, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", c1.x, c1.y, c2.x, c2.y, b.x, b.y);
    }
    d
}

/// The control points of the piece of a Catmull-Rom curve that ends at point `i`.
pub(crate) fn bend(points: &[Point], i: usize) -> [Point; 2] {
    let (a, b) = (points[i - 1], points[i]);
    let before = if i > 1 { points[i - 2] } else { a };
    let after = points.get(i + 1).copied().unwrap_or(b);
    [
        Point { x: a.x + (b.x - before.x) / 6.0, y: a.y + (b.y - before.y) / 6.0 },
        Point { x: b.x - (after.x - a.x) / 6.0, y: b.y - (after.y - a.y) / 6.0 },
    ]
}

/// Text with XML escapes.
pub fn escaped(text: &str) -> String {
    let shown = |c| if steers(c) { '\u{fffd}' } else { c };
    let allowed = text.chars().filter(|c| !c.is_control()).map(shown);
    let mut out = String::with_capacity(text.len());
    for c in allowed {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
