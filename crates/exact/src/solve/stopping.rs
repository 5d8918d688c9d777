//! Tests of stopped solutions: every method reacts during its work. The tests count checks of the watch, so they do not depend on a clock.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::solve::chain::tests::{birth_death, chain_of};
use crate::solve::{
    AbsorbError, LinearError, LinearMethod, LinearSettings, PassageError, PassageSettings, SteadyError, TransientError,
    TransientSettings, absorption, passage, steady_state, transient,
};
use crate::watch::Watch;

/// A watch that stops the work from a given check on.
struct Looks {
    stop_at: u64,
    looked: AtomicU64,
}

impl Looks {
    fn until(stop_at: u64) -> Self {
        Self { stop_at, looked: AtomicU64::new(0) }
    }

    /// Returns the number of calls after the first call that requested a stop.
    fn late(self) -> u64 {
        self.looked.into_inner() - self.stop_at
    }
}

impl Watch for Looks {
    fn progress(&self, _: u64, _: u64) {}

    fn stopped(&self) -> bool {
        self.looked.fetch_add(1, Ordering::Relaxed) >= self.stop_at
    }
}

#[test]
fn sweeps_are_left_when_the_work_is_stopped() {
    // a long queue with almost no drift
    let chain = birth_death(2_999, 1.0, 1.0 + 1e-6);
    let mut target = vec![false; chain.states()];
    target[2_999] = true;
    for method in [LinearMethod::GaussSeidel, LinearMethod::BiCgStab] {
        for stop_at in [0, 1, 500] {
            let looks = Looks::until(stop_at);
            let settings = LinearSettings { method, ..LinearSettings::watched(&looks) };
            let found = steady_state(&chain, &settings);
            assert_eq!(found, Err(SteadyError::Linear(LinearError::Stopped { states: 3_000 })), "{method:?}");
            assert!(looks.late() < 8, "{method:?}");
            let looks = Looks::until(stop_at);
            let settings = LinearSettings { method, ..LinearSettings::watched(&looks) };
            let found = absorption(&chain, &target, &settings);
            assert_eq!(found, Err(AbsorbError::Linear(LinearError::Stopped { states: 2_999 })), "{method:?}");
            assert!(looks.late() < 8, "{method:?}");
        }
    }
}

/// A dense part: elimination checks the watch at each of its rows.
#[test]
fn an_elimination_is_left_when_the_work_is_stopped() {
    let n = 300_u32;
    let arrows: Vec<_> = (0..n).flat_map(|i| (0..n).filter(move |j| *j != i).map(move |j| (i, j, 1.0))).collect();
    let chain = chain_of(n as usize, &arrows);
    for stop_at in [0, 3, 100] {
        let looks = Looks::until(stop_at);
        let settings = LinearSettings { method: LinearMethod::Elimination, ..LinearSettings::watched(&looks) };
        assert_eq!(
            steady_state(&chain, &settings),
            Err(SteadyError::Linear(LinearError::Stopped { states: n as usize }))
        );
        assert!(looks.late() < 4);
    }
    let never = Looks::until(u64::MAX);
    let settings = LinearSettings { method: LinearMethod::Elimination, ..LinearSettings::watched(&never) };
    assert!(steady_state(&chain, &settings).is_ok());
}

#[test]
fn a_walk_over_jumps_is_left_when_the_work_is_stopped() {
    let chain = birth_death(50, 1.0, 1.0);
    let looks = Looks::until(100);
    let found = transient(&chain, &[5_000.0], &TransientSettings::watched(&looks));
    assert_eq!(found, Err(TransientError::Stopped { time: 5_000.0 }));
    assert!(looks.late() < 4);
    let mut target = vec![false; 51];
    target[50] = true;
    // the time to the end takes a long time, and few looks to leave
    let looks = Looks::until(200);
    let mut time = passage(&chain, &target, &PassageSettings::watched(&looks)).unwrap();
    assert_eq!(time.cdf(20_000.0), Err(PassageError::Stopped { time: 20_000.0 }));
    drop(time);
    assert!(looks.late() < 8);
}
