// What a firing does to the marking.
// Twin: crates/engine/src/semantics/fire.rs (fire, fire_dynamic, add)
// A kernel that uses this defines `tokens_of`, `set_tokens`, `tables`, `rows`, `fault`; enabled.wgsl comes before it.

// adds or takes tokens; a counter that would run over is a fault
fn add(counter: u32, by: u32, takes: bool) {
    let held = tokens_of(counter);
    let sum = select(held + by, held - by, takes);
    let over = select((sum < held), (by > held), takes);
    if over {
        fault();
        return;
    }
    set_tokens(counter, sum);
}

fn fire(t: u32) {
    let row = row_of(t);
    let changes = rows[row + 2u];
    for (var at = changes.x; at < changes.y; at += 1u) {
        let change = rows[at];
        let takes = change.y >= 0x80000000u;
        add(change.x, select(change.y, 0u - change.y, takes), takes);
    }
    if HAS_DYNAMIC {
        let lists = rows[row + 1u];
        if lists.x < lists.y {
            fire_dynamic(row);
        }
    }
}

// all weights are those of the marking before the firing; tokens are taken before others are put
fn fire_dynamic(row: u32) {
    weigh_arcs(row);
    let lists = rows[row + 1u];
    let begin = lists.x;
    let end = lists.y;
    for (var at = begin; at < end; at += 4u) {
        if tables[at] == ARC_INPUT {
            add(tables[at + 1u], arc_weights[(at - begin) / 4u], true);
        }
    }
    for (var at = begin; at < end; at += 4u) {
        if tables[at] == ARC_OUTPUT {
            add(tables[at + 1u], arc_weights[(at - begin) / 4u], false);
        }
    }
}
