//! Snapshots, the append-only file, and the end of the server.

use std::fmt::Write as _;

use super::{Flags, Keys, Spec, is};
use crate::{
    frame::Frame,
    persistence::{Disk, Saving},
    server::{Context, Refusal, Wish},
};

const SHUTDOWN: u16 = Flags::META | Flags::NO_SCRIPT | Flags::NO_MULTI;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("save", 1, Flags::NO_SCRIPT | Flags::NO_MULTI, Keys::None, save),
    Spec::new("bgsave", -1, Flags::NO_SCRIPT, Keys::None, bgsave),
    Spec::new("bgrewriteaof", 1, Flags::NO_SCRIPT, Keys::None, bgrewriteaof),
    Spec::new("lastsave", 1, Flags::META, Keys::None, |cx, _| {
        Ok(Frame::Integer(cx.engine.server.disk().map_or(0, Disk::last_snapshot)))
    }),
    Spec::new("shutdown", -1, SHUTDOWN, Keys::None, shutdown),
];

fn snapshot_runs(cx: &Context<'_>) -> bool {
    cx.engine.server.disk().is_some_and(Disk::snapshot_runs)
}

fn rewrite_runs(cx: &Context<'_>) -> bool {
    cx.engine.server.disk().is_some_and(Disk::rewrite_runs)
}

/// `src/rdb.c:saveCommand`.
fn save(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if snapshot_runs(cx) {
        return Err("ERR Background save already in progress".into());
    }
    if cx.save() { Ok(Frame::ok()) } else { Err("ERR".into()) }
}

/// `src/rdb.c:bgsaveCommand`.
fn bgsave(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let schedules = match &words[1..] {
        [] => false,
        [word] if is(word, "SCHEDULE") => true,
        _ => return Err(Refusal::SYNTAX),
    };
    if snapshot_runs(cx) {
        return Err("ERR Background save already in progress".into());
    }
    if rewrite_runs(cx) {
        if schedules {
            cx.engine.server.snapshot_scheduled = true;
            return Ok(Frame::Simple("Background saving scheduled".into()));
        }
        return Err("ERR Another child process is active (AOF?): can't BGSAVE right now. Use \
                    BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible."
            .into());
    }
    cx.begin_snapshot();
    Ok(Frame::Simple("Background saving started".into()))
}

/// `src/aof.c:bgrewriteaofCommand`.
fn bgrewriteaof(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if rewrite_runs(cx) {
        return Err("ERR Background append only file rewriting already in progress".into());
    }
    if snapshot_runs(cx) {
        cx.engine.server.rewrite_scheduled = true;
        return Ok(Frame::Simple("Background append only file rewriting scheduled".into()));
    }
    cx.begin_rewrite();
    Ok(Frame::Simple("Background append only file rewriting started".into()))
}

/// `src/db.c:shutdownCommand`. A successful one has no reply: the connection ends.
fn shutdown(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (mut saving, mut waits, mut aborts) = (Saving::AsConfigured, true, false);
    for word in &words[1..] {
        if is(word, "NOSAVE") && saving == Saving::AsConfigured {
            saving = Saving::Never;
        } else if is(word, "SAVE") && saving == Saving::AsConfigured {
            saving = Saving::Always;
        } else if is(word, "NOW") {
            waits = false;
        } else if is(word, "ABORT") {
            aborts = true;
        } else if !is(word, "FORCE") {
            return Err(Refusal::SYNTAX);
        }
    }
    if aborts && words.len() > 2 {
        return Err(Refusal::SYNTAX);
    }
    if aborts {
        return if cx.abort_shutdown() {
            Ok(Frame::ok())
        } else {
            Err("ERR No shutdown in progress.".into())
        };
    }
    let none = cx.block(Wish::Shutdown, Vec::new(), None);
    cx.begin_shutdown(saving, waits);
    Ok(none)
}

/// `INFO persistence`.
pub(super) fn section(cx: &Context<'_>) -> String {
    let server = &cx.engine.server;
    let disk = server.disk();
    let flag = u8::from;
    let failed = server.health.misconf || disk.is_some_and(Disk::snapshot_failed);
    let mut text = format!(
        "loading:{}\r\nrdb_changes_since_last_save:{}\r\n",
        flag(server.is_loading()),
        disk.map_or(0, Disk::changes)
    );
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "rdb_bgsave_in_progress:{}\r\nrdb_last_save_time:{}\r\nrdb_last_bgsave_status:{}\r\n\
         aof_enabled:{}\r\naof_rewrite_in_progress:{}\r\n",
        flag(disk.is_some_and(Disk::snapshot_runs)),
        disk.map_or(0, Disk::last_snapshot),
        if failed { "err" } else { "ok" },
        flag(disk.is_some_and(|disk| disk.fsync().is_some())),
        flag(disk.is_some_and(Disk::rewrite_runs)),
    );
    text
}
