//! Checks before any simulation: unknown keys, invalid values, constraints, nets that do not stop.

use rayon::prelude::*;
use toml::Value;

use crate::Problems;
use crate::error::{KeyProblem, StudyError};
use crate::sim::{Backend, Ending, Ensemble, Unwatched, run};
use crate::subject::at::{Misfit, job_at, net_at, stages_at};
use crate::subject::rated_net::MOST_FIRINGS;
use crate::subject::{Kind, Subject};
use crate::sweep::{Admitted, Axis, Constraint, ConstraintFault, Point, SweepPlan, admitted};

/// Maximum number of problems of one plan that are reported.
const MOST_PROBLEMS: usize = 10;

impl Subject {
    fn misfit(&self, axes: &[Axis], point: &Point, seed: u64) -> Option<Misfit> {
        match &self.kind {
            Kind::Job { table, .. } => job_at(table, seed, axes, point).err(),
            Kind::Stages { table } => stages_at(table, axes, point).err(),
            Kind::Net { net, .. } => net_at(net, axes, point).err(),
        }
    }

    /// Returns true if the subject is valid with a value of a key.
    pub(crate) fn accepts(&self, key: &str, value: &Value) -> bool {
        let axis = Axis { key: key.to_owned(), ..Axis::default() };
        self.misfit(&[axis], &Point { number: 0, values: vec![Some(value.clone())] }, 0).is_none()
    }

    /// Returns the points that satisfy the constraints of the plan.
    ///
    /// # Errors
    ///
    /// A constraint that cannot be evaluated, or constraints that no point satisfies.
    pub fn admit(&self, plan: &SweepPlan, points: Vec<Point>) -> Result<Admitted, StudyError> {
        let refused = |number: usize, fault: &ConstraintFault| {
            let key = format!("sweep.constraints[{number}]");
            let message = format!("`{key}`: {fault}");
            StudyError::Plan(KeyProblem { within: Some(fault.span()), ..KeyProblem::at(key, message) }.into())
        };
        let read = |(number, text): (usize, &String)| Constraint::parse(text).map_err(|fault| refused(number, &fault));
        let constraints = plan.sweep.constraints.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        let values = |point: &Point, names: &[&str]| self.values(&plan.axis, point, names);
        let found = admitted(points, &constraints, &values).map_err(|(number, fault)| refused(number, &fault))?;
        if found.points.len() == 1 && found.left_out > 0 {
            let problem = KeyProblem::at("sweep.constraints", "no point satisfies the constraints");
            return Err(StudyError::Plan(problem.into()));
        }
        Ok(found)
    }

    /// Checks all points before any point runs: first each single axis, then the points, then that the base
    /// of a net stops.
    ///
    /// # Errors
    ///
    /// [`StudyError::Plan`] with the first problems, [`StudyError::Endless`] for a net that does not reach its goal.
    pub fn check(&self, plan: &SweepPlan, points: &[Point]) -> Result<(), StudyError> {
        let seed = plan.sweep.seed;
        self.check_axes(plan)?;
        reject(self.point_problems(&plan.axis, points, seed))?;
        self.check_end(plan, &points[0], seed)
    }

    /// Checks that the axes exist and that their values are of the right kind, each axis separately.
    ///
    /// # Errors
    ///
    /// [`StudyError::Plan`] with the first problems.
    pub fn check_axes(&self, plan: &SweepPlan) -> Result<(), StudyError> {
        reject(self.axis_problems(&plan.axis, plan.sweep.seed))
    }

    /// Runs one replication of a net to check that it reaches its goal; otherwise every replication would run up to the maximum number of firings.
    fn check_end(&self, plan: &SweepPlan, base: &Point, seed: u64) -> Result<(), StudyError> {
        if !matches!(self.kind, Kind::Net { .. }) {
            return Ok(());
        }
        let model = self.model(&plan.axis, base, seed).map_err(StudyError::Model)?;
        let Some(net) = model.net() else { return Ok(()) };
        let one = Ensemble { replications: 1, seed, backend: Backend::Cpu, ..Ensemble::default() };
        let pilot = run(&net.program, &net.question, &one, &Unwatched)?;
        if pilot.samples.ended(Ending::Firings) == 0 {
            return Ok(());
        }
        Err(StudyError::Endless { firings: MOST_FIRINGS })
    }

    /// Returns unknown keys, and values of a wrong kind.
    fn axis_problems(&self, axes: &[Axis], seed: u64) -> Vec<KeyProblem> {
        let mut problems = Vec::new();
        for (i, axis) in axes.iter().enumerate() {
            let alone = |(j, level): (usize, &Value)| {
                let mut point = Point::base(axes.len());
                point.values[i] = Some(level.clone());
                // a value that is out of range may be valid in combination with another axis
                self.misfit(axes, &point, seed).filter(|misfit| misfit.key.is_none()).map(|misfit| (j, misfit))
            };
            let levels = axis.levels();
            let misfits: Vec<(usize, Misfit)> = levels.par_iter().enumerate().filter_map(alone).collect();
            // an unknown key is reported once
            let most = if misfits.iter().any(|(_, misfit)| misfit.unknown) { 1 } else { MOST_PROBLEMS };
            for (j, misfit) in misfits.into_iter().take(most) {
                let key = if misfit.unknown { format!("axis[{i}].key") } else { value_key(axis, i, j) };
                problems.push(KeyProblem::at(key, format!("`{}`: {}", axis.key, misfit.message)));
            }
        }
        problems
    }

    /// Returns values that are out of range or contradict each other.
    fn point_problems(&self, axes: &[Axis], points: &[Point], seed: u64) -> Vec<KeyProblem> {
        let problem = |point: &Point| self.misfit(axes, point, seed).map(|misfit| (point.clone(), misfit));
        let misfits: Vec<(Point, Misfit)> = points.par_iter().filter_map(problem).collect();
        let mut reported: Vec<String> = Vec::new();
        let mut problems = Vec::new();
        for (point, misfit) in misfits {
            if reported.contains(&misfit.message) {
                continue;
            }
            let to_blame = axes.iter().position(|axis| misfit.key.as_deref().is_some_and(|key| covers(&axis.key, key)));
            let place = to_blame.map_or("axis".to_owned(), |i| {
                let value = point.values[i].as_ref();
                let j = axes[i].levels().iter().position(|level| Some(level) == value);
                j.map_or(format!("axis[{i}]"), |j| value_key(&axes[i], i, j))
            });
            let words = point.words(axes).unwrap_or_else(|| "the base".to_owned());
            problems.push(KeyProblem::at(place, format!("point {} ({words}): {}", point.number, misfit.message)));
            reported.push(misfit.message);
        }
        problems
    }
}

/// Returns an error with the first problems, if there are any.
fn reject(mut problems: Vec<KeyProblem>) -> Result<(), StudyError> {
    problems.truncate(MOST_PROBLEMS);
    Ok(Problems::check(problems)?)
}

/// Returns the key of value `j` of axis `i`.
fn value_key(axis: &Axis, i: usize, j: usize) -> String {
    match (&axis.values, j) {
        (Some(_), _) => format!("axis[{i}].values[{j}]"),
        (None, 0) => format!("axis[{i}].from"),
        (None, _) => format!("axis[{i}].to"),
    }
}

/// Returns true if the path of an axis, which may contain `[*]`, covers the key.
fn covers(axis: &str, key: &str) -> bool {
    let [axis, key] = [axis, key].map(|path| path.split(['.', '[', ']']).filter(|step| !step.is_empty()));
    let steps: Vec<_> = axis.collect();
    let found: Vec<_> = key.collect();
    steps.len() == found.len() && steps.iter().zip(&found).all(|(step, found)| *step == "*" || step == found)
}
