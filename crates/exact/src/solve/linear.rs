//! Choice of the method for a part of a chain (elimination, sweeps or BiCGSTAB), and the outcome of the solution.
//!
//! Defines the settings that all stationary questions share. Every solution is checked: its residual is computed from
//! the solution and the chain, independently of the method.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::solve::components::Components;
use crate::solve::elimination::{Budget, Elimination};
use crate::solve::iterate::{Iterated, accelerated};
use crate::solve::krylov::System;
use crate::solve::rates::Rates;
use crate::solve::sweep::{self, Stop, Sweeps, repeat};
use crate::watch::{Unwatched, Watch};

/// Solver for systems of linear equations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinearMethod {
    /// Elimination if it takes a fraction of a second, otherwise Gauss-Seidel, with BiCGSTAB if Gauss-Seidel is too slow. If
    /// neither converges, elimination with a budget of seconds.
    #[default]
    Auto,
    /// Substitution: each state follows from states that are already solved.
    Substitution,
    /// Elimination without subtraction: exact to rounding, whatever the rates \[Grassmann1985\].
    Elimination,
    /// Gauss-Seidel sweeps, for millions of states; the error is an estimate \[Stewart1994\].
    GaussSeidel,
    /// Gauss-Seidel sweeps that alternate with steps of BiCGSTAB \[Vorst1992\], if sweeps alone converge
    /// too slowly. The error is also an estimate, and it is absolute: a value smaller than the error possibly has no
    /// correct digit.
    BiCgStab,
}

impl LinearMethod {
    /// Returns the name of the method for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "automatic choice",
            Self::Substitution => "substitution",
            Self::Elimination => "elimination (GTH)",
            Self::GaussSeidel => "Gauss-Seidel",
            Self::BiCgStab => "Gauss-Seidel and BiCGSTAB",
        }
    }
}

/// Settings of steady states, absorption and moments of passage times.
#[derive(Clone, Copy, Debug)]
pub struct LinearSettings<'a> {
    /// The method. Default [`LinearMethod::Auto`].
    pub method: LinearMethod,
    /// Estimated relative error at which sweeps stop. Default 1e-12. If BiCGSTAB is used and rounding prevents this accuracy,
    /// an error of up to 1e-9 is accepted and reported.
    pub tolerance: f64,
    /// Maximum number of sweeps. Default 20,000.
    pub sweeps: u32,
    /// Source of stop requests. Default none.
    pub watch: &'a dyn Watch,
}

impl Default for LinearSettings<'_> {
    fn default() -> Self {
        Self::watched(&Unwatched)
    }
}

impl<'a> LinearSettings<'a> {
    /// Returns the default settings with a watch, which may stop the work.
    pub fn watched(watch: &'a dyn Watch) -> Self {
        Self { method: LinearMethod::Auto, tolerance: 1e-12, sweeps: 20_000, watch }
    }
}

/// Method of a solution, and its accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearOutcome {
    /// The method that was used; if parts of the chain used different methods, the method listed last in
    /// [`LinearMethod`].
    pub method: LinearMethod,
    /// Number of Gauss-Seidel sweeps, plus the allowed steps of BiCGSTAB; 0 for the direct methods.
    pub sweeps: u32,
    /// Largest imbalance of a state's flow (or of a system's equation), as a share of its inflow.
    pub residual: f64,
    /// Relative error of the solution: estimated for sweeps, about n times 1e-16 for elimination.
    pub error: f64,
}

impl LinearOutcome {
    /// The outcome if there was nothing to solve.
    pub(crate) const NONE: Self = Self { method: LinearMethod::Substitution, sweeps: 0, residual: 0.0, error: 0.0 };

    /// Combines two outcomes: takes the worse of each number.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            method: self.method.max(other.method),
            sweeps: self.sweeps.max(other.sweeps),
            residual: self.residual.max(other.residual),
            error: self.error.max(other.error),
        }
    }
}

/// Reason why a system of linear equations was not solved.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// The sweeps converge too slowly, because the chain is stiff or its parts are weakly coupled. Possible remedies: more sweeps,
    /// a larger error, or elimination.
    #[error(
        "after {sweeps} sweeps over {states} states the error is still about {error:e}, above {tolerance:e}; \
         allow more sweeps or a larger error, or use elimination"
    )]
    NotConverged {
        /// States of the part.
        states: usize,
        /// Number of sweeps.
        sweeps: u32,
        /// Estimated relative error.
        error: f64,
        /// The requested tolerance.
        tolerance: f64,
    },
    /// Groups of states that are so weakly coupled that sweeps cannot determine the time in each group; elimination can.
    #[error(
        "the {states} states contain {groups} almost separate groups (fewer than one step in 1e9 leads from group to group), so Gauss-Seidel cannot determine the probability of each group; use elimination"
    )]
    WeaklyCoupled {
        /// States of the part.
        states: usize,
        /// Number of groups, which are nearly separate recurrent classes.
        groups: usize,
    },
    /// The requested direct method needs too much time or memory; Gauss-Seidel needs less.
    #[error("{} of {states} states needs too much time or memory; use Gauss-Seidel", .method.name())]
    TooLarge {
        /// The method.
        method: LinearMethod,
        /// States of the part.
        states: usize,
    },
    /// The watch of the settings has stopped the work.
    #[error("stopped before the equations of {states} states were solved")]
    Stopped {
        /// States of the part.
        states: usize,
    },
    /// Numbers exceeded the range of floating point, because rates differ by more than 1e300.
    #[error("the solution of {states} states is not finite: rates differ by a factor of more than 1e300")]
    NotFinite {
        /// States of the part.
        states: usize,
    },
}

/// A solution, and its method.
type Solved = (Vec<f64>, LinearOutcome);

/// A part of a chain, prepared to be solved repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) rates: Cow<'a, Rates>,
    /// The rates by the state that they enter.
    incoming: Rates,
    /// Rate of leaving each state, to states inside and outside the part.
    pub(crate) exit: Vec<f64>,
    /// Rate of leaving the part, per state.
    slack: Vec<f64>,
    /// The factors of an elimination, if that is the method.
    factors: Option<Elimination>,
    /// The factors of a slower elimination, computed if no other method converges; none if that elimination exceeds its budget.
    last_resort: OnceLock<Option<Elimination>>,
    settings: LinearSettings<'a>,
}

impl<'a> Part<'a> {
    /// Prepares the part with the given rates among its states and the rates `slack` out of it; without slack, the part
    /// must be irreducible.
    pub(crate) fn new(
        rates: Cow<'a, Rates>,
        slack: Vec<f64>,
        settings: LinearSettings<'a>,
    ) -> Result<Self, LinearError> {
        let states = rates.rows();
        let exit: Vec<f64> = (0..states).map(|i| slack[i] + rates.row(i).map(|(_, q)| q).sum::<f64>()).collect();
        let too_large = LinearError::TooLarge { method: settings.method, states };
        let factors = match settings.method {
            LinearMethod::Auto => Elimination::of(&rates, &slack, Budget::LITTLE, settings.watch),
            LinearMethod::Elimination | LinearMethod::Substitution => {
                let factors = Elimination::of(&rates, &slack, Budget::MUCH, settings.watch);
                let stopped = factors.is_none() && settings.watch.stopped();
                Some(factors.ok_or(if stopped { LinearError::Stopped { states } } else { too_large })?)
            }
            LinearMethod::GaussSeidel | LinearMethod::BiCgStab => None,
        };
        Ok(Self { incoming: rates.transposed(), rates, exit, slack, factors, last_resort: OnceLock::new(), settings })
    }

    /// Solves by the chosen method. If sweeps were chosen automatically and do not converge, solves by elimination.
    fn solve(&self, by: impl Fn(Option<&Elimination>) -> Result<Solved, LinearError>) -> Result<Solved, LinearError> {
        let found = by(self.factors.as_ref());
        if self.settings.method == LinearMethod::Auto
            && let Err(LinearError::NotConverged { .. } | LinearError::WeaklyCoupled { .. }) = found
        {
            let factors = || Elimination::of(&self.rates, &self.slack, Budget::SOME, self.settings.watch);
            let factors = self.last_resort.get_or_init(factors);
            return factors.as_ref().map_or(found, |factors| by(Some(factors)));
        }
        found
    }

    /// Returns the steady state of an irreducible part.
    pub(crate) fn steady(&self) -> Result<Solved, LinearError> {
        self.solve(|factors| self.steady_by(factors))
    }

    fn steady_by(&self, factors: Option<&Elimination>) -> Result<Solved, LinearError> {
        let states = self.rates.rows();
        let (x, iterated) = match factors {
            Some(factors) => (factors.steady(), None),
            None => {
                self.check_coupling()?;
                let mut x = vec![1.0 / states as f64; states];
                let sweep = |x: &mut [f64], step: f64| sweep::steady(&self.incoming, &self.exit, x, step);
                let iterated = self.iterate(&self.incoming, &vec![0.0; states], &mut x, sweep);
                (x, Some(iterated))
            }
        };
        let flow: f64 = x.iter().zip(&self.exit).map(|(v, d)| v * d).sum();
        let wrong: f64 = (0..states).map(|j| (self.incoming.flow(j, &x) - x[j] * self.exit[j]).abs()).sum();
        let residual = if flow > 0.0 { wrong / flow } else { 0.0 };
        let outcome = self.outcome(&x, iterated, residual)?;
        Ok((x, outcome))
    }

    /// Solves the system of `rows` for `b` by sweeps and, if they are slow, by BiCGSTAB.
    fn iterate(
        &self,
        rows: &Rates,
        b: &[f64],
        x: &mut [f64],
        mut sweep: impl FnMut(&mut [f64], f64) -> f64,
    ) -> Iterated {
        let LinearSettings { tolerance, sweeps, watch, .. } = self.settings;
        let stop = Stop { tolerance, sweeps, foresees: false, watch };
        if self.settings.method == LinearMethod::GaussSeidel {
            return Iterated { sweeps: repeat(stop, 1.0, |step| sweep(x, step)), accelerated: false };
        }
        let system = System { rows, diagonal: &self.exit };
        accelerated(x, stop, sweep, |x, steps| {
            let finite = system.improve(b, x, steps, watch);
            // values are negative only because of rounding
            x.iter_mut().for_each(|v| *v = v.max(0.0));
            finite
        })
    }

    /// Checks that the part stays connected without the rates that are too small for sweeps.
    fn check_coupling(&self) -> Result<(), LinearError> {
        let states = self.rates.rows();
        // a weak rate counts as one that stays
        let strong = |state: usize, k: usize| {
            let (to, rate) = self.rates.entry(state, k);
            if rate >= self.exit[state] * WEAK { to as usize } else { state }
        };
        let degree = |state: usize| self.rates.states(state).len();
        let found = Components::of_graph(states, degree, strong);
        let mut closed = vec![true; found.count()];
        for state in 0..states {
            let own = found.of[state];
            closed[own as usize] &= (0..degree(state)).all(|k| found.of[strong(state, k)] == own);
        }
        let groups = closed.into_iter().filter(|&closed| closed).count();
        if groups > 1 { Err(LinearError::WeaklyCoupled { states, groups }) } else { Ok(()) }
    }

    /// Solves `(D − R) x = b` for non-negative b.
    pub(crate) fn right(&self, b: &[f64]) -> Result<Solved, LinearError> {
        self.solve(|factors| self.right_by(factors, b))
    }

    fn right_by(&self, factors: Option<&Elimination>, b: &[f64]) -> Result<Solved, LinearError> {
        let mut x = b.to_vec();
        let iterated = match factors {
            Some(factors) => {
                factors.solve_right(&mut x);
                None
            }
            None => {
                x.fill(0.0);
                let sweep = |x: &mut [f64], _: f64| sweep::right(&self.rates, &self.exit, b, x);
                Some(self.iterate(&self.rates, b, &mut x, sweep))
            }
        };
        let balance = |i: usize| {
            let ahead: f64 = self.rates.row(i).map(|(to, q)| q * x[to as usize]).sum();
            unbalanced(x[i] * self.exit[i], b[i] + ahead)
        };
        let residual = (0..x.len()).map(balance).fold(0.0, f64::max);
        let outcome = self.outcome(&x, iterated, residual)?;
        Ok((x, outcome))
    }

    /// Solves `y (D − R) = c` for non-negative c.
    pub(crate) fn left(&self, c: &[f64]) -> Result<Solved, LinearError> {
        self.solve(|factors| self.left_by(factors, c))
    }

    fn left_by(&self, factors: Option<&Elimination>, c: &[f64]) -> Result<Solved, LinearError> {
        let mut y = c.to_vec();
        let iterated = match factors {
            Some(factors) => {
                factors.solve_left(&mut y);
                None
            }
            None => {
                y.fill(0.0);
                let sweep = |y: &mut [f64], _: f64| sweep::left(&self.incoming, &self.exit, c, y);
                Some(self.iterate(&self.incoming, c, &mut y, sweep))
            }
        };
        let balance = |j: usize| unbalanced(y[j] * self.exit[j], c[j] + self.incoming.flow(j, &y));
        let residual = (0..y.len()).map(balance).fold(0.0, f64::max);
        let outcome = self.outcome(&y, iterated, residual)?;
        Ok((y, outcome))
    }

    fn outcome(&self, x: &[f64], iterated: Option<Iterated>, residual: f64) -> Result<LinearOutcome, LinearError> {
        let states = x.len();
        if !x.iter().all(|v| v.is_finite()) {
            return Err(LinearError::NotFinite { states });
        }
        let rounding = f64::EPSILON * states as f64;
        let Some(Iterated { sweeps, accelerated }) = iterated else {
            return Ok(LinearOutcome { method: LinearMethod::Elimination, sweeps: 0, residual, error: rounding });
        };
        let method = if accelerated { LinearMethod::BiCgStab } else { LinearMethod::GaussSeidel };
        let Sweeps { count: sweeps, error, converged, .. } = sweeps;
        if converged {
            Ok(LinearOutcome { method, sweeps, residual, error })
        } else if self.settings.watch.stopped() {
            Err(LinearError::Stopped { states })
        } else {
            Err(LinearError::NotConverged { states, sweeps, error, tolerance: self.settings.tolerance })
        }
    }
}

/// Share of a state's exit rate below which a rate hardly affects the changes between sweeps.
const WEAK: f64 = 1e-9;

/// Returns the relative difference of the two sides of an equation with non-negative terms.
fn unbalanced(left: f64, right: f64) -> f64 {
    let size = left.max(right);
    if size > 0.0 { (left - right).abs() / size } else { 0.0 }
}
