//! A sweep as pictures, as SVG: a curve for one axis, a heat map for a grid of two, a tornado for one axis at a time.

use std::collections::BTreeMap;
use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use toml::Value;

use crate::document::Figure;
use crate::estimate::Measured;
use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, text_width};
use crate::report::number::{plain, value_text, within};
use crate::report::plot::{self, Area, DrawError};
use crate::report::sweep::{KnobRow, SweepReport};
use crate::sweep::{Design, Level, PointResult};

/// Pixels of a curve or a heat map.
fn size(width: Width) -> (u32, u32) {
    (width.pixels(), width.of(560, 400))
}

/// Height of a row of a tornado, and the room above and below.
const TORNADO: [u32; 2] = [52, 110];
/// Font size of a setting's name \[px\].
const LETTERS: i32 = 13;
/// Maximum number of cells of a heat map with numbers in them.
const MOST_NUMBERS: usize = 150;
/// Maximum number of columns and of rows of a heat map. Beyond it, neighbouring values share a cell: a picture has no room for more, and
/// each cell takes about 100 bytes.
const MOST_CELLS: usize = 64;
/// Distance of the scale of colours from a heat map, and its width \[px\].
const SCALE: [i32; 2] = [14, 16];
/// Number of colours of the scale.
const SHADES: u32 = 32;

/// Returns the pictures for a sweep; `None` if there are too few points, or too many axes.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn sweep_pictures(report: &SweepReport) -> Result<Vec<Picture>, PlotError> {
    let mut pictures = Vec::new();
    if report.axes.len() == 1 {
        pictures.extend(curve(report)?);
    }
    if report.axes.len() == 2 && report.design == Design::Grid {
        pictures.extend(heat(report)?);
    }
    pictures.extend(tornado(&report.tornado, "mean")?);
    Ok(pictures)
}

/// Names, titles and captions of the figures.
const FIGURES: [(&str, &str, &str); 3] = [
    ("curve", "Time by setting", "Mean, p95 and p99 of the time at each value, with their intervals."),
    (
        "heat",
        "Time by both settings",
        "The mean time at each pair of values; dark means short. The scale of colours has the times.",
    ),
    (
        "tornado",
        "Effect of each setting",
        "Change of the mean time from the base at the best and the worst value of each setting. The setting's values are printed next to \
         the bars; thin lines are confidence intervals.",
    ),
];

/// Returns the figures of a sweep.
pub(super) fn sweep_figures(report: &SweepReport) -> impl Iterator<Item = Figure<'_>> {
    FIGURES.into_iter().map(move |(name, title, caption)| {
        let draw = move || Ok(sweep_pictures(report)?.into_iter().find(|picture| picture.name == name));
        Figure::new(title, caption).drawn(draw)
    })
}

/// Returns a number of an axis.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Returns the ends of an axis for these numbers, with some room on both sides.
fn roomy(values: impl Iterator<Item = f64> + Clone) -> Option<Range<f64>> {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    let room = 0.05 * (high - low).max(1e-9 * high.abs()).max(f64::MIN_POSITIVE);
    (low <= high && can_be_axis(low - room, high + room)).then_some(low - room..high + room)
}

/// A quantile or mean of a point, with its position on the axis.
type Dot<'a> = (f64, &'a Measured);
/// Name, colour and dots of a line.
type Line<'a> = (&'static str, RGBColor, Vec<Dot<'a>>);

fn lines(report: &SweepReport) -> Vec<Line<'_>> {
    let line = |name, colour, number_of: fn(&PointResult) -> &Option<Measured>| {
        let points = report.points.iter();
        let dots = points.filter_map(|p| Some((number(p.values.first()?.as_ref()?)?, number_of(p).as_ref()?)));
        let mut dots: Vec<Dot<'_>> = dots.collect();
        dots.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        (name, colour, dots)
    };
    let lines = [
        line("p99", plot::GREY, |point| &point.p99_s),
        line("p95", plot::ORANGE, |point| &point.p95_s),
        line("mean", plot::BLUE, |point| &point.mean_s),
    ];
    lines.into_iter().filter(|(_, _, dots)| !dots.is_empty()).collect()
}

/// Draws mean, p95 and p99 against a numeric axis, with their intervals; `None` with fewer than two numbers.
fn curve(report: &SweepReport) -> Result<Option<Picture>, PlotError> {
    let lines = lines(report);
    let dots = lines.iter().flat_map(|(_, _, dots)| dots);
    let ends = dots.clone().flat_map(|(_, number)| drawn_of(number));
    let places = dots.clone().map(|(x, _)| *x);
    let (Some(x), Some(y)) = (roomy(places), roomy(ends)) else { return Ok(None) };
    if lines.iter().all(|(_, _, dots)| dots.len() < 2) {
        return Ok(None);
    }
    let ends = [x, y];
    Picture::new("curve", |width| plot::svg(size(width), |area| draw_curve(area, report, &lines, &ends, width)))
        .map(Some)
}

fn draw_curve(
    area: &Area<'_>,
    report: &SweepReport,
    lines: &[Line<'_>],
    ends: &[Range<f64>; 2],
    width: Width,
) -> Result<(), DrawError> {
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .margin_top(36)
        .margin_right(width.of(40, 24))
        .x_label_area_size(46)
        .y_label_area_size(width.of(72, 60))
        .build_cartesian_2d(ends[0].clone(), ends[1].clone())?;
    let level = plain(100.0 * report.level);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(plot::GREY.mix(0.2))
        .x_labels(width.of(11, 5))
        .x_label_formatter(&|value| plain(*value))
        .y_label_formatter(&|value| plain(*value))
        .x_desc(&report.axes[0].name)
        .y_desc(format!("time [s], {level}% intervals"))
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 13))
        .draw()?;
    for (_, colour, dots) in lines {
        let thick = colour.stroke_width(2);
        let bars = dots.iter().filter_map(|(x, n)| Some(n.ends()?.map(|end| (*x, end))));
        chart.draw_series(bars.map(|bar| PathElement::new(bar, thick)))?;
        chart.draw_series(dots.iter().map(|(x, n)| Circle::new((*x, n.value), 3, colour.filled())))?;
        chart.draw_series(LineSeries::new(dots.iter().map(|(x, n)| (*x, n.value)), thick))?;
    }
    // above the plot, where it covers no line
    let (mut x, y) = (chart.plotting_area().get_pixel_range().0.start, 18);
    for (name, colour, _) in lines.iter().rev() {
        area.draw(&PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2)))?;
        let style = ("sans-serif", 14).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(*name, (x + 28, y), style))?;
        x += 90;
    }
    Ok(())
}

/// The cells of a grid of two axes: the values of the first and of the second axis, and the mean at each pair.
struct Cells {
    columns: Vec<String>,
    rows: Vec<String>,
    means: Vec<(usize, usize, f64)>,
    /// Number of neighbouring values that share a column, and a row.
    shared: [usize; 2],
}

fn cells(report: &SweepReport) -> Cells {
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    let place = |values: &mut Vec<Value>, value: &Value| {
        values.iter().position(|other| other == value).unwrap_or_else(|| {
            values.push(value.clone());
            values.len() - 1
        })
    };
    let mut means = Vec::new();
    for point in &report.points {
        let [Some(first), Some(second)] = &point.values[..] else { continue };
        let (column, row) = (place(&mut columns, first), place(&mut rows, second));
        means.extend(point.mean_s.as_ref().map(|mean| (column, row, mean.value)));
    }
    let shared = [columns.len(), rows.len()].map(|values| values.div_ceil(MOST_CELLS).max(1));
    let names = |values: &[Value], shared: usize| values.iter().step_by(shared).map(value_text).collect();
    let (columns, rows) = (names(&columns, shared[0]), names(&rows, shared[1]));
    Cells { columns, rows, means: averages(means, shared), shared }
}

/// Returns the average of the means in each cell.
fn averages(means: Vec<(usize, usize, f64)>, shared: [usize; 2]) -> Vec<(usize, usize, f64)> {
    let mut sums = BTreeMap::<(usize, usize), (f64, u32)>::new();
    for (column, row, mean) in means {
        let (sum, count) = sums.entry((column / shared[0], row / shared[1])).or_default();
        (*sum, *count) = (*sum + mean, *count + 1);
    }
    sums.into_iter().map(|((column, row), (sum, count))| (column, row, sum / f64::from(count))).collect()
}

/// Draws the mean against two axes as colours, the shortest dark; `None` with fewer than two points.
fn heat(report: &SweepReport) -> Result<Option<Picture>, PlotError> {
    let cells = cells(report);
    if cells.means.len() < 2 {
        return Ok(None);
    }
    let title = match cells.shared {
        [1, 1] => "mean time [s] (dark: short)".to_owned(),
        [columns, rows] => format!("mean time [s] (dark: short), averages of {columns} × {rows} values"),
    };
    let draw = |width| {
        plot::svg(size(width), |area| {
            let area = area.titled(&title, ("sans-serif", width.of(18, 15)))?;
            draw_heat(&area, report, &cells, width)
        })
    };
    Picture::new("heat", draw).map(Some)
}

fn draw_heat(area: &Area<'_>, report: &SweepReport, cells: &Cells, width: Width) -> Result<(), DrawError> {
    let (columns, rows) = (cells.columns.len(), cells.rows.len());
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .margin_right(width.of(96, 74))
        .x_label_area_size(50)
        .y_label_area_size(width.of(90, 62))
        .build_cartesian_2d(0.0..columns as f64, 0.0..rows as f64)?;
    let (across, up) = chart.plotting_area().get_pixel_range();
    let widest = cells.columns.iter().map(|name| text_width(name, LETTERS) + LETTERS).max().unwrap_or(0);
    let steps = [labelled(columns, widest, &across), labelled(rows, LETTERS + 5, &up)];
    let label = |names: &[String], step: usize, at: f64| {
        let is_middle = (at.fract() - 0.5).abs() < 1e-6 && (at as usize).is_multiple_of(step);
        names.get(at as usize).filter(|_| is_middle).cloned().unwrap_or_default()
    };
    let mut mesh = chart.configure_mesh();
    if steps != [1, 1] {
        // marks without a label would be a black bar
        mesh.set_all_tick_mark_size(0);
    }
    mesh.disable_mesh()
        .x_labels(2 * columns + 1)
        .y_labels(2 * rows + 1)
        .x_label_formatter(&|at| label(&cells.columns, steps[0], *at))
        .y_label_formatter(&|at| label(&cells.rows, steps[1], *at))
        .x_desc(&report.axes[0].name)
        .y_desc(&report.axes[1].name)
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", LETTERS))
        .draw()?;
    let means = cells.means.iter().map(|(_, _, mean)| *mean);
    let (low, high) = (means.clone().fold(f64::INFINITY, f64::min), means.fold(f64::NEG_INFINITY, f64::max));
    for &(column, row, mean) in &cells.means {
        let share = if high > low { (mean - low) / (high - low) } else { 0.0 };
        let (x, y) = (column as f64, row as f64);
        chart.draw_series([Rectangle::new([(x, y), (x + 1.0, y + 1.0)], ramp(share).filled())])?;
        if cells.means.len() <= MOST_NUMBERS && columns <= width.of(usize::MAX, 6) {
            let ink = if share < 0.6 { plot::ON_DARK } else { plot::ON_LIGHT };
            let style =
                ("sans-serif", width.of(14, 11)).into_text_style(area).pos(Pos::new(HPos::Center, VPos::Center));
            let text = within(mean, Some(0.01 * mean.abs()));
            chart.draw_series([Text::new(text, (x + 0.5, y + 0.5), style.color(&ink))])?;
        }
    }
    draw_scale(area, [low, high], across.end, &up)
}

/// Returns the step between labelled values, so that labels of this size do not touch.
fn labelled(values: usize, label: i32, room: &Range<i32>) -> usize {
    let pixels = usize::try_from(room.end - room.start).unwrap_or(0).max(1);
    (values * usize::try_from(label).unwrap_or(0)).div_ceil(pixels).max(1)
}

/// Draws the colours of a heat map to the right of it, with numbers.
fn draw_scale(area: &Area<'_>, [low, high]: [f64; 2], left: i32, up: &Range<i32>) -> Result<(), DrawError> {
    // the area may begin below a title
    let (x0, y0) = area.get_pixel_range();
    let (x, top, bottom) = (left - x0.start + SCALE[0], up.start - y0.start, up.end - y0.start);
    let at = |share: f64| bottom - (share * f64::from(bottom - top)).round() as i32;
    let steps = if high > low { SHADES } else { 1 };
    for i in 0..steps {
        let [from, to] = [i, i + 1].map(|i| at(f64::from(i) / f64::from(steps)));
        let colour = ramp(f64::from(i) / f64::from((steps - 1).max(1)));
        area.draw(&Rectangle::new([(x, to), (x + SCALE[1], from)], colour.filled()))?;
    }
    let shares: &[f64] = if high > low { &[0.0, 0.25, 0.5, 0.75, 1.0] } else { &[0.5] };
    let style = ("sans-serif", LETTERS).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
    for &share in shares {
        let value = low + share * (high - low);
        let text = within(value, Some(0.01 * value.abs().max(high - low)));
        area.draw(&Text::new(text, (x + SCALE[1] + 6, at(share)), style.clone()))?;
    }
    Ok(())
}

/// Returns the colour of a share from 0 to 1: from dark to light, in colours that also differ for readers who
/// cannot tell red from green.
fn ramp(share: f64) -> RGBColor {
    const STOPS: [[f64; 3]; 5] =
        [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let stop = (at as usize).min(STOPS.len() - 2);
    let [low, high] = [STOPS[stop], STOPS[stop + 1]];
    let mixed = |i: usize| (low[i] + (high[i] - low[i]) * (at - stop as f64)).round() as u8;
    RGBColor(mixed(0), mixed(1), mixed(2))
}

/// Draws the effect of each setting on a measure of the time: bars from the base to the setting's best and
/// worst value, the setting with the largest effect on top; none without settings.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub(super) fn tornado(knobs: &[KnobRow], measure: &str) -> Result<Option<Picture>, PlotError> {
    let drawable = |end: f64| can_be_axis(-1.0, end.abs());
    if knobs.is_empty() || !knobs.iter().flat_map(ends_of).all(drawable) {
        return Ok(None);
    }
    let [row, room] = TORNADO;
    let rows = u32::try_from(knobs.len()).unwrap_or(u32::MAX);
    let size = |width: Width| (width.pixels(), rows.saturating_mul(row).saturating_add(room));
    Picture::new("tornado", |width| plot::svg(size(width), |area| draw_tornado(area, knobs, measure, width))).map(Some)
}

/// A number and the ends of its interval.
fn drawn_of(number: &Measured) -> impl Iterator<Item = f64> + Clone {
    std::iter::once(number.value).chain(number.ends().into_iter().flatten())
}

/// Returns all values that are drawn for a setting.
fn ends_of(knob: &KnobRow) -> Vec<f64> {
    let numbers = [&knob.best.difference_s, &knob.worst.difference_s];
    numbers.into_iter().flat_map(drawn_of).collect()
}

fn draw_tornado(area: &Area<'_>, knobs: &[KnobRow], measure: &str, width: Width) -> Result<(), DrawError> {
    let rows = knobs.len();
    let levels = |knob: &KnobRow| [knob.best.clone(), knob.worst.clone()];
    let ends: Vec<f64> = knobs.iter().flat_map(ends_of).chain([0.0]).collect();
    let x = roomy(ends.iter().copied()).unwrap_or(-1.0..1.0);
    // room for the values next to the bars
    let room = width.of(0.12, 0.25) * (x.end - x.start);
    let (names, widest) = plot::names_beside(knobs.iter().map(|knob| &*knob.name), LETTERS, width);
    let across = x.start - room..x.end + room;
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(46)
        .y_label_area_size(widest + 16)
        .build_cartesian_2d(across.clone(), 0.0..rows as f64)?;
    let name = |at: &f64| {
        let middle = (at.fract() - 0.5).abs() < 1e-6;
        let name = rows.checked_sub(1 + *at as usize).and_then(|row| names.get(row));
        // without tick marks, spaces keep the names off the axis
        name.filter(|_| middle).map_or_else(String::new, |name| format!("{name}\u{a0}\u{a0}"))
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(plot::GREY.mix(0.2))
        .set_tick_mark_size(LabelAreaPosition::Left, 0)
        .x_labels(width.of(11, 4))
        .y_labels(2 * rows + 1)
        .x_label_formatter(&|value| plot::mark_text(*value, &across))
        .y_label_formatter(&name)
        .x_desc(format!("change of the {measure} time{} [s]", width.of(" against the base", "")))
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", LETTERS))
        .draw()?;
    for (number, knob) in knobs.iter().enumerate() {
        let middle = (rows - number) as f64 - 0.5;
        // of two values on the same side the longer bar is drawn first
        let mut both = levels(knob);
        both.sort_by(|a, b| b.difference_s.value.abs().total_cmp(&a.difference_s.value.abs()));
        for level in &both {
            let shorter = level.difference_s.value < 0.0;
            let colour = if shorter { plot::BLUE } else { plot::ORANGE };
            let end = level.difference_s.value;
            let bar = [(0.0_f64.min(end), middle - 0.3), (0.0_f64.max(end), middle + 0.3)];
            chart.draw_series([Rectangle::new(bar, colour.mix(0.7).filled())])?;
            if let Some([low, high]) = level.difference_s.ends() {
                chart.draw_series([PathElement::new([(low, middle), (high, middle)], BLACK.stroke_width(2))])?;
            }
        }
        for (at, shift, text) in value_labels(knob) {
            let side = if shift < 0 { HPos::Right } else { HPos::Left };
            let style = ("sans-serif", LETTERS).into_text_style(area).pos(Pos::new(side, VPos::Center));
            chart.draw_series([EmptyElement::at((at, middle)) + Text::new(text, (shift, 0), style)])?;
        }
    }
    chart.draw_series([PathElement::new([(0.0, 0.0), (0.0, rows as f64)], BLACK.stroke_width(1))])?;
    Ok(())
}

/// Pixels between a bar and its value.
const BESIDE: i32 = 8;

/// Returns the values of a setting, and their positions: the best to the left and the worst to the right of the
/// bars; with two bars on the same side, only the value of the longer bar.
fn value_labels(knob: &KnobRow) -> Vec<(f64, i32, String)> {
    let (best, worst) = (&knob.best, &knob.worst);
    let left = |level: &Level| {
        let number = &level.difference_s;
        (number.ends().map_or(number.value, |[low, _]| low), -BESIDE, value_text(&level.value))
    };
    let right = |level: &Level| {
        let number = &level.difference_s;
        (number.ends().map_or(number.value, |[_, high]| high), BESIDE, value_text(&level.value))
    };
    let mut labels = Vec::new();
    if best.difference_s.value <= 0.0 {
        labels.push(left(best));
    }
    if worst.difference_s.value > 0.0 {
        labels.push(right(worst));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A grid of `columns` by `rows` points, with times from 1 s on.
    fn grid(columns: usize, rows: usize) -> SweepReport {
        let point = |i: usize| {
            let (column, row) = (i / rows, i % rows);
            let mean = 1.0 + (column * rows + row) as f64;
            json!({
                "point": i + 1, "values": [column * 10, row], "replications": 1, "reached": 1, "engine": "tasks",
                "mean_s": { "value": mean, "low": null, "high": null },
            })
        };
        let axis = |name: &str| json!({ "key": name, "name": name });
        serde_json::from_value(json!({
            "design": "grid", "axes": [axis("workers"), axis("reduces")], "shard": [1, 1], "planned": columns * rows, "partial": false,
            "level": 0.95, "version": "0.1.0", "seed": 0, "replications": columns * rows,
            "points": (0..columns * rows).map(point).collect::<Vec<_>>(), "tornado": [], "plan": "",
        }))
        .unwrap()
    }

    fn labels(svg: &str) -> Vec<&str> {
        let texts = svg.split("<text").skip(1).filter_map(|text| text.split('>').nth(1)?.split('<').next());
        texts.map(str::trim).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn a_large_grid_has_few_labels_and_a_scale_with_numbers() {
        let picture = heat(&grid(100, 1000)).unwrap().unwrap();
        for svg in [&*picture.wide, &*picture.narrow] {
            let labels = labels(svg);
            assert!(labels.len() < 60, "{labels:?}");
            assert!(labels.contains(&"mean time [s] (dark: short), averages of 2 × 16 values"), "{labels:?}");
            // the scale reaches from 508.5, the average of the first cell, to 99,496.5, the average of the last cell, which has 8 rows
            assert!(["508", "50002", "99496"].iter().all(|number| labels.contains(number)), "{labels:?}");
            assert!(svg.len() < 600_000, "{}", svg.len());
            // no mark without a label
            assert!(svg.matches("<line").count() < 10 && svg.matches("<polyline").count() < 10);
        }
    }

    #[test]
    fn a_small_grid_labels_every_value() {
        let picture = heat(&grid(4, 3)).unwrap().unwrap();
        let labels = labels(&picture.wide);
        for value in ["0", "10", "20", "30", "1", "2", "1.000", "12.00"] {
            assert!(labels.contains(&value), "{value} in {labels:?}");
        }
    }
}
