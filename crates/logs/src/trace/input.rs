//! The files of a log, and their text line by line, decompressed, with numbers of files and lines. The length of a line is limited, and reading can
//! be monitored and stopped.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::trace::archive::Entry;
use crate::trace::builder::Builder;
use crate::trace::compression::{Plain, plain};
use crate::trace::error::TraceError;
use crate::trace::read_options::ReadOptions;
use crate::trace::warning::WarningKind;
use crate::watch::Watch;

/// A piece of a log.
#[derive(Clone, Debug)]
pub(super) enum Part<'b> {
    /// A file.
    File(PathBuf),
    /// A file in a zip archive.
    Entry(Entry),
    /// Bytes already in memory, with their name in error messages.
    Bytes(&'b str, &'b [u8]),
    /// An open stream that can be read only once, with its name.
    Stream(&'b str),
}

impl<'b> Part<'b> {
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Entry(entry) => entry.label(),
            Self::Bytes(name, _) | Self::Stream(name) => (*name).to_owned(),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + 'b>> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Entry(entry) => entry.open()?,
            Self::Bytes(_, bytes) => Box::new(*bytes),
            Self::Stream(_) => return Err(io::Error::other("a stream can be read only once")),
        })
    }

    fn size(&self) -> u64 {
        match self {
            Self::File(path) => fs::metadata(path).map_or(0, |found| found.len()),
            Self::Entry(entry) => entry.stored,
            Self::Bytes(_, bytes) => bytes.len() as u64,
            Self::Stream(_) => 0,
        }
    }
}

fn failed(file: String) -> impl FnOnce(io::Error) -> TraceError {
    |source| TraceError::Io { file, source }
}

/// Opens a part's decompressed text at its start.
pub(super) fn open_text<'b>(part: &Part<'b>, counter: &Rc<Cell<u64>>) -> Result<Box<dyn BufRead + 'b>, TraceError> {
    let raw = part.open().map_err(|error| broken(part, error))?;
    decompressed(part, raw, counter)
}

/// Returns the decompressed text of a stream; `part` identifies it in errors.
fn decompressed<'b>(
    part: &Part<'b>,
    raw: impl Read + 'b,
    counter: &Rc<Cell<u64>>,
) -> Result<Box<dyn BufRead + 'b>, TraceError> {
    let counted = Counted { source: raw, bytes: Rc::clone(counter) };
    let text = plain(counted).map_err(|error| broken(part, error))?;
    match text {
        Plain::Text(text) => Ok(text),
        Plain::Refused(refused) => {
            Err(TraceError::NotALog { file: part.name(), what: refused.what.to_owned(), help: refused.help })
        }
    }
}

/// Returns the error for a part that cannot be opened, or whose first bytes cannot be decompressed.
fn broken(part: &Part<'_>, error: io::Error) -> TraceError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => damaged(part, &error),
        _ => failed(part.name())(error),
    }
}

/// Returns the error for a compressed file whose start cannot be read.
fn damaged(part: &Part<'_>, error: &io::Error) -> TraceError {
    let help = "copy the file again from the original log directory";
    TraceError::NotALog { file: part.name(), what: format!("damaged: {error}"), help }
}

/// A reader that counts the bytes read through it.
struct Counted<R> {
    source: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(target)?;
        self.bytes.set(self.bytes.get() + n as u64);
        Ok(n)
    }
}

/// The text of all parts, line by line.
pub(super) struct Lines<'b> {
    parts: Vec<Part<'b>>,
    longest: usize,
    planned: u64,
    read: Rc<Cell<u64>>,
    watch: &'b dyn Watch,
    /// The part being read: 1 for the first, 0 before it.
    part: usize,
    text: Option<Box<dyn BufRead + 'b>>,
    line: Vec<u8>,
    /// True if the current line ends with a line break.
    complete: bool,
}

/// Number of lines read between two checks of the clock and of Ctrl-C.
const LINES_BETWEEN_LOOKS: u64 = 256;

impl<'b> Lines<'b> {
    pub(super) fn new(parts: Vec<Part<'b>>, options: &ReadOptions, watch: &'b dyn Watch) -> Self {
        let planned = parts.iter().map(Part::size).sum();
        Self {
            parts,
            longest: options.longest_line,
            planned,
            read: Rc::new(Cell::new(0)),
            watch,
            part: 0,
            text: None,
            line: Vec::new(),
            complete: true,
        }
    }

    /// Returns the lines of a text that is open already; `read` counts the bytes of its file.
    pub(super) fn of_stream(open: OpenStream<'b>, options: &ReadOptions, watch: &'b dyn Watch) -> Self {
        let lines = Self::new(vec![Part::Stream(open.name)], options, watch);
        let text: Box<dyn BufRead + 'b> = Box::new(io::Cursor::new(open.head).chain(open.rest));
        Self { read: open.read, part: 1, text: Some(text), ..lines }
    }

    /// Returns the current line, without its end.
    pub(super) fn line(&self) -> &[u8] {
        let line = self.line.as_slice();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Returns true if the current line is truncated by the end of its file.
    pub(super) fn is_cut(&self) -> bool {
        !self.complete
    }

    /// Advances to the next line, across the ends of parts; returns false at the end of the log, or if reading is stopped.
    pub(super) fn next(&mut self, builder: &mut Builder) -> Result<bool, TraceError> {
        loop {
            if self.text.is_none() && !self.open_next(builder)? {
                return Ok(false);
            }
            if builder.at.line.is_multiple_of(LINES_BETWEEN_LOOKS) && self.is_stopped(builder) {
                return Ok(false);
            }
            let Some(text) = self.text.as_mut() else { continue };
            self.line.clear();
            builder.at.line += 1;
            // one byte above the limit distinguishes a line that is too long from one that just fits
            let read = text.by_ref().take(self.longest as u64 + 1).read_until(b'\n', &mut self.line);
            self.complete = self.line.ends_with(b"\n");
            builder.reading.text_bytes += self.line.len() as u64;
            match read {
                Ok(0) => {
                    builder.at.line -= 1;
                    self.text = None;
                }
                Ok(_) if !self.complete && self.line.len() > self.longest => self.skip_line(builder),
                Ok(_) => {
                    builder.reading.lines += 1;
                    return Ok(true);
                }
                Err(error) => {
                    builder.warn(WarningKind::CutFile, || error.to_string());
                    self.text = None;
                    if !self.line.is_empty() {
                        builder.reading.lines += 1;
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn open_next(&mut self, builder: &mut Builder) -> Result<bool, TraceError> {
        let Some(part) = self.parts.get(self.part) else {
            builder.reading.bytes = self.read.get();
            return Ok(false);
        };
        builder.at.file = u32::try_from(self.part).unwrap_or(u32::MAX);
        builder.at.line = 0;
        self.text = Some(open_text(part, &self.read)?);
        self.part += 1;
        Ok(true)
    }

    fn is_stopped(&mut self, builder: &mut Builder) -> bool {
        self.watch.progress(self.read.get(), self.planned);
        let stopped = self.watch.stopped();
        if stopped {
            builder.reading.partial = true;
            builder.reading.bytes = self.read.get();
        }
        stopped
    }

    /// Skips a line that is too long.
    fn skip_line(&mut self, builder: &mut Builder) {
        builder.reading.lines += 1;
        let limit = self.longest;
        builder.warn(WarningKind::LongLine, || format!("more than {limit} bytes"));
        loop {
            let Some(text) = self.text.as_mut() else { return };
            let (found, used) = match text.fill_buf() {
                Ok([]) => (true, 0),
                Ok(bytes) => match bytes.iter().position(|&byte| byte == b'\n') {
                    Some(end) => (true, end + 1),
                    None => (false, bytes.len()),
                },
                Err(error) => {
                    builder.warn(WarningKind::CutFile, || error.to_string());
                    self.text = None;
                    return;
                }
            };
            text.consume(used);
            builder.reading.text_bytes += used as u64;
            if found {
                return;
            }
        }
    }

    /// Returns the remaining log as one stream, for formats without lines. It counts lines, and ends early if
    /// the watch stops it.
    pub(super) fn into_stream(self) -> Stream<'b> {
        Stream { lines: self, newlines: Rc::new(Cell::new(1)), text: Rc::default(), failed: Rc::default(), looked: 0 }
    }
}

/// A log as one stream of bytes. Damage ends the stream, as if the file ended at that point.
pub(super) struct Stream<'b> {
    lines: Lines<'b>,
    newlines: Rc<Cell<u64>>,
    text: Rc<Cell<u64>>,
    failed: Rc<Cell<Option<String>>>,
    looked: u64,
}

/// State of a [`Stream`], available while another reader consumes it.
#[derive(Clone)]
pub(super) struct StreamState {
    newlines: Rc<Cell<u64>>,
    text: Rc<Cell<u64>>,
    failed: Rc<Cell<Option<String>>>,
    read: Rc<Cell<u64>>,
}

impl StreamState {
    /// Returns the current line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.newlines.get()
    }

    /// Returns the damage that ended the stream, if any; reported only once.
    pub(super) fn take_damage(&self) -> Option<String> {
        self.failed.take()
    }

    /// Returns the number of bytes of text read.
    pub(super) fn text_bytes(&self) -> u64 {
        self.text.get()
    }

    /// Returns the number of bytes of the file read.
    pub(super) fn bytes(&self) -> u64 {
        self.read.get()
    }
}

impl Stream<'_> {
    pub(super) fn state(&self) -> StreamState {
        StreamState {
            newlines: Rc::clone(&self.newlines),
            text: Rc::clone(&self.text),
            failed: Rc::clone(&self.failed),
            read: Rc::clone(&self.lines.read),
        }
    }

    /// Opens the first part; a stream has only one.
    pub(super) fn open(&mut self) -> Result<(), TraceError> {
        if let (None, Some(part)) = (&self.lines.text, self.lines.parts.first()) {
            self.lines.text = Some(open_text(part, &self.lines.read)?);
        }
        Ok(())
    }

    fn is_stopped(&mut self) -> bool {
        let read = self.lines.read.get();
        if read == self.looked {
            return false;
        }
        self.looked = read;
        self.lines.watch.progress(read, self.lines.planned);
        self.lines.watch.stopped()
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.is_stopped() {
            self.failed.set(Some("stopped".to_owned()));
            self.lines.text = None;
        }
        let Some(text) = self.lines.text.as_mut() else { return Ok(0) };
        match text.read(target) {
            Ok(n) => {
                let ends = target[..n].iter().filter(|&&byte| byte == b'\n').count();
                self.newlines.set(self.newlines.get() + ends as u64);
                self.text.set(self.text.get() + n as u64);
                Ok(n)
            }
            Err(error) => {
                self.failed.set(Some(error.to_string()));
                self.lines.text = None;
                Ok(0)
            }
        }
    }
}

/// A stream that was opened, decompressed, and read up to its head.
pub(super) struct OpenStream<'b> {
    name: &'b str,
    /// The start of the decompressed text.
    pub(super) head: Vec<u8>,
    rest: Box<dyn BufRead + 'b>,
    read: Rc<Cell<u64>>,
}

/// Opens a stream that can be read only once, and reads the first bytes of its text.
pub(super) fn open_stream<'b>(name: &'b str, source: impl Read + 'b, bytes: u64) -> Result<OpenStream<'b>, TraceError> {
    let (part, read) = (Part::Stream(name), Rc::default());
    let mut text = decompressed(&part, source, &read)?;
    let mut head = Vec::new();
    let rest: Box<dyn BufRead + 'b> = match text.by_ref().take(bytes).read_to_end(&mut head) {
        Ok(_) => text,
        Err(error) if head.is_empty() => return Err(damaged(&part, &error)),
        // damage after some text is counted at the end of the text
        Err(error) => Box::new(BufReader::new(Failing(Some(error)))),
    };
    Ok(OpenStream { name, head, rest, read })
}

/// A stream that only returns an error.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Returns the start of a part's text, for detecting its format.
pub(super) fn head(part: &Part<'_>, bytes: u64) -> Result<Vec<u8>, TraceError> {
    let mut head = Vec::new();
    let text = open_text(part, &Rc::default())?;
    match text.take(bytes).read_to_end(&mut head) {
        // damage after some text is counted while the log is read
        Err(error) if head.is_empty() => Err(damaged(part, &error)),
        _ => Ok(head),
    }
}

/// Truncates a text at its last line break, so that no partial line is examined.
pub(super) fn whole_lines(head: &[u8]) -> &[u8] {
    head.iter().rposition(|&byte| byte == b'\n').map_or(head, |end| &head[..=end])
}

/// Returns the regular files of a folder, by name; files starting with a dot are hidden.
pub(super) fn files_of(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    Ok(paths_of(folder)?.into_iter().filter(|path| path.is_file()).collect())
}

/// Returns the files and folders of a folder, by name; entries starting with a dot are hidden.
pub(super) fn paths_of(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let name = || folder.display().to_string();
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed(name()))? {
        let path = entry.map_err(failed(name()))?.path();
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
