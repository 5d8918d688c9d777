//! The direct form against its definition: all transitions are checked before each firing, and the running sums walked.

use rand_core::Rng;

use super::*;
use crate::compile::Firing;
use crate::net::{Delay, Servers};
use crate::rng::{Philox, event_block, exponential};
use crate::semantics::{enabling_degree, fire, rate, served};
use crate::sim::race::Observer;
use crate::simd::Level;

/// A net of as many places and transitions, in which tokens move at random.
fn random_net(size: u32, dice: &mut Philox) -> Program {
    let mut below = |n: u32| dice.next_u32() % n;
    let mut b = NetBuilder::new("random");
    let places: Vec<_> = (0..size).map(|i| b.place(format!("p{i}"), below(4))).collect();
    for i in 0..size {
        let t = b.transition(format!("t{i}"), Timing::exponential(f64::from(1 + below(20)) / 7.0));
        let (from, other) = (places[i as usize], places[below(size) as usize]);
        b.input(from, t, f64::from(1 + below(5) / 4));
        match below(8) {
            0 => drop(b.inhibitor(other, t, f64::from(1 + below(6)))),
            1 => drop(b.test(other, t, 1.0)),
            2 if other != from => drop(b.input(other, t, 1.0)),
            _ => {}
        }
        b.output(t, places[below(size) as usize], f64::from(1 + below(8) / 7));
        let by_marking = b.expression(&format!("if(#(p{}) > 1, 2, #(p{i}) / 3)", below(size))).unwrap();
        if let Timing::Timed { delay, servers, .. } = &mut b.transition_mut(t).timing {
            *servers = [Servers::Single, Servers::Infinite, Servers::Limited(2)][below(3) as usize];
            if below(8) == 0 {
                *delay = Delay::Exponential { rate: by_marking };
            }
        }
    }
    program(&b)
}

/// Units of a transition in a marking.
fn units(program: &Program, law: DirectLaw, t: usize, marking: &[u32]) -> u64 {
    let Firing::Exponential { rate: each, servers } = &program.firing[t] else { unreachable!() };
    match each.as_constant() {
        Some(each) => law.units(each) * u64::from(served(*servers, enabling_degree(program, t, marking).unwrap())),
        None => law.units(rate(program, t, marking).unwrap()),
    }
}

/// The firings of a replication, each with its tick.
fn by_definition(program: &Program, clock: Clock, replication: u64, last_tick: u64) -> Vec<(u32, u64)> {
    let law = DirectLaw::choose(program, clock);
    let (mut marking, mut now, mut firings) = (program.initial.clone(), 0, Vec::new());
    for pair in 0.. {
        let words = event_block(KEY, replication, pair);
        for [time, selector] in [[words[0], words[1]], [words[2], words[3]]] {
            let each: Vec<u64> = (0..program.transitions()).map(|t| units(program, law, t, &marking)).collect();
            let total: u64 = each.iter().sum();
            if total == 0 {
                return firings;
            }
            now += law.delay(exponential(time), total);
            if now > last_tick {
                return firings;
            }
            let mut rest = ((u128::from(selector) * u128::from(total)) >> 32) as u64;
            let t = each
                .iter()
                .position(|&units| {
                    units > rest || {
                        rest -= units;
                        false
                    }
                })
                .unwrap();
            fire(program, t, &mut marking).unwrap();
            firings.push((t as u32, now));
        }
    }
    firings
}

#[derive(Default)]
struct Firings(Vec<(u32, u64)>);

impl Observer for Firings {
    fn fires(&mut self, t: u32, _: &[u32], now: u64) {
        self.0.push((t, now));
    }
}

#[test]
fn fires_as_defined_in_nets_of_every_size() {
    let mut dice = Philox::new(5);
    let mut firings = 0;
    for size in [1, 2, 3, 4, 5, 8, 15, 16, 17, 40, 63, 64, 65, 130, 300] {
        let program = random_net(size, &mut dice);
        let question = Question { goal: Goal::Horizon, horizon: Some(200.0 / f64::from(size)), ..Question::default() };
        let clock = Clock::choose(&program, question.horizon);
        assert_eq!(DirectLaw::obstacles(&program, clock), []);
        let setup =
            Setup { program: &program, question: &question, clock, key: KEY, keep_times: false, watch: &Unwatched };
        let last_tick = clock.ticks(200.0 / f64::from(size));
        for replication in 0..6 {
            let expected = by_definition(&program, clock, replication, last_tick);
            for level in Level::available() {
                let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
                let form = DirectForm::new(setup).at_level(level);
                let found = form.watch(Firings::default(), replication, 1, &mut samples).unwrap();
                assert_eq!(found.0, expected, "{size} transitions, replication {replication}, {}", level.name());
            }
            firings += expected.len();
        }
    }
    assert!(firings > 5_000, "{firings}");
}
