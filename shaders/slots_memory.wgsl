// Slots of a schedule that are many, or that must outlast a dispatch: slot s of the invocation i is at [s * stride + i].

@group(0) @binding(4) var<storage, read_write> slots: array<Four>;

fn load_slot(slot: u32, at: u32) -> Four {
    return slots[slot * run.stride + at];
}

fn store_slot(slot: u32, at: u32, value: Four) {
    slots[slot * run.stride + at] = value;
}
