//! A compiled net and a question; replicas that the question does not distinguish are counted.
//!
//! The only module that combines folding with simulation. Results refer to the original net.

use crate::compile::{Code, CompileError, Program, compile, lower, lower_reward, plan_schedule};
use crate::estimate::FloatMoments;
use crate::fold::{self, FoldedTransition, Folding, Keep, Obstacle, fold_markings};
use crate::net::{ArcKind, Net, PlaceId, TransitionId};
use crate::sim::averages::Averages;
use crate::sim::question::{Condition, Goal, Group, Question, Reward, Snapshot};
use crate::sim::record::{FoldedParts, NotFolded, Run};
use crate::sim::steady::BatchAverages;
use crate::sim::targets::{Precision, Quantity, Target};

/// A compiled net and its question.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The program that runs.
    pub program: Program,
    /// The question about the program.
    pub question: Question,
    folding: Option<Box<Folding>>,
    /// Similar parts that are not folded.
    not_folded: Vec<NotFolded>,
}

impl Prepared {
    /// Compiles a net for a question about it. With `fold`, replicas are counted, unless the schedule engine can run
    /// the unfolded net. This engine is faster, and tracks each task.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`].
    pub fn new(net: &Net, question: &Question, fold: bool) -> Result<Self, CompileError> {
        Self::with(net, question, fold.then_some(fold::fold))
    }

    /// As [`new`](Self::new), for replications of one net. Replicas of several tokens are also counted if that leaves far
    /// fewer transitions and the question has no averages per place or transition.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`].
    pub fn for_replications(net: &Net, question: &Question, fold: bool) -> Result<Self, CompileError> {
        let averages = question.tokens || question.throughput;
        Self::with(net, question, fold.then_some(if averages { fold::fold } else { fold_if_smaller }))
    }

    fn with(net: &Net, question: &Question, fold: Option<Fold>) -> Result<Self, CompileError> {
        let folding = fold.map(|fold| fold(net, &question.keep(net)));
        let not_folded = folding.as_ref().map(NotFolded::all).unwrap_or_default();
        if let Some(folding) = folding.filter(Folding::is_folded)
            && let Some(folded) = question.folded(net, &folding)
        {
            if !has_conflict(net) && question.is_passage_only() {
                let program = compile(net)?;
                if plan_schedule(&program).is_ok() {
                    return Ok(Self { program, question: question.clone(), folding: None, not_folded: Vec::new() });
                }
            }
            if let Ok(program) = compiled(folding.net(), &folded) {
                return Ok(Self { program, question: folded, folding: Some(Box::new(folding)), not_folded });
            }
        }
        // errors refer to the original net
        Ok(Self { program: compiled(net, question)?, question: question.clone(), folding: None, not_folded })
    }

    /// Compiles a net for a question to be solved from all states: replicas of several tokens are also folded.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`].
    pub fn for_states(net: &Net, question: &Question) -> Result<Self, CompileError> {
        let folding = fold_markings(net, &question.keep(net));
        let not_folded = NotFolded::all(&folding);
        if folding.is_folded()
            && let Some(folded) = question.folded(net, &folding)
            && let Ok(program) = compiled(folding.net(), &folded)
        {
            return Ok(Self { program, question: folded, folding: Some(Box::new(folding)), not_folded });
        }
        Ok(Self { not_folded, ..Self::with(net, question, None)? })
    }

    /// The net that runs.
    pub fn net<'a>(&'a self, original: &'a Net) -> &'a Net {
        self.folding.as_ref().map_or(original, |folding| folding.net())
    }

    /// Folding of the net; none if it was not folded.
    pub fn folding(&self) -> Option<&Folding> {
        self.folding.as_deref()
    }

    /// Folded parts of the net; none if it runs unfolded.
    pub fn folded_parts(&self) -> Option<FoldedParts> {
        FoldedParts::of(self.folding()?)
    }

    /// Similar parts of the net that are not folded; empty if folding was not tried, or if the schedule engine runs the
    /// unfolded net.
    pub fn not_folded(&self) -> &[NotFolded] {
        &self.not_folded
    }

    /// The results of a run of this program, in terms of the original net.
    pub fn unfold(&self, mut run: Run) -> Run {
        run.provenance.not_folded.clone_from(&self.not_folded);
        let Some(folding) = &self.folding else { return run };
        let samples = &mut run.samples;
        // one term each: with averages in the question, parts of several tokens are not folded
        let times = |terms: &[(&FloatMoments, f64)]| {
            let (moments, share) = terms[0];
            if share < 1.0 { moments.scaled(share) } else { *moments }
        };
        samples.map_averages(|folded| Averages {
            tokens: folding.per_place(&folded.tokens, times),
            throughput: folding.per_transition(&folded.throughput, times),
            ..folded.clone()
        });
        run.provenance.folded = self.folded_parts();
        run
    }

    /// Converts the targets of a run from the original net to this program. A transition that never fires needs no target.
    pub fn targets(&self, targets: &[Target]) -> Vec<Target> {
        let Some(folding) = &self.folding else { return targets.to_vec() };
        let of = |number: usize, replicas: f64, target: &Target, quantity: fn(u32) -> Quantity| Target {
            quantity: quantity(u32::try_from(number).expect("ids fit")),
            precision: match target.precision {
                Precision::Absolute(most) => Precision::Absolute(most * replicas),
                relative @ Precision::Relative(_) => relative,
            },
        };
        let folded = |target: &Target| match target.quantity {
            Quantity::Tokens(place) => {
                let places = folding.places(PlaceId::from_index(place as usize));
                let own = places.first()?;
                Some(of(own.place.index(), own.replicas as f64 / f64::from(own.tokens), target, Quantity::Tokens))
            }
            Quantity::Throughput(t) => {
                let transitions = folding.transitions(TransitionId::from_index(t as usize));
                let own = transitions.first()?;
                Some(of(own.transition.index(), own.replicas as f64, target, Quantity::Throughput))
            }
            _ => Some(*target),
        };
        targets.iter().filter_map(folded).collect()
    }

    /// The averages of long runs of this program, in terms of the original net: the averages of a replica are the
    /// averages of its class divided by the number of replicas.
    pub fn unfold_averages(&self, runs: Vec<BatchAverages>) -> Vec<BatchAverages> {
        let Some(folding) = &self.folding else { return runs };
        runs.into_iter().map(|run| unfolded(folding, run)).collect()
    }
}

/// A way to fold.
type Fold = fn(&Net, &Keep) -> Folding;

/// Replicas of several tokens are counted only if that divides the number of transitions by at least this factor, since
/// their local markings need additional transitions.
const SMALLER: usize = 3;

/// Also folds parts of several tokens, if that makes the net much smaller.
fn fold_if_smaller(net: &Net, keep: &Keep) -> Folding {
    let all = fold_markings(net, keep);
    let is_small = all.net().transitions().len() * SMALLER <= net.transitions().len();
    if is_small || !all.has_machines() { all } else { fold::fold(net, keep) }
}

/// The averages of a long run of a folded net, in terms of the original net.
fn unfolded(folding: &Folding, run: BatchAverages) -> BatchAverages {
    let series = |terms: &[(&Vec<f64>, f64)]| {
        let batches = terms.first().map_or(0, |(series, _)| series.len());
        (0..batches).map(|batch| terms.iter().map(|(series, share)| series[batch] * share).sum()).collect()
    };
    let firings =
        |terms: &[(&u64, f64)]| terms.iter().map(|(fired, share)| **fired as f64 * share).sum::<f64>().round();
    BatchAverages {
        tokens: folding.per_place(&run.tokens, series),
        throughput: folding.per_transition(&run.throughput, series),
        fired: folding.per_transition(&run.fired, |terms| firings(terms) as u64),
        ..run
    }
}

/// Compiles a net such that the goal of the question is observed correctly, see [`Program::observing`].
fn compiled(net: &Net, question: &Question) -> Result<Program, CompileError> {
    let program = compile(net)?;
    Ok(match question.end() {
        Some(end) => program.observing(&end),
        None => program,
    })
}

impl FoldedParts {
    /// Folded parts of a net; none if nothing was folded.
    pub fn of(folding: &Folding) -> Option<Self> {
        let ([places_before, transitions_before], net) = (folding.before(), folding.net());
        let (places, transitions) = (net.places().len(), net.transitions().len());
        folding.is_folded().then_some(Self { places_before, places, transitions_before, transitions })
    }
}

impl NotFolded {
    /// Similar parts of a net that were not folded.
    pub fn all(folding: &Folding) -> Vec<Self> {
        let several = folding.obstacles().iter().filter(|obstacle| obstacle.parts > 1);
        let one = |obstacle: &Obstacle| Self {
            parts: obstacle.parts,
            example: obstacle.example.clone(),
            reason: obstacle.hindrance.words().into(),
        };
        several.map(one).collect()
    }
}

impl Question {
    /// Returns the parts of the net that the question distinguishes, for folding.
    pub fn keep(&self, net: &Net) -> Keep {
        let rates = self.rewards.iter().filter_map(|reward| reward.rate.as_ref());
        let snapshots = self.snapshots.iter().map(|snapshot| &snapshot.value);
        let measures = self.measures.iter().map(|(_, measure)| measure);
        let from = self.from.iter().map(|from| &from.code);
        let codes = self.ends().chain(from).chain(rates).chain(snapshots).chain(measures);
        let groups = self.groups.iter().map(|group| group.transitions.iter().map(|&t| t as usize).collect());
        let impulses = self.rewards.iter().enumerate().flat_map(|(i, reward)| {
            reward.impulses.iter().map(move |(t, amount)| (i, *t as usize, amount.expression(net)))
        });
        Keep {
            expressions: codes.map(|code| code.expression(net)).collect(),
            groups: groups.collect(),
            impulses: impulses.collect(),
        }
    }

    /// Returns the question about the folding of `net`; `None` if the question distinguishes folded parts.
    pub fn folded(&self, net: &Net, folding: &Folding) -> Option<Self> {
        let code = |code: &Code| Some(lower(folding.net(), &folding.expression(&code.expression(net))?));
        let condition = |own: &Condition| Some(Condition { text: own.text.clone(), code: code(&own.code)? });
        let goal = match &self.goal {
            Goal::Marking(goal) => Goal::Marking(condition(goal)?),
            other => other.clone(),
        };
        let snapshot = |own: &Snapshot| Some(Snapshot { value: code(&own.value)?, ..own.clone() });
        let measure = |(name, measure): &(String, Code)| Some((name.clone(), code(measure)?));
        Some(Self {
            goal,
            from: if_any(&self.from, condition)?,
            avoid: if_any(&self.avoid, condition)?,
            groups: self.groups.iter().map(|group| folded_group(folding, group)).collect(),
            rewards: self.rewards.iter().map(|reward| folded_reward(net, folding, reward)).collect::<Option<_>>()?,
            snapshots: self.snapshots.iter().map(snapshot).collect::<Option<_>>()?,
            measures: self.measures.iter().map(measure).collect::<Option<_>>()?,
            ..self.clone()
        })
    }
}

/// Returns the image of a value, if there is one; `None` if the value has no image.
fn if_any<T>(value: &Option<T>, image: impl Fn(&T) -> Option<T>) -> Option<Option<T>> {
    match value {
        Some(value) => image(value).map(Some),
        None => Some(None),
    }
}

fn folded_group(folding: &Folding, group: &Group) -> Group {
    let all = group.transitions.iter().flat_map(|&t| became(folding, t));
    let mut transitions: Vec<u32> = all.map(|to| number(to.transition)).collect();
    transitions.sort_unstable();
    transitions.dedup();
    Group { name: group.name.clone(), transitions }
}

fn folded_reward(net: &Net, folding: &Folding, reward: &Reward) -> Option<Reward> {
    let impulse = |to: FoldedTransition, amount: &Code| {
        let amount = folding.before_firing(to, &amount.expression(net))?;
        Some((number(to.transition), lower(folding.net(), &amount)))
    };
    let rate = |rate: &Code| Some(lower_reward(folding.net(), &folding.expression(&rate.expression(net))?));
    let all = reward.impulses.iter().flat_map(|(t, amount)| became(folding, *t).map(move |to| (to, amount)));
    let impulses = all.filter(|own| own.0.is_first).map(|(to, amount)| impulse(to, amount)).collect::<Option<_>>()?;
    Some(Reward { name: reward.name.clone(), rate: if_any(&reward.rate, rate)?, impulses })
}

/// The transitions of the folded net that represent a transition of the original net.
fn became(folding: &Folding, t: u32) -> impl Iterator<Item = FoldedTransition> {
    folding.transitions(TransitionId::from_index(t as usize)).into_iter()
}

fn number(t: TransitionId) -> u32 {
    u32::try_from(t.index()).expect("ids fit")
}

/// Returns true if transitions compete for the tokens of a place, other than by a free choice of immediate transitions.
/// Such a net is not a schedule.
fn has_conflict(net: &Net) -> bool {
    let inputs = || net.arcs().iter().filter(|arc| arc.kind == ArcKind::Input);
    let mut consumers = vec![0_u32; net.places().len()];
    let mut needs = vec![0_u32; net.transitions().len()];
    for arc in inputs() {
        consumers[arc.place.index()] += 1;
        needs[arc.transition.index()] += 1;
    }
    inputs().any(|arc| {
        let t = arc.transition;
        consumers[arc.place.index()] > 1 && !(net.transition(t).is_immediate() && needs[t.index()] == 1)
    })
}
