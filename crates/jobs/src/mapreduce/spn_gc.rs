//! The numbered equations of SPN-GC, one function each: from a plan to the mean time of a phase.
//!
//! Owns the formulas (5) to (14) of \[PESARO15\] and nothing else; `task_times` applies them to every task.
//! Sizes in MB of 2^20 bytes, rates in MB/s, times in s, all plain numbers, since they are added at once.
//! Each function wants a plan without problems ([`Plan::problems`]) and is then finite, unless sizes and
//! rates are so far apart that a quotient overflows. The formulas are the paper's model of a phase, an
//! approximation of a real job; their evaluation is exact. Where the print is unreadable or contradicts
//! itself, the function says what was chosen.

use crate::mapreduce::params::Job;
use crate::mapreduce::params::Node;
use crate::mapreduce::params::Plan;

/// Size of the metadata of one spilled record \[MB\]: 16 bytes \[PESARO15, Sec. II.B\].
const RECORD_META_MB: f64 = 16.0 / 1_048_576.0;

/// Quotients this close to a whole number (relative) are that number, so 2.1/0.7 rounds up to 3, not to 4.
const WHOLE: f64 = 1e-12;

/// `size / part` rounded up, robust against the rounding of decimal fractions.
fn parts(size: f64, part: f64) -> f64 {
    let quotient = size / part;
    let nearest = quotient.round();
    if (quotient - nearest).abs() <= WHOLE * quotient { nearest } else { quotient.ceil() }
}

/// Number of map tasks.
///
/// ```text
/// M = ⌈D_input / D_split⌉
/// ```
///
/// Exact. Source: \[PESARO15, Eq. 5\].
pub fn map_tasks(job: &Job) -> u64 {
    parts(job.input_mb, job.split_mb) as u64
}

/// Share of a map task's input that is on its own node's disk, 0 to 1.
///
/// ```text
/// A = min(1, replicas / data nodes)
/// ```
///
/// The mean over maps; every worker is a data node. Source: \[PESARO15, Sec. II.B\]; the minimum is ours, for
/// clusters with fewer nodes than replicas.
pub fn local_share(plan: &Plan) -> f64 {
    (plan.cluster.replicas as f64 / plan.workers() as f64).min(1.0)
}

/// CPU_test / CPU_i: how much longer the node's CPU takes than that of the test job.
fn cpu_ratio(plan: &Plan, node: &Node) -> f64 {
    plan.profile.cpu_speed / node.cpu_speed
}

/// D_block/D_test · GPU_test/GPU_i · T_m_gpu: GPU time of one block \[s\].
fn gpu_block_s(plan: &Plan, node: &Node) -> f64 {
    let ratio = plan.profile.gpu_speed / node.gpu_speed;
    plan.job.gpu_block_mb / plan.profile.input_mb * ratio * plan.profile.map_gpu_s
}

/// 1/HR + 1/HW + 1/MR + 1/MW: seconds to merge one MB through disk and memory \[s/MB\].
fn merge_s_per_mb(node: &Node) -> f64 {
    1.0 / node.disk_read_mb_per_s
        + 1.0 / node.disk_write_mb_per_s
        + 1.0 / node.memory_read_mb_per_s
        + 1.0 / node.memory_write_mb_per_s
}

/// Mean time of phase 1, loading and splitting \[s\].
///
/// ```text
/// T1 = T_load + T_upload
/// ```
///
/// Source: \[PESARO15, Eq. 6\].
pub fn load_s(plan: &Plan) -> f64 {
    plan.profile.load_s + plan.profile.upload_s
}

/// Mean time of phase 2, fetching the remote part of a split, on `node` with the local share `a` \[s\].
///
/// ```text
/// T2 = (1 - A) (D_split/HR + D_split/net + D_split/HW)
/// ```
///
/// The print takes the maximum over maps and its first sign is unreadable: here each map has its own mean (the
/// maximum arises in the net), and the first term too counts the remote part only, since (8) reads the
/// split from the local disk. Source: \[PESARO15, Eq. 7\].
pub fn read_s(plan: &Plan, node: &Node, a: f64) -> f64 {
    let split = plan.job.split_mb;
    (1.0 - a) * (split / node.disk_read_mb_per_s + split / node.network_mb_per_s + split / node.disk_write_mb_per_s)
}

/// Mean time of phase 3, map function and copy to the GPU \[s\].
///
/// ```text
/// T3 = D_split/HR + D_split/MR + CPU_test/CPU_i · T_m + D_block/GW
/// ```
///
/// T_m is not scaled by the split: the test job's splits are taken to be of the same size.
/// Source: \[PESARO15, Eq. 8\].
pub fn to_gpu_s(plan: &Plan, node: &Node) -> f64 {
    let split = plan.job.split_mb;
    split / node.disk_read_mb_per_s
        + split / node.memory_read_mb_per_s
        + cpu_ratio(plan, node) * plan.profile.map_cpu_s
        + plan.job.gpu_block_mb / node.gpu_write_mb_per_s
}

/// Mean time of phase 4, GPU computing \[s\].
///
/// ```text
/// T4 = max over the n = D_split/D_block blocks of
///      D_block/GR + D_block/D_test · GPU_test/GPU_i · T_m_gpu
/// ```
///
/// All blocks are equal, so the maximum is one block's time: the paper lets the GPU work on all blocks at once.
/// Source: \[PESARO15, Eq. 9\].
pub fn gpu_s(plan: &Plan, node: &Node) -> f64 {
    plan.job.gpu_block_mb / node.gpu_read_mb_per_s + gpu_block_s(plan, node)
}

/// Mean time of phase 5, GPU device to host \[s\].
///
/// ```text
/// T5 = D_split/GR + D_split/HW + D_split/MW
/// ```
///
/// Source: \[PESARO15, Eq. 10\].
pub fn to_host_s(plan: &Plan, node: &Node) -> f64 {
    let split = plan.job.split_mb;
    split / node.gpu_read_mb_per_s + split / node.disk_write_mb_per_s + split / node.memory_write_mb_per_s
}

/// What one map task sorts and spills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpillSizes {
    /// D_meta, metadata of its records \[MB\], >= 0.
    pub metadata_mb: f64,
    /// D_data as the formula has it \[MB\]; below 0 if the metadata outweigh the map's data.
    pub raw_data_mb: f64,
}

impl SpillSizes {
    /// D_data \[MB\], at least 0.
    pub fn data_mb(self) -> f64 {
        self.raw_data_mb.max(0.0)
    }

    /// D_spill = D_meta + D_data \[MB\].
    pub fn spill_mb(self) -> f64 {
        self.metadata_mb + self.data_mb()
    }
}

/// Metadata and data that one map task spills.
///
/// ```text
/// D_meta = 16 B · D_input/(D_test·M) · spilled_records
/// D_data = D_input/D_test · D_map/M - D_meta
/// ```
///
/// With many tiny records D_data is negative in the print; [`SpillSizes::data_mb`] takes 0 then.
/// Source: \[PESARO15, Sec. II.B, before Eq. 11\]; the operator before D_meta is unreadable, minus fits.
pub fn spill_sizes(plan: &Plan) -> SpillSizes {
    let per_map = plan.job.input_mb / (plan.profile.input_mb * plan.maps() as f64);
    let metadata_mb = RECORD_META_MB * per_map * plan.profile.spilled_records as f64;
    SpillSizes { metadata_mb, raw_data_mb: per_map * plan.profile.map_data_mb - metadata_mb }
}

/// How often one map task spills.
///
/// ```text
/// N_spill = max(⌈D_meta/B_meta⌉, ⌈D_data/B_data⌉)
/// B_meta = sort.mb · sort.record.percent · sort.spill.percent
/// B_data = sort.mb · (1 - sort.record.percent) · sort.spill.percent
/// ```
///
/// Exact. Source: \[PESARO15, Sec. II.B, before Eq. 11\].
pub fn spill_count(plan: &Plan) -> f64 {
    let sizes = spill_sizes(plan);
    let hadoop = &plan.hadoop;
    let buffer = hadoop.sort_mb * hadoop.sort_spill_percent;
    let metadata = parts(sizes.metadata_mb, buffer * hadoop.sort_record_percent);
    metadata.max(parts(sizes.data_mb(), buffer * (1.0 - hadoop.sort_record_percent)))
}

/// How often one map task merges its spills.
///
/// ```text
/// N_merge = ⌈N_spill / sort.factor⌉
/// ```
///
/// Exact. Source: \[PESARO15, Sec. II.B, before Eq. 11\].
pub fn merge_count(plan: &Plan) -> f64 {
    parts(spill_count(plan), plan.hadoop.sort_factor as f64)
}

/// Mean time of phase 6, sort and spill \[s\].
///
/// ```text
/// T6 = N_spill (D_spill/MR + D_spill/HW) + N_merge D_spill (1/HR + 1/HW + 1/MR + 1/MW)
/// ```
///
/// D_spill is the task's whole spilled data, so with several spills the print counts it several times; we keep
/// that. Source: \[PESARO15, Eq. 11\].
pub fn spill_s(plan: &Plan, node: &Node) -> f64 {
    let size = spill_sizes(plan).spill_mb();
    spill_count(plan) * (size / node.memory_read_mb_per_s + size / node.disk_write_mb_per_s)
        + merge_count(plan) * size * merge_s_per_mb(node)
}

/// Mean time of phase 7, transmit and shuffle, with the local share `a` \[s\].
///
/// ```text
/// T7 = D_input/(D_test·R) · D_mapoutput · (A/HR + (1-A)/net + (1-A)/HW)
/// ```
///
/// D_mapoutput as the plan states it, also with `map_output_per_task` (so printed: (12) has no M_test, (13) has).
/// Source: \[PESARO15, Eq. 12\].
pub fn shuffle_s(plan: &Plan, node: &Node, a: f64) -> f64 {
    let profile = &plan.profile;
    let share = plan.job.input_mb / (profile.input_mb * plan.reduces() as f64);
    let remote = 1.0 - a;
    share
        * profile.map_output_mb
        * (a / node.disk_read_mb_per_s + remote / node.network_mb_per_s + remote / node.disk_write_mb_per_s)
}

/// D_shuffle / D_mapoutput: input of a reducer, in units of `profile.map_output_mb`.
fn shuffled_ratio(plan: &Plan) -> f64 {
    let maps = if plan.profile.map_output_per_task { plan.profile.maps as f64 } else { 1.0 };
    plan.job.input_mb / plan.profile.input_mb * maps / plan.reduces() as f64
}

/// Data that one reducer sorts and merges \[MB\].
///
/// ```text
/// D_shuffle = D_input/D_test · D_mapoutput · M_test / R
/// ```
///
/// M_test counts 1 where the profile states the whole test job's map output; with `map_output_per_task` it is
/// the test job's number of maps, as printed. Source: \[PESARO15, before Eq. 13\].
pub fn shuffled_mb(plan: &Plan) -> f64 {
    shuffled_ratio(plan) * plan.profile.map_output_mb
}

/// Mean time of phase 8, sort and merge \[s\].
///
/// ```text
/// T8 = D_shuffle (1/MR + 1/MW)
///    + ⌈D_shuffle/(Heap_red · shuffle.buffer.percent · shuffle.merge.percent)⌉
///      · D_shuffle (1/HR + 1/HW + 1/MR + 1/MW)
/// ```
///
/// Source: \[PESARO15, Eq. 13\].
pub fn merge_s(plan: &Plan, node: &Node) -> f64 {
    let size = shuffled_mb(plan);
    let hadoop = &plan.hadoop;
    let buffer = hadoop.reduce_heap_mb * hadoop.shuffle_buffer_percent * hadoop.shuffle_merge_percent;
    size * (1.0 / node.memory_read_mb_per_s + 1.0 / node.memory_write_mb_per_s)
        + parts(size, buffer) * size * merge_s_per_mb(node)
}

/// Mean time of phase 9, the reduce function \[s\].
///
/// ```text
/// T9 = D_shuffle/MR
///    + [reduce_on_gpu] max over blocks of (D_block/GW + D_block/D_test · GPU_test/GPU_i · T_m_gpu + D_shuffle/GR)
///    + D_shuffle/D_mapoutput · CPU_test/CPU_i · T_r
///    + D_input/(D_test·R) · D_red (1/HW + 1/MR)
/// ```
///
/// The print always has the GPU term; its text says a reduce function *may* use the GPU, hence the setting.
/// Source: \[PESARO15, Eq. 14\].
pub fn reduce_s(plan: &Plan, node: &Node) -> f64 {
    let profile = &plan.profile;
    let size = shuffled_mb(plan);
    let on_gpu = if plan.model.reduce_on_gpu {
        plan.job.gpu_block_mb / node.gpu_write_mb_per_s + gpu_block_s(plan, node) + size / node.gpu_read_mb_per_s
    } else {
        0.0
    };
    let output = plan.job.input_mb / (profile.input_mb * plan.reduces() as f64) * profile.reduce_output_mb;
    size / node.memory_read_mb_per_s
        + on_gpu
        + shuffled_ratio(plan) * cpu_ratio(plan, node) * profile.reduce_cpu_s
        + output * (1.0 / node.disk_write_mb_per_s + 1.0 / node.memory_read_mb_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// A plan and node with round numbers: CPU ratio 2, GPU ratio 1/2, M = 16, R = 5, D_input/D_test = 4.
    fn round() -> (Plan, Node) {
        let mut plan = Plan::default();
        plan.job.input_mb = 1_000.0;
        plan.job.reduces = 5;
        plan.profile.input_mb = 250.0;
        plan.profile.map_data_mb = 400.0;
        plan.profile.map_output_mb = 300.0;
        plan.profile.reduce_output_mb = 25.0;
        plan.profile.spilled_records = 40 * 65_536; // 40 MB of metadata
        (plan.profile.map_cpu_s, plan.profile.map_gpu_s, plan.profile.reduce_cpu_s) = (6.0, 50.0, 10.0);
        (plan.profile.load_s, plan.profile.upload_s) = (3.0, 1.5);
        (plan.profile.cpu_speed, plan.profile.gpu_speed) = (4.0, 1.0);
        let node = Node {
            disk_read_mb_per_s: 100.0,
            disk_write_mb_per_s: 50.0,
            memory_read_mb_per_s: 1_000.0,
            memory_write_mb_per_s: 500.0,
            gpu_read_mb_per_s: 400.0,
            gpu_write_mb_per_s: 800.0,
            network_mb_per_s: 25.0,
            cpu_speed: 2.0,
            gpu_speed: 2.0,
            ..Node::default()
        };
        assert_eq!(plan.problems(), []);
        (plan, node)
    }

    #[track_caller]
    fn equals(value: f64, expected: f64) {
        assert_relative_eq!(value, expected, max_relative = 1e-12);
    }

    #[test]
    fn eq5_map_tasks_round_up() {
        // 1000/64 = 15.625; 2.1/0.7 is 3.0000000000000004 in binary, and 3 maps
        let (mut plan, _) = round();
        assert_eq!(map_tasks(&plan.job), 16);
        (plan.job.input_mb, plan.job.split_mb) = (2.1, 0.7);
        assert_eq!(map_tasks(&plan.job), 3);
    }

    #[test]
    fn local_share_is_replicas_over_workers() {
        let (mut plan, _) = round();
        equals(local_share(&plan), 3.0 / 4.0);
        plan.cluster.replicas = 9;
        equals(local_share(&plan), 1.0);
    }

    #[test]
    fn eq6_load_is_the_sum_of_load_and_upload() {
        // 3 + 1.5
        equals(load_s(&round().0), 4.5);
    }

    #[test]
    fn eq7_read_counts_the_remote_part() {
        // (1 - 0.75) (64/100 + 64/25 + 64/50) = 0.25 (0.64 + 2.56 + 1.28) = 1.12
        let (plan, node) = round();
        equals(read_s(&plan, &node, 0.75), 1.12);
        assert!(read_s(&plan, &node, 1.0).abs() < 1e-300);
    }

    #[test]
    fn eq8_copy_to_gpu() {
        // 64/100 + 64/1000 + 2·6 + 16/800 = 0.64 + 0.064 + 12 + 0.02
        let (plan, node) = round();
        equals(to_gpu_s(&plan, &node), 12.724);
    }

    #[test]
    fn eq9_gpu_computing_is_one_block_s() {
        // 16/400 + 16/250 · 1/2 · 50 = 0.04 + 1.6
        let (plan, node) = round();
        equals(gpu_s(&plan, &node), 1.64);
    }

    #[test]
    fn eq10_device_to_host() {
        // 64/400 + 64/50 + 64/500 = 0.16 + 1.28 + 0.128
        let (plan, node) = round();
        equals(to_host_s(&plan, &node), 1.568);
    }

    #[test]
    fn spill_sizes_split_the_map_s_data() {
        // 4/16 of the test job's: D_meta = 40/4 = 10, D_data = 400/4 - 10 = 90
        let sizes = spill_sizes(&round().0);
        equals(sizes.metadata_mb, 10.0);
        equals(sizes.data_mb(), 90.0);
        equals(sizes.spill_mb(), 100.0);
    }

    #[test]
    fn spill_and_merge_counts_follow_the_buffers() {
        // buffers 100·0.05·0.8 = 4 MB and 100·0.95·0.8 = 76 MB: max(⌈10/4⌉, ⌈90/76⌉) = max(3, 2); ⌈3/10⌉ = 1
        let (mut plan, _) = round();
        equals(spill_count(&plan), 3.0);
        equals(merge_count(&plan), 1.0);
        // exactly full buffers: 10/(100·0.125·0.8) = 1, 90/(100·0.875·0.8) = 1.29
        plan.hadoop.sort_record_percent = 0.125;
        equals(spill_count(&plan), 2.0);
        plan.hadoop.sort_mb = 0.1; // 1000 times smaller: ⌈1000⌉ against ⌈1285.7⌉; ⌈1286/10⌉ = 129
        equals(spill_count(&plan), 1_286.0);
        equals(merge_count(&plan), 129.0);
    }

    #[test]
    fn tiny_records_leave_no_data() {
        let (mut plan, _) = round();
        plan.profile.map_data_mb = 20.0; // 5 MB a map, of which 10 MB would be metadata
        let sizes = spill_sizes(&plan);
        equals(sizes.raw_data_mb, -5.0);
        equals(sizes.spill_mb(), 10.0);
    }

    #[test]
    fn eq11_spill() {
        // 3 (100/1000 + 100/50) + 1·100 (0.01 + 0.02 + 0.001 + 0.002) = 3·2.1 + 3.3
        let (plan, node) = round();
        equals(spill_s(&plan, &node), 9.6);
    }

    #[test]
    fn eq12_shuffle() {
        // 1000/(250·5)·300 = 240 MB; 240 (0.75/100 + 0.25/25 + 0.25/50) = 240·0.0225
        let (plan, node) = round();
        equals(shuffle_s(&plan, &node, 0.75), 5.4);
    }

    #[test]
    fn shuffled_data_per_reducer() {
        // 4·300/5 = 240 MB; as printed, with M_test = 4: 960 MB
        let (mut plan, _) = round();
        equals(shuffled_mb(&plan), 240.0);
        plan.profile.map_output_per_task = true;
        equals(shuffled_mb(&plan), 960.0);
    }

    #[test]
    fn eq13_merge() {
        // buffer 1024·0.7·0.66 = 473.088 MB, so one pass: 240 (0.001 + 0.002) + 1·240·0.033 = 0.72 + 7.92
        let (mut plan, node) = round();
        equals(merge_s(&plan, &node), 8.64);
        // as printed: 960 MB in ⌈2.03⌉ = 3 passes: 960·0.003 + 3·960·0.033 = 2.88 + 95.04
        plan.profile.map_output_per_task = true;
        equals(merge_s(&plan, &node), 97.92);
    }

    #[test]
    fn eq14_reduce() {
        // 240/1000 + 240/300·2·10 + 1000/(250·5)·25 (1/50 + 1/1000) = 0.24 + 16 + 20·0.021
        let (mut plan, node) = round();
        equals(reduce_s(&plan, &node), 16.66);
        // GPU: 16/800 + 16/250·1/2·50 + 240/400 = 0.02 + 1.6 + 0.6
        plan.model.reduce_on_gpu = true;
        equals(reduce_s(&plan, &node), 16.66 + 2.22);
    }

    #[test]
    fn a_job_without_map_output_has_finite_times() {
        let (mut plan, node) = round();
        plan.profile.map_output_mb = 0.0;
        // 0.8·2·10 + 0.42: the reduce function runs all the same
        equals(reduce_s(&plan, &node), 16.42);
        assert!(merge_s(&plan, &node).abs() < 1e-300);
    }
}
