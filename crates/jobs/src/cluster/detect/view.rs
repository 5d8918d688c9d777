//! The detector's view of a category of tasks, and the trait of detectors.

/// Maps or reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Map tasks.
    Map,
    /// Reduce tasks that have all their input.
    Reduce,
}

/// A running attempt, as its node last reported it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningTask {
    /// The task, numbered over all jobs.
    pub task: u32,
    /// Node.
    pub node: u32,
    /// Start time \[s\].
    pub start_s: f64,
    /// Age at the last report \[s\]; 0 before the first.
    pub elapsed_s: f64,
    /// Progress score in the last report, 0 to 1.
    pub score: f64,
    /// Size of its input, 1 for the mean of a job without skew.
    pub size: f64,
    /// True for a copy.
    pub is_copy: bool,
    /// True if the attempt can be flagged: it is an original without a copy.
    pub open: bool,
    /// Number of times the task was killed to start again.
    pub restarts: u32,
}

/// Times of the finished tasks of the category, of the original or the copy, whichever won.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    /// Times of these tasks, ascending when a detector sees them \[s\].
    pub times_s: Vec<f64>,
    /// Sum of the times \[s\].
    pub time_sum_s: f64,
    /// Sum of size divided by time \[1/s\].
    pub speed_sum: f64,
    /// Number of times that are in order, from the first.
    sorted: usize,
}

/// Number of new times from which all times are sorted again.
const MANY: usize = 16;

impl Finished {
    /// Returns the number of finished tasks.
    pub fn count(&self) -> usize {
        self.times_s.len()
    }

    /// Removes all times.
    pub(crate) fn clear(&mut self) {
        self.times_s.clear();
        self.sorted = 0;
        (self.time_sum_s, self.speed_sum) = (0.0, 0.0);
    }

    /// Adds a finished task. The times are sorted only when a detector checks, which is rare.
    pub(crate) fn push(&mut self, time_s: f64, size: f64) {
        self.times_s.push(time_s);
        self.time_sum_s += time_s;
        if time_s > 0.0 {
            self.speed_sum += size / time_s;
        }
    }

    /// Sorts the times.
    pub(crate) fn sort(&mut self) {
        if self.times_s.len() - self.sorted > MANY {
            self.times_s.sort_by(f64::total_cmp);
        } else {
            for new in self.sorted..self.times_s.len() {
                let time = self.times_s[new];
                let place = self.times_s[..new].partition_point(|&other| other < time);
                self.times_s[place..=new].rotate_right(1);
            }
        }
        self.sorted = self.times_s.len();
    }

    /// Returns the mean time \[s\]; none without finished tasks.
    pub fn mean_s(&self) -> Option<f64> {
        let count = self.count() as f64;
        (count > 0.0).then(|| self.time_sum_s / count)
    }

    /// Returns the median time, the mean of the two middle values for an even number \[s\]; none without
    /// finished tasks.
    pub fn median_s(&self) -> Option<f64> {
        let (low, high) = (self.count().checked_sub(1)? / 2, self.count() / 2);
        Some(0.5 * (self.times_s[low] + self.times_s[high]))
    }
}

/// Speed of the attempts on a node. \[Phan2018, 5.5\]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeSpeed {
    /// Sum of the attempts' speeds; a speed is score times size divided by age \[1/s\].
    pub sum: f64,
    /// Number of reported tasks.
    pub tasks: u32,
}

impl NodeSpeed {
    /// Returns Perf_N, the mean speed \[1/s\]; none without a task.
    pub fn mean(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.sum / f64::from(self.tasks))
    }
}

/// A category of tasks of a job at one moment.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The moment \[s\].
    pub now_s: f64,
    /// Maps or reduces.
    pub category: Category,
    /// Tasks of the category, started or not.
    pub tasks: usize,
    /// Running attempts in the order in which they started.
    pub running: &'a [RunningTask],
    /// Tasks of the category that wait for a slot.
    pub waiting: u32,
    /// Times of the finished tasks.
    pub finished: &'a Finished,
    /// Speeds on each node of the cluster, of the reported attempts of this category; all 0 for a detector that does not
    /// [compare nodes](Detector::compares_nodes).
    pub nodes: &'a [NodeSpeed],
    /// Time of the last copy request in this category \[s\]; none before the first.
    pub last_request_s: Option<f64>,
}

/// A flagged task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flag {
    /// Position in [`View::running`].
    pub position: usize,
    /// Priority for a copy: higher first; among equals the earlier one first.
    pub urgency: f64,
    /// Response to the flag.
    pub remedy: Remedy,
}

/// Response to a flagged task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A copy runs in parallel.
    Copy,
    /// The attempt is killed and the task restarts on another node.
    Restart,
}

/// A rule that detects stragglers from the observable state of running tasks. It is deterministic and has no memory.
pub trait Detector: std::fmt::Debug + Send + Sync {
    /// Returns the time between two checks \[s\].
    fn interval_s(&self) -> f64;

    /// Returns the number of tasks of a category that must have finished before anything is flagged; by default 0.
    fn least_finished(&self, tasks: usize) -> usize {
        let _ = tasks;
        0
    }

    /// Returns true for a rule that reads [`View::nodes`].
    fn compares_nodes(&self) -> bool {
        false
    }

    /// Flags tasks that are [open](RunningTask::open); `flags` is empty before the call.
    fn flag(&self, view: &View<'_>, flags: &mut Vec<Flag>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_times_are_in_order_when_sorted() {
        let mut finished = Finished::default();
        assert_eq!((finished.mean_s(), finished.median_s()), (None, None));
        for time in [3.0, 1.0, 2.0] {
            finished.push(time, 1.0);
        }
        finished.sort();
        let mut many = Finished::default();
        (0..40).for_each(|i| many.push(f64::from(7 * i % 40), 1.0));
        many.sort();
        assert_eq!(many.times_s, (0..40).map(f64::from).collect::<Vec<_>>());
        assert_eq!(finished.times_s, [1.0, 2.0, 3.0]);
        assert_eq!((finished.mean_s(), finished.median_s()), (Some(2.0), Some(2.0)));
        finished.push(1.5, 5.0);
        finished.sort();
        assert_eq!(finished.median_s(), Some(1.75));
        assert!((finished.speed_sum - (1.0 / 3.0 + 1.0 + 0.5 + 5.0 / 1.5)).abs() < 1e-12);
    }
}
