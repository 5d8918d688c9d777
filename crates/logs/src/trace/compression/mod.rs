//! Decompresses a log; the compression is detected by its first bytes: gzip, zstd, and the three framings of Spark that no other tool writes. A file
//! may be compressed more than once, such as a zstd log in a gzip attachment.

mod damage;
mod java;
mod zstd;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use snap::read::FrameDecoder as SnappyFrames;

use crate::trace::compression::java::{JavaBlocks, Lz4Block, Lzf, Snappy};
use crate::trace::compression::zstd::ZstdFrames;

pub(in crate::trace) use crate::trace::compression::damage::damaged;

/// Number of times that a stream is examined: one more than the maximum number of compressions.
const MOST_LAYERS: usize = 4;
/// Bytes per read.
const CHUNK: usize = 1 << 18;

/// An unsupported compression, with a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Name of the compression.
    pub what: &'static str,
    /// Recommendation.
    pub help: &'static str,
}

/// Text, or the unsupported compression.
#[allow(missing_debug_implementations, reason = "a stream has no useful debug form")]
pub enum Plain<'r> {
    /// The decompressed stream.
    Text(Box<dyn BufRead + 'r>),
    /// A compression that is not supported.
    Refused(Refused),
}

/// Removes all compressions of a stream.
///
/// # Errors
///
/// An error if the first bytes cannot be read.
pub fn plain<'r>(source: impl Read + 'r) -> io::Result<Plain<'r>> {
    let mut reader: Box<dyn BufRead + 'r> = Box::new(BufReader::with_capacity(CHUNK, source));
    for _ in 0..MOST_LAYERS {
        let (head, rest) = peek(reader)?;
        reader = Box::new(io::Cursor::new(head.clone()).chain(rest));
        reader = match head.as_slice() {
            [0x1f, 0x8b, ..] => buffered(MultiGzDecoder::new(reader)),
            // frames, and the skippable frames that may precede them
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => buffered(ZstdFrames::new(reader)),
            b if b.starts_with(b"LZ4Block") => buffered(JavaBlocks::new(reader, Lz4Block)),
            b if b.starts_with(b"\x82SNAPPY\0") => buffered(JavaBlocks::new(reader, Snappy::default())),
            b if b.starts_with(b"\xff\x06\0\0sNaPpY") => buffered(SnappyFrames::new(reader)),
            [b'Z', b'V', 0 | 1, ..] => buffered(JavaBlocks::new(reader, Lzf)),
            _ => return Ok(refused(&head).map_or(Plain::Text(reader), Plain::Refused)),
        };
    }
    Ok(Plain::Refused(Refused { what: "compressed too many times", help: "unpack it first" }))
}

/// Returns the first bytes of the text in a file, plain or compressed; empty for an unsupported compression. Damage after
/// some text is ignored here, because the reader of the file reports it.
///
/// # Errors
///
/// A file that cannot be opened, or whose first bytes cannot be read.
pub fn first_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    if let Plain::Text(text) = plain(File::open(path)?)? {
        let _ = text.take(most).read_to_end(&mut head);
    }
    Ok(head)
}

/// Number of bytes used to detect the compression of a stream.
const MAGIC: usize = 10;

/// Returns the first bytes of a stream, and the remaining stream. Damage in them is treated as the start of plain text.
fn peek<'r>(mut reader: Box<dyn BufRead + 'r>) -> io::Result<(Vec<u8>, Box<dyn BufRead + 'r>)> {
    let mut head = Vec::with_capacity(MAGIC);
    reader.by_ref().take(MAGIC as u64).read_to_end(&mut head)?;
    Ok((head, reader))
}

fn buffered<'r>(reader: impl Read + 'r) -> Box<dyn BufRead + 'r> {
    Box::new(BufReader::with_capacity(CHUNK, reader))
}

/// Returns a known but unsupported form.
fn refused(head: &[u8]) -> Option<Refused> {
    let known: [(&[u8], &str, &str); 8] = [
        (
            b"PK\x03\x04",
            "a zip archive",
            "save the zip archive as a file or unpack it: its directory is at its end, so a stream cannot be read",
        ),
        (b"\x04\x22\x4d\x18", "an lz4 frame file, which Spark does not write", "unpack it with `lz4 -d`"),
        (b"BZh", "compressed with bzip2", "unpack it with `bunzip2`"),
        (b"\xfd7zXZ\0", "compressed with xz", "unpack it with `unxz`"),
        (b"Obj\x01", "an Avro container", "convert it to JSON with `avro-tools tojson`"),
        (b"PAR1", "a Parquet file", "Parquet tables are not supported; convert them to CSV"),
        (b"\x7fELF", "a program", "use the log of a job"),
        (b"SQLite for", "a database", "use the log of a job"),
    ];
    let (_, what, help) = known.into_iter().find(|(magic, ..)| head.starts_with(magic))?;
    Some(Refused { what, help })
}
