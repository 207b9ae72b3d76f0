//! What people see when the tool itself is at fault.

use std::any::Any;
use std::panic;

use crate::output::complain;

/// Makes panics tell what to report, in place of the usual lines.
pub(crate) fn tell_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |location| format!(" at {location}"));
        let version = env!("CARGO_PKG_VERSION");
        complain(&format!(
            "fencepost has a bug; this says nothing about your lock.\n\n  {}{place}\n\n\
             Please report it with these lines, the scenario, and the command:\n\n  \
             version  {version}\n  command  {}\n",
            message(info.payload()),
            command(),
        ));
    }));
}

fn message(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Returns the command as it was typed.
fn command() -> String {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| crate::source::quoted(&word.to_string_lossy()))
        .collect();
    format!("fencepost {}", words.join(" "))
}
