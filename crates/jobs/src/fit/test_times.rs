//! The times of a test job in terms of its plan: T_load, T_m, T_r, the waits for slots, and the distributions of all of them.

use crate::fit::law::observed_law;
use crate::fit::observed_job::{ObservedJob, ObservedMap, ObservedReduce};
use crate::fit::test_job::{FittedValue, Maker};
use crate::fit::waits::{STARTING_MB, Waits, mean};
use crate::mapreduce::task_times::map_means;
use crate::mapreduce::{PhaseLaw, spn_gc};

/// If a larger share of a job's time than this follows its last task, a note states that this time is not modelled.
const LONG_END: f64 = 0.05;

/// Share of the maps that must end before reduces are launched (`mapred.reduce.slowstart.completed.maps`), Hadoop's default.
const SLOW_START: f64 = 0.05;

impl Maker {
    /// Sets T_load, T_m and T_r.
    pub(super) fn times(&mut self, job: &ObservedJob) {
        self.plan.profile.load_s = job.load_s;
        let from = format!(
            "from the launch of the first task to the launch of the first map; excludes {:.1} s in the queue before",
            job.queued_s
        );
        self.tell("profile.load_s", job.load_s, from);
        self.plan.profile.map_gpu_s = 0.0;
        self.note(
            "logs do not record GPU times: the plan has no GPUs (`gpus = 0`), and map_cpu_s includes GPU work; for a job on GPUs, remove `gpus`, measure \
             map_gpu_s and subtract it from map_cpu_s",
        );
        (self.plan.profile.map_cpu_s, self.plan.profile.reduce_cpu_s) = (0.0, 0.0);
        self.fast_enough(job);
        self.map_times(job);
        self.reduce_times(job);
        self.waits(job);
        if job.after_s > LONG_END * job.job_s {
            self.note(format!(
                "the {:.1} s between the last task and the end of the job are not modelled",
                job.after_s
            ));
        }
    }

    /// Returns the time of phases 2 to 6, and of 7 to 9, without the map and the reduce function \[s\].
    fn beside_s(&self) -> (f64, f64) {
        let (plan, node) = (&self.plan, &self.plan.cluster.node[0]);
        let (share, split) = (spn_gc::local_share(plan), spn_gc::test_split_mb(plan));
        let map = map_means(&plan.slots(), node, share, split).iter().sum();
        if plan.reduces() == 0 {
            return (map, 0.0);
        }
        let reduce = spn_gc::shuffle_s(plan, node, share) + spn_gc::merge_s(plan, node) + spn_gc::reduce_s(plan, node);
        (map, reduce)
    }

    /// Raises the rates if the default rates would take longer than the tasks did.
    fn fast_enough(&mut self, job: &ObservedJob) {
        let (map, reduce) = self.beside_s();
        let walls: Vec<f64> = job.maps.iter().map(|map| map.wall_s).collect();
        let afters: Vec<f64> = job.reduces.iter().map(|reduce| reduce.after_maps_s).collect();
        let over = |beside: f64, seen: f64| if seen > 0.0 { beside / seen } else { 1.0 };
        let times = over(map, mean(&walls)).max(over(reduce, mean(&afters)));
        if times > 1.0 {
            let measured = |key: &str| self.values.iter().any(|value| value.key.ends_with(key));
            let [read, write, network] =
                ["disk_read_mb_per_s", "disk_write_mb_per_s", "network_mb_per_s"].map(measured);
            let node = &mut self.plan.cluster.node[0];
            for (rate, measured) in [
                (&mut node.disk_read_mb_per_s, read),
                (&mut node.disk_write_mb_per_s, write),
                (&mut node.network_mb_per_s, network),
                (&mut node.memory_read_mb_per_s, false),
                (&mut node.memory_write_mb_per_s, false),
                (&mut node.gpu_read_mb_per_s, false),
                (&mut node.gpu_write_mb_per_s, false),
            ] {
                *rate *= if measured { 1.0 } else { times };
            }
            self.note(format!(
                "rates that the log does not show: set to {times:.2} times the defaults, because tasks were faster than the defaults allow"
            ));
        }
    }

    /// Sets T_m and the part of a map that does not depend on its data.
    fn map_times(&mut self, job: &ObservedJob) {
        let (plan, node) = (&self.plan, &self.plan.cluster.node[0]);
        let spill = spn_gc::spill_s(plan, node, spn_gc::test_split_mb(plan));
        let beside = self.beside_s().0 - spill;
        let phased = job.maps.iter().all(|map| map.map_s.is_some());
        let own = |map: &ObservedMap| match map.map_s {
            Some(time) if phased => (time - beside).max(0.0),
            _ => (map.wall_s - beside - spill).max(0.0),
        };
        let times: Vec<f64> = job.maps.iter().map(own).collect();
        let Some((whole, interval)) = self.mean(&times) else { return };
        let fixed = fixed_s(whole, job.cluster.map_fixed_s, spn_gc::test_split_mb(plan));
        (self.plan.profile.map_cpu_s, self.plan.profile.map_fixed_s) = (whole, fixed);
        let what = if phased { "map phase" } else { "whole time" };
        let from = format!("{what} of {} maps, minus the parts that the model counts separately", times.len());
        self.values.push(FittedValue { key: "profile.map_cpu_s", value: whole, interval, from });
        let from = format!(
            "time of the shortest map with less than {STARTING_MB} MB in this log, plus a share of the remaining time if a task has less than {STARTING_MB} MB"
        );
        self.tell("profile.map_fixed_s", fixed, from);
    }

    /// Sets T_r, the part of the reduce phase that does not depend on its data, and the shuffle beyond the model.
    fn reduce_times(&mut self, job: &ObservedJob) {
        if job.reduces.is_empty() {
            return;
        }
        let (plan, node) = (&self.plan, &self.plan.cluster.node[0]);
        let beside = spn_gc::reduce_s(plan, node);
        let before = self.beside_s().1 - beside;
        let own = |reduce: &ObservedReduce| match reduce.reduce_s {
            Some(time) => (time - beside).max(0.0),
            None => (reduce.after_maps_s - before - beside).max(0.0),
        };
        let times: Vec<f64> = job.reduces.iter().map(own).collect();
        let n = times.len() as f64;
        let (whole, interval) = self.mean(&times).unwrap_or((0.0, None));
        let fixed = fixed_s(whole, job.cluster.reduce_fixed_s, spn_gc::shuffled_mb(plan));
        let value = (whole - fixed) * n;
        self.plan.profile.reduce_cpu_s = value;
        let interval = interval.map(|(low, high)| ((low - fixed).max(0.0) * n, (high - fixed) * n));
        let from = format!("total reduce phase of the tasks ({n}), minus the parts that the model counts separately");
        self.values.push(FittedValue { key: "profile.reduce_cpu_s", value, interval, from });
        let waits: Vec<f64> =
            job.reduces.iter().filter_map(|reduce| Some(reduce.after_maps_s - reduce.reduce_s?)).collect();
        let fetch = (mean(&waits) - before).max(0.0);
        (self.plan.framework.reduce_fixed_s, self.plan.framework.reduce_fetch_s) = (fixed, fetch);
        let from = format!(
            "shortest reduce phase with less than {STARTING_MB} MB in this log, plus a share of the remaining time if a task has less than {STARTING_MB} MB"
        );
        self.tell("framework.reduce_fixed_s", fixed, from);
        let from = "shuffle and sort after the last map, minus phases 7 and 8";
        self.tell("framework.reduce_fetch_s", fetch, from);
    }

    /// Sets the waits of slots for tasks, the clean-up, and the distributions of all these times.
    fn waits(&mut self, job: &ObservedJob) {
        let maps = job.maps.iter().map(|map| (map.launch_s, map.launch_s + map.wall_s));
        let maps = Waits::new(maps, self.plan.map_slots(), job.load_s);
        let spans: Vec<_> = job.reduces.iter().map(|task| (task.launch_s, task.launch_s + task.wall_s)).collect();
        let reduces = Waits::new(spans.iter().copied(), self.plan.reduce_slots(), job.last_map_s);
        // the first launch does not wait; a job of one map gives no information on further maps
        let first = self.plan.map_slots().min(job.maps.len() as u64) as f64;
        let framework = &mut self.plan.framework;
        let of_others = job.cluster.map_wait_s.unwrap_or(0.0);
        framework.map_wait_s = if first > 1.0 { maps.first_s * first / (first - 1.0) } else { of_others };
        framework.map_refill_s = maps.refill_s;
        (framework.reduce_refill_s, framework.cleanup_s) = (reduces.refill_s, job.cleanup_s);
        let (plan, node) = (&self.plan, &self.plan.cluster.node[0]);
        let slots = plan.slots();
        let means = map_means(&slots, node, spn_gc::local_share(plan), spn_gc::test_split_mb(plan));
        let hidden = slots.later_maps_s(means.iter().sum());
        // reduces launched before the last map ended had no visible wait
        let early = || Waits::new(spans.iter().copied(), u64::MAX, may_reduce_s(job)).first_s.min(hidden);
        self.plan.framework.reduce_wait_s = if reduces.first_s > 0.0 { reduces.first_s + hidden } else { early() };
        let later = "launch of each later task, relative to the end of the task that freed its slot";
        let framework = self.plan.framework.clone();
        self.tell(
            "framework.map_wait_s",
            framework.map_wait_s,
            "launches of the first wave, relative to the first launch",
        );
        self.tell("framework.map_refill_s", framework.map_refill_s, later);
        self.tell(
            "framework.reduce_wait_s",
            framework.reduce_wait_s,
            "launches, relative to the time when reduces may start",
        );
        self.tell("framework.reduce_refill_s", framework.reduce_refill_s, later);
        self.tell("framework.cleanup_s", framework.cleanup_s, "from the last map or reduce to the last task");
        self.laws(job, &maps, &reduces);
    }

    /// Sets the distributions of the phases: the observed times.
    fn laws(&mut self, job: &ObservedJob, maps: &Waits, reduces: &Waits) {
        let laws = &mut self.plan.model.distribution;
        for law in
            [&mut laws.load, &mut laws.to_gpu, &mut laws.gpu, &mut laws.to_host, &mut laws.spill, &mut laws.shuffle]
        {
            *law = PhaseLaw::Deterministic;
        }
        laws.read = observed_law(&maps.of_launch);
        let times: Vec<f64> = job.maps.iter().map(|map| map.map_s.unwrap_or(map.wall_s)).collect();
        laws.map = Some(observed_law(&times));
        let mut sorted: Vec<&ObservedReduce> = job.reduces.iter().collect();
        sorted.sort_by(|a, b| a.launch_s.total_cmp(&b.launch_s));
        let before = |(reduce, wait): (&&ObservedReduce, &f64)| {
            wait + reduce.after_maps_s - reduce.reduce_s.unwrap_or(reduce.after_maps_s)
        };
        let times: Vec<f64> = sorted.iter().zip(&reduces.of_launch).map(before).collect();
        laws.merge = observed_law(&times);
        let times: Vec<f64> = job.reduces.iter().map(|reduce| reduce.reduce_s.unwrap_or(reduce.after_maps_s)).collect();
        laws.reduce = observed_law(&times);
        self.note(
            "model.distribution: observed times of tasks and waits; phases that occur once have their measured length",
        );
    }
}

/// Returns the part of a task's mean time `whole_s` that does not grow with the task's data. Computes it from tasks
/// with little data, or from the time that the task's data do not explain. A task of less than 16 MB gets the rate of a
/// task of 16 MB: its time is mainly start-up.
fn fixed_s(whole_s: f64, starting_s: Option<f64>, mb: f64) -> f64 {
    let grows = (whole_s - starting_s.unwrap_or(0.0)).max(0.0);
    whole_s - grows * (mb / STARTING_MB).min(1.0)
}

/// Returns the earliest launch of reduces \[s\]: the time at which Hadoop's default share of the maps has ended.
fn may_reduce_s(job: &ObservedJob) -> f64 {
    let mut ends: Vec<f64> = job.maps.iter().map(|map| map.launch_s + map.wall_s).collect();
    ends.sort_by(f64::total_cmp);
    let share = (SLOW_START * ends.len() as f64).ceil() as usize;
    ends.get(share.saturating_sub(1)).copied().unwrap_or(job.last_map_s)
}
