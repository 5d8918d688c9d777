//! A what-if as a picture: mean, p95 and p99 of the job time per policy, and the energy, as SVG.

use plotters::prelude::*;

use crate::report::plot::{self, Area, DrawError, Picture, PlotError, Width, shortened};
use crate::report::whatif::WhatIfReport;

/// Height of one policy's row, in pixels.
const ROW: u32 = 46;
/// Room above and below the rows.
const MARGIN: u32 = 110;

/// The picture of a what-if: a bar to the mean with its interval, marks at p95 and p99, and a dot for the energy on the
/// axis above.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn what_if_picture(report: &WhatIfReport) -> Result<Picture, PlotError> {
    let rows = u32::try_from(report.policies.len()).unwrap_or(u32::MAX);
    let height = rows.saturating_mul(ROW).saturating_add(MARGIN);
    Picture::new("policies", |width| plot::svg((width.pixels(), height), |area| draw(area, report, width)))
}

fn draw(area: &Area<'_>, report: &WhatIfReport, width: Width) -> Result<(), DrawError> {
    let rows = report.policies.len();
    let tail = |row: &crate::report::whatif::PolicyRow| row.tails.iter().map(|t| t.quantity.value).fold(0.0, f64::max);
    let longest = report.policies.iter().map(|row| tail(row).max(row.job_time_s.value)).fold(1e-9, f64::max);
    let most = report.policies.iter().map(|row| row.energy_j.value / 1e3).fold(1e-9, f64::max);
    let [longest, most] = [longest, most].map(|end| end.min(1e15));
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(40)
        .top_x_label_area_size(40)
        .y_label_area_size(width.of(250, 120))
        .build_cartesian_2d(0.0..1.05 * longest, 0.0..rows as f64)?
        .set_secondary_coord(0.0..1.05 * most, 0.0..rows as f64);
    let name = |at: &f64| {
        let row = rows.checked_sub(1 + *at as usize).and_then(|row| report.policies.get(row));
        let middle = (at.fract() - 0.5).abs() < 1e-6;
        row.filter(|_| middle).map_or_else(String::new, |row| shortened(&row.name, width.of(34, 16)))
    };
    let mut mesh = chart.configure_mesh();
    mesh.disable_y_mesh().y_labels(2 * rows + 1).y_label_formatter(&name);
    mesh.x_labels(width.of(11, 4))
        .x_desc(width.of("job time [s]: bar to the mean, marks at p95 and p99", "job time [s]: mean, p95, p99"))
        .draw()?;
    chart.configure_secondary_axes().x_labels(width.of(11, 4)).x_desc("energy [kJ]: dots").draw()?;
    for (number, row) in report.policies.iter().enumerate() {
        let middle = (rows - number) as f64 - 0.5;
        let mean = &row.job_time_s;
        let bar = [(0.0, middle - 0.28), (mean.value, middle + 0.28)];
        chart.draw_series([Rectangle::new(bar, plot::BLUE.mix(0.6).filled())])?;
        if let (Some(low), Some(high)) = (mean.low, mean.high) {
            chart.draw_series([PathElement::new([(low, middle), (high, middle)], BLACK.stroke_width(2))])?;
        }
        for tail in &row.tails {
            let at = tail.quantity.value;
            chart.draw_series([PathElement::new(
                [(at, middle - 0.28), (at, middle + 0.28)],
                plot::BLUE.stroke_width(2),
            )])?;
        }
        chart.draw_secondary_series([Circle::new((row.energy_j.value / 1e3, middle), 5, plot::ORANGE.filled())])?;
    }
    Ok(())
}
