//! Folded nets compared with the original nets: random symmetric nets with fixed seeds, exactly.

use tailspn_engine::compile::compile;
use tailspn_engine::fold::{Folding, Keep, fold};
use tailspn_engine::net::{Net, NetBuilder, PlaceId, Servers, Timing};
use tailspn_engine::watch::Unwatched;
use tailspn_exact::solve::{Averages, Limits, TransientSettings, explore, transient};

#[path = "folding/canonical.rs"]
mod canonical;
#[path = "folding/local_markings.rs"]
mod local_markings;
#[path = "folding/phases.rs"]
mod phases;

/// A stream of random numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The effect of a transition of each replica on the shared place of this number.
#[derive(Clone, Copy, Debug)]
enum With {
    Take(usize),
    Give(usize),
    Inhibited(usize, u32),
    Needs(usize),
}

#[derive(Clone, Debug)]
struct LocalMove {
    from: usize,
    to: Option<usize>,
    /// Rate, or weight if it is immediate with this priority.
    rate: String,
    immediate: Option<u32>,
    servers: Servers,
    keeps: bool,
    with: Vec<With>,
}

/// Replicas of one state machine around some shared places.
#[derive(Clone, Debug)]
struct Symmetric {
    replicas: usize,
    places: usize,
    start: Option<usize>,
    /// Tokens and capacity.
    shared: Vec<(u32, Option<u32>)>,
    moves: Vec<LocalMove>,
    /// A transition that takes a token of every replica, and puts one into each.
    barrier: Option<(usize, usize)>,
    /// A transition that starts all replicas at once.
    begins: bool,
}

/// The difference of the first replica.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Odd {
    Nothing,
    Rate,
    Token,
    Arc,
}

fn random(dice: &mut Dice) -> Symmetric {
    let (places, shared) = (2 + dice.below(3), 1 + dice.below(3));
    let immediate_from = if dice.chance(40) { Some(1 + dice.below(places - 1)) } else { None };
    let one = |dice: &mut Dice, from: usize| {
        let immediate = (Some(from) == immediate_from).then(|| 1 + dice.below(2) as u32);
        let to = if dice.chance(12) { None } else { Some((from + 1 + dice.below(places - 1)) % places) };
        let number = format!("{}.{}", 1 + dice.below(4), dice.below(10));
        let s = dice.below(shared);
        let rate = match dice.below(8) {
            0 => format!("if(#(s{s}) > 0, {number}, 0.5)"),
            1 => format!("{number} / (1 + ALL0)"),
            2 => format!("if(ALL{} < 2, {number}, 0.25)", dice.below(places)),
            3 => format!("{number} * OWN{from}"),
            _ => number,
        };
        let mut with = Vec::new();
        for s in 0..shared {
            match dice.below(7) {
                0 => with.push(With::Take(s)),
                1 => with.push(With::Give(s)),
                2 => with.push(With::Inhibited(s, 1 + dice.below(3) as u32)),
                3 if immediate.is_none() => with.push(With::Needs(s)),
                _ => {}
            }
        }
        let servers = [Servers::Single, Servers::Infinite, Servers::Limited(2)][dice.below(3)];
        let keeps = immediate.is_none() && dice.chance(10) && with.iter().any(|w| matches!(w, With::Take(_)));
        LocalMove { from, to: if keeps { None } else { to }, rate, immediate, servers, keeps, with }
    };
    let count = places + dice.below(3);
    let moves = (0..count).map(|i| one(dice, if i < places { i } else { i % places })).collect();
    let begins = dice.chance(30);
    Symmetric {
        replicas: 2 + dice.below(3),
        places,
        start: (!begins).then(|| dice.below(places)),
        shared: (0..shared)
            .map(|_| (dice.below(3) as u32, dice.chance(50).then(|| 2 + dice.below(2) as u32)))
            .collect(),
        moves,
        barrier: dice.chance(35).then(|| (dice.below(places), dice.below(places))),
        begins,
    }
}

fn build(net: &Symmetric, odd: Odd) -> Net {
    let mut b = NetBuilder::new("symmetric");
    let shared: Vec<PlaceId> = net
        .shared
        .iter()
        .enumerate()
        .map(|(s, &(tokens, capacity))| {
            let place = b.place(format!("s{s}"), tokens);
            b.place_mut(place).capacity = capacity;
            place
        })
        .collect();
    let start = b.place("begin", u32::from(net.begins));
    let mut own = Vec::new();
    for r in 0..net.replicas {
        let from = match odd {
            Odd::Token if r == 0 => net.start.map(|start| (start + 1) % net.places),
            _ => net.start,
        };
        own.push((0..net.places).map(|p| b.place(format!("p{p}x{r}"), u32::from(Some(p) == from))).collect::<Vec<_>>());
    }
    for (r, places) in own.iter().enumerate() {
        for (i, one) in net.moves.iter().enumerate() {
            let mut text = one.rate.clone();
            for p in 0..net.places {
                let all: Vec<String> = (0..net.replicas).map(|r| format!("#(p{p}x{r})")).collect();
                text = text.replace(&format!("ALL{p}"), &format!("({})", all.join(" + ")));
                text = text.replace(&format!("OWN{p}"), &format!("#(p{p}x{r})"));
            }
            if odd == Odd::Rate && r == 0 && i == 0 {
                text = format!("1.5 * ({text})");
            }
            let number = b.expression(&text).unwrap();
            let timing = match one.immediate {
                Some(priority) => Timing::Immediate { weight: number, priority },
                None => {
                    let mut timing = Timing::exponential(1.0);
                    if let Timing::Timed { delay, servers, .. } = &mut timing {
                        *delay = tailspn_engine::net::Delay::Exponential { rate: number };
                        *servers = one.servers;
                    }
                    timing
                }
            };
            let t = b.transition(format!("t{i}x{r}"), timing);
            if one.keeps {
                b.test(places[one.from], t, 1.0);
            } else {
                b.input(places[one.from], t, 1.0);
            }
            if let Some(to) = one.to {
                b.output(t, places[to], 1.0);
            }
            for with in &one.with {
                _ = match *with {
                    With::Take(s) => b.input(shared[s], t, 1.0),
                    With::Give(s) => b.output(t, shared[s], 1.0),
                    With::Inhibited(s, weight) => b.inhibitor(shared[s], t, f64::from(weight)),
                    With::Needs(s) => b.test(shared[s], t, 1.0),
                };
            }
            if odd == Odd::Arc && r == 0 && i == 0 {
                let done = b.place("oddly", 0);
                b.place_mut(done).capacity = Some(1);
                b.output(t, done, 1.0);
            }
        }
    }
    if let Some((from, to)) = net.barrier {
        let t = b.transition("barrier", Timing::exponential(0.7));
        for places in &own {
            b.input(places[from], t, 1.0);
            b.output(t, places[to], 1.0);
        }
    }
    if net.begins {
        let t = b.transition("beginning", Timing::exponential(2.0));
        b.input(start, t, 1.0);
        own.iter().for_each(|places| _ = b.output(t, places[0], 1.0));
    }
    b.build().unwrap()
}

/// States, a number of original states, and averages at two times.
fn solved(net: &Net, folding: Option<&Folding>) -> Option<(usize, f64, Vec<Averages>)> {
    let program = compile(net).ok()?;
    let space = explore(&program, None, &Limits { states: 4000, ..Limits::default() }, &Unwatched).ok()?;
    let chain = space.complete().ok()?;
    let found = transient(chain, &[0.4, 2.5], &TransientSettings::default()).ok()?;
    let averages = found.probabilities.iter().map(|p| space.averages(&program, p).unwrap()).collect();
    let mut marking = program.initial.clone();
    let orbits = (0..space.states()).map(|state| {
        space.marking(state, &mut marking);
        folding.map_or(1.0, |folding| folding.orbit(&marking))
    });
    Some((space.states(), orbits.sum(), averages))
}

/// Compares a net with its folded form, if it was folded and both were solved.
fn compare(net: &Net, label: &str) -> Option<Folding> {
    compare_with(net, fold, label).map(|found| found.folding)
}

/// A net that was folded, and the numbers of states without and with it.
struct Compared {
    folding: Folding,
    states: usize,
    folded_states: usize,
    /// Mean tokens per place of the net that was folded, at 2.5 s.
    tokens: Vec<f64>,
}

fn compare_with(net: &Net, fold: impl Fn(&Net, &Keep) -> Folding, label: &str) -> Option<Compared> {
    let folding = fold(net, &Keep::default());
    let (states, _, exact) = solved(net, None)?;
    if !folding.is_folded() {
        return None;
    }
    let (folded_states, orbits, folded) =
        solved(folding.net(), Some(&folding)).unwrap_or_else(|| panic!("{label}: not solved"));
    assert!((orbits - states as f64).abs() < 0.5, "{label}: {orbits} is not {states}");
    let mut found = Vec::new();
    for (exact, folded) in exact.iter().zip(&folded) {
        let total = |terms: &[(&f64, f64)]| -> f64 { terms.iter().map(|(mean, share)| *mean * share).sum() };
        let tokens = folding.per_place(&folded.tokens, total);
        let firings = folding.per_transition(&folded.throughputs, total);
        for (a, b) in exact.tokens.iter().zip(&tokens).chain(exact.throughputs.iter().zip(&firings)) {
            assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{label}: {a} and {b}");
        }
        found = tokens;
    }
    Some(Compared { folding, states, folded_states, tokens: found })
}

#[test]
fn random_symmetric_nets_fold_exactly() {
    let mut dice = Dice(2026);
    let (mut folded, mut tried) = (0, 0);
    while folded < 400 {
        tried += 1;
        assert!(tried < 4000, "only {folded} of {tried} nets were folded");
        let symmetric = random(&mut dice);
        let net = build(&symmetric, Odd::Nothing);
        let Some(folding) = compare(&net, &format!("net {tried}: {symmetric:?}")) else { continue };
        assert!(folding.classes().iter().any(|class| class.replicas == symmetric.replicas));
        folded += 1;
    }
    println!("{folded} of {tried}");
}

#[test]
fn an_odd_replica_stays_alone() {
    let mut dice = Dice(7);
    let (mut folded, mut tried) = ([0; 3], 0);
    while folded.iter().sum::<usize>() < 150 {
        tried += 1;
        assert!(tried < 4000, "only {folded:?} of {tried} nets were folded");
        let symmetric = random(&mut dice);
        let (kind, odd) = [Odd::Rate, Odd::Token, Odd::Arc].into_iter().enumerate().nth(tried % 3).unwrap();
        if symmetric.replicas < 3 || (odd == Odd::Token && symmetric.begins) {
            continue;
        }
        let net = build(&symmetric, odd);
        let Some(folding) = compare(&net, &format!("net {tried}, {odd:?}: {symmetric:?}")) else { continue };
        assert!(folding.classes().iter().any(|class| class.replicas == symmetric.replicas - 1));
        folded[kind] += 1;
    }
    assert!(folded.iter().all(|&n| n > 20), "{folded:?}");
}
