//! The document of an estimate of a MapReduce job.

use crate::document::parts::{
    TimeFound, add_times, ends, partial, provenance_rows, rows_table, seconds_text, times_table, wall,
};
use crate::document::{Cell, Column, Document, Figure, NextCommand, Number, Paragraph, Report, Show, Table, Topic};
use crate::estimate::Measured;
use crate::mapreduce::MEASURED;
use crate::report::bar_rows::BarRow;
use crate::report::critical_bar::critical_bar;
use crate::report::deadline::add_deadline;
use crate::report::explained::{TimePart, changes_table, slots_table, where_it_goes};
use crate::report::job::{JobReport, PhaseRow};
use crate::report::next_run::NextRun;
use crate::report::number::{count, counted, plain};
use crate::report::own_run::{sentence, warning};
use crate::report::times::Times;

impl Report for JobReport {
    const KIND: &'static str = "estimate";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let simulated = self.job_time.as_ref().map(|time| TimeFound::distribution("/job_time", time));
        let exact = self.analytic.as_ref().map(TimeFound::analytic);
        let best = exact.as_ref().or(simulated.as_ref());
        let job = &self.job;
        let mut document = Document {
            kind: "estimate of a job",
            title: job.name.clone(),
            question: format!(
                "Time of {} and {} on {}{}.",
                counted(job.maps, "map task"),
                counted(job.reduces, "reduce task"),
                counted(job.workers, "worker"),
                if job.slots { ", with tasks that wait for slots" } else { ", without slots" }
            ),
            answer: answer(self, best),
            headline: best.map(TimeFound::headline),
            plan: self.plan.clone(),
            next: ["tailspn whatif PLAN.toml", "tailspn study PLAN.toml"]
                .map(|command| NextCommand::new(command, ""))
                .to_vec(),
            provenance: provenance(self),
            screen: Some(self.screen(best)),
            ..Document::default()
        };
        document.table(self.next_run.as_ref().map(NextRun::table).unwrap_or_default());
        add_deadline(&mut document, self.deadline.as_ref(), self.level);
        document.answer.say(Topic::Assumed, self.assumed.sentence(MEASURED.len()));
        document.remarks.extend(partial(self.partial, self.replications));
        document.remarks.extend(self.no_analytic.iter().map(|why| format!("There is no closed form: {why}.")));
        document.remarks.extend(self.no_critical.iter().map(|why| format!("There is no critical path: {why}.")));
        document.figure(critical(self));
        document.add_changes(changes_table(&self.changes, self.level));
        document.figure(waterfall(self));
        let methods = [
            exact.as_ref().map(|time| ("exact", "job_time_analytic", time)),
            simulated.as_ref().map(|time| ("simulated", "job_time", time)),
        ];
        let methods: Vec<_> = methods.into_iter().flatten().collect();
        document.table(times_table("Job time", self.level, &methods));
        let times = match (&self.job_time, &self.analytic) {
            (Some(time), exact) => Some(Times::new("job time", time, exact.as_ref())),
            (None, Some(exact)) => Some(Times::exact("job time", exact)),
            (None, None) => None,
        };
        if let Some(times) = times {
            add_times(&mut document, times, self.job_time.as_ref());
        }
        document.table(slots_table(&self.slot_use));
        document.table(phases(self));
        let title = "Cost of stragglers and copies, per run";
        document.table(rows_table(title, self.level, "/attempts", "attempts", &self.attempts));
        if let Some(cost) = self.time_cost {
            document.fact("time_cost_ratio", Number::new("/time_cost/ratio", cost.ratio, ""));
        }
        document
    }
}

/// Returns the answer: a misfit comes first; where the time goes and the check of the plan follow.
fn answer(report: &JobReport, best: Option<&TimeFound>) -> Paragraph {
    let mut paragraph = Paragraph::default();
    paragraph.say(Topic::OwnRun, warning(&report.own_run));
    let mut typical = best.map(|time| time.answer("the runs")).unwrap_or_default();
    let mut parts = where_it_goes(parts(report));
    if let Some(next) = &report.next_run {
        paragraph.say(Topic::Answer, next.answer());
        if report.own_run.is_misfit() {
            // times of typical runs have intervals that are too narrow
            (typical, parts) = (Vec::new(), Vec::new());
        } else if !typical.is_empty() || !parts.is_empty() {
            paragraph.say(Topic::Answer, [" Of typical runs, ".into()]);
        }
    }
    paragraph.say(Topic::Answer, typical);
    paragraph.say(Topic::Where, parts);
    paragraph.say(Topic::OwnRun, sentence(&report.own_run));
    paragraph
}

/// Returns the parts of the job time, for a sentence.
fn parts(report: &JobReport) -> Vec<(String, String, f64)> {
    let of_phase = |(i, phase): (usize, &PhaseRow)| {
        Some((format!("/phases/{i}/critical/share"), phase.name.to_string(), phase.critical.as_ref()?.share))
    };
    let of_wait = |(i, wait): (usize, &TimePart)| {
        (format!("/waits/{i}/critical/share"), wait.name.to_string(), wait.critical.share)
    };
    let phases = report.phases.iter().enumerate().filter_map(of_phase);
    phases.chain(report.waits.iter().enumerate().map(of_wait)).collect()
}

/// Draws when each phase runs; if tasks wait for slots, so that the phases of many waves overlap, when maps and reduces run.
fn waterfall(report: &JobReport) -> Figure<'static> {
    let value = |time: &Option<Measured>| time.as_ref().map(|time| time.value);
    let find = |name: &str| report.phases.iter().find(|phase| *phase.name == *name);
    let last = |name: &str| find(name).and_then(|phase| value(&phase.last_done)).unwrap_or(0.0);
    let is_once = |phase: &PhaseRow| ["load", "shuffle"].contains(&&*phase.name);
    let mut rows = Vec::new();
    for (i, phase) in report.phases.iter().enumerate() {
        let Some(done) = &phase.last_done else { continue };
        // the shuffle waits for all maps, every other phase for the previous phase of its own task
        let before = i.checked_sub(1).and_then(|i| report.phases.get(i));
        let start =
            before.and_then(|before| value(if is_once(phase) { &before.last_done } else { &before.first_done }));
        let (name, start) = match &*phase.name {
            _ if !report.job.slots || is_once(phase) => (format!("{} {}", phase.number, phase.name), start),
            "spill" => ("maps".to_owned(), Some(last("load"))),
            "reduce" => ("reduces".to_owned(), Some(last("shuffle"))),
            _ => continue,
        };
        rows.push(BarRow {
            name,
            bar: [start.unwrap_or(0.0), done.value],
            interval: ends(done),
            marks: value(&phase.first_done).into_iter().filter(|_| phase.tasks > 1).collect(),
            text: seconds_text(done.value),
            ..BarRow::default()
        });
    }
    let caption = "Each bar starts when the first task starts and ends when the last task has ended, on average over the runs. \
                   Orange mark: the first task has ended. Thin line: interval of the end.";
    Figure::bars("waterfall", "What runs when", caption, "time since the start of the job [s]", rows)
}

/// Draws each phase's share of the critical path.
fn critical(report: &JobReport) -> Figure<'static> {
    let of_phase =
        |phase: &PhaseRow| Some(critical_bar(format!("{} {}", phase.number, phase.name), phase.critical.as_ref()?));
    let of_wait = |wait: &TimePart| critical_bar(wait.name.to_string(), &wait.critical);
    let caption = "A run takes as long as its critical path. Each bar is the average time on the critical path that is spent in a phase, in seconds \
                   and as a share. If a phase with a share of 40% gets 1% longer, the job gets 0.4% longer.";
    let rows = report.phases.iter().filter_map(of_phase).chain(report.waits.iter().map(of_wait)).collect();
    Figure::bars("critical", "Where the time goes", caption, "time on the critical path [s]", rows)
}

fn phases(report: &JobReport) -> Table {
    let differ = report.phases.iter().any(|phase| phase.min_s < phase.max_s);
    let differing = if differ { Show::Room } else { Show::Csv };
    let seconds = |title: &str, key: &'static str| Column::new(title).unit("s").key(key);
    let columns = [
        Column::new("phase"),
        Column::new("tasks"),
        seconds("mean of a task", "phase_mean"),
        seconds("shortest", "").show(differing),
        seconds("longest", "").show(differing),
        Column::new("distribution"),
        seconds("first task done", "phase_first_done"),
        seconds("last task done", "phase_last_done"),
        seconds("on the critical path", "critical_time"),
        Column::new("s per s"),
    ];
    let has_sensitivity =
        report.phases.iter().any(|phase| phase.critical.as_ref().is_some_and(|share| share.sensitivity.is_some()));
    let note = if has_sensitivity {
        "`s per s`: by how many seconds the job gets longer if the phase's mean gets one second longer."
    } else {
        ""
    };
    let title = if report.phases.len() == 9 { "The nine phases" } else { "The phases" };
    let mut table = Table::new(title, note, columns).level(report.level);
    for (i, phase) in report.phases.iter().enumerate() {
        let at = |key: &str| format!("/phases/{i}/{key}");
        let seconds = |key: &str, value: f64| Number::new(at(key), value, "s").into();
        let measured = |key: &str, value: Option<&Measured>| -> Cell {
            value.map(|value| Number::measured(at(key), value, "s")).into()
        };
        let critical = phase.critical.as_ref();
        let sensitivity = critical.and_then(|share| share.sensitivity);
        table.rows.push(vec![
            Cell::named(format!("{} {}", phase.number, phase.name), &*phase.name),
            Number::count(at("tasks"), phase.tasks as u64).into(),
            seconds("mean_s", phase.mean_s),
            seconds("min_s", phase.min_s),
            seconds("max_s", phase.max_s),
            phase.law.name().into(),
            measured("first_done", phase.first_done.as_ref()),
            measured("last_done", phase.last_done.as_ref()),
            measured("critical/time", critical.map(|share| &share.time)),
            sensitivity.map(|value| Number::new(at("critical/sensitivity"), value, "").rounded(0.5)).into(),
        ]);
    }
    // columns that no phase has a number for
    for column in 6..table.columns.len() {
        if table.rows.iter().all(|row| row[column] == Cell::Empty) {
            table.columns[column].show = Show::Csv;
        }
    }
    table
}

fn provenance(report: &JobReport) -> Vec<[String; 2]> {
    let mut rows = match &report.provenance {
        Some(provenance) => provenance_rows(provenance),
        None => vec![["tailspn".to_owned(), report.version.to_string()]],
    };
    if report.provenance.is_none() {
        rows.extend(report.method.folding());
    }
    rows.insert(1, ["method".to_owned(), report.method.used.name().to_owned()]);
    if report.replications > 0 {
        rows.insert(2, ["replications".to_owned(), count(report.replications.into())]);
    }
    rows.extend(report.time_cost.map(|cost| {
        let share = plain(100.0 * cost.ratio);
        ["time of the estimate".to_owned(), format!("{}, {share}% of the job time", wall(cost.estimate_s))]
    }));
    rows
}
