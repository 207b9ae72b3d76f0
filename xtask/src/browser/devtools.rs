//! Just enough of the Chrome DevTools Protocol, spoken over a pair of named pipes.
//!
//! With `--remote-debugging-pipe` the browser reads JSON messages, each ended by a zero
//! byte, on descriptor 3 and answers on descriptor 4. A shell opens both, so no port is
//! taken. `timeout` ends a browser that hangs.
//!
//! Source: <https://chromedevtools.github.io/devtools-protocol/>.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use tempfile::TempDir;

use crate::shell::{must, program};

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
];

/// A running headless browser.
pub(super) struct Browser {
    child: Child,
    requests: File,
    answers: BufReader<File>,
    sent: u64,
    /// Holds the pipes and the browser's profile; removed in the end.
    _folder: TempDir,
}

impl Browser {
    /// Starts the program of this name.
    pub(super) fn launch(name: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (requests, answers) = (folder.path().join("requests"), folder.path().join("answers"));
        must(program("mkfifo").arg(&requests).arg(&answers))?;
        let mut command = program("sh");
        command.args(["-c", r#"exec timeout 300 "$@" 3<>"$REQUESTS" 4<>"$ANSWERS""#, "sh", name]);
        command.args(FLAGS);
        command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        command.env("REQUESTS", &requests).env("ANSWERS", &answers);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("cannot start the browser")?;
        let requests = File::options().write(true).open(requests)?;
        let answers = BufReader::new(File::open(answers)?);
        Ok(Self { child, requests, answers, sent: 0, _folder: folder })
    }

    /// Opens an empty page.
    pub(super) fn page(&mut self) -> Result<Page<'_>> {
        let mut page = Page { browser: self, session: None, target: String::new(), events: vec![] };
        let opened = page.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let target = opened["targetId"].as_str().context("no target")?.to_owned();
        let attached =
            page.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }))?;
        page.session = Some(attached["sessionId"].as_str().context("no session")?.to_owned());
        page.target = target;
        Ok(page)
    }

    fn read(&mut self) -> Result<Value> {
        let mut message = Vec::new();
        self.answers.read_until(0, &mut message)?;
        ensure!(message.pop() == Some(0), "the browser has ended");
        Ok(serde_json::from_slice(&message)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.requests.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.child.wait();
    }
}

/// One page of the browser, with the events that it reported.
pub(super) struct Page<'a> {
    browser: &'a mut Browser,
    session: Option<String>,
    target: String,
    events: Vec<Value>,
}

impl Page<'_> {
    /// Calls a method and waits for its result.
    pub(super) fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.browser.sent += 1;
        let id = self.browser.sent;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.browser.requests.write_all(&bytes)?;
        loop {
            let mut answer = self.browser.read()?;
            if answer["id"] != id {
                self.events.push(answer);
            } else if answer["error"].is_null() {
                return Ok(answer["result"].take());
            } else {
                bail!("{method}: {}", answer["error"]);
            }
        }
    }

    /// Waits until an event of this name has been reported.
    pub(super) fn wait_for(&mut self, event: &str) -> Result<()> {
        while !self.events.iter().any(|seen| seen["method"] == event) {
            let answer = self.browser.read()?;
            self.events.push(answer);
        }
        Ok(())
    }

    /// Evaluates an expression in the page.
    pub(super) fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &asked)?;
        Ok(answer["result"]["value"].take())
    }

    /// Returns what the page reported so far.
    pub(super) fn events(&self) -> &[Value] {
        &self.events
    }

    /// Closes the page.
    pub(super) fn close(mut self) -> Result<()> {
        self.session = None;
        let target = std::mem::take(&mut self.target);
        self.call("Target.closeTarget", &json!({ "targetId": target }))?;
        Ok(())
    }
}
