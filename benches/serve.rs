//! The first answer of the page of a job, from the request to the last byte: 100 changed values, one after the other. For the default job, and for one of 1,600 maps.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Changed values.
const CHANGES: u32 = 100;

/// A server that ends with the benchmark.
struct Server {
    process: Child,
    host: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tailspn"));
        let mut process = command
            .args(["serve", "--no-open", "--quiet"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let out = process.stdout.as_mut().expect("the output is piped");
        BufReader::new(out).read_line(&mut line).expect("the program prints its address");
        let address = line.trim().strip_prefix("http://").expect("the first line is the address");
        let (host, token) = address.split_once("/?token=").expect("the address has a token");
        Self { host: host.to_owned(), token: token.to_owned(), process }
    }

    /// Asks for a first estimate and returns the time until the whole answer is here.
    fn answer(&self, options: &str) -> Duration {
        let body = format!("{{\"options\":{options},\"reps\":2000,\"first\":true}}");
        let (host, token, length) = (&self.host, &self.token, body.len());
        let request = format!(
            "POST /job/estimate HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nX-Tailspn-Token: {token}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        let started = Instant::now();
        let mut stream = TcpStream::connect(host).expect("the server listens");
        stream.write_all(request.as_bytes()).expect("the server reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the server answers");
        let taken = started.elapsed();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        taken
    }
}

fn main() {
    for (name, maps) in [("default job, 160 maps", 160), ("1,600 maps", 1600)] {
        let server = Server::start();
        // the number of maps, near the named one, and the workers change each time
        let change = |i: u32| {
            let (mb, workers) = (64 * (maps + i % 10), 4 + i % 7);
            server.answer(&format!("{{\"input-size\":\"{mb}MB\",\"workers\":\"{workers}\",\"deadline\":\"90s\"}}"))
        };
        change(0);
        let mut times: Vec<Duration> = (0..CHANGES).map(change).collect();
        times.sort_unstable();
        let [p50, p95] = [50, 95].map(|percent| times[times.len() * percent / 100 - 1].as_secs_f64() * 1e3);
        println!("first answer, {name}: p50 {p50:.1} ms, p95 {p95:.1} ms of {CHANGES} changes");
    }
}
