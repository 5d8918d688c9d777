//! Exact solution and simulation of the same random nets: priorities, weights, inhibitors, tests, capacities, several servers.
//!
//! Both sides share what enabling and firing mean; what they do not share is all the rest: elimination of vanishing
//! markings, probabilities over time, draws, clocks, choices, accumulators.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use tailspn::compile::{Program, compile, lower};
use tailspn::net::Net;
use tailspn::sim::{Backend, Ending, EngineChoice, Ensemble, Goal, Question, RunError, Samples, Unwatched, run};
use tailspn::solve::{Limits, PassageSettings, TransientSettings, explore, passage, transient};

use crate::measure::{ENGINES, Estimated};
use crate::random_net::{RandomNet, balanced_net};

/// When the averages begin, and end [s].
const WARM_UP: f64 = 0.5;
const HORIZON: f64 = 4.5;
const REPLICATIONS: u64 = 20_000;

/// A value by both: its name, the exact one, the estimate.
type Pair = (String, f64, Estimated);

fn simulated(program: &Program, question: &Question, engine: EngineChoice) -> Option<Samples> {
    let ensemble =
        Ensemble { replications: REPLICATIONS, engine, backend: Backend::Cpu, seed: 5, ..Ensemble::default() };
    match run(program, question, &ensemble, &Unwatched) {
        Ok(run) => Some(run.samples),
        Err(RunError::Engine { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Time averages of tokens and throughputs between the warm-up and the horizon.
fn averages(program: &Program, engine: EngineChoice) -> Vec<Pair> {
    let question = Question {
        goal: Goal::Horizon,
        horizon: Some(HORIZON),
        warm_up: WARM_UP,
        tokens: true,
        throughput: true,
        ..Question::default()
    };
    let Some(samples) = simulated(program, &question, engine) else { return Vec::new() };
    let space = explore(program, None, &Limits::default(), &Unwatched).unwrap();
    let chain = space.complete().unwrap();
    let at = transient(chain, &[WARM_UP, HORIZON], &TransientSettings::default()).unwrap();
    let stays = at.stays[1].iter().zip(&at.stays[0]);
    let shares: Vec<f64> = stays.map(|(end, begin)| (end - begin) / (HORIZON - WARM_UP)).collect();
    let exact = space.averages(program, &shares).unwrap();
    let names = program.place_names.iter().chain(&program.transition_names).cloned();
    let exact = exact.tokens.into_iter().chain(exact.throughputs);
    let found = samples.tokens.iter().chain(&samples.throughput).map(Estimated::of);
    names.zip(exact).zip(found).map(|((name, exact), found)| (name, exact, found)).collect()
}

/// The chance that the last place has two tokens more than at the start before the horizon.
fn arrival(net: &Net, program: &Program, engine: EngineChoice) -> Option<Pair> {
    let last = net.places().len() - 1;
    let text = format!("#(p{last}) >= {}", net.places()[last].initial[0] + 2);
    let goal = lower(net, &net.expression(&text).unwrap());
    let question = Question { goal: Goal::Marking(goal.clone()), horizon: Some(HORIZON), ..Question::default() };
    let samples = simulated(program, &question, engine)?;
    let space = explore(program, Some(&goal), &Limits::default(), &Unwatched).unwrap();
    let mut targets = vec![false; space.states()];
    space.goals().iter().for_each(|&state| targets[state as usize] = true);
    // no such marking can be reached
    let exact = match passage(space.complete().unwrap(), &targets, &PassageSettings::default()) {
        Ok(mut time) => time.cdf(HORIZON).unwrap(),
        Err(_) => 0.0,
    };
    let share = samples.ended(Ending::Goal) as f64 / REPLICATIONS as f64;
    let error = (exact * (1.0 - exact) / REPLICATIONS as f64).sqrt();
    Some((text, exact, Estimated { value: share, error }))
}

fn random_nets(count: usize) -> Vec<RandomNet> {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(0x5eed_0004), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    (0..count).map(|_| balanced_net().new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn random_nets_have_their_exact_averages_and_arrivals_on_every_engine() {
    let (mut compared, mut sharp, mut moving) = ([0; 4], 0, 0);
    let mut wrong = Vec::new();
    for random in random_nets(48) {
        let net = random.build(1.0, "");
        let program = compile(&net).unwrap();
        for (at, (engine, name)) in ENGINES.into_iter().enumerate() {
            let pairs = averages(&program, engine).into_iter().chain(arrival(&net, &program, engine));
            for (what, exact, found) in pairs {
                compared[at] += 1;
                sharp += u32::from(found.is_sharp(exact, 0.01, 0.05));
                moving += u32::from(found.error > 0.0);
                if !found.agrees_with(exact) {
                    wrong.push(format!("{name}: {what} is {found}, exactly {exact}, in {random:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // the two general engines answer everything, and most values are known to 1 % and do vary
    let [.., direct, clock] = compared;
    assert!(direct == clock && clock > 400, "{compared:?}");
    assert!(sharp > 850 && moving > 800, "{sharp} sharp and {moving} random ones of {compared:?}");
}
