//! Selection of the next point to evaluate, and the answer from all evaluated points.
//!
//! Implements two searches, and divides the error probability among the looks.

use toml::Value;

use crate::estimate::Measured;
use crate::optimize::judge::{Judgement, Verdict};
use crate::optimize::plan::OptimizePlan;
use crate::optimize::settings::{Faster, Search};
use crate::sweep::Point;

/// A point that may be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The point; its number is its position in the grid of the axes, starting at 1.
    pub point: Point,
    /// Index of the point's value on each axis.
    pub levels: Vec<usize>,
    /// Fixed cost, independent of the time.
    pub cost: f64,
    /// Cost for each second of the mean time, >= 0; 0 if costs do not depend on times.
    pub per_s: f64,
}

/// The evaluation of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Position of the point among the candidates.
    pub candidate: usize,
    /// The decision about the point.
    pub judgement: Judgement,
    /// Cost of the point with its interval, if it is an estimate.
    pub cost: Option<Measured>,
}

impl Look {
    /// The interval of the cost; none if the cost is not an estimate.
    pub(in crate::optimize) fn cost_interval(&self) -> Option<[f64; 2]> {
        self.cost.as_ref()?.ends()
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The point of this look meets the deadline, and every cheaper point was proved to miss it.
    /// With estimated costs, a point counts as cheaper only if its cost is lower by more than the share
    /// `optimize.indifference`.
    Cheapest(usize),
    /// The point of this look meets the deadline, but another point may be cheaper and also meet it.
    Meets(usize),
    /// No point meets the deadline.
    None,
    /// No point was proved to meet the deadline, but some points are undecided.
    Undecided,
    /// The caller stopped the search.
    Stopped,
}

/// All results of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Search method that was used; not `auto`.
    pub search: Search,
    /// The evaluated points, in the order of evaluation.
    pub looks: Vec<Look>,
    /// Candidates that were not evaluated, because they are no faster on any axis than a candidate that failed, or cost too
    /// much regardless of their time.
    pub eliminated: Vec<usize>,
    /// The answer.
    pub answer: Answer,
}

/// Returns all candidates of a valid plan in order of preference: by ascending cost, then by number.
///
/// # Errors
///
/// The error of `cost` for the first point that has no cost.
pub fn candidates<E>(plan: &OptimizePlan, mut cost: impl FnMut(&Point) -> Result<f64, E>) -> Result<Vec<Candidate>, E> {
    let values: Vec<Vec<Value>> = plan.axis.iter().map(|axis| axis.levels()).collect();
    let count: usize = values.iter().map(Vec::len).product();
    let candidate = |number: usize| {
        let mut rest = number;
        let mut levels = vec![0; values.len()];
        for (level, values) in levels.iter_mut().zip(&values).rev() {
            (*level, rest) = (rest % values.len(), rest / values.len());
        }
        let chosen = levels.iter().zip(&values).map(|(&level, values)| Some(values[level].clone())).collect();
        let point = Point { number: number as u64 + 1, values: chosen };
        Ok(Candidate { cost: cost(&point)?, per_s: 0.0, point, levels })
    };
    let mut all: Vec<Candidate> = (0..count).map(candidate).collect::<Result<_, E>>()?;
    all.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.point.number.cmp(&b.point.number)));
    Ok(all)
}

/// Returns true if bisection applies: only one axis has more than one value, and along that axis the cost rises
/// and the job gets faster.
pub fn may_bisect(plan: &OptimizePlan, candidates: &[Candidate]) -> bool {
    let moves = |&which: &usize| candidates.iter().any(|candidate| candidate.levels[which] > 0);
    let moving: Vec<usize> = (0..plan.axis.len()).filter(moves).collect();
    let [which] = moving[..] else { return false };
    let rises = candidates.windows(2).all(|pair| pair[0].levels[which] < pair[1].levels[which]);
    let falls = candidates.windows(2).all(|pair| pair[0].levels[which] > pair[1].levels[which]);
    match plan.axis[which].faster {
        Faster::Unknown => false,
        Faster::Up => rises,
        Faster::Down => falls,
    }
}

/// Searches the candidates. `judge(candidate, error)` judges a candidate, with probability at most `error` of a wrong verdict.
///
/// * **Bisection** evaluates the middle of the open range, until a point that meets the deadline is next to a point that does not. It
///   evaluates at most k = ⌈log₂(n + 1)⌉ points, each with error α / k. Correct if `faster` of the axis is true.
/// * **Rising cost** evaluates the cheapest remaining point, until a point meets the deadline. Points that are no faster than a
///   failed point, by `faster` of every axis, are skipped. Each of n points has error α / n.
///
/// The result is correct with probability at least 1 − α, with α = `error`, by Bonferroni. After an undecided point, the
/// search continues with more expensive points, and the result states that a cheaper point may also meet the deadline.
///
/// # Errors
///
/// The errors of `judge`.
pub fn search<E>(
    plan: &OptimizePlan,
    candidates: &[Candidate],
    judge: impl FnMut(&Candidate, f64) -> Result<Judgement, E>,
) -> Result<SearchResult, E> {
    let error = 1.0 - plan.optimize.confidence;
    let bisects = match plan.optimize.search {
        Search::Auto => may_bisect(plan, candidates),
        Search::Bisection => true,
        Search::Rising | Search::Comparison => false,
    };
    if bisects { bisect(candidates, error, judge) } else { by_rising_cost(plan, candidates, error, judge) }
}

fn bisect<E>(
    candidates: &[Candidate],
    error: f64,
    mut judge: impl FnMut(&Candidate, f64) -> Result<Judgement, E>,
) -> Result<SearchResult, E> {
    // maximum number of looks: the number of bits of n
    let most = (usize::BITS - candidates.len().leading_zeros()).max(1);
    let mut found =
        SearchResult { search: Search::Bisection, looks: Vec::new(), eliminated: Vec::new(), answer: Answer::None };
    // candidates before `from` were not proved to meet the deadline; all from `to` on meet it
    let (mut from, mut to) = (0, candidates.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let judgement = judge(&candidates[middle], error / f64::from(most))?;
        let verdict = judgement.verdict;
        found.looks.push(Look { candidate: middle, judgement, cost: None });
        match verdict {
            Verdict::Meets => to = middle,
            Verdict::Fails | Verdict::Undecided => from = middle + 1,
            Verdict::Stopped => {
                found.answer = Answer::Stopped;
                return Ok(found);
            }
        }
    }
    found.conclude(to);
    Ok(found)
}

fn by_rising_cost<E>(
    plan: &OptimizePlan,
    candidates: &[Candidate],
    error: f64,
    mut judge: impl FnMut(&Candidate, f64) -> Result<Judgement, E>,
) -> Result<SearchResult, E> {
    let share = error / candidates.len().max(1) as f64;
    let mut found =
        SearchResult { search: Search::Rising, looks: Vec::new(), eliminated: Vec::new(), answer: Answer::None };
    let mut failed: Vec<usize> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        if failed.iter().any(|&worse| no_faster(plan, candidate, &candidates[worse])) {
            found.eliminated.push(i);
            continue;
        }
        let judgement = judge(candidate, share)?;
        let verdict = judgement.verdict;
        found.looks.push(Look { candidate: i, judgement, cost: None });
        match verdict {
            Verdict::Meets => {
                found.conclude(i);
                return Ok(found);
            }
            Verdict::Fails => failed.push(i),
            Verdict::Undecided => {}
            Verdict::Stopped => {
                found.answer = Answer::Stopped;
                return Ok(found);
            }
        }
    }
    found.conclude(candidates.len());
    Ok(found)
}

/// Returns true if a candidate is not faster than another one on any axis.
pub(in crate::optimize) fn no_faster(plan: &OptimizePlan, one: &Candidate, other: &Candidate) -> bool {
    let axes = plan.axis.iter().zip(one.levels.iter().zip(&other.levels));
    axes.into_iter().all(|(axis, (one, other))| match axis.faster {
        Faster::Unknown => one == other,
        Faster::Up => one <= other,
        Faster::Down => one >= other,
    })
}

impl SearchResult {
    /// Sets the answer, given that `chosen` is the cheapest candidate that was proved to meet the deadline; `chosen` is the
    /// number of candidates if there is none.
    fn conclude(&mut self, chosen: usize) {
        let look = self.looks.iter().position(|look| look.candidate == chosen);
        let open =
            self.looks.iter().any(|look| look.candidate < chosen && look.judgement.verdict == Verdict::Undecided);
        self.answer = match (look, open) {
            (Some(look), false) => Answer::Cheapest(look),
            (Some(look), true) => Answer::Meets(look),
            (None, true) => Answer::Undecided,
            (None, false) => Answer::None,
        };
    }

    /// Returns the evaluation of the most expensive candidate that is cheaper than the chosen one; it shows
    /// why that candidate was not chosen. With estimated costs, returns the evaluation of another candidate
    /// that may meet the deadline and be cheapest.
    pub fn next_cheaper(&self) -> Option<&Look> {
        if self.search == Search::Comparison {
            return self.nearest_rival();
        }
        let chosen = match self.answer {
            Answer::Cheapest(look) | Answer::Meets(look) => self.looks[look].candidate,
            Answer::None | Answer::Undecided | Answer::Stopped => usize::MAX,
        };
        self.looks.iter().filter(|look| look.candidate < chosen).max_by_key(|look| look.candidate)
    }
}

impl SearchResult {
    /// Returns the evaluation of the candidate with the lowest measure; none if no candidate was simulated.
    pub fn closest(&self) -> Option<&Look> {
        let value = |look: &Look| look.judgement.time_s.as_ref().map_or(f64::INFINITY, |time| time.value);
        let judged = self.looks.iter().filter(|look| look.judgement.time_s.is_some());
        judged.min_by(|a, b| value(a).total_cmp(&value(b)))
    }

    fn nearest_rival(&self) -> Option<&Look> {
        let chosen = match self.answer {
            Answer::Cheapest(look) | Answer::Meets(look) => look,
            Answer::None | Answer::Undecided | Answer::Stopped => usize::MAX,
        };
        let others =
            self.looks.iter().enumerate().filter(|(i, look)| {
                *i != chosen && matches!(look.judgement.verdict, Verdict::Meets | Verdict::Undecided)
            });
        let low = |look: &Look| look.cost_interval().map_or(f64::INFINITY, |[low, _]| low);
        others.map(|(_, look)| look).min_by(|a, b| low(a).total_cmp(&low(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn plan(text: &str) -> OptimizePlan {
        OptimizePlan::from_toml(&format!("optimize.deadline_s = 1\n{text}")).unwrap()
    }

    const TWO: &str =
        "[[axis]]\nkey = 'a'\nfrom = 1\nto = 4\nfaster = 'up'\n[[axis]]\nkey = 'b'\nfrom = 1\nto = 3\nfaster = 'up'\n";

    fn number(point: &Point, axis: usize) -> f64 {
        point.values[axis].as_ref().unwrap().as_integer().unwrap() as f64
    }

    fn judgement(verdict: Verdict) -> Judgement {
        Judgement { verdict, time_s: None, level: 0.9, replications: 1, looks: 1, done_by_deadline: None }
    }

    fn found(plan: &OptimizePlan, verdict: impl Fn(&Point) -> Verdict) -> (SearchResult, Vec<Candidate>, Vec<f64>) {
        let cost = |point: &Point| Ok::<_, Infallible>((0..plan.axis.len()).map(|axis| number(point, axis)).sum());
        let all = candidates(plan, cost).unwrap();
        let mut errors = Vec::new();
        let judge = |candidate: &Candidate, error| {
            errors.push(error);
            Ok::<_, Infallible>(judgement(verdict(&candidate.point)))
        };
        (search(plan, &all, judge).unwrap(), all, errors)
    }

    fn when(meets: bool) -> Verdict {
        if meets { Verdict::Meets } else { Verdict::Fails }
    }

    #[test]
    fn bisection_finds_the_first_that_meets_with_few_looks() {
        let plan = plan("[[axis]]\nkey = 'a'\nfrom = 1\nto = 100\nfaster = 'up'");
        for first in 1..=101 {
            let (found, all, errors) = found(&plan, |point| when(number(point, 0) >= f64::from(first)));
            assert!(
                found.search == Search::Bisection && errors.len() <= 7 && errors.iter().sum::<f64>() <= 0.05 + 1e-12
            );
            match found.answer {
                Answer::Cheapest(look) => {
                    assert_eq!(all[found.looks[look].candidate].cost, f64::from(first));
                    let cheaper = found.next_cheaper().map(|look| all[look.candidate].cost);
                    assert_eq!(cheaper, (first > 1).then_some(f64::from(first - 1)));
                }
                other => assert_eq!((other, first), (Answer::None, 101)),
            }
        }
    }

    #[test]
    fn configurations_are_tried_by_rising_cost_and_worse_ones_skipped() {
        // points meet the deadline if a · b >= 6: (2, 3) and (3, 2) both cost 5, and (2, 3) comes first by its number
        let (found, all, errors) = found(&plan(TWO), |point| when(number(point, 0) * number(point, 1) >= 6.0));
        assert_eq!(found.search, Search::Rising);
        let Answer::Cheapest(look) = found.answer else { panic!("{found:?}") };
        let chosen = &all[found.looks[look].candidate];
        assert_eq!((chosen.cost, number(&chosen.point, 0)), (5.0, 2.0));
        assert!(errors.iter().all(|&error| (error - 0.05 / 12.0).abs() < 1e-12));
        // no cheaper point is better on any axis than every failed point
        let costs: Vec<f64> = found.looks.iter().map(|look| all[look.candidate].cost).collect();
        assert!(costs.is_sorted());
    }

    /// Level 1 of an axis compared with level 0: no faster if lower is faster, faster if higher is faster, otherwise unknown. This test
    /// fails if the comparison of falling axes is reversed.
    #[test]
    fn no_faster_follows_the_direction_of_the_axis() {
        for (faster, one_over_zero, zero_over_one) in
            [("faster = 'down'", true, false), ("faster = 'up'", false, true), ("", false, false)]
        {
            let plan = plan(&format!("[[axis]]\nkey = 'a'\nfrom = 1\nto = 2\n{faster}"));
            let all = candidates(&plan, |point| Ok::<_, Infallible>(number(point, 0))).unwrap();
            let [zero, one] = &all[..] else { panic!("two candidates") };
            assert_eq!((no_faster(&plan, one, zero), no_faster(&plan, zero, one)), (one_over_zero, zero_over_one));
            assert!(no_faster(&plan, one, one));
        }
    }

    #[test]
    fn configurations_no_faster_than_a_failed_one_are_eliminated() {
        // `b` costs nothing, and the cost falls with `a`: (4, 1) comes first
        let plan = plan(TWO);
        let cost = |point: &Point| Ok::<_, Infallible>(-number(point, 0));
        let all = candidates(&plan, cost).unwrap();
        let judge = |_: &Candidate, _| Ok::<_, Infallible>(judgement(Verdict::Fails));
        let found = search(&plan, &all, judge).unwrap();
        // (4, 1), (4, 2), (4, 3): all others have a smaller `a`
        assert_eq!((found.looks.len(), found.eliminated.len(), found.answer), (3, 9, Answer::None));
    }

    #[test]
    fn an_open_point_is_neither_taken_nor_forgotten() {
        let plan = plan("[[axis]]\nkey = 'a'\nfrom = 1\nto = 9\nfaster = 'up'");
        let verdict = |point: &Point| match number(point, 0) {
            x if x < 5.0 => Verdict::Fails,
            5.0 => Verdict::Undecided,
            _ => Verdict::Meets,
        };
        let (open, all, _) = found(&plan, verdict);
        let Answer::Meets(look) = open.answer else { panic!("{open:?}") };
        assert_eq!(all[open.looks[look].candidate].cost, 6.0);
        assert_eq!(open.next_cheaper().unwrap().judgement.verdict, Verdict::Undecided);
        let (undecided, ..) = found(&plan, |_| Verdict::Undecided);
        assert_eq!(undecided.answer, Answer::Undecided);
        let (stopped, ..) = found(&plan, |_| Verdict::Stopped);
        assert_eq!((stopped.answer, stopped.looks.len()), (Answer::Stopped, 1));
    }

    #[test]
    fn an_axis_with_one_value_is_none_for_bisection() {
        let fixed = "[[axis]]\nkey = 'b'\nvalues = [2]\n[[axis]]\nkey = 'a'\nfrom = 1\nto = 9\nfaster = 'up'";
        let (found, ..) = found(&plan(fixed), |point| when(number(point, 1) > 3.0));
        assert_eq!((found.search, found.looks.len()), (Search::Bisection, 3));
    }

    #[test]
    fn bisection_needs_an_axis_that_is_known_to_help() {
        let (unknown, ..) = found(&plan("[[axis]]\nkey = 'a'\nfrom = 1\nto = 9"), |point| when(number(point, 0) > 3.0));
        assert_eq!((unknown.search, unknown.looks.len()), (Search::Rising, 4));
    }
}
