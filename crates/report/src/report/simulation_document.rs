//! The documents of a simulated net: the time to a goal, and the long run.

use crate::ask::net::NetSummary;
use crate::document::parts::{
    TimeFound, add_times, ends, folding_rows, partial, provenance_rows, rows_table, seconds_text, times_table, wall,
};
use crate::document::{Block, Cell, Column, Document, Figure, NextCommand, Number, Piece, Report, Table, Topic};
use crate::report::bar_rows::BarRow;
use crate::report::method::{AnswerMethod, UsedMethod};
use crate::report::number::{counted, plain};
use crate::report::steady::{SteadyReport, SteadyRow};
use crate::report::summary::{GroupRow, SimulationReport};
use crate::report::times::Times;

/// The net of a result in words.
pub(crate) trait NetWords {
    /// Returns the name of the net, or words in its place.
    fn title(&self) -> String;

    /// Returns the size of the net as text.
    fn size(&self) -> String;
}

impl NetWords for NetSummary {
    fn title(&self) -> String {
        if self.name.is_empty() { "A net without a name".to_owned() } else { self.name.clone() }
    }

    fn size(&self) -> String {
        format!("{} and {}", counted(self.places as u128, "place"), counted(self.transitions as u128, "transition"))
    }
}

impl AnswerMethod {
    fn is_exact(&self) -> bool {
        self.used == UsedMethod::Exact
    }

    /// Returns rows of an exact answer's provenance: parts of the net that were folded, and parts that were not.
    pub(crate) fn folding(&self) -> Vec<[String; 2]> {
        folding_rows(self.folded.as_ref(), &self.not_folded)
    }
}

impl Report for SimulationReport {
    const KIND: &'static str = "simulation";

    fn document(&self) -> Document<'_> {
        let time = self.passage_time.as_ref().map(|time| TimeFound::distribution("/passage_time", time));
        let level = self.question.level;
        let horizon = self.question.horizon_s.map_or_else(String::new, |end| format!(", up to {} s", plain(end)));
        // a run up to the horizon has no goal
        let question = match self.goal_probability {
            Some(_) => format!("Time until {}{horizon}.", self.question.goal),
            None => format!("Averages{horizon}."),
        };
        let mut document = Document {
            kind: "simulation of a net",
            title: self.net.title(),
            question: format!("{question} The net has {}.", self.net.size()),
            headline: time.as_ref().map(TimeFound::headline),
            next: next(),
            ..Document::default()
        };
        let within = self.cut_off_runs().map_or_else(String::new, |(most, _)| format!(" within {most}"));
        let of =
            if self.is_certain() { "the runs".to_owned() } else { format!("the runs that reach the goal{within}") };
        document.answer = time.as_ref().map(|time| time.answer(&of)).unwrap_or_default().into();
        document.answer.say(Topic::Answer, self.reached());
        document.remarks.extend(partial(self.partial, self.replications));
        document.remarks.extend(self.cut_off());
        document.blocks.push(Block::Text(self.endings()));
        self.facts(&mut document);
        document.figure(self.waterfall());
        let title = format!("Time to {}", self.question.goal);
        let title = if self.is_certain() { title } else { format!("{title}, of the runs that reach it{within}") };
        if let Some((found, time)) = self.passage_time.as_ref().zip(time.as_ref()) {
            document.table(times_table(&title, level, &[("time", "passage_time", time)]));
            add_times(&mut document, Times::new("time", found, None), Some(found));
        }
        document.table(self.groups());
        for (title, at, key, rows) in [
            ("Mean tokens", "/tokens", "tokens", &self.tokens),
            ("Throughput", "/throughputs", "throughput", &self.throughputs),
            ("Rewards", "/rewards", "reward", &self.rewards),
        ] {
            document.table(rows_table(title, level, at, key, rows));
        }
        document.table(self.snapshots());
        document.provenance = self.provenance.as_ref().map(provenance_rows).unwrap_or_default();
        document.provenance.push(["method".to_owned(), self.method.used.name().to_owned()]);
        document.provenance.extend(self.method.folding());
        document
    }
}

impl SimulationReport {
    /// Returns true if every run reaches the goal.
    fn is_certain(&self) -> bool {
        self.goal_probability.as_ref().is_none_or(|probability| probability.value >= 1.0)
    }

    /// Numbers with separate rows in CSV.
    fn facts(&self, document: &mut Document<'_>) {
        document.fact("replications", Number::count("/replications", self.replications));
        document.fact("partial", Number::count("/partial", self.partial.into()));
        if self.method.is_exact() {
            document.fact("exact", Number::count("/method/used", 1));
        }
        if let Some(share) = &self.goal_probability {
            document.fact("goal_probability", Number::measured("/goal_probability", share, ""));
        }
        if let Some((_, cut)) = self.cut_off_runs() {
            document.fact("cut_off_replications", Number::count("/endings/max_firings", cut));
        }
    }

    /// Returns the limit of firings and the number of replications that stopped there, if any.
    fn cut_off_runs(&self) -> Option<(String, u64)> {
        let (most, cut) = (self.question.max_firings?, self.endings.max_firings);
        (cut > 0).then(|| (counted(most, "firing"), cut))
    }

    /// Returns the probability of the goal, unless it is certain. Stopped runs may still reach it.
    fn reached(&self) -> Vec<Piece> {
        let Some(probability) = self.goal_probability.as_ref().filter(|_| !self.is_certain()) else {
            return Vec::new();
        };
        let number = Number::measured("/goal_probability", probability, "").percent();
        let by = self.question.horizon_s.map_or_else(String::new, |end| format!(" by {} s", plain(end)));
        match self.cut_off_runs() {
            Some((most, _)) => {
                // the interval refers to the goal without the limit
                let share = Number::new("/goal_probability/value", probability.value, "").percent();
                let share = share.rounded(0.01);
                vec![
                    format!(" The goal is reached{by} within {most} in ").into(),
                    share.into(),
                    " of the runs, and without this limit in ".into(),
                    number
                        .interval()
                        .map_or_else(|| "at least as many".to_owned(), |interval| format!("{interval}%"))
                        .into(),
                    format!(" of them ({}% CI).", plain(100.0 * self.question.level)).into(),
                ]
            }
            None => vec![format!(" The goal is reached{by} in ").into(), number.into(), " of the runs.".into()],
        }
    }

    /// Returns a remark on runs that stopped at the limit of firings.
    fn cut_off(&self) -> Option<String> {
        let (most, cut) = self.cut_off_runs()?;
        let runs = counted(cut, "replication");
        Some(format!(
            "{runs} stopped after {most} without reaching the goal. They may reach it later, so the times cover only the faster runs, and the share of runs that reach the goal is a lower bound of its probability."
        ))
    }

    /// Counts how the replications ended, or names the exact method.
    fn endings(&self) -> Vec<Piece> {
        if self.method.is_exact() {
            return vec![format!("Method: {}.", self.method.words()).into()];
        }
        let endings = &self.endings;
        let mut pieces: Vec<Piece> = vec![
            Number::count("/replications", self.replications).into(),
            format!(" replication{}, ", if self.replications == 1 { "" } else { "s" }).into(),
            Number::count("/firings", self.firings).into(),
            format!(" firing{}: ", if self.firings == 1 { "" } else { "s" }).into(),
        ];
        let kinds = [
            ("goal", endings.goal, format!("reached {}", self.question.goal)),
            ("avoided", endings.avoided, "reached a marking to avoid".to_owned()),
            ("dead", endings.dead, "deadlocked before the goal".to_owned()),
            ("horizon", endings.horizon, "ran to the horizon".to_owned()),
            ("max_firings", endings.max_firings, "stopped at the limit of firings".to_owned()),
        ];
        let seen: Vec<_> = kinds.into_iter().filter(|(_, n, _)| *n > 0).collect();
        for (i, (key, n, words)) in seen.iter().enumerate() {
            let end = if i + 1 == seen.len() { "" } else { ", " };
            pieces.extend([Number::count(format!("/endings/{key}"), *n).into(), format!(" {words}{end}").into()]);
        }
        pieces.push(if seen.is_empty() { "none." } else { "." }.into());
        pieces
    }

    fn waterfall(&self) -> Figure<'static> {
        let row = |group: &GroupRow| {
            let (first, last) = (group.first.as_ref()?, group.last.as_ref()?);
            let (bar, text) = ([first.value, last.value], seconds_text(last.value));
            Some(BarRow { name: group.name.clone(), bar, interval: ends(last), text, ..BarRow::default() })
        };
        let caption = "Each bar goes from the mean time of a group's first firing to the mean time of its last firing; the thin line is the interval of the end.";
        let rows = self.groups.iter().filter_map(row).collect();
        Figure::bars("waterfall", "What runs when", caption, "time [s]", rows)
    }

    fn groups(&self) -> Table {
        let column = |title: &str, key: &'static str| Column::new(title).unit("s").key(key);
        let columns =
            [Column::new("group"), column("first firing", "group_first"), column("last firing", "group_last")];
        let mut table = Table::new("Groups of transitions: mean times", "", columns).level(self.question.level);
        for (i, group) in self.groups.iter().enumerate() {
            let time = |key: &str, time| Number::measured(format!("/groups/{i}/{key}"), time, "s");
            let (first, last) = (group.first.as_ref(), group.last.as_ref());
            let times = [first.map(|first| time("first", first)), last.map(|last| time("last", last))];
            table.rows.push([group.name.clone().into()].into_iter().chain(times.map(Cell::from)).collect());
        }
        table
    }

    fn snapshots(&self) -> Table {
        let columns = [Column::new("expression and time"), Column::new("mean").key("snapshot")];
        let mut table = Table::new("At given times", "", columns).level(self.question.level);
        for (i, row) in self.snapshots.iter().enumerate() {
            let mean = row.mean.as_ref().map(|mean| Number::measured(format!("/snapshots/{i}/mean"), mean, ""));
            table.rows.push(vec![format!("{} at {} s", row.expression, row.time_s).into(), mean.into()]);
        }
        table
    }
}

impl Report for SteadyReport {
    const KIND: &'static str = "steady";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "long run of a net",
            title: self.net.title(),
            question: format!("Long-run means. The net has {}.", self.net.size()),
            provenance: vec![
                ["tailspn".to_owned(), self.version.to_string()],
                ["method".to_owned(), self.method.used.name().to_owned()],
            ],
            next: next(),
            ..Document::default()
        };
        if self.method.is_exact() {
            document.fact("exact", Number::count("/method/used", 1));
            document.blocks.push(Block::Text(vec![format!("Method: {}.", self.method.words()).into()]));
        } else {
            let (runs, sources) = match self.runs {
                1 => ("1 run".to_owned(), "batches of this run"),
                runs => (counted(runs, "independent run"), "runs"),
            };
            document.blocks.push(Block::Text(vec![
                format!("{runs}, ").into(),
                format!("{} and ", counted(self.firings, "firing")).into(),
                Number::new("/model_time_s", self.model_time_s, "s").into(),
                format!(" of model time in total. The intervals come from the means of the {sources}.").into(),
            ]));
        }
        document.provenance.extend(self.seed.map(|seed| ["seed".to_owned(), seed.to_string()]));
        document.provenance.extend(self.wall_s.map(|seconds| ["time of the runs".to_owned(), wall(seconds)]));
        document.provenance.extend(folding_rows(self.folded.as_ref(), &self.not_folded));
        document.provenance.extend(self.method.folding());
        document.remarks.extend(different_ends(self));
        document.remarks.extend(rare(self));
        for (title, at, key, rows) in [
            ("Mean tokens", "/tokens", "tokens", &self.tokens),
            ("Throughput", "/throughputs", "throughput", &self.throughputs),
            ("Rewards", "/rewards", "reward", &self.rewards),
        ] {
            document.table(steady_table(title, self.level, at, key, rows));
        }
        document
    }
}

/// Returns the commands for the next questions about a net.
fn next() -> Vec<NextCommand> {
    vec![
        NextCommand::new("tailspn net check FILE", "problems, and the engines that can run it"),
        NextCommand::new("tailspn serve FILE", "play the token game in the browser"),
    ]
}

/// Returns remarks on runs that end in different parts of the state space.
fn different_ends(report: &SteadyReport) -> Vec<String> {
    let (runs, dead) = (report.runs, report.dead_runs);
    let mut remarks = Vec::new();
    if dead > 0 {
        let end = if dead == runs { "All runs end".to_owned() } else { format!("{dead} of {runs} runs end") };
        remarks.push(format!("{end} in a dead marking, whose averages count for the whole run."));
    }
    if let [first, ..] = &report.in_some_runs[..] {
        remarks.push(format!(
            "The runs differ: `{first}` fires often in some and never in others. They end in different parts of the state space, or are too short; --steady-runs gives more runs."
        ));
    }
    remarks
}

/// Returns remarks on transitions that fired too rarely.
fn rare(report: &SteadyReport) -> Vec<String> {
    /// Maximum number of transitions that are listed by name.
    const MOST: usize = 10;
    // a dead marking is the end, however long the runs are
    if report.dead_runs == report.runs {
        return Vec::new();
    }
    let rare = &report.rare_transitions;
    let mut remarks: Vec<String> = rare
        .iter()
        .take(MOST)
        .map(|row| {
            let times = counted(row.firings, "time");
            format!("Transition `{}` fired {times}; the runs may be too short to show the long run.", row.name)
        })
        .collect();
    if rare.len() > MOST {
        let more = counted((rare.len() - MOST) as u128, "more transition");
        remarks.push(format!("{more} fired as rarely."));
    }
    remarks
}

fn steady_table(title: &str, level: f64, at: &str, key: &'static str, rows: &[SteadyRow]) -> Table {
    let named: Vec<_> = rows.iter().map(|row| (&row.name, &row.unit, &row.quantity)).collect();
    let mut table = crate::document::parts::measured_table(title, level, at, key, &named);
    if rows.iter().any(|row| row.warm_up.is_some()) {
        table.columns.push(Column::new("excluded as warm-up").unit("%"));
        for ((i, row), cells) in rows.iter().enumerate().zip(&mut table.rows) {
            let share = |share| Number::new(format!("{at}/{i}/warm_up"), share, "").percent().rounded(0.05);
            cells.push(row.warm_up.map(share).into());
        }
    }
    table
}
