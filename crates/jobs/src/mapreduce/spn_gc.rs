//! The numbered equations of SPN-GC, one function each: from a plan to the mean time of a phase.
//!
//! Contains only the formulas (5) to (14) of \[PESARO15\]; `task_times` applies them to every task. Sizes in MB of 2^20
//! bytes, rates in MB/s, times in s, all plain numbers, because they are added immediately. Each function requires a
//! plan without problems ([`Plan::problems`]) and is then finite, unless sizes and rates are so far apart that a
//! quotient overflows. The formulas are the paper's model of a phase, an approximation of a real job; their evaluation
//! is exact. Where the print is unreadable or contradicts itself, the function documents our choice.
//!
//! Every time depends on the bytes that its task processes. In the paper, (8), (9) and (14) as printed do not depend on
//! these bytes: they take the CPU time of one map of the test job and the GPU time of one block, for any split.
//! `model.equation8 = "printed"` gives the printed forms. docs/spn-gc.md describes the scaling of each phase.

use crate::mapreduce::params::Equation8;
use crate::mapreduce::params::Job;
use crate::mapreduce::params::Node;
use crate::mapreduce::params::Plan;

/// Size of the metadata of one spilled record \[MB\]: 16 bytes \[PESARO15, Sec. II.B\].
const RECORD_META_MB: f64 = 16.0 / 1_048_576.0;

/// Quotients this close to an integer (relative) count as that integer, so 2.1/0.7 rounds up to 3, not to 4.
const WHOLE: f64 = 1e-12;

/// Returns `size / part` rounded up, robust against the rounding of decimal fractions.
fn parts(size: f64, part: f64) -> f64 {
    let quotient = size / part;
    let nearest = quotient.round();
    if (quotient - nearest).abs() <= WHOLE * quotient { nearest } else { quotient.ceil() }
}

/// Returns the number of map tasks.
///
/// ```text
/// M = ⌈D_input / D_split⌉
/// ```
///
/// Exact. Source: \[PESARO15, Eq. 5\].
pub fn map_tasks(job: &Job) -> u64 {
    parts(job.input_mb, job.split_mb) as u64
}

/// Returns the input of map task `map` (from 0) \[MB\]: a split, or the remainder of the input for the last map.
///
/// Exact. In the printed form, the last split is as large as the other splits.
pub fn map_input_mb(plan: &Plan, map: u64) -> f64 {
    let left = plan.job.input_mb - map as f64 * plan.job.split_mb;
    let whole = is_printed(plan) || left >= plan.job.split_mb * (1.0 - WHOLE * plan.maps() as f64);
    if whole { plan.job.split_mb } else { left.max(0.0) }
}

/// Returns the input of one map task of the test job \[MB\]: D_test / M_test. Exact.
pub fn test_split_mb(plan: &Plan) -> f64 {
    plan.profile.input_mb / plan.profile.maps as f64
}

/// Returns true if (8), (9), (12) and (14) are evaluated as printed.
fn is_printed(plan: &Plan) -> bool {
    plan.model.equation8 == Equation8::Printed
}

/// Returns the share of a map task's input that is on the disk of its node, 0 to 1.
///
/// ```text
/// A = min(1, replicas / data nodes)
/// ```
///
/// The mean over maps; every worker is a data node. Source: \[PESARO15, Sec. II.B\]; the minimum is our addition, for clusters with fewer nodes than
/// replicas.
pub fn local_share(plan: &Plan) -> f64 {
    (plan.cluster.replicas as f64 / plan.workers() as f64).min(1.0)
}

/// Returns CPU_test / CPU_i: the ratio of the node's CPU time to the test job's.
fn cpu_ratio(plan: &Plan, node: &Node) -> f64 {
    plan.profile.cpu_speed / node.cpu_speed
}

/// Returns T_m of a map of `split` MB \[s\]: `map_fixed_s`, plus the remainder of `map_cpu_s` in proportion
/// to the bytes.
fn map_cpu_s(plan: &Plan, split: f64) -> f64 {
    let (whole, fixed) = (plan.profile.map_cpu_s, plan.profile.map_fixed_s);
    if is_printed(plan) { whole } else { fixed + (whole - fixed) * split / test_split_mb(plan) }
}

/// Returns the GPU time of `data` MB, moved in blocks at `rate` MB/s \[s\].
///
/// ```text
/// data/(D_test/M_test) · (D_block/rate + D_block/D_test · GPU_test/GPU_i · T_m_gpu)
/// ```
///
/// The paper's GPU processes all blocks of a split simultaneously. Our model processes as many blocks simultaneously as
/// a split of the test job contains, so more data take more rounds. In the printed form, there is one round.
fn gpu_rounds_s(plan: &Plan, node: &Node, data: f64, rate: f64) -> f64 {
    let (block, ratio) = (plan.job.gpu_block_mb, plan.profile.gpu_speed / node.gpu_speed);
    let rounds = if is_printed(plan) { 1.0 } else { data / test_split_mb(plan) };
    rounds * (block / rate + block / plan.profile.input_mb * ratio * plan.profile.map_gpu_s)
}

/// Returns 1/HR + 1/HW + 1/MR + 1/MW: seconds to merge one MB through disk and memory \[s/MB\].
fn merge_s_per_mb(node: &Node) -> f64 {
    1.0 / node.disk_read_mb_per_s
        + 1.0 / node.disk_write_mb_per_s
        + 1.0 / node.memory_read_mb_per_s
        + 1.0 / node.memory_write_mb_per_s
}

/// Returns the mean time of phase 1, loading and splitting \[s\].
///
/// ```text
/// T1 = T_load + T_upload
/// ```
///
/// Source: \[PESARO15, Eq. 6\].
pub fn load_s(plan: &Plan) -> f64 {
    plan.profile.load_s + plan.profile.upload_s
}

/// Returns the mean time of phase 2, fetching the remote part of a split of `split` MB, on `node` with the local share
/// `a` \[s\].
///
/// ```text
/// T2 = (1 - A) (D_split/HR + D_split/net + D_split/HW)
/// ```
///
/// The printed equation takes the maximum over maps, and its first sign is illegible. In our model, each map has a
/// separate mean, and the maximum results from the net. The first term also includes only the remote part, because (8)
/// reads the split from the local disk. Source: \[PESARO15, Eq. 7\].
pub fn read_s(node: &Node, a: f64, split: f64) -> f64 {
    (1.0 - a) * (split / node.disk_read_mb_per_s + split / node.network_mb_per_s + split / node.disk_write_mb_per_s)
}

/// Returns the mean time of phase 3, map function on `split` MB and copy to the GPU \[s\].
///
/// ```text
/// T3 = D_split/HR + D_split/MR + CPU_test/CPU_i · T_m(D_split) + blocks/GW
/// T_m(D_split) = T_fixed + (T_m - T_fixed) · D_split/(D_test/M_test)
/// ```
///
/// The printed equation has T_m of the test job's split and D_block/GW for any split. The blocks are the blocks of
/// [`gpu_s`]. Source: \[PESARO15, Eq. 8\].
pub fn to_gpu_s(plan: &Plan, node: &Node, split: f64) -> f64 {
    map_s(plan, node, split) + copy_to_gpu_s(plan, node, split)
}

/// Returns the part of [`to_gpu_s`] before the copy: the map function on `split` MB \[s\].
pub fn map_s(plan: &Plan, node: &Node, split: f64) -> f64 {
    split / node.disk_read_mb_per_s + split / node.memory_read_mb_per_s + cpu_ratio(plan, node) * map_cpu_s(plan, split)
}

/// Returns the part of [`to_gpu_s`] in which data are copied to the GPU \[s\].
pub fn copy_to_gpu_s(plan: &Plan, node: &Node, split: f64) -> f64 {
    let blocks = if is_printed(plan) { 1.0 } else { split / test_split_mb(plan) };
    blocks * plan.job.gpu_block_mb / node.gpu_write_mb_per_s
}

/// Returns the mean time of phase 4, GPU computing on `split` MB \[s\].
///
/// ```text
/// T4 = D_split/(D_test/M_test) · (D_block/GR + D_block/D_test · GPU_test/GPU_i · T_m_gpu)
/// ```
///
/// The printed equation takes the maximum over the blocks of a split, which is one block's time, because its GPU
/// processes all blocks simultaneously. Our model processes as many blocks simultaneously as a split of the test job
/// contains. Both are equal if both splits have the same size. Source: \[PESARO15, Eq. 9\].
pub fn gpu_s(plan: &Plan, node: &Node, split: f64) -> f64 {
    gpu_rounds_s(plan, node, split, node.gpu_read_mb_per_s)
}

/// Returns the mean time of phase 5, `split` MB from the GPU to the host \[s\].
///
/// ```text
/// T5 = D_split/GR + D_split/HW + D_split/MW
/// ```
///
/// Source: \[PESARO15, Eq. 10\].
pub fn to_host_s(node: &Node, split: f64) -> f64 {
    split / node.gpu_read_mb_per_s + split / node.disk_write_mb_per_s + split / node.memory_write_mb_per_s
}

/// Data that one map task sorts and spills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpillSizes {
    /// D_meta, metadata of the task's records \[MB\], >= 0.
    pub metadata_mb: f64,
    /// D_data by the formula \[MB\]; below 0 if the metadata exceed the map's data.
    pub raw_data_mb: f64,
}

impl SpillSizes {
    /// Returns D_data \[MB\], at least 0.
    pub fn data_mb(self) -> f64 {
        self.raw_data_mb.max(0.0)
    }

    /// Returns D_spill = D_meta + D_data \[MB\].
    pub fn spill_mb(self) -> f64 {
        self.metadata_mb + self.data_mb()
    }
}

/// Returns the metadata and data that a map task of `split` MB spills.
///
/// ```text
/// D_meta = 16 B · D_split/D_test · spilled_records
/// D_data = D_split/D_test · D_map - D_meta
/// ```
///
/// The print has the mean D_input/M instead of D_split. Both are equal unless the last split is smaller. With many tiny records D_data is negative in
/// the print; [`SpillSizes::data_mb`] returns 0 in that case. Source: \[PESARO15, Sec. II.B, before Eq. 11\]; the operator before D_meta is
/// unreadable, but a minus fits.
pub fn spill_sizes(plan: &Plan, split: f64) -> SpillSizes {
    let per_map = match plan.model.equation8 {
        Equation8::Printed => plan.job.input_mb / (plan.profile.input_mb * plan.maps() as f64),
        Equation8::Bytes => split / plan.profile.input_mb,
    };
    let metadata_mb = RECORD_META_MB * per_map * plan.profile.spilled_records as f64;
    SpillSizes { metadata_mb, raw_data_mb: per_map * plan.profile.map_data_mb - metadata_mb }
}

/// Returns the number of spills of a map task of `split` MB.
///
/// ```text
/// N_spill = max(⌈D_meta/B_meta⌉, ⌈D_data/B_data⌉)
/// B_meta = sort.mb · sort.record.percent · sort.spill.percent
/// B_data = sort.mb · (1 - sort.record.percent) · sort.spill.percent
/// ```
///
/// Exact. Source: \[PESARO15, Sec. II.B, before Eq. 11\].
pub fn spill_count(plan: &Plan, split: f64) -> f64 {
    let sizes = spill_sizes(plan, split);
    let hadoop = &plan.hadoop;
    let buffer = hadoop.sort_mb * hadoop.sort_spill_percent;
    let metadata = parts(sizes.metadata_mb, buffer * hadoop.sort_record_percent);
    metadata.max(parts(sizes.data_mb(), buffer * (1.0 - hadoop.sort_record_percent)))
}

/// Returns the number of merges of the spills of a map task of `split` MB.
///
/// ```text
/// N_merge = ⌈N_spill / sort.factor⌉
/// ```
///
/// Exact. Source: \[PESARO15, Sec. II.B, before Eq. 11\].
pub fn merge_count(plan: &Plan, split: f64) -> f64 {
    parts(spill_count(plan, split), plan.hadoop.sort_factor as f64)
}

/// Returns the mean time of phase 6, sort and spill of a map of `split` MB \[s\].
///
/// ```text
/// T6 = N_spill (D_spill/MR + D_spill/HW) + N_merge D_spill (1/HR + 1/HW + 1/MR + 1/MW)
/// ```
///
/// D_spill is all spilled data of the task, so with several spills the printed equation counts this data several times.
/// We follow the printed equation, so a map with twice the data takes two to four times as long. Source: \[PESARO15,
/// Eq. 11\].
pub fn spill_s(plan: &Plan, node: &Node, split: f64) -> f64 {
    let size = spill_sizes(plan, split).spill_mb();
    spill_count(plan, split) * (size / node.memory_read_mb_per_s + size / node.disk_write_mb_per_s)
        + merge_count(plan, split) * size * merge_s_per_mb(node)
}

/// Returns the mean time of phase 7, transmit and shuffle, with the local share `a` \[s\].
///
/// ```text
/// T7 = D_shuffle · (A/HR + (1-A)/net + (1-A)/HW)
/// ```
///
/// The print has D_input/(D_test·R) · D_mapoutput, without the M_test of (13): with `map_output_per_task` that is the data of one of the test job's
/// maps. Source: \[PESARO15, Eq. 12\].
pub fn shuffle_s(plan: &Plan, node: &Node, a: f64) -> f64 {
    let profile = &plan.profile;
    let remote = 1.0 - a;
    let size = match plan.model.equation8 {
        Equation8::Printed => plan.job.input_mb / (profile.input_mb * plan.reduces() as f64) * profile.map_output_mb,
        Equation8::Bytes => shuffled_mb(plan),
    };
    size * (a / node.disk_read_mb_per_s + remote / node.network_mb_per_s + remote / node.disk_write_mb_per_s)
}

/// Returns D_shuffle / D_mapoutput: input of a reducer, in units of `profile.map_output_mb`.
fn shuffled_ratio(plan: &Plan) -> f64 {
    let maps = if plan.profile.map_output_per_task { plan.profile.maps as f64 } else { 1.0 };
    plan.job.input_mb / plan.profile.input_mb * maps / plan.reduces() as f64
}

/// Returns the data that one reducer sorts and merges \[MB\].
///
/// ```text
/// D_shuffle = D_input/D_test · D_mapoutput · M_test / R
/// ```
///
/// M_test counts as 1 if the profile states the map output of the whole test job; with
/// `map_output_per_task` it is the test job's number of maps, as printed. Source: \[PESARO15,
/// before Eq. 13\].
pub fn shuffled_mb(plan: &Plan) -> f64 {
    shuffled_ratio(plan) * plan.profile.map_output_mb
}

/// Returns the mean time of phase 8, sort and merge \[s\].
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
    size * (1.0 / node.memory_read_mb_per_s + 1.0 / node.memory_write_mb_per_s)
        + reduce_merges(plan) * size * merge_s_per_mb(node)
}

/// Returns the number of merges of a reducer's data to disk, as in [`merge_s`].
pub fn reduce_merges(plan: &Plan) -> f64 {
    let hadoop = &plan.hadoop;
    let buffer = hadoop.reduce_heap_mb * hadoop.shuffle_buffer_percent * hadoop.shuffle_merge_percent;
    parts(shuffled_mb(plan), buffer)
}

/// Returns the mean time of phase 9, the reduce function \[s\].
///
/// ```text
/// T9 = D_shuffle/MR
///    + [reduce_on_gpu] D_shuffle/(D_test/M_test) · (D_block/GW + D_block/D_test · GPU_test/GPU_i · T_m_gpu) + D_shuffle/GR
///    + D_shuffle/D_mapoutput · CPU_test/CPU_i · T_r
///    + D_input/(D_test·R) · D_red (1/HW + 1/MR)
/// ```
///
/// The printed equation always has the GPU term; the text says that a reduce function *may* use the GPU. So
/// `model.reduce_on_gpu` decides whether this term is included. The GPU processes as many blocks simultaneously as in
/// [`gpu_s`]; in the printed form, all blocks. Source: \[PESARO15, Eq. 14\].
pub fn reduce_s(plan: &Plan, node: &Node) -> f64 {
    let profile = &plan.profile;
    let size = shuffled_mb(plan);
    let output = reduce_output_mb(plan);
    size / node.memory_read_mb_per_s
        + reduce_gpu_s(plan, node)
        + shuffled_ratio(plan) * cpu_ratio(plan, node) * profile.reduce_cpu_s
        + output * (1.0 / node.disk_write_mb_per_s + 1.0 / node.memory_read_mb_per_s)
}

/// Returns the output of one reduce task, as in [`reduce_s`] \[MB\].
pub fn reduce_output_mb(plan: &Plan) -> f64 {
    let profile = &plan.profile;
    plan.job.input_mb / (profile.input_mb * plan.reduces() as f64) * profile.reduce_output_mb
}

/// Returns the GPU's part of [`reduce_s`] \[s\]; 0 unless `model.reduce_on_gpu`.
pub fn reduce_gpu_s(plan: &Plan, node: &Node) -> f64 {
    if !plan.model.reduce_on_gpu {
        return 0.0;
    }
    let size = shuffled_mb(plan);
    gpu_rounds_s(plan, node, size, node.gpu_write_mb_per_s) + size / node.gpu_read_mb_per_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// A plan and node with round numbers: CPU ratio 2, GPU ratio 1/2, M = 16, R = 5, D_input/D_test = 4.
    fn round() -> (Plan, Node) {
        let mut plan = Plan::default();
        plan.model.equation8 = Equation8::Printed;
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
        let (_, node) = round();
        equals(read_s(&node, 0.75, 64.0), 1.12);
        assert!(read_s(&node, 1.0, 64.0).abs() < 1e-300);
    }

    #[test]
    fn eq8_copy_to_gpu() {
        // 64/100 + 64/1000 + 2·6 + 16/800 = 0.64 + 0.064 + 12 + 0.02
        let (plan, node) = round();
        equals(to_gpu_s(&plan, &node, 64.0), 12.724);
    }

    #[test]
    fn eq9_gpu_computing_is_one_block_s() {
        // 16/400 + 16/250 · 1/2 · 50 = 0.04 + 1.6
        let (plan, node) = round();
        equals(gpu_s(&plan, &node, 64.0), 1.64);
    }

    #[test]
    fn eq10_device_to_host() {
        // 64/400 + 64/50 + 64/500 = 0.16 + 1.28 + 0.128
        let (_, node) = round();
        equals(to_host_s(&node, 64.0), 1.568);
    }

    #[test]
    fn spill_sizes_split_the_map_s_data() {
        // 4/16 of the test job's: D_meta = 40/4 = 10, D_data = 400/4 - 10 = 90
        let sizes = spill_sizes(&round().0, 64.0);
        equals(sizes.metadata_mb, 10.0);
        equals(sizes.data_mb(), 90.0);
        equals(sizes.spill_mb(), 100.0);
    }

    #[test]
    fn spill_and_merge_counts_follow_the_buffers() {
        // buffers 100·0.05·0.8 = 4 MB and 100·0.95·0.8 = 76 MB: max(⌈10/4⌉, ⌈90/76⌉) = max(3, 2); ⌈3/10⌉ = 1
        let (mut plan, _) = round();
        equals(spill_count(&plan, 64.0), 3.0);
        equals(merge_count(&plan, 64.0), 1.0);
        // exactly full buffers: 10/(100·0.125·0.8) = 1, 90/(100·0.875·0.8) = 1.29
        plan.hadoop.sort_record_percent = 0.125;
        equals(spill_count(&plan, 64.0), 2.0);
        plan.hadoop.sort_mb = 0.1; // 1000 times smaller: ⌈1000⌉ against ⌈1285.7⌉; ⌈1286/10⌉ = 129
        equals(spill_count(&plan, 64.0), 1_286.0);
        equals(merge_count(&plan, 64.0), 129.0);
    }

    #[test]
    fn metadata_above_the_map_data_leaves_no_data() {
        let (mut plan, _) = round();
        plan.profile.map_data_mb = 20.0; // 5 MB a map, of which 10 MB would be metadata
        let sizes = spill_sizes(&plan, 64.0);
        equals(sizes.raw_data_mb, -5.0);
        equals(sizes.spill_mb(), 10.0);
    }

    #[test]
    fn eq11_spill() {
        // 3 (100/1000 + 100/50) + 1·100 (0.01 + 0.02 + 0.001 + 0.002) = 3·2.1 + 3.3
        let (plan, node) = round();
        equals(spill_s(&plan, &node, 64.0), 9.6);
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
        // 0.8·2·10 + 0.42: the reduce function still runs
        equals(reduce_s(&plan, &node), 16.42);
        assert!(merge_s(&plan, &node).abs() < 1e-300);
    }

    /// Scaling invariants, with `proptest` over sizes, blocks, reduces and speeds.
    mod scaling {
        use super::*;
        use proptest::prelude::*;

        /// Returns phases 2 to 6 of a map with a whole split, 7, and 8 and 9 of a reduce \[s\].
        fn times(plan: &Plan) -> [f64; 8] {
            let (node, split) = (&plan.cluster.node[0], map_input_mb(plan, 0));
            let a = local_share(plan);
            [
                read_s(node, a, split),
                to_gpu_s(plan, node, split),
                gpu_s(plan, node, split),
                to_host_s(node, split),
                spill_s(plan, node, split),
                shuffle_s(plan, node, a),
                merge_s(plan, node),
                reduce_s(plan, node),
            ]
        }

        /// Returns the ratios of the times of the changed plan to the times of `plan`.
        fn ratios(plan: &Plan, change: impl FnOnce(&mut Plan)) -> [f64; 8] {
            let mut changed = plan.clone();
            change(&mut changed);
            let (before, after) = (times(plan), times(&changed));
            std::array::from_fn(|i| after[i] / before[i])
        }

        /// Checks that each ratio lies between its two bounds. Spills and merges of more data are repeated more often.
        fn within(ratios: [f64; 8], bounds: [(f64, f64); 8]) -> Result<(), TestCaseError> {
            for (phase, (ratio, (low, high))) in (2..).zip(ratios.into_iter().zip(bounds)) {
                let fine = (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&ratio);
                prop_assert!(fine, "phase {phase}: {ratio} is not within {low} to {high}");
            }
            Ok(())
        }

        const SAME: (f64, f64) = (1.0, 1.0);
        const DOUBLE: (f64, f64) = (2.0, 2.0);
        const HALF: (f64, f64) = (0.5, 0.5);
        /// Twice the data, each pass over them repeated once to twice as often.
        const TWO_TO_FOUR: (f64, f64) = (2.0, 4.0);

        prop_compose! {
            fn plans()(
                maps in 1_u32..200, split in 8.0..512.0_f64, blocks in 1_u32..8, reduces in 1_u64..60,
                test_maps in 1_u64..20, test_split in 16.0..256.0_f64, per_task in any::<bool>(), gpu in any::<bool>(),
                cpu_s in 0.0..100.0_f64, gpu_s in 1.0..100.0_f64, workers in 4_u64..20, records in 0_u64..10_000_000,
            ) -> Plan {
                let mut plan = Plan::default();
                (plan.job.input_mb, plan.job.split_mb) = (f64::from(maps) * split, split);
                (plan.job.gpu_block_mb, plan.job.reduces) = (split / f64::from(blocks), reduces);
                (plan.profile.input_mb, plan.profile.maps) = (test_maps as f64 * test_split, test_maps);
                (plan.profile.map_cpu_s, plan.profile.map_gpu_s) = (cpu_s, gpu_s);
                (plan.profile.map_output_per_task, plan.model.reduce_on_gpu) = (per_task, gpu);
                (plan.profile.spilled_records, plan.cluster.node[0].count) = (records, workers);
                plan
            }
        }

        proptest! {
            /// Bytes doubled, maps fixed: every map and every reduce processes twice the bytes.
            #[test]
            fn doubling_the_input_at_fixed_maps_scales_each_phase_as_expected(plan in plans()) {
                let found = ratios(&plan, |plan| {
                    plan.job.input_mb *= 2.0;
                    plan.job.split_mb *= 2.0;
                });
                within(found, [DOUBLE, DOUBLE, DOUBLE, DOUBLE, TWO_TO_FOUR, DOUBLE, TWO_TO_FOUR, DOUBLE])?;
            }

            /// Split doubled, bytes fixed: half the maps, each with twice the bytes; reduces are unaffected.
            #[test]
            fn doubling_the_split_at_fixed_input_scales_map_phases_only(plan in plans()) {
                let found = ratios(&plan, |plan| plan.job.split_mb *= 2.0);
                let one = plan.maps() == 1;
                let [map, spill] = if one { [SAME, SAME] } else { [DOUBLE, TWO_TO_FOUR] };
                within(found, [map, map, map, map, spill, SAME, SAME, SAME])?;
            }

            /// Bytes doubled, split fixed: twice the maps, each as before; reduces have twice the bytes.
            #[test]
            fn doubling_the_input_at_fixed_split_scales_reduce_phases_only(plan in plans()) {
                let found = ratios(&plan, |plan| plan.job.input_mb *= 2.0);
                within(found, [SAME, SAME, SAME, SAME, SAME, DOUBLE, TWO_TO_FOUR, DOUBLE])?;
            }

            /// Reduces doubled: each has half the bytes; maps are unaffected.
            #[test]
            fn doubling_the_reduces_halves_their_phases(plan in plans()) {
                let found = ratios(&plan, |plan| plan.job.reduces *= 2);
                within(found, [SAME, SAME, SAME, SAME, SAME, HALF, (0.25, 0.5), HALF])?;
            }

            /// The test job's bytes and maps doubled, with its totals doubled: nothing changes except for the GPU, where a block is half as large a
            /// share. With its GPU time doubled as well, nothing changes at all.
            #[test]
            fn doubling_the_test_job_changes_no_phase(plan in plans()) {
                let found = ratios(&plan, |plan| {
                    let profile = &mut plan.profile;
                    (profile.input_mb, profile.maps) = (profile.input_mb * 2.0, profile.maps * 2);
                    profile.spilled_records *= 2;
                    profile.map_data_mb *= 2.0;
                    profile.map_output_mb *= if profile.map_output_per_task { 1.0 } else { 2.0 };
                    profile.reduce_output_mb *= 2.0;
                    profile.map_gpu_s *= 2.0;
                    profile.reduce_cpu_s *= if profile.map_output_per_task { 1.0 } else { 2.0 };
                });
                within(found, [SAME; 8])?;
            }

            /// Blocks doubled: half as many are processed at once, so the GPU takes twice as long, as printed.
            #[test]
            fn doubling_the_gpu_block_doubles_gpu_computing(mut plan in plans()) {
                (plan.model.reduce_on_gpu, plan.profile.map_cpu_s) = (false, 0.0);
                let found = ratios(&plan, |plan| plan.job.gpu_block_mb *= 2.0);
                within(found, [SAME, (1.0, 2.0), DOUBLE, SAME, SAME, SAME, SAME, SAME])?;
            }

            /// The maps of a job process exactly its input, wherever the last split ends.
            #[test]
            fn maps_handle_the_whole_input(plan in plans(), last in 0.01..1.0_f64) {
                let mut plan = plan;
                plan.job.input_mb -= plan.job.split_mb * (1.0 - last);
                let sum: f64 = (0..plan.maps()).map(|map| map_input_mb(&plan, map)).sum();
                prop_assert!((sum / plan.job.input_mb - 1.0).abs() < 1e-9, "{sum} of {}", plan.job.input_mb);
            }

            /// At the split of the test job both forms are the same.
            #[test]
            fn the_printed_equation_8_agrees_at_the_split_of_the_test_job(mut plan in plans()) {
                (plan.profile.map_output_per_task, plan.model.reduce_on_gpu) = (false, false);
                plan.profile.input_mb = plan.job.split_mb * plan.profile.maps as f64;
                within(ratios(&plan, |plan| plan.model.equation8 = Equation8::Printed), [SAME; 8])?;
            }
        }

        #[test]
        fn a_fixed_part_does_not_grow_with_the_split() {
            let (mut plan, node) = round();
            plan.model.equation8 = Equation8::Bytes;
            plan.profile.map_fixed_s = 1.5;
            // test splits of 250/4 MB: 2 (1.5 + 4.5·128/62.5) = 21.432, and 128/100 + 128/1000 + 128/62.5·16/800
            equals(to_gpu_s(&plan, &node, 128.0), 21.432 + 1.408 + 0.04096);
            // 128/62.5 (16/400 + 16/250·1/2·50)
            equals(gpu_s(&plan, &node, 128.0), 2.048 * 1.64);
        }
    }
}
