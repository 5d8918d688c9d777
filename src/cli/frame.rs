//! The frame of a command: what is done before and after its question is answered. A command reads its inputs and asks; the frame checks
//! that files may be written, prints and draws the answer, and ends.

use std::path::Path;

use tailspn::report::{Answer, End, RefusedReport, Typed};

use crate::cli::args::{PlotArgs, PrintArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::input::{Input, quoted};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, data_of};
use crate::cli::pictures::{draw_document, may_draw, may_write_picture, write_picture};

/// The form of the answer of a command.
#[derive(Clone, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) print: &'a PrintArgs,
    /// The folder of pictures; none for a command without pictures.
    pub(crate) plots: Option<&'a PlotArgs>,
    /// The file of one picture, which the command draws.
    pub(crate) picture: Option<&'a Path>,
    /// Files that the command writes besides pictures.
    pub(crate) files: Vec<&'a Path>,
    /// The files that the user has typed.
    pub(crate) typed: Typed,
}

impl<'a> Form<'a> {
    /// Returns the form of an answer that is only printed.
    pub(crate) fn printed(print: &'a PrintArgs) -> Self {
        Self { print, plots: None, picture: None, files: Vec::new(), typed: Typed::default() }
    }
}

/// Returns the words of the files of a command.
pub(crate) fn typed<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Typed {
    let inputs: Vec<&Input> = inputs.into_iter().collect();
    Typed {
        // what stands in memory has no file to ask about
        words: match inputs.iter().all(|input| input.names_a_file()) {
            true => inputs.iter().map(|input| quoted(&input.display().to_string())).collect(),
            false => Vec::new(),
        },
        is_log: inputs.iter().any(|input| input.is_log()),
        ..Typed::default()
    }
}

/// Refuses a command about a job without a file.
pub(crate) fn no_file(verb: &str) -> Failure {
    let help = format!("`tailspn {verb} --demo` answers for a built-in job; `tailspn {verb} -h` lists the options");
    Failure::helped(Exit::Usage, "no log and no plan is given", help)
}

/// A command that answers a question.
pub(crate) trait Ask {
    /// Returns how the answer is shown.
    fn form(&self) -> Form<'_>;

    /// Reads the inputs and answers the question.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure>;
}

/// Writes the files that belong to an answer.
type Write<'a> = Box<dyn FnOnce(&Answer, &Terminal) -> Result<(), Failure> + 'a>;

/// The answer to the question of a command, and what is left to do with it.
#[must_use]
pub(crate) struct Asked<'a> {
    pub(crate) answer: Answer,
    /// The picture of [`Form::picture`] as SVG.
    picture: Option<String>,
    /// Files besides the pictures.
    write: Option<Write<'a>>,
    /// The reason why the answer is incomplete.
    failure: Option<Failure>,
    /// Assumptions about the file of a net.
    assumptions: Vec<String>,
}

impl From<Answer> for Asked<'_> {
    fn from(answer: Answer) -> Self {
        Self { answer, picture: None, write: None, failure: None, assumptions: Vec::new() }
    }
}

impl<'a> Asked<'a> {
    /// Adds files that are written after the answer is printed, and after the files that were added before.
    pub(crate) fn writing(self, write: impl FnOnce(&Answer, &Terminal) -> Result<(), Failure> + 'a) -> Self {
        let write: Write<'a> = match self.write {
            Some(first) => Box::new(|answer, terminal| first(answer, terminal).and_then(|()| write(answer, terminal))),
            None => Box::new(write),
        };
        Self { write: Some(write), ..self }
    }

    /// Adds the picture of [`Form::picture`].
    pub(crate) fn drawing(self, picture: Option<String>) -> Self {
        Self { picture, ..self }
    }

    /// Adds the assumptions among the warnings about a net.
    pub(crate) fn assuming(self, warnings: &[Note]) -> Self {
        let assumptions = warnings.iter().filter(|note| note.is_assumption()).map(ToString::to_string).collect();
        Self { assumptions, ..self }
    }

    /// Adds the reason why the answer is incomplete.
    pub(crate) fn failing(self, failure: Option<Failure>) -> Self {
        Self { failure, ..self }
    }
}

/// Answers the question of a command: checks that its files may be written, prints and draws the answer, and returns how the command ends.
pub(crate) fn run(command: &dyn Ask, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = command.form();
    form.print.check()?;
    form.print.files().into_iter().try_for_each(|(_, path)| may_write(path, form.print.force))?;
    if let Some(plots) = form.plots {
        may_draw(plots, form.print.force)?;
    }
    form.picture.map_or(Ok(()), |path| may_write_picture(path, form.print.force))?;
    form.files.iter().try_for_each(|path| may_write(path, form.print.force))?;
    let asked = command.ask(terminal).or_else(|failure| refused(failure, terminal))?;
    let Asked { mut answer, picture, write, failure, assumptions } = asked;
    if let Some(net) = answer.result.net_mut() {
        net.assumptions = assumptions;
    }
    answer.typed = terminal.asked_about(&form.typed);
    terminal.show(&answer, form.print)?;
    for (data, path) in form.print.files() {
        write_file(path, data_of(&answer.result, data, form.print, &answer.typed)?.as_bytes(), form.print.force)?;
    }
    let written = match (failure, write) {
        (Some(failure), _) => Err(failure),
        (None, Some(write)) => write(&answer, terminal),
        (None, None) => Ok(()),
    };
    let written = written.and_then(|()| match form.picture.zip(picture) {
        Some((path, picture)) => write_picture(path, &picture, form.print.force),
        None => Ok(()),
    });
    let drawn = match form.plots.filter(|_| written.is_ok()) {
        Some(plots) => draw_document(&answer.document(), plots, form.print.force, terminal),
        None => Ok(()),
    };
    let exit = exit_of(answer.end);
    terminal.keep(answer);
    written.and(drawn).map(|()| exit)
}

/// Returns the refusal of a question by the check of its plan as the answer; other failures are no answers. A program that runs the command gets
/// all failures as errors.
fn refused<'a>(failure: Failure, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let Some(own_run) = failure.own_run.as_deref().filter(|_| !terminal.is_in_process()) else { return Err(failure) };
    let answer = Answer::new(RefusedReport::new(own_run.clone()));
    let note = Note::problem("not answered: the model does not reproduce its own runs");
    let note = failure.notes.last().and_then(Note::help_text).map_or(note.clone(), |help| note.with_help(help));
    Ok(Asked::from(answer).failing(Some(Failure::new(failure.exit, note))))
}

/// Returns the exit status of a command whose work ended in this way. Work that a limit of time has ended is complete.
fn exit_of(end: End) -> Exit {
    match end {
        End::Stopped if interrupted() => Exit::Interrupted,
        End::Complete | End::Stopped => Exit::Success,
        End::No => Exit::Unmet,
    }
}
