//! Canonical markings: random symmetric nets whose replicas do not fold, with fixed seeds, compared with all their markings.

use tailspn_engine::compile::{Program, compile, lower};
use tailspn_engine::fold::{Keep, Symmetry, fold_markings};
use tailspn_engine::net::{ArcKind, Net, NetBuilder, PlaceId, Timing, TokenClass};
use tailspn_engine::watch::Unwatched;
use tailspn_exact::solve::{
    Averages, Limits, PassageSettings, StateSpace, TransientSettings, explore, explore_canonical, passage, replay,
    transient,
};

use super::{Dice, Odd, Symmetric, local_markings};

/// Most markings of a net.
const MOST: u64 = 8000;

/// Adds to the first transition of each replica a test arc whose weight depends on a shared place: then no replica folds.
fn with_varying_weights(net: &Net, replicas: usize) -> Net {
    let mut b = net.to_builder();
    for r in 0..replicas {
        let id = |name: &str| format!("{name}x{r}");
        let (Some(t), Some(place)) = (net.find_transition(&id("t0")), net.find_place(&id("p0"))) else { continue };
        let weight = b.expression("if(#(s0) > 0, 1, 0)").unwrap();
        let arc = b.test(place, t, weight);
        b.arc_mut(arc).id = format!("varying{r}");
    }
    b.build().unwrap()
}

fn both(net: &Net, symmetry: &Symmetry, goal: Option<&str>) -> Option<(Program, [StateSpace; 2])> {
    let mut program = compile(net).ok()?;
    let goal = goal.map(|goal| lower(net, &net.expression(goal).unwrap()));
    if let Some(goal) = &goal {
        program = program.observing(goal);
    }
    let limits = Limits { states: MOST, ..Limits::default() };
    let all = explore(&program, goal.as_ref(), &limits, &Unwatched).ok()?;
    all.complete().ok()?;
    let sorted = explore_canonical(&program, goal.as_ref(), symmetry, &limits, &Unwatched).unwrap();
    Some((program, [all, sorted]))
}

fn averages(program: &Program, space: &StateSpace) -> Option<Vec<Averages>> {
    let found = transient(space.complete().unwrap(), &[0.4, 2.5], &TransientSettings::default()).ok()?;
    Some(found.probabilities.iter().map(|p| space.averages(program, p).unwrap()).collect())
}

/// Tokens, firings, counts, bounds and verdicts; returns the numbers of states.
fn compare(net: &Net, symmetry: &Symmetry, label: &str) -> Option<[usize; 2]> {
    let (program, [all, sorted]) = both(net, symmetry, None)?;
    let near = |a: f64, b: f64, what: &str| {
        assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{label}: {what}: {a} and {b}");
    };
    for (a, b) in averages(&program, &all)?.iter().zip(&averages(&program, &sorted)?) {
        a.tokens.iter().zip(&b.tokens).for_each(|(a, b)| near(*a, *b, "tokens"));
        a.throughputs.iter().zip(&b.throughputs).for_each(|(a, b)| near(*a, *b, "firings"));
        a.distributions.iter().flatten().zip(b.distributions.iter().flatten()).for_each(|(a, b)| near(*a, *b, "share"));
    }
    let count = |states: &mut dyn Iterator<Item = usize>| states.map(|state| sorted.orbit(state)).sum::<f64>();
    near(all.states() as f64, count(&mut (0..sorted.states())), "markings");
    near(all.dead().len() as f64, count(&mut sorted.dead().iter().map(|&state| state as usize)), "dead");
    let tokens = |space: &StateSpace| space.peaks().iter().map(|peak| peak.tokens).collect::<Vec<_>>();
    assert_eq!(tokens(&all), tokens(&sorted), "{label}: bounds");
    for (place, peak) in sorted.peaks().iter().enumerate() {
        let mut marking = program.initial.clone();
        let path = sorted.path_to_peak(&program, place).unwrap();
        replay(&program, &path, &mut marking).unwrap_or_else(|error| panic!("{label}: {error}"));
        assert_eq!(program.tokens_in(place, &marking), peak.tokens, "{label}: place {place}");
    }
    for state in [sorted.states() / 2, sorted.states() - 1] {
        let mut marking = program.initial.clone();
        replay(&program, &sorted.path_to(&program, state as u32).unwrap(), &mut marking).unwrap();
        let mut own = program.initial.clone();
        sorted.marking(state, &mut own);
        assert_eq!(marking, own, "{label}: state {state}");
    }
    let [a, b] = [&all, &sorted].map(|space| space.verdicts(&program).unwrap().unwrap());
    assert!(a.reversible || !b.reversible, "{label}: reversible");
    if b.reversible {
        assert_eq!(a.liveness, b.liveness, "{label}");
    } else {
        // exchangeable parts may be live together without being live alone
        let least = a.liveness.iter().zip(&b.liveness).all(|(a, b)| a.level() == b.level() || b.level() == 4);
        assert!(least, "{label}: {:?} {:?}", a.liveness, b.liveness);
    }
    Some([all.states(), sorted.states()])
}

/// The time until a number of tokens are in one place of each replica, all together.
fn compare_passage(net: &Net, places: &[String], label: &str) {
    let sum = places.iter().map(|place| format!("#({place})")).collect::<Vec<_>>().join(" + ");
    let goal = format!("{sum} >= 2");
    let keep = Keep { expressions: vec![net.expression(&goal).unwrap()], ..Keep::default() };
    let symmetry = Symmetry::of(net, &keep);
    assert!(!symmetry.is_empty(), "{label}: {goal}");
    let Some((_, spaces)) = both(net, &symmetry, Some(&goal)) else { return };
    let found = spaces.each_ref().map(|space| {
        let targets = space.marked(space.goals());
        let time = passage(space.complete().unwrap(), &targets, &PassageSettings::default()).unwrap();
        (time.probability(), time.moments_if_reached().ok().map(|moments| [moments.mean, moments.variance]))
    });
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{label}: {goal}: {found:?}");
    near(found[0].0, found[1].0);
    match (&found[0].1, &found[1].1) {
        (Some(a), Some(b)) => a.iter().zip(b).for_each(|(a, b)| near(*a, *b)),
        (a, b) => assert_eq!(a.is_some(), b.is_some(), "{label}"),
    }
}

fn places(replicas: usize, place: usize) -> Vec<String> {
    (0..replicas).map(|r| format!("p{place}x{r}")).collect()
}

/// Number of parts in the largest class.
fn largest(symmetry: &Symmetry) -> usize {
    symmetry.classes().iter().map(|class| class.places.len()).max().unwrap_or(0)
}

#[test]
fn state_machines_with_varying_weights_have_canonical_markings() {
    let mut dice = Dice(2040);
    let (mut compared, mut tried, mut saved) = (0, 0, [0, 0]);
    while compared < 180 {
        tried += 1;
        assert!(tried < 4000, "only {compared} of {tried}");
        let symmetric = super::random(&mut dice);
        let net = with_varying_weights(&super::build(&symmetric, Odd::Nothing), symmetric.replicas);
        let label = format!("net {tried}: {symmetric:?}");
        let symmetry = Symmetry::of(&net, &Keep::default());
        if fold_markings(&net, &Keep::default()).is_folded() || largest(&symmetry) != symmetric.replicas {
            continue;
        }
        let Some([all, sorted]) = compare(&net, &symmetry, &label) else { continue };
        compare_passage(&net, &places(symmetric.replicas, 0), &label);
        if sorted < all {
            compared += 1;
            saved = [saved[0] + all, saved[1] + sorted];
        }
    }
    println!("{compared} of {tried}, states {saved:?}");
    assert!(saved[1] * 2 < saved[0], "{saved:?}");
}

#[test]
fn replicas_of_several_tokens_have_canonical_markings() {
    let mut dice = Dice(2041);
    let (mut compared, mut tried, mut saved) = (0, 0, [0, 0]);
    while compared < 140 {
        tried += 1;
        assert!(tried < 20_000, "only {compared} of {tried}");
        let (net, replicas, text) = local_markings::random_net(&mut dice);
        let net = with_varying_weights(&net, replicas);
        let label = format!("net {tried}: {text}");
        let symmetry = Symmetry::of(&net, &Keep::default());
        if fold_markings(&net, &Keep::default()).is_folded() || largest(&symmetry) != replicas {
            continue;
        }
        let Some([all, sorted]) = compare(&net, &symmetry, &label) else { continue };
        compare_passage(&net, &places(replicas, 0), &label);
        if sorted < all {
            compared += 1;
            saved = [saved[0] + all, saved[1] + sorted];
        }
    }
    println!("{compared} of {tried}, states {saved:?}");
}

/// Two queues of more than 50 markings each, with batches, around a shared server that may be away.
#[test]
fn parts_with_many_markings_have_canonical_markings() {
    let mut dice = Dice(2042);
    let mut compared = 0;
    for tried in 0..60 {
        let mut b = NetBuilder::new("queues");
        let (here, away) = (b.place("here", 1), b.place("away", 0));
        for (name, from, to) in [("leave", here, away), ("return", away, here)] {
            let t = b.transition(name, Timing::exponential(0.5 + dice.below(4) as f64));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let (capacity, start, batch) = (51 + dice.below(8) as u32, dice.below(4) as u32, 1 + dice.below(3));
        let rates = [0.3, 1.0].map(|least| least + dice.below(10) as f64 / 4.0);
        let weights = dice.chance(50);
        for i in 0..2 {
            let queue = b.place(format!("p0x{i}"), start);
            b.place_mut(queue).capacity = Some(capacity);
            let arrive = b.transition(format!("arrive{i}"), Timing::exponential(rates[0]));
            b.output(arrive, queue, batch as f64);
            let serve = b.transition(format!("serve{i}"), Timing::exponential(rates[1]));
            let number = if weights { format!("max(min(#(p0x{i}), 3), 1)") } else { "1".to_owned() };
            let number = b.expression(&number).unwrap();
            b.input(queue, serve, number);
            b.test(here, serve, 1.0);
        }
        let net = b.build().unwrap();
        let folding = fold_markings(&net, &Keep::default());
        // batches may leave few markings
        if folding.is_folded() {
            continue;
        }
        assert!(folding.obstacles().iter().any(|obstacle| obstacle.parts == 2), "{folding:?}");
        let symmetry = Symmetry::of(&net, &Keep::default());
        let label = format!("net {tried}");
        if let Some([all, sorted]) = compare(&net, &symmetry, &label) {
            assert!(sorted * 10 < all * 6, "{label}: {sorted} of {all}");
            compare_passage(&net, &places(2, 0), &label);
            compared += 1;
        }
    }
    assert!(compared >= 30, "{compared}");
}

/// An odd rate, token or arc of the first replica, an odd weight of its second arc: it stays out, and the others have canonical markings.
#[test]
fn an_odd_replica_is_never_exchanged() {
    let mut dice = Dice(2043);
    let (mut compared, mut tried) = ([0; 4], 0);
    while compared.iter().sum::<usize>() < 120 {
        tried += 1;
        assert!(tried < 8000, "only {compared:?} of {tried}");
        let symmetric = Symmetric { replicas: 3, ..super::random(&mut dice) };
        let kind = tried % 4;
        let odd = [Odd::Rate, Odd::Token, Odd::Arc, Odd::Nothing][kind];
        let mut net = with_varying_weights(&super::build(&symmetric, odd), 3);
        if odd == Odd::Nothing {
            // the weight of the arc alone
            let mut b = net.to_builder();
            let first = net.find_transition("t0x0").unwrap();
            let is_test = |arc: &tailspn_engine::net::Arc| arc.transition == first && arc.kind == ArcKind::Test;
            let position = net.arcs().iter().rposition(is_test).unwrap();
            let weight = b.expression("if(#(s0) > 1, 1, 0)").unwrap();
            b.arc_mut(position).weights[0].weight = weight;
            net = b.build().unwrap();
        }
        let symmetry = Symmetry::of(&net, &Keep::default());
        let own: Vec<PlaceId> = places(1, 0).iter().map(|name| net.find_place(name).unwrap()).collect();
        if (odd == Odd::Token && symmetric.begins) || fold_markings(&net, &Keep::default()).is_folded() {
            continue;
        }
        let is_own =
            symmetry.classes().iter().any(|class| class.places.iter().flatten().any(|place| own.contains(place)));
        assert!(!is_own, "net {tried}, {odd:?}: {symmetric:?}");
        if largest(&symmetry) == 2
            && compare(&net, &symmetry, &format!("net {tried}, {odd:?}: {symmetric:?}")).is_some()
        {
            compared[kind] += 1;
        }
    }
    assert!(compared.iter().all(|&n| n > 15), "{compared:?}");
}

/// Three parts in which red and other tokens move on their own, and compete for a shared place.
#[test]
fn parts_of_several_token_classes_have_canonical_markings() {
    let net = |odd: bool| {
        let mut b = NetBuilder::new("colours");
        let red = b.add_class(TokenClass { id: "red".into(), enabled: true, colour: [255, 0, 0] });
        let shared = b.place("shared", 2);
        for i in 0..3 {
            let own = [0, 1].map(|p| b.place(format!("p{p}x{i}"), 1));
            b.place_mut(own[0]).initial = vec![1, if odd && i == 0 { 2 } else { 1 }];
            b.place_mut(own[1]).initial = vec![0, 1];
            for (name, class, from, rate) in [
                ("go", None, 0, 1.0),
                ("back", None, 1, 2.0),
                ("go red", Some(red), 0, 0.7),
                ("back red", Some(red), 1, 0.4),
            ] {
                let t = b.transition(format!("{name}{i}"), Timing::exponential(rate));
                let arcs = [b.input(own[from], t, 1.0), b.output(t, own[1 - from], 1.0)];
                match class {
                    Some(class) => arcs.into_iter().for_each(|arc| b.arc_mut(arc).weights[0].class = class),
                    None if from == 0 => _ = b.input(shared, t, 1.0),
                    None => _ = b.output(t, shared, 1.0),
                }
            }
        }
        b.build().unwrap()
    };
    for (odd, parts) in [(false, 3), (true, 2)] {
        let net = net(odd);
        assert!(!fold_markings(&net, &Keep::default()).is_folded());
        let symmetry = Symmetry::of(&net, &Keep::default());
        assert_eq!(largest(&symmetry), parts);
        let [all, sorted] = compare(&net, &symmetry, "colours").unwrap();
        assert!(sorted * 3 < all * 2, "{sorted} of {all}");
    }
}

/// Three rings of three places with a token each, and a place that all of them fill.
fn rings(odd: &str) -> Net {
    let mut b = NetBuilder::new("rings");
    let done = b.place("done", 0);
    for i in 0..3 {
        let first = i == 0;
        let places: Vec<PlaceId> = (0..3)
            .map(|p| b.place(format!("p{p}x{i}"), u32::from(p == 0) + u32::from(first && p == 1 && odd == "token")))
            .collect();
        for p in 0..3 {
            let rate = if first && p == 1 && odd == "rate" { 1.5 } else { 1.0 };
            let t = b.transition(format!("t{p}x{i}"), Timing::exponential(rate));
            b.input(places[p], t, 1.0);
            b.output(t, places[(p + 1) % 3], if first && p == 1 && odd == "arc" { 2.0 } else { 1.0 });
            if p == 2 {
                b.output(t, done, 1.0);
            }
        }
        if first && odd == "capacity" {
            b.place_mut(places[2]).capacity = Some(4);
        }
    }
    b.build().unwrap()
}

#[test]
fn equal_parts_may_be_exchanged_and_an_odd_one_stays_out() {
    let parts = |odd: &str| {
        let found = Symmetry::of(&rings(odd), &Keep::default());
        found.classes().iter().map(|class| class.places.len()).collect::<Vec<_>>()
    };
    assert_eq!(parts(""), [3]);
    for odd in ["token", "rate", "arc", "capacity"] {
        assert_eq!(parts(odd), [2], "{odd}");
    }
}

#[test]
fn a_part_named_in_a_question_is_not_exchanged() {
    let net = rings("");
    let parts = |question: &str| {
        let keep = Keep { expressions: vec![net.expression(question).unwrap()], ..Keep::default() };
        Symmetry::of(&net, &keep).classes().iter().map(|class| class.places.len()).collect::<Vec<_>>()
    };
    assert_eq!(parts("#(p1x1) >= 2"), [2]);
    assert_eq!(parts("#(p1x0) + #(p1x1) + #(p1x2) >= 2"), [3]);
    assert_eq!(parts("#(p1x0) + #(p1x1) - #(p1x2) >= 2"), [2]);
    // a pairing that no exchange of whole parts leaves as it is
    assert_eq!(parts("#(p0x0) * #(p1x1) + #(p0x1) * #(p1x2) + #(p0x2) * #(p1x0) > 0"), [] as [usize; 0]);
}

/// Each part has two equal servers of its own: the order of these must not matter.
#[test]
fn parts_with_a_symmetry_of_their_own_are_exchanged_as_a_whole() {
    let mut b = NetBuilder::new("stations");
    for i in 0..3 {
        let queue = b.place(format!("queue{i}"), 2);
        for s in 0..2 {
            let [idle, busy] = [("idle", 1), ("busy", 0)].map(|(name, n)| b.place(format!("{name}{i}x{s}"), n));
            let start = b.transition(format!("start{i}x{s}"), Timing::exponential(1.0));
            b.input(queue, start, 1.0);
            b.input(idle, start, 1.0);
            b.output(start, busy, 1.0);
            let end = b.transition(format!("end{i}x{s}"), Timing::exponential(2.0));
            b.input(busy, end, 1.0);
            b.output(end, idle, 1.0);
            b.output(end, queue, 1.0);
        }
    }
    let found = Symmetry::of(&b.build().unwrap(), &Keep::default());
    assert_eq!(found.classes().len(), 1);
    assert_eq!((found.classes()[0].places.len(), found.classes()[0].places[0].len()), (3, 5));
}
