//! What the states of a folded net show, in terms of the net that was folded.

use crate::fold::{Folding, Replay};
use crate::net::{Net, PlaceId, TransitionId};
use crate::report::solve::{FoldedStates, LivenessRow, MarkingBound, SolveReport, VerdictRow};
use crate::report::solve_numbers::{AverageSection, DistributionRow, NumberRow};
use crate::report::summary::NetSummary;
use crate::solve::{Liveness, StateSpace};

/// Dead markings up to which each is listed as a recurrent class.
const MOST_CLASSES: f64 = 10_000.0;

impl FoldedStates {
    /// Counts the states that the states of a folded net stand for.
    pub fn new(folding: &Folding, space: &StateSpace) -> Self {
        let net = folding.net();
        let all = 0..space.states() as u32;
        Self {
            states: space.states(),
            stand_for: stand_for(folding, space, all),
            places: net.places().len(),
            transitions: net.transitions().len(),
        }
    }
}

/// Number of markings of the original net that states of the folded net stand for.
fn stand_for(folding: &Folding, space: &StateSpace, states: impl Iterator<Item = u32>) -> f64 {
    let mut marking = vec![0; folding.net().places().len()];
    states
        .map(|state| {
            space.marking(state as usize, &mut marking);
            folding.orbit(&marking)
        })
        .sum()
}

impl SolveReport {
    /// The report of a folded net, in terms of the net that was folded. Edges, vanishing markings and memory stay those of the
    /// chain that was solved.
    #[must_use]
    pub fn unfolded(mut self, folding: &Folding, folded: FoldedStates, net: &Net, space: &StateSpace) -> Self {
        let view = View { folding, net };
        let names = |names: &mut Vec<String>| *names = names.iter().flat_map(|name| view.all(name)).collect();
        self.net = NetSummary { places: net.places().len(), transitions: net.transitions().len(), ..self.net };
        if let Some(row) = &mut self.state_space {
            row.tangible = folded.stand_for;
            row.vanishing_is_exact &= row.vanishing == 0;
        }
        self.bounds = view.bounds(&self.bounds);
        self.safe = self.safe.map(|_| self.bounds.iter().all(|row| row.bound <= 1));
        if let Some(row) = &mut self.deadlocks {
            row.count = stand_for(folding, space, space.dead().iter().copied());
            let (path, marked) = view.path(&row.path);
            let is_shared = |name: &str| folding.net().find_place(name).is_none_or(|place| !view.is_counted(place));
            row.marking.retain(|(name, _)| is_shared(name));
            row.marking.extend(marked.into_iter().map(|place| (net.place(place).id.clone(), 1)));
            row.path = path;
        }
        if let Some(row) = &mut self.zero_rates {
            names(&mut row.held);
            names(&mut row.never);
            let dead = self.deadlocks.as_ref().map_or(f64::INFINITY, |dead| dead.count);
            row.dead_markings = row.dead_markings.min(dead as usize);
        }
        let dead = self.deadlocks.as_ref().map_or(0.0, |dead| dead.count);
        self.verdicts = self.verdicts.take().and_then(|row| verdicts(row, space, &folded, dead));
        let known = self.verdicts.is_some();
        self.liveness = view.liveness(&self.liveness, known);
        let steady = self.steady.iter_mut().map(|section| {
            section.states.clear();
            &mut section.averages
        });
        for averages in steady.chain(self.at.iter_mut().map(|section| &mut section.averages)) {
            view.averages(averages);
        }
        self.folded = Some(folded);
        self
    }
}

/// Verdicts that need every marking, where they follow from those of the folded net.
fn verdicts(row: VerdictRow, space: &StateSpace, folded: &FoldedStates, dead: f64) -> Option<VerdictRow> {
    let all = folded.stand_for.min(f64::from(u32::MAX)) as u32;
    if row.reversible {
        return Some(VerdictRow { home_states: all, recurrent_classes: vec![all], ..row });
    }
    let only_dead = row.recurrent_classes.len() == space.dead().len() && dead <= MOST_CLASSES;
    let home_states = u32::from(dead as u64 == 1);
    only_dead.then(|| VerdictRow { home_states, recurrent_classes: vec![1; dead as usize], ..row })
}

/// A folded net and its original.
struct View<'a> {
    folding: &'a Folding,
    net: &'a Net,
}

impl View<'_> {
    fn is_counted(&self, folded: PlaceId) -> bool {
        self.folding.classes().iter().any(|class| class.places.contains(&folded))
    }

    fn name(&self, t: TransitionId) -> String {
        self.net.transition(t).id.clone()
    }

    /// The original transitions that a transition of the folded net stands for.
    fn all(&self, folded: &str) -> Vec<String> {
        let Some(id) = self.folding.net().find_transition(folded) else { return Vec::new() };
        let all = (0..self.net.transitions().len()).map(TransitionId::from_index);
        all.filter(|&t| self.folding.transition(t).transition == id).map(|t| self.name(t)).collect()
    }

    /// A firing sequence of the original net, and the places of replicas that are marked after it.
    fn path(&self, folded: &[String]) -> (Vec<String>, Vec<PlaceId>) {
        let mut replay = Replay::new(self.folding);
        let path = replay.path(&self.ids(folded), None).unwrap_or_default();
        (path.into_iter().map(|t| self.name(t)).collect(), replay.marked())
    }

    fn ids(&self, folded: &[String]) -> Vec<TransitionId> {
        folded.iter().filter_map(|name| self.folding.net().find_transition(name)).collect()
    }

    /// The bounds of the original places, each with a sequence that leads there.
    fn bounds(&self, folded: &[MarkingBound]) -> Vec<MarkingBound> {
        let paths: Vec<Vec<TransitionId>> = folded.iter().map(|row| self.ids(&row.path)).collect();
        let place = |p: usize| {
            let own = self.folding.place(PlaceId::from_index(p));
            let (row, path) = (&folded[own.place.index()], &paths[own.place.index()]);
            let to = own.replica.filter(|_| row.bound > 0).map(|replica| (own.place, replica));
            let path = Replay::new(self.folding).path(path, to).unwrap_or_default();
            let bound = if to.is_some() { 1 } else { row.bound };
            let name = self.net.places()[p].id.clone();
            MarkingBound { name, bound, path: path.into_iter().map(|t| self.name(t)).collect() }
        };
        (0..self.net.places().len()).map(place).collect()
    }

    /// How live the original transitions are. A counted transition may be live while that of a single replica is not.
    fn liveness(&self, folded: &[LivenessRow], all_known: bool) -> Vec<LivenessRow> {
        let lost: Vec<Option<Vec<String>>> =
            folded.iter().map(|row| row.lost_after.as_ref().map(|path| self.path(path).0)).collect();
        let row = |t: usize| {
            let own = self.folding.transition(TransitionId::from_index(t));
            let (i, row) = (own.transition.index(), folded.get(own.transition.index())?);
            let sure = all_known || own.replicas == 1 || row.level < Liveness::Live.level();
            let name = self.net.transitions()[t].id.clone();
            sure.then(|| LivenessRow { name, level: row.level, lost_after: lost[i].clone() })
        };
        (0..self.net.transitions().len()).filter_map(row).collect()
    }

    fn averages(&self, section: &mut AverageSection) {
        let share = |row: &NumberRow, share: f64| NumberRow { value: row.value * share, ..row.clone() };
        section.tokens = self.folding.per_place(&section.tokens, share);
        section.throughputs = self.folding.per_transition(&section.throughputs, share);
        let one = |row: &DistributionRow, share: f64| {
            let tokens = (0..).zip(&row.probabilities).map(|(n, p)| f64::from(n) * p).sum::<f64>() * share;
            let probabilities = if share < 1.0 { vec![1.0 - tokens, tokens] } else { row.probabilities.clone() };
            DistributionRow { probabilities, ..row.clone() }
        };
        section.distributions = self.folding.per_place(&section.distributions, one);
        let places = self.net.places().iter().map(|place| &place.id);
        section.tokens.iter_mut().zip(places.clone()).for_each(|(row, name)| row.name.clone_from(name));
        section.distributions.iter_mut().zip(places).for_each(|(row, name)| row.name.clone_from(name));
        let transitions = self.net.transitions().iter().map(|t| &t.id);
        section.throughputs.iter_mut().zip(transitions).for_each(|(row, name)| row.name.clone_from(name));
    }
}
