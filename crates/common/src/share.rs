//! A computation shared among processes: the part that this process runs, and the merge of all parts.
//!
//! A command runs its replications in steps, the same steps in the same order in each process. With [`Share::part`], a
//! step runs the replications of one shard and stores the result as a [`Piece`]. With [`Share::merged`], the same step
//! runs no replications and receives the merged pieces of all shards.

use std::fmt;
use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

/// One of several equal parts of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u64,
    /// The number of parts.
    pub of: u64,
}

impl Shard {
    /// The whole computation as a single shard.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// Returns this shard's range of `count` items, split only at multiples of `unit`. The ranges of consecutive shards are adjacent, and
    /// their lengths differ by at most one unit.
    ///
    /// ```
    /// # use tailspn_common::share::Shard;
    /// let shares = [1, 2, 3].map(|index| Shard { index, of: 3 }.range(100, 16));
    /// assert_eq!(shares, [0..32, 32..64, 64..100]);
    /// ```
    pub fn range(self, count: u64, unit: u64) -> Range<u64> {
        let units = u128::from(count.div_ceil(unit));
        let cut = |index: u64| {
            let units_before = units * u128::from(index) / u128::from(self.of.max(1));
            // at most `count`, which has 64 bits
            u64::try_from(units_before * u128::from(unit)).unwrap_or(u64::MAX).min(count)
        };
        cut(self.index.saturating_sub(1))..cut(self.index)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// The result of one step in one shard.
pub trait Piece: Serialize + DeserializeOwned {
    /// Adds the result of the next shard.
    ///
    /// # Errors
    ///
    /// [`ShareError::Unlike`] if the two results cannot belong to the same computation.
    fn append(&mut self, next: Self) -> Result<(), ShareError>;
}

/// Error of parts that cannot be merged into a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// Two pieces come from different computations, or a piece does not come from the computation that this process
    /// runs.
    #[error("the parts belong to another computation: {0}")]
    Unlike(&'static str),
    /// A part with fewer steps than the computation has.
    #[error("the part of shard {shard} is incomplete: the computation has more steps")]
    Short {
        /// The number of the shard, from 1.
        shard: usize,
    },
    /// A piece that does not parse.
    #[error("the part of shard {shard} cannot be read: {why}")]
    Unreadable {
        /// The number of the shard, from 1.
        shard: usize,
        /// Reason from the parser.
        why: String,
    },
    /// A shard that was stopped before its last replication.
    #[error(
        "a shard was interrupted: its results end before number {end}, but the results of the next shard start at number {begin}"
    )]
    Gap {
        /// The number after the last number before the gap.
        end: u64,
        /// The first number after the gap.
        begin: u64,
    },
    /// A run whose number of replications is not fixed.
    #[error("shards need a fixed number of replications, such as `--reps 10000`, without a precision or a time limit")]
    NoNumber,
    /// A shard that was truncated or changed after it was written.
    #[error("the file is truncated or damaged")]
    Damaged,
    /// A piece that cannot be written.
    #[error("cannot store a result: {0}")]
    Unwritable(String),
}

/// The result of a step as bytes, and the fingerprint of everything that the result depends on except the shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    question: u64,
    found: Vec<u8>,
}

/// The results of one shard, one for each step.
pub type Pieces = Vec<Kept>;

/// Writes the results of a shard as bytes, with a checksum.
///
/// # Errors
///
/// [`ShareError::Unwritable`].
pub fn pieces_to_bytes(pieces: &Pieces) -> Result<Vec<u8>, ShareError> {
    let results = postcard::to_allocvec(pieces).map_err(|error| ShareError::Unwritable(error.to_string()))?;
    let mut bytes = checksum(&results).to_le_bytes().to_vec();
    bytes.extend(results);
    Ok(bytes)
}

/// Reads the results of a shard.
///
/// # Errors
///
/// [`ShareError::Damaged`] if the bytes were truncated or changed.
pub fn pieces_from_bytes(bytes: &[u8]) -> Result<Pieces, ShareError> {
    let (sum, results) = bytes.split_first_chunk().ok_or(ShareError::Damaged)?;
    if u64::from_le_bytes(*sum) != checksum(results) {
        return Err(ShareError::Damaged);
    }
    postcard::from_bytes(results).map_err(|_| ShareError::Damaged)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = XxHash64::with_seed(0);
    hash.write(bytes);
    hash.finish()
}

/// The share of a computation that this process runs. Clones share their steps.
#[derive(Clone, Debug, Default)]
pub struct Share(Role);

#[derive(Clone, Debug, Default)]
enum Role {
    #[default]
    Whole,
    Part(Shard, Arc<Mutex<Pieces>>),
    Merged(Arc<Vec<Pieces>>, Arc<AtomicUsize>),
}

impl Share {
    /// Runs the part of `shard`, and stores the result of each step.
    pub fn part(shard: Shard) -> Self {
        Self(Role::Part(shard, Arc::default()))
    }

    /// Runs no replications; uses the results of the shards, in order.
    pub fn merged(shards: Vec<Pieces>) -> Self {
        Self(Role::Merged(Arc::new(shards), Arc::default()))
    }

    /// Returns true if only a part is computed.
    pub fn is_part(&self) -> bool {
        matches!(self.0, Role::Part(..))
    }

    /// Returns true if this process computes everything.
    pub fn is_whole(&self) -> bool {
        matches!(self.0, Role::Whole)
    }

    /// Returns the range of `count` replications that this process runs, split only at multiples of `unit`.
    pub fn range(&self, count: u64, unit: u64) -> Range<u64> {
        match &self.0 {
            Role::Part(shard, _) => shard.range(count, unit),
            Role::Whole | Role::Merged(..) => 0..count,
        }
    }

    /// Stores the result of a step if only a part is computed; `question` is everything that the result depends on except the shard.
    ///
    /// # Errors
    ///
    /// [`ShareError::Unwritable`].
    pub fn keep<T: Piece>(&self, question: &dyn fmt::Debug, found: &T) -> Result<(), ShareError> {
        let Role::Part(_, pieces) = &self.0 else { return Ok(()) };
        let found = postcard::to_allocvec(found).map_err(|error| ShareError::Unwritable(error.to_string()))?;
        let kept = Kept { question: fingerprint(question), found };
        pieces.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
        Ok(())
    }

    /// Returns and removes the stored results of the steps so far, if only a part is computed.
    pub fn take_pieces(&self) -> Pieces {
        match &self.0 {
            Role::Part(_, pieces) => std::mem::take(&mut pieces.lock().unwrap_or_else(PoisonError::into_inner)),
            Role::Whole | Role::Merged(..) => Pieces::new(),
        }
    }

    /// Returns the merged results of all shards for the next step, if the question is the same; none if this process computes the step.
    ///
    /// # Errors
    ///
    /// [`ShareError`]: the parts cannot be merged.
    pub fn given<T: Piece>(&self, question: &dyn fmt::Debug) -> Result<Option<T>, ShareError> {
        let Role::Merged(shards, steps) = &self.0 else { return Ok(None) };
        let step = steps.fetch_add(1, Ordering::Relaxed);
        let question = fingerprint(question);
        let mut whole: Option<T> = None;
        for (shard, pieces) in (1..).zip(shards.iter()) {
            let kept = pieces.get(step).ok_or(ShareError::Short { shard })?;
            if kept.question != question {
                return Err(ShareError::Unlike("the net, the plan or an option has changed"));
            }
            let piece = postcard::from_bytes(&kept.found);
            let piece: T = piece.map_err(|error| ShareError::Unreadable { shard, why: error.to_string() })?;
            match &mut whole {
                Some(whole) => whole.append(piece)?,
                None => whole = Some(piece),
            }
        }
        Ok(whole)
    }
}

/// A hash that is the same for equal values in every process, and almost certainly differs for different values.
fn fingerprint(value: &dyn fmt::Debug) -> u64 {
    struct Written(XxHash64);
    impl fmt::Write for Written {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut written = Written(XxHash64::with_seed(0));
    // never fails: the hash accepts any bytes
    let _ = fmt::Write::write_fmt(&mut written, format_args!("{value:?}"));
    written.0.finish()
}

/// The results of numbered items, such as replications or configurations, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    /// The number of the first item.
    pub first: u64,
    /// The result of each item.
    pub found: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> Piece for Listed<T> {
    fn append(&mut self, next: Self) -> Result<(), ShareError> {
        let end = self.first + self.found.len() as u64;
        if end != next.first {
            return Err(ShareError::Gap { end, begin: next.first });
        }
        self.found.extend(next.found);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_each_other_and_are_even() {
        for (count, unit, of) in [(0, 16, 3), (1, 16, 3), (1000, 16, 7), (1000, 1, 7), (u64::MAX, 16, 64), (5, 1, 9)] {
            let mut from = 0;
            let mut sizes = Vec::new();
            for index in 1..=of {
                let range = Shard { index, of }.range(count, unit);
                assert_eq!(range.start, from);
                assert!(range.end == count || range.end.is_multiple_of(unit));
                sizes.push(range.end - range.start);
                from = range.end;
            }
            assert_eq!(from, count);
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 2 * unit, "{sizes:?}");
        }
    }

    #[test]
    fn steps_of_shards_come_back_in_order() {
        let found = |index: u64| {
            let share = Share::part(Shard { index, of: 2 });
            let clone = share.clone();
            share.keep(&"numbers", &Listed { first: 2 * index, found: vec![index, 10 * index] }).unwrap();
            clone.keep(&"words", &Listed { first: index, found: vec![format!("{index}")] }).unwrap();
            share.take_pieces()
        };
        let merged = Share::merged(vec![found(1), found(2)]);
        let numbers = merged.given::<Listed<u64>>(&"numbers").unwrap().unwrap();
        assert_eq!(numbers, Listed { first: 2, found: vec![1, 10, 2, 20] });
        let words = merged.clone().given::<Listed<String>>(&"words").unwrap().unwrap();
        assert_eq!(words.found, ["1", "2"]);
        assert_eq!(merged.given::<Listed<u64>>(&"more"), Err(ShareError::Short { shard: 1 }));
        assert_eq!(Share::default().given::<Listed<u64>>(&"numbers"), Ok(None));
        let other = Share::merged(vec![found(1), found(2)]);
        assert!(matches!(other.given::<Listed<u64>>(&"other numbers"), Err(ShareError::Unlike(_))));
        let gap = Share::merged(vec![found(1), found(3)]);
        assert_eq!(gap.given::<Listed<u64>>(&"numbers"), Err(ShareError::Gap { end: 4, begin: 6 }));
    }

    #[test]
    fn a_cut_or_a_flipped_bit_of_a_piece_is_detected() {
        let share = Share::part(Shard::WHOLE);
        share.keep(&1, &Listed { first: 0, found: vec![1.5, f64::INFINITY] }).unwrap();
        let pieces = share.take_pieces();
        let bytes = pieces_to_bytes(&pieces).unwrap();
        assert_eq!(pieces_from_bytes(&bytes), Ok(pieces));
        for cut in 0..bytes.len() {
            assert_eq!(pieces_from_bytes(&bytes[..cut]), Err(ShareError::Damaged));
            let mut turned = bytes.clone();
            turned[cut] ^= 1;
            assert_eq!(pieces_from_bytes(&turned), Err(ShareError::Damaged));
        }
    }

    #[test]
    fn bytes_that_are_no_piece_are_an_error() {
        let huge = vec![0xff; 9];
        for bytes in [huge, vec![1, 200, 1], Vec::new()] {
            let merged = Share::merged(vec![vec![Kept { question: fingerprint(&1), found: bytes }]]);
            assert!(matches!(merged.given::<Listed<u64>>(&1), Err(ShareError::Unreadable { shard: 1, .. })));
        }
    }
}
