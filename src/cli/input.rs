//! Inputs of a command: files or, if another program runs the command, objects in its memory in place of files.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::builder::{MapValueParser, PathBufValueParser, TypedValueParser as _, ValueParserFactory};
use tailspn::net::Net;
use tailspn::subject::FileKind;

use crate::cli::stdin::StandardInput;

/// An input of a command. It dereferences to the path, which messages name.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    given: Given,
    /// The kind, once it is known.
    kind: OnceLock<Option<FileKind>>,
}

/// An object that another program passes in place of a file.
#[derive(Clone, Debug)]
enum Given {
    /// Nothing: the file is read.
    File,
    Net(Arc<Net>),
    /// The text of a plan.
    Plan(String),
    /// Standard input, in a file that lives as long as the input.
    Standard(Arc<StandardInput>),
}

impl Input {
    fn new(path: PathBuf, given: Given) -> Self {
        Self { path, given, kind: OnceLock::new() }
    }

    /// Returns a net in place of a file.
    pub fn net(net: Net) -> Self {
        Self::new("<net>".into(), Given::Net(Arc::new(net)))
    }

    /// Returns a plan in place of a file; `name` stands in messages.
    pub fn plan(name: &str, text: String) -> Self {
        Self::new(name.into(), Given::Plan(text))
    }

    /// Returns standard input in place of a file.
    pub(crate) fn standard(found: StandardInput) -> Self {
        Self::new(found.path(), Given::Standard(Arc::new(found)))
    }

    /// Returns true unless an object stands in place of the file.
    pub(crate) fn names_a_file(&self) -> bool {
        matches!(self.given, Given::File)
    }

    /// Returns the net that stands in place of a file.
    pub(crate) fn given_net(&self) -> Option<&Net> {
        if let Given::Net(net) = &self.given { Some(net) } else { None }
    }

    /// Returns the text of the plan that stands in place of a file.
    pub(crate) fn given_plan(&self) -> Option<&str> {
        if let Given::Plan(text) = &self.given { Some(text) } else { None }
    }

    /// Returns the kind of the file, or of what stands in its place.
    pub(crate) fn kind(&self) -> Option<FileKind> {
        *self.kind.get_or_init(|| match &self.given {
            Given::File => FileKind::of(&self.path),
            Given::Standard(found) => FileKind::of(&found.path()),
            Given::Net(_) => Some(FileKind::Net),
            Given::Plan(text) => FileKind::of_bytes(text.as_bytes()),
        })
    }

    /// Returns true for a log. A folder counts as a log: its reader has the best message for other folders.
    pub(crate) fn is_log(&self) -> bool {
        self.is_dir() || self.kind().is_some_and(FileKind::is_log)
    }

    /// Returns the folder to which file names in a plan are relative.
    pub(crate) fn folder(&self) -> &Path {
        match self.given {
            Given::File => self.path.parent().unwrap_or(Path::new("")),
            Given::Net(_) | Given::Plan(_) | Given::Standard(_) => Path::new(""),
        }
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Self::new(path, Given::File)
    }
}

impl ValueParserFactory for Input {
    type Parser = MapValueParser<PathBufValueParser, fn(PathBuf) -> Self>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().map(Self::from)
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl Deref for Input {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// Returns a word, in single quotes if a shell would change it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:%+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
