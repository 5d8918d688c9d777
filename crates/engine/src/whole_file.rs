//! Atomic writes of files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Prefix of the names of files that are being written. If the process is killed, such a file remains until the next write to the folder.
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
    remove_left_files(folder);
    let mut file = builder.prefix(PREFIX).tempfile_in(folder)?;
    // without locks on this file system, files of killed processes remain
    let _ = file.as_file().lock();
    let written = write(&mut file)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    // the new name survives a loss of power; not every file system can synchronise a folder
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(written)
}

/// Age from which a file without a lock is one of a killed process: a younger one may be about to be locked.
const LEFT: Duration = Duration::from_secs(60);

/// Removes files of killed processes from a folder, once for each folder: their writers no longer hold the lock.
fn remove_left_files(folder: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = SEEN.lock().map_or(true, |mut seen| seen.insert(folder.to_owned()));
    let Some(entries) = is_new.then(|| std::fs::read_dir(folder).ok()).flatten() else { return };
    for entry in entries.flatten() {
        let is_temporary = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if !is_temporary || age().is_none_or(|age| age < LEFT) {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            // another process may have removed it
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str, age_s: u64| {
            let path = folder.path().join(name);
            let file = File::create(&path).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(age_s)).unwrap();
            (path, file)
        };
        let (left, writer) = made(".tailspn-left", 3600);
        drop(writer);
        let (locked, writer) = made(".tailspn-locked", 3600);
        writer.lock().unwrap();
        let (young, _) = made(".tailspn-young", 1);
        let (other, _) = made("other", 3600);
        replace(&folder.path().join("new"), b"text").unwrap();
        assert_eq!(std::fs::read(folder.path().join("new")).unwrap(), b"text");
        assert_eq!([left, locked, young, other].map(|path| path.exists()), [false, true, true, true]);
        // nothing else remains
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
