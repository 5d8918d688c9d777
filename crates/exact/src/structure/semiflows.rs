//! Minimal semiflows, by eliminating one column after the other (Farkas; Fourier and Motzkin).
//!
//! After each column, the stored rows are exactly the extreme rays of the cone of non-negative combinations in which
//! all processed columns vanish. To achieve this, two rows of opposite sign are combined only if no other row has its
//! support within the joint support of these two rows (double description). So the result needs no filtering, and a row
//! in which all columns vanish is a minimal semiflow even if the search stops early.

use crate::structure::incidence::{Incidence, number};
use crate::structure::limits::{Budget, Cut, Limits};
use crate::structure::rows::{Order, Row, Sparse, Tableau, combine, gcd};

/// Vectors of integers, each as its non-zero entries: index and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flows {
    /// The vectors, in the order of their supports.
    pub vectors: Vec<Vec<(u32, i128)>>,
    /// Reason why more vectors possibly exist; none if the list is complete.
    pub cut: Option<Cut>,
    /// Rows, or transitions, that are in no vector because arcs with weights that depend on the marking change them.
    pub excluded: Vec<u32>,
}

/// The minimal P-semiflows: non-negative weights of the rows whose weighted sum of tokens no firing changes, with minimal
/// support and without common divisor. Every other P-semiflow is a non-negative combination of them. Exact.
///
/// Rows changed by an arc of open weight are excluded, so the results also hold for nets with such
/// arcs. Source: \[Colom1991\], \[Fukuda1996\].
pub fn place_semiflows(incidence: &Incidence, limits: &Limits, budget: &Budget<'_>) -> Flows {
    let excluded = incidence.rows_with_open_change();
    semiflows(place_rows(incidence), &excluded, incidence.transitions.len(), limits, budget)
}

/// The minimal T-semiflows: numbers of firings of each transition that restore the marking, with minimal support and
/// without common divisor. Exact. Transitions with open weights are excluded.
///
/// A T-semiflow does not imply that the firings are possible in some order.
pub fn transition_semiflows(incidence: &Incidence, limits: &Limits, budget: &Budget<'_>) -> Flows {
    let excluded = incidence.transitions_with_open_change();
    semiflows(transition_rows(incidence), &excluded, incidence.rows.len(), limits, budget)
}

/// The rows of the combined matrix, by transition.
pub(super) fn place_rows(incidence: &Incidence) -> Vec<Sparse> {
    let mut rows = vec![Vec::new(); incidence.rows.len()];
    for t in 0..incidence.transitions.len() {
        for change in incidence.combined.row(t) {
            rows[change.counter as usize].push((number(t), i128::from(change.by)));
        }
    }
    rows
}

/// The columns of the combined matrix, by row.
pub(super) fn transition_rows(incidence: &Incidence) -> Vec<Sparse> {
    let column = |t| incidence.combined.row(t).iter().map(|c| (c.counter, i128::from(c.by))).collect();
    (0..incidence.transitions.len()).map(column).collect()
}

/// The indices that are marked.
pub(super) fn marked(marks: &[bool]) -> Vec<u32> {
    (0..).zip(marks).filter(|&(_, &mark)| mark).map(|(index, _)| index).collect()
}

/// The rows that are not excluded, as the start of the elimination.
pub(super) fn units(rows: Vec<Sparse>, excluded: &[bool]) -> impl Iterator<Item = Row> {
    let rows = (0..).zip(rows).zip(excluded).filter(|(_, excluded)| !**excluded);
    rows.map(|((index, rest), _)| Row::unit(index, rest))
}

fn semiflows(rows: Vec<Sparse>, excluded: &[bool], columns: usize, limits: &Limits, budget: &Budget<'_>) -> Flows {
    let originals = rows.len();
    let mut search = Search {
        tableau: Tableau::new(units(rows, excluded), originals, columns, Order::Pairs),
        eliminated: 0,
        marks: vec![0; originals],
        epoch: 0,
    };
    let mut cut = None;
    while let Some(column) = search.tableau.next_column() {
        if let Err(reason) = search.eliminate(column, limits, budget) {
            cut = Some(reason);
            break;
        }
    }
    let done = search.tableau.into_rows().filter(|row| row.rest.is_empty());
    let mut vectors: Vec<Sparse> = done.map(|row| row.own).collect();
    vectors.sort_unstable();
    Flows { vectors, cut, excluded: marked(excluded) }
}

struct Search {
    tableau: Tableau,
    /// Number of columns eliminated so far.
    eliminated: usize,
    /// Per original row: the last pair whose support contains it.
    marks: Vec<u32>,
    epoch: u32,
}

/// Number of pairs between two checks of the clock.
const PAIRS_PER_CHECK: u64 = 256;

impl Search {
    /// Replaces the rows with an entry in the column by combinations without an entry there.
    fn eliminate(&mut self, column: u32, limits: &Limits, budget: &Budget<'_>) -> Result<(), Cut> {
        budget.check()?;
        let members = self.tableau.members(column);
        let entry = |id: u32| self.tableau.row(id).map_or(0, |row| row.entry(column));
        let (positive, negative): (Vec<u32>, Vec<u32>) = members.iter().partition(|&&id| entry(id) > 0);
        let kept = self.tableau.len() - members.len();
        self.eliminated += 1;
        let mut made = Vec::new();
        let mut pairs = 0_u64;
        for &p in &positive {
            for &n in &negative {
                pairs += 1;
                if pairs.is_multiple_of(PAIRS_PER_CHECK) {
                    budget.check()?;
                }
                if !self.is_extreme(p, n) {
                    continue;
                }
                made.push(self.combination(p, n, column)?);
                if kept + made.len() > limits.max_rows {
                    return Err(Cut::Rows { limit: limits.max_rows });
                }
            }
        }
        for id in members {
            self.tableau.remove(id);
        }
        made.into_iter().for_each(|row| self.tableau.insert(row));
        Ok(())
    }

    fn combination(&self, p: u32, n: u32, column: u32) -> Result<Row, Cut> {
        let (Some(a), Some(b)) = (self.tableau.row(p), self.tableau.row(n)) else { return Err(Cut::Overflow) };
        let (x, y) = (a.entry(column), b.entry(column));
        let divisor = gcd(x, y).max(1);
        let factor = y.checked_neg().ok_or(Cut::Overflow)? / divisor;
        combine(a, factor, b, x / divisor).ok_or(Cut::Overflow)
    }

    /// Returns true if no third row has its support within the support of these two.
    fn is_extreme(&mut self, p: u32, n: u32) -> bool {
        let (Some(a), Some(b)) = (self.tableau.row(p), self.tableau.row(n)) else { return false };
        if self.epoch == u32::MAX {
            self.marks.fill(0);
            self.epoch = 0;
        }
        self.epoch += 1;
        let mut size = 0;
        for &(index, _) in a.own.iter().chain(&b.own) {
            let mark = &mut self.marks[index as usize];
            size += usize::from(*mark != self.epoch);
            *mark = self.epoch;
        }
        // an extreme ray has at most one entry more than there are equations
        if size > self.eliminated + 1 {
            return false;
        }
        let within = |id: u32| {
            id != p
                && id != n
                && self
                    .tableau
                    .row(id)
                    .is_some_and(|row| row.own.iter().all(|&(i, _)| self.marks[i as usize] == self.epoch))
        };
        // every row with its support within this one is indexed by an original row of the support
        let originals = || a.own.iter().chain(&b.own).map(|&(index, _)| index);
        !originals().any(|index| self.tableau.bucket(index).iter().any(|&id| within(id)))
    }
}
