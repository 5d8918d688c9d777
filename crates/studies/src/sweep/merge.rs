//! Merging the shards of one sweep.
//!
//! Checks that all shards belong to one sweep and that no point is missing. The merged result is identical to the unsharded result.

use std::path::{Path, PathBuf};

use crate::share::Shard;
use crate::sweep::store::{Store, Stored, read};
use crate::sweep::store_error::StoreError;

/// Reason why shards cannot be merged. In this case, nothing is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A folder that cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Results of different sweeps.
    #[error("`{}` and `{}` belong to different sweeps: {what} differs", first.display(), other.display())]
    Different {
        /// A folder.
        first: PathBuf,
        /// Another folder.
        other: PathBuf,
        /// Description of the difference.
        what: String,
    },
    /// A shard that is not complete.
    #[error("`{}` is not complete; `tailspn study --resume` continues it", path.display())]
    Incomplete {
        /// The folder.
        path: PathBuf,
    },
    /// Missing shards.
    #[error("shard {} of {of} is missing", index)]
    Missing {
        /// Number of the shard, from 1.
        index: u64,
        /// Total number of shards.
        of: u64,
    },
    /// A duplicate shard.
    #[error("`{}` and `{}` are the same shard", first.display(), other.display())]
    Twice {
        /// A folder.
        first: PathBuf,
        /// Another folder.
        other: PathBuf,
    },
}

/// Merges the shards in `folders` into `to`, a new or empty folder.
///
/// # Errors
///
/// [`MergeError`]: shards that do not form a complete sweep, or a folder that cannot be read or written.
pub fn merge(folders: &[PathBuf], to: &Path) -> Result<Stored, MergeError> {
    let shards = folders.iter().map(|folder| read(folder)).collect::<Result<Vec<_>, _>>()?;
    check(folders, &shards)?;
    let mut all = shards.into_iter();
    let Some(mut whole) = all.next() else { return Err(MergeError::Missing { index: 1, of: 1 }) };
    whole.header.shard = Shard::WHOLE;
    whole.results.extend(all.flat_map(|shard| shard.results));
    let mut store = Store::open(to, whole.header, false)?;
    for result in whole.results.into_values() {
        store.keep(result)?;
    }
    Ok(store.close()?)
}

fn check(folders: &[PathBuf], shards: &[Stored]) -> Result<(), MergeError> {
    let [(first, one), others @ ..] = &folders.iter().zip(shards).collect::<Vec<_>>()[..] else { return Ok(()) };
    for (other, shard) in others {
        let parts = (one.header.shard.of != shard.header.shard.of).then(|| "the number of shards".to_owned());
        let base = (one.results.get(&0) != shard.results.get(&0)).then(|| "the result of the base".to_owned());
        if let Some(what) = one.header.difference(&shard.header).or(parts).or(base) {
            return Err(MergeError::Different { first: (*first).clone(), other: (*other).clone(), what });
        }
    }
    for (i, (folder, shard)) in folders.iter().zip(shards).enumerate() {
        if !shard.is_complete() {
            return Err(MergeError::Incomplete { path: folder.clone() });
        }
        if let Some(same) = shards[..i].iter().position(|other| other.header.shard == shard.header.shard) {
            return Err(MergeError::Twice { first: folders[same].clone(), other: folder.clone() });
        }
    }
    let of = one.header.shard.of;
    let missing = (1..=of).find(|&index| shards.iter().all(|shard| shard.header.shard.index != index));
    missing.map_or(Ok(()), |index| Err(MergeError::Missing { index, of }))
}
