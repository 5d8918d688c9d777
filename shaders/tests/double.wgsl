// One function for every invocation: `operation` says which, its arguments are in `operands`.

@group(0) @binding(0) var<storage, read> operands: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> results: array<vec2<u32>>;
@group(0) @binding(2) var<uniform> operation: vec4<u32>;

fn answer(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let none = vec2<u32>(0u, 0u);
    let yes = vec2<u32>(1u, 0u);
    switch operation.x {
        case 0u: { return double_negated(a); }
        case 1u: { return double_abs(a); }
        case 2u: { return select(none, yes, double_is_nan(a)); }
        case 3u: { return select(none, yes, double_is_finite(a)); }
        case 4u: { return select(none, yes, double_is_zero(a)); }
        case 5u: { return select(none, yes, double_equal(a, b)); }
        case 6u: { return select(none, yes, double_less(a, b)); }
        case 7u: { return select(none, yes, double_less_or_equal(a, b)); }
        case 8u: { return double_min(a, b); }
        case 9u: { return double_max(a, b); }
        case 10u: { return double_sum(a, b); }
        case 11u: { return double_difference(a, b); }
        case 12u: { return double_product(a, b); }
        case 13u: { return double_quotient(a, b); }
        case 14u: { return double_remainder(a, b); }
        case 15u: { return double_sqrt(a); }
        case 16u: { return double_floor(a); }
        case 17u: { return double_ceil(a); }
        case 18u: { return double_trunc(a); }
        case 19u: { return double_round_even(a); }
        case 20u: { return double_round_half_away(a); }
        case 21u: { return double_of_word(a.x); }
        case 22u: { return double_of_pair(a); }
        case 23u: { return pair_of_double(a); }
        case 24u: { return vec2<u32>(word_of_double(a), 0u); }
        case 25u: { return double_power_of_two(bitcast<i32>(b.x)); }
        case 26u: { return double_scaled(a, bitcast<i32>(b.x)); }
        case 27u: { return vec2<u32>(leading_zeros(a), 0u); }
        case 28u: { return vec2<u32>(reciprocal(a.x | 0x80000000u), 0u); }
        case 29u: { return units(a, bitcast<i32>(b.x)); }
        case 30u: { return delay(b.x, a, bitcast<i32>(b.y)); }
        case 31u: { return selection(b.x, a); }
        default: { return double_of_quad(a, b); }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if id.x < arrayLength(&operands) {
        let given = operands[id.x];
        results[id.x] = answer(given.xy, given.zw);
    }
    finished(lane);
}
