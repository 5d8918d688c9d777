//! The exact distribution of the job time for the net of the paper, without sampling.
//!
//! Defines [`JobTime`]: mean, variance, probability and quantile of
//!
//! ```text
//! T = load + max over maps (phases 2..6) + shuffle + max over reduces (phases 8, 9)
//! ```
//!
//! for exponential, Erlang and deterministic phases if all tasks run simultaneously (a slot for each). Other
//! distributions and waiting tasks need a simulation. The parts are independent, so mean and variance add. The
//! distribution of the sum is computed on piecewise polynomials (`curve`), the distribution of a maximum by
//! uniformisation (`chain`). Errors: mean below 1e-8 relative, probabilities below 1e-8 absolute. Derived in
//! docs/accuracy.md.

pub use crate::mapreduce::chain::TaskLaw;

use crate::mapreduce::chain::FixedBesideRandom;
use crate::mapreduce::chain::LastTask;
use crate::mapreduce::chain::last_of;
use crate::mapreduce::curve::Curve;
use crate::mapreduce::params::Plan;
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::task_times::JobPhases;
use crate::units::Probability;
use crate::units::Seconds;

/// The distribution of a job's time. Exact up to the errors stated in the module.
#[derive(Clone, Debug)]
pub struct JobTime {
    fixed_s: f64,
    mean_s: f64,
    variance_s2: f64,
    last_map_s: f64,
    last_reduce_s: f64,
    /// The varying parts: their sum is the job time minus `fixed_s`. At most two.
    parts: Vec<Curve>,
}

/// Reason why a job's time has no closed form. Simulate the net, or solve it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JobTimeError {
    /// A stage or fixed time is negative, infinite or not a number. Correct the plan.
    #[error("a phase lasts {value} s; it must be finite and not negative")]
    BadTime {
        /// The value.
        value: f64,
    },
    /// A phase is not a sum of exponential stages. Make it exponential, Erlang or deterministic.
    #[error("phase `{phase}` is {law}; the formula covers only exponential, Erlang and deterministic phases")]
    Law {
        /// The phase.
        phase: Phase,
        /// The kind of the phase's distribution.
        law: &'static str,
    },
    /// Tasks wait for slots. Set `model.slots = false`, or give each task a slot.
    #[error("tasks wait for slots (`model.slots`)")]
    Slots,
    /// Tasks wait for GPUs. Remove `gpus` of the workers.
    #[error("tasks wait for GPUs (`gpus`)")]
    Gpus,
    /// The shuffle overlaps with the maps. Remove `model.slowstart`.
    #[error("the shuffle overlaps with the maps (`model.slowstart`)")]
    Slowstart,
    /// Tasks may be slow, or have copies. Remove `[stragglers]` and `[speculation]`.
    #[error("tasks may be stragglers or have speculative copies")]
    Stragglers,
    /// A task of fixed length may or may not be the last to end. Give one of its phases a random distribution.
    #[error(transparent)]
    Mixed(#[from] FixedBesideRandom),
}

/// A probability without a quantile: it must be above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("no quantile of probability {probability} exists; the probability must be above 0 and below 1")]
pub struct QuantileError {
    /// The requested probability.
    pub probability: f64,
}

impl JobTime {
    /// Returns the distribution of `start + max(maps) + between + max(reduces)`, all independent.
    ///
    /// Exact up to the errors stated in the module. Equal tasks are counted, not repeated, so the cost grows with the
    /// number of different tasks.
    ///
    /// # Errors
    ///
    /// [`JobTimeError::BadTime`], [`JobTimeError::Mixed`].
    pub fn new(
        start: &TaskLaw,
        maps: &[TaskLaw],
        between: &TaskLaw,
        reduces: &[TaskLaw],
    ) -> Result<Self, JobTimeError> {
        let all = [start, between].into_iter().chain(maps).chain(reduces);
        if let Some(value) = all.into_iter().find_map(TaskLaw::bad_number) {
            return Err(JobTimeError::BadTime { value });
        }
        let serial = TaskLaw {
            fixed_s: start.fixed_s + between.fixed_s,
            stages_s: start.stages_s.iter().chain(&between.stages_s).copied().collect(),
        };
        let lasts = [last_of(std::slice::from_ref(&serial))?, last_of(maps)?, last_of(reduces)?];
        let moments = lasts.each_ref().map(moments);
        let mut parts: Vec<Curve> = lasts.iter().filter_map(|last| last.varying.clone()).collect();
        if parts.len() == 3 {
            let sum = parts[0].sum(&parts[1]);
            parts.splice(..2, [sum]);
        }
        Ok(Self {
            fixed_s: lasts.iter().map(|last| last.fixed_s).sum(),
            mean_s: moments.iter().map(|m| m.0).sum(),
            variance_s2: moments.iter().map(|m| m.1).sum(),
            last_map_s: moments[1].0,
            last_reduce_s: moments[2].0,
            parts,
        })
    }

    /// Returns the distribution of the job time of `plan`, whose phase means are `phases`.
    ///
    /// # Errors
    ///
    /// All variants of [`JobTimeError`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tailspn_jobs::mapreduce::{JobTime, Plan, phase_times};
    ///
    /// let plan = Plan::from_toml(
    ///     "[phases]\nmaps = 160\nreduces = 40\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]\n[model]\nslots = false",
    /// ).unwrap();
    /// let phases = phase_times(&plan, &mut || 0.5).unwrap();
    /// let job = JobTime::of_plan(&plan, &phases).unwrap();
    /// assert_eq!(format!("{:.3}", job.mean()), "96.746 s");
    /// ```
    pub fn of_plan(plan: &Plan, phases: &JobPhases) -> Result<Self, JobTimeError> {
        if plan.waits() {
            return Err(JobTimeError::Slots);
        }
        if plan.waits_for_gpus() {
            return Err(JobTimeError::Gpus);
        }
        if plan.model.slowstart.is_some() {
            return Err(JobTimeError::Slowstart);
        }
        if plan.stragglers.is_some() || plan.speculation.is_some() {
            return Err(JobTimeError::Stragglers);
        }
        for phase in Phase::ALL {
            stages_of(phase, plan.model.distribution.get(phase), 1.0, &mut TaskLaw::default())?;
        }
        let task = |means: &[(Phase, f64)]| {
            let mut task = TaskLaw::default();
            for (phase, mean_s) in means {
                stages_of(*phase, plan.model.distribution.get(*phase), *mean_s, &mut task)?;
            }
            Ok::<_, JobTimeError>(task)
        };
        let zip = |phases: &[Phase], means: &[f64]| -> Vec<(Phase, f64)> {
            phases.iter().copied().zip(means.iter().copied()).collect()
        };
        let maps: Result<Vec<_>, _> = phases.maps_s.iter().map(|m| task(&zip(&Phase::OF_MAP, m))).collect();
        let reduces: Result<Vec<_>, _> = phases.reduces_s.iter().map(|m| task(&zip(&Phase::OF_REDUCE, m))).collect();
        let mut start = task(&[(Phase::Load, phases.load_s)])?;
        start.fixed_s += phases.end_s;
        Self::new(&start, &maps?, &task(&[(Phase::Shuffle, phases.shuffle_s)])?, &reduces?)
    }

    /// Returns the mean job time. Exact; relative error below 1e-8.
    pub fn mean(&self) -> Seconds {
        seconds(self.mean_s)
    }

    /// Returns the variance of the job time \[s²\]. Exact; relative error below 1e-7.
    pub fn variance(&self) -> f64 {
        self.variance_s2
    }

    /// Returns the standard deviation of the job time. Exact; relative error below 1e-7.
    pub fn standard_deviation(&self) -> Seconds {
        seconds(self.variance_s2.sqrt())
    }

    /// Returns the mean time from the end of the load phase to the end of the last map. Exact.
    pub fn mean_of_last_map(&self) -> Seconds {
        seconds(self.last_map_s)
    }

    /// Returns the mean time from the end of the shuffle to the end of the last reduce. Exact.
    pub fn mean_of_last_reduce(&self) -> Seconds {
        seconds(self.last_reduce_s)
    }

    /// Returns the probability that the job has finished at `t`. Exact; absolute error below 1e-8.
    pub fn cdf(&self, t: Seconds) -> Probability {
        Probability::new(self.cdf_at(t.get())).expect("curves return probabilities")
    }

    /// Returns the time by which the job finishes with probability `p`.
    ///
    /// Exact; the error is 1e-8 divided by the density at the quantile: below 1e-5 relative from p50 to p99.9.
    ///
    /// # Errors
    ///
    /// [`QuantileError`] for a probability of 0 or 1, which has no quantile.
    pub fn quantile(&self, p: Probability) -> Result<Seconds, QuantileError> {
        let p = p.get();
        if p <= 0.0 || p >= 1.0 {
            return Err(QuantileError { probability: p });
        }
        let end = self.fixed_s + self.parts.iter().map(Curve::end).sum::<f64>();
        Ok(seconds(first_time(|t| self.cdf_at(t), p, (self.fixed_s, end))))
    }

    fn cdf_at(&self, t: f64) -> f64 {
        let t = t - self.fixed_s;
        match &self.parts[..] {
            [] => f64::from(u8::from(t >= 0.0)),
            [only] => only.cdf(t),
            [first, second, ..] => first.sum_cdf(second, t),
        }
    }
}

/// Returns mean \[s\] and variance \[s²\] of a part.
fn moments(last: &LastTask) -> (f64, f64) {
    let (mean, variance) = last.varying.as_ref().map_or((0.0, 0.0), Curve::mean_and_variance);
    (last.fixed_s + mean, variance)
}

/// Adds the stages of one phase to `task`.
fn stages_of(phase: Phase, law: &PhaseLaw, mean_s: f64, task: &mut TaskLaw) -> Result<(), JobTimeError> {
    match law {
        PhaseLaw::Exponential => task.stages_s.push(mean_s),
        PhaseLaw::Deterministic => task.fixed_s += mean_s,
        PhaseLaw::Erlang(stages) => {
            task.stages_s.extend(std::iter::repeat_n(mean_s / f64::from(*stages), *stages as usize));
        }
        other => return Err(JobTimeError::Law { phase, law: other.kind().name() }),
    }
    Ok(())
}

fn seconds(value: f64) -> Seconds {
    Seconds::new(value).expect("times of checked laws are finite and not negative")
}

/// Bisections before the secant steps of [`first_time`].
const BISECTIONS: usize = 10;

/// Relative width of the interval at which [`first_time`] stops.
const TIME_WIDTH: f64 = 1e-12;

/// Returns the point where the non-decreasing `cdf` reaches `p` within `range`: bisection, then regula falsi (Illinois).
fn first_time(cdf: impl Fn(f64) -> f64, p: f64, range: (f64, f64)) -> f64 {
    let (mut low, mut high) = range;
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    let (mut under, mut over) = (cdf(low) - p, cdf(high) - p);
    if under >= 0.0 {
        return low;
    }
    for step in 0..200 {
        let width = high - low;
        if width <= TIME_WIDTH * high {
            break;
        }
        let secant = low - under * width / (over - under);
        let inside = secant > low && secant < high;
        let t = if inside && step % 8 != 7 { secant } else { f64::midpoint(low, high) };
        let value = cdf(t) - p;
        if value < 0.0 {
            (low, under) = (t, value);
            over *= 0.5;
        } else {
            (high, over) = (t, value);
            under *= 0.5;
        }
        if value.abs() < 1e-14 {
            return t;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::task_times::phase_times;
    use approx::assert_abs_diff_eq;
    use approx::assert_relative_eq;
    use std::time::Instant;

    fn stages(means: &[f64]) -> TaskLaw {
        TaskLaw::of_stages(means)
    }

    fn job(start: f64, maps: &[TaskLaw], shuffle: f64, reduces: &[TaskLaw]) -> JobTime {
        JobTime::new(&stages(&[start]), maps, &stages(&[shuffle]), reduces).unwrap()
    }

    fn at(job: &JobTime, p: f64) -> f64 {
        job.quantile(Probability::new(p).unwrap()).unwrap().get()
    }

    fn done(job: &JobTime, t: f64) -> f64 {
        job.cdf(Seconds::new(t).unwrap()).get()
    }

    /// The expected quantiles come from a lattice convolution with midpoint masses, extrapolated from the
    /// steps 0.04, 0.02 and 0.01 s: 94.96900, 117.45746, 141.32076, 162.48616.
    #[test]
    fn reference_job_of_160_maps_and_40_reduces() {
        let started = Instant::now();
        let job = job(5.0, &vec![stages(&[1.0, 2.0, 8.0, 1.0, 3.0]); 160], 6.0, &vec![stages(&[2.0, 7.0]); 40]);
        let built = started.elapsed();
        let quantiles = [0.5, 0.9, 0.99, 0.999].map(|p| format!("{:.3}", at(&job, p)));
        println!("built in {built:?}, 4 quantiles in {:?}", started.elapsed() - built);
        assert_eq!(format!("{:.3} {:.3}", job.mean().get(), job.standard_deviation().get()), "96.746 15.662");
        assert_eq!(quantiles, ["94.969", "117.457", "141.321", "162.486"]);
    }

    /// The tasks of the exact nets and of the bench nets start in the same way; their rates are in VALUES.md.
    #[test]
    fn exact_net_with_one_map_and_one_reduce() {
        let maps = [bench_map(0)];
        let job = job(3.0, &maps, 20.0, &[bench_reduce(0)]);
        assert_relative_eq!(job.mean().get(), 58.960_326_499_375_6, max_relative = 1e-10);
        assert_relative_eq!(job.standard_deviation().get(), 26.572_216_567_993_9, max_relative = 1e-9);
        assert_abs_diff_eq!(done(&job, 60.0), 0.592_059_359_552_264, epsilon = 1e-9);
        assert_abs_diff_eq!(done(&job, 100.0), 0.923_575_064_316_172, epsilon = 1e-9);
    }

    #[test]
    fn exact_net_with_two_maps_and_two_reduces() {
        let maps: Vec<_> = (0..2).map(bench_map).collect();
        let reduces: Vec<_> = (0..2).map(bench_reduce).collect();
        let job = job(3.0, &maps, 20.0, &reduces);
        assert_relative_eq!(job.mean().get(), 72.468_338_149_783_5, max_relative = 1e-10);
        assert_relative_eq!(job.standard_deviation().get(), 27.537_431_597_570_6, max_relative = 1e-9);
        assert_abs_diff_eq!(done(&job, 60.0), 0.370_653_048_386_586, epsilon = 1e-9);
        assert_abs_diff_eq!(done(&job, 100.0), 0.853_124_668_399_869, epsilon = 1e-9);
    }

    /// Returns `base` seconds, varied by -25% to +25% through a low-discrepancy sequence: the bench nets' means.
    fn varied(base: f64, task: usize, phase: usize, phase_step: f64) -> f64 {
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        base * (0.75 + 0.5 * ((task + 1) as f64 * golden + (phase + 1) as f64 * phase_step).fract())
    }

    fn bench_map(task: usize) -> TaskLaw {
        let bases = [2.0, 10.0, 1.0, 3.0, 4.0];
        let means = std::array::from_fn::<_, 5, _>(|k| varied(bases[k], task, k, 0.754_877_666_246_692_7));
        stages(&means)
    }

    fn bench_reduce(task: usize) -> TaskLaw {
        stages(&[5.0, 12.0].map(|base| varied(base, task, usize::from(base > 5.0), 0.569_840_290_998_053_3)))
    }

    #[test]
    fn bench_tasks_have_the_published_rates() {
        // tm0_0, tm0_1 and tm1_1, tr1_1 of o9_w1_2_2 in VALUES.md
        assert_relative_eq!(1.0 / bench_map(0).stages_s[0], 0.533_928_013_813_242_1, max_relative = 1e-12);
        assert_relative_eq!(1.0 / bench_map(0).stages_s[1], 0.122_866_022_887_558_37, max_relative = 1e-12);
        assert_relative_eq!(1.0 / bench_map(1).stages_s[1], 0.089_054_200_795_790_9, max_relative = 1e-12);
        assert_relative_eq!(1.0 / bench_reduce(1).stages_s[1], 0.088_853_415_785_886_56, max_relative = 1e-12);
    }

    #[test]
    fn bench_nets_have_their_exact_means() {
        for (m, r, mean) in [(160, 40, "152.58257"), (1_000, 100, "184.25521")] {
            let maps: Vec<_> = (0..m).map(bench_map).collect();
            let reduces: Vec<_> = (0..r).map(bench_reduce).collect();
            let started = Instant::now();
            let job = job(3.0, &maps, 20.0, &reduces);
            println!("{m} different maps, {r} different reduces: {:?}", started.elapsed());
            assert_eq!(format!("{:.5}", job.mean().get()), mean);
        }
    }

    #[test]
    fn bench_net_file_has_its_exact_mean() {
        let beside = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into();
        let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, std::path::PathBuf::from);
        let Ok(text) = std::fs::read_to_string(shared.join("data/bench-nets/w1_160_40.xml")) else {
            assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", shared.display());
            println!("skipped: no ../shared");
            return;
        };
        let mut means = std::collections::BTreeMap::new();
        for part in text.split("<transition id=\"").skip(1) {
            let (name, rest) = part.split_once('"').unwrap();
            let rate = rest.split_once("<rate><value>").unwrap().1.split_once('<').unwrap().0;
            means.insert(name.to_owned(), 1.0 / rate.parse::<f64>().unwrap());
        }
        let task = |kind: &str, i: usize, n: usize| {
            stages(&(0..n).map(|k| means[&format!("{kind}{i}_{k}")]).collect::<Vec<_>>())
        };
        let maps: Vec<_> = (0..160).map(|j| task("tm", j, 5)).collect();
        let reduces: Vec<_> = (0..40).map(|r| task("tr", r, 2)).collect();
        let job = job(means["t_load"], &maps, means["t_shuffle"], &reduces);
        assert_eq!(format!("{:.5}", job.mean().get()), "152.58257");
    }

    #[test]
    fn large_job_on_four_kinds_of_node_is_fast() {
        let kind = |i: usize| 1.0 + 0.25 * (i % 4) as f64;
        let maps: Vec<_> = (0..1_000).map(|j| stages(&[1.0, 2.0, 8.0, 1.0, 3.0].map(|m| m * kind(j)))).collect();
        let reduces: Vec<_> = (0..100).map(|r| stages(&[2.0, 7.0].map(|m| m * kind(r)))).collect();
        let started = Instant::now();
        let job = job(5.0, &maps, 6.0, &reduces);
        println!("4 kinds of node, 1000 maps, 100 reduces: {:?}", started.elapsed());
        assert!(at(&job, 0.5) < job.mean().get());
    }

    #[test]
    fn quantile_is_the_inverse_of_the_cdf() {
        let job = job(5.0, &[stages(&[1.0, 1.0]), stages(&[2.0])], 0.001, &vec![stages(&[2.0, 2.0]); 7]);
        for p in [1e-6, 0.01, 0.5, 0.99, 0.999_99] {
            assert_abs_diff_eq!(done(&job, at(&job, p)), p, epsilon = 1e-11);
        }
        let one = Probability::new(1.0).unwrap();
        assert_eq!(job.quantile(one).unwrap_err(), QuantileError { probability: 1.0 });
    }

    #[test]
    fn zero_means_are_skipped_phases() {
        let none = [stages(&[0.0])];
        let only_load = job(4.0, &none, 0.0, &none);
        assert_relative_eq!(only_load.mean().get(), 4.0, max_relative = 1e-10);
        assert_relative_eq!(at(&only_load, 0.5), 4.0 * 2.0_f64.ln(), max_relative = 1e-10);
        let nothing = job(0.0, &none, 0.0, &none);
        assert_eq!((nothing.mean().get(), at(&nothing, 0.9), done(&nothing, 0.0)), (0.0, 0.0, 1.0));
    }

    #[test]
    fn many_erlang_stages_come_near_to_a_fixed_time() {
        let maps = vec![stages(&vec![0.01; 1_000]); 100];
        let job = job(0.0, &maps, 0.0, &[stages(&vec![0.005; 1_000])]);
        // standard deviation of a map 10/√1000 = 0.316 s; the last of 100 normal ones is late by 2.508 of these
        assert_abs_diff_eq!(job.mean_of_last_map().get(), 10.0 + 2.508 * 0.316_2, epsilon = 0.05);
        assert_relative_eq!(job.mean_of_last_reduce().get(), 5.0, max_relative = 1e-9);
    }

    #[test]
    fn scaling_all_means_scales_the_quantiles() {
        let scaled = |c: f64| job(5.0 * c, &vec![stages(&[c, 8.0 * c]); 9], 6.0 * c, &vec![stages(&[7.0 * c]); 3]);
        assert_relative_eq!(at(&scaled(1e-6), 0.99), 1e-6 * at(&scaled(1.0), 0.99), max_relative = 1e-9);
        assert_relative_eq!(scaled(1e6).variance(), 1e12 * scaled(1.0).variance(), max_relative = 1e-9);
    }

    fn of_text(text: &str) -> Result<JobTime, JobTimeError> {
        let plan = Plan::from_toml(text).unwrap();
        JobTime::of_plan(&plan, &phase_times(&plan, &mut || 0.5).unwrap())
    }

    const MEANS: &str = "[phases]\nmaps = 4\nreduces = 2\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]\n";

    #[test]
    fn plan_with_erlang_and_fixed_phases_has_their_stages() {
        let text = "[model.distribution]\nload = \"deterministic\"\ngpu = { erlang = 2 }\nreduce = \"deterministic\"";
        let of_plan = of_text(&format!("{MEANS}{text}")).unwrap();
        let maps = vec![stages(&[1.0, 2.0, 4.0, 4.0, 1.0, 3.0]); 4];
        let reduces = vec![TaskLaw { fixed_s: 7.0, stages_s: vec![2.0] }; 2];
        let start = TaskLaw { fixed_s: 5.0, stages_s: vec![] };
        let by_hand = JobTime::new(&start, &maps, &stages(&[6.0]), &reduces).unwrap();
        assert_relative_eq!(of_plan.mean().get(), by_hand.mean().get(), max_relative = 1e-12);
        assert_relative_eq!(at(&of_plan, 0.9), at(&by_hand, 0.9), max_relative = 1e-12);
        // the last of two Exp(2) takes 2 (1 + 1/2) = 3 s on average
        assert_relative_eq!(of_plan.mean_of_last_reduce().get(), 10.0, max_relative = 1e-10);
        assert!(done(&of_plan, 12.0) < 1e-300);
    }

    #[test]
    fn plans_without_an_exact_law_say_why() {
        assert!(of_text(&format!("{MEANS}[model]\nslots = true")).is_ok(), "each task has a slot");
        let slots = of_text(&format!("{MEANS}[model]\nslots = true\n[[cluster.node]]\nmap_slots = 3"));
        assert_eq!(slots.unwrap_err(), JobTimeError::Slots);
        let law = of_text(&format!("{MEANS}[model.distribution]\ngpu = {{ lognormal = {{ cv = 0.5 }} }}"));
        assert_eq!(law.unwrap_err(), JobTimeError::Law { phase: Phase::Gpu, law: "lognormal" });
    }

    #[test]
    fn bad_times_are_refused() {
        let bad = JobTime::new(&stages(&[1.0]), &[stages(&[f64::NAN])], &stages(&[]), &[]);
        assert!(matches!(bad, Err(JobTimeError::BadTime { value }) if value.is_nan()));
    }
}
