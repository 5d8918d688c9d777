//! The baseline: results of control runs, per node, and the ranges derived from them \[Khadke2012, 4.1\].

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::error::SyscallError;
use crate::diagnose::syscalls::invocation::{Extremes, Matching};
use crate::diagnose::syscalls::observed::{ClassCalls, Form, NodeCalls};
use crate::diagnose::syscalls::pairs::{Pairs, pairs_of};
use crate::diagnose::syscalls::run::Run;
use crate::diagnose::syscalls::settings::DataFolders;
use crate::diagnose::syscalls::tally::{Buckets, Tally};

/// Version of the file format; it is increased when a key changes its meaning.
const FORMAT_VERSION: u32 = 1;

/// Results of control runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the file format.
    format_version: u32,
    /// Intervals that times were sorted into.
    pub buckets: Buckets,
    /// Paths that hold data.
    pub data: DataFolders,
    /// Criterion for equal invocations.
    pub matching: Matching,
    /// The runs.
    pub runs: Vec<ControlRun>,
    /// The extremes of each invocation over all runs, per node.
    extremes: BTreeMap<String, Extremes>,
}

/// One control run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlRun {
    /// Name of the run.
    pub name: String,
    /// The form of the run's logs. Runs are only compared with control runs of the same form.
    pub form: Form,
    /// Nodes.
    pub nodes: Vec<ControlNode>,
    /// Connections between the nodes.
    pub pairs: Pairs,
}

/// One node of a control run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlNode {
    /// Name.
    pub node: String,
    /// Calls by class.
    pub classes: [ClassCalls; 7],
    /// Calls on files with data.
    pub data_files: Tally,
    /// Blocking connections.
    pub connects: Tally,
}

impl ControlNode {
    fn of(node: &NodeCalls) -> Self {
        Self {
            node: node.node.clone(),
            classes: node.classes.clone(),
            data_files: node.data_files,
            connects: node.connects(),
        }
    }
}

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
}

impl Range {
    /// Returns true if a value is outside the range.
    pub fn excludes(self, value: f64) -> bool {
        value < self.low || value > self.high
    }

    /// Returns the distance of a value outside the range; 0 inside.
    pub fn beyond(self, value: f64) -> f64 {
        (self.low - value).max(value - self.high).max(0.0)
    }

    fn over(values: impl Iterator<Item = f64>) -> Option<Self> {
        values.fold(None, |range: Option<Self>, value| {
            let range = range.unwrap_or(Self { low: value, high: value });
            Some(Self { low: range.low.min(value), high: range.high.max(value) })
        })
    }
}

impl Profile {
    /// Builds a profile from control runs.
    pub fn of<'r>(
        runs: impl IntoIterator<Item = &'r Run>,
        buckets: Buckets,
        data: DataFolders,
        matching: Matching,
    ) -> Self {
        let mut profile = Self {
            format_version: FORMAT_VERSION,
            buckets,
            data,
            matching,
            runs: Vec::new(),
            extremes: BTreeMap::new(),
        };
        for run in runs {
            for node in &run.nodes {
                profile.extremes.entry(node.node.clone()).or_default().merge(&node.extremes);
            }
            let nodes = run.nodes.iter().map(ControlNode::of).collect();
            profile.runs.push(ControlRun {
                name: run.name.clone(),
                form: run.form,
                nodes,
                pairs: pairs_of(&run.nodes),
            });
        }
        profile
    }

    /// Reads a profile from the text of its file; `file` is the file's name in messages.
    ///
    /// # Errors
    ///
    /// [`SyscallError::BadProfile`].
    pub fn parse(text: &str, file: &str) -> Result<Self, SyscallError> {
        let bad = |what: String| SyscallError::BadProfile { file: file.to_owned(), what };
        let profile: Self = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if profile.format_version != FORMAT_VERSION {
            return Err(bad(format!(
                "format version {} is not supported; expected {FORMAT_VERSION}",
                profile.format_version
            )));
        }
        if !profile.buckets.is_valid() {
            return Err(bad("buckets need first_s > 0 and factor >= 1.1".to_owned()));
        }
        Ok(profile)
    }

    /// Returns the profile as the text of a file.
    ///
    /// # Errors
    ///
    /// If JSON cannot express it, which does not happen.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|text| text + "\n")
    }

    /// Returns the extremes of the invocations of a node.
    pub fn extremes_of(&self, node: &str) -> Option<&Extremes> {
        self.extremes.get(node).filter(|extremes| !extremes.is_empty())
    }

    /// Returns the runs of a form.
    pub fn runs_of(&self, form: Form) -> impl Iterator<Item = &ControlRun> {
        self.runs.iter().filter(move |run| run.form == form)
    }

    fn nodes<'p>(&'p self, form: Form, node: &'p str) -> impl Iterator<Item = &'p ControlNode> {
        self.runs_of(form).filter_map(move |run| run.nodes.iter().find(|found| found.node == node))
    }

    /// Returns true if a control run of a form contains a node.
    pub fn knows(&self, form: Form, node: &str) -> bool {
        self.nodes(form, node).next().is_some()
    }

    /// Returns the range of the total time in a class of calls on a node, in seconds; `None` for a node without control run.
    pub fn total(&self, form: Form, node: &str, class: CallClass) -> Option<Range> {
        Range::over(self.nodes(form, node).map(|found| found.classes[class.index()].timed.seconds()))
    }

    /// Returns the range of the mean times of a class of calls over all nodes, in seconds; with `None` as class, of calls on paths with data.
    pub fn mean(&self, form: Form, class: Option<CallClass>) -> Option<Range> {
        let tally = |node: &ControlNode| class.map_or(node.data_files, |class| node.classes[class.index()].timed);
        Range::over(self.runs_of(form).flat_map(|run| &run.nodes).filter_map(|node| tally(node).mean()))
    }

    /// Returns the number of known invocations, over all nodes.
    pub fn invocations(&self) -> usize {
        self.extremes.values().map(Extremes::len).sum()
    }

    /// Returns the range, over the control runs, of a number of calls: the calls of a class on a node whose times lie
    /// in the given interval of the histogram.
    pub fn bucket(&self, form: Form, node: &str, class: CallClass, bucket: usize) -> Option<Range> {
        let count = |found: &ControlNode| found.classes[class.index()].histogram.count(bucket) as f64;
        Range::over(self.nodes(form, node).map(count))
    }
}

impl Serialize for Extremes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sorted: BTreeMap<String, [u64; 2]> = self.sorted();
        sorted.serialize(serializer)
    }
}

impl Extremes {
    /// Returns the entries sorted by key, so that equal profiles have equal text.
    fn sorted(&self) -> BTreeMap<String, [u64; 2]> {
        #[allow(clippy::iter_over_hash_type, reason = "a tree puts them in order")]
        self.0.iter().map(|(key, range)| (format!("{key:016x}"), *range)).collect()
    }
}

impl<'de> Deserialize<'de> for Extremes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: BTreeMap<String, [u64; 2]> = BTreeMap::deserialize(deserializer)?;
        let number = |(key, range): (String, [u64; 2])| {
            let key = u64::from_str_radix(&key, 16).map_err(serde::de::Error::custom)?;
            if range[0] > range[1] {
                return Err(serde::de::Error::custom(format!("{key:016x}: the minimum is above the maximum")));
            }
            Ok((key, range))
        };
        text.into_iter().map(number).collect::<Result<_, _>>().map(Self)
    }
}
