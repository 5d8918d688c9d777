//! Diagnoses by system calls where the truth is known: labelled runs, scored as the paper scores, and runs made up.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tailspn::diagnose::Cause;
use tailspn::diagnose::syscalls::{
    Answer, Buckets, CallClass, DataFolders, DiagnosisSettings, Fault, Form, ImprovedSettings, Invocations, MadeRun,
    Matching, Method, Profile, Purpose, Rates, ReadSettings, Run, SyscallError, Truth, Worth, best_without, diagnose,
    improved, read_log_bytes, read_run,
};
use tailspn::watch::Unwatched;

use crate::strace::logs;

/// A labelled run, read as if it were to be learnt from.
struct Labelled {
    name: String,
    folder: String,
    fault: String,
    truth: Truth,
    run: Result<Run, SyscallError>,
}

impl Labelled {
    fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("truth.json")).unwrap();
        let truth: Value = serde_json::from_str(&text).unwrap();
        let fault = truth["fault"].as_str().unwrap().to_owned();
        let node = truth["faulty_node"].as_str().filter(|node| !node.is_empty()).map(str::to_owned);
        let cause = match fault.as_str() {
            "none" => Cause::Unknown,
            "disk" | "slowdisk" => Cause::Disk,
            _ => Cause::Network,
        };
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let folder = folder.to_str().unwrap().to_owned();
        let run = read_run(std::slice::from_ref(&folder), Purpose::Learn, &ReadSettings::default(), &Unwatched);
        Self { name, folder, fault, truth: Truth { node, cause }, run }
    }

    fn is_control(&self) -> bool {
        self.truth.node.is_none()
    }
}

/// The labelled runs that can be judged, and how many cannot.
fn all_labelled() -> Option<(Vec<Labelled>, usize)> {
    let folder = logs()?.join("labelled/strace-minimr");
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let all: Vec<Labelled> = folders.iter().filter(|path| path.is_dir()).map(|path| Labelled::read(path)).collect();
    let (good, bad): (Vec<_>, Vec<_>) = all.into_iter().partition(|labelled| labelled.run.is_ok());
    let names: Vec<&str> = bad.iter().map(|labelled| labelled.name.as_str()).collect();
    assert!(names.iter().all(|name| name.contains("nowall")), "{names:?}");
    Some((good, names.len()))
}

/// What is usual according to these control runs.
fn profile_of<'r>(controls: impl IntoIterator<Item = &'r Run>) -> Profile {
    Profile::of(controls, Buckets::default(), DataFolders::default(), Matching::default())
}

/// What is usual according to all control runs but some.
fn profile_without(all: &[Labelled], left_out: &[usize]) -> Profile {
    let others = all.iter().enumerate().filter(|(at, run)| run.is_control() && !left_out.contains(at));
    profile_of(others.map(|(_, labelled)| labelled.run.as_ref().unwrap()))
}

fn rate(rates: &Rates, success: bool) -> String {
    let (count, interval) = if success {
        (rates.successes, rates.success().unwrap())
    } else {
        (rates.false_positives, rates.false_positive().unwrap())
    };
    format!("{count:>2}/{:<2} {:.2} ({:.2} to {:.2})", rates.runs, interval.value, interval.low, interval.high)
}

/// Tables 1 and 2 on the labelled runs, per fault and form; a control run is judged by the other control runs.
#[test]
fn labelled_runs_are_scored_as_the_paper_counts() {
    let Some((all, without_wall)) = all_labelled() else { return };
    assert_eq!(without_wall, 3, "processor time is refused");
    let mut rates: BTreeMap<(Method, String), Rates> = BTreeMap::new();
    for (at, labelled) in all.iter().enumerate() {
        let profile = profile_without(&all, &[at]);
        let folder = std::slice::from_ref(&labelled.folder);
        let run = read_run(folder, Purpose::Judge(&profile), &profile.read_settings(), &Unwatched).unwrap();
        for answer in diagnose(&run, &profile, &Method::ALL, &DiagnosisSettings::default()) {
            let worth = Worth::of(&answer, &labelled.truth);
            println!("{:<15} {:<20} {:?} {:?} {worth:?}", labelled.name, answer.method.name(), answer.nodes, answer.cause);
            let form = if run.form == Form::Calls { "-T -ttt" } else { "-c -w" };
            let faults = if labelled.is_control() { "no fault" } else { "all faults" };
            for row in [format!("{form} {}", labelled.fault), format!("{form} {faults}"), format!("both {faults}")] {
                rates.entry((answer.method, row)).or_default().add(worth);
            }
        }
    }
    for ((method, row), rates) in &rates {
        println!("{:<20} {row:<18} {}   {}", method.name(), rate(rates, true), rate(rates, false));
    }
    let of = |method, row: &str| {
        let rates = &rates[&(method, row.to_owned())];
        (rates.runs, rates.successes, rates.false_positives)
    };
    assert_eq!(of(Method::Improved, "both all faults"), (11, 11, 0));
    assert_eq!(of(Method::Improved, "both no fault"), (8, 0, 0));
    // the diagnoses as printed, as they are today
    assert_eq!(of(Method::Statistical, "both all faults"), (11, 3, 2));
    assert_eq!(of(Method::Semantic, "-T -ttt all faults"), (7, 3, 1));
}

/// The margins that a margin is chosen from.
const MARGINS: [f64; 10] = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5];

/// Each run is judged with the margin that is best for the other runs, and without it in any profile.
#[test]
fn a_margin_chosen_without_the_run_it_judges_is_as_good() {
    let Some((all, _)) = all_labelled() else { return };
    let judged = |at: usize, left_out: &[usize], margin: f64| {
        let profile = profile_without(&all, left_out);
        let settings = ImprovedSettings { margin, ..ImprovedSettings::default() };
        Worth::of(&improved(all[at].run.as_ref().unwrap(), &profile, &settings), &all[at].truth)
    };
    let (mut faults, mut controls, mut chosen) = (Rates::default(), Rates::default(), Vec::new());
    for left_out in 0..all.len() {
        let worths = MARGINS.map(|margin| (0..all.len()).map(|at| judged(at, &[at, left_out], margin)).collect::<Vec<_>>());
        let best = MARGINS[best_without(&worths, Some(left_out)).unwrap()];
        chosen.push(best);
        let worth = judged(left_out, &[left_out], best);
        if all[left_out].is_control() { controls.add(worth) } else { faults.add(worth) }
    }
    println!("margins {chosen:?}\nfaults {}   {}", rate(&faults, true), rate(&faults, false));
    println!("no fault {}", rate(&controls, false));
    let [success, false_positive] = [faults.success().unwrap().value, faults.false_positive().unwrap().value];
    assert!(success >= 0.88 && false_positive <= 0.13, "{success} {false_positive}");
    assert!(controls.false_positives <= 1, "{controls:?}");
    // with all runs, the margin chosen is the default
    let worths = MARGINS.map(|margin| (0..all.len()).map(|at| judged(at, &[at], margin)).collect::<Vec<_>>());
    assert!((MARGINS[best_without(&worths, None).unwrap()] - ImprovedSettings::default().margin).abs() < 1e-9);
}

/// A value is outside the range of k others of the same kind with probability 2 / (k + 1): it is the least or the greatest of all. Over
/// all ways to choose k control runs and one more, the share is exactly that where no two values are equal.
#[test]
fn more_control_runs_make_wider_ranges() {
    let Some((all, _)) = all_labelled() else { return };
    let controls: Vec<&Run> =
        all.iter().filter(|l| l.is_control()).map(|l| l.run.as_ref().unwrap()).filter(|run| run.form == Form::Calls).collect();
    assert!(controls.len() >= 5);
    for k in 1..controls.len() {
        let (mut outside, mut count) = (0_u32, 0_u32);
        for chosen in 0_u32..1 << controls.len() {
            if chosen.count_ones() as usize != k {
                continue;
            }
            let of = |inside: bool| controls.iter().enumerate().filter(move |(at, _)| (chosen >> at & 1 == 1) == inside);
            let profile = profile_of(of(true).map(|(_, run)| *run));
            for (_, run) in of(false) {
                for node in &run.nodes {
                    let range = profile.total(Form::Calls, &node.node, CallClass::Stat).unwrap();
                    outside += u32::from(range.excludes(node.total(CallClass::Stat)));
                    count += 1;
                }
            }
        }
        let share = f64::from(outside) / f64::from(count);
        println!("{k} control runs: {share:.3} of a further run's totals of stat are outside");
        assert!((share - 2.0 / (k as f64 + 1.0)).abs() < 1e-12, "{k}: {share}");
    }
}

/// Reads a made run, to learn from or to be judged.
fn made(run: MadeRun, profile: Option<&Profile>) -> Run {
    let settings = ReadSettings::default();
    let read = |(node, text): (String, String)| {
        let invocations = match profile {
            None => Invocations::Learn,
            Some(profile) => profile.extremes_of(&node).map_or(Invocations::Ignore, Invocations::Judge),
        };
        let calls = read_log_bytes(&node, &node, text.as_bytes(), invocations, &settings, &Unwatched).unwrap();
        assert!(calls.odd.is_empty(), "{:?}", calls.odd);
        calls
    };
    Run::of("made".to_owned(), run.logs().into_iter().map(read).collect(), Vec::new()).unwrap()
}

/// Tasks, control runs and judged runs of the made series.
const TASKS: usize = 40;
const CONTROLS: u32 = 8;
const RUNS: u32 = 60;

/// Rates of all methods over runs with this fault, on changing nodes.
fn made_rates(profile: &Profile, fault: Option<Fault>, first: u32) -> [Rates; 3] {
    let mut rates = [Rates::default(); 3];
    for run in first..first + RUNS {
        let node = run as usize % 4;
        let fault = fault.map(|fault| (node, fault));
        let seen = made(MadeRun { tasks: TASKS, run, fault, ..MadeRun::default() }, Some(profile));
        let cause = match fault {
            None => Cause::Unknown,
            Some((_, Fault::SlowDisk(_))) => Cause::Disk,
            Some((_, Fault::PacketLoss(_))) => Cause::Network,
        };
        let truth = Truth { node: fault.map(|_| format!("n{}", node + 1)), cause };
        let answers: Vec<Answer> = diagnose(&seen, profile, &Method::ALL, &DiagnosisSettings::default());
        rates.iter_mut().zip(&answers).for_each(|(rates, answer)| rates.add(Worth::of(answer, &truth)));
    }
    rates
}

/// P5.9: the more packets are lost, the more often the node is found; the same for slower disks.
#[test]
fn success_rises_with_the_fault() {
    let controls: Vec<Run> = (0..CONTROLS).map(|run| made(MadeRun { tasks: TASKS, run, ..MadeRun::default() }, None)).collect();
    let profile = profile_of(&controls);
    let mut first = 1000;
    let mut series = |faults: &[Option<Fault>]| -> Vec<[Rates; 3]> {
        let each = faults.iter().map(|fault| {
            first += RUNS;
            let rates = made_rates(&profile, *fault, first);
            for (method, rates) in Method::ALL.into_iter().zip(&rates) {
                println!("{:<22} {:<20} {}   {}", format!("{fault:?}"), method.name(), rate(rates, true), rate(rates, false));
            }
            rates
        });
        each.collect()
    };
    let losses = series(&[0.05, 0.2, 0.5].map(|share| Some(Fault::PacketLoss(share))));
    let disks = series(&[1.5, 3.0, 10.0].map(|factor| Some(Fault::SlowDisk(factor))));
    let none = series(&[None]);
    let successes = |series: &[[Rates; 3]], at: usize| series.iter().map(|rates| rates[at].successes).collect::<Vec<_>>();
    for (at, method) in Method::ALL.into_iter().enumerate() {
        for (name, series) in [("loss", &losses), ("disk", &disks)] {
            let found = successes(series, at);
            println!("{} {name} {found:?}", method.name());
        }
    }
    println!("{none:?}");
}
