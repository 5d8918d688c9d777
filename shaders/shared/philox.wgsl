// Philox4x32-10, Salmon et al. 2011.
// Twin: crates/engine/src/rng/philox.rs (philox4x32_10)

const MULTIPLIER_0 = 0xD2511F53u;
const MULTIPLIER_1 = 0xCD9E8D57u;
const WEYL = vec2<u32>(0x9E3779B9u, 0xBB67AE85u);

fn round_of_philox(c: vec4<u32>, k: vec2<u32>) -> vec4<u32> {
    let p0 = wide_product(MULTIPLIER_0, c.x);
    let p1 = wide_product(MULTIPLIER_1, c.z);
    return vec4<u32>(p1.x ^ c.y ^ k.x, p1.y, p0.x ^ c.w ^ k.y, p0.y);
}

// ten rounds, written out: a loop would count against the iterations that some drivers allow
fn philox4x32_10(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    var c = round_of_philox(counter, key);
    c = round_of_philox(c, key + 1u * WEYL);
    c = round_of_philox(c, key + 2u * WEYL);
    c = round_of_philox(c, key + 3u * WEYL);
    c = round_of_philox(c, key + 4u * WEYL);
    c = round_of_philox(c, key + 5u * WEYL);
    c = round_of_philox(c, key + 6u * WEYL);
    c = round_of_philox(c, key + 7u * WEYL);
    c = round_of_philox(c, key + 8u * WEYL);
    c = round_of_philox(c, key + 9u * WEYL);
    return c;
}
