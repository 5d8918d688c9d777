//! Averages over the states of a net: tokens with their distributions, throughputs, expressions.

use crate::compile::Program;
use crate::solve::explore_error::ExploreError;
use crate::solve::space::StateSpace;

/// Averages under given probabilities of the states.
#[derive(Clone, Debug, PartialEq)]
pub struct Averages {
    /// Per counter: mean tokens.
    pub tokens: Vec<f64>,
    /// Per place: probability of holding 0, 1, ... tokens of all classes, up to its bound; empty for bounds above 100,000.
    pub distributions: Vec<Vec<f64>>,
    /// Per transition: firings \[1/s\].
    pub throughputs: Vec<f64>,
}

/// Largest bound of a place whose distribution is kept.
const LARGEST_BOUND: u64 = 100_000;

/// A sum with compensation of rounding errors, after Neumaier.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let sum = self.value + term;
        self.lost += if self.value.abs() >= term.abs() { (self.value - sum) + term } else { (term - sum) + self.value };
        self.value = sum;
    }

    fn get(self) -> f64 {
        self.value + self.lost
    }
}

/// Mean tokens of the counters, and the distributions of the places.
struct Held {
    tokens: Vec<Sum>,
    distributions: Vec<Vec<Sum>>,
    /// Probability of all states so far.
    total: Sum,
    /// Per counter, in a large net: probability and number of the states in which it differs from the initial marking.
    changed: Vec<(Sum, u32)>,
    /// The same per place.
    changed_places: Vec<(Sum, u32)>,
    states: u32,
    places: Vec<u32>,
}

impl Held {
    fn new(space: &StateSpace, program: &Program) -> Self {
        let bounds = space.peaks().iter().map(|peak| peak.tokens);
        let widths = bounds.map(|bound| if bound > LARGEST_BOUND { 0 } else { bound as usize + 1 });
        let large = usize::from(space.search.is_some());
        Self {
            tokens: vec![Sum::default(); program.counters()],
            distributions: widths.map(|width| vec![Sum::default(); width]).collect(),
            total: Sum::default(),
            changed: vec![<(Sum, u32)>::default(); large * program.counters()],
            changed_places: vec![<(Sum, u32)>::default(); large * program.places()],
            states: 0,
            places: Vec::new(),
        }
    }

    fn add(&mut self, program: &Program, marking: &[u32], probability: f64) {
        for (sum, &count) in self.tokens.iter_mut().zip(marking).filter(|(_, count)| **count > 0) {
            sum.add(probability * f64::from(count));
        }
        for (place, sums) in self.distributions.iter_mut().enumerate() {
            if let Some(sum) = sums.get_mut(program.tokens_in(place, marking) as usize) {
                sum.add(probability);
            }
        }
    }

    /// Adds the contribution of the places that differ from the initial marking.
    fn add_changes(
        &mut self,
        program: &Program,
        marking: &[u32],
        changed: impl Iterator<Item = (u32, u32)>,
        probability: f64,
    ) {
        self.total.add(probability);
        self.states += 1;
        self.places.clear();
        for (counter, count) in changed {
            self.tokens[counter as usize].add(probability * f64::from(count));
            self.changed[counter as usize].0.add(probability);
            self.changed[counter as usize].1 += 1;
            self.places.push(counter / program.classes() as u32);
        }
        self.places.sort_unstable();
        self.places.dedup();
        for place in self.places.iter().map(|&place| place as usize) {
            self.changed_places[place].0.add(probability);
            self.changed_places[place].1 += 1;
            if let Some(sum) = self.distributions[place].get_mut(program.tokens_in(place, marking) as usize) {
                sum.add(probability);
            }
        }
    }

    /// Adds the contribution of the places that are as in the initial marking, in all states except the states counted
    /// as changed.
    fn add_unchanged(&mut self, program: &Program, initial: &[u32]) {
        let rest = |(changed, states): (Sum, u32)| {
            if states == self.states { 0.0 } else { (self.total.get() - changed.get()).max(0.0) }
        };
        for ((sum, &count), &changed) in self.tokens.iter_mut().zip(initial).zip(&self.changed) {
            sum.add(rest(changed) * f64::from(count));
        }
        for (place, (sums, &changed)) in self.distributions.iter_mut().zip(&self.changed_places).enumerate() {
            if let Some(sum) = sums.get_mut(program.tokens_in(place, initial) as usize) {
                sum.add(rest(changed));
            }
        }
    }
}

impl StateSpace {
    /// Returns the averages if state `i` has the probability `probabilities[i]`. They are as accurate as the probabilities.
    /// Visits every state once.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn averages(&self, program: &Program, probabilities: &[f64]) -> Result<Averages, ExploreError> {
        let counts = |state: usize| probabilities[state] > 0.0;
        self.averages_of(program, probabilities, &counts, &|state, _, rate| probabilities[state] * rate)
    }

    /// Returns the averages; the firings per second of a timed transition in a state that `counts` are `flow(state, transition,
    /// rate)`.
    pub(crate) fn averages_of(
        &self,
        program: &Program,
        probabilities: &[f64],
        counts: &dyn Fn(usize) -> bool,
        flow: &dyn Fn(usize, u32, f64) -> f64,
    ) -> Result<Averages, ExploreError> {
        let mut sums = Held::new(self, program);
        let mut marking = self.blank();
        for (state, &probability) in probabilities.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            self.store.read(state, &mut marking);
            match marking.changed() {
                None => sums.add(program, &marking, probability),
                Some(changed) => sums.add_changes(program, &marking, changed, probability),
            }
        }
        if let Some(search) = &self.search {
            sums.add_unchanged(program, &search.initial);
        }
        let mut throughputs = vec![Sum::default(); program.transitions()];
        self.for_each_flow(program, counts, flow, &mut |firing| {
            throughputs[firing.transition as usize].add(firing.flow);
        })?;
        let values = |sums: Vec<Sum>| sums.into_iter().map(Sum::get).collect::<Vec<f64>>();
        let mut averages = Averages {
            tokens: values(sums.tokens),
            distributions: sums.distributions.into_iter().map(values).collect(),
            throughputs: values(throughputs),
        };
        if let Some(canonical) = &self.canonical {
            canonical.equal_counters().for_each(|all| level(&mut averages.tokens, &all));
            canonical.equal_transitions().for_each(|all| level(&mut averages.throughputs, &all));
            canonical.equal_places().for_each(|all| level_rows(&mut averages.distributions, &all));
        }
        Ok(averages)
    }

    /// Returns the mean number of firings of each transition before time first passes.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn firings_at_start(&self, program: &Program) -> Result<Vec<f64>, ExploreError> {
        let mut firings = vec![0.0; program.transitions()];
        self.for_each_firing_at_start(program, &mut |firing| firings[firing.transition as usize] += firing.flow)?;
        if let Some(canonical) = &self.canonical {
            canonical.equal_transitions().for_each(|all| level(&mut firings, &all));
        }
        Ok(firings)
    }

    /// Returns the mean sojourn time of each state \[s\]; infinite if no transition leaves it.
    pub fn sojourns(&self) -> Vec<f64> {
        let rates = &self.partial_chain().rates;
        (0..self.states()).map(|state| 1.0 / rates.row(state).map(|(_, rate)| rate).sum::<f64>()).collect()
    }
}

/// Replaces the values at the positions `all` by their mean.
fn level(values: &mut [f64], all: &[u32]) {
    let mean = all.iter().map(|&i| values[i as usize]).sum::<f64>() / all.len() as f64;
    all.iter().for_each(|&i| values[i as usize] = mean);
}

/// Replaces the rows at the positions `all`, which have equal lengths, by their mean.
fn level_rows(rows: &mut [Vec<f64>], all: &[u32]) {
    for tokens in 0..rows[all[0] as usize].len() {
        let mean = all.iter().map(|&i| rows[i as usize][tokens]).sum::<f64>() / all.len() as f64;
        all.iter().for_each(|&i| rows[i as usize][tokens] = mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::cases::{queue, space};

    #[test]
    fn averages_of_a_queue_have_their_closed_forms() {
        let program = queue(2, 2.0, 4.0);
        let space = space(&program);
        // geometric with ratio 1/2: 4/7, 2/7, 1/7
        let averages = space.averages(&program, &[4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]).unwrap();
        assert!((averages.tokens[0] - 4.0 / 7.0).abs() < 1e-15);
        assert_eq!(averages.distributions, [[4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]]);
        assert!(averages.throughputs.iter().all(|x| (x - 12.0 / 7.0).abs() < 1e-15));
        assert_eq!(space.sojourns(), [1.0 / 2.0, 1.0 / 6.0, 1.0 / 4.0]);
    }

    #[test]
    fn small_terms_are_not_lost() {
        let mut sum = Sum::default();
        sum.add(1.0);
        (0..1_000_000).for_each(|_| sum.add(1e-17));
        assert!((sum.get() - (1.0 + 1e-11)).abs() < 1e-16);
    }
}
