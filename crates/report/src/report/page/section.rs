//! What a section of the page consists of, before it is HTML: the answer, figures, tables, the plan, where numbers come from.
//!
//! Every number knows where it stands in the JSON of its result, so that it can be found there, and compared.

use crate::report::json::Word;
use crate::report::number::{plain, within};
use crate::report::plot::Picture;
use crate::report::quantity::Quantity;
use crate::sensitivity::Effect;
use crate::sweep;

/// A part of the page: one result, or a comparison of several.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// What was done, in a word or two.
    pub(super) kind: &'static str,
    /// What it is about.
    pub(super) title: String,
    /// What was asked.
    pub(super) question: String,
    /// What was found, in a sentence or two.
    pub(super) answer: Vec<Piece>,
    /// What a reader must know of it: that it is partial, what was left out.
    pub(super) remarks: Vec<String>,
    /// Figures and tables, in the order of reading.
    pub(super) blocks: Vec<Block>,
    /// The plan as text; empty without one.
    pub(super) plan: String,
    /// Names and values.
    pub(super) provenance: Vec<[String; 2]>,
    /// For the comparison; none where there is no time to compare.
    pub(super) headline: Option<Headline>,
}

/// The numbers of a time by which results are compared.
#[derive(Clone, Debug)]
pub(super) struct Headline {
    /// What has these times, where it is not the whole result, such as its base.
    pub(super) of: Option<String>,
    pub(super) mean: Number,
    /// p50, p95, p99.
    pub(super) quantiles: [Option<Number>; 3],
}

/// A part of a sentence.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    Number(Number),
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Number> for Piece {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

/// A figure or a table.
#[derive(Debug)]
pub(super) enum Block {
    Figure(Figure),
    Table(Table),
}

/// A picture and what it shows.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) title: String,
    /// How to read it.
    pub(super) caption: String,
    pub(super) picture: Picture,
    /// Whether two such figures stand side by side where there is room.
    pub(super) half: bool,
}

/// A table.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) title: String,
    /// How to read it; may be empty.
    pub(super) note: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Empty,
    Text(String),
    Number(Number),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

/// A number of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Number {
    /// Where it stands in the JSON of its result (a JSON pointer): the number, or the object whose `value` it is.
    pub(super) at: String,
    pub(super) value: f64,
    /// Ends of the interval, or certain bounds.
    pub(super) ends: Option<[f64; 2]>,
    /// Written behind it; may be empty.
    pub(super) unit: Word,
    /// What it is multiplied by where it is shown, such as 100 for a share in percent.
    pub(super) factor: f64,
    /// What is added after that, such as -100 for a ratio as a change in percent.
    pub(super) shift: f64,
    /// Whether a plus sign is shown.
    pub(super) signed: bool,
    /// As many digits are shown as an interval of this half width deserves, where there is none.
    pub(super) digits_of: Option<f64>,
}

impl Number {
    /// Without an interval.
    pub(super) fn plain(at: impl Into<String>, value: f64, unit: impl Into<Word>) -> Self {
        Self {
            at: at.into(),
            value,
            ends: None,
            unit: unit.into(),
            factor: 1.0,
            shift: 0.0,
            signed: false,
            digits_of: None,
        }
    }

    /// A count.
    pub(super) fn count(at: impl Into<String>, value: u64) -> Self {
        Self::plain(at, value as f64, "")
    }

    /// With its interval, or its certain bounds.
    pub(super) fn quantity(at: impl Into<String>, quantity: &Quantity, unit: impl Into<Word>) -> Self {
        let ends = quantity.bounds.or(quantity.low.zip(quantity.high).map(|(low, high)| [low, high]));
        Self { ends, ..Self::plain(at, quantity.value, unit) }
    }

    /// Of a sensitivity.
    pub(super) fn effect(at: impl Into<String>, effect: &Effect, unit: impl Into<Word>) -> Self {
        Self { ends: Some([effect.low, effect.high]), ..Self::plain(at, effect.value, unit) }
    }

    /// Of a sweep.
    pub(super) fn of_sweep(at: impl Into<String>, number: &sweep::Number, unit: impl Into<Word>) -> Self {
        let ends = number.low.zip(number.high).map(|(low, high)| [low, high]);
        Self { ends, ..Self::plain(at, number.value, unit) }
    }

    /// With other ends.
    pub(super) fn between(self, low: Option<f64>, high: Option<f64>) -> Self {
        Self { ends: low.zip(high).map(|(low, high)| [low, high]), ..self }
    }

    /// With a sign, as a change.
    pub(super) fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// A share, in percent.
    pub(super) fn percent(self) -> Self {
        Self { factor: 100.0, unit: "%".into(), ..self }
    }

    /// A ratio as a change in percent.
    pub(super) fn change(self) -> Self {
        Self { shift: -100.0, ..self.percent().signed() }
    }

    /// The number and its ends as they are shown.
    fn shown(&self) -> (f64, Option<[f64; 2]>) {
        let shown = |value: f64| value * self.factor + self.shift;
        // a number shown without its minus sign has its ends the other way round
        let in_order = |[low, high]: [f64; 2]| if self.factor < 0.0 { [high, low] } else { [low, high] };
        (shown(self.value), self.ends.map(|ends| in_order(ends.map(shown))))
    }

    /// The value as text, with as many digits as its interval deserves, and with its unit.
    pub(super) fn text(&self) -> String {
        let (value, ends) = self.shown();
        let sign = if self.signed && value > 0.0 { "+" } else { "" };
        let half = ends.map(half).or(self.digits_of.map(|half| half * self.factor));
        let digits = match half.filter(|half| *half > 0.0) {
            Some(half) => within(value, Some(half)),
            None if value.fract() == 0.0 && value.abs() < 1e9 => grouped(value),
            None => plain(value),
        };
        let text = format!("{sign}{}", with_minus(&digits));
        if self.unit.is_empty() { text } else { format!("{text}\u{a0}{}", self.unit) }
    }

    /// The interval as text; none where there is none, or where it is a point.
    pub(super) fn interval(&self) -> Option<String> {
        let ends = self.shown().1?;
        let half = Some(half(ends)).filter(|half| *half > 0.0)?;
        let [low, high] = ends.map(|end| within(end, Some(half)));
        (low != high).then(|| with_minus(&format!("{low} to {high}")))
    }
}

fn half([low, high]: [f64; 2]) -> f64 {
    0.5 * (high - low)
}

/// A number with a minus sign where it has a hyphen.
fn with_minus(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

/// A whole number with commas between groups of three digits, from five digits on.
fn grouped(value: f64) -> String {
    if value.abs() < 10_000.0 {
        return format!("{value}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", crate::report::number::count(value.abs() as u128))
}

impl Section {
    /// Adds a figure, where there is a picture.
    pub(super) fn figure(&mut self, picture: Option<Picture>, title: &str, caption: impl Into<String>) {
        let (title, caption) = (title.to_owned(), caption.into());
        self.blocks.extend(picture.map(|picture| Block::Figure(Figure { title, caption, picture, half: false })));
    }

    /// Adds a table, where it has rows.
    pub(super) fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Its figures.
    pub(super) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            Block::Table(_) => None,
        })
    }
}

impl Table {
    /// A table without rows.
    pub(super) fn new(title: &str, note: impl Into<String>, head: &[&str]) -> Self {
        let head = head.iter().map(|&name| name.to_owned()).collect();
        Self { title: title.to_owned(), note: note.into(), head, rows: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_interval_also_in_other_units() {
        let number = Number { ends: Some([0.81, 0.87]), ..Number::plain("/x", 0.8412, "") };
        assert_eq!((number.text(), number.interval()), ("0.841".to_owned(), Some("0.810 to 0.870".to_owned())));
        let change = number.change();
        assert_eq!((change.text(), change.interval()), ("−15.9\u{a0}%".to_owned(), Some("−19.0 to −13.0".to_owned())));
        let saved = Number { ends: Some([-3.0, -1.0]), factor: -1.0, ..Number::plain("/x", -2.0, "s") };
        assert_eq!((saved.text(), saved.interval()), ("2.0\u{a0}s".to_owned(), Some("1.0 to 3.0".to_owned())));
        assert_eq!(Number::count("/n", 1_234_567).text(), "1,234,567");
        assert_eq!(Number::count("/n", 2000).text(), "2000");
        assert_eq!(Number::plain("/x", 0.25, "s").signed().text(), "+0.25\u{a0}s");
    }
}
