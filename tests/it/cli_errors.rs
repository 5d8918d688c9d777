//! Error output of the command line: message, place in the text, next step, exit code.

use crate::cli::{assert_shown, show, shown, tool, unwrapped};

/// Runs the tool on a file with this content, in a folder of its own, so that messages have short names.
fn shown_on(name: &str, content: &[u8], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    show(&tool(args).current_dir(folder.path()).output().unwrap())
}

#[test]
fn a_missing_file() {
    assert_shown!(shown(&["net", "simulate", "no-such-net.xml"]));
}

#[test]
fn a_folder_is_not_read_as_a_net() {
    assert_shown!(shown(&["net", "check", "tests"]));
}

#[test]
fn an_empty_log() {
    assert_shown!(shown_on("app-1.json", b"", &["whatif", "app-1.json"]));
}

#[test]
fn an_empty_file() {
    assert_shown!(shown_on("empty.xml", b"", &["net", "check", "empty.xml"]));
}

#[test]
fn truncated_xml() {
    let whole = include_bytes!("../data/cli/dead.xml");
    assert_shown!(shown_on("cut.xml", &whole[..250], &["net", "check", "cut.xml"]));
}

#[test]
fn a_picture_is_not_read_as_a_net() {
    assert_shown!(shown_on("net.png", b"\x89PNG\r\n\x1a\n\0\0", &["net", "simulate", "net.png"]));
}

#[test]
fn several_problems_at_once() {
    assert_shown!(shown(&["net", "check", "tests/data/cli/several-problems.xml"]));
}

#[test]
fn an_error_in_a_long_line_is_shown_with_its_surroundings() {
    let places: String = (0..50).map(|i| format!("<place id=\"P{i}\"/>")).collect();
    let net = format!("<pnml><net>{places}<arc id=\"a\" source=\"P1\" target=\"P2\"/></net></pnml>");
    assert_shown!(shown_on("long.xml", net.as_bytes(), &["net", "check", "long.xml"]));
}

#[test]
fn an_unknown_key_of_a_plan() {
    assert_shown!(shown_on("plan.toml", b"[job]\ninput_mbs = 640\n", &["estimate", "plan.toml"]));
}

#[test]
fn bad_values_of_a_plan() {
    assert_shown!(shown(&["estimate", "tests/data/cli/wrong-plan.toml"]));
}

#[test]
fn a_plan_without_a_formula() {
    assert_shown!(shown(&["estimate", "tests/data/cli/lognormal-plan.toml", "--method=exact"]));
}

#[test]
fn bad_expressions_and_names() {
    assert_shown!(shown(&[
        "net",
        "simulate",
        "models/textbook/mm1k.xml",
        "--until=#(nope) > 1",
        "--reward=a=1 +",
        "--reward=b=speed * 2",
        "--impulse=c=nobody:1",
        "--group=g=x*",
        "--at=3:max(1)",
    ]));
}

#[test]
fn an_unknown_parameter() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--param=lambda=3"]));
}

#[test]
fn bad_numbers() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--reps=0"]));
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--rel-error=150%"]));
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--max-time=soon"]));
    assert_shown!(shown(&["net", "spn-gc", "--means=1,2,3", "--save-net", "net.xml"]));
}

#[test]
fn options_that_exclude_each_other() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--steady", "--until=dead"]));
}

#[test]
fn an_engine_that_cannot_run_the_net_gives_the_reason() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--engine=schedule", "--horizon=5"]));
}

#[test]
fn a_net_that_does_not_stop() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--max-firings=100", "--reps=20"]));
}

#[test]
fn a_net_that_is_dead_at_once() {
    assert_shown!(shown(&["net", "simulate", "tests/data/cli/dead.xml"]));
    assert_shown!(shown(&["net", "simulate", "tests/data/cli/dead.xml", "--steady"]));
}

#[test]
fn a_goal_that_is_never_reached() {
    assert_shown!(shown(&[
        "net",
        "simulate",
        "models/textbook/forkjoin_retry.xml",
        "--until=#(done) > 1",
        "--reps=100"
    ]));
}

#[test]
fn a_relative_error_needs_a_goal_that_is_reached() {
    let until = "--until=#(done) > 1";
    assert_shown!(shown(&["net", "simulate", "models/textbook/forkjoin_retry.xml", until, "--rel-error=1%"]));
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--horizon=9", "--tokens", "--rel-error=1%"]));
}

#[test]
fn error_targets_need_a_known_name_and_a_width() {
    let mm1k = |rest: &[&str]| shown(&[&["net", "simulate", "models/textbook/mm1k.xml", "--horizon=9"], rest].concat());
    assert_shown!(mm1k(&["--rel-error=queeu=1%"]));
    assert_shown!(mm1k(&["--abs-error=queue"]));
    assert_shown!(mm1k(&["--abs-error=queue=0.01", "--reps=1000"]));
    assert_shown!(mm1k(&["--abs-error=goal=0.01"]));
}

#[test]
fn a_rare_goal_has_its_probability_and_conditional_times() {
    let args = ["net", "simulate", "models/textbook/forkjoin_retry.xml", "--horizon=1", "--reps=100"];
    assert_shown!(shown(&args));
    assert_shown!(shown(&[&args[..], &["--csv"]].concat()));
}

#[test]
fn a_horizon_before_the_first_firing_is_no_dead_marking() {
    assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", "--horizon=0", "--reps=1"]));
}

#[test]
fn times_beyond_the_horizon_and_duplicate_names_are_refused() {
    assert_shown!(shown(&[
        "net",
        "simulate",
        "models/textbook/mm1k.xml",
        "--horizon=5",
        "--warm-up=5",
        "--at=6:#(queue)",
        "--reward=a=1",
        "--reward=a=2",
        "--group=g=serve",
        "--group=g=arrive",
    ]));
}

#[test]
fn a_plan_with_slots_has_no_critical_path() {
    let plan = b"[model]\nslots = true\n";
    assert_shown!(shown_on("slots.toml", plan, &["estimate", "slots.toml", "--rel-error=2%"]));
}

#[test]
fn odd_elements_are_read_as_the_chosen_reader_does() {
    let net = br#"<pnml><net><place id="P0"><initialMarking><value>1</value></initialMarking></place>
        <transition id="T0"><timed><value>yes</value></timed></transition>
        <arc id="a" source="P0" target="T0"><inscription><value>1</value></inscription></arc></net></pnml>"#;
    assert_shown!(shown_on("odd.xml", net, &["net", "check", "odd.xml", "--pipe"]));
    assert_shown!(shown_on("odd.xml", net, &["net", "check", "odd.xml", "--pipe", "--read-as=odd_boolean=pipe5"]));
    let both = ["net", "check", "odd.xml", "--read-as=pipe5", "--read-as", "odd_boolean=sensible", "--quiet"];
    assert_shown!(shown_on("odd.xml", net, &both));
    assert_shown!(shown_on("odd.xml", net, &["net", "check", "odd.xml", "--read-as=odd_bool=pipe5"]));
    assert_shown!(shown_on("odd.xml", net, &["net", "check", "odd.xml", "--read-as=pipe3"]));
}

#[test]
fn negative_numbers() {
    for [option, value] in [["--horizon", "-1"], ["--seed", "-1"], ["--reps", "-5"], ["--rel-error", "-5%"]] {
        assert_shown!(shown(&["net", "simulate", "models/textbook/mm1k.xml", option, value]));
    }
}

#[test]
fn tokens_that_explode() {
    assert_shown!(shown(&["net", "simulate", "tests/data/cli/explosion.xml"]));
}

#[test]
fn immediate_transitions_that_fire_for_ever() {
    assert_shown!(shown(&["net", "simulate", "tests/data/cli/loop.xml"]));
    assert_shown!(shown(&["net", "check", "tests/data/cli/loop.xml"]));
}

#[test]
fn output_that_cannot_be_written() {
    assert_shown!(shown(&["net", "convert", "models/textbook/mm1k.xml", "no-such-folder/net.svg"]));
    assert_shown!(shown(&["net", "convert", "models/textbook/mm1k.xml", "net.bmp"]));
}

#[test]
fn an_existing_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let net = include_bytes!("../data/cli/dead.xml");
    std::fs::write(folder.path().join("net.xml"), net).unwrap();
    std::fs::write(folder.path().join("out.dot"), "mine").unwrap();
    let convert = |args: &[&str]| tool(args).current_dir(folder.path()).output().unwrap();
    assert_shown!(show(&convert(&["net", "convert", "net.xml", "out.dot"])));
    assert_eq!(std::fs::read_to_string(folder.path().join("out.dot")).unwrap(), "mine");
    assert!(convert(&["net", "convert", "net.xml", "out.dot", "--force"]).status.success());
    assert!(std::fs::read_to_string(folder.path().join("out.dot")).unwrap().starts_with("digraph"));
}

#[test]
fn quiet_says_nothing_but_results_and_errors() {
    let output = tool(&["net", "simulate", "tests/data/cli/dead.xml", "--quiet"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", show(&output));
    let output = tool(&["net", "simulate", "no-such-net.xml", "--quiet"]).output().unwrap();
    assert!(output.status.code() == Some(7) && !output.stderr.is_empty(), "{}", show(&output));
}

#[test]
fn nets_without_a_state_space() {
    assert_shown!(shown(&["net", "solve", "tests/data/cli/explosion.xml"]));
    assert_shown!(shown(&["net", "solve", "tests/data/cli/loop.xml"]));
}

#[test]
fn a_steady_state_of_a_net_that_stops() {
    assert_shown!(shown(&["net", "solve", "-q", "models/textbook/forkjoin_retry.xml", "--steady", "--csv"]));
}

#[test]
fn bad_questions_to_solve() {
    assert_shown!(shown(&["net", "solve", "models/textbook/mm1k.xml", "--until=#(nope) > 1", "--measure=a=1 +"]));
    assert_shown!(shown(&["net", "solve", "models/textbook/mm1k.xml", "--max-memory=much"]));
}

/// A sound file of each kind, given to each command that does not take it: the answer names the file's kind and the commands that do.
#[test]
fn a_file_of_another_kind_names_the_right_command() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, args: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, tool(args).output().unwrap().stdout).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let strace = folder.path().join("n1.strace");
    std::fs::write(&strace, "812 1700000000.100000 openat(AT_FDCWD, \"/etc/hosts\", O_RDONLY) = 3 <0.000021>\n")
        .unwrap();
    let net = folder.path().join("net.xml");
    assert!(tool(&["net", "spn-gc", "--save-net", net.to_str().unwrap()]).output().unwrap().status.success());
    let spark = "tests/data/trace/sort-32mb.spark.gz".to_owned();
    // the file, the commands that take it, and what the help names
    let files = [
        (net.to_str().unwrap().to_owned(), "check convert simulate solve structure study", "`net simulate`"),
        (made("job.toml", &["estimate", "--print-plan"]), "spn-gc estimate whatif study", "`estimate`"),
        (
            made("stages.toml", &["tool", "fit", &spark, "--save-plan", "-"]),
            "spn-gc estimate whatif study",
            "`estimate`",
        ),
        (made("sweep.toml", &["study", "--print-plan"]), "study", "`study`"),
        (made("best.toml", &["study", "--print-plan=deadline"]), "study", "`study`"),
        (made("result.json", &["estimate", "--demo", "--json"]), "", "`tailspn FILE`"),
        (spark, "estimate whatif fit why study", "`estimate`"),
        ("tests/data/trace/plain-unions.jhist".to_owned(), "estimate whatif fit why study", "`estimate`"),
        ("tests/data/trace/small.rumen.json".to_owned(), "estimate whatif fit why study", "`estimate`"),
        ("tests/data/trace/small.phases.csv".to_owned(), "estimate whatif fit why study", "`estimate`"),
        ("tests/data/trace/alibaba-2017.csv".to_owned(), "whatif fit why", "`why`"),
        ("tests/data/trace/count_conf.xml".to_owned(), "estimate fit study", "`tool fit`"),
        (strace.to_str().unwrap().to_owned(), "why", "`why`"),
    ];
    let out = folder.path().join("out");
    let out = |ending: &str| format!("{}.{ending}", out.to_str().unwrap());
    for (file, takes, named) in &files {
        for command in [
            "net check",
            "net convert",
            "net simulate",
            "net solve",
            "net structure",
            "net spn-gc",
            "estimate",
            "whatif",
            "study",
            "tool fit",
            "why",
        ] {
            let verb = command.rsplit(' ').next().unwrap();
            if takes.split(' ').any(|taker| taker == verb) {
                continue;
            }
            let xml = out("xml");
            let more: &[&str] = match verb {
                "convert" => &[&xml],
                "spn-gc" => &["--save-net", &xml],
                _ => &[],
            };
            let args: Vec<&str> = command.split(' ').chain([&file[..]]).chain(more.iter().copied()).collect();
            // lines may be broken after a hyphen
            let told = unwrapped(&shown(&args)).replace(['│', ' '], "");
            assert!(
                told.contains(&format!("which`tailspn{}`doesnotaccept", command.replace(' ', ""))),
                "{args:?}: {told}"
            );
            assert!(told.contains("forthisfile") && told.contains(&named.replace(' ', "")), "{args:?}: {told}");
        }
    }
}

/// Names in a log may steer a terminal; nothing but what can be seen is written.
#[test]
fn names_do_not_steer_the_terminal() {
    let Some(folder) = crate::shared::shared("data/regressions") else { return };
    let log = folder.join("escapes.spark.gz").display().to_string();
    for command in ["why", "whatif", "both"] {
        let args: Vec<&str> = match command {
            "both" => vec!["why", &log, &log],
            "whatif" => vec![command, &log, "--reps", "4"],
            _ => vec![command, &log],
        };
        let output = tool(&args).output().unwrap();
        let written = [output.stdout, output.stderr].concat();
        let steers = |c: char| c.is_control() && c != '\n';
        let text = String::from_utf8(written).unwrap();
        assert!(!text.contains(steers), "{command}: {:?}", text.lines().find(|line| line.contains(steers)));
    }
}

#[test]
fn a_file_of_no_known_kind_is_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "these are no reports\nnor is this\n").unwrap();
    let output = tool(&["watch", &path.display().to_string()]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", show(&output));
}

#[test]
fn times_that_are_years_apart_are_told_before_a_replay() {
    let Some(folder) = crate::shared::shared("data/regressions") else { return };
    let log = folder.join("far-launch-time.spark.gz").display().to_string();
    let output = tool(&["whatif", &log, "--policies", "all", "--max-time", "1s"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", show(&output));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("times more than a year apart"), "{text}");
}

#[test]
fn invalid_shares_threads_and_missing_axes_get_a_hint() {
    let told = |args: &[&str]| show(&tool(args).output().unwrap());
    assert!(told(&["estimate", "--demo", "--level", "95"]).contains("did you mean 95%?"));
    assert!(told(&["estimate", "--demo", "--threads", "0"]).contains("a whole number of at least 1"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, "").unwrap();
    let text = told(&["study", &path.display().to_string()]);
    assert!(text.contains("add an `[[axis]]`"), "{text}");
}

/// Windows line ends move no place: every message equals the message for the same text with Unix line ends.
#[test]
fn line_ends_of_windows_do_not_move_places() {
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cli/two-ends.xml");
    let axis = "[[axis]]\nkey = \"job.reducers\"\nvalues = [1, 2]\n";
    let cut_net = &include_str!("../data/cli/dead.xml")[..250];
    let cases: [(&str, String, Vec<&str>); 7] = [
        ("net.xml", include_str!("../data/cli/several-problems.xml").into(), vec!["net", "check", "net.xml"]),
        ("cut.xml", cut_net.into(), vec!["net", "check", "cut.xml"]),
        ("plan.toml", include_str!("../data/cli/wrong-plan.toml").into(), vec!["estimate", "plan.toml"]),
        ("syntax.toml", "[job]\ninput_mb =\nreduces = 3 4\n".into(), vec!["estimate", "syntax.toml"]),
        ("sweep.toml", format!("[sweep]\nreplications = 10\n\n{axis}"), vec!["study", "sweep.toml"]),
        (
            "constraint.toml",
            format!("[sweep]\n\nconstraints = [\"job.reduces <= 2 *\"]\n{}", axis.replace("reducers", "reduces")),
            vec!["study", "constraint.toml"],
        ),
        (
            "queries.txt",
            "// questions\nP=? [ F<=1 #(nowhere) > 0 ]\n\nS=? [ #(nowhere) > ]\n".into(),
            vec!["net", "query", net, "--file", "queries.txt"],
        ),
    ];
    for (name, text, args) in cases {
        let usual = shown_on(name, text.as_bytes(), &args);
        assert!(!usual.starts_with("exit 0") && usual.contains(&format!("{name}:")), "{usual}");
        let windows = shown_on(name, text.replace('\n', "\r\n").as_bytes(), &args);
        assert_eq!(windows, usual, "{name}");
    }
}

/// The same for logs, whose oddities are listed by line.
#[test]
fn line_ends_of_windows_do_not_move_lines_of_logs() {
    let log = include_str!("../data/trace/small.spark");
    let broken = log.replacen('\n', "\nno event\n", 2);
    let reports =
        "kind\tpartition\tt_ms\tdone\ttotal\nmap\t1\t1000\t0\t10\nmap\tx\t1100\t0\t10\nmap\t1\t3000\t10\t10\n";
    let calls = "7 1700000000.5 stat(\"/data/a\", 0) = 0 <0.001>\n7 1700000001.5 no call\n7 1700000002.5 stat(\"/data/a\", 0) = 0 <0.001>\n";
    let cases: [(&str, &str, &[&str], &str); 3] = [
        ("log.spark", &broken, &["why", "log.spark", "--verbose"], "log.spark:2:"),
        ("run.tsv", reports, &["watch", "--learn", "run.tsv"], "run.tsv: line 3: not a number"),
        ("n1.strace", calls, &["tool", "profile", "n1.strace", "--save-profile", "profile.json"], "n1.strace:2:"),
    ];
    for (name, text, args, place) in cases {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let told = unwrapped(&shown_on(name, text.as_bytes(), args));
            assert!(told.contains(place), "{told}");
        }
    }
}

#[test]
fn misspelt_words_get_the_word_that_was_meant() {
    let net = "tests/data/cli/two-ends.xml";
    for (args, meant) in [
        (vec!["net", "simulate", net, "--engine", "clok"], "'clock'"),
        (vec!["net", "simulate", net, "--backend", "gpuu"], "'gpu'"),
        (vec!["net", "simulate", net, "--read-as", "pip5"], "did you mean `pipe5`?"),
        (vec!["net", "solve", net, "--method", "stats"], "'states'"),
        (vec!["estimate", "--demo", "--color", "nevr"], "'never'"),
    ] {
        let told = shown(&args);
        assert!(told.starts_with("exit 2") && told.contains(meant), "{told}");
    }
    let plan = "[model.distribution]\ngpu = \"expnential\"\n";
    let told = unwrapped(&shown_on("plan.toml", plan.as_bytes(), &["estimate", "plan.toml"])).replace("│ ", "");
    assert!(told.starts_with("exit 3") && told.contains("did you mean \"exponential\"?"), "{told}");
    let plan = "[sweep]\ndesign = \"grd\"\n[[axis]]\nkey = \"job.reduces\"\nvalues = [1]\n";
    let told = unwrapped(&shown_on("plan.toml", plan.as_bytes(), &["study", "plan.toml"]));
    assert!(told.starts_with("exit 3") && told.contains("did you mean \"grid\"?"), "{told}");
}

/// A name in a log that a spreadsheet would run; numbers stay as they are.
#[test]
fn formulas_in_csv_are_escaped_on_request() {
    let log = include_str!("../data/trace/small.spark").replace("\"Host\":\"", "\"Host\":\"=cmd|' /C calc'!");
    let run = |args: &[&str]| shown_on("log.spark", log.as_bytes(), args);
    let plain = run(&["why", "log.spark", "--attempts", "-"]);
    let escaped = run(&["why", "log.spark", "--attempts", "-", "--csv", "--csv-escape"]);
    assert!(plain.starts_with("exit 0") && plain.contains(",=cmd|") && !plain.contains("'=cmd|"), "{plain}");
    assert!(escaped.starts_with("exit 0") && !escaped.contains(",=cmd|"), "{escaped}");
    assert_eq!(escaped.replace("'=cmd|", "=cmd|"), plain);
    assert!(run(&["why", "log.spark", "--csv-escape"]).starts_with("exit 2"));
}

#[test]
fn two_measures_of_one_name() {
    assert_shown!(shown(&[
        "net",
        "solve",
        "models/textbook/mm1k.xml",
        "--measure",
        "busy=#(queue) > 0",
        "--measure",
        "busy=#(queue)"
    ]));
}

#[test]
fn comparisons_in_a_chain() {
    assert_shown!(shown(&["net", "solve", "models/textbook/mm1k.xml", "--until", "1 < #(queue) < 3"]));
}
