//! Exploration of the reachability graph: breadth first over the tangible markings, with vanishing markings eliminated.

use std::time::{Duration, Instant};

use crate::compile::{Code, Firing, Program};
use crate::fold::Symmetry;
use crate::semantics::{Candidates, Fault, rate};
use crate::solve::canonical::Canonical;
use crate::solve::chain::Chain;
use crate::solve::explore_error::{ExploreError, Incomplete};
use crate::solve::growth::{Growth, prove};
use crate::solve::marking::Marking;
use crate::solve::rates::RatesBuilder;
use crate::solve::search::Search;
use crate::solve::space::{Peak, StateSpace};
use crate::solve::store::Store;
use crate::solve::vanish::{Rules, Settling};
use crate::watch::Watch;

/// Limits of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of states, at most 4 billion. Default 50 million.
    pub states: u64,
    /// Maximum number of bytes for markings and the chain. Default 6 GiB.
    pub bytes: u64,
    /// Maximum wall time. Default none.
    pub wall: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 50_000_000, bytes: 6 << 30, wall: None }
    }
}

/// Number of states between two checks of clock, memory and watch.
pub(crate) const LOOK: usize = 1 << 10;
/// Number of counters and transitions that are processed between two checks, for nets whose states take long.
const WORK: usize = 1 << 22;
/// Largest number of states, and of edges.
pub(crate) const MOST: u64 = u32::MAX as u64 - 1;

/// Reason why the exploration stops.
enum Halt {
    Limit(Incomplete),
    Error(ExploreError),
}

impl<E: Into<ExploreError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Explores all markings that `program` can reach, and computes the rates between them.
///
/// With a `goal`, a marking in which it is not 0 is a state without successors, even if it is vanishing: the chain then
/// describes the passage time to the goal.
///
/// Exact. If a limit is reached, the state space is partial and marked as such ([`StateSpace::complete`]). A marking
/// counts as reachable if transitions with rates and weights above 0 lead to it.
///
/// # Errors
///
/// Delays that are not exponential, a trap of immediate transitions, a proof that the net is unbounded, and
/// invalid values in a marking.
pub fn explore(
    program: &Program,
    goal: Option<&Code>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<StateSpace, ExploreError> {
    explore_with(program, goal, None, limits, watch)
}

/// Explores canonical markings: of all markings that differ only by exchanges of equal parts, one is explored. The chain is
/// lumped exactly. Averages, verdicts and firing sequences of the state space are in terms of the net. The number of states is
/// that of canonical markings; [`StateSpace::orbit`] returns the number of markings that a state represents.
///
/// The goal, and all questions about the states, must not distinguish the parts. Unboundedness is not detected; a net that may be
/// unbounded should first be explored for a while without canonical markings.
///
/// # Errors
///
/// The errors of [`explore`].
pub fn explore_canonical(
    program: &Program,
    goal: Option<&Code>,
    symmetry: &Symmetry,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<StateSpace, ExploreError> {
    let canonical = (!symmetry.is_empty()).then(|| Canonical::new(symmetry, program));
    explore_with(program, goal, canonical, limits, watch)
}

fn explore_with(
    program: &Program,
    goal: Option<&Code>,
    canonical: Option<Canonical>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<StateSpace, ExploreError> {
    let search = if canonical.is_none() { Search::of(program) } else { None };
    explore_by(program, goal, canonical, search, limits, watch)
}

/// Explores with or without a search for enabled transitions.
fn explore_by(
    program: &Program,
    goal: Option<&Code>,
    canonical: Option<Canonical>,
    search: Option<Search>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<StateSpace, ExploreError> {
    for (t, firing) in program.firing.iter().enumerate() {
        if let Firing::General { law, .. } = firing {
            let transition = program.transition_names[t].to_owned();
            return Err(ExploreError::NotExponential { transition, law: law.name() });
        }
    }
    let rules = Rules { program, goal, canonical: canonical.as_ref(), search: search.as_ref() };
    let mut explorer = Explorer::new(rules, limits, watch);
    let stopped = match explorer.run() {
        Ok(()) => None,
        Err(Halt::Limit(incomplete)) => Some(incomplete),
        Err(Halt::Error(error)) => return Err(error),
    };
    let mut space = explorer.finish(stopped);
    space.search = search;
    if let Some(canonical) = canonical {
        for all in canonical.equal_places() {
            let key = |peak: &Peak| (peak.tokens, !peak.vanishing, std::cmp::Reverse(peak.state));
            if let Some(highest) = all.iter().map(|&place| space.peaks[place as usize]).max_by_key(key) {
                all.iter().for_each(|&place| space.peaks[place as usize] = highest);
            }
        }
        space.canonical = Some(canonical);
    }
    Ok(space)
}

/// The vanishing markings seen so far, and the final states of each with their probabilities.
struct Memo {
    seen: Store,
    /// Per marking: its range in `ends`; empty if the marking was only passed through, or if its final states were dropped.
    ranges: Vec<(u32, u32)>,
    ends: Vec<(u32, f64)>,
    /// Number of markings that were dropped to save memory.
    forgotten: u64,
}

impl Memo {
    fn bytes(&self) -> u64 {
        self.seen.bytes() + (size_of_val(&self.ranges[..]) + size_of_val(&self.ends[..])) as u64
    }

    /// Drops the final states, but keeps the markings, so that each marking is counted once. Final states that are needed
    /// again are found again. States are explored breadth first, so the final states of earlier markings are rarely needed again.
    fn forget_ends(&mut self) {
        self.ends.clear();
        self.ranges.fill((0, 0));
    }

    fn forget(&mut self) {
        self.forgotten += self.seen.len() as u64;
        self.seen.clear();
        self.ranges.clear();
        self.ends.clear();
    }

    fn number(&mut self, marking: &Marking) -> (usize, bool) {
        let (number, new) = self.seen.insert(marking);
        if new {
            self.ranges.push((0, 0));
        }
        (number as usize, new)
    }
}

/// The states found so far.
struct States<'a> {
    rules: Rules<'a>,
    /// Maximum number of states.
    limit: u64,
    store: Store,
    /// Per state: the state from which it was found; itself for an initial state.
    parents: Vec<u32>,
    peaks: Vec<Peak>,
    /// False until the first marking has been counted in `peaks`.
    is_counted: bool,
    growth: Growth,
}

struct Explorer<'a> {
    rules: Rules<'a>,
    limits: &'a Limits,
    watch: &'a dyn Watch,
    started: Instant,
    states: States<'a>,
    initial: Vec<(u32, f64)>,
    rates: RatesBuilder,
    dead: Vec<u32>,
    goals: Vec<u32>,
    memo: Memo,
    settling: Settling,
    settled: Marking,
    candidates: Candidates,
    timed: Vec<u32>,
}

impl<'a> Explorer<'a> {
    fn new(rules: Rules<'a>, limits: &'a Limits, watch: &'a dyn Watch) -> Self {
        let program = rules.program;
        let states = States {
            rules,
            limit: limits.states.min(MOST),
            store: rules.store(),
            parents: Vec::new(),
            peaks: vec![Peak::default(); program.places()],
            is_counted: false,
            growth: Growth::new(program),
        };
        Self {
            rules,
            limits,
            watch,
            started: Instant::now(),
            states,
            initial: Vec::new(),
            rates: RatesBuilder::new(),
            dead: Vec::new(),
            goals: Vec::new(),
            memo: Memo { seen: rules.store(), ranges: Vec::new(), ends: Vec::new(), forgotten: 0 },
            settling: Settling::new(&rules),
            settled: rules.start(),
            candidates: Candidates::default(),
            timed: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Halt> {
        let program = self.rules.program;
        let mut row = Vec::new();
        let mut marking = self.rules.start();
        let groups: Vec<u32> = (0..program.groups.rows()).map(|group| group as u32).collect();
        self.arrive(None, &mut marking, &groups, 1.0, &mut row)?;
        merge(&mut row, u32::MAX);
        self.initial.append(&mut row);
        let mut next = marking.clone();
        let each = program.counters() + program.timed.len();
        let often = if self.rules.search.is_some() { LOOK } else { (WORK / each.max(1)).clamp(1, LOOK) };
        let mut at = 0;
        while at < self.states.store.len() {
            if at % often == 0 {
                self.look()?;
            }
            self.states.store.read(at, &mut marking);
            self.leave(at as u32, &marking, &mut next, &mut row)?;
            at += 1;
        }
        Ok(())
    }

    /// Stops the exploration if a limit is exceeded or a stop is requested.
    fn look(&mut self) -> Result<(), Halt> {
        self.watch.progress(self.states.store.len() as u64, 0);
        if self.watch.stopped() {
            return Err(Halt::Limit(Incomplete::Interrupted));
        }
        if let Some(limit) = self.limits.wall.filter(|limit| self.started.elapsed() > *limit) {
            return Err(Halt::Limit(Incomplete::Time { limit }));
        }
        if size_of_val(&self.memo.ends[..]) as u64 > self.limits.bytes / 16 {
            self.memo.forget_ends();
        }
        if self.memo.bytes() > self.limits.bytes / 4 {
            self.memo.forget();
        }
        let limit = self.limits.bytes;
        let rates = self.rates.rates();
        let rows = rates.bytes() + size_of_val(&self.states.parents[..]) as u64;
        if self.states.store.bytes() + self.memo.bytes() + rows > limit || rates.count() as u64 > MOST - (1 << 24) {
            return Err(Halt::Limit(Incomplete::Memory { limit }));
        }
        Ok(())
    }

    /// Fires everything that can fire in a state, and adds its row to the chain.
    fn leave(
        &mut self,
        state: u32,
        marking: &Marking,
        next: &mut Marking,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<(), Halt> {
        let program = self.rules.program;
        row.clear();
        if self.rules.is_goal(marking)? {
            self.goals.push(state);
        } else {
            let (mut moves, mut total, mut fastest) = (false, 0.0, (0.0, 0));
            let mut timed = std::mem::take(&mut self.timed);
            for &t in self.rules.timed(marking, &mut timed) {
                let rate = rate(program, t as usize, marking)?;
                if rate > 0.0 {
                    moves = true;
                    total += rate;
                    fastest = if rate > fastest.0 { (rate, t) } else { fastest };
                    next.copy_from(marking);
                    next.fire(program, t as usize)?;
                    self.arrive(Some(state), next, program.affects_groups.row(t as usize), rate, row)?;
                }
            }
            self.timed = timed;
            if f64::is_infinite(total) {
                let transition = program.transition_names[fastest.1 as usize].to_owned();
                return Err(Fault::RateSum { transition }.into());
            }
            if !moves {
                self.dead.push(state);
            }
            merge(row, state);
        }
        self.rates.push(row.iter().copied());
        Ok(())
    }

    /// Adds to `row` the states to which `marking` leads in zero time, each with its share of `rate`. Only the immediate
    /// transitions of `groups` can be enabled.
    fn arrive(
        &mut self,
        from: Option<u32>,
        marking: &mut Marking,
        groups: &[u32],
        rate: f64,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<(), Halt> {
        let vanishing = self.rules.is_vanishing(marking, groups, &mut self.candidates)?;
        self.rules.sort(marking);
        if !vanishing {
            let state = self.states.number(from, marking)?;
            row.push((state, rate));
            return Ok(());
        }
        let (number, new) = self.memo.number(marking);
        if new {
            self.states.rise(from.unwrap_or(0), marking, true);
        }
        if self.memo.ranges[number] == (0, 0) {
            let range = self.settle(from, marking)?;
            self.memo.ranges[number] = range;
        }
        let (start, end) = self.memo.ranges[number];
        let ends = &self.memo.ends[start as usize..end as usize];
        row.extend(ends.iter().map(|&(state, probability)| (state, rate * probability)));
        Ok(())
    }

    /// Finds the states to which a vanishing marking leads; returns their range in the memo.
    fn settle(&mut self, from: Option<u32>, marking: &Marking) -> Result<(u32, u32), Halt> {
        let Self { rules, states, memo, settling, settled, .. } = self;
        settling.explore(rules, marking)?;
        settling.visits(rules.program)?;
        let start = memo.ends.len();
        for i in 0..settling.len() {
            settling.read(i, settled);
            if settling.is_end(i) {
                let state = states.number(from, settled)?;
                memo.ends.push((state, settling.visit(i)));
            } else {
                let (_, new) = memo.number(settled);
                if new {
                    states.rise(from.unwrap_or(0), settled, true);
                }
            }
        }
        Ok((start as u32, memo.ends.len() as u32))
    }

    fn finish(mut self, stopped: Option<Incomplete>) -> StateSpace {
        let explored = self.rates.rates().rows();
        let States { store, mut parents, peaks, .. } = self.states;
        parents.truncate(store.len());
        // the unfinished row and later rows have no successors
        (explored..store.len()).for_each(|_| self.rates.push([]));
        StateSpace {
            goal: self.rules.goal.cloned(),
            canonical: None,
            search: None,
            vanishing: self.memo.seen.len() as u64 + self.memo.forgotten,
            vanishing_is_exact: self.memo.forgotten == 0,
            store,
            parents,
            chain: Chain { rates: self.rates.finish(), initial: self.initial },
            explored,
            stopped,
            dead: self.dead,
            goals: self.goals,
            peaks,
            wall: self.started.elapsed(),
        }
    }
}

impl States<'_> {
    /// Returns the number of a state; a new state is checked for unbounded growth.
    fn number(&mut self, from: Option<u32>, marking: &Marking) -> Result<u32, Halt> {
        let (state, new) = self.store.insert(marking);
        if new {
            if self.store.len() as u64 > self.limit {
                return Err(Halt::Limit(Incomplete::States { limit: self.limit }));
            }
            self.parents.push(from.unwrap_or(state));
            self.rise(state, marking, false);
            if self.rules.canonical.is_some() {
                return Ok(state);
            }
            let (rules, store, parents) = (&self.rules, &self.store, &self.parents);
            let parent = |state: u32| parents[state as usize];
            let proof = |from: u32| prove(rules, store, parents, from, state);
            if let Some(unbounded) = self.growth.check(store, parent, (state, marking), proof)? {
                return Err(Halt::Error(ExploreError::Unbounded(unbounded)));
            }
        }
        Ok(state)
    }

    /// Updates the largest number of tokens of each place.
    fn rise(&mut self, state: u32, marking: &Marking, vanishing: bool) {
        let program = self.rules.program;
        let count = |place: usize, peak: &mut Peak| {
            let tokens = program.tokens_in(place, marking);
            if tokens > peak.tokens {
                *peak = Peak { tokens, state, vanishing };
            }
        };
        match marking.changed().filter(|_| self.is_counted) {
            Some(changed) => changed.for_each(|(counter, _)| {
                let place = counter as usize / program.classes();
                count(place, &mut self.peaks[place]);
            }),
            None if program.classes() == 1 => {
                for (peak, &tokens) in self.peaks.iter_mut().zip(marking.iter()) {
                    if u64::from(tokens) > peak.tokens {
                        *peak = Peak { tokens: tokens.into(), state, vanishing };
                    }
                }
            }
            None => self.peaks.iter_mut().enumerate().for_each(|(place, peak)| count(place, peak)),
        }
        self.is_counted = true;
    }
}

/// Sorts the entries of a row by state, and adds up entries for the same state.
pub(crate) fn summed(row: &mut Vec<(u32, f64)>) {
    row.sort_unstable_by_key(|&(state, _)| state);
    row.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
}

/// Sorts a row, adds up entries for the same state, and drops entries for `own`.
fn merge(row: &mut Vec<(u32, f64)>, own: u32) {
    summed(row);
    // drop probabilities that underflowed to 0
    row.retain(|&(state, rate)| state != own && rate > 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};
    use crate::solve::cases::{kanban, queue, ring, space, trap};
    use crate::watch::Unwatched;

    #[test]
    fn a_ring_has_as_many_states_as_ways_to_share_tokens() {
        // k tokens in n places: n + k - 1 over k
        for (n, k, states) in [(3, 4, 15), (4, 9, 220), (5, 20, 10_626), (1, 3, 1)] {
            let space = space(&ring(n, k));
            assert_eq!((space.states(), space.stopped(), space.vanishing()), (states, None, (0, true)));
        }
    }

    #[test]
    fn kanban_has_the_published_counts() {
        // numbers from the PRISM benchmark and the paper of Ciardo and Tilgner
        for (n, states, edges) in [(1, 160, 616), (2, 4_600, 28_120), (3, 58_400, 446_400)] {
            let space = space(&kanban(n));
            assert_eq!((space.states(), space.complete().unwrap().rates.count()), (states, edges));
        }
    }

    /// A token moves on a ring; after each move, it continues or returns. The final states of vanishing markings are dropped
    /// after 1,024 states.
    #[test]
    fn dropped_final_states_are_found_again() {
        let mut b = NetBuilder::new("ring with choices");
        let (n, k) = (6, 9);
        let places: Vec<_> = (0..n).map(|i| b.place(format!("p{i}"), if i == 0 { k } else { 0 })).collect();
        for (i, &place) in places.iter().enumerate() {
            let choice = b.place(format!("choice{i}"), 0);
            let next = places[(i + 1) % places.len()];
            for (id, timing, from, to) in [
                ("move", Timing::exponential(1.0), place, choice),
                ("on", Timing::immediate(3.0, 1), choice, next),
                ("back", Timing::immediate(1.0, 1), choice, place),
            ] {
                let t = b.transition(format!("{id}{i}"), timing);
                b.input(from, t, 1.0);
                b.output(t, to, 1.0);
            }
        }
        let program = compile(&b.build().unwrap()).unwrap();
        let explored = |bytes: u64| {
            let limits = Limits { bytes, ..Limits::default() };
            explore(&program, None, &limits, &Unwatched).unwrap()
        };
        let (all, few) = (explored(6 << 30), explored(1 << 20));
        assert_eq!((all.states(), all.vanishing().1, few.stopped()), (2_002, true, None));
        assert_eq!((all.vanishing(), all.complete()), (few.vanishing(), few.complete()));
    }

    #[test]
    fn a_queue_is_a_birth_and_death_chain() {
        let space = space(&queue(5, 2.0, 3.0));
        let chain = space.complete().unwrap();
        assert_eq!(chain.initial, [(0, 1.0)]);
        let rows: Vec<Vec<(u32, f64)>> = (0..6).map(|state| chain.rates.row(state).collect()).collect();
        assert_eq!(rows[0], [(1, 2.0)]);
        assert_eq!(rows[3], [(2, 3.0), (4, 2.0)]);
        assert_eq!(rows[5], [(4, 3.0)]);
        assert_eq!(space.peaks()[0], Peak { tokens: 5, state: 5, vanishing: false });
    }

    /// `start` leads to `a`, which immediate transitions swap with `b` or leave with probability 1/4 to `x`; from `b` they leave
    /// with 1/3 to `y`.
    fn swapping() -> Program {
        let mut b = NetBuilder::new("");
        let ids: Vec<_> =
            ["start", "a", "b", "x", "y"].iter().map(|&id| b.place(id, u32::from(id == "start"))).collect();
        let mut move_token = |id: &str, from: usize, to: usize, timing| {
            let t = b.transition(id, timing);
            b.input(ids[from], t, 1.0);
            b.output(t, ids[to], 1.0);
        };
        move_token("go", 0, 1, Timing::exponential(2.0));
        move_token("ab", 1, 2, Timing::immediate(3.0, 1));
        move_token("ax", 1, 3, Timing::immediate(1.0, 1));
        move_token("ba", 2, 1, Timing::immediate(2.0, 1));
        move_token("by", 2, 4, Timing::immediate(1.0, 1));
        compile(&b.build().unwrap()).unwrap()
    }

    #[test]
    fn loops_of_immediates_are_solved() {
        let program = swapping();
        let space = space(&program);
        // from a: x after any number of rounds of 3/4 * 2/3 = 1/2
        let mut row = space.complete().unwrap().rates.row(0);
        assert!(row.len() == 2 && row.all(|(_, rate)| (rate - 2.0 * 0.5).abs() < 1e-15), "{row:?}");
        assert_eq!((space.states(), space.vanishing()), (3, (2, true)));
        let mut flows = vec![0.0; 5];
        space
            .for_each_firing(&program, &[1.0, 0.0, 0.0], &mut |firing| flows[firing.transition as usize] += firing.flow)
            .unwrap();
        // a is entered 2 times per second and visited twice each time, b 3/2 times
        let exact = [2.0, 3.0, 1.0, 2.0, 1.0];
        assert!(flows.iter().zip(exact).all(|(flow, exact): (&f64, f64)| (flow - exact).abs() < 1e-14), "{flows:?}");
    }

    #[test]
    fn a_vanishing_start_is_a_distribution() {
        let mut b = NetBuilder::new("");
        let (p, q, r) = (b.place("p", 1), b.place("q", 0), b.place("r", 0));
        for (id, to, weight) in [("pq", q, 1.0), ("pr", r, 3.0)] {
            let t = b.transition(id, Timing::immediate(weight, 1));
            b.input(p, t, 1.0);
            b.output(t, to, 1.0);
        }
        let space = space(&compile(&b.build().unwrap()).unwrap());
        assert_eq!(space.complete().unwrap().initial, [(0, 0.25), (1, 0.75)]);
        assert_eq!(space.dead(), [0, 1]);
    }

    #[test]
    fn a_goal_ends_the_play_in_vanishing_markings_too() {
        let program = swapping();
        let mut b = NetBuilder::new("");
        for id in ["start", "a", "b", "x", "y"] {
            b.place(id, 0);
        }
        let net = b.build().unwrap();
        let goal = crate::compile::lower(&net, &net.expression("#(b) > 0").unwrap());
        let space = explore(&program, Some(&goal), &Limits::default(), &Unwatched).unwrap();
        assert_eq!((space.states(), space.goals(), space.dead()), (3, &[1][..], &[2][..]));
        assert!(space.complete().unwrap().rates.row(0).eq([(1, 1.5), (2, 0.5)]));
    }

    #[test]
    fn a_trap_names_its_transitions() {
        let error = explore(&trap(), None, &Limits::default(), &Unwatched).unwrap_err();
        let transitions = vec!["back".to_owned(), "forth".to_owned()];
        assert_eq!(error, ExploreError::VanishingTrap { transitions });
    }

    #[test]
    fn other_laws_are_refused_with_advice() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        let t = b.transition("wait", Timing::general(crate::net::Law::Deterministic { delay: 1.0 }));
        b.input(p, t, 1.0);
        let error = explore(&compile(&b.build().unwrap()).unwrap(), None, &Limits::default(), &Unwatched).unwrap_err();
        assert_eq!(error, ExploreError::NotExponential { transition: "wait".to_owned(), law: "deterministic" });
    }

    #[test]
    fn a_negative_rate_is_a_fault() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 2);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        let mut program = compile(&b.build().unwrap()).unwrap();
        program.firing[0] =
            Firing::Exponential { rate: crate::compile::Value::Constant(-1.0), servers: crate::net::Servers::Single };
        let error = explore(&program, None, &Limits::default(), &Unwatched).unwrap_err();
        assert!(matches!(error, ExploreError::Fault(Fault::BadValue { what: "rate", value: -1.0, .. })), "{error}");
    }

    #[test]
    fn limits_keep_the_explored_part_of_the_chain() {
        let program = ring(5, 20);
        let limits = Limits { states: 1_000, ..Limits::default() };
        let partial = explore(&program, None, &limits, &Unwatched).unwrap();
        assert_eq!(partial.complete().unwrap_err(), Incomplete::States { limit: 1_000 });
        assert!(partial.explored() < 1_000 && partial.states() >= 1_000);
        // the states that were explored have the rows of the complete chain
        let whole = space(&program);
        for state in 0..partial.explored() {
            assert!(partial.partial_chain().rates.row(state).eq(whole.partial_chain().rates.row(state)));
        }
        let limits = Limits { bytes: 10_000, ..Limits::default() };
        let partial = explore(&program, None, &limits, &Unwatched).unwrap();
        assert_eq!(partial.stopped(), Some(&Incomplete::Memory { limit: 10_000 }));
        let limits = Limits { wall: Some(Duration::ZERO), ..Limits::default() };
        let partial = explore(&program, None, &limits, &Unwatched).unwrap();
        assert_eq!((partial.stopped(), partial.explored()), (Some(&Incomplete::Time { limit: Duration::ZERO }), 0));
    }

    #[test]
    fn exploration_can_be_interrupted() {
        struct Stop;
        impl Watch for Stop {
            fn progress(&self, _done: u64, _planned: u64) {}
            fn stopped(&self) -> bool {
                true
            }
        }
        let partial = explore(&ring(5, 20), None, &Limits::default(), &Stop).unwrap();
        assert_eq!(partial.stopped(), Some(&Incomplete::Interrupted));
    }

    /// A random net of 12 places: rings of exponential and immediate moves, with joins, test and inhibitor arcs, capacities and
    /// weights and rates that depend on the marking.
    fn random_net(seed: u64) -> Program {
        let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = move |n: usize| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            (word >> 33) as usize % n
        };
        let mut b = NetBuilder::new("random");
        let places: Vec<_> = (0..12).map(|i| b.place(format!("p{i}"), u32::from(below(3) == 0))).collect();
        for i in 0..16 {
            let timing = match below(4) {
                0 if i > 3 => Timing::immediate(1.0 + below(3) as f64, below(2) as u32),
                1 => {
                    let rate = b.expression(&format!("1 + #(p{})", below(12))).unwrap();
                    let delay = crate::net::Delay::Exponential { rate };
                    let (servers, memory) = (crate::net::Servers::Infinite, crate::net::Memory::Enabling);
                    Timing::Timed { delay, servers, memory }
                }
                _ => Timing::exponential(0.5 + below(5) as f64),
            };
            let t = b.transition(format!("t{i}"), timing);
            // immediate transitions lead up, so that they do not loop
            let from = below(11);
            b.input(places[from], t, 1.0);
            b.output(t, places[if i > 3 { from + 1 + below(11 - from) } else { below(12) }], 1.0);
            let other = places[(from + 1 + below(11)) % 12];
            match below(5) {
                0 => b.inhibitor(other, t, 1.0 + below(2) as f64),
                1 => b.test(other, t, 1.0),
                2 => b.input(other, t, 1.0),
                _ => continue,
            };
        }
        b.place_mut(places[below(12)]).capacity = Some(2);
        compile(&b.build().unwrap()).unwrap()
    }

    #[test]
    fn large_nets_have_the_same_states_as_small_ones() {
        let mut vanishing = 0;
        for seed in 0..60 {
            let program = random_net(seed);
            let limits = Limits { states: 3_000, ..Limits::default() };
            let by = |search| explore_by(&program, None, None, search, &limits, &Unwatched);
            let (plain, large) = match (by(None), by(Some(Search::new(&program)))) {
                (Ok(plain), Ok(large)) => (plain, large),
                (plain, large) => {
                    assert_eq!(plain.unwrap_err(), large.unwrap_err(), "{seed}");
                    continue;
                }
            };
            vanishing += large.vanishing().0;
            assert_eq!((plain.states(), plain.vanishing()), (large.states(), large.vanishing()), "{seed}");
            assert_eq!(plain.chain, large.chain, "{seed}");
            assert_eq!((&plain.dead, &plain.peaks), (&large.dead, &large.peaks), "{seed}");
            assert_eq!(plain.zero_rates(&program), large.zero_rates(&program), "{seed}");
            let mut markings = [program.initial.clone(), program.initial.clone()];
            for state in 0..plain.states() {
                plain.marking(state, &mut markings[0]);
                large.marking(state, &mut markings[1]);
                assert_eq!((&markings[0], large.find(&markings[0])), (&markings[1], Some(state as u32)), "{seed}");
            }
            let last = plain.states() as u32 - 1;
            assert_eq!(plain.path_to(&program, last), large.path_to(&program, last), "{seed}");
            for place in 0..12 {
                assert_eq!(plain.path_to_peak(&program, place), large.path_to_peak(&program, place), "{seed}");
            }
            assert_eq!(plain.verdicts(&program), large.verdicts(&program), "{seed}");
            let even = vec![1.0 / plain.states() as f64; plain.states()];
            let averages = [&plain, &large].map(|space| space.averages(&program, &even).unwrap());
            let close =
                |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
            assert!(close(&averages[0].tokens, &averages[1].tokens), "{seed}");
            assert!(close(&averages[0].throughputs, &averages[1].throughputs), "{seed}");
            let both = averages[0].distributions.iter().zip(&averages[1].distributions);
            assert!(both.into_iter().all(|(a, b)| close(a, b)), "{seed}");
        }
        assert!(vanishing > 100, "{vanishing} vanishing markings");
    }

    #[test]
    fn a_long_ring_has_a_state_per_place() {
        let n = 5_000;
        let program = ring(n, 1);
        let space = space(&program);
        assert!(space.search.is_some() && space.bytes() < 100 * n as u64);
        let steady = crate::solve::steady_state(space.complete().unwrap(), &Default::default()).unwrap();
        let averages = space.averages(&program, &steady.probabilities).unwrap();
        // transition i has the rate 1 + i, so its place is marked with a probability in proportion to 1 / (1 + i)
        let total: f64 = (0..n).map(|i| 1.0 / (1.0 + i as f64)).sum();
        for i in 0..n {
            let p = 1.0 / (1.0 + i as f64) / total;
            let [none, one] = averages.distributions[i][..] else { panic!("place {i} holds 0 or 1 tokens") };
            assert!((none + one - 1.0).abs() < 1e-12 && (one / p - 1.0).abs() < 1e-9, "place {i}");
            assert!(
                (averages.tokens[i] / p - 1.0).abs() < 1e-9 && (averages.throughputs[i] * total - 1.0).abs() < 1e-9
            );
        }
        let found = space.verdicts(&program).unwrap().unwrap();
        assert!(found.is_live() && found.reversible && space.dead().is_empty());
        assert_eq!(space.path_to_peak(&program, n - 1).unwrap().len(), n - 1);
    }

    #[test]
    #[ignore = "a measurement: minutes, and gigabytes of memory"]
    fn ten_million_states() {
        for n in [5, 6] {
            let program = kanban(n);
            let space = space(&program);
            let seconds = space.wall().as_secs_f64();
            let (states, edges) = (space.states(), space.partial_chain().rates.count());
            println!(
                "kanban {n}: {states} states, {edges} edges, {:.2} s, {:.0} states/s, {:.0} firings/s, {:.1} MB, {} bits",
                seconds,
                states as f64 / seconds,
                edges as f64 / seconds,
                space.bytes() as f64 / 1e6,
                space.marking_bits()
            );
            assert_eq!(states, [2_546_432, 11_261_376][n as usize - 5]);
            let steady =
                crate::solve::steady_state(space.complete().unwrap(), &crate::solve::LinearSettings::default())
                    .unwrap();
            let outcome = steady.classes[0].outcome;
            let averages = space.averages(&program, &steady.probabilities).unwrap();
            let out = program.transition_names.position("out").unwrap();
            println!("throughput {:.12} /s, residual {:e}, {outcome:?}", averages.throughputs[out], steady.residual);
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let peak = status.lines().find(|line| line.starts_with("VmHWM"));
            println!("{}", peak.unwrap_or_default());
        }
    }
}
