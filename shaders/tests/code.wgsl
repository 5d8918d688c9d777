// Marking expressions: invocation i evaluates one program in marking i.

@group(0) @binding(0) var<storage, read> codes: array<u32>;
@group(0) @binding(1) var<storage, read> markings: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<vec2<u32>>;
// begins[i]: of the program of invocation i, and of its marking
@group(0) @binding(3) var<storage, read> begins: array<vec2<u32>>;

var<private> marking: u32;

fn tokens_of(counter: u32) -> u32 {
    return markings[marking + counter];
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if id.x < arrayLength(&begins) {
        let begin = begins[id.x];
        marking = begin.y;
        let value = eval(begin.x);
        results[id.x] = value;
    }
    finished(lane);
}
