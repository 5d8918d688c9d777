//! A net with a parameter slightly below and slightly above its value, and the derivatives of delays by the parameter.
//!
//! Defines the data that the two estimators of derivatives need about a parameter, computed from three compiled nets by
//! central differences. The module does not know the name of the parameter or the origin of the nets.

use crate::compile::{Firing, Program};
use crate::net::Law;

/// A net with two values of a parameter around its original value.
#[derive(Clone, Debug)]
pub struct Shift {
    /// The net with the lower value.
    pub low: Program,
    /// The net with the higher value.
    pub high: Program,
    /// The higher value minus the lower one, > 0, in the parameter's unit.
    pub width: f64,
}

/// Reason why the estimators do not support a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShiftError {
    /// The parameter changes places, transitions, arcs or tokens.
    #[error("it changes the shape of the net, not only its delays")]
    Shape,
    /// The parameter changes the probabilities of immediate transitions.
    #[error("it changes weights of immediate transitions, not only delays")]
    Weights,
    /// The parameter changes more of a delay's distribution than its scale.
    #[error("it changes the shape of a delay's distribution, not only its mean")]
    Law,
    /// A rate that the parameter changes depends on the marking, or is 0.
    #[error("it changes a rate that depends on the marking or is 0")]
    Rate,
}

/// Relative difference below which parameters of two distributions count as equal.
const SAME: f64 = 1e-9;

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// Returns true if one distribution is a scaled version of the other.
fn same_shape(a: &Law, b: &Law) -> bool {
    let (from, to) = (a.mean(), b.mean());
    if from <= 0.0 || to <= 0.0 {
        return a == b;
    }
    match (a.scaled(to / from), b) {
        (Law::Deterministic { .. }, Law::Deterministic { .. }) => true,
        (Law::Uniform { low: a, high: b }, Law::Uniform { low, high }) => same(a, *low) && same(b, *high),
        (Law::Erlang { stages: a, .. }, Law::Erlang { stages, .. }) => a == *stages,
        (Law::Hyperexponential { branches: a }, Law::Hyperexponential { branches: b }) => {
            let close = a.iter().zip(b).all(|(a, b)| same(a.probability, b.probability) && same(a.mean, b.mean));
            a.len() == b.len() && close
        }
        (Law::LogNormal { cv: a, .. }, Law::LogNormal { cv, .. }) => same(a, *cv),
        (Law::Weibull { shape: a, .. }, Law::Weibull { shape, .. })
        | (Law::Pareto { shape: a, .. }, Law::Pareto { shape, .. })
        | (Law::Gamma { shape: a, .. }, Law::Gamma { shape, .. }) => same(a, *shape),
        (Law::Empirical { samples: a }, Law::Empirical { samples: b }) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b))
        }
        (
            Law::Deterministic { .. }
            | Law::Uniform { .. }
            | Law::Erlang { .. }
            | Law::Hyperexponential { .. }
            | Law::LogNormal { .. }
            | Law::Weibull { .. }
            | Law::Pareto { .. }
            | Law::Gamma { .. }
            | Law::Empirical { .. },
            _,
        ) => false,
    }
}

impl Shift {
    /// Checks that only delays of `base` depend on the parameter.
    ///
    /// # Errors
    ///
    /// [`ShiftError::Shape`], [`ShiftError::Weights`].
    pub fn check(&self, base: &Program) -> Result<(), ShiftError> {
        for shifted in [&self.low, &self.high] {
            if shifted.firing.len() != base.firing.len() {
                return Err(ShiftError::Shape);
            }
            for (own, other) in base.firing.iter().zip(&shifted.firing) {
                match (own, other) {
                    (Firing::Immediate { .. }, Firing::Immediate { .. }) if own != other => {
                        return Err(ShiftError::Weights);
                    }
                    _ if std::mem::discriminant(own) != std::mem::discriminant(other) => return Err(ShiftError::Shape),
                    _ => {}
                }
            }
            let as_base = Program { firing: base.firing.clone(), ..shifted.clone() };
            if as_base != *base {
                return Err(ShiftError::Shape);
            }
        }
        Ok(())
    }

    /// Transitions whose delays depend on the parameter.
    pub(in crate::sim) fn moved(&self) -> Vec<u32> {
        let pairs = self.low.firing.iter().zip(&self.high.firing);
        (0..).zip(pairs).filter(|(_, (low, high))| low != high).map(|(t, _)| t).collect()
    }

    /// Per transition: the derivative of the logarithm of its mean delay by the parameter, by a central difference; 0
    /// if the delay does not depend on the parameter.
    ///
    /// ```text
    /// d ln μ / dθ ≈ (μ(θ + h) − μ(θ − h)) / (2 h μ(θ)),   error of order h²
    /// ```
    ///
    /// # Errors
    ///
    /// [`ShiftError`].
    pub fn slopes(&self, base: &Program) -> Result<Vec<f64>, ShiftError> {
        self.check(base)?;
        let mut slopes = vec![0.0; base.transitions()];
        for t in self.moved() {
            let t = t as usize;
            let laws = [&base.firing[t], &self.low.firing[t], &self.high.firing[t]];
            if let [Firing::General { law, .. }, Firing::General { law: low, .. }, Firing::General { law: high, .. }] =
                laws
                && !(same_shape(law, low) && same_shape(law, high))
            {
                return Err(ShiftError::Law);
            }
            let [Some(own), Some(low), Some(high)] = laws.map(mean_of) else { return Err(ShiftError::Rate) };
            slopes[t] = (high - low) / (self.width * own);
        }
        Ok(slopes)
    }
}

/// The mean delay of a transition, if it is constant and not 0.
fn mean_of(firing: &Firing) -> Option<f64> {
    let mean = match firing {
        Firing::Immediate { .. } => return None,
        Firing::Exponential { rate, .. } => 1.0 / rate.as_constant()?,
        Firing::General { law, .. } => law.mean(),
    };
    (mean.is_finite() && mean > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{Branch, NetBuilder, Timing};

    fn one(timing: Timing) -> Program {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        let t = b.transition("t", timing);
        b.input(p, t, 1.0);
        compile(&b.build().unwrap()).unwrap()
    }

    fn slope(make: impl Fn(f64) -> Timing) -> Result<f64, ShiftError> {
        let shift = Shift { low: one(make(1.999)), high: one(make(2.001)), width: 0.002 };
        shift.slopes(&one(make(2.0))).map(|slopes| slopes[0])
    }

    #[test]
    fn slopes_of_means_are_logarithmic() {
        // mean 1 / θ: d ln μ / dθ = −1/θ
        assert!((slope(Timing::exponential).unwrap() + 0.5).abs() < 1e-6);
        let erlang = |theta: f64| Timing::general(Law::Erlang { stages: 3, mean: theta * theta });
        assert!((slope(erlang).unwrap() - 1.0).abs() < 1e-6);
        let branches = |theta: f64| {
            let branch = |probability, mean| Branch { probability, mean };
            Timing::general(Law::Hyperexponential { branches: vec![branch(0.25, theta), branch(0.75, 3.0 * theta)] })
        };
        assert!((slope(branches).unwrap() - 0.5).abs() < 1e-6);
        assert_eq!(slope(|_| Timing::exponential(1.0)), Ok(0.0));
    }

    #[test]
    fn parameters_that_are_not_scales_are_refused() {
        let shape = |theta: f64| Timing::general(Law::Weibull { shape: theta, scale: 1.0 });
        assert_eq!(slope(shape), Err(ShiftError::Law));
        assert_eq!(slope(|theta| Timing::immediate(theta, 1)), Err(ShiftError::Weights));
        let kind = |theta: f64| if theta > 2.0 { Timing::immediate(1.0, 1) } else { Timing::exponential(1.0) };
        assert_eq!(slope(kind), Err(ShiftError::Shape));
    }
}
