//! The table of combinations that are refused. The docs print it and the commands obey it.
//!
//! A row names what a plan states or a command asks, what it cannot be combined with, and why. Everything that is not in the table combines.

use crate::mapreduce::Plan;
use crate::mapreduce::params::Locality;
use crate::plan::JobPlan;

/// Question of a command about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The times of the job: `estimate` and the studies that repeat it.
    Times,
    /// The times of the job's net: a net that is written, `--backend`, `--method exact`.
    Net,
    /// A comparison of policies: `whatif`.
    Policies,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// Keys or sections of the plan.
    pub what: &'static str,
    /// Keys, sections or commands that exclude them.
    pub with: &'static str,
    /// The reason.
    pub why: &'static str,
    asked: &'static [Asked],
    applies: fn(&JobPlan) -> bool,
}

const EVERYTHING: &[Asked] = &[Asked::Times, Asked::Net, Asked::Policies];
const NET: &[Asked] = &[Asked::Net];
const POLICIES: &[Asked] = &[Asked::Policies];

/// Keys by which the tasks on a worker slow each other down.
const SHARED: &str = "`host_cores`, `gpu_permits`, `disk = \"shared\"` or `network = \"shared\"`";

/// The combinations that are refused.
pub const REFUSALS: [Refusal; 10] = [
    Refusal {
        what: SHARED,
        with: "`model.slots = false`",
        why: "without slots, nothing says which tasks run on the same worker",
        asked: EVERYTHING,
        applies: |plan| of_phases(plan, |plan| plan.shares_workers() && !plan.model.slots),
    },
    Refusal {
        what: SHARED,
        with: "`[speculation]`",
        why: "a copy has a known time, but tasks that share a worker slow each other down",
        asked: EVERYTHING,
        applies: |plan| of_phases(plan, |plan| plan.shares_workers() && plan.speculation.is_some()),
    },
    Refusal {
        what: SHARED,
        with: "`model.locality = \"drawn\"`",
        why: "drawn locality belongs to the tasks of a net, and nets share nothing",
        asked: EVERYTHING,
        applies: |plan| of_phases(plan, |plan| plan.shares_workers() && plan.model.locality == Locality::Drawn),
    },
    Refusal {
        what: SHARED,
        with: "`whatif`",
        why: "a copy has a known time, but tasks that share a worker slow each other down",
        asked: POLICIES,
        applies: |plan| of_phases(plan, Plan::shares_workers),
    },
    Refusal {
        what: SHARED,
        with: "a net (`net spn-gc`, `--save-net`, `--method exact`, `estimate --backend`)",
        why: "the tasks of a net cannot slow each other down",
        asked: NET,
        applies: |plan| of_phases(plan, Plan::shares_workers),
    },
    Refusal {
        what: "`gpus` or `gpus_per_executor`",
        with: "`whatif`",
        why: "policies know the time of a copy, but not its wait for a GPU",
        asked: POLICIES,
        applies: waits_for_gpus,
    },
    Refusal {
        what: "`gpus` or `gpus_per_executor`",
        with: "`[speculation]`",
        why: "a copy has a known time, but not a known wait for a GPU",
        asked: EVERYTHING,
        applies: |plan| waits_for_gpus(plan) && has_copies(plan),
    },
    Refusal {
        what: "`gpus`",
        with: "`[stragglers]` in a net",
        why: "the net of a slow attempt has no GPU to hold",
        asked: NET,
        applies: |plan| of_phases(plan, |plan| plan.waits_for_gpus() && plan.stragglers.is_some()),
    },
    Refusal {
        what: "`gpus`, `host_cores`, `disk = \"shared\"` or `network = \"shared\"`",
        with: "`stragglers.distribution`, or `[stragglers]` with `model.slots = false` or `model.locality = \"drawn\"`",
        why: "only a net draws them, and its slow attempts hold no GPU and share nothing",
        asked: EVERYTHING,
        applies: |plan| {
            of_phases(plan, |plan| {
                let needs_tasks = plan.shares_workers() || plan.waits_for_gpus();
                plan.stragglers.is_some() && needs_tasks && !plan.can_run_by_task()
            })
        },
    },
    Refusal {
        what: "`gpus_per_executor`",
        with: "a net (`net spn-gc`, `--save-net`, `estimate --backend`)",
        why: "the net of stages has no executors whose tasks share a GPU",
        asked: NET,
        applies: |plan| matches!(plan, JobPlan::Stages(_)) && waits_for_gpus(plan),
    },
];

fn of_phases(plan: &JobPlan, applies: impl Fn(&Plan) -> bool) -> bool {
    matches!(plan, JobPlan::MapReduce(plan) if applies(plan))
}

fn waits_for_gpus(plan: &JobPlan) -> bool {
    match plan {
        JobPlan::MapReduce(plan) => plan.waits_for_gpus(),
        JobPlan::Stages(plan) => plan.job.gpu_permits().is_some() && plan.stage.iter().any(|stage| stage.gpu > 0.0),
        JobPlan::Tasks(_) => false,
    }
}

fn has_copies(plan: &JobPlan) -> bool {
    match plan {
        JobPlan::MapReduce(plan) => plan.speculation.is_some(),
        JobPlan::Stages(plan) => plan.speculation.is_some(),
        JobPlan::Tasks(_) => false,
    }
}

impl Refusal {
    /// Returns the row as a message.
    pub fn message(&self) -> String {
        format!("{} cannot be combined with {}: {}; remove one of the two", self.what, self.with, self.why)
    }
}

impl JobPlan {
    /// Returns the first row of the table that refuses a question.
    pub fn refusal(&self, asked: Asked) -> Option<&'static Refusal> {
        REFUSALS.iter().find(|row| row.asked.contains(&asked) && (row.applies)(self))
    }
}
