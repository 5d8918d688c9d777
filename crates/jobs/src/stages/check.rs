//! Valid ranges of the values of a stage plan.
//!
//! Defines the ranges. It reports every problem, not only the first, each with the key's path.

use crate::cluster::check_policies;
use crate::mapreduce::{Stragglers, WhichTasks};
use crate::plan::{Checker, Document, PlanError, PlanProblem};
use crate::stages::plan::{StagePlan, StageSpec, TaskTime};

/// Maximum number of tasks of a stage, of slots, and of partitions.
pub const MAX_TASKS: u32 = 1_000_000;

/// Maximum number of stages of a plan.
pub const MAX_STAGES: usize = 10_000;

/// Maximum number in a plan: beyond it, clocks lose precision.
const LARGEST: f64 = 1e12;

impl StagePlan {
    /// Reads a plan from TOML.
    ///
    /// # Errors
    ///
    /// [`PlanError`], with positions in the text.
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        Self::read(Document::parse(text)?)
    }

    /// Reads a plan from a document.
    pub(crate) fn read(document: Document<'_>) -> Result<Self, PlanError> {
        document.read(Self::problems)
    }

    /// Returns the plan as TOML text that [`StagePlan::from_toml`] can read.
    ///
    /// # Errors
    ///
    /// Values that TOML cannot express; a valid plan has none.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Returns all problems with the values, in the order of the plan; empty for a valid plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        to.section = "job".into();
        positive(&mut to, "input_mb", self.job.input_mb);
        let most = u64::from(MAX_TASKS);
        to.count("executors", self.job.executors.into(), "executors", 1, most);
        let slots = u64::from(self.job.executors) * u64::from(self.job.cores);
        to.count("cores", slots, "cores of all executors", 1, most);
        if let Some(hosts) = self.job.hosts {
            to.count("hosts", hosts.into(), "hosts", 1, most);
        }
        check_arrivals(&mut to, &self.job.arrivals_s);
        for (key, what, count) in [
            ("gpus_per_executor", "GPUs", self.job.gpus_per_executor),
            ("concurrent_gpu_tasks", "tasks on a GPU", self.job.concurrent_gpu_tasks),
        ] {
            if let Some(count) = count {
                to.count(key, count.into(), what, 1, most);
            }
        }
        if let Some(share) = self.job.gpus_per_task {
            positive(&mut to, "gpus_per_task", share);
        }
        if let Some(partitions) = self.job.partitions {
            to.count("partitions", partitions.into(), "partitions", 1, most);
        }
        not_negative(&mut to, "teardown_s", self.job.teardown_s);
        if let Some(memory_mb) = self.job.executor_memory_mb {
            positive(&mut to, "executor_memory_mb", memory_mb);
        }
        if let Some(deadline) = self.job.deadline_s {
            positive(&mut to, "deadline_s", deadline);
        }
        to.run_spread(&self.run);
        if let Some(stragglers) = &self.stragglers {
            check_stragglers(stragglers, &mut to);
        }
        if let Some(copies) = &self.speculation {
            to.section = "speculation".into();
            positive(&mut to, "multiplier", copies.multiplier);
            to.range("quantile", copies.quantile, (0.0..=1.0).contains(&copies.quantile), "a number from 0 to 1");
        }
        self.check_seen(&mut to);
        to.section = String::new();
        to.count("stage", self.stage.len() as u64, "stages", 1, MAX_STAGES as u64);
        for (i, stage) in self.stage.iter().enumerate() {
            to.section = format!("stage[{i}]");
            check_stage(i, stage, self, &mut to);
        }
        self.check_proof(&mut to);
        check_policies(&self.policy, &[], &mut to);
        to.problems
    }

    fn check_proof(&self, to: &mut Checker) {
        for (i, run) in self.proof.iter().enumerate() {
            to.section = format!("proof[{i}]");
            positive(to, "job_s", run.job_s);
            positive(to, "input_mb", run.input_mb);
            to.count("executors", run.executors.into(), "executors", 1, MAX_TASKS.into());
            let slots = u64::from(run.executors) * u64::from(run.cores);
            to.count("cores", slots, "cores of all executors", 1, MAX_TASKS.into());
            to.count("hosts", run.hosts.into(), "hosts", 1, MAX_TASKS.into());
            check_arrivals(to, &run.arrivals_s);
            for (key, times) in [("stages_s", &run.stages_s), ("longest_s", &run.longest_s)] {
                let (count, stages) = (times.len(), self.stage.len());
                if count > 0 && count != stages {
                    to.add(key, format!("{count} times for {stages} stages"));
                }
                times.iter().for_each(|time_s| not_negative(to, key, *time_s));
            }
            if let Some(partitions) = run.partitions {
                to.count("partitions", partitions.into(), "partitions", 1, MAX_TASKS.into());
            }
            if let Some(copies) = &run.speculation {
                positive(to, "speculation.multiplier", copies.multiplier);
                let is_share = (0.0..=1.0).contains(&copies.quantile);
                to.range("speculation.quantile", copies.quantile, is_share, "a number from 0 to 1");
            }
            for stage in &self.stage {
                let tasks = stage.tasks.at(run.input_mb);
                if tasks.is_nan() || tasks > f64::from(MAX_TASKS) {
                    to.add("input_mb", format!("{tasks} tasks at this input; at most {MAX_TASKS} are allowed"));
                }
            }
        }
    }

    fn check_seen(&self, to: &mut Checker) {
        if let Some(sharing) = &self.sharing {
            to.section = "sharing".into();
            positive(to, "executors_per_host", sharing.executors_per_host);
            positive(to, "slots_per_host", sharing.slots_per_host);
            not_negative(to, "start_s", sharing.start_s);
            for (key, of) in [("start", sharing.start), ("warm_up", sharing.warm_up), ("steady", sharing.steady)] {
                to.range(&format!("{key}.power"), of.power, (-2.0..=4.0).contains(&of.power), "a number from -2 to 4");
                to.range(&format!("{key}.error"), of.error, (0.0..=5.0).contains(&of.error), "a number from 0 to 5");
            }
        }
        if let Some(seen) = &self.measured_range {
            to.section = "measured_range".into();
            positive(to, "min_input_mb", seen.min_input_mb);
            positive(to, "max_input_mb", seen.max_input_mb);
            to.count("min_slots", seen.min_slots.into(), "slots", 1, MAX_TASKS.into());
            to.count("max_slots", seen.max_slots.into(), "slots", 1, MAX_TASKS.into());
        }
    }
}

fn check_arrivals(to: &mut Checker, arrivals_s: &[f64]) {
    to.count("arrivals_s", arrivals_s.len() as u64, "executors", 0, MAX_TASKS.into());
    arrivals_s.iter().for_each(|time_s| not_negative(to, "arrivals_s", *time_s));
    if !arrivals_s.is_sorted() {
        to.add("arrivals_s", "the times at which executors join must ascend");
    }
}

fn positive(to: &mut Checker, key: &str, value: f64) {
    to.range(key, value, value > 0.0 && value <= LARGEST, "a number above 0 and at most 1e12");
}

fn not_negative(to: &mut Checker, key: &str, value: f64) {
    to.range(key, value, (0.0..=LARGEST).contains(&value), "a number from 0 to 1e12");
}

/// Checks stragglers that are drawn task by task, in stages of any kind.
fn check_stragglers(stragglers: &Stragglers, to: &mut Checker) {
    to.section = "stragglers".into();
    if let Some((key, problem)) = stragglers.problem() {
        to.add(key, problem);
    }
    if stragglers.distribution.is_some() {
        to.add("distribution", "stragglers of stages have the distribution of their stage; remove this key");
    }
    if stragglers.tasks != WhichTasks::All {
        to.add("tasks", "a stage has neither maps nor reduces; remove this key");
    }
}

fn check_stage(i: usize, stage: &StageSpec, plan: &StagePlan, to: &mut Checker) {
    if let Some(&before) = stage.after.iter().find(|before| **before >= i) {
        to.add(
            "after",
            format!("stage {i} can wait only for stages that precede it in the plan; stage {before} does not"),
        );
    }
    not_negative(to, "setup_s", stage.setup_s);
    not_negative(to, "small_mb", stage.small_mb);
    not_negative(to, "warming", stage.warming);
    not_negative(to, "memory_per_mb", stage.memory_per_mb);
    for (key, share) in [("busy", stage.busy), ("gpu", stage.gpu)] {
        to.range(key, share, (0.0..=1.0).contains(&share), "a number from 0 to 1");
    }
    if let Some(problem) = stage.distribution.problem() {
        to.add("distribution", problem);
    }
    if let Some((key, problem)) = stage.slow.and_then(|slow| slow.problem()) {
        to.add(&format!("slow.{key}"), problem);
    }
    let tasks = stage.tasks.at(plan.job.input_mb) + f64::from(stage.small_tasks);
    if tasks.is_nan() || tasks > f64::from(MAX_TASKS) {
        to.add("tasks", format!("{tasks} tasks at this input; at most {MAX_TASKS} are allowed"));
    }
    for (key, amount) in [("tasks", stage.tasks), ("data_mb", stage.data_mb)] {
        let fixed = amount.fixed;
        to.range(&format!("{key}.fixed"), fixed, fixed.abs() <= LARGEST, "a number from -1e12 to 1e12");
        not_negative(to, &format!("{key}.per_mb"), amount.per_mb);
    }
    check_time("cold", stage.cold, to);
    check_time("warm", stage.warm, to);
}

fn check_time(key: &str, time: TaskTime, to: &mut Checker) {
    not_negative(to, &format!("{key}.fixed_s"), time.fixed_s);
    not_negative(to, &format!("{key}.per_mb_s"), time.per_mb_s);
    to.range(&format!("{key}.error"), time.error, (0.0..=5.0).contains(&time.error), "a number from 0 to 5");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::SlowTasks;

    const SOUND: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n\
                         [[stage]]\ntasks = { per_mb = 0.0625 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 1 }\n\
                         [[stage]]\nafter = [0]\ntasks = { fixed = 8 }\ncold = { fixed_s = 2 }\nwarm = { per_mb_s = 1 }\n";

    #[test]
    fn a_plan_is_read_and_written_and_read_again() {
        let plan = StagePlan::from_toml(SOUND).unwrap();
        assert_eq!((plan.stage.len(), plan.stage[1].after.as_slice()), (2, &[0][..]));
        assert_eq!(StagePlan::from_toml(&plan.to_toml().unwrap()).unwrap(), plan);
    }

    #[test]
    fn slow_tasks_are_read_and_checked() {
        let with =
            |slow: &str| StagePlan::from_toml(&SOUND.replacen("[[stage]]", &format!("[[stage]]\nslow = {slow}"), 1));
        let plan = with("{ share = 0.06, from = 3.0, shape = 2.5, seen = 8.1 }").unwrap();
        let slow = SlowTasks { share: 0.06, from: 3.0, shape: 2.5, seen: Some(8.1) };
        assert_eq!((plan.stage[0].slow, plan.stage[1].slow), (Some(slow), None));
        assert_eq!(StagePlan::from_toml(&plan.to_toml().unwrap()).unwrap(), plan);
        let problem = |slow: &str| with(slow).unwrap_err().problems[0].without_line();
        assert_eq!(
            problem("{ share = 0.6, from = 3, shape = 2 }"),
            "`stage[0].slow.share`: the share of slow tasks is 0.6; it must be above 0 and at most 0.5"
        );
        assert_eq!(
            problem("{ share = 0.1, from = 3, shape = 2, seen = 2 }"),
            "`stage[0].slow.seen`: the longest time is 2; it must be at least `from`"
        );
    }

    #[test]
    fn problems_are_told_with_key_and_place() {
        let text =
            SOUND.replace("after = [0]", "after = [1]").replace("fixed_s = 2", "fixed_s = -2").replace("= 64", "= 1e9");
        let problems = StagePlan::from_toml(&text).unwrap_err().problems;
        let told: Vec<_> = problems.iter().map(|p| (p.without_line(), &text[p.span.clone().unwrap()])).collect();
        let expected = [
            (
                "`stage[0].tasks`: 62500000 tasks at this input; at most 1000000 are allowed".to_owned(),
                "{ per_mb = 0.0625 }",
            ),
            (
                "`stage[1].after`: stage 1 can wait only for stages that precede it in the plan; stage 1 does not"
                    .to_owned(),
                "[1]",
            ),
            ("`stage[1].cold.fixed_s`: -2 is not a number from 0 to 1e12".to_owned(), "-2"),
        ];
        assert_eq!(told, expected);
        let missing = StagePlan::from_toml("[job]\nexecutors = 1\ncores = 1\n[[stage]]\n").unwrap_err().to_string();
        assert_eq!(missing, "[job] needs `input_mb` (line 1)");
    }
}
