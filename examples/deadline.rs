//! How many reduce tasks does a job need, so that 95 % of its runs are done within a deadline?
//!
//! ```text
//! reduces   8 ── 12 ── 16 ── 20 ── 24 ── 28 ── 32 ── 36 ── 40
//! p95       ◀─── above the deadline ───┼─── below it ────▶
//!                                      ▲ this one, shown with confidence
//! ```
//!
//! Bisection, where each step is taken when an interval lies on one side of the deadline, and not by an estimate. The answer is
//! checked against the exact distribution of the job time.

use std::error::Error;

use tailspn::compile::compile;
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::optimize::{Answer, Candidate, Judge, OptimizePlan, candidates, search};
use tailspn::sim::{Backend, Ensemble, Question, Unwatched, run};
use tailspn::units::Probability;

const PLAN: &str = r#"
[optimize]
measure = "p95"
deadline_s = 120
confidence = 0.99
indifference = 0
cost = "reduces"
[[axis]]
key = "job.reduces"
name = "reduces"
from = 8
to = 80
faster = "up"
"#;

/// The default job with so many reduces, and its exact 95 % quantile [s].
fn job(candidate: &Candidate) -> Result<(Plan, f64), Box<dyn Error>> {
    let mut plan = Plan::default();
    plan.job.reduces = candidate.cost as u64;
    let law = JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5)?)?;
    let p95 = law.quantile(Probability::new(0.95).ok_or("no probability")?)?.get();
    Ok((plan, p95))
}

fn main() -> Result<(), Box<dyn Error>> {
    let plan = OptimizePlan::from_toml(PLAN)?;
    let deadline_s = plan.optimize.deadline_s.ok_or("no deadline")?;
    let number = |value: &Option<toml::Value>| value.as_ref().and_then(toml::Value::as_integer);
    let all = candidates(&plan, |point| number(&point.values[0]).map(|reduces| reduces as f64).ok_or("no number"))?;
    let judge = |candidate: &Candidate, error: f64| -> Result<_, Box<dyn Error>> {
        let (plan_of_job, exact) = job(candidate)?;
        let net = job_net(&plan_of_job, &phase_times(&plan_of_job, &mut || 0.5)?)?.net;
        let program = compile(&net)?;
        let judge = Judge {
            measure: plan.measure(),
            deadline_s,
            error,
            indifference: plan.optimize.indifference,
            first: plan.sweep.replications,
            most: 100_000,
        };
        let judged = judge.judge(|first, count| -> Result<_, Box<dyn Error>> {
            let backend = Backend::Cpu;
            let ensemble = Ensemble { replications: count, first, keep: true, backend, ..Ensemble::default() };
            let samples = run(&program, &Question::default(), &ensemble, &Unwatched)?.samples;
            Ok(Some(samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks)).collect()))
        })?;
        let (low, high) = (judged.low.unwrap_or(0.0), judged.high.unwrap_or(f64::INFINITY));
        let (reduces, replications) = (candidate.cost, judged.replications);
        println!(
            "{reduces:3} reduces: {:9}  {low:6.1} to {high:6.1} s, exactly {exact:6.1} s, {replications:6} replications",
            format!("{:?}", judged.verdict)
        );
        Ok(judged)
    };
    let found = search(&plan, &all, judge)?;
    let (Answer::Cheapest(look) | Answer::Meets(look)) = found.answer else { return Err("nothing was found".into()) };
    let chosen = found.looks[look].candidate;
    println!("answer: {} reduces", all[chosen].cost);
    // the chosen point meets the deadline, and one that is out of the indifference zone on the cheaper side does not
    assert!(job(&all[chosen])?.1 <= deadline_s);
    assert!(job(&all[chosen - 2])?.1 > deadline_s);
    Ok(())
}
