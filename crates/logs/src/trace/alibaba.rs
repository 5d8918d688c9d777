//! The batch tables of the cluster traces of Alibaba, 2017 and 2018: `batch_task` (planned work) and `batch_instance`
//! (actual runs), as CSV without a header. Either table may be used without the other; in one folder they are read
//! together. Times are whole seconds since the start of the trace; 0 means unknown or not yet reached. Source:
//! \[Alibaba2018\].
//!
//! A job is an application, a task of the trace is a stage, and an instance is an attempt. In 2018 the name of a task
//! encodes its dependencies: `R3_1_2` is task 3, after 1 and 2. The 2017 trace lacks this, and its instances have no
//! names: a retried instance counts as another task of its stage.

use std::collections::HashMap;

use crate::trace::attempt::{Locality, Outcome};
use crate::trace::builder::{Builder, NewAttempt};
use crate::trace::error::TraceError;
use crate::trace::ids::{ApplicationId, StageId};
use crate::trace::input::Lines;
use crate::trace::job_trace::Application;
use crate::trace::warning::WarningKind;

/// Microseconds in a second, the unit of all times.
const SECOND: i64 = 1_000_000;

/// The trace's year, which determines its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Year {
    Y2017,
    Y2018,
}

#[derive(Default)]
struct State {
    applications: HashMap<String, ApplicationId>,
    stages: HashMap<(ApplicationId, String), StageId>,
    /// Number of the next new task of each stage.
    next_task: HashMap<StageId, u32>,
    /// Task numbers of the instances that run more than once, by name.
    retried: HashMap<(StageId, String), u32>,
    /// Number of rows in `batch_task`.
    planned: u64,
}

/// A row of `batch_task`.
struct TaskRow<'a> {
    job: &'a str,
    task: &'a str,
    instances: &'a str,
    status: &'a str,
    start: &'a str,
    end: &'a str,
}

/// A row of `batch_instance`.
struct InstanceRow<'a> {
    job: &'a str,
    task: &'a str,
    instance: &'a str,
    status: &'a str,
    start: &'a str,
    end: &'a str,
    machine: &'a str,
    trial: &'a str,
    trials: &'a str,
}

enum Row<'a> {
    Task(TaskRow<'a>),
    Instance(InstanceRow<'a>),
}

impl<'a> Row<'a> {
    fn parse(line: &'a str, year: Year) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
        Some(match (year, cells.as_slice()) {
            (Year::Y2017, &[start, end, job, task, instances, status, _, _]) => {
                Self::Task(TaskRow { job, task, instances, status, start, end })
            }
            (Year::Y2018, &[task, instances, job, _, status, start, end, _, _]) => {
                Self::Task(TaskRow { job, task, instances, status, start, end })
            }
            (Year::Y2017, &[start, end, job, task, machine, status, trial, trials, ..]) if cells.len() == 12 => {
                Self::Instance(InstanceRow { job, task, instance: "", status, start, end, machine, trial, trials })
            }
            (Year::Y2018, &[instance, task, job, _, status, start, end, machine, trial, trials, ..])
                if cells.len() == 14 =>
            {
                Self::Instance(InstanceRow { job, task, instance, status, start, end, machine, trial, trials })
            }
            _ => return None,
        })
    }
}

/// Reads the tables; returns the number of the first line that does not parse.
pub(super) fn read(lines: &mut Lines<'_>, builder: &mut Builder, year: Year) -> Result<Option<u64>, TraceError> {
    let mut state = State::default();
    let mut first_bad = None;
    while lines.next(builder)? {
        let line = lines.line().trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let row = std::str::from_utf8(line).ok().and_then(|line| Row::parse(line, year));
        if row.is_some() {
            builder.reading.events += 1;
        }
        match row {
            Some(Row::Task(row)) => state.task(&row, builder),
            Some(Row::Instance(row)) => state.instance(&row, builder)?,
            None => {
                first_bad = first_bad.or(Some(builder.at.line));
                builder.reading.bad_lines += 1;
                let kind = if lines.is_cut() { WarningKind::CutLastLine } else { WarningKind::BadLine };
                builder.warn(kind, || String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned());
            }
        }
    }
    if state.planned > 0 {
        let missing: Vec<u32> = builder.stages.iter().filter(|s| s.tasks.is_none()).map(|stage| stage.number).collect();
        for number in missing {
            builder.warn(WarningKind::MissingStage, || format!("task {number} of a job"));
        }
    }
    Ok(first_bad)
}

/// Returns the number of a task in its job and its dependencies, from a name such as `R3_1_2`; none for any other name.
fn dependencies(name: &str) -> Option<(u32, Vec<u32>)> {
    let mut parts = name.split('_');
    let first = parts.next()?.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let number = first.parse().ok()?;
    // a part that is not a number, such as `Stg4`, does not refer to a task
    let mut parents: Vec<u32> = parts.filter_map(|part| part.parse().ok()).filter(|&parent| parent != number).collect();
    parents.sort_unstable();
    parents.dedup();
    Some((number, parents))
}

/// Numbers for stages without a number in their name.
const UNNUMBERED: u32 = 1_000_000;

impl State {
    fn application(&mut self, job: &str, builder: &mut Builder) -> ApplicationId {
        if let Some(&id) = self.applications.get(job) {
            return id;
        }
        let id = builder.new_application(Application { id: job.to_owned(), ..Application::default() });
        self.applications.insert(job.to_owned(), id);
        id
    }

    fn stage(&mut self, application: ApplicationId, name: &str, builder: &mut Builder) -> StageId {
        if let Some(&id) = self.stages.get(&(application, name.to_owned())) {
            return id;
        }
        let (mut number, parents) = match dependencies(name) {
            Some((number, parents)) if name.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                (number, Some(parents))
            }
            _ => (UNNUMBERED, None),
        };
        let id = loop {
            let (id, is_new) = builder.stage(application, number, 0);
            if is_new {
                break id;
            }
            number = number.max(UNNUMBERED) + 1;
        };
        let stage = builder.stage_mut(id);
        stage.name = name.to_owned();
        stage.parents = parents;
        let (job, _) = builder.job(application, 0);
        job.stages.push(number);
        self.stages.insert((application, name.to_owned()), id);
        id
    }

    fn task(&mut self, row: &TaskRow<'_>, builder: &mut Builder) {
        self.planned += 1;
        let application = self.application(row.job, builder);
        let id = self.stage(application, row.task, builder);
        let start = time(row.start, builder);
        let end = time(row.end, builder);
        let end = builder.end(start, end, "a task");
        let stage = builder.stage_mut(id);
        (stage.submitted, stage.completed) = (start, end);
        stage.tasks = row.instances.parse().ok().filter(|&instances| instances > 0);
        stage.failure = (row.status == "Failed").then(|| "Failed".to_owned());
        let (job, _) = builder.job(application, 0);
        job.submitted = [job.submitted, start].into_iter().flatten().min();
        job.completed = job.completed.max(end);
        job.succeeded = match row.status {
            "Failed" | "Cancelled" => Some(false),
            "Terminated" => job.succeeded.or(Some(true)),
            _ => job.succeeded,
        };
        let (submitted, completed) = (job.submitted, job.completed);
        let application = &mut builder.applications[application.index()];
        (application.start, application.end) = (submitted, completed);
    }

    fn instance(&mut self, row: &InstanceRow<'_>, builder: &mut Builder) -> Result<(), TraceError> {
        let outcome = match row.status {
            "Terminated" => Outcome::Success,
            "Failed" => Outcome::Failed,
            "Running" => Outcome::Unfinished,
            "Interrupted" | "Cancelled" => Outcome::Killed,
            // nothing has run
            "Ready" | "Waiting" => return Ok(()),
            other => {
                builder.warn(WarningKind::UnknownWord, || format!("status `{other}`"));
                Outcome::Unknown
            }
        };
        builder.reading.task_ends += u64::from(outcome != Outcome::Unfinished);
        let application = self.application(row.job, builder);
        let stage = self.stage(application, row.task, builder);
        let task = self.task_number(stage, row);
        let launch = time(row.start, builder);
        let finish = if outcome == Outcome::Unfinished { None } else { time(row.end, builder) };
        let node = builder.node(row.machine, None);
        builder.attempt(NewAttempt {
            stage,
            task,
            number: row.trial.parse::<u32>().map_or(0, |trial| trial.saturating_sub(1)),
            node,
            executor: None,
            outcome,
            locality: Locality::Unknown,
            speculative: false,
            id: 0,
            launch,
            finish,
            metrics: None,
        })
    }

    /// Returns the task of an instance: the same for all trials of a named instance.
    fn task_number(&mut self, stage: StageId, row: &InstanceRow<'_>) -> u32 {
        let next = self.next_task.entry(stage).or_insert(0);
        let retried = row.trials.parse::<u32>().is_ok_and(|trials| trials > 1) && !row.instance.is_empty();
        let number =
            if retried { *self.retried.entry((stage, row.instance.to_owned())).or_insert(*next) } else { *next };
        if number == *next {
            *next = next.saturating_add(1);
        }
        number
    }
}

fn time(cell: &str, builder: &mut Builder) -> Option<crate::trace::ids::Moment> {
    match cell.parse::<i64>() {
        Ok(seconds) => builder.time(seconds, SECOND),
        Err(_) if cell.is_empty() => None,
        Err(_) => {
            builder.warn(WarningKind::BadTime, || cell.to_owned());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_2018_hold_dependencies() {
        assert_eq!(dependencies("M1"), Some((1, vec![])));
        assert_eq!(dependencies("R3_1_2"), Some((3, vec![1, 2])));
        assert_eq!(dependencies("J4_2_3_Stg5"), Some((4, vec![2, 3])));
        assert_eq!(dependencies("task_Nzg3ODA="), None);
        assert_eq!(dependencies("MergeTask"), None);
    }
}
