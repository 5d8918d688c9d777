//! The local page of `serve`, over HTTP: who gets in, what a firing does, which estimate comes back, and the end.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tailspn::compile::{Program, compile};
use tailspn::net::Net;
use tailspn::semantics::{Candidates, can_fire, find_candidates, fire};

use crate::browser::Browser;
use crate::cli::{data, tool};

/// Longest wait for an answer; machines may be slow.
pub(crate) const HANGS: Duration = Duration::from_secs(60);

/// Longest wait for the end after a signal.
const ENDS: Duration = Duration::from_secs(2);

/// A running server.
pub(crate) struct Server {
    process: Child,
    host: String,
    token: String,
}

/// An answer: its status, its head, and its body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Server {
    pub(crate) fn start(args: &[&str]) -> Self {
        let args: Vec<&str> = ["serve", "--no-open"].iter().chain(args).copied().collect();
        let mut process = tool(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").expect("the first line is the address");
        let (host, token) = address.split_once("/?token=").unwrap();
        Self { host: host.to_owned(), token: token.to_owned(), process }
    }

    /// Sends a request as it stands, and reads the answer to its end.
    fn send(&self, request: &str) -> Answer {
        self.send_for(request, HANGS)
    }

    /// Sends a request as it stands, and leaves after some time; the status is then 0.
    fn send_for(&self, request: &str, patience: Duration) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(patience)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // a refused body may be cut off, after the answer
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", self.host))
    }

    /// The most memory that the server has taken so far \[MiB\].
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }

    /// Threads of the server.
    #[cfg(target_os = "linux")]
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.process.id())).unwrap().count()
    }

    /// Waits until the server has no more threads than `most`.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait_for_threads(&self, most: usize) {
        let started = Instant::now();
        while self.threads() > most {
            assert!(started.elapsed() < HANGS, "{} threads, {most} before", self.threads());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        format!("http://{}{}", self.host, self.page("/"))
    }

    /// The path with the token in its query.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{path}?token={}", self.token)
    }

    pub(crate) fn ask(&self, path: &str) -> Answer {
        self.get(path, &format!("X-Tailspn-Token: {}\r\n", self.token))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_within(path, body, HANGS)
    }

    /// Posts a request, and leaves after some time; returns the status, or 0 without an answer by then.
    #[cfg(target_os = "linux")]
    pub(crate) fn post_for(&self, path: &str, body: &Value, patience: Duration) -> u16 {
        self.post_within(path, body, patience).status
    }

    fn post_within(&self, path: &str, body: &Value, patience: Duration) -> Answer {
        let (host, token, body) = (&self.host, &self.token, body.to_string());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\nX-Tailspn-Token: {token}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send_for(&request, patience)
    }

    /// The JSON of an answer that must succeed.
    pub(crate) fn found(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn refuses_strangers_and_large_bodies_and_stays_alive() {
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    let (host, token) = (&server.host, &server.token);
    assert_eq!(token.len(), 32);
    let with = format!("X-Tailspn-Token: {token}\r\n");
    let page = server.page("/");
    let request = |host: &str, more: &str| format!("GET {page} HTTP/1.1\r\n{host}Connection: close\r\n{more}\r\n");
    let own = format!("Host: {host}\r\n");
    let body = |length: usize| {
        format!("POST /net/view HTTP/1.1\r\n{own}{with}Connection: close\r\nContent-Length: {length}\r\n\r\n")
    };
    let refused = [
        ("no token", server.get("/", "").status, 403),
        ("no token for a script", server.get("/net.js", "").status, 403),
        ("wrong token", server.get(&format!("/?token={}", "0".repeat(32)), "").status, 403),
        ("token that is too short", server.get(&format!("/?token={}", &token[..31]), "").status, 403),
        ("no token for a question", server.get("/net/start", "").status, 403),
        ("token of a question in its address", server.get(&server.page("/net/start"), "").status, 403),
        ("foreign host", server.send(&request("Host: example.org\r\n", "")).status, 403),
        ("another port", server.send(&request("Host: 127.0.0.1:1\r\n", "")).status, 403),
        ("no host", server.send(&request("", "")).status, 403),
        ("foreign origin", server.send(&request(&own, "Origin: http://example.org\r\n")).status, 403),
        ("origin of a file", server.send(&request(&own, "Origin: null\r\n")).status, 403),
        ("announced large body", server.send(&body(1_000_001)).status, 413),
        ("no JSON", server.send(&format!("{}x", body(1))).status, 400),
        ("unknown page", server.get(&server.page("/etc/passwd"), "").status, 404),
    ];
    let wrong: Vec<_> = refused.iter().filter(|(_, got, wanted)| got != wanted).collect();
    assert!(wrong.is_empty(), "{wrong:?}");

    // a body without an announced length is cut off as well
    let chunk = format!("{:x}\r\n{}\r\n", 1_100_000, "[".repeat(1_100_000));
    let head = format!("POST /net/view HTTP/1.1\r\n{own}{with}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(HANGS)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let _ = stream.write_all(chunk.as_bytes());
    let mut start = [0; 12];
    if stream.read_exact(&mut start).is_ok() {
        assert_eq!(&start, b"HTTP/1.1 413");
    }

    let answer = server.get(&page, &format!("Origin: http://{host}\r\n"));
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("content-security-policy: default-src 'none'; script-src 'self'"));
    assert!(!answer.head.contains("access-control"));
    assert!(!answer.body.contains("<script>"));
    assert_eq!(
        server.send(&request(&format!("Host: localhost:{}\r\n", host.split(':').nth(1).unwrap()), "")).status,
        200
    );
    for file in ["/style.css", "/common.js", "/net.js", "/job.js", "/planned.js", "/log.js", "/zoom.js"] {
        assert_eq!(server.get(&server.page(file), "").status, 200, "{file}");
    }
}

/// 64 requests that never send their bodies leave no room for another one, until they go.
#[test]
fn answers_a_limited_number_of_requests_at_a_time() {
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    let (host, token) = (&server.host, &server.token);
    let head =
        format!("POST /net/view HTTP/1.1\r\nHost: {host}\r\nX-Tailspn-Token: {token}\r\nContent-Length: 9\r\n\r\n");
    let waiting: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let until = |status: u16| {
        let started = Instant::now();
        while server.ask("/net/start").status != status {
            assert!(started.elapsed() < HANGS, "no answer with the status {status}");
        }
    };
    until(503);
    drop(waiting);
    until(200);
}

/// The transitions that can fire, by the library.
pub(crate) fn moves(program: &Program, marking: &[u32]) -> Vec<String> {
    let mut found = Candidates::default();
    let mut moves = Vec::new();
    for group in 0..program.groups.rows() {
        find_candidates(program, group, marking, &mut found).unwrap();
        moves.extend(found.transitions().iter().map(|&t| t as usize));
    }
    if moves.is_empty() {
        let timed = program.timed.iter().map(|&t| t as usize);
        moves.extend(timed.filter(|&t| can_fire(program, t, marking).unwrap()));
    }
    moves.into_iter().map(|t| program.transition_names[t].to_owned()).collect()
}

pub(crate) fn fired(program: &Program, transition: &str, marking: &[u32]) -> Vec<u32> {
    let t = program.transition_names.position(transition).unwrap();
    let mut after = marking.to_vec();
    fire(program, t, &mut after).unwrap();
    after
}

pub(crate) fn words(values: &Value, key: &str) -> Vec<String> {
    values.as_array().unwrap().iter().map(|value| value[key].as_str().unwrap().to_owned()).collect()
}

/// Walks through nets with immediate transitions, inhibitors and classes: each click and each random step leads where the library says.
#[test]
fn firings_are_those_of_the_library() {
    for name in ["immediate_conflict", "inhibitor", "two_classes", "kanban", "weighted_infserver"] {
        let path = format!("models/textbook/{name}.xml");
        let program = compile(&Net::open(&path).unwrap()).unwrap();
        let server = Server::start(&[&path]);
        let start: Value = serde_json::from_str(&server.ask("/net/start").body).unwrap();
        assert_eq!(words(&start["transitions"], "id"), program.transition_names.to_vec(), "{name}");
        let mut marking = program.initial.clone();
        let mut view = start["view"].clone();
        for step in 0..20_usize {
            assert_eq!(view["marking"], json!(marking), "{name}");
            let expected = moves(&program, &marking);
            assert_eq!(words(&view["moves"], "transition"), expected, "{name} {marking:?}");
            for other in program.transition_names.iter().filter(|name| !expected.iter().any(|own| own == name)) {
                let refused = server.post("/net/fire", &json!({ "marking": marking, "transitions": [other] }));
                assert_eq!(refused.status, 409, "{name} {other} {marking:?}");
            }
            if expected.is_empty() {
                break;
            }
            let answer = if step % 2 == 0 {
                let transition = &expected[step / 2 % expected.len()];
                server.found("/net/fire", &json!({ "marking": marking, "transitions": [transition] }))
            } else {
                let question = json!({ "marking": marking, "seed": 7, "replication": step, "firings": 1 });
                let answer = server.found("/net/run", &question);
                assert_eq!(answer, server.found("/net/run", &question), "the same seed takes the same step");
                answer
            };
            marking = fired(&program, answer["steps"][0]["transition"].as_str().unwrap(), &marking);
            view = answer["view"].clone();
        }
    }
}

/// The page finds the transition that was clicked by its place in the picture.
#[test]
fn the_boxes_of_a_picture_are_the_transitions_in_the_order_of_the_net() {
    let server = Server::start(&["models/textbook/forkjoin_retry.xml"]);
    let start: Value = serde_json::from_str(&server.ask("/net/start").body).unwrap();
    let picture = start["picture"].as_str().unwrap();
    let boxes = picture
        .split("<rect class=\"")
        .skip(1)
        .filter(|rest| rest.starts_with("timed") || rest.starts_with("immediate"));
    let titles: Vec<&str> =
        boxes.map(|rest| rest.split("<title>").nth(1).unwrap().split('<').next().unwrap()).collect();
    assert_eq!(titles, words(&start["transitions"], "id"));
}

/// Random steps take the first move as often as its share of the weights or rates says: 1,500 steps from one marking, within 5 standard
/// errors. It fails if rates are capped at 0.3 per s.
#[test]
fn random_steps_follow_weights_and_rates() {
    const STEPS: u32 = 1500;
    let server = Server::start(&["models/textbook/immediate_conflict.xml"]);
    let start: Value = serde_json::from_str(&server.ask("/net/start").body).unwrap();
    let before = &start["view"];
    let arrived = server.found("/net/fire", &json!({ "marking": before["marking"], "transitions": ["arrive"] }));
    for (view, key) in [(before, "rate_per_s"), (&arrived["view"], "probability")] {
        let weights: Vec<f64> =
            view["moves"].as_array().unwrap().iter().map(|one| one[key].as_f64().expect(key)).collect();
        let share = weights[0] / weights.iter().sum::<f64>();
        assert!((share - 0.5).abs() > 0.2, "{key} {share}");
        let taken = (0..STEPS).filter(|step| {
            let question = json!({ "marking": view["marking"], "seed": 5, "replication": step, "firings": 1 });
            server.found("/net/run", &question)["steps"][0]["transition"] == view["moves"][0]["transition"]
        });
        let got = taken.count() as f64 / f64::from(STEPS);
        let error = (share * (1.0 - share) / f64::from(STEPS)).sqrt();
        assert!((got - share).abs() < 5.0 * error, "{key}: {got} in place of {share}");
    }
}

#[test]
fn markings_that_the_net_cannot_have_are_refused() {
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    for marking in
        [json!([]), json!([1, 2]), json!([-1]), json!([1.5]), json!([4_294_967_296_u64]), json!("x"), json!(null)]
    {
        let answer = server.post("/net/view", &json!({ "marking": marking }));
        assert_eq!(answer.status, 400, "{marking}: {}", answer.body);
    }
    assert_eq!(server.post("/net/fire", &json!({ "marking": [1], "transitions": ["?"] })).status, 400);
    let full = server.found("/net/view", &json!({ "marking": [2] }));
    assert_eq!(full["marking"], json!([2]));
}

/// The file that the page offers has the marking of the page as its initial marking.
#[test]
fn the_written_net_has_the_marking_of_the_page() {
    let server = Server::start(&["models/textbook/kanban.xml"]);
    let program = compile(&Net::open("models/textbook/kanban.xml").unwrap()).unwrap();
    let first = moves(&program, &program.initial)[0].clone();
    let marking = fired(&program, &first, &program.initial);
    let written = server.found("/net/pipe", &json!({ "marking": marking }));
    let net = Net::read(written["xml"].as_str().unwrap()).unwrap();
    assert_eq!(compile(&net).unwrap().initial, marking);
}

/// The result without times of day and durations, and without next commands, which are about typed files.
pub(crate) fn without_times(mut result: Value) -> Value {
    result["blocks"].as_object_mut().unwrap().remove("next");
    result.as_object_mut().unwrap().remove("time_cost");
    if let Some(provenance) = result["provenance"].as_object_mut() {
        provenance.remove("wall_s");
    }
    result
}

pub(crate) fn printed(args: &[&str]) -> Value {
    serde_json::from_str(&data(args)).unwrap()
}

#[test]
fn an_estimate_is_that_of_the_command() {
    let server = Server::start(&[]);
    let options = json!({ "input-size": "10GB", "workers": "8", "deadline": "200s", "reduces": " " });
    let answer = server.found("/job/estimate", &json!({ "options": options, "reps": 300, "seed": 11 }));
    let args =
        ["--input-size", "10GB", "--workers", "8", "--deadline", "200s", "--reps", "300", "--seed", "11", "--json"];
    let command: Vec<&str> = ["estimate", "--demo"].into_iter().chain(args).collect();
    let expected = printed(&command);
    assert!(
        expected["deadline"]["simulated"]["value"].is_number() && expected["job_time"]["mean"]["value"].is_number()
    );
    assert_eq!(without_times(answer["result"].clone()), without_times(expected.clone()));
    assert!(answer["pictures"][0]["wide"].as_str().unwrap().starts_with("<svg"));

    // the command to copy prints the same
    let copied = answer["command"].as_str().unwrap().strip_prefix("tailspn ").unwrap();
    let copied: Vec<&str> = copied.split(' ').chain(["--json"]).collect();
    assert_eq!(without_times(printed(&copied)), without_times(expected));

    let wrong = json!({ "options": { "input-size": "much" } });
    assert_eq!(server.post("/job/estimate", &wrong).status, 422);
    assert_eq!(server.post("/job/estimate", &json!({ "reps": 0 })).status, 422);
    assert_eq!(server.post("/job/estimate", &json!({ "options": { "export": "x.xml" } })).status, 400);
}

#[test]
fn a_plan_of_stages_has_its_own_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a plan.toml");
    let plan = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 2\n[run]\nsigma = 0\ndegrees_of_freedom = 4\nruns = 1\n\
                [[stage]]\ntasks = { fixed = 9 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 2 }\n\
                distribution = { lognormal = { cv = 0.5 } }\n";
    std::fs::write(&path, plan).unwrap();
    let path = path.to_str().unwrap();
    let server = Server::start(&[path]);
    let start: Value = serde_json::from_str(&server.ask("/job/start").body).unwrap();
    assert!(words(&start["fields"], "option").contains(&"executors".to_owned()));
    let answer = server.found("/job/estimate", &json!({ "options": { "executors": "3" }, "reps": 300, "seed": 2 }));
    let expected = printed(&["estimate", path, "--executors", "3", "--reps", "300", "--seed", "2", "--json"]);
    assert_eq!(without_times(answer["result"].clone()), without_times(expected));
}

/// The page as HTML once a condition in JavaScript holds. The browser reports nothing, so the policy refused no script and no style.
fn html_when(server: &Server, condition: &str) -> String {
    let page = Browser::open(&server.address());
    page.wait(condition);
    page.assert_silent();
    page.script("return document.documentElement.outerHTML").as_str().unwrap().to_owned()
}

#[test]
fn a_browser_shows_both_pages() {
    let server = Server::start(&["models/textbook/immediate_conflict.xml"]);
    let page = html_when(&server, "document.querySelector('.movable') && document.querySelector('.marking td')");
    let count = |what: &str| page.matches(what).count();
    assert_eq!(count("role=\"button\" aria-label="), 9, "a button for each transition\n{page}");
    assert_eq!(count("movable"), 2, "arrive and gate_opens can fire\n{page}");
    assert_eq!(count("<td>source</td><td>1</td>"), 1, "{page}");

    let server = Server::start(&["models/mapreduce/all-at-once.toml"]);
    let shown = "document.body.innerText.includes('2000 replications.') && document.querySelectorAll('svg').length > 4";
    let page = html_when(&server, shown);
    for row in ["mean, exact</td><td>85.24 s", "p95, exact", "p99, exact", "mean, simulated", "p99, simulated"] {
        assert!(page.contains(row), "{row}\n{page}");
    }
    assert!(page.contains(">2000 replications.<") && page.matches("<svg").count() == 5, "{page}");
}

/// A name that would be markup, for XML and for JSON.
const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>";

/// The page has no element and no script from names of a log, and the browser reports none that the policy refused.
#[test]
fn names_of_a_log_never_become_markup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.spark");
    let name = json!(HOSTILE).to_string();
    let text = std::fs::read_to_string("tests/data/trace/small.spark").unwrap();
    let events: Vec<String> = text
        .lines()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if event.get("App Name").is_some() {
                event["App Name"] = json!(HOSTILE);
            }
            if event["Stage Info"].get("Stage Name").is_some() {
                event["Stage Info"]["Stage Name"] = json!(HOSTILE);
            }
            event.to_string()
        })
        .collect();
    assert!(events.iter().filter(|event| event.contains(&name)).count() > 1, "the log has the name");
    std::fs::write(&path, events.join("\n") + "\n").unwrap();
    let server = Server::start(&[path.to_str().unwrap()]);
    let start = server.ask("/log/start");
    assert_eq!(start.status, 200, "{}", start.body);
    let start: Value = serde_json::from_str(&start.body).unwrap();
    for part in ["timeline", "report"] {
        let text = start[part].as_str().unwrap();
        assert!(!text.contains("<script>") && !text.contains("<img src=x"), "{part}: {text}");
        assert!(text.contains("&lt;script&gt;"), "{part} shows the name: {text}");
    }
    let shown =
        "document.querySelector('.picture.timeline') && document.body.innerText.includes('Why tasks were slow')";
    let page = html_when(&server, shown);
    assert!(!page.contains("<script>") && !page.contains("<img src=\"x\""), "{page}");
    assert!(!page.contains("class=\"problem\""), "{page}");
}

/// A hundred changes of the page, each of which gives up the estimate before it, leave no thread that still computes.
#[cfg(target_os = "linux")]
#[test]
fn estimates_that_nobody_waits_for_leave_no_thread() {
    let server = Server::start(&[]);
    server.found("/job/estimate", &json!({ "reps": 200 }));
    let before = server.threads();
    let (host, token) = (&server.host, &server.token);
    for _ in 0..40 {
        let body = json!({ "reps": 1_000_000_000_000_u64 }).to_string();
        let head = format!("POST /job/estimate HTTP/1.1\r\nHost: {host}\r\nX-Tailspn-Token: {token}\r\n");
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    server.wait_for_threads(before);
    server.found("/job/estimate", &json!({ "reps": 200 }));
}

/// Each of 1,000 requests at a time is answered or refused.
#[test]
fn a_thousand_requests_at_a_time_are_answered_or_refused() {
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..1000).map(|_| scope.spawn(|| server.ask("/net/start").status)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|status| [200, 503].contains(status)), "{answers:?}");
    assert_eq!(server.ask("/net/start").status, 200);
}

/// A body of 100 MB is refused before it is read, and also if it is sent without its length: the server reads 1 MB of it at most.
#[test]
fn a_body_of_100_mb_is_refused() {
    const PIECE: usize = 1 << 20;
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    let (host, token) = (&server.host, &server.token);
    let head = format!("POST /net/view HTTP/1.1\r\nHost: {host}\r\nX-Tailspn-Token: {token}\r\nConnection: close\r\n");
    assert_eq!(server.send(&format!("{head}Content-Length: 100000000\r\n\r\n")).status, 413);
    for (length, before, after) in [
        ("Content-Length: 104857600".to_owned(), String::new(), ""),
        ("Transfer-Encoding: chunked".to_owned(), format!("{PIECE:x}\r\n"), "\r\n"),
    ] {
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.set_write_timeout(Some(HANGS)).unwrap();
        stream.write_all(format!("{head}{length}\r\n\r\n").as_bytes()).unwrap();
        let piece = format!("{before}{}{after}", "[".repeat(PIECE));
        let sent = (0..100).take_while(|_| stream.write_all(piece.as_bytes()).is_ok()).count();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 413"), "{length}");
        assert!(sent < 100, "{length}: all of it was read");
        assert_eq!(server.ask("/net/start").status, 200);
    }
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak_kb < 100_000, "{peak_kb} kB");
    }
}

/// The firings of a run are those of the simulator: it ends at the passage time of that replication, and each firing leads where the
/// library says.
#[test]
fn a_recorded_run_is_a_replication_of_the_simulator() {
    let path = "models/textbook/small_job.xml";
    let program = compile(&Net::open(path).unwrap()).unwrap();
    let server = Server::start(&[path]);
    for until in [None, Some("#(r0_2) >= 1")] {
        let question = json!({ "marking": program.initial, "seed": 9, "replication": 0, "until": until });
        let run = server.found("/net/run", &question);
        let mut marking = program.initial.clone();
        for step in run["steps"].as_array().unwrap() {
            let after = fired(&program, step["transition"].as_str().unwrap(), &marking);
            for change in step["tokens"].as_array().unwrap() {
                let [counter, before, now] = [0, 1, 2].map(|i| change[i].as_u64().unwrap());
                assert_eq!(u64::from(marking[counter as usize]), before);
                marking[counter as usize] = u32::try_from(now).unwrap();
            }
            assert_eq!(marking, after);
        }
        assert_eq!(run["view"]["marking"], json!(marking));
        let mut args = vec!["net", "simulate", path, "--no-fold", "--reps", "1", "--seed", "9", "--json"];
        args.extend(until.iter().flat_map(|until| ["--until", until]));
        let simulated = printed(&args);
        assert_eq!(run["end_s"], simulated["passage_time"]["mean"]["value"]);
    }
}

/// Firings that the page did not make one by one, other rates, and their file.
#[test]
fn rates_that_the_page_changes_count() {
    let server = Server::start(&["models/textbook/immediate_conflict.xml"]);
    let start: Value = serde_json::from_str(&server.ask("/net/start").body).unwrap();
    let marking = &start["view"]["marking"];
    let rates = json!({ "arrive": "2.5" });
    let changed = server.found("/net/start", &json!({ "marking": marking, "rates": rates }));
    assert_eq!(changed["view"]["moves"][0]["rate_per_s"], json!(2.5));
    let written = server.found("/net/pipe", &json!({ "marking": marking, "rates": rates }));
    let net = Net::read(written["xml"].as_str().unwrap()).unwrap();
    let t = net.find_transition("arrive").unwrap();
    assert!(format!("{:?}", net.transition(t).timing).contains("2.5"), "{:?}", net.transition(t));
    for wrong in [json!({ "arrive": "much" }), json!({ "nobody": "1" }), json!({ "arrive": "-1" })] {
        assert_eq!(server.post("/net/view", &json!({ "marking": marking, "rates": wrong })).status, 422, "{wrong}");
    }
    // the rates of the file are still there
    assert_eq!(server.found("/net/view", &json!({ "marking": marking })), start["view"]);
}

/// Commands see the marking and the rates of the page, and their firing sequences can be replayed.
#[test]
fn commands_answer_about_the_marking_of_the_page() {
    let server = Server::start(&["models/textbook/mm1k.xml"]);
    let ask = |marking: u32, command: &str, values: Value| {
        let rates = json!({ "arrive": "0" });
        server.found("/net/ask", &json!({ "marking": [marking], "rates": rates, "command": command, "values": values }))
    };
    let solved = ask(2, "solve", json!({ "until": "#(queue) == 0" }));
    let alone = ask(1, "solve", json!({ "until": "#(queue) == 0" }));
    let mean = |answer: &Value| answer["result"]["passage"]["mean_s"].as_f64().unwrap();
    assert!((mean(&solved) / mean(&alone) - 2.0).abs() < 1e-9, "two services in place of one");
    assert!(solved["report"].as_str().unwrap().contains("</main>"));
    let formula = ask(2, "untimed", json!({ "ctl": "EF (#(queue) == 0)" }));
    let path = &formula["result"]["formulas"][0]["evidence"]["path"];
    let after = server.found("/net/fire", &json!({ "marking": [2], "transitions": path }));
    assert_eq!(after["view"]["marking"], json!([0]));
    let query = ask(2, "query", json!({ "QUERY": "P=? [ F #(queue) == 0 ]" }));
    assert!((query["result"]["queries"][0]["value"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    for (command, values, status) in [
        ("serve", json!({}), 400),
        ("solve", json!({ "export-mtx": "x.mtx" }), 400),
        ("solve", json!({ "until": "#(nobody) == 0" }), 422),
        ("query", json!({ "QUERY": "--file=/etc/passwd" }), 422),
    ] {
        let request = json!({ "marking": [2], "command": command, "values": values });
        assert_eq!(server.post("/net/ask", &request).status, status, "{command} {values}");
    }
}

/// Also while an estimate of hours runs.
#[test]
fn sigterm_ends_the_server_at_once() {
    let mut server = Server::start(&[]);
    let (host, token) = (&server.host, &server.token);
    let body = json!({ "reps": 1_000_000_000_000_u64 }).to_string();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("POST /job/estimate HTTP/1.1\r\nHost: {host}\r\nX-Tailspn-Token: {token}\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let sent = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &server.process.id().to_string()]).status().unwrap().success());
    let status = loop {
        if let Some(status) = server.process.try_wait().unwrap() {
            break status;
        }
        assert!(sent.elapsed() < ENDS, "SIGTERM is not heard");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(143));
}

/// An empty file is an empty plan only if its name says so.
#[test]
fn an_empty_net_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.xml");
    std::fs::write(&path, "").unwrap();
    let output = tool(&["serve", "--no-open", path.to_str().unwrap()]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("is empty, not a net"), "{told}");
}

#[test]
fn files_and_ports_that_cannot_be_served_are_refused() {
    for (args, code) in
        [(["no-such-file.xml"], 7), (["models/cluster/phan-c2.toml"], 3), (["-"], 2), (["Cargo.lock"], 3)]
    {
        let output = tool(&["serve", "--no-open", args[0]]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = tool(&["serve", "--no-open", "--port", &port]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
}
