//! `watch`: predicts stragglers while tasks run.

use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use tailspn::diagnose::long_tail::{
    Agent, AgentSettings, Boundary, History, Model, Oddities, Oddity, ProgressFeed, ProgressRecord, Recording,
    StragglerFlag,
};
use tailspn::report::{Answer, Report as _, Typed, WatchReport, progress_model_report, straggler_json, straggler_line};
use tailspn::subject::FileKind;
use tailspn::trace::{Format, JobTrace, ReadOptions};
use tailspn::watch::Watch as _;

use crate::cli::args::{PrintArgs, RuleChoice, WatchArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::left;
use crate::cli::load::unreadable;
use crate::cli::logs::{load, load_stream};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::plan::PlanText;
use crate::cli::report_source::{Chunk, ReportSource, Rest, history_of, read_reports, stdin_unpacked};
use crate::cli::stdin::is_standard;
use crate::cli::watch::{Progress, catch_interrupt};
use tailspn::explain::reason;

/// Number of bytes that are examined to detect reports.
const SNIFFED: u64 = 1 << 16;

/// Learns if requested, then watches if there is input.
pub(crate) fn run(args: &WatchArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if let Some(log) = args.stream().filter(|path| is_application(path)) {
        if args.model.is_some() || !args.learn.is_empty() {
            let help = "pass logs of earlier runs after the log";
            return Err(Failure::helped(Exit::Usage, "--model and --learn apply only to progress reports", help));
        }
        return left::watch(log, args, terminal);
    }
    if let Some(path) = args.stream().filter(|path| takes_no(path)) {
        return Err(Failure::plain(Exit::Model, format!("`{}` has no progress reports", path.display())));
    }
    if let [_, other, ..] = &args.inputs[..] {
        let message = format!("`{}` is one file too many: the first is no event log of Spark", other.display());
        return Err(Failure::helped(Exit::Usage, message, "pass earlier runs by --learn"));
    }
    if let Some(path) = &args.save_model {
        may_write(path, args.print.force)?;
    }
    args.print.check()?;
    if (args.print.is_csv() || args.print.markdown || args.print.verbose)
        && (args.stream().is_some() || to_stdout(args))
    {
        let message =
            "--csv, --markdown and --verbose print a learned model, but standard output is used for something else";
        let help = "run `tailspn watch --learn HIST` without a file and without `--save-model -`";
        return Err(Failure::helped(Exit::Usage, message, help));
    }
    catch_interrupt(terminal);
    let model = if let Some(path) = &args.model {
        Some(model_in(path, terminal)?)
    } else if args.learn.is_empty() {
        None
    } else {
        Some(learn(args, terminal)?)
    };
    match args.stream() {
        Some(path) => watch(path, model.as_ref(), args, terminal),
        None => Ok(if interrupted() { Exit::Interrupted } else { Exit::Success }),
    }
}

/// Returns true for a file of another kind.
fn takes_no(path: &Path) -> bool {
    FileKind::of(path).is_some_and(|kind| kind != FileKind::Progress)
}

/// Returns true for the event log of a Spark application; Spark creates it empty.
fn is_application(path: &Path) -> bool {
    let kind = FileKind::of(path);
    kind == Some(FileKind::Log(Format::SparkEventLog))
        || (kind.is_none() && path.extension().is_some_and(|end| end == "inprogress"))
}

/// Reads the model from a file.
pub(super) fn model_in(path: &Path, terminal: &Terminal) -> Result<Model, Failure> {
    let help = "create a model with `tailspn watch --learn HIST --save-model MODEL.toml`";
    PlanText::read(&path.into(), terminal)?.plan(Model::from_toml, help)
}

/// Returns the settings for the arguments.
fn settings(args: &WatchArgs) -> AgentSettings {
    let base = match args.rule {
        RuleChoice::Adaptive => AgentSettings::adaptive(),
        RuleChoice::Paper => AgentSettings::paper(),
    };
    let boundary = match base.boundary {
        Boundary::Adaptive { confidence } => Boundary::Adaptive { confidence: args.sure.unwrap_or(confidence) },
        Boundary::Fixed { .. } => Boundary::Fixed { peers: args.peers.0 },
    };
    // times that the user specifies are not scaled, however short the tasks are
    let [start, interval] = [args.start, args.interval].map(|time| time.map(|time| time.as_secs_f64()));
    AgentSettings {
        diff: args.diff,
        boundary,
        start_s: start.unwrap_or(base.start_s),
        start_share: start.map_or(base.start_share, |_| f64::INFINITY),
        interval_s: interval.unwrap_or(base.interval_s),
        interval_share: interval.map_or(base.interval_share, |_| f64::INFINITY),
        samples: u32::try_from(args.samples).unwrap_or(u32::MAX),
        forget_s: args.forget.as_secs_f64(),
        most_tasks: usize::try_from(args.max_tasks).unwrap_or(usize::MAX),
        ..base
    }
}

/// Returns true if the learned model is written to standard output.
fn to_stdout(args: &WatchArgs) -> bool {
    args.save_model.as_deref().is_some_and(|path| path.as_os_str() == "-")
}

/// Learns from earlier runs, and reports the result.
fn learn(args: &WatchArgs, terminal: &Terminal) -> Result<Model, Failure> {
    let mut history = History::default();
    for (run, path) in (0..).zip(&args.learn) {
        history.extend(earlier_run(path, run, terminal)?);
    }
    let refused = |error: &dyn std::fmt::Display| Failure::plain(Exit::Model, error.to_string());
    let learned = Model::learn(&history).map_err(|error| refused(&error))?;
    let report = progress_model_report(&learned, args.learn.len() as u64);
    let toml = learned.model.to_toml().map_err(Failure::internal)?;
    let to_stdout = to_stdout(args);
    if to_stdout || args.stream().is_some() {
        terminal.tell(terminal.printed(&report.into(), &PrintArgs::default(), &Typed::default())?.trim_end());
    } else {
        let answer = Answer::new(report);
        terminal.show(&answer, &args.print)?;
        terminal.keep(answer);
    }
    if to_stdout {
        terminal.data(&toml)?;
    }
    if let Some(path) = args.save_model.as_deref().filter(|_| !to_stdout) {
        write_file(path, toml.as_bytes(), args.print.force)?;
    }
    Ok(learned.model)
}

/// Reads the progress curves of a run, from progress reports or from a log that contains curves.
fn earlier_run(path: &Path, run: u32, terminal: &Terminal) -> Result<History, Failure> {
    if is_standard(path) {
        return earlier_run_in(stdin_unpacked(), run, terminal);
    }
    if FileKind::of(path) == Some(FileKind::Progress) {
        let (mut history, rest) = read_reports(path, u64::MAX, run)?;
        if let Rest::Damaged(how) = rest {
            history.oddities.add(Oddity::CutFile, 0, &how);
        }
        tell_oddities(&path.display().to_string(), &history.oddities, terminal);
        return Ok(history);
    }
    with_curves(&load(path, &ReadOptions::default(), terminal)?, &path.display().to_string(), run)
}

/// Reads the progress curves of a run from standard input, which can be read only once.
fn earlier_run_in(mut stream: Box<dyn Read>, run: u32, terminal: &Terminal) -> Result<History, Failure> {
    const NAME: &str = "standard input";
    let failed = |error: io::Error| unreadable(Path::new(NAME), &error);
    let mut head = Vec::new();
    stream.by_ref().take(SNIFFED).read_to_end(&mut head).map_err(failed)?;
    let is_reports = FileKind::of_bytes(&head) == Some(FileKind::Progress);
    let mut stream = io::Cursor::new(head).chain(stream);
    if !is_reports {
        return with_curves(&load_stream(NAME, stream, &ReadOptions::default(), terminal)?, NAME, run);
    }
    let (mut history, rest) = history_of(&mut stream, u64::MAX, run).map_err(failed)?;
    if let Rest::Damaged(how) = rest {
        history.oddities.add(Oddity::CutFile, 0, &how);
    }
    tell_oddities(NAME, &history.oddities, terminal);
    Ok(history)
}

/// Returns the progress curves in a log.
fn with_curves(trace: &JobTrace, name: &str, run: u32) -> Result<History, Failure> {
    let history = History::from_trace(trace, run);
    if history.tasks.is_empty() {
        let note = Note::problem(format!("`{name}` has no task progress over time"));
        let help = "use progress reports, or Hadoop 2 job histories (clockSplits)";
        return Err(Failure::new(Exit::Model, note.with_help(help)));
    }
    Ok(history)
}

fn tell_oddities(name: &str, oddities: &Oddities, terminal: &Terminal) {
    for counted in oddities.list() {
        terminal.tell(&format!("warning: {name}: {counted}"));
    }
}

/// Watches until the reports end, no more reports arrive, or Ctrl-C.
fn watch(path: &Path, model: Option<&Model>, args: &WatchArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut source = ReportSource::open(path)?;
    let settings = settings(args);
    let (mut agent, mut reports) = (Agent::new(model, settings), Incoming::new(args));
    if source.is_complete(args.until_idle) {
        let recording = record(&mut source, &mut reports, terminal)?;
        for (line, record) in recording.replay(settings.forget_s).take_while(|_| !interrupted()) {
            tell(agent.take(&record, line, &mut reports.oddities).as_slice(), args, terminal)?;
        }
    } else {
        follow(&mut source, &mut reports, &mut agent, args, terminal)?;
    }
    close(path, agent, reports, args, terminal)
}

/// Reads all reports of a source that is complete.
fn record(source: &mut ReportSource, reports: &mut Incoming, terminal: &Terminal) -> Result<Recording, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "lines");
    let mut recording = Recording::default();
    let mut take = |record: ProgressRecord<'_>, line: u64, _: &mut Oddities| recording.take(&record, line);
    loop {
        let chunk = match source.next()? {
            Chunk::Idle => Chunk::End,
            _ if interrupted() => Chunk::End,
            chunk => chunk,
        };
        if reports.hear(chunk, &mut take) {
            return Ok(recording);
        }
        progress.progress(reports.feed.lines(), 0);
    }
}

/// Judges reports as they arrive.
fn follow(
    source: &mut ReportSource,
    reports: &mut Incoming,
    agent: &mut Agent<'_>,
    args: &WatchArgs,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let mut heard = Instant::now();
    let mut has_reports = false;
    loop {
        let chunk = if interrupted() { Chunk::End } else { source.next()? };
        let chunk = match chunk {
            Chunk::Idle if args.until_idle.is_some_and(|most| heard.elapsed() >= most) => Chunk::End,
            chunk => chunk,
        };
        let is_news = matches!(chunk, Chunk::Bytes(_));
        let mut flags = Vec::new();
        let mut take = |record: ProgressRecord<'_>, line: u64, oddities: &mut Oddities| {
            has_reports = true;
            flags.extend(agent.take(&record, line, oddities));
        };
        let ended = reports.hear(chunk, &mut take);
        if is_news {
            heard = Instant::now();
        }
        // a file without a header is of another kind; a stream may be read from the middle
        if is_news && !has_reports && source.is_file() && reports.begin_without_header() {
            return Ok(());
        }
        tell(&flags, args, terminal)?;
        if ended {
            return Ok(());
        }
    }
}

/// The state of reading reports.
struct Incoming {
    feed: ProgressFeed,
    oddities: Oddities,
    /// Reason why the last input cannot be read.
    damage: Option<io::Error>,
}

impl Incoming {
    fn new(args: &WatchArgs) -> Self {
        let longest = usize::try_from(args.max_line).unwrap_or(usize::MAX);
        Self { feed: ProgressFeed::new(longest), oddities: Oddities::default(), damage: None }
    }

    /// Returns true if the first line is not a header, as in a file of another kind.
    fn begin_without_header(&self) -> bool {
        self.oddities.list().any(|counted| counted.kind == Oddity::NoHeader && counted.line == 1)
    }

    /// Reads the next reports and passes each to `take`. Returns true at the end.
    fn hear(&mut self, chunk: Chunk, take: &mut dyn FnMut(ProgressRecord<'_>, u64, &mut Oddities)) -> bool {
        let ended = match chunk {
            Chunk::Bytes(bytes) => {
                self.feed.push(&bytes, &mut self.oddities, take);
                false
            }
            Chunk::Restarted => {
                self.feed.restart();
                self.oddities.add(Oddity::FileShrank, 0, "");
                false
            }
            Chunk::Idle => false,
            Chunk::End => true,
            Chunk::Damaged(error) => {
                self.oddities.add(Oddity::CutFile, self.feed.lines() + 1, &reason(&error));
                self.damage = Some(error);
                true
            }
        };
        if ended {
            self.feed.finish(&mut self.oddities, take);
        }
        ended
    }
}

/// Prints flags immediately.
fn tell(flags: &[StragglerFlag], args: &WatchArgs, terminal: &Terminal) -> Result<(), Failure> {
    let mut text = String::new();
    for flag in flags {
        text +=
            &if args.print.is_json() { straggler_json(flag).map_err(Failure::internal)? } else { straggler_line(flag) };
    }
    if text.is_empty() { Ok(()) } else { terminal.data(&text) }
}

/// Prints warnings and counts.
fn close(
    path: &Path,
    mut agent: Agent<'_>,
    reports: Incoming,
    args: &WatchArgs,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let Incoming { feed, mut oddities, damage } = reports;
    let running = agent.running();
    if !interrupted() {
        agent.finish(&mut oddities);
    }
    let name = if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() };
    tell_oddities(&name, &oddities, terminal);
    let counts = agent.counts();
    let is_odd = oddities.list().next().is_some();
    let report = WatchReport { counts, partial: interrupted(), warnings: oddities.list().collect() };
    if args.print.is_json() {
        terminal.data(&report.json().map_err(Failure::internal)?)?;
    }
    terminal.tell(report.text(&terminal.look(false)).trim_end());
    if interrupted() {
        terminal.tell(&format!("{running} tasks were still running"));
        return Ok(Exit::Interrupted);
    }
    if let Some(error) = damage.filter(|_| counts.reports == 0) {
        return Err(unreadable(Path::new(&name), &error));
    }
    if counts.reports == 0 && (feed.lines() > 0 || is_odd) {
        let help = match is_standard(path) {
            true => {
                "the log of an application is followed in its file: `tailspn watch LOG`; `tailspn estimate -` reads a log from standard input"
            }
            false => "docs/watch.md describes the format of a report",
        };
        return Err(Failure::helped(Exit::Model, format!("`{name}` contains no progress report"), help));
    }
    Ok(Exit::Success)
}
