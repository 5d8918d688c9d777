//! The plan of a job in TOML: the settings of every formula, with the paper's defaults.
//!
//! Defines the plan's sections and the conversion of text to a plan. `plan_check` validates a plan; `spn_gc` applies the
//! numbers to the phases. Defaults marked \[paper\] are from \[PESARO15, Tables I, II\], all others are ours;
//! `models/mapreduce/default-job.toml` marks each.

use serde::{Deserialize, Serialize};

use crate::cluster::PolicyPlan;
use crate::mapreduce::by_size::PhasesBySize;
use crate::mapreduce::framework::{Framework, Residual};
use crate::mapreduce::logged::LoggedJob;
use crate::mapreduce::phase::Phase;
use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::speculation::Speculation;
use crate::mapreduce::straggler::Stragglers;
use crate::mapreduce::uses::{PhaseUses, Sharing, is_zero};
use crate::plan::{Document, PlanError};
use crate::runs::RunSpread;

/// A job, the profile of its test job, Hadoop's settings, the cluster and the model settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// The job to estimate.
    pub job: Job,
    /// Profile of a small test job of the same program.
    pub profile: Profile,
    /// Settings of Hadoop.
    pub hadoop: Hadoop,
    /// The nodes.
    pub cluster: Cluster,
    /// Model settings.
    pub model: Model,
    /// Times of Hadoop itself in addition to the phases. Default all 0, as in the paper.
    #[serde(skip_serializing_if = "Framework::is_none")]
    pub framework: Framework,
    /// Job time that the model does not explain, estimated from other jobs. Default none.
    #[serde(skip_serializing_if = "Residual::is_none")]
    pub residual: Residual,
    /// The spread between whole runs of the job. Default none: runs differ only in the times of their tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSpread>,
    /// Phase means given directly, instead of `profile`. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<GivenPhases>,
    /// The jobs that the plan was fitted to. Before an answer, the plan is checked on them. Default none, so nothing proves the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<LoggedJob>,
    /// Slow nodes that tasks may draw. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stragglers: Option<Stragglers>,
    /// Copies of tasks. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speculation: Option<Speculation>,
    /// Straggler policies that `whatif` compares. Default: no speculation, and the detectors `default`, `hierarchical` and `late`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyPlan>,
}

/// The job to estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Job {
    /// Name, for reports and nets. Default `default-job`.
    pub name: String,
    /// D_input, input of the job \[MB\], > 0. Default 10240.
    pub input_mb: f64,
    /// D_split, input of one map task \[MB\], > 0. Default 64 \[paper\].
    pub split_mb: f64,
    /// D_block, input of one GPU call \[MB\], > 0 and at most `split_mb`. Default 16.
    pub gpu_block_mb: f64,
    /// R, number of reduce tasks, 0 to 1,000,000; without reduces, the job ends with its last map. Default 40.
    pub reduces: u64,
    /// Deadline of the job \[s\], > 0. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            name: "default-job".into(),
            input_mb: 10_240.0,
            split_mb: 64.0,
            gpu_block_mb: 16.0,
            reduces: 40,
            deadline_s: None,
        }
    }
}

/// Measurements of a small test job of the same program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// D_test, input of the test job \[MB\], > 0. Default 256.
    pub input_mb: f64,
    /// M_test, number of map tasks of the test job, >= 1. Default 4 \[paper\].
    pub maps: u64,
    /// D_map, data of the test job after its map function \[MB\], >= 0. Default 160.
    pub map_data_mb: f64,
    /// D_mapoutput, data fetched by the test job's reducers \[MB\], >= 0. Default 160.
    pub map_output_mb: f64,
    /// True if `map_output_mb` is for one map task, as printed in \[PESARO15, Eq. 13\]. Default false.
    pub map_output_per_task: bool,
    /// D_red, data of the test job after its reduce function \[MB\], >= 0. Default 20.
    pub reduce_output_mb: f64,
    /// Number of map records that the test job spilled, >= 0. Default 1,000,000.
    pub spilled_records: u64,
    /// T_load, time for loading the program and splitting the input \[s\], >= 0. Default 3.
    pub load_s: f64,
    /// T_upload, time for copying the input to HDFS \[s\], >= 0. Default 0: the input is already in place.
    pub upload_s: f64,
    /// T_m, CPU time of the map function for one task with an input of `input_mb / maps` \[s\], >= 0. Default 5.
    pub map_cpu_s: f64,
    /// The part of `map_cpu_s` that does not depend on the bytes \[s\], 0 to `map_cpu_s`. Default 0. Two test jobs
    /// with splits of different sizes
    /// determine this part: the line through both times, extrapolated to a split of 0.
    pub map_fixed_s: f64,
    /// T_m_gpu, GPU time for all of `input_mb` \[s\], >= 0. Default 64.
    pub map_gpu_s: f64,
    /// T_r, time of the reduce function for all of the map output \[s\], >= 0. Default 8.
    pub reduce_cpu_s: f64,
    /// CPU_test, speed of the test job's machine in the unit of the nodes' `cpu_speed`, > 0. Default 1.
    pub cpu_speed: f64,
    /// GPU_test, speed of the test job's GPU in the unit of the nodes' `gpu_speed`, > 0. Default 1.
    pub gpu_speed: f64,
    /// Values that were measured although they equal those of the built-in example, such as `["maps", "map_cpu_s"]`; `distribution` for the distributions of
    /// the phases. All other values that equal the example's count as assumed. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<String>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            input_mb: 256.0,
            maps: 4,
            map_data_mb: 160.0,
            map_output_mb: 160.0,
            map_output_per_task: false,
            reduce_output_mb: 20.0,
            spilled_records: 1_000_000,
            load_s: 3.0,
            upload_s: 0.0,
            map_cpu_s: 5.0,
            map_fixed_s: 0.0,
            map_gpu_s: 64.0,
            reduce_cpu_s: 8.0,
            cpu_speed: 1.0,
            gpu_speed: 1.0,
            measured: Vec::new(),
        }
    }
}

/// Settings of Hadoop 1.2.1; as in Hadoop, "percent" settings are shares between 0 and 1. All defaults are \[paper\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Hadoop {
    /// `sort.mb`, sort buffer of a map \[MB\], > 0. Default 100.
    pub sort_mb: f64,
    /// `sort.spill.percent`, filled share of the buffer at which the buffer is spilled to disk, > 0 and <= 1.
    /// Default 0.8.
    pub sort_spill_percent: f64,
    /// `sort.record.percent`, share of the buffer that holds metadata, between 0 and 1. Default 0.05.
    pub sort_record_percent: f64,
    /// `sort.factor`, number of spills merged at a time, >= 2. Default 10.
    pub sort_factor: u64,
    /// Heap of a reduce task \[MB\], > 0. Default 1024.
    pub reduce_heap_mb: f64,
    /// Number of parallel fetches of a reduce task, >= 1. Default 5. No equation uses it.
    pub parallel_copies: u64,
    /// `shuffle.buffer.percent`, share of the heap that buffers map output, > 0 and <= 1. Default 0.7.
    pub shuffle_buffer_percent: f64,
    /// `shuffle.merge.percent`, filled share of the shuffle buffer at which the buffer is merged to disk, > 0 and <= 1.
    /// Default 0.66.
    pub shuffle_merge_percent: f64,
}

impl Default for Hadoop {
    fn default() -> Self {
        Self {
            sort_mb: 100.0,
            sort_spill_percent: 0.8,
            sort_record_percent: 0.05,
            sort_factor: 10,
            reduce_heap_mb: 1_024.0,
            parallel_copies: 5,
            shuffle_buffer_percent: 0.7,
            shuffle_merge_percent: 0.66,
        }
    }
}

/// The nodes that run tasks and hold data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Cluster {
    /// Replicas of each HDFS block, >= 1. Default 3.
    pub replicas: u64,
    /// Kinds of worker, at least one. Default: 4 equal workers.
    pub node: Vec<Node>,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { replicas: 3, node: vec![Node { count: 4, ..Node::default() }] }
    }
}

/// Workers of one kind have the same hardware. The default hardware is a server of 2012 with a hard disk, gigabit
/// Ethernet and a PCIe 2.0 GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// Name, for reports. Default `worker`.
    pub name: String,
    /// Number of workers of this kind; 1 to 100,000 over all kinds. Default 1.
    pub count: u64,
    /// HR, disk read rate \[MB/s\], > 0. Default 110.
    pub disk_read_mb_per_s: f64,
    /// HW, disk write rate \[MB/s\], > 0. Default 95.
    pub disk_write_mb_per_s: f64,
    /// MR, host memory read rate \[MB/s\], > 0. Default 6000.
    pub memory_read_mb_per_s: f64,
    /// MW, host memory write rate \[MB/s\], > 0. Default 5000.
    pub memory_write_mb_per_s: f64,
    /// GR, rate of reading GPU memory \[MB/s\], > 0. Default 5200.
    pub gpu_read_mb_per_s: f64,
    /// GW, rate of writing GPU memory \[MB/s\], > 0. Default 5600.
    pub gpu_write_mb_per_s: f64,
    /// Network rate \[MB/s\], > 0. Default 112.
    pub network_mb_per_s: f64,
    /// CPU_i, speed in the unit of `profile.cpu_speed`, > 0. Default 1.
    pub cpu_speed: f64,
    /// GPU_i, speed in the unit of `profile.gpu_speed`, > 0. Default 1.
    pub gpu_speed: f64,
    /// Map tasks per worker at a time, >= 0. Default 4 \[paper\].
    pub map_slots: u64,
    /// Reduce tasks per worker at a time, >= 0. Default 2.
    pub reduce_slots: u64,
    /// GPUs per worker. A map task holds one of them from its copy to the GPU to its copy back. 0 if no worker has a GPU: then the phases on the GPU do
    /// not exist. Default none: no task waits for a GPU, as in the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u64>,
    /// Map tasks that may hold the GPUs of the worker at a time; 0 if every task may. Tasks that compute on the same GPU share it equally. Default: as
    /// many as GPUs, so that no task shares one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_permits: Option<u64>,
    /// Cores per worker, > 0, which the tasks on it share when they compute. Default none: tasks do not slow each other down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cores: Option<f64>,
    /// `shared` if the tasks on a worker share its disk. Default `each`: every task has the disk to itself.
    #[serde(skip_serializing_if = "Sharing::is_each")]
    pub disk: Sharing,
    /// `shared` if the tasks on a worker share its network. Default `each`: every task has the network to itself.
    #[serde(skip_serializing_if = "Sharing::is_each")]
    pub network: Sharing,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            name: "worker".into(),
            count: 1,
            disk_read_mb_per_s: 110.0,
            disk_write_mb_per_s: 95.0,
            memory_read_mb_per_s: 6_000.0,
            memory_write_mb_per_s: 5_000.0,
            gpu_read_mb_per_s: 5_200.0,
            gpu_write_mb_per_s: 5_600.0,
            network_mb_per_s: 112.0,
            cpu_speed: 1.0,
            gpu_speed: 1.0,
            map_slots: 4,
            reduce_slots: 2,
            gpus: None,
            gpu_permits: None,
            host_cores: None,
            disk: Sharing::Each,
            network: Sharing::Each,
        }
    }
}

/// Model settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// True if tasks wait for a free slot. Default true; with false, all tasks run simultaneously, as in the paper.
    pub slots: bool,
    /// True if the GPU term of \[PESARO15, Eq. 14\] is included. Default false.
    pub reduce_on_gpu: bool,
    /// Locality of map input: the share on the map's local disk. Default `mean`.
    pub locality: Locality,
    /// Seed of simulations, and of the locality if it is drawn. Default 0.
    pub seed: u64,
    /// Scaling of map times with the split. Default `bytes`.
    pub equation8: Equation8,
    /// Share of the maps, 0 to 1, that must finish before the shuffle starts to copy the output of finished maps. Default none: the shuffle starts
    /// after the last map, as in the paper's net. Hadoop's default is 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowstart: Option<f64>,
    /// Shape of each phase's delay. Default all exponential.
    pub distribution: PhaseLaws,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            slowstart: None,
            slots: true,
            reduce_on_gpu: false,
            locality: Locality::default(),
            seed: 0,
            equation8: Equation8::default(),
            distribution: PhaseLaws::default(),
        }
    }
}

/// Scaling of map times with the split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Equation8 {
    /// CPU and GPU time are proportional to the bytes that a task processes.
    #[default]
    Bytes,
    /// As printed in \[PESARO15, Eq. 8, 9, 12, 14\]: the CPU time of the test job's split and the GPU time of one block
    /// are used. Only for the replication of the paper.
    Printed,
}

impl Model {
    /// Returns the number of finished maps, of `maps`, after which the shuffle starts; none if it waits for all maps.
    pub fn maps_before_shuffle(&self, maps: usize) -> Option<usize> {
        self.slowstart.map(|share| ((share * maps as f64).ceil() as usize).clamp(1, maps.max(1)))
    }
}

/// Location of a map task's input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Locality {
    /// Every map has the mean share on its local disk: replicas divided by workers.
    #[default]
    Mean,
    /// Each map has either all or none of its input on its local disk, at random with the same mean.
    Drawn,
}

/// Shape of each phase's delay. Default all exponential.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhaseLaws {
    /// Phase 1: loading the program and splitting the input.
    pub load: PhaseLaw,
    /// Phase 2 of a map task: reading input from another node.
    pub read: PhaseLaw,
    /// The map function, where it is a phase of its own: in plans with `gpus`. Default as `to_gpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<PhaseLaw>,
    /// Phase 3 of a map task: map function on the CPU, and copy to the GPU.
    pub to_gpu: PhaseLaw,
    /// Phase 4 of a map task: computing on the GPU.
    pub gpu: PhaseLaw,
    /// Phase 5 of a map task: copy from the GPU to the host.
    pub to_host: PhaseLaw,
    /// Phase 6 of a map task: sorting and spilling its output.
    pub spill: PhaseLaw,
    /// Phase 7: shuffle after the last map.
    pub shuffle: PhaseLaw,
    /// Phase 8 of a reduce task: sorting and merging its input.
    pub merge: PhaseLaw,
    /// Phase 9 of a reduce task: the reduce function.
    pub reduce: PhaseLaw,
}

impl PhaseLaws {
    /// Returns the shape of one phase.
    pub fn get(&self, phase: Phase) -> &PhaseLaw {
        match phase {
            Phase::Load => &self.load,
            Phase::Read => &self.read,
            Phase::Map => self.map.as_ref().unwrap_or(&self.to_gpu),
            Phase::ToGpu => &self.to_gpu,
            Phase::Gpu => &self.gpu,
            Phase::ToHost => &self.to_host,
            Phase::Spill => &self.spill,
            Phase::Shuffle => &self.shuffle,
            Phase::Merge => &self.merge,
            Phase::Reduce => &self.reduce,
        }
    }
}

/// Phase means given directly, the same for every task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GivenPhases {
    /// Means of phases 1 to 9 \[s\], each >= 0; 0 skips the phase. Required, unless `by_size` is given.
    #[serde(default, skip_serializing_if = "GivenPhases::are_no_means")]
    pub means_s: [f64; 9],
    /// The part of the third mean in which a map copies data to the GPU and holds it, 0 to that mean; the rest is the map function \[s\]. Only for plans
    /// with `gpus`. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copy_s: f64,
    /// The parts of a worker that the phases use, where tasks share its cores, disk or network.
    #[serde(default, skip_serializing_if = "PhaseUses::is_default")]
    pub uses: PhaseUses,
    /// Number of map tasks, 1 to 1,000,000. Default: `job.input_mb / job.split_mb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<u64>,
    /// Number of reduce tasks, 0 to 1,000,000. Default: `job.reduces`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduces: Option<u64>,
    /// Times measured at several sizes, which replace `means_s` and `copy_s`. Default none: the means do not depend on the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_size: Option<PhasesBySize>,
}

impl GivenPhases {
    fn are_no_means(means_s: &[f64; 9]) -> bool {
        means_s.iter().all(is_zero)
    }
}

impl Plan {
    /// Reads a plan from TOML; omitted keys keep their defaults.
    ///
    /// # Errors
    ///
    /// All problems, each with its position.
    ///
    /// # Examples
    ///
    /// ```
    /// let plan = tailspn_jobs::mapreduce::Plan::from_toml("[job]\ninput_mb = 640").unwrap();
    /// assert_eq!((plan.maps(), plan.reduces()), (10, 40));
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        Self::read(Document::parse(text)?)
    }

    /// Reads a plan from a document.
    pub(crate) fn read(document: Document<'_>) -> Result<Self, PlanError> {
        document.read(Self::problems)
    }

    /// Returns the plan as TOML text that [`Plan::from_toml`] can read. If phase means are given, the profile
    /// is ignored.
    ///
    /// # Errors
    ///
    /// Values that TOML cannot express; a valid plan has none.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let mut table = toml::Table::try_from(self)?;
        if self.phases.is_some() {
            table.remove("profile");
        }
        toml::to_string_pretty(&table)
    }

    /// Returns the default plan as commented TOML text.
    pub fn example_toml() -> &'static str {
        include_str!("../../models/default-job.toml")
    }

    /// Returns the stragglers; with a share of 0 if the plan has none.
    pub fn stragglers_or_none(&self) -> Stragglers {
        self.stragglers.clone().unwrap_or(Stragglers { share: 0.0, ..Stragglers::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanProblem;

    fn problems(text: &str) -> Vec<PlanProblem> {
        Plan::from_toml(text).unwrap_err().problems
    }

    #[test]
    fn example_text_is_the_default_plan() {
        assert_eq!(Plan::from_toml(Plan::example_toml()).unwrap(), Plan::default());
        assert_eq!(Plan::from_toml("").unwrap(), Plan::default());
    }

    #[test]
    fn example_text_states_every_key() {
        let text = Plan::example_toml();
        let written = toml::to_string(&Plan::default()).unwrap();
        let missing = |line: &&str| line.contains('=') && !text.contains(line.split('=').next().unwrap_or_default());
        assert_eq!(written.lines().filter(missing).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn example_text_states_the_defaults_of_stragglers_and_speculation() {
        let text = Plan::example_toml();
        let sections = &text[text.find("# [stragglers]").unwrap()..];
        let text: Vec<_> = sections.lines().map(|line| line.trim_start_matches("# ").trim_start_matches('#')).collect();
        let plan = Plan::from_toml(&text.join("\n")).unwrap();
        let distribution = Some(PhaseLaw::Exponential);
        assert_eq!(plan.stragglers, Some(Stragglers { distribution, ..Stragglers::default() }));
        let (undetected, slow_copies) = (Some(2.0), Some(0.1));
        assert_eq!(plan.speculation, Some(Speculation { undetected, slow_copies, ..Speculation::default() }));
    }

    #[test]
    fn stragglers_are_read_and_bad_ones_are_pointed_at() {
        let text = "[stragglers]\nfactor = [[0.7, 2.0], [0.3, 5.0]]\ntasks = \"maps\"\n[speculation]\nslots = { reserved = 3 }";
        let plan = Plan::from_toml(text).unwrap();
        assert_eq!(plan.stragglers.as_ref().unwrap().mean_factor(), 0.7 * 2.0 + 0.3 * 5.0);
        assert_eq!(Plan::from_toml(&toml::to_string(&plan).unwrap()).unwrap(), plan);
        let text = "[stragglers]\nshare = 0.5\n[speculation]\nprecision = 0.2\nlatency = 9";
        let found = problems(text);
        assert_eq!((found.len(), found[0].key.as_str()), (1, "speculation.recall"));
        let text = "[stragglers]\nshare = 0.1\n[speculation]\nlatency = 9.0";
        let found = problems(text);
        assert_eq!((found[0].key.as_str(), &text[found[0].span.clone().unwrap()]), ("speculation.latency", "9.0"));
        let told = found[0].to_string();
        assert!(
            told.contains(
                "a straggler that takes 3 times the typical time cannot be flagged after 9 times the typical time"
            ),
            "{told}"
        );
    }

    #[test]
    fn default_plan_has_160_maps_and_40_reduces() {
        let plan = Plan::default();
        assert_eq!((plan.maps(), plan.reduces(), plan.workers()), (160, 40, 4));
        assert_eq!((plan.map_slots(), plan.reduce_slots()), (16, 8));
    }

    #[test]
    fn written_plan_reads_back_the_same() {
        let mut plan = Plan::default();
        plan.model.locality = Locality::Drawn;
        plan.model.distribution.read = PhaseLaw::Erlang(4);
        plan.model.distribution.gpu = PhaseLaw::Lognormal { cv: 0.5 };
        plan.model.distribution.merge = PhaseLaw::Empirical { samples: vec![1.0, 2.5] };
        plan.cluster.node.push(Node { gpu_speed: 2.0, ..Node::default() });
        assert_eq!(Plan::from_toml(&toml::to_string(&plan).unwrap()).unwrap(), plan);
        let given = GivenPhases { means_s: [1.0; 9], maps: Some(3), ..GivenPhases::default() };
        let text = "[phases]\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]\nmaps = 3";
        assert_eq!(Plan::from_toml(text).unwrap().phases, Some(given));
    }

    #[test]
    fn laws_are_written_as_the_guide_says() {
        let text = "[model.distribution]\nread = { erlang = 4 }\ngpu = \"deterministic\"\nspill = { hyperexponential = { cv = 2 } }";
        let law = Plan::from_toml(text).unwrap().model.distribution;
        assert_eq!((law.read, law.gpu), (PhaseLaw::Erlang(4), PhaseLaw::Deterministic));
        assert_eq!(law.spill, PhaseLaw::Hyperexponential { cv: 2.0 });
    }

    #[test]
    fn a_law_without_its_parameters_is_told_how_it_is_written() {
        let kinds = ["erlang", "hyperexponential", "lognormal", "weibull", "pareto", "gamma", "uniform", "empirical"];
        for kind in kinds {
            let text = format!("[model.distribution]\ngpu = \"{kind}\"");
            let PlanProblem { message, span, .. } = problems(&text).remove(0);
            let written = PhaseLaw::written(kind).unwrap();
            assert_eq!(message, format!("`{kind}` needs parameters, such as {written}"));
            assert_eq!(&text[span.unwrap()], format!("\"{kind}\""));
            let law =
                Plan::from_toml(&format!("[model.distribution]\ngpu = {written}")).unwrap().model.distribution.gpu;
            assert_eq!(law.kind().name(), kind);
        }
    }

    #[test]
    fn unknown_key_is_pointed_at() {
        let text = "[job]\ninput_gb = 3";
        let problem = problems(text).remove(0);
        assert_eq!(problem.to_string(), "unknown key `input_gb` in [job] (line 2); did you mean `input_mb`?");
        assert_eq!(&text[problem.span.unwrap()], "input_gb");
    }

    #[test]
    fn every_bad_value_is_reported_with_its_place() {
        let text = "[job]\nsplit_mb = 0\nreduces = 1000001\n[[cluster.node]]\n[[cluster.node]]\ngpu_speed = -1.0\n\
                    [model.distribution]\nread = { erlang = 0 }";
        let found: Vec<_> = problems(text).into_iter().map(|p| (p.key, p.span.map(|s| &text[s]))).collect();
        let expected = [
            ("job.split_mb", "0"),
            ("job.reduces", "1000001"),
            ("cluster.node[1].gpu_speed", "-1.0"),
            ("model.distribution.read", "{ erlang = 0 }"),
        ];
        assert_eq!(found, expected.map(|(key, at)| (key.to_owned(), Some(at))));
    }
}
