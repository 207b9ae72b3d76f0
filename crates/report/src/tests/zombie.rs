//! A run written by hand: a holder is paused for longer than its key lives.

use fencepost_history::{
    Access, AccessOutcome, CallId, Detail, Duration, Event, GrantId, History, How, Instant, JobId,
    LockId, LockRules, Moment, Names, ProcessId, ResourceId, ServerId, ThreadId, ThreadName, Token,
    What,
};

use crate::{Expected, FaultView, FindingView, Story, Verdict};

/// Builds histories event by event.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) history: History,
    calls: u32,
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

const LOCK: LockId = LockId(0);
const REDIS: ServerId = ServerId(0);
const STORAGE: ServerId = ServerId(1);

impl Script {
    pub(crate) fn new(clients: &[&str]) -> Self {
        let mut script = Self::default();
        script.history.names = Names {
            processes: clients.iter().map(|&name| name.to_owned()).collect(),
            threads: (0..clients.len())
                .map(|index| ThreadName {
                    process: ProcessId(u16::try_from(index).unwrap()),
                    role: "worker".to_owned(),
                })
                .collect(),
            servers: vec!["r1".to_owned(), "s".to_owned()],
            locks: vec!["orders".to_owned()],
            resources: vec!["storage".to_owned()],
            resource_servers: vec![STORAGE],
            rules: vec![LockRules {
                servers: vec![REDIS],
                quorum: 1,
                independent: false,
                ttl: Duration::from_secs(30),
            }],
        };
        script
    }

    pub(crate) fn add(&mut self, at: Instant, what: What) -> usize {
        self.history.events.push(Event { at, what });
        self.history.events.len() - 1
    }

    fn detail(&mut self, event: usize, text: &str) {
        let event = u32::try_from(event).unwrap();
        self.history.details.push(Detail { event, text: text.to_owned() });
    }

    /// A request that takes a millisecond, an effect at the server, and a reply.
    pub(crate) fn call(
        &mut self,
        at: u64,
        client: u16,
        server: ServerId,
        texts: (&str, &str),
        effect: Option<What>,
    ) -> usize {
        self.calls += 1;
        let (call, thread) = (CallId(self.calls), ThreadId(client));
        let sent = self.add(ms(at), What::Sent { call, thread, server, arrives: ms(at + 1) });
        self.detail(sent, texts.0);
        let mut done = self.add(ms(at + 1), What::Applied { call, server });
        if let Some(effect) = effect {
            done = self.add(ms(at + 1), effect);
        }
        let replied = self.add(ms(at + 1), What::Replied { call, server, arrives: ms(at + 2) });
        self.detail(replied, texts.1);
        done
    }

    pub(crate) fn seen(&mut self, at: u64) {
        let call = CallId(self.calls);
        self.add(ms(at), What::Seen { call });
    }

    pub(crate) fn acquire(&mut self, at: u64, client: u16, grant: u32, name: &str) -> usize {
        let (thread, by) = (ThreadId(client), GrantId(grant));
        let set = What::KeySet {
            server: REDIS,
            lock: LOCK,
            by,
            owner: GrantId::NONE,
            deadline: ms(at + 1 + 30_000),
            how: How::Create,
            commits: true,
        };
        let command = format!("SET orders {name}-{grant} NX PX 30000");
        self.call(at, client, REDIS, (&command, "OK"), Some(set));
        self.seen(at + 2);
        let token = Token(if grant == 1 { 33 } else { 34 });
        self.add(ms(at + 2), What::Acquired { thread, grant: by, lock: LOCK, token })
    }

    pub(crate) fn refused(&mut self, at: u64, client: u16, grant: u32, name: &str) {
        let (thread, grant) = (ThreadId(client), GrantId(grant));
        let command = format!("SET orders {name}-{grant} NX PX 30000");
        self.call(at, client, REDIS, (&command, "(nil)"), None);
        self.seen(at + 2);
        self.add(ms(at + 2), What::Refused { thread, grant, lock: LOCK });
    }

    pub(crate) fn access(&mut self, at: u64, client: u16, grant: u32, access: Access) -> usize {
        let token = Token(if grant == 1 { 33 } else { 34 });
        let what = What::Accessed {
            resource: ResourceId(0),
            grant: GrantId(grant),
            token,
            job: JobId(grant),
            access,
            outcome: AccessOutcome::Accepted,
            checked: false,
            regressed: false,
        };
        self.add(ms(at), What::Step { grant: GrantId(grant) });
        let command = match access {
            Access::Read => "READ",
            Access::Write => "WRITE",
        };
        let event = self.call(at, client, STORAGE, (command, "OK"), Some(what));
        self.seen(at + 2);
        event
    }

    pub(crate) fn release(&mut self, at: u64, client: u16, grant: u32, reply: &str) {
        let grant = GrantId(grant);
        self.add(ms(at), What::ReleaseInvoked { grant });
        let gone =
            What::KeyGone { server: REDIS, lock: LOCK, by: grant, owner: grant, how: How::Delete };
        let effect = (reply == "(integer) 1").then_some(gone);
        self.call(at, client, REDIS, ("EVAL <compare-and-delete> 1 orders", reply), effect);
        self.seen(at + 2);
        self.add(ms(at + 2), What::ReleaseDone { grant });
    }
}

/// The zombie writer: c1 is paused for 31 s with a lock that lives for 30 s.
pub(crate) fn zombie() -> (Story, History) {
    zombie_of(["c1", "c2"])
}

pub(crate) fn zombie_of(names: [&str; 2]) -> (Story, History) {
    let mut script = Script::new(&names);
    script.add(ms(0), What::AcquireInvoked { thread: ThreadId(0), lock: LOCK });
    let first = script.acquire(0, 0, 1, names[0]);
    script.add(ms(2), What::Passed { thread: ThreadId(0), moment: Moment::Acquired, step: 4 });
    let pause = script.add(ms(2), What::Paused { process: ProcessId(0), until: ms(31_002) });
    script.add(ms(3), What::AcquireInvoked { thread: ThreadId(1), lock: LOCK });
    let mut attempt = 2;
    for at in (3..30_000).step_by(102) {
        script.refused(at, 1, attempt, names[1]);
        attempt += 1;
    }
    script.add(
        ms(30_003),
        What::KeyGone {
            server: REDIS,
            lock: LOCK,
            by: GrantId::NONE,
            owner: GrantId(1),
            how: How::Expire,
        },
    );
    let second = script.acquire(30_093, 1, attempt, names[1]);
    script.access(30_095, 1, attempt, Access::Read);
    script.add(ms(31_002), What::Resumed { process: ProcessId(0) });
    script.access(31_002, 0, 1, Access::Read);
    script.access(35_097, 1, attempt, Access::Write);
    script.release(35_099, 1, attempt, "(integer) 1");
    let stale = script.access(36_004, 0, 1, Access::Write);
    script.release(36_006, 0, 1, "(integer) 0");
    let mut history = script.history;
    history.end = ms(66_100);
    history.hash = 0x5eed_2a91_c4f0_0d1e;
    assert!(first < second);
    let story = told(names, attempt, pause, [second, stale]);
    (Story { hash: history.hash, ..story }, history)
}

fn told(names: [&str; 2], newer: u32, pause: usize, events: [usize; 2]) -> Story {
    let finding = |kind: &str, severity, from, to, event| FindingView {
        kind: kind.to_owned(),
        severity,
        lock: "orders".to_owned(),
        older: names[0].to_owned(),
        newer: names[1].to_owned(),
        grants: [GrantId(1), GrantId(newer)],
        tokens: [Some(33), Some(34)],
        from: ms(from),
        to: ms(to),
        resource: (kind == "stale-write").then(|| "storage".to_owned()),
        event: Some(event),
        sentence: None,
    };
    Story {
        title: "A paused holder writes after its lease has moved on".to_owned(),
        story_text: "Long GC, no fencing: the textbook zombie writer.".to_owned(),
        scenario_name: "zombie-writer".to_owned(),
        strategy: "set-nx-px".to_owned(),
        command: "fencepost replay scenarios/zombie-writer.toml".to_owned(),
        verdict: Verdict::Violated,
        expected: Expected::Met,
        findings: vec![
            finding("double-holder", 1, 30_095, 35_099, events[0]),
            finding("stale-write", 0, 36_005, 36_005, events[1]),
        ],
        faults: vec![FaultView {
            label: "F1".to_owned(),
            text: format!("pause {} for 31 s", names[0]),
            at: ms(2),
            event: Some(pause),
        }],
        faults_claim: Some("no fault can be left out".to_owned()),
        assumed: vec!["one-way latency of 1 ms; the server's clock is right".to_owned()],
        resolved_scenario: "[lock]\nstrategy = \"set-nx-px\"\nttl = \"30s\"\n".to_owned(),
        tool_version: "0.1.0".to_owned(),
        page: Some("reports/zombie-writer/index.html".to_owned()),
        ..Story::default()
    }
}
