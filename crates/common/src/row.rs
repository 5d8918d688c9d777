//! Results as rows: a struct whose fields are the columns of a table, of CSV, of JSON and of its schema.
//!
//! ```text
//! type of a field ──▶ unit, digits, words        (here, once for all results)
//! name of a field ──▶ key in JSON and CSV, title
//! fields in order ──▶ columns                    (derive(Row))
//! ```
//!
//! ```
//! use tailspn_common::field;
//! use tailspn_common::row::{Row, Seconds, Share};
//!
//! #[derive(Row)]
//! struct Size {
//!     executors: u64,
//!     #[column("time of a run")]
//!     time_s: Seconds,
//!     in_time: Share,
//! }
//! assert_eq!(Size::COLUMNS[field!(Size, time_s)].title, "time of a run");
//! assert_eq!(Size::COLUMNS[field!(Size, in_time)].unit.shown.0, "%");
//! ```
//!
//! A name without its unit does not compile:
//!
//! ```compile_fail,E0080
//! #[derive(tailspn_common::row::Row)]
//! struct Size {
//!     time: tailspn_common::row::Seconds,
//! }
//! ```
//!
//! Nor does a number without a kind, or a field that is not there:
//!
//! ```compile_fail,E0277
//! #[derive(tailspn_common::row::Row)]
//! struct Size {
//!     time_s: f64,
//! }
//! ```
//!
//! ```compile_fail,E0080
//! #[derive(tailspn_common::row::Row)]
//! struct Size {
//!     executors: u64,
//! }
//! let place = tailspn_common::field!(Size, executor);
//! ```

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use tailspn_derive::Row;

/// The notation of a kind of number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// End of the key of each such field, which states the unit of JSON and CSV: `_s`.
    pub suffix: &'static str,
    /// Unit in JSON and CSV; may be empty.
    pub name: &'static str,
    /// Unit for readers, and its number in one unit of JSON.
    pub shown: (&'static str, f64),
    /// Digits without an interval; an interval decides itself.
    pub digits: Digits,
}

/// The number of digits for readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// All digits of a whole number.
    Whole,
    /// Five significant digits, without zeros at the end.
    Plain,
    /// Significant digits, as for measured times.
    Significant(u8),
    /// Significant digits of the smallest number of the column, which decide the decimals of all.
    Column(u8),
    /// Whole percent; beyond 1% and 99% `< 1%` and `> 99%`.
    Percent,
}

impl Unit {
    /// No unit: words.
    pub const NONE: Self = Self::new("", "", ("", 1.0), Digits::Whole);

    /// Returns a unit.
    pub const fn new(suffix: &'static str, name: &'static str, shown: (&'static str, f64), digits: Digits) -> Self {
        Self { suffix, name, shown, digits }
    }
}

/// A value as all forms show it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// The value does not exist.
    Nothing,
    /// Words.
    Words(Cow<'static, str>),
    /// A number with the ends of its interval.
    Number(f64, Option<[f64; 2]>),
}

/// A type of fields.
pub trait Value {
    /// The notation of its numbers.
    const UNIT: Unit;
    /// Returns the value as all forms show it.
    fn shown(&self) -> Shown;
}

/// The readers of a table or a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Everyone.
    #[default]
    Always,
    /// Everyone. If a terminal is narrow, such columns are dropped first, and a note says so.
    Room,
    /// Readers who ask for all details, and pages.
    Detail,
    /// CSV only.
    Csv,
}

/// A column: a field of a row.
#[derive(Clone, Copy, Debug)]
pub struct Column<R: 'static> {
    /// Name of the field: the key in JSON and CSV.
    pub key: &'static str,
    /// Title for readers; blanks are written as `_`.
    pub title: &'static str,
    /// The notation of its numbers.
    pub unit: Unit,
    /// The readers of the column.
    pub show: Show,
    /// The value in a row.
    pub get: fn(&R) -> Shown,
}

/// A struct whose fields are columns; see [`tailspn_derive::Row`].
pub trait Row: Sized + 'static {
    /// The fields, in order.
    const COLUMNS: &'static [Column<Self>];

    /// Returns the settings that led to the row.
    fn set(&self) -> &Set {
        const { &Set(Vec::new()) }
    }
}

impl<R> Column<R> {
    /// Returns the column of a field. It is an error at compile time if the key does not state the unit.
    pub const fn new(key: &'static str, unit: Unit, get: fn(&R) -> Shown) -> Self {
        let (key_bytes, suffix) = (key.as_bytes(), unit.suffix.as_bytes());
        assert!(key_bytes.len() > suffix.len() || suffix.is_empty(), "the name of a field ends with its unit");
        let stem = key_bytes.len() - suffix.len();
        let mut i = 0;
        while i < suffix.len() {
            assert!(key_bytes[stem + i] == suffix[i], "the name of a field ends with its unit, such as `_s`");
            i += 1;
        }
        Self { key, title: key.split_at(stem).0, unit, show: Show::Always, get }
    }

    /// Sets the title.
    pub const fn title(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// Sets the readers.
    pub const fn show(self, show: Show) -> Self {
        Self { show, ..self }
    }
}

/// Returns the position of the column of a field; in a `const` block, a name that no field has is an error at compile time.
pub const fn column<R: Row>(key: &str) -> usize {
    let mut i = 0;
    while i < R::COLUMNS.len() {
        if same(R::COLUMNS[i].key.as_bytes(), key.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no field of the row has this name")
}

/// The position of the column of a field, checked at compile time: `field!(Size, time_s)`.
#[macro_export]
macro_rules! field {
    ($row:ty, $name:ident) => {{
        // an item, because `cargo check` does not evaluate `const` blocks
        const AT: usize = $crate::row::column::<$row>(stringify!($name));
        AT
    }};
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A number with the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "{Q}Between"))]
pub struct Between<Q> {
    /// The estimate.
    pub value: Q,
    /// Lower end; null without an interval.
    pub low: Option<Q>,
    /// Upper end; null without an interval.
    pub high: Option<Q>,
}

impl<Q> Between<Q> {
    /// Returns a number with the ends of its interval, if it has one.
    pub fn new(value: f64, ends: Option<[f64; 2]>) -> Self
    where
        Q: From<f64>,
    {
        let [low, high] = ends.map_or([None, None], |ends| ends.map(|end| Some(end.into())));
        Self { value: value.into(), low, high }
    }
}

impl<Q: Copy + Into<f64>> Between<Q> {
    /// Returns the ends of the interval.
    pub fn ends(&self) -> Option<[f64; 2]> {
        Some([self.low?.into(), self.high?.into()])
    }
}

/// The settings that led to a row, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set(pub Vec<(String, Setting)>);

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Setting {
    /// A whole number.
    Count(i64),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl Set {
    /// Returns a setting by its name.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(one, _)| one == name).map(|(_, setting)| setting)
    }

    /// Returns the settings in words, such as `executors = 4, cores = 2`.
    pub fn words(&self) -> String {
        self.0.iter().map(|(name, setting)| format!("{name} = {setting}")).collect::<Vec<_>>().join(", ")
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

impl Setting {
    /// Returns the setting as all forms show it.
    pub fn shown(&self) -> Shown {
        match self {
            Self::Count(count) => Shown::Number(*count as f64, None),
            Self::Number(number) => Shown::Number(*number, None),
            Self::Word(word) => Shown::Words(word.clone().into()),
        }
    }
}

impl Serialize for Set {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, setting)| (name, setting)))
    }
}

impl<'de> Deserialize<'de> for Set {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = Set;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("settings by name")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Set, A::Error> {
                let mut set = Set::default();
                while let Some(pair) = map.next_entry()? {
                    set.0.push(pair);
                }
                Ok(set)
            }
        }
        from.deserialize_map(Pairs)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Set {
    fn schema_name() -> Cow<'static, str> {
        "Set".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, Setting>::json_schema(generator)
    }
}

/// Declares the kinds of numbers: type, suffix of keys, unit, unit for readers, digits.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident($suffix:literal, $unit:literal, $shown:expr, $digits:expr);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, extend("unit" = $unit)))]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl From<f64> for $name {
            fn from(value: f64) -> Self {
                Self(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl Value for $name {
            const UNIT: Unit = Unit::new($suffix, $unit, $shown, $digits);
            fn shown(&self) -> Shown {
                Shown::Number(self.0, None)
            }
        }

    )*};
}

quantities! {
    /// A time.
    Seconds("_s", "s", ("s", 1.0), Digits::Significant(3));
    /// A share or a probability.
    Share("", "", ("%", 100.0), Digits::Percent);
    /// A level of confidence.
    Level("", "", ("%", 100.0), Digits::Plain);
    /// Time of cores or slots, added up.
    CoreSeconds("_core_s", "core-s", ("core-min", 1.0 / 60.0), Digits::Column(2));
    /// An amount of money, or of machine time; the head of its table says which.
    Cost("", "", ("", 1.0), Digits::Column(3));
}

impl Value for u64 {
    const UNIT: Unit = Unit::new("", "", ("", 1.0), Digits::Whole);
    fn shown(&self) -> Shown {
        Shown::Number(*self as f64, None)
    }
}

impl Value for String {
    const UNIT: Unit = Unit::NONE;
    fn shown(&self) -> Shown {
        Shown::Words(self.clone().into())
    }
}

impl<Q: Value + Copy + Into<f64>> Value for Between<Q> {
    const UNIT: Unit = Q::UNIT;
    fn shown(&self) -> Shown {
        Shown::Number(self.value.into(), self.ends())
    }
}

impl<V: Value> Value for Option<V> {
    const UNIT: Unit = V::UNIT;
    fn shown(&self) -> Shown {
        self.as_ref().map_or(Shown::Nothing, Value::shown)
    }
}
