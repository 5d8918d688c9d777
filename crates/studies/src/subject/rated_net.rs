//! A net whose rate parameters a study varies: folded and compiled once for all values.

use crate::compile::{Compiled, Template, compile};
use crate::net::Net;
use crate::net::expr::Leaf;
use crate::sim::{FoldedParts, NotFolded, Prepared};
use crate::subject::at::net_at;
use crate::subject::goal::{GoalText, ResolvedGoal};
use crate::sweep::{Axis, NetModel, Point};

/// Maximum number of firings of a replication of a net.
pub(super) const MOST_FIRINGS: u64 = 10_000_000;

/// The net that is simulated. Its rates are expressions over the rate parameters of the original net.
#[derive(Debug)]
pub(super) struct RatedNet {
    net: Net,
    goal: ResolvedGoal,
    /// The compiled net; none if it does not compile with its original rates.
    template: Option<Template>,
    folded: Option<FoldedParts>,
    not_folded: Vec<NotFolded>,
}

impl RatedNet {
    /// Prepares a net and its goal, which must be valid. With `fold`, parts are folded if they are equal for all values of the rate parameters.
    pub(super) fn new(net: &Net, goal: &GoalText, fold: bool) -> Self {
        let goal = goal.resolved(net);
        let prepared = if fold { prepared(net, &goal) } else { None };
        let not_folded = prepared.as_ref().map(|prepared| prepared.not_folded().to_vec()).unwrap_or_default();
        let folded = prepared.and_then(|prepared| folded(&prepared, &goal));
        let (net, goal, folded) = folded.unwrap_or_else(|| (net.clone(), goal, None));
        let template = Template::new(net.clone()).ok();
        Self { net, goal, template, folded, not_folded }
    }

    /// Returns the model to replicate at a point.
    ///
    /// # Errors
    ///
    /// Reason why the values of the point do not form a valid net.
    pub(super) fn model(&self, axes: &[Axis], point: &Point) -> Result<NetModel, String> {
        let net = net_at(&self.net, axes, point).map_err(|misfit| misfit.message)?;
        let question = self.goal.question(&net, MOST_FIRINGS);
        let known = self.template.as_ref().and_then(|template| template.with_parameters(&net));
        let anew = || {
            let program = compile(&net).map_err(|errors| errors.to_string())?;
            Ok::<_, String>(Compiled { program, schedule: None })
        };
        let Compiled { program, schedule } = known.map_or_else(anew, Ok)?;
        let groups = program.groups.rows();
        let program = match question.end() {
            Some(end) => program.observing(&end),
            None => program,
        };
        // a schedule of groups that are now one is no longer valid
        let schedule = schedule.filter(|_| program.groups.rows() == groups);
        let not_folded = self.not_folded.clone();
        Ok(NetModel { schedule, question, folded: self.folded, not_folded, ..NetModel::new(program) })
    }
}

/// Prepares the net, folded if possible. Rates stay expressions of rate parameters, but arc weights are treated as constants; so
/// none is returned if weights depend on parameters.
fn prepared(net: &Net, goal: &ResolvedGoal) -> Option<Prepared> {
    let mut arcs_vary = false;
    for weight in net.arcs().iter().flat_map(|arc| &arc.weights) {
        weight.weight.for_each_leaf(&mut |leaf| arcs_vary |= matches!(leaf, Leaf::Parameter(_)));
    }
    if arcs_vary {
        return None;
    }
    Prepared::new(net, &goal.question(net, MOST_FIRINGS), true).ok()
}

/// The folded net and its goal; none if nothing folds.
fn folded(prepared: &Prepared, goal: &ResolvedGoal) -> Option<(Net, ResolvedGoal, Option<FoldedParts>)> {
    let folding = prepared.folding()?;
    Some((folding.net().clone(), goal.folded(folding)?, prepared.folded_parts()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::expr::Expr;
    use crate::net::{Delay, Memory, NetBuilder, Servers, Timing};
    use crate::sim::{Ensemble, Unwatched, run};
    use toml::Value;

    /// Six tasks of two kinds on two slots. The rates of the two kinds are separate parameters that have equal values here.
    fn tasks() -> Net {
        let mut b = NetBuilder::new("tasks");
        let (slots, done) = (b.place("slots", 2), b.place("done", 0));
        let kinds = ["fast", "slow"].map(|name| b.parameter(name, 1.0));
        for task in 0..6 {
            let [todo, busy] = [("todo", 1), ("busy", 0)].map(|(name, n)| b.place(format!("{name}{task}"), n));
            let start = b.transition(format!("start{task}"), Timing::immediate(1.0, 1));
            let rate = Expr::Leaf(Leaf::Parameter(kinds[task % 2]));
            let delay = Delay::Exponential { rate };
            let timing = Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling };
            let work = b.transition(format!("work{task}"), timing);
            for place in [todo, slots] {
                b.input(place, start, 1.0);
            }
            b.output(start, busy, 1.0);
            b.input(busy, work, 1.0);
            for place in [slots, done] {
                b.output(work, place, 1.0);
            }
        }
        b.build().unwrap()
    }

    /// Tasks whose rates are equal by chance must not be folded, because a point that changes one rate would then change both.
    #[test]
    fn folded_rates_stay_expressions_of_their_own_parameters() {
        let net = tasks();
        let axes = [Axis { key: "slow".into(), ..Axis::default() }];
        for until in [None, Some("#(done) >= 5")] {
            let [apart, folded] = [false, true].map(|fold| RatedNet::new(&net, &GoalText::until(until), fold));
            let found = folded.model(&axes, &Point::base(1)).unwrap();
            let parts = found.folded.unwrap();
            assert_eq!(
                [parts.places_before, parts.places, parts.transitions_before, parts.transitions],
                [14, 6, 12, 4]
            );
            for slow in [1.0, 0.1] {
                let point = Point::base(1).with(0, Value::Float(slow));
                let times = [&apart, &folded].map(|rated| {
                    let model = rated.model(&axes, &point).unwrap();
                    let ensemble = Ensemble { replications: 40_000, seed: 3, ..Ensemble::default() };
                    let samples = run(&model.program, &model.question, &ensemble, &Unwatched).unwrap().samples;
                    let mean = samples.passage.mean_estimate(0.95).unwrap();
                    [mean.value, mean.half_width / 1.96].map(|ticks| ticks * samples.clock.tick())
                });
                let [[a, a_error], [b, b_error]] = times;
                let error = a_error.hypot(b_error);
                assert!(error < 0.01 * a && (a - b).abs() < 5.0 * error, "{slow}: {times:?}");
            }
        }
    }

    /// An immediate transition of weight 1 and one of weight 3 can fire at once; the goal holds only if the first one fires
    /// first, which has probability 1/4.
    #[test]
    fn a_goal_between_firings_of_immediate_transitions_is_observed() {
        let mut b = NetBuilder::new("order");
        let rate = b.parameter("rate", 1.0);
        let [p, a, b_place, c, d] = ["p", "a", "b", "c", "d"].map(|id| b.place(id, u32::from(id == "p")));
        let delay = Delay::Exponential { rate: Expr::Leaf(Leaf::Parameter(rate)) };
        let timing = Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling };
        let start = b.transition("start", timing);
        b.input(p, start, 1.0);
        for (from, to, weight) in [(a, c, 1.0), (b_place, d, 3.0)] {
            b.output(start, from, 1.0);
            let moves = b.transition(format!("move{weight}"), Timing::immediate(weight, 1));
            b.input(from, moves, 1.0);
            b.output(moves, to, 1.0);
        }
        let net = b.build().unwrap();
        let axes = [Axis { key: "rate".into(), ..Axis::default() }];
        for fold in [false, true] {
            let rated = RatedNet::new(&net, &GoalText::until(Some("#(c) > #(d)")), fold);
            let model = rated.model(&axes, &Point::base(1).with(0, Value::Float(2.0))).unwrap();
            let ensemble = Ensemble { replications: 40_000, seed: 3, ..Ensemble::default() };
            let samples = run(&model.program, &model.question, &ensemble, &Unwatched).unwrap().samples;
            let [reached, dead, ..] = samples.endings;
            let error = (0.25_f64 * 0.75 / 40_000.0).sqrt();
            assert!((reached as f64 / 40_000.0 - 0.25).abs() < 5.0 * error, "{reached}");
            assert_eq!(reached + dead, 40_000);
        }
    }

    #[test]
    fn a_parameter_in_the_weight_of_an_arc_prevents_folding() {
        let mut builder = tasks().to_builder();
        let own = builder.parameter("own", 1.0);
        let net = builder.build().unwrap();
        let new = |net: &Net| RatedNet::new(net, &GoalText::default(), true);
        assert!(new(&net).folded.is_some());
        let mut builder = net.to_builder();
        let (place, t) = (net.find_place("done").unwrap(), net.find_transition("work0").unwrap());
        builder.test(place, t, Expr::Leaf(Leaf::Parameter(own)));
        assert_eq!(new(&builder.build().unwrap()).folded, None);
    }
}
