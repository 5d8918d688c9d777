// When a transition is enabled, how often, and at which rate.
// Twin: crates/engine/src/semantics/enabled.rs (is_enabled, dynamic_enabled, enabling_degree, served, rate, arc_weight)
//
// A kernel that uses this defines `tokens_of(counter)`, `tables`, `rows`, `fault()`, and the constants of the net that
// crates/engine/src/sim/gpu/race_code.rs writes; rows of transitions are laid out there.

// weights of the arcs of one transition that depend on the marking
var<private> arc_weights: array<u32, MOST_DYNAMIC>;

const ARC_INPUT = 0u;
const ARC_OUTPUT = 1u;
const ARC_INHIBITOR = 2u;
const ARC_TEST = 3u;

// the first part of the row of t: a part has four words, which are loaded together
fn row_of(t: u32) -> u32 {
    return ROWS + ROW_PARTS * t;
}

// whether the counters are in the ranges rows[begin .. end]: inputs, tests, inhibitors, and capacities of places with one class
fn in_ranges(begin: u32, end: u32) -> bool {
    for (var at = begin; at < end; at += 1u) {
        let range = rows[at];
        if tokens_of(range.x) - range.y > range.z {
            return false;
        }
    }
    return true;
}

// what else decides whether a transition is enabled: capacities of places with several classes, and weights by the marking
fn enabled_in_ranges(row: u32) -> bool {
    if HAS_ROOMS {
        let lists = rows[row];
        for (var at = lists.z; at < lists.w; at += 3u) {
            let sum = plus(tokens_in(tables[at]), vec2<u32>(tables[at + 1u], 0u));
            if less(vec2<u32>(tables[at + 2u], 0u), sum) {
                return false;
            }
        }
    }
    if HAS_DYNAMIC {
        let lists = rows[row + 1u];
        if lists.x < lists.y {
            return dynamic_enabled(row);
        }
    }
    return true;
}

// tokens of all classes in a place, whose first counter is given
fn tokens_in(counter: u32) -> vec2<u32> {
    var sum = vec2<u32>(0u, 0u);
    for (var i = 0u; i < CLASSES; i += 1u) {
        sum = plus(sum, vec2<u32>(tokens_of(counter + i), 0u));
    }
    return sum;
}

// the value of an arc weight: rounded to the nearest integer
fn arc_weight(code: u32) -> u32 {
    let whole = double_round_half_away(eval(code));
    // 0 (either sign) to 2^32 - 2
    let fine = double_is_finite(whole) && !double_less(whole, DOUBLE_ZERO) && double_less(whole, DOUBLE_WORD_MAX);
    if !fine {
        fault();
        return 0u;
    }
    return word_of_double(whole);
}

fn weigh_arcs(row: u32) {
    let lists = rows[row + 1u];
    let begin = lists.x;
    let end = lists.y;
    for (var at = begin; at < end; at += 4u) {
        arc_weights[(at - begin) / 4u] = arc_weight(tables[at + 2u]);
    }
}

fn dynamic_enabled(row: u32) -> bool {
    weigh_arcs(row);
    let lists = rows[row + 1u];
    let begin = lists.x;
    let end = lists.y;
    for (var at = begin; at < end; at += 4u) {
        let kind = tables[at];
        let counter = tables[at + 1u];
        let weight = arc_weights[(at - begin) / 4u];
        let held = tokens_of(counter);
        if (kind == ARC_TEST && held < weight) || (kind == ARC_INHIBITOR && held >= weight) {
            return false;
        }
        if kind == ARC_INPUT || kind == ARC_OUTPUT {
            // the same counter may be taken from by several arcs, and a place may get and lose by several
            var taken = vec2<u32>(0u, 0u);
            var lost = vec2<u32>(0u, 0u);
            var got = vec2<u32>(0u, 0u);
            let place = counter / CLASSES;
            for (var other = begin; other < end; other += 4u) {
                let more = vec2<u32>(arc_weights[(other - begin) / 4u], 0u);
                let same_place = tables[other + 1u] / CLASSES == place;
                if tables[other] == ARC_INPUT {
                    taken = select(taken, plus(taken, more), tables[other + 1u] == counter);
                    lost = select(lost, plus(lost, more), same_place);
                } else if tables[other] == ARC_OUTPUT {
                    got = select(got, plus(got, more), same_place);
                }
            }
            if kind == ARC_INPUT && less(vec2<u32>(held, 0u), taken) {
                return false;
            }
            let capacity = tables[at + 3u];
            let after = plus(tokens_in(place * CLASSES), got);
            if capacity != UNBOUNDED && less(lost, got) && less(plus(vec2<u32>(capacity, 0u), lost), after) {
                return false;
            }
        }
    }
    return true;
}

fn is_enabled(t: u32) -> bool {
    let row = row_of(t);
    let lists = rows[row];
    return in_ranges(lists.x, lists.y) && enabled_in_ranges(row);
}

// how often t could fire at once, where it is enabled
fn enabling_degree(t: u32) -> u32 {
    let row = row_of(t);
    var degree = 0xffffffffu;
    let lists = rows[row + 1u];
    for (var at = lists.z; at < lists.w; at += 2u) {
        degree = min(degree, tokens_of(tables[at]) / tables[at + 1u]);
    }
    if HAS_DYNAMIC {
        // the weights are those of the enabling test
        let begin = lists.x;
        let last = lists.y;
        for (var at = begin; at < last; at += 4u) {
            if tables[at] == ARC_INPUT {
                // parallel arcs add up; the tokens of all of them are there
                var needs = 0u;
                for (var other = begin; other < last; other += 4u) {
                    let parallel = tables[other] == ARC_INPUT && tables[other + 1u] == tables[at + 1u];
                    needs += select(0u, arc_weights[(other - begin) / 4u], parallel);
                }
                if needs > 0u {
                    degree = min(degree, tokens_of(tables[at + 1u]) / needs);
                }
            }
        }
    }
    return select(degree, 1u, degree == 0xffffffffu);
}

// how many enablings are served at once; without bound, `servers` is the largest word
fn served(t: u32, servers: u32) -> u32 {
    let lists = rows[row_of(t)];
    return served_in(t, servers, lists.x, lists.y);
}

// the same, given the ranges of the counters
fn served_in(t: u32, servers: u32, begin: u32, end: u32) -> u32 {
    if !(in_ranges(begin, end) && enabled_in_ranges(row_of(t))) {
        return 0u;
    }
    if servers == 1u {
        return 1u;
    }
    return min(enabling_degree(t), servers);
}

// the total rate [1/s] of so many servers, where the rate depends on the marking
fn rate(busy: u32, code: u32) -> vec2<u32> {
    if busy == 0u {
        return DOUBLE_ZERO;
    }
    let value = eval(code);
    if !double_is_finite(value) || double_less(value, DOUBLE_ZERO) {
        fault();
        return DOUBLE_ZERO;
    }
    return double_product(value, double_of_word(busy));
}
