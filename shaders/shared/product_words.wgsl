// Products of 32-bit words without 64-bit integers.
// Twin: crates/engine/src/rng/philox.rs (wide_product), crates/engine/src/rng/exponential.rs (high_product)
// product_int64.wgsl has the same functions for devices with 64-bit integers; both give the same bits.

// (high, low) half of a * b
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let p00 = a0 * b0;
    let p01 = a0 * b1;
    let p10 = a1 * b0;
    // neither sum can overflow
    let middle = p10 + (p00 >> 16u);
    let rest = p01 + (middle & 0xffffu);
    return vec2<u32>(a1 * b1 + (middle >> 16u) + (rest >> 16u), a * b);
}

fn high_product(a: u32, b: u32) -> u32 {
    return wide_product(a, b).x;
}
