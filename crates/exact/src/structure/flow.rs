//! The net as a graph: the rows that a transition needs and fills, and vice versa, regardless of weights.

use crate::compile::{Csr, Term};
use crate::structure::incidence::{Incidence, OpenKind};

/// Neighbours of rows and transitions. A test arc counts as both a need and a fill of a row,
/// since it leaves the tokens that it needs, unless the transition also consumes them. An arc of
/// open weight counts as an arc; inhibitor arcs do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Per transition: rows from which it consumes tokens or that it tests.
    pub needs: Csr<u32>,
    /// Per transition: rows in which it produces tokens or that it tests.
    pub fills: Csr<u32>,
    /// Per row: transitions that need it.
    pub consumers: Csr<u32>,
    /// Per row: transitions that fill it.
    pub producers: Csr<u32>,
}

impl Flow {
    /// The graph of a net.
    pub fn of(incidence: &Incidence) -> Self {
        let transitions = incidence.transitions.len();
        let mut needs: Vec<Vec<u32>> = Vec::with_capacity(transitions);
        let mut fills: Vec<Vec<u32>> = Vec::with_capacity(transitions);
        for t in 0..transitions {
            let rows = |csr: &Csr<Term>| csr.row(t).iter().map(|term| term.counter).collect::<Vec<_>>();
            let taken = |row: u32| {
                let inputs = incidence.backward.row(t).iter();
                inputs.filter(|term| term.counter == row).map(|term| term.weight).sum::<u32>()
            };
            // a transition leaves tested tokens that it does not consume
            let left = incidence.tests.row(t).iter().filter(|test| test.weight > taken(test.counter));
            let left = left.map(|test| test.counter).collect();
            needs.push([rows(&incidence.backward), rows(&incidence.tests)].concat());
            fills.push([rows(&incidence.forward), left].concat());
        }
        for entry in &incidence.open {
            let (t, row) = (entry.transition as usize, entry.row);
            match entry.kind {
                OpenKind::Input => needs[t].push(row),
                OpenKind::Output => fills[t].push(row),
                OpenKind::Test => {
                    needs[t].push(row);
                    fills[t].push(row);
                }
                OpenKind::Inhibitor => {}
            }
        }
        for list in needs.iter_mut().chain(&mut fills) {
            list.sort_unstable();
            list.dedup();
        }
        let consumers = turned(&needs, incidence.rows.len());
        let producers = turned(&fills, incidence.rows.len());
        Self { needs: Csr::from_rows(needs), fills: Csr::from_rows(fills), consumers, producers }
    }

    /// The graph with all arcs reversed: its siphons are the traps of this graph.
    pub fn reversed(&self) -> Self {
        Self {
            needs: self.fills.clone(),
            fills: self.needs.clone(),
            consumers: self.producers.clone(),
            producers: self.consumers.clone(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.consumers.rows()
    }

    /// Number of transitions.
    pub fn transitions(&self) -> usize {
        self.needs.rows()
    }
}

/// For each of `size` items: the lists that contain it.
fn turned(lists: &[Vec<u32>], size: usize) -> Csr<u32> {
    let mut turned = vec![Vec::new(); size];
    for (list, items) in (0..).zip(lists) {
        items.iter().for_each(|&item| turned[item as usize].push(list));
    }
    Csr::from_rows(turned)
}
