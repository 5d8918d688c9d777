//! A bound schedule as instructions of `shaders/schedule.wgsl`.
//!
//! The kernel has one accumulator, `time`, and slots. A step of the schedule becomes three
//! operations: load the times that it waits for, draw the delay, store the result. Chains, in which
//! each step reads only the result of the previous step, keep the time in the accumulator.

use crate::compile::{Fold, Ids, Put};
use crate::sim::gpu::law::{DeviceLaw, Quantiles, TableTooLarge};
use crate::sim::schedule::{Bound, Schedule};

const PRE_ZERO: u32 = 1;
const PRE_LOAD: u32 = 2;
const PRE_LATEST: u32 = 3;
const PRE_BRANCH: u32 = 4;
const PRE_WHERE: u32 = 5;
const POST_SET: u32 = 1;
const POST_LATEST: u32 = 2;
const POST_EARLIEST: u32 = 3;
const POST_LATEST_UNTIL: u32 = 4;
const POST_LATEST_EVER: u32 = 5;
const POST_COUNT: u32 = 6;
const POST_RESULT: u32 = 7;
/// Maximum number of slots that are private to an invocation.
const MOST_PRIVATE: u32 = 24;
/// Maximum number of slots, and of columns, that an instruction can refer to.
const MOST_SLOTS: usize = 1 << 20;

/// One instruction before it is packed.
#[derive(Clone, Copy, Debug, Default)]
struct Instruction {
    pre: u32,
    law: u32,
    post: u32,
    slot: Option<u32>,
    words: [u32; 3],
    loops: u32,
}

/// Input of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleCode {
    pub(crate) program: Vec<[u32; 4]>,
    pub(crate) tables: Vec<u32>,
    pub(crate) slots: u32,
    /// Number of columns of results: passage time, number of conditional firings (if any), then first and last of groups.
    pub(crate) columns: u32,
    /// True if column 1 contains firings.
    pub(crate) counts: bool,
    /// True if a distribution is curved.
    pub(crate) curves: bool,
    /// Parts of the program, each small enough for the loop iterations that the device allows in one dispatch.
    pub(crate) segments: Vec<std::ops::Range<u32>>,
}

impl ScheduleCode {
    /// Writes the instructions; `loop_budget` bounds the loop iterations of one segment.
    ///
    /// # Errors
    ///
    /// Everything that does not fit on a device.
    pub(crate) fn new(schedule: &Schedule, names: &Ids, loop_budget: u32) -> Result<Self, Vec<String>> {
        Self::after(Vec::new(), schedule, names, loop_budget)
    }

    /// As [`Self::new`], with tables placed after the tables of other schedules.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::new`].
    pub(crate) fn after(
        tables: Vec<u32>,
        schedule: &Schedule,
        names: &Ids,
        loop_budget: u32,
    ) -> Result<Self, Vec<String>> {
        let mut writer = Writer::new(tables, schedule);
        let mut obstacles = Vec::new();
        writer.begin();
        for bound in &schedule.steps {
            if let Err(why) = writer.step(schedule, bound) {
                obstacles.push(why.of(&names[bound.step.transition as usize]));
            }
        }
        writer.finish();
        if writer.slots() > MOST_SLOTS || writer.columns() > MOST_SLOTS {
            obstacles.push(format!("the schedule needs more than {MOST_SLOTS} memory slots"));
        }
        writer.keep_chains_in_place();
        let segments = segments(&writer.code, loop_budget);
        if segments.is_none() {
            obstacles
                .push(format!("one delay takes more loop iterations than the {loop_budget} that the device allows"));
        }
        if !obstacles.is_empty() {
            return Err(obstacles);
        }
        Ok(Self {
            slots: writer.slots() as u32,
            columns: writer.columns() as u32,
            counts: writer.counts,
            curves: writer.curves,
            program: writer.code.iter().map(pack).collect(),
            tables: if writer.tables.is_empty() { vec![0] } else { writer.tables },
            segments: segments.unwrap_or_default(),
        })
    }

    /// Returns true if slots are in a buffer, not private to each invocation: if there are many, or if they persist
    /// between dispatches.
    pub(crate) fn in_memory(&self) -> bool {
        self.slots > MOST_PRIVATE || self.segments.len() > 1
    }
}

struct Writer {
    code: Vec<Instruction>,
    tables: Vec<u32>,
    /// Start of the table of each choice.
    choices: Vec<u32>,
    /// Slots of the plan; the engine's slots follow.
    plan_slots: u32,
    groups: u32,
    counts: bool,
    quantiles: Quantiles,
    curves: bool,
}

impl Writer {
    fn new(mut tables: Vec<u32>, schedule: &Schedule) -> Self {
        let mut choices = Vec::new();
        for (_, cumulative) in &schedule.choices {
            choices.push(tables.len() as u32);
            tables.push(cumulative.len() as u32);
            tables.extend(cumulative);
        }
        let counts = schedule.steps.iter().any(|bound| bound.counted);
        let (plan_slots, groups) = (schedule.slots as u32, schedule.groups as u32);
        Self {
            code: Vec::new(),
            tables,
            choices,
            plan_slots,
            groups,
            counts,
            quantiles: Quantiles::default(),
            curves: false,
        }
    }

    fn end_slot(&self) -> u32 {
        self.plan_slots
    }

    fn count_slot(&self) -> u32 {
        self.plan_slots + 1
    }

    fn spare_slot(&self) -> u32 {
        self.plan_slots + 2
    }

    fn first_slot(&self, group: u32) -> u32 {
        self.plan_slots + 3 + 2 * group
    }

    fn slots(&self) -> usize {
        self.plan_slots as usize + 3 + 2 * self.groups as usize
    }

    fn columns(&self) -> usize {
        1 + usize::from(self.counts) + 2 * self.groups as usize
    }

    /// Writes the initial values: nothing has ended, fired or started yet.
    fn begin(&mut self) {
        let zero = Instruction { pre: PRE_ZERO, post: POST_SET, slot: Some(self.end_slot()), ..Default::default() };
        self.code.push(zero);
        if self.counts {
            self.post(POST_SET, self.count_slot());
        }
        for group in 0..self.groups {
            self.pre(PRE_ZERO, None);
            self.post(POST_SET, self.first_slot(group) + 1);
            self.law(0, DeviceLaw::never());
            self.post(POST_SET, self.first_slot(group));
        }
    }

    fn pre(&mut self, pre: u32, slot: Option<u32>) {
        self.code.push(Instruction { pre, slot, ..Default::default() });
    }

    /// Adds the distribution to the last instruction if possible, otherwise to a new instruction.
    fn law(&mut self, owner: u32, law: DeviceLaw) {
        let new = Instruction { law: law.kind, words: [owner, law.a, law.b], loops: law.loops, ..Default::default() };
        match self.code.last_mut() {
            Some(last) if last.law == 0 && last.post == 0 && last.pre != PRE_BRANCH => {
                *last = Instruction { pre: last.pre, slot: last.slot, ..new };
            }
            _ => self.code.push(new),
        }
    }

    fn post(&mut self, post: u32, slot: u32) {
        match self.code.last_mut() {
            Some(last) if last.post == 0 && last.slot.is_none_or(|own| own == slot) => {
                last.post = post;
                last.slot = Some(slot);
            }
            _ => self.code.push(Instruction { post, slot: Some(slot), ..Default::default() }),
        }
    }

    fn step(&mut self, schedule: &Schedule, bound: &Bound) -> Result<(), TableTooLarge> {
        let step = &bound.step;
        match step.reads.split_first() {
            None => self.pre(PRE_ZERO, None),
            Some((&first, rest)) => {
                self.pre(PRE_LOAD, Some(first));
                rest.iter().for_each(|&slot| self.pre(PRE_LATEST, Some(slot)));
            }
        }
        if let Some((choice, branch)) = step.branch {
            let (group, cumulative) = &schedule.choices[choice as usize];
            self.code.push(Instruction {
                pre: PRE_BRANCH,
                words: [*group, self.choices[choice as usize], branch],
                loops: cumulative.len() as u32,
                ..Default::default()
            });
        }
        let law = match bound.draw.sampler() {
            None => DeviceLaw::NONE,
            Some(sampler) => DeviceLaw::of(&sampler, &mut self.tables, &mut self.quantiles)?,
        };
        self.curves |= law.is_curved();
        if law != DeviceLaw::NONE {
            self.law(step.transition, law);
        }
        if bound.counted {
            self.post(POST_COUNT, self.count_slot());
        }
        if bound.ends {
            self.post(POST_LATEST_EVER, self.end_slot());
        }
        for &group in &bound.groups {
            self.post(POST_EARLIEST, self.first_slot(group));
            self.post(POST_LATEST_UNTIL, self.first_slot(group) + 1);
        }
        self.puts(&step.puts);
        Ok(())
    }

    fn puts(&mut self, puts: &[Put]) {
        let fold = |fold: Fold| match fold {
            Fold::Set => POST_SET,
            Fold::Max => POST_LATEST,
            Fold::Min => POST_EARLIEST,
        };
        for (i, put) in puts.iter().enumerate() {
            let more = i + 1 < puts.len();
            self.post(fold(put.fold), put.slot);
            if let Some((how, slot)) = put.then {
                if more {
                    self.post(POST_SET, self.spare_slot());
                }
                self.pre(PRE_LOAD, Some(put.slot));
                self.post(fold(how), slot);
                if more {
                    self.pre(PRE_LOAD, Some(self.spare_slot()));
                }
            }
        }
    }

    /// Stores results in their columns.
    fn finish(&mut self) {
        let mut column = 0..;
        let mut result = |writer: &mut Self| {
            let slot = column.next().unwrap_or(0);
            writer.code.push(Instruction { post: POST_RESULT, slot: Some(slot), ..Default::default() });
        };
        self.pre(PRE_LOAD, Some(self.end_slot()));
        result(self);
        if self.counts {
            self.pre(PRE_LOAD, Some(self.count_slot()));
            result(self);
        }
        for group in 0..self.groups {
            self.pre(PRE_LOAD, Some(self.first_slot(group)));
            result(self);
            self.pre(PRE_WHERE, Some(self.first_slot(group) + 1));
            result(self);
        }
    }

    /// Drops loads of the value that is already in the accumulator, and stores that are never read.
    fn keep_chains_in_place(&mut self) {
        for at in 1..self.code.len() {
            let before = self.code[at - 1];
            let now = &mut self.code[at];
            if before.post == POST_SET && now.pre == PRE_LOAD && now.slot == before.slot {
                now.pre = 0;
            }
        }
        // true for a slot that is read later, before it is set again
        let mut read = vec![false; self.slots()];
        for now in self.code.iter_mut().rev() {
            let Some(slot) = now.slot else { continue };
            match now.post {
                POST_SET if !read[slot as usize] => now.post = 0,
                POST_SET => read[slot as usize] = false,
                0 | POST_RESULT => {}
                _ => read[slot as usize] = true,
            }
            if matches!(now.pre, PRE_LOAD | PRE_LATEST | PRE_WHERE) {
                read[slot as usize] = true;
            }
        }
        self.code.retain(|now| now.pre != 0 || now.law != 0 || now.post != 0);
    }
}

fn pack(instruction: &Instruction) -> [u32; 4] {
    let Instruction { pre, law, post, slot, words: [a, b, c], .. } = *instruction;
    [pre | law << 4 | post << 8 | slot.unwrap_or(0) << 12, a, b, c]
}

/// Maximum number of instructions per part, if the program can be split. An instruction takes up to two microseconds, and
/// a display's watchdog waits two seconds.
const LONG_PART: u64 = 1 << 16;

/// Splits the program at points where the accumulator is empty, so that no part takes more loop
/// iterations than allowed, nor much longer than a watchdog waits.
fn segments(code: &[Instruction], loop_budget: u32) -> Option<Vec<std::ops::Range<u32>>> {
    let mut segments = Vec::new();
    let (mut begin, mut cut, mut cost, mut since_cut) = (0, 0, 0_u64, 0_u64);
    for (at, instruction) in (0_u32..).zip(code) {
        if at > begin && matches!(instruction.pre, PRE_ZERO | PRE_LOAD) {
            (cut, since_cut) = (at, 0);
        }
        let own = 1 + u64::from(instruction.loops);
        (cost, since_cut) = (cost + own, since_cut + own);
        let beyond = cost > u64::from(loop_budget);
        if beyond && cut == begin {
            return None;
        }
        if beyond || cost > LONG_PART && cut > begin {
            segments.push(begin..cut);
            (begin, cost) = (cut, since_cut);
        }
    }
    segments.push(begin..code.len() as u32);
    Some(segments)
}
