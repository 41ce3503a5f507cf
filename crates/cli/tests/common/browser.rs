//! Debian's Chromium without a screen, driven over the WebDriver protocol (W3C, 2018) by its
//! chromedriver.

use super::{scratch, wait_until};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Where pictures are left, to be looked at.
pub fn pictures() -> PathBuf {
    Path::new(super::FATHOM).ancestors().nth(2).unwrap().join("pages")
}

/// A chromedriver and its port. None where it ended at once: it takes a free port of IPv4, and ends
/// where another program has that port of IPv6.
#[track_caller]
fn driver_in(home: &Path) -> Option<(Child, u16)> {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // The browser and its many processes are of this group, so none outlives the test.
    command.process_group(0).env("HOME", home).env("TMPDIR", home);
    let mut driver = command.spawn().expect("chromedriver (Debian: chromium-driver)");
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        // The first line names the port that was asked for: any.
        let port = line.split_once("successfully on port ")?.1;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    let Some(port) = port else {
        driver.wait().unwrap();
        return None;
    };
    // What it says else is of no interest, but it must be able to say it.
    std::thread::spawn(move || lines.count());
    Some((driver, port))
}

/// A browser with one window; it and all it started ends with the value.
pub struct Browser {
    driver: Child,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts one with a window of 1280 by 900.
    #[track_caller]
    pub fn start() -> Browser {
        let profile = scratch();
        let (driver, port) =
            (0..5).find_map(|_| driver_in(profile.path())).expect("a chromedriver");
        let mut browser =
            Browser { driver, session: format!("http://127.0.0.1:{port}"), _profile: profile };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--no-proxy-server",
            "--window-size=1280,900",
            &format!("--user-data-dir={}", browser._profile.path().join("profile").display()),
        ];
        let answer = browser.post(
            "/session",
            json!({"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": {"args": arguments},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }}}),
        );
        let id = answer["sessionId"].as_str().expect("a session").to_owned();
        browser.session += &format!("/session/{id}");
        browser
    }

    /// Loads an address, and waits until it is there.
    #[track_caller]
    pub fn open(&self, address: &str) {
        self.post("/url", json!({"url": address}));
    }

    /// Where it is.
    #[track_caller]
    pub fn address(&self) -> String {
        self.get("/url").as_str().unwrap().to_owned()
    }

    /// What a function body returns.
    #[track_caller]
    pub fn script(&self, body: &str) -> Value {
        self.post("/execute/sync", json!({"script": body, "args": []}))
    }

    /// Whether pages may run scripts, from the next page on.
    #[track_caller]
    pub fn scripts(&self, are_allowed: bool) {
        self.protocol("Emulation.setScriptExecutionDisabled", json!({"value": !are_allowed}));
    }

    /// What axe finds wrong on the page, a line for each rule: its name and the first element.
    #[track_caller]
    pub fn inaccessible(&self) -> Vec<String> {
        let axe = testbed::axe().unwrap_or_else(|why| panic!("{why}"));
        self.script(&std::fs::read_to_string(axe).unwrap());
        let ask = "const done = arguments[arguments.length - 1];\
                   axe.run().then(found => done(found.violations.map(rule => \
                   `${rule.id}: ${rule.help}: ${rule.nodes.length} times: ${rule.nodes[0].html.slice(0, 300)} \
                   ${rule.nodes[0].failureSummary}`)), error => done([String(error)]))";
        let found = self.post("/execute/async", json!({"script": ask, "args": []}));
        found.as_array().unwrap().iter().map(Value::to_string).collect()
    }

    /// Moves the pointer to a place of the first element of a CSS selector, given from its centre.
    #[track_caller]
    pub fn point(&self, selector: &str, (x, y): (i32, i32)) {
        let element = json!({"element-6066-11e4-a52e-4f735466cecf": self.element(selector)});
        let to = json!({"type": "pointerMove", "origin": element, "x": x, "y": y});
        let source = json!({"type": "pointer", "id": "mouse", "actions": [to]});
        self.post("/actions", json!({"actions": [source]}));
    }

    /// The page as PDF, as it is printed.
    #[track_caller]
    pub fn printed(&self) -> Vec<u8> {
        base64(self.post("/print", json!({"background": false})).as_str().unwrap())
    }

    /// The text that is seen of the first element of a CSS selector.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let element = self.element(selector);
        self.get(&format!("/element/{element}/text")).as_str().unwrap().to_owned()
    }

    /// How many elements a CSS selector has.
    #[track_caller]
    pub fn count(&self, selector: &str) -> usize {
        let found = self.post("/elements", json!({"using": "css selector", "value": selector}));
        found.as_array().unwrap().len()
    }

    /// Clicks on the first element of a CSS selector.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/click"), json!({}));
    }

    /// Types into the first element of a CSS selector instead of what is there.
    #[track_caller]
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/clear"), json!({}));
        self.post(&format!("/element/{element}/value"), json!({"text": text}));
    }

    /// Types keys to whatever has the focus.
    #[track_caller]
    pub fn keys(&self, keys: &str) {
        let strokes = keys.chars().flat_map(|key| {
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        });
        let strokes: Vec<Value> = strokes.collect();
        let source = json!({"type": "key", "id": "keyboard", "actions": strokes});
        self.post("/actions", json!({"actions": [source]}));
    }

    /// The width and height of what is seen of a page, as a phone would have it or a screen.
    #[track_caller]
    pub fn size(&self, width: u32, height: u32) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.protocol("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Whether the user wants dark pages.
    #[track_caller]
    pub fn dark(&self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.protocol("Emulation.setEmulatedMedia", features);
    }

    /// Writes a picture of the whole page.
    #[track_caller]
    pub fn picture(&self, file: &Path) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let request = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.protocol("Page.captureScreenshot", request);
        std::fs::write(file, base64(answer["data"].as_str().unwrap())).unwrap();
    }

    /// What is wider than the page: nothing should be, unless it scrolls by itself.
    #[track_caller]
    pub fn too_wide(&self) -> Vec<String> {
        let found = self.script(
            "const room = document.documentElement.clientWidth;\
             if (document.documentElement.scrollWidth <= room) return [];\
             return [...document.body.querySelectorAll('*')]\
             .filter(e => e.getBoundingClientRect().right > room + 1)\
             .map(e => e.outerHTML.slice(0, 200)).slice(0, 5)",
        );
        found.as_array().unwrap().iter().map(Value::to_string).collect()
    }

    /// What was said on the console since this was last asked.
    #[track_caller]
    pub fn console(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({"type": "browser"}));
        log.as_array().unwrap().iter().map(Value::to_string).collect()
    }

    /// The addresses that were asked for since this was last asked.
    #[track_caller]
    pub fn requests(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({"type": "performance"}));
        let entries = log.as_array().unwrap().iter();
        let messages = entries.map(|entry| {
            serde_json::from_str::<Value>(entry["message"].as_str().unwrap()).unwrap()
        });
        messages
            .filter(|message| message["message"]["method"] == "Network.requestWillBeSent")
            .map(|message| {
                message["message"]["params"]["request"]["url"].as_str().unwrap().to_owned()
            })
            .collect()
    }

    /// A command of the browser's own protocol.
    #[track_caller]
    pub fn protocol(&self, command: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({"cmd": command, "params": parameters}))
    }

    /// Waits until the first element of a CSS selector shows a text.
    #[track_caller]
    pub fn shows(&self, selector: &str, text: &str) {
        wait_until(text, || {
            let script = format!(
                "const e = document.querySelector({}); return e ? e.innerText : ''",
                json!(selector)
            );
            self.script(&script).as_str().unwrap_or_default().contains(text)
        });
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let found = self.post("/element", json!({"using": "css selector", "value": selector}));
        // The name that the protocol gives to references of elements.
        found["element-6066-11e4-a52e-4f735466cecf"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        let request = ureq::post(format!("{}{path}", self.session)).config();
        let answer = request.http_status_as_error(false).build().send_json(&body);
        value(path, answer.unwrap().body_mut().read_json().unwrap())
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let request = ureq::get(format!("{}{path}", self.session)).config();
        let answer = request.http_status_as_error(false).build().call();
        value(path, answer.unwrap().body_mut().read_json().unwrap())
    }
}

/// What an answer holds; an error of the browser fails the test.
#[track_caller]
fn value(path: &str, mut answer: Value) -> Value {
    let value = answer["value"].take();
    let error = value.get("error").filter(|_| value.get("stacktrace").is_some());
    assert!(error.is_none(), "{path}: {} {}", value["error"], value["message"]);
    value
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It closes its processes itself when asked; what is left then is ended with the group.
        let _ = ureq::delete(&self.session).call();
        let _ = kill_process_group(Pid::from_child(&self.driver), Signal::KILL);
        let _ = self.driver.wait();
    }
}

/// The bytes of base64 text (RFC 4648).
fn base64(text: &str) -> Vec<u8> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|letter| *letter != b'=').collect();
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    for four in letters.chunks(4) {
        let bits = four.iter().fold(0_u32, |bits, letter| bits << 6 | u32::from(digit(*letter)));
        let bits = bits << (6 * (4 - four.len())) << 8;
        bytes.extend(&bits.to_be_bytes()[..four.len() - 1]);
    }
    bytes
}
