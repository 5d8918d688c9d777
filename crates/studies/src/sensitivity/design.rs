//! Designs: rows of points in the unit cube at which the model is evaluated, with one coordinate per factor.
//!
//! Implements the designs. Rows are independent of each other and depend only on the seed and their number, so a longer
//! design extends a shorter one.

use crate::rng::{Address, Purpose, split};

/// A point of the unit cube.
pub type Place = Vec<f64>;

/// First owner of this module's random words; smaller numbers belong to the axes of Latin hypercubes.
const OWNER: u32 = 1 << 16;

/// Random words of one row of one design, addressed by their numbers.
struct Words {
    key: [u32; 2],
    row: u64,
}

impl Words {
    fn new(seed: u64, row: u64) -> Self {
        Self { key: split(seed), row }
    }

    /// Returns word `sample` of `owner` as a uniform number in [0, 1).
    fn uniform(&self, owner: u32, sample: u32) -> f64 {
        let address = Address { purpose: Purpose::Design, owner: OWNER + owner, sample };
        let [high, low, ..] = address.words(self.key, self.row);
        // 53 bits
        (f64::from(high >> 5) * 67_108_864.0 + f64::from(low >> 6)) / 9_007_199_254_740_992.0
    }

    /// Returns a uniform whole number below `most`.
    fn below(&self, owner: u32, sample: u32, most: usize) -> usize {
        ((self.uniform(owner, sample) * most as f64) as usize).min(most - 1)
    }
}

const MORRIS: u32 = 0;
const SALTELLI: u32 = 1 << 8;

/// A walk through a grid of the unit cube that moves each factor once.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// The points of the walk, one more than there are factors.
    pub points: Vec<Place>,
    /// The factor that each step moves.
    pub order: Vec<usize>,
    /// Signed length of each step.
    pub steps: Vec<f64>,
}

/// Returns trajectory number `row` of \[Morris1991\]. It starts at a random point of a grid with an even number of `levels`
/// on each axis and makes steps of Δ = levels / (2 (levels − 1)), so that every level occurs equally often.
pub fn trajectory(factors: usize, levels: u32, seed: u64, row: u64) -> Trajectory {
    let words = Words::new(seed, row);
    let half = levels.max(2) / 2;
    let unit = f64::from(2 * half - 1);
    let step = f64::from(half) / unit;
    // the start is a level from which the step goes up, or its mirror image, from which the step goes down
    let start = |factor: usize| {
        let level = words.below(MORRIS, 2 * factor as u32, half as usize) as f64 / unit;
        let down = words.uniform(MORRIS, 2 * factor as u32 + 1) < 0.5;
        if down { (level + step, -step) } else { (level, step) }
    };
    let starts: Vec<(f64, f64)> = (0..factors).map(start).collect();
    let mut order: Vec<usize> = (0..factors).collect();
    for i in (1..factors).rev() {
        order.swap(i, words.below(MORRIS + 1, i as u32, i + 1));
    }
    let mut place: Place = starts.iter().map(|(at, _)| *at).collect();
    let mut points = vec![place.clone()];
    for &factor in &order {
        let (at, step) = starts[factor];
        place[factor] = (at + step).clamp(0.0, 1.0);
        points.push(place.clone());
    }
    let steps = order.iter().map(|&factor| starts[factor].1).collect();
    Trajectory { points, order, steps }
}

/// Returns row `row` of \[Saltelli2010\]: two random points A and B, then for each factor the point A with that coordinate taken from B.
pub fn saltelli(factors: usize, seed: u64, row: u64) -> Vec<Place> {
    let words = Words::new(seed, row);
    let place = |which: u32| -> Place { (0..factors).map(|i| words.uniform(SALTELLI + which, i as u32)).collect() };
    let (a, b) = (place(0), place(1));
    let mixed = (0..factors).map(|i| {
        let mut place = a.clone();
        place[i] = b[i];
        place
    });
    let mixed: Vec<Place> = mixed.collect();
    [a, b].into_iter().chain(mixed).collect()
}

/// Returns a uniform whole number below `most` for a bootstrap: draw `draw` of resample `resample`.
pub(in crate::sensitivity) fn resample(seed: u64, resample: u64, draw: u32, most: usize) -> usize {
    Words::new(seed, resample).below(SALTELLI + 16, draw, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trajectories_move_each_factor_once_and_stay_on_the_grid() {
        let mut visits = [0_u32; 4];
        for row in 0..400 {
            let walk = trajectory(3, 4, 7, row);
            let mut moved = walk.order.clone();
            moved.sort_unstable();
            assert_eq!(moved, [0, 1, 2]);
            for (pair, (&factor, &step)) in walk.points.windows(2).zip(walk.order.iter().zip(&walk.steps)) {
                for (i, (after, before)) in pair[1].iter().zip(&pair[0]).enumerate() {
                    let expected = if i == factor { step } else { 0.0 };
                    assert!((after - before - expected).abs() < 1e-12);
                }
                assert!((step.abs() - 2.0 / 3.0).abs() < 1e-12);
            }
            for place in &walk.points {
                for &x in place {
                    let level = x * 3.0;
                    assert!((level - level.round()).abs() < 1e-9, "{x}");
                    visits[level.round() as usize] += 1;
                }
            }
        }
        // 400 · 4 points · 3 factors over 4 levels; the binomial standard error is below 30, and moves pair levels
        assert!(visits.iter().all(|&n| n.abs_diff(1200) < 300), "{visits:?}");
    }

    #[test]
    fn rows_follow_from_their_number_and_differ() {
        assert_eq!(saltelli(4, 3, 5), saltelli(4, 3, 5));
        assert_ne!(saltelli(4, 3, 5), saltelli(4, 3, 6));
        assert_ne!(trajectory(4, 4, 3, 5), trajectory(4, 4, 4, 5));
        let row = saltelli(4, 3, 5);
        assert_eq!((row.len(), row[2][0], row[2][1]), (6, row[1][0], row[0][1]));
        let mean: f64 = (0..5000).map(|row| saltelli(2, 1, row)[0][1]).sum::<f64>() / 5000.0;
        assert!((mean - 0.5).abs() < 5.0 * (1.0_f64 / 12.0 / 5000.0).sqrt(), "{mean}");
    }
}
