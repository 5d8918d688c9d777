//! `diagnose`: why tasks were slow, and what to do about it. The kinds of inputs determine which methods run.

use std::path::PathBuf;

use tailspn::diagnose::InputFindings;
use tailspn::diagnose::causes::{CauseSettings, LogCauses, NodeMap, PoolOptions, RootCauses, Rules, causes_of_log};
use tailspn::diagnose::samples::{SampleOptions, Samples, is_readable, read_samples};
use tailspn::report::{Answer, diagnosis_report, diagnosis_svg};
use tailspn::trace::{JobTrace, ReadOptions};

use crate::cli::args::{DiagnoseArgs, RulesChoice};
use crate::cli::call::interrupted;
use crate::cli::diagnose_inputs::Inputs;
use crate::cli::diagnose_more::{by_calls, by_progress};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::pictures::{may_write_picture, write_picture};
use crate::cli::trace::load;
use crate::cli::watch::{Progress, catch_interrupt};

impl Ask for DiagnoseArgs {
    fn form(&self) -> Form<'_> {
        Form { force: self.force, ..Form::printed(&self.print) }
    }

    /// Reads the inputs and explains why tasks were slow.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        if let Some(path) = &self.timeline {
            may_write_picture(path, self.force)?;
        }
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
            Some(trace) => of_log(trace, &inputs, self, terminal)?,
            None => (without_log(&inputs), RootCauses::default()),
        };
        said.add(by_progress(&inputs, trace.as_ref(), self, terminal)?);
        said.add(by_calls(&inputs, trace.as_ref(), self, terminal)?);
        said.warnings.extend(inputs.left_out());
        let mut report = diagnosis_report(trace.as_ref(), said, causes);
        report.partial |= interrupted();
        let picture = trace.filter(|_| self.timeline.is_some()).map(|trace| diagnosis_svg(&trace, &report.findings));
        let asked = Asked::from(Answer::new(report).unless_stopped(interrupted()));
        Ok(match (&self.timeline, picture) {
            (Some(path), Some(picture)) => asked.writing(move |_| write_picture(path, &picture, self.force)),
            _ => asked,
        })
    }
}

/// Findings from the log and the samples of its nodes.
fn of_log(
    trace: &JobTrace,
    inputs: &Inputs,
    args: &DiagnoseArgs,
    terminal: &Terminal,
) -> Result<(InputFindings, RootCauses), Failure> {
    let samples = samples(inputs, args, terminal)?;
    let settings = CauseSettings {
        map: node_map(trace, args)?,
        cpu: args.cpu.0,
        pool: PoolOptions { edge_width: args.edge_width, ..PoolOptions::default() },
        rules: rules(args),
    };
    let LogCauses { inputs: mut read, causes, map_to_complete } = causes_of_log(trace, &samples, &settings);
    if inputs.samples.is_empty() {
        let none = "no node samples: CPU, disk and network load are unknown (see `tailspn diagnose --help`)";
        read.missing.insert(0, none.to_owned());
    }
    if let Some(text) = map_to_complete {
        terminal.tell(&format!("A node map to complete, for --node-map:\n\n{text}"));
    }
    Ok((read, causes))
}

/// Lists what cannot be determined without a log.
fn without_log(inputs: &Inputs) -> InputFindings {
    let mut missing = vec!["without a job log, the causes of single slow tasks are unknown".to_owned()];
    if !inputs.samples.is_empty() {
        missing.push("node samples were not read: they are used only with a job log".to_owned());
    }
    InputFindings { missing, ..InputFindings::default() }
}

fn samples(inputs: &Inputs, args: &DiagnoseArgs, terminal: &Terminal) -> Result<Samples, Failure> {
    let options = SampleOptions { utc_offset: args.utc_offset, most_bytes: args.max_samples };
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    // a binary file often lies next to the text that was made from it; without that text it is refused
    let readable: Vec<PathBuf> = inputs.samples.iter().filter(|path| is_readable(path)).cloned().collect();
    let paths = if readable.is_empty() { inputs.samples.clone() } else { readable };
    Ok(read_samples(&paths, &options, &progress)?)
}

/// Returns the given map and clock offsets.
fn node_map(trace: &JobTrace, args: &DiagnoseArgs) -> Result<NodeMap, Failure> {
    let mut map = NodeMap::default();
    if let Some(path) = &args.node_map {
        let bytes = crate::cli::load::read_bytes(path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        map = NodeMap::parse(&text).map_err(|error| {
            let source = Source::new(path.display().to_string(), text.as_str());
            let note = Note::problem(error.message).with_help("`tailspn diagnose --help` shows a node map");
            Failure::new(Exit::Model, error.span.map_or(note.clone(), |span| note.at(&source, span)))
        })?;
    }
    args.clock_offset.iter().for_each(|(node, seconds)| map.shift(trace, node.as_deref(), *seconds));
    Ok(map)
}

fn rules(args: &DiagnoseArgs) -> Rules {
    let base = match args.rules {
        RulesChoice::Own => Rules::default(),
        RulesChoice::Paper => Rules::of_the_paper(),
    };
    let (quantile, peer_factor, edge, edge_factor) = (args.quantile, args.peer_factor, args.edge.0, args.edge_factor);
    Rules { quantile, peer_factor, edge, edge_factor, ..base }
}
