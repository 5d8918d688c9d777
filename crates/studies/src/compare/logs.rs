//! Comparison of the runs of two sides: the job time, the stages that account for the difference, and the settings that differ.

use crate::compare::chance::time_difference;
use crate::compare::matching::{Group, groups};
use crate::compare::pieces::Pieces;
use crate::compare::result::{
    Compared, ComparedSide, ComparisonReport, Gap, GapDifference, StageDifference, StageSide,
};
use crate::compare::run::{ComparedRun, ComparedStage};
use crate::compare::settings::differing;

/// Returns the comparison of the runs of side A with the runs of side B; none if a side has no run.
///
/// Each run's time is divided into pieces, one per stage: each instant is shared equally by the stages that run then. Times
/// without a running stage are separate pieces. A contribution is the mean piece of side B minus the mean piece of side A,
/// so contributions add up to the difference of the mean times. A contribution shows where time was spent, not why: a stage
/// that is slow because another stage holds the slots also gets a share of the time.
pub fn compare_logs(a: &[ComparedRun], b: &[ComparedRun], level: f64) -> Option<ComparisonReport> {
    let times = [a, b].map(|runs| runs.iter().map(|run| run.job_s).collect::<Vec<_>>());
    let time = time_difference(&times[0], &times[1], level)?;
    let sides = Sides { runs: a.iter().chain(b).collect(), first_b: a.len() };
    let all: Vec<Pieces> = sides.runs.iter().map(|run| run.pieces()).collect();
    let mut stages: Vec<StageDifference> =
        groups(&sides.runs).iter().map(|group| sides.difference(group, &all)).collect();
    stages.sort_by(|x, y| y.contribution_s.abs().total_cmp(&x.contribution_s.abs()));
    let gap = |(i, gap): (usize, Gap)| {
        let [a_s, b_s] = [0, 1].map(|side| sides.mean(side, |run| all[run].gaps[i]));
        GapDifference { gap, a_s, b_s, contribution_s: b_s - a_s }
    };
    let gaps = [Gap::BeforeFirst, Gap::Between, Gap::AfterLast].into_iter().enumerate().map(gap).collect();
    let gpu = [a, b].map(|runs| runs.iter().all(|run| run.gpu));
    let cpu = [a, b].map(|runs| runs.iter().all(|run| !run.gpu));
    let labels = match (gpu, cpu) {
        ([true, _], [_, true]) => ["GPU", "CPU"],
        ([_, true], [true, _]) => ["CPU", "GPU"],
        _ => ["A", "B"],
    };
    let side = |i: usize, runs: &[ComparedRun]| ComparedSide {
        label: labels[i].to_owned(),
        files: runs.iter().map(|run| run.log.clone()).collect(),
        times_s: times[i].clone(),
    };
    Some(ComparisonReport {
        compared: Compared::Logs,
        level,
        sides: [side(0, a), side(1, b)],
        time: Some(time),
        stages,
        gaps,
        settings: differing(a.iter().map(|run| &run.settings), b.iter().map(|run| &run.settings)),
        notes: a.iter().chain(b).flat_map(|run| run.notes.iter().cloned()).collect(),
    })
}

/// The runs of both sides, side A first.
struct Sides<'a> {
    runs: Vec<&'a ComparedRun>,
    first_b: usize,
}

impl Sides<'_> {
    /// Positions of the runs of a side.
    fn of(&self, side: usize) -> std::ops::Range<usize> {
        if side == 0 { 0..self.first_b } else { self.first_b..self.runs.len() }
    }

    /// The mean over the runs of a side.
    fn mean(&self, side: usize, value: impl Fn(usize) -> f64) -> f64 {
        let runs = self.of(side);
        runs.clone().map(value).sum::<f64>() / runs.len() as f64
    }

    fn difference(&self, group: &Group, all: &[Pieces]) -> StageDifference {
        let share = |run: usize| group.members[run].map_or(0.0, |stage| all[run].stages[stage]);
        let shares = [0, 1].map(|side| self.mean(side, share));
        let [a, b] = [0, 1].map(|side| self.stage(side, group, shares[side]));
        let walls = a.as_ref().zip(b.as_ref()).map(|(a, b)| (a.wall_s, b.wall_s));
        StageDifference {
            contribution_s: shares[1] - shares[0],
            speedup: walls.filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| a / b),
            a,
            b,
        }
    }

    /// The stage on a side; none if no run of the side has it.
    fn stage(&self, side: usize, group: &Group, share_s: f64) -> Option<StageSide> {
        let found: Vec<&ComparedStage> =
            self.of(side).filter_map(|run| Some(&self.runs[run].stages[group.members[run]?])).collect();
        let mean = |value: &dyn Fn(&ComparedStage) -> f64| {
            found.iter().map(|stage| value(stage)).sum::<f64>() / found.len() as f64
        };
        Some(StageSide {
            number: found.first()?.number,
            name: found.first()?.name.clone(),
            runs: found.len(),
            tasks: mean(&|stage| stage.tasks as f64),
            mb: mean(&|stage| stage.mb),
            wall_s: mean(&|stage| stage.ran_s.iter().map(|[from, to]| to - from).sum()),
            share_s,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use std::slice::from_ref;

    use super::*;

    fn run(job_s: f64, stages: &[(&str, [f64; 2])]) -> ComparedRun {
        let stage = |(i, (name, ran)): (usize, &(&str, [f64; 2]))| ComparedStage {
            number: i as u32,
            name: (*name).to_owned(),
            tasks: 4,
            mb: 10.0,
            ran_s: vec![*ran],
        };
        ComparedRun {
            log: format!("{job_s}"),
            name: "job".to_owned(),
            began_unix_s: None,
            job_s,
            stages: stages.iter().enumerate().map(stage).collect(),
            settings: BTreeMap::new(),
            gpu: false,
            notes: Vec::new(),
        }
    }

    /// A: 1 s before, map 1 to 5, sort 5 to 9, end at 10. B: map 1 to 5, 2 s of driver, sort 7 to 14 with `late` 12 to 14, end at 14.
    /// Map 4 − 4 = 0, sort (5 + 1) − 4 = 2, late 1 − 0 = 1, between 2 − 0 = 2, after 0 − 1 = −1: 4 = 14 − 10.
    #[test]
    fn contributions_of_a_worked_example_add_up() {
        let a = run(10.0, &[("map", [1.0, 5.0]), ("sort", [5.0, 9.0])]);
        let b = run(14.0, &[("map", [1.0, 5.0]), ("sort", [7.0, 14.0]), ("late", [12.0, 14.0])]);
        let found = compare_logs(from_ref(&a), from_ref(&b), 0.95).unwrap();
        let row = |row: &StageDifference| (row.b.as_ref().unwrap().name.clone(), row.contribution_s, row.speedup);
        let rows: Vec<_> = found.stages.iter().map(row).collect();
        let expected = [("sort", 2.0, Some(4.0 / 7.0)), ("late", 1.0, None), ("map", 0.0, Some(1.0))];
        assert_eq!(rows, expected.map(|(name, s, speedup)| (name.to_owned(), s, speedup)));
        assert_eq!([0, 1, 2].map(|i| found.gaps[i].contribution_s), [0.0, 2.0, -1.0]);
        assert_eq!(found.time.unwrap().difference_s, 4.0);
        // a second run without the stage `late` halves its contribution
        let two = compare_logs(from_ref(&a), &[b, a.clone()], 0.95).unwrap();
        let late = two.stages.iter().find(|row| row.a.is_none()).unwrap();
        assert_eq!((late.contribution_s, late.b.as_ref().unwrap().runs), (0.5, 1));
        assert_eq!(two.time.unwrap().difference_s, 2.0);
    }

    #[test]
    fn a_side_on_gpus_is_labelled() {
        let cpu = run(10.0, &[]);
        let gpu = ComparedRun { gpu: true, ..cpu.clone() };
        let labels = |a: &ComparedRun, b: &ComparedRun| {
            compare_logs(from_ref(a), from_ref(b), 0.95).unwrap().sides.map(|side| side.label)
        };
        assert_eq!(labels(&cpu, &gpu), ["CPU", "GPU"]);
        assert_eq!(labels(&gpu, &cpu), ["GPU", "CPU"]);
        assert_eq!(labels(&gpu, &gpu), ["A", "B"]);
    }
}
