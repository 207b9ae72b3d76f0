//! A Redis node: an engine, and the ghost state of who owns its lock keys.

mod scripts;

use fencepost_history::{Duration, GrantId, How, Instant, LockId, ServerId, WallTime, What};
use fencepost_redis::{
    Change, Command, Engine, Entry, ErrorCode, KeyId, Names, Outcome, Role, Version,
};
use fencepost_sim::{CallRef, ServerContext};

use crate::Servers;
use crate::replication::Update;
use crate::servers::{RedisRequest, Reply};
use crate::storage::{Storage, StorageSetup};

/// What a node is from run to run.
#[derive(Clone, Debug)]
pub struct NodeSetup {
    /// Its number among all servers.
    pub server: ServerId,
    /// The keys of locks.
    pub locks: Vec<LockKey>,
    /// All names that clients send.
    pub names: Names,
    /// Which server it behaves like.
    pub version: Version,
    /// How long a command takes.
    pub command_time: Duration,
    /// How long a script takes.
    pub script_time: Duration,
    /// Whether it still has its data after a restart.
    pub is_durable: bool,
    /// How it keeps its data if it keeps neither all nor nothing.
    pub storage: Option<StorageSetup>,
    /// The user's scripts that clients call here.
    pub scripts: Vec<String>,
    /// How long it answers nothing but `LOADING` after a restart.
    pub load_time: Duration,
}

/// Which key a lock has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockKey {
    /// The lock.
    pub lock: LockId,
    /// Its key.
    pub key: KeyId,
}

/// A Redis node.
#[derive(Clone, Debug)]
pub struct RedisNode {
    setup: NodeSetup,
    engine: Engine,
    /// The place in [`NodeSetup::locks`] of each key; `u16::MAX` for other keys.
    places: Vec<u16>,
    /// Whose key each lock's is.
    owners: Vec<GrantId>,
    storage: Option<Box<Storage>>,
    /// Whether it has a disk to write to, or may have to refuse what it is asked.
    is_watched: bool,
    /// Until when it loads its data.
    loads_until: Instant,
    /// The error that it answers with, and until when.
    refusal: Option<(ErrorCode, Instant)>,
    #[cfg(feature = "lua")]
    scripts: Option<Box<crate::script::Scripts>>,
}

const NO_LOCK: u16 = u16::MAX;

/// A copy of all data of a node.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    engine: Engine,
    owners: Vec<GrantId>,
}

impl RedisNode {
    pub(crate) fn new(setup: NodeSetup) -> Self {
        let mut places = vec![NO_LOCK; setup.names.len()];
        for (place, lock) in setup.locks.iter().enumerate() {
            places[lock.key.0 as usize] = u16::try_from(place).expect("locks are few");
        }
        let mut engine = Engine::with_names(setup.names.clone());
        engine.config_mut().version = setup.version;
        let storage = setup.storage.clone();
        Self {
            storage: storage.map(|own| Box::new(Storage::new(setup.server, own, &engine))),
            loads_until: Instant::ZERO,
            is_watched: setup.storage.is_some(),
            #[cfg(feature = "lua")]
            scripts: crate::script::Scripts::new(&setup.scripts).map(Box::new),
            engine,
            owners: vec![GrantId::NONE; setup.locks.len()],
            refusal: None,
            places,
            setup,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.engine.reset();
        self.owners.fill(GrantId::NONE);
        self.loads_until = Instant::ZERO;
        self.is_watched = self.storage.is_some();
        if let Some(storage) = &mut self.storage {
            storage.reset();
        }
        self.refusal = None;
        #[cfg(feature = "lua")]
        if let Some(scripts) = &mut self.scripts {
            scripts.reset();
        }
    }

    pub(crate) const fn names(&self) -> &Names {
        self.engine.names()
    }

    #[inline]
    pub(crate) fn serve(
        &mut self,
        call: CallRef,
        request: &RedisRequest,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let outcome = self.execute(&request.command, request.by, cx);
        cx.reply(call, Reply::Redis(outcome.reply), self.cost(&request.command));
    }

    /// Lets the node answer with an error until an instant.
    pub(crate) const fn refuse(&mut self, error: ErrorCode, until: Instant) {
        self.refusal = Some((error, until));
        self.is_watched = true;
    }

    /// Returns the error that a command gets in the place of being executed: while a node loads its
    /// data every one, else the writes.
    fn refusal(&self, command: &Command, cx: &ServerContext<'_, Servers>) -> Option<ErrorCode> {
        if self.loads_until > cx.now() {
            return Some(ErrorCode::Loading);
        }
        let (code, until) = self.refusal?;
        let is_over = until <= cx.now() || cx.is_healed();
        let is_meant = code == ErrorCode::Loading || command.is_write();
        (is_meant && !is_over).then_some(code)
    }

    /// Throws a key out to make room.
    pub(crate) fn evict(&mut self, key: KeyId, cx: &mut ServerContext<'_, Servers>) -> Outcome {
        let now_ms = cx.wall(self.setup.server).as_nanos() / 1_000_000;
        let outcome = self.engine.execute(&Command::Del { key }, now_ms);
        let place = self.places.get(key.0 as usize).copied().unwrap_or(NO_LOCK);
        if place != NO_LOCK && (outcome.change != Change::None || outcome.expired) {
            let (server, lock) = (self.setup.server, self.setup.locks[usize::from(place)].lock);
            let owner = std::mem::take(&mut self.owners[usize::from(place)]);
            let (by, how) = (GrantId::NONE, How::Lose);
            cx.emit(What::KeyGone { server, lock, by, owner, how });
        }
        if let Some(storage) = &mut self.storage {
            storage.catch_up(cx);
            storage.write(&Command::Del { key }, &outcome, GrantId::NONE, cx);
        }
        outcome
    }

    /// Returns how long a command takes that is no script.
    pub(crate) const fn command_time(&self) -> Duration {
        self.setup.command_time
    }

    /// Returns how long a command takes.
    #[inline(always)]
    pub(crate) const fn cost(&self, command: &Command) -> Duration {
        if command.is_script() { self.setup.script_time } else { self.setup.command_time }
    }

    /// Executes a command of a grant, or of an outsider.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        command: &Command,
        by: GrantId,
        cx: &mut ServerContext<'_, Servers>,
    ) -> Outcome {
        if self.is_watched {
            return self.execute_watched(command, by, cx);
        }
        self.carry_out(command, by, cx)
    }

    /// Executes a command where a disk takes it, or refuses it while the data is loaded.
    #[inline(never)]
    fn execute_watched(
        &mut self,
        command: &Command,
        by: GrantId,
        cx: &mut ServerContext<'_, Servers>,
    ) -> Outcome {
        if let Some(code) = self.refusal(command, cx) {
            let reply = fencepost_redis::Reply::Error(code);
            let change = Change::None;
            return Outcome { reply, change, expired: false, counter_expired: false };
        }
        let Some(mut storage) = self.storage.take() else {
            return self.carry_out(command, by, cx);
        };
        storage.catch_up(cx);
        let outcome = self.carry_out(command, by, cx);
        let place = command.key().and_then(|key| self.places.get(key.0 as usize));
        let owner = place.and_then(|place| self.owners.get(usize::from(*place)));
        storage.write(command, &outcome, owner.copied().unwrap_or(GrantId::NONE), cx);
        self.storage = Some(storage);
        outcome
    }

    #[inline(always)]
    fn carry_out(
        &mut self,
        command: &Command,
        by: GrantId,
        cx: &mut ServerContext<'_, Servers>,
    ) -> Outcome {
        let now_ms = cx.wall(self.setup.server).as_nanos() / 1_000_000;
        let outcome = self.engine.execute(command, now_ms);
        let is_flush = matches!(command, Command::FlushAll);
        if outcome.change != Change::None || outcome.expired || is_flush {
            self.tell(command.key(), by, outcome.expired, outcome.change, now_ms, cx);
        }
        outcome
    }

    /// Tells what a command did to a lock's key.
    #[inline(always)]
    fn tell(
        &mut self,
        key: Option<KeyId>,
        by: GrantId,
        is_expired: bool,
        change: Change,
        now_ms: u64,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let Some(key) = key else {
            self.tell_losses(cx);
            return;
        };
        let place = self.places.get(key.0 as usize).copied().unwrap_or(NO_LOCK);
        if place == NO_LOCK {
            return;
        }
        let place = place as usize;
        let (server, lock) = (self.setup.server, self.setup.locks[place].lock);
        if is_expired {
            let owner = std::mem::take(&mut self.owners[place]);
            cx.emit(What::KeyGone { server, lock, by: GrantId::NONE, owner, how: How::Expire });
        }
        let owner = self.owners[place];
        let how = match change {
            Change::None => return,
            Change::Deleted => {
                self.owners[place] = GrantId::NONE;
                cx.emit(What::KeyGone { server, lock, by, owner, how: How::Delete });
                return;
            }
            Change::Created => How::Create,
            Change::Overwritten | Change::Counted => How::Overwrite,
            Change::Extended | Change::Persisted => How::Extend,
        };
        if how != How::Extend {
            self.owners[place] = by;
        }
        let deadline = self.deadline(key, now_ms, cx);
        let commits = how == How::Create && by != GrantId::NONE;
        cx.emit(What::KeySet { server, lock, by, owner, deadline, how, commits });
    }

    /// Returns the first instant at which the node will hold a key for dead.
    fn deadline(&self, key: KeyId, now_ms: u64, cx: &ServerContext<'_, Servers>) -> Instant {
        let deadline = self.engine.entry(key, now_ms).and_then(|entry| entry.deadline);
        deadline.map_or(Instant::NEVER, |last_ms| {
            // Redis holds a key for dead once its clock is past the deadline, in whole ms.
            let first_dead = u64::try_from(last_ms).unwrap_or(0).saturating_add(1);
            let wall = WallTime::from_nanos(first_dead.saturating_mul(1_000_000));
            cx.instant_of(self.setup.server, wall)
        })
    }

    /// Hands over what a command did as writes of the replication stream, and whose keys they are.
    pub(crate) fn propagate(
        &self,
        command: &Command,
        outcome: &Outcome,
        cx: &ServerContext<'_, Servers>,
        mut send: impl FnMut(Update),
    ) {
        let now_ms = cx.wall(self.setup.server).as_nanos() / 1_000_000;
        let changed = outcome.change != Change::None || outcome.expired;
        if !changed && !matches!(command, Command::FlushAll) {
            return;
        }
        command.propagate(outcome, now_ms, |command| {
            let key = command.key().map_or(usize::MAX, |key| key.0 as usize);
            let place = self.places.get(key).copied().unwrap_or(NO_LOCK);
            let owner = self.owners.get(usize::from(place)).copied().unwrap_or(GrantId::NONE);
            send(Update { command, owner });
        });
    }

    /// Carries out a write of the replication stream.
    pub(crate) fn apply(&mut self, update: &Update, cx: &mut ServerContext<'_, Servers>) {
        let change = self.engine.apply(&update.command).change;
        let Some(key) = update.command.key() else {
            self.tell_losses(cx);
            return;
        };
        let place = self.places.get(key.0 as usize).copied().unwrap_or(NO_LOCK);
        if place == NO_LOCK || change == Change::None {
            return;
        }
        let (server, place) = (self.setup.server, usize::from(place));
        let lock = self.setup.locks[place].lock;
        let owner = std::mem::replace(&mut self.owners[place], update.owner);
        if change == Change::Deleted {
            let (by, how) = (GrantId::NONE, How::Delete);
            cx.emit(What::KeyGone { server, lock, by, owner, how });
        } else {
            self.tell_restored(place, owner, cx);
        }
    }

    /// Tells that a lock's key came over from another copy.
    fn tell_restored(&self, place: usize, owner: GrantId, cx: &mut ServerContext<'_, Servers>) {
        let now_ms = cx.wall(self.setup.server).as_nanos() / 1_000_000;
        let LockKey { lock, key } = self.setup.locks[place];
        let (server, by) = (self.setup.server, self.owners[place]);
        let deadline = self.deadline(key, now_ms, cx);
        let (how, commits) = (How::Restore, false);
        cx.emit(What::KeySet { server, lock, by, owner, deadline, how, commits });
    }

    /// Makes the server a master or a replica; its data stays.
    pub(crate) const fn set_role(&mut self, role: Role) {
        self.engine.set_role(role);
    }

    /// Returns a copy of all data, for a replica that cannot go on from where it is.
    pub(crate) fn copy(&self) -> Snapshot {
        Snapshot { engine: self.engine.clone(), owners: self.owners.clone() }
    }

    /// Replaces all data by a copy of another server's.
    pub(crate) fn load(&mut self, copy: &Snapshot, cx: &mut ServerContext<'_, Servers>) {
        let server = self.setup.server;
        cx.emit(What::DataLost { server });
        self.engine.copy_data_from(&copy.engine);
        for place in 0..self.setup.locks.len() {
            let owner = std::mem::replace(&mut self.owners[place], copy.owners[place]);
            let LockKey { lock, key } = self.setup.locks[place];
            if self.engine.entry(key, 0).is_some() {
                self.tell_restored(place, owner, cx);
            } else if owner != GrantId::NONE {
                let (by, how) = (GrantId::NONE, How::Lose);
                cx.emit(What::KeyGone { server, lock, by, owner, how });
            }
        }
    }

    /// Tells that all lock keys are gone.
    fn tell_losses(&mut self, cx: &mut ServerContext<'_, Servers>) {
        let server = self.setup.server;
        for (place, lock) in self.setup.locks.iter().enumerate() {
            let owner = std::mem::take(&mut self.owners[place]);
            if owner != GrantId::NONE {
                let (lock, by) = (lock.lock, GrantId::NONE);
                cx.emit(What::KeyGone { server, lock, by, owner, how: How::Lose });
            }
        }
    }

    pub(crate) fn crash(&mut self, has_power: bool, cx: &mut ServerContext<'_, Servers>) {
        #[cfg(feature = "lua")]
        if let Some(scripts) = &mut self.scripts {
            scripts.crash();
        }
        if let Some(storage) = &mut self.storage {
            storage.crash(has_power, cx);
        } else if !self.setup.is_durable {
            self.tell_losses(cx);
            self.engine.reset();
        }
    }

    /// Starts anew with what the disk has, which takes its time.
    pub(crate) fn start(&mut self, cx: &mut ServerContext<'_, Servers>) {
        self.loads_until = cx.now() + self.setup.load_time;
        self.is_watched = true;
        let Some(mut storage) = self.storage.take() else {
            return;
        };
        let server = self.setup.server;
        let now_ms = cx.wall(server).as_nanos() / 1_000_000;
        let before: Vec<Option<Entry>> =
            self.setup.locks.iter().map(|lock| self.engine.entry(lock.key, now_ms)).collect();
        storage.start(&mut self.engine, cx);
        for (place, before) in before.into_iter().enumerate() {
            let LockKey { lock, key } = self.setup.locks[place];
            let after = self.engine.entry(key, now_ms);
            let kept = if after.is_some() { storage.owner(key) } else { GrantId::NONE };
            let owner = std::mem::replace(&mut self.owners[place], kept);
            let by = GrantId::NONE;
            if after.is_none() && before.is_some() {
                let is_dead = before.is_some_and(|entry| entry.dead);
                let how = if is_dead { How::Expire } else { How::Lose };
                cx.emit(What::KeyGone { server, lock, by, owner, how });
            } else if after != before || kept != owner {
                let (by, how, commits) = (kept, How::Restore, false);
                let deadline = self.deadline(key, now_ms, cx);
                cx.emit(What::KeySet { server, lock, by, owner, deadline, how, commits });
            }
        }
        self.storage = Some(storage);
    }

    /// Tells anew when keys will be dead, since the clock that decides it has changed.
    pub(crate) fn clock_changed(&mut self, cx: &mut ServerContext<'_, Servers>) {
        let server = self.setup.server;
        let now_ms = cx.wall(server).as_nanos() / 1_000_000;
        for place in 0..self.setup.locks.len() {
            let owner = self.owners[place];
            let LockKey { lock, key } = self.setup.locks[place];
            let Some(entry) = self.engine.entry(key, now_ms) else {
                continue;
            };
            if owner == GrantId::NONE || entry.deadline.is_none() {
                continue;
            }
            let deadline = self.deadline(key, now_ms, cx);
            // The key is its owner's as before; only its end has moved.
            let (by, how, commits) = (owner, How::Restore, false);
            cx.emit(What::KeySet { server, lock, by, owner, deadline, how, commits });
        }
    }
}
