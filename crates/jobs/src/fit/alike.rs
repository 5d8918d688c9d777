//! Runs of one program, namely runs with the same stages.

use crate::fit::observe::{FitError, ObservedRun, ObservedStage};

/// Returns the runs, each with its stages in the order of the first run's stages.
///
/// Stages that do not wait for each other may be submitted in any order. Such stages are distinguished by their names,
/// or by their data if names are equal.
pub(super) fn alike(runs: &[ObservedRun]) -> Result<Vec<ObservedRun>, FitError> {
    let first = &runs[0];
    let mut all = vec![first.clone()];
    for run in &runs[1..] {
        let run = ordered(run, first).unwrap_or_else(|| run.clone());
        same_job(&run, first)?;
        all.push(run);
    }
    Ok(all)
}

/// Returns a run with its stages in the order of the first run's stages; none if the stages differ.
fn ordered(run: &ObservedRun, first: &ObservedRun) -> Option<ObservedRun> {
    if run.stages.len() != first.stages.len() {
        return None;
    }
    let share = |of: &ObservedRun, i: usize| {
        (of.stages[i].tasks.iter().map(|task| task.mb).sum::<f64>() / of.input_mb).max(1e-9).ln()
    };
    let mut order: Vec<usize> = Vec::new();
    for (i, wanted) in first.stages.iter().enumerate() {
        let mut after: Vec<usize> = wanted.after.iter().map(|&before| order[before]).collect();
        after.sort_unstable();
        let fits = |k: &usize| {
            let stage = &run.stages[*k];
            !order.contains(k) && action(&stage.name) == action(&wanted.name) && stage.after == after
        };
        let off = |k: usize| (share(run, k) - share(first, i)).abs();
        order.push((0..run.stages.len()).filter(fits).min_by(|&a, &b| off(a).total_cmp(&off(b)))?);
    }
    let stages = order
        .iter()
        .zip(&first.stages)
        .map(|(&k, wanted)| ObservedStage { after: wanted.after.clone(), ..run.stages[k].clone() });
    Some(ObservedRun { stages: stages.collect(), ..run.clone() })
}

/// Returns the action in a stage's name, without the line of the program, which changes when the program is edited.
pub(super) fn action(name: &str) -> &str {
    name.split_once(" at ").map_or(name, |(action, _)| action)
}

/// Checks that a run has the stages of the first run.
fn same_job(run: &ObservedRun, first: &ObservedRun) -> Result<(), FitError> {
    let other = |what: String, expected: String| FitError::OtherJob {
        log: run.log.clone(),
        what,
        first: first.log.clone(),
        expected,
    };
    if run.stages.len() != first.stages.len() {
        return Err(other(format!("{} stages", run.stages.len()), first.stages.len().to_string()));
    }
    for (i, (a, b)) in run.stages.iter().zip(&first.stages).enumerate() {
        if action(&a.name) != action(&b.name) || a.after != b.after {
            let text = |s: &ObservedStage| format!("`{}` after {:?}", s.name, s.after);
            return Err(other(format!("stage {i} {}", text(a)), text(b)));
        }
    }
    Ok(())
}

/// Groups runs by program; runs with the same stages are of one program.
pub(super) fn programs(others: &[ObservedRun]) -> Vec<Vec<ObservedRun>> {
    let mut programs: Vec<Vec<ObservedRun>> = Vec::new();
    for run in others {
        let with = programs.iter_mut().find_map(|program| {
            let mut all = program.clone();
            all.push(run.clone());
            alike(&all).ok().map(|all| (program, all))
        });
        match with {
            Some((program, all)) => *program = all,
            None => programs.push(vec![run.clone()]),
        }
    }
    programs
}
