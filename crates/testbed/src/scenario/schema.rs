//! The JSON schema of scenario files, for editors.

/// Returns the schema.
#[must_use]
pub fn json_schema() -> String {
    String::new()
}
