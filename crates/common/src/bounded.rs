//! Reads whole files into memory, up to a limit, because a path from a user can be a wrong file, a device or an endless
//! pipe.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a file that is read into memory: 1 GiB.
pub const MOST_BYTES: u64 = 1 << 30;

/// Reads a file of at most [`MOST_BYTES`].
///
/// # Errors
///
/// Errors of the operating system; [`io::ErrorKind::FileTooLarge`] if the file is larger.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read(File::open(path)?, MOST_BYTES)
}

/// Reads a text of at most [`MOST_BYTES`].
///
/// # Errors
///
/// The errors of [`read_file`]; [`io::ErrorKind::InvalidData`] if the text is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(read_file(path)?).map_err(invalid)
}

/// Reads a source to its end, up to a number of bytes.
///
/// # Errors
///
/// The errors of [`read_file`].
pub fn read(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let bytes = read_start(source, most)?;
    if bytes.len() as u64 > most {
        let what = format!("larger than the limit of {most} bytes; is it the right file?");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Reads a source to its end, or one byte more than a number of bytes, which reveals a longer source.
///
/// # Errors
///
/// Errors of the operating system.
pub fn read_start(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_up_to_the_limit() {
        assert_eq!(read(b"abc".as_slice(), 3).unwrap(), b"abc");
        let error = read(io::repeat(0), 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "larger than the limit of 3 bytes; is it the right file?");
    }
}
