//! The lockstep form equals the direct form bit for bit, on random nets with immediate transitions and for every question.

use rand_core::Rng;

use super::*;
use crate::net::{Delay, Net, Servers};
use crate::rng::Philox;
use crate::sim::race::LockstepForm;
use crate::sim::{Condition, Ending, Group, Reward, Snapshot};
use crate::simd::Level;
use crate::watch::Unwatched;

const PLACES: usize = 8;
/// A goal, which only timed transitions give tokens.
const GOAL: usize = 7;

struct Dice(Philox);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0.next_u32() % n
    }

    fn place(&mut self) -> usize {
        self.below(GOAL as u32) as usize
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }
}

/// A net in which tokens are created, consumed, multiplied and synchronised.
fn random_net(dice: &mut Dice) -> Net {
    let mut b = NetBuilder::new("random");
    let places: Vec<_> = (0..PLACES).map(|i| b.place(format!("p{i}"), dice.pick(&[0, 0, 1, 2, 9]))).collect();
    b.place_mut(places[GOAL]).initial = vec![0];
    if dice.below(3) == 0 {
        b.place_mut(places[2]).capacity = Some(12);
    }
    for i in 0..2 + dice.below(5) {
        let rate = f64::from(1 + dice.below(20)) / dice.pick(&[7.0, 7.0, 7.0, 7e5]);
        let from = dice.place();
        let by_marking =
            dice.pick(&["#(p0)", "#(p1)", "(1 + #(p2)) / (2 + #(p3))", "if(#(p4) > 1, 2, 0.5)", "0 * #(p5)"]);
        let by_marking = b.expression(&format!("{rate} * {by_marking}")).unwrap();
        let t = b.transition(format!("t{i}"), Timing::exponential(rate));
        if let Timing::Timed { delay, servers, .. } = &mut b.transition_mut(t).timing {
            *servers = dice.pick(&[Servers::Single, Servers::Infinite, Servers::Limited(3)]);
            if dice.below(3) == 0 {
                *delay = Delay::Exponential { rate: by_marking };
            }
        }
        if dice.below(5) > 0 {
            b.input(places[from], t, f64::from(dice.pick(&[1, 1, 1, 2, 3])));
        }
        let to = if dice.below(3) == 0 { GOAL } else { dice.place() };
        b.output(t, places[to], f64::from(dice.pick(&[1, 1, 2, 30])));
        more(&mut b, dice, &places, t);
    }
    for i in 0..dice.below(7) {
        let weight = dice.pick(&[0.0, 1.0, 1.0, 0.3, 7.0]);
        let t = b.transition(format!("i{i}"), Timing::immediate(weight, dice.pick(&[1, 1, 2])));
        // each consumes more tokens than it produces, or moves a token to a higher place, so that the firings end
        let from = dice.place();
        let above = (from + 1 + dice.below(3) as usize).min(GOAL - 1);
        b.input(places[from], t, 1.0);
        match dice.below(4) {
            0 if from < above => drop(b.output(t, places[above], 1.0)),
            1 => drop(b.input(places[(from + 1) % GOAL], t, 2.0)),
            _ => {
                b.input(places[(from + 1 + dice.below(3) as usize) % GOAL], t, 1.0);
                b.output(t, places[dice.place()], 1.0);
            }
        }
        more(&mut b, dice, &places, t);
    }
    b.build().expect("a net")
}

/// Sometimes adds an inhibitor or a test arc.
fn more(b: &mut NetBuilder, dice: &mut Dice, places: &[PlaceId], t: crate::net::TransitionId) {
    match dice.below(6) {
        0 => drop(b.inhibitor(places[dice.place()], t, f64::from(1 + dice.below(12)))),
        1 => drop(b.test(places[dice.place()], t, 1.0)),
        _ => {}
    }
}

/// Number of nets that the lockstep form could run, in total and with each feature.
#[derive(Debug, Default)]
struct Seen {
    nets: u32,
    choices: u32,
    alone: u32,
    by_marking: u32,
    wide: u32,
    averages: u32,
    endings: [u64; 5],
}

fn compare(net: &Net, program: &Program, question: &Question, levels: &[Level], seen: &mut Seen) {
    let clock = Clock::choose(program, question.horizon);
    let setup = Setup { program, question, clock, key: KEY, keep_times: true, watch: &Unwatched };
    let Ok(_) = LockstepForm::new(setup) else { return };
    let run = |engine: &dyn Engine| {
        let mut samples = Samples::new(clock, question, program.counters(), program.transitions());
        engine.run(5, 150, &mut samples).map(|()| samples)
    };
    let direct = run(&DirectForm::new(setup));
    for &level in levels {
        let lockstep = run(&LockstepForm::new(setup).unwrap().at_level(level));
        assert_eq!(lockstep, direct, "{}: {net:?}", level.name());
    }
    let groups = || (0..program.groups.rows()).map(|group| program.groups.row(group).len());
    seen.nets += 1;
    seen.choices += u32::from(groups().any(|members| members > 1));
    seen.alone += u32::from(groups().any(|members| members == 1));
    seen.by_marking += u32::from(program.has_marking_expressions());
    seen.averages += u32::from(!question.is_passage_only());
    seen.wide += u32::from(DirectLaw::choose(program, clock).is_wide);
    let endings = direct.expect("no fault").endings;
    seen.endings.iter_mut().zip(endings).for_each(|(sum, ended)| *sum += ended);
}

/// A random question about a random net.
fn random_question(dice: &mut Dice, net: &Net, program: &Program) -> Question {
    let code = |text: &str| crate::compile::lower(net, &net.expression(text).unwrap());
    let every = dice.below(2) == 0;
    let group = |name: &str| Group {
        name: name.to_owned(),
        transitions: (0..program.transitions() as u32)
            .filter(|&t| (every || !program.is_immediate(t as usize)) && (t == 0 || name == "all"))
            .collect(),
    };
    let goal = dice.pick(&["", "", "#(p7) >= 5", "#(p7) >= 5", "#(p7) == 3 || #(p6) * 2 > 90"]);
    let to_horizon = goal.is_empty() && dice.below(2) == 0;
    let mut question = Question {
        goal: match goal {
            "" if to_horizon => Goal::Horizon,
            "" => Goal::Dead,
            goal => Goal::marking(net, goal).unwrap(),
        },
        avoid: (dice.below(3) == 0)
            .then(|| Condition::new(net, dice.pick(&["#(p6) > 20", "#(p7) >= 4", "#(p5) == 11"])).unwrap()),
        horizon: (to_horizon || dice.below(2) == 0).then_some(12.0),
        max_firings: Some(400),
        groups: if dice.below(2) == 0 { vec![group("all"), group("first")] } else { Vec::new() },
        ..Question::default()
    };
    if dice.below(3) > 0 {
        question.warm_up = dice.pick(&[0.0, 0.0, 1.3]);
        (question.tokens, question.throughput) = (dice.below(2) == 0, dice.below(2) == 0);
        let rate = (dice.below(3) > 0).then(|| code(dice.pick(&["#(p0)", "7", "#(p1) / (#(p2) + 1)", "-(#(p3) > 2)"])));
        let impulses = (0..dice.below(3)).map(|_| {
            let t = program.timed[dice.below(program.timed.len() as u32) as usize];
            (t, code(dice.pick(&["0.1", "#(p4) - 0.3"])))
        });
        let rewards = [Reward { name: "a".into(), rate, impulses: impulses.collect() }];
        question.rewards = rewards.into_iter().filter(|_| dice.below(2) == 0).collect();
        let snapshot = |time| Snapshot::new(net, time, "#(p0) + #(p5) / 3").unwrap();
        question.snapshots =
            [0.0, 0.9, 0.9, 4.0, 12.0].map(snapshot).into_iter().filter(|_| dice.below(2) == 0).collect();
    }
    question
}

/// Fails if the owner of a choice is off by one, if a choice without a rival draws, without the guard of a transition that
/// fires at once, if a marking to avoid counts as the goal, without the test for too many units, if the last firing of a group is taken as its first, if a firing within
/// the warm-up is noted at its own time, if an impulse is read after its firing, and without the snapshots at the end.
#[test]
fn equals_the_direct_form_on_random_nets() {
    let mut dice = Dice(Philox::new(11));
    let mut seen = Seen::default();
    let levels = Level::available();
    for _ in 0..900 {
        let net = random_net(&mut dice);
        let program = compile(&net).unwrap();
        let question = random_question(&mut dice, &net, &program);
        compare(&net, &program, &question, &levels, &mut seen);
    }
    assert!(
        seen.nets > 400 && seen.choices > 100 && seen.alone > 100 && seen.by_marking > 150 && seen.wide > 40,
        "{seen:?}"
    );
    assert!(seen.averages > 200 && seen.endings.iter().all(|&ended| ended > 1_000), "{seen:?}");
}

/// A burst of tokens, each with a choice: more consecutive firings than a replication may have.
#[test]
fn long_chains_of_immediate_firings_are_left_to_the_direct_form() {
    let mut b = NetBuilder::new("");
    let [start, waiting, left, right] =
        [("start", 1), ("waiting", 0), ("left", 0), ("right", 0)].map(|(id, tokens)| b.place(id, tokens));
    let burst = b.transition("burst", Timing::exponential(1.0));
    b.input(start, burst, 1.0);
    b.output(burst, waiting, 700.0);
    add(&mut b, "go left", Timing::immediate(1.0, 1), &[waiting], &[left]);
    let go_right = b.transition("go right", Timing::immediate(2.0, 1));
    b.input(waiting, go_right, 1.0);
    b.output(go_right, right, f64::from(1 << 22));
    let program = program(&b);
    let question = Question::default();
    let clock = Clock::choose(&program, None);
    let setup = Setup { program: &program, question: &question, clock, key: KEY, keep_times: true, watch: &Unwatched };
    let run = |engine: &dyn Engine| {
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        engine.run(0, 100, &mut samples).map(|()| samples)
    };
    let direct = run(&DirectForm::new(setup)).unwrap();
    assert_eq!(run(&LockstepForm::new(setup).unwrap()), Ok(direct.clone()));
    assert_eq!((direct.ended(Ending::Goal), direct.firings), (100, 100 * 701));
}
