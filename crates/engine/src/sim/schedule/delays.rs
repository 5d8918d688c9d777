//! The delays of 64 replications from any distribution, with the same bits as [`Sampler::draw`](crate::sim::Sampler::draw).

use super::kernel::{LANES, Times, draw_words};
use crate::rng::{Address, exponential};
use crate::sim::clock::Scale;
use crate::sim::sampler::{Positive, Product, Ticks, Transform, bits, lognormal, pareto, weibull};

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
        std::array::from_fn(|lane| bits(first[lane], second[lane]))
    }
}

impl Times {
    /// Adds one delay per lane. A time that is never, or becomes it, stays never.
    #[inline(always)]
    pub(super) fn add(&mut self, words: Words, transform: &Transform) {
        match transform {
            Transform::Never => *self = Self::NEVER,
            Transform::Exponential(scale) => {
                self.add_of(&words.word(0), |word| u64::exponential(*scale, exponential(word)))
            }
            Transform::Deterministic(ticks) => {
                let ticks = u64::saturate(*ticks);
                self.add_each(|_| ticks);
            }
            Transform::Uniform { low, width } => {
                let (low, width) = (u64::saturate(*low), u64::saturate(*width));
                self.add_of(&words.word(0), |word| low + width.share(word));
            }
            Transform::Erlang { stages, scale } => self.add_erlang(words, *stages, *scale),
            Transform::Hyperexponential(branches) => self.add_hyperexponential(words, branches),
            Transform::Empirical(table) => {
                let count = table.len() as u64;
                self.add_of(&words.word(0), |word| u64::saturate(table[count.share(word) as usize]));
            }
            Transform::LogNormal(line) => self.add_of(&words.pair(), |bits| u64::ticks_of(lognormal(*line, bits))),
            Transform::Weibull(line) => self.add_of(&words.pair(), |bits| u64::ticks_of(weibull(*line, bits))),
            Transform::Pareto { power, scale } => {
                self.add_of(&words.pair(), |bits| u64::ticks_of(pareto(*power, bits).times(*scale)));
            }
        }
    }

    #[inline(always)]
    fn add_each(&mut self, delay: impl Fn(usize) -> u64) {
        for (lane, time) in self.0.iter_mut().enumerate() {
            *time = time.join(delay(lane));
        }
    }

    #[inline(always)]
    fn add_of<W: Copy>(&mut self, words: &[W; LANES], delay: impl Fn(W) -> u64) {
        self.add_each(|lane| delay(words[lane]));
    }

    #[inline(always)]
    fn add_erlang(&mut self, words: Words, stages: u32, scale: Positive) {
        let mut products = [Product::ONE; LANES];
        for stage in 0..stages {
            for (product, word) in products.iter_mut().zip(words.word(stage)) {
                *product = product.factor(word);
            }
        }
        self.add_of(&products, |product| u64::ticks_of(product.logarithm().times(scale)));
    }

    #[inline(always)]
    fn add_hyperexponential(&mut self, words: Words, branches: &[(u64, Scale)]) {
        let (first, second) = (words.word(0), words.word(1));
        let mut scales = [Scale { mantissa: 0, shift: 0 }; LANES];
        // the last branch that fits is the first one
        for (bound, scale) in branches.iter().rev() {
            for (own, first) in scales.iter_mut().zip(first) {
                *own = if u64::from(first) < *bound { *scale } else { *own };
            }
        }
        self.add_each(|lane| u64::exponential(scales[lane], exponential(second[lane])));
    }
}
