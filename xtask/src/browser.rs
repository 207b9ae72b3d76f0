//! The gallery's pages in a real browser, wide and narrow, light and dark.
//!
//! A page fails on any console message that is an error, on any request but the one for
//! the page itself, and where it scrolls sideways. Screenshots stay in `target/browser/`.

mod devtools;

use crate::ci::Outcome;
use crate::gallery;
use crate::shell::{has, root};
use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use devtools::{Browser, Page};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const PROGRAMS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];
const WIDTHS: &[u32] = &[1280, 375];
const THEMES: &[&str] = &["light", "dark"];

/// Runs `cargo xtask browser`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    if let Outcome::Skipped(reason) = check()? {
        println!("SKIPPED: {reason}");
    }
    Ok(())
}

/// Opens every page of the committed gallery in every width and theme.
pub(crate) fn check() -> Result<Outcome> {
    let Some(chromium) = PROGRAMS.iter().find(|name| has(name)) else {
        return Ok(Outcome::Skipped("no chromium on the search path".to_owned()));
    };
    let pictures = root().join("target/browser");
    std::fs::create_dir_all(&pictures)?;
    let mut browser = Browser::launch(chromium)?;
    let (mut looks, mut complaints) = (0, Vec::new());
    for page in pages()? {
        for width in WIDTHS {
            for theme in THEMES {
                let look = Look { page: &page, width: *width, theme };
                look.take(&mut browser, &pictures, &mut complaints)?;
                looks += 1;
            }
        }
    }
    ensure!(complaints.is_empty(), "the browser complains:\n{}", complaints.join("\n"));
    println!("{looks} looks at the gallery's pages; screenshots in target/browser");
    Ok(Outcome::Passed)
}

/// One page at one width in one theme.
struct Look<'a> {
    page: &'a Path,
    width: u32,
    theme: &'a str,
}

impl Look<'_> {
    fn take(&self, browser: &mut Browser, pictures: &Path, found: &mut Vec<String>) -> Result<()> {
        let mut page = browser.page()?;
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            page.call(domain, &json!({}))?;
        }
        let scheme = json!([{ "name": "prefers-color-scheme", "value": self.theme }]);
        page.call("Emulation.setEmulatedMedia", &json!({ "features": scheme }))?;
        let (width, height) = (self.width, 900);
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        page.call("Emulation.setDeviceMetricsOverride", &screen)?;
        let address = format!("file://{}", self.page.display());
        page.call("Page.navigate", &json!({ "url": address }))?;
        page.wait_for("Page.loadEventFired")?;
        let width = page.evaluate("document.documentElement.scrollWidth")?;
        if width.as_u64() > Some(u64::from(self.width)) {
            found.push(format!("{}: {width} px of content scroll sideways", self.name()));
        }
        for event in page.events() {
            if let Some(what) = complaint(event, &address) {
                found.push(format!("{}: {what}", self.name()));
            }
        }
        std::fs::write(pictures.join(format!("{}.png", self.name())), screenshot(&mut page)?)?;
        page.close()
    }

    fn name(&self) -> String {
        let story = self.page.parent().and_then(Path::file_name).unwrap_or_default();
        format!("{}-{}-{}", story.display(), self.width, self.theme)
    }
}

/// Returns the whole page as PNG, as far as it goes down.
fn screenshot(page: &mut Page<'_>) -> Result<Vec<u8>> {
    let whole = json!({ "format": "png", "captureBeyondViewport": true });
    let answer = page.call("Page.captureScreenshot", &whole)?;
    let data = answer["data"].as_str().context("the browser took no screenshot")?;
    Ok(base64::engine::general_purpose::STANDARD.decode(data)?)
}

/// Says what is wrong about an event, if anything is.
fn complaint(event: &Value, address: &str) -> Option<String> {
    let parameters = &event["params"];
    match event["method"].as_str()? {
        "Network.requestWillBeSent" => {
            let url = parameters["request"]["url"].as_str()?;
            let own = url == address || url.starts_with("data:");
            (!own).then(|| format!("requests {url}"))
        }
        "Runtime.exceptionThrown" => {
            let thrown = &parameters["exceptionDetails"]["exception"]["description"];
            Some(format!("throws {thrown}"))
        }
        "Runtime.consoleAPICalled" if parameters["type"] == "error" => {
            Some(format!("logs {}", parameters["args"]))
        }
        "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
            Some(format!("logs {}", parameters["entry"]["text"]))
        }
        _ => None,
    }
}

fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for story in std::fs::read_dir(gallery::committed()).context("no gallery")? {
        let page = story?.path().join("index.html");
        if page.is_file() {
            pages.push(page);
        }
    }
    pages.sort();
    ensure!(!pages.is_empty(), "the gallery has no page");
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_errors_are_complaints() {
        let address = "file:///index.html";
        let request = |url: &str| {
            json!({
                "method": "Network.requestWillBeSent", "params": { "request": { "url": url } },
            })
        };
        assert_eq!(complaint(&request(address), address), None);
        assert_eq!(complaint(&request("data:image/png,"), address), None);
        assert!(complaint(&request("https://example.org/a.js"), address).is_some());
        assert!(complaint(&request("file:///other.css"), address).is_some());
        let log = |level: &str| {
            json!({
                "method": "Log.entryAdded", "params": { "entry": { "level": level, "text": "x" } },
            })
        };
        assert!(complaint(&log("error"), address).is_some());
        assert_eq!(complaint(&log("info"), address), None);
    }
}
