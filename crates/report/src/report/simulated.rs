//! The reports of simulations that were run by [`Net::simulation`] and [`Net::steady_state`].

use crate::ask::net::Subject;
use crate::compile::Ids;
use crate::net::{Net, Transition};
use crate::report::steady::{SteadyReport, SteadySettings, steady_report};
use crate::report::summary::{SimulationReport, simulation_report};
use crate::sim::{SimulationResult, SteadyResult};

/// The ids of the places, transitions and token classes of a net, for reports.
#[derive(Clone, Debug)]
pub struct NetNames {
    places: Ids,
    classes: Vec<String>,
    transitions: Ids,
}

impl NetNames {
    /// Returns the names of a net.
    pub fn of(net: &Net) -> Self {
        Self {
            places: net.places().iter().map(|place| &place.id).collect(),
            classes: net.classes().iter().map(|class| class.id.clone()).collect(),
            transitions: net.transitions().iter().map(|transition| &transition.id).collect(),
        }
    }

    /// Returns the subject of a report: the net `net` with these names.
    pub fn subject<'a>(&'a self, net: &'a str) -> Subject<'a> {
        let Self { places, classes, transitions } = self;
        Subject { net, places, classes, transitions }
    }
}

/// Makes the report of a simulation, which has text, a page, CSV and JSON.
pub trait ReportSimulation {
    /// The report: [`SimulationReport`] of replications, [`SteadyReport`] of long runs.
    type Report;

    /// Returns the results as `tailspn net simulate` reports them.
    ///
    /// ```
    /// use tailspn_engine::net::{NetBuilder, Timing};
    /// use tailspn_report::report::{Report as _, ReportSimulation as _};
    ///
    /// let mut b = NetBuilder::new("one task of 2 s");
    /// let (todo, done) = (b.place("todo", 1), b.place("done", 0));
    /// let task = b.transition("task", Timing::exponential(0.5));
    /// b.input(todo, task, 1.0);
    /// b.output(task, done, 1.0);
    /// let net = b.build().unwrap();
    ///
    /// let run = net.simulation().until("#(done) >= 1").unwrap().replications(200).run().unwrap();
    /// let report = run.report();
    /// assert_eq!(report.question.goal, "#(done) >= 1");
    /// assert!(report.document().text().contains("one task of 2 s"));
    /// ```
    fn report(&self) -> Self::Report;
}

impl ReportSimulation for SimulationResult {
    type Report = SimulationReport;

    fn report(&self) -> SimulationReport {
        let names = NetNames::of(self.net());
        simulation_report(self.replicated(), self.question(), &names.subject(self.net().name()), self.level())
    }
}

impl ReportSimulation for SteadyResult {
    type Report = SteadyReport;

    fn report(&self) -> SteadyReport {
        let (net, question, unseen) = (self.net(), self.question(), self.unseen());
        let nothing_asked = !question.tokens && !question.throughput && question.rewards.is_empty();
        let rewards: Vec<String> = question.rewards.iter().map(|reward| reward.name.clone()).collect();
        let has_fired =
            |t: u32| self.runs().iter().any(|run| run.fired.get(t as usize).is_some_and(|fired| *fired > 0));
        let is_possible =
            |(t, transition): &(u32, &Transition)| has_fired(*t) || unseen.transitions().contains(&transition.id);
        let possible: Vec<u32> = (0..).zip(net.transitions()).filter(is_possible).map(|(t, _)| t).collect();
        let settings = SteadySettings {
            tokens: question.tokens || nothing_asked,
            throughputs: question.throughput || nothing_asked,
            rewards: &rewards,
            possible: &possible,
            unseen: Some(unseen),
            in_some_runs: &self.in_some_runs(),
            level: self.level(),
            seed: self.seed(),
            wall: self.wall(),
            folded: self.folded_parts(),
            not_folded: self.not_folded(),
        };
        steady_report(self.runs(), &NetNames::of(net).subject(net.name()), &settings)
    }
}
