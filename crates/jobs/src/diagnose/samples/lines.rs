//! The text of samples as a stream: bytes up to a limit, and lines up to a length, so that memory does not grow with the file.

use std::io::{self, BufRead, Read};

use crate::diagnose::samples::collect::Collector;
use crate::diagnose::samples::warning::SampleWarningKind;

/// Maximum length of a line, in bytes. Longer lines are skipped and counted.
const LONGEST_LINE: usize = 1 << 20;

/// A reader that fails after its last permitted byte, unless the source ends there.
pub(super) struct Limited<R> {
    source: R,
    most: u64,
    left: u64,
}

impl<R: Read> Limited<R> {
    pub(super) fn new(source: R, most: u64) -> Self {
        Self { source, most, left: most }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return match self.source.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(format!("longer than {} bytes", self.most))),
            };
        }
        let most = usize::try_from(self.left).map_or(target.len(), |left| left.min(target.len()));
        let read = self.source.read(&mut target[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// A reader that only returns an error.
pub(super) struct Failing(pub(super) Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A line without its end.
pub(super) struct Line<'l> {
    pub(super) text: std::borrow::Cow<'l, str>,
    /// True if the text ends inside the line.
    pub(super) is_cut: bool,
}

/// The lines of a text.
pub(super) struct Lines<'r> {
    source: &'r mut dyn BufRead,
    line: Vec<u8>,
    longest: usize,
    damage: Option<String>,
}

impl<'r> Lines<'r> {
    pub(super) fn new(source: &'r mut dyn BufRead) -> Self {
        Self { source, line: Vec::new(), longest: LONGEST_LINE, damage: None }
    }

    /// Returns the next line, and counts it; none at the end of the text, or if it cannot be read.
    pub(super) fn next(&mut self, collector: &mut Collector) -> Option<Line<'_>> {
        loop {
            if self.damage.is_some() {
                return None;
            }
            collector.line += 1;
            self.line.clear();
            // one byte more than the limit distinguishes a line that is too long from one that just fits
            let read = (&mut *self.source).take(self.longest as u64 + 1).read_until(b'\n', &mut self.line);
            self.damage = read.err().map(|error| error.to_string());
            let is_whole = self.line.ends_with(b"\n");
            if self.line.is_empty() {
                return None;
            }
            if is_whole || self.line.len() <= self.longest {
                let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                return Some(Line { text: String::from_utf8_lossy(line), is_cut: !is_whole });
            }
            collector.warn(SampleWarningKind::LongLine, &String::from_utf8_lossy(&self.line[..80]));
            self.skip_line();
        }
    }

    /// Skips to the end of a line that is too long.
    fn skip_line(&mut self) {
        loop {
            let (used, is_end) = match self.source.fill_buf() {
                Ok([]) => return,
                Ok(part) => match part.iter().position(|&byte| byte == b'\n') {
                    Some(end) => (end + 1, true),
                    None => (part.len(), false),
                },
                Err(error) => {
                    self.damage = Some(error.to_string());
                    return;
                }
            };
            self.source.consume(used);
            if is_end {
                return;
            }
        }
    }

    /// Returns the reason why the text could not be read to its end; none if the whole text was read.
    pub(super) fn into_damage(self) -> Option<String> {
        self.damage
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// The lines with whether each is cut, the warnings with their lines, and the damage.
    #[derive(Debug, Default, PartialEq)]
    struct ReadLines {
        lines: Vec<(String, bool)>,
        warned: Vec<(SampleWarningKind, u64)>,
        damage: Option<String>,
    }

    fn lines(source: impl Read, longest: usize) -> ReadLines {
        let (mut source, mut collector) = (BufReader::with_capacity(4, source), Collector::default());
        let mut lines = Lines { longest, ..Lines::new(&mut source) };
        let mut found = ReadLines::default();
        while let Some(line) = lines.next(&mut collector) {
            found.lines.push((line.text.into_owned(), line.is_cut));
        }
        found.damage = lines.into_damage();
        found.warned = collector.warnings("f").iter().map(|warning| (warning.kind, warning.line)).collect();
        found
    }

    #[test]
    fn long_lines_are_left_out_and_numbers_stay_right() {
        let long = "x".repeat(200);
        let text = format!("ab\r\n{long}\ncdefgh\n\nij");
        let found = lines(text.as_bytes(), 90);
        let expected = [("ab", false), ("cdefgh", false), ("", false), ("ij", true)];
        assert_eq!(found.lines, expected.map(|(text, cut)| (text.to_owned(), cut)));
        assert_eq!((found.warned, found.damage), (vec![(SampleWarningKind::LongLine, 2)], None));
    }

    #[test]
    fn lines_before_the_size_limit_are_used_and_the_limit_is_reported() {
        let of = |most| lines(Limited::new("ab\ncd\n".as_bytes(), most), 90);
        assert_eq!(of(6).damage, None);
        let found = of(4);
        assert_eq!(found.lines, [("ab".to_owned(), false), ("c".to_owned(), true)]);
        assert_eq!(found.damage.as_deref(), Some("longer than 4 bytes"));
        let found = of(3);
        assert_eq!((found.lines.len(), found.damage.as_deref()), (1, Some("longer than 3 bytes")));
    }
}
