//! The experiment of \[Garraghan2015\] in the cluster simulator: jobs of which some reduces are skewed, on nodes that
//! other users slow at times.
//!
//! This module contains the setting and its replay. docs/replications/long-tail.md lists the values that the paper does
//! not give, and that are chosen here.

use tailspn::cluster::detect::Category;
use tailspn::cluster::{
    ClusterPlan, ExperimentError, HotKeys, JobPlan, NodeGroup, Noise, Plan, Slowdown, record_progress,
};
use tailspn::diagnose::long_tail::AgentSettings;
use tailspn::diagnose::long_tail::History;
use tailspn::diagnose::long_tail::Model;
use tailspn::diagnose::long_tail::{Score, replay, score};

/// Jobs of the experiment.
const JOBS: u32 = 40;

/// Reduces of the experiment.
const REDUCES: u32 = 410;

/// First seed of the histories to learn from; runs that are scored have smaller seeds, so that no run is used for both.
const HISTORY_SEED: u64 = 1 << 32;

/// Returns the setting of the paper: 50 nodes with four cores, 40 jobs of 500 to 1000 maps each, and 410 reduces in
/// all, 5% of them with a hot key. \[Garraghan2015, VI.A\]
///
/// The paper does not give the following values, which are chosen here:
///
/// * Reduces take 60 s, including 15 s for fetching.
/// * The work of reduces varies by a lognormal factor (standard deviation of the logarithm 0.08, as in the homogeneous
///   runs of \[Phan2018\]), and their input by 0.05.
/// * Hot keys follow Zipf's law. They add 5, 2.5, 1.67, 1.25 or 1 times the input of a reduce without a hot key.
/// * Other users slow each node to two thirds of its speed for 20 s every ten minutes.
pub fn paper_plan() -> Plan {
    let job = |number: u32| JobPlan {
        name: format!("query {number}"),
        arrival_s: 60.0 * f64::from(number),
        // 500 to 1000 maps in steps, in an order that mixes them
        maps: 500 + 500 * (number * 17 % JOBS) / (JOBS - 1),
        map_s: 10.0,
        reduces: REDUCES / JOBS + u32::from(number < REDUCES % JOBS),
        reduce_start_s: 1.0,
        shuffle_s: 15.0,
        reduce_s: 45.0,
        reduce_skew: 0.05,
        hot_keys: Some(HotKeys { weight: 5.0, ..HotKeys::default() }),
        ..JobPlan::default()
    };
    Plan {
        cluster: ClusterPlan {
            heartbeat_s: 0.0,
            node: vec![NodeGroup { count: 50, slots: 4, ..NodeGroup::default() }],
            ..ClusterPlan::default()
        },
        noise: Noise::default(),
        slowdown: Slowdown { mean_between_s: Some(600.0), mean_duration_s: 20.0, factor: 1.5 },
        job: (0..JOBS).map(job).collect(),
        policy: Vec::new(),
        ..Plan::default()
    }
}

/// Returns the reduces of one run of a plan, sampled each second.
///
/// # Errors
///
/// [`ExperimentError`] if the run does not end.
pub fn recorded_run(plan: &Plan, seed: u64) -> Result<History, ExperimentError> {
    Ok(History::from_recording(&record_progress(plan, seed, 1.0, Category::Reduce)?, "reduce", 0))
}

/// Returns earlier runs of a plan, to learn from; they share no random number with a [`recorded_run`] whose seed is
/// below 2^32.
///
/// # Errors
///
/// [`ExperimentError`] if a run does not end.
pub fn earlier_runs(plan: &Plan, runs: u32) -> Result<History, ExperimentError> {
    let mut history = History::default();
    for run in 0..runs {
        let tasks = record_progress(plan, HISTORY_SEED + u64::from(run), 1.0, Category::Reduce)?;
        history.extend(History::from_recording(&tasks, "reduce", run));
    }
    Ok(history)
}

/// Returns the score of the settings on all given runs together.
pub fn score_runs(runs: &[History], model: Option<&Model>, settings: AgentSettings) -> Score {
    let mut total = Score::default();
    for run in runs {
        total.merge(&score(run, &replay(run, model, settings).0));
    }
    total
}
