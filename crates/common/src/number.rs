//! Numbers as text.

/// Formats a count with commas between groups of three digits.
///
/// ```
/// # use tailspn_common::number::count;
/// assert_eq!(count(1_234_567), "1,234,567");
/// ```
pub fn count(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number for a message: all its digits if they are few, otherwise about six significant ones. A number that is 1
/// up to rounding is `1`, and one slightly below 1 keeps its distance, so that no message states 1 for it.
///
/// ```
/// # use tailspn_common::number::brief;
/// assert_eq!([0.25, -3.0, -0.0, 1234.5].map(brief), ["0.25", "-3", "0", "1234.5"]);
/// assert_eq!([1.000_000_000_000_000_2, 1.0 - 2e-9, 2.0 / 3.0].map(brief), ["1", "1 - 2e-9", "0.666667"]);
/// assert_eq!([1e308, 1e-300].map(brief), ["1e308", "1e-300"]);
/// ```
pub fn brief(number: f64) -> String {
    /// Maximum number of characters of a number that is written in full.
    const FEW: usize = 10;
    /// Digits after the first one.
    const DIGITS: usize = 5;
    let below = 1.0 - number;
    if below.abs() < 1e-14 {
        return "1".to_owned();
    }
    if below > 0.0 && below < 1e-6 {
        let below: f64 = format!("{below:.1e}").parse().unwrap_or(below);
        return format!("1 - {below:e}");
    }
    // no sign of zero
    let number = number + 0.0;
    let full = format!("{number}");
    if full.len() <= FEW || !number.is_finite() {
        return full;
    }
    let rounded: f64 = format!("{number:.DIGITS$e}").parse().unwrap_or(number);
    let text = format!("{rounded}");
    if text.len() <= FEW { text } else { format!("{rounded:e}") }
}
