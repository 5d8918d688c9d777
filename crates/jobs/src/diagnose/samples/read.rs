//! Reads samples: finds the files, tells their format, undoes gzip, and settles what to do where two files have the same series.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::diagnose::samples::collect::{Collector, Key};
use crate::diagnose::samples::file::{SampleFile, SampleFormat};
use crate::diagnose::samples::lines::{Failing, Limited, Lines};
use crate::diagnose::samples::series::{Sample, Samples, Series};
use crate::diagnose::samples::warning::{SampleWarning, SampleWarningKind};
use crate::diagnose::samples::{csv, json, text};
use crate::watch::Watch;

/// Bytes that tell the format of a file.
const HEAD: usize = 1 << 16;
/// How UTF-8 text of some programs begins.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Lines that are looked at.
const LINES: usize = 40;

/// Limits and what files do not say.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleOptions {
    /// How many seconds the clock of a text without time zone is before UTC. Default 0.
    pub utc_offset: f64,
    /// Most bytes of a file after decompression; what comes later is left out, with a warning. Default 1 GiB.
    pub most_bytes: u64,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { utc_offset: 0.0, most_bytes: 1 << 30 }
    }
}

/// Samples that cannot be read. Nothing of the file is kept; for oddities that do not stop the reading see [`SampleWarning`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A file cannot be opened or read.
    #[error("cannot read `{file}`: {source}")]
    Io {
        /// Name.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The file is something else, or in a form that is not read.
    #[error("`{file}` is {what}")]
    NotSamples {
        /// Name.
        file: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        help: &'static str,
    },
}

impl SampleError {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Io { .. } => None,
            Self::NotSamples { help, .. } => Some(help),
        }
    }
}

/// What a person can give.
const GIVE_SAMPLES: &str =
    "samples are read from mpstat, iostat -xt, sar -u -d -n DEV (text or JSON), sadf -d and sadf -j";

/// What the beginning of a file is.
enum Sniffed {
    Samples(SampleFormat),
    Other(&'static str, &'static str),
    Unknown,
}

/// Tells the format of samples by how their text begins.
fn sniff(head: &[u8]) -> Sniffed {
    if head.starts_with(&[0x96, 0xd5]) || head.starts_with(&[0xd5, 0x96]) {
        let help = "write it as text: sadf -j FILE -- -u ALL -P ALL -d -n DEV > FILE.json";
        return Sniffed::Other("a binary file of sar, which only the same version of sysstat reads", help);
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
            return Sniffed::Other("what pidstat writes: processes, not nodes", GIVE_SAMPLES);
        }
        if text::is_header(line) {
            return Sniffed::Samples(SampleFormat::Text);
        }
        banner |= text::is_banner(line);
    }
    if banner { Sniffed::Samples(SampleFormat::Text) } else { Sniffed::Unknown }
}

/// A reader of a file's text, unpacked where it is compressed with gzip.
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
    // damage after some text is counted when the file is read
    if let Err(error) = open(File::open(path)?)?.take(HEAD as u64).read_to_end(&mut head)
        && head.is_empty()
    {
        return Err(error);
    }
    Ok(head)
}

/// Returns true if a file holds samples of sysstat that can be read, or are known and refused by [`read_samples`].
pub fn is_samples(path: &Path) -> bool {
    path.is_file() && head(path).is_ok_and(|head| !matches!(sniff(&head), Sniffed::Unknown))
}

/// Returns true if a file holds samples of sysstat in a form that is read.
pub fn is_readable(path: &Path) -> bool {
    path.is_file() && head(path).is_ok_and(|head| matches!(sniff(&head), Sniffed::Samples(_)))
}

/// Reads the samples of several files together. Where two have the same series for the same time, that of the format that says
/// more of its times is used, of two equal ones the first.
///
/// # Errors
///
/// [`SampleError`] where a file cannot be read at all. What is odd but does not stop the reading is in [`Samples::warnings`].
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

/// Reads samples from bytes; `name` stands for the file in warnings and errors.
///
/// # Errors
///
/// As [`read_samples`].
pub fn read_samples_from_bytes(name: &str, bytes: &[u8], options: &SampleOptions) -> Result<Samples, SampleError> {
    let io = |source| SampleError::Io { file: name.to_owned(), source };
    let source = open(bytes).map_err(io)?;
    Ok(joined(vec![one(name, source, options)?]))
}

/// What was read of one file.
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
    // behind damage nothing can be read
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

/// The format of a file, by its beginning.
fn format_of(name: &str, head: &[u8]) -> Result<SampleFormat, SampleError> {
    let refuse = |what, help| Err(SampleError::NotSamples { file: name.to_owned(), what, help });
    match sniff(head) {
        Sniffed::Samples(format) => Ok(format),
        Sniffed::Other(what, help) => refuse(what, help),
        Sniffed::Unknown if head.is_empty() => refuse("empty", GIVE_SAMPLES),
        Sniffed::Unknown => refuse("nothing that sysstat writes", GIVE_SAMPLES),
    }
}

/// Puts the files together.
fn joined(mut read: Vec<Read1>) -> Samples {
    let mut samples = Samples::default();
    let mut together: BTreeMap<Key, Vec<Sample>> = BTreeMap::new();
    // preferred formats first, else in the order given
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

/// Returns true if the middle of a sample lies between the first and the last of those that are there already.
fn is_covered(there: &[Sample], sample: &Sample) -> bool {
    let middle = 0.5 * (sample.from + sample.to);
    there.first().zip(there.last()).is_some_and(|(first, last)| first.from <= middle && middle <= last.to)
}

/// Lets each sample begin where the one before it ended, at the earliest.
fn without_overlaps(samples: &mut Vec<Sample>) {
    for i in 1..samples.len() {
        samples[i].from = samples[i].from.max(samples[i - 1].to);
    }
    samples.retain(|sample| sample.from < sample.to);
}
