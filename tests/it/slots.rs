//! A job whose tasks wait for slots lasts as long as the slots of the workers that it was placed on make it.

use tailspn::cluster::{Experiment, PolicyPlan, Replications};
use tailspn::job_time::{EstimateMethod, estimate_job, job_times};
use tailspn::mapreduce::{JobTime, Plan, job_of, phase_times};
use tailspn::net::{NetBuilder, Timing};
use tailspn::sim::{Ensemble, Samples, Unwatched};

/// Three maps of exponential GPU time on two workers with one slot each, of means 1 s and 3 s. Two start; the third takes the first slot to become free,
/// so that two run again; then the last one runs alone, on the slow worker with probability 3/4: 3/4 + 3/4 + 3/4 * 3 + 1/4 = 4 s.
#[test]
fn a_waiting_map_takes_the_first_free_slot_of_workers_that_differ() {
    let rates = "disk_read_mb_per_s = 1e5\ndisk_write_mb_per_s = 1e5\nmemory_read_mb_per_s = 1e5\nmemory_write_mb_per_s = 1e5\n\
                 gpu_read_mb_per_s = 1e5\ngpu_write_mb_per_s = 1e5\nnetwork_mb_per_s = 1e5\nmap_slots = 1\n";
    for swapped in [false, true] {
        let mut speeds = [1.0, 1.0 / 3.0];
        if swapped {
            speeds.reverse();
        }
        let nodes = speeds.map(|speed| format!("[[cluster.node]]\n{rates}gpu_speed = {speed}\n")).concat();
        let text = format!(
            "[job]\ninput_mb = 192\nreduces = 0\n[profile]\ninput_mb = 256\nmaps = 4\nload_s = 0\nmap_cpu_s = 0\nmap_gpu_s = 16\nmap_data_mb = 0\n\
             spilled_records = 0\n[cluster]\nreplicas = 2\n{nodes}"
        );
        let plan = Plan::from_toml(&text).unwrap();
        let exact =
            estimate_job(&plan, EstimateMethod::Exact, &Ensemble::default(), &Unwatched).unwrap().mean().unwrap();
        // the other phases take milliseconds
        assert!((exact - 4.0).abs() < 0.02, "{exact}");
        let ensemble = Ensemble { replications: 20_000, seed: 3, ..Ensemble::default() };
        let by_task =
            estimate_job(&plan, EstimateMethod::Simulate, &ensemble, &Unwatched).unwrap().simulated.unwrap().run;
        let net = job_times(&plan, &ensemble, &Unwatched).unwrap();
        assert_eq!(by_task.provenance.engine, "tasks");
        for run in [by_task, net] {
            let Samples { clock, passage, .. } = run.samples;
            let mean = passage.mean_ticks().unwrap() * clock.tick();
            let error = (passage.variance().unwrap() / passage.count() as f64).sqrt() * clock.tick();
            assert!((mean - exact).abs() < 5.0 * error && error < 0.03, "{mean} {exact} {error}");
        }
    }
}

/// A job on workers that differ, against its simulation task by task: the slots of the fast workers first, whatever their order in the plan.
#[test]
fn nets_of_workers_that_differ_take_as_long_as_their_tasks() {
    let text = "[job]\ninput_mb = 1280\nreduces = 6\n[model]\nslots = true\n[[cluster.node]]\nname = \"slow\"\ngpu_speed = 0.4\ncpu_speed = 0.5\n\
                map_slots = 2\nreduce_slots = 1\n[[cluster.node]]\nname = \"fast\"\nmap_slots = 2\nreduce_slots = 1\n";
    let plan = Plan::from_toml(text).unwrap();
    let ensemble = Ensemble { replications: 6_000, seed: 8, ..Ensemble::default() };
    let by_task = estimate_job(&plan, EstimateMethod::Simulate, &ensemble, &Unwatched).unwrap().simulated.unwrap().run;
    let net = job_times(&plan, &ensemble, &Unwatched).unwrap();
    let [(a, x), (b, y)] = [by_task, net].map(|run| {
        let Samples { clock, passage, .. } = run.samples;
        let error = (passage.variance().unwrap() / passage.count() as f64).sqrt() * clock.tick();
        (passage.mean_ticks().unwrap() * clock.tick(), error)
    });
    assert!((a - b).abs() < 5.0 * x.hypot(y) && x < 0.005 * a, "{a} {b} {x} {y}");
}

/// The default job, and the same on half of its slots, against the exact answers for their folded nets (718,363 and 76,723
/// states).
#[test]
fn folded_jobs_with_slots_take_their_exact_time() {
    for (slots, mean, sd) in [([4, 2], 212.40, 15.465), ([2, 1], 380.57, 21.478)] {
        let [maps, reduces] = slots;
        let text = format!(
            "[model]\nslots = true\n[[cluster.node]]\nname = \"worker\"\ncount = 4\nmap_slots = {maps}\nreduce_slots = {reduces}"
        );
        let ensemble = Ensemble { replications: 8_000, seed: 5, ..Ensemble::default() };
        let run = job_times(&Plan::from_toml(&text).unwrap(), &ensemble, &Unwatched).unwrap();
        assert_eq!(
            (run.provenance.engine.as_ref(), run.provenance.folded.map(|parts| parts.places)),
            ("lockstep", Some(14))
        );
        let Samples { clock, passage, .. } = run.samples;
        let n = passage.count() as f64;
        let found =
            [passage.mean_ticks().unwrap(), passage.variance().unwrap().sqrt()].map(|ticks| ticks * clock.tick());
        // of a standard deviation for a distribution with excess kurtosis of at most 1
        let errors = [sd / n.sqrt(), sd * (3.0 / (4.0 * n)).sqrt()];
        for (found, (exact, error)) in found.iter().zip([mean, sd].into_iter().zip(errors)) {
            assert!(error < 0.01 * exact && (found - exact).abs() < 5.0 * error + 0.005, "{found} is not {exact}");
        }
    }
}

/// Splits of 64 and 256 MB of the same input on 16 slots, in full waves and in 2.5 waves: the time of a map follows its bytes.
#[test]
fn larger_splits_take_longer_maps_and_fewer_waves() {
    let phases = ["load", "read", "to_gpu", "gpu", "to_host", "spill", "shuffle", "merge", "reduce"];
    let fixed: String = phases.iter().map(|phase| format!("{phase} = \"deterministic\"\n")).collect();
    for (input, split, map, job) in [
        (16_384, 64, 60.6, 1_106.0),
        (16_384, 256, 242.0, 1_126.0),
        (10_240, 64, 60.6, 692.0),
        (10_240, 256, 242.0, 833.0),
    ] {
        let text = format!(
            "[job]\ninput_mb = {input}\nsplit_mb = {split}\ngpu_block_mb = 16\n[profile]\ninput_mb = 256\nmaps = 4\n\
             map_cpu_s = 60\nmap_gpu_s = 0\n[model]\nslots = true\n[model.distribution]\n{fixed}"
        );
        let plan = Plan::from_toml(&text).unwrap();
        // phase 3 has the part of a map on the CPU
        let cpu_s = phase_times(&plan, &mut || 0.5).unwrap().maps_s[0][2];
        assert!((cpu_s / map - 1.0).abs() < 0.01, "{split} MB: {cpu_s} s, not {map} s");
        let ensemble = Ensemble { replications: 16, ..Ensemble::default() };
        let samples = job_times(&plan, &ensemble, &Unwatched).unwrap().samples;
        let found = samples.passage.mean_ticks().unwrap() * samples.clock.tick();
        assert!((found / job - 1.0).abs() < 0.03, "{input} MB in {split} MB: {found} s, not {job} s");
    }
}

/// Eight machines fail and wait for one repairer: in the long run each is up as often as the birth-and-death chain of their number
/// says, folded or not.
#[test]
fn long_runs_of_equal_parts_have_their_closed_form() {
    let (machines, fails, repairs) = (8_u32, 0.1, 0.5);
    let mut b = NetBuilder::new("machines");
    let free = b.place("free", 1);
    for i in 0..machines {
        let [up, down, mending] =
            [("up", 1), ("down", 0), ("mending", 0)].map(|(id, tokens)| b.place(format!("{id}{i}"), tokens));
        let fail = b.transition(format!("fail{i}"), Timing::exponential(fails));
        b.input(up, fail, 1.0);
        b.output(fail, down, 1.0);
        let start = b.transition(format!("start{i}"), Timing::immediate(1.0, 1));
        b.input(down, start, 1.0);
        b.input(free, start, 1.0);
        b.output(start, mending, 1.0);
        let repair = b.transition(format!("repair{i}"), Timing::exponential(repairs));
        b.input(mending, repair, 1.0);
        b.output(repair, up, 1.0);
        b.output(repair, free, 1.0);
    }
    let net = b.build().unwrap();
    // weight of k machines up, by detailed balance
    let mut weights = vec![1.0_f64];
    for k in 0..machines {
        weights.push(weights[k as usize] * repairs / (f64::from(k + 1) * fails));
    }
    let total: f64 = weights.iter().sum();
    let up = weights.iter().enumerate().map(|(k, w)| k as f64 * w).sum::<f64>() / total / f64::from(machines);
    for fold in [true, false] {
        let steady = net.steady_state().firings(2_000_000).seed(3).fold(fold).run().unwrap();
        let [first, last] = ["up0", "up7"].map(|place| steady.tokens(place).unwrap());
        let half = 5.0 / 1.645 * first.half_width().unwrap();
        assert!((first.value - up).abs() < half && half < 0.01 * up, "{fold}: {first:?}, exactly {up}");
        assert_eq!((first.value - last.value).abs() < 1e-12 * up, fold);
        let rate = steady.throughput("repair5").unwrap();
        assert!((rate.value / (up * fails) - 1.0).abs() < 0.01, "{fold}: {rate:?}");
    }
}

/// Eight maps and two reduces on a fast and a slow worker, each with room for all: nothing runs on the slow worker, wherever it stands in the plan. All
/// input is on the disk of each worker, so the job takes as long as on the fast worker alone. That time is exact.
#[test]
fn tasks_go_to_the_fast_worker_whatever_the_order_of_the_plan() {
    let head = "[job]\ninput_mb = 512\nreduces = 2\n[model]\nslots = true\n";
    let fast = "[[cluster.node]]\nmap_slots = 8\nreduce_slots = 2\n";
    let slow = format!("{fast}gpu_speed = 0.1\ncpu_speed = 0.25\n");
    let plan = |kinds: &[&str]| Plan::from_toml(&[&[head], kinds].concat().concat()).unwrap();
    let alone = Plan::from_toml(&format!("{}{fast}", head.replace("slots = true", "slots = false"))).unwrap();
    let exact = JobTime::of_plan(&alone, &phase_times(&alone, &mut || 0.5).unwrap()).unwrap().mean().get();
    let check = |times: &[f64], what: &str| {
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        let error = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
        assert!((mean - exact).abs() < 5.0 * error && error < 0.01 * exact, "{what}: {mean} {error} {exact}");
    };
    for kinds in [[fast, &slow], [&slow, fast]] {
        let plan = plan(&kinds);
        let ensemble = Ensemble { replications: 4_000, seed: 5, keep: true, ..Ensemble::default() };
        let net = job_times(&plan, &ensemble, &Unwatched).unwrap().samples;
        check(&net.times_s().collect::<Vec<_>>(), "net");
        let settings = Replications { count: 4_000, seed: 5, ..Replications::default() };
        let job = job_of(&plan).unwrap();
        let runs = Experiment::of_job(&job, &[PolicyPlan::default()], settings).run(&mut |_| true).unwrap();
        check(&runs[0].outcomes.iter().map(|outcome| outcome.job_s).collect::<Vec<_>>(), "tasks");
    }
}
