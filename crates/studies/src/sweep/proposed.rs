//! The axes of a study without a plan: each setting of a job at half and at double its value.

use toml::Value;

use crate::error::StudyError;
use crate::plan::Planning;
use crate::subject::Subject;
use crate::sweep::plan::{Axis, Design};
use crate::sweep::run::Sweep;

/// Replications of each point.
const REPLICATIONS: u64 = 500;
/// Maximum number of kinds of machines that have an axis of their own.
const MOST_KINDS: usize = 4;

/// A setting that people choose: its key in plans, its name, and true for a whole number.
type Setting = (&'static str, &'static str, bool);

/// Settings of a MapReduce job, besides its workers.
const OF_PHASES: [Setting; 8] = [
    ("job.reduces", "reduces", true),
    ("job.split_mb", "split [MB]", false),
    ("cluster.node[*].map_slots", "map slots of a worker", true),
    ("cluster.node[*].reduce_slots", "reduce slots of a worker", true),
    ("cluster.node[*].gpu_speed", "GPU speed", false),
    ("cluster.node[*].cpu_speed", "CPU speed", false),
    ("cluster.node[*].disk_read_mb_per_s", "disk read [MB/s]", false),
    ("cluster.node[*].network_mb_per_s", "network [MB/s]", false),
];
/// Settings of a job of stages.
const OF_STAGES: [Setting; 5] = [
    ("job.executors", "executors", true),
    ("job.cores", "cores of an executor", true),
    ("job.hosts", "hosts", true),
    ("job.partitions", "partitions", true),
    ("job.concurrent_gpu_tasks", "tasks on a GPU", true),
];

impl Sweep {
    /// Returns a sweep of the settings of a job, one at a time: each at half and at double its value. Values with which the job is not valid are left
    /// out.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::of_job`].
    pub fn of_settings(job: impl Planning) -> Result<Self, StudyError> {
        let mut sweep = Self::of_job(job)?;
        sweep.plan.sweep.design = Design::Each;
        sweep.plan.sweep.replications = REPLICATIONS;
        sweep.plan.axis = axes(&sweep.subject);
        Ok(sweep)
    }
}

fn axes(subject: &Subject) -> Vec<Axis> {
    let kinds = (0..MOST_KINDS).map(|i| format!("cluster.node[{i}].count"));
    let kinds: Vec<String> = kinds.take_while(|key| subject.base_number(key).is_some()).collect();
    let workers = kinds.iter().enumerate().filter_map(|(i, key)| {
        let name = if kinds.len() == 1 { "workers".to_owned() } else { format!("workers of kind {}", i + 1) };
        axis(subject, key, &name, true)
    });
    let others = OF_PHASES.iter().chain(&OF_STAGES).filter_map(|(key, name, whole)| axis(subject, key, name, *whole));
    workers.chain(others).collect()
}

/// Returns the axis of a setting; none if the job has no such number, or if no other value is valid.
fn axis(subject: &Subject, key: &str, name: &str, whole: bool) -> Option<Axis> {
    let base = subject.base_number(key).filter(|base| *base > 0.0)?;
    let rounded = |value: f64| if whole { value.round().max(1.0) } else { value };
    let setting = |value: f64| if whole { Value::Integer(value as i64) } else { Value::Float(value) };
    let values =
        [0.5, 2.0].map(|factor| rounded(factor * base)).into_iter().filter(|value| value.total_cmp(&base).is_ne());
    let values: Vec<Value> = values.map(setting).filter(|value| subject.accepts(key, value)).collect();
    (!values.is_empty()).then(|| Axis {
        key: key.to_owned(),
        name: Some(name.to_owned()),
        values: Some(values),
        ..Axis::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::Plan;
    use crate::plan::JobPlan;

    #[test]
    fn settings_vary_by_half_and_double_and_stay_valid() {
        let sweep = Sweep::of_settings(JobPlan::default()).unwrap();
        let of = |name: &str| {
            let axis = sweep.plan.axis.iter().find(|axis| axis.title() == name).unwrap();
            axis.values.clone().unwrap()
        };
        assert_eq!(of("workers"), [Value::Integer(2), Value::Integer(8)]);
        assert_eq!(of("map slots of a worker"), [Value::Integer(2), Value::Integer(8)]);
        assert_eq!(sweep.plan.problems(), []);
        // a job of one worker cannot have half of it
        let mut small = Plan::default();
        small.cluster.node[0].count = 1;
        let sweep = Sweep::of_settings(JobPlan::MapReduce(Box::new(small))).unwrap();
        let workers = sweep.plan.axis.iter().find(|axis| axis.title() == "workers").unwrap();
        assert_eq!(workers.values, Some(vec![Value::Integer(2)]));
    }
}
