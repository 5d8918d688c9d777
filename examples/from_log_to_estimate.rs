//! Predicts the time of a job on twice the input, or on four executors. The logs of two small runs of a Spark job (a
//! sort) give a model of the job's stages. The model's net gives the job time at another size, including the spread
//! between whole runs.
//!
//! ```text
//! event logs ──▶ JobTrace ──▶ ObservedRun ──▶ fit_stages ──▶ StagePlan ──▶ StageNet ──▶ simulation ──▶ JobTimes
//! ```

use tailspn::compile::compile;
use tailspn::fit::{fit_stages, observe};
use tailspn::sim::{Ensemble, Question, Unwatched, run};
use tailspn::stages::{JobTimes, PlannedJob, RunFactor, StagePlan, stage_net};
use tailspn::trace::{ReadOptions, read_bytes};

const SMALL: &[u8] = include_bytes!("../tests/data/trace/sort-32mb.spark.gz");
const LARGER: &[u8] = include_bytes!("../tests/data/trace/sort-64mb.spark.gz");

fn job_times(plan: &StagePlan) -> Result<JobTimes, Box<dyn std::error::Error>> {
    let job = PlannedJob::of(plan);
    let net = stage_net(&job)?.net;
    let program = compile(&net)?;
    let ensemble = Ensemble { replications: 2_000, seed: 7, ..Ensemble::default() };
    let samples = run(&program, &Question::default(), &ensemble, &Unwatched)?.samples;
    let factor = RunFactor::new(&plan.run, job.error());
    JobTimes::from_histogram(&samples.passage_histogram, samples.clock.tick(), factor)
        .ok_or_else(|| "no run ended".into())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut runs = Vec::new();
    for (name, log) in [("sort-32mb.spark.gz", SMALL), ("sort-64mb.spark.gz", LARGER)] {
        runs.push(observe(&read_bytes(name, log, &ReadOptions::default(), &Unwatched)?, None)?);
    }
    let fitted = fit_stages(&runs)?;
    for (stage, spec) in fitted.plan.stage.iter().enumerate() {
        println!("stage {stage} ({}): after {:?}, {:?} tasks", spec.name, spec.after, spec.tasks);
    }
    for note in &fitted.plan.notes {
        println!("note: {note}");
    }
    for (input_mb, executors) in [(64.0, 2), (128.0, 2), (128.0, 4)] {
        let mut plan = fitted.plan.clone();
        (plan.job.input_mb, plan.job.executors) = (input_mb, executors);
        let times = job_times(&plan)?;
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|p| times.quantile(p));
        println!(
            "{input_mb} MB on {executors} executors: {middle:.1} s, with 90% probability between {low:.1} and {high:.1} s"
        );
        assert!(low < middle && middle < high);
    }
    // the job of the first log took 7.641 s, the job of the second 11.941 s
    let mut plan = fitted.plan;
    plan.job.input_mb = 64.0;
    let times = job_times(&plan)?;
    assert!(times.quantile(0.05) < 11.941 && 11.941 < times.quantile(0.95));
    Ok(())
}
