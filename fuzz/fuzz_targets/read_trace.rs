//! Any bytes are a log or refused; what is said of a log that was read, fitted to it or replayed does not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tailspn::fit::{fit_job, fit_stages, observe, observe_job, replay};
use tailspn::report::{Look, Report as _, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{ReadOptions, read_bytes};
use tailspn::watch::Unwatched;

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { most_attempts: 100_000, ..ReadOptions::default() };
    let Ok(trace) = read_bytes("log", bytes, &options, &Unwatched) else { return };
    let usual = Usual::default();
    let _ = trace_report(&trace, &usual).text(&Look::default());
    let _ = trace_svg(&trace, &usual);
    if let Ok(run) = observe(&trace, None) {
        let _ = fit_stages(&[run]);
    }
    if let Ok(job) = observe_job(&trace, None) {
        let _ = fit_job(&job, None, None, 0.95).map(|fitted| fitted.plan_text());
    }
    let _ = replay(&trace);
});
