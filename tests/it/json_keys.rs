//! docs/json.md lists every key of every result: its tables are made from the schemas, and compared with them here.
//!
//! `INSTA_UPDATE=always` writes the page again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tailspn::report::{LINE_SCHEMAS, NamedSchema, RESULT_SCHEMAS};

use crate::generated::compare;
use crate::plan_keys::{alternatives, description, has_keys};

/// The line of the page after which everything is generated.
const START: &str = "<!-- generated from the schemas; tests/it/json_keys.rs compares it -->\n";

/// Number of kinds in which a key with one meaning is a common key.
const COMMON: usize = 3;

/// Least number of keys that stand for a part, if an object has them among others.
const LEAST_KEYS: usize = 4;

/// Greatest length of the meanings of the keys of an object that needs no rows of its own.
const MOST_LETTERS: usize = 400;

/// Words without a meaning of their own, without a plural `s`.
const FILLERS: [&str; 8] = ["the", "number", "of", "a", "an", "that", "it", "this"];

/// Greatest number of words whose meanings are listed.
const MOST_WORDS: usize = 5;

/// The tables of all kinds. A part that several kinds have is written once.
#[derive(Default)]
struct Page {
    text: String,
    /// The kind or part that is being written.
    place: String,
    /// A reference to each part that was written: its place, and its path there.
    written: BTreeMap<String, (String, String)>,
    /// The keys of each part and kind, by its link.
    keys: Vec<(String, Map<String, Value>)>,
    /// Keys that several kinds have with the same meaning.
    common: Map<String, Value>,
}

impl Page {
    /// Writes the parts of several kinds: the small ones in one table, every other one with a heading of its own.
    fn parts(&mut self, parts: &[Value]) {
        let is_small = |part: &&Value| self.short(part).is_some();
        let (small, large): (Vec<_>, Vec<_>) = parts.iter().partition(is_small);
        let places = small.iter().map(|part| format!("[{}](#small-parts)", name_of(part)));
        let places = places.chain(large.iter().map(|part| link(&name_of(part))));
        let all = small.iter().chain(&large);
        self.written = all.zip(places).map(|(part, place)| (key(part), (place, String::new()))).collect();
        self.text.push_str("### Small parts\n\n| part | keys or words |\n|---|---|\n");
        for part in small {
            let _ = writeln!(self.text, "| {} | {} |", name_of(part), self.short(part).unwrap());
        }
        for part in large {
            let _ = writeln!(self.text, "\n### {}\n\n{}\n", name_of(part), part["about"].as_str().unwrap());
            self.place = link(&name_of(part));
            self.table(part);
        }
    }

    fn kind(&mut self, name: &str, about: &str, schema: &Value) {
        let text = description(schema);
        let more = text.split_once(". ").map_or("", |(_, more)| more);
        let _ = writeln!(self.text, "\n## `{name}`\n\n{}\n", format!("{about}. {more}").trim());
        self.place = link(&format!("`{name}`"));
        self.table(schema);
    }

    fn table(&mut self, schema: &Value) {
        self.text.push_str("| key | | meaning |\n|---|---|---|\n");
        if let Some(keys) = schema["properties"].as_object() {
            self.rows("", keys);
        } else {
            self.forms("", schema);
        }
    }

    /// Writes a row. Keys in succession whose names say everything share a row.
    fn row(&mut self, name: &str, form: &str, meaning: &str) {
        let is_plain = form.is_empty() && repeats(name, meaning);
        match self.text.strip_suffix(" | | |\n") {
            Some(rows) if is_plain => self.text = format!("{rows}, {name} | | |\n"),
            _ if is_plain => self.text += &format!("| {name} | | |\n"),
            _ if form.is_empty() => self.text += &format!("| {name} | | {} |\n", meaning.trim()),
            _ => self.text += &format!("| {name} | {form} | {} |\n", meaning.trim()),
        }
    }

    /// Writes the rows of the keys of an object.
    fn rows(&mut self, path: &str, keys: &Map<String, Value>) {
        let mut keys = keys.clone();
        if let Some((link, part)) = self.contained(&keys).cloned() {
            keys.retain(|name, value| part.get(name) != Some(value));
            let _ = writeln!(self.text, "| {} | | the keys of {link} |", code(&at(path, "…")));
        }
        let is_common = |name: &String, value: &Value| path.is_empty() && self.common.get(name) == Some(value);
        let common: Vec<_> =
            keys.iter().filter(|(name, value)| is_common(name, value)).map(|(name, _)| code(name)).collect();
        keys.retain(|name, value| !is_common(name, value));
        for (name, value) in &keys {
            self.value(&at(path, name), value);
        }
        if !common.is_empty() {
            self.row(&common.join(", "), "", "see [common keys](#common-keys)");
        }
    }

    /// The largest part or kind whose keys an object has among others.
    fn contained(&self, keys: &Map<String, Value>) -> Option<&(String, Map<String, Value>)> {
        let parts = self.keys.iter().filter(|(_, part)| part.len() < keys.len() && contains(keys, part));
        parts.max_by_key(|(_, part)| part.len())
    }

    /// Writes the rows of a value.
    fn value(&mut self, path: &str, value: &Value) {
        let item = item_of(value);
        let path = format!("{path}{}", "[]".repeat(depth_of(value)));
        let (name, text) = (code(&path), description(value));
        if !is_part(item) {
            self.row(&name, &remark(value, None), &text);
        } else if let Some(link) = self.link(item) {
            self.row(&name, &remark(value, Some(&link)), &text);
        } else {
            self.written.insert(key(item), (self.place.clone(), path.clone()));
            if let Some(keys) = self.short(item) {
                self.row(&name, &remark(value, None), &format!("{text} {keys}"));
            } else if let Some(keys) = item["properties"].as_object() {
                self.row(&name, &remark(value, None), &text);
                self.rows(&path, keys);
            } else {
                self.row(&name, &remark(value, None), &text);
                self.forms(&path, item);
            }
        }
    }

    /// A reference to a part that was written.
    fn link(&self, item: &Value) -> Option<String> {
        let (place, path) = self.written.get(&key(item))?;
        Some(match (path.as_str(), *place == self.place) {
            ("", _) => place.clone(),
            (path, true) => format!("as `{path}`"),
            (path, false) => format!("as `{path}` of {place}"),
        })
    }

    /// Writes the rows of the forms of a value.
    fn forms(&mut self, path: &str, schema: &Value) {
        for form in alternatives(schema) {
            let mut keys = form["properties"].as_object().cloned().unwrap_or_default();
            let tag = keys.iter().find(|(_, value)| value["const"].is_string());
            let name = match tag {
                Some((name, value)) => format!("{} = {}", code(&at(path, name)), word_of(value)),
                None if keys.is_empty() => word_of(form),
                None => code(path),
            };
            keys.retain(|_, value| !value["const"].is_string());
            let mut text = description(form);
            let short = self.short(&json!({ "properties": keys }));
            if let Some(keys) = short.as_ref().filter(|_| !keys.is_empty()) {
                let _ = write!(text, " {keys}");
            }
            self.row(&name, "", &text);
            if short.is_none() {
                self.rows(path, &keys);
            }
        }
    }

    /// The words of a value, or the keys of a small object, in one sentence.
    fn short(&self, item: &Value) -> Option<String> {
        let Some(keys) = item["properties"].as_object() else {
            let words = alternatives(item);
            let is_long = words.len() > MOST_WORDS;
            let meaning = |word| if is_long { String::new() } else { description(word) };
            return (!words.iter().any(has_keys))
                .then(|| list(words.iter().map(|word| (word_of(word), meaning(word)))));
        };
        if keys.values().any(|value| is_part(item_of(value))) || self.contained(keys).is_some() {
            return None;
        }
        let meaning = |value| match remark(value, None) {
            remark if remark.is_empty() => description(value),
            remark => format!("{} ({remark})", description(value).trim_end_matches('.')),
        };
        let text = list(keys.iter().map(|(name, value)| (code(name), meaning(value))));
        (text.len() < MOST_LETTERS).then_some(text)
    }
}

/// True if an object has all keys of a part with several keys.
fn contains(keys: &Map<String, Value>, part: &Map<String, Value>) -> bool {
    part.len() >= LEAST_KEYS
        && part.iter().all(|(name, value)| keys.get(name).is_some_and(|own| key(own) == key(value)))
}

fn at(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// The form of a value, and whether it may be missing.
fn remark(value: &Value, form: Option<&str>) -> String {
    let missing = match (&value["nullable"], &value["optional"]) {
        (_, Value::Bool(true)) => Some("or absent"),
        (Value::Bool(true), _) => Some("or null"),
        _ => None,
    };
    let form = form.or_else(|| file_of(value));
    form.into_iter().chain(missing).collect::<Vec<_>>().join(" ")
}

/// A form of a value that has no keys.
fn word_of(value: &Value) -> String {
    value["const"].as_str().map_or_else(|| value["type"].as_str().unwrap().to_owned(), code)
}

/// Names with their meanings; a meaning that only repeats the name is left out.
fn list(rows: impl Iterator<Item = (String, String)>) -> String {
    let mut text = String::new();
    let mut separator = "";
    for (name, meaning) in rows {
        text += separator;
        text += &name;
        separator = ", ";
        if !repeats(&name, &meaning) {
            let _ = write!(text, ": {}", meaning.trim_end_matches('.'));
            separator = "; ";
        }
    }
    text + "."
}

/// True if each word of a meaning is part of its name, or a filler.
fn repeats(name: &str, meaning: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| word.trim_end_matches('s').to_owned())
            .collect()
    };
    let known = words(name);
    words(meaning).iter().all(|word| known.contains(word) || FILLERS.contains(&word.as_str()))
}

/// The schema without what depends on its place.
fn key(schema: &Value) -> String {
    let mut schema = schema.clone();
    for name in ["about", "description", "default", "optional", "nullable"] {
        schema.as_object_mut().unwrap().remove(name);
    }
    schema.sort_all_objects();
    schema.to_string()
}

/// A heading from the name of a type, without the word for its place in a result.
fn name_of(part: &Value) -> String {
    let mut name = String::new();
    for letter in part["title"].as_str().unwrap().chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push(' ');
        }
        name.extend(letter.to_lowercase());
    }
    for word in [" row", " section", " summary"] {
        name.truncate(name.strip_suffix(word).map_or(name.len(), str::len));
    }
    name
}

fn link(heading: &str) -> String {
    format!("[{heading}](#{})", heading.trim_matches('`').replace(' ', "-"))
}

/// The value in a list, or in a list of lists.
fn item_of(value: &Value) -> &Value {
    if value["items"].is_object() { item_of(&value["items"]) } else { value }
}

fn depth_of(value: &Value) -> usize {
    if value["items"].is_object() { 1 + depth_of(&value["items"]) } else { 0 }
}

/// True for a value with a table or a list of its own.
fn is_part(value: &Value) -> bool {
    has_keys(value) && file_of(value).is_none() || !alternatives(value).is_empty()
}

/// The page about a value that is a file of its own.
fn file_of(value: &Value) -> Option<&'static str> {
    matches!(value["title"].as_str()?, "StagePlan" | "Plan").then_some("[plan](plans.md)")
}

/// A schema without references: a definition has its name as `title` and its description as `about`.
fn plain(root: &Value, schema: &Value) -> Value {
    let Some(object) = schema.as_object() else { return schema.clone() };
    let mut object = object.clone();
    object.remove("title");
    if let Some(Value::String(path)) = object.remove("$ref") {
        let mut found = plain(root, root.pointer(path.trim_start_matches('#')).unwrap());
        let target = found.as_object_mut().unwrap();
        if !target.contains_key("title") {
            target.insert("title".to_owned(), path.rsplit('/').next().unwrap().into());
        }
        if let Some(about) = target.remove("description") {
            target.entry("about").or_insert(about);
        }
        return found;
    }
    if let Some(Value::Array(types)) = object.get("type").cloned() {
        object.insert("type".to_owned(), types[0].clone());
        object.insert("nullable".to_owned(), true.into());
    }
    for name in ["allOf", "anyOf"] {
        let Some(Value::Array(mut forms)) = object.get(name).cloned() else { continue };
        let all = forms.len();
        forms.retain(|form| form["type"] != "null");
        if let [only] = &forms[..] {
            object.remove(name);
            for (name, value) in plain(root, only).as_object().unwrap() {
                object.entry(name).or_insert_with(|| value.clone());
            }
            if all > 1 {
                object.insert("nullable".to_owned(), true.into());
            }
            return object.into();
        }
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(forms)) = object.get_mut(name) {
            forms.iter_mut().for_each(|form| *form = plain(root, form));
        }
    }
    match object.get_mut("items") {
        Some(Value::Array(items)) => items.iter_mut().for_each(|item| *item = plain(root, item)),
        Some(item) => *item = plain(root, item),
        None => {}
    }
    let required = object.remove("required").unwrap_or_default();
    if let Some(Value::Object(keys)) = object.get_mut("properties") {
        for (name, value) in keys.iter_mut() {
            *value = plain(root, value);
            if let (Some(keys), false) =
                (value.as_object_mut(), required.as_array().is_some_and(|all| all.iter().any(|key| key == name)))
            {
                keys.insert("optional".to_owned(), true.into());
                // an optional key is absent instead of null
                keys.remove("nullable");
            }
        }
    }
    object.into()
}

/// Collects the definitions inside a value, by their schemas.
fn collect(value: &Value, found: &mut BTreeMap<String, Value>) {
    let keys = value["properties"].as_object().into_iter().flat_map(Map::values);
    for item in keys.chain(alternatives(value)).map(item_of).filter(|item| is_part(item)) {
        if item["title"].is_string() {
            found.insert(key(item), item.clone());
        }
        collect(item, found);
    }
}

/// The definitions of several kinds, by name.
fn shared(kinds: &[Value]) -> Vec<Value> {
    let mut counts: BTreeMap<String, (usize, Value)> = BTreeMap::new();
    for kind in kinds {
        let mut found = BTreeMap::new();
        collect(&without_other_kinds(kind, kinds), &mut found);
        for (key, part) in found {
            counts.entry(key).or_insert((0, part)).0 += 1;
        }
    }
    let mut shared: Vec<Value> = counts.into_values().filter(|(count, _)| *count > 1).map(|(_, part)| part).collect();
    shared.sort_by_key(name_of);
    let is_ambiguous = |pair: &[Value]| name_of(&pair[0]) == name_of(&pair[1]);
    assert!(!shared.windows(2).any(is_ambiguous), "two parts have one name");
    shared
}

/// A kind without the keys of another kind that it has.
fn without_other_kinds(kind: &Value, kinds: &[Value]) -> Value {
    let mut own = kind.clone();
    if let Some(keys) = own["properties"].as_object_mut() {
        let others = kinds.iter().filter(|other| *other != kind).filter_map(|other| other["properties"].as_object());
        for part in others.filter(|part| contains(keys, part)).collect::<Vec<_>>() {
            keys.retain(|name, _| !part.contains_key(name));
        }
    }
    own
}

/// Keys that several kinds have with the same meaning.
fn common(kinds: &[Value]) -> Map<String, Value> {
    let all = kinds.iter().filter_map(|kind| kind["properties"].as_object()).flatten();
    let count =
        |name: &String, value: &Value| kinds.iter().filter(|kind| kind["properties"].get(name) == Some(value)).count();
    let mut common: Map<_, _> = all
        .filter(|(name, value)| count(name, value) >= COMMON)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    common.sort_keys();
    common
}

/// The generated part of the page.
fn page(schemas: &[(&str, &str, Value)]) -> String {
    let kinds: Vec<Value> = schemas
        .iter()
        .map(|(_, _, schema)| {
            let mut kind = plain(schema, schema);
            for name in ["format_version", "kind"] {
                kind["properties"].as_object_mut().map(|keys| keys.shift_remove(name));
            }
            kind
        })
        .collect();
    let parts = shared(&kinds);
    let places =
        parts.iter().map(|part| link(&name_of(part))).chain(schemas.iter().map(|(name, ..)| link(&code(name))));
    let keys = parts.iter().chain(&kinds).map(|part| part["properties"].as_object().cloned().unwrap_or_default());
    let mut page = Page { keys: places.zip(keys).collect(), ..Page::default() };
    page.text.push_str("## Kinds\n\n| kind | |\n|---|---|\n");
    for (name, about, _) in schemas {
        let _ = writeln!(page.text, "| {} | {about} |", link(&code(name)));
    }
    page.text.push_str("\n## Parts of several kinds\n\n");
    page.parts(&parts);
    page.text.push_str("\n### Common keys\n\n");
    let common = common(&kinds);
    page.table(&json!({ "properties": common }));
    page.common = common;
    for ((name, about, _), kind) in schemas.iter().zip(&kinds) {
        page.kind(name, about, kind);
    }
    page.text
}

#[test]
fn the_page_of_results_has_every_key() {
    let all: Vec<_> = RESULT_SCHEMAS
        .iter()
        .chain(&LINE_SCHEMAS)
        .map(|schema: &NamedSchema| (schema.name, schema.about, schema.schema()))
        .collect();
    compare("docs/json.md", START, &page(&all));
}
