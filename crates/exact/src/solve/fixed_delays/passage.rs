//! The time to a goal of a net with fixed delays.

use crate::solve::fixed_delays::evolution::{Evolution, MOST_WORK};
use crate::solve::fixed_delays::grid::place;
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates, TimeGrid};
use crate::solve::transient::TransientError;
use crate::watch::Watch;

/// The distribution of the time to the goal of a net with fixed delays.
pub struct FixedDelayPassage<'a> {
    evolution: Evolution<'a>,
    /// One truth value per state: true at the goal.
    targets: Vec<bool>,
    watch: &'a dyn Watch,
    /// Per interval: the terms of the probability of having reached the goal.
    intervals: Vec<Vec<f64>>,
    bytes: u64,
    most_bytes: u64,
    /// Maximum number of multiplications.
    most_work: f64,
}

impl std::fmt::Debug for FixedDelayPassage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FixedDelayPassage").field("grid", &self.grid()).finish_non_exhaustive()
    }
}

impl FixedDelayStates {
    /// Returns the distribution of the time to the goal. It is computed on demand, up to the largest requested time.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::Zero`] and [`FixedDelayError::NoCommonStep`].
    pub fn passage<'a>(&self, watch: &'a dyn Watch) -> Result<FixedDelayPassage<'a>, FixedDelayError> {
        let evolution = Evolution::new(self, watch)?;
        Ok(FixedDelayPassage {
            evolution,
            targets: self.targets.clone(),
            watch,
            intervals: Vec::new(),
            bytes: 0,
            most_bytes: self.most_bytes,
            most_work: MOST_WORK,
        })
    }
}

impl FixedDelayPassage<'_> {
    /// Rounding error of the distribution: a probability closer than this to that of ever reaching the goal may never be reached.
    pub const ROUNDING: f64 = 1e-12;

    /// The grid of the computation.
    pub fn grid(&self) -> TimeGrid {
        self.evolution.grid()
    }

    /// Returns a bound of the absolute error of the probabilities computed so far: truncation and rounding.
    pub fn error(&self) -> f64 {
        self.evolution.error()
    }

    /// Returns the probability that the goal has been reached by `time` \[s\], including the time itself. Exact up to
    /// [`error`](Self::error).
    ///
    /// # Errors
    ///
    /// A time that is not finite or negative, too much work, or stopped work.
    pub fn cdf(&mut self, time: f64) -> Result<f64, FixedDelayError> {
        if !(time.is_finite() && time >= 0.0) {
            return Err(TransientError::Time { time }.into());
        }
        self.check(time)?;
        let (interval, since) = place(time, self.grid().step);
        let planned = interval + 1;
        while self.intervals.len() as u64 <= interval {
            self.watch.progress(self.intervals.len() as u64, planned);
            self.next()?;
        }
        Ok(self.reached(interval as usize, since))
    }

    /// Returns [`cdf`](Self::cdf), unless the rounding errors of the firings so far may hide it.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::Hidden`], and the errors of [`cdf`](Self::cdf).
    pub(super) fn certain_cdf(&mut self, time: f64) -> Result<f64, FixedDelayError> {
        let found = self.cdf(time)?;
        let error = self.evolution.absolute_error();
        if 0.0 < found && found <= error { Err(FixedDelayError::Hidden { most: found + error }) } else { Ok(found) }
    }

    /// Returns the shortest time \[s\] by which the goal has been reached with probability `p`. Bracketed to a relative width of
    /// 1e-14. `ever` is the probability of ever reaching the goal, from [`FixedDelayStates::moments`].
    ///
    /// # Errors
    ///
    /// A probability that is not above 0 and below `ever`, by at least [`ROUNDING`](Self::ROUNDING); too much work, or stopped work.
    pub fn quantile(&mut self, p: f64, ever: f64) -> Result<f64, FixedDelayError> {
        if !(0.0 < p && p < ever - Self::ROUNDING) {
            return Err(FixedDelayError::NoQuantile { asked: p, probability: ever });
        }
        let step = self.grid().step;
        while self.intervals.last().is_none_or(|terms| terms[0] < p) {
            self.check(self.intervals.len() as f64 * step)?;
            self.watch.progress(self.intervals.len() as u64, 0);
            self.next()?;
        }
        let after = self.intervals.partition_point(|terms| terms[0] < p);
        let Some(interval) = after.checked_sub(1) else { return Ok(0.0) };
        if self.reached(interval, step) < p {
            return Ok(after as f64 * step);
        }
        let (mut low, mut high) = (0.0, step);
        while high - low > 1e-14 * step {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.reached(interval, middle) < p { low = middle } else { high = middle }
        }
        Ok((interval as f64).mul_add(step, high))
    }

    /// Allows `most` multiplications for all that follows; by default, some minutes of work.
    pub fn allow(&mut self, most: f64) {
        self.most_work = most;
    }

    /// Returns the longest time \[s\] that takes at most `work` multiplications.
    pub fn longest(&self, work: f64) -> f64 {
        let step = self.grid().step;
        work / self.evolution.work(step) * step
    }

    /// Checks the work up to `time` \[s\] before it is done.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::TooMuchWork`].
    pub fn check(&self, time: f64) -> Result<(), FixedDelayError> {
        self.evolution.check(time, self.most_work)
    }

    /// Computes the next interval.
    fn next(&mut self) -> Result<(), FixedDelayError> {
        let mut terms = Vec::new();
        let targets = &self.targets;
        self.evolution.interval(&mut |_, term, _| {
            terms.push(term.iter().zip(targets).filter(|(_, is_target)| **is_target).map(|(p, _)| p).sum());
        })?;
        self.bytes += size_of_val(&terms[..]) as u64;
        if self.bytes > self.most_bytes {
            let time = (self.intervals.len() + 1) as f64 * self.grid().step;
            return Err(FixedDelayError::TooLong { time, limit: self.most_bytes });
        }
        self.intervals.push(terms);
        Ok(())
    }

    /// Returns the probability of having reached the goal at a time since the start of an interval.
    fn reached(&self, interval: usize, since: f64) -> f64 {
        let terms = &self.intervals[interval];
        let weights = self.evolution.window(since);
        // the last term belongs to the negligible remainder
        let sum: f64 = terms[..terms.len() - 1].iter().enumerate().map(|(n, p)| weights.weight(n) * p).sum();
        sum.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{compile, lower};
    use crate::net::{Law, Memory, NetBuilder, Timing};
    use crate::sim::{EngineChoice, Ensemble, Goal, Question, run};
    use crate::solve::fixed_delays::nets::{after, customers, delayed, machine};
    use crate::solve::linear::LinearSettings;
    use crate::solve::passage::PassageMoments;
    use crate::solve::reach::Limits;
    use crate::solve::until::Until;
    use crate::watch::Unwatched;

    fn until(b: NetBuilder, goal: &str, avoid: &str) -> FixedDelayStates {
        let net = b.build().unwrap();
        let [goal, avoid] = [goal, avoid].map(|text| lower(&net, &net.expression(text).unwrap()));
        let until = Until { goal: Some(&goal), avoid: Some(&avoid) };
        FixedDelayStates::explore(&compile(&net).unwrap(), until, &Limits::default(), &Unwatched).unwrap()
    }

    fn poisson(mean: f64, n: usize) -> f64 {
        (1..=n).fold(f64::exp(-mean), |p, i| p * mean / i as f64)
    }

    /// P(n customers served by t) in M/D/1 from an empty queue: customer j must arrive by t - (n - j + 1) d.
    fn served_by(n: usize, rate: f64, delay: f64, t: f64) -> f64 {
        // the last entry has n customers or more
        let mut arrived = vec![0.0; n + 1];
        arrived[0] = 1.0;
        let mut before = 0.0;
        for j in 1..=n {
            let now: f64 = t - (n - j + 1) as f64 * delay;
            if now < 0.0 {
                return 0.0;
            }
            let chances: Vec<f64> = (0..n).map(|more| poisson(rate * (now - before), more)).collect();
            let mut next = vec![0.0; n + 1];
            for (have, p) in arrived.iter().enumerate() {
                let (own, rest) = (&chances[..n - have], 1.0 - chances[..n - have].iter().sum::<f64>());
                own.iter().zip(&mut next[have..]).for_each(|(chance, sum)| *sum += p * chance);
                next[n] += p * rest;
            }
            next[..j].fill(0.0);
            (arrived, before) = (next, now);
        }
        arrived[n]
    }

    #[test]
    fn departures_of_a_queue_with_fixed_service_times_have_their_distribution() {
        // the rate of 40 /s divides the delay into several steps
        for (rate, delay) in [(0.7, 1.0), (40.0, 0.5), (2.0, 0.25)] {
            let n = 7_u32;
            let states =
                until(customers(0, n, Timing::exponential(rate), after(delay)), &format!("#(done) = {n}"), "0");
            let mut time = states.passage(&Unwatched).unwrap();
            let mut last = 0.0;
            for i in 0..60 {
                let t = f64::from(i) * 0.37 * delay + 1e-3;
                // arrivals after the last customer do not matter
                let exact = served_by(n as usize, rate, delay, t);
                let found = time.cdf(t).unwrap();
                assert!((found - exact).abs() < 1e-12, "{rate} {delay} {t}: {found} {exact}");
                if exact - last > 0.01 {
                    let quantile = time.quantile(f64::midpoint(last, exact), 1.0).unwrap();
                    let p = served_by(n as usize, rate, delay, quantile);
                    assert!((p - f64::midpoint(last, exact)).abs() < 1e-11, "{quantile}");
                }
                last = exact;
            }
            assert!(last > 0.5 && time.error() < 1e-11, "{last} {}", time.error());
        }
    }

    /// A busy period of M/D/1 that starts with k customers ends after k + n services, with the probability of the
    /// Borel-Tanner distribution \[GrossHarris1998\]. All ends are multiples of the delay.
    #[test]
    fn a_busy_period_ends_only_at_multiples_of_the_service_time() {
        let (rate, delay, k) = (0.6, 0.1, 2);
        let rate = rate / delay;
        let net = customers(k, 60, Timing::exponential(rate), after(delay));
        let states = until(net, "#(queue) = 0", "0");
        let mut time = states.passage(&Unwatched).unwrap();
        let (mut sum, k) = (0.0, k as usize);
        for n in 0..25 {
            let served = k + n;
            let before = time.cdf(served as f64 * delay - 1e-6).unwrap();
            assert!((before - sum).abs() < 1e-9, "{n}: {before} {sum}");
            let mean = rate * delay * served as f64;
            sum += k as f64 / served as f64 * poisson(mean, n);
            // the net has at most 60 arrivals; more are very unlikely within these times
            let found = time.cdf(served as f64 * delay).unwrap();
            assert!((found - sum).abs() < 1e-9, "{n}: {found} {sum}");
        }
        assert!(sum > 0.95);
        assert!((time.quantile(0.3, 1.0).unwrap() - 0.2).abs() < 1e-15);
    }

    #[test]
    fn a_timeout_against_an_exponential_completion_has_its_distribution() {
        let (rate, delay) = (0.5, 3.0);
        let law = Law::Deterministic { delay };
        for (goal, avoid, at_end) in [
            ("#(paused)", "#(broken)", f64::exp(-rate * delay)),
            ("#(broken)", "#(paused)", 1.0 - f64::exp(-rate * delay)),
        ] {
            let states = until(machine(law.clone(), rate, [1.0, 1.0]), goal, avoid);
            let mut time = states.passage(&Unwatched).unwrap();
            for t in [0.0, 0.4, 2.999, 3.0, 5.0] {
                let exact = match goal {
                    "#(paused)" if t < delay => 0.0,
                    "#(paused)" => at_end,
                    _ => 1.0 - f64::exp(-rate * f64::min(t, delay)),
                };
                let found = time.cdf(t).unwrap();
                assert!((found - exact).abs() < 1e-13, "{goal} {t}: {found} {exact}");
            }
        }
    }

    /// The time to the first stop of a machine whose clock starts anew after each repair, compared with the renewal
    /// equation `F(t) = P(D ≤ t, D < X) + ∫ f(u) F(t - u) du`, where `f` is the density of failure and repair before
    /// the end of the clock. Solved by trapezoids with two steps and extrapolation.
    #[test]
    fn interrupted_clocks_satisfy_the_renewal_equation() {
        let (rate, mend) = (0.5, 2.0);
        let values = [0.75, 0.75, 2.0];
        let law = Law::Empirical { samples: values.to_vec() };
        let states = until(machine(law, rate, [mend, 1.0]), "#(paused)", "0");
        let mut time = states.passage(&Unwatched).unwrap();
        // the density at u: a failure at x, before the clock ends, and the end of the repair at u
        let density = |u: f64| {
            let of = |d: f64| {
                let x = u.min(d);
                let ratio = f64::exp((mend - rate) * x) - 1.0;
                rate * mend / (mend - rate) * f64::exp(-mend * u) * ratio
            };
            values.iter().map(|&d| of(d)).sum::<f64>() / 3.0
        };
        let at_once = |t: f64| values.iter().filter(|d| **d <= t).map(|d| f64::exp(-rate * d)).sum::<f64>() / 3.0;
        let solve = |steps: usize, t: f64| {
            let h = t / steps as f64;
            let kernel: Vec<f64> = (0..=steps).map(|i| density(i as f64 * h)).collect();
            // at a jump, half of the jump counts
            let source = |t: f64| f64::midpoint(at_once(t + 1e-9), at_once(t - 1e-9));
            let mut f = vec![source(0.0)];
            for i in 1..=steps {
                let sum: f64 = (1..i).map(|j| kernel[j] * f[i - j]).sum();
                f.push(source(i as f64 * h) + h * (sum + 0.5 * kernel[i] * f[0]));
            }
            f[steps]
        };
        for t in [0.5, 1.0, 2.5, 6.0] {
            // the clock ends at multiples of the steps
            let [coarse, fine] = [400.0, 800.0].map(|per_second| solve((per_second * t) as usize, t));
            let exact = (4.0 * fine - coarse) / 3.0;
            let found = time.cdf(t).unwrap();
            assert!((found - exact).abs() < 1e-6, "{t}: {found} {exact} {coarse} {fine}");
        }
        assert!(time.error() < 1e-11, "{}", time.error());
    }

    fn moments(states: &FixedDelayStates) -> (f64, f64, f64) {
        let (probability, moments) = states.moments(&LinearSettings::default()).unwrap();
        let PassageMoments { mean, variance, .. } = moments.unwrap();
        (probability, mean, variance)
    }

    /// With `S` the length of the clock and failures at rate `λ`, the time to the first stop has the transform
    /// `s(λ + z) / (1 - (1 - s(λ + z)) λ/(λ + z) μ/(μ + z))`, with `s` the transform of `S`.
    #[test]
    fn moments_are_the_derivatives_of_the_transform() {
        let (rate, mend) = (0.5, 2.0);
        let values = [0.75, 0.75, 2.0];
        let states = until(machine(Law::Empirical { samples: values.to_vec() }, rate, [mend, 1.0]), "#(paused)", "0");
        let transform = |z: f64| {
            let stop = values.iter().map(|d| f64::exp(-(rate + z) * d)).sum::<f64>() / 3.0;
            stop / (1.0 - (1.0 - stop) * rate / (rate + z) * mend / (mend + z))
        };
        let h = 1e-3;
        let [low2, low, middle, high, high2] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| transform(k * h));
        let mean = (high2 - 8.0 * high + 8.0 * low - low2) / (12.0 * h);
        let second = (-high2 + 16.0 * high - 30.0 * middle + 16.0 * low - low2) / (12.0 * h * h);
        let (probability, found, variance) = moments(&states);
        assert!((probability - 1.0).abs() < 1e-15);
        assert!((found - mean).abs() < 1e-8, "{found} {mean}");
        assert!((variance - (second - mean * mean)).abs() < 1e-6, "{variance} {second}");
    }

    #[test]
    fn moments_are_those_of_runs_that_reach_the_goal() {
        let (rate, delay) = (0.5, 3.0);
        let states = until(machine(Law::Deterministic { delay }, rate, [1.0, 1.0]), "#(broken)", "#(paused)");
        let (probability, mean, variance) = moments(&states);
        let reached = 1.0 - f64::exp(-rate * delay);
        assert!((probability - reached).abs() < 1e-14);
        // the time is exponential, given that it is shorter than the delay
        let exact = 1.0 / rate - delay * f64::exp(-rate * delay) / reached;
        let second = 2.0 * exact / rate - delay * delay * f64::exp(-rate * delay) / reached;
        assert!((mean - exact).abs() < 1e-13, "{mean} {exact}");
        assert!((variance - (second - exact * exact)).abs() < 1e-12, "{variance} {second}");
    }

    /// The mean equals the area above the distribution function, which checks both independently.
    #[test]
    fn the_distribution_has_the_moments() {
        let net = customers(2, 5, Timing::exponential(0.7), after(0.5));
        let states = until(net, "#(done) = 6", "0");
        let (_, mean, variance) = moments(&states);
        let mut time = states.passage(&Unwatched).unwrap();
        // Simpson's rule between the grid points, at which the distribution can jump
        let (mut first, mut second) = (0.0, 0.0);
        for i in 0..100 {
            for j in 0..20 {
                let at = |k: f64| f64::from(i) * 0.5 + (f64::from(j) + k) * 0.025;
                for (k, weight) in [(1e-6, 1.0), (0.5, 4.0), (1.0 - 1e-6, 1.0)] {
                    let area = weight * 0.025 / 6.0 * (1.0 - time.cdf(at(k)).unwrap());
                    first += area;
                    second += 2.0 * at(k) * area;
                }
            }
        }
        assert!((first - mean).abs() < 1e-7, "{first} {mean}");
        assert!((second - first * first - variance).abs() < 1e-6, "{second} {variance}");
    }

    /// A shift of fixed length alternates with breaks of measured length; jobs arrive, and a job takes a fixed time that
    /// the end of the shift interrupts. Compared with simulation.
    #[test]
    fn alternating_delays_agree_with_simulation() {
        let mut b = NetBuilder::new("shifts");
        let [open, closed, jobs, done] =
            [("open", 1), ("closed", 0), ("jobs", 3), ("done", 0)].map(|(id, n)| b.place(id, n));
        let breaks = Law::Empirical { samples: vec![0.3, 0.3, 0.7, 1.6] };
        for (id, timing, from, to) in [
            ("close", Timing::exponential(0.6), open, closed),
            ("reopen", delayed(breaks, Memory::Enabling), closed, open),
            ("work", after(0.9), jobs, done),
        ] {
            let t = b.transition(id, timing);
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
            if id == "work" {
                b.test(open, t, 1.0);
            }
        }
        let net = b.build().unwrap();
        let goal = lower(&net, &net.expression("#(done) = 2").unwrap());
        let program = compile(&net).unwrap();
        let until = Until { goal: Some(&goal), avoid: None };
        let states = FixedDelayStates::explore(&program, until, &Limits::default(), &Unwatched).unwrap();
        let question = Question { goal: Goal::marking(&net, "#(done) = 2").unwrap(), ..Question::default() };
        let runs = 100_000;
        let ensemble =
            Ensemble { replications: runs, seed: 11, engine: EngineChoice::Clock, keep: true, ..Ensemble::default() };
        let sample = run(&program, &question, &ensemble, &Unwatched).unwrap().samples;
        let tick = sample.clock.tick();
        let (_, mean, variance) = moments(&states);
        let error = (variance / runs as f64).sqrt();
        let simulated = sample.passage.mean_ticks().unwrap() * tick;
        assert!(error < 0.005 * mean && (simulated - mean).abs() < 5.0 * error, "{simulated} {mean} {error}");
        let mut time = states.passage(&Unwatched).unwrap();
        for t in [1.85, 2.6, 5.0] {
            let p = time.cdf(t).unwrap();
            let share =
                sample.passage_times.iter().filter(|&&ticks| ticks as f64 * tick <= t).count() as f64 / runs as f64;
            let error = (p * (1.0 - p) / runs as f64).sqrt();
            assert!((0.05..0.95).contains(&p) && (share - p).abs() < 5.0 * error, "{t}: {share} {p} {error}");
        }
    }

    #[test]
    fn delays_without_a_grid_are_refused() {
        let refused = |law: Law| {
            let states = until(machine(law, 1.0, [1.0, 1.0]), "#(paused)", "0");
            states.passage(&Unwatched).unwrap_err()
        };
        let two = Law::Empirical { samples: vec![1.0, f64::sqrt(2.0)] };
        assert_eq!(refused(two), FixedDelayError::NoCommonStep { shortest: 1.0, longest: f64::sqrt(2.0) });
        assert_eq!(refused(Law::Deterministic { delay: 0.0 }), FixedDelayError::Zero { transition: "stop".into() });
        let states = until(machine(Law::Deterministic { delay: 1.0 }, 1.0, [1.0, 1.0]), "#(paused)", "0");
        let error = states.passage(&Unwatched).unwrap().cdf(1e12).unwrap_err();
        assert!(matches!(error, FixedDelayError::TooMuchWork { .. }), "{error}");
    }
}
