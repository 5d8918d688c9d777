//! Invalid compressed data.

use std::io;

/// Damage in a compressed stream.
pub(in crate::trace) fn damaged(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
