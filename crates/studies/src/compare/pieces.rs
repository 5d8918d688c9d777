//! The elapsed time of a run, shared among its stages: each instant is shared equally by the running stages, or belongs
//! to a gap if no stage runs. So the parts add up to the elapsed time.

/// Parts of a run's time \[s\].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pieces {
    /// Part of each stage.
    pub(super) stages: Vec<f64>,
    /// Before the first stage, between stages, after the last one.
    pub(super) gaps: [f64; 3],
}

/// Shares the time from 0 to `elapsed_s` among stages, each with the intervals in which it ran.
pub(super) fn pieces(elapsed_s: f64, stages: &[&[[f64; 2]]]) -> Pieces {
    let clip = |interval: &[f64; 2]| interval.map(|time| time.clamp(0.0, elapsed_s));
    let mut changes: Vec<(f64, i64)> = Vec::new();
    for [from, to] in stages.iter().copied().flatten().map(clip).filter(|[from, to]| to > from) {
        changes.extend([(from, 1), (to, -1)]);
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return Pieces { stages: vec![0.0; stages.len()], gaps: [elapsed_s, 0.0, 0.0] };
    };
    let mut gaps = [first.0, 0.0, elapsed_s - last.0];
    // the total share, up to each change, of a stage that runs from the start
    let mut until: Vec<(f64, f64)> = Vec::new();
    let (mut sum, mut running, mut before) = (0.0, 0_i64, first.0);
    for &(time, change) in &changes {
        match running {
            0 => gaps[1] += time - before,
            _ => sum += (time - before) / running as f64,
        }
        until.push((time, sum));
        running += change;
        before = time;
    }
    let share = |time: f64| until[until.partition_point(|(own, _)| *own < time).min(until.len() - 1)].1;
    let of = |intervals: &[[f64; 2]]| {
        intervals.iter().map(clip).filter(|[from, to]| to > from).map(|[from, to]| share(to) - share(from)).sum()
    };
    Pieces { stages: stages.iter().map(|intervals| of(intervals)).collect(), gaps }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10 s, stage 0 runs from 1 to 5, stage 1 from 3 to 7, and stage 2 from 8 to 12. Stages 0 and 1 each have 2 s alone and half of 2 s.
    #[test]
    fn instants_with_two_stages_are_shared_equally() {
        let found = pieces(10.0, &[&[[1.0, 5.0]], &[[3.0, 7.0]], &[[8.0, 12.0]], &[]]);
        assert_eq!(found, Pieces { stages: vec![3.0, 3.0, 2.0, 0.0], gaps: [1.0, 1.0, 0.0] });
    }

    #[test]
    fn a_run_without_stages_is_a_gap() {
        assert_eq!(pieces(4.0, &[]), Pieces { stages: vec![], gaps: [4.0, 0.0, 0.0] });
    }
}
