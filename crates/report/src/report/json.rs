//! Reports as JSON: one object, keys in the order of the types, numbers with full precision.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

pub(crate) use crate::ask::net::Word;

/// Version of the JSON format; it increases when a key changes its meaning or disappears.
pub const FORMAT_VERSION: u32 = 1;

/// A report contains a value that JSON cannot express; this is a bug in the report.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as JSON: {0}")]
pub struct JsonError(#[from] serde_json::Error);

/// Returns the JSON text of a value, with a line end after it. Numbers that are not finite become `null`.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, JsonError> {
    Ok(written(value, Unsigned(PrettyFormatter::new()))? + "\n")
}

/// Returns the JSON text of a value on one line, with a line end after it.
pub(crate) fn line(value: &impl Serialize) -> Result<String, JsonError> {
    Ok(written(value, Unsigned(CompactFormatter))? + "\n")
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

    #[test]
    fn only_zeros_lose_their_sign() {
        let object = serde_json::json!({"n": [-0.0, 1e-300], "o": {}, "p": [[], {"q": "r", "s": null}]});
        let text = pretty(&object).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), object);
        assert_eq!(text.lines().count(), 14, "{text}");
    }
}
