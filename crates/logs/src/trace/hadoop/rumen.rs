//! Rumen: a JSON object for each job, one after the other, which contains its tasks and attempts. A job may have millions of attempts, so its lists
//! are read entry by entry. Unknown numbers are -1.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::trace::builder::Builder;
use crate::trace::error::TraceError;
use crate::trace::hadoop::history::{AttemptFacts, History, JobFacts, progress};
use crate::trace::input::{Lines, StreamState};
use crate::trace::loose::{Number, Text, or_default};
use crate::trace::metric::{Metric, Metrics};
use crate::trace::warning::WarningKind;

/// State while a trace is read.
struct Reader<'b> {
    history: History,
    builder: &'b mut Builder,
    state: StreamState,
    /// Reason for ending the reading early: the limit on attempts.
    refused: Option<TraceError>,
}

/// Reads a trace. If a job is damaged, the data before the damage are kept.
pub(in crate::trace) fn read(lines: Lines<'_>, builder: &mut Builder) -> Result<Option<u64>, TraceError> {
    let mut stream = lines.into_stream();
    stream.open()?;
    let state = stream.state();
    let mut reader = Reader { history: History::default(), builder, state: state.clone(), refused: None };
    let mut json = serde_json::Deserializer::from_reader(stream);
    let mut first_bad = None;
    loop {
        let at_end = json.end().is_ok();
        if at_end {
            break;
        }
        // folded traces hold the same job several times
        reader.history.next_job();
        let read = JobSeed(&mut reader).deserialize(&mut json);
        if let Some(refused) = reader.refused.take() {
            return Err(refused);
        }
        if let Err(error) = read {
            first_bad = Some(error.line() as u64);
            reader.note(&error, &state);
            break;
        }
        reader.builder.reading.events += 1;
    }
    let Reader { history, builder, .. } = reader;
    builder.reading.bytes = state.bytes();
    builder.reading.text_bytes = state.text_bytes();
    builder.reading.lines = state.line().saturating_sub(1);
    history.close(builder)?;
    Ok(first_bad)
}

impl Reader<'_> {
    /// Records the reason why the text cannot be read further.
    fn note(&mut self, error: &serde_json::Error, state: &StreamState) {
        self.builder.at.line = error.line() as u64;
        match state.take_damage().as_deref() {
            Some("stopped") => self.builder.reading.partial = true,
            Some(damage) => self.builder.warn(WarningKind::CutFile, || damage.to_owned()),
            None => {
                let kind = if error.is_eof() { WarningKind::CutLastLine } else { WarningKind::BadLine };
                self.builder.reading.bad_lines += 1;
                self.builder.warn(kind, || error.to_string());
            }
        }
    }
}

/// Reads the object of a job.
struct JobSeed<'r, 'b>(&'r mut Reader<'b>);

impl<'de> DeserializeSeed<'de> for JobSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// Facts about a job, except its tasks.
#[derive(Default)]
struct Job {
    id: String,
    name: String,
    user: String,
    outcome: String,
    submit: Number,
    launch: Number,
    finish: Number,
    maps: Number,
    reduces: Number,
}

impl Job {
    fn tell(&self, history: &mut History, builder: &mut Builder) {
        let time = |number: Number| number.value().unwrap_or(0);
        let tasks = |number: Number| number.value().and_then(|tasks| u32::try_from(tasks).ok());
        let facts = JobFacts {
            id: &self.id,
            name: &self.name,
            user: &self.user,
            submitted: time(self.submit),
            launched: time(self.launch),
            finished: time(self.finish),
            maps: tasks(self.maps),
            reduces: tasks(self.reduces),
            status: &self.outcome,
        };
        history.job(&facts, builder);
    }
}

impl<'de> Visitor<'de> for JobSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a job")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.0;
        let mut job = Job::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "jobID" => job.id = map.next_value::<Text<'_>>()?.0.into_owned(),
                "jobName" => job.name = map.next_value::<Text<'_>>()?.0.into_owned(),
                "user" => job.user = map.next_value::<Text<'_>>()?.0.into_owned(),
                "outcome" => job.outcome = map.next_value::<Text<'_>>()?.0.into_owned(),
                "submitTime" => job.submit = map.next_value()?,
                "launchTime" => job.launch = map.next_value()?,
                "finishTime" => job.finish = map.next_value()?,
                "totalMaps" => job.maps = map.next_value()?,
                "totalReduces" => job.reduces = map.next_value()?,
                "mapTasks" | "reduceTasks" | "otherTasks" => map.next_value_seed(TasksSeed(&mut *reader))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        reader.builder.at.line = reader.state.line();
        job.tell(&mut reader.history, reader.builder);
        Ok(())
    }
}

/// Reads a list of tasks; each is dropped after its attempts are added to the trace.
struct TasksSeed<'r, 'b>(&'r mut Reader<'b>);

impl<'de> DeserializeSeed<'de> for TasksSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TasksSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Reader { history, builder, state, refused } = self.0;
        while let Some(task) = list.next_element::<Task<'_>>()? {
            builder.at.line = state.line();
            if let Err(error) = task.tell(history, builder) {
                *refused = Some(error);
                return Err(A::Error::custom("the limit on attempts"));
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Task<'a> {
    #[serde(rename = "taskID", borrow, default)]
    id: Text<'a>,
    #[serde(rename = "taskType", borrow, default)]
    kind: Text<'a>,
    #[serde(rename = "startTime", default)]
    start: Number,
    #[serde(rename = "finishTime", default)]
    finish: Number,
    #[serde(borrow, default, deserialize_with = "or_default")]
    attempts: Vec<TaskAttempt<'a>>,
}

impl Task<'_> {
    fn tell(&self, history: &mut History, builder: &mut Builder) -> Result<(), TraceError> {
        let time = |number: Number| number.value().unwrap_or(0);
        let kind = self.kind.as_str();
        history.task(self.id.as_str(), kind, time(self.start), time(self.finish), builder);
        self.attempts.iter().try_for_each(|attempt| attempt.tell(kind, history, builder))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskAttempt<'a> {
    #[serde(rename = "attemptID", borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    result: Text<'a>,
    #[serde(rename = "hostName", borrow)]
    host: Text<'a>,
    #[serde(rename = "startTime")]
    start: Number,
    #[serde(rename = "finishTime")]
    finish: Number,
    #[serde(rename = "mapFinished")]
    map_finish: Number,
    #[serde(rename = "shuffleFinished")]
    shuffle_finish: Number,
    #[serde(rename = "sortFinished")]
    sort_finish: Number,
    #[serde(rename = "hdfsBytesRead")]
    hdfs_read: Number,
    #[serde(rename = "hdfsBytesWritten")]
    hdfs_written: Number,
    #[serde(rename = "fileBytesRead")]
    file_read: Number,
    #[serde(rename = "fileBytesWritten")]
    file_written: Number,
    #[serde(rename = "mapInputRecords")]
    map_input_records: Number,
    #[serde(rename = "mapOutputBytes")]
    map_output_bytes: Number,
    #[serde(rename = "mapOutputRecords")]
    map_output_records: Number,
    #[serde(rename = "reduceInputRecords")]
    reduce_input_records: Number,
    #[serde(rename = "reduceShuffleBytes")]
    reduce_shuffle_bytes: Number,
    #[serde(rename = "reduceOutputRecords")]
    reduce_output_records: Number,
    #[serde(rename = "spilledRecords")]
    spilled: Number,
    #[serde(rename = "clockSplits", deserialize_with = "or_default")]
    clock_splits: Vec<Number>,
}

impl TaskAttempt<'_> {
    fn tell(&self, kind: &str, history: &mut History, builder: &mut Builder) -> Result<(), TraceError> {
        let time = |number: Number| number.value().unwrap_or(0);
        let facts = AttemptFacts {
            id: self.id.as_str(),
            kind,
            start: time(self.start),
            finish: time(self.finish),
            map_finish: time(self.map_finish),
            shuffle_finish: time(self.shuffle_finish),
            sort_finish: time(self.sort_finish),
            host: self.host.as_str(),
            rack: "",
            locality: "",
            avataar: "",
            status: self.result.as_str(),
        };
        let mut metrics = self.metrics(builder);
        let splits: Vec<i64> = self.clock_splits.iter().map(|split| split.value().unwrap_or(-1)).collect();
        progress(&splits, &mut metrics);
        history.end(&facts, &mut metrics, builder)
    }

    fn metrics(&self, builder: &mut Builder) -> Metrics {
        let all = [
            (Metric::InputBytes, self.hdfs_read),
            (Metric::OutputBytes, self.hdfs_written),
            (Metric::LocalReadBytes, self.file_read),
            (Metric::LocalWriteBytes, self.file_written),
            (Metric::InputRecords, self.map_input_records),
            (Metric::ShuffleWriteBytes, self.map_output_bytes),
            (Metric::ShuffleWriteRecords, self.map_output_records),
            (Metric::ShuffleReadRecords, self.reduce_input_records),
            (Metric::ShuffleRemoteBytes, self.reduce_shuffle_bytes),
            (Metric::OutputRecords, self.reduce_output_records),
            (Metric::SpilledRecords, self.spilled),
        ];
        let mut metrics = Metrics::default();
        for (metric, number) in all {
            match number {
                Number::None | Number::Is(-1) => {}
                Number::Is(value) if value >= 0 => metrics.set(metric, value.unsigned_abs()),
                other => builder.warn(WarningKind::BadCounter, || format!("{}: {other:?}", metric.key())),
            }
        }
        metrics
    }
}
