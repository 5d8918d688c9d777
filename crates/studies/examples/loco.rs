use std::path::Path;
use tailspn_engine::compile::compile;
use tailspn_engine::sim::{Ensemble, Question, run};
use tailspn_engine::watch::Unwatched;
use tailspn_jobs::fit::*;
use tailspn_jobs::stages::*;
use tailspn_logs::trace::{ReadOptions, read};

#[derive(Clone)]
struct R {
    set: String,
    name: String,
    app: String,
    ex: u32,
    mb: f64,
    job_s: f64,
    o: ObservedRun,
}

fn all(set: &str) -> Vec<R> {
    let folder = Path::new("../shared/data/logs").join(set);
    let text = std::fs::read_to_string(folder.join("runs.jsonl")).unwrap();
    text.lines()
        .map(|l| {
            let v: serde_json::Value = serde_json::from_str(l).unwrap();
            let f = v["file"].as_str().or(v["log"].as_str()).unwrap();
            let t = read(&folder.join(f), &ReadOptions::default(), &Unwatched).unwrap();
            let o = observe(&t, None).unwrap();
            R {
                set: set.into(),
                name: v["name"].as_str().unwrap().into(),
                app: v["app"].as_str().unwrap().into(),
                ex: v["executors"].as_u64().unwrap() as u32,
                mb: v["input_mb"].as_f64().unwrap(),
                job_s: v["job_s"].as_f64().unwrap(),
                o,
            }
        })
        .collect()
}

fn times(plan: &StagePlan) -> JobTimes {
    let job = PlannedJob::of(plan);
    let program = compile(&stage_net(&job).unwrap().net).unwrap();
    let e = Ensemble { replications: 1000, seed: 1, ..Ensemble::default() };
    let f = run(&program, &Question::default(), &e, &Unwatched).unwrap().samples;
    JobTimes::from_histogram(&f.passage_histogram, f.clock.tick(), RunFactor::new(&plan.run, job.error())).unwrap()
}

fn main() {
    let sets: Vec<Vec<&str>> = vec![vec!["spark-elastic"], vec!["spark-scaling", "spark-scaling-1x1"]];
    let verbose = std::env::args().any(|a| a == "-v");
    let (mut cov, mut n_all, mut widths) = (0, 0, vec![]);
    for set in sets {
        let runs: Vec<R> = set.iter().flat_map(|s| all(s)).collect();
        let mut errs = vec![];
        let mut signed = vec![];
        for r in &runs {
            let left = |x: &&R| !(x.app == r.app && x.mb == r.mb && x.ex == r.ex);
            let own: Vec<ObservedRun> =
                runs.iter().filter(left).filter(|x| x.app == r.app).map(|x| x.o.clone()).collect();
            let other: Vec<ObservedRun> = runs.iter().filter(|x| x.app != r.app).map(|x| x.o.clone()).collect();
            let fitted = match fit_stages_beside(&own, &other) {
                Ok(f) => f,
                Err(e) => {
                    println!("{} {e}", r.name);
                    continue;
                }
            };
            let mut plan = fitted.plan.clone();
            plan.job.input_mb = r.o.input_mb;
            plan.job.executors = r.o.executors;
            plan.job.cores = r.o.cores;
            plan.job.hosts = Some(r.o.hosts);
            let t = times(&plan);
            let [lo, m, hi] = [0.05, 0.5, 0.95].map(|p| t.quantile(p));
            let e = m / r.job_s - 1.0;
            errs.push(e.abs());
            signed.push(e);
            n_all += 1;
            cov += usize::from((lo..=hi).contains(&r.job_s));
            widths.push((hi - lo) / 2.0 / m);
            let s = plan.sharing.unwrap();
            println!(
                "{:28} {:7.1} {:7.1} {:+5.0}% [{:.1} {:.1}] start {:.2}^{:.2} warm {:.2}±{:.2} steady {:.2}±{:.2} sigma {:.2}",
                r.name,
                r.job_s,
                m,
                100.0 * e,
                lo,
                hi,
                s.start_s,
                s.start.power,
                s.warm_up.power,
                s.warm_up.error,
                s.steady.power,
                s.steady.error,
                plan.run.sigma
            );
            if verbose {
                for st in &PlannedJob::of(&plan).stages {
                    println!(
                        "     {} setup {:.2} waves {:?} law {:?}",
                        st.name,
                        st.setup_s,
                        st.waves.iter().map(|w| (w.tasks, (w.mean_s * 100.0).round() / 100.0)).collect::<Vec<_>>(),
                        st.law.kind()
                    );
                }
            }
        }
        println!(
            "== {set:?} mean abs {:.1}% bias {:+.1}%",
            100.0 * errs.iter().sum::<f64>() / errs.len() as f64,
            100.0 * signed.iter().sum::<f64>() / signed.len() as f64
        );
    }
    widths.sort_by(f64::total_cmp);
    println!("covered {cov} of {n_all}, median half width {:.2}", widths[widths.len() / 2]);
}
