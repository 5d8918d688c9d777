//! One shard of a command's replications as a file, and the merged files of all shards.
//! A file starts with a line of JSON: the command, and the number of the part. The results follow in binary form.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailspn::share::{Pieces, Shard, Share, pieces_from_bytes, pieces_to_bytes};

use crate::cli::args::PartArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::load::read_bytes;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Version of the file format.
const FORMAT_VERSION: u32 = 1;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// Version of the file format.
    tailspn_part: u32,
    /// Version of tailspn.
    version: String,
    /// The number of the part.
    shard: Shard,
    /// The arguments of the command, without the name of the program.
    arguments: Vec<String>,
}

/// The parts of a command, in the order of their shards.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The arguments of the command, without the name of the program.
    pub(crate) arguments: Vec<String>,
    /// The results of the shards.
    pub(crate) share: Share,
}

/// Runs a command for one shard, and writes the results.
pub(crate) fn run(
    args: &PartArgs,
    force: bool,
    arguments: &[OsString],
    terminal: &Terminal,
    command: impl FnOnce(&Terminal) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    if let Some(path) = &args.save_part {
        may_write(path, force)?;
    } else if !terminal.is_in_process() {
        return Err(Failure::helped(
            Exit::Usage,
            "a single shard cannot print a result",
            "write the part to a file with --save-part FILE; `tailspn tool merge` merges all parts",
        ));
    }
    let share = Share::part(shard);
    match command(&terminal.sharing(share.clone())) {
        Err(failure) if !failure.is_part() => return Err(failure),
        _ => {}
    }
    let pieces = share.take_pieces();
    if pieces.is_empty() {
        let help = "remove --shard, or use --method simulate";
        return Err(Failure::helped(Exit::Usage, "there is nothing to split: no replications were run", help));
    }
    let bytes = file(shard, arguments, &pieces)?;
    match &args.save_part {
        Some(path) => write_file(path, &bytes, force)?,
        None => terminal.part(bytes),
    }
    if interrupted() {
        terminal.tell("note: the part is incomplete; only the last shard may be incomplete");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Success)
}

fn file(shard: Shard, arguments: &[OsString], pieces: &Pieces) -> Result<Vec<u8>, Failure> {
    let results = pieces_to_bytes(pieces).map_err(Failure::internal)?;
    let header = Header {
        tailspn_part: FORMAT_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        shard,
        arguments: arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
    };
    let mut bytes = serde_json::to_vec(&header).map_err(Failure::internal)?;
    bytes.push(b'\n');
    bytes.extend(results);
    Ok(bytes)
}

/// Returns true if a path is a part of a command, rather than the folder of a sweep.
pub(crate) fn is_part(path: &Path) -> bool {
    !path.is_dir()
}

/// Reads the parts of a command.
/// With `partial`, the last shards may be missing.
pub(crate) fn read(paths: &[PathBuf], partial: bool) -> Result<Parts, Failure> {
    let files = paths.iter().map(|path| Ok((path.display().to_string(), read_bytes(path)?)));
    together(&files.collect::<Result<Vec<_>, Failure>>()?, partial, true)
}

fn unlike(one: &str, other: &str, what: &str) -> Failure {
    Failure::plain(Exit::Refused, format!("`{one}` and `{other}` belong to different runs: {what}"))
}

/// Merges the parts of a command, each with the name of its file. If `same_arguments` is false, the arguments of the parts
/// may differ, because a command in process may name different files.
pub(crate) fn together(files: &[(String, Vec<u8>)], partial: bool, same_arguments: bool) -> Result<Parts, Failure> {
    let mut parts = Vec::new();
    for (name, bytes) in files {
        let (header, pieces) = part(name, bytes)?;
        parts.push((name, header, pieces));
    }
    parts.sort_by_key(|(_, header, _)| header.shard.index);
    let Some((first_name, first, _)) = parts.first() else {
        return Err(Failure::plain(Exit::Usage, "no parts given"));
    };
    for (name, header, _) in &parts {
        if let Some(what) = difference(first, header, same_arguments) {
            return Err(unlike(first_name, name, what));
        }
    }
    for ((one, a, _), (other, b, _)) in parts.iter().zip(&parts[1..]) {
        if a.shard == b.shard {
            return Err(Failure::plain(Exit::Refused, format!("`{one}` and `{other}` are both shard {}", a.shard)));
        }
    }
    let of = first.shard.of;
    let there: Vec<u64> = parts.iter().map(|(_, header, _)| header.shard.index).collect();
    let missing = (1..=of).find(|index| !there.contains(index));
    if let Some(missing) = missing.filter(|&missing| !partial || missing <= there.len() as u64) {
        return Err(Failure::helped(
            Exit::Refused,
            format!("shard {missing}/{of} is missing"),
            "--partial merges the first shards if only the last ones are missing",
        ));
    }
    let arguments = first.arguments.clone();
    Ok(Parts { arguments, share: Share::merged(parts.into_iter().map(|(_, _, pieces)| pieces).collect()) })
}

/// Options with a value that may differ between parts.
const OWN_VALUES: [&str; 6] = ["--shard", "--save-part", "--save", "--threads", "--max-time", "--color"];
/// Flags that may differ between parts.
const OWN_FLAGS: [&str; 3] = ["--force", "--quiet", "-q"];

/// Explains why two parts do not belong to the same run.
fn difference(one: &Header, other: &Header, same_arguments: bool) -> Option<&'static str> {
    if one.version != other.version {
        Some("their tailspn versions differ")
    } else if one.shard.of != other.shard.of {
        Some("the numbers of shards differ")
    } else if same_arguments && asked(&one.arguments) != asked(&other.arguments) {
        Some("the arguments differ")
    } else {
        None
    }
}

/// Returns the arguments without the options that may differ between parts.
fn asked(arguments: &[String]) -> Vec<&String> {
    let mut words = arguments.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(word);
        if OWN_VALUES.contains(&name) {
            if name == word {
                words.next();
            }
        } else if !OWN_FLAGS.contains(&name) {
            kept.push(word);
        }
    }
    kept
}

/// Reads one part.
fn part(name: &str, bytes: &[u8]) -> Result<(Header, Pieces), Failure> {
    let refused = |what: String| {
        Failure::helped(Exit::Model, format!("`{name}` {what}"), "run this shard again, with --shard and --save-part")
    };
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (head, results) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 1..]));
    let header: Header =
        serde_json::from_slice(head).map_err(|_| refused("is not a part that `--shard` wrote".to_owned()))?;
    if header.tailspn_part != FORMAT_VERSION || header.version != env!("CARGO_PKG_VERSION") {
        return Err(refused(format!(
            "was written by tailspn {}, but this is tailspn {}",
            header.version,
            env!("CARGO_PKG_VERSION")
        )));
    }
    if header.shard.index < 1 || header.shard.index > header.shard.of {
        return Err(refused(format!("has the invalid shard number {}", header.shard)));
    }
    let pieces = pieces_from_bytes(results).map_err(|error| refused(format!("cannot be used: {error}")))?;
    Ok((header, pieces))
}
