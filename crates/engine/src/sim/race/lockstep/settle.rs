//! Immediate firings of every lane, between two timed firings.
//!
//! No group reads the counters that another group writes, so each group is resolved once. A transition without
//! competitors fires in all lanes together, as often as it can. A choice is made lane by lane, with the same
//! random words as in the direct form.

use crate::rng::{Address, Purpose};
use crate::sim::race::lockstep::immediate::{Group, Immediate};
use crate::sim::race::lockstep::kernel::status::{RUNNING, WIDE};
use crate::sim::race::lockstep::kernel::{Limits, State};
use crate::sim::race::lockstep::lanes::{LANES, Lane};
use crate::sim::race::lockstep::net::Net;
use crate::sim::race::lockstep::sum::Sum;

impl<S: Sum> State<S> {
    /// Fires immediate transitions until the markings of all running lanes are tangible.
    #[inline(always)]
    pub(super) fn settle(&mut self, net: &Net, limits: &Limits) {
        let (immediates, warm_up) = (&net.immediates, net.asked.warm_up);
        if immediates.groups.is_empty() {
            return;
        }
        let mut fired = Lane::of(0_u32);
        for (place, group) in immediates.groups.iter().enumerate() {
            if group.drained.is_empty() {
                self.fire_in_turn(place, group, (immediates.max_in_a_row, warm_up), limits.key, &mut fired);
            } else {
                self.fire_at_once(group, (immediates.max_in_a_row, warm_up), &mut fired);
            }
        }
        for l in 0..LANES {
            self.firings[l] += u64::from(fired[l]);
        }
    }

    /// Fires a transition without competitors as often as its inputs allow.
    #[inline(always)]
    fn fire_at_once(&mut self, group: &Group, (most, warm_up): (u32, u64), fired: &mut Lane<u32>) {
        let transition = &group.transitions[0];
        let mut times = transition.guard.enabled(&self.marking);
        for &counter in &group.drained {
            let tokens = &self.marking[counter as usize];
            for l in 0..LANES {
                times[l] = times[l].min(tokens[l]);
            }
        }
        let mut any = 0;
        for l in 0..LANES {
            times[l] = if self.status[l] == RUNNING { times[l] } else { 0 };
            any |= times[l];
        }
        if any == 0 {
            return;
        }
        for l in 0..LANES {
            let wide = times[l] > most - fired[l];
            self.status[l] = if wide { WIDE } else { self.status[l] };
            times[l] = if wide { 0 } else { times[l] };
            fired[l] += times[l];
        }
        if self.ledger.notes_firings() {
            for l in 0..LANES {
                if times[l] != 0 {
                    self.ledger.note_one(warm_up, transition.row, l, times[l], self.now[l]);
                }
            }
        }
        for &(counter, by) in &transition.changes {
            let tokens = &mut self.marking[counter as usize];
            for l in 0..LANES {
                tokens[l] = tokens[l].wrapping_add(times[l].wrapping_mul(by.cast_unsigned()));
            }
        }
    }

    /// Fires the transitions of a group, one firing at a time, until no transition is enabled.
    #[inline(always)]
    fn fire_in_turn(
        &mut self,
        place: usize,
        group: &Group,
        (most, warm_up): (u32, u64),
        key: [u32; 2],
        fired: &mut Lane<u32>,
    ) {
        let mut open = Lane::of(0_u32);
        for transition in &group.transitions {
            let enabled = transition.guard.enabled(&self.marking);
            for l in 0..LANES {
                open[l] |= enabled[l];
            }
        }
        let mut lanes = 0_u64;
        for l in 0..LANES {
            lanes |= u64::from(open[l] != 0 && self.status[l] == RUNNING) << l;
        }
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            while let Some(transition) = self.choose(place, group, key, lane) {
                if fired[lane] == most {
                    self.status[lane] = WIDE;
                    break;
                }
                fired[lane] += 1;
                self.ledger.note_one(warm_up, transition.row, lane, 1, self.now[lane]);
                for &(counter, by) in &transition.changes {
                    let tokens = &mut self.marking[counter as usize][lane];
                    *tokens = tokens.wrapping_add_signed(by);
                }
            }
        }
    }

    /// The transition of a group that fires in one lane, as [`find_candidates`](crate::semantics::find_candidates) and
    /// [`pick`](crate::semantics::pick) choose it.
    #[inline(always)]
    fn choose<'g>(&mut self, place: usize, group: &'g Group, key: [u32; 2], lane: usize) -> Option<&'g Immediate> {
        let (mut candidates, mut total, mut priority) = (0_u64, 0, 0);
        for (bit, transition) in group.transitions.iter().enumerate() {
            if candidates != 0 && transition.priority < priority {
                break;
            }
            if transition.guard.holds(&self.marking, lane) {
                candidates |= 1 << bit;
                total += transition.weight;
                priority = transition.priority;
            }
        }
        let mut next = || {
            let bit = candidates.trailing_zeros() as usize;
            candidates &= candidates.wrapping_sub(1);
            group.transitions.get(bit).map(|transition| (transition, candidates != 0))
        };
        let (mut chosen, mut more) = next()?;
        if more {
            let sample = &mut self.choices[place][lane];
            let address = Address { purpose: Purpose::Choice, owner: group.number, sample: *sample };
            *sample = sample.wrapping_add(1);
            let mut rest = ((u64::from(address.word(key, self.replication[lane])) * u64::from(total)) >> 32) as u32;
            while rest >= chosen.weight && more {
                rest -= chosen.weight;
                (chosen, more) = next()?;
            }
        }
        Some(chosen)
    }
}
