//! The questions of `solve`: a goal, a start and measures.

use tailspn::compile::{Code, Program, lower};
use tailspn::fold::{Folding, Keep, Symmetry};
use tailspn::net::Net;
use tailspn::report::{AverageSection, NumberRow, average_section};
use tailspn::solve::{Averages, StateSpace};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::question::expression;

/// The questions, as expressions of the net.
pub(super) struct Asked {
    pub(super) goal: Option<Code>,
    pub(super) from: Option<Code>,
    pub(super) measures: Vec<(String, Code)>,
    /// Parts of the net that the questions do not distinguish, so that canonical markings suffice.
    pub(super) symmetry: Symmetry,
}

impl Asked {
    pub(super) fn codes(&self) -> impl Iterator<Item = &Code> {
        self.goal.iter().chain(&self.from).chain(self.measures.iter().map(|(_, code)| code))
    }

    pub(super) fn keep(&self, net: &Net) -> Keep {
        Keep { expressions: self.codes().map(|code| code.expression(net)).collect(), ..Keep::default() }
    }

    /// Returns the same questions about the folded net.
    pub(super) fn folded(&self, folding: &Folding, net: &Net) -> Self {
        let code = |code: &Code| {
            let expression = folding.expression(&code.expression(net));
            expression.map_or_else(|| code.clone(), |expression| lower(folding.net(), &expression))
        };
        Self {
            goal: self.goal.as_ref().map(code),
            from: self.from.as_ref().map(code),
            measures: self.measures.iter().map(|(name, measure)| (name.clone(), code(measure))).collect(),
            symmetry: Symmetry::default(),
        }
    }

    pub(super) fn parse(net: &Net, args: &SolveArgs) -> Result<Self, Failure> {
        let goal = args.until().filter(|goal| *goal != "dead");
        let measures = args.measure.iter().map(|(name, text)| Ok((name.clone(), expression(net, "--measure", text)?)));
        Ok(Self {
            goal: goal.map(|text| expression(net, "--until", text)).transpose()?,
            from: args.from.as_deref().map(|text| expression(net, "--from", text)).transpose()?,
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
