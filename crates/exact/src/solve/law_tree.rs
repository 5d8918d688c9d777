//! The distribution of a time composed of sums, maxima and alternatives of independent times.
//!
//! Contains a table in which equal distributions share one number, so that a thousand equal branches are
//! computed once. Parts have smaller numbers than the whole, so the table is evaluated from front to back,
//! without recursion.

use std::collections::HashMap;

use crate::net::Law as Delay;

/// Number of a distribution in its table.
pub(crate) type LawId = usize;

/// One exponential stage, or one of several with their probabilities: (probability, rate \[1/s\]).
pub(crate) type Stage = Vec<(f64, f64)>;

/// The distribution of a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Law {
    /// A fixed time \[s\] and stages one after the other.
    Phases {
        /// The fixed time.
        fixed: f64,
        /// The stages, in a canonical order: their order does not change the sum.
        stages: Vec<Stage>,
    },
    /// Uniform between two times \[s\].
    Uniform {
        /// Shortest.
        low: f64,
        /// Longest.
        high: f64,
    },
    /// A sum of independent times; at most one of the parts is [`Law::Phases`].
    Sum(Vec<LawId>),
    /// The maximum of independent times, each part with a multiplicity.
    Last(Vec<(LawId, u32)>),
    /// One of them, with these probabilities.
    Either(Vec<(f64, LawId)>),
}

/// Laws, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct LawTable {
    laws: Vec<Law>,
    known: HashMap<Vec<u64>, LawId>,
}

impl LawTable {
    pub(crate) fn law(&self, id: LawId) -> &Law {
        &self.laws[id]
    }

    /// A time of 0.
    pub(crate) fn zero(&mut self) -> LawId {
        self.add(Law::Phases { fixed: 0.0, stages: Vec::new() })
    }

    /// One exponential stage of this rate.
    pub(crate) fn exponential(&mut self, rate: f64) -> LawId {
        self.add(Law::Phases { fixed: 0.0, stages: vec![vec![(1.0, rate)]] })
    }

    /// The distribution of a delay; `None` for heavy tails or distributions without phases.
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
            _ => return None,
        })
    }

    /// The sum of independent times.
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

    /// The latest of independent times, all of them above or at 0.
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

    /// One of several times; the probabilities are scaled to sum to 1.
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

    /// The number of a distribution, which is added if it is new.
    fn add(&mut self, law: Law) -> LawId {
        let key = key(&law);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        self.laws.push(law);
        self.known.insert(key, self.laws.len() - 1);
        self.laws.len() - 1
    }

    /// The distributions that `root` is made of, itself last, rising.
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

    /// The direct parts of a distribution.
    fn children(&self, id: LawId) -> Vec<LawId> {
        match &self.laws[id] {
            Law::Sum(parts) => parts.clone(),
            Law::Last(parts) => parts.iter().map(|part| part.0).collect(),
            Law::Either(parts) => parts.iter().map(|part| part.1).collect(),
            Law::Phases { .. } | Law::Uniform { .. } => Vec::new(),
        }
    }

    /// The slowest rate of any stage \[1/s\]; infinite if there are no stages.
    pub(crate) fn slowest(&self, parts: &[LawId]) -> f64 {
        let stages = parts.iter().filter_map(|&id| match &self.laws[id] {
            Law::Phases { stages, .. } => Some(stages.iter().flatten().map(|stage| stage.1)),
            _ => None,
        });
        stages.flatten().fold(f64::INFINITY, f64::min)
    }

    /// A bound from above of `ln E[e^(θ T)]` of the last of `parts`, for θ \[1/s\] below the slowest rate; with no stage at
    /// all, of θ times the longest time.
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

    /// The longest time \[s\] of the maximum of `parts`, all of them without stages.
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

/// `ln Σ e^x` without overflow.
fn ln_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    most + terms.map(|x| (x - most).exp()).sum::<f64>().ln()
}

fn compare(a: &Stage, b: &Stage) -> std::cmp::Ordering {
    let flat = |stage: &Stage| stage.iter().flat_map(|(p, rate)| [rate.to_bits(), p.to_bits()]).collect::<Vec<_>>();
    flat(a).cmp(&flat(b))
}

/// Two distributions are made of the same parts if and only if their keys are equal.
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
