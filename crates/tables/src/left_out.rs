//! The proof of a table on its own runs: each setting is predicted from the others.

use tailspn_common::order::quantile;

use crate::curve::Guess;
use crate::known::Known;
use crate::runs::{At, RunTable};

/// Maximum number of settings that are left out; of a larger table, some at equal distances.
const MOST: usize = 2000;
/// Factor between the unit of an error and the half width of a 90% interval, in other tables of runs: the largest of three programs (docs/tables.md).
const USUAL: f64 = 1.87;
/// Half width of the 90% interval of the time of a run of known median, in other tables.
const USUAL_NOISE: f64 = 0.1;
/// Number of settings with which a table outweighs what is usual elsewhere.
const DOUBT: f64 = 10.0;
/// Least half width of an interval.
const LEAST: f64 = 0.01;
/// Numbers of machines from which a curve is followed beyond the largest.
const START: usize = 3;

/// A setting, predicted from the other settings.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Median of the runs \[s\].
    pub median_s: f64,
    /// Number of runs.
    pub runs: usize,
    /// Predicted median \[s\].
    pub predicted_s: f64,
    /// Number of runs in the 90% interval, whose width follows from the other settings alone.
    pub inside: usize,
}

/// Each setting, predicted from the other settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeftOutRuns {
    /// The settings that could be predicted.
    pub settings: Vec<LeftOut>,
    /// Number of settings in the table.
    pub of: usize,
}

/// Factors between units of errors and half widths of 90% intervals of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// Half width of the interval of a run around a known median, and the part of it that runs at equal settings show.
    noise: [f64; 2],
    between: f64,
    beyond: f64,
}

/// Ratios of errors of runs to the units of the predictions, each with the setting that was left out.
#[derive(Debug, Default)]
struct Ratios {
    /// Descending, once sorted.
    all: Vec<(f64, usize)>,
    settings: usize,
}

impl Ratios {
    /// Adds the runs of a setting; their noise alone explains no error of the prediction.
    fn add(&mut self, runs: &[f64], guess: Guess, noise: f64, setting: usize) {
        let ratio = |run: &f64| ((run - guess.log).powi(2) - noise * noise).max(0.0).sqrt() / guess.unit;
        self.all.extend(runs.iter().map(|run| (ratio(run), setting)));
        self.settings += 1;
    }

    fn sort(&mut self) {
        self.all.sort_by(|a, b| b.0.total_cmp(&a.0));
    }

    /// Returns the factor that contains nine of ten runs, without those of a setting, drawn towards what is usual.
    fn factor(&self, without: Option<(usize, usize)>) -> f64 {
        let (own, runs) = without.unwrap_or((usize::MAX, 0));
        let others = self.all.len().saturating_sub(runs);
        let outside = (0.1 * others as f64).floor() as usize;
        let found =
            self.all.iter().filter(|(_, setting)| *setting != own).nth(outside).map_or(USUAL, |(ratio, _)| *ratio);
        let settings = (self.settings as f64 - if without.is_some() { 1.0 } else { 0.0 }).max(0.0);
        (settings * found + DOUBT * USUAL) / (settings + DOUBT)
    }
}

impl Calibration {
    /// Returns the half width of the 90% interval of the logarithm of a run, at a setting with `runs` runs.
    pub(crate) fn noise(&self, runs: usize) -> f64 {
        self.noise[0] * (1.0 + 1.0 / runs.max(1) as f64).sqrt()
    }

    /// Returns the half width of the 90% interval of the logarithm of a run that was predicted.
    pub(crate) fn half(&self, guess: Guess) -> f64 {
        half(guess.unit * if guess.is_inside { self.between } else { self.beyond }, self.noise[1])
    }
}

/// Returns the half width for an error of the prediction and the noise of runs.
fn half(error: f64, noise: f64) -> f64 {
    error.hypot(noise).max(LEAST)
}

impl LeftOutRuns {
    /// Predicts each setting of a table from the others.
    pub(crate) fn new(table: &RunTable) -> (Self, Calibration) {
        let cells: Vec<_> =
            (0..).zip(&table.groups).flat_map(|(i, group)| group.cells.iter().map(move |cell| (i, cell))).collect();
        let step = cells.len().div_ceil(MOST).max(1);
        let noise = noise(table);
        let (mut between, mut beyond) = (Ratios::default(), Ratios::default());
        let mut guessed = Vec::new();
        for (setting, (i, (at, runs))) in cells.iter().enumerate().step_by(step) {
            let group = &table.groups[*i];
            let (size, machines) = (group.sizes[at.0], group.machines[at.1]);
            let Some(guess) = Known::without(group, **at).guess(size, machines) else { continue };
            let ratios = if guess.is_inside { &mut between } else { &mut beyond };
            ratios.add(runs, guess, noise[1], setting);
            guessed.push((setting, guess));
        }
        for (setting, guess, runs) in followed(&cells, table) {
            beyond.add(runs, guess, noise[1], setting);
        }
        between.sort();
        beyond.sort();
        let settings = guessed.into_iter().map(|(setting, guess)| {
            let (group, (at, runs)) = cells[setting];
            let ratios = if guess.is_inside { &between } else { &beyond };
            let half = half(guess.unit * ratios.factor(Some((setting, runs.len()))), noise[1]);
            LeftOut {
                median_s: table.groups[group].median_at(*at).map_or(f64::NAN, f64::exp),
                runs: runs.len(),
                predicted_s: guess.log.exp(),
                inside: runs.iter().filter(|run| (**run - guess.log).abs() <= half).count(),
            }
        });
        let found = Self { settings: settings.collect(), of: cells.len() };
        let calibration = Calibration { noise, between: between.factor(None), beyond: beyond.factor(None) };
        (found, calibration)
    }

    /// Returns the `q` quantile of the relative errors of medians; none if no setting could be predicted.
    pub fn error(&self, q: f64) -> Option<f64> {
        let mut errors: Vec<f64> =
            self.settings.iter().map(|setting| (setting.predicted_s / setting.median_s - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        quantile(&errors, q)
    }

    /// Returns the number of runs in the 90% intervals, and the number of runs of the settings.
    pub fn inside(&self) -> [usize; 2] {
        [
            self.settings.iter().map(|setting| setting.inside).sum(),
            self.settings.iter().map(|setting| setting.runs).sum(),
        ]
    }
}

/// Returns the half width of the 90% interval of the logarithm of a run whose median is known, and the part of it that the table shows.
fn noise(table: &RunTable) -> [f64; 2] {
    let mut all: Vec<f64> = table.noise().into_iter().map(f64::abs).collect();
    all.sort_by(f64::total_cmp);
    let weight = all.len() as f64 / 2.0;
    let found = quantile(&all, 0.9).unwrap_or_default();
    let half = ((weight * found + DOUBT * USUAL_NOISE) / (weight + DOUBT)).max(LEAST);
    [half, found.min(half)]
}

/// A setting: its group, its position, its runs.
type Setting<'t> = (usize, (&'t At, &'t Vec<f64>));

/// Predicts larger numbers of machines from the smaller ones alone. Returns the position of the setting, the prediction and the runs, for at most [`MOST`]
/// pairs of a setting and a largest known number.
fn followed<'t>(cells: &[Setting<'t>], table: &'t RunTable) -> Vec<(usize, Guess, &'t Vec<f64>)> {
    let pairs = || {
        let of_cell = |(setting, (group, (at, runs))): (usize, &Setting<'t>)| {
            let (group, at, runs) = (*group, **at, *runs);
            (START..=at.1).map(move |last| (setting, group, at, runs, last))
        };
        cells.iter().enumerate().flat_map(of_cell)
    };
    let step = pairs().count().div_ceil(MOST).max(1);
    let guess = |(setting, group, at, runs, last): (usize, usize, At, &'t Vec<f64>, usize)| {
        let group = &table.groups[group];
        let guess = Known::below(group, last).guess(group.sizes[at.0], group.machines[at.1])?;
        (!guess.is_inside).then_some((setting, guess, runs))
    };
    pairs().step_by(step).filter_map(guess).collect()
}
