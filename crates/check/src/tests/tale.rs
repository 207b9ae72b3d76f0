//! Histories written by hand, judged by both judges at once.

use std::collections::BTreeSet;

use fencepost_history::{
    Access, AccessOutcome, Duration, Event, GrantId, How, Instant, JobId, LockId, LockRules,
    ProcessId, ResourceId, ServerId, ThreadId, Token, What,
};

use crate::naive::{self, Found};
use crate::{Checkers, Finding, Kind, KindSet, Purpose, Rules, Tally};

pub(super) const TTL: Duration = Duration::from_secs(30);

/// Four threads (the first two of one process), two locks, one server.
pub(super) fn rules() -> Rules {
    let lock = LockRules { servers: vec![ServerId(0)], quorum: 1, independent: false, ttl: TTL };
    Rules {
        locks: vec![lock; 2],
        threads: [0, 0, 1, 2].map(ProcessId).to_vec(),
        wait_bound: Duration::from_secs(31),
        ghost_bound: Duration::from_secs(5),
        purpose: Purpose::Correctness,
    }
}

pub(super) fn secs(secs: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(secs)
}

/// A history in the making: grants of lock 0 by number, one resource, times in seconds.
pub(super) struct Tale {
    pub(super) rules: Rules,
    pub(super) events: Vec<Event>,
    pub(super) now: Instant,
    owner: GrantId,
}

/// What came of it.
pub(super) struct Judged {
    pub(super) violated: KindSet,
    pub(super) noted: KindSet,
    pub(super) findings: Vec<Finding>,
    pub(super) tally: Tally,
}

impl Judged {
    pub(super) fn only(&self, kind: Kind) -> &Finding {
        let mut of_kind = self.findings.iter().filter(|finding| finding.kind == kind);
        let first = of_kind.next().expect("the kind was found");
        assert!(of_kind.next().is_none(), "more than one {kind}");
        first
    }
}

impl Tale {
    pub(super) fn new() -> Self {
        Self { rules: rules(), events: Vec::new(), now: Instant::ZERO, owner: GrantId::NONE }
    }

    pub(super) fn at(&mut self, seconds: u64) -> &mut Self {
        assert!(secs(seconds) >= self.now, "times go forward");
        self.now = secs(seconds);
        self
    }

    pub(super) fn what(&mut self, what: What) -> &mut Self {
        self.events.push(Event { at: self.now, what });
        self
    }

    pub(super) fn ask(&mut self, thread: u16) -> &mut Self {
        self.what(What::AcquireInvoked { thread: ThreadId(thread), lock: LockId(0) })
    }

    /// The deciding command: a key with the usual TTL, where none was alive.
    pub(super) fn commit(&mut self, grant: u32) -> &mut Self {
        let deadline = self.now + TTL;
        self.key(grant, How::Create, deadline, true)
    }

    pub(super) fn key(
        &mut self,
        grant: u32,
        how: How,
        deadline: Instant,
        commits: bool,
    ) -> &mut Self {
        let by = GrantId(grant);
        let owner = if how == How::Create { GrantId::NONE } else { self.owner };
        if how != How::Extend {
            self.owner = by;
        }
        let (server, lock) = (ServerId(0), LockId(0));
        self.what(What::KeySet { server, lock, by, owner, deadline, how, commits })
    }

    pub(super) fn gone(&mut self, by: u32, how: How) -> &mut Self {
        let owner = std::mem::replace(&mut self.owner, GrantId::NONE);
        let (server, lock, by) = (ServerId(0), LockId(0), GrantId(by));
        self.what(What::KeyGone { server, lock, by, owner, how })
    }

    pub(super) fn believe(&mut self, thread: u16, grant: u32) -> &mut Self {
        self.believe_with(thread, grant, Token::NONE)
    }

    pub(super) fn believe_with(&mut self, thread: u16, grant: u32, token: Token) -> &mut Self {
        let (thread, grant) = (ThreadId(thread), GrantId(grant));
        self.what(What::Acquired { thread, grant, lock: LockId(0), token })
    }

    /// Asks, decides and believes at one instant.
    pub(super) fn acquire(&mut self, thread: u16, grant: u32) -> &mut Self {
        self.ask(thread).commit(grant).believe(thread, grant)
    }

    pub(super) fn acquire_with(&mut self, thread: u16, grant: u32, token: u64) -> &mut Self {
        self.ask(thread).commit(grant).believe_with(thread, grant, Token(token))
    }

    pub(super) fn refuse(&mut self, thread: u16, grant: u32) -> &mut Self {
        let (thread, grant) = (ThreadId(thread), GrantId(grant));
        self.what(What::Refused { thread, grant, lock: LockId(0) })
    }

    pub(super) fn unknown(&mut self, thread: u16, grant: u32) -> &mut Self {
        let (thread, grant) = (ThreadId(thread), GrantId(grant));
        self.what(What::AcquireUnknown { thread, grant, lock: LockId(0) })
    }

    pub(super) fn abandon(&mut self, thread: u16) -> &mut Self {
        self.what(What::AcquireAbandoned { thread: ThreadId(thread), lock: LockId(0) })
    }

    pub(super) fn release(&mut self, grant: u32) -> &mut Self {
        self.what(What::ReleaseInvoked { grant: GrantId(grant) })
    }

    /// Releases, and the command deletes the key at the same instant.
    pub(super) fn free(&mut self, grant: u32) -> &mut Self {
        self.release(grant).gone(grant, How::Delete)
    }

    pub(super) fn lose(&mut self, grant: u32) -> &mut Self {
        self.what(What::Lost { grant: GrantId(grant) })
    }

    pub(super) fn step(&mut self, grant: u32) -> &mut Self {
        self.what(What::Step { grant: GrantId(grant) })
    }

    pub(super) fn crash(&mut self, process: u16) -> &mut Self {
        self.what(What::Crashed { process: ProcessId(process) })
    }

    pub(super) fn heal(&mut self) -> &mut Self {
        self.what(What::Healed)
    }

    pub(super) fn read(&mut self, grant: u32) -> &mut Self {
        self.access(0, grant, Access::Read, AccessOutcome::Accepted, grant)
    }

    pub(super) fn write(&mut self, grant: u32) -> &mut Self {
        self.access(0, grant, Access::Write, AccessOutcome::Accepted, grant)
    }

    pub(super) fn access(
        &mut self,
        resource: u16,
        grant: u32,
        access: Access,
        outcome: AccessOutcome,
        job: u32,
    ) -> &mut Self {
        self.what(What::Accessed {
            resource: ResourceId(resource),
            grant: GrantId(grant),
            token: Token::NONE,
            job: JobId(job),
            access,
            outcome,
            checked: false,
            regressed: false,
        })
    }

    /// Judges the history up to now by both judges, which must agree.
    pub(super) fn judge(&self) -> Judged {
        let mut checkers = Checkers::new(&self.rules);
        let judged = stream(&mut checkers, &self.events, self.now);
        let again = stream(&mut checkers, &self.events, self.now);
        assert_eq!(judged.findings, again.findings, "a reset forgets everything");
        assert_eq!(judged.tally, again.tally, "a reset forgets everything");
        let naive = naive::judge(&self.rules, &self.events, self.now);
        assert_agreed(&judged, &naive);
        judged
    }

    /// Returns the violated kinds by name.
    pub(super) fn violated(&self) -> String {
        self.judge().violated.to_string()
    }
}

pub(super) fn stream(checkers: &mut Checkers, events: &[Event], end: Instant) -> Judged {
    checkers.reset();
    for (index, event) in events.iter().enumerate() {
        checkers.event(u32::try_from(index).expect("short histories"), event);
    }
    checkers.end(end);
    Judged {
        violated: checkers.violated(),
        noted: checkers.noted(),
        findings: checkers.findings().to_vec(),
        tally: *checkers.tally(),
    }
}

/// The streaming checkers name some pair for each grant that is in the wrong; the naive judge
/// names all pairs.
pub(super) fn assert_agreed(judged: &Judged, naive: &BTreeSet<Found>) {
    let kinds = |note: bool| -> KindSet {
        naive.iter().filter(|found| found.note == note).map(|found| found.kind).collect()
    };
    assert_eq!(judged.violated.to_string(), kinds(false).to_string(), "violated");
    assert_eq!(judged.noted.to_string(), kinds(true).to_string(), "noted");
    let streamed: BTreeSet<Found> = judged
        .findings
        .iter()
        .map(|finding| {
            let waits = matches!(finding.kind, Kind::UnboundedWait | Kind::Deadlock);
            let nobody = [GrantId::NONE; 2];
            Found {
                kind: finding.kind,
                note: finding.note,
                grants: if finding.kind == Kind::UnboundedWait { nobody } else { finding.grants },
                waits: if waits { finding.threads[1] } else { None },
            }
        })
        .collect();
    let strangers: Vec<_> = streamed.difference(naive).collect();
    assert!(strangers.is_empty(), "only streaming: {strangers:?}\nnaive: {naive:?}");
    for kind in Kind::ALL {
        let of_kind = |set: &BTreeSet<Found>| -> BTreeSet<Found> {
            let pick = |found: &&Found| found.kind == *kind;
            set.iter().filter(pick).map(culprit).collect()
        };
        let (streamed, naive) = (of_kind(&streamed), of_kind(naive));
        let count = judged.findings.iter().filter(|finding| finding.kind == *kind).count();
        assert!(count >= 16 || streamed == naive, "{kind}: {streamed:?} against {naive:?}");
    }
}

/// Leaves of a pair what both judges name.
fn culprit(found: &Found) -> Found {
    let [first, second] = found.grants;
    let grants = match found.kind {
        Kind::LateWrite | Kind::StaleWrite | Kind::StaleRead | Kind::Save | Kind::LostUpdate => {
            [first, GrantId::NONE]
        }
        Kind::TokenRegression | Kind::DuplicateEffect => [GrantId::NONE, second],
        Kind::FenceRegression
        | Kind::DoubleRun
        | Kind::DoubleHolder
        | Kind::ForeignRelease
        | Kind::ForeignRenew
        | Kind::OrphanNoTtl
        | Kind::Deadlock
        | Kind::UnboundedWait
        | Kind::GhostHold
        | Kind::Own
        | Kind::FalseRefusal
        | Kind::SelfBlock => found.grants,
    };
    Found { grants, ..*found }
}
