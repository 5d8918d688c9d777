// What is observed on the way. Twin: crates/engine/src/sim/race/observe.rs.
// Lists hang on the rows of transitions: groups of the question, counters that a firing may change, impulses of rewards
// (reward, code).

fn begin_observing() {
    for (var i = 0u; i < QUESTION_GROUPS; i += 1u) {
        hold_pair(SEEN + 4u * i, NEVER);
        hold_pair(SEEN + 4u * i + 2u, NEVER);
    }
    if HAS_AREAS {
        for (var i = 0u; i < COUNTERS; i += 1u) {
            hold_pair(AREAS + 4u * i, vec2<u32>(0u, 0u));
            hold_pair(AREAS + 4u * i + 2u, vec2<u32>(0u, 0u));
            hold_pair(UPTO + 2u * i, run.warm_up);
        }
    }
    if HAS_COUNTS {
        for (var i = 0u; i < 2u * TRANSITIONS; i += 1u) {
            hold(COUNTS + i, 0u);
        }
    }
    for (var i = 0u; i < 2u * REWARDS; i += 1u) {
        hold(REWARD_SUMS + i, 0u);
    }
    if SNAPSHOTS > 0u {
        hold(TAKEN, 0u);
    }
}

// takes the snapshots before `to`, or also those at `to`
fn take_snapshots(to: vec2<u32>, inclusive: bool) {
    var next = held(TAKEN);
    for (; next < SNAPSHOTS; next += 1u) {
        let at = SNAPSHOT_ROWS + 3u * next;
        let time = vec2<u32>(tables[at], tables[at + 1u]);
        if !less(time, to) && !(inclusive && all(time == to)) {
            break;
        }
        results[(SNAPSHOT_COLUMNS + next) * run.count + number] = eval(tables[at + 2u]);
    }
    hold(TAKEN, next);
}

fn add_reward(r: u32, more: vec2<u32>) {
    hold_pair(REWARD_SUMS + 2u * r, double_sum(held_pair(REWARD_SUMS + 2u * r), more));
}

// the marking stays as it is for a while, and then something fires, or the replication ends
fn let_pass(since: vec2<u32>, to: vec2<u32>, ends: bool) {
    if SNAPSHOTS > 0u {
        take_snapshots(to, ends);
    }
    if HAS_RATED {
        if less(run.warm_up, to) {
            let ticks = minus(to, latest(since, run.warm_up));
            let seconds = double_product(double_of_pair(ticks), vec2<u32>(TICK_LOW, TICK_HIGH));
            for (var r = 0u; r < REWARDS; r += 1u) {
                let code = tables[REWARD_ROWS + r];
                if code != NO_CODE {
                    add_reward(r, double_product(eval(code), seconds));
                }
            }
        }
    }
}

fn sum_area(counter: u32, to: vec2<u32>) {
    let upto = held_pair(UPTO + 2u * counter);
    if less(upto, to) {
        let ticks = minus(to, upto);
        let tokens = tokens_of(counter);
        // tokens * ticks, 96 bits
        let low = full_product(ticks.x, tokens);
        let high = plus(full_product(ticks.y, tokens), vec2<u32>(low.y, 0u));
        let sum = held_pair(AREAS + 4u * counter);
        let more = vec2<u32>(low.x, high.x);
        let lower = plus(sum, more);
        let carry = select(0u, 1u, less(lower, more));
        hold_pair(AREAS + 4u * counter, lower);
        let upper = held_pair(AREAS + 4u * counter + 2u);
        hold_pair(AREAS + 4u * counter + 2u, plus(plus(upper, vec2<u32>(high.y, 0u)), vec2<u32>(carry, 0u)));
        hold_pair(UPTO + 2u * counter, to);
    }
}

// t is about to fire now
fn observe_firing(t: u32) {
    let row = row_of(t);
    if QUESTION_GROUPS > 0u {
        let groups = rows[row + 4u];
        for (var at = groups.x; at < groups.y; at += 1u) {
            let item = SEEN + 4u * tables[at];
            if all(held_pair(item) == NEVER) {
                hold_pair(item, now);
            }
            hold_pair(item + 2u, now);
        }
    }
    if HAS_AREAS {
        let written = rows[row + 4u];
        for (var at = written.z; at < written.w; at += 1u) {
            sum_area(tables[at], now);
        }
    }
    if less(now, run.warm_up) {
        return;
    }
    if HAS_COUNTS {
        hold_pair(COUNTS + 2u * t, plus(held_pair(COUNTS + 2u * t), ONE));
    }
    if HAS_IMPULSES {
        let impulses = rows[row + 5u];
        for (var at = impulses.x; at < impulses.y; at += 2u) {
            add_reward(tables[at], eval(tables[at + 1u]));
        }
    }
}

// the replication has ended
fn finish(time: vec2<u32>) {
    for (var i = 0u; i < QUESTION_GROUPS; i += 1u) {
        results[(GROUP_COLUMNS + 2u * i) * run.count + number] = held_pair(SEEN + 4u * i);
        results[(GROUP_COLUMNS + 2u * i + 1u) * run.count + number] = held_pair(SEEN + 4u * i + 2u);
    }
    if SNAPSHOTS > 0u {
        results[TAKEN_COLUMN * run.count + number] = vec2<u32>(held(TAKEN), 0u);
    }
    for (var r = 0u; r < REWARDS; r += 1u) {
        results[(REWARD_COLUMNS + r) * run.count + number] = held_pair(REWARD_SUMS + 2u * r);
    }
    if HAS_AREAS {
        for (var i = 0u; i < COUNTERS; i += 1u) {
            sum_area(i, time);
            results[(AREA_COLUMNS + 2u * i) * run.count + number] = held_pair(AREAS + 4u * i);
            results[(AREA_COLUMNS + 2u * i + 1u) * run.count + number] = held_pair(AREAS + 4u * i + 2u);
        }
    }
    if HAS_COUNTS {
        for (var i = 0u; i < TRANSITIONS; i += 1u) {
            results[(COUNT_COLUMNS + i) * run.count + number] = held_pair(COUNTS + 2u * i);
        }
    }
}
