//! The report on an estimate of several configurations: sentences, table and curve.

use tailspn_common::field;
use tailspn_common::row::{Between, Seconds, Setting, Share};

use crate::ask::{EstimateTable, EstimatedRow};
use crate::document::{Document, NextCommand, Number, Piece, Report, Screen, Table, human_time};
use crate::render::sentence;
use crate::report::list_words::{LONG, ListQuestion, ListRow, capital, configuration, names};
use crate::report::number::{count, counted, plain, time_words};
use crate::report::own_run::with_own_run;
use crate::report::screens::{first_of, is_no_spread, misfit, verdict};

/// Rows up to which a table shows all.
const FEW: usize = 10;
/// Rows that a longer table shows at equal distances, and on each side of the chosen row.
const SPREAD: [usize; 2] = [6, 1];
/// Time up to which a sentence states it in seconds \[s\].
const MOST_SECONDS: f64 = 120.0;

/// Returns the table with its answer in words.
pub(super) fn worded(mut found: EstimateTable) -> EstimateTable {
    found.answer.text = sentence(&answer(&found));
    found
}

impl Report for EstimateTable {
    const KIND: &'static str = "estimate_list";
    const HAS_ANSWER: bool = true;
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let all = counted(self.question.configurations, "configuration");
        let partial =
            format!("Partial: {} of {all} were estimated before the run ended.", count(self.rows.len() as u128));
        let mut document = Document {
            kind: "estimate of several configurations",
            title: format!("Time by {}", names(&self.rows).join(" and ")),
            question: format!("Time of the next run on each of {all}."),
            answer: with_own_run(Some(&self.own_run), answer(self)),
            remarks: self.partial.then_some(partial).into_iter().chain(self.notes.iter().cloned()).collect(),
            plan: self.plan.clone(),
            provenance: provenance(self),
            screen: Some(screen(self)),
            ..Document::default()
        };
        #[cfg(feature = "plots")]
        document.figure(list(self).figure(&self.rows));
        document.table(configurations(self));
        document
    }
}

/// Returns the answer on one screen.
fn screen(found: &EstimateTable) -> Screen {
    let not_proved = misfit(&found.own_run);
    let partial = found.partial.then(|| "Stopped early: some configurations are missing.".to_owned());
    let answer = [not_proved, Some(sentence(&answer(found))), partial].into_iter().flatten().collect::<Vec<_>>();
    Screen {
        answer: answer.join(" "),
        own_run: Some(verdict(&found.own_run, "model")),
        tables: vec![Table { title: String::new(), ..configurations(found) }],
        assumed: first_of(found.notes.iter().filter(is_no_spread).cloned()),
        next: vec![
            NextCommand::new(
                format!("tailspn estimate FILE{}", chosen(found)),
                "this row: where the time goes, what would change it",
            ),
            NextCommand::new("tailspn why LOG", "what each cause cost"),
        ],
        ..Screen::default()
    }
}

/// Returns the options of the row that the answer is about, such as ` --executors 7`.
fn chosen(found: &EstimateTable) -> String {
    let row = found.answer.row.or(found.answer.closest).and_then(|row| found.rows.get(row));
    let option = |(name, setting): &(String, Setting)| format!(" --{} {setting}", name.replace('_', "-"));
    row.map_or_else(String::new, |row| row.set.0.iter().map(option).collect())
}

fn provenance(found: &EstimateTable) -> Vec<[String; 2]> {
    let price = found.question.price.as_ref().map(|price| ("cost", format!("{price}, at the mean time")));
    let rows = [("tailspn", found.version.clone()), ("seed of every row", found.seed.to_string())];
    rows.into_iter().chain(price).map(|(name, value)| [name.to_owned(), value]).collect()
}

fn configurations(found: &EstimateTable) -> Table {
    let rows = &found.rows;
    let mut table = Table::of("Configurations", "/rows", rows)
        .unit(field!(EstimatedRow, cost), found.question.cost_unit.clone())
        .head(field!(EstimatedRow, cost), "a run")
        .only(shown(found))
        .mark(found.answer.row);
    if rows.iter().any(|row| row.idle_core_s.is_some_and(|idle| idle.0 > LONG)) {
        table = table.shown_in(field!(EstimatedRow, idle_core_s), "core-h", 1.0 / 3600.0);
    }
    list(found).complete(table, rows)
}

/// Returns the rows that readers see of a long table: the chosen one and its neighbours, and others at equal distances.
fn shown(found: &EstimateTable) -> Option<Vec<usize>> {
    let last = found.rows.len().checked_sub(1).filter(|last| *last >= FEW)?;
    let [spread, near] = SPREAD;
    let mut shown: Vec<usize> = (0..=spread).map(|i| i * last / spread).collect();
    if let Some(row) = found.answer.row.or(found.answer.closest) {
        shown.extend(row.saturating_sub(near)..=(row + near).min(last));
    }
    shown.sort_unstable();
    shown.dedup();
    Some(shown)
}

/// Returns the time of a row with its interval, such as `70 s (90%: 42 s to 117 s)`, and its cost.
fn time_and_cost(found: &EstimateTable, row: usize) -> Vec<Piece> {
    let Some(time) = Number::of("/rows", &found.rows, row, field!(EstimatedRow, time_s)) else { return Vec::new() };
    let value = time.measured.value;
    let [low, high] = time.ends().unwrap_or([value; 2]);
    // digits as in the table, and three without an interval
    let half = 0.5 * (high - low);
    let part = |key: &str, seconds| -> Piece {
        if value > MOST_SECONDS {
            return human_time(seconds, 2).into();
        }
        let number = Number::new(format!("/rows/{row}/time_s/{key}"), seconds, "s");
        if half > 1e-9 * value { number.rounded(half).into() } else { number.three_digits().into() }
    };
    let level = plain(100.0 * found.question.level.0);
    let mut pieces: Vec<Piece> = vec![part("value", value)];
    if high > low {
        pieces.extend([format!(" ({level}%: ").into(), part("low", low), " to ".into(), part("high", high)]);
        pieces.push(")".into());
    }
    if let Some(cost) = Number::of("/rows", &found.rows, row, field!(EstimatedRow, cost)) {
        let unit = found.question.cost_unit.clone();
        let cost = Number { unit: unit.into(), shown_unit: None, ..cost };
        pieces.extend([", ".into(), cost.three_digits().into(), " a run".into()]);
    }
    pieces
}

/// Returns the chosen configuration, and how many machines are enough.
fn answer(found: &EstimateTable) -> Vec<Piece> {
    let question = &found.question;
    let within = question.deadline_s.map(|deadline_s| {
        let probability = plain(100.0 * question.probability.0);
        format!("within {} with {probability}% probability", time_words(deadline_s.0))
    });
    let Some(row) = found.answer.row.or(found.answer.closest).filter(|row| *row < found.rows.len()) else {
        return vec!["No configuration was estimated.".into()];
    };
    let (words, plural) = configuration(&found.rows[row].set);
    let verb = |plural_form: &str, singular: &str| if plural { plural_form.to_owned() } else { singular.to_owned() };
    let begun = match (&within, found.answer.row) {
        (None, _) => format!("{words} {} the fastest: ", verb("are", "is")),
        (Some(within), Some(_)) if question.price.is_some() => {
            format!("{words} {} {within}: ", verb("are the cheapest that finish", "is the cheapest that finishes"))
        }
        (Some(within), Some(_)) => {
            format!(
                "{words} {} {within}: ",
                verb("have the fewest slots of all that finish", "has the fewest slots of all that finish")
            )
        }
        (Some(within), None) => format!("No configuration finishes {within}. The closest is {words}: "),
    };
    let mut pieces: Vec<Piece> = vec![capital(&begun).into()];
    pieces.extend(time_and_cost(found, row));
    if let (None, Some(share)) =
        (found.answer.row, Number::of("/rows", &found.rows, row, field!(EstimatedRow, in_time)))
    {
        let share = Number { clip: Some([1.0, 99.0]), ..share.rounded(0.15) };
        pieces.extend([", in time with ".into(), share.into(), " probability".into()]);
    }
    pieces.push(".".into());
    if let Some(Setting::Count(enough)) =
        found.answer.enough.filter(|enough| *enough >= row).and_then(|row| Some(&found.rows.get(row)?.set.0.first()?.1))
    {
        pieces.push(format!(" More than {enough} gain nothing.").into());
    }
    pieces
}

impl ListRow for EstimatedRow {
    const TIME: usize = field!(EstimatedRow, time_s);
    const IN_TIME: usize = field!(EstimatedRow, in_time);

    fn time_s(&self) -> Between<Seconds> {
        self.time_s
    }

    fn in_time(&self) -> Option<Share> {
        self.in_time
    }
}

/// Returns the question of the list.
fn list(found: &EstimateTable) -> ListQuestion {
    ListQuestion {
        chosen: found.answer.row,
        deadline_s: found.question.deadline_s.map(|deadline_s| deadline_s.0),
        probability: found.question.probability.0,
        level: found.question.level.0,
    }
}
