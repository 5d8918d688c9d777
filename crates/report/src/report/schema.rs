//! JSON Schemas of plans, results and lines of events, generated from their types.
//!
//! The schemas of plans have no references, so that an editor shows the description of each key. All schemas keep to draft 7, which editors support best.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::cluster;
use crate::document::{Blocks, Report};
use crate::mapreduce;
use crate::optimize::OptimizePlan;
use crate::plan::JobPlan;
use crate::report::json::FORMAT_VERSION;
use crate::report::long_tail::WatchLine;
use crate::stages::StagePlan;
use crate::sweep::SweepPlan;

/// A JSON Schema by its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedSchema {
    /// Name, such as `plan`.
    pub name: &'static str,
    /// The files that the schema describes.
    pub about: &'static str,
    pub(in crate::report) make: fn() -> Schema,
}

impl NamedSchema {
    /// Returns the schema.
    pub fn schema(&self) -> Value {
        let mut schema = (self.make)();
        schema.insert("title".to_owned(), self.name.into());
        schema.to_value()
    }
}

/// The schemas of plans, which are TOML files.
pub const PLAN_SCHEMAS: [NamedSchema; 6] = [
    NamedSchema { name: "plan", about: "Any plan of a job", make: plan::<JobPlan> },
    NamedSchema {
        name: "plan-profile",
        about: "Plan of a job with `[profile]` or `[phases]`",
        make: plan::<mapreduce::Plan>,
    },
    NamedSchema { name: "plan-stages", about: "Plan of a job with `[[stage]]`", make: plan::<StagePlan> },
    NamedSchema { name: "plan-tasks", about: "Plan of `whatif` with `[[job]]`", make: plan::<cluster::Plan> },
    NamedSchema { name: "plan-sweep", about: "Plan of `study` with axes", make: plan::<SweepPlan> },
    NamedSchema { name: "plan-optimize", about: "Plan of `study` with `[optimize]`", make: plan::<OptimizePlan> },
];

/// The schemas of lines of JSON, which a command prints as events happen.
pub const LINE_SCHEMAS: [NamedSchema; 1] =
    [NamedSchema { name: "watch", about: "A flagged task, or the end of watching", make: line::<WatchLine<'static>> }];

fn plan<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings.with_transform(drop_null).with_transform(tidy).into_generator().into_root_schema_for::<T>()
}

/// Returns the schema of the JSON of a kind of results.
pub(in crate::report) fn result<R: Report + JsonSchema>() -> Schema {
    let mut schema = printed::<R>(false);
    let version = json!({
        "description": "Version of the layout; it increases when a key changes its meaning or disappears.",
        "const": FORMAT_VERSION,
    });
    let kind = json!({ "description": "Kind of the result.", "const": R::KIND });
    let mut properties = Map::from_iter([("format_version".to_owned(), version), ("kind".to_owned(), kind)]);
    let mut required = vec![Value::from("format_version"), Value::from("kind")];
    if !R::HAS_VERSION {
        properties.insert("version".to_owned(), json!({ "description": "Version of tailspn.", "type": "string" }));
        required.push("version".into());
    }
    if !R::HAS_ANSWER {
        let text = json!({ "description": "The answer in words; empty for a result that answers no question.", "type": "string" });
        let answer = json!({
            "description": "The answer.",
            "type": "object",
            "properties": { "text": text },
            "required": ["text"],
            "additionalProperties": false,
        });
        properties.insert("answer".to_owned(), answer);
        required.push("answer".into());
    }
    let mut blocks = printed::<Blocks>(true);
    blocks.remove("$schema");
    blocks.remove("title");
    properties.insert("blocks".to_owned(), blocks.to_value());
    required.push("blocks".into());
    if let Some(Value::Object(own)) = schema.remove("properties") {
        properties.extend(own);
    }
    if let Some(Value::Array(own)) = schema.remove("required") {
        required.extend(own);
    }
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema
}

/// Returns the schema of a line, without references: a line is one of several objects with keys of their own.
fn line<T: JsonSchema>() -> Schema {
    printed::<T>(true)
}

/// Returns the schema of JSON that is printed.
fn printed<T: JsonSchema>(inline: bool) -> Schema {
    let settings = SchemaSettings::draft07().for_serialize().with(|settings| settings.inline_subschemas = inline);
    settings.with_transform(tidy).with_transform(close).into_generator().into_root_schema_for::<T>()
}

/// Refuses keys that are not listed.
fn close(schema: &mut Schema) {
    if schema.get("type").is_some_and(|name| name == "object") && schema.get("properties").is_some() {
        schema.ensure_object().entry("additionalProperties").or_insert(false.into());
    }
    transform_subschemas(&mut close, schema);
}

/// Drops the `null` of optional values, because TOML has no `null`.
fn drop_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(mut forms)) = schema.remove("anyOf") {
        forms.retain(|form| form.get("type").is_none_or(|name| name != "null"));
        match (forms.pop(), forms.is_empty()) {
            (Some(Value::Object(only)), true) => {
                let keys = schema.ensure_object();
                for (key, value) in only {
                    keys.entry(key).or_insert(value);
                }
            }
            (last, _) => {
                forms.extend(last);
                schema.insert("anyOf".to_owned(), forms.into());
            }
        }
    }
    transform_subschemas(&mut drop_null, schema);
}

/// Converts doc comments to plain text, and drops parts that only Rust needs.
fn tidy(schema: &mut Schema) {
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = plain(text);
    }
    // a default of a whole section repeats the defaults of its keys
    let is_section = |value: &Value| value.is_object();
    if schema.get("default").is_some_and(|value| match value {
        Value::Array(items) => items.iter().any(is_section),
        other => is_section(other),
    }) {
        schema.remove("default");
    }
    transform_subschemas(&mut tidy, schema);
}

/// Returns a doc comment without line breaks inside paragraphs, escapes and links.
fn plain(doc: &str) -> String {
    let joined: Vec<String> =
        doc.split("\n\n").map(|part| part.lines().map(str::trim).collect::<Vec<_>>().join(" ")).collect();
    let mut text = joined.join("\n\n").replace("\\[", "[").replace("\\]", "]").replace("\\*", "*").replace("[`", "`");
    // Rust's word for a value that is null or absent
    text = text.replace("`None`", "none");
    while let Some(start) = text.find("`](") {
        let end = text[start..].find(')').map_or(text.len(), |end| start + end + 1);
        text.replace_range(start + 1..end, "");
    }
    text.replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_comments_become_plain_text() {
        let doc = "D_split, input of a map\n\\[MB\\].\n\nAs [`A::b`] and [`C`](crate::C) do.";
        assert_eq!(plain(doc), "D_split, input of a map [MB].\n\nAs `A::b` and `C` do.");
    }
}
