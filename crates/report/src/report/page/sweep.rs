//! The section of a sweep: curve, heat map or tornado, and the points.

use crate::document::parts::{interval_note, setting};
use crate::document::{Cell, Document, Headline, Number, Piece, Table};
use crate::report::number::{count, counted};
use crate::report::plot::PlotError;
use crate::report::sweep::{KnobLevel, SweepReport, value_text};
use crate::report::sweep_plot::sweep_pictures;
use crate::sweep;

/// Most points of the table.
const MOST: usize = 200;

/// What a sweep found.
pub(in crate::report) fn section(report: &SweepReport) -> Result<Document<'static>, PlotError> {
    let axes: Vec<&str> = report.axes.iter().map(|axis| axis.name.as_str()).collect();
    let mut section = Document {
        kind: "sweep",
        title: match &axes[..] {
            [one] => format!("What {one} changes"),
            [one, other] => format!("What {one} and {other} change"),
            more => format!("What {} settings change", more.len()),
        },
        question: format!(
            "What does each setting do to the time, and which one buys most? {}.",
            counted(report.points.len() as u128, "point")
        ),
        answer: answer(report),
        headline: base(report),
        plan: report.plan.clone(),
        provenance: vec![
            ["tailspn".to_owned(), report.version.clone()],
            ["seed".to_owned(), report.seed.to_string()],
            ["engine".to_owned(), engines(report)],
            ["backend".to_owned(), "cpu: a point on each core".to_owned()],
            ["replications of all points".to_owned(), count(report.replications.into())],
        ],
        ..Document::default()
    };
    if report.partial {
        section.remarks.push(format!("Points are missing: {} of {} are here.", report.points.len(), report.planned));
    }
    for picture in sweep_pictures(report)? {
        let (title, caption) = match &*picture.name {
            "curve" => (
                "What the setting does to the time",
                "Mean, p95 and p99 of the time at each value, with their intervals.",
            ),
            "heat" => ("What both settings do to the time", "The mean time at each pair of values; dark is short."),
            _ => (
                "Which knob matters",
                "How far the mean time moves from the base, at the best and the worst value of each knob; the values stand beside the \
                 bars, the black lines are intervals.",
            ),
        };
        section.drawn(Some(picture), title, caption);
    }
    section.table(knobs(report));
    section.table(points(report));
    Ok(section)
}

/// What buys most.
fn answer(report: &SweepReport) -> Vec<Piece> {
    let sure = |number: &sweep::Number| number.high.unwrap_or(number.value) < 0.0;
    let point = report.points.iter().enumerate().filter_map(|(i, point)| Some((i, point, point.difference_s?)));
    let best = point.filter(|(_, _, difference)| sure(difference)).min_by(|a, b| a.2.value.total_cmp(&b.2.value));
    let Some((i, point, difference)) = best else {
        return vec!["None of the values that were tried makes the time surely shorter than that of the base.".into()];
    };
    let named = report.axes.iter().zip(&point.values);
    let settings: Vec<String> =
        named.filter_map(|(axis, value)| Some(format!("{} = {}", axis.name, value_text(value.as_ref()?)))).collect();
    let mut pieces = vec![
        format!("What buys most: {} changes the mean time by ", settings.join(", ")).into(),
        Number::of_sweep(format!("/points/{i}/difference_s"), &difference, "s").signed().into(),
    ];
    if let Some(ratio) = &point.ratio {
        pieces.extend([
            " (".into(),
            Number::of_sweep(format!("/points/{i}/ratio"), ratio, "").change().into(),
            ")".into(),
        ]);
    }
    pieces.push(".".into());
    pieces
}

/// The times of the base.
fn base(report: &SweepReport) -> Option<Headline> {
    let (i, base) = report.points.iter().enumerate().find(|(_, point)| point.point == 0)?;
    let number = |name: &str, number: &Option<sweep::Number>| {
        number.as_ref().map(|number| Number::of_sweep(format!("/points/{i}/{name}"), number, "s"))
    };
    let quantiles = [number("p50_s", &base.p50_s), number("p95_s", &base.p95_s), number("p99_s", &base.p99_s)];
    Some(Headline { of: Some("the base".to_owned()), mean: number("mean_s", &base.mean_s)?, quantiles })
}

/// The engines that ran the points.
fn engines(report: &SweepReport) -> String {
    let names: std::collections::BTreeSet<&str> = report.points.iter().map(|point| point.engine.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

fn knobs(report: &SweepReport) -> Table {
    let head = ["knob", "best value", "change [s]", "change [%]", "worst value", "change [s]", "swing [s]"];
    let note = format!("One knob at a time, the others as in the base. {}", interval_note(report.level));
    let mut table = Table::new("Knobs", note, &head);
    for (i, knob) in report.tornado.iter().enumerate() {
        let change = |name: &str, level: &KnobLevel| {
            Number::of_sweep(format!("/tornado/{i}/{name}/difference_s"), &level.difference_s, "").signed()
        };
        let ratio = knob.best.ratio.as_ref().map(|ratio| Number {
            unit: "".into(),
            ..Number::of_sweep(format!("/tornado/{i}/best/ratio"), ratio, "").change()
        });
        let swing = Number::new(format!("/tornado/{i}/swing_s"), knob.swing_s, "");
        table.rows.push(vec![
            knob.name.clone().into(),
            setting(format!("/tornado/{i}/best/value"), &knob.best.value),
            change("best", &knob.best).into(),
            ratio.into(),
            setting(format!("/tornado/{i}/worst/value"), &knob.worst.value),
            change("worst", &knob.worst).into(),
            Number { digits_of: knob.worst.difference_s.half_width().filter(|half| *half > 0.0), ..swing }.into(),
        ]);
    }
    table
}

fn points(report: &SweepReport) -> Table {
    let one_at_a_time = !report.tornado.is_empty();
    let mut head = vec!["point".to_owned()];
    if one_at_a_time {
        head.push("changed".to_owned());
    } else {
        head.extend(report.axes.iter().map(|axis| axis.name.clone()));
    }
    head.extend(["mean [s]", "p50 [s]", "p95 [s]", "p99 [s]", "change [s]", "change [%]"].map(str::to_owned));
    let mut table = Table::new("Points", interval_note(report.level), head);
    for (i, point) in report.points.iter().enumerate().take(MOST) {
        let mut cells: Vec<Cell> = vec![if point.point == 0 { "base".into() } else { point.point.to_string().into() }];
        let values = report.axes.iter().zip(&point.values);
        if one_at_a_time {
            let named =
                values.filter_map(|(axis, value)| Some(format!("{} = {}", axis.name, value_text(value.as_ref()?))));
            cells.push(named.collect::<Vec<_>>().join(", ").into());
        } else {
            cells.extend(values.enumerate().map(|(k, (_, value))| {
                value.as_ref().map(|value| setting(format!("/points/{i}/values/{k}"), value)).into()
            }));
        }
        let number = |name: &str, number: &Option<sweep::Number>| {
            number.as_ref().map(|number| Number::of_sweep(format!("/points/{i}/{name}"), number, ""))
        };
        let times =
            [("mean_s", &point.mean_s), ("p50_s", &point.p50_s), ("p95_s", &point.p95_s), ("p99_s", &point.p99_s)];
        cells.extend(times.map(|(name, value)| Cell::from(number(name, value))));
        cells.push(number("difference_s", &point.difference_s).map(Number::signed).into());
        let ratio = number("ratio", &point.ratio).map(|ratio| Number { unit: "".into(), ..ratio.change() });
        cells.push(ratio.into());
        table.rows.push(cells);
    }
    let left = report.points.len().saturating_sub(MOST);
    if left > 0 {
        table.note = format!("{} {} more points are in the JSON.", table.note, count(left as u128));
    }
    table
}
