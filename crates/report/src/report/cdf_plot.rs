//! A distribution function as a picture: the curve with its certain bounds, the mean and four quantiles, as SVG.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::number::{plain, quantile_name, within};
use crate::report::passage::{CdfPoint, PassageSection};
use crate::report::plot::{self, Area, DrawError, PlotError, font, px};

/// Pixels of the picture.
const SIZE: (u32, u32) = (900, 560);
/// Quantiles that are marked.
const MARKED: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Characters of the title that are written.
const TITLE: usize = 84;
/// Top of the axis of probabilities: room for labels above the curve.
const TOP: f64 = 1.06;
/// Share of the width behind which a median leaves more room at the left.
const RIGHT: f64 = 0.55;
/// Height of a line of the list of numbers, in dots.
const LINE: i32 = px(21);

/// A line of one pixel.
fn thin(colour: RGBAColor) -> ShapeStyle {
    plot::line(colour, 1)
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

/// The distribution function of the time to a goal in the net `net`; `None` where there is no distribution, or all of it is at
/// time 0.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn cdf_svg(net: &str, passage: &PassageSection) -> Result<Option<String>, PlotError> {
    let (Some(first), Some(last)) = (passage.curve.first(), passage.curve.last()) else { return Ok(None) };
    if !plot::can_be_axis(first.time_s, last.time_s) {
        return Ok(None);
    }
    let times = first.time_s..last.time_s;
    plot::fine_svg(SIZE, |area| {
        let area = area.margin(px(10), 0, 0, 0).titled(&title(net, passage), font(20))?;
        let mut chart = ChartBuilder::on(&area)
            .margin(px(12))
            .margin_right(px(30))
            .x_label_area_size(px(46))
            .y_label_area_size(px(62))
            .build_cartesian_2d(times, 0.0..TOP)?;
        axes(&mut chart)?;
        band(&mut chart, &passage.curve)?;
        marks(&mut chart, passage)?;
        let line = passage.curve.iter().map(|point| (point.time_s, point.probability));
        chart.draw_series(LineSeries::new(line, plot::BLUE.stroke_width(px(3).unsigned_abs())))?;
        dots(&mut chart, passage)?;
        numbers(&area, &chart, passage)
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

fn axes(chart: &mut Chart<'_, '_>) -> Result<(), DrawError> {
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(thin(plot::GREY.mix(0.2)))
        .axis_style(thin(BLACK.mix(0.7)))
        .set_all_tick_mark_size(px(5))
        .x_labels(10)
        .y_labels(11)
        .x_label_formatter(&|time| plain(*time))
        .y_label_formatter(&|p| format!("{p:.1}"))
        .x_desc("time [s]")
        .y_desc("probability to be there by then")
        .axis_desc_style(font(16))
        .label_style(font(13))
        .draw()
}

/// What lies between the bounds, where there are bounds.
fn band(chart: &mut Chart<'_, '_>, curve: &[CdfPoint]) -> Result<(), DrawError> {
    let low = curve.iter().filter_map(|point| Some((point.time_s, point.low?)));
    let high = curve.iter().rev().filter_map(|point| Some((point.time_s, point.high?)));
    let outline: Vec<(f64, f64)> = low.chain(high).collect();
    if !outline.is_empty() {
        chart.draw_series([Polygon::new(outline, plot::BLUE.mix(0.25))])?;
    }
    Ok(())
}

/// The quantiles that are marked, and that the line has.
fn marked(passage: &PassageSection) -> impl Iterator<Item = (f64, f64)> {
    let drawn = passage.curve.last().map_or(0.0, |point| point.time_s);
    let point = move |&p: &f64| {
        let row = passage.quantiles.iter().find(|row| (row.p - p).abs() < 1e-12)?;
        (row.value <= drawn).then_some((row.p, row.value))
    };
    MARKED.iter().filter_map(point)
}

/// Lines from the axes to the quantiles, and the mean.
fn marks(chart: &mut Chart<'_, '_>, passage: &PassageSection) -> Result<(), DrawError> {
    let start = passage.curve.first().map_or(0.0, |point| point.time_s);
    for (p, time) in marked(passage) {
        let guide = [(start, p), (time, p), (time, 0.0)];
        chart.draw_series([PathElement::new(guide, thin(plot::GREY.mix(0.7)))])?;
    }
    if let Some(mean) = passage.mean_s.filter(|mean| inside(passage, *mean)) {
        let line = DashedLineSeries::new(
            [(mean, 0.0), (mean, 1.0)],
            px(7),
            px(4),
            plot::ORANGE.stroke_width(px(2).unsigned_abs()),
        );
        chart.draw_series(line)?;
        let label = Text::new("mean", (0, -px(4)), label_style(plot::ORANGE, HPos::Center));
        chart.draw_series([EmptyElement::at((mean, 1.0)) + label])?;
    }
    Ok(())
}

fn inside(passage: &PassageSection, time: f64) -> bool {
    let ends = passage.curve.first().zip(passage.curve.last());
    ends.is_some_and(|(first, last)| (first.time_s..=last.time_s).contains(&time))
}

fn label_style(colour: RGBColor, side: HPos) -> TextStyle<'static> {
    let style = font(14).into_text_style(&SIZE).pos(Pos::new(side, VPos::Bottom));
    TextStyle { color: colour.to_backend_color(), ..style }
}

fn dots(chart: &mut Chart<'_, '_>, passage: &PassageSection) -> Result<(), DrawError> {
    for (p, time) in marked(passage) {
        let label = Text::new(quantile_name(p), (-px(7), -px(2)), label_style(plot::BLUE, HPos::Right));
        let dot = Circle::new((0, 0), px(5), plot::BLUE.filled());
        chart.draw_series([EmptyElement::at((time, p)) + dot + label])?;
    }
    Ok(())
}

/// The numbers as a list, where the curve leaves room: below it at the right, or above it at the left.
fn numbers(area: &Area<'_>, chart: &Chart<'_, '_>, passage: &PassageSection) -> Result<(), DrawError> {
    let rows = rows(passage);
    let (columns, lines) = chart.plotting_area().get_pixel_range();
    let height = LINE * rows.len() as i32;
    let median = marked(passage).next().map_or(0.0, |(_, time)| share(passage, time));
    let bounds = rows.iter().any(|row| row[2].len() > 1);
    let wide = px(if bounds { 300 } else { 176 });
    let (left, top) = if median < RIGHT {
        (columns.end - wide, lines.end - height - px(44))
    } else {
        (columns.start + px(40), lines.start + px(60))
    };
    let frame = [(left - px(12), top - px(8)), (left + wide - px(14), top + height + px(6))];
    area.draw(&Rectangle::new(frame, WHITE.mix(0.9).filled()))?;
    let [(west, north), (east, south)] = frame;
    let outline = [(west, north), (east, north), (east, south), (west, south), (west, north)];
    area.draw(&PathElement::new(outline, thin(plot::GREY.mix(0.6))))?;
    for ([name, value, bounds], y) in rows.into_iter().zip((top..).step_by(LINE as usize)) {
        let style = font(15).into_text_style(&SIZE).color(&BLACK);
        area.draw(&Text::new(name, (left, y), style.clone()))?;
        area.draw(&Text::new(value, (left + px(150), y), style.pos(Pos::new(HPos::Right, VPos::Top))))?;
        let style = font(12).into_text_style(&SIZE).color(&plot::GREY);
        area.draw(&Text::new(bounds, (left + px(162), y + px(2)), style))?;
    }
    Ok(())
}

/// Where a time is between the ends of the line, from 0 to 1.
fn share(passage: &PassageSection, time: f64) -> f64 {
    let ends = passage.curve.first().zip(passage.curve.last());
    ends.map_or(0.0, |(first, last)| (time - first.time_s) / (last.time_s - first.time_s))
}

/// Name, value and certain bounds of each number.
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
    let quantiles = passage.quantiles.iter().filter(|point| MARKED.iter().any(|p| (point.p - p).abs() < 1e-12));
    rows.extend(quantiles.map(|point| {
        let bounds = point.low.zip(point.high).map(|(low, high)| [low, high]);
        row(quantile_name(point.p), point.value, bounds)
    }));
    rows
}
