//! The two ways to job times under stragglers: the cluster simulator, which looks at progress, and the augmented net, which is
//! told what a detector was worth there. Where both apply they agree; where they part, docs/stragglers.md says why.

use tailspn::cluster::first_order::DetectorQuality;
use tailspn::cluster::metrics::Tally;
use tailspn::cluster::{Experiment, Plan as ClusterPlan, PolicyRuns, Replications};
use tailspn::compile::compile;
use tailspn::job_time::collected;
use tailspn::mapreduce::{CopyPolicy, Plan, Speculation, job_net, phase_times};
use tailspn::sim::{Ensemble, Question, Unwatched, run};

fn simulate(text: &str, count: u64) -> Vec<PolicyRuns> {
    let plan = ClusterPlan::from_toml(text).unwrap();
    let settings = Replications { count, seed: 1, threads: None, ..Replications::default() };
    Experiment::new(&plan, settings).unwrap().run(&mut |_| true).unwrap()
}

/// A mean and its standard error.
fn mean(run: &PolicyRuns, value: impl Fn(&tailspn::cluster::Outcome) -> f64) -> [f64; 2] {
    let n = run.outcomes.len() as f64;
    let mean = run.outcomes.iter().map(&value).sum::<f64>() / n;
    let variance = run.outcomes.iter().map(|outcome| (value(outcome) - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}

fn quality(run: &PolicyRuns) -> DetectorQuality {
    let mut tally = Tally::default();
    run.outcomes.iter().for_each(|outcome| tally.merge(&outcome.maps));
    DetectorQuality::of_tally(&tally)
}

/// A net and a cluster.
struct Beside {
    nodes: u64,
    slots: u64,
    maps: u64,
    /// Usual time of a map \[s\], and standard deviation of its logarithm.
    usual_s: f64,
    sigma: f64,
    /// Slow-down factor of a straggler.
    factor: f64,
    replications: u64,
}

/// Job time \[s\], copies and successful copies of the net with a detector of this quality: means with their standard errors.
fn net(beside: &Beside, quality: &DetectorQuality, policy: CopyPolicy) -> [[f64; 2]; 3] {
    let &Beside { nodes, slots, maps, usual_s, sigma, factor, replications } = beside;
    // the typical time is the median of a lognormal distribution, which the net states by its mean
    let (mean_s, cv) = (usual_s * (0.5 * sigma * sigma).exp(), (sigma * sigma).exp_m1().sqrt());
    let mut plan = Plan::from_toml(&format!(
        "[phases]\nmeans_s = [0, 0, 0, {mean_s}, 0, 0, 0, 0, 0]\nmaps = {maps}\nreduces = 1\n\
         [[cluster.node]]\ncount = {nodes}\nmap_slots = {slots}\n[model]\nslots = true\n\
         [model.distribution]\ngpu = {{ lognormal = {{ cv = {cv} }} }}\n\
         [stragglers]\nshare = {}\nfactor = {factor:?}\ntasks = \"maps\"",
        quality.stragglers
    ))
    .unwrap();
    plan.speculation = Some(Speculation { policy, ..Speculation::of_quality(quality) });
    let job = job_net(&plan, &phase_times(&plan, &mut || 0.5).unwrap()).unwrap();
    let rewards = tailspn::mapreduce::attempt_rewards(&job.net, &job.attempts, None);
    // rewards that need no check at every marking
    let counts = rewards.iter().filter(|reward| reward.rate.is_none());
    let gathered: Vec<_> = counts.map(|reward| collected(&job.net, reward)).collect();
    let at = |name: &str| gathered.iter().position(|reward| reward.name == name).unwrap();
    let (copies, won) = (at("copies"), at("copies_won"));
    let question = Question { rewards: gathered, ..Question::default() };
    let ensemble = Ensemble { replications, seed: 1, ..Ensemble::default() };
    let samples = run(&compile(&job.net).unwrap(), &question, &ensemble, &Unwatched).unwrap().samples;
    let (n, tick) = (replications as f64, samples.clock.tick());
    let time = [samples.passage.mean_ticks().unwrap() * tick, (samples.passage.variance().unwrap() / n).sqrt() * tick];
    let averages = samples.averages();
    let count = |reward: usize| {
        let reward = &averages.rewards[reward];
        [reward.mean().unwrap(), (reward.variance().unwrap() / n).sqrt()]
    };
    [time, count(copies), count(won)]
}

/// Attempts are slow for reasons of their own, no tasks share a core, and there are idle slots: the world of the net. Without a detector the two
/// agree. With one, flags of a job come together in the simulator and one by one in the net, and times of detection lie on the grid of reports:
/// that may change the time by 1%, the copies by 2% and the successful copies by 3%.
#[test]
fn job_times_agree_where_attempts_are_slow_by_themselves() {
    let text = "[cluster]\nheartbeat_s = 1\nnode = [{ count = 7, slots = 4 }]\n\
                [noise]\nsigma = 0.05\n[stragglers]\nshare = 0.1\nfactor = 3\n\
                [[job]]\nmaps = 20\nmap_s = 14\nmap_start_s = 0.05\nreduces = 0\n\
                [[policy]]\n\
                [[policy]]\ndetector.kind = \"late\"\nlag_s = 5\n\
                [[policy]]\ndetector.kind = \"spark\"\ndetector.multiplier = 1.5\ndetector.quantile = 0.75\nlag_s = 5\n\
                [[policy]]\ndetector.kind = \"mantri\"\nlag_s = 5\n\
                [[policy]]\ndetector.kind = \"clone\"\n";
    let beside =
        Beside { nodes: 7, slots: 4, maps: 20, usual_s: 14.05, sigma: 0.05, factor: 3.0, replications: 10_000 };
    for run in simulate(text, 10_000) {
        let name = run.policy.title();
        let policy = match name.as_str() {
            "none" => CopyPolicy::None,
            "clone" => CopyPolicy::Clone,
            _ => CopyPolicy::Detect,
        };
        let found = net(&beside, &quality(&run), policy);
        let simulated = [
            mean(&run, |outcome| outcome.job_s),
            mean(&run, |outcome| outcome.copies.into()),
            mean(&run, |outcome| outcome.won.into()),
        ];
        // the models of a detector differ: see above
        let biases = if policy == CopyPolicy::Detect { [0.01, 0.02, 0.03] } else { [0.0; 3] };
        for (i, ([net, a], [simulator, b])) in found.into_iter().zip(simulated).enumerate() {
            let error = a.hypot(b);
            let close = (net - simulator).abs() <= 5.0 * error + biases[i] * simulator + 1e-9;
            assert!(close && error <= 0.02 * simulator, "{name}, {i}: net {net}, simulator {simulator}, {error}");
        }
    }
}

/// Nodes are slow, tasks share cores, every slot is taken twice: scenario C2 with a node of each kind. The net's job takes
/// 2% to 20% longer, for it draws slow tasks one by one and late, where the simulator's slow nodes get few tasks of the
/// second wave and its last tasks have cores to themselves. Either way both detectors help.
#[test]
fn the_net_overestimates_job_times_if_nodes_are_slow() {
    let text = "[cluster]\nnode = [{ active_cores = 1 }, { active_cores = 2 }, { active_cores = 3 }, { active_cores = 4 }]\n\
                [[job]]\nmaps = 64\nreduces = 0\n[[policy]]\n\
                [[policy]]\ndetector.kind = \"default\"\nwatch = \"from_lag\"\n\
                [[policy]]\ndetector.kind = \"hierarchical\"\nwatch = \"from_lag\"\n";
    let runs = simulate(text, 300);
    let factor = quality(&runs[0]).undetected_time;
    let beside = Beside { nodes: 4, slots: 8, maps: 64, usual_s: 28.1, sigma: 0.08, factor, replications: 300 };
    let mut times = Vec::new();
    for (run, policy) in runs.iter().zip([CopyPolicy::None, CopyPolicy::Detect, CopyPolicy::Detect]) {
        let [simulated, _] = mean(run, |outcome| outcome.job_s);
        let [[time, _], ..] = net(&beside, &quality(run), policy);
        let ratio = time / simulated;
        assert!((1.02..1.20).contains(&ratio), "{}: net {time} s, simulator {simulated} s", run.policy.title());
        times.push([time, simulated]);
    }
    let helps = |row: &[f64; 2]| row[0] < times[0][0] && row[1] < times[0][1];
    assert!(times[1..].iter().all(helps), "{times:?}");
}
