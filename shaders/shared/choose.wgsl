// Which immediate transition fires: highest priority, then by weight. Twin: src/semantics/choose.rs.
// A kernel that uses this defines `tables`, `fault` and `choice_word(group)`; enabled.wgsl comes before it.
// Members of a group stand in the order of falling priority: transition, priority, weight, code of the weight.

const NO_TRANSITION = 0xffffffffu;

struct Candidates {
    count: u32,
    first: u32,
    // position after the last member that may be one
    end: u32,
    total: u32,
    // whether all weights are constant
    constant: bool,
    // sum of the weights as the net has them
    exact: vec2<u32>,
}

// the weight as the net has it; 0 never fires
fn exact_weight(at: u32) -> vec2<u32> {
    let weight = eval(tables[at + 3u]);
    if !double_is_finite(weight) || double_less(weight, DOUBLE_ZERO) {
        fault();
        return DOUBLE_ZERO;
    }
    return weight;
}

fn is_candidate(at: u32) -> bool {
    if !is_enabled(tables[at]) {
        return false;
    }
    if HAS_WEIGHT_CODES {
        if tables[at + 3u] != NO_CODE {
            return double_less(DOUBLE_ZERO, exact_weight(at));
        }
    }
    // constant weights of 0 have been left out
    return true;
}

fn find_candidates(begin: u32, end: u32) -> Candidates {
    var found = Candidates(0u, NO_TRANSITION, end, 0u, true, DOUBLE_ZERO);
    var highest = 0u;
    for (var at = begin; at < end; at += 4u) {
        if found.count > 0u && tables[at + 1u] < highest {
            found.end = at;
            break;
        }
        if is_candidate(at) {
            found.first = select(found.first, tables[at], found.count == 0u);
            highest = tables[at + 1u];
            found.count += 1u;
            found.total += tables[at + 2u];
            if HAS_WEIGHT_CODES {
                // a level of constant weights has integer ones throughout, others have none
                found.constant = found.constant && tables[at + 2u] > 0u;
                found.exact = double_sum(found.exact, exact_weight(at));
            }
        }
    }
    return found;
}

// the candidate that the group's next word selects; one candidate needs no word
fn pick(group: u32, begin: u32, found: Candidates) -> u32 {
    if found.count < 2u {
        return found.first;
    }
    var total = found.total;
    var scale = 0u;
    if HAS_WEIGHT_CODES {
        if !found.constant {
            scale = weight_scale(found.exact, found.count);
            total = 0u;
            for (var at = begin; at < found.end; at += 4u) {
                if is_candidate(at) {
                    total += integer_weight(exact_weight(at), scale);
                }
            }
        }
    }
    var rest = high_product(choice_word(group), total);
    var last = found.first;
    for (var at = begin; at < found.end; at += 4u) {
        if is_candidate(at) {
            last = tables[at];
            var weight = tables[at + 2u];
            if HAS_WEIGHT_CODES {
                if !found.constant {
                    weight = integer_weight(exact_weight(at), scale);
                }
            }
            if rest < weight {
                return last;
            }
            rest -= weight;
        }
    }
    return last;
}

// the power of two by which weights of this sum are multiplied, as two's complement
fn weight_scale(total: vec2<u32>, count: u32) -> u32 {
    let room = double_difference(DOUBLE_WORD_MAX, double_of_word(count));
    let scale = double_quotient(room, total);
    if !double_is_finite(total) || !double_is_finite(scale) {
        fault();
    }
    return double_exponent(scale);
}

fn integer_weight(weight: vec2<u32>, scale: u32) -> u32 {
    return max(word_of_double(double_round_half_away(double_scaled(weight, scale))), 1u);
}
