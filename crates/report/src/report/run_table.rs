//! The report on an estimate from a table of runs: sentences, table and curve.

use tailspn_common::field;
use tailspn_common::row::{Between, Seconds, Share};

use crate::ask::{OwnRunsSummary, PredictedRow, RunTableEstimate, TableColumn};
use crate::document::{
    Cell, Document, NextCommand, Number, Paragraph, Piece, Report, Screen, ScreenVerdict, Show, Table, Topic,
    data_size, human_time, percent_text,
};
use crate::render::sentence;
use crate::report::list_words::{ListQuestion, ListRow, capital, configuration};
use crate::report::number::{counted, plain, time_words};

/// Rows up to which a screen shows all; of more, those at equal distances.
const FEW: usize = 10;

/// Returns the estimate with its answer in words.
pub(super) fn worded_runs(mut found: RunTableEstimate) -> RunTableEstimate {
    found.answer.text = sentence(&answer(&found));
    found
}

impl Report for RunTableEstimate {
    const KIND: &'static str = "estimate_runs";
    const HAS_ANSWER: bool = true;
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "estimate from a table of runs",
            title: "Time by the runs of a table".to_owned(),
            question: format!("Time of the next run of {}.", about(self)),
            answer: Paragraph::default(),
            remarks: self.notes.iter().chain(&self.unknown).cloned().collect(),
            provenance: vec![["tailspn".to_owned(), self.version.clone()]],
            screen: Some(screen(self)),
            ..Document::default()
        };
        document.answer.say(Topic::Answer, answer(self));
        document
            .answer
            .say(Topic::OwnRun, [format!(" {}: {}.", verdict(self).label, verdict(self).lines.join(" ")).into()]);
        #[cfg(feature = "plots")]
        document.figure(list(self).figure(&self.rows));
        document.table(settings(self));
        document.table(columns(self));
        document
    }
}

/// Returns the answer on one screen.
fn screen(found: &RunTableEstimate) -> Screen {
    Screen {
        answer: sentence(&answer(found)),
        own_run: Some(verdict(found)),
        tables: vec![settings(found)],
        read_as: read_as(found),
        assumed: found.notes.clone(),
        unknown: found.unknown.clone(),
        next: next(found),
        ..Screen::default()
    }
}

/// Returns the meaning of the columns in words.
fn read_as(found: &RunTableEstimate) -> String {
    let named = |meaning: &str| {
        let columns = found.columns.iter().filter(|column| column.read_as == meaning);
        columns.map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let parts = ["time", "machines", "input size", "kind", "tasks"].map(|meaning| (meaning, named(meaning)));
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(meaning, names)| format!("{meaning} {names}"))
        .collect();
    let unused = named("not used");
    let unused = if unused.is_empty() { String::new() } else { format!(". Not used: {unused}") };
    parts.join(", ") + &unused
}

/// Returns the verdict on the table: how well each setting follows from the others.
fn verdict(found: &RunTableEstimate) -> ScreenVerdict {
    let OwnRunsSummary { left_out, runs, inside, .. } = found.own_runs;
    let line = match left_out {
        Some(settings) => {
            let (settings, runs) = (counted(settings, "setting"), counted(runs, "run"));
            format!("each of {settings} left out: {inside} of {runs} inside the 90% interval")
        }
        None => format!("by the fit to all: {inside} of {} inside the 90% interval", counted(runs, "run")),
    };
    match found.own_runs.is_reproduced() {
        Some(true) => ScreenVerdict { label: ScreenVerdict::REPRODUCED, lines: vec![line] },
        Some(false) => ScreenVerdict { label: ScreenVerdict::MISFIT, lines: vec![line] },
        None => {
            let line = "no setting of the table can be predicted from the others".to_owned();
            ScreenVerdict { label: ScreenVerdict::UNCHECKED, lines: vec![line] }
        }
    }
}

/// Returns the runs that the answer is about: `18.8 GiB on m4.2xlarge`.
fn about(found: &RunTableEstimate) -> String {
    let kind = |(column, value): (&TableColumn, &str)| match value.parse::<f64>() {
        Ok(_) => format!("{} {value}", column.name),
        Err(_) => value.to_owned(),
    };
    let kinds: Vec<String> = found.kinds().map(kind).collect();
    let is_over_sizes = found.rows.first().is_some_and(|row| row.set.get("input_size").is_some());
    let size = found.size.filter(|_| !is_over_sizes).map(|size| size_words(found, size));
    match (size, kinds.is_empty()) {
        (Some(size), true) => size,
        (Some(size), false) => format!("{size} on {}", kinds.join(", ")),
        (None, true) => "the job".to_owned(),
        (None, false) => kinds.join(", "),
    }
}

/// Returns a size in words.
fn size_words(found: &RunTableEstimate, size: f64) -> String {
    match found.question.size_mb {
        Some(mb) => data_size(mb * size),
        None => plain(size),
    }
}

fn settings(found: &RunTableEstimate) -> Table {
    let rows = &found.rows;
    let least = rows.iter().map(|row| row.runs).min().unwrap_or(0);
    let most = rows.iter().map(|row| row.runs).max().unwrap_or(0);
    let runs = match (least, most) {
        (_, 0) => "no run at these settings".to_owned(),
        (1, 1) => "one run each".to_owned(),
        (least, most) if least == most => format!("median of {} each", counted(least, "run")),
        (0, most) => format!("median of up to {} each", counted(most, "run")),
        (least, most) => format!("median of {least} to {} each", counted(most, "run")),
    };
    let (cost, has_price) = (found.question.cost_unit.clone(), found.question.price.is_some());
    let table = Table::of(format!("{}, {runs}", capital(&about(found))), "/rows", rows)
        .unit(field!(PredictedRow, cost), if has_price { cost.clone() } else { String::new() })
        .head(field!(PredictedRow, cost), if has_price { "a run".to_owned() } else { cost })
        .only(shown(found))
        .mark(found.answer.row.filter(|_| found.question.is_about_settings && rows.len() > 1));
    list(found).complete(table, rows)
}

/// Returns the rows that readers see of a long table: at equal distances, and the chosen one.
fn shown(found: &RunTableEstimate) -> Option<Vec<usize>> {
    let last = found.rows.len().checked_sub(1).filter(|last| *last >= FEW)?;
    let mut shown: Vec<usize> =
        (0..FEW).map(|i| i * last / (FEW - 1)).chain(found.answer.row.or(found.answer.closest)).collect();
    shown.sort_unstable();
    shown.dedup();
    Some(shown)
}

/// Returns the meaning of each column, for readers who ask for all details.
fn columns(found: &RunTableEstimate) -> Table {
    let row = |column: &TableColumn| {
        let values = column.values.join(", ");
        let value = column.value.clone().unwrap_or_default();
        vec![Cell::from(column.name.clone()), column.read_as.clone().into(), value.into(), values.into()]
    };
    Table::new("Columns", "", ["column", "read as", "here", "values"])
        .rows(found.columns.iter().map(row))
        .show(Show::Detail)
}

/// Returns what the table is, and how well it predicts itself; or the chosen setting.
fn answer(found: &RunTableEstimate) -> Vec<Piece> {
    if found.question.is_about_settings {
        return chosen(found);
    }
    let question = &found.question;
    let of_kinds = found.kinds().filter(|(column, _)| column.values.len() > 1);
    let kind = |(column, _): (&TableColumn, &str)| match column.values[0].parse::<f64>() {
        Ok(_) => format!("{} values of {}", column.values.len(), column.name),
        Err(_) => counted(column.values.len() as u128, &column.name.replace('_', " ")),
    };
    let kinds = of_kinds.map(kind);
    let machines = question.machines.map(|[least, most]| match least == most {
        true => counted(most, &question.machine),
        false => format!("{least} to {most} {}s", question.machine),
    });
    let sizes = question.sizes.map(|[least, most]| match least < most {
        true => format!("{} to {}", size_words(found, least), size_words(found, most)),
        false => size_words(found, most),
    });
    let parts: Vec<String> = kinds.chain(machines).chain(sizes).collect();
    let tasks = question.tasks.map_or_else(String::new, |tasks| format!(" of {}", counted(tasks, "task")));
    let mut text = format!("{}{tasks}: {}.", counted(question.runs, "run"), parts.join(", "));
    if let Some([half, most]) = found.own_runs.error {
        let percent = |share: f64| format!("{}%", (100.0 * share).ceil());
        let what = if found.own_runs.left_out.is_some() { "A setting left out" } else { "A run of the table" };
        text +=
            &format!(" {what} is predicted within {} (median), {} (nine of ten).", percent(half.0), percent(most.0));
    }
    vec![text.into()]
}

/// Returns the chosen setting with its time.
fn chosen(found: &RunTableEstimate) -> Vec<Piece> {
    let question = &found.question;
    let Some(row) = found.answer.row.or(found.answer.closest) else { return vec!["No setting was estimated.".into()] };
    let (words, plural) = configuration(&found.rows[row].set);
    let within = question.deadline_s.map(|deadline_s| {
        format!("within {} with {}% probability", time_words(deadline_s), plain(100.0 * question.probability))
    });
    let verb = |many: &str, one: &str| if plural { many.to_owned() } else { one.to_owned() };
    let begun = match (&within, found.answer.row) {
        (None, _) if found.rows.len() == 1 => format!("{words}: "),
        (None, _) => format!("{words} {} the fastest: ", verb("are", "is")),
        (Some(within), Some(_)) => {
            format!("{words} {} {within}: ", verb("are the cheapest that finish", "is the cheapest that finishes"))
        }
        (Some(within), None) => format!("No setting finishes {within}. The closest is {words}: "),
    };
    let time = &found.rows[row].time_s;
    let [low, high] = time.ends().unwrap_or([time.value.0; 2]);
    let level = plain(100.0 * question.level.0);
    let time = format!("{} ({level}%: {} to {})", human_time(time.value.0, 3), human_time(low, 3), human_time(high, 3));
    let mut pieces: Vec<Piece> = vec![capital(&begun).into(), time.into()];
    if question.price.is_some()
        && let Some(cost) = Number::of("/rows", &found.rows, row, field!(PredictedRow, cost))
    {
        let cost = Number { unit: question.cost_unit.clone().into(), shown_unit: None, ..cost };
        pieces.extend([", ".into(), cost.three_digits().into(), " a run".into()]);
    }
    if let (Some(_), Some(share)) = (&within, found.rows[row].in_time) {
        pieces.push(format!(", in time with {} probability", percent_text(share.0)).into());
    }
    let about = match about(found) {
        about if about == "the job" => String::new(),
        about => format!(", for {about}"),
    };
    pieces.push(format!("{about}.").into());
    pieces
}

/// Returns the commands for the next questions.
fn next(found: &RunTableEstimate) -> Vec<NextCommand> {
    let question = &found.question;
    let other = found.kinds().find_map(|(column, value)| {
        let other = column.values.iter().find(|other| *other != value)?;
        Some((
            format!(" --only {}={other}", column.name),
            format!("the same for {} {other}", column.name.replace('_', " ")),
        ))
    });
    let mut next = Vec::new();
    if !question.is_about_settings {
        let mut options = String::new();
        if question.sizes.is_some_and(|[least, most]| least < most) {
            options += " --input-size 1.5x";
        }
        let option = if question.machine == "executor" { "executors" } else { "workers" };
        if let Some([least, most]) = question.machines.filter(|[least, most]| least < most) {
            options += &format!(" --{option} {least}..{}", most + most.div_ceil(2));
        }
        let fastest = found.answer.row.and_then(|row| Some(found.rows.get(row)?.time_s.value.0));
        if let Some(time_s) = fastest {
            options += &format!(" --deadline {}s", (1.5 * time_s).ceil());
        }
        next.push(NextCommand::new(format!("tailspn estimate FILE{options}"), "the cheapest setting in time"));
    }
    next.extend(other.map(|(only, gives)| NextCommand::new(format!("tailspn estimate FILE{only}"), &gives)));
    next
}

impl ListRow for PredictedRow {
    const TIME: usize = field!(PredictedRow, time_s);
    const IN_TIME: usize = field!(PredictedRow, in_time);

    fn time_s(&self) -> Between<Seconds> {
        self.time_s
    }

    fn in_time(&self) -> Option<Share> {
        self.in_time
    }
}

/// Returns the question of the list.
fn list(found: &RunTableEstimate) -> ListQuestion {
    ListQuestion {
        chosen: found.answer.row,
        deadline_s: found.question.deadline_s,
        probability: found.question.probability,
        level: found.question.level.0,
    }
}
