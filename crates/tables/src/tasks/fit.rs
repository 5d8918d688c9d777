//! The mean time of a task by stage, wave, size of the input and number of executors, fitted to recorded runs.
//!
//! With x the data of a task relative to a reference, k the tasks of the stage after the first of each executor, by executor, and c the share of executors for
//! which the program is new, the logarithm of the mean time is log(B + A) + κ:
//!
//! * B = e^b (1 − r + r x^p): r is the part of the work that grows with the data; for the first tasks of a stage that reads a shuffle times e^m.
//! * A is what is paid besides: e^F to start an executor (in a stage that reads a shuffle, c e^C more), e^H for the first task of a stage on an executor (in one
//!   that reads the input, c e^D more), e^W k^−0.6 for the others, whose code gets warm.
//! * κ is the contention: a curve over the number of executors, one for each wave and kind of stage.
//!
//! b, ρ = logit r, H, F and W belong to a stage, D, p, m and C to the program, κ to the cluster. They are the most probable ones, given the prior of the cluster; outliers
//! count linearly.

use tailspn_common::least_squares::{Miss, minimum};
use tailspn_common::order::median;

use crate::tasks::cluster::{Cluster, FREE_KNOTS, Growth, OF_PROGRAM, OF_STAGE};
use crate::tasks::recorded::RecordedTasks;
use crate::tasks::schedule::WAVES;
use crate::tasks::stages::{Setting, Stages};

/// Exponent by which code gets warm.
const WARM: f64 = 0.6;
/// Coefficients of variation of the times of tasks by kind of stage (source or not) and wave, and the error of the model itself.
const VARIATION: [[f64; WAVES]; 2] = [[0.25, 0.35, 0.25], [0.35, 0.4, 0.6]];
const MODEL: f64 = 0.06;

/// The values of a fit: those of the stages, then of the program, then of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    all: Vec<f64>,
    stages: usize,
}

/// A mean time that was seen.
struct Seen {
    setting: usize,
    stage: usize,
    wave: usize,
    /// Logarithm of the mean \[ln ms\].
    log: f64,
    sd: f64,
}

/// A fitted program.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) stages: Stages,
    pub(crate) values: Values,
    /// Times of tasks divided by the mean of their run, by stage and wave.
    pub(crate) ratios: Vec<[Vec<f64>; WAVES]>,
}

impl Values {
    pub(crate) fn stage(&self, stage: usize) -> [f64; OF_STAGE] {
        std::array::from_fn(|value| self.all[stage * OF_STAGE + value])
    }

    pub(crate) fn program(&self) -> &[f64] {
        &self.all[self.stages * OF_STAGE..][..OF_PROGRAM]
    }

    pub(crate) fn contention(&self) -> &[f64] {
        &self.all[self.stages * OF_STAGE + OF_PROGRAM..]
    }

    /// Returns the part of the work of a stage that grows with its data.
    fn growing(&self, stage: usize) -> f64 {
        1.0 / (1.0 + (-self.stage(stage)[1]).exp())
    }

    /// Returns the logarithm of the mean time of a task \[ln ms\].
    fn log_mean(&self, kind: usize, stage: usize, wave: usize, at: &Setting) -> f64 {
        let parts = self.parts(kind, stage, wave, at);
        let curve = &self.contention()[(WAVES * kind + wave) * FREE_KNOTS..][..FREE_KNOTS];
        let contention: f64 = curve.iter().zip(at.knots[stage]).map(|(value, weight)| value * weight).sum();
        (parts.work + parts.own + parts.new).ln() + contention
    }

    /// Returns the parts of the mean time of a task.
    fn parts(&self, kind: usize, stage: usize, wave: usize, at: &Setting) -> Parts {
        let [level, _, first, fresh, warm] = self.stage(stage);
        let program = self.program();
        let [cold, power, shuffled, new] = [0, 1, 2, 3].map(|value| program[value]);
        let growing = self.growing(stage);
        let is_shuffle = kind == 1;
        let data = at.data[stage].powf(power);
        let level_ms = level.exp() * if is_shuffle && wave < 2 { shuffled.exp() } else { 1.0 };
        let (own, new) = match wave {
            0 => (fresh.exp(), if is_shuffle { at.cold[stage] * new.exp() } else { 0.0 }),
            1 => (first.exp(), if is_shuffle { 0.0 } else { at.cold[stage] * cold.exp() }),
            _ => (warm.exp() * at.later[stage].powf(-WARM), 0.0),
        };
        Parts { work: level_ms * (1.0 - growing + growing * data), level_ms, data, growing, own, new }
    }

    /// Returns the derivatives of the logarithm of the mean time by the values that it depends on.
    fn slopes(&self, kind: usize, stage: usize, wave: usize, at: &Setting) -> Vec<(usize, f64)> {
        let Parts { work, level_ms, data, growing, own, new } = self.parts(kind, stage, wave, at);
        let sum = work + own + new;
        let (of_stage, of_program) = (stage * OF_STAGE, self.stages * OF_STAGE);
        let is_shuffle = kind == 1;
        let mut slopes = vec![
            (of_stage, work / sum),
            (of_stage + 1, level_ms * (data - 1.0) * growing * (1.0 - growing) / sum),
            (of_stage + [3, 2, 4][wave], own / sum),
            (of_program + 1, level_ms * growing * data * at.data[stage].ln() / sum),
        ];
        if is_shuffle && wave < 2 {
            slopes.push((of_program + 2, work / sum));
        }
        if new > 0.0 {
            slopes.push((of_program + if is_shuffle { 3 } else { 0 }, new / sum));
        }
        let curve = of_program + OF_PROGRAM + (WAVES * kind + wave) * FREE_KNOTS;
        slopes.extend(
            at.knots[stage]
                .iter()
                .enumerate()
                .filter(|(_, weight)| **weight != 0.0)
                .map(|(knot, weight)| (curve + knot, *weight)),
        );
        slopes
    }
}

/// The parts of the mean time of a task \[ms\], and what they follow from.
struct Parts {
    work: f64,
    level_ms: f64,
    data: f64,
    growing: f64,
    own: f64,
    new: f64,
}

impl Fit {
    /// Fits the recorded runs of a program.
    pub(crate) fn new(recorded: &RecordedTasks, cluster: &Cluster) -> Self {
        let stages = Stages::new(recorded, cluster);
        let settings: Vec<Setting> = recorded
            .runs
            .iter()
            .map(|run| {
                let size = recorded.sizes[run.0];
                stages.setting(size, recorded.executors[run.1].into(), stages.tasks(size, cluster, None))
            })
            .collect();
        let kind = |stage: usize| usize::from(!stages.is_source(stage));
        let mut seen = Vec::new();
        let mut ratios: Vec<[Vec<f64>; WAVES]> = vec![Default::default(); stages.len()];
        for ((run, stage, wave), tasks) in &recorded.cells {
            let Ok(setting) = recorded.runs.binary_search(run) else { continue };
            let mean = tasks.iter().sum::<f64>() / tasks.len() as f64;
            let variation = VARIATION[kind(*stage)][*wave];
            let sd = (MODEL * MODEL + variation * variation / tasks.len() as f64).sqrt();
            seen.push(Seen { setting, stage: *stage, wave: *wave, log: (1000.0 * mean).ln(), sd });
            if tasks.len() > 2 {
                ratios[*stage][*wave].extend(tasks.iter().map(|task| task / mean));
            }
        }
        let (mut mean, mut sd) = (Vec::<f64>::new(), Vec::<f64>::new());
        for prior in (0..stages.len())
            .map(|stage| &cluster.stages[stages.growth[stage] as usize])
            .chain([&cluster.program, &cluster.contention])
        {
            mean.extend(&prior.mean);
            sd.extend(&prior.sd);
        }
        let start = begin(&mean, &seen, stages.len());
        let count = stages.len();
        let misses = |all: &[f64]| {
            let values = Values { all: all.to_vec(), stages: count };
            let of = |one: &Seen| {
                let at = &settings[one.setting];
                let kind = kind(one.stage);
                let miss = (one.log - values.log_mean(kind, one.stage, one.wave, at)) / one.sd;
                // squares near 0, linear far from it
                let root = (1.0 + miss * miss).sqrt();
                let factor = (2.0 / (1.0 + root)).sqrt();
                let (value, slope) = (miss * factor, (root * factor).recip());
                let slopes = values.slopes(kind, one.stage, one.wave, at);
                Miss { value, slopes: slopes.into_iter().map(|(i, by)| (i, -slope * by / one.sd)).collect() }
            };
            let off =
                (0..all.len()).map(|i| Miss { value: (all[i] - mean[i]) / sd[i], slopes: vec![(i, 1.0 / sd[i])] });
            let steps = steps(values.contention(), &cluster.contention.mean, cluster.smooth, all.len());
            seen.iter().map(of).chain(off).chain(steps).collect()
        };
        let all = minimum(start, misses);
        Self { values: Values { all, stages: count }, stages, ratios }
    }

    /// Returns what the time of tasks depends on at a size and a number of executors.
    pub(crate) fn setting(&self, size: f64, executors: f64, cluster: &Cluster) -> Setting {
        let time_ms = |stage: usize| match self.stages.growth[stage] {
            Growth::Tasks => self.values.stage(stage)[0].exp(),
            _ => self.values.stage(stage)[0].exp() * self.values.growing(stage),
        };
        self.stages.setting(size, executors, self.stages.tasks(size, cluster, Some(&time_ms)))
    }

    /// Returns the mean times of tasks \[s\], by stage and wave.
    pub(crate) fn means_s(&self, at: &Setting) -> Vec<[f64; WAVES]> {
        let of = |stage: usize| {
            let kind = usize::from(!self.stages.is_source(stage));
            [0, 1, 2].map(|wave| self.values.log_mean(kind, stage, wave, at).exp() / 1000.0)
        };
        (0..self.stages.len()).map(of).collect()
    }

    /// Returns the ratios of tasks to their mean, of sources (kind 0) or others.
    pub(crate) fn ratios(&self, kind: usize, wave: usize) -> Vec<f64> {
        let own = (0..self.stages.len()).filter(|&stage| usize::from(!self.stages.is_source(stage)) == kind);
        own.flat_map(|stage| self.ratios[stage][wave].iter().copied()).collect()
    }

    /// Returns true if the sizes go far beyond the reference.
    fn is_wide(&self) -> bool {
        self.stages.sizes.last().is_some_and(|last| *last >= 4.0 * self.stages.reference)
    }

    /// Returns by how much the numbers of tasks of each stage grow faster than the size.
    pub(crate) fn excesses(&self) -> Vec<f64> {
        let Some(last) = self.stages.sizes.last().filter(|_| self.is_wide()) else { return Vec::new() };
        let factor = (last / self.stages.reference).ln();
        let own = (0..self.stages.len()).filter(|&stage| self.stages.growth[stage] == Growth::Tasks);
        own.map(|stage| {
            let [first, last] = self.stages.ends(stage);
            (last as f64 / first.max(1) as f64).ln() / factor - 1.0
        })
        .collect()
    }

    /// Returns the share of the usual time of a block at which a stage splits its input.
    pub(crate) fn blocks(&self) -> Vec<f64> {
        let Some(last_size) = self.stages.sizes.last().filter(|_| self.is_wide()) else { return Vec::new() };
        let growth = |stage: usize| self.stages.growth[stage];
        let blocks = (0..self.stages.len()).filter(|&stage| growth(stage) == Growth::Tasks);
        let Some(block_ms) = median(blocks.map(|stage| self.values.stage(stage)[0].exp())) else { return Vec::new() };
        let split = (0..self.stages.len()).filter(|&stage| growth(stage) == Growth::Both);
        split
            .filter_map(|stage| {
                let [first, last] = self.stages.ends(stage);
                let own_ms = self.values.stage(stage)[0].exp() * self.values.growing(stage);
                (last > first)
                    .then(|| first as f64 * own_ms * last_size / self.stages.reference / block_ms / last as f64)
            })
            .collect()
    }
}

/// Returns the steps of the curves of contention that differ from the usual ones; the curves are the last of `count` values.
fn steps(curves: &[f64], usual: &[f64], smooth: f64, count: usize) -> Vec<Miss> {
    let off = |i: usize| curves[i] - usual[i];
    let start = count - curves.len();
    let step = |i: usize| match i % FREE_KNOTS {
        0 => Miss { value: off(i) / smooth, slopes: vec![(start + i, 1.0 / smooth)] },
        _ => Miss {
            value: (off(i) - off(i - 1)) / smooth,
            slopes: vec![(start + i, 1.0 / smooth), (start + i - 1, -1.0 / smooth)],
        },
    };
    (0..curves.len()).map(step).collect()
}

/// Returns the start of the search: the prior, with the level of each stage as it was seen.
fn begin(mean: &[f64], seen: &[Seen], stages: usize) -> Vec<f64> {
    let mut start = mean.to_vec();
    for stage in 0..stages {
        let level = (0..WAVES).rev().find_map(|wave| {
            let own = seen.iter().filter(|one| one.stage == stage && one.wave == wave).map(|one| one.log);
            Some(median(own)? - if wave == WAVES - 1 { 0.0 } else { 0.5 })
        });
        start[stage * OF_STAGE] = level.unwrap_or(start[stage * OF_STAGE]);
    }
    start
}
