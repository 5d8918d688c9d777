// Averages over replications, as the CPU adds them: units of 16 replications, merged pairwise in a binary tree.
//
// A workgroup owns one quantity and one block of 64 consecutive units; the number of its first unit is a multiple of 64. An
// invocation owns one unit. The kernel reads columns of the results and writes one entry for each whole block. If the run
// starts or ends within a block, the kernel writes all units of this block, and the CPU merges them.
// Twins: crates/engine/src/estimate/moments.rs (FloatMoments), crates/engine/src/sim/averages.rs. Mirror of the structs:
// crates/engine/src/sim/gpu/layout.rs. Needs shared/double.wgsl.

struct AverageRun {
    warm_up: vec2<u32>,
    // seconds, a binary64 number
    tick: vec2<u32>,
    // number of replications of a column, number of their units, and the place of the first unit in its block
    count: u32,
    units: u32,
    offset: u32,
    blocks: u32,
    // the first quantity of this dispatch
    first: u32,
    end_column: u32,
    taken_column: u32,
    padding: u32,
}

struct Average {
    mean: vec2<u32>,
    squares: vec2<u32>,
    min: vec2<u32>,
    max: vec2<u32>,
    count: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> run: AverageRun;
@group(0) @binding(1) var<storage, read> results: array<vec2<u32>>;
// kind, column, and the number of a snapshot
@group(0) @binding(2) var<storage, read> quantities: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> averages: array<Average>;

const UNIT = 16u;
const BLOCK = 64u;

const TOKENS = 0u; // sum of tokens over time in two columns, per observed time
const FIRINGS = 1u; // firings per observed second
const REWARD = 2u; // the number itself
const SNAPSHOT = 3u; // the number itself, if the snapshot was taken

var<workgroup> tree: array<Average, BLOCK>;

fn no_average() -> Average {
    return Average(DOUBLE_ZERO, DOUBLE_ZERO, DOUBLE_INFINITY, double_negated(DOUBLE_INFINITY), 0u, 0u);
}

// the unit of one invocation: the samples of all replications that have a sample
fn averaged(quantity: vec4<u32>, unit: u32) -> Average {
    var own = no_average();
    let end = min(UNIT * (unit + 1u), run.count);
    for (var number = UNIT * unit; number < end; number += 1u) {
        var sample = results[quantity.y * run.count + number];
        var counts = true;
        if quantity.x == SNAPSHOT {
            counts = quantity.z < results[run.taken_column * run.count + number].x;
        } else if quantity.x != REWARD {
            let until = results[run.end_column * run.count + number];
            counts = less(run.warm_up, until);
            var observed = double_of_pair(minus(until, run.warm_up));
            if quantity.x == TOKENS {
                sample = double_of_quad(sample, results[(quantity.y + 1u) * run.count + number]);
            } else {
                sample = double_of_pair(sample);
                observed = double_product(observed, run.tick);
            }
            sample = double_quotient(sample, observed);
        }
        if counts {
            own.count += 1u;
            let gap = double_difference(sample, own.mean);
            own.mean = double_sum(own.mean, double_quotient(gap, double_of_word(own.count)));
            own.squares = double_sum(own.squares, double_product(gap, double_difference(sample, own.mean)));
            own.min = double_min(own.min, sample);
            own.max = double_max(own.max, sample);
        }
    }
    return own;
}

fn merged(a: Average, b: Average) -> Average {
    if b.count == 0u {
        return a;
    }
    if a.count == 0u {
        return b;
    }
    var sum = a;
    sum.count = a.count + b.count;
    let share = double_quotient(double_of_word(b.count), double_of_word(sum.count));
    let gap = double_difference(b.mean, a.mean);
    sum.mean = double_sum(a.mean, double_product(gap, share));
    let between = double_product(double_product(double_product(gap, gap), double_of_word(a.count)), share);
    sum.squares = double_sum(a.squares, double_sum(b.squares, between));
    sum.min = double_min(a.min, b.min);
    sum.max = double_max(a.max, b.max);
    return sum;
}

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let which = group.x / run.blocks;
    let block = group.x - which * run.blocks;
    let place = BLOCK * block + lane;
    let here = place >= run.offset && place < run.offset + run.units;
    var own = no_average();
    if here {
        own = averaged(quantities[run.first + which], place - run.offset);
    }
    tree[lane] = own;
    workgroupBarrier();
    for (var half = 1u; half < BLOCK; half <<= 1u) {
        if (lane & (2u * half - 1u)) == 0u {
            tree[lane] = merged(tree[lane], tree[lane + half]);
        }
        workgroupBarrier();
    }
    // entries of whole blocks, then all units of the first block, then all units of the last block
    let base = which * (run.blocks + 2u * BLOCK);
    if lane == 0u {
        averages[base + block] = tree[0];
    }
    if block == 0u {
        averages[base + run.blocks + lane] = own;
    }
    if block + 1u == run.blocks {
        averages[base + run.blocks + BLOCK + lane] = own;
    }
    finished(lane);
}
