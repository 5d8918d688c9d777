//! An output that is also an input: replacing the file would lose it, with `--force` too.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// Options with a file that is written.
const OUTPUTS: [&str; 17] = [
    "--json",
    "--csv",
    "--html",
    "--save-plan",
    "--save-net",
    "--save-part",
    "--save-profile",
    "--save-model",
    "--save",
    "--attempts",
    "--timeline",
    "--plot",
    "--plot-cdf",
    "--export-dot",
    "--export-svg",
    "--export-mtx",
    "--samples",
];

/// A file as it was typed, and its full path.
type Named = (String, PathBuf);

/// Returns the refusal of a command line with a file that is read and written.
pub(crate) fn own_input(arguments: &[OsString]) -> Option<Failure> {
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let (mut read, mut written): (Vec<Named>, Vec<(&str, Named)>) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (option, value) =
            word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
        match (OUTPUTS.contains(&option), value) {
            (true, Some(value)) => written.extend(file(value).map(|path| (option, path))),
            // these write a file only with `=`
            (true, None) if option == "--json" || option == "--csv" => {}
            (true, None) => written.extend(rest.next().and_then(|value| file(value)).map(|path| (option, path))),
            (false, _) => read.extend(file(word)),
        }
    }
    if words.windows(2).any(|words| words == ["net", "convert"]) {
        written.extend((read.len() > 1).then(|| read.pop()).flatten().map(|path| ("the second file", path)));
    }
    let (option, found) = written.into_iter().find(|(_, (_, path))| read.iter().any(|(_, other)| other == path))?;
    let message = format!("{option} would replace the input `{}`", found.0);
    Some(Failure::helped(Exit::Usage, message, "write to another name"))
}

/// Returns an existing file.
fn file(word: &str) -> Option<Named> {
    let path = Path::new(word).is_file().then(|| std::fs::canonicalize(word).ok()).flatten();
    path.map(|path| (word.to_owned(), path))
}
