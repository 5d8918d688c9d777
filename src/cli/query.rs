//! `net query`: CSL and CSRL queries, answered from all states of a net.

use tailspn::ask::net::answer_queries;
use tailspn::net::Net;
use tailspn::report::{Answer, End, QueryReport, QueryRow};
use tailspn::solve::CslQuery;

use crate::cli::args::QueryArgs;
use crate::cli::call::interrupted;
use crate::cli::exact::{limited, states_failure};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form, typed};
use crate::cli::load::{read_bytes, read_net};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::preparation::Preparation;
use crate::cli::solve_untimed::help;
use crate::cli::watch::{Progress, catch_interrupt};

impl Ask for QueryArgs {
    fn form(&self) -> Form<'_> {
        Form { typed: typed([&self.net.net]), ..Form::printed(&self.print) }
    }

    /// Answers the queries.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let preparation = Preparation::begin(self.max_time, terminal);
        let loaded = read_net(&self.net)?;
        terminal.brief_warnings(&loaded.warnings);
        let texts = texts(self)?;
        let queries = parsed(&loaded.net, &texts)?;
        catch_interrupt(terminal);
        preparation.end();
        let progress = Progress::new(terminal.shows_progress(), "states");
        let run = limited(self.max_states, self.max_memory, terminal.left_of(self.max_time));
        let report = answer_queries(&loaded.net, &queries, &run, &progress).map_err(states_failure)?;
        let failure = without_answer(&report);
        let unmet = report.queries.iter().any(|row| row.bound.is_some() && row.holds != Some(true));
        let answer = Answer { end: if unmet { End::No } else { End::Complete }, ..Answer::new(report) };
        Ok(Asked::from(answer).assuming(&loaded.warnings).failing(failure))
    }
}

/// The text of a query, with its position in a source.
struct Text {
    text: String,
    source: Source,
    /// Start of the text in the source, in bytes.
    start: usize,
}

/// Returns the queries in the arguments, then the queries in the file.
fn texts(args: &QueryArgs) -> Result<Vec<Text>, Failure> {
    let given = |text: &String| Text { text: text.clone(), source: Source::argument("QUERY", text), start: 0 };
    let mut texts: Vec<Text> = args.query.iter().map(given).collect();
    let Some(path) = &args.file else { return Ok(texts) };
    let bytes = read_bytes(path)?;
    let all = String::from_utf8_lossy(&bytes).into_owned();
    let source = Source::argument(&path.display().to_string(), &all);
    let mut start = 0;
    for line in all.split_inclusive('\n') {
        let text = line.trim_end();
        if !text.trim().is_empty() && !text.trim_start().starts_with("//") {
            texts.push(Text { text: text.to_owned(), source: source.clone(), start });
        }
        start += line.len();
    }
    if texts.is_empty() {
        return Err(Failure::plain(Exit::Usage, format!("`{}` has no query", path.display())));
    }
    Ok(texts)
}

/// Parses all queries, and reports all errors.
fn parsed(net: &Net, texts: &[Text]) -> Result<Vec<CslQuery>, Failure> {
    let (mut queries, mut notes) = (Vec::new(), Vec::new());
    for Text { text, source, start } in texts {
        match CslQuery::parse(net, text) {
            Ok(query) => queries.push(query),
            Err(error) => {
                let span = error.span();
                let note = Note::problem(error.to_string()).at(source, span.start + start..span.end + start);
                notes.push(match help(net, &error) {
                    Some(help) => note.with_help(help),
                    None => note,
                });
            }
        }
    }
    if notes.is_empty() { Ok(queries) } else { Err(Failure::of_notes(Exit::Usage, notes)) }
}

/// Returns a failure if a query has no answer.
fn without_answer(report: &QueryReport) -> Option<Failure> {
    let problem = |row: &QueryRow| Some(Note::problem(format!("query `{}`: {}", row.query, row.failed()?)));
    let notes: Vec<Note> = report.queries.iter().filter_map(problem).collect();
    let exit = if interrupted() { Exit::Interrupted } else { Exit::Refused };
    (!notes.is_empty()).then_some(Failure::of_notes(exit, notes))
}
