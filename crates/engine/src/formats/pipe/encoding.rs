//! Decodes the bytes of a file according to its byte order mark and XML declaration.

use std::borrow::Cow;

use crate::formats::pipe::problem::{Fault, ReadError, ReadProblem, Spot};

/// The text of an XML file without its byte order mark; spans in errors and warnings count its bytes.
///
/// Supports UTF-8, UTF-16, ISO-8859-1, windows-1252 and US-ASCII. PIPE 5 on some machines declares UTF-8 but writes
/// other text, which is read as windows-1252.
///
/// # Errors
///
/// An unknown encoding, or bytes that are not valid text in the encoding.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ReadError> {
    decode_noting(bytes, usize::MAX).map(|(text, _)| text)
}

/// As [`decode`], for at most `limit` bytes; also returns true if the bytes were not in the declared encoding.
pub(crate) fn decode_noting(bytes: &[u8], limit: usize) -> Result<(Cow<'_, str>, bool), ReadError> {
    if bytes.len() > limit {
        return Err(refuse(Fault::TooLarge { bytes: bytes.len(), limit }));
    }
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Ok(utf8(rest)),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0, b'<', ..] => utf16(bytes, u16::from_be_bytes),
        [b'<', 0, ..] => utf16(bytes, u16::from_le_bytes),
        _ => by_declaration(bytes),
    }
}

fn by_declaration(bytes: &[u8]) -> Result<(Cow<'_, str>, bool), ReadError> {
    let Some(name) = declared_encoding(bytes) else { return Ok(utf8(bytes)) };
    match name.to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "us-ascii" | "ascii" => Ok(utf8(bytes)),
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "l1" => {
            let text = match std::str::from_utf8(bytes) {
                Ok(text) if text.is_ascii() => Cow::Borrowed(text),
                _ => Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()),
            };
            Ok((text, false))
        }
        "windows-1252" | "cp1252" | "cp-1252" => Ok((Cow::Owned(windows1252(bytes)), false)),
        _ => Err(refuse(Fault::UnknownEncoding { name })),
    }
}

/// The value of `encoding` in the XML declaration, which is ASCII in all encodings that reach this point.
fn declared_encoding(bytes: &[u8]) -> Option<String> {
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
    let rest = bytes[start..].strip_prefix(b"<?xml")?;
    let end = rest.iter().take(300).position(|&b| b == b'>')?;
    let declaration = String::from_utf8_lossy(&rest[..end]).into_owned();
    let (_, after) = declaration.split_once("encoding")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    after[1..].split(quote).next().map(str::to_owned)
}

fn utf8(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (Cow::Owned(windows1252(bytes)), true),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<(Cow<'_, str>, bool), ReadError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let bad = |byte| refuse(Fault::BadBytes { byte, encoding: "UTF-16" });
    if let [byte] = rest {
        return Err(bad(*byte));
    }
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect();
    match text {
        Ok(text) => Ok((Cow::Owned(text), false)),
        Err(lone) => Err(bad(lone.unpaired_surrogate().to_be_bytes()[0])),
    }
}

/// Characters of the bytes 0x80 to 0x9F; the five unassigned characters are the same as in ISO-8859-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows1252(bytes: &[u8]) -> String {
    let char_of = |&b: &u8| match b {
        0x80..=0x9F => WINDOWS_1252[usize::from(b - 0x80)],
        _ => char::from(b),
    };
    bytes.iter().map(char_of).collect()
}

fn refuse(fault: Fault) -> ReadError {
    let spot = Spot { line: 1, column: 1, span: 0..0 };
    ReadError { problems: vec![ReadProblem { spot, fault }], more: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        decode(bytes).unwrap().into_owned()
    }

    #[test]
    fn declared_encodings_are_decoded() {
        assert_eq!(
            text(b"<?xml version='1.0' encoding='ISO-8859-1'?>\xE4"),
            "<?xml version='1.0' encoding='ISO-8859-1'?>ä"
        );
        assert!(text(b"<?xml version='1.0' encoding=\"windows-1252\"?>\x80").ends_with('€'));
        assert_eq!(text(b"\xEF\xBB\xBF<a/>"), "<a/>");
        assert_eq!(text(b"\xFF\xFE<\0a\0/\0>\0"), "<a/>");
        assert_eq!(text(b"\xFE\xFF\0<\0a\0/\0>"), "<a/>");
        assert_eq!(text(b"<\0a\0/\0>\0"), "<a/>");
    }

    #[test]
    fn wrong_utf8_is_read_as_windows_1252() {
        let (text, wrong) = decode_noting(b"<?xml version='1.0' encoding='UTF-8'?>P\xE4", usize::MAX).unwrap();
        assert!(wrong && text.ends_with("Pä"));
    }

    #[test]
    fn unknown_encoding_and_half_utf16_are_refused() {
        let error = decode(b"<?xml version='1.0' encoding='KOI8-R'?>").unwrap_err();
        assert!(error.to_string().contains("line 1, column 1: encoding `KOI8-R` is not supported"));
        assert!(decode(b"\xFF\xFE<\0a").is_err());
        assert!(decode(b"\xFF\xFE\x00\xD8").is_err());
    }
}
