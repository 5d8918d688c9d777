//! One replication, firing by firing.

use crate::sim::clock::Clock;
use crate::sim::engines::Kind;
use crate::sim::question::{Ending, MAX_FIRINGS, Question};
use crate::sim::race::{ClockForm, DirectForm, Observer, Setup};
use crate::sim::ready::Ready;
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;

/// The firings of one replication, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Per firing, including immediate ones: number of the transition and model time \[s\].
    pub firings: Vec<(u32, f64)>,
    /// The way in which the replication ended; `None` if the run was stopped.
    pub ending: Option<Ending>,
    /// Model time at the end \[s\].
    pub end_s: f64,
}

/// Records the firings of the last replication.
struct Firings {
    clock: Clock,
    firings: Vec<(u32, f64)>,
    end_s: f64,
}

impl Observer for Firings {
    fn begin(&mut self) {
        self.firings.clear();
        self.end_s = 0.0;
    }

    fn fires(&mut self, t: u32, _marking: &[u32], now: u64) {
        self.firings.push((t, self.clock.seconds(now)));
    }

    fn finish(&mut self, _: Ending, _: &[u32], end: u64, _: &mut Samples) {
        self.end_s = self.clock.seconds(end);
    }
}

impl Ready<'_> {
    /// Returns the firings of a replication, at most `most` of them. The times are the same as in [`Self::replicate`].
    ///
    /// # Errors
    ///
    /// A fault of the net.
    pub fn trajectory(&self, replication: u64, most: usize) -> Result<Trajectory, RunError> {
        let limit = self.setup.question.max_firings.unwrap_or(MAX_FIRINGS).min(most as u64);
        let question = &Question { max_firings: Some(limit), ..self.setup.question.clone() };
        let setup = Setup { question, keep_times: false, ..self.setup };
        let firings = Firings { clock: setup.clock, firings: Vec::new(), end_s: 0.0 };
        let mut samples = self.nothing();
        // the schedule engine gives the same numbers as the clock form, and the lockstep form the same as the direct form
        let watched = match self.chosen.kind {
            Kind::Schedule | Kind::Clock => ClockForm::new(setup).watch(firings, replication, 1, &mut samples)?,
            Kind::Lockstep | Kind::Direct => DirectForm::new(setup).watch(firings, replication, 1, &mut samples)?,
        };
        let Firings { mut firings, end_s, .. } = watched;
        let endings = [Ending::Goal, Ending::Dead, Ending::Horizon, Ending::Firings, Ending::Avoided];
        let mut ending = endings.into_iter().find(|&ending| samples.ended(ending) > 0);
        if firings.len() > most {
            // the immediate firings after the last timed one may exceed the limit
            firings.truncate(most);
            ending = Some(Ending::Firings);
        }
        Ok(Trajectory { firings, ending, end_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Program, compile};
    use crate::net::{NetBuilder, Timing};
    use crate::semantics::fire;
    use crate::sim::conformance::{all_laws, straggling_tasks};
    use crate::sim::{Goal, Unwatched};

    /// The marking after the firings; checks that they are in the order of their times.
    fn end_of(program: &Program, trajectory: &Trajectory) -> Vec<u32> {
        assert!(trajectory.firings.is_sorted_by(|a, b| a.1 <= b.1));
        let mut marking = program.initial.clone();
        for &(t, _) in &trajectory.firings {
            fire(program, t as usize, &mut marking).unwrap();
        }
        marking
    }

    /// An open queue, to which some served customers return, until it holds three customers.
    fn queue() -> (Program, Question) {
        let mut b = NetBuilder::new("queue");
        let (queue, left) = (b.place("queue", 0), b.place("left", 0));
        let arrive = b.transition("arrive", Timing::exponential(1.0));
        let serve = b.transition("serve", Timing::exponential(1.2));
        b.output(arrive, queue, 1.0);
        b.input(queue, serve, 1.0);
        b.output(serve, left, 1.0);
        for (id, weight) in [("stay_away", 2.0), ("come_back", 1.0)] {
            let t = b.transition(id, Timing::immediate(weight, 1));
            b.input(left, t, 1.0);
            if id == "come_back" {
                b.output(t, queue, 1.0);
            }
        }
        let net = b.build().unwrap();
        let goal = Goal::marking(&net, "#(queue) >= 3").unwrap();
        (compile(&net).unwrap(), Question { goal, ..Question::default() })
    }

    /// This test was seen to fail if the number of the replication is not passed on, and if another form of the race
    /// runs.
    #[test]
    fn a_trajectory_ends_when_the_replication_does() {
        let tasks = straggling_tasks(3, &all_laws());
        for (program, question, engine) in [(tasks, Question::default(), "schedule"), (queue().0, queue().1, "direct")]
        {
            let ready = Ready::new(&program, &question, None, 5, &Unwatched).unwrap();
            assert_eq!(ready.engine(), engine);
            for replication in [0, 1, 1000] {
                let trajectory = ready.trajectory(replication, 1000).unwrap();
                let times = ready.replicate(replication, 1).unwrap();
                assert_eq!(Some(trajectory.end_s), times.passage.mean_ticks().map(|mean| mean * times.clock.tick()));
                assert_eq!(trajectory.firings.last().map(|last| last.1), Some(trajectory.end_s));
                assert_eq!(trajectory.ending, Some(Ending::Goal));
                let end = end_of(&program, &trajectory);
                match program.place_names.position("done") {
                    Some(done) => assert_eq!(end[done], 1),
                    None => assert_eq!(end[0], 3),
                }
            }
        }
    }

    #[test]
    fn a_trajectory_of_a_net_that_never_stops_has_as_many_firings_as_requested() {
        let program = queue().0;
        let question = Question { goal: Goal::Horizon, horizon: Some(1e3), ..Question::default() };
        let ready = Ready::new(&program, &question, None, 5, &Unwatched).unwrap();
        let whole = ready.trajectory(3, 1_000_000).unwrap();
        assert_eq!((whole.ending, whole.end_s.round()), (Some(Ending::Horizon), 1e3));
        let start = ready.trajectory(3, 50).unwrap();
        assert_eq!((&start.firings[..], start.ending), (&whole.firings[..50], Some(Ending::Firings)));
        end_of(&program, &start);
    }
}
