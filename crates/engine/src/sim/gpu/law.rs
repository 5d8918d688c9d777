//! Delay distributions in the form that `shaders/shared/law.wgsl` reads: a kind, two words, and tables.

use std::sync::Arc;

use crate::sim::clock::{NEVER, Scale};
use crate::sim::gpu::pair::pair;
use crate::sim::sampler::{GammaTable, Line, NORMAL, Positive, Sampler, Transform};

const EXPONENTIAL: u32 = 1;
const DETERMINISTIC: u32 = 2;
const UNIFORM: u32 = 3;
const HYPEREXPONENTIAL: u32 = 4;
const EMPIRICAL: u32 = 5;
const ERLANG: u32 = 6;
const LOGNORMAL: u32 = 7;
const WEIBULL: u32 = 8;
const PARETO: u32 = 9;
const GAMMA: u32 = 10;

/// A distribution as the shaders read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceLaw {
    pub(crate) kind: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Loop iterations of one draw.
    pub(crate) loops: u32,
}

/// Positions of the tables of quantiles that several distributions read.
#[derive(Debug, Default)]
pub(crate) struct Quantiles {
    normal: Option<u32>,
    gamma: Vec<(Arc<GammaTable>, u32)>,
}

impl Quantiles {
    /// Returns the position of the table of a gamma distribution, which is appended if it is new.
    fn gamma_at(&mut self, table: &Arc<GammaTable>, tables: &mut Vec<u32>) -> Result<u32, TableTooLarge> {
        if let Some((_, at)) = self.gamma.iter().find(|(one, _)| one == table) {
            return Ok(*at);
        }
        let at = u32::try_from(tables.len()).map_err(|_| TableTooLarge)?;
        tables.extend(table.words());
        self.gamma.push((Arc::clone(table), at));
        Ok(at)
    }
}

/// The table of a distribution needs too many words of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableTooLarge;

impl TableTooLarge {
    /// The obstacle as text, for the transition of this name.
    pub(crate) fn of(self, name: &str) -> String {
        format!("the delay of `{name}` needs a table that is too large")
    }
}

impl DeviceLaw {
    /// No delay.
    pub(crate) const NONE: Self = Self { kind: 0, a: 0, b: 0, loops: 0 };
    /// A delay that never ends.
    pub(crate) fn never() -> Self {
        let [a, b] = pair(NEVER);
        Self { kind: DETERMINISTIC, a, b, loops: 0 }
    }

    /// Returns true if draws need the functions of `shaders/shared/curves.wgsl`.
    pub(crate) fn is_curved(self) -> bool {
        self.kind >= ERLANG
    }

    /// The distribution of a sampler on the narrow clock; its tables are appended to `tables`, except those of quantiles that are `known`.
    pub(crate) fn of(sampler: &Sampler, tables: &mut Vec<u32>, known: &mut Quantiles) -> Result<Self, TableTooLarge> {
        let position = |tables: &Vec<u32>| u32::try_from(tables.len()).map_err(|_| TableTooLarge);
        let at = position(tables)?;
        let ticks = |ticks: u128| pair(u64::try_from(ticks.min(u128::from(NEVER))).unwrap_or(NEVER));
        let shift = |scale: Scale| scale.shift.cast_unsigned();
        Ok(match sampler.transform() {
            Transform::Never => Self::never(),
            Transform::Exponential(scale) => Self { kind: EXPONENTIAL, a: scale.mantissa, b: shift(*scale), loops: 0 },
            Transform::Deterministic(delay) => {
                let [a, b] = ticks(*delay);
                Self { kind: DETERMINISTIC, a, b, loops: 0 }
            }
            Transform::Uniform { low, width } => {
                tables.extend(ticks(*low));
                tables.extend(ticks(*width));
                Self { kind: UNIFORM, a: at, b: 0, loops: 0 }
            }
            Transform::Erlang { stages, scale } => {
                tables.extend(number_words(*scale));
                Self { kind: ERLANG, a: at, b: *stages, loops: *stages }
            }
            Transform::Hyperexponential(branches) => {
                let words = branch_words(branches);
                let count = words.len() as u32;
                tables.extend(words.as_flattened());
                Self { kind: HYPEREXPONENTIAL, a: at, b: count, loops: count }
            }
            Transform::Empirical(table) => {
                let b = u32::try_from(table.len()).map_err(|_| TableTooLarge)?;
                tables.extend(table.iter().flat_map(|&delay| ticks(delay)));
                Self { kind: EMPIRICAL, a: at, b, loops: 0 }
            }
            Transform::LogNormal(line) => {
                tables.extend(line_words(*line));
                let b = known.normal.map_or_else(|| position(tables), Ok)?;
                if known.normal.replace(b).is_none() {
                    tables.extend(NORMAL.as_flattened());
                }
                Self { kind: LOGNORMAL, a: at, b, loops: 0 }
            }
            Transform::Weibull(line) => {
                tables.extend(line_words(*line));
                Self { kind: WEIBULL, a: at, b: 0, loops: 0 }
            }
            Transform::Pareto { power, scale } => {
                tables.extend([*power, *scale].map(number_words).as_flattened());
                Self { kind: PARETO, a: at, b: 0, loops: 0 }
            }
            Transform::Gamma { base, table } => {
                tables.extend(pair(base.cast_unsigned()));
                Self { kind: GAMMA, a: at, b: known.gamma_at(table, tables)?, loops: 0 }
            }
        })
    }
}

/// Per branch that a word can select: its last word, mantissa and shift.
fn branch_words(branches: &[(u64, Scale)]) -> Vec<[u32; 3]> {
    let mut bound_before = 0;
    let mut words = Vec::new();
    for (bound, scale) in branches {
        if *bound > bound_before {
            bound_before = *bound;
            words.push([u32::try_from(bound - 1).unwrap_or(u32::MAX), scale.mantissa, scale.shift.cast_unsigned()]);
        }
    }
    words
}

fn number_words(number: Positive) -> [u32; 2] {
    [number.mantissa, number.exponent.cast_unsigned()]
}

fn line_words(line: Line) -> [u32; 4] {
    let [low, high] = pair(line.base.cast_unsigned());
    [low, high, line.slope, line.shift]
}
