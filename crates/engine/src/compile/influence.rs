//! Mutual influences: readers of counters, transitions to check again after a firing, and groups of immediate
//! transitions.

use std::collections::BTreeSet;

use petgraph::unionfind::UnionFind;

use crate::compile::affected::Affected;
use crate::compile::csr::Csr;
use crate::compile::program::{Firing, Program, Value};
use crate::net::ArcKind;

/// Computes the relations that follow from the arcs and timings of a program. Immediate transitions that write any of
/// the counters `seen` are in one group.
pub(super) fn fill(program: &mut Program, seen: &[u32]) {
    let writes = program.writes();
    let readers = Csr::from_rows((0..program.transitions()).map(|t| reads(program, t))).transposed(program.counters());
    fill_groups(program, &readers, &writes, seen);
    fill_affected(program, &readers, &writes);
    program.choice_weight = choice_weights(program);
}

impl Program {
    /// Counters that the enabling, the rate or the weight of `t` depends on.
    pub fn reads(&self, t: usize) -> BTreeSet<u32> {
        reads(self, t)
    }
}

fn reads(program: &Program, t: usize) -> BTreeSet<u32> {
    let mut counters = BTreeSet::new();
    for terms in [&program.inputs, &program.tests, &program.inhibitors] {
        counters.extend(terms.row(t).iter().map(|term| term.counter));
    }
    let classes = u32::try_from(program.classes()).expect("few classes");
    for room in program.rooms.row(t) {
        counters.extend(room.place * classes..(room.place + 1) * classes);
    }
    for arc in program.dynamic.row(t) {
        counters.extend(arc.weight.counters());
        let place = arc.counter / classes;
        if arc.kind != ArcKind::Output {
            counters.insert(arc.counter);
        }
        if program.capacity[place as usize].is_some() {
            counters.extend(place * classes..(place + 1) * classes);
        }
    }
    if let Firing::Immediate { weight: Value::Code(code), .. } | Firing::Exponential { rate: Value::Code(code), .. } =
        &program.firing[t]
    {
        counters.extend(code.counters());
    }
    counters
}

/// Two immediate transitions are in one group if one reads a counter that the other reads or writes. So no group reads
/// a counter that another group reads or writes: their choices are independent, and their order does not matter.
fn fill_groups(program: &mut Program, readers: &Csr<u32>, writes: &Csr<u32>, seen: &[u32]) {
    let count = program.transitions();
    let immediate: Vec<bool> = program.firing.iter().map(|f| matches!(f, Firing::Immediate { .. })).collect();
    let mut sets = UnionFind::new(count);
    let mut first_reader = vec![None; readers.rows()];
    for (counter, row) in readers.iter().enumerate() {
        let mut members = row.iter().map(|&t| t as usize).filter(|&t| immediate[t]);
        first_reader[counter] = members.next();
        for t in members {
            sets.union(first_reader[counter].expect("there was a first one"), t);
        }
    }
    let mut first_writer = None;
    for t in (0..count).filter(|&t| immediate[t]) {
        if writes.row(t).iter().any(|counter| seen.contains(counter)) {
            sets.union(*first_writer.get_or_insert(t), t);
        }
        for &counter in writes.row(t) {
            if let Some(reader) = first_reader[counter as usize] {
                sets.union(reader, t);
            }
        }
    }
    let root_of = sets.into_labeling();
    let mut number = vec![u32::MAX; count];
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut group_of = vec![u32::MAX; count];
    for t in (0..count).filter(|&t| immediate[t]) {
        let number = &mut number[root_of[t]];
        if *number == u32::MAX {
            *number = u32::try_from(groups.len()).expect("ids fit");
            groups.push(Vec::new());
        }
        group_of[t] = *number;
        groups[*number as usize].push(u32::try_from(t).expect("ids fit"));
    }
    for group in &mut groups {
        group.sort_by_key(|&t| (std::cmp::Reverse(priority(program, t as usize)), t));
    }
    program.groups = Csr::from_rows(groups);
    program.group_of = group_of;
}

fn priority(program: &Program, t: usize) -> u32 {
    match program.firing[t] {
        Firing::Immediate { priority, .. } => priority,
        _ => 0,
    }
}

fn fill_affected(program: &mut Program, readers: &Csr<u32>, writes: &Csr<u32>) {
    let group_of = |t: u32| Some(program.group_of[t as usize]).filter(|&group| group != u32::MAX);
    // all immediate transitions that read a counter are in one group
    let groups: Vec<Option<u32>> = readers.iter().map(|row| row.iter().find_map(|&t| group_of(t))).collect();
    let affects_groups = Csr::from_rows((0_u32..).zip(0..writes.rows()).map(|(id, t)| {
        let mut row: Vec<u32> = writes.row(t).iter().filter_map(|&counter| groups[counter as usize]).collect();
        row.extend(group_of(id));
        row.sort_unstable();
        row.dedup();
        row
    }));
    let timed = Csr::from_rows(readers.iter().map(|row| row.iter().copied().filter(|&t| group_of(t).is_none())));
    program.affects = Affected::new(writes, &timed, |t| !program.is_immediate(t));
    program.affects_groups = affects_groups;
}

/// Relation as in [`Program::affects`], with shared readers wherever it has this number of entries.
#[cfg(test)]
pub(crate) fn affected_sharing(program: &Program, hub: usize) -> Affected {
    let reads = |t| if program.is_immediate(t) { BTreeSet::new() } else { reads(program, t) };
    let readers = Csr::from_rows((0..program.transitions()).map(reads)).transposed(program.counters());
    Affected::with_hubs(&program.writes(), &readers, |t| !program.is_immediate(t), hub)
}

/// Integer weights of the transitions of each group and priority whose weights are all constant and not too different;
/// 0 for other transitions, whose integers depend on the enabled ones. The weights are multiplied by the largest power of
/// two that keeps their sum below 2^32, then rounded. The absolute error of a share is at most 2^-32; weights that are
/// integers and sum to less than 2^32 are exact.
pub(super) fn choice_weights(program: &Program) -> Vec<u32> {
    let mut scaled = vec![0; program.transitions()];
    for group in 0..program.groups.rows() {
        let members = program.groups.row(group);
        for level in members.chunk_by(|&a, &b| priority(program, a as usize) == priority(program, b as usize)) {
            let weights: Option<Vec<f64>> = level
                .iter()
                .map(|&t| match &program.firing[t as usize] {
                    Firing::Immediate { weight, .. } => weight.as_constant(),
                    _ => None,
                })
                .collect();
            // small weights next to large ones are rounded only if no large one is enabled with them
            if let Some(weights) = weights
                && let (integers, true) = rounded_weights(&weights)
            {
                for (&t, weight) in level.iter().zip(integers) {
                    scaled[t as usize] = weight;
                }
            }
        }
    }
    scaled
}

/// Returns the `k` with `2^k <= x < 2^(k+1)` for a positive `x`. Uses the bits of `x`, because a logarithm could be
/// rounded up to the next integer.
pub(crate) fn exponent_of(x: f64) -> i32 {
    const BIAS: i32 = 1023;
    let biased = (x.to_bits() >> 52) as i32;
    if biased > 0 { biased - BIAS } else { x.log2().floor() as i32 }
}

/// Returns `x 2^exponent`. The power of two may itself be too large or too small for a number.
pub(crate) fn times_power_of_two(x: f64, exponent: i32) -> f64 {
    const LEAST: i32 = -1022;
    const MOST: i32 = 1023;
    let power = |exponent: i32| f64::from_bits(u64::from((exponent + MOST).cast_unsigned()) << 52);
    let first = exponent.clamp(LEAST, MOST);
    x * power(first) * power((exponent - first).clamp(LEAST, MOST))
}

/// See [`choice_weights`]. Positive weights never become 0.
pub(crate) fn integer_weights(weights: &[f64]) -> Vec<u32> {
    rounded_weights(weights).0
}

/// Maximum relative error of a weight that is always rounded in the same way.
const LARGEST_ROUNDING: f64 = 1.0 / 32_768.0;

/// Integer weights, and true if rounding changes each weight only slightly.
fn rounded_weights(weights: &[f64]) -> (Vec<u32>, bool) {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 || !largest.is_finite() {
        return (vec![0; weights.len()], true);
    }
    // the sum of weights near the largest number is not finite, and a quotient by the least ones neither
    let shift = -exponent_of(largest);
    let total: f64 = weights.iter().map(|&w| times_power_of_two(w, shift)).sum();
    // room for rounding each of the weights up
    let room = f64::from(u32::MAX) - weights.len() as f64;
    let scale = exponent_of(room / total) + shift;
    let mut is_fine = true;
    let integers = weights.iter().map(|&w| {
        let exact = times_power_of_two(w, scale);
        let rounded = exact.round().max(1.0);
        is_fine &= w <= 0.0 || (rounded - exact).abs() <= exact * LARGEST_ROUNDING;
        if w > 0.0 { rounded as u32 } else { 0 }
    });
    (integers.collect(), is_fine)
}
