// Which word belongs to whom.
// Twin: crates/engine/src/rng/mod.rs (block, word, event_block)
// A replication or a quad of four is a pair (low, high) of words; the purpose stands above the 60 bits of it.

const PURPOSE_DELAY = 0u;
const PURPOSE_CHOICE = 0x10000000u;
const PURPOSE_EVENT = 0x20000000u;

// the block of four consecutive replications
fn block(key: vec2<u32>, purpose: u32, owner: u32, sample: u32, quad: vec2<u32>) -> vec4<u32> {
    return philox4x32_10(vec4<u32>(sample, owner, quad.x, quad.y | purpose), key);
}

// the word of one replication
fn word(key: vec2<u32>, purpose: u32, owner: u32, sample: u32, replication: vec2<u32>) -> u32 {
    let quad = vec2<u32>((replication.x >> 2u) | (replication.y << 30u), replication.y >> 2u);
    return block(key, purpose, owner, sample, quad)[replication.x & 3u];
}

// two events of one replication: time and selection word of each
fn event_block(key: vec2<u32>, replication: vec2<u32>, pair: u32) -> vec4<u32> {
    return philox4x32_10(vec4<u32>(pair, 0u, replication.x, replication.y | PURPOSE_EVENT), key);
}
