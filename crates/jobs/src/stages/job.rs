//! A planned job of stages as a job that runs task by task.

use crate::cluster::detect::{DetectorPlan, Spark};
use crate::cluster::{PolicyPlan, Watching};
use crate::job::{Delay, Job, JobStage, Machine, Spread, Step, Steps, TaskGroup, Tasks, Uses};
use crate::mapreduce::LawTables;
use crate::stages::plan::SpeculativeCopies;
use crate::stages::planned::{PlannedJob, PlannedStage, Wave};

/// Converts a planned job, with `tables` for its distributions. Its machines are its hosts, with equal shares of the slots; if tasks share GPUs, its
/// executors, and so if executors join during the job. A copy runs on a different machine than its task, as in Spark: on a single host there are no copies.
pub fn job_of(job: &PlannedJob, tables: &LawTables) -> Job {
    let slots = job.slots.max(1);
    let executors = job.arrivals_s.len() as u32;
    let mut machines = match job.gpus {
        None if executors > 0 => vec![Machine::with_slots(slots / executors); executors as usize],
        Some(gpus) => {
            let machine = Machine { permits: Some(gpus.permits), ..Machine::with_slots(slots / gpus.executors) };
            vec![machine; gpus.executors as usize]
        }
        None => {
            let hosts = job.hosts.clamp(1, slots);
            let until = |host: u32| u64::from(slots) * u64::from(host) / u64::from(hosts);
            // `as` is fine: at most the number of slots
            (0..hosts).map(|host| Machine::with_slots((until(host + 1) - until(host)) as u32)).collect()
        }
    };
    for (machine, from_s) in machines.iter_mut().zip(&job.arrivals_s) {
        machine.from_s = *from_s;
    }
    let group = |wave: &Wave| TaskGroup { tasks: wave.tasks, usual_s: wave.mean_s, size: 1.0 };
    let stage = |stage: &PlannedStage| JobStage {
        after: stage.after.clone(),
        setup: Delay::of_driver(stage.setup_s),
        overlap: None,
        tasks: Tasks::Groups(stage.waves.iter().map(group).collect()),
        spread: Spread::alike(tables.with_slow(&stage.law, stage.slow)),
        slots: None,
        stragglers: job.stragglers.clone(),
        steps: steps(stage.gpu),
    };
    let end = Delay::of_driver(job.end_s);
    Job { machines, stages: job.stages.iter().map(stage).collect(), end }
}

/// Returns the steps of a task that holds a GPU in the middle of its time, for this share of it.
fn steps(gpu: f64) -> Steps {
    if gpu <= 0.0 {
        return Steps::default();
    }
    let step = |on_gpu| Step { phase: 0, uses: Uses::Nothing, on_gpu };
    let beside = 0.5 * (1.0 - gpu);
    Steps { steps: vec![step(false), step(true), step(false)], shares: vec![beside, gpu, beside], first: None }
}

/// Returns two policies: no copies, and Spark's copies with these settings; `None` keeps Spark's default.
pub fn spark_policies(multiplier: Option<f64>, quantile: Option<f64>) -> [PolicyPlan; 2] {
    let SpeculativeCopies { multiplier, quantile } = SpeculativeCopies::of(multiplier, quantile);
    let spark = Spark { multiplier, quantile, ..Spark::default() };
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
    use crate::mapreduce::{PhaseLaw, Stragglers};
    use crate::stages::planned::Wave;

    fn job(law: PhaseLaw) -> PlannedJob {
        let stage = |after: Vec<usize>, waves: &[(u32, f64)]| PlannedStage {
            name: "s".into(),
            after,
            setup_s: 0.5,
            task_mb: 0.0,
            waves: waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect(),
            law: law.clone(),
            slow: None,
            gpu: 0.0,
        };
        let stages = vec![stage(vec![], &[(4, 2.0), (8, 1.0)]), stage(vec![0], &[(4, 1.0)])];
        PlannedJob { name: "j".into(), slots: 4, hosts: 2, stages, end_s: 0.25, ..PlannedJob::default() }
    }

    fn outcomes(job: &PlannedJob, reps: u64) -> Vec<Vec<crate::cluster::Outcome>> {
        let settings = Replications { count: reps, seed: 3, ..Replications::default() };
        let policies = spark_policies(Some(1.5), Some(0.5));
        let experiment = Experiment::of_job(&job_of(job, &LawTables::default()), &policies, settings);
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
