//! The old names of keys of job plans.

use crate::plan::rename::Rename;

/// Keys of job plans that had another name before 0.2.
pub const JOB_RENAMES: [Rename; 19] = [
    Rename::dropped("kind"),
    Rename::to("cluster.nodes", "cluster.node"),
    Rename::to("cluster.node[].active", "cluster.node[].active_cores"),
    Rename::to("cluster.node[].speed", "cluster.node[].cpu_speed"),
    // slow attempts had a factor, but a share of 0 by default
    Rename::to("noise.slow_share", "stragglers.share"),
    Rename::to("noise.slow_factor", "stragglers.factor").with_default("stragglers.share", "0.0"),
    Rename::to("slowdown.mean_lasting_s", "slowdown.mean_duration_s"),
    Rename::to("job[].slow_start", "job[].slowstart"),
    Rename::to("model.law", "model.distribution"),
    Rename::to("stragglers.law", "stragglers.distribution"),
    Rename::to("stage[].law", "stage[].distribution"),
    Rename::to("stage[].partitions", "stage[].uses_partitions"),
    Rename::to("run.freedom", "run.degrees_of_freedom"),
    Rename::to("job.end_s", "job.teardown_s"),
    Rename::to("seen", "measured_range"),
    Rename::to("measured_range.least_input_mb", "measured_range.min_input_mb"),
    Rename::to("measured_range.most_input_mb", "measured_range.max_input_mb"),
    Rename::to("measured_range.least_slots", "measured_range.min_slots"),
    Rename::to("measured_range.most_slots", "measured_range.max_slots"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{JobPlan, Work};

    /// The whole of a plan with every old name, and the same with the new names.
    #[test]
    fn every_old_name_is_read_with_one_warning() {
        let tasks = [
            "[[cluster.nodes]]\nactive = 2.0\nspeed = 1.5\n[noise]\nsigma = 0.1\nslow_share = 0.2\nslow_factor = 4.0\n\
             [slowdown]\nmean_lasting_s = 5.0\n[[job]]\nslow_start = 0.5\n",
            "[[cluster.node]]\nactive_cores = 2.0\ncpu_speed = 1.5\n[noise]\nsigma = 0.1\n[stragglers]\nshare = 0.2\nfactor = 4.0\n\
             [slowdown]\nmean_duration_s = 5.0\n[[job]]\nslowstart = 0.5\n",
        ];
        let phases = [
            "[model.law]\ngpu = { erlang = 2 }\n[stragglers]\nlaw = \"deterministic\"\n",
            "[model.distribution]\ngpu = { erlang = 2 }\n[stragglers]\ndistribution = \"deterministic\"\n",
        ];
        let rest = "tasks = { fixed = 4 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 1 }\n";
        let size = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n";
        let stages = [
            format!(
                "kind = \"stages\"\n{size}end_s = 2\n[run]\nsigma = 0.1\nfreedom = 3\nruns = 2\n\
                 [seen]\nleast_input_mb = 1\nmost_input_mb = 2\nleast_slots = 3\nmost_slots = 4\n\
                 [[stage]]\nlaw = \"deterministic\"\npartitions = true\n{rest}"
            ),
            format!(
                "{size}teardown_s = 2\n[run]\nsigma = 0.1\ndegrees_of_freedom = 3\nruns = 2\n\
                 [measured_range]\nmin_input_mb = 1\nmax_input_mb = 2\nmin_slots = 3\nmax_slots = 4\n\
                 [[stage]]\ndistribution = \"deterministic\"\nuses_partitions = true\n{rest}"
            ),
        ];
        let mut warned = Vec::new();
        for [old, new] in [tasks.map(str::to_owned), phases.map(str::to_owned), stages] {
            let [old, new] = [old, new].map(|text| JobPlan::read(&text, Work::MapReduce).unwrap());
            assert_eq!(old.plan, new.plan);
            assert_eq!(new.warnings, []);
            warned.extend(old.warnings.into_iter().map(|warning| warning.message));
        }
        let name = |path: &str| path.replace("[]", "[0]");
        for rename in JOB_RENAMES {
            let start = format!("`{}` ", name(rename.old));
            assert_eq!(warned.iter().filter(|message| message.starts_with(&start)).count(), 1, "{rename:?} {warned:?}");
        }
        assert_eq!(warned.len(), JOB_RENAMES.len());
    }

    #[test]
    fn a_factor_of_slow_attempts_without_a_share_slows_none() {
        let plan = JobPlan::from_toml("[noise]\nslow_factor = 5.0").unwrap();
        assert!(matches!(plan, JobPlan::Tasks(plan) if plan.stragglers.as_ref().unwrap().share == 0.0));
    }
}
