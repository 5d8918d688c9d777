//! The incidence matrices: tokens that each transition consumes, produces, changes and tests, and its inhibitors.
//!
//! A row is a counter: a place, or a place and a token class. A weight that depends on the marking is not a number;
//! such entries are *open*, and each analysis documents how it treats them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compile::{Change, Csr, Program, Term};
use crate::net::ArcKind;

/// An entry whose weight depends on the marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenEntry {
    /// Number of the row.
    pub row: u32,
    /// Number of the transition.
    pub transition: u32,
    /// Matrix of the entry: backward for an input, forward for an output.
    pub kind: OpenKind,
}

/// Direction of an arc with an open weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OpenKind {
    /// Consumes tokens.
    Input,
    /// Produces tokens.
    Output,
    /// Needs tokens and leaves them.
    Test,
    /// Disables the transition.
    Inhibitor,
}

/// The matrices of a net, one sparse row per transition; `Term::counter` and `Change::counter` are numbers of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incidence {
    /// Number of rows that are counters of the net; later rows are complementary places of places with a capacity.
    pub rows_of_net: usize,
    /// Names of the rows: `P`, or `P, Red` in a net with several token classes.
    pub rows: Vec<String>,
    /// Index of the place of each row.
    pub place_of: Vec<u32>,
    /// Ids of the transitions.
    pub transitions: Vec<String>,
    /// Tokens of each row at the start.
    pub initial: Vec<u32>,
    /// Inputs: tokens consumed.
    pub backward: Csr<Term>,
    /// Outputs: tokens produced.
    pub forward: Csr<Term>,
    /// Outputs minus inputs.
    pub combined: Csr<Change>,
    /// Inhibitors: numbers of tokens that disable.
    pub inhibition: Csr<Term>,
    /// Tests: tokens needed but not consumed.
    pub tests: Csr<Term>,
    /// Entries whose weight depends on the marking, in order.
    pub open: Vec<OpenEntry>,
}

/// The arcs of one transition by kind, under construction.
#[derive(Clone, Debug, Default)]
struct Arcs {
    input: BTreeMap<u32, u64>,
    output: BTreeMap<u32, u64>,
    test: BTreeMap<u32, u64>,
    inhibitor: BTreeMap<u32, u64>,
}

impl Incidence {
    /// The matrices of a program. In a net with several token classes, a counter without arcs and tokens has no row.
    pub fn of(program: &Program) -> Self {
        let arcs: Vec<Arcs> = (0..program.transitions()).map(|t| constant_arcs(program, t)).collect();
        let open = open_arcs(program);
        let row_of = row_numbers(program, &arcs, &open);
        let classes = program.classes();
        let mut rows = Vec::new();
        let mut place_of = Vec::new();
        let mut initial = Vec::new();
        for counter in (0..program.counters()).filter(|&counter| row_of[counter].is_some()) {
            let (place, class) = (counter / classes, counter % classes);
            let name = &program.place_names[place];
            rows.push(if classes > 1 { format!("{name}, {}", program.class_names[class]) } else { name.to_owned() });
            place_of.push(number(place));
            initial.push(program.initial[counter]);
        }
        let renumber = |counter: u32| row_of[counter as usize].expect("a counter with an arc has a row");
        let renumbered = |terms: &BTreeMap<u32, u64>| terms.iter().map(|(&c, &w)| (renumber(c), w)).collect();
        let arcs: Vec<Arcs> = arcs
            .iter()
            .map(|a| Arcs {
                input: renumbered(&a.input),
                output: renumbered(&a.output),
                test: renumbered(&a.test),
                inhibitor: renumbered(&a.inhibitor),
            })
            .collect();
        let open = open.into_iter().map(|entry| OpenEntry { row: renumber(entry.row), ..entry }).collect();
        Self::from_arcs(rows, place_of, program.transition_names.to_vec(), initial, &arcs, open)
    }

    fn from_arcs(
        rows: Vec<String>,
        place_of: Vec<u32>,
        transitions: Vec<String>,
        initial: Vec<u32>,
        arcs: &[Arcs],
        mut open: Vec<OpenEntry>,
    ) -> Self {
        open.sort_unstable();
        let terms = |pick: fn(&Arcs) -> &BTreeMap<u32, u64>| {
            let term = |(&counter, &weight): (&u32, &u64)| Term { counter, weight: clamped(weight) };
            Csr::from_rows(arcs.iter().map(|a| pick(a).iter().map(term).collect::<Vec<_>>()))
        };
        Self {
            rows_of_net: rows.len(),
            rows,
            place_of,
            transitions,
            initial,
            backward: terms(|a| &a.input),
            forward: terms(|a| &a.output),
            combined: Csr::from_rows(arcs.iter().map(changes)),
            inhibition: terms(|a| &a.inhibitor),
            tests: terms(|a| &a.test),
            open,
        }
    }

    /// The same net with one more row for each place of limited capacity: a complementary place that holds the free room,
    /// which is the capacity minus the tokens. A firing consumes the room that it needs, so the net behaves as with the capacity.
    ///
    /// A place that initially holds more than its capacity, or that has open entries, gets no such row; these places are
    /// returned.
    pub fn with_free_rooms(&self, program: &Program) -> (Self, Vec<u32>) {
        let places = program.places();
        let mut total = vec![0_u64; places];
        for (&place, &tokens) in self.place_of.iter().zip(&self.initial) {
            total[place as usize] += u64::from(tokens);
        }
        let mut is_open = vec![false; places];
        for entry in &self.open {
            is_open[self.place_of[entry.row as usize] as usize] = true;
        }
        let (mut rows, mut place_of, mut initial) = (self.rows.clone(), self.place_of.clone(), self.initial.clone());
        let mut room_of = vec![None; places];
        let mut left_out = Vec::new();
        for place in 0..places {
            let Some(capacity) = program.capacity[place].map(u64::from) else { continue };
            match capacity.checked_sub(total[place]).filter(|_| !is_open[place]) {
                None => left_out.push(number(place)),
                Some(room) => {
                    room_of[place] = Some(number(rows.len()));
                    rows.push(format!("room of {}", &program.place_names[place]));
                    place_of.push(number(place));
                    initial.push(clamped(room));
                }
            }
        }
        let arcs: Vec<Arcs> = (0..self.transitions.len()).map(|t| self.arcs_with_rooms(t, &room_of)).collect();
        let extended = Self::from_arcs(rows, place_of, self.transitions.clone(), initial, &arcs, self.open.clone());
        (Self { rows_of_net: self.rows_of_net, ..extended }, left_out)
    }

    fn arcs_with_rooms(&self, t: usize, room_of: &[Option<u32>]) -> Arcs {
        let terms = |csr: &Csr<Term>| csr.row(t).iter().map(|x| (x.counter, u64::from(x.weight))).collect();
        let mut arcs = Arcs {
            input: terms(&self.backward),
            output: terms(&self.forward),
            test: terms(&self.tests),
            inhibitor: terms(&self.inhibition),
        };
        let mut growth: BTreeMap<u32, i64> = BTreeMap::new();
        for change in self.combined.row(t) {
            if let Some(room) = room_of[self.place_of[change.counter as usize] as usize] {
                *growth.entry(room).or_default() += i64::from(change.by);
            }
        }
        for (room, growth) in growth {
            match growth {
                1.. => arcs.input.insert(room, growth.unsigned_abs()),
                0 => None,
                _ => arcs.output.insert(room, growth.unsigned_abs()),
            };
        }
        arcs
    }

    /// True for each row with an open input or output, which a firing changes by an unknown number.
    pub fn rows_with_open_change(&self) -> Vec<bool> {
        let mut found = vec![false; self.rows.len()];
        for entry in self.open_changes() {
            found[entry.row as usize] = true;
        }
        found
    }

    /// True for each transition with an open input or output.
    pub fn transitions_with_open_change(&self) -> Vec<bool> {
        let mut found = vec![false; self.transitions.len()];
        for entry in self.open_changes() {
            found[entry.transition as usize] = true;
        }
        found
    }

    fn open_changes(&self) -> impl Iterator<Item = &OpenEntry> {
        self.open.iter().filter(|entry| matches!(entry.kind, OpenKind::Input | OpenKind::Output))
    }
}

/// Converts an index to a number.
pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a program numbers its parts with 32 bits")
}

fn clamped(weight: u64) -> u32 {
    u32::try_from(weight).unwrap_or(u32::MAX)
}

fn changes(arcs: &Arcs) -> Vec<Change> {
    let mut by: BTreeMap<u32, i64> = BTreeMap::new();
    for (sign, terms) in [(1, &arcs.output), (-1, &arcs.input)] {
        for (&row, &weight) in terms {
            *by.entry(row).or_default() += sign * i64::from(clamped(weight));
        }
    }
    let change = |(counter, by): (u32, i64)| Change { counter, by: by.clamp(-LARGEST, LARGEST) as i32 };
    by.into_iter().filter(|&(_, by)| by != 0).map(change).collect()
}

/// Largest change by one firing; constant weights are below this number.
const LARGEST: i64 = i32::MAX as i64;

/// The arcs of constant weight of one transition; if any arc of the transition is not constant, its constant arcs may
/// be in `dynamic` too.
fn constant_arcs(program: &Program, t: usize) -> Arcs {
    let terms = |csr: &Csr<Term>| csr.row(t).iter().map(|x| (x.counter, u64::from(x.weight))).collect();
    let mut arcs = Arcs {
        input: terms(&program.inputs),
        output: terms(&program.outputs),
        test: terms(&program.tests),
        inhibitor: terms(&program.inhibitors),
    };
    for arc in program.dynamic.row(t) {
        let Some(weight) = arc.weight.as_constant().map(|w| w.round() as u64).filter(|&w| w > 0) else { continue };
        match arc.kind {
            ArcKind::Input => *arcs.input.entry(arc.counter).or_default() += weight,
            ArcKind::Output => *arcs.output.entry(arc.counter).or_default() += weight,
            ArcKind::Test | ArcKind::Inhibitor => {}
        }
    }
    arcs
}

fn open_arcs(program: &Program) -> Vec<OpenEntry> {
    let mut open = Vec::new();
    for t in 0..program.transitions() {
        for arc in program.dynamic.row(t).iter().filter(|arc| arc.weight.as_constant().is_none()) {
            let kind = match arc.kind {
                ArcKind::Input => OpenKind::Input,
                ArcKind::Output => OpenKind::Output,
                ArcKind::Test => OpenKind::Test,
                ArcKind::Inhibitor => OpenKind::Inhibitor,
            };
            open.push(OpenEntry { row: arc.counter, transition: number(t), kind });
        }
    }
    open.sort_unstable();
    open.dedup();
    open
}

/// The row of each counter.
fn row_numbers(program: &Program, arcs: &[Arcs], open: &[OpenEntry]) -> Vec<Option<u32>> {
    let mut used: Vec<bool> = program.initial.iter().map(|&tokens| tokens > 0 || program.classes() == 1).collect();
    for terms in arcs.iter().flat_map(|a| [&a.input, &a.output, &a.test, &a.inhibitor]) {
        terms.keys().for_each(|&counter| used[counter as usize] = true);
    }
    open.iter().for_each(|entry| used[entry.row as usize] = true);
    let mut next = 0..;
    used.iter().map(|used| used.then(|| next.next().expect("endless"))).collect()
}
