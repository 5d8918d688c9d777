//! Options of a planned job, for every command that reads the plan of a job.

use std::str::FromStr;

use clap::Args;

use tailspn::optimize::MachineChoices;
use tailspn::plan::{DataSize, InputSize, PlanOption};

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::values::{self, Deadline};

/// Trust in a plan that does not reproduce its own runs.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(crate) struct TrustArgs {
    /// Answer although the plan does not reproduce the runs that it was fitted to; the answer is then not proved
    #[arg(long, help_heading = "Run")]
    pub(crate) trust_misfit: bool,
}

/// Sizes of the job and slots of its machines that replace the plan's.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "In place of the plan's values")]
pub(crate) struct SizeArgs {
    /// Input of the job, such as 10GB (KB, MB, GB and TB are powers of 1024), or a multiple of the plan's, such as 3x
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    input_size: Option<InputSize>,
    /// Input of one map task, such as 128MB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    split_size: Option<DataSize>,
    /// Number of reduce tasks; 0: a job of maps only
    #[arg(long, value_name = "R", allow_hyphen_values = true, value_parser = values::count)]
    reduces: Option<u64>,
    /// Number of shuffle partitions (plans of stages)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    partitions: Option<u64>,
    /// Map tasks that a worker runs at a time; tasks wait for slots
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    map_slots: Option<u64>,
    /// Reduce tasks that a worker runs at a time; tasks wait for slots
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    reduce_slots: Option<u64>,
    /// GPUs per worker, for which map tasks wait; 0: no worker has a GPU
    #[arg(long, value_name = "G", allow_hyphen_values = true, value_parser = values::count)]
    gpus_per_worker: Option<u64>,
    /// GPUs per executor; tasks wait for a free GPU (plans of stages on GPUs)
    #[arg(long, value_name = "G", allow_hyphen_values = true, value_parser = values::positive_count)]
    gpus_per_executor: Option<u64>,
    /// Machines that the executors share (plans of stages) [default: as in the fitted logs]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    hosts: Option<u64>,
}

/// Sizes of the job and slots of its machines that replace the plan's, or lists of them.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "In place of the plan's values")]
pub(crate) struct SizeLists {
    /// Input of the job, such as 10GB (KB, MB, GB and TB are powers of 1024), or a multiple of the plan's, such as 3x; or a
    /// list of inputs, such as 1x,3x,10x
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true, value_parser = list::<InputSize>)]
    input_size: Option<List<InputSize>>,
    /// Input of one map task, such as 128MB, or a list
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true, value_parser = list::<DataSize>)]
    split_size: Option<List<DataSize>>,
    /// Number of reduce tasks, or a list; 0: a job of maps only
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts_from_0)]
    reduces: Option<Counts>,
    /// Number of shuffle partitions, or a list (plans of stages)
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    partitions: Option<Counts>,
    /// Map tasks that a worker runs at a time, or a list; tasks wait for slots
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    map_slots: Option<Counts>,
    /// Reduce tasks that a worker runs at a time, or a list; tasks wait for slots
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    reduce_slots: Option<Counts>,
    /// GPUs per worker, for which map tasks wait, or a list; 0: no worker has a GPU
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts_from_0)]
    gpus_per_worker: Option<Counts>,
    /// GPUs per executor, or a list; tasks wait for a free GPU (plans of stages on GPUs)
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    gpus_per_executor: Option<Counts>,
    /// Machines that the executors share, or a list (plans of stages) [default: as in the fitted logs]
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    hosts: Option<Counts>,
}

/// Values that replace the plan's, except its sizes, slots and the numbers of machines.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "In place of the plan's values")]
pub(crate) struct JobArgs {
    /// Map tasks that may hold a worker's GPUs at a time; 0: all of them, sharing the GPUs equally [default: one per GPU]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = values::count)]
    pub(crate) gpu_permits: Option<u64>,
    /// Let tasks wait for slots
    #[arg(long, conflicts_with = "no_slots")]
    pub(crate) slots: bool,
    /// Start all tasks immediately, without slots, as in the paper
    #[arg(long, conflicts_with_all = ["map_slots", "reduce_slots"])]
    pub(crate) no_slots: bool,
    /// Tasks that may hold a GPU at a time, spark.rapids.sql.concurrentGpuTasks (plans of stages on GPUs)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    pub(crate) concurrent_gpu_tasks: Option<u64>,
    /// Deadline, such as 85s or 5m, to print the probability of meeting it; for a run in progress, also a time of the day
    /// in UTC, such as 06:00
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = values::deadline_or_clock)]
    deadline: Option<Deadline>,
}

/// Values that replace the plan's.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "In place of the plan's values")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    /// Number of workers; with several kinds, NAME=N for each
    #[arg(long, value_name = "[NAME=]N", allow_hyphen_values = true, value_parser = workers)]
    workers: Vec<(Option<String>, u64)>,
    /// Number of executors (plans of stages)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    executors: Option<u64>,
    /// Tasks that an executor runs at a time (plans of stages)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = values::positive_count)]
    cores: Option<u64>,
}

impl PlanArgs {
    /// Returns the options that were given, the deadline last.
    pub(crate) fn options(&self) -> Vec<PlanOption> {
        let executors = self.executors.map(PlanOption::Executors);
        let machines = executors.into_iter().chain(self.cores.map(PlanOption::Cores));
        let workers = self.workers.iter().map(|(kind, count)| PlanOption::Workers(kind.clone(), *count));
        self.size.options().chain(machines).chain(workers).chain(self.size.slots()).chain(self.job.options()).collect()
    }
}

/// Values that replace the plan's. The numbers of machines may be lists, and with [`SizeLists`] the sizes too.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "In place of the plan's values")]
pub(crate) struct ChoiceArgs<S: Args> {
    #[command(flatten)]
    size: S,
    #[command(flatten)]
    job: JobArgs,
    /// Number of workers, or a list of numbers to choose from, such as 1..64 or 4,8,16; with several kinds of
    /// workers, NAME=N for each kind
    #[arg(long, value_name = "[NAME=]COUNTS", allow_hyphen_values = true, value_parser = choice_of_workers)]
    workers: Vec<(Option<String>, Counts)>,
    /// Number of executors, or a list of numbers to choose from, such as 1..64 or 4,8,16 (only for logs and plans of
    /// stages)
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    executors: Option<Counts>,
    /// Tasks that an executor runs at a time, or a list of numbers to choose from, such as 2,4,8 (only for
    /// logs and plans of stages)
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, value_parser = counts)]
    cores: Option<Counts>,
}

impl ChoiceArgs<SizeLists> {
    /// Returns the values of each option that takes a list; empty for an option that was not given.
    fn values(&self) -> impl Iterator<Item = Vec<PlanOption>> {
        fn of<'a, T: Copy + 'a>(
            values: impl IntoIterator<Item = &'a Vec<T>>,
            option: impl Fn(T) -> PlanOption,
        ) -> Vec<PlanOption> {
            values.into_iter().flatten().map(|value| option(*value)).collect()
        }
        let SizeLists { input_size, split_size, reduces, partitions, .. } = &self.size;
        let count =
            |counts: &Option<Counts>, option: fn(u64) -> PlanOption| of(counts.as_ref().map(|list| &list.0), option);
        let sizes = [
            of(input_size.as_ref().map(|list| &list.0), PlanOption::InputSize),
            of(split_size.as_ref().map(|list| &list.0), PlanOption::SplitSize),
            count(reduces, PlanOption::Reduces),
            count(partitions, PlanOption::Partitions),
            count(&self.executors, PlanOption::Executors),
            count(&self.cores, PlanOption::Cores),
        ];
        let workers = self.workers.iter();
        let workers = workers.map(|(kind, list)| of([&list.0], |count| PlanOption::Workers(kind.clone(), count)));
        let slots = [
            count(&self.size.map_slots, PlanOption::MapSlots),
            count(&self.size.reduce_slots, PlanOption::ReduceSlots),
            count(&self.size.gpus_per_worker, PlanOption::Gpus),
            count(&self.size.gpus_per_executor, PlanOption::GpusOfExecutor),
            count(&self.size.hosts, PlanOption::Hosts),
        ];
        sizes.into_iter().chain(workers.collect::<Vec<_>>()).chain(slots)
    }

    /// Returns the options with one value, the deadline last.
    pub(crate) fn options(&self) -> Vec<PlanOption> {
        let one = self.values().filter(|values| values.len() == 1).flatten();
        one.chain(self.job.options()).collect()
    }

    /// Returns the options with lists, each with its values.
    pub(crate) fn lists(&self) -> Vec<Vec<PlanOption>> {
        self.values().filter(|values| values.len() > 1).collect()
    }
}

impl ChoiceArgs<SizeArgs> {
    /// Returns the options that were given, without choices of machines, the deadline last.
    pub(crate) fn options(&self) -> Vec<PlanOption> {
        self.size.options().chain(self.size.slots()).chain(self.job.options()).collect()
    }

    /// Returns the options that were given, with one number of machines each, the deadline last.
    pub(crate) fn single_options(&self) -> Result<Vec<PlanOption>, Failure> {
        let one = |option: &'static str, counts: &Counts| match counts.0[..] {
            [count] => Ok(count),
            _ => Err(Failure::helped(
                Exit::Usage,
                format!("{option} needs a single number here"),
                "`tailspn estimate` makes a table of a list; with --deadline, `tailspn study` chooses from it",
            )),
        };
        let executors = self.executors.iter().map(|counts| one("--executors", counts).map(PlanOption::Executors));
        let cores = self.cores.iter().map(|counts| one("--cores", counts).map(PlanOption::Cores));
        let of_kind = |(kind, counts): &(Option<String>, Counts)| {
            one("--workers", counts).map(|count| PlanOption::Workers(kind.clone(), count))
        };
        let machines = executors.chain(cores).chain(self.workers.iter().map(of_kind)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.size.options().chain(machines).chain(self.size.slots()).chain(self.job.options()).collect())
    }

    /// Returns true if a deadline was given.
    pub(crate) fn has_deadline(&self) -> bool {
        self.job.deadline.is_some()
    }

    /// Returns the numbers of machines.
    pub(crate) fn machines(&self) -> MachineChoices {
        let counts = |counts: &Option<Counts>| counts.as_ref().map_or_else(Vec::new, |counts| counts.0.clone());
        MachineChoices {
            workers: self.workers.iter().map(|(kind, counts)| (kind.clone(), counts.0.clone())).collect(),
            executors: counts(&self.executors),
            cores: counts(&self.cores),
        }
    }
}

impl SizeArgs {
    fn options(&self) -> impl Iterator<Item = PlanOption> {
        let given = [
            self.input_size.map(PlanOption::InputSize),
            self.split_size.map(PlanOption::SplitSize),
            self.reduces.map(PlanOption::Reduces),
            self.partitions.map(PlanOption::Partitions),
        ];
        given.into_iter().flatten()
    }

    /// Returns the options about slots and hosts, which follow the numbers of machines.
    fn slots(&self) -> impl Iterator<Item = PlanOption> {
        let given = [
            self.map_slots.map(PlanOption::MapSlots),
            self.reduce_slots.map(PlanOption::ReduceSlots),
            self.gpus_per_worker.map(PlanOption::Gpus),
            self.gpus_per_executor.map(PlanOption::GpusOfExecutor),
            self.hosts.map(PlanOption::Hosts),
        ];
        given.into_iter().flatten()
    }
}

impl JobArgs {
    fn options(&self) -> impl Iterator<Item = PlanOption> {
        let slots = (self.slots || self.no_slots).then_some(PlanOption::Slots(self.slots));
        let given = [
            self.gpu_permits.map(PlanOption::GpuPermits),
            slots,
            self.concurrent_gpu_tasks.map(PlanOption::ConcurrentGpuTasks),
            self.deadline.map(Deadline::option),
        ];
        given.into_iter().flatten()
    }
}

/// Values in the order of the command line, each once, at least one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List<T>(Vec<T>);

/// Parses values with commas between them.
fn list<T: FromStr<Err: std::fmt::Display> + PartialEq>(text: &str) -> Result<List<T>, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let value = part.parse().map_err(|error| format!("{error}"))?;
        if !all.contains(&value) {
            all.push(value);
        }
    }
    Ok(List(all))
}

/// Numbers to choose from, in ascending order, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) Vec<u64>);

/// Maximum length of a list of choices.
const MOST_COUNTS: usize = 10_000;

/// Parses `8`, `1..64` (both ends included), `4,8,16`, or several of these with commas.
fn counts(text: &str) -> Result<Counts, String> {
    counts_by(text, values::positive_count)
}

/// Parses counts, of which one may be 0.
fn counts_from_0(text: &str) -> Result<Counts, String> {
    counts_by(text, values::count)
}

fn counts_by(text: &str, count: fn(&str) -> Result<u64, String>) -> Result<Counts, String> {
    let mut all = Vec::new();
    let is_one = !text.contains(',') && !text.contains("..");
    let number = |part: &str| {
        let is_dashed = |(from, to): (&str, &str)| count(from).is_ok() && count(to).is_ok();
        count(part.trim()).map_err(|why| match part.trim().split_once('-').filter(|ends| is_dashed(*ends)) {
            Some((from, to)) => format!("`{part}` is not a number; a range is written {from}..{to}"),
            None if is_one => why,
            None if part.trim().is_empty() => "a number is missing before or after a comma".to_owned(),
            None => format!("`{part}`: {why}"),
        })
    };
    for part in text.split(',') {
        let (from, to) = part.split_once("..").unwrap_or((part, part));
        let (from, to) = (number(from)?, number(to.trim().trim_start_matches('='))?);
        if from > to {
            return Err(format!("`{part}` is descending; put the smaller number first"));
        }
        if to - from >= MOST_COUNTS as u64 {
            return Err(format!("`{part}` has more than {MOST_COUNTS} numbers"));
        }
        all.extend(from..=to);
    }
    all.sort_unstable();
    all.dedup();
    if all.len() > MOST_COUNTS { Err(format!("more than {MOST_COUNTS} numbers")) } else { Ok(Counts(all)) }
}

/// Parses counts, or `NAME=N`.
fn choice_of_workers(text: &str) -> Result<(Option<String>, Counts), String> {
    match text.rsplit_once('=').filter(|(kind, _)| !kind.ends_with("..")) {
        Some((kind, count)) => {
            let kind = kind.trim().to_owned();
            Ok((Some(kind), Counts(vec![values::positive_count(count.trim())?])))
        }
        None => Ok((None, counts(text)?)),
    }
}

/// Parses `N`, or `NAME=N`.
pub(crate) fn workers(text: &str) -> Result<(Option<String>, u64), String> {
    let (kind, count) = text.rsplit_once('=').map_or((None, text), |(kind, count)| (Some(kind.trim()), count));
    Ok((kind.map(str::to_owned), values::positive_count(count.trim())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_numbers_ranges_and_lists() {
        let read = |text: &str| counts(text).map(|counts| counts.0);
        assert_eq!(read("8"), Ok(vec![8]));
        assert_eq!(read("2..4"), Ok(vec![2, 3, 4]));
        assert_eq!(read("8, 2,4,2"), Ok(vec![2, 4, 8]));
        assert_eq!(read("1..2,16"), Ok(vec![1, 2, 16]));
        for wrong in ["", "0", "4..2", "1..", "1..100000", "a", "1,,2", "-1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(counts_from_0("0,4").map(|counts| counts.0), Ok(vec![0, 4]));
        assert_eq!(list::<u64>("3,1,3").map(|list| list.0), Ok(vec![3, 1]));
        assert!(list::<u64>("3,").is_err());
        assert_eq!(choice_of_workers("small=3"), Ok((Some("small".to_owned()), Counts(vec![3]))));
        assert_eq!(choice_of_workers("1..3"), Ok((None, Counts(vec![1, 2, 3]))));
    }
}
