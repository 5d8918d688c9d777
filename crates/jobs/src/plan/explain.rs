//! Errors of the TOML reader in the words of a plan.
//!
//! Translates errors: the parser's terms ("unknown field", "expected u64") never reach the user.
//! Details missing from the reader's message (the section, the line, the nearest key) come from the
//! document.

use std::ops::Range;

use tailspn_common::spelling::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::mapreduce::{LawKind, PhaseLaw};
use crate::plan::data_size::DataSize;
use crate::plan::problem::{PlanProblem, ProblemKind};

/// A key or value of a document.
struct Item {
    /// Path of the key.
    path: String,
    /// Position of the key.
    key: Range<usize>,
    /// Position of the value.
    value: Range<usize>,
}

/// Returns a problem in the words of a plan, and whether reading can continue without the key or value at its position.
pub(crate) fn explain(text: &str, table: &Spanned<DeTable<'_>>, error: &toml::de::Error) -> (PlanProblem, bool) {
    let message = error.message();
    let mut span = error.span();
    let at = |span: &Range<usize>| item_at(table.get_ref(), span, "");
    let mut item = span.as_ref().and_then(at);
    // the key of `{ erlang = 4 }` determines the whole value
    let tagged =
        item.as_ref().filter(|item| message.starts_with("unknown variant") && span.as_ref() == Some(&item.key));
    let whole = tagged.and_then(|item| {
        let (path, _) = item.path.rsplit_once('.')?;
        Some(Item { path: path.to_owned(), ..item_at_path(table.get_ref(), path)? })
    });
    if let Some(whole) = whole {
        span = Some(whole.value.clone());
        item = Some(whole);
    }
    let path = item.as_ref().map_or_else(String::new, |item| item.path.clone());
    let names = quoted(message);
    if message.starts_with("unknown field") {
        let (name, known) = names.split_first().map_or(("", &[][..]), |(name, known)| (*name, known));
        // a list of tagged settings has no separate position for its key
        let inside = if last_step(&path) == name { path } else { format!("{path}.{name}") };
        let span = item_at_path(table.get_ref(), &inside).map(|item| item.key).or(span);
        return (unknown(text, table, name, inside, known).at(text, span), true);
    }
    if let Some(name) = message.strip_prefix("missing field").map(|_| names.first().copied().unwrap_or_default()) {
        let place = if path.is_empty() { "the plan".to_owned() } else { section(table, &path) };
        let key = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let missing = PlanProblem::new(ProblemKind::Text, key, format!("{place} needs `{name}`"));
        return (missing.at(text, span), false);
    }
    let value = span.as_ref().and_then(|span| text.get(span.clone())).unwrap_or_default();
    let (message, hint) = bad_value(&path, value, message, &names);
    (PlanProblem { hint, ..PlanProblem::new(ProblemKind::Text, path, message) }.at(text, span), true)
}

/// Returns the message for an invalid value of a key, and the recommendation.
fn bad_value(path: &str, value: &str, message: &str, names: &[&str]) -> (String, Option<String>) {
    let word = value.trim_matches(['"', '\'']);
    if message.ends_with("expected struct PhaseLaws") {
        let law = nearest(word, &LawKind::ALL.map(LawKind::name)).unwrap_or("exponential");
        let written = PhaseLaw::written(law).map_or_else(|| format!("\"{law}\""), str::to_owned);
        let problem = format!("`{path}`: {value} is not a section with a line for each phase");
        return (problem, Some(format!("write `gpu = {written}` in [{path}]")));
    }
    if let Some(message) = written_law(word, message) {
        return (message, None);
    }
    let problem = format!("`{path}`: {}", in_words(value, message, names));
    let hint = if message.starts_with("unknown variant") {
        let (name, known) = names.split_first().map_or(("", &[][..]), |(name, known)| (*name, known));
        nearest(name, known).map(|known| format!("did you mean \"{known}\"?"))
    } else if problem.ends_with("is not a number") {
        as_number(last_step(path), value).map(|written| format!("write {written}"))
    } else {
        None
    };
    (problem, hint)
}

/// Returns the problem of an unknown key.
fn unknown(text: &str, table: &Spanned<DeTable<'_>>, name: &str, path: String, known: &[&str]) -> PlanProblem {
    let is_section = |name: &str| {
        let header = format!("[{name}");
        text.lines().any(|line| line.trim_start().trim_start_matches('[').starts_with(&header[1..]))
    };
    let top = !path.contains('.');
    let value = table.get_ref().get(name).map(Spanned::get_ref);
    let message = match (top, value) {
        (true, Some(value @ (DeValue::Table(_) | DeValue::Array(_)))) if is_section(name) => {
            let list = value.is_array();
            format!("unknown section {}{name}{}", if list { "[[" } else { "[" }, if list { "]]" } else { "]" })
        }
        (true, _) => format!("unknown key `{name}`"),
        (false, _) => {
            let (parent, _) = path.rsplit_once('.').unwrap_or_default();
            format!("unknown key `{name}` in {}", section(table, parent))
        }
    };
    let value = item_at_path(table.get_ref(), &path).and_then(|item| text.get(item.value)).unwrap_or_default();
    let near = nearest(name, known);
    let with_unit = known.iter().find(|known| UNITS.iter().any(|(end, _)| known.strip_suffix(end) == Some(name)));
    let with_unit = with_unit.filter(|known| near.is_none_or(|near| near == **known));
    let hint = match with_unit {
        Some(known) => Some(as_number(known, value).unwrap_or_else(|| format!("`{known}`"))),
        None => near.map(|near| format!("`{near}`")),
    };
    let hint = hint.map(|known| format!("did you mean {known}?"));
    PlanProblem { hint, ..PlanProblem::new(ProblemKind::UnknownKey, path, message) }
}

/// Suffixes of keys that have a unit, with the unit as text.
const UNITS: [(&str, &str); 2] = [("_mb", "MB"), ("_s", "seconds")];

/// Returns the correct notation of a number that has quotes or a unit; none if the value is not such a number.
fn as_number(key: &str, value: &str) -> Option<String> {
    let text = value.trim_matches(['"', '\'']);
    let (_, unit) = *UNITS.iter().find(|(end, _)| key.ends_with(end))?;
    let number = match unit {
        "MB" => text.parse::<DataSize>().map(DataSize::mb).ok().or_else(|| text.parse().ok()),
        _ => text.strip_suffix('s').unwrap_or(text).trim().parse().ok(),
    };
    number.filter(|number: &f64| number.is_finite()).map(|number| format!("`{key} = {number}` (in {unit})"))
}

fn last_step(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns a section in the notation of a plan.
fn section(table: &Spanned<DeTable<'_>>, path: &str) -> String {
    match path.strip_suffix(']').and_then(|path| path.rsplit_once('[')) {
        Some((list, _)) => format!("[[{list}]]"),
        None if item_at_path(table.get_ref(), path).is_some() => {
            let bare: Vec<_> = path.split('.').map(|step| step.split('[').next().unwrap_or_default()).collect();
            format!("[{}]", bare.join("."))
        }
        None => format!("`{path}`"),
    }
}

/// Returns the notation of a distribution that lacks its parameters.
fn written_law(word: &str, message: &str) -> Option<String> {
    let written = PhaseLaw::written(word).filter(|_| !message.starts_with("unknown"))?;
    Some(format!("`{word}` needs parameters, such as {written}"))
}

/// Describes the problem with a value.
fn in_words(value: &str, message: &str, names: &[&str]) -> String {
    let value = if value.len() > 40 || value.contains('\n') || value.is_empty() { "the value" } else { value };
    if message.starts_with("unknown variant") {
        let known: Vec<String> = names.iter().skip(1).map(|name| format!("\"{name}\"")).collect();
        return format!("{value} is not one of {}", known.join(", "));
    }
    if message.starts_with("data did not match any variant") {
        return format!("{value} has the wrong form");
    }
    match message.rsplit_once("expected ").map(|(_, wanted)| wanted) {
        Some("u8" | "u16" | "u32" | "u64" | "usize" | "i64" | "i32") => {
            format!("{value} is not a whole number of at least 0")
        }
        Some("f64" | "f32") => format!("{value} is not a number"),
        Some("a boolean") => format!("{value} is not true or false"),
        Some("a string") => format!("{value} is not a quoted string"),
        Some(wanted) if wanted.starts_with("a sequence") => format!("{value} is not a list"),
        Some(wanted) if wanted.starts_with("an array of length ") => {
            format!("it must have {} entries", wanted.trim_start_matches("an array of length "))
        }
        Some(wanted) if wanted.starts_with("struct") || wanted == "a map" => format!("{value} is not a section"),
        Some(wanted) => format!("{value} is not {wanted}"),
        None => message.to_owned(),
    }
}

/// Returns the words between backticks.
fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// Returns the key at this position, or the key whose value is at it.
fn item_at(table: &DeTable<'_>, span: &Range<usize>, before: &str) -> Option<Item> {
    for (key, value) in table {
        let path = format!("{before}{}", key.get_ref());
        if key.span() == *span || value.span() == *span {
            return Some(Item { path, key: key.span(), value: value.span() });
        }
        let found = match value.get_ref() {
            DeValue::Table(inner) => item_at(inner, span, &format!("{path}.")),
            DeValue::Array(items) => items.iter().enumerate().find_map(|(i, item)| {
                let path = format!("{path}[{i}]");
                if item.span() == *span {
                    return Some(Item { path, key: item.span(), value: item.span() });
                }
                item.get_ref().as_table().and_then(|inner| item_at(inner, span, &format!("{path}.")))
            }),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the key at a path.
fn item_at_path(table: &DeTable<'_>, path: &str) -> Option<Item> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (name, entry) = first.split_once('[').map_or((first, None), |(name, entry)| (name, Some(entry)));
    let (key, value) = table.get_key_value(name)?;
    let value = match entry {
        Some(entry) => value.get_ref().as_array()?.get(entry.trim_end_matches(']').parse::<usize>().ok()?)?,
        None => value,
    };
    match rest {
        Some(rest) => item_at_path(value.get_ref().as_table()?, rest),
        None => Some(Item { path: path.to_owned(), key: key.span(), value: value.span() }),
    }
}

#[cfg(test)]
mod tests {
    use crate::mapreduce::Plan;

    fn problem(text: &str) -> String {
        Plan::from_toml(text).unwrap_err().to_string()
    }

    /// A size or time in quotes, or under a name without its unit, gets a hint with the correct key and number.
    #[test]
    fn quoted_numbers_and_keys_without_a_unit_get_a_hint() {
        for (line, said) in [
            ("input = \"10240\"", "unknown key `input` in [job] (line 2); did you mean `input_mb = 10240` (in MB)?"),
            ("input = \"10GB\"", "unknown key `input` in [job] (line 2); did you mean `input_mb = 10240` (in MB)?"),
            ("input = []", "unknown key `input` in [job] (line 2); did you mean `input_mb`?"),
            ("deadline = 85", "unknown key `deadline` in [job] (line 2); did you mean `deadline_s = 85` (in seconds)?"),
            (
                "input_mb = \"10240\"",
                "`job.input_mb`: \"10240\" is not a number (line 2); write `input_mb = 10240` (in MB)",
            ),
            (
                "deadline_s = \"85 s\"",
                "`job.deadline_s`: \"85 s\" is not a number (line 2); write `deadline_s = 85` (in seconds)",
            ),
            ("split_mb = \"big\"", "`job.split_mb`: \"big\" is not a number (line 2)"),
        ] {
            assert_eq!(problem(&format!("[job]\n{line}\n")), said);
        }
    }

    #[test]
    fn misspelt_words_get_the_word_that_was_meant() {
        const LAWS: &str = "is not one of \"exponential\", \"deterministic\", \"erlang\", \"hyperexponential\", \"lognormal\", \
                            \"weibull\", \"pareto\", \"gamma\", \"uniform\", \"empirical\" (line 2)";
        for (text, said) in [
            (
                "[model]\nlocality = \"drwan\"",
                "`model.locality`: \"drwan\" is not one of \"mean\", \"drawn\" (line 2); did you mean \"drawn\"?"
                    .to_owned(),
            ),
            (
                "[model]\nlocality = \"near\"",
                "`model.locality`: \"near\" is not one of \"mean\", \"drawn\" (line 2)".to_owned(),
            ),
            (
                "[model.distribution]\ngpu = \"expnential\"",
                format!("`model.distribution.gpu`: \"expnential\" {LAWS}; did you mean \"exponential\"?"),
            ),
            (
                "[model.distribution]\ngpu = { erlnag = 4 }",
                format!("`model.distribution.gpu`: {{ erlnag = 4 }} {LAWS}; did you mean \"erlang\"?"),
            ),
            (
                "[model]\ndistribution = \"expnential\"",
                "`model.distribution`: \"expnential\" is not a section with a line for each phase (line 2); \
                write `gpu = \"exponential\"` in [model.distribution]"
                    .to_owned(),
            ),
            (
                "[model]\ndistribution = \"weibul\"",
                "`model.distribution`: \"weibul\" is not a section with a line for each phase (line 2); \
                write `gpu = { weibull = { shape = 0.7 } }` in [model.distribution]"
                    .to_owned(),
            ),
        ] {
            assert_eq!(problem(text), said);
        }
    }

    #[test]
    fn sizes_and_deadlines_that_are_not_above_0_are_refused_where_they_stand() {
        for key in ["input_mb", "split_mb", "deadline_s"] {
            for (value, shown) in [("0", "0"), ("-0.5", "-0.5"), ("nan", "NaN"), ("inf", "inf")] {
                let said = format!("`job.{key}`: {shown} is not a finite number above 0 (line 2)");
                assert_eq!(problem(&format!("[job]\n{key} = {value}\n")), said);
            }
        }
    }
}
