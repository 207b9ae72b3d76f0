//! `fencepost schema`.

use fencepost::scenario::json_schema;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Prints the JSON Schema of scenario files.
pub(crate) fn schema(output: &mut Output) -> Result<Exit, Failure> {
    let text = json_schema();
    output.text(text.trim_end())?;
    output.text("\n")?;
    Ok(Exit::Fine)
}
