//! The folder of a report.

use std::fs;
use std::path::Path;

use snapbox::str;

use crate::{fencepost, folder, made};

const FILES: &[&str] = &[
    "reports/zombie/index.html",
    "reports/zombie/manifest.json",
    #[cfg(feature = "plotters")]
    "reports/zombie/timeline.png",
    "reports/zombie/timeline.svg",
    "reports/zombie/trace.csv",
    "reports/zombie/trace.jsonl",
];

#[test]
fn a_report_is_written_and_renewed() {
    let folder = folder();
    for _ in 0..2 {
        fencepost(folder.path(), "zombie.toml").assert().code(0);
        assert_eq!(made(folder.path()), FILES);
    }
    let page = fs::read_to_string(folder.path().join(FILES[0])).unwrap();
    assert!(!page.contains(folder.path().to_str().unwrap()), "a page states no absolute path");
}

#[test]
fn reports_are_the_same_wherever_they_are_made() {
    let (one, other) = (folder(), folder());
    fencepost(one.path(), "zombie.toml").assert().code(0);
    let elsewhere = tempfile::tempdir().unwrap();
    let path = other.path().join("zombie.toml");
    let line = format!("{} -o out", path.display());
    fencepost(elsewhere.path(), &line)
        .env("COLUMNS", "40")
        .env("TZ", "Asia/Kathmandu")
        .assert()
        .code(0);
    for file in FILES {
        let here = fs::read(one.path().join(file)).unwrap();
        let name = Path::new(file).file_name().unwrap();
        let there = fs::read(elsewhere.path().join("out").join(name)).unwrap();
        assert!(here == there, "{file}");
    }
}

#[test]
fn foreign_files_are_refused() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/trace.csv"), "mine").unwrap();
    let assert = fencepost(folder.path(), "quiet.toml -o out").assert();
    assert.code(74).stdout_eq("").stderr_eq(str![[r#"
error: out/trace.csv is no part of an earlier report; move it, choose another folder with -o, or write over it with --force

"#]]);
    assert_eq!(made(folder.path()), ["out/trace.csv"]);
    assert_eq!(fs::read_to_string(folder.path().join("out/trace.csv")).unwrap(), "mine");
    fencepost(folder.path(), "quiet.toml -o out --force").assert().code(0);
}

#[test]
fn another_scenario_s_report_is_refused() {
    let folder = folder();
    fencepost(folder.path(), "zombie.toml -o out").assert().code(0);
    let assert = fencepost(folder.path(), "quiet.toml -o out").assert();
    assert.code(74).stdout_eq("").stderr_eq(str![[r#"
error: out holds the report of zombie; choose another folder with -o, or write over it with --force

"#]]);
}

#[test]
fn no_report_leaves_nothing() {
    let folder = folder();
    for line in ["zombie.toml --no-report", "quiet.toml --runs 30", "test zombie.toml quiet.toml"] {
        fencepost(folder.path(), line).assert().code(0);
        assert!(made(folder.path()).is_empty(), "{line}");
        assert!(!folder.path().join("reports").exists(), "{line}");
    }
}

#[test]
fn the_environment_names_the_folder_of_reports() {
    let folder = folder();
    fencepost(folder.path(), "quiet.toml").env("FENCEPOST_OUT", "elsewhere").assert().code(0);
    assert!(folder.path().join("elsewhere/quiet/index.html").exists());
}
