//! The document of a comparison: the difference of two sides, its significance, its origin, and the settings
//! that differ.

use crate::compare::{
    ChanceTest, Compared, ComparedSide, ComparisonReport, Gap, SettingDifference, StageDifference, StageSide,
    TimeDifference, Verdict,
};
use crate::document::{Cell, Column, Document, Number, Piece, Report, Show, Table};
use crate::estimate::Measured;
use crate::report::comparison_screen::comparison_screen;
use crate::report::number::{counted, plain, within};

/// Maximum number of stages and settings that readers see; JSON and CSV have all.
const MOST: usize = 20;

impl Report for ComparisonReport {
    const KIND: &'static str = "comparison";

    fn document(&self) -> Document<'_> {
        let [a, b] = &self.sides;
        let parts = Parts(self);
        let what = match self.compared {
            Compared::Logs => "logs",
            Compared::Results => "results",
            Compared::Plans => "plans",
        };
        let mut document = Document {
            kind: "comparison",
            title: format!("{} and {}", side_name(a), side_name(b)),
            question: format!("Differences between these {what}."),
            answer: parts.answer().into(),
            remarks: self.notes.clone(),
            screen: comparison_screen(self),
            ..Document::default()
        };
        for side in &self.sides {
            let row = |(i, file): (usize, &String)| [format!("{} {}", side.label, i + 1), file.clone()];
            document.provenance.extend(side.files.iter().enumerate().map(row));
        }
        if let Some(time) = &self.time {
            document.table(parts.times(time));
            document.table(parts.runs());
        }
        document.table(parts.contributions());
        document.table(parts.stage_sizes());
        document.table(parts.setting_table());
        document
    }
}

/// Returns the label of a side and its file, or its number of files.
fn side_name(side: &ComparedSide) -> String {
    let name = |file: &String| file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned();
    match &side.files[..] {
        [file] => format!("{} ({})", side.label, name(file)),
        files => format!("{} ({})", side.label, counted(files.len() as u128, "file")),
    }
}

fn seconds(at: impl Into<String>, value: f64) -> Number {
    Number::new(at, value, "s").brief()
}

/// Formats a probability for a sentence.
fn probability(p: f64) -> String {
    if p < 0.001 { "less than 0.1%".to_owned() } else { format!("{}%", within(100.0 * p, Some(p.min(0.1) * 100.0))) }
}

/// Formats a p-value for a sentence.
fn p_text(p: f64) -> String {
    if p < 0.001 { "below 0.001".to_owned() } else { within(p, Some(0.1 * p)) }
}

/// A part of the job's time: a stage, or time without a stage.
struct Part<'a> {
    at: String,
    name: String,
    key: String,
    stage: Option<&'a StageDifference>,
    shares: [Option<f64>; 2],
    share_at: [String; 2],
    contribution_s: f64,
}

/// The parts of the document.
struct Parts<'a>(&'a ComparisonReport);

impl<'a> Parts<'a> {
    /// Returns the labels of the sides.
    fn labels(&self) -> [&'a str; 2] {
        [&self.0.sides[0].label, &self.0.sides[1].label]
    }

    fn answer(&self) -> Vec<Piece> {
        let Some(time) = &self.0.time else {
            let keys = counted(self.0.settings.len() as u128, "key");
            let answer = match self.0.settings.len() {
                0 => "The plans have the same keys and values.".to_owned(),
                1 => format!("{keys} differs."),
                _ => format!("{keys} differ."),
            };
            return vec![answer.into()];
        };
        let [a, b] = self.labels();
        let mut pieces: Vec<Piece> = Vec::new();
        let difference = seconds("/time/difference_s", time.difference_s);
        if time.difference_s == 0.0 {
            pieces.push(format!("{b} takes as long as {a}: ").into());
        } else {
            let word = if time.difference_s > 0.0 { "more" } else { "less" };
            pieces.push(format!("{b} takes ").into());
            pieces.push(Number { factor: time.difference_s.signum(), ..difference }.into());
            pieces.push(format!(" {word} than {a}: ").into());
        }
        pieces.push(seconds("/time/b_s", time.b_s).into());
        pieces.push(" against ".into());
        pieces.push(seconds("/time/a_s", time.a_s).into());
        if let Some(ratio) = &time.ratio {
            let change = Number::measured("/time/ratio", ratio, "").rounded(0.02).change();
            pieces.push(" (".into());
            pieces.push(change.into());
            pieces.push(")".into());
        }
        pieces.push(". ".into());
        pieces.push(chance_words(time).into());
        pieces.extend(self.largest_words(time));
        pieces
    }

    /// Names the part of the time with the largest contribution to the difference.
    fn largest_words(&self, time: &TimeDifference) -> Vec<Piece> {
        let parts = self.parts();
        let Some(part) = parts.first().filter(|part| part.contribution_s != 0.0) else { return Vec::new() };
        let contribution = Number::new(format!("{}/contribution_s", part.at), part.contribution_s, "s").brief();
        let mut pieces: Vec<Piece> = vec![
            " The largest contribution, ".into(),
            contribution.signed().into(),
            format!(", is {}", part.name).into(),
        ];
        let share = part.contribution_s / time.difference_s;
        if share > 0.0 && share < 1.0 {
            pieces.push(format!(": {} of the difference", probability(share)).into());
        }
        pieces.push(".".into());
        pieces
    }

    /// Returns stages and times without a stage, the largest absolute contribution first.
    fn parts(&self) -> Vec<Part<'a>> {
        let mut parts: Vec<Part<'a>> = Vec::new();
        for (i, row) in self.0.stages.iter().enumerate() {
            let at = format!("/stages/{i}");
            let shares = [&row.a, &row.b].map(|side| side.as_ref().map(|side| side.share_s));
            let share_at = ["a", "b"].map(|side| format!("{at}/{side}/share_s"));
            let name = format!("stage {}", stage_name(row));
            let key = name.clone();
            parts.push(Part { at, name, key, stage: Some(row), shares, share_at, contribution_s: row.contribution_s });
        }
        for (i, row) in self.0.gaps.iter().enumerate() {
            let at = format!("/gaps/{i}");
            let (name, key) = match row.gap {
                Gap::BeforeFirst => ("before the first stage", "before_first"),
                Gap::Between => ("between stages", "between"),
                Gap::AfterLast => ("after the last stage", "after_last"),
            };
            parts.push(Part {
                name: name.to_owned(),
                key: key.to_owned(),
                stage: None,
                shares: [Some(row.a_s), Some(row.b_s)],
                share_at: ["a_s", "b_s"].map(|side| format!("{at}/{side}")),
                contribution_s: row.contribution_s,
                at,
            });
        }
        parts.sort_by(|x, y| y.contribution_s.abs().total_cmp(&x.contribution_s.abs()));
        parts
    }

    fn times(&self, time: &TimeDifference) -> Table {
        let [a, b] = self.labels();
        let mut table = Table::new("Time", "", [Column::new(""), Column::new("value").key("time")]).level(self.0.level);
        let mut push = |name: Cell, cell: Cell| table.rows.push(vec![name, cell]);
        push(Cell::named(format!("{a}, mean"), "a"), seconds("/time/a_s", time.a_s).into());
        push(Cell::named(format!("{b}, mean"), "b"), seconds("/time/b_s", time.b_s).into());
        let difference = seconds("/time/difference_s", time.difference_s).signed();
        push(Cell::named(format!("{b} − {a}"), "difference"), difference.into());
        if let Some(ratio) = &time.ratio {
            // the answer states why a ratio has no interval
            let plain = Measured::between(ratio.value, None, None);
            let ratio = if ratio.ends().is_some() { ratio } else { &plain };
            let number = Number::measured("/time/ratio", ratio, "").rounded(0.01 * ratio.value);
            push(Cell::named(format!("{b} / {a}"), "ratio"), number.into());
        }
        let mut share = |name: &str, key: &str, value: Option<f64>| {
            if let Some(value) = value {
                let number = Number::new(format!("/time/{key}"), value, "");
                // digits by the size of the number: of a tiny p-value, the exponent is what matters
                push(Cell::named(name, key), number.rounded(0.1 * value.abs().clamp(1e-9, 0.1)).into());
            }
        };
        share(
            "p-value (Welch's test of logarithms)",
            "p_value",
            time.p_value.filter(|_| time.test == ChanceTest::Welch),
        );
        share(
            "p-value (normal errors of both means)",
            "p_value",
            time.p_value.filter(|_| time.test != ChanceTest::Welch),
        );
        share("degrees of freedom", "degrees_of_freedom", time.degrees_of_freedom);
        share("p-value with the assumed spread of runs", "assumed_p_value", time.assumed_p_value);
        table
    }

    /// Returns the time of each file, if a side has several.
    fn runs(&self) -> Table {
        let columns = [Column::new("file"), Column::new("side"), Column::new("time").unit("s").key("run_time")];
        let mut table = Table::new("Files", "", columns).most(MOST);
        if self.0.sides.iter().all(|side| side.files.len() < 2) {
            return table;
        }
        for (i, side) in self.0.sides.iter().enumerate() {
            for (k, (file, time)) in side.files.iter().zip(&side.times_s).enumerate() {
                let number = seconds(format!("/sides/{i}/times_s/{k}"), *time);
                table.rows.push(vec![file.clone().into(), side.label.clone().into(), number.into()]);
            }
        }
        table
    }

    fn contributions(&self) -> Table {
        let [a, b] = self.labels();
        let column = |title: String, key: &'static str| Column::new(title).unit("s").key(key);
        let columns = [
            Column::new("part of the job time"),
            column(a.to_owned(), "share_a"),
            column(b.to_owned(), "share_b"),
            column(format!("{b} − {a}"), "contribution"),
            Column::new("speed-up").key("speedup"),
        ];
        let note = format!(
            "Each instant of a run is divided equally among the stages that are running, or assigned to no stage, so the column {b} − {a} adds up to the difference of the times. Speed-up: running time of the stage in {a} divided by that in {b}. A dash: the side does not have the stage."
        );
        let mut table = Table::new("Where the difference arose", note, columns).most(MOST);
        for part in self.parts() {
            let share = |side: usize| -> Cell {
                part.shares[side].map(|value| seconds(part.share_at[side].clone(), value)).into()
            };
            let speedup = part.stage.and_then(|stage| stage.speedup);
            let speedup =
                speedup.map(|value| Number::new(format!("{}/speedup", part.at), value, "").rounded(0.02 * value));
            let name = part.name.strip_prefix("stage ").unwrap_or(&part.name);
            let contribution = Number::new(format!("{}/contribution_s", part.at), part.contribution_s, "s").brief();
            table.rows.push(vec![
                Cell::named(name, part.key.clone()),
                share(0),
                share(1),
                contribution.signed().into(),
                speedup.into(),
            ]);
        }
        table
    }

    fn stage_sizes(&self) -> Table {
        let [a, b] = self.labels();
        let both = |title: &str, unit: &'static str, keys: [&'static str; 2]| {
            [(a, keys[0]), (b, keys[1])].map(|(label, key)| Column::new(format!("{title} {label}")).unit(unit).key(key))
        };
        let mut columns = vec![Column::new("stage")];
        columns.push(Column::new(format!("number {a}")).key("number_a").show(Show::Detail));
        columns.push(Column::new(format!("number {b}")).key("number_b").show(Show::Detail));
        columns.extend(both("tasks", "", ["tasks_a", "tasks_b"]));
        columns.extend(both("data", "MB", ["data_a", "data_b"]).map(|column| column.show(Show::Room)));
        columns.extend(both("ran", "s", ["ran_a", "ran_b"]));
        let note =
            "Means over the runs of a side that have the stage. Data: input and shuffle data that its tasks read.";
        let mut table = Table::new("Stages", note, columns).most(MOST);
        for (i, row) in self.0.stages.iter().enumerate() {
            let number = |side: usize, key: &str, value: &dyn Fn(&StageSide) -> f64| -> Cell {
                let (found, name) = [(&row.a, "a"), (&row.b, "b")][side];
                let number = |stage: &StageSide| {
                    let number = Number::new(format!("/stages/{i}/{name}/{key}"), value(stage), "");
                    if matches!(key, "number" | "tasks") { number } else { number.brief() }
                };
                found.as_ref().map(number).into()
            };
            let name = stage_name(row);
            let mut cells = vec![Cell::named(&*name, format!("stage {name}"))];
            for (key, value) in [
                ("number", &(|stage: &StageSide| f64::from(stage.number)) as &dyn Fn(&StageSide) -> f64),
                ("tasks", &|stage: &StageSide| stage.tasks),
                ("mb", &|stage: &StageSide| stage.mb),
                ("wall_s", &|stage: &StageSide| stage.wall_s),
            ] {
                cells.extend([number(0, key, value), number(1, key, value)]);
            }
            table.rows.push(cells);
        }
        table
    }

    fn setting_table(&self) -> Table {
        let [a, b] = self.labels();
        let note = match self.0.compared {
            Compared::Logs => {
                "Spark's properties in the logs, and sizes of the runs. Ids, ports, addresses and folders of a run are omitted."
            }
            Compared::Results => "Keys of the plans in the results.",
            Compared::Plans => "Keys as written in the plan; a table of a list appears under its name.",
        };
        let title =
            if self.0.compared == Compared::Logs { "Settings and sizes that differ" } else { "Plan keys that differ" };
        let columns = [Column::new("key"), Column::new(a).key("setting_a"), Column::new(b).key("setting_b")];
        let mut table = Table::new(title, note, columns).most(3 * MOST);
        let values = |list: &[String]| if list.is_empty() { Cell::Empty } else { list.join(" | ").into() };
        let row = |row: &SettingDifference| vec![row.key.clone().into(), values(&row.a), values(&row.b)];
        table.rows.extend(self.0.settings.iter().map(row));
        table
    }
}

/// Returns the number and name of a stage, as on side A if both sides have it.
fn stage_name(row: &StageDifference) -> String {
    let side = row.a.as_ref().or(row.b.as_ref());
    side.map_or_else(String::new, |side| format!("{} {}", side.number, side.name))
}

/// States in a sentence whether the difference is statistically significant.
fn chance_words(time: &TimeDifference) -> String {
    let p = time.p_value.map_or_else(String::new, |p| format!(" (p-value {})", p_text(p)));
    match (time.test, time.verdict) {
        (ChanceTest::AssumedSpread, _) => {
            let spread = time.assumed_sigma.map_or_else(String::new, |sigma| plain(100.0 * sigma));
            let chance = time.assumed_p_value.map_or_else(String::new, probability);
            format!(
                "A side with a single run cannot separate a real difference from chance. If whole runs differ by {spread}%, as assumed, chance alone gives a ratio this far from 1 in {chance} of such comparisons. Repeat the runs for a test."
            )
        }
        (ChanceTest::Exact, Verdict::BeyondChance) => "Both times are exact.".to_owned(),
        (ChanceTest::Exact, _) => "Both times are exact and equal.".to_owned(),
        (ChanceTest::Welch, Verdict::BeyondChance) => format!("The difference is statistically significant{p}."),
        (ChanceTest::Welch, _) => format!("The difference is not statistically significant{p}."),
        (ChanceTest::Intervals, Verdict::BeyondChance) => {
            format!("The difference is beyond the error of the estimates{p}.")
        }
        (ChanceTest::Intervals, _) => format!("The difference is within the error of the estimates{p}."),
        (ChanceTest::None, _) => {
            "The significance of the difference is unknown, because the spread of the times is unknown.".to_owned()
        }
    }
}
