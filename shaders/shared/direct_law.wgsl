// Units of rates, delays and choices of the direct form.
// Twin: crates/engine/src/sim/race/direct_law.rs (units, delay, selection)
// Totals and units are pairs; a rate is a binary64 number. Needs double.wgsl, no globals.

// units of a rate that is finite and not negative: rate * 2^exponent, rounded, at least 1 of a rate that is not 0
fn units(rate: vec2<u32>, exponent: i32) -> vec2<u32> {
    let rounded = pair_of_double(double_round_half_away(double_scaled(rate, exponent)));
    let positive = double_less(DOUBLE_ZERO, rate);
    return select(vec2<u32>(0u, 0u), latest(rounded, vec2<u32>(1u, 0u)), positive);
}

// ticks to the next firing for the unit variate e; 0 < total < 2^63
fn delay(e: u32, total: vec2<u32>, base: i32) -> vec2<u32> {
    let zeros = leading_zeros(total);
    let mantissa = reciprocal(shifted_left(total, zeros & 63u).y);
    let shift = base + 64 - i32(zeros);
    let ticks = least(shifted_right(full_product(e, mantissa), u32(shift) & 63u), NEVER);
    let outside = select(vec2<u32>(0u, 0u), NEVER, shift < 0);
    return select(outside, ticks, shift >= 0 && shift < 64);
}

// a number below total: floor(word * total / 2^32)
fn selection(word: u32, total: vec2<u32>) -> vec2<u32> {
    return plus(full_product(word, total.y), vec2<u32>(high_product(word, total.x), 0u));
}
