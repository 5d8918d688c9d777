//! Job times on the grid of `net solve`, compared with the closed form of `mapreduce`.

use tailspn::compile::{Program, compile};
use tailspn::estimate::Measured;
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::solve::{GridSettings, completion_time};
use tailspn::units::Probability;

fn holds(number: &Measured, exact: f64, widest: f64) {
    let [lower, upper] = number.ends().unwrap();
    assert!(lower <= exact + 1e-9 && exact <= upper + 1e-9, "{exact} is not in {number:?}");
    assert!(lower <= number.value && number.value <= upper, "{number:?}");
    assert!(upper - lower <= widest, "{number:?} is wider than {widest}");
}

fn job(toml: &str) -> (JobTime, Program) {
    let mut plan = Plan::from_toml(toml).unwrap();
    plan.model.slots = false;
    let phases = phase_times(&plan, &mut || 0.5).unwrap();
    (JobTime::of_plan(&plan, &phases).unwrap(), compile(&job_net(&plan, &phases).unwrap().net).unwrap())
}

/// The quantiles are those of `mapreduce::analytic` and docs/accuracy.md.
#[test]
fn the_reference_job_has_its_quantiles() {
    let (_, program) = job("[phases]\nmaps = 160\nreduces = 40\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]");
    let started = std::time::Instant::now();
    let time = completion_time(&program, &GridSettings::default()).unwrap();
    println!("160 maps, 40 reduces: {:?}, step {} s, end {} s", started.elapsed(), time.step(), time.end());
    for (p, exact) in [(0.5, 94.969), (0.9, 117.457), (0.99, 141.321), (0.999, 162.486)] {
        let at = time.quantile(p).unwrap();
        assert_eq!(format!("{:.3}", at.value), format!("{exact:.3}"), "{at:?}");
        holds(&at, at.value, 0.02);
        holds(&time.cdf(at.value), p, 0.001);
    }
    println!("with four quantiles: {:?}, {:?}", started.elapsed(), time.quantile(0.5).unwrap());
    assert_eq!(format!("{:.3} {:.3}", time.mean().value, time.standard_deviation()), "96.746 15.662");
}

#[test]
fn large_jobs_agree_with_the_exact_job_time() {
    let means = "means_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]";
    let law = "[model.distribution]\nread = { erlang = 3 }\ngpu = \"deterministic\"";
    for (maps, reduces, law) in [(1_000, 100, ""), (30, 7, law), (1, 1, "")] {
        let text = format!("[phases]\nmaps = {maps}\nreduces = {reduces}\n{means}\n[model]\nslots = false\n{law}");
        let plan = Plan::from_toml(&text).unwrap();
        let phases = phase_times(&plan, &mut || 0.5).unwrap();
        let exact = JobTime::of_plan(&plan, &phases).unwrap();
        let program = compile(&job_net(&plan, &phases).unwrap().net).unwrap();
        let started = std::time::Instant::now();
        let time = completion_time(&program, &GridSettings { steps: 1 << 16, ..GridSettings::default() }).unwrap();
        println!("{maps} maps, {reduces} reduces: {:?}", started.elapsed());
        holds(&time.mean(), exact.mean().get(), 0.1);
        for p in [0.01, 0.5, 0.99] {
            let quantile = exact.quantile(Probability::new(p).unwrap()).unwrap().get();
            holds(&time.quantile(p).unwrap(), quantile, 0.1);
            assert!((time.quantile(p).unwrap().value / quantile - 1.0).abs() < 1e-5);
        }
    }
}

/// 1,000 different maps and 100 different reduces.
#[test]
#[ignore = "a measurement, not a check; see docs/solve.md"]
fn many_different_tasks() {
    let mut plan =
        Plan::from_toml("[phases]\nmaps = 1000\nreduces = 100\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]").unwrap();
    (plan.job.name, plan.model.slots) = ("different".into(), false);
    let mut phases = phase_times(&plan, &mut || 0.5).unwrap();
    for (j, map) in phases.maps_s.iter_mut().enumerate() {
        map.iter_mut().for_each(|m| *m *= 0.75 + 0.5 * ((j + 1) as f64 * 0.618_033_988_75).fract());
    }
    for (j, reduce) in phases.reduces_s.iter_mut().enumerate() {
        reduce.iter_mut().for_each(|m| *m *= 0.75 + 0.5 * ((j + 1) as f64 * 0.618_033_988_75).fract());
    }
    let exact = JobTime::of_plan(&plan, &phases).unwrap();
    let program = compile(&job_net(&plan, &phases).unwrap().net).unwrap();
    for steps in [1 << 14, 1 << 16, 1 << 18] {
        let started = std::time::Instant::now();
        let time = completion_time(&program, &GridSettings { steps, ..GridSettings::default() }).unwrap();
        println!("{steps} steps: {:?}, mean {:?}, exact {}", started.elapsed(), time.mean(), exact.mean().get());
    }
}
