//! What lasts: beliefs, lives of keys, stops.

use fencepost_history::{
    GrantId, History, How, Instant, LockId, ProcessId, ServerId, ThreadId, What,
};

use super::{Actor, Ending, Hold, KeyEnd, KeySpan, Mark, Stop, StopKind};

/// Reads the beliefs: from success to release, loss, crash or the run's end.
pub(super) fn holds(history: &History) -> Vec<Hold> {
    let mut holds: Vec<Hold> = Vec::new();
    let close = |holds: &mut Vec<Hold>, mark: Mark, ending, mine: &dyn Fn(&Hold) -> bool| {
        for hold in holds.iter_mut().filter(|hold| hold.ending == Ending::Open && mine(hold)) {
            hold.to = mark;
            hold.ending = ending;
        }
    };
    for (event, entry) in history.events.iter().enumerate() {
        let mark = Mark { event, at: entry.at };
        match entry.what {
            What::Acquired { thread, grant, lock, token } => {
                let to = Mark { event: history.events.len(), at: history.end };
                let ending = Ending::Open;
                holds.push(Hold { grant, thread, lock, token, from: mark, to, ending });
            }
            What::ReleaseInvoked { grant } => {
                close(&mut holds, mark, Ending::Released, &|hold| hold.grant == grant);
            }
            What::Lost { grant } => {
                close(&mut holds, mark, Ending::Lost, &|hold| hold.grant == grant);
            }
            What::Crashed { process } => {
                close(&mut holds, mark, Ending::Crashed, &|hold| {
                    history.names.process_of(hold.thread) == process
                });
            }
            _ => {}
        }
    }
    holds
}

/// Reads the lives of keys; an expiry ends one at its deadline, also if nobody notices.
pub(super) fn keys(history: &History) -> Vec<KeySpan> {
    let mut keys: Vec<KeySpan> = Vec::new();
    for (event, entry) in history.events.iter().enumerate() {
        let mark = Mark { event, at: entry.at };
        match entry.what {
            What::KeySet { server, lock, by, owner, deadline, how, .. } => {
                let open = open(&mut keys, server, lock);
                if how == How::Extend
                    && let Some(key) = open
                {
                    key.deadline = deadline;
                    continue;
                }
                if let Some(key) = open {
                    if how == How::Create && key.deadline <= mark.at {
                        end(key, mark, KeyEnd::Expired);
                    } else {
                        end(key, mark, KeyEnd::Replaced(by));
                    }
                }
                let owner = if by == GrantId::NONE { owner } else { by };
                let to = Mark { event: history.events.len(), at: history.end };
                keys.push(KeySpan {
                    server,
                    lock,
                    owner,
                    from: mark,
                    to,
                    end: KeyEnd::Open,
                    deadline,
                    told: false,
                });
            }
            What::KeyGone { server, lock, by, how, .. } => {
                if let Some(key) = open(&mut keys, server, lock) {
                    match how {
                        How::Expire => end(key, mark, KeyEnd::Expired),
                        How::Delete => end(key, mark, KeyEnd::Deleted(by)),
                        How::Lose => end(key, mark, KeyEnd::Lost),
                        How::Create | How::Overwrite | How::Extend | How::Restore => {
                            end(key, mark, KeyEnd::Replaced(by));
                        }
                    }
                    key.told = true;
                }
            }
            _ => {}
        }
    }
    for key in keys.iter_mut().filter(|key| key.end == KeyEnd::Open) {
        if key.deadline <= history.end {
            let mark = Mark { event: history.events.len(), at: key.deadline };
            end(key, mark, KeyEnd::Expired);
        }
    }
    keys
}

fn open(keys: &mut [KeySpan], server: ServerId, lock: LockId) -> Option<&mut KeySpan> {
    keys.iter_mut()
        .rev()
        .find(|key| key.server == server && key.lock == lock && key.end == KeyEnd::Open)
}

fn end(key: &mut KeySpan, mark: Mark, how: KeyEnd) {
    key.to = mark;
    key.end = how;
    if how == KeyEnd::Expired {
        key.to.at = mark.at.min(key.deadline).max(key.from.at);
    }
}

/// Reads pauses, stalls, crashes and times in which a server is down or busy.
pub(super) fn stops(history: &History) -> Vec<Stop> {
    let mut stops: Vec<Stop> = Vec::new();
    for (event, entry) in history.events.iter().enumerate() {
        let from = Mark { event, at: entry.at };
        let host = |thread: ThreadId| Actor::Process(history.names.process_of(thread));
        let process = |process: ProcessId| Actor::Process(process);
        let (actor, kind, until) = match entry.what {
            What::Paused { process: who, until } => (process(who), StopKind::Pause, until),
            What::Stalled { thread, until } => (host(thread), StopKind::Stall(thread), until),
            What::Crashed { process: who } => (process(who), StopKind::Crash, Instant::NEVER),
            What::ServerDown { server, until } => (Actor::Server(server), StopKind::Down, until),
            What::ServerStalled { server, until } => (Actor::Server(server), StopKind::Busy, until),
            What::Resumed { process: who } => {
                resume(&mut stops, process(who), StopKind::Pause, entry.at);
                continue;
            }
            What::Unstalled { thread } => {
                resume(&mut stops, host(thread), StopKind::Stall(thread), entry.at);
                continue;
            }
            What::Restarted { process: who } => {
                resume(&mut stops, process(who), StopKind::Crash, entry.at);
                continue;
            }
            What::ServerUp { server } => {
                resume(&mut stops, Actor::Server(server), StopKind::Down, entry.at);
                continue;
            }
            _ => continue,
        };
        let ends = until != Instant::NEVER;
        stops.push(Stop { actor, kind, from, to: until.min(history.end), ends });
    }
    stops
}

fn resume(stops: &mut [Stop], actor: Actor, kind: StopKind, at: Instant) {
    let stop = stops.iter_mut().rev().find(|stop| stop.actor == actor && stop.kind == kind);
    if let Some(stop) = stop {
        stop.to = at;
        stop.ends = true;
    }
}
