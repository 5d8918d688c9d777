//! Features of the CPU engines on a device: for each feature, the device gives equal bits or refuses it with a text. The
//! rows are those of the table in docs/kernels.md.

use std::sync::Arc;

use crate::compile::{Program, compile, lower};
use crate::net::{Delay, Law, Memory, Net, NetBuilder, Servers, Timing};
use crate::rng::split;
use crate::sim::conformance::{all_laws, job, straggling_tasks};
use crate::sim::engines::choose;
use crate::sim::gpu::tests::devices;
use crate::sim::gpu::twin::device_engine;
use crate::sim::gpu::{DeviceFault, Gpu};
use crate::sim::race::Setup;
use crate::sim::{
    Backend, Clock, Condition, EngineChoice, Ensemble, Goal, Group, Prepared, Question, Reward, Samples, Snapshot, run,
};
use crate::watch::Unwatched;

const SEED: u64 = 42 << 32 | 7;
const REPLICATIONS: u64 = 100;

/// A feature, and an engine on the CPU that supports it.
struct Row {
    feature: &'static str,
    engine: EngineChoice,
    program: Program,
    question: Question,
}

impl Row {
    fn new(feature: &'static str, engine: EngineChoice, net: &Net, question: Question) -> Self {
        Self { feature, engine, program: compile(net).unwrap(), question }
    }

    fn samples(&self, clock: Clock) -> Samples {
        Samples::new(clock, &self.question, self.program.counters(), self.program.transitions())
    }

    /// The name of the engine on the CPU, and the result on a device: `equal`, or the text of the refusal.
    fn result(&self, gpu: &Arc<Gpu>) -> (&'static str, String) {
        let Self { feature, engine, program, question } = self;
        let clock = Clock::choose(program, question.horizon);
        let setup = Setup { program, question, clock, key: split(SEED), keep_times: true, watch: &Unwatched };
        let kind = choose(*engine, setup, SEED).unwrap().kind;
        let (mut samples, mut left) = (self.samples(clock), REPLICATIONS);
        let mut engine = match device_engine(kind, gpu, setup, SEED) {
            Ok(engine) => engine,
            Err(DeviceFault::DoesNotFit(reasons)) => return (kind.name(), reasons.join("; ")),
            Err(fault) => panic!("{feature}: {fault:?}"),
        };
        while left > 0 {
            left -= engine.run(samples.replications, left, &mut samples, &|| false).unwrap();
        }
        let ensemble = Ensemble {
            replications: REPLICATIONS,
            seed: SEED,
            engine: self.engine,
            backend: Backend::Cpu,
            keep: true,
            ..Ensemble::default()
        };
        assert_eq!(samples, run(program, question, &ensemble, &Unwatched).unwrap().samples, "{feature}");
        assert!(samples.firings > 100, "{feature}: {} firings", samples.firings);
        (kind.name(), "equal".to_owned())
    }
}

/// Customers choose one of two queues. The first queue has `servers` as clerks, and a service takes `delay`.
fn queues(servers: Servers, memory: Memory, delay: impl FnOnce(&NetBuilder) -> Delay) -> Net {
    let mut b = NetBuilder::new("queues");
    let (home, hall) = (b.place("home", 4), b.place("hall", 0));
    let arrive = b.transition("arrive", Timing::exponential(1.0));
    b.input(home, arrive, 1.0);
    b.output(arrive, hall, 1.0);
    let (delay, plain) = (delay(&b), Timing::exponential(0.5));
    for (name, weight, serve) in [("left", 0.7, Timing::Timed { delay, servers, memory }), ("right", 0.3, plain)] {
        let queue = b.place(name, 0);
        let (join, serve) = (
            b.transition(format!("join_{name}"), Timing::immediate(weight, 1)),
            b.transition(format!("serve_{name}"), serve),
        );
        b.input(hall, join, 1.0);
        b.output(join, queue, 1.0);
        b.input(queue, serve, 1.0);
        b.output(serve, home, 1.0);
    }
    b.build().unwrap()
}

/// Queues with exponential delays and two clerks.
fn exponential_queues(rate: &str) -> Net {
    queues(Servers::Limited(2), Memory::Enabling, |b| Delay::Exponential { rate: b.expression(rate).unwrap() })
}

fn all_rows() -> Vec<Row> {
    use EngineChoice::{Clock as Clocks, Direct, Lockstep, Schedule};
    let net = exponential_queues("0.8");
    let code = |text: &str| lower(&net, &net.expression(text).unwrap());
    let until = |text: &str| Question {
        goal: Goal::marking(&net, text).unwrap(),
        horizon: Some(1000.0),
        ..Question::default()
    };
    let whole = || Question { goal: Goal::Horizon, horizon: Some(20.0), ..Question::default() };
    let serves = net.transitions().iter().zip(0..).filter(|(t, _)| t.id.starts_with("serve"));
    let serves = Group { name: "serve".into(), transitions: serves.map(|(_, t)| t).collect() };
    let held = Reward { name: "held".into(), rate: Some(code("#(left) / 3")), impulses: vec![(0, code("#(home)"))] };
    let snapshots = [0.0, 7.5].map(|time| Snapshot::new(&net, time, "#(right)").unwrap()).into();
    let pareto = |_: &NetBuilder| Delay::General(Law::Pareto { shape: 2.5, scale: 0.4 });
    let tables = [Law::Empirical { samples: vec![0.3, 0.4, 2.0] }];
    let tasks = |laws: &[Law]| straggling_tasks(2, laws);
    let slots = job(4, 2, 1.0, Some(2));
    let folded = Prepared::for_replications(&slots, &Question::default(), true).unwrap();
    assert_ne!(folded.net(&slots).places().len(), slots.places().len());
    let row = |feature, engine, question| Row::new(feature, engine, &net, question);
    let other = |feature, engine, net: &Net, question| Row::new(feature, engine, net, question);
    let planned = |feature, engine, program, question| Row { feature, engine, program, question };
    vec![
        row("goals as expressions, immediate transitions, several servers", Lockstep, until("#(home) == 0")),
        row("the same", Direct, until("#(home) == 0")),
        row("the same", Clocks, until("#(home) == 0")),
        row("the dead marking, limits of firings", Lockstep, Question { max_firings: Some(30), ..Question::default() }),
        row("token averages, warm-up", Lockstep, Question { tokens: true, warm_up: 2.0, ..whole() }),
        row("throughputs", Lockstep, Question { throughput: true, ..whole() }),
        row("rewards", Lockstep, Question { rewards: vec![held], ..whole() }),
        row("snapshots", Lockstep, Question { snapshots, ..whole() }),
        row("phases", Lockstep, Question { groups: vec![serves], ..whole() }),
        other("rates that depend on the marking", Lockstep, &exponential_queues("0.4 + #(home) / 4"), whole()),
        planned("folded replicas", Clocks, folded.program.clone(), folded.question.clone()),
        other(
            "several servers of other distributions",
            Clocks,
            &queues(Servers::Limited(2), Memory::Enabling, pareto),
            whole(),
        ),
        other("age memory", Clocks, &queues(Servers::Single, Memory::Age, pareto), whole()),
        planned("all distributions", Clocks, tasks(&all_laws()), Question::default()),
        planned("all distributions", Schedule, tasks(&all_laws()), Question::default()),
        planned("tables of fixed delays", Clocks, tasks(&tables), Question::default()),
        planned("tables of fixed delays", Schedule, tasks(&tables), Question::default()),
        row(
            "a marking to avoid",
            Lockstep,
            Question { avoid: Condition::new(&net, "#(home) == 1").ok(), ..until("#(home) == 0") },
        ),
        row("a goal within a time span", Direct, Question { earliest: 2.0, ..until("#(home) == 0") }),
        other("functions of the mathematical library", Clocks, &exponential_queues("exp(#(home) / 4)"), whole()),
        other("the 128-bit clock", Clocks, &exponential_queues("0.8e-30"), until("#(home) == 0")),
    ]
}

/// This test was seen to fail with a weight of a choice that counts twice.
#[test]
fn every_feature_is_equal_or_refused_as_the_table_says() {
    let gpu = &devices()[0];
    let found: Vec<String> = all_rows()
        .iter()
        .map(|row| {
            let (engine, result) = row.result(gpu);
            format!("| {} | {engine} | {result} |", row.feature)
        })
        .collect();
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kernels.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let table = docs.split_once("| feature | engine on the CPU | on a GPU |\n|---|---|---|\n").unwrap().1;
    let shown: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(found, shown, "the table of docs/kernels.md should be:\n{}", found.join("\n"));
}
