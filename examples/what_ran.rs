//! What ran, what was slow, and what would have been the least time? A log of 88 tasks on four nodes, three of which had less
//! processor time than the fourth, read from the file that Spark wrote (without what no reader needs).
//!
//! ```text
//! event log ──▶ JobTrace ──▶ stragglers, copies, bounds
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
    println!("{} copies, {won} of them won; {:.1} s of attempts in vain", copies.fates.len(), copies.wasted);
    for (id, application) in trace.applications_with_ids() {
        let Some(bounds) = bounds_of(&trace, id) else { continue };
        let (by, least) = bounds.largest();
        println!("{} took {:.2} s; by {by:?} it cannot take less than {least:.2} s", application.name, bounds.span);
        assert!(least <= bounds.span);
    }
    assert_eq!((trace.attempts().len(), copies.fates.len(), won), (98, 10, 8));
    Ok(())
}
