//! The reader's fuzz target.

use super::{Scenario, limits};

/// Reads bytes as a scenario and checks what a reader of any file may rely on.
///
/// # Panics
///
/// If a scenario that was read does not read back the same from what is written of it, or if a
/// mistake has no proper place.
pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Scenario::parse(text) {
        Ok(scenario) => {
            let written = scenario.to_toml();
            assert_eq!(Scenario::parse(&written), Ok(scenario), "{written}");
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "something is wrong, and nothing is said");
            assert!(errors.len() <= limits::MISTAKES, "more mistakes than anybody reads");
            for error in errors {
                assert!(text.get(error.span.clone()).is_some(), "{error}: {:?}", error.span);
            }
        }
    }
}
