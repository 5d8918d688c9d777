//! Memory of the local page at the limits of every field: the cost of a request is known before the memory is taken.

#![cfg(target_os = "linux")]

use std::time::Duration;

use serde_json::{Value, json};
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{NetBuilder, Timing};

use crate::cli_sweep::Folder;
use crate::serve::Server;
use crate::serve_job::STAGES;

/// Most memory that a server may take for one request \[MiB\].
const MOST_MIB: u64 = 2048;
/// Time for a request to take its memory. Then the page leaves, which stops the work.
const GROWS: Duration = Duration::from_millis(1500);

/// Sends requests one after the other, and leaves a request that takes long. Each request is answered or refused, and the server stays small.
fn assert_small(server: &Server, requests: impl IntoIterator<Item = (&'static str, Value)>) {
    for (path, body) in requests {
        let status = server.post_for(path, &body, GROWS);
        let mib = server.peak_mib();
        assert!(matches!(status, 0 | 200 | 422) && mib < MOST_MIB, "{path} {body}: status {status}, {mib} MiB");
    }
}

/// A ring of stages, each passed on one of two ways: 2^18 invariants, each with the places of half of the ways.
fn ring() -> String {
    let mut b = NetBuilder::new("ring");
    let mut join = b.transition("close", Timing::exponential(1.0));
    let first = join;
    for stage in 0..18 {
        let next = if stage == 17 { first } else { b.transition(format!("join{stage}"), Timing::exponential(1.0)) };
        for way in 0..2 {
            let mut from = join;
            for step in 0..20 {
                let place = b.place(format!("p{stage}_{way}_{step}"), 1);
                b.output(from, place, 1.0);
                from = if step == 19 {
                    next
                } else {
                    b.transition(format!("t{stage}_{way}_{step}"), Timing::exponential(1.0))
                };
                b.input(place, from, 1.0);
            }
        }
        join = next;
    }
    write(&b.build().unwrap(), &WriteOptions::default()).xml
}

#[test]
fn questions_about_a_net_take_little_memory_at_the_limits_of_their_fields() {
    let most = u64::MAX.to_string();
    let times = |count: usize, time: &str| vec![time; count].join(",");
    let ask =
        |command: &str, values: Value| ("/net/ask", json!({ "marking": [2], "command": command, "values": values }));
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    assert_small(
        &server,
        [
            ask("simulate", json!({ "reps": most, "seed": most })),
            ask("simulate", json!({ "reps": most, "horizon": "1e300", "until": "#(queue) > 5" })),
            ask("long-run", json!({ "seed": most })),
            ask("solve", json!({ "at": times(100, "1e8") })),
            ask("solve", json!({ "at": times(10, "1e300") })),
            ask("solve", json!({ "until": "#(queue) == 0", "at": "1e9" })),
            ask("untimed", json!({ "ctl": "AG EF (#(queue) == 0)" })),
            ask("query", json!({ "QUERY": "P=? [ F[1e8,1e9] #(queue) == 5 ]" })),
        ],
    );
    let many = ask("solve", json!({ "at": times(101, "1") }));
    assert_eq!(server.post(many.0, &many.1).status, 422);
}

#[test]
fn the_analysis_of_a_net_with_many_invariants_takes_little_memory() {
    let files = Folder::new(&[("ring.xml", &ring())]);
    let server = Server::start(&[&files.at("ring.xml")]);
    let marking = vec![1; 18 * 2 * 20];
    let ask =
        |only: &str| ("/net/ask", json!({ "marking": marking, "command": "structure", "values": { "only": only } }));
    assert_small(&server, [ask("invariants"), ask("siphons"), ask("bounds"), ask("throughputs"), ask("matrices")]);
}

/// At most a million maps, a million reduces and 100,000 workers.
#[test]
fn a_planned_job_takes_little_memory_at_the_limits_of_its_fields() {
    let estimate = |options: Value| ("/job/estimate", json!({ "options": options }));
    let copies = "r=0.6,p=0.8,dl=0.4";
    let server = Server::start(&[]);
    assert_small(
        &server,
        [
            estimate(json!({ "input-size": "60000GB" })),
            estimate(json!({ "input-size": "60000GB", "stragglers": "0.1:4" })),
            estimate(json!({ "input-size": "60000GB", "reduces": "1000000", "workers": "100000" })),
            estimate(json!({ "workers": "100000", "map-slots": "1000", "reduce-slots": "1000" })),
            estimate(json!({ "workers": "100000", "gpus-per-worker": "1000" })),
            ("/job/estimate", json!({ "options": {}, "reps": 10_000_000, "pinned": { "workers": "5" } })),
            ("/job/estimate", json!({ "options": {}, "reps": u64::MAX, "seed": u64::MAX })),
        ],
    );
    // only nets have copies: a net of a million tasks would grow for minutes, to 10 GB
    for options in [
        json!({ "input-size": "60000GB", "speculation": copies }),
        json!({ "reduces": "1000000", "speculation": copies }),
    ] {
        let refused = server.post("/job/estimate", &json!({ "options": options }));
        assert!(refused.status == 422 && refused.body.contains("tasks needs about"), "{}", refused.body);
    }
    let kept = json!({ "options": {}, "reps": 10_000_001, "pinned": { "workers": "5" } });
    assert_eq!(server.post("/job/estimate", &kept).status, 422);
}

/// The plan of a search is a text of the page, so it may be any plan.
#[test]
fn a_search_for_the_cheapest_size_refuses_a_job_with_a_large_net() {
    let server = Server::start(&[]);
    let plan = "[job]\ninput_mb = 57_600_000\ndeadline_s = 100_000\n";
    assert_eq!(server.post("/job/study", &json!({ "plan": plan })).status, 200);
    std::thread::sleep(GROWS);
    let found = server.ask("/job/study");
    assert!(found.status == 422 && found.body.contains("the net of 900040 tasks needs about"), "{}", found.body);
    assert!(server.peak_mib() < MOST_MIB);
}

#[test]
fn a_job_of_stages_takes_little_memory_at_the_limits_of_its_fields() {
    let files = Folder::new(&[("stages.toml", STAGES)]);
    let server = Server::start(&[&files.at("stages.toml")]);
    let estimate = |options: Value| ("/job/estimate", json!({ "options": options }));
    assert_small(
        &server,
        [
            estimate(json!({ "input-size": "7000000MB" })),
            estimate(json!({ "partitions": "1000000", "speculation": "spark3" })),
            estimate(json!({ "executors": "100000", "cores": "10" })),
            estimate(json!({ "input-size": "7000000MB", "executors": "100000", "cores": "10" })),
        ],
    );
}
