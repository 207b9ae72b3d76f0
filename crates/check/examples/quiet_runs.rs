//! Judges the same clean run as often as the first argument says, for counting instructions.
//!
//! Three clients take one lock twice each, read and write under it and release it, and are refused
//! in between. Count at N and at 3N runs, and divide the difference by 2N:
//! `valgrind --tool=callgrind target/release/examples/quiet_runs 10000`.

use std::hint::black_box;

use fencepost_check::{Checkers, Purpose, Rules};
use fencepost_history::{
    Access, AccessOutcome, Duration, Event, GrantId, How, Instant, JobId, LockId, LockRules,
    ProcessId, ResourceId, ServerId, ThreadId, Token, What,
};

const LOCK: LockId = LockId(0);
const SERVER: ServerId = ServerId(0);
const TTL: Duration = Duration::from_secs(30);

fn main() {
    let runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(1_u32);
    let lock = LockRules { servers: vec![SERVER], quorum: 1, independent: false, ttl: TTL };
    let rules = Rules {
        locks: vec![lock],
        threads: (0..3).map(ProcessId).collect(),
        wait_bound: TTL,
        ghost_bound: TTL,
        purpose: Purpose::Correctness,
    };
    let events = run();
    assert_eq!(events.len(), 80, "the run is as long as the benchmark's");
    let mut checkers = Checkers::new(&rules);
    for _ in 0..runs {
        checkers.reset();
        for (index, event) in (0..).zip(black_box(&events)) {
            checkers.event(index, event);
        }
        checkers.end(Instant::from_nanos(90_000_000_000));
        assert!(checkers.violated().is_empty() && checkers.noted().is_empty());
    }
    assert_eq!(checkers.tally().acquisitions, 6);
}

/// The events of the run, a millisecond apart.
fn run() -> Vec<Event> {
    let mut events = Vec::new();
    let mut tell = |what| {
        let at = Instant::from_nanos(1_000_000 * (events.len() as u64 + 1));
        events.push(Event { at, what });
    };
    let mut attempt = 0;
    for round in 0..6 {
        let thread = ThreadId(round % 3);
        attempt += 1;
        let grant = GrantId(attempt);
        tell(What::AcquireInvoked { thread, lock: LOCK });
        tell(What::KeySet {
            server: SERVER,
            lock: LOCK,
            by: grant,
            owner: GrantId::NONE,
            deadline: Instant::ZERO + TTL,
            how: How::Create,
            commits: true,
        });
        tell(What::Acquired { thread, grant, lock: LOCK, token: Token(attempt.into()) });
        for access in [Access::Read, Access::Write] {
            tell(What::Step { grant });
            tell(What::Accessed {
                resource: ResourceId(0),
                grant,
                token: Token(attempt.into()),
                job: JobId(round.into()),
                access,
                outcome: AccessOutcome::Accepted,
                checked: true,
                regressed: false,
            });
            attempt += 1;
            let thread = ThreadId((round + 1) % 3);
            tell(What::Refused { thread, grant: GrantId(attempt), lock: LOCK });
        }
        tell(What::ReleaseInvoked { grant });
        let (by, owner, how) = (grant, grant, How::Delete);
        tell(What::KeyGone { server: SERVER, lock: LOCK, by, owner, how });
        tell(What::ReleaseDone { grant });
        if round < 4 {
            attempt += 1;
            let thread = ThreadId((round + 2) % 3);
            tell(What::Refused { thread, grant: GrantId(attempt), lock: LOCK });
        }
        if round >= 3 {
            tell(What::Finished { thread });
        }
    }
    tell(What::Healed);
    events
}
