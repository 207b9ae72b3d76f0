//! Many random schedules, and the file of the first that is violated.

use std::fs;

use snapbox::str;

use crate::{fencepost, folder, made, said};

#[test]
fn nothing_found_is_told_with_its_bound() {
    let folder = folder();
    let line = "quiet.toml --runs 10000 --seed 0x7";
    fencepost(folder.path(), line)
        .assert()
        .code(0)
        .stdout_eq(str![[r#"
○ NONE FOUND  Two clients, one after the other
  quiet.toml, strategy set-nx-px

  10000 runs with random schedules broke nothing; the chance of a violation in a run drawn the same
  way is at most 0.03 % (95 %).

  seed      0x7
  again     fencepost run quiet.toml --runs 10000 --seed 0x7

"#]])
        .stderr_eq("");
}

#[test]
fn a_finding_replays_alone_and_is_stored_once() {
    let folder = folder();
    let line = "hazard.toml --runs 1000 --no-report";
    let first = said(fencepost(folder.path(), line));
    let files = made(folder.path());
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(said(fencepost(folder.path(), line)), first);
    assert_eq!(made(folder.path()), files);

    let replay = first.lines().find_map(|line| line.trim().strip_prefix("replay ")).unwrap();
    let line = replay.trim().strip_prefix("fencepost ").unwrap();
    let replayed = said(fencepost(folder.path(), &format!("{line} --no-report")));
    let tail = |text: &str| {
        let body = text.split_once("needs ").unwrap().1;
        body.lines().filter(|line| !line.contains("  replay ")).collect::<Vec<_>>().join("\n")
    };
    let told = |text: &str| tail(text).split_once("  seed ").unwrap().0.to_owned();
    assert_eq!(told(&replayed), told(&first));
    let hash = |text: &str| {
        text.lines().find(|line| line.starts_with("  hash ")).map(str::to_owned).unwrap()
    };
    assert_eq!(hash(&replayed), hash(&first));

    let alone = tempfile::tempdir().unwrap();
    let name = files.iter().find(|file| file.contains("counterexamples/")).unwrap();
    let file = name.rsplit('/').next().unwrap();
    fs::copy(folder.path().join(name), alone.path().join(file)).unwrap();
    let again = said(fencepost(alone.path(), &format!("replay {file} --no-report")));
    assert_eq!(hash(&again), hash(&first));
    fencepost(alone.path(), &format!("test {file}")).assert().code(0);
}

#[test]
fn a_report_shows_the_run_that_was_found() {
    let folder = folder();
    fencepost(folder.path(), "hazard.toml --runs 1000").assert().code(1);
    let files = made(folder.path());
    assert!(files.iter().any(|file| file == "reports/hazard/index.html"), "{files:?}");
    let manifest = fs::read_to_string(folder.path().join("reports/hazard/manifest.json")).unwrap();
    assert!(manifest.contains("\"counterexamples/"), "{manifest}");
}
