//! A diagnosis that does not mistake a busy node for a faulty one, or the peers of a faulty node for it: times per call instead of
//! totals, calls on data instead of all, and for the network the pairs of nodes.
//!
//! Of each node a *level* is taken for each cause. Disk: the mean time of a call of `stat` or `access` on a path with data. Network:
//! the median over its peers of the mean time that connecting took between the two, in either direction. A fault of one node raises
//! all of its own pairs, but only one pair of each other node, so that their medians stay. Without single calls, or without addresses,
//! the level is the mean time of `connect`.
//!
//! A node's *score* compares it with the other nodes of the same run, so that it does not matter how busy the whole cluster is:
//!
//! ```text
//! score = (level + usual) / (median level of the other nodes + usual)
//! ```
//!
//! where *usual* is the median level in the control runs: differences far below what is usual do not count. The threshold
//! is a margin times the largest score that any node had in a control run.

use serde::{Deserialize, Serialize};

use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::diagnose::syscalls::answer::{Answer, Method};
use crate::diagnose::syscalls::observed::Form;
use crate::diagnose::syscalls::pairs::{Pairs, pairs_of};
use crate::diagnose::syscalls::profile::{ControlRun, Profile};
use crate::diagnose::syscalls::run::Run;
use crate::diagnose::syscalls::tally::Tally;

/// Settings of the improved diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImprovedSettings {
    /// How many times the largest score of the control runs a score must exceed, at least 1. Default 1.25.
    pub margin: f64,
    /// Calls that a node needs before its mean says something. Default 10.
    pub least_calls: u64,
    /// Most nodes that are named. Default 3, the size up to which the paper counts a set as a success.
    pub most_nodes: usize,
}

impl Default for ImprovedSettings {
    fn default() -> Self {
        Self { margin: 1.25, least_calls: 10, most_nodes: 3 }
    }
}

/// Times below this are noise of the clock: it stands in where control runs show no time at all, in seconds.
const LEAST_USUAL: f64 = 1e-6;
/// Nodes from which on a node can be compared with the others of its run.
const ENOUGH_NODES: usize = 3;

/// What is compared: the nodes of a run, of either kind.
struct View {
    nodes: Vec<(String, Tally, Tally)>,
    pairs: Pairs,
}

impl View {
    fn of_run(run: &Run) -> Self {
        let nodes = run.nodes.iter().map(|node| (node.node.clone(), node.data_files, node.connects())).collect();
        Self { nodes, pairs: if run.form == Form::Calls { pairs_of(&run.nodes) } else { Pairs::default() } }
    }

    fn of_control(run: &ControlRun) -> Self {
        let nodes = run.nodes.iter().map(|node| (node.node.clone(), node.data_files, node.connects)).collect();
        Self { nodes, pairs: run.pairs.clone() }
    }

    /// Whether each of at least three nodes has at least two peers.
    fn has_pairs(&self) -> bool {
        self.nodes.len() >= ENOUGH_NODES && self.nodes.iter().all(|(node, ..)| self.pairs.means_of(node).len() >= 2)
    }

    fn levels(&self, by: By, least_calls: u64) -> Vec<(String, f64)> {
        let mean = |tally: Tally| tally.mean().filter(|_| tally.calls >= least_calls);
        let level = |(node, files, connects): &(String, Tally, Tally)| match by {
            By::Files => mean(*files),
            By::Connects => mean(*connects),
            By::Pairs => lower_median(&self.pairs.means_of(node)),
        };
        self.nodes.iter().filter_map(|node| Some((node.0.clone(), level(node)?))).collect()
    }
}

/// What a level is made of.
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

/// The middle one, of two the lesser.
fn lower_median(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(0.5 * (values[last / 2] + values[last.div_ceil(2)]))
}

/// One node's level, beside what it is compared with.
#[derive(Clone, Debug)]
struct Scored {
    node: String,
    level: f64,
    against: f64,
    score: f64,
}

/// Scores of all nodes that have a level. With fewer than three nodes, a node is compared with what is usual.
fn scores(levels: &[(String, f64)], usual: f64) -> Vec<Scored> {
    let score = |(at, (node, level)): (usize, &(String, f64))| {
        let others =
            levels.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, (_, level))| *level).collect();
        let against = if levels.len() < ENOUGH_NODES { usual } else { median(others).unwrap_or(usual) };
        Scored { node: node.clone(), level: *level, against, score: (level + usual) / (against + usual) }
    };
    levels.iter().enumerate().map(score).collect()
}

/// One cause, judged.
struct Judged {
    by: By,
    threshold: f64,
    usual: f64,
    scored: Vec<Scored>,
}

impl Judged {
    fn new(by: By, run: &View, controls: &[View], settings: &ImprovedSettings) -> Option<Self> {
        let control_levels: Vec<_> = controls.iter().map(|view| view.levels(by, settings.least_calls)).collect();
        let usual = median(control_levels.iter().flatten().map(|(_, level)| *level).collect())?.max(LEAST_USUAL);
        let levels = run.levels(by, settings.least_calls);
        let few = levels.len() < ENOUGH_NODES;
        let in_control = |levels: &Vec<(String, f64)>| {
            // compared in the same way as the run is
            let each: Vec<Scored> = if few {
                levels.iter().flat_map(|level| scores(std::slice::from_ref(level), usual)).collect()
            } else {
                scores(levels, usual)
            };
            each.into_iter().map(|scored| scored.score).fold(1.0, f64::max)
        };
        let largest = control_levels.iter().map(in_control).fold(1.0, f64::max);
        Some(Self { by, threshold: largest * settings.margin.max(1.0), usual, scored: scores(&levels, usual) })
    }

    /// Nodes above the threshold, the highest score first.
    fn above(&self) -> Vec<&Scored> {
        let mut above: Vec<&Scored> = self.scored.iter().filter(|scored| scored.score > self.threshold).collect();
        above.sort_by(|a, b| b.score.total_cmp(&a.score));
        above
    }

    /// By how much the highest score exceeds the threshold.
    fn excess(&self) -> f64 {
        self.scored.iter().map(|scored| scored.score / self.threshold).fold(0.0, f64::max)
    }
}

/// The improved diagnosis of a run. One cause is named, that whose score exceeds its threshold by the larger factor: nodes under
/// packet loss also have slow files now and then.
pub fn improved(run: &Run, profile: &Profile, settings: &ImprovedSettings) -> Answer {
    let method = Method::Improved;
    let view = View::of_run(run);
    let controls: Vec<View> = profile.runs_of(run.form).map(View::of_control).collect();
    if controls.is_empty() {
        return Answer::silent(method, "no control run has logs of this form");
    }
    let network = if view.has_pairs() && controls.iter().all(View::has_pairs) { By::Pairs } else { By::Connects };
    let judged = [By::Files, network].into_iter().filter_map(|by| Judged::new(by, &view, &controls, settings));
    let judged: Vec<Judged> = judged.collect();
    let Some(first) = judged.iter().max_by(|a, b| a.excess().total_cmp(&b.excess())) else {
        return Answer::silent(method, "the control runs have too few calls on data and between nodes");
    };
    let above = first.above();
    if above.is_empty() {
        return Answer::silent(method, "no node is further from the others than in the control runs");
    }
    let few_nodes = first.scored.len() < ENOUGH_NODES;
    if few_nodes && first.by.cause() == Cause::Network {
        let findings = above.into_iter().map(|scored| finding(first, scored, Cause::Unknown)).collect();
        let why = "connecting is slow, but with fewer than three nodes the log does not tell at which end";
        return Answer { findings, ..Answer::silent(method, why) };
    }
    let above: Vec<&Scored> = above.into_iter().take(settings.most_nodes).collect();
    let nodes = above.iter().map(|scored| scored.node.clone()).collect();
    let cause = first.by.cause();
    Answer::of(method, cause, nodes, above.into_iter().map(|scored| finding(first, scored, cause)).collect())
}

fn finding(judged: &Judged, scored: &Scored, cause: Cause) -> Finding {
    let what = judged.by.text();
    let evidence = |what: String, usual: f64| Evidence { what, value: scored.level, usual, unit: "s" };
    Finding {
        method: Method::Improved.name(),
        subject: Subject::Node { node: scored.node.clone() },
        from: None,
        to: None,
        cause,
        score: scored.score,
        threshold: judged.threshold,
        confidence: if cause == Cause::Unknown { 0.0 } else { 1.0 - judged.threshold / scored.score },
        evidence: vec![
            evidence(format!("{what}, against the other nodes"), scored.against),
            evidence(format!("{what}, against the control runs"), judged.usual),
        ],
    }
}
