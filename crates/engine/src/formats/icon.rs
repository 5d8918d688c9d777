//! The symbols of nodes: their positions, the area that they cover, and the points where arcs meet them.

use crate::formats::svg_parts::step;
use crate::net::{Point, Transition};

/// Half the size of PIPE's icons, whose position is their top left corner.
pub(crate) const HALF: f64 = 15.0;
/// Half the thickness of the bar of a timed transition.
const TIMED: f64 = 6.0;
/// Half the thickness of the bar of an immediate transition.
const IMMEDIATE: f64 = 2.5;
/// Half the thickness of a symbol's line.
const LINE: f64 = 0.8;

/// A circle, or a bar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Icon {
    pub(crate) centre: Point,
    /// Half the thickness of the bar, and its clockwise rotation in degrees, from upright; none for a circle.
    pub(crate) bar: Option<(f64, f64)>,
}

impl Icon {
    /// The circle of a place, by its top left corner.
    pub(crate) fn circle(corner: Point) -> Self {
        Self { centre: centre(corner), bar: None }
    }

    /// The bar of a transition, by its top left corner.
    pub(crate) fn bar(corner: Point, transition: &Transition, degrees: f64) -> Self {
        let half = if transition.is_immediate() { IMMEDIATE } else { TIMED };
        Self { centre: centre(corner), bar: Some((half, degrees)) }
    }

    /// Half the width and half the height of the box around the icon.
    pub(crate) fn reach(&self) -> Point {
        let Some((half, degrees)) = self.bar else { return Point { x: HALF, y: HALF } };
        let (sin, cos) = degrees.to_radians().sin_cos();
        Point { x: half * cos.abs() + HALF * sin.abs(), y: half * sin.abs() + HALF * cos.abs() }
    }

    /// The point where the line from the middle towards `toward` leaves the symbol.
    pub(crate) fn border(&self, toward: Point) -> Point {
        let Some((half, _)) = self.bar else { return step(self.centre, toward, HALF + LINE) };
        let (u, v) = self.upright(toward);
        let scale = ((half + LINE) / u.abs()).min((HALF + LINE) / v.abs());
        if !scale.is_finite() {
            return self.centre;
        }
        let (dx, dy) = (toward.x - self.centre.x, toward.y - self.centre.y);
        Point { x: self.centre.x + dx * scale, y: self.centre.y + dy * scale }
    }

    /// The point of the left (-1) or right (1) border that lies `dy` below the middle.
    pub(crate) fn side(&self, side: f64, dy: f64) -> Point {
        let reach = HALF + LINE;
        let x = self.bar.map_or_else(|| (reach * reach - dy * dy).max(0.0).sqrt(), |(half, _)| half + LINE);
        Point { x: self.centre.x + side * x, y: self.centre.y + dy }
    }

    /// Returns true if a point lies within the symbol, or up to `margin` outside.
    pub(crate) fn covers(&self, p: Point, margin: f64) -> bool {
        match self.bar {
            None => (p.x - self.centre.x).hypot(p.y - self.centre.y) < HALF + margin,
            Some((half, _)) => {
                let (u, v) = self.upright(p);
                u.abs() < half + margin && v.abs() < HALF + margin
            }
        }
    }

    /// A point relative to the middle, in the frame of the upright bar.
    fn upright(&self, p: Point) -> (f64, f64) {
        let (sin, cos) = self.bar.map_or(0.0, |(_, degrees)| degrees).to_radians().sin_cos();
        let (dx, dy) = (p.x - self.centre.x, p.y - self.centre.y);
        (dx * cos + dy * sin, dy * cos - dx * sin)
    }
}

/// The middle of an icon by its top left corner.
pub(crate) fn centre(corner: Point) -> Point {
    Point { x: corner.x + HALF, y: corner.y + HALF }
}
