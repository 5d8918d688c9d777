// Which immediate transition fires: highest priority, then by weight.
// Twin: crates/engine/src/semantics/choose.rs (pick)
// A kernel that uses this defines `tables`, `fault` and `choice_word(group)`; enabled.wgsl comes before it.
// Members of a group stand in the order of falling priority: transition, priority, weight, code of the weight.

const NO_TRANSITION = 0xffffffffu;

const FIND = 0u; // which members may fire, and the sum of their weights
const SUM = 1u; // the sum of integer weights made from weights that depend on the marking
const PICK = 2u; // the one that the word selects

// the weight as the net has it
fn exact_weight(at: u32) -> vec2<u32> {
    let weight = eval(tables[at + 3u]);
    if !double_is_finite(weight) || double_less(weight, DOUBLE_ZERO) {
        fault();
        return DOUBLE_ZERO;
    }
    return weight;
}

// The member of tables[begin .. end] that fires, if any. The same walk is made up to three times, so that the enabling
// test and the weights stand in one place of the kernel: drivers make a copy of them for every call.
fn pick(group: u32, begin: u32, end: u32) -> u32 {
    var stop = end;
    var highest = 0u;
    var count = 0u;
    var total = 0u;
    // whether all weights are constant, else the sum of the weights as the net has them and their scale
    var constant = true;
    var exact = DOUBLE_ZERO;
    var scale = 0;
    var rest = 0u;
    var chosen = NO_TRANSITION;
    for (var walk = FIND; walk <= PICK; walk += 1u) {
        for (var at = begin; at < stop; at += 4u) {
            let t = tables[at];
            if walk == FIND && count > 0u && tables[at + 1u] < highest {
                stop = at;
            } else if is_enabled(t) {
                var weight = tables[at + 2u];
                var may_fire = true;
                if HAS_WEIGHT_CODES {
                    if tables[at + 3u] != NO_CODE {
                        let value = exact_weight(at);
                        may_fire = double_less(DOUBLE_ZERO, value);
                        if walk == FIND {
                            exact = select(exact, double_sum(exact, value), may_fire);
                        } else if may_fire {
                            weight = integer_weight(value, scale);
                        }
                    }
                }
                if may_fire && walk == FIND {
                    highest = tables[at + 1u];
                    count += 1u;
                    chosen = t;
                    total += weight;
                    constant = constant && weight > 0u;
                } else if may_fire && walk == SUM {
                    total += weight;
                } else if may_fire {
                    chosen = t;
                    if rest < weight {
                        return chosen;
                    }
                    rest -= weight;
                }
            }
        }
        if walk == FIND {
            // one candidate needs no word
            if count < 2u {
                return chosen;
            }
            if constant {
                walk = SUM;
            } else {
                scale = weight_scale(exact, count);
                total = 0u;
            }
        }
        if walk == SUM {
            rest = high_product(choice_word(group), total);
        }
    }
    return chosen;
}

// the power of two by which weights of this sum are multiplied
fn weight_scale(total: vec2<u32>, count: u32) -> i32 {
    let room = double_difference(DOUBLE_WORD_MAX, double_of_word(count));
    let scale = double_quotient(room, total);
    if !double_is_finite(total) || !double_is_finite(scale) {
        fault();
    }
    return double_exponent(scale) - 1023;
}

fn integer_weight(weight: vec2<u32>, scale: i32) -> u32 {
    return max(word_of_double(double_round_half_away(double_scaled(weight, scale))), 1u);
}
