//! `net convert`: a net in another format.

use std::io;
use std::path::Path;

use tailspn::formats::pipe::{
    PipeFinding, Target, WriteOptions, WriteWarning, plain_report, write, write_pnml, write_to, written_report,
};
use tailspn::formats::svg::{svg, svg_at};
use tailspn::formats::{ExportError, Format, Positions, arranged, dot::dot, greatspn, jani, prism};
use tailspn::net::{Net, PlaceId};
use tailspn::structure::{Limits, Wanted, analyse};

use crate::cli::args::{ConvertArgs, LayoutChoice, OutFormat};
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file, write_file_with};
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;

/// Reads a net and writes it.
pub(crate) fn run(args: &ConvertArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    const WITH_TO: &str = ", or add --to with pipe4, pipe5, pnml, greatspn, greatspn-net, jani, prism, dot or svg";
    let format = args.to.map_or_else(|| format_of(&args.out, WITH_TO), Ok)?;
    may_write(&args.out, args.force)?;
    let loaded = read_net(&args.net)?;
    terminal.warnings(&loaded.warnings);
    let net = match format {
        OutFormat::Jani | OutFormat::Prism => limited(loaded.net, args.place_limit)?,
        _ => loaded.net,
    };
    let text = match (format, args.layout) {
        (OutFormat::Svg, choice) => picture(&net, choice, terminal),
        (OutFormat::Dot, LayoutChoice::File | LayoutChoice::Layered) => {
            let note = Note::problem("`--layout` has no meaning for DOT, which has no positions");
            return Err(Failure::new(Exit::Usage, note.with_help("Graphviz lays out the graph")));
        }
        (_, layout) => {
            let net = if layout == LayoutChoice::Layered { arranged(&net) } else { net };
            export_to(&net, format, !args.keep_erlang, (&args.out, args.force), terminal)?;
            return Ok(Exit::Success);
        }
    };
    put(&args.out, &text, args.force, terminal)?;
    Ok(Exit::Success)
}

/// Returns the format implied by a file name. `or` ends the advice if the name implies none.
pub(crate) fn format_of(path: &Path, or: &str) -> Result<OutFormat, Failure> {
    match Format::of_name(path) {
        Some(Format::Pipe) => Ok(OutFormat::Pipe4),
        Some(Format::Pnml) => Ok(OutFormat::Pnml),
        Some(Format::GreatSpn) => Ok(OutFormat::Greatspn),
        Some(Format::GreatSpnNet) => Ok(OutFormat::GreatspnNet),
        Some(Format::Jani) => Ok(OutFormat::Jani),
        Some(Format::Prism) => Ok(OutFormat::Prism),
        Some(Format::Dot) => Ok(OutFormat::Dot),
        Some(Format::Svg) => Ok(OutFormat::Svg),
        _ if path.as_os_str() == "-" => Ok(OutFormat::Pipe4),
        _ => {
            let note = Note::problem(format!("the extension of `{}` does not determine the format", path.display()));
            let help = format!("use the extension .xml, .pnml, .PNPRO, .net, .jani, .prism, .dot or .svg{or}");
            Err(Failure::new(Exit::Usage, note.with_help(help)))
        }
    }
}

fn picture(net: &Net, choice: LayoutChoice, terminal: &Terminal) -> String {
    let positions = match choice {
        LayoutChoice::Auto => Positions::Auto,
        LayoutChoice::File => Positions::File,
        LayoutChoice::Layered => Positions::Layered,
    };
    let (text, set_aside) = svg_at(net, positions);
    if let Some(why) = set_aside {
        terminal.tell(&format!(
            "note: drawn in layers, because {why} at the positions of the file; `--layout file` keeps those positions"
        ));
    }
    text
}

/// Returns the maximum tokens of each place; `None` if no invariant bounds the place.
fn place_bounds(net: &Net) -> Result<Vec<Option<u64>>, Failure> {
    let wanted = Wanted { invariants: true, siphons: false, bounds: true, throughputs: false };
    let structure = analyse(&compile_net(net)?, wanted, &Limits::default(), &|| false);
    let rows = structure.bounds.map(|bounds| bounds.rows).unwrap_or_default();
    let mut most = vec![None; net.places().len()];
    for (row, &place) in rows.iter().zip(&structure.incidence.place_of) {
        most[place as usize] = row.most;
    }
    Ok(most)
}

/// Returns the net with a capacity for each place without a known bound.
fn limited(net: Net, limit: Option<u64>) -> Result<Net, Failure> {
    let Some(limit) = limit else { return Ok(net) };
    let limit = u32::try_from(limit).map_err(|_| Failure::plain(Exit::Usage, "--place-limit must be below 2^32"))?;
    let bounds = place_bounds(&net)?;
    let mut builder = net.to_builder();
    for (i, bound) in bounds.iter().enumerate() {
        let place = builder.place_mut(PlaceId::from_index(i));
        if place.capacity.is_none() && bound.is_none() {
            place.capacity = Some(limit);
        }
    }
    builder.build().map_err(|problems| {
        let notes = problems.iter().map(|problem| Note::problem(problem.to_string())).collect();
        Failure::of_notes(Exit::Usage, notes)
    })
}

/// Returns the written net, or a failure with everything that the format cannot express.
fn exported<T>(written: Result<T, Vec<ExportError>>) -> Result<T, Failure> {
    written.map_err(|problems| {
        let notes = problems.iter().map(|problem| Note::problem(problem.to_string())).collect();
        Failure::of_notes(Exit::Refused, notes)
    })
}

/// Returns the net as text; warns about everything the format cannot express.
///
/// # Errors
///
/// The format lacks something that the net needs.
pub(crate) fn export(
    net: &Net,
    format: OutFormat,
    expand_erlang: bool,
    terminal: &Terminal,
) -> Result<String, Failure> {
    let target = match format {
        OutFormat::Jani => return exported(jani::write(net, &place_bounds(net)?)),
        OutFormat::Prism => return exported(prism::prism(net, &place_bounds(net)?)),
        OutFormat::Dot => return Ok(dot(net)),
        OutFormat::Svg => return Ok(svg(net)),
        OutFormat::Pnml => {
            let written = write_pnml(net);
            tell_losses(&written.warnings, terminal);
            return Ok(written.xml);
        }
        OutFormat::Greatspn => return greatspn_project(net, terminal),
        OutFormat::GreatspnNet => {
            let problem = "a pair of `.net` and `.def` files cannot be written to standard output";
            return Err(Failure::helped(Exit::Usage, problem, "write to a file NAME.net"));
        }
        OutFormat::Pipe4 => Target::Pipe4,
        OutFormat::Pipe5 => Target::Pipe5,
    };
    let written = write(net, &WriteOptions { target, expand_erlang });
    tell_losses(&written.warnings, terminal);
    tell_findings(written_report(&written), terminal);
    Ok(written.xml)
}

/// Writes a net to a file, or to standard output for `-`. The text of a large net is not kept in memory if it is PIPE XML
/// without instructions.
///
/// # Errors
///
/// As [`export`], and if the file cannot be written.
pub(crate) fn export_to(
    net: &Net,
    format: OutFormat,
    expand_erlang: bool,
    (path, force): (&Path, bool),
    terminal: &Terminal,
) -> Result<(), Failure> {
    let target = match format {
        OutFormat::Pipe4 => Some(Target::Pipe4),
        OutFormat::Pipe5 => Some(Target::Pipe5),
        _ => None,
    };
    if format == OutFormat::GreatspnNet && path.as_os_str() != "-" {
        let pair = exported(greatspn::write_pair(net))?;
        tell_losses(&pair.warnings, terminal);
        let definitions = path.with_extension("def");
        may_write(&definitions, force)?;
        write_file(&definitions, pair.def.as_bytes(), force)?;
        return write_file(path, pair.net.as_bytes(), force);
    }
    if let Some(target) = target.filter(|_| path.as_os_str() != "-") {
        let options = WriteOptions { target, expand_erlang };
        let first = write_to(net, &options, &mut io::sink()).map_err(Failure::internal)?;
        if first.is_plain {
            tell_losses(&first.warnings, terminal);
            tell_findings(plain_report(net, &first), terminal);
            return write_file_with(path, force, |out| write_to(net, &options, out)).map(drop);
        }
    }
    put(path, &export(net, format, expand_erlang, terminal)?, force, terminal)
}

/// Reports errors that PIPE would make with a written file.
fn tell_findings(findings: Vec<PipeFinding>, terminal: &Terminal) {
    let findings = findings.into_iter();
    let notes = findings.map(|finding| (finding.version, format!("{}: {}", finding.version, finding.message)));
    terminal.warnings(&summary_of(notes));
}

/// Reports features that a written file lacks.
fn tell_losses(warnings: &[WriteWarning], terminal: &Terminal) {
    let notes = summary_of(warnings.iter().map(|warning| (warning.loss, warning.message.clone())));
    terminal.warnings(&notes);
}

/// Returns the net as a GreatSPN project.
fn greatspn_project(net: &Net, terminal: &Terminal) -> Result<String, Failure> {
    let written = exported(greatspn::write(net))?;
    tell_losses(&written.warnings, terminal);
    Ok(written.xml)
}

/// Maximum number of warnings of one kind that are printed.
const MOST_OF_A_KIND: usize = 3;

/// Returns the first few warnings of each kind.
fn summary_of<K: PartialEq>(warnings: impl Iterator<Item = (K, String)>) -> Vec<Note> {
    let mut kinds: Vec<(K, usize)> = Vec::new();
    let mut notes = Vec::new();
    for (kind, message) in warnings {
        let index = kinds.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            kinds.push((kind, 0));
            kinds.len() - 1
        });
        kinds[index].1 += 1;
        if kinds[index].1 <= MOST_OF_A_KIND {
            notes.push(Note::warning(message));
        }
    }
    let left: usize = kinds.iter().map(|(_, count)| count.saturating_sub(MOST_OF_A_KIND)).sum();
    if left > 0 {
        notes.push(Note::warning(format!("{left} more such warnings")));
    }
    notes
}

/// Writes to a file, or to standard output for `-`.
pub(crate) fn put(path: &Path, text: &str, force: bool, terminal: &Terminal) -> Result<(), Failure> {
    if path.as_os_str() == "-" { terminal.data(text) } else { write_file(path, text.as_bytes(), force) }
}
