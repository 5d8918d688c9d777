//! A run: the logs of its nodes, and obstacles to judging them together.

use crate::diagnose::syscalls::cut::{Incomplete, incomplete};
use crate::diagnose::syscalls::error::SyscallError;
use crate::diagnose::syscalls::observed::{Form, NodeCalls};

/// The nodes of one run with their calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name: the folder, or the first file.
    pub name: String,
    /// Nodes in the order of their names, all of one form that can be judged.
    pub nodes: Vec<NodeCalls>,
    /// The form of the nodes' logs.
    pub form: Form,
    /// Excluded nodes, files that are not logs, and other reasons to doubt the results.
    pub notes: Vec<String>,
}

impl Run {
    /// Joins nodes, and excludes nodes that cannot be judged together with the other nodes.
    ///
    /// # Errors
    ///
    /// [`SyscallError::TwoLogs`], [`SyscallError::NothingToJudge`].
    pub fn of(name: String, mut nodes: Vec<NodeCalls>, mut notes: Vec<String>) -> Result<Self, SyscallError> {
        nodes.sort_by(|a, b| (&a.node, &a.file).cmp(&(&b.node, &b.file)));
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0].node == pair[1].node) {
            let [first, second] = [0, 1].map(|i: usize| pair[i].file.clone());
            return Err(SyscallError::TwoLogs { node: pair[0].node.clone(), first, second });
        }
        let count = |form: Form| nodes.iter().filter(|node| node.form == form).count();
        let form = if count(Form::Calls) >= count(Form::WallTotals) { Form::Calls } else { Form::WallTotals };
        if count(form) == 0 {
            let forms: std::collections::BTreeSet<&str> = nodes.iter().map(|node| node.form.text()).collect();
            let why = format!("the logs contain only {}", forms.into_iter().collect::<Vec<_>>().join(" and "));
            return Err(SyscallError::NothingToJudge { why });
        }
        nodes.retain(|node| {
            if node.form != form {
                let text = node.form.text();
                notes
                    .push(format!("{}: unlike the other logs, its log has {text}; this node is not judged", node.node));
            }
            node.form == form
        });
        nodes = without_incomplete(nodes, &mut notes)?;
        notes.extend(nodes.iter().filter_map(not_waited));
        notes.extend(apart(&nodes));
        Ok(Self { name, nodes, form, notes })
    }

    /// Returns the reason why the logs cannot be of one run: the logs of two nodes do not overlap in time. No method judges such nodes together.
    pub fn apart(&self) -> Option<String> {
        apart(&self.nodes)
    }

    /// Returns a node by its name.
    pub fn node(&self, name: &str) -> Option<&NodeCalls> {
        self.nodes.iter().find(|node| node.node == name)
    }
}

/// Marks or excludes the nodes with truncated logs. Logs that do not overlap are all kept: see [`Run::apart`].
fn without_incomplete(mut nodes: Vec<NodeCalls>, notes: &mut Vec<String>) -> Result<Vec<NodeCalls>, SyscallError> {
    if apart(&nodes).is_some() {
        return Ok(nodes);
    }
    let found = incomplete(&nodes);
    notes.extend(found.iter().map(|found| found.note.clone()));
    // the last one first, so that the other indices stay valid
    for Incomplete { node, is_judged, .. } in found.into_iter().rev() {
        if is_judged {
            nodes[node].ends_early = true;
        } else {
            nodes.remove(node);
        }
    }
    if nodes.is_empty() {
        return Err(SyscallError::NothingToJudge { why: "the logs of all nodes were truncated".to_owned() });
    }
    Ok(nodes)
}

/// Returns a note on connections whose time is not in the log.
fn not_waited(node: &NodeCalls) -> Option<String> {
    let name = &node.node;
    let count = node.not_waited;
    (count > 0)
        .then(|| format!("{name}: {count} connections were asynchronous (EINPROGRESS): their time is not in the log"))
}

/// Returns a note on logs that do not overlap in time: they are of different runs, or of clocks that disagree.
fn apart(nodes: &[NodeCalls]) -> Option<String> {
    let spans: Vec<(&str, [f64; 2])> = nodes.iter().filter_map(|n| Some((n.node.as_str(), n.span?))).collect();
    let (late, [from, _]) = spans.iter().max_by(|a, b| a.1[0].total_cmp(&b.1[0]))?;
    let (early, [_, to]) = spans.iter().min_by(|a, b| a.1[1].total_cmp(&b.1[1]))?;
    (from > to).then(|| {
        format!(
            "the log of {early} ends {:.1} s before the log of {late} starts: they are from different runs, or clocks disagree",
            from - to
        )
    })
}
