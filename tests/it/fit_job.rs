//! Job plans from histories of MapReduce: a synthetic history with known rates and times, and real ones compared with
//! their own sums.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use tailspn::fit::{FitError, FittedJob, HadoopConf, ONE_JOB, ObservedJob, fit_job, fit_jobs, observe_job};
use tailspn::job_time::add_residuals;
use tailspn::mapreduce::{Plan, phase_times, spn_gc};
use tailspn::trace::{JobTrace, ReadOptions, read, read_bytes};
use tailspn::watch::Unwatched;

use crate::shared::shared;

const MB: f64 = 1_048_576.0;
/// The made job: maps of 64 MB, which wait 1.6 s for them, compute 3 s, and spill 32 MB in 0.5 s.
const MAPS: u32 = 20;
/// Reduces that begin after the last map, fetch 160 MB in 4 s, sort for 2 s and work for 6.
const REDUCES: u32 = 4;

/// A history in the format of Hadoop 2, one wave of maps, then the reduces.
fn made() -> String {
    let mut text = "Avro-Json\n{}\n".to_owned();
    let mut event = |kind: &str, name: &str, body: &str| {
        let space = "org.apache.hadoop.mapreduce.jobhistory";
        let _ = writeln!(text, "{{\"type\":\"{kind}\",\"event\":{{\"{space}.{name}\":{{{body}}}}}}}");
    };
    let counters = |counts: &[(&str, f64)]| {
        let count =
            |(name, value): &(&str, f64)| format!("{{\"name\":\"{name}\",\"displayName\":\"x\",\"value\":{value:.0}}}");
        let counts: Vec<String> = counts.iter().map(count).collect();
        format!(
            "{{\"name\":\"C\",\"groups\":[{{\"name\":\"g\",\"displayName\":\"g\",\"counts\":[{}]}}]}}",
            counts.join(",")
        )
    };
    event(
        "JOB_SUBMITTED",
        "JobSubmitted",
        "\"jobid\":\"job_1_0001\",\"jobName\":\"made\",\"userName\":\"u\",\"submitTime\":1000",
    );
    let ids = |kind: &str, task: u32| {
        format!("\"taskid\":\"task_1_0001_{kind}_{task:06}\",\"attemptId\":\"attempt_1_0001_{kind}_{task:06}_0\"")
    };
    for (kind, word, tasks, start, node) in [("m", "MAP", MAPS, 6_000, 5), ("r", "REDUCE", REDUCES, 12_000, 1)] {
        for task in 0..tasks {
            let body = format!(
                "{},\"taskType\":\"{word}\",\"startTime\":{start},\"trackerName\":\"n{}\"",
                ids(kind, task),
                task / node
            );
            event(&format!("{word}_ATTEMPT_STARTED"), "TaskAttemptStarted", &body);
        }
    }
    for task in 0..MAPS {
        // map phases of 4.5 and 4.7 s in turn
        let end = 6_000 + 4_500 + 200 * (task % 2);
        let cpu = 2_900.0 + 200.0 * f64::from(task % 2);
        let counts = [
            ("HDFS_BYTES_READ", 64.0 * MB),
            ("MAP_OUTPUT_BYTES", 40.0 * MB),
            ("SPILLED_RECORDS", 1_000.0),
            ("FILE_BYTES_WRITTEN", 32.0 * MB),
            ("CPU_MILLISECONDS", cpu),
        ];
        let body = format!(
            "{},\"taskType\":\"MAP\",\"taskStatus\":\"SUCCEEDED\",\"mapFinishTime\":{end},\"finishTime\":{},\"hostname\":\"n{}\",\"counters\":{}",
            ids("m", task),
            end + 500,
            task / 5,
            counters(&counts)
        );
        event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", &body);
    }
    for task in 0..REDUCES {
        let counts = [("REDUCE_SHUFFLE_BYTES", 160.0 * MB), ("HDFS_BYTES_WRITTEN", 10.0 * MB)];
        let body = format!(
            "{},\"taskType\":\"REDUCE\",\"taskStatus\":\"SUCCEEDED\",\"shuffleFinishTime\":16000,\"sortFinishTime\":18000,\
             \"finishTime\":24000,\"hostname\":\"n{task}\",\"counters\":{}",
            ids("r", task),
            counters(&counts)
        );
        event("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", &body);
    }
    event(
        "JOB_FINISHED",
        "JobFinished",
        "\"jobid\":\"job_1_0001\",\"finishTime\":24100,\"finishedMaps\":20,\"finishedReduces\":4",
    );
    text
}

fn trace_of(text: &str) -> JobTrace {
    read_bytes("made", text.as_bytes(), &ReadOptions::default(), &Unwatched).unwrap()
}

fn fitted(trace: &JobTrace, job: Option<&str>, conf: Option<&HadoopConf>) -> FittedJob {
    fit_job(&observe_job(trace, job).unwrap(), conf, None, 0.95).unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} {expected}");
}

#[test]
fn a_made_history_gives_back_its_rates_and_times() {
    let fitted = fitted(&trace_of(&made()), None, None);
    let plan = &fitted.plan;
    for (found, expected) in [
        (plan.profile.input_mb, 1280.0),
        (plan.profile.maps as f64, 20.0),
        (plan.profile.map_data_mb, 800.0),
        (plan.profile.map_output_mb, 640.0),
        (plan.profile.reduce_output_mb, 40.0),
        (plan.profile.spilled_records as f64, 20_000.0),
        (plan.profile.load_s, 0.0),
        (plan.job.split_mb, 64.0),
        (plan.cluster.node[0].count as f64, 4.0),
        (plan.cluster.node[0].disk_read_mb_per_s, 40.0),
        (plan.cluster.node[0].disk_write_mb_per_s, 64.0),
        (plan.cluster.node[0].network_mb_per_s, 40.0),
    ] {
        near(found, expected);
    }
    // what the model counts before the spill, on a cluster without GPUs, is the map phase, 4.6 s on average; in phase 9 the reduce phase of 6 s
    let node = &plan.cluster.node[0];
    let split = plan.job.split_mb;
    let map_phase = spn_gc::read_s(node, spn_gc::local_share(plan), split) + spn_gc::map_s(plan, node, split);
    near(map_phase, 4.6);
    near(spn_gc::reduce_s(plan, node), 6.0);
    // 20 values 0.1 s off their mean: half width t(0.975, 19) · 0.1 · √(20/19) / √20
    let value = fitted.values.iter().find(|value| value.key == "profile.map_cpu_s").unwrap();
    let (low, high) = value.interval.unwrap();
    assert!((0.5 * (high - low) - 2.093 * 0.1 / 19.0_f64.sqrt()).abs() < 1e-4, "{low} {high}");
    assert!(plan.model.slots && fitted.notes.iter().any(|note| note.contains("all maps ran simultaneously")));
    assert!(fitted.notes.iter().any(|note| note.contains("logs do not record GPU times")));
    assert_eq!(Plan::from_toml(&fitted.plan_text().unwrap()).unwrap(), *plan);
    assert!(phase_times(plan, &mut || 0.5).is_ok());
}

#[test]
fn settings_come_from_the_configuration() {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/trace/count_conf.xml")).unwrap();
    let conf = HadoopConf::read(&bytes).unwrap();
    let fitted = fitted(&trace_of(&made()), None, Some(&conf));
    let hadoop = &fitted.plan.hadoop;
    assert_eq!((hadoop.sort_mb, hadoop.sort_spill_percent, hadoop.sort_factor), (256.0, 0.9, 20));
    assert_eq!((hadoop.reduce_heap_mb, hadoop.shuffle_merge_percent, hadoop.parallel_copies), (2048.0, 0.5, 5));
    assert_eq!((fitted.plan.cluster.replicas, fitted.plan.job.split_mb), (2, 64.0));
    let notes = fitted.notes.join("\n");
    for said in ["`${copies}`", "splits of 128 MB do not give 20 maps", "hadoop.sort_record_percent: not in"] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

#[test]
fn histories_without_a_usable_test_job_are_refused() {
    let job = |text: &str, id: Option<&str>| observe_job(&trace_of(text), id);
    assert!(matches!(job(&made(), Some("job_9_9")), Err(FitError::NoSuchJob { .. })));
    let failed = made().replace("JOB_FINISHED", "JOB_FAILED").replace("JobFinished", "JobUnsuccessfulCompletion");
    let failed = failed.replace("\"finishTime\":24100", "\"finishTime\":24100,\"jobStatus\":\"FAILED\"");
    assert!(matches!(job(&failed, None), Err(FitError::Incomplete { .. })), "{:?}", job(&failed, None));
    let blind = made().replace("HDFS_BYTES_READ", "OTHER");
    let observed = job(&blind, None).unwrap();
    assert!(matches!(fit_job(&observed, None, None, 0.95), Err(FitError::NoInput { .. })));
    let split_mb = fit_job(&observed, None, Some(2560.0), 0.95).unwrap().plan.job.split_mb;
    assert!((split_mb - 128.0).abs() < 1e-9, "{split_mb}");
    let two = made() + &made().replace("job_1_0001", "job_1_0002").replace("_1_0001_", "_1_0002_");
    assert!(matches!(job(&two, None), Err(FitError::SeveralJobs { ids, .. }) if ids.len() == 2));
    assert_eq!(job(&two, Some("job_1_0002")).unwrap().maps.len(), 20);
}

/// A counter of all maps or reduces as the history itself sums it up at its end.
fn summed(text: &str, which: &str, counter: &str) -> f64 {
    let line = text.lines().find(|line| line.trim_start().starts_with("{\"type\":\"JOB_FINISHED\"")).unwrap();
    let event: Value = serde_json::from_str(line).unwrap();
    let body = event["event"].as_object().unwrap().values().next().unwrap();
    let groups = body[which]["groups"].as_array().unwrap();
    let counts = groups.iter().flat_map(|group| group["counts"].as_array().unwrap());
    counts.filter(|count| count["name"] == counter).map(|count| count["value"].as_f64().unwrap()).next().unwrap()
}

/// Histories written by Hadoop, compared with the sums that Hadoop wrote into them.
#[test]
fn real_histories_give_the_sums_that_hadoop_made() {
    let Some(logs) = shared("data/logs") else { return };
    let files = [
        (
            "hraven/job_1329348432655_0001-1329348443227-user-Sleep+job-1329348468601-10-1-SUCCEEDED-default.jhist",
            "hraven/job_1329348432655_0001_conf.xml",
            10,
        ),
        (
            "dr-elephant/job_1526555215992_0001-1526555642677-user-QuasiMonteCarlo-1526555658299-1-1-SUCCEEDED-default-1526555648931.jhist",
            "dr-elephant/job_1526555215992_0001_conf.xml",
            1,
        ),
    ];
    for (history, conf, maps) in files {
        let path = logs.join("hadoop-jhist").join(history);
        let trace = read(&path, &ReadOptions::default(), &Unwatched).unwrap();
        let conf = HadoopConf::read(&std::fs::read(logs.join("hadoop-jhist").join(conf)).unwrap()).unwrap();
        let fitted = fitted(&trace, None, Some(&conf));
        let plan = &fitted.plan;
        let text = std::fs::read_to_string(&path).unwrap();
        let sum = |which: &str, counter: &str| summed(&text, which, counter);
        assert_eq!(plan.profile.maps, maps, "{history}");
        near(plan.profile.input_mb, sum("mapCounters", "HDFS_BYTES_READ") / MB);
        near(plan.profile.map_data_mb, sum("mapCounters", "MAP_OUTPUT_BYTES") / MB);
        near(plan.profile.spilled_records as f64, sum("mapCounters", "SPILLED_RECORDS"));
        near(plan.profile.map_output_mb, sum("reduceCounters", "REDUCE_SHUFFLE_BYTES") / MB);
        near(plan.profile.reduce_output_mb, sum("reduceCounters", "HDFS_BYTES_WRITTEN") / MB);
        assert_eq!((plan.hadoop.sort_mb, plan.hadoop.sort_factor), (100.0, 10), "{history}");
        assert_eq!(Plan::from_toml(&fitted.plan_text().unwrap()).unwrap(), *plan);
    }
}

/// The text format of 0.20, and the Rumen trace that was made of the same jobs: the same plan.
#[test]
fn text_history_and_rumen_trace_of_a_job_give_the_same_plan() {
    let Some(logs) = shared("data/logs") else { return };
    let folder = logs.join("hadoop-rumen/rumen/small-trace-test");
    let plan = |file: &str| {
        let trace = read(&folder.join(file), &ReadOptions::default(), &Unwatched).unwrap();
        fitted(&trace, Some("job_200904211745_0002"), None).plan
    };
    let (text, rumen) = (plan("sample-job-tracker-logs.gz"), plan("job-tracker-logs-trace-output.gz"));
    assert_eq!((text.profile.maps, text.job.reduces, text.cluster.node[0].count), (20, 1, 253));
    assert!(text.profile.map_cpu_s > 4.0 && text.profile.map_cpu_s < 6.0);
    assert_eq!(text.framework, rumen.framework);
    assert_eq!(text.profile, rumen.profile);
}

/// The made job with `f` times the data: 1 s of each map phase and 2 s of each reduce phase do not grow.
fn sized(f: f64, load_s: f64) -> ObservedJob {
    let mut job = observe_job(&trace_of(&made()), None).unwrap();
    let grow = |value: &mut Option<f64>| *value = value.map(|value| value * f);
    job.last_map_s = 0.0;
    for map in &mut job.maps {
        map.map_s = map.map_s.map(|time| 1.0 + (time - 1.0) * f);
        map.cpu_s = map.cpu_s.map(|time| 1.0 + (time - 1.0) * f);
        map.wall_s = map.map_s.unwrap() + 0.5 * f;
        [&mut map.input_mb, &mut map.output_mb, &mut map.spilled, &mut map.written_mb].into_iter().for_each(grow);
        map.launch_s = load_s;
        job.last_map_s = job.last_map_s.max(load_s + map.wall_s);
    }
    let (last_map_s, mut end_s) = (job.last_map_s, 0.0_f64);
    for reduce in &mut job.reduces {
        let before = reduce.after_maps_s - reduce.reduce_s.unwrap();
        [&mut reduce.fetched_mb, &mut reduce.output_mb, &mut reduce.fetch_s].into_iter().for_each(grow);
        reduce.reduce_s = reduce.reduce_s.map(|time| 2.0 + (time - 2.0) * f);
        reduce.wall_s = before * f + reduce.reduce_s.unwrap();
        (reduce.after_maps_s, reduce.launch_s) = (reduce.wall_s, last_map_s);
        end_s = end_s.max(last_map_s + reduce.wall_s);
    }
    (job.load_s, job.run_s, job.cleanup_s) = (load_s, end_s, 0.0);
    job.id = format!("{f}, {load_s}");
    job
}

#[test]
fn jobs_of_two_sizes_tell_what_grows_with_the_data() {
    // one of the jobs waited for others before its first map
    let jobs = [sized(0.25, 1.0), sized(0.5, 1.0), sized(0.5, 60.0), sized(0.25, 1.0)];
    let mut all = fit_jobs(&jobs, None, &[], 0.95).unwrap();
    assert_eq!((all.jobs.len(), all.fitted.plan.profile.maps), (4, 80));
    near(all.fitted.plan.profile.input_mb, 20.0 * 64.0 * 1.5);
    near(all.fitted.plan.profile.load_s, 1.0);
    assert_eq!(all.fitted.plan.run, Some(ONE_JOB));
    add_residuals(&mut all, &[], &Unwatched).unwrap();
    let run = all.fitted.plan.run.clone().unwrap();
    assert_eq!((run.runs, run.degrees_of_freedom as u32), (4, 7));
    assert!(run.sigma > ONE_JOB.sigma, "the job that waited is far from the plan: {run:?}");
    // the made job merges faster than its disks allow in the model
    assert!(
        (-3.0..0.0).contains(&all.fitted.plan.residual.job_s),
        "it moves no median: {:?}",
        all.fitted.plan.residual
    );
    let at = |plan: &Plan| {
        let mut plan = plan.clone();
        (plan.job.input_mb, plan.job.split_mb) = (1280.0, 64.0);
        let phases = phase_times(&plan, &mut || 0.5).unwrap();
        let map: f64 = phases.maps_s[0].iter().sum();
        (map, phases.shuffle_s + phases.reduces_s[0].iter().sum::<f64>())
    };
    // as fitted to a job of that size
    let (own_map, own_reduce) = at(&fit_job(&sized(1.0, 1.0), None, None, 0.95).unwrap().plan);
    let (map, reduce) = at(&all.fitted.plan);
    assert!((map / own_map - 1.0).abs() < 0.05 && (reduce / own_reduce - 1.0).abs() < 0.05, "{map} {reduce}");
    // a plan of one smaller job takes all of a task for data
    let (map, reduce) = at(&fit_job(&jobs[1], None, None, 0.95).unwrap().plan);
    assert!(map > 1.1 * own_map && reduce > 1.1 * own_reduce, "{map} {reduce} {own_map} {own_reduce}");
}
