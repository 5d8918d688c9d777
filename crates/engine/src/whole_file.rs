//! Atomic writes of files.

use std::io;
use std::path::Path;

/// Prefix of the names of files that are being written. If the process is killed, such a file may remain.
pub const PREFIX: &str = ".tailspn-";

/// Writes a temporary file in the same folder, then renames it, so that a reader sees either the old file or the new one.
///
/// # Errors
///
/// An error of the operating system; in that case the old file, if any, is unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// As [`replace`], with the bytes that `write` writes.
///
/// # Errors
///
/// An error of `write` or of the operating system; in that case the old file, if any, is unchanged.
pub fn replace_with<T>(path: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<T>) -> io::Result<T> {
    // a symbolic link is followed, so that it remains a link
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // the default permissions; a temporary file has narrower ones
        let mode = std::fs::metadata(&path).map_or(0o666, |found| found.permissions().mode());
        builder.permissions(std::fs::Permissions::from_mode(mode & 0o777));
    }
    let mut file = builder.prefix(PREFIX).tempfile_in(folder)?;
    let written = write(&mut file)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(written)
}
