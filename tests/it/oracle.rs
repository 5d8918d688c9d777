//! The token game and the Markov chain of a random net, straight from docs/semantics.md and the records of the net. Nothing of the
//! library is used, so that it cannot agree by sharing a mistake.

use std::collections::HashMap;

use tailspn::net::{ArcKind, Servers};

use crate::random_net::RandomNet;

impl RandomNet {
    /// Weights of the arcs of one kind between a transition and a place.
    fn weights(&self, t: usize, place: usize, kind: ArcKind, marking: &[u32]) -> Vec<i64> {
        let arcs = self.transitions[t].arcs.iter().filter(|arc| arc.0 == kind && arc.1 == place);
        arcs.map(|(_, _, weight)| weight.value(marking)).collect()
    }

    /// Tokens that `t` puts into a place minus the tokens that it takes.
    fn effect(&self, t: usize, place: usize, marking: &[u32]) -> i64 {
        let sum = |kind| self.weights(t, place, kind, marking).iter().sum::<i64>();
        sum(ArcKind::Output) - sum(ArcKind::Input)
    }

    /// The enabling degree of `t`; 0 if it is disabled.
    pub(crate) fn degree(&self, t: usize, marking: &[u32]) -> i64 {
        let mut degree = i64::MAX;
        for (p, place) in self.places.iter().enumerate() {
            let tokens = i64::from(marking[p]);
            let needs: i64 = self.weights(t, p, ArcKind::Input, marking).iter().sum();
            let tests = self.weights(t, p, ArcKind::Test, marking).into_iter().all(|w| tokens >= w);
            let inhibitors = self.weights(t, p, ArcKind::Inhibitor, marking).into_iter().all(|w| tokens < w);
            let grows = self.effect(t, p, marking);
            let room = place.capacity.is_none_or(|capacity| grows <= 0 || tokens + grows <= i64::from(capacity));
            if !(tests && inhibitors && room) {
                return 0;
            }
            if needs > 0 {
                degree = degree.min(tokens / needs);
            }
        }
        if degree == i64::MAX { 1 } else { degree }
    }

    /// The marking after a firing of `t`.
    pub(crate) fn after(&self, t: usize, marking: &[u32]) -> Vec<i64> {
        (0..marking.len()).map(|p| i64::from(marking[p]) + self.effect(t, p, marking)).collect()
    }

    fn fired(&self, t: usize, marking: &[u32]) -> Vec<u32> {
        self.after(t, marking).into_iter().map(|tokens| tokens.try_into().unwrap()).collect()
    }
}

/// A goal: so many tokens in a place.
type Goal = Option<(usize, u32)>;

/// The Markov chain of a net without loops of immediate transitions. It stays in a goal marking, vanishing ones included.
pub(crate) struct Oracle {
    markings: Vec<Vec<u32>>,
    /// Probability of each state at the start.
    start: Vec<f64>,
    /// Per state: where to, and at which rate [1/s].
    moves: Vec<Vec<(usize, f64)>>,
    /// Per state: firings of each transition [1/s], immediate ones included.
    firings: Vec<Vec<f64>>,
    goal: Goal,
}

/// Where a marking leads at no time: markings with their probabilities, and mean firings of immediate transitions.
struct Settled {
    ends: Vec<(Vec<u32>, f64)>,
    firings: Vec<f64>,
}

fn is_goal(goal: Goal, marking: &[u32]) -> bool {
    goal.is_some_and(|(place, tokens)| marking[place] >= tokens)
}

fn settle(net: &RandomNet, goal: Goal, marking: &[u32], share: f64, found: &mut Settled) {
    let priority = |t: &usize| net.transitions[*t].immediate;
    let enabled: Vec<usize> =
        (0..net.transitions.len()).filter(|t| priority(t).is_some() && net.degree(*t, marking) > 0).collect();
    if enabled.is_empty() || is_goal(goal, marking) {
        return found.ends.push((marking.to_vec(), share));
    }
    let highest = enabled.iter().map(priority).max().unwrap();
    let first: Vec<usize> = enabled.into_iter().filter(|t| priority(t) == highest).collect();
    let total: f64 = first.iter().map(|&t| net.transitions[t].rate).sum();
    for t in first {
        let share = share * net.transitions[t].rate / total;
        found.firings[t] += share;
        settle(net, goal, &net.fired(t, marking), share, found);
    }
}

impl Oracle {
    pub(crate) fn new(net: &RandomNet, goal: Goal) -> Self {
        let mut chain = Self { markings: Vec::new(), start: Vec::new(), moves: Vec::new(), firings: Vec::new(), goal };
        let mut numbers = HashMap::new();
        let settled = |marking: &[u32]| {
            let mut found = Settled { ends: Vec::new(), firings: vec![0.0; net.transitions.len()] };
            settle(net, goal, marking, 1.0, &mut found);
            found
        };
        let mut number = |marking: Vec<u32>, markings: &mut Vec<Vec<u32>>| {
            *numbers.entry(marking).or_insert_with_key(|marking| {
                markings.push(marking.clone());
                markings.len() - 1
            })
        };
        let initial: Vec<u32> = net.places.iter().map(|place| place.tokens).collect();
        let starts: Vec<(usize, f64)> =
            settled(&initial).ends.into_iter().map(|(m, share)| (number(m, &mut chain.markings), share)).collect();
        let mut at = 0;
        while at < chain.markings.len() {
            let marking = chain.markings[at].clone();
            let (mut moves, mut firings) = (Vec::new(), vec![0.0; net.transitions.len()]);
            let timed = |t: &usize| net.transitions[*t].immediate.is_none() && !is_goal(goal, &marking);
            for t in (0..net.transitions.len()).filter(timed) {
                let degree = net.degree(t, &marking);
                let served = match net.transitions[t].servers {
                    Servers::Single => degree.min(1),
                    Servers::Limited(most) => degree.min(i64::from(most)),
                    Servers::Infinite => degree,
                };
                if served > 0 {
                    let rate = net.transitions[t].rate * served as f64;
                    let next = settled(&net.fired(t, &marking));
                    firings[t] += rate;
                    firings.iter_mut().zip(&next.firings).for_each(|(sum, mean)| *sum += rate * mean);
                    let ends = next.ends.into_iter();
                    moves.extend(ends.map(|(m, share)| (number(m, &mut chain.markings), rate * share)));
                }
            }
            chain.moves.push(moves);
            chain.firings.push(firings);
            at += 1;
        }
        chain.start = vec![0.0; chain.markings.len()];
        starts.into_iter().for_each(|(state, share)| chain.start[state] += share);
        chain
    }

    /// Goes on for some time [s], and returns how long the chain stays in each state on average [s]. Uniformization in steps so
    /// short that no term underflows.
    fn advance(&self, state: &mut [f64], seconds: f64) -> Vec<f64> {
        let exits: Vec<f64> = self.moves.iter().map(|moves| moves.iter().map(|&(_, rate)| rate).sum()).collect();
        let fastest = exits.iter().copied().fold(1e-3, f64::max);
        let steps = (fastest * seconds / 8.0).ceil();
        let jumps = fastest * seconds / steps;
        let mut stays = vec![0.0; state.len()];
        for _ in 0..steps as usize {
            let (mut now, mut end) = (state.to_vec(), vec![0.0; state.len()]);
            // chance of exactly k jumps, and of more than k
            let (mut exactly, mut more) = ((-jumps).exp(), 1.0 - (-jumps).exp());
            for k in 1..=80 {
                for (i, share) in now.iter().enumerate() {
                    end[i] += exactly * share;
                    stays[i] += more * share / fastest;
                }
                let mut next = now.clone();
                for (moves, share) in self.moves.iter().zip(&now) {
                    for &(to, rate) in moves {
                        next[to] += share * rate / fastest;
                    }
                }
                for ((next, exit), share) in next.iter_mut().zip(&exits).zip(&now) {
                    *next -= share * exit / fastest;
                }
                now = next;
                exactly *= jumps / f64::from(k);
                more = (more - exactly).max(0.0);
                if exactly < 1e-20 {
                    break;
                }
            }
            state.copy_from_slice(&end);
        }
        stays
    }

    /// Time averages of the tokens in each place, then of the firings of each transition [1/s], from one time to another.
    pub(crate) fn averages(&self, from: f64, to: f64) -> Vec<f64> {
        let mut state = self.start.clone();
        self.advance(&mut state, from);
        let stays = self.advance(&mut state, to - from);
        let average = |value: &dyn Fn(usize) -> f64| {
            stays.iter().enumerate().map(|(i, stay)| stay * value(i)).sum::<f64>() / (to - from)
        };
        let tokens = (0..self.markings[0].len()).map(|p| average(&|i| f64::from(self.markings[i][p])));
        tokens.chain((0..self.firings[0].len()).map(|t| average(&|i| self.firings[i][t]))).collect()
    }

    /// The probability that the goal is reached by some time.
    pub(crate) fn arrival(&self, by: f64) -> f64 {
        let mut state = self.start.clone();
        self.advance(&mut state, by);
        state
            .iter()
            .zip(&self.markings)
            .filter(|(_, marking)| is_goal(self.goal, marking))
            .map(|(share, _)| share)
            .sum()
    }
}
