//! A task in a net: timed transitions in series, listed by the caller, with their properties.
//!
//! Defines [`TaskChain`] and its conditions. This module does not modify nets; `straggler` and `speculation` add
//! attempts to chains.

use crate::net::expr::Leaf;
use crate::net::{ArcKind, ClassId, Delay, Expr, Net, PlaceId, Timing, TransitionId};

/// A task in a net: it starts with a token on `start`, and its stages fire one after the other.
///
/// ```text
/// ─▶ start ─stage 1─▶ ○ ─stage 2─▶ … ─stage k─▶ whatever the last stage feeds
/// ```
///
/// A net may run a chain repeatedly, but never twice at a time: `start` and the following places hold at most one token together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskChain {
    /// Name, letters and digits, such as `Map1`; parts added to the net are named after it.
    pub name: String,
    /// Place of the token when the task starts; if tasks wait for slots, the place of the token after the task has
    /// received a slot.
    pub start: PlaceId,
    /// Transitions, in order; timed, or immediate for a stage that takes no time.
    pub stages: Vec<TransitionId>,
    /// Place of the slots; the task holds a slot from its start until its last stage returns it; none if the task
    /// needs no slot.
    pub slots: Option<PlaceId>,
}

/// Reasons why transitions do not form a chain. List other transitions, or change the net.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainProblem {
    /// The name is not valid in ids, or another chain has it.
    #[error("task `{task}`: its name must be unique and consist of letters and digits")]
    Name {
        /// The task.
        task: String,
    },
    /// No stage takes time.
    #[error("task `{task}` takes no time")]
    NoTime {
        /// The task.
        task: String,
    },
    /// A stage does not simply take the token of the place before it.
    #[error("task `{task}`: transition `{transition}` must take one token from `{place}` and depend on no other place")]
    Stage {
        /// The task.
        task: String,
        /// The transition.
        transition: String,
        /// The place that the transition must take its token from.
        place: String,
    },
    /// A place between the stages has other uses, a capacity or tokens.
    #[error("task `{task}`: place `{place}` must connect exactly two stages, without capacity or extra tokens")]
    Place {
        /// The task.
        task: String,
        /// The place.
        place: String,
    },
    /// The mean delay of a stage depends on the marking, or is infinite.
    #[error("task `{task}`: the mean delay of `{transition}` must be a constant, above 0 and finite")]
    Mean {
        /// The task.
        task: String,
        /// The transition.
        transition: String,
    },
    /// The last stage does not give the slot back.
    #[error("task `{task}`: its last stage must return one token to `{place}`")]
    Slot {
        /// The task.
        task: String,
        /// The place of the slots.
        place: String,
    },
}

/// Positions of the arcs of each part of a net.
#[derive(Debug)]
pub(super) struct ArcIndex {
    of_place: Vec<Vec<usize>>,
    of_transition: Vec<Vec<usize>>,
}

impl ArcIndex {
    pub(super) fn new(net: &Net) -> Self {
        let mut index = Self {
            of_place: vec![Vec::new(); net.places().len()],
            of_transition: vec![Vec::new(); net.transitions().len()],
        };
        for (position, arc) in net.arcs().iter().enumerate() {
            index.of_place[arc.place.index()].push(position);
            index.of_transition[arc.transition.index()].push(position);
        }
        index
    }

    /// Returns the arcs that produce tokens in a place.
    pub(super) fn into<'a>(&'a self, net: &'a Net, place: PlaceId) -> impl Iterator<Item = usize> + 'a {
        self.of_place[place.index()].iter().copied().filter(|&arc| net.arcs()[arc].kind == ArcKind::Output)
    }

    /// Returns the arcs through which a transition produces tokens.
    pub(super) fn out_of<'a>(&'a self, net: &'a Net, transition: TransitionId) -> impl Iterator<Item = usize> + 'a {
        self.of_transition[transition.index()].iter().copied().filter(|&arc| net.arcs()[arc].kind == ArcKind::Output)
    }

    /// Returns the transitions that take tokens from a place.
    pub(super) fn takers<'a>(&'a self, net: &'a Net, place: PlaceId) -> impl Iterator<Item = TransitionId> + 'a {
        let arcs = self.of_place[place.index()].iter().map(|&arc| &net.arcs()[arc]);
        arcs.filter(|arc| arc.kind == ArcKind::Input).map(|arc| arc.transition)
    }
}

/// A valid chain.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) chain: TaskChain,
    /// The place before each stage.
    pub(super) places: Vec<PlaceId>,
    /// Mean of each stage \[s\].
    pub(super) means: Vec<f64>,
    /// Sum of the means, which is the task's usual time \[s\].
    pub(super) usual: f64,
}

/// Checks chains; returns all problems, in the order of the chains.
pub(super) fn check(net: &Net, index: &ArcIndex, chains: &[TaskChain]) -> Result<Vec<Checked>, Vec<ChainProblem>> {
    let mut problems = Vec::new();
    let mut checked = Vec::with_capacity(chains.len());
    let mut names = std::collections::HashSet::new();
    for chain in chains {
        let plain = !chain.name.is_empty() && chain.name.chars().all(|c| c.is_ascii_alphanumeric());
        if !plain || !names.insert(chain.name.as_str()) {
            problems.push(ChainProblem::Name { task: chain.name.clone() });
        }
        match check_one(net, index, chain) {
            Ok(one) => checked.push(one),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}

fn check_one(net: &Net, index: &ArcIndex, chain: &TaskChain) -> Result<Checked, ChainProblem> {
    let task = || chain.name.clone();
    let mut places = Vec::with_capacity(chain.stages.len());
    let mut place = chain.start;
    for (number, &stage) in chain.stages.iter().enumerate() {
        if !is_between(net, index, place, stage, number == 0) {
            return Err(ChainProblem::Place { task: task(), place: net.place(place).id.clone() });
        }
        if !takes_one(net, index, place, stage) {
            let transition = net.transition(stage).id.clone();
            return Err(ChainProblem::Stage { task: task(), transition, place: net.place(place).id.clone() });
        }
        places.push(place);
        let mut outputs = index.out_of(net, stage);
        if number + 1 < chain.stages.len() {
            let next = outputs.next().map(|arc| &net.arcs()[arc]).filter(|arc| is_one(net, &arc.weights));
            match (next, outputs.next()) {
                (Some(arc), None) => place = arc.place,
                _ => {
                    let transition = net.transition(stage).id.clone();
                    return Err(ChainProblem::Stage { task: task(), transition, place: net.place(place).id.clone() });
                }
            }
        }
    }
    let mut means = Vec::with_capacity(places.len());
    for &stage in &chain.stages {
        let mean = mean(net, &net.transition(stage).timing);
        means.push(
            mean.ok_or_else(|| ChainProblem::Mean { task: task(), transition: net.transition(stage).id.clone() })?,
        );
    }
    let usual: f64 = means.iter().sum();
    if usual <= 0.0 {
        return Err(ChainProblem::NoTime { task: task() });
    }
    if let (Some(slots), Some(&last)) = (chain.slots, chain.stages.last()) {
        let gives = |arc: usize| net.arcs()[arc].place == slots && is_one(net, &net.arcs()[arc].weights);
        if !index.out_of(net, last).any(gives) {
            return Err(ChainProblem::Slot { task: task(), place: net.place(slots).id.clone() });
        }
    }
    Ok(Checked { chain: chain.clone(), places, means, usual })
}

/// Returns true if a place feeds only the following stage; for the first place, the transitions that start
/// the task must produce single tokens in it.
fn is_between(net: &Net, index: &ArcIndex, place: PlaceId, stage: TransitionId, is_first: bool) -> bool {
    let spec = net.place(place);
    let mut arcs = index.of_place[place.index()].iter().map(|&arc| &net.arcs()[arc]);
    let fits = arcs.all(|arc| match arc.kind {
        ArcKind::Output => is_one(net, &arc.weights),
        ArcKind::Input => arc.transition == stage,
        ArcKind::Inhibitor | ArcKind::Test => false,
    });
    let feeders = index.into(net, place).count();
    let tokens = spec.initial_total();
    fits && spec.capacity.is_none() && if is_first { tokens <= 1 } else { tokens == 0 && feeders == 1 }
}

/// Returns true if a transition consumes only one token of the first class from a place.
fn takes_one(net: &Net, index: &ArcIndex, place: PlaceId, stage: TransitionId) -> bool {
    let mut needs = index.of_transition[stage.index()].iter().map(|&arc| &net.arcs()[arc]);
    let mut count = 0;
    needs.all(|arc| {
        count += usize::from(arc.kind == ArcKind::Input);
        arc.kind == ArcKind::Output
            || (arc.kind == ArcKind::Input && arc.place == place && is_one(net, &arc.weights) && count == 1)
    }) && count == 1
}

/// Returns true if an arc's weight is one token of the first class.
fn is_one(net: &Net, weights: &[crate::net::ClassWeight]) -> bool {
    let [only] = weights else { return false };
    only.class == ClassId::from_index(0) && constant(net, &only.weight) == Some(1.0)
}

/// Returns the value of an expression that does not depend on the marking.
pub(super) fn constant(net: &Net, expression: &Expr) -> Option<f64> {
    let mut fixed = true;
    expression.for_each_leaf(&mut |leaf| match leaf {
        Leaf::Parameter(id) => fixed &= constant(net, &net.parameters()[id.index()].value).is_some(),
        Leaf::Tokens(..) | Leaf::Capacity(_) => fixed = false,
    });
    let value = |leaf: &Leaf| match leaf {
        Leaf::Parameter(id) => constant(net, &net.parameters()[id.index()].value).unwrap_or(f64::NAN),
        Leaf::Tokens(..) | Leaf::Capacity(_) => f64::NAN,
    };
    fixed.then(|| expression.eval(&value))
}

/// Returns the mean delay \[s\]; `None` if it is infinite or not constant.
fn mean(net: &Net, timing: &Timing) -> Option<f64> {
    let mean = match timing {
        Timing::Immediate { .. } => 0.0,
        Timing::Timed { delay: Delay::Exponential { rate }, .. } => 1.0 / constant(net, rate)?,
        Timing::Timed { delay: Delay::General(law), .. } => law.mean(),
    };
    (mean.is_finite() && mean >= 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::NetBuilder;

    /// The problem of `go ─▶ a ─t─▶ b ─u─▶ done` after a change.
    fn problem(change: impl FnOnce(&mut NetBuilder, [PlaceId; 3], [TransitionId; 2])) -> Option<String> {
        let mut net = NetBuilder::new("");
        let [a, b, done] = [("a", 1), ("b", 0), ("done", 0)].map(|(id, tokens)| net.place(id, tokens));
        let [t, u] = ["t", "u"].map(|id| net.transition(id, Timing::exponential(0.5)));
        net.input(a, t, 1.0);
        net.output(t, b, 1.0);
        net.input(b, u, 1.0);
        net.output(u, done, 1.0);
        change(&mut net, [a, b, done], [t, u]);
        let net = net.build().unwrap();
        let chain = TaskChain { name: "A".into(), start: a, stages: vec![t, u], slots: None };
        let found = check(&net, &ArcIndex::new(&net), &[chain]);
        found.err().map(|problems| problems[0].to_string())
    }

    #[test]
    fn a_chain_is_stages_in_series() {
        assert_eq!(problem(|_, _, _| ()), None);
        let place =
            |id| format!("task `A`: place `{id}` must connect exactly two stages, without capacity or extra tokens");
        assert_eq!(problem(|net, [_, b, _], _| net.place_mut(b).capacity = Some(1)), Some(place("b")));
        assert_eq!(problem(|net, [a, ..], _| net.place_mut(a).initial = vec![2]), Some(place("a")));
        assert_eq!(
            problem(|net, [_, b, _], _| {
                let look = net.transition("look", Timing::exponential(1.0));
                net.test(b, look, 1.0);
            }),
            Some(place("b"))
        );
        let stage = "task `A`: transition `u` must take one token from `b` and depend on no other place";
        assert_eq!(
            problem(|net, [_, _, done], [_, u]| {
                net.inhibitor(done, u, 1.0);
            }),
            Some(stage.into())
        );
    }

    #[test]
    fn means_of_a_task_must_be_positive_constants() {
        let mean = "task `A`: the mean delay of `t` must be a constant, above 0 and finite";
        let depends = |net: &mut NetBuilder, _: [PlaceId; 3], [t, _]: [TransitionId; 2]| {
            let rate = net.expression("0.5 * #(done)").unwrap();
            net.transition_mut(t).timing = Timing::Timed {
                delay: Delay::Exponential { rate },
                servers: crate::net::Servers::Single,
                memory: crate::net::Memory::Enabling,
            };
        };
        assert_eq!(problem(depends), Some(mean.into()));
        let never = |net: &mut NetBuilder, _: [PlaceId; 3], [t, _]: [TransitionId; 2]| {
            net.transition_mut(t).timing = Timing::exponential(0.0);
        };
        assert_eq!(problem(never), Some(mean.into()));
        let instant = |net: &mut NetBuilder, _: [PlaceId; 3], stages: [TransitionId; 2]| {
            for t in stages {
                net.transition_mut(t).timing = Timing::immediate(1.0, 1);
            }
        };
        assert_eq!(problem(instant), Some("task `A` takes no time".into()));
    }

    #[test]
    fn parameters_are_constants_too() {
        let mut net = NetBuilder::new("");
        net.parameter("k", 4.0);
        let half = net.expression("k / 8").unwrap();
        let net = net.build().unwrap();
        assert_eq!(constant(&net, &half), Some(0.5));
    }
}
