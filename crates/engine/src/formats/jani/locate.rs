//! Positions of values in a JSON document: the pointer (RFC 6901), and the bytes in the text.
//!
//! serde_json keeps no positions. A refused value is located by its address in the tree, then in the text.

use std::ops::Range;

use serde_json::Value;

/// One step from a value to a part of it.
enum Step<'j> {
    Key(&'j str),
    Index(usize),
}

/// The pointer of `wanted`, which is a part of `root`, and the bytes of its first line in `text`, from which `root` was read.
pub(super) fn locate(root: &Value, wanted: &Value, text: &str) -> (String, Range<usize>) {
    let mut path = Vec::new();
    if !find(root, wanted, &mut path) {
        return (String::new(), 0..0);
    }
    let mut cursor = Cursor { text, at: 0 };
    cursor.blank();
    let mut span = cursor.at..text.len();
    for step in &path {
        match cursor.part(step) {
            Some(found) => span = found,
            None => break,
        }
        cursor.at = span.start;
    }
    let line = text[span.clone()].find('\n').map_or(span.end, |length| span.start + length);
    (path.iter().map(Step::text).collect(), span.start..line)
}

/// Finds `wanted` below `value`, by its address.
fn find<'j>(value: &'j Value, wanted: &Value, path: &mut Vec<Step<'j>>) -> bool {
    if std::ptr::eq(value, wanted) {
        return true;
    }
    let mut below = |step: Step<'j>, part: &'j Value| {
        path.push(step);
        let found = find(part, wanted, path);
        if !found {
            path.pop();
        }
        found
    };
    match value {
        Value::Object(parts) => parts.iter().any(|(key, part)| below(Step::Key(key), part)),
        Value::Array(parts) => parts.iter().enumerate().any(|(i, part)| below(Step::Index(i), part)),
        _ => false,
    }
}

impl Step<'_> {
    fn text(&self) -> String {
        match self {
            Self::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            Self::Index(index) => format!("/{index}"),
        }
    }
}

/// Walks over the text of a well-formed document.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl Cursor<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips blanks, then one byte, then blanks again.
    fn pass(&mut self) {
        self.blank();
        self.at += 1;
        self.blank();
    }

    /// The bytes of the part that a step leads to, with the cursor at an object or an array.
    fn part(&mut self, step: &Step<'_>) -> Option<Range<usize>> {
        let mut found = None;
        let mut index = 0;
        self.pass();
        while !matches!(self.byte(), None | Some(b'}' | b']')) {
            let wanted = match step {
                Step::Index(wanted) => index == *wanted,
                Step::Key(wanted) => {
                    let key = self.value();
                    self.pass();
                    serde_json::from_str::<String>(&self.text[key]).is_ok_and(|key| key == *wanted)
                }
            };
            let value = self.value();
            // if two parts have the same key, the last one counts
            if wanted {
                found = Some(value);
            }
            index += 1;
            self.blank();
            if self.byte() == Some(b',') {
                self.pass();
            }
        }
        found
    }

    /// Passes a value and returns its bytes.
    fn value(&mut self) -> Range<usize> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 0 => depth -= 1,
                b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return start..self.at,
                _ => {}
            }
            self.at += 1;
            if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
                break;
            }
        }
        start..self.at
    }

    /// Moves the cursor from the first quote of a string past the last one.
    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte().filter(|byte| *byte != b'"') {
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_the_text() {
        let text = "{ \"a\": [1, \"]\\\"\",\n {\"x/y\" : {\"b\": true}}], \"c\":null}";
        let root: Value = serde_json::from_str(text).unwrap();
        let shown = |wanted: &Value| {
            let (pointer, span) = locate(&root, wanted, text);
            (pointer, &text[span])
        };
        assert_eq!(shown(&root["a"][1]), ("/a/1".to_owned(), "\"]\\\"\""));
        assert_eq!(shown(&root["a"][2]["x/y"]["b"]), ("/a/2/x~1y/b".to_owned(), "true"));
        assert_eq!(shown(&root["c"]), ("/c".to_owned(), "null"));
        assert_eq!(shown(&root["a"]), ("/a".to_owned(), "[1, \"]\\\"\","));
        assert_eq!(shown(&root).0, "");
    }
}
