//! The report on the cheapest configuration that meets a deadline: sentences, table and picture.

use tailspn_common::field;

#[cfg(feature = "plots")]
use crate::document::Figure;
use crate::document::parts::{notes_table, with_base_folded};
use crate::document::{Document, Number, Piece, Report, Table};
use crate::optimize::{Cheapest, Conclusion, Judged, OptimizeOutcome, OptimizePlan, Search, SizingOutcome, Verdict};
use crate::render::sentence;
use crate::report::number::{count, counted, plain};
use crate::report::optimize_screen::screen;
use crate::report::own_run::with_own_run;
#[cfg(feature = "plots")]
use crate::report::scatter::{Form, Mark, Scatter};

/// Maximum number of configurations that readers see; JSON and CSV have all.
const MOST: usize = 200;
/// Maximum number of configurations in the picture.
#[cfg(feature = "plots")]
const MOST_DRAWN: usize = 500;
/// Maximum number of configurations that are all labelled in the picture.
#[cfg(feature = "plots")]
const MOST_LABELLED: usize = 12;

/// Returns the cheapest size of a job, in words.
pub fn sizing_report(found: &SizingOutcome) -> Cheapest {
    worded(Cheapest::of_sizing(found))
}

/// Returns the result of a search, in words.
pub fn optimize_report(plan: &OptimizePlan, outcome: &OptimizeOutcome) -> Cheapest {
    worded(Cheapest::of(plan, outcome))
}

fn worded(mut found: Cheapest) -> Cheapest {
    found.answer.text = sentence(&answer(&found));
    found
}

impl Report for Cheapest {
    const KIND: &'static str = "optimize";
    const HAS_ANSWER: bool = true;
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let measure = &self.question.measure;
        let measure = if measure == "mean" { "mean time" } else { measure };
        let deadline = plain(self.question.deadline_s.0);
        let mut document = Document {
            kind: "optimisation",
            title: format!("Cheapest within {deadline} s"),
            question: format!(
                "Of {}, the cheapest with a {measure} of at most {deadline} s.",
                counted(self.candidates, "configuration")
            ),
            answer: with_own_run(self.own_run.as_ref(), answer(self)),
            remarks: remarks(self),
            plan: self.plan.clone(),
            provenance: provenance(self),
            screen: Some(screen(self, sentence(&answer(self)), remarks(self))),
            ..Document::default()
        };
        #[cfg(feature = "plots")]
        document.figure(picture(self));
        document.table(configurations(self));
        document.table(notes_table("Not determined by the logs", &self.notes));
        document
    }
}

/// Returns the configurations that were judged.
fn configurations(found: &Cheapest) -> Table {
    let note = "In the order of the search. Each interval is the one that decided on the configuration, at its own confidence level. The chosen configuration is marked.";
    let table = Table::of("Evaluated configurations", "/rows", &found.rows)
        .unit(field!(Judged, cost), found.question.cost_unit.clone())
        .head(field!(Judged, time_s), found.question.measure.clone())
        .bar(field!(Judged, time_s), Some(("deadline", found.question.deadline_s.0)))
        .mark(found.answer.row);
    let table = table.note(note).most(MOST);
    if found.question.search == Search::Comparison { ranked(table, found) } else { table }
}

/// Puts configurations that meet the deadline first, the cheapest at the top.
fn ranked(table: Table, found: &Cheapest) -> Table {
    let rank = |row: &Judged| match row.verdict {
        Verdict::Meets => 0,
        Verdict::Undecided | Verdict::Stopped => 1,
        Verdict::Fails => 2,
    };
    let note = table.note.replace(
        "In the order of the search",
        "Configurations that meet the deadline come first, the cheapest at the top",
    );
    let table = table.sorted_by(|a, b| {
        let (a, b) = (&found.rows[a], &found.rows[b]);
        rank(a).cmp(&rank(b)).then(a.cost.value.0.total_cmp(&b.cost.value.0))
    });
    Table { note, ..table }
}

/// Returns the configurations by cost and time. Of many, the last ones of the search are drawn, and only those of the
/// answer have labels.
#[cfg(feature = "plots")]
fn picture(found: &Cheapest) -> Figure<'_> {
    let timed: Vec<(usize, &Judged)> = found.rows.iter().enumerate().filter(|(_, row)| row.time_s.is_some()).collect();
    let timed = timed[timed.len().saturating_sub(MOST_DRAWN)..].to_vec();
    let left = match found.rows.len() - timed.len() {
        0 => String::new(),
        left => format!(" {} are not drawn.", count(left as u128)),
    };
    let all = timed.len() <= MOST_LABELLED;
    let caption = format!(
        "Each mark is a configuration, by cost and time; the grey line is the interval by which it was judged. A configuration meets the \
         deadline if its whole interval is at or below the deadline line, and fails if the whole interval is above. Labels are the \
         values of the settings{}.{left}",
        if all { "" } else { ", of the configurations in the answer" }
    );
    let answer = [found.answer.row, found.answer.next_cheaper, found.answer.closest];
    let mark = |&(row, judged): &(usize, &Judged)| {
        let time = judged.time_s?;
        let rank = answer.iter().position(|one| *one == Some(row));
        Some(Mark {
            at: [judged.cost.value.0, time.value.0],
            ends: [judged.cost.ends(), time.ends()],
            form: match judged.verdict {
                Verdict::Meets => (Form::Disc, "meets"),
                Verdict::Fails => (Form::Cross, "fails"),
                Verdict::Undecided | Verdict::Stopped => (Form::Ring, "undecided"),
            },
            chosen: found.answer.row == Some(row),
            label: (all || rank.is_some()).then(|| (judged.set.words(), rank)),
        })
    };
    let axes = [format!("cost: {}", cost_words(found)), format!("{} time [s]", found.question.measure)];
    let line = Some(("deadline", found.question.deadline_s.0));
    let marks = timed.iter().filter_map(mark).collect();
    let scatter = Scatter { name: "deadline", axes, line, curves: Vec::new(), marks };
    Figure::new("Cost and time of the configurations", caption).drawn(move || scatter.picture())
}

/// Returns a configuration as text, such as `workers = 4, cost 4, p95 120 s.`
fn configuration(found: &Cheapest, row: usize) -> Vec<Piece> {
    let of = |column| Number::of("/rows", &found.rows, row, column);
    let Some(judged) = found.rows.get(row) else { return Vec::new() };
    let mut pieces: Vec<Piece> = vec![format!("{}, cost ", judged.set.words()).into()];
    pieces.extend(
        of(field!(Judged, cost))
            .map(|cost| Number { unit: found.question.cost_unit.clone().into(), shown_unit: None, ..cost }.into()),
    );
    if let Some(time) = of(field!(Judged, time_s)) {
        pieces.extend([format!(", {} ", found.question.measure).into(), time.into()]);
    }
    pieces.push(".".into());
    pieces
}

/// Returns the chosen configuration, why no cheaper one was chosen, and the confidence.
fn answer(found: &Cheapest) -> Vec<Piece> {
    let by_time = found.question.cost_per_s.is_some();
    let said = |words: &str, row: usize| [vec![words.into()], configuration(found, row)].concat();
    let mut pieces = match (found.answer.row, found.answer.found) {
        (Some(row), _) => said("The cheapest configuration that meets the deadline: ", row),
        (None, Conclusion::None) => vec!["No configuration meets the deadline.".into()],
        (None, Conclusion::Undecided) => {
            vec!["Undecided: no configuration was shown to meet the deadline, and not all were shown to fail.".into()]
        }
        (None, _) => vec!["Nothing was decided.".into()],
    };
    if found.answer.row.is_some() && found.answer.found != Conclusion::Meets && by_time {
        pieces.push(" No other configuration is cheaper by more than the search tolerance (`indifference`).".into());
    }
    if let Some((row, cheaper)) = found.answer.next_cheaper.and_then(|row| Some((row, found.rows.get(row)?))) {
        let which = match found.answer.row {
            _ if by_time => "configuration nearest in cost",
            Some(_) => "next cheaper configuration",
            None => "most expensive configuration",
        };
        let verdict = match cheaper.verdict {
            Verdict::Undecided | Verdict::Stopped => "remained undecided",
            Verdict::Meets => "also meets the deadline",
            Verdict::Fails => "fails",
        };
        pieces.extend(said(&format!(" The {which} {verdict}: "), row));
    } else if found.answer.row.is_some() && !by_time {
        pieces.push(" No configuration is cheaper.".into());
    } else if let Some(row) = found.answer.closest {
        pieces.extend(said(" The configuration closest to the deadline: ", row));
    }
    if found.answer.found != Conclusion::Stopped {
        pieces.push(
            format!(" The joint confidence of these decisions is {}%.", plain(100.0 * found.question.confidence.0))
                .into(),
        );
    }
    pieces
}

fn remarks(found: &Cheapest) -> Vec<String> {
    let own = match found.answer.found {
        Conclusion::Meets if found.question.cost_per_s.is_some() => "Another configuration may cost less.",
        Conclusion::Meets => "A cheaper configuration is undecided and may also meet the deadline.",
        Conclusion::Undecided => {
            "With a larger `max_replications` or a smaller `indifference`, fewer configurations near the deadline remain undecided."
        }
        Conclusion::Stopped => "Partial: the search was interrupted.",
        Conclusion::Cheapest | Conclusion::None => "",
    };
    let own = Some(own).filter(|own| !own.is_empty()).map(str::to_owned);
    own.into_iter().chain(found.remarks.iter().map(|remark| capitalised(remark))).collect()
}

/// Returns a remark as a sentence.
fn capitalised(remark: &str) -> String {
    let mut letters = remark.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn provenance(found: &Cheapest) -> Vec<[String; 2]> {
    let search = match found.question.search {
        Search::Bisection => "bisection",
        Search::Comparison => "comparison of estimated costs",
        Search::Auto | Search::Rising => "rising cost",
    };
    let dear = if found.question.cost_per_s.is_some() { ", or too expensive" } else { "" };
    let left_out = match found.eliminated {
        0 => "0".to_owned(),
        some => format!("{} (no faster than a configuration that fails{dear})", count(some.into())),
    };
    let price = || found.question.price.as_ref().map(|price| format!("{price}, at the mean time"));
    let rows = [
        ("tailspn", found.version.clone()),
        ("seed", found.seed.to_string()),
        ("search", search.to_owned()),
        ("cost", price().unwrap_or_else(|| cost_words(found))),
        ("judged", count(found.rows.len() as u128)),
        ("excluded", left_out),
        ("replications", count(found.replications.into())),
    ];
    with_base_folded(rows, found.folded.as_ref(), &found.not_folded)
}

/// Returns the cost expression as it was written, with the cost by time.
pub(super) fn cost_words(found: &Cheapest) -> String {
    let cost = &found.question.cost;
    found
        .question
        .cost_per_s
        .as_ref()
        .map_or_else(|| cost.clone(), |per_s| format!("{cost} + ({per_s}) * mean time [s]"))
}
