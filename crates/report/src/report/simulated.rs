//! The report of a simulation that was run by [`Net::simulation`].

use crate::compile::Ids;
use crate::net::Net;
use crate::report::summary::{SimulationReport, Subject, simulation_report};
use crate::sim::SimulationResult;

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

    /// Returns the subject of a report: the net `net` with these names, without a goal and snapshots.
    pub fn subject<'a>(&'a self, net: &'a str) -> Subject<'a> {
        let Self { places, classes, transitions } = self;
        Subject { net, places, classes, transitions, ..Subject::default() }
    }
}

/// Makes the report of a simulation, which has text, a page, CSV and JSON.
pub trait ReportSimulation {
    /// Returns the results as `tailspn simulate` reports them.
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
    fn report(&self) -> SimulationReport;
}

impl ReportSimulation for SimulationResult {
    fn report(&self) -> SimulationReport {
        let names = NetNames::of(self.net());
        let subject =
            Subject { goal: self.goal(), snapshots: self.snapshot_texts(), ..names.subject(self.net().name()) };
        simulation_report(self.replicated(), self.question(), &subject, self.level())
    }
}
