// The race in direct form: the time to the next firing from the total rate, the transition by its share of it.
// Twin: crates/engine/src/sim/race/direct.rs; the arithmetic is in shared/direct_law.wgsl.
// Rows of timed transitions: units of one server (2 words; the first may be the code of the rate), ranges of counters; transition, kind,
// servers, item of its units. A transition with one server and a constant rate has no item, but a bit that says whether it is enabled.

const SHARE_PLAIN = 0u;
const SHARE_MARKING = 2u;
const MOST_UNITS = vec2<u32>(0u, 0x40000000u);

fn begin_form() {
    event = 0u;
    event_half = 0u;
    total = vec2<u32>(0u, 0u);
    for (var i = 0u; i < FORM_ITEMS; i += 1u) {
        hold(ENABLED + i, 0u);
    }
}

// notes that the units of the u-th timed transition change
fn change_units(u: u32, by: vec2<u32>) {
    let at = BLOCK_SUMS + 2u * (u >> BLOCK_SHIFT);
    hold_pair(at, plus(held_pair(at), by));
    total = plus(total, by);
}

// the units of the u-th timed transition
fn units_of(u: u32) -> vec2<u32> {
    if HAS_OTHER_SHARES {
        let rest = rows[TIMED_ROWS + 2u * u + 1u];
        if rest.y != SHARE_PLAIN {
            return held_pair(rest.w);
        }
    }
    let is_on = (held(ENABLED + (u >> 5u)) >> (u & 31u)) & 1u;
    return rows[TIMED_ROWS + 2u * u].xy * is_on;
}

// brings the units of the u-th timed transition in line with the marking
fn look_at(u: u32) {
    let row = rows[TIMED_ROWS + 2u * u];
    let rest = rows[TIMED_ROWS + 2u * u + 1u];
    let busy = served_in(rest.x, rest.z, row.z, row.w);
    if HAS_OTHER_SHARES && rest.y != SHARE_PLAIN {
        let before = held_pair(rest.w);
        var own = row.xy;
        if HAS_MARKING_RATES && rest.y == SHARE_MARKING {
            own = units(rate(busy, row.x), RATE_EXPONENT);
        } else {
            own = product(own, busy);
        }
        let sum = plus(own, minus(total, before));
        if less(sum, own) || less(MOST_UNITS, sum) {
            fault();
        }
        if any(own != before) {
            hold_pair(rest.w, own);
            change_units(u, minus(own, before));
        }
        return;
    }
    let word = ENABLED + (u >> 5u);
    let bit = 1u << (u & 31u);
    let before = held(word);
    let is_on = busy != 0u;
    if is_on != ((before & bit) != 0u) {
        hold(word, before ^ bit);
        change_units(u, select(minus(vec2<u32>(0u, 0u), row.xy), row.xy, is_on));
    }
}

// the first timed transition at which the running sum is above `selection`, which is below the total
fn find(selection: vec2<u32>) -> u32 {
    var left = selection;
    var at = 0u;
    for (var block = 0u; block + 1u < BLOCKS; block += 1u) {
        let sum = held_pair(BLOCK_SUMS + 2u * block);
        if less(left, sum) {
            break;
        }
        left = minus(left, sum);
        at += 1u << BLOCK_SHIFT;
    }
    for (; at + 1u < TIMED; at += 1u) {
        let own = units_of(at);
        if less(left, own) {
            break;
        }
        left = minus(left, own);
    }
    return at;
}

fn race() {
    if all(total == vec2<u32>(0u, 0u)) {
        end_dead();
        return;
    }
    let words = event_block(run.key, replication, event);
    let mine = select(words.xy, words.zw, event_half == 1u);
    event += event_half;
    event_half = 1u - event_half;
    let to = plus(now, delay(exponential(mine.x), total, DIRECT_BASE));
    if less(run.last_tick, to) {
        end_late();
        return;
    }
    if is_spent() {
        end(ENDING_FIRINGS, now);
        return;
    }
    fire_timed(rows[TIMED_ROWS + 2u * find(selection(mine.y, total)) + 1u].x, to);
}
