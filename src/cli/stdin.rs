//! Standard input as a file: what is read to see its kind can be read again.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Standard input in a file, which is removed with the value.
#[derive(Debug)]
pub(crate) struct StandardInput {
    folder: TempDir,
}

impl StandardInput {
    /// Reads standard input to its end.
    pub(crate) fn read() -> io::Result<Self> {
        let found = Self { folder: tempfile::tempdir()? };
        let mut file = std::fs::File::create(found.path())?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(found)
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("standard-input")
    }
}

/// Returns true for the word that stands for standard input.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}
