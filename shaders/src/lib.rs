//! The compute shaders of tailspn as WGSL text. `tailspn-engine` joins them into kernels, checks them with naga and runs them.

#![forbid(unsafe_code)]

/// Functions that several kernels use; each file names the Rust file that computes the same on the CPU.
pub mod shared {
    /// The owner of each random word.
    pub const ADDRESS: &str = include_str!("../shared/address.wgsl");
    /// The choice of the immediate transition that fires: highest priority, then by weight.
    pub const CHOOSE: &str = include_str!("../shared/choose.wgsl");
    /// Marking expressions: a stack machine over binary64 numbers.
    pub const CODE: &str = include_str!("../shared/code.wgsl");
    /// Units of rates, delays and choices of the direct form.
    pub const DIRECT_LAW: &str = include_str!("../shared/direct_law.wgsl");
    /// Logarithm, power of two, normal quantile, and the delays that need them.
    pub const CURVES: &str = include_str!("../shared/curves.wgsl");
    /// IEEE 754 binary64 arithmetic by 32-bit integers, rounded to nearest, ties to even.
    pub const DOUBLE: &str = include_str!("../shared/double.wgsl");
    /// When a transition is enabled, how often, and at which rate.
    pub const ENABLED: &str = include_str!("../shared/enabled.wgsl");
    /// -ln u of a word as Q5.27.
    pub const EXPONENTIAL: &str = include_str!("../shared/exponential.wgsl");
    /// The effect of a firing on the marking.
    pub const FIRE: &str = include_str!("../shared/fire.wgsl");
    /// Delays in ticks from random words.
    pub const LAW: &str = include_str!("../shared/law.wgsl");
    /// 64-bit numbers as pairs (low, high) of words.
    pub const PAIR: &str = include_str!("../shared/pair.wgsl");
    /// Philox4x32-10, Salmon et al. 2011.
    pub const PHILOX: &str = include_str!("../shared/philox.wgsl");
    /// Products of 32-bit words by the device's 64-bit integers.
    pub const PRODUCT_INT64: &str = include_str!("../shared/product_int64.wgsl");
    /// Products of 32-bit words without 64-bit integers.
    pub const PRODUCT_WORDS: &str = include_str!("../shared/product_words.wgsl");
}

/// Kernels, and the parts that only one kernel has.
pub mod kernel {
    /// Averages over replications, in the order of the CPU: units of 16, merged pairwise in a binary tree.
    pub const AVERAGE: &str = include_str!("../average.wgsl");
    /// In place of double.wgsl and code.wgsl, for nets and questions without marking expressions: nothing of this is called.
    pub const NO_CODE: &str = include_str!("../no_code.wgsl");
    /// Proof that a dispatch ran to its end.
    pub const PROOF: &str = include_str!("../proof.wgsl");
    /// Reduction of one column of times: exact moments per workgroup, and a histogram.
    pub const REDUCE: &str = include_str!("../reduce.wgsl");
    /// The schedule engine: max-plus evaluation of a straight-line program, four replications per invocation.
    pub const SCHEDULE: &str = include_str!("../schedule.wgsl");
    /// The self-test of a device: each invocation does what the host knows the answer of.
    pub const SELF_TEST: &str = include_str!("../self_test.wgsl");
    /// Slots of a schedule that are many, or that must outlast a dispatch: slot s of the invocation i is at [s * stride + i].
    pub const SLOTS_MEMORY: &str = include_str!("../slots_memory.wgsl");
    /// Slots of a schedule that are few: an invocation keeps them to itself.
    pub const SLOTS_PRIVATE: &str = include_str!("../slots_private.wgsl");
    /// The race in clock form: every timed transition draws its own delay; the first to run out fires.
    pub const RACE_CLOCK: &str = include_str!("../race/clock.wgsl");
    /// The race in direct form: the time to the next firing from the total rate, the transition by its share of it.
    pub const RACE_DIRECT: &str = include_str!("../race/direct.wgsl");
    /// The token game on a device: lanes that play one replication after the other. Twin: crates/engine/src/sim/race/game.rs.
    pub const RACE_GAME: &str = include_str!("../race/game.wgsl");
    /// The observations during a replication. Twin: crates/engine/src/sim/race/observe.rs.
    pub const RACE_OBSERVE: &str = include_str!("../race/observe.wgsl");
}

/// Kernels that call single functions, for tests.
pub mod tests {
    /// Marking expressions: invocation i evaluates one program in marking i.
    pub const CODE: &str = include_str!("../tests/code.wgsl");
    /// Delays of one distribution from pairs of words.
    pub const LAW: &str = include_str!("../tests/law.wgsl");
    /// One function for every invocation: `operation` says which, its arguments are in `operands`.
    pub const DOUBLE: &str = include_str!("../tests/double.wgsl");
}
