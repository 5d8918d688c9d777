//! A set-up that overlaps with the tasks before it: [`JobStage::overlap`](crate::job::JobStage::overlap).

/// The parts of the set-up so far: one for each ended task, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Overlap {
    ended: u32,
    /// End of the last part, in the unit of the caller.
    pub(crate) until: f64,
}

impl Overlap {
    /// Handles the end of a task at `now`; the set-up runs from the `from`-th end on, and `part` gives the time of each part.
    pub(crate) fn task_ended(&mut self, now: f64, from: u32, part: impl Fn(u32) -> f64) {
        self.ended += 1;
        if self.ended < from {
            return;
        }
        let first = if self.ended == from { 0 } else { self.ended - 1 };
        self.until = (first..self.ended).fold(self.until.max(now), |until, number| until + part(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(from: u32, ends: &[f64]) -> f64 {
        let mut overlap = Overlap::default();
        ends.iter().for_each(|end| overlap.task_ended(*end, from, |_| 2.0));
        overlap.until
    }

    #[test]
    fn parts_wait_for_their_task_and_for_the_part_before() {
        assert_eq!(until(1, &[10.0, 20.0]), 22.0);
        assert_eq!(until(1, &[10.0, 11.0]), 14.0);
        // four parts from the second end on: 10-12, 12-14, 20-22, 22-24
        assert_eq!(until(2, &[10.0, 10.0, 20.0, 20.0]), 24.0);
        assert_eq!(until(4, &[1.0, 2.0, 3.0, 4.0]), 12.0);
    }
}
