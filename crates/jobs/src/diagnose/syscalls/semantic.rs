//! The semantic diagnosis: invocations whose times are outside the range of the control runs, and the pairs of nodes
//! that these invocations concern \[Khadke2012, 4.3\].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::diagnose::syscalls::answer::{Answer, Method};
use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::invocation::Judged;
use crate::diagnose::syscalls::observed::{Form, NodeCalls};
use crate::diagnose::syscalls::pairs::{Pair, owners, pair};
use crate::diagnose::syscalls::run::Run;
use crate::diagnose::syscalls::tally::SECOND;

/// Settings of the semantic diagnosis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SemanticSettings {
    /// Number of highest-scoring pairs that must all involve the same node; the paper says "all the highest". Default:
    /// the number of nodes less one, that is, all pairs of one node.
    pub highest_pairs: Option<usize>,
}

/// Scores of pairs for one cause.
struct Scores {
    cause: Cause,
    /// Calls outside their ranges, per pair; *scr* in the paper.
    pairs: BTreeMap<Pair, u64>,
    /// Time outside the ranges, summed over all nodes, in seconds.
    beyond_s: f64,
}

/// Diagnoses a run that was read with the profile's invocations, by the semantic method.
///
/// A call of `connect` counts for the pair of its two nodes. A call on a file has no peer: it counts for each pair of its node.
/// A cause is reported if all pairs with the highest scores have one node in common, and only one. If both causes
/// qualify, the cause with more time outside the ranges is reported.
pub fn semantic(run: &Run, settings: &SemanticSettings) -> Answer {
    let method = Method::Semantic;
    if let Some(why) = run.apart() {
        return Answer::silent(method, why);
    }
    if run.form != Form::Calls {
        return Answer::silent(method, "totals do not contain single invocations (logs written with -T -ttt do)");
    }
    if run.nodes.len() < 3 {
        return Answer::silent(method, "comparing pairs needs at least three nodes");
    }
    if run.nodes.iter().all(|node| node.outside.classes.iter().all(|judged| judged.known == 0)) {
        return Answer::silent(method, "the profile contains none of the invocations in these logs");
    }
    let highest = settings.highest_pairs.unwrap_or(run.nodes.len() - 1).max(1);
    let mut found: Vec<(Scores, String)> = [network(run), files(run)]
        .into_iter()
        .filter_map(|scores| isolated(&scores.pairs, highest).map(|node| (scores, node)))
        .collect();
    found.sort_by(|a, b| b.0.beyond_s.total_cmp(&a.0.beyond_s));
    let Some((scores, node)) = found.into_iter().next() else {
        return Answer::silent(method, "the pairs with the highest scores have no node in common");
    };
    let finding = finding(run, &scores, &node);
    Answer::of(method, scores.cause, vec![node], vec![finding])
}

/// Returns the only node that all pairs with the highest scores have in common; none if there is no such node.
fn isolated(pairs: &BTreeMap<Pair, u64>, highest: usize) -> Option<String> {
    let mut scores: Vec<u64> = pairs.values().copied().collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    let least = *scores.get(highest.min(scores.len()).checked_sub(1)?)?;
    if least == 0 {
        return None;
    }
    let top: Vec<&Pair> = pairs.iter().filter(|(_, score)| **score >= least).map(|(pair, _)| pair).collect();
    let in_all: Vec<&String> = top[0].iter().filter(|node| top.iter().all(|pair| pair.contains(node))).collect();
    match in_all.as_slice() {
        [node] => Some((*node).clone()),
        _ => None,
    }
}

fn all_pairs(run: &Run) -> BTreeMap<Pair, u64> {
    let mut pairs = BTreeMap::new();
    for (at, a) in run.nodes.iter().enumerate() {
        for b in &run.nodes[at + 1..] {
            pairs.insert(pair(&a.node, &b.node), 0);
        }
    }
    pairs
}

/// Returns the out-of-range connections between two nodes.
fn network(run: &Run) -> Scores {
    let owners = owners(&run.nodes);
    let mut scores = Scores { cause: Cause::Network, pairs: all_pairs(run), beyond_s: 0.0 };
    for node in &run.nodes {
        for (address, [connects, _]) in &node.outside.peers {
            let Some(peer) = owners.get(address.as_str()) else { continue };
            if let Some(score) = scores.pairs.get_mut(&pair(&node.node, peer)) {
                *score += connects.outside;
                scores.beyond_s += connects.beyond as f64 / SECOND;
            }
        }
    }
    scores
}

fn on_files(node: &NodeCalls) -> Judged {
    let [stat, access] = [CallClass::Stat, CallClass::Access].map(|class| node.outside.class(class));
    Judged {
        known: stat.known + access.known,
        outside: stat.outside + access.outside,
        beyond: stat.beyond.saturating_add(access.beyond),
    }
}

/// Counts the out-of-range file calls of each node, and credits them to every pair that contains the node.
fn files(run: &Run) -> Scores {
    let mut scores = Scores { cause: Cause::Disk, pairs: all_pairs(run), beyond_s: 0.0 };
    for node in &run.nodes {
        let judged = on_files(node);
        scores.beyond_s += judged.beyond as f64 / SECOND;
        let own = scores.pairs.iter_mut().filter(|(pair, _)| pair.contains(&node.node));
        own.for_each(|(_, score)| *score += judged.outside);
    }
    scores
}

fn finding(run: &Run, scores: &Scores, name: &str) -> Finding {
    let of_node = |wanted: bool| {
        let pairs = scores.pairs.iter().filter(move |(pair, _)| pair.iter().any(|node| node == name) == wanted);
        pairs.map(|(_, score)| *score as f64)
    };
    let least = of_node(true).fold(f64::INFINITY, f64::min);
    let most_other = of_node(false).fold(0.0, f64::max);
    let (own, all): (f64, f64) = (of_node(true).sum(), scores.pairs.values().map(|score| *score as f64).sum());
    let judged = run.node(name).map(|node| match scores.cause {
        Cause::Network => node.outside.class(CallClass::Connect),
        _ => on_files(node),
    });
    let judged = judged.unwrap_or_default();
    let what = if scores.cause == Cause::Network { "connections" } else { "calls on files" };
    Finding {
        method: Method::Semantic.of_findings(),
        subject: Subject::Node { node: name.to_owned() },
        from: None,
        to: None,
        at_least: false,
        first_wave: false,
        cause: scores.cause,
        score: least,
        threshold: most_other,
        confidence: if all > 0.0 { own / all } else { 0.0 },
        evidence: vec![
            Evidence {
                what: format!(
                    "number of {what} with a time outside the profile's ranges, compared with all {what} that the profile covers"
                ),
                value: judged.outside as f64,
                usual: judged.known as f64,
                unit: "".into(),
            },
            Evidence {
                what: format!("total time by which {what} are outside the profile's ranges"),
                value: judged.beyond as f64 / SECOND,
                usual: 0.0,
                unit: "s".into(),
            },
        ],
    }
}
