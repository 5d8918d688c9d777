//! A small net in the form that the lockstep kernel reads, or the reasons why a program has no such form.

use crate::compile::{Code, Firing, Op, Program, Value};
use crate::net::Servers;
use crate::net::expr::BinaryOp;
use crate::sim::clock::Clock;
use crate::sim::question::Question;
use crate::sim::race::direct_law::DirectLaw;
use crate::sim::race::lockstep::asked::LaneQuestion;
use crate::sim::race::lockstep::guard::{Bound, Guard, guard};
use crate::sim::race::lockstep::immediate::Immediates;
use crate::sim::race::lockstep::lanes::Values;

/// Maximum number of transitions. Every firing checks all of them, so the direct form is as fast for smaller nets already,
/// see [`LockstepForm::pays`](super::LockstepForm::pays).
const MAX_TRANSITIONS: usize = 128;
/// Maximum number of counters.
const MAX_COUNTERS: usize = 128;

/// Units of a transition, depending on its enabling.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Units {
    /// A fixed number while the transition is enabled.
    Plain(u32),
    /// A fixed number for each server.
    Served(u32),
    /// A rate proportional to the tokens of a counter.
    PerToken { rate: f64, counter: u32 },
    /// A rate per server that depends on the marking.
    ByMarking(Code),
}

/// A timed transition.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub(super) guard: Guard,
    /// Input counters and weights; the smallest quotient of tokens and weight is the enabling degree.
    pub(super) inputs: Vec<Bound>,
    /// Maximum number of enablings that are served simultaneously.
    pub(super) servers: u32,
    pub(super) units: Units,
}

/// Changes of one counter by firings.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    pub(super) counter: u32,
    /// Indices of transitions, among the timed transitions, each with the tokens that it adds.
    pub(super) by: Vec<(u32, i32)>,
}

/// The whole net.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) initial: Vec<u32>,
    pub(super) transitions: Vec<Transition>,
    pub(super) changes: Vec<Changes>,
    pub(super) immediates: Immediates,
    pub(super) asked: LaneQuestion,
    /// Number of integer units in a rate of 1/s; a power of two. A rate that depends on the marking has `round(rate *
    /// servers * scale)` units, at least 1 if it is not 0.
    pub(super) scale: f64,
    /// True if sums of units have 64 bits.
    pub(super) is_wide: bool,
    /// Maximum sum of units that stays valid after all additions without a check.
    pub(super) most_units: u64,
    /// Number of firings before which no counter can reach 2^31.
    pub(super) safe_firings: u64,
}

/// Maximum number of bits of a total; larger totals need the direct form, even if sums have 64 bits.
const WIDE_BITS: u32 = 50;

impl Net {
    /// Converts the net of a program, or returns all reasons why that is impossible.
    pub(super) fn new(
        program: &Program,
        question: &Question,
        clock: Clock,
        law: DirectLaw,
    ) -> Result<Self, Vec<String>> {
        let mut obstacles = obstacles(program);
        let asked = LaneQuestion::new(program, question, clock, &mut obstacles);
        let immediates = Immediates::new(program, question, &asked.rows, &mut obstacles);
        let transitions: Option<Vec<Transition>> =
            program.timed.iter().map(|&t| transition(program, t as usize, law)).collect();
        if transitions.is_none() {
            obstacles.push("a rate cannot be evaluated in lockstep".to_owned());
        }
        let transitions = transitions.filter(|_| obstacles.is_empty()).ok_or(obstacles)?;
        // rates that depend on the marking may become large; the shift of a time is `base` plus the bits of the total, which has at
        // least the bits of one transition
        let grows = || transitions.iter().any(|t| matches!(t.units, Units::ByMarking(_)));
        let shifts = law.base + least_bits(&transitions, law)..=law.base + 32;
        let is_wide = law.is_wide || *shifts.start() < 0 || *shifts.end() > 63 || grows();
        Ok(Self {
            initial: program.initial.clone(),
            most_units: most_units(&transitions, law, is_wide),
            transitions,
            immediates,
            asked,
            scale: f64::from(law.exponent).exp2(),
            is_wide,
            changes: changes(program),
            safe_firings: safe_firings(program),
        })
    }

    /// Every expression that is evaluated in all lanes.
    pub(super) fn codes(&self) -> impl Iterator<Item = &Code> {
        let rates = self.transitions.iter().filter_map(|transition| match &transition.units {
            Units::ByMarking(rate) => Some(rate),
            _ => None,
        });
        rates.chain(self.asked.codes())
    }
}

/// Significant bits of the smallest total that is not 0.
fn least_bits(transitions: &[Transition], law: DirectLaw) -> i32 {
    let units = transitions.iter().map(|transition| match transition.units {
        Units::Plain(units) | Units::Served(units) => units,
        Units::PerToken { rate, .. } => u32::try_from(law.units(rate)).unwrap_or(u32::MAX),
        Units::ByMarking(_) => 1,
    });
    let least = units.filter(|&units| units > 0).min().unwrap_or(1);
    32 - least.leading_zeros().cast_signed()
}

fn obstacles(program: &Program) -> Vec<String> {
    let mut obstacles = Vec::new();
    let mut check = |fine: bool, obstacle: &str| {
        if !fine {
            obstacles.push(obstacle.to_owned());
        }
    };
    check(program.dynamic.items().is_empty(), "arc weights depend on the marking");
    check(program.classes() == 1, "the net has several token classes");
    check(
        program.transitions() <= MAX_TRANSITIONS,
        "the net has too many transitions to check all of them at every firing",
    );
    check(program.counters() <= MAX_COUNTERS, "the net has too many places for lockstep");
    obstacles
}

fn transition(program: &Program, t: usize, law: DirectLaw) -> Option<Transition> {
    let Firing::Exponential { rate, servers } = &program.firing[t] else { return None };
    let Some(mut guard) = guard(program, t) else {
        let never = Units::Plain(0);
        return Some(Transition { guard: Guard::default(), inputs: Vec::new(), servers: 1, units: never });
    };
    let input = |term: &crate::compile::Term| Bound { counter: term.counter, tokens: term.weight };
    let inputs: Vec<Bound> = program.inputs.row(t).iter().map(input).collect();
    let servers = match servers {
        // without inputs a transition is enabled once
        _ if inputs.is_empty() => 1,
        Servers::Single => 1,
        Servers::Limited(servers) => *servers,
        Servers::Infinite => u32::MAX,
    };
    let units = match (rate.as_constant(), rate) {
        _ if servers == 0 => Units::Plain(0),
        (Some(rate), _) => {
            let each = u32::try_from(law.units(rate)).ok()?;
            if servers == 1 { Units::Plain(each) } else { Units::Served(each) }
        }
        (None, Value::Code(code)) if Values::can_hold(code) => {
            let per_token = per_token(code, law).filter(|_| servers == 1);
            per_token.unwrap_or_else(|| Units::ByMarking(code.clone()))
        }
        _ => return None,
    };
    if servers == 1 {
        return Some(Transition { guard, inputs: Vec::new(), servers, units });
    }
    // without the token the degree is 0
    guard.least.retain(|bound| bound.tokens > 1 || !inputs.contains(bound));
    Some(Transition { guard, inputs, servers, units })
}

/// The units of a rate that is a number times the tokens of a counter, as folding produces it.
fn per_token(rate: &Code, law: DirectLaw) -> Option<Units> {
    let (rate, counter) = match *rate.ops() {
        [Op::Tokens(counter)] => (1.0, counter),
        [Op::Number(rate), Op::Tokens(counter), Op::Binary(BinaryOp::Multiply)]
        | [Op::Tokens(counter), Op::Number(rate), Op::Binary(BinaryOp::Multiply)] => (rate, counter),
        _ => return None,
    };
    let fits = rate > 0.0 && law.units(rate) <= u64::from(u32::MAX);
    fits.then_some(Units::PerToken { rate, counter })
}

/// Maximum sum of units to which the units of all transitions with one server can be added without a check. The result
/// must stay below the largest number of the type, which represents overflow.
fn most_units(transitions: &[Transition], law: DirectLaw, is_wide: bool) -> u64 {
    let plain = transitions.iter().map(|transition| match transition.units {
        Units::Plain(units) if !law.fits_32_bits => u64::from(units),
        _ => 0,
    });
    let most = if is_wide { 1 << WIDE_BITS } else { u64::from(u32::MAX) };
    plain.fold(most - 1, u64::saturating_sub)
}

fn changes(program: &Program) -> Vec<Changes> {
    let mut by = vec![Vec::new(); program.counters()];
    for (place, &t) in (0..).zip(&program.timed) {
        for change in program.changes.row(t as usize) {
            by[change.counter as usize].push((place, change.by));
        }
    }
    let changed = (0..).zip(by).filter(|(_, by)| !by.is_empty());
    changed.map(|(counter, by)| Changes { counter, by }).collect()
}

fn safe_firings(program: &Program) -> u64 {
    let growth = program.changes.items().iter().map(|change| change.by).max().unwrap_or(0).max(1);
    let most = program.initial.iter().copied().max().unwrap_or(0);
    u64::from((1_u32 << 31).saturating_sub(most)) / u64::from(growth.unsigned_abs())
}
