//! Reading a net: the file, its warnings as notes, rate parameters replaced.

use std::io::Read;
use std::path::Path;

use tailspn::compile::{Program, compile};
use tailspn::formats::pipe::{self, Dialect, ReadOptions, Reading};
use tailspn::formats::read_bytes as read_net_bytes;
use tailspn::net::{Net, ParameterId};

use crate::cli::args::{NetArgs, ReadAs};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::reason;
use crate::cli::values::listed;

/// How many problems of one file are told.
const MOST_PROBLEMS: usize = 20;

/// A net that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) net: Net,
    pub(crate) dialect: Dialect,
    /// What is odd about the file.
    pub(crate) warnings: Vec<Note>,
}

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::plain(Exit::Io, format!("cannot read `{}`: {}", path.display(), reason(&error)))
    };
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(failed)
}

/// Reads the net that the arguments name.
pub(crate) fn read_net(args: &NetArgs) -> Result<Loaded, Failure> {
    let bytes = read_bytes(&args.net)?;
    let name = if args.net.as_os_str() == "-" { "standard input".into() } else { args.net.display().to_string() };
    if let Some(kind) = foreign_kind(&bytes) {
        let note = Note::problem(format!("`{name}` is {kind}, not a net"));
        return Err(Failure::new(Exit::Model, note.with_help("nets are read from PIPE XML and PNML")));
    }
    let options = read_options(&args.read_as);
    let text = pipe::decode(&bytes).unwrap_or_default();
    let source = Source::new(name, text.as_ref());
    let read = read_net_bytes(&bytes, &options).map_err(|error| refused(&source, &error))?;
    let warnings = read
        .warnings
        .iter()
        .map(|warning| {
            let others = if warning.others > 0 { format!(" (and {} more)", warning.others) } else { String::new() };
            Note::warning(format!("{}{others}", with_argument(&warning.message))).at(&source, warning.spot.span.clone())
        })
        .collect();
    let net = replace_parameters(read.net, &args.param)?;
    Ok(Loaded { net, dialect: read.dialect, warnings })
}

/// How to read: what is said of all questions, then what is said of one.
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

/// A warning of the reader that names an option of the library, with the argument that sets it.
fn with_argument(message: &str) -> String {
    match message.split_once("(option `").and_then(|(head, rest)| Some((head, rest.split_once("`)")?))) {
        Some((head, (name, tail))) => format!("{head}(--read-as {name}=READER){tail}"),
        None => message.to_owned(),
    }
}

/// What a file is that starts with the mark of another kind of file.
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

fn refused(source: &Source, error: &pipe::ReadError) -> Failure {
    let mut notes: Vec<Note> = error
        .problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|problem| Note::problem(problem.fault.to_string()).at(source, problem.spot.span.clone()))
        .collect();
    let left = error.problems.len().saturating_sub(MOST_PROBLEMS) + error.more;
    if left > 0 {
        notes.push(Note::problem(format!("{left} more problems in `{}`", source.name())));
    }
    Failure { exit: Exit::Model, notes }
}

/// The net with other values of rate parameters.
pub(crate) fn replace_parameters(net: Net, values: &[(String, f64)]) -> Result<Net, Failure> {
    if values.is_empty() {
        return Ok(net);
    }
    let mut notes = Vec::new();
    let mut builder = net.to_builder();
    for (name, value) in values {
        match net.parameters().iter().position(|parameter| parameter.name == *name).map(ParameterId::from_index) {
            Some(id) => builder.parameter_mut(id).value = (*value).into(),
            None => notes.push(unknown_parameter(&net, name)),
        }
    }
    if !notes.is_empty() {
        return Err(Failure { exit: Exit::Usage, notes });
    }
    builder.build().map_err(|problems| Failure {
        exit: Exit::Usage,
        notes: problems.iter().map(|problem| Note::problem(problem.to_string())).collect(),
    })
}

fn unknown_parameter(net: &Net, name: &str) -> Note {
    let names: Vec<&str> = net.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    Note::problem(format!("there is no rate parameter `{name}`")).with_help(listed(&names))
}

/// Compiles a net.
pub(crate) fn compile_net(net: &Net) -> Result<Program, Failure> {
    compile(net).map_err(|errors| Failure {
        exit: Exit::Model,
        notes: errors.iter().take(MOST_PROBLEMS).map(|error| Note::problem(error.to_string())).collect(),
    })
}
