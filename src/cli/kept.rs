//! The options of a question that stay in the commands for the next questions.

use std::ffi::OsString;

use crate::cli::input::quoted;

/// Options of a question that stay in the next commands.
const KEPT: [&str; 25] = [
    "--app",
    "--job",
    "--input-size",
    "--log-input-size",
    "--deadline",
    "--workers",
    "--executors",
    "--cores",
    "--hosts",
    "--reduces",
    "--partitions",
    "--split-size",
    "--map-slots",
    "--reduce-slots",
    "--gpus-per-worker",
    "--gpus-per-executor",
    "--price",
    "--probability",
    "--speculation",
    "--stragglers",
    "--policies",
    "--until",
    "--avoid",
    "--within",
    "--trust-misfit",
];

/// Returns the kept options among the words of a command line, each with its value.
pub(crate) fn kept_options(words: &[OsString]) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let (option, value) =
            word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
        if !KEPT.contains(&option) {
            continue;
        }
        let value = match (option, value) {
            ("--trust-misfit", _) => None,
            (_, Some(value)) => Some(value.to_owned()),
            (_, None) => words.next(),
        };
        found.push((option.to_owned(), value.map(|value| quoted(&value))));
    }
    found
}
