//! Numbers of machines to choose from, as a user states them for a job of any kind.

use crate::optimize::plan::OptimizePlan;
use crate::optimize::sizing::Sizing;
use crate::plan::{JobPlan, PlanError, PlanOption, Planning as _};
use crate::sweep::Axis;

/// The key of the number of workers, executors and cores in a plan.
const WORKERS: &str = "cluster.node[0].count";
const EXECUTORS: &str = "job.executors";
const CORES: &str = "job.cores";

/// Numbers of machines. A single number is an option of the plan, several are choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineChoices {
    /// Numbers of workers of a kind; without a name, of the only kind.
    pub workers: Vec<(Option<String>, Vec<u64>)>,
    /// Numbers of executors; empty for the plan's.
    pub executors: Vec<u64>,
    /// Numbers of tasks that an executor runs at a time; empty for the plan's.
    pub cores: Vec<u64>,
}

impl MachineChoices {
    /// Returns the options with a single value.
    fn fixed(&self) -> Vec<PlanOption> {
        let one = |counts: &[u64]| if let [one] = counts { Some(*one) } else { None };
        let workers = self.workers.iter();
        let workers = workers.filter_map(|(kind, counts)| Some(PlanOption::Workers(kind.clone(), one(counts)?)));
        let executors = one(&self.executors).map(PlanOption::Executors);
        workers.chain(executors).chain(one(&self.cores).map(PlanOption::Cores)).collect()
    }

    /// Returns the key of each option with several values, and these values.
    fn choices(&self) -> impl Iterator<Item = (&'static str, &[u64])> {
        let workers = self.workers.iter().map(|(_, counts)| (WORKERS, &counts[..]));
        let all = workers.chain([(EXECUTORS, &self.executors[..]), (CORES, &self.cores[..])]);
        all.filter(|(_, counts)| counts.len() > 1)
    }

    /// Returns a job with these options and with the numbers that are no choices.
    ///
    /// # Errors
    ///
    /// Options that do not apply to the job. Choices that do not apply are refused in the same way as a single number.
    pub fn applied(&self, job: JobPlan, options: &[PlanOption]) -> Result<JobPlan, PlanError> {
        let is_stages = matches!(job, JobPlan::Stages(_));
        let foreign = self.choices().filter(|(key, _)| (*key == WORKERS) == is_stages);
        let foreign = foreign.map(|(key, counts)| match key {
            EXECUTORS => PlanOption::Executors(counts[0]),
            CORES => PlanOption::Cores(counts[0]),
            _ => PlanOption::Workers(None, counts[0]),
        });
        let all: Vec<PlanOption> = foreign.chain(self.fixed()).chain(options.iter().cloned()).collect();
        job.with_all(&all).plan()
    }

    /// Replaces the axes of a plan by the choices, and returns the options of its job.
    pub fn replace(&self, plan: &mut OptimizePlan, options: Vec<PlanOption>) -> Vec<PlanOption> {
        for (key, counts) in self.choices() {
            let values = counts.iter().map(|&count| i64::try_from(count).unwrap_or(i64::MAX));
            plan.axis.retain(|axis| axis.key != key);
            plan.axis.push(Axis::values(key, values));
        }
        self.fixed().into_iter().chain(options).collect()
    }
}

impl Sizing {
    /// Restricts the sizes to these numbers of machines.
    #[must_use]
    pub fn choosing(mut self, choices: &MachineChoices) -> Self {
        let is_stages = matches!(self.job, JobPlan::Stages(_));
        let one = choices.workers.first().map_or(&[][..], |(_, counts)| &counts[..]);
        self.machines = if is_stages { &choices.executors } else { one }.to_vec();
        self.cores = if choices.cores.len() > 1 { choices.cores.clone() } else { Vec::new() };
        self
    }
}
