//! Tests of the diagnoses on handwritten logs: each rule alone, and logs that must not be judged.

use crate::diagnose::finding::{Cause, Subject};
use crate::diagnose::syscalls::*;
use crate::watch::Unwatched;

/// A call and its duration, in milliseconds.
type Call<'c> = (&'c str, f64);

fn text(calls: &[Call<'_>]) -> String {
    let line = |(at, (call, took)): (usize, &Call<'_>)| {
        let arguments = match call.split_once(' ') {
            Some(("connect", to)) => format!("connect(3, {{sa_family=AF_INET, sin_addr=inet_addr(\"{to}\")}}, 16"),
            Some(("bind", own)) => format!("bind(3, {{sa_family=AF_INET, sin_addr=inet_addr(\"{own}\")}}, 16"),
            Some((name, path)) => format!("{name}(\"{path}\", 0"),
            None => format!("{call}(3, 0"),
        };
        format!("7 17000000{:02}.000000 {arguments}) = 0 <{:.6}>\n", at % 100, took * 1e-3)
    };
    calls.iter().enumerate().map(line).collect()
}

fn run(invocations: &[Invocations<'_>], nodes: &[Vec<Call<'_>>]) -> Run {
    let settings = ReadSettings::default();
    let read = |(at, calls): (usize, &Vec<Call<'_>>)| {
        let invocations = invocations.get(at).copied().unwrap_or(Invocations::Learn);
        read_log_bytes(&format!("n{}", at + 1), "log", text(calls).as_bytes(), invocations, &settings, &Unwatched)
            .unwrap()
    };
    Run::of("run".to_owned(), nodes.iter().enumerate().map(read).collect(), Vec::new()).unwrap()
}

fn profile(controls: &[Run]) -> Profile {
    Profile::of(controls, Buckets::default(), DataFolders::default(), Matching::default())
}

/// Four nodes; each calls everything once and connects to the other three.
fn nodes(stat: [f64; 4], access: [f64; 4], connect: [[f64; 4]; 4], rest: [f64; 4]) -> Vec<Vec<Call<'static>>> {
    const ADDRESSES: [[&str; 2]; 4] = [
        ["bind 10.0.0.1", "connect 10.0.0.1"],
        ["bind 10.0.0.2", "connect 10.0.0.2"],
        ["bind 10.0.0.3", "connect 10.0.0.3"],
        ["bind 10.0.0.4", "connect 10.0.0.4"],
    ];
    let node = |at: usize| {
        let mut calls = vec![(ADDRESSES[at][0], 0.01), ("stat /data/a", stat[at]), ("access /data/a", access[at])];
        calls.extend((0..4).filter(|to| *to != at).map(|to| (ADDRESSES[to][1], connect[at][to])));
        calls.extend([("execve /usr/bin/x", rest[at]), ("socket", 0.02), ("accept", rest[at])]);
        calls
    };
    (0..4).map(node).collect()
}

const EVEN: [[f64; 4]; 4] = [[0.1; 4]; 4];

fn control(scale: f64) -> Run {
    let even = EVEN.map(|row| row.map(|time| time * scale));
    run(&[], &nodes([scale; 4], [scale; 4], even, [scale; 4]))
}

fn controls() -> Vec<Run> {
    [1.0, 1.1, 1.2].map(control).into()
}

fn say(nodes: &[Vec<Call<'_>>], settings: &StatisticalSettings) -> Answer {
    statistical(&run(&[], nodes), &profile(&controls()), settings)
}

#[test]
fn percentage_differences_have_three_readings() {
    for (reading, expected) in
        [(Difference::OfGreater, 0.2), (Difference::OfLesser, 0.25), (Difference::OfMean, 2.0 / 9.0)]
    {
        assert!((reading.between(4.0, 5.0) - expected).abs() < 1e-12, "{reading:?}");
        assert_eq!(reading.between(0.0, 0.0), 0.0);
    }
    assert_eq!(Difference::OfLesser.between(0.0, 1.0), f64::INFINITY);
}

#[test]
fn step_1_needs_stat_apart_and_access_outside() {
    let settings = StatisticalSettings::default();
    let disk = say(&nodes([1.0, 2.0, 1.0, 1.0], [1.0, 1.5, 1.0, 1.0], EVEN, [1.0; 4]), &settings);
    assert_eq!((disk.cause, disk.nodes.as_slice()), (Some(Cause::Disk), ["n2".to_owned()].as_slice()));
    assert_eq!((disk.findings[0].score, disk.findings[0].threshold), (0.5, 0.25));
    let silent = |stat, access| say(&nodes(stat, access, EVEN, [1.0; 4]), &settings).cause.is_none();
    assert!(silent([1.0, 2.0, 1.0, 1.0], [1.1; 4]), "access is inside its range");
    assert!(silent([1.0, 2.0, 1.6, 1.0], [1.0, 1.5, 1.0, 1.0]), "2.0 and 1.6 differ by a fifth");
    assert!(silent([1.0, 1.2, 0.8, 0.8], [1.0, 1.5, 1.0, 1.0]), "1.2 is still in the range of stat");
    // with the difference as a share of the lesser value, 2.0 and 1.6 are exactly 25% apart, which is not more than 25%
    let lesser = StatisticalSettings { difference: Difference::OfLesser, ..settings };
    assert!(say(&nodes([1.0, 2.0, 1.6, 1.0], [1.0, 1.5, 1.0, 1.0], EVEN, [1.0; 4]), &lesser).cause.is_none());
    let share = StatisticalSettings { hog_share: 0.19, ..settings };
    assert!(say(&nodes([1.0, 2.0, 1.6, 1.0], [1.0, 1.5, 1.0, 1.0], EVEN, [1.0; 4]), &share).cause.is_some());
}

#[test]
fn step_2_needs_connect_apart_only() {
    let mut connect = EVEN;
    connect[2] = [100.0; 4];
    let answer = say(&nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]), &StatisticalSettings::default());
    assert_eq!((answer.cause, answer.nodes.as_slice()), (Some(Cause::Network), ["n3".to_owned()].as_slice()));
    connect[1] = [80.0; 4];
    assert!(say(&nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]), &StatisticalSettings::default()).cause.is_none());
}

#[test]
fn steps_3_and_4_add_nodes_that_may_be_faulty() {
    let settings = StatisticalSettings::default();
    let disk = |rest| say(&nodes([1.0, 2.0, 1.0, 1.0], [1.0, 1.5, 1.0, 1.0], EVEN, rest), &settings).nodes;
    // accept (and execve) of n4 outside: its interval of execve gains a call that the profile has in another interval
    assert_eq!(disk([1.0, 1.0, 1.0, 9.0]), ["n2", "n4"]);
    assert_eq!(disk([1.0; 4]), ["n2"]);
    // with a network hog, accept does not count, but execve still does
    let mut connect = EVEN;
    connect[2] = [100.0; 4];
    let network = say(&nodes([1.0; 4], [1.0; 4], connect, [1.0, 1.0, 1.0, 9.0]), &settings);
    assert_eq!(
        (network.cause, network.nodes.as_slice()),
        (Some(Cause::Network), ["n3", "n4"].map(str::to_owned).as_slice())
    );
    // two nodes with the same score are 0% apart: with "all others" neither is marked, with "any other" both
    let two = [1.0, 9.0, 1.0, 9.0];
    let network =
        |against| say(&nodes([1.0; 4], [1.0; 4], connect, two), &StatisticalSettings { against, ..settings }).nodes;
    assert_eq!(network(Against::All), ["n3"]);
    assert_eq!(network(Against::Any), ["n3", "n2", "n4"]);
}

/// Judges nodes by the invocations of the control runs.
fn semantic_answer(nodes: &[Vec<Call<'_>>], settings: &SemanticSettings) -> Answer {
    let profile = profile(&controls());
    let names = ["n1", "n2", "n3", "n4"];
    let invocations = names.map(|name| Invocations::Judge(profile.extremes_of(name).unwrap()));
    semantic(&run(&invocations, nodes), settings)
}

#[test]
fn the_node_of_all_the_highest_pairs_is_blamed() {
    let settings = SemanticSettings::default();
    let mut connect = EVEN;
    connect[1] = [3000.0; 4];
    for row in &mut connect {
        row[1] = 1000.0;
    }
    let answer = semantic_answer(&nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]), &settings);
    assert_eq!((answer.cause, answer.nodes.as_slice()), (Some(Cause::Network), ["n2".to_owned()].as_slice()));
    // each of its three pairs has one slow connection in each direction, the others none
    assert_eq!(
        (answer.findings[0].score, answer.findings[0].threshold, answer.findings[0].confidence),
        (2.0, 0.0, 1.0)
    );
    let disk = semantic_answer(&nodes([1.0, 1.0, 9.0, 1.0], [1.0, 1.0, 9.0, 1.0], EVEN, [1.0; 4]), &settings);
    assert_eq!((disk.cause, disk.nodes.as_slice()), (Some(Cause::Disk), ["n3".to_owned()].as_slice()));
}

#[test]
fn without_a_node_in_all_the_highest_pairs_nothing_is_said() {
    let settings = SemanticSettings::default();
    let mut connect = EVEN;
    connect[0][1] = 1000.0;
    // one slow pair has two ends
    assert_eq!(semantic_answer(&nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]), &settings).cause, None);
    let one = SemanticSettings { highest_pairs: Some(1) };
    assert_eq!(semantic_answer(&nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]), &one).cause, None);
    connect[2][3] = 1000.0;
    assert_eq!(semantic_answer(&nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]), &settings).cause, None);
    assert_eq!(semantic_answer(&nodes([1.0; 4], [1.0; 4], EVEN, [1.0; 4]), &settings).cause, None);
}

/// Repeats calls often enough for means.
fn often(nodes: Vec<Vec<Call<'static>>>) -> Vec<Vec<Call<'static>>> {
    nodes.into_iter().map(|calls| calls.repeat(20)).collect()
}

/// The baseline for calls that are frequent enough for means.
fn often_profile() -> Profile {
    let often_control = |scale: f64| {
        let even = EVEN.map(|row| row.map(|time| time * scale));
        run(&[], &often(nodes([scale; 4], [scale; 4], even, [scale; 4])))
    };
    profile(&[1.0, 1.1, 1.2].map(often_control))
}

fn improved_answer(judged: Vec<Vec<Call<'static>>>) -> Answer {
    improved(&run(&[], &judged), &often_profile(), &ImprovedSettings::default())
}

#[test]
fn peers_of_a_faulty_node_are_not_blamed() {
    // every node connects to the faulty n2 slowly, and n2 to all; n1 connects far more often, so its total is the greatest
    let mut connect = EVEN;
    connect[1] = [500.0; 4];
    for row in &mut connect {
        row[1] = 500.0;
    }
    let mut busy = often(nodes([1.0; 4], [1.0; 4], connect, [1.0; 4]));
    busy[0] = busy[0].repeat(4);
    let answer = improved_answer(busy);
    assert_eq!((answer.cause, answer.nodes.as_slice()), (Some(Cause::Network), ["n2".to_owned()].as_slice()));
    let finding = &answer.findings[0];
    // level 500 ms; usual 0.11 ms; the others' median 0.1 ms; they make as many calls (factor 1)
    assert!((finding.score - 500.11 / 0.21).abs() < 1e-6, "{finding:?}");
    assert_eq!(finding.subject, Subject::Node { node: "n2".to_owned() });
}

#[test]
fn a_slow_disk_shows_in_the_mean_and_in_fewer_calls() {
    let mut slow = often(nodes([1.0, 1.0, 1.0, 5.0], [1.0; 4], EVEN, [1.0; 4]));
    // all logs end after 100 s
    slow[3].truncate(100);
    let answer = improved_answer(slow);
    assert_eq!((answer.cause, answer.nodes.as_slice()), (Some(Cause::Disk), ["n4".to_owned()].as_slice()));
    // mean of 5 and 1 against 1, usual 1.1; 89 calls of its own; the others made 160
    let expected = (3.0 + 1.1) / (1.0 + 1.1) * 160.0 / 89.0;
    assert!((answer.findings[0].score - expected).abs() < 0.02, "{}", answer.findings[0].score);
    // system libraries are not data
    let mut libraries = often(nodes([1.0; 4], [1.0; 4], EVEN, [1.0; 4]));
    libraries[3].extend([("stat /usr/lib/libc.so", 500.0)].repeat(20));
    assert_eq!(improved_answer(libraries).cause, None);
}

#[test]
fn slowness_of_all_nodes_blames_none() {
    let slow = EVEN.map(|row| row.map(|time| 50.0 * time));
    assert_eq!(improved_answer(often(nodes([50.0; 4], [50.0; 4], slow, [50.0; 4]))).cause, None);
}

#[test]
fn too_few_nodes_are_not_compared() {
    let mut nodes = often(nodes([1.0; 4], [1.0; 4], EVEN.map(|row| row.map(|t| 900.0 * t)), [1.0; 4]));
    nodes.truncate(1);
    let answer = improved_answer(nodes.clone());
    // something is slow, but the faulty end is unknown
    assert_eq!((answer.cause, answer.nodes.len(), answer.findings[0].cause), (None, 0, Cause::Unknown));
    assert_eq!(answer.findings[0].subject, Subject::Job, "no node is blamed");
    assert!(answer.silence.is_some());
    // there are no other nodes to report
    let evidence = &answer.findings[0].evidence;
    assert_eq!((evidence.len(), &*evidence[0].unit), (1, "ms"), "{evidence:?}");
    assert!(evidence[0].what.ends_with("compared with the control runs") && (evidence[0].value - 90.0).abs() < 0.01);
    assert!(statistical(&run(&[], &nodes), &profile(&controls()), &StatisticalSettings::default()).silence.is_some());
    assert!(semantic(&run(&[], &nodes), &SemanticSettings::default()).silence.is_some());
    let empty = profile(&[]);
    for answer in diagnose(&run(&[], &nodes), &empty, &Method::ALL, &DiagnosisSettings::default()) {
        assert!(answer.nodes.is_empty() && answer.silence.is_some(), "{answer:?}");
    }
}

#[test]
fn a_profile_survives_its_file() {
    let profile = profile(&controls());
    let text = profile.to_json().unwrap();
    assert_eq!(Profile::parse(&text, "p").unwrap(), profile);
    assert_eq!(text, Profile::parse(&text, "p").unwrap().to_json().unwrap());
    for bad in
        ["", "{}", "[1]", &text.replace("\"format_version\":1", "\"format_version\":9"), &text.replace("2.0", "0.5")]
    {
        assert!(matches!(Profile::parse(bad, "p"), Err(SyscallError::BadProfile { .. })), "{bad:.40}");
    }
    let total = profile.total(Form::Calls, "n1", CallClass::Stat).unwrap();
    assert_eq!((total.low, total.high), (0.001, 0.0012));
    assert_eq!(profile.total(Form::WallTotals, "n1", CallClass::Stat), None);
    assert_eq!(profile.total(Form::Calls, "n9", CallClass::Stat), None);
    // 1.0 ms is in the interval from 0.512 to 1.024 ms, 1.1 and 1.2 ms in the next one
    let range =
        |bucket| profile.bucket(Form::Calls, "n1", CallClass::Stat, bucket).map(|range| (range.low, range.high));
    assert_eq!([10, 11, 12].map(range), [Some((0.0, 1.0)), Some((0.0, 1.0)), Some((0.0, 0.0))]);
}

#[test]
fn logs_of_another_form_are_excluded_and_other_times_are_noted() {
    let read = |node: &str, text: &str| {
        read_log_bytes(node, node, text.as_bytes(), Invocations::Ignore, &ReadSettings::default(), &Unwatched).unwrap()
    };
    let call = "1700000000.5 stat(\"/data/a\", 0) = 0 <0.001>\n";
    let late = "1700000900.5 stat(\"/data/a\", 0) = 0 <0.001>\n";
    let wall = "% time seconds usecs/call calls errors syscall\n 50.0 1.5 1000 1500 stat\n";
    let run = Run::of("r".to_owned(), vec![read("n1", call), read("n2", late), read("n3", wall)], Vec::new()).unwrap();
    assert_eq!((run.nodes.len(), run.form, run.notes.len()), (2, Form::Calls, 2));
    assert!(
        run.notes[0].starts_with("n3: unlike the other logs") && run.notes[1].contains("900.0 s before"),
        "{:?}",
        run.notes
    );
    let twice = Run::of("r".to_owned(), vec![read("n1", call), read("n1", late)], Vec::new());
    assert!(matches!(twice, Err(SyscallError::TwoLogs { .. })));
    let untimed = Run::of("r".to_owned(), vec![read("n1", "stat(\"/data/a\", 0) = 0\n")], Vec::new());
    assert!(matches!(untimed, Err(SyscallError::NothingToJudge { .. })));
}

/// Half a log does not make a slow node: missing calls are ignored, slow calls still count.
#[test]
fn a_log_that_ends_early_is_reported_and_its_node_is_not_blamed_for_it() {
    let mut logs = often(nodes([1.0, 1.0, 1.0, 1.5], [1.0, 1.0, 1.0, 1.5], EVEN, [1.0; 4]));
    // at most one call a second, and the times go up to 100 s
    logs.iter_mut().for_each(|calls| calls.truncate(100));
    let settings = ImprovedSettings { least_calls: 5, ..ImprovedSettings::default() };
    logs[3].truncate(50);
    let mut early = run(&[], &logs);
    assert_eq!(
        early.notes,
        ["n4: its log ends 50.0 s before the logs of the other nodes, so its number of calls is not compared"]
    );
    assert!(early.node("n4").unwrap().ends_early && improved(&early, &often_profile(), &settings).nodes.is_empty());
    // without the rule it would be blamed, because it made half as many calls
    early.nodes[3].ends_early = false;
    assert_eq!(improved(&early, &often_profile(), &settings).nodes, ["n4"]);
    // slow calls in it are still detected
    logs[3].iter_mut().for_each(|call| call.1 *= 20.0);
    assert_eq!(improved(&run(&[], &logs), &often_profile(), &settings).nodes, ["n4"]);
    // a tenth of the run does not count as early
    let mut later = often(nodes([1.0; 4], [1.0; 4], EVEN, [1.0; 4]));
    later.iter_mut().for_each(|calls| calls.truncate(100));
    later[3].truncate(92);
    assert_eq!(run(&[], &later).notes, Vec::<String>::new());
}

/// Truncated tables and logs without times: the missing part is unknown.
#[test]
fn cut_tables_and_cut_logs_without_times_are_not_judged() {
    let head = "% time     seconds  usecs/call     calls    errors syscall\n";
    let rows = " 64.56   15.863877       78147       203         9 connect\n 15.96    3.921107         399      9814       687 newfstatat\n";
    let total = "100.00   24.570892        2286     10747       730 total\n";
    let settings = ReadSettings { clock: Some(Clock::Wall), ..ReadSettings::default() };
    let read = |node: &str, text: &str| {
        read_log_bytes(node, node, text.as_bytes(), Invocations::Ignore, &settings, &Unwatched).unwrap()
    };
    let whole = [head, rows, total].concat();
    let without_total = read("n2", &[head, rows].concat());
    let in_name = read("n3", whole.split("fstatat").next().unwrap());
    let without_newline = read("n4", whole.trim_end());
    let kinds = |node: &NodeCalls| node.odd.iter().map(|odd| odd.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&without_total), [OddKind::TableWithoutTotal]);
    assert_eq!(kinds(&in_name), [OddKind::CutRow, OddKind::TableWithoutTotal]);
    assert_eq!(kinds(&without_newline), []);
    let run =
        Run::of("r".into(), vec![read("n1", &whole), without_total, in_name, without_newline], Vec::new()).unwrap();
    assert_eq!(run.nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["n1", "n4"]);
    assert!(
        run.notes.iter().all(|note| note.contains("its log was truncated")) && run.notes.len() == 2,
        "{:?}",
        run.notes
    );
    let all = Run::of("r".into(), vec![read("n1", &[head, rows].concat())], Vec::new()).unwrap_err();
    assert_eq!(all.to_string(), "no node can be judged: the logs of all nodes were truncated");
    // a log of calls that is cut inside its last line: with times, it ends when the others do; without, its end is unknown
    for (time, judged) in [("1700000000.5 ", 2), ("", 1)] {
        let calls = format!("7 {time}stat(\"/data/a\", 0) = 0 <0.001>\n");
        let cut = read("n2", &format!("{calls}7 {time}stat(\"/data"));
        assert!(cut.cut && kinds(&cut) == [OddKind::CutCall]);
        let run = Run::of("r".into(), vec![read("n1", &calls), cut], Vec::new()).unwrap();
        assert_eq!(run.nodes.len(), judged);
    }
}

/// All methods that can judge the run report the node with a slow disk, until a log of another time is added.
#[test]
fn logs_that_do_not_overlap_name_no_node() {
    let slow = often(nodes([1.0, 9.0, 1.0, 1.0], [1.0, 9.0, 1.0, 1.0], EVEN, [1.0; 4]));
    let profile = often_profile();
    let invocations = ["n1", "n2", "n3", "n4"].map(|name| Invocations::Judge(profile.extremes_of(name).unwrap()));
    let mut run = run(&invocations, &slow);
    let say = |run: &Run| diagnose(run, &profile, &Method::ALL, &DiagnosisSettings::default());
    assert!(say(&run).iter().all(|answer| answer.nodes == ["n2"]), "{:?}", say(&run));
    run.nodes[3].span = run.nodes[3].span.map(|span| span.map(|time| time + 3600.0));
    for answer in say(&run) {
        assert!(answer.nodes.is_empty() && answer.findings.is_empty(), "{answer:?}");
        let why = answer.silence.unwrap();
        assert!(why.contains("before the log of n4 starts: they are from different runs, or clocks disagree"), "{why}");
    }
}
