//! Minimal siphons and traps.
//!
//! A siphon is a set of rows such that every producer of a row of the set also needs a row of the set: once empty, the
//! set stays empty. A trap is a set of rows such that every consumer of a row of the set also produces tokens in a row
//! of the set: once marked, the set stays marked. The traps are the siphons of the reversed graph.
//!
//! All minimal siphons are found by partition, as in \[Cordone2005\]: find one siphon, then search among siphons that
//! lack its first row, then among siphons that have the first row but lack the second, and so on.

use crate::structure::flow::Flow;
use crate::structure::incidence::number;
use crate::structure::limits::{Budget, Cut, Limits};

/// Minimal siphons, or minimal traps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sets {
    /// The sets, sorted by size, then by their rows; each lists its rows in order.
    pub sets: Vec<Vec<u32>>,
    /// Reason why there may be more sets; none if these are all.
    pub cut: Option<Cut>,
}

/// The minimal siphons. Weights do not matter, except that a weight that depends on the marking counts as above 0.
pub fn minimal_siphons(flow: &Flow, limits: &Limits, budget: &Budget<'_>) -> Sets {
    let mut search = Search::new(flow);
    let mut sets = Vec::new();
    let cut = search.run(&mut sets, limits, budget).err();
    sets.sort_unstable_by(|a: &Vec<u32>, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    Sets { sets, cut }
}

/// The minimal traps.
pub fn minimal_traps(flow: &Flow, limits: &Limits, budget: &Budget<'_>) -> Sets {
    minimal_siphons(&flow.reversed(), limits, budget)
}

/// The largest siphon within `rows`; empty if `rows` contains no siphon.
pub fn largest_siphon(flow: &Flow, rows: &[u32]) -> Vec<u32> {
    Search::new(flow).largest(rows)
}

/// The largest trap within `rows`; empty if `rows` contains no trap.
pub fn largest_trap(flow: &Flow, rows: &[u32]) -> Vec<u32> {
    largest_siphon(&flow.reversed(), rows)
}

/// One part of the search: siphons that contain all rows of `within` and no row of `without`.
struct Part {
    within: Vec<u32>,
    without: Vec<u32>,
}

struct Search<'f> {
    flow: &'f Flow,
    /// Per row: true if it is in the shrinking set.
    inside: Vec<bool>,
    /// Per transition: number of its needed rows that are in the set.
    held: Vec<u32>,
    stack: Vec<u32>,
}

impl<'f> Search<'f> {
    fn new(flow: &'f Flow) -> Self {
        Self { flow, inside: vec![false; flow.rows()], held: vec![0; flow.transitions()], stack: Vec::new() }
    }

    /// Removes rows until every producer of the remaining rows needs one of these rows.
    fn largest(&mut self, rows: &[u32]) -> Vec<u32> {
        for &row in rows {
            self.inside[row as usize] = true;
            for &t in self.flow.consumers.row(row as usize) {
                self.held[t as usize] += 1;
            }
        }
        for &row in rows {
            let free = |t: &u32| self.held[*t as usize] == 0;
            if self.inside[row as usize] && self.flow.producers.row(row as usize).iter().any(free) {
                self.inside[row as usize] = false;
                self.stack.push(row);
            }
        }
        while let Some(row) = self.stack.pop() {
            for &t in self.flow.consumers.row(row as usize) {
                self.held[t as usize] -= 1;
                if self.held[t as usize] > 0 {
                    continue;
                }
                for &other in self.flow.fills.row(t as usize) {
                    if std::mem::replace(&mut self.inside[other as usize], false) {
                        self.stack.push(other);
                    }
                }
            }
        }
        let left: Vec<u32> = rows.iter().copied().filter(|&row| self.inside[row as usize]).collect();
        for &row in &left {
            self.inside[row as usize] = false;
            for &t in self.flow.consumers.row(row as usize) {
                self.held[t as usize] -= 1;
            }
        }
        left
    }

    /// A siphon within `siphon` that contains all rows of `within`, and contains no smaller such siphon.
    fn smallest(&mut self, mut siphon: Vec<u32>, within: &[u32], budget: &Budget<'_>) -> Result<Vec<u32>, Cut> {
        let tried = siphon.clone();
        for row in tried {
            if within.binary_search(&row).is_ok() || siphon.binary_search(&row).is_err() {
                continue;
            }
            budget.check()?;
            let rest: Vec<u32> = siphon.iter().copied().filter(|&other| other != row).collect();
            let smaller = self.largest(&rest);
            if !smaller.is_empty() && contains(&smaller, within) {
                siphon = smaller;
            }
        }
        Ok(siphon)
    }

    fn run(&mut self, found: &mut Vec<Vec<u32>>, limits: &Limits, budget: &Budget<'_>) -> Result<(), Cut> {
        // a row without producers is a siphon by itself, and part of no other minimal siphon
        let unfilled = |row: &u32| self.flow.producers.row(*row as usize).is_empty();
        let without: Vec<u32> = (0..number(self.flow.rows())).filter(unfilled).collect();
        for &row in &without {
            if found.len() >= limits.max_sets {
                return Err(Cut::Sets { limit: limits.max_sets });
            }
            budget.check()?;
            found.push(vec![row]);
        }
        let mut parts = vec![Part { within: Vec::new(), without }];
        while let Some(part) = parts.pop() {
            budget.check()?;
            let all = 0..number(self.flow.rows());
            let allowed: Vec<u32> = all.filter(|row| part.without.binary_search(row).is_err()).collect();
            let largest = self.largest(&allowed);
            if largest.is_empty() || !contains(&largest, &part.within) {
                continue;
            }
            // a minimal siphon contains no other siphon
            let inner = self.largest(&part.within);
            if !inner.is_empty() && inner.len() < part.within.len() {
                continue;
            }
            let siphon = self.smallest(largest, &part.within, budget)?;
            if self.smallest(siphon.clone(), &[], budget)?.len() == siphon.len() {
                if found.len() >= limits.max_sets {
                    return Err(Cut::Sets { limit: limits.max_sets });
                }
                found.push(siphon.clone());
            }
            let mut within = part.within;
            let open: Vec<u32> = siphon.into_iter().filter(|row| within.binary_search(row).is_err()).collect();
            for row in open {
                parts.push(Part { within: within.clone(), without: with(&part.without, row) });
                within = with(&within, row);
            }
        }
        Ok(())
    }
}

/// Returns true if all of `part`, in order, are in `whole`.
fn contains(whole: &[u32], part: &[u32]) -> bool {
    part.iter().all(|row| whole.binary_search(row).is_ok())
}

/// A sorted list with one more element.
fn with(list: &[u32], row: u32) -> Vec<u32> {
    let at = list.partition_point(|&other| other < row);
    [&list[..at], &[row], &list[at..]].concat()
}
