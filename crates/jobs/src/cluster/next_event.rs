//! Finds the next of a fixed set of timers to expire, by a tournament over their times.

/// Numbered timers; after every change, the earliest timer is known; ties go to the lowest number.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// Number of leaves, a power of two.
    leaves: usize,
    times: Vec<f64>,
    /// `winners[1]` is the overall winner; the children of `i` are `2 i` and `2 i + 1`.
    winners: Vec<u32>,
}

impl Timers {
    /// Creates `count` timers, all stopped.
    pub(super) fn new(count: usize) -> Self {
        let leaves = count.max(2).next_power_of_two();
        let mut timers = Self { leaves, times: vec![f64::INFINITY; leaves], winners: vec![0; 2 * leaves] };
        timers.clear();
        timers
    }

    /// Stops all timers.
    pub(super) fn clear(&mut self) {
        self.times.fill(f64::INFINITY);
        for leaf in 0..self.leaves {
            self.winners[self.leaves + leaf] = leaf as u32;
        }
        for node in (1..self.leaves).rev() {
            self.winners[node] = self.winners[2 * node];
        }
    }

    /// Sets a timer; infinity stops it.
    pub(super) fn set(&mut self, timer: usize, time: f64) {
        if self.times[timer].to_bits() == time.to_bits() {
            return;
        }
        self.times[timer] = time;
        let mut node = (self.leaves + timer) >> 1;
        while node > 0 {
            let (a, b) = (self.winners[2 * node], self.winners[2 * node + 1]);
            self.winners[node] = if self.times[b as usize] < self.times[a as usize] { b } else { a };
            node >>= 1;
        }
    }

    /// Returns the next timer and its time.
    pub(super) fn first(&self) -> (usize, f64) {
        let winner = self.winners[1] as usize;
        (winner, self.times[winner])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least(count in 1..40_usize, changes in prop::collection::vec((0..40_usize, 0..20_u8), 1..200)) {
            let mut timers = Timers::new(count);
            let mut plain = vec![f64::INFINITY; count];
            for (timer, time) in changes {
                let (timer, time) = (timer % count, if time == 0 { f64::INFINITY } else { f64::from(time) });
                timers.set(timer, time);
                plain[timer] = time;
                let least = plain.iter().copied().fold(f64::INFINITY, f64::min);
                let first = timers.first();
                prop_assert_eq!(first.1, least);
                if least.is_finite() {
                    prop_assert_eq!(first.0, plain.iter().position(|&time| time == least).unwrap());
                }
            }
        }
    }
}
