// The token game on a device: lanes that play one replication after the other. Twin: src/sim/race/game.rs.
//
// A lane keeps its replication in `state`, structure of arrays: item i of lane l is at [i * lanes + l]. What changes at
// every firing is in private variables while a dispatch runs, and in state between dispatches. A dispatch takes every
// lane through a bounded number of steps of a small machine:
//
//   IDLE -> BEGIN -> SETTLE* -> LOOK* -> RACE <-> (SETTLE* -> LOOK*) ... -> IDLE with the next replication, or DONE
//
// SETTLE looks at one group of immediate transitions, LOOK at 32 timed ones, RACE fires one timed transition. A lane takes
// the next replication that nobody has from `control`, so that lanes are busy until the last ones.
// Mirror of the structs: src/sim/gpu/layout.rs. Items, rows and constants: src/sim/gpu/race_code.rs.

struct RaceRun {
    key: vec2<u32>,
    // number of the first replication, and how many there are
    first: vec2<u32>,
    count: u32,
    lanes: u32,
    // steps of this dispatch
    steps: u32,
    // whether reaching `last_tick` is the horizon that was asked for, else it is a fault
    horizon: u32,
    last_tick: vec2<u32>,
    warm_up: vec2<u32>,
    max_firings: vec2<u32>,
    padding: vec2<u32>,
}

@group(0) @binding(0) var<uniform> run: RaceRun;
@group(0) @binding(1) var<storage, read> tables: array<u32>;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
// column c, replication r (counted from the first): [c * count + r]
@group(0) @binding(3) var<storage, read_write> results: array<vec2<u32>>;
// next replication, replications that have ended, faults, endings by kind
@group(0) @binding(4) var<storage, read_write> control: array<atomic<u32>>;

const NEXT = 0u;
const ENDED = 1u;
const FAULTS = 2u;
const ENDINGS = 3u;

const ENDING_GOAL = 0u;
const ENDING_DEAD = 1u;
const ENDING_HORIZON = 2u;
const ENDING_FIRINGS = 3u;

const IDLE = 0u;
const SETTLE = 1u;
const LOOK = 2u;
const RACE = 3u;
const DONE = 4u;

const MAX_IMMEDIATE_FIRINGS = 1000000u;
const MAX_FIRINGS_AT_ONCE = vec2<u32>(16777216u, 0u);
const ONE = vec2<u32>(1u, 0u);

var<private> lane: u32;
var<private> phase: u32;
var<private> faulty: bool;
// which replication, counted from the first of the run
var<private> number: u32;
var<private> replication: vec2<u32>;
var<private> now: vec2<u32>;
var<private> firings: vec2<u32>;
var<private> firings_before: vec2<u32>;
// groups to look at
var<private> waiting: u32;
var<private> in_a_row: u32;
// words of TOUCHED that may have bits: begin .. end
var<private> touched_begin: u32;
var<private> touched_end: u32;
// of the form: events or nothing, and the total rate
var<private> event: u32;
var<private> event_half: u32;
var<private> total: vec2<u32>;
// the timed transition that has just fired, by its place among the timed ones
var<private> fired: u32;

fn held(item: u32) -> u32 {
    return state[item * run.lanes + lane];
}

fn hold(item: u32, value: u32) {
    state[item * run.lanes + lane] = value;
}

fn held_pair(item: u32) -> vec2<u32> {
    return vec2<u32>(held(item), held(item + 1u));
}

fn hold_pair(item: u32, value: vec2<u32>) {
    hold(item, value.x);
    hold(item + 1u, value.y);
}

fn tokens_of(counter: u32) -> u32 {
    return held(MARKING + counter);
}

fn set_tokens(counter: u32, tokens: u32) {
    hold(MARKING + counter, tokens);
}

// something that only the CPU can tell or name: it will play these replications again
fn fault() {
    faulty = true;
}

fn choice_word(group: u32) -> u32 {
    let sample = held(CHOICES + group);
    hold(CHOICES + group, sample + 1u);
    return word(run.key, PURPOSE_CHOICE, group, sample, replication);
}

fn is_goal() -> bool {
    if GOAL_KIND == GOAL_TERMS {
        var all = true;
        for (var i = 0u; i < GOAL_TERM_COUNT; i += 1u) {
            all = all && tokens_of(tables[GOAL_AT + 2u * i]) >= tables[GOAL_AT + 2u * i + 1u];
        }
        return all;
    }
    if GOAL_KIND == GOAL_CODE {
        let value = eval(GOAL_AT);
        if !double_is_finite(value) {
            fault();
        }
        return !double_equal(value, DOUBLE_ZERO);
    }
    return false;
}

fn end(ending: u32, time: vec2<u32>) {
    let_pass(now, time);
    finish(time);
    results[number] = select(NEVER, time, ending == ENDING_GOAL);
    results[run.count + number] = firings;
    if HAS_END_COLUMN {
        results[END_COLUMN * run.count + number] = time;
    }
    atomicAdd(&control[ENDED], 1u);
    atomicAdd(&control[ENDINGS + ending], 1u);
    phase = IDLE;
}

fn end_dead() {
    if GOAL_KIND == GOAL_DEAD {
        end(ENDING_GOAL, now);
    } else if GOAL_KIND == GOAL_HORIZON && run.horizon != 0u {
        end(ENDING_HORIZON, run.last_tick);
    } else {
        end(ENDING_DEAD, now);
    }
}

// the next firing would be after the last tick
fn end_late() {
    if run.horizon == 0u {
        fault();
    }
    end(ENDING_HORIZON, run.last_tick);
}

fn is_spent() -> bool {
    return !less(firings, run.max_firings);
}

// takes the next replication, if there is one
fn begin() {
    number = atomicAdd(&control[NEXT], 1u);
    if number >= run.count {
        phase = DONE;
        return;
    }
    replication = plus(run.first, vec2<u32>(number, 0u));
    now = vec2<u32>(0u, 0u);
    firings = now;
    firings_before = now;
    in_a_row = 0u;
    for (var i = 0u; i < COUNTERS; i += 1u) {
        hold(MARKING + i, tables[INITIAL + i]);
    }
    begin_observing();
    begin_form();
    for (var g = 0u; g < GROUPS; g += 1u) {
        hold(CHOICES + g, 0u);
        hold(PENDING + g, g);
    }
    for (var i = 0u; i < GROUP_WORDS; i += 1u) {
        hold(WAITING + i, 0xffffffffu);
    }
    waiting = GROUPS;
    // all timed transitions are to be looked at
    for (var i = 0u; i < TIMED_WORDS; i += 1u) {
        hold(TOUCHED + i, select(0xffffffffu, (1u << (TIMED & 31u)) - 1u, i + 1u == TIMED_WORDS && (TIMED & 31u) != 0u));
    }
    touched_begin = 0u;
    touched_end = TIMED_WORDS;
    fired = NO_TRANSITION;
    if is_goal() {
        end(ENDING_GOAL, now);
        return;
    }
    phase = select(LOOK, SETTLE, GROUPS > 0u);
}

// fires t; whether the goal is reached
fn fire_one(t: u32) -> bool {
    observe_firing(t);
    fire(t);
    firings = plus(firings, ONE);
    if GOAL_KIND == GOAL_TERMS || GOAL_KIND == GOAL_CODE {
        if (tables[row_of(t) + 14u] & MAY_REACH) != 0u {
            return is_goal();
        }
    }
    return false;
}

// notes what a firing of t can influence
fn spread(t: u32) {
    let row = row_of(t);
    let end = tables[row + 11u];
    for (var at = tables[row + 10u]; at < end; at += 1u) {
        let u = tables[at];
        let w = u >> 5u;
        hold(TOUCHED + w, held(TOUCHED + w) | (1u << (u & 31u)));
        touched_begin = min(touched_begin, w);
        touched_end = max(touched_end, w + 1u);
    }
    let last = tables[row + 13u];
    for (var at = tables[row + 12u]; at < last; at += 1u) {
        let g = tables[at];
        let before = held(WAITING + (g >> 5u));
        let bit = 1u << (g & 31u);
        if (before & bit) == 0u {
            hold(WAITING + (g >> 5u), before | bit);
            hold(PENDING + waiting, g);
            waiting += 1u;
        }
    }
}

// lets time pass to `to` and fires the timed transition t
fn fire_timed(t: u32, to: vec2<u32>) {
    let_pass(now, to);
    if any(to != now) {
        now = to;
        firings_before = firings;
    } else if less(MAX_FIRINGS_AT_ONCE, minus(firings, firings_before)) {
        fault();
    }
    if fire_one(t) {
        end(ENDING_GOAL, now);
        return;
    }
    let row = row_of(t);
    if tables[row + 12u] < tables[row + 13u] {
        spread(t);
        in_a_row = 0u;
        phase = SETTLE;
        return;
    }
    let last = tables[row + 11u];
    for (var at = tables[row + 10u]; at < last; at += 1u) {
        look_at(tables[at]);
    }
}

// which immediate transition of a group fires, if any
fn choose(group: u32) -> u32 {
    let row = GROUP_ROWS + 2u * group;
    let begin = tables[row];
    let end = tables[row + 1u];
    if begin == end {
        return NO_TRANSITION;
    }
    let found = find_candidates(begin, end);
    if found.count == 0u {
        return NO_TRANSITION;
    }
    return pick(group, begin, found);
}

// one group of immediate transitions
fn settle() {
    if waiting == 0u {
        phase = LOOK;
        return;
    }
    waiting -= 1u;
    let g = held(PENDING + waiting);
    hold(WAITING + (g >> 5u), held(WAITING + (g >> 5u)) & ~(1u << (g & 31u)));
    let t = choose(g);
    if t == NO_TRANSITION {
        return;
    }
    in_a_row += 1u;
    if in_a_row > MAX_IMMEDIATE_FIRINGS {
        fault();
        return;
    }
    if fire_one(t) {
        end(ENDING_GOAL, now);
        return;
    }
    spread(t);
}

// one word of timed transitions that may have been influenced
fn look() {
    if touched_begin < touched_end {
        let w = touched_begin;
        var bits = held(TOUCHED + w);
        hold(TOUCHED + w, 0u);
        touched_begin += 1u;
        for (var i = 0u; i < 32u && bits != 0u; i += 1u) {
            let u = countTrailingZeros(bits);
            bits &= bits - 1u;
            look_at(32u * w + u);
        }
    }
    if touched_begin >= touched_end {
        touched_begin = TIMED_WORDS;
        touched_end = 0u;
        fired = NO_TRANSITION;
        phase = RACE;
    }
}

fn load_lane() {
    phase = held(LANE);
    number = held(LANE + 1u);
    replication = plus(run.first, vec2<u32>(number, 0u));
    now = held_pair(LANE + 2u);
    firings = held_pair(LANE + 4u);
    firings_before = held_pair(LANE + 6u);
    waiting = held(LANE + 8u);
    in_a_row = held(LANE + 9u);
    touched_begin = held(LANE + 10u);
    touched_end = held(LANE + 11u);
    event = held(LANE + 12u);
    event_half = held(LANE + 13u);
    total = held_pair(LANE + 14u);
    fired = held(LANE + 16u);
}

fn store_lane() {
    hold(LANE, phase);
    hold(LANE + 1u, number);
    hold_pair(LANE + 2u, now);
    hold_pair(LANE + 4u, firings);
    hold_pair(LANE + 6u, firings_before);
    hold(LANE + 8u, waiting);
    hold(LANE + 9u, in_a_row);
    hold(LANE + 10u, touched_begin);
    hold(LANE + 11u, touched_end);
    hold(LANE + 12u, event);
    hold(LANE + 13u, event_half);
    hold_pair(LANE + 14u, total);
    hold(LANE + 16u, fired);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    lane = id.x;
    if lane >= run.lanes {
        return;
    }
    load_lane();
    if phase == DONE {
        return;
    }
    for (var step = 0u; step < run.steps; step += 1u) {
        if phase == RACE {
            race();
        } else if phase == SETTLE {
            settle();
        } else if phase == LOOK {
            look();
        } else if phase == IDLE {
            begin();
        } else {
            break;
        }
        if faulty {
            atomicAdd(&control[FAULTS], 1u);
            phase = DONE;
            break;
        }
    }
    store_lane();
}
