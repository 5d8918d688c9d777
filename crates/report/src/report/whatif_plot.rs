//! A what-if as a picture: mean, p95 and p99 of the job time per policy, and the energy if it is known, as SVG.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::drawing::{Picture, PlotError, Width};
use crate::report::number::plain;
use crate::report::plot::{self, Area, DrawError, fine_svg, font, label, line, px};
use crate::report::whatif::{PolicyRow, WhatIfReport};

/// Height of one policy's row, in pixels.
const ROW: u32 = 46;
/// Font size of names and marks \[px\].
const LETTERS: i32 = 13;
/// Room above and below the rows.
const MARGIN: u32 = 110;

/// Returns the picture of a what-if: a bar that ends at the mean, with its interval, marks at p95 and p99, and, with
/// `energy`, a dot for the energy on the axis above.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn what_if_picture(report: &WhatIfReport, energy: bool) -> Result<Picture, PlotError> {
    let rows = u32::try_from(report.policies.len()).unwrap_or(u32::MAX);
    let height = rows.saturating_mul(ROW).saturating_add(MARGIN);
    Picture::new("policies", |width| fine_svg((width.pixels(), height), |area| draw(area, report, energy, width)))
}

/// Returns the job times that are drawn for a policy.
fn times(row: &PolicyRow) -> Vec<f64> {
    let mean = &row.job_time_s;
    let ends = [mean.value].into_iter().chain(mean.ends().into_iter().flatten().filter(|end| end.is_finite()));
    ends.chain(row.tails.iter().map(|tail| tail.quantity.value)).collect()
}

fn draw(area: &Area<'_>, report: &WhatIfReport, energy: bool, width: Width) -> Result<(), DrawError> {
    let rows = report.policies.len();
    let kilo = |row: &PolicyRow| row.energy_j.value / 1e3;
    // a file may hold anything
    let inside = |value: f64| value.clamp(0.0, 1e15);
    let longest = report.policies.iter().flat_map(times).map(inside).fold(1e-9, f64::max);
    let most = report.policies.iter().map(kilo).map(inside).fold(1e-9, f64::max);
    let (names, widest) = plot::names_beside(report.policies.iter().map(|row| &*row.name), LETTERS, width);
    let mut chart = ChartBuilder::on(area)
        .margin(px(10))
        .margin_right(px(20))
        .x_label_area_size(px(44))
        .top_x_label_area_size(px(if energy { 44 } else { 0 }))
        .y_label_area_size(px(widest + 12))
        .build_cartesian_2d(0.0..1.05 * longest, 0.0..rows as f64)?
        .set_secondary_coord(0.0..1.05 * most, 0.0..rows as f64);
    plot::axis_of_rows(
        &mut chart,
        width.of(11, 5),
        width.of("job time [s]: bars end at the mean, marks are p95 and p99", "job time [s]: mean, p95, p99"),
        LETTERS,
    )?;
    if energy {
        chart
            .configure_secondary_axes()
            .axis_style(line(BLACK.mix(0.7), 1))
            .set_all_tick_mark_size(px(5))
            .x_labels(width.of(11, 5))
            .y_labels(0)
            .x_label_formatter(&|energy| plain(*energy))
            .x_desc("energy [kJ]: dots")
            .axis_desc_style(font(15))
            .label_style(font(LETTERS))
            .draw()?;
    }
    for ((number, row), name) in (0_u32..).zip(&report.policies).zip(names) {
        let middle = rows as f64 - f64::from(number) - 0.5;
        let mean = &row.job_time_s;
        let bar = [(0.0, middle - 0.28), (inside(mean.value), middle + 0.28)];
        chart.draw_series([Rectangle::new(bar, plot::BLUE.mix(0.55).filled())])?;
        if let Some([low, high]) = mean.ends() {
            // a bound has an end beyond the picture
            let ends = [low, high].map(|end| if end.is_finite() { inside(end) } else { 1.05 * longest });
            chart.draw_series([PathElement::new(ends.map(|end| (end, middle)), line(BLACK, 2))])?;
        }
        for at in row.tails.iter().map(|tail| inside(tail.quantity.value)) {
            let across = [(at, middle - 0.28), (at, middle + 0.28)];
            chart.draw_series([PathElement::new(across, line(plot::BLUE, 2))])?;
        }
        if energy {
            let dot = Circle::new((inside(kilo(row)), middle), px(5), plot::ORANGE.filled());
            chart.draw_secondary_series([dot])?;
        }
        let (x, y) = chart.backend_coord(&(0.0, middle));
        area.draw(&Text::new(name, (x - px(8), y), label(LETTERS, BLACK, HPos::Right, VPos::Center)))?;
    }
    Ok(())
}
