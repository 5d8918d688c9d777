//! The two forms of the race on a device: rows of timed transitions for `shaders/race/direct.wgsl` and `clock.wgsl`.

use crate::compile::{Firing, Program, Value};
use crate::net::{Memory, Servers};
use crate::sim::clock::Clock;
use crate::sim::gpu::law::{DeviceLaw, Quantiles};
use crate::sim::gpu::pair::pair;
use crate::sim::gpu::race_code::{Loops, NONE, PART, RaceCode};
use crate::sim::race::{DIRECT_FIRINGS, DirectLaw, clock_firings};
use crate::sim::sampler::{Sampler, exponential_scale};

/// Maximum number of parallel clocks of one transition that is not exponential, on a device.
const MOST_CLOCKS: u32 = 64;
/// Minimum number of servers for which scales are computed.
const LEAST_SCALES: u64 = 64;
/// Maximum number of servers for which scales are computed.
const MOST_SCALES: u64 = 4096;

/// Number of timed transitions that one step examines (`LOOKS` in the shader).
const LOOKS: u64 = PART as u64;

/// Form of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One draw from the total rate; exponential nets.
    Direct,
    /// One delay per transition; any distribution.
    Clock,
}

/// Divides the timed transitions into blocks, each of about the square root of their number.
fn blocks(code: &mut RaceCode, timed: usize) -> (u32, u64) {
    let shift = (usize::BITS - timed.leading_zeros()) / 2;
    let blocks = (timed.div_ceil(1 << shift)).max(1) as u32;
    code.constants.word("BLOCK_SHIFT", shift);
    code.constants.word("BLOCKS", blocks);
    (blocks, u64::from(blocks) + (1 << shift))
}

fn servers_word(servers: Servers) -> u32 {
    match servers {
        Servers::Single => 1,
        Servers::Limited(most) => most,
        Servers::Infinite => u32::MAX,
    }
}

/// Limits and costs of a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormFacts {
    /// Loop iterations of the costliest step.
    pub(crate) loops: u64,
    /// Maximum number of timed firings of one replication for which there are enough random words.
    pub(crate) firings: u64,
}

/// Appends the rows of a form.
pub(crate) fn append(code: &mut RaceCode, program: &Program, clock: Clock, form: Form) -> FormFacts {
    match form {
        Form::Direct => direct(code, program, clock),
        Form::Clock => clocks(code, program, clock),
    }
}

fn rate_code(code: &mut RaceCode, program: &Program, t: u32, rate: &Value) -> u32 {
    match rate {
        Value::Constant(_) => NONE,
        Value::Code(rate) => code.code(rate, &format!("the rate of `{}`", &program.transition_names[t as usize])),
    }
}

fn direct(code: &mut RaceCode, program: &Program, clock: Clock) -> FormFacts {
    let law = DirectLaw::choose(program, clock);
    let timed = program.timed.len();
    let (blocks, scan) = blocks(code, timed);
    let first_item = code.items.count();
    code.items.named("ENABLED", timed.div_ceil(u32::BITS as usize) as u32, &mut code.constants);
    code.items.named("BLOCK_SUMS", 2 * blocks, &mut code.constants);
    let mut rows = Vec::with_capacity(8 * timed);
    let (mut others, mut marking) = (false, false);
    for &t in &program.timed {
        let Firing::Exponential { rate, servers } = &program.firing[t as usize] else { continue };
        let at = rate_code(code, program, t, rate);
        let [begin, end] = code.ranges[t as usize];
        let kind = match (rate.as_constant(), servers) {
            (None, _) => 2,
            (Some(_), Servers::Single | Servers::Limited(1)) => 0,
            (Some(_), _) => 1,
        };
        others |= kind > 0;
        marking |= kind == 2;
        let item = if kind == 0 { NONE } else { code.items.take(2) };
        let [low, high] = rate.as_constant().map_or([at, 0], |rate| pair(law.units(rate)));
        rows.extend([low, high, begin, end, t, kind, servers_word(*servers), item]);
    }
    let form_items = code.items.count() - first_item;
    code.constants.word("FORM_ITEMS", form_items);
    let at = code.rows(rows);
    code.constants.word("TIMED_ROWS", at);
    code.constants.signed("RATE_EXPONENT", law.exponent);
    code.constants.signed("DIRECT_BASE", law.base);
    code.constants.flag("HAS_OTHER_SHARES", others);
    code.constants.flag("HAS_MARKING_RATES", marking);
    code.constants.flag("HAS_CURVES", false);
    let loops = step_loops(code, scan, code.loops.enabled + 1 + code.loops.code, u64::from(form_items));
    FormFacts { loops, firings: DIRECT_FIRINGS }
}

fn clocks(code: &mut RaceCode, program: &Program, clock: Clock) -> FormFacts {
    let timed = program.timed.len();
    let (blocks, scan) = blocks(code, timed);
    code.items.named("CLOCKS", 2 * timed as u32, &mut code.constants);
    code.items.named("DRAWS", timed as u32, &mut code.constants);
    code.items.named("BLOCK_FIRST", 2 * blocks, &mut code.constants);
    let mut rows = Vec::with_capacity(12 * timed);
    let mut kinds = [false; 5];
    let (mut has_curves, mut known, mut draws, mut words) = (false, Quantiles::default(), 0, 1);
    for &t in &program.timed {
        let timer = timer(code, &mut known, program, t, clock);
        kinds[timer.kind as usize] = true;
        has_curves |= timer.law.is_curved();
        words = words.max(timer.words);
        draws = draws.max(u64::from(timer.law.loops) + u64::from(timer.room) * 4);
        rows.extend(timer.row(t));
    }
    let at = code.rows(rows);
    code.constants.word("TIMED_ROWS", at);
    code.constants.signed("TICK_EXPONENT", clock.engine_exponent());
    code.constants.word("NO_SCALE", NONE);
    code.constants.flag("HAS_SERVED", kinds[Timer::SERVED as usize]);
    code.constants.flag("HAS_MARKING_RATES", kinds[Timer::MARKING as usize]);
    code.constants.flag("HAS_GENERAL", kinds[Timer::GENERAL as usize]);
    code.constants.flag("HAS_CURVES", has_curves);
    let look = code.loops.enabled + 1 + code.loops.code + draws + scan;
    FormFacts { loops: step_loops(code, 2 * scan, look, 2 * timed as u64), firings: clock_firings(words) }
}

/// Loop iterations of the most expensive step, which settles a group, examines some transitions, and fires one: `scan` to find
/// the next transition, `look` to examine one, `begin` to reset everything.
fn step_loops(code: &RaceCode, scan: u64, look: u64, begin: u64) -> u64 {
    let Loops { fire, spread, choose, pass, whole, .. } = code.loops;
    1 + (choose + LOOKS * (1 + look) + scan + pass + fire + spread).max(begin + whole)
}

/// Timekeeping of a timed transition on a device.
struct Timer {
    kind: u32,
    law: DeviceLaw,
    servers: u32,
    /// Position of the rate's code, or of the scales.
    at: u32,
    age: bool,
    item: u32,
    /// Number of clocks, or of scales.
    room: u32,
    words: u32,
}

impl Timer {
    const PLAIN: u32 = 0;
    const SERVED: u32 = 1;
    const MARKING: u32 = 2;
    const GENERAL: u32 = 3;
    const NONE: u32 = 4;

    fn row(&self, t: u32) -> [u32; 12] {
        let Self { kind, law, servers, at, item, room, words, .. } = *self;
        [t, kind, law.kind, law.a, law.b, servers, at, u32::from(self.age), item, room, words, 0]
    }
}

fn timer(code: &mut RaceCode, known: &mut Quantiles, program: &Program, t: u32, clock: Clock) -> Timer {
    let mut timer =
        Timer { kind: Timer::NONE, law: DeviceLaw::NONE, servers: 1, at: NONE, age: false, item: 0, room: 0, words: 1 };
    match &program.firing[t as usize] {
        Firing::Immediate { .. } => {}
        Firing::Exponential { rate, servers } => {
            timer.servers = servers_word(*servers);
            match (rate.as_constant(), timer.servers) {
                (None, _) => {
                    timer.kind = Timer::MARKING;
                    timer.at = rate_code(code, program, t, rate);
                    timer.item = code.items.take(2);
                }
                (Some(rate), 1) => {
                    if let Some(scale) = exponential_scale(rate, clock) {
                        timer.kind = Timer::PLAIN;
                        let law = DeviceLaw::of(&Sampler::scaled(scale), &mut code.tables, known);
                        timer.law = law.unwrap_or(DeviceLaw::NONE);
                    }
                }
                (Some(rate), servers) => {
                    timer.kind = Timer::SERVED;
                    timer.item = code.items.take(1);
                    let most = u64::from(servers).min(program.initial_tokens().max(LEAST_SCALES)).min(MOST_SCALES);
                    timer.room = most as u32;
                    let scales = (1..=timer.room).flat_map(|n| {
                        exponential_scale(rate * f64::from(n), clock)
                            .map_or([0, NONE], |scale| [scale.mantissa, scale.shift.cast_unsigned()])
                    });
                    timer.at = code.list(scales).0;
                }
            }
        }
        Firing::General { law, servers, memory } => {
            timer.kind = Timer::GENERAL;
            timer.servers = servers_word(*servers);
            timer.age = *memory == Memory::Age;
            let sampler = Sampler::general(law, clock);
            timer.words = sampler.words();
            match DeviceLaw::of(&sampler, &mut code.tables, known) {
                Ok(law) => timer.law = law,
                Err(why) => code.obstacles.push(why.of(&program.transition_names[t as usize])),
            }
            timer.room = timer.servers.min(MOST_CLOCKS);
            timer.item = code.items.take(2 + 4 * timer.room);
        }
    }
    timer
}
