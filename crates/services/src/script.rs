//! A user's scripts at a Redis node.

use fencepost_history::GrantId;
#[cfg(feature = "lua")]
use fencepost_redis::Frame;
use fencepost_redis::{KeyId, Value};

/// How a client calls a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptCall {
    /// `EVAL`, with the source.
    Source,
    /// `EVALSHA`, with the digest alone.
    Digest,
}

/// A call of one of the node's scripts: `KEYS` are the lock's key and the counter's, `ARGV` the
/// value and the time to live in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptRequest {
    /// Its place among the node's scripts.
    pub script: u8,
    /// How it is called.
    pub call: ScriptCall,
    /// The lock's key.
    pub key: KeyId,
    /// The key of the fencing counter.
    pub counter: KeyId,
    /// What the client would write into the lock's key.
    pub value: Value,
    /// The time to live in milliseconds.
    pub millis: i64,
    /// Whose it is: ghost state, which the node keeps beside the key.
    pub by: GrantId,
}

/// What a script's reply says to a lock client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Null.
    Nil,
    /// The integer 0, or an empty list.
    Zero,
    /// Anything else.
    Truthy,
    /// `NOSCRIPT`: the server does not know the digest.
    NoScript,
    /// An error.
    Failed,
}

/// A script's reply, as far as a lock client reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptReply {
    /// What it says; of a list the first element counts.
    pub verdict: Verdict,
    /// The number in it: the reply itself, or the second element of a list.
    pub number: Option<i64>,
}

impl ScriptReply {
    /// The reply of a server that does not know the digest.
    pub const NO_SCRIPT: Self = Self { verdict: Verdict::NoScript, number: None };

    /// Reads a reply of the server.
    #[cfg(feature = "lua")]
    pub(crate) fn of(frame: &Frame) -> Self {
        if let Frame::Array(items) = frame {
            let verdict = items.first().map_or(Verdict::Zero, |first| Self::of(first).verdict);
            return Self { verdict, number: items.get(1).and_then(number) };
        }
        let verdict = match frame {
            Frame::Error(_) => Verdict::Failed,
            Frame::Nil | Frame::NilArray => Verdict::Nil,
            frame if *frame == Frame::Integer(0) => Verdict::Zero,
            Frame::Simple(_)
            | Frame::Integer(_)
            | Frame::Bulk(_)
            | Frame::Array(_)
            | Frame::Map(_)
            | Frame::Set(_)
            | Frame::Push(_)
            | Frame::Double(_)
            | Frame::Boolean(_)
            | Frame::BigNumber(_)
            | Frame::Verbatim(..)
            | Frame::Several(_) => Verdict::Truthy,
        };
        Self { verdict, number: number(frame) }
    }
}

/// The number that a reply is, or that its text says.
#[cfg(feature = "lua")]
fn number(frame: &Frame) -> Option<i64> {
    if let Frame::Bulk(text) = frame {
        return fencepost_redis::parse_integer(text);
    }
    if let Frame::Integer(number) = frame { Some(*number) } else { None }
}

/// The scripts of a node, and what the server remembers of them.
#[cfg(feature = "lua")]
#[derive(Debug)]
pub(crate) struct Scripts {
    scripts: Vec<fencepost_redis::Script>,
    /// Which of them the server has in its cache.
    cached: Vec<bool>,
    interpreter: fencepost_redis::Interpreter,
    /// The first error that a script raised in this run.
    pub(crate) failure: Option<String>,
}

#[cfg(feature = "lua")]
impl Clone for Scripts {
    fn clone(&self) -> Self {
        // An interpreter keeps nothing from script to script, so a new one is as good.
        Self {
            scripts: self.scripts.clone(),
            cached: self.cached.clone(),
            interpreter: fencepost_redis::Interpreter::new(),
            failure: self.failure.clone(),
        }
    }
}

#[cfg(feature = "lua")]
impl Scripts {
    pub(crate) fn new(sources: &[String]) -> Option<Self> {
        if sources.is_empty() {
            return None;
        }
        let scripts: Vec<_> =
            sources.iter().map(|source| fencepost_redis::Script::new(source)).collect();
        let cached = vec![true; scripts.len()];
        let interpreter = fencepost_redis::Interpreter::new();
        Some(Self { scripts, cached, interpreter, failure: None })
    }

    /// Becomes as it is at the start of a run: the clients have loaded their scripts.
    pub(crate) fn reset(&mut self) {
        self.cached.fill(true);
        self.failure = None;
    }

    /// Forgets what a process keeps in its memory.
    pub(crate) fn crash(&mut self) {
        self.cached.fill(false);
    }

    /// Runs a script; nothing if the server does not know its digest.
    pub(crate) fn run(
        &mut self,
        engine: &mut fencepost_redis::Engine,
        request: &ScriptRequest,
        wall_micros: u64,
    ) -> Option<fencepost_redis::ScriptOutcome> {
        // A run in which a script has failed comes to nothing, so no further one is run in it.
        if let Some(text) = &self.failure {
            let reply = Frame::Error(text.clone().into());
            let (changes, operations) = (Vec::new(), Vec::new());
            return Some(fencepost_redis::ScriptOutcome { reply, changes, operations });
        }
        let place = usize::from(request.script);
        let script = self.scripts.get(place)?;
        let is_cached = self.cached.get_mut(place)?;
        if request.call == ScriptCall::Digest && !*is_cached {
            return None;
        }
        *is_cached = true;
        let keys = [request.key, request.counter];
        let arguments =
            [request.value.to_bytes(engine.names()), request.millis.to_string().into_bytes()];
        let outcome = engine.run_script(
            &mut self.interpreter,
            script,
            &keys,
            &arguments,
            request.key,
            wall_micros,
        );
        if let Frame::Error(text) = &outcome.reply {
            self.failure.get_or_insert_with(|| text.to_string());
        }
        Some(outcome)
    }

    /// Names a call as one would type it.
    pub(crate) fn describe(
        &self,
        request: &ScriptRequest,
        names: &fencepost_redis::Names,
    ) -> String {
        let verb = match request.call {
            ScriptCall::Source => "EVAL",
            ScriptCall::Digest => "EVALSHA",
        };
        let script = self.scripts.get(usize::from(request.script));
        let digest = script.map_or("", fencepost_redis::Script::digest);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!(
            "{verb} {}.. 2 {} {} {} {}",
            digest.get(..8).unwrap_or_default(),
            text(names.text(request.key.0)),
            text(names.text(request.counter.0)),
            text(&request.value.to_bytes(names)),
            request.millis
        )
    }
}

impl std::fmt::Display for ScriptReply {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self.verdict {
            Verdict::Nil => "nil",
            Verdict::Zero => "0",
            Verdict::Truthy => "yes",
            Verdict::NoScript => "NOSCRIPT No matching script. Please use EVAL.",
            Verdict::Failed => "an error",
        };
        match self.number {
            Some(number) => write!(out, "{number}"),
            None => out.write_str(text),
        }
    }
}
