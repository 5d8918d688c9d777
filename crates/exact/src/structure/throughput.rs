//! Upper bounds of throughputs from the structure and the rates, without exploring states.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

use crate::compile::{Firing, Program, Term};
use crate::net::Servers;
use crate::structure::incidence::Incidence;
use crate::structure::limits::{Budget, Cut};
use crate::structure::lp::{Solved, solve};

/// An upper bound of the throughput of a transition in the long run.
#[derive(Clone, Debug, PartialEq)]
pub struct ThroughputBound {
    /// The transition.
    pub transition: u32,
    /// Firings per second \[1/s\]; none if the structure implies no bound.
    pub most: Option<f64>,
}

/// The bounds, in the order of the timed transitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughputs {
    /// Bounds of timed transitions, up to the point where the analysis ended.
    pub bounds: Vec<ThroughputBound>,
    /// Reason why some bounds are missing.
    pub cut: Option<Cut>,
}

/// Upper bounds of the mean firings per second of each timed transition over a long time.
///
/// ```text
/// max x_t  such that  m = M0 + C s,  m, s, x ≥ 0,  C x ≥ 0  (= 0 for bounded places),
///                     x_t ≤ rate_t m_p / weight for every input p of t,  x_t ≤ rate_t servers_t,
///                     x_t / weight_t = x_u / weight_u  for immediate transitions with equal inputs
/// ```
///
/// with mean tokens `m` and throughputs `x`. The relations come from operational analysis, and hold for every run over
/// a long time. The bounds hold up to the rounding of floating point; they are not always reached, but are exact for strongly
/// connected marked graphs with fixed delays. Rates that depend on the marking, and delays that are not exponential, add no
/// restriction.
/// Source: \[Chiola1993\].
///
/// `bounded` is true for each row with bounded tokens; `repeats`, if known, is true for each transition that can fire
/// forever; the bound of any other transition is 0.
pub fn throughput_bounds(
    incidence: &Incidence,
    program: &Program,
    bounded: &[bool],
    repeats: Option<&[bool]>,
    budget: &Budget<'_>,
) -> Throughputs {
    let mut bounds = Vec::new();
    for &t in &program.timed {
        if repeats.is_some_and(|repeats| !repeats[t as usize]) {
            bounds.push(ThroughputBound { transition: t, most: Some(0.0) });
            continue;
        }
        match bound(incidence, program, bounded, t, budget) {
            Ok(most) => bounds.push(ThroughputBound { transition: t, most }),
            Err(cut) => return Throughputs { bounds, cut: Some(cut) },
        }
    }
    Throughputs { bounds, cut: None }
}

fn bound(
    incidence: &Incidence,
    program: &Program,
    bounded: &[bool],
    t: u32,
    budget: &Budget<'_>,
) -> Result<Option<f64>, Cut> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let free = (0.0, f64::INFINITY);
    let rows = incidence.rows.len();
    let means: Vec<Variable> = (0..rows).map(|_| problem.add_var(0.0, free)).collect();
    let transitions = incidence.transitions.len();
    let firings: Vec<Variable> = (0..transitions).map(|_| problem.add_var(0.0, free)).collect();
    let rates: Vec<Variable> =
        (0..transitions).map(|u| problem.add_var(f64::from(u8::from(u == t as usize)), free)).collect();
    add_balance(&mut problem, incidence, bounded, [&means, &firings, &rates]);
    for (u, &rate) in rates.iter().enumerate() {
        add_service(&mut problem, incidence, program, u, &means, rate);
    }
    add_choices(&mut problem, incidence, program, &rates);
    match solve(&mut problem, &[], budget)? {
        Solved::Best(value, _) => Ok(Some(value.max(0.0))),
        Solved::Unbounded => Ok(None),
        Solved::Infeasible => {
            Err(Cut::Numerical { reason: "no mean token counts satisfy the marking equation".to_owned() })
        }
    }
}

/// Adds the conditions that the mean marking satisfies the marking equation, and that the flow into each bounded place
/// equals the flow out of it.
fn add_balance(problem: &mut Problem, incidence: &Incidence, bounded: &[bool], variables: [&[Variable]; 3]) {
    let [means, firings, rates] = variables;
    let open = incidence.rows_with_open_change();
    let mut marking: Vec<Vec<(Variable, f64)>> = means.iter().map(|&mean| vec![(mean, 1.0)]).collect();
    let mut flow: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); means.len()];
    for t in 0..incidence.transitions.len() {
        for change in incidence.combined.row(t) {
            let (row, by) = (change.counter as usize, f64::from(change.by));
            marking[row].push((firings[t], -by));
            flow[row].push((rates[t], by));
        }
    }
    for row in (0..means.len()).filter(|&row| !open[row]) {
        problem.add_constraint(marking[row].as_slice(), ComparisonOp::Eq, f64::from(incidence.initial[row]));
        if !flow[row].is_empty() {
            let operator = if bounded[row] { ComparisonOp::Eq } else { ComparisonOp::Ge };
            problem.add_constraint(flow[row].as_slice(), operator, 0.0);
        }
    }
}

/// Adds the condition that a transition fires no more often than its enablings are served.
fn add_service(
    problem: &mut Problem,
    incidence: &Incidence,
    program: &Program,
    t: usize,
    means: &[Variable],
    throughput: Variable,
) {
    let rows = incidence.rows_of_net;
    let needs = || incidence.backward.row(t).iter().chain(incidence.tests.row(t));
    match &program.firing[t] {
        Firing::Exponential { rate, servers } => {
            let Some(rate) = rate.as_constant() else { return };
            let most = match servers {
                Servers::Single => Some(1.0),
                Servers::Limited(most) => Some(f64::from(*most)),
                // without inputs, a transition is enabled once
                Servers::Infinite => incidence.backward.row(t).is_empty().then_some(1.0),
            };
            if let Some(most) = most {
                problem.add_constraint([(throughput, 1.0)], ComparisonOp::Le, rate * most);
            }
            // each enabling needs separate tokens of all inputs, but all enablings share the tokens of tests and complementary places
            let is_room = |term: &&Term| (term.counter as usize) >= rows;
            let own = incidence.backward.row(t).iter().filter(|term| !is_room(term)).map(|term| (term, Some(1.0)));
            let rooms = incidence.backward.row(t).iter().filter(is_room);
            let shared = rooms.chain(incidence.tests.row(t)).map(|term| (term, most));
            for (term, times) in own.chain(shared) {
                let Some(times) = times else { continue };
                let share = rate * times / f64::from(term.weight);
                let terms = [(throughput, 1.0), (means[term.counter as usize], -share)];
                problem.add_constraint(terms, ComparisonOp::Le, 0.0);
            }
        }
        Firing::Immediate { weight, .. } => {
            // a place that is the only condition of an immediate transition loses its tokens before time passes
            let open = incidence.open.iter().any(|entry| entry.transition as usize == t);
            let alone = incidence.inhibition.row(t).is_empty() && program.rooms.row(t).is_empty() && !open;
            let fires = weight.as_constant().is_some_and(|weight| weight > 0.0);
            let mut needs = needs();
            if let (Some(term), None, true, true) = (needs.next(), needs.next(), alone, fires) {
                let most = f64::from(term.weight) - 1.0;
                problem.add_constraint([(means[term.counter as usize], 1.0)], ComparisonOp::Le, most);
            }
        }
        Firing::General { .. } => {}
    }
}

/// Adds the condition that immediate transitions that are always enabled together fire in proportion to their weights.
fn add_choices(problem: &mut Problem, incidence: &Incidence, program: &Program, rates: &[Variable]) {
    let key = |t: usize| {
        let Firing::Immediate { weight, priority } = &program.firing[t] else { return None };
        let weight = weight.as_constant().filter(|&weight| weight > 0.0)?;
        let plain = incidence.inhibition.row(t).is_empty() && program.rooms.row(t).is_empty() && program.is_static(t);
        let needs: Vec<_> = incidence.backward.row(t).iter().map(|term| (term.counter, term.weight)).collect();
        let tests: Vec<_> = incidence.tests.row(t).iter().map(|term| (term.counter, term.weight)).collect();
        (plain && !needs.is_empty()).then_some((needs, tests, *priority, weight))
    };
    let mut keyed: Vec<_> = (0..rates.len()).filter_map(|t| key(t).map(|key| (key, t))).collect();
    keyed.sort_by(|((a, b, c, _), t), ((x, y, z, _), u)| (a, b, c, t).cmp(&(x, y, z, u)));
    for pair in keyed.windows(2) {
        let [((a, b, c, weight), t), ((x, y, z, other), u)] = pair else { continue };
        if (a, b, c) == (x, y, z) {
            let terms = [(rates[*t], *other), (rates[*u], -*weight)];
            problem.add_constraint(terms, ComparisonOp::Eq, 0.0);
        }
    }
}
