//! Channels: messages to whoever listens now.

use std::collections::BTreeSet;

use super::{Flags, Keys, Spec};
use crate::{
    effects::Operation,
    frame::Frame,
    glob,
    server::{Connection, Context, Origin, Refusal},
};

const LISTEN: u16 = Flags::NO_SCRIPT | Flags::META | Flags::SUBSCRIBED;
const TELL: u16 = Flags::META | Flags::MAY_REPLICATE;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("subscribe", -2, LISTEN, Keys::None, |cx, words| {
        subscribe(cx, words, Scope::Channel)
    }),
    Spec::new("psubscribe", -2, LISTEN, Keys::None, |cx, words| {
        subscribe(cx, words, Scope::Pattern)
    }),
    Spec::new("ssubscribe", -2, LISTEN, Keys::None, |cx, words| subscribe(cx, words, Scope::Shard)),
    Spec::new("unsubscribe", -1, LISTEN, Keys::None, |cx, words| {
        unsubscribe(cx, words, Scope::Channel)
    }),
    Spec::new("punsubscribe", -1, LISTEN, Keys::None, |cx, words| {
        unsubscribe(cx, words, Scope::Pattern)
    }),
    Spec::new("sunsubscribe", -1, LISTEN, Keys::None, |cx, words| {
        unsubscribe(cx, words, Scope::Shard)
    }),
    Spec::new("publish", 3, TELL, Keys::None, publish),
    Spec::new("spublish", 3, TELL, Keys::None, spublish),
    Spec::new("pubsub|channels", -2, Flags::META, Keys::None, channels),
    Spec::new("pubsub|numsub", -2, Flags::META, Keys::None, numsub),
    Spec::new("pubsub|numpat", 2, Flags::META, Keys::None, numpat),
];

/// What is subscribed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Channel,
    Pattern,
    Shard,
}

impl Scope {
    fn of(self, connection: &mut Connection) -> &mut BTreeSet<Vec<u8>> {
        match self {
            Self::Channel => &mut connection.channels,
            Self::Pattern => &mut connection.patterns,
            Self::Shard => &mut connection.shard_channels,
        }
    }

    fn count(self, connection: &Connection) -> usize {
        match self {
            Self::Channel | Self::Pattern => connection.subscriptions(),
            Self::Shard => connection.shard_channels.len(),
        }
    }

    const fn letter(self) -> &'static str {
        match self {
            Self::Channel => "",
            Self::Pattern => "p",
            Self::Shard => "s",
        }
    }

    fn confirm(self, cx: &mut Context<'_>, verb: &str, name: Frame) -> Frame {
        let kind = Frame::bulk(format!("{}{verb}", self.letter()));
        let left = Frame::count(self.count(cx.me()));
        Frame::Push(vec![kind, name, left])
    }
}

fn subscribe(cx: &mut Context<'_>, words: &[Vec<u8>], scope: Scope) -> Result<Frame, Refusal> {
    if scope == Scope::Shard && cx.origin == Origin::Transaction {
        return Err("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client".into());
    }
    let mut replies = Vec::new();
    for name in &words[1..] {
        scope.of(cx.me()).insert(name.clone());
        replies.push(scope.confirm(cx, "subscribe", Frame::bulk(name.clone())));
    }
    Ok(Frame::Several(replies))
}

fn unsubscribe(cx: &mut Context<'_>, words: &[Vec<u8>], scope: Scope) -> Result<Frame, Refusal> {
    let mut names = words[1..].to_vec();
    if names.is_empty() {
        names = scope.of(cx.me()).iter().cloned().collect();
    }
    if names.is_empty() {
        return Ok(scope.confirm(cx, "unsubscribe", Frame::Nil));
    }
    let mut replies = Vec::new();
    for name in names {
        scope.of(cx.me()).remove(&name);
        replies.push(scope.confirm(cx, "unsubscribe", Frame::Bulk(name)));
    }
    Ok(Frame::Several(replies))
}

/// Sends the message here and to the replicas, whose own subscribers get it, too.
fn publish(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let count = cx.publish(&words[1], &words[2]);
    pass_on(cx, words);
    Ok(Frame::count(count))
}

fn spublish(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let count = cx.publish_shard(&words[1], &words[2]);
    pass_on(cx, words);
    Ok(Frame::count(count))
}

fn pass_on(cx: &mut Context<'_>, words: &[Vec<u8>]) {
    let operation = Operation { database: cx.database, words: words.to_vec() };
    cx.engine.server.pending.push(operation);
}

fn channels(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let connections = cx.engine.server.connections.values();
    let all: BTreeSet<&Vec<u8>> = connections.flat_map(|c| c.channels.iter()).collect();
    let wanted = |name: &&&Vec<u8>| words.get(2).is_none_or(|pattern| glob::matches(pattern, name));
    Ok(Frame::bulks(all.iter().filter(wanted).map(|name| (*name).clone())))
}

fn numsub(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut counts = Vec::new();
    for name in &words[2..] {
        let connections = cx.engine.server.connections.values();
        let listening = connections.filter(|connection| connection.channels.contains(name));
        counts.push(Frame::bulk(name.clone()));
        counts.push(Frame::count(listening.count()));
    }
    Ok(Frame::Array(counts))
}

fn numpat(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let connections = cx.engine.server.connections.values();
    let all: BTreeSet<&Vec<u8>> = connections.flat_map(|c| c.patterns.iter()).collect();
    Ok(Frame::count(all.len()))
}
