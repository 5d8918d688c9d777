//! The result of a fit: each stage with intervals, each run compared with the model, and the gaps in the logs.

use serde::{Deserialize, Serialize};

use crate::document::parts::{cut, notes_table};
use crate::document::{Column, Document, Figure, NextCommand, Number, Paragraph, Piece, Report, Table, Topic};
use crate::estimate::Measured;
use crate::fit::{FittedRun, FittedStage, FittedStages};
use crate::job_time::OwnRun;
use crate::mapreduce::LawKind;
use crate::report::bar_rows::{BarRow, MOST};
use crate::report::number::{counted, plain};
use crate::report::own_run::with_own_run;
use crate::stages::{StagePlan, TaskTime};
use crate::sweep::Ends;

/// One stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitStageRow {
    /// Name of the stage.
    pub name: String,
    /// Stages that this stage waits for.
    pub after: Vec<usize>,
    /// Tasks in all logs.
    pub tasks: usize,
    /// Mean data of a full task in the logs \[MB\].
    pub task_mb: f64,
    /// Time of a cold task with these data \[s\].
    #[serde(with = "Ends")]
    #[cfg_attr(feature = "schema", schemars(with = "Ends"))]
    pub cold_s: Measured,
    /// Time of a steady task with these data \[s\].
    #[serde(with = "Ends")]
    #[cfg_attr(feature = "schema", schemars(with = "Ends"))]
    pub warm_s: Measured,
    /// Extra time of the second task of a slot, compared with steady tasks.
    pub warming: f64,
    /// Time from the end of the preceding stages to the first launch \[s\].
    pub setup_s: f64,
    /// The distribution's name.
    pub law: LawKind,
    /// The candidate distributions with the mean log density of held-out times, the best first.
    pub laws: Vec<(LawKind, f64)>,
    /// Outlier tasks that were excluded.
    pub held_up: usize,
}

/// Result of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitReport {
    /// The program.
    pub name: String,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Standard deviation of the logarithm of the factor between runs.
    pub run_sigma: f64,
    /// Degrees of freedom of the spread between runs.
    pub run_freedom: f64,
    /// The stages.
    pub stages: Vec<FitStageRow>,
    /// The runs.
    pub runs: Vec<FittedRun>,
    /// The check of the plan on the runs.
    pub own_run: OwnRun,
    /// Values that the logs could not determine.
    pub notes: Vec<String>,
    /// The plan.
    pub plan: StagePlan,
}

/// Reports the result of a fit, with intervals at `level`.
pub fn fit_report(fitted: &FittedStages, own_run: &OwnRun, level: f64) -> FitReport {
    FitReport {
        own_run: own_run.clone(),
        name: fitted.plan.job.name.clone(),
        level,
        run_sigma: fitted.plan.run.sigma,
        run_freedom: fitted.plan.run.degrees_of_freedom,
        stages: fitted.stages.iter().map(|stage| stage_row(fitted, stage, level)).collect(),
        runs: fitted.runs.clone(),
        notes: fitted.plan.notes.clone(),
        plan: fitted.plan.clone(),
    }
}

fn stage_row(fitted: &FittedStages, stage: &FittedStage, level: f64) -> FitStageRow {
    let time = |time: TaskTime| {
        let value = time.at(stage.task_mb);
        let (low, high) = fitted.factor_interval(time.error, level);
        Measured::between(value, Some(value * low), Some(value * high))
    };
    FitStageRow {
        name: stage.spec.name.clone(),
        after: stage.spec.after.clone(),
        tasks: stage.tasks,
        task_mb: stage.task_mb,
        cold_s: time(stage.spec.cold),
        warm_s: time(stage.spec.warm),
        warming: stage.spec.warming,
        setup_s: stage.spec.setup_s,
        law: stage.spec.distribution.kind(),
        laws: stage.laws.iter().map(|law| (law.law.kind(), law.score)).collect(),
        held_up: stage.held_up,
    }
}

impl Report for FitReport {
    const KIND: &'static str = "fit";

    fn document(&self) -> Document<'_> {
        let log = |(run, number): (&FittedRun, usize)| [format!("log {number}"), run.log.clone()];
        let mut document = Document {
            kind: "fit of a job of stages",
            title: self.name.clone(),
            question: "Values of the job from the logs, with intervals.".to_owned(),
            answer: self.answer(),
            plan: self.plan.to_toml().unwrap_or_default(),
            next: ["tailspn tool fit LOG... --save-plan PLAN.toml", "tailspn estimate PLAN.toml"]
                .map(|command| NextCommand::new(command, ""))
                .to_vec(),
            provenance: self.runs.iter().zip(1..).map(log).collect(),
            ..Document::default()
        };
        document.table(self.stage_table());
        document.figure(self.times());
        document.table(self.run_table());
        document.table(self.executors_table());
        document.table(self.sharing_table());
        document.table(notes_table("Not determined by the logs", &self.notes));
        document
    }
}

impl FitReport {
    fn time(&self, at: String, time: &Measured, unit: &'static str) -> Number {
        Number::measured(at, &Measured { level: self.level, ..time.clone() }, unit)
    }

    /// Returns the size of the fit, the least certain stage, and the spread between runs.
    fn answer(&self) -> Paragraph {
        let tasks = self.stages.iter().map(|stage| stage.tasks).fold(0, usize::saturating_add);
        let counts = [(self.stages.len(), "stage"), (tasks, "task"), (self.runs.len(), "run")];
        let [stages, tasks, runs] = counts.map(|(number, noun)| counted(number as u128, noun));
        let mut answer = with_own_run(Some(&self.own_run), vec![format!("{stages} with {tasks} in {runs}.").into()]);
        let mut pieces: Vec<Piece> = Vec::new();
        let width = |stage: &FitStageRow| stage.warm_s.half_width().unwrap_or(0.0) / stage.warm_s.value;
        let sized = self.stages.iter().enumerate().filter(|(_, stage)| stage.warm_s.value > 0.0);
        if let Some((i, stage)) = sized.max_by(|(_, a), (_, b)| width(a).total_cmp(&width(b))) {
            pieces.push(format!(" Stage {i} {} is the least certain: its steady tasks take ", stage.name).into());
            pieces.push(self.time(format!("/stages/{i}/warm_s"), &stage.warm_s, "s").into());
            pieces.push(".".into());
        }
        let freedom = plain(self.run_freedom);
        let summed = self.runs.iter().enumerate().find(|(_, run)| run.sources_mb.len() > 1);
        if let Some((i, run, input_mb)) = summed.and_then(|(i, run)| Some((i, run, run.input_mb?))) {
            let number = |key: String, mb: f64| Number::new(key, mb, "MB").rounded(0.05);
            pieces.push(" The input, ".into());
            pieces.push(number(format!("/runs/{i}/input_mb"), input_mb).into());
            pieces.push(" in the first log that records it, is the sum of ".into());
            for (k, mb) in run.sources_mb.iter().enumerate() {
                pieces.push(if k == 0 { "" } else { " and " }.to_owned().into());
                pieces.push(number(format!("/runs/{i}/sources_mb/{k}"), *mb).into());
            }
            pieces.push(".".into());
        }
        pieces.push(" Whole runs differ by ".into());
        pieces.push(Number::new("/run_sigma", self.run_sigma, "").rounded(0.01).percent().into());
        pieces.push(format!(" (standard deviation of the logarithm, {freedom} degrees of freedom).").into());
        answer.say(Topic::Answer, pieces);
        answer
    }

    fn times(&self) -> Figure<'_> {
        let bar = |word: &str, time: &Measured, is_second| BarRow {
            bar: [0.0, time.value],
            interval: time.ends(),
            text: format!("{word} {}", self.time(String::new(), time, "s").text()),
            is_second,
            ..BarRow::default()
        };
        let pair = |(i, stage): (usize, &FitStageRow)| {
            let name = format!("{i} {}", stage.name);
            [BarRow { name, ..bar("steady", &stage.warm_s, false) }, bar("cold", &stage.cold_s, true)]
        };
        let rows: Vec<BarRow> = self.stages.iter().enumerate().take(MOST / 2).flat_map(pair).collect();
        let mut caption =
            "Blue: a steady task. Orange: a cold task, the first of its slot. Both process the mean data of tasks in \
                           the logs; thin lines are intervals."
                .to_owned();
        let left = self.stages.len().saturating_sub(MOST / 2);
        if left > 0 {
            caption += &format!(" {} more are not drawn.", counted(left as u128, "stage"));
        }
        Figure::bars("tasks", "Task times", caption, "time [s]", rows)
    }

    fn stage_table(&self) -> Table {
        let note = "Times in seconds, for tasks with the mean data of the tasks in the logs. Second task: how much longer than steady tasks. The distribution is the one that best predicted the times of held-out tasks. Outliers were excluded.";
        let columns = [
            Column::new("stage"),
            Column::new("after"),
            Column::new("tasks").key("stage_tasks"),
            Column::new("data").unit("MB/task").key("stage_task_data"),
            Column::new("setup").key("stage_setup"),
            Column::new("cold task").key("stage_cold_task"),
            Column::new("steady task").key("stage_steady_task"),
            Column::new("second task").unit("%").key("stage_second_task"),
            Column::new("distribution").key("stage_distribution"),
            Column::new("outliers").key("stage_outliers"),
        ];
        let mut table = Table::new("Stages", note, columns).level(self.level);
        for (i, stage) in self.stages.iter().enumerate() {
            let at = |key: &str| format!("/stages/{i}/{key}");
            let after: Vec<String> = stage.after.iter().map(ToString::to_string).collect();
            table.rows.push(vec![
                format!("{i} {}", stage.name).into(),
                after.join(", ").into(),
                Number::count(at("tasks"), stage.tasks as u64).into(),
                Number::new(at("task_mb"), stage.task_mb, "MB").rounded(0.1).into(),
                Number::new(at("setup_s"), stage.setup_s, "s").shown_in("", 1.0).rounded(0.01).into(),
                self.time(at("cold_s"), &stage.cold_s, "s").shown_in("", 1.0).into(),
                self.time(at("warm_s"), &stage.warm_s, "s").shown_in("", 1.0).into(),
                Number::new(at("warming"), stage.warming, "").rounded(0.1).percent().signed().into(),
                stage.law.name().into(),
                Number::count(at("held_up"), stage.held_up as u64).into(),
            ]);
        }
        cut(table)
    }

    fn run_table(&self) -> Table {
        let note = "Factor: task times of the run divided by the task times of a typical run. Weight: below 1 for a disturbed run. \
                    Model: the model's job time at the run's size, multiplied by the factor.";
        let columns = [
            Column::new("log"),
            Column::new("input").unit("MB").key("run_input"),
            Column::new("executors").key("run_executors"),
            Column::new("hosts").key("run_hosts"),
            Column::new("tasks").key("run_tasks"),
            Column::new("job").unit("s").key("run_job"),
            Column::new("model").unit("s").key("run_model"),
            Column::new("factor").key("run_factor"),
            Column::new("weight").key("run_weight"),
        ];
        let mut table = Table::new("Runs and the model", note, columns);
        for (i, run) in self.runs.iter().enumerate() {
            let number = |key: &str, value: f64, unit: &'static str, half| {
                Number::new(format!("/runs/{i}/{key}"), value, unit).rounded(half)
            };
            let count = |key: &str, value: u64| Number::count(format!("/runs/{i}/{key}"), value);
            table.rows.push(vec![
                run.log.clone().into(),
                run.input_mb.map(|input_mb| number("input_mb", input_mb, "MB", 0.1)).into(),
                count("executors", run.executors.into()).into(),
                count("hosts", run.hosts.into()).into(),
                count("tasks", run.tasks as u64).into(),
                run.job_s.map(|job_s| number("job_s", job_s, "s", 0.01)).into(),
                run.model_s.map(|model_s| number("model_s", model_s, "s", 0.01)).into(),
                number("factor", run.factor, "", 0.01).into(),
                number("weight", run.weight, "", 0.1).into(),
            ]);
        }
        cut(table)
    }

    /// Returns the executors of runs in which their number changed.
    fn executors_table(&self) -> Table {
        let note = "The number of executors from each time on, counted from the submission of the first job. Executor time: the time for which executors were there, summed over the executors.";
        let columns = [
            Column::new("log"),
            Column::new("executor time").unit("s").key("run_executor_time"),
            Column::new("from").unit("s").key("from"),
            Column::new("executors").key("executors"),
        ];
        let mut table = Table::new("Executors over time", note, columns);
        for (i, run) in self.runs.iter().enumerate() {
            for (k, [from_s, count]) in run.executors_over_time.iter().enumerate() {
                let at = |part: usize| format!("/runs/{i}/executors_over_time/{k}/{part}");
                let all = Number::new(format!("/runs/{i}/executor_s"), run.executor_s, "s").rounded(0.1);
                table.rows.push(vec![
                    if k == 0 { run.log.clone() } else { String::new() }.into(),
                    (k == 0).then_some(all).into(),
                    Number::new(at(0), *from_s, "s").rounded(0.01).into(),
                    Number::new(at(1), *count, "").rounded(0.5).into(),
                ]);
            }
        }
        cut(table)
    }

    /// Returns the growth of times with the load of a host.
    fn sharing_table(&self) -> Table {
        let note = "Times grow with this power of the number of executors on a host (start of executors) or tasks on a host (other times). 0: no growth, 1: in proportion. If no runs determine a power, 0.5 ± 0.5 is assumed.";
        let mut table = Table::new(
            "Executors of one host",
            note,
            [
                Column::new("time"),
                Column::new("power").key("sharing_power"),
                Column::new("standard error").key("sharing_power_error"),
            ],
        );
        if let Some(sharing) = &self.plan.sharing {
            let rows = [
                ("start of executors", "start", sharing.start),
                ("first tasks and warm-up", "warm_up", sharing.warm_up),
                ("CPU time of steady tasks", "steady", sharing.steady),
            ];
            for (name, key, power) in rows {
                let at = |part: &str| format!("/plan/sharing/{key}/{part}");
                table.rows.push(vec![
                    name.into(),
                    Number::new(at("power"), power.power, "").rounded(0.01).into(),
                    Number::new(at("error"), power.error, "").rounded(0.01).into(),
                ]);
            }
        }
        table
    }
}
