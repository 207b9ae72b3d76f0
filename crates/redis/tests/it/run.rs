//! Running a case: every step on the servers, every reply against the recorded one.
//!
//! What the servers are is not known here: the engine in virtual time, or real ones.

use std::fmt::Write as _;

use super::{
    corpus::{Case, Command, Item},
    replies,
};

/// The servers and connections of a case.
pub(crate) trait Servers {
    /// Does what `@...` or `sleep` says, or tells why it cannot.
    fn directive(&mut self, text: &str) -> Result<(), String>;

    /// Sends a command and, unless told otherwise, awaits its reply.
    fn command(&mut self, command: &Command) -> Vec<String>;

    /// Reads the next reply or message.
    fn read(&mut self, connection: &str, none: Option<u64>) -> Vec<String>;

    /// Looks at a server from outside: `info ...` or `aof ...`.
    fn probe(&mut self, text: &str) -> Vec<String>;
}

/// Runs a case and gives what differs, empty if nothing does.
pub(crate) fn differences(file: &str, case: &Case, servers: &mut impl Servers) -> String {
    let mut report = String::new();
    for step in &case.steps {
        let got = match &step.item {
            Item::Directive(text) => match servers.directive(text) {
                Ok(()) => continue,
                Err(reason) => {
                    let _ =
                        writeln!(report, "{file}:{} [{}] {text}: {reason}", step.line, case.name);
                    return report;
                }
            },
            Item::Command(command) => servers.command(command),
            Item::Read { connection, none } => servers.read(connection, *none),
            Item::Probe(text) => servers.probe(text),
        };
        if !replies::fits(step.matcher.as_deref(), &got, &step.reply) {
            let (want, got) = (step.reply.join(" | "), got.join(" | "));
            let _ = writeln!(
                report,
                "{file}:{} [{}] {}\n    want {want}\n    got  {got}",
                step.line, case.name, step.text
            );
        }
    }
    report
}
