//! `why` of two sides: the differences between two sides of logs, results or plans.

use std::path::PathBuf;

use tailspn::compare::{
    Compared, ComparedRun, ComparedTime, ComparisonReport, NamedPlan, compare_logs, compare_plans, compare_times,
};
use tailspn::report::Answer;
use tailspn::trace::ReadOptions;

use crate::cli::args::WhyArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::Asked;
use crate::cli::kinds::compared;
use crate::cli::load::read_bytes;
use crate::cli::logs::{LogChoice, all_logs};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::not_text;
use crate::cli::report::read_result;

/// Compares the files.
pub(crate) fn compare<'a>(args: &WhyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let [a, b] = sides(args)?;
    let report = match compared(args.files())? {
        Compared::Logs => logs(a, b, args, terminal)?,
        Compared::Results => {
            let [a, b] = [times(a)?, times(b)?];
            compare_times(&a, &b, args.level).ok_or_else(empty)?
        }
        Compared::Plans => compare_plans(&plans(a)?, &plans(b)?, args.level),
    };
    Ok(Answer::new(report).unless_stopped(interrupted()).into())
}

/// Returns the files of each side.
fn sides(args: &WhyArgs) -> Result<[&[PathBuf]; 2], Failure> {
    match (&args.paths[..], &args.against[..]) {
        ([_, _], []) => Ok([&args.paths[..1], &args.paths[1..]]),
        (from, []) => Err(Failure::helped(
            Exit::Usage,
            format!(
                "{} without `--against`, so side B is unknown",
                tailspn::report::counted(from.len() as u128, "file")
            ),
            "pass two files, or put the files of side B after `--against`",
        )),
        (from, to) => Ok([from, to]),
    }
}

fn empty() -> Failure {
    Failure::plain(Exit::Usage, "a side has no file")
}

fn logs(a: &[PathBuf], b: &[PathBuf], args: &WhyArgs, terminal: &Terminal) -> Result<ComparisonReport, Failure> {
    let options = ReadOptions::from(&args.limits);
    let read = |log: &LogChoice| {
        let run = ComparedRun::of(&log.load(terminal)?);
        run.map_err(|error| Failure::plain(Exit::Model, error.to_string()))
    };
    let all = |paths: &[PathBuf]| -> Result<Vec<ComparedRun>, Failure> {
        all_logs(&paths.iter().collect::<Vec<_>>(), &options)?.iter().map(read).collect()
    };
    let (mut a, mut b) = (all(a)?, all(b)?);
    // of two runs, the earlier one is the reference, whatever the order of the arguments
    if let ([one], [other]) = (&a[..], &b[..])
        && args.against.is_empty()
        && one.began_unix_s.zip(other.began_unix_s).is_some_and(|(one, other)| one > other)
    {
        std::mem::swap(&mut a, &mut b);
    }
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
                "compare the --json of `estimate`, `net simulate` or `net solve`, or the logs themselves",
            ));
        };
        let plan = toml::from_str(&document.plan).unwrap_or_default();
        Ok(ComparedTime { mean: headline.mean.measured.clone(), plan, file: source })
    };
    paths.iter().map(one).collect()
}

/// Reads the plans.
fn plans(paths: &[PathBuf]) -> Result<Vec<NamedPlan>, Failure> {
    let one = |path: &PathBuf| {
        let name = path.display().to_string();
        let text = String::from_utf8(read_bytes(path)?).map_err(|_| not_text(&name))?;
        let plan = toml::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| Failure::plain(Exit::Model, format!("`{name}` is not a plan: {}", error.message())))?;
        Ok((name, plan))
    };
    paths.iter().map(one).collect()
}
