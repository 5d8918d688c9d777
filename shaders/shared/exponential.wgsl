// -ln u of a word as Q5.27.
// Twin: crates/engine/src/rng/exponential.rs (exponential)

fn exponential(word: u32) -> u32 {
    let zeros = countLeadingZeros(word);
    // what follows the top bit, as Q0.32; the half below the last bit of the word comes in where there is room for it
    let half_bit = select(0u, 1u << ((zeros - 1u) & 31u), zeros > 0u);
    let normal = select(0x80000000u, (word << (zeros & 31u)) | half_bit, zeros < 32u);
    let t = normal << 1u;
    var a = 10205607u;
    a = 67145501u - high_product(a, t);
    a = 207383546u - high_product(a, t);
    a = 413239606u - high_product(a, t);
    a = 628710980u - high_product(a, t);
    a = 833136883u - high_product(a, t);
    a = 1068782673u - high_product(a, t);
    a = 1431088736u - high_product(a, t);
    a = 2147449965u - high_product(a, t);
    a = 4294966510u - high_product(a, t);
    let ln_mantissa = (3u + high_product(a, t) + 16u) >> 5u;
    let exponent = zeros + 1u;
    let ln_exponent = exponent * 93032639u + ((exponent * 49953u + 32768u) >> 16u);
    return ln_exponent - min(ln_exponent, ln_mantissa);
}
