//! Joins the shared WGSL files with a kernel. In tests, naga checks all shaders without a device.

use crate::sim::gpu::layout::WORKGROUP;
use crate::sim::gpu::race_code::RaceCode;
use crate::sim::gpu::race_forms::Form;
use crate::sim::sampler::{GROWTH, LOGARITHM, NORMAL_ROWS};
#[cfg(test)]
use tailspn_shaders::tests;
use tailspn_shaders::{kernel, shared};

const PRODUCT_WORDS: &str = shared::PRODUCT_WORDS;
const PRODUCT_INT64: &str = shared::PRODUCT_INT64;
/// Files that every kernel needs: pairs, Philox, variates, and the proof that the kernel ran.
const COMMON: [&str; 5] = [shared::PAIR, shared::PHILOX, shared::EXPONENTIAL, shared::ADDRESS, kernel::PROOF];
const LAW: &str = shared::LAW;
const CURVES: &str = shared::CURVES;
const DIRECT_LAW: &str = shared::DIRECT_LAW;
const DOUBLE: &str = shared::DOUBLE;
const CODE: &str = shared::CODE;

fn join(int64: bool, parts: &[&str]) -> String {
    let product = if int64 { PRODUCT_INT64 } else { PRODUCT_WORDS };
    let mut all = vec![product];
    all.extend(COMMON);
    all.extend(parts);
    all.join("\n").replace("WORKGROUP", &WORKGROUP.to_string())
}

/// Memory of the slots of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slots {
    /// Number of slots if each invocation has its own.
    Private(u32),
    /// The slots are in a buffer.
    Memory,
}

/// Delays of every distribution. Needs the constant `HAS_CURVES`.
fn laws() -> String {
    let ratio = polynomial("log_ratio", "-", &LOGARITHM);
    let growth = polynomial("growth", "+", &GROWTH);
    let rows = format!("const NORMAL_ROWS = {NORMAL_ROWS}u;");
    [&ratio, &growth, &rows, CURVES, LAW].join("\n")
}

/// A polynomial with these coefficients, highest degree first, by Horner's rule. Twin: `log_ratio` and `growth` of the CPU.
fn polynomial(name: &str, sign: &str, coefficients: &[u32]) -> String {
    let steps = coefficients[1..].iter().map(|c| format!("    a = {c}u {sign} high_product(a, x);\n"));
    let steps: String = steps.collect();
    format!("fn {name}(x: u32) -> u32 {{\n    var a = {}u;\n{steps}    return a;\n}}\n", coefficients[0])
}

/// The schedule kernel, for one program or for several of one shape; `curves` if a distribution is curved.
pub(crate) fn schedule(int64: bool, slots: Slots, several: bool, curves: bool) -> String {
    let access = match slots {
        Slots::Private(count) => kernel::SLOTS_PRIVATE.replace("SLOT_COUNT", &count.max(1).to_string()),
        Slots::Memory => kernel::SLOTS_MEMORY.to_owned(),
    };
    let flags = format!("const SEVERAL = {several};\nconst HAS_CURVES = {curves};");
    join(int64, &[&laws(), &flags, &kernel::SCHEDULE.replace("//SLOTS", &access)])
}

/// The race kernel of a net.
pub(crate) fn race(int64: bool, form: Form, code: &RaceCode) -> String {
    let engine = match form {
        Form::Direct => [DIRECT_LAW, kernel::RACE_DIRECT].join("\n"),
        Form::Clock => kernel::RACE_CLOCK.to_owned(),
    };
    let stack = code.stack.to_string();
    let doubles = if code.has_code {
        [DOUBLE, CODE].join("\n").replace("CODE_STACK", &stack).replace("codes[", "tables[")
    } else {
        kernel::NO_CODE.to_owned()
    };
    let items = format!("const ITEMS = {}u;", code.items.count());
    let game = [shared::ENABLED, shared::FIRE, shared::CHOOSE, kernel::RACE_GAME, kernel::RACE_OBSERVE];
    join(int64, &[code.constants.text(), &items, &doubles, &laws(), &game.join("\n"), &engine])
}

/// The reduction of a column.
pub(crate) fn reduce(int64: bool) -> String {
    join(int64, &[kernel::REDUCE])
}

/// Averages over replications.
pub(crate) fn average(int64: bool) -> String {
    join(int64, &[DOUBLE, kernel::AVERAGE])
}

/// The self-test.
pub(crate) fn self_test(int64: bool) -> String {
    join(int64, &[kernel::SELF_TEST])
}

/// Every function of binary64 numbers and of the direct form, for tests.
#[cfg(test)]
pub(crate) fn double_test(int64: bool) -> String {
    join(int64, &[DOUBLE, DIRECT_LAW, tests::DOUBLE])
}

/// Delays of one distribution, for tests.
#[cfg(test)]
pub(crate) fn law_test(int64: bool) -> String {
    join(int64, &[&laws(), tests::LAW])
}

/// Marking expressions with at most `depth` numbers on the stack, for tests.
#[cfg(test)]
pub(crate) fn code_test(int64: bool, depth: u32) -> String {
    join(int64, &[DOUBLE, CODE, tests::CODE]).replace("CODE_STACK", &depth.max(1).to_string())
}
