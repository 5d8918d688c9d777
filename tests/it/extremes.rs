//! The ends of the numbers: very small and very large rates and weights, very different ones, and very many tokens. Simulations are
//! right within their interval, exact answers to twelve digits, or both are refused by name.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use tailspn::answer::Solve as _;
use tailspn::ask::RunSettings;
use tailspn::ask::net::answer_queries;
use tailspn::compile::compile;
use tailspn::net::{Net, NetBuilder, Servers, Timing};
use tailspn::semantics::Fault;
use tailspn::sim::{
    Backend, BatchLength, Ending, EngineChoice, Ensemble, Goal, Question, RunError, SteadyError, SteadyState,
    Unwatched, run, run_steady,
};
use tailspn::solve::CslQuery;

use crate::measure::ENGINES;

const REPLICATIONS: u64 = 4_000;

/// A choice between places by weights or rates, after a delay at rate 1 if `is_late`.
#[derive(Clone, Debug)]
struct Race {
    rates: Vec<f64>,
    is_immediate: bool,
    is_late: bool,
    tokens: u32,
}

impl Race {
    fn build(&self) -> Net {
        let mut b = NetBuilder::new("race");
        let start = b.place("start", 1);
        let source = if self.is_late { b.place("source", 0) } else { start };
        if self.is_late {
            let t = b.transition("wait", Timing::exponential(1.0));
            b.input(start, t, 1.0);
            b.output(t, source, 1.0);
        }
        // tokens that every race needs and none takes
        let crowd = b.place("crowd", self.tokens);
        for (i, &rate) in self.rates.iter().enumerate() {
            let timing = if self.is_immediate { Timing::immediate(rate, 1) } else { Timing::exponential(rate) };
            let t = b.transition(format!("t{i}"), timing);
            let end = b.place(format!("p{i}"), 0);
            b.input(source, t, 1.0);
            b.output(t, end, 1.0);
            b.input(crowd, t, 1.0);
            b.output(t, crowd, 1.0);
        }
        b.build().unwrap()
    }

    /// The share of the first transition. The largest rate is 1, so that the sum is finite.
    fn share(&self) -> f64 {
        let largest = self.rates.iter().copied().fold(0.0, f64::max);
        self.rates[0] / largest / self.rates.iter().map(|rate| rate / largest).sum::<f64>()
    }
}

fn races() -> impl Strategy<Value = Race> {
    let size = -307.0..307.0_f64;
    // rates near one size, so that the shares are neither 0 nor 1, or of any size
    let near =
        (size.clone(), prop::collection::vec(-1.0..1.0_f64, 2..21)).prop_map(|(size, parts): (f64, Vec<f64>)| {
            parts.iter().map(|part| 10_f64.powf((size + part).clamp(-307.0, 307.0))).collect()
        });
    let far = prop::collection::vec(size.prop_map(|size: f64| 10_f64.powf(size)), 2..4);
    let tokens = prop_oneof![Just(1), Just(u32::MAX)];
    (prop_oneof![3 => near, 1 => far], any::<bool>(), any::<bool>(), tokens)
        .prop_map(|(rates, is_immediate, is_late, tokens)| Race { rates, is_immediate, is_late, tokens })
}

/// Share of the runs that end in the first place; none if an engine that was chosen cannot run the net, or if the simulation is
/// refused by name.
fn simulated(net: &Net, engine: EngineChoice) -> Option<f64> {
    let goal = Goal::marking(net, "#(p0) == 1").unwrap();
    let question = Question { goal, ..Question::default() };
    let ensemble =
        Ensemble { replications: REPLICATIONS, engine, backend: Backend::Cpu, seed: 3, ..Ensemble::default() };
    match run(&compile(net).unwrap(), &question, &ensemble, &Unwatched) {
        Ok(run) => Some(run.samples.ended(Ending::Goal) as f64 / REPLICATIONS as f64),
        Err(RunError::Engine { .. }) if engine != EngineChoice::Auto => None,
        // this limit belongs to the time of a run, not to a transition
        Err(RunError::Fault(Fault::PastTheClock { .. })) => None,
        Err(RunError::Fault(fault @ (Fault::BeyondClocks { .. } | Fault::ShortDelays { .. }))) => {
            assert_named(net, &fault.to_string());
            None
        }
        Err(error) => panic!("{error}: {net:?}"),
    }
}

/// A refusal names a transition of the net, and a limit.
fn assert_named(net: &Net, reason: &str) {
    let named = net.transitions().iter().any(|t| reason.contains(&format!("`{}`", t.id)));
    assert!(named && reason.contains(" s"), "{reason}: {net:?}");
}

/// The answers of `net solve` and `net query` to the same question; none if both are refused by name.
fn solved(net: &Net) -> Option<[f64; 2]> {
    let by_states = net.solution().until("#(p0) == 1").unwrap().probability_between(0.0, f64::INFINITY);
    let query = CslQuery::parse(net, "P=? [ F #(p0) = 1 ]").unwrap();
    let by_query = answer_queries(net, &[query], &RunSettings::default(), &Unwatched);
    let by_query = by_query.map(|report| report.queries[0].clone());
    match (by_states, by_query) {
        (Ok(states), Ok(row)) => Some([states, row.value.unwrap_or_else(|| panic!("{:?}: {net:?}", row.note))]),
        (Err(states), Err(query)) => {
            [states, query].iter().for_each(|error| assert_named(net, &error.to_string()));
            None
        }
        (states, query) => panic!("{states:?} and {query:?}: {net:?}"),
    }
}

/// Seen to fail with a scale of weights that is not a number, and with weights that are rounded next to larger ones.
#[test]
fn races_of_any_size_have_their_shares_or_are_refused() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(0x5eed_0017), ..ProptestConfig::default() };
    let (mut runner, races) = (TestRunner::new(config), races());
    let (mut known, mut refused, mut exact) = (0, 0, 0);
    for _ in 0..300 {
        let race = races.new_tree(&mut runner).unwrap().current();
        let (net, share) = (race.build(), race.share());
        if let Some(found) = solved(&net) {
            exact += 1;
            assert!(
                found.iter().all(|p| (p / share - 1.0).abs() < 1e-12 || share < 1e-290),
                "{found:?}, not {share}: {race:?}"
            );
        }
        let engines = [(EngineChoice::Auto, "auto")].into_iter().chain(ENGINES);
        for (engine, name) in engines {
            let Some(found) = simulated(&net, engine) else {
                refused += u32::from(name == "auto");
                continue;
            };
            known += u32::from(name == "auto");
            let error = (share * (1.0 - share) / REPLICATIONS as f64).sqrt();
            assert!((found - share).abs() <= 5.0 * error + 1e-4, "{name}: {found}, not {share}: {race:?}");
        }
    }
    assert!(known > 200 && refused < 90 && exact > 285, "{known} {refused} {exact}");
}

/// A machine that fails and is mended, at any two rates: the share of time in which it works. Seen to fail with intervals of
/// shares that no run saw.
#[test]
fn shares_of_time_of_any_two_rates_are_right_or_refused() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(0x5eed_0055), ..ProptestConfig::default() };
    let size = || -307.0..307.0_f64;
    let near = (size(), -2.0..2.0_f64).prop_map(|(size, more)| [size, (size + more).clamp(-307.0, 307.0)]);
    let far = (size(), size()).prop_map(|(fail, mend)| [fail, mend]);
    let (mut runner, sizes) = (TestRunner::new(config), prop_oneof![2 => near, 1 => far]);
    let (mut known, mut exact) = (0, 0);
    for seed in 0..120 {
        let rates = sizes.new_tree(&mut runner).unwrap().current().map(|size| 10_f64.powf(size));
        let [fail, mend] = rates;
        let mut b = NetBuilder::new("machine");
        let (up, down) = (b.place("up", 1), b.place("down", 0));
        for (id, from, to, rate) in [("fail", up, down, fail), ("mend", down, up, mend)] {
            let t = b.transition(id, Timing::exponential(rate));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let net = b.build().unwrap();
        let shares = [("up", 1.0 / (1.0 + fail / mend)), ("down", 1.0 / (1.0 + mend / fail))];
        match net.solution().steady_state() {
            Ok(found) => {
                exact += 1;
                for (place, share) in shares.iter().filter(|(_, share)| *share > 1e-290) {
                    let mean = found.tokens(*place).unwrap();
                    assert!((mean / share - 1.0).abs() < 1e-12, "{place}: {mean}, not {share}: {rates:?}");
                }
            }
            Err(error) => assert_named(&net, &error.to_string()),
        }
        let found = match net.steady_state().firings(40_000).seed(seed).run() {
            Ok(found) => found,
            Err(error) => {
                assert_named(&net, &error.to_string());
                continue;
            }
        };
        known += 1;
        for (place, share) in shares {
            let mean = found.tokens(place).unwrap();
            let Some([low, high]) = mean.ends() else { continue };
            // twice the interval: no case of a hundred and twenty is outside by chance
            let room = high - low + 1e-12 * share;
            assert!((low - room..=high + room).contains(&share), "{place}: {mean:?}, not {share}: {rates:?}");
        }
    }
    assert!(known > 60 && exact > 100, "{known} {exact}");
}

/// A large weight that is not enabled leaves the ratio of small ones. Seen to fail with integer weights that include all
/// transitions of a group.
#[test]
fn small_weights_keep_their_ratio_next_to_a_large_one() {
    let mut b = NetBuilder::new("weights");
    let (source, other) = (b.place("source", 1), b.place("other", 0));
    for (i, weight) in [3e-12, 1e-12, 1.0].into_iter().enumerate() {
        let t = b.transition(format!("t{i}"), Timing::immediate(weight, 1));
        let end = b.place(format!("p{i}"), 0);
        b.input(source, t, 1.0);
        b.output(t, end, 1.0);
        if i == 2 {
            b.input(other, t, 1.0);
        }
    }
    let net = b.build().unwrap();
    for (engine, name) in ENGINES {
        let Some(found) = simulated(&net, engine) else { continue };
        assert!((found - 0.75).abs() < 0.04, "{name}: {found}");
    }
}

/// Repairs of 1e-9 s every 1e9 s: a share of time of 1e-18, which averages over time do not see.
#[test]
fn shares_of_time_below_the_clock_are_refused() {
    let mut b = NetBuilder::new("stiff");
    let (up, down) = (b.place("up", 1), b.place("down", 0));
    for (id, from, to, rate) in [("fail", up, down, 1e-9), ("mend", down, up, 1e9)] {
        let t = b.transition(id, Timing::exponential(rate));
        b.input(from, t, 1.0);
        b.output(t, to, 1.0);
    }
    let net = b.build().unwrap();
    let settings = SteadyState::new(BatchLength::Firings(1_000));
    let error = run_steady(&compile(&net).unwrap(), &settings, &Unwatched).unwrap_err();
    let is_of_mend = |fault: &Fault| matches!(fault, Fault::ShortDelays { transition, .. } if transition == "mend");
    assert!(matches!(&error, SteadyError::Fault(fault) if is_of_mend(fault)), "{error}");
    let question = Question { goal: Goal::Horizon, horizon: Some(1e10), tokens: true, ..Question::default() };
    let error = run(&compile(&net).unwrap(), &question, &Ensemble::default(), &Unwatched).unwrap_err();
    assert!(matches!(&error, RunError::Fault(fault) if is_of_mend(fault)), "{error}");
}

/// 2^32 - 1 tokens with a server each.
#[test]
fn every_token_has_its_server() {
    let mut b = NetBuilder::new("crowd");
    let (crowd, end) = (b.place("crowd", u32::MAX), b.place("p0", 0));
    let slow = b.place("slow", 1);
    let t = b.transition("t", Timing::exponential(1.0));
    b.input(crowd, t, 1.0);
    b.output(t, end, 1.0);
    let Timing::Timed { servers, .. } = &mut b.transition_mut(t).timing else { unreachable!() };
    *servers = Servers::Infinite;
    let t = b.transition("late", Timing::exponential(4_294_967_295.0));
    let other = b.place("p1", 0);
    b.input(slow, t, 1.0);
    b.output(t, other, 1.0);
    let net = b.build().unwrap();
    let goal = Goal::marking(&net, "#(p0) + #(p1) > 0").unwrap();
    let question = Question { goal, throughput: false, ..Question::default() };
    for (engine, name) in ENGINES {
        let ensemble =
            Ensemble { replications: REPLICATIONS, engine, backend: Backend::Cpu, seed: 3, ..Ensemble::default() };
        let Ok(found) = run(&compile(&net).unwrap(), &question, &ensemble, &Unwatched) else { continue };
        // the first of two at 2^32 per second each
        let mean = found.samples.passage.mean_ticks().unwrap() * found.samples.clock.tick() * 2.0 * 4_294_967_295.0;
        assert!((mean - 1.0).abs() < 0.1, "{name}: {mean}");
    }
}
