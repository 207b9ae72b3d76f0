use std::fs;
use std::path::PathBuf;

use crate::scenario::json_schema;

/// Writes the file anew where it differs, so that running the test again passes.
#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas/scenario.schema.json");
    let schema = json_schema();
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if committed.replace("\r\n", "\n") != schema {
        fs::write(&path, &schema).expect("the folder is there");
        panic!("the schema has changed; {} is written anew, commit it", path.display());
    }
}
