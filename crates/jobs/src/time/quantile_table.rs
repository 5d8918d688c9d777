//! The quantiles of a smooth distribution, for many draws.
//!
//! Both tails are divided into octaves of their probability, and each octave into equal segments with a quadratic through the quantiles at both ends and
//! in the middle. So a tail is as exact as the middle.

/// Octaves on either side of the median: the probability of the shorter tail halves from one to the next. A draw's 32 bits reach the last.
const OCTAVES: usize = 32;
/// Segments of an octave.
const SEGMENTS: usize = 16;

/// A table of quantiles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantileTable {
    /// Coefficients of the quadratics: the lower tail, then the upper tail; octaves from the median to the end; segments from the end of the tail
    /// towards the median.
    quadratics: Vec<[f64; 3]>,
}

/// Returns the coefficients of the quadratic through the values at the ends and in the middle of a segment; of the straight line through the ends if
/// the quadratic turns.
fn through(low: f64, middle: f64, high: f64) -> [f64; 3] {
    let (slope, curve) = (4.0 * middle - 3.0 * low - high, 2.0 * (low + high) - 4.0 * middle);
    let turns = slope * (slope + 2.0 * curve) < 0.0;
    if turns { [low, high - low, 0.0] } else { [low, slope, curve] }
}

impl QuantileTable {
    /// Builds the table. `quantile` returns the quantile at the probability of a tail; true means the upper tail.
    pub(crate) fn new(quantile: impl Fn(f64, bool) -> f64) -> Self {
        let mut quadratics = Vec::with_capacity(2 * OCTAVES * SEGMENTS);
        for above in [false, true] {
            for octave in 1..=OCTAVES {
                let least = 0.5_f64.powi(octave as i32 + 1);
                let width = least / SEGMENTS as f64;
                let mut low = quantile(least, above);
                for segment in 0..SEGMENTS {
                    let at = |part: f64| quantile(least + width * (segment as f64 + part), above);
                    let (middle, high) = (at(0.5), at(1.0));
                    quadratics.push(through(low, middle, high));
                    low = high;
                }
            }
        }
        Self { quadratics }
    }

    /// Returns the value that a random word draws: the quantile at (word + ½) / 2³².
    #[inline]
    pub(crate) fn draw(&self, word: u32) -> f64 {
        let above = word >> 31 == 1;
        // the probability of the shorter tail, as a fraction of 2^64
        self.at(u64::from(if above { !word } else { word }) << 32 | 1 << 31, above)
    }

    /// Returns the value that a draw stays below with probability `p`; `None` if `p` is closer to 0 or 1 than 2^-33.
    pub(crate) fn quantile(&self, p: f64) -> Option<f64> {
        const UNIT: f64 = 18_446_744_073_709_551_616.0; // 2^64
        let above = p > 0.5;
        // `as` is fine: below 2^64
        let tail = (if above { 1.0 - p } else { p } * UNIT) as u64;
        (tail.leading_zeros() as usize <= OCTAVES).then(|| self.at(tail.min((1 << 63) - 1), above))
    }

    /// Returns the quantile at a tail probability, given as a fraction of 2^64 from 2^31 to below 2^63.
    #[inline]
    fn at(&self, tail: u64, above: bool) -> f64 {
        const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0; // 2^-53
        let octave = tail.leading_zeros();
        // the bits after the leading one: four for the segment, the others for the place in it
        let rest = tail << octave << 1;
        let at = (usize::from(above) * OCTAVES + octave as usize - 1) * SEGMENTS + (rest >> 60) as usize;
        let x = ((rest << 4) >> 11) as f64 * UNIT;
        let [a, b, c] = self.quadratics[at];
        a + x * (b + x * c)
    }
}
