//! The section of an estimate of a MapReduce job.

use crate::document::parts::{
    TimeFound, add_times, ends, interval_note, partial, provenance_rows, rows_table, times_table, wall,
};
use crate::document::{Cell, Document, Number, Piece, Table};
use crate::report::job::{JobReport, PhaseRow};
use crate::report::number::{count, counted, plain};
use crate::report::plot::PlotError;
use crate::report::rows_plot::{BarRow, rows_picture};
use crate::report::times_plot::Times;

/// What an estimate found.
pub(super) fn section(report: &JobReport) -> Result<Document<'static>, PlotError> {
    let simulated = report.job_time.as_ref().map(|time| TimeFound::distribution("/job_time", time));
    let exact = report.analytic.as_ref().map(TimeFound::analytic);
    let best = exact.as_ref().or(simulated.as_ref());
    let job = &report.job;
    let mut section = Document {
        kind: "estimate of a job",
        title: job.name.clone(),
        question: format!(
            "How long do {} and {} take on {}{}?",
            counted(job.maps, "map task"),
            counted(job.reduces, "reduce task"),
            counted(job.workers, "worker"),
            if job.slots { ", with tasks that wait for slots" } else { ", all tasks at once" }
        ),
        answer: best.map(|time| time.answer("the runs")).unwrap_or_default(),
        headline: best.map(TimeFound::headline),
        plan: report.plan.clone(),
        ..Document::default()
    };
    section.answer.extend(where_it_goes(report));
    section.remarks.extend(partial(report.partial, report.replications));
    section.remarks.extend(report.no_analytic.iter().map(|why| format!("There is no exact job time: {why}.")));
    section.remarks.extend(report.no_critical.iter().map(|why| format!("There is no critical path: {why}.")));
    waterfall(&mut section, report)?;
    let times = match (&report.job_time, &report.analytic) {
        (Some(time), law) => Some(Times::new("job time", time, law.as_ref())),
        (None, Some(law)) => Some(Times::exact("job time", law)),
        (None, None) => None,
    };
    times.iter().try_for_each(|times| add_times(&mut section, times))?;
    let ways: Vec<(&str, &TimeFound)> =
        [exact.as_ref().map(|time| ("exact", time)), simulated.as_ref().map(|time| ("simulated", time))]
            .into_iter()
            .flatten()
            .collect();
    section.table(times_table("Job time", report.level, &ways));
    section.table(phases(report));
    section.table(rows_table("What attempts cost, per run", report.level, "/attempts", &report.attempts));
    section.provenance = provenance(report);
    Ok(section)
}

/// The two phases with the largest shares of the critical path.
fn where_it_goes(report: &JobReport) -> Vec<Piece> {
    let mut shares: Vec<(usize, &PhaseRow, f64)> = Vec::new();
    for (i, phase) in report.phases.iter().enumerate() {
        shares.extend(phase.critical.as_ref().map(|critical| (i, phase, critical.share)));
    }
    shares.sort_by(|a, b| b.2.total_cmp(&a.2));
    let share = |&(i, phase, share): &(usize, &PhaseRow, f64)| {
        let number = Number::new(format!("/phases/{i}/critical/share"), share, "").percent();
        [Piece::from(format!("{} (", phase.name)), rounded(number).into(), ")".into()]
    };
    let [first, second, ..] = &shares[..] else { return Vec::new() };
    let mut pieces = vec![" Most of the time goes into ".into()];
    pieces.extend(share(first));
    pieces.push(" and ".into());
    pieces.extend(share(second));
    pieces.push(".".into());
    pieces
}

/// A share without an interval, to a tenth of a percent.
fn rounded(number: Number) -> Number {
    Number { digits_of: Some(0.05), ..number }
}

/// When each phase runs, and what part of the critical path it is.
fn waterfall(section: &mut Document<'_>, report: &JobReport) -> Result<(), PlotError> {
    let value = |time: &Option<crate::estimate::Measured>| time.as_ref().map(|time| time.value);
    let mut rows = Vec::new();
    for (i, phase) in report.phases.iter().enumerate() {
        let Some(last) = &phase.last_done else { continue };
        // the shuffle waits for all maps, every other phase for its own task's last one
        let before = i.checked_sub(1).and_then(|i| report.phases.get(i));
        let start = before
            .and_then(|before| if phase.number == 7 { value(&before.last_done) } else { value(&before.first_done) });
        rows.push(BarRow {
            name: format!("{} {}", phase.number, phase.name),
            bar: [start.unwrap_or(0.0), last.value],
            interval: ends(last),
            marks: value(&phase.first_done).into_iter().filter(|_| phase.tasks > 1).collect(),
            text: format!("{} s", plain((last.value * 100.0).round() / 100.0)),
            ..BarRow::default()
        });
    }
    let picture = rows_picture("waterfall", "time since the start of the job [s]", &rows)?;
    let caption = "A bar reaches from when the first task begins a phase to when the last task has done it, on average over the runs; \
                   the orange mark is when the first task has done it, the black line the interval of the end.";
    section.drawn(picture, "What runs when", caption);
    let mut rows: Vec<BarRow> = Vec::new();
    for phase in &report.phases {
        let Some(critical) = &phase.critical else { continue };
        rows.push(BarRow {
            name: format!("{} {}", phase.number, phase.name),
            bar: [0.0, critical.time.value],
            interval: ends(&critical.time),
            text: format!("{:.1} %", 100.0 * critical.share),
            ..BarRow::default()
        });
    }
    let picture = rows_picture("critical", "time on the critical path [s]", &rows)?;
    let caption = "A run takes as long as its critical path; each bar is the part of it that is spent in a phase, on average. A phase that \
                   gets 1 % longer makes the job longer by 1 % of its share.";
    section.drawn(picture, "Where the time goes", caption);
    Ok(())
}

fn phases(report: &JobReport) -> Table {
    let note = format!("Times in seconds. {}", interval_note(report.level));
    let head = [
        "phase",
        "tasks",
        "mean of a task",
        "law",
        "first task done",
        "last task done",
        "on the critical path",
        "s per s",
    ];
    let mut table = Table::new("The nine phases", note, &head);
    for (i, phase) in report.phases.iter().enumerate() {
        let quantity = |name: &str, quantity: &Option<crate::estimate::Measured>| -> Cell {
            quantity.as_ref().map(|quantity| Number::measured(format!("/phases/{i}/{name}"), quantity, "")).into()
        };
        let critical = phase.critical.as_ref();
        table.rows.push(vec![
            format!("{} {}", phase.number, phase.name).into(),
            Number::count(format!("/phases/{i}/tasks"), phase.tasks as u64).into(),
            Number::new(format!("/phases/{i}/mean_s"), phase.mean_s, "").into(),
            phase.law.to_string().into(),
            quantity("first_done", &phase.first_done),
            quantity("last_done", &phase.last_done),
            critical.map(|share| Number::measured(format!("/phases/{i}/critical/time"), &share.time, "")).into(),
            critical
                .and_then(|share| share.sensitivity)
                .map(|value| Number {
                    digits_of: Some(0.05),
                    ..Number::new(format!("/phases/{i}/critical/sensitivity"), value, "")
                })
                .into(),
        ]);
    }
    table
}

fn provenance(report: &JobReport) -> Vec<[String; 2]> {
    let mut rows = match &report.provenance {
        Some(provenance) => provenance_rows(provenance),
        None => vec![["tailspn".to_owned(), report.version.to_string()]],
    };
    rows.insert(1, ["method".to_owned(), report.method.used.to_string()]);
    if report.replications > 0 {
        rows.insert(2, ["replications".to_owned(), count(report.replications.into())]);
    }
    rows.extend(report.time_cost.map(|cost| ["time of the estimate".to_owned(), wall(cost.estimate_s)]));
    rows
}
