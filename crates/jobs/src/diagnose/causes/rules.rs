//! Conditions under which a feature is a root cause: equations 5 to 7 of \[Zhou2018\], in the interpretations that the text allows.

use tailspn_common::order::quantile;

use crate::diagnose::causes::feature::{Category, Feature};
use crate::diagnose::causes::pool::{Pool, Surroundings};

/// Interpretation of the additional rule for times, `F > 0.2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeRule {
    /// As printed: the time is more than 0.2 of the task's time.
    #[default]
    Share,
    /// As explained in the text: its share is more than 0.2 above the peers' share.
    AbovePeers,
}

/// Interpretation of edge detection, equation 6. Head and tail are the mean use before and after the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edge {
    /// No edge detection.
    Off,
    /// The feature is kept if head *or* tail exceeds λe F. It is dropped only if the use rose with the task and fell
    /// with it. This is the intent of the text.
    #[default]
    IntentAny,
    /// The feature is kept only if head *and* tail exceed λe F.
    IntentBoth,
    /// As printed: if head and tail exceed λe F, the feature is dropped.
    Printed,
}

/// The thresholds. The paper gives no values; docs/diagnose.md explains the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// λq: a cause exceeds this quantile of the feature over all tasks. Default 0.7.
    pub quantile: f64,
    /// λp: a cause exceeds this many times the mean of the feature over the peers. Default 1.5.
    pub peer_factor: f64,
    /// True if a share, which cannot exceed 1, is also a cause if its distance *below* 1 is λp times smaller than the
    /// distance of its peers. Reason: on nodes that are nearly busy anyway, no share can exceed λp times the mean.
    /// Default true; false follows the paper.
    pub headroom: bool,
    /// Interpretation of the additional rule for times. Default as printed.
    pub time_rule: TimeRule,
    /// Threshold of the additional rule for times. Default 0.2.
    pub time_floor: f64,
    /// Minimum use of a resource that can slow a task, as a share of its capacity; for the network, of
    /// the maximum bytes per second of any node. Default 0.1; 0 follows the paper.
    pub resource_floor: f64,
    /// Interpretation of edge detection. Default: the intent of the text.
    pub edge: Edge,
    /// λe, the factor of edge detection, equation 6. Default 0.8.
    pub edge_factor: f64,
    /// An amount of data is also a cause if it exceeds the median of the normal tasks by at least this many robust
    /// standard deviations and by at least 2%. Reason: combined output grows less than its input. None follows the
    /// paper. Default 6.
    pub outlier: Option<f64>,
    /// True if resources and deserialisation may explain a task of a cold first wave, see
    /// [`PoolTask::cold`](crate::diagnose::causes::PoolTask::cold). Default false; true follows the paper.
    pub explain_cold: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            quantile: 0.7,
            peer_factor: 1.5,
            headroom: true,
            time_rule: TimeRule::Share,
            time_floor: 0.2,
            resource_floor: 0.1,
            edge: Edge::IntentAny,
            edge_factor: 0.8,
            outlier: Some(6.0),
            explain_cold: false,
        }
    }
}

impl Rules {
    /// Returns the rules of the paper, without our additions; the thresholds are these defaults.
    pub fn of_the_paper() -> Self {
        Self { headroom: false, outlier: None, explain_cold: true, resource_floor: 0.0, ..Self::default() }
    }
}

/// Criterion that identified a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The value exceeds λp times the mean of the peers on other nodes.
    OtherNodes,
    /// The value exceeds λp times the mean of the peers on the same node.
    SameNode,
    /// The value's distance below 1 is λp times smaller than the peers' distance.
    Headroom,
    /// The value is many deviations above the median.
    Outlier,
    /// The data were distant for the task, but near for normal tasks.
    Far,
}

/// A feature that explains the slowness of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct RootCause {
    /// The feature.
    pub feature: Feature,
    /// Criterion that identified the feature.
    pub sign: Sign,
    /// Value F.
    pub value: f64,
    /// Threshold of the criterion, including the quantile.
    pub threshold: f64,
    /// Mean of the peers that were compared, or the median for [`Sign::Outlier`].
    pub usual: f64,
    /// Values before and after the task, for a resource.
    pub around: Option<Surroundings>,
    /// Distance beyond the peers' part of the threshold: 0 at the threshold, approaching 1 far beyond it.
    pub strength: f64,
}

/// Robust standard deviations per median absolute deviation, for normal values.
const MAD: f64 = 1.4826;
/// Minimum number of normal tasks for computing deviations from their median.
const FEWEST: usize = 8;
/// Minimum excess over the median for an outlier.
const EXCESS: f64 = 1.02;

/// Decides whether a feature explains the slowness of a task; none if it does not, or is unknown.
///
/// ```text
/// F > quantile_λq(F) and F > λp mean(F_peer), for peers on other nodes or on the same      (5)
/// times: also F > 0.2;  resources: also edge detection                                     (6)
/// locality: F = 2 and Σ F_normal < N_normal / 2                                            (7)
/// ```
///
/// Source: \[Zhou2018, Eqs. 5 to 7\]; where the equations and the text differ, [`Rules`] has both.
pub fn judge(pool: &Pool, task: usize, feature: Feature, rules: &Rules) -> Option<RootCause> {
    let own = &pool.tasks[task];
    let value = own.values[feature as usize]?;
    if feature.category() == Category::Discrete {
        return far(pool, value, feature);
    }
    let global = pool.quantile(feature, rules.quantile)?;
    if value <= global {
        return None;
    }
    let found = beyond_peers(pool, task, feature, value, global, rules)
        .or_else(|| outlier(pool, feature, value, global, rules))?;
    match feature.category() {
        // recently started executors load classes
        Category::Time if feature == Feature::Deserialization && own.cold && !rules.explain_cold => None,
        Category::Time => long_enough(value, found.usual, rules).then_some(found),
        Category::Resource => {
            if (own.cold && !rules.explain_cold) || value < rules.resource_floor * pool.scale(feature) {
                return None;
            }
            let around = feature.resource().map(|i| own.around[i])?;
            stands(value, around, rules).then_some(RootCause { around: Some(around), ..found })
        }
        Category::Numerical | Category::Discrete => Some(found),
    }
}

/// Applies equation 5 for both kinds of peers; if several criteria hold, the criterion that is exceeded most is used.
fn beyond_peers(
    pool: &Pool,
    task: usize,
    feature: Feature,
    value: f64,
    global: f64,
    rules: &Rules,
) -> Option<RootCause> {
    let (other, same) = pool.peers(task, feature);
    let signs = [(Sign::OtherNodes, other), (Sign::SameNode, same)];
    let found = signs.into_iter().filter_map(|(sign, mean)| {
        let mean = mean?;
        let threshold = rules.peer_factor * mean;
        if value > threshold {
            let strength = 1.0 - threshold / value;
            let threshold = threshold.max(global);
            return Some(RootCause { feature, sign, value, threshold, usual: mean, around: None, strength });
        }
        let threshold = 1.0 - (1.0 - mean) / rules.peer_factor;
        (rules.headroom && feature.category() == Category::Resource && feature.is_share() && value > threshold).then(
            || {
                let strength = 1.0 - (1.0 - value) / (1.0 - threshold);
                let threshold = threshold.max(global);
                RootCause { feature, sign: Sign::Headroom, value, threshold, usual: mean, around: None, strength }
            },
        )
    });
    found.max_by(|a, b| a.strength.total_cmp(&b.strength))
}

/// Detects an amount that is the same for most tasks and clearly higher for this one.
fn outlier(pool: &Pool, feature: Feature, value: f64, global: f64, rules: &Rules) -> Option<RootCause> {
    let usual = pool.usual(feature);
    let deviations = rules.outlier.filter(|_| feature.category() == Category::Numerical && usual.len() >= FEWEST)?;
    let median = quantile(usual, 0.5)?;
    let mut distances: Vec<f64> = usual.iter().map(|value| (value - median).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let spread = MAD * quantile(&distances, 0.5)?;
    let threshold = (median + deviations * spread).max(EXCESS * median).max(global);
    (spread > 0.0 && value > threshold).then(|| {
        // it shows that there is more, but not how much more
        let strength = 0.5 * (1.0 - (threshold - median) / (value - median));
        RootCause { feature, sign: Sign::Outlier, value, threshold, usual: median, around: None, strength }
    })
}

/// Applies the additional rule for times.
fn long_enough(value: f64, usual: f64, rules: &Rules) -> bool {
    match rules.time_rule {
        TimeRule::Share => value > rules.time_floor,
        TimeRule::AbovePeers => value - usual > rules.time_floor,
    }
}

/// Applies edge detection, equation 6. A side without samples does not exclude a cause.
fn stands(value: f64, around: Surroundings, rules: &Rules) -> bool {
    let loaded = |side: Option<f64>| side.map(|mean| mean > rules.edge_factor * value);
    let (head, tail) = (loaded(around.head), loaded(around.tail));
    match rules.edge {
        Edge::Off => true,
        Edge::IntentAny => head != Some(false) || tail != Some(false),
        Edge::IntentBoth => head != Some(false) && tail != Some(false),
        Edge::Printed => head != Some(true) || tail != Some(true),
    }
}

/// Applies equation 7.
fn far(pool: &Pool, value: f64, feature: Feature) -> Option<RootCause> {
    let (count, sum) = pool.normal_locality();
    if value < 2.0 || count == 0 {
        return None;
    }
    let limit = count as f64 / 2.0;
    let usual = sum / count as f64;
    let strength = 1.0 - sum / limit;
    (sum < limit).then_some(RootCause {
        feature,
        sign: Sign::Far,
        value,
        threshold: 0.5,
        usual,
        around: None,
        strength,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::causes::feature::FEATURES;
    use crate::diagnose::causes::nodes::NodeMeters;
    use crate::diagnose::causes::pool::PoolOptions;
    use crate::diagnose::causes::records::TaskRecord;
    use crate::diagnose::samples::{Meter, Sample, Series};

    /// Ten tasks in a row on each of two nodes, 2 s each; the fifth task of node 0 takes 4 s, from 8 to 12 s.
    const SLOW: usize = 4;

    fn records(stated: impl Fn(usize, &mut [Option<f64>; FEATURES])) -> Vec<TaskRecord> {
        let mut list = Vec::new();
        for node in 0..2 {
            let mut at = 0.0;
            for i in 0..10 {
                let seconds = if node == 0 && i == SLOW { 4.0 } else { 2.0 };
                let mut own = [None; FEATURES];
                stated(list.len(), &mut own);
                list.push(TaskRecord {
                    task: list.len() as u32,
                    attempt: 0,
                    node: Some(node),
                    from: at,
                    to: at + seconds,
                    at_least: false,
                    succeeded: true,
                    stated: own,
                });
                at += seconds;
            }
        }
        list
    }

    /// A node whose CPU use is the given function of the second.
    fn node(busy: impl Fn(usize) -> f64) -> NodeMeters {
        let sample = |i: usize| Sample { from: i as f64, to: (i + 1) as f64, value: busy(i) };
        let samples = (0..30).map(sample).collect();
        let series = Series { host: "a".into(), device: "all".into(), meter: Meter::CpuBusy, samples };
        NodeMeters { cpu: vec![series], ..NodeMeters::default() }
    }

    fn pool_of(feature: Feature, value: impl Fn(usize) -> f64) -> Pool {
        let records = records(|task, stated| stated[feature as usize] = Some(value(task)));
        Pool::new(records, &[], &PoolOptions::default()).unwrap()
    }

    fn sampled(busy: impl Fn(usize) -> f64) -> Pool {
        let nodes = [node(busy), node(|_| 0.2)];
        Pool::new(records(|_, _| {}), &nodes, &PoolOptions::default()).unwrap()
    }

    #[test]
    fn an_amount_is_a_cause_beyond_the_quantile_and_the_peers() {
        // the mean of 19 times 10 and once 40 is 11.5
        let pool = pool_of(Feature::ReadBytes, |task| if task == SLOW { 40.0 } else { 10.0 });
        let cause = judge(&pool, SLOW, Feature::ReadBytes, &Rules::default()).unwrap();
        assert!((cause.value - 40.0 / 11.5).abs() < 1e-12 && (cause.usual - 10.0 / 11.5).abs() < 1e-12);
        assert!((cause.threshold - 15.0 / 11.5).abs() < 1e-12 && (cause.strength - 0.625).abs() < 1e-12, "{cause:?}");
        let beyond = |peer_factor| judge(&pool, SLOW, Feature::ReadBytes, &Rules { peer_factor, ..Rules::default() });
        assert!(beyond(3.99).is_some() && beyond(4.0).is_none());
        // half of all tasks have as much: the quantile rule rejects it
        let many = pool_of(Feature::ReadBytes, |task| if task % 2 == 0 { 40.0 } else { 10.0 });
        assert_eq!(judge(&many, SLOW, Feature::ReadBytes, &Rules::default()), None);
        assert_eq!(judge(&pool, SLOW, Feature::ShuffleRead, &Rules::default()), None, "unknown is no cause");
        let none = pool_of(Feature::ShuffleRead, |_| 0.0);
        assert_eq!(none.tasks[SLOW].values[Feature::ShuffleRead as usize], Some(0.0), "a mean of 0 makes a feature 0");
    }

    #[test]
    fn peers_on_the_same_node_suffice() {
        // all tasks of node 1 read 40, on node 0 only the slow one
        let pool = pool_of(Feature::ReadBytes, |task| {
            if task >= 10 { 40.0 } else { 10.0 + 31.0 * f64::from(u8::from(task == SLOW)) }
        });
        let cause = judge(&pool, SLOW, Feature::ReadBytes, &Rules::default()).unwrap();
        assert_eq!(cause.sign, Sign::SameNode);
    }

    #[test]
    fn an_amount_far_outside_the_spread_is_an_outlier() {
        let pool =
            pool_of(Feature::ShuffleWrite, |task| if task == SLOW { 105.0 } else { 99.9 + 0.1 * (task % 3) as f64 });
        let cause = judge(&pool, SLOW, Feature::ShuffleWrite, &Rules::default()).unwrap();
        assert_eq!(cause.sign, Sign::Outlier);
        assert!(cause.strength < 0.5);
        assert_eq!(judge(&pool, SLOW, Feature::ShuffleWrite, &Rules::of_the_paper()), None);
        // 1% more is insignificant
        let near =
            pool_of(Feature::ShuffleWrite, |task| if task == SLOW { 101.0 } else { 99.9 + 0.1 * (task % 3) as f64 });
        assert_eq!(judge(&near, SLOW, Feature::ShuffleWrite, &Rules::default()), None);
    }

    /// Tests both interpretations of the rule for times, with shares of 0.3, 0.36 and 0.19 of a task of 4 s.
    #[test]
    fn times_must_be_long_in_the_reading_that_is_asked_for() {
        let share = |own: f64, others: f64| {
            pool_of(Feature::GcTime, move |task| if task == SLOW { 4.0 * own } else { 2.0 * others })
        };
        let judged = |pool: &Pool, time_rule| {
            judge(pool, SLOW, Feature::GcTime, &Rules { time_rule, ..Rules::default() }).is_some()
        };
        let near = share(0.3, 0.15);
        assert!(judged(&near, TimeRule::Share) && !judged(&near, TimeRule::AbovePeers));
        let far = share(0.36, 0.15);
        assert!(judged(&far, TimeRule::Share) && judged(&far, TimeRule::AbovePeers));
        let short = share(0.19, 0.01);
        assert!(!judged(&short, TimeRule::Share) && !judged(&short, TimeRule::AbovePeers));
    }

    /// Use during the task is 0.9; the readings of edge detection depend on the use before and after it.
    #[test]
    fn edge_rules_compare_use_before_and_after_the_task() {
        let judged = |before: f64, after: f64| {
            let pool = sampled(move |second| match second {
                7 => before,
                8..12 => 0.9,
                12 => after,
                _ => 0.2,
            });
            [Edge::Off, Edge::IntentAny, Edge::IntentBoth, Edge::Printed]
                .map(|edge| judge(&pool, SLOW, Feature::Cpu, &Rules { edge, ..Rules::default() }).is_some())
        };
        assert_eq!(judged(0.2, 0.2), [true, false, false, true], "it came and went with the task");
        assert_eq!(judged(0.9, 0.2), [true, true, false, true], "it was there before");
        assert_eq!(judged(0.2, 0.9), [true, true, false, true], "it stayed");
        assert_eq!(judged(0.9, 0.9), [true, true, true, false], "it was there before and stayed");
    }

    #[test]
    fn near_full_use_what_is_left_free_is_compared() {
        // with other nodes as busy as this one, a factor of 1.5 is out of reach, but the idle share can be smaller
        let nodes = [node(|second| if (7..13).contains(&second) { 1.0 } else { 0.95 }), node(|_| 0.95)];
        let pool = Pool::new(records(|_, _| {}), &nodes, &PoolOptions::default()).unwrap();
        let full = judge(&pool, SLOW, Feature::Cpu, &Rules::default()).unwrap();
        assert_eq!(full.sign, Sign::Headroom);
        assert_eq!(judge(&pool, SLOW, Feature::Cpu, &Rules { headroom: false, ..Rules::default() }), None);
    }

    #[test]
    fn a_resource_that_is_hardly_used_slows_nobody() {
        let nodes = [node(|second| if (7..13).contains(&second) { 0.09 } else { 0.001 }), node(|_| 0.001)];
        let idle = Pool::new(records(|_, _| {}), &nodes, &PoolOptions::default()).unwrap();
        assert_eq!(judge(&idle, SLOW, Feature::Cpu, &Rules::default()), None);
        assert!(judge(&idle, SLOW, Feature::Cpu, &Rules::of_the_paper()).is_some());
        assert_eq!(judge(&idle, SLOW, Feature::Network, &Rules::default()), None);
    }

    #[test]
    fn far_data_are_a_cause_where_others_are_near() {
        let far = |others: f64| pool_of(Feature::Locality, move |task| if task == SLOW { 2.0 } else { others });
        let cause = judge(&far(0.0), SLOW, Feature::Locality, &Rules::default()).unwrap();
        assert_eq!((cause.sign, cause.strength), (Sign::Far, 1.0));
        // 19 normal tasks with locality 1 have a sum of 19, not below 19/2
        assert_eq!(judge(&far(1.0), SLOW, Feature::Locality, &Rules::default()), None);
        let near = pool_of(Feature::Locality, |_| 1.0);
        assert_eq!(judge(&near, SLOW, Feature::Locality, &Rules::default()), None);
    }

    /// Both first tasks of the nodes are as slow as the whole first wave: they stay unexplained unless requested.
    #[test]
    fn a_cold_first_wave_is_not_blamed_on_the_node() {
        let mut records = records(|_, _| {});
        for record in &mut records {
            if record.from == 0.0 {
                (record.from, record.to) = (-3.0, 2.0);
            }
        }
        let nodes = [node(|second| if second < 3 { 0.9 } else { 0.2 }), node(|_| 0.2)];
        let pool = Pool::new(records, &nodes, &PoolOptions::default()).unwrap();
        assert!(pool.tasks[0].cold && pool.tasks[0].straggler && !pool.tasks[1].cold);
        assert_eq!(judge(&pool, 0, Feature::Cpu, &Rules::default()), None);
        assert!(judge(&pool, 0, Feature::Cpu, &Rules { explain_cold: true, ..Rules::default() }).is_some());
    }
}
