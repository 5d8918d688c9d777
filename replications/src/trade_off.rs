//! Charts of the scores of agents as SVG: the share of stragglers found, and the time until they are found, against the
//! rate of false alarms.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use tailspn::diagnose::long_tail::Score;

const COLOURS: [RGBColor; 3] = [RGBColor(52, 101, 164), RGBColor(206, 92, 0), RGBColor(136, 138, 133)];
/// Width and height of the picture in pixels.
const SIZE: (u32, u32) = (960, 440);

/// A curve: settings in order, with the score of each.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOff {
    /// Label of the curve.
    pub name: String,
    /// Label and score of each setting, in order along the curve.
    pub points: Vec<(String, Score)>,
}

/// A point of a curve, in percent.
struct Dot<'t> {
    label: &'t str,
    wrong: f64,
    found: f64,
    late: f64,
}

impl TradeOff {
    /// Returns the points whose rates are known.
    fn dots(&self) -> Vec<Dot<'_>> {
        fn dot((label, score): &(String, Score)) -> Option<Dot<'_>> {
            let [wrong, found, late] =
                [score.false_positive_rate()?, score.true_positive_rate()?, score.mean_flag_point()?]
                    .map(|rate| 100.0 * rate);
            Some(Dot { label, wrong, found, late })
        }
        self.points.iter().filter_map(dot).collect()
    }
}

/// Returns the picture of several curves over the rate of false alarms. The left part shows the share of stragglers
/// that are found. The right part shows the share of a straggler's time that passes until the straggler is found.
///
/// # Errors
///
/// An error of the drawing library; no score causes one.
pub fn trade_off_svg(curves: &[TradeOff]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let panels = area.split_evenly((1, 2));
        panel(&panels[0], curves, "stragglers that are found [%]", |dot| dot.found)?;
        panel(&panels[1], curves, "share of their time until then [%]", |dot| dot.late)?;
        area.present()?;
    }
    Ok(text)
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    curves: &[TradeOff],
    what: &str,
    value: impl Fn(&Dot<'_>) -> f64,
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let dots: Vec<Vec<Dot<'_>>> = curves.iter().map(TradeOff::dots).collect();
    let all = || dots.iter().flatten();
    let most = all().map(|dot| dot.wrong).fold(0.1, f64::max);
    let (low, high) = all().map(&value).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, z), v| (a.min(v), z.max(v)));
    let room = (0.08 * (high - low)).max(0.1);
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d(-0.03 * most..1.12 * most, low - room..high + room)?;
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc("false alarms [%]").y_desc(what).draw()?;
    for ((curve, dots), colour) in curves.iter().zip(&dots).zip(COLOURS.into_iter().cycle()) {
        let line = LineSeries::new(dots.iter().map(|dot| (dot.wrong, value(dot))), colour.stroke_width(2));
        chart
            .draw_series(line)?
            .label(curve.name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(dots.iter().map(|dot| Circle::new((dot.wrong, value(dot)), 3, colour.filled())))?;
        let labels = dots.iter().map(|dot| {
            EmptyElement::at((dot.wrong, value(dot))) + Text::new(dot.label.to_owned(), (5, 3), ("sans-serif", 12))
        });
        chart.draw_series(labels)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(COLOURS[2])
        .draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_with_rates_is_a_dot_with_its_label() {
        let score = |found, wrong| Score {
            true_positive: found,
            false_negative: 10 - found,
            false_positive: wrong,
            true_negative: 100 - wrong,
            flag_points: 0.1 * found as f64,
        };
        let curve = |name: &str, points: &[(&str, Score)]| TradeOff {
            name: name.to_owned(),
            points: points.iter().map(|(label, score)| ((*label).to_owned(), score.clone())).collect(),
        };
        let curves = [
            curve("paper", &[("Diff 30%", score(10, 9)), ("Diff 50%", score(8, 2)), ("nothing found", score(0, 0))]),
            curve("adaptive", &[("90%", score(9, 1))]),
        ];
        let picture = trade_off_svg(&curves).unwrap();
        for label in ["Diff 30%", "Diff 50%", "90%"] {
            assert_eq!(picture.matches(label).count(), 2, "{label}: once in each panel");
        }
        assert!(!picture.contains("nothing found") && picture.contains("adaptive"));
        assert_eq!(picture.matches("<circle").count(), 6);
    }
}
