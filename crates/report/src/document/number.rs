//! A number of a result for display: with its error, unit, sign, digits, and its position in the JSON.

use crate::estimate::{Doubt, Measured};
use crate::report::{Word, count, plain, within};

/// A number of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The position in the JSON of the result (a JSON pointer) of the number, or of the object whose `value` the
    /// number is.
    pub at: String,
    /// The number and its uncertainty, as in the JSON.
    pub measured: Measured,
    /// Unit, also in CSV; may be empty.
    pub unit: Word,
    /// Display unit if it differs, such as % for a share.
    pub shown_unit: Option<Word>,
    /// The factor by which the number is multiplied for display, such as 100 for a share in percent.
    pub factor: f64,
    /// The summand after that multiplication, such as -100 for a ratio as a change in percent.
    pub shift: f64,
    /// True if a plus sign is shown.
    pub signed: bool,
    /// Half width that determines the number of digits without an interval.
    pub digits_of: Option<f64>,
    /// Numbers beyond which only `<` or `>` is shown, such as 1% and 99%.
    pub clip: Option<[f64; 2]>,
}

/// Half widths below this share of the value are rounding errors.
const ROUNDING: f64 = 1e-9;

impl Number {
    /// Returns a number with its uncertainty.
    pub fn measured(at: impl Into<String>, measured: &Measured, unit: impl Into<Word>) -> Self {
        Self {
            at: at.into(),
            measured: measured.clone(),
            unit: unit.into(),
            shown_unit: None,
            factor: 1.0,
            shift: 0.0,
            signed: false,
            digits_of: None,
            clip: None,
        }
    }

    /// Returns a number without an error.
    pub fn new(at: impl Into<String>, value: f64, unit: impl Into<Word>) -> Self {
        Self::measured(at, &Measured::between(value, None, None), unit)
    }

    /// Returns a count.
    pub fn count(at: impl Into<String>, value: u64) -> Self {
        Self::new(at, value as f64, "")
    }

    /// Sets the ends of the interval.
    #[must_use]
    pub fn between(self, low: Option<f64>, high: Option<f64>) -> Self {
        Self { measured: Measured::between(self.measured.value, low, high), ..self }
    }

    /// Sets guaranteed bounds.
    #[must_use]
    pub fn bounded(self, bounds: Option<[f64; 2]>) -> Self {
        let doubt = bounds.map_or(Doubt::Exact, |[low, high]| Doubt::Bounds { low, high });
        Self { measured: Measured { doubt, ..self.measured }, ..self }
    }

    /// Shows the number with its sign, as a change.
    #[must_use]
    pub fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// Shows a share in percent.
    #[must_use]
    pub fn percent(self) -> Self {
        self.shown_in("%", 100.0)
    }

    /// Shows the number in another unit; `factor` new units are one original unit.
    #[must_use]
    pub fn shown_in(self, unit: impl Into<Word>, factor: f64) -> Self {
        Self { factor, shown_unit: Some(unit.into()), ..self }
    }

    /// Shows a ratio as a change in percent.
    #[must_use]
    pub fn change(self) -> Self {
        Self { shift: -100.0, ..self.percent().signed() }
    }

    /// Shows as many digits as an interval of this half width justifies, unless the number has an interval.
    #[must_use]
    pub fn rounded(self, half: f64) -> Self {
        Self { digits_of: Some(half), ..self }
    }

    /// Shows three digits.
    #[must_use]
    pub(crate) fn three_digits(self) -> Self {
        let size = (self.measured.value * self.factor).abs();
        let half = if size == 0.0 { 15.0 } else { 1.5 * 10_f64.powf(size.log10().floor() - 1.0) };
        let half = half / self.factor.abs();
        self.rounded(half)
    }

    /// Shows about four digits, at most three of them decimals, as for times in logs.
    #[must_use]
    pub(crate) fn brief(self) -> Self {
        let size = (self.measured.value * self.factor).abs().max(1.0).log10().floor();
        let half = 1.5 * 10_f64.powf(size - 2.0) / self.factor.abs();
        self.rounded(half)
    }

    /// Returns the ends of the interval, or the guaranteed bounds, as in the JSON.
    pub fn ends(&self) -> Option<[f64; 2]> {
        self.measured.ends()
    }

    /// Returns the number and the ends of its interval as they are displayed.
    fn shown(&self) -> (f64, Option<[f64; 2]>) {
        let shown = |value: f64| value * self.factor + self.shift;
        // if the minus sign is dropped for display, the ends of the interval are swapped
        let in_order = |[low, high]: [f64; 2]| if self.factor < 0.0 { [high, low] } else { [low, high] };
        (shown(self.measured.value), self.ends().map(|ends| in_order(ends.map(shown))))
    }

    /// Returns the value with as many digits as its interval justifies; `≥` before a lower bound.
    pub fn value_text(&self) -> String {
        let (value, ends) = self.shown();
        match self.clip.filter(|_| ends.is_none()) {
            Some([low, _]) if value < low => return format!("< {low}"),
            Some([_, high]) if value > high => return format!("> {high}"),
            _ => {}
        }
        // a bound is the end that is known
        let end = match ends {
            Some([low, high]) if high == f64::INFINITY && low.is_finite() => Some(low),
            Some([low, high]) if low == f64::NEG_INFINITY && high.is_finite() => Some(high),
            _ => None,
        };
        let beside = end.map(|end| (value - end).abs());
        let value = end.unwrap_or(value);
        let sign = match ends {
            Some([_, high]) if high == f64::INFINITY => "≥ ",
            Some([low, _]) if low == f64::NEG_INFINITY => "≤ ",
            _ if self.signed && value > 0.0 => "+",
            _ => "",
        };
        // an interval that is only rounding does not determine digits
        let half = beside.or(ends.map(half)).filter(|half| half.is_finite() && *half > ROUNDING * value.abs());
        let half = half.or(self.digits_of.map(|half| half * self.factor.abs()));
        let digits = match half.filter(|half| *half > 0.0) {
            Some(half) => within(value, Some(half)),
            None if value.fract() == 0.0 && value.abs() < 1e9 => grouped(value),
            None => plain(value),
        };
        format!("{sign}{digits}")
    }

    /// Returns the value with its unit.
    pub fn text(&self) -> String {
        let (text, unit) = (self.value_text(), self.shown_unit.as_ref().unwrap_or(&self.unit));
        match &**unit {
            "" => text,
            "%" => text + "%",
            unit => format!("{text} {unit}"),
        }
    }

    /// Returns the interval; `None` if both ends are equal, for an open bound, and for a number without an
    /// interval.
    pub fn interval(&self) -> Option<String> {
        let ends = self.shown().1?;
        let rounding = ROUNDING * self.shown().0.abs();
        let half = Some(half(ends)).filter(|half| *half > rounding && half.is_finite())?;
        let [low, high] = ends.map(|end| within(end, Some(half)));
        (low != high).then(|| format!("{low} to {high}"))
    }

    /// Returns the interval as `±` and its half width, if it is symmetric, otherwise as [`Number::interval`] does.
    pub(crate) fn short_interval(&self) -> Option<String> {
        let interval = self.interval()?;
        let (value, ends) = self.shown();
        let half = half(ends?);
        let symmetric = ends.is_some_and(|[low, high]| (0.5 * (low + high) - value).abs() <= 0.05 * half);
        Some(if symmetric { format!("± {}", within(half, Some(half))) } else { interval })
    }

    /// Returns the number in a sentence: `85.2 s (95% CI 84.8 to 86.0)`.
    pub fn in_words(&self) -> String {
        let (text, level) = (self.text(), plain(100.0 * self.measured.level));
        match (self.interval(), &self.measured.doubt) {
            (Some(interval), Doubt::Interval { .. }) if self.measured.level > 0.0 => {
                format!("{text} ({level}% CI {interval})")
            }
            (Some(interval), _) => format!("{text} ({interval})"),
            (None, _) => text,
        }
    }
}

fn half([low, high]: [f64; 2]) -> f64 {
    0.5 * (high - low)
}

/// Formats a whole number, with commas between groups of three digits if it has five digits or more.
fn grouped(value: f64) -> String {
    if value.abs() < 10_000.0 {
        return format!("{}", value + 0.0);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", count(value.abs() as u128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_interval_also_in_other_units() {
        let number = Number::new("/x", 0.8412, "").between(Some(0.81), Some(0.87));
        assert_eq!((number.text(), number.interval()), ("0.841".to_owned(), Some("0.810 to 0.870".to_owned())));
        assert_eq!(number.in_words(), "0.841 (0.810 to 0.870)");
        let change = number.change();
        assert_eq!((change.text(), change.interval()), ("-15.9%".to_owned(), Some("-19.0 to -13.0".to_owned())));
        let saved = Number { factor: -1.0, ..Number::new("/x", -2.0, "s").between(Some(-3.0), Some(-1.0)) };
        assert_eq!((saved.text(), saved.interval()), ("2.0 s".to_owned(), Some("1.0 to 3.0".to_owned())));
        assert_eq!(saved.short_interval(), Some("± 1.0".to_owned()));
        assert_eq!(Number::count("/n", 1_234_567).text(), "1,234,567");
        assert_eq!(Number::count("/n", 2000).text(), "2000");
        assert_eq!(Number::new("/x", 0.25, "s").signed().text(), "+0.25 s");
    }

    #[test]
    fn a_lower_bound_says_so() {
        let number = Number::measured("/x", &Measured::at_least(12.5), "s");
        assert_eq!((number.text(), number.interval()), ("≥ 12.5 s".to_owned(), None));
    }
}
