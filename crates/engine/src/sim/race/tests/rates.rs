//! Tests that rates updated on each firing equal newly evaluated rates, bit for bit.

use proptest::prelude::*;

use super::*;
use crate::compile::{Code, lower, lower_reward};
use crate::net::{ArcKind, Net};
use crate::sim::Reward;
use crate::sim::race::{Observer, RunningRates};
use crate::watch::Unwatched;

/// Compares the rates at each passing of time.
struct Comparison {
    rates: RunningRates,
    codes: Vec<Code>,
    compared: u64,
}

impl Observer for Comparison {
    fn begin(&mut self) {
        self.rates.begin();
    }

    fn pass(&mut self, marking: &[u32], _: u64, _: u64) {
        let Self { rates, codes, compared } = self;
        rates.for_each(marking, |r, rate| {
            assert_eq!(rate.to_bits(), codes[r].eval(marking).to_bits(), "rate {r} in {marking:?}: {rate}");
            *compared += 1;
        });
    }

    fn fires(&mut self, t: u32, _: &[u32], _: u64) {
        self.rates.fires(t);
    }
}

const PLACES: usize = 6;

/// An arc: true if it produces tokens, its place, its weight, and a place of whose tokens a third is added to the weight.
type RandomArc = (bool, usize, u32, Option<usize>);

fn net(transitions: &[(bool, Vec<RandomArc>)]) -> Net {
    let mut b = NetBuilder::new("random");
    let places: Vec<_> = (0..PLACES).map(|i| b.place(format!("p{i}"), 3 * i as u32)).collect();
    b.place_mut(places[1]).capacity = Some(7);
    for (i, (is_immediate, arcs)) in transitions.iter().enumerate() {
        let timing = if *is_immediate { Timing::immediate(1.0, 1) } else { Timing::exponential(1.0 + i as f64) };
        let t = b.transition(format!("t{i}"), timing);
        // immediate transitions only move tokens to higher places, so that their firings end
        if *is_immediate {
            b.input(places[i % 3], t, 1.0);
            b.output(t, places[3 + i % 3], 1.0);
            continue;
        }
        for (n, &(puts, place, weight, by)) in arcs.iter().enumerate() {
            let text = by.map_or(weight.to_string(), |by| format!("{weight} + floor(#(p{by}) / 3)"));
            let weight = b.expression(&text).unwrap();
            let kind = if puts { ArcKind::Output } else { ArcKind::Input };
            let arc = b.arc(kind, places[place], t, weight);
            b.arc_mut(arc).id = format!("a{i}.{n}");
        }
    }
    b.build().unwrap()
}

/// Coefficients, a few of which repeat.
fn coefficient() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(-1.0), Just(0.1), Just(-0.1), Just(3.0), Just(1e-17), -2.0..2.0]
}

/// A reward over linear sums, some of them within functions.
fn reward() -> impl Strategy<Value = String> {
    let term = (coefficient(), 0..PLACES).prop_map(|(c, p)| format!("{c:?} * #(p{p})"));
    let plain = (any::<bool>(), 0..PLACES).prop_map(|(plus, p)| format!("{} #(p{p})", if plus { "" } else { "0 -" }));
    let sum = prop::collection::vec(prop_oneof![term, plain], 1..9).prop_map(|terms| terms.join(" + "));
    let nested = (sum.clone(), sum.clone(), coefficient()).prop_map(|(a, b, c)| {
        format!("5 - {c:?} * min({a}, 4) - ({b}) + if({a} > {b}, 2 * ({b}), {c:?} / (7 - ({a})))")
    });
    prop_oneof![sum, nested]
}

fn arcs() -> impl Strategy<Value = Vec<RandomArc>> {
    prop::collection::vec((any::<bool>(), 0..PLACES, 1_u32..3, prop::option::weighted(0.2, 0..PLACES)), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn running_rates_equal_evaluated_ones_to_the_bit(
        transitions in prop::collection::vec((prop::bool::weighted(0.3), arcs()), 1..7),
        texts in prop::collection::vec(reward(), 1..5),
    ) {
        let net = net(&transitions);
        let program = compile(&net).unwrap();
        let codes: Vec<Code> = texts.iter().map(|text| lower_reward(&net, &net.expression(text).unwrap())).collect();
        let reward = |code: &Code| Reward { name: String::new(), rate: Some(code.clone()), impulses: Vec::new() };
        let rewards: Vec<Reward> = codes.iter().map(reward).collect();
        let question = Question { max_firings: Some(200), ..Question::default() };
        let clock = Clock::choose(&program, None);
        let setup = Setup { program: &program, question: &question, clock, key: KEY, keep_times: false, watch: &Unwatched };
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        let comparison = Comparison { rates: RunningRates::new(&program, &rewards), codes, compared: 0 };
        let done = ClockForm::new(setup).watch(comparison, 0, 4, &mut samples);
        // a weight may become too large; the comparisons before that count
        prop_assert!(done.map_or(true, |comparison| comparison.compared > 0));
    }

    #[test]
    fn grouping_changes_a_reward_by_rounding_only(
        text in reward(),
        marking in prop::collection::vec(0_u32..2000, PLACES),
    ) {
        let net = net(&[]);
        let expr = net.expression(&text).unwrap();
        let (plain, grouped) = (lower(&net, &expr).eval(&marking), lower_reward(&net, &expr).eval(&marking));
        // a sum of some dozen terms up to 2000 * 3; a quotient by the rounding of 0, and a comparison of near values, are free
        let is_smooth = !text.contains("if(");
        prop_assert!(!is_smooth || (plain - grouped).abs() <= 1e-10, "{plain} became {grouped}");
    }
}

#[test]
fn a_sum_has_each_coefficient_once() {
    let net = net(&[]);
    let terms = |text: &str| {
        let code = lower_reward(&net, &net.expression(text).unwrap());
        code.ops().iter().filter(|op| matches!(op, crate::compile::Op::Number(_))).count()
    };
    assert_eq!(terms("0.5 * #(p0) + 2 * #(p1) + 0.5 * #(p2) - 2 * #(p3) + 3 + 0.5 * #(p4) - 1"), 3);
    assert_eq!(terms("#(p0) + 0.5 * (#(p1) - #(p2)) - 0.5 * #(p3)"), 1);
}
