//! JANI, PRISM and pictures on the command line.

use serde_json::{Value, json};

use crate::cli::{data, shown};

const QUEUE: &str = "models/textbook/mm1k.xml";

/// The textbook's queue as JANI, with properties that have closed forms: λ = 2 /s, μ = 3 /s, K = 5.
fn queue_with_properties(path: &str) {
    data(&["net", "convert", QUEUE, path, "--to", "jani"]);
    let mut model: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let full = json!({"op": "=", "left": "queue", "right": 5});
    let property = |name: &str, values: Value| json!({"name": name, "expression": {"op": "filter", "fun": "max", "states": {"op": "initial"}, "values": values}});
    model["properties"] = json!([
        property("share_full", json!({"op": "Smax", "exp": full})),
        property("time_full", json!({"op": "Emax", "exp": 1, "accumulate": ["time"], "reach": full})),
        property(
            "full_by",
            json!({"op": "Pmax", "exp":
            {"op": "U", "left": true, "right": full, "time-bounds": {"upper": 1e6}}})
        ),
        property("always", json!({"op": "Pmax", "exp": {"op": "G", "exp": full}})),
    ]);
    std::fs::write(path, model.to_string()).unwrap();
}

/// `p_5 = 32/665`. The mean time from n to n + 1 is `h_n = (1 + μ h_(n-1)) / λ`; from empty to full it is their sum.
#[test]
fn properties_of_a_queue_have_their_closed_forms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.jani").to_string_lossy().into_owned();
    queue_with_properties(&path);
    let found: Value =
        serde_json::from_str(&data(&["net", "solve", &path, "--property", "*_full", "--property", "full_*", "--json"]))
            .unwrap();
    let (mut step, mut time) = (0.5, 0.5);
    for _ in 1..5 {
        step = (1.0 + 3.0 * step) / 2.0;
        time += step;
    }
    let expected = [("share_full", 32.0 / 665.0), ("time_full", time), ("full_by", 1.0)];
    let rows = found["properties"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (row, (name, value)) in rows.iter().zip(expected) {
        assert_eq!(row["name"], name);
        let got = row["value"].as_f64().unwrap();
        assert!((got - value).abs() < 1e-11 * value, "{name}: {got}, not {value}");
    }
}

#[test]
fn a_property_that_is_unknown_or_has_no_answer_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.jani").to_string_lossy().into_owned();
    queue_with_properties(&path);
    let unknown = shown(&["net", "solve", &path, "--property", "empty"]);
    assert!(unknown.starts_with("exit 2") && unknown.contains("`share_full`, `time_full`"), "{unknown}");
    let none = shown(&["net", "solve", QUEUE, "--property", "*"]);
    assert!(none.starts_with("exit 2") && none.contains("the file has no properties"), "{none}");
    // the others are answered all the same
    let refused = shown(&["net", "solve", &path, "--property", "*"]);
    assert!(refused.starts_with("exit 5") && refused.contains("property `always`"), "{refused}");
    assert!(refused.contains("share_full") && refused.contains("0.04812"), "{refused}");
}

#[test]
fn models_for_checkers_need_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let open = r#"<pnml><net id="n"><place id="p"/><transition id="make"><timed><value>true</value></timed></transition>
        <arc id="a" source="make" target="p"/></net></pnml>"#;
    std::fs::write(path("open.xml"), open).unwrap();
    for format in ["jani", "prism"] {
        let refused = shown(&["net", "convert", &path("open.xml"), "-", "--to", format]);
        assert!(refused.starts_with("exit 5") && refused.contains("place `p`"), "{refused}");
        assert!(refused.contains("--place-limit"), "{refused}");
        let text = data(&["net", "convert", &path("open.xml"), "-", "--to", format, "--place-limit", "3"]);
        assert!(text.contains(if format == "jani" { "\"upper-bound\": 3" } else { "[0..3]" }), "{text}");
    }
    // the written model has the states of the limited net
    data(&["net", "convert", &path("open.xml"), &path("open.jani"), "--place-limit", "3"]);
    let found: Value = serde_json::from_str(&data(&["net", "solve", &path("open.jani"), "--json"])).unwrap();
    assert_eq!(found["state_space"]["tangible"], 4);
    let refused = shown(&["net", "convert", "models/textbook/immediate_conflict.xml", "-", "--to", "prism"]);
    assert!(refused.starts_with("exit 5") && refused.contains("write JANI"), "{refused}");
}

/// The elements of a text that begin like this.
fn elements(text: &str, start: &str) -> Vec<String> {
    text.split('<').filter(|part| part.starts_with(start)).map(|part| part.trim().to_owned()).collect()
}

/// Arcs of the Kanban system run through nodes at the positions of its file.
#[test]
fn a_layout_is_chosen_or_kept() {
    let kanban = "models/textbook/kanban.xml";
    let picture = |layout: &str| shown(&["net", "convert", kanban, "-", "--to", "svg", "--layout", layout]);
    let [auto, file, layered] = ["auto", "file", "layered"].map(picture);
    let note = "drawn in layers, because";
    assert!(auto.contains(note) && auto.contains("`--layout file` keeps those positions"), "{auto}");
    assert!(!file.contains(note) && !layered.contains(note));
    let circles = |text: &str| elements(text, "circle");
    assert!(!circles(&auto).is_empty());
    assert_eq!(circles(&auto), circles(&layered));
    assert_ne!(circles(&auto), circles(&file));
    // in XML, positions stay unless the layout is layered
    let xml = |layout: &str| {
        elements(&data(&["net", "convert", kanban, "-", "--to", "pipe4", "--layout", layout]), "position ")
    };
    assert_eq!(xml("auto"), xml("file"));
    assert_ne!(xml("layered"), xml("file"));
}
