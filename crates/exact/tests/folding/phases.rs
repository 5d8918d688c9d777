//! Replicas with Erlang and hyperexponential delays, interrupted or not: folded phases against the phases of each replica.

use tailspn_engine::fold::fold_markings;
use tailspn_engine::net::{Branch, Delay, Law, Memory, Net, Servers, Timing};
use tailspn_engine::sim::{Ensemble, Goal, Prepared, Question, Snapshot, Unwatched, run};
use tailspn_exact::solve::expand_phases;

use super::{Compared, Dice, Odd, Symmetric, With, build, compare_with, random};

fn law(dice: &mut Dice) -> Law {
    let mean = 0.3 + 0.1 * dice.below(10) as f64;
    if dice.chance(60) {
        return Law::Erlang { stages: 2 + dice.below(2) as u32, mean };
    }
    let first = 0.2 + 0.1 * dice.below(6) as f64;
    Law::Hyperexponential {
        branches: vec![
            Branch { probability: first, mean: 0.5 * mean },
            Branch { probability: 1.0 - first, mean: 2.0 * mean },
        ],
    }
}

/// The net with such delays of the chosen transitions; the first replica of an odd net has another mean.
fn with_laws(symmetric: &Symmetric, laws: &[(usize, Law, Memory)], odd: bool) -> Net {
    let mut b = build(symmetric, Odd::Nothing).to_builder();
    for (i, law, memory) in laws {
        for r in 0..symmetric.replicas {
            let t = b.find_transition(&format!("t{i}x{r}")).unwrap();
            let law = if odd && r == 0 { law.scaled(1.5) } else { law.clone() };
            b.transition_mut(t).timing =
                Timing::Timed { delay: Delay::General(law), servers: Servers::Single, memory: *memory };
        }
    }
    b.build().unwrap()
}

/// Some timed transitions of a replica get other delays. Also returns whether something can interrupt one.
fn laws(dice: &mut Dice, net: &Symmetric) -> (Vec<(usize, Law, Memory)>, bool) {
    let timed: Vec<usize> = (0..net.moves.len()).filter(|&i| net.moves[i].immediate.is_none()).collect();
    let mut chosen: Vec<usize> = timed.iter().copied().filter(|_| dice.chance(40)).collect();
    if chosen.is_empty() {
        chosen.extend(timed.first());
    }
    let interrupted = chosen.iter().any(|&i| {
        let own = &net.moves[i];
        let rivals = net.moves.iter().filter(|other| other.from == own.from && !other.keeps).count();
        rivals > 1 || own.with.iter().any(|with| !matches!(with, With::Give(_)))
    });
    let memory = |dice: &mut Dice| if dice.chance(30) { Memory::Age } else { Memory::Enabling };
    (chosen.into_iter().map(|i| (i, law(dice), memory(dice))).collect(), interrupted)
}

/// A random net with phases, its folded form compared; nothing if it has no phases or no answer.
fn compared(dice: &mut Dice, odd: bool, label: &str) -> Option<(Symmetric, Net, bool, Compared)> {
    let mut symmetric = random(dice);
    if odd {
        symmetric.replicas = 3;
    }
    let (laws, interrupted) = laws(dice, &symmetric);
    if laws.is_empty() {
        return None;
    }
    let net = with_laws(&symmetric, &laws, odd);
    let expanded = expand_phases(&net).ok()?.net;
    let found = compare_with(&expanded, fold_markings, &format!("{label}: {symmetric:?} {laws:?}"))?;
    Some((symmetric, net, interrupted, found))
}

#[test]
fn phases_of_replicas_are_counted_exactly() {
    let mut dice = Dice(2028);
    let (mut folded, mut tried, mut saved) = ([0, 0], 0, [0, 0]);
    while folded.iter().any(|&n| n < 100) {
        tried += 1;
        assert!(tried < 20_000, "only {folded:?} of {tried} nets were folded");
        let Some((symmetric, _, interrupted, found)) = compared(&mut dice, false, &format!("net {tried}")) else {
            continue;
        };
        let all = found.folding.classes().iter().any(|class| class.replicas == symmetric.replicas);
        if all && found.folding.has_machines() && found.folded_states < found.states {
            folded[usize::from(interrupted)] += 1;
            saved = [saved[0] + found.states, saved[1] + found.folded_states];
        }
    }
    println!("{folded:?} of {tried}, states {saved:?}");
}

#[test]
fn an_odd_replica_with_phases_stays_alone() {
    let mut dice = Dice(12);
    let (mut folded, mut tried) = (0, 0);
    while folded < 100 {
        tried += 1;
        assert!(tried < 20_000, "only {folded} of {tried} nets were folded");
        let Some((_, _, _, found)) = compared(&mut dice, true, &format!("net {tried}")) else { continue };
        if found.folding.has_machines() && found.folded_states < found.states {
            assert!(found.folding.classes().iter().any(|class| class.replicas == 2), "net {tried}");
            folded += 1;
        }
    }
    println!("{folded} of {tried}");
}

/// Tokens of all places at 2.5 s, from replications of the net with its delays, against its counted phases.
#[test]
fn counted_phases_are_what_simulation_shows() {
    let mut dice = Dice(2029);
    let (mut compared_nets, mut tried) = (0, 0);
    while compared_nets < 12 {
        tried += 1;
        let Some((_, net, interrupted, found)) = compared(&mut dice, false, &format!("net {tried}")) else { continue };
        if !interrupted || !found.folding.has_machines() || found.folded_states == found.states || found.states < 50 {
            continue;
        }
        compared_nets += 1;
        let tokens =
            |place: &tailspn_engine::net::Place| Snapshot::new(&net, 2.5, &format!("#({})", place.id)).unwrap();
        let snapshots = net.places().iter().map(tokens);
        let question =
            Question { goal: Goal::Horizon, horizon: Some(3.0), snapshots: snapshots.collect(), ..Question::default() };
        let prepared = Prepared::new(&net, &question, true).unwrap();
        let ensemble = Ensemble { replications: 20_000, seed: tried, ..Ensemble::default() };
        let samples = run(&prepared.program, &prepared.question, &ensemble, &Unwatched).unwrap().samples;
        for (place, (seen, exact)) in net.places().iter().zip(samples.averages().snapshots.iter().zip(&found.tokens)) {
            let (mean, variance) = (seen.mean().unwrap(), seen.variance().unwrap());
            // a place of a replica holds one token at most: so much it varies, also if it was never seen
            let error = (variance.max(exact * (1.0 - exact)) / seen.count() as f64).sqrt();
            assert!(
                error < 0.02 && (mean - exact).abs() <= 5.0 * error + 1e-9,
                "net {tried}, {}: {mean}, {exact}",
                place.id
            );
        }
    }
}
