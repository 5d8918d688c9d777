//! `net solve`: all markings of a net, and the results that follow from them.

use tailspn::answer::AnswerError;
use tailspn::ask::net::{SolveSettings, SolvedNet, solve_net};
use tailspn::report::Answer;
use tailspn::solve::{ExploreError, GridSettings};
use tailspn::watch::TimeLimit;

use crate::cli::args::SolveArgs;
use crate::cli::call::interrupted;
use crate::cli::exact::{limited, states_failure};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form, typed};
use crate::cli::load::read_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::preparation::Preparation;
use crate::cli::solve_question::net_question;
use crate::cli::watch::{Progress, catch_interrupt};
use crate::cli::{properties, solve_files, solve_untimed};

impl Ask for SolveArgs {
    fn form(&self) -> Form<'_> {
        Form { plots: Some(&self.plots), typed: typed([&self.net.net]), ..Form::printed(&self.print) }
    }

    /// Solves the net.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let progress = Progress::new(terminal.shows_progress(), "states");
        let watch = TimeLimit::new(&progress, self.max_time);
        let preparation = Preparation::begin(self.max_time, terminal);
        let loaded = read_net(&self.net)?;
        terminal.brief_warnings(&loaded.warnings);
        if self.untimed {
            preparation.end();
            let asked = solve_untimed::ask(loaded.net, self, terminal, &watch)?;
            return Ok(asked.assuming(&loaded.warnings));
        }
        if !self.property.is_empty() {
            preparation.end();
            return properties::ask(&loaded, self, terminal, &watch);
        }
        let question = net_question(&loaded.net, self)?;
        solve_files::may_write_all(self)?;
        catch_interrupt(terminal);
        preparation.end();
        let solved = solve_net(&loaded.net, &question, &self.settings(&watch), &watch);
        let SolvedNet { report, missing, states, coverability } = solved.map_err(|error| not_solved(error, self))?;
        let name = loaded.net.name().to_owned();
        let picture = solve_files::cdf(&report, self);
        let asked = Asked::from(Answer::new(report).unless_stopped(interrupted())).assuming(&loaded.warnings);
        Ok(asked.writing(move |_, terminal| {
            if let Some((graph, program)) = &coverability {
                solve_files::write_coverability(graph, program, &name, self, terminal)?;
            }
            match missing {
                Some(_) if interrupted() => return Err(Failure::stopped()),
                Some(error) => return Err(not_solved(error, self)),
                None => {}
            }
            if let Some((space, program)) = &states {
                solve_files::write_all(space, program, &name, self)?;
            }
            solve_files::write_cdf(picture?, self)
        }))
    }
}

impl SolveArgs {
    fn settings(&self, watch: &TimeLimit<'_>) -> SolveSettings {
        let files = [&self.export_dot, &self.export_svg, &self.export_mtx, &self.export_prism];
        let steps = usize::try_from(self.grid_steps).unwrap_or(usize::MAX);
        SolveSettings {
            method: self.method.0,
            grid: GridSettings { steps, ..GridSettings::default() },
            fold: !self.no_fold,
            chain: files.into_iter().any(Option::is_some),
            run: limited(self.max_states, self.max_memory, watch.left()),
        }
    }
}

/// Explains why there is no answer.
fn not_solved(error: AnswerError, args: &SolveArgs) -> Failure {
    match error {
        AnswerError::Explore(ExploreError::Unbounded(unbounded)) => {
            let note = Note::problem(unbounded.to_string());
            Failure::new(Exit::Refused, if args.steady { note.with_help(NO_LONG_RUN) } else { note })
        }
        AnswerError::NeedsStates { .. } => {
            Failure::helped(Exit::Usage, error.to_string(), "remove `--method series-parallel`, or the other request")
        }
        AnswerError::Conflict { .. } => Failure::helped(
            Exit::Usage,
            error.to_string(),
            "use `tailspn net simulate`, or run `net solve` twice: once with the rewards, once with --within",
        ),
        error => states_failure(error),
    }
}

/// Advice for the steady state of an unbounded net.
const NO_LONG_RUN: &str = "an unbounded net can still have a steady state, depending on the rates; `tailspn net simulate --steady --tokens` shows whether the token counts converge";
