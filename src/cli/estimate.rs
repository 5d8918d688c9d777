//! `estimate`: the time of a planned or recorded job, by simulation and by formula.

use tailspn::ask::{EstimateJob as _, EstimateList, Proof, RunSettings};
use tailspn::mapreduce;
use tailspn::plan::{JobPlan, PlanOption};
use tailspn::remaining::RemainingSettings;
use tailspn::report::{Answer, AnyReport};
use tailspn::subject::FileKind;
use tailspn::trace::JobTrace;

use crate::cli::args::EstimateArgs;
use crate::cli::call::interrupted;
use crate::cli::convert::{export_to, format_of};
use crate::cli::exit::Exit;
use crate::cli::files::write_file;
use crate::cli::fitted::{Read, first_log, read_inputs};
use crate::cli::frame::{self, Ask, Asked, Form, no_file, typed};
use crate::cli::input::Input;
use crate::cli::left::{TimeLeft, evidence, is_running};
use crate::cli::notes::{Failure, first_given};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, applied};
use crate::cli::rare::{MOST_WALKS, below};
use crate::cli::values::Deadline;
use crate::cli::watch::{Progress, catch_interrupt};

/// Probability with which a deadline must be met.
const WANTED: f64 = 0.95;

/// Estimates the job, or prints the plan of the default job.
pub(crate) fn run(args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.print_plan {
        terminal.data(mapreduce::Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    frame::run(args, terminal)
}

impl EstimateArgs {
    /// Returns the options of the job, the copies last.
    pub(crate) fn options(&self) -> Vec<PlanOption> {
        let stragglers = self.stragglers.clone().map(PlanOption::Stragglers);
        let copies = self.speculation.clone().map(PlanOption::Speculation);
        self.planned.options().into_iter().chain(stragglers).chain(copies).collect()
    }

    /// Returns how the question is answered.
    fn settings(&self, terminal: &Terminal) -> RunSettings {
        RunSettings {
            replications: self.reps,
            rel_error: self.rel_error,
            backend: self.place.backend.0,
            adapter: self.place.adapter.clone(),
            ..terminal.settings(&self.run)
        }
    }
}

impl EstimateArgs {
    /// Refuses options that need a list.
    fn only_lists(&self) -> Result<(), Failure> {
        if self.price.is_some() {
            let help = "add a list of configurations, such as --executors 1..16 or --workers 4,8";
            return Err(Failure::helped(Exit::Usage, "--price applies only to a list", help));
        }
        Ok(())
    }

    /// Returns the probability with which the deadline must be met.
    pub(crate) fn wanted(&self) -> f64 {
        self.probability.unwrap_or(WANTED)
    }

    /// Refuses a probability without a deadline.
    pub(crate) fn needs_deadline(&self, has_deadline: bool) -> Result<(), Failure> {
        if self.probability.is_some() && !has_deadline {
            return Err(Failure::helped(Exit::Usage, "--probability needs a deadline", "add --deadline TIME"));
        }
        Ok(())
    }

    /// Predicts the time left of a run in progress. The other inputs tell how such runs go.
    fn left(&self, trace: &JobTrace, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let refused = |option: &str| {
            let help = "estimate the next run from the log of a run that has ended";
            Err(Failure::helped(Exit::Usage, format!("{option} does not apply to a run in progress"), help))
        };
        let mut settings = RemainingSettings { run: self.settings(terminal), input: None };
        let mut deadlines = Vec::new();
        for option in self.options() {
            match option {
                PlanOption::Deadline(seconds) => deadlines.push(Deadline::After(seconds)),
                PlanOption::DeadlineAt(seconds) => deadlines.push(Deadline::At(seconds)),
                PlanOption::InputSize(size) if self.inputs.len() > 1 => settings.input = Some(size),
                PlanOption::InputSize(_) => {
                    let help = "add the log of another run of the program, or a plan";
                    return Err(Failure::helped(Exit::Usage, "--input-size needs another run to compare with", help));
                }
                other => return refused(other.name()),
            }
        }
        if !self.planned.lists().is_empty() {
            return refused("a list");
        }
        self.only_lists()?;
        self.needs_deadline(!deadlines.is_empty())?;
        if self.save_net.is_some() {
            return refused("--save-net");
        }
        if self.save_plan.is_some() {
            return refused("--save-plan");
        }
        catch_interrupt(terminal);
        let others = self.inputs.get(1..).unwrap_or_default();
        let plan = evidence(others, self.fitted.fit(others), terminal)?;
        let question = TimeLeft { plan, settings, deadlines, now: self.now };
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let report = question.predict(trace, &progress)??;
        Ok(Answer::new(report).meeting(self.wanted()).unless_stopped(interrupted()).into())
    }

    /// Estimates each configuration of the lists.
    fn table(&self, plan: JobPlan, lists: Vec<Vec<PlanOption>>, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let single = first_given([
            ("--save-net", self.save_net.is_some()),
            ("--shard", self.part.shard.is_some()),
            ("--late-effort", self.late_effort.is_some()),
        ]);
        if let Some(option) = single {
            let help = "state one value for each option, instead of a list";
            return Err(Failure::helped(Exit::Usage, format!("{option} needs a single configuration"), help));
        }
        self.needs_deadline(plan.deadline_s().is_some())?;
        let mut list = EstimateList::new(plan, lists)?;
        list.price.clone_from(&self.price);
        list.probability = self.wanted();
        (list.method, list.unfolded, list.is_trusted) = (self.method.of_job(), self.no_fold, self.trust.trust_misfit);
        list.run = self.settings(terminal);
        catch_interrupt(terminal);
        let progress = Progress::new(terminal.shows_progress(), "configurations");
        let found = list.run(&progress)?;
        drop(progress);
        Ok(Answer::of_table(found).into())
    }
}

impl Ask for EstimateArgs {
    fn form(&self) -> Form<'_> {
        let files = [&self.save_net, &self.save_plan, &self.save_cluster];
        let files = files.into_iter().filter_map(|path| path.as_deref()).collect();
        Form {
            plots: Some(&self.plots),
            files,
            typed: typed(&self.inputs).or_demo(self.demo),
            ..Form::printed(&self.print)
        }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        if self.inputs.is_empty() && !self.demo {
            return Err(no_file("estimate"));
        }
        // a named column makes a table of a file whose header does not
        let is_table = |input: &&Input| match input.kind() {
            Some(kind) => kind == FileKind::Runs,
            None => self.table.names_columns() && !input.is_dir(),
        };
        if let Some(input) = self.inputs.iter().find(is_table) {
            return self.runs(input);
        }
        let only_tables = self.table.given().map(|option| (option, "a table of runs"));
        if let Some((option, of)) =
            only_tables.or(self.save_cluster.is_some().then_some(("--save-cluster", "a table of tasks")))
        {
            let help = "pass a table with a row for each run or task; see docs/tables.md";
            return Err(Failure::helped(Exit::Usage, format!("{option} applies only to {of}"), help));
        }
        let first = first_log(&self.inputs, &self.fitted, terminal)?;
        if let Some(trace) = first.as_ref().filter(|trace| is_running(trace)) {
            return self.left(trace, terminal);
        }
        let plan = match read_inputs(&self.inputs, first, &self.fitted, terminal)? {
            Read::Logs(fitted) => fitted,
            Read::Plan(path) => PlanText::read(path, terminal)?.job()?,
            Read::Nothing => JobPlan::default(),
        };
        if self.now {
            return Err(Failure::plain(Exit::Usage, "--now applies only to the log of a run in progress"));
        }
        let plan = applied(plan, &self.options())?;
        let saved = self.save_plan.as_ref().map(|_| plan.to_toml().map_err(Failure::internal)).transpose()?;
        let asked = self.answer(plan, terminal)?;
        // of a list, the plan of the row that the answer names
        let chosen = match &asked.answer.result {
            AnyReport::EstimateTable(found) => Some(found.plan.clone()),
            _ => None,
        };
        let Some((path, text)) = self.save_plan.as_deref().zip(chosen.or(saved)) else { return Ok(asked) };
        Ok(asked.writing(move |_, _| write_file(path, text.as_bytes(), self.print.force)))
    }
}

impl EstimateArgs {
    /// Estimates a job, or each configuration of the lists.
    fn answer(&self, plan: JobPlan, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let lists = self.planned.lists();
        if !lists.is_empty() {
            return self.table(plan, lists, terminal);
        }
        self.only_lists()?;
        self.needs_deadline(plan.deadline_s().is_some())?;
        let format = self.save_net.as_deref().map(|path| format_of(path, "")).transpose()?;
        let proof = Proof { is_needed: self.speculation.is_some(), is_trusted: self.trust.trust_misfit };
        let mut estimation =
            plan.estimation().method(self.method.of_job()).settings(self.settings(terminal)).proof(proof);
        if self.no_fold {
            estimation = estimation.unfolded();
        }
        let effort = self.late_effort.map(|walks| below("--late-effort", walks, MOST_WALKS)).transpose()?;
        if let Some(effort) = effort.filter(|effort| *effort > 0) {
            estimation = estimation.late_effort(effort);
        }
        catch_interrupt(terminal);
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let job = estimation.watch(&progress).run()?;
        drop(progress);
        let answer = Answer { times_s: Some(job.times_s()), ..Answer::of_job(&job)? }.meeting(self.wanted());
        let asked = Asked::from(answer);
        Ok(match (&self.save_net, format) {
            (Some(path), Some(format)) => asked.writing(move |_, terminal| {
                if job.has_copies() {
                    terminal.tell("note: the net has no speculative copies");
                }
                export_to(&job.net()?, format, true, (path, self.print.force), terminal)
            }),
            _ => asked,
        })
    }
}
