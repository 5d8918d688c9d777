//! The check of a net: its parts, remarks, the engines that can run it, and a short run.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use crate::answer::with_phases;
use crate::ask::net::ExchangedParts;
use crate::compile::{CompileError, Program, compile};
use crate::fold::{Keep, Symmetry, fold, fold_markings};
use crate::net::{ArcKind, Delay, Difference, Net, Timing, differences};
use crate::report::check::{CheckReport, ClassRow, DifferenceRow, EngineRow, ParameterRow};
use crate::report::number::{count, counted, plain};
use crate::sim::{Ending, EngineChoice, Ensemble, FoldedParts, NotFolded, Question, RunError, run as replicate};
use crate::watch::Unwatched;

/// Firings of the trial that searches for faults.
const TRIAL: u64 = 100_000;

/// Checks a net. The format of its file, the warnings about the file, and comparisons are left empty.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_report::report::check_net;
///
/// let mut b = NetBuilder::new("task");
/// let (open, alone) = (b.place("open", 1), b.place("alone", 0));
/// let work = b.transition("work", Timing::exponential(0.5));
/// b.input(open, work, 1.0);
/// let report = check_net(&b.build().unwrap()).unwrap();
/// assert_eq!(report.remarks, ["place `alone` has no arc"]);
/// assert_eq!(report.engine.as_deref(), Some("schedule"));
/// ```
///
/// # Errors
///
/// A net that cannot be compiled.
pub fn check_net(net: &Net) -> Result<CheckReport, CompileError> {
    let program = &compile(net)?;
    let delays = |wanted: fn(&Timing) -> bool| net.transitions().iter().filter(|t| wanted(&t.timing)).count();
    let arcs = |kind: ArcKind| net.arcs().iter().filter(|arc| arc.kind == kind).count();
    let (trial, fault) = trial(program);
    let EqualParts { folded, folded_by_solve, exchanged, not_folded } = EqualParts::of(net);
    Ok(CheckReport {
        name: net.name().to_owned(),
        dialect: String::new(),
        places: net.places().len(),
        places_with_capacity: net.places().iter().filter(|place| place.capacity.is_some()).count(),
        transitions: net.transitions().len(),
        immediate: delays(|timing| matches!(timing, Timing::Immediate { .. })),
        exponential: delays(|timing| matches!(timing, Timing::Timed { delay: Delay::Exponential { .. }, .. })),
        other_delays: delays(|timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. })),
        arcs: net.arcs().len(),
        input_arcs: arcs(ArcKind::Input),
        output_arcs: arcs(ArcKind::Output),
        inhibitor_arcs: arcs(ArcKind::Inhibitor),
        test_arcs: arcs(ArcKind::Test),
        classes: class_rows(net),
        parameters: net
            .parameters()
            .iter()
            .map(|p| ParameterRow { name: p.name.clone(), value: net.expression_text(&p.value) })
            .collect(),
        warnings: Vec::new(),
        remarks: remarks(net),
        engine: with_engine(program, EngineChoice::Auto).ok(),
        engines: engine_rows(program),
        folded,
        folded_by_solve,
        exchanged,
        not_folded,
        trial,
        fault,
        pipe: None,
        differences: None,
    })
}

/// Equal parts of a net: parts that can be folded, parts that `net solve` treats as exchangeable, and parts that cannot be
/// folded.
struct EqualParts {
    folded: Option<FoldedParts>,
    /// The parts that `net solve` folds, if it folds more parts than a simulation.
    folded_by_solve: Option<FoldedParts>,
    exchanged: Vec<ExchangedParts>,
    not_folded: Vec<NotFolded>,
}

impl EqualParts {
    fn of(net: &Net) -> Self {
        let simulated = fold(net, &Keep::default());
        let phases = with_phases(net).ok();
        let solved = fold_markings(phases.as_ref().map_or(net, |phases| &phases.net), &Keep::default());
        let symmetry =
            if phases.is_some() { Symmetry::of(solved.net(), &Keep::default()) } else { Symmetry::default() };
        let has_phases = phases.is_some_and(|phases| !phases.hidden_places.is_empty());
        let more = solved.has_machines() || (has_phases && !simulated.is_folded());
        Self {
            folded: FoldedParts::of(&simulated),
            folded_by_solve: FoldedParts::of(&solved).filter(|_| more),
            exchanged: ExchangedParts::all(&symmetry, solved.net()),
            not_folded: NotFolded::all(&solved),
        }
    }
}

fn class_rows(net: &Net) -> Vec<ClassRow> {
    let tokens = |class: usize| net.places().iter().filter_map(|p| p.initial.get(class)).map(|&n| u64::from(n)).sum();
    net.classes().iter().enumerate().map(|(i, class)| ClassRow { name: class.id.clone(), tokens: tokens(i) }).collect()
}

/// Returns remarks on nodes without arcs, and on immediate transitions that fire without consuming tokens.
fn remarks(net: &Net) -> Vec<String> {
    let mut place_has_arc = vec![false; net.places().len()];
    let mut transition_has_arc = vec![false; net.transitions().len()];
    let mut has_input = vec![false; net.transitions().len()];
    for arc in net.arcs() {
        place_has_arc[arc.place.index()] = true;
        transition_has_arc[arc.transition.index()] = true;
        has_input[arc.transition.index()] |= arc.kind == ArcKind::Input;
    }
    let mut remarks = Vec::new();
    for (place, _) in net.places().iter().zip(place_has_arc).filter(|(_, has)| !has) {
        remarks.push(format!("place `{}` has no arc", place.id));
    }
    for ((transition, has_arc), has_input) in net.transitions().iter().zip(transition_has_arc).zip(has_input) {
        if !has_arc {
            remarks.push(format!("transition `{}` has no arc", transition.id));
        } else if !has_input && transition.is_immediate() {
            remarks.push(format!("immediate transition `{}` consumes nothing, so it can fire forever", transition.id));
        }
    }
    remarks
}

/// Returns the engine that runs the program under this choice, or the obstacles if no engine can.
fn with_engine(program: &Program, engine: EngineChoice) -> Result<Cow<'static, str>, Vec<String>> {
    let nothing = Ensemble { replications: 0, engine, threads: Some(NonZeroUsize::MIN), ..Ensemble::default() };
    match replicate(program, &Question::default(), &nothing, &Unwatched) {
        Ok(run) => Ok(run.provenance.engine),
        Err(RunError::Engine { reasons, .. }) => Err(reasons),
        Err(error) => Err(vec![error.to_string()]),
    }
}

fn engine_rows(program: &Program) -> Vec<EngineRow> {
    [
        ("schedule", EngineChoice::Schedule),
        ("lockstep", EngineChoice::Lockstep),
        ("direct", EngineChoice::Direct),
        ("clock", EngineChoice::Clock),
    ]
    .into_iter()
    .map(|(name, choice)| {
        let own = format!("{name}: ");
        let obstacles = with_engine(program, choice).err().unwrap_or_default();
        let obstacles = obstacles.into_iter().map(|text| text.strip_prefix(&own).unwrap_or(&text).to_owned());
        EngineRow { name: name.into(), obstacles: obstacles.collect() }
    })
    .collect()
}

/// Runs one short replication. Returns a description of the run, and true if the run shows that the net is wrong.
fn trial(program: &Program) -> (String, bool) {
    let question = Question { max_firings: Some(TRIAL), ..Question::default() };
    let one = Ensemble { replications: 1, engine: EngineChoice::Race, ..Ensemble::default() };
    let words = match replicate(program, &question, &one, &Unwatched) {
        Err(error) => return (format!("fails: {error}"), matches!(error, RunError::Fault(_))),
        Ok(run) if run.samples.firings == 0 => "ends at once: nothing can fire in the initial marking".to_owned(),
        Ok(run) if run.samples.ended(Ending::Firings) > 0 => {
            format!("is still running after {} firings", count(TRIAL.into()))
        }
        Ok(run) => {
            let time = run.samples.passage.mean_ticks().map_or(0.0, |ticks| ticks * run.samples.clock.tick());
            format!("ends in a dead marking after {}, at {} s", counted(run.samples.firings, "firing"), plain(time))
        }
    };
    (words, false)
}

/// Returns the differences of two nets, as rows of the report of the first.
pub fn difference_rows(net: &Net, other: &Net) -> Vec<DifferenceRow> {
    let row = |found: Difference| DifferenceRow {
        part: found.part.word().into(),
        name: found.name,
        what: found.what.into(),
        here: found.first,
        there: found.second,
    };
    differences(net, other).into_iter().map(row).collect()
}
