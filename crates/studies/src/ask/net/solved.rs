//! Results from all markings of a net: their number, and verdicts with witnesses.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::answer::ExactBy;
use crate::ask::net::json::{Word, whole};
use crate::ask::net::names::{NetSummary, Subject};
use crate::ask::net::numbers::{RewardRow, SteadySection, TimeSection, WithinSection, marked};
use crate::ask::net::passage::PassageSection;
use crate::ask::net::witnesses::{Witnesses, names};
use crate::compile::Program;
use crate::fold::{Exchangeable, Symmetry};
use crate::net::Net;
use crate::sim::NotFolded;
use crate::solve::{Coverability, ExploreError, Liveness, Pump, StateSpace, Unbounded, Verdicts};

/// All results of the solution of a net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SolveReport {
    /// The net.
    pub net: NetSummary,
    /// True if markings or the answer are missing.
    pub partial: bool,
    /// Reason why markings or the answer are missing.
    pub stopped: Option<String>,
    /// Method of the answer.
    pub method: MethodRow,
    /// Reason why there are infinitely many markings, in which case there is no state space.
    pub unbounded: Option<UnboundedRow>,
    /// The state space.
    pub state_space: Option<StateSpaceRow>,
    /// The folded states that were solved; `None` if nothing was folded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedStates>,
    /// Similar parts of the net that were not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// The maximum number of tokens in each place; lower bounds if the state space is partial.
    pub bounds: Vec<MarkingBound>,
    /// True if no place ever holds more than one token; none if unknown.
    pub safe: Option<bool>,
    /// Markings in which no transition can fire.
    pub deadlocks: Option<DeadMarkings>,
    /// Effects of rates that are 0; for a partial state space, among the explored states.
    pub zero_rates: Option<ZeroRateRow>,
    /// Verdicts that need every marking.
    pub verdicts: Option<VerdictRow>,
    /// The liveness of each transition.
    pub liveness: Vec<LivenessRow>,
    /// The long run.
    pub steady: Option<SteadySection>,
    /// Averages at the requested times.
    pub at: Vec<TimeSection>,
    /// The time to the goal.
    pub passage: Option<PassageSection>,
    /// The probability of reaching the goal between two times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<WithinSection>,
    /// Rewards of a run up to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewards: Vec<RewardRow>,
    /// Requested properties of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<PropertyRow>,
    /// Version of tailspn.
    pub version: Word,
}

/// The answer to a property of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyRow {
    /// Name of the property.
    pub name: String,
    /// The answer; none if it is infinite or does not exist.
    pub value: Option<f64>,
    /// `infinite`, or why there is no answer.
    pub note: Option<String>,
    /// Wall time \[s\].
    pub wall_s: f64,
}

/// Method of an answer, and why other methods were not used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodRow {
    /// The method.
    pub used: ExactBy,
    /// Reason why states were not used, if another method was.
    pub no_states: Option<String>,
    /// Reason why series-parallel reduction was not used, if it was tried before states.
    pub no_series_parallel: Option<String>,
    /// Step of the grid of times \[s\]; only for results over time with fixed delays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_step_s: Option<f64>,
}

impl MethodRow {
    /// Returns the method of all states, with the reason against series-parallel reduction if that was tried.
    pub fn states(no_series_parallel: Option<String>) -> Self {
        Self { no_series_parallel, ..Self::default() }
    }

    /// Returns the method of states at the starts of fixed delays.
    pub fn fixed_delays() -> Self {
        Self { used: ExactBy::FixedDelays, ..Self::default() }
    }

    /// Returns the method of series-parallel reduction, with the reason against states.
    pub fn series_parallel(no_states: String) -> Self {
        Self { used: ExactBy::SeriesParallel, no_states: Some(no_states), ..Self::default() }
    }
}

/// Size of the state space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateSpaceRow {
    /// Number of tangible markings.
    #[serde(serialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub tangible: f64,
    /// Number of tangible markings whose successors were all found.
    pub explored: usize,
    /// Number of vanishing markings during the exploration.
    pub vanishing: u64,
    /// True if the number of vanishing markings is exact: no marking was counted twice.
    pub vanishing_is_exact: bool,
    /// Pairs of different states with a rate above 0 from one to the other.
    pub edges: usize,
    /// Bits of a packed marking.
    pub marking_bits: u32,
    /// Bytes of markings and chain.
    pub bytes: u64,
    /// Wall time of the exploration \[s\].
    pub wall_s: f64,
}

/// The states that were solved, if replicas were folded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedStates {
    /// States of the folded net.
    pub states: usize,
    /// Number of states of the original net that the folded states represent; rounded above 2^40.
    #[serde(serialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub stand_for: f64,
    /// Places of the folded net.
    pub places: usize,
    /// Transitions of the folded net.
    pub transitions: usize,
    /// Exchangeable parts that were not folded. Of markings that differ only by an exchange of such parts, one
    /// was solved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanged: Vec<ExchangedParts>,
}

/// Parts of a net that are pairwise exchangeable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangedParts {
    /// Number of parts.
    pub parts: usize,
    /// A place of one of the parts.
    pub example: String,
}

impl ExchangedParts {
    /// Returns the classes of parts of a net.
    pub fn all(symmetry: &Symmetry, net: &Net) -> Vec<Self> {
        let example = |class: &Exchangeable| class.places[0].iter().min().map(|&place| net.place(place).id.clone());
        let one = |class: &Exchangeable| Some(Self { parts: class.places.len(), example: example(class)? });
        symmetry.classes().iter().filter_map(one).collect()
    }
}

/// A proof that the net is unbounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnboundedRow {
    /// Places that grow with each round of the cycle.
    pub places: Vec<String>,
    /// Transitions that lead to the cycle.
    pub prefix: Vec<String>,
    /// Transitions that can be repeated forever.
    pub cycle: Vec<String>,
    /// Results of the coverability graph for all places; none without such a graph.
    pub coverability: Option<CoverabilityRow>,
}

/// Results of the coverability graph: its size and the unbounded places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoverabilityRow {
    /// Markings of the graph.
    pub markings: usize,
    /// Unbounded places, in the order of the net.
    pub unbounded: Vec<String>,
    /// Features that the graph ignores. If empty, `unbounded` is exact; otherwise all other places
    /// are bounded, but some of the listed places may be bounded too.
    pub ignored: Vec<Word>,
}

/// The maximum number of tokens in a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkingBound {
    /// The place.
    pub name: String,
    /// Largest number of tokens in the place, of all classes.
    pub bound: u64,
    /// Transitions after which the place holds that many tokens; none in a large net, if the sequences have more than a million
    /// firings together.
    pub path: Option<Vec<String>>,
}

/// Markings in which nothing can fire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadMarkings {
    /// Number of dead markings.
    #[serde(serialize_with = "whole")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub count: f64,
    /// The first dead marking: marked places with their tokens.
    pub marking: Vec<(String, u32)>,
    /// Transitions that lead to the first dead marking.
    pub path: Vec<String>,
}

/// Effects of rates that are 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZeroRateRow {
    /// Dead markings in which a timed transition has enough tokens, but the rate 0.
    pub dead_markings: usize,
    /// Transitions that have enough tokens, but the rate 0, in these markings.
    pub held: Vec<String>,
    /// Timed transitions whose rate is 0 in every marking that enables them.
    pub never: Vec<String>,
}

/// Verdicts that need every marking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictRow {
    /// True if every transition is live.
    pub live: bool,
    /// True if every marking leads back to the initial one.
    pub reversible: bool,
    /// Number of states that can be reached from every state.
    pub home_states: u32,
    /// Classes of states that are never left: the number of states of each.
    pub recurrent_classes: Vec<u32>,
}

/// Liveness of a transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LivenessRow {
    /// The transition.
    pub name: String,
    /// 0: never fires, 1: finitely often, 3: infinitely often in some run, 4: can always fire again.
    pub level: u8,
    /// Firing sequence after which the transition never fires again. None if it can always fire again or never fires, and
    /// in a large net, if the sequences have more than a million firings together.
    pub lost_after: Option<Vec<String>>,
}

/// Places and transitions that exist only for the solution of a net, such as phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Ids of the places.
    pub places: BTreeSet<String>,
    /// Ids of the transitions.
    pub transitions: BTreeSet<String>,
}

impl UnboundedRow {
    pub(super) fn new(program: &Program, unbounded: &Unbounded, coverability: Option<&Coverability>) -> Self {
        let place = |pump: &Pump| program.place_names[pump.place as usize].to_owned();
        Self {
            coverability: coverability.map(|graph| CoverabilityRow {
                markings: graph.nodes(),
                unbounded: graph.unbounded.iter().map(place).collect(),
                ignored: graph.ignored.iter().map(|ignored| ignored.words().into()).collect(),
            }),
            places: unbounded.places.clone(),
            prefix: names(program, &unbounded.prefix),
            cycle: names(program, &unbounded.cycle),
        }
    }
}

impl VerdictRow {
    pub(super) fn new(verdicts: &Verdicts) -> Self {
        Self {
            live: verdicts.is_live(),
            reversible: verdicts.reversible,
            home_states: verdicts.home_states(),
            recurrent_classes: verdicts.recurrent.iter().map(|class| class.states).collect(),
        }
    }
}

impl SolveReport {
    /// Returns the report without hidden parts; liveness then refers to the remaining parts.
    #[must_use]
    pub fn without(mut self, hidden: &Hidden) -> Self {
        let place = |name: &str| {
            let own = name.rsplit_once(' ').map_or(name, |(place, _)| place);
            !hidden.places.contains(name) && !hidden.places.contains(own)
        };
        let transition = |name: &String| !hidden.transitions.contains(name);
        self.bounds.retain(|row| place(&row.name));
        self.bounds.iter_mut().filter_map(|row| row.path.as_mut()).for_each(|path| path.retain(transition));
        self.liveness.retain(|row| transition(&row.name));
        self.liveness.iter_mut().filter_map(|row| row.lost_after.as_mut()).for_each(|path| path.retain(transition));
        if let Some(row) = &mut self.deadlocks {
            row.marking.retain(|(name, _)| place(name));
            row.path.retain(transition);
        }
        if let Some(row) = &mut self.zero_rates {
            row.held.retain(transition);
            row.never.retain(transition);
        }
        if let Some(row) = &mut self.verdicts {
            row.live = self.liveness.iter().all(|row| row.level == Liveness::Live.level());
        }
        if let Some(row) = &mut self.unbounded {
            [&mut row.prefix, &mut row.cycle].into_iter().for_each(|path| path.retain(transition));
        }
        if let Some(steady) = &mut self.steady {
            steady.states.iter_mut().for_each(|row| row.marking.retain(|(name, _)| place(name)));
        }
        let steady = self.steady.iter_mut().map(|section| &mut section.averages);
        for averages in steady.chain(self.at.iter_mut().map(|section| &mut section.averages)) {
            averages.tokens.retain(|row| place(&row.name));
            averages.distributions.retain(|row| place(&row.name));
            averages.throughputs.retain(|row| transition(&row.name));
        }
        self.net.places -= hidden.places.len().min(self.net.places);
        self.net.transitions -= hidden.transitions.len().min(self.net.transitions);
        self
    }

    /// Returns a report on a net without a finite state space.
    pub fn of_unbounded(
        program: &Program,
        subject: &Subject<'_>,
        unbounded: &Unbounded,
        coverability: Option<&Coverability>,
    ) -> Self {
        let row = UnboundedRow::new(program, unbounded, coverability);
        Self { unbounded: Some(row), safe: Some(false), ..Self::empty(subject) }
    }

    /// Returns the report of a time to a goal that needs no states.
    pub fn of_time(subject: &Subject<'_>, passage: PassageSection, method: MethodRow) -> Self {
        Self { passage: Some(passage), method, ..Self::empty(subject) }
    }

    fn empty(subject: &Subject<'_>) -> Self {
        Self {
            net: NetSummary::new(subject),
            partial: false,
            stopped: None,
            method: MethodRow::states(None),
            unbounded: None,
            state_space: None,
            folded: None,
            not_folded: Vec::new(),
            bounds: Vec::new(),
            safe: None,
            deadlocks: None,
            zero_rates: None,
            verdicts: None,
            liveness: Vec::new(),
            steady: None,
            at: Vec::new(),
            passage: None,
            within: None,
            rewards: Vec::new(),
            properties: Vec::new(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// Reports on a state space, with a witness for each verdict.
///
/// # Errors
///
/// As [`explore`](crate::solve::explore).
pub(super) fn solve_report(
    space: &StateSpace,
    verdicts: Option<&Verdicts>,
    program: &Program,
    subject: &Subject<'_>,
) -> Result<SolveReport, ExploreError> {
    let mut witnesses = Witnesses::new(space, program);
    let bounds = bounds(space, &mut witnesses)?;
    let safe = bounds.iter().all(|row| row.bound <= 1);
    let partial = space.stopped().is_some();
    Ok(SolveReport {
        partial,
        stopped: space.stopped().map(ToString::to_string),
        state_space: Some(state_space(space)),
        // a place with two tokens is enough to know that the net is not safe
        safe: (!safe || !partial).then_some(safe),
        bounds,
        deadlocks: deadlocks(space, program)?,
        zero_rates: zero_rates(space, program)?,
        verdicts: verdicts.map(VerdictRow::new),
        liveness: verdicts.map_or(Ok(Vec::new()), |verdicts| liveness(verdicts, &mut witnesses))?,
        ..SolveReport::empty(subject)
    })
}

fn state_space(space: &StateSpace) -> StateSpaceRow {
    let (vanishing, vanishing_is_exact) = space.vanishing();
    StateSpaceRow {
        tangible: space.states() as f64,
        explored: space.explored(),
        vanishing,
        vanishing_is_exact,
        edges: space.partial_chain().rates.count(),
        marking_bits: space.marking_bits(),
        bytes: space.bytes(),
        wall_s: space.wall().as_secs_f64(),
    }
}

fn bounds(space: &StateSpace, witnesses: &mut Witnesses<'_>) -> Result<Vec<MarkingBound>, ExploreError> {
    let rows = space.peaks().iter().zip(witnesses.program.place_names.iter()).enumerate();
    rows.map(|(place, (peak, name))| {
        let path = witnesses.find(|paths| paths.to_peak(place))?;
        Ok(MarkingBound { name: name.to_owned(), bound: peak.tokens, path })
    })
    .collect()
}

fn deadlocks(space: &StateSpace, program: &Program) -> Result<Option<DeadMarkings>, ExploreError> {
    let count = space.dead().len() as f64;
    let Some(&first) = space.dead().first() else {
        // for a partial state space, finding none among the explored states means nothing
        return Ok(space.stopped().is_none().then(|| DeadMarkings { count, marking: Vec::new(), path: Vec::new() }));
    };
    let path = names(program, &space.path_to(program, first)?);
    Ok(Some(DeadMarkings { count, marking: marked(space, program, first), path }))
}

fn zero_rates(space: &StateSpace, program: &Program) -> Result<Option<ZeroRateRow>, ExploreError> {
    let found = space.zero_rates(program)?;
    let row = ZeroRateRow {
        dead_markings: found.stuck.len(),
        held: names(program, &found.held),
        never: names(program, &found.never),
    };
    Ok((!row.held.is_empty() || !row.never.is_empty()).then_some(row))
}

fn liveness(verdicts: &Verdicts, witnesses: &mut Witnesses<'_>) -> Result<Vec<LivenessRow>, ExploreError> {
    let rows = witnesses.program.transition_names.iter().zip(verdicts.liveness.iter().zip(&verdicts.lost));
    rows.map(|(name, (&liveness, &lost))| {
        let lost_after = match (liveness, lost) {
            (Liveness::Dead, _) | (_, None) => None,
            (_, Some(state)) => witnesses.find(|paths| paths.to(state))?,
        };
        Ok(LivenessRow { name: name.to_owned(), level: liveness.level(), lost_after })
    })
    .collect()
}
