//! The server about itself: time, configuration, statistics, its own commands.

use std::fmt::Write as _;

use super::{Flags, Keys, Spec, is, keys_of, resolve};
use crate::{
    frame::Frame,
    glob,
    replication::SyncCounts,
    server::{Context, Refusal},
};

const ADMIN: u16 = Flags::META | Flags::NO_SCRIPT;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("time", 1, Flags::META, Keys::None, time),
    Spec::new("info", -1, Flags::META, Keys::None, info),
    Spec::new("config|get", -3, ADMIN, Keys::None, config_get),
    Spec::new("config|set", -4, ADMIN, Keys::None, config_set),
    Spec::new("config|resetstat", 2, ADMIN, Keys::None, |cx, _| {
        cx.engine.server.expired_keys = 0;
        Ok(Frame::ok())
    }),
    Spec::new("command|getkeys", -3, Flags::META, Keys::None, getkeys),
    Spec::new("command|count", 2, Flags::META, Keys::None, |_, _| {
        Ok(Frame::count(super::FAMILIES.iter().map(|family| family.len()).sum()))
    }),
    Spec::new("command|docs", -2, Flags::META, Keys::None, |_, _| Ok(Frame::Map(Vec::new()))),
    Spec::new("command", -1, Flags::META, Keys::None, |_, _| Ok(Frame::Array(Vec::new()))),
];

/// The wall clock; it stands still inside a script or EXEC if the version freezes time.
fn time(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let micros = if cx.version().freezes_time() { cx.frozen_micros } else { cx.wall_micros() };
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    Ok(Frame::bulks([seconds.to_string(), rest.to_string()]))
}

/// Writes the lines of one section.
type Section = fn(&Context<'_>) -> String;

/// INFO, as far as clients of locks and the tests read it.
fn info(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let wanted = |section: &str| {
        let all = ["all", "everything", "default"];
        words.len() == 1
            || words[1..].iter().any(|w| is(w, section) || all.iter().any(|every| is(w, every)))
    };
    let mut text = String::new();
    let sections: [(&str, Section); 6] = [
        ("Server", server_section),
        ("Clients", clients_section),
        ("Persistence", super::persistence::section),
        ("Stats", stats_section),
        ("Replication", super::replication::section),
        ("Keyspace", keyspace_section),
    ];
    for (title, lines) in sections {
        if wanted(title) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            // Writing to a string cannot fail.
            let _ = write!(text, "# {title}\r\n{}", lines(cx));
        }
    }
    Ok(Frame::Verbatim("txt".into(), text.into_bytes()))
}

fn server_section(cx: &Context<'_>) -> String {
    let version = cx.version();
    let compatible = if version.is_valkey() { "7.2.4" } else { version.number() };
    let mut text = format!("redis_version:{compatible}\r\nredis_mode:standalone\r\n");
    if version.is_valkey() {
        text += &format!("server_name:valkey\r\nvalkey_version:{}\r\n", version.number());
    }
    text
}

fn clients_section(cx: &Context<'_>) -> String {
    let connections = &cx.engine.server.connections;
    let blocked = connections.values().filter(|client| client.blocked.is_some()).count();
    format!("connected_clients:{}\r\nblocked_clients:{blocked}\r\n", connections.len())
}

fn stats_section(cx: &Context<'_>) -> String {
    let server = &cx.engine.server;
    let SyncCounts { full, partial, refused } = server.replication.counts();
    format!(
        "expired_keys:{}\r\nsync_full:{full}\r\nsync_partial_ok:{partial}\r\n\
         sync_partial_err:{refused}\r\n",
        server.expired_keys
    )
}

fn keyspace_section(cx: &Context<'_>) -> String {
    let mut text = String::new();
    for (number, database) in cx.engine.databases.iter().enumerate() {
        let keys = database.len();
        if keys > 0 {
            let expires = database.slots.iter().filter(|slot| slot.deadline().is_some()).count();
            text += &format!("db{number}:keys={keys},expires={expires},avg_ttl=0\r\n");
        }
    }
    text
}

fn config_get(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut found = Vec::new();
    for (name, value) in cx.engine.server.config.all() {
        let wanted =
            |pattern: &Vec<u8>| glob::matches(&pattern.to_ascii_lowercase(), name.as_bytes());
        if words[2..].iter().any(wanted) {
            found.push((Frame::bulk(name), Frame::bulk(value)));
        }
    }
    Ok(Frame::Map(found))
}

/// CONFIG SET, which changes all of the parameters or none.
fn config_set(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut config = cx.engine.server.config.clone();
    let mut pairs: Vec<(String, String)> = Vec::new();
    if words.len() % 2 == 1 {
        return Err(Refusal::SYNTAX);
    }
    for pair in words[2..].chunks_exact(2) {
        let [name, value] = [0, 1].map(|at| String::from_utf8_lossy(&pair[at]).into_owned());
        if !config.knows(&name.to_ascii_lowercase()) {
            return Err(unknown_parameter(&name));
        }
        if pairs.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            return Err(bad_parameter(&name, "duplicate parameter"));
        }
        pairs.push((name, value));
    }
    for (name, value) in &pairs {
        config.set(name, value).map_err(|error| bad_parameter(name, error.reason))?;
    }
    cx.engine.server.config = config;
    for (name, _) in &pairs {
        cx.config_changed(name);
    }
    Ok(Frame::ok())
}

fn unknown_parameter(name: &str) -> Refusal {
    let text = format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'");
    Refusal(text.into())
}

fn bad_parameter(name: &str, reason: &str) -> Refusal {
    let text = format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}");
    Refusal(text.into())
}

fn getkeys(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let command = &words[2..];
    let spec = resolve(cx.version(), command)
        .map_err(|_| Refusal::from("ERR Invalid command specified"))?;
    spec.check_arity(command)
        .map_err(|_| Refusal::from("ERR Invalid number of arguments specified for command"))?;
    let keys = keys_of(spec, command);
    if keys.is_empty() {
        return Err("ERR The command has no key arguments".into());
    }
    Ok(Frame::bulks(keys))
}
