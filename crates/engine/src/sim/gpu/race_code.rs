//! A program and a question as tables of `shaders/race/`: rows of transitions, groups, codes, and the constants of the
//! net.
//!
//! All tables are one array of words; rows contain positions in this array. A row of a transition contains, as pairs of
//! start and end: ranges of counters, rooms, dynamic arcs, inputs, changes, and the timed transitions and groups that a
//! firing affects. Ranges, changes and affected transitions are listed in parts of four words, and their positions count
//! parts. Flags follow, and then the lists of the observer: groups of the question, counters written, and impulses.

use crate::compile::{Code, Firing, Program};
use crate::net::ArcKind;
use crate::sim::clock::Clock;
use crate::sim::gpu::code::DeviceCode;
use crate::sim::gpu::pair::pair;
use crate::sim::gpu::race_layout::{Columns, Constants, Items, Observed};
use crate::sim::question::{Condition, Goal, Question};
use crate::sim::race::Guards;

const ROW_WORDS: usize = 24;
/// Words of a part of a row, which the shader loads together.
pub(crate) const PART: usize = 4;
const MAY_REACH: u32 = 1;
/// Maximum number of words of the tables while transitions are listed: 1 GiB.
const MOST_WORDS: usize = 1 << 28;
const TOO_MANY: &str = "too many pairs of transitions influence each other";
/// Stands for a position if there is no code or no capacity.
pub(crate) const NONE: u32 = u32::MAX;

/// Tables of a race, except the tables of its form.
#[derive(Debug)]
pub(crate) struct RaceCode {
    pub(crate) tables: Vec<u32>,
    /// Per transition: start and end of the ranges of its counters, in parts.
    pub(crate) ranges: Vec<[u32; 2]>,
    pub(crate) constants: Constants,
    pub(crate) items: Items,
    pub(crate) columns: Columns,
    /// Everything that does not fit on a device.
    pub(crate) obstacles: Vec<String>,
    /// True if the race evaluates any code.
    pub(crate) has_code: bool,
    /// Maximum stack depth of a code.
    pub(crate) stack: u32,
    /// Loop iterations of the costliest step so far, without the iterations that only one form of the race needs.
    pub(crate) loops: Loops,
}

/// Upper bounds of loop iterations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loops {
    /// One enabling test, including its evaluations.
    pub(crate) enabled: u64,
    /// A firing, including its observation.
    pub(crate) fire: u64,
    /// The propagation of a firing.
    pub(crate) spread: u64,
    /// One choice of a group.
    pub(crate) choose: u64,
    /// The observation of a passing interval of time.
    pub(crate) pass: u64,
    /// Start and end of a replication.
    pub(crate) whole: u64,
    /// Evaluating the costliest code.
    pub(crate) code: u64,
}

/// Returns true if a term of a goal compares with a 32-bit word.
fn fits(&(_, least): &(u32, f64)) -> bool {
    least <= f64::from(u32::MAX)
}

impl RaceCode {
    pub(crate) fn new(program: &Program, question: &Question, clock: Clock) -> Self {
        let observed = Observed::of(question);
        let mut constants = Constants::default();
        let items = Items::new(program, &mut constants);
        let columns = Columns::new(program, observed);
        let mut this = Self {
            tables: Vec::new(),
            ranges: Vec::new(),
            constants,
            items,
            columns,
            obstacles: question.only_until(),
            has_code: false,
            stack: 1,
            loops: Loops::default(),
        };
        this.items.observe(program, observed, columns, &mut this.constants);
        let initial = this.list(program.initial.iter().copied());
        this.constants.word("INITIAL", initial.0);
        this.goal(question);
        this.transitions(program, question);
        this.groups(program);
        this.observer(program, question, clock, observed);
        this.constants.word("NO_CODE", NONE);
        this.constants.word("UNBOUNDED", NONE);
        this.constants.word("MAY_REACH", MAY_REACH);
        this
    }

    /// Appends a list; returns its start and end.
    pub(crate) fn list(&mut self, words: impl IntoIterator<Item = u32>) -> (u32, u32) {
        let begin = self.tables.len() as u32;
        self.tables.extend(words);
        (begin, self.tables.len() as u32)
    }

    /// Appends rows of whole parts; returns the number of their first part in the array.
    pub(crate) fn rows(&mut self, words: impl IntoIterator<Item = u32>) -> u32 {
        self.tables.resize(self.tables.len().next_multiple_of(PART), 0);
        self.list(words).0 / PART as u32
    }

    /// Appends parts; returns the numbers of the first and of the part after the last.
    fn parts(&mut self, parts: impl IntoIterator<Item = [u32; PART]>) -> (u32, u32) {
        let begin = self.rows(parts.into_iter().flatten());
        (begin, (self.tables.len() / PART) as u32)
    }

    /// Appends a code; returns its position. `what` is its name in an obstacle.
    pub(crate) fn code(&mut self, code: &Code, what: &str) -> u32 {
        match DeviceCode::of(code) {
            Ok(encoded) => {
                self.has_code = true;
                self.stack = self.stack.max(encoded.depth);
                self.loops.code = self.loops.code.max(u64::from(encoded.loops));
                self.list(encoded.words).0
            }
            Err(reasons) => {
                self.obstacles.extend(reasons.iter().map(|why| format!("{what}: {why}")));
                0
            }
        }
    }

    fn goal(&mut self, question: &Question) {
        let [dead, horizon, terms, code] = [0, 1, 2, 3];
        let (mut kind, mut at, mut count) = (dead, 0, 0);
        match &question.goal {
            Goal::Dead => {}
            Goal::Horizon => kind = horizon,
            Goal::Marking(Condition { code: goal, .. }) => {
                match goal.as_conjunction().filter(|terms| terms.iter().all(fits)) {
                    Some(found) => {
                        kind = terms;
                        count = found.len() as u32;
                        at = self.list(found.iter().flat_map(|&(counter, least)| [counter, least.max(0.0) as u32])).0;
                    }
                    None => {
                        kind = code;
                        at = self.code(goal, "the goal");
                    }
                }
            }
        }
        for (name, value) in
            [("GOAL_DEAD", dead), ("GOAL_HORIZON", horizon), ("GOAL_TERMS", terms), ("GOAL_CODE", code)]
        {
            self.constants.word(name, value);
        }
        self.constants.word("GOAL_KIND", kind);
        self.constants.word("GOAL_AT", at);
        self.constants.word("GOAL_TERM_COUNT", count);
        self.loops.fire += u64::from(count);
    }

    fn transitions(&mut self, program: &Program, question: &Question) {
        let guards = Guards::new(program);
        let mut timed_places = vec![NONE; program.transitions()];
        for (place, &t) in (0..).zip(&program.timed) {
            timed_places[t as usize] = place;
        }
        let writes = program.writes();
        let reads: Vec<u32> = match &question.goal {
            Goal::Marking(goal) => goal.code.counters().collect(),
            _ => Vec::new(),
        };
        let mut rows = vec![[0; ROW_WORDS]; program.transitions()];
        let (mut most_dynamic, mut has_rooms) = (0, false);
        for (t, row) in rows.iter_mut().enumerate() {
            let ranges = self.parts(guards.ranges_of(t).map(|[counter, least, width]| [counter, least, width, 0]));
            self.ranges.push([ranges.0, ranges.1]);
            let rooms = self.rooms(program, t);
            has_rooms |= rooms.0 < rooms.1;
            let dynamic = self.dynamic(program, t);
            most_dynamic = most_dynamic.max((dynamic.1 - dynamic.0) / 4);
            let inputs = self.list(program.inputs.row(t).iter().flat_map(|term| [term.counter, term.weight]));
            let changes = program.changes.row(t).iter();
            let changes = self.parts(changes.map(|change| [change.counter, change.by.cast_unsigned(), 0, 0]));
            let affects = self.affects(program, t, &timed_places);
            let groups = self.list(program.affects_groups.row(t).iter().copied());
            for (i, (begin, end)) in [ranges, rooms, dynamic, inputs, changes, affects, groups].into_iter().enumerate()
            {
                row[2 * i] = begin;
                row[2 * i + 1] = end;
            }
            let reaches = writes.row(t).iter().any(|counter| reads.contains(counter));
            row[14] = if reaches { MAY_REACH } else { 0 };
            let written = if question.tokens { self.list(writes.row(t).iter().copied()) } else { (0, 0) };
            (row[18], row[19]) = written;
            let arcs = u64::from(dynamic.1 - dynamic.0) / 4;
            let enabled = u64::from(ranges.1 - ranges.0)
                + u64::from(rooms.1 - rooms.0) / 3 * program.classes() as u64
                + u64::from(inputs.1 - inputs.0) / 2
                + arcs * (2 + arcs + self.loops.code + program.classes() as u64);
            self.loops.enabled = self.loops.enabled.max(enabled + 1);
            let fire = u64::from(changes.1 - changes.0)
                + arcs * (2 + self.loops.code)
                + u64::from(written.1 - written.0)
                + if reaches { self.loops.code } else { 0 };
            self.loops.fire = self.loops.fire.max(fire + 1);
            let spread = (1 + PART as u64) * u64::from(affects.1 - affects.0) + u64::from(groups.1 - groups.0);
            self.loops.spread = self.loops.spread.max(spread + 1);
        }
        self.question_lists(program, question, &mut rows);
        let at = self.rows(rows.into_iter().flatten());
        self.constants.word("ROWS", at);
        self.constants.word("ROW_PARTS", (ROW_WORDS / PART) as u32);
        self.constants.flag("HAS_ROOMS", has_rooms);
        self.constants.flag("HAS_DYNAMIC", most_dynamic > 0);
        self.constants.word("MOST_DYNAMIC", most_dynamic.max(1));
    }

    /// Appends the places of the timed transitions that a firing of `t` influences.
    fn affects(&mut self, program: &Program, t: usize, timed_places: &[u32]) -> (u32, u32) {
        if self.tables.len() + program.affects.count(t) > MOST_WORDS {
            if !self.obstacles.iter().any(|obstacle| obstacle == TOO_MANY) {
                self.obstacles.push(TOO_MANY.to_owned());
            }
            return (0, 0);
        }
        let begin = self.rows(program.affects.of(t).map(|u| timed_places[u as usize]));
        self.tables.resize(self.tables.len().next_multiple_of(PART), NONE);
        (begin, (self.tables.len() / PART) as u32)
    }

    /// Appends the capacities that limit transition `t`, if tokens have several classes; returns the start and the end of
    /// the list.
    fn rooms(&mut self, program: &Program, t: usize) -> (u32, u32) {
        let classes = program.classes() as u32;
        if classes == 1 {
            return (0, 0);
        }
        let rooms = program.rooms.row(t).iter().map(|room| {
            let capacity = program.capacity[room.place as usize].unwrap_or(NONE);
            [room.place * classes, room.growth, capacity]
        });
        let words: Vec<u32> = rooms.flatten().collect();
        self.list(words)
    }

    fn dynamic(&mut self, program: &Program, t: usize) -> (u32, u32) {
        let mut words = Vec::new();
        for arc in program.dynamic.row(t) {
            let kind = match arc.kind {
                ArcKind::Input => 0,
                ArcKind::Output => 1,
                ArcKind::Inhibitor => 2,
                ArcKind::Test => 3,
            };
            let what = format!("an arc weight of `{}`", &program.transition_names[t]);
            let code = self.code(&arc.weight, &what);
            let place = arc.counter as usize / program.classes();
            words.extend([kind, arc.counter, code, program.capacity[place].unwrap_or(NONE)]);
        }
        self.list(words)
    }

    /// Appends the observer's lists that the rows of transitions refer to.
    fn question_lists(&mut self, program: &Program, question: &Question, rows: &mut [[u32; ROW_WORDS]]) {
        let mut groups = vec![Vec::new(); program.transitions()];
        for (number, group) in (0_u32..).zip(&question.groups) {
            for &t in &group.transitions {
                if !groups[t as usize].contains(&number) {
                    groups[t as usize].push(number);
                }
            }
        }
        let mut impulses = vec![Vec::new(); program.transitions()];
        for (number, reward) in (0_u32..).zip(&question.rewards) {
            for (t, code) in &reward.impulses {
                let at = self.code(code, &format!("the reward `{}`", reward.name));
                impulses[*t as usize].extend([number, at]);
            }
        }
        self.constants.flag("HAS_IMPULSES", impulses.iter().any(|list| !list.is_empty()));
        for (row, (groups, impulses)) in rows.iter_mut().zip(groups.into_iter().zip(impulses)) {
            let cost = groups.len() as u64 + impulses.len() as u64 * (1 + self.loops.code);
            self.loops.fire = self.loops.fire.max(self.loops.fire + cost);
            (row[16], row[17]) = self.list(groups);
            (row[20], row[21]) = self.list(impulses);
        }
    }

    fn groups(&mut self, program: &Program) {
        let mut rows = Vec::new();
        let mut has_codes = false;
        for group in 0..program.groups.rows() {
            let members = program.groups.row(group);
            let mut words = Vec::new();
            for &t in members {
                let Firing::Immediate { weight, priority } = &program.firing[t as usize] else { continue };
                let constant = program.choice_weight[t as usize];
                let mut code = NONE;
                if constant == 0 {
                    // with a constant weight of 0 it never fires
                    if weight.as_constant() == Some(0.0) {
                        continue;
                    }
                    has_codes = true;
                    let what = format!("the weight of `{}`", &program.transition_names[t as usize]);
                    let value = match weight {
                        crate::compile::Value::Constant(value) => Code::constant(*value),
                        crate::compile::Value::Code(code) => code.clone(),
                    };
                    code = self.code(&value, &what);
                }
                words.extend([t, *priority, constant, code]);
            }
            let count = words.len() as u64 / 4;
            let passes =
                if has_codes { 3 * (self.loops.enabled + 2 * self.loops.code) } else { 2 * self.loops.enabled };
            self.loops.choose = self.loops.choose.max(count * (passes + 2));
            let (begin, end) = self.list(words);
            rows.extend([begin, end]);
        }
        let at = self.list(rows).0;
        self.constants.word("GROUP_ROWS", at);
        self.constants.flag("HAS_WEIGHT_CODES", has_codes);
    }

    fn observer(&mut self, program: &Program, question: &Question, clock: Clock, observed: Observed) {
        let mut rated = 0;
        let mut rates = Vec::new();
        for reward in &question.rewards {
            rates.push(reward.rate.as_ref().map_or(NONE, |code| {
                rated += 1;
                self.code(code, &format!("the reward `{}`", reward.name))
            }));
        }
        let at = self.list(rates).0;
        self.constants.word("REWARD_ROWS", at);
        self.constants.flag("HAS_RATED", rated > 0);
        let mut snapshots = Vec::new();
        for snapshot in &question.snapshots {
            let code = self.code(&snapshot.value, &format!("a snapshot at {} s", snapshot.time));
            let [low, high] = pair(clock.ticks(snapshot.time));
            snapshots.extend([low, high, code]);
        }
        let at = self.list(snapshots).0;
        self.constants.word("SNAPSHOT_ROWS", at);
        let [low, high] = pair(clock.tick().to_bits());
        self.constants.word("TICK_LOW", low);
        self.constants.word("TICK_HIGH", high);
        let counters = program.counters() as u64;
        self.loops.pass =
            u64::from(observed.rewards) * (1 + self.loops.code) + u64::from(observed.snapshots) * (1 + self.loops.code);
        self.loops.whole = counters * if observed.tokens { 3 } else { 1 }
            + program.groups.rows() as u64 * 2
            + u64::from(observed.groups) * 2
            + u64::from(observed.rewards) * 2
            + if observed.throughput { 3 * program.transitions() as u64 } else { 0 }
            + program.timed.len() as u64 / 32
            + self.loops.code
            + self.loops.pass;
    }
}
