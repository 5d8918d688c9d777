//! A budget of replications or time that is spent on the points with the widest intervals.
//!
//! Implements the rule and the rounds. Each round depends only on the results of the previous round. So the rounds of a
//! budget of replications are the same on any number of threads, and after an interruption. The rounds of a budget of
//! time depend on the speed of the machine.
//!
//! ```text
//! every point gets `replications`;
//! while budget is left: the tenth of the points with the widest intervals, relative to their means, double their
//! replications; the base gets the number of the point with the most replications
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sim::{Backend, Samples};
use crate::sweep::batch::{Base, results};
use crate::sweep::model::{Batch, BatchError, MakeModel};
use crate::sweep::place::Place;
use crate::sweep::point::Point;
use crate::sweep::replicated::Replicated;
use crate::sweep::result::PointResult;
use crate::sweep::wave::{Crew, Wanted};
use crate::watch::Watch;

/// Points that were simulated together, each with its replications.
type Together<'a> = Vec<(&'a Point, Replicated)>;

/// A round gives more replications to one in this number of points.
const SHARE: usize = 10;
/// Maximum number of replications of a point; the limit exists because all times are kept for differences to the base.
const MOST_REPLICATIONS: u64 = 100_000_000;
/// Maximum number of single times that are kept between rounds, 8 bytes each; points whose times were not kept are simulated again from
/// the first replication.
const MOST_KEPT: usize = 1 << 25;

/// The budget of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Total number of replications of all points, including the base.
    pub replications: u64,
    /// Half width of the mean's interval divided by the mean, at which a point needs no more replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
}

impl Budget {
    /// Returns a budget that is limited only by time.
    pub fn endless(relative_error: Option<f64>) -> Self {
        Self { replications: u64::MAX, relative_error }
    }

    /// Returns the total number of replications of each point after the next round, by number of the point; empty if no
    /// work remains.
    pub fn next_round(&self, results: &BTreeMap<u64, PointResult>) -> BTreeMap<u64, u64> {
        let mut left = self.replications.saturating_sub(spent(results));
        let mut round = BTreeMap::new();
        let Some(base) = results.get(&0) else { return round };
        let mut base_has = base.replications;
        for point in self.widest(results) {
            let own = point.replications;
            // beyond the replications that the base already has, the base needs the same number: each gets half of the budget
            let free = base_has.saturating_sub(own);
            let most = if left <= free { left } else { free + (left - free) / 2 };
            let more = own.min(MOST_REPLICATIONS.saturating_sub(own)).min(most);
            if more == 0 {
                break;
            }
            let for_base = (own + more).saturating_sub(base_has);
            left -= more + for_base;
            base_has += for_base;
            round.insert(point.point, own + more);
        }
        if base_has > base.replications {
            round.insert(0, base_has);
        }
        round
    }

    /// Returns the points of a round, the points with the widest intervals first, points with equal intervals by
    /// number. Points without an interval are never included. The base is not included either; it only keeps up with
    /// the other points.
    fn widest<'a>(&self, results: &'a BTreeMap<u64, PointResult>) -> Vec<&'a PointResult> {
        let enough = self.relative_error.unwrap_or(0.0);
        let wide = results.values().filter(|point| point.point > 0 && point.replications < MOST_REPLICATIONS);
        let mut wide: Vec<(f64, &PointResult)> =
            wide.filter_map(|point| Some((relative_width(point)?, point))).collect();
        wide.retain(|(width, _)| *width > enough);
        wide.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.point.cmp(&other.point)));
        wide.into_iter().take(results.len().div_ceil(SHARE)).map(|(_, point)| point).collect()
    }
}

/// Returns the total number of replications of all points.
pub fn spent(results: &BTreeMap<u64, PointResult>) -> u64 {
    results.values().map(|point| point.replications).fold(0, u64::saturating_add)
}

/// Returns the half width of the mean's interval divided by the mean.
fn relative_width(point: &PointResult) -> Option<f64> {
    let mean = point.mean_s.as_ref()?;
    Some(mean.half_width()? / mean.value.abs()).filter(|width| width.is_finite())
}

/// Rounds that spend a budget on points, all of which already have results.
#[derive(Clone, Copy)]
pub struct Rounds<'a> {
    /// All points, the base first.
    pub points: &'a [Point],
    /// The budget.
    pub budget: &'a Budget,
    /// Builds the models of the points.
    pub make: &'a MakeModel<'a>,
    /// Settings for running the points.
    pub batch: &'a Batch,
}

impl std::fmt::Debug for Rounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rounds").field("budget", self.budget).finish_non_exhaustive()
    }
}

impl Rounds<'_> {
    /// Continues from the results `have`, and passes each complete round to `keep`. If `watch` stops the run or the deadline
    /// passes, the function returns early, without an error, and the current round is lost.
    ///
    /// # Errors
    ///
    /// The first error of a point.
    pub fn run<E: Send>(
        &self,
        mut base: Base,
        mut have: BTreeMap<u64, PointResult>,
        watch: &dyn Watch,
        keep: &mut dyn FnMut(Vec<PointResult>) -> Result<(), E>,
    ) -> Result<(), BatchError<E>> {
        let crew = self.batch.crew()?;
        // rounds use a GPU only if the user requests one
        let backend = if self.batch.backend == Backend::Gpu { Backend::Gpu } else { Backend::Cpu };
        let mut place = self.batch.place(backend)?;
        let mut kept = Kept::default();
        loop {
            let planned = if self.budget.replications == u64::MAX { 0 } else { self.budget.replications };
            watch.progress(spent(&have), planned);
            let round = self.budget.next_round(&have);
            let found = if round.is_empty() {
                None
            } else {
                self.round(&round, &mut base, (&crew, &mut place), &mut kept, watch)?
            };
            let Some(found) = found else { return Ok(()) };
            have.extend(found.iter().map(|result| (result.point, result.clone())));
            keep(found).map_err(BatchError::Keep)?;
        }
    }

    /// Returns the results of one round; none if it was stopped.
    fn round<E: Send>(
        &self,
        round: &BTreeMap<u64, u64>,
        base: &mut Base,
        (crew, place): (&Crew, &mut Place),
        kept: &mut Kept,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<PointResult>>, BatchError<E>> {
        let level = self.batch.level;
        let mut found = Vec::new();
        for wave in waves(self.points, round) {
            let Some(ran) = self.wave((crew, place), &wave, kept, watch)? else { return Ok(None) };
            if let Some((point, ran)) = ran.iter().find(|(point, _)| point.number == 0) {
                *base = Base::new(point, ran, level);
                found.push(base.result.clone());
            }
            let others: Vec<&(&Point, Replicated)> = ran.iter().filter(|(point, _)| point.number > 0).collect();
            found.extend(results(crew, &others, base, level));
            ran.into_iter().for_each(|(point, ran)| kept.put(point.number, ran.samples));
        }
        Ok(Some(found))
    }

    /// Runs some points in one batch; none if the run was stopped.
    fn wave<'a, E: Send>(
        &self,
        (crew, place): (&Crew, &mut Place),
        wave: &[(&'a Point, u64)],
        kept: &mut Kept,
        watch: &dyn Watch,
    ) -> Result<Option<Together<'a>>, BatchError<E>> {
        let mut wanted = |&(point, until): &(&'a Point, u64)| {
            let have = kept.take(point.number);
            Wanted { point, have, until, rule: None }
        };
        let wanted = wave.iter().map(&mut wanted).collect();
        let watch = &self.batch.limited(watch);
        let ran = crew.replicate(wanted, self.make, self.batch.seed, watch, place.card())?;
        Ok(wave.iter().zip(ran).map(|(&(point, _), ran)| Some((point, ran?))).collect())
    }
}

/// Returns the points of a round with their target numbers of replications, divided into waves. The first wave is the
/// base alone, because the other points are compared with the base. The other waves have a limited size.
fn waves<'a>(points: &'a [Point], round: &BTreeMap<u64, u64>) -> Vec<Vec<(&'a Point, u64)>> {
    let wanted = points.iter().filter_map(|point| Some((point, *round.get(&point.number)?)));
    let (base, others): (Vec<_>, Vec<_>) = wanted.partition(|(point, _)| point.number == 0);
    let mut waves = if base.is_empty() { Vec::new() } else { vec![base] };
    let (mut wave, mut times) = (Vec::new(), 0);
    for (point, until) in others {
        if !wave.is_empty() && (times + until > MOST_KEPT as u64 || wave.len() == WAVE) {
            waves.push(std::mem::take(&mut wave));
            times = 0;
        }
        times += until;
        wave.push((point, until));
    }
    if !wave.is_empty() {
        waves.push(wave);
    }
    waves
}

/// Maximum number of points of a wave.
const WAVE: usize = 256;

/// Samples of previous rounds, up to the limit of memory.
#[derive(Debug, Default)]
struct Kept {
    samples: BTreeMap<u64, Samples>,
    times: usize,
}

impl Kept {
    fn take(&mut self, point: u64) -> Option<Samples> {
        let samples = self.samples.remove(&point)?;
        self.times -= samples.passage_times.len();
        Some(samples)
    }

    fn put(&mut self, point: u64, samples: Samples) {
        if self.times + samples.passage_times.len() <= MOST_KEPT {
            self.times += samples.passage_times.len();
            self.samples.insert(point, samples);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Measured;

    /// Points whose relative half width is the given number divided by the square root of the replications.
    fn results(points: &[(u64, f64)]) -> BTreeMap<u64, PointResult> {
        let result = |(point, &(replications, width)): (u64, &(u64, f64))| {
            let half = 10.0 * width / (replications as f64).sqrt();
            let mean = Measured::between(10.0, Some(10.0 - half), Some(10.0 + half));
            let result = PointResult {
                done_by_deadline: None,
                point,
                values: Vec::new(),
                replications,
                reached: replications,
                engine: String::new(),
                mean_s: (width > 0.0).then_some(mean),
                p50_s: None,
                p95_s: None,
                p99_s: None,
                difference_s: None,
                ratio: None,
            };
            (point, result)
        };
        (0..).zip(points).map(result).collect()
    }

    fn round(budget: u64, points: &[(u64, f64)]) -> Vec<(u64, u64)> {
        Budget { replications: budget, relative_error: None }.next_round(&results(points)).into_iter().collect()
    }

    #[test]
    fn the_widest_tenth_doubles_and_the_base_follows() {
        let mut points = vec![(100, 1.0); 20];
        points[7].1 = 3.0;
        points[3].1 = 2.0;
        assert_eq!(round(10_000, &points), [(0, 200), (3, 200), (7, 200)]);
        // points of equal width are ordered by number; a point without an interval is never included
        assert_eq!(round(10_000, &[(100, 1.0); 15]), [(0, 200), (1, 200), (2, 200)]);
        assert_eq!(round(10_000, &[(100, 1.0), (100, 0.0), (100, 1.0)]), [(0, 200), (2, 200)]);
        // the base already has enough replications
        assert_eq!(round(10_000, &[(1000, 1.0), (100, 1.0)]), [(1, 200)]);
        // no point needs more replications
        assert_eq!(round(10_000, &[(100, 1.0), (100, 0.0)]), []);
        let contented = Budget { replications: 10_000, relative_error: Some(0.2) };
        assert!(contented.next_round(&results(&[(100, 1.0), (100, 1.9)])).is_empty());
        assert_eq!(contented.next_round(&results(&[(100, 1.0), (100, 2.1)])).len(), 2);
    }

    /// Points of 100 s ± 3 s and 10 s ± 1 s: the second has the wider relative interval. This test fails if widths are in seconds.
    #[test]
    fn wide_is_relative_to_the_mean() {
        let mut results = results(&[(100, 1.0); 3]);
        for (point, (value, half)) in [(1, (100.0, 3.0)), (2, (10.0, 1.0))] {
            results.get_mut(&point).unwrap().mean_s =
                Some(Measured::between(value, Some(value - half), Some(value + half)));
        }
        let next = Budget { replications: 10_000, relative_error: None }.next_round(&results);
        assert_eq!(next.into_iter().collect::<Vec<_>>(), [(0, 200), (2, 200)]);
        // all are within 12% of their means, one is not within 5%
        let next = |relative_error| {
            Budget { replications: 10_000, relative_error: Some(relative_error) }.next_round(&results).len()
        };
        assert_eq!((next(0.12), next(0.05)), (0, 2));
    }

    #[test]
    fn the_budget_is_spent_to_within_one_replication() {
        for budget in 200..700 {
            let mut points = results(&[(100, 1.0), (100, 2.0)]);
            let budget = Budget { replications: budget, relative_error: None };
            loop {
                let round = budget.next_round(&points);
                if round.is_empty() {
                    break;
                }
                for (point, until) in round {
                    let own = points.get_mut(&point).unwrap();
                    assert!(until > own.replications);
                    own.replications = until;
                }
            }
            // each replication of a point needs a replication of the base
            assert!((budget.replications - 1..=budget.replications).contains(&spent(&points)), "{budget:?}");
        }
    }
}
