//! Recommendations for findings: one piece of advice for each cause, with the supporting findings.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::diagnose::causes::copies::CopyTime;
use crate::diagnose::causes::even_split::EvenSplit;
use crate::diagnose::causes::findings::RootCauses;
use crate::diagnose::causes::recorded::{Recorded, RecordedTask};
use crate::diagnose::finding::{Cause, Finding, FindingMethod, Subject};

/// Minimum wait before the first task that is reported \[s\].
const LEAST_START_S: f64 = 1.0;

/// Kind of remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Spread the data more evenly.
    Repartition,
    /// Wait longer for a slot near the data, or store more replicas of the data.
    LocalityWait,
    /// More memory for a task, or smaller tasks.
    Memory,
    /// Smaller tasks and results, less data in closures.
    Serialization,
    /// Another workload uses the node: move it, or let copies of tasks run elsewhere.
    Neighbour,
    /// Inspect the node, and repair or replace it.
    BadNode,
    /// Executors that start earlier or stay longer.
    WarmUp,
    /// More tasks, or fewer slots.
    Partitions,
    /// Less work in the driver, or executors that start earlier.
    Driver,
    /// More GPU permits, more GPUs, or smaller batches.
    Gpu,
    /// Collect more measurements.
    Observe,
}

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// Recommended remedy.
    pub remedy: Remedy,
    /// Recommendation, as a sentence.
    pub text: String,
    /// The cause that the advice addresses.
    pub cause: Cause,
    /// Number of supporting stragglers; 0 for advice about a node.
    pub stragglers: usize,
    /// Stages of these findings, in order.
    pub stages: Vec<String>,
    /// Nodes of these findings, in order.
    pub nodes: Vec<String>,
    /// Total time beyond the usual time \[s\]. If the cause is a part of a task's time, at most the excess of that
    /// part over the peers' part counts. A task with several causes counts for each of them.
    pub lost_s: f64,
    /// Time by which the job would have been shorter without the cause \[s\]: the difference of two schedules of the same
    /// tasks. None for a log of several applications.
    pub job_s: Option<f64>,
    /// True if `job_s` is an upper bound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Other remedies that people try, with what they would have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<OtherRemedy>,
    /// Positions of the supporting findings.
    pub findings: Vec<usize>,
}

/// A remedy other than the recommended one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherRemedy {
    /// The remedy, as a phrase.
    pub text: String,
    /// Least time by which the job would have been shorter with it \[s\]; negative if the job would have been longer.
    pub job_s: f64,
    /// Most time by which the job would have been shorter \[s\].
    pub at_best_s: f64,
    /// Slot time that all tasks together would have taken more, at most \[s\]; negative if less. None if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_s: Option<f64>,
}

/// The cost of executors that had just started: the wait for the first task, and slow first waves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarmUp {
    /// Time from the submission of the job to its first task \[s\].
    pub start_s: f64,
    /// Stragglers of first waves without another cause.
    pub stragglers: usize,
    /// Stages of these stragglers, in order.
    pub stages: Vec<String>,
    /// Total time of these stragglers beyond the usual time \[s\].
    pub lost_s: f64,
    /// Time by which the job would have been shorter without these stragglers \[s\], if known.
    pub job_s: Option<f64>,
}

impl RootCauses {
    /// Returns a piece of advice for each cause that any method found, ordered by the time lost by the job, then by the
    /// time lost by its tasks. Stragglers without a cause take part in this order. A task with several findings of the
    /// same cause counts once, and a task with a cause from any method is not listed as a task without a cause.
    pub fn advice(&self) -> Vec<Advice> {
        let mut by_cause: BTreeMap<Cause, Vec<usize>> = BTreeMap::new();
        for (i, finding) in self.counted() {
            by_cause.entry(finding.cause).or_default().push(i);
        }
        let mut list: Vec<Advice> = by_cause.into_iter().map(|(cause, which)| self.of_cause(cause, which)).collect();
        let job = |advice: &Advice| advice.job_s.unwrap_or(0.0);
        list.sort_by(|a, b| job(b).total_cmp(&job(a)).then(b.lost_s.total_cmp(&a.lost_s)));
        list
    }

    /// Returns the cost of warming up; none if no task had to wait and every first-wave straggler has another cause.
    pub fn warm_up(&self) -> Option<WarmUp> {
        let of_wave = self.counted().filter(|(_, finding)| finding.cause == Cause::WarmUp);
        let which: Vec<usize> = of_wave.map(|(i, _)| i).collect();
        let Advice { stragglers, stages, lost_s, job_s, .. } = self.of_cause(Cause::WarmUp, which);
        let start_s = self.start_s;
        (stragglers > 0 || start_s > LEAST_START_S).then_some(WarmUp { start_s, stragglers, stages, lost_s, job_s })
    }

    /// Returns the findings, except findings of unknown cause for a task that another finding explains.
    fn counted(&self) -> impl Iterator<Item = (usize, &Finding)> {
        let known = self.findings.iter().filter(|finding| finding.cause != Cause::Unknown);
        let explained: BTreeSet<&Subject> = known.map(|finding| &finding.subject).collect();
        self.findings
            .iter()
            .enumerate()
            .filter(move |(_, finding)| finding.cause != Cause::Unknown || !explained.contains(&finding.subject))
    }

    fn of_cause(&self, cause: Cause, which: Vec<usize>) -> Advice {
        let mut stages = BTreeSet::new();
        let mut nodes = BTreeSet::new();
        let mut lost: BTreeMap<(&str, u64, u32), f64> = BTreeMap::new();
        let mut of_job = 0.0;
        for finding in which.iter().map(|&i| &self.findings[i]) {
            match &finding.subject {
                Subject::Task { stage, task, attempt, node } => {
                    let lost = lost.entry((stage.as_str(), *task, *attempt)).or_default();
                    *lost = lost.max(lost_by(finding));
                    stages.insert(stage.clone());
                    nodes.extend(node.clone());
                }
                Subject::Stage { stage } => _ = stages.insert(stage.clone()),
                Subject::Node { node } => _ = nodes.insert(node.clone()),
                Subject::Link { from, to } => nodes.extend([from.clone(), to.clone()]),
                Subject::Job => {}
            }
            if finding.method == FindingMethod::CriticalPath {
                of_job += lost_by(finding);
            }
        }
        let (stragglers, lost_s) = (lost.len(), lost.values().fold(0.0, |sum, lost| sum + lost));
        let (remedy, text) = if stragglers == 0 { of_nodes(cause, &nodes) } else { remedy(cause, &nodes) };
        let (mut instead, mut job_s) = (Vec::new(), None);
        if !self.job.is_empty() {
            let saved_s = self.saved(cause, &lost, [&stages, &nodes], of_job);
            job_s = Some(saved_s);
            instead.extend((cause == Cause::SlowNode).then(|| without(&self.job, &nodes)).flatten());
            instead.extend(copies(&self.job, cause, &lost, &nodes).map(|other| OtherRemedy {
                // a copy of a task with a part that cost time has at best no such part
                at_best_s: other.at_best_s.min(saved_s).max(other.job_s),
                ..other
            }));
        }
        let [stages, nodes] = [stages, nodes].map(|set| set.into_iter().collect());
        Advice {
            remedy,
            text: text.to_owned(),
            cause,
            stragglers,
            stages,
            nodes,
            lost_s,
            job_s,
            at_most: is_upper_bound(cause),
            instead,
            findings: which,
        }
    }

    /// Returns the time by which the job would have been shorter without a cause, given the times that tasks lost, the
    /// stages and nodes, and the time that findings about the job state \[s\].
    fn saved(
        &self,
        cause: Cause,
        lost: &BTreeMap<(&str, u64, u32), f64>,
        [stages, nodes]: [&BTreeSet<String>; 2],
        of_job: f64,
    ) -> f64 {
        match cause {
            Cause::SlowNode => of_job + self.job.repaired(&self.job.numbers(nodes)),
            // stages of one cause are split together
            Cause::FewTasks | Cause::LongLastStage => {
                EvenSplit::of(&self.job).map_or(0.0, |split| split.gain(&self.job.positions(stages)))
            }
            _ => of_job + shorter(&self.job, lost),
        }
    }
}

/// Returns true if the cost of a cause is an upper bound.
fn is_upper_bound(cause: Cause) -> bool {
    let bounds = [Cause::FewTasks, Cause::LongLastStage, Cause::CpuShortage, Cause::GpuWait, Cause::GpuMemory];
    bounds.contains(&cause)
}

/// Returns the time that a task lost, over all of its attempts \[s\]; 0 if none is listed.
fn lost_time(job: &Recorded, lost: &BTreeMap<(&str, u64, u32), f64>, task: &RecordedTask) -> f64 {
    let stage = job.stages[task.stage].as_str();
    let of_task = lost.range((stage, task.task, 0)..=(stage, task.task, u32::MAX));
    of_task.map(|(_, lost)| *lost).fold(0.0, f64::max)
}

/// Returns the time by which the job would have been shorter if these tasks had lost no time \[s\].
fn shorter(job: &Recorded, lost: &BTreeMap<(&str, u64, u32), f64>) -> f64 {
    job.gain(|task| lost_time(job, lost, task))
}

/// Returns the remedy of running no task on slow nodes; none if no other node is left.
fn without(job: &Recorded, nodes: &BTreeSet<String>) -> Option<OtherRemedy> {
    let [job_s, at_best_s] = job.without(&job.numbers(nodes))?;
    let which = if nodes.len() == 1 { "this node" } else { "these nodes" };
    Some(OtherRemedy { text: format!("keep tasks off {which}, without a replacement"), job_s, at_best_s, slot_s: None })
}

/// Returns the remedy of speculative copies with the default settings, for the slow tasks of a cause; none if no task is
/// slow because of it, or if the job could have no other copies.
fn copies(
    job: &Recorded,
    cause: Cause,
    lost: &BTreeMap<(&str, u64, u32), f64>,
    nodes: &BTreeSet<String>,
) -> Option<OtherRemedy> {
    let times: &[CopyTime] = match cause {
        Cause::DataSkew | Cause::ShuffleSkew => &[CopyTime::Data],
        Cause::Spill => &[CopyTime::Original],
        Cause::Cpu | Cause::Disk | Cause::Network | Cause::SlowNode => &[CopyTime::OtherNodes],
        _ => &[CopyTime::Original, CopyTime::OtherNodes],
    };
    let slow = if cause == Cause::SlowNode { job.numbers(nodes) } else { BTreeSet::new() };
    if slow.is_empty() && lost.is_empty() {
        return None;
    }
    let is_slow = |task: &RecordedTask| task.is_on(&slow) || lost_time(job, lost, task) > 0.0;
    let all = times.iter().map(|time| job.copied(is_slow, &slow, *time)).collect::<Option<Vec<_>>>()?;
    let least = all.iter().map(|effect| effect.job_s).fold(f64::INFINITY, f64::min);
    let most = all.iter().map(|effect| effect.job_s).fold(f64::NEG_INFINITY, f64::max);
    let slot_s = all.iter().map(|effect| effect.slot_s).fold(f64::NEG_INFINITY, f64::max);
    let count = match all.iter().map(|effect| effect.copies).max()? {
        0 => "no copy of these tasks".to_owned(),
        1 => "1 copy of these tasks".to_owned(),
        more => format!("{more} copies of these tasks"),
    };
    let text = format!("turn on spark.speculation, which starts {count}");
    Some(OtherRemedy { text, job_s: least, at_best_s: most, slot_s: Some(slot_s) })
}

/// Returns the time that the task of a finding took beyond its usual time \[s\].
fn lost_by(finding: &Finding) -> f64 {
    if finding.method == FindingMethod::CriticalPath {
        return finding
            .evidence
            .iter()
            .find(|evidence| evidence.unit == "s")
            .map_or(0.0, |time| time.value - time.usual);
    }
    let Some(time) = finding.evidence.iter().find(|evidence| evidence.what == "time") else { return 0.0 };
    let longer = time.value - time.usual;
    match (finding.cause, finding.evidence.first()) {
        // a share of the task's own time: the cause cannot have cost more than that
        (Cause::GarbageCollection | Cause::Serialization, Some(share)) if share.unit == "%" => {
            longer.min(time.value * (share.value - share.usual) / 100.0)
        }
        _ => longer,
    }
}

/// Returns the advice for nodes that are slow as a whole, not only in single tasks.
fn of_nodes(cause: Cause, nodes: &BTreeSet<String>) -> (Remedy, &'static str) {
    match cause {
        Cause::Disk => (
            Remedy::BadNode,
            "check the disk of this node (iostat -xt 1, smartctl, other processes that write to it), and repair it",
        ),
        Cause::Network => (
            Remedy::BadNode,
            "check the network of this node (lost packets in ip -s link, retransmissions in nstat, cables and switch ports), and repair it",
        ),
        Cause::Unknown => (
            Remedy::Observe,
            "the node's system calls take longer than in runs without a fault, possibly because of the load of this run; pass the logs of all nodes of this run to check",
        ),
        _ => remedy(cause, nodes),
    }
}

/// Returns the advice for causes of stages and of the job, for executors that had just started, and for unknown causes.
fn of_job(cause: Cause) -> (Remedy, &'static str) {
    match cause {
        Cause::FewTasks => (
            Remedy::Partitions,
            "slots were idle: split these stages into more tasks, at least two per slot (spark.sql.shuffle.partitions, repartition, smaller splits), or run the job on fewer slots, which costs less",
        ),
        Cause::LongLastStage => (
            Remedy::Partitions,
            "the job waits for a few tasks of its last stage: write more files, coalesce after the work instead of before it, and avoid collect and global sorts",
        ),
        Cause::WarmUp => (
            Remedy::WarmUp,
            "executors had just started, so their first tasks were slow: start executors before the job, keep them for several jobs, or warm them up with a small job",
        ),
        Cause::Unknown => (
            Remedy::Observe,
            "no measured cause explains these stragglers: check what their tasks compute, and record samples on nodes that have none (mpstat -P ALL 1, iostat -xt 1, sar -n DEV 1)",
        ),
        Cause::CpuShortage => (
            Remedy::Neighbour,
            "tasks waited for a CPU during the whole run: give the nodes more CPUs, move other work off them, or run fewer tasks at a time; stolen time is lost to other virtual machines on the same host",
        ),
        Cause::GpuWait => (
            Remedy::Gpu,
            "let more tasks share a GPU (spark.rapids.sql.concurrentGpuTasks) if its memory allows, give executors more GPUs, or fewer cores, so that \
             fewer tasks wait",
        ),
        Cause::GpuMemory => (
            Remedy::Gpu,
            "let fewer tasks share a GPU (spark.rapids.sql.concurrentGpuTasks), make batches smaller (spark.rapids.sql.batchSizeBytes), or split the work into more partitions",
        ),
        _ => (
            Remedy::Driver,
            "no task ran during this time: start executors before the job (spark.dynamicAllocation.minExecutors), let the driver list fewer files and collect less, and submit independent jobs together; in a shell, this is the time between commands",
        ),
    }
}

fn remedy(cause: Cause, nodes: &BTreeSet<String>) -> (Remedy, &'static str) {
    let one = nodes.len() == 1;
    match cause {
        Cause::DataSkew => (
            Remedy::Repartition,
            "repartition the input: a few tasks have more data than the rest; use smaller splits or more partitions",
        ),
        Cause::ShuffleSkew => (
            Remedy::Repartition,
            "spread the hot keys: salt them or combine before the shuffle, use more partitions, or let Spark split them \
             (spark.sql.adaptive.skewJoin.enabled)",
        ),
        Cause::Spill => (
            Remedy::Memory,
            "give tasks more memory (spark.executor.memory, fewer cores per executor), or make them smaller with more partitions",
        ),
        Cause::GarbageCollection => (
            Remedy::Memory,
            "enlarge the heap (spark.executor.memory), cache less or in serialized form, or make tasks smaller",
        ),
        Cause::Serialization => (
            Remedy::Serialization,
            "send less data with tasks and results: broadcast large values, use Kryo; slow first tasks indicate cold executors: warm them up or keep them",
        ),
        Cause::Locality => (
            Remedy::LocalityWait,
            "let tasks wait longer for a slot near their data (spark.locality.wait), or store more replicas of the data",
        ),
        Cause::Cpu if one => (Remedy::Neighbour, "find the other work on this node and move it"),
        Cause::Cpu => (
            Remedy::Neighbour,
            "find the other work on these nodes, or give tasks more CPUs (spark.task.cpus, fewer cores per executor)",
        ),
        Cause::Disk => (
            Remedy::Neighbour,
            "find the other writers to the disk, and move them or the scratch folders (spark.local.dir) to another disk",
        ),
        Cause::Network => (
            Remedy::Neighbour,
            "find the other users of the node's network, or transfer less data (locality, compression, combining before the shuffle)",
        ),
        Cause::SlowNode => (
            Remedy::BadNode,
            "repair or replace this node: check the limits and the clock rate of its CPUs, its disk, and memory errors",
        ),
        Cause::Unknown
        | Cause::WarmUp
        | Cause::FewTasks
        | Cause::LongLastStage
        | Cause::Driver
        | Cause::CpuShortage
        | Cause::GpuWait
        | Cause::GpuMemory => of_job(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::finding::{Evidence, FindingMethod};

    fn finding(cause: Cause, stage: &str, node: &str, seconds: f64) -> Finding {
        let time = Evidence { what: "time".to_owned(), value: seconds, usual: 2.0, unit: "s".into() };
        let node = Some(node.to_owned());
        Finding {
            method: FindingMethod::BigRoots,
            subject: Subject::Task { stage: stage.to_owned(), task: 1, attempt: 0, node },
            from: None,
            to: None,
            at_least: false,
            first_wave: false,
            cause,
            score: 1.0,
            threshold: 1.0,
            confidence: 0.5,
            evidence: vec![time],
        }
    }

    fn advice(findings: Vec<Finding>) -> Vec<Advice> {
        RootCauses { findings, ..RootCauses::default() }.advice()
    }

    #[test]
    fn what_cost_most_comes_first_even_if_it_is_unknown() {
        let findings = [
            finding(Cause::Unknown, "4", "a", 102.0),
            finding(Cause::Disk, "1", "a", 5.0),
            finding(Cause::Cpu, "2", "a", 9.0),
            finding(Cause::Disk, "3", "b", 7.0),
        ];
        let list = advice(findings.to_vec());
        let seen: Vec<_> = list.iter().map(|a| (a.cause, a.stragglers, a.lost_s, a.findings.clone())).collect();
        let expected =
            [(Cause::Unknown, 1, 100.0, vec![0]), (Cause::Disk, 2, 8.0, vec![1, 3]), (Cause::Cpu, 1, 7.0, vec![2])];
        assert_eq!(seen, expected);
        assert_eq!((list[1].stages.join(" "), list[1].nodes.join(" ")), ("1 3".to_owned(), "a b".to_owned()));
        assert!(advice(Vec::new()).is_empty());
    }

    #[test]
    fn a_part_of_a_task_costs_no_more_than_that_part() {
        let share = Evidence { what: "collection".to_owned(), value: 30.0, usual: 10.0, unit: "%".into() };
        for (cause, lost) in [(Cause::GarbageCollection, 2.0), (Cause::Cpu, 8.0)] {
            let mut one = finding(cause, "1", "a", 10.0);
            one.evidence.insert(0, share.clone());
            assert_eq!(advice(vec![one])[0].lost_s, lost);
        }
    }

    #[test]
    fn what_two_methods_say_of_a_task_counts_once() {
        let of = |method, finding: Finding| Finding { method, ..finding };
        let findings = [
            of(FindingMethod::BigRoots, finding(Cause::DataSkew, "1", "a", 5.0)),
            of(FindingMethod::LongTail, finding(Cause::DataSkew, "1", "a", 6.0)),
            of(FindingMethod::LongTail, finding(Cause::Unknown, "1", "a", 6.0)),
        ];
        let list = advice(findings.to_vec());
        assert_eq!(list.len(), 1);
        assert_eq!((list[0].stragglers, list[0].lost_s, &list[0].findings), (1, 4.0, &vec![0, 1]));
    }

    #[test]
    fn a_node_at_fault_has_advice_of_its_own() {
        let node = Subject::Node { node: "a".to_owned() };
        let at_fault = Finding { subject: node, ..finding(Cause::Disk, "1", "a", 5.0) };
        let list = advice(vec![at_fault]);
        assert_eq!((list[0].remedy, list[0].stragglers, list[0].lost_s), (Remedy::BadNode, 0, 0.0));
        assert!(list[0].text.contains("disk of this node"));
        let task = advice(vec![finding(Cause::Disk, "1", "a", 5.0)]);
        assert_eq!(task[0].remedy, Remedy::Neighbour);
    }
}
