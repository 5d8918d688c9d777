//! Derivatives against exact ones: of schedules by perturbation, of races by likelihood ratios.

use tailspn::compile::{Program, compile, plan_schedule};
use tailspn::estimate::{Estimate, paired_difference};
use tailspn::mapreduce::{JobTime, Plan, job_net, phase_times};
use tailspn::net::expr::Leaf;
use tailspn::net::{Delay, Expr, Law, Memory, Net, NetBuilder, Servers, Timing};
use tailspn::sensitivity::{likelihood_ratio_mean, pathwise_mean, pathwise_quantile};
use tailspn::sim::{Ensemble, PathSlopes, Question, ScoreError, Shift, ShiftError, Unwatched, is_scored, run, scores};
use tailspn::units::Probability;

const STEP: f64 = 1e-4;

fn near(found: Estimate, truth: f64, most_relative: f64, what: &str) {
    let error = found.half_width / 1.959_964;
    assert!((found.value - truth).abs() < 5.0 * error, "{what}: {found:?} against {truth}");
    assert!(error < most_relative * truth.abs(), "{what}: standard error {error} of {truth}");
}

/// A job with 6 maps and 4 reduces whose phases have these means.
fn job(means_s: [f64; 9]) -> Plan {
    let text = format!("[phases]\nmaps = 6\nreduces = 4\nmeans_s = {means_s:?}\n[model]\nslots = false\n");
    Plan::from_toml(&text).unwrap()
}

fn program(plan: &Plan) -> Program {
    compile(&job_net(plan, &phase_times(plan, &mut || 0.5).unwrap()).unwrap().net).unwrap()
}

fn law(plan: &Plan) -> JobTime {
    JobTime::of_plan(plan, &phase_times(plan, &mut || 0.5).unwrap()).unwrap()
}

const MEANS: [f64; 9] = [3.0, 2.0, 6.0, 5.0, 2.0, 4.0, 5.0, 7.0, 9.0];

/// The exact distribution of the job time is known, so its central differences are exact derivatives.
#[test]
fn perturbation_of_a_job_gives_the_derivatives_of_its_exact_time() {
    let plan = job(MEANS);
    let base = program(&plan);
    let moved = |phase: usize, factor: f64| {
        let mut means = MEANS;
        means[phase] *= factor;
        job(means)
    };
    let shift = |phase: usize| {
        let [low, high] = [1.0 - STEP, 1.0 + STEP].map(|factor| program(&moved(phase, factor)));
        Shift { low, high, width: 2.0 * STEP * MEANS[phase] }.slopes(&base).unwrap()
    };
    let columns: Vec<Vec<f64>> = (0..9).map(shift).collect();
    let schedule = plan_schedule(&base).unwrap();
    let question = Question::default();
    let count = 400_000;
    let traced = PathSlopes::trace(&base, &schedule, &question, &columns, 3, 0, count).unwrap();
    for (phase, mean_s) in MEANS.into_iter().enumerate() {
        let exact = |of: &dyn Fn(&JobTime) -> f64, step: f64| {
            let [low, high] = [1.0 - step, 1.0 + step].map(|factor| of(&law(&moved(phase, factor))));
            (high - low) / (2.0 * step * mean_s)
        };
        let mean = pathwise_mean(&traced.slopes[phase], 0.95).unwrap();
        near(mean, exact(&|law| law.mean().get(), STEP), 0.005, &format!("mean by phase {}", phase + 1));
        let p95 = Probability::new(0.95).unwrap();
        let quantile = pathwise_quantile(&traced.times, &traced.slopes[phase], 0.95, 0.95).unwrap();
        let exact = exact(&|law| law.quantile(p95).unwrap().get(), 0.01);
        near(quantile, exact, 0.04, &format!("p95 by phase {}", phase + 1));
    }
    // cut into parts they are the same, whatever the threads
    let part = PathSlopes::trace(&base, &schedule, &question, &columns, 3, 1000, 100).unwrap();
    assert_eq!(part.slopes[8], traced.slopes[8][1000..1100]);
    assert_eq!(part.times, traced.times[1000..1100]);
}

/// Finite differences with the same random numbers: the pathwise derivative is their limit, replication by replication.
#[test]
fn perturbation_is_the_limit_of_differences_with_common_random_numbers() {
    let laws = [
        Law::Weibull { shape: 0.7, scale: 3.0 },
        Law::Erlang { stages: 3, mean: 4.0 },
        Law::Uniform { low: 1.0, high: 5.0 },
        Law::LogNormal { mean: 3.0, cv: 0.5 },
    ];
    // two chains of two side by side, and the first delay of the first chain is stretched
    let net = |factor: f64| {
        let mut b = NetBuilder::new("");
        for chain in 0..2 {
            let places: Vec<_> = (0..3).map(|i| b.place(format!("p{chain}{i}"), u32::from(i == 0))).collect();
            for i in 0..2 {
                let law = &laws[2 * chain + i];
                let law = if chain + i == 0 { law.scaled(factor) } else { law.clone() };
                let t = b.transition(format!("t{chain}{i}"), Timing::general(law));
                b.input(places[i], t, 1.0);
                b.output(t, places[i + 1], 1.0);
            }
        }
        compile(&b.build().unwrap()).unwrap()
    };
    let base = net(1.0);
    let step = 1e-3;
    let shift = Shift { low: net(1.0 - step), high: net(1.0 + step), width: 2.0 * step };
    let columns = [shift.slopes(&base).unwrap()];
    let count = 100_000;
    let schedule = plan_schedule(&base).unwrap();
    let traced = PathSlopes::trace(&base, &schedule, &Question::default(), &columns, 5, 0, count).unwrap();
    let times = |program: &Program| -> Vec<f64> {
        let ensemble = Ensemble { replications: count, seed: 5, keep: true, ..Ensemble::default() };
        let samples = run(program, &Question::default(), &ensemble, &Unwatched).unwrap().samples;
        samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks)).collect()
    };
    let difference =
        paired_difference(&times(&shift.low), &times(&shift.high), 0.95).unwrap().scaled(1.0 / shift.width);
    let slope = pathwise_mean(&traced.slopes[0], 0.95).unwrap();
    // nearly the same replication by replication, so far nearer than the standard error of either
    assert!((difference.value / slope.value - 1.0).abs() < 0.002, "{difference:?} against {slope:?}");
    assert!(slope.half_width < 0.02 * slope.value);
}

fn parameter(b: &mut NetBuilder, name: &str, value: f64) -> Expr {
    Expr::Leaf(Leaf::Parameter(b.parameter(name, value)))
}

fn exponential(rate: Expr, servers: Servers) -> Timing {
    Timing::Timed { delay: Delay::Exponential { rate }, servers, memory: Memory::Enabling }
}

/// A queue with room for `room`: rates `lambda` and `mu`.
fn queue(lambda: f64, mu: f64, room: u32) -> Net {
    let mut b = NetBuilder::new("queue");
    let (free, queue) = (b.place("free", room), b.place("queue", 0));
    let rate = parameter(&mut b, "lambda", lambda);
    let arrive = b.transition("arrive", exponential(rate, Servers::Single));
    b.input(free, arrive, 1.0);
    b.output(arrive, queue, 1.0);
    let rate = parameter(&mut b, "mu", mu);
    let serve = b.transition("serve", exponential(rate, Servers::Single));
    b.input(queue, serve, 1.0);
    b.output(serve, free, 1.0);
    b.build().unwrap()
}

/// Mean time until the queue is full: from i to i + 1 it takes h_i = 1/λ + (μ/λ) h_(i−1).
fn until_full(lambda: f64, mu: f64, room: u32) -> f64 {
    let mut step = 1.0 / lambda;
    let mut sum = step;
    for _ in 1..room {
        step = 1.0 / lambda + mu / lambda * step;
        sum += step;
    }
    sum
}

#[test]
fn likelihood_ratios_of_a_queue_give_the_derivatives_of_its_exact_time() {
    let (lambda, mu, room) = (1.0, 1.5, 4);
    let net = queue(lambda, mu, room);
    let base = compile(&net).unwrap();
    let question = Question::until(&net, "#(free) == 0").unwrap();
    let program = |lambda: f64, mu: f64| compile(&queue(lambda, mu, room)).unwrap();
    let h = 1e-3;
    let shifts = [
        Shift { low: program(lambda - h, mu), high: program(lambda + h, mu), width: 2.0 * h },
        Shift { low: program(lambda, mu - h), high: program(lambda, mu + h), width: 2.0 * h },
    ];
    let ensemble = Ensemble { replications: 1_000_000, seed: 4, ..Ensemble::default() };
    let found = scores(&base, &question, &shifts, &ensemble, &Unwatched).unwrap();
    assert_eq!((found.unreached, found.partial), (0, false));
    let exact = [
        (until_full(lambda + h, mu, room) - until_full(lambda - h, mu, room)) / (2.0 * h),
        (until_full(lambda, mu + h, room) - until_full(lambda, mu - h, room)) / (2.0 * h),
    ];
    for (scores, exact) in found.scores.iter().zip(exact) {
        near(likelihood_ratio_mean(&found.times, scores, 0.95).unwrap(), exact, 0.01, "queue");
        // the mean of a score is 0
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let spread = (scores.iter().map(|score| score * score).sum::<f64>()).sqrt() / scores.len() as f64;
        assert!(mean.abs() < 5.0 * spread, "{mean} {spread}");
    }
    let few = Ensemble { replications: 3000, seed: 4, threads: std::num::NonZeroUsize::new(1), ..Ensemble::default() };
    let few = scores(&base, &question, &shifts, &few, &Unwatched).unwrap();
    assert_eq!(few.scores[0], found.scores[0][..3000]);
}

/// Rates that depend on the marking, with the parameter as a factor, and rates of several servers: n tokens that each die at rate μ are gone
/// after H_n / μ on average, and its derivative by μ is −H_n / μ². A deterministic delay before makes it the clock form.
#[test]
fn marking_dependent_rates_and_servers_have_scores_too() {
    let net = |mu: f64, by_marking: bool, delayed: bool| {
        let mut b = NetBuilder::new("deaths");
        let (alive, dead) = (b.place("alive", if delayed { 0 } else { 5 }), b.place("dead", 0));
        let rate = parameter(&mut b, "mu", mu);
        let tokens = Expr::Leaf(Leaf::Tokens(alive, None));
        let rate = if by_marking {
            Expr::Binary(tailspn::net::expr::BinaryOp::Multiply, Box::new(rate), Box::new(tokens))
        } else {
            rate
        };
        let servers = if by_marking { Servers::Single } else { Servers::Infinite };
        let die = b.transition("die", exponential(rate, servers));
        b.input(alive, die, 1.0);
        b.output(die, dead, 1.0);
        if delayed {
            let start = b.place("start", 1);
            let begin = b.transition("begin", Timing::general(Law::Deterministic { delay: 2.0 }));
            b.input(start, begin, 1.0);
            b.output(begin, alive, 5.0);
        }
        compile(&b.build().unwrap()).unwrap()
    };
    let (mu, h) = (0.5, 1e-3);
    let harmonic: f64 = (1..=5).map(|i| 1.0 / f64::from(i)).sum();
    for (by_marking, delayed) in [(true, false), (false, false), (true, true), (false, true)] {
        let shift =
            Shift { low: net(mu - h, by_marking, delayed), high: net(mu + h, by_marking, delayed), width: 2.0 * h };
        let base = net(mu, by_marking, delayed);
        let ensemble = Ensemble { replications: 400_000, seed: 6, ..Ensemble::default() };
        let found = scores(&base, &Question::default(), &[shift], &ensemble, &Unwatched).unwrap();
        let slope = likelihood_ratio_mean(&found.times, &found.scores[0], 0.95).unwrap();
        near(slope, -harmonic / (mu * mu), 0.006, &format!("by marking {by_marking}, delayed {delayed}"));
    }
}

#[test]
fn parameters_that_are_more_than_rates_are_refused() {
    let general = |mean: f64| {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        let t = b.transition("t", Timing::general(Law::Erlang { stages: 2, mean }));
        b.input(p, t, 1.0);
        compile(&b.build().unwrap()).unwrap()
    };
    let shift = Shift { low: general(0.999), high: general(1.001), width: 0.002 };
    assert_eq!(is_scored(&general(1.0), &shift), Err(ShiftError::Law));
    let refused = scores(&general(1.0), &Question::default(), &[shift], &Ensemble::default(), &Unwatched).unwrap_err();
    assert_eq!(refused, ScoreError::Parameter { parameter: 0, error: ShiftError::Law });
}
