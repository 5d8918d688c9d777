//! Output to standard output (data) and standard error (everything else), and the capabilities of the terminal.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::{GraphicalReportHandler, GraphicalTheme};
use tailspn::ask::RunSettings;
use tailspn::report::{Answer, AnyReport, Document, Look, Typed, document_csv, document_text, markdown};
use tailspn::share::Share;
use tailspn_common::visible::steers;

use crate::cli::args::{ColorChoice, DataForm, PrintArgs, RunArgs};
use crate::cli::call::Call;
use crate::cli::exit::Exit;
use crate::cli::kept::kept_options;
use crate::cli::left_lines::REWRITE;
use crate::cli::notes::{Failure, Note};

/// The display of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressDisplay {
    /// As a bar, on a terminal.
    Bar,
    /// As an occasional line, for a log.
    Lines,
    Nothing,
}

impl ProgressDisplay {
    /// Returns no display of progress if `other` is true, because another part reports the progress.
    pub(crate) fn unless(self, other: bool) -> Self {
        if other { Self::Nothing } else { self }
    }
}

/// Problems that are printed of one file. The readers of nets list 20, and then state the number of the others.
const MOST_PROBLEMS: usize = 21;
/// Text width if the terminal's width is unknown, in columns.
const WIDTH: usize = 80;

/// Returns a result in a form for programs.
pub(crate) fn data_of(result: &AnyReport, form: DataForm, print: &PrintArgs, typed: &Typed) -> Result<String, Failure> {
    match form {
        DataForm::Json => result.json_about(typed).map_err(Failure::internal),
        DataForm::Csv => {
            let none = || Failure::plain(Exit::Usage, format!("a result of the kind `{}` has no CSV", result.kind()));
            document_csv(&result.document(), print.csv_text()).ok_or_else(none)
        }
    }
}

/// The capabilities of the terminal, and the output options.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    colour_out: bool,
    colour_err: bool,
    unicode: bool,
    quiet: bool,
    /// Destination of all output if another program runs the command.
    call: Option<Arc<Call>>,
    /// The share of the replications that this process runs.
    share: Share,
    /// Start of the command.
    started: Instant,
    /// Options of the question that stay in the next commands, each with its value.
    kept: Vec<(String, Option<String>)>,
}

impl Terminal {
    pub(crate) fn new(color: ColorChoice, quiet: bool) -> Self {
        let wanted = |terminal: bool| match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        Self {
            colour_out: wanted(io::stdout().is_terminal()),
            colour_err: wanted(io::stderr().is_terminal()),
            unicode: shows_unicode(),
            quiet,
            call: None,
            share: Share::default(),
            started: Instant::now(),
            kept: Vec::new(),
        }
    }

    /// Returns the terminal of a command line, whose options stay in the next commands.
    pub(crate) fn asked(self, words: &[OsString]) -> Self {
        Self { kept: kept_options(words), ..self }
    }

    /// Returns the terminal of a command that runs in process; the call keeps the output.
    pub(crate) fn of_call(call: &Arc<Call>) -> Self {
        let call = Some(Arc::clone(call));
        let (share, started) = (Share::default(), Instant::now());
        Self {
            colour_out: false,
            colour_err: false,
            unicode: true,
            quiet: false,
            call,
            share,
            started,
            kept: Vec::new(),
        }
    }

    /// Returns the same terminal without notes and progress.
    pub(crate) fn silent(&self) -> Self {
        Self { quiet: true, ..self.clone() }
    }

    /// Returns the same terminal for a command that runs a share of its replications, or merges shares.
    pub(crate) fn sharing(&self, share: Share) -> Self {
        Self { share, ..self.clone() }
    }

    /// Returns the share of the replications that this process runs.
    pub(crate) fn share(&self) -> &Share {
        &self.share
    }

    /// Returns how a question is answered, on the CPU and with the question's own number of replications.
    pub(crate) fn settings(&self, run: &RunArgs) -> RunSettings {
        RunSettings {
            seed: run.seed,
            threads: run.threads,
            level: run.level.unwrap_or(RunSettings::default().level),
            max_time: run.max_time,
            keep: self.keeps_samples(),
            share: self.share.clone(),
            ..RunSettings::default()
        }
    }

    /// Returns the rest of a limit of wall time, which counts from the start of the command.
    pub(crate) fn left_of(&self, max_time: Option<Duration>) -> Option<Duration> {
        max_time.map(|limit| limit.saturating_sub(self.started.elapsed()))
    }

    /// Returns the format of text on standard output; with all columns and rows if `all` is true.
    pub(crate) fn look(&self, all: bool) -> Look {
        let heading = if self.colour_out { [BOLD, RESET] } else { ["", ""] };
        let width = terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(width, _)| usize::from(width.0));
        let rows = all.then_some(usize::MAX);
        Look { unicode: self.unicode, width, heading, rows, detail: all }
    }

    /// Prints an answer and its notes, unless another program runs the command.
    pub(crate) fn show(&self, answer: &Answer, print: &PrintArgs) -> Result<(), Failure> {
        if self.is_in_process() {
            return Ok(());
        }
        self.tell_warnings(answer);
        self.data(&self.printed(&answer.result, print, &answer.typed)?)?;
        // JSON and CSV lack the remarks, so they are printed to standard error
        if print.is_json() || print.is_csv() {
            answer.document().remarks.iter().for_each(|remark| self.tell(&format!("note: {remark}")));
        }
        self.tell_notes(answer);
        Ok(())
    }

    fn tell_warnings(&self, answer: &Answer) {
        self.warnings(&answer.warnings.iter().map(Note::warning).collect::<Vec<_>>());
    }

    fn tell_notes(&self, answer: &Answer) {
        answer.notes.iter().for_each(|note| self.tell(note));
    }

    /// Returns a result in the requested form, with commands about what was typed.
    pub(crate) fn printed(&self, result: &AnyReport, print: &PrintArgs, typed: &Typed) -> Result<String, Failure> {
        if print.is_json() {
            return data_of(result, DataForm::Json, print, typed);
        }
        if print.is_csv() {
            return data_of(result, DataForm::Csv, print, typed);
        }
        let document = Document { typed: typed.clone(), ..result.document() };
        let look = self.look(print.verbose);
        let text = if print.markdown { markdown(&document, &look) } else { document_text(&document, &look) };
        Ok(self.without_controls(&text).into_owned())
    }

    /// Returns what the user has typed, with the options that stay in the next commands.
    pub(crate) fn asked_about(&self, typed: &Typed) -> Typed {
        Typed { options: self.kept.clone(), ..typed.clone() }
    }

    /// Returns the text without the terminal control characters that names in logs and nets may contain. Colours
    /// of tailspn are kept.
    fn without_controls<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(steers) {
            return Cow::Borrowed(text);
        }
        let mark = if self.unicode { '\u{fffd}' } else { '?' };
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let colour = if self.colour_out || self.colour_err { colour_at(rest) } else { 0 };
            if colour > 0 {
                clean.push_str(&rest[..colour]);
                rest = &rest[colour..];
                continue;
            }
            clean.push(if steers(c) { mark } else { c });
            rest = &rest[c.len_utf8()..];
        }
        Cow::Owned(clean)
    }

    /// Writes lines of text to standard output; names in them cannot steer the terminal.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        let (rewrite, text) = text.strip_prefix(REWRITE).map_or(("", text), |rest| (REWRITE, rest));
        self.data(&format!("{rewrite}{}", self.without_controls(text)))
    }

    /// Returns how the progress of long runs is displayed.
    pub(crate) fn shows_progress(&self) -> ProgressDisplay {
        match io::stderr().is_terminal() {
            _ if self.quiet || self.call.is_some() => ProgressDisplay::Nothing,
            true => ProgressDisplay::Bar,
            false => ProgressDisplay::Lines,
        }
    }

    /// Writes data to standard output. If the reader has closed the pipe, the output ends, but not the command.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        if let Some(call) = &self.call {
            call.output().data.push_str(text);
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::plain(Exit::Io, format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints warnings; only assumptions, if only results are requested.
    pub(crate) fn warnings(&self, notes: &[Note]) {
        if self.quiet || self.call.is_some() {
            self.brief_warnings(notes);
        } else {
            self.problems(notes);
        }
    }

    /// Prints warnings on one line each; only assumptions, if only results are requested.
    pub(crate) fn brief_warnings(&self, notes: &[Note]) {
        for note in notes.iter().filter(|note| !self.quiet || note.is_assumption()) {
            self.say(&format!("{}\n", note.brief()));
        }
    }

    /// Prints one sentence, unless only results are requested.
    pub(crate) fn tell(&self, text: &str) {
        if !self.quiet {
            self.say(&format!("{text}\n"));
        }
    }

    /// Prints the first problems, each with the text that it refers to: a file of another kind has one on every line.
    pub(crate) fn problems(&self, notes: &[Note]) {
        let theme = match (self.unicode, self.colour_err) {
            (true, true) => GraphicalTheme::unicode(),
            (true, false) => GraphicalTheme::unicode_nocolor(),
            (false, true) => GraphicalTheme::ascii(),
            (false, false) => GraphicalTheme::none(),
        };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false);
        for note in notes.iter().take(MOST_PROBLEMS) {
            let mut text = String::new();
            if handler.render_report(&mut text, note).is_err() {
                text = format!("{note}\n");
            }
            self.say(text.trim_start_matches('\n'));
        }
        if notes.len() > MOST_PROBLEMS {
            self.say(&format!("and {} more problems\n", notes.len() - MOST_PROBLEMS));
        }
    }

    /// Returns true if the program that runs the command wants the times of replications.
    pub(crate) fn keeps_samples(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.keeps_samples())
    }

    /// Keeps an answer for the program that runs the command, with its notes.
    pub(crate) fn keep(&self, mut answer: Answer) {
        if let Some(call) = &self.call {
            answer.times_s = answer.times_s.filter(|_| call.keeps_samples());
            self.tell_warnings(&answer);
            self.tell_notes(&answer);
            call.output().answer = Some(answer);
        }
    }

    /// Keeps a part of the replications for the program that runs the command.
    pub(crate) fn part(&self, bytes: Vec<u8>) {
        if let Some(call) = &self.call {
            call.output().part = Some(bytes);
        }
    }

    /// Returns true if another program runs the command.
    pub(crate) fn is_in_process(&self) -> bool {
        self.call.is_some()
    }

    fn say(&self, text: &str) {
        if let Some(call) = &self.call {
            let line = text.trim();
            if !line.is_empty() {
                call.output().remarks.push(line.to_owned());
            }
            return;
        }
        // without a reader there is nothing left to do
        let _ = io::stderr().lock().write_all(self.without_controls(text).as_bytes());
    }
}

/// Returns the length of the terminal code for colour or weight at the start of the text; 0 without a code.
fn colour_at(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(rest.len());
    if rest[digits..].starts_with('m') { 2 + digits + 1 } else { 0 }
}

/// Terminal code that starts bold text.
const BOLD: &str = "\x1b[1m";
/// Terminal code that ends bold text.
const RESET: &str = "\x1b[0m";

/// Returns true if the locale supports more than ASCII.
fn shows_unicode() -> bool {
    if cfg!(windows) {
        return true;
    }
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    set.is_some_and(|value| {
        let value = value.to_string_lossy().to_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}
