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
