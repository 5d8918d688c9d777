//! Settings of lists in words.

use tailspn_common::row::{Set, Setting};

use crate::report::number::counted;

/// Returns a configuration in words, such as `8 executors and an input of 3x`, and true if a verb with it is in the plural.
pub(super) fn configuration(set: &Set) -> (String, bool) {
    let words = |(name, setting): &(String, Setting)| match setting {
        Setting::Count(n) => match name.strip_prefix("gpus_per_") {
            Some(machine) => format!("{} per {machine}", counted(n.unsigned_abs(), "GPU")),
            None => counted(n.unsigned_abs(), &name.trim_end_matches('s').replace('_', " ")),
        },
        setting if name == "split_size" => format!("splits of {setting}"),
        setting => format!("an input of {setting}"),
    };
    let is_one = |(name, setting): &(String, Setting)| match setting {
        Setting::Count(n) => *n == 1,
        _ => name != "split_size",
    };
    let parts: Vec<String> = set.0.iter().map(words).collect();
    (parts.join(" and "), parts.len() > 1 || !set.0.iter().all(is_one))
}

/// Returns a text with a capital letter at its start.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
