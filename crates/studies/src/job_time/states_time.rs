//! The exact time of a job from all states of its net, with equal tasks folded.

use crate::answer::{AnswerError, ExactAnswer, ExactBy, ExactTime, choose, exact, exact_of_prepared, time_to};
use crate::estimate::Measured;
use crate::net::Net;
use crate::sim::{FoldedParts, NotFolded, Prepared, Question};
use crate::solve::{Passage, PassageError, StateSpace};
use crate::watch::{Unwatched, Watch};

/// The exact job time from all states of the job's net.
#[derive(Clone, Debug)]
pub struct StatesTime {
    space: Box<StateSpace>,
    targets: Vec<bool>,
    mean: f64,
    folded: Option<FoldedParts>,
    not_folded: Vec<NotFolded>,
}

impl StatesTime {
    /// Solves a net from the input that was prepared for replications; with `fold`, the net is folded if possible.
    ///
    /// # Errors
    ///
    /// Too many states, delays without phases, or a chain that cannot be solved.
    pub(super) fn new(net: &Net, prepared: &Prepared, fold: bool, watch: &dyn Watch) -> Result<Self, AnswerError> {
        // the question of the replications may have asked for more
        let question = Question::default();
        let mut prepared = prepared.clone();
        prepared.question = question.clone();
        let answer = match fold {
            true => exact_of_prepared(net, &question, &prepared, watch),
            false => exact(net, &prepared.program, &question, watch),
        };
        let ExactAnswer { time, folded, not_folded, .. } = answer?;
        match time {
            Some(ExactTime::States { space, targets }) => {
                let mut passage = time_to(&space, &targets, watch)?;
                let mean = passage.moments_if_reached()?.mean;
                // computes the tail first, because it needs the most steps
                passage.quantile(0.9999)?;
                Ok(Self { space, targets, mean, folded, not_folded })
            }
            _ => Err(AnswerError::NotFinite { what: "the job time".to_owned() }),
        }
    }

    /// Solves a net as [`Self::new`] does, if it has so few states that solving costs less than replications; otherwise none.
    pub(super) fn if_cheap(net: &Net, prepared: &Prepared, fold: bool) -> Option<Self> {
        let choice = choose(prepared.net(net), &prepared.program, &Question::default());
        if choice.exact == Some(ExactBy::States) { Self::new(net, prepared, fold, &Unwatched).ok() } else { None }
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.space.states()
    }

    /// Returns the folded parts of the net; none if it was solved unfolded.
    pub fn folded(&self) -> Option<FoldedParts> {
        self.folded
    }

    /// Returns the parts of the net that look alike and were not folded.
    pub fn not_folded(&self) -> &[NotFolded] {
        &self.not_folded
    }

    /// Returns the mean \[s\].
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the time to the end of the job, with its moments and distribution.
    ///
    /// # Errors
    ///
    /// The errors of [`time_to`].
    pub fn passage(&self) -> Result<Passage<'_>, PassageError> {
        time_to(&self.space, &self.targets, &Unwatched)
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`; none unless `p` is above 0 and below 1.
    pub(super) fn quantile(&self, p: f64, level: f64) -> Option<Measured> {
        Some(Measured::exact(self.passage().ok()?.quantile(p).ok()?, level))
    }

    /// Returns the probability of finishing within `seconds`; none if it cannot be computed.
    pub(super) fn done_by(&self, seconds: f64, level: f64) -> Option<Measured> {
        Some(Measured::exact(self.passage().ok()?.cdf(seconds).ok()?, level))
    }
}

#[cfg(test)]
mod tests {
    use crate::job_time::{EstimateMethod, ExactJobTime, estimate_job};
    use crate::mapreduce::Plan;
    use crate::sim::Ensemble;
    use crate::watch::Unwatched;

    /// Four maps of 3 s on two slots, then two reduces of 2 s on one slot: 3/2 + 3/2 + 3/2 + 3 + 2 + 2 s.
    #[test]
    fn tasks_that_wait_for_slots_have_an_exact_time() {
        let text = "[phases]\nmeans_s = [0, 0, 0, 3, 0, 0, 0, 0, 2]\nmaps = 4\nreduces = 2\n\
                    [cluster]\nreplicas = 1\n[[cluster.node]]\nmap_slots = 2\nreduce_slots = 1\n";
        let plan = Plan::from_toml(text).unwrap();
        let ensemble = Ensemble { replications: 40_000, ..Ensemble::default() };
        for method in [EstimateMethod::Auto, EstimateMethod::Exact] {
            let found = estimate_job(&plan, method, &ensemble, &Unwatched).unwrap();
            let Some(ExactJobTime::States(time)) = &found.exact else { panic!("{:?}", found.no_formula) };
            assert!((time.mean() - 11.5).abs() < 1e-9, "{}", time.mean());
            let variance = time.passage().unwrap().moments().unwrap().variance;
            assert!((variance - (3.0 * 2.25 + 9.0 + 8.0)).abs() < 1e-8, "{variance}");
            assert_eq!((found.simulated.is_some(), &found.no_formula), (method == EstimateMethod::Auto, &None));
            let Some(simulated) = &found.simulated else { continue };
            let error = (variance / 40_000.0).sqrt();
            assert!((simulated.mean().unwrap() - 11.5).abs() < 5.0 * error);
            let done = [0.1, 0.5, 0.9].map(|p| {
                let at = found.quantile(p, 0.95).unwrap().value;
                simulated.done_by(at, 0.95).unwrap().value - p
            });
            assert!(done.iter().all(|off| off.abs() < 5.0 * (0.25_f64 / 40_000.0).sqrt()), "{done:?}");
        }
    }

    /// Hyperexponential delays of tasks that wait for slots have phases too, if each task has its own.
    #[test]
    fn hyperexponential_tasks_that_wait_for_slots_have_an_exact_time() {
        let text = "[phases]\nmeans_s = [0, 0, 0, 3, 0, 0, 0, 0, 2]\nmaps = 5\nreduces = 3\n\
                    [model.distribution]\ngpu = { hyperexponential = { cv = 2.0 } }\nreduce = { hyperexponential = { cv = 1.5 } }\n\
                    [cluster]\nreplicas = 1\n[[cluster.node]]\nmap_slots = 2\nreduce_slots = 2\n";
        let plan = Plan::from_toml(text).unwrap();
        let ensemble = Ensemble { replications: 40_000, ..Ensemble::default() };
        let exact = estimate_job(&plan, EstimateMethod::Exact, &ensemble, &Unwatched).unwrap();
        let Some(ExactJobTime::States(time)) = &exact.exact else { panic!("{:?}", exact.no_formula) };
        assert!(time.states() < 100, "{}", time.states());
        let variance = time.passage().unwrap().moments().unwrap().variance;
        let simulated = estimate_job(&plan, EstimateMethod::Simulate, &ensemble, &Unwatched).unwrap();
        let mean = simulated.simulated.unwrap().mean().unwrap();
        let error = (variance / 40_000.0).sqrt();
        assert!(error < 0.005 * mean && (mean - time.mean()).abs() < 5.0 * error, "{mean} and {}", time.mean());
    }
}
