//! What attempts cost: slot-seconds, waste, copies and energy of a net with stragglers, as rewards.
//!
//! Owns which reward is made of which parts; a simulator or a solver gathers them until the job ends.

use crate::cluster::Power;
use crate::mapreduce::augmented::AttemptParts;
use crate::mapreduce::params::Plan;
use crate::net::expr::{BinaryOp, Function, Leaf};
use crate::net::{Expr, Net, PlaceId, TransitionId};

/// Something that a run of the net gathers.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptReward {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Gathered per second, as an expression over the marking; none where nothing is.
    pub rate: Option<Expr>,
    /// Gathered at each firing of a transition.
    pub impulses: Vec<(TransitionId, f64)>,
}

/// Machines on which attempts run, spread evenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Machines {
    /// Number.
    pub nodes: u64,
    /// Cores of each.
    pub cores: u32,
    /// Power of each.
    pub power: Power,
}

impl Machines {
    /// The workers of a plan, with the cores and the power of \[Phan2018, 4.1\]: 4 cores, 65 W and 17 W each.
    pub fn of(plan: &Plan) -> Self {
        Self { nodes: plan.workers(), cores: 4, power: Power::default() }
    }
}

/// Slot-seconds, waste, copies and, where machines are given, energy.
///
/// | reward | unit | what it is |
/// |---|---|---|
/// | `slot_seconds` | s | time of all attempts together. Exact |
/// | `wasted` | s | time of attempts that were killed: copies by an original that ended first, originals by their copy. Mean exact where no copy waits for a slot; else a lower bound, too small by at most `copy_wait` |
/// | `copy_wait` | s | time between flags and the start of the copies, or the end of the originals. Exact |
/// | `copies` | | copies that began. Exact |
/// | `copies_won` | | copies that ended first. Exact |
/// | `energy` | J | with n attempts on N nodes of c cores, spread evenly: P_static min(n, N) + P_dyn min(n, cN), and P_idle for nodes without one \[Phan2018, 4.1\]. Exact for such a spread |
///
/// Two attempts of a task run exactly while its copy does, so that one second of waste belongs to each second of a copy,
/// whoever wins. Where the copy wins, the time of the original before its flag is wasted too: its mean, which does not
/// depend on how the race ends, is gathered when the race does.
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

/// Attempts that run: the slots that are taken where attempts need slots, else their tokens.
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

/// Power of all nodes while so many attempts run \[W\].
fn power(running: Expr, machines: &Machines) -> Expr {
    let Machines { nodes, cores, power } = machines;
    let nodes = *nodes as f64;
    let times = |watts: f64, what: Expr| Expr::Binary(BinaryOp::Multiply, Box::new(watts.into()), Box::new(what));
    let least = |most: f64| Expr::Call(Function::Min, vec![running.clone(), most.into()]);
    let on = times(power.static_w - power.idle_w, least(nodes));
    sum([Expr::Number(power.idle_w * nodes), on, times(power.dynamic_w, least(nodes * f64::from(*cores)))].into_iter())
}
