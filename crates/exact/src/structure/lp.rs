//! Linear programs over the combined matrix, and integers that prove their solutions.
//!
//! A program is solved in floating point; its answer is then scaled to integers and checked exactly. Results
//! that pass are proofs; other results are marked as unproved.

use std::time::Duration;

use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, ResumeOptions, SolveOutcome, Variable};

use crate::structure::limits::{Budget, Cut};

/// Maximum time between two checks of the clock.
const SLICE: Duration = Duration::from_millis(50);

/// Result of a linear program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Solved {
    /// The optimal value, and a solution.
    Best(f64, Vec<f64>),
    /// There is no solution.
    Infeasible,
    /// No optimum exists.
    Unbounded,
}

/// Solves a program, in slices of time.
pub(super) fn solve(problem: &mut Problem, variables: &[Variable], budget: &Budget<'_>) -> Result<Solved, Cut> {
    budget.check()?;
    problem.set_time_limit(SLICE);
    let mut outcome = problem.solve();
    loop {
        match outcome {
            Ok(SolveOutcome::Solution(solution)) => {
                let values = variables.iter().map(|&v| solution.var_value(v)).collect();
                return Ok(Solved::Best(solution.objective(), values));
            }
            Ok(SolveOutcome::Interrupted(rest)) => {
                budget.check()?;
                let mut options = ResumeOptions::default();
                options.time_limit = Some(SLICE);
                outcome = SolveOutcome::Interrupted(rest).resume_with(options);
            }
            Err(Error::Infeasible) => return Ok(Solved::Infeasible),
            Err(Error::Unbounded) => return Ok(Solved::Unbounded),
            Err(error) => return Err(Cut::Numerical { reason: error.to_string() }),
        }
    }
}

/// Equations `sum over i of v_i * columns_i = 0` for vectors `v` that are not negative.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Per entry of `v`: its coefficients, each as equation and value.
    pub(super) columns: Vec<Vec<(u32, i64)>>,
    /// Number of equations.
    pub(super) equations: usize,
    /// The counted entries are `counted.0..counted.1`.
    pub(super) counted: (usize, usize),
}

/// Counted entries that can be positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Support {
    /// Per counted entry: true if it can be positive.
    pub(super) members: Vec<bool>,
    /// One vector in which every entry that can be positive is positive: integers that solve the equations
    /// exactly; none if rounding did not give a solution.
    pub(super) proof: Option<Vec<i128>>,
}

/// The largest set of counted entries that are all positive in a single solution.
///
/// ```text
/// max Σ u_i,   0 ≤ u_i ≤ 1,  u_i ≤ v_i,  A v = 0,  v ≥ 0
/// ```
///
/// Solutions form a cone, so at the optimum every `u_i` is 0 or 1.
pub(super) fn largest_support(system: &System, budget: &Budget<'_>) -> Result<Support, Cut> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let mut equations: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); system.equations];
    let mut variables = Vec::new();
    let is_counted = |i: usize| (system.counted.0..system.counted.1).contains(&i);
    for (i, column) in system.columns.iter().enumerate() {
        // a counted entry is the sum of a share of at most 1 and the rest
        let share = is_counted(i).then(|| problem.add_var(1.0, (0.0, 1.0)));
        let beyond = problem.add_var(0.0, (0.0, f64::INFINITY));
        for &(equation, value) in column {
            let terms = &mut equations[equation as usize];
            terms.extend(share.map(|share| (share, value as f64)));
            terms.push((beyond, value as f64));
        }
        variables.extend([share.unwrap_or(beyond), beyond]);
    }
    for terms in equations.iter().filter(|terms| !terms.is_empty()) {
        problem.add_constraint(terms.as_slice(), ComparisonOp::Eq, 0.0);
    }
    let values = match solve(&mut problem, &variables, budget)? {
        Solved::Best(_, values) => values,
        other => return Err(Cut::Numerical { reason: format!("{other:?} although 0 is a solution") }),
    };
    let total = |i: usize| values[2 * i + 1] + if is_counted(i) { values[2 * i] } else { 0.0 };
    let members: Vec<bool> = (system.counted.0..system.counted.1).map(|i| values[2 * i] > 0.5).collect();
    let vector: Vec<f64> = (0..system.columns.len()).map(total).collect();
    let holds = |v: &[i128]| {
        let positive = members.iter().zip(&v[system.counted.0..]).all(|(&member, &value)| member == (value > 0));
        positive && products(system, v).is_some_and(|sums| sums.iter().all(|&sum| sum == 0))
    };
    let proof = whole_multiple(&vector, holds);
    Ok(Support { members, proof })
}

/// The left sides of the equations, computed exactly.
fn products(system: &System, v: &[i128]) -> Option<Vec<i128>> {
    let mut sums = vec![0_i128; system.equations];
    for (column, &factor) in system.columns.iter().zip(v).filter(|(_, factor)| **factor != 0) {
        for &(equation, value) in column {
            let sum = &mut sums[equation as usize];
            *sum = sum.checked_add(factor.checked_mul(i128::from(value))?)?;
        }
    }
    Some(sums)
}

/// Maximum factor that is tried to obtain integers.
const MOST_PARTS: u32 = 2_520;
/// Maximum distance of a multiple from an integer, relative to the size of the multiple and the factor.
const NEARLY: f64 = 1e-6;

/// The smallest multiple of a vector that rounds to integers and satisfies `holds`.
pub(super) fn whole_multiple(vector: &[f64], holds: impl Fn(&[i128]) -> bool) -> Option<Vec<i128>> {
    let mut tries = 0;
    for factor in 1..=MOST_PARTS {
        let factor = f64::from(factor);
        let is_whole = |&value: &f64| {
            let scaled = value * factor;
            (scaled - scaled.round()).abs() <= NEARLY * factor.max(scaled.abs()) && scaled.abs() < 1e15
        };
        if !vector.iter().all(is_whole) {
            continue;
        }
        let whole: Vec<i128> = vector.iter().map(|&value| (value * factor).round() as i128).collect();
        if holds(&whole) {
            return Some(whole);
        }
        tries += 1;
        if tries == MOST_TRIES {
            break;
        }
    }
    None
}

/// Maximum number of apparently integral vectors that are not a solution.
const MOST_TRIES: u32 = 20;
