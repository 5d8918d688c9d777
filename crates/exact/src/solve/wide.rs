//! Numbers with an exponent of any size, for weights whose ratios exceed the floating-point numbers.

/// A number that is not negative, with an exponent of any size: mantissa · 2^exponent, the mantissa in \[1/2, 1) or 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    pub(super) mantissa: f64,
    pub(super) exponent: i64,
}

impl Wide {
    pub(super) fn of(number: f64) -> Self {
        /// Position and mask of the exponent in the bits of a number.
        const AT: u32 = 52;
        const MASK: u64 = 0x7ff << AT;
        if number == 0.0 {
            return Self { mantissa: 0.0, exponent: 0 };
        }
        let (normal, shift) = if number.is_normal() { (number, 0) } else { (number * 2.0_f64.powi(64), 64) };
        let bits = normal.to_bits();
        let exponent = ((bits & MASK) >> AT) as i64 - 1022 - shift;
        Self { mantissa: f64::from_bits(bits & !MASK | 1022 << AT), exponent }
    }

    pub(super) fn times(self, other: Self) -> Self {
        let found = Self::of(self.mantissa * other.mantissa);
        Self { exponent: found.exponent + self.exponent + other.exponent, ..found }
    }

    pub(super) fn over(self, other: Self) -> Self {
        let found = Self::of(self.mantissa / other.mantissa);
        Self { exponent: found.exponent + self.exponent - other.exponent, ..found }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return if self.mantissa == 0.0 { other } else { self };
        }
        let largest = self.exponent.max(other.exponent);
        let found = Self::of(self.relative_to(largest) + other.relative_to(largest));
        Self { exponent: found.exponent + largest, ..found }
    }

    /// Returns the number divided by 2^exponent; 0 if it is below all numbers.
    pub(super) fn relative_to(self, exponent: i64) -> f64 {
        let power = (self.exponent - exponent).clamp(-1100, 1024);
        // in two steps: a power of two below all numbers would be 0 too early
        self.mantissa * 2.0_f64.powi(power as i32 / 2) * 2.0_f64.powi(power as i32 - power as i32 / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_value_and_products_their_exponent() {
        for number in [1.0, 0.75, 3e-310, 1e308, 5e-324, 1.7e-200] {
            assert_eq!(Wide::of(number).relative_to(0).to_bits(), f64::to_bits(number), "{number}");
        }
        let tiny = Wide::of(1e-300).times(Wide::of(1e-300));
        let one = tiny.over(Wide::of(1e-300)).over(Wide::of(1e-300)).relative_to(0);
        assert!((one - 1.0).abs() < 1e-15, "{one}");
        let sum = Wide::of(3.0).plus(Wide::of(0.25)).plus(tiny).plus(Wide::of(0.0)).relative_to(0);
        assert!((sum - 3.25).abs() < 1e-15 && tiny.relative_to(0) == 0.0, "{sum}");
    }
}
