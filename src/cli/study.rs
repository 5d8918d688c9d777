//! `study`: the settings that matter, and the cheapest that suffice. The file determines the question: a sweep of its axes, the effects of
//! settings, or the cheapest configuration.

use tailspn::optimize::OptimizePlan;
use tailspn::sim::Backend;
use tailspn::subject::FileKind;
use tailspn::sweep::SweepPlan;

use crate::cli::args::{PlanKind, StudyArgs};
use crate::cli::cheapest::cheapest;
use crate::cli::effects::{effects, is_net};
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form, typed};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::study_inputs::{is_of_job, job};
use crate::cli::sweep::{settings, sweep, sweep_of_settings};

/// The question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Every configuration of the axes of a plan.
    Sweep,
    /// Each setting of a job at half and at double its value.
    Settings,
    /// The effects of settings or rates, by a method.
    Effects,
    /// The cheapest configuration that meets a deadline.
    Cheapest,
}

/// Answers the question of a file, or prints a plan.
pub(crate) fn run(args: &StudyArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(kind) = args.print_plan else { return frame::run(args, terminal) };
    let text = match (&args.inputs[..], kind) {
        ([], PlanKind::Sweep) => SweepPlan::example_toml().to_owned(),
        ([], PlanKind::Deadline) => OptimizePlan::example_toml().to_owned(),
        (_, PlanKind::Sweep) => settings_plan(args, terminal)?,
        (_, PlanKind::Deadline) => {
            let help = "`tailspn study --print-plan=deadline` prints an example; `tailspn study FILE --deadline TIME` needs no plan";
            return Err(Failure::helped(Exit::Usage, "--print-plan=deadline takes no file", help));
        }
    };
    terminal.data(&text)?;
    Ok(Exit::Success)
}

/// Returns the plan of a sweep of the settings of a job.
fn settings_plan(args: &StudyArgs, terminal: &Terminal) -> Result<String, Failure> {
    if let Some(option) = args.planned.single_options()?.first() {
        let help =
            format!("keep the job with it first: `tailspn estimate JOB {} ... --save-plan job.toml`", option.name());
        return Err(Failure::helped(Exit::Usage, format!("{} does not apply to --print-plan", option.name()), help));
    }
    let (job, text) = job(args, terminal)?;
    let mut plan = sweep_of_settings(job, text.as_ref())?.plan;
    match &args.inputs[..] {
        // the plan may be written to another folder
        [file] if text.is_some() => {
            let absolute = std::path::absolute(&**file).unwrap_or_else(|_| file.to_path_buf());
            plan.sweep.base = Some(absolute.display().to_string());
        }
        _ => {
            let help = "save the plan first: `tailspn estimate LOG --save-plan job.toml`";
            return Err(Failure::helped(Exit::Usage, "--print-plan needs the plan of a job in a file", help));
        }
    }
    toml::to_string(&plan).map_err(Failure::internal)
}

impl StudyArgs {
    /// Returns the question.
    pub(crate) fn route(&self) -> Result<Route, Failure> {
        let Some(first) = self.inputs.first() else { return Ok(Route::Sweep) };
        let by_method = |other| if self.method.is_some() { Route::Effects } else { other };
        Ok(match first.kind() {
            Some(FileKind::OptimizePlan) => by_method(Route::Cheapest),
            _ if is_of_job(self) => self.of_job(),
            _ if is_net(first, self)? => Route::Effects,
            _ => by_method(Route::Sweep),
        })
    }

    /// Returns the question about a job.
    fn of_job(&self) -> Route {
        // a price and a probability are of a search; the plan may state its deadline
        let is_search = self.planned.has_deadline() || self.price.is_some() || self.probability.is_some();
        match (is_search, self.method) {
            (true, None) => Route::Cheapest,
            (_, Some(_)) => Route::Effects,
            (false, None) => Route::Settings,
        }
    }

    /// Refuses options that have no meaning for the question.
    fn check_options(&self, route: Route) -> Result<(), Failure> {
        use Route::{Cheapest, Effects, Settings, Sweep};
        let (shard, output) = self.points();
        let has_shard = shard != tailspn::share::Shard::WHOLE;
        let effects: &[Route] = &[Effects];
        let sweeps: &[Route] = &[Sweep, Settings];
        let jobs: &[Route] = &[Cheapest, Settings, Effects];
        let has_device = self.place.adapter.is_some() || self.place.backend.0 != Backend::Auto;
        let given: [(&str, bool, &[Route]); 23] = [
            ("--backend and --adapter", has_device, sweeps),
            ("--level", self.run.level.is_some(), &[Sweep, Settings, Effects]),
            ("--transitions", self.transitions && is_of_job(self), &[]),
            ("--save without --shard", output.is_some() && !has_shard, sweeps),
            ("--measure", self.measure.is_some(), &[Effects, Cheapest]),
            ("--probability", self.probability.is_some(), &[Cheapest]),
            ("--price", self.price.is_some(), &[Cheapest]),
            ("--until", self.until.is_some(), effects),
            ("--avoid", self.before.avoid.is_some(), effects),
            ("--within", self.before.within.is_some(), effects),
            ("--transitions", self.transitions, effects),
            ("--rows", self.rows.is_some(), effects),
            ("--reps", self.reps.is_some(), &[Effects, Settings]),
            ("--budget-replications", self.budget_replications.is_some(), sweeps),
            ("--budget-time", self.budget_time.is_some(), sweeps),
            ("--max-points", self.max_points.is_some(), sweeps),
            ("--resume", self.resume, sweeps),
            ("--save", output.is_some(), &[Sweep, Settings, Effects]),
            ("--shard", has_shard, &[Sweep, Settings, Effects]),
            ("--events", self.events.is_some(), sweeps),
            ("--no-fold", self.no_fold, &[Sweep, Settings, Effects]),
            ("--max-time", self.run.max_time.is_some(), &[Sweep, Settings, Effects]),
            (self.fitted.only_for_logs().unwrap_or("--job"), self.fitted.only_for_logs().is_some(), jobs),
        ];
        match given.into_iter().find(|(_, given, of)| *given && !of.contains(&route)) {
            Some((option, ..)) => {
                let what = match route {
                    Sweep => "a plan with [sweep]",
                    Settings => "a job without --deadline",
                    Effects => "the effects of settings",
                    Cheapest => "the search for the cheapest configuration",
                };
                let help = "`tailspn study --help` lists what each file asks";
                Err(Failure::helped(Exit::Usage, format!("{option} does not apply to {what}"), help))
            }
            None => Ok(()),
        }
    }
}

impl Ask for StudyArgs {
    fn form(&self) -> Form<'_> {
        Form { plots: Some(&self.plots), typed: typed(&self.inputs), ..Form::printed(&self.print) }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let route = self.route()?;
        self.check_options(route)?;
        match route {
            Route::Sweep => sweep(self, terminal),
            Route::Settings => {
                let (job, text) = job(self, terminal)?;
                settings(job, text.as_ref(), self, terminal)
            }
            Route::Effects => effects(self, terminal),
            Route::Cheapest => cheapest(self, terminal),
        }
    }
}
