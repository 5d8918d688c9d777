//! The report of an answer to a question about a net.

use crate::answer::{AnswerError, ExactAnswer, ExactBy};
use crate::ask::net::NetAnswer;
use crate::net::Net;
use crate::report::answer::{exact_report, exact_steady_report};
use crate::report::method::{AnswerMethod, UsedMethod};
use crate::report::number::counted;
use crate::report::read::AnyReport;
use crate::report::simulated::{NetNames, ReportSimulation as _};
use crate::report::steady::SteadyReport;
use crate::report::summary::SimulationReport;
use crate::sim::{Ending, Goal, Question, Run};
use crate::watch::Watch;

/// The report of an answer to a question about a net.
#[derive(Clone, Debug)]
pub enum NetReport {
    /// Of replications, or of exact numbers in their place.
    Replications(Box<SimulationReport>),
    /// Of the long run.
    LongRuns(Box<SteadyReport>),
}

impl NetReport {
    /// Returns the report of an answer, as `tailspn net simulate` prints it. Exact numbers have the confidence level `level`; `watch` may stop
    /// the computation of an exact distribution.
    ///
    /// ```
    /// use tailspn_engine::net::{NetBuilder, Timing};
    /// use tailspn_engine::sim::Question;
    /// use tailspn_engine::watch::Unwatched;
    /// use tailspn_report::report::NetReport;
    /// use tailspn_studies::ask::net::{AnswerBy, NetSettings, answer};
    ///
    /// let mut b = NetBuilder::new("task");
    /// let (open, done) = (b.place("open", 1), b.place("done", 0));
    /// let work = b.transition("work", Timing::exponential(0.5));
    /// b.input(open, work, 1.0);
    /// b.output(work, done, 1.0);
    /// let net = b.build().unwrap();
    ///
    /// let settings = NetSettings { by: AnswerBy::Exact, ..NetSettings::default() };
    /// let question = Question::default();
    /// let answer = answer(&net, &question, &settings, &Unwatched).unwrap();
    /// match NetReport::new(&net, &question, &answer, settings.run.level, &Unwatched).unwrap() {
    ///     NetReport::Replications(report) => assert_eq!(report.passage_time.unwrap().mean.value, 2.0),
    ///     NetReport::LongRuns(_) => unreachable!("the question is not about the long run"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// An exact time to the goal that cannot be solved.
    pub fn new(
        net: &Net,
        question: &Question,
        answer: &NetAnswer,
        level: f64,
        watch: &dyn Watch,
    ) -> Result<Self, AnswerError> {
        Ok(match answer {
            NetAnswer::Replications(result, choice) => {
                let report = SimulationReport { method: choice.into(), ..result.report() };
                Self::Replications(Box::new(report))
            }
            NetAnswer::LongRuns(result, choice) => {
                Self::LongRuns(Box::new(SteadyReport { method: choice.into(), ..result.report() }))
            }
            NetAnswer::Exact(answer) => Self::exact(net, question, answer, level, watch)?,
        })
    }

    fn exact(
        net: &Net,
        question: &Question,
        answer: &ExactAnswer,
        level: f64,
        watch: &dyn Watch,
    ) -> Result<Self, AnswerError> {
        let names = NetNames::of(net);
        let subject = names.subject(net.name());
        Ok(if question.steady {
            Self::LongRuns(Box::new(exact_steady_report(answer, question, &subject, level)))
        } else {
            Self::Replications(Box::new(exact_report(answer, question, &subject, level, watch)?))
        })
    }

    /// Returns the method of the answer.
    fn method(&self) -> &AnswerMethod {
        match self {
            Self::Replications(report) => &report.method,
            Self::LongRuns(report) => &report.method,
        }
    }

    /// Returns what a reader of the numbers of `answer` should know.
    pub(super) fn notes(&self, question: &Question, answer: &NetAnswer) -> Vec<String> {
        let mut notes = match answer {
            NetAnswer::Replications(found, _) => remarks(found.replicated(), question),
            NetAnswer::LongRuns(found, _) if found.is_partial() => {
                vec!["stopped early; the means are computed from the completed parts".to_owned()]
            }
            NetAnswer::LongRuns(..) | NetAnswer::Exact(_) => Vec::new(),
        };
        notes.extend(faster_exact(self.method()));
        notes
    }
}

impl From<NetReport> for AnyReport {
    fn from(report: NetReport) -> Self {
        match report {
            NetReport::Replications(report) => Self::Simulation(report),
            NetReport::LongRuns(report) => Self::Steady(report),
        }
    }
}

/// Returns a note on an exact answer that would be faster.
fn faster_exact(method: &AnswerMethod) -> Option<String> {
    let exact = method.exact.filter(|_| method.used == UsedMethod::Simulation)?;
    let why = match (exact, method.states) {
        (ExactBy::States, Some(states)) => format!("the net has only {}", counted(states as u64, "state")),
        (exact, _) => format!("the net is {}", exact.name()),
    };
    Some(format!("note: {why}: an exact answer would be faster than replications (--method exact)"))
}

/// Returns remarks on replications that a reader of the numbers should know.
fn remarks(run: &Run, question: &Question) -> Vec<String> {
    let samples = &run.samples;
    let reached = samples.ended(Ending::Goal);
    if samples.replications == 0 || question.goal == Goal::Horizon {
        return Vec::new();
    }
    let dead = samples.ended(Ending::Dead) + if question.goal == Goal::Dead { reached } else { 0 };
    let mut notes = Vec::new();
    if samples.firings == 0 && dead == samples.replications {
        notes.push("note: nothing can fire in the initial marking".to_owned());
    }
    if reached == 0 {
        notes.push(format!("note: no replication reached {}", question.words()));
    }
    if samples.ended(Ending::Firings) > 0 {
        notes.push("note: --max-firings N lets replications run longer, --steady computes the long run".to_owned());
    }
    notes
}
