//! Common parts of commands: parts of their replications, inputs, the form of their output.

use crate::cli::args::{CheckArgs, Command, ConvertArgs, NetCommand, PartArgs, StructureArgs, SweepPrintArgs};
use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::notes::Failure;
use crate::cli::stdin::{StandardInput, is_standard};
use crate::cli::study::Route;

impl Command {
    /// Returns the requested part of the replications and whether its file may replace an existing file;
    /// `None` for commands without parts.
    pub(crate) fn part(&self) -> Option<(PartArgs, bool)> {
        match self {
            Self::Net(NetCommand::Simulate(args)) => Some((args.part.clone(), args.print.force)),
            Self::Estimate(args) => Some((args.part.clone(), args.print.force)),
            Self::Whatif(args) => Some((args.part.clone(), args.print.force)),
            // the shards of a sweep are folders
            Self::Study(args) => matches!(args.route(), Ok(Route::Effects)).then(|| (args.part(), args.print.force)),
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
            Self::Study(args) => args.inputs.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// Reads standard input for a command that decides by the kind of its inputs.
    pub(crate) fn read_stdin(&mut self) -> Result<(), Failure> {
        if !matches!(self, Self::Estimate(_) | Self::Whatif(_) | Self::Study(_)) {
            return Ok(());
        }
        let mut slots = self.inputs_mut().into_iter().filter(|input| is_standard(input));
        if let Some(slot) = slots.next() {
            let failed = |error| Failure::plain(Exit::Io, format!("cannot read standard input: {error}"));
            *slot = Input::standard(StandardInput::read().map_err(failed)?);
        }
        match slots.next() {
            Some(_) => Err(Failure::plain(Exit::Usage, "standard input (`-`) can be read only once")),
            None => Ok(()),
        }
    }

    /// Replaces the output form of a command that can run in parts.
    pub(crate) fn show_as(&mut self, other: &SweepPrintArgs) {
        let (print, plots) = match self {
            Self::Net(NetCommand::Simulate(args)) => (&mut args.print, &mut args.plots),
            Self::Estimate(args) => (&mut args.print, &mut args.plots),
            Self::Whatif(args) => (&mut args.print, &mut args.plots),
            Self::Study(args) => (&mut args.print, &mut args.plots),
            _ => return,
        };
        if other.form.is_chosen() {
            *print = other.form.clone();
        }
        // a part does not record which files may be replaced here
        print.force = other.form.force;
        if other.plots.plots.is_some() {
            *plots = other.plots.clone();
        }
    }
}
