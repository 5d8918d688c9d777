//! The delays of 64 replications from any distribution, with the same bits as [`Sampler::draw`](crate::sim::Sampler::draw).

use crate::rng::{Address, exponential};
use crate::sim::clock::{NEVER, Scale};
use crate::sim::sampler::{
    Line, NORMAL_DEGREE, Positive, Product, Ticks, Transform, bits, is_upper, lognormal, minus_log2, normal_row,
    normal_step, pareto, power_of_two, weibull,
};
use crate::sim::schedule::kernel::{LANES, Times, draw_words};

/// Source of the random words of one delay per lane.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) key: [u32; 2],
    /// Address of the first word of the draw.
    pub(super) address: Address,
    pub(super) first_quad: u64,
}

impl Words {
    /// Word `i` of the draw, for each lane.
    #[inline(always)]
    fn word(self, i: u32) -> [u32; LANES] {
        let address = Address { sample: self.address.sample.wrapping_add(i), ..self.address };
        let mut words = [0; LANES];
        words.copy_from_slice(draw_words(self.key, address, self.first_quad).as_flattened());
        words
    }

    /// The first two words of the draw as one, for each lane.
    #[inline(always)]
    fn pair(self) -> [u64; LANES] {
        let (first, second) = (self.word(0), self.word(1));
        let mut pairs = [0; LANES];
        for ((pair, first), second) in pairs.iter_mut().zip(first).zip(second) {
            *pair = bits(first, second);
        }
        pairs
    }
}

impl Times {
    /// Adds one delay per lane. A time that is never, or becomes it, stays never.
    #[inline(always)]
    pub(super) fn add(&mut self, words: Words, transform: &Transform) {
        let mut delays = [NEVER; LANES];
        // loops instead of closures: a closure is not compiled for the vector level if it is not inlined
        match transform {
            Transform::Never => {}
            Transform::Exponential(scale) => {
                for (delay, word) in delays.iter_mut().zip(words.word(0)) {
                    *delay = u64::exponential(*scale, exponential(word));
                }
            }
            Transform::Deterministic(ticks) => delays = [u64::saturate(*ticks); LANES],
            Transform::Uniform { low, width } => {
                let (low, width) = (u64::saturate(*low), u64::saturate(*width));
                for (delay, word) in delays.iter_mut().zip(words.word(0)) {
                    *delay = low + width.share(word);
                }
            }
            Transform::Erlang { stages, scale } => erlang(&mut delays, words, *stages, *scale),
            Transform::Hyperexponential(branches) => hyperexponential(&mut delays, words, branches),
            Transform::Empirical(table) => {
                let count = table.len() as u64;
                for (delay, word) in delays.iter_mut().zip(words.word(0)) {
                    *delay = u64::saturate(table[count.share(word) as usize]);
                }
            }
            Transform::LogNormal(line) => normal_power(&mut delays, words, *line),
            Transform::Weibull(line) => {
                let (mantissas, exponents) = minus_logs(words);
                let mut logs = [0; LANES];
                for ((log, mantissa), exponent) in logs.iter_mut().zip(mantissas).zip(exponents) {
                    *log = Positive { mantissa, exponent }.logarithm();
                }
                for (delay, log) in delays.iter_mut().zip(logs) {
                    *delay = u64::ticks_of(weibull(*line, log));
                }
            }
            Transform::Pareto { power, scale } => {
                let (mantissas, exponents) = minus_logs(words);
                for ((delay, mantissa), exponent) in delays.iter_mut().zip(mantissas).zip(exponents) {
                    *delay = u64::ticks_of(pareto(*power, Positive { mantissa, exponent }).times(*scale));
                }
            }
            Transform::Gamma { base, table } => {
                for (delay, bits) in delays.iter_mut().zip(words.pair()) {
                    *delay = u64::ticks_of(power_of_two(base + table.draw(bits)));
                }
            }
        }
        for (time, delay) in self.0.iter_mut().zip(delays) {
            *time = time.join(delay);
        }
    }
}

#[inline(always)]
fn erlang(delays: &mut [u64; LANES], words: Words, stages: u32, scale: Positive) {
    let mut products = [Product::ONE; LANES];
    for stage in 0..stages {
        for (product, word) in products.iter_mut().zip(words.word(stage)) {
            *product = product.factor(word);
        }
    }
    for (delay, product) in delays.iter_mut().zip(products) {
        *delay = u64::ticks_of(product.logarithm().times(scale));
    }
}

#[inline(always)]
fn hyperexponential(delays: &mut [u64; LANES], words: Words, branches: &[(u64, Scale)]) {
    let (first, second) = (words.word(0), words.word(1));
    let mut scales = [Scale { mantissa: 0, shift: 0 }; LANES];
    // the last branch that fits is the first one
    for (bound, scale) in branches.iter().rev() {
        for (own, first) in scales.iter_mut().zip(first) {
            *own = if u64::from(first) < *bound { *scale } else { *own };
        }
    }
    for ((delay, scale), word) in delays.iter_mut().zip(scales).zip(second) {
        *delay = u64::exponential(scale, exponential(word));
    }
}

/// Lognormal delays: one loop per coefficient, since a loop that reads the table is vectorised only if it is short.
#[inline(always)]
fn normal_power(delays: &mut [u64; LANES], words: Words, line: Line) {
    let bits = words.pair();
    let (mut rows, mut positions, mut sums) = ([0; LANES], [0; LANES], [0; LANES]);
    for ((row, s), bits) in rows.iter_mut().zip(&mut positions).zip(bits) {
        (*row, *s) = normal_row(bits);
    }
    for degree in (1..=NORMAL_DEGREE).rev() {
        for ((sum, row), s) in sums.iter_mut().zip(rows).zip(positions) {
            *sum = normal_step(*sum, degree, row, s);
        }
    }
    for lane in 0..LANES {
        delays[lane] = u64::ticks_of(lognormal(line, is_upper(bits[lane]), sums[lane], rows[lane], positions[lane]));
    }
}

/// An exponential variate for each lane, by 64 bits: mantissas and exponents, in two arrays because an array of structs is slower.
#[inline(always)]
fn minus_logs(words: Words) -> ([u32; LANES], [i32; LANES]) {
    let (mut mantissas, mut exponents) = ([0; LANES], [0; LANES]);
    for ((mantissa, exponent), bits) in mantissas.iter_mut().zip(&mut exponents).zip(words.pair()) {
        let e = minus_log2(bits);
        (*mantissa, *exponent) = (e.mantissa, e.exponent);
    }
    (mantissas, exponents)
}
