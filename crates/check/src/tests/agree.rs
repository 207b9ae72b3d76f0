//! The streaming checkers and the naive judge agree on histories that nobody thought of.

use fencepost_history::{
    Access, AccessOutcome, Duration, Event, GrantId, How, Instant, JobId, LockId, ProcessId,
    ResourceId, ServerId, ThreadId, Token, What,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::tale::{TTL, assert_agreed, rules, stream};
use crate::{Checkers, Kind, KindSet, Rules, naive};

/// A world just consistent enough to tell plausible stories.
struct Teller {
    rules: Rules,
    events: Vec<Event>,
    now: Instant,
    /// Each attempt's thread and lock.
    attempts: Vec<(u16, u16)>,
    /// Each lock's key: its owner and deadline.
    keys: [(u32, Instant); 2],
    healed: bool,
    next_token: u64,
}

impl Teller {
    fn new() -> Self {
        Self {
            rules: rules(),
            events: Vec::new(),
            now: Instant::ZERO,
            attempts: Vec::new(),
            keys: [(0, Instant::ZERO); 2],
            healed: false,
            next_token: 1,
        }
    }

    fn tell(&mut self, what: What) {
        self.events.push(Event { at: self.now, what });
    }

    fn set(&mut self, lock: u16, by: u32, how: How, ttl: u64, commits: bool) {
        let (owner, _) = self.keys[usize::from(lock)];
        let deadline = if ttl == 0 { Instant::NEVER } else { self.now + Duration::from_secs(ttl) };
        self.keys[usize::from(lock)] = (if how == How::Extend { owner } else { by }, deadline);
        let owner = GrantId(if how == How::Create { 0 } else { owner });
        let (server, lock, by) = (ServerId(0), LockId(lock), GrantId(by));
        self.tell(What::KeySet { server, lock, by, owner, deadline, how, commits });
    }

    fn unset(&mut self, lock: u16, by: u32, how: How) {
        let (owner, _) = std::mem::take(&mut self.keys[usize::from(lock)]);
        let (server, lock, by, owner) = (ServerId(0), LockId(lock), GrantId(by), GrantId(owner));
        self.tell(What::KeyGone { server, lock, by, owner, how });
    }

    /// Picks one of the latest attempts; the latest ones are the most interesting.
    fn attempt(&self, pick: u8) -> Option<(u32, ThreadId, LockId)> {
        let back = usize::from(pick % 4);
        let place = self.attempts.len().checked_sub(1 + back)?;
        let (thread, lock) = self.attempts[place];
        Some((u32::try_from(place).expect("few attempts") + 1, ThreadId(thread), LockId(lock)))
    }

    fn act(&mut self, [kind, a, b, c]: [u8; 4]) {
        self.now = self.now + Duration::from_secs(u64::from(c % 8) * u64::from(c % 3));
        let (thread, lock) = (u16::from(a % 4), u16::from(b.is_multiple_of(8)));
        match kind % 16 {
            0 | 1 => self.ask(thread, lock, b),
            2..5 => self.answer(a, b, c),
            5 | 6 => {
                if let Some((grant, ..)) = self.attempt(a) {
                    self.tell(What::Step { grant: GrantId(grant) });
                }
            }
            7..11 => self.access(a, b, c),
            11 | 12 => {
                if let Some((grant, ..)) = self.attempt(a) {
                    let grant = GrantId(grant);
                    let lost = What::Lost { grant };
                    self.tell(if b.is_multiple_of(4) {
                        lost
                    } else {
                        What::ReleaseInvoked { grant }
                    });
                }
            }
            13 => self.command(a, b, c),
            _ => self.disturb(a, b, c),
        }
    }

    fn ask(&mut self, thread: u16, lock: u16, b: u8) {
        self.tell(What::AcquireInvoked { thread: ThreadId(thread), lock: LockId(lock) });
        self.attempts.push((thread, lock));
        let grant = u32::try_from(self.attempts.len()).expect("few attempts");
        let (owner, deadline) = self.keys[usize::from(lock)];
        if owner == 0 || self.now > deadline {
            if owner != 0 && b & 0x10 == 0 {
                self.unset(lock, 0, How::Expire);
            }
            self.set(lock, grant, How::Create, if b & 0x60 == 0 { 0 } else { 30 }, true);
        }
    }

    fn answer(&mut self, a: u8, b: u8, c: u8) {
        let Some((grant, thread, lock)) = self.attempt(a) else { return };
        let id = GrantId(grant);
        match b % 8 {
            0..6 => {
                let token = match c % 8 {
                    0 => Token::NONE,
                    1 => Token(self.next_token.saturating_sub(2)),
                    _ => Token(self.next_token),
                };
                self.next_token += 1;
                self.tell(What::Acquired { thread, grant: id, lock, token });
            }
            6 => self.tell(What::Refused { thread, grant: id, lock }),
            _ if c.is_multiple_of(2) => {
                self.tell(What::AcquireUnknown { thread, grant: id, lock });
            }
            _ => self.tell(What::AcquireAbandoned { thread, lock }),
        }
    }

    fn access(&mut self, a: u8, b: u8, c: u8) {
        let grant = self.attempt(a).map_or(0, |attempt| attempt.0);
        let believed =
            |event: &Event| matches!(event.what, What::Acquired { grant: id, .. } if id.0 == grant);
        if !self.events.iter().any(believed) {
            return;
        }
        let outcome = match c % 8 {
            0 => AccessOutcome::Refused,
            1 => AccessOutcome::Deduplicated,
            _ => AccessOutcome::Accepted,
        };
        self.tell(What::Accessed {
            resource: ResourceId(u16::from(b.is_multiple_of(4))),
            grant: GrantId(grant),
            token: Token::NONE,
            job: JobId(if b % 16 < 4 { 0 } else { grant }),
            access: if b & 0x10 == 0 { Access::Read } else { Access::Write },
            outcome,
            checked: b & 0x20 == 0,
            regressed: c >= 0xf0,
        });
    }

    fn command(&mut self, a: u8, b: u8, c: u8) {
        let Some((grant, _, lock)) = self.attempt(a) else { return };
        if self.keys[lock.index()].0 == 0 {
            return;
        }
        match b % 8 {
            0..4 => self.unset(lock.0, grant, How::Delete),
            4..6 => self.set(lock.0, grant, How::Extend, u64::from(c % 4) * 15, false),
            6 => self.set(lock.0, grant, How::Overwrite, 30, c.is_multiple_of(2)),
            _ => self.unset(lock.0, 0, How::Lose),
        }
    }

    fn disturb(&mut self, a: u8, b: u8, c: u8) {
        let (process, thread) = (ProcessId(u16::from(a % 3)), ThreadId(u16::from(a % 4)));
        let length = Duration::from_secs(u64::from(c % 64));
        let until = if c.is_multiple_of(4) { Instant::NEVER } else { self.now + length };
        let what = match b % 10 {
            0 => What::Crashed { process },
            1 => What::Restarted { process },
            2 => What::Paused { process, until },
            3 => What::Resumed { process },
            4 => What::Stalled { thread, until },
            5 => What::Unstalled { thread },
            6 => What::Finished { thread },
            7 => What::ServerClock { server: ServerId(0), by: (i64::from(c) - 128) * 100_000_000 },
            8 => {
                self.keys = [(0, Instant::ZERO); 2];
                What::DataLost { server: ServerId(0) }
            }
            _ if self.healed => return,
            _ => {
                self.healed = true;
                What::Healed
            }
        };
        self.tell(what);
    }
}

fn told(acts: Vec<[u8; 4]>) -> (Teller, Instant) {
    let mut teller = Teller::new();
    for act in acts {
        teller.act(act);
    }
    if !teller.healed {
        teller.tell(What::Healed);
    }
    let longer = Duration::from_secs(teller.next_token % 2 * 40);
    let end = teller.now + TTL + longer;
    (teller, end)
}

fn acts() -> impl Strategy<Value = Vec<[u8; 4]>> {
    proptest::collection::vec(any::<[u8; 4]>(), 1..90)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_judges_agree(acts in acts()) {
        let (teller, end) = told(acts);
        let judged = stream(&mut Checkers::new(&teller.rules), &teller.events, end);
        assert_agreed(&judged, &naive::judge(&teller.rules, &teller.events, end));
    }
}

#[test]
fn random_histories_show_every_kind() {
    let mut runner = TestRunner::deterministic();
    let mut checkers = Checkers::new(&rules());
    let (mut seen, mut clean) = (KindSet::EMPTY, 0);
    for _ in 0..3_000 {
        let tree = acts().new_tree(&mut runner).expect("nothing is filtered");
        let (teller, end) = told(tree.current());
        let judged = stream(&mut checkers, &teller.events, end);
        clean += u32::from(judged.violated.is_empty());
        seen = seen.union(judged.violated).union(judged.noted);
    }
    let all: KindSet = Kind::ALL.iter().copied().collect();
    assert_eq!(all.minus(seen), KindSet::of(&[Kind::Own]), "{seen}");
    assert!(clean > 30, "{clean} clean histories");
}
