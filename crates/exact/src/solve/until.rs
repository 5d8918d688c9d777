//! Runs up to a goal that avoid other markings: the probability of reaching the goal in time, and the rewards that the
//! runs gather.

use crate::compile::{Code, Program};
use crate::fold::Symmetry;
use crate::solve::absorb::absorption;
use crate::solve::ask_error::AskError;
use crate::solve::chain::Chain;
use crate::solve::explore_error::ExploreError;
use crate::solve::firings::FiringFlow;
use crate::solve::linear::LinearSettings;
use crate::solve::passage::{PassageSettings, passage};
use crate::solve::rates::Rates;
use crate::solve::reach::{Limits, explore_canonical};
use crate::solve::reward::expected;
use crate::solve::space::StateSpace;
use crate::solve::transient::{TransientSettings, transient};
use crate::watch::Watch;

/// The ends of a run: its goal, and markings to avoid. A marking that is both is the goal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until<'a> {
    /// Expression that is nonzero at the goal; if none, the goal is the dead marking.
    pub goal: Option<&'a Code>,
    /// Expression that is nonzero in the markings to avoid.
    pub avoid: Option<&'a Code>,
}

/// The states of a net up to the ends of its runs.
#[derive(Clone, Debug)]
pub struct UntilStates {
    /// The net, as its ends observe it.
    pub program: Program,
    /// The states; ends have no successors.
    pub space: StateSpace,
    /// One truth value per state: true at the goal.
    pub targets: Vec<bool>,
}

impl Until<'_> {
    /// Explores the states of a net up to its goal and the markings to avoid. Markings to avoid end a run even if they
    /// are vanishing.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn explore(
        &self,
        program: &Program,
        symmetry: &Symmetry,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<UntilStates, ExploreError> {
        let end = self.goal.into_iter().chain(self.avoid).cloned().reduce(|goal, avoid| goal.or(&avoid));
        let program = match &end {
            Some(end) => program.clone().observing(end),
            None => program.clone(),
        };
        let space = explore_canonical(&program, end.as_ref(), symmetry, limits, watch)?;
        let targets = match self.goal {
            None => space.marked(space.dead()),
            Some(goal) => {
                let values = space.values(goal, "the goal")?;
                let reached = space.goals().iter().copied().filter(|&state| values[state as usize] != 0.0);
                space.marked(&reached.collect::<Vec<u32>>())
            }
        };
        Ok(UntilStates { program, space, targets })
    }

    /// Returns the probability that the goal holds at some time between two times and that no marking to avoid occurs
    /// earlier. `space` has all states of the net, explored without a goal; `to` may be infinite. From time 0 on, a
    /// condition also counts in vanishing markings: a net that has some is explored again, with these limits.
    ///
    /// # Errors
    ///
    /// [`AskError::ZeroTime`] if the first time is above 0 and a condition holds in a vanishing marking; missing states, and the
    /// errors of [`transient`] and [`passage`].
    pub fn probability(
        &self,
        program: &Program,
        space: &StateSpace,
        times: [f64; 2],
        (symmetry, limits): (&Symmetry, &Limits),
        watch: &dyn Watch,
    ) -> Result<f64, AskError> {
        if times[0] > 0.0 || space.vanishing().0 == 0 {
            return self.between(program, space, times, watch);
        }
        self.explore(program, symmetry, limits, watch)?.probability(times[1], watch)
    }

    /// Returns the probability that the goal holds at some time between two times, computed on all states of the net.
    /// One chain runs up to the first time, if this time is above 0, and a second chain runs from there.
    fn between(
        &self,
        program: &Program,
        space: &StateSpace,
        [from, to]: [f64; 2],
        watch: &dyn Watch,
    ) -> Result<f64, AskError> {
        let chain = space.complete()?;
        let conditions = self.goal.into_iter().chain(self.avoid).filter(|_| space.vanishing().0 > 0);
        for code in conditions {
            if space.holds_in_zero_time(&program.clone().observing(code), code, None)? {
                return Err(AskError::ZeroTime);
            }
        }
        let holds = |code: &Code, what: &str| {
            let values = space.values(code, what)?;
            Ok::<Vec<bool>, AskError>(values.into_iter().map(|value| value != 0.0).collect())
        };
        let goals: Vec<bool> = match self.goal {
            Some(goal) => holds(goal, "the goal")?,
            None => space.marked(space.dead()),
        };
        let avoided: Vec<bool> = match self.avoid {
            Some(avoid) => holds(avoid, "the condition")?,
            None => vec![false; space.states()],
        };
        let is_last = |state: usize| avoided[state] || goals[state];
        if from <= 0.0 {
            return arrival(&stopped(chain, is_last), &goals, to, watch);
        }
        let before = stopped(chain, |state| avoided[state]);
        let found = transient(&before, &[from], &TransientSettings::watched(watch))?;
        let mass = |state: usize| if avoided[state] { 0.0 } else { found.probabilities[0][state] };
        let total: f64 = (0..chain.states()).map(mass).sum();
        if total <= 0.0 {
            return Ok(0.0);
        }
        let initial =
            (0..chain.states()).filter(|&state| mass(state) > 0.0).map(|state| (state as u32, mass(state) / total));
        let after = Chain { initial: initial.collect(), ..stopped(chain, is_last) };
        Ok(total * arrival(&after, &goals, to - from, watch)?)
    }
}

impl UntilStates {
    /// The probability of reaching the goal by a time, which may be infinite.
    ///
    /// # Errors
    ///
    /// Missing states, and the errors of [`passage`].
    pub fn probability(&self, to: f64, watch: &dyn Watch) -> Result<f64, AskError> {
        arrival(self.space.complete()?, &self.targets, to, watch)
    }

    /// Returns the mean reward that a run gathers until it ends: at its goal, in a marking to avoid, in a dead marking,
    /// or at the time `to`, which may be infinite. `rate` is gathered per second, each of `impulses` (transition,
    /// amount before the firing) at a firing. Infinite if a run never ends with a probability above 0.
    ///
    /// # Errors
    ///
    /// Missing states, the errors of [`absorption`] and [`transient`], and a value that is not a number.
    pub fn gathered(
        &self,
        rate: Option<&Code>,
        impulses: &[(u32, Code)],
        to: f64,
        watch: &dyn Watch,
    ) -> Result<f64, AskError> {
        let chain = self.space.complete()?;
        let mut ends = self.space.marked(self.space.goals());
        self.space.dead().iter().for_each(|&state| ends[state as usize] = true);
        let mut times = if to.is_finite() {
            transient(chain, &[to], &TransientSettings::watched(watch))?.stays.swap_remove(0)
        } else {
            let found = absorption(chain, &ends, &LinearSettings::watched(watch))?;
            if found.probability < 1.0 {
                return Ok(f64::INFINITY);
            }
            found.times
        };
        times.iter_mut().zip(&ends).filter(|(_, is_end)| **is_end).for_each(|(time, _)| *time = 0.0);
        let mut sum = match rate {
            Some(rate) => expected(&times, &self.space.values(rate, "the reward")?),
            None => 0.0,
        };
        if !impulses.is_empty() {
            let mut visit = |firing: FiringFlow<'_>| {
                let own = impulses.iter().filter(|(transition, _)| *transition == firing.transition);
                sum += own.map(|(_, amount)| firing.flow * amount.eval(firing.marking)).sum::<f64>();
            };
            self.space.for_each_firing_at_start(&self.program, &mut visit)?;
            self.space.for_each_firing(&self.program, &times, &mut visit)?;
        }
        Ok(sum)
    }
}

/// The probability of reaching a target up to a time.
fn arrival(chain: &Chain, targets: &[bool], to: f64, watch: &dyn Watch) -> Result<f64, AskError> {
    let mut time = passage(chain, targets, &PassageSettings::watched(watch))?;
    Ok(if to.is_finite() { time.cdf(to)? } else { time.probability() })
}

/// A chain that stays forever in some states.
fn stopped(chain: &Chain, is_last: impl Fn(usize) -> bool) -> Chain {
    let row = |state| (!is_last(state)).then(|| chain.rates.row(state)).into_iter().flatten();
    Chain { rates: Rates::from_rows((0..chain.states()).map(row)), initial: chain.initial.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{compile, lower};
    use crate::net::{Net, NetBuilder, Timing};
    use crate::solve::explore;
    use crate::watch::Unwatched;

    /// A token goes round `wait`, `work`, `check` (vanishing) with rates of 1 and 2 per second; a check succeeds with
    /// probability 1/4 and fails with probability 1/4.
    fn attempts() -> Net {
        let mut b = NetBuilder::new("attempts");
        let [wait, work, check, done, failed] =
            [("wait", 1), ("work", 0), ("check", 0), ("done", 0), ("failed", 0)].map(|(id, n)| b.place(id, n));
        for (id, timing, from, to) in [
            ("start", Timing::exponential(1.0), wait, work),
            ("end", Timing::exponential(2.0), work, check),
            ("succeed", Timing::immediate(1.0, 1), check, done),
            ("fail", Timing::immediate(1.0, 1), check, failed),
            ("again", Timing::immediate(2.0, 1), check, wait),
        ] {
            let t = b.transition(id, timing);
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        b.build().unwrap()
    }

    /// `wait` becomes `work` at 1 per second.
    fn one_start() -> Net {
        let mut b = NetBuilder::new("one start");
        let [wait, work] = [("wait", 1), ("work", 0)].map(|(id, n)| b.place(id, n));
        let start = b.transition("start", Timing::exponential(1.0));
        b.input(wait, start, 1.0);
        b.output(start, work, 1.0);
        b.build().unwrap()
    }

    fn code(net: &Net, text: &str) -> Code {
        lower(net, &net.expression(text).unwrap())
    }

    fn probability(net: &Net, goal: &str, avoid: &str, times: [f64; 2]) -> Result<f64, AskError> {
        let program = compile(net).unwrap();
        let limits = Limits::default();
        let space = explore(&program, None, &limits, &Unwatched).unwrap();
        let (goal, avoid) = (code(net, goal), code(net, avoid));
        let until = Until { goal: Some(&goal), avoid: Some(&avoid) };
        until.probability(&program, &space, times, (&Symmetry::default(), &limits), &Unwatched)
    }

    #[test]
    fn probabilities_have_their_closed_forms() {
        let net = attempts();
        let ever = [0.0, f64::INFINITY];
        assert!((probability(&net, "#(done) = 1", "#(failed) = 1", ever).unwrap() - 0.5).abs() < 1e-12);
        // not one failed check, not even in zero time
        assert!((probability(&net, "#(done) = 1", "#(check) = 1", ever).unwrap()).abs() < 1e-12);
        assert!((probability(&net, "#(check) = 1", "#(done) = 1", ever).unwrap() - 1.0).abs() < 1e-12);
        // the start is after 1 s, and before 3 s
        let between = probability(&one_start(), "#(work) = 1", "#(wait) = 0", [1.0, 3.0]).unwrap();
        assert!((between - (f64::exp(-1.0) - f64::exp(-3.0))).abs() < 1e-11, "{between}");
        let error = probability(&net, "#(done) = 1", "#(check) = 1", [1.0, 3.0]).unwrap_err();
        assert_eq!(error, AskError::ZeroTime);
    }

    /// A first time of 1e-9 s gives nearly the probability of a first time of 0. This test was seen to fail if the time
    /// from 0 to the first time is left out.
    #[test]
    fn a_first_time_near_0_changes_little() {
        let net = attempts();
        for to in [0.5, 4.0] {
            let [exact, near] = [0.0, 1e-9].map(|from| probability(&net, "#(done) = 1", "#(failed) = 1", [from, to]));
            let (exact, near) = (exact.unwrap(), near.unwrap());
            assert!(exact > 0.01 && (exact - near).abs() < 1e-8, "{exact} {near}");
        }
    }

    /// Each round takes 1 s of waiting and 1/2 s of work on average; 2 rounds are expected.
    #[test]
    fn rewards_are_gathered_up_to_the_end_of_a_run() {
        let net = attempts();
        let program = compile(&net).unwrap();
        let gathered = |goal: Option<&str>, avoid: &str, rate: &str, impulse: &str, to: f64| {
            let (goal, avoid) = (goal.map(|goal| code(&net, goal)), code(&net, avoid));
            let until = Until { goal: goal.as_ref(), avoid: Some(&avoid) };
            let states = until.explore(&program, &Symmetry::default(), &Limits::default(), &Unwatched).unwrap();
            let t = net.find_transition(impulse).unwrap().index() as u32;
            states.gathered(Some(&code(&net, rate)), &[(t, code(&net, "2 + #(check)"))], to, &Unwatched).unwrap()
        };
        let ever = f64::INFINITY;
        for (found, exact) in [
            (gathered(None, "0", "#(wait)", "fail", ever), 2.0 + 0.5 * 3.0),
            (gathered(Some("#(done) = 1"), "#(failed) = 1", "#(work)", "end", ever), 1.0 + 2.0 * 2.0),
            (gathered(Some("#(check) = 1"), "0", "1", "again", ever), 1.5),
            (gathered(None, "#(work) = 1", "1", "start", 1.0), 3.0 * (1.0 - f64::exp(-1.0))),
            // a dead marking ends a run that does not reach its goal
            (gathered(Some("#(wait) = 7"), "0", "1", "again", 1e4), 3.0 + 2.0 * 0.5 * 3.0),
        ] {
            assert!((found - exact).abs() < 1e-9, "{found}, not {exact}");
        }
    }

    #[test]
    fn a_run_that_may_never_end_gathers_without_end() {
        let mut b = NetBuilder::new("round");
        let [a, z] = [("a", 1), ("z", 0)].map(|(id, n)| b.place(id, n));
        for (id, from, to) in [("there", a, z), ("back", z, a)] {
            let t = b.transition(id, Timing::exponential(1.0));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let net = b.build().unwrap();
        let goal = code(&net, "#(a) = 2");
        let until = Until { goal: Some(&goal), avoid: None };
        let program = compile(&net).unwrap();
        let states = until.explore(&program, &Symmetry::default(), &Limits::default(), &Unwatched).unwrap();
        assert_eq!(states.gathered(Some(&code(&net, "1")), &[], f64::INFINITY, &Unwatched), Ok(f64::INFINITY));
    }
}
