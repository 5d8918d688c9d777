//! Warnings about the measures in a file: performance indices with the commands that compute them, and other measures by name.

use crate::formats::greatspn::expression::translate;
use crate::formats::greatspn::raw::RawMeasure;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::problem::Oddity;

/// Kinds of formulas that are skipped without a warning: they request standard results or pictures.
const PLAIN: [&str; 5] = ["ALL", "STAT", "TRG", "RG", "DD"];

/// Number of measures that a warning lists.
const MOST_TOLD: usize = 20;

/// Notes the measures of a file.
pub(super) fn note(measures: &[RawMeasure<'_>], notes: &mut Notes<'_>) {
    let asked: Vec<_> = measures.iter().filter(|measure| !PLAIN.contains(&measure.language.as_str())).collect();
    let Some(first) = asked.first() else { return };
    let (mut said, mut left_out) = (Vec::new(), Vec::new());
    for (i, measure) in asked.iter().enumerate().take(MOST_TOLD) {
        let formula = measure.formula.value.trim();
        match question(formula, i + 1) {
            Some(option) if measure.language == "PERFORMANCE_INDEX" => said.push(format!("`{formula}`: {option}")),
            _ => left_out.push(format!("`{formula}`")),
        }
    }
    let mut parts = Vec::new();
    if !said.is_empty() {
        parts
            .push(format!("a net cannot store measures; `tailspn net simulate --steady` computes {}", said.join(", ")));
    }
    if !left_out.is_empty() {
        parts.push(format!("skipped measures: {}", left_out.join(", ")));
    }
    if asked.len() > MOST_TOLD {
        parts.push(format!("{} more measures", asked.len() - MOST_TOLD));
    }
    notes.odd(first.formula.span.clone(), Oddity::Measures, || parts.join("; "));
}

/// The command-line option that requests a performance index.
fn question(formula: &str, number: usize) -> Option<String> {
    let (kind, rest) = formula.split_at_checked(2)?;
    let inside = rest.strip_suffix('}')?.trim();
    if inside.contains(['{', '}', '\'', '/']) {
        return None;
    }
    let reward = |name: char| Some(format!("--reward '{name}{number}={}'", translate(inside).ok()?.trim()));
    match kind {
        "P{" => reward('P'),
        "E{" => reward('E'),
        "X{" => Some("--throughput".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performance_indices_become_command_line_options() {
        assert_eq!(question("P{#p > 1}", 2).unwrap(), "--reward 'P2=#(p) > 1'");
        assert_eq!(question("E{#p + #q}", 1).unwrap(), "--reward 'E1=#(p) + #(q)'");
        assert_eq!(question("X{serve}", 1).unwrap(), "--throughput");
        assert_eq!(question("E{#p / #q > 1}", 1), None);
        assert_eq!(question("2 P{#p}", 1), None);
        assert_eq!(question("ä", 1), None);
    }
}
