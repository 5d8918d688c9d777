//! `optimize`: the cheapest configuration that meets a deadline.

use std::path::Path;

use tailspn::optimize::{Answer, Measure, Optimization, OptimizePlan};
use tailspn::report::optimize_report;

use crate::cli::args::OptimizeArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::study::{study_failure, tell_warnings};
use crate::cli::watch::{Progress, catch_interrupt};

/// Searches the configurations of a plan.
pub(crate) fn run(args: &OptimizeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(file) = args.plan.as_deref().filter(|_| !args.print_plan) else {
        terminal.data(OptimizePlan::example_toml())?;
        return Ok(Exit::Success);
    };
    may_draw(&args.plots, args.force)?;
    let text = PlanText::read(file, terminal)?;
    let mut plan = text.plan(OptimizePlan::read, &keys_of("optimize"), terminal)?;
    if let Some(measure) = args.measure.or(args.probability.map(Measure::Quantile)) {
        plan.optimize.measure = measure.name();
    }
    plan.sweep.seed = args.seed.unwrap_or(plan.sweep.seed);
    let failed = |error| study_failure(error, &text);
    let mut search =
        Optimization::planned(plan, file.parent().unwrap_or(Path::new("")), &args.planned.options()).map_err(failed)?;
    search.threads = args.threads;
    tell_warnings(&search.warnings, &search.subject, terminal);
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "replications of this point");
    let outcome = search.run(&progress).map_err(failed)?;
    drop(progress);
    let report = optimize_report(&search.plan, &outcome);
    terminal.report(&report, &args.print)?;
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(match outcome.found.answer {
        Answer::Cheapest(_) | Answer::Meets(_) => Exit::Success,
        Answer::None | Answer::Undecided => Exit::Unmet,
        Answer::Stopped => Exit::Interrupted,
    })
}
