// One delay for every invocation: `law` is the distribution, `operands` has the two words of each draw.

@group(0) @binding(0) var<storage, read> operands: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> results: array<vec2<u32>>;
@group(0) @binding(2) var<uniform> law: vec4<u32>;
@group(0) @binding(3) var<storage, read> tables: array<u32>;

const HAS_CURVES = true;

fn answer(words: vec2<u32>) -> vec2<u32> {
    if law.x == ERLANG {
        return erlang(law.y, factor(factor(NO_FACTOR, words.x), words.y));
    }
    return apply(law.x, law.y, law.z, words.x, words.y);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if id.x < arrayLength(&operands) {
        results[id.x] = answer(operands[id.x]);
    }
    finished(lane);
}
