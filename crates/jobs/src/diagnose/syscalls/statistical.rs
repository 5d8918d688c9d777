//! The statistical diagnosis, step by step as published \[Khadke2012, 4.2\].

use serde::{Deserialize, Serialize};

use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::diagnose::syscalls::answer::{Answer, Method};
use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::observed::{Form, NodeCalls};
use crate::diagnose::syscalls::profile::{Profile, Range};
use crate::diagnose::syscalls::run::Run;

/// Reference of a percentage difference; the paper does not specify it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// The greater value, so that 25% means a third more than the lesser value. The default.
    #[default]
    OfGreater,
    /// The lesser value.
    OfLesser,
    /// The mean of both values.
    OfMean,
}

impl Difference {
    /// Returns the difference of two values ≥ 0 as a share: 0 if both are 0, and infinite if the reference is 0.
    pub fn between(self, a: f64, b: f64) -> f64 {
        let (greater, lesser) = (a.max(b), a.min(b));
        let base = match self {
            Self::OfGreater => greater,
            Self::OfLesser => lesser,
            Self::OfMean => 0.5 * (a + b),
        };
        match greater - lesser {
            0.0 => 0.0,
            _ if base <= 0.0 => f64::INFINITY,
            difference => difference / base,
        }
    }
}

/// Number of other nodes that a node must differ from to be marked in step 3; the paper says "any node".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The node must exceed every other node by the share. The default.
    #[default]
    All,
    /// The node must exceed at least one other node by the share.
    Any,
}

/// Settings of the statistical diagnosis. The defaults are the paper's, or the closest reading of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticalSettings {
    /// Reference of a percentage difference.
    pub difference: Difference,
    /// Steps 1 and 2: share by which the total time of every other node must differ from the greatest total time.
    /// Default 0.25.
    pub hog_share: f64,
    /// Step 3: share by which the scores of two nodes must differ. Default 0.5.
    pub isolation_share: f64,
    /// Step 3: number of other nodes.
    pub against: Against,
}

impl Default for StatisticalSettings {
    fn default() -> Self {
        Self { difference: Difference::default(), hog_share: 0.25, isolation_share: 0.5, against: Against::default() }
    }
}

/// A hog found by step 1 or 2: the node with the greatest total time.
struct Hog<'r> {
    node: &'r NodeCalls,
    class: CallClass,
    cause: Cause,
    /// Smallest difference to another node.
    least: f64,
}

/// Diagnoses a run by the statistical method.
///
/// A node missing from the profile cannot be outside its range. Step 3 needs single calls: totals (`-c`) skip it.
/// If steps 1 and 2 find no node, the method reports none, because the paper then defines no *max*, the node to return.
pub fn statistical(run: &Run, profile: &Profile, settings: &StatisticalSettings) -> Answer {
    let method = Method::Statistical;
    if let Some(why) = run.apart() {
        return Answer::silent(method, why);
    }
    if run.nodes.len() < 2 {
        return Answer::silent(method, "pairwise differences need two nodes");
    }
    if !run.nodes.iter().any(|node| profile.knows(run.form, &node.node)) {
        return Answer::silent(
            method,
            format!("the control runs have no logs of these nodes in the form `{}`", run.form.text()),
        );
    }
    let judge = Judge { run, profile, settings };
    let Some(hog) = judge.disk_hog().or_else(|| judge.network_hog()) else {
        return Answer::silent(
            method,
            "no total time of stat or connect is both outside the range of the control runs and different from the totals of other nodes",
        );
    };
    let mut nodes = vec![hog.node.node.clone()];
    for node in judge.isolated(hog.cause) {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let findings = nodes.iter().map(|node| judge.finding(&hog, node)).collect();
    Answer::of(method, hog.cause, nodes, findings)
}

struct Judge<'a> {
    run: &'a Run,
    profile: &'a Profile,
    settings: &'a StatisticalSettings,
}

impl<'a> Judge<'a> {
    fn range(&self, node: &NodeCalls, class: CallClass) -> Option<Range> {
        self.profile.total(self.run.form, &node.node, class)
    }

    fn is_outside(&self, node: &NodeCalls, class: CallClass) -> bool {
        let total = node.total(class);
        // a lower total of a log that ends early means nothing
        let counts = |range: &Range| !node.ends_early || total > range.high;
        self.range(node, class).is_some_and(|range| range.excludes(total) && counts(&range))
    }

    /// Steps (a) and (b) of both hogs: returns the node with the greatest total time, if this total is outside its
    /// range and every other node's total differs enough from it.
    fn greatest(&self, class: CallClass) -> Option<(&'a NodeCalls, f64)> {
        let max =
            self.run.nodes.iter().reduce(|max, node| if node.total(class) > max.total(class) { node } else { max })?;
        if !self.is_outside(max, class) {
            return None;
        }
        let others = self.run.nodes.iter().filter(|node| node.node != max.node);
        let differences = others.map(|node| self.settings.difference.between(max.total(class), node.total(class)));
        let least = differences.fold(f64::INFINITY, f64::min);
        (least > self.settings.hog_share).then_some((max, least))
    }

    /// Returns the disk hog, by step 1.
    fn disk_hog(&self) -> Option<Hog<'a>> {
        let class = CallClass::Stat;
        let (node, least) = self.greatest(class).filter(|(max, _)| self.is_outside(max, CallClass::Access))?;
        Some(Hog { node, class, cause: Cause::Disk, least })
    }

    /// Returns the network hog, by step 2.
    fn network_hog(&self) -> Option<Hog<'a>> {
        let class = CallClass::Connect;
        let (node, least) = self.greatest(class)?;
        Some(Hog { node, class, cause: Cause::Network, least })
    }

    /// Returns the score of a node in step 3: the number of calls by which the counts of its intervals are outside their ranges.
    fn score(&self, node: &NodeCalls, class: CallClass) -> f64 {
        let own = node.class(class).histogram.0.len();
        let form = self.run.form;
        let known = self.profile.runs_of(form).flat_map(|run| &run.nodes).filter(|control| control.node == node.node);
        let buckets = known.map(|control| control.classes[class.index()].histogram.0.len()).fold(own, usize::max);
        let beyond = |bucket: usize| {
            let range = self.profile.bucket(form, &node.node, class, bucket)?;
            let count = node.class(class).histogram.count(bucket) as f64;
            let counts = !node.ends_early || count > range.high;
            Some(if counts { range.beyond(count) } else { 0.0 })
        };
        (0..buckets).filter_map(beyond).sum()
    }

    /// Steps 3 and 4: returns the nodes that are "possibly faulty", in the order of their names.
    fn isolated(&self, cause: Cause) -> Vec<String> {
        let nodes = &self.run.nodes;
        let mut marked = vec![false; nodes.len()];
        if self.run.form == Form::Calls {
            for class in [CallClass::Bind, CallClass::Socket, CallClass::Execve] {
                let scores: Vec<f64> = nodes.iter().map(|node| self.score(node, class)).collect();
                for (at, mark) in marked.iter_mut().enumerate() {
                    *mark |= self.exceeds(&scores, at);
                }
            }
        }
        if cause != Cause::Network {
            for (mark, node) in marked.iter_mut().zip(nodes) {
                *mark |= self.is_outside(node, CallClass::Accept);
            }
        }
        nodes.iter().zip(marked).filter(|(_, marked)| *marked).map(|(node, _)| node.node.clone()).collect()
    }

    fn exceeds(&self, scores: &[f64], at: usize) -> bool {
        let apart = |other: f64| {
            scores[at] > other && self.settings.difference.between(scores[at], other) > self.settings.isolation_share
        };
        let mut others = scores.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, score)| *score);
        match self.settings.against {
            Against::All => others.all(apart),
            Against::Any => others.any(apart),
        }
    }

    fn finding(&self, hog: &Hog<'_>, name: &str) -> Finding {
        let is_max = hog.node.node == name;
        let node = self.run.node(name).unwrap_or(hog.node);
        let evidence = |class: CallClass| {
            let value = node.total(class);
            // step 1 counts a total below the range too
            let (usual, end) = match self.range(node, class) {
                Some(range) if value < range.low => (range.low, "minimum"),
                range => (range.map_or(0.0, |range| range.high), "maximum"),
            };
            let what = format!("total time in {}, compared with the {end} of the control runs", class.name());
            Evidence { what, value, usual, unit: "s".into() }
        };
        let seen = match (is_max, hog.cause) {
            (true, Cause::Disk) => vec![hog.class, CallClass::Access],
            (true, _) => vec![hog.class],
            (false, _) => vec![CallClass::Accept, hog.class],
        };
        // a node that is only possibly faulty has half the confidence
        let sure = hog.least.min(1.0) * if is_max { 1.0 } else { 0.5 };
        Finding {
            method: Method::Statistical.of_findings(),
            subject: Subject::Node { node: name.to_owned() },
            from: None,
            to: None,
            at_least: false,
            first_wave: false,
            cause: hog.cause,
            score: hog.least.min(1.0),
            threshold: self.settings.hog_share,
            confidence: sure,
            evidence: seen.into_iter().map(evidence).collect(),
        }
    }
}
