// Delays in ticks from random words.
// Twin: crates/engine/src/sim/sampler/mod.rs (apply), crates/engine/src/sim/sampler/ticks.rs (share), crates/engine/src/sim/clock.rs (narrow)
// Reads `tables`, an array of words that the kernel binds. HAS_CURVES: a distribution is Erlang or a later one of this list. crates/engine/src/sim/gpu/law.rs writes laws in this form.

const EXPONENTIAL = 1u; // a: mantissa, b: shift
const DETERMINISTIC = 2u; // a, b: ticks
const UNIFORM = 3u; // tables[a ..]: low, width
const HYPEREXPONENTIAL = 4u; // tables[a ..]: b times last word of the branch, mantissa, shift
const EMPIRICAL = 5u; // tables[a ..]: b times ticks
const ERLANG = 6u; // tables[a ..]: mantissa and exponent of the scale; b: stages
const LOGNORMAL = 7u; // tables[a ..]: line; tables[b ..]: table of the normal quantile
const WEIBULL = 8u; // tables[a ..]: line
const PARETO = 9u; // tables[a ..]: mantissa and exponent of the power, and of the scale
const GAMMA = 10u; // tables[a ..]: base; tables[b ..]: rows of both tails

// floor(e * mantissa / 2^shift), at most NEVER; a shift below 0 is never
fn narrow(e: u32, mantissa: u32, shift: u32) -> vec2<u32> {
    let ticks = least(shifted_right(full_product(e, mantissa), shift & 63u), NEVER);
    return select(ticks, NEVER, shift > 63u);
}

// floor(word * width / 2^32)
fn share(word: u32, width: vec2<u32>) -> vec2<u32> {
    return plus(full_product(word, width.y), vec2<u32>(high_product(word, width.x), 0u));
}

fn table_pair(at: u32) -> vec2<u32> {
    return vec2<u32>(tables[at], tables[at + 1u]);
}

// the delay made from the words of one draw; an Erlang delay has more than two
fn apply(law: u32, a: u32, b: u32, first: u32, second: u32) -> vec2<u32> {
    if law == EXPONENTIAL {
        return narrow(exponential(first), a, b);
    }
    if law == DETERMINISTIC {
        return vec2<u32>(a, b);
    }
    if law == UNIFORM {
        return least(plus(table_pair(a), share(first, table_pair(a + 2u))), NEVER);
    }
    if law == EMPIRICAL {
        return table_pair(a + 2u * high_product(first, b));
    }
    if HAS_CURVES {
        if law > ERLANG {
            return curved(law, a, b, first, second);
        }
    }
    // the first branch whose last word is not below the first word
    var branch = 0u;
    for (var i = 0u; i + 1u < b; i += 1u) {
        branch += select(0u, 1u, first > tables[a + 3u * i]);
    }
    let at = a + 3u * branch;
    return narrow(exponential(second), tables[at + 1u], tables[at + 2u]);
}
