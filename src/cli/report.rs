//! Results as an HTML page, or as pictures.

use std::path::Path;

use tailspn::formats::svg::svg;
use tailspn::job_time::job_and_net;
use tailspn::mapreduce::Plan;
use tailspn::report::{AnyReport, PageResult, Picture, ReadError, counted, page, read_json, sweep_report};
use tailspn::subject::FileKind;
use tailspn::sweep::{StoreError, SweepPlan, read as read_sweep};

use crate::cli::args::{NetArgs, ShowArgs};
use crate::cli::convert::put;
use crate::cli::exit::Exit;
use crate::cli::files::may_write;
use crate::cli::load::{read_bytes, read_net};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw, may_draw};
use crate::cli::stdin::is_standard;

/// Maximum number of places and transitions of a net that is drawn.
const MOST_DRAWN: usize = 300;
/// Maximum number of map tasks in a drawn net; more tasks look the same.
const MAPS: u64 = 3;
/// Maximum number of reduce tasks in a drawn net.
const REDUCES: u64 = 2;

/// Makes the page.
pub(crate) fn run(args: &ShowArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if let Some(path) = &args.html {
        may_write(path, args.print.force)?;
    }
    // with several results, file names start with the number of the result; these files are checked when they are
    // written
    if args.files.len() == 1 {
        may_draw(&args.plots, args.print.force)?;
    }
    let shown = load_all(args, terminal)?;
    if let Some(path) = &args.html {
        let text = page(&shown).map_err(Failure::internal)?;
        put(path, &text, args.print.force, terminal)?;
    }
    if args.plots.plots.is_some() {
        let drawn = all_pictures(&shown).map_err(Failure::internal)?;
        draw(&drawn, &args.plots, args.print.force)?;
    }
    Ok(Exit::Success)
}

/// Returns the pictures of all results; with several results, each name starts with the number of the result.
fn all_pictures(shown: &[PageResult]) -> Result<Vec<Picture>, tailspn::report::PlotError> {
    let mut all = Vec::new();
    for (number, one) in (1..).zip(shown) {
        let mut own = one.found.document().pictures()?;
        own.extend(one.net.as_ref().map(|(_, svg)| Picture {
            name: "net".into(),
            wide: svg.clone(),
            narrow: svg.clone(),
        }));
        if shown.len() > 1 {
            own.iter_mut().for_each(|picture| picture.name = format!("{number}-{}", picture.name).into());
        }
        all.extend(own);
    }
    Ok(all)
}

/// The contents of a file.
enum Loaded {
    Result(Box<AnyReport>),
    Plan(String),
    Net(String, String),
}

/// Returns the results, each with the plan and the net that follow it on the command line.
fn load_all(args: &ShowArgs, terminal: &Terminal) -> Result<Vec<PageResult>, Failure> {
    let mut all: Vec<PageResult> = Vec::new();
    for path in &args.files {
        let source = if is_standard(path) { "standard input".into() } else { path.display().to_string() };
        let alone = |what: &str| {
            Failure::helped(
                Exit::Usage,
                format!("`{source}` is {what}, but no result precedes it"),
                "list each plan or net after its result",
            )
        };
        match load(path, &source, terminal)? {
            Loaded::Result(found) => {
                let net = net_of(&found);
                all.push(PageResult { found: *found, source, plan: None, net });
            }
            Loaded::Plan(text) => all.last_mut().ok_or_else(|| alone("a plan"))?.plan = Some(text),
            Loaded::Net(caption, svg) => all.last_mut().ok_or_else(|| alone("a net"))?.net = Some((caption, svg)),
        }
    }
    Ok(all)
}

/// Reads a file, recognised by its content, or the folder of a sweep.
fn load(path: &Path, source: &str, terminal: &Terminal) -> Result<Loaded, Failure> {
    if path.is_dir() {
        return sweep_of(path).map(|found| Loaded::Result(Box::new(found)));
    }
    let bytes = read_bytes(path)?;
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    // a damaged file has no kind: its first byte determines which reader reports the damage
    match (FileKind::of_bytes(&bytes), start.first()) {
        // UTF-16 starts with a byte order mark
        (Some(FileKind::Net), _) | (None, Some(b'<' | b'\xff' | b'\xfe')) => net_in(path, terminal),
        (_, Some(b'{')) => read_result(source, &bytes).map(|found| Loaded::Result(Box::new(found))),
        _ => match std::str::from_utf8(&bytes) {
            Ok(text) if !start.is_empty() && toml::from_str::<toml::Table>(text).is_ok() => {
                Ok(Loaded::Plan(text.to_owned()))
            }
            // this is JSON, so it cannot be a plan
            Ok(_) if start.first() == Some(&b'[') => {
                read_result(source, &bytes).map(|found| Loaded::Result(Box::new(found)))
            }
            _ => {
                let note = Note::problem(format!("`{source}` is not a tailspn result, a plan or a net"));
                let help = "results are the output of `--json` and the folder that `tailspn study --save` writes";
                Err(Failure::new(Exit::Model, note.with_help(help)))
            }
        },
    }
}

/// Reads a result from JSON.
pub(crate) fn read_result(source: &str, bytes: &[u8]) -> Result<AnyReport, Failure> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Failure::plain(Exit::Model, format!("`{source}` is not a tailspn result (not UTF-8 text)")))?;
    let text = text.trim_start_matches('\u{feff}');
    read_json(text).map_err(|error| {
        let note = Note::problem(format!("`{source}` is not a readable result: {error}"));
        let note = match &error {
            ReadError::Text { line, column, .. } => {
                let at = byte_of(text, *line, *column);
                let place = Source::new(source, text);
                note.at(&place, at..at)
                    .with_help("the file may be incomplete; recreate it with `tailspn ... --json > FILE`")
            }
            ReadError::Version { .. } => {
                note.with_help("recreate the result with this version, or the page with the other version")
            }
            _ => note,
        };
        Failure::new(Exit::Model, note)
    })
}

/// Returns the byte offset of a line and column, both from 1.
fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let mut at = (start + column - 1).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Reads the result of a sweep from a folder.
pub(crate) fn sweep_of(folder: &Path) -> Result<AnyReport, Failure> {
    let stored = read_sweep(folder).map_err(|error| match error {
        StoreError::Foreign { .. } => Failure::plain(Exit::Model, error.to_string()),
        error => error.into(),
    })?;
    let plan = SweepPlan::from_toml(&stored.header.plan).map_err(|error| {
        Failure::plain(Exit::Model, format!("the plan in `{}` is not valid: {error}", folder.display()))
    })?;
    Ok(AnyReport::Sweep(Box::new(sweep_report(&plan, &stored))))
}

/// Reads a net from a file and draws it.
fn net_in(path: &Path, terminal: &Terminal) -> Result<Loaded, Failure> {
    if is_standard(path) {
        return Err(Failure::plain(Exit::Usage, "a net cannot be read from standard input here"));
    }
    let loaded = read_net(&NetArgs::at(path))?;
    terminal.brief_warnings(&loaded.warnings);
    let (places, transitions) = (loaded.net.places().len(), loaded.net.transitions().len());
    if places + transitions > MOST_DRAWN {
        let size = format!("{} and {}", counted(places as u64, "place"), counted(transitions as u64, "transition"));
        return Err(Failure::helped(
            Exit::Refused,
            format!("`{}` is too large to draw: {size}", path.display()),
            "`tailspn net convert NET OUT.svg` draws it anyway",
        ));
    }
    let caption = format!("{} and {}", counted(places as u64, "place"), counted(transitions as u64, "transition"));
    Ok(Loaded::Net(caption, svg(&loaded.net)))
}

/// Draws the net of an estimated job, with only a few tasks; returns a caption and the picture, or `None` if the plan
/// cannot be read.
fn net_of(found: &AnyReport) -> Option<(String, String)> {
    let AnyReport::Estimate(report) = found else { return None };
    let mut plan = Plan::from_toml(&report.plan).ok().filter(|_| !report.plan.is_empty())?;
    plan.model.slots = report.job.slots;
    let (maps, reduces) = (report.job.maps.clamp(1, MAPS), report.job.reduces.clamp(1, REDUCES));
    match &mut plan.phases {
        Some(phases) => (phases.maps, phases.reduces) = (Some(maps), Some(reduces)),
        None => {
            plan.job.input_mb = maps as f64 * plan.job.split_mb;
            plan.job.reduces = reduces;
        }
    }
    let (_, job) = job_and_net(&plan).ok()?;
    if job.net.places().len() + job.net.transitions().len() > MOST_DRAWN {
        return None;
    }
    let caption = format!(
        "The net of the job, drawn with {maps} of {} and {reduces} of {}. Circles are places with their tokens, boxes are timed transitions, and bars are immediate transitions.",
        counted(report.job.maps, "map task"),
        counted(report.job.reduces, "reduce task"),
    );
    Some((caption, svg(&job.net)))
}
