//! A browser that a test drives: headless Chromium, through the WebDriver protocol of chromedriver.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longest wait for an answer of the driver, or for a condition; machines may be slow.
const HANGS: Duration = Duration::from_secs(60);

/// Keys of WebDriver.
pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const ESCAPE: &str = "\u{e00c}";

/// A page in a browser of its own.
pub(crate) struct Browser {
    driver: Child,
    host: String,
    session: String,
    /// The profile of the browser, removed with it.
    _profile: TempDir,
}

impl Browser {
    /// Opens a page in a window of 1200 by 900 pixels.
    pub(crate) fn open(address: &str) -> Self {
        let program = std::env::var("TAILSPN_CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
        let driver = Command::new(program).arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut driver = driver.expect(
            "no chromedriver: install it (Debian: `apt-get install chromium-driver`), or name it in $TAILSPN_CHROMEDRIVER",
        );
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let started = "started successfully on port ";
        let port = lines.find_map(|line| Some(line.unwrap().split_once(started)?.1.trim_end_matches('.').to_owned()));
        // its output is read to the end, so that it never waits for a reader
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let host = format!("127.0.0.1:{}", port.expect("chromedriver prints its port"));
        let mut page = Self { driver, host, session: String::new(), _profile: profile };
        let folder = format!("--user-data-dir={}", page._profile.path().display());
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-quic",
            "--no-first-run",
            "--window-size=1200,900",
            &folder,
        ];
        let wanted = json!({
            "browserName": "chrome",
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "binary": binary(), "args": args },
        });
        let capabilities = json!({ "capabilities": { "alwaysMatch": wanted } });
        // on a busy machine, a browser may end as it starts
        let mut tries = (0..2).map(|_| page.answer("POST", "/session", &capabilities));
        let opened = tries.find(|answer| answer["error"].is_null());
        let opened = opened.unwrap_or_else(|| page.call("POST", "/session", &capabilities));
        page.session = format!("/session/{}", opened["sessionId"].as_str().unwrap());
        // the fields of a page come after its scripts have asked for them
        page.post("/timeouts", &json!({ "implicit": 10_000 }));
        page.post("/url", &json!({ "url": address }));
        page
    }

    /// Sends a request to the driver, which must succeed.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let value = self.answer(method, path, body);
        assert!(value.get("error").is_none_or(Value::is_null), "{path}: {}", value["message"]);
        value
    }

    /// The driver's answer to a request: the value asked for, or an object with an `error`.
    fn answer(&self, method: &str, path: &str, body: &Value) -> Value {
        let (host, body) = (&self.host, body.to_string());
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            if let Some((_, value)) = line.to_lowercase().split_once("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).unwrap();
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        answer["value"].clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("{}{path}", self.session), body)
    }

    /// The value that a script returns; a promise is awaited.
    pub(crate) fn script(&self, text: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": text, "args": [] }))
    }

    /// Waits until an expression of JavaScript is true.
    pub(crate) fn wait(&self, condition: &str) {
        let started = Instant::now();
        while self.script(&format!("return Boolean({condition})")) != json!(true) {
            let page = || self.script("return document.body.innerText");
            assert!(started.elapsed() < HANGS, "`{condition}` does not become true\n{}", page());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks the middle of the first element that a CSS selector or an XPath finds, as a mouse does.
    pub(crate) fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types into the first element that a selector finds, in place of its value.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/clear"), &json!({}));
        self.post(&format!("/element/{element}/value"), &json!({ "text": text }));
    }

    fn find(&self, selector: &str) -> String {
        let using = if selector.starts_with("//") { "xpath" } else { "css selector" };
        let found = self.post("/element", &json!({ "using": using, "value": selector }));
        let id = found.as_object().unwrap().values().next().unwrap();
        id.as_str().unwrap().to_owned()
    }

    /// Presses a key, wherever the focus is.
    pub(crate) fn press(&self, key: &str) {
        let presses = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": presses }] }));
    }

    /// Drags from the middle of an element by so many pixels.
    pub(crate) fn drag(&self, selector: &str, by: [i32; 2]) {
        let origin = json!({ "element-6066-11e4-a52e-4f735466cecf": self.find(selector) });
        let moves = json!([
            { "type": "pointerMove", "origin": origin, "x": 0, "y": 0 },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerMove", "origin": "pointer", "x": by[0], "y": by[1], "duration": 100 },
            { "type": "pointerUp", "button": 0 },
        ]);
        self.post("/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": moves }] }));
    }

    /// Sends a command of the DevTools protocol.
    pub(crate) fn devtools(&self, command: &str, settings: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": settings }))
    }

    /// Shows the page in a viewport of this size \[pixels\], in dark or light colours.
    pub(crate) fn show_as(&self, [width, height]: [u32; 2], colours: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
        let colours = json!({ "features": [{ "name": "prefers-color-scheme", "value": colours }] });
        self.devtools("Emulation.setEmulatedMedia", &colours);
    }

    /// What the browser reported since the last call, of any level.
    fn log(&self) -> Vec<Value> {
        self.post("/se/log", &json!({ "type": "browser" })).as_array().unwrap().clone()
    }

    /// Fails if the browser reported anything since the last call.
    pub(crate) fn assert_silent(&self) {
        let log = self.log();
        assert!(log.is_empty(), "{log:?}");
    }

    /// Fails if the browser reported an error since the last call.
    pub(crate) fn assert_no_errors(&self) {
        let errors: Vec<_> = self.log().into_iter().filter(|entry| entry["level"] == "SEVERE").collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // the driver ends its browser; a failure here must not hide the test's own failure
        if let Ok(mut stream) = TcpStream::connect(&self.host) {
            let request =
                format!("DELETE {} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n", self.session, self.host);
            let _ = stream.set_read_timeout(Some(HANGS));
            let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.read(&mut [0; 1000]));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The browser: `$TAILSPN_CHROMIUM`, else one that is installed.
fn browser() -> String {
    let named = std::env::var("TAILSPN_CHROMIUM").ok();
    let names = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    let works = |name: &String| {
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let found = named.into_iter().chain(names).find(works);
    found.expect("no Chromium: install it (Debian: `apt-get install chromium`), or name it in $TAILSPN_CHROMIUM")
}

/// The path of Chromium; the driver does not search for it.
fn binary() -> String {
    let name = browser();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(&name));
    let found = if Path::new(&name).is_absolute() { None } else { paths.find(|path| path.is_file()) };
    found.map_or(name, |path| path.display().to_string())
}
