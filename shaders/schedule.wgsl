// The schedule engine: max-plus evaluation of a straight-line program, four replications per invocation.
//
// One invocation owns one quad of consecutive replications: word j of a Philox block belongs to replication j of it. The
// program is an array of instructions that all invocations read in step; an accumulator `time` holds the present firing
// time of the four, slots hold the times that others wait for. A dispatch runs the instructions `begin .. end` of the
// program. Reads program and tables; writes the columns of the results, and the slots where they are kept in memory.
// With SEVERAL, programs lie one after the other in the array, and invocation i runs quad i mod n of program i / n.
// Random words: delays (transition, sample 0, word i of a draw), choices (group, sample 0).
// Mirror of the structs: crates/engine/src/sim/gpu/layout.rs. The engine of the CPU: crates/engine/src/sim/schedule/.

struct ScheduleRun {
    key: vec2<u32>,
    first_quad: vec2<u32>,
    // quads in this dispatch, and how many a column or slot has room for
    quads: u32,
    stride: u32,
    // instructions
    begin: u32,
    end: u32,
    horizon: vec2<u32>,
    // several programs of one shape: quads of each, and instructions of each
    quads_each: u32,
    length: u32,
}

@group(0) @binding(0) var<uniform> run: ScheduleRun;
// what: pre, law, post and slot; owner; a and b of the law, or of the choice
@group(0) @binding(1) var<storage, read> program: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> tables: array<u32>;
// column c, replication r (counted from the first quad): [4 * stride * c + r]
@group(0) @binding(3) var<storage, read_write> results: array<vec2<u32>>;
//SLOTS

// one number for each of four replications
struct Four {
    low: vec4<u32>,
    high: vec4<u32>,
}

const PRE_ZERO = 1u; // time = 0
const PRE_LOAD = 2u; // time = slot
const PRE_LATEST = 3u; // time = max(time, slot)
const PRE_BRANCH = 4u; // never, where the choice of the group comes out as another branch
const PRE_WHERE = 5u; // time = slot where time is within the horizon, else never

const POST_SET = 1u; // slot = time
const POST_LATEST = 2u; // slot = max(slot, time)
const POST_EARLIEST = 3u; // slot = min(slot, time)
const POST_LATEST_UNTIL = 4u; // the same as latest, for times within the horizon
const POST_LATEST_EVER = 5u; // the same as latest, for times that are not never
const POST_COUNT = 6u; // slot += 1 where time is within the horizon
const POST_RESULT = 7u; // column = time

fn less_four(a: Four, b: Four) -> vec4<bool> {
    return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

fn select_four(a: Four, b: Four, which: vec4<bool>) -> Four {
    return Four(select(a.low, b.low, which), select(a.high, b.high, which));
}

fn plus_four(a: Four, b: Four) -> Four {
    let low = a.low + b.low;
    return Four(low, a.high + b.high + select(vec4<u32>(0u), vec4<u32>(1u), low < a.low));
}

// the sum, or never where a part or the sum is never
fn joined(a: Four, b: Four) -> Four {
    let sum = plus_four(a, b);
    return select_four(sum, all_four(NEVER), (a.high | b.high | sum.high) >= vec4<u32>(NEVER.y));
}

fn all_four(value: vec2<u32>) -> Four {
    return Four(vec4<u32>(value.x), vec4<u32>(value.y));
}

fn each_of(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>) -> Four {
    return Four(vec4<u32>(a.x, b.x, c.x, d.x), vec4<u32>(a.y, b.y, c.y, d.y));
}

// (e * mantissa) >> shift, 0 <= shift < 64
fn scaled(words: vec4<u32>, mantissa: u32, shift: u32) -> Four {
    let a = full_product(exponential(words.x), mantissa);
    let b = full_product(exponential(words.y), mantissa);
    let c = full_product(exponential(words.z), mantissa);
    let d = full_product(exponential(words.w), mantissa);
    let four = each_of(a, b, c, d);
    let s = shift & 31u;
    if shift >= 32u {
        return Four(four.high >> vec4<u32>(s), vec4<u32>(0u));
    }
    let down = (four.high << vec4<u32>(1u)) << vec4<u32>(31u - s);
    return Four((four.low >> vec4<u32>(s)) | down, four.high >> vec4<u32>(s));
}

fn other_delay(law: u32, owner: u32, a: u32, b: u32, quad: vec2<u32>) -> Four {
    if HAS_CURVES {
        if law == ERLANG {
            var p = array<Product, 4>(NO_FACTOR, NO_FACTOR, NO_FACTOR, NO_FACTOR);
            for (var stage = 0u; stage < b; stage += 1u) {
                let words = block(run.key, PURPOSE_DELAY, owner, stage, quad);
                p[0] = factor(p[0], words.x);
                p[1] = factor(p[1], words.y);
                p[2] = factor(p[2], words.z);
                p[3] = factor(p[3], words.w);
            }
            return each_of(erlang(a, p[0]), erlang(a, p[1]), erlang(a, p[2]), erlang(a, p[3]));
        }
    }
    let first = block(run.key, PURPOSE_DELAY, owner, 0u, quad);
    let second = block(run.key, PURPOSE_DELAY, owner, 1u, quad);
    return each_of(
        apply(law, a, b, first.x, second.x),
        apply(law, a, b, first.y, second.y),
        apply(law, a, b, first.z, second.z),
        apply(law, a, b, first.w, second.w),
    );
}

// branch of each of four: how many of the upper bounds tables[at ..] are not above its selector
fn branches(group: u32, at: u32, quad: vec2<u32>) -> vec4<u32> {
    let words = block(run.key, PURPOSE_CHOICE, group, 0u, quad);
    let count = tables[at];
    let total = tables[at + count];
    let selector = vec4<u32>(
        high_product(words.x, total),
        high_product(words.y, total),
        high_product(words.z, total),
        high_product(words.w, total),
    );
    var taken = vec4<u32>(0u);
    for (var i = 1u; i <= count; i += 1u) {
        taken += select(vec4<u32>(0u), vec4<u32>(1u), selector >= vec4<u32>(tables[at + i]));
    }
    return taken;
}

// the instructions of the dispatch, for the quad of one invocation
fn evaluate(at: u32) {
    // of a single program, the driver's compiler sees that all invocations read the same instruction
    var which = 0u;
    if SEVERAL {
        which = at / run.quads_each;
    }
    let quad = plus(run.first_quad, vec2<u32>(at - which * run.quads_each, 0u));
    let own = which * run.length;
    let horizon = all_four(run.horizon);
    let never = all_four(NEVER);
    var time = all_four(vec2<u32>(0u, 0u));
    for (var i = run.begin; i < run.end; i += 1u) {
        let step = program[own + i];
        let slot = step.x >> 12u;
        let pre = step.x & 15u;
        let law = (step.x >> 4u) & 15u;
        let post = (step.x >> 8u) & 15u;
        if pre != 0u {
            if pre == PRE_ZERO {
                time = all_four(vec2<u32>(0u, 0u));
            } else if pre == PRE_LOAD {
                time = load_slot(slot, at);
            } else if pre == PRE_LATEST {
                let other = load_slot(slot, at);
                time = select_four(time, other, less_four(time, other));
            } else if pre == PRE_BRANCH {
                let taken = branches(step.y, step.z, quad);
                time = select_four(never, time, taken == vec4<u32>(step.w));
            } else {
                time = select_four(load_slot(slot, at), never, less_four(horizon, time));
            }
        }
        if law == EXPONENTIAL {
            time = plus_four(time, scaled(block(run.key, PURPOSE_DELAY, step.y, 0u, quad), step.z, step.w));
        } else if law != 0u {
            time = joined(time, other_delay(law, step.y, step.z, step.w, quad));
        }
        if post != 0u {
            if post == POST_SET {
                store_slot(slot, at, time);
            } else if post == POST_RESULT {
                let base = 4u * (run.stride * slot + at);
                results[base] = vec2<u32>(time.low.x, time.high.x);
                results[base + 1u] = vec2<u32>(time.low.y, time.high.y);
                results[base + 2u] = vec2<u32>(time.low.z, time.high.z);
                results[base + 3u] = vec2<u32>(time.low.w, time.high.w);
            } else {
                let other = load_slot(slot, at);
                let within = !less_four(horizon, time);
                var which = less_four(other, time);
                if post == POST_EARLIEST {
                    which = less_four(time, other);
                } else if post == POST_LATEST_UNTIL {
                    which = which & within;
                } else if post == POST_LATEST_EVER {
                    which = which & (time.high < never.high);
                }
                var folded = select_four(other, time, which);
                if post == POST_COUNT {
                    folded = Four(other.low + select(vec4<u32>(0u), vec4<u32>(1u), within), other.high);
                }
                store_slot(slot, at, folded);
            }
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if id.x < run.quads {
        evaluate(id.x);
    }
    finished(lane);
}
