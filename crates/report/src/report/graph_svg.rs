//! A graph of markings as a picture: columns by the number of firings from the start, boxes with the marked places.

use std::fmt::Write as _;

use crate::formats::svg_parts::{Frame, escaped, head, path};
use crate::net::Point;
use crate::report::graph_layout::Columns;
use crate::solve::{DrawError, GraphEdge, GraphNode, MarkingKind, StateGraph};

/// Maximum number of markings of a picture that a person can still read.
pub const MOST_DRAWN: usize = 300;

/// Width of a character of a marking and of a firing, roughly.
const LETTER: f64 = 6.4;
const SMALL_LETTER: f64 = 5.6;
/// Characters after which a marking continues in the next line.
const LONG: usize = 26;
/// Height of a line of a box, its margins, and the distance between boxes.
const LINE: f64 = 15.0;
const PADDING: f64 = 7.0;
const GAP: f64 = 32.0;
/// Room for an edge that passes a column.
const LANE: f64 = 14.0;
/// Minimum and maximum room between two columns.
const STREET: [f64; 2] = [80.0, 210.0];
/// Maximum number of firings that are shown at an edge; its tooltip lists all.
const MOST_FIRINGS: usize = 4;
/// Half the distance between two edges that join the same boxes in opposite directions.
const ASIDE: f64 = 6.0;
/// Position of the firings on an edge, as a share of its length: forward edges, and backward edges.
const LABEL: [f64; 2] = [0.5, 0.38];

const STYLE: &str = "\
  text { font: 11px sans-serif; fill: #222; }\n\
  .firing { font-size: 10px; fill: #456; paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round; }\n\
  .edge { fill: none; stroke: #567; stroke-width: 1.1; }\n\
  .now { stroke-dasharray: 4 3; }\n\
  .head { fill: #567; }\n\
  .box { fill: #eef4fb; stroke: #3465a4; stroke-width: 1.2; }\n\
  .initial { stroke-width: 3; }\n\
  .dead { fill: #fbeeee; stroke: #a40000; }\n\
  .line { fill: none; stroke: #a40000; stroke-width: 1; }\n\
  .vanishing { fill: #eee; stroke: #888; }\n";

/// Returns a reachability or coverability graph as an SVG document: tangible markings are blue boxes, dead ones red
/// with two lines, vanishing ones grey, initial ones have a thick line; immediate firings are dashed.
///
/// # Errors
///
/// [`DrawError::TooLarge`] with more than [`MOST_DRAWN`] markings.
pub fn graph_svg(graph: &StateGraph, title: &str) -> Result<String, DrawError> {
    if graph.nodes.len() > MOST_DRAWN {
        return Err(DrawError::TooLarge { limit: MOST_DRAWN });
    }
    let initial: Vec<usize> = (0..graph.nodes.len()).filter(|&i| graph.nodes[i].initial).collect();
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let columns = Columns::of(graph.nodes.len(), &initial, &edges);
    let boxes: Vec<Tile> = graph.nodes.iter().map(Tile::of).collect();
    let at = positions(graph, &columns, &boxes);
    let mut drawing = Drawing { graph, boxes, columns, at, out: String::new(), frame: Frame::default() };
    (0..graph.edges.len()).for_each(|edge| drawing.edge(edge));
    (0..graph.nodes.len()).for_each(|node| drawing.node(node));
    // above the lines of all other edges
    (0..graph.edges.len()).for_each(|edge| drawing.firings(edge));
    Ok(drawing.frame.document(title, STYLE, &drawing.out))
}

/// The box of a marking.
#[derive(Clone, Debug)]
struct Tile {
    lines: Vec<String>,
    width: f64,
    height: f64,
}

impl Tile {
    fn of(node: &GraphNode) -> Self {
        let number = if node.shown == MarkingKind::Vanishing { String::new() } else { format!("{}: ", node.number) };
        let mut lines = vec![number];
        for (i, part) in node.marking.split(" + ").enumerate() {
            let joint = if i > 0 { " + " } else { "" };
            let last = lines.last_mut().expect("there is a line");
            if i > 0 && last.chars().count() + joint.len() + part.chars().count() > LONG {
                last.push_str(" +");
                lines.push(part.to_owned());
            } else {
                *last += &format!("{joint}{part}");
            }
        }
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let height = LINE * lines.len() as f64 + 2.0 * PADDING;
        Self { width: LETTER * longest as f64 + 2.0 * PADDING, height, lines }
    }
}

/// Returns the centre of each box of the columns, and of each gap that an edge passes.
fn positions(graph: &StateGraph, columns: &Columns, boxes: &[Tile]) -> Vec<Point> {
    let spots = columns.columns.iter().map(Vec::len).sum();
    let mut at = vec![Point::default(); spots];
    let street = street(graph);
    let mut x = 0.0;
    for column in &columns.columns {
        let width = column.iter().filter_map(|&spot| boxes.get(spot)).map(|own| own.width).fold(0.0, f64::max);
        let heights: Vec<f64> =
            column.iter().map(|&spot| boxes.get(spot).map_or(LANE, |own| own.height + GAP)).collect();
        let mut y = -0.5 * heights.iter().sum::<f64>();
        for (&spot, height) in column.iter().zip(heights) {
            at[spot] = Point { x: x + 0.5 * width, y: y + 0.5 * height };
            y += height;
        }
        x += width + street;
    }
    at
}

/// Returns the room between two columns: enough for most firings.
fn street(graph: &StateGraph) -> f64 {
    let firings = graph.edges.iter().flat_map(|edge| &edge.firings);
    let longest = firings.map(|firing| firing.chars().count()).max().unwrap_or(0);
    (SMALL_LETTER * longest as f64 + 40.0).clamp(STREET[0], STREET[1])
}

struct Drawing<'a> {
    graph: &'a StateGraph,
    boxes: Vec<Tile>,
    columns: Columns,
    at: Vec<Point>,
    out: String,
    frame: Frame,
}

impl Drawing<'_> {
    fn node(&mut self, node: usize) {
        let (shown, initial) = (self.graph.nodes[node].shown, self.graph.nodes[node].initial);
        let own = self.boxes[node].clone();
        let corner = Point { x: self.at[node].x - 0.5 * own.width, y: self.at[node].y - 0.5 * own.height };
        self.frame.add(corner, 2.0);
        self.frame.add(Point { x: corner.x + own.width, y: corner.y + own.height }, 2.0);
        let kind = match shown {
            MarkingKind::Dead => " dead",
            MarkingKind::Vanishing => " vanishing",
            MarkingKind::Tangible | MarkingKind::Cover => "",
        };
        let bold = if initial { " initial" } else { "" };
        let round = if shown == MarkingKind::Vanishing { 0.0 } else { 8.0 };
        let mut rect = |class: &str, inset: f64| {
            let _ = writeln!(
                self.out,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{:.1}\"/>",
                corner.x + inset,
                corner.y + inset,
                own.width - 2.0 * inset,
                own.height - 2.0 * inset,
                (round - inset).max(0.0)
            );
        };
        rect(&format!("box{kind}{bold}"), 0.0);
        if shown == MarkingKind::Dead {
            rect("line", 3.0);
        }
        for (i, line) in own.lines.iter().enumerate() {
            let y = corner.y + PADDING + LINE * i as f64 + 11.0;
            let text = escaped(line);
            let _ = writeln!(
                self.out,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>",
                self.at[node].x
            );
        }
    }

    /// Returns the points of an edge from box to box.
    fn route(&self, number: usize) -> Vec<Point> {
        let GraphEdge { from, to, .. } = self.graph.edges[number];
        let (a, b) = (self.columns.column(from), self.columns.column(to));
        let half = |node: usize| 0.5 * self.boxes[node].width;
        let side = |node: usize, right: bool, dy: f64| {
            let x = if right { self.at[node].x + half(node) } else { self.at[node].x - half(node) };
            Point { x, y: self.at[node].y + dy }
        };
        if from == to {
            let top = Point { x: self.at[from].x, y: self.at[from].y - 0.5 * self.boxes[from].height };
            return vec![
                Point { x: top.x - 9.0, ..top },
                Point { x: top.x - 11.0, y: top.y - 13.0 },
                Point { x: top.x + 11.0, y: top.y - 13.0 },
                Point { x: top.x + 9.0, ..top },
            ];
        }
        if a == b {
            let [p, q] = [from, to].map(|node| side(node, true, 0.0));
            let reach = 16.0 + 0.06 * (p.y - q.y).abs();
            return vec![p, Point { x: p.x.max(q.x) + reach, y: f64::midpoint(p.y, q.y) }, q];
        }
        let right = b > a;
        let dy = if right { -ASIDE } else { ASIDE };
        let (start, end) = (side(from, right, dy), side(to, !right, dy));
        let between: Vec<Point> = self.columns.between[number].iter().map(|&spot| self.at[spot]).collect();
        if between.is_empty() {
            return vec![start, end];
        }
        [start].into_iter().chain(between).chain([end]).collect()
    }

    fn edge(&mut self, number: usize) {
        let points = self.route(number);
        points.iter().for_each(|&point| self.frame.add(point, 4.0));
        let edge = &self.graph.edges[number];
        let class = if edge.immediate { "edge now" } else { "edge" };
        let (tip, before) = (points[points.len() - 1], points[points.len() - 2]);
        let title = escaped(&edge.firings.join(", "));
        let _ =
            writeln!(self.out, "<path class=\"{class}\" d=\"{}\"><title>{title}</title></path>", path(&points, true));
        let _ = writeln!(self.out, "<path class=\"head\" d=\"{}\"/>", head(tip, before));
    }

    /// Labels an edge with the transitions that fire.
    fn firings(&mut self, number: usize) {
        let points = self.route(number);
        let firings = &self.graph.edges[number].firings;
        let shown = firings.len().min(MOST_FIRINGS);
        let GraphEdge { from, to, .. } = self.graph.edges[number];
        let (a, b) =
            (points[0], if self.columns.between[number].is_empty() { points[points.len() - 1] } else { points[1] });
        let back = self.columns.column(to) < self.columns.column(from);
        let spot = match self.columns.column(from) == self.columns.column(to) {
            // at the height of a bow or loop
            true => points[1..points.len() - 1].iter().copied().reduce(middle).unwrap_or(a),
            false => {
                let share = LABEL[usize::from(back)];
                Point { x: a.x + share * (b.x - a.x), y: a.y + share * (b.y - a.y) }
            }
        };
        // below the line for backward edges, above it for all others
        let above = if back { -9.0 } else { 3.0 + 10.0 * shown.saturating_sub(1) as f64 };
        let top = spot.y - above;
        for (i, firing) in firings.iter().take(shown).enumerate() {
            let more = firings.len() - shown;
            let more = if i + 1 == shown && more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("{}{more}", short(firing));
            let y = top + 10.0 * i as f64;
            self.frame.add(Point { x: spot.x, y: y - 10.0 }, 0.0);
            self.frame.add(Point { x: spot.x + 0.5 * SMALL_LETTER * text.chars().count() as f64, y }, 0.0);
            let text = escaped(&text);
            let _ = writeln!(
                self.out,
                "<text class=\"firing\" x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>",
                spot.x
            );
        }
    }
}

/// Returns the midpoint of two points.
fn middle(p: Point, q: Point) -> Point {
    Point { x: f64::midpoint(p.x, q.x), y: f64::midpoint(p.y, q.y) }
}

/// Returns a transition and its number, with readable digits.
fn short(firing: &str) -> String {
    match firing.rsplit_once(' ').and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?))) {
        Some((name, number)) => format!("{name} {}", crate::report::number::plain(number)),
        None => firing.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize) -> StateGraph {
        let node = |number| GraphNode {
            number,
            shown: if number + 1 == nodes { MarkingKind::Dead } else { MarkingKind::Tangible },
            marking: format!("{number} <a> + a_place_with_a_long_name + another"),
            initial: number == 0,
        };
        let there = (1..nodes).map(|to| GraphEdge {
            from: to - 1,
            to,
            firings: vec!["t 0.30000000000000004".to_owned()],
            immediate: false,
        });
        let back = GraphEdge { from: nodes - 1, to: 0, firings: vec!["back".to_owned()], immediate: true };
        StateGraph { nodes: (0..nodes).map(node).collect(), edges: there.chain([back]).collect() }
    }

    #[test]
    fn every_marking_and_edge_is_drawn_once() {
        let text = graph_svg(&graph(5), "a < b").unwrap();
        let count = |what: &str| text.matches(what).count();
        assert_eq!((count("class=\"box"), count("class=\"head\""), count("edge now")), (5, 5, 1));
        assert_eq!((count("initial\""), count("class=\"line\"")), (1, 1));
        assert!(text.contains("<title>a &lt; b</title>") && text.contains(">t 0.3</text>") && !text.contains("NaN"));
    }

    #[test]
    fn one_marking_and_its_loop_are_drawn() {
        let text = graph_svg(&graph(1), "").unwrap();
        assert!(text.contains("class=\"box dead initial\"") && !text.contains("NaN"), "{text}");
        assert!(graph_svg(&StateGraph::default(), "").unwrap().ends_with("</svg>\n"));
    }

    #[test]
    fn graphs_too_large_to_draw_are_refused() {
        let refused = graph_svg(&graph(MOST_DRAWN + 1), "");
        assert!(matches!(refused, Err(DrawError::TooLarge { limit: MOST_DRAWN })));
    }
}
