//! The events and fields that the reader needs. Other fields are skipped, so keys of later versions and of vendors do no harm.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::trace::loose::{Number, Text, or_default};
use crate::trace::spark::sql::Accumulable;

/// Returns the name of an event without its package. If the name is the first key, as Spark writes it, the rest of the line is not read.
pub(super) fn name(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for token in ["{", "\"Event\"", ":", "\""] {
        rest = rest.trim_ascii_start().strip_prefix(token.as_bytes())?;
    }
    let end = rest.iter().position(|&byte| byte == b'"')?;
    Some(last_part(&rest[..end]))
}

/// Returns the last part of a name with dots.
fn last_part(name: &[u8]) -> &[u8] {
    name.rsplit(|&byte| byte == b'.').next().unwrap_or(name)
}

/// An event of any kind; only its name is read.
#[derive(Deserialize)]
pub(super) struct AnyEvent<'a> {
    #[serde(rename = "Event", borrow)]
    pub(super) event: Text<'a>,
}

impl AnyEvent<'_> {
    pub(super) fn name(&self) -> &[u8] {
        last_part(self.event.as_str().as_bytes())
    }
}

#[derive(Deserialize)]
pub(super) struct LogStart<'a> {
    #[serde(rename = "Spark Version", borrow, default)]
    pub(super) version: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct ApplicationStart<'a> {
    #[serde(rename = "App Name", borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(rename = "App ID", borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(rename = "App Attempt ID", borrow, default)]
    pub(super) attempt: Text<'a>,
    #[serde(rename = "User", borrow, default)]
    pub(super) user: Text<'a>,
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
}

#[derive(Deserialize)]
pub(super) struct ApplicationEnd {
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
}

#[derive(Deserialize)]
pub(super) struct EnvironmentUpdate<'a> {
    #[serde(rename = "Spark Properties", borrow, default, deserialize_with = "or_default")]
    pub(super) properties: BTreeMap<Text<'a>, Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ExecutorAdded<'a> {
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
    #[serde(rename = "Executor ID", borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(rename = "Executor Info", borrow, default, deserialize_with = "or_default")]
    pub(super) info: ExecutorInfo<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct ExecutorInfo<'a> {
    #[serde(rename = "Host", borrow, default)]
    pub(super) host: Text<'a>,
    #[serde(rename = "Total Cores", default)]
    pub(super) cores: Number,
    #[serde(rename = "Resource Profile Id", default)]
    pub(super) profile: Number,
}

/// Resources that executors and tasks of some stages request.
#[derive(Deserialize)]
pub(super) struct ResourceProfile {
    #[serde(rename = "Resource Profile Id", default)]
    pub(super) id: Number,
    #[serde(rename = "Task Resource Requests", default, deserialize_with = "or_default")]
    pub(super) tasks: TaskRequests,
}

#[derive(Default, Deserialize)]
pub(super) struct TaskRequests {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) cpus: Request,
}

#[derive(Default, Deserialize)]
pub(super) struct Request {
    #[serde(rename = "Amount", default)]
    pub(super) amount: Number,
}

#[derive(Deserialize)]
pub(super) struct ExecutorRemoved<'a> {
    #[serde(rename = "Timestamp", default)]
    pub(super) time: Number,
    #[serde(rename = "Executor ID", borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(rename = "Removed Reason", borrow, default)]
    pub(super) reason: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct JobStart<'a> {
    #[serde(rename = "Job ID", default)]
    pub(super) id: Number,
    #[serde(rename = "Submission Time", default)]
    pub(super) time: Number,
    #[serde(rename = "Stage Infos", borrow, default, deserialize_with = "or_default")]
    pub(super) infos: Vec<StageInfo<'a>>,
    #[serde(rename = "Stage IDs", default, deserialize_with = "or_default")]
    pub(super) stages: Vec<Number>,
    #[serde(rename = "Properties", borrow, default, deserialize_with = "or_default")]
    pub(super) properties: JobProperties<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct JobProperties<'a> {
    #[serde(rename = "spark.job.description", borrow, default)]
    pub(super) description: Text<'a>,
    #[serde(rename = "callSite.short", borrow, default)]
    pub(super) call_site: Text<'a>,
    #[serde(rename = "spark.sql.execution.id", default)]
    pub(super) query: Number,
    #[serde(rename = "streaming.sql.batchId", default)]
    pub(super) batch: Number,
}

#[derive(Deserialize)]
pub(super) struct JobEnd<'a> {
    #[serde(rename = "Job ID", default)]
    pub(super) id: Number,
    #[serde(rename = "Completion Time", default)]
    pub(super) time: Number,
    #[serde(rename = "Job Result", borrow, default, deserialize_with = "or_default")]
    pub(super) result: JobResult<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct JobResult<'a> {
    #[serde(rename = "Result", borrow, default)]
    pub(super) result: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct StageEvent<'a> {
    #[serde(rename = "Stage Info", borrow)]
    pub(super) info: StageInfo<'a>,
}

#[derive(Deserialize)]
pub(super) struct StageInfo<'a> {
    #[serde(rename = "Stage ID", default)]
    pub(super) id: Number,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(super) attempt: Number,
    #[serde(rename = "Stage Name", borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(rename = "Number of Tasks", default)]
    pub(super) tasks: Number,
    #[serde(rename = "Parent IDs", default)]
    pub(super) parents: Option<Vec<Number>>,
    #[serde(rename = "Submission Time", default)]
    pub(super) submitted: Number,
    #[serde(rename = "Completion Time", default)]
    pub(super) completed: Number,
    #[serde(rename = "Failure Reason", borrow, default)]
    pub(super) failure: Text<'a>,
    #[serde(rename = "RDD Info", default, deserialize_with = "or_default")]
    pub(super) datasets: Vec<RddInfo>,
    #[serde(rename = "Accumulables", default, deserialize_with = "or_default")]
    pub(super) accumulables: Vec<Accumulable>,
}

/// A dataset (RDD) of a stage.
#[derive(Deserialize)]
pub(super) struct RddInfo {
    #[serde(rename = "RDD ID", default)]
    pub(super) id: Number,
    #[serde(rename = "Parent IDs", default)]
    pub(super) parents: Option<Vec<Number>>,
    #[serde(rename = "Storage Level", default)]
    pub(super) storage: StorageLevel,
}

/// Where a dataset is stored; an object in most logs, a text such as `NONE` in others.
#[derive(Default)]
pub(super) struct StorageLevel {
    pub(super) memory: bool,
    pub(super) disk: bool,
}

impl<'de> Deserialize<'de> for StorageLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StorageVisitor)
    }
}

struct StorageVisitor;

impl<'de> Visitor<'de> for StorageVisitor {
    type Value = StorageLevel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a storage level")
    }

    fn visit_str<E>(self, text: &str) -> Result<StorageLevel, E> {
        let has = |word: &str| text.to_ascii_lowercase().contains(word);
        Ok(StorageLevel { memory: has("memory"), disk: has("disk") })
    }

    fn visit_unit<E>(self) -> Result<StorageLevel, E> {
        Ok(StorageLevel::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StorageLevel, A::Error> {
        let mut level = StorageLevel::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_str() {
                "Use Memory" => level.memory = map.next_value::<Option<bool>>()?.unwrap_or(false),
                "Use Disk" => level.disk = map.next_value::<Option<bool>>()?.unwrap_or(false),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(level)
    }
}

#[derive(Deserialize)]
pub(super) struct TaskEvent<'a> {
    #[serde(rename = "Stage ID", default)]
    pub(super) stage: Number,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(super) stage_attempt: Number,
    #[serde(rename = "Task Type", borrow, default)]
    pub(super) kind: Text<'a>,
    #[serde(rename = "Task End Reason", borrow, default, deserialize_with = "or_default")]
    pub(super) reason: EndReason<'a>,
    #[serde(rename = "Task Info", borrow)]
    pub(super) info: TaskInfo<'a>,
    #[serde(rename = "Task Metrics", default)]
    pub(super) metrics: Option<TaskMetrics>,
}

#[derive(Default, Deserialize)]
pub(super) struct EndReason<'a> {
    #[serde(rename = "Reason", borrow, default)]
    pub(super) reason: Text<'a>,
    #[serde(rename = "Kill Reason", borrow, default)]
    pub(super) kill_reason: Text<'a>,
}

#[derive(Deserialize)]
pub(super) struct TaskInfo<'a> {
    #[serde(rename = "Task ID", default)]
    pub(super) id: Number,
    #[serde(rename = "Index", default)]
    pub(super) index: Number,
    #[serde(rename = "Attempt", default)]
    pub(super) attempt: Number,
    #[serde(rename = "Launch Time", default)]
    pub(super) launch: Number,
    #[serde(rename = "Finish Time", default)]
    pub(super) finish: Number,
    #[serde(rename = "Getting Result Time", default)]
    pub(super) getting_result: Number,
    #[serde(rename = "Executor ID", borrow, default)]
    pub(super) executor: Text<'a>,
    #[serde(rename = "Host", borrow, default)]
    pub(super) host: Text<'a>,
    #[serde(rename = "Locality", borrow, default)]
    pub(super) locality: Text<'a>,
    #[serde(rename = "Speculative", default, deserialize_with = "or_default")]
    pub(super) speculative: bool,
    #[serde(rename = "Accumulables", borrow, default, deserialize_with = "or_default")]
    pub(super) measures: Measures<'a>,
}

/// RAPIDS metrics among the accumulables of a task, by name. The other accumulables, which may be hundreds, are read and dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct Measures<'a>(pub(super) Vec<(Text<'a>, Text<'a>)>);

#[derive(Deserialize)]
struct Measure<'a> {
    #[serde(rename = "Name", borrow, default)]
    name: Text<'a>,
    #[serde(rename = "Update", borrow, default)]
    update: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Measures<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(MeasuresVisitor(PhantomData))
    }
}

struct MeasuresVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for MeasuresVisitor<'a> {
    type Value = Measures<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of accumulables")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Measures<'a>, A::Error> {
        let mut kept = Vec::new();
        while let Some(Measure { name, update }) = seq.next_element::<Measure<'a>>()? {
            if name.as_str().starts_with("gpu") {
                kept.push((name, update));
            }
        }
        Ok(Measures(kept))
    }
}

#[derive(Default, Deserialize)]
pub(super) struct TaskMetrics {
    #[serde(rename = "Executor Deserialize Time", default)]
    pub(super) deserialize: Number,
    #[serde(rename = "Executor Run Time", default)]
    pub(super) run: Number,
    #[serde(rename = "Executor CPU Time", default)]
    pub(super) cpu_ns: Number,
    #[serde(rename = "Result Serialization Time", default)]
    pub(super) serialize_result: Number,
    #[serde(rename = "JVM GC Time", default)]
    pub(super) gc: Number,
    #[serde(rename = "Result Size", default)]
    pub(super) result_bytes: Number,
    #[serde(rename = "Peak Execution Memory", default)]
    pub(super) peak_memory: Number,
    #[serde(rename = "Memory Bytes Spilled", default)]
    pub(super) memory_spilled: Number,
    #[serde(rename = "Disk Bytes Spilled", default)]
    pub(super) disk_spilled: Number,
    #[serde(rename = "Shuffle Read Metrics", default, deserialize_with = "or_default")]
    pub(super) shuffle_read: ShuffleRead,
    #[serde(rename = "Shuffle Write Metrics", default, deserialize_with = "or_default")]
    pub(super) shuffle_write: ShuffleWrite,
    #[serde(rename = "Input Metrics", default, deserialize_with = "or_default")]
    pub(super) input: Input,
    #[serde(rename = "Output Metrics", default, deserialize_with = "or_default")]
    pub(super) output: Output,
}

#[derive(Default, Deserialize)]
pub(super) struct ShuffleRead {
    #[serde(rename = "Remote Bytes Read", default)]
    pub(super) remote: Number,
    #[serde(rename = "Local Bytes Read", default)]
    pub(super) local: Number,
    #[serde(rename = "Fetch Wait Time", default)]
    pub(super) wait: Number,
    #[serde(rename = "Total Records Read", default)]
    pub(super) records: Number,
}

#[derive(Default, Deserialize)]
pub(super) struct ShuffleWrite {
    #[serde(rename = "Shuffle Bytes Written", default)]
    pub(super) bytes: Number,
    #[serde(rename = "Shuffle Write Time", default)]
    pub(super) time_ns: Number,
    #[serde(rename = "Shuffle Records Written", default)]
    pub(super) records: Number,
}

#[derive(Default, Deserialize)]
pub(super) struct Input {
    #[serde(rename = "Bytes Read", default)]
    pub(super) bytes: Number,
    #[serde(rename = "Records Read", default)]
    pub(super) records: Number,
}

#[derive(Default, Deserialize)]
pub(super) struct Output {
    #[serde(rename = "Bytes Written", default)]
    pub(super) bytes: Number,
    #[serde(rename = "Records Written", default)]
    pub(super) records: Number,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_and_without_packages_and_blanks() {
        assert_eq!(name(b"{\"Event\":\"SparkListenerTaskEnd\",\"x\":1}"), Some(b"SparkListenerTaskEnd".as_slice()));
        let sql = b" { \"Event\" : \"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\" }";
        assert_eq!(name(sql), Some(b"SparkListenerSQLExecutionEnd".as_slice()));
        for other in ["", "{", "{\"Event\"", "{\"Event\":\"cut", "{\"Timestamp\":1,\"Event\":\"x\"}"] {
            assert_eq!(name(other.as_bytes()), None, "{other}");
        }
    }
}
