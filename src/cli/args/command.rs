//! Common parts of commands: parts of their replications, inputs, the form of their output.

use crate::cli::args::{CheckArgs, Command, ConvertArgs, NetCommand, PartArgs, StructureArgs, SweepPrintArgs};
use crate::cli::input::Input;

impl Command {
    /// Returns the requested part of the replications and whether its file may replace an existing file;
    /// `None` for commands without parts.
    pub(crate) fn part(&self) -> Option<(&PartArgs, bool)> {
        match self {
            Self::Net(NetCommand::Simulate(args)) => Some((&args.part, args.force)),
            Self::Estimate(args) => Some((&args.part, args.force)),
            Self::Whatif(args) => Some((&args.part, args.force)),
            Self::Sensitivity(args) => Some((&args.part, args.force)),
            _ => None,
        }
    }

    /// Returns the inputs that may be in memory, in the order of the arguments.
    pub(crate) fn inputs_mut(&mut self) -> Vec<&mut Input> {
        match self {
            Self::Net(NetCommand::Check(CheckArgs { net, .. }))
            | Self::Net(NetCommand::Convert(ConvertArgs { net, .. }))
            | Self::Net(NetCommand::Structure(StructureArgs { net, .. })) => vec![&mut net.net],
            Self::Net(NetCommand::Simulate(args)) => vec![&mut args.net.net],
            Self::Net(NetCommand::Solve(args)) => vec![&mut args.net.net],
            Self::Net(NetCommand::Query(args)) => vec![&mut args.net.net],
            Self::Net(NetCommand::Rare(args)) => vec![&mut args.net.net],
            Self::Net(NetCommand::SpnGc(args)) => args.plan.iter_mut().collect(),
            Self::Estimate(args) => args.inputs.iter_mut().collect(),
            Self::Whatif(args) => args.plan.iter_mut().collect(),
            Self::Sweep(args) => args.plan.iter_mut().collect(),
            Self::Sensitivity(args) => args.subject.iter_mut().collect(),
            Self::Optimize(args) => args.inputs.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Replaces the output form of a command that can run in parts.
    pub(crate) fn show_as(&mut self, other: &SweepPrintArgs) {
        let (print, plots, force) = match self {
            Self::Net(NetCommand::Simulate(args)) => (&mut args.print, &mut args.plots, &mut args.force),
            Self::Estimate(args) => (&mut args.print, &mut args.plots, &mut args.force),
            Self::Whatif(args) => (&mut args.print, &mut args.plots, &mut args.force),
            Self::Sensitivity(args) => (&mut args.print, &mut args.plots, &mut args.force),
            _ => return,
        };
        // a part does not record which files may be replaced here
        *force = other.force;
        if other.form.is_chosen() {
            *print = other.form;
        }
        if other.plots.plots.is_some() {
            *plots = other.plots.clone();
        }
    }
}
