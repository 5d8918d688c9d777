//! Processor sharing: cores, a disk or a network of a machine, divided equally among the tasks that use it at the time.
//!
//! All users advance at the same rate, min(1, capacity / users). So one number is enough for the progress of all: the work that a user present from the
//! start would have done. A user ends when that number has grown by its work. With room for all, work and time are the same whole ticks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A part of a machine that tasks share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// Number of users at full speed.
    capacity: f64,
    rate: f64,
    /// Time for which `work` holds, in ticks.
    at: u64,
    /// Work done by each user since the start, in ticks.
    work: f64,
    /// The work at which each user ends, as bits; work is not negative, so that its bits have its order.
    users: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Shared {
    pub(super) fn new(capacity: f64) -> Self {
        Self { capacity, rate: 1.0, at: 0, work: 0.0, users: BinaryHeap::new() }
    }

    fn advance(&mut self, now: u64) {
        self.work += (now - self.at) as f64 * self.rate;
        self.at = now;
    }

    fn set_rate(&mut self) {
        self.rate = (self.capacity / self.users.len().max(1) as f64).min(1.0);
    }

    /// Adds a user with this work in ticks.
    pub(super) fn join(&mut self, now: u64, user: u32, work: u64) {
        self.advance(now);
        self.users.push(Reverse(((self.work + work as f64).to_bits(), user)));
        self.set_rate();
    }

    /// Returns the time at which the first user ends if no other joins; none without users.
    pub(super) fn next_end(&self) -> Option<u64> {
        let Reverse((end, _)) = self.users.peek()?;
        let left = (f64::from_bits(*end) - self.work).max(0.0);
        // `as` is fine: it rounds down, and saturates
        Some(self.at.saturating_add((left / self.rate + 0.5) as u64))
    }

    /// Removes a user that has ended at this time, to the nearest tick; of several, the first by work and number.
    pub(super) fn ended(&mut self, now: u64) -> Option<u32> {
        self.advance(now);
        let Reverse((end, user)) = *self.users.peek()?;
        // half a tick, and the rounding of the sums
        if f64::from_bits(end) - self.work > 0.5 * self.rate + 1e-15 * self.work {
            return None;
        }
        self.users.pop();
        self.set_rate();
        Some(user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends in order: of users that join at these times with this work.
    fn ends(capacity: f64, users: &[(u64, u64)]) -> Vec<(u32, u64)> {
        let mut shared = Shared::new(capacity);
        let mut coming: Vec<(u64, u32, u64)> = (0..).zip(users).map(|(user, &(at, work))| (at, user, work)).collect();
        coming.reverse();
        let mut found = Vec::new();
        loop {
            let arrival = coming.last().map_or(u64::MAX, |next| next.0);
            match shared.next_end() {
                Some(end) if end <= arrival => {
                    while let Some(user) = shared.ended(end) {
                        found.push((user, end));
                    }
                }
                _ if arrival == u64::MAX => return found,
                _ => {
                    let (at, user, work) = coming.pop().unwrap();
                    shared.join(at, user, work);
                }
            }
        }
    }

    /// Work 10, 20 and 30 on one core: at thirds until 30, at halves until 50, alone until 60. On two cores: at two thirds until 15, then alone.
    #[test]
    fn cores_are_shared_equally() {
        let three = [(0, 10), (0, 20), (0, 30)];
        assert_eq!(ends(1.0, &three), [(0, 30), (1, 50), (2, 60)]);
        assert_eq!(ends(2.0, &three), [(0, 15), (1, 25), (2, 35)]);
        assert_eq!(ends(3.0, &three), [(0, 10), (1, 20), (2, 30)]);
        // half a core: one task at half speed
        assert_eq!(ends(0.5, &[(0, 10)]), [(0, 20)]);
    }

    /// The second joins when the first has half of its work left: both at half speed until 15, then the second alone until 20.
    #[test]
    fn a_late_user_of_a_resource_slows_down_the_others() {
        assert_eq!(ends(1.0, &[(0, 10), (5, 10)]), [(0, 15), (1, 20)]);
        assert_eq!(ends(1.0, &[(0, 10), (10, 10)]), [(0, 10), (1, 20)]);
    }

    #[test]
    fn whole_ticks_stay_whole_with_room_for_all() {
        let users: Vec<(u64, u64)> = (0..50).map(|i| ((1 << 36) + i * 12_345, (1 << 33) + 7 * i)).collect();
        let exact: Vec<(u32, u64)> = (0..).zip(&users).map(|(user, (at, work))| (user, at + work)).collect();
        assert_eq!(ends(50.0, &users), exact);
    }
}
