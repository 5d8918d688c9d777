//! Numbers that follow from a plan: tasks, workers, slots and waves, and the waits of the framework, which grow with the waves.

use crate::mapreduce::logged::LoggedJob;
use crate::mapreduce::params::{Node, Plan};
use crate::mapreduce::spn_gc;

impl Plan {
    /// Returns the plan at the size of a job, without anything that the user added to the plan.
    #[must_use]
    pub fn at_job(&self, job: &LoggedJob) -> Self {
        let mut plan = self.clone();
        (plan.job.input_mb, plan.job.split_mb, plan.job.reduces) = (job.input_mb, job.split_mb, job.reduces);
        // a GPU call reads a split at most
        plan.job.gpu_block_mb = plan.job.gpu_block_mb.min(job.split_mb);
        if let [node] = &mut plan.cluster.node[..] {
            node.count = job.workers.unwrap_or(node.count);
            node.map_slots = job.map_slots.unwrap_or(node.map_slots);
            node.reduce_slots = job.reduce_slots.unwrap_or(node.reduce_slots);
            node.gpu_permits = job.gpu_permits.or(node.gpu_permits);
        }
        plan.job.deadline_s = None;
        plan.proof.clear();
        (plan.stragglers, plan.speculation) = (None, None);
        plan
    }

    /// Returns M, the number of map tasks \[PESARO15, Eq. 5\], or `phases.maps` if given. Exact for a plan without problems.
    pub fn maps(&self) -> u64 {
        let given = self.phases.as_ref().and_then(|phases| phases.maps);
        given.unwrap_or_else(|| spn_gc::map_tasks(&self.job))
    }

    /// Returns R, the number of reduce tasks: `job.reduces`, or `phases.reduces` if given. Exact.
    pub fn reduces(&self) -> u64 {
        self.phases.as_ref().and_then(|phases| phases.reduces).unwrap_or(self.job.reduces)
    }

    /// Returns the number of tasks. Exact.
    pub fn tasks(&self) -> u64 {
        self.maps().saturating_add(self.reduces())
    }

    /// Returns the kinds of workers that have slots: indices into `cluster.node`.
    pub(super) fn kinds_with(&self, slots: fn(&Node) -> u64) -> Vec<usize> {
        let kinds = self.cluster.node.iter().enumerate().filter(|(_, node)| slots(node) > 0);
        kinds.map(|(kind, _)| kind).collect()
    }

    /// Returns true if a task may wait for a slot: slots are modelled, and there are fewer slots than tasks,
    /// or copies use some. Exact.
    pub fn waits(&self) -> bool {
        let few = self.map_slots() < self.maps() || self.reduce_slots() < self.reduces();
        self.model.slots && (few || self.speculation.is_some())
    }

    /// Returns true if every task could run on every worker and take the same time there. Exact.
    pub fn has_equal_workers(&self) -> bool {
        let rates = |node: &Node| Node {
            name: String::new(),
            count: 1,
            map_slots: 1,
            reduce_slots: 1,
            gpus: node.gpus.map(|_| 1),
            ..node.clone()
        };
        let nodes = &self.cluster.node;
        self.phases.is_some() || nodes.windows(2).all(|pair| rates(&pair[0]) == rates(&pair[1]))
    }

    /// Returns true if a waiting task may take a slot of several kinds of workers that differ. With stragglers or copies, tasks are assigned in advance.
    pub fn chooses_kinds(&self) -> bool {
        let has_attempts = self.stragglers.is_some() || self.speculation.is_some();
        self.model.slots && !has_attempts && !self.has_equal_workers()
    }

    /// Returns the number of workers over all kinds. Exact.
    pub fn workers(&self) -> u64 {
        self.cluster.node.iter().map(|node| node.count).fold(0, u64::saturating_add)
    }

    /// Returns the number of map slots over all workers. Exact.
    pub fn map_slots(&self) -> u64 {
        self.cluster.node.iter().fold(0, |sum, n| sum.saturating_add(n.count.saturating_mul(n.map_slots)))
    }

    /// Returns the number of reduce slots over all workers. Exact.
    pub fn reduce_slots(&self) -> u64 {
        self.cluster.node.iter().fold(0, |sum, n| sum.saturating_add(n.count.saturating_mul(n.reduce_slots)))
    }

    /// Returns the number of waves of maps and of reduces: tasks divided by slots, rounded up; one each if no task waits for a slot.
    pub fn waves(&self) -> [u64; 2] {
        let waves = |tasks: u64, slots: u64| if self.model.slots { tasks.div_ceil(slots.max(1)) } else { 1 };
        [waves(self.maps(), self.map_slots()), waves(self.reduces(), self.reduce_slots())]
    }

    /// Returns the time that the constants of `[residual]` add to the job \[s\].
    pub fn residual_s(&self) -> f64 {
        let [maps, reduces] = self.waves();
        self.residual.job_s + self.residual.wave_s * (maps + reduces) as f64
    }

    /// Returns the time after the last task \[s\], >= 0: the clean-up, and the time added by `[residual]`.
    pub(super) fn end_s(&self) -> f64 {
        (self.framework.cleanup_s + self.residual_s()).max(0.0)
    }

    /// Sums the slots of all workers.
    pub(crate) fn slots(&self) -> Slots<'_> {
        let waits = |slots: u64| if self.model.slots { slots } else { u64::MAX };
        Slots { plan: self, maps: waits(self.map_slots()), reduces: waits(self.reduce_slots()) }
    }
}

/// The slots of a plan, summed once for all its tasks: `u64::MAX` if no task waits for a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots<'p> {
    pub(crate) plan: &'p Plan,
    maps: u64,
    reduces: u64,
}

impl Slots<'_> {
    /// Returns the mean time that a map waits for its slot to be filled \[s\].
    pub(crate) fn map_wait_s(&self) -> f64 {
        let (maps, framework) = (self.plan.maps(), &self.plan.framework);
        // the load phase ends with the launch of the first map
        let wait = mean_wait(maps, self.maps, framework.map_wait_s, framework.map_refill_s);
        wait - framework.map_wait_s / maps as f64
    }

    /// Returns the mean time that a reduce waits for its slot to be filled after the last map \[s\], for a mean map time of `map_s`.
    pub(crate) fn reduce_wait_s(&self, map_s: f64) -> f64 {
        let framework = &self.plan.framework;
        let first = (framework.reduce_wait_s - self.later_maps_s(map_s)).max(0.0);
        mean_wait(self.plan.reduces(), self.reduces, first, framework.reduce_refill_s)
    }

    /// Returns the time of the waves of maps after the first \[s\], in which reduces are already launched.
    pub(crate) fn later_maps_s(&self, map_s: f64) -> f64 {
        (self.plan.maps() as f64 / self.maps as f64 - 1.0).max(0.0) * map_s
    }
}

/// Returns the mean wait of `tasks` tasks; the first `slots` of them wait `first_s`, the other tasks `refill_s`.
fn mean_wait(tasks: u64, slots: u64, first_s: f64, refill_s: f64) -> f64 {
    let first = tasks.min(slots);
    (first as f64 * first_s + (tasks - first) as f64 * refill_s) / tasks as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::framework::{Framework, Residual};
    use crate::mapreduce::{job_net, phase_times};

    /// Waits of 10 maps on 4 slots, 3 reduces on 2: (3·3 + 6·1)/10 s and (2·1.5 + 0.5)/3 s.
    #[test]
    fn waits_follow_the_waves() {
        let text = "[job]\ninput_mb = 640\nreduces = 3\n[cluster]\nreplicas = 1\n[[cluster.node]]\nmap_slots = 4\n[model]\nslots = true\n\
                    [framework]\nmap_wait_s = 3\nmap_refill_s = 1\nreduce_wait_s = 11.5\nreduce_refill_s = 0.5\n\
                    reduce_fetch_s = 4\nreduce_fixed_s = 5\ncleanup_s = 7\n[residual]\njobs = 3\nwave_s = 0.5\njob_s = -1";
        let plan = Plan::from_toml(text).unwrap();
        let with = phase_times(&plan, &mut || 0.5).unwrap();
        let without = Plan { framework: Framework::default(), residual: Residual::default(), ..plan.clone() };
        let without = phase_times(&without, &mut || 0.5).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(with.maps_s[0][0] - without.maps_s[0][0], 1.5);
        let map_s: f64 = with.maps_s[0].iter().sum();
        let wait = (11.5 - 1.5 * map_s).max(0.0);
        near(with.reduces_s[0][0] - without.reduces_s[0][0], 4.0 + (2.0 * wait + 0.5) / 3.0);
        near(with.reduces_s[0][1] - without.reduces_s[0][1], 5.0);
        // 3 waves of maps and 2 of reduces
        assert_eq!(plan.waves(), [3, 2]);
        near(with.end_s, 7.0 + 2.5 - 1.0);
        assert_eq!(Plan::from_toml(&toml::to_string(&plan).unwrap()).unwrap(), plan);
        let (net, paper) = (job_net(&plan, &with).unwrap(), job_net(&plan, &without).unwrap());
        assert_eq!(net.net.transitions().len(), paper.net.transitions().len() + 1);
        let done: Vec<_> = net.done.iter().map(|place| net.net.place(*place).id.as_str()).collect();
        assert_eq!(done, ["finished"]);
    }
}
