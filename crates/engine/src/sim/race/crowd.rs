//! The clocks of one transition whose delay is not exponential: one for each served enabling.

use crate::net::Memory;
use crate::sim::sampler::Ticks;

/// The clock of one enabling.
#[derive(Clone, Copy, Debug)]
struct Enabling<T> {
    /// Time at which the clock runs out; the remaining time if it is suspended.
    end: T,
    /// The whole delay.
    delay: T,
}

/// The clocks of a transition.
#[derive(Debug)]
pub(super) struct Crowd<T> {
    /// The running clocks, in the order in which they were started.
    running: Vec<Enabling<T>>,
    suspended: Vec<Enabling<T>>,
}

/// The age of a clock in a state in which walks start: the time for which the clock has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age {
    /// Number of the crowd.
    pub(crate) crowd: u32,
    /// The age in ticks.
    pub(crate) ticks: u64,
    /// True if the delay equals the age, so that the clock runs out now.
    pub(crate) is_due: bool,
    /// True if the clock does not run and keeps its age.
    pub(crate) is_suspended: bool,
}

impl<T> Default for Crowd<T> {
    fn default() -> Self {
        Self { running: Vec::new(), suspended: Vec::new() }
    }
}

impl<T: Ticks> Crowd<T> {
    pub(super) fn clear(&mut self) {
        self.running.clear();
        self.suspended.clear();
    }

    /// Removes a clock that runs out now.
    pub(super) fn finish(&mut self, now: T) {
        if let Some(out) = self.running.iter().position(|clock| clock.end == now) {
            self.running.remove(out);
        }
    }

    /// Changes the number of running clocks to `served` and returns the time at which the first clock runs out.
    pub(super) fn serve(&mut self, served: u32, now: T, memory: Memory, mut draw: impl FnMut() -> T) -> Option<T> {
        let served = served as usize;
        while self.running.len() > served {
            if let Some(clock) = self.running.pop()
                && memory == Memory::Age
            {
                self.suspended.push(Enabling { end: clock.end.since(now), ..clock });
            }
        }
        while self.running.len() < served {
            let fresh = || {
                let delay = draw();
                Enabling { end: delay, delay }
            };
            let Enabling { end: left, delay } = self.suspended.pop().unwrap_or_else(fresh);
            let end = now.plus(left).min(T::NEVER);
            // the end is at most `NEVER`; the delay is reduced by the same time, so the age stays exact
            self.running.push(Enabling { end, delay: delay.since(left.since(end.since(now))) });
        }
        self.running.iter().map(|clock| clock.end).min()
    }
}

impl Crowd<u64> {
    /// The ages of the clocks of crowd number `crowd` at a tick that is not after the end of a running clock.
    pub(super) fn ages(&self, crowd: u32, at: u64) -> impl Iterator<Item = Age> {
        let age = move |clock: &Enabling<u64>, left: u64, is_suspended| Age {
            crowd,
            ticks: clock.delay - left,
            is_due: left == 0,
            is_suspended,
        };
        let running = self.running.iter().map(move |clock| age(clock, clock.end - at, false));
        running.chain(self.suspended.iter().map(move |clock| age(clock, clock.end, true)))
    }

    /// Adds a clock whose delay is at least its age.
    pub(super) fn resume(&mut self, age: Age, delay: u64, now: u64) {
        let left = delay - age.ticks;
        if age.is_suspended {
            self.suspended.push(Enabling { end: left, delay });
        } else {
            let left = left.min(u64::NEVER - now);
            self.running.push(Enabling { end: now + left, delay: age.ticks + left });
        }
    }

    /// Number of running clocks, and the sum of their ages in ticks at `at`.
    pub(super) fn total_age(&self, at: u64) -> [f64; 2] {
        // the start of a clock is its end minus its delay; it may be before time 0
        let age = |clock: &Enabling<u64>| (clock.delay as f64) - (clock.end as f64 - at as f64);
        [self.running.len() as f64, self.running.iter().map(age).sum()]
    }
}
