// The race in direct form: the time to the next firing from the total rate, the transition by its share of it.
// Twin: crates/engine/src/sim/race/direct.rs; the arithmetic is in shared/direct_law.wgsl.
// Rows of timed transitions: transition, kind, units of one server (2 words), servers, code of the rate.

const SHARE_PLAIN = 0u;
const SHARE_MARKING = 2u;
const MOST_UNITS = vec2<u32>(0u, 0x40000000u);

fn begin_form() {
    event = 0u;
    event_half = 0u;
    total = vec2<u32>(0u, 0u);
    for (var i = 0u; i < 2u * TIMED; i += 1u) {
        hold(UNITS + i, 0u);
    }
    for (var i = 0u; i < 2u * BLOCKS; i += 1u) {
        hold(BLOCK_SUMS + i, 0u);
    }
}

// brings the units of the u-th timed transition in line with the marking
fn look_at(u: u32) {
    let row = rows[TIMED_ROWS + 2u * u];
    let rest = rows[TIMED_ROWS + 2u * u + 1u];
    let share = row.y;
    let before = held_pair(UNITS + 2u * u);
    let busy = served(row.x, rest.x);
    var own = row.zw;
    if share == SHARE_PLAIN {
        own = select(own, vec2<u32>(0u, 0u), busy == 0u);
    } else if HAS_OTHER_SHARES {
        if HAS_MARKING_RATES && share == SHARE_MARKING {
            own = units(rate(busy, rest.y), RATE_EXPONENT);
        } else {
            own = product(own, busy);
        }
        let sum = plus(own, minus(total, before));
        if less(sum, own) || less(MOST_UNITS, sum) {
            fault();
        }
    }
    if any(own != before) {
        hold_pair(UNITS + 2u * u, own);
        let change = minus(own, before);
        let at = BLOCK_SUMS + 2u * (u >> BLOCK_SHIFT);
        hold_pair(at, plus(held_pair(at), change));
        total = plus(total, change);
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
        let own = held_pair(UNITS + 2u * at);
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
    fire_timed(rows[TIMED_ROWS + 2u * find(selection(mine.y, total))].x, to);
}
