//! One function for each reader of files that people bring: any bytes are read or refused, and nothing panics.
//!
//! The fuzz targets call them with bytes that libFuzzer makes up, `tests/it/readers.rs` with the seeds and with damaged copies of them.

use std::fs;

use tailspn::cluster::Plan as ClusterPlan;
use tailspn::diagnose::long_tail::{History, Model};
use tailspn::diagnose::samples::{SampleOptions, read_samples_from_bytes};
use tailspn::diagnose::syscalls::{Invocations, Profile, ReadSettings, read_log_bytes};
use tailspn::fit::{HadoopConf, fit_job, fit_stages, observe, observe_job, replay};
use tailspn::formats::greatspn::{read_net, read_project, write as write_greatspn};
use tailspn::formats::pipe::{ReadOptions, Target, WriteOptions, pipe_report, write_pnml};
use tailspn::formats::prism::prism;
use tailspn::formats::{jani, pipe, read_bytes};
use tailspn::mapreduce::Plan as JobPlan;
use tailspn::net::{Net, NetBuilder, Timing, differences};
use tailspn::optimize::OptimizePlan;
use tailspn::report::{Look, PageResult, Report as _, page, read_json, trace_report, trace_svg};
use tailspn::share::pieces_from_bytes;
use tailspn::solve::{CslQuery, Formula};
use tailspn::stages::StagePlan;
use tailspn::sweep::{self, SweepPlan};
use tailspn::trace;
use tailspn::trace::analysis::Usual;
use tailspn::watch::Unwatched;

/// A reader by the name of its fuzz target.
pub(crate) type Reader = fn(&[u8]);

/// All readers.
pub(crate) const READERS: [(&str, Reader); 14] = [
    ("read_greatspn", greatspn),
    ("read_hadoop_conf", hadoop_conf),
    ("read_jani", jani),
    ("read_pipe", pipe),
    ("read_plan", plan),
    ("read_profile", profile),
    ("read_progress", progress),
    ("read_query", query),
    ("read_result", result),
    ("read_samples", samples),
    ("read_shard", shard),
    ("read_strace", strace),
    ("read_sweep", sweep),
    ("read_trace", trace),
];

/// A project or a `.net` of GreatSPN, with the text after a byte 0 as its `.def` file; the net is written and read back, if it can be
/// written.
pub(crate) fn greatspn(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let file = parts.next().unwrap_or_default();
    let definitions = parts.next().map(|text| String::from_utf8_lossy(text).into_owned());
    let options = ReadOptions { definitions, ..ReadOptions::default() };
    for read in [read_project(file, &options), read_net(file, &options)].into_iter().flatten() {
        if let Ok(written) = write_greatspn(&read.net) {
            let again =
                read_project(written.xml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
            if written.warnings.is_empty() {
                assert_eq!(differences(&again.net, &read.net), []);
            }
        }
        let pnml = write_pnml(&read.net).xml;
        let again = read_bytes(pnml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
        assert_eq!(again.net, read.net);
    }
}

/// The configuration of a Hadoop job.
pub(crate) fn hadoop_conf(bytes: &[u8]) {
    let _ = HadoopConf::read(bytes);
}

/// A JANI model; its net is written, where it can be, and read again.
pub(crate) fn jani(bytes: &[u8]) {
    let constants = ["N", "T", "c", "n", "t"].map(|name| (name.to_owned(), 3.0)).to_vec();
    for constants in [constants, Vec::new()] {
        let Ok(model) = jani::read(bytes, &ReadOptions { constants, ..ReadOptions::default() }) else { continue };
        let _ = prism(&model.net, &[]);
        if let Ok(text) = jani::write(&model.net, &[]) {
            let again = jani::read(text.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
            assert_eq!(again.net.places().len(), model.net.places().len());
        }
    }
}

/// A PIPE net; it is written and read back as the same net.
pub(crate) fn pipe(bytes: &[u8]) {
    let Ok(first) = pipe::read(bytes, &ReadOptions::default()) else { return };
    let _ = pipe_report(&first.net);
    for target in [Target::Pipe4, Target::Pipe5] {
        let written = pipe::write(&first.net, &WriteOptions { target, ..WriteOptions::default() });
        let again = pipe::read(written.xml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
        assert_eq!(again.net, first.net);
    }
    let pnml = write_pnml(&first.net).xml;
    let again = pipe::read(pnml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
    assert_eq!(again.net, first.net);
}

/// Every kind of plan in TOML.
pub(crate) fn plan(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = JobPlan::from_toml(&text);
    let _ = StagePlan::from_toml(&text);
    let _ = ClusterPlan::from_toml(&text);
    let _ = SweepPlan::from_toml(&text);
    let _ = OptimizePlan::from_toml(&text);
    let _ = Model::from_toml(&text);
}

/// The profile of system calls of healthy runs.
pub(crate) fn profile(bytes: &[u8]) {
    let _ = Profile::parse(&String::from_utf8_lossy(bytes), "profile.toml");
}

/// Progress reports of a run.
pub(crate) fn progress(bytes: &[u8]) {
    let _ = History::from_reports(bytes, 0).replay();
}

/// Queries of CSL, formulas of CTL and expressions, a line each, over one net.
pub(crate) fn query(bytes: &[u8]) {
    let net = queue();
    for line in String::from_utf8_lossy(bytes).lines() {
        let _ = CslQuery::parse(&net, line);
        let _ = Formula::parse(&net, line);
        let _ = net.expression(line);
    }
}

/// A result of any kind as JSON; what is read is shown.
pub(crate) fn result(bytes: &[u8]) {
    if let Ok(found) = read_json(&String::from_utf8_lossy(bytes)) {
        let _ = page(&[PageResult { found, source: "result.json".to_owned(), plan: None, net: None }]);
    }
}

/// Records of sysstat.
pub(crate) fn samples(bytes: &[u8]) {
    let _ =
        read_samples_from_bytes("node.sadf", bytes, &SampleOptions { most_bytes: 1 << 20, ..SampleOptions::default() });
}

/// What a shard found.
pub(crate) fn shard(bytes: &[u8]) {
    let _ = pieces_from_bytes(bytes);
}

/// A log of strace.
pub(crate) fn strace(bytes: &[u8]) {
    for invocations in [Invocations::Ignore, Invocations::Learn] {
        let _ = read_log_bytes("n1", "n1.strace", bytes, invocations, &ReadSettings::default(), &Unwatched);
    }
}

/// The folder of a sweep: its header, then, after a byte 0, its first part.
pub(crate) fn sweep(bytes: &[u8]) {
    let folder = std::env::temp_dir().join(format!("tailspn-readers-{}", std::process::id()));
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    fs::create_dir_all(&folder).expect("a temporary folder can be made");
    for name in ["sweep.json", "part-000000.jsonl"] {
        fs::write(folder.join(name), next()).expect("a temporary file can be written");
    }
    let _ = sweep::read(&folder);
    let _ = fs::remove_dir_all(&folder);
}

/// A log of a job; what is said of it, a fit to it and its replay do not panic.
pub(crate) fn trace(bytes: &[u8]) {
    let options = trace::ReadOptions { most_attempts: 100_000, ..trace::ReadOptions::default() };
    let Ok(trace) = trace::read_bytes("log", bytes, &options, &Unwatched) else { return };
    let usual = Usual::default();
    let _ = trace_report(&trace, &usual).text(&Look::default());
    let _ = trace_svg(&trace, &usual);
    if let Ok(run) = observe(&trace, None) {
        let _ = fit_stages(&[run]);
    }
    if let Ok(job) = observe_job(&trace, None) {
        let _ = fit_job(&job, None, None, 0.95).map(|fitted| fitted.plan_text());
    }
    let _ = replay(&trace);
}

/// The net that queries are about.
fn queue() -> Net {
    let mut b = NetBuilder::new("queue");
    let (queue, done) = (b.place("queue", 3), b.place("done", 0));
    let serve = b.transition("serve", Timing::exponential(1.0));
    b.input(queue, serve, 1.0);
    b.output(serve, done, 1.0);
    b.build().expect("a net")
}
