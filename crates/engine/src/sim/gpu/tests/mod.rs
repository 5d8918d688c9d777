//! Tests that compare devices with the CPU, bit for bit. They need an adapter, such as lavapipe, and fail without one.

mod batch;
mod code;
mod direct_law;
mod double;
mod drivers;
mod faults;
mod features;
mod law;
mod race;
mod relay;
mod schedule;
mod sectors;
mod twins;

use std::sync::Arc;

use crate::sim::gpu::{Gpu, Wanted};

/// A device with 64-bit integers, and one without.
fn devices() -> Vec<Arc<Gpu>> {
    let any = || std::env::var("TAILSPN_ADAPTER").ok();
    let open = |name: Option<String>, int64: bool| {
        let wanted = name.as_deref().map_or(Wanted::Any, Wanted::Named);
        if int64 { Gpu::open(wanted) } else { Gpu::open_without_int64(wanted) }
    };
    [true, false].map(|int64| Arc::new(open(any(), int64).expect("the tests need an adapter, see README"))).into()
}

/// Random words for tests: the differences between multiples of the golden ratio, well mixed (SplitMix64).
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A number of at most `most` bits; each number of bits is equally likely.
    fn bits(&mut self, most: u64) -> u64 {
        let bits = 1 + self.below(most);
        self.next() >> (64 - bits)
    }
}
