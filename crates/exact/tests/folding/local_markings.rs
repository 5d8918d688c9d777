//! Replicas of several tokens: random ones around shared places, with fixed seeds, compared with the original nets.

use tailspn_engine::fold::fold_markings;
use tailspn_engine::net::{Delay, Net, NetBuilder, PlaceId, Servers, Timing};

use tailspn_engine::sim::{Ensemble, Goal, Prepared, Question, Snapshot, Unwatched, run};
use tailspn_exact::answer::Solve;

use super::{Compared, Dice, With, compare_with};

/// An arc to a place of the replica: its number, and the weight.
type OwnArc = (usize, u32);

#[derive(Clone, Debug)]
struct CellMove {
    takes: Vec<OwnArc>,
    puts: Vec<OwnArc>,
    needs: Vec<OwnArc>,
    inhibited: Vec<OwnArc>,
    /// Takes all tokens of this place.
    empties: Option<usize>,
    /// Rate, or weight if it is immediate with this priority.
    rate: String,
    immediate: Option<u32>,
    servers: Servers,
    with: Vec<With>,
}

/// A transition that all replicas take part in.
#[derive(Clone, Copy, Debug)]
enum Joint {
    /// Puts a token into each, and later on perhaps into another place of each.
    Fills(usize, Option<usize>),
    /// Takes this number of tokens of each.
    Takes(usize, u32),
    Needs(usize, u32),
    Inhibited(usize, u32),
}

/// Replicas with several tokens.
#[derive(Clone, Debug)]
struct Cells {
    replicas: usize,
    /// Tokens and capacity.
    places: Vec<(u32, Option<u32>)>,
    shared: Vec<(u32, Option<u32>)>,
    moves: Vec<CellMove>,
    joint: Option<Joint>,
}

fn one_move(dice: &mut Dice, places: usize, shared: usize, from: usize, total: u32) -> CellMove {
    let immediate = dice.chance(15).then(|| 1 + dice.below(2) as u32);
    let mut takes = vec![(from, 1)];
    if dice.chance(25) {
        takes = vec![(from, 2)];
    } else if dice.chance(25) {
        takes.push(((from + 1) % places, 1));
    } else if dice.chance(8) && immediate.is_none() {
        takes.clear();
    }
    let count: u32 = takes.iter().map(|own| own.1).sum();
    let mut puts: Vec<OwnArc> = Vec::new();
    let to = (from + 1 + dice.below(places - 1)) % places;
    match dice.below(8) {
        0 => {}
        1 if count < total && immediate.is_none() => puts.extend([(to, 1), ((to + 1) % places, 1)]),
        _ => puts.push((to, count.max(1))),
    }
    let number = format!("{}.{}", 1 + dice.below(4), dice.below(10));
    let s = dice.below(shared);
    let rate = match dice.below(8) {
        0 => format!("if(#(s{s}) > 0, {number}, 0.5)"),
        1 => format!("{number} / (1 + ALL{from})"),
        2 => format!("if(ALL{} < 2, {number}, 0.25)", dice.below(places)),
        3 => format!("{number} * OWN{from}"),
        4 => format!("{number} + min(OWN{}, 1)", dice.below(places)),
        _ => number,
    };
    let mut with = Vec::new();
    for s in 0..shared {
        match dice.below(8) {
            0 => with.push(With::Take(s)),
            1 => with.push(With::Give(s)),
            2 => with.push(With::Inhibited(s, 1 + dice.below(3) as u32)),
            3 if immediate.is_none() => with.push(With::Needs(s)),
            _ => {}
        }
    }
    let some = |dice: &mut Dice| (dice.below(places), 1 + dice.below(2) as u32);
    CellMove {
        takes,
        puts,
        needs: if dice.chance(10) { vec![some(dice)] } else { Vec::new() },
        inhibited: if dice.chance(15) { vec![some(dice)] } else { Vec::new() },
        empties: dice.chance(8).then(|| dice.below(places)),
        rate,
        immediate,
        servers: [Servers::Single, Servers::Infinite, Servers::Limited(2)][dice.below(3)],
        with,
    }
}

fn random(dice: &mut Dice) -> Cells {
    let (places, shared) = (2 + dice.below(2), 1 + dice.below(2));
    let tokens: Vec<u32> = (0..places).map(|_| dice.below(3) as u32).collect();
    let total: u32 = tokens.iter().sum();
    let count = places + dice.below(3);
    let moves = (0..count).map(|i| one_move(dice, places, shared, i % places, total)).collect();
    let capacity = |dice: &mut Dice, n: u32| dice.chance(40).then(|| n.max(1) + dice.below(2) as u32);
    let place = dice.below(places);
    let joint = match dice.below(8) {
        0 => Some(Joint::Fills(place, dice.chance(50).then(|| dice.below(places)))),
        1 => Some(Joint::Takes(place, 1 + dice.below(2) as u32)),
        2 => Some(Joint::Needs(place, 1 + dice.below(2) as u32)),
        3 => Some(Joint::Inhibited(place, 1 + dice.below(2) as u32)),
        _ => None,
    };
    let fills = matches!(joint, Some(Joint::Fills(..)));
    Cells {
        replicas: 2 + dice.below(2),
        places: tokens.into_iter().map(|n| (if fills { 0 } else { n }, capacity(dice, n))).collect(),
        shared: (0..shared)
            .map(|_| (dice.below(3) as u32, dice.chance(50).then(|| 2 + dice.below(2) as u32)))
            .collect(),
        moves,
        joint,
    }
}

fn place(b: &mut NetBuilder, id: String, (tokens, capacity): (u32, Option<u32>)) -> PlaceId {
    let place = b.place(id, tokens);
    b.place_mut(place).capacity = capacity;
    place
}

/// The net; with `odd`, the first transition of the first replica is faster.
fn build(net: &Cells, odd: bool) -> Net {
    let mut b = NetBuilder::new("cells");
    let shared: Vec<PlaceId> =
        net.shared.iter().enumerate().map(|(s, &own)| place(&mut b, format!("s{s}"), own)).collect();
    let mut own: Vec<Vec<PlaceId>> = Vec::new();
    for r in 0..net.replicas {
        own.push(net.places.iter().enumerate().map(|(p, &own)| place(&mut b, format!("p{p}x{r}"), own)).collect());
    }
    for (r, places) in own.iter().enumerate() {
        for (i, one) in net.moves.iter().enumerate() {
            let mut text = one.rate.clone();
            for p in 0..net.places.len() {
                let all: Vec<String> = (0..net.replicas).map(|r| format!("#(p{p}x{r})")).collect();
                text = text.replace(&format!("ALL{p}"), &format!("({})", all.join(" + ")));
                text = text.replace(&format!("OWN{p}"), &format!("#(p{p}x{r})"));
            }
            if odd && r == 0 && i == 0 {
                text = format!("1.5 * ({text})");
            }
            let number = b.expression(&text).unwrap();
            let timing = match one.immediate {
                Some(priority) => Timing::Immediate { weight: number, priority },
                None => Timing::Timed {
                    delay: Delay::Exponential { rate: number },
                    servers: one.servers,
                    memory: Default::default(),
                },
            };
            let t = b.transition(format!("t{i}x{r}"), timing);
            one.takes.iter().for_each(|&(p, n)| _ = b.input(places[p], t, f64::from(n)));
            one.puts.iter().for_each(|&(p, n)| _ = b.output(t, places[p], f64::from(n)));
            one.needs.iter().for_each(|&(p, n)| _ = b.test(places[p], t, f64::from(n)));
            one.inhibited.iter().for_each(|&(p, n)| _ = b.inhibitor(places[p], t, f64::from(n)));
            if let Some(p) = one.empties.filter(|p| one.takes.iter().all(|own| own.0 != *p)) {
                let held = b.expression(&format!("#(p{p}x{r})")).unwrap();
                b.input(places[p], t, held);
            }
            for with in &one.with {
                _ = match *with {
                    With::Take(s) => b.input(shared[s], t, 1.0),
                    With::Give(s) => b.output(t, shared[s], 1.0),
                    With::Inhibited(s, weight) => b.inhibitor(shared[s], t, f64::from(weight)),
                    With::Needs(s) => b.test(shared[s], t, 1.0),
                };
            }
        }
    }
    if let Some(joint) = net.joint {
        let t = b.transition("joint", Timing::exponential(0.7));
        let begin = b.place("begin", 1);
        b.input(begin, t, 1.0);
        for places in &own {
            _ = match joint {
                Joint::Fills(p, _) => b.output(t, places[p], 1.0),
                Joint::Takes(p, n) => b.input(places[p], t, f64::from(n)),
                Joint::Needs(p, n) => b.test(places[p], t, f64::from(n)),
                Joint::Inhibited(p, n) => b.inhibitor(places[p], t, f64::from(n)),
            };
        }
        b.output(t, shared[0], 1.0);
        if let Joint::Fills(_, Some(p)) = joint {
            // after the first one, when a shared place that the replicas may fill holds tokens
            let done = b.place("begun", 0);
            b.output(t, done, 1.0);
            let again = b.transition("again", Timing::exponential(0.9));
            b.input(done, again, 1.0);
            b.input(shared[0], again, 1.0);
            own.iter().for_each(|places| _ = b.output(again, places[p], 1.0));
        }
    }
    b.build().unwrap()
}

/// A random net, the number of its replicas, and a text that tells it from others.
pub(super) fn random_net(dice: &mut Dice) -> (Net, usize, String) {
    let cells = random(dice);
    (build(&cells, false), cells.replicas, format!("{cells:?}"))
}

/// Returns true if so many replicas became machines of several tokens, which saved states.
fn is_folded(found: &Compared, replicas: usize) -> bool {
    let Compared { folding, states, folded_states, .. } = found;
    folding.has_machines() && folding.classes().iter().any(|class| class.replicas == replicas) && folded_states < states
}

#[test]
fn replicas_of_several_tokens_fold_exactly() {
    let mut dice = Dice(2027);
    let (mut folded, mut joint, mut sums, mut tried, mut saved) = (0, [0; 4], 0, 0, [0, 0]);
    while folded < 400 {
        tried += 1;
        assert!(tried < 20_000, "only {folded} of {tried} nets were folded");
        let cells = random(&mut dice);
        let net = build(&cells, false);
        let Some(found) = compare_with(&net, fold_markings, &format!("net {tried}: {cells:?}")) else { continue };
        if is_folded(&found, cells.replicas) {
            folded += 1;
            sums += usize::from(cells.moves.iter().any(|one| one.rate.contains("ALL")));
            saved = [saved[0] + found.states, saved[1] + found.folded_states];
            match cells.joint {
                Some(Joint::Fills(..)) => joint[0] += 1,
                Some(Joint::Takes(..)) => joint[1] += 1,
                Some(Joint::Needs(..)) => joint[2] += 1,
                Some(Joint::Inhibited(..)) => joint[3] += 1,
                None => {}
            }
        }
    }
    println!("{folded} of {tried}, joint {joint:?}, with sums {sums}, states {saved:?}");
    assert!(sums > 150, "{sums} with sums over all replicas");
    assert!(joint.iter().all(|&n| n > 4), "{joint:?}");
}

#[test]
fn an_odd_replica_of_several_tokens_stays_alone() {
    let mut dice = Dice(11);
    let (mut folded, mut tried) = (0, 0);
    while folded < 100 {
        tried += 1;
        assert!(tried < 20_000, "only {folded} of {tried} nets were folded");
        let cells = Cells { replicas: 3, ..random(&mut dice) };
        let first = &cells.moves[0];
        if first.takes.is_empty() && first.puts.is_empty() && first.needs.is_empty() {
            continue;
        }
        let net = build(&cells, true);
        let Some(found) = compare_with(&net, fold_markings, &format!("net {tried}: {cells:?}")) else { continue };
        if found.folding.has_machines() && found.folded_states < found.states {
            assert!(is_folded(&found, 2), "net {tried}: {cells:?}");
            folded += 1;
        }
    }
    println!("{folded} of {tried}");
}

/// Tokens at 2.5 s of all replicas together, from replications of the machines, against the chain of all markings.
#[test]
fn simulated_folded_machines_match_exact_means() {
    let mut dice = Dice(2030);
    let (mut ran, mut tried) = (0, 0);
    while ran < 30 {
        tried += 1;
        let cells = random(&mut dice);
        let net = build(&cells, false);
        let Some(found) = compare_with(&net, fold_markings, &format!("net {tried}: {cells:?}")) else { continue };
        if !is_folded(&found, cells.replicas) || found.states < 30 {
            continue;
        }
        ran += 1;
        let of = |p: usize| (0..cells.replicas).map(move |r| format!("p{p}x{r}"));
        let sum = |p: usize| of(p).map(|place| format!("#({place})")).collect::<Vec<_>>().join(" + ");
        let question = Question {
            goal: Goal::Horizon,
            horizon: Some(3.0),
            snapshots: (0..cells.places.len()).map(|p| Snapshot::new(&net, 2.5, &sum(p)).unwrap()).collect(),
            ..Question::default()
        };
        let prepared = Prepared::for_states(&net, &question).unwrap();
        assert!(prepared.folding().unwrap().has_machines());
        let ensemble = Ensemble { replications: 20_000, seed: tried, ..Ensemble::default() };
        let samples = run(&prepared.program, &prepared.question, &ensemble, &Unwatched).unwrap().samples;
        for (p, seen) in samples.averages().snapshots.iter().enumerate() {
            let exact: f64 = of(p).map(|place| found.tokens[net.find_place(&place).unwrap().index()]).sum();
            // a rare marking may not be seen at all
            let error = (seen.variance().unwrap().max(1e-3) / seen.count() as f64).sqrt();
            let mean = seen.mean().unwrap();
            assert!(error < 0.03 && (mean - exact).abs() <= 5.0 * error + 1e-9, "net {tried}, p{p}: {mean}, {exact}");
        }
    }
}

/// Twelve tasks of two stages each, which start with two tokens; two of them compete for a slot.
#[test]
fn replications_count_parts_of_several_tokens_where_that_is_faster() {
    let mut b = NetBuilder::new("tasks");
    let slots = b.place("slots", 3);
    for i in 0..12 {
        let [todo, busy, done] =
            [("todo", 2), ("busy", 0), ("done", 0)].map(|(name, n)| b.place(format!("{name}{i}"), n));
        let begin = b.transition(format!("begin{i}"), Timing::immediate(1.0, 1));
        b.input(todo, begin, 1.0);
        b.input(slots, begin, 1.0);
        b.output(begin, busy, 1.0);
        let end = b.transition(format!("end{i}"), Timing::exponential(1.0));
        b.input(busy, end, 1.0);
        b.output(end, done, 1.0);
        b.output(end, slots, 1.0);
    }
    let net = b.build().unwrap();
    let ensemble = Ensemble { replications: 40_000, seed: 5, ..Ensemble::default() };
    let passage = |question: &Question, fold: bool| {
        let prepared = Prepared::for_replications(&net, question, fold).unwrap();
        let samples = run(&prepared.program, &prepared.question, &ensemble, &Unwatched).unwrap().samples;
        let tick = samples.clock.tick();
        let error = (samples.passage.variance().unwrap() / 40_000.0).sqrt() * tick;
        (
            prepared.folding().is_some_and(|folding| folding.has_machines()),
            samples.passage.mean_ticks().unwrap() * tick,
            error,
        )
    };
    let exact = net.solution().passage().unwrap().mean().unwrap().value;
    let (machines, mean, error) = passage(&Question::default(), true);
    assert!(machines && (mean - exact).abs() < 5.0 * error && error < 0.02 * exact, "{mean} and {exact}");
    // averages per place need each place
    let averages = Question { tokens: true, ..Question::default() };
    for (question, fold) in [(&averages, true), (&Question::default(), false)] {
        let (machines, mean, error) = passage(question, fold);
        assert!(!machines && (mean - exact).abs() < 5.0 * error, "{mean} and {exact}");
    }
}
