//! Results from the states of a folded net, in terms of the original net.

use crate::ask::net::names::NetSummary;
use crate::ask::net::numbers::{AverageSection, DistributionRow, NumberRow};
use crate::ask::net::solved::{ExchangedParts, FoldedStates, LivenessRow, MarkingBound, SolveReport, VerdictRow};
use crate::fold::{FoldedPlace, Folding, Replay, Symmetry};
use crate::net::{Net, PlaceId, TransitionId};
use crate::solve::{Liveness, StateSpace};

/// Maximum number of dead markings that are each listed as a recurrent class.
const MOST_CLASSES: f64 = 10_000.0;

impl FoldedStates {
    /// Counts the original states that the states of a folded net represent, in canonical markings of the parts of `symmetry`.
    pub fn new(folding: &Folding, symmetry: &Symmetry, space: &StateSpace) -> Self {
        let net = folding.net();
        let all = 0..space.states() as u32;
        Self {
            states: space.states(),
            stand_for: stand_for(folding, space, all),
            places: net.places().len(),
            transitions: net.transitions().len(),
            exchanged: ExchangedParts::all(symmetry, net),
        }
    }
}

/// Returns the number of markings of the original net that states of the folded net represent.
fn stand_for(folding: &Folding, space: &StateSpace, states: impl Iterator<Item = u32>) -> f64 {
    let mut marking = vec![0; folding.net().places().len() * folding.net().classes().len()];
    states
        .map(|state| {
            space.marking(state as usize, &mut marking);
            folding.orbit(&marking) * space.orbit(state as usize)
        })
        .sum()
}

impl SolveReport {
    /// Returns the report of a folded net in terms of the original net. Edges, vanishing markings and memory
    /// refer to the solved chain.
    #[must_use]
    pub fn unfolded(mut self, folding: &Folding, folded: FoldedStates, net: &Net, space: &StateSpace) -> Self {
        let view = View { folding, net, space };
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
            if row.count > 0.0 {
                row.marking.extend(marked.into_iter().map(|(place, tokens)| (net.place(place).id.clone(), tokens)));
            }
            row.path = path;
        }
        if let Some(row) = &mut self.zero_rates {
            names(&mut row.held);
            row.never = view.never(&row.never, &self.liveness);
            let dead = self.deadlocks.as_ref().map_or(f64::INFINITY, |dead| dead.count);
            row.dead_markings = row.dead_markings.min(dead as usize);
        }
        let dead = self.deadlocks.as_ref().map_or(0.0, |dead| dead.count);
        self.verdicts = self.verdicts.take().and_then(|row| verdicts(row, space, &folded, dead));
        let known = self.verdicts.is_some();
        self.liveness = view.liveness(&self.liveness, known);
        if let Some(row) = &mut self.verdicts {
            row.live = self.liveness.iter().all(|row| row.level == Liveness::Live.level());
        }
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

/// Verdicts that need every marking, if they follow from the verdicts on the folded net.
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
    space: &'a StateSpace,
}

impl View<'_> {
    fn is_counted(&self, folded: PlaceId) -> bool {
        self.folding.classes().iter().any(|class| class.places.contains(&folded))
    }

    fn name(&self, t: TransitionId) -> String {
        self.net.transition(t).id.clone()
    }

    /// Returns the original transitions that a transition of the folded net represents.
    fn all(&self, folded: &str) -> Vec<String> {
        let Some(id) = self.folding.net().find_transition(folded) else { return Vec::new() };
        let all = (0..self.net.transitions().len()).map(TransitionId::from_index);
        all.filter(|&t| self.folding.transitions(t).iter().any(|own| own.transition == id))
            .map(|t| self.name(t))
            .collect()
    }

    /// Returns the original transitions that never fire because of a rate of 0: transitions with a rate of 0 in one
    /// local marking that fire in no other.
    fn never(&self, folded: &[String], liveness: &[LivenessRow]) -> Vec<String> {
        let held = self.ids(folded);
        let fires = |t: TransitionId| liveness.get(t.index()).is_some_and(|row| row.level > Liveness::Dead.level());
        let never = |&t: &TransitionId| {
            let own = self.folding.transitions(t);
            own.iter().any(|own| held.contains(&own.transition)) && !own.iter().any(|own| fires(own.transition))
        };
        (0..self.net.transitions().len()).map(TransitionId::from_index).filter(never).map(|t| self.name(t)).collect()
    }

    /// Returns a firing sequence of the original net, and the places of replicas that are marked after it.
    fn path(&self, folded: &[String]) -> (Vec<String>, Vec<(PlaceId, u32)>) {
        let mut replay = Replay::new(self.folding);
        let path = replay.path(&self.ids(folded), None).unwrap_or_default();
        (path.into_iter().map(|t| self.name(t)).collect(), replay.marked())
    }

    fn ids(&self, folded: &[String]) -> Vec<TransitionId> {
        folded.iter().filter_map(|name| self.folding.net().find_transition(name)).collect()
    }

    /// Returns the bounds of the original places, each with a sequence that reaches it.
    fn bounds(&self, folded: &[MarkingBound]) -> Vec<MarkingBound> {
        let ids = |row: &MarkingBound| row.path.as_ref().map(|path| self.ids(path));
        let paths: Vec<Option<Vec<TransitionId>>> = folded.iter().map(ids).collect();
        let place = |p: usize| {
            let all = self.folding.places(PlaceId::from_index(p));
            let reached = all.iter().filter(|own| folded[own.place.index()].bound > 0);
            // the local marking with the most tokens; of several, the first that is reached
            let steps = |own: &FoldedPlace| std::cmp::Reverse(paths[own.place.index()].as_ref().map(Vec::len));
            let own = reached.max_by_key(|own| (own.tokens, steps(own))).unwrap_or(&all[0]);
            let (row, path) = (&folded[own.place.index()], &paths[own.place.index()]);
            let to = own.replica.filter(|_| row.bound > 0).map(|replica| (own.place, replica));
            let path = path.as_ref().map(|path| {
                let path = Replay::new(self.folding).path(path, to).unwrap_or_default();
                path.into_iter().map(|t| self.name(t)).collect()
            });
            let bound = if to.is_some() { u64::from(own.tokens) } else { row.bound };
            let name = self.net.places()[p].id.clone();
            MarkingBound { name, bound, path }
        };
        (0..self.net.places().len()).map(place).collect()
    }

    /// Liveness of the original transitions. A counted transition may be live although the transition of a single
    /// replica is not. Similarly, a transition that belongs to several local markings may be live although it is
    /// live in none of them.
    fn liveness(&self, folded: &[LivenessRow], all_known: bool) -> Vec<LivenessRow> {
        if folded.is_empty() {
            return Vec::new();
        }
        let row = |t: usize| {
            let all = self.folding.transitions(TransitionId::from_index(t));
            let name = self.net.transitions()[t].id.clone();
            let Some(own) = all.iter().max_by_key(|own| folded[own.transition.index()].level) else {
                return Some(LivenessRow { name, level: Liveness::Dead.level(), lost_after: None });
            };
            let found = &folded[own.transition.index()];
            let level = if all.len() == 1 { Liveness::Live } else { Liveness::Repeated }.level();
            let is_alone = own.replicas == 1 && !self.space.is_exchangeable(own.transition.index() as u32);
            let sure = all_known || (is_alone && all.len() == 1) || found.level < level;
            let lost = found.lost_after.as_ref().filter(|_| all.len() == 1);
            sure.then(|| LivenessRow { name, level: found.level, lost_after: lost.map(|path| self.path(path).0) })
        };
        (0..self.net.transitions().len()).filter_map(row).collect()
    }

    /// Returns the distribution of the tokens in a place: in a replica, the share of replicas in each local
    /// marking.
    fn distribution(&self, p: usize, folded: &[DistributionRow]) -> DistributionRow {
        let name = self.net.places()[p].id.clone();
        let mut probabilities = vec![0.0];
        for own in self.folding.places(PlaceId::from_index(p)) {
            let counts = &folded[own.place.index()].probabilities;
            if own.replica.is_none() {
                return DistributionRow { name, probabilities: counts.clone() };
            }
            let mean = (0..).zip(counts).map(|(n, p)| f64::from(n) * p).sum::<f64>() / own.replicas as f64;
            let tokens = own.tokens as usize;
            if tokens > 0 && counts.len() > 1 {
                probabilities.resize(probabilities.len().max(tokens + 1), 0.0);
                probabilities[tokens] += mean;
            }
        }
        probabilities[0] = 1.0 - probabilities.iter().sum::<f64>();
        DistributionRow { name, probabilities }
    }

    fn averages(&self, section: &mut AverageSection) {
        if !self.folding.is_folded() {
            return;
        }
        let sum = |terms: &[(&NumberRow, f64)]| terms.iter().map(|(row, share)| row.value * share).sum::<f64>();
        let named =
            |name: &String, value: f64, like: &NumberRow| NumberRow { name: name.clone(), value, ..like.clone() };
        if let Some(like) = section.tokens.first().cloned() {
            let all = self.folding.per_place(&section.tokens, sum).into_iter().zip(self.net.places());
            section.tokens = all.map(|(mean, place)| named(&place.id, mean, &like)).collect();
        }
        if let Some(like) = section.throughputs.first().cloned() {
            let all = self.folding.per_transition(&section.throughputs, sum).into_iter().zip(self.net.transitions());
            section.throughputs = all.map(|(rate, t)| named(&t.id, rate, &like)).collect();
        }
        if !section.distributions.is_empty() {
            let all = 0..self.net.places().len();
            section.distributions = all.map(|p| self.distribution(p, &section.distributions)).collect();
        }
    }
}
