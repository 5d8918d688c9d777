//! The causes of a job's slow tasks, from its log and the samples of its nodes, with what was read and what is missing.

use crate::diagnose::causes::clocks::clock_hint;
use crate::diagnose::causes::findings::{RootCauses, root_causes};
use crate::diagnose::causes::map_to_complete::map_to_complete;
use crate::diagnose::causes::nodes::{CpuShare, NodeMap, NodeMeters, Unmapped, meters_of};
use crate::diagnose::causes::pool::PoolOptions;
use crate::diagnose::causes::rules::Rules;
use crate::diagnose::inputs::{InputFindings, InputKind, UsedInput};
use crate::diagnose::samples::Samples;
use crate::trace::JobTrace;

/// Settings of the search for causes.
#[derive(Clone, Debug, Default)]
pub struct CauseSettings {
    /// Hosts and devices of the nodes, and corrections of their clocks.
    pub map: NodeMap,
    /// The part of the CPU time that counts as load.
    pub cpu: CpuShare,
    /// Time around a task that is compared.
    pub pool: PoolOptions,
    /// Rules that decide on a cause.
    pub rules: Rules,
}

/// Causes in a log.
#[derive(Debug)]
pub struct LogCauses {
    /// Inputs that were read, missing data, and warnings.
    pub inputs: InputFindings,
    /// The causes.
    pub causes: RootCauses,
    /// A node map to complete, if samples could not be assigned to nodes.
    pub map_to_complete: Option<String>,
}

/// Finds the causes of the slow tasks in a log. The samples may be empty.
pub fn causes_of_log(trace: &JobTrace, samples: &Samples, settings: &CauseSettings) -> LogCauses {
    let (meters, unmapped) = if samples.series.is_empty() {
        (vec![NodeMeters::default(); trace.nodes.len()], Vec::new())
    } else {
        meters_of(trace, samples, &settings.map, settings.cpu)
    };
    let lacks = trace.nodes.iter().zip(&meters).filter(|(_, meters)| meters.is_empty());
    let nodes: Vec<&str> = lacks.map(|(node, _)| node.name.as_str()).collect();
    let map_to_complete = map_to_complete(&nodes, samples, &settings.map);
    let causes = root_causes(trace, &meters, &settings.pool, &settings.rules);
    LogCauses { inputs: read_of_log(trace, samples, &meters, unmapped), causes, map_to_complete }
}

/// Lists the parts of the log and the samples that were read, and the missing parts.
fn read_of_log(trace: &JobTrace, samples: &Samples, meters: &[NodeMeters], unmapped: Vec<Unmapped>) -> InputFindings {
    let taken = format!("{} attempts of tasks on {} nodes", trace.attempts().len(), trace.nodes.len());
    let mut used = vec![UsedInput { kind: InputKind::Log, name: trace.files.join(", "), taken }];
    used.extend(samples.files.iter().filter(|file| file.series > 0).map(|file| UsedInput {
        kind: InputKind::Samples,
        name: file.name.clone(),
        taken: format!("{} series, {} rows of {}", file.series, file.rows, file.format.text()),
    }));
    let missing = unmapped.into_iter().map(|node| match node.node.as_str() {
        "" => node.reason,
        name => format!("node {name}: {}", node.reason),
    });
    let missing = missing.collect();
    let mut warnings: Vec<String> =
        trace.warnings.iter().map(|warning| format!("{}: {warning}", trace.place(warning.first))).collect();
    warnings.extend(samples.warnings.iter().map(ToString::to_string));
    warnings.extend(clocks(trace, meters));
    InputFindings { used, missing, warnings, ..InputFindings::default() }
}

/// Warnings about clocks that disagree, and about samples that miss the job.
fn clocks(trace: &JobTrace, meters: &[NodeMeters]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, (node, meters)) in trace.nodes.iter().zip(meters).enumerate() {
        let of_node = trace.attempts().iter().filter(|attempt| attempt.node.is_some_and(|node| node.index() == index));
        let tasks: Vec<(f64, f64)> =
            of_node.filter_map(|attempt| Some((attempt.launch()?.seconds(), attempt.finish()?.seconds()))).collect();
        let Some((from, to)) = meters.span() else { continue };
        let first = tasks.iter().map(|task| task.0).fold(f64::INFINITY, f64::min);
        let last = tasks.iter().map(|task| task.1).fold(f64::NEG_INFINITY, f64::max);
        if tasks.is_empty() {
            continue;
        }
        if to < first || from > last {
            let (when, off) =
                if to < first { ("before its first task", first - to) } else { ("after its last task", from - last) };
            warnings.push(format!(
                "node {}: all samples are {when}, by {off:.0} s; --utc-offset or --clock-offset may be missing",
                node.name
            ));
            continue;
        }
        if from > first + 1.0 || to < last - 1.0 {
            warnings.push(format!(
                "node {}: the samples cover {:.0} s to {:.0} s of the log, but the tasks ran from {first:.0} s to {last:.0} s",
                node.name, from, to
            ));
        }
        if let Some(hint) = clock_hint(&tasks, meters) {
            warnings.push(format!(
                "node {}: the samples fit the tasks better if shifted by {:+.0} s (correlation {:.2} instead of {:.2}); \
                 add --clock-offset {}={:+.0}",
                node.name, hint.offset, hint.correlation, hint.now, node.name, hint.offset
            ));
        }
    }
    warnings
}
