//! Places and transitions that are covered by invariants or one-sided weights, and so conservative, structurally bounded,
//! consistent or repetitive. Uses linear programming, which works even if there are too many minimal semiflows.

use std::collections::BTreeMap;

use crate::structure::incidence::{Incidence, number};
use crate::structure::limits::{Budget, Cut};
use crate::structure::lp::{System, largest_support};

/// The kind of solutions: equations or inequalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The weighted sum, or the marking after the firings, stays the same.
    Equal,
    /// For places, the weighted sum never grows; for transitions, no place has fewer tokens after the firings.
    OneSided,
}

/// Rows or transitions with a positive weight in some solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Per row or transition: true if it is covered.
    pub members: Vec<bool>,
    /// True if integers prove both the covered and the uncovered part; otherwise the result comes
    /// from a linear program in floating point.
    pub proved: bool,
}

impl Cover {
    /// Returns true if everything is covered.
    pub fn is_whole(&self) -> bool {
        self.members.iter().all(|&member| member)
    }
}

/// Rows with a positive weight in some `y ≥ 0` with `y C = 0` (P-semiflows, which make a net *conservative*), or `y C ≤ 0`
/// (*structurally bounded*: bounded for every initial marking). Rows with open entries are not covered.
///
/// # Errors
///
/// [`Cut`]: out of time, stopped, or the linear program could not be solved.
pub fn place_cover(incidence: &Incidence, relation: Relation, budget: &Budget<'_>) -> Result<Cover, Cut> {
    let matrix = Matrix::new(incidence, &incidence.rows_with_open_change(), |row, t, by| (row, t, by));
    matrix.cover(relation, -1, budget)
}

/// Transitions that are part of some `x ≥ 0` with `C x = 0` (T-semiflows: *consistent*), or `C x ≥ 0` (*repetitive*:
/// can fire forever from some marking). Transitions with open entries are not covered.
///
/// # Errors
///
/// The errors of [`place_cover`].
pub fn transition_cover(incidence: &Incidence, relation: Relation, budget: &Budget<'_>) -> Result<Cover, Cut> {
    let left_out = incidence.transitions_with_open_change();
    Matrix::new(incidence, &left_out, |row, t, by| (t, row, by)).cover(relation, 1, budget)
}

/// The combined matrix by items, whose weights are the unknowns, and equations.
struct Matrix {
    /// For each item, its coefficient in each equation.
    items: Vec<BTreeMap<u32, i64>>,
    equations: usize,
    left_out: Vec<bool>,
}

impl Matrix {
    fn new(incidence: &Incidence, left_out: &[bool], item_first: fn(u32, u32, i64) -> (u32, u32, i64)) -> Self {
        let (rows, transitions) = (incidence.rows.len(), incidence.transitions.len());
        let mut items = vec![BTreeMap::new(); left_out.len()];
        for t in 0..transitions {
            for change in incidence.combined.row(t) {
                let (item, equation, by) = item_first(change.counter, number(t), i64::from(change.by));
                if !left_out[item as usize] {
                    items[item as usize].insert(equation, by);
                }
            }
        }
        Self { items, equations: rows + transitions - left_out.len(), left_out: left_out.to_vec() }
    }

    /// The largest support, and the support of the opposite statement, which must be the complement.
    ///
    /// `sign` is the direction in which the sums may change in a one-sided relation, such as -1 for sums that may fall.
    fn cover(&self, relation: Relation, sign: i64, budget: &Budget<'_>) -> Result<Cover, Cut> {
        let items = self.items.len();
        let mut columns: Vec<Vec<(u32, i64)>> =
            self.items.iter().map(|column| column.clone().into_iter().collect()).collect();
        let mut equations = self.equations;
        for (column, _) in columns.iter_mut().zip(&self.left_out).filter(|(_, left_out)| **left_out) {
            // a separate equation makes it 0
            column.push((number(equations), 1));
            equations += 1;
        }
        if relation == Relation::OneSided {
            columns.extend((0..number(self.equations)).map(|equation| vec![(equation, -sign)]));
        }
        let found = largest_support(&System { columns, equations, counted: (0, items) }, budget)?;
        let Some(_) = &found.proof else { return Ok(Cover { members: found.members, proved: false }) };
        if found.members.iter().all(|&member| member) {
            return Ok(Cover { members: found.members, proved: true });
        }
        let proved = self.rest(relation, sign, budget).is_ok_and(|rest| {
            let pairs = found.members.iter().zip(&rest).zip(&self.left_out);
            pairs.into_iter().all(|((&member, &opposite), &left_out)| left_out || member != opposite)
        });
        Ok(Cover { members: found.members, proved })
    }

    /// Items that cannot be covered (theorem of the alternative): some combination of the equations gives these items
    /// the right sign, and gives no item the wrong sign.
    fn rest(&self, relation: Relation, sign: i64, budget: &Budget<'_>) -> Result<Vec<bool>, Cut> {
        let items = self.items.len();
        let mut by_equation: Vec<Vec<(u32, i64)>> = vec![Vec::new(); self.equations];
        for (item, column) in (0..).zip(&self.items) {
            for (&equation, &value) in column {
                by_equation[equation as usize].push((item, value));
            }
        }
        let scaled = |factor: i64| {
            by_equation.iter().map(move |column| column.iter().map(|&(item, value)| (item, value * factor)).collect())
        };
        let mut columns: Vec<Vec<(u32, i64)>> = scaled(-sign).collect();
        if relation == Relation::Equal {
            columns.extend(scaled(sign));
        }
        let first = columns.len();
        columns.extend((0..number(items)).map(|item| vec![(item, -1)]));
        let system = System { columns, equations: items, counted: (first, first + items) };
        let found = largest_support(&system, budget)?;
        found.proof.ok_or(Cut::Numerical { reason: "no integer solution found".to_owned() })?;
        Ok(found.members)
    }
}
