//! Progress of long runs, as a bar on a terminal and as lines otherwise; and the signals that end a run, Ctrl-C and
//! SIGTERM.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tailspn::watch::Watch;

use crate::cli::call::{Call, Pace};
use crate::cli::output::{ProgressDisplay, Terminal};
use crate::cli::signals::{catch, signalled};

/// Runs shorter than this show no progress.
const PATIENCE: Duration = Duration::from_millis(500);

/// Interval between progress lines without a terminal \[s\].
const LINE_EVERY_S: u64 = 10;

/// The terminal on which the end of the work is reported.
static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// Catches Ctrl-C and SIGTERM from now on: the first ends the work, the second the process. Has no effect on
/// systems without this signal.
pub(crate) fn catch_interrupt(terminal: &Terminal) {
    // a program that runs the command in process has its own signal handler
    if Call::current().is_some() || TERMINAL.set(terminal.clone()).is_err() {
        return;
    }
    catch();
}

/// Reports the end of the work, once.
fn tell_stopping() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        if let Some(terminal) = TERMINAL.get() {
            terminal.tell("stopping; press Ctrl-C again to stop immediately");
        }
    });
}

/// Progress of one run.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: ProgressDisplay,
    /// The call in process that receives the progress instead of a terminal. Replications run on other threads
    /// than the call.
    call: Option<Arc<Call>>,
    step: Mutex<Step>,
}

/// A part of a run that counts one unit.
#[derive(Debug)]
struct Step {
    started: Instant,
    /// The noun of the counted unit.
    noun: &'static str,
    /// Number of intervals between lines that have passed.
    lines: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows the progress of a run, counting `noun`, if it takes long.
    pub(crate) fn new(shown: ProgressDisplay, noun: &'static str) -> Self {
        Self { shown, call: Call::current(), step: Mutex::new(Step::new(noun)) }
    }
}

impl Step {
    fn new(noun: &'static str) -> Self {
        Self { started: Instant::now(), noun, lines: 0, bar: None }
    }

    /// Writes a line if it is due.
    fn line(&mut self, done: u64, planned: u64) {
        let elapsed = self.started.elapsed();
        let due = elapsed.as_secs() / LINE_EVERY_S;
        if self.lines < due {
            self.lines = due;
            // a log that cannot be written to does not end the run
            let _ = writeln!(io::stderr(), "{}", line_text(done, planned, self.noun, elapsed));
        }
    }

    /// Moves the bar, which appears after a while.
    fn draw(&mut self, done: u64, planned: u64) {
        let elapsed = self.started.elapsed();
        if elapsed < PATIENCE {
            return;
        }
        let noun = self.noun;
        let bar = self.bar.get_or_insert_with(|| new_bar(noun, planned).with_elapsed(elapsed));
        bar.set_length(planned);
        bar.set_position(done);
        bar.set_message(pace(done, planned, elapsed));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(noun: &str, planned: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let template = match planned {
        0 => format!("{{human_pos}} {noun}, {{elapsed}}"),
        _ => format!("{{bar:30}} {{human_pos}} of {{human_len}} {noun}, {{msg}}"),
    };
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// Returns a progress line for a log: counts, elapsed time, and the speed if the end is known.
fn line_text(done: u64, planned: u64, noun: &str, elapsed: Duration) -> String {
    let [done_text, planned_text] = [done, planned].map(HumanCount);
    let seconds = elapsed.as_secs();
    match planned {
        0 => format!("{done_text} {noun} after {seconds} s"),
        _ => format!("{done_text} of {planned_text} {noun} after {seconds} s, {}", pace(done, planned, elapsed)),
    }
}

/// Returns the mean speed so far and the remaining time at that speed. (A progress bar that appears in the middle of a run
/// cannot measure the speed at first.)
fn pace(done: u64, planned: u64, elapsed: Duration) -> String {
    if done == 0 {
        return "none finished yet".to_owned();
    }
    let per_second = done as f64 / elapsed.as_secs_f64().max(1e-3);
    let speed = if per_second < 10.0 { format!("{per_second:.1}") } else { HumanCount(per_second as u64).to_string() };
    if done >= planned {
        return format!("{speed}/s, finishing");
    }
    let left = (planned - done) as f64 / per_second;
    let left = match left {
        ..1.0 => "less than 1 s".to_owned(),
        ..120.0 => format!("{left:.0} s"),
        ..7200.0 => format!("{:.0} min", left / 60.0),
        _ => format!("{:.1} h", left / 3600.0),
    };
    format!("{speed}/s, {left} left")
}

impl Watch for Progress {
    fn progress(&self, done: u64, planned: u64) {
        if self.call.is_none() && matches!(self.shown, ProgressDisplay::Nothing) {
            return;
        }
        let Ok(mut step) = self.step.lock() else { return };
        if let Some(call) = &self.call {
            return call.set_pace(Pace { done, planned, noun: step.noun });
        }
        match self.shown {
            ProgressDisplay::Bar => step.draw(done, planned),
            ProgressDisplay::Lines => step.line(done, planned),
            ProgressDisplay::Nothing => {}
        }
    }

    fn counts(&self, what: &'static str) {
        if let Ok(mut step) = self.step.lock() {
            *step = Step::new(what);
        }
    }

    fn stopped(&self) -> bool {
        if let Some(call) = &self.call {
            return call.is_stopped();
        }
        let stopped = signalled();
        if stopped {
            tell_stopping();
        }
        stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_pace_if_the_end_is_known() {
        let line = |done, planned| line_text(done, planned, "replications", Duration::from_secs(20));
        assert_eq!(line(1_000, 1_234_567), "1,000 of 1,234,567 replications after 20 s, 50/s, 6.9 h left");
        assert_eq!(line(0, 100), "0 of 100 replications after 20 s, none finished yet");
        assert_eq!(line(12_345, 0), "12,345 replications after 20 s");
    }

    #[test]
    fn the_pace_is_sane_from_the_first_moment() {
        let after = |done, planned, ms| pace(done, planned, Duration::from_millis(ms));
        assert_eq!(after(0, 100, 500), "none finished yet");
        assert_eq!(after(1, 100, 500), "2.0/s, 50 s left");
        assert_eq!(after(557_902, 10_000_000, 500), "1,115,804/s, 8 s left");
        assert_eq!(after(99, 100, 500), "198/s, less than 1 s left");
        assert_eq!(after(1, 1_000, 2_000), "0.5/s, 33 min left");
        assert_eq!(after(1, 100_000, 2_000), "0.5/s, 55.6 h left");
        assert_eq!(after(100, 100, 1_000), "100/s, finishing");
        assert_eq!(after(101, 100, 0), "101,000/s, finishing");
    }
}
