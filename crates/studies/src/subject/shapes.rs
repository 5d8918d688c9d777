//! Nets of jobs: built, folded and compiled once for all points of the same structure. Each point then only sets the rates.

use std::sync::{Arc, Mutex, PoisonError};

use crate::compile::{Compiled, Template};
use crate::fold::{FoldedTransition, Folding};
use crate::mapreduce::{JobShape, PhaseMap, Plan, job_net, job_shape, seeded_phase_times, timings};
use crate::net::expr::{BinaryOp, Expr};
use crate::net::{Delay, Timing, TransitionId};
use crate::sim::{FoldedParts, NotFolded, Prepared, Question};
use crate::sweep::NetModel;

/// Maximum number of structures that are kept. A sweep over numbers of tasks has many structures, each needed repeatedly.
const MOST_SHAPES: usize = 32;

/// The compiled net of a structure, with the meaning of its transitions.
#[derive(Debug)]
struct Known {
    shape: JobShape,
    /// True if equal tasks may be folded.
    fold: bool,
    phases: PhaseMap,
    folding: Option<Folding>,
    folded: Option<FoldedParts>,
    not_folded: Vec<NotFolded>,
    template: Template,
}

/// The compiled structures of jobs, the newest last.
#[derive(Debug, Default)]
pub(super) struct Shapes(Mutex<Vec<Arc<Known>>>);

impl Shapes {
    /// Returns the compiled net of a job, bit for bit equal to a newly compiled net. With `fold`, tasks
    /// that wait for slots are folded.
    pub(super) fn model(&self, plan: &Plan, fold: bool) -> Result<NetModel, String> {
        let phases = seeded_phase_times(plan).map_err(|error| error.to_string())?;
        let mut plan = plan.clone();
        plan.model.slots = plan.waits();
        let (plan, fold) = (&plan, fold && plan.model.slots);
        let shape = job_shape(plan, &phases);
        if let Some(known) = shape.as_ref().and_then(|shape| self.find(shape, fold))
            && let Some(timings) = known.timings(timings(plan, &phases, &known.phases))
            && let Some(compiled) = known.template.retimed(&timings)
        {
            return Ok(model(compiled, known.folded, known.not_folded.clone()));
        }
        let job = job_net(plan, &phases).map_err(|error| error.to_string())?;
        let prepared = Prepared::new(&job.net, &Question::default(), fold).map_err(|errors| errors.to_string())?;
        let (folded, not_folded) = (prepared.folded_parts(), prepared.not_folded().to_vec());
        let Some(shape) = shape else {
            return Ok(model(Compiled { program: prepared.program, schedule: None }, folded, not_folded));
        };
        let template = Template::new(prepared.net(&job.net).clone()).map_err(|errors| errors.to_string())?;
        let compiled = template.compiled().clone();
        let folding = prepared.folding().cloned();
        let known =
            Known { shape, fold, phases: job.phases, folding, folded, not_folded: not_folded.clone(), template };
        self.add(known);
        Ok(model(compiled, folded, not_folded))
    }

    fn find(&self, shape: &JobShape, fold: bool) -> Option<Arc<Known>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().rev().find(|known| known.fold == fold && known.shape == *shape).cloned()
    }

    fn add(&self, new: Known) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // another thread may have added the same structure meanwhile
        if known.iter().all(|known| known.fold != new.fold || known.shape != new.shape) {
            if known.len() == MOST_SHAPES {
                known.remove(0);
            }
            known.push(Arc::new(new));
        }
    }
}

impl Known {
    /// Translates the timings of the job's net to timings of the simulated net; none if the net would have to be folded again.
    fn timings(&self, timings: Vec<(TransitionId, Timing)>) -> Option<Vec<(TransitionId, Timing)>> {
        let Some(folding) = &self.folding else { return Some(timings) };
        // replicas have equal timings, because the shape requires it
        let became = |(id, own)| folding.transitions(id).into_iter().map(move |to| (to, Timing::clone(&own)));
        let first = timings.into_iter().flat_map(became).filter(|(to, _)| to.is_first);
        let of_class = |(to, own): (FoldedTransition, Timing)| {
            let own =
                if to.replicas == 1 { own } else { counted(&folding.net().transition(to.transition).timing, own)? };
            Some((to.transition, own))
        };
        first.map(of_class).collect()
    }
}

/// Returns the timing of a class of tasks from `own`, the timing of one task. The result has the servers of `folded`. If
/// the rate of `folded` is multiplied by the tokens of a place, the new rate is too. None if `folded` has another form.
fn counted(folded: &Timing, own: Timing) -> Option<Timing> {
    let (Timing::Timed { delay: like, servers, memory }, Timing::Timed { delay, .. }) = (folded, &own) else {
        return Some(own);
    };
    let delay = match (like, delay) {
        (Delay::Exponential { rate: like }, Delay::Exponential { rate }) => {
            let rate = match like {
                Expr::Number(_) => rate.clone(),
                Expr::Binary(BinaryOp::Multiply, _, tokens) => {
                    Expr::Binary(BinaryOp::Multiply, Box::new(rate.clone()), tokens.clone())
                }
                _ => return None,
            };
            Delay::Exponential { rate }
        }
        (_, delay) => delay.clone(),
    };
    Some(Timing::Timed { delay, servers: *servers, memory: *memory })
}

fn model(
    Compiled { program, schedule }: Compiled,
    folded: Option<FoldedParts>,
    not_folded: Vec<NotFolded>,
) -> NetModel {
    NetModel { schedule, folded, not_folded, ..NetModel::new(program) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::plan_schedule;
    use crate::sim::{Ensemble, Unwatched, run};

    /// Points of several structures, in turn: the result is the same as if each point were compiled separately.
    #[test]
    fn points_of_known_structures_are_compiled_as_if_anew() {
        let shapes = Shapes::default();
        for round in 1..4 {
            for reduces in [2, 3] {
                for more in [
                    "model.slots = false\n",
                    "cluster.replicas = 1\n",
                    "cluster.replicas = 1\nmodel.distribution.gpu = { erlang = 2 }\n",
                    "model.slots = false\nmodel.distribution.gpu = { erlang = 2 }\n",
                    "model.slots = false\n[stragglers]\nshare = 0.2\n",
                ] {
                    for fold in [false, true] {
                        let text = format!(
                            "job.input_mb = 320\njob.reduces = {reduces}\n{more}\
                             [[cluster.node]]\ngpu_speed = {round}.5\nmap_slots = 2\nreduce_slots = 1\n"
                        );
                        let plan = Plan::from_toml(&text).unwrap();
                        let found = shapes.model(&plan, fold).unwrap();
                        assert_eq!(found.folded.is_some(), fold && plan.waits(), "{text}");
                        let mut plan = plan;
                        plan.model.slots = plan.waits();
                        let job = job_net(&plan, &seeded_phase_times(&plan).unwrap()).unwrap();
                        let anew = Prepared::new(&job.net, &Question::default(), fold && plan.waits()).unwrap();
                        if let Some(schedule) = &found.schedule {
                            assert_eq!(**schedule, plan_schedule(&anew.program).unwrap(), "{text}");
                        }
                        assert_eq!(found.program, anew.program, "{text}");
                    }
                }
            }
        }
        // a distribution belongs to the structure only if equal tasks wait; slots, folding and the number of tasks always do
        assert_eq!(shapes.0.lock().unwrap().len(), 10);
    }

    /// Two different workers, then two equal workers: other tasks are folded, although the net's structure is the same.
    #[test]
    fn tasks_fold_by_the_times_of_their_own_point() {
        let shapes = Shapes::default();
        let job = |speed: f64| {
            let text = format!(
                "job.input_mb = 640\njob.reduces = 4\n[[cluster.node]]\nmap_slots = 2\nreduce_slots = 1\n\
                 [[cluster.node]]\nmap_slots = 2\nreduce_slots = 1\ngpu_speed = {speed:?}\n"
            );
            Plan::from_toml(&text).unwrap()
        };
        for speed in [1.0, 0.25, 0.5, 1.0] {
            let plan = job(speed);
            let [apart, folded] = [false, true].map(|fold| shapes.model(&plan, fold).unwrap());
            assert!(folded.folded.unwrap().places < apart.program.places() / 2);
            assert_eq!(folded.program, Shapes::default().model(&plan, true).unwrap().program);
            let means = [&apart, &folded].map(|model| {
                let ensemble = Ensemble { replications: 20_000, seed: 1, ..Ensemble::default() };
                let samples = run(&model.program, &model.question, &ensemble, &Unwatched).unwrap().samples;
                let mean = samples.passage.mean_estimate(0.95).unwrap();
                [mean.value, mean.half_width / 1.96].map(|ticks| ticks * samples.clock.tick())
            });
            let [[a, a_error], [b, b_error]] = means;
            let error = a_error.hypot(b_error);
            assert!(error < 0.01 * a && (a - b).abs() < 5.0 * error, "{speed}: {means:?}");
        }
    }
}
