//! Phase logs: the reader, the fit, and the experiment on a real GPU and without one.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use tailspn::ask::EstimateJob as _;
use tailspn::fit::{LogHost, PhaseRun, fit_phases, observe_phases};
use tailspn::mapreduce::{LoggedJob, Plan};
use tailspn::plan::JobPlan;
use tailspn::subject::FileKind;
use tailspn::trace::{
    Format, JobTrace, Metric, Outcome, ReadOptions, StageKind, TaskKind, TraceError, WarningKind, read, read_bytes,
};
use tailspn::watch::Unwatched;

const SMALL: &str = include_str!("../data/trace/small.phases.csv");
const HEADER: &str = "kind,task,slot,phase,start_s,end_s,bytes";

fn parse(bytes: impl AsRef<[u8]>) -> Result<JobTrace, TraceError> {
    read_bytes("log", bytes.as_ref(), &ReadOptions::default(), &Unwatched)
}

fn messages(trace: &JobTrace) -> Vec<(WarningKind, u64, String)> {
    trace.warnings.iter().map(|warning| (warning.kind, warning.first.line, warning.example.clone())).collect()
}

/// The log has its columns in an order of its own, an unknown phase and an unknown column.
#[test]
fn a_small_phase_log_by_hand() {
    let trace = parse(SMALL).unwrap();
    assert_eq!(trace.format, Format::PhaseLog);
    let log = &trace.phase_log;
    assert_eq!((log.cores, log.permits, log.spans.len()), (Some(2.0), Some(1), 21));
    assert_eq!(
        (log.unknown_phases.as_slice(), log.unknown_columns.as_slice()),
        (&["warm".to_owned()][..], &["room".to_owned()][..])
    );
    let expected = [(WarningKind::UnknownPhase, 8, "warm"), (WarningKind::UnknownColumn, 0, "room")];
    let found = messages(&trace);
    assert_eq!(
        found.iter().map(|(kind, _, example)| (*kind, example.as_str())).collect::<Vec<_>>(),
        expected.map(|(kind, _, example)| (kind, example))
    );
    assert_eq!(found[0].1, 8);
    let kinds: Vec<_> = trace.stages.iter().map(|stage| (stage.kind, stage.tasks, stage.parents.clone())).collect();
    assert_eq!(kinds, [(StageKind::Map, Some(2), Some(vec![])), (StageKind::Reduce, Some(1), Some(vec![0]))]);
    let map = &trace.attempts()[0];
    assert_eq!((map.duration(), map.outcome, trace.executors.len()), (Some(4.0), Outcome::Success, 3));
    assert_eq!(trace.amount(map, Metric::InputBytes), Some(1 << 20));
    assert_eq!(trace.value(map, Metric::GpuHoldTime), Some(1.0));
    assert_eq!(trace.value(&trace.attempts()[1], Metric::GpuWaitTime), Some(0.75));
    let job = &trace.jobs[0];
    assert_eq!((job.submitted.unwrap().seconds(), job.completed.unwrap().seconds()), (0.0, 7.0));
}

#[test]
fn the_order_of_rows_and_compression_do_not_matter() {
    let straight = parse(SMALL).unwrap();
    let mut rows: Vec<&str> = SMALL.lines().collect();
    rows[1..].reverse();
    assert_eq!(parse(rows.join("\n") + "\n").unwrap().phase_log.spans, straight.phase_log.spans);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(SMALL.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    assert_eq!(parse(&packed).unwrap().phase_log.spans, straight.phase_log.spans);
    // half of the file
    let cut = parse(&packed[..packed.len() / 2]).unwrap();
    assert!(cut.phase_log.spans.len() < 21 && cut.warnings.iter().any(|warning| warning.kind == WarningKind::CutFile));
}

/// Each kind of bad row is skipped, and reported with its line.
#[test]
fn every_bad_row_is_reported_with_its_line() {
    let good = "map,0,0,read,0.5,1.0,7";
    for (row, problem) in [
        ("maps,1,1,read,1,2,", "`kind` is `maps`; it must be map, reduce or slot"),
        ("map,-1,1,read,1,2,", "`task` is `-1`; it must be a whole number"),
        ("map,1,x,read,1,2,", "`slot` is `x`; it must be a whole number"),
        ("map,1,1,,1,2,", "`phase` is empty"),
        ("map,1,1,read,one,2,", "`start_s` is `one`; it must be seconds since the start of the job, 0 to 1e9"),
        ("map,1,1,read,1,NaN,", "`end_s` is `NaN`; it must be seconds since the start of the job, 0 to 1e9"),
        ("map,1,1,read,1,-2,", "`end_s` is `-2`; it must be seconds since the start of the job, 0 to 1e9"),
        ("map,1,1,read,2,1,", "`end_s` 1 is before `start_s` 2"),
        ("map,1,1,read,1,2,1.5", "`bytes` is `1.5`; it must be a whole number, or empty"),
        ("map,1,1,read,1,2", "6 cells; the header has 7"),
        ("map,1,1,read,1,2,,", "8 cells; the header has 7"),
        ("map,0,0,cpu,0.75,2,", "phase `cpu` overlaps with phase `read` of its task"),
        ("map,0,1,cpu,1,2,", "the task is on slot 0, not 1"),
    ] {
        let trace = parse(format!("{HEADER}\n{good}\n{row}\n")).unwrap();
        assert_eq!(messages(&trace), [(WarningKind::BadRow, 3, problem.to_owned())], "{row}");
        assert_eq!(trace.phase_log.spans.len(), 1, "{row}");
    }
    let two = parse(format!("{HEADER}\nx\n{good}\ny\n")).unwrap();
    assert_eq!(two.warnings.iter().map(|warning| warning.first.line).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn a_log_without_a_column_or_without_rows_is_refused() {
    let header = parse("kind,task,phase,start_s,end_s\n").unwrap_err().to_string();
    assert_eq!(header, "`log`:1: the header lacks the column `slot`");
    let twice = parse("kind,task,slot,phase,start_s,end_s,slot\n").unwrap_err().to_string();
    assert_eq!(twice, "`log`:1: the header has the column `slot` twice");
    let empty = parse(format!("{HEADER}\nx\n")).unwrap_err().to_string();
    assert!(empty.contains("starts like a phase log") && empty.contains("line 2"), "{empty}");
}

/// A log that is being written: its last line is cut, and map 1 has not ended.
#[test]
fn a_task_without_its_last_phase_has_not_ended() {
    let text = format!("{HEADER}\nmap,0,0,read,0,1,4\nmap,0,0,spill,1,2,4\nmap,1,1,read,0,2,4\nmap,1,1,spi");
    let trace = parse(text).unwrap();
    let outcomes: Vec<Outcome> = trace.attempts().iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Success, Outcome::Unfinished]);
    assert!(trace.jobs[0].completed.is_none());
    assert!(trace.warnings.iter().any(|warning| warning.kind == WarningKind::CutLastLine));
    let error = observe_phases(&trace, LogHost::default(), None).unwrap_err().to_string();
    assert_eq!(error, "log: the job has not ended");
}

#[test]
fn a_column_of_jobs_separates_them() {
    let text = "job,kind,task,slot,phase,start_s,end_s\na,map,0,0,read,0,1\nb,map,0,0,read,0,3\n";
    let trace = parse(text).unwrap();
    assert_eq!(trace.applications.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let options = ReadOptions { application: Some("b".into()), ..ReadOptions::default() };
    let b = read_bytes("log", text.as_bytes(), &options, &Unwatched).unwrap();
    assert_eq!((b.phase_log.spans.len(), b.phase_log.spans[0].end_s), (1, 3.0));
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gpu-mapreduce").join(name)
}

/// The settings and the time of a job.
struct Real {
    name: String,
    workload: String,
    shape: (u64, u64, u64, u64),
    cores: f64,
    job_s: f64,
}

fn real_jobs(name: &str) -> Vec<Real> {
    let text = std::fs::read_to_string(folder(name).join("jobs.jsonl")).unwrap();
    let job = |line: &str| {
        let job: serde_json::Value = serde_json::from_str(line).unwrap();
        let count = |key: &str| job[key].as_u64().unwrap();
        Real {
            name: job["name"].as_str().unwrap().to_owned(),
            workload: job["workload"].as_str().unwrap().to_owned(),
            shape: (count("maps"), count("split_mb"), count("slots"), count("permits")),
            cores: job["cores"].as_f64().unwrap(),
            job_s: job["job_s"].as_f64().unwrap(),
        }
    };
    text.lines().map(job).collect()
}

fn observed(folder_name: &str, job: &Real) -> PhaseRun {
    let path = folder(folder_name).join(format!("{}.csv.gz", job.name));
    assert_eq!(FileKind::of(&path), Some(FileKind::Log(Format::PhaseLog)));
    let trace = read(&path, &ReadOptions::default(), &Unwatched).unwrap();
    assert!(trace.warnings.is_empty(), "{}: {:?}", job.name, trace.warnings);
    let host = LogHost { cores: Some(job.cores), permits: Some(job.shape.3) };
    observe_phases(&trace, host, None).unwrap()
}

/// Start, end and name of a phase.
type Phase = (f64, f64, String);

/// The mean time of a phase over all maps but the first of each slot, in the text of a log, with the gap before the task in its first phase.
fn mean_of_later_maps(path: &Path, phase: &str) -> (f64, f64) {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut tasks: BTreeMap<(u32, u32), Vec<Phase>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("map")) {
        let cells: Vec<&str> = line.split(',').collect();
        let time = |cell: &str| cell.parse::<f64>().unwrap();
        let of_task = tasks.entry((cells[2].parse().unwrap(), cells[1].parse().unwrap())).or_default();
        of_task.push((time(cells[4]), time(cells[5]), cells[3].to_owned()));
    }
    // maps start in the order of their numbers, also on each slot
    let tasks: Vec<_> = tasks.into_iter().collect();
    let (mut sum, mut count) = (0.0, 0.0);
    for pair in tasks.windows(2).filter(|pair| pair[0].0.0 == pair[1].0.0) {
        let (start, end, _) = pair[1].1.iter().find(|(.., name)| name == phase).unwrap();
        let from = if phase == "read" { pair[0].1.last().unwrap().1 } else { *start };
        sum += end - from;
        count += 1.0;
    }
    (sum / count, count)
}

/// On 16 cores with one permit, nothing slows down a phase, so the fit has to find the means of the log at both sizes.
#[test]
fn a_fit_of_two_sizes_has_the_means_of_the_logs() {
    let jobs = real_jobs("h200");
    for workload in ["kmeans", "stereo"] {
        let pair: Vec<&Real> = [(16, 32, 4, 1), (16, 64, 4, 1)]
            .map(|shape| jobs.iter().find(|job| job.workload == workload && job.shape == shape).unwrap())
            .to_vec();
        let runs: Vec<PhaseRun> = pair.iter().map(|job| observed("h200", job)).collect();
        let plan = fit_phases(&runs, 0.95).unwrap().fitted.plan;
        let by_size = plan.phases.as_ref().unwrap().by_size.as_ref().unwrap();
        let phases = [
            ("read", &by_size.read),
            ("cpu", &by_size.map),
            ("to_gpu", &by_size.to_gpu),
            ("gpu", &by_size.gpu),
            ("to_host", &by_size.to_host),
            ("spill", &by_size.spill),
        ];
        for (job, mb) in pair.iter().zip([32.0, 64.0]) {
            for (name, phase) in phases {
                let path = folder("h200").join(format!("{}.csv.gz", job.name));
                let (exact, count) = mean_of_later_maps(&path, name);
                assert!(count > 10.0);
                let found = phase.later.at(mb);
                assert!((found / exact - 1.0).abs() < 1e-3, "{} {name}: {found}, log {exact}", job.name);
            }
        }
        // the output of K-means is 8 bytes for each point of 32 bytes
        if workload == "kmeans" {
            assert!((by_size.shuffled_per_mb - 0.25).abs() < 1e-3, "{}", by_size.shuffled_per_mb);
        }
        assert_eq!((plan.cluster.node[0].map_slots, plan.cluster.node[0].reduce_slots), (4, 2));
    }
}

#[test]
fn permits_are_inferred_from_waits() {
    let jobs = real_jobs("h200");
    for job in jobs.iter().filter(|job| job.shape.2 >= 4 && job.shape.0 >= 16) {
        let path = folder("h200").join(format!("{}.csv.gz", job.name));
        let trace = read(&path, &ReadOptions::default(), &Unwatched).unwrap();
        let found = observe_phases(&trace, LogHost::default(), None).unwrap();
        assert_eq!((found.permits, found.permits_are_inferred), (Some(job.shape.3), true), "{}", job.name);
        let slots = trace.phase_log.spans.iter().filter(|span| span.kind == TaskKind::Slot).count() as u64;
        assert_eq!((found.map_slots, found.map_slots + found.reduce_slots), (job.shape.2, slots), "{}", job.name);
    }
}

/// A plan with measured phases is written and read without loss.
#[test]
fn a_fitted_plan_is_read_again() {
    let jobs = real_jobs("cpu");
    let runs: Vec<PhaseRun> = jobs.iter().take(2).map(|job| observed("cpu", job)).collect();
    let fitted = fit_phases(&runs[..1], 0.95).unwrap().fitted;
    let again = Plan::from_toml(&fitted.plan_text().unwrap()).unwrap();
    assert_eq!(again.phases, fitted.plan.phases);
    assert_eq!((again.cluster, again.proof), (fitted.plan.cluster, fitted.plan.proof));
}

/// Relative errors of the predictions of all jobs but the calibration jobs, sorted by size.
fn errors(folder_name: &str) -> Vec<f64> {
    let jobs = real_jobs(folder_name);
    let is_small = |job: &&Real| [(4, 32, 4, 1), (8, 32, 4, 1), (16, 64, 4, 1), (16, 32, 4, 0)].contains(&job.shape);
    let mut errors = Vec::new();
    for workload in ["kmeans", "stereo"] {
        let of = || jobs.iter().filter(|job| job.workload == workload);
        let runs: Vec<PhaseRun> = of().filter(is_small).map(|job| observed(folder_name, job)).collect();
        let plan = fit_phases(&runs, 0.95).unwrap().fitted.plan;
        for job in of().filter(|job| !is_small(job)) {
            let (maps, split_mb, slots, permits) = job.shape;
            let at = LoggedJob {
                input_mb: (maps * split_mb) as f64,
                split_mb: split_mb as f64,
                reduces: 4,
                map_slots: Some(slots),
                gpu_permits: Some(permits),
                ..plan.proof[0].clone()
            };
            let found =
                JobPlan::MapReduce(Box::new(plan.at_job(&at))).estimation().replications(100).seed(1).run().unwrap();
            errors.push((found.quantile(0.5).value / job.job_s - 1.0).abs());
        }
    }
    errors.sort_by(f64::total_cmp);
    errors
}

/// Greatest median and greatest single error of the experiment: what it has, and a little more for other random numbers.
const CPU: (f64, f64) = (0.055, 0.18);
const H200: (f64, f64) = (0.064, 0.165);

/// The experiment of docs/replications/spn-gc.md. Mutations that fail: no sharing of cores, the GPU without sharing, first tasks like later ones.
#[test]
fn predictions_of_real_jobs_are_as_good_as_published() {
    for (folder_name, count, median, largest) in [("cpu", 56, CPU.0, CPU.1), ("h200", 34, H200.0, H200.1)] {
        let errors = errors(folder_name);
        assert_eq!(errors.len(), count);
        let found = (0.5 * (errors[count / 2 - 1] + errors[count / 2]), errors[count - 1]);
        assert!(found.0 < median && found.1 < largest, "{folder_name}: median {:.4}, largest {:.4}", found.0, found.1);
    }
}
