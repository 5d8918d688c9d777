//! Layered drawing of a graph whose nodes are of two kinds that alternate, as places and transitions do.
//!
//! The steps are those of \[Sugiyama1981\]: `columns` reverses some edges so that there is no cycle, and gives each
//! node a column. An edge over several columns gets a spot in each of them. Then `order` sorts the spots of a column so
//! that few edges cross, and `heights` moves the spots so that edges are short and straight. Edges run in the streets
//! between columns, where there are no nodes, and pass a column at a separate spot, so no edge crosses a node. The
//! result depends on the graph only, and the same graph gives the same drawing.

mod columns;
mod heights;
mod order;

use petgraph::unionfind::UnionFind;

use crate::net::Point;

/// Half the width of a column, which edges pass in a straight line: the nodes, and room for arrow heads.
pub(crate) const ZONE: f64 = 27.0;
/// Minimum and maximum width of a street between two columns.
const STREET: [f64; 2] = [36.0, 200.0];
/// Space between the texts of nodes that are side by side.
const BESIDE: f64 = 12.0;
/// Space between the components of a graph.
const APART: f64 = 30.0;
/// Target ratio of width to height of all components together.
const ASPECT: f64 = 1.6;
/// Maximum number of spots. With more, edges over several columns are straight lines, which may cross nodes.
const MOST_SPOTS: usize = 300_000;

/// A node and the space that it needs around its middle, including its texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// True for a node of the second kind.
    pub(crate) second: bool,
    /// True for a preferred start if nothing else determines it.
    pub(crate) first: bool,
    /// Half the width, and the heights above and below the middle.
    pub(crate) half: f64,
    pub(crate) up: f64,
    pub(crate) down: f64,
}

/// An edge between nodes of different kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// True if the edge should point to the right; otherwise the direction does not matter.
    pub(crate) firm: bool,
    /// The width of the edge's text.
    pub(crate) text: f64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
}

/// Positions for drawing a graph.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The middle of each node.
    pub(crate) at: Vec<Point>,
    /// Per edge: the point in the middle of each column that it passes, from start to end.
    pub(crate) passed: Vec<Vec<Point>>,
}

/// Nodes, and spots where edges pass a column; the nodes are the first spots.
#[derive(Clone, Debug)]
struct Spots {
    nodes: usize,
    column_of: Vec<usize>,
    /// Per spot: the spots in the columns before and after that an edge connects with this spot.
    left: Vec<Vec<usize>>,
    right: Vec<Vec<usize>>,
    /// Per column: its spots from the top.
    columns: Vec<Vec<usize>>,
    /// Per edge: its spots, from the left.
    between: Vec<Vec<usize>>,
}

impl Spots {
    fn of(graph: &Graph, column: &[usize]) -> Self {
        let nodes = graph.nodes.len();
        let mut spots = Self {
            nodes,
            column_of: column.to_vec(),
            left: vec![Vec::new(); nodes],
            right: vec![Vec::new(); nodes],
            columns: Vec::new(),
            between: Vec::with_capacity(graph.edges.len()),
        };
        let passed = |edge: &Edge| column[edge.from].abs_diff(column[edge.to]).saturating_sub(1);
        let all: usize = graph.edges.iter().map(passed).sum();
        for edge in &graph.edges {
            let (a, b) = if column[edge.from] < column[edge.to] { (edge.from, edge.to) } else { (edge.to, edge.from) };
            let mut between = Vec::new();
            if all <= MOST_SPOTS || passed(edge) == 0 {
                let mut before = a;
                for column in column[a] + 1..column[b] {
                    let spot = spots.column_of.len();
                    spots.column_of.push(column);
                    spots.left.push(Vec::new());
                    spots.right.push(Vec::new());
                    spots.join(before, spot);
                    between.push(spot);
                    before = spot;
                }
                spots.join(before, b);
            }
            spots.between.push(between);
        }
        spots.columns = vec![Vec::new(); column.iter().max().map_or(0, |last| last + 1)];
        for (spot, column) in spots.column_of.iter().enumerate() {
            spots.columns[*column].push(spot);
        }
        spots
    }

    fn join(&mut self, left: usize, right: usize) {
        self.right[left].push(right);
        self.left[right].push(left);
    }
}

impl Graph {
    /// Draws the graph; its top left corner is at 0.
    pub(crate) fn draw(&self) -> Drawn {
        let mut drawn =
            Drawn { at: vec![Point::default(); self.nodes.len()], passed: vec![Vec::new(); self.edges.len()] };
        let (parts, place) = self.components();
        let pieces: Vec<Piece> = parts.iter().map(|part| Piece::of(&self.part(part, &place))).collect();
        for ((part, piece), corner) in parts.iter().zip(&pieces).zip(shelves(&pieces)) {
            let moved = |p: &Point| Point { x: (p.x + corner.x).round(), y: (p.y + corner.y).round() };
            for (&node, at) in part.nodes.iter().zip(&piece.drawn.at) {
                drawn.at[node] = moved(at);
            }
            for (&edge, passed) in part.edges.iter().zip(&piece.drawn.passed) {
                drawn.passed[edge] = passed.iter().map(moved).collect();
            }
        }
        drawn
    }

    /// The connected components in the order of their first nodes, and the position of each node in its component.
    fn components(&self) -> (Vec<Part>, Vec<usize>) {
        let mut sets = UnionFind::new(self.nodes.len());
        self.edges.iter().for_each(|edge| _ = sets.union(edge.from, edge.to));
        let root_of = sets.into_labeling();
        let mut part_of = vec![usize::MAX; self.nodes.len()];
        let mut parts: Vec<Part> = Vec::new();
        let mut place = Vec::with_capacity(self.nodes.len());
        for (node, &root) in root_of.iter().enumerate() {
            let part = &mut part_of[root];
            if *part == usize::MAX {
                *part = parts.len();
                parts.push(Part::default());
            }
            place.push(parts[*part].nodes.len());
            parts[*part].nodes.push(node);
        }
        self.edges.iter().enumerate().for_each(|(edge, e)| parts[part_of[root_of[e.from]]].edges.push(edge));
        (parts, place)
    }

    fn part(&self, part: &Part, place: &[usize]) -> Self {
        let edge = |&i: &usize| {
            let Edge { from, to, firm, text } = self.edges[i];
            Edge { from: place[from], to: place[to], firm, text }
        };
        Self {
            nodes: part.nodes.iter().map(|i| self.nodes[*i]).collect(),
            edges: part.edges.iter().map(edge).collect(),
        }
    }
}

/// Nodes and edges of a component.
#[derive(Clone, Debug, Default)]
struct Part {
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

/// A component, drawn with its top left corner at 0.
#[derive(Clone, Debug)]
struct Piece {
    drawn: Drawn,
    size: Point,
}

impl Piece {
    fn of(graph: &Graph) -> Self {
        let mut spots = Spots::of(graph, &columns::columns(graph));
        order::order(&mut spots);
        let y = heights::heights(graph, &spots);
        let x = across(graph, &spots, &y);
        let (mut low, mut high) = (Point { x: f64::MAX, y: f64::MAX }, Point { x: f64::MIN, y: f64::MIN });
        for (spot, (&y, &column)) in y.iter().zip(&spots.column_of).enumerate() {
            let (half, up, down) = heights::room(graph, spot);
            low = Point { x: low.x.min(x[column] - half), y: low.y.min(y - up) };
            high = Point { x: high.x.max(x[column] + half), y: high.y.max(y + down) };
        }
        let point = |spot: usize| Point { x: x[spots.column_of[spot]] - low.x, y: y[spot] - low.y };
        let passed = graph.edges.iter().zip(&spots.between).map(|(edge, between)| {
            let mut points: Vec<Point> = between.iter().map(|spot| point(*spot)).collect();
            if spots.column_of[edge.from] > spots.column_of[edge.to] {
                points.reverse();
            }
            points
        });
        let drawn = Drawn { passed: passed.collect(), at: (0..graph.nodes.len()).map(point).collect() };
        Self { drawn, size: Point { x: high.x - low.x, y: high.y - low.y } }
    }
}

/// The middle of each column: streets are wide enough for their edges, and neighbouring texts do not overlap.
fn across(graph: &Graph, spots: &Spots, y: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(spots.columns.len());
    let mut texts = vec![0.0; spots.columns.len()];
    for Edge { from, to, text, .. } in &graph.edges {
        let (a, b) = (spots.column_of[*from], spots.column_of[*to]);
        if a.abs_diff(b) == 1 {
            texts[a.max(b)] = f64::max(texts[a.max(b)], *text);
        }
    }
    for (column, own) in spots.columns.iter().enumerate() {
        let climbs = own.iter().flat_map(|&spot| spots.left[spot].iter().map(move |&left| (y[left] - y[spot]).abs()));
        let steep = climbs.fold(0.0, f64::max);
        let street = (STREET[0] + 0.12 * (steep - 60.0)).max(texts[column] - BESIDE).clamp(STREET[0], STREET[1]);
        let mut at = x.last().map_or(0.0, |before| before + 2.0 * ZONE + street);
        // texts may be wider than several columns
        for back in 1..=4.min(column) {
            let other = column - back;
            let widest = widest_pair(graph, &spots.columns[other], own, y);
            at = at.max(x[other] + widest.map_or(0.0, |both| both + BESIDE));
        }
        x.push(at);
    }
    x
}

/// The largest sum of half widths of two nodes that are side by side, one from each column.
fn widest_pair(graph: &Graph, left: &[usize], right: &[usize], y: &[f64]) -> Option<f64> {
    let nodes = |column: &[usize]| -> Vec<(f64, f64, f64)> {
        let nodes = column.iter().filter_map(|&spot| Some((y[spot], graph.nodes.get(spot)?)));
        nodes.map(|(y, node)| (y - node.up, y + node.down, node.half)).collect()
    };
    let (left, right) = (nodes(left), nodes(right));
    let mut widest = None;
    let mut first = 0;
    for &(top, bottom, half) in &right {
        // a node that ends above this one also ends above all later ones
        while left.get(first).is_some_and(|other| other.1 < top) {
            first += 1;
        }
        for other in left[first..].iter().take_while(|other| other.0 <= bottom) {
            widest = Some(f64::max(widest.unwrap_or(0.0), half + other.2));
        }
    }
    widest
}

/// The top left corners of components on shelves, so that the whole drawing is not much wider than high.
fn shelves(pieces: &[Piece]) -> Vec<Point> {
    let area: f64 = pieces.iter().map(|piece| (piece.size.x + APART) * (piece.size.y + APART)).sum();
    let widest = pieces.iter().map(|piece| piece.size.x).fold(0.0, f64::max);
    let room = widest.max((area * ASPECT).sqrt());
    let mut by_height: Vec<usize> = (0..pieces.len()).collect();
    by_height.sort_by(|a, b| pieces[*b].size.y.total_cmp(&pieces[*a].size.y));
    let mut corners = vec![Point::default(); pieces.len()];
    let (mut x, mut y, mut shelf) = (0.0, 0.0, 0.0);
    for i in by_height {
        let size = pieces[i].size;
        if x > 0.0 && x + size.x > room {
            (x, y, shelf) = (0.0, y + shelf + APART, 0.0);
        }
        corners[i] = Point { x, y };
        x += size.x + APART;
        shelf = f64::max(shelf, size.y);
    }
    corners
}
