//! The time of the next run of a program, from the tasks of its recorded runs and of other programs of the cluster.
//!
//! The times of tasks are their mean by the fit times ratios of recorded tasks, drawn at random; the time of the run is the median of several list
//! schedules. Beyond the recorded numbers of executors, a cluster that was not learnt from other programs is unknown: the time is then the geometric mean of
//! that and of Ernest's curve T = a + b size/E + c log E + d E through the recorded runs, and the interval is wide.

use tailspn_common::least_squares::not_negative;
use tailspn_common::order::{median, quantile};
use tailspn_engine::rng::{philox4x32_10, uniform};

use crate::curve::Basis;
use crate::predict::{NoPrediction, Prediction};
use crate::tasks::cluster::{Cluster, quantiles};
use crate::tasks::fit::Fit;
use crate::tasks::recorded::{NoTasks, RecordedTasks, Run};
use crate::tasks::schedule::{WAVES, Work, makespan};

/// Number of schedules.
const SCHEDULES: u32 = 8;
/// Half width of the 90% interval of the logarithm of a time: within the recorded runs, and for each unit of the logarithm of the size and of the number of
/// executors beyond them. With a cluster that was learnt, and without.
const LEARNT: [f64; 3] = [0.05, 0.03, 0.08];
const UNKNOWN: [f64; 3] = [0.06, 0.04, 0.2];
/// Maximum number of tasks of a predicted run.
const MOST_TASKS: u64 = 2_000_000;
/// Number of ratios from which a stage has its own spread.
const OWN: usize = 20;

/// A fitted program.
#[derive(Clone, Debug)]
pub struct TaskModel {
    /// The recorded runs.
    pub recorded: RecordedTasks,
    /// Knowledge about the cluster.
    pub cluster: Cluster,
    fit: Fit,
    /// Ratios of tasks to their mean, by stage and wave.
    ratios: Vec<[Vec<f64>; WAVES]>,
    /// Size, executors and time of each recorded run \[s\].
    times: Vec<[f64; 3]>,
    /// The logarithm of the predicted time of each recorded run.
    own: Vec<f64>,
    /// The error of the logarithm that nine of ten recorded runs do not exceed.
    own_error: f64,
}

impl TaskModel {
    /// Fits the recorded runs of a program.
    ///
    /// # Errors
    ///
    /// [`NoTasks::Empty`] without a run.
    pub fn new(recorded: RecordedTasks, cluster: Cluster) -> Result<Self, NoTasks> {
        if recorded.runs.is_empty() {
            return Err(NoTasks::Empty);
        }
        let fit = Fit::new(&recorded, &cluster);
        let ratios = ratios(&fit, &cluster);
        let time = |run: &Run| {
            let (size, executors) = (recorded.sizes[run.0], recorded.executors[run.1]);
            [size, executors.into(), recorded.time_of(*run)]
        };
        let times: Vec<[f64; 3]> = recorded.runs.iter().map(time).collect();
        let mut found = Self { recorded, cluster, fit, ratios, times, own: Vec::new(), own_error: 0.0 };
        found.own = found.times.iter().map(|run| found.log(run[0], run[1] as u32).unwrap_or(f64::NAN)).collect();
        let error = |(run, own): (&[f64; 3], &f64)| (own - run[2].ln()).abs();
        let mut errors: Vec<f64> =
            found.times.iter().zip(&found.own).map(error).filter(|error| error.is_finite()).collect();
        errors.sort_by(f64::total_cmp);
        found.own_error = quantile(&errors, 0.9).unwrap_or_default();
        Ok(found)
    }

    /// Returns the size, the number of executors, the time and the predicted time of each recorded run \[s\].
    pub fn own_runs(&self) -> Vec<([f64; 3], Prediction)> {
        let own = self.times.iter().zip(&self.own).filter(|(_, log)| log.is_finite());
        own.map(|(&run, &log)| (run, self.prediction(log, run[0], run[1] as u32))).collect()
    }

    /// Returns the time of the next run.
    ///
    /// # Errors
    ///
    /// [`NoPrediction::ManyTasks`] for more than two million tasks.
    pub fn predict(&self, size: f64, executors: u32) -> Result<Prediction, NoPrediction> {
        Ok(self.prediction(self.log(size, executors)?, size, executors))
    }

    /// Returns the logarithm of the number of executors divided by the most of this program and of the others, beyond which nothing is known about the
    /// cluster; 0 within.
    fn unknown(&self, executors: u32) -> f64 {
        let most = self.times.iter().map(|run| run[1]).fold(self.cluster.most_executors.into(), f64::max);
        (f64::from(executors) / most).max(1.0).ln()
    }

    /// Returns the logarithm of the median time.
    fn log(&self, size: f64, executors: u32) -> Result<f64, NoPrediction> {
        let structure = self.scheduled(size, executors)?.ln();
        let unknown = self.unknown(executors);
        let ernest = if unknown > 0.0 { self.ernest(size, executors.into()) } else { None };
        Ok(ernest.map_or(structure, |ernest| {
            let weight = (-3.0 * unknown).exp();
            weight * structure + (1.0 - weight) * ernest.ln()
        }))
    }

    /// Returns the prediction with this logarithm of the median.
    fn prediction(&self, log: f64, size: f64, executors: u32) -> Prediction {
        let most = |place: usize| self.times.iter().map(|run| run[place]).fold(0.0, f64::max);
        let least = |place: usize| self.times.iter().map(|run| run[place]).fold(f64::INFINITY, f64::min);
        let asked = [size, executors.into()];
        let outside = |place: usize| (asked[place] / most(place)).max(least(place) / asked[place]).max(1.0).ln();
        let unknown = self.unknown(executors);
        let (by_size, by_executors) = (outside(0), outside(1) - unknown);
        let is_learnt = self.cluster.programs > 0;
        let [inside, of_size, of_executors] = if is_learnt { LEARNT } else { UNKNOWN };
        let is_own = self.times.iter().filter(|run| run[..2] == asked).count();
        let is_beyond = by_size > 0.0 || outside(1) > 0.0;
        Prediction {
            basis: if is_own > 0 {
                Basis::Measured
            } else if is_beyond {
                Basis::Beyond
            } else {
                Basis::Between
            },
            runs: is_own,
            log,
            half: inside.max(self.own_error) + of_size * by_size + of_executors * by_executors + UNKNOWN[2] * unknown,
        }
    }

    /// Returns the median time of several schedules \[s\].
    fn scheduled(&self, size: f64, executors: u32) -> Result<f64, NoPrediction> {
        let at = self.fit.setting(size, executors.into(), &self.cluster);
        let tasks = at.tasks.iter().fold(0_u64, |sum, tasks| sum.saturating_add(*tasks as u64));
        if tasks > MOST_TASKS {
            return Err(NoPrediction::ManyTasks { tasks, most: MOST_TASKS });
        }
        let means_s = self.fit.means_s(&at);
        let waves = self.fit.stages.waves(&at.tasks, executors as usize);
        let times = (0..SCHEDULES).map(|schedule| {
            let task = |stage: usize, wave: usize| {
                let ratios = &self.ratios[stage][wave];
                let draw = |task: usize| {
                    let counter = [task as u32, (WAVES * stage + wave) as u32, schedule, 0];
                    let [word, ..] = philox4x32_10(counter, [0; 2]);
                    ratios.get((uniform(word) * ratios.len() as f64) as usize).copied().unwrap_or(1.0)
                };
                (0..waves[stage][wave]).map(|task| means_s[stage][wave] * draw(task)).collect()
            };
            let tasks = (0..means_s.len()).map(|stage| [0, 1, 2].map(|wave| task(stage, wave))).collect();
            makespan(&Work { tasks, parents: &self.fit.stages.parents }, executors as usize)
        });
        Ok(median(times).unwrap_or(f64::NAN))
    }

    /// Returns Ernest's curve through the recorded runs, with relative residuals and without negative parts.
    pub fn ernest(&self, size: f64, executors: f64) -> Option<f64> {
        let terms = |size: f64, executors: f64| [1.0, size / executors, executors.ln(), executors];
        let row =
            |&[size, executors, time_s]: &[f64; 3]| (terms(size, executors).map(|term| term / time_s).to_vec(), 1.0);
        let factors = not_negative(&self.times.iter().map(row).collect::<Vec<_>>())?;
        Some(terms(size, executors).iter().zip(factors).map(|(term, factor)| term * factor).sum())
    }
}

/// Returns ratios of tasks to their mean, by stage and wave: those of the stage if it has enough, without ratios that are unusual on the cluster; otherwise
/// those of stages of its kind.
fn ratios(fit: &Fit, cluster: &Cluster) -> Vec<[Vec<f64>; WAVES]> {
    let spread = [0, 1].map(|kind| [0, 1, 2].map(|wave| quantiles(&mut fit.ratios(kind, wave))));
    let of = |stage: usize, wave: usize| {
        let kind = usize::from(!fit.stages.is_source(stage));
        let (usual, own) = (&cluster.spread[kind][wave], &fit.ratios[stage][wave]);
        let usual = if usual.is_empty() { &spread[kind][wave] } else { usual };
        match usual.last() {
            Some(most) if own.len() >= OWN => own.iter().map(|ratio| ratio.min(*most)).collect(),
            _ => usual.clone(),
        }
    };
    (0..fit.stages.len()).map(|stage| [0, 1, 2].map(|wave| of(stage, wave))).collect()
}
