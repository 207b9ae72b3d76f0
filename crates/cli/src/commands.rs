//! The commands, one file each.

mod explain;
mod list;
mod replay;
mod run;
mod schema;
mod show_config;
mod test;

use crate::arguments::Command;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::Output;

pub(crate) use list::wrap;

/// Does what the command line says.
pub(crate) fn carry_out(
    command: &Command,
    output: &mut Output,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    match command {
        Command::Run(run) => run::run(run, output, interrupt),
        Command::Replay(replay) => replay::replay(replay, output),
        Command::Test(test) => test::test(test, output, interrupt),
        Command::List(list) => list::list(list, output),
        Command::ShowConfig(asked) => show_config::show_config(asked, output),
        Command::Explain(asked) => explain::explain(asked, output),
        Command::Schema => schema::schema(output),
        Command::Bug => panic!("somebody asked for a bug"),
    }
}
