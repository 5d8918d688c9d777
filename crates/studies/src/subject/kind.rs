//! The kind of a file, from its first bytes: the one place that tells a log from a plan, a net or a result. A reader still decides whether the file is valid.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tailspn_tables::is_table;

use crate::diagnose::long_tail::ProgressReader;
use crate::diagnose::samples::is_samples;
use crate::diagnose::syscalls::is_strace;
use crate::fit::HadoopConf;
use crate::formats::Format as NetFormat;
use crate::trace::compression::first_bytes;
use crate::trace::{Format as LogFormat, log_format};

/// Number of bytes at the start of a file that determine the kind.
const HEAD: u64 = 64 * 1024;

/// A kind of file, or of folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A net in any format that can be read.
    Net,
    /// The plan of a job.
    JobPlan,
    /// The plan of a sweep.
    SweepPlan,
    /// The plan of an optimisation.
    OptimizePlan,
    /// The log of a job, plain or compressed, or a folder or an archive of logs.
    Log(LogFormat),
    /// The configuration of a Hadoop job.
    HadoopConf,
    /// A result that tailspn wrote as JSON.
    Result,
    /// Samples of a node's resources, by sysstat.
    Samples,
    /// A log of system calls, by strace.
    SystemCalls,
    /// Reports of the progress of tasks.
    Progress,
    /// A table of runs, or of their tasks.
    Runs,
    /// Knowledge about a cluster, as `estimate --save-cluster` writes it.
    Cluster,
}

impl FileKind {
    /// Returns the kind of a file, or of a folder of logs; none for a file of another kind, or one that cannot be read.
    pub fn of(path: &Path) -> Option<Self> {
        // the text of sysstat as JSON also looks like a log
        if is_samples(path) {
            return Some(Self::Samples);
        }
        if let Some(format) = log_format(path) {
            return Some(Self::Log(format));
        }
        let mut head = Vec::new();
        File::open(path).ok().filter(|_| path.is_file())?.take(HEAD).read_to_end(&mut head).ok()?;
        let reports = || {
            Self::of_bytes(&first_bytes(path, HEAD).ok()?).filter(|kind| matches!(kind, Self::Progress | Self::Runs))
        };
        // reports, tables and system calls may be compressed
        Self::of_bytes(&head).or_else(reports).or_else(|| is_strace(path).then_some(Self::SystemCalls))
    }

    /// Returns the kind of a text in memory by its first bytes; none for logs, samples and system calls, which are read from files.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(HEAD as usize)];
        match NetFormat::sniff(head) {
            Some(NetFormat::Svg | NetFormat::Dot) => return None,
            Some(_) => return Some(Self::Net),
            None => {}
        }
        let text = String::from_utf8_lossy(head);
        if HadoopConf::is_meant(head) && text.contains("<configuration") {
            return Some(Self::HadoopConf);
        }
        // a damaged plan, or the head of a long one, shows its kind by its lines
        let table = text.parse::<toml::Table>().ok().filter(|table| !table.is_empty());
        let has = |section: &str| match &table {
            Some(table) => table.contains_key(section.trim_matches(['[', ']'])),
            None => text.lines().any(|line| line.trim_start().starts_with(section)),
        };
        if text.trim_start().starts_with('{') && text.contains("\"format_version\"") && text.contains("\"kind\"") {
            Some(Self::Result)
        } else if text.trim_start().starts_with('{') && text.contains("\"most_executors\"") {
            Some(Self::Cluster)
        } else if has("[optimize]") {
            Some(Self::OptimizePlan)
        } else if has("[sweep]") || has("[[axis]]") {
            Some(Self::SweepPlan)
        } else {
            let is_plan = ["[job]", "[[job]]", "[profile]", "[[stage]]", "[cluster]"].into_iter().any(has);
            let is_progress = || ProgressReader::is_meant(&text).then_some(Self::Progress);
            let is_table = || is_table(head).then_some(Self::Runs);
            is_plan.then_some(Self::JobPlan).or_else(is_progress).or_else(is_table)
        }
    }

    /// Returns true for a log.
    pub fn is_log(self) -> bool {
        matches!(self, Self::Log(_))
    }

    /// Returns true for records of a run: logs, samples, system calls and progress reports.
    pub fn is_of_a_run(self) -> bool {
        self.is_log() || matches!(self, Self::Samples | Self::SystemCalls | Self::Progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_their_kind() {
        let of = |text: &str| FileKind::of_bytes(text.as_bytes());
        assert_eq!(of("<?xml version=\"1.0\"?><pnml><net/></pnml>"), Some(FileKind::Net));
        assert_eq!(of("<?xml version=\"1.0\"?>\n<configuration>"), Some(FileKind::HadoopConf));
        assert_eq!(of("# mine\n[job]\nmaps = 3\n"), Some(FileKind::JobPlan));
        assert_eq!(of("[ job ]\nmaps = 3\n"), Some(FileKind::JobPlan));
        assert_eq!(of("job.input_mb = 640\n"), Some(FileKind::JobPlan));
        assert_eq!(of("optimize.deadline_s = 9\n"), Some(FileKind::OptimizePlan));
        assert_eq!(of("[[job]]\nmaps = 3 =\n"), Some(FileKind::JobPlan));
        assert_eq!(of("[sweep]\nbase = \"a.toml\"\n"), Some(FileKind::SweepPlan));
        assert_eq!(of("[sweep]\n[optimize]\n"), Some(FileKind::OptimizePlan));
        assert_eq!(of("{\"format_version\": 1, \"kind\": \"estimate\"}"), Some(FileKind::Result));
        assert_eq!(of("kind\tpartition\tt_ms\tdone\ttotal\n"), Some(FileKind::Progress));
        assert_eq!(of("nodes,runtime\n2,30\n"), Some(FileKind::Runs));
        assert_eq!(of("maps: 3\n"), None);
        assert_eq!(of(""), None);
    }
}
