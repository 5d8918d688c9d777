//! The exact time to a goal as a person reads it in a terminal.

use std::fmt::Write as _;

use crate::render::Look;
use crate::report::number::{count, plain, quantile_name, within};
use crate::report::passage::PassageSection;
use crate::report::table::{Align, Table};

pub(super) fn passage_text(passage: &PassageSection, look: &Look) -> String {
    let mut text = format!("\n{}", look.heading(&format!("time to {} [s]", passage.goal)));
    let bounded = passage.mean_bounds_s.is_some();
    let columns = [("", Align::Left), ("exact", Align::Right), ("surely from", Align::Right), ("to", Align::Right)];
    let mut table = Table::new(columns.into_iter().take(if bounded { 4 } else { 2 }));
    if passage.probability < 1.0 {
        table.push(row("probability to get there".to_owned(), passage.probability, [None; 2]));
    }
    let bounds = passage.mean_bounds_s.map_or([None; 2], |bounds| bounds.map(Some));
    match passage.mean_s {
        Some(mean) => table.push(row("mean".to_owned(), mean, bounds)),
        None => table.push(["mean", "-"]),
    }
    match passage.sd_s {
        Some(sd) => table.push(row("sd".to_owned(), sd, [None; 2])),
        None => table.push(["sd", "-"]),
    }
    for point in &passage.quantiles {
        table.push(row(quantile_name(point.p), point.value, [point.low, point.high]));
    }
    for point in &passage.cdf {
        let name = format!("P(time <= {} s)", plain(point.time_s));
        table.push(row(name, point.probability, [point.low, point.high]));
        if let Some(density) = point.density_per_s {
            table.push(row(format!("density at {} s [1/s]", plain(point.time_s)), density, [None; 2]));
        }
    }
    text += &table.text();
    text + &how(passage)
}

/// Name, value and certain bounds, with as many digits as the bounds leave certain.
fn row(name: String, value: f64, bounds: [Option<f64>; 2]) -> Vec<String> {
    let half = bounds[0].zip(bounds[1]).map(|(low, high)| 0.5 * (high - low)).filter(|half| *half > 0.0);
    let ends = bounds.iter().flatten().map(|&bound| within(bound, half));
    [name, within(value, half)].into_iter().chain(ends).collect()
}

/// By which methods, and how exact.
fn how(passage: &PassageSection) -> String {
    let mut text = String::new();
    if let Some(step) = passage.grid_step_s {
        let _ = writeln!(
            text,
            "  by series-parallel reduction, on a grid of steps of {} s; the sd has no bounds",
            plain(step)
        );
        return text;
    }
    let states = passage.states.map_or_else(String::new, |states| format!("{} states, ", count(states as u128)));
    let method = passage.method.as_ref().map_or(String::new(), |method| format!("moments by {method}, "));
    let _ = match &passage.no_distribution {
        Some(reason) => writeln!(text, "  {method}{}; no distribution: {reason}", states.trim_end_matches(", ")),
        None => {
            let error = passage.cdf_error;
            writeln!(text, "  {method}distribution by uniformisation, {states}error below {error:.0e}")
        }
    };
    text
}
