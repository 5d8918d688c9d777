//! Valid ranges of a plan's values, and the positions of invalid values in the text.
//!
//! Defines the ranges. It reports every problem, not only the first, each with the key's path.

use crate::cluster::check_policies;
use crate::mapreduce::assumed::{DISTRIBUTION, MEASURED};
use crate::mapreduce::params::{Cluster, GivenPhases, Hadoop, Job, Node, Plan, Profile};
use crate::mapreduce::phase::Phase;
use crate::plan::problem::short;
use crate::plan::{Checker, PlanProblem};

/// Maximum number of map tasks, and of reduce tasks, in a plan.
pub const MAX_TASKS: u64 = 1_000_000;

/// Maximum number of workers in a plan.
pub const MAX_WORKERS: u64 = 100_000;

/// Largest plausible split \[MB\]: an input that needs larger splits to keep the number of maps within limits is itself wrong.
const LARGEST_SPLIT_MB: f64 = 65_536.0;

/// Minimum number of cores of a worker: with less, tasks hardly advance.
const LEAST_CORES: f64 = 0.01;

/// Checks of numbers.
trait Ranges {
    fn positive(&mut self, key: &str, value: f64);
    fn not_negative(&mut self, key: &str, value: f64);
    fn share(&mut self, key: &str, value: f64);
    fn some(&mut self, key: &str, count: u64, what: &'static str, most: u64);
}

impl Ranges for Checker {
    fn positive(&mut self, key: &str, value: f64) {
        self.range(key, value, value.is_finite() && value > 0.0, "a finite number above 0");
    }

    fn not_negative(&mut self, key: &str, value: f64) {
        self.range(key, value, value.is_finite() && value >= 0.0, "a finite number of at least 0");
    }

    fn share(&mut self, key: &str, value: f64) {
        self.range(key, value, value > 0.0 && value <= 1.0, "a share above 0 and at most 1");
    }

    fn some(&mut self, key: &str, count: u64, what: &'static str, most: u64) {
        self.count(key, count, what, 1, most);
    }
}

impl Plan {
    /// Returns all problems with the values, in the order of the sections; empty for a valid plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        check_job(&self.job, self.phases.as_ref(), &mut to);
        check_profile(&self.profile, &mut to);
        check_hadoop(&self.hadoop, &mut to);
        check_cluster(self, &self.cluster, &mut to);
        check_gpus(self, &mut to);
        if let Some(share) = self.model.slowstart {
            to.section = "model".into();
            to.range("slowstart", share, (0.0..=1.0).contains(&share), "a share from 0 to 1");
        }
        to.section = "framework".into();
        for (key, value) in self.framework.values() {
            to.not_negative(key, value);
        }
        to.section = "residual".into();
        for (key, value) in [("wave_s", self.residual.wave_s), ("job_s", self.residual.job_s)] {
            to.range(key, value, value.is_finite(), "a finite number");
        }
        if let Some(run) = &self.run {
            to.run_spread(run);
        }
        for (i, job) in self.proof.iter().enumerate() {
            to.section = format!("proof[{i}]");
            to.positive("job_s", job.job_s);
            to.positive("input_mb", job.input_mb);
            to.positive("split_mb", job.split_mb);
            to.count("reduces", job.reduces, "reduce tasks", 0, MAX_TASKS);
            if job.input_mb / job.split_mb > MAX_TASKS as f64 {
                to.add("split_mb", format!("more than {MAX_TASKS} map tasks at this size"));
            }
            let slots = [("workers", job.workers), ("map_slots", job.map_slots), ("reduce_slots", job.reduce_slots)];
            for (key, count) in slots {
                to.some(key, count.unwrap_or(1), "of them", MAX_WORKERS);
            }
        }
        to.section = "model.distribution".into();
        for phase in Phase::ALL {
            if let Some(problem) = self.model.distribution.get(phase).problem() {
                to.add(phase.name(), problem);
            }
        }
        if let Some(phases) = &self.phases {
            check_phases(phases, &mut to);
        }
        check_stragglers(self, &mut to);
        check_policies(&self.policy, &[], &mut to);
        to.problems
    }
}

fn check_job(job: &Job, phases: Option<&GivenPhases>, to: &mut Checker) {
    to.section = "job".into();
    to.positive("input_mb", job.input_mb);
    to.positive("split_mb", job.split_mb);
    let maps = (job.input_mb / job.split_mb).ceil();
    let counted = phases.is_none_or(|phases| phases.maps.is_none());
    if counted && job.split_mb > 0.0 && job.input_mb.is_finite() && maps > MAX_TASKS as f64 {
        let vast = job.input_mb > LARGEST_SPLIT_MB * MAX_TASKS as f64;
        let key = if vast { "input_mb" } else { "split_mb" };
        let larger = if vast { "" } else { " (`--split-size 128MB` makes larger ones)" };
        to.add(key, format!("{} map tasks; at most {MAX_TASKS} are allowed{larger}", short(maps)));
    }
    to.positive("gpu_block_mb", job.gpu_block_mb);
    if job.split_mb > 0.0 && job.gpu_block_mb > job.split_mb {
        let [block, split] = [job.gpu_block_mb, job.split_mb].map(short);
        to.add("gpu_block_mb", format!("a GPU block of {block} MB does not fit into a split of {split} MB"));
    }
    to.count("reduces", job.reduces, "reduce tasks", 0, MAX_TASKS);
    if let Some(deadline) = job.deadline_s {
        to.positive("deadline_s", deadline);
    }
}

fn check_profile(profile: &Profile, to: &mut Checker) {
    to.section = "profile".into();
    to.positive("input_mb", profile.input_mb);
    to.some("maps", profile.maps, "map tasks", MAX_TASKS);
    to.not_negative("map_data_mb", profile.map_data_mb);
    to.not_negative("map_output_mb", profile.map_output_mb);
    to.not_negative("reduce_output_mb", profile.reduce_output_mb);
    to.not_negative("load_s", profile.load_s);
    to.not_negative("upload_s", profile.upload_s);
    to.not_negative("map_cpu_s", profile.map_cpu_s);
    let fixed = profile.map_fixed_s;
    to.range("map_fixed_s", fixed, (0.0..=profile.map_cpu_s).contains(&fixed), "between 0 and `map_cpu_s`");
    to.not_negative("map_gpu_s", profile.map_gpu_s);
    to.not_negative("reduce_cpu_s", profile.reduce_cpu_s);
    to.positive("cpu_speed", profile.cpu_speed);
    to.positive("gpu_speed", profile.gpu_speed);
    for (i, key) in profile.measured.iter().enumerate() {
        if !MEASURED.contains(&key.as_str()) && key != DISTRIBUTION {
            to.add(
                &format!("measured[{i}]"),
                format!("{key:?} must be one of {}, {DISTRIBUTION}", MEASURED.join(", ")),
            );
        }
    }
}

fn check_hadoop(hadoop: &Hadoop, to: &mut Checker) {
    to.section = "hadoop".into();
    to.positive("sort_mb", hadoop.sort_mb);
    to.share("sort_spill_percent", hadoop.sort_spill_percent);
    let record = hadoop.sort_record_percent;
    to.range("sort_record_percent", record, record > 0.0 && record < 1.0, "a share above 0 and below 1");
    to.range("sort_factor", hadoop.sort_factor as f64, hadoop.sort_factor >= 2, "at least 2");
    to.positive("reduce_heap_mb", hadoop.reduce_heap_mb);
    to.range("parallel_copies", hadoop.parallel_copies as f64, hadoop.parallel_copies >= 1, "at least 1");
    to.share("shuffle_buffer_percent", hadoop.shuffle_buffer_percent);
    to.share("shuffle_merge_percent", hadoop.shuffle_merge_percent);
}

fn check_cluster(plan: &Plan, cluster: &Cluster, to: &mut Checker) {
    to.section = "cluster".into();
    to.range("replicas", cluster.replicas as f64, cluster.replicas >= 1, "at least 1");
    let found = to.problems.len();
    to.some("node", plan.workers(), "workers", MAX_WORKERS);
    if to.problems.len() == found {
        to.some("node", plan.map_slots(), "map slots", u64::from(u32::MAX));
        let least = u64::from(plan.reduces() > 0);
        to.count("node", plan.reduce_slots(), "reduce slots", least, u64::from(u32::MAX));
    }
    let waiting = cluster.node.iter().filter(|node| node.gpus.is_some()).count();
    if plan.phases.is_some() && waiting > 0 && waiting < cluster.node.len() {
        to.add("node", "with given means, either all kinds of workers or none must have `gpus`");
    }
    let is_sized = plan.phases.as_ref().is_some_and(|phases| phases.by_size.is_some());
    if is_sized && cluster.node.len() > 1 {
        to.add("node", "`[phases.by_size]` needs workers of one kind");
    }
    let without = cluster.node.iter().filter(|node| node.gpus == Some(0)).count();
    if without > 0 && without < cluster.node.len() {
        to.add("node", "either all kinds of workers or none must have `gpus = 0`: a map needs a GPU or it does not");
    }
    for (i, node) in cluster.node.iter().enumerate() {
        to.section = format!("cluster.node[{i}]");
        check_node(node, to);
    }
}

fn check_node(node: &Node, to: &mut Checker) {
    to.range("count", node.count as f64, node.count >= 1, "at least 1");
    to.positive("disk_read_mb_per_s", node.disk_read_mb_per_s);
    to.positive("disk_write_mb_per_s", node.disk_write_mb_per_s);
    to.positive("memory_read_mb_per_s", node.memory_read_mb_per_s);
    to.positive("memory_write_mb_per_s", node.memory_write_mb_per_s);
    to.positive("gpu_read_mb_per_s", node.gpu_read_mb_per_s);
    to.positive("gpu_write_mb_per_s", node.gpu_write_mb_per_s);
    to.positive("network_mb_per_s", node.network_mb_per_s);
    to.positive("cpu_speed", node.cpu_speed);
    to.positive("gpu_speed", node.gpu_speed);
    if let Some(gpus) = node.gpus {
        to.count("gpus", gpus, "GPUs", 0, u64::from(u32::MAX));
    }
    if let Some(permits) = node.gpu_permits {
        to.count("gpu_permits", permits, "permits", 0, u64::from(u32::MAX));
    }
    if let Some(cores) = node.host_cores {
        let fine = cores.is_finite() && cores >= LEAST_CORES;
        to.range("host_cores", cores, fine, "a finite number of at least 0.01");
    }
}

fn check_gpus(plan: &Plan, to: &mut Checker) {
    to.section = "model".into();
    if plan.has_no_gpus() && plan.model.reduce_on_gpu {
        to.add("reduce_on_gpu", "no worker has a GPU (`gpus = 0`)");
    }
}

fn check_phases(phases: &GivenPhases, to: &mut Checker) {
    to.section = "phases".into();
    for (i, mean) in phases.means_s.iter().enumerate() {
        to.not_negative(&format!("means_s[{i}]"), *mean);
    }
    match &phases.by_size {
        Some(by_size) => by_size.problems().into_iter().for_each(|(key, problem)| to.add(&key, problem)),
        None if phases.means_s.iter().all(|mean| *mean == 0.0) => {
            to.add("means_s", "missing; give the means of phases 1 to 9, or `[phases.by_size]`");
        }
        None => {}
    }
    let [_, _, third, ..] = phases.means_s;
    to.range("copy_s", phases.copy_s, (0.0..=third).contains(&phases.copy_s), "between 0 and the third of `means_s`");
    if let Some(maps) = phases.maps {
        to.some("maps", maps, "map tasks", MAX_TASKS);
    }
    if let Some(reduces) = phases.reduces {
        to.count("reduces", reduces, "reduce tasks", 0, MAX_TASKS);
    }
}

fn check_stragglers(plan: &Plan, to: &mut Checker) {
    let stragglers = plan.stragglers_or_none();
    to.section = "stragglers".into();
    if let Some((key, problem)) = stragglers.problem() {
        return to.add(key, problem);
    }
    to.section = "speculation".into();
    if let Some((key, problem)) = plan.speculation.as_ref().and_then(|speculation| speculation.problem(&stragglers)) {
        to.add(key, problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(change: impl FnOnce(&mut Plan)) -> Vec<String> {
        let mut plan = Plan::default();
        change(&mut plan);
        plan.problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn default_plan_has_no_problem() {
        assert_eq!(Plan::default().problems(), []);
    }

    #[test]
    fn messages_name_key_value_and_range() {
        assert_eq!(faults(|p| p.job.input_mb = f64::NAN), ["`job.input_mb`: NaN is not a finite number above 0"]);
        assert_eq!(
            faults(|p| p.job.gpu_block_mb = 65.0),
            ["`job.gpu_block_mb`: a GPU block of 65 MB does not fit into a split of 64 MB"]
        );
        assert_eq!(faults(|p| p.cluster.node.clear()), ["`cluster.node`: 0 workers; there must be 1 to 100000"]);
        assert_eq!(
            faults(|p| p.cluster.node[0].map_slots = 0),
            ["`cluster.node`: 0 map slots; there must be 1 to 4294967295"]
        );
    }

    #[test]
    fn numbers_in_messages_are_short() {
        let far = faults(|p| p.hadoop.sort_spill_percent = 1e300);
        assert_eq!(far, ["`hadoop.sort_spill_percent`: 1e300 is not a share above 0 and at most 1"]);
    }

    #[test]
    fn too_many_maps_are_refused_unless_the_count_is_given() {
        assert_eq!(
            faults(|p| p.job.input_mb = 64.0 * 1_000_001.0),
            ["`job.split_mb`: 1000001 map tasks; at most 1000000 are allowed (`--split-size 128MB` makes larger ones)"]
        );
        assert_eq!(
            faults(|p| p.job.input_mb = 1e300),
            ["`job.input_mb`: 1.5625e298 map tasks; at most 1000000 are allowed"]
        );
        assert_eq!(
            faults(|p| (p.job.input_mb, p.job.split_mb, p.job.gpu_block_mb) = (1e300, 1e-300, 1e-300)),
            ["`job.input_mb`: inf map tasks; at most 1000000 are allowed"]
        );
        let given = GivenPhases { means_s: [1.0; 9], maps: Some(2), reduces: Some(1), ..GivenPhases::default() };
        let changed = |p: &mut Plan| (p.job.input_mb, p.phases) = (64.0 * 1_000_001.0, Some(given));
        assert_eq!(faults(changed), Vec::<String>::new());
    }

    #[test]
    fn all_problems_come_at_once_in_section_order() {
        let found = faults(|p| {
            p.phases = Some(GivenPhases { means_s: [-1.0; 9], maps: Some(0), ..GivenPhases::default() });
            p.hadoop.sort_record_percent = 1.0;
            p.profile.cpu_speed = 0.0;
        });
        assert_eq!(found.len(), 1 + 1 + 9 + 2);
        assert!(found[0].starts_with("`profile.cpu_speed`") && found[1].starts_with("`hadoop.sort_record_percent`"));
        assert!(found[2].starts_with("`phases.means_s[0]`"));
    }
}
