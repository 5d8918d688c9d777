//! The screen of a search for the cheapest configuration that meets a deadline.

use tailspn_common::field;

use crate::document::{Bar, Cell, Column, NextCommand, Number, Screen, Table};
use crate::optimize::{Cheapest, Judged, Verdict};
use crate::report::number::{counted, time_words};
use crate::report::screens::{first_of, is_no_spread, misfit, verdict};

/// Configurations that are listed.
const MOST: usize = 9;

/// Returns the result of a search on one screen, with its answer in words and what the search left open.
pub(super) fn screen(found: &Cheapest, answer: String, open: Vec<String>) -> Screen {
    let not_proved = found.own_run.as_ref().and_then(misfit);
    Screen {
        answer: not_proved.into_iter().chain([answer]).collect::<Vec<_>>().join(" "),
        own_run: found.own_run.as_ref().map(|own_run| verdict(own_run, "model")),
        tables: vec![nearest(found)],
        assumed: first_of(found.notes.iter().filter(is_no_spread).cloned()),
        unknown: first_of(open),
        next: next(found),
        ..Screen::default()
    }
}

/// Returns the configurations with a cost close to the cost of the answer, by cost.
fn nearest(found: &Cheapest) -> Table {
    let mut order: Vec<usize> = (0..found.rows.len()).collect();
    order.sort_by(|a, b| found.rows[*a].cost.value.0.total_cmp(&found.rows[*b].cost.value.0));
    let centre = found.answer.row.or(found.answer.closest).or(found.answer.next_cheaper);
    let centre = centre.and_then(|row| order.iter().position(|one| *one == row)).unwrap_or(0);
    let first = centre.saturating_sub(MOST / 2).min(order.len().saturating_sub(MOST));
    let left = order.len().saturating_sub(MOST);
    let keys = found.rows.first().map_or(&[][..], |row| &row.set.0);
    let unit = Some(found.question.cost_unit.clone()).filter(|unit| !unit.is_empty());
    let cost = unit.map_or_else(|| Column::new("cost"), |unit| Column::new("cost").unit(unit));
    let deadline = time_words(found.question.deadline_s.0);
    let columns = keys.iter().map(|(name, _)| Column::new(name.replace('_', " "))).chain([
        cost,
        Column::new(found.question.measure.as_str()).unit("s"),
        Column::new(format!("within {deadline}")),
    ]);
    let note = if left > 0 {
        format!("By cost; {}: --verbose. Each interval is the one that decided.", counted(left as u128, "more row"))
    } else {
        "By cost. Each interval is the one that decided.".to_owned()
    };
    let cells = |row: &usize| {
        let number = |column| Cell::from(Number::of("/rows", &found.rows, *row, column));
        let judged = &found.rows[*row];
        let set = judged.set.0.iter().map(|(_, setting)| Cell::from(setting.to_string()));
        let decided = match judged.verdict {
            Verdict::Meets => "yes",
            Verdict::Fails => "no",
            Verdict::Undecided | Verdict::Stopped => "undecided",
        };
        set.chain([number(field!(Judged, cost)), number(field!(Judged, time_s)), decided.into()]).collect::<Vec<_>>()
    };
    let shown = &order[first..(first + MOST).min(order.len())];
    let table = Table::new("", note, columns).rows(shown.iter().map(cells));
    let mark = found.answer.row.and_then(|row| shown.iter().position(|one| *one == row));
    let bar = Bar { column: keys.len() + 1, mark: Some(("deadline", found.question.deadline_s.0)) };
    Table { bar: Some(bar), mark, ..table }
}

/// Returns the next commands: the chosen configuration by itself, and every number.
fn next(found: &Cheapest) -> Vec<NextCommand> {
    let is_option = |name: &str| ["workers", "executors", "cores"].contains(&name);
    let chosen = found.answer.row.and_then(|row| found.rows.get(row)).map(|row| &row.set.0);
    let chosen = chosen.filter(|set| found.question.price.is_some() && set.iter().all(|(name, _)| is_option(name)));
    let options =
        chosen.map(|set| set.iter().map(|(name, setting)| format!(" --{name} {setting}")).collect::<String>());
    let estimate = options.map(|options| {
        NextCommand::new(format!("tailspn estimate FILE{options}"), "where the time goes, what would change it")
    });
    let verbose = NextCommand::new("tailspn study FILE --verbose", "every configuration, and how it was judged");
    estimate.into_iter().chain([verbose]).collect()
}
