//! `estimate`: the time of a planned or recorded job, by simulation and by formula.

use tailspn::ask::{EstimateJob as _, Proof, RunSettings};
use tailspn::mapreduce;
use tailspn::plan::{JobPlan, PlanOption};
use tailspn::report::Answer;

use crate::cli::args::EstimateArgs;
use crate::cli::convert::{export_to, format_of};
use crate::cli::exit::Exit;
use crate::cli::fitted::{Read, read_inputs};
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, applied};
use crate::cli::rare::{MOST_WALKS, below};
use crate::cli::watch::{Progress, catch_interrupt};

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
    fn options(&self) -> Vec<PlanOption> {
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

impl Ask for EstimateArgs {
    fn form(&self) -> Form<'_> {
        let files = self.export.as_deref().into_iter().collect();
        Form { plots: Some(&self.plots), files, force: self.force, ..Form::printed(&self.print) }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let plan = match read_inputs(&self.inputs, &self.fitted, terminal)? {
            Read::Logs(fitted) => fitted,
            Read::Plan(path) => PlanText::read(path, terminal)?.job()?,
            Read::Nothing => JobPlan::default(),
        };
        let plan = applied(plan, &self.options())?;
        let format = self.export.as_deref().map(|path| format_of(path, "")).transpose()?;
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
        let answer = Answer { times_s: Some(job.times_s()), ..Answer::of_job(&job)? };
        let asked = Asked::from(answer);
        Ok(match (&self.export, format) {
            (Some(path), Some(format)) => asked.writing(move |_, terminal| {
                if job.has_copies() {
                    terminal.tell("note: the net has no speculative copies");
                }
                export_to(&job.net()?, format, true, (path, self.force), terminal)
            }),
            _ => asked,
        })
    }
}
