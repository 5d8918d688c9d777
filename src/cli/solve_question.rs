//! The questions of `solve`: a goal, a start and measures.

use tailspn::compile::{Code, Program, lower};
use tailspn::fold::{Folding, Keep, Symmetry};
use tailspn::net::Net;
use tailspn::report::{AverageSection, NumberRow, average_section};
use tailspn::sim::Reward;
use tailspn::solve::{Averages, StateSpace, Until};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::question::{expression, late_dead_marking, rewards, same_names};

/// The questions, as expressions of the net.
pub(super) struct SolveQuestion {
    pub(super) goal: Option<Code>,
    pub(super) from: Option<Code>,
    /// Markings to avoid before the goal.
    pub(super) avoid: Option<Code>,
    /// Rewards until the end of a run.
    pub(super) rewards: Vec<Reward>,
    pub(super) measures: Vec<(String, Code)>,
    /// Parts of the net that the questions do not distinguish and that can be exchanged. Markings that differ only by
    /// exchanges are explored once.
    pub(super) symmetry: Symmetry,
}

impl SolveQuestion {
    pub(super) fn codes(&self) -> impl Iterator<Item = &Code> {
        let rates = self.rewards.iter().filter_map(|reward| reward.rate.as_ref());
        let ends = self.goal.iter().chain(&self.from).chain(&self.avoid);
        ends.chain(rates).chain(self.measures.iter().map(|(_, code)| code))
    }

    pub(super) fn keep(&self, net: &Net) -> Keep {
        Keep { expressions: self.codes().map(|code| code.expression(net)).collect(), ..Keep::default() }
    }

    /// Returns true if the arguments request markings to avoid, times between which the goal counts, or rewards, in
    /// addition to the time to the goal.
    pub(super) fn is_until(&self, args: &SolveArgs) -> bool {
        self.avoid.is_some() || args.before.within.is_some() || !self.rewards.is_empty()
    }

    /// Returns the goal, and the markings to avoid before it.
    pub(super) fn until(&self) -> Until<'_> {
        Until { goal: self.goal.as_ref(), avoid: self.avoid.as_ref() }
    }

    /// Returns the same questions about the folded net; rewards must not have impulses.
    pub(super) fn folded(&self, folding: &Folding, net: &Net) -> Self {
        let code = |code: &Code| {
            let expression = folding.expression(&code.expression(net));
            expression.map_or_else(|| code.clone(), |expression| lower(folding.net(), &expression))
        };
        let reward = |reward: &Reward| Reward { rate: reward.rate.as_ref().map(code), ..reward.clone() };
        Self {
            goal: self.goal.as_ref().map(code),
            from: self.from.as_ref().map(code),
            avoid: self.avoid.as_ref().map(code),
            rewards: self.rewards.iter().map(reward).collect(),
            measures: self.measures.iter().map(|(name, measure)| (name.clone(), code(measure))).collect(),
            symmetry: Symmetry::default(),
        }
    }

    /// Parses the questions about a net; impulses belong to its first `transitions` transitions, which precede the
    /// transitions that represent phases.
    pub(super) fn parse(net: &Net, args: &SolveArgs, transitions: usize) -> Result<Self, Failure> {
        let late = args.before.within.is_some_and(|[from, _]| from > 0.0);
        if args.until() == Some("dead") {
            late_dead_marking(&args.before).map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
        }
        let twice = same_names("reward", &args.reward).chain(same_names("measure", &args.measure)).next();
        twice.map_or(Ok(()), |note| Err(Failure::new(Exit::Usage, note)))?;
        let mut rewards = rewards(net, &args.reward, &args.impulse)?;
        rewards.iter_mut().for_each(|reward| reward.impulses.retain(|(t, _)| (*t as usize) < transitions));
        if late && !rewards.is_empty() {
            let message = "rewards are collected from the start, but --within starts later";
            return Err(Failure::helped(
                Exit::Usage,
                message,
                "use `tailspn simulate`, or run `solve` twice: once with the rewards, once with --within",
            ));
        }
        let goal = args.until().filter(|goal| *goal != "dead");
        let measures = args.measure.iter().map(|(name, text)| Ok((name.clone(), expression(net, "--measure", text)?)));
        Ok(Self {
            goal: goal.map(|text| expression(net, "--until", text)).transpose()?,
            from: args.from.as_deref().map(|text| expression(net, "--from", text)).transpose()?,
            avoid: args.before.avoid.as_deref().map(|text| expression(net, "--avoid", text)).transpose()?,
            rewards,
            measures: measures.collect::<Result<_, Failure>>()?,
            symmetry: Symmetry::default(),
        })
    }

    /// Computes the averages over the states, and the measures.
    pub(super) fn averages(
        &self,
        space: &StateSpace,
        program: &Program,
        probabilities: &[f64],
        averages: &Averages,
    ) -> Result<AverageSection, Failure> {
        let mut measures = Vec::new();
        for (name, code) in &self.measures {
            let values = space.values(code, &format!("measure `{name}`"));
            let values = values.map_err(|fault| Failure::plain(Exit::Model, fault.to_string()))?;
            let value = tailspn::solve::expected(probabilities, &values);
            measures.push(NumberRow { name: name.clone(), unit: "".into(), value });
        }
        Ok(average_section(program, averages, measures))
    }
}
