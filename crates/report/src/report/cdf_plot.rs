//! The distribution function of the time to a goal as a separate picture, with a title and its numbers next to the
//! curve.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::ask::net::PassageSection;
use crate::report::drawing::{PlotError, Width};
use crate::report::number::{quantile_name, within};
use crate::report::plot::{self, Area, DrawError, fine_svg, font, label, px};
use crate::report::times::Times;
use crate::report::times_plot::is_marked;

/// Pixels of the picture.
const SIZE: (u32, u32) = (900, 560);
/// Characters of the title that are written.
const TITLE: usize = 84;
/// Share of the width; if the median is beyond it, there is more room on the left.
const RIGHT: f64 = 0.55;
/// Height of a line of the list of numbers, in dots.
const LINE: i32 = px(21);

/// Draws the distribution function of the time to a goal in the net `net`; `None` if there is no distribution, or if
/// the time is always 0.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn cdf_svg(net: &str, passage: &PassageSection) -> Result<Option<String>, PlotError> {
    let times = Times::passage("time", passage);
    if !times.has_curve() {
        return Ok(None);
    }
    let median = passage.quantiles.first().zip(passage.curve.first()).zip(passage.curve.last());
    let median = median.map_or(0.0, |((p50, first), last)| (p50.value - first.time_s) / (last.time_s - first.time_s));
    fine_svg(SIZE, |area| {
        let area = area.margin(px(10), 0, 0, 0).titled(&title(net, passage), font(20))?;
        let room = times.draw_cdf(&area, Width::Wide)?;
        numbers(&area, room, rows(passage), median < RIGHT)
    })
    .map(Some)
}

fn title(net: &str, passage: &PassageSection) -> String {
    let of = if net.is_empty() { String::new() } else { format!("{net}: ") };
    let whole = format!("{of}time to {}", passage.goal);
    if whole.chars().count() <= TITLE {
        return whole;
    }
    whole.chars().take(TITLE - 3).chain("...".chars()).collect()
}

/// Draws the numbers as a list in the free space of the plot: at the lower right or the upper left.
fn numbers(
    area: &Area<'_>,
    (columns, lines): (Range<i32>, Range<i32>),
    rows: Vec<[String; 3]>,
    right: bool,
) -> Result<(), DrawError> {
    let height = LINE * rows.len() as i32;
    let wide = px(if rows.iter().any(|row| !row[2].is_empty()) { 300 } else { 176 });
    let (left, top) = if right {
        (columns.end - wide, lines.end - height - px(44))
    } else {
        (columns.start + px(40), lines.start + px(60))
    };
    let frame = [(left - px(12), top - px(8)), (left + wide - px(14), top + height + px(6))];
    area.draw(&Rectangle::new(frame, WHITE.mix(0.9).filled()))?;
    area.draw(&Rectangle::new(frame, plot::line(plot::GREY.mix(0.6), 1)))?;
    for ([name, value, bounds], y) in rows.into_iter().zip((top..).step_by(LINE as usize)) {
        area.draw(&Text::new(name, (left, y), label(15, BLACK, HPos::Left, VPos::Top)))?;
        area.draw(&Text::new(value, (left + px(150), y), label(15, BLACK, HPos::Right, VPos::Top)))?;
        area.draw(&Text::new(bounds, (left + px(162), y + px(2)), label(12, plot::GREY, HPos::Left, VPos::Top)))?;
    }
    Ok(())
}

/// Returns name, value and guaranteed bounds of each number.
fn rows(passage: &PassageSection) -> Vec<[String; 3]> {
    let row = |name: String, value: f64, bounds: Option<[f64; 2]>| {
        let half = bounds.map(|[low, high]| 0.5 * (high - low)).filter(|half| *half > 0.0);
        let number = |value| within(value, half);
        let bounds = bounds.filter(|_| half.is_some());
        let bounds = bounds.map_or_else(String::new, |[low, high]| format!("{} to {}", number(low), number(high)));
        [name, format!("{} s", number(value)), bounds]
    };
    let mut rows = Vec::new();
    if passage.probability < 1.0 {
        rows.push(["ever".to_owned(), within(passage.probability, None), String::new()]);
    }
    rows.extend(passage.mean_s.map(|mean| row("mean".to_owned(), mean, passage.mean_bounds_s)));
    rows.extend(passage.quantiles.iter().filter(|point| is_marked(point.p)).map(|point| {
        let bounds = point.low.zip(point.high).map(|(low, high)| [low, high]);
        row(quantile_name(point.p), point.value, bounds)
    }));
    rows
}
