//! The table of facts that all checkers read, fed once for each event.

use fencepost_history::{
    Duration, GrantId, Instant, JobId, LockId, LockRules, ProcessId, ResourceId, ServerId,
    ThreadId, Token,
};

use crate::order::Resource;
use crate::{Finding, Kind, Rules, Tally};

/// No event.
pub(crate) const NO_EVENT: u32 = u32::MAX;

/// The event that is being judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) index: u32,
    pub(crate) at: Instant,
}

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Nobody knows more than that it was made.
    #[default]
    Attempt,
    /// It was given up without an answer.
    Unknown,
    /// Its owner believes to have the lock.
    Believing,
    /// The belief is over.
    Over,
}

/// One attempt, and the grant that it became.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) token: Token,
    /// When its belief began.
    pub(crate) began: Instant,
    /// When its belief ended.
    pub(crate) ended: Instant,
    /// The event of the deciding command, by which grants are older or newer; the beginning of
    /// the belief where no command decided.
    pub(crate) ord: u32,
    /// The event at which its belief began.
    pub(crate) acquired: u32,
    /// The first accepted read, and the resource that it was of.
    pub(crate) first_read: u32,
    pub(crate) read_of: ResourceId,
    /// Further first reads, of other resources: an index into lost-update's own list.
    pub(crate) more_reads: u32,
    /// Thread and process incarnation in one.
    pub(crate) owner: u32,
    pub(crate) thread: ThreadId,
    pub(crate) lock: LockId,
    pub(crate) phase: Phase,
    is_touched: bool,
    /// How many independent servers have accepted it.
    votes: u16,
    /// Whether it ran a protected step while its successor believed.
    pub(crate) ran_superseded: bool,
}

impl Default for Grant {
    fn default() -> Self {
        Self {
            token: Token::NONE,
            began: Instant::ZERO,
            ended: Instant::NEVER,
            ord: NO_EVENT,
            acquired: NO_EVENT,
            first_read: NO_EVENT,
            read_of: ResourceId(0),
            more_reads: NO_EVENT,
            owner: u32::MAX,
            thread: ThreadId(u16::MAX),
            lock: LockId(0),
            phase: Phase::Attempt,
            is_touched: false,
            votes: 0,
            ran_superseded: false,
        }
    }
}

impl Grant {
    /// Returns whether the attempt succeeded, so that it has a place among the grants.
    #[inline(always)]
    pub(crate) fn is_granted(&self) -> bool {
        self.phase >= Phase::Believing
    }

    #[inline(always)]
    pub(crate) fn is_believed(&self) -> bool {
        self.phase == Phase::Believing
    }

    fn known_thread(&self) -> Option<ThreadId> {
        (self.thread.0 != u16::MAX).then_some(self.thread)
    }
}

/// A lock's key at one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) server: ServerId,
    /// Whose it is; nobody's if it is not there.
    pub(crate) owner: GrantId,
    /// Since when it is that grant's.
    pub(crate) since: Instant,
    pub(crate) deadline: Instant,
}

/// What is known of one lock.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    pub(crate) believers: Vec<GrantId>,
    pub(crate) keys: Vec<Key>,
    /// The grant with the latest deciding command, and that command.
    pub(crate) newest: GrantId,
    pub(crate) newest_ord: u32,
    /// The largest token among the grants, and whose it is.
    pub(crate) top_token: Token,
    pub(crate) top_grant: GrantId,
    /// When a holder crashed that nobody has succeeded yet.
    pub(crate) crashed: Instant,
    /// How many attempts were given up without an answer.
    pub(crate) unknown: u32,
    /// The server that decides, where the others only copy.
    pub(crate) master: Option<ServerId>,
    /// Whether a key was ever written.
    pub(crate) keyed: bool,
    /// How long a key may live that nobody believes in.
    pub(crate) ghost_limit: Duration,
}

impl Lock {
    /// Returns the key at a server, if there ever was one.
    #[inline(always)]
    pub(crate) fn key_mut(&mut self, server: ServerId) -> Option<&mut Key> {
        self.keys.iter_mut().find(|key| key.server == server)
    }
}

/// What is known of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    pub(crate) process: ProcessId,
    /// The thread and the incarnation of its process in one, which is who owns a grant.
    pub(crate) owner: u32,
    /// The lock that it waits for.
    pub(crate) waits: Option<LockId>,
    /// The event at which it began to wait.
    pub(crate) asked: u32,
    /// Until when it is stalled; zero if it runs.
    pub(crate) until: Instant,
    pub(crate) finished: bool,
}

/// What is known of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Process {
    /// Until when it is paused; zero if it runs.
    pub(crate) until: Instant,
}

/// An access, as the resource answered it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) resource: ResourceId,
    pub(crate) grant: GrantId,
    pub(crate) token: Token,
    pub(crate) job: JobId,
    pub(crate) is_write: bool,
    pub(crate) regressed: bool,
}

/// A step or an accepted write at the latest instant that had one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tie {
    pub(crate) grant: GrantId,
    pub(crate) event: u32,
    pub(crate) resource: Option<ResourceId>,
}

/// The table of facts.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) rules: Rules,
    pub(crate) grants: Vec<Grant>,
    pub(crate) locks: Vec<Lock>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) processes: Vec<Process>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) tally: Tally,
    /// How many threads wait.
    pub(crate) waiting: u32,
    /// The grants that this run has touched; the others are as new.
    touched: Vec<GrantId>,
    ties: Vec<Tie>,
    ties_at: Instant,
}

impl Facts {
    pub(crate) fn new(rules: &Rules) -> Self {
        let ghost_bound = rules.ghost_bound;
        let lock = |&LockRules { ref servers, ttl, .. }: &LockRules| Lock {
            believers: Vec::with_capacity(8),
            keys: Vec::with_capacity(servers.len()),
            newest: GrantId::NONE,
            newest_ord: 0,
            top_token: Token::NONE,
            top_grant: GrantId::NONE,
            crashed: Instant::NEVER,
            unknown: 0,
            master: None,
            keyed: false,
            ghost_limit: ttl.saturating_add(ghost_bound),
        };
        let thread = |process: &ProcessId| Thread {
            process: *process,
            owner: 0,
            waits: None,
            asked: NO_EVENT,
            until: Instant::ZERO,
            finished: false,
        };
        let processes = rules.threads.iter().map(|process| process.index() + 1).max();
        let mut facts = Self {
            rules: rules.clone(),
            grants: vec![Grant::default(); 64],
            locks: rules.locks.iter().map(lock).collect(),
            threads: rules.threads.iter().map(thread).collect(),
            processes: vec![Process::default(); processes.unwrap_or(0)],
            resources: Vec::with_capacity(8),
            tally: Tally::default(),
            waiting: 0,
            touched: Vec::with_capacity(64),
            ties: Vec::with_capacity(16),
            ties_at: Instant::NEVER,
        };
        facts.reset();
        facts
    }

    pub(crate) fn reset(&mut self) {
        for id in self.touched.drain(..) {
            self.grants[id.index()] = Grant::default();
        }
        for (lock, rules) in self.locks.iter_mut().zip(&self.rules.locks) {
            lock.believers.clear();
            lock.keys.clear();
            lock.newest = GrantId::NONE;
            lock.newest_ord = 0;
            lock.top_token = Token::NONE;
            lock.top_grant = GrantId::NONE;
            lock.crashed = Instant::NEVER;
            lock.unknown = 0;
            lock.master = if rules.independent { None } else { rules.servers.first().copied() };
            lock.keyed = false;
        }
        for (thread, owner) in self.threads.iter_mut().zip(0..) {
            thread.owner = owner;
            thread.waits = None;
            thread.until = Instant::ZERO;
            thread.finished = false;
        }
        self.processes.fill(Process::default());
        for resource in &mut self.resources {
            resource.reset();
        }
        self.tally = Tally::default();
        self.waiting = 0;
        self.ties.clear();
        self.ties_at = Instant::NEVER;
    }

    /// Returns a grant by its number; an unheard-of one is an attempt.
    #[inline(always)]
    pub(crate) fn grant(&self, id: GrantId) -> Grant {
        self.grants.get(id.index()).copied().unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn grant_mut(&mut self, id: GrantId) -> &mut Grant {
        if id.index() >= self.grants.len() {
            self.grow(id);
        }
        let grant = &mut self.grants[id.index()];
        if !grant.is_touched {
            grant.is_touched = true;
            self.touched.push(id);
        }
        grant
    }

    #[cold]
    fn grow(&mut self, id: GrantId) {
        self.grants.resize((id.index() + 1).next_power_of_two(), Grant::default());
    }

    /// Begins a wait, unless the thread waits for this lock already.
    pub(crate) fn ask(&mut self, now: Now, id: ThreadId, lock: LockId) {
        let thread = &mut self.threads[id.index()];
        if thread.waits != Some(lock) {
            self.waiting += u32::from(thread.waits.is_none());
            thread.waits = Some(lock);
            thread.asked = now.index;
        }
    }

    pub(crate) fn stop_asking(&mut self, id: ThreadId) {
        let thread = &mut self.threads[id.index()];
        self.waiting -= u32::from(thread.waits.is_some());
        thread.waits = None;
    }

    /// Notes whose attempt it is, and that it was given up without an answer.
    pub(crate) fn give_up(&mut self, thread: ThreadId, id: GrantId, lock: LockId) {
        let grant = self.grant_mut(id);
        grant.thread = thread;
        grant.lock = lock;
        if grant.phase == Phase::Attempt {
            grant.phase = Phase::Unknown;
        }
        self.locks[lock.index()].unknown += 1;
    }

    /// Notes that a server accepts an attempt: the command decides, or is one of a quorum that do.
    #[inline(always)]
    pub(crate) fn commit(&mut self, now: Now, id: GrantId, lock: LockId) {
        let LockRules { quorum, independent, .. } = self.rules.locks[lock.index()];
        let grant = self.grant_mut(id);
        if grant.is_granted() {
            return;
        }
        grant.votes = grant.votes.saturating_add(1);
        if !independent || grant.votes == quorum {
            grant.ord = now.index;
        }
    }

    /// Begins a belief and returns its place in the order; nothing if the grant has had one.
    #[inline(always)]
    pub(crate) fn believe(
        &mut self,
        now: Now,
        thread: ThreadId,
        id: GrantId,
        lock: LockId,
        token: Token,
    ) -> Option<u32> {
        let owner = self.threads[thread.index()].owner;
        let grant = self.grant_mut(id);
        if grant.is_granted() {
            return None;
        }
        grant.phase = Phase::Believing;
        grant.thread = thread;
        grant.owner = owner;
        grant.lock = lock;
        grant.token = token;
        grant.began = now.at;
        grant.acquired = now.index;
        if grant.ord == NO_EVENT {
            grant.ord = now.index;
        }
        Some(grant.ord)
    }

    /// Ends a belief, if there is one, and says so.
    #[inline(always)]
    pub(crate) fn disbelieve(&mut self, now: Now, id: GrantId) -> bool {
        let Some(grant) = self.grants.get_mut(id.index()) else {
            return false;
        };
        if !grant.is_believed() {
            return false;
        }
        grant.phase = Phase::Over;
        grant.ended = now.at;
        let believers = &mut self.locks[grant.lock.index()].believers;
        if believers.len() == 1 {
            believers.clear();
        } else {
            believers.retain(|other| *other != id);
        }
        true
    }

    /// Remembers a step or a write for the ties of its instant.
    #[inline(always)]
    pub(crate) fn tie(&mut self, now: Now, grant: GrantId, resource: Option<ResourceId>) {
        if self.ties_at != now.at {
            self.ties_at = now.at;
            self.ties.clear();
        }
        self.ties.push(Tie { grant, event: now.index, resource });
    }

    /// Returns the steps and writes of this very instant.
    #[inline(always)]
    pub(crate) fn ties(&self, now: Now) -> &[Tie] {
        if self.ties_at == now.at { &self.ties } else { &[] }
    }

    /// Returns whether any key is left.
    pub(crate) fn has_keys(&self) -> bool {
        let mut keys = self.locks.iter().flat_map(|lock| &lock.keys);
        keys.any(|key| key.owner != GrantId::NONE)
    }

    /// Returns whether a lock's key at this server decides anything.
    pub(crate) fn decides(&self, lock: LockId, server: ServerId) -> bool {
        self.locks[lock.index()].master.is_none_or(|master| master == server)
    }

    /// Returns whether a thread is stopped for ever, or has nothing left to do.
    pub(crate) fn is_stuck(&self, id: ThreadId) -> bool {
        self.threads.get(id.index()).is_some_and(|thread| {
            thread.finished
                || thread.until == Instant::NEVER
                || self.processes[thread.process.index()].until == Instant::NEVER
        })
    }

    /// Returns whether a grant is believed by a thread that has not finished.
    pub(crate) fn is_held(&self, id: GrantId) -> bool {
        let grant = self.grant(id);
        grant.is_believed() && !self.threads[grant.thread.index()].finished
    }

    /// Makes a finding about two grants, the one that does wrong first.
    pub(crate) fn pair(&self, kind: Kind, now: Now, grants: [GrantId; 2]) -> Finding {
        let [first, second] = grants.map(|id| self.grant(id));
        let mut finding = Finding::new(kind, now.index, now.at);
        finding.grants = grants;
        finding.threads = [first.known_thread(), second.known_thread()];
        finding.tokens = [first.token, second.token];
        if first.is_granted() {
            finding.lock = Some(first.lock);
        }
        finding
    }
}
