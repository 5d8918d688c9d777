//! Nets of jobs, built and compiled once for all runs of one structure; each run then puts in its own rates.

use std::sync::{Arc, Mutex, PoisonError};

use crate::compile::{Compiled, Template, compile};
use crate::mapreduce::{JobShape, PhaseMap, Plan, job_net, job_shape, seeded_phase_times, timings};

/// Most structures that are kept. A sweep over numbers of tasks has many structures and returns to them.
const MOST_SHAPES: usize = 32;

/// The compiled net of a structure, and which transitions are which.
#[derive(Debug)]
struct Known {
    shape: JobShape,
    phases: PhaseMap,
    template: Template,
}

/// Structures of jobs that were compiled, the newest last.
#[derive(Debug, Default)]
pub(super) struct Shapes(Mutex<Vec<Arc<Known>>>);

impl Shapes {
    /// Returns the compiled net of a job, bit for bit the one that compiling it again would give.
    pub(super) fn compiled(&self, plan: &Plan) -> Result<Compiled, String> {
        let phases = seeded_phase_times(plan).map_err(|error| error.to_string())?;
        let mut plan = plan.clone();
        plan.model.slots = plan.waits();
        let plan = &plan;
        let shape = job_shape(plan, &phases);
        if let Some(known) = shape.as_ref().and_then(|shape| self.find(shape))
            && let Some(compiled) = known.template.retimed(&timings(plan, &phases, &known.phases))
        {
            return Ok(compiled);
        }
        let job = job_net(plan, &phases).map_err(|error| error.to_string())?;
        let Some(shape) = shape else {
            let program = compile(&job.net).map_err(|errors| errors.to_string())?;
            return Ok(Compiled { program, schedule: None });
        };
        let template = Template::new(job.net).map_err(|errors| errors.to_string())?;
        let compiled = template.compiled().clone();
        self.add(Known { shape, phases: job.phases, template });
        Ok(compiled)
    }

    fn find(&self, shape: &JobShape) -> Option<Arc<Known>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().rev().find(|known| known.shape == *shape).cloned()
    }

    fn add(&self, new: Known) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // another thread may have met it at the same time
        if known.iter().all(|known| known.shape != new.shape) {
            if known.len() == MOST_SHAPES {
                known.remove(0);
            }
            known.push(Arc::new(new));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::plan_schedule;

    /// Points of several structures, met in turn: all are what compiling them anew gives.
    #[test]
    fn points_of_known_structures_are_compiled_as_if_anew() {
        let shapes = Shapes::default();
        for round in 1..4 {
            for reduces in [2, 3] {
                for more in [
                    "model.slots = false\n",
                    "model.slots = true\n",
                    "model.slots = false\nmodel.distribution.gpu = { erlang = 2 }\n",
                    "model.slots = false\n[stragglers]\nshare = 0.2\n",
                ] {
                    let text = format!(
                        "job.input_mb = 320\njob.reduces = {reduces}\n{more}[[cluster.node]]\ngpu_speed = {round}.5\n"
                    );
                    let plan = Plan::from_toml(&text).unwrap();
                    let found = shapes.compiled(&plan).unwrap();
                    let job = job_net(&plan, &seeded_phase_times(&plan).unwrap()).unwrap();
                    let program = compile(&job.net).unwrap();
                    if let Some(schedule) = &found.schedule {
                        assert_eq!(**schedule, plan_schedule(&program).unwrap(), "{text}");
                    }
                    assert_eq!(found.program, program, "{text}");
                }
            }
        }
        // a law is no structure; slots and the number of tasks are
        assert_eq!(shapes.0.lock().unwrap().len(), 4);
    }
}
