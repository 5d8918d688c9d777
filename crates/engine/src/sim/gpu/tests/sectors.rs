//! A model of the memory of a GPU that needs no GPU. The race kernel runs on the software adapter and records each access.
//! The test counts the cost of the accesses of 32 lanes together.
//!
//! Lanes of a warp execute a load together if each executes the same load in the same step for the n-th time. This assumes
//! that the lanes of a warp come together again after each branch. Such a request costs one cycle for each line of 128 bytes
//! that it touches. In the state of the lanes, an item of 32 lanes is one line.

use std::collections::{BTreeMap, BTreeSet};

use bytemuck::Zeroable;

use crate::compile::Program;
use crate::sim::conformance::two_loops;
use crate::sim::gpu::execute::Dispatch;
use crate::sim::gpu::layout::{RaceRun, WORKGROUP};
use crate::sim::gpu::pair::pair;
use crate::sim::gpu::race_code::RaceCode;
use crate::sim::gpu::race_forms::append;
use crate::sim::gpu::tests::devices;
use crate::sim::gpu::{Form, Gpu, shader};
use crate::sim::{Clock, Goal, Question};

/// Lanes that execute together.
const WARP: usize = 32;
/// Steps of a dispatch, and the number of dispatches before the recorded one.
const STEPS: u32 = 100;
const BEFORE: usize = 6;
/// Number of accesses that a lane can record.
const ROOM: u32 = 1 << 16;
/// Words of a line of the main memory.
const LINE: u32 = 32;
/// The record of a firing.
const FIRING: u32 = 1;

/// The source of a kernel that records each access to the tables and to the state of a lane.
struct Recorded {
    source: String,
    /// Per number of an access in the source: true if it accesses the tables.
    in_tables: Vec<bool>,
}

impl Recorded {
    fn new(source: &str) -> Self {
        // numbers 0 and FIRING are not accesses
        let mut this = Self { source: source.to_owned(), in_tables: vec![false; 2] };
        for (start, end, in_tables) in
            [("tables[", ']', true), ("rows[", ']', true), ("held(", ')', false), ("hold(", ',', false)]
        {
            this.source = this.wrapped(&this.source.clone(), start, end, in_tables);
        }
        let fired = "firings = plus(firings, ONE);";
        let step = "firing = NO_TRANSITION;\n        checks_goal = false;";
        assert!(this.source.matches(fired).count() == 1 && this.source.matches(step).count() == 1);
        this.source = this.source.replace(fired, &format!("{fired} let mark = seen({FIRING}u, 0u);"));
        this.source = this.source.replace(step, &format!("{step} step_number += 1u;"));
        this.source += &format!(
            "@group(0) @binding(6) var<storage, read_write> recording: array<vec2<u32>>;
            var<private> recorded: u32;
            var<private> step_number: u32;
            fn seen(site: u32, at: u32) -> u32 {{
                if recorded < {ROOM}u {{
                    recording[{ROOM}u * lane + recorded] = vec2<u32>(step_number << 16u | site, at);
                    recorded += 1u;
                }}
                return at;
            }}
            fn seen_row(site: u32, at: u32) -> u32 {{ return seen(site, 4u * at) / 4u; }}\n"
        );
        this
    }

    /// Wraps the expression after each `start` up to `end`.
    fn wrapped(&mut self, source: &str, start: &str, end: char, in_tables: bool) -> String {
        let (mut rest, mut done) = (source, String::new());
        while let Some(at) = rest.find(start) {
            let (before, after) = rest.split_at(at + start.len());
            let head = &before[..at];
            let own = head.ends_with(|c: char| c.is_alphanumeric() || c == '_') || head.ends_with("fn ");
            done += before;
            rest = after;
            if own {
                continue;
            }
            let mut depth = 0;
            let close = rest.find(|c: char| {
                let ends = depth == 0 && c == end;
                depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
                ends
            });
            let (inner, after) = rest.split_at(close.expect("an access ends"));
            let number = self.in_tables.len();
            self.in_tables.push(in_tables);
            // the expression may contain further accesses
            let inner = self.wrapped(inner, start, end, in_tables);
            let function = if start == "rows[" { "seen_row" } else { "seen" };
            done += &format!("{function}({number}u, {inner})");
            rest = after;
        }
        done + rest
    }
}

/// Costs of a kernel.
#[derive(Debug, Default)]
struct Costs {
    /// Number of firings.
    firings: f64,
    /// Number of steps of all warps.
    steps: f64,
    /// Number of loads of lanes, number of requests of warps, and number of 128-byte lines of these requests.
    loads: f64,
    requests: f64,
    lines: f64,
    /// Number of lines of all requests to the state of the lanes.
    state: f64,
}

impl Costs {
    /// Adds the accesses of the lanes of one warp.
    fn add(&mut self, lanes: &[&[[u32; 2]]], in_tables: &[bool]) {
        let mut together: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let mut steps = BTreeSet::new();
        for lane in lanes {
            let mut times: BTreeMap<u32, u32> = BTreeMap::new();
            for &[key, at] in lane.iter().take_while(|[key, _]| *key != 0) {
                // step 0 loads the lanes
                steps.extend(Some(key >> 16).filter(|step| *step > 0));
                if key & 0xffff == FIRING {
                    self.firings += 1.0;
                    continue;
                }
                let time = times.entry(key).or_default();
                together.entry((key, *time)).or_default().push(at);
                *time += 1;
            }
        }
        self.steps += steps.len() as f64;
        for ((key, _), at) in together {
            if in_tables[(key & 0xffff) as usize] {
                self.loads += at.len() as f64;
                self.requests += 1.0;
                let lines: BTreeSet<u32> = at.iter().map(|at| at / LINE).collect();
                self.lines += lines.len() as f64;
            } else {
                self.state += at.iter().collect::<BTreeSet<_>>().len() as f64;
            }
        }
    }

    /// A row of the table: firings of a warp per step, active lanes \[%\], and per firing: loads of the tables, lines of these
    /// loads, lines of the state.
    fn numbers(&self) -> [f64; 5] {
        [
            self.firings / self.steps,
            self.loads / self.requests / WARP as f64 * 100.0,
            self.loads / self.firings,
            self.lines / self.firings,
            self.state / self.firings,
        ]
    }
}

fn costs(gpu: &Gpu, program: &Program, form: Form) -> Costs {
    let question = Question { goal: Goal::Horizon, horizon: Some(50.0), ..Question::default() };
    let clock = Clock::choose(program, question.horizon);
    let mut code = RaceCode::new(program, &question, clock);
    append(&mut code, program, clock, form);
    let recorded = Recorded::new(&shader::race(gpu.int64, form, &code));
    let kernel = gpu.kernel("race", &recorded.source).unwrap();
    let (lanes, count) = (u64::from(WORKGROUP), 1 << 12);
    let run = RaceRun {
        key: [42, 7],
        count,
        lanes: lanes as u32,
        steps: STEPS,
        horizon: 1,
        last_tick: pair(clock.ticks(50.0)),
        max_firings: pair(1 << 40),
        ..RaceRun::zeroed()
    };
    let parameters = gpu.uniform(&run).unwrap();
    let tables = gpu.storage_with(&code.tables).unwrap();
    let state = gpu.storage(4 * u64::from(code.items.count()) * lanes).unwrap();
    let results = gpu.storage(8 * u64::from(code.columns.total) * u64::from(count)).unwrap();
    let control = gpu.storage(32).unwrap();
    let record = gpu.storage(8 * u64::from(ROOM) * lanes).unwrap();
    let buffers =
        [(0, &parameters), (1, &tables), (2, &state), (3, &results), (4, &control), (5, &tables), (6, &record)];
    for _ in 0..=BEFORE {
        gpu.run(&[&record], &[Dispatch { kernel: &kernel, buffers: &buffers, workgroups: 1 }]).unwrap();
    }
    let all: Vec<[u32; 2]> = gpu.read(&record, (ROOM * WORKGROUP) as usize).unwrap();
    let lanes: Vec<&[[u32; 2]]> = all.chunks_exact(ROOM as usize).collect();
    assert!(lanes.iter().all(|lane| lane[0][0] != 0 && lane[ROOM as usize - 1][0] == 0));
    let mut costs = Costs::default();
    lanes.chunks_exact(WARP).for_each(|warp| costs.add(warp, &recorded.in_tables));
    costs
}

/// Lanes that load one address together need one line. Lanes whose addresses are far apart need one line each, as do different
/// items of the state. Accesses at different times are separate.
#[test]
fn accesses_of_a_warp_are_counted() {
    let access = |step: u32, site: u32, at: u32| [step << 16 | site, at];
    let in_tables = [false, false, true, false];
    let lanes: Vec<Vec<[u32; 2]>> = (0..32)
        .map(|lane| {
            let mut own = vec![access(1, 2, 5), access(1, 2, lane * 32), access(1, 3, lane / 4), access(1, FIRING, 0)];
            if lane < 4 {
                own.push(access(2, 2, 64));
            }
            own
        })
        .collect();
    let mut costs = Costs::default();
    costs.add(&lanes.iter().map(Vec::as_slice).collect::<Vec<_>>(), &in_tables);
    let Costs { firings, steps, loads, requests, lines, state } = costs;
    assert_eq!([firings, steps, loads, requests, lines, state], [32.0, 2.0, 68.0, 3.0, 34.0, 8.0]);
}

/// The numbers of docs/kernels.md, within 5%.
#[test]
fn memory_accesses_of_the_race_engine_match_the_docs() {
    let gpu = &devices()[0];
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kernels.md")).unwrap();
    let mut rows = Vec::new();
    for (name, form) in [("direct", Form::Direct), ("clock", Form::Clock)] {
        let found = costs(gpu, &two_loops(6), form).numbers();
        let shown = format!("| race, {name} form |{}", found.map(|number| format!(" {number:.1} |")).concat());
        let start = format!("| race, {name} form |");
        let mut row = docs.lines().filter(|line| line.starts_with(&start)).map(|line| {
            let cells = line[start.len()..].split('|').map(|cell| cell.trim().parse::<f64>());
            cells.filter_map(Result::ok).collect::<Vec<_>>()
        });
        let close =
            |row: Vec<f64>| row.iter().zip(found).all(|(a, b)| (a - b).abs() <= 0.05 * b.abs()) && row.len() == 5;
        rows.push((row.any(close), shown));
    }
    let shown: Vec<&str> = rows.iter().map(|(_, shown)| &shown[..]).collect();
    assert!(rows.iter().all(|(same, _)| *same), "docs/kernels.md should have:\n{}", shown.join("\n"));
}
