//! Sources of reports: standard input, or a file that may grow, shrink or be compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use tailspn::diagnose::long_tail::{History, HistoryFeed};

use crate::cli::load::{decompressed, unreadable};
use crate::cli::notes::Failure;
use crate::cli::stdin::is_standard;
use tailspn::explain::reason;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;

/// Maximum number of chunks of standard input that wait to be processed.
const WAITING: usize = 4;

/// Interval between two checks for new reports.
const POLL: Duration = Duration::from_millis(100);

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A piece read from a source.
pub(crate) enum Chunk {
    Bytes(Vec<u8>),
    /// No data yet, after a short wait.
    Idle,
    /// The file became shorter and is read again from the start.
    Restarted,
    /// The end of the source.
    End,
    /// The rest is unreadable: the compressed data ends too early or is damaged.
    Damaged(io::Error),
}

/// The state of the input after the bytes that were read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing follows.
    Nothing,
    /// More bytes than requested.
    More,
    /// The rest is unreadable, because the compressed data ends too early or is damaged. Holds the reason.
    Damaged(String),
}

/// A source of reports.
pub(crate) enum ReportSource {
    /// Standard input, read by a thread so that Ctrl-C takes effect while there is no input.
    Stdin(Receiver<io::Result<Vec<u8>>>),
    /// A file that may grow.
    File { file: File, name: String, position: u64 },
    /// A compressed file, which does not grow.
    Compressed { reader: Box<dyn Read>, name: String },
}

impl ReportSource {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if is_standard(path) {
            return Ok(Self::stdin());
        }
        let name = path.display().to_string();
        let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let mut magic = [0; 2];
        let got = file.read(&mut magic).map_err(|error| unreadable(path, &error))?;
        file.rewind().map_err(|error| unreadable(path, &error))?;
        Ok(if magic[..got] == GZIP {
            Self::Compressed { reader: Box::new(MultiGzDecoder::new(file)), name }
        } else {
            Self::File { file, name, position: 0 }
        })
    }

    /// Returns true if the source is a file rather than a stream.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self, Self::Stdin(_))
    }

    /// Returns true if all reports are available immediately: the file does not grow, or the command does not wait
    /// for it
    /// to grow.
    pub(crate) fn is_complete(&self, until_idle: Option<Duration>) -> bool {
        match self {
            Self::Stdin(_) => false,
            Self::File { .. } => until_idle.is_some_and(|most| most.is_zero()),
            Self::Compressed { .. } => true,
        }
    }

    fn stdin() -> Self {
        let (send, receive) = sync_channel(WAITING);
        thread::spawn(move || {
            let mut reader = stdin_unpacked();
            loop {
                let chunk = next_bytes(&mut *reader);
                let last = !matches!(&chunk, Ok(bytes) if !bytes.is_empty());
                // without a reader there is nothing left to do
                if send.send(chunk).is_err() || last {
                    return;
                }
            }
        });
        Self::Stdin(receive)
    }

    /// Returns the next chunk; waits a moment if no chunk is ready.
    pub(crate) fn next(&mut self) -> Result<Chunk, Failure> {
        match self {
            Self::Stdin(receive) => match receive.recv_timeout(POLL) {
                Ok(Ok(bytes)) if bytes.is_empty() => Ok(Chunk::End),
                Ok(Ok(bytes)) => Ok(Chunk::Bytes(bytes)),
                Ok(Err(error)) => damaged("standard input", error),
                Err(RecvTimeoutError::Timeout) => Ok(Chunk::Idle),
                Err(RecvTimeoutError::Disconnected) => Ok(Chunk::End),
            },
            Self::Compressed { reader, name } => match next_bytes(&mut **reader) {
                Ok(bytes) => Ok(if bytes.is_empty() { Chunk::End } else { Chunk::Bytes(bytes) }),
                Err(error) => damaged(name, error),
            },
            Self::File { file, name, position } => {
                follow(file, position).map_err(|error| unreadable(Path::new(name), &error))
            }
        }
    }
}

/// Returns a reader of standard input that decompresses gzip.
pub(crate) fn stdin_unpacked() -> Box<dyn Read> {
    let mut input = BufReader::new(io::stdin());
    let compressed = input.fill_buf().is_ok_and(|start| start.starts_with(&GZIP));
    if compressed { Box::new(MultiGzDecoder::new(input)) } else { Box::new(input) }
}

fn follow(file: &mut File, position: &mut u64) -> io::Result<Chunk> {
    let bytes = next_bytes(file)?;
    if !bytes.is_empty() {
        *position += bytes.len() as u64;
        return Ok(Chunk::Bytes(bytes));
    }
    let found = file.metadata()?;
    if found.is_file() && found.len() < *position {
        file.rewind()?;
        *position = 0;
        return Ok(Chunk::Restarted);
    }
    thread::sleep(POLL);
    Ok(Chunk::Idle)
}

/// Reads the next bytes; empty at the end.
fn next_bytes(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK];
    loop {
        match reader.read(&mut bytes) {
            Ok(got) => {
                bytes.truncate(got);
                return Ok(bytes);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads the decompressed reports of a file as a stream: up to a number of bytes, or up to the first damage.
pub(crate) fn read_reports(path: &Path, most: u64, run: u32) -> Result<(History, Rest), Failure> {
    let mut text = decompressed(path)?;
    history_of(&mut text, most, run).map_err(|error| unreadable(path, &error))
}

/// Reads the reports of a stream, like [`read_reports`]. A stream that is damaged from the start is an error.
pub(crate) fn history_of(reader: &mut dyn Read, most: u64, run: u32) -> io::Result<(History, Rest)> {
    let (mut history, mut left, mut is_begun) = (HistoryFeed::default(), most, false);
    let rest = loop {
        let bytes = match next_bytes(reader) {
            Ok(bytes) if bytes.is_empty() => break Rest::Nothing,
            Ok(bytes) => bytes,
            Err(error) if is_damage(&error) && is_begun => break Rest::Damaged(reason(&error)),
            Err(error) => return Err(error),
        };
        is_begun = true;
        let used = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        history.push(&bytes[..used]);
        left -= used as u64;
        if used < bytes.len() {
            break Rest::More;
        }
    };
    Ok((history.finish(run), rest))
}

/// Returns true if the compressed data ends too early or is damaged; the data before that point are usable.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Returns the chunk for a source that ends in an error.
fn damaged(name: &str, error: io::Error) -> Result<Chunk, Failure> {
    if is_damage(&error) { Ok(Chunk::Damaged(error)) } else { Err(unreadable(Path::new(name), &error)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTS: &str = "kind\tpartition\tt_ms\tdone\ttotal\nmap\t1\t1000\t0\t10\nmap\t1\t3000\t10\t10\n";

    /// A source that fails at the end.
    struct Damage(bool);

    impl Read for Damage {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(if self.0 { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::PermissionDenied }))
        }
    }

    #[test]
    fn reports_are_read_up_to_the_limit_and_up_to_damage() {
        let (all, rest) = history_of(&mut REPORTS.as_bytes(), u64::MAX, 0).unwrap();
        assert_eq!((all.tasks.len(), all.tasks[0].points.len(), rest), (1, 2, Rest::Nothing));
        assert_eq!(history_of(&mut REPORTS.as_bytes(), REPORTS.len() as u64, 0).unwrap().1, Rest::Nothing);
        let (some, rest) = history_of(&mut REPORTS.as_bytes(), REPORTS.len() as u64 - 3, 0).unwrap();
        assert_eq!((some.tasks[0].points.len(), rest), (1, Rest::More));
        let (some, rest) = history_of(&mut REPORTS.as_bytes().chain(Damage(true)), u64::MAX, 0).unwrap();
        assert!(some.tasks[0].points.len() == 2 && matches!(rest, Rest::Damaged(_)));
        assert!(history_of(&mut Damage(true), u64::MAX, 0).is_err());
        assert!(history_of(&mut REPORTS.as_bytes().chain(Damage(false)), u64::MAX, 0).is_err());
    }
}
