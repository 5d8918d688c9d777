//! `net check`: the parts of a net, warnings, and the engine that would run it.

use std::path::Path;

use tailspn::formats::pipe::{ReadOptions, Reading, pipe_report};
use tailspn::net::Net;
use tailspn::report::{Answer, CheckReport, DifferenceRow, FileWarningRow, check_net, difference_rows};

use crate::cli::args::{CheckArgs, NetArgs};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::load::{Loaded, read_net};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::stdin::is_standard;
use crate::cli::values::ReadAs;

impl Ask for CheckArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    /// Checks the net.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let loaded = read_net(&self.net)?;
        let report = check_net(&loaded.net)?;
        let warnings = loaded.warnings.iter().map(|w| FileWarningRow { place: w.spot(), message: w.to_string() });
        let report = CheckReport {
            dialect: loaded.dialect.to_string(),
            warnings: warnings.collect(),
            pipe: self.pipe.then(|| pipe_report(&as_pipe_loads(&loaded, &self.net))),
            differences: self.against.as_deref().map(|other| against(&loaded.net, &self.net, other)).transpose()?,
            ..report
        };
        // the report itself says what is wrong
        let faulty = report.fault.then_some(Failure::of_notes(Exit::Model, Vec::new()));
        if !self.print.is_json() {
            terminal.warnings(&loaded.warnings);
        }
        Ok(Asked::from(Answer::new(report)).failing(faulty))
    }
}

/// Returns the net as PIPE loads it: without the instructions that PIPE skips. Standard input cannot be read again, so
/// the net that was read from it is used.
fn as_pipe_loads(loaded: &Loaded, args: &NetArgs) -> Net {
    let question: fn(&mut ReadOptions) -> &mut Reading = |options| &mut options.instructions;
    let without = ReadAs { question: Some(question), reading: Reading::Pipe43 };
    let read_as = args.read_as.iter().copied().chain([without]).collect();
    let (param, chosen) = (args.param.clone(), args.chosen.clone());
    let again = NetArgs { read_as, param, chosen, max_file: args.max_file, ..NetArgs::at(&args.net) };
    let read = if is_standard(&args.net) { None } else { read_net(&again).ok() };
    read.map_or_else(|| loaded.net.clone(), |read| read.net)
}

/// Returns the differences from the net of another file, which is read in the same way.
fn against(net: &Net, args: &NetArgs, other: &Path) -> Result<Vec<DifferenceRow>, Failure> {
    let args = NetArgs { read_as: args.read_as.clone(), max_file: args.max_file, ..NetArgs::at(other) };
    Ok(difference_rows(net, &read_net(&args)?.net))
}
