//! docs/plans.md lists every key of every plan: its tables are made from the schemas, and compared with them here.
//!
//! `INSTA_UPDATE=always` writes the page again.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use tailspn::plan::{Asked, JobPlan, REFUSALS};
use tailspn::report::PLAN_SCHEMAS;

use crate::generated::compare;

/// The line of the page after which everything is generated.
const START: &str = "<!-- generated from the schemas; tests/it/plan_keys.rs compares it -->\n";

/// Units that descriptions have in brackets.
const UNITS: [&str; 4] = ["s", "MB", "MB/s", "W"];

/// The tables of the plans. A part that several plans have is written once.
#[derive(Default)]
struct Page {
    text: String,
    /// The heading of each part that was written, by its schema.
    written: BTreeMap<String, String>,
}

/// A part of a plan with a table of its own.
struct Part<'s> {
    path: String,
    heading: String,
    text: String,
    schema: &'s Value,
}

impl Page {
    fn plan(&mut self, name: &str, about: &str, schema: &Value) {
        let _ = writeln!(self.text, "## {about}\n\nSchema: `{name}`.\n");
        let mut parts = Vec::new();
        self.keys("", schema, &mut parts);
        self.parts(parts);
    }

    fn parts(&mut self, parts: Vec<Part<'_>>) {
        for Part { path, heading, text, schema } in parts {
            let _ = writeln!(self.text, "### {heading}\n\n{text}\n");
            let mut inner = Vec::new();
            let forms = alternatives(schema);
            if forms.is_empty() {
                self.keys(&path, schema, &mut inner);
            } else if forms.iter().all(|form| form["properties"]["kind"].is_object()) {
                forms.iter().for_each(|form| self.kind(&path, form, &mut inner));
            } else {
                self.forms(&path, forms, &mut inner);
            }
            self.parts(inner);
        }
    }

    /// Writes a table of the keys of an object.
    fn keys<'s>(&mut self, path: &str, schema: &'s Value, parts: &mut Vec<Part<'s>>) {
        let mut rows = String::new();
        for (name, value) in schema["properties"].as_object().into_iter().flatten() {
            let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let mut kind = kind_of(value);
            if let Some(part) = part_of(&at, value) {
                if let Some(first) = self.written.get(&key(part.schema)) {
                    kind = format!("as {first}");
                } else {
                    self.written.insert(key(part.schema), part.heading.clone());
                    let is_section = part.heading.contains('[');
                    parts.push(part);
                    if is_section {
                        continue;
                    }
                }
            }
            if name == "kind" && value["const"].is_string() {
                continue;
            }
            let required = schema["required"].as_array().is_some_and(|all| all.iter().any(|key| key == name));
            let (unit, default, meaning) = meaning(value, required);
            let _ = writeln!(rows, "| `{name}` | {kind} | {unit} | {default} | {meaning} |");
        }
        if !rows.is_empty() {
            let _ = writeln!(self.text, "| key | type | unit | default | meaning |\n|---|---|---|---|---|\n{rows}");
        }
    }

    /// Writes the keys of one of several objects that their key `kind` tells apart.
    fn kind<'s>(&mut self, path: &str, schema: &'s Value, parts: &mut Vec<Part<'s>>) {
        let kind = schema["properties"]["kind"]["const"].as_str().unwrap();
        let _ = writeln!(self.text, "`kind = \"{kind}\"`: {}\n", description(schema));
        self.keys(path, schema, parts);
    }

    /// Writes a table of the forms of a value.
    fn forms<'s>(&mut self, path: &str, alternatives: &'s [Value], parts: &mut Vec<Part<'s>>) {
        let _ = writeln!(self.text, "| form | meaning |\n|---|---|");
        for one in alternatives {
            let mut form = kind_of(one);
            let mut said = description(one);
            if let Some((name, value)) = single(one) {
                let inner: Vec<_> = value["properties"].as_object().into_iter().flatten().collect();
                if inner.len() > 2 {
                    parts.extend(part_of(&format!("{path}.{name}"), value));
                    form = format!("`{{ {name} = {{ … }} }}`");
                } else if inner.is_empty() {
                    form = format!("`{{ {name} = N }}`");
                } else {
                    let keys: Vec<_> = inner.iter().map(|(key, _)| format!("{key} = …")).collect();
                    form = format!("`{{ {name} = {{ {} }} }}`", keys.join(", "));
                    for (key, value) in inner {
                        let _ = write!(said, " `{key}`: {}", description(value));
                    }
                }
            }
            let _ = writeln!(self.text, "| {form} | {said} |");
        }
        self.text.push('\n');
    }
}

/// The schema without what depends on its place.
fn key(schema: &Value) -> String {
    let mut schema = schema.clone();
    for name in ["description", "default"] {
        schema.as_object_mut().unwrap().remove(name);
    }
    schema.to_string()
}

/// The only property of an object that stands for a variant.
fn single(schema: &Value) -> Option<(&String, &Value)> {
    let properties = schema["properties"].as_object()?;
    (properties.len() == 1 && schema["required"].as_array()?.len() == 1).then(|| properties.iter().next())?
}

/// The part of a value with keys or several forms.
fn part_of<'s>(path: &str, schema: &'s Value) -> Option<Part<'s>> {
    let (path, text) = (path.to_owned(), description(schema));
    let (heading, text, schema) = match alternatives(schema) {
        [] if has_keys(schema) => (format!("`[{path}]`"), text, schema),
        [] if has_keys(&schema["items"]) => {
            let items = &schema["items"];
            // one sentence about an entry repeats the sentence about the list
            let more = Some(description(items)).filter(|text| text.contains(". ")).unwrap_or_default();
            (format!("`[[{path}]]`"), format!("{text} {more}").trim_end().to_owned(), items)
        }
        [] => return None,
        forms if forms.iter().all(is_word) => return None,
        forms if forms.iter().all(has_keys) => (format!("`[{path}]`"), text, schema),
        _ => (format!("`{path}`"), text, schema),
    };
    Some(Part { path, heading, text, schema })
}

/// The type of a value as a person calls it.
fn kind_of(schema: &Value) -> String {
    if let Some(word) = schema["const"].as_str() {
        return format!("`\"{word}\"`");
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    let forms = alternatives(schema);
    if !forms.is_empty() {
        let words = forms.iter().all(is_word);
        return if words { forms.iter().map(kind_of).collect::<Vec<_>>().join(", ") } else { "see below".to_owned() };
    }
    match schema["type"].as_str() {
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "text".to_owned(),
        Some("array") => match kind_of(&schema["items"]).as_str() {
            "any value" => "list of values".to_owned(),
            inner if inner.starts_with("list") => inner.replacen("list", "list of lists", 1),
            inner => format!("list of {inner}s"),
        },
        Some("object") => "table".to_owned(),
        Some(other) => other.to_owned(),
        None => "any value".to_owned(),
    }
}

/// Unit, default and meaning of a key. Panics if the description states another default than the type.
fn meaning(schema: &Value, required: bool) -> (String, String, String) {
    let mut text = description(schema);
    let mut units = String::new();
    for unit in UNITS {
        let bracket = format!(" [{unit}]");
        if text.contains(&bracket) {
            text = text.replacen(&bracket, "", 1);
            units = unit.to_owned();
        }
    }
    let mut default = literal(&schema["default"]);
    let bare = default.trim_matches('"').to_owned();
    if let Some(start) = text.find("Default ") {
        let end = text[start..].find(". ").map_or(text.len(), |end| start + end + 1);
        let stated = text[start + "Default ".len()..end].trim_end_matches('.').to_owned();
        let first = stated.split([' ', ':', ';']).next().unwrap();
        let value = first.trim_matches('`').replace(',', "");
        if default.is_empty() && (first == "none" || first.contains('`') || value.parse::<f64>().is_ok()) {
            default.clone_from(&value);
        }
        let is_literal = first.contains('`') || value.parse::<f64>().is_ok();
        assert!(!is_literal || bare.is_empty() || value == bare, "the type says {bare}: {text}");
        // the column says the same
        if first == stated && (value == bare || bare.is_empty()) && default.trim_matches('"') == value {
            text = format!("{}{}", text[..start].trim_end(), &text[end..]);
        }
    }
    let words = alternatives(schema);
    for one in words.iter().filter(|_| words.iter().all(is_word)) {
        let _ = write!(text, " {}: {}", kind_of(one), description(one));
    }
    let shown = match (required, default.is_empty()) {
        (true, _) => "required".to_owned(),
        (_, true) => String::new(),
        _ if default == "none" => default,
        _ => format!("`{default}`"),
    };
    (units, shown, text)
}

/// A default as a plan has it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // 64.0 is 64, and -0.0 does not occur
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        other => other.to_string(),
    }
}

/// The description of a value, for a cell of a table.
pub(crate) fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace("\n\n", " ").replace('|', "\\|")
}

/// The alternatives of a value, but not words alone.
pub(crate) fn alternatives(schema: &Value) -> &[Value] {
    ["oneOf", "anyOf"].iter().find_map(|name| schema[*name].as_array()).map_or(&[], Vec::as_slice)
}

/// True for a fixed list of words.
fn is_word(schema: &Value) -> bool {
    schema["const"].is_string() || schema["enum"].is_array()
}

/// True for an object with keys.
pub(crate) fn has_keys(schema: &Value) -> bool {
    schema["properties"].is_object()
}

#[test]
fn the_page_of_plans_has_every_key() {
    let mut page = Page::default();
    // the first schema is any of the next three
    for schema in &PLAN_SCHEMAS[1..] {
        page.plan(schema.name, schema.about, &schema.schema());
    }
    compare("docs/plans.md", START, &page.text);
}

/// docs/planning.md has the table of what cannot be combined, row by row.
#[test]
fn the_docs_list_what_cannot_be_combined() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/planning.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, table) = text.split_once("| what | cannot be combined with | because |\n|---|---|---|\n").unwrap();
    let found: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let rows: Vec<String> =
        REFUSALS.iter().map(|row| format!("| {} | {} | {} |", row.what, row.with, row.why)).collect();
    assert_eq!(found, rows);
}

/// Each row refuses a plan that has both, and the message names both.
#[test]
fn keys_that_cannot_be_combined_are_refused() {
    let phases = "[job]\ninput_mb = 640\nreduces = 2\n";
    let node = |keys: &str| format!("{phases}[[cluster.node]]\n{keys}\n");
    let stages = |more: &str| {
        format!(
            "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\ngpus_per_executor = 1\nconcurrent_gpu_tasks = 1\n{more}\
             [[stage]]\ngpu = 0.5\ntasks = {{ fixed = 4 }}\ncold = {{ fixed_s = 3 }}\nwarm = {{ fixed_s = 1 }}\n"
        )
    };
    let shared = node("host_cores = 1");
    let plans = [
        (format!("{shared}[model]\nslots = false\n"), Asked::Times),
        (format!("{shared}[speculation]\n"), Asked::Times),
        (format!("{}[model]\nlocality = 'drawn'\n", node("disk = 'shared'")), Asked::Times),
        (node("network = 'shared'"), Asked::Policies),
        (shared.clone(), Asked::Net),
        (node("gpus = 1"), Asked::Policies),
        (format!("{}[speculation]\n", node("gpus = 1")), Asked::Times),
        (format!("{}[stragglers]\n", node("gpus = 1")), Asked::Net),
        (format!("{}[stragglers]\ndistribution = 'exponential'\n", node("gpus = 1")), Asked::Times),
        (stages(""), Asked::Net),
    ];
    for ((text, asked), row) in plans.iter().zip(&REFUSALS) {
        let plan = JobPlan::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let refusal = plan.refusal(*asked).unwrap_or_else(|| panic!("{text} {asked:?}"));
        assert_eq!((refusal.what, refusal.with), (row.what, row.with), "{text}");
    }
    let refused = |text: &str, asked| JobPlan::from_toml(text).unwrap().refusal(asked).map(|row| row.with);
    for asked in [Asked::Times, Asked::Net, Asked::Policies] {
        assert_eq!(refused(&node("gpus = 0"), asked), None);
        assert_eq!(refused(&node("host_cores = 8"), asked), None, "more cores than slots: nothing is shared");
    }
    assert_eq!(refused(&node("gpus = 1"), Asked::Times), None);
    assert_eq!(refused(&stages(""), Asked::Times), None);
    assert_eq!(plans.len(), REFUSALS.len());
}
