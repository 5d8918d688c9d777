//! The order of the spots in each column, so that few edges cross.
//!
//! The spots of a column are sorted by the mean rank of their neighbours in the column before or after; the columns take
//! turns, back and forth (the barycentre heuristic). Then adjacent spots in a column are swapped if that saves crossings.
//! The best order is kept.

use crate::formats::layered::Spots;

/// Minimum and maximum number of sweeps.
const SWEEPS: [usize; 2] = [4, 24];
/// Work limit of a drawing, in visited spots and edges.
const WORK: usize = 4_000_000;
/// Number of sweeps without a better order after which the search ends.
const PATIENCE: usize = 6;
/// Maximum number of rounds that swap adjacent spots.
const CHANGES: usize = 4;

/// Sorts the columns.
pub(super) fn order(spots: &mut Spots) {
    along(spots);
    let mut rank = vec![0; spots.column_of.len()];
    (0..spots.columns.len()).for_each(|column| number(spots, column, &mut rank));
    let edges: usize = spots.right.iter().map(Vec::len).sum();
    let sweeps = (WORK / (edges + rank.len()).max(1)).clamp(SWEEPS[0], SWEEPS[1]);
    let mut best = (crossings(spots, &rank), spots.columns.clone());
    let mut worse = 0;
    for sweep in 0..sweeps {
        if best.0 == 0 || worse == PATIENCE {
            break;
        }
        let forth = sweep % 2 == 0;
        for i in 0..spots.columns.len() {
            let column = if forth { i } else { spots.columns.len() - 1 - i };
            sort(spots, column, forth, &mut rank);
        }
        change(spots, &mut rank);
        let now = crossings(spots, &rank);
        worse += 1;
        if now < best.0 {
            best = (now, spots.columns.clone());
            worse = 0;
        }
    }
    spots.columns = best.1;
}

/// The first order: the order in which a search along the edges visits the spots, which keeps connected spots together.
fn along(spots: &mut Spots) {
    let mut met = vec![false; spots.column_of.len()];
    let mut columns = vec![Vec::new(); spots.columns.len()];
    let roots: Vec<usize> = spots.columns.iter().flatten().copied().collect();
    for root in roots {
        let mut stack = vec![root];
        while let Some(spot) = stack.pop() {
            if std::mem::replace(&mut met[spot], true) {
                continue;
            }
            columns[spots.column_of[spot]].push(spot);
            stack.extend(spots.left[spot].iter().rev().filter(|next| !met[**next]));
            stack.extend(spots.right[spot].iter().rev().filter(|next| !met[**next]));
        }
    }
    spots.columns = columns;
}

fn number(spots: &Spots, column: usize, rank: &mut [usize]) {
    spots.columns[column].iter().enumerate().for_each(|(i, spot)| rank[*spot] = i);
}

/// Sorts a column by the mean rank of the neighbours on one side; spots without neighbours stay where they are.
fn sort(spots: &mut Spots, column: usize, forth: bool, rank: &mut [usize]) {
    let near = if forth { &spots.left } else { &spots.right };
    let mean = |spot: &usize| {
        let ranks = near[*spot].iter().map(|other| rank[*other] as f64);
        (!near[*spot].is_empty()).then(|| ranks.sum::<f64>() / near[*spot].len() as f64)
    };
    let own = &mut spots.columns[column];
    let mut moving: Vec<(f64, usize)> = own.iter().filter_map(|spot| Some((mean(spot)?, *spot))).collect();
    // the sort is stable: spots with equal means keep their order
    moving.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut moving = moving.into_iter();
    for spot in own.iter_mut().filter(|spot| !near[**spot].is_empty()) {
        *spot = moving.next().expect("as many come as go").1;
    }
    number(spots, column, rank);
}

/// Swaps adjacent spots in a column if that saves crossings.
fn change(spots: &mut Spots, rank: &mut [usize]) {
    for _ in 0..CHANGES {
        let mut changed = false;
        for column in 0..spots.columns.len() {
            let ranks = |near: &[Vec<usize>], spot: usize| {
                let mut ranks: Vec<usize> = near[spot].iter().map(|other| rank[*other]).collect();
                ranks.sort_unstable();
                ranks
            };
            let mut own: Vec<(usize, [Vec<usize>; 2])> = spots.columns[column]
                .iter()
                .map(|&spot| (spot, [ranks(&spots.left, spot), ranks(&spots.right, spot)]))
                .collect();
            for i in 1..own.len() {
                let (a, b) = (&own[i - 1].1, &own[i].1);
                let crossed = |a: &[Vec<usize>; 2], b: &[Vec<usize>; 2]| above(&a[0], &b[0]) + above(&a[1], &b[1]);
                if crossed(b, a) < crossed(a, b) {
                    own.swap(i - 1, i);
                    changed = true;
                }
            }
            spots.columns[column] = own.into_iter().map(|(spot, _)| spot).collect();
            number(spots, column, rank);
        }
        if !changed {
            break;
        }
    }
}

/// Number of pairs of a rank in `a` and a smaller rank in `b`, both sorted.
fn above(a: &[usize], b: &[usize]) -> usize {
    let (mut pairs, mut smaller) = (0, 0);
    for rank in a {
        while b.get(smaller).is_some_and(|other| other < rank) {
            smaller += 1;
        }
        pairs += smaller;
    }
    pairs
}

/// Number of pairs of edges that cross between columns.
fn crossings(spots: &Spots, rank: &[usize]) -> usize {
    let mut crossings = 0;
    for column in &spots.columns {
        let mut ends = Vec::new();
        for &spot in column {
            let from = ends.len();
            ends.extend(spots.right[spot].iter().map(|other| rank[*other]));
            ends[from..].sort_unstable();
        }
        crossings += inversions(&mut ends);
    }
    crossings
}

/// Sorts the values and returns the number of pairs that were out of order.
fn inversions(values: &mut [usize]) -> usize {
    if values.len() < 2 {
        return 0;
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let pairs = inversions(left) + inversions(right) + above(left, right);
    // both halves are sorted, which makes the sort of the standard library fast
    values.sort();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inversions_are_those_of_a_count_of_all_pairs() {
        let values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
        let pairs = (0..values.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
        let expected = pairs.filter(|&(i, j)| values[i] > values[j]).count();
        assert_eq!(inversions(&mut values.clone()), expected);
    }
}
