//! Runs many replications of all policies, on all cores; first determines the usual time of each task.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;

use rayon::prelude::*;

use crate::cluster::outcome::{Outcome, RunFault};
use crate::cluster::plan::{Plan, PolicyPlan, Truth};
use crate::cluster::policy::Policy;
use crate::cluster::simulator::Simulator;
use crate::cluster::truth::usual_time;
use crate::cluster::world::World;
use crate::estimate::EstimateError;
use crate::job::Job;
use crate::share::{Listed, Share, ShareError};
use crate::watch::{Unwatched, Watch};

/// Replications run between two checks of whether to continue.
const ROUND: u64 = 64;

/// Number of the first homogeneous run; runs of the experiment start at 0, so the two kinds of runs share no random
/// numbers.
const HOMOGENEOUS: u64 = 1 << 40;

/// Replications to run: their number, the seed, the threads, and the share run by this process.
#[derive(Clone, Debug)]
pub struct Replications<'a> {
    /// Number of the first replication. Default 0.
    pub first: u64,
    /// Maximum number of replications.
    pub count: u64,
    /// Seed of the experiment.
    pub seed: u64,
    /// Number of threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
    /// Stop condition, also checked within a replication.
    pub watch: &'a dyn Watch,
    /// Share of the replications run by this process. Default: all.
    pub share: Share,
}

impl Default for Replications<'_> {
    fn default() -> Self {
        Self { first: 0, count: 0, seed: 0, threads: None, watch: &Unwatched, share: Share::default() }
    }
}

/// Errors of an experiment.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A run does not finish.
    #[error("policy `{policy}`, replication {replication}: {fault}")]
    Run {
        /// Name of the policy.
        policy: String,
        /// Number of the replication.
        replication: u64,
        /// Cause of the failure.
        fault: RunFault,
    },
    /// The usual times cannot be determined.
    #[error("the typical times of the tasks cannot be estimated: {0}")]
    Usual(#[from] EstimateError),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// Shards do not form a complete run.
    #[error(transparent)]
    Share(#[from] ShareError),
}

/// The outcomes of a policy, replication by replication.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRuns {
    /// The policy.
    pub policy: PolicyPlan,
    /// One per replication, in order; the same replication of another policy has the same random numbers.
    pub outcomes: Vec<Outcome>,
}

/// A world with the usual times of its tasks, ready for replications.
#[derive(Debug)]
pub struct Experiment<'a> {
    world: World,
    usual: Vec<f64>,
    factor: f64,
    policies: Vec<PolicyPlan>,
    settings: Replications<'a>,
}

impl<'a> Experiment<'a> {
    /// Prepares a checked plan: draws the input and runs the homogeneous cluster.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`].
    pub fn new(plan: &Plan, settings: Replications<'a>) -> Result<Self, ExperimentError> {
        let times = homogeneous_times(plan, settings.seed, settings.watch)?;
        let usual = times.into_iter().map(|mut times| usual_time(&mut times, plan.truth.quantile));
        Ok(Self {
            world: World::new(plan, settings.seed),
            usual: usual.collect::<Result<_, _>>()?,
            factor: plan.truth.factor,
            policies: plan.policy.clone(),
            settings,
        })
    }

    /// Prepares a job whose tasks are known individually. A straggler takes 1.2 times the usual time of its task. \[Phan2018, 6.1\]
    pub fn of_job(job: &Job, policies: &[PolicyPlan], settings: Replications<'a>) -> Self {
        let world = job.world(settings.seed);
        let usual = world.tasks.iter().map(|task| task.main).collect();
        Self { world, usual, factor: Truth::default().factor, policies: policies.to_vec(), settings }
    }

    /// Runs all policies over all replications, or until `go_on` returns false. `go_on` gets all outcomes so far after every 64 replications. If the
    /// watch stops the run, the completed replications are kept.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`].
    pub fn run(&self, go_on: &mut dyn FnMut(&[PolicyRuns]) -> bool) -> Result<Vec<PolicyRuns>, ExperimentError> {
        let share = &self.settings.share;
        if let Some(Listed { found, .. }) = share.given::<Listed<Vec<Outcome>>>(&self.question())? {
            let mut runs = self.nothing();
            for outcomes in found {
                runs.iter_mut().zip(outcomes).for_each(|(run, outcome)| run.outcomes.push(outcome));
            }
            return Ok(runs);
        }
        let runs = self.run_share(go_on)?;
        if share.is_part() {
            let done = runs.first().map_or(0, |run| run.outcomes.len());
            let found = (0..done).map(|i| runs.iter().map(|run| run.outcomes[i]).collect()).collect();
            let first = self.range().start;
            share.keep(&self.question(), &Listed::<Vec<Outcome>> { first, found })?;
        }
        Ok(runs)
    }

    /// Runs the replications `first .. first + count` on the calling thread; only the first of these if the watch stops the run. Returns
    /// the outcome of each policy for each replication.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Run`].
    pub fn outcomes(&self, first: u64, count: u64) -> Result<Vec<Vec<Outcome>>, ExperimentError> {
        let policies: Vec<Policy<'_>> = self.policies.iter().map(|plan| Policy::new(plan, &self.world)).collect();
        let mut simulator = Simulator::new(&self.world, &self.usual, self.factor, self.settings.watch);
        let mut found = Vec::new();
        for replication in first..first + count {
            match self.replicate(&mut simulator, &policies, replication) {
                Err(ExperimentError::Run { fault: RunFault::Stopped, .. }) => break,
                outcomes => found.push(outcomes?),
            }
        }
        Ok(found)
    }

    /// Returns all policies without outcomes.
    fn nothing(&self) -> Vec<PolicyRuns> {
        let nothing = |policy: &PolicyPlan| PolicyRuns { policy: policy.clone(), outcomes: Vec::new() };
        self.policies.iter().map(nothing).collect()
    }

    /// Returns everything that outcomes depend on.
    fn question(&self) -> impl fmt::Debug {
        (&self.world, &self.usual, self.factor, &self.policies, self.settings.seed)
    }

    /// The numbers of the replications of this process.
    fn range(&self) -> Range<u64> {
        let Replications { first, count, share, .. } = &self.settings;
        let Range { start, end } = share.range(*count, 1);
        first + start..first + end
    }

    /// Runs the replications of this process.
    fn run_share(&self, go_on: &mut dyn FnMut(&[PolicyRuns]) -> bool) -> Result<Vec<PolicyRuns>, ExperimentError> {
        let threads = self.settings.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| ExperimentError::Threads(error.to_string()))?;
        let policies: Vec<Policy<'_>> = self.policies.iter().map(|plan| Policy::new(plan, &self.world)).collect();
        let mut runs = self.nothing();
        let share = self.range();
        let mut done = share.start;
        while done < share.end && go_on(&runs) {
            let round = done..(done + ROUND).min(share.end);
            done = round.end;
            let simulator = || Simulator::new(&self.world, &self.usual, self.factor, self.settings.watch);
            let replicate =
                |simulator: &mut Simulator<'_>, replication| self.replicate(simulator, &policies, replication);
            let found: Vec<Result<Vec<Outcome>, _>> =
                pool.install(|| round.into_par_iter().map_init(simulator, replicate).collect());
            for outcomes in found {
                let outcomes = match outcomes {
                    // replications after the first stopped one are of no use
                    Err(ExperimentError::Run { fault: RunFault::Stopped, .. }) => return Ok(runs),
                    found => found?,
                };
                for (run, outcome) in runs.iter_mut().zip(outcomes) {
                    run.outcomes.push(outcome);
                }
            }
        }
        Ok(runs)
    }

    /// Runs one replication of each policy.
    fn replicate(
        &self,
        simulator: &mut Simulator<'_>,
        policies: &[Policy<'_>],
        replication: u64,
    ) -> Result<Vec<Outcome>, ExperimentError> {
        let one = |(policy, plan): (&Policy<'_>, &PolicyPlan)| {
            let found = simulator.run(policy, replication);
            found.map_err(|fault| ExperimentError::Run { policy: plan.title(), replication, fault })
        };
        policies.iter().zip(&self.policies).map(one).collect()
    }
}

/// Returns the times of each task in the homogeneous runs of a plan, without speculation \[s\]: one list per task, jobs in order, maps before
/// reduces.
///
/// # Errors
///
/// [`ExperimentError::Run`].
pub fn homogeneous_times(plan: &Plan, seed: u64, watch: &dyn Watch) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let world = World::homogeneous(plan, seed);
    let nobody = PolicyPlan::default();
    let policy = Policy::new(&nobody, &world);
    let mut simulator = Simulator::new(&world, &[], plan.truth.factor, watch);
    let mut times = vec![Vec::with_capacity(plan.truth.runs as usize); world.tasks.len()];
    for run in 0..u64::from(plan.truth.runs) {
        let replication = HOMOGENEOUS + run;
        simulator.run(&policy, replication).map_err(|fault| ExperimentError::Run {
            policy: "homogeneous runs".to_owned(),
            replication,
            fault,
        })?;
        times.iter_mut().zip(simulator.times()).for_each(|(list, time)| list.push(time));
    }
    Ok(times)
}
