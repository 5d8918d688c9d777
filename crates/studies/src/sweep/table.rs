//! The points of a sweep as one Parquet file: one row per point, typed columns, the same data as the JSON lines.
//!
//! Defines the columns. Each axis is a column with the type of its values; values of mixed types,
//! and tables, are TOML text. The file's metadata store the kind of each axis, so that the rows are read
//! back bit for bit. The metadata also contain a checksum of the whole
//! file, computed with zeros in place of the checksum.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::estimate::Measured;
use crate::sweep::result::PointResult;

/// True if this build writes Parquet.
pub(super) const IS_BUILT: bool = true;
/// Rows that are compressed together and can be read separately.
const GROUP: usize = 1 << 16;
/// Key of the metadata that holds the kinds of the axes.
const KINDS: &str = "tailspn.axes";
/// Key of the metadata that holds the checksum.
const CHECKSUM: &str = "tailspn.checksum";
/// The text before the eight hexadecimal digits of the checksum.
const CRC: &[u8] = b"tailspn.crc32=";
/// Digits in place of the checksum while it is computed.
const NO_DIGITS: &[u8; 8] = b"00000000";

/// The type of an axis's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Integer,
    Float,
    Boolean,
    String,
    /// Any other value, as TOML text.
    Toml,
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Integer(_) => Self::Integer,
            Value::Float(_) => Self::Float,
            Value::Boolean(_) => Self::Boolean,
            Value::String(_) => Self::String,
            _ => Self::Toml,
        }
    }

    /// Returns the common kind of values; a float if there are no values.
    fn of_all<'a>(mut values: impl Iterator<Item = &'a Value>) -> Self {
        let first = values.next().map_or(Self::Float, Self::of);
        if values.all(|value| Self::of(value) == first) { first } else { Self::Toml }
    }

    fn physical(self) -> Physical {
        match self {
            Self::Integer => Physical::INT64,
            Self::Float => Physical::DOUBLE,
            Self::Boolean => Physical::BOOLEAN,
            Self::String | Self::Toml => Physical::BYTE_ARRAY,
        }
    }

    /// Returns the value in a field; none if the field has another type.
    fn value(self, field: &Field) -> Option<Value> {
        Some(match (self, field) {
            (Self::Integer, Field::Long(number)) => Value::Integer(*number),
            (Self::Float, Field::Double(number)) => Value::Float(*number),
            (Self::Boolean, Field::Bool(truth)) => Value::Boolean(*truth),
            (Self::String, Field::Str(text)) => Value::String(text.clone()),
            (Self::Toml, Field::Str(text)) => {
                toml::from_str::<toml::Table>(&format!("x = {text}")).ok()?.remove("x")?
            }
            _ => return None,
        })
    }
}

/// Names of the columns of a point's numbers. The last number has columns only if there are deadlines.
const NUMBERS: [&str; 7] = ["mean_s", "p50_s", "p95_s", "p99_s", "difference_s", "ratio", "done_by_deadline"];

fn numbers(result: &PointResult) -> [Option<&Measured>; 7] {
    let PointResult { mean_s, p50_s, p95_s, p99_s, difference_s, ratio, done_by_deadline, .. } = result;
    [mean_s, p50_s, p95_s, p99_s, difference_s, ratio, done_by_deadline].map(Option::as_ref)
}

/// Returns the names of the numbers that at least one row has.
fn names(results: &[&PointResult]) -> &'static [&'static str] {
    let deadline = results.iter().any(|result| result.done_by_deadline.is_some());
    &NUMBERS[..NUMBERS.len() - usize::from(!deadline)]
}

/// Returns the bytes of a file with these points; `axes` are the keys of the axes.
///
/// # Errors
///
/// A value that Parquet cannot hold: more than 2^63 replications.
pub(super) fn write(axes: &[String], results: &[&PointResult]) -> Result<Vec<u8>, ParquetError> {
    let axis = |i: usize| results.iter().filter_map(move |result| result.values.get(i)?.as_ref());
    let kinds: Vec<Kind> = (0..axes.len()).map(|i| Kind::of_all(axis(i))).collect();
    let kinds_text = KeyValue::new(KINDS.to_owned(), serde_json::to_string(&kinds).ok());
    let checksum = KeyValue::new(CHECKSUM.to_owned(), String::from_utf8([CRC, NO_DIGITS].concat()).ok());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("tailspn ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![kinds_text, checksum]))
        .build();
    let names = names(results);
    let schema = Arc::new(schema(axes, &kinds, names)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for rows in results.chunks(GROUP) {
        let mut group = Columns(writer.next_row_group()?);
        group.write(&kinds, names.len(), rows)?;
        group.0.close()?;
    }
    let mut bytes = writer.into_inner()?;
    if let Some(at) = digits(&bytes) {
        let checksum = format!("{:08x}", crc32fast::hash(&bytes));
        bytes[at..at + NO_DIGITS.len()].copy_from_slice(checksum.as_bytes());
    }
    Ok(bytes)
}

/// Returns the position of the checksum's digits. The metadata follows the columns, so the last occurrence counts.
fn digits(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(CRC.len()).rposition(|window| window == CRC)? + CRC.len();
    (at + NO_DIGITS.len() <= bytes.len()).then_some(at)
}

/// Checks the bytes of a file against the checksum in the file.
fn check(bytes: &mut [u8]) -> Result<(), String> {
    let at = digits(bytes).ok_or("it has no checksum: it is truncated, or another program wrote it")?;
    let place = at..at + NO_DIGITS.len();
    let written = bytes[place.clone()].to_vec();
    bytes[place].copy_from_slice(NO_DIGITS);
    let found = format!("{:08x}", crc32fast::hash(bytes));
    if found.as_bytes() == written { Ok(()) } else { Err("it was changed: the checksum does not match".to_owned()) }
}

fn schema(axes: &[String], kinds: &[Kind], names: &[&str]) -> Result<Type, ParquetError> {
    let column = |name: &str, physical, repetition| {
        let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        let column = Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(text);
        column.build().map(Arc::new)
    };
    let (required, optional) = (Repetition::REQUIRED, Repetition::OPTIONAL);
    let mut columns = vec![column("point", Physical::INT64, required)?];
    for (key, kind) in axes.iter().zip(kinds) {
        columns.push(column(key, kind.physical(), optional)?);
    }
    for count in ["replications", "reached"] {
        columns.push(column(count, Physical::INT64, required)?);
    }
    columns.push(column("engine", Physical::BYTE_ARRAY, required)?);
    for name in names {
        for end in ["", "_low", "_high"] {
            columns.push(column(&format!("{name}{end}"), Physical::DOUBLE, optional)?);
        }
    }
    Type::group_type_builder("point").with_fields(columns).build()
}

/// The columns of a group of rows, written one after the other.
struct Columns<'a>(SerializedRowGroupWriter<'a, Vec<u8>>);

impl Columns<'_> {
    fn write(&mut self, kinds: &[Kind], count_of_numbers: usize, rows: &[&PointResult]) -> Result<(), ParquetError> {
        let count = |number: u64| i64::try_from(number).map_err(|error| ParquetError::General(error.to_string()));
        self.required::<Int64Type>(rows.iter().map(|row| count(row.point)))?;
        for (i, kind) in kinds.iter().enumerate() {
            let values = rows.iter().map(|row| row.values.get(i).and_then(Option::as_ref));
            match kind {
                Kind::Integer => self.optional::<Int64Type>(values.map(|value| value?.as_integer()))?,
                Kind::Float => self.optional::<DoubleType>(values.map(|value| value?.as_float()))?,
                Kind::Boolean => self.optional::<BoolType>(values.map(|value| value?.as_bool()))?,
                Kind::String => self.optional::<ByteArrayType>(values.map(|value| Some(value?.as_str()?.into())))?,
                Kind::Toml => {
                    self.optional::<ByteArrayType>(values.map(|value| Some(value?.to_string().into_bytes().into())))?;
                }
            }
        }
        self.required::<Int64Type>(rows.iter().map(|row| count(row.replications)))?;
        self.required::<Int64Type>(rows.iter().map(|row| count(row.reached)))?;
        self.required::<ByteArrayType>(rows.iter().map(|row| Ok(ByteArray::from(row.engine.as_str()))))?;
        for i in 0..count_of_numbers {
            let own: Vec<Option<&Measured>> = rows.iter().map(|row| numbers(row)[i]).collect();
            self.optional::<DoubleType>(own.iter().map(|number| Some((*number)?.value)))?;
            for end in [0, 1] {
                self.optional::<DoubleType>(own.iter().map(|number| Some((*number)?.ends()?[end])))?;
            }
        }
        Ok(())
    }

    fn required<T: DataType>(
        &mut self,
        values: impl Iterator<Item = Result<T::T, ParquetError>>,
    ) -> Result<(), ParquetError> {
        self.column::<T>(&values.collect::<Result<Vec<_>, _>>()?, None)
    }

    fn optional<T: DataType>(&mut self, values: impl Iterator<Item = Option<T::T>>) -> Result<(), ParquetError> {
        let all: Vec<Option<T::T>> = values.collect();
        let there: Vec<i16> = all.iter().map(|value| i16::from(value.is_some())).collect();
        self.column::<T>(&all.into_iter().flatten().collect::<Vec<_>>(), Some(&there))
    }

    /// Writes the next column; `there` marks the rows that have a value.
    fn column<T: DataType>(&mut self, values: &[T::T], there: Option<&[i16]>) -> Result<(), ParquetError> {
        let Some(mut column) = self.0.next_column()? else {
            return Err(ParquetError::General("more columns than the schema has".to_owned()));
        };
        column.typed::<T>().write_batch(values, there, None)?;
        column.close()
    }
}

/// Reads the points in a file, and compares its checksum.
///
/// # Errors
///
/// The reason why the file is not a valid file of points.
pub(super) fn read(path: &Path, axes: usize) -> Result<Vec<PointResult>, String> {
    let told = |error: ParquetError| error.to_string();
    check(&mut std::fs::read(path).map_err(|error| error.to_string())?)?;
    let file = File::open(path).map_err(|error| error.to_string())?;
    let reader = SerializedFileReader::new(file).map_err(told)?;
    let pairs = reader.metadata().file_metadata().key_value_metadata();
    let kinds = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == KINDS)?.value.as_deref());
    let kinds: Vec<Kind> = kinds.and_then(|kinds| serde_json::from_str(kinds).ok()).unwrap_or_default();
    if kinds.len() != axes {
        return Err(format!("it has {} axes, not {axes}", kinds.len()));
    }
    let rows = reader.get_row_iter(None).map_err(told)?.enumerate();
    let rows = rows.map(|(number, row)| {
        let row = row.map_err(told)?;
        let mut fields = row.get_column_iter().map(|(_, field)| field);
        result(&kinds, &mut fields).ok_or_else(|| format!("row {} is not a point of a sweep", number + 1))
    });
    rows.collect()
}

/// Returns the point of a row; none if a column is missing or has another type.
fn result<'a>(kinds: &[Kind], fields: &mut impl Iterator<Item = &'a Field>) -> Option<PointResult> {
    let point = count(fields.next()?)?;
    let value = |kind: &Kind| match fields.next()? {
        Field::Null => Some(None),
        field => Some(Some(kind.value(field)?)),
    };
    let values = kinds.iter().map(value).collect::<Option<Vec<_>>>()?;
    let (replications, reached) = (count(fields.next()?)?, count(fields.next()?)?);
    let Field::Str(engine) = fields.next()? else { return None };
    let mut number = || {
        let [value, low, high] = [optional(fields.next()?)?, optional(fields.next()?)?, optional(fields.next()?)?];
        Some(value.map(|value| Measured::between(value, low, high)))
    };
    Some(PointResult {
        point,
        values,
        replications,
        reached,
        engine: engine.clone(),
        mean_s: number()?,
        p50_s: number()?,
        p95_s: number()?,
        p99_s: number()?,
        difference_s: number()?,
        ratio: number()?,
        done_by_deadline: number().flatten(),
    })
}

fn count(field: &Field) -> Option<u64> {
    match field {
        Field::Long(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

fn optional(field: &Field) -> Option<Option<f64>> {
    match field {
        Field::Null => Some(None),
        Field::Double(number) => Some(Some(*number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(point: u64, values: [Option<Value>; 6]) -> PointResult {
        let exact = |value: f64| Some(Measured::between(value, Some(value * (1.0 - 1e-16)), Some(value)));
        PointResult {
            point,
            values: values.to_vec(),
            replications: 1 << 40,
            reached: point,
            engine: "schedule".into(),
            mean_s: exact(0.1 + 0.2 * point as f64),
            p50_s: exact(f64::MIN_POSITIVE / 3.0),
            p95_s: None,
            p99_s: exact(-0.0),
            difference_s: exact(1e300),
            done_by_deadline: exact(0.5),
            ratio: (point > 0).then(|| exact(1.0 / 3.0)).flatten(),
        }
    }

    /// For every kind of axis, and for rows without values, the rows that are read equal the rows that were written.
    #[test]
    fn rows_are_read_as_they_were_written() {
        let table = Value::try_from(toml::Table::from_iter([("erlang".to_owned(), Value::Integer(3))])).unwrap();
        let rows: Vec<PointResult> = (0..70_000)
            .map(|point| {
                let there = point > 0;
                let mixed = if point % 2 == 0 { Value::String("a \"b\"\n".into()) } else { table.clone() };
                let values = [
                    Value::Integer(-(point as i64)),
                    Value::Float(0.1 * point as f64),
                    Value::Boolean(point % 3 == 0),
                    Value::String(format!("näme {point}")),
                    mixed,
                ];
                let [a, b, c, d, e] = values.map(|value| there.then_some(value));
                row(point, [a, b, c, d, e, None])
            })
            .collect();
        let axes = ["job.reduces", "cluster.node[*].gpu_speed", "a", "b", "model.distribution.gpu", "never"]
            .map(str::to_owned);
        let bytes = write(&axes, &rows.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(bytes, write(&axes, &rows.iter().collect::<Vec<_>>()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.parquet");
        std::fs::write(&path, &bytes).unwrap();
        let found = read(&path, 6).unwrap();
        assert!(found == rows, "{:?}", found.iter().zip(&rows).find(|(a, b)| a != b));
        assert_eq!(found[0].p99_s.as_ref().unwrap().value.to_bits(), (-0.0_f64).to_bits());
        assert!(read(&path, 5).unwrap_err().contains("it has 6 axes, not 5"));
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(read(&path, 6).is_err());
        std::fs::write(&path, b"").unwrap();
        assert!(read(&path, 6).is_err());
    }
    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let value = || Some(Value::String("tailspn.crc32=00000000".into()));
        let rows: Vec<PointResult> = (0..3).map(|point| row(point, [(); 6].map(|()| value()))).collect();
        let axes = ["a", "b", "c", "d", "e", "f"].map(str::to_owned);
        let bytes = write(&axes, &rows.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(check(&mut bytes.clone()), Ok(()));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(check(&mut changed).is_err(), "byte {at}");
            assert!(check(&mut bytes[..at].to_vec()).is_err(), "cut at {at}");
        }
    }
}
