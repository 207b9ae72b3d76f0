use super::*;

fn list(scenario: &str) -> Manifest {
    Manifest { scenario: scenario.to_owned(), ..Manifest::default() }
}

fn file(name: &str, text: &str) -> File {
    (name.to_owned(), text.as_bytes().to_vec())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().display().to_string()).collect();
    names.sort();
    names
}

#[test]
fn a_report_renews_itself_and_keeps_its_findings() {
    let place = tempfile::tempdir().unwrap();
    let finding = finding_name("double-run-0123ab.toml");
    let mut folder = Folder::open(place.path(), "one", false).unwrap();
    folder.write(list("one"), &[file("a", "1"), file("b", "1"), file(&finding, "x")]).unwrap();
    let mut folder = Folder::open(place.path(), "one", false).unwrap();
    folder.write(list("one"), &[file("a", "2")]).unwrap();
    assert_eq!(names(place.path()), ["a", "counterexamples", "manifest.json"]);
    assert_eq!(fs::read_to_string(place.path().join("a")).unwrap(), "2");
    assert_eq!(fs::read_to_string(place.path().join(&finding)).unwrap(), "x");
    let kept = manifest(place.path()).unwrap().unwrap();
    assert_eq!(kept.files.keys().collect::<Vec<_>>(), ["a", finding.as_str()]);
}

#[test]
fn foreign_files_are_refused_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("b"), "mine").unwrap();
    let mut folder = Folder::open(place.path(), "one", false).unwrap();
    assert!(folder.write(list("one"), &[file("a", "1"), file("b", "1")]).is_err());
    assert_eq!(names(place.path()), ["b"]);
    let mut folder = Folder::open(place.path(), "one", true).unwrap();
    folder.write(list("one"), &[file("a", "1"), file("b", "1")]).unwrap();
    assert_eq!(fs::read_to_string(place.path().join("b")).unwrap(), "1");
}

#[test]
fn a_manifest_of_something_else_is_a_foreign_file() {
    for text in ["{}", "[1]", "not json", "{\"schema\": \"manifest/1\"}"] {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(MANIFEST), text).unwrap();
        let mut folder = Folder::open(place.path(), "one", false).unwrap();
        assert!(folder.write(list("one"), &[file("a", "1")]).is_err(), "{text}");
        assert_eq!(names(place.path()), [MANIFEST]);
    }
}

#[test]
fn the_report_of_another_scenario_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::open(place.path(), "one", false).unwrap();
    folder.write(list("one"), &[file("a", "1")]).unwrap();
    assert!(Folder::open(place.path(), "two", false).is_err());
    assert!(Folder::open(place.path(), "two", true).is_ok());
}

#[test]
fn a_list_cannot_remove_files_elsewhere() {
    assert!(is_plain("a/b"));
    for outside in ["../a", "/etc/a", "a/../../b"] {
        assert!(!is_plain(outside), "{outside}");
    }
}
