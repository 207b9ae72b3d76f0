use std::fs;
use std::path::PathBuf;

use super::shown;
use crate::scenario::Scenario;

/// Returns the names and texts of the scenarios that come with the program.
pub(super) fn shipped() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("it can be read"))
        })
        .collect()
}

#[test]
fn shipped_scenarios_tell_a_story_and_say_what_must_happen() {
    let shipped = shipped();
    assert!(shipped.len() >= 32, "only {} scenarios", shipped.len());
    for (name, text) in shipped {
        let scenario = Scenario::parse(&text)
            .unwrap_or_else(|errors| panic!("{name}: {}", shown(&text, &errors)));
        assert!(text.starts_with("#:schema ../schemas/scenario.schema.json\n"), "{name}");
        assert!(!scenario.title.is_empty() && scenario.story.len() > 100, "{name}");
        let expect = scenario.expect.as_ref().unwrap_or_else(|| panic!("{name} expects nothing"));
        assert!(!expect.sometimes.is_empty(), "{name} may pass because nothing happens");
        assert_eq!(Scenario::parse(&scenario.to_toml()), Ok(scenario), "{name}");
    }
}
