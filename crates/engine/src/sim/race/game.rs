//! The token game that all forms of the race share: marking, immediate transitions, goal, and number of firings.

use crate::compile::{Change, Code, Program};
use crate::rng::{Address, Purpose};
use crate::semantics::{Candidates, Fault, MAX_IMMEDIATE_FIRINGS, add, find_candidates_by, fire, pick};
use crate::sim::question::{Ending, Goal, MAX_FIRINGS, Question};
use crate::sim::race::Setup;
use crate::sim::race::blockers::Blockers;
use crate::sim::race::guards::Guards;
use crate::sim::race::observe::Observer;
use crate::sim::sampler::Ticks;
use crate::sim::samples::Samples;

/// Number of firings that are recorded when a loop is suspected.
const TRAIL: u32 = 1024;
/// Maximum number of firings at one instant; beyond it, the engine reports that time does not advance. About a second of
/// work.
const MAX_FIRINGS_AT_ONCE: u64 = 1 << 24;
/// Number of firings between two checks of the stop flag: some milliseconds of work on the largest nets.
const BETWEEN_LOOKS: u64 = 1 << 12;

/// Data that all replications share.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) setup: Setup<'a>,
    pub(crate) guards: Guards,
    /// Per transition: true if its firing may reach the goal or a marking to avoid.
    may_end: Vec<bool>,
    /// Per transition: true if its firing influences only transitions of its own list, and no group.
    is_plain: Vec<bool>,
    /// True if the firing of some transition influences transitions that are not in its own list.
    has_shared: bool,
    /// Result tick from which the goal counts.
    earliest: u64,
    /// Per group: its transition, if it has only one and the weight is constant and positive.
    alone: Vec<Option<u32>>,
    max_firings: u64,
}

impl<'a> Rules<'a> {
    /// `draws` is the maximum number of timed firings for which a form has random numbers.
    pub(crate) fn new(setup: Setup<'a>, draws: u64) -> Self {
        let Setup { program, question, .. } = setup;
        let writes = program.writes();
        let reads: Vec<u32> = question.ends().flat_map(Code::counters).collect();
        let may_end = (0..program.transitions()).map(|t| writes.row(t).iter().any(|counter| reads.contains(counter)));
        let alone = (0..program.groups.rows()).map(|group| match program.groups.row(group) {
            [t] if program.choice_weight[*t as usize] > 0 => Some(*t),
            _ => None,
        });
        let is_plain = |t| program.affects.is_whole(t) && program.affects_groups.row(t).is_empty();
        Self {
            setup,
            guards: Guards::new(program),
            may_end: may_end.collect(),
            is_plain: (0..program.transitions()).map(is_plain).collect(),
            has_shared: !(0..program.transitions()).all(|t| program.affects.is_whole(t)),
            earliest: setup.clock.ticks(question.earliest),
            alone: alone.collect(),
            max_firings: question.max_firings.unwrap_or(MAX_FIRINGS).min(draws),
        }
    }

    /// Returns true if the firing of a timed transition only moves tokens: no immediate transition and no end of the
    /// replication can follow.
    pub(crate) fn is_simple(&self, t: usize) -> bool {
        self.setup.program.is_static(t) && !self.may_end[t] && self.is_plain[t]
    }

    /// The last engine tick of a replication.
    pub(crate) fn last_tick<T: Ticks>(&self) -> T {
        let clock = self.setup.clock;
        match self.setup.question.horizon {
            Some(seconds) => T::from_result(clock.ticks(seconds), clock.extra_bits),
            None => T::from_result(crate::sim::NEVER - 1, clock.extra_bits),
        }
    }
}

/// Outcome of the firings at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The marking is tangible and not the goal.
    Tangible,
    /// The goal is reached, or a marking to avoid.
    Goal,
}

/// Reason why a replication ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The goal is reached, or a marking to avoid.
    Goal,
    /// No transition is enabled.
    Dead,
    /// The next firing is beyond the horizon.
    Late,
    /// The limit of firings is reached, or the run was stopped.
    Spent,
}

/// The state of one replication.
#[derive(Debug)]
pub(crate) struct Game<'r, 'a, O> {
    rules: &'r Rules<'a>,
    replication: u64,
    marking: Vec<u32>,
    firings: u64,
    /// Number of firings at which the limits are checked next.
    next_look: u64,
    /// True if the run was stopped during this replication.
    stopped: bool,
    /// Number of firings when the time last changed.
    firings_before: u64,
    now: u64,
    /// The kind of ending, once the marking is the goal or a marking to avoid.
    ending: Ending,
    observer: O,
    /// Per group: number of choices drawn so far.
    choices: Vec<u32>,
    candidates: Candidates,
    blockers: Blockers,
    /// Groups to check, each at most once.
    pending: Vec<u32>,
    waiting: Vec<bool>,
    /// Timed transitions to check, each at most once, if the last firing was not plain.
    touched: Vec<u32>,
    marks: Vec<bool>,
    trail: Vec<u32>,
}

impl<'r, 'a, O: Observer> Game<'r, 'a, O> {
    pub(crate) fn new(rules: &'r Rules<'a>, observer: O) -> Self {
        let program = rules.setup.program;
        let groups = program.groups.rows();
        Self {
            rules,
            replication: 0,
            marking: program.initial.clone(),
            firings: 0,
            next_look: 0,
            stopped: false,
            firings_before: 0,
            now: 0,
            ending: Ending::Goal,
            observer,
            choices: vec![0; groups],
            candidates: Candidates::default(),
            blockers: Blockers::new(&rules.guards, program),
            pending: Vec::with_capacity(groups),
            waiting: vec![false; groups],
            touched: Vec::with_capacity(program.timed.len()),
            marks: vec![false; program.transitions()],
            trail: Vec::new(),
        }
    }

    /// The observer, after the last replication.
    pub(crate) fn into_observer(self) -> O {
        self.observer
    }

    pub(crate) fn program(&self) -> &'a Program {
        self.rules.setup.program
    }

    #[inline(always)]
    pub(crate) fn marking(&self) -> &[u32] {
        &self.marking
    }

    pub(crate) fn replication(&self) -> u64 {
        self.replication
    }

    /// The tick of the last firing.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Number of firings of this replication.
    pub(crate) fn firings(&self) -> u64 {
        self.firings
    }

    /// Starts a replication: sets the initial marking and fires immediate transitions at time 0. After that, the caller
    /// must check all timed transitions.
    pub(crate) fn begin(&mut self, replication: u64) -> Result<Outcome, Fault> {
        let rules = self.rules;
        self.resume(&rules.setup.program.initial, 0, replication)
    }

    /// As [`Self::begin`], but starts in another marking and at another tick.
    #[inline]
    pub(crate) fn resume(&mut self, marking: &[u32], now: u64, replication: u64) -> Result<Outcome, Fault> {
        self.replication = replication;
        self.marking.copy_from_slice(marking);
        self.firings = 0;
        self.next_look = BETWEEN_LOOKS.min(self.rules.max_firings);
        self.firings_before = 0;
        self.now = now;
        self.observer.begin();
        self.choices.fill(0);
        if self.is_end()? {
            return Ok(Outcome::Goal);
        }
        self.forget_touched();
        for group in self.pending.drain(..) {
            self.waiting[group as usize] = false;
        }
        for group in 0..self.waiting.len() {
            self.waiting[group] = true;
            self.pending.push(group as u32);
        }
        self.settle()
    }

    /// Advances time to `to`, then fires the timed transition `t`, then immediate transitions.
    #[inline(always)]
    pub(crate) fn fire(&mut self, t: u32, to: u64) -> Result<Outcome, Fault> {
        if self.wait(t, to)? {
            return Ok(Outcome::Goal);
        }
        if self.fire_one(t)? {
            return Ok(Outcome::Goal);
        }
        if !self.touched.is_empty() {
            self.forget_touched();
        }
        if self.rules.is_plain[t as usize] {
            return Ok(Outcome::Tangible);
        }
        self.spread(t);
        self.settle()
    }

    /// As [`Self::fire`], for a transition whose firing only moves tokens, with its changes.
    #[inline(always)]
    pub(crate) fn fire_simple(&mut self, t: u32, changes: &[Change], to: u64) -> Result<Outcome, Fault> {
        if self.wait(t, to)? {
            return Ok(Outcome::Goal);
        }
        self.observer.fires(t, &self.marking, self.now);
        for change in changes {
            add(self.rules.setup.program, t as usize, &mut self.marking, change.counter, change.by.into())?;
        }
        self.firings += 1;
        Ok(Outcome::Tangible)
    }

    /// Advances time to `to`, when `t` fires; returns true if the goal is reached before.
    #[inline(always)]
    fn wait(&mut self, t: u32, to: u64) -> Result<bool, Fault> {
        if self.now < self.rules.earliest && self.is_goal_at_earliest(to)? {
            return Ok(true);
        }
        self.observer.pass(&self.marking, self.now, to);
        if to != self.now {
            self.now = to;
            self.firings_before = self.firings;
        } else if self.firings - self.firings_before > MAX_FIRINGS_AT_ONCE {
            return Err(self.standing_time(t));
        }
        Ok(false)
    }

    /// The timed transitions that were possibly influenced by the last firing of `t` and the immediate firings after
    /// it.
    #[inline(always)]
    pub(crate) fn touched(&self, t: u32) -> &[u32] {
        if self.touched.is_empty() { self.program().affects.own(t as usize) } else { &self.touched }
    }

    /// Returns true if the replication has used up its firings or the run is stopped.
    #[inline(always)]
    pub(crate) fn is_spent(&mut self) -> bool {
        self.firings >= self.next_look && self.look()
    }

    fn look(&mut self) -> bool {
        let spent = self.firings >= self.rules.max_firings;
        self.stopped = !spent && self.rules.setup.watch.stopped();
        self.next_look = self.rules.max_firings.min(self.firings + BETWEEN_LOOKS);
        spent || self.stopped
    }

    /// Returns true if the run was stopped during the last replication, which is discarded in that case.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Ends the replication for a reason. A replication that was stopped is discarded.
    pub(crate) fn end_by(&mut self, stop: Stop, samples: &mut Samples) -> Result<(), Fault> {
        match stop {
            Stop::Goal => self.end_reached(samples),
            Stop::Dead => return self.end_dead(samples),
            Stop::Late => return self.end_late(samples),
            Stop::Spent if self.stopped => {}
            Stop::Spent => self.end_now(Ending::Firings, samples),
        }
        Ok(())
    }

    /// Ends the replication at the goal, or in a marking to avoid.
    pub(crate) fn end_reached(&mut self, samples: &mut Samples) {
        self.end_now(self.ending, samples);
    }

    /// Ends the replication at its current time.
    pub(crate) fn end_now(&mut self, ending: Ending, samples: &mut Samples) {
        self.end(ending, self.now, samples);
    }

    /// Ends the replication in a dead marking.
    pub(crate) fn end_dead(&mut self, samples: &mut Samples) -> Result<(), Fault> {
        if self.is_goal_at_earliest(u64::MAX)? {
            self.end_reached(samples);
            return Ok(());
        }
        let Question { goal, horizon, .. } = self.rules.setup.question;
        match (goal, horizon) {
            (Goal::Dead, _) => self.end_now(Ending::Goal, samples),
            (Goal::Horizon, Some(_)) => self.end(Ending::Horizon, self.rules.last_tick(), samples),
            _ => self.end_now(Ending::Dead, samples),
        }
        Ok(())
    }

    /// Ends the replication, whose next firing is beyond the last tick, at the requested horizon; an error without one.
    pub(crate) fn end_late(&mut self, samples: &mut Samples) -> Result<(), Fault> {
        if self.rules.setup.question.horizon.is_none() {
            return Err(self.past_the_clock());
        }
        if self.is_goal_at_earliest(u64::MAX)? {
            self.end_reached(samples);
        } else {
            self.end(Ending::Horizon, self.rules.last_tick(), samples);
        }
        Ok(())
    }

    fn end(&mut self, ending: Ending, time: u64, samples: &mut Samples) {
        self.observer.pass(&self.marking, self.now, time);
        self.observer.finish(ending, &self.marking, time, samples);
        samples.record(ending, time, self.firings, self.rules.setup.keep_times);
    }

    /// The error if the next firing is beyond the last tick, in a run without a horizon.
    fn past_the_clock(&self) -> Fault {
        let clock = self.rules.setup.clock;
        Fault::PastTheClock { limit: clock.seconds(self.rules.last_tick::<u64>()) }
    }

    /// Fires one transition; returns true if the goal is reached.
    #[inline(always)]
    fn fire_one(&mut self, t: u32) -> Result<bool, Fault> {
        self.observer.fires(t, &self.marking, self.now);
        fire(self.rules.setup.program, t as usize, &mut self.marking)?;
        self.firings += 1;
        Ok(self.rules.may_end[t as usize] && self.is_end()?)
    }

    /// Returns true if the marking is a goal that counts now, or to be avoided.
    fn is_end(&mut self) -> Result<bool, Fault> {
        if self.now >= self.rules.earliest && self.is_goal()? {
            self.ending = Ending::Goal;
            return Ok(true);
        }
        let Some(avoid) = &self.rules.setup.question.avoid else { return Ok(false) };
        self.ending = Ending::Avoided;
        self.holds(&avoid.code, "the marking to avoid")
    }

    fn is_goal(&self) -> Result<bool, Fault> {
        let Some(code) = self.rules.setup.question.goal.code() else { return Ok(false) };
        self.holds(code, "the goal")
    }

    fn holds(&self, code: &Code, what: &str) -> Result<bool, Fault> {
        let value = code.eval(&self.marking);
        if value.is_finite() { Ok(value != 0.0) } else { Err(Fault::BadExpression { what: what.to_owned() }) }
    }

    /// Returns true if the marking, which does not change before `to`, is the goal when the goal starts to count. In
    /// this case, lets time pass to that tick.
    fn is_goal_at_earliest(&mut self, to: u64) -> Result<bool, Fault> {
        let earliest = self.rules.earliest;
        if self.now >= earliest || to <= earliest || !self.is_goal()? {
            return Ok(false);
        }
        self.observer.pass(&self.marking, self.now, earliest);
        self.now = earliest;
        self.ending = Ending::Goal;
        Ok(true)
    }

    /// Records which groups and timed transitions a firing of `t` can influence.
    fn spread(&mut self, t: u32) {
        let program = self.rules.setup.program;
        self.touch(program.affects.own(t as usize));
        if self.rules.has_shared {
            program.affects.shared(t as usize).for_each(|list| self.touch(list));
        }
        for &group in program.affects_groups.row(t as usize) {
            if !self.waiting[group as usize] {
                self.waiting[group as usize] = true;
                self.pending.push(group);
            }
        }
    }

    #[inline(always)]
    fn touch(&mut self, transitions: &[u32]) {
        for &u in transitions {
            if !self.marks[u as usize] {
                self.marks[u as usize] = true;
                self.touched.push(u);
            }
        }
    }

    fn forget_touched(&mut self) {
        for u in self.touched.drain(..) {
            self.marks[u as usize] = false;
        }
    }

    /// Fires immediate transitions until the marking is tangible.
    fn settle(&mut self) -> Result<Outcome, Fault> {
        let mut in_a_row = 0;
        while let Some(group) = self.pending.pop() {
            self.waiting[group as usize] = false;
            let Some(t) = self.choose(group)? else { continue };
            in_a_row += 1;
            if in_a_row > MAX_IMMEDIATE_FIRINGS - TRAIL {
                self.trail.push(t);
                if in_a_row > MAX_IMMEDIATE_FIRINGS {
                    return Err(Fault::VanishingLoop { transitions: self.trail_names() });
                }
            }
            if self.fire_one(t)? {
                return Ok(Outcome::Goal);
            }
            self.spread(t);
        }
        self.trail.clear();
        Ok(Outcome::Tangible)
    }

    /// Returns the immediate transition of a group that fires, if any.
    #[inline]
    fn choose(&mut self, group: u32) -> Result<Option<u32>, Fault> {
        let Setup { program, key, .. } = self.rules.setup;
        if let Some(t) = self.rules.alone[group as usize] {
            let enabled = self.rules.guards.is_enabled(program, t as usize, &self.marking)?;
            return Ok(enabled.then_some(t));
        }
        let guards = &self.rules.guards;
        if !guards.may_choose(group as usize, &self.marking) {
            return Ok(None);
        }
        let marking = &self.marking;
        let members = self.blockers.open(guards, program, group as usize, marking);
        let is_enabled = |t| guards.is_enabled(program, t, marking);
        find_candidates_by(program, members, marking, &mut self.candidates, is_enabled)?;
        if self.candidates.transitions().is_empty() {
            return Ok(None);
        }
        let sample = &mut self.choices[group as usize];
        let t = pick(&self.candidates, || {
            let address = Address { purpose: Purpose::Choice, owner: group, sample: *sample };
            *sample = sample.wrapping_add(1);
            address.word(key, self.replication)
        });
        Ok(Some(t))
    }

    /// The transitions in the repeated part of the trail, in the order of the net.
    fn trail_names(&mut self) -> Vec<String> {
        let mut numbers = std::mem::take(&mut self.trail);
        numbers.sort_unstable();
        numbers.dedup();
        numbers.iter().map(|&t| self.program().transition_names[t as usize].to_owned()).collect()
    }

    fn standing_time(&self, t: u32) -> Fault {
        Fault::StandingTime {
            transition: self.program().transition_names[t as usize].to_owned(),
            time: self.rules.setup.clock.seconds(self.now),
        }
    }
}
