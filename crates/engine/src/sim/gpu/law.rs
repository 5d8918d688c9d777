//! Delay distributions in the form that `shaders/shared/law.wgsl` reads: a kind, two words, and tables.

use crate::sim::clock::{NEVER, Scale};
use crate::sim::gpu::pair::pair;
use crate::sim::sampler::{Sampler, Transform};

const EXPONENTIAL: u32 = 1;
const DETERMINISTIC: u32 = 2;
const UNIFORM: u32 = 3;
const HYPEREXPONENTIAL: u32 = 4;
const EMPIRICAL: u32 = 5;
const ERLANG: u32 = 6;

/// A distribution as the shaders read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceLaw {
    pub(crate) kind: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Loop iterations of one draw.
    pub(crate) loops: u32,
}

/// Reason why a distribution stays on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoDeviceLaw {
    /// The distribution uses `f64` functions that shaders lack.
    Floats,
    /// The table or the stages need too many words of the program.
    TooLarge,
}

impl NoDeviceLaw {
    /// The obstacle as text, for the transition of this name.
    pub(crate) fn of(self, name: &str) -> String {
        match self {
            Self::Floats => format!("the delay of `{name}` needs floating-point functions that the device lacks"),
            Self::TooLarge => format!("the delay of `{name}` needs a table that is too large"),
        }
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

    /// The distribution of a sampler on the narrow clock; its tables are appended to `tables`.
    pub(crate) fn of(sampler: &Sampler, tables: &mut Vec<u32>) -> Result<Self, NoDeviceLaw> {
        let at = u32::try_from(tables.len()).map_err(|_| NoDeviceLaw::TooLarge)?;
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
                if *stages >= 1 << 24 || !(0..64).contains(&scale.shift) {
                    return Err(NoDeviceLaw::TooLarge);
                }
                Self { kind: ERLANG, a: scale.mantissa, b: shift(*scale) | stages << 8, loops: *stages }
            }
            Transform::Hyperexponential(branches) => {
                let mut bound_before = 0;
                let mut count = 0;
                for (bound, scale) in branches {
                    // a branch that no word selects
                    if *bound <= bound_before {
                        continue;
                    }
                    bound_before = *bound;
                    count += 1;
                    let last = u32::try_from(bound - 1).unwrap_or(u32::MAX);
                    tables.extend([last, scale.mantissa, shift(*scale)]);
                }
                Self { kind: HYPEREXPONENTIAL, a: at, b: count, loops: count }
            }
            Transform::Empirical(table) => {
                let b = u32::try_from(table.len()).map_err(|_| NoDeviceLaw::TooLarge)?;
                tables.extend(table.iter().flat_map(|&delay| ticks(delay)));
                Self { kind: EMPIRICAL, a: at, b, loops: 0 }
            }
            Transform::Float(_) => return Err(NoDeviceLaw::Floats),
        })
    }
}
