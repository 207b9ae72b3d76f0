//! The connection itself: greeting, password, name, pauses, and other clients.

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    engine::Role,
    frame::{Frame, Protocol},
    server::{Context, Pause, Refusal, ReplyMode},
    value::parse_integer,
};

const GREETING: u16 = Flags::META | Flags::NO_SCRIPT | Flags::NO_AUTH | Flags::BUSY;
const OWN: u16 = Flags::META | Flags::NO_SCRIPT;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("ping", -1, Flags::SUBSCRIBED, Keys::None, ping),
    Spec::new("echo", 2, Flags::META, Keys::None, |_, words| Ok(Frame::bulk(words[1].clone()))),
    Spec::new("quit", -1, GREETING | Flags::IMMEDIATE | Flags::SUBSCRIBED, Keys::None, |_, _| {
        Ok(Frame::ok())
    }),
    Spec::new("reset", 1, GREETING | Flags::IMMEDIATE | Flags::SUBSCRIBED, Keys::None, reset),
    Spec::new("auth", -2, GREETING, Keys::None, auth),
    Spec::new("hello", -1, GREETING, Keys::None, hello),
    Spec::new("client|id", 2, OWN, Keys::None, |cx, _| Ok(Frame::Integer(cx.me().client))),
    Spec::new("client|getname", 2, OWN, Keys::None, getname),
    Spec::new("client|setname", 3, OWN, Keys::None, setname),
    Spec::new("client|setinfo", 4, OWN, Keys::None, |_, _| Ok(Frame::ok())),
    Spec::new("client|info", 2, OWN, Keys::None, info),
    Spec::new("client|list", -2, OWN, Keys::None, list),
    Spec::new("client|reply", 3, OWN, Keys::None, reply),
    Spec::new("client|pause", -3, OWN, Keys::None, pause),
    Spec::new("client|unpause", 2, OWN, Keys::None, unpause),
    Spec::new("client|unblock", -3, OWN, Keys::None, unblock),
    Spec::new("client|kill", -3, OWN, Keys::None, kill),
    Spec::new("client|no-evict", 3, OWN, Keys::None, |_, _| Ok(Frame::ok())),
    Spec::new("client|no-touch", 3, OWN, Keys::None, |_, _| Ok(Frame::ok())),
];

fn ping(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let message = match &words[1..] {
        [] => None,
        [message] => Some(message.clone()),
        _ => return Err(Refusal::arity("ping")),
    };
    Ok(if cx.me().only_subscribes() {
        Frame::bulks([b"pong".to_vec(), message.unwrap_or_default()])
    } else {
        message.map_or(Frame::Simple("PONG".into()), Frame::Bulk)
    })
}

fn reset(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let open = cx.engine.server.config.password().is_none();
    cx.me().reset(open);
    cx.database = 0;
    Ok(Frame::Simple("RESET".into()))
}

/// Checks user and password; there is one user, `default`.
fn log_in(cx: &mut Context<'_>, user: &[u8], password: &[u8]) -> Result<(), Refusal> {
    let expected = cx.engine.server.config.password().map(str::as_bytes);
    if user != b"default" || expected.is_some_and(|expected| expected != password) {
        return Err("WRONGPASS invalid username-password pair or user is disabled.".into());
    }
    cx.me().authenticated = true;
    Ok(())
}

fn auth(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    match &words[1..] {
        [_] if cx.engine.server.config.password().is_none() => {
            Err("ERR AUTH <password> called without any password configured for the default user. \
             Are you sure your configuration is correct?"
                .into())
        }
        [password] => log_in(cx, b"default", password).map(|()| Frame::ok()),
        [user, password] => log_in(cx, user, password).map(|()| Frame::ok()),
        _ => Err(Refusal::SYNTAX),
    }
}

fn hello(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut protocol = None;
    if let Some(word) = words.get(1) {
        let text = "ERR Protocol version is not an integer or out of range";
        protocol = Some(match parse_integer(word).ok_or(Refusal::from(text))? {
            2 => Protocol::Resp2,
            3 => Protocol::Resp3,
            _ => return Err("NOPROTO unsupported protocol version".into()),
        });
    }
    let mut name = None;
    let mut rest = words.get(2..).unwrap_or_default().iter();
    while let Some(word) = rest.next() {
        let syntax = || {
            let word = String::from_utf8_lossy(word);
            Refusal(format!("ERR Syntax error in HELLO option '{word}'").into())
        };
        if is(word, "AUTH") {
            let user = rest.next().ok_or_else(syntax)?;
            let password = rest.next().ok_or_else(syntax)?;
            log_in(cx, user, password)?;
        } else if is(word, "SETNAME") {
            name = Some(rest.next().ok_or_else(syntax)?.clone());
        } else {
            return Err(syntax());
        }
    }
    if cx.engine.server.config.password().is_some() && !cx.me().authenticated {
        return Err(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise \
                    the HELLO AUTH <user> <pass> option can be used to authenticate the client \
                    and select the RESP protocol version at the same time"
                .into(),
        );
    }
    if let Some(name) = name {
        cx.me().name = name;
    }
    if let Some(protocol) = protocol {
        cx.me().protocol = protocol;
    }
    Ok(greeting(cx))
}

fn greeting(cx: &mut Context<'_>) -> Frame {
    let version = cx.version();
    let role = if cx.engine.role == Role::Master { "master" } else { "replica" };
    let number = if cx.me().protocol == Protocol::Resp3 { 3 } else { 2 };
    let pair = |name: &str, value: Frame| (Frame::bulk(name), value);
    Frame::Map(vec![
        pair("server", Frame::bulk(version.server())),
        pair("version", Frame::bulk(version.number())),
        pair("proto", Frame::Integer(number)),
        pair("id", Frame::Integer(cx.me().client)),
        pair("mode", Frame::bulk("standalone")),
        pair("role", Frame::bulk(role)),
        pair("modules", Frame::Array(Vec::new())),
    ])
}

fn getname(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let name = cx.me().name.clone();
    Ok(if name.is_empty() { Frame::Nil } else { Frame::Bulk(name) })
}

fn setname(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if !words[2].iter().all(u8::is_ascii_graphic) {
        return Err(
            "ERR Client names cannot contain spaces, newlines or special characters.".into()
        );
    }
    cx.me().name.clone_from(&words[2]);
    Ok(Frame::ok())
}

/// One line of CLIENT LIST.
fn line(connection: &crate::server::Connection) -> String {
    format!(
        "id={} name={} db={} sub={} psub={} ssub={} multi={} resp={}\n",
        connection.client,
        String::from_utf8_lossy(&connection.name),
        connection.database,
        connection.channels.len(),
        connection.patterns.len(),
        connection.shard_channels.len(),
        connection.queue.as_ref().map_or(-1, |queue| i64::try_from(queue.len()).unwrap_or(-1)),
        if connection.protocol == Protocol::Resp3 { 3 } else { 2 },
    )
}

fn info(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::Verbatim("txt".into(), line(cx.me()).into_bytes()))
}

fn list(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let lines: String = cx.engine.server.connections.values().map(line).collect();
    Ok(Frame::Verbatim("txt".into(), lines.into_bytes()))
}

fn reply(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    cx.me().reply_mode = if is(&words[2], "ON") {
        ReplyMode::On
    } else if is(&words[2], "OFF") {
        ReplyMode::Off
    } else if is(&words[2], "SKIP") {
        ReplyMode::SkipNext
    } else {
        return Err(Refusal::SYNTAX);
    };
    Ok(Frame::ok())
}

fn pause(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let writes_only = match &words[3..] {
        [] => false,
        [mode] if is(mode, "ALL") => false,
        [mode] if is(mode, "WRITE") => true,
        _ => return Err("ERR CLIENT PAUSE mode must be WRITE or ALL".into()),
    };
    let millis = parse_integer(&words[2])
        .ok_or(Refusal::from("ERR timeout is not an integer or out of range"))?;
    if millis < 0 {
        return Err("ERR timeout is negative".into());
    }
    let until = cx.wall().saturating_add(millis);
    cx.engine.server.pause = Some(Pause { until, writes_only });
    Ok(Frame::ok())
}

fn unpause(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    cx.engine.server.pause = None;
    Ok(Frame::ok())
}

fn unblock(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let with_error = match &words[3..] {
        [] => false,
        [mode] if is(mode, "TIMEOUT") => false,
        [mode] if is(mode, "ERROR") => true,
        _ => return Err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR".into()),
    };
    let client = integer(&words[2])?;
    Ok(Frame::truth(cx.unblock_client(client, with_error)))
}

/// CLIENT KILL by id or by type; the reply of a client that kills itself still goes out.
fn kill(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (mut client, mut kind, mut spares_me) = (None, None, true);
    let options = &words[2..];
    if options.len() == 1 {
        return Err("ERR No such client".into());
    }
    if options.len() % 2 == 1 {
        return Err(Refusal::SYNTAX);
    }
    for pair in options.chunks_exact(2) {
        if is(&pair[0], "ID") {
            let id = parse_integer(&pair[1]);
            if id.is_none() && cx.version().is_valkey() {
                return Err(Refusal::SYNTAX);
            }
            let id = id.filter(|id| *id > 0);
            client = Some(id.ok_or(Refusal::from("ERR client-id should be greater than 0"))?);
        } else if is(&pair[0], "TYPE") {
            kind = Some(kind_of_client(&pair[1])?);
        } else if is(&pair[0], "SKIPME") && (is(&pair[1], "yes") || is(&pair[1], "no")) {
            spares_me = is(&pair[1], "yes");
        } else {
            return Err(Refusal::SYNTAX);
        }
    }
    let me = cx.connection;
    let mut killed = Vec::new();
    for (&id, connection) in &cx.engine.server.connections {
        let by_id = client.is_none_or(|client| connection.client == client);
        let own = if connection.subscriptions() == 0 { "normal" } else { "pubsub" };
        let spared = id == me && spares_me;
        if by_id && kind.is_none_or(|kind| kind == own) && !spared {
            killed.push(id);
        }
    }
    for &id in &killed {
        if id == me {
            cx.leaves = true;
        } else {
            cx.close(id);
        }
    }
    // The servers on the other side of replication are clients, too, but have no numbers here.
    let all = client.is_none();
    let mut links = 0;
    if all && kind.is_none_or(|kind| kind == "replica") {
        links += cx.close_replicas();
    }
    if all && kind.is_none_or(|kind| kind == "master") {
        links += usize::from(cx.close_master());
    }
    Ok(Frame::count(killed.len() + links))
}

/// Reads the TYPE of CLIENT KILL (`src/networking.c:getClientTypeByName`).
fn kind_of_client(word: &[u8]) -> Result<&'static str, Refusal> {
    let kinds = ["normal", "pubsub", "replica", "master"];
    if is(word, "slave") {
        return Ok("replica");
    }
    kinds.into_iter().find(|kind| is(word, kind)).ok_or_else(|| {
        let word = String::from_utf8_lossy(word);
        Refusal(format!("ERR Unknown client type '{word}'").into())
    })
}
