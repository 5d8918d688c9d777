//! An index of the ids and names of parts. It stores positions only; the texts stay in the parts.

use std::hash::{BuildHasher as _, RandomState};

use crate::net::expr::Names;
use crate::net::ids::{ClassId, ParameterId, PlaceId, TransitionId};
use crate::net::parts::{Parameter, Place, TokenClass, Transition};

/// A part with an id, and possibly a name.
pub(super) trait Named {
    /// The id.
    fn id(&self) -> &str;
    /// The name; empty if the part is found only by its id.
    fn name(&self) -> &str;
}

impl Named for Place {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for Transition {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for TokenClass {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        ""
    }
}

impl Named for Parameter {
    fn id(&self) -> &str {
        &self.name
    }

    fn name(&self) -> &str {
        ""
    }
}

/// No part.
const FREE: u32 = u32::MAX;

/// The parts of one kind by id and name: a hash table with linear probing, at most three quarters full.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// [`FREE`], or twice the position of a part; plus 1 if it is found by its name.
    slots: Vec<u32>,
    used: usize,
    hasher: RandomState,
}

impl Index {
    /// The position of the first part that was added under this id or name.
    pub(super) fn find<P: Named>(&self, parts: &[P], text: &str) -> Option<usize> {
        let slot = self.slot(parts, text)?;
        Some(self.slots[slot] as usize / 2).filter(|_| self.slots[slot] != FREE)
    }

    /// Adds the id of a part, unless another part was added under this text.
    pub(super) fn add_id<P: Named>(&mut self, parts: &[P], position: usize) {
        self.add(parts, entry(position));
    }

    /// Adds the name of a part, unless it is empty or another part was added under this text.
    pub(super) fn add_name<P: Named>(&mut self, parts: &[P], position: usize) {
        if !parts[position].name().is_empty() {
            self.add(parts, entry(position) + 1);
        }
    }

    fn add<P: Named>(&mut self, parts: &[P], entry: u32) {
        if self.used >= self.slots.len() / 4 * 3 {
            let larger = vec![FREE; (2 * self.slots.len()).max(8)];
            for old in std::mem::replace(&mut self.slots, larger).into_iter().filter(|old| *old != FREE) {
                if let Some(slot) = self.slot(parts, text_of(parts, old)) {
                    self.slots[slot] = old;
                }
            }
        }
        if let Some(slot) = self.slot(parts, text_of(parts, entry)).filter(|&slot| self.slots[slot] == FREE) {
            self.slots[slot] = entry;
            self.used += 1;
        }
    }

    /// The slot of a text: the slot in which it is stored, or the free slot for it. `None` if there are no slots.
    fn slot<P: Named>(&self, parts: &[P], text: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = self.hasher.hash_one(text) as usize & mask;
        while self.slots[slot] != FREE && text_of(parts, self.slots[slot]) != text {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }
}

/// The entry for the id of a part.
fn entry(position: usize) -> u32 {
    u32::try_from(2 * position).expect("a net has fewer than 2^31 parts of a kind")
}

fn text_of<P: Named>(parts: &[P], entry: u32) -> &str {
    let part = &parts[entry as usize / 2];
    if entry.is_multiple_of(2) { part.id() } else { part.name() }
}

/// The indices of a net.
#[derive(Clone, Debug, Default)]
pub(super) struct NameIndex {
    pub(super) places: Index,
    pub(super) transitions: Index,
    pub(super) classes: Index,
    pub(super) parameters: Index,
}

/// The names that an expression of a net can use.
pub(super) struct Lookup<'a> {
    pub(super) places: &'a [Place],
    pub(super) classes: &'a [TokenClass],
    pub(super) parameters: &'a [Parameter],
    pub(super) index: &'a NameIndex,
    /// True if the index has ids only, and names of places are searched.
    pub(super) searches_names: bool,
}

impl Names for Lookup<'_> {
    fn place(&self, name: &str) -> Option<PlaceId> {
        let by_name = || self.places.iter().position(|place| self.searches_names && place.name == name);
        self.index.places.find(self.places, name).or_else(by_name).map(PlaceId::from_index)
    }

    fn class(&self, name: &str) -> Option<ClassId> {
        self.index.classes.find(self.classes, name).map(ClassId::from_index)
    }

    fn parameter(&self, name: &str) -> Option<ParameterId> {
        self.index.parameters.find(self.parameters, name).map(ParameterId::from_index)
    }
}

impl NameIndex {
    /// The index of the ids of these parts, without names.
    pub(super) fn of_ids(
        places: &[Place],
        transitions: &[Transition],
        classes: &[TokenClass],
        parameters: &[Parameter],
    ) -> Self {
        let mut index = Self::default();
        (0..places.len()).for_each(|i| index.places.add_id(places, i));
        (0..transitions.len()).for_each(|i| index.transitions.add_id(transitions, i));
        (0..classes.len()).for_each(|i| index.classes.add_id(classes, i));
        (0..parameters.len()).for_each(|i| index.parameters.add_id(parameters, i));
        index
    }

    /// The transition of this id or name.
    pub(super) fn transition(&self, transitions: &[Transition], name: &str) -> Option<TransitionId> {
        self.transitions.find(transitions, name).map(TransitionId::from_index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference is a map in which ids precede names.
    #[test]
    fn parts_are_found_by_id_first_and_then_by_name() {
        let place = |(i, name): (usize, &str)| Place { id: format!("p{i}"), name: name.into(), ..Place::default() };
        let names = ["p7", "", "queue", "p1", "queue", "p2000", "p12"];
        let parts: Vec<Place> = (0..1_000).map(|i| place((i / 2 * 2, names[i % names.len()]))).collect();
        let (mut index, mut map) = (Index::default(), std::collections::HashMap::new());
        assert_eq!(index.find(&parts, "p0"), None);
        for (i, part) in parts.iter().enumerate() {
            index.add_id(&parts, i);
            map.entry(part.id.as_str()).or_insert(i);
        }
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| !part.name.is_empty()) {
            index.add_name(&parts, i);
            map.entry(part.name.as_str()).or_insert(i);
        }
        for text in (0..1_100).map(|i| format!("p{i}")).chain(["queue", "", "p2000"].map(str::to_owned)) {
            assert_eq!(index.find(&parts, &text), map.get(text.as_str()).copied(), "{text}");
        }
        assert!(index.slots.len() <= 2_048 && index.used == map.len());
    }
}
