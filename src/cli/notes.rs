//! Messages for the user: problems and warnings, with the text that they refer to.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode, SourceSpan, SpanContents,
};

use tailspn::explain::{ErrorKind, Explain};
use tailspn::job_time::OwnRun;

use crate::cli::call::{Problem, interrupted};
use crate::cli::exit::Exit;

/// Maximum length of a line that is printed whole; of a longer line, only the text near the position is printed.
const LONGEST_LINE: usize = 140;
/// Bytes of a longer line that are shown before and after a position.
const BEFORE: usize = 20;
const AFTER: usize = 50;

/// A named text that notes point into.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

impl Source {
    pub(crate) fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Returns the text of an argument, with a trailing blank so that problems at the end have a position.
    pub(crate) fn argument(name: &str, text: &str) -> Self {
        Self::new(name, format!("{text} "))
    }

    /// Returns the name of the file or argument.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the byte range to show around a span: whole lines, unless they are too long.
    fn shown(&self, span: Range<usize>) -> Range<usize> {
        let boundary = |mut at: usize| {
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(span.start.min(self.text.len()));
        let begin = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        // neither byte of a Windows line end is shown
        let end = if end > start && self.text[start..end].ends_with('\r') { end - 1 } else { end };
        if end - begin <= LONGEST_LINE {
            return begin..end;
        }
        boundary(begin.max(start.saturating_sub(BEFORE)))..boundary(end.min(start + AFTER))
    }

    /// Returns the line and the column of a byte, both from 1.
    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = &self.text.as_bytes()[..at];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        (line, column)
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // without context, the caller wants only the span itself
        let span = span.offset()..span.offset() + span.len();
        let shown = if lines_before == 0 { span } else { self.shown(span) };
        let before = &self.text[..shown.start];
        let line = before.bytes().filter(|&byte| byte == b'\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let contents = &self.text.as_bytes()[shown.clone()];
        let whole = SourceSpan::from(shown);
        Ok(Box::new(MietteSpanContents::new_named(self.name.to_string(), contents, whole, line, column, 1)))
    }
}

/// One problem or warning.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    severity: Severity,
    message: String,
    help: Option<String>,
    place: Option<(Source, Range<usize>)>,
    /// True for a warning on which all results depend. Such a warning is printed even if only results are requested.
    is_assumption: bool,
}

impl Note {
    /// Returns a note on a problem that stops the command.
    pub(crate) fn problem(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), help: None, place: None, is_assumption: false }
    }

    /// Returns a note on a problem that does not stop the command.
    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::problem(message) }
    }

    /// Marks a warning on which all results depend.
    #[must_use]
    pub(crate) fn assumed(self, is_assumption: bool) -> Self {
        Self { is_assumption, ..self }
    }

    /// Returns true for a warning on which all results depend.
    pub(crate) fn is_assumption(&self) -> bool {
        self.is_assumption
    }

    /// Adds advice on what to do next.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the advice.
    pub(crate) fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Points at bytes of a text.
    #[must_use]
    pub(crate) fn at(mut self, source: &Source, span: Range<usize>) -> Self {
        let end = source.text.len();
        self.place = Some((source.clone(), span.start.min(end)..span.end.min(end)));
        self
    }

    /// Returns the position of the note: `name:line:column`.
    pub(crate) fn spot(&self) -> Option<String> {
        let (name, line, column) = self.to_problem().place?;
        Some(format!("{name}:{line}:{column}"))
    }

    /// Returns the note in the form for a program that runs the command.
    pub(crate) fn to_problem(&self) -> Problem {
        let place = self.place.as_ref().map(|(source, span)| {
            let (line, column) = source.line_and_column(span.start);
            (source.name().to_owned(), line, column)
        });
        Problem { message: self.message.clone(), help: self.help.clone(), place }
    }

    /// Returns the note as one line of text.
    pub(crate) fn brief(&self) -> String {
        let kind = if self.severity == Severity::Error { "error" } else { "warning" };
        match self.spot() {
            Some(spot) => format!("{kind}: {spot}: {}", self.message),
            None => format!("{kind}: {}", self.message),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Note {}

impl Diagnostic for Note {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|(source, _)| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (source, span) = self.place.as_ref()?;
        // an empty span cannot be seen, and a span of several lines would hide its text
        let line_end = source.text[span.start..].find('\n').map_or(source.text.len(), |at| span.start + at);
        let end = span.end.max(span.start + 1).min(line_end.max(span.start)).min(source.shown(span.clone()).end);
        let length = end.saturating_sub(span.start);
        Some(Box::new(std::iter::once(LabeledSpan::new(Some("here".to_owned()), span.start, length))))
    }
}

/// Reason why a command ended before its work was complete.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) notes: Vec<Note>,
    /// The check of the plan on its own runs, if it refuses the question.
    pub(crate) own_run: Option<Box<OwnRun>>,
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

/// Returns the first option that was given.
pub(crate) fn first_given<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
}

impl Failure {
    /// Returns the reasons, for other programs.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.notes.iter().map(Note::to_problem).collect()
    }

    /// Returns what an error says, with its exit code and advice. Work that was stopped is interrupted rather than refused.
    pub(crate) fn of(error: &dyn Explain) -> Self {
        let exit = match error.kind() {
            ErrorKind::Part => return Self::part(),
            ErrorKind::Refused if interrupted() => Exit::Interrupted,
            ErrorKind::Refused => Exit::Refused,
            ErrorKind::Internal => Exit::Internal,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Model => Exit::Model,
            ErrorKind::Log => Exit::Model,
            ErrorKind::Unmet => Exit::Unmet,
            ErrorKind::Gpu => Exit::Gpu,
            ErrorKind::File => Exit::Io,
        };
        let mut notes: Vec<Note> = error.problems().into_iter().map(Note::problem).collect();
        // advice on what the program that was stopped could not do has no meaning
        if let Some(last) = notes.last_mut().filter(|_| exit != Exit::Interrupted) {
            last.help = error.help().map(Cow::into_owned);
        }
        let own_run = error.evidence().and_then(|found| found.downcast_ref::<OwnRun>()).cloned().map(Box::new);
        Self { own_run, ..Self::of_notes(exit, notes) }
    }

    /// Returns a failure with these problems.
    pub(crate) fn of_notes(exit: Exit, notes: Vec<Note>) -> Self {
        Self { exit, notes, own_run: None }
    }

    /// Returns a failure with one problem.
    pub(crate) fn new(exit: Exit, note: Note) -> Self {
        Self::of_notes(exit, vec![note])
    }

    /// Returns a failure with one problem without a position.
    pub(crate) fn plain(exit: Exit, message: impl Into<String>) -> Self {
        Self::new(exit, Note::problem(message))
    }

    /// Returns a failure with one problem without a position, and advice on what to do next.
    pub(crate) fn helped(exit: Exit, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(exit, Note::problem(message).with_help(help))
    }

    /// Returns the outcome of a command that completed its share of the replications and has no result.
    pub(crate) fn part() -> Self {
        Self::of_notes(Exit::Success, Vec::new())
    }

    /// Returns the outcome of a command that was stopped before it had a result.
    pub(crate) fn stopped() -> Self {
        Self::of_notes(Exit::Interrupted, Vec::new())
    }

    /// Returns true if the command completed its share of the replications.
    pub(crate) fn is_part(&self) -> bool {
        self.exit == Exit::Success
    }

    /// Returns the failure for an internal error.
    pub(crate) fn internal(error: impl fmt::Display) -> Self {
        Self::plain(Exit::Internal, error.to_string())
    }
}
