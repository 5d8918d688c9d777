//! Times of Hadoop itself in addition to the nine phases: waits for slots, task start-up, clean-up, and the unexplained remainder.
//!
//! Defines the sections `[framework]` and `[residual]` of a plan and their growth with waves. All values are 0 by default, which is the paper's model.
//! `fit` measures them: a tracker gets work with its heartbeats, a task starts a Java machine before it reads its first byte, a reduce polls for map
//! outputs, and a clean-up task commits the output.

use serde::{Deserialize, Serialize};

use crate::mapreduce::params::Plan;

/// Times of the framework. Default all 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Framework {
    /// Mean time from the job's first map until another free slot gets its first map \[s\], >= 0.
    pub map_wait_s: f64,
    /// Mean time until a freed map slot gets the next map \[s\], >= 0.
    pub map_refill_s: f64,
    /// Mean time from the earliest start of reduces until a free reduce slot gets its first reduce \[s\], >= 0. Later
    /// waves of maps hide this time.
    pub reduce_wait_s: f64,
    /// Mean time until a freed reduce slot gets the next reduce \[s\], >= 0.
    pub reduce_refill_s: f64,
    /// Time of a reduce in shuffle and sort beyond phases 7 and 8 \[s\], >= 0: start-up, and polling for map outputs.
    pub reduce_fetch_s: f64,
    /// Part of the reduce function's time that does not depend on its bytes \[s\], >= 0.
    pub reduce_fixed_s: f64,
    /// Time from the end of the last task to the end of the clean-up task \[s\], >= 0.
    pub cleanup_s: f64,
}

/// Job time not explained by the model, from other jobs of the same history. Default all 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Residual {
    /// Number of jobs that the residual was estimated from.
    pub jobs: u64,
    /// Time per wave of maps or reduces \[s\]; may be below 0.
    pub wave_s: f64,
    /// Time per job \[s\]; may be below 0.
    pub job_s: f64,
}

impl Framework {
    /// Returns true if all times are 0.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns keys and values.
    pub(crate) fn values(&self) -> [(&'static str, f64); 7] {
        [
            ("map_wait_s", self.map_wait_s),
            ("map_refill_s", self.map_refill_s),
            ("reduce_wait_s", self.reduce_wait_s),
            ("reduce_refill_s", self.reduce_refill_s),
            ("reduce_fetch_s", self.reduce_fetch_s),
            ("reduce_fixed_s", self.reduce_fixed_s),
            ("cleanup_s", self.cleanup_s),
        ]
    }
}

impl Residual {
    /// Returns true if there is no residual.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Plan {
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
