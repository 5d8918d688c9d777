//! A diagnosis that does not mistake a busy node, or the peers of a faulty node, for the faulty node. It uses times per
//! call instead of totals, calls on data instead of all calls, and pairs of nodes for the network.
//!
//! Each node has a *level* for each cause. Disk: the mean time of a `stat` or `access` call on a path with data.
//! Network: the median over its peers of the mean time of connecting the two nodes, in either direction. A fault of one
//! node raises the times of all its pairs, but of only one pair of every other node, so the medians of other nodes do
//! not change. Without single calls, or without addresses, the level is the mean time of `connect`.
//!
//! A node's *score* compares it with the other nodes of the same run, so the load of the whole cluster does not matter:
//!
//! ```text
//! score = (level + usual) / (median level of the others + usual) × median calls made by the others / calls made
//! ```
//!
//! where *usual* is the median level in the control runs: differences far below it do not count. The second factor is
//! needed because slow slots get fewer tasks, and their nodes make fewer calls; if all nodes have the same share of the
//! work, this factor is 1. Accepted connections (`accept`) are not the node's own action and do not count. For a node
//! whose log ends early the second factor is at most 1. The threshold is a margin times the largest score of any node
//! in a control run. The first factor alone must also exceed its largest value in a control run: a node that only makes
//! few calls is idle, not faulty.

use serde::{Deserialize, Serialize};

use tailspn_common::order::median;

use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::diagnose::syscalls::answer::{Answer, Method};
use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::observed::{ClassCalls, Form, NodeCalls};
use crate::diagnose::syscalls::pairs::{Pairs, pairs_of};
use crate::diagnose::syscalls::profile::{ControlNode, ControlRun, Profile};
use crate::diagnose::syscalls::run::Run;
use crate::diagnose::syscalls::tally::Tally;

/// Settings of the improved diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImprovedSettings {
    /// Factor by which a score must exceed the largest score of the control runs, at least 1. Default 1.4, chosen on labelled runs
    /// (docs/replications/system-calls.md).
    pub margin: f64,
    /// Number of calls that make a node's mean meaningful. Default 10.
    pub least_calls: u64,
    /// Maximum number of nodes listed. Default 3, the size up to which the paper counts a set as a success.
    pub most_nodes: usize,
}

impl Default for ImprovedSettings {
    fn default() -> Self {
        Self { margin: 1.4, least_calls: 10, most_nodes: 3 }
    }
}

/// Times below this are clock noise, in seconds: this value replaces the baseline if control runs show no time at all.
const LEAST_USUAL: f64 = 1e-6;
/// A confidence below this is shown as 0, and no node is listed.
const LEAST_CONFIDENCE: f64 = 0.005;
/// Number of nodes needed to compare a node with the other nodes of its run.
const ENOUGH_NODES: usize = 3;

/// A node's data for the comparison.
struct NodeProfile {
    node: String,
    files: Tally,
    connects: Tally,
    /// Calls made by the node itself.
    made: u64,
    ends_early: bool,
}

impl NodeProfile {
    fn new(node: &str, files: Tally, connects: Tally, classes: &[ClassCalls; 7]) -> Self {
        let own = CallClass::ALL.into_iter().filter(|class| *class != CallClass::Accept);
        let made = own.map(|class| classes[class.index()].calls).sum();
        Self { node: node.to_owned(), files, connects, made, ends_early: false }
    }
}

/// The compared data: the nodes of a run to diagnose or of a control run.
struct View {
    nodes: Vec<NodeProfile>,
    pairs: Pairs,
}

impl View {
    fn of_run(run: &Run) -> Self {
        let seen = |node: &NodeCalls| NodeProfile {
            ends_early: node.ends_early,
            ..NodeProfile::new(&node.node, node.data_files, node.connects(), &node.classes)
        };
        let nodes = run.nodes.iter().map(seen).collect();
        Self { nodes, pairs: if run.form == Form::Calls { pairs_of(&run.nodes) } else { Pairs::default() } }
    }

    fn of_control(run: &ControlRun) -> Self {
        let seen = |node: &ControlNode| NodeProfile::new(&node.node, node.data_files, node.connects, &node.classes);
        Self { nodes: run.nodes.iter().map(seen).collect(), pairs: run.pairs.clone() }
    }

    /// Returns true if each of at least three nodes has at least two peers.
    fn has_pairs(&self) -> bool {
        self.nodes.len() >= ENOUGH_NODES && self.nodes.iter().all(|seen| self.pairs.means_of(&seen.node).len() >= 2)
    }

    fn levels(&self, by: By, least_calls: u64) -> Vec<Level> {
        let mean = |tally: Tally| tally.mean().filter(|_| tally.calls >= least_calls);
        let level = |seen: &NodeProfile| match by {
            By::Files => mean(seen.files),
            By::Connects => mean(seen.connects),
            By::Pairs => lower_median(&self.pairs.means_of(&seen.node)),
        };
        let of = |seen: &NodeProfile| {
            let (node, made, ends_early) = (seen.node.clone(), seen.made.max(1) as f64, seen.ends_early);
            Some(Level { node, level: level(seen)?, made, ends_early })
        };
        self.nodes.iter().filter_map(of).collect()
    }
}

/// A node's level and its number of calls.
#[derive(Clone, Debug)]
struct Level {
    node: String,
    level: f64,
    made: f64,
    ends_early: bool,
}

/// Basis of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Files,
    Pairs,
    Connects,
}

impl By {
    fn cause(self) -> Cause {
        match self {
            Self::Files => Cause::Disk,
            Self::Pairs | Self::Connects => Cause::Network,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Files => "mean time of stat and access",
            Self::Pairs => "mean time to connect, median over its peers",
            Self::Connects => "mean time of connect",
        }
    }
}

/// Returns the median, the lower of the two middle values for an even number.
fn lower_median(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// One node's level with its reference values.
#[derive(Clone, Debug)]
struct Scored {
    node: String,
    level: f64,
    /// Medians of the other nodes, if there are enough.
    others: Option<Others>,
    /// The first factor of the score.
    slowness: f64,
    score: f64,
}

/// Medians of the other nodes of the run.
#[derive(Clone, Copy, Debug)]
struct Others {
    level: f64,
    /// Ratio of the other nodes' median number of calls to the node's number of calls.
    fewer: f64,
}

/// Returns the scores of all nodes with a level. With fewer than three nodes, a node is compared with the baseline.
fn scores(levels: &[Level], usual: f64) -> Vec<Scored> {
    let score = |(at, own): (usize, &Level)| {
        let peers = || levels.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, level)| level);
        let middle = |value: fn(&Level) -> f64| median(peers().map(value));
        let others =
            || Some(Others { level: middle(|level| level.level)?, fewer: middle(|level| level.made)? / own.made });
        let others = if levels.len() < ENOUGH_NODES { None } else { others() };
        let slowness = (own.level + usual) / (others.map_or(usual, |others| others.level) + usual);
        let most = if own.ends_early { 1.0 } else { f64::INFINITY };
        let score = slowness * others.map_or(1.0, |others| others.fewer.min(most));
        Scored { node: own.node.clone(), level: own.level, others, slowness, score }
    };
    levels.iter().enumerate().map(score).collect()
}

/// The judgement of one cause.
struct Judged {
    by: By,
    threshold: f64,
    /// Threshold for the first factor of a score.
    least_slowness: f64,
    usual: f64,
    scored: Vec<Scored>,
}

impl Judged {
    fn new(by: By, run: &View, controls: &[View], settings: &ImprovedSettings) -> Option<Self> {
        let control_levels: Vec<_> = controls.iter().map(|view| view.levels(by, settings.least_calls)).collect();
        let usual = median(control_levels.iter().flatten().map(|level| level.level))?.max(LEAST_USUAL);
        let levels = run.levels(by, settings.least_calls);
        let few = levels.len() < ENOUGH_NODES;
        // compared in the same way as the run
        let in_control = |levels: &Vec<Level>| match few {
            true => levels.iter().flat_map(|level| scores(std::slice::from_ref(level), usual)).collect(),
            false => scores(levels, usual),
        };
        let in_controls: Vec<Scored> = control_levels.iter().flat_map(in_control).collect();
        let largest = |value: fn(&Scored) -> f64| in_controls.iter().map(value).fold(1.0, f64::max);
        let threshold = largest(|scored| scored.score) * settings.margin.max(1.0);
        let least_slowness = largest(|scored| scored.slowness);
        Some(Self { by, threshold, least_slowness, usual, scored: scores(&levels, usual) })
    }

    /// Returns the nodes above the threshold whose confidence does not round to 0, the highest score first.
    fn above(&self) -> Vec<&Scored> {
        let is_sure = |scored: &Scored| self.confidence(scored) >= LEAST_CONFIDENCE;
        let is_above = |scored: &&Scored| is_sure(scored) && scored.slowness > self.least_slowness;
        let mut above: Vec<&Scored> = self.scored.iter().filter(is_above).collect();
        above.sort_by(|a, b| b.score.total_cmp(&a.score));
        above
    }

    fn confidence(&self, scored: &Scored) -> f64 {
        1.0 - self.threshold / scored.score
    }

    /// Returns the ratio of the first factor of a score to the largest first factor of the control runs; 0 without a
    /// node above the threshold. The second factor is the same for both causes.
    fn excess(&self) -> f64 {
        let above = self.above();
        above.iter().map(|scored| scored.slowness / self.least_slowness).fold(0.0, f64::max)
    }
}

/// Diagnoses a run by the improved method. It reports only the cause whose times exceed the control runs by the larger
/// factor. The reason is that nodes under packet loss also have slow file calls from time to time, and nodes with a
/// busy disk connect more slowly.
pub fn improved(run: &Run, profile: &Profile, settings: &ImprovedSettings) -> Answer {
    let method = Method::Improved;
    if let Some(why) = run.apart() {
        return Answer::silent(method, why);
    }
    let view = View::of_run(run);
    let controls: Vec<View> = profile.runs_of(run.form).map(View::of_control).collect();
    if controls.is_empty() {
        return Answer::silent(method, format!("the control runs have no logs in the form `{}`", run.form.text()));
    }
    let network = if view.has_pairs() && controls.iter().all(View::has_pairs) { By::Pairs } else { By::Connects };
    let judged = [By::Files, network].into_iter().filter_map(|by| Judged::new(by, &view, &controls, settings));
    let judged: Vec<Judged> = judged.collect();
    let Some(first) = judged.iter().max_by(|a, b| a.excess().total_cmp(&b.excess())) else {
        return Answer::silent(method, "the control runs have too few calls on data and too few connect calls");
    };
    let above = first.above();
    if above.is_empty() {
        return Answer::silent(method, "no node deviates from the others more than in the control runs");
    }
    let few_nodes = first.scored.len() < ENOUGH_NODES;
    let cause = first.by.cause();
    if few_nodes && cause == Cause::Network {
        // the node with slow calls may be healthy
        let unknown = |scored: &Scored| Finding {
            subject: Subject::Job,
            cause: Cause::Unknown,
            confidence: 0.0,
            ..finding(first, scored, cause)
        };
        let why = "connecting is slow, but with fewer than three nodes the log does not show which end is slow";
        return Answer { findings: above.into_iter().map(unknown).collect(), ..Answer::silent(method, why) };
    }
    let above: Vec<&Scored> = above.into_iter().take(settings.most_nodes).collect();
    let nodes = above.iter().map(|scored| scored.node.clone()).collect();
    Answer::of(method, cause, nodes, above.into_iter().map(|scored| finding(first, scored, cause)).collect())
}

fn finding(judged: &Judged, scored: &Scored, cause: Cause) -> Finding {
    Finding {
        method: Method::Improved.of_findings(),
        subject: Subject::Node { node: scored.node.clone() },
        from: None,
        to: None,
        at_least: false,
        first_wave: false,
        cause,
        score: scored.score,
        threshold: judged.threshold,
        confidence: judged.confidence(scored),
        evidence: evidence(judged, scored),
    }
}

/// Levels below this limit \[s\] are reported in milliseconds, because the baseline nearly always is in milliseconds.
const MILLISECONDS_BELOW: f64 = 10.0;

/// Returns the level with its reference values.
fn evidence(judged: &Judged, scored: &Scored) -> Vec<Evidence> {
    let (scale, unit) = if scored.level < MILLISECONDS_BELOW { (1e3, "ms") } else { (1.0, "s") };
    let level = |usual: f64, whose: &str| Evidence {
        what: format!("{}, compared with the {whose}", judged.by.text()),
        value: scale * scored.level,
        usual: scale * usual,
        unit: unit.into(),
    };
    let calls = |others: Others| Evidence {
        what: "number of calls, relative to the median of the other nodes".to_owned(),
        value: 1.0 / others.fewer,
        usual: 1.0,
        unit: "".into(),
    };
    let others = scored.others.map(|others| level(others.level, "other nodes"));
    let controls = level(judged.usual, "control runs");
    [others, Some(controls), scored.others.map(calls)].into_iter().flatten().collect()
}
