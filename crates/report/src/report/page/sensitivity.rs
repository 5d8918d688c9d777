//! The section of a sensitivity: which knob buys most, how sure that order is, and what each knob does.

use crate::document::parts::{cut, interval_note, setting};
use crate::document::{Cell, Document, Headline, Number, Piece, Table};
use crate::report::number::{count, counted, plain};
use crate::report::plot::PlotError;
use crate::report::sensitivity::lead;
use crate::report::sensitivity_plot::{most_drawn, sensitivity_picture};
use crate::sensitivity::{Effect, KnobEffect, SensitivityReport};

/// What a sensitivity found.
pub(in crate::report) fn section(report: &SensitivityReport) -> Result<Document<'static>, PlotError> {
    let mut section = Document {
        kind: "sensitivity",
        title: format!("What moves the {} time", report.measure),
        question: format!("Which knob buys most? {}.", asked(&report.method)),
        answer: answer(report),
        headline: base(report),
        plan: report.plan.clone(),
        provenance: provenance(report),
        ..Document::default()
    };
    if report.partial {
        let done = counted(report.points, "point");
        section.remarks.push(format!("The run was ended early: this rests on {done}."));
    }
    let (title, caption) = how_to_read(report);
    section.drawn(sensitivity_picture(report)?, title, caption);
    section.table(knobs(report));
    section.table(without(report));
    section.table(moved(report));
    Ok(section)
}

/// What the method asks.
fn asked(method: &str) -> &'static str {
    match method {
        "derivatives" => "What a little more of each does, at the base",
        "each" => "What each does from one end of its range to the other, all others as in the base",
        "morris" => "What each does over its whole range, wherever the others are",
        _ => "Whose is the spread of the time over the ranges, alone and together with others",
    }
}

/// Which knob comes first, and whether that is sure.
fn answer(report: &SensitivityReport) -> Vec<Piece> {
    let Some(lead) = lead(report) else {
        return vec!["No knob is surely worth anything here: what they do may be chance.".into()];
    };
    let at = format!("/knobs/{}/effect/{}", lead.place, lead.key);
    // the words say in which direction
    let number = Number { factor: lead.effect.value.signum(), ..Number::effect(at, &lead.effect, "s") };
    let mut pieces: Vec<Piece> = vec![lead.before.clone().into(), number.into(), ".".into()];
    if !lead.rivals.is_empty() {
        let rivals = lead.rivals_in_words();
        pieces.push(format!(" That it comes first is not sure: its interval overlaps that of {rivals}.").into());
    } else if report.knobs.iter().filter(|row| row.effect.is_some()).count() > 1 {
        pieces
            .push(" That it comes first is as sure as these intervals: its own overlaps that of no other knob.".into());
    }
    pieces
}

/// The times of the base, where it is known.
fn base(report: &SensitivityReport) -> Option<Headline> {
    let value = report.value_s.as_ref().filter(|_| report.is_at_the_base() && report.measure == "mean")?;
    let mean = Number::effect("/value_s", value, "s");
    Some(Headline { of: Some("the base".to_owned()), mean, quantiles: [None, None, None] })
}

fn how_to_read(report: &SensitivityReport) -> (&'static str, String) {
    let measure = &report.measure;
    let (title, mut caption) = match &*report.method {
        "derivatives" => (
            "What one percent more of each knob does",
            format!("Change of the {measure} time: left of 0 the job gets faster. The black lines are intervals."),
        ),
        "each" => (
            "Which knob matters",
            format!(
                "How far the {measure} time moves from the base, at both ends of each knob; the ends stand beside the bars, the black \
                 lines are intervals."
            ),
        ),
        "morris" => (
            "Which knob matters, and which acts alone",
            "To the right: the knob moves the time more. Above: it does so differently from place to place, because it is not linear, or \
             because it depends on other knobs; beyond the line σ = μ*, more than it moves it at all. The grey lines are intervals; names that have no room are in the table, by their rank."
                .to_owned(),
        ),
        _ => (
            "Whose the spread is",
            "Blue: the share of the variance that goes away once this knob is fixed (S). Orange: the share that is left once all others \
             are (S_T); what it is longer by is the knob's part in interactions. The black lines are bootstrap intervals."
                .to_owned(),
        ),
    };
    let drawn = most_drawn(&report.method);
    let all = report.knobs.iter().filter(|row| row.effect.is_some()).count();
    if all > drawn {
        caption += &format!(" {} more are not drawn.", count((all - drawn) as u128));
    }
    (title, caption)
}

/// The knobs by rank.
fn knobs(report: &SensitivityReport) -> Table {
    let head: &[&str] = match &*report.method {
        "derivatives" => &["knob", "value", "s per unit", "s per 1 %"],
        "each" => {
            &["knob", "from", "against base [s]", "to", "against base [s]", "change [s]", "s per unit", "s per 1 %"]
        }
        "morris" => &["knob", "from", "to", "μ* [s]", "μ [s]", "σ [s]", "s per unit", "s per 1 %"],
        _ => &["knob", "from", "to", "S", "S_T", "√(S_T V) [s]"],
    };
    let mut table =
        Table::new("Knobs by rank", format!("{} {}", ranked_by(&report.method), interval_note(report.level)), head);
    for ((i, row), rank) in report.knobs.iter().enumerate().zip(1..) {
        let Some(effect) = &row.effect else { continue };
        let name = Cell::from(format!("{rank}. {}", row.name));
        table.rows.push(std::iter::once(name).chain(cells(&format!("/knobs/{i}/effect"), effect)).collect());
    }
    cut(table)
}

/// By what knobs are ranked.
fn ranked_by(method: &str) -> &'static str {
    match method {
        "derivatives" => "Ranked by seconds for one percent more; a minus sign means that more of it is faster.",
        "each" => "Ranked by the change from one end to the other.",
        "morris" => {
            "Ranked by μ*, the mean size of the effect; μ is its mean, σ its standard deviation between places."
        }
        _ => "Ranked by √(S_T V), the standard deviation that the knob makes.",
    }
}

fn cells(at: &str, effect: &KnobEffect) -> Vec<Cell> {
    let number = |key: &str, effect: &Effect| Number::effect(format!("{at}/{key}"), effect, "");
    let change = |key: &str, effect: &Effect| Cell::from(number(key, effect).signed());
    let optional =
        |key: &str, effect: &Option<Effect>| Cell::from(effect.as_ref().map(|own| number(key, own).signed()));
    let end = |key: &str, value: &toml::Value| setting(format!("{at}/{key}"), value);
    match effect {
        KnobEffect::Derivative { at: value, per_unit_s, per_percent_s } => vec![
            Number::new(format!("{at}/at"), *value, "").into(),
            change("per_unit_s", per_unit_s),
            change("per_percent_s", per_percent_s),
        ],
        KnobEffect::Change { from, to, change_s, at_from_s, at_to_s, per_unit_s, per_percent_s } => vec![
            end("from", from),
            optional("at_from_s", at_from_s),
            end("to", to),
            optional("at_to_s", at_to_s),
            change("change_s", change_s),
            optional("per_unit_s", per_unit_s),
            optional("per_percent_s", per_percent_s),
        ],
        KnobEffect::Elementary { from, to, size_s, mean_s, spread_s, per_unit_s, per_percent_s } => vec![
            end("from", from),
            end("to", to),
            number("size_s", size_s).into(),
            change("mean_s", mean_s),
            number("spread_s", spread_s).into(),
            optional("per_unit_s", per_unit_s),
            optional("per_percent_s", per_percent_s),
        ],
        KnobEffect::Variance { from, to, first, total, deviation_s } => vec![
            end("from", from),
            end("to", to),
            number("first", first).into(),
            number("total", total).into(),
            number("deviation_s", deviation_s).into(),
        ],
    }
}

/// Knobs of which nothing can be said.
fn without(report: &SensitivityReport) -> Table {
    let mut table = Table::new("What cannot be said", "", &["knob", "why"]);
    let told = report.knobs.iter().filter_map(|row| Some((row, row.note.as_ref()?)));
    table.rows = told.map(|(row, note)| vec![row.name.clone().into(), note.clone().into()]).collect();
    table
}

/// What is moved: the time itself, and its variance over the ranges.
fn moved(report: &SensitivityReport) -> Table {
    let mut table = Table::new("The time itself", interval_note(report.level), &["", "value"]);
    let of = if report.is_at_the_base() { "at the base" } else { "on average over the ranges" };
    let mut push = |name: String, number: Option<Number>| {
        table.rows.extend(number.map(|number| vec![Cell::from(name), number.into()]));
    };
    let value = report.value_s.as_ref().map(|value| Number::effect("/value_s", value, "s"));
    push(format!("{} {of}", report.measure), value);
    let variance = report.variance_s2.as_ref().map(|variance| Number::effect("/variance_s2", variance, "s²"));
    push("variance over the ranges".to_owned(), variance);
    let noise = report
        .noise_s2
        .map(|noise| Number { digits_of: Some(0.01 * noise.abs()), ..Number::new("/noise_s2", noise, "s²") });
    push("variance that replications would have added; it is taken out".to_owned(), noise);
    table
}

fn provenance(report: &SensitivityReport) -> Vec<[String; 2]> {
    let mut rows = vec![
        ["tailspn".to_owned(), report.version.to_string()],
        ["seed".to_owned(), report.seed.to_string()],
        ["method".to_owned(), method(&report.method).to_owned()],
    ];
    rows.extend(report.estimator.as_ref().map(|estimator| ["estimator".to_owned(), estimator.to_string()]));
    if matches!(&*report.method, "morris" | "sobol") {
        rows.push(["rows of points".to_owned(), count(report.rows.into())]);
    }
    rows.push(["points".to_owned(), count(report.points.into())]);
    rows.push(["replications of each point".to_owned(), count(report.replications.into())]);
    rows.push(["level of intervals".to_owned(), format!("{} %", plain(100.0 * report.level))]);
    rows
}

fn method(name: &str) -> &'static str {
    match name {
        "derivatives" => "derivatives at the base",
        "each" => "one knob at a time",
        "morris" => "elementary effects (Morris)",
        _ => "Sobol's indices",
    }
}
