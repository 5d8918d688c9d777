//! Bases of all integer invariants, and the rank. Both are cheap to compute, even if there are too many minimal semiflows.

use crate::structure::incidence::Incidence;
use crate::structure::limits::{Budget, Cut};
use crate::structure::rows::{Order, Sparse, Tableau, combine, gcd};
use crate::structure::semiflows::{Flows, marked, place_rows, transition_rows, units};

/// A basis of invariants, and the rank of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Independent vectors; weights may be negative.
    pub flows: Flows,
    /// Rank of the combined matrix without the excluded rows; none if the elimination was stopped.
    pub rank: Option<usize>,
}

/// A basis of the P-invariants: independent weighted sums of tokens that no firing changes, as many as there are.
/// Every P-invariant, with weights of any sign, is a rational combination of them. Exact.
pub fn place_basis(incidence: &Incidence, budget: &Budget<'_>) -> Basis {
    null_space(place_rows(incidence), &incidence.rows_with_open_change(), incidence.transitions.len(), budget)
}

/// A basis of the T-invariants: firing counts, of any sign, that do not change the marking. Exact.
pub fn transition_basis(incidence: &Incidence, budget: &Budget<'_>) -> Basis {
    null_space(transition_rows(incidence), &incidence.transitions_with_open_change(), incidence.rows.len(), budget)
}

/// Gaussian elimination, column by column, with integers: one row with an entry eliminates the entries of all other rows, and is then removed.
fn null_space(rows: Vec<Sparse>, excluded: &[bool], columns: usize, budget: &Budget<'_>) -> Basis {
    let originals = rows.len();
    let mut tableau = Tableau::new(units(rows, excluded), originals, columns, Order::Entries);
    let mut rank = 0;
    let mut cut = None;
    while let Some(column) = tableau.next_column() {
        if let Err(reason) = clear(&mut tableau, column, budget) {
            cut = Some(reason);
            break;
        }
        rank += 1;
    }
    let done = tableau.into_rows().filter(|row| row.rest.is_empty());
    let mut vectors: Vec<Sparse> = done.map(|row| with_positive_start(row.own)).collect();
    vectors.sort_unstable();
    let rank = cut.is_none().then_some(rank);
    Basis { flows: Flows { vectors, cut, excluded: marked(excluded) }, rank }
}

fn clear(tableau: &mut Tableau, column: u32, budget: &Budget<'_>) -> Result<(), Cut> {
    budget.check()?;
    let members = tableau.members(column);
    let weight =
        |id: &u32| tableau.row(*id).map(|row| (row.entry(column).unsigned_abs(), row.rest.len() + row.own.len()));
    let Some(pivot_id) = members.iter().copied().min_by_key(|id| weight(id)) else { return Ok(()) };
    let Some(pivot) = tableau.remove(pivot_id) else { return Ok(()) };
    let x = pivot.entry(column);
    for id in members.into_iter().filter(|&id| id != pivot_id) {
        let Some(row) = tableau.remove(id) else { continue };
        let y = row.entry(column);
        let divisor = gcd(x, y).max(1);
        let factor = y.checked_neg().ok_or(Cut::Overflow)? / divisor;
        tableau.insert(combine(&row, x / divisor, &pivot, factor).ok_or(Cut::Overflow)?);
    }
    Ok(())
}

/// The vector or its negative, so that the first entry is positive.
fn with_positive_start(mut vector: Sparse) -> Sparse {
    if vector.first().is_some_and(|&(_, value)| value < 0) {
        vector.iter_mut().for_each(|(_, value)| *value = -*value);
    }
    vector
}
