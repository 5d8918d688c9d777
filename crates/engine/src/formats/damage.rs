//! Damaged files, for the tests of all readers.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Copies of `sample` in which one to three stretches of at most 11 characters are replaced by some of `pieces`.
pub(super) fn damaged(sample: &str, pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let sample: Vec<char> = sample.chars().collect();
    let wounds = prop::collection::vec((any::<Index>(), 0..12_usize, select(pieces)), 1..4);
    wounds.prop_map(move |wounds| {
        let mut text = sample.clone();
        for (at, length, piece) in wounds {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, piece.chars());
        }
        text.into_iter().collect()
    })
}
