//! Replications of a configuration: of its net, or of a job of stages task by task.

use crate::ask;
use crate::error::StudyError;
use crate::job_time::replicate;
use crate::optimize::judge::Measure;
use crate::sim::Ensemble;
use crate::stages::{PlannedJob, RunFactor};
use crate::subject::Subject;
use crate::sweep::{Axis, Model, Point, Spread};
use crate::watch::{Quiet, Watch};

/// The runs of a configuration.
pub(in crate::optimize) enum Runs {
    /// A net.
    Net(Box<Model>),
    /// A job of stages, simulated task by task because its net would be slower, and its run-to-run variation.
    Tasks(PlannedJob, Spread),
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
                Ok(Self::Tasks(job, spread))
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
        let (job, spread) = match self {
            Self::Net(model) => return ask::times(model, measure, ensemble, watch),
            Self::Tasks(job, spread) => (job, spread),
        };
        let run = replicate(job, &Ensemble { keep: true, ..ensemble.clone() }, &Quiet(watch))?;
        if run.provenance.cut_short {
            return Ok(None);
        }
        let samples = &run.samples;
        let mut times: Vec<f64> = samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks)).collect();
        if measure != Measure::Mean {
            spread.spread(&mut times, ensemble.seed, ensemble.first);
        }
        Ok(Some(times))
    }
}
