//! The section of an optimisation: the cheapest point that meets the deadline, how sure that is, and all points that were judged.

use crate::document::{Cell, Document, Number, Piece, Table};
use crate::report::deadline_plot::Deadline;
use crate::report::number::{count, counted, plain};
use crate::report::optimize::{LookRow, OptimizeReport, cost_words, left_out_as, search_words, words};
use crate::report::plot::PlotError;

/// Most points of the table: the last ones, where a search ends.
const MOST: usize = 200;

/// What an optimisation found.
pub(in crate::report) fn section(report: &OptimizeReport) -> Result<Document<'static>, PlotError> {
    let measure = if report.measure == "mean" { "mean time".to_owned() } else { report.measure.clone() };
    let deadline = plain(report.deadline_s);
    let mut section = Document {
        kind: "optimisation",
        title: format!("Within {deadline} s at the least cost"),
        question: format!(
            "Which of {} is the cheapest with a {measure} of at most {deadline} s?",
            counted(report.candidates, "point")
        ),
        answer: answer(report),
        plan: report.plan.clone(),
        provenance: vec![
            ["tailspn".to_owned(), report.version.to_string()],
            ["seed".to_owned(), report.seed.to_string()],
            ["search".to_owned(), search_words(report).to_owned()],
            ["cost".to_owned(), cost_words(report)],
            ["points".to_owned(), count(report.candidates.into())],
            ["looked at".to_owned(), count(report.looked_at.len() as u128)],
            ["left out".to_owned(), left_out(report)],
            ["replications of all points".to_owned(), count(report.replications.into())],
        ],
        ..Document::default()
    };
    if report.answer == "stopped" {
        section.remarks.push("The search was stopped before its end.".to_owned());
    }
    let drawn = Deadline::new(report);
    let mut caption = "Each mark is a point that was looked at: its cost, its time, and as a grey line the interval by which it was judged. \
                       A point meets the deadline once the whole interval is at or below the line, and fails once it is above."
        .to_owned();
    if drawn.left_out > 0 {
        caption += &format!(" {} could not be drawn.", counted(drawn.left_out as u128, "point"));
    }
    section.drawn(drawn.picture()?, "What the points cost, and how long they take", caption);
    section.table(points(report));
    Ok(section)
}

/// How many points were not looked at, and why.
fn left_out(report: &OptimizeReport) -> String {
    match report.eliminated {
        0 => "0".to_owned(),
        some => format!("{}, as {}", count(some.into()), left_out_as(report)),
    }
}

/// The measure of a point with its interval; none where nothing was run.
fn time(at: &str, row: &LookRow, unit: &'static str) -> Option<Number> {
    let value = row.value_s?;
    Some(Number::new(format!("{at}/value_s"), value, unit).between(row.low_s, row.high_s))
}

/// The cost of a point, with its interval where it is an estimate.
fn cost(at: &str, row: &LookRow) -> Number {
    Number::new(format!("{at}/cost"), row.cost, "").between(row.cost_low, row.cost_high)
}

/// `workers = 4 at a cost of 4, with a p95 of 120 s`.
fn point(report: &OptimizeReport, at: &str, row: &LookRow) -> Vec<Piece> {
    let cost = cost(at, row);
    let mut pieces: Vec<Piece> = vec![format!("{} at a cost of ", words(report, row)).into(), cost.into()];
    if let Some(time) = time(at, row, "s") {
        pieces.extend([format!(", with a {} of ", report.measure).into(), time.into()]);
    }
    pieces
}

/// The point, why no cheaper one was taken, and how sure that is.
fn answer(report: &OptimizeReport) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    match (&report.chosen, &*report.answer) {
        (Some(chosen), answer) => {
            pieces.push("The cheapest that was shown to meet the deadline: ".into());
            pieces.extend(point(report, "/chosen", chosen));
            pieces.push(".".into());
            if answer == "meets" {
                let open = if report.cost_per_s.is_some() {
                    " It may not be the cheapest that does: another one may cost less."
                } else {
                    " It may not be the cheapest that does: a cheaper point stayed undecided."
                };
                pieces.push(open.into());
            } else if report.cost_per_s.is_some() {
                pieces.push(" No other costs less by more than the indifference.".into());
            }
        }
        (None, "none") => pieces.push("No point meets the deadline.".into()),
        (None, "undecided") => pieces.push(
            "No point was shown to meet the deadline, but not all were shown to fail: more replications, or a smaller indifference, \
             decide nearer to it."
                .into(),
        ),
        (None, _) => pieces.push("Nothing was decided.".into()),
    }
    match &report.next_cheaper {
        Some(cheaper) => {
            let which = match &report.chosen {
                _ if report.cost_per_s.is_some() => " The nearest in cost",
                Some(_) => " The next cheaper one",
                None => " The last in order of cost",
            };
            let verdict = match &*cheaper.verdict {
                "undecided" | "stopped" => "stayed undecided",
                verdict => verdict,
            };
            pieces.push(format!("{which} {verdict}: ").into());
            pieces.extend(point(report, "/next_cheaper", cheaper));
            pieces.push(".".into());
        }
        None if report.chosen.is_some() && report.cost_per_s.is_none() => {
            pieces.push(" There is nothing cheaper among the points.".into());
        }
        None => {}
    }
    if !matches!(&*report.answer, "stopped") {
        let sure = plain(100.0 * report.confidence);
        pieces.push(format!(" All these decisions together are right with {sure} % confidence.").into());
    }
    pieces
}

/// The points that were looked at, by rising cost.
fn points(report: &OptimizeReport) -> Table {
    let measure = format!("{} [s]", report.measure);
    let head = ["point", "cost", &measure, "level [%]", "replications", "deadline"];
    let mut note = "By rising cost. Small numbers: the interval by which a point was judged, at its own level, so that all decisions \
                    together keep the confidence."
        .to_owned();
    let left = report.looked_at.len().saturating_sub(MOST);
    if left > 0 {
        note += &format!(" {} that were looked at earlier are in the JSON.", count(left as u128));
    }
    let mut table = Table::new("Points that were judged", note, &head);
    let mut rows: Vec<(usize, &LookRow)> = report.looked_at.iter().enumerate().skip(left).collect();
    rows.sort_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
    for (i, row) in rows {
        let at = format!("/looked_at/{i}");
        let mut cells: Vec<Cell> = vec![words(report, row).into()];
        cells.push(cost(&at, row).into());
        cells.push(time(&at, row, "").into());
        cells.push(Number { unit: "".into(), ..Number::new(format!("{at}/level"), row.level, "").percent() }.into());
        cells.push(Number::count(format!("{at}/replications"), row.replications).into());
        let chosen = report.chosen.as_ref().is_some_and(|chosen| chosen.point == row.point);
        cells.push(if chosen { format!("{}; chosen", row.verdict).into() } else { row.verdict.to_string().into() });
        table.rows.push(cells);
    }
    table
}
