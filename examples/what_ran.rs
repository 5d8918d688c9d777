//! Reads a Spark event log and prints what ran, what was slow, and a lower bound of the job time. The log has 88 tasks on four
//! nodes, three of them with less CPU time than the fourth; events that no reader needs were removed.
//!
//! ```text
//! event log ──▶ JobTrace ──▶ stragglers, speculative copies, bounds
//! ```

use tailspn::trace::analysis::{CopyFate, Usual, bounds_of, copies, stragglers, times_of};
use tailspn::trace::{ReadOptions, TraceError, read_bytes};
use tailspn::watch::Unwatched;

const LOG: &[u8] = include_bytes!("../tests/data/trace/speculation.spark.gz");

fn main() -> Result<(), TraceError> {
    let trace = read_bytes("speculation.spark.gz", LOG, &ReadOptions::default(), &Unwatched)?;
    for warning in &trace.warnings {
        println!("warning: {}: {warning}", trace.place(warning.first));
    }
    for (id, stage) in trace.stages_with_ids() {
        let Some(times) = times_of(trace.attempts_of(id)) else { continue };
        let slow = stragglers(&trace, id, &Usual::default()).over_median.len();
        println!(
            "stage {} ({}): {} tasks, median {:.2} s, longest {:.2} s, {slow} stragglers",
            stage.number, stage.name, times.count, times.median, times.max
        );
    }
    let copies = copies(&trace);
    let won = copies.count(CopyFate::Won);
    println!("{} speculative copies, {won} of them won; {:.1} s of wasted attempts", copies.fates.len(), copies.wasted);
    for (id, application) in trace.applications_with_ids() {
        let Some(bounds) = bounds_of(&trace, id) else { continue };
        let (by, least) = bounds.largest();
        println!("{} took {:.2} s; by {by:?} it cannot take less than {least:.2} s", application.name, bounds.span);
        assert!(least <= bounds.span);
    }
    assert_eq!((trace.attempts().len(), copies.fates.len(), won), (98, 10, 8));
    Ok(())
}
