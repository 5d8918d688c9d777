//! The job time model of Hung, Cheng, Chen 2015: the shapes of its figures from the plans in `models/mapreduce`, and the net
//! whose shuffle overlaps with the maps.

use std::path::Path;
use std::time::Instant;

use tailspn::mapreduce::{JobNet, JobTime, Plan, job_net, phase_times};
use tailspn::prelude::*;
use tailspn::sweep::SweepPlan;

/// One job of a figure.
struct Job {
    input_mb: f64,
    /// Exact mean job time \[s\].
    mean_s: f64,
    net: JobNet,
}

fn net_of(plan: &Plan) -> JobNet {
    job_net(plan, &phase_times(plan, &mut || 0.5).unwrap()).unwrap()
}

/// The jobs of a sweep over the size of the input, by rising size.
fn figure(base: &str, sweep: &str) -> Vec<Job> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/mapreduce");
    let text = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    let sweep = SweepPlan::from_toml(&text(sweep)).unwrap();
    assert_eq!(sweep.axis[0].key, "job.input_mb");
    let job = |input_mb: f64| {
        let mut plan = Plan::from_toml(&text(base)).unwrap();
        plan.job.input_mb = input_mb;
        let time = JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5).unwrap()).unwrap();
        Job { input_mb, mean_s: time.mean().get(), net: net_of(&plan) }
    };
    sweep.axis[0].values.as_ref().unwrap().iter().map(|value| job(value.as_float().unwrap())).collect()
}

/// Share of the variance of the job times that a straight line over the size explains.
fn linear_share(jobs: &[Job]) -> f64 {
    let n = jobs.len() as f64;
    let mean = |of: &dyn Fn(&Job) -> f64| jobs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|job| job.input_mb), mean(&|job| job.mean_s));
    let product =
        |a: &dyn Fn(&Job) -> f64, b: &dyn Fn(&Job) -> f64| jobs.iter().map(|job| a(job) * b(job)).sum::<f64>();
    let (dx, dy) = (|job: &Job| job.input_mb - x, |job: &Job| job.mean_s - y);
    product(&dx, &dy).powi(2) / (product(&dx, &dx) * product(&dy, &dy))
}

/// Fails if the map phase of the printed net follows the input, or a phase after it does not.
#[test]
fn figures_1_and_2_rise_in_a_straight_line_to_the_end_of_their_axes() {
    let video = figure("video.toml", "video-lengths.toml");
    let kmeans = figure("kmeans.toml", "kmeans-sizes.toml");
    for (jobs, count, axis_s) in [(&video, 10, 1400.0), (&kmeans, 9, 800.0)] {
        assert_eq!(jobs.len(), count);
        assert!(jobs.windows(2).all(|pair| pair[0].mean_s < pair[1].mean_s));
        assert!(linear_share(jobs) > 0.995, "{}", linear_share(jobs));
        let last = jobs.last().unwrap().mean_s;
        assert!(last < axis_s && last > 0.8 * axis_s, "{last} s on an axis of {axis_s} s");
    }
}

/// The work of an estimate is its firings, 5M + 2R + 2 for each of 2,000 replications.
#[test]
fn figure_3_falls_with_the_size_and_stays_below_the_printed_ratio() {
    let jobs = figure("kmeans.toml", "kmeans-sizes.toml");
    let work = |job: &Job| job.net.net.transitions().len() as f64 / job.mean_s;
    let [first, last] = [&jobs[0], jobs.last().unwrap()].map(work);
    // the print falls from 1.2% to 0.7%, a factor of 0.58
    assert!(last / first < 0.8 && last / first > 0.4, "{}", last / first);
    // five standard errors: the standard deviation of such a job is at most its mean
    let tolerance = 5.0 / 2_000_f64.sqrt();
    for job in &jobs {
        let begin = Instant::now();
        let run = job.net.net.simulation().replications(2_000).seed(1).run().unwrap();
        let ratio = begin.elapsed().as_secs_f64() / job.mean_s;
        let mean = run.passage().mean();
        assert!((mean.value - job.mean_s).abs() < tolerance * job.mean_s, "{mean:?} for {} s", job.mean_s);
        assert!(ratio < 0.007, "an estimate takes {ratio} of the job's time");
    }
}

/// Mean time until both maps of one second each are copied, each copy in half a second, and reduced in no time \[s\].
///
/// Barrier: H_2 / λ + T7 with λ = 1, T7 = 1. With slowstart: 1/2λ until the first map ends; then the second map (λ) and the
/// first copy (μ = 2) race, and two copies or one map and one copy are left.
#[test]
fn a_shuffle_that_starts_early_has_the_mean_of_its_closed_form() {
    let (map, copy) = (1.0, 2.0);
    let race = 1.0 / (map + copy);
    let overlapped = 0.5 / map + race + map * race * (2.0 / copy) + copy * race * (1.0 / map + 1.0 / copy);
    let all = 1.5 / map + 2.0 / copy;
    for (slowstart, expected) in [("", 1.5 / map + 1.0), ("slowstart = 0.05", overlapped), ("slowstart = 1.0", all)] {
        let text = format!(
            "[phases]\nmaps = 2\nreduces = 1\nmeans_s = [0, 0, 0, 0, 0, {}, 1, 0, 0]\n[model]\nslots = false\n{slowstart}\n",
            1.0 / map
        );
        let plan = Plan::from_toml(&text).unwrap();
        let mean = net_of(&plan).net.solution().until("#(done1) >= 1").unwrap().passage().unwrap().mean().unwrap();
        assert!((mean.value - expected).abs() < 1e-9, "{slowstart}: {} for {expected}", mean.value);
    }
}
