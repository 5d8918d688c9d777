// Products of 32-bit words by the device's 64-bit integers.
// Twin: crates/engine/src/rng/philox.rs (wide_product), crates/engine/src/rng/exponential.rs (high_product)

// (high, low) half of a * b
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let product = u64(a) * u64(b);
    return vec2<u32>(u32(product >> 32u), u32(product));
}

fn high_product(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}
