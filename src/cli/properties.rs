//! `solve --property`: the properties of a JANI model.

use std::time::Instant;

use tailspn::compile::Program;
use tailspn::fold::Symmetry;
use tailspn::formats::jani::Property;
use tailspn::net::Net;
use tailspn::report::{MethodRow, PropertyRow, SolveReport, Subject, solve_report};
use tailspn::solve::{Asking, StateSpace};
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::exact::{failure, find_states, refused};
use crate::cli::exit::Exit;
use crate::cli::load::{Loaded, compile_net};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::solve_method::limits;
use crate::cli::values::fits;
use crate::cli::watch::{Progress, catch_interrupt};

/// Answers the properties that the arguments name.
pub(super) fn run(
    loaded: &Loaded,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<Exit, Failure> {
    let asked = chosen(&loaded.properties, &args.property)?;
    let net = &loaded.net;
    let program = compile_net(net)?;
    catch_interrupt(terminal);
    let space = find_states(&program, None, &Symmetry::default(), &limits(args, watch), terminal)
        .map_err(|error| failure(&error))?;
    space.complete().map_err(|error| refused(&error))?;
    let subject = Subject::of(net.name(), &program);
    let mut report = solve_report(&space, None, &program, &subject).map_err(|error| failure(&error))?;
    report.method = MethodRow::states(None);
    report.properties =
        asked.iter().map(|property| row(property, net, &program, &space, args, terminal, watch)).collect();
    terminal.report(&report, &args.print)?;
    verdict(&report)
}

/// Returns the requested properties, in the order of the file.
fn chosen<'p>(properties: &'p [Property], patterns: &[String]) -> Result<Vec<&'p Property>, Failure> {
    for pattern in patterns {
        if !properties.iter().any(|property| fits(pattern, &property.name)) {
            let names: Vec<String> = properties.iter().map(|property| format!("`{}`", property.name)).collect();
            let help = if names.is_empty() {
                "the file has no properties".to_owned()
            } else {
                format!("the properties are {}", names.join(", "))
            };
            return Err(Failure::new(
                Exit::Usage,
                Note::problem(format!("there is no property `{pattern}`")).with_help(help),
            ));
        }
    }
    Ok(properties.iter().filter(|property| patterns.iter().any(|pattern| fits(pattern, &property.name))).collect())
}

fn row(
    property: &Property,
    net: &Net,
    program: &Program,
    space: &StateSpace,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> PropertyRow {
    let started = Instant::now();
    let progress = Progress::new(terminal.shows_progress(), "states");
    let limits = limits(args, watch);
    let answer = match &property.query {
        Ok(query) => Asking { net, program, space, limits: &limits, watch: &TimeLimit::new(&progress, watch.left()) }
            .answer(query)
            .map_err(|error| error.to_string()),
        Err(reason) => Err(format!("is not supported: {reason}")),
    };
    let (value, note) = match answer {
        Ok(value) if value.is_finite() => (Some(value), None),
        Ok(_) => (None, Some("infinite".to_owned())),
        Err(reason) => (None, Some(reason)),
    };
    PropertyRow { name: property.name.clone(), value, note, wall_s: started.elapsed().as_secs_f64() }
}

/// Returns a failure if a property has no answer.
fn verdict(report: &SolveReport) -> Result<Exit, Failure> {
    let without = |row: &&PropertyRow| row.value.is_none() && row.note.as_deref() != Some("infinite");
    let notes: Vec<Note> = report
        .properties
        .iter()
        .filter(without)
        .map(|row| Note::problem(format!("property `{}`: {}", row.name, row.note.as_deref().unwrap_or_default())))
        .collect();
    if notes.is_empty() { Ok(Exit::Success) } else { Err(Failure { exit: Exit::Refused, notes }) }
}
