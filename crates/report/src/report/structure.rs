//! Results of structural analysis, with names instead of numbers, and verdicts with reasons.

use serde::{Deserialize, Serialize};

use crate::report::json::Word;
use crate::structure::{
    BoundSource, Cover, Cut, Deadlock, Flows, Incidence, Method, NetClass, OpenEntry, RowBound, Sets, Structure,
    ThroughputBound, Witness, weighted_sum,
};

/// All results of structural analysis.
///
/// A row is a place or, with several token classes, a place and a class. Matrices have the numbers of rows and
/// transitions, from 0. A section that was not requested is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StructureReport {
    /// Name of the net.
    pub net: String,
    /// Names of the rows: places, or places and token classes.
    pub rows: Vec<String>,
    /// Ids of the transitions.
    pub transitions: Vec<String>,
    /// Tokens of each row at the start.
    pub initial: Vec<u32>,
    /// Per transition, true if it may fire first.
    pub fires_first: Vec<bool>,
    /// The matrices.
    pub matrices: Matrices,
    /// Classes by shape, from narrow to wide.
    pub classes: Vec<Verdict>,
    /// Ordinary, pure, connected, strongly connected, conservative, bounded, consistent, repetitive.
    pub properties: Vec<Verdict>,
    /// Minimal P-semiflows.
    pub place_semiflows: Option<FlowRows>,
    /// Minimal T-semiflows.
    pub transition_semiflows: Option<FlowRows>,
    /// Basis of the P-invariants.
    pub place_basis: Option<FlowRows>,
    /// Basis of the T-invariants.
    pub transition_basis: Option<FlowRows>,
    /// Rank of the combined matrix.
    pub rank: Option<usize>,
    /// Bounds of the tokens.
    pub bounds: Option<Vec<BoundRow>>,
    /// Reason why bounds may be missing or larger than necessary.
    pub bounds_cut: Option<String>,
    /// Bounds of the throughputs.
    pub throughputs: Option<Vec<ThroughputRow>>,
    /// Reason why bounds of throughputs are missing.
    pub throughputs_cut: Option<String>,
    /// Minimal siphons.
    pub siphons: Option<SetRows>,
    /// Minimal traps.
    pub traps: Option<SetRows>,
    /// Deadlocks and liveness.
    pub deadlock: Option<DeadlockRow>,
    /// True if a limit or a stop request truncated some result.
    pub partial: bool,
    /// Sections that readers see; the JSON has all.
    #[serde(skip)]
    pub sections: Sections,
}

/// Sections that readers see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sections {
    /// Classes and properties. Default true.
    pub class: bool,
    /// Matrices, marking, enabled transitions. Default true.
    pub matrices: bool,
}

impl Default for Sections {
    fn default() -> Self {
        Self { class: true, matrices: true }
    }
}

/// The matrices, by their entries that are not 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrices {
    /// Tokens produced.
    pub forward: Vec<Entry>,
    /// Tokens consumed.
    pub backward: Vec<Entry>,
    /// Tokens produced minus tokens consumed.
    pub combined: Vec<Entry>,
    /// Tokens that disable.
    pub inhibition: Vec<Entry>,
    /// Tokens needed but not consumed.
    pub tests: Vec<Entry>,
    /// Entries whose weight depends on the marking; no other matrix contains them.
    pub open: Vec<OpenEntry>,
}

/// One entry of a matrix; numbers of row and transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Number of the row.
    pub row: u32,
    /// Number of the transition.
    pub transition: u32,
    /// Value of the entry.
    pub value: i64,
}

/// A verdict on a property, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Name of the property.
    pub name: Word,
    /// True if the property holds; none if unknown.
    pub holds: Option<bool>,
    /// The counterexample, the proof, or the reason why the answer is unknown.
    pub reason: Option<String>,
}

/// A name and its weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Weight {
    /// Row or transition.
    pub name: String,
    /// Weight of the row or transition, in decimal.
    pub weight: String,
}

/// Vectors of weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRows {
    /// The vectors.
    pub vectors: Vec<FlowRow>,
    /// Reason why the list may be incomplete.
    pub cut: Option<String>,
    /// Rows or transitions excluded because arcs with weights that depend on the marking change them.
    pub excluded: Vec<String>,
    /// Rows or transitions in no vector.
    pub not_covered: Vec<String>,
}

/// One vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRow {
    /// Names and weights, in the order of the net.
    pub weights: Vec<Weight>,
    /// For places: the weighted sum of the tokens at the start, which never changes; in decimal.
    pub value: Option<String>,
}

/// The maximum number of tokens in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundRow {
    /// Name of the row.
    pub name: String,
    /// The bound; `None` if the structure implies no bound.
    pub most: Option<u64>,
    /// Source of the bound.
    pub source: Option<BoundSource>,
    /// True if the bound is proved in integer arithmetic.
    pub proved: bool,
    /// The weighted sum that proves the bound; it never exceeds `sum`.
    pub weights: Vec<Weight>,
    /// The weighted sum of the tokens at the start, in decimal.
    pub sum: Option<String>,
}

/// The maximum firings per second of a transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThroughputRow {
    /// Name of the transition.
    pub name: String,
    /// Firings per second \[1/s\]; `None` if the structure implies no bound.
    pub most: Option<f64>,
}

/// Sets of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetRows {
    /// The sets.
    pub sets: Vec<SetRow>,
    /// Reason why the list may be incomplete.
    pub cut: Option<String>,
}

/// A siphon or a trap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetRow {
    /// Rows of the set.
    pub names: Vec<String>,
    /// True if the set holds a token at the start.
    pub marked: bool,
    /// For siphons: true if the siphon contains a trap that holds a token.
    pub has_marked_trap: Option<bool>,
}

/// Deadlocks and liveness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadlockRow {
    /// True if every minimal siphon contains a marked trap.
    pub property: Option<bool>,
    /// A minimal siphon without a marked trap.
    pub bad_siphon: Option<Vec<String>>,
    /// True if no reachable marking is dead.
    pub deadlock_free: Option<bool>,
    /// True if every transition can always fire again, in the net without time.
    pub live: Option<bool>,
    /// True if liveness also holds with time.
    pub live_with_time: bool,
    /// True if some initial marking makes the net live and bounded.
    pub well_formed: Option<bool>,
    /// Method that found the verdict.
    pub method: Method,
    /// Reason why there is no conclusion.
    pub obstacles: Vec<String>,
    /// Rows that never hold a token.
    pub never_marked: Vec<String>,
    /// Transitions that can never fire.
    pub never_fire: Vec<String>,
}

fn names(all: &[String], numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|&i| all[i as usize].clone()).collect()
}

fn weights(all: &[String], vector: &[(u32, i128)]) -> Vec<Weight> {
    vector.iter().map(|&(i, w)| Weight { name: all[i as usize].clone(), weight: w.to_string() }).collect()
}

fn cut_text(cut: Option<&Cut>) -> Option<String> {
    cut.map(ToString::to_string)
}

fn flow_rows(flows: &Flows, all: &[String], places: Option<&Incidence>) -> FlowRows {
    let mut covered = vec![false; all.len()];
    flows.vectors.iter().flatten().for_each(|&(i, _)| covered[i as usize] = true);
    let row = |vector: &Vec<(u32, i128)>| FlowRow {
        weights: weights(all, vector),
        value: places.and_then(|incidence| weighted_sum(incidence, vector)).map(|value| value.to_string()),
    };
    FlowRows {
        vectors: flows.vectors.iter().map(row).collect(),
        cut: cut_text(flows.cut.as_ref()),
        excluded: names(all, &flows.excluded),
        not_covered: all.iter().zip(&covered).filter(|(_, covered)| !**covered).map(|(name, _)| name.clone()).collect(),
    }
}

fn set_rows(sets: &Sets, incidence: &Incidence, marked_trap: Option<&[bool]>) -> SetRows {
    let row = |(i, set): (usize, &Vec<u32>)| SetRow {
        names: names(&incidence.rows, set),
        marked: set.iter().any(|&row| incidence.initial[row as usize] > 0),
        has_marked_trap: marked_trap.and_then(|marked| marked.get(i).copied()),
    };
    SetRows { sets: sets.sets.iter().enumerate().map(row).collect(), cut: cut_text(sets.cut.as_ref()) }
}

fn bound_row(name: &str, bound: &RowBound, extended: &Incidence) -> BoundRow {
    let sum = if bound.weights.is_empty() { None } else { weighted_sum(extended, &bound.weights) };
    BoundRow {
        name: name.to_owned(),
        most: bound.most,
        source: bound.source,
        proved: bound.proved,
        weights: weights(&extended.rows, &bound.weights),
        sum: sum.map(|sum| sum.to_string()),
    }
}

fn deadlock_row(found: &Deadlock, extended: &Incidence) -> DeadlockRow {
    DeadlockRow {
        property: found.property,
        bad_siphon: found.bad_siphon.as_ref().map(|siphon| names(&extended.rows, siphon)),
        deadlock_free: found.deadlock_free,
        live: found.live,
        live_with_time: found.live_with_time,
        well_formed: found.well_formed,
        method: found.method,
        obstacles: found.obstacles.iter().map(ToString::to_string).collect(),
        never_marked: names(&extended.rows, &found.never_marked),
        never_fire: names(&extended.transitions, &found.never_fire),
    }
}

fn matrices(incidence: &Incidence) -> Matrices {
    let entries = |row: &dyn Fn(usize) -> Vec<(u32, i64)>| {
        let of = |(number, t)| row(t).into_iter().map(move |(row, value)| Entry { row, transition: number, value });
        (0..).zip(0..incidence.transitions.len()).flat_map(of).collect::<Vec<_>>()
    };
    Matrices {
        forward: entries(&|t| incidence.forward.row(t).iter().map(|x| (x.counter, x.weight.into())).collect()),
        backward: entries(&|t| incidence.backward.row(t).iter().map(|x| (x.counter, x.weight.into())).collect()),
        combined: entries(&|t| incidence.combined.row(t).iter().map(|x| (x.counter, x.by.into())).collect()),
        inhibition: entries(&|t| incidence.inhibition.row(t).iter().map(|x| (x.counter, x.weight.into())).collect()),
        tests: entries(&|t| incidence.tests.row(t).iter().map(|x| (x.counter, x.weight.into())).collect()),
        open: incidence.open.clone(),
    }
}

/// Returns the verdict on a cover.
fn cover_verdict(name: &'static str, cover: &Result<Cover, Cut>, all: &[String], without: &str) -> Verdict {
    match cover {
        Err(cut) => Verdict { name: name.into(), holds: None, reason: Some(cut.to_string()) },
        Ok(cover) => {
            let missing: Vec<&String> = all.iter().zip(&cover.members).filter(|(_, m)| !**m).map(|(n, _)| n).collect();
            let unproved = if cover.proved { "" } else { " (by a floating-point linear program, without proof)" };
            let reason = match missing.len() {
                0 => unproved.trim().to_owned(),
                1 => format!("`{}` {without}{unproved}", missing[0]),
                n => format!("`{}` and {} more {without}{unproved}", missing[0], n - 1),
            };
            Verdict {
                name: name.into(),
                holds: Some(missing.is_empty()),
                reason: Some(reason).filter(|r| !r.is_empty()),
            }
        }
    }
}

fn properties(found: &Structure) -> Vec<Verdict> {
    let (rows, transitions) = (&found.incidence.rows, &found.incidence.transitions);
    let heavy = found.heavy_arc.map(|(row, t, weight)| {
        format!("an arc between `{}` and `{}` has weight {weight}", rows[row as usize], transitions[t as usize])
    });
    let heavy =
        heavy.or_else(|| (!found.incidence.open.is_empty()).then(|| "weights depend on the marking".to_owned()));
    let looped = found
        .self_loop
        .map(|(row, t)| format!("`{}` needs `{}` and refills it", transitions[t as usize], rows[row as usize]));
    let node = |i: usize| rows.get(i).unwrap_or_else(|| &transitions[i - rows.len()]);
    let path = found.connection.no_path.map(|[a, b]| format!("no path from `{}` to `{}`", node(a), node(b)));
    let parts = found.connection.parts;
    let parts = (parts > 1).then(|| format!("{parts} parts"));
    let shape = |name: &'static str, broken: Option<String>| Verdict {
        name: name.into(),
        holds: Some(broken.is_none()),
        reason: broken,
    };
    let covers = &found.covers;
    vec![
        shape("ordinary", heavy),
        shape("pure", looped),
        shape("connected", parts),
        shape("strongly connected", path),
        cover_verdict("conservative", &covers.conservative, rows, "is in no P-semiflow"),
        cover_verdict("structurally bounded", &covers.bounded, rows, "is unbounded for some initial marking"),
        cover_verdict("consistent", &covers.consistent, transitions, "is in no T-semiflow"),
        cover_verdict("repetitive", &covers.repetitive, transitions, "cannot fire forever"),
    ]
}

/// Makes the report of an analysis.
pub fn structure_report(found: &Structure, net: &str) -> StructureReport {
    let (incidence, extended) = (&found.incidence, &found.extended);
    let places = |flows: &Flows| flow_rows(flows, &incidence.rows, Some(incidence));
    let transitions = |flows: &Flows| flow_rows(flows, &incidence.transitions, None);
    let class = |(class, witness): &(NetClass, Option<Witness>)| Verdict {
        name: class.name().into(),
        holds: Some(witness.is_none()),
        reason: witness.map(|witness| witness.text(incidence)),
    };
    let bound = |(name, bound): (&String, &RowBound)| bound_row(name, bound, extended);
    let throughput = |row: &ThroughputBound| ThroughputRow {
        name: incidence.transitions[row.transition as usize].clone(),
        most: row.most,
    };
    let mut report = StructureReport {
        net: net.to_owned(),
        rows: incidence.rows.clone(),
        transitions: incidence.transitions.clone(),
        initial: incidence.initial.clone(),
        fires_first: found.fires_first.clone(),
        matrices: matrices(incidence),
        classes: found.classes.iter().map(class).collect(),
        properties: properties(found),
        place_semiflows: found.place_semiflows.as_ref().map(places),
        transition_semiflows: found.transition_semiflows.as_ref().map(transitions),
        place_basis: found.place_basis.as_ref().map(|basis| places(&basis.flows)),
        transition_basis: found.transition_basis.as_ref().map(|basis| transitions(&basis.flows)),
        rank: found.place_basis.as_ref().and_then(|basis| basis.rank),
        bounds: found.bounds.as_ref().map(|bounds| incidence.rows.iter().zip(&bounds.rows).map(bound).collect()),
        bounds_cut: found.bounds.as_ref().and_then(|bounds| cut_text(bounds.cut.as_ref())),
        throughputs: found.throughputs.as_ref().map(|found| found.bounds.iter().map(throughput).collect()),
        throughputs_cut: found.throughputs.as_ref().and_then(|found| cut_text(found.cut.as_ref())),
        siphons: found.siphons.as_ref().map(|sets| set_rows(sets, incidence, Some(&found.siphon_has_marked_trap))),
        traps: found.traps.as_ref().map(|sets| set_rows(sets, incidence, None)),
        deadlock: found.deadlock.as_ref().map(|found| deadlock_row(found, extended)),
        partial: false,
        sections: Sections::default(),
    };
    report.partial = is_partial(&report);
    report
}

fn is_partial(report: &StructureReport) -> bool {
    let flows = [&report.place_semiflows, &report.transition_semiflows, &report.place_basis, &report.transition_basis];
    flows.into_iter().flatten().any(|flows| flows.cut.is_some())
        || [&report.siphons, &report.traps].into_iter().flatten().any(|sets| sets.cut.is_some())
        || report.bounds_cut.is_some()
        || report.throughputs_cut.is_some()
        || report.properties.iter().any(|verdict| verdict.holds.is_none())
}
