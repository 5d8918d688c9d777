//! Joins the shared WGSL files with a kernel. naga checks all of them in tests, with no device.

use crate::sim::gpu::race_code::RaceCode;
use crate::sim::gpu::race_forms::Form;

macro_rules! shared {
    ($name:literal) => {
        include_str!(concat!("../../../shaders/shared/", $name, ".wgsl"))
    };
}

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("../../../shaders/", $name, ".wgsl"))
    };
}

const PRODUCT_WORDS: &str = shared!("product_words");
const PRODUCT_INT64: &str = shared!("product_int64");
/// What every kernel needs: products, pairs, Philox, variates.
const ARITHMETIC: [&str; 4] = [shared!("pair"), shared!("philox"), shared!("exponential"), shared!("address")];
const LAW: &str = shared!("law");
const DIRECT_LAW: &str = shared!("direct_law");
const DOUBLE: &str = shared!("double");
const CODE: &str = shared!("code");

/// Invocations in one workgroup.
pub(crate) const WORKGROUP: u32 = 64;

fn join(int64: bool, parts: &[&str]) -> String {
    let product = if int64 { PRODUCT_INT64 } else { PRODUCT_WORDS };
    let mut all = vec![product];
    all.extend(ARITHMETIC);
    all.extend(parts);
    all.join("\n").replace("WORKGROUP", &WORKGROUP.to_string())
}

/// Where the slots of a schedule are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slots {
    /// So many, each invocation has its own.
    Private(u32),
    /// In a buffer.
    Memory,
}

/// The schedule kernel.
pub(crate) fn schedule(int64: bool, slots: Slots) -> String {
    let access = match slots {
        Slots::Private(count) => kernel!("slots_private").replace("SLOT_COUNT", &count.max(1).to_string()),
        Slots::Memory => kernel!("slots_memory").to_owned(),
    };
    join(int64, &[LAW, &kernel!("schedule").replace("//SLOTS", &access)])
}

/// The race kernel of a net.
pub(crate) fn race(int64: bool, form: Form, code: &RaceCode) -> String {
    let engine = match form {
        Form::Direct => [DIRECT_LAW, kernel!("race/direct")].join("\n"),
        Form::Clock => kernel!("race/clock").to_owned(),
    };
    let stack = code.stack.to_string();
    let doubles = if code.has_code {
        [DOUBLE, CODE].join("\n").replace("CODE_STACK", &stack)
    } else {
        kernel!("no_code").to_owned()
    };
    let game = [shared!("enabled"), shared!("fire"), shared!("choose"), kernel!("race/game"), kernel!("race/observe")];
    join(int64, &[code.constants.text(), &doubles, LAW, &game.join("\n"), &engine])
}

/// The reduction of a column.
pub(crate) fn reduce(int64: bool) -> String {
    join(int64, &[kernel!("reduce")])
}

/// The self-test.
pub(crate) fn self_test(int64: bool) -> String {
    join(int64, &[kernel!("self_test")])
}
