// Reduction of one column of times: exact moments per workgroup, and a histogram.
//
// One invocation takes every 64th value of its workgroup's share; the workgroup then adds its 64 partial moments. Values
// above `limit` are not there. Reads one column of the results; writes one partial per workgroup and counts of buckets.
// Twins: crates/engine/src/estimate/moments.rs, crates/engine/src/estimate/histogram.rs. Mirror of the structs: crates/engine/src/sim/gpu/layout.rs.

struct ReduceRun {
    limit: vec2<u32>,
    // values of the column: begin .. end
    begin: u32,
    end: u32,
    // values per workgroup
    share: u32,
    histogram: u32,
    padding: vec2<u32>,
}

struct Partial {
    squares: array<u32, 6>,
    sum: array<u32, 4>,
    min: vec2<u32>,
    max: vec2<u32>,
    count: u32,
    // values that were looked at, those above the limit too
    seen: u32,
}

@group(0) @binding(0) var<uniform> run: ReduceRun;
@group(0) @binding(1) var<storage, read> column: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> partials: array<Partial>;
@group(0) @binding(3) var<storage, read_write> buckets: array<atomic<u32>>;

const LANES = 64u;
const PRECISION_BITS = 12u;

var<workgroup> lanes: array<Partial, 64>;

fn bucket_of(ticks: vec2<u32>) -> u32 {
    let split = ticks.x | (1u << PRECISION_BITS);
    let zeros = select(32u + countLeadingZeros(split), countLeadingZeros(ticks.y), ticks.y != 0u);
    let shift = (63u - PRECISION_BITS) - zeros;
    return (shift << PRECISION_BITS) + shifted_right(ticks, shift).x;
}

fn merge(a: Partial, b: Partial) -> Partial {
    var sum = a;
    var carry = 0u;
    for (var i = 0u; i < 6u; i += 1u) {
        let once = a.squares[i] + b.squares[i];
        let twice = once + carry;
        carry = select(0u, 1u, once < a.squares[i]) + select(0u, 1u, twice < once);
        sum.squares[i] = twice;
    }
    carry = 0u;
    for (var i = 0u; i < 4u; i += 1u) {
        let once = a.sum[i] + b.sum[i];
        let twice = once + carry;
        carry = select(0u, 1u, once < a.sum[i]) + select(0u, 1u, twice < once);
        sum.sum[i] = twice;
    }
    sum.min = least(a.min, b.min);
    sum.max = latest(a.max, b.max);
    sum.count = a.count + b.count;
    sum.seen = a.seen + b.seen;
    return sum;
}

// the moments of one value
fn single(ticks: vec2<u32>) -> Partial {
    let low = full_product(ticks.x, ticks.x);
    let middle = full_product(ticks.x, ticks.y);
    let high = full_product(ticks.y, ticks.y);
    // ticks^2 = low + 2^33 middle + 2^64 high
    let twice = shifted_left(middle, 1u);
    let once = plus(vec2<u32>(low.y, 0u), vec2<u32>(twice.x, 0u));
    let upper = plus(plus(high, vec2<u32>(twice.y, middle.y >> 31u)), vec2<u32>(once.y, 0u));
    var one: Partial;
    one.squares = array<u32, 6>(low.x, once.x, upper.x, upper.y, 0u, 0u);
    one.sum = array<u32, 4>(ticks.x, ticks.y, 0u, 0u);
    one.min = ticks;
    one.max = ticks;
    one.count = 1u;
    return one;
}

fn none() -> Partial {
    var nothing: Partial;
    nothing.min = vec2<u32>(0xffffffffu, 0xffffffffu);
    return nothing;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let start = run.begin + group.x * run.share;
    let stop = min(start + run.share, run.end);
    var own = none();
    for (var i = start + lane; i < stop; i += LANES) {
        let ticks = column[i];
        own.seen += 1u;
        if !less(run.limit, ticks) {
            own = merge(own, single(ticks));
            if run.histogram != 0u {
                atomicAdd(&buckets[bucket_of(ticks)], 1u);
            }
        }
    }
    lanes[lane] = own;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half >>= 1u) {
        if lane < half {
            lanes[lane] = merge(lanes[lane], lanes[lane + half]);
        }
        workgroupBarrier();
    }
    if lane == 0u {
        partials[group.x] = lanes[0];
    }
    finished(lane);
}
