//! The schemas accept what the tool reads and writes, and nothing else.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tailspn::plan::{JobPlan, Work};
use tailspn::report::{KINDS, LINE_SCHEMAS, NamedSchema, PLAN_SCHEMAS, RESULT_SCHEMAS};

use crate::cli::{data, tool};

/// The keywords that only describe.
const SILENT: [&str; 6] = ["$schema", "title", "description", "default", "definitions", "unit"];

/// Checks a result in JSON against the schema of its kind, and returns the kind; none if the text is not a result. Lines of
/// events are checked too.
pub(crate) fn check_result(text: &str) -> Option<String> {
    let [watch] = LINE_SCHEMAS.map(|schema| schema.schema());
    for line in text.lines().filter(|line| line.starts_with("{\"event\":")) {
        let found = problems(&watch, &watch, &serde_json::from_str(line).unwrap(), "");
        assert!(found.is_empty(), "{line}: {found:#?}");
    }
    let kind = text.strip_prefix("{\n  \"format_version\": 1,\n  \"kind\": \"")?.split('"').next()?;
    let schema = result_schema(kind)?;
    let found = problems(&schema, &schema, &serde_json::from_str(text).unwrap(), "");
    assert!(found.is_empty(), "{kind}: {found:#?}");
    Some(kind.to_owned())
}

fn result_schema(kind: &str) -> Option<Value> {
    RESULT_SCHEMAS.iter().find(|schema| schema.name == kind).map(NamedSchema::schema)
}

/// The problems of a value, each with its place. Panics on a keyword that it does not check.
fn problems(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let Some(schema) = schema.as_object() else {
        return if schema == &Value::Bool(false) { vec![format!("{at}: is not allowed")] } else { Vec::new() };
    };
    let mut found = Vec::new();
    for (keyword, rule) in schema.iter().filter(|(keyword, _)| !SILENT.contains(&keyword.as_str())) {
        let fits = |one: &Value| problems(root, one, value, at).is_empty();
        let number = |one: &Value| one.as_f64().unwrap();
        let is_fine = match keyword.as_str() {
            "type" => match rule {
                Value::Array(names) => names.iter().any(|name| has_type(name, value)),
                name => has_type(name, value),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|value| value >= number(rule)),
            "maximum" => value.as_f64().is_none_or(|value| value <= number(rule)),
            "minItems" => value.as_array().is_none_or(|items| items.len() as f64 >= number(rule)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as f64 <= number(rule)),
            "anyOf" => rule.as_array().unwrap().iter().any(fits),
            "oneOf" => rule.as_array().unwrap().iter().filter(|one| fits(one)).count() == 1,
            "required" => {
                let has = |name: &Value| value.as_object().is_none_or(|keys| keys.contains_key(name.as_str().unwrap()));
                found.extend(
                    rule.as_array().unwrap().iter().filter(|name| !has(name)).map(|name| format!("{at}: lacks {name}")),
                );
                true
            }
            "allOf" => {
                found.extend(rule.as_array().unwrap().iter().flat_map(|one| problems(root, one, value, at)));
                true
            }
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap();
                found.extend(problems(root, target, value, at));
                true
            }
            "properties" | "additionalProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let own = schema.get("properties").and_then(|all| all.get(name));
                    let rule = if keyword == "properties" { own } else { Some(rule).filter(|_| own.is_none()) };
                    found
                        .extend(rule.into_iter().flat_map(|rule| problems(root, rule, inner, &format!("{at}/{name}"))));
                }
                true
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    let rule = if rule.is_array() { &rule[i] } else { rule };
                    found.extend(problems(root, rule, item, &format!("{at}/{i}")));
                }
                true
            }
            other => panic!("{at}: the keyword `{other}` is not checked"),
        };
        if !is_fine {
            found.push(format!("{at}: {value} does not fit {keyword} {rule}"));
        }
    }
    found
}

fn has_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is not a type"),
    }
}

/// The problems of a TOML text by the schema of that name.
fn of_plan(name: &str, text: &str) -> Vec<String> {
    let schema = PLAN_SCHEMAS.iter().find(|schema| schema.name == name).map(NamedSchema::schema).unwrap();
    let value = serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
    problems(&schema, &schema, &value, "")
}

/// Every plan of the repository, with its schemas.
fn plans() -> Vec<(String, &'static str, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["models", "models/mapreduce", "models/tutorial", "models/cluster", "tests/data/cli"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        // one plan has wrong values
        let is_plan =
            |path: &PathBuf| path.extension().is_some_and(|end| end == "toml") && !path.ends_with("wrong-plan.toml");
        let mut files: Vec<PathBuf> = entries.filter(is_plan).collect();
        files.sort();
        texts
            .extend(files.into_iter().map(|file| (file.display().to_string(), std::fs::read_to_string(file).unwrap())));
    }
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    for page in pages.iter().filter(|page| page.extension().is_some_and(|end| end == "md")) {
        let text = std::fs::read_to_string(page).unwrap();
        let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
        let indented =
            text.split("\n\n").filter(|part| part.starts_with("    [sweep]\n") || part.starts_with("    [[axis]]\n"));
        let dedented = indented.map(|part| part.lines().map(|line| line.trim_start().to_owned() + "\n").collect());
        texts.extend(blocks.chain(dedented).map(|block: String| (page.display().to_string(), block)));
    }
    for command in [
        ["estimate", "--print-plan"],
        ["whatif", "--print-plan"],
        ["study", "--print-plan"],
        ["study", "--print-plan=deadline"],
    ] {
        texts.push((command.join(" "), data(&command)));
    }
    let mut plans = Vec::new();
    for (file, text) in texts.into_iter().filter(|(_, text)| !text.contains("schema]")) {
        if JobPlan::read(&text, Work::MapReduce).is_ok() {
            plans.push((file, "plan", text));
        } else if text.contains("[optimize]") {
            plans.push((file.clone(), "plan-optimize", text.clone()));
            plans.push((file, "plan-sweep", text));
        } else {
            plans.push((file, "plan-sweep", text));
        }
    }
    plans
}

#[test]
fn every_plan_of_the_repository_fits_its_schema() {
    let plans = plans();
    assert!(plans.len() > 15, "{}", plans.len());
    for (file, name, text) in plans {
        let found = of_plan(name, &text);
        assert!(found.is_empty(), "{file}: {found:?}");
    }
}

#[test]
fn a_misspelt_key_does_not_fit() {
    let sections = [
        ("plan-profile", "[job]\nreducers = 3"),
        ("plan-profile", "[model.distribution]\ngpu = { lognormal = { sd = 0.5 } }"),
        ("plan-profile", "[[policy]]\ndetector = { kind = \"late\", treshold = 1 }"),
        ("plan-profile", "[cluster]\nnodes = []"),
        ("plan-tasks", "[[job]]\nmap = 3"),
        ("plan-tasks", "deadline = 3"),
        (
            "plan-stages",
            "[job]\ninput_mb = 1\nexecutors = 1\ncores = 1\nhost = 3\n[[stage]]\ntasks = {}\ncold = {}\nwarm = {}",
        ),
        ("plan-sweep", "[sweep]\nreps = 3"),
        ("plan-optimize", "[optimize]\ndeadline = 3"),
    ];
    for (name, text) in sections {
        let found = of_plan(name, text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
    for (name, text) in [("plan", "[job]\nreducers = 3"), ("plan", "[[job]]\nmap = 3")] {
        assert!(!of_plan(name, text).is_empty(), "{text}");
    }
    assert!(of_plan("plan", "[job]\nreduces = 3").is_empty());
    assert!(of_plan("plan", "[[job]]\nmaps = 3").is_empty());
    assert!(!of_plan("plan", "[job]\nreduces = \"many\"").is_empty());
}

#[test]
fn the_tool_prints_the_schemas() {
    let list = data(&["tool", "schema"]);
    for schema in PLAN_SCHEMAS.iter().chain(RESULT_SCHEMAS).chain(&LINE_SCHEMAS) {
        assert!(list.contains(schema.name), "{list}");
        assert_eq!(serde_json::from_str::<Value>(&data(&["tool", "schema", schema.name])).unwrap(), schema.schema());
    }
}

/// The lines that the tests of `watch` print fit; damaged ones do not.
#[test]
fn a_line_of_events_fits_until_it_is_damaged() {
    let [watch] = LINE_SCHEMAS.map(|schema| schema.schema());
    let end =
        r#"{"event":"end","reports":1,"tasks":1,"ended":0,"flagged":0,"most_running":1,"partial":false,"warnings":[]}"#;
    let fits = |text: &str| problems(&watch, &watch, &serde_json::from_str(text).unwrap(), "").is_empty();
    assert!(fits(end));
    for (from, to) in
        [("end", "ended"), (",\"ended\":0", ""), ("false", "0"), ("[]", "[1]"), ("\"tasks\"", "\"x\":1,\"tasks\"")]
    {
        let damaged = end.replacen(from, to, 1);
        assert!(damaged != end && !fits(&damaged), "{damaged}");
    }
}

/// One result of each kind, and the same results damaged. All other tests that print JSON check it in the same way.
#[test]
fn a_result_of_each_kind_fits_until_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (small, larger) = ("tests/data/trace/sort-32mb.spark.gz", "tests/data/trace/sort-64mb.spark.gz");
    let (net, queue) = ("models/textbook/forkjoin_retry.xml", "models/textbook/mm1k.xml");
    data(&["tool", "fit", small, "--save-plan", &at("stages.toml"), "--quiet"]);
    let study = "[sweep]\nreplications = 50\n[[axis]]\nkey = \"job.reduces\"\nvalues = [20, 40]\n";
    std::fs::write(at("sweep.toml"), study).unwrap();
    std::fs::write(at("optimize.toml"), format!("[optimize]\ndeadline_s = 1000\n{study}")).unwrap();
    let cut = crate::remaining::Log::read(std::path::Path::new(larger)).cut(0.6).text;
    std::fs::write(at("app.inprogress"), cut).unwrap();
    std::fs::write(at("reports.tsv"), crate::cli_watch::reports(30)).unwrap();
    let commands: [&[&str]; 29] = [
        &["estimate", "models/mapreduce/all-at-once.toml", "--reps=100"],
        &["estimate", &at("stages.toml"), "--reps=50"],
        &["estimate", &at("stages.toml"), "--executors=1,2", "--deadline=1h", "--price=1USD/core-hour"],
        &["estimate", "models/tutorial/runs.tsv", "--executors=1,2", "--deadline=1h"],
        &["net", "simulate", net, "--reps=300", "--method=simulate"],
        &["net", "simulate", queue, "--steady", "--steady-firings=2e4", "--throughput", "--tokens"],
        &["net", "solve", net, "--until=#(a2) > 0", "--at=2"],
        &["net", "solve", queue, "--untimed"],
        &["net", "query", queue, "P=? [ F<=0.5 #(queue) >= 5 ]"],
        &["net", "rare", queue, "--until=#(queue) >= 5", "--within=0.5"],
        &["net", "structure", net],
        &["net", "check", net, "--pipe", "--against", queue],
        &["tool", "devices"],
        &["tool", "bench", "--seconds=20ms", "--backend=cpu"],
        &["study", &at("sweep.toml")],
        &["study", &at("sweep.toml"), "--method=each"],
        &["study", &at("optimize.toml")],
        &["whatif", "--demo", "--reps=3"],
        &["whatif", small, "--reps=3"],
        &["tool", "detectors"],
        &["tool", "detectors", "--on", "tests/data/trace/speculation.spark.gz"],
        &["why", small, larger, "tests/data/trace/speculation.spark.gz"],
        &["tool", "fit", "tests/data/trace/plain-unions.jhist", "tests/data/trace/count_conf.xml"],
        &["estimate", &at("app.inprogress"), &at("stages.toml"), "--reps=50"],
        &["why", "tests/data/diagnose/job"],
        &["why", small, larger],
        &["tool", "fit", small, larger],
        &["watch", "--learn", &at("reports.tsv")],
        &["estimate", "tests/data/jobs3/fit-two-kinds-of-tasks.log.gz", "--executors=1,2"],
    ];
    let mut texts: Vec<String> = commands.iter().map(|args| data(&[*args, &["--json", "--quiet"]].concat())).collect();
    let runs = crate::cli_syscalls::prepared();
    let args = ["why", "slow", "--method=improved", "--profile", "usual.json", "--json", "--quiet"];
    let output = tool(&args).current_dir(runs.path()).output().unwrap();
    texts.push(String::from_utf8(output.stdout).unwrap());
    let mut kinds = Vec::new();
    let mut unnoticed = Vec::new();
    for text in texts {
        let kind = check_result(&text).unwrap_or_else(|| panic!("{text}"));
        let schema = result_schema(&kind).unwrap();
        let value = serde_json::from_str(&text).unwrap();
        let mut places = Vec::new();
        damages(&value, "", &mut places);
        let misses = places.into_iter().filter(|(place, damage)| {
            let mut damaged = value.clone();
            damage(damaged.pointer_mut(place).unwrap());
            problems(&schema, &schema, &damaged, "").is_empty()
        });
        unnoticed.extend(misses.map(|(place, _)| format!("{kind}{place}")));
        kinds.push(kind);
    }
    let mut all = KINDS.to_vec();
    all.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(kinds, all);
    // values of settings are of any type
    unnoticed.retain(|place| !place.contains("/values/") && !place.ends_with("/from") && !place.ends_with("/to"));
    assert_eq!(unnoticed, Vec::<String>::new());
}

/// A change of a value after which it should not fit its schema.
type Damage = fn(&mut Value);

/// Lists damages of a value: a further key in each object, and a list instead of each text, number or truth value. Of a
/// list, only the first item is damaged.
fn damages(value: &Value, at: &str, places: &mut Vec<(String, Damage)>) {
    match value {
        Value::Object(keys) => {
            places.push((at.to_owned(), |value| value["no_key"] = vec![Vec::<Value>::new()].into()));
            for (key, inner) in keys {
                damages(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => items.iter().take(1).for_each(|item| damages(item, &format!("{at}/0"), places)),
        Value::Null => {}
        _ => places.push((at.to_owned(), |value| *value = Value::Array(vec![Value::Array(Vec::new())]))),
    }
}
