//! Replications of a job, task by task. The result has the same form as replications of a net.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::time::Instant;

use rayon::prelude::*;

use tailspn_common::threads;

use crate::error::StudyError;
use crate::job_time::tasks::{CLOCK, add_time, runs_of, ticks_of};
use crate::mapreduce::LawTables;
use crate::rng::split;
use crate::run::{RunMemory, StageRun};
use crate::sim::{Ensemble, GroupTimes, Placement, Provenance, Question, Run, Samples};
use crate::stages::PlannedJob;
use crate::watch::Watch;

/// Replications per thread between two checks of the clock.
const ROUND: u64 = 4;

/// The times of one replication.
pub(super) struct Times {
    pub(super) job_s: f64,
    /// First and last time of each group.
    pub(super) groups: Vec<[f64; 2]>,
}

/// A job whose replications run task by task.
pub(super) struct Replicated<'a, J> {
    /// The job, which identifies the shares of a run.
    pub(super) job: &'a J,
    /// Number of groups of times.
    pub(super) groups: usize,
    /// The reason for running task by task, for reports.
    pub(super) reason: &'a str,
}

/// Runs replications of a job of stages; `watch` counts them.
///
/// # Errors
///
/// [`StudyError::Threads`] if threads cannot be started.
pub(super) fn replicate(job: &PlannedJob, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Run, StudyError> {
    let tasks = runs_of(job, &LawTables::default());
    let key = split(ensemble.seed);
    let of = Replicated { job, groups: job.stages.len(), reason: "a job of stages is simulated task by task" };
    of.replicate(ensemble, watch, |memory, replication| {
        let StageRun { job_s, stages } = tasks.run(key, replication, memory);
        Some(Times { job_s, groups: stages })
    })
}

impl<J: Debug> Replicated<'_, J> {
    /// Runs replications; `run` runs one of them, or returns none if it was stopped. `watch` counts them.
    ///
    /// # Errors
    ///
    /// [`StudyError::Threads`] if threads cannot be started.
    pub(super) fn replicate(
        &self,
        ensemble: &Ensemble,
        watch: &dyn Watch,
        run: impl Fn(&mut RunMemory, u64) -> Option<Times> + Sync,
    ) -> Result<Run, StudyError> {
        let started = Instant::now();
        let threads = threads::at_most(ensemble.threads);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
        let mut samples = Samples::new(CLOCK, &Question::default(), 0, 0);
        samples.groups = vec![GroupTimes::default(); self.groups];
        if let Some(run) = ensemble.given(self.job, &samples)? {
            return Ok(run);
        }
        let ensemble = &ensemble.shared()?;
        samples = samples.starting_at(ensemble.first);
        let over = || watch.stopped() || ensemble.max_wall.is_some_and(|wall| started.elapsed() >= wall);
        let rule = ensemble.stop.as_ref();
        let mut until = rule.map_or(ensemble.replications, |rule| rule.next_round(0, f64::INFINITY).unwrap_or(0));
        let complete = 'rounds: loop {
            while samples.replications < until && !over() {
                let first = ensemble.first + samples.replications;
                let count = (ROUND * threads.get() as u64).min(until - samples.replications);
                let found: Vec<Option<Times>> = pool
                    .install(|| (first..first + count).into_par_iter().map_init(RunMemory::default, &run).collect());
                for times in found {
                    let Some(times) = times else { break 'rounds false };
                    add(&mut samples, &times);
                    if ensemble.keep {
                        samples.passage_times.push(ticks_of(times.job_s));
                    }
                }
                watch.progress(samples.replications, until);
            }
            if samples.replications < until {
                break false;
            }
            let Some(rule) = rule else { break true };
            let estimate = samples.passage.mean_estimate(rule.level);
            let width = estimate.map_or(f64::INFINITY, |estimate| estimate.relative_half_width());
            match rule.next_round(samples.replications, width) {
                Some(more) => until = samples.replications + more,
                None => break true,
            }
        };
        let provenance = self.provenance(ensemble, threads, started, complete);
        let run = Run { samples, provenance };
        ensemble.share.keep(self.job, &run)?;
        Ok(run)
    }

    fn provenance(&self, ensemble: &Ensemble, threads: NonZeroUsize, started: Instant, complete: bool) -> Provenance {
        Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            seed: ensemble.seed,
            first: ensemble.first,
            engine: "tasks".into(),
            vector: "none".into(),
            threads: threads.get(),
            reasons: Vec::new(),
            placement: Placement { reason: self.reason.to_owned(), ..Placement::default() },
            wall: started.elapsed(),
            cut_short: !complete,
            folded: None,
            not_folded: Vec::new(),
        }
    }
}

fn add(samples: &mut Samples, times: &Times) {
    add_time(samples, times.job_s);
    for (group, [first, last]) in samples.groups.iter_mut().zip(&times.groups) {
        group.first.push(ticks_of(*first));
        group.last.push(ticks_of(*last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Moments;
    use crate::job_time::stages::run_net;
    use crate::mapreduce::{PhaseLaw, SlowTasks};
    use crate::sim::Unwatched;
    use crate::stages::{PlannedStage, Wave};

    /// Two stages side by side, then one that waits for both, with waves, distributions of all kinds, and a driver.
    fn job(law: PhaseLaw, slow: Option<SlowTasks>) -> PlannedJob {
        let stage = |after: &[usize], waves: &[(u32, f64)]| PlannedStage {
            name: "s".into(),
            after: after.to_vec(),
            setup_s: 0.5,
            task_mb: 0.0,
            waves: waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect(),
            law: law.clone(),
            slow,
            gpu: 0.0,
        };
        let stages = vec![stage(&[], &[(3, 2.0), (7, 1.0)]), stage(&[], &[(5, 0.8)]), stage(&[0, 1], &[(4, 1.5)])];
        PlannedJob { name: "j".into(), slots: 3, stages, end_s: 0.25, ..PlannedJob::default() }
    }

    #[test]
    fn task_by_task_is_the_net() {
        let slow = Some(SlowTasks { share: 0.2, from: 2.5, shape: 3.0, seen: None });
        for (law, slow) in [
            (PhaseLaw::Exponential, None),
            (PhaseLaw::Lognormal { cv: 0.7 }, None),
            (PhaseLaw::Erlang(6), None),
            (PhaseLaw::Weibull { shape: 1.5 }, None),
            (PhaseLaw::Gamma { cv: 0.7 }, None),
            (PhaseLaw::Hyperexponential { cv: 2.0 }, None),
            (PhaseLaw::Empirical { samples: vec![0.5, 0.7, 1.0, 4.0] }, None),
            (PhaseLaw::Lognormal { cv: 0.3 }, slow),
            (PhaseLaw::Deterministic, slow),
        ] {
            let ensemble = Ensemble { replications: 20_000, seed: 9, ..Ensemble::default() };
            let job = job(law.clone(), slow);
            let tasks = replicate(&job, &ensemble, &Unwatched).unwrap().samples;
            let net = run_net(&job, &ensemble, &Unwatched).unwrap().samples;
            let tick = tasks.clock.tick() / net.clock.tick();
            let scaled = |moments: &Moments| {
                let mean = moments.mean_ticks().unwrap() * tick;
                (mean, moments.mean_estimate(0.95).unwrap().half_width / 1.96 * tick)
            };
            let pairs = [(&tasks.passage, &net.passage)].into_iter();
            let ends = tasks.groups.iter().zip(&net.groups).map(|(a, b)| (&a.last, &b.last));
            for (i, (a, b)) in pairs.chain(ends).enumerate() {
                let ((x, ex), y) = (scaled(a), b.mean_ticks().unwrap());
                let ey = b.mean_estimate(0.95).unwrap().half_width / 1.96;
                assert!((x - y).abs() <= 5.0 * ex.hypot(ey) + 4.0, "{law:?} {slow:?} {i}: {x} {y} {}", ex.hypot(ey));
            }
        }
    }

    #[test]
    fn numbers_do_not_depend_on_threads_or_shards() {
        let job = job(PhaseLaw::Lognormal { cv: 0.7 }, None);
        let on = |threads: usize, first: u64, replications: u64| {
            let threads = NonZeroUsize::new(threads);
            let ensemble = Ensemble { replications, first, threads, seed: 3, ..Ensemble::default() };
            replicate(&job, &ensemble, &Unwatched).unwrap().samples
        };
        let whole = on(1, 0, 101);
        assert_eq!(whole, on(2, 0, 101));
        let (a, b) = (on(2, 0, 40), on(1, 40, 61));
        let mut both = a.passage;
        both.merge(&b.passage);
        assert_eq!(both, whole.passage);
    }
}
