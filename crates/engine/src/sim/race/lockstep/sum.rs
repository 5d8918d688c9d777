//! Sums of units in 32 or in 64 bits, with the arithmetic of [`DirectLaw`](crate::sim::race::direct_law::DirectLaw).

/// A sum of units.
pub(super) trait Sum: Copy + PartialOrd {
    const ZERO: Self;
    const MAX: Self;
    /// True if times may be shifted by fewer than 0 bits or by more than 63, depending on totals and ticks.
    const IS_WIDE: bool;

    /// A number of units that fits.
    fn of(units: u64) -> Self;
    /// The units of several servers, which fit.
    fn product(each: u32, servers: u32) -> Self;
    /// A number of units rounded to the nearest integer, at least 1 if it is not 0, at most the largest number of the type.
    fn round(units: f64) -> Self;
    /// The wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// Number of significant bits, and the highest 32 bits with the top bit set; 0 gives the same result as 1.
    fn normal(self) -> (i32, u32);
    /// The share of a sum that a word selects.
    fn share(self, word: u32) -> Self;
}

impl Sum for u32 {
    const ZERO: Self = 0;
    const MAX: Self = Self::MAX;
    const IS_WIDE: bool = false;

    #[inline(always)]
    fn of(units: u64) -> Self {
        units as Self
    }

    #[inline(always)]
    fn product(each: u32, servers: u32) -> Self {
        each.wrapping_mul(servers)
    }

    #[inline(always)]
    fn round(units: f64) -> Self {
        let whole = units as Self;
        whole.saturating_add(Self::from(units - f64::from(whole) >= 0.5)).max(Self::from(units > 0.0))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn normal(self) -> (i32, u32) {
        let zeros = self.max(1).leading_zeros();
        (32 - zeros.cast_signed(), self.max(1) << zeros)
    }

    #[inline(always)]
    fn share(self, word: u32) -> Self {
        ((u64::from(word) * u64::from(self)) >> 32) as Self
    }
}

impl Sum for u64 {
    const ZERO: Self = 0;
    const MAX: Self = Self::MAX;
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn of(units: u64) -> Self {
        units
    }

    #[inline(always)]
    fn product(each: u32, servers: u32) -> Self {
        Self::from(each) * Self::from(servers)
    }

    #[inline(always)]
    fn round(units: f64) -> Self {
        let whole = units as Self;
        whole.saturating_add(Self::from(units - whole as f64 >= 0.5)).max(Self::from(units > 0.0))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn normal(self) -> (i32, u32) {
        let zeros = self.max(1).leading_zeros();
        (64 - zeros.cast_signed(), ((self.max(1) << zeros) >> 32) as u32)
    }

    #[inline(always)]
    fn share(self, word: u32) -> Self {
        let [low, high] = [self as u32, (self >> 32) as u32].map(Self::from);
        let word = Self::from(word);
        word.wrapping_mul(high).wrapping_add((word * low) >> 32)
    }
}
