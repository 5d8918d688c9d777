// The token game on a device: lanes that play one replication after the other. Twin: crates/engine/src/sim/race/game.rs.
//
// A lane keeps its replication in `state`: the lanes of a workgroup have a tile of it, in which item i of lane l is at
// [i * WORKGROUP + l]. The items of LANE change at every firing; they are in private variables while a dispatch runs. A dispatch
// takes every lane through a bounded number of steps of a small machine:
//
//   IDLE -> SETTLE* -> LOOK* -> RACE -> LOOK* or SETTLE* ... -> END -> IDLE with the next replication, or DONE
//
// SETTLE looks at one group of immediate transitions, LOOK at some timed ones, RACE chooses one to fire. One step goes
// through all three where it can, so that lanes in different phases wait little for each other. A lane takes the
// next replication that nobody has from `control`, so that lanes are busy until the last ones. Each costly thing (an
// enabling test, a firing, an expression) stands in as few places as possible, because drivers copy what they call.
// Mirror of the structs: crates/engine/src/sim/gpu/layout.rs. Items, rows and constants: crates/engine/src/sim/gpu/race_code.rs.

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
// the same words in parts of four: rows of transitions
@group(0) @binding(5) var<storage, read> rows: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
// column c, replication r (counted from the first): [c * count + r]
@group(0) @binding(3) var<storage, read_write> results: array<vec2<u32>>;
// next replication, replications that have ended, faults, endings by kind, lanes that played in any dispatch
@group(0) @binding(4) var<storage, read_write> control: array<atomic<u32>>;

const NEXT = 0u;
const ENDED = 1u;
const FAULTS = 2u;
const ENDINGS = 3u;
const PLAYED = 7u;

const ENDING_GOAL = 0u;
const ENDING_DEAD = 1u;
const ENDING_HORIZON = 2u;
const ENDING_FIRINGS = 3u;

const IDLE = 0u;
const SETTLE = 1u;
const LOOK = 2u;
const RACE = 3u;
const END = 4u;
const DONE = 5u;
// timed transitions that one LOOK looks at: a part of a list
const LOOKS = 4u;

const MAX_IMMEDIATE_FIRINGS = 1000000u;
const MAX_FIRINGS_AT_ONCE = vec2<u32>(16777216u, 0u);
const ONE = vec2<u32>(1u, 0u);
// 2^32 - 1 and 2^-900, as binary64 numbers
const DOUBLE_WORD_MAX = vec2<u32>(0xffe00000u, 0x41efffffu);
const DOUBLE_SHORTEST_MEAN = vec2<u32>(0u, 0x07b00000u);

var<private> lane: u32;
// its place in its workgroup, and where the tile of the workgroup begins
var<private> place: u32;
var<private> tile_at: u32;
var<private> phase: u32;
var<private> faulty: bool;
// which replication, counted from the first of the run
var<private> number: u32;
var<private> replication: vec2<u32>;
var<private> now: vec2<u32>;
var<private> firings: vec2<u32>;
var<private> firings_before: vec2<u32>;
// how it ends, once it does
var<private> ending: u32;
// up to when time passes in this step, and what fires then
var<private> until: vec2<u32>;
var<private> firing: u32;
var<private> checks_goal: bool;
// groups to look at
var<private> waiting: u32;
var<private> in_a_row: u32;
// words of TOUCHED that may have bits: begin .. end
var<private> touched_begin: u32;
var<private> touched_end: u32;
// timed transitions to look at in a list: rows[look_begin .. look_end]
var<private> look_begin: u32;
var<private> look_end: u32;
// of the form: events or nothing, and the total rate
var<private> event: u32;
var<private> event_half: u32;
var<private> total: vec2<u32>;
// the timed transition that has just fired, by its place among the timed ones
var<private> fired: u32;

fn held(item: u32) -> u32 {
    return state[tile_at + item * WORKGROUP + place];
}

fn hold(item: u32, value: u32) {
    state[tile_at + item * WORKGROUP + place] = value;
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
        return !double_is_zero(value);
    }
    return false;
}

// the replication ends so, at `time`
fn end(how: u32, time: vec2<u32>) {
    ending = how;
    until = time;
    phase = END;
}

// all that is to be noted about a replication that has ended; time has passed to its end
fn record() {
    finish(until);
    results[number] = select(NEVER, until, ending == ENDING_GOAL);
    results[run.count + number] = firings;
    if HAS_END_COLUMN {
        results[END_COLUMN * run.count + number] = until;
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
    look_begin = 0u;
    look_end = 0u;
    fired = NO_TRANSITION;
    checks_goal = true;
    phase = select(LOOK, SETTLE, GROUPS > 0u);
}

// notes what a firing of t can influence
fn spread(t: u32) {
    let row = row_of(t);
    let affected = rows[row + 2u];
    for (var at = affected.z; at < affected.w; at += 1u) {
        var some = rows[at];
        for (var i = 0u; i < LOOKS && some.x != NO_TRANSITION; i += 1u) {
            let w = some.x >> 5u;
            hold(TOUCHED + w, held(TOUCHED + w) | (1u << (some.x & 31u)));
            touched_begin = min(touched_begin, w);
            touched_end = max(touched_end, w + 1u);
            some = vec4<u32>(some.yzw, NO_TRANSITION);
        }
    }
    let groups = rows[row + 3u];
    for (var at = groups.x; at < groups.y; at += 1u) {
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
    if any(to != now) {
        firings_before = firings;
    } else if less(MAX_FIRINGS_AT_ONCE, minus(firings, firings_before)) {
        fault();
    }
    until = to;
    firing = t;
}

// what a firing of t leads to
fn go_on(t: u32, timed: bool) {
    let row = row_of(t);
    let groups = rows[row + 3u];
    if timed && groups.x == groups.y {
        let affected = rows[row + 2u];
        look_begin = affected.z;
        look_end = affected.w;
        phase = LOOK;
        return;
    }
    if timed {
        in_a_row = 0u;
    }
    spread(t);
    phase = SETTLE;
}

// one group of immediate transitions: which of them fires, if any
fn settle() {
    if waiting == 0u {
        phase = LOOK;
        return;
    }
    waiting -= 1u;
    let g = held(PENDING + waiting);
    hold(WAITING + (g >> 5u), held(WAITING + (g >> 5u)) & ~(1u << (g & 31u)));
    let row = GROUP_ROWS + 2u * g;
    let t = pick(g, tables[row], tables[row + 1u]);
    if t == NO_TRANSITION {
        return;
    }
    in_a_row += 1u;
    if in_a_row > MAX_IMMEDIATE_FIRINGS {
        fault();
    }
    firing = t;
}

// the first transition of these marks, which are what is left of the word at `touched_begin`
fn next_touched(bits: u32) -> u32 {
    return select(NO_TRANSITION, 32u * touched_begin + countTrailingZeros(bits), bits != 0u);
}

// timed transitions that may have been influenced: some of a list, or of one word of marks
fn look() {
    var some = vec4<u32>(NO_TRANSITION);
    if look_begin < look_end {
        some = rows[look_begin];
        look_begin += 1u;
    } else if touched_begin < touched_end {
        var bits = held(TOUCHED + touched_begin);
        some.x = next_touched(bits);
        bits &= bits - 1u;
        some.y = next_touched(bits);
        bits &= bits - 1u;
        some.z = next_touched(bits);
        bits &= bits - 1u;
        some.w = next_touched(bits);
        bits &= bits - 1u;
        hold(TOUCHED + touched_begin, bits);
        touched_begin += u32(bits == 0u);
    }
    for (var i = 0u; i < LOOKS && some.x != NO_TRANSITION; i += 1u) {
        look_at(some.x);
        some = vec4<u32>(some.yzw, NO_TRANSITION);
    }
    if look_begin >= look_end && touched_begin >= touched_end {
        touched_begin = TIMED_WORDS;
        touched_end = 0u;
        fired = NO_TRANSITION;
        phase = RACE;
    }
}

// false where the lane is done
fn load_lane() -> bool {
    phase = held(LANE);
    if phase == DONE {
        return false;
    }
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
    look_begin = held(LANE + 17u);
    look_end = held(LANE + 18u);
    ending = held(LANE + 19u);
    until = held_pair(LANE + 20u);
    return true;
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
    hold(LANE + 17u, look_begin);
    hold(LANE + 18u, look_end);
    hold(LANE + 19u, ending);
    hold_pair(LANE + 20u, until);
}

// the steps of the dispatch, for one lane
fn play() {
    if !load_lane() {
        return;
    }
    atomicAdd(&control[PLAYED], 1u);
    for (var step = 0u; step < run.steps; step += 1u) {
        firing = NO_TRANSITION;
        checks_goal = false;
        let ends = phase == END;
        if phase == IDLE {
            // the goal is tested in the initial marking, before anything fires
            begin();
        } else if phase == SETTLE {
            settle();
        }
        if phase == LOOK && !checks_goal {
            look();
        }
        let races = phase == RACE;
        if races {
            race();
        }
        if phase == DONE {
            break;
        }
        let fires = firing != NO_TRANSITION;
        if ends || (races && fires) {
            let_pass(now, until, ends);
            now = until;
        }
        if ends {
            record();
        }
        if fires {
            observe_firing(firing);
            fire(firing);
            firings = plus(firings, ONE);
            checks_goal = (rows[row_of(firing) + 3u].z & MAY_REACH) != 0u;
            go_on(firing, races);
        }
        if checks_goal {
            if is_goal() {
                end(ENDING_GOAL, now);
            }
        }
        if faulty {
            atomicAdd(&control[FAULTS], 1u);
            phase = DONE;
            break;
        }
    }
    store_lane();
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = id.x;
    place = index;
    tile_at = (lane / WORKGROUP) * (ITEMS * WORKGROUP);
    if lane < run.lanes {
        play();
    }
    finished(index);
}
