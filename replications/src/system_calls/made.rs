//! Generated runs: logs of strace of a small cluster in which one node may have a slow disk or lose packets. The fault
//! of a run is known, so that rates of success over hundreds of runs can be measured.
//!
//! There are two ways to assign tasks. Tasks can wait in one queue and go to the slot that is free first, so that a
//! slow node gets fewer tasks. Or all nodes get tasks in turn, and so equally many. A task starts a program, looks for
//! libraries, opens data files, and connects to every node. A connection to or from the faulty node needs a packet in
//! each direction. If either packet is lost, the connection is tried again 1, 3, 7, 15, ... seconds after the first
//! try, as TCP does \[RFC6298\].

use std::fmt::Write as _;

use rand_core::Rng as _;

use tailspn::rng::Philox;

/// The fault of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The node's disk is slower by this factor, > 1.
    SlowDisk(f64),
    /// The node loses this share of packets in either direction, in (0, 1).
    PacketLoss(f64),
}

/// Which node gets a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dealing {
    /// A task goes to the node whose slot is free first, as in MapReduce. The default.
    #[default]
    Queue,
    /// Nodes get tasks in turn, so that a slow node gets as many as the others.
    Evenly,
}

/// A run to generate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MadeRun {
    /// Nodes, called `n1`, `n2` and so on, with addresses 10.0.0.1, 10.0.0.2 and so on; at most 250.
    pub nodes: usize,
    /// Tasks that a node runs at the same time.
    pub slots: usize,
    /// Tasks of the job.
    pub tasks: usize,
    /// Which node gets a task.
    pub dealing: Dealing,
    /// The faulty node, from 0, and its fault; `None` for a run without a fault.
    pub fault: Option<(usize, Fault)>,
    /// Seed of the whole series of runs.
    pub seed: u32,
    /// Number of the run in its series.
    pub run: u32,
}

impl Default for MadeRun {
    fn default() -> Self {
        Self { nodes: 4, slots: 2, tasks: 160, dealing: Dealing::Queue, fault: None, seed: 1, run: 0 }
    }
}

/// Mean time of a `stat` that has to read from the disk, in seconds.
const COLD_STAT_S: f64 = 0.002;
/// Mean time of a call that needs no disk access, in seconds.
const WARM_CALL_S: f64 = 8e-6;
/// Share of calls of `access` that read from the disk although a `stat` of the same file came before.
const COLD_ACCESS: f64 = 0.05;
/// Mean time of a connection without lost packets, mean time of a wait for a CPU, and share of connections with such a
/// wait.
const CONNECT_S: f64 = 1e-4;
const WAIT_S: f64 = 0.006;
const WAITS: f64 = 0.05;
/// Mean time of a program's start, and of a task's own work, in seconds.
const EXECVE_S: f64 = 0.0015;
const WORK_S: f64 = 0.05;
/// Numbers of data files and of libraries that a task opens.
const DATA_FILES: usize = 4;
const LIBRARIES: usize = 6;
/// Standard deviations of the logarithm of the load: between runs, and between the nodes of a run.
const RUN_SPREAD: f64 = 0.15;
const NODE_SPREAD: f64 = 0.1;
/// Longest call that takes one line, in seconds; the log splits a longer call into its start and its end, since lines
/// of other processes come in between.
const INTERRUPTED_S: f64 = 0.005;
/// Tries after which a connection fails.
const TRIES: u32 = 7;
/// Start of every run, in seconds since 1970.
const START_S: f64 = 1.7e9;

/// Random numbers of one run.
struct Draws(Philox);

impl Draws {
    /// Returns a number that is uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.uniform().ln()
    }

    /// Returns a lognormal number: exp of a normal variate with the given standard deviation, by Box and Muller's
    /// formula.
    fn lognormal(&mut self, spread: f64) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        (spread * radius * (std::f64::consts::TAU * self.uniform()).cos()).exp()
    }

    fn chance(&mut self, share: f64) -> bool {
        self.uniform() <= share
    }
}

/// A node while its log is generated.
struct Node {
    lines: Vec<(f64, String)>,
    arrivals: Vec<(f64, usize)>,
    free: Vec<f64>,
    disk: f64,
}

impl MadeRun {
    /// Returns the log of each node: the node's name, and the text of `strace -f -T -ttt`.
    pub fn logs(&self) -> Vec<(String, String)> {
        let mut draws = Draws(Philox::new(u64::from(self.seed) << 32 | u64::from(self.run)));
        let load = draws.lognormal(RUN_SPREAD);
        let count = self.nodes.clamp(1, 250);
        let mut nodes: Vec<Node> = (0..count).map(|at| self.node(at, load, &mut draws)).collect();
        for task in 0..self.tasks {
            let Some((node, slot, begin)) = self.next_slot(&nodes, task) else { break };
            let end = self.task(task, node, begin, &mut nodes, &mut draws);
            nodes[node].free[slot] = end;
        }
        nodes.into_iter().enumerate().map(|(at, node)| (format!("n{}", at + 1), text(at, node))).collect()
    }

    /// Returns the node, the slot and the start of a task.
    fn next_slot(&self, nodes: &[Node], task: usize) -> Option<(usize, usize, f64)> {
        let turn = task % nodes.len();
        let may = |node: &usize| self.dealing == Dealing::Queue || *node == turn;
        let slots = |at: usize| nodes[at].free.iter().enumerate().map(move |(slot, free)| (at, slot, *free));
        (0..nodes.len()).filter(may).flat_map(slots).min_by(|a, b| a.2.total_cmp(&b.2))
    }

    fn node(&self, at: usize, load: f64, draws: &mut Draws) -> Node {
        let slow = match self.fault {
            Some((node, Fault::SlowDisk(factor))) if node == at => factor,
            _ => 1.0,
        };
        let free = (0..self.slots.max(1)).map(|slot| 0.1 + 0.001 * slot as f64).collect();
        Node { lines: Vec::new(), arrivals: Vec::new(), free, disk: slow * load * draws.lognormal(NODE_SPREAD) }
    }

    /// Writes a task's calls and returns the task's end.
    fn task(&self, task: usize, at: usize, begin: f64, nodes: &mut [Node], draws: &mut Draws) -> f64 {
        let pid = 2000 + task;
        let mut now = begin;
        let call = |node: &mut Node, now: &mut f64, arguments: &str, result: &str, took: f64| {
            write_call(&mut node.lines, pid, *now, arguments, result, took);
            *now += took + 2e-5;
        };
        let own = &mut nodes[at];
        let took = draws.exponential(EXECVE_S);
        call(own, &mut now, "execve(\"/usr/bin/task\", [\"task\"], 0x7ffc12345678 /* 12 vars */", "0", took);
        for library in 0..LIBRARIES {
            let path = format!(
                "newfstatat(AT_FDCWD, \"/usr/lib/part{library}.so\", {{st_mode=S_IFREG|0644, st_size=4096, ...}}, 0"
            );
            call(own, &mut now, &path, "0", draws.exponential(WARM_CALL_S));
        }
        for file in 0..DATA_FILES {
            let path = format!("/data/n{}/block{}", at + 1, task * DATA_FILES + file);
            let took = draws.exponential(COLD_STAT_S * own.disk);
            let arguments = format!("newfstatat(AT_FDCWD, \"{path}\", {{st_mode=S_IFREG|0644, st_size=65536, ...}}, 0");
            call(own, &mut now, &arguments, "0", took);
            let mean = if draws.chance(COLD_ACCESS) { COLD_STAT_S * own.disk } else { WARM_CALL_S };
            call(own, &mut now, &format!("access(\"{path}\", R_OK"), "0", draws.exponential(mean));
        }
        for peer in 0..nodes.len() {
            let own = &mut nodes[at];
            let took = draws.exponential(WARM_CALL_S);
            call(own, &mut now, "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP", "3", took);
            let (took, made) = self.connect(at, peer, draws);
            let arguments = format!(
                "connect(3, {{sa_family=AF_INET, sin_port=htons(9100), sin_addr=inet_addr(\"10.0.0.{}\")}}, 16",
                peer + 1
            );
            let result = if made { "0" } else { "-1 ETIMEDOUT (Connection timed out)" };
            call(own, &mut now, &arguments, result, took);
            if made {
                nodes[peer].arrivals.push((now, at));
            }
        }
        now + draws.exponential(WORK_S)
    }

    /// Returns the duration of a connection attempt, and true if it succeeds.
    fn connect(&self, from: usize, to: usize, draws: &mut Draws) -> (f64, bool) {
        let wait = if draws.chance(WAITS) { draws.exponential(WAIT_S) } else { 0.0 };
        let base = draws.exponential(CONNECT_S) + wait;
        let lost = match self.fault {
            Some((node, Fault::PacketLoss(share))) if from != to && (from == node || to == node) => share,
            _ => return (base, true),
        };
        for attempt in 0..TRIES {
            // the request and its answer both have to arrive
            if !draws.chance(lost) && !draws.chance(lost) {
                return (f64::from((1_u32 << attempt) - 1) + base, true);
            }
        }
        (f64::from((1_u32 << TRIES) - 1), false)
    }
}

/// Writes a call in one line, or in two lines if it is long.
fn write_call(lines: &mut Vec<(f64, String)>, pid: usize, begin: f64, call: &str, result: &str, took: f64) {
    let at = START_S + begin;
    if took < INTERRUPTED_S {
        return lines.push((begin, format!("{pid} {at:.6} {call}) = {result} <{took:.6}>")));
    }
    let name = &call[..call.find('(').unwrap_or(call.len())];
    let end = begin + took;
    lines.push((begin, format!("{pid} {at:.6} {call} <unfinished ...>")));
    lines.push((end, format!("{pid} {:.6} <... {name} resumed>) = {result} <{took:.6}>", START_S + end)));
}

/// Returns the log of a node: the calls of its server and the calls of its tasks, in the order of time.
fn text(at: usize, mut node: Node) -> String {
    let pid = 1000;
    let mut lines = std::mem::take(&mut node.lines);
    let own = at + 1;
    write_call(&mut lines, pid, 0.0, "socket(AF_INET, SOCK_STREAM, IPPROTO_IP", "3", 1.2e-5);
    let bind = format!("bind(3, {{sa_family=AF_INET, sin_port=htons(9100), sin_addr=inet_addr(\"10.0.0.{own}\")}}, 16");
    write_call(&mut lines, pid, 1e-4, &bind, "0", 1e-5);
    node.arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ready = 2e-4;
    for (number, (arrival, from)) in node.arrivals.into_iter().enumerate() {
        let took = (arrival - ready).max(8e-6);
        let port = 40_000 + number % 20_000;
        let peer = from + 1;
        let accept = format!(
            "accept4(3, {{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr(\"10.0.0.{peer}\")}}, [16], SOCK_CLOEXEC"
        );
        write_call(&mut lines, pid, ready, &accept, "4", took);
        ready += took + 2e-5;
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().fold(String::new(), |mut text, (_, line)| {
        let _ = writeln!(text, "{line}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailspn::diagnose::syscalls::{Buckets, CallClass, Invocations, ReadSettings, read_log_bytes};
    use tailspn::watch::Unwatched;

    #[test]
    fn retransmissions_follow_the_steps_of_tcp() {
        let loss = 0.2;
        let (mut over, mut all) = ([0_u64; 3], 0_u64);
        for run in 0..30 {
            let made = MadeRun { tasks: 100, fault: Some((0, Fault::PacketLoss(loss))), run, ..MadeRun::default() };
            for (node, text) in made.logs() {
                let calls = read_log_bytes(
                    &node,
                    &node,
                    text.as_bytes(),
                    Invocations::Ignore,
                    &ReadSettings::default(),
                    &Unwatched,
                )
                .unwrap();
                let histogram = &calls.class(CallClass::Connect).histogram;
                let from = |seconds: f64| {
                    let first = bucket_from(&Buckets::default(), seconds);
                    (first..histogram.0.len()).map(|bucket| histogram.count(bucket)).sum::<u64>()
                };
                // connections of the faulty node to the other three, and of those to it
                all += calls
                    .peers
                    .iter()
                    .filter(|(to, _)| (node == "n1") != (to.as_str() == "10.0.0.1"))
                    .map(|(_, t)| t.calls)
                    .sum::<u64>();
                for (count, seconds) in over.iter_mut().zip([0.5, 2.0, 4.0]) {
                    *count += from(seconds);
                }
            }
        }
        let again = 1.0 - (1.0_f64 - loss).powi(2);
        for (at, count) in over.into_iter().enumerate() {
            let expected = again.powi(i32::try_from(at).unwrap() + 1);
            let error = (expected * (1.0 - expected) / all as f64).sqrt();
            let share = count as f64 / all as f64;
            assert!((share - expected).abs() < 5.0 * error, "step {at}: {share} of {all}, not {expected}");
        }
    }

    /// Returns the first interval that begins at or above a time.
    fn bucket_from(buckets: &Buckets, seconds: f64) -> usize {
        (0..).find(|bucket| buckets.end(*bucket) >= seconds).unwrap() + 1
    }
}
