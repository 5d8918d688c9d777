//! The texts inside elements: numbers, truth values, lists of token classes.

use std::fmt;
use std::ops::Range;

use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::Reading;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::xml::{Element, Text};
use crate::net::Point;

/// The value and the part that a message is about; formatted only if needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct What<'a> {
    /// The value, such as `the marking of `, including the last blank; may be empty.
    pub(super) value: &'a str,
    /// Kind of part.
    pub(super) part: &'static str,
    /// Id of the part.
    pub(super) id: &'a str,
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} `{}`", self.value, self.part, self.id)
    }
}

/// Requirements for a number in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Description of a valid number, for messages.
    pub(super) expected: &'static str,
    /// Minimum value.
    pub(super) least: f64,
    /// Maximum value.
    pub(super) most: f64,
}

/// A count of tokens, a capacity, a priority.
pub(super) const COUNT: Whole =
    Whole { expected: "a whole number from 0 to 4294967295", least: 0.0, most: 4_294_967_295.0 };

/// An angle.
const ANGLE: Whole = Whole { expected: "a whole number of degrees", least: -2_147_483_648.0, most: 2_147_483_647.0 };

/// A whole number; decimals are rounded down and noted.
pub(super) fn whole(notes: &mut Notes<'_>, what: What<'_>, text: &Text<'_>, range: Whole) -> Option<f64> {
    let bad =
        || Fault::BadNumber { what: what.to_string(), text: text.value.clone().into_owned(), expected: range.expected };
    let plain = text.value.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let Some(value) = text.value.parse::<f64>().ok().filter(|v| plain && v.is_finite()) else {
        notes.fault(text.span.clone(), bad());
        return None;
    };
    let floor = value.floor();
    if !(range.least..=range.most).contains(&floor) {
        notes.fault(text.span.clone(), bad());
        return None;
    }
    if text.value.contains(['.', 'e', 'E']) {
        notes.odd(text.span.clone(), Oddity::DecimalInteger, || {
            format!("{what} is `{}`, which PIPE refuses; it is read as {floor}", text.value)
        });
    }
    Some(floor)
}

/// A whole number from 0 to 2^32 - 1.
pub(super) fn count(notes: &mut Notes<'_>, what: What<'_>, text: &Text<'_>) -> Option<u32> {
    whole(notes, what, text, COUNT).map(to_u32)
}

/// An angle in degrees; an empty text is 0.
pub(super) fn angle(notes: &mut Notes<'_>, what: What<'_>, text: &Text<'_>) -> i32 {
    if text.value.is_empty() {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the range of ANGLE")]
    whole(notes, what, text, ANGLE).map_or(0, |value| value as i32)
}

fn to_u32(value: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within the range of COUNT")]
    let value = value as u32;
    value
}

/// A truth value; irregular spellings follow the chosen interpretation.
pub(super) fn boolean(notes: &mut Notes<'_>, reading: Reading, what: What<'_>, text: &Text<'_>) -> Option<bool> {
    let value = match (&*text.value, reading) {
        ("true", _) => return Some(true),
        ("false", _) => return Some(false),
        ("", _) => return None,
        (other, Reading::Pipe43) => other.chars().count() != 5,
        (other, Reading::Pipe5) => other == "1",
        (other, Reading::Sensible) => match other.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => true,
            "false" | "0" | "no" => false,
            _ => {
                let fault = Fault::BadBoolean { what: what.to_string(), text: other.to_owned() };
                notes.fault(text.span.clone(), fault);
                return None;
            }
        },
    };
    notes.odd(text.span.clone(), Oddity::OddBoolean, || {
        format!(
            "{what} is `{}`, which PIPE 4.3 and PIPE 5 read differently; it is read as {value} (option `odd_boolean`)",
            text.value
        )
    });
    Some(value)
}

/// A coordinate or another number of the drawing; invalid text is skipped.
pub(super) fn drawn(text: Option<&Text<'_>>) -> Option<f64> {
    text.and_then(|t| t.value.trim().parse::<f64>().ok()).filter(|v| v.is_finite())
}

/// The point in the attributes `x` and `y`.
pub(super) fn point(element: Element<'_, '_>) -> Option<Point> {
    let (x, y) = (element.attribute("x"), element.attribute("y"));
    Some(Point { x: drawn(x.as_ref())?, y: drawn(y.as_ref())? })
}

/// The position in `<graphics>`.
pub(super) fn position(element: Element<'_, '_>) -> Option<Point> {
    point(element.child("graphics")?.child("position")?)
}

/// The offset of the label in `<name>`.
pub(super) fn label_offset(element: Element<'_, '_>) -> Point {
    let offset = element.child("name").and_then(|n| n.child("graphics")?.child("offset"));
    offset.and_then(point).unwrap_or_default()
}

/// One entry of a list such as `Default,1,Red,2`: a class, if given, and a text; both as byte ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) class: Option<Range<usize>>,
    pub(super) value: Range<usize>,
}

/// Splits a list of token classes. Ids of `declared` classes may contain commas and parentheses;
/// elsewhere, a comma inside parentheses belongs to the value.
pub(super) fn class_list(text: &str, declared: &[String]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let lead = rest.len() - rest.trim_start().len();
        let start = at + lead;
        let name_end =
            declared_class(&text[start..], declared).map_or_else(|| item_end(text, start), |len| start + len);
        let Some(value_start) = after_comma(text, name_end) else {
            entries.push(Entry { class: None, value: trimmed(text, start..item_end(text, start)) });
            break;
        };
        let value_end = item_end(text, value_start);
        entries
            .push(Entry { class: Some(trimmed(text, start..name_end)), value: trimmed(text, value_start..value_end) });
        at = value_end + 1;
    }
    entries
}

/// Length of the longest declared id at the start of `text` that is followed by a comma.
fn declared_class(text: &str, declared: &[String]) -> Option<usize> {
    let fits = |id: &&String| text.strip_prefix(id.as_str()).is_some_and(|rest| rest.trim_start().starts_with(','));
    declared.iter().filter(fits).map(String::len).max()
}

fn after_comma(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blanks = rest.len() - rest.trim_start().len();
    rest[blanks..].starts_with(',').then_some(at + blanks + 1)
}

/// The end of the item that starts at `start`: the next comma outside parentheses, or the end of the text.
fn item_end(text: &str, start: usize) -> usize {
    let mut depth = 0_u32;
    for (i, b) in text.as_bytes()[start..].iter().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return start + i,
            _ => {}
        }
    }
    text.len()
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let lead = piece.len() - piece.trim_start().len();
    let length = piece.trim().len();
    range.start + lead..range.start + lead + length
}

/// The bytes of a piece of a text; the bytes of the whole text if it contains escapes.
pub(super) fn inside(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    if text.value.len() == text.span.len() {
        text.span.start + range.start..text.span.start + range.end
    } else {
        text.span.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, declared: &[&str]) -> Vec<String> {
        let declared: Vec<_> = declared.iter().map(|s| (*s).to_owned()).collect();
        let show = |e: Entry| format!("{}={}", e.class.map_or("?", |c| &text[c]), &text[e.value]);
        class_list(text, &declared).into_iter().map(show).collect()
    }

    #[test]
    fn class_lists_are_split_at_the_right_commas() {
        assert_eq!(list("3", &[]), ["?=3"]);
        assert_eq!(list(" Default, 3 ,Red,1", &[]), ["Default=3", "Red=1"]);
        assert_eq!(list("Default,max(1,#(P0, Red)),Red,2", &[]), ["Default=max(1,#(P0, Red))", "Red=2"]);
        assert_eq!(list("max(1,2)", &[]), ["?=max(1,2)"]);
        assert_eq!(list("黑(默认),1,红,0", &["黑(默认)", "红"]), ["黑(默认)=1", "红=0"]);
        assert_eq!(list("a,b,1,a,2", &["a,b", "a"]), ["a,b=1", "a=2"]);
        assert_eq!(list("", &[]), Vec::<String>::new());
        assert_eq!(list("Default,", &[]), ["Default="]);
    }
}
