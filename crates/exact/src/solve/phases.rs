//! Converts Erlang and hyperexponential delays into exponential phases, net to net.
//!
//! The tokens stay in their places until the transition fires, as in the original net; a hidden
//! place records the progress of the delay. So other transitions see the same tokens as before, and
//! preemption does not change:
//!
//! * *Erlang, k stages, one server*: place `stages` counts the finished stages. A hidden transition that tests the inputs of
//!   the original adds a token; the original takes `k − 1` tokens of `stages` when it fires.
//! * *Hyperexponential, one server*: place `branch` holds the number of the branch. Immediate transitions draw it when the
//!   original becomes enabled; the rate of the original is the rate of the branch.
//! * *Enabling memory*: immediate transitions with a priority below all others empty the hidden place if the original is
//!   disabled in an otherwise tangible marking. For age memory there are no such transitions, and the phase is kept.
//! * *Erlang, several servers*: a place for each stage counts the delays in this stage. This is possible only if no
//!   other transition can lower the enabling degree; otherwise the result would depend on
//!   which delay started last.
//!
//! All observable quantities have exactly the same distribution as in the original net (phases after Cox \[Cox1955\]).

use crate::Problems;
use crate::net::expr::{BinaryOp, Function, Leaf};
use crate::net::{
    ArcKind, BuildProblem, ClassId, Delay, Expr, Law, Memory, Net, NetBuilder, Place, PlaceId, Servers, Timing,
    Transition, TransitionId,
};

/// A net whose delays are all exponential.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    /// The net. The places and transitions of the original net come first, with their original numbers and ids; a
    /// firing of one of these transitions is a firing in the original net.
    pub net: Net,
    /// Places that hold phases, not tokens of the original net; reports must omit them.
    pub hidden_places: Vec<PlaceId>,
    /// Transitions that change, draw or drop a phase; their firings are not firings in the original net.
    pub hidden_transitions: Vec<TransitionId>,
}

/// All delays of a net that phases cannot represent.
pub type PhaseError = Problems<PhaseObstacle>;

/// Reason why phases cannot represent a delay. The message includes a remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PhaseObstacle {
    /// A distribution that no finite number of phases can represent.
    #[error("the delay of transition `{transition}` is {law}, which no finite number of phases can represent; {}", advice(.law))]
    Law {
        /// Id of the transition.
        transition: String,
        /// The distribution.
        law: &'static str,
    },
    /// Several servers whose delays could be dropped.
    #[error(
        "transition `{transition}` has several servers, and other transitions can take its tokens or disable it, so the result would depend on which delay started last; simulate the net, or give the transition one server"
    )]
    Preempted {
        /// Id of the transition.
        transition: String,
    },
    /// Several servers of a hyperexponential distribution.
    #[error(
        "transition `{transition}` is hyperexponential with several servers; simulate the net, or give the transition one server"
    )]
    Branches {
        /// Id of the transition.
        transition: String,
    },
    /// A capacity bounds several classes, or arcs whose weight depends on the marking.
    #[error(
        "place `{place}` has a capacity that no arc can express for transition `{transition}`; simulate the net, or bound the place with a complementary place"
    )]
    Capacity {
        /// Id of the transition.
        transition: String,
        /// Id of the place.
        place: String,
    },
    /// The net in which phases replace delays is invalid, for instance because numbers are too large.
    #[error("after phases replaced delays, the net is invalid: {0}")]
    Build(BuildProblem),
}

fn advice(law: &str) -> &'static str {
    match law {
        "deterministic" => {
            "simulate the net, or use an Erlang distribution of many stages (k stages have a coefficient of variation of 1/√k)"
        }
        _ => "simulate the net",
    }
}

/// Returns the net with every Erlang and hyperexponential delay expanded to exponential phases. Exact; see the module's documentation.
///
/// # Errors
///
/// All delays that phases cannot represent, in the order of the net.
pub fn expand_phases(net: &Net) -> Result<Expanded, PhaseError> {
    expand_phases_except(net, |_| false)
}

/// Expands delays as [`expand_phases`] does, except delays whose distributions `kept` accepts.
///
/// # Errors
///
/// The errors of [`expand_phases`].
pub fn expand_phases_except(net: &Net, kept: impl Fn(&Law) -> bool) -> Result<Expanded, PhaseError> {
    let mut draft = Draft::new(net);
    let mut obstacles = Vec::new();
    for (i, transition) in net.transitions().iter().enumerate() {
        let Timing::Timed { delay: Delay::General(law), servers, memory } = &transition.timing else { continue };
        if kept(law) {
            continue;
        }
        let own = Own { id: TransitionId::from_index(i), transition, servers: *servers, memory: *memory };
        if let Err(obstacle) = draft.expand(&own, law) {
            obstacles.push(obstacle);
        }
    }
    Problems::check(obstacles)?;
    let net = draft.builder.build().map_err(|problems| problems.map(PhaseObstacle::Build))?;
    Ok(Expanded { net, hidden_places: draft.places, hidden_transitions: draft.transitions })
}

/// The transition that is expanded.
struct Own<'a> {
    id: TransitionId,
    transition: &'a Transition,
    servers: Servers,
    memory: Memory,
}

/// A condition for a transition to be enabled.
struct Condition {
    place: PlaceId,
    class: ClassId,
    weight: Expr,
    /// True if at least `weight` tokens are required, false if fewer are required.
    at_least: bool,
    /// True for an input arc, which takes the tokens; parallel arcs are merged.
    taken: bool,
}

/// The net under construction.
struct Draft<'a> {
    net: &'a Net,
    builder: NetBuilder,
    places: Vec<PlaceId>,
    transitions: Vec<TransitionId>,
    /// Number of arcs that hidden conditions have, for their ids.
    arcs: usize,
}

/// Priority below all others, see [`Draft::new`].
const LAST: u32 = 0;

impl<'a> Draft<'a> {
    /// Starts with a copy of the net in which no immediate transition has priority 0.
    fn new(net: &'a Net) -> Self {
        let mut builder = net.to_builder();
        let lowest = |t: &Transition| matches!(t.timing, Timing::Immediate { priority: LAST, .. });
        if net.transitions().iter().any(lowest) {
            for i in 0..net.transitions().len() {
                let timing = &mut builder.transition_mut(TransitionId::from_index(i)).timing;
                if let Timing::Immediate { priority, .. } = timing {
                    *priority = priority.saturating_add(1);
                }
            }
        }
        Self { net, builder, places: Vec::new(), transitions: Vec::new(), arcs: 0 }
    }

    fn expand(&mut self, own: &Own, law: &Law) -> Result<(), PhaseObstacle> {
        let transition = own.transition.id.clone();
        match law {
            Law::Erlang { stages: 1, mean } => self.set_rate(own, (1.0 / mean).into(), own.servers),
            Law::Erlang { stages, mean } if own.servers == Servers::Single => {
                self.erlang(own, *stages, f64::from(*stages) / mean)?;
            }
            Law::Erlang { stages, mean } => self.erlang_servers(own, *stages, f64::from(*stages) / mean)?,
            Law::Hyperexponential { branches } => {
                let branches: Vec<_> = branches.iter().filter(|b| b.probability > 0.0).collect();
                match branches[..] {
                    [only] => self.set_rate(own, (1.0 / only.mean).into(), own.servers),
                    _ if own.servers != Servers::Single => return Err(PhaseObstacle::Branches { transition }),
                    _ => {
                        let branches: Vec<_> = branches.iter().map(|b| (b.probability, 1.0 / b.mean)).collect();
                        self.hyperexponential(own, &branches)?;
                    }
                }
            }
            other => return Err(PhaseObstacle::Law { transition, law: other.name() }),
        }
        Ok(())
    }

    fn set_rate(&mut self, own: &Own, rate: Expr, servers: Servers) {
        let timing = Timing::Timed { delay: Delay::Exponential { rate }, servers, memory: own.memory };
        self.builder.transition_mut(own.id).timing = timing;
    }

    fn erlang(&mut self, own: &Own, stages: u32, rate: f64) -> Result<(), PhaseObstacle> {
        let conditions = self.conditions(own)?;
        let place = self.hidden_place(own, "stages", Some(stages - 1));
        let stage = self.hidden_transition(own, "stage", Timing::exponential(rate));
        self.require(stage, &conditions);
        self.builder.output(stage, place, 1.0);
        self.builder.input(place, own.id, f64::from(stages - 1));
        self.set_rate(own, rate.into(), Servers::Single);
        self.reset(own, place, conditions);
        Ok(())
    }

    fn hyperexponential(&mut self, own: &Own, branches: &[(f64, f64)]) -> Result<(), PhaseObstacle> {
        let conditions = self.conditions(own)?;
        let place = self.hidden_place(own, "branch", None);
        let drawn = tokens(place);
        let mut rate = Expr::Number(branches[branches.len() - 1].1);
        for (number, &(probability, own_rate)) in (1_u32..).zip(branches) {
            let draw = self.hidden_transition(own, &format!("draw{number}"), Timing::immediate(probability, LAST));
            self.require(draw, &conditions);
            self.builder.inhibitor(place, draw, 1.0);
            self.builder.output(draw, place, f64::from(number));
            let is_this = binary(BinaryOp::Equal, drawn.clone(), f64::from(number).into());
            rate = Expr::Call(Function::If, vec![is_this, own_rate.into(), rate]);
        }
        self.builder.input(place, own.id, drawn);
        self.set_rate(own, rate, Servers::Single);
        self.reset(own, place, conditions);
        Ok(())
    }

    /// Expands an Erlang delay with several servers: place `j` counts the delays with `j` finished stages. Served enablings that are not
    /// in any of these places are in the first stage.
    fn erlang_servers(&mut self, own: &Own, stages: u32, rate: f64) -> Result<(), PhaseObstacle> {
        let inputs = self.sole_inputs(own)?;
        let places: Vec<PlaceId> = (1..stages).map(|j| self.hidden_place(own, &format!("after{j}"), None)).collect();
        let begun = sum(places.iter().map(|&place| tokens(place)).collect());
        let degree = inputs.iter().map(|input| {
            let held = Expr::Leaf(Leaf::Tokens(input.place, Some(input.class)));
            Expr::Call(Function::Floor, vec![binary(BinaryOp::Divide, held, input.weight.clone())])
        });
        let mut served = degree.collect::<Vec<_>>();
        if let Servers::Limited(most) = own.servers {
            served.push(f64::from(most).into());
        }
        let served = if served.len() == 1 { served.remove(0) } else { Expr::Call(Function::Min, served) };
        let waiting = binary(BinaryOp::Subtract, served, begun.clone());
        let first = Timing::Timed {
            delay: Delay::Exponential { rate: binary(BinaryOp::Multiply, rate.into(), waiting.clone()) },
            servers: Servers::Single,
            memory: own.memory,
        };
        let first = self.hidden_transition(own, "stage1", first);
        for input in &inputs {
            // if no enabling is in the first stage, require more tokens than a place can hold
            let more =
                binary(BinaryOp::Multiply, input.weight.clone(), binary(BinaryOp::Add, begun.clone(), 1.0.into()));
            let none = binary(BinaryOp::LessOrEqual, waiting.clone(), 0.0.into());
            let needed = Expr::Call(Function::If, vec![none, NEVER_HELD.into(), more]);
            self.arc(ArcKind::Test, input.place, input.class, first, needed);
        }
        self.builder.output(first, places[0], 1.0);
        let each = || Timing::Timed {
            delay: Delay::Exponential { rate: rate.into() },
            servers: Servers::Infinite,
            memory: own.memory,
        };
        for (j, pair) in (2..).zip(places.windows(2)) {
            let next = self.hidden_transition(own, &format!("stage{j}"), each());
            self.builder.input(pair[0], next, 1.0);
            self.builder.output(next, pair[1], 1.0);
        }
        self.builder.input(places[places.len() - 1], own.id, 1.0);
        self.set_rate(own, rate.into(), Servers::Infinite);
        Ok(())
    }

    /// Returns the input conditions of a transition; an error if transitions other than itself can lower its enabling degree.
    fn sole_inputs(&self, own: &Own) -> Result<Vec<Condition>, PhaseObstacle> {
        let preempted = || PhaseObstacle::Preempted { transition: own.transition.id.clone() };
        let conditions = self.conditions(own)?;
        let mine = self.net.arcs().iter().filter(|arc| arc.transition == own.id);
        if mine.clone().any(|arc| matches!(arc.kind, ArcKind::Test | ArcKind::Inhibitor)) {
            return Err(preempted());
        }
        let fine = |c: &Condition| {
            let others = self.net.arcs().iter().filter(|arc| arc.place == c.place && arc.transition != own.id);
            c.at_least && c.weight.as_number().is_some() && others.clone().all(|arc| arc.kind != ArcKind::Input)
        };
        if conditions.is_empty() || !conditions.iter().all(fine) {
            return Err(preempted());
        }
        Ok(conditions)
    }

    /// Returns the conditions under which a transition is enabled, with parallel input arcs merged.
    fn conditions(&self, own: &Own) -> Result<Vec<Condition>, PhaseObstacle> {
        let mut conditions: Vec<Condition> = Vec::new();
        let mine = self.net.arcs().iter().filter(|arc| arc.transition == own.id);
        for arc in mine.filter(|arc| arc.kind != ArcKind::Output) {
            for term in &arc.weights {
                let earlier = conditions
                    .iter_mut()
                    .find(|c| arc.kind == ArcKind::Input && c.taken && (c.place, c.class) == (arc.place, term.class));
                match (earlier, arc.kind) {
                    (Some(c), ArcKind::Input) => {
                        c.weight = binary(BinaryOp::Add, rounded(c.weight.clone()), rounded(term.weight.clone()));
                    }
                    _ => conditions.push(Condition {
                        place: arc.place,
                        class: term.class,
                        weight: term.weight.clone(),
                        at_least: arc.kind != ArcKind::Inhibitor,
                        taken: arc.kind == ArcKind::Input,
                    }),
                }
            }
        }
        conditions.retain(|c| !(c.at_least && c.weight.as_number() == Some(0.0)));
        conditions.extend(self.capacities(own)?);
        Ok(conditions)
    }

    /// Returns the capacities that a firing might exceed, as bounds of the tokens before the firing.
    fn capacities(&self, own: &Own) -> Result<Vec<Condition>, PhaseObstacle> {
        let mut conditions = Vec::new();
        let moves = |kind| matches!(kind, ArcKind::Input | ArcKind::Output);
        for (i, place) in self.net.places().iter().enumerate() {
            let Some(capacity) = place.capacity else { continue };
            let id = PlaceId::from_index(i);
            let mut growth = Some(0.0);
            let mine = self.net.arcs().iter().filter(|a| a.transition == own.id && a.place == id && moves(a.kind));
            for (arc, term) in mine.flat_map(|arc| arc.weights.iter().map(move |term| (arc, term))) {
                let sign = if arc.kind == ArcKind::Output { 1.0 } else { -1.0 };
                growth = growth.zip(term.weight.as_number()).map(|(sum, weight)| sum + sign * weight);
            }
            match growth {
                Some(growth) if growth <= 0.0 => {}
                Some(growth) if self.net.classes().len() == 1 => conditions.push(Condition {
                    place: id,
                    class: ClassId::from_index(0),
                    weight: (f64::from(capacity) - growth + 1.0).max(0.0).into(),
                    at_least: false,
                    taken: false,
                }),
                _ => {
                    let transition = own.transition.id.clone();
                    return Err(PhaseObstacle::Capacity { transition, place: place.id.clone() });
                }
            }
        }
        Ok(conditions)
    }

    /// Makes `transition` require `conditions`, without consuming tokens.
    fn require(&mut self, transition: TransitionId, conditions: &[Condition]) {
        for c in conditions {
            let kind = if c.at_least { ArcKind::Test } else { ArcKind::Inhibitor };
            self.arc(kind, c.place, c.class, transition, c.weight.clone());
        }
    }

    /// Adds transitions that empty `place` if one of `conditions` does not hold, unless the transition has age memory.
    fn reset(&mut self, own: &Own, place: PlaceId, conditions: Vec<Condition>) {
        if own.memory == Memory::Age {
            return;
        }
        for (number, c) in (1..).zip(conditions) {
            let reset = self.hidden_transition(own, &format!("reset{number}"), Timing::immediate(1.0, LAST));
            let kind = if c.at_least { ArcKind::Inhibitor } else { ArcKind::Test };
            self.arc(kind, c.place, c.class, reset, c.weight);
            self.builder.test(place, reset, 1.0);
            self.builder.input(place, reset, tokens(place));
        }
    }

    fn arc(&mut self, kind: ArcKind, place: PlaceId, class: ClassId, transition: TransitionId, weight: Expr) {
        let position = self.builder.arc(kind, place, transition, weight);
        // several conditions may concern one place
        let id = format!("{} ({})", self.builder.arc_id(position), self.arcs);
        let arc = self.builder.arc_mut(position);
        (arc.id, arc.weights[0].class) = (id, class);
        self.arcs += 1;
    }

    fn hidden_place(&mut self, own: &Own, what: &str, capacity: Option<u32>) -> PlaceId {
        let id = self.fresh(own, what);
        let place = self.builder.add_place(Place { id, capacity, ..Place::default() });
        self.places.push(place);
        place
    }

    fn hidden_transition(&mut self, own: &Own, what: &str, timing: Timing) -> TransitionId {
        let id = self.fresh(own, what);
        let transition = self.builder.transition(id, timing);
        self.transitions.push(transition);
        transition
    }

    /// Returns an id that no place and no transition has.
    fn fresh(&self, own: &Own, what: &str) -> String {
        let mut id = format!("{}_{what}", own.transition.id);
        while self.net.find_place(&id).is_some() || self.net.find_transition(&id).is_some() {
            id.push('_');
        }
        id
    }
}

/// A weight that exceeds the tokens of any place.
const NEVER_HELD: f64 = 4_000_000_000.0;

/// Returns the tokens of the first class in a hidden place; hidden places hold no other class.
fn tokens(place: PlaceId) -> Expr {
    Expr::Leaf(Leaf::Tokens(place, Some(ClassId::from_index(0))))
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    match (op, a.as_number(), b.as_number()) {
        (BinaryOp::Add, Some(a), Some(b)) => (a + b).into(),
        _ => Expr::Binary(op, Box::new(a), Box::new(b)),
    }
}

/// Returns a weight rounded in the way in which arcs round it.
fn rounded(weight: Expr) -> Expr {
    if weight.as_number().is_some() { weight } else { Expr::Call(Function::Round, vec![weight]) }
}

/// Returns the terms as a balanced sum, in which a thousand terms nest only ten levels deep.
fn sum(mut terms: Vec<Expr>) -> Expr {
    while terms.len() > 1 {
        let mut pairs = Vec::with_capacity(terms.len().div_ceil(2));
        let mut rest = terms.into_iter();
        while let Some(a) = rest.next() {
            pairs.push(match rest.next() {
                Some(b) => binary(BinaryOp::Add, a, b),
                None => a,
            });
        }
        terms = pairs;
    }
    terms.pop().unwrap_or(Expr::Number(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Program, compile};
    use crate::net::Branch;
    use crate::semantics::{Candidates, find_candidates, fire, rate};
    use crate::sim::{EngineChoice, Ensemble, Goal, Question, Unwatched, run};
    use crate::solve::{Chain, LinearSettings, PassageSettings, Rates, passage, steady_state};
    use approx::assert_relative_eq;
    use std::collections::BTreeMap;

    type Marking = Vec<u32>;

    /// Adds the tangible markings to which immediate firings lead from `marking`, with their probabilities.
    fn settle(program: &Program, marking: Marking, p: f64, found: &mut BTreeMap<Marking, f64>) {
        let mut candidates = Candidates::default();
        for group in 0..program.groups.rows() {
            find_candidates(program, group, &marking, &mut candidates).unwrap();
            for (&t, share) in candidates.transitions().iter().zip(candidates.shares()) {
                let mut next = marking.clone();
                fire(program, t as usize, &mut next).unwrap();
                settle(program, next, p * share, found);
            }
            if !candidates.transitions().is_empty() {
                return;
            }
        }
        *found.entry(marking).or_default() += p;
    }

    /// Returns the chain of a small net with exponential delays, and its markings.
    fn explore(net: &Net) -> (Chain, Vec<Marking>) {
        let program = compile(net).unwrap();
        let mut start = BTreeMap::new();
        settle(&program, program.initial.clone(), 1.0, &mut start);
        let mut number: BTreeMap<Marking, u32> = BTreeMap::new();
        let mut markings = Vec::new();
        let mut visit = |marking: &Marking, markings: &mut Vec<Marking>| {
            let new = u32::try_from(markings.len()).unwrap();
            *number.entry(marking.clone()).or_insert_with(|| {
                markings.push(marking.clone());
                new
            })
        };
        let mut initial: Vec<(u32, f64)> = start.iter().map(|(m, p)| (visit(m, &mut markings), *p)).collect();
        initial.sort_by_key(|s| s.0);
        let mut rows = Vec::new();
        while rows.len() < markings.len() {
            let marking = markings[rows.len()].clone();
            let mut row: BTreeMap<u32, f64> = BTreeMap::new();
            for &t in &program.timed {
                let rate = rate(&program, t as usize, &marking).unwrap();
                if rate > 0.0 {
                    let (mut next, mut found) = (marking.clone(), BTreeMap::new());
                    fire(&program, t as usize, &mut next).unwrap();
                    settle(&program, next, 1.0, &mut found);
                    for (m, p) in found {
                        *row.entry(visit(&m, &mut markings)).or_default() += rate * p;
                    }
                }
            }
            row.remove(&u32::try_from(rows.len()).unwrap());
            rows.push(row);
        }
        (Chain { rates: Rates::from_rows(rows), initial }, markings)
    }

    fn timed(law: Law, servers: Servers, memory: Memory) -> Timing {
        Timing::Timed { delay: Delay::General(law), servers, memory }
    }

    fn erlang(stages: u32, mean: f64) -> Law {
        Law::Erlang { stages, mean }
    }

    fn hyperexponential() -> Law {
        Law::Hyperexponential {
            branches: vec![Branch { probability: 0.3, mean: 4.0 }, Branch { probability: 0.7, mean: 0.5 }],
        }
    }

    /// Mean time until `place` holds `tokens` tokens, in the net with phases.
    fn mean_until(net: &Net, place: &str, tokens: u32) -> f64 {
        let expanded = expand_phases(net).unwrap();
        let (chain, markings) = explore(&expanded.net);
        let at = net.find_place(place).unwrap().index() * net.classes().len();
        let targets: Vec<bool> = markings.iter().map(|m| m[at] >= tokens).collect();
        passage(&chain, &targets, &PassageSettings::default()).unwrap().moments().unwrap().mean
    }

    /// A task that only continues while its machine is up; the machine fails at rate 1 and is repaired at rate 2.
    fn interrupted(law: Law, memory: Memory, how: ArcKind) -> Net {
        let mut b = NetBuilder::new("interrupted task");
        let [up, down, task, done] = [("up", 1), ("down", 0), ("task", 1), ("done", 0)].map(|(id, n)| b.place(id, n));
        for (id, r, from, to) in [("fail", 1.0, up, down), ("mend", 2.0, down, up)] {
            let t = b.transition(id, Timing::exponential(r));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let t = b.transition("work", timed(law, Servers::Single, memory));
        b.input(task, t, 1.0);
        match how {
            ArcKind::Inhibitor => b.inhibitor(down, t, 1.0),
            // a capacity that is used up while the machine is down
            ArcKind::Output => {
                b.place_mut(down).capacity = Some(1);
                b.output(t, down, 1.0)
            }
            _ => b.test(up, t, 1.0),
        };
        b.output(t, done, 1.0);
        b.build().unwrap()
    }

    /// With age memory the task resumes: E[T] = E[S] (1 + a/b). With enabling memory it starts anew with a fresh delay:
    /// E[T] = (1/a + 1/b) (1 / E[exp(-a S)] - 1). Without the reset transitions, both results would be those of age memory.
    #[test]
    fn memory_is_that_of_the_net() {
        let laws = [
            (erlang(3, 1.5), 1.5_f64.mul_add(1.0 / 3.0, 1.0).powi(-3)),
            (hyperexponential(), 0.3 / (1.0 + 4.0) + 0.7 / (1.0 + 0.5)),
            (erlang(1, 2.0), 1.0 / 3.0),
        ];
        for (law, transform) in laws {
            for how in [ArcKind::Test, ArcKind::Inhibitor, ArcKind::Output] {
                let enabling = mean_until(&interrupted(law.clone(), Memory::Enabling, how), "done", 1);
                assert_relative_eq!(enabling, 1.5 * (1.0 / transform - 1.0), max_relative = 1e-12);
                let age = mean_until(&interrupted(law.clone(), Memory::Age, how), "done", 1);
                assert_relative_eq!(age, 1.5 * law.mean(), max_relative = 1e-12);
            }
        }
    }

    /// A vanishing marking does not interrupt the delay: an immediate transition returns the token.
    #[test]
    fn vanishing_markings_do_not_interrupt() {
        let mut b = NetBuilder::new("");
        let [task, away, done] = [("task", 1), ("away", 0), ("done", 0)].map(|id| b.place(id.0, id.1));
        let take = b.transition("take", Timing::exponential(3.0));
        b.input(task, take, 1.0);
        b.output(take, away, 1.0);
        // the lowest possible priority
        let give = b.transition("give", Timing::immediate(1.0, 0));
        b.input(away, give, 1.0);
        b.output(give, task, 1.0);
        let work = b.transition("work", Timing::general(erlang(4, 2.0)));
        b.input(task, work, 1.0);
        b.output(work, done, 1.0);
        assert_relative_eq!(mean_until(&b.build().unwrap(), "done", 1), 2.0, max_relative = 1e-12);
    }

    /// M/E_k/1/K and M/H_2/1/K compared with the simulated net, including the throughput of the transition itself.
    #[test]
    fn a_queue_has_the_averages_of_its_simulation() {
        for law in [erlang(3, 0.8), hyperexponential()] {
            let mut b = NetBuilder::new("");
            let [free, queue] = [("free", 4), ("queue", 0)].map(|id| b.place(id.0, id.1));
            let arrive = b.transition("arrive", Timing::exponential(0.9));
            b.input(free, arrive, 1.0);
            b.output(arrive, queue, 1.0);
            let serve = b.transition("serve", Timing::general(law));
            b.input(queue, serve, 1.0);
            b.output(serve, free, 1.0);
            let net = b.build().unwrap();
            let (chain, markings) = explore(&expand_phases(&net).unwrap().net);
            let steady = steady_state(&chain, &LinearSettings::default()).unwrap();
            let exact: f64 = steady.probabilities.iter().zip(&markings).map(|(p, m)| p * f64::from(m[1])).sum();
            let question = Question {
                goal: Goal::Horizon,
                horizon: Some(400.0),
                warm_up: 100.0,
                tokens: true,
                ..Question::default()
            };
            let ensemble =
                Ensemble { replications: 4_000, seed: 5, engine: EngineChoice::Clock, ..Ensemble::default() };
            let sample =
                run(&compile(&net).unwrap(), &question, &ensemble, &Unwatched).unwrap().samples.averages().tokens[1];
            let error = (sample.variance().unwrap() / sample.count() as f64).sqrt();
            assert!(error < 0.002 * exact, "{error}");
            assert!((sample.mean().unwrap() - exact).abs() < 5.0 * error, "{:?} {exact} {error}", sample.mean());
        }
    }

    /// Parallel Erlang tasks on several servers: with enough servers, the time is that of the last task; with one server, the sum.
    /// Seen to fail when hidden arcs between the same nodes have the same id.
    #[test]
    fn several_conditions_may_concern_one_place() {
        for law in [erlang(3, 1.5), hyperexponential()] {
            let mut b = NetBuilder::new("");
            let [tasks, done] = [("tasks", 2), ("done", 0)].map(|id| b.place(id.0, id.1));
            let work = b.transition("work", Timing::general(law.clone()));
            b.input(tasks, work, 1.0);
            b.test(tasks, work, 2.0);
            b.inhibitor(done, work, 3.0);
            b.output(work, done, 1.0);
            b.place_mut(done).capacity = Some(5);
            let net = b.build().unwrap();
            assert_relative_eq!(mean_until(&net, "done", 1), law.mean(), max_relative = 1e-12);
        }
    }

    #[test]
    fn several_servers_work_side_by_side() {
        let net = |servers| {
            let mut b = NetBuilder::new("");
            let [tasks, done] = [("tasks", 8), ("done", 0)].map(|id| b.place(id.0, id.1));
            let work = b.transition("work", timed(erlang(3, 1.5), servers, Memory::Enabling));
            // two tokens make a task
            b.input(tasks, work, 2.0);
            b.output(work, done, 1.0);
            b.build().unwrap()
        };
        assert_relative_eq!(mean_until(&net(Servers::Limited(1)), "done", 4), 6.0, max_relative = 1e-12);
        // the mean of the last of four Erlang times, by integration of 1 - F^4
        let survival = |t: f64| {
            let x = 2.0 * t;
            1.0 - (1.0 - (-x).exp() * (1.0 + x + x * x / 2.0)).powi(4)
        };
        let last: f64 = (0..400_000).map(|i| survival((f64::from(i) + 0.5) * 1e-4) * 1e-4).sum();
        for servers in [Servers::Infinite, Servers::Limited(4)] {
            assert_relative_eq!(mean_until(&net(servers), "done", 4), last, max_relative = 1e-8);
        }
        // two servers, compared with the clock form
        let two = net(Servers::Limited(2));
        let exact = mean_until(&two, "done", 4);
        let goal = Goal::marking(&two, "#(done) >= 4").unwrap();
        let question = Question { goal, ..Question::default() };
        let ensemble = Ensemble { replications: 200_000, seed: 9, engine: EngineChoice::Clock, ..Ensemble::default() };
        let sample = run(&compile(&two).unwrap(), &question, &ensemble, &Unwatched).unwrap().samples;
        let tick = sample.clock.tick();
        let error = tick * (sample.passage.variance().unwrap() / 200_000.0).sqrt();
        let mean = sample.passage.mean_ticks().unwrap() * tick;
        assert!(error < 0.002 * exact && (mean - exact).abs() < 5.0 * error, "{mean} {exact} {error}");
    }

    #[test]
    fn added_parts_are_listed_and_original_parts_keep_their_positions() {
        let net = interrupted(erlang(3, 1.0), Memory::Enabling, ArcKind::Test);
        let expanded = expand_phases(&net).unwrap();
        let hidden: Vec<_> = expanded.hidden_places.iter().map(|&p| expanded.net.place(p).id.as_str()).collect();
        assert_eq!(hidden, ["work_stages"]);
        let hidden = expanded.hidden_transitions.iter().map(|&t| expanded.net.transition(t).id.as_str());
        assert_eq!(hidden.collect::<Vec<_>>(), ["work_stage", "work_reset1", "work_reset2"]);
        for (i, place) in net.places().iter().enumerate() {
            assert_eq!(place.id, expanded.net.places()[i].id);
        }
        let exponential = interrupted(erlang(1, 1.0), Memory::Enabling, ArcKind::Test);
        assert!(expand_phases(&exponential).unwrap().hidden_places.is_empty());
    }

    #[test]
    fn delays_without_phases_are_refused_with_advice() {
        let refused = |law, servers, thief: bool| {
            let mut b = NetBuilder::new("");
            let p = b.place("p", 2);
            let t = b.transition("t", timed(law, servers, Memory::Enabling));
            b.input(p, t, 1.0);
            if thief {
                let u = b.transition("u", Timing::exponential(1.0));
                b.input(p, u, 1.0);
            }
            expand_phases(&b.build().unwrap()).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let fixed = refused(Law::Deterministic { delay: 1.0 }, Servers::Single, false);
        assert!(fixed[0].contains("use an Erlang distribution of many stages"), "{fixed:?}");
        let tail = refused(Law::LogNormal { mean: 1.0, cv: 1.0 }, Servers::Single, false);
        assert_eq!(
            tail,
            [
                "the delay of transition `t` is lognormal, which no finite number of phases can represent; simulate the net"
            ]
        );
        assert!(refused(erlang(2, 1.0), Servers::Infinite, true)[0].contains("which delay started last"));
        assert!(refused(hyperexponential(), Servers::Infinite, false)[0].contains("several servers"));
    }
}
