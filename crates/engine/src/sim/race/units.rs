//! Units of all timed transitions in one marking, in a tree of sums.
//!
//! Selection does not branch on random numbers: the CPU would mispredict such branches.

/// Number of children of a sum: more make selections slower, fewer make updates slower.
const FAN: usize = 4;

/// Units of all timed transitions.
#[derive(Debug)]
pub(super) struct Units {
    /// Sum 1 is the total, and the children of sum `i` are the sums `FAN i .. FAN (i + 1)`. The last level has the units of
    /// the transitions.
    sums: Vec<u64>,
    /// Number of levels below the total.
    depth: u32,
    /// Number of the sum that is the first transition.
    first: usize,
    /// Number of transitions.
    timed: usize,
}

impl Units {
    /// Units of `timed` transitions, all 0.
    pub(super) fn new(timed: usize) -> Self {
        let (mut depth, mut first) = (1, FAN);
        while first < timed {
            first *= FAN;
            depth += 1;
        }
        Self { sums: vec![0; first + timed.next_multiple_of(FAN).max(FAN)], depth, first, timed }
    }

    /// The sum of all units.
    #[inline(always)]
    pub(super) fn total(&self) -> u64 {
        self.sums[1]
    }

    /// The units of all transitions except one.
    #[inline(always)]
    pub(super) fn others(&self, place: usize) -> u64 {
        self.total() - self.sums[self.first + place]
    }

    /// Sets the units of all transitions, in their order; `units` receives a transition and the sum of all before it.
    pub(super) fn fill<E>(&mut self, mut units: impl FnMut(usize, u64) -> Result<u64, E>) -> Result<(), E> {
        let mut total = 0;
        for place in 0..self.timed {
            let each = units(place, total)?;
            self.sums[self.first + place] = each;
            total += each;
        }
        let (mut first, mut width) = (self.first, self.timed);
        while first > 1 {
            (first, width) = (first / FAN, width.div_ceil(FAN));
            for at in first..first + width {
                self.sums[at] = self.sums[FAN * at..FAN * (at + 1)].iter().sum();
            }
        }
        Ok(())
    }

    /// Sets the units of one transition.
    #[inline(always)]
    pub(super) fn set(&mut self, place: usize, units: u64) {
        let mut at = self.first + place;
        let change = units.wrapping_sub(std::mem::replace(&mut self.sums[at], units));
        if change == 0 {
            return;
        }
        while at > 1 {
            at /= FAN;
            self.sums[at] = self.sums[at].wrapping_add(change);
        }
    }

    /// The first timed transition at which the running sum is above `selection`, which is below the total.
    #[inline(always)]
    pub(super) fn select(&self, mut selection: u64) -> usize {
        let (groups, _) = self.sums.as_chunks::<FAN>();
        let mut at = 1;
        for _ in 0..self.depth {
            let [a, b, c, _] = groups[at];
            let (b, c) = (a + b, a + b + c);
            let (past_a, past_b, past_c) = (a <= selection, b <= selection, c <= selection);
            at = at * FAN + usize::from(past_a) + usize::from(past_b) + usize::from(past_c);
            let below = if past_a { a } else { 0 };
            let below = if past_b { b } else { below };
            selection -= if past_c { c } else { below };
        }
        at - self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_walks_the_running_sums() {
        for timed in [1, 2, 3, 4, 5, 7, 16, 17, 100, 1000] {
            let mut units = Units::new(timed);
            let Ok(()) = units.fill(|place, before| {
                assert_eq!(before, 100 * place as u64);
                Ok::<_, std::convert::Infallible>(100)
            });
            assert_eq!(units.total(), 100 * timed as u64);
            for place in 0..timed {
                units.set(place, (place as u64 * 7) % 5);
            }
            let each: Vec<u64> = (0..timed).map(|place| units.total() - units.others(place)).collect();
            let mut expected = (0..timed).flat_map(|place| std::iter::repeat_n(place, each[place] as usize));
            for selection in 0..units.total() {
                assert_eq!(Some(units.select(selection)), expected.next());
            }
            assert_eq!(expected.next(), None);
        }
    }
}
