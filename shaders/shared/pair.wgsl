// 64-bit numbers as pairs (low, high) of words.
// Twin: crates/engine/src/sim/gpu/pair.rs (plus, minus, less, least, latest, shifted_right, shifted_left, product, leading_zeros, reciprocal)

const NEVER = vec2<u32>(0u, 0x80000000u);

fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn least(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(b, a, less(a, b));
}

fn latest(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, less(a, b));
}

// a >> by for 0 <= by < 64
fn shifted_right(a: vec2<u32>, by: u32) -> vec2<u32> {
    let s = by & 31u;
    // a shift by 32 does nothing: the word that comes down is shifted in two steps
    let small = vec2<u32>((a.x >> s) | ((a.y << 1u) << (31u - s)), a.y >> s);
    return select(small, vec2<u32>(a.y >> s, 0u), by >= 32u);
}

// a << by for 0 <= by < 64
fn shifted_left(a: vec2<u32>, by: u32) -> vec2<u32> {
    let s = by & 31u;
    let small = vec2<u32>(a.x << s, (a.y << s) | ((a.x >> 1u) >> (31u - s)));
    return select(small, vec2<u32>(0u, a.x << s), by >= 32u);
}

// a * b where the product is below 2^64
fn product(a: vec2<u32>, b: u32) -> vec2<u32> {
    let low = wide_product(a.x, b);
    return vec2<u32>(low.y, low.x + a.y * b);
}

// the product of two words
fn full_product(a: u32, b: u32) -> vec2<u32> {
    return wide_product(a, b).yx;
}

// zeros above the top bit, 64 of 0
fn leading_zeros(a: vec2<u32>) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

// floor((2^63 - 1) / divisor) of a divisor with its top bit set: long division with digits of 16 bits, Knuth's D, 1981.
// A digit is guessed by the upper half of the divisor, at most 2 too large, and set right.
fn reciprocal(divisor: u32) -> u32 {
    let upper = divisor >> 16u;
    let lower = divisor & 0xffffu;
    let first = digit_of_reciprocal(0x7fffffffu, upper, lower);
    let rest = 0x7fffffffu * 0x10000u + 0xffffu - first * divisor;
    return first * 0x10000u + digit_of_reciprocal(rest, upper, lower);
}

// floor((rest * 2^16 + 2^16 - 1) / (upper * 2^16 + lower)), rest being below the divisor
fn digit_of_reciprocal(rest: u32, upper: u32, lower: u32) -> u32 {
    var digit = min(rest / upper, 0xffffu);
    var left = rest - digit * upper;
    if left < 0x10000u && digit * lower > ((left << 16u) | 0xffffu) {
        digit -= 1u;
        left += upper;
    }
    if left < 0x10000u && digit * lower > ((left << 16u) | 0xffffu) {
        digit -= 1u;
    }
    return digit;
}
