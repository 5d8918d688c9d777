//! Runs of one program, namely runs with the same stages.

use crate::fit::fit_error::FitError;
use crate::fit::job_text::short;
use crate::fit::observe::{ObservedRun, ObservedStage};

/// Least share of the task time of two runs in stages that both have, for runs of one program.
const SHARED: f64 = 0.7;

/// Runs of one program, each with the same stages.
pub(super) struct Alike {
    pub(super) runs: Vec<ObservedRun>,
    /// Remarks on stages that some runs do not have.
    pub(super) notes: Vec<String>,
}

/// Returns the runs, each with its stages in the order of the first complete run's stages; runs that are not complete come first.
///
/// Stages that do not wait for each other may be submitted in any order. Such stages are distinguished by their names, or by their data if names are
/// equal. A program may plan other stages at another size. Then all runs get the stages of the last run, whose size is the plan's: a stage that another run
/// does not have is empty there, and a stage that only another run has is left out.
pub(super) fn alike(runs: &[ObservedRun]) -> Result<Alike, FitError> {
    let (complete, parts): (Vec<&ObservedRun>, Vec<&ObservedRun>) = runs.iter().partition(|run| run.is_complete);
    if complete.is_empty() {
        let what = "a job failed or did not finish, and no other log has the complete job".to_owned();
        return Err(FitError::Incomplete { log: runs[0].log.clone(), what });
    }
    let complete: Vec<ObservedRun> = complete.into_iter().cloned().collect();
    let Alike { runs: complete, mut notes } = alike_to_the_end(&complete)?;
    let mut all = Vec::new();
    for run in parts {
        let (run, note) = as_far_as_it_went(run, &complete[complete.len() - 1])?;
        all.push(run);
        notes.push(note);
    }
    // the last run has the size of the plan
    all.extend(complete);
    Ok(Alike { runs: all, notes })
}

/// Returns a run that is not complete, with the stages of a complete run: stages that the run did not finish are empty. A run of unknown input has the
/// share of the complete run's that the stages of both have read.
fn as_far_as_it_went(run: &ObservedRun, whole: &ObservedRun) -> Result<(ObservedRun, String), FitError> {
    let mut found = counterparts(run, whole);
    let theirs: f64 = found.iter().flatten().map(|&k| work_s(&run.stages[k])).sum();
    let all: f64 = run.stages.iter().map(work_s).sum();
    if theirs < SHARED * all {
        // the same stages, of other tables
        same_job(run, whole)?;
        found = (0..whole.stages.len()).map(Some).collect();
    }
    let mut run = run.clone();
    let mut assumed = String::new();
    if run.input_mb == 0.0 {
        let read = |stage: &ObservedStage| stage.tasks.iter().map(|task| task.mb).sum::<f64>();
        let both = whole.stages.iter().zip(&found).filter_map(|(stage, k)| Some((stage, &run.stages[(*k)?])));
        let both = both.filter(|(stage, _)| stage.reads_input);
        let (own, of) = both.fold((0.0, 0.0), |(own, of), (stage, seen)| (own + read(seen), of + read(stage)));
        let is_known = own > 0.0 && of > 0.0;
        run.input_mb = if is_known { whole.input_mb * own / of } else { whole.input_mb };
        let by = if is_known { "by what these stages have read" } else { "as in that run" };
        let unit = if whole.input_is_relative { "times that run's" } else { "MB" };
        assumed = format!("; its input is assumed to be {} {unit}, {by}", short(run.input_mb));
    }
    let share = 100.0
        * found.iter().zip(&whole.stages).filter(|(k, _)| k.is_some()).map(|(_, stage)| work_s(stage)).sum::<f64>()
        / whole.stages.iter().map(work_s).sum::<f64>();
    let note = format!(
        "{}: failed or has not ended; {} of {} stages, with {share:.0}% of the task time of {}, are used{assumed}",
        run.log,
        found.iter().flatten().count(),
        whole.stages.len(),
        whole.log
    );
    run.stages = whole.stages.iter().zip(&found).map(|(wanted, k)| taken(&run, wanted, *k)).collect();
    Ok((run, note))
}

/// Returns the task time of a stage \[s\].
fn work_s(stage: &ObservedStage) -> f64 {
    stage.tasks.iter().map(|task| task.wall_s).sum()
}

/// Returns a stage of a run in the place of a stage of another run; empty if it has no counterpart.
fn taken(run: &ObservedRun, wanted: &ObservedStage, counterpart: Option<usize>) -> ObservedStage {
    match counterpart {
        Some(k) => ObservedStage { after: wanted.after.clone(), ..run.stages[k].clone() },
        None => ObservedStage { tasks: Vec::new(), took_s: 0.0, ..wanted.clone() },
    }
}

/// Returns complete runs, each with its stages in the order of the first run's stages.
fn alike_to_the_end(runs: &[ObservedRun]) -> Result<Alike, FitError> {
    let first = &runs[0];
    let mut all = vec![first.clone()];
    for run in &runs[1..] {
        let run = ordered(run, first).unwrap_or_else(|| run.clone());
        if let Err(error) = same_job(&run, first) {
            return as_the_last(runs).ok_or(error);
        }
        all.push(run);
    }
    Ok(Alike { runs: all, notes: Vec::new() })
}

/// Returns the runs with the stages of the last run; none if two runs share too few stages.
fn as_the_last(runs: &[ObservedRun]) -> Option<Alike> {
    let last = runs.last()?;
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    for run in runs {
        let found = counterparts(run, last);
        let of = |stages: &[ObservedStage]| stages.iter().map(work_s).sum::<f64>();
        let theirs: f64 = found.iter().flatten().map(|&k| work_s(&run.stages[k])).sum();
        let ours: f64 =
            last.stages.iter().zip(&found).filter(|(_, k)| k.is_some()).map(|(stage, _)| work_s(stage)).sum();
        if theirs < SHARED * of(&run.stages) || ours < SHARED * of(&last.stages) {
            return None;
        }
        let left = run.stages.len() - found.iter().flatten().count();
        if left > 0 {
            let share = 100.0 * (1.0 - theirs / of(&run.stages));
            let stages = if left == 1 { "stage" } else { "stages" };
            notes.push(format!(
                "{}: {left} {stages} with {share:.0}% of the task time without a counterpart in {}, left out",
                run.log, last.log
            ));
        }
        let stages = last.stages.iter().zip(&found).map(|(wanted, k)| taken(run, wanted, *k)).collect();
        all.push(ObservedRun { stages, ..run.clone() });
    }
    notes.extend(seen_where(&all));
    Some(Alike { runs: all, notes })
}

/// Returns for each stage of the last run its counterpart in a run: with the same operation, the same scanned tables (or else the same operators) if the
/// logs have them, and the same stages before, as far as these have counterparts. Of several, the stage with the same operators, then with the same line
/// of the program, then with the most similar share of the data.
fn counterparts(run: &ObservedRun, last: &ObservedRun) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = Vec::new();
    for (i, wanted) in last.stages.iter().enumerate() {
        let after: Vec<usize> = wanted.after.iter().filter_map(|&before| found[before]).collect();
        let tables = tables_of(&wanted.operators);
        let fits = |k: &usize| {
            let stage = &run.stages[*k];
            let before = |k: &usize| stage.after.contains(k);
            let own_tables = tables_of(&stage.operators);
            let does_the_same =
                if tables.is_empty() { stage.operators == wanted.operators } else { own_tables == tables };
            !found.contains(&Some(*k))
                && action(&stage.name) == action(&wanted.name)
                && does_the_same
                && after.iter().all(before)
        };
        let off = |k: usize| {
            let stage = &run.stages[k];
            let others = u8::from(stage.operators != wanted.operators);
            (others, u8::from(stage.name != wanted.name), (log_share(run, k) - log_share(last, i)).abs())
        };
        let nearer = |a: &usize, b: &usize| {
            let (a, b) = (off(*a), off(*b));
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
        };
        found.push((0..run.stages.len()).filter(fits).min_by(nearer));
    }
    found
}

/// Returns the logarithm of the data that a stage's tasks read, as a share of the run's input.
fn log_share(run: &ObservedRun, stage: usize) -> f64 {
    let read = |stage: &ObservedStage| stage.tasks.iter().map(|task| task.mb).sum::<f64>();
    // of a run that is not complete, the input may not be known
    let all = if run.input_mb > 0.0 { run.input_mb } else { run.stages.iter().map(read).sum() };
    if all > 0.0 { (read(&run.stages[stage]) / all).max(1e-9).ln() } else { 0.0 }
}

/// Returns the tables that operators scan, without digits: folders of inputs are often named by their size or date.
pub(super) fn tables_of(operators: &[String]) -> Vec<String> {
    let scans = operators.iter().filter(|operator| operator.starts_with("Scan "));
    scans.map(|scan| scan.replace(|c: char| c.is_ascii_digit(), "")).collect()
}

/// Returns a note on the stages that only some of the runs have.
fn seen_where(runs: &[ObservedRun]) -> Option<String> {
    let last = runs.last()?;
    let is_partial = |i: &usize| runs.iter().any(|run| run.stages[*i].tasks.is_empty());
    let partial: Vec<usize> = (0..last.stages.len()).filter(is_partial).collect();
    let first = partial.first()?;
    let inputs = runs.iter().filter(|run| !run.stages[*first].tasks.is_empty()).map(|run| run.input_mb);
    let (least, most) = inputs.fold((f64::INFINITY, 0.0_f64), |(a, b), mb| (a.min(mb), b.max(mb)));
    let list = partial.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let stages = if partial.len() == 1 { "stage" } else { "stages" };
    Some(if last.input_is_relative {
        format!("{stages} {list}: not in all logs")
    } else {
        format!("{stages} {list}: not in all logs; stage {first} was seen with {least:.4} to {most:.4} MB of input")
    })
}

/// Returns a run with its stages in the order of the first run's stages; none if the stages differ.
fn ordered(run: &ObservedRun, first: &ObservedRun) -> Option<ObservedRun> {
    if run.stages.len() != first.stages.len() {
        return None;
    }
    let mut order: Vec<usize> = Vec::new();
    for (i, wanted) in first.stages.iter().enumerate() {
        let mut after: Vec<usize> = wanted.after.iter().map(|&before| order[before]).collect();
        after.sort_unstable();
        let fits = |k: &usize| {
            let stage = &run.stages[*k];
            !order.contains(k) && action(&stage.name) == action(&wanted.name) && stage.after == after
        };
        let off = |k: usize| (log_share(run, k) - log_share(first, i)).abs();
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
            alike(&all).ok().filter(|all| all.notes.is_empty()).map(|all| (program, all.runs))
        });
        match with {
            Some((program, all)) => *program = all,
            None => programs.push(vec![run.clone()]),
        }
    }
    programs
}
