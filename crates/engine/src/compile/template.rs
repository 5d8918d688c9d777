//! A net that is compiled once for many nets that differ only in rates, weights and the parameters of distributions.
//!
//! Checks that there are no other differences, and determines the parts of a program and its
//! schedule that are rates. The check covers properties that a rate may change: the timed
//! transitions, the counters that each part reads, and the weights and rates of 0.

use std::sync::Arc;

use crate::compile::influence::choice_weights;
use crate::compile::program::{Firing, Program, Value};
use crate::compile::schedule::{SchedulePlan, plan_schedule};
use crate::compile::{CompileError, compile, lower_timing};
use crate::net::expr::Leaf;
use crate::net::{Delay, Net, Timing, TransitionId};

/// A compiled net whose structure other nets share.
#[derive(Clone, Debug)]
pub struct Template {
    net: Net,
    compiled: Compiled,
    /// True if a rate parameter occurs in the weight of an arc.
    arcs_vary: bool,
}

/// A program, and its straight-line form if that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Schedule of the net; none if the net has no schedule, or if it was not derived.
    pub schedule: Option<Arc<SchedulePlan>>,
}

impl Template {
    /// Compiles a net.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`].
    pub fn new(net: Net) -> Result<Self, CompileError> {
        let program = compile(&net)?;
        let schedule = plan_schedule(&program).ok().map(Arc::new);
        let mut arcs_vary = false;
        for weight in net.arcs().iter().flat_map(|arc| &arc.weights) {
            weight.weight.for_each_leaf(&mut |leaf| arcs_vary |= matches!(leaf, Leaf::Parameter(_)));
        }
        Ok(Self { net, compiled: Compiled { program, schedule }, arcs_vary })
    }

    /// The compiled net.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// Returns the result of [`compile`] and [`plan_schedule`] for the net with other timings of these transitions;
    /// none if the structure would differ, or if a timing is invalid.
    pub fn retimed(&self, timings: &[(TransitionId, Timing)]) -> Option<Compiled> {
        let mut firing = self.compiled.program.firing.clone();
        for (id, timing) in timings {
            firing[id.index()] = lowered(&self.net, *id, timing)?;
        }
        self.with_firing(firing)
    }

    /// As [`retimed`](Self::retimed), but for `net`: the net of the template with other values of its rate parameters.
    pub fn with_parameters(&self, net: &Net) -> Option<Compiled> {
        if self.arcs_vary || net.transitions().len() != self.net.transitions().len() {
            return None;
        }
        let timings = net.transitions().iter().enumerate();
        let firing = timings.map(|(t, transition)| lowered(net, TransitionId::from_index(t), &transition.timing));
        self.with_firing(firing.collect::<Option<_>>()?)
    }

    fn with_firing(&self, firing: Vec<Firing>) -> Option<Compiled> {
        let own = &self.compiled.program;
        if !own.firing.iter().zip(&firing).all(|(own, new)| same_structure(own, new)) {
            return None;
        }
        let mut program = Program { firing, ..own.clone() };
        program.choice_weight = choice_weights(&program);
        let schedule = self.compiled.schedule.as_ref().and_then(|plan| rescheduled(plan, own, &program));
        Some(Compiled { program, schedule })
    }
}

/// A timing in numbers; none if it is invalid.
fn lowered(net: &Net, id: TransitionId, timing: &Timing) -> Option<Firing> {
    if let Timing::Timed { delay: Delay::General(law), .. } = timing
        && law.problem().is_some()
    {
        return None;
    }
    let mut errors = Vec::new();
    let firing = lower_timing(net, id, timing, &mut errors);
    errors.is_empty().then_some(firing)
}

/// Returns true if only numbers differ, so that influences, groups and their order stay the same.
fn same_structure(a: &Firing, b: &Firing) -> bool {
    let kind = match (a, b) {
        (Firing::Immediate { priority: a, .. }, Firing::Immediate { priority: b, .. }) => a == b,
        (Firing::Immediate { .. }, _) | (_, Firing::Immediate { .. }) => false,
        _ => true,
    };
    kind && counters(a) == counters(b)
}

/// Counters that a rate or weight reads; none if it is constant.
fn counters(firing: &Firing) -> Option<Vec<u32>> {
    match firing {
        Firing::Immediate { weight: Value::Code(code), .. } | Firing::Exponential { rate: Value::Code(code), .. } => {
            Some(code.counters().collect())
        }
        _ => None,
    }
}

/// The schedule of a program that differs only in rates; none if a rate or weight of 0 would change the structure.
fn rescheduled(plan: &Arc<SchedulePlan>, own: &Program, program: &Program) -> Option<Arc<SchedulePlan>> {
    let moves = |firing: &Firing| match firing {
        Firing::Exponential { rate, .. } => rate.as_constant().is_some_and(|rate| rate > 0.0),
        _ => true,
    };
    let same_zeros = own.choice_weight.iter().zip(&program.choice_weight).all(|(a, b)| (*a > 0) == (*b > 0));
    if !program.firing.iter().all(moves) || !same_zeros {
        return None;
    }
    if own.choice_weight == program.choice_weight {
        return Some(Arc::clone(plan));
    }
    let mut plan = SchedulePlan::clone(plan);
    for choice in &mut plan.choices {
        let mut sum = 0;
        let branches = program.groups.row(choice.group as usize).iter();
        let upper = branches.map(|&t| {
            sum += program.choice_weight[t as usize];
            sum
        });
        choice.cumulative = upper.collect();
    }
    Some(Arc::new(plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Expr, Law, Memory, NetBuilder, Servers};

    /// Start, a choice of two branches of which one is timed by a parameter, and a last delay.
    fn net(speed: f64, weight: f64) -> Net {
        let mut b = NetBuilder::new("");
        let (start, a, c, end) = (b.place("start", 1), b.place("a", 0), b.place("c", 0), b.place("end", 0));
        let rate = Expr::Leaf(Leaf::Parameter(b.parameter("speed", speed)));
        let delay = Delay::Exponential { rate };
        let work = b.transition("work", Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling });
        let skip = b.transition("skip", Timing::exponential(3.0));
        let choices = [("left", a, weight), ("right", c, 1.0)];
        for (name, to, weight) in choices {
            let choice = b.transition(name, Timing::immediate(weight, 1));
            b.input(start, choice, 1.0);
            b.output(choice, to, 1.0);
        }
        b.input(a, work, 1.0);
        b.output(work, end, 1.0);
        b.input(c, skip, 1.0);
        b.output(skip, end, 1.0);
        b.build().unwrap()
    }

    fn fresh(net: &Net) -> Compiled {
        let program = compile(net).unwrap();
        let schedule = plan_schedule(&program).ok().map(Arc::new);
        Compiled { program, schedule }
    }

    #[test]
    fn new_parameters_and_timings_equal_a_fresh_compilation() {
        let template = Template::new(net(2.0, 1.0)).unwrap();
        assert!(template.compiled().schedule.is_some());
        let other = net(0.25, 1.0);
        assert_eq!(template.with_parameters(&other).unwrap(), fresh(&other));
        // other weights: the choice of the schedule as well
        let other = net(2.0, 5.0);
        let made = template.with_parameters(&other).unwrap();
        assert_eq!(made, fresh(&other));
        assert_ne!(made.schedule, template.compiled().schedule);
        let work = other.find_transition("work").unwrap();
        let law = Timing::general(Law::Uniform { low: 1.0, high: 2.0 });
        let mut builder = net(2.0, 1.0).to_builder();
        builder.transition_mut(work).timing = law.clone();
        assert_eq!(template.retimed(&[(work, law)]).unwrap(), fresh(&builder.build().unwrap()));
    }

    #[test]
    fn timings_that_change_the_structure_do_not_fit_the_template() {
        let template = Template::new(net(2.0, 1.0)).unwrap();
        let net = net(2.0, 1.0);
        let id = |name| net.find_transition(name).unwrap();
        assert!(template.retimed(&[(id("work"), Timing::immediate(1.0, 1))]).is_none());
        assert!(template.retimed(&[(id("left"), Timing::immediate(1.0, 2))]).is_none());
        assert!(template.retimed(&[(id("left"), Timing::exponential(1.0))]).is_none());
        assert!(template.retimed(&[(id("work"), Timing::exponential(-1.0))]).is_none());
        assert!(template.retimed(&[(id("work"), Timing::general(Law::Erlang { stages: 0, mean: 1.0 }))]).is_none());
        let by_marking = net.expression("#(a) * 2").unwrap();
        let delay = Delay::Exponential { rate: by_marking };
        let timing = Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling };
        assert!(template.retimed(&[(id("work"), timing)]).is_none());
        // weights and rates of 0 do not change the structure of a program, but they change the structure of a schedule
        assert_eq!(template.retimed(&[(id("left"), Timing::immediate(0.0, 1))]).unwrap().schedule, None);
        assert_eq!(template.retimed(&[(id("work"), Timing::exponential(0.0))]).unwrap().schedule, None);
    }
}
