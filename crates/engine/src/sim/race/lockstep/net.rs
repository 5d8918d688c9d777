//! A small net in the form that the lockstep kernel reads, or what keeps a program from having one.

use crate::compile::{Firing, Op, Program, Value};
use crate::net::Servers;
use crate::net::expr::BinaryOp;
use crate::sim::question::{Goal, Question};
use crate::sim::race::direct_law::DirectLaw;
use crate::sim::race::lockstep::immediate::Immediates;

/// Most transitions; above, looking at all of them at every firing costs more than the vectors save. Measured, see
/// docs/performance.md: the direct form catches up at about 130 with AVX2 and 220 with AVX-512.
const MAX_TRANSITIONS: usize = 128;
/// Most counters.
const MAX_COUNTERS: usize = 128;

/// A bound on the tokens of one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) counter: u32,
    pub(super) tokens: u32,
}

/// When a transition is enabled.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    /// Tokens that must be there.
    pub(super) least: Vec<Bound>,
    /// Tokens that must not be exceeded.
    pub(super) most: Vec<Bound>,
}

/// How the units of a transition follow from its enabling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Units {
    /// So many while it is enabled.
    Plain(u32),
    /// So many for each server, at most `servers` of them.
    Served { each: u32, servers: u32 },
    /// A rate in proportion to the tokens of a counter: `round(rate * tokens * scale)`, and at least 1 if that is not 0.
    PerToken { rate: f64, scale: f64, counter: u32 },
}

/// A timed transition.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub(super) guard: Guard,
    /// Counters of which the smallest is the enabling degree; all its inputs have weight 1.
    pub(super) inputs: Vec<u32>,
    pub(super) units: Units,
}

/// What firings change in one counter.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    pub(super) counter: u32,
    /// Place of a transition among the timed ones, and what it adds.
    pub(super) by: Vec<(u32, i32)>,
}

/// The whole net.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) initial: Vec<u32>,
    pub(super) transitions: Vec<Transition>,
    pub(super) changes: Vec<Changes>,
    pub(super) immediates: Immediates,
    /// Per group of the question: places of its transitions among the timed ones.
    pub(super) observed: Vec<Vec<usize>>,
    /// Largest sum of units that fits 32 bits, whatever is added to it without a look.
    pub(super) most_units: u32,
    /// Tokens that must all be there for the goal; empty where the goal is no marking.
    pub(super) goal: Vec<Bound>,
    /// Firings up to which no counter can reach 2^31.
    pub(super) safe_firings: u64,
}

impl Net {
    /// The net of a program, or everything that is in the way.
    pub(super) fn new(program: &Program, question: &Question, law: DirectLaw) -> Result<Self, Vec<String>> {
        let mut obstacles = obstacles(program, question);
        let immediates = Immediates::new(program, question, &mut obstacles);
        let goal = match &question.goal {
            Goal::Marking(code) => code.as_conjunction().map(|terms| {
                let bound = |(counter, least): (u32, f64)| Bound { counter, tokens: least.max(0.0) as u32 };
                terms.into_iter().map(bound).collect()
            }),
            Goal::Dead | Goal::Horizon => Some(Vec::new()),
        };
        let transitions: Option<Vec<Transition>> =
            program.timed.iter().map(|&t| transition(program, t as usize, law)).collect();
        if goal.is_none() {
            obstacles.push("the goal is not a conjunction of token counts".to_owned());
        }
        if transitions.is_none() && obstacles.is_empty() {
            obstacles.push(
                "a rate depends on the marking in another way than by the tokens of a place, or a transition with several \
                 servers takes more than one token from a place"
                    .to_owned(),
            );
        }
        match (goal, transitions) {
            (Some(goal), Some(transitions)) if obstacles.is_empty() => Ok(Self {
                initial: program.initial.clone(),
                most_units: most_units(&transitions, law),
                transitions,
                immediates,
                observed: question.groups.iter().map(|group| places(program, &group.transitions)).collect(),
                changes: changes(program),
                goal,
                safe_firings: safe_firings(program),
            }),
            _ => Err(obstacles),
        }
    }
}

impl Net {
    /// Significant bits of the smallest total that is not 0.
    pub(super) fn least_bits(&self) -> i32 {
        let units = self.transitions.iter().map(|transition| match transition.units {
            Units::Plain(units) | Units::Served { each: units, .. } => units,
            Units::PerToken { rate, scale, .. } => ((rate * scale).round() as u32).max(1),
        });
        let least = units.filter(|&units| units > 0).min().unwrap_or(1);
        32 - least.leading_zeros().cast_signed()
    }
}

fn obstacles(program: &Program, question: &Question) -> Vec<String> {
    let mut obstacles = Vec::new();
    let mut check = |fine: bool, obstacle: &str| {
        if !fine {
            obstacles.push(obstacle.to_owned());
        }
    };
    check(question.is_passage_only(), "more than passage times is asked");
    let is_immediate = |t: &u32| program.is_immediate(*t as usize);
    let mut observed = question.groups.iter().flat_map(|group| &group.transitions);
    check(!observed.any(is_immediate), "a group has immediate transitions");
    check(program.dynamic.items().is_empty(), "arc weights depend on the marking");
    check(program.classes() == 1, "the net has several token classes");
    check(
        program.transitions() <= MAX_TRANSITIONS,
        "the net has too many transitions to look at all of them at every firing",
    );
    check(program.counters() <= MAX_COUNTERS, "the net has too many places to keep them side by side");
    obstacles
}

/// When a transition is enabled; none if it never is, because it puts more tokens into a place than that may ever hold or
/// is inhibited by no token at all.
pub(super) fn guard(program: &Program, t: usize) -> Option<Guard> {
    let needs = program.inputs.row(t).iter().chain(program.tests.row(t));
    let least = needs.map(|term| Bound { counter: term.counter, tokens: term.weight }).collect();
    let mut most = Vec::new();
    for term in program.inhibitors.row(t) {
        most.push(Bound { counter: term.counter, tokens: term.weight.checked_sub(1)? });
    }
    for room in program.rooms.row(t) {
        let capacity = program.capacity[room.place as usize].unwrap_or(u32::MAX);
        most.push(Bound { counter: room.place, tokens: capacity.checked_sub(room.growth)? });
    }
    Some(Guard { least, most })
}

fn transition(program: &Program, t: usize, law: DirectLaw) -> Option<Transition> {
    let Firing::Exponential { rate, servers } = &program.firing[t] else { return None };
    let Some(guard) = guard(program, t) else {
        return Some(Transition { guard: Guard::default(), inputs: Vec::new(), units: Units::Plain(0) });
    };
    let inputs: Vec<u32> = program.inputs.row(t).iter().map(|term| term.counter).collect();
    let single = program.inputs.row(t).iter().all(|term| term.weight == 1);
    let one = matches!(servers, Servers::Single | Servers::Limited(1));
    let units = match (rate.as_constant(), servers) {
        (None, _) if one => per_token(rate, law)?,
        (None, _) => return None,
        (Some(rate), _) => {
            let each = u32::try_from(law.units(rate)).ok()?;
            match servers {
                _ if one || inputs.is_empty() => Units::Plain(each),
                Servers::Limited(servers) if single => Units::Served { each, servers: *servers },
                Servers::Infinite if single => Units::Served { each, servers: u32::MAX },
                _ => return None,
            }
        }
    };
    Some(Transition { guard, inputs, units })
}

/// The units of a rate that is a number times the tokens of a counter, as folding makes them.
fn per_token(rate: &Value, law: DirectLaw) -> Option<Units> {
    let Value::Code(code) = rate else { return None };
    let (rate, counter) = match *code.ops() {
        [Op::Tokens(counter)] => (1.0, counter),
        [Op::Number(rate), Op::Tokens(counter), Op::Binary(BinaryOp::Multiply)]
        | [Op::Tokens(counter), Op::Number(rate), Op::Binary(BinaryOp::Multiply)] => (rate, counter),
        _ => return None,
    };
    let fits = rate > 0.0 && law.units(rate) <= u64::from(u32::MAX);
    fits.then(|| Units::PerToken { rate, scale: f64::from(law.exponent).exp2(), counter })
}

/// Largest sum of units to which the units of all transitions with one server can be added.
fn most_units(transitions: &[Transition], law: DirectLaw) -> u32 {
    let plain = transitions.iter().map(|transition| match transition.units {
        Units::Plain(units) if !law.fits_32_bits => units,
        _ => 0,
    });
    plain.fold(u32::MAX, u32::saturating_sub)
}

/// Places of transitions among the timed ones.
fn places(program: &Program, transitions: &[u32]) -> Vec<usize> {
    transitions.iter().filter_map(|t| program.timed.iter().position(|timed| timed == t)).collect()
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
