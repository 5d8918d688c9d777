//! The texts in a picture of a net: content and size.

use crate::formats::dot::timing_text;
use crate::formats::icon::HALF;
use crate::formats::layered::Node;
use crate::net::{Annotation, Net, Place, Transition};

/// Font size of names, in pixels.
pub(crate) const NAME_SIZE: f64 = 12.0;
/// Font size of rates, capacities and weights, in pixels.
pub(crate) const SMALL_SIZE: f64 = 11.0;
/// Distances from the middle of a node to the base line of a text below and above the node.
pub(crate) const BELOW: f64 = HALF + 13.0;
pub(crate) const ABOVE: f64 = HALF + 5.0;
/// Height of a text above and below its base line, as shares of the font size.
pub(crate) const RISE: f64 = 0.8;
pub(crate) const DROP: f64 = 0.25;
/// Maximum number of characters of a text.
const LONGEST: usize = 40;
/// Minimum width of a note whose text is broken into lines.
const NARROW: f64 = 60.0;
/// Height of a line of a note.
pub(crate) const NOTE_LINE: f64 = 15.0;
/// Space around the text of a note.
const NOTE_PADDING: f64 = 10.0;

/// The approximate width of a text in a sans-serif font, in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let share = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | 'J' | '\'' => 0.30,
        ' ' | 'f' | 't' | '.' | ',' | ':' | ';' | '/' | '\\' | '|' | '-' | '(' | ')' | '[' | ']' | '!' | 'r' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.97,
        '+' | '=' | '<' | '>' | '#' | '~' | '^' | '&' => 0.84,
        'A'..='Z' => 0.74,
        ' '..='~' => 0.62,
        '\u{1100}'.. => 1.0,
        _ => 0.75,
    };
    size * text.chars().map(share).sum::<f64>()
}

/// A text short enough for a picture: the middle of a long text is omitted.
pub(crate) fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let head = LONGEST * 2 / 3;
    let tail = LONGEST - head - 1;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// The rate, weight or delay distribution of a transition.
pub(crate) fn rate(net: &Net, transition: &Transition) -> String {
    shortened(&timing_text(net, &transition.timing))
}

/// The space that a place and its name need.
pub(crate) fn place_room(place: &Place) -> Node {
    let above = if place.capacity.is_some() { ABOVE + RISE * SMALL_SIZE } else { HALF };
    room(&shortened(place.label()), "", above, false, place.initial_total() > 0)
}

/// The space that a transition, its name and its rate need.
pub(crate) fn transition_room(net: &Net, transition: &Transition) -> Node {
    let rate = rate(net, transition);
    let above = if rate.is_empty() { HALF } else { ABOVE + RISE * SMALL_SIZE };
    room(&shortened(transition.label()), &rate, above, true, false)
}

fn room(name: &str, rate: &str, above: f64, second: bool, first: bool) -> Node {
    let half = 0.5 * width(name, NAME_SIZE).max(width(rate, SMALL_SIZE)).max(2.0 * HALF + 8.0);
    Node { second, first, half, up: above + 3.0, down: BELOW + DROP * NAME_SIZE }
}

/// The lines of a note, and its width and height.
pub(crate) fn note(note: &Annotation) -> (Vec<String>, f64, f64) {
    let room = if note.size.x >= NARROW { note.size.x - NOTE_PADDING } else { f64::INFINITY };
    let lines: Vec<_> = note.text.lines().flat_map(|line| wrapped(line, room)).collect();
    let longest = lines.iter().map(|line| width(line, NAME_SIZE)).fold(0.0, f64::max);
    let height = note.size.y.max(NOTE_LINE * lines.len() as f64 + 6.0);
    (lines, note.size.x.max(longest + NOTE_PADDING), height)
}

/// Lines of at most `room` pixels, broken between words.
fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            last.push_str(word);
            continue;
        }
        let longer = format!("{last} {word}");
        if width(&longer, NAME_SIZE) > room {
            lines.push(word.to_owned());
        } else {
            *last = longer;
        }
    }
    lines
}
