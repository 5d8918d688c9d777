//! The job history since 0.21: a line `Avro-Json`, a line with the schema, then one event per line, with blank lines between. Optional values are
//! plain or in an object with their type, depending on the version.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::trace::builder::Builder;
use crate::trace::error::TraceError;
use crate::trace::hadoop::counters::count;
use crate::trace::hadoop::history::{AttemptFacts, History, JobFacts, progress};
use crate::trace::input::Lines;
use crate::trace::loose::{Number, Text, or_default};
use crate::trace::metric::Metrics;
use crate::trace::warning::WarningKind;

/// Reads a history; returns the number of the first line that does not parse.
pub(in crate::trace) fn read(lines: &mut Lines<'_>, builder: &mut Builder) -> Result<Option<u64>, TraceError> {
    let mut history = History::default();
    let mut first_bad = None;
    let mut schema_is_next = false;
    while lines.next(builder)? {
        let line = lines.line().trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() || std::mem::take(&mut schema_is_next) {
            continue;
        }
        if line.starts_with(b"Avro-Json") {
            schema_is_next = true;
            continue;
        }
        if let Ok(event) = serde_json::from_slice::<Event<'_>>(line) {
            builder.reading.events += 1;
            take_in(&event, &mut history, builder)?;
            continue;
        }
        first_bad = first_bad.or(Some(builder.at.line));
        builder.reading.bad_lines += 1;
        let kind = if lines.is_cut() { WarningKind::CutLastLine } else { WarningKind::BadLine };
        builder.warn(kind, || String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned());
    }
    history.close(builder)?;
    Ok(first_bad)
}

fn take_in(event: &Event<'_>, history: &mut History, builder: &mut Builder) -> Result<(), TraceError> {
    let fields = &event.event.0;
    let kind = event.kind.as_str();
    match kind {
        "JOB_SUBMITTED" | "JOB_INITED" | "JOB_INFO_CHANGED" => history.job(&fields.job(""), builder),
        "JOB_FINISHED" => history.job(&fields.job("SUCCEEDED"), builder),
        "JOB_FAILED" | "JOB_KILLED" | "JOB_ERROR" => history.job(&fields.job(fields.job_status.as_str()), builder),
        "TASK_STARTED" | "TASK_FINISHED" | "TASK_FAILED" => {
            let time = |number: Number| number.value().unwrap_or(0);
            let (id, kind) = (fields.task.as_str(), fields.task_type.as_str());
            history.task(id, kind, time(fields.start), time(fields.finish), builder);
        }
        _ if kind.ends_with("_ATTEMPT_STARTED") => history.start(&fields.attempt(""), builder),
        _ if kind.ends_with("_ATTEMPT_FINISHED") => end(&fields.attempt("SUCCEEDED"), fields, history, builder)?,
        _ if kind.ends_with("_ATTEMPT_FAILED") => end(&fields.attempt("FAILED"), fields, history, builder)?,
        _ if kind.ends_with("_ATTEMPT_KILLED") => end(&fields.attempt("KILLED"), fields, history, builder)?,
        // other events are not needed
        _ => {}
    }
    Ok(())
}

fn end(
    facts: &AttemptFacts<'_>,
    fields: &Fields<'_>,
    history: &mut History,
    builder: &mut Builder,
) -> Result<(), TraceError> {
    let mut metrics = Metrics::default();
    for counter in fields.counters.groups.iter().flat_map(|group| &group.counts) {
        if !count(counter.name.as_str(), counter.value.value(), &mut metrics) {
            builder.warn(WarningKind::BadCounter, || format!("{}: {:?}", counter.name.as_str(), counter.value));
        }
    }
    progress(&fields.clock_splits.0, &mut metrics);
    history.end(facts, &mut metrics, builder)
}

/// A line.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    event: Only<'a>,
}

/// The value of an object whose only key is the name of a record type.
struct Only<'a>(Fields<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Only<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OnlyVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for OnlyVisitor<'a> {
            type Value = Only<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the name of a record type")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Only<'a>, A::Error> {
                let fields = map.next_entry::<IgnoredAny, Fields<'a>>()?.map(|(_, fields)| fields);
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Only(fields.unwrap_or_default()))
            }
        }
        deserializer.deserialize_map(OnlyVisitor(PhantomData))
    }
}

/// The required fields of all event types.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(rename = "jobid", borrow)]
    job: Text<'a>,
    #[serde(rename = "jobName", borrow)]
    job_name: Text<'a>,
    #[serde(rename = "userName", borrow)]
    user: Text<'a>,
    #[serde(rename = "jobStatus", borrow)]
    job_status: Text<'a>,
    #[serde(rename = "submitTime")]
    submit: Number,
    #[serde(rename = "launchTime")]
    launch: Number,
    #[serde(rename = "totalMaps")]
    maps: Number,
    #[serde(rename = "totalReduces")]
    reduces: Number,
    #[serde(rename = "taskid", borrow)]
    task: Text<'a>,
    #[serde(rename = "taskType", borrow)]
    task_type: Text<'a>,
    #[serde(rename = "attemptId", borrow)]
    attempt: Text<'a>,
    #[serde(rename = "startTime")]
    start: Number,
    #[serde(rename = "finishTime")]
    finish: Number,
    #[serde(rename = "mapFinishTime")]
    map_finish: Number,
    #[serde(rename = "shuffleFinishTime")]
    shuffle_finish: Number,
    #[serde(rename = "sortFinishTime")]
    sort_finish: Number,
    #[serde(borrow)]
    hostname: Text<'a>,
    #[serde(rename = "trackerName", borrow)]
    tracker: Text<'a>,
    #[serde(rename = "rackname", borrow)]
    rack: Text<'a>,
    #[serde(borrow)]
    locality: Text<'a>,
    #[serde(borrow)]
    avataar: Text<'a>,
    #[serde(borrow)]
    counters: Counters<'a>,
    #[serde(rename = "clockSplits")]
    clock_splits: Splits,
}

impl Fields<'_> {
    fn job<'s>(&'s self, status: &'s str) -> JobFacts<'s> {
        let time = |number: Number| number.value().unwrap_or(0);
        let tasks = |number: Number| number.value().and_then(|tasks| u32::try_from(tasks).ok());
        JobFacts {
            id: self.job.as_str(),
            name: self.job_name.as_str(),
            user: self.user.as_str(),
            submitted: time(self.submit),
            launched: time(self.launch),
            finished: time(self.finish),
            maps: tasks(self.maps),
            reduces: tasks(self.reduces),
            status,
        }
    }

    fn attempt<'s>(&'s self, status: &'s str) -> AttemptFacts<'s> {
        let time = |number: Number| number.value().unwrap_or(0);
        let host = if self.hostname.as_str().is_empty() { &self.tracker } else { &self.hostname };
        AttemptFacts {
            id: self.attempt.as_str(),
            kind: self.task_type.as_str(),
            start: time(self.start),
            finish: time(self.finish),
            map_finish: time(self.map_finish),
            shuffle_finish: time(self.shuffle_finish),
            sort_finish: time(self.sort_finish),
            host: host.as_str(),
            rack: self.rack.as_str(),
            locality: self.locality.as_str(),
            avataar: self.avataar.as_str(),
            status,
        }
    }
}

/// Counters in their groups, or an object with their type that contains them.
#[derive(Default)]
struct Counters<'a> {
    groups: Vec<Group<'a>>,
}

#[derive(Deserialize)]
struct Group<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    counts: Vec<Counter<'a>>,
}

#[derive(Deserialize)]
struct Counter<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(default)]
    value: Number,
}

impl<'de: 'a, 'a> Deserialize<'de> for Counters<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountersVisitor(PhantomData))
    }
}

struct CountersVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for CountersVisitor<'a> {
    type Value = Counters<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counters")
    }

    fn visit_unit<E>(self) -> Result<Counters<'a>, E> {
        Ok(Counters::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counters<'a>, A::Error> {
        let mut counters = Counters::default();
        while let Some(key) = map.next_key::<Text<'_>>()? {
            if key.as_str() == "groups" {
                counters.groups = map.next_value()?;
            } else if key.as_str().ends_with("JhCounters") {
                counters = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(counters)
    }
}

/// Numbers in a list, or an object with their type that contains them.
#[derive(Default)]
struct Splits(Vec<i64>);

impl<'de> Deserialize<'de> for Splits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SplitsVisitor)
    }
}

struct SplitsVisitor;

impl<'de> Visitor<'de> for SplitsVisitor {
    type Value = Splits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_unit<E>(self) -> Result<Splits, E> {
        Ok(Splits::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Splits, A::Error> {
        let mut splits = Vec::new();
        while let Some(number) = list.next_element::<Number>()? {
            splits.push(number.value().unwrap_or(-1));
        }
        Ok(Splits(splits))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Splits, A::Error> {
        let splits = map.next_entry::<IgnoredAny, Splits>()?.map(|(_, splits)| splits);
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(splits.unwrap_or_default())
    }
}
