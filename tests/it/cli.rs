//! The command line as a person sees it: one snapshot per case, without what differs between machines.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{Law, NetBuilder, Timing};

use crate::schemas::check_result;

/// The tool, in the folder of the package, with a terminal that shows Unicode without colours.
pub(crate) fn tool(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailspn"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// Runs the tool and shows everything that came of it.
pub(crate) fn shown(args: &[&str]) -> String {
    show(&tool(args).output().expect("the tool runs"))
}

pub(crate) fn show(output: &Output) -> String {
    let exit = output.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
    check_result(&text(&output.stdout));
    format!("exit {exit}\n--- stdout\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

/// Standard output of a run that must succeed.
pub(crate) fn data(args: &[&str]) -> String {
    let output = tool(args).output().expect("the tool runs");
    // 8: an answer that is no
    assert!(matches!(output.status.code(), Some(0 | 8)), "{}", show(&output));
    let text = text(&output.stdout);
    check_result(&text);
    text
}

/// Compares with a snapshot, after taking out what differs between machines and moments.
macro_rules! assert_shown {
    ($text:expr) => {
        insta::with_settings!({ filters => [
            (r"[^\s'=]*/\.tmp\w+", "[folder]"),
            (r"\((portable|avx2|avx512)\)", "([vector])"),
            (r"\d+ threads?, [\d.]+ (µs|ms|s|min)", "[threads], [wall]"),
            (r"(seed \d+|seed \d+, \w+ engine), [\d.]+ (µs|ms|s|min)", "$1, [wall]"),
            (r"\(\[vector\]\), \d+ threads?", "([vector]), [threads]"),
            (r"(time of [a-z ]+?)  +[\d.]+ (µs|ms|s|min)(, [\d.e-]+% of the job time)?", "$1  [wall]"),
            (r"tailspn  +\d+\.\d+\.\d+", "tailspn  [version]"),
            (r"in all, [\d.]+ (µs|ms|s|min)", "in all, [wall]"),
            (r#""bytes": \d+"#, r#""bytes": "[bytes]""#),
            (r"time cost: [\d.]+ (µs|ms|s|min) for a job of ([\d.]+ s), [\d.e-]+ % of it", "time cost: [wall] for a job of $2, [ratio] of it"),
            (r#""(wall_s|estimate_s|ratio)": [\d.e-]+"#, r#""$1": "[wall]""#),
            (r#""threads": \d+"#, r#""threads": "[threads]""#),
            (r#""vector": "\w+""#, r#""vector": "[vector]""#),
            (r"time_cost_ratio,,,[\d.e-]+", "time_cost_ratio,,,[ratio]"),
            (r#""version": "[^"]+""#, r#""version": "[version]""#),
            (r"(\d\.\d{6})\d+", "$1…"),
            (r"tailspn \d+\.\d+\.\d+", "tailspn [version]"),
            (r"tailspn: \d+\.\d+\.\d+", "tailspn: [version]"),
        ] }, { insta::assert_snapshot!($text) });
    };
}
pub(crate) use assert_shown;

/// JSON without the next commands, which are about the files and options that were typed.
pub(crate) fn without_next(json: &str) -> String {
    let start = json.find("\"next\": [").unwrap_or_else(|| panic!("{json}"));
    let end = start + json[start..].find(']').unwrap();
    format!("{}{}", &json[..start], &json[end..])
}

/// A page without markup.
pub(crate) fn text_of(page: &str) -> String {
    page.split('<').map(|part| part.split_once('>').map_or(part, |(_, rest)| rest)).collect()
}

/// A text without its breaks of lines.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn help_shows_the_commands_and_exit_codes() {
    assert_shown!(data(&["--help"]));
}

#[test]
fn help_of_check() {
    assert_shown!(data(&["net", "check", "--help"]));
}

#[test]
fn help_of_convert() {
    assert_shown!(data(&["net", "convert", "--help"]));
}

#[test]
fn help_of_simulate() {
    assert_shown!(data(&["net", "simulate", "--help"]));
}

#[test]
fn help_of_spn_gc() {
    assert_shown!(data(&["net", "spn-gc", "--help"]));
}

#[test]
fn help_of_estimate() {
    assert_shown!(data(&["estimate", "--help"]));
}

#[test]
fn checks_a_net() {
    assert_shown!(shown(&["net", "check", "models/textbook/machine_repair.xml", "--pipe"]));
}

#[test]
fn checks_a_net_against_another() {
    let [one, other] = ["models/textbook/mm1k.xml", "models/textbook/mm2k.xml"];
    assert_shown!(shown(&["net", "check", one, "--against", other]));
    let json = |other: &str| {
        serde_json::from_str::<serde_json::Value>(&data(&["net", "check", one, "--json", "--against", other])).unwrap()
    };
    assert_eq!(json(one)["differences"], serde_json::json!([]));
    assert_eq!(json(other)["differences"][0]["part"], "place");
}

#[test]
fn checks_a_net_as_json() {
    assert_shown!(shown(&["net", "check", "models/textbook/forkjoin_retry.xml", "--json"]));
}

/// Four tasks that wait for two slots fold; places with two tokens each fold in `net solve`, and so do tasks with phases that others
/// can stop; fixed delays do not, and a fork with retries has no equal parts.
#[test]
fn check_reports_what_folds_and_what_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.xml").to_str().unwrap().to_owned();
    let checked = |tokens: u32, slots: bool, timing: Timing| -> (String, serde_json::Value) {
        let mut b = NetBuilder::new("tasks");
        let slots = slots.then(|| b.place("slots", 2));
        for task in 0..4 {
            let place = b.place(format!("task{task}"), tokens);
            let done = b.transition(format!("done{task}"), timing.clone());
            b.input(place, done, 1.0);
            slots.iter().for_each(|&slots| _ = b.test(slots, done, 1.0));
        }
        std::fs::write(&path, write(&b.build().unwrap(), &WriteOptions::default()).xml).unwrap();
        let report = serde_json::from_str(&data(&["net", "check", &path, "--json"])).unwrap();
        (data(&["net", "check", &path]), report)
    };
    let (text, report) = checked(1, true, Timing::exponential(1.0));
    assert!(text.contains("folded  5 places to 2, 4 transitions to 1"), "{text}");
    assert_eq!(report["folded"]["places_before"], 5);
    assert!(report.get("folded_by_solve").is_none() && report.get("not_folded").is_none());
    let (text, report) = checked(2, false, Timing::exponential(1.0));
    assert!(text.contains("folded by `net solve`  4 places to 3, 4 transitions to 2"), "{text}");
    assert!(report.get("folded").is_none() && report.get("not_folded").is_none());
    assert_eq!(report["folded_by_solve"]["places"], 3);
    let (text, _) = checked(1, true, Timing::general(Law::Erlang { stages: 2, mean: 1.0 }));
    assert!(text.contains("folded by `net solve`"), "{text}");
    let (text, report) = checked(1, true, Timing::general(Law::Deterministic { delay: 1.0 }));
    assert!(text.contains("not folded  4 parts like the part of `task0`: a delay that is not exponential"), "{text}");
    assert!(report.get("folded").is_none() && report.get("folded_by_solve").is_none());
    assert_eq!(report["not_folded"][0]["parts"], 4);
    assert!(!data(&["net", "check", "models/textbook/forkjoin_retry.xml"]).contains("fold"));
}

#[test]
fn simulates_a_net() {
    let group = "branch a=run_a,a_*";
    assert_shown!(shown(&["net", "simulate", "models/textbook/forkjoin_retry.xml", "--seed", "1", "--group", group]));
}

/// The half width of the worst target is just below what was asked for. Seen to fail with a run that stops at the first target.
#[test]
fn replicates_until_several_numbers_are_known() {
    let net = "models/textbook/mm1k.xml";
    let targets = ["--rel-error=queue=0.5%", "--abs-error=serve=0.02", "--rel-error=full=3%"];
    let asked = ["net", "simulate", net, "--horizon=100", "--reward=full=#(queue) >= 5", "--json"];
    let asked = [&asked[..], &targets].concat();
    let found: serde_json::Value = serde_json::from_str(&data(&asked)).unwrap();
    let of = |list: &str, name: &str| {
        let one = found[list].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        let [value, low, high] = ["value", "low", "high"].map(|key| one[key].as_f64().unwrap());
        ((high - low) / 2.0, value)
    };
    let (queue, serve, full) = (of("tokens", "queue"), of("throughputs", "serve"), of("rewards", "full"));
    let excesses = [queue.0 / (0.005 * queue.1), serve.0 / 0.02, full.0 / (0.03 * full.1)];
    let worst = excesses.into_iter().fold(0.0, f64::max);
    assert!(worst <= 1.0 && worst > 0.85, "{excesses:?}");
    assert!(found["replications"].as_u64().unwrap() > 1024);
}

#[test]
fn simulates_averages_up_to_a_horizon() {
    assert_shown!(shown(&[
        "net",
        "simulate",
        "models/textbook/mm1k.xml",
        "--reps=1000",
        "--horizon=100",
        "--warm-up=10",
        "--tokens",
        "--throughput",
        "--reward=full=#(queue) >= cap(queue)",
        "--impulse=served=serve:1",
        "--at=5:#(queue)",
    ]));
}

#[test]
fn simulates_the_steady_state() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--steady", "--steady-firings=200_000"]));
}

/// The batches of a single run, against the exact means.
#[test]
fn a_single_long_run_has_intervals_from_its_batches() {
    let queue = "models/textbook/mm1k.xml";
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&data(&[&["net", "simulate", queue, "--steady", "--json"], args].concat())).unwrap()
    };
    let run = json(&["--steady-runs=1", "--steady-firings=400_000", "--method=simulate"]);
    let exact = json(&["--method=exact"]);
    assert_eq!((run["runs"].as_u64(), exact["runs"].as_u64()), (Some(1), Some(0)));
    for at in ["/tokens/0", "/throughputs/0", "/throughputs/1"] {
        let [value, low, high] = ["value", "low", "high"].map(|key| run.pointer(at).unwrap()[key].as_f64().unwrap());
        let truth = exact.pointer(at).unwrap()["value"].as_f64().unwrap();
        // 2.5 half widths are about 5 standard errors
        assert!((value - truth).abs() < 1.25 * (high - low) && high - low < 0.03 * truth, "{at}: {value} {truth}");
        let batches = run.pointer(at).unwrap()["samples"].as_u64().unwrap();
        assert!([10, 20, 30, 40].contains(&batches), "{batches}");
    }
    let told = data(&[
        "net",
        "simulate",
        queue,
        "--steady",
        "--steady-runs=1",
        "--steady-firings=400_000",
        "--method=simulate",
    ]);
    assert!(told.contains("batches of this run"), "{told}");
}

/// One run would see one of the two cycles only, and be sure of it.
/// Without a name, each mean that is printed gets the precision.
#[test]
fn long_runs_reach_a_precision() {
    let queue = "models/textbook/mm1k.xml";
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&data(&[&["net", "simulate", queue, "--steady", "--json"], args].concat())).unwrap()
    };
    let first = json(&["--tokens", "--rel-error=5%", "--method=simulate"]);
    let longer = json(&["--rel-error=#(queue)=0.2%", "--abs-error=serve=0.1", "--method=simulate"]);
    assert!(longer["firings"].as_f64().unwrap() > 1.5 * first["firings"].as_f64().unwrap());
    let row = &longer["tokens"][0];
    let [value, low, high] = ["value", "low", "high"].map(|key| row[key].as_f64().unwrap());
    assert!((high - low) / 2.0 <= 0.002 * value, "{row}");
    let truth = json(&["--tokens", "--method=exact"])["tokens"][0]["value"].as_f64().unwrap();
    // 2.5 half widths are about 5 standard errors
    assert!((value - truth).abs() < 1.25 * (high - low), "{row} {truth}");
    // the target of the transition adds the throughputs to the result
    let rows = |run: &serde_json::Value| run["throughputs"].as_array().unwrap().len();
    assert!(rows(&longer) > 0 && rows(&first) == 0);

    let mut output = tool(&[
        "net",
        "simulate",
        queue,
        "--steady",
        "--rel-error=queue=0.001%",
        "--steady-firings=3e5",
        "--method=simulate",
    ]);
    let said = text(&output.output().unwrap().stderr);
    assert!(said.contains("`queue` has not reached a precision of 0.001%; its error is"), "{said}");
    let refused = tool(&["net", "simulate", queue, "--steady", "--rel-error=goal=1%"]).output().unwrap();
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("with --steady, NAME is a reward, a place or"), "{said}");
}

#[test]
fn a_net_with_two_closed_parts_has_no_sure_steady_state() {
    let args = ["net", "simulate", "tests/data/cli/two-cycles.xml", "--steady", "--json", "--method=simulate"];
    let output = tool(&args).output().unwrap();
    assert!(output.status.success(), "{}", show(&output));
    let firings = [("go_left", 4), ("go_right", 4), ("seldom", 0)];
    let note = |(name, count)| {
        format!("note: Transition `{name}` fired {count} times; the runs may be too short to show the long run.\n")
    };
    let notes = text(&output.stderr);
    assert!(
        notes.starts_with("note: The runs differ: `turn_left` fires often in some and never in others."),
        "{notes}"
    );
    assert!(notes.ends_with(&firings.map(note).concat()), "{notes}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((value["runs"].as_u64(), value["tokens"][1]["name"].as_str()), (Some(8), Some("left")));
    // `seldom` changes only the place `rare`; the runs give the share of the two cycles
    let row = &value["tokens"][3];
    assert!(row["low"].is_null() && row["note"].as_str().unwrap().contains("`seldom` never fired"), "{row}");
    let row = &value["tokens"][1];
    assert!(row["low"].as_f64().unwrap() < 0.5 && row["high"].as_f64().unwrap() > 0.5, "{row}");
    let rare = firings.map(|(name, count)| serde_json::json!({ "name": name, "firings": count }));
    assert_eq!(value["rare_transitions"], serde_json::Value::from(rare.to_vec()));
}

/// An immediate transition hardly ever wins: what it would change was not seen, so that nothing is sure of staying as it is.
#[test]
fn averages_that_an_unfired_transition_may_change_have_no_interval() {
    let Some(folder) = crate::shared::shared("data/regressions") else { return };
    for (net, place) in [("rareA.xml", "p2"), ("rareB.xml", "p2")] {
        let path = folder.join(net).display().to_string();
        let args = ["net", "simulate", &path, "--steady", "--tokens", "--json", "--method=simulate"];
        let value: serde_json::Value = serde_json::from_str(&data(&args)).unwrap();
        let rows = value["tokens"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == place).unwrap();
        assert!(row["low"].is_null() && row["note"].as_str().unwrap().contains("never fired"), "{net}: {row}");
        assert!(!value["rare_transitions"].as_array().unwrap().is_empty(), "{net}");
    }
    // here the transition fires a few times: the exact mean is 6, and no interval may leave it out
    let path = folder.join("rare-immediate.xml").display().to_string();
    let value: serde_json::Value =
        serde_json::from_str(&data(&["net", "simulate", &path, "--steady", "--tokens", "--json", "--method=simulate"]))
            .unwrap();
    let row = value["tokens"].as_array().unwrap().iter().find(|row| row["name"] == "p3").unwrap();
    let end = |name: &str, open: f64| row[name].as_f64().unwrap_or(open);
    assert!(end("low", f64::NEG_INFINITY) <= 6.0 && 6.0 <= end("high", f64::INFINITY), "{row}");
    assert!(value["rare_transitions"].as_array().unwrap().iter().any(|row| row["name"] == "t4"), "{value}");
}

/// M/M/1/5 with 2 arrivals and 3 services a second: exact values from its six states.
#[test]
fn the_steady_state_of_a_queue_is_right() {
    let csv = data(&["net", "simulate", "models/textbook/mm1k.xml", "--steady", "--level=0.9999", "--csv"]);
    for (row, exact) in [("tokens,queue", 946.0 / 665.0), ("throughput,serve", 1266.0 / 665.0)] {
        let line = csv.lines().find(|line| line.starts_with(row)).unwrap();
        let cells: Vec<f64> = line.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect();
        assert!(cells[1] < exact && exact < cells[2] && cells[2] - cells[1] < 0.05 * exact, "{line}");
    }
}

#[test]
fn simulates_to_json() {
    let args = ["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=2000", "--json", "--until=#(a2) > 0"];
    let json = data(&args);
    let value: serde_json::Value = serde_json::from_str(&json).expect("valid JSON");
    assert_eq!(value["format_version"], 1);
    // the bars are many; that they are there is enough
    let mut value = value;
    let bars = value["passage_time"]["histogram"]["bars"].as_array().map_or(0, Vec::len);
    value["passage_time"]["histogram"]["bars"] = bars.into();
    assert_shown!(serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn simulates_to_csv() {
    assert_shown!(data(&["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=2000", "--csv"]));
}

#[test]
fn estimates_the_default_job() {
    assert_shown!(shown(&["estimate", "--demo"]));
}

#[test]
fn estimates_by_formula() {
    assert_shown!(shown(&["estimate", "models/mapreduce/all-at-once.toml", "--method=exact"]));
}

#[test]
fn estimates_a_plan_without_a_formula() {
    assert_shown!(shown(&["estimate", "tests/data/cli/lognormal-plan.toml", "--reps=4000", "--seed=3"]));
}

#[test]
fn estimates_to_csv() {
    assert_shown!(data(&["estimate", "--demo", "--csv"]));
}

#[test]
fn same_seed_same_bytes_on_1_and_8_threads() {
    let run = |threads: &str| {
        let args = ["net", "simulate", "models/textbook/forkjoin_retry.xml", "--csv", "--tokens", "--seed=9", threads];
        data(&args)
    };
    assert_eq!(run("--threads=1"), run("--threads=8"));
}

#[test]
fn printed_plan_estimates_like_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, data(&["estimate", "--print-plan"])).unwrap();
    let numbers = |args: &[&str]| data(args).lines().filter(|line| !line.contains("ratio")).collect::<String>();
    assert_eq!(numbers(&["estimate", "--demo", "--csv"]), numbers(&["estimate", path.to_str().unwrap(), "--csv"]));
}

#[test]
fn plain_terminals_get_ascii() {
    let output = tool(&["estimate", "--demo"]).env("LC_ALL", "C").output().unwrap();
    assert!(output.stdout.is_ascii(), "{}", show(&output));
}

#[test]
fn written_and_converted_nets_simulate_alike() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (net, copy, picture) = (file("net.xml"), file("copy.xml"), file("net.svg"));
    let told = tool(&["net", "spn-gc", "--maps=3", "--reduces=2", "--save-net", &net]).output().unwrap();
    let note = "note: all tasks start immediately, as in the paper; in `estimate` and with `spn-gc --slots`, tasks wait for slots\n";
    assert_eq!(text(&told.stderr), format!("{note}23 places, 21 transitions, 45 arcs\n"));
    assert_eq!(data(&["net", "convert", &net, &copy, "--to=pipe5"]), "");
    assert_eq!(data(&["net", "convert", &copy, &picture]), "");
    assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    let simulated = |net: &str| data(&["net", "simulate", net, "--reps=100", "--csv"]);
    assert_eq!(simulated(&net), simulated(&copy));
    let exported = file("exported.xml");
    data(&["estimate", "--demo", "--reps=10", "--save-net", &exported]);
    let checked: serde_json::Value = serde_json::from_str(&data(&["net", "check", &exported, "--json"])).unwrap();
    assert_eq!((checked["places"].as_u64(), checked["transitions"].as_u64()), (Some(1_124), Some(1_082)));
}

#[test]
fn samples_are_written_one_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("times.csv");
    let file = path.to_str().unwrap();
    data(&["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=500", "--samples", file]);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time_s"));
    assert_eq!(lines.filter(|line| line.parse::<f64>().is_ok_and(|time| time > 0.0)).count(), 500);
}

#[test]
fn parameters_can_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.xml");
    let net = r#"<pnml><net><definition defType="real" expression="1.0" id="lam" name="lam" type="text"/>
        <place id="P0"><initialMarking><value>1</value></initialMarking></place>
        <transition id="T0"><rate><value>lam</value></rate><timed><value>true</value></timed></transition>
        <arc id="a" source="P0" target="T0"><inscription><value>1</value></inscription></arc></net></pnml>"#;
    std::fs::write(&path, net).unwrap();
    let mean = |param: &str| {
        let csv = data(&["net", "simulate", path.to_str().unwrap(), "--csv", "--param", param]);
        let row = csv.lines().find(|line| line.starts_with("passage_time,mean")).unwrap().to_owned();
        row.split(',').nth(3).unwrap().parse::<f64>().unwrap()
    };
    assert!((mean("lam=1") / mean("lam=4") - 4.0).abs() < 1e-6);
}

#[test]
fn completions_and_man_page_are_made() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(data(&["tool", "completions", shell]).contains("spn-gc"), "{shell}");
    }
    let page = data(&["tool", "man"]);
    assert!(page.contains(".TH tailspn") && page.contains("tailspn\\-net(1)"), "{page}");
    let page = data(&["tool", "man", "net", "simulate"]);
    assert!(page.contains(".TH tailspn-net-simulate 1  \"tailspn 0.") && page.contains("rel\\-error"), "{page}");
    assert!(data(&["--version"]).starts_with("tailspn "));
}

/// A reader that goes away is no error.
#[test]
fn closed_pipes_end_quietly() {
    let mut child =
        tool(&["tool", "man"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_what_it_has() {
    let args = ["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=1e15", "--json"];
    let child = tool(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool runs");
    std::thread::sleep(std::time::Duration::from_secs(1));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", show(&output));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(value["partial"], true);
    assert!(value["replications"].as_u64().unwrap() > 0);
}

/// Files are written part by part if PIPE has everything that the net needs; standard output gets the whole net.
#[test]
fn files_of_spn_gc_have_the_bytes_of_its_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net.xml").to_str().unwrap().to_owned();
    let fixed = folder.path().join("fixed.toml").to_str().unwrap().to_owned();
    std::fs::write(&fixed, "[model.distribution]\nread = \"deterministic\"\n").unwrap();
    for options in [&[][..], &["--slots"], &["--stragglers=0.1:3"], &["--slots", &fixed]] {
        let args = [&["net", "spn-gc", "--maps=1200", "--reduces=3"], options].concat();
        let shown = tool(&[&args[..], &["--save-net", "-"]].concat()).output().unwrap();
        let filed = tool(&[&args[..], &["--save-net", &net, "--force"]].concat()).output().unwrap();
        assert!(filed.status.success(), "{}", show(&filed));
        assert!(shown.stdout == std::fs::read(&net).unwrap(), "{options:?}");
        assert_eq!(text(&shown.stderr), text(&filed.stderr));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file stays");
}

#[test]
fn a_wall_time_ends_a_run() {
    let args = ["net", "simulate", "models/textbook/forkjoin_retry.xml", "--reps=1e15", "--max-time=1s", "--csv"];
    assert!(data(&args).contains("\npartial,,,1,"));
}

/// Reading and compiling count too; nothing is printed if they take longer than the limit.
#[test]
fn a_wall_time_also_limits_what_comes_before_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("large.xml").to_str().unwrap().to_owned();
    assert!(tool(&["net", "spn-gc", "--maps=2000", "--save-net", &net]).output().unwrap().status.success());
    for command in [&["net", "simulate"][..], &["net", "solve"], &["net", "query"], &["net", "rare", "--beyond=9"]] {
        let question: &[&str] = if command == ["net", "query"] { &["P=? [ F #(Start) = 0 ]"] } else { &[] };
        let output = tool(&[command, &[&net, "--max-time=1ms"], question].concat()).output().unwrap();
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(5) && said.contains("reached before the net was compiled"),
            "{}",
            show(&output)
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn nets_are_read_from_standard_input() {
    let net = std::fs::File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/textbook/mm1k.xml")).unwrap();
    let output = tool(&["net", "check", "-"]).stdin(net).output().unwrap();
    assert!(output.status.success(), "{}", show(&output));
}

#[test]
fn help_of_structure() {
    assert_shown!(data(&["net", "structure", "--help"]));
}

#[test]
fn shows_the_structure_of_a_net() {
    assert_shown!(shown(&["net", "structure", "models/textbook/kanban.xml"]));
    assert_shown!(shown(&["net", "structure", "models/textbook/machine_repair.xml", "--verbose"]));
}

#[test]
fn shows_the_structure_of_a_net_with_inhibitors_and_weights() {
    assert_shown!(shown(&[
        "net",
        "structure",
        "models/textbook/readers_writers.xml",
        "--only",
        "class,invariants,bounds"
    ]));
    assert_shown!(shown(&["net", "structure", "models/textbook/inhibitor.xml", "--only=siphons"]));
}

#[test]
fn shows_the_structure_as_json() {
    assert_shown!(shown(&[
        "net",
        "structure",
        "models/textbook/machine_repair.xml",
        "--json",
        "--only=invariants,bounds,siphons"
    ]));
}

#[test]
fn shows_the_structure_as_csv() {
    assert_shown!(shown(&["net", "structure", "models/textbook/tandem_blocking.xml", "--csv"]));
}

#[test]
fn says_that_a_limit_cut_the_structure_short() {
    let args =
        ["net", "structure", "models/textbook/kanban.xml", "--only=invariants,siphons", "--max-rows=3", "--max-sets=1"];
    assert_shown!(shown(&args));
}
