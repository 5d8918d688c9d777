//! `solve`: the files that other programs read.

use std::io;
use std::path::{Path, PathBuf};

use tailspn::compile::Program;
use tailspn::solve::{
    Drawing, StateSpace, reachability_dot, write_matrix_market, write_prism_labels, write_prism_states,
    write_prism_transitions,
};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::{may_write, write_file};

/// The files of PRISM: the prefix with each ending.
fn prism_files(prefix: &Path) -> [PathBuf; 3] {
    ["sta", "tra", "lab"].map(|ending| {
        let mut name = prefix.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Refuses to replace files before the work begins.
pub(super) fn may_write_all(args: &SolveArgs) -> Result<(), Failure> {
    let prism = args.export_prism.iter().flat_map(|prefix| prism_files(prefix));
    let others = [&args.export_dot, &args.export_mtx].into_iter().flatten().cloned();
    prism.chain(others).try_for_each(|path| may_write(&path, args.force))
}

/// Writes all files that were asked for.
pub(super) fn write_all(space: &StateSpace, program: &Program, args: &SolveArgs) -> Result<(), Failure> {
    let chain = space.complete().map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
    if let Some(path) = &args.export_dot {
        let drawing = Drawing { vanishing: args.draw_vanishing, ..Drawing::default() };
        let text = reachability_dot(space, program, drawing);
        let text = text.map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
        write_file(path, text.as_bytes(), args.force)?;
    }
    if let Some(path) = &args.export_mtx {
        write(path, args.force, |out| write_matrix_market(chain, out))?;
    }
    if let Some(prefix) = &args.export_prism {
        let [states, transitions, labels] = prism_files(prefix);
        write(&states, args.force, |out| write_prism_states(space, program, out))?;
        write(&transitions, args.force, |out| write_prism_transitions(chain, out))?;
        write(&labels, args.force, |out| write_prism_labels(space, out))?;
    }
    Ok(())
}

fn write(path: &Path, force: bool, fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    fill(&mut bytes).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
    write_file(path, &bytes, force)
}
