//! Reads nets from PIPE XML, PNML, GreatSPN's files and JANI, and writes nets as PIPE XML, PNML, GreatSPN projects, JANI,
//! the PRISM language, Graphviz DOT and SVG.
//!
//! [`read_file`] detects formats and dialects by content; [`pipe`] documents PIPE, its relatives and PNML, [`greatspn`]
//! documents GreatSPN. Writers return the text and everything that the format cannot express. Nothing is printed, and an
//! existing file is replaced only by a complete one.

pub mod dot;
pub mod greatspn;
#[cfg(feature = "jani")]
pub mod jani;
pub mod pipe;
pub mod prism;
pub mod svg;

mod commands;
#[cfg(test)]
mod damage;
mod foreign;
mod icon;
mod labels;
mod layered;
mod layout;
mod near;
mod picture;
mod route;
pub mod svg_parts;
mod texts;

pub use layout::arranged;
pub use picture::{Positions, Unreadable};

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

pub use commands::ExportError;

use crate::formats::pipe::{Fault, ReadError, ReadNet, ReadOptions, ReadProblem, Spot, WriteOptions, WriteWarning};
use crate::net::Net;
use crate::whole_file;

/// A file format for nets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// XML of PIPE and its relatives; read and written.
    Pipe,
    /// PNML of ISO/IEC 15909-2; read and written.
    Pnml,
    /// A project of GreatSPN's editor (`.PNPRO`); read and written.
    GreatSpn,
    /// GreatSPN's older `.net`, with a `.def` in the same folder; read only.
    GreatSpnNet,
    /// JANI, the format of model checkers; read and written.
    #[cfg(feature = "jani")]
    Jani,
    /// The language of PRISM; written only.
    Prism,
    /// Graphviz DOT; written only.
    Dot,
    /// A picture; written only.
    Svg,
}

/// Number of bytes of a file that are examined to detect its format.
const SNIFFED: usize = 4096;

impl Format {
    /// The format of a file by its first bytes, or `None` if they match no format.
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(SNIFFED)];
        let even = &head[..head.len() & !1];
        let text = pipe::decode(even).ok()?;
        let text = text.trim_start();
        if text.contains("<pnml") || text.contains(":pnml") {
            Some(if text.contains("pnml.org/version-2009") { Self::Pnml } else { Self::Pipe })
        } else if text.contains("<gspn") || text.contains("<project") && !text.contains("xmlns") {
            Some(Self::GreatSpn)
        } else if text.starts_with('|') && text.lines().any(|line| line.starts_with("f ")) {
            Some(Self::GreatSpnNet)
        } else if cfg!(feature = "jani") && text.starts_with('{') {
            Self::of_json(text)
        } else if text.contains("<svg") {
            Some(Self::Svg)
        } else if ["digraph", "graph", "strict"].iter().any(|word| text.starts_with(word)) {
            Some(Self::Dot)
        } else {
            None
        }
    }

    /// The format of a text in JSON.
    #[cfg(feature = "jani")]
    fn of_json(text: &str) -> Option<Self> {
        jani::looks_like(text).then_some(Self::Jani)
    }

    #[cfg(not(feature = "jani"))]
    fn of_json(_: &str) -> Option<Self> {
        None
    }

    /// The format that the extension of a file name stands for: `.dot`, `.gv`, `.svg`, `.PNPRO`, `.net`, `.pnml`, `.jani`, `.prism`, `.sm`, and PIPE XML for `.xml`.
    pub fn of_name(path: &Path) -> Option<Self> {
        Self::of_extension(path.extension()?.to_str()?)
    }

    fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "xml" => Some(Self::Pipe),
            "pnml" => Some(Self::Pnml),
            "pnpro" => Some(Self::GreatSpn),
            "net" => Some(Self::GreatSpnNet),
            "dot" | "gv" => Some(Self::Dot),
            "svg" => Some(Self::Svg),
            #[cfg(feature = "jani")]
            "jani" => Some(Self::Jani),
            "prism" | "sm" => Some(Self::Prism),
            _ => None,
        }
    }
}

/// Reason why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFileError {
    /// The file cannot be opened or read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a readable net; lists every problem with its line and column.
    #[error("`{}` is refused:\n{problems}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The problems in the file.
        problems: ReadError,
    },
}

/// Reason why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFileError {
    /// The folder or file cannot be written. The previous content is unchanged.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The format cannot express everything in the net; lists all such parts.
    #[error("cannot write `{}`: {}", path.display(), problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Features that the format cannot express, at least one.
        problems: Vec<ExportError>,
    },
}

/// The options for the file at `path`: its extension and, for a `.net`, the text of the `.def` in the same folder.
#[must_use]
pub fn options_beside(path: &Path, options: &ReadOptions) -> ReadOptions {
    let mut options = options.clone();
    let extension = path.extension().and_then(|extension| extension.to_str());
    options.extension = options.extension.or_else(|| extension.map(str::to_owned));
    let is_net = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("net"));
    if is_net && options.definitions.is_none() {
        let definitions = File::open(path.with_extension("def")).and_then(|file| {
            let mut bytes = Vec::new();
            file.take(u64::try_from(options.max_bytes).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        options.definitions = definitions.ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    }
    options
}

/// Size of a file from which its text is not kept in memory if possible \[bytes\].
const LARGE: u64 = 1 << 24;

/// Reads a net from a large file of PIPE XML in memory for the net only; `None` for another file, and wherever
/// [`pipe::read_plain`] needs the text.
pub fn read_large(path: &Path, options: &ReadOptions) -> Option<ReadNet> {
    let mut file = File::open(path)
        .ok()
        .filter(|file| file.metadata().is_ok_and(|about| about.is_file() && about.len() > LARGE))?;
    let mut head = [0; SNIFFED];
    let read = file.read(&mut head).ok()?;
    let is_pipe = Format::sniff(&head[..read]) == Some(Format::Pipe);
    if is_pipe { pipe::read_plain(head[..read].chain(file), options) } else { None }
}

/// Reads a net from a file in any readable format.
///
/// # Errors
///
/// The file cannot be read, or is refused; then the error lists everything that is wrong in the file.
pub fn read_file(path: &Path, options: &ReadOptions) -> Result<ReadNet, ReadFileError> {
    let failed = |source| ReadFileError::Io { path: path.to_owned(), source };
    if let Some(read) = read_large(path, options) {
        return Ok(read);
    }
    let mut bytes = Vec::new();
    // one byte more than the limit reveals a longer file
    let most = u64::try_from(options.max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(failed)?;
    let options = options_beside(path, options);
    read_bytes(&bytes, &options).map_err(|problems| ReadFileError::Refused { path: path.to_owned(), problems })
}

/// Reads a net from the bytes of a file in any readable format.
///
/// # Errors
///
/// All problems of the file; DOT and SVG files are refused, since they do not contain a complete net.
pub fn read_bytes(bytes: &[u8], options: &ReadOptions) -> Result<ReadNet, ReadError> {
    match Format::sniff(bytes) {
        Some(Format::GreatSpn) => greatspn::read_project(bytes, options),
        Some(Format::GreatSpnNet) => greatspn::read_net(bytes, options),
        Some(format @ (Format::Dot | Format::Svg)) => {
            let found = format!("{format:?}").to_ascii_lowercase();
            let spot = Spot { line: 1, column: 1, span: 0..0 };
            Err(ReadError { problems: vec![ReadProblem { spot, fault: Fault::WrongRoot { found } }], more: 0 })
        }
        #[cfg(feature = "jani")]
        Some(Format::Jani) => read_jani(bytes, options),
        found => match foreign_text(bytes).filter(|_| found != Some(Format::Pnml)) {
            Some(foreign::Foreign { what, advice }) => {
                let spot = Spot { line: 1, column: 1, span: 0..0 };
                let fault = Fault::OtherTool { what, advice };
                Err(ReadError { problems: vec![ReadProblem { spot, fault }], more: 0 })
            }
            None if found.is_none() => read_by_extension(bytes, options),
            None => pipe::read(bytes, options),
        },
    }
}

#[cfg(feature = "jani")]
fn read_jani(bytes: &[u8], options: &ReadOptions) -> Result<ReadNet, ReadError> {
    let jani::Model { net, properties } = jani::read(bytes, options)?;
    let taken = options.constants.iter().map(|(name, _)| name.clone()).collect();
    Ok(ReadNet { net, dialect: pipe::Dialect::Jani, warnings: Vec::new(), taken, properties })
}

/// Reads a text that shows no format, to report its damage as its name suggests.
fn read_by_extension(bytes: &[u8], options: &ReadOptions) -> Result<ReadNet, ReadError> {
    let named = options.extension.as_deref().and_then(Format::of_extension);
    let expected = match named {
        Some(Format::GreatSpn) => "a project of GreatSPN",
        Some(Format::GreatSpnNet) => "a net of GreatSPN",
        #[cfg(feature = "jani")]
        Some(Format::Jani) => "a JANI model",
        _ => return pipe::read(bytes, options),
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let spot = Spot { line: 1, column: 1, span: 0..0 };
        return Err(ReadError { problems: vec![ReadProblem { spot, fault: Fault::Empty { expected } }], more: 0 });
    }
    match named {
        Some(Format::GreatSpn) => greatspn::read_project(bytes, options),
        Some(Format::GreatSpnNet) => greatspn::read_net(bytes, options),
        #[cfg(feature = "jani")]
        Some(Format::Jani) => read_jani(bytes, options),
        _ => pipe::read(bytes, options),
    }
}

/// Recognises a file of another tool that is not read.
fn foreign_text(bytes: &[u8]) -> Option<foreign::Foreign> {
    foreign::foreign(&String::from_utf8_lossy(&bytes[..bytes.len().min(SNIFFED)]))
}

impl Net {
    /// Reads a net from a file of any readable format, detected by content: PIPE XML of every generation, PNML,
    /// GreatSPN's projects and `.net` files. [`read_file`] also returns warnings about the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a net; then the error lists every problem with its line and column.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadFileError> {
        Ok(read_file(path.as_ref(), &ReadOptions::default())?.net)
    }

    /// Reads a net from the content of a file in any readable format.
    ///
    /// # Errors
    ///
    /// Everything that is wrong in the file.
    pub fn read(bytes: impl AsRef<[u8]>) -> Result<Self, ReadError> {
        Ok(read_bytes(bytes.as_ref(), &ReadOptions::default())?.net)
    }
}

/// Writes a net; on an error, the file stays unchanged. A `.net` of GreatSPN gets its `.def` in the same folder.
///
/// # Errors
///
/// The file cannot be written, or its format cannot express the net.
pub fn write_file(
    net: &Net,
    path: &Path,
    format: Format,
    options: &WriteOptions,
) -> Result<Vec<WriteWarning>, WriteFileError> {
    let refused = |problems: Vec<ExportError>| WriteFileError::Refused { path: path.to_owned(), problems };
    let (text, warnings) = match format {
        Format::Pipe => {
            let written = pipe::write(net, options);
            (written.xml, written.warnings)
        }
        Format::Pnml => {
            let written = pipe::write_pnml(net);
            (written.xml, written.warnings)
        }
        Format::GreatSpn => {
            let written = greatspn::write(net).map_err(refused)?;
            (written.xml, written.warnings)
        }
        Format::Dot => (dot::dot(net), Vec::new()),
        Format::Svg => (svg::svg(net), Vec::new()),
        Format::GreatSpnNet => {
            let pair = greatspn::write_pair(net).map_err(refused)?;
            let definitions = path.with_extension("def");
            whole_file::replace(&definitions, pair.def.as_bytes())
                .map_err(|source| WriteFileError::Io { path: definitions, source })?;
            (pair.net, pair.warnings)
        }
        #[cfg(feature = "jani")]
        Format::Jani => (jani::write(net, &[]).map_err(refused)?, Vec::new()),
        Format::Prism => (prism::prism(net, &[]).map_err(refused)?, Vec::new()),
    };
    whole_file::replace(path, text.as_bytes())
        .map_err(|source| WriteFileError::Io { path: path.to_owned(), source })?;
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::net::{NetBuilder, Timing};

    fn a_net() -> Net {
        let mut b = NetBuilder::new("a net");
        let p = b.place("P", 1);
        let t = b.transition("T", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        b.build().unwrap()
    }

    #[test]
    fn formats_are_told_by_content() {
        let net = a_net();
        let xml = pipe::write(&net, &WriteOptions::default()).xml;
        assert_eq!(Format::sniff(xml.as_bytes()), Some(Format::Pipe));
        assert_eq!(Format::sniff(dot::dot(&net).as_bytes()), Some(Format::Dot));
        assert_eq!(Format::sniff(svg::svg(&net).as_bytes()), Some(Format::Svg));
        let pnml = b"<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'>";
        assert_eq!(Format::sniff(pnml), Some(Format::Pnml));
        assert_eq!(Format::sniff(b"\x89PNG\r\n"), None);
        assert_eq!(Format::of_name(Path::new("a/b.GV")), Some(Format::Dot));
    }

    #[test]
    fn files_are_replaced_as_a_whole_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.xml");
        fs::write(&path, "old").unwrap();
        write_file(&a_net(), &path, Format::Pipe, &WriteOptions::default()).unwrap();
        assert_eq!(read_file(&path, &ReadOptions::default()).unwrap().net, a_net());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let absent = folder.path().join("absent/net.xml");
        let error = write_file(&a_net(), &absent, Format::Pipe, &WriteOptions::default()).unwrap_err();
        assert!(matches!(error, WriteFileError::Io { .. }));
        for format in [Format::Pnml, Format::GreatSpn] {
            write_file(&a_net(), &path, format, &WriteOptions::default()).unwrap();
            let read = read_file(&path, &ReadOptions::default()).unwrap().net;
            assert_eq!(crate::net::differences(&read, &a_net()), []);
        }
        let pair = folder.path().join("pair.net");
        write_file(&a_net(), &pair, Format::GreatSpnNet, &WriteOptions::default()).unwrap();
        let read = read_file(&pair, &ReadOptions::default()).unwrap().net;
        assert_eq!(crate::net::differences(&read, &a_net()), []);
        fs::write(&pair, "|0|\n|\nf 0 0 0 1 0 0 0\nT -5.1e+02 1 0 0 0 1 1 1 1 1 1 0\n0\n0\n").unwrap();
        assert!(read_file(&pair, &ReadOptions::default()).unwrap_err().to_string().contains("`.def` file is missing"));
        fs::write(pair.with_extension("def"), "|1\n2 * 3\n|256\n%\n|\n").unwrap();
        let net = read_file(&pair, &ReadOptions::default()).unwrap().net;
        assert_eq!(net.transitions()[0].timing, Timing::exponential(6.0));
        assert!(matches!(read_file(&absent, &ReadOptions::default()), Err(ReadFileError::Io { .. })));
    }

    #[test]
    fn files_beyond_the_limit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.xml");
        fs::write(&path, "<pnml><net/></pnml>").unwrap();
        let options = ReadOptions { max_bytes: 10, ..ReadOptions::default() };
        let error = read_file(&path, &options).unwrap_err();
        assert!(error.to_string().contains("more than the limit of 10"), "{error}");
        let error = read_bytes(b"digraph {}", &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("`<dot>`, not `<pnml>`"));
    }
}
