//! Zip archives, as downloaded from Spark's History Server: their files, and the content of each as a stream.
//!
//! The crate `zip` reads the directory at the end of an archive. Entries are decompressed here, in pieces. So an entry
//! of any unpacked size takes no more memory than a compressed file. Names of entries are only labels; no files are
//! written.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use flate2::{Crc, CrcReader};
use zip::{CompressionMethod, ZipArchive};

use crate::trace::compression::damaged;

/// First bytes of an archive with entries, and of an empty archive.
const MAGIC: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// Bytes per read.
const CHUNK: usize = 1 << 16;

/// A file in an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    archive: PathBuf,
    /// The name with folders, separated by `/`.
    pub(super) name: String,
    /// Bytes as stored in the archive.
    pub(super) stored: u64,
    /// Bytes of the file itself, as the archive states.
    unpacked: u64,
    start: u64,
    checksum: u32,
    method: CompressionMethod,
    encrypted: bool,
}

/// Returns true if a file starts like a zip archive.
pub(super) fn is_archive(path: &Path) -> bool {
    let mut head = [0; 4];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && MAGIC.contains(&head.as_slice())
}

/// Returns the files of an archive in the order of their names, without folders and hidden files.
pub(super) fn entries(path: &Path) -> io::Result<Vec<Entry>> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(damaged)?;
    let mut entries = Vec::new();
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.replace('\\', "/");
        let file = name.rsplit('/').next().unwrap_or("");
        if entry.is_dir() || file.is_empty() || file.starts_with('.') || name.starts_with("__MACOSX/") {
            continue;
        }
        entries.push(Entry {
            archive: path.to_owned(),
            stored: entry.compressed_size(),
            unpacked: entry.size(),
            start: entry.data_start().ok_or_else(|| damaged("an empty entry"))?,
            checksum: entry.crc32(),
            method: entry.compression(),
            encrypted: entry.encrypted(),
            name,
        });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

impl Entry {
    /// Returns the archive and the entry, for messages: `logs.zip/app-1.zstd`.
    pub(super) fn label(&self) -> String {
        format!("{}/{}", self.archive.display(), self.name)
    }

    /// Returns the content of the file as a stream that checks its checksum at the end.
    ///
    /// # Errors
    ///
    /// An unreadable archive, or an entry that is encrypted or uses a compression that Java does not write.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read>> {
        let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        if self.encrypted {
            return refuse("the entry is encrypted; unpack the archive first".to_owned());
        }
        let mut file = File::open(&self.archive)?;
        file.seek(SeekFrom::Start(self.start))?;
        let stored = BufReader::with_capacity(CHUNK, file).take(self.stored);
        let source: Box<dyn Read> = match self.method {
            CompressionMethod::Stored => Box::new(stored),
            CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(stored)),
            method => return refuse(format!("the entry is compressed with {method}; unpack the archive first")),
        };
        let (checksum, unpacked) = (self.checksum, self.unpacked);
        Ok(Box::new(Checked { source: CrcReader::new(source), checksum, unpacked, is_told: false }))
    }
}

/// A stream that is compared, at its end, with the size and checksum stored in the archive.
struct Checked<R> {
    source: CrcReader<R>,
    checksum: u32,
    /// Expected number of bytes.
    unpacked: u64,
    is_told: bool,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(target)?;
        if n > 0 || target.is_empty() || self.is_told {
            return Ok(n);
        }
        self.is_told = true;
        let found: &Crc = self.source.crc();
        // the library counts bytes modulo 2^32
        let is_whole = found.sum() == self.checksum && found.amount() == self.unpacked as u32;
        if is_whole { Ok(0) } else { Err(damaged("the checksum of a zip entry does not match")) }
    }
}
