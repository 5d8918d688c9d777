//! Lists that were typed with blanks instead of commas.

use std::ffi::OsString;
use std::path::Path;

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// Options that take a list of numbers or sizes.
const LISTS: [&str; 12] = [
    "--executors",
    "--workers",
    "--cores",
    "--hosts",
    "--map-slots",
    "--reduce-slots",
    "--gpus-per-worker",
    "--gpus-per-executor",
    "--reduces",
    "--partitions",
    "--split-size",
    "--input-size",
];

/// Returns the refusal of a command line such as `--executors 4 8`, where `8` is not a file.
pub(crate) fn spaced_list(arguments: &[OsString]) -> Option<Failure> {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_value = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit()) && !Path::new(word).exists();
    let at = words.iter().position(|word| LISTS.contains(&word.as_str()))?;
    let (option, rest) = (&words[at], words.get(at + 1..)?);
    let values: Vec<&str> = rest.iter().take_while(is_value).map(String::as_str).collect();
    if values.len() < 2 {
        return None;
    }
    let message = format!("{option} {}: a list has no blanks", values.join(" "));
    let help = format!("put commas between the values: {option} {}", values.join(","));
    Some(Failure::helped(Exit::Usage, message, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_after_a_list_belong_to_it() {
        let found = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            spaced_list(&words).and_then(|failure| failure.notes[0].help_text().map(str::to_owned))
        };
        let help = Some("put commas between the values: --executors 4,8,16".to_owned());
        assert_eq!(found("tailspn estimate a.gz --executors 4 8 16 --json"), help);
        assert_eq!(found("tailspn estimate --executors 4 a.gz"), None);
        assert_eq!(found("tailspn estimate a.gz --executors 4,8"), None);
    }
}
