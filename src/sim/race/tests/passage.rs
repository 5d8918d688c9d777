//! Passage times.

use super::*;
use crate::net::Timing;
use crate::sim::Ending;

fn forkjoin_retry() -> NetBuilder {
    let mut b = NetBuilder::new("fork, join and retry");
    let [start, a1, ac, a2, b1, bc, b2, done] =
        ["start", "a1", "ac", "a2", "b1", "bc", "b2", "done"].map(|id| b.place(id, u32::from(id == "start")));
    let mut t = |id: &str, timing, from: &[_], to: &[_]| {
        let t = b.transition(id, timing);
        from.iter().for_each(|&p| _ = b.input(p, t, 1.0));
        to.iter().for_each(|&p| _ = b.output(t, p, 1.0));
    };
    t("fork", Timing::exponential(0.5), &[start], &[a1, b1]);
    t("ra", Timing::exponential(1.0), &[a1], &[ac]);
    t("a_ok", Timing::immediate(0.9, 1), &[ac], &[a2]);
    t("a_fail", Timing::immediate(0.1, 1), &[ac], &[a1]);
    t("rb", Timing::exponential(0.8), &[b1], &[bc]);
    t("b_ok", Timing::immediate(0.75, 1), &[bc], &[b2]);
    t("b_fail", Timing::immediate(0.25, 1), &[bc], &[b1]);
    t("join", Timing::exponential(4.0), &[a2, b2], &[done]);
    b
}

/// Values of the exact solution of the net o5.
#[test]
fn fork_join_with_retry_matches_exact_values() {
    let b = forkjoin_retry();
    let program = program(&b);
    for goal in [goal(&b, "#(done) >= 1"), Goal::Dead] {
        let question = Question { goal, ..Question::default() };
        let samples = run(Form::Clock, &program, &question, 200_000).unwrap();
        assert_eq!(samples.ended(Ending::Goal), 200_000);
        assert_passage_mean(&samples, 157.0 / 36.0, 0.002);
        assert_passage_share(&samples, 2.0, 0.160591379741274);
        assert_passage_share(&samples, 5.0, 0.677113244699862);
        assert_passage_share(&samples, 10.0, 0.962801250227453);
        let sd = samples.passage.variance().unwrap().sqrt() * samples.clock.tick();
        assert!((sd - 2.59644220770724).abs() < 0.05, "{sd}");
    }
}
