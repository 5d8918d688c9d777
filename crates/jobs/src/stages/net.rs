//! The net of a stage graph: slots as tokens of one place, stages as barriers.
//!
//! ```text
//! (before → s) ─setup─▶ waiting w ─start─▶ running w ─run─▶ ended ═n═end─▶ (s → after)
//!                           slots ──┘                └──▶ slots
//! ```
//!
//! `w` counts the waves of the stage: tasks with the same distribution. `start` is immediate, with a higher priority
//! for earlier waves and stages, as in Spark's first-in-first-out scheduling; `run` serves all of its tokens simultaneously;
//! `end` is immediate and takes a token of every task. The only dead marking has its token on `finished`. Ids are
//! letters and digits.
//!
//! If a stage has slow tasks, two starts with the same priority compete for each task, with the shares of usual and slow tasks as weights:
//!
//! ```text
//! waiting w ─startslow─▶ slow w ─delay─▶ late w ─runslow─▶ ended
//! ```
//!
//! `delay` is the shortest time of a slow task, and `runslow` the rest of its time: a Pareto time is its minimum plus a shifted Pareto time.

use crate::mapreduce::{PhaseLaw, SlowTasks};
use crate::net::{BuildError, Delay, Law, Memory, Net, NetBuilder, PlaceId, Point, Servers, Timing, TransitionId};
use crate::stages::planned::{PlannedJob, PlannedStage};

/// The net of a job, and the transitions of each stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageNet {
    /// The net.
    pub net: Net,
    /// For each stage, the transitions of its set-up and of its tasks.
    pub stages: Vec<Vec<TransitionId>>,
}

/// Distance of neighbouring columns of the drawing, and of neighbouring rows \[pixels\].
const STEP: Point = Point { x: 110.0, y: 70.0 };

/// The distribution of the driver's times: its standard deviation is half its mean, and the exact methods support it.
const DRIVER: PhaseLaw = PhaseLaw::Erlang(4);

/// Builds the net of a job. Exact translation: no approximation is added.
///
/// # Errors
///
/// Parts with numbers that no net can have.
pub fn stage_net(job: &PlannedJob) -> Result<StageNet, BuildError> {
    let mut maker = Maker::new(job);
    let stages = (0..job.stages.len()).map(|i| maker.stage(i)).collect();
    maker.finish();
    Ok(StageNet { net: maker.b.build()?, stages })
}

struct Maker<'a> {
    job: &'a PlannedJob,
    b: NetBuilder,
    slots: PlaceId,
    /// For each stage, the output places of its end: one for each stage that waits for it, or one for the end of the job.
    edges: Vec<Vec<PlaceId>>,
    /// For each stage, the input places of its set-up.
    entries: Vec<Vec<PlaceId>>,
    /// The input places of the end of the job.
    last: Vec<PlaceId>,
    /// Priority of the next start; earlier starts have higher priorities.
    priority: u32,
    /// Priority of everything but the starts.
    first: u32,
    row: f64,
}

impl<'a> Maker<'a> {
    fn new(job: &'a PlannedJob) -> Self {
        let mut b = NetBuilder::new(job.name.clone());
        let slots = b.place("slots", job.slots);
        let waves: usize = job.stages.iter().map(|stage| stage.waves.len()).sum();
        let first = u32::try_from(waves).unwrap_or(u32::MAX - 1) + 1;
        let mut maker = Self {
            job,
            first,
            b,
            slots,
            edges: vec![Vec::new(); job.stages.len()],
            entries: vec![Vec::new(); job.stages.len()],
            last: Vec::new(),
            // starts have waves down to 1; all else comes first, so that a slot is given away when everything else of its time has happened
            priority: first,
            row: 1.0,
        };
        maker.place_at(slots, 2.5, 0.0);
        maker.connect();
        maker
    }

    /// Creates the places between stages.
    fn connect(&mut self) {
        for (i, stage) in self.job.stages.iter().enumerate() {
            if stage.after.is_empty() {
                let place = self.b.place(format!("begin{i}"), 1);
                self.entries[i].push(place);
            }
            for &before in &stage.after {
                let place = self.b.place(format!("from{before}to{i}"), 0);
                self.entries[i].push(place);
                self.edges[before].push(place);
            }
        }
        for i in 0..self.job.stages.len() {
            if self.edges[i].is_empty() {
                let place = self.b.place(format!("done{i}"), 0);
                self.edges[i].push(place);
                self.last.push(place);
            }
        }
    }

    fn place_at(&mut self, place: PlaceId, column: f64, row: f64) {
        self.b.place_mut(place).position = Some(Point { x: STEP.x * (column + 0.5), y: STEP.y * (row + 0.5) });
    }

    fn transition_at(&mut self, transition: TransitionId, column: f64, row: f64) {
        self.b.transition_mut(transition).position =
            Some(Point { x: STEP.x * (column + 0.5), y: STEP.y * (row + 0.5) });
    }

    /// Adds one stage: set-up, waves, barrier.
    fn stage(&mut self, i: usize) -> Vec<TransitionId> {
        let job = self.job;
        let stage: &PlannedStage = &job.stages[i];
        let top = self.row;
        let setup = self.b.transition(format!("setup{i}"), timing(&DRIVER, stage.setup_s, self.first));
        self.b.transition_mut(setup).name.clone_from(&stage.name);
        self.transition_at(setup, 1.0, top);
        for (k, place) in self.entries[i].clone().into_iter().enumerate() {
            self.place_at(place, 0.0, top + 0.5 * k as f64);
            self.b.input(place, setup, 1.0);
        }
        let ended = self.b.place(format!("ended{i}"), 0);
        self.place_at(ended, 6.0, top);
        let mut transitions = vec![setup];
        for (w, wave) in stage.waves.iter().enumerate() {
            let waiting = self.b.place(format!("waiting{i}w{w}"), 0);
            self.place_at(waiting, 2.0, self.row);
            self.b.output(setup, waiting, f64::from(wave.tasks));
            self.priority = self.priority.saturating_sub(1).max(1);
            // tasks without length are not slow either
            let slow = stage.slow.filter(|_| wave.mean_s > 0.0);
            let usual = 1.0 - slow.map_or(0.0, |slow| slow.share);
            let running = self.started(&format!("start{i}w{w}"), usual, waiting, &format!("running{i}w{w}"));
            let run = self.ended(&format!("run{i}w{w}"), timing(&stage.law, wave.mean_s, self.first), running, ended);
            transitions.push(run);
            if let Some(slow) = slow {
                transitions.extend(self.slow(&format!("{i}w{w}"), &slow, wave.mean_s, waiting, ended));
            }
            self.row += 1.0;
        }
        let end = self.b.transition(format!("end{i}"), Timing::immediate(1.0, self.first));
        self.transition_at(end, 7.0, top);
        self.b.input(ended, end, f64::from(stage.tasks()));
        for place in self.edges[i].clone() {
            self.b.output(end, place, 1.0);
        }
        self.row += 0.5;
        transitions
    }

    /// Adds the start of a task that waits, with a weight among the starts of its wave; returns the place of tasks that run then.
    fn started(&mut self, start: &str, weight: f64, waiting: PlaceId, running: &str) -> PlaceId {
        let start = self.b.transition(start, Timing::immediate(weight, self.priority));
        let running = self.b.place(running, 0);
        self.b.input(waiting, start, 1.0);
        self.b.input(self.slots, start, 1.0);
        self.b.output(start, running, 1.0);
        self.transition_at(start, 3.0, self.row);
        self.place_at(running, 4.0, self.row);
        running
    }

    /// Adds the end of a running task.
    fn ended(&mut self, run: &str, timing: Timing, running: PlaceId, ended: PlaceId) -> TransitionId {
        let run = self.b.transition(run, timing);
        self.b.input(running, run, 1.0);
        self.b.output(run, self.slots, 1.0);
        self.b.output(run, ended, 1.0);
        self.transition_at(run, 5.0, self.row);
        run
    }

    /// Adds the slow tasks of a wave.
    fn slow(&mut self, id: &str, slow: &SlowTasks, mean_s: f64, waiting: PlaceId, ended: PlaceId) -> [TransitionId; 2] {
        self.row += 1.0;
        let least_s = slow.from * mean_s;
        let running = self.started(&format!("startslow{id}"), slow.share, waiting, &format!("slow{id}"));
        let delay = self.b.transition(format!("delay{id}"), timing(&PhaseLaw::Deterministic, least_s, self.first));
        let late = self.b.place(format!("late{id}"), 0);
        self.b.input(running, delay, 1.0);
        self.b.output(delay, late, 1.0);
        self.transition_at(delay, 5.0, self.row);
        self.row += 1.0;
        self.place_at(late, 4.0, self.row);
        let rest = Delay::General(Law::Pareto { shape: slow.shape, scale: least_s });
        let run = self.ended(&format!("runslow{id}"), at_once(rest), late, ended);
        [delay, run]
    }

    fn finish(&mut self) {
        let end = self.b.transition("finish", timing(&DRIVER, self.job.end_s, self.first));
        let finished = self.b.place("finished", 0);
        for (k, place) in self.last.clone().into_iter().enumerate() {
            self.place_at(place, k as f64, self.row);
            self.b.input(place, end, 1.0);
        }
        let column = self.last.len() as f64;
        self.transition_at(end, column, self.row);
        self.b.output(end, finished, 1.0);
        self.place_at(finished, column + 1.0, self.row);
    }
}

/// Returns a delay with this mean for all tokens simultaneously; immediate with this priority if the mean is 0.
fn timing(law: &PhaseLaw, mean_s: f64, priority: u32) -> Timing {
    if mean_s <= 0.0 {
        return Timing::immediate(1.0, priority);
    }
    let delay = match law.with_mean(mean_s) {
        Some(law) => Delay::General(law),
        None => Delay::Exponential { rate: mean_s.recip().into() },
    };
    at_once(delay)
}

/// Returns the timing of a delay for all tokens simultaneously.
fn at_once(delay: Delay) -> Timing {
    Timing::Timed { delay, servers: Servers::Infinite, memory: Memory::Enabling }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::ArcKind;
    use crate::stages::planned::Wave;

    fn stage(after: Vec<usize>, waves: &[(u32, f64)]) -> PlannedStage {
        PlannedStage {
            name: "s".into(),
            after,
            setup_s: 0.5,
            task_mb: 1.0,
            waves: waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect(),
            law: PhaseLaw::Deterministic,
            slow: None,
            gpu: 0.0,
        }
    }

    #[test]
    fn the_net_has_the_parts_that_the_module_says() {
        let stages =
            vec![stage(vec![], &[(3, 2.0), (4, 1.0)]), stage(vec![0], &[(2, 1.0)]), stage(vec![0], &[(1, 1.0)])];
        let job = PlannedJob { name: "j".into(), slots: 3, stages, ..PlannedJob::default() };
        let made = stage_net(&job).unwrap();
        let net = &made.net;
        assert_eq!(net.place(net.find_place("slots").unwrap()).initial, [3]);
        // slots, begin, two edges, two ends of the job, three barriers, two places a wave, finished
        assert_eq!(net.places().len(), 1 + 1 + 2 + 2 + 3 + 2 * 4 + 1);
        assert_eq!(net.transitions().len(), 2 * 3 + 2 * 4 + 1);
        assert_eq!(made.stages.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2]);
        let taken = |place: &str| {
            let place = net.find_place(place).unwrap();
            net.arcs().iter().filter(|arc| arc.place == place && arc.kind == ArcKind::Input).count()
        };
        assert_eq!((taken("slots"), taken("ended0"), taken("from0to1")), (4, 1, 1));
    }

    #[test]
    fn usual_and_slow_starts_compete_with_their_shares() {
        let slow = SlowTasks { share: 0.25, from: 3.0, shape: 2.0, seen: None };
        let stages = vec![PlannedStage { slow: Some(slow), ..stage(vec![], &[(3, 2.0), (4, 0.0)]) }];
        let made = stage_net(&PlannedJob { name: "j".into(), slots: 3, stages, ..PlannedJob::default() }).unwrap();
        let timing = |id: &str| made.net.find_transition(id).map(|id| made.net.transition(id).timing.clone());
        // tasks without length are not slow
        assert_eq!(timing("start0w0"), Some(Timing::immediate(0.75, 2)));
        assert_eq!(timing("startslow0w0"), Some(Timing::immediate(0.25, 2)));
        assert_eq!(timing("start0w1"), Some(Timing::immediate(1.0, 1)));
        assert_eq!(timing("startslow0w1"), None);
        let law = |id: &str| match timing(id) {
            Some(Timing::Timed { delay: Delay::General(law), servers: Servers::Infinite, .. }) => law,
            other => panic!("{other:?}"),
        };
        assert_eq!(law("delay0w0"), Law::Deterministic { delay: 6.0 });
        assert_eq!(law("runslow0w0"), Law::Pareto { shape: 2.0, scale: 6.0 });
        // set-up, and the timed transitions of both kinds of tasks
        assert_eq!(made.stages[0].len(), 1 + 3 + 1);
    }
}
