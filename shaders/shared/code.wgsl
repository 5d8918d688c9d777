// Marking expressions: a stack machine over binary64 numbers.
// Twin: crates/engine/src/compile/code.rs (eval, holds)
// crates/engine/src/sim/gpu/code.rs writes programs in this form.
// Needs double.wgsl and of the kernel:
//   codes: an array of words with all programs, each ended by CODE_END;
//   fn tokens_of(counter: u32) -> u32: the tokens of a counter in the marking of this invocation.
// The text CODE_STACK is replaced by the depth of the deepest stack.
// Each call of eval may become a copy of all of double.wgsl: call it in one place of a kernel.

const CODE_END = 0u;
const CODE_NUMBER = 1u; // the next two words
const CODE_TOKENS = 2u; // of the counter in the bits from 8 on
const CODE_NEGATE = 3u;
const CODE_ABS = 4u;
const CODE_NOT = 5u;
const CODE_SQRT = 6u;
const CODE_FLOOR = 7u;
const CODE_CEIL = 8u;
const CODE_RINT = 9u;
const CODE_IF = 10u;
const CODE_OR = 16u;
const CODE_AND = 17u;
const CODE_EQUAL = 18u;
const CODE_NOT_EQUAL = 19u;
const CODE_LESS = 20u;
const CODE_LESS_OR_EQUAL = 21u;
const CODE_GREATER = 22u;
const CODE_GREATER_OR_EQUAL = 23u;
const CODE_ADD = 24u;
const CODE_SUBTRACT = 25u;
const CODE_MULTIPLY = 26u;
const CODE_DIVIDE = 27u;
const CODE_REMAINDER = 28u;
const CODE_MIN = 29u;
const CODE_MAX = 30u;

// what lies below the top of the stack, and in front of it one that is never read
var<private> code_stack: array<vec2<u32>, CODE_STACK>;

// operators that replace the top
fn code_unary(op: u32, a: vec2<u32>) -> vec2<u32> {
    switch op {
        case CODE_NEGATE: {
            return double_negated(a);
        }
        case CODE_ABS: {
            return double_abs(a);
        }
        case CODE_NOT: {
            return double_truth(double_is_zero(a));
        }
        case CODE_SQRT: {
            return double_sqrt(a);
        }
        default: {
            return double_integer(a, op - CODE_FLOOR + DOUBLE_FLOOR);
        }
    }
}

// operators that replace the two values on top
fn code_binary(op: u32, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    switch op {
        case CODE_OR: {
            return double_truth(!double_is_zero(a) || !double_is_zero(b));
        }
        case CODE_AND: {
            return double_truth(!double_is_zero(a) && !double_is_zero(b));
        }
        case CODE_EQUAL, CODE_NOT_EQUAL: {
            return double_truth(double_equal(a, b) == (op == CODE_EQUAL));
        }
        case CODE_LESS, CODE_GREATER: {
            let swapped = op == CODE_GREATER;
            return double_truth(double_less(select(a, b, swapped), select(b, a, swapped)));
        }
        case CODE_LESS_OR_EQUAL, CODE_GREATER_OR_EQUAL: {
            let swapped = op == CODE_GREATER_OR_EQUAL;
            return double_truth(double_less_or_equal(select(a, b, swapped), select(b, a, swapped)));
        }
        case CODE_ADD, CODE_SUBTRACT: {
            return double_sum(a, select(b, double_negated(b), op == CODE_SUBTRACT));
        }
        case CODE_MULTIPLY: {
            return double_product(a, b);
        }
        case CODE_DIVIDE: {
            return double_quotient(a, b);
        }
        case CODE_REMAINDER: {
            return double_remainder(a, b);
        }
        case CODE_MIN: {
            return double_min(a, b);
        }
        default: {
            return double_max(a, b);
        }
    }
}

// the value of the program that begins at codes[begin]
fn eval(begin: u32) -> vec2<u32> {
    var at = begin;
    var height = 0u;
    var top = DOUBLE_ZERO;
    var op = codes[at] & 0xffu;
    while op != CODE_END {
        if op <= CODE_TOKENS {
            code_stack[height] = top;
            height += 1u;
            if op == CODE_NUMBER {
                top = vec2<u32>(codes[at + 1u], codes[at + 2u]);
                at += 2u;
            } else {
                top = double_of_word(tokens_of(codes[at] >> 8u));
            }
        } else if op < CODE_IF {
            top = code_unary(op, top);
        } else if op == CODE_IF {
            height -= 2u;
            top = select(code_stack[height + 1u], top, double_is_zero(code_stack[height]));
        } else {
            height -= 1u;
            top = code_binary(op, code_stack[height], top);
        }
        at += 1u;
        op = codes[at] & 0xffu;
    }
    return top;
}

// whether the value is not 0
fn holds(begin: u32) -> bool {
    return !double_is_zero(eval(begin));
}
