//! The completion time of a schedule, without a state space. A net in which every transition fires once is a graph of
//! delays between events. If the graph is composed of parts in series, in parallel and in alternatives, the
//! distribution of the completion time follows from the distributions of the parts (Martin's reduction of stochastic
//! networks \[Martin1965\]).
//!
//! Implements the reduction. The result is a tree of distributions (`law_tree`), which `grid` evaluates to numbers with
//! bounds.

use std::collections::{BTreeMap, HashMap};

use crate::compile::{Firing, Fold, Program, ScheduleError, SchedulePlan, plan_schedule};
use crate::solve::grid::{CompletionTime, GridError, GridSettings};
use crate::solve::law_tree::{LawId, LawTable};

/// Reason why the completion time of a net cannot be computed from its parts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesParallelError {
    /// The net is not a schedule: a transition may fire twice, or transitions compete. States or simulation may give an
    /// answer.
    #[error("the net is not a series-parallel schedule: {0}")]
    NotSchedule(
        /// All reasons.
        ScheduleError,
    ),
    /// Paths split and join in a way that is neither series nor parallel, so that they depend on
    /// each other. States or simulation may give an answer.
    #[error(
        "the paths around transition `{transition}` are neither in series nor in parallel, so their times are dependent; build the state space or simulate"
    )]
    NotSeriesParallel {
        /// Id of a transition at this point.
        transition: String,
    },
    /// A distribution with a heavy tail, for which no grid is long enough; simulation gives an answer.
    #[error("the delay of transition `{transition}` is {law}, whose tail does not fit a time grid; simulate the net")]
    HeavyTail {
        /// Id of the transition.
        transition: String,
        /// The distribution.
        law: &'static str,
    },
    /// The grid is not valid or does not fit into memory.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// Returns the distribution of the time at which every transition has fired, also for nets with far too many states to explore.
///
/// Every number has guaranteed bounds, see [`CompletionTime`]. The net must be a schedule
/// ([`plan_schedule`]) whose events are in series, in parallel, or alternatives of a choice that join
/// again. Equal branches are computed only once.
///
/// # Errors
///
/// All variants of [`SeriesParallelError`].
///
/// # Examples
///
/// ```
/// use tailspn_engine::compile::compile;
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_exact::solve::{GridSettings, completion_time};
///
/// // a thousand tasks of 2 s each, side by side: 2 s times (1 + 1/2 + … + 1/1000)
/// let mut b = NetBuilder::new("fork and join");
/// for i in 0..1000 {
///     let (todo, done) = (b.place(format!("todo{i}"), 1), b.place(format!("done{i}"), 0));
///     let task = b.transition(format!("task{i}"), Timing::exponential(0.5));
///     b.input(todo, task, 1.0);
///     b.output(task, done, 1.0);
/// }
/// let program = compile(&b.build().unwrap()).unwrap();
/// let time = completion_time(&program, &GridSettings::default()).unwrap();
/// let mean = time.mean();
/// let exact = 2.0 * (1..=1000).map(|n| 1.0 / f64::from(n)).sum::<f64>();
/// let [lower, upper] = mean.ends().expect("the mean has bounds");
/// assert!(lower <= exact && exact <= upper && upper - lower < 1e-3);
/// ```
pub fn completion_time(program: &Program, settings: &GridSettings) -> Result<CompletionTime, SeriesParallelError> {
    let (table, root) = reduced(program)?;
    Ok(CompletionTime::of(&table, root, settings)?)
}

/// Checks whether [`completion_time`] applies to the net. The grid can still be too large. Takes about as long as
/// reading the net.
///
/// # Errors
///
/// All variants of [`SeriesParallelError`] except the grid's.
pub fn is_series_parallel(program: &Program) -> Result<(), SeriesParallelError> {
    reduced(program).map(|_| ())
}

/// Returns the distribution of the completion time as a tree.
fn reduced(program: &Program) -> Result<(LawTable, LawId), SeriesParallelError> {
    let plan = plan_schedule(program).map_err(SeriesParallelError::NotSchedule)?;
    let mut table = LawTable::default();
    let mut graph = Graph::of(program, &plan, &mut table)?;
    graph.reduce(&plan, &mut table);
    let root = graph.whole(program)?;
    Ok((table, root))
}

/// Some branches of a choice; an edge with this condition exists only if one of these branches is chosen.
#[derive(Clone, Debug, PartialEq)]
struct Branches {
    choice: u32,
    /// Numbers of the branches, ascending.
    branches: Vec<u32>,
    probability: f64,
}

/// A delay between two events.
#[derive(Clone, Debug)]
struct Edge {
    from: u32,
    to: u32,
    law: LawId,
    only: Option<Branches>,
    alive: bool,
}

/// A graph of events, with the delays between them as edges.
#[derive(Debug, Default)]
struct Graph {
    edges: Vec<Edge>,
    /// Per event: edges that leave it, and edges that enter it in `ins`; both include dead edges that were not removed yet.
    outs: Vec<Vec<u32>>,
    ins: Vec<Vec<u32>>,
    /// Per event: a transition that belongs to it, for messages.
    transition: Vec<u32>,
    pairs: HashMap<(u32, u32), Vec<u32>>,
    /// Pairs of events to check for parallel edges; `in_series` lists the events to check for edges in series.
    side_by_side: Vec<(u32, u32)>,
    in_series: Vec<u32>,
}

const START: u32 = 0;
const END: u32 = 1;

impl Graph {
    /// Builds the graph of a schedule. Its events are the enabling and the firing of each transition, and the filling of each
    /// slot.
    fn of(program: &Program, plan: &SchedulePlan, table: &mut LawTable) -> Result<Self, SeriesParallelError> {
        let mut graph = Self::default();
        let zero = table.zero();
        graph.event(0);
        graph.event(0);
        let mut slot = vec![START; plan.slots as usize];
        for step in &plan.steps {
            let t = step.transition;
            let (enabled, fired) = (graph.event(t), graph.event(t));
            if step.reads.is_empty() {
                graph.add(START, enabled, zero, None);
            }
            for &read in &step.reads {
                graph.add(slot[read as usize], enabled, zero, None);
            }
            let only = step.branch.map(|(choice, branch)| Branches {
                choice,
                branches: vec![branch],
                probability: share(program, plan, choice, t),
            });
            graph.add(enabled, fired, law(program, t as usize, table)?, only);
            for put in &step.puts {
                let filled = graph.fold(put.fold, put.slot, t, &mut slot);
                graph.add(fired, filled, zero, None);
                if let Some((fold, to)) = put.then {
                    let whole = graph.fold(fold, to, t, &mut slot);
                    graph.add(filled, whole, zero, None);
                }
            }
            if step.last || step.puts.is_empty() {
                graph.add(fired, END, zero, None);
            }
        }
        if plan.steps.is_empty() {
            graph.add(START, END, zero, None);
        }
        Ok(graph)
    }

    /// Returns the event of filling `slot`; the first token creates the event.
    fn fold(&mut self, fold: Fold, slot: u32, t: u32, events: &mut [u32]) -> u32 {
        if fold == Fold::Set {
            events[slot as usize] = self.event(t);
        }
        events[slot as usize]
    }

    fn event(&mut self, transition: u32) -> u32 {
        self.outs.push(Vec::new());
        self.ins.push(Vec::new());
        self.transition.push(transition);
        u32::try_from(self.outs.len() - 1).expect("a net has fewer than 2^32 nodes")
    }

    fn add(&mut self, from: u32, to: u32, law: LawId, only: Option<Branches>) {
        let edge = u32::try_from(self.edges.len()).expect("a net has fewer than 2^32 arcs");
        self.edges.push(Edge { from, to, law, only, alive: true });
        self.outs[from as usize].push(edge);
        self.ins[to as usize].push(edge);
        let pair = self.pairs.entry((from, to)).or_default();
        pair.push(edge);
        if pair.len() > 1 {
            self.side_by_side.push((from, to));
        }
        self.in_series.extend([from, to]);
    }

    /// Merges edges in series or in parallel until none remain.
    fn reduce(&mut self, plan: &SchedulePlan, table: &mut LawTable) {
        loop {
            while let Some(event) = self.in_series.pop() {
                self.join_series(event, table);
            }
            let mut pairs = std::mem::take(&mut self.side_by_side);
            if pairs.is_empty() {
                return;
            }
            pairs.sort_unstable();
            pairs.dedup();
            for pair in pairs {
                self.join_parallel(pair, plan, table);
            }
        }
    }

    /// Returns the edge into and the edge out of an event, if there is one of each and they can be joined.
    fn through(&mut self, event: u32) -> Option<(u32, u32)> {
        if event <= END {
            return None;
        }
        let edges = &self.edges;
        self.ins[event as usize].retain(|&e| edges[e as usize].alive);
        self.outs[event as usize].retain(|&e| edges[e as usize].alive);
        let (&[before], &[after]) = (&self.ins[event as usize][..], &self.outs[event as usize][..]) else {
            return None;
        };
        let both = edges[before as usize].only.is_some() && edges[after as usize].only.is_some();
        (!both).then_some((before, after))
    }

    /// Joins the longest series of edges through `event`.
    fn join_series(&mut self, event: u32, table: &mut LawTable) {
        let Some((before, after)) = self.through(event) else { return };
        let mut only = self.edges[before as usize].only.clone().or_else(|| self.edges[after as usize].only.clone());
        let mut row = vec![before, after];
        let mut from = self.edges[before as usize].from;
        while let Some((edge, _)) = self.through(from) {
            let own = &self.edges[edge as usize];
            if own.only.is_some() && only.is_some() {
                break;
            }
            only = only.or_else(|| own.only.clone());
            from = own.from;
            row.push(edge);
        }
        let mut to = self.edges[after as usize].to;
        while let Some((_, edge)) = self.through(to) {
            let own = &self.edges[edge as usize];
            if own.only.is_some() && only.is_some() {
                break;
            }
            only = only.or_else(|| own.only.clone());
            to = own.to;
            row.push(edge);
        }
        let laws: Vec<LawId> = row.iter().map(|&e| self.edges[e as usize].law).collect();
        row.iter().for_each(|&e| self.edges[e as usize].alive = false);
        let law = table.sum(&laws);
        self.add(from, to, law, only);
    }

    /// Joins the edges between two events: branches of the same choice become alternatives, other edges a maximum.
    fn join_parallel(&mut self, pair: (u32, u32), plan: &SchedulePlan, table: &mut LawTable) {
        let edges = &self.edges;
        let Some(known) = self.pairs.get_mut(&pair) else { return };
        known.retain(|&e| edges[e as usize].alive);
        let known = std::mem::take(known);
        let mut latest = Vec::new();
        let mut choices: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &edge in &known {
            match &self.edges[edge as usize].only {
                None => latest.push(self.edges[edge as usize].law),
                Some(only) => choices.entry(only.choice).or_default().push(edge),
            }
            self.edges[edge as usize].alive = false;
        }
        let mut open = Vec::new();
        for (choice, some) in choices {
            let parts = some.iter().filter_map(|&e| {
                let edge = &self.edges[e as usize];
                edge.only.as_ref().map(|only| (only, edge.law))
            });
            let mut branches: Vec<u32> = parts.clone().flat_map(|(only, _)| only.branches.iter().copied()).collect();
            branches.sort_unstable();
            let probability = parts.clone().map(|(only, _)| only.probability).sum();
            let law = table.either(parts.map(|(only, law)| (only.probability, law)).collect());
            if branches.len() == plan.choices[choice as usize].cumulative.len() {
                latest.push(law);
            } else {
                open.push((law, Branches { choice, branches, probability }));
            }
        }
        if !latest.is_empty() {
            let law = table.last(&latest);
            self.add(pair.0, pair.1, law, None);
        }
        for (law, only) in open {
            self.add(pair.0, pair.1, law, Some(only));
        }
        // one edge of each kind remains, so there is nothing to join until another edge is added
        self.side_by_side.retain(|p| *p != pair);
    }

    /// Returns the distribution of the only remaining edge.
    fn whole(&self, program: &Program) -> Result<LawId, SeriesParallelError> {
        let mut left = self.edges.iter().filter(|e| e.alive);
        match (left.next(), left.next()) {
            (Some(Edge { from: START, to: END, law, only: None, .. }), None) => Ok(*law),
            _ => {
                let tangled = |&event: &usize| {
                    let alive = |edges: &[u32]| edges.iter().filter(|&&e| self.edges[e as usize].alive).count();
                    alive(&self.ins[event]) > 1
                };
                let event = (2..self.ins.len()).find(tangled).unwrap_or(END as usize);
                let transition = self.transition[event] as usize;
                Err(SeriesParallelError::NotSeriesParallel {
                    transition: program.transition_names[transition].to_owned(),
                })
            }
        }
    }
}

/// Returns the probability that `choice` selects transition `t`: its weight divided by the sum of weights.
fn share(program: &Program, plan: &SchedulePlan, choice: u32, t: u32) -> f64 {
    let weight = |t: u32| match &program.firing[t as usize] {
        Firing::Immediate { weight, .. } => weight.as_constant().unwrap_or(0.0),
        _ => 0.0,
    };
    let group = plan.choices[choice as usize].group as usize;
    weight(t) / program.groups.row(group).iter().map(|&t| weight(t)).sum::<f64>()
}

/// Returns the distribution of a transition's delay.
fn law(program: &Program, t: usize, table: &mut LawTable) -> Result<LawId, SeriesParallelError> {
    Ok(match &program.firing[t] {
        Firing::Immediate { .. } => table.zero(),
        Firing::Exponential { rate, .. } => {
            table.exponential(rate.as_constant().expect("a schedule has constant rates"))
        }
        Firing::General { law, .. } => table.delay(law).ok_or_else(|| SeriesParallelError::HeavyTail {
            transition: program.transition_names[t].to_owned(),
            law: law.name(),
        })?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::estimate::Measured;
    use crate::net::{Law, NetBuilder, PlaceId, Timing};

    fn add(b: &mut NetBuilder, id: &str, timing: Timing, from: &[PlaceId], to: &[PlaceId]) {
        let t = b.transition(id, timing);
        for &p in from {
            b.input(p, t, 1.0);
        }
        for &p in to {
            b.output(t, p, 1.0);
        }
    }

    fn time_of(b: NetBuilder, steps: usize) -> Result<CompletionTime, SeriesParallelError> {
        let settings = GridSettings { steps, ..GridSettings::default() };
        completion_time(&compile(&b.build().unwrap()).unwrap(), &settings)
    }

    fn holds(number: &Measured, exact: f64, widest: f64) {
        let [lower, upper] = number.ends().unwrap();
        assert!(lower <= exact + 1e-9 && exact <= upper + 1e-9, "{exact} is not in {number:?}");
        assert!(lower <= number.value && number.value <= upper, "{number:?}");
        assert!(upper - lower <= widest, "{number:?} is wider than {widest}");
    }

    #[test]
    fn stages_in_a_row_are_exact_at_the_grid_points() {
        let mut b = NetBuilder::new("");
        let mut place = b.place("p", 1);
        for (i, timing) in [
            Timing::exponential(1.0),
            Timing::general(Law::Deterministic { delay: 0.7 }),
            Timing::exponential(3.0),
            Timing::immediate(1.0, 1),
            Timing::exponential(10.0),
        ]
        .into_iter()
        .enumerate()
        {
            let next = b.place(format!("p{i}"), 0);
            add(&mut b, &format!("t{i}"), timing, &[place], &[next]);
            place = next;
        }
        let time = time_of(b, 1 << 12).unwrap();
        let rates = [1.0_f64, 3.0, 10.0];
        for t in [0.0, 0.5, 0.71, 1.0, 2.0, 9.0] {
            let weight =
                |i: usize| (0..3).filter(|&j| j != i).map(|j| rates[j] / (rates[j] - rates[i])).product::<f64>();
            let survival = |t: f64| (0..3).map(|i| weight(i) * (-rates[i] * t).exp()).sum::<f64>();
            let exact = if t < 0.7 { 0.0 } else { 1.0 - survival(t - 0.7) };
            holds(&time.cdf(t), exact, 2.0 * time.step());
        }
        holds(&time.mean(), 1.0 + 1.0 / 3.0 + 0.1 + 0.7, 3.0 * time.step());
    }

    /// A grid may omit 5% of an exponential time of 1 s. It ends near 5.75 s, where 0.3% of the probability remain; their mean is ten times
    /// the step, so the upper bound must include them. This test fails if the bound omits them.
    #[test]
    fn the_upper_bound_of_a_mean_counts_what_the_grid_leaves_out() {
        let mut b = NetBuilder::new("");
        let [p, q] = [("p", 1), ("q", 0)].map(|(id, n)| b.place(id, n));
        add(&mut b, "t", Timing::exponential(1.0), &[p], &[q]);
        let settings = GridSettings { steps: 1 << 14, beyond: 0.05 };
        let time = completion_time(&compile(&b.build().unwrap()).unwrap(), &settings).unwrap();
        assert!((-time.end()).exp() > 5.0 * time.step());
        holds(&time.mean(), 1.0, 0.1);
    }

    /// max(X, Y) plus one of two alternatives, as sums of exponentials.
    #[test]
    fn branches_meet_again_with_their_probabilities() {
        let mut b = NetBuilder::new("");
        let [start, left, right, l, r, slow, fast, chosen, end] =
            ["start", "left", "right", "l", "r", "slow", "fast", "chosen", "end"]
                .map(|id| b.place(id, u32::from(id == "start")));
        add(&mut b, "fork", Timing::immediate(1.0, 1), &[start], &[left, right]);
        add(&mut b, "x", Timing::exponential(1.0), &[left], &[l]);
        add(&mut b, "y", Timing::exponential(2.0), &[right], &[r]);
        let joined = b.place("joined", 0);
        // timed, so that it does not share a group with the choice
        add(&mut b, "join", Timing::exponential(5.0), &[l, r], &[joined]);
        add(&mut b, "choose_slow", Timing::immediate(1.0, 1), &[joined], &[slow]);
        add(&mut b, "choose_fast", Timing::immediate(3.0, 1), &[joined], &[fast]);
        add(&mut b, "be_slow", Timing::exponential(0.5), &[slow], &[chosen]);
        add(&mut b, "be_fast", Timing::general(Law::Uniform { low: 0.0, high: 1.0 }), &[fast], &[chosen]);
        add(&mut b, "finish", Timing::exponential(4.0), &[chosen], &[end]);
        let time = time_of(b, 1 << 14).unwrap();
        // E max = 1 + 1/2 - 1/3; 1/4 · 2 + 3/4 · 1/2; 1/4 and 1/5
        holds(&time.mean(), 1.0 + 0.5 - 1.0 / 3.0 + 0.5 + 0.375 + 0.25 + 0.2, 0.05);
        let variance = |mean: f64, square: f64| square - mean * mean;
        let last = variance(7.0 / 6.0, 2.0 * (1.0 + 0.25 - 1.0 / 9.0));
        let either = variance(0.875, 0.25 * 8.0 + 0.75 / 3.0);
        assert!((time.standard_deviation() - (last + either + 1.0 / 16.0 + 1.0 / 25.0).sqrt()).abs() < 1e-4);
    }

    /// A choice that ends early in one branch, and three parts that are not series of stages: their sum is computed on a coarse grid.
    #[test]
    fn rounds_of_side_by_side_tasks_add_up() {
        let mut b = NetBuilder::new("");
        let mut before = b.place("start", 1);
        for round in 0..3 {
            let [next, some] = ["next", "some"].map(|id| b.place(format!("{id}{round}"), 0));
            let go = b.transition(format!("go{round}"), Timing::immediate(1.0, 1));
            b.input(before, go, 1.0);
            b.output(go, some, 20.0);
            let mut all = Vec::new();
            for task in 0..20 {
                let [todo, done] = ["todo", "done"].map(|id| b.place(format!("{id}{round}_{task}"), 0));
                b.output(go, todo, 1.0);
                add(&mut b, &format!("t{round}_{task}"), Timing::exponential(1.0), &[todo], &[done]);
                all.push(done);
            }
            let join = b.transition(format!("join{round}"), Timing::immediate(1.0, 1));
            b.input(some, join, 20.0);
            for done in all {
                b.input(done, join, 1.0);
            }
            b.output(join, next, 1.0);
            before = next;
        }
        let time = time_of(b, 1 << 16).unwrap();
        let harmonic: f64 = (1..=20).map(|n| 1.0 / f64::from(n)).sum();
        let squares: f64 = (1..=20).map(|n| 1.0 / f64::from(n * n)).sum();
        holds(&time.mean(), 3.0 * harmonic, 0.1);
        assert!((time.standard_deviation() - (3.0 * squares).sqrt()).abs() < 1e-3);
        let mut before = [0.0; 2];
        for i in 0..400 {
            let at = time.cdf(f64::from(i) * 0.1);
            let [lower, upper] = at.ends().unwrap();
            assert!(lower <= at.value && at.value <= upper && upper - lower < 0.02, "{at:?}");
            assert!(lower >= before[0] - 1e-12 && upper >= before[1] - 1e-12, "{i}");
            before = [lower, upper];
        }
    }

    #[test]
    fn a_coarse_grid_still_holds_the_truth() {
        let b = || {
            let mut b = NetBuilder::new("");
            for i in 0..50 {
                let [todo, done] = [("todo", 1), ("done", 0)].map(|(id, n)| b.place(format!("{id}{i}"), n));
                let middle = b.place(format!("middle{i}"), 0);
                add(&mut b, &format!("a{i}"), Timing::exponential(1.0), &[todo], &[middle]);
                add(
                    &mut b,
                    &format!("b{i}"),
                    Timing::general(Law::Erlang { stages: 2, mean: 2.0 }),
                    &[middle],
                    &[done],
                );
            }
            b
        };
        let exact = |t: f64| (1.0 - (-t).exp() * (1.0 + t + t * t / 2.0)).powi(50);
        for steps in [16, 100, 1_000] {
            let time = time_of(b(), steps).unwrap();
            for i in 0..60 {
                let t = f64::from(i) * 0.37;
                let at = time.cdf(t);
                let [lower, upper] = at.ends().unwrap();
                assert!(lower <= exact(t) + 1e-12 && exact(t) <= upper + 1e-12, "{steps} {t}: {at:?}");
            }
        }
    }

    #[test]
    fn fast_stages_and_lone_fixed_delays_are_within_a_few_grid_steps() {
        let mut b = NetBuilder::new("");
        let [p, q, r] = [("p", 1), ("q", 0), ("r", 0)].map(|(id, n)| b.place(id, n));
        add(&mut b, "fast", Timing::exponential(1e9), &[p], &[q]);
        add(&mut b, "slow", Timing::exponential(1.0), &[q], &[r]);
        let time = time_of(b, 1 << 14).unwrap();
        holds(&time.cdf(1.0), 1.0 - f64::exp(-1.0), 3.0 * time.step());
        let mut b = NetBuilder::new("");
        let [p, q] = [("p", 1), ("q", 0)].map(|(id, n)| b.place(id, n));
        add(&mut b, "wait", Timing::general(Law::Deterministic { delay: 3.0 }), &[p], &[q]);
        let time = time_of(b, 1 << 10).unwrap();
        holds(&time.mean(), 3.0, 3.0 * time.step());
        holds(&time.quantile(0.5).unwrap(), 3.0, 3.0 * time.step());
        assert_eq!([2.9, 3.1].map(|t| time.cdf(t).ends()), [Some([0.0; 2]), Some([1.0; 2])]);
        let nothing = time_of(NetBuilder::new("nothing"), 64).unwrap();
        assert_eq!((nothing.mean().value, nothing.cdf(0.0).ends().unwrap()[1]), (0.0, 1.0));
    }

    #[test]
    fn nets_that_are_not_series_parallel_name_the_transition() {
        // a bridge: a and b start; c needs a; d needs both; e needs c and d
        let mut b = NetBuilder::new("");
        let [pa, pb, ac, ad, bd, ce, de, end] =
            ["pa", "pb", "ac", "ad", "bd", "ce", "de", "end"].map(|id| b.place(id, u32::from(id.starts_with('p'))));
        let t = || Timing::exponential(1.0);
        add(&mut b, "a", t(), &[pa], &[ac, ad]);
        add(&mut b, "b", t(), &[pb], &[bd]);
        add(&mut b, "c", t(), &[ac], &[ce]);
        add(&mut b, "d", t(), &[ad, bd], &[de]);
        add(&mut b, "e", t(), &[ce, de], &[end]);
        let error = time_of(b, 64).unwrap_err();
        assert!(
            matches!(&error, SeriesParallelError::NotSeriesParallel { transition } if transition == "a" || transition == "d" || transition == "e"),
            "{error}"
        );
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        add(&mut b, "loop", Timing::exponential(1.0), &[p], &[p]);
        let error = time_of(b, 64).unwrap_err();
        assert_eq!(error.to_string(), "the net is not a series-parallel schedule: transition `loop` is on a cycle");
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        add(&mut b, "tail", Timing::general(Law::Pareto { shape: 2.0, scale: 1.0 }), &[p], &[]);
        assert!(matches!(time_of(b, 64), Err(SeriesParallelError::HeavyTail { .. })));
    }
}
