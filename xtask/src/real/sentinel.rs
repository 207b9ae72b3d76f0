//! A failover by Sentinel on real servers, measured and compared with what the simulator assumes.
//!
//! One master, two replicas, three Sentinels, `down-after-milliseconds` 1000. In one run the master
//! is killed, which shows how long nobody can write; in another it is stopped and goes on later,
//! which shows how long two servers take writes.

use crate::interrupt::Interrupt;
use crate::servers::{Connection, Program, Received, Server};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A time that is measured, and the range it was in when the simulator's numbers were taken: five
/// failovers on an idle machine, in milliseconds. Sentinel's timer, and a machine that is busy
/// with other things, add to it: [`BUSY`].
struct Measure {
    name: &'static str,
    range: (u64, u64),
}

const SUBJECTIVE: Measure = Measure { name: "first +sdown", range: (1020, 1070) };
const OBJECTIVE: Measure = Measure { name: "first +odown", range: (1140, 1210) };
const WRITABLE: Measure = Measure { name: "first write on a replica", range: (1370, 1450) };
const ANNOUNCED: Measure = Measure { name: "first +switch-master", range: (2220, 2350) };
const RETURNED: Measure =
    Measure { name: "last write on the old master after its return", range: (10_000, 10_600) };

/// How much earlier and later than measured still counts as the same, in milliseconds.
const BUSY: (u64, u64) = (150, 1500);
/// How long the servers are left alone before the fault, so that nothing is under way.
const SETTLED: Duration = Duration::from_millis(1200);
/// How often the whole is tried if the Sentinels split their votes, which delays by seconds.
const TRIES: u32 = 3;

/// Runs both and compares; fails where a time is out of range or a reply surprises.
pub(crate) fn run(program: &Program, interrupt: &Interrupt) -> Result<()> {
    let mut times = elected(program, |servers| servers.killed(interrupt))?;
    times.extend(elected(program, |servers| servers.stopped(interrupt))?);
    judge(&times)
}

type Times = Vec<(Measure, u64)>;

/// Runs until a leader is elected at the first attempt.
fn elected(
    program: &Program,
    failover: impl Fn(&mut Failover) -> Result<Option<Times>>,
) -> Result<Times> {
    for _ in 0..TRIES {
        if let Some(times) = failover(&mut Failover::start(program)?)? {
            return Ok(times);
        }
        println!("the Sentinels split their votes; once more");
    }
    bail!("the Sentinels elect no leader")
}

fn judge(times: &[(Measure, u64)]) -> Result<()> {
    let mut complaints = Vec::new();
    for (Measure { name, range: (low, high) }, millis) in times {
        let fits = (low - BUSY.0..=high + BUSY.1).contains(millis);
        let verdict = if fits { "as assumed" } else { "DIFFERS" };
        println!("sentinel: {name} {millis} ms, assumed {low} to {high} ms: {verdict}");
        if !fits {
            complaints.push(*name);
        }
    }
    ensure!(complaints.is_empty(), "a failover is not as assumed: {}", complaints.join(", "));
    Ok(())
}

/// The servers of a failover.
struct Failover {
    master: Server,
    replicas: Vec<Server>,
    sentinels: Vec<Server>,
}

impl Failover {
    /// Starts everything and waits until everybody knows everybody.
    fn start(program: &Program) -> Result<Self> {
        let options = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"];
        let options = options.map(str::to_owned).to_vec();
        let master = Server::start(program, &options)?;
        let port = master.port().to_string();
        let mut replicas = Vec::new();
        for _ in 0..2 {
            let copies = ["--replicaof", "127.0.0.1", &port].map(str::to_owned);
            replicas.push(Server::start(program, &[options.clone(), copies.to_vec()].concat())?);
        }
        await_text(&master, &["INFO", "replication"], &["connected_slaves:2"])?;
        let mut sentinels = Vec::new();
        for _ in 0..3 {
            let mut sentinel = Server::prepare(program, &["--sentinel".to_owned()])?;
            sentinel.configure(&format!(
                "sentinel monitor lock 127.0.0.1 {port} 2\n\
                 sentinel down-after-milliseconds lock 1000\n\
                 sentinel failover-timeout lock 10000\n"
            ))?;
            sentinel.launch(&[])?;
            sentinel.await_answer(false)?;
            sentinels.push(sentinel);
        }
        for sentinel in &sentinels {
            await_text(sentinel, &["INFO", "sentinel"], &["slaves=2,sentinels=3", "status=ok"])?;
        }
        Ok(Self { master, replicas, sentinels })
    }

    /// Kills the master; `None` if no leader was elected at the first attempt.
    fn killed(&mut self, interrupt: &Interrupt) -> Result<Option<Times>> {
        std::thread::sleep(SETTLED);
        self.master.kill()?;
        let mut watch = Watch::new(self)?;
        let Some((_, writable)) = watch.until_announced(interrupt)? else { return Ok(None) };
        let event = |name: &str| watch.events.get(name).copied().context("an event is missing");
        Ok(Some(vec![
            (SUBJECTIVE, event("+sdown")?),
            (OBJECTIVE, event("+odown")?),
            (WRITABLE, writable),
            (ANNOUNCED, event("+switch-master")?),
        ]))
    }

    /// Stops the master until a replica is announced, then lets it go on.
    fn stopped(&mut self, interrupt: &Interrupt) -> Result<Option<Times>> {
        std::thread::sleep(SETTLED);
        let mut client = self.master.connect()?;
        let first = client.call(&["SET", "other", "x"])?;
        ensure!(first == ["+OK"], "the master refuses a write: {first:?}");
        self.master.signal("STOP")?;
        client.send(&["SET", "lock", "A", "NX", "PX", "60000"]);
        let mut watch = Watch::new(self)?;
        let Some((replica, _)) = watch.until_announced(interrupt)? else { return Ok(None) };
        let new = &self.replicas[replica];
        let granted = new.connect()?.call(&["SET", "lock", "B", "NX", "PX", "60000"])?;
        ensure!(granted == ["+OK"], "the new master refuses the lock: {granted:?}");
        std::thread::sleep(Duration::from_secs(1));
        self.master.signal("CONT")?;
        let back = Instant::now();
        let late = client.receive(Duration::from_secs(5))?;
        let also = Received::Lines(vec!["+OK".to_owned()]);
        ensure!(late == also, "the old master answers what waited in its socket with {late:?}");
        let returned = accepted_until_demoted(&self.master, back, interrupt)?;
        await_text(&self.master, &["GET", "lock"], &["\"B\""])?;
        println!("sentinel: both servers granted the lock; the old master's was thrown away");
        Ok(Some(vec![(RETURNED, returned)]))
    }
}

/// What is watched while nobody can write: the Sentinels' events, and the replicas.
struct Watch<'a> {
    started: Instant,
    listeners: Vec<Connection>,
    replicas: &'a [Server],
    /// When an event came first, in milliseconds.
    events: BTreeMap<String, u64>,
}

impl<'a> Watch<'a> {
    fn new(servers: &'a Failover) -> Result<Self> {
        let mut listeners = Vec::new();
        for sentinel in &servers.sentinels {
            let mut listener = sentinel.connect()?;
            listener.call(&["PSUBSCRIBE", "*"])?;
            listeners.push(listener);
        }
        let (started, events) = (Instant::now(), BTreeMap::new());
        Ok(Self { started, listeners, replicas: &servers.replicas, events })
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Watches until a new master is announced; gives which replica took a write, and when.
    fn until_announced(&mut self, interrupt: &Interrupt) -> Result<Option<(usize, u64)>> {
        let mut writable = None;
        while self.started.elapsed() < Duration::from_secs(20) {
            interrupt.check()?;
            let now = self.millis();
            for listener in &mut self.listeners {
                while let Received::Lines(lines) = listener.receive(Duration::ZERO)? {
                    let name = lines.get(3).map_or("", |line| line.trim_matches([' ', '$', '"']));
                    self.events.entry(name.to_owned()).or_insert(now);
                }
            }
            // A connection each: Sentinel closes those of clients when a server changes sides.
            for (index, replica) in self.replicas.iter().enumerate() {
                let reply = replica.connect().and_then(|mut one| one.call(&["SET", "probe", "1"]));
                if writable.is_none() && reply.is_ok_and(|lines| lines == ["+OK"]) {
                    writable = Some((index, now));
                }
            }
            if self.events.contains_key("-failover-abort-not-elected") {
                return Ok(None);
            }
            if self.events.contains_key("+switch-master") && writable.is_some() {
                return Ok(writable);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("no failover within 20 s; the events were {:?}", self.events)
    }
}

/// Writes to the old master until it refuses; gives when the last write was taken, after its
/// return and in milliseconds.
fn accepted_until_demoted(master: &Server, back: Instant, interrupt: &Interrupt) -> Result<u64> {
    let mut last = 0;
    while back.elapsed() < Duration::from_secs(40) {
        interrupt.check()?;
        let reply = master.connect().and_then(|mut one| one.call(&["SET", "late", "A"]));
        let reply = reply.unwrap_or_default();
        if reply == ["+OK"] {
            last = u64::try_from(back.elapsed().as_millis())?;
        } else if reply.concat().starts_with("-READONLY") {
            return Ok(last);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("the old master still takes writes after 40 s")
}

/// Asks until the reply holds all of these texts.
fn await_text(server: &Server, words: &[&str], texts: &[&str]) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let reply = server.connect().and_then(|mut one| one.call(words));
        let reply = reply.unwrap_or_default().concat();
        if texts.iter().all(|text| reply.contains(text)) {
            return Ok(());
        }
        ensure!(Instant::now() < end, "{words:?} does not give {texts:?} but {reply}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
