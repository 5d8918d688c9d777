//! The document of a solution: the time to the goal, averages, verdicts, and, with all details, the states.

use crate::ask::net::{
    AverageSection, CdfPoint, NumberRow, PassageSection, PropertyRow, QuantilePoint, RewardRow, SolveReport, StateRow,
    StateSpaceRow, SteadySection, WithinSection, ZeroRateRow,
};
use crate::document::parts::{TimeFound, add_times, memory, not_folded_words};
use crate::document::{Cell, Column, Document, Number, Piece, Report, Show, Table};
use crate::report::number::{count, counted, plain, quantile_name};
use crate::report::simulation_document::NetWords as _;
use crate::report::solve_screen::screen;
use crate::report::times::Times;
use crate::report::verdict_tables::{Findings, MOST_ROWS, exchanged, listed, marking};

/// Numbers of tokens whose probabilities are shown.
const MOST_TOKENS: usize = 8;

impl Report for SolveReport {
    const KIND: &'static str = "solution";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let time = self.passage.as_ref().and_then(TimeFound::passage);
        let question = match (&self.passage, &self.within) {
            (Some(passage), _) => format!("Time until {}.", passage.goal),
            (None, Some(within)) => format!("Probability of {}.", event(within)),
            (None, None) => "Properties of the state space and long-run values.".to_owned(),
        };
        let mut document = Document {
            kind: "exact solution of a net",
            title: self.net.title(),
            question: format!("{question} The net has {}.", self.net.size()),
            answer: answer(self, time.as_ref()).into(),
            remarks: remarks(self),
            headline: time.as_ref().map(TimeFound::headline),
            provenance: provenance(self),
            ..Document::default()
        };
        document.fact("partial", Number::count("/partial", self.partial.into()));
        if let Some(passage) = &self.passage {
            document.fact("goal_probability", Number::new("/passage/probability", passage.probability, ""));
            document.table(times(passage, time.as_ref()));
            document.table(by_times(passage));
            add_times(&mut document, Times::passage("time", passage), None);
        }
        if let Some(within) = &self.within {
            document.fact("within_probability", Number::new("/within/probability", within.probability, ""));
        }
        document.table(rewards(self));
        document.table(properties(self));
        let tables = all_averages(self);
        tables.iter().for_each(|table| document.table(table.clone()));
        document.table(findings(self).verdicts());
        if let Some(dead) = &self.deadlocks {
            document.fact("deadlocks", Number::new("/deadlocks/count", dead.count, ""));
        }
        document.table(classes(self));
        self.state_space.iter().for_each(|space| state_space(&mut document, space));
        document.table(findings(self).bounds());
        document.table(findings(self).liveness());
        document.table(self.steady.as_ref().map(states).unwrap_or_default());
        document.screen = screen(self, tables, &findings(self).in_words(), &document.remarks);
        document
    }
}

fn findings(report: &SolveReport) -> Findings<'_> {
    Findings {
        partial: lacks_states(report),
        explored: report.state_space.is_some(),
        unbounded: report.unbounded.as_ref(),
        safe: report.safe,
        bounds: &report.bounds,
        deadlocks: report.deadlocks.as_ref(),
        verdicts: report.verdicts.as_ref(),
        liveness: &report.liveness,
    }
}

/// Describes the event that a goal is reached between two times.
fn event(within: &WithinSection) -> String {
    let times = match (within.from_s, within.to_s) {
        (from, Some(to)) if from > 0.0 => format!(" between {} and {} s", plain(from), plain(to)),
        (_, Some(to)) => format!(" by {} s", plain(to)),
        (from, None) if from > 0.0 => format!(" after {} s", plain(from)),
        _ => String::new(),
    };
    format!("{}{times}", within.goal)
}

/// Returns true if states are missing; otherwise a partial report lacks only the answer.
fn lacks_states(report: &SolveReport) -> bool {
    report.partial && report.verdicts.is_none()
}

fn answer(report: &SolveReport, time: Option<&TimeFound>) -> Vec<Piece> {
    let mut answer = time.map(|time| time.answer("the runs")).unwrap_or_default();
    if let Some(passage) = report.passage.as_ref().filter(|passage| passage.probability < 1.0) {
        let share = Number::new("/passage/probability", passage.probability, "").percent();
        answer.extend([" The probability of reaching the goal is ".into(), share.into(), ".".into()]);
    }
    if let Some(within) = &report.within {
        let probability = Number::new("/within/probability", within.probability, "");
        answer.extend([format!("The probability of {} is ", event(within)).into(), probability.into(), ".".into()]);
    }
    let verdict = verdict(report);
    if !answer.is_empty() && !verdict.is_empty() {
        answer.push(" ".into());
    }
    answer.into_iter().chain(verdict).collect()
}

/// Summarises the states in a sentence.
fn verdict(report: &SolveReport) -> Vec<Piece> {
    if let Some(unbounded) = &report.unbounded {
        return vec![format!("The net is unbounded: {} can grow forever.", listed(&unbounded.places)).into()];
    }
    let Some(space) = &report.state_space else { return Vec::new() };
    let dead = findings(report).in_words();
    let least = if lacks_states(report) { "At least " } else { "" };
    let states = if space.tangible as u64 == 1 { "state" } else { "states" };
    let number = Number::new("/state_space/tangible", space.tangible, "");
    let folded = match &report.folded {
        Some(folded) => format!(", folded to {}", count(folded.states as u128)),
        None => String::new(),
    };
    vec![least.into(), number.into(), format!(" {states}{folded}; {dead}.").into()]
}

fn remarks(report: &SolveReport) -> Vec<String> {
    let mut remarks: Vec<String> = report.stopped.iter().map(|why| format!("Partial: {why}.")).collect();
    let passage = report.passage.as_ref();
    remarks.extend(passage.and_then(|passage| {
        let missing = if passage.cdf.is_empty() { "distribution" } else { "quantiles" };
        Some(format!("No {missing}: {}.", passage.no_distribution.as_ref()?))
    }));
    if let Some(zero) = &report.zero_rates {
        remarks.extend(zero_rates(zero, report.liveness.iter().all(|row| row.level == 0)));
    }
    remarks
}

/// Returns remarks on transitions that are enabled but do not fire, because their rates are 0.
fn zero_rates(zero: &ZeroRateRow, all_dead: bool) -> Vec<String> {
    let held = listed(&zero.held);
    if all_dead {
        return vec![format!(
            "No transition ever fires, because rates are 0 ({held}). --param NAME=VALUE sets a parameter."
        )];
    }
    let never = |name: &String| format!("`{name}` never fires: its rate is 0 in every state that enables it.");
    let mut remarks: Vec<String> = zero.never.iter().map(never).collect();
    if zero.dead_markings > 0 {
        let dead = counted(zero.dead_markings as u64, "state");
        remarks.push(format!("The net stops in {dead} only because rates are 0 there: {held}."));
    }
    remarks
}

/// Returns mean rewards of a run.
fn rewards(report: &SolveReport) -> Table {
    let row = |(i, row): (usize, &RewardRow)| {
        let number = row.value.map(|value| Cell::from(Number::new(format!("/rewards/{i}/value"), value, "")));
        vec![row.name.clone().into(), number.unwrap_or_else(|| "infinite".into())]
    };
    let note = "Collected until the goal, a marking to avoid, the last time or a dead marking is reached.";
    Table::new("Rewards of a run", note, [Column::new("reward"), Column::new("mean").key("reward")])
        .rows(report.rewards.iter().enumerate().map(row))
}

fn properties(report: &SolveReport) -> Table {
    let columns = [Column::new("property"), Column::new("answer").key("property"), Column::new("")];
    let row = |(i, row): (usize, &PropertyRow)| {
        let value = row.value.map(|value| Number::new(format!("/properties/{i}/value"), value, ""));
        vec![row.name.clone().into(), value.into(), Cell::prose(row.note.clone().unwrap_or_default())]
    };
    Table::new("Properties", "", columns).rows(report.properties.iter().enumerate().map(row))
}

fn times(passage: &PassageSection, time: Option<&TimeFound>) -> Table {
    let Some(time) = time else { return Table::default() };
    let (lost, bounds) = (passage.probability < 1.0, passage.mean_bounds_s.is_some());
    let of = if lost {
        "Quantiles are over all runs; mean and standard deviation only over runs that reach the goal."
    } else {
        ""
    };
    let sd = if bounds { "The standard deviation has no bounds." } else { "" };
    let mut columns = vec![Column::new(""), Column::new("time").unit("s").key("passage_time")];
    if lost {
        columns.push(Column::new("if reached").unit("s"));
    }
    let mut table = Table::new("Time to the goal", format!("{of} {sd}").trim(), columns).level(0.95);
    let mut push = |name: Cell, number: Option<Number>, reached: Option<Number>| {
        let cells = [name, number.into()].into_iter().chain(lost.then(|| reached.into()));
        table.rows.push(cells.collect());
    };
    push("mean".into(), Some(time.mean.clone()), None);
    push(Cell::named("standard deviation", "sd"), time.sd.clone(), None);
    let reached = |(i, row): (usize, &QuantilePoint)| {
        (row.p, Some(Number::new(format!("/passage/quantiles_if_reached/{i}"), row.value, "s")))
    };
    let mut rows: Vec<(f64, Option<Number>)> = passage.quantiles_if_reached.iter().enumerate().map(reached).collect();
    if rows.is_empty() {
        rows = time.quantiles.iter().map(|(p, _)| (*p, None)).collect();
    }
    for (p, reached) in rows {
        push(quantile_name(p).into(), time.quantile(p), reached);
    }
    table
}

/// Returns the distribution function at the requested times.
fn by_times(passage: &PassageSection) -> Table {
    let mut columns = vec![Column::new("time"), Column::new("probability").key("passage_cdf")];
    columns.extend(
        passage.cdf.iter().any(|point| point.density_per_s.is_some()).then(|| Column::new("density").unit("1/s")),
    );
    let row = |(i, point): (usize, &CdfPoint)| {
        let at = format!("/passage/cdf/{i}");
        let probability = Number::new(format!("{at}/probability"), point.probability, "");
        let probability = probability.bounded(point.low.zip(point.high).map(|(low, high)| [low, high]));
        let density = point.density_per_s.map(|density| Number::new(format!("{at}/density_per_s"), density, "1/s"));
        let time = Cell::named(format!("{} s", plain(point.time_s)), format!("{} s", point.time_s));
        [time, probability.into()].into_iter().chain(density.map(Cell::from)).collect()
    };
    let rows = passage.cdf.iter().enumerate().map(row);
    Table::new("Probability of reaching the goal by a time", "", columns).rows(rows).level(0.95)
}

/// Returns the averages in the long run and at times.
fn all_averages(report: &SolveReport) -> Vec<Table> {
    let steady = report.steady.iter().map(|steady| averages(["in the long run", ""], "/steady", &steady.averages));
    let at = report.at.iter().enumerate().map(|(i, section)| {
        let [shown, key] = [plain(section.time_s), section.time_s.to_string()].map(|time| format!("at {time} s"));
        averages([&shown, &format!(" {key}")], &format!("/at/{i}"), &section.averages)
    });
    steady.chain(at).flatten().collect()
}

/// Returns means of expressions, tokens and throughputs; `when` for display, and after names in CSV.
fn averages(when: [&str; 2], at: &str, section: &AverageSection) -> [Table; 3] {
    let table = |title: &str, name: &str, list: &str, key: &'static str, rows: &[NumberRow]| {
        let unit = if key == "measure" { Column::new("mean") } else { Column::new("mean").unit("1/s") };
        let row = |(i, row): (usize, &NumberRow)| {
            let number = Number::new(format!("{at}/{list}/{i}/value"), row.value, row.unit.clone());
            vec![Cell::named(row.name.clone(), format!("{}{}", row.name, when[1])), number.into()]
        };
        let columns = [Column::new(name), unit.key(key)];
        Table::new(format!("{title} {}", when[0]), "", columns).rows(rows.iter().enumerate().map(row)).most(MOST_ROWS)
    };
    [
        table("Measures", "measure", "measures", "measure", &section.measures),
        tokens(when, at, section),
        table("Throughput", "transition", "throughputs", "throughput", &section.throughputs),
    ]
}

/// Returns mean tokens of each place and class, and the distribution of each place.
fn tokens(when: [&str; 2], at: &str, section: &AverageSection) -> Table {
    let classes = (section.tokens.len() / section.distributions.len().max(1)).max(1);
    let lengths = section.distributions.iter().map(|row| row.probabilities.len());
    let longest = lengths.max().unwrap_or(0);
    let mut columns = vec![Column::new("place"), Column::new("mean").key("tokens").unit("tokens")];
    columns.extend((0..longest.min(MOST_TOKENS)).map(|tokens| Column::new(format!("P({tokens})")).show(Show::Room)));
    let note = if longest > MOST_TOKENS {
        "P(n): probability of n tokens. The JSON has the probabilities of more tokens."
    } else {
        "P(n): probability of n tokens."
    };
    let many = longest.min(MOST_TOKENS);
    let mean = |(i, row): (usize, &NumberRow)| {
        let number = Number::new(format!("{at}/tokens/{i}/value"), row.value, row.unit.clone());
        let name = Cell::named(row.name.clone(), format!("{}{}", row.name, when[1]));
        vec![name, number.into()]
    };
    let chances = |place: usize| {
        let probabilities = section.distributions.get(place).map_or(&[][..], |row| &row.probabilities);
        (0..many).map(move |tokens| -> Cell {
            let at = format!("{at}/distributions/{place}/probabilities/{tokens}");
            probabilities.get(tokens).map(|&p| Number::new(at, p, "").rounded(1e-3)).into()
        })
    };
    let mut rows = Vec::new();
    for (place, means) in section.tokens.chunks(classes).enumerate() {
        let own = means.iter().enumerate().map(|(class, row)| mean((place * classes + class, row)));
        if classes == 1 {
            rows.extend(own.map(|row| row.into_iter().chain(chances(place)).collect()));
            continue;
        }
        // distributions are of the sum over all classes
        rows.extend(own.map(|mut row| {
            row.resize(2 + many, Cell::Empty);
            row
        }));
        let name = section.distributions.get(place).map_or("", |row| &row.name);
        let all = [format!("{name}, all classes").into(), Cell::Empty];
        rows.push(all.into_iter().chain(chances(place)).collect());
    }
    Table::new(format!("Tokens {}", when[0]), note, columns).rows(rows).most(MOST_ROWS)
}

/// Returns sizes and probabilities of several recurrent classes.
fn classes(report: &SolveReport) -> Table {
    let Some(verdicts) = report.verdicts.as_ref().filter(|verdicts| verdicts.recurrent_classes.len() > 1) else {
        return Table::default();
    };
    let probabilities = report.steady.as_ref().map_or(&[][..], |steady| &steady.class_probabilities);
    let columns = ["class", "states", "probability"].into_iter().take(if probabilities.is_empty() { 2 } else { 3 });
    let row = |(i, &states): (usize, &u32)| {
        let states = Number::count(format!("/verdicts/recurrent_classes/{i}"), states.into());
        let chance = probabilities.get(i).map(|&p| Number::new(format!("/steady/class_probabilities/{i}"), p, ""));
        vec![count(i as u128 + 1).into(), states.into(), chance.into()]
    };
    let rows = verdicts.recurrent_classes.iter().enumerate().map(row);
    Table::new("Recurrent classes", "Once a run enters a class, it never leaves it.", columns)
        .rows(rows)
        .most(MOST_ROWS)
}

fn state_space(document: &mut Document<'_>, space: &StateSpaceRow) {
    let at = |name: &str, value: u64| Cell::from(Number::count(format!("/state_space/{name}"), value));
    let tangible = Cell::from(Number::new("/state_space/tangible", space.tangible, ""));
    let edges = at("edges", space.edges as u64);
    let keys = [Column::new(""), Column::new("").key("states")];
    let states = Table::new("", "", keys).row(["tangible".into(), tangible.clone()]);
    document.table(states.row(["vanishing".into(), at("vanishing", space.vanishing)]).show(Show::Csv));
    document.fact("edges", edges.clone());
    let mut table = Table::fields("State space").row(["tangible states".into(), tangible]).show(Show::Detail);
    if (space.explored as f64) < space.tangible {
        table.rows.push(vec!["explored".into(), at("explored", space.explored as u64)]);
    }
    let repeats = if space.vanishing_is_exact { "" } else { " (some counted more than once)" };
    table.rows.push(vec![format!("vanishing states{repeats}").into(), at("vanishing", space.vanishing)]);
    table.rows.push(vec!["edges".into(), edges]);
    table.rows.push(vec!["bits per state".into(), at("marking_bits", space.marking_bits.into())]);
    table.rows.push(vec!["memory".into(), memory("/state_space/bytes", space.bytes).into()]);
    let wall = Number::new("/state_space/wall_s", space.wall_s, "s").shown_in("ms", 1e3);
    table.rows.push(vec!["time".into(), wall.into()]);
    document.table(table);
}

fn states(steady: &SteadySection) -> Table {
    let columns =
        [Column::new("state"), Column::new("probability"), Column::new("mean stay").unit("s"), Column::new("marking")];
    let row = |(i, row): (usize, &StateRow)| {
        let at = format!("/steady/states/{i}");
        let stay = match row.sojourn_s {
            Some(stay) => Number::new(format!("{at}/sojourn_s"), stay, "s").into(),
            None => Cell::from("forever"),
        };
        let probability = Number::new(format!("{at}/probability"), row.probability, "");
        vec![row.state.to_string().into(), probability.into(), stay, marking(&row.marking).into()]
    };
    Table::new("States", "", columns).rows(steady.states.iter().enumerate().map(row)).show(Show::Detail)
}

fn provenance(report: &SolveReport) -> Vec<[String; 2]> {
    let mut rows = vec![("tailspn", report.version.to_string()), ("method", report.method.used.name().to_owned())];
    let other = match (&report.method.no_states, &report.method.no_series_parallel) {
        // a time to a goal is the only question with a choice of methods
        _ if report.passage.is_none() && !report.partial => None,
        (Some(reason), _) => Some(format!("states: {reason}")),
        (_, Some(reason)) => Some(format!("series-parallel: {reason}")),
        _ => None,
    };
    rows.extend(other.map(|other| ("not by", other)));
    if let Some(folded) = &report.folded {
        let [states, places, transitions] = [folded.states, folded.places, folded.transitions].map(|n| n as u128);
        let size = format!("{}, {}", counted(places, "place"), counted(transitions, "transition"));
        rows.push(("folded", format!("to {} of a net with {size}", counted(states, "state"))));
    }
    let all = report.folded.iter().flat_map(|folded| &folded.exchanged);
    rows.extend(all.map(|parts| ("canonical markings", exchanged(parts))));
    rows.extend(report.not_folded.iter().map(|parts| ("not folded", not_folded_words(parts))));
    if let Some(steady) = &report.steady {
        rows.push(("long run", format!("by {}, residual {:.1e}", steady.method, steady.residual)));
    }
    if let (Some(step), None) = (report.method.grid_step_s, &report.passage) {
        let error = report.within.as_ref().and_then(|within| within.error).or(report.at.first().map(|at| at.error));
        let error = error.map_or_else(String::new, |error| format!(", error below {error:.0e}"));
        rows.push(("grid", format!("steps of {} s{error}", plain(step))));
    }
    if let Some(passage) = &report.passage {
        rows.extend(passage.method.as_ref().map(|method| ("moments", format!("by {method}"))));
        let states =
            passage.states.map_or_else(String::new, |states| format!(", {}", counted(states as u128, "state")));
        let grid = passage.grid_step_s.map(|step| format!("on a grid of steps of {} s", plain(step)));
        let distribution = match (&passage.cdf_method, &passage.no_distribution) {
            (Some(method), None) => {
                let grid = grid.map_or_else(String::new, |grid| format!(", {grid}"));
                Some(format!("by {method}{states}{grid}, error below {:.0e}", passage.cdf_error))
            }
            (None, None) => grid,
            (_, Some(_)) => None,
        };
        rows.extend(distribution.map(|distribution| ("distribution", distribution)));
    }
    rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect()
}
