//! Memory layout of a lane of the race kernel, the columns of its results, and the constants that configure the shader.
//!
//! ```text
//! state     a tile for each workgroup; in it, item 0: lane 0, lane 1, ... 63 | item 1: lane 0, ... | ...     one word each
//! items     LANE, MARKING, CHOICES, PENDING, WAITING, TOUCHED, then those of the form, then those of the observer
//! results   column 0: replication 0, 1, ... | column 1: ... | ...               two words each
//! columns   passage time, firings, end time, groups, snapshots, rewards, areas, counts
//! ```

use std::fmt::Write as _;

use crate::compile::Program;
use crate::sim::question::Question;

/// Number of words for a lane's own state.
const LANE_WORDS: u32 = 22;

/// Sizes of the observations of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) groups: u32,
    pub(crate) snapshots: u32,
    pub(crate) rewards: u32,
    pub(crate) tokens: bool,
    pub(crate) throughput: bool,
}

impl Observed {
    pub(crate) fn of(question: &Question) -> Self {
        Self {
            groups: question.groups.len() as u32,
            snapshots: question.snapshots.len() as u32,
            rewards: question.rewards.len() as u32,
            tokens: question.tokens,
            throughput: question.throughput,
        }
    }
}

/// Positions of the columns of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// End time, if the question requests averages over time.
    pub(crate) end: Option<u32>,
    pub(crate) groups: u32,
    /// Number of snapshots that a replication took; the snapshots follow.
    pub(crate) taken: u32,
    pub(crate) snapshots: u32,
    pub(crate) rewards: u32,
    pub(crate) areas: u32,
    pub(crate) counts: u32,
    pub(crate) total: u32,
}

/// Allocates consecutive numbers.
#[derive(Debug)]
struct Numbers(u32);

impl Numbers {
    fn take(&mut self, count: u32) -> u32 {
        let first = self.0;
        self.0 = self.0.saturating_add(count);
        first
    }
}

impl Columns {
    pub(crate) const PASSAGE: u32 = 0;
    pub(crate) const FIRINGS: u32 = 1;

    pub(crate) fn new(program: &Program, observed: Observed) -> Self {
        let mut next = Numbers(2);
        let averages = observed.tokens || observed.throughput;
        Self {
            end: averages.then(|| next.take(1)),
            groups: next.take(2 * observed.groups),
            taken: next.take(u32::from(observed.snapshots > 0)),
            snapshots: next.take(observed.snapshots),
            rewards: next.take(observed.rewards),
            areas: next.take(if observed.tokens { 2 * program.counters() as u32 } else { 0 }),
            counts: next.take(if observed.throughput { program.transitions() as u32 } else { 0 }),
            total: next.0,
        }
    }
}

/// The text of constants that precedes the shader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants(String);

impl Constants {
    pub(crate) fn word(&mut self, name: &str, value: u32) {
        // writing to a string does not fail
        let _ = writeln!(self.0, "const {name} = {value}u;");
    }

    pub(crate) fn signed(&mut self, name: &str, value: i32) {
        let _ = writeln!(self.0, "const {name} = {value}i;");
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        let _ = writeln!(self.0, "const {name} = {value};");
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Items of a lane's state, allocated in sequence.
#[derive(Debug)]
pub(crate) struct Items(Numbers);

impl Items {
    /// The items that every race has.
    pub(crate) fn new(program: &Program, constants: &mut Constants) -> Self {
        let mut items = Self(Numbers(0));
        let (groups, timed) = (program.groups.rows() as u32, program.timed.len() as u32);
        items.named("LANE", LANE_WORDS, constants);
        items.named("MARKING", program.counters() as u32, constants);
        items.named("CHOICES", groups, constants);
        items.named("PENDING", groups, constants);
        items.named("WAITING", groups.div_ceil(32), constants);
        items.named("TOUCHED", timed.div_ceil(32), constants);
        constants.word("COUNTERS", program.counters() as u32);
        constants.word("TRANSITIONS", program.transitions() as u32);
        constants.word("CLASSES", program.classes() as u32);
        constants.word("GROUPS", groups);
        constants.word("GROUP_WORDS", groups.div_ceil(32));
        constants.word("TIMED", timed);
        constants.word("TIMED_WORDS", timed.div_ceil(32));
        items
    }

    /// The items of the observations.
    pub(crate) fn observe(
        &mut self,
        program: &Program,
        observed: Observed,
        columns: Columns,
        constants: &mut Constants,
    ) {
        let (counters, transitions) = (program.counters() as u32, program.transitions() as u32);
        self.named("SEEN", 4 * observed.groups, constants);
        self.named("AREAS", if observed.tokens { 4 * counters } else { 0 }, constants);
        self.named("UPTO", if observed.tokens { 2 * counters } else { 0 }, constants);
        self.named("COUNTS", if observed.throughput { 2 * transitions } else { 0 }, constants);
        self.named("REWARD_SUMS", 2 * observed.rewards, constants);
        self.named("TAKEN", 1, constants);
        constants.word("QUESTION_GROUPS", observed.groups);
        constants.word("SNAPSHOTS", observed.snapshots);
        constants.word("REWARDS", observed.rewards);
        constants.flag("HAS_AREAS", observed.tokens);
        constants.flag("HAS_COUNTS", observed.throughput);
        constants.flag("HAS_END_COLUMN", columns.end.is_some());
        constants.word("END_COLUMN", columns.end.unwrap_or(0));
        constants.word("GROUP_COLUMNS", columns.groups);
        constants.word("TAKEN_COLUMN", columns.taken);
        constants.word("SNAPSHOT_COLUMNS", columns.snapshots);
        constants.word("REWARD_COLUMNS", columns.rewards);
        constants.word("AREA_COLUMNS", columns.areas);
        constants.word("COUNT_COLUMNS", columns.counts);
    }

    /// Allocates `count` items and defines the constant `name` in the shader as the first.
    pub(crate) fn named(&mut self, name: &str, count: u32, constants: &mut Constants) {
        let first = self.0.take(count);
        constants.word(name, first);
    }

    /// Allocates this many items; returns the first.
    pub(crate) fn take(&mut self, count: u32) -> u32 {
        self.0.take(count)
    }

    /// Number of items.
    pub(crate) fn count(&self) -> u32 {
        self.0.0
    }
}
