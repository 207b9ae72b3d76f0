//! The committed examples of `reports/gallery/`, and the check that they are current.

use crate::scenarios::command_line;
use crate::shell::{output, program, root};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The stories shown, and whether their picture is also kept as PNG.
const STORIES: &[(&str, bool)] = &[
    ("zombie-writer", true),
    ("zombie-writer-fenced", true),
    ("plain-del-after-pause", false),
    ("get-then-del-race", false),
    ("setnx-expire-crash", false),
    ("work-outlives-ttl", false),
    ("watchdog", false),
    ("long-ttl-dead-wait", false),
    ("fence-token-read-later", false),
    ("late-write-in-flight", false),
    ("failover-loses-the-lock", false),
    ("redlock-restart", false),
];

/// The files of a story that are kept.
const KEPT: &[&str] = &["index.html", "timeline.svg", "trace.csv"];

/// Rebuilds the gallery in place, or in the folder that is named.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => rebuild(&committed()),
        [folder] => rebuild(&std::env::current_dir()?.join(folder)),
        _ => bail!("cargo xtask gallery takes one folder at most"),
    }
}

/// Returns the folder of the committed gallery.
pub(crate) fn committed() -> PathBuf {
    root().join("reports/gallery")
}

/// Checks that the committed gallery is what the scenarios give now.
pub(crate) fn check() -> Result<()> {
    let fresh = tempfile::tempdir()?;
    rebuild(fresh.path())?;
    let (now, then) = (contents(fresh.path())?, contents(&committed())?);
    let stale: Vec<_> =
        now.keys().chain(then.keys()).filter(|name| now.get(*name) != then.get(*name)).collect();
    ensure!(
        stale.is_empty(),
        "reports/gallery is not current: {stale:?}; run `cargo xtask gallery`"
    );
    println!("{} files of the gallery are current", now.len());
    Ok(())
}

fn rebuild(gallery: &Path) -> Result<()> {
    let fencepost = command_line()?;
    for (story, picture) in STORIES {
        let fresh = tempfile::tempdir()?;
        let scenario = format!("scenarios/{story}.toml");
        let built = fresh.path().join("report");
        output(program(&fencepost).args(["run", &scenario, "--quiet", "-o"]).arg(&built))?;
        let folder = gallery.join(story);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        for name in KEPT.iter().chain(picture.then_some(&"timeline.png")) {
            std::fs::copy(built.join(name), folder.join(name))
                .with_context(|| format!("{scenario}: the report has no {name}"))?;
        }
    }
    Ok(())
}

/// Reads every file of a gallery, named as `story/file`.
fn contents(gallery: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for story in std::fs::read_dir(gallery).with_context(|| format!("no {}", gallery.display()))? {
        let story = story?;
        for file in std::fs::read_dir(story.path())? {
            let file = file?;
            let name = format!("{}/{}", story.file_name().display(), file.file_name().display());
            files.insert(name, std::fs::read(file.path())?);
        }
    }
    Ok(files)
}
