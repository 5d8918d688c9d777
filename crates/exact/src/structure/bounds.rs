//! Bounds of the tokens in each place that follow from the structure and the initial marking.

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use serde::{Deserialize, Serialize};

use crate::compile::Program;
use crate::structure::incidence::{Incidence, number};
use crate::structure::limits::{Budget, Cut};
use crate::structure::lp::{Solved, solve, whole_multiple};
use crate::structure::semiflows::Flows;

/// Source of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BoundSource {
    /// A P-semiflow: a weighted sum of tokens that never changes.
    Invariant,
    /// The marking equation: a weighted sum of tokens that never grows.
    #[serde(rename = "marking equation")]
    MarkingEquation,
    /// The place's capacity.
    Capacity,
}

/// An upper bound of the tokens in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBound {
    /// The bound; none if the structure does not imply one.
    pub most: Option<u64>,
    /// Source of the bound; none without a bound.
    pub source: Option<BoundSource>,
    /// The weights that prove the bound: the weighted sum of tokens never exceeds its initial value. Rows after the
    /// rows of the net are complementary places of places with a capacity. Empty if the bound has no weights.
    pub weights: Vec<(u32, i128)>,
    /// True if integers prove the bound, or prove that the marking equation implies none; otherwise the bound is
    /// rounded from floating point.
    pub proved: bool,
}

/// The bounds, per row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The bound of each row of the net.
    pub rows: Vec<RowBound>,
    /// Reason why some bounds are possibly missing or larger than necessary.
    pub cut: Option<Cut>,
}

/// The bounds of all rows: the best of P-semiflows, marking equation and capacities.
///
/// ```text
/// max M(p)  such that  M = M0 + C x,  M ≥ 0,  x ≥ 0
/// ```
///
/// is solved as its dual, whose solution is a weighted sum that proves the bound. The bounds are not always reached, since
/// the marking equation has solutions that no firing sequence reaches. They hold with inhibitors, tests, priorities and any
/// delays, which only make fewer markings reachable. Source: \[Murata1989\], \[Silva1998\].
///
/// `semiflows` belong to the net. `extended` is the net with complementary places for capacities. If known, `bounded` is true for each
/// row of `extended` that is part of a weighted sum that never grows.
pub fn place_bounds(
    incidence: &Incidence,
    extended: &Incidence,
    program: &Program,
    semiflows: &Flows,
    bounded: Option<&[bool]>,
    budget: &Budget<'_>,
) -> Bounds {
    let mut rows: Vec<RowBound> =
        (0..incidence.rows.len()).map(|row| start(incidence, program, semiflows, row)).collect();
    let open = extended.rows_with_open_change();
    let mut cut = None;
    for (row, known) in rows.iter_mut().enumerate() {
        let hopeless = open[row] || bounded.is_some_and(|bounded| !bounded[row]);
        if hopeless || known.most == Some(u64::from(incidence.initial[row])) {
            continue;
        }
        match by_equation(extended, &open, row, budget) {
            Ok(Some(found)) if known.most.is_none_or(|most| found.most.is_some_and(|better| better < most)) => {
                *known = found;
            }
            Ok(_) => {}
            Err(Cut::Numerical { reason }) => cut = cut.or(Some(Cut::Numerical { reason })),
            Err(reason) => {
                cut = Some(reason);
                break;
            }
        }
    }
    Bounds { rows, cut }
}

/// The bound of a row from semiflows and from the capacity of the place.
fn start(incidence: &Incidence, program: &Program, semiflows: &Flows, row: usize) -> RowBound {
    let mut best = RowBound { most: None, source: None, weights: Vec::new(), proved: true };
    let index = number(row);
    for vector in &semiflows.vectors {
        let Ok(at) = vector.binary_search_by_key(&index, |&(i, _)| i) else { continue };
        let Some(value) = weighted_sum(incidence, vector) else { continue };
        let most = u64::try_from(value / vector[at].1).ok();
        if most.is_some_and(|most| best.most.is_none_or(|known| most < known)) {
            best = RowBound { most, source: Some(BoundSource::Invariant), weights: vector.clone(), proved: true };
        }
    }
    let place = incidence.place_of[row];
    if let Some(capacity) = program.capacity[place as usize].map(u64::from) {
        let most = capacity.max(u64::from(incidence.initial[row]));
        if best.most.is_none_or(|known| most < known) {
            best =
                RowBound { most: Some(most), source: Some(BoundSource::Capacity), weights: Vec::new(), proved: true };
        }
    }
    best
}

/// The weighted sum of the initial tokens; none if it overflows.
pub fn weighted_sum(incidence: &Incidence, vector: &[(u32, i128)]) -> Option<i128> {
    vector.iter().try_fold(0_i128, |sum, &(row, weight)| {
        sum.checked_add(weight.checked_mul(i128::from(incidence.initial[row as usize]))?)
    })
}

/// Amount that is added before an unproved result of a linear program is rounded down.
const ROUNDING: f64 = 1e-6;

/// The bound of a row from the marking equation, if any.
fn by_equation(incidence: &Incidence, open: &[bool], row: usize, budget: &Budget<'_>) -> Result<Option<RowBound>, Cut> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let variable = |(i, &tokens): (usize, &u32)| {
        let least = if i == row { 1.0 } else { 0.0 };
        let most = if open[i] { 0.0 } else { f64::INFINITY };
        problem.add_var(f64::from(tokens), (least, most))
    };
    let variables: Vec<_> = incidence.initial.iter().enumerate().map(variable).collect();
    for t in 0..incidence.transitions.len() {
        let changes = incidence.combined.row(t);
        let terms: Vec<_> = changes.iter().map(|c| (variables[c.counter as usize], f64::from(c.by))).collect();
        if !terms.is_empty() {
            problem.add_constraint(terms.as_slice(), ComparisonOp::Le, 0.0);
        }
    }
    let (value, weights) = match solve(&mut problem, &variables, budget)? {
        Solved::Best(value, weights) => (value, weights),
        Solved::Infeasible => return Ok(None),
        Solved::Unbounded => return Err(Cut::Numerical { reason: "a bound below 0".to_owned() }),
    };
    let never_grows = |v: &[i128]| {
        let change = |t: usize| {
            incidence
                .combined
                .row(t)
                .iter()
                .try_fold(0_i128, |sum, c| sum.checked_add(v[c.counter as usize].checked_mul(i128::from(c.by))?))
        };
        v[row] > 0 && (0..incidence.transitions.len()).all(|t| change(t).is_some_and(|change| change <= 0))
    };
    let source = Some(BoundSource::MarkingEquation);
    if let Some(whole) = whole_multiple(&weights, never_grows) {
        let weights: Vec<_> = (0..).zip(whole).filter(|&(_, w)| w > 0).collect();
        let at = weights.iter().find(|&&(i, _)| i as usize == row).map_or(1, |&(_, w)| w);
        let most = weighted_sum(incidence, &weights).and_then(|sum| u64::try_from(sum / at).ok());
        return Ok(most.map(|most| RowBound { most: Some(most), source, weights, proved: true }));
    }
    let most = (value + ROUNDING * value.max(1.0)).floor() as u64;
    Ok(Some(RowBound { most: Some(most), source, weights: Vec::new(), proved: false }))
}
