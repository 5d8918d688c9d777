//! `check`: what a net consists of, what is odd about it, which engine would run it.

use serde::Serialize;
use tailspn::compile::Program;
use tailspn::formats::pipe::{PipeFinding, PipeVersion, Severity, pipe_report};
use tailspn::net::{ArcKind, Delay, Net, Timing};
use tailspn::report::{Align, Table, count, counted, json, plain};
use tailspn::sim::{Ending, EngineChoice, Ensemble, Question, RunError, Unwatched, run as replicate};

use crate::cli::args::CheckArgs;
use crate::cli::check_against::{DifferenceRow, against, against_text};
use crate::cli::exit::Exit;
use crate::cli::load::{Loaded, compile_net, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Firings of the trial that looks for faults.
const TRIAL: u64 = 100_000;

/// Everything that is said about a net.
#[derive(Debug, Serialize)]
struct CheckReport {
    name: String,
    dialect: String,
    places: usize,
    places_with_capacity: usize,
    transitions: usize,
    immediate: usize,
    exponential: usize,
    other_delays: usize,
    arcs: usize,
    input_arcs: usize,
    output_arcs: usize,
    inhibitor_arcs: usize,
    test_arcs: usize,
    classes: Vec<ClassRow>,
    parameters: Vec<ParameterRow>,
    warnings: Vec<WarningRow>,
    remarks: Vec<String>,
    engine: Option<&'static str>,
    engines: Vec<EngineRow>,
    trial: String,
    fault: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pipe: Option<Vec<PipeRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<DifferenceRow>>,
}

#[derive(Debug, Serialize)]
struct ClassRow {
    name: String,
    tokens: u64,
}

#[derive(Debug, Serialize)]
struct ParameterRow {
    name: String,
    value: String,
}

#[derive(Debug, Serialize)]
struct WarningRow {
    place: Option<String>,
    message: String,
}

#[derive(Debug, Serialize)]
struct EngineRow {
    name: &'static str,
    obstacles: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PipeRow {
    version: &'static str,
    severity: &'static str,
    message: String,
}

/// Checks the net.
pub(crate) fn run(args: &CheckArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = read_net(&args.net)?;
    let program = compile_net(&loaded.net)?;
    let mut report = report_on(&loaded, &program, args.pipe);
    report.differences = args.against.as_deref().map(|other| against(&loaded.net, &args.net, other)).transpose()?;
    let exit = if report.fault { Exit::Model } else { Exit::Success };
    if args.json {
        let text = json("check", &report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        terminal.data(&text)?;
    } else {
        terminal.warnings(&loaded.warnings);
        terminal.data(&text_of(&report))?;
        if let (Some(differences), Some(other)) = (&report.differences, &args.against) {
            terminal.data(&against_text(differences, &loaded.net, other))?;
        }
    }
    Ok(exit)
}

fn report_on(loaded: &Loaded, program: &Program, pipe: bool) -> CheckReport {
    let net = &loaded.net;
    let delays = |wanted: fn(&Timing) -> bool| net.transitions().iter().filter(|t| wanted(&t.timing)).count();
    let arcs = |kind: ArcKind| net.arcs().iter().filter(|arc| arc.kind == kind).count();
    let (trial, fault) = trial(program);
    CheckReport {
        name: net.name().to_owned(),
        dialect: loaded.dialect.to_string(),
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
        warnings: loaded.warnings.iter().map(|w| WarningRow { place: w.spot(), message: w.to_string() }).collect(),
        remarks: remarks(net),
        engine: with_engine(program, EngineChoice::Auto).ok(),
        engines: engine_rows(program),
        trial,
        fault,
        pipe: pipe.then(|| pipe_report(net).iter().map(pipe_row).collect()),
        differences: None,
    }
}

fn class_rows(net: &Net) -> Vec<ClassRow> {
    let tokens = |class: usize| net.places().iter().filter_map(|p| p.initial.get(class)).map(|&n| u64::from(n)).sum();
    net.classes().iter().enumerate().map(|(i, class)| ClassRow { name: class.id.clone(), tokens: tokens(i) }).collect()
}

/// Parts that do nothing, and transitions that fire without taking anything.
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
            remarks.push(format!("immediate transition `{}` takes nothing and may fire for ever", transition.id));
        }
    }
    remarks
}

/// The engine that such a choice leads to, or why there is none.
fn with_engine(program: &Program, engine: EngineChoice) -> Result<&'static str, Vec<String>> {
    let nothing =
        Ensemble { replications: 0, engine, threads: Some(std::num::NonZeroUsize::MIN), ..Ensemble::default() };
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
        EngineRow { name, obstacles: obstacles.collect() }
    })
    .collect()
}

/// What a short run shows, and whether it shows that the net is wrong.
fn trial(program: &Program) -> (String, bool) {
    let question = Question { max_firings: Some(TRIAL), ..Question::default() };
    let one = Ensemble { replications: 1, engine: EngineChoice::Race, ..Ensemble::default() };
    let words = match replicate(program, &question, &one, &Unwatched) {
        Err(error) => return (format!("fails: {error}"), matches!(error, RunError::Fault(_))),
        Ok(run) if run.samples.firings == 0 => "nothing can fire in the initial marking".to_owned(),
        Ok(run) if run.samples.ended(Ending::Firings) > 0 => format!("goes on after {} firings", count(TRIAL.into())),
        Ok(run) => {
            let time = run.samples.passage.mean_ticks().map_or(0.0, |ticks| ticks * run.samples.clock.tick());
            format!("ends in a dead marking after {}, at {} s", counted(run.samples.firings, "firing"), plain(time))
        }
    };
    (words, false)
}

fn pipe_row(finding: &PipeFinding) -> PipeRow {
    PipeRow {
        version: match finding.version {
            PipeVersion::Pipe43 => "PIPE 4.3",
            PipeVersion::Pipe5 => "PIPE 5",
        },
        severity: match finding.severity {
            Severity::Note => "note",
            Severity::Wrong => "wrong",
            Severity::Refused => "refused",
        },
        message: finding.message.clone(),
    }
}

fn text_of(report: &CheckReport) -> String {
    let name = if report.name.is_empty() { String::new() } else { format!(" `{}`", report.name) };
    let mut text = format!("net{name}, {}\n", report.dialect);
    text += &structure(report).text();
    for remark in &report.remarks {
        text += &format!("remark: {remark}\n");
    }
    text += &format!("trial: {}\n", report.trial);
    text += &format!("engine: {}\n", report.engine.unwrap_or("none"));
    for engine in &report.engines {
        text += &engine_text(engine);
    }
    if let Some(findings) = &report.pipe {
        text += &pipe_text(findings, report.warnings.len());
    }
    text
}

fn structure(report: &CheckReport) -> Table {
    let mut table = Table::new([("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    let parts = |counts: &[(usize, &str)]| {
        let named = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n as u128)));
        named.collect::<Vec<_>>().join(", ")
    };
    let mut row =
        |what: &str, number: usize, parts: String| table.push([what.to_owned(), count(number as u128), parts]);
    row("places", report.places, parts(&[(report.places_with_capacity, "with a capacity")]));
    let delays = [
        (report.immediate, "immediate"),
        (report.exponential, "exponential"),
        (report.other_delays, "with another delay"),
    ];
    row("transitions", report.transitions, parts(&delays));
    let kinds = [
        (report.input_arcs, "in"),
        (report.output_arcs, "out"),
        (report.inhibitor_arcs, "inhibitor"),
        (report.test_arcs, "test"),
    ];
    row("arcs", report.arcs, parts(&kinds));
    let tokens = report.classes.iter().map(|class| format!("{} {}", count(class.tokens.into()), class.name));
    row("token classes", report.classes.len(), format!("at the start {}", tokens.collect::<Vec<_>>().join(", ")));
    if !report.parameters.is_empty() {
        let values = report.parameters.iter().map(|p| format!("{} = {}", p.name, p.value));
        row("rate parameters", report.parameters.len(), values.collect::<Vec<_>>().join(", "));
    }
    table
}

/// How many reasons are listed for one engine.
const MOST_OBSTACLES: usize = 5;

fn engine_text(engine: &EngineRow) -> String {
    if engine.obstacles.is_empty() {
        return format!("  {:<9} can run it\n", engine.name);
    }
    let mut text = String::new();
    for (i, obstacle) in engine.obstacles.iter().take(MOST_OBSTACLES).enumerate() {
        text += &format!("  {:<9} {obstacle}\n", if i == 0 { engine.name } else { "" });
    }
    let left = engine.obstacles.len().saturating_sub(MOST_OBSTACLES);
    if left > 0 {
        text += &format!("  {:<9} and {} more\n", "", count(left as u128));
    }
    text
}

fn pipe_text(findings: &[PipeRow], oddities: usize) -> String {
    let file = format!(
        "the file itself has {} (above), which PIPE 4.3 and PIPE 5 may read otherwise or refuse\n",
        if oddities == 1 { "1 oddity".to_owned() } else { format!("{} oddities", count(oddities as u128)) }
    );
    if findings.is_empty() {
        let nothing = "PIPE: nothing is known that PIPE 4.3 or PIPE 5 would get wrong";
        return if oddities > 0 { format!("{nothing} about the net as read; {file}") } else { format!("{nothing}\n") };
    }
    let lines = findings.iter().map(|f| format!("{} ({}): {}\n", f.version, f.severity, f.message));
    let mut text: String = lines.collect();
    if oddities > 0 {
        text += &format!("PIPE: this is about the net as read; {file}");
    }
    text
}
