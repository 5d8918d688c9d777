//! Ctrl-C and SIGTERM at any moment of any command that may take long: it ends at once, with what it has, and says so by its exit code.

#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cli::tool;
use crate::shared::shared;

/// A command that hangs for so long after a signal has not heard it; machines may be slow.
const HANGS: Duration = Duration::from_secs(20);

/// The most time that a command may still compute after a signal, on each core \[s\]. Other programs of a busy machine do not count.
const REACTION: f64 = 1.0;

/// A command may still be reading its arguments and files.
const AT_START: Duration = Duration::from_millis(700);

const SWEEP: &str = r#"
[sweep]
design = "each"
replications = 100000000
max_points = 1000

[[axis]]
key = "job.reduces"
from = 20
to = 80
whole = true
"#;

const OPTIMIZE: &str = r#"
[sweep]
replications = 100000000
max_points = 1000

[optimize]
measure = "p95"
deadline_s = 125
max_replications = 100000000

[[axis]]
key = "cluster.node[0].count"
values = [4, 8, 12, 16]
faster = "up"

[[axis]]
key = "model.slots"
values = [true]
"#;

/// Many tasks in two stages.
const STAGES: &str = r#"
[job]
input_mb = 64
executors = 20
cores = 4
[run]
sigma = 0
degrees_of_freedom = 4
runs = 1
[[stage]]
tasks = { fixed = 5000 }
cold = { fixed_s = 3 }
warm = { fixed_s = 2 }
distribution = { lognormal = { cv = 0.5 } }
[[stage]]
after = [0]
tasks = { fixed = 2000 }
cold = { fixed_s = 3 }
warm = { fixed_s = 2 }
"#;

/// Queues with hardly any drift and 501 states each: with two of them, a steady state takes many sweeps, and an end many jumps; with
/// three, there are 126 million states.
fn long_queues(queues: &[&str]) -> String {
    let queue = |q: &str| {
        format!(
            r#"<place id="{q}"><initialMarking><value>250</value></initialMarking><capacity><value>500</value></capacity></place>{}{}{}{}"#,
            transition(&format!("come{q}"), "1.0"),
            transition(&format!("go{q}"), "1.000001"),
            arc(&format!("come{q}"), q),
            arc(q, &format!("go{q}")),
        )
    };
    let queues: String = queues.iter().map(|name| queue(name)).collect();
    format!(r#"<?xml version="1.0"?><pnml><net id="n" type="P/T net">{queues}</net></pnml>"#)
}

fn transition(id: &str, rate: &str) -> String {
    format!(
        r#"<transition id="{id}"><rate><value>{rate}</value></rate><timed><value>true</value></timed></transition>"#
    )
}

fn arc(from: &str, to: &str) -> String {
    format!(r#"<arc id="{from}-{to}" source="{from}" target="{to}"><inscription><value>1</value></inscription></arc>"#)
}

/// Commands that would take minutes or hours, in a folder with their files.
fn commands(folder: &Path) -> Vec<Vec<String>> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (queues, sweep, optimize) =
        (write("queues.xml", &long_queues(&["p", "q"])), write("sweep.toml", SWEEP), write("optimize.toml", OPTIMIZE));
    let stages = write("stages.toml", STAGES);
    let many = write("many.xml", &long_queues(&["p", "q", "r"]));
    let far = shared("data/regressions");
    let far = far.map(|folder| format!("whatif {} --json", folder.join("far-launch-time.spark.gz").display()));
    let lines = [
        "net simulate models/textbook/kanban.xml --horizon 1e9 --reps 4 --json".to_owned(),
        "net simulate models/textbook/mm1k.xml --horizon 1e4 --tokens --reps 1e12 --json".to_owned(),
        "net simulate models/textbook/mm1k.xml --until #(queue)>=8 --reps 1e12 --json".to_owned(),
        "net simulate models/textbook/mm1k.xml --steady --tokens --steady-firings 1e12 --json".to_owned(),
        format!("net simulate {queues} --method exact --steady --tokens --json"),
        format!("net solve {queues} --steady --json"),
        format!("net solve {queues} --at 50000 --json"),
        format!("net solve {queues} --until #(q)=0 --json"),
        format!("net solve {many} --json"),
        format!("net solve {many} --untimed --json"),
        format!("net query {queues} S=?[#(p)>3] --json"),
        format!("net query {queues} P=?[F<=50000#(q)=0] --json"),
        format!("net rare {queues} --until #(q)>=499 --avoid #(q)=0 --effort 16000000 --json"),
        "estimate --demo --reps 1e12 --json".to_owned(),
        format!("estimate {stages} --reps 1e12 --json"),
        format!("estimate {stages} --speculation spark4 --reps 1e12 --json"),
        format!("estimate {stages} --executors 1..2000 --reps 1e5 --json"),
        "whatif models/cluster/phan-c2.toml --reps 1e12 --json".to_owned(),
        "whatif models/tutorial/job.toml --reps 1e12 --json".to_owned(),
        format!("study {sweep} --json"),
        format!("study {optimize} --json"),
        format!("study {stages} --deadline 200s --price 0.3/executor-hour --json"),
        format!("study {sweep} --method derivatives --reps 1e8 --json"),
        format!("study {sweep} --method each --reps 1e8 --json"),
        format!("study {sweep} --method morris --reps 1e8 --json"),
        format!("study {sweep} --method sobol --reps 1e8 --json"),
        format!("net spn-gc --maps 1000000 --save-net {}", folder.join("large.xml").display()),
    ];
    lines.into_iter().chain(far).map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn start(args: &[String]) -> Child {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    tool(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool runs")
}

/// The time that a process has computed \[s\], where the system shows it.
fn computed(id: &str) -> Option<f64> {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // the name of the command stands in brackets and may hold spaces; of the rest, the 12th and the 13th are ticks of 10 ms
    let ticks = line.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    Some(ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

/// Output of a process that ended by a signal, and the time that it still computed \[s\].
struct Ended {
    output: Output,
    reaction: f64,
}

/// Ends the process after some time; gives what it wrote, or none if it had to be killed.
fn ended(mut child: Child, signal: &str, after: Duration) -> Option<Ended> {
    std::thread::sleep(after);
    let id = child.id().to_string();
    let (before, mut reaction) = (computed(&id), 0.0);
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    let reader = std::thread::spawn({
        let mut stdout = child.stdout.take().unwrap();
        move || {
            let mut all = Vec::new();
            std::io::Read::read_to_end(&mut stdout, &mut all).map(|_| all)
        }
    });
    let told = Instant::now();
    while told.elapsed() < HANGS {
        if let (Some(now), Some(before)) = (computed(&id), before) {
            reaction = now - before;
        }
        if let Some(status) = child.try_wait().unwrap() {
            let stdout = reader.join().unwrap().unwrap();
            let mut stderr = Vec::new();
            std::io::Read::read_to_end(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
            return Some(Ended { output: Output { status, stdout, stderr }, reaction });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    None
}

/// The fault in the end of a command.
fn fault(Ended { output, reaction }: &Ended, signal: &str, after: Duration) -> Option<String> {
    let (number, code) = if signal == "-INT" { (2, 130) } else { (15, 143) };
    // before there is anything to keep, the signal itself ends the process
    if output.status.signal() == Some(number) && after < AT_START {
        return None;
    }
    if output.status.code() != Some(code) {
        return Some(format!("{} in place of {code}", output.status));
    }
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    if *reaction > REACTION * cores {
        return Some(format!("still computed {reaction} s"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    if text.is_empty() {
        // the reason why there is no result yet
        return output.stderr.is_empty().then(|| "neither a result nor a message".to_owned());
    }
    let results: Result<Vec<serde_json::Value>, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
    match results {
        Ok(results) if results.last().is_some_and(|result| result["partial"] == true) => None,
        Ok(_) => Some(format!("the result is not marked as partial: {text}")),
        Err(error) => Some(format!("stdout is no JSON, {error}: {text}")),
    }
}

/// Describes the fault of a command that a signal ends after some time; none if there is no fault.
fn complaint(args: &[String], signal: &str, after: Duration) -> Option<String> {
    let Some(ended) = ended(start(args), signal, after) else {
        return Some(format!("{signal} after {after:?} does not end {args:?}"));
    };
    let stderr = String::from_utf8_lossy(&ended.output.stderr);
    fault(&ended, signal, after).map(|fault| format!("{signal} after {after:?}, {args:?}: {fault}\n{stderr}"))
}

/// Moments from the very start to some time into the work. Most of a run is waiting, so several run at once.
#[test]
fn every_long_command_ends_at_once_by_ctrl_c_and_by_sigterm() {
    const AT_ONCE: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let all = commands(folder.path());
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let own = files();
    // spread over the commands, the same in each run; SIGTERM once every command listens
    let after = |number: u64, from: u64| Duration::from_millis(from + 7 * number % 13 * 100);
    let runs: Vec<_> = (0..)
        .zip(&all)
        .flat_map(|(number, args)| {
            [("-INT", 50), ("-TERM", 1250)].map(|(signal, from)| (args, signal, after(number, from)))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let own = || runs.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(own).filter_map(|(args, signal, after)| complaint(args, signal, *after)).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(files(), own, "files are left behind");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
