//! Diagnoses by system calls where the truth is known: labelled runs, scored as the paper scores, and runs made up.

use std::path::Path;

use serde_json::Value;
use tailspn::diagnose::Cause;
use tailspn::diagnose::syscalls::{
    Answer, DiagnosisSettings, Form, ImprovedSettings, Method, Profile, Purpose, Rates, ReadSettings, Run,
    SyscallError, Truth, Worth, best_without, diagnose, read_run,
};
use tailspn::watch::Unwatched;

use crate::strace::logs;

/// A labelled run.
struct Labelled {
    name: String,
    folder: String,
    fault: String,
    truth: Truth,
    /// Read as a control run.
    learnt: Option<Run>,
}

fn labelled(folder: &Path) -> Labelled {
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
    let learnt = node.is_none().then(|| learn(&folder)).and_then(Result::ok);
    Labelled { name, folder, fault, truth: Truth { node, cause }, learnt }
}

fn learn(folder: &str) -> Result<Run, SyscallError> {
    read_run(&[folder.to_owned()], Purpose::Learn, &ReadSettings::default(), &Unwatched)
}

fn all_labelled() -> Option<Vec<Labelled>> {
    let folder = logs()?.join("labelled/strace-minimr");
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    Some(folders.iter().filter(|path| path.is_dir()).map(|path| labelled(path)).collect())
}

/// What is usual according to all control runs but one.
fn profile_without(all: &[Labelled], left_out: &str) -> Profile {
    let settings = ReadSettings::default();
    let controls = all.iter().filter(|run| run.name != left_out).filter_map(|run| run.learnt.as_ref());
    Profile::of(controls, settings.buckets, settings.data, settings.matching)
}

fn judged(run: &Labelled, profile: &Profile) -> Result<Run, SyscallError> {
    read_run(std::slice::from_ref(&run.folder), Purpose::Judge(profile), &profile.read_settings(), &Unwatched)
}

fn answers(run: &Run, profile: &Profile) -> Vec<Answer> {
    diagnose(run, profile, &Method::ALL, &DiagnosisSettings::default())
}

#[test]
fn labelled_runs_are_scored_as_the_paper_counts() {
    let Some(all) = all_labelled() else { return };
    for run in &all {
        let profile = profile_without(&all, &run.name);
        let seen = match judged(run, &profile) {
            Ok(seen) => seen,
            Err(error) => {
                println!("{:<18} {error}", run.name);
                continue;
            }
        };
        for answer in answers(&seen, &profile) {
            let worth = Worth::of(&answer, &run.truth);
            println!(
                "{:<18} {:?} {:<12} {:?} {:?} success {} fp {} {:?}",
                run.name,
                run.truth.node,
                answer.method.name(),
                answer.nodes,
                answer.cause,
                worth.success,
                worth.false_positive,
                answer.findings.iter().map(|f| (f.score, f.threshold)).collect::<Vec<_>>()
            );
        }
    }
}
