//! Unknown keys that another kind of plan has: the problem names that kind.

use toml::{Table, Value};

use crate::plan::problem::{PlanError, ProblemKind};
use crate::plan::text::Document;
use crate::plan::{JobPlan, Work};

/// The kinds of plans, each with the section that determines it.
const KINDS: [(Work, &str); 3] =
    [(Work::MapReduce, "[profile]"), (Work::Stages, "[[stage]]"), (Work::Tasks, "[[job]]")];

/// Adds to unknown keys of a plan of kind `work` which other kind has them, unless the problem already names a key.
pub(super) fn with_other_kinds(mut error: PlanError, work: Work) -> PlanError {
    let unknown = error.problems.iter_mut().filter(|problem| problem.kind == ProblemKind::UnknownKey);
    for problem in unknown.filter(|problem| problem.hint.is_none()) {
        let others = KINDS.iter().filter(|(other, _)| *other != work && has(*other, &problem.key));
        let sections: Vec<String> = others.map(|(_, section)| format!("`{section}`")).collect();
        if !sections.is_empty() {
            problem.hint = Some(format!("only plans with {} have it", sections.join(" or ")));
        }
    }
    error
}

/// Returns true if plans of this kind have the key.
fn has(work: Work, key: &str) -> bool {
    // [job] is one job, [[job]] is a list of jobs
    if key.starts_with("job") && key.starts_with("job[") != (work == Work::Tasks) {
        return false;
    }
    let Some(text) = alone(key).map(|table| table.to_string()) else { return false };
    let Ok(document) = Document::parse(&text) else { return false };
    JobPlan::read_as(document, work)
        .err()
        .is_none_or(|error| error.problems.iter().all(|problem| problem.kind != ProblemKind::UnknownKey))
}

/// Returns a table with one key; lists on its path have one entry.
fn alone(path: &str) -> Option<Table> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (key, is_entry) = first.split_once('[').map_or((first, false), |(key, _)| (key, true));
    let inner = match rest {
        Some(rest) => Value::Table(alone(rest)?),
        None if is_entry => return None,
        None => Value::Integer(1),
    };
    let value = if is_entry { Value::Array(vec![inner]) } else { inner };
    Some(Table::from_iter([(key.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        JobPlan::from_toml(text).unwrap_err().to_string()
    }

    #[test]
    fn keys_of_another_kind_of_plan_name_it() {
        assert_eq!(
            told("[job]\nreduces = 3\n[speculation]\nmultiplier = 2"),
            "unknown key `multiplier` in [speculation] (line 4); only plans with `[[stage]]` have it"
        );
        assert_eq!(
            told("[job]\nreduces = 3\n[[cluster.node]]\ncores = 4"),
            "unknown key `cores` in [[cluster.node]] (line 4); only plans with `[[job]]` have it"
        );
        assert_eq!(
            told("[profile]\nmaps = 3\n[sharing]\nexecutors_per_host = 2\nslots_per_host = 4"),
            "unknown section [sharing] (line 3); only plans with `[[stage]]` have it"
        );
        assert_eq!(told("[job]\nreduces = 3\ncolour = 1"), "unknown key `colour` in [job] (line 3)");
        // a word that is close to a known one is a typing error
        assert_eq!(told("[job]\nreducers = 3"), "unknown key `reducers` in [job] (line 2); did you mean `reduces`?");
    }
}
