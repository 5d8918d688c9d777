//! The states of a net with fixed delays at given times.

use crate::estimate::PoissonWindow;
use crate::solve::averages::Averages;
use crate::solve::explore_error::ExploreError;
use crate::solve::fixed_delays::evolution::{Evolution, MOST_WORK};
use crate::solve::fixed_delays::grid::place;
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates, TimeGrid, averages};
use crate::solve::transient::{TransientError, check_bytes};
use crate::watch::Watch;

/// The states of a net with fixed delays at given times.
#[derive(Clone, Debug)]
pub struct FixedDelayTransient {
    /// The given times \[s\].
    pub times: Vec<f64>,
    /// Per time and state: the probability, including firings at exactly this time.
    pub probabilities: Vec<Vec<f64>>,
    /// Bound of the sum of absolute errors of the probabilities at any of the times: truncation and rounding.
    pub error: f64,
    /// The grid of the computation.
    pub grid: TimeGrid,
    /// Per time and state: the enabled transition with a fixed delay, and its firings per second in this state.
    firings: Vec<Vec<Option<(u32, f64)>>>,
}

/// A requested time: its interval, and the weights of the terms of this interval.
struct Request {
    interval: u64,
    weights: PoissonWindow,
}

/// Sums per requested time.
struct Sums {
    /// Per state: the probability.
    probabilities: Vec<Vec<f64>>,
    /// Per state in which a delay runs: its firings per second.
    flows: Vec<Vec<f64>>,
}

impl Sums {
    /// Walks to the last request; a limit may end the walk earlier.
    fn walk(
        &mut self,
        evolution: &mut Evolution<'_>,
        requests: &[Request],
        watch: &dyn Watch,
    ) -> Result<(), FixedDelayError> {
        let rate = evolution.rate();
        let intervals = requests.iter().map(|request| request.interval + 1).max().unwrap_or(0);
        for interval in 0..intervals {
            watch.progress(interval, intervals);
            evolution.interval(&mut |n, term, fired| {
                let own = requests.iter().enumerate().filter(|(_, request)| request.interval == interval);
                for (i, weight) in own.map(|(i, request)| (i, request.weights.weight(n))) {
                    self.probabilities[i].iter_mut().zip(term).for_each(|(sum, p)| *sum += weight * p);
                    self.flows[i].iter_mut().zip(fired).for_each(|(sum, p)| *sum += weight * rate * p);
                }
            })?;
        }
        Ok(())
    }
}

impl FixedDelayStates {
    /// Returns the probabilities of the states at each of `times` \[s\].
    ///
    /// Exact up to [`FixedDelayTransient::error`]. Each interval of the grid takes about 20 uniformised jumps of the net, and
    /// each of these jumps takes the jumps during the longest fixed delay.
    ///
    /// # Errors
    ///
    /// All variants of [`FixedDelayError`] that concern the solution over time.
    pub fn at(&self, times: &[f64], watch: &dyn Watch) -> Result<FixedDelayTransient, FixedDelayError> {
        let (found, limit) = self.at_until_limit(times, watch)?;
        limit.map_or(Ok(found), Err)
    }

    /// As [`at`](Self::at). If a limit of time or work ends the walk, the result has the times before that, in the given
    /// order, and the second value is the limit.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at), and the limit if no time is before it.
    pub fn at_until_limit(
        &self,
        times: &[f64],
        watch: &dyn Watch,
    ) -> Result<(FixedDelayTransient, Option<FixedDelayError>), FixedDelayError> {
        if let Some(&time) = times.iter().find(|time| !(time.is_finite() && **time >= 0.0)) {
            return Err(TransientError::Time { time }.into());
        }
        let mut evolution = Evolution::new(self, watch)?;
        let limit = times.iter().find_map(|&time| evolution.check(time, MOST_WORK).err());
        let (rate, step) = (evolution.rate(), evolution.grid().step);
        let times: Vec<f64> = times.iter().copied().filter(|&time| evolution.check(time, MOST_WORK).is_ok()).collect();
        let means = times.iter().map(|&time| rate * place(time, step).1);
        check_bytes(means, self.space.states() + evolution.delayed().len(), self.most_bytes)?;
        let request = |&time: &f64| {
            let (interval, since) = place(time, step);
            Request { interval, weights: evolution.window(since) }
        };
        let requests: Vec<Request> = times.iter().map(request).collect();
        let mut sums = Sums {
            probabilities: vec![vec![0.0; self.space.states()]; times.len()],
            flows: vec![vec![0.0; evolution.delayed().len()]; times.len()],
        };
        let limit = sums.walk(&mut evolution, &requests, watch).err().or(limit);
        let walked = evolution.grid().intervals;
        let done: Vec<usize> = (0..times.len()).filter(|&i| requests[i].interval < walked).collect();
        if let Some(limit) = limit.clone().filter(|_| done.is_empty()) {
            return Err(limit);
        }
        // rounding errors can make a sum of terms with both signs slightly negative
        let positive = |sums: &[f64]| sums.iter().map(|p| p.max(0.0)).collect();
        let found = FixedDelayTransient {
            times: done.iter().map(|&i| times[i]).collect(),
            probabilities: done.iter().map(|&i| positive(&sums.probabilities[i])).collect(),
            error: evolution.error(),
            grid: evolution.grid(),
            firings: done.iter().map(|&i| self.firings(evolution.delayed(), &sums.flows[i])).collect(),
        };
        Ok((found, limit))
    }

    fn firings(&self, delayed: &[u32], flows: &[f64]) -> Vec<Option<(u32, f64)>> {
        let mut firings: Vec<Option<(u32, f64)>> = self.no_firings().collect();
        for (&state, &flow) in delayed.iter().zip(flows) {
            if let Some((_, own)) = &mut firings[state as usize] {
                *own = flow.max(0.0);
            }
        }
        firings
    }

    /// Returns the averages at the time at position `at`. The throughput of a transition with a fixed delay is the density
    /// of its firings; firings that have a positive probability exactly at that time do not count.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn averages(&self, found: &FixedDelayTransient, at: usize) -> Result<Averages, ExploreError> {
        averages(&self.space, &self.program, &found.probabilities[at], &found.firings[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{Law, Memory, NetBuilder, Timing};
    use crate::solve::LinearSettings;
    use crate::solve::fixed_delays::nets::{after, delayed, machine, queue};
    use crate::solve::reach::Limits;
    use crate::solve::transient::TransientSettings;
    use crate::solve::until::Until;
    use crate::watch::Unwatched;

    fn all(b: NetBuilder) -> FixedDelayStates {
        let program = compile(&b.build().unwrap()).unwrap();
        FixedDelayStates::explore(&program, Until::default(), &Limits::default(), &Unwatched).unwrap()
    }

    /// D/M/1/K from an empty queue: between two arrivals, a Poisson number of services ends, if there are enough customers.
    #[test]
    fn a_queue_with_a_clock_at_its_door_has_its_distribution() {
        let (k, rate) = (4, 1.3);
        let times = [0.2, 1.0, 1.7, 3.0, 9.5];
        let states = all(queue(k, after(0.5), Timing::exponential(rate)));
        let found = states.at(&times, &Unwatched).unwrap();
        let serve = |before: &[f64], time: f64| {
            let mut after = vec![0.0; before.len()];
            for (n, p) in before.iter().enumerate() {
                let (mut left, mut weight) = (1.0, f64::exp(-rate * time));
                for served in 0..n {
                    after[n - served] += p * weight;
                    left -= weight;
                    weight *= rate * time / (served + 1) as f64;
                }
                after[0] += p * left;
            }
            after
        };
        for (i, &time) in times.iter().enumerate() {
            let mut exact = vec![0.0; k as usize + 1];
            exact[0] = 1.0;
            let arrivals = (time / 0.5 + 1e-9).floor() as u32;
            for _ in 0..arrivals {
                exact = serve(&exact, 0.5);
                let full = exact.pop().unwrap();
                exact.insert(0, 0.0);
                exact[k as usize] += full;
            }
            exact = serve(&exact, time - 0.5 * f64::from(arrivals));
            let averages = states.averages(&found, i).unwrap();
            for (n, p) in exact.iter().enumerate() {
                assert!((averages.distributions[1][n] - p).abs() < 1e-13, "{time} {n}: {averages:?} {exact:?}");
            }
            // customers arrive only at multiples of 0.5 s
            assert!(averages.throughputs[0] == 0.0);
        }
        assert!(found.error < 1e-11, "{}", found.error);
    }

    /// After a long time, the probabilities and throughputs are those of the long run, which another solver computes.
    #[test]
    fn a_long_time_leads_to_the_long_run() {
        let law = Law::Empirical { samples: vec![0.5, 1.25, 1.25, 2.0] };
        let nets = [
            queue(5, Timing::exponential(0.8), delayed(law.clone(), Memory::Enabling)),
            queue(4, Timing::exponential(3.0), after(0.2)),
            machine(law, 0.4, [2.0, 1.0]),
        ];
        for net in nets {
            let states = all(net);
            let steady = states.steady(&LinearSettings::default(), &TransientSettings::default()).unwrap();
            let found = states.at(&[600.0], &Unwatched).unwrap();
            let (now, long) = (states.averages(&found, 0).unwrap(), states.steady_averages(&steady).unwrap());
            for (now, long) in
                now.tokens.iter().chain(&now.throughputs).zip(long.tokens.iter().chain(&long.throughputs))
            {
                assert!((now - long).abs() < 1e-9, "{now} {long}");
            }
            let total: f64 = found.probabilities[0].iter().sum();
            assert!((total - 1.0).abs() < found.error && found.error < 1e-9, "{total} {}", found.error);
        }
    }
}
