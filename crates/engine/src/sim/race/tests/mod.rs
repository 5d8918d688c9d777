//! Tests of the race engine against closed forms.
#![expect(clippy::float_cmp, reason = "floats that are compared with == are exact")]

mod averages;
mod definition;
mod faults;
mod lockstep;
mod memory;
mod passage;
mod rates;
mod until;

use crate::compile::{Program, compile};
use crate::estimate::FloatMoments;
use crate::net::{NetBuilder, PlaceId, Timing};
use crate::semantics::Fault;
use crate::sim::engine::Engine;
use crate::sim::race::{ClockForm, DirectForm, DirectLaw, Setup};
use crate::sim::{Clock, Goal, Question, Samples};
use crate::watch::Unwatched;

/// The form to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Clock,
    Direct,
}

const KEY: [u32; 2] = [2024, 7];
const BOTH: [Form; 2] = [Form::Clock, Form::Direct];

fn program(b: &NetBuilder) -> Program {
    compile(&b.clone().build().expect("a net")).expect("a program")
}

/// Runs the first replications of a net.
fn run(form: Form, program: &Program, question: &Question, count: u64) -> Result<Samples, Fault> {
    let clock = Clock::choose(program, question.horizon);
    run_on(form, program, question, count, clock)
}

fn run_on(form: Form, program: &Program, question: &Question, count: u64, clock: Clock) -> Result<Samples, Fault> {
    let setup = Setup { program, question, clock, key: KEY, keep_times: true, watch: &Unwatched };
    let mut samples = Samples::new(clock, question, program.counters(), program.transitions());
    match form {
        Form::Clock => ClockForm::new(setup).run(0, count, &mut samples)?,
        Form::Direct => {
            assert_eq!(DirectLaw::obstacles(program, clock), []);
            DirectForm::new(setup).run(0, count, &mut samples)?;
        }
    }
    Ok(samples)
}

/// A goal from an expression of the net.
fn goal(b: &NetBuilder, text: &str) -> Goal {
    let net = b.clone().build().expect("a net");
    Goal::marking(&net, text).expect("an expression")
}

/// Checks that the mean passage time is within five standard errors, and that this error is small.
fn assert_passage_mean(samples: &Samples, exact: f64, finest: f64) {
    let tick = samples.clock.tick();
    let mean = samples.passage.mean_ticks().unwrap() * tick;
    let error = tick * (samples.passage.variance().unwrap() / samples.passage.count() as f64).sqrt();
    assert!(error < finest * exact, "standard error {error} of {exact}");
    assert!((mean - exact).abs() < 5.0 * error, "{mean} is not {exact}; standard error {error}");
}

/// Checks that the share of passage times of at most `time` seconds is within five standard errors.
fn assert_passage_share(samples: &Samples, time: f64, exact: f64) {
    let times = &samples.passage_times;
    let ticks = (time / samples.clock.tick()) as u64;
    let share = times.iter().filter(|&&t| t <= ticks).count() as f64 / times.len() as f64;
    let error = (exact * (1.0 - exact) / times.len() as f64).sqrt();
    assert!((share - exact).abs() < 5.0 * error, "P(T <= {time}) is {share}, not {exact}; standard error {error}");
}

/// Checks that a mean is within five standard errors, and that this error is at most a share `finest` of the mean.
fn assert_mean(sample: &FloatMoments, exact: f64, finest: f64) {
    let error = (sample.variance().unwrap() / sample.count() as f64).sqrt();
    assert!(error < finest * exact, "standard error {error} of {exact}");
    assert!(
        (sample.mean().unwrap() - exact).abs() < 5.0 * error,
        "{} is not {exact}; standard error {error}",
        sample.mean().unwrap()
    );
}

/// Adds a transition with arcs of weight 1.
fn add(b: &mut NetBuilder, id: &str, timing: Timing, from: &[PlaceId], to: &[PlaceId]) {
    let t = b.transition(id, timing);
    for &p in from {
        b.input(p, t, 1.0);
    }
    for &p in to {
        b.output(t, p, 1.0);
    }
}
