//! The document of a log: the runs and their times, bounds of the time, stragglers, speculative copies, nodes.

use std::collections::BTreeSet;

use crate::document::parts::{MOST as MOST_ROWS, cut, files};
use crate::document::{Block, Cell, Column, Document, Figure, Number, Piece, Report, Show, Table};
use crate::estimate::Measured;
use crate::report::bar_rows::BarRow;
use crate::report::number::{count, counted};
use crate::report::trace_rows::{ApplicationRow, BoundsRow, StageRow, StragglerRow, TimelineRow, TraceReport};
use crate::trace::analysis;
use crate::trace::utc_text;

/// GiB per byte.
const GIB: f64 = 1.0 / 1_073_741_824.0;

impl Report for TraceReport {
    const KIND: &'static str = "trace";

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "log of jobs",
            title: self.title(),
            question: "Stages and tasks of the run, and lower bounds of its time.".to_owned(),
            answer: self.answer().into(),
            remarks: self.remarks(),
            provenance: vec![files(&self.files), ["expected times".to_owned(), self.usual.to_string()]],
            ..Document::default()
        };
        document.provenance.extend(self.origin_unix_s.map(|origin| ["started".to_owned(), utc_text(origin)]));
        document.table(self.summary());
        #[cfg(feature = "plots")]
        document.figure(self.waterfall());
        document.blocks.extend(self.timeline.as_ref().map(|timeline| Block::Figure(timeline_figure(timeline))));
        document.blocks.extend(self.bars().map(Block::Figure));
        document.table(self.bounds());
        document.table(self.stages());
        if self.stages.iter().any(|stage| stage.gpu.is_some()) {
            document.table(self.gpus());
        }
        document.table(self.queries());
        document.table(self.stragglers());
        document.blocks.extend(self.copies());
        document.table(self.nodes());
        document
    }
}

impl ApplicationRow {
    fn title(&self) -> &str {
        let name = if self.name.is_empty() { &self.id } else { &self.name };
        if name.is_empty() { "an application without a name" } else { name }
    }
}

/// A lower bound: key in the JSON, name in bars and columns, and value.
type Bound = (&'static str, &'static str, f64);

impl BoundsRow {
    /// Returns the lower bounds. Without stated dependencies, only jobs have an order.
    fn all(&self) -> [Bound; 4] {
        let chain = if self.knows_dependencies { "longest chain of stages" } else { "work whose order is known" };
        [
            ("by_slots_s", "all work spread over all slots", self.by_slots_s),
            ("by_critical_path_s", chain, self.by_critical_path_s),
            ("by_longest_task_s", "longest task", self.by_longest_task_s),
            ("by_driver_s", "no task running", self.by_driver_s),
        ]
    }

    /// Returns the largest bound. If the log does not state dependencies, a critical path that is no longer than the
    /// longest task is reported as the longest task.
    fn largest_bound(&self) -> Bound {
        let [slots, chain, task, driver] = self.all();
        match self.largest {
            analysis::Bound::Slots => slots,
            analysis::Bound::CriticalPath if self.knows_dependencies || chain.2 > task.2 => chain,
            analysis::Bound::CriticalPath | analysis::Bound::LongestTask => task,
            analysis::Bound::Driver => driver,
        }
    }
}

impl TraceReport {
    fn title(&self) -> String {
        match self.applications.as_slice() {
            [one] if one.id.is_empty() || one.name.is_empty() => one.title().to_owned(),
            [one] => format!("{} ({})", one.name, one.id),
            several => counted(several.len() as u64, "application"),
        }
    }

    /// Returns the application that took longest, by its position, and its bounds.
    fn longest(&self) -> Option<(usize, &BoundsRow)> {
        let bounded = self.applications.iter().enumerate().filter_map(|(i, row)| Some((i, row.bounds.as_ref()?)));
        bounded.max_by(|(_, a), (_, b)| a.span_s.total_cmp(&b.span_s))
    }

    /// Returns positions of applications with a job without an end.
    fn open(&self) -> BTreeSet<usize> {
        self.jobs.iter().filter(|job| job.completed_s.is_none()).map(|job| job.application).collect()
    }

    /// Returns the time of an application: a lower bound if one of its jobs has no end.
    fn took(&self, i: usize, bounds: &BoundsRow, open: &BTreeSet<usize>) -> Number {
        let is_open = self.partial || open.contains(&i);
        let span =
            if is_open { Measured::at_least(bounds.span_s) } else { Measured::between(bounds.span_s, None, None) };
        Number::measured(format!("/applications/{i}/bounds/span_s"), &span, "s").brief()
    }

    fn answer(&self) -> Vec<Piece> {
        let Some((i, bounds)) = self.longest() else { return Vec::new() };
        let (key, what, value) = bounds.largest_bound();
        let slow = self.stragglers.iter().filter(|row| row.over_median).count();
        let who = if self.applications.len() > 1 {
            format!("Application `{}`", self.applications[i].title())
        } else {
            "It".to_owned()
        };
        vec![
            format!("{who} took ").into(),
            self.took(i, bounds, &self.open()).into(),
            format!(". The largest lower bound: {what}, ").into(),
            Number::new(format!("/applications/{i}/bounds/{key}"), value, "s").brief().into(),
            format!(". {} took more than 1.5 times the median of the stage.", counted(slow as u64, "attempt")).into(),
        ]
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.partial {
            remarks.push("Reading was stopped early: the end of the log is missing.".to_owned());
        }
        remarks.extend(self.warnings.iter().map(|warning| format!("{}: {}", warning.first, warning.text)));
        if self.jobs.iter().any(|job| job.completed_s.is_none()) {
            remarks.push("Some jobs have no end in the log; times with ≥ are lower bounds.".to_owned());
        }
        if self.applications.iter().filter_map(|row| row.bounds.as_ref()).any(|bounds| !bounds.knows_dependencies) {
            remarks.push(
                "The log does not state the dependencies of all stages; other stages count as independent.".to_owned(),
            );
        }
        remarks
    }

    /// Counts of jobs, stages, tasks, attempts and data.
    fn summary(&self) -> Table {
        let format = self.format.text();
        let version = match self.applications.as_slice() {
            [one] => one.version.as_ref().map_or_else(String::new, |version| format!(", Spark {version}")),
            _ => String::new(),
        };
        let failed = self.jobs.iter().filter(|job| job.succeeded == Some(false)).count();
        let open = self.jobs.iter().filter(|job| job.completed_s.is_none()).count();
        let mut jobs = count(self.jobs.len() as u128);
        for (number, what) in [(failed, "failed"), (open, "without an end")] {
            if number > 0 {
                jobs += &format!(", {} {what}", count(number as u128));
            }
        }
        let tasks: u64 = self.stages.iter().map(|stage| stage.tasks_done).sum();
        let attempts: u64 = self.outcomes.iter().map(|row| row.attempts).sum();
        let outcome = |row: &crate::report::OutcomeRow| {
            format!("{} {}", count(row.attempts.into()), row.outcome.key().replace('_', " "))
        };
        let outcomes: Vec<String> = self.outcomes.iter().map(outcome).collect();
        let moved = self.amounts.iter().filter(|row| row.sum > 0.0).filter_map(|row| {
            let name = row.metric.strip_suffix("_bytes")?;
            Some(format!("{} {}", name.replace('_', " "), size(row.sum)))
        });
        let colon = if outcomes.is_empty() { "" } else { ": " };
        let mut rows = vec![
            ("log", format!("{format}{version}; {}", counted(self.events, "event"))),
            ("jobs", jobs),
            ("stages", format!("{} with {}", count(self.stages.len() as u128), counted(tasks, "completed task"))),
            ("attempts", format!("{}{colon}{}", count(attempts.into()), outcomes.join(", "))),
        ];
        if let [one] = self.applications.as_slice() {
            let at_least = if one.slots_stated { "" } else { "≥ " };
            let why = if one.slots_stated {
                ""
            } else {
                " (largest number of simultaneous attempts; the log does not state cores)"
            };
            rows.push(("slots", format!("{at_least}{}{why}", count(one.slots.into()))));
        }
        rows.push(("data", moved.collect::<Vec<_>>().join(", ")));
        let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
        Table::fields("").rows(rows.map(|(name, value)| vec![name.into(), value.into()]))
    }

    fn stage_name(&self, stage: &StageRow) -> String {
        let again = if stage.attempt > 0 { format!(".{}", stage.attempt) } else { String::new() };
        let name = stage.name.lines().next().unwrap_or("");
        format!("{}{}{again} {name}", self.application(stage.application), stage.number).trim_end().to_owned()
    }

    /// Returns the prefix of a stage's number: its application, if there are several.
    fn application(&self, position: usize) -> String {
        if self.applications.len() > 1 { format!("{position}/") } else { String::new() }
    }

    #[cfg(feature = "plots")]
    fn waterfall(&self) -> Figure<'_> {
        use crate::report::bar_rows::{ENDS, MOST};
        let ends = |stage: &StageRow| stage.submitted_s.zip(stage.completed_s);
        let left = self.stages.iter().filter(|stage| ends(stage).is_some()).count().saturating_sub(MOST);
        let mut caption = format!("Each bar goes from the submission of a stage to its end. {ENDS}");
        if left > 0 {
            caption += &format!(" The last {} are not drawn.", counted(left as u64, "stage"));
        }
        Figure::new("Stages over time", caption).drawn(move || {
            let row = |stage| {
                let (start, end) = ends(stage)?;
                let text = Number::new("", end, "s").brief().text();
                Some(BarRow { name: self.stage_name(stage), bar: [start, end], text, ..BarRow::default() })
            };
            let rows: Vec<BarRow> = self.stages.iter().filter_map(row).collect();
            crate::report::rows_plot::rows_picture("waterfall", "time since the start of the log [s]", &rows)
        })
    }

    /// Returns the time of the longest application and its lower bounds as bars.
    fn bars(&self) -> Option<Figure<'_>> {
        let (i, bounds) = self.longest()?;
        let bar = |name: &str, number: &Number| BarRow {
            name: name.to_owned(),
            bar: [0.0, number.measured.value],
            text: number.text(),
            ..BarRow::default()
        };
        let mut rows = vec![bar("took", &self.took(i, bounds, &self.open()))];
        rows.extend(bounds.all().map(|(_, what, value)| bar(what, &Number::new("", value, "s").brief())));
        if !bounds.knows_dependencies && bounds.by_critical_path_s <= bounds.by_longest_task_s {
            rows.remove(2);
        }
        let title = format!("Lower bounds of the time of {}", self.applications[i].title());
        let caption = "The first bar is the actual time. With these tasks and slots, the time cannot be shorter than any of the other bars.";
        Some(Figure::bars("bounds", title, caption, "time [s]", rows))
    }

    /// Returns the bounds of all applications; for a single application, a figure shows the bounds instead.
    fn bounds(&self) -> Table {
        let columns = [
            Column::new("application"),
            Column::new("slots").show(Show::Room),
            Column::new("took"),
            Column::new("all work"),
            Column::new("longest chain"),
            Column::new("longest task"),
            Column::new("no task running"),
        ];
        let note = "In seconds. All work: the time if all work is spread evenly over all slots. The last four columns are lower bounds of the time.";
        let mut table = Table::new("Lower bounds of the time", note, columns);
        let open = self.open();
        for (i, row) in self.applications.iter().enumerate() {
            let Some(bounds) = &row.bounds else { continue };
            let at = format!("/applications/{i}");
            let slots = row.slots as f64;
            let slots = if row.slots_stated { Measured::exact(slots, 0.0) } else { Measured::at_least(slots) };
            let mut cells = vec![row.title().into(), Number::measured(format!("{at}/slots"), &slots, "").into()];
            cells.push(Number { unit: "".into(), ..self.took(i, bounds, &open) }.into());
            cells.extend(bounds.all().map(|(key, _, value)| -> Cell {
                let is_known = key != "by_critical_path_s" || bounds.knows_dependencies;
                is_known.then(|| Number::new(format!("{at}/bounds/{key}"), value, "").brief()).into()
            }));
            table.rows.push(cells);
        }
        if table.rows.iter().all(|row| row[4] == Cell::Empty) {
            table.columns[4].show = Show::Csv;
        }
        let show = if self.applications.len() > 1 { Show::Always } else { Show::Detail };
        cut(table.show(show))
    }

    fn stages(&self) -> Table {
        let columns = [
            Column::new("stage"),
            Column::new("tasks"),
            Column::new("waves").show(Show::Room),
            Column::new("median"),
            Column::new("p95"),
            Column::new("longest"),
            Column::new("> 1.5 m"),
            Column::new("> 1.2 e"),
            Column::new("shortest").show(Show::Room),
            Column::new("failures").show(Show::Room),
            Column::new("copies").show(Show::Room),
            Column::new("p25").show(Show::Detail),
            Column::new("p75").show(Show::Detail),
        ];
        let note = format!(
            "Times of tasks in seconds. Waves: tasks per slot. > 1.5 m: attempts longer than 1.5 times the stage's median (Mantri). > 1.2 e: attempts longer than 1.2 times the expected time (Phan et al.). Expected times: {}.",
            self.usual
        );
        let mut table = Table::new("Task times", note, columns);
        let mut order: Vec<_> = self.stages.iter().enumerate().filter(|(_, stage)| stage.attempts > 0).collect();
        if order.len() > MOST_ROWS {
            let total = |stage: &StageRow| stage.times_s.map_or(0.0, |times| times.total);
            order.sort_by(|(_, a), (_, b)| total(b).total_cmp(&total(a)));
            table.note += " The stages with the most work come first.";
        }
        for (i, stage) in order {
            let at = |key: &str| format!("/stages/{i}/{key}");
            let number = |key: &str, value: u64| Cell::from(Number::count(at(key), value));
            let times = stage.times_s.as_ref();
            let time = |key: &str, value: Option<f64>| -> Cell {
                value.map(|value| Number::new(at(&format!("times_s/{key}")), value, "").brief()).into()
            };
            let tasks = stage.tasks.map_or(("tasks_done", stage.tasks_done), |tasks| ("tasks", tasks.into()));
            table.rows.push(vec![
                self.stage_name(stage).into(),
                number(tasks.0, tasks.1),
                stage.waves.map(|waves| Number::new(at("waves"), waves, "").rounded(1.0)).into(),
                time("median", times.map(|times| times.median)),
                time("p95", times.map(|times| times.p95)),
                time("max", times.map(|times| times.max)),
                number("over_median", stage.over_median),
                number("over_usual", stage.over_usual),
                time("min", times.map(|times| times.min)),
                number("failures", stage.failures),
                number("copies", stage.copies),
                time("p25", times.map(|times| times.p25)),
                time("p75", times.map(|times| times.p75)),
            ]);
        }
        cut(table)
    }

    /// Returns times of stages on GPUs.
    fn gpus(&self) -> Table {
        let columns = [
            Column::new("stage"),
            Column::new("attempts"),
            Column::new("waiting"),
            Column::new("predicted"),
            Column::new("holding"),
            Column::new("retries").show(Show::Room),
            Column::new("retrying"),
            Column::new("spilling"),
            Column::new("peak [GiB]").show(Show::Room),
        ];
        let note = "Total times of all attempts in seconds, by column: all time; waiting for a GPU permit; the predicted wait, from the other times and the number of permits; holding a permit; work that was blocked or retried for lack of memory; moving data to the host and back.";
        let mut table = Table::new("GPUs", note, columns);
        let mut order: Vec<_> =
            self.stages.iter().enumerate().filter_map(|(i, stage)| Some((i, stage, stage.gpu?))).collect();
        order.sort_by(|a, b| b.2.attempts_s.total_cmp(&a.2.attempts_s));
        for (i, stage, gpu) in order {
            let at = |key: &str| format!("/stages/{i}/gpu/{key}");
            let time = |key: &str, value: Option<f64>| -> Cell {
                value.map(|value| Number::new(at(key), value, "").brief()).into()
            };
            table.rows.push(vec![
                self.stage_name(stage).into(),
                time("attempts_s", Some(gpu.attempts_s)),
                time("wait_s", gpu.wait_s),
                time("predicted_wait_s", gpu.predicted_wait_s),
                time("hold_s", gpu.hold_s),
                gpu.retries.map(|retries| Number::count(at("retries"), retries)).into(),
                time("retry_s", gpu.retry_s),
                time("spill_s", gpu.spill_s),
                gpu.peak_bytes
                    .map(|peak| Number::new(at("peak_bytes"), peak, "").shown_in("", GIB).rounded(0.1))
                    .into(),
            ]);
        }
        cut(table)
    }

    /// Returns the stages that are part of a described query or job; without any, the table is empty and not shown.
    fn queries(&self) -> Table {
        let columns = [Column::new("stage"), Column::new("query or job"), Column::new("operators")];
        let note = "Descriptions come from the program or its SQL. Operators: the operators of the query's final plan that ran in the stage, in data order.";
        let mut table = Table::new("Queries of the stages", note, columns);
        let is_described = |stage: &&StageRow| stage.description.is_some() || !stage.operators.is_empty();
        for stage in self.stages.iter().filter(|stage| stage.attempts > 0).filter(is_described) {
            let number = stage.sql_execution.map(|number| format!("SQL {number}"));
            let what: Vec<&str> = number.as_deref().into_iter().chain(stage.description.as_deref()).collect();
            let operators = stage.operators.join(" → ");
            let again = if stage.attempt > 0 { format!(".{}", stage.attempt) } else { String::new() };
            let name = format!("{}{}{again}", self.application(stage.application), stage.number);
            table.rows.push(vec![name.into(), what.join(": ").into(), operators.into()]);
        }
        cut(table)
    }

    fn stragglers(&self) -> Table {
        let columns = ["attempt", "node", "time [s]", "medians", "outcome"];
        let number =
            |is: fn(&StragglerRow) -> bool| count(self.stragglers.iter().filter(|row| is(row)).count() as u128);
        let note = format!(
            "{} longer than 1.5 times the stage's median, {} longer than 1.2 times the expected time. ≥: the attempt was killed, or has no end in the log.",
            number(|row| row.over_median),
            number(|row| row.over_usual)
        );
        let mut table = Table::new("Stragglers, the longest first", note, columns);
        for (i, row) in self.stragglers.iter().enumerate() {
            let again = if row.attempt > 0 { format!(".{}", row.attempt) } else { String::new() };
            let copy = if row.speculative { ", a copy" } else { "" };
            let number = |key: &str, value: f64| {
                let measured =
                    if row.at_least { Measured::at_least(value) } else { Measured::between(value, None, None) };
                Number::measured(format!("/stragglers/{i}/{key}"), &measured, "")
            };
            table.rows.push(vec![
                format!("stage {}{}, task {}{again}", self.application(row.application), row.stage, row.task).into(),
                row.node.clone().into(),
                number("time_s", row.time_s).brief().into(),
                row.medians.map(|medians| number("medians", medians).rounded(0.1)).into(),
                format!("{}{copy}", row.outcome.key().replace('_', " ")).into(),
            ]);
        }
        cut(table)
    }

    /// Returns the outcome of speculative copies.
    fn copies(&self) -> Option<Block<'_>> {
        let copies = &self.copies;
        if self.outcomes.is_empty() {
            return None;
        }
        if copies.started == 0 {
            return Some(Block::Text(vec!["No speculative copies.".into()]));
        }
        let fates = [(copies.won, "won"), (copies.lost, "lost"), (copies.failed, "failed"), (copies.open, "wasted")];
        let fates: Vec<String> = fates
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, fate)| format!("{} {fate}", count(number.into())))
            .collect();
        let started = if copies.started == 1 { "copy".to_owned() } else { "copies".to_owned() };
        let tasks = counted(copies.tasks, "task");
        let mut pieces: Vec<Piece> = vec![
            format!("{} speculative {started} of {tasks}: {}.", count(copies.started.into()), fates.join(", ")).into(),
        ];
        if let Some(share) = copies.wasted_share {
            pieces.extend([
                " Attempts of these tasks wasted ".into(),
                Number::new("/copies/wasted_s", copies.wasted_s, "s").brief().into(),
                ", ".into(),
                Number::new("/copies/wasted_share", share, "").percent().rounded(0.01).into(),
                " of the time of all attempts.".into(),
            ]);
        }
        Some(Block::Text(pieces))
    }

    fn nodes(&self) -> Table {
        let note =
            "Slowness: time of an attempt divided by the median time of its stage; median over the node's attempts.";
        let mut table = Table::new("Nodes, the slowest first", note, ["node", "attempts", "busy [s]", "slowness"]);
        let mut order: Vec<_> = self.nodes.iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| b.slowness.unwrap_or(0.0).total_cmp(&a.slowness.unwrap_or(0.0)));
        for (i, row) in order {
            let at = |key: &str| format!("/nodes/{i}/{key}");
            table.rows.push(vec![
                row.name.clone().into(),
                Number::count(at("attempts"), row.attempts).into(),
                Number::new(at("busy_s"), row.busy_s, "").brief().into(),
                row.slowness.map(|value| Number::new(at("slowness"), value, "").rounded(0.1)).into(),
            ]);
        }
        cut(table)
    }
}

/// Returns the figure of the attempts in lanes.
fn timeline_figure(timeline: &TimelineRow) -> Figure<'_> {
    let joined = if timeline.joined { " Attempts that follow each other closely share a bar." } else { "" };
    let caption = format!("Each bar is an attempt of a task, each lane a slot of a node.{joined}");
    Figure::new("Tasks over time", caption).drawn(move || timeline.picture())
}

/// Returns an amount of data in a fitting unit of powers of 1000.
fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 100.0);
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_few_digits() {
        let times = [0.0, 0.1234, 12.345, 123.45, 12_345.6].map(|time| Number::new("", time, "").brief().text());
        assert_eq!(times, ["0.000", "0.123", "12.35", "123.5", "12346"]);
        assert_eq!([0.0, 999.0, 1500.0, 123_456_789.0, 5e12].map(size), ["0 B", "999 B", "1.5 kB", "123 MB", "5.0 TB"]);
    }
}
