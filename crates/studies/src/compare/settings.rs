//! Settings and plan keys that differ between two sides.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use crate::compare::result::SettingDifference;

/// Settings that always differ between two runs but have no effect: ids, times, addresses, ports, folders of the run.
const IGNORED: &[&str] = &[
    "spark.app.id",
    "spark.app.name",
    "spark.app.startTime",
    "spark.app.submitTime",
    "spark.app.initial.",
    "spark.blockManager.port",
    "spark.driver.appUIAddress",
    "spark.driver.bindAddress",
    "spark.driver.host",
    "spark.driver.port",
    "spark.eventLog.",
    "spark.executor.id",
    "spark.history.",
    "spark.sql.warehouse.dir",
    "spark.ui.",
    "spark.yarn.app.",
];

/// Lists the keys whose sets of values differ between the maps of two sides.
pub(super) fn differing<'a>(
    a: impl IntoIterator<Item = &'a BTreeMap<String, String>>,
    b: impl IntoIterator<Item = &'a BTreeMap<String, String>>,
) -> Vec<SettingDifference> {
    let mut values: BTreeMap<&str, [BTreeSet<&str>; 2]> = BTreeMap::new();
    let sides = a.into_iter().map(|map| (0, map)).chain(b.into_iter().map(|map| (1, map)));
    for (side, map) in sides {
        for (key, value) in map.iter().filter(|(key, _)| !IGNORED.iter().any(|start| key.starts_with(start))) {
            values.entry(key).or_default()[side].insert(value);
        }
    }
    let list = |values: &BTreeSet<&str>| values.iter().map(|value| (*value).to_owned()).collect();
    let differ = values.into_iter().filter(|(_, [a, b])| a != b);
    differ.map(|(key, [a, b])| SettingDifference { key: key.to_owned(), a: list(&a), b: list(&b) }).collect()
}

/// Returns the values of a plan by the paths of their keys. In a path, a table of a list is identified by its name, or by
/// its number if it has no name.
pub(super) fn flat(plan: &toml::Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    plan.iter().for_each(|(key, value)| flatten(key.clone(), value, &mut all));
    all
}

fn flatten(path: String, value: &Value, all: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| flatten(format!("{path}.{key}"), value, all)),
        Value::Array(list) if list.iter().any(Value::is_table) => {
            let mut names = BTreeSet::new();
            for (i, value) in list.iter().enumerate() {
                let name = value.get("name").and_then(Value::as_str).filter(|name| names.insert(*name));
                let name = name.map_or_else(|| i.to_string(), str::to_owned);
                flatten(format!("{path}[{name}]"), value, all);
            }
        }
        // 3 and 3.0 are the same in a plan
        Value::Integer(number) => drop(all.insert(path, (*number as f64).to_string())),
        Value::Float(number) => drop(all.insert(path, number.to_string())),
        Value::String(text) => drop(all.insert(path, text.clone())),
        other => drop(all.insert(path, other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_compared_by_key_and_names_of_tables() {
        let flat_of = |text: &str| flat(&text.parse().unwrap());
        let a = flat_of("x = 3\n[[stage]]\nname = \"map\"\ntasks = 8\n[[stage]]\nname = \"sort\"\ntasks = 2\n");
        let b = flat_of(
            "x = 3.0\n[[stage]]\nname = \"sort\"\ntasks = 4\nlate = true\n[[stage]]\nname = \"map\"\ntasks = 8\n",
        );
        let found = differing([&a], [&b]);
        let row = |key: &str, a: &[&str], b: &[&str]| {
            let own = |list: &[&str]| list.iter().map(|&value| value.to_owned()).collect();
            SettingDifference { key: key.to_owned(), a: own(a), b: own(b) }
        };
        assert_eq!(found, [row("stage[sort].late", &[], &["true"]), row("stage[sort].tasks", &["2"], &["4"])]);
    }

    #[test]
    fn ids_and_ports_are_no_difference() {
        let map = |id: &str| BTreeMap::from([("spark.app.id".to_owned(), id.to_owned())]);
        assert_eq!(differing([&map("1")], [&map("2")]), []);
    }
}
