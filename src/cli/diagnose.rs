//! `diagnose`: why tasks were slow, and what to do about it. The kinds of inputs determine which methods run.

use tailspn::diagnose::causes::RootCauses;
use tailspn::report::{Answer, diagnosis_report, diagnosis_svg};
use tailspn::trace::ReadOptions;

use crate::cli::args::DiagnoseArgs;
use crate::cli::call::interrupted;
use crate::cli::diagnose_inputs::Inputs;
use crate::cli::diagnose_methods::{by_calls, by_log, by_progress, without_log};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::logs::load;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::catch_interrupt;

impl Ask for DiagnoseArgs {
    fn form(&self) -> Form<'_> {
        Form { picture: self.timeline.as_deref(), force: self.force, ..Form::printed(&self.print) }
    }

    /// Reads the inputs and explains why tasks were slow.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        catch_interrupt(terminal);
        let inputs = Inputs::sort(&self.path)?;
        let log = inputs.log();
        let options = ReadOptions::from(&self.limits);
        if let Some(path) = inputs.unknown.first() {
            // the log reader has the best message for other kinds of files
            load(path, &options, terminal)?;
            return Err(Failure::plain(Exit::Trace, format!("`{}` cannot be diagnosed", path.display())));
        }
        let trace = log?.map(|log| load(log, &options, terminal)).transpose()?;
        if trace.is_none() && self.timeline.is_some() {
            return Err(Failure::plain(Exit::Usage, "--timeline needs the log of a job"));
        }
        let (mut said, causes) = match &trace {
            Some(trace) => by_log(&inputs, trace, self, terminal)?,
            None => (without_log(&inputs), RootCauses::default()),
        };
        said.add(by_progress(&inputs, trace.as_ref(), self, terminal)?);
        said.add(by_calls(&inputs, trace.as_ref(), self, terminal)?);
        said.warnings.extend(inputs.left_out());
        let mut report = diagnosis_report(trace.as_ref(), said, causes);
        report.partial |= interrupted();
        let picture = trace.filter(|_| self.timeline.is_some()).map(|trace| diagnosis_svg(&trace, &report.findings));
        Ok(Asked::from(Answer::new(report).unless_stopped(interrupted())).drawing(picture))
    }
}
