//! Canonical markings: of all markings that differ only by exchanges of equal parts, the marking whose parts are sorted.

use std::cmp::Ordering;

use crate::compile::Program;
use crate::fold::Symmetry;
use crate::semantics::{Fault, fire};

/// Numbers of markings below this limit are exact although they are computed with logarithms.
const EXACT: f64 = 1e12;

/// Equal parts of a net, by their counters, places and transitions.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    classes: Vec<Class>,
    /// Per place: its class, part and position in the part.
    place: Vec<Option<At>>,
    /// Per transition: its class, part and position in the part.
    transition: Vec<Option<At>>,
}

/// Parts that may be exchanged; equal positions correspond to each other.
#[derive(Clone, Debug)]
struct Class {
    counters: Vec<Vec<u32>>,
    places: Vec<Vec<u32>>,
    transitions: Vec<Vec<u32>>,
}

/// Class, part, and position in the part.
type At = (usize, usize, usize);

impl Class {
    fn compare(&self, marking: &[u32], a: usize, b: usize) -> Ordering {
        let tokens = |part: usize| self.counters[part].iter().map(|&counter| marking[counter as usize]);
        tokens(a).cmp(tokens(b))
    }

    /// Returns the parts in the order of their tokens.
    fn order(&self, marking: &[u32]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.counters.len()).collect();
        order.sort_by(|&a, &b| self.compare(marking, a, b));
        order
    }
}

impl Canonical {
    pub(crate) fn new(symmetry: &Symmetry, program: &Program) -> Self {
        let of_classes = program.classes() as u32;
        let mut canonical = Self {
            classes: Vec::new(),
            place: vec![None; program.places()],
            transition: vec![None; program.transitions()],
        };
        for (c, class) in symmetry.classes().iter().enumerate() {
            for (part, (places, transitions)) in class.places.iter().zip(&class.transitions).enumerate() {
                places.iter().enumerate().for_each(|(i, own)| canonical.place[own.index()] = Some((c, part, i)));
                transitions
                    .iter()
                    .enumerate()
                    .for_each(|(i, own)| canonical.transition[own.index()] = Some((c, part, i)));
            }
            let places: Vec<Vec<u32>> =
                class.places.iter().map(|all| all.iter().map(|id| id.index() as u32).collect()).collect();
            let counters = |all: &Vec<u32>| all.iter().flat_map(|p| p * of_classes..(p + 1) * of_classes).collect();
            canonical.classes.push(Class {
                counters: places.iter().map(counters).collect(),
                places,
                transitions: class
                    .transitions
                    .iter()
                    .map(|all| all.iter().map(|id| id.index() as u32).collect())
                    .collect(),
            });
        }
        canonical
    }

    /// Sorts the parts of a marking by insertion, because most parts are still in order after a firing.
    pub(crate) fn sort(&self, marking: &mut [u32]) {
        for class in &self.classes {
            for i in 1..class.counters.len() {
                let mut at = i;
                while at > 0 && class.compare(marking, at, at - 1) == Ordering::Less {
                    for (&a, &b) in class.counters[at].iter().zip(&class.counters[at - 1]) {
                        marking.swap(a as usize, b as usize);
                    }
                    at -= 1;
                }
            }
        }
    }

    /// Returns the number of markings that exchanges of parts can turn a marking into, including itself.
    pub(crate) fn orbit(&self, marking: &[u32]) -> f64 {
        let ln_factorial = |n: usize| (2..=n).map(|i| (i as f64).ln()).sum::<f64>();
        let of_class = |class: &Class| {
            let order = class.order(marking);
            let equal = order.chunk_by(|&a, &b| class.compare(marking, a, b) == Ordering::Equal);
            let value = (ln_factorial(order.len()) - equal.map(|parts| ln_factorial(parts.len())).sum::<f64>()).exp();
            if value < EXACT { value.round() } else { value }
        };
        self.classes.iter().map(of_class).product()
    }

    /// Returns a transition together with the corresponding transitions of the other parts.
    pub(crate) fn with_equals(&self, transition: u32) -> Vec<u32> {
        match self.transition[transition as usize] {
            None => vec![transition],
            Some((class, _, slot)) => self.classes[class].transitions.iter().map(|part| part[slot]).collect(),
        }
    }

    /// Returns a place together with the corresponding places of the other parts.
    pub(crate) fn with_equal_places(&self, place: usize) -> Vec<usize> {
        match self.place[place] {
            None => vec![place],
            Some((class, _, slot)) => self.classes[class].places.iter().map(|part| part[slot] as usize).collect(),
        }
    }

    /// Gives corresponding transitions the same flag: true if the flag of at least one of them is true.
    pub(crate) fn level_flags(&self, flags: &mut [bool]) {
        for all in self.equal_transitions() {
            let flag = all.iter().any(|&t| flags[t as usize]);
            all.iter().for_each(|&t| flags[t as usize] = flag);
        }
    }

    /// Returns the lists of counters that correspond to each other.
    pub(crate) fn equal_counters(&self) -> impl Iterator<Item = Vec<u32>> {
        self.classes.iter().flat_map(|class| equal(&class.counters))
    }

    /// Returns the lists of places that correspond to each other.
    pub(crate) fn equal_places(&self) -> impl Iterator<Item = Vec<u32>> {
        self.classes.iter().flat_map(|class| equal(&class.places))
    }

    /// Returns the lists of transitions that correspond to each other.
    pub(crate) fn equal_transitions(&self) -> impl Iterator<Item = Vec<u32>> {
        self.classes.iter().flat_map(|class| equal(&class.transitions))
    }

    /// Translates a firing sequence over canonical markings to a firing sequence of the net. It ends in a canonical marking; if `peak` is
    /// given, in a marking in which this place holds at least this number of tokens.
    pub(crate) fn path(
        &self,
        program: &Program,
        canonical: &[u32],
        peak: Option<(usize, u64)>,
    ) -> Result<Vec<u32>, Fault> {
        let mut marking = program.initial.clone();
        let mut path = Vec::with_capacity(canonical.len());
        for &t in canonical {
            let actual = match self.transition[t as usize] {
                None => t,
                Some((class, part, slot)) => {
                    let class = &self.classes[class];
                    class.transitions[class.order(&marking)[part]][slot]
                }
            };
            fire(program, actual as usize, &mut marking)?;
            path.push(actual);
        }
        // all parts are equal at the start, so parts may be exchanged in the sequence as a whole
        let renamed: Vec<Vec<usize>> = match peak {
            None => self.classes.iter().map(|class| inverse(&class.order(&marking))).collect(),
            Some((place, tokens)) => {
                let mut names: Vec<Vec<usize>> =
                    self.classes.iter().map(|class| (0..class.places.len()).collect()).collect();
                if let Some((class, part, slot)) = self.place[place] {
                    let holds = |part: &Vec<u32>| program.tokens_in(part[slot] as usize, &marking) >= tokens;
                    let holder = self.classes[class].places.iter().position(holds).unwrap_or(part);
                    names[class].swap(holder, part);
                }
                names
            }
        };
        for t in &mut path {
            if let Some((class, part, slot)) = self.transition[*t as usize] {
                *t = self.classes[class].transitions[renamed[class][part]][slot];
            }
        }
        Ok(path)
    }
}

/// Returns for each position the nodes of all parts at this position.
fn equal(parts: &[Vec<u32>]) -> impl Iterator<Item = Vec<u32>> {
    (0..parts[0].len()).map(|slot| parts.iter().map(|part| part[slot]).collect())
}

/// Returns the inverse of a permutation: the positions of 0, 1, ...
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    order.iter().enumerate().for_each(|(position, &part)| inverse[part] = position);
    inverse
}
