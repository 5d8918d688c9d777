//! `report` as a person uses it: the page in a browser, its numbers against the JSON, pictures as files, files that are no results.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tailspn::report::read_json;
use tempfile::TempDir;

use crate::browser::Browser;
use crate::cli::{assert_shown, data, shown, text_of, tool, without_next};

/// A name that is markup, for all that lets itself be named.
const HOSTILE: &str = "<b onclick=x>\"&'</script><script>alert(1)</script>";

/// A folder with results of every kind.
struct Results(TempDir);

impl Results {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let plan = format!(
            "[job]\nname = '''{HOSTILE}'''\n[phases]\nmaps = 4\nreduces = 3\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
        );
        folder.write("job.toml", &plan);
        let axes = "[[axis]]\nkey = \"job.reduces\"\nvalues = [20, 40, 60]\n";
        let other = "[[axis]]\nkey = \"cluster.node[*].gpu_speed\"\nname = \"<i>speed</i>\"\nvalues = [0.5, 1, 2]\n";
        let sweep = |design: &str| format!("[sweep]\ndesign = \"{design}\"\nreplications = 200\n");
        folder.write("curve.toml", &format!("{}{axes}", sweep("grid")));
        folder.write("heat.toml", &format!("{}{axes}{other}", sweep("grid")));
        folder.write("each.toml", &format!("{}{axes}{other}", sweep("each")));
        let (at, net) = (|name: &str| folder.at(name), "models/textbook/forkjoin_retry.xml");
        data(&[
            "tool",
            "fit",
            "tests/data/trace/sort-32mb.spark.gz",
            "tests/data/trace/sort-64mb.spark.gz",
            "--save-plan",
            &at("stages.toml"),
        ]);
        data(&["study", &at("curve.toml"), "--save", &at("swept")]);
        let commands: [(&str, &[&str]); 12] = [
            ("estimate", &["estimate", "models/mapreduce/all-at-once.toml", "--reps=2000"]),
            ("exact", &["estimate", &at("job.toml"), "--method=exact"]),
            ("stages", &["estimate", &at("stages.toml"), "--reps=200"]),
            (
                "simulation",
                &["net", "simulate", net, "--reps=3000", "--method=simulate", "--group", "branch a=run_a,a_*"],
            ),
            (
                "horizon",
                &[
                    "net",
                    "simulate",
                    "models/textbook/mm1k.xml",
                    "--reps=300",
                    "--horizon=50",
                    "--tokens",
                    "--reward=busy=#(queue) > 0",
                    "--at=20:#(queue)",
                ],
            ),
            (
                "steady",
                &[
                    "net",
                    "simulate",
                    "models/textbook/mm1k.xml",
                    "--steady",
                    "--steady-firings=2e4",
                    "--throughput",
                    "--tokens",
                ],
            ),
            ("solution", &["net", "solve", net, "--until=#(a2) > 0", "--at=2"]),
            ("structure", &["net", "structure", net]),
            ("check", &["net", "check", net, "--pipe"]),
            ("whatif", &["whatif", "--demo", "--reps=40"]),
            ("why", &["why", "tests/data/diagnose/job"]),
            ("heat", &["study", &at("heat.toml")]),
        ];
        for (name, args) in commands {
            folder.write(&format!("{name}.json"), &data(&[args, &["--json", "--quiet"]].concat()));
        }
        folder.add_knobs();
        folder.add_fits();
        folder.write("each.json", &data(&["study", &at("each.toml"), "--json"]));
        folder.write("curve.json", &data(&["study", &at("curve.toml"), "--json"]));
        folder
    }

    /// Adds the results of `sensitivity` by each method, and of `optimize` for two deadlines.
    fn add_knobs(&self) {
        self.write("knobs.toml", KNOBS);
        let methods: [(&str, &[&str]); 4] = [
            ("derivatives", &["--reps=2000"]),
            ("each", &["--reps=400", "--measure=p95"]),
            ("morris", &["--rows=8"]),
            ("sobol", &["--rows=30"]),
        ];
        for (method, more) in methods {
            let args = ["study", &self.at("knobs.toml"), "--method", method, "--json", "--quiet"];
            self.write(&format!("by-{method}.json"), &data(&[&args, more].concat()));
        }
        self.write("deadline.toml", DEADLINE);
        self.write("met.json", &data(&["study", &self.at("deadline.toml"), "--json", "--quiet"]));
        let hours = DEADLINE
            .replace("cost = ", "cost_per_s = \"(20 - reduce - merge) / 10\"\nmax_replications = 2000\ncost = ");
        self.write("hours.toml", &hours);
        self.write("hours.json", &data(&["study", &self.at("hours.toml"), "--json", "--quiet"]));
        // no point meets it: exit code 8
        let none = ["study", &self.at("deadline.toml"), "--deadline=5s", "--json", "--quiet"];
        self.write("none.json", &String::from_utf8(tool(&none).output().unwrap().stdout).unwrap());
    }

    fn add_fits(&self) {
        let [small, larger] = ["32", "64"].map(|size| format!("tests/data/trace/sort-{size}mb.spark.gz"));
        self.write("fit.json", &data(&["tool", "fit", &small, &larger, "--json", "--quiet"]));
        let history = ["tests/data/trace/plain-unions.jhist", "tests/data/trace/count_conf.xml"];
        self.write("fit-job.json", &data(&["tool", "fit", history[0], history[1], "--json", "--quiet"]));
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.at(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }
}

/// Axes over phases of the job, of which one has no derivative; names are as long as keys can be, or markup.
const KNOBS: &str = "[sweep]\nbase = \"job.toml\"\n\
                     [[axis]]\nkey = \"phases.means_s[0]\"\nfrom = 0.5\nto = 4.5\n\
                     [[axis]]\nkey = \"phases.means_s[3]\"\nname = \"the kernel on the graphics card of each worker\"\nfrom = 1\nto = 25\n\
                     [[axis]]\nkey = \"phases.means_s[7]\"\nname = \"<i>merge</i>\"\nfrom = 7\nto = 11\n\
                     [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nfrom = 4\nto = 14\n\
                     [[axis]]\nkey = \"phases.maps\"\nname = \"maps\"\nfrom = 2\nto = 8\nwhole = true\n\
                     [[axis]]\nkey = \"hadoop.sort_mb\"\nfrom = 50\nto = 200\n";

/// Two axes over phases of the job, by rising cost; some points stay open.
const DEADLINE: &str = "[sweep]\nbase = \"job.toml\"\n[optimize]\nmeasure = \"p90\"\ndeadline_s = 75\n\
                        cost = \"2 * (9 - reduce) + (8 - merge)\"\nindifference = 0.1\n\
                        [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nvalues = [9, 6, 3]\nfaster = \"up\"\n\
                        [[axis]]\nkey = \"phases.means_s[7]\"\nname = \"merge\"\nvalues = [8, 5, 2]\nfaster = \"up\"\n";

/// The results on the page, in its order: the argument, and the file with the same as JSON.
const SHOWN: [(&str, &str); 23] = [
    ("estimate.json", "estimate.json"),
    ("exact.json", "exact.json"),
    ("stages.json", "stages.json"),
    ("simulation.json", "simulation.json"),
    ("horizon.json", "horizon.json"),
    ("steady.json", "steady.json"),
    ("solution.json", "solution.json"),
    ("structure.json", "structure.json"),
    ("check.json", "check.json"),
    ("whatif.json", "whatif.json"),
    ("swept", "curve.json"),
    ("heat.json", "heat.json"),
    ("each.json", "each.json"),
    ("why.json", "why.json"),
    ("by-derivatives.json", "by-derivatives.json"),
    ("by-each.json", "by-each.json"),
    ("by-morris.json", "by-morris.json"),
    ("by-sobol.json", "by-sobol.json"),
    ("met.json", "met.json"),
    ("none.json", "none.json"),
    ("fit.json", "fit.json"),
    ("fit-job.json", "fit-job.json"),
    ("hours.json", "hours.json"),
];

/// A script that lists what the page shows. Texts of a picture must not cover each other, nor leave the picture.
const LOOK: &str = r"
const root = document.documentElement, section = (figure) => figure.closest('section').id;
const seen = { wide: innerWidth, overflow: root.scrollWidth - root.clientWidth, numbers: [], figures: [], covered: [], outside: [] };
for (const one of document.querySelectorAll('data')) {
  const of = one.closest('[data-result]');
  seen.numbers.push({ at: one.dataset.json, value: one.value, low: one.dataset.low, high: one.dataset.high,
                      result: of ? of.dataset.result : null, text: one.textContent });
}
for (const figure of document.querySelectorAll('figure[data-figure]')) {
  const svg = [...figure.querySelectorAll('svg')].filter(one => one.getBoundingClientRect().width > 0);
  seen.figures.push([section(figure), figure.dataset.figure, svg.length]);
  for (const one of svg) {
    const frame = one.getBoundingClientRect();
    const boxes = [...one.querySelectorAll('text')].filter(text => text.textContent.trim())
      .map(text => [text.textContent.trim(), text.getBoundingClientRect()]);
    boxes.forEach(([name, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        seen.outside.push([section(figure), figure.dataset.figure, name]);
      for (const [other, b] of boxes.slice(i + 1)) {
        const across = Math.min(box.right, b.right) - Math.max(box.left, b.left);
        const down = Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top);
        // boxes of letters have room above and below
        if (across > 1 && down > 0.35 * Math.min(box.height, b.height))
          seen.covered.push([section(figure), figure.dataset.figure, name, other]);
      }
    });
  }
}
seen.images = [...document.images].map(image => image.naturalWidth);
seen.scripts = document.scripts.length;
seen.links = [...document.querySelectorAll('[src], [href]')].map(one => (one.getAttribute('src') || one.getAttribute('href')).slice(0, 5));
seen.titles = [...document.querySelectorAll('h2')].map(one => one.textContent);
return seen;";

/// Where a number of the page stands: `/pointer` in its own result, or `#i/pointer` in that of number i; and what it stands in.
fn in_json<'a>(number: &Value, results: &'a [Value]) -> [&'a Value; 2] {
    let at = number["at"].as_str().unwrap();
    let (result, pointer) = match at.strip_prefix('#') {
        Some(rest) => rest.split_at(rest.find('/').unwrap()),
        None => (number["result"].as_str().unwrap(), at),
    };
    let around = pointer.rsplit_once('/').unwrap().0;
    let found = |pointer: &str| results[result.parse::<usize>().unwrap()].pointer(pointer);
    [pointer, around].map(|pointer| found(pointer).unwrap_or_else(|| panic!("{at} is not in result {result}")))
}

/// Compares a number of the page with the JSON, digit by digit.
fn assert_same(number: &Value, [expected, around]: [&Value; 2]) {
    let parsed = |key: &str| number[key].as_str().map(|text| text.parse::<f64>().unwrap());
    if expected.is_number() {
        assert_eq!(parsed("value"), expected.as_f64(), "{number}");
        // the intervals of a judged point stand next to its time and its cost
        let at = number["at"].as_str().unwrap();
        for (key, ends) in [("/value_s", ["low_s", "high_s"]), ("/cost", ["cost_low", "cost_high"])] {
            if at.ends_with(key) && around.get(ends[0]).is_some() {
                assert_eq!([parsed("low"), parsed("high")], ends.map(|end| around[end].as_f64()), "{number}");
            }
        }
        return;
    }
    assert_eq!(parsed("value"), expected["value"].as_f64(), "{number}");
    let ends = |i: usize, key: &str| expected["bounds"][i].as_f64().or(expected[key].as_f64());
    let both = ends(0, "low").is_some() && ends(1, "high").is_some();
    assert_eq!(parsed("low"), ends(0, "low").filter(|_| both), "{number}");
    assert_eq!(parsed("high"), ends(1, "high").filter(|_| both), "{number}");
}

#[test]
fn a_browser_shows_the_numbers_of_the_json() {
    let folder = Results::new();
    let mut args: Vec<String> = Vec::new();
    for (shown, _) in SHOWN {
        args.push(folder.at(shown));
        if shown == "exact.json" {
            args.push(folder.at("job.toml"));
        }
        if shown == "simulation.json" {
            args.push("models/textbook/forkjoin_retry.xml".to_owned());
        }
    }
    let page = folder.at("page.html");
    args.extend(["--html".to_owned(), page.clone()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    data(&args);
    // the same results give the same bytes
    let first = std::fs::read(&page).unwrap();
    data(&[&args[..], &["--force"]].concat());
    assert!(std::fs::read(&page).unwrap() == first);

    let browser = Browser::open(&format!("file://{page}"));
    let results: Vec<Value> = SHOWN.iter().map(|(_, file)| serde_json::from_str(&folder.read(file)).unwrap()).collect();
    for wide in [390, 500, 800, 1200] {
        browser.show_as([wide, 900], "light");
        let page = browser.script(LOOK);
        assert_eq!(page["wide"], wide);
        let numbers = page["numbers"].as_array().unwrap();
        assert!(numbers.len() > 700, "{}", numbers.len());
        numbers.iter().for_each(|number| assert_same(number, in_json(number, &results)));
        assert!(page["overflow"].as_i64().unwrap() <= 0, "{} px too wide at {}", page["overflow"], page["wide"]);
        assert_eq!(
            (&page["covered"], &page["outside"]),
            (&serde_json::json!([]), &serde_json::json!([])),
            "at {}",
            page["wide"]
        );
        assert_eq!(page["scripts"], 0);
        let loaded = page["links"].as_array().unwrap().iter().map(|link| link.as_str().unwrap());
        assert!(loaded.into_iter().all(|link| link == "data:" || link.starts_with('#')), "{}", page["links"]);
        let images = page["images"].as_array().unwrap();
        assert!(images.len() == 3 && images.iter().all(|width| width.as_u64().unwrap() > 100), "{images:?}");
        assert!(page["titles"].as_array().unwrap().contains(&HOSTILE.into()), "{}", page["titles"]);
        assert_eq!(figures(&page), EXPECTED);
    }
    browser.assert_silent();
}

/// Names of the figures of each section, and that each has one picture to be seen.
fn figures(page: &Value) -> Vec<String> {
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    for figure in page["figures"].as_array().unwrap() {
        let [section, name] = [0, 1].map(|i| figure[i].as_str().unwrap().to_owned());
        assert_eq!(figure[2], 1, "{figure}");
        match sections.last_mut().filter(|(last, _)| *last == section) {
            Some((_, names)) => names.push(name),
            None => sections.push((section, vec![name])),
        }
    }
    sections.iter().map(|(section, names)| format!("{section}: {}", names.join(" "))).collect()
}

const EXPECTED: [&str; 19] = [
    "comparison: compare",
    "result-1: critical waterfall histogram cdf tail",
    "result-2: cdf tail",
    "result-3: critical waterfall cdf tail",
    "result-4: waterfall histogram cdf tail",
    "result-7: cdf tail",
    "result-10: policies",
    "result-11: curve",
    "result-12: heat",
    "result-13: tornado",
    "result-14: stragglers waterfall timeline bounds",
    "result-15: derivatives",
    "result-16: tornado",
    "result-17: effects",
    "result-18: indices",
    "result-19: deadline",
    "result-20: deadline",
    "result-21: tasks",
    "result-23: deadline",
];

/// Every report that a page can be made of, read and written again, is the same text.
#[test]
fn reports_are_read_as_they_were_written() {
    let folder = Results::new();
    for (_, file) in SHOWN {
        let text = folder.read(file);
        let again = read_json(&text).unwrap().json();
        assert_eq!(without_next(&again.unwrap()), without_next(&text), "{file}");
    }
}

/// The page of a diagnosis has the same findings as `why`.
#[test]
fn a_diagnosis_becomes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = data(&["why", "tests/data/diagnose/job", "--json", "--quiet"]);
    std::fs::write(at("diagnosis.json"), &text).unwrap();
    data(&[&at("diagnosis.json"), "--html", &at("page.html"), "--plots", &at("plots")]);
    let page = with_backticks(&std::fs::read_to_string(at("page.html")).unwrap());
    let found: Value = serde_json::from_str(&text).unwrap();
    for part in ["missing", "warnings"] {
        let all = found[part].as_array().unwrap();
        // notes start with a capital letter on a page
        assert!(all.iter().all(|sentence| page.contains(&sentence.as_str().unwrap()[1..])), "{part}");
    }
    let sum =
        |key: &str| found["stages"].as_array().unwrap().iter().map(|stage| stage[key].as_u64().unwrap()).sum::<u64>();
    assert!(page.contains(&format!("{} stragglers in ", sum("stragglers"))));
    assert!(page.contains(&format!(", {} of them explained", sum("explained"))));
    let first = &found["advice"][0];
    assert!(page.contains(first["text"].as_str().unwrap()));
    // one bar for each attempt, whatever the number of its causes; the frame and the ground are rectangles of other colours
    let attempts: std::collections::BTreeSet<String> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["subject"]["kind"] == "task")
        .map(|finding| finding["subject"].to_string())
        .collect();
    assert_eq!(names(Path::new(&at("plots"))), ["bounds.svg", "stragglers.svg", "timeline.svg", "waterfall.svg"]);
    let picture = std::fs::read_to_string(at("plots/stragglers.svg")).unwrap();
    let bars = picture.matches("<rect ").count() - picture.matches("fill=\"#FFFFFF\"").count();
    assert_eq!(bars, attempts.len());
    for node in ["worker1", "worker2"] {
        let slow = attempts.iter().any(|subject| subject.contains(node));
        assert_eq!(picture.contains(node), slow, "{node}");
    }
}

/// The page of a result, as text without markup, and the result.
fn page_of(args: &[&str]) -> (String, Value) {
    let (page, found) = source_of(args);
    (text_of(&with_backticks(&page)), found)
}

/// The page of the result of a command, as HTML, and the result.
fn source_of(args: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let output = tool(&[args, &["--json", "--quiet"]].concat()).output().unwrap();
    std::fs::write(at("result.json"), &output.stdout).unwrap();
    let page = data(&[&at("result.json"), "--html", "-"]);
    (page, serde_json::from_slice(&output.stdout).unwrap())
}

/// A page in which code has backticks, as in the JSON.
fn with_backticks(page: &str) -> String {
    page.replace("<code>", "`").replace("</code>", "`")
}

/// A chain whose knobs are worth what their ranges are: an order between equal ones is chance, and the page and the text say so.
#[test]
fn a_ranking_that_may_be_chance_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("job.toml"), "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n").unwrap();
    let axis = |phase: usize, name: &str, to: f64| {
        format!("[[axis]]\nkey = \"phases.means_s[{phase}]\"\nname = \"{name}\"\nfrom = 1\nto = {to}\n")
    };
    let plan = |axes: &[String]| format!("[sweep]\nbase = \"job.toml\"\n{}", axes.concat());
    std::fs::write(at("same.toml"), plan(&[axis(3, "gpu", 9.0), axis(8, "reduce", 9.0), axis(0, "load", 1.5)]))
        .unwrap();
    std::fs::write(at("apart.toml"), plan(&[axis(3, "gpu", 9.0), axis(8, "reduce", 40.0)])).unwrap();
    for (method, more) in [("each", "--reps=800"), ("morris", "--rows=10"), ("sobol", "--rows=60")] {
        let args = |plan: &str| ["study".to_owned(), at(plan), format!("--method={method}"), more.to_owned()];
        let [same, apart] = ["same.toml", "apart.toml"].map(args);
        let same: Vec<&str> = same.iter().map(String::as_str).collect();
        let (page, found) = page_of(&same);
        let [first, second] = [0, 1].map(|i| found["knobs"][i]["name"].as_str().unwrap());
        let told = ["interval", "intervals"]
            .map(|of| format!("Its rank is not significant: its interval overlaps the {of} of {second}"));
        assert!(page.contains(&format!("{first} may have the largest effect")), "{method}");
        assert!(told.iter().any(|told| page.contains(told)), "{method}");
        assert!(
            !second.contains("load") && data(&same).replace('\n', " ").contains("Its rank is not significant"),
            "{method}"
        );
        let apart: Vec<&str> = apart.iter().map(String::as_str).collect();
        let (page, _) = page_of(&apart);
        assert!(
            page.contains("Its interval overlaps no other interval.") && page.contains("reduce has the largest effect"),
            "{method}"
        );
        assert!(!data(&apart).replace('\n', " ").contains("not significant"), "{method}");
    }
}

/// The page of an optimisation has the result of `optimize`: the point, why not a cheaper one, every verdict.
#[test]
fn an_optimisation_becomes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("job.toml"), "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n").unwrap();
    std::fs::write(at("plan.toml"), DEADLINE.replace("deadline_s = 75", "deadline_s = 53")).unwrap();
    let (source, found) = source_of(&["study", &at("plan.toml")]);
    // the chosen row is marked
    assert_eq!(source.matches("<tr class=\"chosen\" aria-current=\"true\">").count(), 1);
    let page = text_of(&with_backticks(&source));
    assert!(page.contains("The cheapest configuration that meets the deadline: reduce = "), "{found}");
    assert!(page.contains("The joint confidence of these decisions is 95%."));
    let rows = found["rows"].as_array().unwrap();
    for verdict in ["meets", "fails", "undecided"] {
        let all = rows.iter().filter(|row| row["verdict"] == verdict).count();
        // once for each row, and once in each of two legends
        let said = page.matches(verdict).count();
        assert!(all == 0 || said >= all + 2, "{verdict}: {said} of {all}");
    }
    let (none, found) = page_of(&["study", &at("plan.toml"), "--deadline=5s"]);
    assert_eq!(found["answer"]["found"], "none");
    assert!(none.contains("No configuration meets the deadline. The most expensive configuration fails: "));
    // at the very quantile nothing can be shown
    let open = DEADLINE.replace("values = [9, 6, 3]", "values = [9]").replace("values = [8, 5, 2]", "values = [8]");
    let open = open
        .replace("[optimize]", "replications = 100\n[optimize]")
        .replace("cost = ", "max_replications = 1000\ncost = ");
    let quantile =
        json_number(&["estimate", &at("job.toml"), "--method=exact", "--json"], "/analytic/quantiles/1/value");
    std::fs::write(at("open.toml"), open.replace("deadline_s = 75", &format!("deadline_s = {quantile}"))).unwrap();
    let (open, found) = page_of(&["study", &at("open.toml")]);
    assert_eq!(found["answer"]["found"], "undecided", "{found}");
    assert!(open.contains("no configuration was shown to meet the deadline, and not all were shown to fail"));
}

/// A number of what a command prints.
fn json_number(args: &[&str], pointer: &str) -> f64 {
    let found: Value = serde_json::from_str(&data(args)).unwrap();
    found.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer} in {found}"))
}

/// The page of a fit has the result of `fit`: each stage with its intervals, each run, and everything that the logs
/// cannot show.
#[test]
fn a_fit_becomes_a_page() {
    let logs = ["tests/data/trace/sort-32mb.spark.gz", "tests/data/trace/sort-64mb.spark.gz"];
    let (page, found) = page_of(&["tool", "fit", logs[0], logs[1]]);
    let escaped = |text: &Value| text.as_str().unwrap().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for (list, key) in [("stages", "name"), ("runs", "log")] {
        for row in found[list].as_array().unwrap() {
            assert!(page.contains(&escaped(&row[key])), "{row}");
        }
    }
    assert!(!found["notes"].as_array().unwrap().is_empty());
    // a note stands next to its subject
    let told = |note: &Value, page: &str| escaped(note).splitn(2, ": ").all(|part| page.contains(part));
    assert!(found["notes"].as_array().unwrap().iter().all(|note| told(note, &page)), "{found}");
    let (page, found) =
        page_of(&["tool", "fit", "tests/data/trace/plain-unions.jhist", "tests/data/trace/count_conf.xml"]);
    let values = found["values"].as_array().unwrap();
    assert!(
        values.iter().all(|row| page.contains(row["key"].as_str().unwrap()) && page.contains(&escaped(&row["from"])))
    );
    assert!(found["notes"].as_array().unwrap().iter().all(|note| told(note, &page)), "{found}");
    let measured = values.iter().filter(|row| row["low"].is_number()).count();
    assert!(page.contains(&format!("{measured} of these values come from several tasks")));
}

/// The area above a distribution function, by trapezoids: the mean.
fn mean_of(curve: &Value) -> f64 {
    let points: Vec<[f64; 2]> = curve
        .as_array()
        .unwrap()
        .iter()
        .map(|point| ["time_s", "probability"].map(|key| point[key].as_f64().unwrap()))
        .collect();
    let pieces = points.windows(2).map(|pair| (pair[1][0] - pair[0][0]) * (1.0 - 0.5 * (pair[0][1] + pair[1][1])));
    points[0][0] + pieces.sum::<f64>()
}

#[test]
fn curves_in_the_json_agree_with_their_means() {
    let found: Value =
        serde_json::from_str(&data(&["estimate", "models/mapreduce/all-at-once.toml", "--json"])).unwrap();
    for (part, mean) in [("analytic", &found["analytic"]["mean"]), ("job_time", &found["job_time"]["mean"]["value"])] {
        let (mean, of_line) = (mean.as_f64().unwrap(), mean_of(&found[part]["curve"]));
        assert!((of_line / mean - 1.0).abs() < 3e-3, "{part}: {of_line} and {mean}");
    }
    // a simulated line is within its bands at the exact one, but for one point in twenty and more, since they hang together
    let exact = found["analytic"]["curve"].as_array().unwrap();
    let at = |time: f64| {
        exact
            .iter()
            .min_by(|a, b| {
                (a["time_s"].as_f64().unwrap() - time).abs().total_cmp(&(b["time_s"].as_f64().unwrap() - time).abs())
            })
            .unwrap()
    };
    let simulated = found["job_time"]["curve"].as_array().unwrap();
    let inside = simulated.iter().filter(|point| {
        let p = at(point["time_s"].as_f64().unwrap())["probability"].as_f64().unwrap();
        point["low"].as_f64().unwrap() - 0.01 < p && p < point["high"].as_f64().unwrap() + 0.01
    });
    assert!(inside.count() * 10 >= simulated.len() * 8);
}

/// Every number as another: what a file may hold that nobody wrote.
fn with_numbers(value: &mut Value, to: &dyn Fn(f64) -> Value) {
    match value {
        Value::Number(number) if number.is_f64() => *value = to(number.as_f64().unwrap()),
        Value::Array(all) => all.iter_mut().for_each(|one| with_numbers(one, to)),
        Value::Object(all) => all.values_mut().for_each(|one| with_numbers(one, to)),
        _ => {}
    }
}

#[test]
fn files_with_absurd_numbers_make_a_page() {
    let folder = Results::new();
    let absurd: [&dyn Fn(f64) -> Value; 5] = [
        &|_| 1e300.into(),
        &|number| (-1e12 * number).into(),
        &|_| 0.0.into(),
        &|number| (1e-200 * number).into(),
        &|number| (if (1e3 * number) as i64 % 2 == 0 { 1e300 } else { -1e300 }).into(),
    ];
    for (i, to) in absurd.iter().enumerate() {
        let mut args = Vec::new();
        for (_, file) in SHOWN {
            let mut value: Value = serde_json::from_str(&folder.read(file)).unwrap();
            with_numbers(&mut value, to);
            folder.write(&format!("{i}-{file}"), &value.to_string());
            args.push(folder.at(&format!("{i}-{file}")));
        }
        args.extend(["--html".to_owned(), folder.at(&format!("page{i}.html"))]);
        let started = Instant::now();
        data(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(started.elapsed() < Duration::from_secs(60), "{i}");
    }
}

#[test]
fn help_without_a_verb() {
    assert_shown!(data(&["job.json", "--help"]));
}

/// The tool's answer to a file as a result, without the folder's name.
fn refusal(folder: &TempDir, text: &str) -> String {
    let file = folder.path().join("x");
    let page = folder.path().join("page.html");
    std::fs::write(&file, text).unwrap();
    let said = shown(&[file.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    assert!(!page.exists());
    said.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn files_that_are_no_results_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let whole =
        data(&["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=10", "--method=simulate", "--json"]);
    let said: Vec<String> = [
        "",
        "Dear reader, this is no result.",
        "{\"a\": 1}",
        &whole[..300],
        &whole.replace("\"format_version\": 1", "\"format_version\": 7"),
        &whole.replace("\"kind\": \"simulation\"", "\"kind\": \"other\""),
        &whole.replace("\"replications\": 10", "\"replications\": \"ten\""),
        "[job]\nname = \"a plan without a result\"\n",
    ]
    .iter()
    .map(|text| refusal(&folder, text))
    .collect();
    assert_shown!(said.join("\n"));
}

#[test]
fn empty_folders_and_existing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(at("empty")).unwrap();
    let said = |args: &[&str]| shown(args).replace(&format!("{}/", folder.path().display()), "");
    let mut all = vec![said(&[&at("empty"), "--html", &at("page.html")])];
    all.push(said(&[&at("nowhere"), "--html", &at("page.html")]));
    std::fs::write(
        at("job.json"),
        data(&["estimate", "models/mapreduce/all-at-once.toml", "--method=exact", "--json"]),
    )
    .unwrap();
    all.push(said(&[&at("job.json")]));
    std::fs::write(at("old.html"), "old").unwrap();
    all.push(said(&[&at("job.json"), "--html", &at("old.html")]));
    assert_eq!(std::fs::read_to_string(at("old.html")).unwrap(), "old");
    assert_shown!(all.join("\n"));
    data(&[&at("job.json"), "--html", &at("old.html"), "--force"]);
    assert!(std::fs::read_to_string(at("old.html")).unwrap().starts_with("<!DOCTYPE html>"));
    assert!(data(&[&at("job.json"), "--html", "-"]).starts_with("<!DOCTYPE html>"));
}

/// Names of the files of a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Width and height from the header of a PNG.
fn size_of(png: &[u8]) -> [u32; 2] {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
}

#[test]
fn pictures_become_files_in_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let draw = ["--plots", &at("plots"), "--plot-format=svg,png"];
    let estimate = ["estimate", "models/mapreduce/all-at-once.toml", "--reps=300", "--json"];
    let text = data(&[&estimate[..], &draw].concat());
    let drawn = ["cdf", "critical", "histogram", "tail", "waterfall"];
    let expected: Vec<String> =
        drawn.iter().flat_map(|name| ["png", "svg"].map(|end| format!("{name}.{end}"))).collect();
    assert_eq!(names(Path::new(&at("plots"))), expected);
    for name in drawn {
        let svg = std::fs::read_to_string(at(&format!("plots/{name}.svg"))).unwrap();
        let [width, height] = size_of(&std::fs::read(at(&format!("plots/{name}.png"))).unwrap());
        assert!(svg.contains(&format!("width=\"{}\" height=\"{}\"", width / 2, height / 2)), "{name}: {svg:.200}");
    }
    // not over what is there
    let again = tool(&[&estimate[..], &draw].concat()).output().unwrap();
    assert_eq!((again.status.code(), again.stdout.len()), (Some(7), 0));
    // the page's pictures are those of the command
    std::fs::write(at("job.json"), text).unwrap();
    data(&[&at("job.json"), "--plots", &at("again")]);
    for name in drawn {
        let [a, b] = ["plots", "again"].map(|plots| std::fs::read(at(&format!("{plots}/{name}.svg"))).unwrap());
        assert!(a == b, "{name}");
    }
    assert_eq!(names(Path::new(&at("again"))).len(), 6, "and its net");
}

/// `--plots` of `sensitivity` and `optimize` draws what the page of their JSON shows.
#[test]
fn pictures_of_knobs_and_deadlines_are_those_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("job.toml"), "[phases]\nmaps = 1\nreduces = 1\nmeans_s = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n").unwrap();
    std::fs::write(at("knobs.toml"), KNOBS).unwrap();
    std::fs::write(at("deadline.toml"), DEADLINE).unwrap();
    let knobs =
        |method: &str, more: &str| ["study", &at("knobs.toml"), "--method", method, more].map(str::to_owned).to_vec();
    let commands = [
        ("derivatives", knobs("derivatives", "--reps=500")),
        ("tornado", knobs("each", "--reps=50")),
        ("effects", knobs("morris", "--rows=5")),
        ("indices", knobs("sobol", "--rows=20")),
        ("deadline", ["study", &at("deadline.toml")].map(str::to_owned).to_vec()),
    ];
    for (name, args) in commands {
        let (drawn, again, result) =
            (at(&format!("{name}-drawn")), at(&format!("{name}-again")), at(&format!("{name}.json")));
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["--json", "--plots", &drawn]).collect();
        std::fs::write(&result, data(&args)).unwrap();
        data(&[&result, "--plots", &again]);
        let files = [&drawn, &again].map(|plots| names(Path::new(plots)));
        assert_eq!(files, [[format!("{name}.svg")], [format!("{name}.svg")]]);
        let [a, b] = [&drawn, &again].map(|plots| std::fs::read(format!("{plots}/{name}.svg")).unwrap());
        assert!(a == b, "{name}");
        // not over what is there, and before anything is run
        assert_eq!(tool(&args).output().unwrap().status.code(), Some(7), "{name}");
    }
}

#[test]
fn pictures_have_the_format_of_their_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let net = "models/textbook/forkjoin_retry.xml";
    data(&[
        "net",
        "solve",
        net,
        "--until=#(a2) > 0",
        "--plot-cdf",
        &at("cdf.png"),
        "--export-svg",
        &at("graph.png"),
        "--plots",
        &at("solve"),
    ]);
    data(&["whatif", "--demo", "--reps=20", "--plot", &at("whatif.PNG"), "--plots", &at("whatif")]);
    let log = "tests/data/trace/small.spark";
    data(&["why", log, "--timeline", &at("timeline.png"), "--plots", &at("trace"), "--plot-format=png"]);
    for name in ["cdf.png", "graph.png", "whatif.PNG", "timeline.png", "trace/timeline.png"] {
        let [width, height] = size_of(&std::fs::read(at(name)).unwrap());
        assert!(width > 200 && height > 100, "{name}");
    }
    assert_eq!(names(Path::new(&at("solve"))), ["cdf.svg", "tail.svg"]);
    assert_eq!(names(Path::new(&at("whatif"))), ["policies.svg"]);
    assert!(names(Path::new(&at("trace"))).contains(&"waterfall.png".to_owned()));
}
