//! Matches the stages of several runs with each other.
//!
//! `fit` requires that runs have the same stages, in the same order of dependencies, and refuses other runs. A comparison
//! must also cope with plans that differ: adaptive queries, other numbers of partitions, operators on a GPU. So two
//! stages may match if their operation is the same (`collect` or `map`, wherever the program calls it). Among such pairs,
//! the matching keeps the order of both runs and prefers stages with similar shares of their run's data.

use crate::compare::run::{ComparedRun, ComparedStage};

/// Maximum number of pairs for which the best alignment is sought; with more, stages match by name and data only.
const MOST_PAIRS: usize = 16_000_000;
/// Score of any matched pair, in addition to the similarity of its data. Small, so that two poor pairs do not outweigh a good one.
const IN_ORDER: f32 = 0.2;
/// Additional score of a pair with the same call site: it only decides between stages that are otherwise alike.
const SAME_NAME: f32 = 0.1;

/// One stage in all runs: its position in each run; none if a run does not have it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) members: Vec<Option<usize>>,
}

/// A stage to match.
#[derive(Clone, Copy)]
struct Key<'a> {
    name: &'a str,
    data: Option<f64>,
    tasks: f64,
}

/// Returns the groups in the order of the first run; stages missing from that run come after the group that they follow.
pub(super) fn groups(runs: &[&ComparedRun]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut keys: Vec<Key<'_>> = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let own = keys_of(run);
        let mut next = 0;
        let matched = matches(&keys, &own);
        let mut place: Vec<(usize, Option<usize>)> = Vec::new();
        for (k, group) in matched.iter().enumerate() {
            if let Some(group) = *group {
                groups[group].members[r] = Some(k);
                next = group + 1;
            }
            place.push((next, *group));
        }
        // insert from the back, so that earlier positions stay valid
        for (k, (at, group)) in place.into_iter().enumerate().rev() {
            if group.is_none() {
                let mut members = vec![None; runs.len()];
                members[r] = Some(k);
                let at = at.min(groups.len());
                groups.insert(at, Group { members });
                keys.insert(at, own[k]);
            }
        }
    }
    groups
}

fn keys_of(run: &ComparedRun) -> Vec<Key<'_>> {
    let all_mb: f64 = run.stages.iter().map(|stage| stage.mb).sum();
    let all_tasks: f64 = run.stages.iter().map(|stage| stage.tasks as f64).sum();
    let key =
        |stage: &'_ ComparedStage| ((all_mb > 0.0).then(|| stage.mb / all_mb), stage.tasks as f64 / all_tasks.max(1.0));
    run.stages
        .iter()
        .map(|stage| (stage, key(stage)))
        .map(|(stage, (data, tasks))| Key { name: &stage.name, data, tasks })
        .collect()
}

/// Name of a stage's operation, without the call site and without the prefix of operators on a GPU.
fn action(name: &str) -> &str {
    let action = name.split_once(" at ").map_or(name, |(action, _)| action);
    action.strip_prefix("Gpu").unwrap_or(action)
}

/// True if RAPIDS, not the program, named a stage: such a stage may match any action (`attachTree at Spark300Shims.scala`).
fn by_plugin(name: &str) -> bool {
    ["Gpu", "Shims", "rapids"].iter().any(|part| name.contains(part))
}

/// The quality of a pair in (0, 1.3]; none if the operations differ.
fn score(a: &Key<'_>, b: &Key<'_>) -> Option<f32> {
    const LEAST: f64 = 1e-4;
    if action(a.name) != action(b.name) && !by_plugin(a.name) && !by_plugin(b.name) {
        return None;
    }
    let (of_a, of_b) = a.data.zip(b.data).unwrap_or((a.tasks, b.tasks));
    let off = (of_a.max(LEAST) / of_b.max(LEAST)).ln().abs();
    let same = if a.name == b.name { SAME_NAME } else { 0.0 };
    Some(IN_ORDER + same + (-off).exp() as f32)
}

/// For each stage of `b`: the position in `a` of the stage that it matches; none if it matches none.
fn matches(a: &[Key<'_>], b: &[Key<'_>]) -> Vec<Option<usize>> {
    let mut found = if a.len().saturating_mul(b.len()) <= MOST_PAIRS { aligned(a, b) } else { vec![None; b.len()] };
    // stages that do not wait for each other may run in any order: take the closest unmatched one
    let mut free: Vec<bool> = vec![true; a.len()];
    found.iter().flatten().for_each(|&i| free[i] = false);
    for (k, key) in b.iter().enumerate().filter(|(k, _)| found[*k].is_none()).collect::<Vec<_>>() {
        let left = (0..a.len()).filter(|&i| free[i]).filter_map(|i| Some((i, score(&a[i], key)?)));
        if let Some((i, _)) = left.min_by(|x, y| y.1.total_cmp(&x.1)) {
            free[i] = false;
            found[k] = Some(i);
        }
    }
    found
}

/// Returns the pairs that keep the order of both lists and have the largest total score.
fn aligned(a: &[Key<'_>], b: &[Key<'_>]) -> Vec<Option<usize>> {
    let width = b.len() + 1;
    let mut best = vec![0.0_f32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for k in (0..b.len()).rev() {
            let skip = best[(i + 1) * width + k].max(best[i * width + k + 1]);
            let pair = score(&a[i], &b[k]).map(|score| score + best[(i + 1) * width + k + 1]);
            best[i * width + k] = pair.map_or(skip, |pair| pair.max(skip));
        }
    }
    let mut found = vec![None; b.len()];
    let (mut i, mut k) = (0, 0);
    while i < a.len() && k < b.len() {
        let here = best[i * width + k];
        if here <= best[(i + 1) * width + k] {
            i += 1;
        } else if here <= best[i * width + k + 1] {
            k += 1;
        } else {
            found[k] = Some(i);
            (i, k) = (i + 1, k + 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn run(stages: &[(&str, f64)]) -> ComparedRun {
        let stage = |(i, (name, mb)): (usize, &(&str, f64))| ComparedStage {
            number: i as u32,
            name: (*name).to_owned(),
            tasks: 1,
            mb: *mb,
            ran_s: vec![[i as f64, i as f64 + 1.0]],
        };
        ComparedRun {
            log: String::new(),
            name: String::new(),
            began_unix_s: None,
            job_s: 10.0,
            stages: stages.iter().enumerate().map(stage).collect(),
            settings: BTreeMap::new(),
            gpu: false,
            notes: Vec::new(),
        }
    }

    fn pairs(a: &[(&str, f64)], b: &[(&str, f64)]) -> Vec<[Option<usize>; 2]> {
        let (a, b) = (run(a), run(b));
        groups(&[&a, &b]).iter().map(|group| [group.members[0], group.members[1]]).collect()
    }

    #[test]
    fn a_new_stage_stands_after_the_one_that_it_follows() {
        let found = pairs(
            &[("map at x:1", 9.0), ("collect at x:2", 1.0)],
            &[("map at x:4", 9.0), ("sort at x:5", 5.0), ("collect at x:7", 1.0)],
        );
        assert_eq!(found, [[Some(0), Some(0)], [None, Some(1)], [Some(1), Some(2)]]);
    }

    #[test]
    fn parallel_stages_in_another_order_are_told_by_their_data() {
        let found =
            pairs(&[("scan", 90.0), ("scan", 10.0), ("join", 50.0)], &[("scan", 11.0), ("scan", 88.0), ("join", 50.0)]);
        assert_eq!(found, [[Some(0), Some(1)], [Some(1), Some(0)], [Some(2), Some(2)]]);
    }

    #[test]
    fn operators_on_a_gpu_match_those_on_a_cpu() {
        assert_eq!(pairs(&[("Scan parquet", 1.0)], &[("GpuScan parquet", 1.0)]), [[Some(0), Some(0)]]);
        let cpu = [("count at a:1", 8.0), ("count at a:2", 2.0)];
        let gpu = [("attachTree at Spark300Shims.scala:1", 7.0), ("count at a:2", 2.0)];
        assert_eq!(pairs(&cpu, &gpu), [[Some(0), Some(0)], [Some(1), Some(1)]]);
        assert_eq!(pairs(&[("map", 1.0)], &[("collect", 1.0)]).len(), 2);
    }
}
