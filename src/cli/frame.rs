//! The frame of a command: what is done before and after its question is answered. A command reads its inputs and asks; the frame checks
//! that files may be written, prints and draws the answer, and ends.

use tailspn::report::{Answer, AnyReport, End, document_csv, document_text, markdown};

use crate::cli::args::{PlotArgs, PrintArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw_document, may_draw};

/// How the answer of a command is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) print: &'a PrintArgs,
    /// The folder of pictures; none for a command without pictures.
    pub(crate) plots: Option<&'a PlotArgs>,
    /// True if files may be replaced.
    pub(crate) force: bool,
}

/// A command that answers a question.
pub(crate) trait Ask {
    /// Returns how the answer is shown.
    fn form(&self) -> Form<'_>;

    /// Reads the inputs and answers the question.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure>;
}

/// Writes the files that belong to an answer.
type Write<'a> = Box<dyn FnOnce(&Terminal) -> Result<(), Failure> + 'a>;

/// The answer to the question of a command, and what is left to do with it.
#[must_use]
pub(crate) struct Asked<'a> {
    pub(crate) answer: Answer,
    /// Files besides the pictures.
    write: Option<Write<'a>>,
    /// The reason why the answer is incomplete.
    failure: Option<Failure>,
}

impl From<Answer> for Asked<'_> {
    fn from(answer: Answer) -> Self {
        Self { answer, write: None, failure: None }
    }
}

impl<'a> Asked<'a> {
    /// Adds files that are written after the answer is printed.
    pub(crate) fn writing(self, write: impl FnOnce(&Terminal) -> Result<(), Failure> + 'a) -> Self {
        Self { write: Some(Box::new(write)), ..self }
    }

    /// Adds the reason why the answer is incomplete.
    pub(crate) fn failing(self, failure: Option<Failure>) -> Self {
        Self { failure, ..self }
    }
}

/// Answers the question of a command and shows the answer.
pub(crate) fn run(command: &impl Ask, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = command.form();
    if let Some(plots) = form.plots {
        may_draw(plots, form.force)?;
    }
    let asked = command.ask(terminal)?;
    show(asked, form, terminal)
}

/// Prints and draws an answer, writes its files, and returns how the command ends.
pub(crate) fn show(asked: Asked<'_>, form: Form<'_>, terminal: &Terminal) -> Result<Exit, Failure> {
    let Asked { answer, write, failure } = asked;
    let exit = exit_of(answer.end);
    if !terminal.is_in_process() {
        print(&answer, form.print, terminal)?;
    }
    let written = match failure {
        Some(failure) => Err(failure),
        None => files(&answer.result, write, form, terminal),
    };
    terminal.keep(answer);
    written.map(|()| exit)
}

/// Prints an answer and its notes.
fn print(answer: &Answer, print: &PrintArgs, terminal: &Terminal) -> Result<(), Failure> {
    terminal.data(&printed(&answer.result, print, terminal)?)?;
    // JSON and CSV lack the remarks, so they are printed to standard error
    if print.json || print.csv {
        answer.result.document().remarks.iter().for_each(|remark| terminal.tell(&format!("note: {remark}")));
    }
    answer.notes.iter().for_each(|note| terminal.tell(note));
    Ok(())
}

/// Writes the files that belong to an answer, and its pictures.
fn files(result: &AnyReport, write: Option<Write<'_>>, form: Form<'_>, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(write) = write {
        write(terminal)?;
    }
    match form.plots {
        Some(plots) => draw_document(&result.document(), plots, form.force, terminal),
        None => Ok(()),
    }
}

/// Returns a result in the requested form.
pub(crate) fn printed(result: &AnyReport, print: &PrintArgs, terminal: &Terminal) -> Result<String, Failure> {
    if print.json {
        return result.json().map_err(Failure::internal);
    }
    let document = result.document();
    if print.csv {
        let none = || Failure::plain(Exit::Usage, format!("a result of the kind `{}` has no CSV", result.kind()));
        return document_csv(&document, print.csv_text()).ok_or_else(none);
    }
    let look = terminal.look(print.all);
    let text = if print.markdown { markdown(&document, &look) } else { document_text(&document, &look) };
    Ok(terminal.without_controls(&text).into_owned())
}

/// Returns the exit status of a command whose work ended in this way. Work that a limit of time has ended is complete.
fn exit_of(end: End) -> Exit {
    match end {
        End::Stopped if interrupted() => Exit::Interrupted,
        End::Complete | End::Stopped => Exit::Success,
        End::No => Exit::Unmet,
    }
}
