// temporary
fn divided(d: u32) -> u32 {
    // floor((2^63 - 1) / d), top bit of d set
    let hi = 0x7fffffffu; let v1 = d >> 16u; let v0 = d & 0xffffu;
    var q1 = hi / v1; var r = hi - q1 * v1;
    for (var i = 0u; i < 2u; i += 1u) { if r < 65536u && (q1 >= 65536u || q1 * v0 > ((r << 16u) | 0xffffu)) { q1 -= 1u; r += v1; } }
    let un21 = (hi << 16u) + 0xffffu - q1 * d;
    var q0 = un21 / v1; r = un21 - q0 * v1;
    for (var i = 0u; i < 2u; i += 1u) { if r < 65536u && (q0 >= 65536u || q0 * v0 > ((r << 16u) | 0xffffu)) { q0 -= 1u; r += v1; } }
    return (q1 << 16u) + q0;
}
fn delay(e: u32, total: vec2<u32>) -> vec2<u32> {
    let zeros = select(32u + countLeadingZeros(total.x), countLeadingZeros(total.y), total.y != 0u);
    let normal = shifted_left(total, zeros).y;
    let shift = DIRECT_BASE + 64u - zeros;
    if i32(shift) < 0 { return NEVER; }
    if i32(shift) > 63 { return vec2<u32>(0u, 0u); }
    return least(shifted_right(full_product(e, divided(normal)), shift), NEVER);
}
fn selection(w: u32, total: vec2<u32>) -> vec2<u32> {
    return share(w, total);
}
fn units(a: vec2<u32>, b: u32) -> vec2<u32> { return a; }
