//! Reads a net: parses the file, converts warnings to notes, and replaces rate parameters.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

use tailspn::compile::{Program, compile};
use tailspn::formats::pipe::{self, Dialect, ReadOptions, Reading};
use tailspn::formats::{options_beside, read_bytes as read_net_bytes, read_large};
use tailspn::net::Net;
use tailspn::query::Property;
use tailspn::subject::{ParameterError, names_in_a_sentence, with_parameters};
use tailspn::trace::compression::{Plain, Refused, plain};
use tailspn_common::bounded;

use crate::cli::args::NetArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::stdin::is_standard;
use crate::cli::values::ReadAs;
use tailspn::explain::reason;

/// Number of problems that are printed for one file.
const MOST_PROBLEMS: usize = 20;

/// A net that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) net: Net,
    pub(crate) dialect: Dialect,
    /// Warnings about the file.
    pub(crate) warnings: Vec<Note>,
    /// The properties of a JANI model.
    pub(crate) properties: Vec<Property>,
}

/// Reads a file, or standard input for `-`, up to the limit for files that are read whole.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    read_by(path, bounded::read, bounded::MOST_BYTES)
}

/// Reads a file, or standard input for `-`, by a function with a limit in bytes.
fn read_by(
    path: &Path,
    read: fn(Box<dyn Read>, u64) -> std::io::Result<Vec<u8>>,
    most: u64,
) -> Result<Vec<u8>, Failure> {
    let source = if is_standard(path) {
        Ok(Box::new(std::io::stdin().lock()) as Box<dyn Read>)
    } else {
        File::open(path).map(|file| Box::new(file) as Box<dyn Read>)
    };
    source.and_then(|source| read(source, most)).map_err(|error| unreadable(path, &error))
}

/// Opens a file, and removes its compression.
pub(crate) fn decompressed(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    match File::open(path).and_then(plain).map_err(|error| unreadable(path, &error))? {
        Plain::Text(text) => Ok(text),
        Plain::Refused(Refused { what, help }) => {
            Err(Failure::helped(Exit::Model, format!("`{}` is {what}", path.display()), help))
        }
    }
}

/// Explains why a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::plain(Exit::Io, format!("cannot read `{}`: {}", path.display(), reason(error)))
}

/// Reads the net that the arguments name.
pub(crate) fn read_net(args: &NetArgs) -> Result<Loaded, Failure> {
    if let Some(net) = args.net.given_net() {
        let net = replace_parameters(net.clone(), &args.param)?;
        return Ok(Loaded { net, dialect: Dialect::Pipe2, warnings: Vec::new(), properties: Vec::new() });
    }
    let name = if is_standard(&args.net) { "standard input".into() } else { args.net.display().to_string() };
    let mut options = options_beside(&args.net, &read_options(&args.read_as));
    options.constants.clone_from(&args.param);
    options.net.clone_from(&args.chosen);
    // a larger limit for the file also allows more elements
    let times = args.max_file.div_ceil(options.max_bytes as u64).max(1);
    options.max_nodes = options.max_nodes.saturating_mul(usize::try_from(times).unwrap_or(usize::MAX));
    options.max_bytes = usize::try_from(args.max_file).unwrap_or(usize::MAX);
    if let Some(read) = read_large(&args.net, &options) {
        let net = replace_parameters(read.net, &args.param)?;
        return Ok(Loaded { net, dialect: read.dialect, warnings: Vec::new(), properties: Vec::new() });
    }
    // the reader refuses a file that is larger than its limit
    let bytes = read_by(&args.net, bounded::read_start, args.max_file)?;
    // a copy of the text, only if a message shows a part of it
    let source = || Source::new(name.clone(), pipe::decode(&bytes).unwrap_or_default().as_ref());
    let read = read_net_bytes(&bytes, &options).map_err(|error| refused_net(&bytes, &source(), &error))?;
    let warnings = if read.warnings.is_empty() { Vec::new() } else { net_warnings(&source(), &read.warnings) };
    // the reader has already set constants that shape the net
    let left: Vec<_> = args.param.iter().filter(|(name, _)| !read.taken.contains(name)).cloned().collect();
    let net = replace_parameters(read.net, &left)?;
    Ok(Loaded { net, dialect: read.dialect, warnings, properties: read.properties })
}

/// Returns the warnings about a net, with their positions in the text.
pub(crate) fn net_warnings(source: &Source, warnings: &[pipe::Warning]) -> Vec<Note> {
    let note = |warning: &pipe::Warning| {
        let others = if warning.others > 0 { format!(" (and {} more)", warning.others) } else { String::new() };
        let note = Note::warning(format!("{}{others}", with_argument(&warning.message)));
        note.at(source, warning.spot.span.clone()).assumed(warning.is_assumption())
    };
    warnings.iter().map(note).collect()
}

/// Converts the values of --read-as: values for all questions first, then values for single questions.
fn read_options(readings: &[ReadAs]) -> ReadOptions {
    let mut options = ReadOptions::default();
    for read_as in readings.iter().filter(|read_as| read_as.question.is_none()) {
        options = match read_as.reading {
            Reading::Sensible => ReadOptions::default(),
            Reading::Pipe43 => ReadOptions::as_pipe43(),
            Reading::Pipe5 => ReadOptions::as_pipe5(),
        };
    }
    for read_as in readings {
        if let Some(question) = read_as.question {
            *question(&mut options) = read_as.reading;
        }
    }
    options
}

/// Replaces the option of the library in a reader's warning by the argument that sets it.
fn with_argument(message: &str) -> String {
    match message.split_once("(option `").and_then(|(head, rest)| Some((head, rest.split_once("`)")?))) {
        Some((head, (name, tail))) => format!("{head}(--read-as {name}=READER){tail}"),
        None => message.to_owned(),
    }
}

/// Returns the kind of a file that cannot be a net, detected by its first bytes.
fn foreign_kind(bytes: &[u8]) -> Option<&'static str> {
    const MARKS: [(&[u8], &str); 6] = [
        (b"\x89PNG", "a PNG picture"),
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"GIF8", "a GIF picture"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "a gzip archive"),
    ];
    MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)).map(|(_, kind)| *kind)
}

/// Explains why bytes are not a net.
pub(crate) fn refused_net(bytes: &[u8], source: &Source, error: &pipe::ReadError) -> Failure {
    if let Some(kind) = foreign_kind(bytes) {
        let note = Note::problem(format!("`{}` is {kind}, not a net", source.name()));
        return Failure::new(Exit::Model, note.with_help("supported nets: PIPE XML, PNML, GreatSPN and JANI"));
    }
    let mut notes: Vec<Note> = error
        .problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| problem_note(&problem.fault).at(source, problem.spot.span.clone()))
        .collect();
    let left = error.problems.len().saturating_sub(MOST_PROBLEMS) + error.more;
    if left > 0 {
        notes.push(Note::problem(format!("{left} more problems in `{}`", source.name())));
    }
    Failure::of_notes(Exit::Model, notes)
}

/// Returns the note on a problem of a file, with the command-line option that helps, if any.
fn problem_note(fault: &pipe::Fault) -> Note {
    let note = |help: &str| Note::problem(fault.to_string().split("; ").next().unwrap_or_default()).with_help(help);
    match fault {
        pipe::Fault::SeveralNets { .. } => note("select one with --net NAME"),
        pipe::Fault::TooLarge { .. } => note("increase --max-file, such as --max-file 2G"),
        pipe::Fault::TooManyNodes { .. } => {
            note("increase --max-file, which also raises this limit, such as --max-file 2G")
        }
        pipe::Fault::NoValue { name } => note(&format!("add --param {name}=VALUE")),
        _ => Note::problem(fault.to_string()),
    }
}

/// Returns the net with other values of rate parameters.
fn replace_parameters(net: Net, values: &[(String, f64)]) -> Result<Net, Failure> {
    if values.is_empty() {
        return Ok(net);
    }
    with_parameters(&net, values).map_err(|error| {
        let known: Vec<&str> = net.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
        let unknown = |name: &String| {
            Note::problem(format!("there is no rate parameter `{name}`")).with_help(names_in_a_sentence(&known))
        };
        let notes = match &error {
            ParameterError::Unknown { names } => names.iter().map(unknown).collect(),
            ParameterError::Build(problems) => problems.iter().map(|one| Note::problem(one.to_string())).collect(),
            other => vec![Note::problem(other.to_string())],
        };
        Failure::of_notes(Exit::Usage, notes)
    })
}

/// Compiles a net.
pub(crate) fn compile_net(net: &Net) -> Result<Program, Failure> {
    Ok(compile(net)?)
}
