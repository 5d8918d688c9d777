//! Compares delays on a device and on the CPU, from given words.

use crate::net::Law;
use crate::sim::Clock;
use crate::sim::conformance::all_laws;
use crate::sim::gpu::execute::Dispatch;
use crate::sim::gpu::law::{DeviceLaw, Quantiles};
use crate::sim::gpu::pair::value;
use crate::sim::gpu::shader;
use crate::sim::gpu::tests::{Words, devices};
use crate::sim::sampler::Sampler;

/// Every distribution, from words at the ends of all binades and from random ones, which hardly reach the tails.
#[test]
fn delays_of_extreme_words_equal_the_cpu_bit_for_bit() {
    let extremes = [
        Law::Erlang { stages: 2, mean: 1.0 },
        Law::LogNormal { mean: 1.0, cv: 50.0 },
        Law::Weibull { shape: 0.02, scale: 1.0 },
        Law::Weibull { shape: 40.0, scale: 1.0 },
        Law::Pareto { shape: 1.01, scale: 1e-6 },
        Law::Gamma { shape: 0.04, scale: 25.0 },
        Law::Gamma { shape: 10_000.0, scale: 1e-4 },
    ];
    let fits = |law: &Law| !matches!(law, Law::Erlang { stages, .. } if *stages > 2);
    let laws: Vec<Law> = all_laws().into_iter().chain(extremes).filter(fits).collect();
    let mut random = Words(9);
    let near = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, 3 << bit, !(1 << bit), !(5 << bit)]);
    let bits: Vec<u64> = near.chain([u64::MAX]).chain((0..20_000).map(|_| random.next())).collect();
    let words: Vec<[u32; 2]> = bits.iter().map(|bits| [(bits >> 32) as u32, *bits as u32]).collect();
    let clock = Clock { exponent: -40, extra_bits: 0, wide: false };
    for gpu in devices() {
        let kernel = gpu.kernel("law", &shader::law_test(gpu.int64)).unwrap();
        let given = gpu.storage_with(&words).unwrap();
        for law in &laws {
            let sampler = Sampler::general(law, clock);
            let mut tables = vec![0];
            let device = DeviceLaw::of(&sampler, &mut tables, &mut Quantiles::default()).unwrap();
            let tables = gpu.storage_with(&tables).unwrap();
            let parameters = gpu.uniform(&[device.kind, device.a, device.b, 0]).unwrap();
            let results = gpu.storage(8 * words.len() as u64).unwrap();
            let buffers = [(0, &given), (1, &results), (2, &parameters), (3, &tables)];
            let workgroups = (words.len() as u32).div_ceil(crate::sim::gpu::layout::WORKGROUP);
            gpu.run(&[], &[Dispatch { kernel: &kernel, buffers: &buffers, workgroups }]).unwrap();
            let found: Vec<[u32; 2]> = gpu.read(&results, words.len()).unwrap();
            for (words, found) in words.iter().zip(found) {
                let expected: u64 = sampler.transform().apply(|i| words[i as usize]);
                assert_eq!(value(found), expected, "{law:?} {words:?}");
            }
        }
    }
}
