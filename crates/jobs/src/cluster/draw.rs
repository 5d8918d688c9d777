//! Uniform numbers from random words.

/// Converts a random word to a uniform number inside (0, 1).
pub(super) fn uniform(word: u32) -> f64 {
    (f64::from(word) + 0.5) * (1.0 / 4_294_967_296.0)
}
