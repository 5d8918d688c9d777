//! Files that commands write: refused before long work if they exist, and written in one step.

use std::io::{self, Write};
use std::path::Path;

use tailspn::explain::reason;
use tailspn::whole_file;

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// Refuses to replace an existing file without `force`. Called before long work.
pub(crate) fn may_write(path: &Path, force: bool) -> Result<(), Failure> {
    if force || path.as_os_str() == "-" || !path.is_file() {
        return Ok(());
    }
    Err(Failure::helped(
        Exit::Io,
        format!("`{}` already exists", path.display()),
        "use another name, or add --force to replace it",
    ))
}

/// Writes a file in one step, so that a reader sees the old or the new content. Replaces an existing file only with
/// `force`.
pub(crate) fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    write_file_with(path, force, |out| out.write_all(bytes))
}

/// As [`write_file`], with the bytes that `write` writes.
pub(crate) fn write_file_with<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<T, Failure> {
    may_write(path, force)?;
    let failed =
        |error: io::Error| Failure::plain(Exit::Io, format!("cannot write `{}`: {}", path.display(), reason(&error)));
    // devices and pipes are written to, not replaced
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return std::fs::File::create(path).and_then(|mut file| write(&mut file)).map_err(failed);
    }
    whole_file::replace_with(path, write).map_err(failed)
}
