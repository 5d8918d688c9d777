//! The work of phases whose tasks slowed each other down: processor sharing, inverted.
//!
//! With n users of a part of a machine for which c can be served at full speed, each advances at the rate min(1, c / n). The log has the time of each
//! user, so the work of a user is the integral of that rate over its time. Exact, if the part is shared equally.

/// Users of a part of a machine over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Users {
    /// Times at which the number of users changes \[s\], in order.
    times: Vec<f64>,
    /// Work of a user that is there all the time, until each of these times \[s\].
    work: Vec<f64>,
    /// Rate from each of these times on.
    rates: Vec<f64>,
}

impl Users {
    /// Collects the users of a part that serves `capacity` of them at full speed; `spans` are the starts and ends of their use.
    pub(super) fn new(capacity: f64, spans: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut changes: Vec<(f64, i64)> = spans.flat_map(|(start, end)| [(start, 1), (end, -1)]).collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut found = Self::default();
        let (mut users, mut work, mut rate, mut before) = (0_i64, 0.0, 1.0, 0.0);
        for (time, change) in changes {
            work += rate * (time - before);
            users += change;
            rate = (capacity / users.max(1) as f64).min(1.0);
            before = time;
            found.times.push(time);
            found.work.push(work);
            found.rates.push(rate);
        }
        found
    }

    /// Returns the work of a user between two times \[s\].
    pub(super) fn work(&self, start_s: f64, end_s: f64) -> f64 {
        self.until(end_s) - self.until(start_s)
    }

    fn until(&self, time: f64) -> f64 {
        match self.times.partition_point(|at| *at <= time) {
            0 => time,
            next => self.work[next - 1] + self.rates[next - 1] * (time - self.times[next - 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work 10, 20 and 30 on one core: at thirds until 30, at halves until 50, alone until 60 (the example of `run::shared`).
    #[test]
    fn the_work_of_users_is_found_from_their_times() {
        let spans = [(0.0, 30.0), (0.0, 50.0), (0.0, 60.0)];
        let users = Users::new(1.0, spans.into_iter());
        let work = spans.map(|(start, end)| users.work(start, end));
        assert!(work.iter().zip([10.0, 20.0, 30.0]).all(|(found, exact)| (found - exact).abs() < 1e-12), "{work:?}");
        let roomy = Users::new(3.0, spans.into_iter());
        assert_eq!(spans.map(|(start, end)| roomy.work(start, end)), [30.0, 50.0, 60.0]);
    }
}
