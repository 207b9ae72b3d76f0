//! The conformance corpus: replies of real servers, compared with the engine's in virtual time.
//!
//! The files in `corpus/` hold short command sequences with the exact replies of Redis 7.0.15 (and
//! of Valkey where the file says so). `corpus/excluded.toml` names every case that is left out,
//! with its reason; a case named there that passes is an error, too.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
mod link;
mod node;
mod replies;
mod run;
mod world;

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf};

use corpus::Case;
use fencepost_redis::Version;
use world::World;

/// A case that is left out.
struct Exclusion {
    /// The case, or none for the whole file.
    case: Option<String>,
    reason: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Reads `excluded.toml`: exclusions by file.
fn exclusions() -> BTreeMap<String, Vec<Exclusion>> {
    let text = fs::read_to_string(folder().join("excluded.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let mut all: BTreeMap<String, Vec<Exclusion>> = BTreeMap::new();
    for entry in table["excluded"].as_array().unwrap() {
        let text = |key: &str| entry.get(key).map(|value| value.as_str().unwrap().to_owned());
        let file = text("file").expect("an exclusion names its file");
        let reason = text("reason").expect("an exclusion gives its reason");
        let cases = match entry.get("cases") {
            None => vec![None],
            Some(cases) => {
                let name = |case: &toml::Value| Some(case.as_str().unwrap().to_owned());
                cases.as_array().unwrap().iter().map(name).collect()
            }
        };
        for case in cases {
            let exclusion = Exclusion { case, reason: reason.clone() };
            all.entry(file.clone()).or_default().push(exclusion);
        }
    }
    all
}

/// The server that a file was recorded on.
fn version(file: &str) -> Version {
    if file.contains("valkey") { Version::Valkey90 } else { Version::Redis70 }
}

/// Runs a case on new engines and gives what differs, empty if nothing does.
fn differences(file: &str, case: &Case) -> String {
    run::differences(file, case, &mut World::new(version(file)))
}

#[test]
fn the_corpus_passes_in_virtual_time() {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let mut exclusions = exclusions();
    let (mut passed, mut left_out) = (0, 0);
    let mut complaints = String::new();
    for path in files {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let cases = corpus::parse(&fs::read_to_string(&path).unwrap());
        let excluded = exclusions.remove(&file).unwrap_or_default();
        let whole = excluded.iter().any(|exclusion| exclusion.case.is_none());
        for exclusion in &excluded {
            assert!(!exclusion.reason.is_empty(), "{file}: an exclusion without a reason");
            if let Some(name) = &exclusion.case {
                let known = cases.iter().any(|case| case.name == *name);
                assert!(known, "excluded.toml names '{name}', which {file} does not have");
            }
        }
        for case in &cases {
            let named = |exclusion: &Exclusion| exclusion.case.as_ref() == Some(&case.name);
            if whole {
                left_out += 1;
                continue;
            }
            let report = differences(&file, case);
            if excluded.iter().any(named) {
                left_out += 1;
                if report.is_empty() {
                    let _ = writeln!(complaints, "{file}: '{}' is excluded but passes", case.name);
                }
            } else if report.is_empty() {
                passed += 1;
            } else {
                complaints.push_str(&report);
            }
        }
    }
    assert!(exclusions.is_empty(), "excluded.toml names files that are not there");
    // The one line that says what was covered; shown with `--nocapture` and kept beside a failure.
    let summary = format!("corpus: {passed} cases passed, {left_out} excluded");
    assert!(complaints.is_empty(), "{summary}\n{complaints}");
    announce(&summary);
}

#[expect(clippy::print_stdout, reason = "the counts are what the test has to say")]
fn announce(summary: &str) {
    println!("{summary}");
}
