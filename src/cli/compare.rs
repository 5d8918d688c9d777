//! `compare`: the differences between two sides of logs, results or plans.

use std::path::{Path, PathBuf};

use tailspn::compare::{
    Compared, ComparedRun, ComparedTime, ComparisonReport, compare_logs, compare_plans, compare_times,
};
use tailspn::plan::JobPlan;
use tailspn::report::Answer;
use tailspn::trace::ReadOptions;

use crate::cli::args::CompareArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::kinds::compared;
use crate::cli::load::{read_bytes, unreadable};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::report::read_result;
use crate::cli::trace::{LogChoice, all_logs, tell_warnings};
use crate::cli::watch::catch_interrupt;

/// A plan and the name of its file.
type NamedPlan = (String, toml::Table);

impl Ask for CompareArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    /// Compares the files.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let [a, b] = sides(self)?;
        catch_interrupt(terminal);
        let report = match kind_of(a, b)? {
            Compared::Logs => logs(a, b, self, terminal)?,
            Compared::Results => {
                let [a, b] = [times(a)?, times(b)?];
                compare_times(&a, &b, self.level).ok_or_else(empty)?
            }
            Compared::Plans => {
                let [a, b] = with_defaults([plans(a)?, plans(b)?]);
                compare_plans(&a, &b, self.level)
            }
        };
        Ok(Answer::new(report).unless_stopped(interrupted()).into())
    }
}

/// Returns the files of each side.
fn sides(args: &CompareArgs) -> Result<[&[PathBuf]; 2], Failure> {
    match (&args.from[..], &args.to[..]) {
        ([_, _], []) => Ok([&args.from[..1], &args.from[1..]]),
        (from, []) => Err(Failure::helped(
            Exit::Usage,
            format!("{} without `--to`, so side B is unknown", tailspn::report::counted(from.len() as u128, "file")),
            "pass two files, or put the files of side B after `--to`",
        )),
        (from, to) => Ok([from, to]),
    }
}

fn empty() -> Failure {
    Failure::plain(Exit::Usage, "a side has no file")
}

/// Returns the kind of the files, which must be the same for all.
fn kind_of(a: &[PathBuf], b: &[PathBuf]) -> Result<Compared, Failure> {
    let mut first: Option<(Compared, String, &PathBuf)> = None;
    for path in a.iter().chain(b) {
        // a missing file must not be reported as a file of the wrong kind
        std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        let Some((kind, text)) = compared(path) else {
            return Err(Failure::helped(
                Exit::Model,
                format!("`{}` is not a log, a result or a plan", path.display()),
                "a result is the output of `--json`; to compare nets, use `tailspn check NET --against OTHER`",
            ));
        };
        match &first {
            Some((other, words, of)) if *other != kind => {
                let message = format!("`{}` is {words}, `{}` is {text}", of.display(), path.display());
                return Err(Failure::helped(
                    Exit::Usage,
                    message,
                    "compare logs with logs, results with results, or plans with plans",
                ));
            }
            Some(_) => {}
            None => first = Some((kind, text, path)),
        }
    }
    first.map(|(kind, ..)| kind).ok_or_else(empty)
}

fn logs(a: &[PathBuf], b: &[PathBuf], args: &CompareArgs, terminal: &Terminal) -> Result<ComparisonReport, Failure> {
    let options = ReadOptions::from(&args.limits);
    let read = |log: &LogChoice| {
        let trace = log.load(terminal)?;
        tell_warnings(&trace, terminal);
        ComparedRun::of(&trace).map_err(|error| Failure::plain(Exit::Trace, error.to_string()))
    };
    let all = |paths: &[PathBuf]| {
        all_logs(&paths.iter().collect::<Vec<_>>(), &options)?.iter().map(read).collect::<Result<Vec<_>, Failure>>()
    };
    let [a, b] = [all(a)?, all(b)?];
    compare_logs(&a, &b, args.level).ok_or_else(empty)
}

/// Returns the times of results.
fn times(paths: &[PathBuf]) -> Result<Vec<ComparedTime>, Failure> {
    let one = |path: &PathBuf| {
        let source = path.display().to_string();
        let found = read_result(&source, &read_bytes(path)?)?;
        let document = found.document();
        let Some(headline) = &document.headline else {
            return Err(Failure::helped(
                Exit::Refused,
                format!("`{source}` is a {} without a mean time to compare", document.kind),
                "compare the --json of `estimate`, `simulate` or `solve`, or the logs themselves",
            ));
        };
        let plan = toml::from_str(&document.plan).unwrap_or_default();
        Ok(ComparedTime { mean: headline.mean.measured.clone(), plan, file: source })
    };
    paths.iter().map(one).collect()
}

/// Reads the plans; returns each with its name.
fn plans(paths: &[PathBuf]) -> Result<Vec<NamedPlan>, Failure> {
    paths.iter().map(|path| plan(path)).collect()
}

/// Returns plans of jobs with every key written out, so that a default that only one plan states is no difference. Other
/// plans stay as they are.
fn with_defaults(sides: [Vec<NamedPlan>; 2]) -> [Vec<NamedPlan>; 2] {
    let whole = |(name, plan): &NamedPlan| {
        let plan = JobPlan::from_toml(&plan.to_string()).ok()?.to_toml().ok()?.parse().ok()?;
        Some((name.clone(), plan))
    };
    match sides.each_ref().map(|plans| plans.iter().map(whole).collect()) {
        [Some(a), Some(b)] => [a, b],
        _ => sides,
    }
}

fn plan(path: &Path) -> Result<NamedPlan, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::plain(Exit::Model, format!("`{name}` is not a plan: it is not UTF-8 text")))?;
    let plan = toml::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| Failure::plain(Exit::Model, format!("`{name}` is not a plan: {}", error.message())))?;
    Ok((name, plan))
}
