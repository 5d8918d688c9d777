// The race in clock form: every timed transition draws its own delay; the first to run out fires.
// Twin: crates/engine/src/sim/race/clock.rs.
//
// Rows of timed transitions: transition, kind, law (kind, a, b), servers, code of the rate or first of the scales, memory,
// item of the crowd, room in it, words of one draw, scales. A clock that does not run is STOPPED; a block of clocks keeps
// its first one. Of clocks that run out together the smallest number fires first.

const TIMER_PLAIN = 0u;
const TIMER_SERVED = 1u;
const TIMER_MARKING = 2u;
const TIMER_GENERAL = 3u;
const TIMER_NONE = 4u;
const TIMER_PARTS = 3u;
const STOPPED = vec2<u32>(0xffffffffu, 0xffffffffu);

fn begin_form() {
    event = 0u;
    event_half = 0u;
    total = vec2<u32>(0u, 0u);
    for (var u = 0u; u < TIMED; u += 1u) {
        hold_pair(CLOCKS + 2u * u, STOPPED);
        hold(DRAWS + u, 0u);
        let row = TIMED_ROWS + TIMER_PARTS * u;
        let kind = rows[row].y;
        if kind == TIMER_SERVED {
            hold(rows[row + 2u].x, 0u);
        } else if kind == TIMER_MARKING {
            hold_pair(rows[row + 2u].x, DOUBLE_ZERO);
        } else if kind == TIMER_GENERAL {
            // clocks that run, and clocks put aside
            hold_pair(rows[row + 2u].x, vec2<u32>(0u, 0u));
        }
    }
    for (var block = 0u; block < BLOCKS; block += 1u) {
        hold_pair(BLOCK_FIRST + 2u * block, STOPPED);
    }
}

fn set_clock(u: u32, time: vec2<u32>) {
    hold_pair(CLOCKS + 2u * u, time);
    let block = u >> BLOCK_SHIFT;
    let begin = block << BLOCK_SHIFT;
    let end = min(begin + (1u << BLOCK_SHIFT), TIMED);
    var first = STOPPED;
    for (var i = begin; i < end; i += 1u) {
        first = least(first, held_pair(CLOCKS + 2u * i));
    }
    hold_pair(BLOCK_FIRST + 2u * block, first);
}

fn runs(u: u32) -> bool {
    return any(held_pair(CLOCKS + 2u * u) != STOPPED);
}

fn next_sample(u: u32) -> u32 {
    let sample = held(DRAWS + u);
    hold(DRAWS + u, sample + 1u);
    return sample;
}

// a fresh delay of the law of a row
fn draw(u: u32, row: u32) -> vec2<u32> {
    let part = rows[row];
    let owner = part.x;
    let law = part.z;
    let a = part.w;
    let b = rows[row + 1u].x;
    let words = rows[row + 2u].z;
    let first = next_sample(u) * words;
    if HAS_CURVES {
        if law == ERLANG {
            var product = NO_FACTOR;
            for (var stage = 0u; stage < words; stage += 1u) {
                product = factor(product, word(run.key, PURPOSE_DELAY, owner, first + stage, replication));
            }
            return erlang(a, product);
        }
    }
    let one = word(run.key, PURPOSE_DELAY, owner, first, replication);
    if law == EXPONENTIAL {
        return narrow(exponential(one), a, b);
    }
    var two = 0u;
    if words > 1u {
        two = word(run.key, PURPOSE_DELAY, owner, first + 1u, replication);
    }
    return apply(law, a, b, one, two);
}

// sets the clock to a fresh exponential delay
fn restart(u: u32, owner: u32, mantissa: u32, shift: u32) {
    let e = exponential(word(run.key, PURPOSE_DELAY, owner, next_sample(u), replication));
    set_clock(u, plus(now, narrow(e, mantissa, shift)));
}

fn scaled_mean(mean: vec2<u32>, shift: i32) -> vec2<u32> {
    return double_round_half_away(double_scaled(mean, shift - 27 - TICK_EXPONENT));
}

// scale of an exponential delay with this rate: mantissa and shift, as crates/engine/src/sim/clock.rs has it
fn exponential_scale(rate: vec2<u32>) -> vec2<u32> {
    let mean = double_quotient(DOUBLE_ONE, rate);
    // the CPU handles the shortest means, whose scale is not a number, and infinite ones
    if !double_is_finite(mean) || double_less(mean, DOUBLE_SHORTEST_MEAN) {
        fault();
        return vec2<u32>(0u, 0u);
    }
    // top bit set, unless rounding takes it beyond a word or the shift is bounded
    var shift = 58 + TICK_EXPONENT - (double_exponent(mean) - 1023);
    if double_less(DOUBLE_WORD_MAX, scaled_mean(mean, shift)) {
        shift -= 1;
    }
    shift = min(shift, 63);
    return vec2<u32>(word_of_double(scaled_mean(mean, shift)), u32(shift));
}

fn look_at_served(u: u32, row: u32, busy: u32) {
    let item = rows[row + 2u].x;
    if busy == held(item) && u != fired {
        return;
    }
    hold(item, busy);
    if busy == 0u {
        set_clock(u, STOPPED);
    } else if busy > rows[row + 2u].y {
        // more servers than scales were made for
        fault();
    } else {
        let scale = rows[row + 1u].z + 2u * (busy - 1u);
        if tables[scale] == 0u && tables[scale + 1u] == NO_SCALE {
            set_clock(u, STOPPED);
        } else {
            restart(u, rows[row].x, tables[scale], tables[scale + 1u]);
        }
    }
}

fn look_at_marking(u: u32, row: u32, busy: u32) {
    let item = rows[row + 2u].x;
    let value = rate(busy, rows[row + 1u].z);
    if all(value == held_pair(item)) && u != fired {
        return;
    }
    hold_pair(item, value);
    if !double_less(DOUBLE_ZERO, value) {
        set_clock(u, STOPPED);
        return;
    }
    let scale = exponential_scale(value);
    restart(u, rows[row].x, scale.x, scale.y);
}

// a clock for each enabling that is served: items of a crowd are the clocks that run, those put aside, then both
fn look_at_general(u: u32, row: u32, busy: u32) {
    let item = rows[row + 2u].x;
    let room = rows[row + 2u].y;
    var running = held(item);
    var aside = held(item + 1u);
    let times = item + 2u;
    let rests = times + 2u * room;
    if u == fired {
        var out = running;
        for (var i = running; i > 0u; i -= 1u) {
            out = select(out, i - 1u, all(held_pair(times + 2u * (i - 1u)) == now));
        }
        if out < running {
            for (var i = out + 1u; i < running; i += 1u) {
                hold_pair(times + 2u * (i - 1u), held_pair(times + 2u * i));
            }
            running -= 1u;
        }
    }
    for (; running > busy; running -= 1u) {
        if rows[row + 1u].w != 0u {
            if aside == room {
                fault();
                return;
            }
            hold_pair(rests + 2u * aside, minus(held_pair(times + 2u * (running - 1u)), now));
            aside += 1u;
        }
    }
    if busy > room {
        fault();
        return;
    }
    for (; running < busy; running += 1u) {
        var rest: vec2<u32>;
        if aside > 0u {
            aside -= 1u;
            rest = held_pair(rests + 2u * aside);
        } else {
            rest = draw(u, row);
        }
        hold_pair(times + 2u * running, least(plus(now, rest), NEVER));
    }
    var first = STOPPED;
    for (var i = 0u; i < running; i += 1u) {
        first = least(first, held_pair(times + 2u * i));
    }
    hold(item, running);
    hold(item + 1u, aside);
    set_clock(u, first);
}

// brings the clock of the u-th timed transition in line with the marking
fn look_at(u: u32) {
    let row = TIMED_ROWS + TIMER_PARTS * u;
    let first = rows[row];
    let kind = first.y;
    if kind == TIMER_NONE {
        return;
    }
    let second = rows[row + 1u];
    let busy = served(first.x, second.y);
    if kind == TIMER_PLAIN {
        if (busy > 0u) != runs(u) {
            if busy > 0u {
                restart(u, first.x, first.w, second.x);
            } else {
                set_clock(u, STOPPED);
            }
        }
    } else if HAS_SERVED && kind == TIMER_SERVED {
        look_at_served(u, row, busy);
    } else if HAS_MARKING_RATES && kind == TIMER_MARKING {
        look_at_marking(u, row, busy);
    } else if HAS_GENERAL && kind == TIMER_GENERAL {
        look_at_general(u, row, busy);
    }
}

fn race() {
    var time = STOPPED;
    var at = 0u;
    for (var block = 0u; block < BLOCKS; block += 1u) {
        let first = held_pair(BLOCK_FIRST + 2u * block);
        at = select(at, block, less(first, time));
        time = least(time, first);
    }
    if all(time == STOPPED) {
        end_dead();
        return;
    }
    if less(run.last_tick, time) {
        end_late();
        return;
    }
    if is_spent() {
        end(ENDING_FIRINGS, now);
        return;
    }
    var u = at << BLOCK_SHIFT;
    for (; u + 1u < TIMED && any(held_pair(CLOCKS + 2u * u) != time); u += 1u) {
    }
    set_clock(u, STOPPED);
    fired = u;
    fire_timed(rows[TIMED_ROWS + TIMER_PARTS * u].x, time);
}
