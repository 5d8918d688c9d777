//! Answers: a result, what its reader should know about it, and how the work ended.

use crate::StudyError;
use crate::answer::AnswerError;
use crate::ask::net::NetAnswer;
use crate::ask::{EstimateTable, EstimatedJob, EstimatedWork, RunTableEstimate};
use crate::document::{Document, Typed};
use crate::job_time::{DeadlineSection, FittedModel, OwnRun};
use crate::net::Net;
use crate::optimize::Cheapest;
use crate::optimize::{self, OptimizeOutcome, OptimizePlan, SizingOutcome};
use crate::report::estimate_table::worded;
use crate::report::fit::fit_report;
use crate::report::fit_job::fit_jobs_report;
use crate::report::job::estimate_report;
use crate::report::net_report::NetReport;
use crate::report::optimize::{optimize_report, sizing_report};
use crate::report::read::AnyReport;
use crate::report::run_table::worded_runs;
use crate::report::stages::stages_report;
use crate::report::whatif::{WhatIfReport, what_if_report};
use crate::report::whatif_log::log_what_if_report;
use crate::sim::Question;
use crate::watch::Watch;
use crate::whatif::{WhatIf, WhatIfOutcome};

/// The answer to a question, the same for the command line, the page and Python.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The result.
    pub result: AnyReport,
    /// Doubts about the plan, one line each.
    pub warnings: Vec<String>,
    /// Further facts for the reader, one line each.
    pub notes: Vec<String>,
    /// Time of each replication that finished \[s\], in the order of the replications; none if the method has no replications. The caller
    /// drops them if nobody has asked for them.
    pub times_s: Option<Vec<f64>>,
    /// The plan that a fit has made, as text.
    pub plan: Option<String>,
    /// The files and options of the question, which the next commands are about.
    pub typed: Typed,
    /// The end of the work.
    pub end: End,
}

/// The end of the work on a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It is complete.
    #[default]
    Complete,
    /// It was stopped; the result consists of what was known by then.
    Stopped,
    /// The answer is no: no configuration meets the deadline, or a formula does not hold.
    No,
}

impl Answer {
    /// Returns the answer of complete work, without notes.
    pub fn new(result: impl Into<AnyReport>) -> Self {
        Self {
            result: result.into(),
            warnings: Vec::new(),
            notes: Vec::new(),
            times_s: None,
            plan: None,
            typed: Typed::default(),
            end: End::Complete,
        }
    }

    /// Returns the same answer for work that was stopped, if `stopped` is true.
    #[must_use]
    pub fn unless_stopped(self, stopped: bool) -> Self {
        Self { end: if stopped { End::Stopped } else { self.end }, ..self }
    }

    /// Returns the same answer, which is no if a deadline is met with a lower probability than the wanted one.
    #[must_use]
    pub fn meeting(self, wanted: f64) -> Self {
        let of = |section: &Option<DeadlineSection>| {
            let section = section.as_ref()?;
            Some(section.exact.as_ref().or(section.simulated.as_ref())?.value)
        };
        let probability = match &self.result {
            AnyReport::Estimate(report) => of(&report.deadline),
            AnyReport::Stages(report) => of(&report.deadline),
            AnyReport::Remaining(report) => {
                report.done_by.iter().map(|row| row.probability.value).min_by(f64::total_cmp)
            }
            _ => None,
        };
        let is_unmet = probability.is_some_and(|probability| probability < wanted);
        Self { end: if is_unmet { End::No } else { self.end }, ..self }
    }

    /// Returns the document of the result: text, page, tables and pictures.
    pub fn document(&self) -> Document<'_> {
        Document { typed: self.typed.clone(), ..self.result.document() }
    }

    /// Returns the warnings and the notes, one line each.
    pub fn remarks(&self) -> Vec<String> {
        self.warnings.iter().map(|warning| format!("warning: {warning}")).chain(self.notes.iter().cloned()).collect()
    }

    /// Returns the answer to an estimate of a planned job.
    ///
    /// ```
    /// use tailspn_jobs::plan::JobPlan;
    /// use tailspn_report::report::Answer;
    /// use tailspn_studies::ask::EstimateJob as _;
    ///
    /// let answer = Answer::of_job(&JobPlan::default().estimation().replications(100).run()?)?;
    /// assert!(answer.document().text().starts_with("A run takes "));
    /// # Ok::<(), tailspn_studies::StudyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`estimate_report`].
    pub fn of_job(job: &EstimatedJob) -> Result<Self, AnswerError> {
        let result: AnyReport = match &job.work {
            EstimatedWork::Phases(plan, found) => {
                let mut report = estimate_report(plan, found, job.level)?;
                report.add_cost(job.wall);
                report.into()
            }
            EstimatedWork::Stages(plan, found) => stages_report(plan, found, job.level).into(),
        };
        let notes = job.advice().map(|advice| format!("note: {advice}")).into_iter().collect();
        Ok(Self { warnings: job.warnings(), notes, ..Self::new(result) }.unless_stopped(job.is_partial()))
    }

    /// Returns the answer to an estimate of several configurations, without words.
    pub fn of_table(found: EstimateTable) -> Self {
        let is_unmet = found.is_unmet();
        let partial = found.partial;
        let answer = Self::new(worded(found));
        Self { end: if is_unmet { End::No } else { End::Complete }, ..answer }.unless_stopped(partial)
    }

    /// Returns the answer to an estimate from a table of runs, without words.
    pub fn of_runs(found: RunTableEstimate) -> Self {
        let is_unmet = found.is_unmet();
        let answer = Self::new(worded_runs(found));
        Self { end: if is_unmet { End::No } else { End::Complete }, ..answer }
    }

    /// Returns the answer to a question about a net. Exact numbers have the confidence level `level`; `watch` may stop the
    /// computation of an exact distribution.
    ///
    /// # Errors
    ///
    /// The errors of [`NetReport::new`].
    pub fn of_net(
        net: &Net,
        question: &Question,
        found: &NetAnswer,
        level: f64,
        watch: &dyn Watch,
    ) -> Result<Self, AnswerError> {
        let report = NetReport::new(net, question, found, level, watch)?;
        let (is_stopped, times_s) = match found {
            NetAnswer::Replications(found, _) => {
                let run = found.replicated();
                (run.provenance.cut_short, Some(run.samples.times_s().collect()))
            }
            NetAnswer::LongRuns(found, _) => (found.is_partial(), None),
            NetAnswer::Exact(_) => (false, None),
        };
        let notes = report.notes(question, found);
        Ok(Self { notes, times_s, ..Self::new(report) }.unless_stopped(is_stopped))
    }

    /// Returns the answer to a fit, with the fitted plan. Intervals have confidence `level`.
    ///
    /// # Errors
    ///
    /// A plan that cannot be written out.
    pub fn of_fit(model: &FittedModel, level: f64) -> Result<Self, StudyError> {
        let answer = match model {
            FittedModel::Stages(fitted, own_run) => Self::new(fit_report(fitted, own_run, level)),
            FittedModel::Jobs(all, checked, own_run) => Self::new(fit_jobs_report(all, checked, own_run)),
        };
        Ok(Self { plan: Some(model.plan_text()?), ..answer })
    }

    /// Returns the answer to a comparison of straggler policies; `own_run` is the check of a plan on its own runs.
    pub fn of_policies(study: &WhatIf, outcome: &WhatIfOutcome, own_run: Option<OwnRun>) -> Self {
        match log_what_if_report(study, outcome) {
            Some(report) => Self::new(report),
            None => Self::new(WhatIfReport { own_run, ..what_if_report(study, outcome) }),
        }
    }

    /// Returns the answer to a search for the cheapest size of a job.
    pub fn of_sizing(found: &SizingOutcome, own_run: Option<OwnRun>) -> Self {
        let answer = Self::new(Cheapest { own_run, ..sizing_report(found) });
        Self { end: end_of(&found.outcome), ..answer }
    }

    /// Returns the answer to a search for the cheapest configuration of a plan.
    pub fn of_search(plan: &OptimizePlan, found: &OptimizeOutcome, own_run: Option<OwnRun>) -> Self {
        Self { end: end_of(found), ..Self::new(Cheapest { own_run, ..optimize_report(plan, found) }) }
    }
}

/// Returns how a search ended.
fn end_of(found: &OptimizeOutcome) -> End {
    match found.found.answer {
        optimize::Answer::Cheapest(_) | optimize::Answer::Meets(_) => End::Complete,
        optimize::Answer::None | optimize::Answer::Undecided => End::No,
        optimize::Answer::Stopped => End::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::JobPlan;

    #[test]
    fn an_estimate_says_where_the_time_goes_and_what_would_change_it() {
        use crate::ask::EstimateJob as _;
        let job = JobPlan::default().estimation().replications(64).run().unwrap();
        let answer = Answer::of_job(&job).unwrap();
        let blocks = answer.document().six_blocks();
        assert!(blocks.answer.contains(" s"), "{blocks:?}");
        assert_eq!(blocks.own_run, "Not checked: the plan has no run to prove it on");
        assert!(blocks.parts.contains('%') && blocks.assumed.contains("exponential"), "{blocks:?}");
        assert!(!blocks.changes.is_empty() && blocks.changes.iter().all(|change| change.contains(" s")), "{blocks:?}");
        // the blocks are what is printed
        let text = answer.document().text().replace('\n', " ");
        let answer: Vec<&str> = blocks.answer.split_whitespace().collect();
        assert!(text.starts_with(&answer.join(" ")), "{text}");
    }
}
