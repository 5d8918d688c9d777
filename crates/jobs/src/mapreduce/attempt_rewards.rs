//! Costs of attempts as rewards: slot-seconds, waste, copies and energy of a net with stragglers.
//!
//! Implements the composition of each reward; a simulator or a solver accumulates them until the job ends.

use crate::cluster::Power;
use crate::mapreduce::augmented::AttemptParts;
use crate::mapreduce::params::Plan;
use crate::net::expr::{BinaryOp, Function, Leaf};
use crate::net::{Expr, Net, PlaceId, TransitionId};

/// A quantity accumulated during a run of the net.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptReward {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Amount per second, as an expression over the marking; none if nothing is accumulated.
    pub rate: Option<Expr>,
    /// Amount at each firing of a transition.
    pub impulses: Vec<(TransitionId, f64)>,
}

/// Machines over which the attempts are spread evenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Machines {
    /// Number of machines.
    pub nodes: u64,
    /// Cores per machine.
    pub cores: u32,
    /// Power of each machine.
    pub power: Power,
}

impl Machines {
    /// Returns the workers of a plan, with the cores and the power of \[Phan2018, 4.1\]: 4 cores, 65 W and 17 W each.
    pub fn of(plan: &Plan) -> Self {
        Self { nodes: plan.workers(), cores: 4, power: Power::default() }
    }
}

/// Returns slot-seconds, waste, copies and, if machines are given, energy.
///
/// | reward | unit | meaning |
/// |---|---|---|
/// | `slot_seconds` | s | total time of all attempts. Exact |
/// | `wasted` | s | time of killed attempts: copies beaten by their original, originals beaten by their copy. Mean exact if no copy waits for a slot; otherwise a lower bound, too small by at most `copy_wait` |
/// | `copy_wait` | s | time between flags and the start of the copies, or the end of the originals. Exact |
/// | `copies` | | copies started. Exact |
/// | `copies_won` | | copies that finished first. Exact |
/// | `energy` | J | with n attempts on N nodes of c cores, spread evenly: P_static min(n, N) + P_dyn min(n, cN), and P_idle for nodes without an attempt \[Phan2018, 4.1\]. Exact for such a spread |
///
/// Two attempts of a task run exactly while its copy does, so each second of a copy contains one second of waste,
/// whoever wins. If the copy wins, the time of the original before its flag is wasted too. The mean of this time does
/// not depend on the outcome of the race, and is added when the race ends.
pub fn attempt_rewards(net: &Net, tasks: &[AttemptParts], machines: Option<&Machines>) -> Vec<AttemptReward> {
    let running = running(net, tasks);
    let impulses = |of: fn(&AttemptParts) -> Vec<(TransitionId, f64)>| tasks.iter().flat_map(of).collect::<Vec<_>>();
    let ones = |transitions: &[TransitionId]| transitions.iter().map(|&t| (t, 1.0)).collect::<Vec<_>>();
    let copies = tasks.iter().flat_map(|task| ones(&task.launches)).collect();
    let won: Vec<_> = impulses(|task| task.copy_wins.iter().map(|&(t, _)| (t, 1.0)).collect());
    let late = impulses(|task| task.copy_wins.iter().filter(|(_, before_s)| *before_s > 0.0).copied().collect());
    let reward = |name, unit, rate, impulses| AttemptReward { name, unit, rate, impulses };
    let mut rewards = vec![
        reward("slot_seconds", "s", Some(running.clone()), Vec::new()),
        reward("wasted", "s", Some(tokens(tasks.iter().flat_map(|task| task.copy.iter().copied()))), late),
        reward("copy_wait", "s", Some(tokens(tasks.iter().filter_map(|task| task.wanted))), Vec::new()),
        reward("copies", "", None, copies),
        reward("copies_won", "", None, won),
    ];
    if let Some(machines) = machines {
        rewards.push(reward("energy", "J", Some(power(running, machines)), Vec::new()));
    }
    rewards
}

/// Returns the number of running attempts: the number of slots taken if attempts need slots, otherwise the number of attempts' tokens.
fn running(net: &Net, tasks: &[AttemptParts]) -> Expr {
    let mut slots: Vec<PlaceId> = tasks.iter().flat_map(|task| [task.slots, task.copy_slots]).flatten().collect();
    slots.sort_unstable();
    slots.dedup();
    let taken = |slots: PlaceId| {
        let all = net.place(slots).initial.first().copied().unwrap_or(0);
        Expr::Binary(BinaryOp::Subtract, Box::new(f64::from(all).into()), Box::new(marked(slots)))
    };
    let originals = tasks.iter().filter(|task| task.slots.is_none()).flat_map(|task| task.original.iter().copied());
    let copies = tasks.iter().filter(|task| task.copy_slots.is_none()).flat_map(|task| task.copy.iter().copied());
    let places = originals.chain(copies);
    sum(slots.into_iter().map(taken).chain(places.map(marked)))
}

fn marked(place: PlaceId) -> Expr {
    Expr::Leaf(Leaf::Tokens(place, None))
}

fn tokens(places: impl Iterator<Item = PlaceId>) -> Expr {
    sum(places.map(marked))
}

fn sum(terms: impl Iterator<Item = Expr>) -> Expr {
    let add = |a: Expr, b: Expr| Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b));
    terms.reduce(add).unwrap_or(Expr::Number(0.0))
}

/// Returns the power of all nodes while `running` attempts run \[W\].
fn power(running: Expr, machines: &Machines) -> Expr {
    let Machines { nodes, cores, power } = machines;
    let nodes = *nodes as f64;
    let times = |watts: f64, what: Expr| Expr::Binary(BinaryOp::Multiply, Box::new(watts.into()), Box::new(what));
    let least = |most: f64| Expr::Call(Function::Min, vec![running.clone(), most.into()]);
    let on = times(power.static_w - power.idle_w, least(nodes));
    sum([Expr::Number(power.idle_w * nodes), on, times(power.dynamic_w, least(nodes * f64::from(*cores)))].into_iter())
}
