//! The `fencepost` binary: arguments, files, what people and programs read, exit codes.
//!
//! Everything that a run means is decided in the library; this crate alone prints, reads the
//! environment and listens to signals.

mod arguments;
mod bug;
mod commands;
mod diagnostics;
mod exit;
mod folder;
mod interrupt;
mod output;
mod results;
mod seed;
mod source;
mod telling;
mod terminal;

use std::panic;
use std::process::ExitCode;

use arguments::CommandLine;
use exit::{Exit, Failure};
use interrupt::Interrupt;
use output::Output;

fn main() -> ExitCode {
    bug::tell_panics();
    panic::catch_unwind(begin).unwrap_or_else(|_| Exit::Bug.into())
}

fn begin() -> ExitCode {
    match arguments::parse(std::env::args_os().collect()) {
        Ok(command_line) => carry_out(&command_line),
        Err(error) => {
            // Help and version are results; so is that they cannot be written.
            let is_written = error.print().is_ok();
            match error.exit_code() {
                0 if is_written => Exit::Fine.into(),
                0 => Exit::Output.into(),
                _ => Exit::Usage.into(),
            }
        }
    }
}

fn carry_out(command_line: &CommandLine) -> ExitCode {
    let mut output = Output::new(&command_line.presentation);
    let interrupt = match Interrupt::listen() {
        Ok(interrupt) => interrupt,
        Err(error) => {
            output.error(&format!("cannot listen for Ctrl-C: {error}"));
            return Exit::Bug.into();
        }
    };
    let exit = commands::carry_out(&command_line.command, &mut output, &interrupt);
    let exit = exit.unwrap_or_else(|failure| {
        if !matches!(failure, Failure::Told(_)) {
            output.error(&failure.to_string());
            // Whoever parses standard output finds the reason there, too.
            if !output.is_human() && output.data(&results::Error::new(&failure)).is_err() {
                return Exit::Output;
            }
        }
        failure.exit()
    });
    if interrupt.is_asked() && exit != Exit::Output {
        return ExitCode::from(interrupt.end());
    }
    exit.into()
}
