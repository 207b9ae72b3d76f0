//! Masters and replicas: who follows whom, and who has acknowledged what.

use std::fmt::Write as _;

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    engine::Role,
    frame::Frame,
    replication::{MasterLink, Peer},
    server::{Context, Origin, Refusal, Wish},
    value::parse_integer,
};

const ADMIN: u16 = Flags::STALE | Flags::NO_SCRIPT;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("replicaof", 3, ADMIN, Keys::None, replicaof),
    Spec::new("slaveof", 3, ADMIN, Keys::None, replicaof),
    Spec::new("role", 1, Flags::META | Flags::NO_SCRIPT, Keys::None, role),
    Spec::new("failover", -1, ADMIN, Keys::None, failover),
    Spec::new("wait", 3, Flags::NO_SCRIPT | Flags::BLOCKING, Keys::None, wait),
];

/// `src/replication.c:replicaofCommand`.
fn replicaof(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if cx.engine.server.replication.fails_over() {
        return Err("ERR REPLICAOF not allowed while failing over.".into());
    }
    if is(&words[1], "NO") && is(&words[2], "ONE") {
        cx.promote();
        return Ok(Frame::ok());
    }
    let port = parse_integer(&words[2]).and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or(Refusal::from("ERR Invalid master port"))?;
    let host = String::from_utf8_lossy(&words[1]).into_owned();
    if !cx.follow(&host, port) {
        return Ok(Frame::Simple("OK Already connected to specified master".into()));
    }
    Ok(Frame::ok())
}

/// The word that ROLE says for a replica's link.
const fn state(link: MasterLink) -> &'static str {
    match link {
        MasterLink::Connect => "connect",
        MasterLink::Asked => "handshake",
        MasterLink::Transfer => "sync",
        MasterLink::Connected => "connected",
    }
}

/// `src/replication.c:roleCommand`. A server that only its caller made a replica has no link.
fn role(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let server = &cx.engine.server;
    let replication = &server.replication;
    let number = |number: u64| Frame::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    if cx.engine.role == Role::Master {
        let online = replication.links().iter().filter(|link| link.is_online);
        let replicas = online.map(|link| {
            Frame::bulks([
                "127.0.0.1".to_owned(),
                link.peer.0.to_string(),
                link.acknowledged.to_string(),
            ])
        });
        let replicas = Frame::Array(replicas.collect());
        return Ok(Frame::Array(vec![
            Frame::bulk("master"),
            number(replication.offset()),
            replicas,
        ]));
    }
    let link = replication.master_link().unwrap_or_default();
    let offset = match link {
        MasterLink::Connected => number(replication.offset()),
        MasterLink::Connect | MasterLink::Asked | MasterLink::Transfer => Frame::Integer(-1),
    };
    let host = if server.master_host.is_empty() { "127.0.0.1" } else { &server.master_host };
    Ok(Frame::Array(vec![
        Frame::bulk("slave"),
        Frame::bulk(host),
        Frame::Integer(replication.master().map_or(0, |peer| peer.0.into())),
        Frame::bulk(state(link)),
        offset,
    ]))
}

/// `src/replication.c:failoverCommand`.
fn failover(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if let [_, word] = words
        && is(word, "ABORT")
    {
        return if cx.abort_failover() {
            Ok(Frame::ok())
        } else {
            Err("ERR No failover in progress.".into())
        };
    }
    let (mut target, mut timeout, mut is_forced) = (None, None, false);
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let mut next = || rest.next().ok_or(Refusal::SYNTAX);
        if is(word, "TIMEOUT") && timeout.is_none() {
            let millis = integer(next()?)?;
            if millis <= 0 {
                return Err("ERR FAILOVER timeout must be greater than 0".into());
            }
            timeout = Some(millis);
        } else if is(word, "TO") && target.is_none() {
            next()?;
            let port = integer(next()?)?;
            target = Some(Peer(u16::try_from(port).unwrap_or(0)));
        } else if is(word, "FORCE") && !is_forced {
            is_forced = true;
        } else {
            return Err(Refusal::SYNTAX);
        }
    }
    let until = timeout.and_then(|millis| u64::try_from(cx.wall().saturating_add(millis)).ok());
    let server = &mut cx.engine.server;
    let can_begin = !server.replication.fails_over()
        && !server.replication.is_replica()
        && !server.replication.links().is_empty();
    if can_begin && is_forced && (timeout.is_none() || target.is_none()) {
        return Err(
            "ERR FAILOVER with force option requires both a timeout and target HOST and IP.".into(),
        );
    }
    server
        .replication
        .begin_failover(target, until, is_forced)
        .map_err(|error| Refusal(format!("ERR {error}").into()))?;
    Ok(Frame::ok())
}

/// `src/replication.c:waitCommand`. What it waits for is the offset behind this connection's last
/// command; inside MULTI it does not wait.
fn wait(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if cx.engine.role == Role::Replica {
        return Err("ERR WAIT cannot be used with replica instances. Please also note that since \
                    Redis 4.0 if a replica is configured to be writable (which is not the \
                    default) writes to replicas are just local and are not propagated."
            .into());
    }
    let replicas = integer(&words[1])?;
    let millis = parse_integer(&words[2])
        .ok_or(Refusal::from("ERR timeout is not an integer or out of range"))?;
    if millis < 0 {
        return Err("ERR timeout is negative".into());
    }
    let offset = cx.me().offset;
    let count = cx.engine.server.replication.acknowledged_by(offset);
    let is_enough = i64::try_from(count).is_ok_and(|count| count >= replicas);
    if is_enough || cx.origin != Origin::Client {
        return Ok(Frame::count(count));
    }
    let deadline = (millis > 0).then(|| cx.wall().saturating_add(millis));
    cx.engine.server.replication.ask_for_acknowledgements();
    Ok(cx.block(Wish::Acknowledged { offset, replicas }, Vec::new(), deadline))
}

/// `INFO replication`.
pub(super) fn section(cx: &Context<'_>) -> String {
    let server = &cx.engine.server;
    let replication = &server.replication;
    let mut text = String::new();
    // Writing to a string cannot fail.
    if cx.engine.role == Role::Master {
        text.push_str("role:master\r\n");
    } else {
        replica_lines(cx, &mut text);
    }
    let _ = write!(text, "connected_slaves:{}\r\n", replication.links().len());
    if replication.settings.min_replicas > 0 && replication.settings.max_lag > 0 {
        let _ = write!(text, "min_slaves_good_slaves:{}\r\n", replication.good_replicas());
    }
    for (number, link) in replication.links().iter().enumerate() {
        let state = if link.is_online { "online" } else { "wait_bgsave" };
        let _ = write!(
            text,
            "slave{number}:ip=127.0.0.1,port={},state={state},offset={},lag={}\r\n",
            link.peer.0,
            link.acknowledged,
            if link.is_online { link.lag(cx.wall_ms()) } else { 0 },
        );
    }
    let failover = match (replication.fails_over(), replication.hands_over()) {
        (false, _) => "no-failover",
        (true, false) => "waiting-for-sync",
        (true, true) => "failover-in-progress",
    };
    let none = "0".repeat(40);
    let second = replication.second();
    let (start, len) = replication.backlog().unwrap_or_default();
    let _ = write!(
        text,
        "master_failover_state:{failover}\r\nmaster_replid:{}\r\nmaster_replid2:{}\r\n\
         master_repl_offset:{}\r\nsecond_repl_offset:{}\r\nrepl_backlog_active:{}\r\n\
         repl_backlog_size:{}\r\nrepl_backlog_first_byte_offset:{start}\r\n\
         repl_backlog_histlen:{len}\r\n",
        replication.id(),
        second.map_or(none, |position| position.id.to_string()),
        replication.offset(),
        second.map_or("-1".into(), |position| (position.offset + 1).to_string()),
        u8::from(replication.backlog().is_some()),
        replication.settings.backlog_size,
    );
    text
}

fn replica_lines(cx: &Context<'_>, text: &mut String) {
    let server = &cx.engine.server;
    let replication = &server.replication;
    let link = replication.master_link().unwrap_or_default();
    let is_up = link == MasterLink::Connected;
    let (wall, offset) = (cx.wall_ms(), replication.offset());
    let _ = write!(
        text,
        "role:slave\r\nmaster_host:{}\r\nmaster_port:{}\r\nmaster_link_status:{}\r\n\
         master_last_io_seconds_ago:{}\r\nmaster_sync_in_progress:{}\r\n\
         slave_read_repl_offset:{offset}\r\nslave_repl_offset:{offset}\r\n",
        server.master_host,
        replication.master().map_or(0, |peer| peer.0),
        if is_up { "up" } else { "down" },
        replication.heard_ago(wall).unwrap_or(-1),
        u8::from(link == MasterLink::Transfer),
    );
    if !is_up {
        let seconds = replication.down_for(wall).unwrap_or(-1);
        let _ = write!(text, "master_link_down_since_seconds:{seconds}\r\n");
    }
    let _ = write!(
        text,
        "slave_priority:100\r\nslave_read_only:{}\r\nreplica_announced:1\r\n",
        u8::from(server.config.replica_read_only),
    );
}
