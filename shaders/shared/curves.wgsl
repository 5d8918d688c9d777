// Logarithm, power of two and normal quantile in integer arithmetic, and the delays that need them.
// Twin: crates/engine/src/sim/sampler/functions/mod.rs (from_fixed, times, logarithm, fraction, minus_log2, factor, power_of_two, power_minus_one, value_at, lognormal, weibull, pareto), crates/engine/src/sim/sampler/gamma.rs (gamma, high_signed), crates/engine/src/sim/sampler/ticks.rs (ticks_of)
// crates/engine/src/sim/gpu/shader.rs writes `log_ratio`, `growth` and NORMAL_ROWS from the tables of the CPU. The table of the normal
// quantile is a part of `tables`.

const NORMAL_DEGREE = 4u;
const GAMMA_ROW = 6u; // the constant in two words, and four terms, highest degree first

// mantissa * 2^(exponent - 31), the top bit of the mantissa set
struct Positive {
    mantissa: u32,
    exponent: i32,
}

// a product of uniform numbers: mantissa / 2^(31 + zeros)
struct Product {
    mantissa: u32,
    zeros: u32,
}

const NO_FACTOR = Product(0x80000000u, 0u);

// whole + fraction / 2^64
fn from_fixed(whole: u32, fraction: vec2<u32>) -> Positive {
    let large = whole > 0u;
    let word = select(fraction, vec2<u32>(fraction.y, whole), large);
    let zeros = leading_zeros(word);
    return Positive(shifted_left(word, zeros).y, select(-1, 31, large) - i32(zeros));
}

fn times(a: Positive, b: Positive) -> Positive {
    let p = full_product(a.mantissa, b.mantissa);
    let full = p.y >= 0x80000000u;
    return Positive(select((p.y << 1u) | (p.x >> 31u), p.y, full), a.exponent + b.exponent + select(0, 1, full));
}

// -log2(n / 2^64) as Q0.64, the top bit of n set
fn fraction(n: vec2<u32>) -> vec2<u32> {
    let w = minus(vec2<u32>(0u, 0u), n);
    let ratio = log_ratio((n.y << 1u) | (n.x >> 31u));
    return plus(plus(w, full_product(w.y, ratio)), vec2<u32>(high_product(w.x, ratio), 0u));
}

// the binary logarithm as Q32.32
fn logarithm(x: Positive) -> vec2<u32> {
    let below = fraction(vec2<u32>(0u, x.mantissa)).y;
    return minus(vec2<u32>(0u, bitcast<u32>(x.exponent + 1)), vec2<u32>(below, 0u));
}

// -log2 of the uniform number of two words
fn minus_log2(bits: vec2<u32>) -> Positive {
    let odd = vec2<u32>(bits.x | 1u, bits.y);
    let zeros = leading_zeros(odd);
    return from_fixed(zeros, fraction(shifted_left(odd, zeros)));
}

// a product with one more uniform number
fn factor(product: Product, word: u32) -> Product {
    let p = plus(full_product(product.mantissa, word), vec2<u32>(product.mantissa >> 1u, 0u));
    let zeros = leading_zeros(p);
    return Product(shifted_left(p, zeros).y, product.zeros + zeros);
}

fn power_of_two(y: vec2<u32>) -> Positive {
    return Positive(0x80000000u | (high_product(y.x, growth(y.x)) >> 1u), bitcast<i32>(y.y));
}

fn power_minus_one(y: Positive) -> Positive {
    let down = u32(clamp(31 - y.exponent, 0, 63));
    let whole = shifted_right(vec2<u32>(y.mantissa, 0u), down).x;
    let f = shifted_right(vec2<u32>(0u, y.mantissa), down).x;
    let g = growth(f);
    let small = times(y, Positive(g, -1));
    let power = 0x80000000u | (high_product(f, g) >> 1u);
    let rest = power - select(0u, 0x80000000u >> (whole & 31u), whole < 32u);
    let zeros = countLeadingZeros(rest) & 31u;
    let large = Positive(rest << zeros, i32(min(whole, 1048576u)) - i32(zeros));
    if y.exponent < 0 {
        return small;
    }
    return large;
}

// the row of a uniform number, by its tail probability, and the position in the row
fn tail_row(bits: vec2<u32>) -> vec2<u32> {
    let odd = vec2<u32>(bits.x | 1u, bits.y);
    let tail = select(odd, minus(vec2<u32>(0u, 0u), odd), bits.y >> 31u == 1u);
    let zeros = leading_zeros(tail);
    let w = ~shifted_left(tail, zeros);
    return vec2<u32>((8u * zeros - 8u + (w.y >> 28u)) & (NORMAL_ROWS - 1u), (w.y << 4u) | (w.x >> 28u));
}

// the absolute value of a normal variate as Q4.28, and 1 if the variate is positive; `at` is where its table starts
fn normal(bits: vec2<u32>, at: u32) -> vec2<u32> {
    let positive = bits.y >> 31u;
    let place = tail_row(bits);
    let row = at + place.x;
    let s = place.y;
    var a = tables[row];
    a = tables[row + NORMAL_ROWS] + high_product(a, s);
    a = tables[row + 2u * NORMAL_ROWS] + high_product(a, s);
    a = tables[row + 3u * NORMAL_ROWS] + high_product(a, s);
    return vec2<u32>(tables[row + NORMAL_DEGREE * NORMAL_ROWS] + ((high_product(a, s) + 8u) >> 4u), positive);
}

// the line of tables[at ..]: base, slope, shift
fn value_at(at: u32, x: u32, positive: bool) -> vec2<u32> {
    let base = table_pair(at);
    let product = least(shifted_right(full_product(x, tables[at + 2u]), tables[at + 3u]), vec2<u32>(0u, 0x20000000u));
    return select(minus(base, product), plus(base, product), positive);
}

fn lognormal(at: u32, table: u32, bits: vec2<u32>) -> Positive {
    let z = normal(bits, table);
    return power_of_two(value_at(at, z.x, z.y == 1u));
}

fn weibull(at: u32, bits: vec2<u32>) -> Positive {
    let log = logarithm(minus_log2(bits));
    let negative = log.y >> 31u == 1u;
    let size = select(log, minus(vec2<u32>(0u, 0u), log), negative);
    return power_of_two(value_at(at, shifted_right(plus(size, vec2<u32>(32u, 0u)), 6u).x, !negative));
}

fn pareto(power: Positive, bits: vec2<u32>) -> Positive {
    return power_minus_one(times(minus_log2(bits), power));
}

// the upper half of the product of a signed and an unsigned number, rounded down
fn high_signed(a: u32, b: u32) -> u32 {
    return high_product(a, b) - select(0u, b, a >> 31u == 1u);
}

// 2 to the sum of the base in tables[at] and the logarithm of the quantile; the rows of both tails start at `table`
fn gamma(at: u32, table: u32, bits: vec2<u32>) -> Positive {
    let place = tail_row(bits);
    let row = table + GAMMA_ROW * ((bits.y >> 31u) * NORMAL_ROWS + place.x);
    var a = tables[row + 2u];
    a = tables[row + 3u] + high_signed(a, place.y);
    a = tables[row + 4u] + high_signed(a, place.y);
    a = tables[row + 5u] + high_signed(a, place.y);
    let sum = high_signed(a, place.y);
    // from 28 to 32 fraction bits
    let wide = vec2<u32>(sum << 4u, bitcast<u32>(bitcast<i32>(sum) >> 28u));
    return power_of_two(plus(plus(table_pair(at), table_pair(row)), wide));
}

fn table_number(at: u32) -> Positive {
    return Positive(tables[at], bitcast<i32>(tables[at + 1u]));
}

// a number of ticks, rounded down and at most NEVER
fn ticks_of(ticks: Positive) -> vec2<u32> {
    let all = vec2<u32>(ticks.mantissa << 31u, ticks.mantissa >> 1u);
    return select(shifted_right(all, u32(clamp(62 - ticks.exponent, 0, 63))), NEVER, ticks.exponent > 62);
}

// an Erlang delay, from the product of its uniform numbers
fn erlang(at: u32, product: Product) -> vec2<u32> {
    let log = from_fixed(product.zeros - 1u, fraction(vec2<u32>(0u, product.mantissa)));
    return ticks_of(times(log, table_number(at)));
}

// the delay of a lognormal, Weibull, gamma or Pareto distribution
fn curved(law: u32, a: u32, b: u32, first: u32, second: u32) -> vec2<u32> {
    let bits = vec2<u32>(second, first);
    if law == LOGNORMAL {
        return ticks_of(lognormal(a, b, bits));
    }
    if law == WEIBULL {
        return ticks_of(weibull(a, bits));
    }
    if law == GAMMA {
        return ticks_of(gamma(a, b, bits));
    }
    return ticks_of(times(pareto(table_number(a), bits), table_number(a + 2u)));
}
