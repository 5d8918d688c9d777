//! Reads samples: finds the files, detects their format, decompresses gzip, and resolves series that occur in two files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use tailspn_common::explain::{ErrorKind, Explain, reason};

use crate::diagnose::samples::collect::{Collector, Key};
use crate::diagnose::samples::file::{SampleFile, SampleFormat};
use crate::diagnose::samples::lines::{Failing, Limited, Lines};
use crate::diagnose::samples::series::{Sample, Samples, Series};
use crate::diagnose::samples::warning::{SampleWarning, SampleWarningKind};
use crate::diagnose::samples::{csv, json, text};
use crate::watch::Watch;

/// Number of bytes used to detect the format of a file.
const HEAD: usize = 1 << 16;
/// UTF-8 byte order mark written by some programs at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of lines inspected.
const LINES: usize = 40;

/// Limits, and settings missing from the files.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleOptions {
    /// Seconds by which the clock of a text without time zone is ahead of UTC. Default 0.
    pub utc_offset: f64,
    /// Maximum number of bytes of a file after decompression; the rest is skipped, with a warning. Default 1 GiB.
    pub most_bytes: u64,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { utc_offset: 0.0, most_bytes: 1 << 30 }
    }
}

/// Error for samples that cannot be read. No content of the file is kept; for warnings that do not stop
/// reading, see [`SampleWarning`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A file cannot be opened or read.
    #[error("cannot read `{file}`: {}", reason(source))]
    Io {
        /// Name.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// The file is of another kind, or in an unsupported form.
    #[error("`{file}` is {what}")]
    NotSamples {
        /// Name.
        file: String,
        /// Description of the file.
        what: &'static str,
        /// Recommendation.
        help: &'static str,
    },
}

impl Explain for SampleError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } => ErrorKind::File,
            Self::NotSamples { .. } => ErrorKind::Log,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        let help: &'static str = match self {
            Self::Io { .. } => return None,
            Self::NotSamples { help, .. } => help,
        };
        Some(help.into())
    }
}

/// Samples that the user can provide.
const GIVE_SAMPLES: &str =
    "samples are read from mpstat, iostat -xt, sar -u -d -n DEV (text or JSON), sadf -d and sadf -j";

/// Content at the start of a file.
enum Sniffed {
    Samples(SampleFormat),
    Other(&'static str, &'static str),
    Unknown,
}

/// Detects the format of samples from the start of their text.
fn sniff(head: &[u8]) -> Sniffed {
    if head.starts_with(&[0x96, 0xd5]) || head.starts_with(&[0xd5, 0x96]) {
        let help = "write it as text: sadf -j FILE -- -u ALL -P ALL -d -n DEV > FILE.json";
        return Sniffed::Other("a binary sar file, which only the same version of sysstat can read", help);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        let named = |key: &str| text.contains(&format!("\"{key}\""));
        return if named("sysstat") && named("hosts") {
            Sniffed::Samples(SampleFormat::SadfJson)
        } else {
            Sniffed::Unknown
        };
    }
    let mut banner = false;
    for line in text.lines().take(LINES) {
        if line.starts_with(csv::HEADER) {
            return Sniffed::Samples(SampleFormat::SadfCsv);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.contains(&"PID") && (words.contains(&"Command") || words.contains(&"UID")) {
            return Sniffed::Other("output of pidstat: it describes processes, not nodes", GIVE_SAMPLES);
        }
        if text::is_header(line) {
            return Sniffed::Samples(SampleFormat::Text);
        }
        banner |= text::is_banner(line);
    }
    if banner { Sniffed::Samples(SampleFormat::Text) } else { Sniffed::Unknown }
}

/// Returns a reader of a file's text, decompressed if it is compressed with gzip.
fn open<'r>(source: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut source = source;
    let mut magic = Vec::new();
    source.by_ref().take(2).read_to_end(&mut magic)?;
    let packed = magic == [0x1f, 0x8b];
    let whole = io::Cursor::new(magic).chain(source);
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    // damage after some text is counted while the file is read
    if let Err(error) = open(File::open(path)?)?.take(HEAD as u64).read_to_end(&mut head)
        && head.is_empty()
    {
        return Err(error);
    }
    Ok(head)
}

/// Returns true if a file holds samples of sysstat that [`read_samples`] can read, or recognises but refuses.
pub fn is_samples(path: &Path) -> bool {
    path.is_file() && head(path).is_ok_and(|head| !matches!(sniff(&head), Sniffed::Unknown))
}

/// Returns true if a file holds samples of sysstat in a supported form.
pub fn is_readable(path: &Path) -> bool {
    path.is_file() && head(path).is_ok_and(|head| matches!(sniff(&head), Sniffed::Samples(_)))
}

/// Reads the samples of several files together. If two files have the same series for the same time, the format that states its times more completely
/// is used; if they are equal, the first.
///
/// # Errors
///
/// [`SampleError`] if a file cannot be read at all. Oddities that do not stop the reading are in [`Samples::warnings`].
pub fn read_samples(paths: &[PathBuf], options: &SampleOptions, watch: &dyn Watch) -> Result<Samples, SampleError> {
    let mut read = Vec::new();
    let sizes: Vec<u64> = paths.iter().map(|path| fs::metadata(path).map_or(0, |found| found.len())).collect();
    for (i, path) in paths.iter().enumerate() {
        watch.progress(sizes[..i].iter().sum(), sizes.iter().sum());
        if watch.stopped() {
            break;
        }
        let name = path.display().to_string();
        let io = |source| SampleError::Io { file: name.clone(), source };
        let source = open(File::open(path).map_err(io)?).map_err(io)?;
        read.push(one(&name, source, options)?);
    }
    Ok(joined(read))
}

/// Reads samples from bytes; `name` is the file's name in warnings and errors.
///
/// # Errors
///
/// Same as [`read_samples`].
pub fn read_samples_from_bytes(name: &str, bytes: &[u8], options: &SampleOptions) -> Result<Samples, SampleError> {
    let io = |source| SampleError::Io { file: name.to_owned(), source };
    let source = open(bytes).map_err(io)?;
    Ok(joined(vec![one(name, source, options)?]))
}

/// Content read from one file.
struct Read1 {
    name: String,
    format: SampleFormat,
    collector: Collector,
}

fn one<'r>(name: &str, source: Box<dyn Read + 'r>, options: &SampleOptions) -> Result<Read1, SampleError> {
    let mut limited = Limited::new(source, options.most_bytes);
    let mut head = Vec::new();
    let damage = limited.by_ref().take(HEAD as u64).read_to_end(&mut head).err();
    let damage = match damage {
        Some(source) if head.is_empty() => return Err(SampleError::Io { file: name.to_owned(), source }),
        damage => damage,
    };
    let format = format_of(name, &head)?;
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
    // nothing can be read after damage
    let rest: Box<dyn Read + 'r> = if damage.is_some() { Box::new(Failing(damage)) } else { Box::new(limited) };
    let mut text = BufReader::new(text.chain(rest));
    let mut collector = Collector::default();
    let damage = match format {
        SampleFormat::SadfJson => json::read(&mut text, options.utc_offset, &mut collector),
        SampleFormat::Text | SampleFormat::SadfCsv => {
            let read = if format == SampleFormat::Text { text::read } else { csv::read };
            let mut lines = Lines::new(&mut text);
            read(&mut lines, options.utc_offset, &mut collector);
            lines.into_damage()
        }
    };
    if let Some(damage) = damage {
        collector.warn(SampleWarningKind::CutFile, &damage);
    }
    Ok(Read1 { name: name.to_owned(), format, collector })
}

/// Returns the format of a file, from its start.
fn format_of(name: &str, head: &[u8]) -> Result<SampleFormat, SampleError> {
    let refuse = |what, help| Err(SampleError::NotSamples { file: name.to_owned(), what, help });
    match sniff(head) {
        Sniffed::Samples(format) => Ok(format),
        Sniffed::Other(what, help) => refuse(what, help),
        Sniffed::Unknown if head.is_empty() => refuse("empty", GIVE_SAMPLES),
        Sniffed::Unknown => refuse("not output of sysstat", GIVE_SAMPLES),
    }
}

/// Joins the files.
fn joined(mut read: Vec<Read1>) -> Samples {
    let mut samples = Samples::default();
    let mut together: BTreeMap<Key, Vec<Sample>> = BTreeMap::new();
    // preferred formats first, otherwise in the order given
    read.sort_by_key(|file| std::cmp::Reverse(file.format));
    for file in read {
        let mut taken = 0;
        let mut twice = 0;
        samples.warnings.extend(file.collector.warnings(&file.name));
        for (key, found) in file.collector.series {
            let there = together.entry(key).or_default();
            let before = there.len();
            let new: Vec<Sample> = found.into_iter().filter(|sample| !is_covered(there, sample)).collect();
            if new.is_empty() {
                twice += 1;
                continue;
            }
            taken += 1;
            there.extend(new);
            if before > 0 {
                there.sort_by(|a, b| a.to.total_cmp(&b.to));
                without_overlaps(there);
            }
        }
        if twice > 0 {
            samples.warnings.push(SampleWarning {
                kind: SampleWarningKind::Twice,
                file: file.name.clone(),
                line: 0,
                count: twice,
                example: String::new(),
            });
        }
        samples.files.push(SampleFile {
            name: file.name,
            format: file.format,
            rows: file.collector.rows,
            series: taken,
        });
    }
    samples.series =
        together.into_iter().map(|((host, device, meter), samples)| Series { host, device, meter, samples }).collect();
    samples
}

/// Returns true if the middle of a sample is between the first and the last of the existing samples.
fn is_covered(there: &[Sample], sample: &Sample) -> bool {
    let middle = 0.5 * (sample.from + sample.to);
    there.first().zip(there.last()).is_some_and(|(first, last)| first.from <= middle && middle <= last.to)
}

/// Makes each sample start no earlier than the end of the previous sample.
fn without_overlaps(samples: &mut Vec<Sample>) {
    for i in 1..samples.len() {
        samples[i].from = samples[i].from.max(samples[i - 1].to);
    }
    samples.retain(|sample| sample.from < sample.to);
}
