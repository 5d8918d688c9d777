//! Options of a planned job, for every command that reads the plan of a job.

use clap::Args;

use tailspn::plan::{DataSize, PlanOption};

use crate::cli::values;

/// Values in place of those of the plan.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Planned job, in place of the plan's values")]
pub(crate) struct PlanArgs {
    /// Input of the job, such as 10GB (KB, MB, GB and TB are powers of 1024)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) input_size: Option<DataSize>,
    /// Input of one map task, such as 128MB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) split_size: Option<DataSize>,
    /// Number of reduce tasks
    #[arg(long, value_name = "R", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) reduces: Option<u64>,
    /// Number of workers; with several kinds, NAME=N for each
    #[arg(long, value_name = "[NAME=]N", allow_hyphen_values = true, value_parser = workers)]
    pub(crate) workers: Vec<(Option<String>, u64)>,
    /// Map tasks that a worker runs at a time; tasks wait for slots
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) map_slots: Option<u64>,
    /// Reduce tasks that a worker runs at a time; tasks wait for slots
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) reduce_slots: Option<u64>,
    /// GPUs of a worker, for which map tasks wait
    #[arg(long, value_name = "G", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) gpus_per_worker: Option<u64>,
    /// Let tasks wait for slots
    #[arg(long, conflicts_with = "no_slots")]
    pub(crate) slots: bool,
    /// Run all tasks at once, as in the paper
    #[arg(long, conflicts_with_all = ["map_slots", "reduce_slots"])]
    pub(crate) no_slots: bool,
    /// Number of executors (plans of stages)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) executors: Option<u64>,
    /// Tasks that an executor runs at a time (plans of stages)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) cores: Option<u64>,
    /// GPUs of an executor, for which tasks wait (plans of stages on GPUs)
    #[arg(long, value_name = "G", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) gpus_per_executor: Option<u64>,
    /// Tasks that may hold a GPU at a time, spark.rapids.sql.concurrentGpuTasks (plans of stages on GPUs)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) concurrent_gpu_tasks: Option<u64>,
    /// Machines that the executors share (plans of stages); default as in the logs that the plan was fitted to
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) hosts: Option<u64>,
    /// Partitions of shuffles (plans of stages)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) partitions: Option<u64>,
    /// Time by which the job must be done, such as 85s or 5m: adds the probability that it is
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::deadline)]
    pub(crate) deadline: Option<f64>,
}

impl PlanArgs {
    /// Returns the options that were given, the deadline last.
    pub(crate) fn options(&self) -> Vec<PlanOption> {
        let slots = (self.slots || self.no_slots).then_some(PlanOption::Slots(self.slots));
        let given = [
            self.input_size.map(PlanOption::InputSize),
            self.split_size.map(PlanOption::SplitSize),
            self.reduces.map(PlanOption::Reduces),
            self.map_slots.map(PlanOption::MapSlots),
            self.reduce_slots.map(PlanOption::ReduceSlots),
            self.gpus_per_worker.map(PlanOption::Gpus),
            slots,
            self.executors.map(PlanOption::Executors),
            self.cores.map(PlanOption::Cores),
            self.gpus_per_executor.map(PlanOption::GpusOfExecutor),
            self.concurrent_gpu_tasks.map(PlanOption::ConcurrentGpuTasks),
            self.hosts.map(PlanOption::Hosts),
            self.partitions.map(PlanOption::Partitions),
        ];
        let workers = self.workers.iter().map(|(kind, count)| PlanOption::Workers(kind.clone(), *count));
        given.into_iter().flatten().chain(workers).chain(self.deadline.map(PlanOption::Deadline)).collect()
    }
}

/// `N`, or `NAME=N`.
fn workers(text: &str) -> Result<(Option<String>, u64), String> {
    let (kind, count) = text.rsplit_once('=').map_or((None, text), |(kind, count)| (Some(kind.trim()), count));
    Ok((kind.map(str::to_owned), values::positive_count(count.trim())?))
}
