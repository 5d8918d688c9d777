//! A planned job on executors with copies of stragglers: the effect of Spark's speculation.
//!
//! The net of a job has no progress and no ages of tasks, which detectors need. So a job with copies is simulated task by task by [`crate::cluster`],
//! from the same planned tasks, means and distributions.

use crate::cluster::detect::{DetectorPlan, Spark};
use crate::cluster::{KnownJob, KnownNode, KnownStage, KnownTask, PolicyPlan, Spread, Watching};
use crate::mapreduce::{LawTables, Stragglers};
use crate::stages::planned::{PlannedJob, PlannedStage};

/// Converts a planned job to one with known tasks, on `hosts` hosts with equal shares of the slots. A copy runs on a different host than its task, as
/// in Spark: on a single host there are no copies.
pub fn known_job(job: &PlannedJob, hosts: u32) -> KnownJob {
    let hosts = hosts.clamp(1, job.slots.max(1));
    let until = |host: u32| u64::from(job.slots) * u64::from(host) / u64::from(hosts);
    let node = |host| {
        let slots = u32::try_from(until(host + 1) - until(host)).unwrap_or(u32::MAX);
        KnownNode { slots, cores: f64::from(slots), from_s: 0.0 }
    };
    let tables = LawTables::default();
    let stage = |stage| known_stage(stage, hosts as usize, job.stragglers.clone(), &tables);
    KnownJob { nodes: (0..hosts).map(node).collect(), stages: job.stages.iter().map(stage).collect(), end_s: job.end_s }
}

fn known_stage(stage: &PlannedStage, hosts: usize, stragglers: Option<Stragglers>, tables: &LawTables) -> KnownStage {
    let tasks = stage.waves.iter().flat_map(|wave| {
        let task = KnownTask { first: None, at_least: false, usual_s: wave.mean_s.max(1e-6), size: 1.0 };
        std::iter::repeat_n(task, wave.tasks as usize)
    });
    KnownStage {
        after: stage.after.clone(),
        setup_s: stage.setup_s,
        setup_varies: true,
        tasks: tasks.collect(),
        slowness: vec![1.0; hosts],
        spread: Spread::Phases(vec![(1.0, tables.get(&stage.law))]),
        slots: None,
        stragglers,
    }
}

/// Returns two policies: no copies, and Spark's copies with these settings; `None` keeps Spark's default.
pub fn spark_policies(multiplier: Option<f64>, quantile: Option<f64>) -> [PolicyPlan; 2] {
    let default = Spark::default();
    let spark = Spark {
        multiplier: multiplier.unwrap_or(default.multiplier),
        quantile: quantile.unwrap_or(default.quantile),
        ..default
    };
    let copies = PolicyPlan {
        detector: DetectorPlan::Spark(spark),
        lag_s: 0.0,
        watch: Watching::FromLag,
        ..PolicyPlan::default()
    };
    [PolicyPlan::default(), copies]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Experiment, Replications};
    use crate::mapreduce::PhaseLaw;
    use crate::stages::planned::Wave;

    fn job(law: PhaseLaw) -> PlannedJob {
        let stage = |after: Vec<usize>, waves: &[(u32, f64)]| PlannedStage {
            name: "s".into(),
            after,
            setup_s: 0.5,
            task_mb: 0.0,
            waves: waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect(),
            law: law.clone(),
            gpu: 0.0,
        };
        let stages = vec![stage(vec![], &[(4, 2.0), (8, 1.0)]), stage(vec![0], &[(4, 1.0)])];
        PlannedJob { name: "j".into(), slots: 4, stages, end_s: 0.25, ..PlannedJob::default() }
    }

    fn outcomes(job: &PlannedJob, reps: u64) -> Vec<Vec<crate::cluster::Outcome>> {
        let settings = Replications { count: reps, seed: 3, ..Replications::default() };
        let policies = spark_policies(Some(1.5), Some(0.5));
        let experiment = Experiment::of_known(&known_job(job, 2), &policies, settings);
        experiment.run(&mut |_| true).unwrap().into_iter().map(|run| run.outcomes).collect()
    }

    /// Compares the mean with the formula for exponential times: the last of four tasks on four slots, and set-ups of
    /// mean ½ s. The three waves of the first stage differ.
    #[test]
    fn without_copies_the_mean_is_that_of_the_formula() {
        let mut job = job(PhaseLaw::Exponential);
        job.stages[0].waves = vec![Wave { tasks: 4, mean_s: 2.0, ..Wave::default() }];
        let runs = &outcomes(&job, 20_000)[0];
        let n = runs.len() as f64;
        let mean = runs.iter().map(|run| run.job_s).sum::<f64>() / n;
        let variance = runs.iter().map(|run| (run.job_s - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        let harmonic = 25.0 / 12.0;
        let exact = 2.0 * 0.5 + 0.25 + 3.0 * harmonic;
        assert!((mean - exact).abs() < 5.0 * error && error < 0.003 * exact, "{mean} {exact} {error}");
    }

    /// Four tasks of a second, set-ups without length: a straggler makes the job take three seconds; if it is copied when it has
    /// run for 1.5 s, the copy ends at 2.5 s.
    #[test]
    fn stragglers_are_drawn_here_as_in_the_schedule_and_copies_overtake_them() {
        let mut job = job(PhaseLaw::Deterministic);
        job.stages.truncate(1);
        (job.stages[0].waves, job.stages[0].setup_s, job.end_s) =
            (vec![Wave { tasks: 4, mean_s: 1.0, ..Wave::default() }], 0.0, 0.0);
        job.stragglers = Some(Stragglers { share: 0.1, ..Stragglers::default() });
        let count = 20_000;
        let runs = outcomes(&job, count);
        let above = |policy: usize, limit: f64| {
            runs[policy].iter().filter(|run| run.job_s > limit).count() as f64 / count as f64
        };
        let exact = 1.0 - 0.9_f64.powi(4);
        let error = (exact * (1.0 - exact) / count as f64).sqrt();
        assert!((above(0, 1.5) - exact).abs() < 5.0 * error, "{} {exact}", above(0, 1.5));
        assert_eq!(above(0, 2.9), above(0, 1.5));
        assert!(above(1, 2.9) < 0.5 * above(0, 2.9), "{}", above(1, 2.9));
    }

    #[test]
    fn a_job_without_chance_needs_no_copies_and_one_with_rare_long_tasks_does() {
        let still = outcomes(&job(PhaseLaw::Deterministic), 50);
        assert!(still[1].iter().all(|run| run.copies == 0));
        // two seconds, then two waves of one second, then one; set-ups vary
        let least = still[0].iter().map(|run| run.job_s).fold(f64::INFINITY, f64::min);
        assert!(least > 5.25, "{least}");
        let mut samples = vec![1.0; 19];
        samples.push(20.0);
        let rare = outcomes(&job(PhaseLaw::Empirical { samples }), 2_000);
        let mean = |runs: &[crate::cluster::Outcome]| runs.iter().map(|run| run.job_s).sum::<f64>() / runs.len() as f64;
        assert!(mean(&rare[1]) < 0.8 * mean(&rare[0]), "{} {}", mean(&rare[1]), mean(&rare[0]));
    }
}
