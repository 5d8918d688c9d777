//! The screen of a comparison of the runs of two sides.

use crate::compare::{
    ChanceTest, Compared, ComparedSide, ComparisonReport, Gap, StageDifference, TimeDifference, Verdict,
};
use crate::document::{Bar, Cell, Column, NextCommand, Number, Screen, Table, human_time, percent_text, short_name};
use crate::report::number::{counted, plain};
use crate::report::screens::first_of;

/// Maximum number of parts.
const MOST: usize = 8;
/// Half width of a time that is shown in tenths of a second.
const TENTH: f64 = 1.5;

/// Returns a comparison on one screen; none unless runs of logs are compared.
pub(super) fn comparison_screen(report: &ComparisonReport) -> Option<Screen> {
    Runs(report).screen()
}

/// A comparison of runs.
struct Runs<'a>(&'a ComparisonReport);

impl Runs<'_> {
    fn screen(&self) -> Option<Screen> {
        let time = self.0.time.as_ref().filter(|_| self.0.compared == Compared::Logs)?;
        let names = names(&self.0.sides);
        Some(Screen {
            answer: self.difference(time, &names),
            tables: vec![self.parts_table(time, &names)],
            assumed: first_of(
                time.assumed_sigma
                    .map(|sigma| format!("runs differ by {}%", plain(100.0 * sigma)))
                    .into_iter()
                    .chain(self.0.notes.iter().cloned()),
            ),
            next: {
                let verbose = NextCommand::new("tailspn why FILE --verbose", "tasks, data and settings of both");
                let test = NextCommand::new("tailspn why A1 A2 --against B1 B2", "several runs of each: a test");
                let is_single = self.0.sides.iter().any(|side| side.files.len() < 2);
                [Some(verbose), is_single.then_some(test)].into_iter().flatten().collect()
            },
            ..Screen::default()
        })
    }

    fn difference(&self, time: &TimeDifference, [a, b]: &[String; 2]) -> String {
        let change = human_time(time.difference_s.abs(), 3);
        let [took_a, took_b] = [time.a_s, time.b_s].map(|seconds| human_time(seconds, 3));
        let percent = if time.a_s > 0.0 {
            format!(" ({:.0}%)", 100.0 * time.difference_s.abs() / time.a_s)
        } else {
            String::new()
        };
        let what = match time.difference_s {
            0.0 => format!("{b} took as long as {a}: {took_a}."),
            longer if longer > 0.0 => format!("{b} took {change}{percent} longer than {a}: {took_b}, not {took_a}."),
            _ => format!("{b} took {change}{percent} less than {a}: {took_b}, not {took_a}."),
        };
        let settings = match self.0.settings.len() {
            0 => "No setting differs.".to_owned(),
            1 => format!("One setting or size differs: {}.", self.0.settings[0].key),
            some => format!("{some} settings or sizes differ (--verbose)."),
        };
        let two = if self.0.is_of_two_programs() {
            "They seem to be runs of two programs: no stage has the same name."
        } else {
            ""
        };
        [what, two.to_owned(), self.largest(time), chance(time), settings]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Names the part with the largest contribution to the difference.
    fn largest(&self, time: &TimeDifference) -> String {
        let stages = self
            .0
            .stages
            .iter()
            .map(|stage| (format!("Stage {}", short_name(&stage_name(stage))), stage.contribution_s));
        let gaps = self.0.gaps.iter().map(|gap| (capital(gap_name(gap.gap)), gap.contribution_s));
        let same_sign = |part: &(String, f64)| part.1 * time.difference_s > 0.0;
        let most = stages.chain(gaps).filter(same_sign).max_by(|x, y| x.1.abs().total_cmp(&y.1.abs()));
        most.map_or_else(String::new, |(name, contribution_s)| {
            let lost = if contribution_s > 0.0 { "more" } else { "less" };
            format!("{name}: {} {lost}.", human_time(contribution_s.abs(), 3))
        })
    }

    /// Returns the parts of the times, the largest difference first, and their sum.
    fn parts_table(&self, time: &TimeDifference, names: &[String; 2]) -> Table {
        let [a, b] = heads(names);
        let columns =
            [Column::new(""), Column::new(a).unit("s"), Column::new(b).unit("s"), Column::new("difference").unit("s")];
        let mut rows: Vec<(f64, [Cell; 4])> = Vec::new();
        let number = |at: String, value: f64| Cell::from(Number::new(at, value, "s").rounded(TENTH));
        for (i, stage) in self.0.stages.iter().enumerate() {
            let share = |side: &str, found: Option<f64>| {
                found.map_or(Cell::Empty, |value| number(format!("/stages/{i}/{side}/share_s"), value))
            };
            let change =
                Number::new(format!("/stages/{i}/contribution_s"), stage.contribution_s, "s").rounded(TENTH).signed();
            let shares = [("a", &stage.a), ("b", &stage.b)]
                .map(|(side, found)| share(side, found.as_ref().map(|found| found.share_s)));
            let [of_a, of_b] = shares;
            rows.push((stage.contribution_s, [short_name(&stage_name(stage)).into(), of_a, of_b, change.into()]));
        }
        for (i, gap) in self.0.gaps.iter().enumerate().filter(|(_, gap)| gap.a_s.max(gap.b_s) > 0.0) {
            let change =
                Number::new(format!("/gaps/{i}/contribution_s"), gap.contribution_s, "s").rounded(TENTH).signed();
            let cells = [
                gap_name(gap.gap).into(),
                number(format!("/gaps/{i}/a_s"), gap.a_s),
                number(format!("/gaps/{i}/b_s"), gap.b_s),
                change.into(),
            ];
            rows.push((gap.contribution_s, cells));
        }
        // what is shown as 0.0 says nothing
        rows.retain(|(contribution_s, _)| contribution_s.abs() >= 0.05);
        rows.sort_by(|x, y| y.0.abs().total_cmp(&x.0.abs()));
        let left = rows.len().saturating_sub(MOST);
        rows.truncate(MOST);
        let note = if left > 0 {
            format!("{} with smaller differences: --verbose.", counted(left as u128, "part"))
        } else {
            String::new()
        };
        let mut table = Table::new("", note, columns).rows(rows.into_iter().map(|(_, cells)| cells.into()));
        let change = Number::new("/time/difference_s", time.difference_s, "s").rounded(TENTH).signed();
        table.rows.push(vec![
            "sum".into(),
            number("/time/a_s".to_owned(), time.a_s),
            number("/time/b_s".to_owned(), time.b_s),
            change.into(),
        ]);
        Table { bar: Some(Bar { column: 3, mark: None }), ..table }
    }
}

/// Returns a name of each side: of single files their names, if these differ, otherwise the labels.
fn names(sides: &[ComparedSide; 2]) -> [String; 2] {
    let stem = |side: &ComparedSide| match &side.files[..] {
        [file] => {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            Some(name.split('.').next().unwrap_or(name).to_owned()).filter(|stem| !stem.is_empty() && stem.len() <= 24)
        }
        _ => None,
    };
    match [stem(&sides[0]), stem(&sides[1])] {
        [Some(a), Some(b)] if a != b => [a, b],
        _ => [sides[0].label.clone(), sides[1].label.clone()],
    }
}

/// Returns short names for the heads of columns: of long names, the ends, which differ.
fn heads(names: &[String; 2]) -> [String; 2] {
    const LONGEST: usize = 12;
    if names.iter().all(|name| name.chars().count() <= LONGEST) {
        return names.clone();
    }
    let [a, b] = names;
    let same = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    names.clone().map(|name| {
        let rest: Vec<char> = name.chars().skip(same).collect();
        let from = rest.len().saturating_sub(LONGEST - 1);
        ['…'].into_iter().chain(rest[from..].iter().copied()).collect()
    })
}

fn stage_name(row: &StageDifference) -> String {
    row.a.as_ref().or(row.b.as_ref()).map_or_else(String::new, |side| format!("{} {}", side.number, side.name))
}

fn gap_name(gap: Gap) -> &'static str {
    match gap {
        Gap::BeforeFirst => "before the first task",
        Gap::Between => "between stages",
        Gap::AfterLast => "after the last stage",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

/// States whether the difference may be chance.
fn chance(time: &TimeDifference) -> String {
    match (time.test, time.verdict) {
        (ChanceTest::AssumedSpread, _) => time.assumed_p_value.map_or_else(String::new, |p| {
            format!(
                "One run on a side proves nothing: by chance alone, {} of such pairs differ as much.",
                percent_text(p)
            )
        }),
        (_, Verdict::BeyondChance) => "The difference is more than chance.".to_owned(),
        (_, Verdict::WithinChance) => "The difference may be chance.".to_owned(),
        (_, Verdict::Unknown) => "Whether it is chance is not known.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_long_names_are_their_ends() {
        let heads = |a: &str, b: &str| heads(&[a.to_owned(), b.to_owned()]);
        assert_eq!(heads("baseline", "io_hog"), ["baseline", "io_hog"]);
        assert_eq!(heads("app-20261120092302-0002", "app-20261120092734-0005"), ["…302-0002", "…734-0005"]);
        assert_eq!(heads("app-20261120092302", "x"), ["…61120092302", "…x"]);
    }
}
