//! Delay distributions: their parameters, means and validity. Sampling is in `sim::Sampler`.

use std::fmt;

use tailspn_common::number::brief;

/// The distribution of a delay that is not exponential. All parameters are constants; times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always `delay`.
    Deterministic {
        /// The delay \[s\], >= 0.
        delay: f64,
    },
    /// Uniform between `low` and `high`.
    Uniform {
        /// Shortest delay \[s\], >= 0.
        low: f64,
        /// Longest delay \[s\], >= `low`.
        high: f64,
    },
    /// Sum of `stages` exponential stages, with total mean `mean`.
    Erlang {
        /// Number of stages, 1 to 1,000.
        stages: u32,
        /// Mean of the whole delay \[s\], > 0.
        mean: f64,
    },
    /// A random branch, chosen by the probabilities; then exponential with the mean of the branch.
    Hyperexponential {
        /// The branches; their probabilities sum to 1.
        branches: Vec<Branch>,
    },
    /// The logarithm of the delay is normal; `mean` and `cv` describe the delay itself.
    LogNormal {
        /// Mean of the delay \[s\], > 0.
        mean: f64,
        /// Standard deviation divided by mean, > 0.
        cv: f64,
    },
    /// Weibull with survival `exp(-(t/scale)^shape)`.
    Weibull {
        /// Shape, > 0; below 1 the tail is heavy, 1 is exponential.
        shape: f64,
        /// Scale \[s\], > 0.
        scale: f64,
    },
    /// Shifted Pareto (Lomax) with survival `(1 + t/scale)^-shape`.
    Pareto {
        /// Tail index, > 1 so that the mean exists.
        shape: f64,
        /// Scale \[s\], > 0.
        scale: f64,
    },
    /// Gamma with density proportional to `t^(shape - 1) exp(-t/scale)`.
    Gamma {
        /// Shape, in [`GAMMA_SHAPES`]; the coefficient of variation is `1/sqrt(shape)`, and 1 is exponential.
        shape: f64,
        /// Scale \[s\], > 0.
        scale: f64,
    },
    /// One of `samples`, each equally likely.
    Empirical {
        /// Observed delays \[s\], each >= 0; at least one.
        samples: Vec<f64>,
    },
}

/// One branch of a hyperexponential distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// Probability of the branch, 0 to 1.
    pub probability: f64,
    /// Mean of the branch's exponential delay \[s\], > 0.
    pub mean: f64,
}

/// Maximum number of stages of an Erlang distribution.
pub const MAX_ERLANG_STAGES: u32 = 1_000;

/// Shapes of a gamma distribution: coefficients of variation from 5 down to 0.01.
pub const GAMMA_SHAPES: std::ops::RangeInclusive<f64> = 0.04..=10_000.0;

impl Law {
    /// The distribution's name, in lower case.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deterministic { .. } => "deterministic",
            Self::Uniform { .. } => "uniform",
            Self::Erlang { .. } => "erlang",
            Self::Hyperexponential { .. } => "hyperexponential",
            Self::LogNormal { .. } => "lognormal",
            Self::Weibull { .. } => "weibull",
            Self::Pareto { .. } => "pareto",
            Self::Gamma { .. } => "gamma",
            Self::Empirical { .. } => "empirical",
        }
    }

    /// The mean delay in seconds. Exact.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Deterministic { delay } => *delay,
            Self::Uniform { low, high } => f64::midpoint(*low, *high),
            Self::Erlang { mean, .. } | Self::LogNormal { mean, .. } => *mean,
            Self::Hyperexponential { branches } => branches.iter().map(|b| b.probability * b.mean).sum(),
            Self::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Self::Pareto { shape, scale } => scale / (shape - 1.0),
            Self::Gamma { shape, scale } => shape * scale,
            Self::Empirical { samples } => samples.iter().sum::<f64>() / samples.len() as f64,
        }
    }

    /// The same distribution with every delay multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut law = self.clone();
        match &mut law {
            Self::Deterministic { delay } => *delay *= factor,
            Self::Uniform { low, high } => {
                *low *= factor;
                *high *= factor;
            }
            Self::Erlang { mean, .. } | Self::LogNormal { mean, .. } => *mean *= factor,
            Self::Hyperexponential { branches } => {
                for branch in branches {
                    branch.mean *= factor;
                }
            }
            Self::Weibull { scale, .. } | Self::Pareto { scale, .. } | Self::Gamma { scale, .. } => *scale *= factor,
            Self::Empirical { samples } => {
                for sample in samples {
                    *sample *= factor;
                }
            }
        }
        law
    }

    /// The problem with the parameters, or `None`.
    pub fn problem(&self) -> Option<LawProblem> {
        let check = |what, value: f64, least: Bound| {
            let fine = value.is_finite()
                && match least {
                    Bound::AtLeast(low) => value >= low,
                    Bound::Above(low) => value > low,
                };
            (!fine).then_some(LawProblem::OutOfRange { what, value, least })
        };
        match self {
            Self::Deterministic { delay } => check("delay", *delay, Bound::AtLeast(0.0)),
            Self::Uniform { low, high } => {
                check("low", *low, Bound::AtLeast(0.0)).or_else(|| check("high", *high, Bound::AtLeast(*low)))
            }
            Self::Erlang { stages, mean } => {
                if *stages == 0 || *stages > MAX_ERLANG_STAGES {
                    return Some(LawProblem::Stages { got: *stages });
                }
                check("mean", *mean, Bound::Above(0.0))
            }
            Self::Hyperexponential { branches } => {
                let total: f64 = branches.iter().map(|b| b.probability).sum();
                if (total - 1.0).abs() > 1e-9 {
                    return Some(LawProblem::BranchSum { total });
                }
                branches.iter().find_map(|b| {
                    check("probability", b.probability, Bound::AtLeast(0.0))
                        .or_else(|| check("mean", b.mean, Bound::Above(0.0)))
                })
            }
            Self::LogNormal { mean, cv } => {
                check("mean", *mean, Bound::Above(0.0)).or_else(|| check("cv", *cv, Bound::Above(0.0)))
            }
            Self::Weibull { shape, scale } => {
                check("shape", *shape, Bound::Above(0.0)).or_else(|| check("scale", *scale, Bound::Above(0.0)))
            }
            Self::Pareto { shape, scale } => {
                check("shape", *shape, Bound::Above(1.0)).or_else(|| check("scale", *scale, Bound::Above(0.0)))
            }
            Self::Gamma { shape, scale } => {
                if !GAMMA_SHAPES.contains(shape) {
                    return Some(LawProblem::GammaShape { got: *shape });
                }
                check("scale", *scale, Bound::Above(0.0))
            }
            Self::Empirical { samples } => {
                if samples.is_empty() {
                    return Some(LawProblem::NoSamples);
                }
                samples.iter().find_map(|s| check("sample", *s, Bound::AtLeast(0.0)))
            }
        }
    }
}

/// The lower bound of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The bound itself is a valid value.
    AtLeast(f64),
    /// The bound itself is not a valid value.
    Above(f64),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(low) => write!(f, "at least {low}"),
            Self::Above(low) => write!(f, "above {low}"),
        }
    }
}

/// Reason why a delay distribution is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LawProblem {
    /// A parameter is out of its range; the range is in the doc of its field.
    #[error("{what} is {}; it must be finite and {least}", brief(*.value))]
    OutOfRange {
        /// The parameter's name.
        what: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Lower bound of valid values.
        least: Bound,
    },
    /// An Erlang distribution with no stage or too many.
    #[error("{got} Erlang stages; there must be 1 to {MAX_ERLANG_STAGES}")]
    Stages {
        /// The requested number of stages.
        got: u32,
    },
    /// A gamma distribution with a shape outside [`GAMMA_SHAPES`].
    #[error("shape is {}; it must be {} to {} for a gamma distribution", brief(*.got), GAMMA_SHAPES.start(), GAMMA_SHAPES.end())]
    GammaShape {
        /// The requested shape.
        got: f64,
    },
    /// The probabilities of a hyperexponential distribution do not sum to 1.
    #[error("the branch probabilities sum to {}, not to 1", brief(*.total))]
    BranchSum {
        /// Sum of the probabilities.
        total: f64,
    },
    /// An empirical distribution without samples.
    #[error("an empirical distribution needs at least one sample")]
    NoSamples,
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn means_match_hand_computed_values() {
        assert_relative_eq!(Law::Uniform { low: 2.0, high: 4.0 }.mean(), 3.0);
        assert_relative_eq!(Law::Pareto { shape: 3.0, scale: 4.0 }.mean(), 2.0);
        // Γ(1.5) = sqrt(π)/2, Γ(3) = 2
        let half_pi = std::f64::consts::PI.sqrt() / 2.0;
        assert_relative_eq!(Law::Weibull { shape: 2.0, scale: 1.0 }.mean(), half_pi, max_relative = 1e-13);
        assert_relative_eq!(Law::Weibull { shape: 0.5, scale: 3.0 }.mean(), 6.0, max_relative = 1e-13);
    }

    #[test]
    fn scaling_a_law_scales_its_mean() {
        let laws = [
            Law::Deterministic { delay: 2.0 },
            Law::Uniform { low: 1.0, high: 5.0 },
            Law::Erlang { stages: 3, mean: 2.0 },
            Law::LogNormal { mean: 2.0, cv: 0.5 },
            Law::Weibull { shape: 0.7, scale: 2.0 },
            Law::Pareto { shape: 2.5, scale: 2.0 },
            Law::Gamma { shape: 0.4, scale: 2.0 },
            Law::Empirical { samples: vec![1.0, 2.0, 6.0] },
        ];
        for law in laws {
            assert_relative_eq!(law.scaled(3.0).mean(), 3.0 * law.mean(), max_relative = 1e-12);
            assert_eq!(law.problem(), None);
        }
    }

    #[test]
    fn bad_parameters_are_named() {
        let problem = Law::Pareto { shape: 1.0, scale: 1.0 }.problem().unwrap();
        assert_eq!(problem.to_string(), "shape is 1; it must be finite and above 1");
        assert!(Law::Empirical { samples: vec![] }.problem().is_some());
        let problem = Law::Gamma { shape: 0.001, scale: 1.0 }.problem().unwrap();
        assert_eq!(problem.to_string(), "shape is 0.001; it must be 0.04 to 10000 for a gamma distribution");
        assert!(Law::Erlang { stages: 0, mean: 1.0 }.problem().is_some());
        assert!(Law::Uniform { low: 2.0, high: 1.0 }.problem().is_some());
    }
}
