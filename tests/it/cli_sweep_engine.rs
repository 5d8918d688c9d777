//! The engine of `sweep` as a person uses it: designs, constraints, budgets, tables, events; and sweeps that were killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::cli::{data, shown, tool};
use crate::cli_sweep::{Folder, files, job, json, number, unbroken};

/// Two phase means between 1 and 3 s, and 2 and 10 s, of a job without chance that takes 45 s.
const TWO_AXES: &str = "[[axis]]\nkey = \"phases.means_s[6]\"\nname = \"shuffle\"\nfrom = 1\nto = 3\n\
                        [[axis]]\nkey = \"phases.means_s[8]\"\nname = \"reduce\"\nfrom = 2\nto = 10\n";

fn plan(settings: &str) -> String {
    format!("[sweep]\nbase = \"job.toml\"\n{settings}\n{TWO_AXES}")
}

/// The job takes 45 - 7 - 9 s and both axes: the mean over an even design is 29 + 2 + 6 s.
#[test]
fn a_sobol_design_averages_better_than_chance() {
    let folder = Folder::new(&[
        ("job.toml", &job("deterministic", 1)),
        ("plan.toml", &plan("design = \"sobol\"\npoints = 256\nreplications = 2\nseed = 9")),
    ]);
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    assert_eq!(sweep["design"], "sobol");
    let points = &sweep["points"].as_array().unwrap()[1..];
    assert_eq!(points.len(), 256);
    let mean = points.iter().map(|point| number(&point["mean_s"]["value"])).sum::<f64>() / 256.0;
    // by chance: standard error √(4/12 + 64/12) / 16 = 0.149 s; each axis alone is off by less than half a part
    assert!((mean - 37.0).abs() < 0.5 * (2.0 + 8.0) / 256.0, "{mean}");
    for point in points {
        let own = 29.0 + number(&point["values"][0]) + number(&point["values"][1]);
        assert!((number(&point["mean_s"]["value"]) - own).abs() < 1e-6, "{point}");
    }
}

#[test]
fn constraints_leave_points_out_and_say_so() {
    let grid =
        "replications = 2\nconstraints = [\"shuffle + phases.means_s[8] <= 7\", \"reduce > phases.means_s[0] * 3\"]";
    let axes =
        TWO_AXES.replace("from = 1\nto = 3", "values = [1, 2, 3]").replace("from = 2\nto = 10", "values = [2, 4, 6]");
    let text = format!("[sweep]\nbase = \"job.toml\"\n{grid}\n{axes}");
    let folder = Folder::new(&[("job.toml", &job("deterministic", 1)), ("plan.toml", &text)]);
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    let points = sweep["points"].as_array().unwrap();
    let values: Vec<(f64, f64)> =
        points[1..].iter().map(|p| (number(&p["values"][0]), number(&p["values"][1]))).collect();
    assert_eq!(values, [(1.0, 4.0), (1.0, 6.0), (2.0, 4.0), (3.0, 4.0)]);
    let numbers: Vec<u64> = points.iter().map(|p| p["point"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    let told = shown(&["study", &folder.at("plan.toml")]);
    assert!(unbroken(&told).contains("note: the constraints exclude 5 points of 9"), "{told}");
    assert!(unbroken(&told).contains("note: the base violates a constraint"), "{told}");
    // drawn points are not drawn again
    std::fs::write(
        folder.at("plan.toml"),
        plan("design = \"latin\"\npoints = 40\nreplications = 2\nconstraints = [\"shuffle <= 2\"]"),
    )
    .unwrap();
    let sweep = json(&["study", &folder.at("plan.toml"), "--json"]);
    assert_eq!(sweep["points"].as_array().unwrap().len(), 21);
}

#[test]
fn bad_constraints_are_shown_where_they_are_wrong() {
    let told = |constraint: &str| {
        let settings = format!("constraints = [\"1 > 0\", {constraint}]");
        let folder = Folder::new(&[("job.toml", &job("deterministic", 1)), ("plan.toml", &plan(&settings))]);
        unbroken(&shown(&["study", &folder.at("plan.toml")]).replace(folder.0.path().to_str().unwrap(), ""))
    };
    let unknown = told("\"shuffle < phases.mapz\"");
    assert!(unknown.starts_with("exit 3") && unknown.contains("there is no key or axis `phases.mapz`"), "{unknown}");
    assert!(unknown.contains("plan.toml:3:36"), "{unknown}");
    let text = told("'1 +'");
    assert!(text.contains("expected a number") && text.contains("plan.toml:3:29"), "{text}");
    let none = told("\"shuffle > 5\"");
    assert!(none.contains("no point satisfies the constraints"), "{none}");
    let word = told("\"model.distribution.gpu == 1\"");
    assert!(
        word.contains("at point 0, `model.distribution.gpu` is \"deterministic\", which is not a number"),
        "{word}"
    );
}

/// A budget goes where it is needed: the widest interval is narrower than with as many replications for all, the same on any number of
/// threads, and after it was cut short.
#[test]
fn a_budget_is_spent_where_intervals_are_widest() {
    // one point in which a phase with a wide distribution decides
    let axes = "[[axis]]\nkey = \"phases.means_s[8]\"\nvalues = [1, 2, 3, 4, 400]\n";
    let text = |settings: &str| format!("[sweep]\nbase = \"job.toml\"\n{settings}\n{axes}");
    let base =
        job("exponential", 1).replace("reduce = \"exponential\"", "reduce = { hyperexponential = { cv = 3.0 } }");
    let folder =
        Folder::new(&[("job.toml", &base), ("plan.toml", &text("replications = 500\nbudget_replications = 30000"))]);
    let (whole, cut) = (folder.at("whole"), folder.at("cut"));
    let run = |more: &[&str]| json(&[&["study", &folder.at("plan.toml"), "--json"], more].concat());
    let sweep = run(&["--threads=1", "--save", &whole]);
    assert_eq!(sweep, run(&["--threads=3"]));
    assert!((29_999..=30_000).contains(&sweep["replications"].as_u64().unwrap()), "{sweep}");
    assert_eq!(sweep["partial"], false);
    let width = |point: &Value| {
        let mean = &point["mean_s"];
        0.5 * (number(&mean["high"]) - number(&mean["low"])) / number(&mean["value"])
    };
    let points = sweep["points"].as_array().unwrap();
    let count = |point: &Value| point["replications"].as_u64().unwrap();
    assert_eq!(Some(count(&points[5])), points.iter().map(count).max());
    assert_eq!(count(&points[1]), 500);
    std::fs::write(folder.at("even.toml"), text("replications = 5000")).unwrap();
    let even = json(&["study", &folder.at("even.toml"), "--json"]);
    assert_eq!(even["replications"], 30_000);
    let widest = |sweep: &Value| sweep["points"].as_array().unwrap().iter().map(width).fold(0.0, f64::max);
    assert!(widest(&sweep) < 0.75 * widest(&even), "{} {}", widest(&sweep), widest(&even));
    // cut short while points are missing, and then between rounds
    let first = run(&["--save", &cut, "--max-points=2"]);
    assert_eq!(first["partial"], true);
    let mut child = tool(&["study", &folder.at("plan.toml"), "--save", &cut, "--resume"]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && !Path::new(&cut).join("part-000003.jsonl").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    assert_eq!(run(&["--save", &cut, "--resume"]), sweep);
    assert_eq!(files(&whole), files(&cut));
    let few = shown(&["study", &folder.at("plan.toml"), "--budget-replications=2999"]);
    assert!(
        few.starts_with("exit 3") && unbroken(&few).contains("6 points with 500 replications each need 3000"),
        "{few}"
    );
    assert!(shown(&["study", "p.toml", "--save", "x", "--shard=1/2", "--budget-time=1s"]).starts_with("exit 2"));
}

#[test]
fn a_budget_of_time_ends_in_time_and_can_be_given_again() {
    let text = plan("replications = 100\ndesign = \"each\"");
    let folder = Folder::new(&[("job.toml", &job("exponential", 1)), ("plan.toml", &text)]);
    let result = folder.at("r");
    let run = |more: &[&str]| {
        json(&[&["study", &folder.at("plan.toml"), "--json", "--budget-time=1s", "--save", &result], more].concat())
    };
    let count = |sweep: &Value| sweep["replications"].as_u64().unwrap();
    let first = run(&[]);
    assert!(count(&first) > 1_100 && first["partial"] == false, "{first}");
    let second = run(&["--resume"]);
    assert!(count(&second) > count(&first), "{second}");
}

/// The data for other programs in the finished folder equals the printed data, to the last bit.
#[test]
fn the_table_of_points_holds_the_numbers_that_are_printed() {
    let axes = "[[axis]]\nkey = \"phases.maps\"\nvalues = [1, 2, 3]\n[[axis]]\nkey = \"phases.means_s[6]\"\nvalues = [1, 7.5]\n\
                [[axis]]\nkey = \"model.distribution.gpu\"\nvalues = [\"exponential\", { erlang = 3 }]\n";
    let text = format!("[sweep]\nbase = \"job.toml\"\nreplications = 50\n{axes}");
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", &text)]);
    let result = folder.at("r");
    let sweep = json(&["study", &folder.at("plan.toml"), "--save", &result, "--json"]);
    let file = std::fs::File::open(Path::new(&result).join("points.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let points = sweep["points"].as_array().unwrap();
    assert_eq!((rows.len(), points.len()), (13, 13));
    let field = |row: usize, name: &str| {
        let mut fields = rows[row].get_column_iter();
        fields.find(|(own, _)| *own == name).unwrap_or_else(|| panic!("no column {name}")).1.clone()
    };
    for (row, point) in points.iter().enumerate() {
        assert_eq!(field(row, "point"), Field::Long(row as i64));
        assert_eq!(field(row, "replications"), Field::Long(50));
        assert_eq!(field(row, "engine"), Field::Str("schedule".to_owned()));
        for name in ["mean_s", "p50_s", "p95_s", "p99_s", "difference_s", "ratio"] {
            for (end, key) in [("", "value"), ("_low", "low"), ("_high", "high")] {
                let expected = point[name][key].as_f64().map_or(Field::Null, Field::Double);
                assert_eq!(field(row, &format!("{name}{end}")), expected, "{point}");
            }
        }
    }
    assert_eq!(field(0, "phases.maps"), Field::Null);
    assert_eq!(field(12, "phases.maps"), Field::Long(3));
    assert_eq!(field(12, "phases.means_s[6]"), Field::Double(7.5));
    assert_eq!(field(12, "model.distribution.gpu"), Field::Str("{ erlang = 3 }".to_owned()));
    // and is what a sweep continues with
    assert_eq!(json(&["study", &folder.at("plan.toml"), "--save", &result, "--resume", "--json"]), sweep);
}

const MANY: &str = "[sweep]\nbase = \"job.toml\"\nreplications = 1500\n\
                    [[axis]]\nkey = \"phases.means_s[8]\"\nfrom = 1\nto = 50\nsteps = 100\n";

/// Killed again and again, each time a little later, whatever it is doing then; and gone on with each time.
#[cfg(unix)]
#[test]
fn a_sweep_that_is_killed_at_any_moment_goes_on_and_gives_the_same_bytes() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 10)), ("plan.toml", MANY)]);
    let (plan, whole) = (folder.at("plan.toml"), folder.at("whole"));
    let expected = data(&["study", &plan, "--save", &whole]);
    // moments in milliseconds, from a linear congruence: early ones hit the start of the folder, later ones parts
    let moments = |seed: u64| {
        (0..8).scan(seed, |state, _| {
            *state = (*state * 1_103_515_245 + 12_345) % (1 << 31);
            Some(*state >> 16)
        })
    };
    let mut killed = 0;
    for (seed, budget) in [(1, None), (2, None), (3, Some("--budget-replications=200000"))] {
        let cut = folder.at(&format!("cut{seed}"));
        let args: Vec<&str> =
            ["study", &plan, "--save", &cut, "--resume", "--threads=1"].into_iter().chain(budget).collect();
        for moment in moments(seed) {
            let mut child = tool(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(moment % 250));
            killed += u32::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let resumed = data(&args);
        if budget.is_none() {
            assert_eq!(resumed, expected);
            assert_eq!(files(&whole), files(&cut));
        } else {
            let budgeted = folder.at("budgeted");
            assert_eq!(data(&["study", &plan, "--save", &budgeted, "--budget-replications=200000"]), resumed);
            assert_eq!(files(&budgeted), files(&cut));
        }
    }
    assert!(killed >= 8, "only {killed} were killed");
}

/// Files may not grow beyond some size: the system refuses in the middle of a write, as it does where a disk is full.
#[cfg(unix)]
#[test]
fn a_write_that_fails_is_told_and_the_sweep_goes_on_later() {
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", MANY)]);
    let (plan, whole, cut) = (folder.at("plan.toml"), folder.at("whole"), folder.at("cut"));
    let expected = data(&["study", &plan, "--save", &whole]);
    let tool = tool(&[]).get_program().to_owned();
    for resume in ["", "--resume"] {
        // blocks of 512 bytes: the identity of the sweep fits, and a part of a few points
        let script = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" study \"$1\" --save \"$2\" {resume}");
        let output = Command::new("sh").args(["-c", &script]).arg(&tool).args([&plan, &cut]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(7), "{told}");
        assert!(unbroken(&told).contains("cannot write") && unbroken(&told).contains("too large"), "{told}");
        assert!(Path::new(&cut).join("sweep.json").exists());
        assert!(
            files(&cut).iter().all(|(name, _)| !name.to_str().unwrap().starts_with(".tailspn")),
            "{:?}",
            files(&cut).len()
        );
    }
    assert_eq!(data(&["study", &plan, "--save", &cut, "--resume"]), expected);
    assert_eq!(files(&whole), files(&cut));
}

#[test]
fn events_are_lines_of_json_with_counts_and_time_left() {
    let axes = "[[axis]]\nkey = \"phases.means_s[6]\"\nvalues = [1, 7, 20]\n";
    let text = format!("[sweep]\nbase = \"job.toml\"\nreplications = 200\nbudget_replications = 2000\n{axes}");
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", &text)]);
    let output = tool(&["study", &folder.at("plan.toml"), "--events=json"]).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    let events: Vec<Value> =
        text.lines().filter(|l| l.starts_with('{')).map(|l| serde_json::from_str(l).unwrap()).collect();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    assert_eq!(events[0]["event"], "started");
    assert_eq!((&events[0]["points"], &events[0]["planned"], &events[0]["found"]), (&4.into(), &3.into(), &0.into()));
    let points = of("point");
    assert_eq!(points.iter().map(|event| event["done"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(number(&points[0]["mean_s"]["value"]) > 0.0 && number(&points[2]["left_s"]) < 1e-9, "{text}");
    let rounds = of("round");
    assert!(!rounds.is_empty() && rounds.iter().all(|event| event["planned"] == 2000), "{text}");
    assert!(number(&rounds[rounds.len() - 1]["done"]) >= 1999.0);
    let done = events.last().unwrap();
    assert_eq!((&done["event"], &done["complete"], &done["missing"]), (&"done".into(), &true.into(), &0.into()));
}

#[test]
fn an_empty_plan_is_noticed() {
    let folder = Folder::new(&[
        ("empty.toml", "# nothing\n"),
        ("plan.toml", "sweep.base = \"empty.toml\"\n[[axis]]\nkey = \"job.reduces\"\nvalues = [3]\n"),
    ]);
    let note = "is empty, so every key has its default; it may be the wrong file";
    for args in [
        ["estimate", "empty.toml", "--reps=4"],
        ["whatif", "empty.toml", "--reps=4"],
        ["study", "plan.toml", "--max-points=1"],
        ["study", "empty.toml", "--max-points=1"],
    ] {
        let told = unbroken(&shown(&[args[0], &folder.at(args[1]), args[2]]));
        assert!(told.contains("warning: `") && told.contains(note), "{args:?}: {told}");
    }
    assert!(!shown(&["estimate", "--demo", "--reps=4"]).contains(note));
}

/// The numbers of both are the same, also where structures change from point to point.
#[cfg(feature = "gpu")]
#[test]
fn points_on_a_device_have_the_numbers_of_the_processor() {
    let axes = "[[axis]]\nkey = \"phases.maps\"\nvalues = [1, 3]\n[[axis]]\nkey = \"phases.means_s[6]\"\nvalues = [1, 7, 20, 30]\n";
    let text = |settings: &str| format!("[sweep]\nbase = \"job.toml\"\nreplications = 500\n{settings}\n{axes}");
    for (settings, job) in [
        ("", job("exponential", 2)),
        ("relative_error = 0.03", job("exponential", 2)),
        ("budget_replications = 9000", job("exponential", 2)),
        ("", job("exponential", 2).replace("[model.distribution]", "[model]\nslots = true\n[model.distribution]")),
    ] {
        let folder = Folder::new(&[("job.toml", &job), ("plan.toml", &text(settings))]);
        let run = |more: &[&str]| data(&[&["study", &folder.at("plan.toml"), "--json"], more].concat());
        let name = crate::gpu::adapter();
        assert_eq!(run(&["--backend=gpu", "--adapter", &name]), run(&["--backend=cpu"]), "{settings}");
    }
    let folder = Folder::new(&[("job.toml", &job("exponential", 2)), ("plan.toml", &text(""))]);
    let none = shown(&["study", &folder.at("plan.toml"), "--backend=gpu", "--adapter=no such card"]);
    assert!(none.starts_with("exit 6") && unbroken(&none).contains("no adapter"), "{none}");
    let told = shown(&["study", &folder.at("plan.toml"), "--backend=cpu"]);
    assert!(told.contains(", on the cpu (as requested)"), "{told}");
}
