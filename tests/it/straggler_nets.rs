//! Nets with stragglers and copies: their numbers against closed forms, the exact solver, the first-order formulas and each
//! other; no token left behind; PIPE.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tailspn::cluster::first_order::{DetectorQuality, first_order};
use tailspn::compile::{compile, lower, plan_schedule};
use tailspn::formats::pipe::{PipeFinding, ReadOptions, Severity, WriteOptions, pipe_report, read, write};
use tailspn::job_time::collected;
use tailspn::mapreduce::{
    AttemptParts, AugmentError, Augmented, CopyPolicy, CopySlots, Factors, JobNet, Machines, Plan, SettingProblem,
    Speculation, Stragglers, TaskChain, attempt_rewards, job_net, phase_times, speculate, straggle,
};
use tailspn::net::{Law, Net, NetBuilder, Timing};
use tailspn::sim::{EngineChoice, Ensemble, Goal, Question, Unwatched, run};
use tailspn::solve::{Limits, LinearSettings, StateSpace, absorption, explore};
use tailspn::structure::{Budget, Incidence, place_semiflows};

/// Mean time of the transition before the task of [`one_task`] \[s\].
const BEFORE: f64 = 1.0;

/// `go ─▶ start ─run─▶ done`, a task of typical time 1 s.
fn one_task(run: Timing) -> (Net, Vec<TaskChain>) {
    let mut net = NetBuilder::new("one task");
    let [ready, start, done] = [("ready", 1), ("start", 0), ("done", 0)].map(|(id, tokens)| net.place(id, tokens));
    let go = net.transition("go", Timing::exponential(1.0 / BEFORE));
    let run = net.transition("run", run);
    net.input(ready, go, 1.0);
    net.output(go, start, 1.0);
    net.input(start, run, 1.0);
    net.output(run, done, 1.0);
    (net.build().unwrap(), vec![TaskChain { name: "A".into(), start, stages: vec![run], slots: None }])
}

fn exponential() -> Timing {
    Timing::exponential(1.0)
}

fn fixed() -> Timing {
    Timing::general(Law::Deterministic { delay: 1.0 })
}

fn slow(share: f64, factor: f64) -> Stragglers {
    Stragglers { share, factor: Factors::One(factor), ..Stragglers::default() }
}

fn job(text: &str) -> JobNet {
    let mut plan = Plan::from_toml(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    plan.model.slots = text.contains("slots = true");
    job_net(&plan, &phase_times(&plan, &mut || 0.5).unwrap()).unwrap()
}

/// A job whose maps have two phases that take time and whose reduces have one.
fn small_job(maps: u64, reduces: u64, more: &str) -> JobNet {
    job(&format!(
        "[phases]\nmeans_s = [1, 0, 2, 3, 0, 0, 1, 0, 4]\nmaps = {maps}\nreduces = {reduces}\n\
         [[cluster.node]]\nmap_slots = 2\nreduce_slots = 2\n{more}"
    ))
}

/// A job in which every phase takes time.
fn whole_job(maps: u64, reduces: u64, more: &str) -> JobNet {
    job(&format!("[phases]\nmeans_s = [5, 1, 2, 8, 1, 3, 6, 2, 7]\nmaps = {maps}\nreduces = {reduces}\n{more}"))
}

fn states(net: &Net) -> StateSpace {
    let space = explore(&compile(net).unwrap(), None, &Limits::default(), &Unwatched).unwrap();
    assert_eq!(space.stopped(), None);
    space
}

/// Means by name: `time` to the dead marking, and every reward until then.
type Means = BTreeMap<String, f64>;

fn machines() -> Machines {
    Machines::of(&Plan::default())
}

/// By the exact solver.
fn exact(net: &Net, tasks: &[AttemptParts]) -> Means {
    let (program, space) = (compile(net).unwrap(), states(net));
    let mut targets = vec![false; space.states()];
    space.dead().iter().for_each(|&state| targets[state as usize] = true);
    let times = absorption(space.complete().unwrap(), &targets, &LinearSettings::default()).unwrap().times;
    let mut firings = vec![0.0; program.transitions()];
    space.for_each_firing(&program, &times, &mut |firing| firings[firing.transition as usize] += firing.flow).unwrap();
    let mut means = Means::from([("time".to_owned(), times.iter().sum())]);
    for reward in attempt_rewards(net, tasks, Some(&machines())) {
        let rate = reward.rate.as_ref().map_or(0.0, |rate| {
            let values = space.values(&lower(net, rate), reward.name).unwrap();
            times.iter().zip(values).map(|(time, value)| time * value).sum()
        });
        let impulses: f64 = reward.impulses.iter().map(|(t, amount)| firings[t.index()] * amount).sum();
        means.insert(reward.name.to_owned(), rate + impulses);
    }
    means
}

/// By simulation: mean and standard error.
fn simulated(net: &Net, tasks: &[AttemptParts], replications: u64, engine: EngineChoice) -> BTreeMap<String, [f64; 2]> {
    let program = compile(net).unwrap();
    let rewards = attempt_rewards(net, tasks, Some(&machines()));
    let gathered = rewards.iter().map(|reward| collected(net, reward)).collect();
    let question = Question { goal: Goal::Dead, rewards: gathered, ..Question::default() };
    let ensemble = Ensemble { replications, seed: 7, engine, ..Ensemble::default() };
    let samples = run(&program, &question, &ensemble, &Unwatched).unwrap().samples;
    let tick = samples.clock.tick();
    let time = samples.passage.mean_estimate(0.95).unwrap();
    let error = (samples.passage.variance().unwrap() / replications as f64).sqrt() * tick;
    let mut means = BTreeMap::from([("time".to_owned(), [time.value * tick, error])]);
    for (reward, values) in rewards.iter().zip(&samples.averages().rewards) {
        let error = (values.variance().unwrap() / replications as f64).sqrt();
        means.insert(reward.name.to_owned(), [values.mean().unwrap(), error]);
    }
    means
}

/// Simulated means are the exact ones, within five standard errors that would show a bias of `notice`.
fn assert_agree(found: &BTreeMap<String, [f64; 2]>, expected: &Means, notice: f64) {
    for (name, value) in expected {
        let [mean, error] = found[name];
        assert!((mean - value).abs() <= 5.0 * error + 1e-9 * value, "{name}: {mean} ± {error}, exactly {value}");
        assert!(error <= notice * value.abs().max(0.05), "{name}: {mean} ± {error} shows too little");
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, expected {expected}");
}

/// The race of two exponentials: the mean time until the first of them ends.
fn first_of(a: f64, b: f64) -> f64 {
    a * b / (a + b)
}

/// One exponential task whose numbers are computed by hand: flags after an exponential time of mean DL, then a race.
#[test]
fn one_exponential_task_has_the_closed_form() {
    let (net, chains) = one_task(exponential());
    let (alpha, s, r, p, dl, ut, alarm) = (0.3, 4.0, 0.7, 0.8, 0.5, 5.0, 0.25);
    let speculation = Speculation {
        recall: r,
        precision: p,
        latency: dl,
        undetected: Some(ut),
        false_alarm_at: alarm,
        slow_copies: Some(0.0),
        ..Speculation::default()
    };
    let made = speculate(&net, &chains, &slow(alpha, s), &speculation).unwrap();
    let found = exact(&made.net, &made.tasks);
    let (caught, missed, flagged) = (r * alpha, (1.0 - r) * alpha, r * alpha * (1.0 - p) / p);
    let usual = 1.0 - alpha - flagged;
    let (race, alarm_race) = (first_of(s - dl, 1.0), first_of(1.0 - alarm, 1.0));
    let time = caught * (dl + race) + missed * ut + flagged * (alarm + alarm_race) + usual;
    near(found["time"], BEFORE + time);
    near(found["copies"], caught / p);
    let wins = |left: f64| left / (left + 1.0);
    near(found["copies_won"], caught * wins(s - dl) + flagged * wins(1.0 - alarm));
    near(found["slot_seconds"], time + caught * race + flagged * alarm_race);
    let wasted = caught * (race + dl * wins(s - dl)) + flagged * (alarm_race + alarm * wins(1.0 - alarm));
    near(found["wasted"], wasted);
    near(found["copy_wait"], 0.0);
    // 4 nodes that stay on: 260 W, and 17 W for each attempt
    near(found["energy"], 260.0 * found["time"] + 17.0 * found["slot_seconds"]);
    let sampled = simulated(&made.net, &made.tasks, 200_000, EngineChoice::Auto);
    assert_agree(&sampled, &found, 0.01);
}

/// With fixed times the assumptions of the first-order formulas hold: time and slot-seconds are theirs, for every row of the
/// paper that has four probabilities. Mutation: a copy that is drawn slow breaks it.
#[test]
fn fixed_times_give_the_first_order_formulas() {
    let shares = [0.60, 0.625, 0.16, 0.053];
    let mut rows = 0;
    for (alpha, table) in shares.into_iter().zip(tailspn_replications::straggler_metrics::TABLE_6) {
        for [p, r, dl, _, ut] in table {
            let quality = DetectorQuality {
                stragglers: alpha,
                precision: p,
                recall: r,
                detection_latency: dl,
                undetected_time: ut,
            };
            let (net, chains) = one_task(fixed());
            let speculation = Speculation { slow_copies: Some(0.0), ..Speculation::of_quality(&quality) };
            let made = speculate(&net, &chains, &slow(alpha, 4.0), &speculation);
            let Ok(expected) = first_order(&quality) else {
                let refused = matches!(made, Err(AugmentError::Settings(SettingProblem::Fates(_))));
                assert!(refused, "{quality:?} has a negative probability");
                continue;
            };
            rows += 1;
            let made = made.unwrap();
            let found = simulated(&made.net, &made.tasks, 40_000, EngineChoice::Auto);
            for (name, expected) in [("time", BEFORE + expected.time), ("slot_seconds", expected.energy)] {
                let [mean, error] = found[name];
                assert!((mean - expected).abs() < 5.0 * error, "{quality:?} {name}: {mean} ± {error}, not {expected}");
                assert!(error < 0.005 * expected, "{quality:?} {name}: {error}");
            }
        }
    }
    assert_eq!(rows, 12, "rows of the paper with four probabilities");
}

/// No straggler, only stragglers, recall 0 and 1, precision 1, nobody looks: each is the net that it should be.
#[test]
fn shares_and_recalls_of_0_and_1_give_the_simpler_nets() {
    let (net, chains) = one_task(exponential());
    let none = slow(0.0, 3.0);
    let detector = Speculation { slow_copies: Some(0.0), ..Speculation::default() };
    assert_eq!(straggle(&net, &chains, &none).unwrap().net, net);
    assert_eq!(speculate(&net, &chains, &none, &detector).unwrap().net, net);
    let all = straggle(&net, &chains, &slow(1.0, 3.0)).unwrap();
    assert_eq!((all.net.places().len(), all.net.transitions().len()), (3, 2));
    near(exact(&all.net, &all.tasks)["time"], BEFORE + 3.0);
    let blind = speculate(&net, &chains, &slow(0.3, 3.0), &Speculation { recall: 0.0, ..detector.clone() }).unwrap();
    let alone = straggle(&net, &chains, &slow(0.3, 3.0)).unwrap();
    near(exact(&blind.net, &blind.tasks)["time"], exact(&alone.net, &alone.tasks)["time"]);
    let perfect = Speculation { recall: 1.0, precision: 1.0, latency: 0.5, ..detector.clone() };
    let made = speculate(&net, &chains, &slow(1.0, 3.0), &perfect).unwrap();
    let found = exact(&made.net, &made.tasks);
    near(found["time"], BEFORE + 0.5 + first_of(2.5, 1.0));
    near(found["copies"], 1.0);
    let nobody = Speculation { policy: CopyPolicy::None, ..detector };
    assert_eq!(speculate(&net, &chains, &slow(0.3, 3.0), &nobody).unwrap(), alone);
    let no_chain = speculate(&net, &[], &slow(0.3, 3.0), &perfect).unwrap();
    assert_eq!(no_chain.net, net);
}

/// A clone of each task: the first of two independent attempts, each slow with probability α.
#[test]
fn clones_race_from_the_start() {
    let (net, chains) = one_task(exponential());
    let (alpha, s) = (0.2, 5.0);
    let clone = Speculation { policy: CopyPolicy::Clone, ..Speculation::default() };
    let made = speculate(&net, &chains, &slow(alpha, s), &clone).unwrap();
    let found = exact(&made.net, &made.tasks);
    let time = (1.0 - alpha) * (1.0 - alpha) * first_of(1.0, 1.0)
        + 2.0 * alpha * (1.0 - alpha) * first_of(1.0, s)
        + alpha * alpha * first_of(s, s);
    near(found["time"], BEFORE + time);
    near(found["copies"], 1.0);
    near(found["copies_won"], 0.5);
    near(found["slot_seconds"], 2.0 * time);
    near(found["wasted"], time);
    assert_agree(&simulated(&made.net, &made.tasks, 100_000, EngineChoice::Auto), &found, 0.01);
}

/// A discrete law of factors, and a law of its own for slow tasks.
#[test]
fn factors_and_laws_of_slow_nodes() {
    let (net, chains) = one_task(exponential());
    let factor = Factors::Several(vec![[0.7, 2.0], [0.3, 10.0]]);
    let made = straggle(&net, &chains, &Stragglers { share: 0.4, factor, ..Stragglers::default() }).unwrap();
    near(exact(&made.net, &made.tasks)["time"], BEFORE + 0.6 + 0.4 * (0.7 * 2.0 + 0.3 * 10.0));
    let distribution = Some(tailspn::mapreduce::PhaseLaw::Deterministic);
    let made = straggle(&net, &chains, &Stragglers { share: 1.0, distribution, ..slow(1.0, 3.0) }).unwrap();
    let found = simulated(&made.net, &made.tasks, 1_000, EngineChoice::Auto);
    assert!((found["slot_seconds"][0] - 3.0).abs() < 1e-6 && found["slot_seconds"][1] < 1e-6);
}

/// Every way of sharing slots that there is, on jobs with and without slots.
fn policies() -> Vec<(&'static str, String)> {
    let stragglers = "[stragglers]\nshare = 0.3\nfactor = 3\n";
    let detect = "[speculation]\nrecall = 0.6\nprecision = 0.7\nlatency = 0.4\n";
    let mut all = vec![("none", stragglers.to_owned())];
    for slots in ["\"idle\"", "\"shared\"", "{ reserved = 1 }"] {
        all.push(("detect", format!("{stragglers}{detect}slots = {slots}\n")));
        all.push(("clone", format!("{stragglers}[speculation]\npolicy = \"clone\"\nslots = {slots}\n")));
    }
    all.push(("fake", format!("{stragglers}{detect}fake = 0.1\nundetected = 4.0\nslow_copies = 0\n")));
    all
}

/// No token is left behind, proved without states: for each place of each task there is a P-invariant that is used up when
/// a reduce is done, so that the place is empty then. Mutation: a race that does not take the loser's token has none.
#[test]
fn invariants_leave_no_token_behind() {
    for slots in ["", "[model]\nslots = true\n"] {
        for (name, policy) in policies() {
            let job = small_job(1, 1, &format!("{slots}{policy}"));
            let program = compile(&job.net).unwrap();
            let incidence = Incidence::of(&program);
            let limits = tailspn::structure::Limits::default();
            let flows = place_semiflows(&incidence, &limits, &Budget::new(&limits, &|| false));
            assert_eq!(flows.cut, None);
            let done = job.done[0].index();
            let pools = ["mapSlots", "reduceSlots", "copyMapSlots", "copyReduceSlots", "copySlots"];
            for (place, id) in program.place_names.iter().enumerate() {
                if place == done || pools.contains(&id) {
                    continue;
                }
                let empties = flows.vectors.iter().any(|flow| {
                    let weight = |of: usize| flow.iter().find(|(row, _)| *row as usize == of).map_or(0, |(_, w)| *w);
                    let total: i128 =
                        flow.iter().map(|(row, w)| i128::from(incidence.initial[*row as usize]) * w).sum();
                    weight(place) > 0 && total == weight(done)
                });
                assert!(empties, "{name} {slots}: nothing shows that `{id}` is empty in the end");
            }
        }
    }
}

/// The same by looking at every marking of jobs with two maps: one dead marking, in which all reduces are done, and all
/// slots are free.
#[test]
fn every_run_ends_in_the_same_marking() {
    for slots in ["", "[model]\nslots = true\n"] {
        for (name, policy) in policies() {
            let tasks = if name == "fake" || name == "clone" { 1 } else { 2 };
            let job = small_job(tasks, 1, &format!("{slots}{policy}"));
            let space = states(&job.net);
            let &[dead] = space.dead() else { panic!("{name} {slots}: {:?} dead markings", space.dead().len()) };
            let mut marking = vec![0; job.net.places().len()];
            space.marking(dead as usize, &mut marking);
            for (place, &tokens) in job.net.places().iter().zip(&marking) {
                let expected = if place.id.to_ascii_lowercase().ends_with("slots") {
                    place.initial[0]
                } else {
                    u32::from(place.id.starts_with("done"))
                };
                assert_eq!(tokens, expected, "{name} {slots}: `{}`", place.id);
            }
        }
    }
}

/// Simulators of both families and the exact solver agree on every reward, where tasks wait for slots and copies compete.
#[test]
fn engines_and_the_solver_agree_on_jobs() {
    for (slots, policy) in
        ["idle", "shared", "reserved"].into_iter().zip(["\"idle\"", "\"shared\"", "{ reserved = 1 }"])
    {
        let text = format!(
            "[model]\nslots = true\n[stragglers]\nshare = 0.4\nfactor = 3\ntasks = \"maps\"\n\
             [speculation]\nrecall = 0.7\nprecision = 0.7\nlatency = 0.4\nslots = {policy}\n"
        );
        let job = small_job(3, 1, &text);
        let expected = exact(&job.net, &job.attempts);
        for engine in [EngineChoice::Clock, EngineChoice::Direct] {
            let found = simulated(&job.net, &job.attempts, 60_000, engine);
            assert_agree(&found, &expected, 0.03);
        }
        // with one slot for tasks and one for copies there is one copy at a time
        assert_eq!(expected["copy_wait"] > 0.0, slots != "reserved", "{slots}: {}", expected["copy_wait"]);
    }
}

/// Without copies nothing races, so that the schedule engine takes the net; with copies something does.
#[test]
fn stragglers_alone_stay_a_schedule() {
    let alone = whole_job(8, 2, "[stragglers]\nshare = 0.2\n");
    assert!(plan_schedule(&compile(&alone.net).unwrap()).is_ok());
    let copied = whole_job(8, 2, "[stragglers]\nshare = 0.2\n[speculation]\n");
    assert!(plan_schedule(&compile(&copied.net).unwrap()).is_err());
    let time = |engine| {
        let ensemble = Ensemble { replications: 40_000, seed: 3, engine, ..Ensemble::default() };
        let samples = run(&compile(&alone.net).unwrap(), &Question::default(), &ensemble, &Unwatched).unwrap().samples;
        samples.passage
    };
    // the two engines of one family give the same bits
    assert_eq!(time(EngineChoice::Schedule), time(EngineChoice::Clock));
}

/// Existing parts keep their ids, and all tasks are drawn apart from each other.
#[test]
fn parts_keep_their_ids_and_get_places_of_their_own() {
    let plain = whole_job(3, 2, "");
    for (name, policy) in policies() {
        let job = whole_job(3, 2, &policy);
        for place in plain.net.places() {
            assert!(job.net.find_place(&place.id).is_some(), "{name}: `{}` is gone", place.id);
        }
        for transition in plain.net.transitions() {
            assert!(job.net.find_transition(&transition.id).is_some(), "{name}: `{}` is gone", transition.id);
        }
        let positions =
            job.net.places().iter().map(|p| p.position).chain(job.net.transitions().iter().map(|t| t.position));
        let mut seen = std::collections::BTreeMap::new();
        for (number, position) in positions.enumerate() {
            let point = position.unwrap();
            assert!(point.x >= 0.0 && point.y >= 0.0, "{name}: {point:?}");
            let other = seen.insert((point.x.to_bits(), point.y.to_bits()), number);
            assert_eq!(other, None, "{name}: two parts at {point:?}");
        }
    }
}

/// Nets of exponential phases mean the same in PIPE: they come back from its XML, and PIPE gets nothing wrong.
#[test]
fn exponential_nets_are_nets_of_pipe() {
    for slots in ["", "[model]\nslots = true\n"] {
        for (name, policy) in policies() {
            let job = whole_job(3, 2, &format!("{slots}{policy}"));
            let written = write(&job.net, &WriteOptions::default());
            let back = read(written.xml.as_bytes(), &ReadOptions::default()).unwrap();
            assert!(back.warnings.is_empty(), "{name}: {:?}", back.warnings);
            assert_eq!(back.net.places(), job.net.places(), "{name}");
            assert_eq!(back.net.transitions(), job.net.transitions(), "{name}");
            let arcs = |net: &Net| {
                let mut arcs: Vec<_> =
                    net.arcs().iter().map(|a| (net.arc_id(a).into_owned(), a.kind, a.place, a.transition)).collect();
                arcs.sort();
                arcs
            };
            assert_eq!(arcs(&back.net), arcs(&job.net), "{name}");
            // a slot that one copy returns is what the next one takes: PIPE wants to know how often at once
            let findings: Vec<_> = pipe_report(&job.net);
            let expected = |finding: &&PipeFinding| {
                finding.severity == Severity::Note && finding.message.contains("immediate transitions form a cycle")
            };
            let others: Vec<_> = findings.iter().filter(|finding| !expected(finding)).collect();
            assert!(others.is_empty(), "{name} {slots}: {others:?}");
            let limited = policy.contains("[speculation]") && (!slots.is_empty() || policy.contains("reserved"));
            assert_eq!(findings.is_empty(), !limited, "{name} {slots}");
        }
    }
}

/// A net that is no job: a machine that works, is a straggler now and then, and begins again.
#[test]
fn any_net_with_a_chain_can_have_stragglers() {
    let mut net = NetBuilder::new("again and again");
    let [idle, busy] = [("idle", 1), ("busy", 0)].map(|(id, tokens)| net.place(id, tokens));
    let take = net.transition("take", Timing::exponential(0.5));
    let work = net.transition("work", Timing::exponential(0.25));
    net.input(idle, take, 1.0);
    net.output(take, busy, 1.0);
    net.input(busy, work, 1.0);
    net.output(work, idle, 1.0);
    let chains = [TaskChain { name: "Work".into(), start: busy, stages: vec![work], slots: None }];
    let made = straggle(&net.build().unwrap(), &chains, &slow(0.25, 3.0)).unwrap();
    let space = states(&made.net);
    let steady = tailspn::solve::steady_state(space.complete().unwrap(), &LinearSettings::default()).unwrap();
    let averages = space.averages(&compile(&made.net).unwrap(), &steady.probabilities).unwrap();
    // a cycle is 2 s idle and 4 · (0.75 + 0.25 · 3) = 6 s busy
    near(averages.tokens[0], 0.25);
}

#[test]
fn impossible_settings_are_refused() {
    let (net, chains) = one_task(exponential());
    let message = |stragglers: Stragglers, speculation: Speculation| {
        speculate(&net, &chains, &stragglers, &speculation).unwrap_err().to_string()
    };
    let plain = Speculation::default;
    assert!(message(slow(1.5, 3.0), plain()).contains("the share of stragglers is 1.5"));
    assert!(message(slow(0.5, 0.5), plain()).contains("a factor is 0.5"));
    let uneven = Factors::Several(vec![[0.5, 2.0], [0.4, 3.0]]);
    let uneven = Stragglers { factor: uneven, ..Stragglers::default() };
    assert!(message(uneven, plain()).contains("sum of the factors' probabilities is 0.9"));
    let eager = Speculation { precision: 0.2, ..plain() };
    assert!(message(slow(0.3, 3.0), eager).contains("of all tasks would be normal but flagged"));
    let late = Speculation { latency: 3.5, ..plain() };
    assert!(message(slow(0.1, 3.0), late).contains("cannot be flagged after 3.5"));
    let fake = Speculation { fake: 0.5, ..plain() };
    assert!(message(slow(0.1, 3.0), fake).contains("flagged too late"));
    let all = small_job_error("[model]\nslots = true\n[stragglers]\n[speculation]\nslots = { reserved = 2 }\n");
    assert!(all.contains("2 slots for copies leave none of the 2 slots on `mapSlots`"), "{all}");
}

fn small_job_error(more: &str) -> String {
    let text = format!(
        "[phases]\nmeans_s = [1, 0, 2, 3, 0, 0, 1, 0, 4]\nmaps = 2\nreduces = 1\n\
         [[cluster.node]]\nmap_slots = 2\nreduce_slots = 2\n{more}"
    );
    let mut plan = Plan::from_toml(&text).unwrap();
    plan.model.slots = text.contains("slots = true");
    job_net(&plan, &phase_times(&plan, &mut || 0.5).unwrap()).unwrap_err().to_string()
}

/// Copies that wait for idle slots never make the originals wait; copies that go first do.
#[test]
fn copies_that_go_first_make_tasks_wait() {
    let time = |slots: CopySlots| {
        let text = "[model]\nslots = true\n[stragglers]\nshare = 0\n[speculation]\npolicy = \"clone\"\n";
        let mut plan = Plan::from_toml(&format!(
            "[phases]\nmeans_s = [1, 0, 0, 3, 0, 0, 1, 0, 1]\nmaps = 3\nreduces = 1\n\
             [[cluster.node]]\nmap_slots = 2\nreduce_slots = 1\n{text}"
        ))
        .unwrap();
        plan.speculation.as_mut().unwrap().slots = slots;
        let job = job_net(&plan, &phase_times(&plan, &mut || 0.5).unwrap()).unwrap();
        exact(&job.net, &job.attempts)
    };
    let (idle, shared) = (time(CopySlots::Idle), time(CopySlots::Shared));
    assert!(idle["copies"] < shared["copies"], "{} {}", idle["copies"], shared["copies"]);
    // with exponential maps, a copy of a running task does as much for the job as the next task would
    assert!(shared["time"] >= idle["time"] - 1e-9, "{} {}", shared["time"], idle["time"]);
}

fn any_speculation() -> impl Strategy<Value = (Stragglers, Speculation)> {
    let slots = prop_oneof![Just(CopySlots::Idle), Just(CopySlots::Shared), (1..3_u32).prop_map(CopySlots::Reserved)];
    let policy = prop_oneof![3 => Just(CopyPolicy::Detect), 1 => Just(CopyPolicy::Clone)];
    (0.0..0.5_f64, 1.2..5.0_f64, 0.0..=1.0_f64, 0.3..=1.0_f64, 0.0..1.0_f64, slots, policy).prop_map(
        |(alpha, s, recall, precision, latency, slots, policy)| {
            let speculation = Speculation { policy, recall, precision, latency, slots, ..Speculation::default() };
            (slow(alpha, s), speculation)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the settings: the same end, no waste without copies, copies at most once a task, and the mean of the
    /// task's own time where nobody is flagged.
    #[test]
    fn any_settings_make_a_sound_net((stragglers, speculation) in any_speculation()) {
        let (net, chains) = one_task(exponential());
        let made: Augmented = match speculate(&net, &chains, &stragglers, &speculation) {
            Ok(made) => made,
            Err(AugmentError::Settings(_)) => return Ok(()),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let space = states(&made.net);
        prop_assert_eq!(space.dead().len(), 1);
        let mut marking = vec![0; made.net.places().len()];
        space.marking(space.dead()[0] as usize, &mut marking);
        for (place, &tokens) in made.net.places().iter().zip(&marking) {
            let expected = if place.id == "copySlots" { place.initial[0] } else { u32::from(place.id == "done") };
            prop_assert_eq!(tokens, expected, "{}", &place.id);
        }
        let found = exact(&made.net, &made.tasks);
        let slowest = 1.0 - stragglers.share + stragglers.share * stragglers.mean_factor();
        prop_assert!(found["time"] <= BEFORE + slowest + 1e-9);
        prop_assert!(found["copies"] <= 1.0 + 1e-9 && found["copies_won"] <= found["copies"] + 1e-12);
        prop_assert!(found["wasted"] <= found["slot_seconds"] + 1e-9);
    }
}
