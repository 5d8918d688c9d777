//! The plan of a MapReduce job from the history of a small test job: maps counters and times to the symbols of SPN-GC.
//!
//! ```text
//! JobTrace + HadoopConf ──▶ FittedJob: mapreduce::Plan, each value with its interval and source
//! ```
//!
//! Sums over the successful tasks are exact: D_test, D_map, D_mapoutput, D_red, spilled records. Times are means over
//! tasks with Student's intervals. T_m is the time of the map phase minus two times: the time of reading and copying,
//! which the model counts separately (phases 2 to 5 with T_m = 0), and the time of the start of a task. T_r is computed
//! in the same way for the reduce phase (phase 9). `test_times` computes these times, `waits` the time for which slots
//! waited for tasks. So the plan reproduces the times of the test job. Values found neither in the log nor in the
//! configuration keep the plan's defaults, with a note.

use crate::estimate::FloatMoments;
use crate::fit::fit_error::FitError;
use crate::fit::hadoop_conf::{HadoopConf, Setting};
use crate::fit::observed_job::{ObservedJob, ObservedMap, ObservedReduce};
use crate::fit::waits::STARTING_MB;
use crate::mapreduce::{DISTRIBUTION, LoggedJob, MEASURED, Plan, Residual};
use crate::runs::RunSpread;

/// Minimum data \[MB\] of a task that determines a rate. With less data, opening files and connections takes longer.
const RATE_MB: f64 = STARTING_MB;
/// Minimum time that determines a rate \[s\].
const RATE_S: f64 = 0.1;

/// Default spread of whole runs around a plan fitted to one job, at the size of this job or at another size:
/// approximately the spread of the histories in docs/validation.md.
pub const ONE_JOB: RunSpread = RunSpread { sigma: 0.25, degrees_of_freedom: 4.0, runs: 1 };

/// A value of the plan determined by the log or the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedValue {
    /// Key in the plan, such as `profile.input_mb`.
    pub key: &'static str,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Ends of its interval, if several tasks give several values.
    pub interval: Option<(f64, f64)>,
    /// Source of the value.
    pub from: String,
}

/// A plan with the data it was fitted from.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedJob {
    /// The log.
    pub log: String,
    /// The job's id in the log.
    pub id: String,
    /// The plan of the test job, for estimates at other sizes.
    pub plan: Plan,
    /// Fitted values, in the order of the plan.
    pub values: Vec<FittedValue>,
    /// Assumptions, and values that keep their defaults.
    pub notes: Vec<String>,
    /// Time of the test job, from submission to end \[s\].
    pub job_s: f64,
    /// Time from the first launch of a task to the last end \[s\]: the reference for the plan's estimate.
    pub run_s: f64,
    /// Confidence level of the intervals.
    pub level: f64,
}

impl FittedJob {
    /// Puts the constants of the unexplained job time (section `[residual]`) into the plan; `took` names their source,
    /// as in `other jobs took more than estimated`.
    pub fn add_residual(&mut self, residual: Residual, took: &str) {
        let from = format!("excess time of {} {took}", residual.jobs);
        for (key, value) in [
            ("residual.jobs", residual.jobs as f64),
            ("residual.wave_s", residual.wave_s),
            ("residual.job_s", residual.job_s),
        ] {
            self.values.push(FittedValue { key, value, interval: None, from: from.clone() });
        }
        self.plan.residual = residual;
    }

    /// Returns what the job proves.
    pub(super) fn logged(&self) -> LoggedJob {
        let (job, node) = (&self.plan.job, self.plan.cluster.node.first());
        LoggedJob {
            log: format!("{} {}", self.log, self.id),
            job_s: self.run_s,
            input_mb: job.input_mb,
            split_mb: job.split_mb,
            reduces: job.reduces,
            workers: node.map(|node| node.count),
            map_slots: node.map(|node| node.map_slots),
            reduce_slots: node.map(|node| node.reduce_slots),
            gpu_permits: node.and_then(|node| node.gpu_permits),
        }
    }

    /// Adds the spread between whole runs to the plan.
    pub fn add_run(&mut self, run: RunSpread, from: &str) {
        self.values.retain(|value| !value.key.starts_with("run."));
        for (key, value) in [
            ("run.sigma", run.sigma),
            ("run.degrees_of_freedom", run.degrees_of_freedom),
            ("run.runs", f64::from(run.runs)),
        ] {
            self.values.push(FittedValue { key, value, interval: None, from: from.to_owned() });
        }
        self.plan.run = Some(run);
    }
}

/// Fits a plan to a test job; `input_mb` overrides the counters.
///
/// # Errors
///
/// [`FitError::NoInput`] if neither counters nor `input_mb` give the size of the input.
pub fn fit_job(
    job: &ObservedJob,
    conf: Option<&HadoopConf>,
    input_mb: Option<f64>,
    level: f64,
) -> Result<FittedJob, FitError> {
    let mut maker = Maker { plan: Plan::default(), values: Vec::new(), notes: job.notes.clone(), level };
    maker.plan.job.name.clone_from(&job.name);
    maker.sizes(job, input_mb)?;
    maker.settings(job, conf);
    maker.machines(job, conf);
    maker.rates(job);
    maker.times(job);
    let problems = maker.plan.problems();
    if let Some(problem) = problems.first() {
        return Err(FitError::Incomplete {
            log: job.log.clone(),
            what: format!("the log yields no valid plan ({problem})"),
        });
    }
    let measured = |value: &FittedValue| value.key.strip_prefix("profile.").filter(|key| MEASURED.contains(key));
    maker.plan.profile.measured = maker.values.iter().filter_map(measured).map(str::to_owned).collect();
    maker.plan.profile.measured.push(DISTRIBUTION.to_owned());
    maker.values.sort_by_key(|value| ORDER.iter().position(|key| *key == value.key));
    let mut fitted = FittedJob {
        log: job.log.clone(),
        id: job.id.clone(),
        plan: maker.plan,
        values: maker.values,
        notes: maker.notes,
        job_s: job.job_s,
        run_s: job.run_s,
        level,
    };
    fitted.add_run(ONE_JOB, "assumed: one job shows no run-to-run variation");
    Ok(fitted)
}

/// The keys that can be fitted, in the order of a plan.
const ORDER: [&str; 35] = [
    "job.input_mb",
    "job.split_mb",
    "job.reduces",
    "profile.input_mb",
    "profile.maps",
    "profile.map_data_mb",
    "profile.map_output_mb",
    "profile.reduce_output_mb",
    "profile.spilled_records",
    "profile.load_s",
    "profile.map_cpu_s",
    "profile.map_fixed_s",
    "profile.reduce_cpu_s",
    "hadoop.sort_mb",
    "hadoop.sort_spill_percent",
    "hadoop.sort_record_percent",
    "hadoop.sort_factor",
    "hadoop.reduce_heap_mb",
    "hadoop.parallel_copies",
    "hadoop.shuffle_buffer_percent",
    "hadoop.shuffle_merge_percent",
    "cluster.replicas",
    "cluster.node.count",
    "cluster.node.disk_read_mb_per_s",
    "cluster.node.disk_write_mb_per_s",
    "cluster.node.network_mb_per_s",
    "cluster.node.map_slots",
    "cluster.node.reduce_slots",
    "framework.map_wait_s",
    "framework.map_refill_s",
    "framework.reduce_wait_s",
    "framework.reduce_refill_s",
    "framework.reduce_fetch_s",
    "framework.reduce_fixed_s",
    "framework.cleanup_s",
];

/// A plan under construction.
pub(super) struct Maker {
    pub(super) plan: Plan,
    pub(super) values: Vec<FittedValue>,
    notes: Vec<String>,
    level: f64,
}

impl Maker {
    pub(super) fn tell(&mut self, key: &'static str, value: f64, from: impl Into<String>) {
        self.values.push(FittedValue { key, value, interval: None, from: from.into() });
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Returns the mean of some values with its interval; none without values.
    pub(super) fn mean(&self, values: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
        let moments: FloatMoments = values.iter().copied().collect();
        let interval = moments.mean_estimate(self.level).ok().map(|found| (found.low().max(0.0), found.high()));
        Some((moments.mean()?, interval))
    }

    /// Sets the sums of the counters.
    fn sizes(&mut self, job: &ObservedJob, input_mb: Option<f64>) -> Result<(), FitError> {
        let maps = job.maps.len();
        let told = job.sum_of_maps(|map| map.input_mb).filter(|mb| *mb > 0.0);
        let Some(input) = input_mb.or(told) else { return Err(FitError::NoInput { log: job.log.clone() }) };
        let from = if input_mb.is_some() { "as given".to_owned() } else { format!("total bytes read by {maps} maps") };
        self.plan.profile.input_mb = input;
        self.plan.job.input_mb = input;
        self.tell("profile.input_mb", input, from);
        self.tell("job.input_mb", input, "the size of the test job; replace it by the size to estimate");
        self.plan.profile.maps = maps as u64;
        self.tell("profile.maps", maps as f64, "maps that succeeded");
        let sums = [
            ("profile.map_data_mb", job.sum_of_maps(|map| map.output_mb), "total bytes of map output"),
            ("profile.map_output_mb", job.shuffled_mb(), "total bytes fetched by reduces"),
            ("profile.reduce_output_mb", job.reduced_mb(), "total bytes written by reduces"),
            ("profile.spilled_records", job.sum_of_maps(|map| map.spilled), "total records spilled by maps"),
        ];
        for (key, sum, from) in sums {
            let Some(sum) = sum else {
                self.note(format!("{key}: no counter records it; the default is kept"));
                continue;
            };
            let profile = &mut self.plan.profile;
            match key {
                "profile.map_data_mb" => profile.map_data_mb = sum,
                "profile.map_output_mb" => profile.map_output_mb = sum,
                "profile.reduce_output_mb" => profile.reduce_output_mb = sum,
                _ => profile.spilled_records = sum as u64,
            }
            self.tell(key, sum, from);
        }
        let reduces = job.reduces.len();
        self.plan.job.reduces = reduces as u64;
        self.tell("job.reduces", reduces as f64, "reduces that succeeded");
        Ok(())
    }

    /// Applies the settings of the configuration.
    fn settings(&mut self, job: &ObservedJob, conf: Option<&HadoopConf>) {
        self.split(job, conf);
        let Some(conf) = conf else {
            self.note(
                "no configuration: Hadoop's settings keep their defaults; pass the job's *_conf.xml along with the log",
            );
            return;
        };
        let shares = |share: f64| share > 0.0 && share <= 1.0;
        let counts = |count: f64| (1.0..=1e6).contains(&count);
        self.setting(conf, "hadoop.sort_mb", Setting::SORT_MB, |v| v > 0.0, |p, v| p.hadoop.sort_mb = v);
        let key = "hadoop.sort_spill_percent";
        self.setting(conf, key, Setting::SORT_SPILL_PERCENT, shares, |p, v| p.hadoop.sort_spill_percent = v);
        let key = "hadoop.sort_record_percent";
        let inside = |share: f64| share > 0.0 && share < 1.0;
        self.setting(conf, key, Setting::SORT_RECORD_PERCENT, inside, |p, v| p.hadoop.sort_record_percent = v);
        let key = "hadoop.sort_factor";
        self.setting(conf, key, Setting::SORT_FACTOR, |v| v >= 2.0, |p, v| p.hadoop.sort_factor = v as u64);
        let key = "hadoop.parallel_copies";
        self.setting(conf, key, Setting::PARALLEL_COPIES, counts, |p, v| p.hadoop.parallel_copies = v as u64);
        let key = "hadoop.shuffle_buffer_percent";
        self.setting(conf, key, Setting::SHUFFLE_BUFFER_PERCENT, shares, |p, v| p.hadoop.shuffle_buffer_percent = v);
        let key = "hadoop.shuffle_merge_percent";
        self.setting(conf, key, Setting::SHUFFLE_MERGE_PERCENT, shares, |p, v| p.hadoop.shuffle_merge_percent = v);
        self.setting(conf, "cluster.replicas", Setting::REPLICAS, counts, |p, v| p.cluster.replicas = v as u64);
        match conf.reduce_heap_mb().filter(|(_, mb)| *mb > 0.0) {
            Some((name, mb)) => {
                self.plan.hadoop.reduce_heap_mb = mb;
                self.tell("hadoop.reduce_heap_mb", mb, format!("-Xmx in {name}"));
            }
            None => self.note("hadoop.reduce_heap_mb: no -Xmx in the configuration; the default is kept"),
        }
    }

    /// Applies a setting that the configuration may have.
    fn setting(
        &mut self,
        conf: &HadoopConf,
        key: &'static str,
        setting: Setting,
        fits: impl Fn(f64) -> bool,
        put: impl FnOnce(&mut Plan, f64),
    ) {
        match conf.number(setting).filter(|(_, value)| fits(*value)) {
            Some((name, value)) => {
                put(&mut self.plan, value);
                self.tell(key, value, name);
            }
            None if conf.text(setting).is_some() => {
                let (name, text) = conf.text(setting).unwrap_or_default();
                self.note(format!("{key}: `{name}` has the invalid value `{text}`; the default is kept"));
            }
            None => self.note(format!("{key}: not in the configuration; the default is kept")),
        }
    }

    /// Sets the size of a split: from the configuration if it explains the number of maps, or else the mean input of a map.
    fn split(&mut self, job: &ObservedJob, conf: Option<&HadoopConf>) {
        let maps = job.maps.len() as f64;
        let (input, mean) = (self.plan.job.input_mb, self.plan.job.input_mb / maps);
        let bytes = |setting| conf.and_then(|conf| conf.number(setting)).map(|(_, bytes)| bytes);
        let stated = bytes(Setting::BLOCK_BYTES).map(|block| {
            let most = bytes(Setting::SPLIT_MOST).filter(|most| *most > 0.0).unwrap_or(f64::INFINITY);
            bytes(Setting::SPLIT_LEAST).unwrap_or(1.0).max(most.min(block)) / 1_048_576.0
        });
        let fits = |split: f64| split > 0.0 && (input / split).ceil() as usize == job.maps.len();
        let (split, from) = match stated {
            Some(split) if fits(split) => (split, "block and split size in the configuration".to_owned()),
            _ => (mean, format!("input divided by {maps} maps")),
        };
        self.plan.job.split_mb = split;
        let inputs: Vec<f64> = job.maps.iter().filter_map(|map| map.input_mb).collect();
        let interval = self.mean(&inputs).and_then(|(_, interval)| interval).filter(|_| !stated.is_some_and(fits));
        self.values.push(FittedValue { key: "job.split_mb", value: split, interval, from });
        if let Some(stated) = stated.filter(|stated| !fits(*stated)) {
            self.note(format!(
                "job.split_mb: the configuration's splits of {stated} MB do not give {maps} maps for this input; a larger \
                 input may have such splits"
            ));
        }
        // a block must fit into a split, although no GPU reads it
        self.plan.job.gpu_block_mb = self.plan.job.gpu_block_mb.min(split);
    }

    /// Sets workers and slots.
    fn machines(&mut self, job: &ObservedJob, conf: Option<&HadoopConf>) {
        let cluster = &job.cluster;
        let node = &mut self.plan.cluster.node[0];
        (node.count, node.map_slots, node.reduce_slots) =
            (cluster.nodes.max(1), cluster.map_slots, cluster.reduce_slots);
        self.plan.model.slots = true;
        // logs of Hadoop know no GPU: the map function includes whatever a GPU did
        self.plan.cluster.node[0].gpus = Some(0);
        let from = "nodes that ran tasks of this log; other nodes also store blocks";
        self.tell("cluster.node.count", cluster.nodes.max(1) as f64, from);
        let from = "largest number at a time on one node of the log; at least 2, Hadoop's default";
        self.tell("cluster.node.map_slots", cluster.map_slots as f64, from);
        self.tell("cluster.node.reduce_slots", cluster.reduce_slots as f64, from);
        if cluster.nodes == 0 {
            self.note("the log does not name nodes; one is assumed");
        }
        if !job.waves {
            self.note(
                "all maps ran simultaneously: the number of slots of a larger job can only be learned from other jobs",
            );
        }
        if conf.is_none_or(|conf| conf.number(Setting::REPLICAS).is_none()) {
            self.note("cluster.replicas: unknown; the default is kept");
        }
    }

    /// Sets the rates determined by tasks with much data.
    fn rates(&mut self, job: &ObservedJob) {
        let read = |map: &ObservedMap| {
            let wait = map.map_s? - map.cpu_s?;
            rate(map.input_mb?, wait)
        };
        let written = |map: &ObservedMap| rate(map.written_mb?, map.wall_s - map.map_s?);
        let fetched = |reduce: &ObservedReduce| rate(reduce.fetched_mb?, reduce.fetch_s?);
        let found = [
            (
                "cluster.node.disk_read_mb_per_s",
                job.maps.iter().filter_map(read).collect::<Vec<_>>(),
                "input of a map divided by its map phase without CPU time",
            ),
            (
                "cluster.node.disk_write_mb_per_s",
                job.maps.iter().filter_map(written).collect(),
                "local bytes written by a map divided by the time after its map phase",
            ),
            (
                "cluster.node.network_mb_per_s",
                job.reduces.iter().filter_map(fetched).collect(),
                "bytes fetched by a reduce divided by its shuffle time, for reduces that started after the last map",
            ),
        ];
        let mut kept = Vec::new();
        for (key, rates, from) in found {
            let Some((value, interval)) = self.mean(&rates) else {
                kept.push(key.rsplit('.').next().unwrap_or(key));
                continue;
            };
            let node = &mut self.plan.cluster.node[0];
            match key {
                "cluster.node.disk_read_mb_per_s" => node.disk_read_mb_per_s = value,
                "cluster.node.disk_write_mb_per_s" => node.disk_write_mb_per_s = value,
                _ => node.network_mb_per_s = value,
            }
            self.values.push(FittedValue { key, value, interval, from: format!("{from}, {} tasks", rates.len()) });
        }
        kept.push("memory and GPU rates");
        self.note(format!("{}: no task of {RATE_MB} MB or more shows them; the defaults are kept", kept.join(", ")));
    }
}

/// Returns a rate \[MB/s\], if data and time suffice to determine it.
fn rate(mb: f64, seconds: f64) -> Option<f64> {
    (mb >= RATE_MB && seconds >= RATE_S).then(|| mb / seconds)
}
