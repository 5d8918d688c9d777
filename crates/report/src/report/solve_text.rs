//! Solutions as a person reads them in a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use crate::render::Look;
use crate::report::number::{count, counted, duration};
use crate::report::passage_text::passage_text;
use crate::report::solve::{
    DeadMarkings, MethodRow, SolveReport, StateSpaceRow, UnboundedRow, VerdictRow, ZeroRateRow,
};
use crate::report::solve_numbers_text::{steady_text, times_text};
use crate::report::table::{Align, Table};

/// Transitions of a firing sequence that are shown.
const MOST_STEPS: usize = 12;
/// Classes whose sizes are shown.
const MOST_CLASSES: usize = 8;

/// The text of a solution's report.
pub fn solve_text(report: &SolveReport, look: &Look) -> String {
    let mut text = look.heading(&format!("{}: {}", report.net.title(), report.net.size()));
    if let Some(reason) = &report.stopped {
        let _ = writeln!(text, "PARTIAL: {reason}");
    }
    // without a time to a goal there was no choice of methods
    if report.passage.is_some() || report.partial {
        text += &method(&report.method);
    }
    if let Some(unbounded) = &report.unbounded {
        let _ = writeln!(text, "  unbounded places   {}", unbounded.places.join(", "));
        let _ = writeln!(text, "  after              {}", steps(&unbounded.prefix));
        let _ = writeln!(text, "  repeat             {}", steps(&unbounded.cycle));
        text += &coverability(unbounded);
    }
    if let Some(space) = &report.state_space {
        text.push('\n');
        text += &look.heading("state space");
        text += &state_space(space);
        text.push('\n');
        text += &look.heading("verdicts");
        text += &verdicts(report);
    }
    text += &bounds(report, look);
    text += &liveness(report, look);
    if let Some(passage) = &report.passage {
        text += &passage_text(passage, look);
    }
    if let Some(steady) = &report.steady {
        text += &steady_text(steady, look);
    }
    text + &times_text(&report.at, look)
}

/// Which method was taken, where there was a choice, and why not the other.
fn method(method: &MethodRow) -> String {
    let other = match (&method.no_states, &method.no_series_parallel) {
        (Some(reason), _) => format!("states: {reason}"),
        (_, Some(reason)) => format!("series-parallel: {reason}"),
        _ => return String::new(),
    };
    format!("  method             {}\n  not by             {other}\n", method.used)
}

/// Which places are unbounded in all, and how sure that is.
fn coverability(unbounded: &UnboundedRow) -> String {
    let Some(graph) = &unbounded.coverability else { return String::new() };
    let places = graph.unbounded.join(", ");
    if graph.ignored.is_empty() {
        return format!("  in all             {places}; every other place is bounded\n");
    }
    let ignored = graph.ignored.join(", ");
    format!("  at most            {places}; every other place is bounded\n                     ({ignored} left out)\n")
}

fn state_space(space: &StateSpaceRow) -> String {
    let mut text = format!("  tangible states    {}\n", count(space.tangible as u128));
    if space.explored < space.tangible {
        let _ = writeln!(text, "  of these explored  {}", count(space.explored as u128));
    }
    let repeats = if space.vanishing_is_exact { "" } else { " (some more than once)" };
    let _ = writeln!(text, "  vanishing states   {}{repeats}", count(space.vanishing.into()));
    let _ = writeln!(text, "  edges              {}", count(space.edges as u128));
    let megabytes = space.bytes as f64 / 1e6;
    let wall = Duration::from_secs_f64(space.wall_s);
    let _ = writeln!(
        text,
        "  {} per marking, {megabytes:.1} MB in all, {}",
        counted(space.marking_bits, "bit"),
        duration(wall)
    );
    text
}

fn verdicts(report: &SolveReport) -> String {
    let most = report.bounds.iter().map(|row| row.bound).max().unwrap_or(0);
    let mut text = String::new();
    let bounded = match (report.partial, report.safe) {
        (true, _) => format!("not known; some place holds {}", counted(most, "token")),
        (false, Some(true)) => "yes, and safe: no place ever holds two tokens".to_owned(),
        (false, _) => format!("yes: no place ever holds more than {}", counted(most, "token")),
    };
    let _ = writeln!(text, "  bounded            {bounded}");
    text += &deadlock(report.deadlocks.as_ref());
    text += &zero_rates(report.zero_rates.as_ref());
    match &report.verdicts {
        None => text.push_str("  live, reversible   not known: that needs all states\n"),
        Some(verdicts) => text += &classes(verdicts),
    }
    text
}

fn deadlock(deadlocks: Option<&DeadMarkings>) -> String {
    match deadlocks {
        None => "  deadlocks          none among the states that were explored\n".to_owned(),
        Some(row) if row.count == 0 => "  deadlocks          none\n".to_owned(),
        Some(row) => {
            let marking: Vec<String> = row
                .marking
                .iter()
                .map(|(place, tokens)| if *tokens == 1 { place.clone() } else { format!("{tokens} {place}") })
                .collect();
            let marking = if marking.is_empty() { "no tokens at all".to_owned() } else { marking.join(" + ") };
            let first = format!("    the first        {marking}\n    reached by       {}\n", steps(&row.path));
            format!("  deadlocks          {}\n{first}", count(row.count as u128))
        }
    }
}

fn zero_rates(zero: Option<&ZeroRateRow>) -> String {
    let Some(row) = zero else { return String::new() };
    let mut text = String::new();
    if row.dead_markings > 0 {
        let markings = counted(row.dead_markings as u64, "dead marking");
        let _ = writeln!(text, "    by rates of 0    {markings}, which would go on with {}", row.held.join(", "));
    }
    if !row.never.is_empty() {
        let _ = writeln!(text, "  rate always 0      {}", row.never.join(", "));
    }
    text
}

fn classes(verdicts: &VerdictRow) -> String {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let mut text = format!("  live               {}\n", yes(verdicts.live));
    let _ = writeln!(text, "  reversible         {}", yes(verdicts.reversible));
    let _ = writeln!(text, "  home states        {}", count(verdicts.home_states.into()));
    let sizes = &verdicts.recurrent_classes;
    let shown: Vec<String> = sizes.iter().take(MOST_CLASSES).map(|&states| count(states.into())).collect();
    let more = if sizes.len() > MOST_CLASSES { ", ..." } else { "" };
    let _ = writeln!(text, "  recurrent classes  {}, of {}{more} states", count(sizes.len() as u128), shown.join(", "));
    text
}

fn bounds(report: &SolveReport, look: &Look) -> String {
    if report.bounds.is_empty() {
        return String::new();
    }
    let mut table = Table::new([("place", Align::Left), ("most tokens", Align::Right), ("after", Align::Left)]);
    for row in &report.bounds {
        table.push([row.name.clone(), count(row.bound.into()), steps(&row.path)]);
    }
    let title = if report.partial { "bounds, of the states that were found" } else { "bounds" };
    format!("\n{}{}", look.heading(title), table.text())
}

fn liveness(report: &SolveReport, look: &Look) -> String {
    if report.liveness.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new([("transition", Align::Left), ("can fire", Align::Left), ("never again after", Align::Left)]);
    for row in &report.liveness {
        let word = match row.level {
            0 => "never",
            1 => "finitely often",
            3 => "for ever, or no more",
            _ => "always again",
        };
        let lost = row.lost_after.as_ref().map_or(String::new(), |path| steps(path));
        table.push([row.name.clone(), format!("{word} (L{})", row.level), lost]);
    }
    format!("\n{}{}", look.heading("liveness"), table.text())
}

/// A firing sequence in a line.
fn steps(path: &[String]) -> String {
    if path.is_empty() {
        return "the start".to_owned();
    }
    let shown = path.iter().take(MOST_STEPS).cloned().collect::<Vec<_>>().join(" ");
    let more = path.len().saturating_sub(MOST_STEPS);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
