//! Replications of a configuration: of its net, or of a job of stages task by task.

use crate::ask;
use crate::error::StudyError;
use crate::job_time::{copied_times, replicate};
use crate::optimize::judge::Measure;
use crate::sim::Ensemble;
use crate::stages::{PlannedJob, RunFactor, StagePlan};
use crate::subject::Subject;
use crate::sweep::{Axis, Model, Point, Spread};
use crate::watch::{Quiet, Watch};

/// The runs of a configuration.
pub(in crate::optimize) enum Runs {
    /// A net.
    Net(Box<Model>),
    /// A job of stages, simulated task by task because its net would be slower, and its run-to-run variation.
    Tasks(Box<StagePlan>, PlannedJob, Spread),
}

impl Runs {
    /// Returns the runs of a subject at a point.
    pub(in crate::optimize) fn of(
        subject: &Subject,
        axes: &[Axis],
        point: &Point,
        seed: u64,
    ) -> Result<Self, StudyError> {
        match subject.stages_at(axes, point) {
            Some(plan) => {
                let plan = plan.map_err(StudyError::Model)?;
                let job = PlannedJob::of(&plan);
                let spread = Spread::of(RunFactor::new(&plan.run, job.error()).points());
                Ok(Self::Tasks(Box::new(plan), job, spread))
            }
            None => Ok(Self::Net(Box::new(subject.model(axes, point, seed).map_err(StudyError::Model)?))),
        }
    }

    /// Returns the times \[s\] of an ensemble, simulated on the CPU; none if the simulation was stopped. For quantiles the times include
    /// the spread between whole runs, for means they do not.
    pub(in crate::optimize) fn times(
        &self,
        measure: Measure,
        ensemble: &Ensemble,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<f64>>, StudyError> {
        let (plan, job, spread) = match self {
            Self::Net(model) => return ask::times(model, measure, ensemble, watch),
            Self::Tasks(plan, job, spread) => (plan, job, spread),
        };
        let times = match plan.speculation {
            Some(copies) => copied_times(plan, job, copies, ensemble, &Quiet(watch))?,
            None => plain_times(job, ensemble, &Quiet(watch))?,
        };
        let Some(mut times) = times else { return Ok(None) };
        if measure != Measure::Mean {
            spread.spread(&mut times, ensemble.seed, ensemble.first);
        }
        Ok(Some(times))
    }
}

/// Returns the times \[s\] of a job without copies; none if it was stopped.
fn plain_times(job: &PlannedJob, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Option<Vec<f64>>, StudyError> {
    let run = replicate(job, &Ensemble { keep: true, ..ensemble.clone() }, watch)?;
    let samples = &run.samples;
    let times = samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks)).collect();
    Ok((!run.provenance.cut_short).then_some(times))
}
