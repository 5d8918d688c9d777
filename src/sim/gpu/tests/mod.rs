//! Devices against the CPU, bit for bit. They need an adapter: lavapipe will do, none is a failure.

mod race;
mod relay;
mod schedule;

use std::sync::Arc;

use crate::sim::gpu::{Gpu, Wanted};

/// A device with the use of 64-bit integers, and one without.
fn devices() -> Vec<Arc<Gpu>> {
    let any = || std::env::var("TAILSPN_ADAPTER").ok();
    let open = |name: Option<String>, int64: bool| {
        let wanted = name.as_deref().map_or(Wanted::Any, Wanted::Named);
        if int64 { Gpu::open(wanted) } else { Gpu::open_without_int64(wanted) }
    };
    [true, false].map(|int64| Arc::new(open(any(), int64).expect("the tests need an adapter, see README"))).into()
}
