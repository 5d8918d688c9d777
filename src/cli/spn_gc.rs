//! `net spn-gc`: the net of a MapReduce job on a GPU cluster, or of a plan of stages.

use std::error::Error;

use tailspn::ask::net_of_stages;
use tailspn::mapreduce::params::GivenPhases;
use tailspn::mapreduce::{CopyPolicy, JobPhases, Plan, Speculation, job_net, seeded_phase_times};
use tailspn::net::Net;
use tailspn::plan::{JobPlan, PlanOption};
use tailspn::stages::StagePlan;

use crate::cli::args::{OutFormat, SpnGcArgs};
use crate::cli::call::interrupted;
use crate::cli::convert::{export_to, format_of};
use crate::cli::exit::Exit;
use crate::cli::files::may_write;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, job_of, only_whatif};
use crate::cli::spn_gc_parts;
use crate::cli::watch::catch_interrupt;

/// Writes the net.
pub(crate) fn run(args: &SpnGcArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = format_of(&args.save_net, "")?;
    may_write(&args.save_net, args.force)?;
    let text = args.plan.as_ref().map(|plan| PlanText::read(plan, terminal)).transpose()?;
    let options = &args.planned;
    let given = options.options();
    let has_slots = |option: &PlanOption| matches!(option, PlanOption::MapSlots(_) | PlanOption::ReduceSlots(_));
    let slots = options.job.slots || given.iter().any(has_slots);
    let slots = slots || text.as_ref().is_some_and(|text| text.states("model", "slots"));
    let [places, transitions, arcs] = match job_of(text.as_ref(), &given)? {
        JobPlan::Stages(plan) => write(&stages(&plan, args, terminal)?, format, args, terminal)?,
        JobPlan::MapReduce(mut plan) => {
            apply(args, &mut plan);
            if plan.model.slots && !slots {
                plan.model.slots = false;
                terminal.tell(
                    "note: all tasks start immediately, as in the paper; in `estimate` and with `spn-gc --slots`, tasks wait for slots",
                );
            }
            write_job(&plan, format, args, terminal)?
        }
        plan @ JobPlan::Tasks(_) => return Err(only_whatif(&plan, "spn-gc")),
    };
    terminal.tell(&format!("{places} places, {transitions} transitions, {arcs} arcs"));
    Ok(Exit::Success)
}

/// Writes a net; returns its numbers of places, transitions and arcs.
fn write(net: &Net, format: OutFormat, args: &SpnGcArgs, terminal: &Terminal) -> Result<[usize; 3], Failure> {
    export_to(net, format, true, (&args.save_net, args.force), terminal)?;
    Ok([net.places().len(), net.transitions().len(), net.arcs().len()])
}

/// Returns the net of a plan of stages.
fn stages(plan: &StagePlan, args: &SpnGcArgs, terminal: &Terminal) -> Result<Net, Failure> {
    let for_jobs = args.maps.is_some()
        || args.means.is_some()
        || args.stragglers.is_some()
        || args.speculation.is_some()
        || args.clone.is_some();
    if for_jobs {
        return Err(Failure::helped(
            Exit::Usage,
            "a plan of stages defines its own tasks, times and distributions, and its net has neither stragglers nor speculative copies",
            "remove --maps, --means, --stragglers, --speculation and --clone",
        ));
    }
    if plan.speculation.is_some() {
        terminal.tell("note: the net has no speculative copies");
    }
    Ok(net_of_stages(plan)?)
}

/// Sets the number of map tasks, the means and the stragglers of the plan from the arguments. If the means are computed
/// from the plan, the input size is set so that it has one split per map task.
fn apply(args: &SpnGcArgs, plan: &mut Plan) {
    if let Some(means_s) = args.means {
        plan.phases = Some(GivenPhases { means_s, ..plan.phases.take().unwrap_or_default() });
    }
    match &mut plan.phases {
        Some(phases) => phases.maps = args.maps.or(phases.maps),
        None => {
            if let Some(maps) = args.maps {
                plan.job.input_mb = maps as f64 * plan.job.split_mb;
            }
        }
    }
    if let Some(stragglers) = &args.stragglers {
        plan.stragglers = Some(stragglers.clone());
    }
    if let Some(speculation) = &args.speculation {
        plan.speculation = Some(speculation.clone());
    }
    if let Some(slots) = args.clone {
        plan.speculation = Some(Speculation { policy: CopyPolicy::Clone, slots, ..Speculation::default() });
    }
}

/// Writes the net of a job, and prints warnings about its plan; returns the net's numbers of places, transitions and arcs.
fn write_job(plan: &Plan, format: OutFormat, args: &SpnGcArgs, terminal: &Terminal) -> Result<[usize; 3], Failure> {
    let failed = |error: &dyn Error| Failure::plain(Exit::Model, error.to_string());
    let target = spn_gc_parts::target(plan, format, args);
    if target.is_some() {
        catch_interrupt(terminal);
    }
    let phases = seeded_phase_times(plan).map_err(|error| failed(&error))?;
    let written = target.map(|target| spn_gc_parts::write(plan, &phases, target, args, terminal)).transpose()?;
    if let Some(counts) = written.flatten() {
        tell_phases(&phases, terminal);
        return Ok(counts);
    }
    let job = job_net(plan, &phases).map_err(|error| failed(&error))?;
    if interrupted() {
        return Err(spn_gc_parts::stopped());
    }
    tell_phases(&phases, terminal);
    write(&job.net, format, args, terminal)
}

/// Prints warnings about the phase means of a job.
pub(crate) fn tell_phases(phases: &JobPhases, terminal: &Terminal) {
    let warnings: Vec<Note> = phases.warnings.iter().map(|warning| Note::warning(warning.to_string())).collect();
    terminal.warnings(&warnings);
}
