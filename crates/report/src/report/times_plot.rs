//! The distribution of a time as pictures: histogram, distribution function, and its tail on a logarithmic scale.

use std::ops::{Range, RangeInclusive};

use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::ask::net::CdfPoint;
use crate::report::distribution::Bar;
use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, text_width};
use crate::report::number::{plain, quantile_name, within};
use crate::report::plot::{self, Area, Axes, Chart, DrawError, axes, fine_svg, label, line, px};
use crate::report::times::{Times, sound};

/// Quantiles that are marked.
const MARKED: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Returns true if a quantile is marked.
pub(crate) fn is_marked(p: f64) -> bool {
    MARKED.iter().any(|marked| (marked - p).abs() < 1e-12)
}

/// Font size of labels inside a picture \[px\].
const LETTERS: i32 = 13;

impl Times {
    /// Returns the picture called `histogram`, `cdf` or `tail`; `None` if there is nothing to draw.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub(crate) fn picture(&self, name: &'static str) -> Result<Option<Picture>, PlotError> {
        let bars = self.bars.first().zip(self.bars.last());
        let has_bars = self.samples > 0 && bars.is_some_and(|(first, last)| can_be_axis(first.low, last.high));
        match name {
            "histogram" if has_bars => Picture::new(name, |width| self.histogram(width)).map(Some),
            "cdf" if self.has_curve() => Picture::new(name, |width| self.cdf(width)).map(Some),
            "tail" if self.has_curve() => Picture::new(name, |width| self.tail(width)).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns true if there is a distribution function to draw.
    pub(crate) fn has_curve(&self) -> bool {
        let ends = self.curve.first().zip(self.curve.last());
        ends.is_some_and(|(first, last)| can_be_axis(first.time_s, last.time_s.min(self.drawn_to())))
    }

    fn axis(&self) -> String {
        format!("{} [s]", self.name)
    }

    /// Returns the marked quantiles between two times.
    fn marks(&self, from: f64, until: f64) -> impl Iterator<Item = [f64; 2]> {
        self.quantiles.iter().copied().filter(move |[p, time]| is_marked(*p) && (from..=until).contains(time))
    }

    fn histogram(&self, width: Width) -> Result<String, PlotError> {
        let share = |bar: &Bar| 100.0 * bar.count as f64 / self.samples as f64;
        let most = self.bars.iter().map(share).fold(0.0, f64::max);
        let (from, to) = (self.bars[0].low, self.bars[self.bars.len() - 1].high);
        fine_svg((width.pixels(), width.of(400, 320)), |area| {
            let mut chart = frame(area, width).build_cartesian_2d(from..to, 0.0..1.2 * most)?;
            let y = width.of("share of the replications [%]", "share [%]");
            axes(&mut chart, &Axes { x: &self.axis(), y, labels: width.of([10, 7], [5, 6]) }, &|share| plain(*share))?;
            let bars = self
                .bars
                .iter()
                .map(|bar| Rectangle::new([(bar.low, 0.0), (bar.high, share(bar))], plot::BLUE.mix(0.55).filled()));
            chart.draw_series(bars)?;
            let density = self.exact_shares();
            chart.draw_series(LineSeries::new(density.clone(), line(plot::ORANGE, 2)))?;
            self.mark_times(&mut chart, from..=to, most)?;
            let mut entries = vec![(plot::BLUE, "simulated".to_owned())];
            if !density.is_empty() {
                entries.push((plot::ORANGE, "exact".to_owned()));
            }
            legend(area, chart.plotting_area().get_pixel_range().0.start, &entries)
        })
    }

    /// Returns the exact distribution as bars: the middle of each bar, and its share \[%\].
    fn exact_shares(&self) -> Vec<(f64, f64)> {
        let below = |time| between(&self.exact, time);
        let share = |bar: &Bar| {
            let inside = below(bar.high)? - below(bar.low)?;
            Some((f64::midpoint(bar.low, bar.high), 100.0 * inside))
        };
        if self.exact.is_empty() { Vec::new() } else { self.bars.iter().filter_map(share).collect() }
    }

    /// Draws lines at the mean and at quantiles, with labels that do not overlap.
    fn mark_times<Y>(
        &self,
        chart: &mut Chart<'_, '_, Y>,
        drawn: RangeInclusive<f64>,
        most: f64,
    ) -> Result<(), DrawError>
    where
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut marks: Vec<(f64, String, RGBColor)> =
            self.marks(*drawn.start(), *drawn.end()).map(|[p, time]| (time, quantile_name(p), plot::BLUE)).collect();
        marks.extend(self.mean.filter(|mean| drawn.contains(mean)).map(|mean| (mean, "mean".to_owned(), plot::ORANGE)));
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        // where the last label of each row ends
        let mut ends: Vec<i32> = Vec::new();
        for (time, name, colour) in marks {
            let (x, _) = chart.backend_coord(&(time, 0.0));
            let half = px(text_width(&name, LETTERS)) / 2 + px(2);
            let row = ends.iter().position(|&end| end <= x - half).unwrap_or(ends.len());
            ends.resize(ends.len().max(row + 1), 0);
            ends[row] = x + half;
            let top = most * (1.04 + 0.06 * row as f64);
            chart.draw_series([PathElement::new([(time, 0.0), (time, top)], line(colour.mix(0.8), 1))])?;
            let text = Text::new(name, (0, -px(1)), label(LETTERS, colour, HPos::Center, VPos::Bottom));
            chart.draw_series([EmptyElement::at((time, top)) + text])?;
        }
        Ok(())
    }

    fn cdf(&self, width: Width) -> Result<String, PlotError> {
        fine_svg((width.pixels(), width.of(400, 320)), |area| self.draw_cdf(area, width).map(drop))
    }

    /// Draws the distribution function; returns the columns and lines of the plot.
    pub(crate) fn draw_cdf(&self, area: &Area<'_>, width: Width) -> Result<(Range<i32>, Range<i32>), DrawError> {
        let (from, to) = (self.curve[0].time_s, self.drawn_to());
        let mut chart = frame(area, width).build_cartesian_2d(from..to, 0.0..1.04)?;
        let y = format!("probability that {} is less", if self.name == "time" { "it" } else { "the time" });
        axes(&mut chart, &Axes { x: &self.axis(), y: &y, labels: width.of([10, 11], [5, 6]) }, &|p| format!("{p:.1}"))?;
        for [p, time] in self.marks(from, to) {
            let guide = [(from, p), (time, p), (time, 0.0)];
            chart.draw_series([PathElement::new(guide, line(plot::GREY.mix(0.6), 1))])?;
        }
        let until = |points: &[CdfPoint]| -> Vec<CdfPoint> {
            points.iter().copied().filter(|point| (from..=to).contains(&point.time_s)).collect()
        };
        let (curve, exact) = (until(&self.curve), until(&self.exact));
        let band = |end: fn(&CdfPoint) -> Option<f64>| curve.iter().filter_map(move |p| Some((p.time_s, end(p)?)));
        let outline: Vec<_> = band(|p| p.low).chain(band(|p| p.high).collect::<Vec<_>>().into_iter().rev()).collect();
        chart.draw_series([Polygon::new(outline, plot::BLUE.mix(0.3))])?;
        let dots = |points: Vec<CdfPoint>| points.into_iter().map(|p| (p.time_s, p.probability));
        chart.draw_series(LineSeries::new(dots(curve), line(plot::BLUE, 2)))?;
        chart.draw_series(DashedLineSeries::new(dots(exact), px(7), px(5), line(plot::ORANGE, 2)))?;
        for [p, time] in self.marks(from, to) {
            let text = label(LETTERS, plot::BLUE, HPos::Right, VPos::Bottom);
            let dot = Circle::new((0, 0), px(4), plot::BLUE.filled());
            let name = Text::new(quantile_name(p), (-px(6), -px(2)), text);
            chart.draw_series([EmptyElement::at((time, p)) + dot + name])?;
        }
        if let Some(mean) = self.mean.filter(|mean| (from..=to).contains(mean)) {
            let guide = [(mean, 0.0), (mean, 1.0)];
            chart.draw_series(DashedLineSeries::new(guide, px(7), px(4), line(plot::ORANGE, 1)))?;
            let text = label(LETTERS, plot::ORANGE, HPos::Left, VPos::Bottom);
            chart.draw_series([EmptyElement::at((mean, 0.0)) + Text::new("mean", (px(4), -px(4)), text)])?;
        }
        let room = chart.plotting_area().get_pixel_range();
        legend(area, room.0.start, &self.entries())?;
        Ok(room)
    }

    /// Returns the end of the drawn distribution function: the end of the histogram, otherwise of the line.
    fn drawn_to(&self) -> f64 {
        let end = self.bars.last().map(|bar| bar.high).filter(|_| self.bars.len() > 1);
        end.or(self.curve.last().map(|point| point.time_s)).unwrap_or(1.0)
    }

    fn entries(&self) -> Vec<(RGBColor, String)> {
        let mut entries = vec![(plot::BLUE, self.of_curve.clone())];
        if !self.exact.is_empty() {
            entries.push((plot::ORANGE, "exact".to_owned()));
        }
        entries
    }

    fn tail(&self, width: Width) -> Result<String, PlotError> {
        let above = |point: &CdfPoint| 1.0 - point.probability;
        let shown = self.curve.iter().filter(|point| above(point) > 0.0);
        let least = shown.clone().map(above).fold(0.1, f64::min);
        // rounding leaves a bit above a power of ten
        let bottom = 10.0_f64.powf((least.log10() - 1e-6).floor());
        let to = shown.map(|point| point.time_s).fold(self.curve[0].time_s, f64::max);
        let from = self.curve[0].time_s;
        let to = if can_be_axis(from, to) { to } else { self.curve[self.curve.len() - 1].time_s };
        fine_svg((width.pixels(), width.of(400, 340)), |area| {
            let mut chart = frame(area, width).build_cartesian_2d(from..to, (bottom..1.0).log_scale())?;
            let y = width.of("probability that it takes longer", "probability of more");
            axes(&mut chart, &Axes { x: &self.axis(), y, labels: width.of([10, 8], [5, 6]) }, &|p| percent(*p))?;
            let clamped = |p: f64| (1.0 - p).max(bottom);
            let low = self.curve.iter().filter_map(|p| Some((p.time_s, clamped(p.high?))));
            let high = self.curve.iter().rev().filter_map(|p| Some((p.time_s, clamped(p.low?))));
            let outline: Vec<_> = low.chain(high).filter(|(time, _)| *time <= to).collect();
            chart.draw_series([Polygon::new(outline, plot::BLUE.mix(0.3))])?;
            let dots = |points: &[CdfPoint]| -> Vec<(f64, f64)> {
                let inside = |p: &&CdfPoint| above(p) >= bottom && (from..=to).contains(&p.time_s);
                points.iter().filter(inside).map(|p| (p.time_s, above(p))).collect()
            };
            chart.draw_series(LineSeries::new(dots(&self.curve), line(plot::BLUE, 2)))?;
            chart.draw_series(DashedLineSeries::new(dots(&self.exact), px(7), px(5), line(plot::ORANGE, 2)))?;
            for [p, time] in self.marks(from, to) {
                let dot = Circle::new((0, 0), px(4), plot::BLUE.filled());
                let text = label(LETTERS, plot::BLUE, HPos::Left, VPos::Bottom);
                let name = Text::new(quantile_name(p), (px(6), -px(2)), text);
                chart.draw_series([EmptyElement::at((time, 1.0 - p)) + dot + name])?;
            }
            legend(area, chart.plotting_area().get_pixel_range().0.start, &self.entries())
        })
    }
}

/// Draws the distribution functions of two times, the first in grey; none if there is nothing to draw.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn two_times_svg(names: [&str; 2], curves: [&[CdfPoint]; 2]) -> Result<Option<String>, PlotError> {
    let curves = curves.map(sound);
    let times = || curves.iter().flatten().map(|point| point.time_s);
    let (from, to) = (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
    if !can_be_axis(from, to) {
        return Ok(None);
    }
    let width = Width::Wide;
    let drawn = fine_svg((width.pixels(), 400), |area| {
        let mut chart = frame(area, width).build_cartesian_2d(from..to, 0.0..1.04)?;
        let (x, y) = ("job time [s]", "probability that the time is less");
        axes(&mut chart, &Axes { x, y, labels: [10, 11] }, &|p| format!("{p:.1}"))?;
        let mut entries = Vec::new();
        for ((curve, name), colour) in curves.iter().zip(names).zip([plot::GREY, plot::BLUE]) {
            let end = curve.last().map(|last| (to, last.probability));
            let dots = curve.iter().map(|point| (point.time_s, point.probability)).chain(end);
            chart.draw_series(LineSeries::new(dots, line(colour, 2)))?;
            entries.push((colour, name.to_owned()));
        }
        legend(area, chart.plotting_area().get_pixel_range().0.start, &entries)
    });
    drawn.map(Some)
}

/// Interpolates the probability at a time; `None` outside the range of the points.
fn between(curve: &[CdfPoint], time: f64) -> Option<f64> {
    let (first, last) = (curve.first()?, curve.last()?);
    if time <= first.time_s {
        return Some(if time < first.time_s { 0.0 } else { first.probability });
    }
    if time >= last.time_s {
        return Some(last.probability);
    }
    let next = curve.partition_point(|point| point.time_s <= time);
    let (a, b) = (&curve[next - 1], &curve[next]);
    Some(a.probability + (b.probability - a.probability) * (time - a.time_s) / (b.time_s - a.time_s))
}

fn frame<'a, 'b>(area: &'a Area<'b>, width: Width) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder
        .margin(px(10))
        .margin_top(px(30))
        .margin_right(px(width.of(26, 18)))
        .x_label_area_size(px(44))
        .y_label_area_size(px(width.of(66, 60)));
    builder
}

/// Returns a share as short text.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 1e-3 {
        format!("{}%", plain(within(percent, None).parse().unwrap_or(percent)))
    } else {
        format!("{share:e}")
    }
}

/// Draws the legend of the lines, side by side above a plot that starts at this column.
fn legend(area: &Area<'_>, left: i32, entries: &[(RGBColor, String)]) -> Result<(), DrawError> {
    let (mut x, y) = (left, px(16));
    for (colour, text) in entries {
        area.draw(&PathElement::new([(x, y), (x + px(20), y)], line(*colour, 3)))?;
        area.draw(&Text::new(text.clone(), (x + px(26), y), label(LETTERS, BLACK, HPos::Left, VPos::Center)))?;
        x += px(26 + text_width(text, LETTERS) + 14);
    }
    Ok(())
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_between_points_are_on_a_straight_line() {
        let point = |time_s, probability| CdfPoint { time_s, probability, density_per_s: None, low: None, high: None };
        let curve = [point(1.0, 0.2), point(3.0, 0.6), point(4.0, 1.0)];
        for (time, probability) in [(0.5, 0.0), (1.0, 0.2), (1.5, 0.3), (3.0, 0.6), (3.75, 0.9), (9.0, 1.0)] {
            assert!((between(&curve, time).unwrap() - probability).abs() < 1e-12, "{time}");
        }
    }
}
