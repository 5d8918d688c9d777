//! Tests that a device must pass before use: known answers of Philox and of the variates, pair
//! arithmetic, and loops that run to their end. Some real drivers fail each of these.

use crate::rng::{exponential, philox4x32_10};
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::error::GpuError;
use crate::sim::gpu::pair::twin::{latest, least, less, minus, plus, product, shifted_left, shifted_right};
use crate::sim::gpu::pair::{pair, value};
use crate::sim::gpu::shader;

const LANES: usize = 64;
/// Number of answers per lane.
const ANSWERS: usize = 8;
/// Number of loop iterations to try. If a driver stops earlier, kernels stay within its limit.
const MANY_LOOPS: u32 = 256 * 300;
/// Minimum number of loop iterations that a driver must complete.
const FEW_LOOPS: u32 = 256 * 200;
/// If a driver stops loops early, kernels use at most this share of the observed limit, in 16ths.
const CAUTION: u32 = 12;

/// The word whose variate and block a lane checks: the smallest, the largest, a power of two, or another one.
fn seed(lane: usize) -> u32 {
    match lane {
        0 => 0,
        1 => u32::MAX,
        2..34 => 1 << (lane - 2),
        _ => (lane as u32).wrapping_mul(0x9E37_79B9),
    }
}

/// The expected answer of a lane.
fn expected(lane: usize, loops: u32) -> [u32; ANSWERS] {
    let seed = seed(lane);
    let drawn = philox4x32_10([seed, lane as u32, 3, 4], [seed, 7]);
    let a = value([drawn[0], drawn[1]]);
    let b = value([drawn[2], drawn[3]]);
    let by = lane as u32;
    let low = product(u64::from(drawn[0]), drawn[2]);
    let mixed = plus(minus(shifted_left(a, by), shifted_right(b, by)), low);
    let chosen = pair(if less(a, b) { latest(mixed, a) } else { least(mixed, b) });
    let mut hash = lane as u32;
    for count in 1..=loops {
        hash = hash.wrapping_mul(1_664_525).wrapping_add(count) ^ (hash >> 5);
    }
    [drawn[0], drawn[1] ^ drawn[2], drawn[3], exponential(seed), chosen[0], chosen[1], loops, hash]
}

/// Tests a device; returns the maximum number of loop iterations of one invocation in one dispatch.
pub(crate) fn run(gpu: &Gpu) -> Result<u32, GpuError> {
    let kernel = gpu.kernel("self_test", &shader::self_test(gpu.int64))?;
    let answers = |loops: u32| -> Result<Vec<u32>, GpuError> {
        let mut words = vec![loops; LANES];
        words.extend((0..LANES).map(seed));
        words.resize(2 * LANES + ANSWERS * LANES, 0);
        let buffer = gpu.storage_with(&words)?;
        gpu.run(
            &[],
            &[crate::sim::gpu::execute::Dispatch { kernel: &kernel, buffers: &[(0, &buffer)], workgroups: 1 }],
        )?;
        gpu.read_from(&buffer, 2 * LANES, ANSWERS * LANES)
    };
    let many = answers(MANY_LOOPS)?;
    if let Ok(()) = check(&many, MANY_LOOPS) {
        return Ok(u32::MAX);
    }
    let fewer = answers(FEW_LOOPS)?;
    check(&fewer, FEW_LOOPS).map_err(|what| GpuError::SelfTest { adapter: gpu.facts.name.clone(), what })?;
    Ok(FEW_LOOPS / 16 * CAUTION)
}

/// The first wrong answer, if any.
fn check(answers: &[u32], loops: u32) -> Result<(), String> {
    for (lane, got) in answers.chunks_exact(ANSWERS).enumerate() {
        let wanted = expected(lane, loops);
        let what = match got.iter().zip(wanted).position(|(got, wanted)| *got != wanted) {
            None => continue,
            Some(0..3) => "random words",
            Some(3) => "variates",
            Some(4 | 5) => "64-bit arithmetic",
            Some(_) => "a loop ends early",
        };
        return Err(format!("{what}, lane {lane}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_answer_is_named() {
        let right: Vec<u32> = (0..LANES).flat_map(|lane| expected(lane, FEW_LOOPS)).collect();
        assert_eq!(check(&right, FEW_LOOPS), Ok(()));
        for (at, what) in [(0, "random words"), (3, "variates"), (5, "64-bit"), (6, "loop"), (7, "loop")] {
            let mut wrong = right.clone();
            wrong[5 * ANSWERS + at] ^= 1 << 20;
            let said = check(&wrong, FEW_LOOPS).unwrap_err();
            assert!(said.contains(what) && said.contains("lane 5"), "{said}");
        }
    }
}
