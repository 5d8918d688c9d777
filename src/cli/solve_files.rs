//! `net solve`: pictures, and the files that other programs read.

use std::io;
use std::path::{Path, PathBuf};

use tailspn::compile::Program;
use tailspn::report::{MOST_DRAWN, SolveReport, graph_dot, graph_svg};
use tailspn::solve::{
    Coverability, DrawError, Drawing, MarkingGraph, Priorities, StateGraph, StateSpace, coverability_graph,
    reachability_graph, untimed_graph, write_matrix_market, write_prism_labels, write_prism_states,
    write_prism_transitions,
};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{may_plot, may_write_picture, write_picture};

/// Returns the paths of the PRISM files: the prefix with each extension.
fn prism_files(prefix: &Path) -> [PathBuf; 3] {
    ["sta", "tra", "lab"].map(|ending| {
        let mut name = prefix.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Refuses to replace files before the work starts.
pub(super) fn may_write_all(args: &SolveArgs) -> Result<(), Failure> {
    if args.plot_cdf.is_some() {
        may_plot("--plot-cdf")?;
    }
    let prism = args.export_prism.iter().flat_map(|prefix| prism_files(prefix));
    let others = [&args.export_dot, &args.export_mtx].into_iter().flatten().cloned();
    prism.chain(others).try_for_each(|path| may_write(&path, args.print.force))?;
    let mut pictures = [&args.plot_cdf, &args.export_svg].into_iter().flatten();
    pictures.try_for_each(|path| may_write_picture(path, args.print.force))
}

/// Draws the distribution function of the time to the goal, if it is requested.
#[cfg(not(feature = "plots"))]
pub(super) fn cdf(_: &SolveReport, args: &SolveArgs) -> Result<Option<String>, Failure> {
    if args.plot_cdf.is_some() { may_plot("--plot-cdf").map(|()| None) } else { Ok(None) }
}

/// Draws the distribution function of the time to the goal, if it is requested.
#[cfg(feature = "plots")]
pub(super) fn cdf(report: &SolveReport, args: &SolveArgs) -> Result<Option<String>, Failure> {
    if args.plot_cdf.is_none() {
        return Ok(None);
    }
    let picture = match &report.passage {
        Some(passage) => tailspn::report::cdf_svg(&report.net.name, passage).map_err(Failure::internal)?,
        None => {
            let message = "there is no distribution to draw: the net has no goal and never stops";
            let note = Note::problem(message).with_help("set a goal with --until EXPR");
            return Err(Failure::new(Exit::Refused, note));
        }
    };
    let none = || Failure::plain(Exit::Refused, "the result has no distribution to draw; see the times above");
    picture.ok_or_else(none).map(Some)
}

/// Writes the picture of the distribution function.
pub(super) fn write_cdf(picture: Option<String>, args: &SolveArgs) -> Result<(), Failure> {
    match (&args.plot_cdf, picture) {
        (Some(path), Some(picture)) => write_picture(path, &picture, args.print.force),
        _ => Ok(()),
    }
}

/// Writes all requested files of a complete state space.
pub(super) fn write_all(space: &StateSpace, program: &Program, name: &str, args: &SolveArgs) -> Result<(), Failure> {
    let chain = space.complete().map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
    write_graph(&format!("{name}: reachability graph"), NO_LIMIT, args, |limit| {
        reachability_graph(space, program, Drawing { vanishing: args.draw_vanishing, limit })
    })?;
    if let Some(path) = &args.export_mtx {
        write(path, args.print.force, |out| write_matrix_market(chain, out))?;
    }
    if let Some(prefix) = &args.export_prism {
        let [states, transitions, labels] = prism_files(prefix);
        write(&states, args.print.force, |out| write_prism_states(space, program, out))?;
        write(&transitions, args.print.force, |out| write_prism_transitions(chain, out))?;
        write(&labels, args.print.force, |out| write_prism_labels(space, out))?;
    }
    Ok(())
}

/// Writes the graph of a net without time.
pub(super) fn write_untimed(
    graph: &MarkingGraph,
    priorities: Priorities,
    program: &Program,
    name: &str,
    args: &SolveArgs,
) -> Result<(), Failure> {
    let title = format!("{name}: reachability graph without time");
    write_graph(&title, "--ctl has no such limit", args, |limit| untimed_graph(graph, program, priorities, limit))
}

/// Writes the coverability graph if a graph is requested, and notes which kind of graph it is.
pub(super) fn write_coverability(
    graph: &Coverability,
    program: &Program,
    name: &str,
    args: &SolveArgs,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let title = format!("{name}: coverability graph");
    write_graph(&title, NO_LIMIT, args, |limit| coverability_graph(graph, program, limit))?;
    for path in [&args.export_dot, &args.export_svg].into_iter().flatten() {
        let path = path.display();
        terminal.tell(&format!("note: `{path}` is the coverability graph, in which ω means any number of tokens"));
    }
    Ok(())
}

/// Advice for a chain with too many markings to draw.
const NO_LIMIT: &str = "--export-mtx and --export-prism have no such limit";

/// Writes a graph, up to a number of markings, as DOT and as a picture, if requested.
fn write_graph(
    title: &str,
    too_large: &str,
    args: &SolveArgs,
    graph: impl Fn(usize) -> Result<StateGraph, DrawError>,
) -> Result<(), Failure> {
    if let Some(path) = &args.export_dot {
        let graph = graph(Drawing::default().limit).map_err(|error| not_drawn(&error, too_large))?;
        write_file(path, graph_dot(&graph).as_bytes(), args.print.force)?;
    }
    if let Some(path) = &args.export_svg {
        let drawn = graph(MOST_DRAWN).and_then(|graph| graph_svg(&graph, title));
        let help = "--export-dot writes larger graphs for Graphviz, whose `sfdp` draws many thousands";
        write_picture(path, &drawn.map_err(|error| not_drawn(&error, help))?, args.print.force)?;
    }
    Ok(())
}

fn not_drawn(error: &DrawError, help: &str) -> Failure {
    let note = Note::problem(error.to_string());
    let note = if matches!(error, DrawError::TooLarge { .. }) { note.with_help(help) } else { note };
    Failure::new(Exit::Refused, note)
}

fn write(path: &Path, force: bool, fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    fill(&mut bytes).map_err(Failure::internal)?;
    write_file(path, &bytes, force)
}
