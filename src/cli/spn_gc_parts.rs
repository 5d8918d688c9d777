//! Writes the net of a job to a file part by part: a net of millions of tasks need not fit in memory.

use std::cell::Cell;
use std::{fs, io};

use tailspn::formats::pipe::{PartWriter, Target, write_parts};
use tailspn::mapreduce::{JobPhases, Plan, job_parts};
use tailspn::net::{ArcKind, PartSink, Place, Transition};
use tailspn::watch::Watch as _;

use crate::cli::args::{OutFormat, SpnGcArgs};
use crate::cli::exit::Exit;
use crate::cli::files::write_file_with;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::Progress;

/// Number of parts between two looks at the signals.
const LOOK_EVERY: u64 = 1 << 12;

/// Returns the version of PIPE for which the net is written part by part; none if it cannot be.
pub(super) fn target(plan: &Plan, format: OutFormat, args: &SpnGcArgs) -> Option<Target> {
    let target = match format {
        OutFormat::Pipe4 => Target::Pipe4,
        OutFormat::Pipe5 => Target::Pipe5,
        _ => return None,
    };
    let is_file =
        args.save_net.as_os_str() != "-" && fs::metadata(&args.save_net).map_or(true, |found| found.is_file());
    Some(target).filter(|_| is_file && plan.stragglers.is_none() && plan.speculation.is_none())
}

/// Writes the net, and returns its numbers of places, transitions and arcs. `None`, and no file, if the plan has no net,
/// or if the net has parts that PIPE lacks: their warnings need the whole net.
pub(super) fn write(
    plan: &Plan,
    phases: &JobPhases,
    target: Target,
    args: &SpnGcArgs,
    terminal: &Terminal,
) -> Result<Option<[usize; 3]>, Failure> {
    let progress = &Progress::new(terminal.shows_progress(), "parts");
    let mut parts = Count { parts: 0, progress };
    if job_parts(plan, phases, &mut parts).is_err() {
        return Ok(None);
    }
    let watched = Watched {
        progress,
        done: &Cell::new(0),
        // the parts are passed on once for the places, once for the transitions, once for the arcs
        planned: 3 * parts.parts,
        is_stopped: &Cell::new(progress.stopped()),
    };
    let mut is_plain = true;
    let written = write_file_with(&args.save_net, args.force, |out| {
        let written = write_parts(&plan.job.name, target, out, &mut |parts| {
            // the plan has a net, because its parts were counted
            let _ = job_parts(plan, phases, &mut WatchedParts { parts, watched });
        })?;
        is_plain = written.is_plain && written.warnings.is_empty();
        if is_plain && !watched.is_stopped.get() { Ok(written) } else { Err(io::ErrorKind::Unsupported.into()) }
    });
    match written {
        Err(_) if watched.is_stopped.get() => Err(stopped()),
        Err(_) if !is_plain => Ok(None),
        written => written.map(|written| Some([written.places, written.transitions, written.arcs])),
    }
}

/// Explains why there is no file.
pub(super) fn stopped() -> Failure {
    Failure::plain(Exit::Interrupted, "stopped before the net was complete; there is no file")
}

/// Number of parts so far.
struct Count<'a> {
    parts: u64,
    progress: &'a Progress,
}

impl PartSink for Count<'_> {
    type Place = ();
    type Transition = ();

    fn take_place(&mut self, _: Place) {
        self.parts += 1;
    }

    fn take_transition(&mut self, _: Transition) {
        self.parts += 1;
    }

    fn take_arc(&mut self, _: ArcKind, (): &(), (): &(), _: f64) {
        self.parts += 1;
    }

    fn is_full(&self) -> bool {
        self.progress.stopped()
    }
}

/// The progress of writing, and whether a signal ended it.
#[derive(Clone, Copy)]
struct Watched<'a> {
    progress: &'a Progress,
    done: &'a Cell<u64>,
    planned: u64,
    is_stopped: &'a Cell<bool>,
}

impl Watched<'_> {
    /// Counts a part.
    fn count(self) {
        let done = self.done.get() + 1;
        self.done.set(done);
        if done.is_multiple_of(LOOK_EVERY) {
            self.progress.progress(done, self.planned);
            self.is_stopped.set(self.is_stopped.get() || self.progress.stopped());
        }
    }
}

/// Passes parts on until a signal ends the work.
struct WatchedParts<'a, 'p, 'o> {
    parts: &'p mut PartWriter<'o>,
    watched: Watched<'a>,
}

impl<'o> PartSink for WatchedParts<'_, '_, 'o> {
    type Place = <PartWriter<'o> as PartSink>::Place;
    type Transition = <PartWriter<'o> as PartSink>::Transition;

    fn take_place(&mut self, place: Place) -> Self::Place {
        self.watched.count();
        self.parts.take_place(place)
    }

    fn take_transition(&mut self, transition: Transition) -> Self::Transition {
        self.watched.count();
        self.parts.take_transition(transition)
    }

    fn take_arc(&mut self, kind: ArcKind, place: &Self::Place, transition: &Self::Transition, weight: f64) {
        self.watched.count();
        self.parts.take_arc(kind, place, transition, weight);
    }

    fn is_full(&self) -> bool {
        self.watched.is_stopped.get() || self.parts.is_full()
    }
}
