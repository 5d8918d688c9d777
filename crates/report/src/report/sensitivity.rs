//! The document of a sensitivity: the settings ranked by their effect on the time, or on the probability of a goal.

use toml::Value;

use crate::document::parts::{setting, with_base_folded};
use crate::document::{
    Cell, Column, Document, Headline, NextCommand, Number, Piece, Report, Screen, Show, Table, human_time,
};
use crate::estimate::Measured;
use crate::render::sentence;
use crate::report::deadline::add_deadline;
use crate::report::json::key_of;
use crate::report::number::{count, counted, ends, value_text};
use crate::report::own_run::with_own_run;
use crate::report::screens::{misfit, verdict};
use crate::sensitivity::{self, KnobEffect, Method, SensitivityReport};

/// Settings that readers see; JSON and CSV have all.
const MOST: usize = 20;

impl Report for SensitivityReport {
    const KIND: &'static str = "sensitivity";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let words = words(self.method);
        let mut document = Document {
            kind: "sensitivity",
            title: format!("Effects on {}", measured(self)),
            question: format!("{}.", words.question),
            answer: with_own_run(self.own_run.as_ref(), answer(self)),
            headline: base(self),
            plan: self.plan.clone(),
            provenance: provenance(self, words.method),
            ..Document::default()
        };
        add_deadline(&mut document, self.deadline.as_ref(), self.level);
        if self.partial {
            let done = counted(self.points, "configuration");
            document.remarks.push(format!("Partial: the run was stopped early, after {done}."));
        }
        document.remarks.extend(unreliable(self));
        #[cfg(feature = "plots")]
        document.figure(crate::report::sensitivity_plot::sensitivity_figure(self));
        let ranked = match self.probability {
            Some(_) => "Ranked by the change of the probability for a 1% increase; negative means less likely.",
            None => words.ranked,
        };
        let knobs = knobs(self, ranked);
        document.screen = Some(screen(self, vec![knobs.clone(), without(self)], &document.remarks));
        document.table(knobs);
        document.table(without(self));
        document.table(moved(self));
        document.table(numbers_table(self));
        document
    }
}

/// Returns the effects on one screen.
fn screen(report: &SensitivityReport, tables: Vec<Table>, remarks: &[String]) -> Screen {
    let not_proved = report.own_run.as_ref().and_then(misfit);
    let value = report.value_s.as_ref().filter(|_| report.probability.is_none());
    let time = value.map(|value| {
        let of = if is_at_the_base(report) { "at the base" } else { "on average over the ranges" };
        format!("The {} time is {} {of}.", report.measure, human_time(value.value, 3))
    });
    let answer = [not_proved, Some(sentence(&answer(report))), time].into_iter().flatten();
    let is_mean = report.measure == "mean" || report.probability.is_some();
    let measure = if is_mean { String::new() } else { format!(" --measure {}", report.measure) };
    Screen {
        answer: answer.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
        own_run: report.own_run.as_ref().map(|found| verdict(found, "model")),
        tables,
        unknown: remarks.to_vec(),
        next: vec![NextCommand::new(
            format!("tailspn study FILE --method {}{measure} --verbose", key_of(&report.method)),
            "the time itself, the method and its settings",
        )],
        ..Screen::default()
    }
}

/// The words of a method.
struct Words {
    method: &'static str,
    question: &'static str,
    ranked: &'static str,
}

/// Returns the output that is analysed, in words.
fn measured(report: &SensitivityReport) -> String {
    if report.probability.is_some() {
        "the probability of the goal".to_owned()
    } else {
        format!("the {} time", report.measure)
    }
}

fn words(method: Method) -> Words {
    match method {
        Method::Derivatives => Words {
            method: "derivatives at the base",
            question: "Effect of a small change of each setting, at the base",
            ranked: "Ranked by the change of the time for a 1% increase; negative means faster.",
        },
        Method::Each => Words {
            method: "one setting at a time",
            question: "Effect of each setting from one end of its range to the other, with all other settings as in the base",
            ranked: "Ranked by the change from one end to the other.",
        },
        Method::Morris => Words {
            method: "elementary effects (Morris)",
            question: "Effect of each setting over its whole range, for all values of the other settings",
            ranked: "Ranked by μ*, the mean absolute effect. μ is the mean effect, and σ the standard deviation of the effect over the walks.",
        },
        _ => Words {
            method: "Sobol indices",
            question: "Share of the variance of the time explained by each setting, alone and with others",
            ranked: "Ranked by √(S_T V), the standard deviation that the setting causes.",
        },
    }
}

/// Returns which setting has the largest effect, and whether that is significant.
fn answer(report: &SensitivityReport) -> Vec<Piece> {
    if report.knobs.iter().all(|row| row.effect.is_none()) {
        return Vec::new();
    }
    let Some(lead) = lead(report) else {
        return vec!["No effect is statistically significant.".into()];
    };
    let at = format!("/knobs/{}/effect/{}", lead.place, lead.key);
    // the words state the direction
    let unit = if report.probability.is_some() { "" } else { "s" };
    let number = Number { factor: lead.effect.value.signum(), ..Number::measured(at, lead.effect, unit) };
    let mut pieces: Vec<Piece> = vec![lead.before.clone().into(), number.into(), ".".into()];
    if !lead.rivals.is_empty() {
        let rivals = lead.rivals_in_words();
        let intervals = if lead.rivals.len() == 1 { "interval" } else { "intervals" };
        pieces.push(format!(" Its rank is not significant: its interval overlaps the {intervals} of {rivals}.").into());
    } else if report.knobs.iter().filter(|row| row.effect.is_some()).count() > 1 {
        pieces.push(" Its interval overlaps no other interval.".into());
    }
    pieces
}

/// The setting with the largest significant effect, and its rivals.
struct Lead<'r> {
    /// Position in the report.
    place: usize,
    /// The words before the effect.
    before: String,
    /// Effect, with its sign: in seconds, or as a probability.
    effect: &'r Measured,
    /// Key in the JSON.
    key: &'static str,
    /// Other settings whose intervals overlap the interval of this setting.
    rivals: Vec<&'r str>,
}

/// Returns the first setting whose effect is significant; settings before it have larger effects that may be
/// due to chance.
fn lead(report: &SensitivityReport) -> Option<Lead<'_>> {
    let known = || report.knobs.iter().enumerate().filter_map(|(i, row)| Some((i, row, row.effect.as_ref()?)));
    let (place, row, effect) = known().find(|(_, _, effect)| is_significant(effect))?;
    let [least, _] = ends(&effect.weight());
    let others = known().filter(|(i, _, other)| *i != place && ends(&other.weight())[1] >= least);
    let rivals: Vec<&str> = others.map(|(_, row, _)| row.name.as_str()).collect();
    let has = if rivals.is_empty() { "has" } else { "may have" };
    let name = &row.name;
    let (before, effect, key) = match effect {
        KnobEffect::Derivative { per_percent_s, .. } => {
            let direction = if per_percent_s.value < 0.0 { "more" } else { "less" };
            let before = format!("{name} {has} the largest effect: 1% {direction} saves ");
            (before, per_percent_s, "per_percent_s")
        }
        KnobEffect::Probability { per_percent, .. } => {
            let direction = if per_percent.value < 0.0 { "less" } else { "more" };
            let before = format!("{name} {has} the largest effect: 1% {direction} increases the probability by ");
            (before, per_percent, "per_percent")
        }
        KnobEffect::Change { from, to, change_s, .. } => {
            let (from, to) = if change_s.value < 0.0 { (from, to) } else { (to, from) };
            let before =
                format!("{name} {has} the largest effect: {} instead of {} saves ", value_text(to), value_text(from));
            (before, change_s, "change_s")
        }
        KnobEffect::Elementary { size_s, .. } => {
            (format!("{name} {has} the largest effect: over its range, it changes the time by "), size_s, "size_s")
        }
        KnobEffect::Variance { deviation_s, .. } => {
            let before =
                format!("{name} {has} the largest effect: over the ranges, it causes a standard deviation of ");
            (before, deviation_s, "deviation_s")
        }
    };
    Some(Lead { place, before, effect, key, rivals })
}

/// Returns true if an effect is statistically significant.
fn is_significant(effect: &KnobEffect) -> bool {
    match effect {
        KnobEffect::Derivative { per_percent_s, .. } => sensitivity::is_significant(per_percent_s),
        KnobEffect::Probability { per_percent, .. } => sensitivity::is_significant(per_percent),
        KnobEffect::Change { change_s, .. } => sensitivity::is_significant(change_s),
        KnobEffect::Elementary { size_s, .. } => ends(size_s)[0] > 0.0,
        KnobEffect::Variance { total, .. } => ends(total)[0] > 0.0,
    }
}

impl Lead<'_> {
    /// Returns the rivals, the first three by name.
    fn rivals_in_words(&self) -> String {
        const MOST: usize = 3;
        let named = self.rivals[..self.rivals.len().min(MOST)].join(", ");
        match self.rivals.len().saturating_sub(MOST) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }
}

/// Returns true if the reported time belongs to the base configuration; otherwise it is a mean over ranges.
fn is_at_the_base(report: &SensitivityReport) -> bool {
    matches!(report.method, Method::Derivatives | Method::Each)
}

/// Returns the times of the base, if it is known.
fn base(report: &SensitivityReport) -> Option<Headline> {
    let value = report.value_s.as_ref().filter(|_| is_at_the_base(report) && report.measure == "mean")?;
    let mean = Number::measured("/value_s", value, "s");
    Some(Headline { of: Some("the base".to_owned()), mean, quantiles: [None, None, None] })
}

/// Returns the settings by rank.
fn knobs(report: &SensitivityReport, ranked: &str) -> Table {
    let unit = if report.probability.is_some() { "" } else { "s" };
    let column = |title: &'static str| Column::new(title).unit(unit);
    let room = |title: &'static str| Column::new(title).unit("s").show(Show::Room);
    let ends = [Column::new("from"), Column::new("to")];
    let rates = [column("per unit"), column("per 1%")];
    let mut columns = vec![Column::new("setting")];
    match report.method {
        Method::Derivatives => columns.push(Column::new("value")),
        Method::Each => {
            let [from, to] = ends;
            columns.extend([from, room("against base"), to, room("against base"), column("change")]);
        }
        Method::Morris => columns.extend(ends.into_iter().chain([column("μ*"), column("μ"), column("σ")])),
        _ => columns.extend(ends.into_iter().chain(["S", "S_T"].map(Column::new)).chain([column("√(S_T V)")])),
    }
    columns.extend(rates.into_iter().filter(|_| report.method != Method::Sobol));
    let mut table = Table::new("Settings by rank", ranked, columns).level(report.level).most(MOST);
    for ((i, row), rank) in report.knobs.iter().enumerate().zip(1..) {
        let Some(effect) = &row.effect else { continue };
        let name = Cell::from(format!("{rank}. {}", row.name));
        table.rows.push(std::iter::once(name).chain(cells(&format!("/knobs/{i}/effect"), effect)).collect());
    }
    table
}

fn cells(at: &str, effect: &KnobEffect) -> Vec<Cell> {
    let number = |key: &str, effect: &Measured| Number::measured(format!("{at}/{key}"), effect, "");
    let change = |key: &str, effect: &Measured| Cell::from(number(key, effect).signed());
    let optional =
        |key: &str, effect: &Option<Measured>| Cell::from(effect.as_ref().map(|own| number(key, own).signed()));
    let end = |key: &str, value: &Value| setting(format!("{at}/{key}"), value);
    match effect {
        KnobEffect::Derivative { at: value, per_unit_s, per_percent_s } => vec![
            Number::new(format!("{at}/at"), *value, "").into(),
            change("per_unit_s", per_unit_s),
            change("per_percent_s", per_percent_s),
        ],
        KnobEffect::Probability { at: value, per_unit, per_percent } => vec![
            Number::new(format!("{at}/at"), *value, "").into(),
            change("per_unit", per_unit),
            change("per_percent", per_percent),
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

/// Returns the settings without an effect, and why.
fn without(report: &SensitivityReport) -> Table {
    let unknown = report.knobs.iter().filter(|row| row.effect.is_none());
    let notes = unknown.filter_map(|row| Some((row, row.note.as_ref()?)));
    let rows = notes.map(|(row, note)| vec![row.name.clone().into(), Cell::prose(note)]);
    Table::new("Settings without an effect", "", ["setting", "why"]).rows(rows)
}

/// Returns a table of the time or probability that the settings affect, and the variance of the time over the ranges.
fn moved(report: &SensitivityReport) -> Table {
    let title = if report.probability.is_some() { "The probability itself" } else { "The time itself" };
    let mut table = Table::new(title, "", ["", "value"]).level(report.level);
    let of = if is_at_the_base(report) { "at the base" } else { "on average over the ranges" };
    let mut push = |name: String, number: Option<Number>| {
        table.rows.extend(number.map(|number| vec![Cell::from(name), number.into()]));
    };
    let value = report.value_s.as_ref().map(|value| Number::measured("/value_s", value, "s"));
    push(format!("{} {of}", report.measure), value);
    let probability = report.probability.as_ref().map(|value| Number::measured("/probability", value, ""));
    push(format!("probability of the goal {of}"), probability);
    let variance = report.variance_s2.as_ref().map(|variance| Number::measured("/variance_s2", variance, "s²"));
    push("variance over the ranges".to_owned(), variance);
    let noise = report.noise_s2.map(|noise| Number::new("/noise_s2", noise, "s²").rounded(0.01 * noise.abs()));
    push("variance due to replications, already subtracted".to_owned(), noise);
    table
}

fn provenance(report: &SensitivityReport, method: &str) -> Vec<[String; 2]> {
    let rows = matches!(report.method, Method::Morris | Method::Sobol).then(|| ("rows", count(report.rows.into())));
    let head =
        [("tailspn", report.version.to_string()), ("seed", report.seed.to_string()), ("method", method.to_owned())];
    let estimator = report.estimator.as_ref().map(|estimator| ("estimator", key_of(estimator)));
    let tail =
        [("configurations", count(report.points.into())), ("replications of each", count(report.replications.into()))];
    with_base_folded(
        head.into_iter().chain(estimator).chain(rows).chain(tail),
        report.folded.as_ref(),
        &report.not_folded,
    )
}

/// Returns a remark that names the settings whose intervals are unreliable, if there are any.
fn unreliable(report: &SensitivityReport) -> Option<String> {
    let mut noted =
        report.knobs.iter().filter(|row| row.effect.is_some()).filter_map(|row| Some((&row.name, row.note.as_ref()?)));
    let (name, note) = noted.next()?;
    let more = match noted.count() {
        0 => String::new(),
        more => format!(" The same holds for {} more.", counted(more as u64, "setting")),
    };
    Some(format!("{name}: {note}.{more}"))
}

/// Returns every number of every setting, for CSV.
fn numbers_table(report: &SensitivityReport) -> Table {
    let mut columns =
        ["key", "name", "method", "measure", "number", "unit"].map(|key| Column::new(key).key(key)).to_vec();
    columns.extend([Column::new("value").key("value").ends_as("low", "high"), Column::new("level").key("level")]);
    let mut table = Table::new("", "", columns).wide().show(Show::Csv);
    for (i, row) in report.knobs.iter().enumerate() {
        for (number, unit, effect) in row.effect.iter().flat_map(numbers) {
            let words = [&row.key, &row.name, &key_of(&report.method), &report.measure, number, unit];
            let value = Number::measured(format!("/knobs/{i}/effect/{number}"), effect, unit);
            let mut cells = words.map(Cell::from).to_vec();
            cells.extend([value.into(), report.level.to_string().into()]);
            table.rows.push(cells);
        }
    }
    table
}

/// Returns the numbers of an effect with their names and units, for CSV.
fn numbers(effect: &KnobEffect) -> Vec<(&'static str, &'static str, &Measured)> {
    fn optional<'a>(
        name: &'static str,
        unit: &'static str,
        effect: &'a Option<Measured>,
    ) -> Option<(&'static str, &'static str, &'a Measured)> {
        effect.as_ref().map(|effect| (name, unit, effect))
    }
    match effect {
        KnobEffect::Derivative { per_unit_s, per_percent_s, .. } => {
            vec![("per_unit", "s", per_unit_s), ("per_percent", "s", per_percent_s)]
        }
        KnobEffect::Probability { per_unit, per_percent, .. } => {
            vec![("per_unit", "", per_unit), ("per_percent", "", per_percent)]
        }
        KnobEffect::Change { change_s, at_from_s, at_to_s, per_unit_s, per_percent_s, .. } => [
            Some(("change", "s", change_s)),
            optional("at_from", "s", at_from_s),
            optional("at_to", "s", at_to_s),
            optional("per_unit", "s", per_unit_s),
            optional("per_percent", "s", per_percent_s),
        ]
        .into_iter()
        .flatten()
        .collect(),
        KnobEffect::Elementary { size_s, mean_s, spread_s, per_unit_s, per_percent_s, .. } => [
            Some(("size", "s", size_s)),
            Some(("mean", "s", mean_s)),
            Some(("spread", "s", spread_s)),
            optional("per_unit", "s", per_unit_s),
            optional("per_percent", "s", per_percent_s),
        ]
        .into_iter()
        .flatten()
        .collect(),
        KnobEffect::Variance { first, total, deviation_s, .. } => {
            vec![("first", "", first), ("total", "", total), ("deviation", "s", deviation_s)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Look;
    use crate::sensitivity::SensitivityRow;

    fn report(changes: &[(f64, f64)]) -> SensitivityReport {
        let row = |(i, &(value, half)): (usize, &(f64, f64))| SensitivityRow {
            key: format!("k{i}"),
            name: format!("k{i}"),
            effect: Some(KnobEffect::Change {
                from: Value::Integer(1),
                to: Value::Integer(2),
                change_s: Measured::between(value, Some(value - half), Some(value + half)),
                at_from_s: None,
                at_to_s: None,
                per_unit_s: None,
                per_percent_s: None,
            }),
            note: None,
        };
        let mut report = SensitivityReport {
            own_run: None,
            deadline: None,
            method: Method::Each,
            estimator: None,
            measure: "mean".to_owned(),
            value_s: None,
            probability: None,
            variance_s2: None,
            noise_s2: None,
            knobs: changes.iter().enumerate().map(row).collect(),
            level: 0.95,
            rows: 1,
            points: 1,
            replications: 8,
            version: "0".into(),
            seed: 0,
            folded: None,
            not_folded: Vec::new(),
            partial: false,
            plan: String::new(),
        };
        report.rank();
        report
    }

    /// The first setting and its rivals, for these changes and half widths.
    fn said(changes: &[(f64, f64)]) -> Option<(String, Vec<String>)> {
        let report = report(changes);
        let lead = lead(&report)?;
        Some((report.knobs[lead.place].name.clone(), lead.rivals.iter().map(|&name| name.to_owned()).collect()))
    }

    fn text(changes: &[(f64, f64)]) -> String {
        report(changes).text(&Look { width: 300, ..Look::default() })
    }

    #[test]
    fn the_largest_effect_is_significant_only_if_no_interval_overlaps_its_own() {
        let lead =
            |name: &str, rivals: &[&str]| Some((name.to_owned(), rivals.iter().map(|&r| r.to_owned()).collect()));
        assert_eq!(said(&[(-9.0, 1.0), (7.5, 0.4), (0.0, 0.0)]), lead("k0", &[]));
        // sizes count, not signs: 8 to 10 and 7.5 to 8.5
        assert_eq!(said(&[(-9.0, 1.0), (8.0, 0.5), (1.0, 0.1)]), lead("k0", &["k1"]));
        // what may be chance does not come first, however large
        assert_eq!(said(&[(9.0, 10.0), (-3.0, 1.0), (0.5, 0.1)]), lead("k1", &["k0"]));
        assert_eq!(said(&[(9.0, 10.0), (0.0, 0.0)]), None);
        assert!(text(&[(9.0, 10.0)]).contains("No effect is statistically significant."));
    }

    #[test]
    fn many_rivals_are_counted() {
        let all = [(9.0, 5.0), (8.0, 1.0), (7.0, 1.0), (6.0, 1.0), (5.0, 1.0), (2.0, 0.1)];
        let said = text(&all);
        assert!(said.contains("k0 may have the largest effect: 1 instead of 2 saves 9.0 s (4.0 to 14.0)"), "{said}");
        assert!(said.contains("its interval overlaps the intervals of k1, k2, k3 and 1 more."), "{said}");
    }
}
