// Proof that a dispatch ran to its end: the host counts on, and compares. Some drivers report a failed command buffer as done.

// workgroups that have finished since the device was opened
@group(0) @binding(7) var<storage, read_write> proof: array<atomic<u32>>;

// the last act of every invocation; `lane` is its place in its workgroup
fn finished(lane: u32) {
    if lane == 0u {
        atomicAdd(&proof[0], 1u);
    }
}
