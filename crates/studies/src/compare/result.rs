//! The result of a comparison.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::estimate::Measured;

/// The kind of the compared inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// Logs of runs.
    Logs,
    /// Results of tailspn.
    Results,
    /// Plans of jobs or studies.
    Plans,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSide {
    /// `A` and `B`, or `CPU` and `GPU`.
    pub label: String,
    /// The files of the side.
    pub files: Vec<String>,
    /// The job time of each file \[s\]; empty for plans.
    pub times_s: Vec<f64>,
}

/// The method that separates a difference from chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChanceTest {
    /// Welch's t-test on the logarithms of the times of two or more runs on each side.
    Welch,
    /// No test, because a side has only one run. The assumed spread of whole runs gives the probability of the ratio by chance.
    AssumedSpread,
    /// The confidence intervals of the two means, treated as intervals of independent normal variates.
    Intervals,
    /// No test is needed: both times are exact.
    Exact,
    /// No test is possible: an error is unknown, or the runs of each side do not differ.
    None,
}

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval of the ratio excludes 1.
    BeyondChance,
    /// The interval of the ratio includes 1.
    WithinChance,
    /// The files do not allow a verdict.
    Unknown,
}

/// The difference of the job times of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeDifference {
    /// Mean time of side A \[s\].
    pub a_s: f64,
    /// Mean time of side B \[s\].
    pub b_s: f64,
    /// B minus A \[s\].
    pub difference_s: f64,
    /// Time of B divided by time of A, of geometric means if a side has several runs. None if a time is 0.
    pub ratio: Option<Measured>,
    /// The method of the verdict.
    pub test: ChanceTest,
    /// Probability of a ratio at least as far from 1 if the sides do not differ.
    pub p_value: Option<f64>,
    /// Degrees of freedom of the test.
    pub degrees_of_freedom: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Assumed standard deviation of the logarithm of a run's time, if a side has one run.
    pub assumed_sigma: Option<f64>,
    /// Probability of a ratio at least as far from 1 as the observed ratio, if the sides differ only by the assumed
    /// spread of whole runs.
    pub assumed_p_value: Option<f64>,
}

impl TimeDifference {
    /// Two sides without a test.
    pub(super) fn of_means(a_s: f64, b_s: f64) -> Self {
        Self {
            a_s,
            b_s,
            difference_s: b_s - a_s,
            ratio: None,
            test: ChanceTest::None,
            p_value: None,
            degrees_of_freedom: None,
            verdict: Verdict::Unknown,
            assumed_sigma: None,
            assumed_p_value: None,
        }
    }
}

/// A stage on one side: means over the runs of the side that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageSide {
    /// The stage's number in the first log that has it.
    pub number: u32,
    /// The stage's name on that side.
    pub name: String,
    /// Runs of the side that have the stage.
    pub runs: usize,
    /// Tasks.
    pub tasks: f64,
    /// Input and shuffle data that its tasks read \[MB\].
    pub mb: f64,
    /// Time during which the stage ran \[s\].
    pub wall_s: f64,
    /// Part of the job's time that the stage accounts for \[s\], averaged over all runs of the side; while k stages
    /// run, each gets 1/k of the time.
    pub share_s: f64,
}

/// A stage of both sides, or of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageDifference {
    /// Side A; none if its runs do not have the stage.
    pub a: Option<StageSide>,
    /// Side B; none if its runs do not have the stage.
    pub b: Option<StageSide>,
    /// Part of the difference of the job times \[s\]: `share_s` of B minus `share_s` of A. The contributions of all stages
    /// and gaps add up to `time.difference_s`.
    pub contribution_s: f64,
    /// Wall time of A divided by wall time of B; none if the stage is missing on a side or took no time.
    pub speedup: Option<f64>,
}

/// A part of a job's time in which no stage runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Before the first task: planning, start of executors.
    BeforeFirst,
    /// Between stages: the driver, the scheduler.
    Between,
    /// After the last task: the driver, the commit of the output.
    AfterLast,
}

impl ComparisonReport {
    /// Returns true if both sides have stages, but none with the same name: they seem to be runs of two programs.
    pub fn is_of_two_programs(&self) -> bool {
        let names = |side: fn(&StageDifference) -> Option<&StageSide>| -> BTreeSet<&str> {
            let named = self.stages.iter().filter_map(side).filter(|stage| !stage.name.is_empty());
            named.map(|stage| stage.name.as_str()).collect()
        };
        let [a, b] = [names(|stage| stage.a.as_ref()), names(|stage| stage.b.as_ref())];
        !a.is_empty() && !b.is_empty() && a.is_disjoint(&b)
    }
}

/// Times without a running stage on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GapDifference {
    /// The part.
    pub gap: Gap,
    /// Side A \[s\].
    pub a_s: f64,
    /// Side B \[s\].
    pub b_s: f64,
    /// B minus A \[s\].
    pub contribution_s: f64,
}

/// A setting, a size or a plan key whose values differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingDifference {
    /// The name of the setting, or the path of the key.
    pub key: String,
    /// Different values of the setting on side A, in order; empty if it is not set.
    pub a: Vec<String>,
    /// Different values of the setting on side B, in order; empty if it is not set.
    pub b: Vec<String>,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonReport {
    /// The kind of things that are compared.
    pub compared: Compared,
    /// Confidence level of the interval of the ratio.
    pub level: f64,
    /// Side A and side B.
    pub sides: [ComparedSide; 2],
    /// The difference of the times; none for plans.
    pub time: Option<TimeDifference>,
    /// The stages, the largest absolute contribution first; empty unless logs are compared.
    pub stages: Vec<StageDifference>,
    /// Times without a running stage, in order of time; empty unless logs are compared.
    pub gaps: Vec<GapDifference>,
    /// Settings, sizes and plan keys that differ, by name.
    pub settings: Vec<SettingDifference>,
    /// Limits of the comparison.
    pub notes: Vec<String>,
}
