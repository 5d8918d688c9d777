//! A marking in work. In a large net it also lists the counters that differ from the initial marking, so that copying, firing and
//! storing it take time in proportion to these.

use std::ops::Deref;
use std::sync::Arc;

use crate::compile::Program;
use crate::net::ArcKind;
use crate::semantics::{Fault, fire};

/// A marking; it is read as a slice with one number per counter.
#[derive(Clone, Debug)]
pub(crate) struct Marking {
    tokens: Vec<u32>,
    changes: Option<Changes>,
}

/// The counters of a marking that may differ from the initial marking.
#[derive(Clone, Debug)]
struct Changes {
    initial: Arc<[u32]>,
    counters: Vec<u32>,
    /// Per counter: true if it is listed.
    is_listed: Vec<bool>,
}

impl Changes {
    fn add(&mut self, counter: u32) {
        if !std::mem::replace(&mut self.is_listed[counter as usize], true) {
            self.counters.push(counter);
        }
    }
}

impl Deref for Marking {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.tokens
    }
}

impl Marking {
    /// Returns a marking without a list of changes.
    pub(crate) fn plain(tokens: &[u32]) -> Self {
        Self { tokens: tokens.to_vec(), changes: None }
    }

    /// Returns the initial marking, which lists its changes from now on.
    pub(crate) fn listing(initial: Arc<[u32]>) -> Self {
        let changes = Changes { counters: Vec::new(), is_listed: vec![false; initial.len()], initial };
        Self { tokens: changes.initial.to_vec(), changes: Some(changes) }
    }

    /// Returns all tokens for writing, of a marking that does not list its changes.
    pub(crate) fn plain_mut(&mut self) -> &mut [u32] {
        debug_assert!(self.changes.is_none(), "a change would not be listed");
        &mut self.tokens
    }

    /// Returns each counter that differs from the initial marking, with its tokens, in any order; none if changes are not listed.
    pub(crate) fn changed(&self) -> Option<impl Iterator<Item = (u32, u32)> + Clone> {
        self.changes.as_ref().map(|changes| {
            let all = changes.counters.iter().map(|&counter| (counter, self.tokens[counter as usize]));
            all.filter(|&(counter, tokens)| tokens != changes.initial[counter as usize])
        })
    }

    /// Becomes the initial marking with these changes.
    pub(crate) fn change(&mut self, changed: impl Iterator<Item = (u32, u32)>) {
        let changes = self.changes.as_mut().expect("the marking lists its changes");
        for counter in changes.counters.drain(..) {
            self.tokens[counter as usize] = changes.initial[counter as usize];
            changes.is_listed[counter as usize] = false;
        }
        for (counter, tokens) in changed {
            self.tokens[counter as usize] = tokens;
            changes.add(counter);
        }
    }

    /// Becomes equal to a marking of the same form.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        match other.changed() {
            None => self.tokens.copy_from_slice(&other.tokens),
            Some(changed) => self.change(changed),
        }
    }

    /// Fires `t`, which must be enabled.
    #[inline]
    pub(crate) fn fire(&mut self, program: &Program, t: usize) -> Result<(), Fault> {
        fire(program, t, &mut self.tokens)?;
        if let Some(changes) = &mut self.changes {
            program.changes.row(t).iter().for_each(|change| changes.add(change.counter));
            let dynamic = program.dynamic.row(t).iter();
            let dynamic = dynamic.filter(|arc| matches!(arc.kind, ArcKind::Input | ArcKind::Output));
            dynamic.for_each(|arc| changes.add(arc.counter));
        }
        Ok(())
    }
}

impl PartialEq for Marking {
    fn eq(&self, other: &Self) -> bool {
        let holds = |of: &Self, (counter, tokens): (u32, u32)| of.tokens[counter as usize] == tokens;
        match (self.changed(), other.changed()) {
            (Some(mut own), Some(mut others)) => own.all(|c| holds(other, c)) && others.all(|c| holds(self, c)),
            _ => self.tokens == other.tokens,
        }
    }
}
