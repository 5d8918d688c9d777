//! `spn-gc`: the net of a MapReduce job on a GPU cluster, or of a plan of stages.

use tailspn::job_time::job_and_net;
use tailspn::mapreduce::params::GivenPhases;
use tailspn::mapreduce::{CopyPolicy, JobPhases, Plan, Speculation};
use tailspn::net::Net;
use tailspn::plan::JobPlan;
use tailspn::stages::StagePlan;

use crate::cli::args::SpnGcArgs;
use crate::cli::convert::{export_to, format_of};
use crate::cli::estimate_stages;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::plan::{PlanText, job_of, only_whatif};

/// Writes the net.
pub(crate) fn run(args: &SpnGcArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let format = format_of(&args.output, "")?;
    may_write(&args.output, args.force)?;
    let text = args.plan.as_deref().map(|path| PlanText::read(path, terminal)).transpose()?;
    let options = &args.planned;
    let slots = options.job.slots || options.job.map_slots.is_some() || options.job.reduce_slots.is_some();
    let slots = slots || text.as_ref().is_some_and(|text| text.states("model", "slots"));
    let net = match job_of(text.as_ref(), options, terminal)? {
        JobPlan::Stages(plan) => net_of_stages(&plan, args, terminal)?,
        JobPlan::MapReduce(mut plan) => {
            apply(args, &mut plan);
            if plan.model.slots && !slots {
                plan.model.slots = false;
                terminal.tell(
                    "note: all tasks start immediately, as in the paper; in `estimate` and with `spn-gc --slots`, tasks wait for slots",
                );
            }
            net_of_job(&plan, terminal)?
        }
        plan @ JobPlan::Tasks(_) => return Err(only_whatif(&plan, "spn-gc")),
    };
    export_to(&net, format, true, (&args.output, args.force), terminal)?;
    let (places, transitions) = (net.places().len(), net.transitions().len());
    terminal.tell(&format!("{places} places, {transitions} transitions, {} arcs", net.arcs().len()));
    Ok(Exit::Success)
}

/// Returns the net of a plan of stages.
fn net_of_stages(plan: &StagePlan, args: &SpnGcArgs, terminal: &Terminal) -> Result<Net, Failure> {
    let for_jobs = args.maps.is_some()
        || args.means.is_some()
        || args.stragglers.is_some()
        || args.speculation.is_some()
        || args.clone.is_some();
    if for_jobs {
        return Err(Failure::helped(
            Exit::Usage,
            "a plan of stages defines its own tasks, times and distributions, and its net has no speculative copies",
            "remove --maps, --means, --stragglers, --speculation and --clone",
        ));
    }
    estimate_stages::net(plan, terminal)
}

/// Sets the number of map tasks, the means and the stragglers of the plan from the arguments. If the means are computed
/// from the plan, the input size is set so that it has one split per map task.
fn apply(args: &SpnGcArgs, plan: &mut Plan) {
    if let Some(means_s) = args.means {
        let old = plan.phases.take();
        let maps = old.as_ref().and_then(|phases| phases.maps);
        let reduces = old.as_ref().and_then(|phases| phases.reduces);
        plan.phases = Some(GivenPhases { means_s, maps, reduces });
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

/// Returns the net of a plan; prints warnings about the plan.
fn net_of_job(plan: &Plan, terminal: &Terminal) -> Result<Net, Failure> {
    let (phases, job) = job_and_net(plan).map_err(|error| Failure::plain(Exit::Model, error.to_string()))?;
    tell_phases(&phases, terminal);
    Ok(job.net)
}

/// Prints warnings about the phase means of a job.
pub(crate) fn tell_phases(phases: &JobPhases, terminal: &Terminal) {
    let warnings: Vec<Note> = phases.warnings.iter().map(|warning| Note::warning(warning.to_string())).collect();
    terminal.warnings(&warnings);
}
