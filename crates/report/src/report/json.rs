//! Reports as JSON: one object, keys in the order of the types, numbers with full precision.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

pub(crate) use crate::ask::net::Word;
use crate::document::Report;

/// Version of the JSON format; it increases when a key changes its meaning or disappears.
pub const FORMAT_VERSION: u32 = 1;

/// A report contains a value that JSON cannot express; this is a bug in the report.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as JSON: {0}")]
pub struct JsonError(#[from] serde_json::Error);

/// A report with the keys with which all JSON starts.
#[derive(Serialize)]
pub(crate) struct Versioned<'a, R: Serialize> {
    format_version: u32,
    kind: &'a str,
    /// The answer; none if the report has a key `answer` of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Words>,
    #[serde(flatten)]
    report: &'a R,
}

/// The answer in words.
#[derive(Serialize)]
pub(crate) struct Words {
    /// The answer in words; empty for a result that answers no question.
    text: String,
}

impl<'a, R: Report> Versioned<'a, R> {
    /// Returns a report with the answer in words.
    pub(crate) fn new(report: &'a R) -> Self {
        let answer = (!R::HAS_ANSWER).then(|| Words { text: report.document().six_blocks().answer });
        Self { format_version: FORMAT_VERSION, kind: R::KIND, answer, report }
    }
}

/// Returns the JSON text of a report, with a line end after it. Numbers that are not finite become `null`.
///
/// # Errors
///
/// [`JsonError`], which no report of this crate causes.
pub fn json<R: Report>(report: &R) -> Result<String, JsonError> {
    let mut text = written(&Versioned::new(report), Unsigned(PrettyFormatter::new()))?;
    text.push('\n');
    Ok(text)
}

/// Returns the JSON text of a report on one line, for sequences of results.
///
/// # Errors
///
/// [`JsonError`], which no report of this crate causes.
pub(crate) fn json_line<R: Report>(report: &R) -> Result<String, JsonError> {
    let mut text = written(&Versioned::new(report), Unsigned(CompactFormatter))?;
    text.push('\n');
    Ok(text)
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> Result<String, JsonError> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    // serde_json writes only UTF-8
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A format of JSON in which zero has no sign.
struct Unsigned<F>(F);

impl<F: Formatter> Formatter for Unsigned<F> {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // -0 + 0 is 0
        self.0.write_f64(writer, value + 0.0)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_key(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// Returns the word that JSON has for a value of an enum without data.
pub(crate) fn key_of<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(key)) => key,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_same_name_in_json_as_in_text() {
        use crate::cluster::detect::DetectorKind::{Clone, Default, Hadoop2, Hierarchical, Late, Mantri, None, Spark};
        use crate::mapreduce::LawKind;
        use crate::trace::Outcome::{
            Evicted, Failed, FetchFailed, Killed, KilledAsCopy, Lost, Success, Unfinished, Unknown,
        };
        use crate::trace::StageKind::{self, Cleanup, Map, Reduce, Result, Setup, ShuffleMap};
        LawKind::ALL.iter().for_each(|law| assert_eq!(key_of(law), law.name()));
        for kind in [None, Clone, Default, Late, Hierarchical, Hadoop2, Spark, Mantri] {
            assert_eq!(key_of(&kind), kind.name());
        }
        for outcome in [Success, Failed, KilledAsCopy, Killed, FetchFailed, Lost, Evicted, Unfinished, Unknown] {
            assert_eq!(key_of(&outcome), outcome.key());
        }
        for kind in [StageKind::Unknown, ShuffleMap, Result, Map, Reduce, Setup, Cleanup] {
            assert_eq!(key_of(&kind), kind.key());
        }
    }

    #[derive(Serialize)]
    struct Example {
        z: f64,
        a: Option<u8>,
    }

    impl Report for Example {
        const KIND: &'static str = "example";

        fn document(&self) -> crate::document::Document<'_> {
            crate::document::Document { answer: vec!["It is so.".into()].into(), ..Default::default() }
        }
    }

    #[test]
    fn keys_keep_their_order_and_numbers_their_bits() {
        let text = json(&Example { z: 0.1 + 0.2, a: None }).unwrap();
        let expected = "{\n  \"format_version\": 1,\n  \"kind\": \"example\",\n  \"answer\": {\n    \"text\": \"It is so.\"\n  },\n  \
                        \"z\": 0.30000000000000004,\n  \"a\": null\n}\n";
        assert_eq!(text, expected);
        assert_eq!(json(&Example { z: -0.0, a: None }).unwrap().matches('-').count(), 0);
        let object = serde_json::json!({"n": [-0.0, 1e-300], "o": {}, "p": [[], {"q": "r", "s": null}]});
        let text = written(&object, Unsigned(PrettyFormatter::new())).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), object);
        assert_eq!(text.lines().count(), 14, "{text}");
    }
}
