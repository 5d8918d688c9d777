//! Times of a stage without a finished task, by another stage of the same run.

use crate::fit::alike::action;
use crate::fit::progress::StageProgress;
use crate::stages::StageSpec;

/// Assumed time of a stage in which no task has finished, relative to an earlier stage: a median factor, and the standard deviation of the factor's
/// logarithm. Rounded from logs that are not part of the validation (docs/remaining.md).
type Likeness = (f64, f64);
/// The earlier stage has the same operators or the same action, and both read files or cached data.
const SCAN_LIKE_THE_SAME: Likeness = (1.0, 1.3);
/// The earlier stage does something else. Before the work begins, many programs read a schema or count, which takes less time.
const SCAN_LIKE_ANOTHER: Likeness = (3.0, 1.8);
/// The stage reads what its parents have written, or will write.
pub(super) const LIKE_THE_SAME: Likeness = (0.8, 1.2);
/// The same, and the earlier stage does something else.
const LIKE_ANOTHER: Likeness = (0.5, 1.2);
/// Fewer than [`ENOUGH`] tasks of the other stage have finished.
const LIKE_NOTHING: Likeness = (1.0, 2.5);
const ENOUGH: usize = 2;
/// Ratio of the data of tasks from which their times have the same ratio; below, the usual ratio of stages holds, too.
const SIMILAR: f64 = 4.0;
/// Power with which times fall with the data of tasks.
const LESS_DATA: f64 = 0.2;
/// Standard deviation of the logarithm of a time for each factor of e between the data of tasks.
const PER_DATA: f64 = 0.3;
/// Data of a task that matters \[MB\].
const DATA_MATTERS_MB: f64 = 1.0;

/// A stage with finished tasks, to which a stage without any may be similar.
pub(super) struct Known<'a> {
    pub(super) spec: &'a StageSpec,
    /// Counterpart in the log.
    pub(super) seen: &'a StageProgress,
    /// True if a slot has run a later task of it.
    pub(super) has_later: bool,
}

impl Known<'_> {
    /// Returns the data that one of its tasks has read and written \[MB\].
    fn processed_mb(&self) -> f64 {
        let read: f64 = self.seen.ended.iter().map(|task| task.mb).sum();
        read / self.seen.ended.len().max(1) as f64 + self.seen.written_mb
    }

    /// Returns the factor and the error of a stage's times relative to this one.
    fn ratio(&self, stage: &StageProgress) -> (f64, f64) {
        let same_work = !stage.operators.is_empty() && stage.operators == self.seen.operators;
        let same_name = action(&self.seen.name) == action(&stage.name);
        let usual = match (same_work || same_name, !stage.reads_shuffles) {
            _ if self.seen.ended.len() < ENOUGH => LIKE_NOTHING,
            (true, true) => SCAN_LIKE_THE_SAME,
            (false, true) => SCAN_LIKE_ANOTHER,
            (true, false) => LIKE_THE_SAME,
            (false, false) => LIKE_ANOTHER,
        };
        let (known_mb, Some(own_mb)) = (self.processed_mb(), stage.task_mb) else { return usual };
        if known_mb.max(own_mb) < DATA_MATTERS_MB || known_mb <= 0.0 {
            return usual;
        }
        let more = own_mb / known_mb;
        let error = usual.1.hypot(PER_DATA * more.ln());
        // tasks of much more data take as much longer; of less data, a part of their time remains
        let ratio = if more > SIMILAR { more } else { usual.0 * more.max(1.0) * more.min(1.0).powf(LESS_DATA) };
        (ratio, error)
    }
}

/// Returns the times of a stage without a finished task. They come from the last stage with the same operators, or else with the same action, or else
/// from the last stage of all. If the data of the tasks are known, times grow with them. Only the later tasks of slots in this stage count, if one of
/// them has finished. The extra time of the first tasks belongs to the start of the run, which has passed.
pub(super) fn like(stage: &StageProgress, known: &[Known<'_>], setup_s: f64) -> Option<StageSpec> {
    let by = |is_same: &dyn Fn(&StageProgress) -> bool| known.iter().rfind(|known| is_same(known.seen));
    let same_work = by(&|seen| !seen.operators.is_empty() && seen.operators == stage.operators);
    let same_name = || by(&|seen| action(&seen.name) == action(&stage.name));
    let known = same_work.or_else(same_name).or(known.last())?;
    let (ratio, error) = known.ratio(stage);
    let mut spec = known.spec.clone();
    let mut time = if known.has_later { spec.warm } else { spec.cold };
    time.fixed_s *= ratio;
    time.per_mb_s *= ratio;
    time.error = error;
    (spec.cold, spec.warm) = (time, time);
    spec.setup_s = setup_s;
    // only stages that read files have tasks without data: the same share of them
    let share = f64::from(spec.small_tasks) / known.seen.ended.len().max(1) as f64;
    spec.small_tasks = if stage.reads_shuffles { 0 } else { (share * f64::from(stage.tasks)).round() as u32 };
    Some(spec)
}
