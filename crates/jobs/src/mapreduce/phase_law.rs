//! The shape of a phase's delay in a plan: a distribution without its mean, which the formulas supply.
//!
//! Defines the ten shapes and their translation to a delay distribution with a given mean. No sampling.

use serde::{Deserialize, Serialize};

use crate::net::{Branch, GAMMA_SHAPES, Law, MAX_ERLANG_STAGES};
use crate::plan::problem::short;

/// Maximum coefficient of variation (standard deviation divided by mean): beyond it, no number of replications reveals the mean.
const MAX_CV: f64 = 100.0;

/// The shape of a phase's delay. The phase's mean scales it, so every shape keeps the mean.
///
/// In a plan: `"exponential"`, `"deterministic"`, `{ erlang = 4 }`, `{ lognormal = { cv = 0.5 } }`, ….
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum PhaseLaw {
    /// Exponential, the distribution of the paper and the only distribution that PIPE supports \[PESARO15, Eq. 3\].
    /// Default.
    #[default]
    Exponential,
    /// Always the mean.
    Deterministic,
    /// Sum of this many equal exponential stages, 1 to 1,000.
    Erlang(u32),
    /// Mixture of two exponentials with balanced means.
    Hyperexponential {
        /// Coefficient of variation (standard deviation divided by mean), above 1 and at most 100. With a larger
        /// coefficient, no feasible number of replications reveals the mean.
        cv: f64,
    },
    /// The logarithm of the delay is normal.
    Lognormal {
        /// Coefficient of variation (standard deviation divided by mean), above 0 and at most 100.
        cv: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape, above 0. A shape below 1 gives a heavy tail; 1 is the exponential distribution.
        shape: f64,
    },
    /// Shifted Pareto (Lomax).
    Pareto {
        /// Tail index, above 1 so that the mean exists.
        shape: f64,
    },
    /// Gamma.
    Gamma {
        /// Coefficient of variation (standard deviation divided by mean), 0.01 to 5. 1 is the exponential distribution; `1/sqrt(k)` is a
        /// sum of k equal exponential stages.
        cv: f64,
    },
    /// Uniform between `(1 - spread)` and `(1 + spread)` times the mean.
    Uniform {
        /// Half-width divided by the mean, 0 to 1.
        spread: f64,
    },
    /// Delays from a trace, each equally likely, scaled to the mean of the phase.
    Empirical {
        /// The delays in any unit, because they are scaled; each >= 0, not all 0.
        samples: Vec<f64>,
    },
}

/// Kind of a distribution in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LawKind {
    /// `exponential`.
    Exponential,
    /// `deterministic`.
    Deterministic,
    /// `erlang`.
    Erlang,
    /// `hyperexponential`.
    Hyperexponential,
    /// `lognormal`.
    Lognormal,
    /// `weibull`.
    Weibull,
    /// `pareto`.
    Pareto,
    /// `gamma`.
    Gamma,
    /// `uniform`.
    Uniform,
    /// `empirical`.
    Empirical,
}

impl LawKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Exponential,
        Self::Deterministic,
        Self::Erlang,
        Self::Hyperexponential,
        Self::Lognormal,
        Self::Weibull,
        Self::Pareto,
        Self::Gamma,
        Self::Uniform,
        Self::Empirical,
    ];

    /// Returns the name in plans and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Deterministic => "deterministic",
            Self::Erlang => "erlang",
            Self::Hyperexponential => "hyperexponential",
            Self::Lognormal => "lognormal",
            Self::Weibull => "weibull",
            Self::Pareto => "pareto",
            Self::Gamma => "gamma",
            Self::Uniform => "uniform",
            Self::Empirical => "empirical",
        }
    }
}

/// Error for a parameter of a shape that is outside its allowed range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {}; it must be {needs}", short(*value))]
pub struct PhaseLawProblem {
    /// The number's name.
    pub what: &'static str,
    /// Value.
    pub value: f64,
    /// The range that is allowed.
    pub needs: &'static str,
}

impl PhaseLaw {
    /// Returns the kind of the distribution.
    pub fn kind(&self) -> LawKind {
        match self {
            Self::Exponential => LawKind::Exponential,
            Self::Deterministic => LawKind::Deterministic,
            Self::Erlang(_) => LawKind::Erlang,
            Self::Hyperexponential { .. } => LawKind::Hyperexponential,
            Self::Lognormal { .. } => LawKind::Lognormal,
            Self::Weibull { .. } => LawKind::Weibull,
            Self::Pareto { .. } => LawKind::Pareto,
            Self::Gamma { .. } => LawKind::Gamma,
            Self::Uniform { .. } => LawKind::Uniform,
            Self::Empirical { .. } => LawKind::Empirical,
        }
    }

    /// Returns the first number that is out of range.
    pub fn problem(&self) -> Option<PhaseLawProblem> {
        let check = |fine: bool, what, value, needs| (!fine).then_some(PhaseLawProblem { what, value, needs });
        match self {
            Self::Exponential | Self::Deterministic => None,
            Self::Erlang(stages) => {
                let fine = (1..=MAX_ERLANG_STAGES).contains(stages);
                check(fine, "erlang", f64::from(*stages), "1 to 1000 stages")
            }
            Self::Hyperexponential { cv } => check(*cv > 1.0 && *cv <= MAX_CV, "cv", *cv, "above 1 and at most 100"),
            Self::Lognormal { cv } => check(*cv > 0.0 && *cv <= MAX_CV, "cv", *cv, "above 0 and at most 100"),
            Self::Weibull { shape } => {
                check(shape.is_finite() && *shape >= MIN_WEIBULL_SHAPE, "shape", *shape, "finite and at least 0.01")
            }
            Self::Pareto { shape } => check(shape.is_finite() && *shape > 1.0, "shape", *shape, "finite and above 1"),
            Self::Gamma { cv } => check((0.01..=5.0).contains(cv), "cv", *cv, "0.01 to 5"),
            Self::Uniform { spread } => check((0.0..=1.0).contains(spread), "spread", *spread, "between 0 and 1"),
            Self::Empirical { samples } if samples.is_empty() => {
                check(false, "the number of samples", 0.0, "at least 1")
            }
            Self::Empirical { samples } => {
                let bad = samples.iter().find(|s| !(s.is_finite() && **s >= 0.0));
                bad.map(|s| PhaseLawProblem { what: "sample", value: *s, needs: "finite and at least 0" })
                    .or_else(|| check(samples.iter().sum::<f64>() > 0.0, "sum of the samples", 0.0, "above 0"))
            }
        }
    }

    /// Returns the notation in a plan of a shape that needs parameters; `None` for the name of any other shape, or an unknown name.
    pub(crate) fn written(kind: &str) -> Option<&'static str> {
        Some(match kind {
            "erlang" => "{ erlang = 4 }",
            "hyperexponential" => "{ hyperexponential = { cv = 2.0 } }",
            "lognormal" => "{ lognormal = { cv = 0.5 } }",
            "weibull" => "{ weibull = { shape = 0.7 } }",
            "pareto" => "{ pareto = { shape = 2.5 } }",
            "gamma" => "{ gamma = { cv = 0.5 } }",
            "uniform" => "{ uniform = { spread = 0.2 } }",
            "empirical" => "{ empirical = { samples = [1.0, 1.2, 3.1] } }",
            _ => return None,
        })
    }

    /// Returns the delay distribution of this shape with mean `mean_s` > 0 seconds; `None` is the exponential one.
    ///
    /// ```text
    /// hyperexponential, balanced means:  p = (1 + √((c²-1)/(c²+1)))/2,  means m/(2p) and m/(2(1-p))
    /// Weibull:  scale = m / Γ(1 + 1/shape)        Pareto:  scale = m (shape - 1)
    /// gamma:  shape = 1/c²,  scale = m c²
    /// ```
    ///
    /// Exact: the distribution's mean is `mean_s`, its coefficient of variation is the shape's. Derived in docs/accuracy.md. The numbers of the
    /// shape must be in range ([`PhaseLaw::problem`]).
    ///
    /// # Examples
    ///
    /// ```
    /// use tailspn_jobs::mapreduce::PhaseLaw;
    ///
    /// let law = PhaseLaw::Pareto { shape: 3.0 }.with_mean(5.0).unwrap();
    /// assert!((law.mean() - 5.0).abs() < 1e-12);
    /// ```
    pub fn with_mean(&self, mean_s: f64) -> Option<Law> {
        Some(match self {
            Self::Exponential => return None,
            Self::Deterministic => Law::Deterministic { delay: mean_s },
            Self::Erlang(stages) => Law::Erlang { stages: *stages, mean: mean_s },
            Self::Hyperexponential { cv } => {
                let square = cv * cv;
                let p = 0.5 * (1.0 + ((square - 1.0) / (square + 1.0)).sqrt());
                let branch = |probability: f64| Branch { probability, mean: mean_s / (2.0 * probability) };
                Law::Hyperexponential { branches: vec![branch(p), branch(1.0 - p)] }
            }
            Self::Lognormal { cv } => Law::LogNormal { mean: mean_s, cv: *cv },
            Self::Weibull { shape } => Law::Weibull { shape: *shape, scale: mean_s / libm::tgamma(1.0 + 1.0 / shape) },
            Self::Pareto { shape } => Law::Pareto { shape: *shape, scale: mean_s * (shape - 1.0) },
            Self::Gamma { cv } => Law::Gamma { shape: gamma_shape(*cv), scale: mean_s / gamma_shape(*cv) },
            Self::Uniform { spread } => Law::Uniform { low: mean_s * (1.0 - spread), high: mean_s * (1.0 + spread) },
            Self::Empirical { samples } => {
                let factor = mean_s * samples.len() as f64 / samples.iter().sum::<f64>();
                Law::Empirical { samples: samples.iter().map(|s| s * factor).collect() }
            }
        })
    }
}

/// Returns the shape of a gamma distribution with a coefficient of variation.
pub(in crate::mapreduce) fn gamma_shape(cv: f64) -> f64 {
    // the ends of the range of `cv` are ends of the range of shapes, whatever the rounding
    (cv * cv).recip().clamp(*GAMMA_SHAPES.start(), *GAMMA_SHAPES.end())
}

/// Minimum Weibull shape: below it Γ(1 + 1/shape) is near the limit of the number range.
const MIN_WEIBULL_SHAPE: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn every_shape_keeps_the_mean() {
        let shapes = [
            PhaseLaw::Deterministic,
            PhaseLaw::Erlang(4),
            PhaseLaw::Hyperexponential { cv: 2.0 },
            PhaseLaw::Lognormal { cv: 0.5 },
            PhaseLaw::Weibull { shape: 0.7 },
            PhaseLaw::Pareto { shape: 2.5 },
            PhaseLaw::Gamma { cv: 0.01 },
            PhaseLaw::Gamma { cv: 5.0 },
            PhaseLaw::Uniform { spread: 0.25 },
            PhaseLaw::Empirical { samples: vec![1.0, 2.0, 6.0] },
        ];
        for shape in shapes {
            assert_eq!(shape.problem(), None);
            let law = shape.with_mean(7.0).unwrap();
            assert_relative_eq!(law.mean(), 7.0, max_relative = 1e-12);
            assert_eq!(law.problem(), None);
        }
        assert_eq!(PhaseLaw::Exponential.with_mean(7.0), None);
    }

    #[test]
    fn hyperexponential_has_the_stated_variation() {
        // E[T²] = 2 Σ p_i m_i²; cv = 2 and mean 1: E[T²] = 5
        let Some(Law::Hyperexponential { branches }) = (PhaseLaw::Hyperexponential { cv: 2.0 }).with_mean(1.0) else {
            panic!("a hyperexponential shape gives a hyperexponential law")
        };
        let square: f64 = branches.iter().map(|b| 2.0 * b.probability * b.mean * b.mean).sum();
        assert_relative_eq!(square, 5.0, max_relative = 1e-12);
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let bad = [
            PhaseLaw::Erlang(0),
            PhaseLaw::Hyperexponential { cv: 1.0 },
            PhaseLaw::Lognormal { cv: f64::NAN },
            PhaseLaw::Weibull { shape: 0.0 },
            PhaseLaw::Gamma { cv: 11.0 },
            PhaseLaw::Pareto { shape: 1.0 },
            PhaseLaw::Uniform { spread: 1.5 },
            PhaseLaw::Empirical { samples: vec![] },
            PhaseLaw::Empirical { samples: vec![1.0, -1.0] },
        ];
        assert!(bad.iter().all(|law| law.problem().is_some()));
        let none = bad[7].problem().unwrap().to_string();
        assert_eq!(none, "the number of samples is 0; it must be at least 1");
        assert_eq!(bad[5].problem().unwrap().to_string(), "shape is 1; it must be finite and above 1");
    }
}
