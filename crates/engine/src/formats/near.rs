//! An index of the parts of a picture by position, for fast neighbour searches.

use std::collections::HashMap;

use crate::net::Point;

/// Width and height of a cell.
const CELL: f64 = 64.0;
/// Maximum number of cells per side of a box, a limit because positions in a file are arbitrary.
const MOST_CELLS: i64 = 256;

/// An upright box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) low: Point,
    pub(crate) high: Point,
}

impl Rect {
    pub(crate) fn around(centre: Point, reach: Point) -> Self {
        Self {
            low: Point { x: centre.x - reach.x, y: centre.y - reach.y },
            high: Point { x: centre.x + reach.x, y: centre.y + reach.y },
        }
    }

    pub(crate) fn of(a: Point, b: Point) -> Self {
        Self { low: Point { x: a.x.min(b.x), y: a.y.min(b.y) }, high: Point { x: a.x.max(b.x), y: a.y.max(b.y) } }
    }

    /// The same box, wider on all sides.
    pub(crate) fn wider(&self, by: f64) -> Self {
        Self {
            low: Point { x: self.low.x - by, y: self.low.y - by },
            high: Point { x: self.high.x + by, y: self.high.y + by },
        }
    }

    /// The area that both boxes cover.
    pub(crate) fn common(&self, other: &Self) -> f64 {
        let x = self.high.x.min(other.high.x) - self.low.x.max(other.low.x);
        let y = self.high.y.min(other.high.y) - self.low.y.max(other.low.y);
        x.max(0.0) * y.max(0.0)
    }

    pub(crate) fn area(&self) -> f64 {
        (self.high.x - self.low.x) * (self.high.y - self.low.y)
    }
}

/// Boxes by the cells that they cover, each with the number of its element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    cells: HashMap<(i64, i64), Vec<(usize, Rect)>>,
}

impl Near {
    pub(crate) fn add(&mut self, number: usize, rect: Rect) {
        for cell in cells(&rect) {
            self.cells.entry(cell).or_default().push((number, rect));
        }
    }

    /// Calls `visit` for the boxes that share a cell with `rect`, possibly more than once per box.
    pub(crate) fn visit(&self, rect: &Rect, mut visit: impl FnMut(usize, &Rect)) {
        for cell in cells(rect) {
            self.cells.get(&cell).into_iter().flatten().for_each(|(number, rect)| visit(*number, rect));
        }
    }

    /// The numbers of the boxes that overlap `rect`, each once, in ascending order.
    pub(crate) fn touching(&self, rect: &Rect) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(rect, |number, other| {
            if rect.common(other) > 0.0 {
                found.push(number);
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn cells(rect: &Rect) -> impl Iterator<Item = (i64, i64)> + use<> {
    let cell = |v: f64| (v / CELL).floor() as i64;
    let [left, top, right, bottom] = [rect.low.x, rect.low.y, rect.high.x, rect.high.y].map(cell);
    let (right, bottom) = (right.min(left.saturating_add(MOST_CELLS)), bottom.min(top.saturating_add(MOST_CELLS)));
    (left..=right).flat_map(move |x| (top..=bottom).map(move |y| (x, y)))
}
