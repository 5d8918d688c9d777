// IEEE 754 binary64 arithmetic by 32-bit integers, rounded to nearest, ties to even.
// Twin: crates/engine/src/sim/gpu/double.rs (double_negated, double_abs, double_is_nan, double_is_finite, double_is_zero, double_equal, double_less, double_less_or_equal, double_min, double_max, double_sum, double_difference, double_product, double_quotient, double_remainder, double_sqrt, double_floor, double_ceil, double_trunc, double_round_even, double_round_half_away, double_of_word, double_of_pair, double_of_quad, pair_of_double, word_of_double, double_power_of_two, double_scaled)
// A number is the pair (low, high) of words of its bits. Subnormal numbers, infinities and signed zeros are as in the
// standard; a NaN may be any NaN. Needs a product file and pair.wgsl, no globals.
// Loops: at most 75 iterations in a remainder, 55 in a root, none elsewhere.

const DOUBLE_ZERO = vec2<u32>(0u, 0u);
const DOUBLE_ONE = vec2<u32>(0u, 0x3ff00000u);
const DOUBLE_INFINITY = vec2<u32>(0u, 0x7ff00000u);
const DOUBLE_NAN = vec2<u32>(0u, 0x7ff80000u);
const DOUBLE_SIGN = 0x80000000u;
const DOUBLE_EXPONENT = 0x7ff00000u;
// the bit above the fraction, which is not stored
const DOUBLE_HIDDEN = 0x00100000u;

// Bits.

fn double_negated(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x, a.y ^ DOUBLE_SIGN);
}

fn double_abs(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x, a.y & ~DOUBLE_SIGN);
}

fn double_is_nan(a: vec2<u32>) -> bool {
    return less(DOUBLE_INFINITY, double_abs(a));
}

fn double_is_finite(a: vec2<u32>) -> bool {
    return (a.y & DOUBLE_EXPONENT) != DOUBLE_EXPONENT;
}

fn double_is_zero(a: vec2<u32>) -> bool {
    return (a.x | (a.y << 1u)) == 0u;
}

fn double_truth(a: bool) -> vec2<u32> {
    return select(DOUBLE_ZERO, DOUBLE_ONE, a);
}

// exponent + 1023; subnormal numbers have the exponent of the least normal one
fn double_exponent(a: vec2<u32>) -> i32 {
    return max(i32((a.y & DOUBLE_EXPONENT) >> 20u), 1);
}

// the 53 bits of a finite number: a = significand * 2^(exponent - 1075)
fn double_significand(a: vec2<u32>) -> vec2<u32> {
    let hidden = select(0u, DOUBLE_HIDDEN, (a.y & DOUBLE_EXPONENT) != 0u);
    return vec2<u32>(a.x, (a.y & 0x000fffffu) | hidden);
}

// a >> by for any by; the last bit also records if a bit was lost
fn double_shifted_right(a: vec2<u32>, by: u32) -> vec2<u32> {
    let most = min(by, 63u);
    let kept = shifted_right(a, most);
    let exact = all(shifted_left(kept, most) == a);
    return vec2<u32>(kept.x | select(1u, 0u, exact), kept.y);
}

// significand * 2^(exponent - 1086), the significand with its top bit set
fn double_rounded(sign: u32, exponent: i32, significand: vec2<u32>) -> vec2<u32> {
    let all_bits = double_shifted_right(significand, u32(max(1 - exponent, 0)));
    let rest = all_bits.x & 0x7ffu;
    let cut = shifted_right(all_bits, 11u);
    let up = rest > 0x400u || (rest == 0x400u && (cut.x & 1u) != 0u);
    let kept = plus(cut, vec2<u32>(select(0u, 1u, up), 0u));
    // the hidden bit adds 1 to the exponent, if it is there
    let high = kept.y + (u32(clamp(exponent, 1, 2047) - 1) << 20u);
    let overflow = high >= DOUBLE_EXPONENT;
    return vec2<u32>(select(kept.x, 0u, overflow), sign | min(high, DOUBLE_EXPONENT));
}

// significand * 2^(exponent - 1086)
fn double_normalised(sign: u32, exponent: i32, significand: vec2<u32>) -> vec2<u32> {
    let zeros = leading_zeros(significand);
    let scaled = shifted_left(significand, zeros & 63u);
    return select(double_rounded(sign, exponent - i32(zeros), scaled), vec2<u32>(0u, sign), zeros == 64u);
}

// Comparisons.

fn double_equal(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (all(a == b) && !double_is_nan(a)) || (double_is_zero(a) && double_is_zero(b));
}

fn double_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    if double_is_nan(a) || double_is_nan(b) || (double_is_zero(a) && double_is_zero(b)) {
        return false;
    }
    let a_negative = a.y >= DOUBLE_SIGN;
    let b_negative = b.y >= DOUBLE_SIGN;
    return select(a_negative, select(less(a, b), less(b, a), a_negative), a_negative == b_negative);
}

fn double_less_or_equal(a: vec2<u32>, b: vec2<u32>) -> bool {
    return double_less(a, b) || double_equal(a, b);
}

// the number of the two that is one; the first of equals
fn double_min(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, double_less(b, a) || double_is_nan(a));
}

fn double_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, double_less(a, b) || double_is_nan(a));
}

// Arithmetic.

fn double_sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let swapped = less(double_abs(a), double_abs(b));
    let large = select(a, b, swapped);
    let small = select(b, a, swapped);
    let opposite = ((a.y ^ b.y) & DOUBLE_SIGN) != 0u;
    if !double_is_finite(large) {
        // a NaN is the large one, its bits being above those of infinity
        let invalid = double_is_nan(large) || (opposite && !double_is_finite(small));
        return select(large, DOUBLE_NAN, invalid);
    }
    let exponent = double_exponent(large);
    let first = shifted_left(double_significand(large), 10u);
    let distance = u32(exponent - double_exponent(small));
    let second = double_shifted_right(shifted_left(double_significand(small), 10u), distance);
    let total = select(plus(first, second), minus(first, second), opposite);
    let cancelled = opposite && all(total == vec2<u32>(0u, 0u));
    let sign = select(large.y & DOUBLE_SIGN, 0u, cancelled);
    return double_normalised(sign, exponent + 1, total);
}

fn double_difference(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return double_sum(a, double_negated(b));
}

fn double_product(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sign = (a.y ^ b.y) & DOUBLE_SIGN;
    let zero = double_is_zero(a) || double_is_zero(b);
    if !double_is_finite(a) || !double_is_finite(b) {
        let invalid = zero || double_is_nan(a) || double_is_nan(b);
        return select(vec2<u32>(0u, sign | DOUBLE_EXPONENT), DOUBLE_NAN, invalid);
    }
    if zero {
        return vec2<u32>(0u, sign);
    }
    // both with the top bit set, so that the upper 64 of 128 bits have one of their two top bits set
    let a_zeros = leading_zeros(double_significand(a));
    let b_zeros = leading_zeros(double_significand(b));
    let x = shifted_left(double_significand(a), a_zeros);
    let y = shifted_left(double_significand(b), b_zeros);
    let lowest = full_product(x.x, y.x);
    let cross = plus(full_product(x.x, y.y), vec2<u32>(lowest.y, 0u));
    let middle = plus(full_product(x.y, y.x), vec2<u32>(cross.x, 0u));
    let upper = plus(plus(full_product(x.y, y.y), vec2<u32>(cross.y, 0u)), vec2<u32>(middle.y, 0u));
    let more = select(0u, 1u, (lowest.x | middle.x) != 0u);
    let exponent = double_exponent(a) + double_exponent(b) - i32(a_zeros + b_zeros) - 1000;
    return double_normalised(sign, exponent, vec2<u32>(upper.x | more, upper.y));
}

// One step of a long division: (rest of rest * 2^bits / divisor, quotient) for rest < divisor, 2^52 <= divisor < 2^53,
// 0 < bits <= 28. `inverse` is the inverse of the divisor's upper 32 bits: 2^31 rest / divisor comes out of it at most
// 3 too small and less than 1 too large, so the quotient is right or, because 1 is subtracted, 1 too small.
fn double_division_step(rest: vec2<u32>, divisor: vec2<u32>, inverse: u32, bits: u32) -> vec3<u32> {
    let guess = high_product(shifted_right(rest, 21u).x, inverse);
    let quotient = (max(guess, 1u) - 1u) >> (31u - bits);
    let left = minus(shifted_left(rest, bits), product(divisor, quotient));
    let more = !less(left, divisor);
    return vec3<u32>(select(left, minus(left, divisor), more), quotient + select(0u, 1u, more));
}

fn double_quotient(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sign = (a.y ^ b.y) & DOUBLE_SIGN;
    let a_zero = double_is_zero(a);
    let b_zero = double_is_zero(b);
    let a_finite = double_is_finite(a);
    let b_finite = double_is_finite(b);
    if a_zero || b_zero || !a_finite || !b_finite {
        let invalid = double_is_nan(a) || double_is_nan(b) || (a_zero && b_zero) || (!a_finite && !b_finite);
        let infinite = !a_finite || b_zero;
        return select(vec2<u32>(0u, sign | select(0u, DOUBLE_EXPONENT, infinite)), DOUBLE_NAN, invalid);
    }
    let a_zeros = leading_zeros(double_significand(a));
    let b_zeros = leading_zeros(double_significand(b));
    let dividend = shifted_left(double_significand(a), a_zeros - 11u);
    let divisor = shifted_left(double_significand(b), b_zeros - 11u);
    var exponent = double_exponent(a) - double_exponent(b) - i32(a_zeros) + i32(b_zeros) + 1023;
    // 1 <= quotient < 2
    let small = less(dividend, divisor);
    exponent -= select(0, 1, small);
    let rest = minus(select(dividend, shifted_left(dividend, 1u), small), divisor);
    let inverse = reciprocal(shifted_right(divisor, 21u).x);
    let first = double_division_step(rest, divisor, inverse, 28u);
    let second = double_division_step(first.xy, divisor, inverse, 28u);
    let quotient = vec2<u32>((first.z << 28u) | second.z, 0x01000000u | (first.z >> 4u));
    let more = select(0u, 1u, (second.x | second.y) != 0u);
    return double_rounded(sign, exponent, shifted_left(quotient, 7u) | vec2<u32>(more, 0u));
}

// a - b * trunc(a / b) without an error, with the sign of a
fn double_remainder(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if !double_is_finite(a) || double_is_nan(b) || double_is_zero(b) {
        return DOUBLE_NAN;
    }
    if less(double_abs(a), double_abs(b)) {
        return a;
    }
    let a_zeros = leading_zeros(double_significand(a));
    let b_zeros = leading_zeros(double_significand(b));
    let divisor = shifted_left(double_significand(b), b_zeros - 11u);
    let b_exponent = double_exponent(b) - i32(b_zeros);
    var distance = u32(double_exponent(a) - i32(a_zeros) - b_exponent);
    var rest = shifted_left(double_significand(a), a_zeros - 11u);
    rest = select(minus(rest, divisor), rest, less(rest, divisor));
    let inverse = reciprocal(shifted_right(divisor, 21u).x);
    // at most 75 times: the distance is 2097 at most
    while distance > 0u && (rest.x | rest.y) != 0u {
        let bits = min(distance, 28u);
        rest = double_division_step(rest, divisor, inverse, bits).xy;
        distance -= bits;
    }
    return double_normalised(a.y & DOUBLE_SIGN, b_exponent + 22, rest);
}

// the correctly rounded square root, bit by bit
fn double_sqrt(a: vec2<u32>) -> vec2<u32> {
    if double_is_zero(a) || double_is_nan(a) || all(a == DOUBLE_INFINITY) {
        return a;
    }
    if a.y >= DOUBLE_SIGN {
        return DOUBLE_NAN;
    }
    let zeros = leading_zeros(double_significand(a));
    let exponent = double_exponent(a) - i32(zeros) + 11 - 1023;
    var square = shifted_left(double_significand(a), zeros - 1u + u32(exponent & 1));
    var root = vec2<u32>(0u, 0u);
    var rest = vec2<u32>(0u, 0u);
    for (var i = 0u; i < 55u; i += 1u) {
        rest = shifted_left(rest, 2u) | vec2<u32>(square.y >> 30u, 0u);
        square = shifted_left(square, 2u);
        let trial = shifted_left(root, 2u) | vec2<u32>(1u, 0u);
        let fits = !less(rest, trial);
        rest = select(rest, minus(rest, trial), fits);
        root = shifted_left(root, 1u) | vec2<u32>(select(0u, 1u, fits), 0u);
    }
    let more = select(0u, 1u, (rest.x | rest.y) != 0u);
    return double_rounded(0u, (exponent >> 1u) + 1023, shifted_left(root, 9u) | vec2<u32>(more, 0u));
}

// Integers.

const DOUBLE_TRUNC = 0u;
const DOUBLE_FLOOR = 1u;
const DOUBLE_CEIL = 2u;
const DOUBLE_ROUND_EVEN = 3u;
const DOUBLE_ROUND_HALF_AWAY = 4u;

// the integer next to a in the direction of one of the modes above
fn double_integer(a: vec2<u32>, mode: u32) -> vec2<u32> {
    let exponent = i32((a.y & DOUBLE_EXPONENT) >> 20u) - 1023;
    if exponent >= 52 || double_is_zero(a) {
        return a;
    }
    let sign = a.y & DOUBLE_SIGN;
    // what is nearer to 0, what is farther from it, and the fraction above the first, the half being its top bit
    var nearer = vec2<u32>(0u, sign);
    var farther = vec2<u32>(0u, sign | DOUBLE_ONE.y);
    var fraction = vec2<u32>(1u, 0u);
    var odd = false;
    if exponent >= 0 {
        let places = 52u - u32(exponent);
        nearer = shifted_left(shifted_right(a, places), places);
        farther = plus(nearer, shifted_left(vec2<u32>(1u, 0u), places));
        fraction = shifted_left(a, 64u - places);
        // of an exponent of 0, this is the last bit of 1023
        odd = (shifted_right(a, places).x & 1u) != 0u;
    } else if exponent == -1 {
        fraction = vec2<u32>(a.x | (a.y & 0x000fffffu), DOUBLE_SIGN);
    }
    let any = (fraction.x | fraction.y) != 0u;
    let half = fraction.y >= DOUBLE_SIGN;
    let above_half = half && (fraction.x | (fraction.y << 1u)) != 0u;
    let floor_away = mode == DOUBLE_FLOOR && any && sign != 0u;
    let ceil_away = mode == DOUBLE_CEIL && any && sign == 0u;
    let even_away = mode == DOUBLE_ROUND_EVEN && (above_half || (half && odd));
    let half_away = mode == DOUBLE_ROUND_HALF_AWAY && half;
    return select(nearer, farther, floor_away || ceil_away || even_away || half_away);
}

fn double_floor(a: vec2<u32>) -> vec2<u32> {
    return double_integer(a, DOUBLE_FLOOR);
}

fn double_ceil(a: vec2<u32>) -> vec2<u32> {
    return double_integer(a, DOUBLE_CEIL);
}

fn double_trunc(a: vec2<u32>) -> vec2<u32> {
    return double_integer(a, DOUBLE_TRUNC);
}

fn double_round_even(a: vec2<u32>) -> vec2<u32> {
    return double_integer(a, DOUBLE_ROUND_EVEN);
}

fn double_round_half_away(a: vec2<u32>) -> vec2<u32> {
    return double_integer(a, DOUBLE_ROUND_HALF_AWAY);
}

fn double_of_word(word: u32) -> vec2<u32> {
    let zeros = countLeadingZeros(word);
    let significand = word << (zeros & 31u);
    let high = ((1053u - zeros) << 20u) + (significand >> 11u);
    return select(vec2<u32>(significand << 21u, high), DOUBLE_ZERO, word == 0u);
}

fn double_of_pair(value: vec2<u32>) -> vec2<u32> {
    return double_normalised(0u, 1086, value);
}

// the nearest number to an integer of 128 bits
fn double_of_quad(low: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
    let zeros = leading_zeros(high);
    if zeros == 64u {
        return double_of_pair(low);
    }
    // 64 bits from the first set bit on; the last of these bits is also set if any bit below it is set
    let lost = shifted_left(low, zeros);
    let upper = shifted_left(high, zeros) | select(shifted_right(low, 64u - zeros), vec2<u32>(0u, 0u), zeros == 0u);
    let more = select(0u, 1u, any(lost != vec2<u32>(0u, 0u)));
    return double_normalised(0u, 1150 - i32(zeros), vec2<u32>(upper.x | more, upper.y));
}

// the integer part, or the nearest number that 64 bits have; 0 of a NaN
fn pair_of_double(a: vec2<u32>) -> vec2<u32> {
    let exponent = i32((a.y & DOUBLE_EXPONENT) >> 20u) - 1023;
    if exponent < 0 || a.y >= DOUBLE_SIGN || double_is_nan(a) {
        return vec2<u32>(0u, 0u);
    }
    if exponent >= 64 {
        return vec2<u32>(0xffffffffu, 0xffffffffu);
    }
    return shifted_right(shifted_left(double_significand(a), 11u), 63u - u32(exponent));
}

// the same for 32 bits
fn word_of_double(a: vec2<u32>) -> u32 {
    let value = pair_of_double(a);
    return select(value.x, 0xffffffffu, value.y != 0u);
}

// 2^exponent, 0 or infinite where there is no such number
fn double_power_of_two(exponent: i32) -> vec2<u32> {
    return double_rounded(0u, clamp(exponent, -2000, 2000) + 1023, vec2<u32>(0u, DOUBLE_SIGN));
}

// a times double_power_of_two(exponent)
fn double_scaled(a: vec2<u32>, exponent: i32) -> vec2<u32> {
    let before = i32((a.y & DOUBLE_EXPONENT) >> 20u);
    let after = before + clamp(exponent, -4000, 4000);
    let normal = before > 0 && before < 2047 && after > 0 && after < 2047;
    if normal && exponent >= -1074 && exponent <= 1023 {
        return vec2<u32>(a.x, (a.y & ~DOUBLE_EXPONENT) | (u32(after) << 20u));
    }
    return double_product(a, double_power_of_two(exponent));
}
