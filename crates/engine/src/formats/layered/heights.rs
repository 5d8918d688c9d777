//! The height of each spot. The spots of a column keep their order and their minimum distances. Each spot is close to
//! the spots at the other ends of its edges, and long edges are straight.

use crate::formats::layered::{Graph, Spots};

/// Half the height of the space for an edge that passes a column.
const LANE: f64 = 4.0;
/// Space between two spots.
const GAP: f64 = 7.0;
/// Number of sweeps over all columns that use the neighbours on one side.
const ONE_SIDED: usize = 6;
/// Number of sweeps over all columns that use the neighbours on both sides.
const BOTH_SIDED: usize = 8;
/// Number of rounds of straightening.
const STRAIGHTENED: u32 = 6;
/// Strength of an edge's pull: between two nodes, between a node and a passed column, and between two passed columns.
const PULL: [f64; 3] = [1.0, 2.0, 8.0];

/// Half the width of a spot, and its height above and below the middle.
pub(super) fn room(graph: &Graph, spot: usize) -> (f64, f64, f64) {
    graph.nodes.get(spot).map_or((LANE, LANE, LANE), |node| (node.half, node.up, node.down))
}

/// The height of the middle of each spot.
pub(super) fn heights(graph: &Graph, spots: &Spots) -> Vec<f64> {
    let apart: Vec<Vec<f64>> = spots.columns.iter().map(|column| distances(graph, column)).collect();
    let mut y = vec![0.0; spots.column_of.len()];
    for (column, apart) in spots.columns.iter().zip(&apart) {
        let mut at = -0.5 * apart.iter().sum::<f64>();
        for (spot, apart) in column.iter().zip(apart) {
            at += apart;
            y[*spot] = at;
        }
    }
    let count = spots.columns.len();
    for sweep in 0..ONE_SIDED + BOTH_SIDED {
        let forth = sweep % 2 == 0;
        let sides = [forth || sweep >= ONE_SIDED, !forth || sweep >= ONE_SIDED];
        for i in 0..count {
            let column = if forth { i } else { count - 1 - i };
            settle(spots, column, &apart[column], sides, &mut y);
        }
    }
    straighten(spots, &apart, &mut y);
    y
}

/// The minimum distance of each spot of a column from the spot above it.
fn distances(graph: &Graph, column: &[usize]) -> Vec<f64> {
    let above = |i: usize| {
        let (_, up, _) = room(graph, column[i]);
        if i == 0 { 0.0 } else { room(graph, column[i - 1]).2 + GAP + up }
    };
    (0..column.len()).map(above).collect()
}

/// Moves the spots of a column to minimise the sum of squared height differences of their edges, subject to the minimum
/// distances. Spots that would come too close form a block that moves as one (pool adjacent violators, \[Ayer1955\]).
fn settle(spots: &Spots, column: usize, apart: &[f64], sides: [bool; 2], y: &mut [f64]) {
    struct Block {
        weight: f64,
        moment: f64,
        spots: usize,
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut offset = 0.0;
    for (&spot, apart) in spots.columns[column].iter().zip(apart) {
        offset += apart;
        // spots without edges stay where they are
        let (mut weight, mut moment) = (1e-3, 1e-3 * y[spot]);
        for near in [&spots.left[spot], &spots.right[spot]].into_iter().zip(sides).filter_map(|(n, on)| on.then_some(n))
        {
            for &other in near {
                let pull = PULL[usize::from(spot >= spots.nodes) + usize::from(other >= spots.nodes)];
                weight += pull;
                moment += pull * y[other];
            }
        }
        blocks.push(Block { weight, moment: moment - weight * offset, spots: 1 });
        while let [.., above, below] = &blocks[..]
            && above.moment / above.weight > below.moment / below.weight
        {
            let (weight, moment, spots) = (below.weight, below.moment, below.spots);
            blocks.pop();
            let above = blocks.last_mut().expect("there were two");
            above.weight += weight;
            above.moment += moment;
            above.spots += spots;
        }
    }
    let mut own = spots.columns[column].iter().zip(apart);
    let mut offset = 0.0;
    for block in blocks {
        for (spot, apart) in own.by_ref().take(block.spots) {
            offset += apart;
            y[*spot] = block.moment / block.weight + offset;
        }
    }
}

/// Gives the spots of a thread the same height if there is room.
fn straighten(spots: &Spots, apart: &[Vec<f64>], y: &mut [f64]) {
    let mut rank = vec![0; y.len()];
    for column in &spots.columns {
        column.iter().enumerate().for_each(|(i, spot)| rank[*spot] = i);
    }
    let threads = threads(spots);
    // other threads can use the remaining space in the next round, which starts at the other end
    let rounds = (0..STRAIGHTENED).flat_map(|round| {
        let forth = threads.iter().filter(move |_| round.is_multiple_of(2));
        forth.chain(threads.iter().rev().filter(move |_| !round.is_multiple_of(2)))
    });
    for thread in rounds {
        let room = |spot: usize, y: &[f64]| {
            let (column, i) = (spots.column_of[spot], rank[spot]);
            let own = &spots.columns[column];
            let low = if i == 0 { f64::NEG_INFINITY } else { y[own[i - 1]] + apart[column][i] };
            let high = own.get(i + 1).map_or(f64::INFINITY, |&below| y[below] - apart[column][i + 1]);
            (low, high)
        };
        let mut from = 0;
        while from < thread.len() {
            let (mut low, mut high) = room(thread[from], y);
            let mut to = from + 1;
            while to < thread.len() {
                let next = room(thread[to], y);
                if next.0.max(low) > next.1.min(high) {
                    break;
                }
                (low, high) = (next.0.max(low), next.1.min(high));
                to += 1;
            }
            let straight = &thread[from..to];
            let mean = straight.iter().map(|spot| y[*spot]).sum::<f64>() / straight.len() as f64;
            // not `clamp`, which panics if rounding makes `low` larger than `high`
            let height = mean.max(low).min(high);
            straight.iter().for_each(|spot| y[*spot] = height);
            from = to;
        }
    }
}

/// The longest paths of spots in which each spot is the only right neighbour of the spot before, and has no other left
/// neighbour. Paths along edges that pass columns come first.
fn threads(spots: &Spots) -> Vec<Vec<usize>> {
    let only = |near: &[usize]| match near {
        [one] => Some(*one),
        [one, rest @ ..] if rest.iter().all(|other| other == one) => Some(*one),
        _ => None,
    };
    let after = |spot: usize| only(&spots.right[spot]).filter(|next| only(&spots.left[*next]) == Some(spot));
    let begins = |spot: usize| only(&spots.left[spot]).is_none_or(|before| after(before) != Some(spot));
    let mut threads: Vec<Vec<usize>> = (0..spots.column_of.len())
        .filter(|spot| begins(*spot))
        .map(|spot| std::iter::successors(Some(spot), |spot| after(*spot)).collect())
        .filter(|thread: &Vec<usize>| thread.len() > 1)
        .collect();
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.len()));
    threads
}
