//! 64-bit numbers as pairs of words, low word first: the integer arithmetic of the shaders. Twin of
//! `shaders/shared/pair.wgsl`.
//!
//! The CPU supports 64-bit integers, so each function here is the plain operation; the tests compare the
//! shader with it.

/// Both words of a number.
pub(crate) fn pair(value: u64) -> [u32; 2] {
    crate::rng::split(value)
}

/// The number of two words.
pub(crate) fn value([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The operations.
pub(crate) mod twin {
    pub(crate) fn plus(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    pub(crate) fn minus(a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    pub(crate) fn less(a: u64, b: u64) -> bool {
        a < b
    }
    pub(crate) fn least(a: u64, b: u64) -> u64 {
        a.min(b)
    }
    pub(crate) fn latest(a: u64, b: u64) -> u64 {
        a.max(b)
    }
    pub(crate) fn shifted_right(a: u64, by: u32) -> u64 {
        a >> by
    }
    pub(crate) fn shifted_left(a: u64, by: u32) -> u64 {
        a << by
    }
    pub(crate) fn product(a: u64, b: u32) -> u64 {
        a.wrapping_mul(u64::from(b))
    }
    #[cfg(test)]
    pub(crate) fn leading_zeros(a: u64) -> u32 {
        a.leading_zeros()
    }
    #[cfg(test)]
    pub(crate) fn reciprocal(divisor: u32) -> u32 {
        ((u64::MAX >> 1) / u64::from(divisor)) as u32
    }
}
