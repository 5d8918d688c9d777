//! Random nets written for other tools and read back: every reachable marking has the same firings with the same rates.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use tailspn::compile::{Program, compile};
use tailspn::formats::pipe::ReadOptions;
use tailspn::formats::{greatspn, jani};
use tailspn::net::Net;
use tailspn::semantics::{fire, is_enabled, rate};

use crate::random_net::{RandomNet, any_net};

/// Markings of a net that are compared.
const MARKINGS: usize = 200;

/// Total rate from a marking to each other marking.
fn leaving(program: &Program, marking: &[u32]) -> BTreeMap<Vec<u32>, f64> {
    let mut rates = BTreeMap::new();
    for t in 0..program.transitions() {
        if !is_enabled(program, t, marking).unwrap() {
            continue;
        }
        let (mut next, rate) = (marking.to_vec(), rate(program, t, marking).unwrap());
        fire(program, t, &mut next).unwrap();
        if next != marking && rate > 0.0 {
            *rates.entry(next).or_insert(0.0) += rate;
        }
    }
    rates
}

/// Compares the firings of two nets in up to [`MARKINGS`] reachable markings.
fn compare(net: &Net, other: &Net, text: &str) {
    let (program, other) = (compile(net).unwrap(), compile(other).unwrap());
    let first = program.initial.clone();
    assert_eq!(first, other.initial, "{text}");
    let (mut found, mut waiting) = (BTreeSet::from([first.clone()]), vec![first]);
    while let Some(marking) = waiting.pop() {
        let (one, two) = (leaving(&program, &marking), leaving(&other, &marking));
        let same =
            one.len() == two.len() && one.iter().zip(&two).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() <= 1e-12 * a.1);
        assert!(same, "from {marking:?}: {one:?}, not {two:?}\n{text}");
        for next in one.into_keys() {
            if found.len() < MARKINGS && found.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
}

/// Runs `test` on nets of timed transitions in which every place has a capacity.
fn for_random_nets(test: impl Fn(&Net) -> bool) -> u32 {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(0x5eed_0047),
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let tested = std::cell::Cell::new(0);
    let bounded = any_net().prop_map(|mut net: RandomNet| {
        for place in &mut net.places {
            place.capacity = place.capacity.or(Some(place.tokens + 3));
        }
        net.transitions.iter_mut().for_each(|t| t.immediate = None);
        net
    });
    let ran = TestRunner::new(config).run(&bounded, |net| {
        tested.set(tested.get() + u32::from(test(&net.build(1.0, ""))));
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
    tested.get()
}

#[test]
fn jani_keeps_the_rates_of_random_nets() {
    let tested = for_random_nets(|net| {
        let text = jani::write(net, &[]).unwrap();
        let model = jani::read(text.as_bytes(), &ReadOptions::default());
        let model = model.unwrap_or_else(|error| panic!("{error}\n{text}"));
        compare(net, &model.net, &text);
        true
    });
    assert_eq!(tested, 300);
}

#[test]
fn greatspn_keeps_the_rates_of_random_nets() {
    let tested = for_random_nets(|net| {
        let Ok(written) = greatspn::write(net) else { return false };
        let read = greatspn::read_project(written.xml.as_bytes(), &ReadOptions::default());
        let read = read.unwrap_or_else(|error| panic!("{error}\n{}", written.xml));
        compare(net, &read.net, &written.xml);
        true
    });
    assert!(tested >= 100, "{tested} nets");
}
