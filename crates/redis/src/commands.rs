//! The commands in bytes: one file a family, one list.

mod client;
mod counters;
mod debug;
mod expiry;
mod hashes;
mod info;
mod keys;
mod lists;
mod persistence;
mod pubsub;
mod replication;
mod scan;
#[cfg(feature = "lua")]
mod scripts;
mod sets;
mod strings;
mod transactions;
mod zsets;

use crate::{
    frame::Frame,
    reply::ErrorCode,
    server::{Context, Refusal},
    value::parse_integer,
    version::Version,
};

/// What a command does: words in, one reply or one error out.
pub(crate) type Run = fn(&mut Context<'_>, &[Vec<u8>]) -> Result<Frame, Refusal>;

/// What the server knows of a command before it runs.
pub(crate) struct Spec {
    /// The name in lower case; a subcommand is `container|name`.
    pub(crate) name: &'static str,
    /// The number of words, or, negated, the least number.
    arity: i32,
    flags: u16,
    /// Where the keys are.
    pub(crate) keys: Keys,
    pub(crate) run: Run,
}

/// Where the keys of a command stand among its words.
#[derive(Clone, Copy)]
pub(crate) enum Keys {
    /// It has none.
    None,
    /// Only the first argument.
    First,
    /// The first and the second argument.
    FirstTwo,
    /// All arguments.
    All,
    /// All arguments but the last.
    AllButLast,
    /// Every other argument.
    Pairs,
    /// A number of keys at this position, then the keys.
    #[cfg_attr(not(feature = "lua"), expect(dead_code, reason = "only scripts count their keys"))]
    Counted(usize),
}

/// What the server must know of a command to decide whether it may run.
pub(crate) struct Flags;

impl Flags {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DENY_OOM: u16 = 2;
    pub(crate) const NO_SCRIPT: u16 = 4;
    pub(crate) const NO_AUTH: u16 = 8;
    pub(crate) const LOADING: u16 = 16;
    pub(crate) const STALE: u16 = 32;
    /// Held by CLIENT PAUSE WRITE, although no write: PUBLISH, scripts.
    pub(crate) const MAY_REPLICATE: u16 = 64;
    pub(crate) const BLOCKING: u16 = 128;
    /// Runs at once inside MULTI.
    pub(crate) const IMMEDIATE: u16 = 256;
    /// Allowed to a RESP2 client that has subscribed.
    pub(crate) const SUBSCRIBED: u16 = 512;
    /// Only in versions with DELEX.
    pub(crate) const DELEX: u16 = 1024;
    /// Only in versions with DELIFEQ.
    pub(crate) const DELIFEQ: u16 = 2048;
    /// Not allowed inside MULTI.
    pub(crate) const NO_MULTI: u16 = 4096;
    /// Allowed while a script runs for too long.
    pub(crate) const BUSY: u16 = 8192;
    /// Writes that need memory.
    pub(crate) const GROW: u16 = Self::WRITE | Self::DENY_OOM;
    /// About the connection or the server itself.
    pub(crate) const META: u16 = Self::LOADING | Self::STALE;
}

impl Spec {
    pub(crate) const fn new(
        name: &'static str,
        arity: i32,
        flags: u16,
        keys: Keys,
        run: Run,
    ) -> Self {
        Self { name, arity, flags, keys, run }
    }

    pub(crate) const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn check_arity(&self, words: &[Vec<u8>]) -> Result<(), Refusal> {
        let count = i32::try_from(words.len()).unwrap_or(i32::MAX);
        let fits = if self.arity >= 0 { count == self.arity } else { count >= -self.arity };
        if fits { Ok(()) } else { Err(Refusal::arity(self.name)) }
    }

    const fn exists_in(&self, version: Version) -> bool {
        (!self.has(Flags::DELEX) || version.has_delex())
            && (!self.has(Flags::DELIFEQ) || version.has_delifeq())
    }
}

/// All commands, family by family.
const FAMILIES: &[&[Spec]] = &[
    strings::COMMANDS,
    counters::COMMANDS,
    keys::COMMANDS,
    expiry::COMMANDS,
    scan::COMMANDS,
    hashes::COMMANDS,
    lists::COMMANDS,
    sets::COMMANDS,
    zsets::COMMANDS,
    transactions::COMMANDS,
    #[cfg(feature = "lua")]
    scripts::COMMANDS,
    pubsub::COMMANDS,
    client::COMMANDS,
    info::COMMANDS,
    debug::COMMANDS,
    persistence::COMMANDS,
    replication::COMMANDS,
];

/// Commands that are nothing without a subcommand.
const CONTAINERS: &[&str] =
    &["client", "command", "config", "debug", "function", "object", "pubsub", "script"];

/// Finds the command that the words ask for.
pub(crate) fn resolve(version: Version, words: &[Vec<u8>]) -> Result<&'static Spec, Refusal> {
    let name = words.first().map_or(&[][..], Vec::as_slice);
    let container = CONTAINERS.iter().find(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if let Some(container) = container {
        return resolve_subcommand(container, words);
    }
    let mut all = FAMILIES.iter().flat_map(|family| family.iter());
    all.find(|spec| name.eq_ignore_ascii_case(spec.name.as_bytes()) && spec.exists_in(version))
        .ok_or_else(|| unknown(words))
}

fn resolve_subcommand(
    container: &'static str,
    words: &[Vec<u8>],
) -> Result<&'static Spec, Refusal> {
    let Some(name) = words.get(1) else { return plain_container(container) };
    let mut all = FAMILIES.iter().flat_map(|family| family.iter());
    let fits = |spec: &&Spec| {
        let rest = spec.name.strip_prefix(container).and_then(|rest| rest.strip_prefix('|'));
        rest.is_some_and(|rest| name.eq_ignore_ascii_case(rest.as_bytes()))
    };
    all.find(fits).ok_or_else(|| {
        let name = String::from_utf8_lossy(name);
        let container = container.to_ascii_uppercase();
        Refusal(format!("ERR unknown subcommand '{name}'. Try {container} HELP.").into())
    })
}

/// A container without subcommand: only COMMAND means something.
fn plain_container(container: &'static str) -> Result<&'static Spec, Refusal> {
    let mut all = FAMILIES.iter().flat_map(|family| family.iter());
    all.find(|spec| spec.name == container).ok_or_else(|| Refusal::arity(container))
}

/// The error for a command nobody knows; it quotes the arguments up to 128 bytes in all, each up
/// to its first zero byte (`src/server.c:processCommand`).
fn unknown(words: &[Vec<u8>]) -> Refusal {
    let name = words.first().map_or(&[][..], Vec::as_slice);
    let shown = |word: &[u8], limit: usize| {
        let end = word.iter().position(|&byte| byte == 0).unwrap_or(word.len()).min(limit);
        String::from_utf8_lossy(&word[..end]).into_owned()
    };
    let mut arguments = String::new();
    for word in words.iter().skip(1) {
        let left = 128_usize.saturating_sub(arguments.len());
        if left == 0 {
            break;
        }
        arguments.push_str(&format!("'{}' ", shown(word, left)));
    }
    let name = shown(name, 128);
    Refusal(format!("ERR unknown command '{name}', with args beginning with: {arguments}").into())
}

/// Finds the keys among the words of a command.
pub(crate) fn keys_of(spec: &Spec, words: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let arguments = words.get(1..).unwrap_or_default();
    match spec.keys {
        Keys::None => Vec::new(),
        Keys::First => arguments.iter().take(1).cloned().collect(),
        Keys::FirstTwo => arguments.iter().take(2).cloned().collect(),
        Keys::All => arguments.to_vec(),
        Keys::AllButLast => arguments[..arguments.len().saturating_sub(1)].to_vec(),
        Keys::Pairs => arguments.iter().step_by(2).cloned().collect(),
        Keys::Counted(position) => {
            let count = words.get(position).and_then(|word| parse_integer(word)).unwrap_or(0);
            let count = usize::try_from(count).unwrap_or(0);
            words.iter().skip(position + 1).take(count).cloned().collect()
        }
    }
}

/// Reads an integer argument.
pub(crate) fn integer(word: &[u8]) -> Result<i64, Refusal> {
    parse_integer(word).ok_or(Refusal::from(ErrorCode::NotAnInteger))
}

/// Tells whether a word is this keyword in any case.
pub(crate) fn is(word: &[u8], keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword.as_bytes())
}
