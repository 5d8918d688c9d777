//! The numbers of a net's Markov chain as a person reads them in a terminal.

use std::fmt::Write as _;

use crate::render::Look;
use crate::report::number::{plain, within};
use crate::report::solve_numbers::{AverageSection, NumberRow, SteadySection, TimeSection};
use crate::report::table::{Align, Table};

/// Most numbers of tokens of a place that are shown one by one.
const MOST_TOKENS: usize = 8;

pub(super) fn steady_text(steady: &SteadySection, look: &Look) -> String {
    let mut text = format!("\n{}", look.heading("long run"));
    let _ = writeln!(text, "  by {}, imbalance of flows {:.1e}", steady.method, steady.residual);
    if steady.class_probabilities.len() > 1 {
        let shown: Vec<String> = steady.class_probabilities.iter().map(|&p| plain(p)).collect();
        let _ = writeln!(text, "  recurrent classes are entered with probability {}", shown.join(", "));
    }
    text += &averages(&steady.averages, look);
    if !steady.states.is_empty() {
        let columns = [
            ("state", Align::Right),
            ("probability", Align::Right),
            ("sojourn [s]", Align::Right),
            ("marking", Align::Left),
        ];
        let mut table = Table::new(columns);
        for row in &steady.states {
            let marking: Vec<String> = row
                .marking
                .iter()
                .map(|(place, tokens)| if *tokens == 1 { place.clone() } else { format!("{tokens} {place}") })
                .collect();
            let sojourn = row.sojourn_s.map_or_else(|| "for ever".to_owned(), |sojourn| within(sojourn, None));
            table.push([row.state.to_string(), within(row.probability, None), sojourn, marking.join(" + ")]);
        }
        text += &format!("\n{}{}", look.heading("tangible states"), table.text());
    }
    text
}

pub(super) fn times_text(times: &[TimeSection], look: &Look) -> String {
    let mut text = String::new();
    for section in times {
        text += &format!("\n{}", look.heading(&format!("at {} s", plain(section.time_s))));
        text += &averages(&section.averages, look);
    }
    text
}

fn averages(section: &AverageSection, look: &Look) -> String {
    let mut text = String::new();
    if !section.measures.is_empty() {
        text += &numbers(&section.measures, "measure", "mean");
    }
    let mut table = Table::new([
        ("place", Align::Left),
        ("mean tokens", Align::Right),
        ("probability of 0, 1, ... tokens", Align::Left),
    ]);
    let classes = section.tokens.len() / section.distributions.len().max(1);
    for (i, row) in section.tokens.iter().enumerate() {
        let distribution = section.distributions.get(i / classes.max(1)).filter(|_| i.is_multiple_of(classes.max(1)));
        let shown = distribution.map_or(String::new(), |row| {
            let some = row.probabilities.iter().take(MOST_TOKENS).map(|&p| within(p, Some(1e-3)));
            let more = if row.probabilities.len() > MOST_TOKENS { " ..." } else { "" };
            some.collect::<Vec<_>>().join(" ") + more
        });
        table.push([row.name.clone(), within(row.value, None), shown]);
    }
    text += &table.text();
    text.push('\n');
    let _ = look;
    text + &numbers(&section.throughputs, "transition", "throughput [1/s]")
}

fn numbers(rows: &[NumberRow], what: &str, value: &str) -> String {
    let mut table = Table::new([(what, Align::Left), (value, Align::Right)]);
    for row in rows {
        table.push([row.name.clone(), within(row.value, None)]);
    }
    table.text()
}
