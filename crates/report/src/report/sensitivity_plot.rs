//! A sensitivity as a picture that depends on the method: bars of derivatives, a tornado of differences, elementary
//! effects by size and spread,
//! pairs of Sobol indices.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::document::Figure;
use crate::estimate::Measured;
use crate::report::bar_rows::{BarRow, MOST};
use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, text_width};
use crate::report::number::{count, ends, within};
use crate::report::plot::{self, Area, Axes, Chart, DrawError, axes, fine_svg, label, line, px, shortened};
use crate::report::rows_plot::rows_picture;
use crate::report::sweep::KnobRow;
use crate::report::sweep_plot::tornado;
use crate::sensitivity::{KnobEffect, Method, SensitivityReport};
use crate::sweep::Level;

/// Font size of labels \[px\].
const LETTERS: i32 = 13;
/// Half the height of a label \[px\].
const HALF: i32 = 8;
/// Radius of a dot \[px\].
const DOT: i32 = 4;
/// Maximum number of settings of a picture with two rows for each.
const MOST_PAIRS: usize = MOST / 2;

/// Returns the figure of a sensitivity.
pub(super) fn sensitivity_figure(report: &SensitivityReport) -> Figure<'_> {
    let (title, mut caption) = words(report);
    let drawn = match report.method {
        Method::Derivatives => MOST,
        Method::Sobol => MOST_PAIRS,
        _ => usize::MAX,
    };
    let left = report.knobs.iter().filter(|row| row.effect.is_some()).count().saturating_sub(drawn);
    if left > 0 {
        caption += &format!(" {} more are not drawn.", count(left as u128));
    }
    Figure::new(title, caption).drawn(|| sensitivity_picture(report))
}

/// Returns the title and the caption.
fn words(report: &SensitivityReport) -> (&'static str, String) {
    let measure = &report.measure;
    match report.method {
        Method::Derivatives if report.probability.is_some() => (
            "Effect of a 1% increase of each setting",
            "Change of the probability of the goal; right of 0 the goal gets more likely. The thin lines are confidence intervals."
                .to_owned(),
        ),
        Method::Derivatives => (
            "Effect of a 1% increase of each setting",
            format!("Change of the {measure} time; left of 0 the job gets faster. The thin lines are confidence intervals."),
        ),
        Method::Each => (
            "Effect of each setting",
            format!(
                "Change of the {measure} time from the base when a setting is at either end of its range. The setting's values are printed \
                 next to the bars; thin lines are confidence intervals."
            ),
        ),
        Method::Morris => (
            "Elementary effects",
            "Further right: larger effect. Further up: the effect varies more, because it is not linear or depends on other settings; above the line σ = μ*, it varies by more than its size. The grey lines are confidence intervals. Names that do not fit are only in the table."
                .to_owned(),
        ),
        _ => (
            "Variance explained by each setting",
            "Blue: the share of the variance that vanishes if only this setting is fixed (S). Orange: the share that remains if \
             all other settings are fixed (S_T). The difference is due to interactions. The thin lines are bootstrap intervals."
                .to_owned(),
        ),
    }
}

/// Returns the picture for the method; `None` if no setting has an effect to draw.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
fn sensitivity_picture(report: &SensitivityReport) -> Result<Option<Picture>, PlotError> {
    match report.method {
        Method::Derivatives => {
            let axis = if report.probability.is_some() {
                "change of the probability for an increase by 1%"
            } else {
                "change of the time for an increase by 1% [s]"
            };
            rows_picture("derivatives", axis, &derivatives(report))
        }
        Method::Each => tornado(&swings(report), &report.measure),
        Method::Morris => effects(report),
        _ => rows_picture("indices", "share of the variance", &indices(report)),
    }
}

/// Returns the settings with an effect, by rank.
fn ranked(report: &SensitivityReport) -> impl Iterator<Item = (String, &KnobEffect)> {
    let named = report.knobs.iter().zip(1..).filter_map(|(row, rank)| Some((row, rank, row.effect.as_ref()?)));
    named.map(|(row, rank, effect)| (format!("{rank}. {}", row.name), effect))
}

fn derivatives(report: &SensitivityReport) -> Vec<BarRow> {
    let row = |(name, effect): (String, &KnobEffect)| {
        let effect = match effect {
            KnobEffect::Derivative { per_percent_s: effect, .. } => effect,
            KnobEffect::Probability { per_percent: effect, .. } => effect,
            _ => return None,
        };
        Some(BarRow { name, is_second: effect.value >= 0.0, ..bar_of(effect, "") })
    };
    ranked(report).filter_map(row).collect()
}

/// Returns two rows for each setting: S and S_T.
fn indices(report: &SensitivityReport) -> Vec<BarRow> {
    let pair = |(name, effect): (String, &KnobEffect)| {
        let KnobEffect::Variance { first, total, .. } = effect else { return None };
        let second = BarRow { is_second: true, ..bar_of(total, "S_T ") };
        Some([BarRow { name, ..bar_of(first, "S ") }, second])
    };
    ranked(report).filter_map(pair).take(MOST_PAIRS).flatten().collect()
}

/// Returns a bar from 0 to an effect, its interval, and its value after a word.
fn bar_of(effect: &Measured, word: &str) -> BarRow {
    let half = effect.half_width().filter(|half| *half > 0.0);
    BarRow {
        bar: [effect.value.min(0.0), effect.value.max(0.0)],
        interval: effect.ends().filter(|_| half.is_some()),
        text: format!(
            "{word}{}",
            half.map_or_else(|| crate::report::number::plain(effect.value), |half| within(effect.value, Some(half)))
                .replace('-', "−")
        ),
        ..BarRow::default()
    }
}

/// Returns the changes at the ends of each setting's range, in the form of a sweep.
fn swings(report: &SensitivityReport) -> Vec<KnobRow> {
    let level = |value: &toml::Value, effect: &Measured| Level {
        value: value.clone(),
        difference_s: effect.clone(),
        ratio: None,
    };
    let swing = |row: &crate::sensitivity::SensitivityRow| {
        let Some(KnobEffect::Change { from, to, change_s, at_from_s, at_to_s, .. }) = &row.effect else { return None };
        let mut ends = [level(from, at_from_s.as_ref()?), level(to, at_to_s.as_ref()?)];
        ends.sort_by(|a, b| a.difference_s.value.total_cmp(&b.difference_s.value));
        let [best, worst] = ends;
        Some(KnobRow {
            key: row.key.clone(),
            name: row.name.clone(),
            best,
            worst,
            swing_s: change_s.value.abs(),
            base: None,
        })
    };
    report.knobs.iter().filter_map(swing).collect()
}

/// A setting as a dot.
struct Dot<'a> {
    name: String,
    size: &'a Measured,
    spread: &'a Measured,
}

/// Draws σ (vertical) against μ\* (horizontal), with a dot for each setting.
fn effects(report: &SensitivityReport) -> Result<Option<Picture>, PlotError> {
    let dots = ranked(report).filter_map(|(name, effect)| match effect {
        KnobEffect::Elementary { size_s, spread_s, .. } => Some(Dot { name, size: size_s, spread: spread_s }),
        _ => None,
    });
    let dots: Vec<Dot<'_>> = dots.collect();
    let span = |of: for<'a> fn(&Dot<'a>) -> &'a Measured| {
        let ends = dots.iter().map(of).flat_map(|effect| ends(effect).into_iter().chain([effect.value]));
        let (from, to) = ends.fold((0.0, 0.0), |(from, to), end| (f64::min(from, end), f64::max(to, end)));
        let room = 0.06 * if to > from { to - from } else { 1.0 };
        [from - room, to + room]
    };
    let (x, y) = (span(|dot| dot.size), span(|dot| dot.spread));
    if dots.is_empty() || !can_be_axis(x[0], x[1]) || !can_be_axis(y[0], y[1]) {
        return Ok(None);
    }
    let size = |width: Width| (width.pixels(), width.of(480, 400));
    Picture::new("effects", |width| fine_svg(size(width), |area| draw_effects(area, &dots, x, y, width))).map(Some)
}

fn draw_effects(area: &Area<'_>, dots: &[Dot<'_>], x: [f64; 2], y: [f64; 2], width: Width) -> Result<(), DrawError> {
    let mut chart = ChartBuilder::on(area)
        .margin(px(10))
        .margin_right(px(24))
        .x_label_area_size(px(44))
        .y_label_area_size(px(66))
        .build_cartesian_2d(x[0]..x[1], y[0]..y[1])?;
    let names = Axes {
        x: width.of("μ*: change of the time over its range [s]", "μ*: change of the time [s]"),
        y: width.of("σ: variation of the change [s]", "σ: variation [s]"),
        labels: width.of([10, 8], [5, 6]),
    };
    axes(&mut chart, &names, &|value| crate::report::number::plain(*value))?;
    let mut taken = Vec::new();
    // below the line an effect is larger than what it differs by
    let end = x[1].min(y[1]);
    if end > 0.0 {
        chart.draw_series([PathElement::new([(0.0, 0.0), (end, end)], line(plot::GREY.mix(0.6), 1))])?;
        let (at_x, at_y) = chart.backend_coord(&(end, end));
        let (text, below) = ("σ = μ*", px(2 * HALF));
        let corner = [at_x - px(text_width("σ = μ*", LETTERS) + 16), at_y + below];
        area.draw(&Text::new(text, (corner[0], corner[1]), label(LETTERS, plot::GREY, HPos::Left, VPos::Center)))?;
        taken.push(Field::of_text(text, corner));
    }
    let mut lines = Vec::new();
    for dot in dots {
        let whiskers = [
            ends(dot.size).map(|size| (size, dot.spread.value)),
            ends(dot.spread).map(|spread| (dot.size.value, spread)),
        ];
        lines.extend(whiskers.map(|ends| Field::of_line(ends.map(|end| chart.backend_coord(&end)))));
        chart.draw_series(whiskers.map(|ends| PathElement::new(ends, line(plot::GREY, 2))))?;
    }
    let places: Vec<(i32, i32)> =
        dots.iter().map(|dot| chart.backend_coord(&(dot.size.value, dot.spread.value))).collect();
    for &place in &places {
        area.draw(&Circle::new(place, px(DOT), plot::BLUE.filled()))?;
        taken.push(Field::around(place));
    }
    write_names(area, &chart, dots, &places, [taken, lines], width)
}

/// Writes a text next to each dot, in order of rank: the name if there is room, otherwise the rank if there is room,
/// otherwise nothing. Names never cover the fields `taken`, and cover the fields `lines` only if there is no other
/// position.
fn write_names(
    area: &Area<'_>,
    chart: &Chart<'_, '_, plotters::coord::types::RangedCoordf64>,
    dots: &[Dot<'_>],
    places: &[(i32, i32)],
    [mut taken, lines]: [Vec<Field>; 2],
    width: Width,
) -> Result<(), DrawError> {
    let (columns, rows) = chart.plotting_area().get_pixel_range();
    let inside = Field { left: columns.start, right: columns.end, top: rows.start, bottom: rows.end };
    for (dot, &place) in dots.iter().zip(places) {
        let (rank, name) = dot.name.split_once(' ').unwrap_or((&dot.name, ""));
        let whole = format!("{rank} {}", shortened(name, width.of(28, 16)));
        let free = [whole.as_str(), rank].into_iter().find_map(|text| {
            let corners = corners_beside(place, text);
            let may = |corner: &&[i32; 2]| {
                let field = Field::of_text(text, **corner);
                field.is_in(&inside) && !taken.iter().any(|other| field.meets(other))
            };
            let clear = |corner: &&[i32; 2]| !lines.iter().any(|line| Field::of_text(text, **corner).meets(line));
            let best = corners.iter().filter(may).find(clear).or_else(|| corners.iter().find(may));
            Some((text, *best?))
        });
        if let Some((text, corner)) = free {
            let style = label(LETTERS, BLACK, HPos::Left, VPos::Center);
            area.draw(&Text::new(text.to_owned(), (corner[0], corner[1]), style))?;
            taken.push(Field::of_text(text, corner));
        }
    }
    Ok(())
}

/// Returns positions for a text next to a dot, the best one first: the left end and the middle of its height.
fn corners_beside((x, y): (i32, i32), text: &str) -> Vec<[i32; 2]> {
    let wide = px(text_width(text, LETTERS));
    let mut corners = Vec::new();
    for away in [1, 2, 4] {
        let (aside, up) = (px(DOT + 4), px(HALF * away + DOT + 2));
        corners.extend([
            [x + aside, y - px(HALF * (away - 1))],
            [x - aside - wide, y - px(HALF * (away - 1))],
            [x + aside, y - up],
            [x + aside, y + up],
            [x - aside - wide, y - up],
            [x - aside - wide, y + up],
            [x - wide / 2, y - up],
            [x - wide / 2, y + up],
        ]);
    }
    corners
}

/// A part of the picture that is taken.
#[derive(Clone, Copy, Debug)]
struct Field {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Field {
    /// Returns the box of a text; `x` is its left end and `y` its vertical middle.
    fn of_text(text: &str, [x, y]: [i32; 2]) -> Self {
        Self { left: x, right: x + px(text_width(text, LETTERS)), top: y - px(HALF), bottom: y + px(HALF) }
    }

    /// Returns the box of a line that goes from left to right, or upwards.
    fn of_line([(left, bottom), (right, top)]: [(i32, i32); 2]) -> Self {
        Self { left, right: right + px(1), top: top - px(1), bottom }
    }

    fn around((x, y): (i32, i32)) -> Self {
        Self { left: x - px(DOT), right: x + px(DOT), top: y - px(DOT), bottom: y + px(DOT) }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn is_in(&self, frame: &Self) -> bool {
        self.left >= frame.left && self.right <= frame.right && self.top >= frame.top && self.bottom <= frame.bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::SensitivityRow;

    fn effect(value: f64, half: f64) -> Measured {
        Measured::between(value, Some(value - half), Some(value + half))
    }

    fn report(method: Method, effects: Vec<KnobEffect>) -> SensitivityReport {
        let row = |(effect, i): (KnobEffect, usize)| SensitivityRow {
            key: format!("k{i}"),
            name: format!("knob {i}"),
            effect: Some(effect),
            note: None,
        };
        SensitivityReport {
            own_run: None,
            deadline: None,
            method,
            estimator: None,
            measure: "p95".to_owned(),
            probability: None,
            value_s: None,
            variance_s2: None,
            noise_s2: None,
            knobs: effects.into_iter().zip(0..).map(row).collect(),
            level: 0.95,
            rows: 1,
            points: 1,
            replications: 8,
            version: "0".into(),
            seed: 0,
            folded: None,
            not_folded: Vec::new(),
            partial: false,
            plan: String::new(),
        }
    }

    fn elementary(size: f64, spread: f64) -> KnobEffect {
        let (from, to) = (toml::Value::Integer(0), toml::Value::Integer(1));
        let [size_s, mean_s, spread_s] = [effect(size, 0.1), effect(size, 0.1), effect(spread, 0.1)];
        KnobEffect::Elementary { from, to, size_s, mean_s, spread_s, per_unit_s: None, per_percent_s: None }
    }

    /// Number of names of settings in a picture.
    fn names(svg: &str) -> usize {
        svg.matches(". knob").count()
    }

    #[test]
    fn every_elementary_effect_is_a_dot_and_names_do_not_cover_each_other() {
        let apart: Vec<KnobEffect> = (0..5).map(|i| elementary(f64::from(i), 2.0 * f64::from(4 - i))).collect();
        let picture = sensitivity_picture(&report(Method::Morris, apart)).unwrap().unwrap();
        assert_eq!((picture.wide.matches("<circle").count(), names(&picture.wide)), (5, 5));
        // at one place there is room for some names only
        let crowd: Vec<KnobEffect> = (0..60).map(|_| elementary(1.0, 0.5)).collect();
        let picture = sensitivity_picture(&report(Method::Morris, crowd)).unwrap().unwrap();
        assert_eq!(picture.wide.matches("<circle").count(), 60);
        assert!((3..60).contains(&names(&picture.wide)), "{}", names(&picture.wide));
    }

    #[test]
    fn indices_are_pairs_of_bars_with_whiskers() {
        let variance = |first, total| {
            let (from, to) = (toml::Value::Integer(0), toml::Value::Integer(1));
            KnobEffect::Variance {
                from,
                to,
                first: effect(first, 0.05),
                total: effect(total, 0.04),
                deviation_s: effect(1.0, 0.1),
            }
        };
        let picture =
            sensitivity_picture(&report(Method::Sobol, vec![variance(0.6, 0.7), variance(0.3, -0.01)])).unwrap();
        let svg = picture.unwrap().wide;
        for text in ["S 0.600", "S_T 0.700", "S 0.300", "S_T −0.010", "1. knob 0", "2. knob 1"] {
            assert_eq!(svg.matches(text).count(), 1, "{text}");
        }
    }

    #[test]
    fn a_tornado_needs_both_ends_against_the_base() {
        let change = |at_from_s| KnobEffect::Change {
            from: toml::Value::Integer(10),
            to: toml::Value::Integer(80),
            change_s: effect(-4.0, 0.5),
            at_from_s,
            at_to_s: Some(effect(-1.0, 0.5)),
            per_unit_s: None,
            per_percent_s: None,
        };
        let svg =
            sensitivity_picture(&report(Method::Each, vec![change(Some(effect(3.0, 0.5)))])).unwrap().unwrap().wide;
        assert!(
            svg.contains("change of the p95 time") && svg.contains(">\n10\n<") && svg.contains(">\n80\n<"),
            "{svg}"
        );
        assert!(sensitivity_picture(&report(Method::Each, vec![change(None)])).unwrap().is_none());
    }
}
