// The self-test of a device: each invocation does what the host knows the answer of.
// Reads and writes `words`; `words[0]` is the number of loop iterations to try.

@group(0) @binding(0) var<storage, read_write> words: array<u32>;

const LANES = 64u;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    let wanted = words[lane];
    let seed = words[LANES + lane];
    // a block of Philox, as 4 words
    let drawn = philox4x32_10(vec4<u32>(seed, lane, 3u, 4u), vec2<u32>(seed, 7u));
    // a variate, and pair arithmetic on what was drawn
    let e = exponential(seed);
    let a = drawn.xy;
    let b = drawn.zw;
    let mixed = plus(minus(shifted_left(a, lane), shifted_right(b, lane)), product(vec2<u32>(a.x, 0u), b.x));
    let chosen = select(least(mixed, b), latest(mixed, a), less(a, b));
    // loops, one in the other, that must not be cut short
    var count = 0u;
    var hash = lane;
    for (var i = 0u; i < wanted / 256u; i += 1u) {
        for (var j = 0u; j < 256u; j += 1u) {
            count += 1u;
            hash = (hash * 1664525u + count) ^ (hash >> 5u);
        }
    }
    let at = 2u * LANES + 8u * lane;
    words[at] = drawn.x;
    words[at + 1u] = drawn.y ^ drawn.z;
    words[at + 2u] = drawn.w;
    words[at + 3u] = e;
    words[at + 4u] = chosen.x;
    words[at + 5u] = chosen.y;
    words[at + 6u] = count;
    words[at + 7u] = hash;
    finished(lane);
}
