//! Remarks on gaps in the logs and the assumptions that fill them: without duplicates, with all affected stages.

use std::collections::BTreeMap;

use crate::fit::fitted::FittedStage;
use crate::fit::observe::ObservedRun;
use crate::fit::scaling::Scaling;
use crate::fit::tail::{Tail, Tails};
use crate::fit::task_time::Times;
use crate::stages::{RunSpread, Sharing};

/// A fit with its data.
pub(super) struct Fitting<'a> {
    pub(super) runs: &'a [ObservedRun],
    pub(super) scalings: &'a [Scaling],
    pub(super) stages: &'a [FittedStage],
    pub(super) times: &'a [Times],
    /// Stages whose tasks had about the same data in all logs.
    pub(super) unseen: &'a [usize],
    pub(super) tails: &'a Tails,
    pub(super) sharing: &'a Sharing,
}

impl Fitting<'_> {
    pub(super) fn notes(&self) -> Vec<String> {
        let of_log = |run: &ObservedRun| {
            let own = run.notes.iter().cloned().chain(run.changing_executors());
            own.map(|note| format!("{}: {note}", run.log)).collect::<Vec<_>>()
        };
        let mut notes: Vec<String> = self.runs.iter().flat_map(of_log).collect();
        notes.extend(self.about_runs());
        notes.extend(self.about_growth());
        notes.extend(self.about_times());
        notes
    }

    fn about_runs(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.runs.len() == 1 {
            let percent = 100.0 * RunSpread::default().sigma;
            notes.push(format!("only one log: run-to-run variation is assumed (standard deviation {percent:.0}%)"));
        }
        let load = |run: &ObservedRun| (run.executors, run.hosts);
        let differ = self.runs.iter().any(|run| load(run) != load(&self.runs[0]));
        if !differ && self.sharing.warm_up.error > 0.45 {
            let (executors, hosts) = load(&self.runs[0]);
            notes.push(format!(
                "hosts: every log has {hosts}, with {executors} executors; the slowdown of executors that share a host is assumed"
            ));
        }
        notes
    }

    /// Remarks on the growth of tasks and data, if all logs have one size of input.
    fn about_growth(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.runs.iter().any(|run| run.input_is_relative) {
            let stages = &self.runs[self.runs.len() - 1].stages;
            let first: Vec<usize> = (0..stages.len()).filter(|&i| stages[i].reads_input).collect();
            notes.push(format!(
                "{}: the size of the input is not recorded, so it counts as 1; these stages are assumed to read it, with a number of tasks that grows with it",
                listed(&first)
            ));
        }
        let mut alike: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
        for (i, scaling) in self.scalings.iter().enumerate() {
            if let Some(assumed) = scaling.assumed {
                alike.entry(assumed).or_default().push(i);
            }
        }
        let note = |(how, stages): (&str, Vec<usize>)| {
            let stages = listed(&stages);
            format!(
                "{stages}: all logs have the same input size; the number of tasks is assumed {how}, and the data are assumed to grow in proportion to the input"
            )
        };
        notes.extend(alike.into_iter().map(note));
        notes
    }

    fn about_times(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut say = |wanted: &dyn Fn(usize) -> bool, what: &str| {
            let found: Vec<usize> = (0..self.stages.len()).filter(|&i| wanted(i)).collect();
            if !found.is_empty() {
                notes.push(format!("{}: {what}", listed(&found)));
            }
        };
        let (times, grows) = (self.times, |i: usize| self.scalings[i].tasks.per_mb > 0.0);
        let tasks = |i: usize| self.runs.iter().flat_map(move |run| &run.stages[i].tasks);
        let ranks = |i: usize| tasks(i).map(|task| task.rank).max().unwrap_or(0);
        say(
            &|i| !times[i].saw_warm && grows(i),
            "no slot ran a second task; times of later tasks are estimated from CPU time",
        );
        say(
            &|i| times[i].saw_warm && ranks(i) < 4 && grows(i),
            "no slot ran enough tasks (four) to show the time of warm tasks; this time is estimated mainly from CPU time",
        );
        let has_tail = |i: usize| self.tails.of_stage(i).is_some();
        let held_up: usize = (0..self.stages.len()).filter(|&i| !has_tail(i)).map(|i| self.stages[i].held_up).sum();
        say(&|i| self.stages[i].held_up > 0 && !has_tail(i), &format!("outlier tasks excluded: {held_up}"));
        notes.extend(self.about_tails());
        if !self.unseen.is_empty() {
            let stages = listed(self.unseen);
            notes.push(format!(
                "{stages}: all tasks had about the same amount of data; times are assumed to grow in proportion to the data"
            ));
        }
        notes
    }

    /// Remarks on slow tasks, one for all stages with the same tail.
    fn about_tails(&self) -> Vec<String> {
        let mut alike: Vec<(Tail, Vec<usize>)> = Vec::new();
        for stage in 0..self.stages.len() {
            let Some(tail) = self.tails.of_stage(stage) else { continue };
            match alike.iter_mut().find(|(other, _)| *other == tail) {
                Some((_, stages)) => stages.push(stage),
                None => alike.push((tail, vec![stage])),
            }
        }
        alike.into_iter().map(|(tail, stages)| format!("{}: {}", listed(&stages), tail.note())).collect()
    }
}

/// Returns the numbers of stages as text, such as `stage 3` or `stages 0, 2 and 5`.
fn listed(stages: &[usize]) -> String {
    let names: Vec<String> = stages.iter().map(ToString::to_string).collect();
    match &names[..] {
        [one] => format!("stage {one}"),
        [first @ .., last] => format!("stages {} and {last}", first.join(", ")),
        [] => "no stage".to_owned(),
    }
}
