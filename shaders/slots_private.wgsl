// Slots of a schedule that are few: an invocation keeps them to itself.

var<private> slot_low: array<vec4<u32>, SLOT_COUNT>;
var<private> slot_high: array<vec4<u32>, SLOT_COUNT>;

fn load_slot(slot: u32, at: u32) -> Four {
    return Four(slot_low[slot], slot_high[slot]);
}

fn store_slot(slot: u32, at: u32, value: Four) {
    slot_low[slot] = value.low;
    slot_high[slot] = value.high;
}
