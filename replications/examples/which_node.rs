//! Which node is at fault, told by its system calls? Five runs without a fault say what is usual; in a sixth, node n3 loses one packet in
//! five. Every node connects to n3 slowly then, so that the greatest total says little: the times between pairs of nodes tell.

use tailspn::diagnose::Cause;
use tailspn::diagnose::syscalls::{
    Buckets, DataFolders, DiagnosisSettings, Invocations, Matching, Method, Profile, ReadSettings, Run, SyscallError,
    diagnose, read_log_bytes,
};
use tailspn::report::{Look, Report as _, syscalls_report};
use tailspn::watch::Unwatched;
use tailspn_replications::system_calls::{Fault, MadeRun};

/// Makes the logs of a run up and reads them, to learn from or to be judged.
fn run(name: &str, made: MadeRun, profile: Option<&Profile>) -> Result<Run, SyscallError> {
    let mut nodes = Vec::new();
    for (node, text) in made.logs() {
        let invocations = match profile {
            None => Invocations::Learn,
            Some(profile) => profile.extremes_of(&node).map_or(Invocations::Ignore, Invocations::Judge),
        };
        nodes.push(read_log_bytes(&node, &node, text.as_bytes(), invocations, &ReadSettings::default(), &Unwatched)?);
    }
    Run::of(name.to_owned(), nodes, Vec::new())
}

fn main() -> Result<(), SyscallError> {
    let controls: Result<Vec<Run>, _> =
        (0..5).map(|number| run("control", MadeRun { run: number, ..MadeRun::default() }, None)).collect();
    let profile = Profile::of(&controls?, Buckets::default(), DataFolders::default(), Matching::default());

    let fault = Some((2, Fault::PacketLoss(0.2)));
    let slow = run("slow", MadeRun { run: 5, fault, ..MadeRun::default() }, Some(&profile))?;
    let answers = diagnose(&slow, &profile, &Method::ALL, &DiagnosisSettings::default());
    let improved = answers.last().map(|answer| (answer.nodes.clone(), answer.cause));
    print!("{}", syscalls_report(&slow, &profile, answers).text(&Look::default()));

    assert_eq!(improved, Some((vec!["n3".to_owned()], Some(Cause::Network))));
    Ok(())
}
