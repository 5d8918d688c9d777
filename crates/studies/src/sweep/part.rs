//! The text of a part: finished points, one per line, and a last line with their checksum.
//!
//! Writes, reads and checks the text. `sweep::store` chooses the files and handles damaged files.

use serde::{Deserialize, Serialize};

use crate::sweep::result::PointResult;

/// The last line of a part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LastLine {
    /// Number of points, one per line.
    points: u64,
    /// CRC-32 of all bytes before this line, as eight hexadecimal digits.
    crc32: String,
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Returns the text of a part with these points.
pub(super) fn write<'a>(results: impl Iterator<Item = &'a PointResult>) -> String {
    let (mut text, mut points) = (String::new(), 0);
    for result in results {
        // numbers, texts, and lists of numbers and texts, all of which JSON can hold
        text.extend(serde_json::to_string(result));
        text.push('\n');
        points += 1;
    }
    let last = LastLine { points, crc32: checksum(text.as_bytes()) };
    text.extend(serde_json::to_string(&last));
    text.push('\n');
    text
}

/// Returns the points of a part.
///
/// # Errors
///
/// The reason why the part is damaged.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<PointResult>, String> {
    const CUT: &str = "it is truncated: its last line is not a checksum";
    let without_end = bytes.strip_suffix(b"\n").ok_or(CUT)?;
    let start = without_end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (points, last) = without_end.split_at(start);
    let last: LastLine = serde_json::from_slice(last).map_err(|_| CUT)?;
    if checksum(points) != last.crc32 {
        return Err("it was changed: the checksum does not match".to_owned());
    }
    let found = read_lines(points)?;
    if found.len() as u64 != last.points {
        return Err(format!("it has {} points, not {}", found.len(), last.points));
    }
    Ok(found)
}

/// Returns the points of the lines before the checksum.
///
/// # Errors
///
/// The first line that is not a point.
fn read_lines(bytes: &[u8]) -> Result<Vec<PointResult>, String> {
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.is_empty());
    let point = |(number, line)| {
        serde_json::from_slice(line).map_err(|error| format!("line {number} is not a point of a sweep ({error})"))
    };
    lines.map(point).collect()
}
