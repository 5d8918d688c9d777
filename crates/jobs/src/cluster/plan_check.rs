//! Validation of a plan: conditions on its values, and the positions of invalid values in the text.
//!
//! Defines the ranges. It reports every problem, not only the first, each with the key's path.

use crate::cluster::detect::{Base, ByScore, DetectorPlan, Late};
use crate::cluster::plan::{JobPlan, NodeGroup, Plan, PolicyPlan, SlotShare};
use crate::cluster::world::kept_slots;
use crate::plan::{Checker, Document, PlanError, PlanProblem};

/// Maximum number of nodes, and maximum number of slots of one node.
pub const MAX_NODES: u64 = 100_000;

/// Maximum number of tasks of all jobs together.
pub const MAX_TASKS: u64 = 1_000_000;

/// Maximum time and maximum factor in a plan: beyond it, clocks lose precision.
const LARGEST: f64 = 1e9;

/// Widest spread of sizes and noise: a factor of e^5 for one standard deviation.
const WIDEST_SIGMA: f64 = 5.0;

impl Plan {
    /// Reads a plan from TOML; missing keys keep their defaults.
    ///
    /// # Errors
    ///
    /// [`PlanError`].
    ///
    /// ```
    /// let plan = tailspn_jobs::cluster::Plan::from_toml("[[job]]\nmaps = 10\nreduces = 0").unwrap();
    /// assert_eq!((plan.job[0].maps, plan.policy.len()), (10, 4));
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        Self::read(Document::parse(text)?)
    }

    /// Reads a plan from a document.
    pub(crate) fn read(document: Document<'_>) -> Result<Self, PlanError> {
        document.read(Self::problems)
    }

    /// The default plan as commented TOML text.
    pub fn example_toml() -> &'static str {
        include_str!("../../models/phan-c2.toml")
    }

    /// Returns all problems with the values, in the order of the sections; empty for a valid plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        if let Some(deadline) = self.deadline_s {
            to.positive("deadline_s", deadline);
        }
        check_cluster(self, &mut to);
        check_events(self, &mut to);
        let tasks = self.job.iter().map(|job| u64::from(job.maps) + u64::from(job.reduces)).sum();
        to.section = String::new();
        to.count("job", self.job.len() as u64, "jobs", 1, MAX_NODES);
        to.count("job", tasks, "tasks", 1, MAX_TASKS);
        for (i, job) in self.job.iter().enumerate() {
            to.section = format!("job[{i}]");
            check_job(job, &mut to);
        }
        let sound = !to.problems.iter().any(|problem| problem.key.starts_with("cluster."));
        let groups = self.cluster.node.iter().filter(|_| sound);
        let slots: Vec<u32> = groups.flat_map(|group| std::iter::repeat_n(group.slots, group.count as usize)).collect();
        to.section = String::new();
        to.count("policy", self.policy.len() as u64, "policies", 1, MAX_NODES);
        check_policies(&self.policy, &slots, &mut to);
        to.problems
    }
}

/// Checks policies on nodes with these slots; without nodes, the checks that need them are skipped.
pub(crate) fn check_policies(policies: &[PolicyPlan], slots: &[u32], to: &mut Checker) {
    for (i, policy) in policies.iter().enumerate() {
        to.section = format!("policy[{i}]");
        check_policy(policy, slots, to);
        to.section = format!("policy[{i}]");
        if policies[..i].iter().any(|other| other.title() == policy.title()) {
            to.add("name", format!("another policy is also called `{}`", policy.title()));
        }
    }
}

/// Checks of numbers.
trait Ranges {
    fn positive(&mut self, key: &str, value: f64);
    fn not_negative(&mut self, key: &str, value: f64);
    fn factor(&mut self, key: &str, value: f64);
    fn share(&mut self, key: &str, value: f64);
    fn sigma(&mut self, key: &str, value: f64);
}

impl Ranges for Checker {
    fn positive(&mut self, key: &str, value: f64) {
        self.range(key, value, (1e-6..=LARGEST).contains(&value), "a number from 1e-6 to 1e9");
    }

    fn not_negative(&mut self, key: &str, value: f64) {
        self.range(key, value, (0.0..=LARGEST).contains(&value), "a number from 0 to 1e9");
    }

    fn factor(&mut self, key: &str, value: f64) {
        self.range(key, value, (1.0..=LARGEST).contains(&value), "a number from 1 to 1e9");
    }

    fn share(&mut self, key: &str, value: f64) {
        self.range(key, value, (0.0..=1.0).contains(&value), "a share between 0 and 1");
    }

    fn sigma(&mut self, key: &str, value: f64) {
        self.range(key, value, (0.0..=WIDEST_SIGMA).contains(&value), "a number from 0 to 5");
    }
}

fn check_cluster(plan: &Plan, to: &mut Checker) {
    to.section = "cluster".into();
    // a report for every 1e-3 s is as good as always
    let heartbeat = plan.cluster.heartbeat_s;
    to.range(
        "heartbeat_s",
        heartbeat,
        heartbeat == 0.0 || (1e-3..=LARGEST).contains(&heartbeat),
        "0, or from 1e-3 to 1e9",
    );
    let nodes = plan.cluster.node.iter().map(|group| u64::from(group.count)).sum();
    to.count("node", nodes, "nodes", 1, MAX_NODES);
    for (i, group) in plan.cluster.node.iter().enumerate() {
        to.section = format!("cluster.node[{i}]");
        check_nodes(group, to);
    }
}

fn check_nodes(group: &NodeGroup, to: &mut Checker) {
    to.count("count", group.count.into(), "nodes", 1, MAX_NODES);
    to.positive("cores", group.cores);
    if let Some(active) = group.active_cores {
        to.positive("active_cores", active);
        if active > group.cores {
            to.add("active_cores", format!("{active} active cores, but only {} cores", group.cores));
        }
    }
    to.count("slots", group.slots.into(), "slots", 1, 10_000);
    to.positive("cpu_speed", group.cpu_speed);
}

fn check_events(plan: &Plan, to: &mut Checker) {
    to.section = String::new();
    to.sigma("noise.sigma", plan.noise.sigma);
    if let Some(stragglers) = &plan.stragglers {
        if let Some((key, problem)) = stragglers.problem() {
            to.add(&format!("stragglers.{key}"), problem);
        }
        if stragglers.distribution.is_some() {
            to.add("stragglers.distribution", "the cluster simulator does not use it; remove it");
        }
    }
    if let Some(between) = plan.slowdown.mean_between_s {
        to.positive("slowdown.mean_between_s", between);
    }
    to.positive("slowdown.mean_duration_s", plan.slowdown.mean_duration_s);
    to.factor("slowdown.factor", plan.slowdown.factor);
    if let Some(between) = plan.failure.mean_between_s {
        to.positive("failure.mean_between_s", between);
    }
    to.positive("failure.repair_s", plan.failure.repair_s);
    to.not_negative("failure.expiry_s", plan.failure.expiry_s);
    to.not_negative("power.static_w", plan.power.static_w);
    to.not_negative("power.dynamic_w", plan.power.dynamic_w);
    to.not_negative("power.idle_w", plan.power.idle_w);
    to.share("truth.quantile", plan.truth.quantile);
    to.factor("truth.factor", plan.truth.factor);
    to.count("truth.runs", plan.truth.runs.into(), "runs", 1, 10_000);
}

fn check_job(job: &JobPlan, to: &mut Checker) {
    to.not_negative("arrival_s", job.arrival_s);
    to.count("maps", job.maps.into(), "maps", 1, MAX_TASKS);
    to.positive("map_s", job.map_s);
    to.not_negative("map_start_s", job.map_start_s);
    to.sigma("map_skew", job.map_skew);
    to.count("replicas", job.replicas.into(), "replicas", 1, MAX_NODES);
    to.factor("remote_factor", job.remote_factor);
    to.not_negative("shuffle_s", job.shuffle_s);
    to.positive("reduce_s", job.reduce_s);
    to.not_negative("reduce_start_s", job.reduce_start_s);
    to.sigma("reduce_skew", job.reduce_skew);
    to.share("slowstart", job.slowstart);
    if let Some(hot) = &job.hot_keys {
        to.share("hot_keys.share", hot.share);
        to.count("hot_keys.ranks", hot.ranks.into(), "ranks", 1, 1000);
        to.positive("hot_keys.weight", hot.weight);
        to.not_negative("hot_keys.exponent", hot.exponent);
    }
}

fn check_policy(policy: &PolicyPlan, slots: &[u32], to: &mut Checker) {
    to.not_negative("lag_s", policy.lag_s);
    let fine = (0.0..1.0).contains(&policy.slow_nodes);
    to.range("slow_nodes", policy.slow_nodes, fine, "a share of at least 0 and below 1");
    if let SlotShare::Tasks(share) = policy.slots {
        to.share("slots", share);
        let all_kept = || kept_slots(slots.iter().copied(), share).zip(slots).all(|(kept, slots)| kept >= *slots);
        if (0.0..=1.0).contains(&share) && !slots.is_empty() && all_kept() {
            to.add("slots", format!("a share of {share} leaves no slot for tasks"));
        }
    }
    to.section += ".detector";
    check_detector(&policy.detector, to);
}

fn check_detector(detector: &DetectorPlan, to: &mut Checker) {
    match detector {
        DetectorPlan::None | DetectorPlan::Clone => {}
        DetectorPlan::Default(settings) => check_default(settings, to),
        DetectorPlan::Late(settings) => check_late(settings, to),
        DetectorPlan::Hierarchical(settings) => {
            to.not_negative("share", settings.share);
            match &settings.on {
                Base::Default(on) => check_default(on, to),
                Base::Late(on) => check_late(on, to),
            }
        }
        DetectorPlan::Hadoop2(settings) => {
            to.share("min_finished", settings.min_finished);
            to.share("share_of_tasks", settings.share_of_tasks);
            to.share("share_of_running", settings.share_of_running);
            check_interval(settings.interval_s, to);
            to.not_negative("pause_s", settings.pause_s);
        }
        DetectorPlan::Spark(settings) => {
            to.positive("multiplier", settings.multiplier);
            to.share("quantile", settings.quantile);
            check_interval(settings.interval_s, to);
            to.not_negative("min_runtime_s", settings.min_runtime_s);
            to.not_negative("efficiency.rate_multiplier", settings.efficiency.rate_multiplier);
            to.not_negative("efficiency.long_factor", settings.efficiency.long_factor);
        }
        DetectorPlan::Mantri(settings) => {
            to.share("probability", settings.probability);
            to.share("min_score", settings.min_score);
            to.not_negative("restart_gain_s", settings.restart_gain_s);
            check_interval(settings.interval_s, to);
        }
    }
}

/// Checks the interval: more frequent checks than allowed would take all of the run time.
fn check_interval(interval_s: f64, to: &mut Checker) {
    to.range("interval_s", interval_s, (1e-2..=LARGEST).contains(&interval_s), "a number from 0.01 to 1e9");
}

fn check_default(settings: &ByScore, to: &mut Checker) {
    to.share("gap", settings.gap);
    to.not_negative("min_age_s", settings.min_age_s);
    check_interval(settings.interval_s, to);
}

fn check_late(settings: &Late, to: &mut Checker) {
    to.positive("threshold", settings.threshold);
    to.not_negative("min_age_s", settings.min_age_s);
    to.share("cap", settings.cap);
    check_interval(settings.interval_s, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_text_is_the_default_plan() {
        assert_eq!(Plan::from_toml(Plan::example_toml()), Ok(Plan::default()));
        assert_eq!(Plan::from_toml(""), Ok(Plan::default()));
    }

    #[test]
    fn written_plan_reads_back_the_same() {
        let policy = |entry: &crate::cluster::detect::CatalogueEntry| PolicyPlan {
            detector: (entry.settings)(),
            ..PolicyPlan::default()
        };
        let policies = crate::cluster::detect::CATALOGUE.iter().map(policy).collect();
        let mut plan = Plan { policy: policies, ..Plan::default() };
        plan.policy[3].slots = SlotShare::Tasks(0.75);
        plan.policy[4].slots = SlotShare::Shared;
        plan.slowdown.mean_between_s = Some(300.0);
        assert_eq!(Plan::from_toml(&toml::to_string(&plan).unwrap()), Ok(plan));
    }

    #[test]
    fn every_bad_value_is_reported_with_its_place() {
        let text = "[noise]\nsigma = -1.0\n[[cluster.node]]\nslots = 0\nactive_cores = 5.0\n[[job]]\nmap_s = nan\n\
                    [[policy]]\nlag_s = inf\ndetector = { kind = \"late\", threshold = 0.0 }\n[[policy]]\nslots = 2\n\
                    [[policy]]\ndetector.kind = \"late\"";
        let problems = Plan::from_toml(text).unwrap_err().problems;
        let found: Vec<_> = problems.into_iter().map(|p| (p.key, p.span.map(|span| &text[span]))).collect();
        let expected = [
            ("cluster.node[0].active_cores", Some("5.0")),
            ("cluster.node[0].slots", Some("0")),
            ("noise.sigma", Some("-1.0")),
            ("job[0].map_s", Some("nan")),
            ("policy[0].lag_s", Some("inf")),
            ("policy[0].detector.threshold", Some("0.0")),
            ("policy[1].slots", Some("2")),
        ];
        assert_eq!(found[..7], expected.map(|(key, at)| (key.to_owned(), at)));
        assert_eq!(found[7].0, "policy[2].name");
    }

    #[test]
    fn no_slot_for_tasks_is_refused() {
        let problems = |text| Plan::from_toml(text).unwrap_err().to_string();
        assert_eq!(
            problems("[[policy]]\nslots = 0.0"),
            "`policy[0].slots`: a share of 0 leaves no slot for tasks (line 2)"
        );
    }

    #[test]
    fn unknown_keys_and_kinds_are_told() {
        for (text, told) in [
            ("[job]\n", "`job`: [job] is not a list (line 1)"),
            ("[[job]]\nmap = 3", "unknown key `map` in [[job]] (line 2); did you mean `maps`?"),
            (
                "[[policy]]\ndetector.kind = \"x\"",
                "`policy[0].detector.kind`: \"x\" is not one of \"none\", \"clone\", \"default\", \"late\", \
                 \"hierarchical\", \"hadoop2\", \"spark\", \"mantri\" (line 2)",
            ),
            (
                "[[policy]]\nslots = \"all\"",
                "`policy[0].slots`: \"all\" is not \"shared\" or a share of the slots such as 0.9 (line 2)",
            ),
            (
                "[[policy]]\ndetector = { kind = \"late\", gap = 0.1 }",
                "unknown key `gap` in [policy.detector] (line 2); did you mean `cap`?",
            ),
        ] {
            assert_eq!(Plan::from_toml(text).unwrap_err().to_string(), told);
        }
    }
}
