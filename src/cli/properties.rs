//! `solve --property`: the properties of a JANI model.

use tailspn::ask::net::answer_properties;
use tailspn::query::Property;
use tailspn::report::{Answer, PropertyRow, SolveReport};
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::exact::{limited, states_failure};
use crate::cli::exit::Exit;
use crate::cli::frame::Asked;
use crate::cli::load::Loaded;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::values::fits;
use crate::cli::watch::catch_interrupt;

/// Answers the properties that the arguments name.
pub(super) fn ask<'a>(
    loaded: &Loaded,
    args: &SolveArgs,
    terminal: &Terminal,
    watch: &TimeLimit<'_>,
) -> Result<Asked<'a>, Failure> {
    let asked = chosen(&loaded.properties, &args.property)?;
    catch_interrupt(terminal);
    let report =
        answer_properties(&loaded.net, &asked, &limited(args.max_states, args.max_memory, watch.left()), watch)
            .map_err(states_failure)?;
    let failure = without_answer(&report);
    Ok(Asked::from(Answer::new(report)).assuming(&loaded.warnings).failing(failure))
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

/// Returns a failure if a property has no answer.
fn without_answer(report: &SolveReport) -> Option<Failure> {
    let without = |row: &&PropertyRow| row.value.is_none() && row.note.as_deref() != Some("infinite");
    let notes: Vec<Note> = report
        .properties
        .iter()
        .filter(without)
        .map(|row| Note::problem(format!("property `{}`: {}", row.name, row.note.as_deref().unwrap_or_default())))
        .collect();
    (!notes.is_empty()).then_some(Failure::of_notes(Exit::Refused, notes))
}
