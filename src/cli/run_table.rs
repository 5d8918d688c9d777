//! `estimate` of a table of runs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use tailspn::ask::{EstimateRuns, RunTableError, tasks_of};
use tailspn::explain::Explain as _;
use tailspn::plan::{InputSize, PlanOption};
use tailspn::report::Answer;
use tailspn::subject::FileKind;
use tailspn::tables::names_of;
use tailspn::tables::tasks::{Cluster, is_task_table};
use tailspn::trace::compression::first_bytes;

use crate::cli::args::EstimateArgs;
use crate::cli::exit::Exit;
use crate::cli::files::write_file;
use crate::cli::frame::Asked;
use crate::cli::input::Input;
use crate::cli::load::{decompressed, unreadable};
use crate::cli::notes::{Failure, first_given};

/// Maximum size of a table after decompression \[bytes\].
const MOST_BYTES: u64 = 1 << 30;

impl EstimateArgs {
    /// Answers from a table of runs.
    pub(crate) fn runs(&self, input: &Input) -> Result<Asked<'_>, Failure> {
        if self.inputs.len() > 1 {
            return Err(Failure::helped(
                Exit::Usage,
                format!("`{}` is a table of runs, and other files are given", input.display()),
                "pass one table, which may have all runs",
            ));
        }
        if let Some(option) = self.not_of_tables() {
            return Err(not_of_tables(option));
        }
        let question = EstimateRuns::new(&text(input)?, &self.table.chosen());
        let mut question = question.map_err(|error| of_file(input, &error))?;
        question.only.clone_from(&self.table.only);
        (question.price, question.probability) = (self.price.clone(), self.wanted());
        question.level = self.run.level.unwrap_or(question.level);
        question.is_trusted = self.trust.trust_misfit;
        for option in self.options() {
            question.set(vec![option])?;
        }
        for list in self.planned.lists() {
            question.set(list)?;
        }
        self.needs_deadline(question.deadline_s.is_some())?;
        let cluster = self.cluster(&mut question)?;
        let found = question.run()?;
        let asked = Asked::from(Answer::of_runs(found));
        let Some((path, cluster)) = self.save_cluster.as_deref().zip(cluster) else { return Ok(asked) };
        Ok(asked.writing(move |_, _| {
            let text = serde_json::to_string_pretty(&cluster).map_err(Failure::internal)? + "\n";
            write_file(path, text.as_bytes(), self.print.force)
        }))
    }

    /// Learns the cluster from other programs. Returns what the question's own runs and they tell together, if that is to be saved.
    fn cluster(&self, question: &mut EstimateRuns) -> Result<Option<Cluster>, Failure> {
        let Some(own) = question.tasks() else {
            let given = first_given([
                ("--alongside", !self.fitted.alongside.is_empty()),
                ("--save-cluster", self.save_cluster.is_some()),
            ]);
            return given.map_or(Ok(None), |option| {
                let help = "a table of tasks has a column `stage`; see docs/tables.md";
                Err(Failure::helped(Exit::Usage, format!("{option} applies only to a table of tasks"), help))
            });
        };
        let (mut programs, mut saved) = (Vec::new(), None);
        for path in self.fitted.alongside.iter().map(|path| tables_in(path)).collect::<Result<Vec<_>, _>>()?.concat() {
            let input = Input::from(&*path);
            if input.kind() == Some(FileKind::Cluster) {
                saved = Some(read_cluster(&path, &text(&input)?)?);
                continue;
            }
            programs.push(tasks_of(&text(&input)?, &self.table.chosen()).map_err(|error| of_file(&path, &error))?);
        }
        if saved.is_some() && !programs.is_empty() {
            let help = "pass tables, or one saved file";
            return Err(Failure::helped(Exit::Usage, "--alongside has tables and a saved cluster", help));
        }
        let both = self.save_cluster.is_some().then(|| Cluster::of(programs.iter().chain([own])));
        question.set_cluster(saved.unwrap_or_else(|| Cluster::of(&programs)));
        Ok(both)
    }

    /// Returns an option that was given and has no meaning for a table.
    fn not_of_tables(&self) -> Option<&'static str> {
        let given = first_given([
            ("--reps", self.reps.is_some()),
            ("--rel-error", self.rel_error.is_some()),
            ("--late-effort", self.late_effort.is_some()),
            ("--no-fold", self.no_fold),
            ("--now", self.now),
            ("--shard", self.part.shard.is_some()),
            ("--save-net", self.save_net.is_some()),
            ("--save-plan", self.save_plan.is_some()),
        ]);
        given.or_else(|| self.fitted.not_read_from_tables())
    }
}

/// Returns an error of a file, with its name.
fn of_file(path: &Path, error: &RunTableError) -> Failure {
    let exit = Failure::of(error).exit;
    let message = format!("{}: {error}", path.display());
    match error.help() {
        Some(help) => Failure::helped(exit, message, help),
        None => Failure::plain(exit, message),
    }
}

fn not_of_tables(option: &str) -> Failure {
    let help =
        "a table takes --workers, --input-size, --deadline, --probability, --price and --only; for the rest, pass logs";
    Failure::helped(Exit::Usage, format!("{option} does not apply to a table of runs"), help)
}

/// Sets what an option, or a list of one, asks for.
trait Asks {
    fn set(&mut self, options: Vec<PlanOption>) -> Result<(), Failure>;
}

impl Asks for EstimateRuns {
    fn set(&mut self, options: Vec<PlanOption>) -> Result<(), Failure> {
        for option in options {
            match option {
                PlanOption::Workers(None, count) | PlanOption::Executors(count) => self.machines.push(count),
                PlanOption::InputSize(size) => self.sizes.push(size),
                PlanOption::Deadline(seconds) => self.deadline_s = Some(seconds),
                other => return Err(not_of_tables(other.name())),
            }
        }
        // in the order of the rows
        let mb = |size: &InputSize| size.of(1.0);
        self.sizes.sort_by(|a, b| mb(a).total_cmp(&mb(b)));
        self.machines.sort_unstable();
        self.machines.dedup();
        Ok(())
    }
}

/// Returns the tables of a path: those in a folder, or the file itself.
fn tables_in(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| unreadable(path, &error);
    let mut all = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if FileKind::of(&path) == Some(FileKind::Runs) && tasks_begin(&path) {
            all.push(path);
        }
    }
    all.sort();
    if all.is_empty() {
        let help = "a table of tasks has a column `stage`; see docs/tables.md";
        return Err(Failure::helped(
            Exit::Usage,
            format!("`{}` does not contain a table of tasks", path.display()),
            help,
        ));
    }
    Ok(all)
}

/// Returns true if the header of a file is one of tasks.
fn tasks_begin(path: &Path) -> bool {
    const HEAD: u64 = 64 * 1024;
    let Ok(head) = first_bytes(path, HEAD) else { return false };
    is_task_table(&names_of(&head))
}

/// Returns the cluster in a saved file.
fn read_cluster(path: &Path, text: &[u8]) -> Result<Cluster, Failure> {
    let read: Result<Cluster, _> = serde_json::from_slice(text);
    let wrong =
        |reason: String| Failure::plain(Exit::Model, format!("`{}` is not a saved cluster: {reason}", path.display()));
    let found = read.map_err(|error| wrong(error.to_string()))?;
    if found.is_valid() {
        Ok(found)
    } else {
        Err(wrong("a list of values has another length, or is not finite".to_owned()))
    }
}

/// Returns the text of a table, decompressed.
fn text(input: &Input) -> Result<Vec<u8>, Failure> {
    let reader = decompressed(input)?;
    let mut text = Vec::new();
    reader.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(|error| unreadable(input, &error))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Failure::plain(Exit::Model, format!("`{}` is larger than 1 GiB", input.display())));
    }
    Ok(text)
}
