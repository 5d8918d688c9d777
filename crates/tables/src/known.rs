//! The prediction of a setting from the settings of its kind that may be used: all, all but one, or those on fewer machines.

use crate::curve::{Curve, Guess};
use crate::runs::{At, Group, place_of};
use crate::sizes::{NEAREST, at_size};

/// Least difference of the logarithms of two sizes.
const APART: f64 = 0.095;
/// Unit of error of a ratio of times on two numbers of machines, and for each unit of the logarithm of the size from where it was measured.
const RATIO: [f64; 2] = [0.05, 0.05];

/// The settings of a group that a prediction may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'g> {
    group: &'g Group,
    /// A setting that is left out.
    without: Option<At>,
    /// Position of the first number of machines that is left out.
    below: usize,
}

impl<'g> Known<'g> {
    /// Returns all settings of a group.
    pub(crate) fn all(group: &'g Group) -> Self {
        Self { group, without: None, below: usize::MAX }
    }

    /// Returns all settings but one.
    pub(crate) fn without(group: &'g Group, at: At) -> Self {
        Self { without: Some(at), ..Self::all(group) }
    }

    /// Returns the settings with fewer machines than those at a position.
    pub(crate) fn below(group: &'g Group, count: usize) -> Self {
        Self { below: count, ..Self::all(group) }
    }

    fn median_at(&self, at: At) -> Option<f64> {
        self.group.median_at(at).filter(|_| self.without != Some(at) && at.1 < self.below)
    }

    /// Returns the position of a number of machines.
    pub(crate) fn count_of(&self, machines: f64) -> Option<usize> {
        place_of(&self.group.machines, machines)
    }

    /// Returns the position of a size.
    pub(crate) fn size_of(&self, size: f64) -> Option<usize> {
        place_of(&self.group.sizes, size)
    }

    /// Returns the positions of the numbers of machines that may be used.
    fn counts(&self) -> std::ops::Range<usize> {
        0..self.group.machines.len().min(self.below)
    }

    /// Predicts a setting without runs; none if the runs do not show it.
    pub(crate) fn guess(&self, size: f64, machines: f64) -> Option<Guess> {
        let count = self.count_of(machines).filter(|count| *count < self.below);
        let by_size = count.and_then(|count| self.over_sizes(size, count));
        match (by_size, self.over_machines(size, machines)) {
            (Some(by_size), Some(by_machines)) => Some(combined(by_size, by_machines)),
            (None, None) => count.and_then(|count| self.in_proportion(size, count)),
            (one, other) => one.or(other),
        }
    }

    /// Predicts a size on measured machines by the ratio of the times on these and on other machines at another size, as near as possible.
    fn in_proportion(&self, size: f64, count: usize) -> Option<Guess> {
        let far = |place: &usize| (self.group.sizes[*place] / size).ln().abs();
        let own = self.near(size, count).into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
        let apart = |other: &usize| (self.group.machines[*other] / self.group.machines[count]).ln().abs();
        let at_size = |other: usize| {
            let measured = self.size_of(size).and_then(|size| self.median_at((size, other)));
            let measured = measured.map(|log| Guess { log, unit: 0.0, is_inside: true });
            measured.or_else(|| self.over_sizes(size, other))
        };
        let others = self.counts().filter(|&other| other != count && self.median_at((own, other)).is_some());
        let known = others.filter_map(|other| Some((other, at_size(other)?)));
        let (other, guess) = known.min_by(|(a, _), (b, _)| apart(a).total_cmp(&apart(b)))?;
        let log = guess.log + self.median_at((own, count))? - self.median_at((own, other))?;
        Some(Guess { log, unit: guess.unit.hypot(RATIO[0] + RATIO[1] * far(&own)), is_inside: false })
    }

    /// Returns the positions of the sizes on both sides of a size that were measured on a number of machines, ascending. On each side, each differs from the
    /// one before by a tenth at least, so that the noise of two nearly equal sizes is not taken for growth.
    fn near(&self, size: f64, count: usize) -> Vec<usize> {
        let all = &self.group.by_count[count];
        let place = all.partition_point(|(own, _)| self.group.sizes[*own] < size);
        let measured = self.size_of(size);
        let is_known =
            |own: &usize| self.without != Some((*own, count)) && count < self.below && measured != Some(*own);
        let (left, right) = (all[..place].iter().rev(), all[place..].iter());
        let mut near = self.spaced(left.map(|(own, _)| *own).filter(is_known));
        near.reverse();
        near.extend(self.spaced(right.map(|(own, _)| *own).filter(is_known)));
        near
    }

    /// Returns the first of some sizes and others with a distance, or the last one if all are near.
    fn spaced(&self, sizes: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut last = None;
        for own in sizes {
            let is_apart = |other: &usize| (self.group.sizes[*other] / self.group.sizes[own]).ln().abs() > APART;
            if found.last().is_none_or(is_apart) {
                found.push(own);
            }
            last = Some(own);
            if found.len() == NEAREST {
                break;
            }
        }
        found.extend(last.filter(|own| found.len() == 1 && found[0] != *own));
        found
    }

    /// Predicts a size from other sizes on the same machines.
    fn over_sizes(&self, size: f64, count: usize) -> Option<Guess> {
        let point = |place: usize| Some([self.group.sizes[place], self.median_at((place, count))?]);
        let points: Vec<[f64; 2]> = self.near(size, count).into_iter().filter_map(point).collect();
        at_size(&points, size)
    }

    /// Predicts a number of machines from others. If the size has no runs, it is predicted on each first.
    fn over_machines(&self, size: f64, machines: f64) -> Option<Guess> {
        let (measured, asked) = (self.size_of(size), self.count_of(machines));
        let (mut squares, mut is_inside, mut by_size) = (0.0, true, 0);
        let mut points = Vec::new();
        for count in self.counts().filter(|&count| Some(count) != asked) {
            let own = self.group.machines[count];
            if let Some(log) = measured.and_then(|size| self.median_at((size, count))) {
                points.push([own, log]);
            } else if let Some(guess) = self.over_sizes(size, count).or_else(|| self.in_proportion(size, count)) {
                squares += guess.unit.powi(2);
                is_inside &= guess.is_inside;
                by_size += 1;
                points.push([own, guess.log]);
            }
        }
        let guess = Curve::of_logs(points)?.guess(machines);
        let unit = (guess.unit.powi(2) + squares / f64::from(by_size.max(1))).sqrt();
        Some(Guess { unit, is_inside: guess.is_inside && is_inside, ..guess })
    }
}

/// Combines two predictions by the inverses of their squared units.
fn combined(a: Guess, b: Guess) -> Guess {
    // their errors are of the same runs, so the better one bounds what both together know
    let (weight, other) = (a.unit.powi(-2), b.unit.powi(-2));
    Guess {
        log: (weight * a.log + other * b.log) / (weight + other),
        unit: a.unit.min(b.unit).max(0.5 * (a.log - b.log).abs()),
        is_inside: a.is_inside || b.is_inside,
    }
}
