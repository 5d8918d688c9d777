//! Positions of markings in the drawing of a graph: in columns by the number of firings from the start, ordered for
//! few crossings.
//!
//! Each column is ordered by the mean position of its vertices' neighbours (the barycentre heuristic of layered
//! drawing), column after column, back and forth. Backward edges over several columns have a position in each
//! column in between.

/// Number of ordering rounds; each goes forth and back.
const ROUNDS: usize = 12;

/// A node, or the point at which an edge passes a column.
#[derive(Clone, Debug)]
struct Spot {
    column: usize,
    /// Rank in the column, from the top.
    rank: usize,
    neighbours: Vec<usize>,
}

/// Columns and ranks.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    spots: Vec<Spot>,
    /// Per column: its spots from the top. The first spots are the nodes.
    pub(super) columns: Vec<Vec<usize>>,
    /// Per edge: the spots between its ends, from the start of the edge.
    pub(super) between: Vec<Vec<usize>>,
}

impl Columns {
    /// Returns columns of `nodes` nodes; the first `initial` nodes are in the first column.
    pub(super) fn of(nodes: usize, initial: &[usize], edges: &[(usize, usize)]) -> Self {
        let column = distances(nodes, initial, edges);
        let mut spots: Vec<Spot> =
            column.iter().map(|&column| Spot { column, rank: 0, neighbours: Vec::new() }).collect();
        let mut between = Vec::with_capacity(edges.len());
        for &(from, to) in edges {
            let passed = spots.len()..;
            let (a, b) = (spots[from].column, spots[to].column);
            let columns: Vec<usize> = if a < b { (a + 1..b).collect() } else { (b + 1..a).rev().collect() };
            let passed: Vec<usize> = passed.take(columns.len()).collect();
            spots.extend(columns.into_iter().map(|column| Spot { column, rank: 0, neighbours: Vec::new() }));
            let whole: Vec<usize> = [from].into_iter().chain(passed.iter().copied()).chain([to]).collect();
            for pair in whole.windows(2).filter(|pair| pair[0] != pair[1]) {
                spots[pair[0]].neighbours.push(pair[1]);
                spots[pair[1]].neighbours.push(pair[0]);
            }
            between.push(passed);
        }
        let mut columns = vec![Vec::new(); column.iter().max().map_or(0, |most| most + 1)];
        for (number, spot) in spots.iter().enumerate() {
            columns[spot.column].push(number);
        }
        let mut drawn = Self { spots, columns, between };
        drawn.order();
        drawn
    }

    /// Returns the column of a spot, from the left.
    pub(super) fn column(&self, spot: usize) -> usize {
        self.spots[spot].column
    }

    fn order(&mut self) {
        (0..self.columns.len()).for_each(|column| self.rank(column));
        let forth: Vec<usize> = (0..self.columns.len()).collect();
        for round in 0..ROUNDS {
            let mut columns = forth.clone();
            if round % 2 == 1 {
                columns.reverse();
            }
            for column in columns {
                self.sort(column, round % 2 == 0);
            }
        }
    }

    /// Sorts a column by the positions of the neighbours in the column before (or after).
    fn sort(&mut self, column: usize, before: bool) {
        let mut keys: Vec<(f64, usize)> =
            self.columns[column].iter().map(|&spot| (self.key(spot, before), spot)).collect();
        // the sort is stable: what has no neighbours there, or the same, stays in order
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.columns[column] = keys.into_iter().map(|(_, spot)| spot).collect();
        self.rank(column);
    }

    /// Returns the mean rank of the neighbours on one side, relative to the sizes of their columns; the node's own
    /// rank if it has no such neighbours.
    fn key(&self, spot: usize, before: bool) -> f64 {
        let own = &self.spots[spot];
        let share = |other: &Spot| (other.rank as f64 + 0.5) / self.columns[other.column].len() as f64;
        let side = |other: &&Spot| if before { other.column < own.column } else { other.column > own.column };
        let near: Vec<f64> = own.neighbours.iter().map(|&n| &self.spots[n]).filter(side).map(share).collect();
        if near.is_empty() { share(own) } else { near.iter().sum::<f64>() / near.len() as f64 }
    }

    fn rank(&mut self, column: usize) {
        for (rank, &spot) in self.columns[column].iter().enumerate() {
            self.spots[spot].rank = rank;
        }
    }
}

/// Returns the minimum number of edges from an initial node to each node; unreachable nodes are placed last.
fn distances(nodes: usize, initial: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut next = vec![Vec::new(); nodes];
    for &(from, to) in edges {
        next[from].push(to);
    }
    let mut distance = vec![None; nodes];
    let mut queue: Vec<usize> = initial.to_vec();
    initial.iter().for_each(|&node| distance[node] = Some(0));
    let mut at = 0;
    while at < queue.len() {
        let node = queue[at];
        at += 1;
        for &to in &next[node] {
            if distance[to].is_none() {
                distance[to] = distance[node].map(|d: usize| d + 1);
                queue.push(to);
            }
        }
    }
    let behind = distance.iter().flatten().max().map_or(0, |most| most + 1);
    distance.into_iter().map(|distance| distance.unwrap_or(behind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_distances_and_long_edges_pass_each_column_between() {
        let drawn = Columns::of(4, &[0], &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        assert_eq!((0..4).map(|node| drawn.column(node)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(drawn.between, [vec![], vec![], vec![], vec![4, 5]]);
        assert_eq!((drawn.column(4), drawn.column(5)), (2, 1));
    }

    #[test]
    fn edges_that_cross_are_untangled() {
        // 1 leads to 4 and 2 to 3, so that 3 and 4 change places
        let drawn = Columns::of(5, &[0], &[(0, 1), (0, 2), (2, 3), (1, 4)]);
        let column = |i: usize| drawn.columns[i].clone();
        let crossing = (column(1) == [1, 2]) != (column(2) == [4, 3]);
        assert!(!crossing, "{:?}", drawn.columns);
    }

    #[test]
    fn an_empty_graph_has_no_columns() {
        assert!(Columns::of(0, &[], &[]).columns.is_empty());
    }
}
