// In place of double.wgsl and code.wgsl, for nets and questions without marking expressions: nothing of this is called.

const DOUBLE_ZERO = vec2<u32>(0u, 0u);
const DOUBLE_ONE = vec2<u32>(0u, 0x3ff00000u);
const DOUBLE_WORD_MAX = vec2<u32>(0xffe00000u, 0x41efffffu);

fn eval(code: u32) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_is_finite(a: vec2<u32>) -> bool { return true; }
fn double_less(a: vec2<u32>, b: vec2<u32>) -> bool { return false; }
fn double_equal(a: vec2<u32>, b: vec2<u32>) -> bool { return false; }
fn double_sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_difference(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_product(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_quotient(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_round_half_away(a: vec2<u32>) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_scaled(a: vec2<u32>, by: u32) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_exponent(a: vec2<u32>) -> u32 { return 0u; }
fn double_of_word(a: u32) -> vec2<u32> { return DOUBLE_ZERO; }
fn double_of_pair(a: vec2<u32>) -> vec2<u32> { return DOUBLE_ZERO; }
fn word_of_double(a: vec2<u32>) -> u32 { return 0u; }
