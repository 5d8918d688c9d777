//! Data of others that is never copied into the project: where it lies, and what a test does without it.

use std::path::{Path, PathBuf};

/// A folder of the shared data, next to the checkout or at `TAILSPN_SHARED`; none if it is absent, which is an error if
/// `TAILSPN_REQUIRE_SHARED` is set.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    // the crate's folder is the checkout or a folder of it
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1).map(|folder| folder.join("shared"));
    let found = match std::env::var_os("TAILSPN_SHARED") {
        Some(shared) => PathBuf::from(shared),
        None => beside().find(|shared| shared.is_dir()).unwrap_or_else(|| PathBuf::from("../shared")),
    };
    let found = found.join(folder);
    if found.is_dir() {
        return Some(found);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", found.display());
    println!("skipped: no ../shared");
    None
}
