//! The distribution of a time composed of sums, maxima and alternatives of independent times.
//!
//! Contains a table in which equal distributions have the same number, so that a thousand equal branches are
//! computed only once. Parts have smaller numbers than the whole, so the table is evaluated from front to back,
//! without recursion.

use std::collections::HashMap;

use crate::net::Law as Delay;

/// Number of a distribution in its table.
pub(crate) type LawId = usize;

/// One exponential stage, or a random choice of one of several: pairs of probability and rate \[1/s\].
pub(crate) type Stage = Vec<(f64, f64)>;

/// The distribution of a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Law {
    /// A fixed time \[s\] followed by stages in series.
    Phases {
        /// The fixed time.
        fixed: f64,
        /// The stages, sorted in a canonical order, which does not change the sum.
        stages: Vec<Stage>,
    },
    /// Uniform between two times \[s\].
    Uniform {
        /// The shortest time.
        low: f64,
        /// The longest time.
        high: f64,
    },
    /// A sum of independent times; at most one of the parts is [`Law::Phases`].
    Sum(Vec<LawId>),
    /// The maximum of independent times, each part with a multiplicity.
    Last(Vec<(LawId, u32)>),
    /// A random choice of one part: pairs of probability and part.
    Either(Vec<(f64, LawId)>),
}

/// A table of distributions, each stored once.
#[derive(Clone, Debug, Default)]
pub(crate) struct LawTable {
    laws: Vec<Law>,
    known: HashMap<Vec<u64>, LawId>,
}

impl LawTable {
    pub(crate) fn law(&self, id: LawId) -> &Law {
        &self.laws[id]
    }

    /// Returns the distribution of a time of 0.
    pub(crate) fn zero(&mut self) -> LawId {
        self.add(Law::Phases { fixed: 0.0, stages: Vec::new() })
    }

    /// Returns one exponential stage with the given rate.
    pub(crate) fn exponential(&mut self, rate: f64) -> LawId {
        self.add(Law::Phases { fixed: 0.0, stages: vec![vec![(1.0, rate)]] })
    }

    /// Returns the distribution of a delay; `None` for heavy tails or distributions without phases.
    pub(crate) fn delay(&mut self, delay: &Delay) -> Option<LawId> {
        let phases = |stages| Law::Phases { fixed: 0.0, stages };
        Some(match delay {
            Delay::Deterministic { delay } => self.add(Law::Phases { fixed: *delay, stages: Vec::new() }),
            Delay::Uniform { low, high } if high - low <= 0.0 => {
                self.add(Law::Phases { fixed: *low, stages: Vec::new() })
            }
            Delay::Uniform { low, high } => self.add(Law::Uniform { low: *low, high: *high }),
            Delay::Erlang { stages, mean } => {
                self.add(phases(vec![vec![(1.0, f64::from(*stages) / mean)]; *stages as usize]))
            }
            Delay::Hyperexponential { branches } => {
                let some = branches.iter().filter(|b| b.probability > 0.0);
                self.add(phases(vec![some.map(|b| (b.probability, 1.0 / b.mean)).collect()]))
            }
            Delay::Empirical { samples } => {
                let share = 1.0 / samples.len() as f64;
                let parts = samples.iter().map(|&fixed| (share, self.add(Law::Phases { fixed, stages: Vec::new() })));
                let parts = parts.collect();
                self.either(parts)
            }
            Delay::LogNormal { .. } | Delay::Weibull { .. } | Delay::Pareto { .. } | Delay::Gamma { .. } => {
                return None;
            }
        })
    }

    /// Returns the sum of independent times.
    pub(crate) fn sum(&mut self, all: &[LawId]) -> LawId {
        let (mut fixed, mut stages, mut others) = (0.0, Vec::new(), Vec::new());
        for &id in all {
            let parts = match &self.laws[id] {
                Law::Sum(parts) => parts.clone(),
                _ => vec![id],
            };
            for part in parts {
                match &self.laws[part] {
                    Law::Phases { fixed: f, stages: s } => {
                        fixed += f;
                        stages.extend(s.iter().cloned());
                    }
                    _ => others.push(part),
                }
            }
        }
        if fixed > 0.0 || !stages.is_empty() || others.is_empty() {
            stages.sort_by(|a: &Stage, b| compare(a, b));
            others.push(self.add(Law::Phases { fixed, stages }));
        }
        others.sort_unstable();
        if let [only] = others[..] { only } else { self.add(Law::Sum(others)) }
    }

    /// Returns the maximum of independent non-negative times.
    pub(crate) fn last(&mut self, all: &[LawId]) -> LawId {
        let mut parts: Vec<(LawId, u32)> = Vec::with_capacity(all.len());
        for &id in all {
            match &self.laws[id] {
                Law::Last(inner) => parts.extend(inner.iter().copied()),
                Law::Phases { fixed, stages } if *fixed == 0.0 && stages.is_empty() => {}
                _ => parts.push((id, 1)),
            }
        }
        parts.sort_unstable();
        parts.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 = first.1.saturating_add(later.1);
            }
            same
        });
        match parts[..] {
            [] => self.zero(),
            [(only, 1)] => only,
            _ => self.add(Law::Last(parts)),
        }
    }

    /// Returns a random choice of one of several times; the probabilities are scaled to sum to 1.
    pub(crate) fn either(&mut self, mut parts: Vec<(f64, LawId)>) -> LawId {
        parts.sort_by_key(|part| part.1);
        parts.dedup_by(|later, first| {
            let same = later.1 == first.1;
            if same {
                first.0 += later.0;
            }
            same
        });
        let total: f64 = parts.iter().map(|part| part.0).sum();
        if let [(_, only)] = parts[..] {
            return only;
        }
        parts.iter_mut().for_each(|part| part.0 /= total);
        self.add(Law::Either(parts))
    }

    /// Returns the number of a distribution, and adds the distribution if it is new.
    fn add(&mut self, law: Law) -> LawId {
        let key = key(&law);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        self.laws.push(law);
        self.known.insert(key, self.laws.len() - 1);
        self.laws.len() - 1
    }

    /// Returns all distributions that `root` is composed of, in ascending order; `root` itself is the last.
    pub(crate) fn parts_of(&self, root: LawId) -> Vec<LawId> {
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for id in (0..=root).rev() {
            if needed[id] {
                self.children(id).into_iter().for_each(|child| needed[child] = true);
            }
        }
        (0..=root).filter(|&id| needed[id]).collect()
    }

    /// Returns the direct parts of a distribution.
    fn children(&self, id: LawId) -> Vec<LawId> {
        match &self.laws[id] {
            Law::Sum(parts) => parts.clone(),
            Law::Last(parts) => parts.iter().map(|part| part.0).collect(),
            Law::Either(parts) => parts.iter().map(|part| part.1).collect(),
            Law::Phases { .. } | Law::Uniform { .. } => Vec::new(),
        }
    }

    /// Returns the slowest rate of any stage \[1/s\]; infinite if there are no stages.
    pub(crate) fn slowest(&self, parts: &[LawId]) -> f64 {
        let stages = parts.iter().filter_map(|&id| match &self.laws[id] {
            Law::Phases { stages, .. } => Some(stages.iter().flatten().map(|stage| stage.1)),
            _ => None,
        });
        stages.flatten().fold(f64::INFINITY, f64::min)
    }

    /// Returns an upper bound of `ln E[e^(θ T)]`, where T is the time of the last of `parts` and θ \[1/s\] is below the slowest
    /// rate.
    pub(crate) fn ln_moment(&self, parts: &[LawId], theta: f64) -> f64 {
        let mut value: HashMap<LawId, f64> = HashMap::with_capacity(parts.len());
        let mut root = 0.0;
        for &id in parts {
            root = match &self.laws[id] {
                Law::Phases { fixed, stages } => {
                    let stage = |s: &Stage| s.iter().map(|(p, rate)| p / (1.0 - theta / rate)).sum::<f64>().ln();
                    theta * fixed + stages.iter().map(stage).sum::<f64>()
                }
                Law::Uniform { high, .. } => theta * high,
                Law::Sum(parts) => parts.iter().map(|part| value[part]).sum(),
                Law::Last(parts) => ln_sum(parts.iter().map(|(part, count)| f64::from(*count).ln() + value[part])),
                Law::Either(parts) => ln_sum(parts.iter().map(|(p, part)| p.ln() + value[part])),
            };
            value.insert(id, root);
        }
        root
    }

    /// Returns the longest possible time \[s\] of the last of `parts`, none of which has stages.
    pub(crate) fn longest(&self, parts: &[LawId]) -> f64 {
        let mut value: HashMap<LawId, f64> = HashMap::with_capacity(parts.len());
        let mut root = 0.0;
        for &id in parts {
            root = match &self.laws[id] {
                Law::Phases { fixed, .. } => *fixed,
                Law::Uniform { high, .. } => *high,
                Law::Sum(parts) => parts.iter().map(|part| value[part]).sum(),
                Law::Last(_) | Law::Either(_) => self.children(id).iter().map(|part| value[part]).fold(0.0, f64::max),
            };
            value.insert(id, root);
        }
        root
    }
}

/// Returns `ln Σ e^x` without overflow.
fn ln_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    most + terms.map(|x| (x - most).exp()).sum::<f64>().ln()
}

fn compare(a: &Stage, b: &Stage) -> std::cmp::Ordering {
    let flat = |stage: &Stage| stage.iter().flat_map(|(p, rate)| [rate.to_bits(), p.to_bits()]).collect::<Vec<_>>();
    flat(a).cmp(&flat(b))
}

/// Returns a key that is equal for two distributions if and only if they are composed of the same parts.
fn key(law: &Law) -> Vec<u64> {
    match law {
        Law::Phases { fixed, stages } => {
            let stage = |s: &Stage| {
                let own: Vec<u64> = s.iter().flat_map(|(p, rate)| [p.to_bits(), rate.to_bits()]).collect();
                std::iter::once(own.len() as u64).chain(own).collect::<Vec<_>>()
            };
            [0, fixed.to_bits()].into_iter().chain(stages.iter().flat_map(stage)).collect()
        }
        Law::Uniform { low, high } => vec![1, low.to_bits(), high.to_bits()],
        Law::Sum(parts) => std::iter::once(2).chain(parts.iter().map(|&id| id as u64)).collect(),
        Law::Last(parts) => {
            std::iter::once(3).chain(parts.iter().flat_map(|&(id, n)| [id as u64, u64::from(n)])).collect()
        }
        Law::Either(parts) => {
            std::iter::once(4).chain(parts.iter().flat_map(|&(p, id)| [p.to_bits(), id as u64])).collect()
        }
    }
}
