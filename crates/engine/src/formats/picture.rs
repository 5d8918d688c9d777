//! Positions of the parts of a net's picture, and checks of its readability.

use std::fmt;

use crate::formats::icon::Icon;
use crate::formats::labels::{Label, labels};
use crate::formats::layout::Layout;
use crate::formats::near::Rect;
use crate::formats::route::{Route, crosses, ends, near_icons};
use crate::net::{Arc, Net, Point};

/// Source of the positions in a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Positions {
    /// The file's positions if all parts have one and the picture is readable; otherwise a layered drawing. A picture
    /// is not readable if nodes overlap, arcs run through other nodes, or more than 2% of the texts are covered.
    #[default]
    Auto,
    /// The file's positions. Parts without a position are drawn below the other parts.
    File,
    /// A layered drawing.
    Layered,
}

/// Maximum overlap of two symbols, and depth to which an arc may enter a symbol, in pixels.
const TOUCH: f64 = 1.5;
/// Maximum covered share of a text.
const COVERED: f64 = 0.1;
/// Maximum share of texts with a covered share above [`COVERED`].
const MOST_COVERED: f64 = 0.02;

/// Reason why the positions of a file do not make a readable picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Number of symbols that overlap others.
    pub nodes: usize,
    /// Number of arcs that run through a node other than their ends.
    pub arcs: usize,
    /// Number of texts of which more than a tenth is covered.
    pub texts: usize,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.nodes, "nodes overlap"),
            (self.arcs, "arcs run through other nodes"),
            (self.texts, "labels are covered"),
        ];
        let told = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        f.write_str(&told.collect::<Vec<_>>().join(", "))
    }
}

/// Symbols, routes of arcs, and texts.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) layout: Layout,
    pub(crate) labels: Vec<Label>,
    /// Reason why the positions of the file were not used, if any.
    pub(crate) set_aside: Option<Unreadable>,
}

impl Picture {
    pub(crate) fn of(net: &Net, positions: Positions) -> Self {
        let with = |layout: Layout, set_aside| Self { labels: labels(net, &layout), layout, set_aside };
        let all =
            net.places().iter().all(|p| p.position.is_some()) && net.transitions().iter().all(|t| t.position.is_some());
        if positions == Positions::File {
            return with(Layout::of_file(net), None);
        }
        let mut set_aside = None;
        if all && positions == Positions::Auto {
            let drawn = with(Layout::of_file(net), None);
            set_aside = drawn.unreadable(net);
            if set_aside.is_none() {
                return drawn;
            }
        }
        with(Layout::layered(net), set_aside)
    }

    fn unreadable(&self, net: &Net) -> Option<Unreadable> {
        let icons = &self.layout.icons;
        let near = near_icons(icons);
        let alone = |(i, icon): (usize, &Icon)| {
            let reach = icon.reach();
            let inner = Rect::around(icon.centre, Point { x: reach.x - TOUCH, y: reach.y - TOUCH });
            near.touching(&inner) == [i]
        };
        let crossing = |(arc, route): &(&Arc, &Route)| crosses(&route.flat(), ends(net, arc), icons, &near, -TOUCH);
        let found = Unreadable {
            nodes: icons.iter().enumerate().filter(|pair| !alone(*pair)).count(),
            arcs: net.arcs().iter().zip(&self.layout.routes).filter(crossing).count(),
            texts: self.labels.iter().filter(|label| label.covered > COVERED).count(),
        };
        let covered = found.texts as f64 > MOST_COVERED * self.labels.len() as f64;
        (covered || found.nodes + found.arcs > 0).then_some(found)
    }
}
