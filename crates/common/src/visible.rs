//! Text from files without characters that steer a terminal or change the direction of the text after them.

use std::borrow::Cow;

/// Returns true for a character that steers a terminal, or that changes the direction of the text after it.
pub fn steers(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// Returns a text with the replacement character in place of each character that steers; line ends of Windows stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> = text.split("\r\n").map(|line| line.replace(steers, "\u{fffd}")).collect();
    Cow::Owned(lines.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_that_steers_changes() {
        assert!(matches!(visible("a\tb\nç 漢"), Cow::Borrowed(_)));
        assert_eq!(visible("a\r\nb\rc"), "a\r\nb\u{fffd}c");
        assert_eq!(visible("\u{1b}[31mred \u{202e}cba\u{2066} \u{7}"), "\u{fffd}[31mred \u{fffd}cba\u{fffd} \u{fffd}");
    }
}
