//! The time of a job by its formula in `f64`, 64 replications at a time in vector instructions: what the schedule engine could reach
//! without integers. Same net, same Philox blocks, one variate per transition; only the arithmetic of a delay differs.

use tailspn::rng::{Address, Purpose, split};

use super::PHASE_MEANS_S;

/// Replications side by side: 16 blocks of 4 words.
pub(crate) const LANES: usize = 64;
const QUADS: usize = LANES / 4;

/// `-ln(1 + t)` for `t` from 0 to 1, highest degree first: interpolation at Chebyshev nodes, error below 1e-8.
const COEFFICIENTS: [f64; 10] = [
    -3.662242167868e-03,
    2.262800700558e-02,
    -6.573552521836e-02,
    1.244719452829e-01,
    -1.842138633696e-01,
    2.461896771283e-01,
    -3.327853379892e-01,
    4.999589446838e-01,
    -9.999987830867e-01,
    -6.057848010547e-09,
];

/// Times of `LANES` jobs from the replication `4 * first_quad` on.
pub(crate) struct Jobs {
    pub(crate) maps: u64,
    pub(crate) reduces: u64,
    pub(crate) seed: u64,
    pub(crate) first_quad: u64,
}

type Times = [f64; LANES];

impl pulp::NullaryFnOnce for Jobs {
    type Output = Times;

    #[inline(always)]
    fn call(self) -> Times {
        let [load, maps_of @ .., shuffle, merge, reduce] = PHASE_MEANS_S;
        let mut start = [0.0; LANES];
        let mut owner = 0;
        self.add(&mut start, &mut owner, load);
        let mut end = start;
        for _ in 0..self.maps {
            let mut time = start;
            for mean in maps_of {
                self.add(&mut time, &mut owner, mean);
            }
            latest(&mut end, &time);
        }
        start = end;
        self.add(&mut start, &mut owner, shuffle);
        end = start;
        for _ in 0..self.reduces {
            let mut time = start;
            self.add(&mut time, &mut owner, merge);
            self.add(&mut time, &mut owner, reduce);
            latest(&mut end, &time);
        }
        end
    }
}

impl Jobs {
    /// Adds one exponential delay per lane.
    #[inline(always)]
    fn add(&self, times: &mut Times, owner: &mut u32, mean: f64) {
        let address = Address { purpose: Purpose::Delay, owner: *owner, sample: 0 };
        *owner += 1;
        let mut words = [[0; QUADS]; 4];
        let [a, b, c, d] = &mut words;
        for q in 0..QUADS {
            [a[q], b[q], c[q], d[q]] = address.block(split(self.seed), self.first_quad + q as u64);
        }
        for (time, &word) in times.iter_mut().zip(words.as_flattened()) {
            *time = minus_ln(word).mul_add(mean, *time);
        }
    }
}

#[inline(always)]
fn latest(end: &mut Times, times: &Times) {
    for (end, time) in end.iter_mut().zip(times) {
        *end = end.max(*time);
    }
}

/// `-ln((word + 1/2) / 2^32)`.
#[inline(always)]
fn minus_ln(word: u32) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = (f64::from(word) + 0.5).to_bits();
    // both are exact in `f64`: the exponent as a small whole number, and the mantissa from 1 to 2
    let exponent = f64::from((bits >> 52) as i32 - (1023 + 32));
    let t = f64::from_bits(bits & MANTISSA | 1023 << 52) - 1.0;
    let mut ln = COEFFICIENTS[0];
    for c in &COEFFICIENTS[1..] {
        ln = ln.mul_add(t, *c);
    }
    exponent.mul_add(-std::f64::consts::LN_2, ln)
}
