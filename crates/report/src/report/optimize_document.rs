//! The document of an optimisation: the cheapest configuration that meets a deadline, and all configurations that were
//! judged.

use crate::document::parts::{notes_table, with_base_folded};
use crate::document::{Cell, Column, Document, Number, Piece, Report, Show, Table};
use crate::optimize::{Search, Verdict};
use crate::report::deadline::chance;
use crate::report::number::{count, counted, plain, value_key};
use crate::report::optimize::{LookRow, OptimizeAnswer, OptimizeReport, cost_words, words};
use crate::report::own_run::with_own_run;

/// Maximum number of configurations that readers see; JSON and CSV have all.
const MOST: usize = 200;

impl Report for OptimizeReport {
    const KIND: &'static str = "optimize";

    fn document(&self) -> Document<'_> {
        let measure = if self.measure == "mean" { "mean time" } else { &self.measure };
        let deadline = plain(self.deadline_s);
        let candidates = counted(self.candidates, "configuration");
        let mut document = Document {
            kind: "optimisation",
            title: format!("Cheapest within {deadline} s"),
            question: format!("Of {candidates}, the cheapest with a {measure} of at most {deadline} s."),
            answer: with_own_run(self.own_run.as_ref(), answer(self)),
            remarks: remarks(self),
            plan: self.plan.clone(),
            provenance: provenance(self),
            ..Document::default()
        };
        #[cfg(feature = "plots")]
        document.figure(crate::report::deadline_plot::deadline_figure(self));
        document.table(points(self));
        document.table(notes_table("Not determined by the logs", &self.notes));
        document
    }
}

/// Returns the measure of a configuration; `None` if it was not run.
fn time(at: &str, row: &LookRow) -> Option<Number> {
    Some(Number::new(format!("{at}/value_s"), row.value_s?, "s").between(row.low_s, row.high_s))
}

/// Returns the probability that a configuration finishes by the deadline.
fn in_time(at: &str, row: &LookRow) -> Option<Number> {
    row.done_by_deadline.as_ref().map(|done| chance(format!("{at}/done_by_deadline"), done))
}

/// Returns the cost of a configuration, with its interval if it is an estimate.
fn cost(at: &str, row: &LookRow, unit: &str) -> Number {
    Number::new(format!("{at}/cost"), row.cost, unit.to_owned()).between(row.cost_low, row.cost_high)
}

/// Returns a configuration as text, such as `workers = 4, cost 4, p95 120 s`.
fn point(report: &OptimizeReport, at: &str, row: &LookRow) -> Vec<Piece> {
    let mut pieces: Vec<Piece> =
        vec![format!("{}, cost ", words(report, row)).into(), cost(at, row, &report.cost_unit).into()];
    if let Some(time) = time(at, row) {
        pieces.extend([format!(", {} ", report.measure).into(), time.into()]);
    }
    pieces.push(".".into());
    pieces
}

/// Returns the chosen configuration, why no cheaper one was chosen, and the confidence.
fn answer(report: &OptimizeReport) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    match &report.chosen {
        Some(chosen) => {
            pieces.push("The cheapest configuration that meets the deadline: ".into());
            pieces.extend(point(report, "/chosen", chosen));
            if report.answer != OptimizeAnswer::Meets && report.cost_per_s.is_some() {
                pieces.push(
                    " No other configuration is cheaper by more than the search tolerance (`indifference`).".into(),
                );
            }
        }
        None => pieces.push(
            match report.answer {
                OptimizeAnswer::None => "No configuration meets the deadline.",
                OptimizeAnswer::Undecided => {
                    "Undecided: no configuration was shown to meet the deadline, and not all were shown to fail."
                }
                _ => "Nothing was decided.",
            }
            .into(),
        ),
    }
    match &report.next_cheaper {
        Some(cheaper) => {
            let which = match &report.chosen {
                _ if report.cost_per_s.is_some() => "configuration nearest in cost",
                Some(_) => "next cheaper configuration",
                None => "most expensive configuration",
            };
            let verdict = match cheaper.verdict {
                Verdict::Undecided | Verdict::Stopped => "remained undecided",
                Verdict::Meets => "also meets the deadline",
                Verdict::Fails => "fails",
            };
            pieces.push(format!(" The {which} {verdict}: ").into());
            pieces.extend(point(report, "/next_cheaper", cheaper));
        }
        None if report.chosen.is_some() && report.cost_per_s.is_none() => {
            pieces.push(" No configuration is cheaper.".into())
        }
        None => {}
    }
    if let Some(closest) = report.closest.as_ref().filter(|_| report.next_cheaper.is_none()) {
        pieces.push(" The configuration closest to the deadline: ".into());
        pieces.extend(point(report, "/closest", closest));
    }
    if report.answer != OptimizeAnswer::Stopped {
        let level = plain(100.0 * report.confidence);
        pieces.push(format!(" The joint confidence of these decisions is {level}%.").into());
    }
    pieces
}

fn remarks(report: &OptimizeReport) -> Vec<String> {
    let remark = match report.answer {
        OptimizeAnswer::Meets if report.cost_per_s.is_some() => "Another configuration may cost less.",
        OptimizeAnswer::Meets => "A cheaper configuration is undecided and may also meet the deadline.",
        OptimizeAnswer::Undecided => {
            "With a larger `max_replications` or a smaller `indifference`, fewer configurations near the deadline remain undecided."
        }
        OptimizeAnswer::Stopped => "Partial: the search was interrupted.",
        _ => "",
    };
    let own = Some(remark).filter(|remark| !remark.is_empty()).map(str::to_owned);
    own.into_iter().chain(report.remarks.iter().map(|remark| sentence(remark))).collect()
}

/// Returns a remark as a sentence.
fn sentence(remark: &str) -> String {
    let mut letters = remark.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn provenance(report: &OptimizeReport) -> Vec<[String; 2]> {
    let search = match report.search {
        Search::Bisection => "bisection",
        Search::Comparison => "comparison of estimated costs",
        _ => "rising cost",
    };
    let dear = if report.cost_per_s.is_some() { ", or too expensive" } else { "" };
    let left_out = match report.eliminated {
        0 => "0".to_owned(),
        some => format!("{} (no faster than a configuration that fails{dear})", count(some.into())),
    };
    let rows = [
        ("tailspn", report.version.to_string()),
        ("seed", report.seed.to_string()),
        ("search", search.to_owned()),
        ("cost", report.price.clone().map_or_else(|| cost_words(report), |price| format!("{price}, at the mean time"))),
        ("judged", count(report.looked_at.len() as u128)),
        ("excluded", left_out),
        ("replications", count(report.replications.into())),
    ];
    with_base_folded(rows, report.folded.as_ref(), &report.not_folded)
}

/// Returns the configurations that were judged, in the order of the search.
fn points(report: &OptimizeReport) -> Table {
    let mut columns = vec![Column::new("no.").key("point").show(Show::Csv), Column::new("configuration")];
    columns.extend(report.axes.iter().map(|axis| Column::new("").key(axis.key.clone()).show(Show::Csv)));
    columns.extend([
        Column::new("cost").unit(report.cost_unit.clone()).key("cost").ends(),
        Column::new("verdict").key("verdict"),
        Column::new("").key("chosen").show(Show::Csv),
        Column::new("").key("measure").show(Show::Csv),
        Column::new(report.measure.clone()).unit("s").key("value_s").ends_as("low_s", "high_s"),
        Column::new("in time").unit("%").key("done_by_deadline").ends(),
        Column::new("level").unit("%").key("level").show(Show::Room),
        Column::new("replications").key("replications"),
        Column::new("").key("looks").show(Show::Csv),
        Column::new("").key("seed").show(Show::Csv),
    ]);
    let row = |(i, row): (usize, &LookRow)| {
        let at = format!("/looked_at/{i}");
        let chosen = report.chosen.as_ref().is_some_and(|chosen| chosen.point == row.point);
        let shown = if chosen { format!("{}, chosen", row.verdict.name()) } else { row.verdict.name().to_owned() };
        let mut cells: Vec<Cell> = vec![row.point.to_string().into(), words(report, row).into()];
        cells.extend(row.values.iter().map(|value| Cell::from(value.as_ref().map(value_key))));
        cells.extend([
            cost(&at, row, "").into(),
            Cell::named(shown, row.verdict.name()),
            chosen.to_string().into(),
            report.measure.clone().into(),
            time(&at, row).into(),
            in_time(&at, row).into(),
            Number::new(format!("{at}/level"), row.level, "").percent().into(),
            Number::count(format!("{at}/replications"), row.replications).into(),
            row.looks.to_string().into(),
            report.seed.to_string().into(),
        ]);
        cells
    };
    let order = if report.search == Search::Comparison {
        "Configurations that meet the deadline come first, the cheapest at the top"
    } else {
        "In the order of the search"
    };
    let note =
        format!("{order}. Each interval is the one that decided on the configuration, at its own confidence level.");
    let mut looks: Vec<(usize, &LookRow)> = report.looked_at.iter().enumerate().collect();
    if report.search == Search::Comparison {
        let rank = |row: &LookRow| match row.verdict {
            Verdict::Meets => 0,
            Verdict::Undecided | Verdict::Stopped => 1,
            Verdict::Fails => 2,
        };
        looks.sort_by(|(_, a), (_, b)| rank(a).cmp(&rank(b)).then(a.cost.total_cmp(&b.cost)));
    }
    let rows = looks.into_iter().map(row);
    Table::new("Evaluated configurations", note, columns).rows(rows).most(MOST).wide()
}
