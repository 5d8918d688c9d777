//! The document of a sweep: the configurations, their changes relative to the base, and the settings ranked by
//! effect.

use crate::document::parts::{setting, with_base_folded};
use crate::document::{Cell, Column, Document, Headline, Number, Piece, Report, Show, Table};
use crate::estimate::Measured;
use crate::report::number::{count, counted, value_key, value_text};
use crate::report::own_run::with_own_run;
use crate::report::sweep::SweepReport;
use crate::sweep::{Design, Level, PointResult};

/// Maximum number of configurations that readers see; JSON and CSV have all.
const MOST: usize = 200;

impl Report for SweepReport {
    const KIND: &'static str = "sweep";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let axes: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
        let mut document = Document {
            kind: "sweep",
            title: match &axes[..] {
                [one] => format!("Effect of {one}"),
                [one, other] => format!("Effect of {one} and {other}"),
                more => format!("Effect of {} settings", more.len()),
            },
            question: format!(
                "Effect of each setting on the time. {}.",
                counted(self.points.len() as u128, "configuration")
            ),
            answer: with_own_run(self.own_run.as_ref(), answer(self)),
            headline: base(self),
            remarks: remarks(self),
            plan: self.plan.clone(),
            provenance: provenance(self),
            screen: self.screen(),
            ..Document::default()
        };
        #[cfg(feature = "plots")]
        crate::report::sweep_plot::sweep_figures(self).for_each(|figure| document.figure(figure));
        document.table(knobs(self));
        document.table(points(self));
        document
    }
}

fn remarks(report: &SweepReport) -> Vec<String> {
    let found = format!("Partial: {} of {} configurations are complete.", report.points.len(), report.planned);
    let unreached: u64 = report.points.iter().map(|point| point.replications - point.reached).sum();
    let unreached = (unreached > 0).then(|| format!("{} did not reach the goal.", counted(unreached, "replication")));
    let found = report.partial.then_some(found).into_iter().chain(unreached);
    found.chain(report.notes.iter().cloned()).collect()
}

fn provenance(report: &SweepReport) -> Vec<[String; 2]> {
    let engines: std::collections::BTreeSet<&str> = report.points.iter().map(|point| point.engine.as_str()).collect();
    let rows = [
        ("tailspn", report.version.clone()),
        ("seed", report.seed.to_string()),
        ("engine", engines.into_iter().collect::<Vec<_>>().join(", ")),
        ("replications", count(report.replications.into())),
    ];
    with_base_folded(rows, report.folded.as_ref(), &report.not_folded)
}

/// Returns the values of a configuration as text.
fn settings(report: &SweepReport, point: &PointResult) -> String {
    let named = report.axes.iter().zip(&point.values);
    let words = named.filter_map(|(axis, value)| Some(format!("{} = {}", axis.name, value_text(value.as_ref()?))));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the configuration with the largest saving.
fn answer(report: &SweepReport) -> Vec<Piece> {
    let saves = |number: &Measured| number.ends().map_or(number.value, |[_, high]| high) < 0.0;
    let points =
        report.points.iter().enumerate().filter_map(|(i, point)| Some((i, point, point.difference_s.as_ref()?)));
    let best = points.filter(|(_, _, difference)| saves(difference)).min_by(|a, b| a.2.value.total_cmp(&b.2.value));
    let Some((i, point, difference)) = best else {
        return vec!["No value makes the time significantly shorter than at the base.".into()];
    };
    let mut pieces = vec![
        format!("Largest saving: {} changes the mean time by ", settings(report, point)).into(),
        Number::measured(format!("/points/{i}/difference_s"), difference, "s").signed().into(),
    ];
    if let Some(ratio) = &point.ratio {
        let ratio = Number::measured(format!("/points/{i}/ratio"), ratio, "").change();
        pieces.extend([", or ".into(), ratio.into()]);
    }
    pieces.push(".".into());
    pieces
}

/// Returns the times of the base.
fn base(report: &SweepReport) -> Option<Headline> {
    let (i, base) = report.points.iter().enumerate().find(|(_, point)| point.point == 0)?;
    let number = |name: &str, number: &Option<Measured>| {
        number.as_ref().map(|number| Number::measured(format!("/points/{i}/{name}"), number, "s"))
    };
    let quantiles = [number("p50_s", &base.p50_s), number("p95_s", &base.p95_s), number("p99_s", &base.p99_s)];
    Some(Headline { of: Some("the base".to_owned()), mean: number("mean_s", &base.mean_s)?, quantiles })
}

fn knobs(report: &SweepReport) -> Table {
    let columns = [
        Column::new("setting"),
        Column::new("best"),
        Column::new("change").unit("s"),
        Column::new("change").unit("%"),
        Column::new("worst"),
        Column::new("change").unit("s").show(Show::Room),
        Column::new("swing").unit("s"),
    ];
    let note = "One setting at a time, with all other settings as in the base. Swing: the longest mean time minus the shortest.";
    let mut table = Table::new("Settings by effect", note, columns).level(report.level);
    for (i, knob) in report.tornado.iter().enumerate() {
        let at = format!("/tornado/{i}");
        let change = |name: &str, level: &Level| {
            Cell::from(Number::measured(format!("{at}/{name}/difference_s"), &level.difference_s, "s").signed())
        };
        let ratio = knob.best.ratio.as_ref();
        let ratio = ratio.map(|ratio| Number::measured(format!("{at}/best/ratio"), ratio, "").change());
        let digits = knob.worst.difference_s.half_width().filter(|half| *half > 0.0);
        let swing = Number { digits_of: digits, ..Number::new(format!("{at}/swing_s"), knob.swing_s, "s") };
        table.rows.push(vec![
            knob.name.clone().into(),
            setting(format!("{at}/best/value"), &knob.best.value),
            change("best", &knob.best),
            ratio.into(),
            setting(format!("{at}/worst/value"), &knob.worst.value),
            change("worst", &knob.worst),
            swing.into(),
        ]);
    }
    table
}

/// Returns all configurations; CSV has a column for each axis; an empty cell is the base's value.
fn points(report: &SweepReport) -> Table {
    // if one axis changes at a time, most columns would be empty
    let one_at_a_time = report.design == Design::Each;
    let shown = if one_at_a_time { Show::Csv } else { Show::Always };
    let changed = if one_at_a_time { Show::Always } else { Show::Csv };
    let mut columns = vec![Column::new("no.").key("point"), Column::new("changed").show(changed)];
    columns.extend(report.axes.iter().map(|axis| Column::new(axis.name.clone()).show(shown)));
    columns.extend(report.axes.iter().map(|axis| Column::new("").key(axis.key.clone()).show(Show::Csv)));
    columns.extend(["replications", "reached"].map(|key| Column::new(key).key(key).show(Show::Csv)));
    let time =
        |(title, show): (&'static str, Show)| Column::new(title).unit("s").key(format!("{title}_s")).ends().show(show);
    let times = [("mean", Show::Always), ("p50", Show::Room), ("p95", Show::Always), ("p99", Show::Room)];
    columns.extend(times.map(time));
    if has_deadline(report) {
        columns.push(Column::new("by deadline").unit("%").key("done_by_deadline").ends());
    }
    columns.push(Column::new("change").unit("s").key("difference_s").ends());
    columns.push(Column::new("change").unit("%").key("ratio").ends());
    columns.extend(["level", "seed"].map(|key| Column::new(key).key(key).show(Show::Csv)));
    let rows = report.points.iter().enumerate().map(|(i, point)| row(report, i, point));
    let note = if has_deadline(report) {
        "Changes are relative to the base. By deadline: probability of finishing by the deadline."
    } else {
        "Changes are relative to the base."
    };
    Table::new("Configurations", note, columns).rows(rows).level(report.level).most(MOST).wide()
}

/// Returns true if some configuration has a deadline.
fn has_deadline(report: &SweepReport) -> bool {
    report.points.iter().any(|point| point.done_by_deadline.is_some())
}

fn row(report: &SweepReport, i: usize, point: &PointResult) -> Vec<Cell> {
    let at = format!("/points/{i}");
    let name = if point.point == 0 { "base".to_owned() } else { point.point.to_string() };
    let mut cells = vec![Cell::named(name, point.point.to_string()), settings(report, point).into()];
    let values = point.values.iter().enumerate();
    cells.extend(
        values.map(|(k, value)| Cell::from(value.as_ref().map(|value| setting(format!("{at}/values/{k}"), value)))),
    );
    cells.extend(point.values.iter().map(|value| Cell::from(value.as_ref().map(value_key))));
    let counts = [("replications", point.replications), ("reached", point.reached)];
    cells.extend(counts.map(|(name, value)| Cell::from(Number::count(format!("{at}/{name}"), value))));
    let number = |name: &str, number: &Option<Measured>, unit: &'static str| {
        number.as_ref().map(|number| Number::measured(format!("{at}/{name}"), number, unit))
    };
    let times = [("mean_s", &point.mean_s), ("p50_s", &point.p50_s), ("p95_s", &point.p95_s), ("p99_s", &point.p99_s)];
    cells.extend(times.map(|(name, value)| Cell::from(number(name, value, "s"))));
    if has_deadline(report) {
        cells.push(number("done_by_deadline", &point.done_by_deadline, "").map(Number::percent).into());
    }
    cells.push(number("difference_s", &point.difference_s, "s").map(Number::signed).into());
    cells.push(number("ratio", &point.ratio, "").map(Number::change).into());
    cells.extend([report.level.to_string(), report.seed.to_string()].map(Cell::from));
    cells
}
