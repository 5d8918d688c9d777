//! Turns edges that happen together into transitions: guards become test arcs, inhibitor arcs and conditions, assignments become arcs.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::formats::jani::algebra::{Linear, all, binary, call, choose, is, tokens};
use crate::formats::jani::automata::{Instance, MOST_TRANSITIONS, Step};
use crate::formats::jani::fail::{Parsed, expression, fail, list, part, text};
use crate::formats::jani::guard::Guard;
use crate::formats::jani::scope::{Named, Scope, Site};
use crate::net::expr::{BinaryOp, Expr, Function};
use crate::net::{Delay, Memory, NetBuilder, PlaceId, Servers, Timing, TransitionId};

/// The amount that a transition adds to a transient variable when it fires.
#[derive(Clone, Debug)]
pub(super) struct Impulse<'j> {
    pub(super) variable: &'j str,
    pub(super) transition: TransitionId,
    pub(super) value: Expr,
}

/// Creates the transitions of a model.
pub(super) struct Maker<'m, 'j> {
    pub(super) scope: &'m Scope<'j>,
    pub(super) instances: &'m [Instance<'j>],
    /// True if edges without a rate are allowed: the model is a Markov automaton.
    pub(super) immediate: bool,
    pub(super) net: &'m mut NetBuilder,
    pub(super) impulses: Vec<Impulse<'j>>,
    most: Vec<u32>,
    names: HashSet<String>,
}

/// Change of one place: by a number of tokens, or to the value of an expression.
#[derive(Debug)]
enum Change {
    By(i64),
    To { input: Option<Expr>, output: Option<Expr> },
}

/// The part of a step that is common to all its destinations.
struct Enabled<'s, 'j> {
    step: &'s Step<'j>,
    sources: Vec<Option<PlaceId>>,
    guard: Expr,
    rate: Option<Expr>,
}

impl<'m, 'j> Maker<'m, 'j> {
    pub(super) fn new(
        scope: &'m Scope<'j>,
        instances: &'m [Instance<'j>],
        most: Vec<u32>,
        immediate: bool,
        net: &'m mut NetBuilder,
    ) -> Self {
        Self { scope, instances, immediate, net, impulses: Vec::new(), most, names: HashSet::new() }
    }

    /// Creates the transitions of all steps.
    pub(super) fn make(&mut self, steps: &[Step<'j>]) -> Parsed<'j, ()> {
        let enabled: Vec<Enabled<'_, 'j>> = steps.iter().map(|step| self.enabled(step)).collect::<Result<_, _>>()?;
        self.check_choices(&enabled)?;
        for step in &enabled {
            self.destinations(step)?;
        }
        Ok(())
    }

    fn enabled<'s>(&self, step: &'s Step<'j>) -> Parsed<'j, Enabled<'s, 'j>> {
        let (mut sources, mut guards, mut rates) = (Vec::new(), Vec::new(), Vec::new());
        for &(at, edge) in &step.edges {
            sources.push(self.instances[at].location(edge)?);
            let site = Site::within(at);
            guards.extend(expression(edge, "guard")?.map(|guard| self.scope.expression(guard, site)).transpose()?);
            rates.extend(expression(edge, "rate")?.map(|rate| self.scope.expression(rate, site)).transpose()?);
        }
        let (_, edge) = step.edges[0];
        let rate = match rates.len() {
            0 if self.immediate => None,
            0 => return fail(edge, "an edge of a CTMC needs a rate"),
            count if count == step.edges.len() => rates.into_iter().reduce(|a, b| binary(BinaryOp::Multiply, a, b)),
            _ => {
                return fail(
                    edge,
                    format!("some of the edges synchronised as `{}` have a rate and some do not", step.name),
                );
            }
        };
        Ok(Enabled { step, sources, guard: all(guards), rate })
    }

    /// Refuses a model in which two edges without a rate can be enabled together: their order is undefined.
    fn check_choices(&self, enabled: &[Enabled<'_, 'j>]) -> Parsed<'j, ()> {
        let immediate: Vec<&Enabled<'_, 'j>> = enabled.iter().filter(|step| step.rate.is_none()).collect();
        for (i, second) in immediate.iter().enumerate() {
            for first in &immediate[..i] {
                let apart = first.step.edges.iter().zip(&first.sources).any(|((at, _), source)| {
                    let mut others = second.step.edges.iter().zip(&second.sources);
                    others.any(|((other, _), place)| at == other && source != place)
                });
                let mut both = Guard::new(&self.most);
                both.require(&first.guard, true);
                both.require(&second.guard, true);
                if !apart && both.is_possible() {
                    let reason = format!(
                        "the model is non-deterministic: this edge (`{}`) and the edge `{}` have no rates and can be enabled together, but their order is undefined",
                        second.step.name, first.step.name
                    );
                    return fail(second.step.edges[0].1, reason);
                }
            }
        }
        Ok(())
    }

    /// Creates a transition for each combination of destinations.
    fn destinations(&mut self, enabled: &Enabled<'_, 'j>) -> Parsed<'j, ()> {
        let mut combinations: Vec<Vec<&'j Value>> = vec![Vec::new()];
        for &(_, edge) in &enabled.step.edges {
            let all = list(edge, "destinations")?;
            if all.is_empty() {
                return fail(edge, "an edge needs a destination");
            }
            if combinations.len() * all.len() + self.names.len() > MOST_TRANSITIONS {
                return fail(edge, format!("the model needs more than {MOST_TRANSITIONS} transitions, the limit"));
            }
            combinations = combinations
                .iter()
                .flat_map(|before| all.iter().map(move |one| before.iter().copied().chain([one]).collect()))
                .collect();
        }
        let only = combinations.len() == 1;
        for (i, destinations) in combinations.iter().enumerate() {
            let name = if only { enabled.step.name.clone() } else { format!("{}_{}", enabled.step.name, i + 1) };
            self.transition(enabled, destinations, &name, only)?;
        }
        Ok(())
    }

    fn transition(
        &mut self,
        enabled: &Enabled<'_, 'j>,
        destinations: &[&'j Value],
        name: &str,
        only: bool,
    ) -> Parsed<'j, ()> {
        let mut guard = Guard::new(&self.most);
        guard.require(&enabled.guard, true);
        if guard.never {
            return Ok(());
        }
        let mut share = Expr::Number(1.0);
        let mut changes = BTreeMap::new();
        let mut additions = Vec::new();
        for ((&(at, _), source), &destination) in enabled.step.edges.iter().zip(&enabled.sources).zip(destinations) {
            if let Some(probability) = expression(destination, "probability")? {
                share = binary(BinaryOp::Multiply, share, self.scope.expression(probability, Site::within(at))?);
            }
            let target = self.instances[at].location(destination)?;
            if let (Some(source), Some(target)) = (*source, target) {
                guard.require(&tokens(source), true);
                if source != target {
                    changes.insert(source, Change::By(-1));
                    changes.insert(target, Change::By(1));
                }
            }
            self.assignments(at, destination, &guard, &mut changes, &mut additions)?;
        }
        let condition = all(guard.rest.iter().cloned());
        let timing = match &enabled.rate {
            Some(rate) => {
                let rate = choose(condition, binary(BinaryOp::Multiply, rate.clone(), share), Expr::Number(0.0));
                if rate.as_number().is_some_and(|rate| !rate.is_finite() || rate < 0.0) {
                    return fail(
                        enabled.step.edges[0].1,
                        format!("the rate of `{name}` must be finite and not negative"),
                    );
                }
                Timing::Timed { delay: Delay::Exponential { rate }, servers: Servers::Single, memory: Memory::Enabling }
            }
            None => {
                let weight = if only { Expr::Number(1.0) } else { share };
                Timing::Immediate { weight: choose(condition, weight, Expr::Number(0.0)), priority: 1 }
            }
        };
        if is_never(&timing) {
            return Ok(());
        }
        let transition = self.net.transition(fresh(name, &mut self.names), timing);
        self.impulses.extend(additions.into_iter().map(|(variable, value)| Impulse { variable, transition, value }));
        connect(transition, &guard, &changes, &self.most, self.net);
        Ok(())
    }

    fn assignments(
        &self,
        at: usize,
        destination: &'j Value,
        guard: &Guard<'_>,
        changes: &mut BTreeMap<PlaceId, Change>,
        additions: &mut Vec<(&'j str, Expr)>,
    ) -> Parsed<'j, ()> {
        let assignments = list(destination, "assignments")?;
        let index = |assignment: &Value| assignment.get("index").and_then(Value::as_i64).unwrap_or(0);
        for assignment in assignments {
            if index(assignment) != index(&assignments[0]) {
                return fail(assignment, "ordered assignments (`index`) are not supported");
            }
            if !assignment.get("ref").is_some_and(Value::is_string) {
                return fail(assignment, "assignments to parts of arrays and data types are not supported");
            }
            let name = text(assignment, "ref")?;
            let value = part(assignment, "value")?;
            let assigned = self.scope.expression(value, Site::within(at))?;
            match self.scope.variable(name, Some(at)) {
                Some(Named::Place { place, lower }) => {
                    let aim = binary(BinaryOp::Subtract, assigned, Expr::Number(lower));
                    let change = change(assignment, name, place, aim, guard)?;
                    if changes.insert(place, change).is_some() {
                        return fail(assignment, format!("`{name}` is assigned twice in one step"));
                    }
                }
                Some(Named::Transient(_)) => additions.push((name, assigned)),
                None => return fail(assignment, format!("there is no variable `{name}`")),
            }
        }
        Ok(())
    }
}

/// The change that an assignment makes to the tokens of a place if the guard holds.
fn change<'j>(assignment: &'j Value, name: &str, place: PlaceId, aim: Expr, guard: &Guard<'_>) -> Parsed<'j, Change> {
    let wrong = |reason: String| fail(assignment, format!("the assignment to `{name}` {reason}"));
    let difference = binary(BinaryOp::Subtract, aim.clone(), tokens(place));
    let linear = Linear::of(&difference).map(|linear| linear.with(|place| guard.fixed(place)));
    let Some(linear) = linear else {
        let side =
            |a: Expr, b: Expr| Some(call(Function::Max, vec![binary(BinaryOp::Subtract, a, b), Expr::Number(0.0)]));
        return Ok(Change::To { input: side(tokens(place), aim.clone()), output: side(aim, tokens(place)) });
    };
    // sums such as 0.1 + 0.2 + 0.7 are whole numbers except for rounding
    if linear.numbers().any(|number| (number - number.round()).abs() > 1e-9 || number.abs() >= f64::from(1_u32 << 31)) {
        return wrong("does not evaluate to a whole number".to_owned());
    }
    if linear.terms.is_empty() {
        return Ok(Change::By(linear.constant.round() as i64));
    }
    if linear.numbers().all(|number| number >= 0.0) {
        return Ok(Change::To { input: None, output: Some(linear.expression(1.0)) });
    }
    if linear.numbers().all(|number| number <= 0.0) {
        return Ok(Change::To { input: Some(linear.expression(-1.0)), output: None });
    }
    let side = |factor| Some(call(Function::Max, vec![linear.expression(factor), Expr::Number(0.0)]));
    Ok(Change::To { input: side(-1.0), output: side(1.0) })
}

/// Returns true if a transition cannot fire in any marking.
fn is_never(timing: &Timing) -> bool {
    matches!(timing, Timing::Immediate { weight, .. } if is(weight, 0.0))
}

/// An unused name for a transition.
fn fresh(name: &str, names: &mut HashSet<String>) -> String {
    let mut id = name.to_owned();
    let mut number = 1;
    while !names.insert(id.clone()) {
        number += 1;
        id = format!("{name}_{number}");
    }
    id
}

/// Adds the arcs of a transition. Bounds that other arcs or a capacity imply get no separate arc.
fn connect(
    transition: TransitionId,
    guard: &Guard<'_>,
    changes: &BTreeMap<PlaceId, Change>,
    most: &[u32],
    net: &mut NetBuilder,
) {
    let mut places: Vec<PlaceId> = guard.narrowed().chain(changes.keys().copied()).collect();
    places.sort_unstable();
    places.dedup();
    for place in places {
        let (low, high) = guard.bounds(place);
        let full = i64::from(most[place.index()]);
        let (mut needed, mut allowed) = (0, full);
        match changes.get(&place) {
            Some(Change::By(by)) => {
                if *by < 0 {
                    net.input(place, transition, -by as f64);
                    needed = -by;
                } else if *by > 0 {
                    net.output(transition, place, *by as f64);
                    allowed = full - by;
                }
            }
            Some(Change::To { input, output }) => {
                if let Some(weight) = input {
                    net.input(place, transition, weight.clone());
                }
                if let Some(weight) = output {
                    net.output(transition, place, weight.clone());
                }
            }
            None => {}
        }
        if low > needed {
            net.test(place, transition, low as f64);
        }
        if high < allowed {
            net.inhibitor(place, transition, (high + 1) as f64);
        }
    }
}
