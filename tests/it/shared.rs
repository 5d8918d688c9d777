//! Data of others that is never copied into the project: where it lies, and what a test does without it.

use std::path::{Path, PathBuf};

/// A folder of the shared data, beside the checkout or where `TAILSPN_SHARED` says; none where it is absent, which is an error where
/// `TAILSPN_REQUIRE_SHARED` is set.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let found = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from).join(folder);
    if found.is_dir() {
        return Some(found);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", found.display());
    println!("skipped: no ../shared");
    None
}
