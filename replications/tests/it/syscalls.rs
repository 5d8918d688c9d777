//! Diagnoses by system calls where the truth is known: labelled runs, scored as the paper scores, and runs made up.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tailspn::diagnose::Cause;
use tailspn::diagnose::syscalls::{
    Answer, Buckets, CallClass, DataFolders, DiagnosisSettings, Extremes, Form, ImprovedSettings, Invocations,
    Matching, Method, Profile, Purpose, ReadSettings, Run, SyscallError, diagnose, improved, read_log_bytes, read_run,
};
use tailspn::watch::Unwatched;
use tailspn_replications::system_calls::{Dealing, Fault, MadeRun, Rates, Truth, Worth, best_without};

use crate::shared::shared;

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
    let folder = shared("data/logs/labelled/strace-minimr")?;
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
    let mut several: Vec<(String, Vec<String>)> = Vec::new();
    for (at, labelled) in all.iter().enumerate() {
        let profile = profile_without(&all, &[at]);
        let folder = std::slice::from_ref(&labelled.folder);
        let run = read_run(folder, Purpose::Judge(&profile), &profile.read_settings(), &Unwatched).unwrap();
        for answer in diagnose(&run, &profile, &Method::ALL, &DiagnosisSettings::default()) {
            let worth = Worth::of(&answer, &labelled.truth);
            if answer.method == Method::Improved && answer.nodes.len() > 1 {
                several.push((labelled.name.clone(), answer.nodes.clone()));
            }
            println!(
                "{:<15} {:<20} {:?} {:?} {worth:?}",
                labelled.name,
                answer.method.name(),
                answer.nodes,
                answer.cause
            );
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
    // a healthy node beside the faulty one, which stands first
    let both = ["n3", "n1"].map(str::to_owned).to_vec();
    assert_eq!(several, ["c_disk_n3", "c_net5_n3"].map(|run| (run.to_owned(), both.clone())));
    // the diagnoses as printed, as they are today
    assert_eq!(of(Method::Statistical, "both all faults"), (11, 3, 2));
    assert_eq!(of(Method::Semantic, "-T -ttt all faults"), (7, 3, 1));
}

/// The labelled runs without their invocations, of which only the semantic diagnosis has need.
fn light_labelled() -> Option<Vec<Labelled>> {
    let (mut all, _) = all_labelled()?;
    for run in all.iter_mut().filter_map(|labelled| labelled.run.as_mut().ok()) {
        run.nodes.iter_mut().for_each(|node| node.extremes = Extremes::default());
    }
    Some(all)
}

/// The margins that a margin is chosen from.
const MARGINS: [f64; 10] = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5];

/// Each run is judged with the margin that is best for the other runs, and without it in any profile.
#[test]
fn a_margin_chosen_without_the_run_it_judges_is_as_good() {
    let Some(all) = light_labelled() else { return };
    // what each margin is worth for a run that some other run was kept from
    let judged = |at: usize, left_out: &[usize]| {
        let profile = profile_without(&all, left_out);
        MARGINS.map(|margin| {
            let settings = ImprovedSettings { margin, ..ImprovedSettings::default() };
            Worth::of(&improved(all[at].run.as_ref().unwrap(), &profile, &settings), &all[at].truth)
        })
    };
    let by_margin = |left_out: Option<usize>| {
        let each = (0..all.len()).map(|at| judged(at, &[at, left_out.unwrap_or(at)]));
        let each: Vec<[Worth; MARGINS.len()]> = each.collect();
        (0..MARGINS.len()).map(|margin| each.iter().map(|worths| worths[margin]).collect()).collect::<Vec<Vec<Worth>>>()
    };
    let (mut faults, mut controls, mut chosen) = (Rates::default(), Rates::default(), Vec::new());
    for (left_out, labelled) in all.iter().enumerate() {
        let best = best_without(&by_margin(Some(left_out)), Some(left_out)).unwrap();
        chosen.push(MARGINS[best]);
        let worth = judged(left_out, &[left_out])[best];
        if labelled.is_control() { controls.add(worth) } else { faults.add(worth) }
    }
    println!("margins {chosen:?}\nfaults {}   {}", rate(&faults, true), rate(&faults, false));
    println!("no fault {}", rate(&controls, false));
    let [success, false_positive] = [faults.success().unwrap().value, faults.false_positive().unwrap().value];
    assert!(success >= 0.88 && false_positive <= 0.13, "{success} {false_positive}");
    assert!(controls.false_positives <= 1, "{controls:?}");
    // with all runs, the margin chosen is the default
    let best = MARGINS[best_without(&by_margin(None), None).unwrap()];
    assert!((best - ImprovedSettings::default().margin).abs() < 1e-9, "{best}");
}

/// A value is outside the range of k others of the same kind with probability 2 / (k + 1): it is the least or the greatest of all. Over
/// all ways to choose k control runs and one more, the share is exactly that where no two values are equal.
#[test]
fn more_control_runs_make_wider_ranges() {
    let Some(all) = light_labelled() else { return };
    let of_form = |control: bool| {
        let runs = all.iter().filter(move |labelled| labelled.is_control() == control);
        runs.filter(|labelled| labelled.run.as_ref().unwrap().form == Form::Calls).collect::<Vec<&Labelled>>()
    };
    let (controls, faults) = (of_form(true), of_form(false));
    assert!(controls.len() >= 5 && faults.len() >= 7);
    for k in 1..controls.len() {
        let (mut outside, mut count) = (0_u32, 0_u32);
        let mut rates = [[Rates::default(); 2]; 2];
        for chosen in (0_u32..1 << controls.len()).filter(|chosen| chosen.count_ones() as usize == k) {
            let of =
                |inside: bool| controls.iter().enumerate().filter(move |(at, _)| (chosen >> at & 1 == 1) == inside);
            let profile = profile_of(of(true).map(|(_, control)| control.run.as_ref().unwrap()));
            for node in of(false).flat_map(|(_, control)| &control.run.as_ref().unwrap().nodes) {
                let range = profile.total(Form::Calls, &node.node, CallClass::Stat).unwrap();
                outside += u32::from(range.excludes(node.total(CallClass::Stat)));
                count += 1;
            }
            let judged = of(false).map(|(_, control)| (0, *control)).chain(faults.iter().map(|fault| (1, *fault)));
            for (kind, labelled) in judged {
                let methods = [Method::Statistical, Method::Improved];
                let answers =
                    diagnose(labelled.run.as_ref().unwrap(), &profile, &methods, &DiagnosisSettings::default());
                for (rates, answer) in rates.iter_mut().zip(&answers) {
                    rates[kind].add(Worth::of(answer, &labelled.truth));
                }
            }
        }
        let share = f64::from(outside) / f64::from(count);
        println!("{k} control runs: {share:.3} of a further run's totals of stat are outside");
        for (name, [without, with]) in ["statistical", "improved"].iter().zip(&rates) {
            println!(
                "  {name:<12} false alarms {}; success {}, false {}",
                rate(without, false),
                rate(with, true),
                rate(with, false)
            );
        }
        assert!((share - 2.0 / (k as f64 + 1.0)).abs() < 1e-12, "{k}: {share}");
    }
}

/// The first retransmission comes after a second. The share of connections to or from the faulty node that took at least half as long is
/// the share of packets lost in one direction, not in both: the loss was made where packets leave the node.
#[test]
fn labelled_losses_are_of_one_direction() {
    let Some(all) = light_labelled() else { return };
    let buckets = Buckets::default();
    let half_a_second = (0..).find(|bucket| buckets.end(*bucket) >= 0.5).unwrap() + 1;
    let mut seen = 0;
    for labelled in &all {
        let run = labelled.run.as_ref().unwrap();
        let Some(loss) = labelled.fault.strip_prefix("net").filter(|_| run.form == Form::Calls) else { continue };
        let loss = loss.parse::<f64>().unwrap() / 100.0;
        let faulty = labelled.truth.node.as_deref().unwrap();
        let address = &run.node(faulty).unwrap().addresses;
        let (mut slow, mut all) = (0, 0);
        for node in &run.nodes {
            let histogram = &node.class(CallClass::Connect).histogram;
            slow += (half_a_second..histogram.0.len()).map(|bucket| histogram.count(bucket)).sum::<u64>();
            let to = node.peers.iter().filter(|(peer, _)| node.node == faulty || address.contains(*peer));
            all += to.map(|(_, tally)| tally.calls).sum::<u64>();
        }
        let share = slow as f64 / all as f64;
        let error = (loss * (1.0 - loss) / all as f64).sqrt();
        println!(
            "{}: {slow} of {all} connections took half a second or longer: {share:.3}, loss {loss}",
            labelled.name
        );
        assert!((share - loss).abs() < 5.0 * error, "{}: {share}", labelled.name);
        let both = 1.0 - (1.0 - loss).powi(2);
        assert!(loss < 0.5 || both - share > 5.0 * error, "{}: {share} could be {both}", labelled.name);
        seen += 1;
    }
    assert!(seen >= 3);
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

/// Runs made up with the same dealing of tasks, and what is usual for them.
struct Series {
    base: MadeRun,
    profile: Profile,
    next: u32,
}

impl Series {
    fn new(dealing: Dealing) -> Self {
        let base = MadeRun { tasks: TASKS, dealing, ..MadeRun::default() };
        let controls: Vec<Run> = (0..CONTROLS).map(|run| made(MadeRun { run, ..base }, None)).collect();
        Self { base, profile: profile_of(&controls), next: 1000 }
    }

    /// Rates of all methods over runs with this fault, on changing nodes.
    fn rates(&mut self, fault: Option<Fault>) -> [Rates; 3] {
        let mut rates = [Rates::default(); 3];
        for run in self.next..self.next + RUNS {
            let node = run as usize % 4;
            let fault = fault.map(|fault| (node, fault));
            let seen = made(MadeRun { run, fault, ..self.base }, Some(&self.profile));
            let cause = match fault {
                None => Cause::Unknown,
                Some((_, Fault::SlowDisk(_))) => Cause::Disk,
                Some((_, Fault::PacketLoss(_))) => Cause::Network,
            };
            let truth = Truth { node: fault.map(|_| format!("n{}", node + 1)), cause };
            let answers: Vec<Answer> = diagnose(&seen, &self.profile, &Method::ALL, &DiagnosisSettings::default());
            rates.iter_mut().zip(&answers).for_each(|(rates, answer)| rates.add(Worth::of(answer, &truth)));
        }
        self.next += RUNS;
        for (method, rates) in Method::ALL.into_iter().zip(&rates) {
            let (success, false_positive) = (rate(rates, true), rate(rates, false));
            let what = format!("{:?} {fault:?}", self.base.dealing);
            println!("{what:<30} {:<20} {success}   {false_positive}", method.name());
        }
        rates
    }

    /// Successes of each method, for one fault after the other.
    fn successes<const N: usize>(&mut self, faults: [Fault; N]) -> [[u64; N]; 3] {
        let rates = faults.map(|fault| self.rates(Some(fault)));
        [0, 1, 2].map(|method| rates.map(|of| of[method].successes))
    }
}

fn rises(successes: &[u64]) -> bool {
    successes.windows(2).all(|pair| pair[0] <= pair[1]) && successes.first() < successes.last()
}

const LOSSES: [Fault; 3] = [Fault::PacketLoss(0.05), Fault::PacketLoss(0.2), Fault::PacketLoss(0.5)];
const DISKS: [Fault; 3] = [Fault::SlowDisk(1.5), Fault::SlowDisk(3.0), Fault::SlowDisk(10.0)];

/// P5.9: the more packets are lost, the more often the node is found; the same for slower disks.
#[test]
fn success_rises_with_the_fault() {
    let mut series = Series::new(Dealing::Queue);
    let [_, semantic, improved] = series.successes(LOSSES);
    assert!(semantic[0] < semantic[1].min(semantic[2]), "{semantic:?}");
    assert!(rises(&improved) && improved[0] >= 50, "{improved:?}");
    let [statistical, _, improved] = series.successes(DISKS);
    assert!(rises(&statistical), "{statistical:?}");
    assert!(rises(&improved) && improved[2] >= 58, "{improved:?}");
    let [.., improved] = series.rates(None);
    assert!(improved.false_positives <= 8, "{improved:?}");
}

/// Totals name the faulty node where tasks are dealt out evenly; out of a queue it gets fewer of them.
#[test]
fn totals_need_work_dealt_out_evenly() {
    let mut even = Series::new(Dealing::Evenly);
    let [statistical, semantic, improved] = even.successes(LOSSES);
    let [from_queue, ..] = Series::new(Dealing::Queue).successes([Fault::PacketLoss(0.5)]);
    assert!(rises(&statistical) && rises(&semantic) && rises(&improved), "{statistical:?} {semantic:?} {improved:?}");
    assert!(statistical[2] > 2 * from_queue[0], "{statistical:?} {from_queue:?}");
}
